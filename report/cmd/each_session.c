// SPDX-License-Identifier: GPL-2.0-only
/*
 * each_session.c - what commands that show one session after the other have in common.
 */
#include <stdlib.h>
#include <string.h>

#include "report/cmd/command.h"
#include "report/cmd/damage.h"
#include "report/cmd/each_session.h"
#include "report/query/whole.h"
#include "report/util/array.h"

int nt_sessions_open(struct nt_sessions *sessions, const char *path, const struct nt_symbol_args *args,
		     const char *names_file, const struct nt_need *need, enum nt_format format)
{
	char error[NT_ERROR_MAX];

	*sessions = (struct nt_sessions){.format = format, .json = {.out = stdout, .lines = 4}, .path = path};
	if (nt_load_open(&sessions->db, path, args, names_file, need, error))
		return nt_complain("%s", error);
	nt_damage_tell(sessions->db, path, &sessions->told);
	if (nt_session_count(sessions->db, &sessions->n))
		return nt_complain("%s", sessions->db->error);
	if (format != NT_FORMAT_JSON)
		sessions->printer = nt_printer_new(stdout, format, true);
	return format == NT_FORMAT_JSON || sessions->printer ? NT_EXIT_DONE : nt_complain("out of memory.");
}

struct showing {
	struct nt_sessions *sessions;
	int (*show)(void *arg, const struct nt_session *session);
	void *arg;
};

static int leave_out(struct nt_sessions *sessions, int64_t id)
{
	struct nt_session_left *left;

	if (NT_ROOM(sessions->left, sessions->left_size, sessions->n_left + 1))
		return nt_db_no_memory(sessions->db);
	left = &sessions->left[sessions->n_left++];
	left->id = id;
	memcpy(left->why, sessions->why_not, sizeof(left->why));
	return 0;
}

static int show_one(void *arg, const struct nt_session *session)
{
	struct showing *showing = arg;
	struct nt_sessions *sessions = showing->sessions;

	sessions->why_not[0] = 0;
	if (showing->show(showing->arg, session))
		return -1;
	if (sessions->why_not[0])
		return leave_out(sessions, session->id);
	sessions->shown++;
	return 0;
}

static void left_out_json(const struct nt_sessions *sessions, struct nt_json *json)
{
	nt_json_open(json, "left_out", '[');
	for (size_t i = 0; i < sessions->n_left; i++) {
		nt_json_open(json, NULL, '{');
		nt_json_integer(json, "session_id", sessions->left[i].id);
		nt_json_text(json, "why", sessions->left[i].why);
		nt_json_close(json, '}');
	}
	nt_json_close(json, ']');
}

static void tell_left_out(const struct nt_sessions *sessions)
{
	if (sessions->n_left)
		nt_complain("%s: %zu of %lld sessions %s left out: %s%s.", sessions->path, sessions->n_left,
			    (long long)sessions->n, sessions->n_left > 1 ? "are" : "is", sessions->left[0].why,
			    sessions->n_left > 1 ? "; and so on" : "");
}

int nt_sessions_show(struct nt_sessions *sessions, int (*show)(void *arg, const struct nt_session *session), void *arg)
{
	struct nt_json *json = sessions->format == NT_FORMAT_JSON ? &sessions->json : NULL;
	struct showing showing = {sessions, show, arg};
	int error;

	if (json) {
		nt_json_open(json, NULL, '{');
		nt_json_open(json, "sessions", '[');
	}
	error = nt_session_each(sessions->db, show_one, &showing);
	if (json) {
		nt_json_close(json, ']');
		left_out_json(sessions, json);
		nt_json_close(json, '}');
	}
	if (error)
		return nt_complain("%s", sessions->db->error);
	if (!sessions->shown)
		return nt_complain("%s: %s.", sessions->path,
				   sessions->why_not[0] ? sessions->why_not : "it holds no recording: import one");
	tell_left_out(sessions);
	return NT_EXIT_DONE;
}

int nt_sessions_say_whole(struct nt_sessions *sessions, const struct nt_session *session,
			  const struct nt_selection *selection)
{
	struct nt_whole whole;

	if (sessions->format == NT_FORMAT_CSV)
		return 0;
	if (nt_whole_find(sessions->db, session, selection, &whole))
		return -1;
	if (sessions->format == NT_FORMAT_JSON)
		nt_whole_json(&whole, &sessions->json);
	else
		nt_whole_print(&whole, stdout);
	return 0;
}

int nt_sessions_csv_begin(struct nt_sessions *sessions)
{
	static const char *const names[] = {"session_id", "section", "row", "name", "value"};

	if (sessions->format == NT_FORMAT_CSV && nt_printer_begin(sessions->printer, NT_COUNT(names), names))
		return nt_complain("out of memory.");
	return NT_EXIT_DONE;
}

void nt_sessions_csv_value(struct nt_sessions *sessions, int64_t session_id, const char *section, int64_t row,
			   const char *name, struct nt_cell value)
{
	const struct nt_cell cells[] = {
		nt_cell_integer(session_id), nt_cell_text(section), nt_cell_integer(row), nt_cell_text(name), value,
	};

	nt_printer_row(sessions->printer, cells);
}

void nt_sessions_close(struct nt_sessions *sessions)
{
	if (sessions->db)
		nt_damage_tell(sessions->db, sessions->path, &sessions->told);
	free(sessions->left);
	nt_printer_free(sessions->printer);
	nt_db_close(sessions->db);
	*sessions = (struct nt_sessions){0};
}
