// SPDX-License-Identifier: GPL-2.0-only
/*
 * plan_test.c - which attach points are chosen on kernels that are made here: type information with the tracepoints and
 * functions of a modern kernel but for those that a test takes away, and a trial attach that is refused or not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "record/cgroup_root.h"
#include "record/forwarding.h"
#include "record/plan.h"
#include "record/steering.h"
#include "record/xdp.h"
#include "record/sampler.h"
#include "tests/support/fake_files.h"

/* ---- the kernel ---- */

static struct {
	const char *missing[4]; /* tracepoints and functions that it lacks */
	int load_error, link_error, clock_error, root_error; /* 0: the trial is allowed */
	const char *version; /* as uname gives it; NULL: it does not */
	unsigned int n_trials, n_exits; /* functions that were touched; those of them at their exit */
	bool has_no_types;
	bool has_no_state; /* at sched_switch, as before 5.18 */
	bool guards_by_srcu; /* tracepoints: programs there may be preempted */
	bool has_old_srcu;
	const struct btf *types; /* as they were given last */
} kernel;

#define CALM "#1 SMP Debian"

static const struct fake_file no_files[] = {
	{"/proc/sys/net/core/busy_read", NULL}, {"/proc/sys/net/core/busy_poll", NULL}, {"/proc/cgroups", NULL}, {}};

static const struct fake_file hybrid[] = {{"/proc/cgroups", "memory\t3\t1\t1\n"}, {}};

/* The same, and each event's number in tracefs; or tracefs is not there. */
#define MAX_EVENT_FILES 1024
static struct fake_file event_files[MAX_EVENT_FILES];
static char event_paths[MAX_EVENT_FILES][96];

static void put_events(bool has_tracefs)
{
	size_t n = 0;

	memset(event_files, 0, sizeof(event_files));
	for (; no_files[n].path; n++)
		event_files[n] = no_files[n];
	for (int probe = 0; probe < NT_PROBE_COUNT; probe++)
		for (const struct nt_candidate *way = nt_probes[probe].candidates; way->name; way++)
			for (const struct nt_attach_point *point = way->points; point->program; point++) {
				if (!point->event_group)
					continue;
				assert_true(n + 2 < MAX_EVENT_FILES);
				for (size_t i = 0; i < 2; i++, n++) {
					snprintf(event_paths[n], sizeof(event_paths[n]),
						 "/sys/kernel/%s/events/%s/%s/id", i ? "debug/tracing" : "tracing",
						 point->event_group, point->point);
					event_files[n] = (struct fake_file){event_paths[n], has_tracefs ? "1" : NULL};
				}
			}
	fake_files = event_files;
}

static int set_up(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	kernel.version = CALM;
	fake_files = no_files;
	return 0;
}

static bool has(const char *name)
{
	for (size_t i = 0; i < 4 && kernel.missing[i]; i++)
		if (!strcmp(kernel.missing[i], name))
			return false;
	return true;
}

int uname(struct utsname *name)
{
	if (!kernel.version)
		return -1;
	memset(name, 0, sizeof(*name));
	strcpy(name->release, "6.99-test");
	strcpy(name->version, kernel.version);
	return 0;
}

/* A tracepoint is a pointer's typedef; its function has an argument of its own before the others. */
static void add_tracepoint(struct btf *btf, const char *point, int type, int n_args)
{
	char name[128];
	int proto;

	if (!has(point))
		return;
	proto = btf__add_func_proto(btf, 0);
	for (int i = 0; i < n_args + 1; i++)
		btf__add_func_param(btf, "arg", type);
	snprintf(name, sizeof(name), "btf_trace_%s", point);
	assert_true(btf__add_typedef(btf, name, btf__add_ptr(btf, proto)) > 0);
}

static int args_of(const char *point)
{
	if (!strcmp(point, "sched_switch"))
		return kernel.has_no_state ? 3 : 4;
	if (!strcmp(point, "kfree_skb"))
		return 4;
	return !strcmp(point, "tcp_retransmit_skb") ? 3 : 1;
}

/* All that some candidate names, once. */
struct btf *btf__load_vmlinux_btf(void)
{
	struct btf *btf;
	int type, proto;

	errno = ENOENT;
	if (kernel.has_no_types)
		return NULL;
	kernel.types = btf = btf__new_empty();
	type = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	proto = btf__add_func_proto(btf, type);
	if (kernel.guards_by_srcu)
		btf__add_struct(btf, "srcu_ctr", 8);
	if (kernel.guards_by_srcu || kernel.has_old_srcu)
		btf__add_var(btf, "tracepoint_srcu_srcu_data", BTF_VAR_GLOBAL_ALLOCATED, type);
	if (has("bpf_rdonly_cast"))
		btf__add_func(btf, "bpf_rdonly_cast", BTF_FUNC_GLOBAL, proto);

	for (int probe = 0; probe < NT_PROBE_COUNT; probe++)
		for (const struct nt_candidate *way = nt_probes[probe].candidates; way->name; way++)
			for (const struct nt_attach_point *point = way->points; point->program; point++) {
				bool is_function = point->how == NT_AT_ENTRY || point->how == NT_AT_EXIT;
				char name[128];

				snprintf(name, sizeof(name), "%s%s", is_function ? "" : "bpf_iter_", point->point);
				if (!is_function && point->how != NT_AT_ITERATOR)
					add_tracepoint(btf, point->point, type, args_of(point->point));
				else if (has(point->point))
					btf__add_func(btf, name, BTF_FUNC_GLOBAL, proto);
			}
	return btf;
}

/* By its name for the linker alone: libbpf 1.2 took a const away. */
int load_trial(enum bpf_prog_type type, const char *name, const char *license, const struct bpf_insn *insns, size_t n,
	       const struct bpf_prog_load_opts *opts) __asm__("bpf_prog_load");

int load_trial(enum bpf_prog_type type, const char *name, const char *license, const struct bpf_insn *insns, size_t n,
	       const struct bpf_prog_load_opts *opts)
{
	(void)name, (void)license;
	assert_int_equal(type, BPF_PROG_TYPE_TRACING);
	assert_int_equal(insns[n - 1].code, BPF_JMP | BPF_EXIT);
	assert_true(btf_is_func(btf__type_by_id(kernel.types, opts->attach_btf_id)));
	assert_true(opts->expected_attach_type == BPF_TRACE_FENTRY || opts->expected_attach_type == BPF_TRACE_FEXIT);
	kernel.n_trials++;
	kernel.n_exits += opts->expected_attach_type == BPF_TRACE_FEXIT;
	errno = kernel.load_error;
	return kernel.load_error ? -1 : dup(0);
}

int nt_cgroup_root_open(void)
{
	return dup(0);
}

int nt_cgroup_root_try(void)
{
	return kernel.root_error;
}

const char *nt_cgroup_root_why(int error)
{
	return strerror(-error);
}

int bpf_raw_tracepoint_open(const char *name, int program)
{
	assert_null(name);
	assert_true(fcntl(program, F_GETFD) >= 0);
	errno = kernel.link_error;
	return kernel.link_error ? -1 : dup(0);
}

int nt_sampler_try(void)
{
	return kernel.clock_error;
}

/* ---- choosing ---- */

static struct nt_plan plan;

static void choose(const char *list)
{
	char bad[64];

	memset(&plan, 0, sizeof(plan));
	memset(plan.refused, 'x', sizeof(plan.refused));
	assert_true(nt_plan_parse(&plan, list, bad, sizeof(bad)));
	assert_int_equal(nt_plan_choose(&plan), 0);
}

static int point_at(int probe, const char *program)
{
	const struct nt_attach_point *points = plan.chosen[probe]->points;

	for (int i = 0; points[i].program; i++)
		if (!strcmp(points[i].program, program))
			return i;
	fail_msg("the probe %s has no program %s", nt_probes[probe].name, program);
	return -1;
}

/* The host's devices may give packets to other CPUs. */
static bool host_steers;

bool nt_host_steers(void)
{
	return host_steers;
}

static bool host_has_xdp;

bool nt_host_may_run_xdp(void)
{
	return host_has_xdp;
}

static bool host_forwards;

bool nt_host_may_forward(void)
{
	return host_forwards;
}

static void points_that_the_host_has_use_for(void **state)
{
	(void)state;
	choose("deliver");
	assert_false(nt_plan_attaches(&plan, "nt_rx_steer"));
	assert_false(nt_plan_attaches(&plan, "nt_rx_poll"));
	assert_false(nt_plan_attaches(&plan, "nt_rx_forward"));
	assert_true(nt_plan_attaches(&plan, "nt_netif_receive_skb"));
	host_steers = host_has_xdp = host_forwards = true;
	choose("deliver");
	host_steers = host_has_xdp = host_forwards = false;
	assert_true(nt_plan_attaches(&plan, "nt_rx_poll"));
	assert_true(nt_plan_attaches(&plan, "nt_rx_forward"));
	assert_true(nt_plan_attaches(&plan, "nt_rx_steer"));
	assert_true(nt_plan_attaches(&plan, "nt_rx_steer_frags"));
}

static void modern_kernel_serves_all_by_the_first_way(void **state)
{
	(void)state;
	choose("all");
	for (int probe = 0; probe < NT_PROBE_COUNT; probe++) {
		assert_ptr_equal(plan.chosen[probe], nt_probes[probe].candidates);
		assert_string_equal(plan.refused[probe], "");
		for (int i = 0; plan.chosen[probe]->points[i].program; i++)
			assert_int_equal(plan.has[probe][i], !plan.chosen[probe]->points[i].is_beside_event &&
								     !plan.chosen[probe]->points[i].is_wanted);
	}
	assert_int_equal(plan.switch_args, 4);
	assert_int_equal(plan.drop_args, 4);
	assert_int_equal(plan.retransmit_args, 3);
	assert_true(nt_plan_attaches(&plan, "nt_sched_switch"));
	assert_true(nt_plan_attaches(&plan, "nt_stack_sample"));
	assert_false(nt_plan_attaches(&plan, "nt_sock_send_length"));
}

static void functions_are_tried_at_their_ends(void **state)
{
	(void)state;
	choose("latency");
	assert_int_equal(kernel.n_trials, 10);
	assert_int_equal(kernel.n_exits, 2);
}

static void kernel_without_types(void **state)
{
	(void)state;
	kernel.has_no_types = true;
	memset(&plan, 0, sizeof(plan));
	assert_int_equal(nt_plan_choose(&plan), -ENOENT);
}

static void probe_that_is_off_is_not_chosen(void **state)
{
	(void)state;
	choose("irq");
	for (int probe = 0; probe < NT_PROBE_COUNT; probe++) {
		assert_int_equal(plan.chosen[probe] != NULL, probe == NT_PROBE_SCHED || probe == NT_PROBE_IRQ);
		assert_string_equal(plan.refused[probe], "");
	}
	assert_true(nt_plan_attaches(&plan, "nt_irq_handler_exit"));
	assert_false(nt_plan_attaches(&plan, "nt_softirq_exit"));
}

static void missing_points(void **state)
{
	(void)state;
	kernel.missing[0] = "cgroup_mkdir";
	kernel.missing[1] = "softirq_entry";
	kernel.missing[2] = "thermal_apic_exit";
	choose("all");
	assert_non_null(plan.chosen[NT_PROBE_SCHED]);
	assert_false(plan.has[NT_PROBE_SCHED][point_at(NT_PROBE_SCHED, "nt_cgroup_mkdir")]);
	assert_true(plan.has[NT_PROBE_SCHED][point_at(NT_PROBE_SCHED, "nt_cpuhp_enter")]);
	assert_false(nt_plan_attaches(&plan, "nt_cgroup_mkdir"));
	assert_null(plan.chosen[NT_PROBE_SOFTIRQ]);
	assert_string_equal(plan.refused[NT_PROBE_SOFTIRQ], "tp_btf:softirq_entry: this kernel does not have it");
	assert_non_null(plan.chosen[NT_PROBE_IRQ]);
	for (int i = 0; plan.chosen[NT_PROBE_IRQ]->points[i].program; i++)
		assert_int_equal(plan.has[NT_PROBE_IRQ][i],
				 strcmp(plan.chosen[NT_PROBE_IRQ]->points[i].point, "thermal_apic_exit") != 0);
}

/* No function is touched for a way that cannot be: what costs nothing to look for is looked for first. */
static void looks_before_it_touches(void **state)
{
	(void)state;
	kernel.missing[0] = "inet_sendpage";
	kernel.missing[1] = "sock_recv_length";
	choose("socket");
	assert_int_equal(kernel.n_trials, 0);
	assert_null(plan.chosen[NT_PROBE_SOCKET]);
	assert_string_equal(plan.refused[NT_PROBE_SOCKET], "fexit:inet_sendpage: this kernel does not have it");

	kernel.missing[1] = NULL;
	choose("socket");
	assert_ptr_equal(plan.chosen[NT_PROBE_SOCKET], nt_probes[NT_PROBE_SOCKET].candidates + 1);
	assert_string_equal(plan.refused[NT_PROBE_SOCKET], "");
	assert_int_equal(kernel.n_trials, 8);
}

/* That the kernel refuses tells more than that it lacks something. */
static void refused_trials(void **state)
{
	(void)state;
	kernel.load_error = EPERM;
	choose("socket,latency");
	assert_string_equal(plan.chosen[NT_PROBE_SOCKET]->name, "tracepoints");
	assert_string_equal(plan.refused[NT_PROBE_SOCKET], "fentry:inet_sendmsg: Operation not permitted");
	assert_string_equal(plan.chosen[NT_PROBE_LATENCY]->name, "tracepoints");
	assert_string_equal(plan.refused[NT_PROBE_LATENCY], "fentry:tcp_v4_rcv: Operation not permitted");

	kernel.load_error = 0;
	kernel.link_error = EBUSY;
	kernel.missing[0] = "sys_enter";
	choose("socket");
	assert_string_equal(plan.chosen[NT_PROBE_SOCKET]->name, "ends");
	assert_string_equal(plan.refused[NT_PROBE_SOCKET], "fentry:inet_sendmsg: Device or resource busy");

	kernel.link_error = 0;
	kernel.clock_error = -EOPNOTSUPP;
	choose("stacks");
	assert_null(plan.chosen[NT_PROBE_STACKS]);
	assert_string_equal(plan.refused[NT_PROBE_STACKS], "perf_event:cpu-clock: Operation not supported");
}

static void preempting_kernel(void **state)
{
	(void)state;
	kernel.version = "#1 SMP PREEMPT_RT Debian";
	choose("default");
	assert_string_equal(plan.chosen[NT_PROBE_SOCKET]->name, "tracepoints");
	assert_string_equal(plan.refused[NT_PROBE_SOCKET],
			    "tp_btf:sock_send_length: this kernel may preempt the program "
			    "(/sys/kernel/debug/sched/preempt)");
	/* Without tracepoints at a call's begin the programs that may be preempted are better than none. */
	kernel.missing[0] = "sys_enter";
	choose("socket");
	assert_string_equal(plan.chosen[NT_PROBE_SOCKET]->name, "fentry");
	assert_false(plan.chosen[NT_PROBE_SOCKET]->not_preempted);
	assert_string_equal(plan.refused[NT_PROBE_SOCKET], "");
}

static void plan_that_is_asked_for(void **state)
{
	char bad[64];

	(void)state;
	memset(&plan, 0, sizeof(plan));
	assert_false(nt_plan_only(&plan, "perf_event"));
	assert_null(plan.only);
	assert_true(nt_plan_only(&plan, "tracepoints"));
	assert_true(nt_plan_parse(&plan, "default,stacks,latency", bad, sizeof(bad)));
	assert_int_equal(nt_plan_choose(&plan), 0);
	assert_string_equal(plan.chosen[NT_PROBE_SOCKET]->name, "tracepoints");
	/* It is of socket operations: other probes go their own way. */
	assert_false(plan.chosen[NT_PROBE_SOCKET]->only_ends);
	assert_string_equal(plan.chosen[NT_PROBE_LATENCY]->name, "fentry");
	assert_string_equal(plan.chosen[NT_PROBE_STACKS]->name, "perf_event");
}

static void tracepoints_of_other_kernels(void **state)
{
	(void)state;
	kernel.missing[0] = "kfree_skb";
	kernel.missing[1] = "tcp_retransmit_skb";
	choose("all");
	assert_true(plan.has_casts);
	assert_int_equal(plan.drop_args, 0);
	assert_int_equal(plan.retransmit_args, 0);
	assert_null(plan.chosen[NT_PROBE_DROPS]);
}

/* ---- words on the command line ---- */

#define ON_BY_DEFAULT                                                                                                  \
	(1 << NT_PROBE_SOFTIRQ | 1 << NT_PROBE_IRQ | 1 << NT_PROBE_SOCKET | 1 << NT_PROBE_DELIVER |                    \
	 1 << NT_PROBE_NETTIMERS)

static void parses_lists(void **state)
{
	static const struct {
		const char *list;
		unsigned int on; /* bits; sched is always on */
	} cases[] = {
		{"", 0},
		{"sched", 0},
		{"irq,drops", 1 << NT_PROBE_IRQ | 1 << NT_PROBE_DROPS},
		{"irq,", 1 << NT_PROBE_IRQ},
		{"socket", 1 << NT_PROBE_SOCKET | 1 << NT_PROBE_SOFTIRQ},
		{"latency", 1 << NT_PROBE_LATENCY},
		{"stacks", 1 << NT_PROBE_STACKS | 1 << NT_PROBE_SOFTIRQ},
		{"default", ON_BY_DEFAULT},
		{"nettimers", 1 << NT_PROBE_NETTIMERS | 1 << NT_PROBE_SOFTIRQ},
		{"wakeups,default", ON_BY_DEFAULT | 1 << NT_PROBE_WAKEUPS},
		{"all", (1 << NT_PROBE_COUNT) - 1},
		{"all,irq", (1 << NT_PROBE_COUNT) - 1},
	};
	char bad[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(&plan, 0, sizeof(plan));
		plan.on[NT_PROBE_NAPI] = true;
		assert_true(nt_plan_parse(&plan, cases[i].list, bad, sizeof(bad)));
		for (int probe = 0; probe < NT_PROBE_COUNT; probe++)
			if (plan.on[probe] != (probe == NT_PROBE_SCHED || (cases[i].on >> probe & 1)))
				fail_msg("'%s' leaves %s %s", cases[i].list, nt_probes[probe].name,
					 plan.on[probe] ? "on" : "off");
	}
}

static void refuses_lists(void **state)
{
	static const struct {
		const char *list, *bad;
	} cases[] = {
		{"sokcet,irq", "sokcet"}, {"irq,sockets", "sockets"}, {"soc", "soc"}, {",irq", ""},
		{"defaults", "defaults"}, {"default,al", "al"},	      {"abc", "abc"}, {"irq socket", "irq socket"}};
	char bad[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(&plan, 0, sizeof(plan));
		assert_false(nt_plan_parse(&plan, cases[i].list, bad, sizeof(bad)));
		assert_string_equal(bad, cases[i].bad);
	}
}

static void busy_polling_is_on_where_the_host_polls(void **state)
{
	static const struct {
		struct fake_file files[3];
		bool is_on;
	} cases[] = {
		{{{"/proc/sys/net/core/busy_read", "0\n"}, {"/proc/sys/net/core/busy_poll", "0\n"}}, false},
		{{{"/proc/sys/net/core/busy_read", "50\n"}, {"/proc/sys/net/core/busy_poll", "0\n"}}, true},
		{{{"/proc/sys/net/core/busy_read", "0\n"}, {"/proc/sys/net/core/busy_poll", "50\n"}}, true},
		{{{"/proc/sys/net/core/busy_read", "x\n"}, {"/proc/sys/net/core/busy_poll", ""}}, false},
		{{{"/proc/sys/net/core/busy_read", NULL}, {"/proc/sys/net/core/busy_poll", NULL}}, false},
	};
	char bad[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake_files = cases[i].files;
		assert_true(nt_plan_parse(&plan, "default", bad, sizeof(bad)));
		assert_int_equal(plan.on[NT_PROBE_BUSYPOLL], cases[i].is_on);
	}
}

/* ---- whether the kernel preempts its programs ---- */

#define MODE "/sys/kernel/debug/sched/preempt"
#define CONFIG "/boot/config-6.99-test"
#define DYNAMIC "#1 SMP PREEMPT_DYNAMIC Debian"

static void says_whether_it_preempts(void **state)
{
	static const struct {
		const char *version, *mode, *told, *config;
		bool does;
	} cases[] = {
		{NULL, NULL, NULL, NULL, true},
		{CALM, NULL, NULL, NULL, false},
		{CALM, "none voluntary (full)\n", "preempt=full\n", "CONFIG_PREEMPT=y\n", false},
		{"#1 SMP PREEMPT_RT Debian", "(none)", "preempt=none", "CONFIG_PREEMPT_NONE=y", true},
		{"#1 SMP PREEMPT Debian", "(none)", "preempt=none", "CONFIG_PREEMPT_NONE=y", true},
		{DYNAMIC, NULL, NULL, NULL, true},
		{DYNAMIC, "none voluntary (full)\n", "preempt=none\n", "CONFIG_PREEMPT_NONE=y\n", true},
		{DYNAMIC, "none (voluntary) full\n", "preempt=full\n", "CONFIG_PREEMPT=y\n", false},
		{DYNAMIC, "(none) voluntary full\n", "preempt=full\n", "CONFIG_PREEMPT=y\n", false},
		{DYNAMIC, NULL, "quiet preempt=full\n", "CONFIG_PREEMPT_NONE=y\n", true},
		{DYNAMIC, NULL, "quiet preempt=none\n", "CONFIG_PREEMPT=y\n", false},
		{DYNAMIC, NULL, "quiet preempt=voluntary\n", "CONFIG_PREEMPT=y\n", false},
		{DYNAMIC, NULL, "quiet\n", "CONFIG_A=y\nCONFIG_PREEMPT_NONE=y\nCONFIG_B=y\n", false},
		{DYNAMIC, NULL, "quiet\n", "CONFIG_PREEMPT_VOLUNTARY=y\n", false},
		{DYNAMIC, NULL, "quiet\n", "# CONFIG_PREEMPT_NONE is not set\nCONFIG_PREEMPT=y\n", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fake_file files[] = {
			{MODE, cases[i].mode}, {"/proc/cmdline", cases[i].told}, {CONFIG, cases[i].config}, {}};

		fake_files = files;
		kernel.version = cases[i].version;
		if (nt_kernel_preempts_itself() != cases[i].does)
			fail_msg("case %zu: a kernel that %s is said to%s", i,
				 cases[i].does ? "preempts itself" : "does not preempt itself",
				 cases[i].does ? " be calm" : "");
	}
	fake_files = NULL;
}

/* ---- what is not covered ---- */

static struct {
	const char *sentences[32];
	char copies[32][400];
	int n, stop_at;
} said;

static int say(void *arg, const char *sentence)
{
	assert_ptr_equal(arg, &said);
	assert_true(said.n < 32);
	snprintf(said.copies[said.n], sizeof(said.copies[0]), "%s", sentence);
	said.sentences[said.n] = said.copies[said.n];
	return ++said.n == said.stop_at ? -ENOMEM : 0;
}

static void uncovered(int probe)
{
	said.n = said.stop_at = 0;
	assert_int_equal(nt_plan_uncovered(&plan, probe, say, &said), 0);
}

static bool is_said(const char *part)
{
	for (int i = 0; i < said.n; i++)
		if (strstr(said.sentences[i], part))
			return true;
	return false;
}

static int n_sentences(const char *const *sentences)
{
	int n = 0;

	while (sentences && sentences[n])
		n++;
	return n;
}

static void says_what_is_not_covered(void **state)
{
	(void)state;
	choose("deliver");
	uncovered(NT_PROBE_DELIVER);
	assert_true(is_said("Polls are not cut for XDP"));
	assert_true(is_said("Forwarded packets are not told from others"));
	host_has_xdp = host_forwards = true;
	choose("all");
	host_has_xdp = host_forwards = false;
	for (int probe = 0; probe < NT_PROBE_COUNT; probe++) {
		uncovered(probe);
		assert_int_equal(said.n, n_sentences(plan.chosen[probe]->uncovered));
		for (int i = 0; i < said.n; i++)
			assert_string_equal(said.sentences[i], plan.chosen[probe]->uncovered[i]);
	}
	choose("sched");
	uncovered(NT_PROBE_IRQ);
	assert_int_equal(said.n, 1);
	assert_string_equal(said.sentences[0], nt_probes[NT_PROBE_IRQ].without);
	uncovered(NT_PROBE_DROPS);
	assert_int_equal(said.n, 0);

	kernel.has_no_state = true;
	fake_files = hybrid;
	choose("sched");
	uncovered(NT_PROBE_SCHED);
	assert_int_equal(said.n, 2);
	assert_true(is_said("Before Linux 5.18"));
	assert_true(is_said("Cgroups are those of the controller memory"));
	fake_files = no_files;
	kernel.has_no_state = false;
	choose("sched");
	uncovered(NT_PROBE_SCHED);
	assert_int_equal(said.n, 0);
	kernel.missing[0] = "kfree_skb";
	choose("drops");
	uncovered(NT_PROBE_DROPS);
	assert_int_equal(said.n, 1);
	assert_string_equal(said.sentences[0],
			    "The probe drops is not available on this kernel "
			    "(tp_btf:kfree_skb: this kernel does not have it). Nothing of it was recorded.");
}

/* The programs of a plan, each once. */
static size_t programs_of(const char **names, size_t max)
{
	size_t n = 0, i;

	for (int probe = 0; probe < NT_PROBE_COUNT; probe++)
		for (int at = 0; plan.chosen[probe] && plan.chosen[probe]->points[at].program; at++) {
			const char *name = plan.chosen[probe]->points[at].program;

			for (i = 0; i < n && strcmp(names[i], name); i++)
				;
			if (i == n && plan.has[probe][at])
				names[n++] = name;
			assert_true(n < max);
		}
	return n;
}

/* How many sentences of all probes have this part. */
static int told(const char *part)
{
	int n = 0;

	for (int probe = 0; probe < NT_PROBE_COUNT; probe++) {
		uncovered(probe);
		for (int i = 0; i < said.n; i++)
			n += strstr(said.sentences[i], part) != NULL;
	}
	return n;
}

static bool has_point_of(const struct nt_candidate *way, const char *program, bool needed)
{
	for (const struct nt_attach_point *point = way->points; point->program; point++)
		if (!strcmp(point->program, program) && (!needed || !point->optional))
			return true;
	return false;
}

/*
 * The kernel refuses a program of the plan, each in turn: it leaves the plan and is named, and of the other probes only
 * those change that need softirq, if that is what goes.
 */
static void does_without_a_refused_program(void **state)
{
	const struct nt_candidate *before[NT_PROBE_COUNT];
	const char *names[128];
	size_t n;

	(void)state;
	choose("all");
	n = programs_of(names, 128);
	assert_true(n > 50);
	memcpy(before, plan.chosen, sizeof(before));
	for (size_t i = 0; i < n; i++) {
		bool is_base = has_point_of(before[NT_PROBE_SCHED], names[i], true), without_softirq;

		choose("all");
		assert_int_equal(nt_plan_refuse(&plan, names[i], "because"), !is_base);
		if (is_base)
			continue;
		assert_false(nt_plan_attaches(&plan, names[i]));
		if (told(names[i]) < 1)
			fail_msg("%s is not told of", names[i]);
		assert_true(told("because") >= 1);
		without_softirq = !plan.chosen[NT_PROBE_SOFTIRQ];
		assert_int_equal(without_softirq, has_point_of(before[NT_PROBE_SOFTIRQ], names[i], true));
		for (int probe = 0; probe < NT_PROBE_COUNT; probe++) {
			if (without_softirq && nt_probes[probe].needs_softirq)
				assert_null(plan.chosen[probe]);
			else if (!has_point_of(before[probe], names[i], true))
				assert_ptr_equal(plan.chosen[probe], before[probe]);
			else
				assert_ptr_not_equal(plan.chosen[probe], before[probe]);
		}
		/* It is not there any more. */
		assert_false(nt_plan_refuse(&plan, names[i], "again"));
	}
	assert_false(nt_plan_refuse(&plan, "nt_control", "because"));
}

static void refused_until_nothing_is_left(void **state)
{
	(void)state;
	kernel.version = "#1 SMP PREEMPT_RT Debian";
	choose("socket");
	assert_string_equal(plan.chosen[NT_PROBE_SOCKET]->name, "tracepoints");
	assert_true(nt_plan_refuse(&plan, "nt_sys_enter", "x"));
	assert_string_equal(plan.chosen[NT_PROBE_SOCKET]->name, "fentry");
	assert_int_equal(
		told("This kernel refuses the program nt_sys_enter (x): the probe socket is served by fentry."), 1);
	assert_true(nt_plan_refuse(&plan, "nt_enter_inet_sendmsg", "y"));
	assert_string_equal(plan.chosen[NT_PROBE_SOCKET]->name, "ends");
	assert_true(nt_plan_refuse(&plan, "nt_sock_send_length", "z"));
	assert_null(plan.chosen[NT_PROBE_SOCKET]);
	assert_int_equal(told("The probe socket is not available on this kernel (tp_btf:sock_send_length: this kernel "
			      "refuses the program nt_sock_send_length: z)."),
			 1);
	assert_non_null(plan.chosen[NT_PROBE_SCHED]);
}

/* How the plan attaches a program: "tp" by its twin, NULL: not at all. */
static const char *how_of(int probe, const char *program)
{
	for (int i = 0; plan.chosen[probe]->points[i].program; i++)
		if (plan.has[probe][i] && !strcmp(plan.chosen[probe]->points[i].program, program))
			return nt_plan_how_name(&plan, probe, i);
	return NULL;
}

/* A kernel that preempts programs at tracepoints runs them as perf events: in tasks, and on PREEMPT_RT in softirqs. */
static void preempted_programs_become_events(void **state)
{
	(void)state;
	kernel.guards_by_srcu = true;
	kernel.load_error = EPERM;
	put_events(true);
	choose("default");
	assert_int_equal(plan.preempted, NT_PREEMPTED_IN_TASKS);
	assert_string_equal(plan.chosen[NT_PROBE_SOCKET]->name, "tracepoints");
	assert_string_equal(how_of(NT_PROBE_SOCKET, "nt_sys_enter"), "tp");
	assert_string_equal(how_of(NT_PROBE_SOCKET, "nt_sock_recv_length"), "tp");
	assert_string_equal(how_of(NT_PROBE_SOCKET, "nt_name_receiver"), "tp_btf");
	assert_string_equal(how_of(NT_PROBE_SOFTIRQ, "nt_softirq_exit"), "tp_btf");
	assert_string_equal(how_of(NT_PROBE_IRQ, "nt_vector_exit"), "raw_tp");
	assert_true(nt_plan_attaches(&plan, "nt_sys_enter"));
	assert_true(nt_plan_attaches(&plan, "nt_sys_enter__event"));
	assert_int_equal(told("may preempt the program"), 0);

	kernel.version = "#1 SMP PREEMPT_RT Debian";
	choose("default");
	assert_int_equal(plan.preempted, NT_PREEMPTED_IN_SOFTIRQS);
	assert_string_equal(how_of(NT_PROBE_SOFTIRQ, "nt_softirq_exit"), "tp");
	assert_string_equal(how_of(NT_PROBE_DELIVER, "nt_rx_drop"), "tp");
	assert_string_equal(how_of(NT_PROBE_NETTIMERS, "nt_timer_expire_entry"), "tp_btf");

	/* Before 6.13 there was an SRCU of this name for other things. */
	kernel.guards_by_srcu = false;
	kernel.has_old_srcu = true;
	choose("default,stacks");
	assert_string_equal(how_of(NT_PROBE_SOCKET, "nt_sys_enter"), "tp_btf");
	assert_null(how_of(NT_PROBE_SOCKET, "nt_name_receiver"));
	assert_null(how_of(NT_PROBE_STACKS, "nt_tick_end"));
}

/* Where that cannot be, those that change the CPU's state are left out, and it is said. */
static void leaves_out_what_would_be_preempted(void **state)
{
	(void)state;
	kernel.guards_by_srcu = true;
	kernel.load_error = EPERM;
	put_events(false);
	choose("default");
	assert_null(plan.chosen[NT_PROBE_SOCKET]);
	assert_int_equal(told("The probe socket is not available on this kernel (tp:sock_send_length: perf events need "
			      "/sys/kernel/tracing, which is not there or may not be read)."),
			 1);
	assert_string_equal(how_of(NT_PROBE_SCHED, "nt_sched_process_exit"), "tp_btf");
	assert_non_null(plan.chosen[NT_PROBE_DELIVER]);

	put_events(true);
	choose("default,stacks");
	assert_string_equal(how_of(NT_PROBE_STACKS, "nt_tick_end"), "tp_btf");
	assert_true(nt_plan_refuse(&plan, "nt_sys_enter__event", "because"));
	assert_string_equal(plan.chosen[NT_PROBE_SOCKET]->name, "ends");
	assert_string_equal(how_of(NT_PROBE_SOCKET, "nt_sock_send_length"), "tp");
	assert_string_equal(how_of(NT_PROBE_SOCKET, "nt_name_sender"), "tp_btf");
	assert_int_equal(told("This kernel refuses the program nt_sys_enter__event (because): the probe socket is "
			      "served by ends."),
			 1);
	assert_true(nt_plan_refuse(&plan, "nt_sched_process_exit__event", "because"));
	assert_string_equal(how_of(NT_PROBE_SCHED, "nt_sched_process_exit"), "tp_btf");
	assert_int_equal(
		told("nt_sched_process_exit__event (because): nt_sched_process_exit takes its place, and may be "
		     "preempted."),
		1);
}

/* On other kernels they are what --plan may ask for, and nothing else. */
static void events_that_are_asked_for(void **state)
{
	char bad[64];

	(void)state;
	put_events(true);
	memset(&plan, 0, sizeof(plan));
	assert_true(nt_plan_only(&plan, "events"));
	assert_true(nt_plan_parse(&plan, "default", bad, sizeof(bad)));
	assert_int_equal(nt_plan_choose(&plan), 0);
	assert_string_equal(how_of(NT_PROBE_SOCKET, "nt_sys_enter"), "tp");
	assert_string_equal(how_of(NT_PROBE_SOCKET, "nt_name_sender"), "tp_btf");
	assert_string_equal(how_of(NT_PROBE_SCHED, "nt_sched_process_exit"), "tp");
	assert_string_equal(how_of(NT_PROBE_SOFTIRQ, "nt_softirq_exit"), "tp_btf");
	put_events(false);
	assert_int_equal(nt_plan_choose(&plan), 0);
	assert_null(plan.chosen[NT_PROBE_SOCKET]);
	assert_string_equal(plan.refused[NT_PROBE_SOCKET], "tp:sock_send_length: perf events need /sys/kernel/tracing, "
							   "which is not there or may not be read");
	put_events(true);
	assert_int_equal(nt_plan_choose(&plan), 0);
	assert_true(nt_plan_refuse(&plan, "nt_sys_enter__event", "because"));
	assert_null(plan.chosen[NT_PROBE_SOCKET]);
	assert_string_equal(plan.refused[NT_PROBE_SOCKET],
			    "tp:sys_enter: this kernel refuses the program nt_sys_enter__event: because");
}

static void gives_a_probe_up(void **state)
{
	(void)state;
	choose("all");
	assert_true(nt_plan_give_up(&plan, NT_PROBE_DELIVER, "a map"));
	assert_true(nt_plan_refuse(&plan, "nt_cgroup_mkdir", "because"));
	assert_null(plan.chosen[NT_PROBE_DELIVER]);
	assert_int_equal(told("The probe deliver is not available on this kernel (this kernel refuses its programs: a "
			      "map). Received packets are not recorded"),
			 1);
	assert_true(nt_plan_give_up(&plan, NT_PROBE_SOFTIRQ, "a map"));
	assert_null(plan.chosen[NT_PROBE_SOCKET]);
	assert_non_null(plan.chosen[NT_PROBE_WAKEUPS]);
	assert_false(nt_plan_give_up(&plan, NT_PROBE_SCHED, "a map"));
}

static void error_of_the_listener_ends_it(void **state)
{
	(void)state;
	choose("all");
	said.n = 0;
	said.stop_at = 2;
	assert_int_equal(nt_plan_uncovered(&plan, NT_PROBE_LATENCY, say, &said), -ENOMEM);
	assert_int_equal(said.n, 2);
	kernel.missing[0] = "skb_consume_udp";
	kernel.missing[1] = "udp_rcv";
	choose("all");
	said.n = 0;
	said.stop_at = 1 + n_sentences(plan.chosen[NT_PROBE_LATENCY]->uncovered);
	assert_int_equal(nt_plan_uncovered(&plan, NT_PROBE_LATENCY, say, &said), -ENOMEM);
	assert_int_equal(said.n, said.stop_at);
	assert_string_equal(said.sentences[said.n - 1],
			    "No latency at the hook udp-socket-read: this kernel has no separate function "
			    "skb_consume_udp.");
}

/* A filter that asks for a socket's queue, or for its reader, is answered where these are known. */
static void filters_leave_out_hooks(void **state)
{
	char bad[64];

	(void)state;
	kernel.missing[0] = "udp_rcv";
	kernel.missing[1] = "tcp_queue_rcv";
	memset(&plan, 0, sizeof(plan));
	plan.must_know = NT_KNOWS_QUEUE;
	assert_true(nt_plan_parse(&plan, "latency", bad, sizeof(bad)));
	assert_int_equal(nt_plan_choose(&plan), 0);
	assert_true(nt_plan_attaches(&plan, "nt_latency_udp_socket_read__skb_consume_udp"));
	assert_true(nt_plan_attaches(&plan, "nt_latency_udp_socket_enqueued____udp_enqueue_schedule_skb"));
	assert_false(nt_plan_attaches(&plan, "nt_latency_ip_start__ip_rcv_core"));
	assert_false(nt_plan_attaches(&plan, "nt_latency_tcp_start__tcp_v4_rcv"));
	uncovered(NT_PROBE_LATENCY);
	assert_true(is_said("at hooks that know the packet's socket"));
	assert_true(is_said("No latency at the hook tcp-socket-enqueued"));
	/* At this hook nothing would be recorded in any case. */
	assert_false(is_said("No latency at the hook udp-start"));
	assert_false(is_said("only at the hooks tcp-socket-read and udp-socket-read"));
	uncovered(NT_PROBE_SCHED);
	assert_int_equal(said.n, 0);

	plan.must_know = NT_KNOWS_TASK | NT_KNOWS_QUEUE;
	assert_int_equal(nt_plan_choose(&plan), 0);
	assert_true(nt_plan_attaches(&plan, "nt_latency_udp_socket_read__skb_consume_udp"));
	assert_false(nt_plan_attaches(&plan, "nt_latency_udp_socket_enqueued____udp_enqueue_schedule_skb"));
	uncovered(NT_PROBE_LATENCY);
	assert_true(is_said("only at the hooks tcp-socket-read and udp-socket-read"));
	assert_false(is_said("at hooks that know the packet's socket"));

	/* By tracepoints the reader's name is taken from another one, and only for a filter that needs it. */
	kernel.load_error = EPERM;
	assert_int_equal(nt_plan_choose(&plan), 0);
	assert_true(nt_plan_attaches(&plan, "nt_tcp_rcv_space_adjust"));
	assert_false(nt_plan_attaches(&plan, "nt_latency_ip_start__netif_receive_skb"));
	plan.must_know = 0;
	assert_int_equal(nt_plan_choose(&plan), 0);
	assert_false(nt_plan_attaches(&plan, "nt_tcp_rcv_space_adjust"));
	assert_true(nt_plan_attaches(&plan, "nt_latency_ip_start__netif_receive_skb"));
	plan.must_know = NT_KNOWS_QUEUE;
	assert_int_equal(nt_plan_choose(&plan), 0);
	assert_false(nt_plan_attaches(&plan, "nt_tcp_rcv_space_adjust"));
	assert_true(nt_plan_attaches(&plan, "nt_latency_tcp_start__tcp_probe"));
}

/* Where fentry is refused, only the entry of a system call tells when a task's own poll began. */
static void polls_without_a_begin(void **state)
{
	char bad[64];

	(void)state;
	kernel.load_error = EPERM;
	kernel.missing[0] = "bpf_rdonly_cast";
	choose("busypoll");
	assert_false(plan.has_casts);
	uncovered(NT_PROBE_BUSYPOLL);
	assert_true(is_said("no program sees them begin"));
	choose("busypoll,socket");
	uncovered(NT_PROBE_BUSYPOLL);
	assert_false(is_said("no program sees them begin"));
	assert_true(is_said("The first poll of a busy-polling task"));
	assert_true(nt_plan_only(&plan, "ends"));
	assert_true(nt_plan_parse(&plan, "busypoll,socket", bad, sizeof(bad)));
	assert_int_equal(nt_plan_choose(&plan), 0);
	assert_true(plan.chosen[NT_PROBE_SOCKET]->only_ends);
	uncovered(NT_PROBE_BUSYPOLL);
	assert_true(is_said("no program sees them begin"));
}

/* ---- loading and attaching: libbpf's programs and links, as far as they are used ---- */

struct bpf_program {
	char name[96];
	int is_loaded; /* -1: not said */
	char attached_to[96];
};

struct bpf_link {
	int unused;
};

static struct bpf_program programs[128];
static size_t n_programs;
static struct bpf_link links[NT_PROBE_COUNT * NT_PLAN_MAX_POINTS];
static int n_links, n_destroyed;
static const char *fails; /* a program that cannot be attached */

struct bpf_program *bpf_object__find_program_by_name(const struct bpf_object *object, const char *name)
{
	(void)object;
	for (size_t i = 0; i < n_programs; i++)
		if (!strcmp(programs[i].name, name))
			return &programs[i];
	return NULL;
}

struct bpf_program *bpf_object__next_program(const struct bpf_object *object, struct bpf_program *before)
{
	size_t next = before ? (size_t)(before - programs) + 1 : 0;

	(void)object;
	return next < n_programs ? &programs[next] : NULL;
}

const char *bpf_program__name(const struct bpf_program *program)
{
	return program->name;
}

int bpf_program__set_autoload(struct bpf_program *program, bool is_loaded)
{
	program->is_loaded = is_loaded;
	return 0;
}

static struct bpf_link *attach(struct bpf_program *program, const char *to)
{
	errno = EACCES;
	if (fails && !strcmp(fails, program->name))
		return NULL;
	snprintf(program->attached_to, sizeof(program->attached_to), "%s", to);
	return &links[n_links++];
}

struct bpf_link *bpf_program__attach(const struct bpf_program *program)
{
	return attach((struct bpf_program *)program, "its own");
}

struct bpf_link *bpf_program__attach_raw_tracepoint(const struct bpf_program *program, const char *point)
{
	return attach((struct bpf_program *)program, point);
}

int bpf_link__destroy(struct bpf_link *link)
{
	n_destroyed++;
	assert_ptr_equal(link, &links[n_links - n_destroyed]);
	return 0;
}

struct bpf_link *bpf_program__attach_cgroup(const struct bpf_program *program, int root)
{
	assert_true(root >= 0);
	return attach((struct bpf_program *)program, "the root cgroup");
}

static struct bpf_program *add_program(const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(NULL, name);

	if (!program) {
		program = &programs[n_programs++];
		snprintf(program->name, sizeof(program->name), "%s", name);
	}
	program->is_loaded = -1;
	program->attached_to[0] = 0;
	return program;
}

static void make_programs(void)
{
	n_programs = 0;
	n_links = n_destroyed = 0;
	fails = NULL;
	add_program("nt_control");
	for (int probe = 0; probe < NT_PROBE_COUNT; probe++)
		for (const struct nt_candidate *way = nt_probes[probe].candidates; way->name; way++)
			for (const struct nt_attach_point *point = way->points; point->program; point++)
				add_program(point->program);
}

static void loads_what_is_chosen(void **state)
{
	struct nt_attach_failure failed = {};

	(void)state;
	kernel.missing[0] = "cgroup_mkdir";
	choose("irq,stacks");
	make_programs();
	nt_plan_set_autoload(&plan, NULL);
	assert_int_equal(nt_plan_attach(&plan, NULL, &failed), 0);
	for (size_t i = 0; i < n_programs; i++) {
		const char *name = programs[i].name;
		bool is_chosen = nt_plan_attaches(&plan, name),
		     waits = !strcmp(name, "nt_stack_sample") || !strcmp(name, "nt_seed");

		if (programs[i].is_loaded != (is_chosen || !strcmp(name, "nt_control")))
			fail_msg("%s: loaded %d", name, programs[i].is_loaded);
		if (!programs[i].attached_to[0] != (!is_chosen || waits))
			fail_msg("%s is attached to '%s'", name, programs[i].attached_to);
	}
	assert_string_equal(add_program("nt_cgroup_mkdir")->attached_to, "");
	assert_string_equal(add_program("nt_seed_sockets")->attached_to, "");
	assert_int_equal(plan.n_links, n_links);
	nt_plan_detach(&plan);
	assert_int_equal(n_destroyed, n_links);
	assert_int_equal(plan.n_links, 0);
}

/* Which sockets there are is asked where it is to be known who receives. */
static void asks_for_sockets(void **state)
{
	(void)state;
	choose("deliver");
	make_programs();
	nt_plan_set_autoload(&plan, NULL);
	assert_int_equal(bpf_object__find_program_by_name(NULL, "nt_seed_sockets")->is_loaded, 1);
	assert_int_equal(bpf_object__find_program_by_name(NULL, "nt_inet_sock_set_state")->is_loaded, 1);
}

/* Where no program may be put before functions, one sees packets at the root cgroup, if that is to be had. */
static void attaches_to_the_root_cgroup(void **state)
{
	struct nt_attach_failure failed = {};

	(void)state;
	choose("deliver");
	assert_true(nt_plan_attaches(&plan, "nt_enter_sk_filter_trim_cap"));
	assert_false(nt_plan_attaches(&plan, "nt_rx_socket"));
	kernel.load_error = EPERM;
	choose("deliver");
	assert_false(nt_plan_attaches(&plan, "nt_enter_sk_filter_trim_cap"));
	make_programs();
	assert_int_equal(nt_plan_attach(&plan, NULL, &failed), 0);
	assert_string_equal(bpf_object__find_program_by_name(NULL, "nt_rx_socket")->attached_to, "the root cgroup");
	kernel.root_error = -EPERM;
	choose("deliver");
	make_programs();
	assert_int_equal(nt_plan_attach(&plan, NULL, &failed), 0);
	assert_string_equal(bpf_object__find_program_by_name(NULL, "nt_rx_socket")->attached_to, "");
	uncovered(NT_PROBE_DELIVER);
	assert_string_equal(said.sentences[said.n - 1],
			    "No program sees packets at the root cgroup (Operation not permitted): to which sockets "
			    "packets went is guessed by their addresses and ports.");
	kernel.root_error = 0;
	choose("deliver");
	assert_true(nt_plan_refuse(&plan, "nt_rx_socket", "too large"));
	uncovered(NT_PROBE_DELIVER);
	assert_string_equal(said.sentences[0],
			    "This kernel refuses the program nt_rx_socket (too large): to which sockets packets went "
			    "is guessed by their addresses and ports.");
}

static void attaches_vectors_by_name(void **state)
{
	struct nt_attach_failure failed = {};

	(void)state;
	choose("irq");
	make_programs();
	assert_int_equal(nt_plan_attach(&plan, NULL, &failed), 0);
	assert_string_equal(bpf_object__find_program_by_name(NULL, "nt_vector_entry")->attached_to,
			    "deferred_error_apic_entry");
	assert_string_equal(bpf_object__find_program_by_name(NULL, "nt_irq_handler_exit")->attached_to, "its own");
}

static void names_the_point_that_fails(void **state)
{
	struct nt_attach_failure failed = {};

	(void)state;
	choose("irq");
	make_programs();
	fails = "nt_softirq_exit";
	assert_int_equal(nt_plan_attach(&plan, NULL, &failed), 0);
	fails = "nt_irq_handler_entry";
	assert_int_equal(nt_plan_attach(&plan, NULL, &failed), -EACCES);
	assert_string_equal(failed.point, "irq_handler_entry");
	n_programs = 0;
	assert_int_equal(nt_plan_attach(&plan, NULL, &failed), -ENOENT);
	assert_string_equal(failed.point, "sched_switch");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(modern_kernel_serves_all_by_the_first_way, set_up),
		cmocka_unit_test_setup(points_that_the_host_has_use_for, set_up),
		cmocka_unit_test_setup(probe_that_is_off_is_not_chosen, set_up),
		cmocka_unit_test_setup(missing_points, set_up),
		cmocka_unit_test_setup(looks_before_it_touches, set_up),
		cmocka_unit_test_setup(refused_trials, set_up),
		cmocka_unit_test_setup(preempting_kernel, set_up),
		cmocka_unit_test_setup(plan_that_is_asked_for, set_up),
		cmocka_unit_test_setup(preempted_programs_become_events, set_up),
		cmocka_unit_test_setup(leaves_out_what_would_be_preempted, set_up),
		cmocka_unit_test_setup(events_that_are_asked_for, set_up),
		cmocka_unit_test_setup(tracepoints_of_other_kernels, set_up),
		cmocka_unit_test_setup(parses_lists, set_up),
		cmocka_unit_test_setup(refuses_lists, set_up),
		cmocka_unit_test_setup(polls_without_a_begin, set_up),
		cmocka_unit_test_setup(busy_polling_is_on_where_the_host_polls, set_up),
		cmocka_unit_test_setup(says_whether_it_preempts, set_up),
		cmocka_unit_test_setup(says_what_is_not_covered, set_up),
		cmocka_unit_test_setup(does_without_a_refused_program, set_up),
		cmocka_unit_test_setup(refused_until_nothing_is_left, set_up),
		cmocka_unit_test_setup(gives_a_probe_up, set_up),
		cmocka_unit_test_setup(error_of_the_listener_ends_it, set_up),
		cmocka_unit_test_setup(filters_leave_out_hooks, set_up),
		cmocka_unit_test_setup(functions_are_tried_at_their_ends, set_up),
		cmocka_unit_test_setup(kernel_without_types, set_up),
		cmocka_unit_test_setup(loads_what_is_chosen, set_up),
		cmocka_unit_test_setup(asks_for_sockets, set_up),
		cmocka_unit_test_setup(attaches_to_the_root_cgroup, set_up),
		cmocka_unit_test_setup(attaches_vectors_by_name, set_up),
		cmocka_unit_test_setup(names_the_point_that_fails, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
