// SPDX-License-Identifier: GPL-2.0-only
/*
 * names_fuzz.c - any bytes as a file of names, and as paths of cgroups: what stands before the first zero byte is the
 * file, each text behind it a path. Whatever they say, each path has a label, and what is found lies in it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/rows/cgroup_names.h"
#include "report/util/utf8.h"
#include "tests/support/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct nt_cgroup_names *read_names(const uint8_t *data, size_t size)
{
	int fd = memfd_create("names", MFD_CLOEXEC);
	struct nt_cgroup_names *names;
	char path[64], error[NT_ERROR_MAX] = "";

	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	MUST(!nt_cgroup_names_new(&names, path, error) == !!names);
	MUST(names || (error[0] && strlen(error) < NT_ERROR_MAX));
	close(fd);
	return names;
}

static void look_at(const char *path, struct nt_cgroup_names *names, struct nt_arena *arena)
{
	const size_t size = strlen(path);
	struct nt_container container;
	struct nt_cgroup_words words;
	char error[NT_ERROR_MAX] = "";

	nt_container_parse(path, &container);
	MUST(container.end <= size && container.pod_end <= size);
	MUST(container.unit + container.unit_size <= size);
	MUST(!names || !nt_cgroup_names_meet(names, path, error) == !error[0]);
	nt_cgroup_describe(&words, names, arena, path);
	MUST(words.label && (!words.name || strstr(words.label, words.name) == words.label));
	/* The same without a file, and that has no name. */
	nt_cgroup_describe(&words, NULL, arena, path);
	MUST(words.label && !words.name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, 0, size) : NULL;
	size_t at = end ? (size_t)(end - data) : size;
	struct nt_cgroup_names *names = read_names(data, at);
	struct nt_arena arena = {0};

	while (at++ < size) {
		const size_t length = at < size ? strnlen((const char *)data + at, size - at) : 0;

		look_at(nt_arena_clean(&arena, (const char *)data + at, length), names, &arena);
		at += length;
	}
	nt_arena_release(&arena);
	nt_cgroup_names_free(names);
	return 0;
}
