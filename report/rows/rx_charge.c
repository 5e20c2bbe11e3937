// SPDX-License-Identifier: GPL-2.0-only
/*
 * rx_charge.c - see rx_charge.h. The parts of a CPU's run wait until a part of another run comes: then all stretches of
 * the run are known, and it is cut at their ends.
 */
#include "report/rows/rx_charge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/rx_flows.h"
#include "report/rows/waiting.h"
#include "report/util/array.h"
#include "report/util/lot.h"

/* A kernel ends a run after some 300 packets, unless told otherwise. */
#define MAX_PARTS 4096
#define MAX_BATCH 1024 /* stretches that are divided together: of more nobody is charged */
#define MAX_TERMS (NT_RX_PHASES * MAX_BATCH)
#define MAX_WAITING 65536 /* stretches that no run has come for */
#define MAX_REASON (UINT32_MAX - NT_RX_FATE_DROPPED)

/* A flow's part of a piece. */
struct share {
	uint64_t flow, socket;
	uint32_t fate;
	unsigned __int128 weight;
};

struct cpu {
	struct nt_rx_part *parts; /* of the run at hand, in time order */
	size_t n_parts, parts_size;
	bool is_under_way; /* some of the run has been charged */
	struct nt_waiting stretches, samples; /* those that have not been charged; samples of the run at hand */
	struct nt_rx_flows *flows; /* NULL: nothing is known of any yet */
};

struct nt_rx_charges {
	struct nt_rx_charges_config config;
	struct cpu *cpus;
	/* Of the piece at hand: */
	struct nt_rx_term terms[MAX_TERMS];
	size_t stretches[MAX_TERMS]; /* of each term, in its batch */
	size_t n_terms;
	bool is_known; /* whose it is */
	struct share shares[MAX_TERMS + 1]; /* with the driver's */
	size_t n_shares;
};

struct nt_rx_charges *nt_rx_charges_new(const struct nt_rx_charges_config *config)
{
	struct nt_rx_charges *charges = calloc(1, sizeof(*charges));

	if (!charges)
		return NULL;
	charges->config = *config;
	charges->cpus = calloc((size_t)config->n_cpus + 1, sizeof(*charges->cpus));
	if (!charges->cpus) {
		free(charges);
		return NULL;
	}
	return charges;
}

void nt_rx_charges_free(struct nt_rx_charges *charges)
{
	if (!charges)
		return;
	for (uint32_t cpu = 0; cpu < charges->config.n_cpus; cpu++) {
		free(charges->cpus[cpu].parts);
		nt_waiting_release(&charges->cpus[cpu].stretches);
		nt_waiting_release(&charges->cpus[cpu].samples);
		free(charges->cpus[cpu].flows);
	}
	free(charges->cpus);
	free(charges);
}

static uint8_t sort_of(const struct nt_rx_charges *charges, uint64_t flow)
{
	return charges->config.sort_of(charges->config.arg, flow);
}

/* What is known of the CPU's flows. False: out of memory. */
static bool has_flows(struct cpu *cpu)
{
	if (!cpu->flows)
		cpu->flows = nt_rx_flows_new();
	return cpu->flows;
}

/* ---- what became of packets ---- */

static uint32_t seen_fate(const struct nt_rx_stretch *stretch)
{
	if (stretch->flags & NT_RX_STRETCH_FORWARDED)
		return NT_RX_FATE_FORWARDED;
	if (!stretch->dropped || stretch->dropped < stretch->packets - stretch->packets / 2)
		return NT_RX_FATE_NONE;
	return NT_RX_FATE_DROPPED + (stretch->reason < MAX_REASON ? stretch->reason : MAX_REASON);
}

/* Of packets in a list only the last one of each stretch is seen again: the others have what is known of their flow. */
static int note_fate(struct nt_rx_charges *charges, struct cpu *cpu, const struct nt_rx_stretch *stretch)
{
	const uint32_t seen = seen_fate(stretch);
	uint32_t last;

	if (!nt_view_has(&charges->config.time, stretch->end_ns))
		return 0;
	if (!seen && (stretch->flags & NT_RX_STRETCH_LISTED || !nt_rx_last_fate(cpu->flows, stretch->flow, &last)))
		return 0;
	if (!has_flows(cpu))
		return -ENOMEM;
	nt_rx_note_fate(cpu->flows, stretch->flow, seen);
	return 0;
}

/* Of a list, one for all packets of the flow. */
static uint32_t fate_of(const struct cpu *cpu, const struct nt_rx_stretch *stretch)
{
	uint32_t last;

	if (stretch->flags & NT_RX_STRETCH_LISTED && nt_rx_last_fate(cpu->flows, stretch->flow, &last))
		return last;
	return seen_fate(stretch);
}

/* The stretch that pays for this one, of `left` to the end of the run: the last that had the same packet. */
static const struct nt_rx_stretch *last_of_packet(const struct nt_rx_stretch *stretch, size_t left)
{
	for (; left > 1 && stretch[1].flags & NT_RX_STRETCH_AGAIN; left--)
		stretch++;
	return stretch;
}

/* ---- charging ---- */

static int by_flow(const void *a, const void *b)
{
	const struct share *left = a, *right = b;

	if (left->flow != right->flow)
		return left->flow < right->flow ? -1 : 1;
	return left->socket < right->socket ? -1 : left->socket > right->socket;
}

static unsigned __int128 weight_of_all(const struct nt_rx_charges *charges)
{
	unsigned __int128 weight = 0;

	for (size_t i = 0; i < charges->n_shares; i++)
		weight += charges->shares[i].weight;
	return weight;
}

/* So that a time by all of them fits 128 bits. If they say nothing, nobody is charged. */
static void check_shares(struct nt_rx_charges *charges)
{
	while (weight_of_all(charges) > UINT64_MAX) {
		for (size_t i = 0; i < charges->n_shares; i++)
			charges->shares[i].weight /= 2;
	}
	if (weight_of_all(charges))
		return;
	charges->shares[0] = (struct share){.weight = 1};
	charges->n_shares = 1;
}

/* The time that comes is this flow's; 0: nobody's. */
static void charge_only(struct nt_rx_charges *charges, uint64_t flow)
{
	charges->shares[0] = (struct share){.flow = flow, .weight = 1};
	charges->n_shares = 1;
}

static size_t n_stretches(const struct nt_waiting *waiting)
{
	return NT_WAITING_N(waiting, struct nt_rx_stretch);
}

static const struct nt_rx_stretch *first_stretch(const struct nt_waiting *waiting)
{
	return NT_WAITING_FIRST(waiting, struct nt_rx_stretch);
}

/* It ended where the work on the next one's packets was seen. */
static bool is_cut_off(const struct nt_rx_stretch *stretch)
{
	return stretch->list & NT_RX_LIST_CUT;
}

/*
 * Packets of a list are delivered after all of them are seen; by its end, if it was cut. `n`: how many stretches wait,
 * from this one on.
 */
static uint64_t end_of_list(const struct nt_rx_stretch *stretch, size_t n)
{
	uint64_t end_ns = stretch->end_ns;

	if (!(stretch->flags & NT_RX_STRETCH_LISTED))
		return end_ns;
	for (size_t i = 1; i < n && i < MAX_BATCH; i++) {
		if (is_cut_off(&stretch[i - 1]) || !(stretch[i].flags & NT_RX_STRETCH_LISTED) ||
		    stretch[i].flags & (NT_RX_STRETCH_FIRST | NT_RX_STRETCH_AFTER_LOSS))
			break;
		end_ns = stretch[i].end_ns;
	}
	return end_ns;
}

/* The payer's socket, when the stretch that it pays for has been delivered. */
static uint64_t socket_of(const struct nt_rx_charges *charges, uint32_t cpu, const struct nt_rx_stretch *payer,
			  const struct nt_rx_stretch *stretch)
{
	const struct nt_waiting *waiting = &charges->cpus[cpu].stretches;
	const size_t n = (size_t)(first_stretch(waiting) + n_stretches(waiting) - stretch);
	const uint64_t list_ns = end_of_list(stretch, n);
	const uint64_t at_ns = list_ns > payer->end_ns ? list_ns : payer->end_ns;

	return charges->config.socket_of(charges->config.arg, payer->flow, at_ns);
}

/* How much time the run's parts have from this one on, up to until_ns. */
static uint64_t time_until(const struct cpu *cpu, size_t part, uint64_t until_ns)
{
	uint64_t ns = 0;

	for (; part < cpu->n_parts && cpu->parts[part].ts_ns < until_ns; part++) {
		const struct nt_rx_part *at = &cpu->parts[part];

		ns += at->ts_ns + at->dur_ns < until_ns ? at->dur_ns : until_ns - at->ts_ns;
	}
	return ns;
}

/* ---- pieces: times that several may share ---- */

/*
 * A time that is divided: of some stretches of a batch. Where packets of several flows came in a list, a piece ends
 * where the work on each stretch's first packet is seen, and where that on its last is.
 */
struct piece {
	const struct nt_rx_stretch *batch;
	size_t n_batch, left; /* stretches of the batch; of the run, from the batch's begin */
	bool begins_run; /* the batch does */
	bool has_cuts; /* the batch is cut somewhere */
	size_t from, to; /* stretches; 0 < to <= n_batch */
	uint64_t end_ns;
	bool is_cut; /* it begins where the work on the first packet is seen */
	bool is_left; /* it ends where that on the last is */
	bool is_rest; /* it begins there: it has only the rest of that packet, of `to` - 1 */
};

/* Whether no stretch is missing before this one. */
static bool is_whole(const struct piece *piece, size_t i)
{
	const bool is_first = piece->begins_run && !i;

	return !(piece->batch[i].flags & NT_RX_STRETCH_AFTER_LOSS) &&
	       !(piece->batch[i].flags & NT_RX_STRETCH_FIRST) == !is_first;
}

/* Whether a stretch is missing behind the batch, that its last one ended with. */
static bool lacks_next(const struct piece *piece)
{
	const struct nt_rx_stretch *last = &piece->batch[piece->n_batch - 1];

	return last->list & (NT_RX_LIST_CUT | NT_RX_LIST_MORE);
}

static void add_term(struct nt_rx_charges *charges, const struct cpu *cpu, const struct piece *piece, size_t i,
		     enum nt_rx_phase phase, uint64_t packets)
{
	const uint64_t flow = piece->batch[i].flow;
	uint8_t sort;

	if (!is_whole(piece, i) || (packets && charges->n_terms == MAX_TERMS))
		charges->is_known = false;
	if (!packets || !charges->is_known)
		return;
	sort = sort_of(charges, flow);
	charges->stretches[charges->n_terms] = i;
	charges->terms[charges->n_terms++] =
		(struct nt_rx_term){flow, packets, nt_rx_cost(cpu->flows, flow, sort, phase), phase, sort};
}

static bool begins_list(const struct piece *piece, size_t i)
{
	return !i || piece->batch[i].list & NT_RX_LIST_BEGINS;
}

/* The list that begins with this stretch, if one does. */
static void add_list(struct nt_rx_charges *charges, const struct cpu *cpu, const struct piece *piece, size_t i)
{
	if (!begins_list(piece, i))
		return;
	do {
		add_term(charges, cpu, piece, i, NT_RX_ARRIVAL, piece->batch[i].packets);
		i++;
	} while (i < piece->n_batch && !begins_list(piece, i) && charges->is_known);
	if (i < piece->n_batch ? !is_whole(piece, i) : lacks_next(piece))
		charges->is_known = false;
}

static bool has_next(const struct piece *piece)
{
	return !piece->is_left && piece->to < piece->n_batch;
}

/* Who has what part of the piece; is_known: whether that can be told. */
static void make_terms(struct nt_rx_charges *charges, const struct cpu *cpu, const struct piece *piece)
{
	charges->n_terms = 0;
	charges->is_known = piece->is_left || has_next(piece) || !lacks_next(piece);
	for (size_t i = piece->from; i < piece->to && !piece->is_rest && charges->is_known; i++) {
		const bool is_cut = piece->is_cut && i == piece->from, is_left = piece->is_left && i == piece->to - 1;
		const uint64_t packets = piece->batch[i].packets;

		add_term(charges, cpu, piece, i, NT_RX_UNTIL_SEEN, packets ? packets - is_cut : 0);
		add_term(charges, cpu, piece, i, NT_RX_SINCE_SEEN, packets ? packets - is_left : 0);
		if (!is_cut)
			add_list(charges, cpu, piece, i);
	}
	if (piece->is_rest)
		add_term(charges, cpu, piece, piece->to - 1, NT_RX_SINCE_SEEN, 1);
	if (has_next(piece)) {
		add_term(charges, cpu, piece, piece->to, NT_RX_UNTIL_SEEN, 1);
		add_list(charges, cpu, piece, piece->to);
	}
}

/*
 * The driver has what packets do not cost; nothing, if no cost is known, or they are not delivered here. It has a share
 * in any case: so nothing of the time is exact.
 */
static void add_driver(struct nt_rx_charges *charges, const struct cpu *cpu, const struct nt_rx_stretch *stretch,
		       uint64_t ns)
{
	const bool is_known = nt_rx_costs_are_known(cpu->flows) && !(stretch->flags & NT_RX_STRETCH_STEERED);
	const unsigned __int128 all = (unsigned __int128)ns * NT_RX_COST_UNIT, of_flows = weight_of_all(charges);

	charges->shares[charges->n_shares++] =
		(struct share){.flow = NT_RX_DRIVER, .weight = is_known && all > of_flows ? all - of_flows : 0};
}

/* Of the terms, one for each flow, socket and fate. */
static void add_shares(struct nt_rx_charges *charges, uint32_t number, const struct piece *piece)
{
	struct share *shares = charges->shares;

	for (size_t i = 0; i < charges->n_terms; i++) {
		const size_t at = charges->stretches[i];
		const struct nt_rx_stretch *payer = last_of_packet(&piece->batch[at], piece->left - at);

		shares[i] = (struct share){
			.flow = payer->flow,
			.socket = socket_of(charges, number, payer, &piece->batch[at]),
			.fate = fate_of(&charges->cpus[number], payer),
			.weight = nt_rx_weight(&charges->terms[i], 1),
		};
	}
	if (charges->n_terms > 1)
		qsort(shares, charges->n_terms, sizeof(*shares), by_flow);
	for (size_t i = 0; i < charges->n_terms; i++) {
		if (charges->n_shares && !by_flow(&shares[charges->n_shares - 1], &shares[i]))
			shares[charges->n_shares - 1].weight += shares[i].weight;
		else
			shares[charges->n_shares++] = shares[i];
	}
}

/*
 * Whether the driver may have worked in the piece: at a list's begin, or behind the last. Between works on packets of
 * one list it has no turn.
 */
static bool has_driver(const struct nt_rx_charges *charges, const struct piece *piece)
{
	const struct nt_rx_stretch *from = &piece->batch[piece->from];
	const size_t n = piece->to - piece->from + (has_next(piece) && begins_list(piece, piece->to));
	const bool is_last = !piece->is_left && piece->to == piece->n_batch;

	return NT_ANY(n, i, from[i].flags & NT_RX_STRETCH_AMID) &&
	       (is_last || NT_ANY(charges->n_terms, i, charges->terms[i].phase == NT_RX_ARRIVAL));
}

/* Whether the time of the piece tells what packets cost. Of several flows in a list without a cut it does not. */
static bool is_telling(const struct nt_rx_charges *charges, const struct piece *piece)
{
	return (piece->has_cuts || piece->n_batch == 1) && !(piece->batch->flags & NT_RX_STRETCH_STEERED) &&
	       nt_view_has(&charges->config.time, piece->end_ns);
}

/* `part`: the first of the run's that has time left. */
static int make_shares(struct nt_rx_charges *charges, uint32_t number, size_t part, const struct piece *piece)
{
	struct cpu *cpu = &charges->cpus[number];
	const uint64_t ns = time_until(cpu, part, piece->end_ns);
	int error = 0;

	if (!has_flows(cpu))
		return -ENOMEM;
	make_terms(charges, cpu, piece);
	if (!charges->is_known) {
		charge_only(charges, 0);
		return 0;
	}
	for (size_t i = piece->from; i < piece->to && !error; i++)
		error = note_fate(charges, cpu, last_of_packet(&piece->batch[i], piece->left - i));
	if (error)
		return error;
	charges->n_shares = 0;
	add_shares(charges, number, piece);
	if (has_driver(charges, piece))
		add_driver(charges, cpu, &piece->batch[piece->from], ns);
	else if (is_telling(charges, piece))
		nt_rx_learn(cpu->flows, charges->terms, charges->n_terms, ns);
	check_shares(charges);
	return 0;
}

/* To the only one. */
static int charge_one(struct nt_rx_charges *charges, uint32_t cpu, uint64_t ts_ns, uint64_t dur_ns)
{
	const struct nt_rx_charge charge = {
		.ts_ns = ts_ns,
		.dur_ns = dur_ns,
		.cpu = cpu,
		.flow = charges->shares[0].flow,
		.socket = charges->shares[0].socket,
		.fate = charges->shares[0].fate,
		.spent_ns = dur_ns,
		.exact_ns = dur_ns,
		.most_ns = dur_ns,
	};

	return charges->config.charge(charges->config.arg, &charge);
}

/* Divides a time that is within a bucket, or is whole buckets, by the shares: what is left of each goes to the next. */
static int divide(struct nt_rx_charges *charges, uint32_t cpu, uint64_t ts_ns, uint64_t dur_ns)
{
	const unsigned __int128 all = weight_of_all(charges);
	unsigned __int128 weight = 0;
	uint64_t given_ns = 0;
	int error = 0;

	if (charges->n_shares == 1)
		return charge_one(charges, cpu, ts_ns, dur_ns);
	for (size_t i = 0; i < charges->n_shares && !error; i++) {
		struct nt_rx_charge charge = {
			.ts_ns = ts_ns,
			.dur_ns = dur_ns,
			.cpu = cpu,
			.flow = charges->shares[i].flow,
			.socket = charges->shares[i].socket,
			.fate = charges->shares[i].fate,
		};
		uint64_t until_ns;

		weight += charges->shares[i].weight;
		until_ns = (uint64_t)(dur_ns * weight / all);
		charge.spent_ns = until_ns - given_ns;
		charge.most_ns = dur_ns;
		given_ns = until_ns;
		error = charges->config.charge(charges->config.arg, &charge);
	}
	return error;
}

/* Cuts a time at the edges of buckets: the rest of the first, whole ones together, the begin of
 * the last. */
static int divide_by_buckets(struct nt_rx_charges *charges, uint32_t cpu, uint64_t ts_ns, uint64_t end_ns)
{
	const struct nt_view_time *time = &charges->config.time;
	int error = 0;

	ts_ns = ts_ns > time->from_ns ? ts_ns : time->from_ns;
	end_ns = end_ns < time->to_ns ? end_ns : time->to_ns;
	while (ts_ns < end_ns && !error) {
		const uint64_t within_ns = (ts_ns - time->buckets_ns) % NT_BUCKET_NS;
		uint64_t dur_ns = end_ns - ts_ns;

		if (within_ns && dur_ns > NT_BUCKET_NS - within_ns)
			dur_ns = NT_BUCKET_NS - within_ns;
		else if (!within_ns && dur_ns > NT_BUCKET_NS)
			dur_ns -= dur_ns % NT_BUCKET_NS;
		error = divide(charges, cpu, ts_ns, dur_ns);
		ts_ns += dur_ns;
	}
	return error;
}

/* The time of the run's parts that is left, up to until_ns: takes it from them. */
static int charge_until(struct nt_rx_charges *charges, uint32_t number, size_t *part, uint64_t until_ns)
{
	struct cpu *cpu = &charges->cpus[number];
	int error = 0;

	for (; *part < cpu->n_parts && !error; (*part)++) {
		struct nt_rx_part *at = &cpu->parts[*part];
		const uint64_t end_ns = at->ts_ns + at->dur_ns < until_ns ? at->ts_ns + at->dur_ns : until_ns;

		if (at->ts_ns >= until_ns)
			break;
		error = divide_by_buckets(charges, number, at->ts_ns, end_ns);
		at->dur_ns -= end_ns - at->ts_ns;
		at->ts_ns = end_ns;
		if (at->dur_ns)
			break;
	}
	return error;
}

static int charge_packets(struct nt_rx_charges *charges, uint32_t number, const struct nt_rx_stretch *stretch)
{
	const struct nt_view_time *time = &charges->config.time;
	uint64_t last_ns = time->to_ns - (time->to_ns > time->from_ns);
	struct nt_rx_charge charge = {
		.ts_ns = stretch->end_ns < last_ns ? stretch->end_ns : last_ns,
		.cpu = number,
		.flow = stretch->flow,
		.socket = socket_of(charges, number, stretch, stretch),
		.fate = fate_of(&charges->cpus[number], stretch),
		.packets = stretch->packets,
		.segments = stretch->segments,
		.bytes = stretch->bytes,
	};

	/* The driver's stretch has none. Steered ones are received on another CPU, and count there. */
	if (!(stretch->packets || stretch->segments || stretch->bytes) || stretch->flags & NT_RX_STRETCH_STEERED ||
	    !nt_view_has(time, stretch->end_ns))
		return 0;
	if (charge.ts_ns < time->from_ns)
		charge.ts_ns = time->from_ns;
	return charges->config.charge(charges->config.arg, &charge);
}

/* ---- samples ---- */

static size_t n_samples(const struct nt_waiting *waiting)
{
	return NT_WAITING_N(waiting, struct nt_stack_sample);
}

static const struct nt_stack_sample *first_sample(const struct nt_waiting *waiting)
{
	return NT_WAITING_FIRST(waiting, struct nt_stack_sample);
}

/*
 * One of the shares, by lot: so the samples of a flow are as many as its share of the time makes likely. The lot
 * depends on the sample's time alone, and not on what was done then, so stages do not go to one flow of several.
 */
static uint64_t draw(const struct nt_rx_charges *charges, const struct nt_stack_sample *sample)
{
	const uint64_t lot = nt_lot(sample->end_ns, 1);
	const unsigned __int128 at = (weight_of_all(charges) * lot) >> 64;
	unsigned __int128 weight = 0;
	size_t i = 0;

	while (i + 1 < charges->n_shares && (weight += charges->shares[i].weight) <= at)
		i++;
	return charges->shares[i].flow;
}

/* The first that waits, to one of those who share its time. */
static int give_sample(struct nt_rx_charges *charges, uint32_t cpu, struct nt_waiting *waiting)
{
	const struct nt_stack_sample *sample = first_sample(waiting);
	const uint64_t flow = draw(charges, sample);
	const struct nt_rx_sample given = {.cpu = cpu,
					   .sample = sample,
					   .flow = flow == NT_RX_DRIVER ? 0 : flow,
					   .is_exact = charges->n_shares == 1};

	NT_WAITING_DROP(waiting, struct nt_stack_sample);
	return charges->config.sample(charges->config.arg, &given);
}

/* Those before this time. */
static int give_samples(struct nt_rx_charges *charges, uint32_t cpu, uint64_t until_ns)
{
	struct nt_waiting *waiting = &charges->cpus[cpu].samples;
	int error = 0;

	while (n_samples(waiting) && first_sample(waiting)->end_ns < until_ns && !error)
		error = give_sample(charges, cpu, waiting);
	return error;
}

/* ---- runs ---- */

/*
 * How many of these n stretches must be charged together. Packets that the kernel received as a list are marked first
 * and worked on then: where their stretches end tells nothing.
 */
static size_t batch_of(const struct nt_rx_stretch *stretches, size_t n)
{
	size_t length = 1;

	if (stretches[0].flags & NT_RX_STRETCH_LISTED)
		while (length < n && stretches[length].flags & NT_RX_STRETCH_LISTED)
			length++;
	return length;
}

/* The time of a piece, to those who share it. */
static int charge_piece(struct nt_rx_charges *charges, uint32_t number, size_t *part, const struct piece *piece)
{
	int error = 0;

	if (piece->batch->flags & NT_RX_STRETCH_DRIVER)
		charge_only(charges, is_whole(piece, 0) ? NT_RX_DRIVER : 0);
	else
		error = make_shares(charges, number, *part, piece);
	if (!error)
		error = charge_until(charges, number, part, piece->end_ns);
	return error ? error : give_samples(charges, number, piece->end_ns);
}

/* When the work on the last packet of these stretches was seen; 0: it was not, or that is no time of theirs. */
static uint64_t last_work(const struct piece *piece)
{
	const struct nt_rx_stretch *last = &piece->batch[piece->to - 1];
	const uint64_t begin_ns = piece->from ? piece->batch[piece->from - 1].end_ns : 0;

	if (!piece->has_cuts || !last->since_ns || last->end_ns < begin_ns || last->since_ns > last->end_ns - begin_ns)
		return 0;
	return last->end_ns - last->since_ns;
}

/* Stretches up to a cut, or to the end of their batch: one piece, or two if the work on the last packet was seen. */
static int charge_cut(struct nt_rx_charges *charges, uint32_t number, size_t *part, struct piece *piece)
{
	const uint64_t work_ns = last_work(piece);
	int error = 0;

	piece->is_rest = false;
	piece->is_left = work_ns;
	piece->end_ns = work_ns;
	if (work_ns)
		error = charge_piece(charges, number, part, piece);
	piece->is_rest = work_ns;
	piece->is_left = false;
	piece->end_ns = piece->batch[piece->to - 1].end_ns;
	return error ? error : charge_piece(charges, number, part, piece);
}

/* The time up to the end of the first n of these stretches, to their flows. `left`: how many the run has from here. */
static int charge_batch(struct nt_rx_charges *charges, uint32_t number, size_t *part,
			const struct nt_rx_stretch *stretches, size_t n, size_t left, bool is_first)
{
	struct piece piece = {.batch = stretches,
			      .n_batch = n,
			      .left = left,
			      .begins_run = is_first,
			      .has_cuts = NT_ANY(n, i, is_cut_off(&stretches[i]))};
	int error = 0;

	while (piece.to < n && !error) {
		piece.from = piece.to;
		piece.to += NT_FIRST(n - piece.from, i, is_cut_off(&stretches[piece.from + i]));
		piece.to += piece.to < n;
		error = charge_cut(charges, number, part, &piece);
		piece.is_cut = true;
	}
	return error;
}

/* The rest of the run's time belongs to no stretch. */
static int charge_rest(struct nt_rx_charges *charges, uint32_t number, size_t *part)
{
	int error;

	charge_only(charges, 0);
	error = charge_until(charges, number, part, UINT64_MAX);
	return error ? error : give_samples(charges, number, UINT64_MAX);
}

/* Charges the packets of all stretches that end by then, and takes them out. */
static int take_stretches(struct nt_rx_charges *charges, uint32_t number, uint64_t by_ns)
{
	struct nt_waiting *waiting = &charges->cpus[number].stretches;
	int error = 0;

	while (n_stretches(waiting) && first_stretch(waiting)->end_ns <= by_ns && !error) {
		error = charge_packets(charges, number, first_stretch(waiting));
		NT_WAITING_DROP(waiting, struct nt_rx_stretch);
	}
	return error;
}

/* Charges the run at hand up to the end of its last stretch; *part is the first part then that has time left. */
static int charge_stretches(struct nt_rx_charges *charges, uint32_t number, uint64_t by_ns, size_t *part)
{
	struct cpu *cpu = &charges->cpus[number];
	const struct nt_rx_stretch *stretches;
	size_t end, n;
	int error;

	*part = 0;
	if (!cpu->n_parts)
		return take_stretches(charges, number, by_ns);
	/* Stretches that ended before belong to time that is not covered. */
	error = take_stretches(charges, number, cpu->parts[0].ts_ns);
	stretches = first_stretch(&cpu->stretches);
	end = NT_FIRST(n_stretches(&cpu->stretches), i, stretches[i].end_ns > by_ns);
	for (size_t i = 0; i < end && !error; i += n) {
		n = batch_of(&stretches[i], end - i);
		error = charge_batch(charges, number, part, &stretches[i], n, end - i, !cpu->is_under_way);
		cpu->is_under_way = true;
	}
	return error ? error : take_stretches(charges, number, by_ns);
}

/* Stretches that end behind it are of uncovered time, or of a run that is not known yet. */
static uint64_t end_of_run(const struct cpu *cpu)
{
	const struct nt_rx_part *last = cpu->n_parts ? &cpu->parts[cpu->n_parts - 1] : NULL;

	return last ? last->ts_ns + last->dur_ns : 0;
}

/* The run at hand is over, and what ends by then is of no later one. */
static int end_run(struct nt_rx_charges *charges, uint32_t number, uint64_t by_ns)
{
	struct cpu *cpu = &charges->cpus[number];
	size_t part;
	int error = charge_stretches(charges, number, end_of_run(cpu), &part);

	if (!error)
		error = charge_rest(charges, number, &part);
	if (!error)
		error = take_stretches(charges, number, by_ns);
	cpu->n_parts = 0;
	cpu->is_under_way = false;
	return error;
}

static void drop_parts(struct cpu *cpu, size_t n)
{
	cpu->n_parts -= n;
	memmove(cpu->parts, cpu->parts + n, cpu->n_parts * sizeof(*cpu->parts));
}

/* So that a run that goes on and on, as a NAPI thread's, needs no more room: what no stretch has ended yet is kept. */
static int shorten_run(struct nt_rx_charges *charges, uint32_t number, uint64_t by_ns)
{
	struct cpu *cpu = &charges->cpus[number];
	size_t part;
	int error = charge_stretches(charges, number, by_ns, &part);

	if (!error && part < MAX_PARTS / 2)
		error = charge_rest(charges, number, &part);
	if (!error)
		drop_parts(cpu, part);
	return error;
}

int nt_rx_charges_nobodys(struct nt_rx_charges *charges, const struct nt_rx_part *part)
{
	charge_only(charges, 0);
	return divide_by_buckets(charges, part->cpu, part->ts_ns, part->ts_ns + part->dur_ns);
}

int nt_rx_charges_part(struct nt_rx_charges *charges, const struct nt_rx_part *part)
{
	struct cpu *cpu = &charges->cpus[part->cpu];
	int error = 0;

	if (cpu->n_parts && cpu->parts[0].run_ns != part->run_ns)
		error = end_run(charges, part->cpu, part->ts_ns);
	else if (cpu->n_parts == MAX_PARTS)
		error = shorten_run(charges, part->cpu, part->ts_ns);
	if (!error && NT_ROOM(cpu->parts, cpu->parts_size, cpu->n_parts + 1))
		return -ENOMEM;
	if (!error)
		cpu->parts[cpu->n_parts++] = *part;
	return error;
}

int nt_rx_charges_stretch(struct nt_rx_charges *charges, uint32_t number, const struct nt_rx_stretch *stretch)
{
	struct nt_waiting *waiting = &charges->cpus[number].stretches;
	int error = 0;

	if (n_stretches(waiting) == MAX_WAITING)
		error = take_stretches(charges, number, first_stretch(waiting)->end_ns);
	return error ? error : nt_waiting_add(waiting, stretch, sizeof(*stretch));
}

int nt_rx_charges_sample(struct nt_rx_charges *charges, uint32_t number, const struct nt_stack_sample *sample)
{
	struct cpu *cpu = &charges->cpus[number];
	const struct nt_rx_sample nobodys = {.cpu = number, .sample = sample};
	int error = 0;

	if (!cpu->n_parts || sample->end_ns < cpu->parts[0].ts_ns)
		return charges->config.sample(charges->config.arg, &nobodys);
	if (n_samples(&cpu->samples) == MAX_WAITING) {
		charge_only(charges, 0);
		error = give_sample(charges, number, &cpu->samples);
	}
	return error ? error : nt_waiting_add(&cpu->samples, sample, sizeof(*sample));
}

void nt_rx_charges_end_at(struct nt_rx_charges *charges, uint64_t end_ns)
{
	charges->config.time.to_ns = end_ns;
}

uint64_t nt_rx_charges_run(const struct nt_rx_charges *charges, uint32_t cpu)
{
	return charges->cpus[cpu].n_parts ? charges->cpus[cpu].parts[0].run_ns : 0;
}

uint64_t nt_rx_charges_since(const struct nt_rx_charges *charges, uint32_t cpu)
{
	return charges->cpus[cpu].n_parts ? charges->cpus[cpu].parts[0].ts_ns : UINT64_MAX;
}

/* Of a run that goes on: what its stretches have ended; and if the rest has waited for long, nobody is charged it. */
static int charge_some(struct nt_rx_charges *charges, uint32_t number, uint64_t until_ns)
{
	struct cpu *cpu = &charges->cpus[number];
	size_t part;
	int error = charge_stretches(charges, number, until_ns, &part);

	if (!error && part < cpu->n_parts && cpu->parts[part].ts_ns + NT_RX_PATIENCE_NS < until_ns)
		error = charge_rest(charges, number, &part);
	if (!error)
		drop_parts(cpu, part);
	return error;
}

int nt_rx_charges_known(struct nt_rx_charges *charges, uint32_t cpu, uint64_t until_ns, bool goes_on)
{
	const uint64_t since_ns = nt_rx_charges_since(charges, cpu);

	if (since_ns == UINT64_MAX)
		return 0;
	if (!goes_on)
		return end_run(charges, cpu, until_ns);
	return since_ns + NT_RX_PATIENCE_NS < until_ns ? charge_some(charges, cpu, until_ns) : 0;
}

int nt_rx_charges_finish(struct nt_rx_charges *charges)
{
	int error = 0;

	for (uint32_t cpu = 0; cpu < charges->config.n_cpus && !error; cpu++)
		error = end_run(charges, cpu, UINT64_MAX);
	return error;
}
