// SPDX-License-Identifier: GPL-2.0-only
/*
 * ids_test.c - the recorder's ids: the same key has the same id for ever, beside a list that is searched from its
 * begin; each chunk gets each identity that it refers to once, the newest; and a cgroup keeps its path.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "record/ids.h"
#include "tests/support/rand.h"

static struct nt_ids ids;

static int set_up(void **state)
{
	(void)state;
	return nt_ids_init(&ids);
}

static int tear_down(void **state)
{
	(void)state;
	nt_ids_release(&ids);
	return 0;
}

/* A chunk begins, and what waits to be written is written. */
static void begin_chunk(uint32_t number)
{
	nt_ids_next_chunk(&ids, number);
	ids.pending.size = ids.dictionary.size = 0;
}

static union nt_any identity_of(unsigned int kind)
{
	union nt_any record;

	memset(&record, 0, sizeof(record));
	record.record.kind = (uint8_t)kind;
	record.record.end_ns = 1;
	return record;
}

static union nt_any cgroup(uint64_t key, const char *path)
{
	union nt_any record = identity_of(NT_CGROUP);

	record.as_cgroup.cgroup = key;
	strcpy(record.as_cgroup.path, path);
	return record;
}

static void put(union nt_any record)
{
	assert_int_equal(nt_ids_put(&ids, &record), 0);
}

/* How many identities wait, and the last of them. */
static size_t waiting(const struct nt_buf *rows, union nt_any *last)
{
	size_t offset = 0, n = 0;

	while (nt_identity_next(rows->data, rows->size, &offset, last) == 0)
		n++;
	return n;
}

static void keeps_ids(void **state)
{
	static uint64_t keys[6000];
	struct nt_rand rand = {.state = 7};
	size_t n = 0;

	(void)state;
	assert_int_equal(nt_ids_get(&ids, NT_ROLE_TASK, 0), 0);
	for (int i = 0; i < 12000; i++) {
		/* Keys that differ in their high bits alone, too. */
		uint64_t key = 1 + nt_rand_below(&rand, 3000) + (nt_rand_below(&rand, 2) << 40), id;
		size_t at = 0;

		while (at < n && keys[at] != key)
			at++;
		if (at == n)
			keys[n++] = key;
		id = nt_ids_get(&ids, NT_ROLE_TASK, key);
		assert_int_equal(id, at + 1);
	}
	assert_true(n > 4096);
	/* Each role counts by itself. */
	assert_int_equal(nt_ids_get(&ids, NT_ROLE_SOCKET, keys[17]), 1);
}

/* With as many ids as there is room for: what is behind the last is nobody's. */
static void is_released_when_full(void **state)
{
	const struct nt_id_space *space = &ids.spaces[NT_ROLE_TASK];

	(void)state;
	for (uint64_t key = 1; space->n_entries < space->capacity; key++)
		nt_ids_get(&ids, NT_ROLE_TASK, key);
	assert_int_equal(space->n_entries, space->capacity);
	assert_int_equal(nt_ids_get(&ids, NT_ROLE_TASK, space->n_entries - 1), space->n_entries - 1);
}

/* Whatever kind an identity is of, it is found by the key that the kernel side gave it, and its id takes the key's
 * place. */
static void knows_each_kind(void **state)
{
	static const struct {
		unsigned int kind;
		enum nt_role role;
		size_t offset;
	} kinds[] = {
		{NT_TASK, NT_ROLE_TASK, offsetof(struct nt_task, task)},
		{NT_SOCKET, NT_ROLE_SOCKET, offsetof(struct nt_socket, socket)},
		{NT_CGROUP, NT_ROLE_CGROUP, offsetof(struct nt_cgroup, cgroup)},
		{NT_DEVICE, NT_ROLE_DEVICE, offsetof(struct nt_device, device)},
		{NT_FLOW, NT_ROLE_FLOW, offsetof(struct nt_flow, flow)},
		{NT_SYMBOL, NT_ROLE_SYMBOL, offsetof(struct nt_symbol, symbol)},
		{NT_USER_SYMBOL, NT_ROLE_SYMBOL, offsetof(struct nt_user_symbol, symbol)},
		{NT_STACK, NT_ROLE_STACK, offsetof(struct nt_stack, stack)},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		union nt_any record = identity_of(kinds[i].kind);
		uint64_t key = 0xabc00 + i, id;

		memcpy((char *)&record + kinds[i].offset, &key, sizeof(key));
		assert_false(nt_ids_knows(&ids, kinds[i].role, key));
		assert_int_equal(nt_ids_put(&ids, &record), 0);
		assert_true(nt_ids_knows(&ids, kinds[i].role, key));
		memcpy(&id, (char *)&record + kinds[i].offset, sizeof(id));
		assert_int_equal(id, nt_ids_get(&ids, kinds[i].role, key));
		assert_int_not_equal(id, key);
	}
	/* What is only referred to is not known. */
	nt_ids_get(&ids, NT_ROLE_TASK, 99);
	assert_false(nt_ids_knows(&ids, NT_ROLE_TASK, 99));
}

static void keeps_paths(void **state)
{
	union nt_any last;

	(void)state;
	begin_chunk(0);
	put(cgroup(5, ""));
	put(cgroup(5, "/system.slice"));
	assert_int_equal(waiting(&ids.pending, &last), 2);
	/* No path is no news of one that has one. */
	put(cgroup(5, ""));
	assert_int_equal(waiting(&ids.pending, &last), 2);
	put(cgroup(5, "/moved"));
	assert_int_equal(waiting(&ids.pending, &last), 3);
	assert_string_equal(last.as_cgroup.path, "/moved");
	begin_chunk(1);
	nt_ids_get(&ids, NT_ROLE_CGROUP, 5);
	assert_int_equal(waiting(&ids.pending, &last), 1);
	assert_string_equal(last.as_cgroup.path, "/moved");
	assert_int_equal(last.as_cgroup.cgroup, 1);
}

/* Of a task, a new name is news also when it is empty: only a path is kept. */
static void takes_what_is_new(void **state)
{
	union nt_any task = identity_of(NT_TASK), last;

	(void)state;
	begin_chunk(0);
	task.as_task.task = 3;
	strcpy(task.as_task.comm, "old");
	put(task);
	task.as_task.comm[0] = 0;
	put(task);
	begin_chunk(1);
	nt_ids_get(&ids, NT_ROLE_TASK, 3);
	assert_int_equal(waiting(&ids.pending, &last), 1);
	assert_string_equal(last.as_task.comm, "");
}

static void once_a_chunk(void **state)
{
	union nt_any last;

	(void)state;
	begin_chunk(0);
	put(cgroup(5, "/a"));
	for (int i = 0; i < 3; i++)
		nt_ids_get(&ids, NT_ROLE_CGROUP, 5);
	assert_int_equal(waiting(&ids.pending, &last), 1);
	begin_chunk(1);
	assert_int_equal(waiting(&ids.pending, &last), 0);
	for (int i = 0; i < 3; i++)
		nt_ids_get(&ids, NT_ROLE_CGROUP, 5);
	assert_int_equal(waiting(&ids.pending, &last), 1);
	/* What comes anew at the begin of a chunk does not draw what was known before after it. */
	begin_chunk(2);
	put(cgroup(5, "/b"));
	nt_ids_get(&ids, NT_ROLE_CGROUP, 5);
	assert_int_equal(waiting(&ids.pending, &last), 1);
	assert_string_equal(last.as_cgroup.path, "/b");
}

/* A stack of three frames. */
static void put_stack(uint64_t key, uint64_t parent, uint64_t symbol)
{
	union nt_any record = identity_of(NT_SYMBOL);

	record.as_symbol.symbol = symbol;
	put(record);
	record = identity_of(NT_STACK);
	record.as_stack.stack = key;
	record.as_stack.parent = parent;
	record.as_stack.symbol = symbol;
	put(record);
}

static void stacks_are_whole(void **state)
{
	union nt_any last;

	(void)state;
	begin_chunk(0);
	put_stack(10, 0, 100);
	put_stack(11, 10, 101);
	put_stack(12, 11, 102);
	put_stack(13, 11, 101);
	assert_int_equal(waiting(&ids.dictionary, &last), 8);
	assert_int_equal(waiting(&ids.pending, &last), 0);
	begin_chunk(1);
	nt_ids_get(&ids, NT_ROLE_STACK, 12);
	assert_int_equal(waiting(&ids.dictionary, &last), 6);
	/* Two of its three frames are in the chunk, and its symbol. */
	nt_ids_get(&ids, NT_ROLE_STACK, 13);
	assert_int_equal(waiting(&ids.dictionary, &last), 7);
	assert_int_equal(last.record.kind, NT_STACK);
}

static void translates_records(void **state)
{
	union nt_any record = identity_of(NT_SWITCH);

	(void)state;
	record.as_switch.prev = 0x1000;
	record.as_switch.next = 0;
	assert_int_equal(nt_ids_translate(&ids, nt_kind(NT_SWITCH), &record), 0);
	assert_int_equal(record.as_switch.prev, 1);
	assert_int_equal(record.as_switch.next, 0);
	assert_int_equal(record.record.end_ns, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(keeps_ids, set_up, tear_down),
		cmocka_unit_test_setup_teardown(is_released_when_full, set_up, tear_down),
		cmocka_unit_test_setup_teardown(knows_each_kind, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keeps_paths, set_up, tear_down),
		cmocka_unit_test_setup_teardown(takes_what_is_new, set_up, tear_down),
		cmocka_unit_test_setup_teardown(once_a_chunk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stacks_are_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(translates_records, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
