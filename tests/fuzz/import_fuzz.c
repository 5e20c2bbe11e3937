// SPDX-License-Identifier: GPL-2.0-only
/*
 * import_fuzz.c - any bytes as a tape of one chunk, as they are and with their checksums set right, through all of the
 * importer: tape, merge, timeline, rows, database; through the export to Perfetto; and through SQL on the tape.
 * Whatever the tape says, each CPU's slices follow one another from the session's start to its end, every row fits its
 * table, and SQL finds as many rows.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/db/load.h"
#include "report/export/export.h"
#include "report/rows/rows.h"
#include "tests/support/chunk_seal.h"
#include "tests/support/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_ROWS 60000 /* of one input: for one input to take no long time */
#define MAX_INSERTED 3000

struct import {
	struct nt_tape *tape;
	struct nt_db *db;
	uint64_t *next_ns; /* by CPU: where its next slice must begin */
	uint64_t n_rows, n_inserted;
	uint64_t n_of[NT_TABLE_COUNT];
};

static void check_row(struct import *import, const struct nt_row *row)
{
	const struct nt_table *table = nt_table(row->table);

	MUST(row->n == table->n_columns);
	for (uint32_t i = 0; i < row->n; i++) {
		const struct nt_value *value = &row->values[i];

		MUST(value->type == NT_VALUE_NULL ? !table->columns[i].required
						  : value->type == table->columns[i].type);
		MUST(value->type != NT_VALUE_TEXT || value->text);
	}
	if (row->table == NT_TABLE_CPU_SLICE) {
		uint64_t *next_ns = &import->next_ns[row->values[3].integer];

		MUST((uint64_t)row->values[1].integer == *next_ns && row->values[2].integer > 0);
		*next_ns += (uint64_t)row->values[2].integer;
		MUST(*next_ns <= import->tape->end_ns);
	}
}

/* Rows into the database: all of the small tables, the first of the large ones. */
static void insert(struct import *import, const struct nt_row *row)
{
	if (!import->db || (!nt_table(row->table)->key && import->n_inserted >= MAX_INSERTED))
		return;
	import->n_inserted++;
	if (nt_db_insert(import->db, row)) {
		fprintf(stderr, "%s\n", import->db->error);
		abort();
	}
}

static void read_all(struct import *import)
{
	const struct nt_row *row;
	struct nt_row_iter *rows;
	int error = nt_rows_open(&rows, import->tape, NULL, 1,
				 &(struct nt_rows_want){.tables = NT_ALL_TABLES, .order = NT_ROWS_EVENTS_FIRST});

	MUST(!error);
	while (!(error = nt_row_next(rows, &row)) && import->n_rows++ < MAX_ROWS) {
		check_row(import, row);
		import->n_of[row->table]++;
		insert(import, row);
	}
	MUST(error >= 0);
	for (uint32_t cpu = 0; error == 1 && cpu < import->tape->n_cpus; cpu++)
		MUST(!import->tape->present[cpu] || import->next_ns[cpu] == import->tape->end_ns);
	nt_row_close(rows);
}

/* A tape that can be imported can be exported, but for numbers of CPUs that Perfetto does not take. */
static void export_path(const char *path)
{
	const struct nt_selection all = {0};
	FILE *out = fopen("/dev/null", "we");
	char error[NT_ERROR_MAX] = "";
	struct nt_session session;
	struct nt_db *db;

	MUST(out);
	if (nt_load_open(&db, path, NULL, NULL, NULL, error))
		MUST(error[0]);
	else
		MUST((!nt_session_only(db, &session) && !nt_export_perfetto(db, &session, &all, out)) ||
		     strstr(db->error, "a CPU") || strstr(db->error, "no clock shows"));
	nt_db_close(db);
	fclose(out);
}

/* Reads all rows of a query. How many there are. */
static uint64_t query(struct nt_db *db, const char *sql)
{
	sqlite3_stmt *statement = nt_db_prepare(db, sql, NULL);
	uint64_t n = 0;

	while (nt_db_next(statement))
		n++;
	if (nt_db_end(db, statement, "a query")) {
		fprintf(stderr, "%s: %s\n", sql, db->error);
		abort();
	}
	return n;
}

/* SQL on the tape: each table in full, and what comes back to a table of events, so that it is kept. */
static void query_path(const char *path, const uint64_t n_of[NT_TABLE_COUNT])
{
	static const char *const more[] = {
		("SELECT count(*) FROM (SELECT * FROM cpu_slice LIMIT 20) AS a JOIN cpu_slice AS b ON b.ts = a.ts AND "
		 "b.cpu = a.cpu"),
		"SELECT (SELECT max(b.ts) FROM sched_slice AS b WHERE b.utid = a.utid) FROM sock_op AS a LIMIT 20",
		"SELECT * FROM thread WHERE utid = 1 OR tid = 1 OR name = ''",
		"SELECT * FROM net_cost_process",
		"SELECT * FROM loss_total",
		"SELECT * FROM latency_hook",
	};
	char error[NT_ERROR_MAX] = "", sql[64];
	struct nt_db *db;

	MUST(!nt_load_open(&db, path, NULL, NULL, NULL, error));
	for (int id = 0; id < NT_TABLE_COUNT; id++) {
		snprintf(sql, sizeof(sql), "SELECT * FROM %s", nt_table((enum nt_table_id)id)->name);
		MUST(query(db, sql) == n_of[id]);
	}
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		query(db, more[i]);
	nt_db_close(db);
}

static void import_path(const char *path, bool with_db)
{
	struct import import = {0};
	char error[NT_ERROR_MAX] = "";

	if (nt_tape_open(&import.tape, path, error)) {
		MUST(error[0] && error[strlen(error) - 1] == '.');
		return;
	}
	import.next_ns = calloc(import.tape->n_cpus + 1, sizeof(uint64_t));
	MUST(import.next_ns);
	for (uint32_t cpu = 0; cpu < import.tape->n_cpus; cpu++)
		import.next_ns[cpu] = import.tape->start_ns;
	MUST(!with_db || (!nt_db_open(&import.db, "", NT_DB_TEMPORARY) && !nt_db_begin(import.db)));
	read_all(&import);
	MUST(!with_db || !nt_db_finish(import.db));
	nt_db_close(import.db);
	nt_tape_close(import.tape);
	free(import.next_ns);
	if (import.n_rows < MAX_ROWS)
		export_path(path);
	if (import.n_rows < MAX_ROWS && with_db)
		query_path(path, import.n_of);
}

static void import_bytes(const void *data, size_t size)
{
	int fd = memfd_create("chunk", MFD_CLOEXEC);
	char path[64];

	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* Making a database takes longer than most inputs: some must do. */
	import_path(path, nt_crc32c(0, data, size) % 8 == 0);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nt_buf sealed = {0};

	import_bytes(data, size);
	MUST(!nt_buf_append(&sealed, data, size));
	chunk_seal(&sealed);
	import_bytes(sealed.data, sealed.size);
	nt_buf_release(&sealed);
	return 0;
}
