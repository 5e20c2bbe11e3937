// SPDX-License-Identifier: GPL-2.0-only
/*
 * output_test.c - tables, JSON and CSV, numbers for people, and texts that try to be more than texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/out/output.h"
#include "report/rows/kernel_names.h"

struct fixture {
	FILE *out;
	char *text;
	size_t size;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->out = open_memstream(&fixture->text, &fixture->size);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	fclose(fixture->out);
	free(fixture->text);
	free(fixture);
	return 0;
}

static void expect(struct fixture *fixture, const char *text)
{
	fflush(fixture->out);
	assert_string_equal(fixture->text, text);
}

static struct nt_cell text_cell(const char *text)
{
	return (struct nt_cell){.type = NT_CELL_TEXT, .text = text, .size = strlen(text)};
}

static struct nt_cell integer_cell(int64_t integer)
{
	return (struct nt_cell){.type = NT_CELL_INTEGER, .integer = integer};
}

static struct nt_cell real_cell(double real)
{
	return (struct nt_cell){.type = NT_CELL_REAL, .real = real};
}

/* The same rows in each format. */
static void print(struct fixture *fixture, enum nt_format format, bool human)
{
	static const char *const names[] = {"name", "spent_ns", "cpu_share"};
	const struct nt_cell first[] = {text_cell("a,\"b\"\n"), integer_cell(1500), real_cell(0.25)};
	const struct nt_cell second[] = {
		{.type = NT_CELL_NULL}, integer_cell(-7), {.type = NT_CELL_BLOB, .text = "\x01\xff", .size = 2}};
	struct nt_printer *printer = nt_printer_new(fixture->out, format, human);

	assert_non_null(printer);
	assert_int_equal(nt_printer_begin(printer, 3, names), 0);
	assert_int_equal(nt_printer_row(printer, first), 0);
	assert_int_equal(nt_printer_row(printer, second), 0);
	nt_printer_end(printer);
	nt_printer_free(printer);
}

static void prints_tables(void **state)
{
	print(*state, NT_FORMAT_TABLE, false);
	expect(*state, "name       spent_ns  cpu_share\n"
		       "a,\"b\"\\x0a      1500  0.25\n"
		       "-                -7  01ff\n");
}

static void prints_tables_for_people(void **state)
{
	print(*state, NT_FORMAT_TABLE, true);
	expect(*state, "name          spent  cpu\n"
		       "a,\"b\"\\x0a  1.500 us  25.00 %\n"
		       "-                -7  01ff\n");
}

static void prints_json(void **state)
{
	print(*state, NT_FORMAT_JSON, true);
	expect(*state, "[\n  {\"name\": \"a,\\\"b\\\"\\n\", \"spent_ns\": 1500, \"cpu_share\": 0.25},\n"
		       "  {\"name\": null, \"spent_ns\": -7, \"cpu_share\": \"01ff\"}\n]\n");
}

static void prints_csv(void **state)
{
	print(*state, NT_FORMAT_CSV, true);
	expect(*state, "name,spent_ns,cpu_share\n\"a,\"\"b\"\"\n\",1500,0.25\n,-7,01ff\n");
}

static void prints_empty_sets(void **state)
{
	static const char *const names[] = {"x"};

	for (int format = NT_FORMAT_TABLE; format <= NT_FORMAT_CSV; format++) {
		struct nt_printer *printer =
			nt_printer_new(((struct fixture *)*state)->out, (enum nt_format)format, false);

		assert_int_equal(nt_printer_begin(printer, 1, names), 0);
		nt_printer_end(printer);
		nt_printer_free(printer);
	}
	expect(*state, "x\n[]\nx\n");
}

/* The first thousand rows settle the widths; those after them come through as well, and so do sets after sets. */
static void prints_long_tables(void **state)
{
	struct fixture *fixture = *state;
	static const char *const names[] = {"n"};
	struct nt_printer *printer = nt_printer_new(fixture->out, NT_FORMAT_TABLE, false);
	size_t lines = 0;

	for (int set = 0; set < 2; set++) {
		assert_int_equal(nt_printer_begin(printer, 1, names), 0);
		for (int64_t i = 0; i < 2500; i++) {
			struct nt_cell cell = integer_cell(i);

			assert_int_equal(nt_printer_row(printer, &cell), 0);
		}
		nt_printer_end(printer);
	}
	nt_printer_free(printer);
	fflush(fixture->out);
	for (const char *at = fixture->text; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 2 * 2501);
	assert_non_null(strstr(fixture->text, "\n2499\n  n\n  0\n"));
}

/* Nothing that came from a tape acts on a terminal or breaks JSON. */
static void tames_texts(void **state)
{
	struct fixture *fixture = *state;
	static const char wild[] = "\033[2J\r\x7f\xc2\x9b"
				   "a\xff\xc3\xa9\xe2\x80\xae\xed\xa0\x80\xf4\x90\x80\x80";
	struct nt_json json = {.out = fixture->out, .lines = 2};

	nt_print_clean(fixture->out, wild, sizeof(wild) - 1);
	expect(fixture, "\\x1b[2J\\x0d\\x7f\\xc2\\x9ba\\xff\xc3\xa9\\xe2\\x80\\xae\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
	rewind(fixture->out);
	nt_json_text(&json, NULL, wild);
	expect(fixture,
	       "\"\\u001b["
	       "2J\\u000d\\u007f\\u009ba\\ufffd\xc3\xa9\\u202e\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

static void writes_json_values(void **state)
{
	struct fixture *fixture = *state;
	struct nt_json json = {.out = fixture->out, .lines = 2};

	nt_json_open(&json, NULL, '{');
	nt_json_bool(&json, "yes", true);
	nt_json_real(&json, "inf", INFINITY);
	nt_json_text(&json, "none", NULL);
	nt_json_open(&json, "list", '[');
	nt_json_integer(&json, NULL, INT64_MIN);
	nt_json_open(&json, NULL, '{');
	nt_json_close(&json, '}');
	nt_json_close(&json, ']');
	nt_json_close(&json, '}');
	expect(fixture, "{\n  \"yes\": true,\n  \"inf\": null,\n  \"none\": null,\n  \"list\": [\n    "
			"-9223372036854775808,\n    {}\n  ]\n}\n");
}

/* JSON in a page cannot end its element, whatever its text; a reader of the JSON gets the same text. */
static void writes_json_for_html(void **state)
{
	struct fixture *fixture = *state;
	struct nt_json json = {.out = fixture->out, .lines = 1, .compact = true, .for_html = true};
	const struct nt_cell cell = {.type = NT_CELL_TEXT, .text = "]]><\xff", .size = 5};

	nt_json_open(&json, NULL, '{');
	nt_json_text(&json, "</script><script>", "<!--&amp;\"");
	nt_json_cell(&json, "cell", &cell);
	nt_json_open(&json, "list", '[');
	nt_json_integer(&json, NULL, 1);
	nt_json_integer(&json, NULL, 2);
	nt_json_close(&json, ']');
	nt_json_close(&json, '}');
	expect(fixture, "{\n  \"\\u003c/script\\u003e\\u003cscript\\u003e\":\"\\u003c!--\\u0026amp;\\\"\",\n"
			"  \"cell\":\"]]\\u003e\\u003c\\ufffd\",\n  \"list\":[1,2]\n}\n");
}

static void speaks_to_people(void **state)
{
	char text[NT_HUMAN_MAX];

	(void)state;
	assert_string_equal(nt_human_ns(text, 0), "0 ns");
	assert_string_equal(nt_human_ns(text, 999), "999 ns");
	assert_string_equal(nt_human_ns(text, 1000), "1.000 us");
	assert_string_equal(nt_human_ns(text, 12345678), "12.34 ms");
	assert_string_equal(nt_human_ns(text, 999999999), "999.9 ms");
	assert_string_equal(nt_human_ns(text, 61000000000), "61.00 s");
	assert_string_equal(nt_human_ns(text, UINT64_MAX), "18446744073.7 s");
	assert_string_equal(nt_human_bytes(text, 1048576), "1.048 MB");
	assert_string_equal(nt_human_share(text, 1, 3), "33.33 %");
	assert_string_equal(nt_human_share(text, 1, 0), "-");
	assert_string_equal(nt_human_count(text, 0), "0");
	assert_string_equal(nt_human_count(text, 999), "999");
	assert_string_equal(nt_human_count(text, 1234567), "1,234,567");
	assert_string_equal(nt_human_count(text, INT64_MIN), "-9,223,372,036,854,775,808");
	assert_string_equal(nt_human_time(text, 1700000000000000000), "2023-11-14 22:13:20 UTC");
}

static void names_states(void **state)
{
	(void)state;
	assert_string_equal(nt_end_state_name(0), "R");
	assert_string_equal(nt_end_state_name(NT_SWITCH_PREEMPTED | 1), "R+");
	assert_string_equal(nt_end_state_name(1), "S");
	assert_string_equal(nt_end_state_name(2), "D");
	assert_string_equal(nt_end_state_name(0x102), "D");
	assert_string_equal(nt_end_state_name(0x402), "I");
	assert_string_equal(nt_end_state_name(0x2001), "S");
	assert_string_equal(nt_end_state_name(4), "T");
	assert_string_equal(nt_end_state_name(8), "t");
	assert_string_equal(nt_end_state_name(0x10), "X");
	assert_string_equal(nt_end_state_name(0x20), "Z");
	assert_string_equal(nt_end_state_name(0x40), "P");
	assert_string_equal(nt_end_state_name(0x80), "X");
	assert_string_equal(nt_end_state_name(0x1000), "D");
}

static void names_results(void **state)
{
	struct nt_arena arena = {0};
	static const struct {
		int32_t result;
		const char *name;
	} results[] = {{0, "ok"},	    {5, "ok"},		 {-11, "EAGAIN"},
		       {-32, "EPIPE"},	    {-511, "errno 511"}, {-512, "restarted"},
		       {-516, "restarted"}, {-517, "errno 517"}, {INT32_MIN, "errno 2147483648"}};

	(void)state;
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		struct nt_op_row op = {.end = NT_OP_DONE, .result = results[i].result};

		assert_string_equal(nt_op_result_name(&op, &arena), results[i].name);
	}
	assert_string_equal(nt_op_result_name(&(struct nt_op_row){.end = NT_OP_OPEN}, &arena), "open");
	assert_string_equal(nt_op_result_name(&(struct nt_op_row){.end = NT_OP_EXIT}, &arena), "exit");
	assert_string_equal(nt_op_result_name(&(struct nt_op_row){.end = NT_OP_ABANDONED}, &arena), "abandoned");
	assert_string_equal(nt_op_flags_text(&(struct nt_op_row){.flags = NT_OP_NO_BEGIN}, &arena), "");
	assert_string_equal(
		nt_op_flags_text(&(struct nt_op_row){.flags = 0xff, .before = true, .lower_bound = true}, &arena),
		"peek,errqueue,in_softirq,kernel,before,lower_bound");
	nt_arena_release(&arena);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(prints_tables),	 TEST(prints_tables_for_people),
		TEST(prints_json),	 TEST(prints_csv),
		TEST(prints_empty_sets), TEST(prints_long_tables),
		TEST(tames_texts),	 TEST(writes_json_values),
		TEST(speaks_to_people),	 TEST(names_states),
		TEST(names_results),	 TEST(writes_json_for_html),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
