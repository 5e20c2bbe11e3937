// SPDX-License-Identifier: GPL-2.0-only
/*
 * rollup.c - see rollup.h: tables of sums, found by hash, each emptied into rows when it is full or its oldest
 * bucket is long past.
 */
#include "report/rows/rollup.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/rx_charge.h"
#include "report/util/array.h"

#define MAX_SUMS 8192
#define MAX_RX_SUMS 32768
#define SLOTS 4 /* for each sum */
#define MAX_AGE 5 /* buckets */
#define N_RECENT 128
#define N_BUCKETS 8 /* whose flows are counted */
#define N_CPUS 512

struct key {
	uint64_t bucket, task, socket; /* task: of charges the flow; socket: elsewhere the number */
	uint32_t cpu, what; /* what: owner, direction, fate, or enum nt_elsewhere */
};

/* A sum that was found, and the time of its bucket, from the session's start on: most of what passes belongs to a few.
 */
struct recent {
	uint64_t from_ns, to_ns; /* both 0: none */
	uint64_t task, socket;
	uint32_t cpu, what;
	struct sum *sum;
};

struct sum {
	struct key key;
	union {
		uint64_t spent_ns; /* of slices, and elsewhere */
		struct nt_sock_cost ops;
		struct nt_rx_cost rx;
	};
};

struct sums {
	struct sum *sums;
	uint16_t *slots; /* index + 1 */
	struct recent recent[N_RECENT]; /* by a hash of what is asked for each time */
	size_t n, max;
	uint64_t oldest; /* bucket */
};

/* How many flows have sums in a bucket, on a CPU (and on those that share its place). */
struct named {
	uint64_t bucket;
	uint32_t n;
};

struct nt_rollup {
	struct nt_view_time time;
	struct nt_rollup_sink sink;
	struct sums slices, ops, rx, elsewhere;
	struct named *named; /* flows of rx: N_CPUS of each of N_BUCKETS */
};

static int sums_init(struct sums *sums, size_t max)
{
	sums->max = max;
	sums->sums = calloc(max, sizeof(*sums->sums));
	sums->slots = calloc(SLOTS * max, sizeof(*sums->slots));
	return sums->sums && sums->slots ? 0 : -ENOMEM;
}

struct nt_rollup *nt_rollup_new(const struct nt_view_time *time, const struct nt_rollup_sink *sink)
{
	struct nt_rollup *rollup = calloc(1, sizeof(*rollup));

	if (!rollup)
		return NULL;
	rollup->time = *time;
	rollup->sink = *sink;
	rollup->named = calloc((size_t)N_BUCKETS * N_CPUS, sizeof(*rollup->named));
	if (!rollup->named || sums_init(&rollup->slices, MAX_SUMS) || sums_init(&rollup->ops, MAX_SUMS) ||
	    sums_init(&rollup->rx, MAX_RX_SUMS) || sums_init(&rollup->elsewhere, MAX_SUMS)) {
		nt_rollup_free(rollup);
		return NULL;
	}
	return rollup;
}

void nt_rollup_free(struct nt_rollup *rollup)
{
	if (!rollup)
		return;
	free(rollup->slices.sums);
	free(rollup->slices.slots);
	free(rollup->ops.sums);
	free(rollup->ops.slots);
	free(rollup->rx.sums);
	free(rollup->rx.slots);
	free(rollup->elsewhere.sums);
	free(rollup->elsewhere.slots);
	free(rollup->named);
	free(rollup);
}

/* ---- giving ---- */

/* Begin and width of buckets in a row, as far as they lie in the time. */
static void bucket_times(const struct nt_rollup *rollup, uint64_t bucket, uint64_t n, uint64_t *ts_ns, uint64_t *dur_ns)
{
	*ts_ns = rollup->time.buckets_ns + bucket * NT_BUCKET_NS;
	*dur_ns = n * NT_BUCKET_NS;
	nt_view_clip(&rollup->time, ts_ns, dur_ns);
}

static int give_slice_sum(struct nt_rollup *rollup, const struct key *key, uint64_t n_buckets, uint64_t spent_ns)
{
	struct nt_cpu_cost cost = {
		.cpu = key->cpu, .owner = (enum nt_owner)key->what, .task = key->task, .spent_ns = spent_ns};

	bucket_times(rollup, key->bucket, n_buckets, &cost.ts_ns, &cost.dur_ns);
	return rollup->sink.cpu_cost(rollup->sink.arg, &cost);
}

static int give_elsewhere_sum(struct nt_rollup *rollup, const struct key *key, uint64_t n_buckets, uint64_t spent_ns)
{
	struct nt_elsewhere_cost cost = {.cpu = key->cpu,
					 .what = (enum nt_elsewhere)key->what,
					 .number = (uint32_t)key->socket,
					 .spent_ns = spent_ns};

	bucket_times(rollup, key->bucket, n_buckets, &cost.ts_ns, &cost.dur_ns);
	return rollup->sink.elsewhere_cost(rollup->sink.arg, &cost);
}

/* Of slices, and elsewhere. */
static int give_time(struct nt_rollup *rollup, const struct sums *sums, const struct key *key, uint64_t n_buckets,
		     uint64_t spent_ns)
{
	return sums == &rollup->slices ? give_slice_sum(rollup, key, n_buckets, spent_ns)
				       : give_elsewhere_sum(rollup, key, n_buckets, spent_ns);
}

static int give_op_sum(struct nt_rollup *rollup, const struct sum *sum)
{
	struct nt_sock_cost cost = sum->ops;

	bucket_times(rollup, sum->key.bucket, 1, &cost.ts_ns, &cost.dur_ns);
	return rollup->sink.sock_cost(rollup->sink.arg, &cost);
}

static int give_rx_sum(struct nt_rollup *rollup, const struct sum *sum)
{
	struct nt_rx_cost cost = sum->rx;

	bucket_times(rollup, sum->key.bucket, 1, &cost.ts_ns, &cost.dur_ns);
	return rollup->sink.rx_cost(rollup->sink.arg, &cost);
}

static int give(struct nt_rollup *rollup, const struct sums *sums, const struct sum *sum)
{
	if (sums == &rollup->slices || sums == &rollup->elsewhere)
		return give_time(rollup, sums, &sum->key, 1, sum->spent_ns);
	return sums == &rollup->ops ? give_op_sum(rollup, sum) : give_rx_sum(rollup, sum);
}

static int empty(struct nt_rollup *rollup, struct sums *sums)
{
	int error = 0;

	for (size_t i = 0; i < sums->n && !error; i++)
		error = give(rollup, sums, &sums->sums[i]);
	sums->n = 0;
	memset(sums->slots, 0, SLOTS * sums->max * sizeof(*sums->slots));
	memset(sums->recent, 0, sizeof(sums->recent));
	return error;
}

/* ---- adding ---- */

static bool is_same(const struct key *a, const struct key *b)
{
	return a->bucket == b->bucket && a->task == b->task && a->socket == b->socket && a->cpu == b->cpu &&
	       a->what == b->what;
}

static size_t hash(const struct key *key, size_t n_slots)
{
	uint64_t word = key->task * 0x9e3779b97f4a7c15ull;

	word = (word ^ word >> 32 ^ key->socket) * 0xbf58476d1ce4e5b9ull;
	word = (word ^ word >> 29 ^ (uint64_t)key->cpu << 8 ^ key->what ^ key->bucket << 32) * 0x94d049bb133111ebull;
	return (size_t)(word >> 40) % n_slots;
}

/* The slot where the sum of that key is, or will be. */
static size_t slot_of(const struct sums *sums, const struct key *key)
{
	const size_t n_slots = SLOTS * sums->max;
	size_t slot = hash(key, n_slots);

	while (sums->slots[slot] && !is_same(&sums->sums[sums->slots[slot] - 1].key, key))
		slot = (slot + 1) % n_slots;
	return slot;
}

/* A new sum; room is made first. NULL: *error says why. */
static struct sum *add_sum(struct nt_rollup *rollup, struct sums *sums, const struct key *key, int *error)
{
	struct sum *sum;

	if (sums->n == sums->max || (sums->n && key->bucket > sums->oldest + MAX_AGE)) {
		*error = empty(rollup, sums);
		if (*error)
			return NULL;
	}
	if (!sums->n || key->bucket < sums->oldest)
		sums->oldest = key->bucket;
	sum = &sums->sums[sums->n++];
	*sum = (struct sum){.key = *key, .ops = {0}};
	sums->slots[slot_of(sums, key)] = (uint16_t)sums->n;
	return sum;
}

/* The sum of that key, new if need be. NULL: *error says why. */
static struct sum *find(struct nt_rollup *rollup, struct sums *sums, const struct key *key, int *error)
{
	const uint16_t index = sums->slots[slot_of(sums, key)];

	return index ? &sums->sums[index - 1] : add_sum(rollup, sums, key, error);
}

/* Where a recent sum of these stands, if there is one. */
static inline struct recent *recent_of(struct sums *sums, uint64_t task, uint64_t socket, uint32_t cpu, uint32_t what)
{
	const uint64_t word = (task << 4 ^ socket << 1 ^ (uint64_t)cpu << 8 ^ what) * 0x9e3779b97f4a7c15ull;

	return &sums->recent[word >> 32 & (N_RECENT - 1)];
}

static void remember(struct sums *sums, struct sum *sum)
{
	const struct key *key = &sum->key;

	*recent_of(sums, key->task, key->socket, key->cpu, key->what) = (struct recent){
		.from_ns = key->bucket * NT_BUCKET_NS,
		.to_ns = (key->bucket + 1) * NT_BUCKET_NS,
		.task = key->task,
		.socket = key->socket,
		.cpu = key->cpu,
		.what = key->what,
		.sum = sum,
	};
}

static int add_part(struct nt_rollup *rollup, struct sums *sums, const struct key *key, uint64_t ns)
{
	int error = 0;
	struct sum *sum = find(rollup, sums, key, &error);

	if (!sum)
		return error;
	sum->spent_ns += ns;
	remember(sums, sum);
	return 0;
}

/* A time from the session's start on, which all belongs to the key: in each of its buckets. */
static int add_time(struct nt_rollup *rollup, struct sums *sums, struct key key, uint64_t from, uint64_t to)
{
	uint64_t last = to / NT_BUCKET_NS, n;
	int error = 0;

	key.bucket = from / NT_BUCKET_NS;
	if (key.bucket == last)
		return add_part(rollup, sums, &key, to - from);
	if (from % NT_BUCKET_NS) {
		error = add_part(rollup, sums, &key, NT_BUCKET_NS - from % NT_BUCKET_NS);
		key.bucket++;
	}
	n = last - key.bucket;
	if (!error && n)
		error = give_time(rollup, sums, &key, n, n * NT_BUCKET_NS);
	key.bucket = last;
	if (!error && to % NT_BUCKET_NS)
		error = add_part(rollup, sums, &key, to % NT_BUCKET_NS);
	return error;
}

/* One that no recent sum has a place for. Out of the way of the others, which are many. */
__attribute__((noinline)) static int add_slice(struct nt_rollup *rollup, const struct nt_cpu_slice *slice)
{
	const uint64_t from = slice->ts_ns - rollup->time.buckets_ns;
	const struct key key = {.task = slice->task, .cpu = slice->cpu, .what = slice->owner};

	return add_time(rollup, &rollup->slices, key, from, from + slice->dur_ns);
}

int nt_rollup_elsewhere(struct nt_rollup *rollup, const struct nt_elsewhere_cost *time)
{
	const uint64_t from = time->ts_ns - rollup->time.buckets_ns;
	const struct key key = {.socket = time->number, .cpu = time->cpu, .what = time->what};

	return add_time(rollup, &rollup->elsewhere, key, from, from + time->dur_ns);
}

int nt_rollup_slice(struct nt_rollup *rollup, const struct nt_cpu_slice *slice)
{
	const uint64_t from = slice->ts_ns - rollup->time.buckets_ns, to = from + slice->dur_ns;
	const struct recent *recent = recent_of(&rollup->slices, slice->task, 0, slice->cpu, slice->owner);

	if (from < recent->from_ns || to >= recent->to_ns || recent->task != slice->task || recent->cpu != slice->cpu ||
	    recent->what != slice->owner)
		return add_slice(rollup, slice);
	recent->sum->spent_ns += slice->dur_ns;
	return 0;
}

/* The sum of operations that ended then. NULL: *error says why. */
static struct sum *find_op(struct nt_rollup *rollup, const struct nt_op_row *op, uint64_t at, int *error)
{
	const struct key key = {.bucket = at / NT_BUCKET_NS, .task = op->task, .socket = op->socket, .what = op->dir};
	const struct recent *recent = recent_of(&rollup->ops, op->task, op->socket, 0, op->dir);
	struct sum *sum;

	if (at >= recent->from_ns && at < recent->to_ns && recent->task == op->task && recent->socket == op->socket &&
	    recent->what == op->dir)
		return recent->sum;
	sum = find(rollup, &rollup->ops, &key, error);
	if (!sum)
		return NULL;
	sum->ops.task = op->task;
	sum->ops.dir = op->dir;
	sum->ops.socket = op->socket;
	remember(&rollup->ops, sum);
	return sum;
}

/* When it ended, since buckets began: the end of the time belongs to the last bucket, not to one after it. */
static uint64_t end_of(const struct nt_rollup *rollup, const struct nt_op_row *op)
{
	const struct nt_view_time *time = &rollup->time;
	uint64_t end_ns = op->ts_ns + (op->timed ? op->dur_ns : 0);

	if (end_ns >= time->to_ns)
		end_ns = time->to_ns ? time->to_ns - 1 : 0;
	return (end_ns > time->from_ns ? end_ns : time->from_ns) - time->buckets_ns;
}

int nt_rollup_op(struct nt_rollup *rollup, const struct nt_op_row *op)
{
	const bool ok = op->end == NT_OP_DONE && op->result >= 0;
	int error = 0;
	struct sum *sum = find_op(rollup, op, end_of(rollup, op), &error);
	struct nt_sock_cost *cost;

	if (!sum)
		return error;
	cost = &sum->ops;
	cost->ops++;
	cost->failed += !ok;
	cost->untimed += !op->timed;
	cost->lower_bound += op->lower_bound;
	if (op->timed)
		cost->cpu_ns += op->cpu_ns;
	if (ok && !(op->flags & (NT_OP_PEEK | NT_OP_ERRQUEUE)))
		cost->bytes += (uint64_t)op->result;
	return 0;
}

/* A charge of whole buckets is a row as it is. */
static int give_long_charge(struct nt_rollup *rollup, const struct nt_rx_charge *charge)
{
	const struct nt_rx_cost cost = {
		.ts_ns = charge->ts_ns,
		.dur_ns = charge->dur_ns,
		.cpu = charge->cpu,
		.flow = charge->flow,
		.socket = charge->socket,
		.fate = charge->fate,
		.spent_ns = charge->spent_ns,
		.exact_ns = charge->exact_ns,
		.most_ns = charge->most_ns,
	};

	return rollup->sink.rx_cost(rollup->sink.arg, &cost);
}

/* Whether one more flow may have sums in the bucket. What is no flow may. */
static bool may_name(struct nt_rollup *rollup, const struct key *key)
{
	struct named *named = &rollup->named[key->bucket % N_BUCKETS * N_CPUS + key->cpu % N_CPUS];

	if (!key->task || key->task == NT_RX_DRIVER)
		return true;
	if (named->bucket != key->bucket)
		*named = (struct named){.bucket = key->bucket};
	return named->n < NT_NAMED_FLOWS && ++named->n;
}

static void add_charge(struct nt_rx_cost *cost, const struct nt_rx_charge *charge)
{
	cost->packets += charge->packets;
	cost->segments += charge->segments;
	cost->bytes += charge->bytes;
	cost->spent_ns += charge->spent_ns;
	cost->exact_ns += charge->exact_ns;
	cost->most_ns += charge->most_ns;
}

/* A charge of a flow without sums in its bucket. */
static int give_late_charge(struct nt_rollup *rollup, const struct key *key, struct nt_rx_cost *cost,
			    const struct nt_rx_charge *charge)
{
	add_charge(cost, charge);
	cost->is_late = true;
	bucket_times(rollup, key->bucket, 1, &cost->ts_ns, &cost->dur_ns);
	return rollup->sink.rx_cost(rollup->sink.arg, cost);
}

/* One that no recent sum has a place for. */
static int add_to_sum(struct nt_rollup *rollup, const struct nt_rx_charge *charge, uint64_t at)
{
	const struct key key = {.bucket = at / NT_BUCKET_NS,
				.task = charge->flow,
				.socket = charge->socket,
				.cpu = charge->cpu,
				.what = charge->fate};
	struct nt_rx_cost cost = {
		.cpu = charge->cpu, .flow = charge->flow, .socket = charge->socket, .fate = charge->fate};
	const uint16_t index = rollup->rx.slots[slot_of(&rollup->rx, &key)];
	struct sum *sum = index ? &rollup->rx.sums[index - 1] : NULL;
	int error = 0;

	if (!sum && !may_name(rollup, &key))
		return give_late_charge(rollup, &key, &cost, charge);
	if (!sum) {
		sum = add_sum(rollup, &rollup->rx, &key, &error);
		if (!sum)
			return error;
		sum->rx = cost;
	}
	remember(&rollup->rx, sum);
	add_charge(&sum->rx, charge);
	return 0;
}

int nt_rollup_rx(struct nt_rollup *rollup, const struct nt_rx_charge *charge)
{
	const uint64_t at = charge->ts_ns - rollup->time.buckets_ns;
	const struct recent *recent = recent_of(&rollup->rx, charge->flow, charge->socket, charge->cpu, charge->fate);

	if (charge->dur_ns > NT_BUCKET_NS)
		return give_long_charge(rollup, charge);
	if (at < recent->from_ns || at >= recent->to_ns || recent->task != charge->flow ||
	    recent->socket != charge->socket || recent->cpu != charge->cpu || recent->what != charge->fate)
		return add_to_sum(rollup, charge, at);
	add_charge(&recent->sum->rx, charge);
	return 0;
}

void nt_rollup_end_at(struct nt_rollup *rollup, uint64_t end_ns)
{
	rollup->time.to_ns = end_ns;
}

/* Gives those of buckets below the limit, and finds places for the rest again. */
static int give_below(struct nt_rollup *rollup, struct sums *sums, uint64_t limit)
{
	size_t n = 0;
	int error = 0;

	for (size_t i = 0; i < sums->n && !error; i++) {
		if (sums->sums[i].key.bucket < limit)
			error = give(rollup, sums, &sums->sums[i]);
		else
			sums->sums[n++] = sums->sums[i];
	}
	if (error)
		return error;
	sums->n = n;
	sums->oldest = UINT64_MAX;
	memset(sums->slots, 0, SLOTS * sums->max * sizeof(*sums->slots));
	memset(sums->recent, 0, sizeof(sums->recent));
	for (size_t i = 0; i < n; i++) {
		sums->slots[slot_of(sums, &sums->sums[i].key)] = (uint16_t)(i + 1);
		sums->oldest = sums->sums[i].key.bucket < sums->oldest ? sums->sums[i].key.bucket : sums->oldest;
	}
	return 0;
}

int nt_rollup_give(struct nt_rollup *rollup, uint64_t until_ns)
{
	struct sums *const all[] = {&rollup->slices, &rollup->ops, &rollup->rx, &rollup->elsewhere};
	const uint64_t start_ns = rollup->time.buckets_ns;
	const uint64_t limit = until_ns > start_ns ? (until_ns - start_ns) / NT_BUCKET_NS : 0;
	int error = 0;

	for (size_t i = 0; i < NT_COUNT(all) && !error; i++)
		error = give_below(rollup, all[i], limit);
	return error;
}

int nt_rollup_finish(struct nt_rollup *rollup)
{
	int error = empty(rollup, &rollup->slices);

	if (!error)
		error = empty(rollup, &rollup->ops);
	if (!error)
		error = empty(rollup, &rollup->rx);
	return error ? error : empty(rollup, &rollup->elsewhere);
}
