/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * container.h - what a cgroup's path says: its container, pod and systemd unit. Pure. A path may be any text, and may
 * lack its begin (NT_PATH_LEN), so only whole components count: those behind a '/'.
 *
 *   component of the path                                  runtime     container
 *   docker-ID.scope, nerdctl-ID.scope                      docker, nerdctl   ID
 *   cri-containerd-ID.scope, crio-ID.scope                 containerd, cri-o   ID
 *   libpod-ID.scope, libpod-payload-ID                     podman      ID
 *   the same without .scope; X.slice:cri-containerd:ID     the same    ID
 *   ID                                                     docker below docker/, else not told   ID
 *   lxc.payload.NAME, lxc/NAME                             lxc         NAME
 *   systemd-nspawn@NAME.service, machine.slice/machine-NAME.scope   nspawn   NAME
 *
 * ID is 64 hexadecimal digits. The innermost container is the one. Monitors of containers (libpod-conmon-ID.scope) and
 * virtual machines (machine-qemu...) are units and no containers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define NT_CONTAINER_ID_LEN 64
#define NT_CONTAINER_SHORT 12 /* digits of an id that people see, as docker prints */
#define NT_CONTAINER_MAX 256
#define NT_POD_MAX 40

/* All sizes and offsets are bytes of the path. */
struct nt_container {
	const char *runtime; /* a constant; NULL: none, or not told */
	char id[NT_CONTAINER_MAX]; /* ID or NAME; "": in no container */
	bool has_name; /* it is a NAME */
	size_t end; /* of the container's component */
	char pod[NT_POD_MAX]; /* its uid, with '-' where it has any; "": in no pod */
	size_t pod_end; /* of the pod's component */
	/* The innermost systemd service or scope that is no container; size 0: there is none. */
	size_t unit, unit_size;
	unsigned long user; /* whose unit it is: user@UID.service is above it; 0: the system's */
};

void nt_container_parse(const char *path, struct nt_container *container);

/* Whether the text, `size` bytes, is an id, or the begin of one: lower-case hexadecimal digits, at most 64 of them. */
bool nt_container_is_id(const char *text, size_t size);
/* Whether it is a pod's uid: 8-4-4-4-12 hexadecimal digits, or 32 (pods that a node's own files describe). */
bool nt_container_is_pod(const char *text, size_t size);
