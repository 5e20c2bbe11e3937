// SPDX-License-Identifier: GPL-2.0-only
/*
 * ids_test.c - the recorder's ids: the same key has the same id for ever, beside a list that is searched from its
 * begin; each chunk gets each identity that it refers to once, the newest; a cgroup keeps its path, and a socket the
 * first process that holds it. Forgetting is compared with a model that looks through all it knows.
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
	for (uint64_t key = 1; space->n_places < space->capacity; key++)
		nt_ids_get(&ids, NT_ROLE_TASK, key);
	assert_int_equal(space->n_places, space->capacity);
	assert_int_equal(nt_ids_get(&ids, NT_ROLE_TASK, space->n_places - 1), space->n_places - 1);
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
	/* A key that is only referred to is not known. */
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

static union nt_any socket_at(uint16_t port, uint64_t process, uint64_t group)
{
	union nt_any record = identity_of(NT_SOCKET);

	record.as_socket.socket = 9;
	record.as_socket.src_port = port;
	record.as_socket.process = process;
	record.as_socket.cgroup = group;
	return record;
}

/* Its addresses and cgroup are the newest. */
static void keeps_holders(void **state)
{
	union nt_any last;

	(void)state;
	begin_chunk(0);
	put(socket_at(80, 0, 0));
	put(socket_at(80, 501, 601));
	put(socket_at(81, 502, 602));
	put(socket_at(82, 0, 602));
	/* A socket that is closed has given its port back. */
	put(socket_at(0, 0, 602));
	assert_int_equal(waiting(&ids.pending, &last), 4);
	for (uint32_t chunk = 1; chunk < 3; chunk++) {
		assert_int_equal(last.as_socket.src_port, 82);
		assert_int_equal(last.as_socket.process, nt_ids_get(&ids, NT_ROLE_TASK, 501));
		assert_int_equal(last.as_socket.cgroup, nt_ids_get(&ids, NT_ROLE_CGROUP, 602));
		begin_chunk(chunk);
		nt_ids_get(&ids, NT_ROLE_SOCKET, 9);
		assert_int_equal(waiting(&ids.pending, &last), 1);
	}
}

static union nt_any flow_to(uint64_t end_ns, uint64_t socket, uint8_t flags)
{
	union nt_any record = identity_of(NT_FLOW);

	record.as_flow.end_ns = end_ns;
	record.as_flow.flow = 7;
	record.as_flow.socket = socket;
	record.as_flow.flags = flags;
	return record;
}

/* One that comes late is written, and the newest is known: its socket, also if it came again without one. */
static void keeps_deliveries(void **state)
{
	union nt_any last;

	(void)state;
	begin_chunk(0);
	put(flow_to(100, 0, 0));
	put(flow_to(300, 31, 0));
	put(flow_to(200, 30, 0));
	assert_int_equal(waiting(&ids.pending, &last), 3);
	assert_int_equal(last.as_flow.end_ns, 200);
	begin_chunk(1);
	put(flow_to(250, 30, 0));
	/* The newest goes into each chunk. */
	assert_int_equal(waiting(&ids.pending, &last), 2);
	begin_chunk(2);
	put(flow_to(400, 0, 0));
	assert_int_equal(waiting(&ids.pending, &last), 1);
	assert_int_equal(last.as_flow.end_ns, 400);
	assert_int_equal(last.as_flow.socket, nt_ids_get(&ids, NT_ROLE_SOCKET, 31));
	put(flow_to(500, 0, NT_FLOW_SCATTERED));
	begin_chunk(3);
	nt_ids_get(&ids, NT_ROLE_FLOW, 7);
	assert_int_equal(waiting(&ids.pending, &last), 1);
	assert_true(last.as_flow.end_ns == 500 && !last.as_flow.socket);
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
	/* An identity that comes anew at the begin of a chunk does not bring the older one with it. */
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
	assert_int_equal(nt_ids_translate(&ids, &record), 0);
	assert_int_equal(record.as_switch.prev, 1);
	assert_int_equal(record.as_switch.next, 0);
	assert_int_equal(record.record.end_ns, 1);
}

/* All that an identity names, at any depth, goes into a later chunk with it. */
static void names_are_whole(void **state)
{
	union nt_any task = identity_of(NT_TASK), last;

	(void)state;
	begin_chunk(0);
	put(cgroup(601, "/c"));
	task.as_task.task = task.as_task.process = 501;
	task.as_task.cgroup = 601;
	put(task);
	task.as_task.task = 502;
	put(task);
	put(socket_at(80, 502, 0));
	begin_chunk(1);
	nt_ids_get(&ids, NT_ROLE_SOCKET, 9);
	/* The socket, its holder, that one's process, and the cgroup of both. */
	assert_int_equal(waiting(&ids.pending, &last), 4);
}

/* ---- forgetting, beside a model ---- */

#define N_KEYS 200

/* By role and key: what was put last. */
static struct {
	bool is_known, has_identity, has_ended;
	uint32_t used, chunk;
	uint64_t id, process, cgroup, device;
} model[NT_ROLE_COUNT][N_KEYS];
static uint32_t model_generation;
static uint64_t last_id[NT_ROLE_COUNT];

/*
 * A key that is referred to: the id is the one that it has, or a new one. If it is the first time in a chunk, so is all
 * that its identity names.
 */
static void model_refers(enum nt_role role, uint64_t key)
{
	if (!key)
		return;
	model[role][key].used = model_generation;
	if (model[role][key].is_known) {
		assert_int_equal(nt_ids_get(&ids, role, key), model[role][key].id);
	} else {
		model[role][key].is_known = true;
		model[role][key].id = nt_ids_get(&ids, role, key);
		assert_int_equal(model[role][key].id, ++last_id[role]);
	}
	if (!model[role][key].has_identity || model[role][key].chunk == ids.chunk)
		return;
	model[role][key].chunk = ids.chunk;
	model_refers(NT_ROLE_TASK, model[role][key].process);
	model_refers(NT_ROLE_CGROUP, model[role][key].cgroup);
	model_refers(NT_ROLE_DEVICE, model[role][key].device);
}

static void model_puts(enum nt_role role, uint64_t key, struct nt_rand *rand)
{
	static const unsigned int kinds[] = {[NT_ROLE_TASK] = NT_TASK,
					     [NT_ROLE_SOCKET] = NT_SOCKET,
					     [NT_ROLE_CGROUP] = NT_CGROUP,
					     [NT_ROLE_FLOW] = NT_FLOW};
	union nt_any record = identity_of(kinds[role]);

	model_refers(role, key);
	model[role][key].has_identity = true;
	model[role][key].chunk = ids.chunk;
	switch (role) {
	case NT_ROLE_TASK:
		record.as_task.why = nt_rand_below(rand, 3) ? NT_TASK_FORK : NT_TASK_EXIT;
		model[role][key].has_ended |= record.as_task.why == NT_TASK_EXIT;
		record.as_task.task = key;
		record.as_task.process = model[role][key].process = 1 + nt_rand_below(rand, N_KEYS - 1);
		record.as_task.cgroup = model[role][key].cgroup = nt_rand_below(rand, 20);
		break;
	case NT_ROLE_SOCKET:
		record.as_socket.socket = key;
		if (!model[role][key].process)
			model[role][key].process = nt_rand_below(rand, N_KEYS);
		record.as_socket.process = model[role][key].process;
		record.as_socket.cgroup = model[role][key].cgroup = nt_rand_below(rand, 20);
		break;
	case NT_ROLE_FLOW:
		record.as_flow.flow = key;
		record.as_flow.device = model[role][key].device = nt_rand_below(rand, 5);
		break;
	default:
		record.as_cgroup.cgroup = key;
	}
	/* In the order of its fields, as ids are given. */
	put(record);
	model_refers(NT_ROLE_TASK, model[role][key].process);
	model_refers(NT_ROLE_CGROUP, model[role][key].cgroup);
	model_refers(NT_ROLE_DEVICE, model[role][key].device);
}

static bool model_is_named(enum nt_role role, uint64_t key)
{
	for (unsigned int by = 0; by < NT_ROLE_COUNT; by++)
		for (uint64_t i = 1; i < N_KEYS; i++) {
			if (!model[by][i].has_identity || (by == (unsigned int)role && i == key))
				continue;
			if ((role == NT_ROLE_TASK && model[by][i].process == key) ||
			    (role == NT_ROLE_CGROUP && model[by][i].cgroup == key))
				return true;
		}
	return false;
}

static bool model_may_forget(enum nt_role role, uint64_t key)
{
	if (!model[role][key].is_known || model_generation - model[role][key].used < 2 || model_is_named(role, key))
		return false;
	return role != NT_ROLE_TASK || model[role][key].has_ended || !model[role][key].has_identity;
}

/* Keys that are used all the time: so many that others may be forgotten. They keep their ids. */
static void use_many(void)
{
	for (int role = 0; role < NT_ROLE_COUNT; role++)
		for (uint64_t key = 0; key <= NT_IDS_KEPT; key++) {
			const uint64_t id = nt_ids_get(&ids, role, 1ull << 40 | key);

			assert_int_equal(id, key + 1);
			if (id > last_id[role])
				last_id[role] = id;
		}
}

static const enum nt_role forgotten[] = {NT_ROLE_TASK, NT_ROLE_SOCKET, NT_ROLE_CGROUP, NT_ROLE_FLOW};
#define N_FORGOTTEN (sizeof(forgotten) / sizeof(forgotten[0]))

static void forget_all(void)
{
	const uint64_t now_ns = ids.generation_ns + NT_GENERATION_NS;

	assert_int_equal(nt_ids_forget(&ids, now_ns), ++model_generation);
	for (int i = 0; i < 2000; i++)
		assert_int_equal(nt_ids_forget(&ids, now_ns), model_generation);
}

/*
 * A key that may go at the begin goes. Keys that it named may go with it: only those still named must stay.
 */
static void forgets_as_the_model(void)
{
	static bool must_go[NT_ROLE_COUNT][N_KEYS], is_there[NT_ROLE_COUNT][N_KEYS], has_gone[NT_ROLE_COUNT][N_KEYS];

	memset(is_there, 0, sizeof(is_there));
	memset(has_gone, 0, sizeof(has_gone));
	use_many();
	model_generation++;
	for (size_t i = 0; i < N_FORGOTTEN; i++)
		for (uint64_t key = 1; key < N_KEYS; key++)
			must_go[forgotten[i]][key] = model_may_forget(forgotten[i], key);
	model_generation--;
	forget_all();
	for (size_t i = 0; i < N_FORGOTTEN; i++) {
		const struct nt_id_space *space = &ids.spaces[forgotten[i]];

		for (uint32_t place = 1; place < space->n_places; place++) {
			const struct nt_id_entry *entry = &space->entries[place];

			if (!entry->key || entry->key >= N_KEYS)
				continue;
			is_there[forgotten[i]][entry->key] = true;
			assert_int_equal(entry->id, model[forgotten[i]][entry->key].id);
		}
	}
	for (size_t i = 0; i < N_FORGOTTEN; i++)
		for (uint64_t key = 1; key < N_KEYS; key++) {
			const enum nt_role role = forgotten[i];

			has_gone[role][key] = model[role][key].is_known && !is_there[role][key];
			assert_true(model[role][key].is_known || !is_there[role][key]);
			assert_false(must_go[role][key] && is_there[role][key]);
			if (has_gone[role][key])
				model[role][key].is_known = model[role][key].has_identity = false;
		}
	for (size_t i = 0; i < N_FORGOTTEN; i++)
		for (uint64_t key = 1; key < N_KEYS; key++)
			if (has_gone[forgotten[i]][key]) {
				assert_true(model_generation - model[forgotten[i]][key].used >= 2);
				assert_false(model_is_named(forgotten[i], key));
				memset(&model[forgotten[i]][key], 0, sizeof(model[forgotten[i]][key]));
			}
}

static void forgets_what_is_old(void **state)
{
	struct nt_rand rand = {.state = 11};
	uint64_t n_forgotten = 0;

	(void)state;
	memset(model, 0, sizeof(model));
	memset(last_id, 0, sizeof(last_id));
	model_generation = 0;
	begin_chunk(0);
	use_many();
	for (int generation = 0; generation < 40; generation++) {
		/* Some keys rest for a while. */
		const uint64_t from = 1 + nt_rand_below(&rand, N_KEYS / 2);

		for (int i = 0; i < 150; i++) {
			const enum nt_role role = forgotten[nt_rand_below(&rand, N_FORGOTTEN)];
			const uint64_t key = from + nt_rand_below(&rand, role == NT_ROLE_CGROUP ? 20 : N_KEYS / 4);

			if (nt_rand_below(&rand, 2))
				model_puts(role, key < N_KEYS ? key : 1, &rand);
			else
				model_refers(role, key < N_KEYS ? key : 1);
		}
		begin_chunk((uint32_t)generation + 1);
		forgets_as_the_model();
	}
	for (size_t i = 0; i < N_FORGOTTEN; i++)
		n_forgotten += last_id[forgotten[i]] -
			       (ids.spaces[forgotten[i]].n_places - 1 - ids.spaces[forgotten[i]].n_free);
	assert_true(n_forgotten > 500);
}

/* A host with few of all forgets nothing, however long it runs. */
static void keeps_few(void **state)
{
	(void)state;
	nt_ids_get(&ids, NT_ROLE_SOCKET, 9);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(nt_ids_forget(&ids, i * NT_GENERATION_NS), 0);
	assert_int_equal(nt_ids_get(&ids, NT_ROLE_SOCKET, 9), 1);
}

/*
 * Connections that come and go, each used once: as many places as some generations bring, and no more. So too where
 * the recorder comes late: half of the time it comes a hundred times less often.
 */
static void stays_small(void **state)
{
	const struct nt_id_space *space = &ids.spaces[NT_ROLE_SOCKET];

	(void)state;
	for (uint64_t key = 1; key <= 1000000; key++) {
		union nt_any record = identity_of(NT_SOCKET);

		record.as_socket.socket = key;
		put(record);
		ids.pending.size = 0;
		if (key % (key < 500000 ? 100 : 10000) == 0)
			nt_ids_forget(&ids, key);
	}
	assert_int_equal(space->last_id, 1000000);
	assert_true(space->n_places < 4 * NT_IDS_NEW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(keeps_ids, set_up, tear_down),
		cmocka_unit_test_setup_teardown(is_released_when_full, set_up, tear_down),
		cmocka_unit_test_setup_teardown(knows_each_kind, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keeps_paths, set_up, tear_down),
		cmocka_unit_test_setup_teardown(takes_what_is_new, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keeps_holders, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keeps_deliveries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(once_a_chunk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stacks_are_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(translates_records, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_are_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(forgets_what_is_old, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keeps_few, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stays_small, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
