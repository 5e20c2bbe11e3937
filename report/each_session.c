// SPDX-License-Identifier: GPL-2.0-only
/*
 * each_session.c - what commands that show one session after the other have in common.
 */
#include "report/command.h"
#include "report/each_session.h"
#include "report/load.h"

static int count(void *arg, const struct nt_latency_session *session)
{
	struct nt_sessions *sessions = arg;

	(void)session;
	sessions->n++;
	return 0;
}

int nt_sessions_open(struct nt_sessions *sessions, const char *path, const struct nt_symbol_words *words)
{
	char error[512];

	*sessions = (struct nt_sessions){.path = path};
	if (nt_load_open(&sessions->db, path, words, error, sizeof(error)))
		return nt_complain("%s", error);
	if (nt_latency_each_session(sessions->db, count, sessions))
		return nt_complain("%s", sessions->db->error);
	return NT_EXIT_DONE;
}

struct showing {
	struct nt_sessions *sessions;
	int (*show)(void *arg, const struct nt_latency_session *session);
	void *arg;
};

static int show_one(void *arg, const struct nt_latency_session *session)
{
	struct showing *showing = arg;
	struct nt_sessions *sessions = showing->sessions;

	sessions->why_not[0] = 0;
	if (showing->show(showing->arg, session))
		return -1;
	sessions->shown += !sessions->why_not[0];
	return 0;
}

int nt_sessions_show(struct nt_sessions *sessions, struct nt_json *json,
		     int (*show)(void *arg, const struct nt_latency_session *session), void *arg)
{
	struct showing showing = {sessions, show, arg};
	int error;

	if (json) {
		nt_json_open(json, NULL, '{');
		nt_json_open(json, "sessions", '[');
	}
	error = nt_latency_each_session(sessions->db, show_one, &showing);
	if (json) {
		nt_json_close(json, ']');
		nt_json_close(json, '}');
	}
	if (error)
		return nt_complain("%s", sessions->db->error);
	if (!sessions->shown)
		return nt_complain("%s: %s.", sessions->path,
				   sessions->why_not[0] ? sessions->why_not : "it holds no recording: import one");
	return NT_EXIT_DONE;
}

void nt_sessions_close(struct nt_sessions *sessions)
{
	nt_db_close(sessions->db);
	sessions->db = NULL;
}
