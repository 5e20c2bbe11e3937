// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_tape.c - from the rings of a simulation to the one stream that a timeline is fed, by way of a tape
 * that may have lost parts; and traces that no CPU would write. See trace_gen.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/trace_gen.h"

#define REORDER 64 /* as the window of report/tape/merge.h */

const char *const trace_case_names[TRACE_CASE_COUNT] = {
#define X(name) #name,
	TRACE_CASES(X)
#undef X
};

bool trace_is_main_of(void *arg, uint64_t main, uint64_t task)
{
	(void)arg;
	return main && main != NT_NO_TASK && task != main && main % 10 == 0 && task / 10 == main / 10;
}

bool trace_is_napi(void *arg, uint64_t task)
{
	(void)arg;
	return task != NT_NO_TASK && task % 10 == 2;
}

struct trace_item *trace_append(struct trace_item **items, size_t *n, size_t *size)
{
	if (*n == *size) {
		*size = *size ? 2 * *size : 64;
		*items = realloc(*items, *size * sizeof(**items));
		if (!*items)
			abort();
	}
	memset(&(*items)[*n], 0, sizeof(**items));
	return &(*items)[(*n)++];
}

void trace_release(struct trace *trace)
{
	free(trace->items);
	free(trace->ops);
	memset(trace, 0, sizeof(*trace));
}

/* ---- damage ---- */

static bool is_open(const struct trace_item *item)
{
	return !item->is_gap && item->record.record.kind == NT_OPEN;
}

static bool is_state(const struct trace_item *item)
{
	return !item->is_gap && (item->record.record.kind == NT_STATE || item->record.record.kind == NT_SWITCH);
}

/* A place where a block may have been cut: not between the parts of a state record. */
static size_t random_cut(const struct trace_ring *ring, struct nt_rand *rand)
{
	size_t at = nt_rand_below(rand, ring->n + 1);

	while (at > 0 && (is_open(&ring->items[at - 1]) || ring->items[at - 1].why))
		at--;
	return at;
}

static uint64_t greatest_end(const struct trace_ring *ring, size_t n)
{
	uint64_t greatest = 0;

	for (size_t i = 0; i < n; i++) {
		if (ring->items[i].record.record.end_ns > greatest)
			greatest = ring->items[i].record.record.end_ns;
	}
	return greatest;
}

/* The task on the CPU after n records as who wrote the tape knows it: not if switches may have been lost since. */
static uint64_t known_task(const struct trace_ring *ring, size_t n)
{
	uint64_t task = NT_NO_TASK, lost_ns = 0;

	for (size_t i = 0; i < n; i++) {
		const union nt_any *record = &ring->items[i].record;

		if (record->record.kind == NT_LOSS && record->as_loss.last_ns >= lost_ns)
			lost_ns = record->as_loss.last_ns + 1;
		if (record->record.kind == NT_LOSS || record->record.kind == NT_HOTPLUG)
			task = NT_NO_TASK;
		if (record->record.kind == NT_STATE && record->record.end_ns >= lost_ns)
			task = record->as_state.task;
		if (record->record.kind == NT_SWITCH && record->record.end_ns >= lost_ns)
			task = record->as_switch.next;
	}
	return task;
}

static void remove_items(struct trace_ring *ring, size_t from, size_t to)
{
	memmove(ring->items + from, ring->items + to, (ring->n - to) * sizeof(*ring->items));
	ring->n -= to - from;
}

static void insert_gap(struct trace_ring *ring, size_t at, uint32_t cpu, uint64_t resume_ns, uint64_t task,
		       const char *why)
{
	struct trace_item gap = {.cpu = cpu, .is_gap = true, .resume_ns = resume_ns, .task = task, .why = why};

	trace_append(&ring->items, &ring->n, &ring->size);
	memmove(ring->items + at + 1, ring->items + at, (ring->n - 1 - at) * sizeof(gap));
	ring->items[at] = gap;
}

/* A block of events is missing. */
static void lose_block(struct trace *trace, struct trace_ring *ring, uint32_t cpu, struct nt_rand *rand)
{
	size_t a = random_cut(ring, rand), b = random_cut(ring, rand), from = a < b ? a : b, to = a < b ? b : a;
	uint64_t task = known_task(ring, to), resume_ns = greatest_end(ring, to);

	if (from == to)
		return;
	remove_items(ring, from, to);
	insert_gap(ring, from, cpu, resume_ns, task, "missing block");
	trace_mark(trace, task == NT_NO_TASK ? TRACE_GAP_TASK_UNKNOWN : TRACE_GAP_TASK_KNOWN);
	trace->lossless = false;
}

/* A block of long spans is missing: one record, of which is only known between which others it stood. */
static void lose_long(struct trace *trace, struct trace_ring *ring, uint32_t cpu, struct nt_rand *rand)
{
	size_t a = random_cut(ring, rand), b = random_cut(ring, rand), from = a < b ? a : b, to = a < b ? b : a;

	for (size_t i = from; i < to; i++) {
		uint8_t kind = ring->items[i].record.record.kind;

		if ((kind != NT_SOFTIRQ && kind != NT_IRQ && kind != NT_OP && kind != NT_NAPI) ||
		    (i && ring->items[i - 1].why))
			continue;
		remove_items(ring, i, i + 1);
		/* It may have ended after the last of them, but before what follows. */
		insert_gap(ring, from, cpu, greatest_end(ring, to - 1), NT_NO_TASK, "missing block");
		trace_mark(trace, TRACE_GAP_TASK_UNKNOWN);
		trace->lossless = false;
		return;
	}
}

/* The end is missing. A tape that is complete but for this CPU tells so. */
static void tear(struct trace *trace, struct trace_ring *ring, uint32_t cpu, struct nt_rand *rand)
{
	size_t at = nt_rand_below(rand, 5) ? random_cut(ring, rand) : 0;

	ring->n = at;
	trace_mark(trace, at ? TRACE_TORN : TRACE_SILENT);
	trace->lossless = false;
	if (at == 0)
		return;
	/* An offline CPU may have come back. */
	if (nt_rand_below(rand, 2) || known_task(ring, at) == NT_NO_TASK)
		insert_gap(ring, at, cpu, trace->config.end_ns, NT_NO_TASK, "torn");
	else
		trace->loss_told_late = true;
}

/* A switch is missing without a word. Only where nothing else would hide it. */
static void lose_silently(struct trace *trace, struct trace_ring *ring, struct nt_rand *rand)
{
	size_t at = nt_rand_below(rand, ring->n + 1), from, next;

	while (at < ring->n && ring->items[at].record.record.kind != NT_SWITCH)
		at++;
	for (next = at + 1; next < ring->n && !is_state(&ring->items[next]); next++)
		;
	if (next >= ring->n || !trace->lossless ||
	    trace->cases & (1ull << TRACE_HOTPLUG | 1ull << TRACE_STARTS_OFFLINE))
		return;
	const union nt_any *after = &ring->items[next].record;
	uint64_t task = after->record.kind == NT_STATE ? after->as_state.task : after->as_switch.prev;

	if (task == ring->items[at].record.as_switch.prev ||
	    trace_is_main_of(NULL, task, ring->items[at].record.as_switch.prev))
		return;
	for (from = at; from > 0 && is_open(&ring->items[from - 1]); from--)
		;
	remove_items(ring, from, at + 1);
	trace_mark(trace, TRACE_UNDECLARED);
	trace->lossless = false;
	trace->loss_told_late = true;
}

static void damage(struct trace *trace, struct trace_ring *rings, struct nt_rand *rand)
{
	uint32_t cpu = (uint32_t)nt_rand_below(rand, trace->config.n_cpus);

	if (!trace->online[cpu] || !rings[cpu].n)
		return;
	switch (nt_rand_below(rand, 12)) {
	case 0:
	case 1:
		lose_block(trace, &rings[cpu], cpu, rand);
		break;
	case 2:
		lose_long(trace, &rings[cpu], cpu, rand);
		break;
	case 3:
		tear(trace, &rings[cpu], cpu, rand);
		break;
	case 4:
		lose_silently(trace, &rings[cpu], rand);
		break;
	}
}

/* ---- merging ---- */

/* A loss: no item is moved across it. */
static bool is_loss(const struct trace_item *item)
{
	return item->is_gap || item->record.record.kind == NT_LOSS;
}

/* Sorts by end the items that have no loss between them, within the window; equal ends stay in ring order. */
static void sort_ring(struct trace_ring *ring)
{
	for (size_t i = 1; i < ring->n; i++) {
		struct trace_item moving = ring->items[i];
		size_t to = i;

		while (!is_loss(&moving) && to > 0 && i - to < REORDER && !is_loss(&ring->items[to - 1]) &&
		       ring->items[to - 1].record.record.end_ns > moving.record.record.end_ns)
			to--;
		memmove(ring->items + to + 1, ring->items + to, (i - to) * sizeof(moving));
		ring->items[to] = moving;
	}
}

/* Records that are fed as early as they can be told: directly after the one before them. */
static bool is_early(const struct trace_item *item)
{
	return is_loss(item) || (item->record.record.kind == NT_HOTPLUG && !item->record.as_hotplug.online);
}

static void merge(struct trace *trace, const struct trace_ring *rings)
{
	size_t next[TRACE_CPUS] = {0};

	for (;;) {
		int least = -1;

		for (int i = 0; i < TRACE_CPUS; i++) {
			const struct trace_item *best = least < 0 ? NULL : &rings[least].items[next[least]], *item;

			if (next[i] == rings[i].n)
				continue;
			item = &rings[i].items[next[i]];
			if (!best || (is_early(item) && !is_early(best)) ||
			    (!is_early(best) && item->record.record.end_ns < best->record.record.end_ns))
				least = i;
		}
		if (least < 0)
			return;
		*trace_append(&trace->items, &trace->n, &trace->size) = rings[least].items[next[least]++];
	}
}

void trace_tape(struct trace *trace, struct trace_ring *rings, struct nt_rand *rand)
{
	damage(trace, rings, rand);
	for (int i = 0; i < TRACE_CPUS; i++)
		sort_ring(&rings[i]);
	merge(trace, rings);
	for (int i = 0; i < TRACE_CPUS; i++)
		free(rings[i].items);
}

/* ---- traces that no CPU would write ---- */

static void set_random_field(union nt_any *record, struct nt_rand *rand)
{
	size_t at = nt_rand_below(rand, 40);
	uint64_t value = nt_rand_below(rand, 3) ? nt_rand_below(rand, 30) : nt_rand_any(rand);

	if (at == 8)
		return; /* the kind */
	if (at < 8 || nt_rand_below(rand, 2))
		record->record.end_ns += nt_rand_below(rand, 40) - 20;
	else if (at < 16)
		((uint8_t *)record)[at] = (uint8_t)value;
	else
		memcpy((uint8_t *)record + at / 8 * 8, &value, sizeof(value));
}

static void spoil_one(struct trace *trace, struct nt_rand *rand)
{
	size_t at = nt_rand_below(rand, trace->n), other = nt_rand_below(rand, trace->n);
	struct trace_item item = trace->items[at];

	switch (nt_rand_below(rand, 6)) {
	case 0:
		memmove(trace->items + at, trace->items + at + 1, (trace->n - at - 1) * sizeof(item));
		trace->n--;
		break;
	case 1:
		*trace_append(&trace->items, &trace->n, &trace->size) = item;
		item = trace->items[trace->n - 1];
		memmove(trace->items + other + 1, trace->items + other, (trace->n - 1 - other) * sizeof(item));
		trace->items[other] = item;
		break;
	case 2:
		other = at + 1 < trace->n ? at + 1 : at;
		trace->items[at] = trace->items[other];
		trace->items[other] = item;
		break;
	case 3:
		trace->items[at].cpu = (uint32_t)nt_rand_below(rand, trace->config.n_cpus);
		break;
	default:
		if (!item.is_gap)
			set_random_field(&trace->items[at].record, rand);
		else
			trace->items[at].resume_ns += nt_rand_below(rand, 100) - 50;
	}
}

void trace_spoil(struct trace *trace, uint64_t seed)
{
	struct nt_rand rand = {seed ^ 0x5ca1ab1e};

	trace_simulate(trace, seed);
	trace->true_known = false;
	for (uint64_t n = 1 + nt_rand_below(&rand, 12); n-- && trace->n > 1;)
		spoil_one(trace, &rand);
}

static uint64_t some_ns(struct nt_rand *rand)
{
	return nt_rand_below(rand, 30) ? nt_rand_below(rand, 700) : nt_rand_any(rand);
}

static uint64_t some_task(struct nt_rand *rand)
{
	return nt_rand_below(rand, 3) * 5;
}

/* `current`: the task that the CPU's records so far leave on it, and then this one. */
static void random_record(union nt_any *record, uint64_t end_ns, uint64_t *current, struct nt_rand *rand)
{
	static const uint8_t kinds[] = {NT_STATE,   NT_STATE, NT_SWITCH, NT_SWITCH, NT_SWITCH, NT_OPEN,	   NT_OPEN,
					NT_OPEN,    NT_OPEN,  NT_OPEN,	 NT_OPEN,   NT_OP,     NT_OP,	   NT_OP,
					NT_OP,	    NT_OP,    NT_IRQ,	 NT_IRQ,    NT_IRQ,    NT_SOFTIRQ, NT_SOFTIRQ,
					NT_SOFTIRQ, NT_OP,    NT_NAPI,	 NT_OPEN,   NT_OPEN,   NT_OPEN,	   NT_SWITCH};
	uint64_t *word = (uint64_t *)record;

	memset(record, 0, sizeof(*record));
	for (int i = 8; i < 16; i++)
		((uint8_t *)record)[i] = (uint8_t)nt_rand_below(rand, nt_rand_below(rand, 4) ? 4 : 256);
	for (int i = 2; i < 5; i++) {
		word[i] = nt_rand_below(rand, 2) ? nt_rand_below(rand, 30) : some_ns(rand);
		if (nt_rand_below(rand, 60) == 0)
			word[i] = nt_rand_any(rand);
	}
	record->record.kind = kinds[nt_rand_below(rand, sizeof(kinds))];
	if (nt_rand_below(rand, 60) == 0)
		record->record.kind = nt_rand_below(rand, 2) ? NT_LOSS : NT_HOTPLUG;
	record->record.end_ns = end_ns;
	if (record->record.kind == NT_LOSS)
		record->as_loss.begin_ns = nt_rand_below(rand, 2) ? 0 : end_ns - nt_rand_below(rand, 60);
	if (record->record.kind == NT_STATE)
		record->as_state.task = nt_rand_below(rand, 12) ? *current : some_task(rand);
	if (record->record.kind == NT_SWITCH)
		record->as_switch.prev = nt_rand_below(rand, 12) ? *current : some_task(rand);
	if (record->record.kind == NT_SWITCH)
		record->as_switch.next = some_task(rand);
	if (record->record.kind == NT_STATE || record->record.kind == NT_SWITCH)
		*current = record->record.kind == NT_STATE ? record->as_state.task : record->as_switch.next;
}

void trace_garbage(struct trace *trace, uint64_t seed)
{
	struct nt_rand rand = {seed ^ 0x9a5ba9e};
	uint64_t at_ns = 0, current[TRACE_CPUS] = {0};

	trace->config = (struct nt_timeline_config){.start_ns = nt_rand_below(&rand, 60),
						    .n_cpus = 1 + (uint32_t)nt_rand_below(&rand, 3),
						    .present = trace->present,
						    .online = trace->online,
						    .is_main_of = trace_is_main_of,
						    .is_napi = trace_is_napi};
	trace->config.end_ns = trace->config.start_ns + nt_rand_below(&rand, 500);
	for (uint32_t i = 0; i < trace->config.n_cpus; i++) {
		trace->present[i] = nt_rand_below(&rand, 8) != 0;
		trace->online[i] = trace->present[i] && nt_rand_below(&rand, 5) != 0;
	}
	for (uint64_t n = nt_rand_below(&rand, 120); n--;) {
		struct trace_item *item = trace_append(&trace->items, &trace->n, &trace->size);
		/* The record after an OPEN record is often of the same CPU and time. */
		bool follows = trace->n > 1 && is_open(item - 1) && nt_rand_below(&rand, 4);

		item->cpu = follows ? item[-1].cpu : (uint32_t)nt_rand_below(&rand, trace->config.n_cpus);
		item->is_gap = nt_rand_below(&rand, 100) == 0;
		item->why = "garbage";
		item->task = nt_rand_below(&rand, 3) ? current[item->cpu] : NT_NO_TASK;
		at_ns += follows ? 0 : nt_rand_below(&rand, 10);
		item->resume_ns = nt_rand_below(&rand, 4) ? at_ns + nt_rand_below(&rand, 30) : some_ns(&rand);
		random_record(&item->record, nt_rand_below(&rand, 20) ? at_ns : some_ns(&rand), &current[item->cpu],
			      &rand);
	}
}

/* ---- looking at it ---- */

static void print_record(const union nt_any *r, FILE *out)
{
	const uint8_t *own = (const uint8_t *)r + 8;
	const uint64_t *word = (const uint64_t *)r;

	fprintf(out, " end %" PRIu64 " kind %u own %u %u %u %" PRIu32 " :", word[0], own[0], own[1], own[2], own[3],
		r->record.own_d);
	for (int i = 2; i < 5; i++)
		fprintf(out, " %" PRId64, (int64_t)word[i]);
	fputc('\n', out);
}

void trace_print(const struct trace *trace, FILE *out)
{
	fprintf(out, "session %" PRIu64 " .. %" PRIu64 ", cpus", trace->config.start_ns, trace->config.end_ns);
	for (uint32_t i = 0; i < trace->config.n_cpus; i++)
		fprintf(out, " %s", !trace->present[i] ? "absent" : trace->online[i] ? "online" : "offline");
	fputc('\n', out);
	for (size_t i = 0; i < trace->n; i++) {
		const struct trace_item *item = &trace->items[i];

		fprintf(out, "%4zu cpu %" PRIu32, i, item->cpu);
		if (item->is_gap)
			fprintf(out, " gap until %" PRIu64 " task %" PRId64 "\n", item->resume_ns, (int64_t)item->task);
		else
			print_record(&item->record, out);
	}
}
