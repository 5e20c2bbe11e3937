// SPDX-License-Identifier: GPL-2.0-only
/*
 * proto_test.c - protocol buffers: the bytes of each type as the format's documentation gives them, and messages in
 * messages of all lengths, read back by a reader that knows nothing of the writer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/export/perfetto/proto.h"

static void is(struct nt_proto *proto, const void *bytes, size_t size)
{
	assert_false(proto->failed);
	assert_int_equal(proto->size, size);
	assert_memory_equal(proto->data, bytes, size);
	nt_proto_reset(proto);
}

static void test_bytes(void **state)
{
	struct nt_proto proto = {0};
	size_t message;

	(void)state;
	nt_proto_uint(&proto, 1, 150);
	is(&proto, "\x08\x96\x01", 3);
	nt_proto_text(&proto, 2, "testing");
	is(&proto, "\x12\x07testing", 9);
	nt_proto_text(&proto, 2, "a\xc3\xa9\xff\xc3");
	is(&proto,
	   "\x12\x09"
	   "a\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd",
	   11);
	/* Characters that the end of the text cuts, each behind another. */
	nt_proto_text(&proto, 2, "\xc3\xa9\xf0\x9f\x98");
	is(&proto,
	   "\x12\x0b"
	   "\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
	   13);
	message = nt_proto_begin(&proto, 3);
	nt_proto_uint(&proto, 1, 150);
	nt_proto_end(&proto, message);
	is(&proto, "\x1a\x03\x08\x96\x01", 5);
	nt_proto_uint(&proto, 16, (uint64_t)-1);
	is(&proto, "\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12);
	nt_proto_fixed64(&proto, 47, 0x0102030405060708);
	is(&proto, "\xf9\x02\x08\x07\x06\x05\x04\x03\x02\x01", 10);
	nt_proto_double(&proto, 1, 1.0);
	is(&proto, "\x09\0\0\0\0\0\0\xf0\x3f", 9);
	nt_proto_bytes(&proto, 1, NULL, 0);
	is(&proto, "\x0a\0", 2);
	message = nt_proto_begin(&proto, 1);
	nt_proto_end(&proto, message);
	is(&proto, "\x0a\0", 2);
	nt_proto_release(&proto);
}

static uint64_t read_varint(const uint8_t **at, const uint8_t *end)
{
	uint64_t number = 0;

	for (unsigned int shift = 0;; shift += 7) {
		assert_true(*at < end && shift < 64);
		number |= (uint64_t)(**at & 0x7f) << shift;
		if (*(*at)++ < 0x80)
			return number;
	}
}

/* `depth` messages in one another, the innermost with `size` bytes, each with a number behind the inner one. */
static void write_nested(struct nt_proto *proto, unsigned int depth, const uint8_t *data, size_t size)
{
	size_t message;

	if (!depth) {
		nt_proto_bytes(proto, 7, data, size);
		return;
	}
	message = nt_proto_begin(proto, depth);
	write_nested(proto, depth - 1, data, size);
	nt_proto_uint(proto, 1, depth);
	nt_proto_end(proto, message);
}

static void read_nested(const uint8_t *at, const uint8_t *end, unsigned int depth, const uint8_t *data, size_t size)
{
	uint64_t length;

	assert_int_equal(read_varint(&at, end), (depth ? depth : 7) << 3 | 2);
	length = read_varint(&at, end);
	assert_true(length <= (size_t)(end - at));
	if (!depth) {
		assert_int_equal(length, size);
		assert_memory_equal(at, data, size);
		return;
	}
	read_nested(at, at + length, depth - 1, data, size);
	assert_int_equal(at[length - 2], 8);
	assert_int_equal(at[length - 1], depth);
}

static void test_nesting(void **state)
{
	static const size_t edges[] = {0,     1,     125,   126,   127,	  128,	 129,
				       16380, 16381, 16382, 16383, 16384, 16390, 2100000};
	uint8_t *data = malloc(2100000);
	struct nt_proto proto = {0};

	(void)state;
	for (size_t i = 0; i < 2100000; i++)
		data[i] = (uint8_t)(i * 7919 >> 3);
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		for (unsigned int depth = 0; depth < 6; depth++) {
			write_nested(&proto, depth, data, edges[i]);
			assert_false(proto.failed);
			read_nested(proto.data, proto.data + proto.size, depth, data, edges[i]);
			nt_proto_reset(&proto);
		}
	}
	nt_proto_release(&proto);
	free(data);
}

static void test_append(void **state)
{
	struct nt_proto one = {0}, other = {0};

	(void)state;
	nt_proto_append(&one, &other);
	assert_int_equal(one.size, 0);
	nt_proto_uint(&other, 1, 150);
	nt_proto_append(&one, &other);
	nt_proto_append(&one, &other);
	is(&one, "\x08\x96\x01\x08\x96\x01", 6);
	other.failed = true;
	nt_proto_append(&one, &other);
	assert_true(one.failed);
	nt_proto_release(&one);
	nt_proto_release(&other);
}

static void test_failed(void **state)
{
	struct nt_proto proto = {0};
	size_t message;

	(void)state;
	nt_proto_bytes(&proto, 1, "", SIZE_MAX / 2);
	assert_true(proto.failed);
	message = nt_proto_begin(&proto, 1);
	nt_proto_uint(&proto, 1, 1);
	nt_proto_end(&proto, message);
	assert_int_equal(proto.size, 0);
	nt_proto_reset(&proto);
	nt_proto_uint(&proto, 1, 1);
	is(&proto, "\x08\x01", 2);
	nt_proto_release(&proto);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
