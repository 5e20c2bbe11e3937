// SPDX-License-Identifier: GPL-2.0-only
/*
 * scan.c - see scan.h. Samples refer to groups by small ids, and labels are looked up once for each id,
 * not for each sample: a scan is one pass through the table.
 */
#include "report/query/latency/scan.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/query/latency/pairing.h"
#include "report/util/utf8.h"

/* Address and port, the address in brackets if it is one of IPv6; NULL if there is none. */
#define ENDPOINT(address, port)                                                                                        \
	"CASE WHEN family = 'inet6' THEN '[' || " address " || ']' ELSE " address " END || ':' || " port " "

/* By what: the column that samples have it in, and all of its values with their labels. */
static const struct {
	const char *key;
	const char *labels;
} sources[NT_BY_COUNT] = {
	[NT_BY_NONE] = {"NULL", NULL},
	[NT_BY_IFACE] =
		{"device_id",
		 "WITH several AS (SELECT name FROM net_device WHERE session_id = ?1 "
		 "GROUP BY name HAVING count(DISTINCT netns) > 1) "
		 "SELECT id, CASE WHEN name IN several THEN name || ' (netns ' || netns || ')' ELSE name END AS "
		 "label FROM net_device WHERE session_id = ?1 ORDER BY label"},
	[NT_BY_CGROUP] = {"utid", "SELECT t.utid, g.path FROM thread AS t "
				  "JOIN process AS p ON p.session_id = t.session_id AND p.upid = t.upid "
				  "JOIN cgroup AS g ON g.session_id = p.session_id AND g.id = p.cgroup_id "
				  "WHERE t.session_id = ?1 ORDER BY g.path"},
	[NT_BY_PROCESS] =
		{"utid", "SELECT t.utid, coalesce(p.name, '(unknown)') || coalesce(' (' || p.pid || ')', '') AS label "
			 "FROM thread AS t JOIN process AS p ON p.session_id = t.session_id AND p.upid = t.upid "
			 "WHERE t.session_id = ?1 ORDER BY label"},
	[NT_BY_SOCKET] =
		{"socket_id",
		 "SELECT id, coalesce(proto || ' ', '') || coalesce(" ENDPOINT(
			 "src",
			 "sport") ", '-') || coalesce(' ' || " ENDPOINT("dst",
									"dport") ", '') "
										 "AS label FROM socket WHERE "
										 "session_id = ?1 ORDER BY label"},
	[NT_BY_CPU] = {"cpu", "SELECT DISTINCT cpu, cpu FROM skb_latency WHERE session_id = ?1 ORDER BY cpu"},
	[NT_BY_PORT] = {"socket_id",
			"SELECT id, sport FROM socket WHERE session_id = ?1 AND sport IS NOT NULL ORDER BY sport"},
};

static int no_memory(struct nt_db *db)
{
	snprintf(db->error, sizeof(db->error), "out of memory.");
	return -1;
}

/* ---- groups ---- */

struct label {
	uint32_t number;
	char text[];
};

static int compare_labels(const void *one, const void *two)
{
	return strcmp(((const struct label *)one)->text, ((const struct label *)two)->text);
}

/* As it is shown: two labels that would be shown alike are one. */
static struct label *make_label(const char *text, uint32_t number)
{
	size_t size = strlen(text);
	struct label *label = malloc(sizeof(*label) + 3 * size + 1);
	char *to;

	if (!label)
		return NULL;
	label->number = number;
	to = label->text;
	for (size_t i = 0; i < size;) {
		size_t n = nt_utf8_length(text + i, size - i);

		memcpy(to, n ? text + i : "\xef\xbf\xbd", n ? n : 3);
		to += n ? n : 3;
		i += n ? n : 1;
	}
	*to = 0;
	return label;
}

static int make_room(struct nt_latency_groups *groups)
{
	uint32_t size = groups->size ? groups->size * 2 : 16;
	char **labels;

	if (groups->n < groups->size)
		return 0;
	labels = reallocarray(groups->labels, size, sizeof(*labels));
	if (!labels)
		return -1;
	groups->labels = labels;
	groups->size = size;
	return 0;
}

int nt_latency_group(struct nt_latency_groups *groups, const char *text, uint32_t *number)
{
	struct label *label = make_room(groups) ? NULL : make_label(text, groups->n), **found = NULL;

	if (label)
		found = tsearch(label, &groups->by_label, compare_labels);
	if (!found) {
		free(label);
		return -1;
	}
	*number = (*found)->number;
	if (*found == label)
		groups->labels[groups->n++] = label->text;
	else
		free(label);
	return 0;
}

static int add_id(struct nt_latency_groups *groups, uint64_t id, const char *label)
{
	uint64_t *value = nt_id_map_at(&groups->ids, id);
	uint32_t number;

	if (!value || nt_latency_group(groups, label, &number))
		return -1;
	*value = number;
	return 0;
}

int nt_latency_groups(struct nt_db *db, int64_t session_id, enum nt_by by, struct nt_latency_groups *groups)
{
	sqlite3_stmt *statement;
	int step = SQLITE_DONE, error = 0;
	uint32_t none;

	*groups = (struct nt_latency_groups){.by = by};
	if (nt_latency_group(groups, "-", &none))
		return no_memory(db);
	if (by == NT_BY_NONE)
		return 0;
	statement = nt_db_prepare(db, sources[by].labels, NULL);
	if (!statement)
		return -1;
	sqlite3_bind_int64(statement, 1, session_id);
	while (!error && (step = sqlite3_step(statement)) == SQLITE_ROW) {
		if (sqlite3_column_type(statement, 1) != SQLITE_NULL)
			error = add_id(groups, (uint64_t)sqlite3_column_int64(statement, 0), nt_db_text(statement, 1));
	}
	if (error)
		no_memory(db);
	else if (step != SQLITE_DONE)
		error = nt_db_fail(db, "the groups cannot be found");
	sqlite3_finalize(statement);
	return error;
}

void nt_latency_groups_release(struct nt_latency_groups *groups)
{
	tdestroy(groups->by_label, free);
	free(groups->labels);
	nt_id_map_release(&groups->ids);
	*groups = (struct nt_latency_groups){0};
}

/* ---- samples ---- */

enum { COLUMN_HOOK, COLUMN_TS, COLUMN_NS, COLUMN_WEIGHT, COLUMN_FLAGS, COLUMN_KEY, COLUMN_STAMP, COLUMN_SOCKET };

#define COLUMNS                                                                                                        \
	"SELECT hook, ts, latency_ns, weight, flags, %s, stamp_ns, socket_id FROM skb_latency WHERE session_id = ?1 "

/* Whether a word stands in a list with commas between. */
static bool has_word(const char *list, const char *word)
{
	size_t size = strlen(word);

	for (const char *at = strstr(list, word); at; at = strstr(at + 1, word)) {
		if ((at == list || at[-1] == ',') && (!at[size] || at[size] == ','))
			return true;
	}
	return false;
}

static struct nt_latency_sample read_sample(sqlite3_stmt *row, struct nt_latency_groups *groups)
{
	const char *flags = nt_db_text(row, COLUMN_FLAGS);
	struct nt_latency_sample sample = {
		.hook = nt_hook_number(nt_db_text(row, COLUMN_HOOK)),
		.ts = sqlite3_column_int64(row, COLUMN_TS),
		.ns = sqlite3_column_int64(row, COLUMN_NS),
		.weight = (double)sqlite3_column_int64(row, COLUMN_WEIGHT),
		.is_known = sqlite3_column_type(row, COLUMN_NS) != SQLITE_NULL,
		.is_future = flags[0] && has_word(flags, "future"),
		.is_hol = flags[0] && has_word(flags, "hol"),
	};

	if (!(sample.weight >= 1 && sample.weight <= UINT32_MAX))
		sample.weight = 1; /* no recorder's */
	if (sqlite3_column_type(row, COLUMN_KEY) != SQLITE_NULL)
		sample.group = (uint32_t)nt_id_map_get(&groups->ids, (uint64_t)sqlite3_column_int64(row, COLUMN_KEY));
	return sample;
}

typedef int (*visit_fn)(void *arg, const struct nt_latency_sample *sample);

static int scan_one(struct nt_db *db, sqlite3_stmt *statement, const struct nt_latency_choice *choice,
		    struct nt_latency_groups *groups, visit_fn visit, void *arg)
{
	int step;

	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		struct nt_latency_sample sample = read_sample(statement, groups);

		if ((choice->hooks & 1u << sample.hook) && visit(arg, &sample))
			return no_memory(db);
	}
	return step == SQLITE_DONE ? 0 : nt_db_fail(db, "the samples cannot be read");
}

/* A sample of the second hook, for which one of the first was found: how long it took from there. */
static int visit_pair(const struct nt_pairing_sample *first, const struct nt_latency_sample *second, visit_fn visit,
		      void *arg)
{
	struct nt_latency_sample pair = *second;

	pair.ns = (int64_t)((uint64_t)second->ts - (uint64_t)first->ts);
	pair.weight = first->weight * second->weight;
	pair.is_hol = first->is_hol || second->is_hol;
	pair.is_known = true; /* a difference of two times on one clock: the stamp does not matter */
	return visit(arg, &pair);
}

static int scan_pairs(struct nt_db *db, sqlite3_stmt *statement, const struct nt_latency_choice *choice,
		      struct nt_latency_groups *groups, visit_fn visit, void *arg, struct nt_pairing *pairing)
{
	int step;

	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		struct nt_latency_sample sample = read_sample(statement, groups);
		struct nt_pairing_sample first, one = {
							.stamp_ns = sqlite3_column_int64(statement, COLUMN_STAMP),
							.ts = sample.ts,
							.socket_id = sqlite3_column_int64(statement, COLUMN_SOCKET),
							.weight = sample.weight,
							.is_hol = sample.is_hol,
						};

		if (sample.hook == choice->first)
			nt_pairing_first(pairing, &one);
		else if (nt_pairing_second(pairing, &one, &first) && sample.ts >= pairing->from_ts &&
			 visit_pair(&first, &sample, visit, arg))
			return no_memory(db);
	}
	nt_pairing_end(pairing);
	return step == SQLITE_DONE ? 0 : nt_db_fail(db, "the samples cannot be read");
}

/* What is before `from` may have its pair behind it, so there only the end bounds the query. */
static sqlite3_stmt *prepare(struct nt_db *db, const struct nt_session *session,
			     const struct nt_latency_choice *choice, struct nt_window window)
{
	sqlite3_stmt *statement;
	char sql[400];

	snprintf(sql, sizeof(sql), COLUMNS "%s", sources[choice->by].key,
		 choice->first
			 ? "AND ts < ?3 AND hook IN (?4, ?5) AND stamp_ns IS NOT NULL ORDER BY stamp_ns, ts, hook = ?5"
			 : "AND ts >= ?2 AND ts < ?3");
	statement = nt_db_prepare(db, sql, NULL);
	if (!statement)
		return NULL;
	sqlite3_bind_int64(statement, 1, session->id);
	sqlite3_bind_int64(statement, 2, window.from_ts);
	sqlite3_bind_int64(statement, 3, window.to_ts);
	if (choice->first) {
		sqlite3_bind_text(statement, 4, nt_hook_name(choice->first), -1, SQLITE_STATIC);
		sqlite3_bind_text(statement, 5, nt_hook_name(choice->second), -1, SQLITE_STATIC);
	}
	return statement;
}

int nt_latency_scan(struct nt_db *db, const struct nt_session *session, const struct nt_latency_choice *choice,
		    struct nt_latency_groups *groups, visit_fn visit, void *arg, struct nt_latency_alone *alone)
{
	struct nt_window window =
		nt_selection_window(&choice->selection, session->start_ts, session->start_realtime_ns);
	sqlite3_stmt *statement = prepare(db, session, choice, window);
	struct nt_pairing pairing = {.from_ts = window.from_ts};
	int error;

	if (!statement)
		return -1;
	if (choice->first)
		error = scan_pairs(db, statement, choice, groups, visit, arg, &pairing);
	else
		error = scan_one(db, statement, choice, groups, visit, arg);
	sqlite3_finalize(statement);
	if (alone)
		*alone = (struct nt_latency_alone){pairing.first_alone, pairing.second_alone};
	return error;
}
