// SPDX-License-Identifier: GPL-2.0-only
/*
 * symbols_test.c - the names of kernel addresses, from tables that are made here: the function that an address is in,
 * modules that come and go, tables that hide everything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "record/symbols.h"
#include "tests/support/fake_files.h"

#define BASE 0xffffffff81000000ull
#define MODULE 0xffffffffc0000000ull
#define MEGABYTE (1u << 20)

static const char kallsyms[] = "ffffffff81000000 T _text\n"
			       "ffffffff81000000 D a_variable\n"
			       "0000000000000000 T hidden\n"
			       "ffffffff81000300 t third\n"
			       "ffffffff81000100 T first\n"
			       "ffffffff81000200 W second\n"
			       "ffffffff81000280 w weak\n"
			       "ffffffff81000290 b not_code\n"
			       "ffffffffc0000000 t in_module\t[veth]\n"
			       "ffffffffc0000100 t bpf_prog_1_somebodys\t[bpf]\n"
			       "ffffffffc0000200 t bpf_prog_2_nt_sched\t[bpf]\n"
			       "nonsense\n"
			       "ffffffff81000400\n"
			       "ffffffff81000408\tT tab\n"
			       "ffffffff81000400 T\n";
static const char modules[] = "veth 36864 0 - Live 0x0\nnf 4096 1 a, Live 0x0\n";

static struct fake_file files[] = {{"/proc/kallsyms", kallsyms}, {"/proc/modules", modules}, {}};

static struct nt_symbols symbols;
static struct nt_ids ids;

static int set_up(void **state)
{
	(void)state;
	files[0].text = kallsyms;
	files[1].text = modules;
	fake_files = files;
	memset(&symbols, 0, sizeof(symbols));
	return nt_ids_init(&ids);
}

static int tear_down(void **state)
{
	(void)state;
	nt_symbols_release(&symbols);
	nt_ids_release(&ids);
	return 0;
}

static void init(void)
{
	assert_int_equal(nt_symbols_init(&symbols), 0);
}

static void resolve(enum nt_symbols_when when)
{
	assert_int_equal(nt_symbols_resolve(&symbols, &ids, 5, when), 0);
}

static const union nt_any *identity_of(uint64_t address)
{
	uint64_t id = nt_ids_get(&ids, NT_ROLE_SYMBOL, address);

	return ids.spaces[NT_ROLE_SYMBOL].entries[id].identity;
}

/* Referred to by an event. */
static void refer(uint64_t address)
{
	assert_true(nt_ids_get(&ids, NT_ROLE_SYMBOL, address) != UINT64_MAX);
}

static void is_named(uint64_t address, const char *name, const char *module, uint32_t offset)
{
	const union nt_any *identity = identity_of(address);

	if (!identity)
		fail_msg("%#llx has not been put", (unsigned long long)address);
	assert_int_equal(identity->record.kind, NT_SYMBOL);
	assert_int_equal(identity->record.end_ns, 5);
	assert_string_equal(identity->as_symbol.name, name);
	assert_string_equal(identity->as_symbol.module, module);
	assert_int_equal(identity->as_symbol.offset, offset);
}

static void names_what_an_address_is_in(void **state)
{
	(void)state;
	init();
	assert_null(nt_symbols_uncovered(&symbols));
	refer(BASE);
	refer(BASE + 0xff);
	refer(BASE + 0x100);
	refer(BASE + 0x27f);
	refer(BASE + 0x280);
	refer(BASE + 0x295);
	refer(BASE + 0x410);
	refer(MODULE + 0x12);
	refer(BASE + 0x300 + MEGABYTE - 1);
	resolve(NT_SYMBOLS_SOON);
	is_named(BASE, "_text", "", 0);
	is_named(BASE + 0xff, "_text", "", 0xff);
	is_named(BASE + 0x100, "first", "", 0);
	is_named(BASE + 0x27f, "second", "", 0x7f);
	is_named(BASE + 0x280, "weak", "", 0);
	is_named(BASE + 0x295, "weak", "", 0x15);
	is_named(BASE + 0x410, "third", "", 0x110);
	is_named(MODULE + 0x12, "in_module", "veth", 0x12);
	is_named(BASE + 0x300 + MEGABYTE - 1, "third", "", MEGABYTE - 1);
	/* All of these are surely there: nothing is read again. */
	assert_false(symbols.is_reading);
	assert_int_equal(symbols.unsure, 0);
}

/* As on arm64: its code begins with jumps that have no symbol, and $x stands where code begins. */
static void jumps_out_of_a_module(void **state)
{
	(void)state;
	files[0].text = "ffffffffc0000040 t $x\t[veth]\nffffffffc0000040 t a\t[veth]\nffffffffc0000040 t $x.1\t[veth]\n"
			"ffffffffc0001000 t b\t[nf]\n";
	files[1].text = "veth 36864 0 - Live 0xffffffffc0000000\nnf 4096 1 a, Live 0xffffffffc0001000 (OE)\n";
	init();
	refer(MODULE + 0x3c);
	refer(MODULE + 0x44);
	refer(MODULE + 0x1004);
	resolve(NT_SYMBOLS_SOON);
	is_named(MODULE + 0x3c, "[plt]", "veth", 0x3c);
	is_named(MODULE + 0x44, "a", "veth", 4);
	is_named(MODULE + 0x1004, "b", "nf", 4);
}

static void address_outside_has_no_name(void **state)
{
	(void)state;
	init();
	refer(BASE - 1);
	refer(BASE + 0x300 + MEGABYTE);
	refer(42); /* a user symbol: somebody else names it */
	resolve(NT_SYMBOLS_LAST);
	is_named(BASE - 1, "", "", 0);
	is_named(BASE + 0x300 + MEGABYTE, "", "", 0);
	assert_null(identity_of(42));
}

static void nothing_is_done_unless_asked(void **state)
{
	(void)state;
	assert_null(nt_symbols_uncovered(&symbols));
	refer(BASE);
	resolve(NT_SYMBOLS_LAST);
	assert_null(identity_of(BASE));
}

static void looks_functions_up(void **state)
{
	static const char *const names[] = {NULL,	 "first", "a_variable", "hidden",
					    "in_module", "firs",  "third",	"nowhere"};
	uint64_t addresses[8];

	(void)state;
	nt_symbols_look_up(names, 8, addresses);
	assert_int_equal(addresses[0], 0);
	assert_int_equal(addresses[1], 0xffffffff81000100ull);
	assert_int_equal(addresses[2], 0);
	assert_int_equal(addresses[3], 0);
	assert_int_equal(addresses[4], MODULE);
	assert_int_equal(addresses[5], 0);
	assert_int_equal(addresses[6], 0xffffffff81000300ull);
	assert_int_equal(addresses[7], 0);
	files[0].text = NULL;
	nt_symbols_look_up(names, 8, addresses);
	assert_int_equal(addresses[1], 0);
}

static void says_that_addresses_are_hidden(void **state)
{
	(void)state;
	files[0].text = "0000000000000000 T _text\n0000000000000000 t in_module\t[veth]\n";
	init();
	assert_non_null(strstr(nt_symbols_uncovered(&symbols), "CAP_SYSLOG"));
	files[0].text = NULL;
	nt_symbols_release(&symbols);
	init();
	assert_non_null(nt_symbols_uncovered(&symbols));
	refer(BASE);
	resolve(NT_SYMBOLS_LAST);
	is_named(BASE, "", "", 0);
}

/* So many that the table grows, in no order. */
static void large_table(void **state)
{
	enum { N = 70000, LINE = 64 };
	char *text = malloc((size_t)N * LINE), *to = text;

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		to += sprintf(to, "%llx T f%u\n", BASE + (i * 7919ull % N) * 16, (unsigned int)(i * 7919ull % N));
	files[0].text = text;
	init();
	assert_int_equal(symbols.table.n_entries, N);
	refer(BASE + 69999 * 16 + 3);
	refer(BASE + 17 * 16);
	resolve(NT_SYMBOLS_SOON);
	is_named(BASE + 69999 * 16 + 3, "f69999", "", 3);
	is_named(BASE + 17 * 16, "f17", "", 0);
	free(text);
}

static void wait_for_reader(void)
{
	while (!__atomic_load_n(&symbols.has_read, __ATOMIC_ACQUIRE))
		usleep(1000);
}

/* A module that came since: named by the old table first, then by a new one. */
static void module_that_comes(void **state)
{
	(void)state;
	init();
	files[0].text = "ffffffff81000000 T _text\nffffffffc0001000 t of_new\t[new]\n";
	refer(MODULE + 0x1004);
	/* At a chunk's end there is no time to wait, and no need to begin. */
	resolve(NT_SYMBOLS_NOW);
	assert_false(symbols.is_reading);
	is_named(MODULE + 0x1004, "bpf_prog_2_nt_sched", "bpf", 0xe04);
	files[1].text = "veth 36864 0 -\nnew 4096 0 -\n";
	refer(BASE + 1);
	resolve(NT_SYMBOLS_SOON);
	assert_true(symbols.is_reading);
	wait_for_reader();
	resolve(NT_SYMBOLS_SOON);
	assert_false(symbols.is_reading);
	is_named(BASE + 1, "_text", "", 1);
	refer(MODULE + 0x1008);
	resolve(NT_SYMBOLS_SOON);
	is_named(MODULE + 0x1008, "of_new", "new", 8);
}

static void doubtful_name_is_put_again(void **state)
{
	(void)state;
	init();
	refer(BASE + 0x101);
	refer(MODULE + 0x104);
	refer(MODULE + 0x204);
	resolve(NT_SYMBOLS_NOW);
	is_named(MODULE + 0x104, "bpf_prog_1_somebodys", "bpf", 4);
	assert_int_equal(symbols.unsure, 1);
	files[0].text = "ffffffff81000000 T changed\n"
			"ffffffffc0000100 t bpf_prog_9_anothers\t[bpf]\n"
			"ffffffffc0000200 t bpf_prog_10_other\t[bpf]\n";
	resolve(NT_SYMBOLS_LAST);
	is_named(MODULE + 0x104, "bpf_prog_9_anothers", "bpf", 4);
	/* The kernel proper and our own programs stay as they are. */
	is_named(BASE + 0x101, "first", "", 1);
	is_named(MODULE + 0x204, "bpf_prog_2_nt_sched", "bpf", 4);
	assert_int_equal(symbols.unsure, 0);
}

/* The users of a module do not matter; its size does, since another one may have its name. */
static void modules_that_change(void **state)
{
	(void)state;
	init();
	files[1].text = "veth 36864 7 other, Live 0x0\nnf 4096 2 a,b, Live 0x0\n";
	refer(BASE + 1);
	resolve(NT_SYMBOLS_SOON);
	assert_false(symbols.is_reading);
	files[1].text = "veth 40960 7 other, Live 0x0\nnf 4096 2 a,b, Live 0x0\n";
	refer(BASE + 2);
	resolve(NT_SYMBOLS_SOON);
	assert_true(symbols.is_reading);
}

/* A symbol that came while a table was read may not be in it. */
static void doubts_what_came_meanwhile(void **state)
{
	(void)state;
	init();
	refer(MODULE + 0x104);
	resolve(NT_SYMBOLS_SOON);
	assert_true(symbols.is_reading);
	wait_for_reader();
	symbols.has_read = 0; /* as if it were not done */
	refer(MODULE + 0x108);
	resolve(NT_SYMBOLS_NOW);
	assert_int_equal(symbols.unsure, 1);
	symbols.has_read = 1;
	resolve(NT_SYMBOLS_NOW);
	assert_false(symbols.is_reading);
	assert_int_equal(symbols.unsure, 2);
}

/* At the end it is waited for a reading that is under way, and read again for what came meanwhile. */
static void last_call_waits(void **state)
{
	(void)state;
	init();
	refer(MODULE + 0x104);
	resolve(NT_SYMBOLS_SOON);
	assert_true(symbols.is_reading);
	/* The reader is at work meanwhile, and reads the modules first: with this order what it has is never newer. */
	files[0].text = "ffffffffc0000100 t bpf_prog_9_anothers\t[bpf]\nffffffffc0000180 t late\t[late]\n";
	files[1].text = "veth 36864 0 -\n";
	refer(MODULE + 0x181);
	resolve(NT_SYMBOLS_LAST);
	assert_false(symbols.is_reading);
	is_named(MODULE + 0x181, "late", "late", 1);
}

/* A new table that hides all is no better than the old one. */
static void empty_table_does_not_replace(void **state)
{
	(void)state;
	init();
	refer(BASE + 0x300 + MEGABYTE);
	refer(BASE + 0x101);
	files[0].text = "0000000000000000 T _text\n";
	resolve(NT_SYMBOLS_LAST);
	is_named(BASE + 0x101, "first", "", 1);
	assert_int_equal(symbols.table.n_entries, 8);
}

/* Something is always without a name: each reading doubles the pause before the next, up to 64 calls. */
static void pauses_between_readings(void **state)
{
	unsigned int calls = 0, last = 0, gap = 0, readings = 0;

	(void)state;
	init();
	for (; readings < 12; calls++) {
		refer(MODULE - MEGABYTE * 4 - 16 * calls);
		resolve(NT_SYMBOLS_SOON);
		if (!symbols.is_reading)
			continue;
		wait_for_reader();
		resolve(NT_SYMBOLS_SOON);
		assert_false(symbols.is_reading);
		if (readings++)
			assert_true(calls - last >= gap);
		gap = calls - last;
		last = calls;
	}
	assert_int_equal(gap, 65);
	/* Names that need no new table halve it. */
	assert_int_equal(symbols.pause, 64);
	refer(BASE + 0x111);
	resolve(NT_SYMBOLS_SOON);
	assert_int_equal(symbols.pause, 32);
	/* And nothing new changes nothing. */
	resolve(NT_SYMBOLS_SOON);
	assert_int_equal(symbols.pause, 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_what_an_address_is_in, set_up, tear_down),
		cmocka_unit_test_setup_teardown(address_outside_has_no_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_is_done_unless_asked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(looks_functions_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(says_that_addresses_are_hidden, set_up, tear_down),
		cmocka_unit_test_setup_teardown(large_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(module_that_comes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(doubtful_name_is_put_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(jumps_out_of_a_module, set_up, tear_down),
		cmocka_unit_test_setup_teardown(modules_that_change, set_up, tear_down),
		cmocka_unit_test_setup_teardown(doubts_what_came_meanwhile, set_up, tear_down),
		cmocka_unit_test_setup_teardown(last_call_waits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(empty_table_does_not_replace, set_up, tear_down),
		cmocka_unit_test_setup_teardown(pauses_between_readings, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
