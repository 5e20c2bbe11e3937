// SPDX-License-Identifier: GPL-2.0-only
/*
 * scan.c - see scan.h.
 */
#include "report/query/latency/scan.h"

#include <stdio.h>

#include "report/query/latency/pairing.h"
#include "report/util/words.h"

/* The column of samples that groups go by. */
static const char *const keys[NT_BY_COUNT] = {
	[NT_BY_NONE] = "NULL",	  [NT_BY_IFACE] = "device_id",	[NT_BY_CGROUP] = "utid", [NT_BY_PROGRAM] = "utid",
	[NT_BY_PROCESS] = "utid", [NT_BY_SOCKET] = "socket_id", [NT_BY_CPU] = "cpu",	 [NT_BY_PORT] = "socket_id",
};

enum {
	COLUMN_HOOK,
	COLUMN_TS,
	COLUMN_NS,
	COLUMN_WEIGHT,
	COLUMN_FLAGS,
	COLUMN_KEY,
	COLUMN_STAMP,
	COLUMN_SOCKET,
	COLUMN_IS_OURS, /* of the chosen process */
	COLUMN_IS_HERE /* in the chosen time, on the chosen CPUs */
};

/*
 * What the samples of one packet have in common: when it was received, or when it was queued at the device that sends
 * it.
 */
#define STAMP "CASE hook WHEN 'tx-queued' THEN ts WHEN 'tx-started' THEN ts - wait_ns ELSE stamp_ns END"
#define SAMPLES                                                                                                        \
	"SELECT hook, ts, latency_ns, weight, flags, %s, " STAMP " AS stamp, socket_id, %s, %s FROM skb_latency "      \
	"WHERE session_id = ?1 AND ts < ?3 AND %s"
#define PAIRS "hook IN (?5, ?6) AND stamp IS NOT NULL ORDER BY stamp, ts, hook = ?6"
#define OURS "utid IN (" NT_PROCESS_THREADS_SQL ")"

static struct nt_latency_sample read_sample(sqlite3_stmt *row, struct nt_labels *groups)
{
	const char *flags = nt_db_text(row, COLUMN_FLAGS);
	struct nt_latency_sample sample = {
		.hook = nt_hook_number(nt_db_text(row, COLUMN_HOOK)),
		.ts = sqlite3_column_int64(row, COLUMN_TS),
		.ns = sqlite3_column_int64(row, COLUMN_NS),
		.weight = (double)sqlite3_column_int64(row, COLUMN_WEIGHT),
		.is_known = sqlite3_column_type(row, COLUMN_NS) != SQLITE_NULL,
		.is_future = flags[0] && nt_has_word(flags, "future"),
		.is_hol = flags[0] && nt_has_word(flags, "hol"),
		.is_other = !sqlite3_column_int(row, COLUMN_IS_OURS),
	};

	if (!(sample.weight >= 1 && sample.weight <= UINT32_MAX))
		sample.weight = 1; /* no recorder's */
	if (sqlite3_column_type(row, COLUMN_KEY) != SQLITE_NULL)
		sample.group = nt_group_of_id(groups, sqlite3_column_int64(row, COLUMN_KEY));
	return sample;
}

typedef int (*visit_fn)(void *arg, const struct nt_latency_sample *sample);

static int scan_one(struct nt_db *db, sqlite3_stmt *statement, const struct nt_latency_choice *choice,
		    struct nt_labels *groups, visit_fn visit, void *arg)
{
	while (nt_db_next(statement)) {
		struct nt_latency_sample sample = read_sample(statement, groups);

		if ((choice->hooks & 1u << sample.hook) && visit(arg, &sample))
			return nt_db_no_memory(db);
	}
	return 0;
}

/* A sample of the second hook, for which one of the first was found: how long it took from there. */
static int visit_pair(const struct nt_pairing_sample *first, const struct nt_latency_sample *second, visit_fn visit,
		      void *arg)
{
	struct nt_latency_sample pair = *second;

	pair.ns = (int64_t)((uint64_t)second->ts - (uint64_t)first->ts);
	/* On the way up each hook draws for itself; on the way down the first does for both. */
	pair.weight = NT_HOOK_IS_OF_SENDING(second->hook) ? second->weight : first->weight * second->weight;
	pair.is_hol = first->is_hol || second->is_hol;
	pair.is_known = true; /* a difference of two times on one clock: the stamp does not matter */
	return visit(arg, &pair);
}

static int scan_pairs(struct nt_db *db, sqlite3_stmt *statement, const struct nt_latency_choice *choice,
		      struct nt_labels *groups, visit_fn visit, void *arg, struct nt_pairing *pairing)
{
	while (nt_db_next(statement)) {
		struct nt_latency_sample sample = read_sample(statement, groups);
		const bool is_here = sqlite3_column_int(statement, COLUMN_IS_HERE);
		struct nt_pairing_sample first, one = {
							.stamp_ns = sqlite3_column_int64(statement, COLUMN_STAMP),
							.ts = sample.ts,
							.socket_id = sqlite3_column_int64(statement, COLUMN_SOCKET),
							.weight = sample.weight,
							.is_hol = sample.is_hol,
							.is_beside = sample.is_other || !is_here,
						};

		if (sample.hook == choice->first)
			nt_pairing_first(pairing, &one);
		else if (nt_pairing_second(pairing, &one, &first) && is_here && visit_pair(&first, &sample, visit, arg))
			return nt_db_no_memory(db);
	}
	nt_pairing_end(pairing);
	return 0;
}

/* A sample before `from`, or on another CPU, may have its pair later: so only the end bounds a query of pairs. */
static sqlite3_stmt *prepare(struct nt_db *db, const struct nt_session *session, const struct nt_latency_choice *choice,
			     struct nt_window window)
{
	const char *process = choice->selection.process, *ours = process ? OURS : "1";
	char cpus[NT_CPUS_SQL_MAX], here[sizeof(cpus) + 20], sql[sizeof(here) + 800];
	sqlite3_stmt *statement;

	snprintf(here, sizeof(here), "ts >= ?2 AND %s", nt_selection_cpus_sql(&choice->selection, cpus));
	if (choice->first)
		snprintf(sql, sizeof(sql), SAMPLES, keys[choice->by], ours, here, PAIRS);
	else
		snprintf(sql, sizeof(sql), SAMPLES, keys[choice->by], ours, "1", here);
	statement = nt_db_query(db, sql, session->id);
	sqlite3_bind_int64(statement, 2, window.from_ts);
	sqlite3_bind_int64(statement, 3, window.to_ts);
	if (process)
		sqlite3_bind_text(statement, 4, process, -1, SQLITE_STATIC);
	if (choice->first) {
		sqlite3_bind_text(statement, 5, nt_hook_name(choice->first), -1, SQLITE_STATIC);
		sqlite3_bind_text(statement, 6, nt_hook_name(choice->second), -1, SQLITE_STATIC);
	}
	return statement;
}

int nt_latency_scan(struct nt_db *db, const struct nt_session *session, const struct nt_latency_choice *choice,
		    struct nt_labels *groups, visit_fn visit, void *arg, struct nt_latency_alone *alone)
{
	struct nt_window window =
		nt_selection_window(&choice->selection, session->start_ts, session->start_realtime_ns);
	sqlite3_stmt *statement = prepare(db, session, choice, window);
	struct nt_pairing pairing = {0};
	int error;

	if (choice->first)
		error = scan_pairs(db, statement, choice, groups, visit, arg, &pairing);
	else
		error = scan_one(db, statement, choice, groups, visit, arg);
	if (nt_db_end(db, statement, "the samples cannot be read"))
		return -1;
	if (alone)
		*alone = (struct nt_latency_alone){pairing.first_alone, pairing.second_alone};
	return error;
}
