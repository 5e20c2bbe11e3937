/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scan.h - reads the samples of one session in the chosen time and on the chosen CPUs, one by one, each with its group:
 * from skb_latency, or as pairs of samples of two hooks. Time, CPU and process of a pair are those of its second. The
 * only place with SQL about single samples. Prints nothing.
 */
#pragma once

#include "report/db/db.h"
#include "report/query/latency/choice.h"
#include "report/query/session.h"

struct nt_latency_sample {
	enum nt_hook hook; /* of a pair: the second */
	uint32_t group; /* query/labels.h */
	int64_t ts, ns;
	double weight;
	bool is_known; /* ns is: else the stamp lies in the future, or at a time that the clock never showed */
	bool is_future, is_hol;
	bool is_other; /* not of the chosen process: it only tells how a hook was sampled */
};

/* How many samples of two hooks have no pair. */
struct nt_latency_alone {
	uint64_t first, second;
};

/* Calls visit with each sample until it gives non-zero, which means that memory ran out. `alone` may be NULL.
 * 0, or -1 and a sentence in db->error. */
int nt_latency_scan(struct nt_db *db, const struct nt_session *session, const struct nt_latency_choice *choice,
		    struct nt_labels *groups, int (*visit)(void *arg, const struct nt_latency_sample *sample),
		    void *arg, struct nt_latency_alone *alone);
