// SPDX-License-Identifier: GPL-2.0-only
/*
 * charge.c - a prototype for docs/charging.md. charge.sh makes the traffic.
 *
 *   charge OBJECT trace SECONDS           records each event inside the receive runs (softirq NET_RX) of all CPUs, and
 *                                         prints how their time divides
 *   charge OBJECT dump SECONDS RUNS       prints the events of the longest of such runs
 *   charge OBJECT cost GROUP COMMAND...   attaches the programs cost_GROUP__* while the command runs, and prints their
 *                                         runs and, with kernel.bpf_stats_enabled, ns a run; and the records' size
 *
 * The time of a run is from its begin to its end, with nested interrupts. Touches nothing but the kernel's programs.
 */
#include <lz4.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tests/bench/charge.h"

static void *must(void *pointer)
{
	if (!pointer) {
		perror("charge");
		exit(1);
	}
	return pointer;
}

/* ---- the kernel side ---- */

static struct bpf_object *attach(const char *path, const char *prefix)
{
	struct bpf_object *object = must(bpf_object__open(path));
	struct bpf_program *program;

	bpf_object__for_each_program (program, object)
		bpf_program__set_autoload(program, !strncmp(bpf_program__name(program), prefix, strlen(prefix)));
	if (bpf_object__load(object))
		must(NULL);
	bpf_object__for_each_program (program, object)
		if (bpf_program__autoload(program))
			must(bpf_program__attach(program));
	return object;
}

/* The memory that the programs share with us: their gate and counts. */
static int shared_map(struct bpf_object *object)
{
	return bpf_object__find_map_fd_by_name(object, ".data.shared");
}

static void set_gate(struct bpf_object *object, __u32 gate, struct charge_shared *shared)
{
	__u32 key = 0;

	if (bpf_map_lookup_elem(shared_map(object), &key, shared))
		must(NULL);
	shared->gate = gate;
	if (bpf_map_update_elem(shared_map(object), &key, shared, BPF_ANY))
		must(NULL);
}

/* Records of one size, in the order in which the kernel wrote them. */
struct records {
	char *data;
	size_t size, n, room;
};

static int add_record(void *context, void *data, size_t size)
{
	struct records *records = context;

	if (records->n == records->room) {
		records->room = records->room ? 2 * records->room : 1u << 20;
		records->data = must(realloc(records->data, records->room * records->size));
	}
	if (size >= records->size)
		memcpy(records->data + records->n++ * records->size, data, records->size);
	return 0;
}

static void drain(struct bpf_object *object, struct records *records)
{
	int map = bpf_object__find_map_fd_by_name(object, "events");
	struct ring_buffer *ring = must(ring_buffer__new(map, add_record, records, NULL));

	ring_buffer__consume(ring);
	ring_buffer__free(ring);
}

/* ---- the runs ---- */

enum class { NO_PACKET, GRO_ONLY, ONE_PACKET, ONE_FLOW, MIXED_ONE_BY_ONE, MIXED_BATCH_PURE, MIXED_BATCH, CLASSES };

static const char *const class_names[CLASSES] = {
	"no packet",
	"held by GRO",
	"one packet in the run",
	"one flow in the run",
	"several flows, one by one",
	"several, batch of one",
	"several in a batch",
};

struct totals {
	__u64 runs, runs_of[CLASSES];
	double ns, ns_of[CLASSES];
	__u64 packets, segments, bytes, by_packets[6];
	__u64 events[CHARGE_KINDS];
	__u64 next[2][CHARGE_KINDS + 1]; /* the first event after a mark, of marks one by one and of batches */
	__u64 probe_same, probe_other;
	__u64 batches, batch_packets, batches_told; /* mixed batches; those with one delivery event a packet */
	double foreign_ns; /* in pieces of one flow: after GRO entries of others */
	__u64 stretches;
};

/* A part of a run: the marks first .. last - 1 and the time that is theirs. */
struct piece {
	__u64 begin_ns, end_ns;
	const struct charge_event *first, *last;
	bool in_batch;
};

static bool is_delivery(__u8 kind)
{
	return kind == CHARGE_PROBE || kind == CHARGE_READY || kind == CHARGE_DROP || kind == CHARGE_REFUSE ||
	       kind == CHARGE_XMIT;
}

static bool is_told(const struct charge_event *event)
{
	return event->kind == CHARGE_PROBE || event->kind == CHARGE_DROP || event->kind == CHARGE_REFUSE ||
	       (event->kind == CHARGE_READY && event->size != 6);
}

static bool is_pure(const struct piece *piece)
{
	__u64 id = 0;

	for (const struct charge_event *event = piece->first; event < piece->last; event++) {
		if (event->kind != CHARGE_RECEIVE)
			continue;
		if (id && event->id != id)
			return false;
		id = event->id;
	}
	return true;
}

/*
 * Cuts a run at its marks. One by one: each mark begins a piece, but the first one's piece begins with the run, or with
 * the end of the poll before. In a batch, what was marked before anything was delivered is one piece. It ends where the
 * next packet goes into GRO.
 */
static size_t cut(const struct charge_event *run, const struct charge_event *end, struct piece *pieces)
{
	const struct charge_event *piece_first = NULL;
	bool gro = false, delivered = false, in_batch = false;
	__u64 begin_ns = run->ns;
	size_t n = 0;

	for (const struct charge_event *event = run; event < end; event++) {
		bool is_mark = event->kind == CHARGE_RECEIVE;
		bool is_poll = event->kind == CHARGE_POLL && event + 2 < end;
		/* The last batch of a poll that used up its budget comes after the event. */
		bool ends = event == end - 1 || (is_poll && (piece_first || !gro || event[1].kind != CHARGE_RECEIVE)) ||
			    (piece_first && is_mark && (!in_batch || delivered)) ||
			    (piece_first && delivered && event->kind == CHARGE_GRO);

		if (ends) {
			pieces[n++] = (struct piece){begin_ns, event->ns, piece_first ? piece_first : event, event,
						     piece_first ? in_batch : gro};
			gro &= !is_poll;
			begin_ns = event->ns;
			piece_first = NULL;
		}
		if (event->kind == CHARGE_GRO || event->kind == CHARGE_LIST)
			gro = true;
		delivered |= is_delivery(event->kind);
		if (is_mark && !piece_first) {
			piece_first = event;
			in_batch = gro;
			delivered = false;
		}
	}
	return n;
}

static void count_next(struct totals *totals, const struct charge_event *mark, const struct charge_event *end,
		       bool in_batch)
{
	const struct charge_event *event = mark + 1;

	while (event < end && event->kind != CHARGE_RECEIVE && event->kind != CHARGE_POLL && !is_delivery(event->kind))
		event++;
	totals->next[in_batch][event < end && is_delivery(event->kind) ? event->kind : CHARGE_KINDS]++;
	if (event < end && event->kind == CHARGE_PROBE)
		*(event->id == mark->id ? &totals->probe_same : &totals->probe_other) += 1;
}

static void count_batch(struct totals *totals, const struct piece *piece)
{
	__u64 marks = 0, told = 0;

	for (const struct charge_event *event = piece->first; event < piece->last; event++) {
		marks += event->kind == CHARGE_RECEIVE;
		told += is_told(event);
	}
	totals->batches++;
	totals->batch_packets += marks;
	totals->batches_told += told == marks;
}

/* The packets of a run: 0 for none, 1 for one, 2 for several of one flow, 3 for more flows. */
static int contents(struct totals *totals, const struct charge_event *run, const struct charge_event *end)
{
	__u64 id = 0, marks = 0, last = 0;
	bool mixed = false;

	for (const struct charge_event *event = run; event < end; event++) {
		totals->events[event->kind]++;
		if (event->kind != CHARGE_RECEIVE)
			continue;
		mixed |= marks && event->id != id;
		totals->stretches += event->id != last;
		id = last = event->id;
		marks++;
		totals->segments += event->segments ? event->segments : 1;
		totals->bytes += event->size;
	}
	totals->packets += marks;
	totals->by_packets[marks < 3 ? marks : marks < 9 ? 3 : marks < 65 ? 4 : 5]++;
	return marks < 2 ? (int)marks : mixed ? 3 : 2;
}

static enum class class_of(const struct piece *piece, int holds) {
	if (piece->first == piece->last) return piece->in_batch ? GRO_ONLY : NO_PACKET;
	if (holds < 3) return holds == 1 ? ONE_PACKET : ONE_FLOW;
	if (!piece->in_batch) return MIXED_ONE_BY_ONE;
	return is_pure(piece) ? MIXED_BATCH_PURE : MIXED_BATCH;
}

/* The time after GRO entries of other flows, which GRO holds while this piece's flow is delivered. */
static double foreign_ns(const struct piece *piece)
{
	const struct charge_event *event = piece->first;
	double ns = 0;

	while (event[-1].ns >= piece->begin_ns && event[-1].kind != CHARGE_ENTRY)
		event--;
	for (; event < piece->last; event++)
		if (event->kind == CHARGE_GRO && event->id != piece->first->id)
			ns += (double)(event[1].ns - event->ns);
	return ns;
}

static struct piece pieces[1u << 16];

static void divide_run(void *context, const struct charge_event *run, const struct charge_event *end)
{
	struct totals *totals = context;
	int holds = contents(totals, run, end);
	enum class whole = NO_PACKET;
	size_t n = cut(run, end, pieces);

	totals->runs++;
	totals->ns += (double)(end[-1].ns - run->ns);
	for (size_t i = 0; i < n; i++) {
		const struct piece *piece = &pieces[i];
		enum class class = class_of(piece, holds);

		totals->ns_of[class] += (double)(piece->end_ns - piece->begin_ns);
		if (class > whole)
			whole = class;
		if (class == MIXED_BATCH)
			count_batch(totals, piece);
		else if (class > GRO_ONLY)
			totals->foreign_ns += foreign_ns(piece);
		for (const struct charge_event *event = piece->first; event < piece->last; event++)
			if (event->kind == CHARGE_RECEIVE)
				count_next(totals, event, end, piece->in_batch);
	}
	totals->runs_of[whole]++;
}

static const char *const kind_names[CHARGE_KINDS + 1] = {
	"entry",	 "exit",      "napi_poll",   "gro",	      "list",	 "netif_receive_skb", "tcp_probe",
	"sk_data_ready", "kfree_skb", "consume_skb", "net_dev_queue", "refused", "nothing",
};

static void print_totals(const struct totals *totals, const struct charge_shared *counts)
{
	double runs = totals->runs ? (double)totals->runs : 1, ns = totals->ns > 0 ? totals->ns : 1;

	printf("runs %llu, %.3f ms, packets %llu, segments %llu, bytes %llu, lost %llu\n",
	       (unsigned long long)totals->runs, totals->ns / 1e6, (unsigned long long)totals->packets,
	       (unsigned long long)totals->segments, (unsigned long long)totals->bytes,
	       (unsigned long long)counts->lost);
	for (int class = 0; class < CLASSES; class ++)
		if (totals->runs_of[class] || totals->ns_of[class] > 0)
			printf("  %-28s %6.2f %% of runs %6.2f %% of time\n", class_names[class],
			       100 * (double)totals->runs_of[class] / runs, 100 * totals->ns_of[class] / ns);
	printf("  packets a run: 0: %llu, 1: %llu, 2: %llu, 3-8: %llu, 9-64: %llu, more: %llu; stretches %llu\n",
	       (unsigned long long)totals->by_packets[0], (unsigned long long)totals->by_packets[1],
	       (unsigned long long)totals->by_packets[2], (unsigned long long)totals->by_packets[3],
	       (unsigned long long)totals->by_packets[4], (unsigned long long)totals->by_packets[5],
	       (unsigned long long)totals->stretches);
	if (totals->foreign_ns > 0)
		printf("  in pieces of one flow, after GRO entries of others: %.2f %% of time\n",
		       100 * totals->foreign_ns / ns);
	if (totals->batches)
		printf("  mixed batches %llu of %.1f packets; one delivery event a packet in %.1f %%\n",
		       (unsigned long long)totals->batches, (double)totals->batch_packets / (double)totals->batches,
		       100 * (double)totals->batches_told / (double)totals->batches);
	printf("  inside/outside of runs:");
	for (int kind = CHARGE_POLL; kind < CHARGE_KINDS; kind++)
		if (totals->events[kind] || counts->outside[kind])
			printf(" %s %llu/%llu", kind_names[kind], (unsigned long long)totals->events[kind],
			       (unsigned long long)counts->outside[kind]);
	for (int batch = 0; batch < 2; batch++) {
		printf(batch ? "\n  after a mark, batches:" : "\n  after a mark, one by one:");
		for (int kind = 0; kind <= CHARGE_KINDS; kind++)
			if (totals->next[batch][kind])
				printf(" %s %llu", kind_names[kind], (unsigned long long)totals->next[batch][kind]);
	}
	printf("\n  tcp_probe of the same flow %llu, of another %llu\n", (unsigned long long)totals->probe_same,
	       (unsigned long long)totals->probe_other);
}

/* ---- going over the records ---- */

typedef void run_fn(void *context, const struct charge_event *run, const struct charge_event *end);

/* Calls with each complete run. The events are sorted by CPU, and by time on each. */
static void each_run(const struct records *records, run_fn *fn, void *context)
{
	const struct charge_event *event = (const void *)records->data, *stop = event + records->n, *run = NULL;

	for (; event < stop; event++) {
		if (event->kind == CHARGE_ENTRY)
			run = event;
		if (event->kind != CHARGE_EXIT || !run)
			continue;
		if (run->cpu == event->cpu && event - run < (1 << 16))
			fn(context, run, event + 1);
		run = NULL;
	}
}

static int by_cpu_and_time(const void *a, const void *b)
{
	const struct charge_event *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x < y ? -1 : x > y; /* merge sort keeps the order */
}

static void trace(const char *path, double seconds, struct records *records, struct charge_shared *counts)
{
	struct bpf_object *object = attach(path, "trace_");

	set_gate(object, 1, counts);
	usleep((useconds_t)(seconds * 1e6));
	set_gate(object, 0, counts);
	usleep(1000);
	drain(object, records);
	bpf_object__close(object);
	qsort(records->data, records->n, records->size, by_cpu_and_time);
}

/* ---- dump ---- */

struct longest {
	const struct charge_event *run, *end;
	size_t least, skip;
};

static void dump_run(void *context, const struct charge_event *run, const struct charge_event *end)
{
	struct longest *wanted = context;
	__u64 before_ns = run->ns;

	if ((size_t)(end - run) < wanted->least || !wanted->skip)
		return;
	wanted->skip--;
	for (; run < end; before_ns = run++->ns)
		printf("%u +%5llu %-18s %016llx %u %u\n", run->cpu, (unsigned long long)(run->ns - before_ns),
		       kind_names[run->kind], (unsigned long long)run->id, run->size, run->segments);
	printf("\n");
}

/* ---- cost ---- */

static size_t put_varint(char *to, __u64 value)
{
	size_t n = 0;

	for (; value >= 128; value >>= 7)
		to[n++] = (char)(value | 128);
	to[n++] = (char)value;
	return n;
}

/* Bytes of the records as columns of differences, compressed by block of 4,096, as a tape keeps them. */
static size_t packed_size(const struct records *records)
{
	enum { BLOCK = 4096 };
	static char columns[5 * 10 * BLOCK], packed[LZ4_COMPRESSBOUND(sizeof(columns))];
	const struct charge_stretch *all = (const void *)records->data;
	size_t sum = 0;

	for (size_t at = 0; at < records->n; at += BLOCK) {
		size_t n = records->n - at < BLOCK ? records->n - at : BLOCK, size = 0;

		for (size_t i = 0; i < n; i++)
			size += put_varint(columns + size, i ? all[at + i].end_ns - all[at + i - 1].end_ns : 0);
		for (size_t i = 0; i < n; i++)
			size += put_varint(columns + size, all[at + i].flow % 1000); /* ids are small numbers */
		for (size_t i = 0; i < n; i++)
			size += put_varint(columns + size, all[at + i].packets);
		for (size_t i = 0; i < n; i++)
			size += put_varint(columns + size, all[at + i].segments);
		for (size_t i = 0; i < n; i++)
			size += put_varint(columns + size, all[at + i].bytes);
		sum += (size_t)LZ4_compress_default(columns, packed, (int)size, sizeof(packed));
	}
	return sum;
}

static int by_cpu(const void *a, const void *b)
{
	const struct charge_stretch *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

static int run_command(char **argv)
{
	pid_t pid = fork();
	int status = 1;

	if (!pid) {
		execvp(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return status ? 1 : 0;
}

static int cost(const char *path, const char *group, char **argv)
{
	struct records records = {.size = sizeof(struct charge_stretch)};
	struct bpf_program *program;
	struct bpf_object *object;
	char prefix[64];
	int status;

	snprintf(prefix, sizeof(prefix), "cost_%s__", group);
	object = attach(path, prefix);
	status = run_command(argv);
	bpf_object__for_each_program (program, object) {
		struct bpf_prog_info info = {0};
		__u32 size = sizeof(info);

		if (!bpf_program__autoload(program) || bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) ||
		    !info.run_cnt)
			continue;
		printf("%s: %llu runs of %.1f ns\n", bpf_program__name(program), (unsigned long long)info.run_cnt,
		       (double)info.run_time_ns / (double)info.run_cnt);
	}
	drain(object, &records);
	qsort(records.data, records.n, records.size, by_cpu);
	if (records.n)
		printf("%s: %zu records of %.2f bytes\n", group, records.n,
		       (double)packed_size(&records) / (double)records.n);
	bpf_object__close(object);
	free(records.data);
	return status;
}

int main(int argc, char **argv)
{
	struct records records = {.size = sizeof(struct charge_event)};
	struct longest wanted = {.least = 24};
	struct charge_shared counts;
	struct totals totals = {0};

	if (argc >= 5 && !strcmp(argv[2], "cost"))
		return cost(argv[1], argv[3], argv + 4);
	if (argc < 4 || (strcmp(argv[2], "trace") && strcmp(argv[2], "dump"))) {
		fprintf(stderr, "usage: charge OBJECT trace SECONDS | dump SECONDS RUNS [EVENTS] | "
				"cost GROUP COMMAND...\n");
		return 2;
	}
	trace(argv[1], atof(argv[3]), &records, &counts);
	if (!strcmp(argv[2], "dump")) {
		wanted.skip = argc > 4 ? strtoul(argv[4], NULL, 10) : 1;
		wanted.least = argc > 5 ? strtoul(argv[5], NULL, 10) : 0;
		each_run(&records, dump_run, &wanted);
		return 0;
	}
	each_run(&records, divide_run, &totals);
	print_totals(&totals, &counts);
	free(records.data);
	return 0;
}
