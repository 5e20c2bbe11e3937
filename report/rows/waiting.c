// SPDX-License-Identifier: GPL-2.0-only
/* waiting.c - see waiting.h. */
#include "report/rows/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"
#include "schema/event.h"

#define REORDER 64 /* records that a later one may have to pass: an interrupt may write one first */

void nt_waiting_release(struct nt_waiting *waiting)
{
	free(waiting->records);
	*waiting = (struct nt_waiting){0};
}

/* Room for one more, also where those stood that wait no longer, once they were half of all. */
static int make_room(struct nt_waiting *waiting, size_t bytes)
{
	if (waiting->first > waiting->end / 2) {
		waiting->end -= waiting->first;
		memmove(waiting->records, waiting->records + waiting->first, waiting->end);
		waiting->first = 0;
	}
	return NT_ROOM(waiting->records, waiting->size, waiting->end + bytes);
}

static uint64_t end_of(const void *record)
{
	return ((const struct nt_record *)record)->end_ns;
}

int nt_waiting_add(struct nt_waiting *waiting, const void *record, size_t bytes)
{
	const uint64_t end_ns = end_of(record);
	char *at;

	if (make_room(waiting, bytes))
		return -ENOMEM;
	at = waiting->records + waiting->end;
	waiting->end += bytes;
	for (int i = 0; i < REORDER && at > waiting->records + waiting->first; i++, at -= bytes) {
		if (end_of(at - bytes) <= end_ns)
			break;
		memcpy(at, at - bytes, bytes);
	}
	memcpy(at, record, bytes);
	return 0;
}
