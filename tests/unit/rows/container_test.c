// SPDX-License-Identifier: GPL-2.0-only
/*
 * container_test.c - report/rows/container.c on paths as runtimes make them (most out of their own bug reports), on
 * what is nearly such a path, and on any bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "report/rows/container.h"
#include "tests/support/rand.h"

#define ID "5eed917563583925ffdbd40a64efb2aaffe58638e57add8becaf460fe74f5b1c"
#define OTHER "d6701ec289c56e4391acb11d07474b3139466857a305490575508a8b7a9fcf22"
#define UID "a5c1f8d5-1919-434d-add7-4afaafdaef89"
#define UID_ "a5c1f8d5_1919_434d_add7_4afaafdaef89"
#define STATIC "36b6d6be73b1065af369b3985edafa09"
#define BURSTABLE "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod"
#define KIND "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod"
#define USER "/user.slice/user-1000.slice/user@1000.service"

static const struct {
	const char *path, *runtime, *id, *pod, *unit;
	unsigned long user;
} paths[] = {
	/* docker: with systemd, with cgroupfs, below another parent, rootless, in a pod */
	{"/system.slice/docker-" ID ".scope", "docker", ID, "", "", 0},
	{"/docker/" ID, "docker", ID, "", "", 0},
	{"/my-parent/" ID, NULL, ID, "", "", 0},
	{USER "/user.slice/docker-" ID ".scope", "docker", ID, "", "user@1000.service", 0},
	{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/docker-" ID ".scope",
	 "docker", ID, UID, "", 0},
	{"/docker/buildx/docker/" ID, "docker", ID, "", "", 0},
	/* systemd in a container */
	{"/system.slice/docker-" ID ".scope/system.slice/nginx.service", "docker", ID, "", "nginx.service", 0},
	{"/docker/" ID "/init.scope", "docker", ID, "", "init.scope", 0},
	{USER "/user.slice/libpod-" ID ".scope/system.slice/nginx.service", "podman", ID, "", "nginx.service", 0},
	/* containerd */
	{BURSTABLE UID_ ".slice/cri-containerd-" ID ".scope", "containerd", ID, UID, "", 0},
	{"/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope", "containerd", ID, UID, "", 0},
	{BURSTABLE STATIC ".slice/cri-containerd-" ID ".scope", "containerd", ID, STATIC, "", 0},
	{"/system.slice/system-getty.slice/cri-containerd-" ID ".scope", "containerd", ID, "", "", 0},
	{"/system.slice/containerd.service/kubepods-burstable-pod" STATIC ".slice:cri-containerd:" ID, "containerd", ID,
	 STATIC, "containerd.service", 0},
	{"/kubepods-besteffort-pod" UID_ ".slice:cri-containerd:" ID, "containerd", ID, UID, "", 0},
	{"/kubepods/burstable/pod" UID "/" ID, NULL, ID, UID, "", 0},
	{"/kubepods/pod" UID "/" ID, NULL, ID, UID, "", 0},
	{"/default/" ID, NULL, ID, "", "", 0},
	{"/system.slice/nerdctl-" ID ".scope", "nerdctl", ID, "", "", 0},
	/* a node that is a container itself: kind, minikube */
	{KIND UID_ ".slice/cri-containerd-" ID ".scope", "containerd", ID, UID, "", 0},
	{"/docker/" OTHER "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_ ".slice/cri-containerd-" ID
	 ".scope",
	 "containerd", ID, UID, "", 0},
	{"/docker/" OTHER "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope", "cri-o", ID, UID, "", 0},
	{"/docker/" OTHER "/system.slice/kubelet.service", "docker", OTHER, "", "kubelet.service", 0},
	/* cri-o */
	{BURSTABLE UID_ ".slice/crio-" ID ".scope", "cri-o", ID, UID, "", 0},
	{BURSTABLE UID_ ".slice/crio-" ID ".scope/container", "cri-o", ID, UID, "", 0},
	{"/kubepods/besteffort/pod" UID "/crio-" ID, "cri-o", ID, UID, "", 0},
	{BURSTABLE UID_ ".slice/crio-conmon-" ID ".scope", NULL, "", UID, "crio-conmon-" ID ".scope", 0},
	/* podman */
	{"/machine.slice/libpod-" ID ".scope", "podman", ID, "", "", 0},
	{"/machine.slice/libpod-" ID ".scope/container", "podman", ID, "", "", 0},
	{"/machine.slice/machine-libpod_pod_" OTHER ".slice/libpod-" ID ".scope", "podman", ID, "", "", 0},
	{USER "/user.slice/libpod-" ID ".scope/container", "podman", ID, "", "user@1000.service", 0},
	{USER "/user.slice/user-libpod_pod_" OTHER ".slice/libpod-" ID ".scope", "podman", ID, "", "user@1000.service",
	 0},
	{"/libpod_parent/libpod-" ID, "podman", ID, "", "", 0},
	{"/system.slice/nextcloud.service/libpod-payload-" ID, "podman", ID, "", "nextcloud.service", 0},
	{USER "/app.slice/nextcloud.service/libpod-payload-" ID, "podman", ID, "", "nextcloud.service", 1000},
	{"/system.slice/nextcloud.service/runtime", NULL, "", "", "nextcloud.service", 0},
	{"/machine.slice/libpod-conmon-" ID ".scope", NULL, "", "", "libpod-conmon-" ID ".scope", 0},
	{USER "/user.slice/podman-239302.scope", NULL, "", "", "podman-239302.scope", 1000},
	/* nspawn, lxc, and a virtual machine */
	{"/machine.slice/systemd-nspawn@web.service", "nspawn", "web", "", "", 0},
	{"/machine.slice/systemd-nspawn@web.service/payload/system.slice/nginx.service", "nspawn", "web", "",
	 "nginx.service", 0},
	{"/machine.slice/machine-my\\x2dweb.scope", "nspawn", "my-web", "", "", 0},
	{"/lxc.payload.web1", "lxc", "web1", "", "", 0},
	{"/lxc.payload.web1/system.slice/nginx.service", "lxc", "web1", "", "nginx.service", 0},
	{"/lxc/web1", "lxc", "web1", "", "", 0},
	{"/lxc.monitor.web1", NULL, "", "", "", 0},
	{"/machine.slice/machine-qemu\\x2d1\\x2dweb.scope", NULL, "", "", "machine-qemu\\x2d1\\x2dweb.scope", 0},
	/* a pod's own cgroup */
	{BURSTABLE UID_ ".slice", NULL, "", UID, "", 0},
	{"/kubepods/burstable/pod" UID, NULL, "", UID, "", 0},
	{"/docker/" OTHER "/kubepods.slice/kubepods-pod" UID_ ".slice", NULL, "", UID, "", 0},
	/* units */
	{"/system.slice/nginx.service", NULL, "", "", "nginx.service", 0},
	{"/system.slice/system-getty.slice/getty@tty1.service", NULL, "", "", "getty@tty1.service", 0},
	{"/system.slice/nginx.service/worker", NULL, "", "", "nginx.service", 0},
	{"/init.scope", NULL, "", "", "init.scope", 0},
	{"/user.slice/user-1000.slice/session-3.scope", NULL, "", "", "session-3.scope", 0},
	{USER "/init.scope", NULL, "", "", "init.scope", 1000},
	{USER, NULL, "", "", "user@1000.service", 0},
	{USER "/app.slice/app-org.gnome.Terminal.slice/vte-spawn-f22f14d2-3d44-4304-9879-3fdd0df7b08e.scope", NULL, "",
	 "", "vte-spawn-f22f14d2-3d44-4304-9879-3fdd0df7b08e.scope", 1000},
	/* none of all this */
	{"/", NULL, "", "", "", 0},
	{"", NULL, "", "", "", 0},
	{"/system.slice", NULL, "", "", "", 0},
	{"/a/b/c", NULL, "", "", "", 0},
	/* nearly */
	{"/system.slice/docker-" ID "0.scope", NULL, "", "", "docker-" ID "0.scope", 0},
	{"/docker/5eed917563583925ffdbd40a64efb2aaffe58638e57add8becaf460fe74f5b1", NULL, "", "", "", 0},
	{"/docker/5EED917563583925FFDBD40A64EFB2AAFFE58638E57ADD8BECAF460FE74F5B1C", NULL, "", "", "", 0},
	{"/system.slice/xdocker-" ID ".scope", NULL, "", "", "xdocker-" ID ".scope", 0},
	{"/kubepods.slice/kubepods-poda5c1f8d5_1919_434d_add7-4afaafdaef89.slice", NULL, "", "", "", 0},
	{"/my.slice/my-pod" UID_ ".slice", NULL, "", "", "", 0},
	{"/system.slice/.service", NULL, "", "", "", 0},
	{"/system.slice/user@.service/x.service", NULL, "", "", "x.service", 0},
	{"/system.slice/user@99999999999999999999.service/x.service", NULL, "", "", "x.service", 0},
	{"/lxc/", NULL, "", "", "", 0},
	{"/machine.slice/machine-.scope", NULL, "", "", "machine-.scope", 0},
	/* cut at the begin: what is left of the first component is not looked at */
	{ID "/x", NULL, "", "", "", 0},
	{"docker-" ID ".scope/x", NULL, "", "", "", 0},
	{"ode.service/x", NULL, "", "", "", 0},
	{"5c/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope", "containerd", ID, UID, "", 0},
	{"///docker//" ID "/", NULL, ID, "", "", 0},
};

static void knows_paths(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct nt_container got;
		const char *runtime = paths[i].runtime ? paths[i].runtime : "none";

		nt_container_parse(paths[i].path, &got);
		if (strcmp(got.runtime ? got.runtime : "none", runtime) != 0 || strcmp(got.id, paths[i].id) != 0 ||
		    strcmp(got.pod, paths[i].pod) != 0 || got.unit_size != strlen(paths[i].unit) ||
		    strncmp(paths[i].path + got.unit, paths[i].unit, got.unit_size) != 0 || got.user != paths[i].user)
			fail_msg("%s: runtime %s, id '%s', pod '%s', unit '%.*s', user %lu", paths[i].path,
				 got.runtime ? got.runtime : "none", got.id, got.pod, (int)got.unit_size,
				 paths[i].path + got.unit, got.user);
	}
}

static void knows_ids(void **state)
{
	(void)state;
	assert_true(nt_container_is_id("5eed", 4));
	assert_true(nt_container_is_id(ID, 64));
	assert_false(nt_container_is_id("", 0));
	assert_false(nt_container_is_id(ID "0", 65));
	assert_false(nt_container_is_id("5eeD", 4));
	assert_false(nt_container_is_id("5eeg", 4));
	assert_true(nt_container_is_pod(UID, strlen(UID)));
	assert_true(nt_container_is_pod(STATIC, strlen(STATIC)));
	assert_false(nt_container_is_pod(UID_, strlen(UID_)));
	assert_false(nt_container_is_pod(ID, strlen(ID)));
}

/* A name fills its place, or is none. */
static void takes_names_that_fit(void **state)
{
	char path[600] = "/lxc/";
	struct nt_container got;

	(void)state;
	memset(path + 5, 'n', NT_CONTAINER_MAX - 1);
	nt_container_parse(path, &got);
	assert_int_equal(strlen(got.id), NT_CONTAINER_MAX - 1);
	memset(path + 5, 'n', NT_CONTAINER_MAX);
	nt_container_parse(path, &got);
	assert_string_equal(got.id, "");
}

/* Whatever the path, what is said of it lies in it. */
static void check_within(const char *path)
{
	const size_t size = strlen(path);
	struct nt_container got;

	nt_container_parse(path, &got);
	assert_true(strlen(got.id) < sizeof(got.id) && strlen(got.pod) < sizeof(got.pod));
	assert_true(got.end <= size && got.pod_end <= size && got.unit + got.unit_size <= size);
	assert_int_equal(!got.id[0], !got.end);
	assert_int_equal(!got.pod[0], !got.pod_end);
	assert_true(!got.user || got.unit_size);
}

static void bears_any_text(void **state)
{
	static const char *const pieces[] = {"/",
					     "docker-",
					     ID,
					     ".scope",
					     "machine.slice/machine-",
					     "\\x2d",
					     "kubepods",
					     "-pod",
					     UID_,
					     ".slice",
					     ":",
					     "lxc/",
					     "user@",
					     "1000",
					     ".service",
					     "pod",
					     UID,
					     "\xff",
					     "cri-containerd",
					     "-",
					     "a",
					     "systemd-nspawn@"};
	struct nt_rand rand = {.state = 1};

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char path[2048] = "";
		const uint64_t n = nt_rand_below(&rand, 16);

		for (uint64_t j = 0; j < n; j++)
			strcat(path, pieces[nt_rand_below(&rand, sizeof(pieces) / sizeof(pieces[0]))]);
		check_within(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_paths),
		cmocka_unit_test(knows_ids),
		cmocka_unit_test(takes_names_that_fit),
		cmocka_unit_test(bears_any_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
