// SPDX-License-Identifier: GPL-2.0-only
/*
 * meta_test.c - what the tape says about a session, word for word, on hosts that are made here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>

#include "record/meta.h"
#include "tests/support/fake_files.h"

/* ---- the host ---- */

#define CPUINFO(flags) "processor\t: 0\nmodel name\t: X\nflags\t\t: fpu" flags " sse\nbugs\t\t: hypervisor\n"

static struct fake_file files[] = {
	{"/etc/os-release", "NAME=\"Some\"\nPRETTY_NAME=\"Some OS 12 (x)\"\nID=some\n"},
	{"/proc/cpuinfo", CPUINFO("")},
	{"/sys/class/dmi/id/sys_vendor", "QEMU\n"},
	{"/sys/firmware/devicetree/base/compatible", NULL},
	{"/sys/devices/system/cpu/possible", "0-3\n"},
	{"/sys/devices/system/cpu/online", "0-1,3\n"},
	{"/proc/sys/net/core/busy_read", "0\n"},
	{"/proc/sys/net/core/busy_poll", "0\n"},
	{"/proc/sys/net/core/netdev_tstamp_prequeue", "1\n"},
	{"/proc/sys/kernel/random/boot_id", "12345678-1234-1234-1234-123456789abc\n"},
	{},
};
static struct fake_file now[sizeof(files) / sizeof(files[0])];
static bool is_random;

static void set_file(const char *path, const char *text)
{
	for (struct fake_file *file = now; file->path; file++)
		if (!strcmp(file->path, path))
			file->text = text;
}

/* 2,000.5 s since the boot; 1,600,000,000.25 s since 1970. */
int clock_gettime(clockid_t id, struct timespec *time)
{
	*time = id == CLOCK_REALTIME ? (struct timespec){1600000000, 250000000} : (struct timespec){2000, 500000000};
	return 0;
}

int uname(struct utsname *name)
{
	memset(name, 0, sizeof(*name));
	strcpy(name->release, "6.99-test");
	strcpy(name->machine, "x86_64");
	return 0;
}

int gethostname(char *name, size_t size)
{
	memset(name, 'h', size);
	return 0;
}

ssize_t getrandom(void *to, size_t size, unsigned int flags)
{
	(void)flags;
	memset(to, 0xab, size);
	return is_random ? (ssize_t)size : -1;
}

/* ---- the recording ---- */

static const struct nt_attach_point points[] = {
	{.program = "nt_a", .point = "a"},
	{.program = "nt_b", .point = "b", .how = NT_AT_ENTRY},
	{.program = "nt_c", .point = "c", .how = NT_AT_NAMED},
	{},
};
static const char *const uncovered[] = {"This way does not see that.", NULL};
static const struct nt_candidate way = {.name = "a-way", .points = points, .uncovered = uncovered};

static struct nt_record_options options;
static struct nt_kernel kernel;
static struct nt_buf out;

const struct nt_flow_hash *nt_kernel_flow_hashes(const struct nt_kernel *of)
{
	static const struct nt_flow_hash hashes[2] = {{.addend = 0x1234}, {.factors = {[12] = UINT64_MAX}}};

	assert_ptr_equal(of, &kernel);
	return hashes;
}

static void choose(int probe)
{
	options.plan.on[probe] = true;
	options.plan.chosen[probe] = &way;
	memset(options.plan.has[probe], true, 3);
}

static int set_up(void **state)
{
	(void)state;
	memcpy(now, files, sizeof(files));
	fake_files = now;
	is_random = true;
	memset(&options, 0, sizeof(options));
	memset(&kernel, 0, sizeof(kernel));
	kernel.start_ns = 1999000000000;
	options.ring_size = 262144;
	options.stacks_hz = 99;
	strcpy(options.command_line, "nettape-record -d 1");
	for (int probe = 0; probe < NT_PROBE_COUNT; probe++)
		strcpy(options.plan.refused[probe], "");
	choose(NT_PROBE_SCHED);
	choose(NT_PROBE_SOFTIRQ);
	choose(NT_PROBE_IRQ);
	choose(NT_PROBE_SOCKET);
	choose(NT_PROBE_BUSYPOLL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	nt_buf_release(&out);
	return 0;
}

static const char *text(void)
{
	assert_int_equal(nt_buf_append(&out, "", 1), 0);
	out.size--;
	return (const char *)out.data;
}

static const char *open_session(const char *hidden)
{
	out.size = 0;
	assert_int_equal(nt_meta_open(&out, &options, &kernel, hidden), 0);
	return text();
}

static void has(const char *part)
{
	if (!strstr(text(), part))
		fail_msg("no '%s' in:\n%s", part, text());
}

static void has_no(const char *part)
{
	if (strstr(text(), part))
		fail_msg("'%s' in:\n%s", part, text());
}

/* ---- tests ---- */

#define POINTS(probe) "attach=" probe " nt_a tp_btf:a\nattach=" probe " nt_b fentry:b\nattach=" probe " nt_c raw_tp:c\n"
#define SENTENCE "uncovered=This way does not see that.\n"

static void opens_a_session(void **state)
{
	(void)state;
	assert_string_equal(
		open_session(""), "tool=nettape-record " NT_VERSION "\n"
				  "start_ns=1999000000000\n"
				  "start_realtime_ns=1599999998750000000\n"
				  "kernel=6.99-test\n"
				  "machine=x86_64\n"
				  "os=Some OS 12 (x)\n"
				  "virtual=none\n"
				  "cpus_possible=0-3\n"
				  "cpus_online=0-1,3\n"
				  "clock_ticks=100\n"
				  "page_bytes=4096\n"
				  "ring_size=262144\n"
				  "probes=sched,softirq,irq,socket,busypoll\n"
				  "plan=sched a-way\n"
				  "plan=softirq a-way\n"
				  "plan=irq a-way\n"
				  "plan=socket a-way\n"
				  "plan=busypoll a-way\n" POINTS("sched") POINTS("softirq") POINTS("irq")
					  POINTS("socket") POINTS("busypoll") SENTENCE SENTENCE SENTENCE SENTENCE
		"uncovered=Polls of busy-polling tasks are counted, but their time belongs to the task or its receive: "
		"no program sees them begin.\n"
		"uncovered=Received packets are not recorded: nobody knows who pays for net_rx.\n"
		"uncovered=The network's timers are not recorded: what of the softirqs' time they took is not "
		"known.\n"
		"busy_read=0\n"
		"busy_poll=0\n"
		"command=nettape-record -d 1\n");
}

/* Readers look for a probe by its whole name. */
static void names_all_probes(void **state)
{
	const char *at;

	(void)state;
	for (int probe = 0; probe < NT_PROBE_COUNT; probe++)
		choose(probe);
	at = strstr(open_session(""), "\nprobes=");
	assert_non_null(at);
	at += strlen("\nprobes=");
	for (int probe = 0; probe < NT_PROBE_COUNT; probe++) {
		const size_t size = strlen(nt_probes[probe].name);

		assert_memory_equal(at, nt_probes[probe].name, size);
		assert_int_equal(at[size], probe + 1 < NT_PROBE_COUNT ? ',' : '\n');
		at += size + 1;
	}
}

static void says_how_a_probe_is_served(void **state)
{
	(void)state;
	strcpy(options.plan.refused[NT_PROBE_SOCKET], "fentry:f: no");
	options.plan.has[NT_PROBE_SOCKET][1] = false;
	options.plan.chosen[NT_PROBE_IRQ] = NULL;
	options.plan.on[NT_PROBE_IRQ] = false;
	open_session("");
	has("probes=sched,softirq,socket,busypoll\n");
	has("plan=socket a-way (not fentry: fentry:f: no)\n");
	has("attach=socket nt_a tp_btf:a\nattach=socket nt_c raw_tp:c\n");
	has_no("plan=irq");
	has_no("attach=irq");
	has("uncovered=Hard interrupts are not recorded");
}

static void says_what_is_hidden(void **state)
{
	(void)state;
	open_session("The kernel hides one.");
	has("uncovered=The kernel hides one.\ncommand=");
}

static void says_of_latency_and_stacks(void **state)
{
	(void)state;
	open_session("");
	has_no("stacks");
	has_no("netdev_tstamp_prequeue");
	has_no("latency");
	choose(NT_PROBE_LATENCY);
	options.filter.min_queue = 3;
	open_session("");
	has("latency_filter=at least 3 packets in the socket's queue\nnetdev_tstamp_prequeue=1\n");
	has_no("stacks_hz");
	choose(NT_PROBE_STACKS);
	open_session("");
	has("netdev_tstamp_prequeue=1\nstacks_hz=99\nstacks=network\nuser_stacks=0\n");
	options.stacks_all = options.user_stacks = true;
	open_session("");
	has("stacks_hz=99\nstacks=all\nuser_stacks=1\n");
}

static void says_how_flows_are_counted(void **state)
{
	(void)state;
	open_session("");
	has_no("flow_");
	choose(NT_PROBE_FLOWS);
	options.flows = (struct nt_flows_options){.sample = 0.25, .shape = {.rows = 2, .column_bits = 10}, .keys = 5};
	open_session("");
	has("flow_keys=flow,dst\nflow_sample=0.25\nflow_sketch=2x1024\nflow_hash=00000000000012340000");
	has("0000ffffffffffffffff\ncommand=");
}

static void says_that_busy_polling_is_hidden(void **state)
{
	(void)state;
	options.plan.chosen[NT_PROBE_BUSYPOLL] = NULL;
	open_session("");
	has_no("Busy polling is on");
	set_file("/proc/sys/net/core/busy_read", "50\n");
	open_session("");
	has("busy_read=50\nbusy_poll=0\nuncovered=Busy polling is on (net.core.busy_read 50, net.core.busy_poll 0), "
	    "but was "
	    "not recorded: its time is inside that of tasks and receives.\n");
	set_file("/proc/sys/net/core/busy_read", "0\n");
	set_file("/proc/sys/net/core/busy_poll", "60\n");
	open_session("");
	has("uncovered=Busy polling is on (net.core.busy_read 0, net.core.busy_poll 60)");
	options.plan.chosen[NT_PROBE_BUSYPOLL] = &way;
	open_session("");
	has("busy_poll=60\n");
	has_no("Busy polling is on");
}

static void knows_virtual_machines(void **state)
{
	(void)state;
	set_file("/proc/cpuinfo", CPUINFO(" hypervisor"));
	open_session("");
	has("virtual=QEMU\n");
	set_file("/sys/class/dmi/id/sys_vendor", NULL);
	open_session("");
	has("virtual=hypervisor\n");
	set_file("/sys/class/dmi/id/sys_vendor", "");
	open_session("");
	has("virtual=hypervisor\n");
	set_file("/proc/cpuinfo", "Features\t: fp\n");
	open_session("");
	has("virtual=unknown\n");
	set_file("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
	open_session("");
	has("virtual=unknown (Amazon EC2)\n");
	set_file("/sys/firmware/devicetree/base/compatible", "linux,dummy-virt");
	open_session("");
	has("virtual=hypervisor\n");
}

static void host_that_says_nothing(void **state)
{
	(void)state;
	for (struct fake_file *file = now; file->path; file++)
		file->text = NULL;
	open_session("");
	has("os=unknown\nvirtual=unknown\ncpus_possible=\ncpus_online=\n");
	has("busy_read=\nbusy_poll=\n");
	set_file("/etc/os-release", "NAME=x\n");
	open_session("");
	has("os=unknown\n");
}

static void closes_a_session(void **state)
{
	struct nt_totals totals = {.events = 1000, .lost = 20, .missed = 3};

	(void)state;
	assert_int_equal(nt_meta_close(&out, 77, "signal", &totals), 0);
	assert_string_equal(text(), "end_ns=77\nstop=signal\nevents=1000\nlost=23\ncomplete=1\n");
	totals.many = 1234567;
	nt_buf_release(&out);
	assert_int_equal(nt_meta_close(&out, 77, "signal", &totals), 0);
	assert_non_null(strstr(text(), "lost=23\nuncovered=Up to 1,234,567 received packets"));
}

static void error_is_passed_on(void **state)
{
	struct nt_totals totals = {};

	(void)state;
	/* A line end would begin a line that is none. */
	strcpy(options.command_line, "two\nlines");
	assert_int_equal(nt_meta_open(&out, &options, &kernel, ""), -EINVAL);
	strcpy(options.command_line, "one line");
	assert_int_equal(nt_meta_open(&out, &options, &kernel, "two\nlines"), -EINVAL);
	assert_int_equal(nt_meta_close(&out, 77, "a\nb", &totals), -EINVAL);
	choose(NT_PROBE_LATENCY);
	options.filter.sample_text = "0.1\n";
	assert_int_equal(nt_meta_open(&out, &options, &kernel, ""), -EINVAL);
	options.filter.sample_text = NULL;
	strcpy(options.plan.refused[NT_PROBE_SCHED], "a\nb");
	assert_int_equal(nt_meta_open(&out, &options, &kernel, ""), -EINVAL);
}

static void makes_a_header(void **state)
{
	struct nt_chunk_header header;

	(void)state;
	memset(&header, 0xff, sizeof(header));
	nt_meta_header(&header);
	assert_int_equal(header.version, NT_CHUNK_VERSION);
	assert_string_equal(header.boot_id, "12345678-1234-1234-1234-123456789abc");
	assert_int_equal(header.session[0], 0xab);
	assert_int_equal(header.session[sizeof(header.session) - 1], 0xab);
	assert_int_equal(strnlen(header.host, sizeof(header.host)), sizeof(header.host) - 1);
	/* Without random numbers the time must do. */
	is_random = false;
	nt_meta_header(&header);
	assert_string_equal((char *)header.session, "16345785e786b28");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(opens_a_session, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_all_probes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(says_how_a_probe_is_served, set_up, tear_down),
		cmocka_unit_test_setup_teardown(says_what_is_hidden, set_up, tear_down),
		cmocka_unit_test_setup_teardown(says_of_latency_and_stacks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(says_how_flows_are_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(says_that_busy_polling_is_hidden, set_up, tear_down),
		cmocka_unit_test_setup_teardown(knows_virtual_machines, set_up, tear_down),
		cmocka_unit_test_setup_teardown(host_that_says_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(closes_a_session, set_up, tear_down),
		cmocka_unit_test_setup_teardown(error_is_passed_on, set_up, tear_down),
		cmocka_unit_test_setup_teardown(makes_a_header, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
