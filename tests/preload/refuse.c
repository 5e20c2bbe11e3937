// SPDX-License-Identifier: GPL-2.0-only
/*
 * refuse.c - a library that tests preload into the recorder. It stands for a kernel that refuses a program or a map:
 * those whose name begins with NT_REFUSE_PROGRAM or NT_REFUSE_MAP, of which a kernel sees the first 15 characters.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SEEN (BPF_OBJ_NAME_LEN - 1)

static bool is_refused(const char *name, const char *variable)
{
	const char *refused = getenv(variable);

	return refused && !strncmp(name, refused, strnlen(refused, SEEN));
}

/* libbpf calls bpf(2) by this function of libc's. */
long syscall(long number, ...)
{
	long (*next)(long number, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	const union bpf_attr *attr;
	long argument[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		argument[i] = va_arg(args, long);
	va_end(args);
	attr = (const union bpf_attr *)argument[1];
	if (number == SYS_bpf && ((argument[0] == BPF_PROG_LOAD && is_refused(attr->prog_name, "NT_REFUSE_PROGRAM")) ||
				  (argument[0] == BPF_MAP_CREATE && is_refused(attr->map_name, "NT_REFUSE_MAP")))) {
		errno = EINVAL;
		return -1;
	}
	return next(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}
