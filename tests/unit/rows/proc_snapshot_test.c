// SPDX-License-Identifier: GPL-2.0-only
/*
 * proc_snapshot_test.c - the texts of /proc and of the recorder as counters, and what is no such text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/proc_snapshot.h"
#include "tests/support/rand.h"

/* Counters as lines "CPU PROGRAM NAME VALUE", CPU and PROGRAM "-" if there is none. */
struct found {
	char text[8192];
	size_t size;
	uint64_t n, bad;
	int stop_after;
};

static int collect(void *arg, const struct nt_counter *counter)
{
	struct found *found = arg;
	char cpu[24] = "-";

	if (counter->cpu >= 0)
		snprintf(cpu, sizeof(cpu), "%lld", (long long)counter->cpu);
	if (found->size < sizeof(found->text))
		found->size += (size_t)snprintf(found->text + found->size, sizeof(found->text) - found->size,
						"%s %s %s %lld\n", cpu, counter->program ? counter->program : "-",
						counter->name, (long long)counter->value);
	assert_true(strlen(counter->name) < NT_COUNTER_NAME_MAX);
	found->n++;
	return found->stop_after && found->n == (uint64_t)found->stop_after ? -99 : 0;
}

static int parse(struct found *found, const char *name, const char *text, size_t size)
{
	struct nt_proc_snapshot snapshot = {.name = name, .text = text, .text_size = size};

	found->size = found->n = found->bad = 0;
	found->text[0] = 0;
	return nt_proc_snapshot_parse(&snapshot, collect, found, &found->bad);
}

static void expect(const char *name, const char *text, const char *counters, uint64_t bad)
{
	struct found found = {.stop_after = 0};

	assert_int_equal(parse(&found, name, text, strlen(text)), 0);
	assert_string_equal(found.text, counters);
	assert_int_equal(found.bad, bad);
}

static void reads_stat(void **state)
{
	(void)state;
	expect("/proc/stat", "cpu  1 2 3 4\ncpu0 10 20 30 40 50 60 70 80 90 100 7\ncpu12 5\nintr 999 1 2 3\nctxt 5\n",
	       "- - user 1\n- - nice 2\n- - system 3\n- - idle 4\n"
	       "0 - user 10\n0 - nice 20\n0 - system 30\n0 - idle 40\n0 - iowait 50\n0 - irq 60\n0 - softirq 70\n0 - "
	       "steal 80\n"
	       "0 - guest 90\n0 - guest_nice 100\n"
	       "12 - user 5\n- - intr 999\n- - ctxt 5\n",
	       0);
	expect("/proc/stat", "cpu-1 5\ncpux 5\ncpu99999999999999999999 1\ncpu3 x 6\nbtime\n\nctxt 7\n",
	       "3 - nice 6\n- - ctxt 7\n", 5);
}

static void reads_softirqs(void **state)
{
	(void)state;
	/* CPU numbers are the header's, and may have holes. */
	expect("/proc/softirqs", "      CPU0   CPU2\nHI: 1 2\n  NET_RX:  30 40  \n",
	       "0 - HI 1\n2 - HI 2\n0 - NET_RX 30\n2 - NET_RX 40\n", 0);
	expect("/proc/softirqs", "CPU0\nHI 1\nTIMER: 1 2\nRCU: -\n: 5\n", "0 - TIMER 1\n", 4);
	expect("/proc/softirqs", "", "", 0);
	expect("/proc/softirqs", "CPU0", "", 0);
}

static void reads_softnet(void **state)
{
	(void)state;
	expect("/proc/net/softnet_stat", "0000000a 00000001 00000002 0 0 0 0 0 3 4 5 6 00000007 8 9\n",
	       "7 - processed 10\n7 - dropped 1\n7 - time_squeeze 2\n7 - cpu_collision 3\n7 - received_rps 4\n7 - "
	       "flow_limit_count 5\n"
	       "7 - backlog_len 6\n7 - input_qlen 8\n7 - process_qlen 9\n",
	       0);
	/* Newer kernels may have more columns. */
	expect("/proc/net/softnet_stat", "1 2 3 0 0 0 0 0 0 0 0 0 0 0 0 10 11\n",
	       "0 - processed 1\n0 - dropped 2\n0 - time_squeeze 3\n0 - cpu_collision 0\n0 - received_rps 0\n0 - "
	       "flow_limit_count 0\n0 - backlog_len 0\n0 - input_qlen 0\n0 - process_qlen 0\n",
	       0);
	/* Old kernels do not say which CPU. */
	expect("/proc/net/softnet_stat", "1 2 3\nff 0 0\nzz\n",
	       "0 - processed 1\n0 - dropped 2\n0 - time_squeeze 3\n1 - processed 255\n"
	       "1 - dropped 0\n1 - time_squeeze 0\n",
	       1);
	/* Nothing is taken from the line before. */
	expect("/proc/net/softnet_stat", "1 2 3 0 0 0 0 0 0 0 0 0 -1\n4 5 6 0 0 0 0 0 7 8 9 a\n",
	       "1 - processed 4\n1 - dropped 5\n1 - time_squeeze 6\n1 - cpu_collision 7\n1 - received_rps 8\n1 - "
	       "flow_limit_count 9\n1 - backlog_len 10\n",
	       1);
}

static void reads_snmp(void **state)
{
	(void)state;
	expect("/proc/net/snmp", "Tcp: MaxConn InSegs\nTcp: -1 77\nUdp: InDatagrams\nUdp: 5\n",
	       "- - Tcp.MaxConn -1\n- - Tcp.InSegs 77\n- - Udp.InDatagrams 5\n", 0);
	expect("/proc/net/snmp", "Tcp: A B\nUdp: 1 2\nIp: A B\nIp: 1\nAlone: A\n", "- - Ip.A 1\n", 3);
}

static void reads_sockstat(void **state)
{
	(void)state;
	expect("/proc/net/sockstat", "sockets: used 9\nTCP: inuse 1 mem 257\nFRAG: inuse 0 memory 0\n",
	       "- - sockets.used 9\n- - TCP.inuse 1\n- - TCP.mem 257\n- - FRAG.inuse 0\n- - FRAG.memory 0\n", 0);
	expect("/proc/net/sockstat", "TCP inuse 1\nUDP: inuse 1 mem\nRAW: inuse x\n\n", "- - UDP.inuse 1\n", 4);
}

static void reads_pressure(void **state)
{
	(void)state;
	expect("/proc/pressure/cpu",
	       "some avg10=0.08 avg60=0.59 avg300=7.48 total=22389914166\nfull avg10=0.00 avg60=0.00 avg300=0.00 "
	       "total=0\n",
	       "- - some_us 22389914166\n- - full_us 0\n", 0);
	expect("/proc/pressure/irq", "full avg10=0.00 total=7 more=1\nsome avg10=0.00\nsome total=\ntotal=5\n\n",
	       "- - full_us 7\n", 4);
}

static void reads_energy(void **state)
{
	(void)state;
	expect("/sys/class/powercap", "package-0 12\npackage-0.dram x\npsys\n\npsys 5 6\n",
	       "- - package-0 12\n- - psys 5\n", 3);
	expect("/sys/devices/system/cpu", "0 package=0 die=1\n12 package=1 core\n-1 package=0\nx\n",
	       "0 - package 0\n0 - die 1\n12 - package 1\n", 3);
}

static void reads_own_counters(void **state)
{
	(void)state;
	expect("nettape/cpus", "0 switch 10 2\n1 op 5 0\nx op 1 1\n1 op 5\n",
	       "0 - switch.written 10\n0 - switch.lost 2\n1 - op.written 5\n1 - op.lost 0\n", 2);
	expect("nettape/programs", "nt_a recorded=5 skipped_family=1\nnt_b x=y =3 a= b\n\nnt_c x=2\n",
	       "- nt_a recorded 5\n- nt_a skipped_family 1\n- nt_c x 2\n", 5);
	expect("nettape/self", "user_ns=1\nmax_rss_kib=2\nbad\n", "- - user_ns 1\n- - max_rss_kib 2\n", 1);
	expect("/proc/unheard_of", "a b c\n", "", 0);
}

static void tells_whose_cost(void **state)
{
	struct nt_proc_snapshot snapshot = {.name = "nettape/self"};

	(void)state;
	assert_true(nt_proc_snapshot_is_self(&snapshot));
	snapshot.name = "nettape/cpus";
	assert_false(nt_proc_snapshot_is_self(&snapshot));
	snapshot.name = "other";
	assert_false(nt_proc_snapshot_is_self(&snapshot));
}

static void numbers_have_bounds(void **state)
{
	(void)state;
	expect("nettape/self", "a=9223372036854775807\nb=9223372036854775808\nc=-9223372036854775807\n",
	       "- - a 9223372036854775807\n- - c -9223372036854775807\n", 1);
}

/* The longest name that there may be, and one that is a letter longer. */
static void names_have_bounds(void **state)
{
	char text[3 * NT_COUNTER_NAME_MAX], counters[NT_COUNTER_NAME_MAX + 8];
	const int longest = NT_COUNTER_NAME_MAX - 1;

	(void)state;
	snprintf(text, sizeof(text), "%0*d=7\n%0*d=8\n", longest, 0, longest + 1, 0);
	snprintf(counters, sizeof(counters), "- - %0*d 7\n", longest, 0);
	expect("nettape/self", text, counters, 1);
}

static void passes_on_a_refusal(void **state)
{
	struct found found = {.stop_after = 3};
	static const char text[] = "cpu0 1 2 3 4 5\n";

	(void)state;
	assert_int_equal(parse(&found, "/proc/stat", text, sizeof(text) - 1), -99);
	assert_int_equal(found.n, 3);
}

/* Mutations of texts, each in a buffer that ends where they do: only the sanitizers can object. */
static void survives_anything(void **state)
{
	static const struct {
		const char *name, *text;
	} seeds[] = {
		{"/proc/stat", "cpu  1 2 3 4\ncpu0 10 20 30 40 50 60 70 80 90 100\nintr 999 1\n"},
		{"/proc/softirqs", "      CPU0   CPU2\nHI: 1 2\n  NET_RX:  30 40  \n"},
		{"/proc/net/softnet_stat", "0000000a 1 2 0 0 0 0 0 3 4 5 6 7 8 9\n"},
		{"/proc/net/snmp", "Tcp: MaxConn InSegs\nTcp: -1 77\n"},
		{"nettape/cpus", "0 switch 10 2\n1 op 5 0\n"},
		{"nettape/programs", "nt_a recorded=5 skipped_family=1\n"},
		{"nettape/self", "user_ns=1\nmax_rss_kib=2\n"},
	};
	struct nt_rand rand = {nt_rand_seed()};

	(void)state;
	for (unsigned int i = 0; i < 20000; i++) {
		size_t which = nt_rand_below(&rand, sizeof(seeds) / sizeof(seeds[0]));
		size_t size = nt_rand_below(&rand, strlen(seeds[which].text) + 1);
		struct found found = {.stop_after = 0};
		char *text = malloc(size + !size);

		memcpy(text, seeds[which].text, size);
		for (unsigned int k = 0; size && k < 4; k++)
			text[nt_rand_below(&rand, size)] =
				(char)(nt_rand_below(&rand, 2) ? " \n\t:=-0C"[nt_rand_below(&rand, 8)]
							       : (char)nt_rand_u64(&rand));
		parse(&found, seeds[which].name, text, size);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_stat),	     cmocka_unit_test(reads_softirqs),
		cmocka_unit_test(reads_softnet),     cmocka_unit_test(reads_snmp),
		cmocka_unit_test(reads_sockstat),    cmocka_unit_test(reads_pressure),
		cmocka_unit_test(reads_energy),	     cmocka_unit_test(reads_own_counters),
		cmocka_unit_test(tells_whose_cost),  cmocka_unit_test(numbers_have_bounds),
		cmocka_unit_test(names_have_bounds), cmocka_unit_test(passes_on_a_refusal),
		cmocka_unit_test(survives_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
