// SPDX-License-Identifier: GPL-2.0-only
/*
 * user_files_test.c - the files of user frames, of this very process: by build id and by address, for symbols that were
 * put before the file was found; and what is not to be found stays without, among thousands of words that were taken
 * for addresses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/user_files.h"
#include "schema/build_id.h"
#include "tests/support/scratch.h"

static char self[4096]; /* this program */
static const char *kept; /* of that, what fits */

static void put(struct nt_ids *ids, uint64_t key, uint8_t flags, const uint8_t *build_id, const char *path)
{
	union nt_any record;

	memset(&record, 0, sizeof(record));
	record.as_user_symbol.kind = NT_USER_SYMBOL;
	record.as_user_symbol.symbol = key;
	record.as_user_symbol.flags = flags;
	if (build_id)
		memcpy(record.as_user_symbol.build_id, build_id, NT_BUILD_ID_LEN);
	strcpy(record.as_user_symbol.path, path);
	assert_int_equal(nt_ids_put(ids, &record), 0);
}

static const struct nt_user_symbol *get(struct nt_ids *ids, uint64_t key)
{
	return &ids->spaces[NT_ROLE_SYMBOL].entries[nt_ids_get(ids, NT_ROLE_SYMBOL, key)].identity->as_user_symbol;
}

static void finds_this_program(void **state)
{
	static const uint8_t nobodys[NT_BUILD_ID_LEN] = {0xde, 0xad};
	uint8_t build_id[NT_BUILD_ID_LEN];
	struct nt_user_files files = {0};
	struct nt_ids ids;
	bool has_id = nt_build_id_of_file(self, build_id);

	(void)state;
	assert_int_equal(nt_ids_init(&ids), 0);
	for (uint64_t word = 1000; word < 9000; word++)
		put(&ids, word, NT_USER_SYMBOL_ADDRESS, NULL, "");
	if (has_id) {
		put(&ids, 1, 0, build_id, nt_user_files_path(&files, build_id, (uint32_t)getpid()));
		put(&ids, 2, 0, build_id, nt_user_files_path(&files, build_id, (uint32_t)getpid()));
		assert_string_equal(get(&ids, 1)->path, "");
	}
	put(&ids, 3, 0, nobodys, nt_user_files_path(&files, nobodys, (uint32_t)getpid()));
	put(&ids, 4, NT_USER_SYMBOL_ADDRESS, NULL, "");
	nt_user_files_want(&files, 4, (uint64_t)(uintptr_t)finds_this_program, (uint32_t)getpid());
	put(&ids, 5, NT_USER_SYMBOL_ADDRESS, NULL, "");
	nt_user_files_want(&files, 5, 4096, (uint32_t)getpid());
	assert_int_equal(nt_user_files_resolve(&files, &ids, 1, true), 0);
	for (uint64_t key = 1; key <= 2 && has_id; key++)
		assert_string_equal(get(&ids, key)->path, kept);
	assert_string_equal(get(&ids, 3)->path, "");
	assert_string_equal(get(&ids, 4)->path, kept);
	assert_int_equal(get(&ids, 4)->flags, 0);
	assert_string_equal(get(&ids, 5)->path, "");
	assert_string_equal(get(&ids, 8999)->path, "");
	/* Now it is known at once. */
	if (has_id)
		assert_string_equal(nt_user_files_path(&files, build_id, 1), kept);
	nt_user_files_release(&files);
	nt_ids_release(&ids);
}

/* A file that one process did not have, another may have. */
static void asks_the_next_process(void **state)
{
	uint8_t build_id[NT_BUILD_ID_LEN];
	struct nt_user_files files = {0};
	struct nt_ids ids;

	(void)state;
	if (!nt_build_id_of_file(self, build_id)) {
		print_message("SKIP: this test was linked without a build id\n");
		skip();
	}
	assert_int_equal(nt_ids_init(&ids), 0);
	put(&ids, 1, 0, build_id, nt_user_files_path(&files, build_id, 0));
	assert_int_equal(nt_user_files_resolve(&files, &ids, 1, true), 0);
	assert_string_equal(get(&ids, 1)->path, "");
	put(&ids, 2, 0, build_id, nt_user_files_path(&files, build_id, (uint32_t)getpid()));
	assert_int_equal(nt_user_files_resolve(&files, &ids, 2, true), 0);
	assert_string_equal(get(&ids, 1)->path, kept);
	assert_string_equal(get(&ids, 2)->path, kept);
	nt_user_files_release(&files);
	nt_ids_release(&ids);
}

/* Maps a file of a path with so many bytes, as if its code were to run, and gives the path that is found for it. */
static const char *path_found(const char *directory, size_t size)
{
	static char found[200];
	char path[512];
	struct nt_user_files files = {0};
	struct nt_ids ids;
	int fd, n = snprintf(path, sizeof(path), "%s/", directory);
	void *code;

	memset(path + n, 'x', size - (size_t)n);
	path[n] = 'a';
	path[size - 1] = 'z';
	path[size] = 0;
	scratch_write(path, "\0", 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	close(fd);
	if (code == MAP_FAILED) {
		print_message("SKIP: nothing below %s may be run\n", directory);
		scratch_remove(directory);
		skip();
	}
	assert_int_equal(nt_ids_init(&ids), 0);
	put(&ids, 1, NT_USER_SYMBOL_ADDRESS, NULL, "");
	nt_user_files_want(&files, 1, (uint64_t)(uintptr_t)code + 7, (uint32_t)getpid());
	assert_int_equal(nt_user_files_resolve(&files, &ids, 1, true), 0);
	assert_int_equal(get(&ids, 1)->place, 7);
	snprintf(found, sizeof(found), "%s", get(&ids, 1)->path);
	assert_string_equal(found, path + (size > strlen(found) ? size - strlen(found) : 0));
	nt_user_files_release(&files);
	nt_ids_release(&ids);
	munmap(code, 4096);
	return found;
}

static void keeps_the_end_of_a_long_path(void **state)
{
	const size_t most = sizeof(((struct nt_user_symbol *)0)->path) - 1;
	char directory[SCRATCH_MAX];

	(void)state;
	scratch_make(directory);
	assert_true(strlen(directory) + 3 < most);
	assert_int_equal(strlen(path_found(directory, most - 1)), most - 1);
	assert_int_equal(strlen(path_found(directory, most)), most);
	assert_int_equal(strlen(path_found(directory, most + 1)), most);
	assert_int_equal(strlen(path_found(directory, most + 80)), most);
	scratch_remove(directory);
}

/* A host that builds a program anew each second has no end of files. */
static void knows_no_end_of_files(void **state)
{
	uint8_t build_id[NT_BUILD_ID_LEN] = {0};
	struct nt_user_files files = {0};

	(void)state;
	for (uint32_t i = 0; i < NT_FILES_MOST + 1000; i++) {
		memcpy(build_id, &i, sizeof(i));
		assert_string_equal(nt_user_files_path(&files, build_id, 1), "");
	}
	assert_int_equal(files.n, NT_FILES_MOST);
	nt_user_files_want(&files, 1, 4096, 1);
	assert_int_equal(files.n, NT_FILES_MOST);
	nt_user_files_release(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_this_program),
		cmocka_unit_test(asks_the_next_process),
		cmocka_unit_test(keeps_the_end_of_a_long_path),
		cmocka_unit_test(knows_no_end_of_files),
	};

	size_t most = sizeof(((struct nt_user_symbol *)0)->path) - 1;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) <= 0)
		return 1;
	kept = strlen(self) > most ? self + strlen(self) - most : self;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
