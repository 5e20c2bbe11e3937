// SPDX-License-Identifier: GPL-2.0-only
/*
 * perfetto_nomem.c - exports a tape or a database to Perfetto again and again, each time with another allocation
 * failing: either that is said, or the trace is what it is otherwise; and nothing leaks. perfetto_nomem TAPE|DB [STEP].
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/export/export.h"
#include "tests/support/must.h"
#include "tests/tools/failing_malloc.h"

#define MAX_TRACE (1 << 20)

static char wanted[MAX_TRACE], got[MAX_TRACE], buffer[BUFSIZ];
static FILE *out;

/* 0 or -1; what failed must have been said. The trace is in `to`. */
static int export(const char *path, char *to, size_t *size)
{
	const struct nt_selection all = {0};
	struct nt_progress progress;
	char error[NT_ERROR_MAX] = "";
	struct nt_feed *feed;
	ssize_t n;
	int result = nt_feed_open(&feed, path, NULL, error);

	MUST(!fflush(out) && !ftruncate(fileno(out), 0) && !fseek(out, 0, SEEK_SET));
	if (!result) {
		nt_progress_begin(&progress, path);
		result = nt_export_perfetto(feed, &all, out, &progress, error);
		nt_progress_end(&progress);
		nt_feed_close(feed);
	}
	MUST(!result || error[0]);
	MUST(!fflush(out));
	n = pread(fileno(out), to, MAX_TRACE, 0);
	MUST(n >= 0 && n < MAX_TRACE);
	*size = (size_t)n;
	return result;
}

int main(int argc, char **argv)
{
	const long step = argc == 3 ? strtol(argv[2], NULL, 10) : 1;
	size_t wanted_size, size;
	long before, runs = 0;

	MUST(argc >= 2 && step > 0);
	out = tmpfile();
	MUST(out && !setvbuf(out, buffer, _IOFBF, sizeof(buffer)));
	MUST(!export(argv[1], wanted, &wanted_size) && wanted_size);
	before = live;
	for (long k = 0;; k += step, runs++) {
		int error;

		until_failure = k;
		error = export(argv[1], got, &size);
		if (live != before)
			fprintf(stderr, "allocation %ld: %ld pieces left\n", k, live - before);
		MUST(live == before);
		/* Libraries can do without some of their allocations. */
		MUST(error || (size == wanted_size && !memcmp(got, wanted, size)));
		if (!error && until_failure >= 0)
			break;
	}
	until_failure = -1;
	printf("an allocation failed %ld times\n", runs);
	return 0;
}
