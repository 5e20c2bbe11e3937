// SPDX-License-Identifier: GPL-2.0-only
/*
 * net_irqs_test.c - whose interrupts are whose, out of a sysfs that is made here: a PCI card, a virtio device, a card
 * with one line, one that another namespace has, and devices that have no interrupt of their own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/net_irqs.h"
#include "tests/support/scratch.h"
#include "tests/support/failing_memory.h"

static char sys[SCRATCH_MAX];
static struct nt_net_irqs irqs;

static const char *in_sys(const char *name)
{
	static char path[2 * SCRATCH_MAX];

	return scratch_path(path, sys, name);
}

/* A directory, and those above it. */
static void make(const char *name)
{
	char path[SCRATCH_MAX];

	for (size_t i = 1; i <= strlen(name); i++) {
		if (name[i] && name[i] != '/')
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)i, name);
		mkdir(in_sys(path), 0700);
	}
}

static void write_file(const char *name, const char *text)
{
	scratch_write(in_sys(name), text, strlen(text));
}

static void link_to(const char *name, const char *target)
{
	assert_int_equal(symlink(target, in_sys(name)), 0);
}

static int set_up(void **state)
{
	(void)state;
	scratch_make(sys);
	make("class/net");
	make("bus/pci/devices");
	make("devices");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	nt_net_irqs_release(&irqs);
	scratch_remove(sys);
	return 0;
}

static void interface(const char *name, const char *device)
{
	char path[SCRATCH_MAX];

	snprintf(path, sizeof(path), "class/net/%s", name);
	make(path);
	snprintf(path, sizeof(path), "class/net/%s/device", name);
	if (device)
		link_to(path, device);
}

static void is_of(uint32_t number, const char *device)
{
	assert_string_equal(nt_net_irqs_device(&irqs, number), device);
}

static void reads(void)
{
	assert_int_equal(nt_net_irqs_read(&irqs, sys), 0);
}

/* The one line of a card with messages is not used. */
static void messages_of_a_card(void **state)
{
	(void)state;
	make("devices/0000:00:1f.6/msi_irqs");
	write_file("devices/0000:00:1f.6/msi_irqs/130", "msi\n");
	write_file("devices/0000:00:1f.6/msi_irqs/131", "msix\n");
	write_file("devices/0000:00:1f.6/msi_irqs/12x", "msix\n");
	write_file("devices/0000:00:1f.6/msi_irqs/99999999999", "msix\n");
	write_file("devices/0000:00:1f.6/irq", "16\n");
	interface("enp0s31f6", "../../../devices/0000:00:1f.6");
	interface("lo", NULL);
	reads();
	assert_int_equal(irqs.n, 2);
	is_of(130, "enp0s31f6");
	is_of(131, "enp0s31f6");
	is_of(16, "");
	is_of(12, "");
}

static void a_line(void **state)
{
	(void)state;
	make("devices/0000:00:04.0");
	write_file("devices/0000:00:04.0/irq", "11\n");
	interface("eth0", "../../../devices/0000:00:04.0");
	make("devices/0000:00:05.0");
	write_file("devices/0000:00:05.0/irq", "0\n");
	interface("eth1", "../../../devices/0000:00:05.0");
	reads();
	assert_int_equal(irqs.n, 1);
	is_of(11, "eth0");
}

/* The card that is above a virtio device has the interrupts; what is above another device has others'. */
static void virtio(void **state)
{
	(void)state;
	make("devices/0000:00:03.0/msi_irqs");
	make("devices/0000:00:03.0/virtio2");
	make("bus/virtio");
	write_file("devices/0000:00:03.0/msi_irqs/38", "msix\n");
	link_to("devices/0000:00:03.0/virtio2/subsystem", "../../../bus/virtio");
	interface("eth0", "../../../devices/0000:00:03.0/virtio2");
	make("devices/0000:00:14.0/msi_irqs");
	make("devices/0000:00:14.0/1-1:1.0");
	make("bus/usb");
	write_file("devices/0000:00:14.0/msi_irqs/40", "msix\n");
	link_to("devices/0000:00:14.0/1-1:1.0/subsystem", "../../../bus/usb");
	interface("usb0", "../../../devices/0000:00:14.0/1-1:1.0");
	reads();
	assert_int_equal(irqs.n, 1);
	is_of(38, "eth0");
	is_of(40, "");
}

/* A card whose network device is not in this namespace goes by its address. */
static void card_in_another_namespace(void **state)
{
	(void)state;
	make("bus/pci/devices/0000:01:00.0/msi_irqs");
	write_file("bus/pci/devices/0000:01:00.0/class", "0x020000\n");
	write_file("bus/pci/devices/0000:01:00.0/msi_irqs/50", "msix\n");
	make("bus/pci/devices/0000:02:00.0/msi_irqs");
	write_file("bus/pci/devices/0000:02:00.0/class", "0x010802\n");
	write_file("bus/pci/devices/0000:02:00.0/msi_irqs/60", "msix\n");
	make("bus/pci/devices/0000:03:00.0/msi_irqs");
	write_file("bus/pci/devices/0000:03:00.0/msi_irqs/70", "msix\n");
	interface("eth0", "../../../bus/pci/devices/0000:04:00.0");
	make("bus/pci/devices/0000:04:00.0/msi_irqs");
	write_file("bus/pci/devices/0000:04:00.0/class", "0x020000\n");
	write_file("bus/pci/devices/0000:04:00.0/msi_irqs/80", "msix\n");
	reads();
	assert_int_equal(irqs.n, 2);
	is_of(50, "0000:01:00.0");
	is_of(80, "eth0");
}

static void many(void **state)
{
	(void)state;
	make("devices/card/msi_irqs");
	for (int i = 1; i <= 1000; i++) {
		char path[SCRATCH_MAX];

		snprintf(path, sizeof(path), "devices/card/msi_irqs/%d", i);
		write_file(path, "msix\n");
	}
	interface("eth0", "../../../devices/card");
	reads();
	assert_int_equal(irqs.n, 1000);
	is_of(1, "eth0");
	is_of(1000, "eth0");
	is_of(1001, "");
}

static void no_sysfs(void **state)
{
	(void)state;
	assert_int_equal(nt_net_irqs_read(&irqs, "/nowhere"), 0);
	assert_int_equal(irqs.n, 0);
	is_of(0, "");
}

static void no_memory(void **state)
{
	int error;

	(void)state;
	make("devices/card");
	write_file("devices/card/irq", "5\n");
	interface("eth0", "../../../devices/card");
	failing_size = 64 * sizeof(struct nt_net_irq);
	error = nt_net_irqs_read(&irqs, sys);
	failing_size = 0;
	assert_int_equal(error, -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(messages_of_a_card, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_line, set_up, tear_down),
		cmocka_unit_test_setup_teardown(virtio, set_up, tear_down),
		cmocka_unit_test_setup_teardown(card_in_another_namespace, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_sysfs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_memory, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
