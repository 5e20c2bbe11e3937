/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scan.h - the samples of one session that were chosen, one after the other, each with its group: from
 * skb_latency, or as pairs of samples of two hooks. The only place with SQL about single samples. Prints nothing.
 */
#ifndef NT_REPORT_QUERY_LATENCY_SCAN_H
#define NT_REPORT_QUERY_LATENCY_SCAN_H

#include "report/db/db.h"
#include "report/query/latency/choice.h"
#include "report/query/session.h"
#include "report/util/id_map.h"

/* Groups have numbers; 0 is all that belongs to none, with the label "-", and what has that name. Labels are valid
 * UTF-8, no two of them equal. Owner frees with nt_latency_groups_release. */
struct nt_latency_groups {
	enum nt_by by;
	char **labels;
	uint32_t n, size;
	void *by_label; /* a tree of them */
	struct nt_id_map ids; /* the number of what samples refer to */
};

struct nt_latency_sample {
	enum nt_hook hook; /* of a pair: the second */
	uint32_t group;
	int64_t ts, ns;
	double weight;
	bool is_known; /* ns is: else the stamp lies in the future, or at a time that the clock never showed */
	bool is_future, is_hol;
};

/* What of two hooks' samples has no other. */
struct nt_latency_alone {
	uint64_t first, second;
};

/* Functions give 0, or -1 and a sentence in db->error. */

/* The groups of a session. To be released even on failure. */
int nt_latency_groups(struct nt_db *db, int64_t session_id, enum nt_by by, struct nt_latency_groups *groups);
/* The number of the group that has this label once that is valid UTF-8; a new one if there is none. -1: out of memory.
 */
int nt_latency_group(struct nt_latency_groups *groups, const char *text, uint32_t *number);
void nt_latency_groups_release(struct nt_latency_groups *groups);
/* Calls visit with each sample until it gives non-zero, which means that memory ran out. `alone` may be NULL. */
int nt_latency_scan(struct nt_db *db, const struct nt_session *session, const struct nt_latency_choice *choice,
		    struct nt_latency_groups *groups, int (*visit)(void *arg, const struct nt_latency_sample *sample),
		    void *arg, struct nt_latency_alone *alone);
#endif
