// SPDX-License-Identifier: GPL-2.0-only
/*
 * detour DEVICE ADDRESS TO - packets of IPv4 that DEVICE receives for ADDRESS get to the other end of the veth device
 * TO, as if they had come by it (bpf_redirect_peer), which is how Cilium brings them to containers. The program stays
 * as long as the device.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define DESTINATION (14 + 16) /* in a frame */

static int die(const char *what, int error)
{
	fprintf(stderr, "detour: %s: %s\n", what, strerror(-error));
	return 1;
}

static int load(__u32 address, int to)
{
	const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_6, .src_reg = BPF_REG_1},
		{.code = BPF_LD | BPF_ABS | BPF_W, .imm = DESTINATION},
		{.code = BPF_JMP32 | BPF_JNE | BPF_K, .dst_reg = BPF_REG_0, .off = 4, .imm = (__s32)ntohl(address)},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = to},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect_peer},
		{.code = BPF_JMP | BPF_EXIT},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = -1}, /* the other filters */
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, "detour", "GPL", program, sizeof(program) / sizeof(program[0]),
			     NULL);
}

int main(int argc, char **argv)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts);
	int error;

	if (argc != 4)
		return die("usage: detour DEVICE ADDRESS TO", -EINVAL);
	hook.ifindex = (int)if_nametoindex(argv[1]);
	opts.prog_fd = load(inet_addr(argv[2]), (int)if_nametoindex(argv[3]));
	if (opts.prog_fd < 0)
		return die("load", opts.prog_fd);
	error = bpf_tc_hook_create(&hook);
	if (!error)
		error = bpf_tc_attach(&hook, &opts);
	return error ? die("attach", error) : 0;
}
