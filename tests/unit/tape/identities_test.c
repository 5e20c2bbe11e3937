// SPDX-License-Identifier: GPL-2.0-only
/*
 * identities_test.c - which record of an id is the newest, and what is learned of it; with times and ids that only a
 * damaged tape has.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "report/tape/identities.h"

static struct nt_identities ids;
static struct nt_identity_marks marks;

static int release(void **state)
{
	(void)state;
	nt_identities_release(&ids);
	nt_identity_marks_release(&marks);
	return 0;
}

static union nt_any task_of(uint64_t task, uint64_t process, uint64_t end_ns)
{
	union nt_any record;

	memset(&record, 0, sizeof(record));
	record.as_task.kind = NT_TASK;
	record.as_task.end_ns = end_ns;
	record.as_task.task = task;
	record.as_task.process = process;
	return record;
}

static void learn(union nt_any record)
{
	assert_int_equal(nt_identities_learn(&ids, &record), 0);
}

static bool takes(union nt_any record)
{
	return nt_identities_take_newest(&ids, &marks, &record);
}

static void takes_the_newest_once(void **state)
{
	(void)state;
	learn(task_of(1, 10, 500));
	learn(task_of(1, 11, 700));
	learn(task_of(1, 12, 600));
	assert_false(takes(task_of(1, 10, 500)));
	assert_false(takes(task_of(2, 10, 700)));
	assert_true(takes(task_of(1, 11, 700)));
	assert_false(takes(task_of(1, 11, 700)));
	assert_int_equal(nt_identities_process_of(&ids, 1), 11);
	assert_int_equal(nt_identities_process_of(&ids, 2), 2);
	assert_true(nt_identities_knows_task(&ids, 1));
	assert_false(nt_identities_knows_task(&ids, 2));
	/* Of the same time the first stays. */
	learn(task_of(3, 31, 0));
	learn(task_of(3, 32, 0));
	assert_int_equal(nt_identities_process_of(&ids, 3), 31);
	assert_true(takes(task_of(3, 31, 0)));
}

static union nt_any socket_of(uint16_t port, uint64_t end_ns)
{
	union nt_any record;

	memset(&record, 0, sizeof(record));
	record.as_socket = (struct nt_socket){.end_ns = end_ns, .kind = NT_SOCKET, .socket = 5, .src_port = port};
	return record;
}

/* A socket that is closed has given its port back: where it had one, that counts, in whichever order they come. */
static void prefers_what_says_more(void **state)
{
	(void)state;
	learn(socket_of(0, 400));
	learn(socket_of(80, 500));
	learn(socket_of(0, 700));
	learn(socket_of(81, 600));
	assert_false(takes(socket_of(0, 700)));
	assert_false(takes(socket_of(80, 500)));
	assert_true(takes(socket_of(81, 600)));
}

/* Times beyond 2^63 are none. Id 0 is nobody's. */
static void knows_no_impossible_time(void **state)
{
	(void)state;
	learn(task_of(1, 11, INT64_MAX));
	learn(task_of(2, 12, (uint64_t)INT64_MAX + 1));
	learn(task_of(3, 13, UINT64_MAX));
	learn(task_of(0, 14, 5));
	assert_true(takes(task_of(1, 11, INT64_MAX)));
	assert_false(takes(task_of(2, 12, (uint64_t)INT64_MAX + 1)));
	assert_false(takes(task_of(3, 13, UINT64_MAX)));
	assert_false(takes(task_of(4, 13, UINT64_MAX)));
	assert_false(takes(task_of(0, 14, 5)));
	assert_false(takes(task_of(0, 14, UINT64_MAX)));
	assert_false(nt_identities_knows_task(&ids, 2));
	assert_false(nt_identities_knows_task(&ids, 3));
	assert_false(nt_identities_knows_task(&ids, 0));
}

/* Each sort of identity has ids of its own; symbols of the kernel and of programs share theirs. */
static void keeps_sorts_apart(void **state)
{
	union nt_any socket = {.as_socket = {.kind = NT_SOCKET, .end_ns = 5, .socket = 7}};
	union nt_any stack = {.as_stack = {.kind = NT_STACK, .end_ns = 5, .stack = 7, .parent = 8, .symbol = 9}};
	union nt_any user = {.as_user_symbol = {.kind = NT_USER_SYMBOL, .end_ns = 5, .symbol = 7}};
	union nt_any symbol = {.as_symbol = {.kind = NT_SYMBOL, .end_ns = 5, .symbol = 7}};
	union nt_any irq = {.as_irq_name = {.kind = NT_IRQ_NAME, .end_ns = 5, .type = NT_IRQ_DEVICE, .number = 7}};
	uint64_t place;

	(void)state;
	strcpy(irq.as_irq_name.name, "eth0");
	learn(socket);
	learn(stack);
	learn(user);
	learn(irq);
	assert_false(takes(task_of(7, 7, 5)));
	assert_false(takes(irq));
	assert_true(takes(socket));
	assert_true(takes(stack));
	assert_true(takes(symbol));
	assert_false(takes(user));
	assert_int_equal(nt_identities_unwind(&ids, 7, &place), 8);
	assert_int_equal(place, 9);
	assert_int_equal(nt_identities_unwind(&ids, 8, &place), 0);
	assert_int_equal(place, 0);
	/* The process of a task is that of a task's record alone. */
	assert_int_equal(nt_identities_process_of(&ids, 7), 7);
	/* An older one says nothing of the stack any more. */
	stack.as_stack.end_ns = 4;
	stack.as_stack.parent = 80;
	learn(stack);
	assert_int_equal(nt_identities_unwind(&ids, 7, &place), 8);
	assert_string_equal(nt_identities_irq_name(&ids, NT_IRQ_DEVICE, 7), "eth0");
	assert_string_equal(nt_identities_irq_name(&ids, NT_IRQ_DEVICE, 8), "irq 8");
	assert_string_equal(nt_identities_irq_name(&ids, NT_IRQ_VECTOR, 7), "vector 7");
}

static void learn_irq(uint32_t number, uint8_t flags, const char *name, const char *device)
{
	union nt_any irq = {
		.as_irq_name = {
			.kind = NT_IRQ_NAME, .end_ns = 5, .type = NT_IRQ_DEVICE, .number = number, .flags = flags}};

	strcpy(irq.as_irq_name.name, name);
	strcpy(irq.as_irq_name.device, device);
	learn(irq);
}

/* By what sysfs said; where nobody asked it, by the interrupt's name. */
static void knows_irqs_of_network_devices(void **state)
{
	static const char *const names[] = {"virtio0-input.0",
					    "virtio12-output.3",
					    "eth0",
					    "enp3s0-TxRx-1",
					    "ens5",
					    "eno1",
					    "wlp2s0",
					    "wlan0",
					    "mlx5_comp3@pci:0000:01:00.0",
					    "i40e-ens1f0-TxRx-0"};
	static const char *const others[] = {"",      "virtio0-input", "virtio1-req.0", "virtio3-rx", "nvme0q1",
					     "ethos", "eth0, ehci",    "energy",	"wlock",      "timer"};
	const char *device;

	(void)state;
	learn_irq(1, NT_IRQ_NAME_ASKED, "odd", "eth0");
	learn_irq(2, NT_IRQ_NAME_ASKED, "eth1", "");
	learn_irq(2, NT_IRQ_NAME_ASKED, "eth1", "eth1");
	assert_true(nt_identities_is_net_irq(&ids, NT_IRQ_DEVICE, 1, &device));
	assert_string_equal(device, "eth0");
	assert_false(nt_identities_is_net_irq(&ids, NT_IRQ_VECTOR, 1, &device));
	assert_false(nt_identities_is_net_irq(&ids, NT_IRQ_DEVICE, 2, &device));
	assert_false(nt_identities_is_net_irq(&ids, NT_IRQ_DEVICE, 3, &device));
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		learn_irq(100 + i, 0, names[i], "");
		if (!nt_identities_is_net_irq(&ids, NT_IRQ_DEVICE, 100 + i, &device))
			fail_msg("%s is a network device's", names[i]);
		assert_null(device);
	}
	for (uint32_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		learn_irq(200 + i, 0, others[i], "");
		if (nt_identities_is_net_irq(&ids, NT_IRQ_DEVICE, 200 + i, &device))
			fail_msg("%s is no network device's", others[i]);
	}
	/* The first that was asked for stays, also behind one that nobody asked for. */
	learn_irq(100, NT_IRQ_NAME_ASKED, "virtio0-input.0", "");
	assert_false(nt_identities_is_net_irq(&ids, NT_IRQ_DEVICE, 100, &device));
}

/* By names that the kernel alone gives: so a thread of a program with such a name is none. */
static void knows_threads_that_poll(void **state)
{
	static const char *const names[] = {"napi/eth0-1", "backlog_napi/0", "napi", "xnapi/eth0"};

	(void)state;
	for (uint64_t i = 0; i < 8; i++) {
		union nt_any record = task_of(1 + i, 1 + i, 5);

		record.as_task.flags = i < 4 ? NT_TASK_KTHREAD : 0;
		strcpy(record.as_task.comm, names[i % 4]);
		learn(record);
		assert_int_equal(nt_identities_is_napi(&ids, 1 + i), i < 2);
	}
}

static void names_are_the_first(void **state)
{
	union nt_any reason = {.as_drop_reason = {.kind = NT_DROP_REASON, .number = 6}};
	union nt_any symbol = {.as_symbol = {.kind = NT_SYMBOL, .symbol = 4, .offset = 26}};

	(void)state;
	/* Without a name they say nothing. */
	learn(reason);
	learn(symbol);
	assert_null(nt_identities_drop_reason(&ids, 6));
	assert_null(nt_identities_symbol(&ids, 4));
	for (int i = 0; i < 2; i++) {
		strcpy(reason.as_drop_reason.name, i ? "SECOND" : "FIRST");
		strcpy(symbol.as_symbol.name, i ? "second" : "first");
		learn(reason);
		learn(symbol);
	}
	assert_string_equal(nt_identities_drop_reason(&ids, 6), "FIRST");
	assert_string_equal(nt_identities_symbol(&ids, 4), "first+0x1a");
	symbol.as_symbol.symbol = 5;
	strcpy(symbol.as_symbol.module, "tables");
	learn(symbol);
	assert_string_equal(nt_identities_symbol(&ids, 5), "second+0x1a [tables]");
}

static void notes_stacks_of_samples(void **state)
{
	(void)state;
	assert_int_equal(nt_identity_marks_see_stack(&marks, 0), 0);
	assert_int_equal(nt_identity_marks_see_stack(&marks, 5), 0);
	assert_false(nt_identity_marks_is_sampled(&marks, 0));
	assert_true(nt_identity_marks_is_sampled(&marks, 5));
	assert_false(nt_identity_marks_is_sampled(&marks, 6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(takes_the_newest_once, release),
		cmocka_unit_test_teardown(prefers_what_says_more, release),
		cmocka_unit_test_teardown(knows_no_impossible_time, release),
		cmocka_unit_test_teardown(keeps_sorts_apart, release),
		cmocka_unit_test_teardown(knows_irqs_of_network_devices, release),
		cmocka_unit_test_teardown(knows_threads_that_poll, release),
		cmocka_unit_test_teardown(names_are_the_first, release),
		cmocka_unit_test_teardown(notes_stacks_of_samples, release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
