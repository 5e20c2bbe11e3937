// SPDX-License-Identifier: GPL-2.0-only
/*
 * rx_sums.c - see rx_sums.h. A database may be anybody's: no number in it is trusted to fit.
 */
#include "report/query/cpus/rx_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/out/output.h"
#include "report/timeline/timeline.h"
#include "report/util/array.h"

/* The first and the last bucket that the part has some of. */
static void find_edges(struct nt_rx_sums *sums)
{
	const struct nt_part *part = &sums->part;
	const int64_t start = part->session->start_ts, width = part->session->bucket_ns;
	int64_t first, last;

	if (width <= 0)
		return;
	first = (part->from_ts - start) / width;
	last = (part->to_ts - 1 - start) / width;
	sums->edges[0] = (struct nt_window){part->from_ts, part->to_ts};
	if (first == last)
		return;
	sums->edges[0].to_ts = start + (first + 1) * width;
	sums->edges[1] = (struct nt_window){start + last * width, part->to_ts};
}

void nt_rx_sums_begin(struct nt_rx_sums *sums, struct nt_lanes_filter *filter, const struct nt_part *part)
{
	*sums = (struct nt_rx_sums){.filter = filter, .part = *part};
	find_edges(sums);
}

void nt_rx_sums_release(struct nt_rx_sums *sums)
{
	nt_texts_release(&sums->words);
	nt_id_map_release(&sums->ids);
	nt_id_map_release(&sums->pairs);
	nt_id_map_release(&sums->by_key);
	nt_id_map_release(&sums->by_cpu);
	free(sums->sums);
	free(sums->cut);
	free(sums->cpus);
	*sums = (struct nt_rx_sums){0};
}

/* ---- keys ---- */

/* Numbers from 1 on, and one for NULL; 0: out of memory. */
static uint64_t number_of(struct nt_rx_sums *sums, const struct nt_value *id)
{
	return id->type == NT_VALUE_INTEGER ? nt_id_map_number(&sums->ids, (uint64_t)id->integer, &sums->n_ids)
					    : UINT32_MAX;
}

static uint32_t number_of_word(struct nt_rx_sums *sums, const struct nt_value *word)
{
	bool is_new;

	return word->type == NT_VALUE_TEXT ? nt_texts_number(&sums->words, word->text, &is_new) : NT_RX_NO_WORD;
}

/* The number of two numbers; 0: out of memory, now or before. */
static uint64_t pair_of(struct nt_rx_sums *sums, uint64_t one, uint64_t two)
{
	return one && two ? nt_id_map_number(&sums->pairs, one << 32 | two, &sums->n_pairs) : 0;
}

/* The index of the row's sum; -1: out of memory. */
static int64_t find_sum(struct nt_rx_sums *sums, const struct nt_row *row)
{
	const struct nt_value *upid = NT_VALUE(row, rx_cost, upid), *socket_id = NT_VALUE(row, rx_cost, socket_id);
	const struct nt_value *flow_id = NT_VALUE(row, rx_cost, flow_id);
	const struct nt_value *device_id = NT_VALUE(row, rx_cost, device_id);
	const uint32_t payer = number_of_word(sums, NT_VALUE(row, rx_cost, payer));
	const uint32_t reason = number_of_word(sums, NT_VALUE(row, rx_cost, reason));
	const uint64_t who = pair_of(sums, number_of(sums, upid), number_of(sums, socket_id));
	const uint64_t what = pair_of(sums, pair_of(sums, payer, reason), number_of(sums, device_id));
	const uint64_t key = pair_of(sums, who, what), flow = number_of(sums, flow_id);

	if (!key || !flow)
		return -1;
	return NT_INDEX(&sums->by_key, key << 32 | flow, sums->sums, sums->size, sums->n,
			{.payer = payer,
			 .reason = reason,
			 .upid = *upid,
			 .socket_id = *socket_id,
			 .flow_id = *flow_id,
			 .device_id = *device_id});
}

/* ---- rows ---- */

static int add(int64_t *sum, int64_t more)
{
	return __builtin_add_overflow(*sum, more, sum) ? -ERANGE : 0;
}

static int add_figures(struct nt_rx_figures *sum, const struct nt_rx_figures *more)
{
	return add(&sum->spent_ns, more->spent_ns) || add(&sum->exact_ns, more->exact_ns) ||
			       add(&sum->most_ns, more->most_ns) || add(&sum->packets, more->packets) ||
			       add(&sum->segments, more->segments) || add(&sum->bytes, more->bytes)
		       ? -ERANGE
		       : 0;
}

/* False: no recorder wrote them. */
static bool read_figures(const struct nt_row *row, struct nt_rx_figures *figures)
{
	*figures = (struct nt_rx_figures){
		.spent_ns = nt_integer(NT_VALUE(row, rx_cost, spent_ns), -1),
		.exact_ns = nt_integer(NT_VALUE(row, rx_cost, exact_ns), -1),
		.most_ns = nt_integer(NT_VALUE(row, rx_cost, most_ns), -1),
		.packets = nt_integer(NT_VALUE(row, rx_cost, packets), -1),
		.segments = nt_integer(NT_VALUE(row, rx_cost, segments), -1),
		.bytes = nt_integer(NT_VALUE(row, rx_cost, bytes), -1),
	};
	return figures->spent_ns >= 0 && figures->exact_ns >= 0 && figures->most_ns >= 0 && figures->packets >= 0 &&
	       figures->segments >= 0 && figures->bytes >= 0;
}

/* How much of a time lies in the window. */
static int64_t overlap(const struct nt_window *window, int64_t ts, int64_t end_ts)
{
	const int64_t from = ts > window->from_ts ? ts : window->from_ts;
	const int64_t to = end_ts < window->to_ts ? end_ts : window->to_ts;

	return from < to ? to - from : 0;
}

static int64_t find_cpu(struct nt_rx_sums *sums, const struct nt_value *cpu)
{
	return NT_INDEX(&sums->by_cpu, (uint64_t)cpu->integer, sums->cpus, sums->cpus_size, sums->n_cpus, {0});
}

int nt_rx_sums_slice(struct nt_rx_sums *sums, const struct nt_row *row)
{
	const struct nt_value *cpu = NT_VALUE(row, cpu_slice, cpu);
	const int64_t ts = nt_integer(NT_VALUE(row, cpu_slice, ts), 0);
	int64_t end_ts, ns[2], at;

	if (strcmp(nt_text(NT_VALUE(row, cpu_slice, owner), ""), nt_owner_name(NT_OWNER_NET_RX)) != 0 ||
	    cpu->type != NT_VALUE_INTEGER ||
	    __builtin_add_overflow(ts, nt_integer(NT_VALUE(row, cpu_slice, dur), 0), &end_ts))
		return 0;
	for (int edge = 0; edge < 2; edge++)
		ns[edge] = overlap(&sums->edges[edge], ts, end_ts);
	if (!ns[0] && !ns[1])
		return 0;
	at = find_cpu(sums, cpu);
	if (at < 0)
		return -ENOMEM;
	return add(&sums->cpus[at].ns[0], ns[0]) || add(&sums->cpus[at].ns[1], ns[1]) ? -ERANGE : 0;
}

/* What one run fills is as long as what it took. */
static int add_edge(struct nt_rx_sums *sums, const struct nt_rx_edge *edge)
{
	if (NT_ROOM(sums->cut, sums->cut_size, sums->n_cut + 1))
		return -ENOMEM;
	sums->cut[sums->n_cut++] = *edge;
	return 0;
}

int nt_rx_sums_row(struct nt_rx_sums *sums, const struct nt_row *row)
{
	const struct nt_part *part = &sums->part;
	const struct nt_window window = {part->from_ts, part->to_ts};
	struct nt_rx_edge edge = {.cpu = nt_integer(NT_VALUE(row, rx_cost, cpu), -1),
				  .ts = nt_integer(NT_VALUE(row, rx_cost, ts), 0),
				  .dur = nt_integer(NT_VALUE(row, rx_cost, dur), 0),
				  .sum = SIZE_MAX};
	const bool is_own = nt_lanes_has_process(sums->filter, NT_VALUE(row, rx_cost, upid));
	int64_t end_ts, at;
	bool is_cut;

	if (!nt_lanes_has_cpu(part, NT_VALUE(row, rx_cost, cpu)))
		return 0;
	if (__builtin_add_overflow(edge.ts, edge.dur, &end_ts) || !read_figures(row, &edge.figures))
		return -ERANGE;
	edge.within_ns = overlap(&window, edge.ts, end_ts);
	is_cut = edge.within_ns < edge.dur;
	if (!edge.within_ns || (!is_own && !is_cut))
		return 0;
	if (is_own) {
		at = find_sum(sums, row);
		if (at < 0)
			return -ENOMEM;
		edge.sum = (size_t)at;
	}
	return is_cut ? add_edge(sums, &edge) : add_figures(&sums->sums[edge.sum].figures, &edge.figures);
}

/* ---- buckets that are cut ---- */

static int by_bucket(const void *one, const void *two)
{
	const struct nt_rx_edge *a = one, *b = two;

	if (a->cpu != b->cpu)
		return a->cpu < b->cpu ? -1 : 1;
	if (a->ts != b->ts)
		return a->ts < b->ts ? -1 : 1;
	return (a->dur > b->dur) - (a->dur < b->dur);
}

static bool is_same_bucket(const struct nt_rx_edge *a, const struct nt_rx_edge *b)
{
	return a->cpu == b->cpu && a->ts == b->ts && a->dur == b->dur;
}

/* What the CPU had of net_rx within the part, in the time of that row. */
static int64_t net_rx_within(struct nt_rx_sums *sums, const struct nt_rx_edge *edge)
{
	const uint64_t cpu = nt_id_map_get(&sums->by_cpu, (uint64_t)edge->cpu);
	const bool is_last = sums->edges[1].to_ts && edge->ts >= sums->part.from_ts;

	if (edge->dur > sums->part.session->bucket_ns)
		return edge->within_ns;
	return cpu ? sums->cpus[cpu - 1].ns[is_last] : 0;
}

static int64_t part_of(int64_t whole, int64_t part, int64_t all)
{
	return (int64_t)((__int128)whole * part / all);
}

/*
 * Of the time that the bucket's payers paid, `all_ns`, so much lies within the part. One who paid `exact_ns` of it at
 * least paid within what is left when all that lies outside is taken from that.
 */
static struct nt_rx_figures share_of(const struct nt_rx_figures *figures, int64_t within_ns, int64_t all_ns,
				     int64_t spent_ns)
{
	struct nt_rx_figures share = {
		.spent_ns = spent_ns,
		.exact_ns = figures->exact_ns - (all_ns - within_ns),
		.most_ns = figures->most_ns < within_ns ? figures->most_ns : within_ns,
		.packets = part_of(figures->packets, within_ns, all_ns),
		.segments = part_of(figures->segments, within_ns, all_ns),
		.bytes = part_of(figures->bytes, within_ns, all_ns),
	};

	if (share.exact_ns > spent_ns)
		share.exact_ns = spent_ns;
	if (share.exact_ns < 0)
		share.exact_ns = 0;
	if (share.most_ns < spent_ns)
		share.most_ns = spent_ns;
	return share;
}

static int divide(struct nt_rx_sums *sums, const struct nt_rx_edge *rows, size_t n, int64_t within_ns, int64_t all_ns)
{
	int64_t upto_ns = 0, given_ns = 0;
	int error = 0;

	for (size_t i = 0; i < n && !error; i++) {
		const struct nt_rx_edge *row = &rows[i];
		struct nt_rx_figures share;
		int64_t next_ns;

		upto_ns += row->figures.spent_ns;
		next_ns = part_of(within_ns, upto_ns, all_ns);
		share = share_of(&row->figures, within_ns, all_ns, next_ns - given_ns);
		given_ns = next_ns;
		if (row->sum == SIZE_MAX)
			continue;
		sums->is_estimate |= share.exact_ns < share.most_ns && row->figures.exact_ns == row->figures.most_ns;
		error = add_figures(&sums->sums[row->sum].figures, &share);
	}
	return error;
}

static int divide_bucket(struct nt_rx_sums *sums, const struct nt_rx_edge *rows, size_t n)
{
	int64_t within_ns = net_rx_within(sums, &rows[0]), all_ns = 0;

	for (size_t i = 0; i < n; i++) {
		if (add(&all_ns, rows[i].figures.spent_ns))
			return -ERANGE;
	}
	if (within_ns > all_ns)
		within_ns = all_ns;
	return all_ns ? divide(sums, rows, n, within_ns, all_ns) : 0;
}

int nt_rx_sums_end(struct nt_rx_sums *sums)
{
	int error = 0;
	size_t n;

	if (sums->n_cut)
		qsort(sums->cut, sums->n_cut, sizeof(*sums->cut), by_bucket);
	for (size_t i = 0; i < sums->n_cut && !error; i += n) {
		n = NT_FIRST(sums->n_cut - i, j, !is_same_bucket(&sums->cut[i], &sums->cut[i + j]));
		error = divide_bucket(sums, &sums->cut[i], n);
	}
	return error;
}

/* ---- for SQL ---- */

static void write_id(struct nt_json *json, const struct nt_value *id)
{
	nt_json_if(json, NULL, id->type == NT_VALUE_INTEGER, id->integer);
}

static void write_word(struct nt_json *json, const struct nt_rx_sums *sums, uint32_t number)
{
	nt_json_text(json, NULL, number == NT_RX_NO_WORD ? NULL : nt_texts_text(&sums->words, number));
}

static void write_sums(struct nt_json *json, const void *arg)
{
	const struct nt_rx_sums *sums = arg;

	for (size_t i = 0; i < sums->n; i++) {
		const struct nt_rx_sum *sum = &sums->sums[i];

		nt_json_open(json, NULL, '[');
		write_word(json, sums, sum->payer);
		write_word(json, sums, sum->reason);
		write_id(json, &sum->upid);
		write_id(json, &sum->socket_id);
		write_id(json, &sum->flow_id);
		write_id(json, &sum->device_id);
		nt_json_integer(json, NULL, sum->figures.spent_ns);
		nt_json_integer(json, NULL, sum->figures.exact_ns);
		nt_json_integer(json, NULL, sum->figures.most_ns);
		nt_json_integer(json, NULL, sum->figures.packets);
		nt_json_integer(json, NULL, sum->figures.segments);
		nt_json_integer(json, NULL, sum->figures.bytes);
		nt_json_close(json, ']');
	}
}

char *nt_rx_sums_json(const struct nt_rx_sums *sums)
{
	return nt_json_array(write_sums, sums);
}
