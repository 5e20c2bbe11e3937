// SPDX-License-Identifier: GPL-2.0-only
/*
 * perfetto_test.c - what a trace for Perfetto says of databases of a few rows, packet by packet, read by a reader that
 * shares nothing with the writer; and every field of the traces of the golden tapes, which perfetto.expected has.
 * UPDATE=1 takes them over instead. (Whether Perfetto understands it so: tests/cli/export_perfetto.sh, where its engine
 * is.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report/export/export.h"
#include "tests/support/scratch.h"
#include "tests/support/scratch_db.h"

#define START 1000000

struct fixture {
	char dir[SCRATCH_MAX];
	char path[2 * SCRATCH_MAX];
	struct nt_db *db;
	struct nt_selection selection;
	char *text; /* the trace: a line for each packet */
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	scratch_make(fixture->dir);
	scratch_path(fixture->path, fixture->dir, "t.db");
	fixture->db = scratch_db_new(fixture->path);
	scratch_db_session(fixture->db, 1, START, START + 10000, 2);
	scratch_db_run(fixture->db, "INSERT INTO process(session_id, upid, pid, ppid, name) VALUES (1, 1, 100, 1, "
				    "'web'), (1, 2, 200, 1, 'curl');"
				    "INSERT INTO thread(session_id, utid, tid, upid, name) VALUES (1, 1, 100, 1, "
				    "'web'), (1, 2, 101, 1, 'worker'), "
				    "(1, 3, 200, 2, 'curl')");
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	nt_db_close(fixture->db);
	scratch_remove(fixture->dir);
	free(fixture->text);
	free(fixture);
	return 0;
}

#define SQL(...) scratch_db_run(((struct fixture *)*state)->db, __VA_ARGS__)

/* ---- reading a trace ---- */

/* Fields of packets by their numbers, those of a message with the message's before them: only these are shown. */
static const struct field {
	const char *path, *name;
	enum { NUMBER, REAL, ID, TEXT, PACKED, MESSAGE } type;
} fields[] = {
	{"1", "ftrace", MESSAGE},
	{"1.1", "cpu", NUMBER},
	{"1.3", "lost", NUMBER},
	{"1.2", "event", MESSAGE},
	{"1.2.1", "ts", NUMBER},
	{"1.2.2", "pid", NUMBER},
	{"1.2.5", "flags", NUMBER},
	{"1.2.4", "switch", MESSAGE},
	{"1.2.4.5", "next", TEXT},
	{"1.2.4.6", "pid", NUMBER},
	{"1.2.20", "waking", MESSAGE},
	{"1.2.20.1", "comm", TEXT},
	{"1.2.20.2", "pid", NUMBER},
	{"1.2.20.3", "prio", NUMBER},
	{"1.2.20.5", "target", NUMBER},
	{"1.2.24", "softirq_entry", MESSAGE},
	{"1.2.24.1", "vec", NUMBER},
	{"1.2.25", "softirq_exit", MESSAGE},
	{"1.2.25.1", "vec", NUMBER},
	{"1.2.36", "irq_entry", MESSAGE},
	{"1.2.36.1", "irq", NUMBER},
	{"1.2.36.2", "name", TEXT},
	{"1.2.37", "irq_exit", MESSAGE},
	{"1.2.37.1", "irq", NUMBER},
	{"1.2.37.2", "ret", NUMBER},
	{"1.2.114", "new", MESSAGE},
	{"1.2.114.1", "comm", TEXT},
	{"1.2.114.2", "pid", NUMBER},
	{"1.2.114.3", "prio", NUMBER},
	{"1.2.114.5", "target", NUMBER},
	{"1.2.235", "newtask", MESSAGE},
	{"1.2.235.1", "pid", NUMBER},
	{"1.2.235.2", "comm", TEXT},
	{"1.2.235.3", "clone_flags", NUMBER},
	{"1.4", "compact", MESSAGE},
	{"1.4.1", "switch_ts", PACKED},
	{"1.4.2", "switch_state", PACKED},
	{"1.4.3", "switch_pid", PACKED},
	{"1.4.4", "switch_prio", PACKED},
	{"1.4.6", "switch_name", PACKED},
	{"1.4.5", "names", TEXT},
	{"1.4.7", "waking_ts", PACKED},
	{"1.4.8", "waking_pid", PACKED},
	{"1.4.9", "waking_cpu", PACKED},
	{"1.4.10", "waking_prio", PACKED},
	{"1.4.11", "waking_name", PACKED},
	{"1.4.12", "waking_flags", PACKED},
	{"6", "clocks", MESSAGE},
	{"6.1", "clock", MESSAGE},
	{"6.1.1", "id", NUMBER},
	{"6.1.2", "at", NUMBER},
	{"8", "ts", NUMBER},
	{"9", "stats", MESSAGE},
	{"9.1", "process", MESSAGE},
	{"9.1.1", "pid", NUMBER},
	{"9.1.4", "anon_kb", NUMBER},
	{"9.1.5", "file_kb", NUMBER},
	{"9.1.6", "shmem_kb", NUMBER},
	{"9.1.7", "swap_kb", NUMBER},
	{"11", "event", MESSAGE},
	{"11.9", "type", NUMBER},
	{"11.11", "track", NUMBER},
	{"11.30", "count", NUMBER},
	{"11.44", "value", REAL},
	{"11.47", "flow", ID},
	{"11.48", "flow_end", ID},
	{"45", "system", MESSAGE},
	{"45.1", "utsname", MESSAGE},
	{"45.1.1", "sysname", TEXT},
	{"45.1.3", "release", TEXT},
	{"45.1.4", "machine", TEXT},
	{"45.8", "cpus", NUMBER},
	{"58", "clock", NUMBER},
	{"59", "defaults", MESSAGE},
	{"59.11", "event", MESSAGE},
	{"59.11.11", "track", NUMBER},
	{"60", "track", MESSAGE},
	{"60.1", "uuid", NUMBER},
	{"60.2", "name", TEXT},
	{"60.3", "process", MESSAGE},
	{"60.3.1", "pid", NUMBER},
	{"60.3.6", "name", TEXT},
	{"60.3.8", "label", TEXT},
	{"60.4", "thread", MESSAGE},
	{"60.4.1", "pid", NUMBER},
	{"60.4.2", "tid", NUMBER},
	{"60.4.5", "name", TEXT},
	{"60.5", "parent", NUMBER},
	{"60.8", "counter", MESSAGE},
	{"60.8.3", "unit", NUMBER},
	{"60.8.6", "unit", TEXT},
	{"60.12", "rank", NUMBER},
};

/* Where all fields are shown, those above have names, others their paths. Of the others, these are messages, and these
 * hold several numbers. */
static const char *const messages[] = {"2",    "2.1",  "2.2",  "6",	"6.1",	 "11.4",  "12", "12.2", "12.3",
				       "12.5", "12.6", "12.7", "12.17", "12.19", "12.29", "66", "89"};
static const char *const packed[] = {"12.7.2", "12.19.7"};
static bool shows_all;

struct span {
	const uint8_t *at, *end;
};

static uint64_t take_varint(struct span *in)
{
	uint64_t number = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		assert_true(in->at < in->end);
		number |= (uint64_t)(*in->at & 0x7f) << shift;
		if (*in->at++ < 0x80)
			return number;
	}
	fail_msg("a number does not end");
	return 0;
}

static struct span take_bytes(struct span *in, uint64_t size)
{
	struct span bytes = {in->at, in->at + size};

	assert_true(size <= (uint64_t)(in->end - in->at));
	in->at += size;
	return bytes;
}

static const struct field *find_field(const char *path)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (!strcmp(fields[i].path, path))
			return &fields[i];
	}
	return NULL;
}

static void show_packed(FILE *out, struct span bytes)
{
	for (const char *before = ""; bytes.at < bytes.end; before = ",")
		fprintf(out, "%s%llu", before, (unsigned long long)take_varint(&bytes));
}

static void show_id(FILE *out, struct span bytes)
{
	fputc('=', out);
	while (bytes.at < bytes.end)
		fprintf(out, "%02x", *bytes.at++);
}

static double real_of(struct span bytes)
{
	double real;

	assert_int_equal(bytes.end - bytes.at, sizeof(real));
	memcpy(&real, bytes.at, sizeof(real));
	return real;
}

static void show_text(FILE *out, struct span bytes)
{
	fprintf(out, "'%.*s'", (int)(bytes.end - bytes.at), (const char *)bytes.at);
}

static bool is_one_of(const char *path, const char *const *paths, size_t n)
{
	while (n && strcmp(path, paths[n - 1]) != 0)
		n--;
	return n;
}

static void show_message(FILE *out, const char *parent, struct span message);

/* A field without a name. */
static void show_other(FILE *out, const char *path, unsigned int type, uint64_t number, struct span bytes)
{
	fprintf(out, " %s=", path);
	if (type == 0)
		fprintf(out, "%llu", (unsigned long long)number);
	else if (type == 1)
		show_id(out, bytes);
	else if (is_one_of(path, packed, sizeof(packed) / sizeof(packed[0])))
		show_packed(out, bytes);
	else if (is_one_of(path, messages, sizeof(messages) / sizeof(messages[0])))
		fputc('{', out), show_message(out, path, bytes), fputs(" }", out);
	else
		show_text(out, bytes);
}

/* A track that may be merged with others of its name would have their slices between its own. */
static unsigned int n_named, n_unmerged;

static void note_track(const char *path, uint64_t number)
{
	n_named += !strcmp(path, "60.2");
	n_unmerged += !strcmp(path, "60.15") && number == 2;
}

/* " NAME=1 NAME=0.5 NAME='text' NAME=1,2,3 NAME{ ... }" */
static void show_message(FILE *out, const char *parent, struct span message)
{
	while (message.at < message.end) {
		uint64_t tag = take_varint(&message), number = 0;
		struct span bytes = {0};
		const struct field *field;
		char path[64];

		snprintf(path, sizeof(path), "%s%s%llu", parent, parent[0] ? "." : "", (unsigned long long)tag >> 3);
		field = find_field(path);
		if ((tag & 7) == 0)
			number = take_varint(&message);
		else
			bytes = take_bytes(&message, (tag & 7) == 1 ? 8 : take_varint(&message));
		note_track(path, number);
		if (!field && shows_all)
			show_other(out, path, tag & 7, number, bytes);
		if (!field)
			continue;
		fprintf(out, " %s", field->name);
		if (field->type == NUMBER)
			fprintf(out, "=%llu", (unsigned long long)number);
		else if (field->type == REAL)
			fprintf(out, "=%g", real_of(bytes));
		else if (field->type == ID)
			show_id(out, bytes);
		else if (field->type == TEXT)
			fputc('=', out), show_text(out, bytes);
		else if (field->type == PACKED)
			fputc('=', out), show_packed(out, bytes);
		else
			fputc('{', out), show_message(out, path, bytes), fputs(" }", out);
	}
}

static void show_packets(FILE *out, struct span trace)
{
	while (trace.at < trace.end) {
		assert_int_equal(take_varint(&trace), 1 << 3 | 2);
		show_message(out, "", take_bytes(&trace, take_varint(&trace)));
		fputc('\n', out);
	}
}

/* A trace is packets that hold others, deflated. */
static char *show_trace(struct span trace)
{
	uint8_t *packets = malloc(1u << 20);
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	while (trace.at < trace.end) {
		uLongf length = 1u << 20;
		struct span packet;

		assert_int_equal(take_varint(&trace), 1 << 3 | 2);
		packet = take_bytes(&trace, take_varint(&trace));
		assert_int_equal(take_varint(&packet), 50 << 3 | 2);
		packet = take_bytes(&packet, take_varint(&packet));
		assert_int_equal(uncompress(packets, &length, packet.at, (uLong)(packet.end - packet.at)), Z_OK);
		show_packets(out, (struct span){packets, packets + length});
	}
	fclose(out);
	free(packets);
	return text;
}

/* The trace of a database or tape, as text; to be freed. */
static char *export_of(const char *path, const struct nt_selection *selection)
{
	struct nt_session session;
	struct nt_db *db;
	char error[NT_ERROR_MAX], *data, *text;
	size_t size;
	FILE *out;

	if (nt_load_open(&db, path, NULL, NULL, NULL, error))
		fail_msg("%s", error);
	out = open_memstream(&data, &size);
	if (nt_session_only(db, &session) || nt_export_perfetto(db, &session, selection, out))
		fail_msg("%s", db->error);
	fclose(out);
	nt_db_close(db);
	n_named = n_unmerged = 0;
	text = show_trace((struct span){(uint8_t *)data, (uint8_t *)data + size});
	assert_true(n_unmerged >= n_named);
	free(data);
	return text;
}

/* Exports the database as it is; no more is put into it then. */
static void export_db(struct fixture *fixture)
{
	if (fixture->db)
		scratch_db_finish(fixture->db);
	fixture->db = NULL;
	free(fixture->text);
	fixture->text = export_of(fixture->path, &fixture->selection);
}

/* The trace has this so many times. */
static void expect(struct fixture *fixture, unsigned int times, const char *part)
{
	unsigned int n = 0;

	for (const char *at = fixture->text; (at = strstr(at, part)); at += strlen(part))
		n++;
	if (n != times)
		fail_msg("'%s' is there %u times and not %u:\n%s", part, n, times, fixture->text);
}

/* ---- the head ---- */

static void tells_of_the_system(void **state)
{
	SQL("UPDATE session SET machine = 'riscv64', kernel = '6.12.3-rt', cpus = 7");
	export_db(*state);
	expect(*state, 1, " system{ utsname{ sysname='Linux' release='6.12.3-rt' machine='riscv64' } cpus=7 }\n");
}

static void tells_of_a_system_that_is_not_known(void **state)
{
	SQL("UPDATE session SET machine = NULL, kernel = 'unknown', cpus = 0");
	export_db(*state);
	expect(*state, 1, " system{ utsname{ sysname='Linux' release='5.0 (not known)' } }\n");
}

#define CLOCKS(boot)                                                                                                   \
	" clocks{ clock{ id=3 at=1000000 } clock{ id=6 at=" boot " } clock{ id=1 at=1700000000000000000 } }\n"

/* BOOTTIME is ahead by as much as the best of these said that fit; that of a host that never slept is not. */
static void tells_of_clocks(void **state)
{
	static const struct {
		const char *snapshots, *clocks;
	} cases[] = {
		{"(1, 1000, 6000, 4999)", CLOCKS("1005000")},
		{"(1, 1000, 6000, 5000)", CLOCKS("1000000")},
		{"(1, 6000, 7000, 1000)", CLOCKS("1000000")},
		{"(1, 6000, 13000, 6999)", CLOCKS("1007000")},
		{"(1, 1000, 6000, 0)", CLOCKS("1005000")},
		{"(1, 0, 5000, 0)", CLOCKS("1005000")},
		{"(1, 1000, 6000, 9), (1, 1000, 7000, 8), (1, 1000, 8000, 8), (1, 1000, 9000, 9)", CLOCKS("1006000")},
		/* Those that nobody reads. */
		{"(1, 1000, 6000, -1)", CLOCKS("1000000")},
		{"(1, 1000, 6000, NULL)", CLOCKS("1000000")},
		{"(1, -1, 6000, 5)", CLOCKS("1000000")},
		{"(1, 1000, NULL, 5)", CLOCKS("1000000")},
		{"(1, 6000, 1000, 5), (1, 1000, 2000, 6)", CLOCKS("1001000")},
		{"(1, 0, 1152921504606846976, 5)", CLOCKS("1152921504607846976")},
		{"(1, 0, 1152921504606846977, 5)", CLOCKS("1000000")},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (i) {
			teardown(state);
			setup(state);
		}
		SQL("INSERT INTO clock_snapshot(session_id, ts, boot_ns, uncertainty_ns) VALUES %s",
		    cases[i].snapshots);
		export_db(*state);
		expect(*state, 1, cases[i].clocks);
	}
}

/* A process's cgroup is a label of it, from when there is the process: from its begin on if that is in the recording.
 */
static void tells_of_processes_that_begin(void **state)
{
	SQL("INSERT INTO cgroup(session_id, id, path, label) VALUES (1, 4, '/x', '/a'), (1, 5, '/y', '/b');"
	    "UPDATE process SET cgroup_id = 4 WHERE upid = 1; UPDATE process SET cgroup_id = 5 WHERE upid = 2;"
	    "UPDATE process SET start_ts = 1000300 WHERE upid = 2; UPDATE thread SET start_ts = 1000300 WHERE utid = 3;"
	    "UPDATE thread SET start_ts = 1000400 WHERE utid = 2");
	/* The thread of the process's own id is its main thread: upid is its utid. */
	SQL("UPDATE process SET upid = 3 WHERE upid = 2; UPDATE thread SET upid = 3 WHERE upid = 2");
	export_db(*state);
	expect(*state, 1, "\n track{ uuid=6144 process{ pid=100 name='web' label='cgroup /a' } }\n");
	expect(*state, 1,
	       "\n ts=1000301 clock=3 track{ uuid=6145 process{ pid=200 name='curl' label='cgroup /b' } }\n");
	expect(*state, 2, " newtask{ ");
	expect(*state, 1, " event{ ts=1000300 pid=1 newtask{ pid=200 comm='curl' clone_flags=0 } }");
	expect(*state, 1, " event{ ts=1000400 pid=100 newtask{ pid=101 comm='worker' clone_flags=65536 } }");
}

/* ---- tracks ---- */

/* A lane for each CPU, told once, and the share of the network beside it. */
static void tells_of_lanes_once(void **state)
{
	SQL("INSERT INTO cpu_slice(session_id, ts, dur, cpu, owner, utid) VALUES (1, 1000000, 10, 0, 'task', 1), "
	    "(1, 1000010, 20, 0, 'send', 1), (1, 1000030, 9970, 0, 'idle', 0), (1, 1000000, 5, 1, 'idle', 0), "
	    "(1, 1000005, 9995, 1, 'net_rx', 0)");
	export_db(*state);
	expect(*state, 1, " track{ uuid=1 name='Who had each CPU' ");
	expect(*state, 1, " track{ uuid=1024 parent=1 name='CPU 0' rank=1 }\n");
	expect(*state, 1, " track{ uuid=1025 parent=1 name='CPU 1' rank=2 }\n");
	expect(*state, 1, " track{ uuid=2048 parent=2 name='CPU 0' counter{ unit='%' } }\n");
	expect(*state, 1, " track{ uuid=2049 parent=2 name='CPU 1' counter{ unit='%' } }\n");
	expect(*state, 2, " parent=1 ");
	expect(*state, 2, " parent=2 ");
	/* Each slice has a begin and an end, on the track that its sequence names. */
	expect(*state, 1, " defaults{ event{ track=1024 } }\n");
	expect(*state, 1, " defaults{ event{ track=1025 } }\n");
	expect(*state, 5, " event{ type=1 }\n");
	expect(*state, 5, " event{ type=2 }\n");
}

/* The network's share of each 100 ms of which anything is known, beside a track that is told once. */
static void tells_of_shares_by_bucket(void **state)
{
	SQL("UPDATE session SET end_ts = start_ts + 1050000000, dur = 1050000000;"
	    "INSERT INTO cpu_slice(session_id, ts, dur, cpu, owner) VALUES (1, 1000000, 75000000, 0, 'idle'), "
	    "(1, 76000000, 50000000, 0, 'net_rx'), (1, 126000000, 75000000, 0, 'uncovered'), "
	    "(1, 201000000, 100000000, 0, 'offline'), (1, 301000000, 750000000, 0, 'send')");
	export_db(*state);
	expect(*state, 1, " track{ uuid=2 name='Network's share of each CPU' ");
	expect(*state, 1, " track{ uuid=2048 ");
	expect(*state, 5, " event{ type=4 track=2048 ");
	expect(*state, 1, " event{ type=4 track=2048 value=25 }\n");
	/* Uncovered time is nobody's: the network has all of the 25 ms that are known. Of a slice that fills many
	 * buckets, the first, the last, and the one that it fills in part are told. */
	expect(*state, 4, " event{ type=4 track=2048 value=100 }\n");
}

/* Packets are on the track of the thread that reads, or on that of the CPU, which has its name. */
static void tells_of_packets_on_tracks_with_names(void **state)
{
	SQL("INSERT INTO skb_latency(session_id, ts, cpu, hook, latency_ns, stamp_ns, utid, queue_len, weight, flags) "
	    "VALUES "
	    "(1, 1000100, 1, 'ip-start', 5, 0, NULL, 0, 1, ''), (1, 1000200, 1, 'ip-start', 5, 0, NULL, 0, 1, ''), "
	    "(1, 1000300, 0, 'udp-socket-read', 5, 0, 2, 1, 1, ''), (1, 1000301, 0, 'udp-socket-read', 5, 0, 2, 1, 1, "
	    "'');"
	    "INSERT INTO skb_drop(session_id, ts, cpu, reason, location, length) VALUES (1, 1000150, 1, 'NO_SOCKET', "
	    "'f', 1), "
	    "(1, 1000160, 0, 'NO_SOCKET', 'f', 1);"
	    "INSERT INTO tcp_retransmit(session_id, ts, cpu, what, length) VALUES (1, 1000170, 0, 'data', 1)");
	export_db(*state);
	expect(*state, 1, " track{ uuid=3 name='Packets' ");
	expect(*state, 1, " track{ uuid=3072 parent=3 name='CPU 0' rank=1 }\n");
	expect(*state, 1, " track{ uuid=3073 parent=3 name='CPU 1' rank=2 }\n");
	expect(*state, 2, " parent=3 ");
	expect(*state, 2, " event{ type=3 track=3072 }\n");
	expect(*state, 3, " event{ type=3 track=3073 }\n");
	expect(*state, 1, " thread{ pid=100 tid=101 name='worker' }");
	expect(*state, 1, " track{ uuid=6144 thread{");
	expect(*state, 2, " event{ type=3 track=6144 }\n");
}

/* The id of a flow at the n-th place where it is told so. */
static const char *flow(struct fixture *fixture, const char *name, int n)
{
	const char *at = fixture->text;

	while (at && n--)
		at = strstr(at + 1, name);
	assert_non_null(at);
	return at + strlen(name);
}

/* From where its socket took a packet to where it was read: the two have socket and stamp in common. */
static void tells_of_the_way_of_packets(void **state)
{
	struct fixture *fixture = *state;

	SQL("INSERT INTO skb_latency(session_id, ts, cpu, hook, latency_ns, stamp_ns, socket_id, queue_len, weight, "
	    "flags) VALUES "
	    "(1, 1000100, 0, 'udp-socket-enqueued', 5, 50, 7, 0, 1, ''), (1, 1000110, 0, 'udp-socket-read', 5, 50, 7, "
	    "0, 1, ''), "
	    "(1, 1000120, 0, 'udp-socket-enqueued', 5, 51, 7, 0, 1, ''), (1, 1000130, 0, 'udp-socket-enqueued', 5, 50, "
	    "8, 0, 1, ''), "
	    "(1, 1000140, 0, 'udp-socket-enqueued', 5, 50, NULL, 0, 1, ''), (1, 1000150, 0, 'udp-socket-read', 5, "
	    "NULL, 7, 0, 1, ''), "
	    "(1, 1000160, 0, 'ip-start', 5, 50, 7, 0, 1, ''), (1, 1000170, 0, 'x', 5, 50, 7, 0, 1, '')");
	export_db(fixture);
	expect(fixture, 3, " flow=");
	expect(fixture, 1, " flow_end=");
	assert_memory_equal(flow(fixture, " flow=", 1), flow(fixture, " flow_end=", 1), 16);
	assert_memory_not_equal(flow(fixture, " flow=", 1), flow(fixture, " flow=", 2), 16);
	assert_memory_not_equal(flow(fixture, " flow=", 1), flow(fixture, " flow=", 3), 16);
}

static void tells_of_operations_on_tracks_with_names(void **state)
{
	SQL("INSERT INTO sock_op(session_id, ts, dur, cpu_ns, utid, op, syscall, bytes, result, flags, cpu) VALUES "
	    "(1, 1000100, 10, 10, 3, 'send', 'write', 1, 'ok', '', 0), (1, 1000200, 10, 10, 3, 'send', 'write', 1, "
	    "'ok', '', 1), "
	    "(1, 1000300, 10, 10, NULL, 'recv', 'read', 1, 'ok', '', 1), (1, 1000400, NULL, NULL, NULL, 'recv', "
	    "'read', 1, 'ok', "
	    "'', 1)");
	export_db(*state);
	expect(*state, 1, " track{ uuid=3 name='Packets' ");
	expect(*state, 1, " track{ uuid=5121 parent=3 name='CPU 1: operations of no known thread' rank=1026 }\n");
	expect(*state, 1, " event{ type=1 track=5121 }\n");
	expect(*state, 1, " event{ type=2 track=5121 }\n");
	expect(*state, 1, " event{ type=3 track=5121 }\n");
	expect(*state, 1, " track{ uuid=6144 thread{ pid=200 tid=200 name='curl' }");
	expect(*state, 2, " event{ type=1 track=6144 }\n");
	expect(*state, 2, " event{ type=2 track=6144 }\n");
}

/* ---- counters and losses ---- */

static void tells_of_counters_of_packets(void **state)
{
	struct fixture *fixture = *state;

	SQL("INSERT INTO proc_counter(session_id, ts_begin, ts_end, source, cpu, name, value) VALUES "
	    "(1, 1000090, 1000100, '/proc/net/softnet_stat', 0, 'processed', 11), (1, 1000190, 1000200, "
	    "'/proc/net/softnet_stat', 0, "
	    "'processed', 12), (1, 1000190, 1000200, '/proc/net/softnet_stat', 1, 'processed', 13), (1, 1000190, "
	    "1000200, "
	    "'/proc/net/snmp', NULL, 'Udp.InErrors', 14), (1, 1000190, 1000200, '/proc/net/snmp', NULL, 'processed', "
	    "15), "
	    "(1, 1000190, 1000200, '/proc/net/softnet_stat', 1, 'Udp.InErrors', 16), (1, 1000190, 1000200, "
	    "'/proc/stat', 1, "
	    "'processed', 17); INSERT INTO cpu_slice(session_id, ts, dur, cpu, owner) VALUES (1, 1000000, 10000, 1, "
	    "'offline')");
	export_db(fixture);
	expect(fixture, 1, " track{ uuid=5 name='Counters of the host' ");
	expect(fixture, 1, " track{ uuid=6144 parent=5 name='softnet processed, CPU 0' counter{ unit=2 } }\n");
	expect(fixture, 1, " track{ uuid=6145 parent=5 name='softnet processed, CPU 1' counter{ unit=2 } }\n");
	expect(fixture, 1, " track{ uuid=6146 parent=5 name='Udp.InErrors' counter{ unit=2 } }\n");
	expect(fixture, 4, " event{ type=4 ");
	expect(fixture, 1, " event{ type=4 track=6144 count=11 }\n");
	expect(fixture, 1, " event{ type=4 track=6144 count=12 }\n");
	expect(fixture, 1, " event{ type=4 track=6145 count=13 }\n");
	expect(fixture, 1, " event{ type=4 track=6146 count=14 }\n");
	/* Of one CPU, and of what is of none. */
	fixture->selection.n_cpus = 1;
	fixture->selection.cpus[0].first = fixture->selection.cpus[0].last = 1;
	export_db(fixture);
	expect(fixture, 2, " count=");
	expect(fixture, 1, " count=13 }\n");
	expect(fixture, 1, " count=14 }\n");
}

/* Each kind has its track of ranges, and each CPU counts what it lost; samples that are lost leave no gap in switches.
 */
static void tells_of_losses(void **state)
{
	struct fixture *fixture = *state;

	SQL("INSERT INTO loss(session_id, ts, dur, cpu, kind, count, why) VALUES (1, 1000100, 50, 0, 'op', 3, 'ring "
	    "full'), "
	    "(1, 1000100, 20, 0, 'irq', 4, 'ring full'), (1, 1000300, 20, 0, 'op', NULL, 'missing block'), "
	    "(1, 1000100, 20, 1, 'latency', 5, 'ring full')");
	export_db(fixture);
	expect(fixture, 1, " track{ uuid=4 name='Lost by the recording' ");
	expect(fixture, 1, " track{ uuid=6144 parent=4 name='CPU 0: op' rank=1 }\n");
	expect(fixture, 1, " track{ uuid=6145 parent=4 name='CPU 0: irq' rank=1 }\n");
	expect(fixture, 1, " track{ uuid=6146 parent=4 name='CPU 1: latency' rank=2 }\n");
	expect(fixture, 1, " track{ uuid=4096 parent=4 name='CPU 0: records' counter{ unit=2 } }\n");
	expect(fixture, 1, " track{ uuid=4097 parent=4 name='CPU 1: records' counter{ unit=2 } }\n");
	expect(fixture, 2, " event{ type=1 track=6144 }\n");
	expect(fixture, 2, " event{ type=2 track=6144 }\n");
	expect(fixture, 1, " event{ type=4 track=4096 count=3 }\n");
	expect(fixture, 2, " event{ type=4 track=4096 count=7 }\n");
	expect(fixture, 1, " event{ type=4 track=4097 count=5 }\n");
	expect(fixture, 1, " ftrace{ cpu=0 lost=1 }\n");
	expect(fixture, 1, " lost=1 ");
}

/* ---- the scheduler's events ---- */

/* Each stay begins with a switch, at which the one before ends in its state; the last ends with the recording. */
static void tells_of_switches(void **state)
{
	SQL("INSERT INTO sched_slice(session_id, ts, dur, cpu, utid, end_state, priority) VALUES (1, 1000000, 100, 0, "
	    "1, 'S', 110), "
	    "(1, 1000100, 100, 0, 3, 'R+', 120), (1, 1000200, 9800, 0, 0, NULL, NULL), (1, 1000500, 500, 1, 2, 'D', "
	    "130), "
	    "(1, 1002000, 500, 1, 2, NULL, NULL)");
	export_db(*state);
	expect(*state, 1, " ts=1000000 pid=0 switch{ next='web' pid=100 }");
	expect(*state, 1,
	       " switch_ts=1000100,100,9800 switch_state=1,256,192 switch_pid=200,0,0 switch_prio=120,120,120 ");
	/* On CPU 1 nobody knows who ran before, between and after the stays. */
	expect(*state, 1, " ts=1000000 pid=0 switch{ next='uncovered' pid=1073741825 }");
	expect(*state, 1,
	       " switch_ts=1000500,500,1000,500,7500 switch_state=192,2,192,192,192 "
	       "switch_pid=101,1073741825,101,1073741825,0 switch_prio=130,120,130,120,120 ");
}

static void wake(void **state, int ts, int cpu, const char *utid, const char *waker, const char *what)
{
	SQL("INSERT INTO sched_wakeup(session_id, ts, cpu, utid, target_cpu, waker_utid, priority, what, context, "
	    "was_runnable) "
	    "VALUES (1, %d, %d, %s, 1, %s, 119, '%s', 'softirq', 0)",
	    START + ts, cpu, utid, waker, what);
}

/* Threads 1 to 3 run in turn on CPU 0, and on CPU 1 the idle task does. */
static void switches(void **state)
{
	SQL("INSERT INTO sched_slice(session_id, ts, dur, cpu, utid, end_state, priority) VALUES (1, 1000000, 100, 0, "
	    "1, 'S', 120), "
	    "(1, 1000100, 100, 0, 2, 'S', 120), (1, 1000200, 9800, 0, 3, NULL, NULL), (1, 1000000, 10000, 1, 0, NULL, "
	    "NULL)");
}

static void tells_who_is_woken(void **state)
{
	switches(state);
	wake(state, 50, 0, "2", "1", "waking");
	wake(state, 150, 0, "3", "0", "waking");
	wake(state, 160, 0, "1", "NULL", "new");
	export_db(*state);
	/* By what wakes them, when, on which CPU, of which priority; names are those of the bundle. */
	expect(*state, 1, " waking_ts=1000050,100 waking_pid=101,200 waking_cpu=1,1 waking_prio=119,119 ");
	expect(*state, 1, " waking_flags=16,16");
	expect(*state, 1, " event{ ts=1000160 pid=0 new{ comm='web' pid=100 prio=119 target=1 } flags=16 }");
}

/* Those before a CPU's first switch are told in full. */
static void tells_who_is_woken_before_the_first_switch(void **state)
{
	SQL("INSERT INTO sched_slice(session_id, ts, dur, cpu, utid, end_state, priority) VALUES (1, 1000500, 9500, 0, "
	    "1, NULL, 120)");
	wake(state, 50, 1, "3", "2", "waking");
	export_db(*state);
	expect(*state, 1, " event{ ts=1000050 pid=101 waking{ comm='curl' pid=200 prio=119 target=1 } flags=16 }");
}

static void spans(void **state)
{
	static const char *const who[] = {"1", "3", "0", "NULL"};

	switches(state);
	for (int i = 0; i < 4; i++)
		SQL("INSERT INTO softirq_slice(session_id, ts, dur, cpu, vec, context, utid) VALUES (1, %d, 5, 0, "
		    "'NET_RX', 'op', %s);"
		    "INSERT INTO irq_slice(session_id, ts, dur, cpu, irq, name, type, utid) VALUES (1, %d, 5, 0, 9, "
		    "'eth', "
		    "'device', %s)",
		    START + 10 + 10 * i, who[i], START + 500 + 10 * i, who[i]);
	wake(state, 50, 0, "2", "1", "waking");
	wake(state, 150, 0, "3", "1", "waking");
}

static void tells_of_softirqs_and_interrupts(void **state)
{
	static const int pids[] = {100, 200, 0, 0};

	spans(state);
	export_db(*state);
	for (int i = 0; i < 4; i++) {
		char part[200];

		snprintf(part, sizeof(part), " event{ ts=%d pid=%d softirq_entry{ vec=3 } }", START + 10 + 10 * i,
			 pids[i]);
		expect(*state, 1, part);
		snprintf(part, sizeof(part), " event{ ts=%d pid=%d softirq_exit{ vec=3 } }", START + 15 + 10 * i,
			 pids[i]);
		expect(*state, 1, part);
		snprintf(part, sizeof(part), " event{ ts=%d pid=%d irq_entry{ irq=9 name='eth' } }",
			 START + 500 + 10 * i, pids[i]);
		expect(*state, 1, part);
		snprintf(part, sizeof(part), " event{ ts=%d pid=%d irq_exit{ irq=9 ret=1 } }", START + 505 + 10 * i,
			 pids[i]);
		expect(*state, 1, part);
	}
	expect(*state, 1, " waking_pid=101,200 ");
}

/* With --process: what ran while one of its threads was on the CPU, and who of them was woken. */
static void tells_of_one_process(void **state)
{
	struct fixture *fixture = *state;

	spans(state);
	fixture->selection.process = "web";
	export_db(fixture);
	expect(fixture, 1, " softirq_entry{ ");
	expect(fixture, 1, " event{ ts=1000010 pid=100 softirq_entry{ vec=3 } }");
	expect(fixture, 1, " irq_entry{ ");
	expect(fixture, 1, " event{ ts=1000500 pid=100 irq_entry{ irq=9 name='eth' } }");
	expect(fixture, 1, " waking_pid=101 ");
}

/* ---- all fields ---- */

#define EXPECTED "tests/unit/export/perfetto.expected"
#define MAX_SHOWN 500 /* of a line, in pieces of */
#define PIECE 110

struct shapes {
	char *texts[1000];
	size_t n;
};

/* The first line of its shape, which is what it says but for numbers. */
static bool is_new_shape(struct shapes *shapes, const char *line, size_t n)
{
	char *shape = calloc(1, n + 1);
	size_t length = 0;

	assert_non_null(shape);
	for (size_t i = 0; i < n; i++) {
		if (line[i] < '0' || line[i] > '9')
			shape[length++] = line[i];
	}
	for (size_t i = 0; i < shapes->n; i++) {
		if (!strcmp(shape, shapes->texts[i])) {
			free(shape);
			return false;
		}
	}
	assert_true(shapes->n < sizeof(shapes->texts) / sizeof(shapes->texts[0]));
	shapes->texts[shapes->n++] = shape;
	return true;
}

static void show_pieces(FILE *out, const char *line, size_t n)
{
	for (size_t at = 0; at < n && at < MAX_SHOWN; at += PIECE)
		fprintf(out, "%s%.*s\n", at ? "\t" : "", (int)(n - at < PIECE ? n - at : PIECE), line + at);
}

/* Lines of shapes that are new; and of all of the trace a sum (FNV-1a). */
static void sum_up(FILE *out, struct shapes *shapes, const char *trace)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (const char *at = trace; *at; at++)
		sum = (sum ^ (unsigned char)*at) * 0x100000001b3;
	for (size_t n; *trace; trace += n + 1) {
		n = strcspn(trace, "\n");
		if (is_new_shape(shapes, trace, n))
			show_pieces(out, trace, n);
	}
	fprintf(out, "sum of all its lines: %016llx\n", (unsigned long long)sum);
}

static char *traces_of_golden_tapes(void)
{
	static const char *const tapes[] = {"v1",	"v1-polls",   "v1-samples", "v1-stacks",   "v1-wakeups",
					    "v1-flows", "v1-charges", "v1-fates",   "v1-holders",  "v1-elsewhere",
					    "v1-waits", "v1-disks",   "v1-memory",  "v1-readings", "v1-kmem"};
	const struct nt_selection all = {0};
	struct shapes shapes = {0};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	shows_all = true;
	for (size_t i = 0; i < sizeof(tapes) / sizeof(tapes[0]); i++) {
		char path[64], *trace;

		snprintf(path, sizeof(path), "tests/golden/%s.tape", tapes[i]);
		trace = export_of(path, &all);
		fprintf(out, "%s\n", path);
		sum_up(out, &shapes, trace);
		free(trace);
	}
	shows_all = false;
	fclose(out);
	while (shapes.n)
		free(shapes.texts[--shapes.n]);
	return text;
}

static void compare_lines(FILE *expected, const char *text)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	int number = 1;

	for (; (n = getline(&line, &size, expected)) > 0; number++, text += n) {
		if (strncmp(line, text, (size_t)n) != 0)
			fail_msg("line %d is\n%.*s\nand not as in " EXPECTED ":\n%s", number, (int)strcspn(text, "\n"),
				 text, line);
	}
	free(line);
	assert_string_equal(text, "");
}

static void tells_all_of_the_golden_tapes(void **state)
{
	char *text = traces_of_golden_tapes();
	bool is_update = getenv("UPDATE") != NULL;
	FILE *file = fopen(EXPECTED, is_update ? "w" : "r");

	(void)state;
	assert_non_null(file);
	if (is_update)
		fputs(text, file);
	else
		compare_lines(file, text);
	fclose(file);
	free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(tells_of_the_system),
		TEST(tells_of_a_system_that_is_not_known),
		TEST(tells_of_clocks),
		TEST(tells_of_processes_that_begin),
		TEST(tells_of_lanes_once),
		TEST(tells_of_shares_by_bucket),
		TEST(tells_of_packets_on_tracks_with_names),
		TEST(tells_of_operations_on_tracks_with_names),
		TEST(tells_of_counters_of_packets),
		TEST(tells_of_losses),
		TEST(tells_of_the_way_of_packets),
		TEST(tells_of_switches),
		TEST(tells_who_is_woken),
		TEST(tells_who_is_woken_before_the_first_switch),
		TEST(tells_of_softirqs_and_interrupts),
		TEST(tells_of_one_process),
		cmocka_unit_test(tells_all_of_the_golden_tapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
