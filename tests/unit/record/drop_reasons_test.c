// SPDX-License-Identifier: GPL-2.0-only
/* drop_reasons_test.c - the kernel's words for why it drops packets (record/drop_reasons.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include <bpf/btf.h>

#include "record/drop_reasons.h"

static struct btf *btf; /* what the kernel gives next */
static struct nt_ids ids;
static struct nt_drop_reasons reasons;

struct btf *btf__load_vmlinux_btf(void)
{
	return btf;
}

static int set_up(void **state)
{
	(void)state;
	btf = NULL;
	return nt_ids_init(&ids);
}

static int tear_down(void **state)
{
	(void)state;
	nt_drop_reasons_release(&reasons);
	nt_ids_release(&ids);
	return 0;
}

static size_t put(union nt_any *records, size_t most)
{
	size_t offset = 0, n = 0;

	assert_int_equal(nt_drop_reasons_put(&reasons, &ids, 7), 0);
	while (n < most && nt_identity_next(ids.pending.data, ids.pending.size, &offset, &records[n]) == 0)
		n++;
	return n;
}

static void names_the_reasons(void **state)
{
	static const char *const names[] = {"NOT_DROPPED_YET", "CONSUMED", "NO_SOCKET", "other"};
	union nt_any records[8];

	(void)state;
	btf = btf__new_empty();
	btf__add_enum(btf, "other_enum", 4);
	btf__add_enum_value(btf, "SKB_DROP_REASON_WRONG", 9);
	btf__add_enum(btf, "skb_drop_reason", 4);
	btf__add_enum_value(btf, "SKB_NOT_DROPPED_YET", 0);
	btf__add_enum_value(btf, "SKB_CONSUMED", 1);
	btf__add_enum_value(btf, "SKB_DROP_REASON_NO_SOCKET", 3);
	btf__add_enum_value(btf, "other", 70);
	assert_int_equal(nt_drop_reasons_read(&reasons), 0);
	assert_int_equal(put(records, 8), 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(records[i].record.kind, NT_DROP_REASON);
		assert_int_equal(records[i].record.end_ns, 7);
		assert_string_equal(records[i].as_drop_reason.name, names[i]);
	}
	assert_int_equal(records[2].as_drop_reason.number, 3);
	assert_int_equal(records[3].as_drop_reason.number, 70);
}

static void kernel_without_types(void **state)
{
	union nt_any records[1];

	(void)state;
	assert_int_equal(nt_drop_reasons_read(&reasons), 0);
	assert_int_equal(put(records, 1), 0);
}

static void kernel_without_reasons(void **state)
{
	union nt_any records[1];

	(void)state;
	btf = btf__new_empty();
	btf__add_int(btf, "skb_drop_reason", 4, BTF_INT_SIGNED);
	assert_int_equal(nt_drop_reasons_read(&reasons), 0);
	assert_int_equal(put(records, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_the_reasons, set_up, tear_down),
		cmocka_unit_test_setup_teardown(kernel_without_types, set_up, tear_down),
		cmocka_unit_test_setup_teardown(kernel_without_reasons, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
