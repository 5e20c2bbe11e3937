// SPDX-License-Identifier: GPL-2.0-only
/*
 * kind_test.c - the tables made from event.h, and the words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "schema/kind.h"
#include "schema/span.h"

static void test_every_kind_is_there(void **state)
{
	unsigned int n = 0;

	(void)state;
	for (unsigned int i = 0; i < 300; i++) {
		const struct nt_kind_info *info = nt_kind(i);

		if (!info)
			continue;
		n++;
		assert_int_equal(info->number, i);
		assert_true(i > 0 && i < NT_KIND_MAX);
		assert_true(info->size <= NT_MAX_RECORD_SIZE);
		assert_string_equal(info->fields[0].name, "end_ns");
		assert_int_equal(info->fields[0].offset, 0);
	}
#define X(number, constant, name_, shape_, place_)                                                                     \
	assert_string_equal(nt_kind(number)->name, #name_);                                                            \
	assert_int_equal(nt_kind(number)->shape, NT_SHAPE_##shape_);                                                   \
	assert_int_equal(nt_kind(number)->place, NT_PLACE_##place_);                                                   \
	assert_int_equal(nt_kind_is_loose(number), NT_PLACE_##place_ == NT_PLACE_LOOSE);                               \
	n--;
	NT_KINDS(X)
#undef X
	assert_int_equal(n, 0);
	assert_false(nt_kind_is_loose(0) || nt_kind_is_loose(63) || nt_kind_is_loose(64 + NT_LATENCY));
}

static const struct nt_field *field_named(const struct nt_kind_info *info, const char *name)
{
	for (unsigned int f = 0; f < info->n_fields; f++)
		if (!strcmp(info->fields[f].name, name))
			return &info->fields[f];
	return NULL;
}

static void expect_span(const union nt_any *any, uint64_t begin_ns, uint64_t dur_ns)
{
	assert_int_equal(nt_span_begin(any), begin_ns);
	assert_int_equal(nt_span_dur(any), dur_ns);
}

/* A record of each kind that took 300 ns; where that is more than its end; and with the flags that leave it unknown. */
static void test_spans(void **state)
{
	static const unsigned int unknown[NT_KIND_MAX] = {
		[NT_SOFTIRQ] = 0x01, [NT_IRQ] = 0x01, [NT_OP] = 0x04 | 0x08, [NT_NAPI] = 0x01};

	(void)state;
	for (unsigned int i = 0; i < NT_KIND_MAX; i++) {
		union nt_any any = {.record = {.end_ns = 1000, .kind = (uint8_t)i}};
		const struct nt_kind_info *info = nt_kind(i);
		const struct nt_field *dur = info ? field_named(info, "dur_ns") : NULL;

		if (dur)
			nt_field_set(dur, &any, 300);
		assert_int_equal(info && info->shape == NT_SHAPE_SPAN, dur != NULL);
		expect_span(&any, dur ? 700 : UINT64_MAX, dur ? 300 : 0);
		for (unsigned int flag = 1; dur && flag < 0x100; flag <<= 1) {
			nt_field_set(field_named(info, "flags"), &any, flag);
			expect_span(&any, flag & unknown[i] ? UINT64_MAX : 700, flag & unknown[i] ? 0 : 300);
		}
		if (dur)
			nt_field_set(field_named(info, "flags"), &any, 0);
		any.record.end_ns = 200;
		expect_span(&any, dur ? 0 : UINT64_MAX, dur ? 200 : 0);
	}
}

/* Fields lie inside the record, do not overlap, and leave `kind` alone. */
static void test_fields_are_apart(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < NT_KIND_MAX; i++) {
		const struct nt_kind_info *info = nt_kind(i);
		uint8_t taken[NT_MAX_RECORD_SIZE] = {[offsetof(struct nt_record, kind)] = 1};

		for (unsigned int f = 0; info && f < info->n_fields; f++) {
			const struct nt_field *field = &info->fields[f];

			assert_true(field->offset + field->size <= info->size);
			for (unsigned int at = field->offset; at < field->offset + field->size; at++)
				assert_int_equal(taken[at]++, 0);
			if (nt_kind_is_of_cpu(i))
				assert_int_equal(field->coding == NT_CODING_TIME, f == 0);
			if (field->role != NT_ROLE_NONE)
				assert_int_equal(field->size, 8);
		}
	}
}

static const struct nt_field *field_of(unsigned int kind, const char *name)
{
	for (unsigned int f = 0; f < nt_kind(kind)->n_fields; f++)
		if (!strcmp(nt_kind(kind)->fields[f].name, name))
			return &nt_kind(kind)->fields[f];
	fail_msg("no field %s", name);
	return NULL;
}

static void test_get_and_set(void **state)
{
	union nt_any any = {0};

	(void)state;
	any.as_op.result = -107;
	assert_true(nt_field_get(field_of(NT_OP, "result"), &any) == (uint64_t)-107);
	nt_field_set(field_of(NT_OP, "result"), &any, (uint64_t)-11);
	assert_int_equal(any.as_op.result, -11);
	nt_field_set(field_of(NT_OP, "socket"), &any, UINT64_MAX);
	nt_field_set(field_of(NT_OP, "call"), &any, 0xff);
	assert_true(any.as_op.socket == UINT64_MAX && any.as_op.dir == 0 && any.as_op.call == 0xff &&
		    any.as_op.flags == 0);
	assert_int_equal(nt_field_get(field_of(NT_OP, "call"), &any), 0xff);
	any.as_socket.src_port = 0xfffe;
	assert_int_equal(nt_field_get(field_of(NT_SOCKET, "src_port"), &any), 0xfffe);
	any.as_switch.prev_state = 0x80000001;
	assert_int_equal(nt_field_get(field_of(NT_SWITCH, "prev_state"), &any), 0x80000001);
}

static void test_words(void **state)
{
	(void)state;
	assert_string_equal(nt_vec_name(0), "HI");
	assert_string_equal(nt_vec_name(NT_VEC_NET_TX), "NET_TX");
	assert_string_equal(nt_vec_name(NT_VEC_NET_RX), "NET_RX");
	assert_string_equal(nt_vec_name(NT_VEC_COUNT - 1), "RCU");
	assert_string_equal(nt_vec_name(NT_VEC_COUNT), "unknown");
	assert_string_equal(nt_call_name(NT_CALL_OTHER), "other");
	assert_string_equal(nt_call_name(NT_CALL_recvmmsg), "recvmmsg");
	assert_string_equal(nt_call_name(NT_CALL_MAX), "unknown");
	assert_string_equal(nt_call_name(UINT32_MAX), "unknown");
	assert_string_equal(nt_dir_name(NT_SEND), "send");
	assert_string_equal(nt_dir_name(NT_RECV), "recv");
	assert_string_equal(nt_dir_name(0), "unknown");
	assert_string_equal(nt_softirq_context_name(NT_SOFTIRQ_UNKNOWN), "unknown");
	assert_string_equal(nt_softirq_context_name(NT_SOFTIRQ_BH_ENABLE), "bh_enable");
	assert_string_equal(nt_role_name(NT_ROLE_CGROUP), "cgroup");
	assert_string_equal(nt_role_name(NT_ROLE_COUNT), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind_is_there),
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_fields_are_apart),
		cmocka_unit_test(test_get_and_set),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
