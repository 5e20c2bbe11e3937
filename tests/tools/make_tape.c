// SPDX-License-Identifier: GPL-2.0-only
/*
 * make_tape.c - writes a small tape, the same each time: make_tape SCENARIO DIR [MILLISECONDS [SEED]]. For the cli
 * tests.
 *
 *   hand        two CPUs, 1 ms, few enough records to reckon by hand (below)
 *   traffic     a simulated host, two CPUs
 *   wide        the same with 64 CPUs
 *   chunks      the same in several chunks
 *   loss        the same, with a stretch on CPU 0 of which the ring lost the records
 *   samples     the same as traffic, with samples and losses of samples between the records
 *   steal       the same on a virtual machine
 *   partial     the same, never finished
 *   dropped     the same with a block missing that nobody declared
 *   undeclared  as hand, but a switch comes from a task that was not on the CPU
 *   hotplug     CPU 1 goes away and comes back
 *   miscounted  as traffic, but the kernel side counted other softirqs and other records
 *   hostile     as hand, with names that are no text, and a snapshot that is none
 *   markup      as hand, with names that a browser would take for markup and run
 *   containers  as hand, but web runs in a container and curl in a pod; and cgroups in which nothing runs
 *   empty       no events at all
 *   unclocked   a sample of latency, and no snapshot of the clocks
 *   month       31 days with little in them, and stacks
 *   steps       the realtime clock is set forward by 1 s in each of so many milliseconds
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/traffic.h"

#define US 1000ull
#define MS 1000000ull
#define HOUR (3600000 * MS)
#define DAY (24 * HOUR)
#define WEB_CGROUP "/system.slice/web.service"

static uint32_t n_cpus(const char *scenario)
{
	return strcmp(scenario, "wide") ? 2 : 64;
}

/* NULL: those that are always on. */
static const char *probes_of(const char *scenario)
{
	if (!strcmp(scenario, "samples"))
		return "sched,softirq,irq,socket,latency,drops,retransmits,wakeups,stacks";
	if (!strcmp(scenario, "unclocked"))
		return "sched,softirq,irq,socket,latency";
	return strcmp(scenario, "month") ? NULL : "sched,softirq,irq,socket,stacks";
}

static struct tape_gen *open_tape(const char *dir, const char *scenario, uint8_t session)
{
	const struct tape_gen_config config = {
		.dir = dir,
		.n_cpus = n_cpus(scenario),
		.session = session,
		.virtual = strcmp(scenario, "steal") ? NULL : "kvm",
		.drop = strcmp(scenario, "dropped") ? 0 : 3,
		.probes = probes_of(scenario),
		.samples = strcmp(scenario, "samples") ? 0 : 1,
	};

	return tape_gen_new(&config);
}

static void hand_tasks(struct tape_gen *gen, const char *name)
{
	gen_task(gen, 0, GEN_BEFORE, 1, 1, 100, 100, 1, NT_TASK_SEED, name);
	gen_task(gen, 0, GEN_BEFORE, 2, 1, 101, 100, 1, NT_TASK_SEED, "web-worker");
	gen_task(gen, 100 * US, 100 * US, 3, 3, 200, 200, 2, NT_TASK_FORK, "bash");
	gen_task(gen, 101 * US, 100 * US, 3, 3, 200, 200, 2, NT_TASK_EXEC, "curl");
	gen_task(gen, 900 * US, 100 * US, 3, 3, 200, 200, 2, NT_TASK_EXIT, "curl");
	gen_socket(gen, 1, 6, "10.0.0.1", 80, "10.0.0.2", 40000);
	gen_socket(gen, 2, 17, "::1", 53, "::", 0);
	gen_irq_name(gen, NT_IRQ_VECTOR, 236, "LOC");
}

static void hand_identities(struct tape_gen *gen, const char *name, const char *cgroup)
{
	gen_cgroup(gen, 1, cgroup);
	gen_cgroup(gen, 2, "/user.slice");
	hand_tasks(gen, name);
}

/*
 * CPU 0: idle 0-100, web (task 1) 100-500, idle 500-1000.
 *   web sends on socket 1 from 150 to 250, in it NET_RX 180-220, and in that the timer 190-195: 60 us of send.
 *   It receives on socket 1 from 300, sleeps in it at 500.
 * CPU 1: the idle task 0-100, curl (task 3) 100-600, web 600-900 (migrated), idle.
 *   curl: EAGAIN 200-210 on socket 2 (10 us). TIMER softirq 400-420 on the way out of the timer 390-400.
 *   web's receive goes on at 600 and ends at 650 with 500 bytes: 200 us on CPU 0 and 50 us on CPU 1; it took 350 us.
 *   Then a peek 700-720, of 100 bytes. Task 4, which nobody has a name for, from 900 to the end.
 * CPU 0, us: send 60, recv 200, net_rx 35, hardirq 5, task 100, idle 600.
 * CPU 1, us: send 10, recv 70, softirq 20, hardirq 10, task 790, idle 100.
 */
static void hand_events(struct tape_gen *gen, bool undeclared)
{
	gen_state(gen, 0, 0, 0, NT_STATE_START, 0);
	gen_switch(gen, 0, 100 * US, 0, 0, 1, 0);
	gen_irq(gen, 0, 190 * US, 195 * US, NT_IRQ_VECTOR, 236);
	gen_softirq(gen, 0, 180 * US, 220 * US, NT_VEC_NET_RX, NT_SOFTIRQ_BH_ENABLE);
	gen_op(gen, 0, 150 * US, 250 * US, NT_SEND, NT_CALL_sendto, 1, 1000, 0);
	gen_open(gen, 0, 500 * US, NT_OPEN_OP, NT_RECV, NT_CALL_recvfrom, 300 * US, 1);
	gen_switch(gen, 0, 500 * US, 1, 1, 0, 1);
	gen_state(gen, 0, 1000 * US, 0, NT_STATE_STOP, 0);

	gen_state(gen, 1, 0, 0, NT_STATE_START, 0);
	gen_switch(gen, 1, 100 * US, undeclared ? 2 : 0, 0, 3, 0);
	gen_op(gen, 1, 200 * US, 210 * US, NT_SEND, NT_CALL_sendmsg, 2, -11, 0);
	gen_irq(gen, 1, 390 * US, 400 * US, NT_IRQ_VECTOR, 236);
	gen_softirq(gen, 1, 400 * US, 420 * US, 1, NT_SOFTIRQ_IRQ_EXIT);
	gen_switch(gen, 1, 600 * US, 3, NT_SWITCH_PREEMPTED, 1, 0);
	gen_op(gen, 1, 300 * US, 650 * US, NT_RECV, NT_CALL_recvfrom, 1, 500, 0);
	gen_op(gen, 1, 700 * US, 720 * US, NT_RECV, NT_CALL_recvmsg, 1, 100, NT_OP_PEEK);
	gen_switch(gen, 1, 900 * US, 1, 2, 4, 0);
	gen_state(gen, 1, 1000 * US, 4, NT_STATE_STOP, 0);
}

static void hand_snapshots(struct tape_gen *gen)
{
	static const char before[] = "          CPU0 CPU1\n TIMER: 10 20\nNET_RX: 30 40\n";
	static const char after[] = "          CPU0 CPU1\n TIMER: 10 21\nNET_RX: 31 40\n";

	tape_gen_clock(gen, GEN_START_NS + 1000);
	tape_gen_proc_snapshot(gen, GEN_START_NS + 10 * US, GEN_START_NS + 20 * US, "/proc/softirqs", before);
	tape_gen_proc_snapshot(gen, GEN_START_NS + 980 * US, GEN_START_NS + 990 * US, "/proc/softirqs", after);
	tape_gen_proc_snapshot(gen, GEN_START_NS + 990 * US, GEN_START_NS + 991 * US, "nettape/programs",
			       "nt_sched_switch recorded=5 lost=0 misses=0\nnt_recv_length recorded=2 lost=0 "
			       "skipped_family=3 misses=0\n");
	tape_gen_proc_snapshot(gen, GEN_START_NS + 990 * US, GEN_START_NS + 991 * US, "nettape/self",
			       "user_ns=1000\nsystem_ns=2000\nmax_rss_kib=3000\n");
}

static void hand(const char *dir, bool undeclared)
{
	struct tape_gen *gen = open_tape(dir, "hand", 0x11);

	hand_identities(gen, "web", WEB_CGROUP);
	hand_events(gen, undeclared);
	hand_snapshots(gen);
	tape_gen_counters(gen, GEN_START_NS + 1000 * US);
	tape_gen_finish(gen, GEN_START_NS + 1000 * US, true);
}

static void hostile(const char *dir)
{
	const struct tape_gen_config config = {.dir = dir, .n_cpus = 2, .session = 0x66, .host = "\033[31mred\xff"};
	struct tape_gen *gen = tape_gen_new(&config);

	hand_identities(gen, "a\033]0;b\a\n\"\xc3", WEB_CGROUP);
	hand_events(gen, false);
	tape_gen_proc_snapshot(gen, GEN_START_NS + 10 * US, GEN_START_NS + 20 * US, "/proc/softirqs",
			       "CPUx\nNET_RX 1\n: 5\nTIMER: 99999999999999999999\n");
	tape_gen_proc_snapshot(gen, GEN_START_NS + 10 * US, GEN_START_NS + 20 * US, "/proc/stat",
			       "cpu-1 5\ncpu0 a b c\n\n\nintr\n");
	tape_gen_finish(gen, GEN_START_NS + 1000 * US, true);
}

static void markup(const char *dir)
{
	const struct tape_gen_config config = {
		.dir = dir, .n_cpus = 2, .session = 0x67, .host = "</title></script><img src=x onerror=alert(1)>"};
	struct tape_gen *gen = tape_gen_new(&config);

	tape_gen_meta(gen, "uncovered", "<!--<script>]]>&lt;b&gt; \xe2\x80\xae reversed \xe2\x80\xa8 line");
	hand_identities(gen, "</script><b>", "/</script><script>alert(2)</script>\"'><svg onload=alert(3)>@SCRIPT@");
	hand_events(gen, false);
	tape_gen_finish(gen, GEN_START_NS + 1000 * US, true);
}

#define ID(first) first "17563583925ffdbd40a64efb2aaffe58638e57add8becaf460fe74f5b1c"
#define POD "/kubepods.slice/kubepods-pod2ca4a155_3599_498d_bb9d_4446693fa3ea.slice/"

static void containers(const char *dir)
{
	static const char *const paths[] = {
		"/system.slice/docker-" ID("4f0c9") ".scope",
		POD "cri-containerd-" ID("5eed9") ".scope",
		POD "crio-" ID("5eeda") ".scope/container",
		"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID("70000") ".scope",
		"/machine.slice/libpod-conmon-" ID("70000") ".scope",
		"/system.slice/docker-" ID("4f0c9") ".scope/system.slice/nginx.service",
		"/system.slice/system-getty.slice/getty@tty1.service",
		"/user.slice/user-1000.slice/user@1000.service/app.slice/web.service",
		"/lxc.payload.box",
		"/docker/\033]0;x\a\n\xff",
		"/",
	};
	struct tape_gen *gen = open_tape(dir, "containers", 0x12);

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		gen_cgroup(gen, i + 1, paths[i]);
	hand_tasks(gen, "web");
	hand_events(gen, false);
	tape_gen_finish(gen, GEN_START_NS + 1000 * US, true);
}

static void hotplug(const char *dir)
{
	struct tape_gen *gen = open_tape(dir, "hotplug", 0x55);
	union nt_any away = {.as_hotplug = {.end_ns = GEN_START_NS + 400 * US, .kind = NT_HOTPLUG, .online = 0}};
	union nt_any back = {.as_hotplug = {.end_ns = GEN_START_NS + 700 * US, .kind = NT_HOTPLUG, .online = 1}};

	gen_state(gen, 0, 0, 0, NT_STATE_START, 0);
	gen_state(gen, 0, 1000 * US, 0, NT_STATE_STOP, 0);
	gen_state(gen, 1, 0, 0, NT_STATE_START, 0);
	tape_gen_event(gen, 1, &away);
	tape_gen_event(gen, 1, &back);
	gen_state(gen, 1, 700 * US, 0, NT_STATE_START, 0);
	gen_state(gen, 1, 1000 * US, 0, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 1000 * US, true);
}

static void unclocked(const char *dir)
{
	struct tape_gen *gen = open_tape(dir, "unclocked", 0x88);
	union nt_any sample = {.as_latency = {.end_ns = GEN_START_NS + 500 * US,
					      .kind = NT_LATENCY,
					      .hook = NT_HOOK_ip_start,
					      .stamp_ns = GEN_REALTIME_NS,
					      .weight = 1}};

	for (uint32_t cpu = 0; cpu < 2; cpu++)
		gen_state(gen, cpu, 0, 0, NT_STATE_START, 0);
	tape_gen_event(gen, 0, &sample);
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		gen_state(gen, cpu, 1000 * US, 0, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 1000 * US, true);
}

static void steps(const char *dir, uint64_t ms)
{
	struct tape_gen *gen = open_tape(dir, "steps", 0x99);

	for (uint32_t cpu = 0; cpu < 2; cpu++)
		gen_state(gen, cpu, 0, 0, NT_STATE_START, 0);
	for (uint64_t i = 0; i <= ms; i++)
		tape_gen_clock_set(gen, GEN_START_NS + i * MS + 500 * US, i * 1000 * MS);
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		gen_state(gen, cpu, (ms + 1) * MS, 0, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + (ms + 1) * MS, true);
}

static void month_identities(struct tape_gen *gen)
{
	static const char *const names[] = {"net_rx_action", "ip_rcv", "nft_do_chain"};

	gen_cgroup(gen, 1, WEB_CGROUP);
	gen_task(gen, 0, GEN_BEFORE, 1, 1, 100, 100, 1, NT_TASK_SEED, "web");
	for (uint32_t i = 0; i < 3; i++) {
		union nt_any symbol = {.as_symbol = {.end_ns = GEN_START_NS, .kind = NT_SYMBOL, .symbol = i + 1}};
		union nt_any stack = {.as_stack = {.end_ns = GEN_START_NS,
						   .kind = NT_STACK,
						   .stack = i + 1,
						   .parent = i,
						   .symbol = i + 1}};

		snprintf(symbol.as_symbol.name, sizeof(symbol.as_symbol.name), "%s", names[i]);
		tape_gen_identity(gen, &symbol);
		tape_gen_identity(gen, &stack);
	}
}

static void month_sample(struct tape_gen *gen, uint32_t cpu, uint64_t at, unsigned int context, uint64_t stack)
{
	union nt_any sample = {.as_stack_sample = {.end_ns = GEN_START_NS + at,
						   .kind = NT_STACK_SAMPLE,
						   .context = (uint8_t)context,
						   .vec = NT_VEC_NET_RX,
						   .task = cpu,
						   .stack = stack}};

	tape_gen_event(gen, cpu, &sample);
}

/*
 * CPU 0: on each day, in its second hour, a hundred runs of NET_RX of 1 ms, 10 ms apart. Nine of ten have a sample: on
 * day N, N in 31 of these are in the firewall. CPU 1: web (task 1) from day 1 to day 25 in one piece, with a sample
 * every other hour, the stack of which changes on day 20.
 */
static void month(const char *dir)
{
	struct tape_gen *gen = open_tape(dir, "month", 0x31);

	tape_gen_meta(gen, "stacks_hz", "999");
	tape_gen_meta(gen, "stacks", "all");
	month_identities(gen);
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		gen_state(gen, cpu, 0, 0, NT_STATE_START, 0);
	for (uint64_t i = 0; i < 3100; i++) {
		uint64_t at = i / 100 * DAY + HOUR + i % 100 * 10 * MS;

		if (i % 10)
			month_sample(gen, 0, at + 500 * US, NT_STACK_IN_NET_RX, i % 31 < i / 100 ? 3 : 2);
		gen_softirq(gen, 0, at, at + 1 * MS, NT_VEC_NET_RX, NT_SOFTIRQ_IRQ_EXIT);
	}
	gen_switch(gen, 1, DAY, 0, 0, 1, 0);
	for (uint64_t at = DAY + HOUR; at < 25 * DAY; at += 2 * HOUR)
		month_sample(gen, 1, at, NT_STACK_IN_TASK, at < 20 * DAY ? 2 : 3);
	gen_switch(gen, 1, 25 * DAY, 1, 1, 0, 0);
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		gen_state(gen, cpu, 31 * DAY, 0, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 31 * DAY, true);
}

static void miscount(struct tape_gen *gen, uint64_t dur_ns)
{
	tape_gen_proc_snapshot(gen, GEN_START_NS + dur_ns - 2 * MS, GEN_START_NS + dur_ns - 2 * MS + 1,
			       "/proc/softirqs", "   CPU0\nNET_RX: 999999999\n");
	tape_gen_proc_snapshot(gen, GEN_START_NS + dur_ns + 5 * US, GEN_START_NS + dur_ns + 6 * US, "nettape/cpus",
			       "0 switch 1 0\n1 op 0 7\n");
	tape_gen_proc_snapshot(gen, GEN_START_NS + 1 * MS, GEN_START_NS + 1 * MS, "nettape/programs",
			       "nt_sched_switch misses=0\n");
	tape_gen_proc_snapshot(gen, GEN_START_NS + 2 * MS, GEN_START_NS + 2 * MS, "nettape/programs",
			       "nt_sched_switch misses=4\n");
}

/* The identities of the numbers in samples. */
static void sample_identities(struct tape_gen *gen)
{
	for (uint32_t i = 1; i < 8; i++) {
		union nt_any symbol = {
			.as_symbol = {.end_ns = GEN_START_NS, .kind = NT_SYMBOL, .symbol = i, .offset = 16 * i}};
		union nt_any reason = {.as_drop_reason = {.end_ns = GEN_START_NS, .kind = NT_DROP_REASON, .number = i}};

		snprintf(symbol.as_symbol.name, sizeof(symbol.as_symbol.name), "function_%u", i);
		snprintf(reason.as_drop_reason.name, sizeof(reason.as_drop_reason.name), "REASON_%u", i);
		tape_gen_identity(gen, &symbol);
		tape_gen_identity(gen, &reason);
	}
}

static void traffic(const char *dir, const char *scenario, uint64_t ms, uint64_t seed)
{
	struct traffic_config config = {.seed = seed, .dur_ns = ms * MS, .n_tasks = 10, .snapshot_ns = 20 * MS};
	struct tape_gen *gen = open_tape(dir, scenario, (uint8_t)(0x20 + seed));

	if (!strcmp(scenario, "loss")) {
		config.lose_from_ns = config.dur_ns * 2 / 5;
		config.lose_to_ns = config.dur_ns * 3 / 5;
	}
	if (!strcmp(scenario, "chunks"))
		config.chunk_ns = config.dur_ns / 4;
	if (!strcmp(scenario, "steal"))
		config.steal_ticks = 2;
	if (!strcmp(scenario, "samples"))
		sample_identities(gen);
	traffic_record(gen, n_cpus(scenario), &config);
	if (!strcmp(scenario, "miscounted"))
		miscount(gen, config.dur_ns);
	tape_gen_finish(gen, GEN_START_NS + config.dur_ns, strcmp(scenario, "partial") != 0);
}

static int make(const char *scenario, const char *dir, uint64_t ms, uint64_t seed)
{
	static const char *const simulated[] = {"traffic", "chunks",  "loss",	    "samples", "steal",
						"partial", "dropped", "miscounted", "wide"};

	for (size_t i = 0; i < sizeof(simulated) / sizeof(simulated[0]); i++) {
		if (!strcmp(scenario, simulated[i])) {
			traffic(dir, scenario, ms, seed);
			return 0;
		}
	}
	if (!strcmp(scenario, "hand") || !strcmp(scenario, "undeclared"))
		hand(dir, scenario[0] == 'u');
	else if (!strcmp(scenario, "hostile"))
		hostile(dir);
	else if (!strcmp(scenario, "containers"))
		containers(dir);
	else if (!strcmp(scenario, "markup"))
		markup(dir);
	else if (!strcmp(scenario, "hotplug"))
		hotplug(dir);
	else if (!strcmp(scenario, "unclocked"))
		unclocked(dir);
	else if (!strcmp(scenario, "month"))
		month(dir);
	else if (!strcmp(scenario, "steps"))
		steps(dir, ms);
	else if (!strcmp(scenario, "empty"))
		tape_gen_finish(open_tape(dir, "empty", 0x77), GEN_START_NS + 1000 * US, true);
	else
		return 2;
	return 0;
}

int main(int argc, char **argv)
{
	int code = 2;

	if (argc >= 3 && argc <= 5)
		code = make(argv[1], argv[2], argc > 3 ? strtoull(argv[3], NULL, 10) : 100,
			    argc > 4 ? strtoull(argv[4], NULL, 10) : 1);
	if (code)
		fputs("usage: make_tape SCENARIO DIR [MILLISECONDS [SEED]]\n", stderr);
	return code;
}
