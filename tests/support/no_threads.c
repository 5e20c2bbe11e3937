// SPDX-License-Identifier: GPL-2.0-only
/* no_threads.c - see no_threads.h: threads would need a stack larger than memory is. */
#include "tests/support/no_threads.h"

#include <errno.h>
#include <pthread.h>

#include "tests/support/must.h"

static void *nothing(void *arg)
{
	return arg;
}

void let_threads_fail(bool fail)
{
	static size_t before;
	pthread_attr_t attributes;
	pthread_t thread;

	MUST(!pthread_getattr_default_np(&attributes));
	if (!before)
		MUST(!pthread_attr_getstacksize(&attributes, &before));
	MUST(!pthread_attr_setstacksize(&attributes, fail ? (size_t)1 << 47 : before));
	MUST(!pthread_setattr_default_np(&attributes));
	pthread_attr_destroy(&attributes);
	MUST(!fail || pthread_create(&thread, NULL, nothing, NULL) == EAGAIN);
}
