// SPDX-License-Identifier: GPL-2.0-only
/*
 * symbolize.c - nettape-report symbolize: names functions of programs in a database, by files that were missing when
 * the tape was imported, and says for each program what was found.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/cmd/command.h"
#include "report/cmd/options.h"
#include "report/db/load.h"
#include "report/out/denied.h"
#include "report/util/array.h"
#include "report/util/utf8.h"

/* A program, which has many places. */
struct program {
	char build_id[2 * NT_BUILD_ID_LEN + 1], path[512]; /* "": not known */
	int64_t places, named;
	const char *files[2]; /* as nt_user_name */
};

struct symbolize {
	struct nt_db *db;
	struct nt_user_names *names;
	struct nt_printer *printer;
	struct nt_arena arena;
	struct program program; /* that is being read */
};

/* False: it is none. */
static bool parse_build_id(const char *text, uint8_t build_id[NT_BUILD_ID_LEN])
{
	const size_t length = strlen(text);

	if (length != 2 * NT_BUILD_ID_LEN || strspn(text, "0123456789abcdef") != length)
		return false;
	for (int i = 0; i < NT_BUILD_ID_LEN; i++)
		sscanf(text + 2 * i, "%2hhx", &build_id[i]);
	return true;
}

/* ---- what was found ---- */

static const char *result_of(const struct program *program)
{
	if (program->named == program->places)
		return "named";
	if (!program->files[0] && !program->files[1])
		return "no file has this build id";
	if (!program->files[0])
		return "symbols without the program itself";
	if (!program->files[1])
		return "the program without symbols";
	return "named in part";
}

/* Shows the program that has been read, if there is one, and begins the next. 0, or -ENOMEM. */
static int next_program(struct symbolize *symbolize, const char *build_id, const char *path)
{
	struct program *program = &symbolize->program;
	int error = 0;

	if (program->places) {
		const struct nt_cell cells[] = {
			nt_cell_integer(program->places), nt_cell_integer(program->named),
			nt_cell_text(program->build_id),  nt_cell_text(program->path[0] ? program->path : NULL),
			nt_cell_text(program->files[0]),  nt_cell_text(program->files[1]),
			nt_cell_text(result_of(program)),
		};

		error = nt_printer_row(symbolize->printer, cells);
	}
	*program = (struct program){0};
	snprintf(program->build_id, sizeof(program->build_id), "%s", build_id);
	snprintf(program->path, sizeof(program->path), "%s", path);
	return error;
}

/* ---- places ---- */

enum { SESSION, ID, BUILD_ID, PATH, PLACE, HAS_NAME };

static int name_place(struct symbolize *symbolize, sqlite3_stmt *row, const uint8_t *build_id)
{
	struct program *program = &symbolize->program;
	const char *function;
	struct nt_user_name name;

	if (nt_user_names_find(symbolize->names, build_id, program->path, (uint64_t)sqlite3_column_int64(row, PLACE),
			       &name))
		return nt_db_no_memory(symbolize->db);
	program->places++;
	program->files[0] = name.files[0];
	program->files[1] = name.files[1];
	program->named += name.function || sqlite3_column_int(row, HAS_NAME);
	if (!name.function)
		return 0;
	nt_arena_reset(&symbolize->arena);
	function = nt_arena_clean(&symbolize->arena, name.function, strlen(name.function));
	if (!function)
		return nt_db_no_memory(symbolize->db);
	return nt_db_name_symbol(symbolize->db, sqlite3_column_int64(row, SESSION), sqlite3_column_int64(row, ID),
				 function, (int64_t)name.offset);
}

/* A text that is no build id is not from nettape: it stays as it is. */
static int take_place(struct symbolize *symbolize, sqlite3_stmt *row)
{
	const char *text = nt_db_text(row, BUILD_ID), *path = nt_db_text(row, PATH);
	const struct program *program = &symbolize->program;
	uint8_t build_id[NT_BUILD_ID_LEN];

	if (!parse_build_id(text, build_id))
		return 0;
	if ((strcmp(program->build_id, text) || strcmp(program->path, path)) && next_program(symbolize, text, path))
		return nt_db_no_memory(symbolize->db);
	return name_place(symbolize, row, build_id);
}

/*
 * Sorted, so that all rows have been read before the first one is changed; where the path is not known, the program may
 * have been found by that of another row.
 */
static int name_all(struct symbolize *symbolize)
{
	sqlite3_stmt *row = nt_db_prepare(symbolize->db,
					  "SELECT session_id, id, build_id, substr(path, 1, 300), "
					  "file_offset, \"offset\" IS NOT NULL "
					  "FROM symbol WHERE kind = 'user' AND build_id IS NOT NULL AND file_offset "
					  "IS NOT NULL ORDER BY build_id, path IS NULL, path, +file_offset",
					  NULL);
	int error = 0;

	while (!error && nt_db_next(row)) {
		/* The rows had an end. From here on, only the files of programs take time. */
		nt_foreign_lift(symbolize->db);
		error = take_place(symbolize, row);
	}
	if (nt_db_end(symbolize->db, row, "the symbols cannot be read") || error)
		return -1;
	return next_program(symbolize, "", "");
}

static int print_all(struct symbolize *symbolize)
{
	static const char *const names[] = {"places", "named", "build_id", "path", "file", "symbols_of", "result"};
	int error;

	nt_printer_leave_out(symbolize->printer, "symbols_of,file,build_id");
	error = nt_printer_begin(symbolize->printer, NT_COUNT(names), names);

	if (!error && nt_db_begin(symbolize->db))
		return nt_complain("%s", symbolize->db->error);
	if (!error && name_all(symbolize))
		return nt_complain("%s Nothing was changed.", symbolize->db->error);
	if (error)
		return nt_complain("out of memory.");
	if (nt_db_finish(symbolize->db))
		return nt_complain("%s", symbolize->db->error);
	nt_printer_end(symbolize->printer);
	nt_printer_say_left_out(symbolize->printer, "", "--json and --csv have");
	return NT_EXIT_DONE;
}

static int run(const struct nt_options *options)
{
	const char *path = options->args[0];
	struct symbolize symbolize = {0};
	char error[NT_ERROR_MAX], why[NT_DENIED_MAX];
	int code;

	if (access(path, R_OK))
		return nt_complain("'%s' cannot be read: %s.", path, nt_denied_read(why, path, errno));
	if (!nt_load_is_database(path))
		return nt_complain("%s is not a database. Functions of a tape are named when it is read: "
				   "nettape-report import TAPE -o DB --symbols DIR.",
				   path);
	if (nt_user_names_new(&symbolize.names, &options->symbols, error))
		return nt_complain("%s", error);
	symbolize.printer = nt_printer_new(stdout, options->format, true);
	if (nt_db_open(&symbolize.db, path, NT_DB_CHANGE))
		code = nt_complain("%s", symbolize.db ? symbolize.db->error : "out of memory.");
	else
		code = symbolize.printer ? print_all(&symbolize) : nt_complain("out of memory.");
	nt_printer_free(symbolize.printer);
	nt_db_close(symbolize.db);
	nt_arena_release(&symbolize.arena);
	nt_user_names_free(symbolize.names);
	return code;
}

static const struct nt_option options[] = {
	NT_OPTION_SYMBOLS, NT_OPTION_JSON, NT_OPTION_CSV, NT_OPTION_HELP, NT_OPTIONS_END,
};

const struct nt_command nt_cmd_symbolize = {
	.name = "symbolize",
	.group = NT_GROUP_TAKE,
	.usage = "DB [OPTION]... [--json|--csv]",
	.what = "name the functions of programs in a database",
	.help = "The names come from ELF files of the same build id that are at hand now. For each program it prints "
		"what was found. A tape needs none of this: its functions are named when it is read.",
	.example = "symbolize busy.db --symbols ./unpacked",
	.wants = "a database",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
