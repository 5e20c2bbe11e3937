// SPDX-License-Identifier: GPL-2.0-only
/*
 * refusal_test.c - the program that the kernel refuses, and the reason, by messages as libbpf 1.1 to 1.5 prints them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "record/refusal.h"

static libbpf_print_fn_t print;

libbpf_print_fn_t libbpf_set_print(libbpf_print_fn_t fn)
{
	print = fn;
	return NULL;
}

__attribute__((format(printf, 2, 3))) static void say(enum libbpf_print_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(level, format, args);
	va_end(args);
}

static struct nt_refusal refusal;

static int set_up(void **state)
{
	(void)state;
	memset(&refusal, 'x', sizeof(refusal));
	nt_refusal_listen(&refusal);
	assert_string_equal(refusal.program, "");
	assert_string_equal(refusal.why, "");
	return 0;
}

static void is(const char *program, const char *why)
{
	assert_string_equal(refusal.program, program);
	assert_string_equal(refusal.why, why);
}

#define WARN(...) say(LIBBPF_WARN, "libbpf: " __VA_ARGS__)
#define SPOILS "insn #58 (LDX/ST/STX) accesses field incorrectly. Make sure you are accessing pointers\n"
#define STATISTICS                                                                                                     \
	"verification time 33 usec\nstack depth 0\n"                                                                   \
	"processed 3 insns (limit 1000000) max_states_per_insn 0 total_states 0 peak_states 0 mark_read 0\n"

/* A field that does not fit is warned of in each program that reads it, also where that is never reached. */
static void last_program_counts(void **state)
{
	(void)state;
	WARN("prog '%s': relo #6: %s", "nt_seed", SPOILS);
	WARN("prog '%s': relo #7: %s", "nt_sys_enter", SPOILS);
	is("nt_sys_enter",
	   "relo #7: insn #58 (LDX/ST/STX) accesses field incorrectly. Make sure you are accessing pointers");
	WARN("prog '%s': BPF program load failed: Invalid argument\n", "nt_waking");
	WARN("prog '%s': -- BEGIN PROG LOAD LOG --\n%s-- END PROG LOAD LOG --\n", "nt_waking",
	     "0: R1=ctx()\n; if (task->on_cpu)\n1: <invalid CO-RE relocation>\n"
	     "failed to resolve CO-RE relocation <byte_off> [9] struct task_struct.on_cpu (0:3 @ offset "
	     "12)\n" STATISTICS);
	WARN("prog '%s': failed to load: -22\n", "nt_waking");
	WARN("failed to load object 'nettape'\n");
	WARN("failed to load BPF skeleton 'nettape': -22\n");
	is("nt_waking",
	   "failed to resolve CO-RE relocation <byte_off> [9] struct task_struct.on_cpu (0:3 @ offset 12)");
}

static void verifier_says_why(void **state)
{
	(void)state;
	WARN("prog '%s': BPF program load failed: Permission denied\n", "nt_a");
	is("nt_a", "BPF program load failed: Permission denied");
	WARN("prog '%s': -- BEGIN PROG LOAD LOG --\n%s-- END PROG LOAD LOG --\n", "nt_a",
	     "0: R1=ctx()\n\nR2\tinvalid mem access 'scalar'\n"
	     "processed 3 insns (limit 1000000)\n");
	WARN("prog '%s': failed to load: -13\n", "nt_a");
	is("nt_a", "R2 invalid mem access 'scalar'");
	/* A log that is cut off or empty. */
	WARN("prog '%s': -- BEGIN PROG LOAD LOG --\n%s", "nt_a", "only this");
	is("nt_a", "only this");
	WARN("prog '%s': -- BEGIN PROG LOAD LOG --\n%s-- END PROG LOAD LOG --\n", "nt_b", "");
	WARN("prog '%s': failed to load: -7\n", "nt_b");
	is("nt_b", "failed to load: -7");
}

static void relocation_that_fails(void **state)
{
	(void)state;
	WARN("prog '%s': failed to find kernel BTF type ID of '%s': -3\n", "nt_enter_f", "f");
	WARN("prog '%s': failed to prepare load attributes: -3\n", "nt_enter_f");
	WARN("failed to load object 'nettape'\n");
	is("nt_enter_f", "failed to find kernel BTF type ID of 'f': -3");
}

static void no_program_is_named(void **state)
{
	(void)state;
	WARN("Error in bpf_create_map_xattr(nt_a):Invalid argument(-22). Retrying without BTF.\n");
	is("", "Error in bpf_create_map_xattr(nt_a):Invalid argument(-22). Retrying without BTF.");
	WARN("map '%s': failed to create: Invalid argument(-22)\n", "nt_a");
	WARN("failed to load object 'nettape'\n");
	is("", "map 'nt_a': failed to create: Invalid argument(-22)");
}

static void only_warnings_are_heard(void **state)
{
	char name[200];

	(void)state;
	say(LIBBPF_DEBUG, "libbpf: prog 'nt_a': relo #1\n");
	is("", "");
	/* Whatever it says, there is room. */
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	WARN("prog '%s': failed\n", name);
	is("", refusal.why);
	assert_int_equal(strlen(refusal.why), sizeof(refusal.why) - 1);
	nt_refusal_listen(NULL);
	WARN("prog 'nt_a': failed\n");
	is("", refusal.why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(last_program_counts, set_up),
		cmocka_unit_test_setup(verifier_says_why, set_up),
		cmocka_unit_test_setup(relocation_that_fails, set_up),
		cmocka_unit_test_setup(no_program_is_named, set_up),
		cmocka_unit_test_setup(only_warnings_are_heard, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
