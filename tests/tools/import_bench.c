// SPDX-License-Identifier: GPL-2.0-only
/*
 * import_bench.c - how fast the importer is, against how fast SQLite inserts the same rows from memory, in one run:
 * import_bench [TAPE [DIR]]. Without a tape it simulates one. DIR is for the databases (default: TMPDIR or /tmp).
 * Prints rows a second; judges nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "report/db/load.h"
#include "report/rows/rows.h"
#include "tests/support/traffic.h"

#define MAX_KEPT 3000000

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void die(const char *what)
{
	fprintf(stderr, "import_bench: %s\n", what);
	exit(1);
}

static void remove_tree(const char *path)
{
	char command[600];

	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	if (system(command))
		perror(path);
}

static void simulate(const char *dir)
{
	const struct traffic_config traffic = {.seed = 1, .dur_ns = 3000000000, .n_tasks = 10};
	const struct tape_gen_config config = {.dir = dir, .n_cpus = 2};
	struct tape_gen *gen = tape_gen_new(&config);

	traffic_record(gen, 2, &traffic);
	tape_gen_finish(gen, GEN_START_NS + traffic.dur_ns, true);
}

/* Rows in memory, as compact as can be read back quickly. */
struct kept {
	uint32_t *table;
	struct nt_value *values; /* of all rows, one after another */
	size_t n, n_values, size_values;
	struct nt_arena texts;
};

static void keep(struct kept *kept, const struct nt_row *row)
{
	if (kept->n_values + row->n > kept->size_values) {
		kept->size_values = 2 * (kept->n_values + NT_MAX_COLUMNS);
		kept->values = realloc(kept->values, kept->size_values * sizeof(*kept->values));
		if (!kept->values)
			die("out of memory");
	}
	kept->table[kept->n++] = row->table;
	for (uint32_t i = 0; i < row->n; i++) {
		struct nt_value *value = &kept->values[kept->n_values++];

		*value = row->values[i];
		if (value->type == NT_VALUE_TEXT) {
			const size_t size = strlen(value->text) + 1;
			char *copy = nt_arena_get(&kept->texts, size);

			if (!copy)
				die("out of memory");
			value->text = memcpy(copy, value->text, size);
		}
	}
}

/* Reads all rows; keeps the first ones if asked to. Gives how many there are. */
static uint64_t read_rows(const char *path, struct kept *kept, double *seconds)
{
	struct nt_tape *tape;
	struct nt_row_iter *rows;
	const struct nt_row *row;
	char error[NT_ERROR_MAX];
	uint64_t n = 0;
	double begin = now();
	int result;

	if (nt_tape_open(&tape, path, error))
		die(error);
	if (nt_rows_open(&rows, tape, NULL, 1, &(struct nt_rows_want){.tables = NT_ALL_TABLES}))
		die("rows cannot be read");
	while (!(result = nt_row_next(rows, &row))) {
		if (kept && kept->n < MAX_KEPT)
			keep(kept, row);
		n++;
	}
	if (result != 1)
		die("rows cannot be read");
	nt_row_close(rows);
	nt_tape_close(tape);
	*seconds = now() - begin;
	return n;
}

static struct nt_db *open_db(const char *path)
{
	struct nt_db *db;

	if (nt_db_open(&db, path, NT_DB_NEW) || nt_db_begin(db))
		die(db ? db->error : "out of memory");
	return db;
}

static double insert_kept(const struct kept *kept, const char *path)
{
	struct nt_db *db = open_db(path);
	size_t at = 0;
	double begin = now();

	for (size_t i = 0; i < kept->n; i++) {
		struct nt_row row = {.table = kept->table[i], .n = nt_table(kept->table[i])->n_columns};

		memcpy(row.values, kept->values + at, row.n * sizeof(*row.values));
		at += row.n;
		if (nt_db_insert(db, &row))
			die(db->error);
	}
	if (nt_db_finish(db))
		die(db->error);
	nt_db_close(db);
	begin = now() - begin;
	unlink(path);
	return begin;
}

static double import(const char *tape_path, const char *path)
{
	struct nt_db *db = open_db(path);
	struct nt_tape *tape;
	char error[NT_ERROR_MAX];
	double begin = now();

	if (nt_tape_open(&tape, tape_path, error))
		die(error);
	if (nt_load(db, tape, NULL, NULL, NULL) || nt_db_finish(db))
		die(db->error);
	nt_db_close(db);
	nt_tape_close(tape);
	begin = now() - begin;
	unlink(path);
	return begin;
}

int main(int argc, char **argv)
{
	const char *base = argc > 2 ? argv[2] : getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	char dir[256], tape[300], db[300];
	struct kept kept = {.table = calloc(MAX_KEPT, sizeof(uint32_t))};
	struct rusage usage;
	double read_seconds, keep_seconds, insert_seconds, import_seconds;
	uint64_t n;

	snprintf(dir, sizeof(dir), "%s/nettape-import-bench-XXXXXX", base);
	if (!mkdtemp(dir) || !kept.table)
		die("there is no place for the databases");
	snprintf(tape, sizeof(tape), "%s/bench.tape", dir);
	snprintf(db, sizeof(db), "%s/bench.db", dir);
	if (argc < 2)
		simulate(tape);
	else
		snprintf(tape, sizeof(tape), "%s", argv[1]);
	n = read_rows(tape, NULL, &read_seconds);
	import_seconds = import(tape, db);
	getrusage(RUSAGE_SELF, &usage);
	read_rows(tape, &kept, &keep_seconds);
	insert_seconds = insert_kept(&kept, db);
	printf("rows: %llu\n", (unsigned long long)n);
	printf("from the tape alone: %.2f M rows/s\n", (double)n / read_seconds / 1e6);
	printf("SQLite alone, from memory (%zu rows): %.2f M rows/s\n", kept.n, (double)kept.n / insert_seconds / 1e6);
	printf("import: %.2f M rows/s, %.2f of SQLite's rate; peak memory %ld kB\n", (double)n / import_seconds / 1e6,
	       (double)n / import_seconds / ((double)kept.n / insert_seconds), usage.ru_maxrss);
	remove_tree(dir);
	return 0;
}
