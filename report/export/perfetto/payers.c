// SPDX-License-Identifier: GPL-2.0-only
/*
 * payers.c - who pays for net_rx, bucket by bucket (rx_cost): a counter for each of the processes that pay most, one
 * for the others, one for each kind of packets that is no process's. Rows come in any order, so what they change is
 * kept, some 24 bytes for each payer and bucket, and written at the end.
 */
#include <stdlib.h>
#include <string.h>

#include "report/export/perfetto/state.h"
#include "report/rows/rx_payers.h"
#include "report/util/array.h"

#define MOST 20 /* processes with a counter of their own */
#define OTHERS UINT32_MAX

/* From this bucket on, the payer pays so much more or less in each bucket. */
struct nt_payer_change {
	uint32_t payer; /* its place */
	int64_t bucket, ns;
};

struct nt_perfetto_payer {
	uint32_t word; /* number of a text: what it is */
	int64_t upid; /* of a process; else -1 */
	int64_t ns; /* in the time that was asked for */
};

void nt_payers_release(struct nt_payers *payers)
{
	nt_texts_release(&payers->words);
	nt_id_map_release(&payers->by_key);
	free(payers->payers);
	free(payers->changes);
}

/* ---- rows ---- */

static int by_payer(const void *a, const void *b)
{
	const struct nt_payer_change *left = a, *right = b;

	if (left->payer != right->payer)
		return left->payer < right->payer ? -1 : 1;
	return (left->bucket > right->bucket) - (left->bucket < right->bucket);
}

/* Puts changes of one payer and bucket together. A database may be anybody's: what runs over is held down. */
static void put_together(struct nt_payers *payers)
{
	size_t n = 0;

	if (payers->n_changes)
		qsort(payers->changes, payers->n_changes, sizeof(*payers->changes), by_payer);
	for (size_t i = 0; i < payers->n_changes; i++) {
		struct nt_payer_change *last = n ? &payers->changes[n - 1] : NULL;

		if (!last || by_payer(last, &payers->changes[i]))
			payers->changes[n++] = payers->changes[i];
		else if (__builtin_add_overflow(last->ns, payers->changes[i].ns, &last->ns))
			last->ns = payers->changes[i].ns < 0 ? INT64_MIN : INT64_MAX;
	}
	payers->n_changes = n;
}

static int add_change(struct nt_perfetto *trace, uint32_t payer, int64_t bucket, int64_t ns)
{
	struct nt_payers *payers = &trace->payers;

	if (payers->n_changes == payers->changes_size)
		put_together(payers);
	/* Where that made no room, there shall be as much again before the next time. */
	if (payers->n_changes >= payers->changes_size / 2 &&
	    NT_ROOM(payers->changes, payers->changes_size, 2 * payers->n_changes + 2))
		return nt_perfetto_nomem(trace);
	payers->changes[payers->n_changes++] = (struct nt_payer_change){payer, bucket, ns};
	return 0;
}

/* -1: out of memory. */
static int64_t find_payer(struct nt_perfetto *trace, const char *name, int64_t upid)
{
	struct nt_payers *payers = &trace->payers;
	bool is_new;
	const uint32_t word = nt_texts_number(&payers->words, name, &is_new);
	const uint64_t process = upid < 0 ? 0 : nt_id_map_get(&trace->names.process_numbers, (uint64_t)upid);

	if (!word)
		return -1;
	return NT_INDEX(&payers->by_key, (uint64_t)word << 32 | process, payers->payers, payers->payers_size,
			payers->n_payers, {.word = word, .upid = process ? upid : -1});
}

static bool is_asked_for(struct nt_perfetto *trace, const struct nt_value *upid)
{
	const struct nt_perfetto_process *process = nt_process_of(trace, nt_integer(upid, -1));

	return !trace->selection->process || (process && process->is_selected);
}

static int take_cost(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, const struct nt_value *const *values)
{
	enum { TS, DUR, PAYER, UPID, SPENT };
	const int64_t width = trace->session->bucket_ns, ts = nt_integer(values[TS], -1);
	const int64_t dur = nt_integer(values[DUR], -1), spent = nt_integer(values[SPENT], -1);
	const int64_t bucket = (ts - trace->session->start_ts) / width, n = dur > width ? dur / width : 1;
	int64_t begin, end, ns, payer;

	(void)cpu;
	if (spent <= 0 || dur <= 0 || spent > dur || ts < trace->session->start_ts ||
	    !nt_perfetto_clip(trace, ts, dur, &begin, &end) || !is_asked_for(trace, values[UPID]))
		return 0;
	payer = find_payer(trace, nt_text(values[PAYER], ""), nt_integer(values[UPID], -1));
	if (payer < 0)
		return nt_perfetto_nomem(trace);
	if (__builtin_add_overflow(trace->payers.payers[payer].ns, spent, &trace->payers.payers[payer].ns))
		trace->payers.payers[payer].ns = INT64_MAX;
	/* The last bucket may be shorter than others. */
	ns = (int64_t)((__int128)spent * width / dur);
	return add_change(trace, (uint32_t)payer, bucket, ns) || add_change(trace, (uint32_t)payer, bucket + n, -ns)
		       ? -1
		       : 0;
}

/* ---- counters ---- */

struct rank {
	int64_t ns;
	uint32_t payer;
};

/* Those that pay most first; of those that pay as much, those that are known for longer. */
static int by_rank(const void *a, const void *b)
{
	const struct rank *left = a, *right = b;

	if (left->ns != right->ns)
		return left->ns > right->ns ? -1 : 1;
	return (left->payer > right->payer) - (left->payer < right->payer);
}

/* Marks the processes that pay least. Gives how many they are. */
static int64_t mark_others(const struct nt_payers *payers, struct rank *ranks, bool *are_others)
{
	size_t n = 0;

	for (uint32_t i = 0; i < payers->n_payers; i++) {
		if (payers->payers[i].upid >= 0)
			ranks[n++] = (struct rank){payers->payers[i].ns, i};
	}
	if (n <= MOST)
		return 0;
	qsort(ranks, n, sizeof(*ranks), by_rank);
	for (size_t i = MOST; i < n; i++)
		are_others[ranks[i].payer] = true;
	return (int64_t)(n - MOST);
}

/* The processes that pay least become one. Gives how many these are, or -1: out of memory. */
static int64_t join_others(struct nt_payers *payers)
{
	struct rank *ranks = calloc(payers->n_payers + 1, sizeof(*ranks));
	bool *are_others = calloc(payers->n_payers + 1, sizeof(*are_others));
	const int64_t n = ranks && are_others ? mark_others(payers, ranks, are_others) : -1;

	for (size_t i = 0; n > 0 && i < payers->n_changes; i++) {
		if (are_others[payers->changes[i].payer])
			payers->changes[i].payer = OTHERS;
	}
	free(are_others);
	free(ranks);
	return n;
}

static void name_payer(struct nt_perfetto *trace, uint32_t number, int64_t n_others, char *name, size_t size)
{
	const struct nt_perfetto_payer *payer = number == OTHERS ? NULL : &trace->payers.payers[number];
	const struct nt_perfetto_process *process = payer ? nt_process_of(trace, payer->upid) : NULL;
	const char *word = payer ? nt_texts_text(&trace->payers.words, payer->word) : "";

	if (!payer)
		snprintf(name, size, "%lld other processes", (long long)n_others);
	else if (process)
		snprintf(name, size, "%.64s (%lld)", process->name ? process->name : "process",
			 (long long)process->pid);
	else if (!strcmp(word, nt_payer_name(NT_PAYER_SOCKET)))
		snprintf(name, size, "sockets of no known process");
	else
		snprintf(name, size, "%.64s", word);
}

static void write_value(struct nt_perfetto *trace, uint64_t track, int64_t ts, int64_t ns)
{
	struct nt_event event;

	nt_event_begin(&event, &trace->packets, &trace->marks, ts, NT_EVENT_COUNTER, track);
	nt_proto_double(event.proto, NT_EVENT_DOUBLE_COUNTER_VALUE,
			100.0 * (double)ns / (double)trace->session->bucket_ns);
	nt_event_end(&event);
}

/* These changes of one payer, in order of time. A bucket that the time asked for begins in is told from there on. */
static void write_payer(struct nt_perfetto *trace, const struct nt_payer_change *changes, size_t n, int64_t n_others)
{
	const uint64_t track = NT_TRACK_OTHERS + trace->n_tracks++;
	__int128 ns = 0;
	char name[96];

	name_payer(trace, changes[0].payer, n_others, name, sizeof(name));
	nt_perfetto_group(trace, NT_TRACK_OF_PAYERS);
	nt_counter_track(&trace->packets, track, NT_TRACK_OF_PAYERS, name, "%");
	for (size_t i = 0; i < n; i++) {
		const int64_t ts = trace->session->start_ts + changes[i].bucket * trace->session->bucket_ns;
		const bool is_before =
			i + 1 < n &&
			trace->session->start_ts + changes[i + 1].bucket * trace->session->bucket_ns <= trace->from_ts;

		ns += changes[i].ns;
		if (ts < trace->to_ts && !is_before)
			write_value(trace, track, ts < trace->from_ts ? trace->from_ts : ts, (int64_t)ns);
	}
}

/* A recording that does not tell whose packets were received has one payer, of which nothing is to be seen. */
static bool is_known(const struct nt_payers *payers)
{
	return NT_ANY(payers->n_payers, i,
		      strcmp(nt_texts_text(&payers->words, payers->payers[i].word),
			     nt_payer_name(NT_PAYER_UNATTRIBUTED)) != 0);
}

int nt_payers_finish(struct nt_perfetto *trace)
{
	struct nt_payers *payers = &trace->payers;
	int64_t n_others;
	size_t n;

	if (!is_known(payers))
		return 0;
	n_others = join_others(payers);
	if (n_others < 0)
		return nt_perfetto_nomem(trace);
	put_together(payers);
	for (size_t i = 0; i < payers->n_changes; i += n) {
		n = NT_FIRST(payers->n_changes - i, j, payers->changes[i + j].payer != payers->changes[i].payer);
		write_payer(trace, &payers->changes[i], n, n_others);
	}
	return 0;
}

const struct nt_perfetto_reader nt_payers_readers[] = {
	{"rx_cost", {"ts", "dur", "payer", "upid", "spent_ns"}, .take_of_cpu = take_cost},
	{0},
};
