// SPDX-License-Identifier: GPL-2.0-only
/* cgroup_root.c - see cgroup_root.h. */
#include "record/cgroup_root.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/mount.h>

#include <bpf/bpf.h>

#include "record/hierarchy.h"

/* The descriptor, if it is of the root; else it is closed. */
static int check_root(int fd)
{
	if (fd < 0 || nt_hierarchy_is_whole(fd))
		return fd;
	close(fd);
	return -EXDEV;
}

/* A mount that stands nowhere. By system calls: libraries have these functions since glibc 2.36. */
static int open_own(void)
{
	const int context = (int)syscall(SYS_fsopen, "cgroup2", FSOPEN_CLOEXEC);
	int mount = -1, fd;

	if (context < 0)
		return -ENOENT;
	if (!syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
	fd = mount < 0 ? -1 : openat(mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(context);
	if (mount >= 0)
		close(mount);
	return fd < 0 ? -ENOENT : check_root(fd);
}

int nt_cgroup_root_open(void)
{
	static const struct nt_hierarchy version_2 = {.of = NT_CGROUPS_V2};
	char where[256];
	const int fd = check_root(nt_hierarchy_open(&version_2, where, sizeof(where)));

	return fd == -ENOENT ? open_own() : fd;
}

/* Attaches a program that lets all packets pass, and takes it away again. */
static int try_attach(int root)
{
	static const struct bpf_insn pass[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_CGROUP_INET_INGRESS);
	int program =
		bpf_prog_load(BPF_PROG_TYPE_CGROUP_SKB, "nt_trial", "GPL", pass, sizeof(pass) / sizeof(pass[0]), &opts);
	int link, error;

	if (program < 0)
		return -errno;
	link = bpf_link_create(program, root, BPF_CGROUP_INET_INGRESS, NULL);
	error = link < 0 ? -errno : 0;
	if (link >= 0)
		close(link);
	close(program);
	return error;
}

int nt_cgroup_root_try(void)
{
	const int root = nt_cgroup_root_open();
	const int error = root < 0 ? root : try_attach(root);

	if (root >= 0)
		close(root);
	return error;
}

const char *nt_cgroup_root_why(int error)
{
	if (error == -EXDEV)
		return "the recorder sees a part of the cgroups only, as in a cgroup namespace";
	if (error == -ENOENT)
		return "cgroup2 is mounted nowhere, and mounting it needs CAP_SYS_ADMIN";
	if (error == -EPERM)
		return "it needs CAP_NET_ADMIN, and that no program there forbids others";
	return strerror(-error);
}
