// SPDX-License-Identifier: GPL-2.0-only
/*
 * names_nomem.c - looks for the function `inner` of tests/fuzz/corpus/program_fuzz/static again and again, each time
 * with another allocation failing: it is found, or not, or that is said, and nothing leaks. names_nomem DIRECTORY,
 * which has the file; the current one has it, too.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/symbols/user_names.h"
#include "schema/build_id.h"
#include "tests/support/must.h"
#include "tests/tools/failing_malloc.h"

#define PLACE 0x10d

/* Whether it was found; 0 or -ENOMEM in *error. */
static bool look(const struct nt_symbol_args *args, const uint8_t *build_id, int *error)
{
	struct nt_user_names *names;
	struct nt_user_name name = {0};
	char text[NT_ERROR_MAX] = "";
	bool found;

	if (nt_user_names_new(&names, args, text)) {
		MUST(text[0]);
		*error = -ENOMEM;
		return false;
	}
	*error = nt_user_names_find(names, build_id, "/usr/bin/static", PLACE, &name);
	MUST(!*error || *error == -ENOMEM);
	found = name.function && !strcmp(name.function, "inner");
	MUST(found || !name.function);
	nt_user_names_free(names);
	return found;
}

int main(int argc, char **argv)
{
	struct nt_symbol_args args = {.n_dirs = 1};
	uint8_t build_id[NT_BUILD_ID_LEN];
	long n = 0, before, said = 0, was_found = 0;
	char path[512];
	int error;
	bool found;

	MUST(argc == 2);
	args.dirs[0] = argv[1];
	snprintf(path, sizeof(path), "%s/static", argv[1]);
	MUST(nt_build_id_of_file(path, build_id));
	MUST(look(&args, build_id, &error));
	before = live;
	do {
		until_failure = n++;
		found = look(&args, build_id, &error);
		was_found += found;
		said += error != 0;
		MUST(until_failure < 0 || (found && !error));
		if (live != before)
			fprintf(stderr, "allocation %ld: %ld pieces left\n", n - 1, live - before);
		MUST(live == before);
	} while (until_failure < 0);
	printf("each of %ld allocations failed once: said %ld times, found all the same %ld times\n", n - 1, said,
	       was_found);
	return 0;
}
