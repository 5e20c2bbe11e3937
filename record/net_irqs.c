// SPDX-License-Identifier: GPL-2.0-only
/*
 * net_irqs.c - see net_irqs.h.
 */
#include "record/net_irqs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PCI_CLASS_NETWORK "0x02" /* what its class begins with */

/* The first device that has an interrupt keeps it: devices with a name come first. */
static int add(struct nt_net_irqs *irqs, unsigned long number, const char *device)
{
	if (number > UINT32_MAX || nt_net_irqs_device(irqs, (uint32_t)number)[0])
		return 0;
	if (irqs->n == irqs->capacity) {
		size_t capacity = irqs->capacity ? irqs->capacity * 2 : 64;
		struct nt_net_irq *more = realloc(irqs->irqs, capacity * sizeof(*more));

		if (!more)
			return -ENOMEM;
		irqs->irqs = more;
		irqs->capacity = capacity;
	}
	irqs->irqs[irqs->n].number = (uint32_t)number;
	snprintf(irqs->irqs[irqs->n].device, sizeof(irqs->irqs[irqs->n].device), "%s", device);
	irqs->n++;
	return 0;
}

static DIR *open_directory(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !directory)
		close(fd);
	return directory;
}

/* Calls `take` for each name in a directory, and closes it; until that fails. */
static int each_name(DIR *directory,
		     int (*take)(struct nt_net_irqs *irqs, int at, const char *name, const char *device),
		     struct nt_net_irqs *irqs, const char *device)
{
	struct dirent *entry;
	int error = 0;

	while (directory && !error && (entry = readdir(directory)))
		if (entry->d_name[0] != '.')
			error = take(irqs, dirfd(directory), entry->d_name, device);
	if (directory)
		closedir(directory);
	return error;
}

/* The first of it; "" if it cannot be read. */
static void read_file(int at, const char *name, char *text, size_t size)
{
	int fd = openat(at, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);

	text[n > 0 ? n : 0] = 0;
	if (fd >= 0)
		close(fd);
}

static int add_message(struct nt_net_irqs *irqs, int at, const char *name, const char *device)
{
	unsigned long number;
	char *end;

	(void)at;
	number = strtoul(name, &end, 10);
	return *end ? 0 : add(irqs, number, device);
}

/*
 * The interrupts of a bus device: one file for each message. Without messages it has one line, which devices may share:
 * only /proc/interrupts tells.
 */
static int add_those_of(struct nt_net_irqs *irqs, int bus_device, const char *device)
{
	const size_t before = irqs->n;
	int error = each_name(open_directory(bus_device, "msi_irqs"), add_message, irqs, device);
	unsigned long line;
	char text[32];

	if (error || irqs->n > before)
		return error;
	read_file(bus_device, "irq", text, sizeof(text));
	line = strtoul(text, NULL, 10);
	return line ? add(irqs, line, device) : 0;
}

static int add_those_in(struct nt_net_irqs *irqs, int at, const char *name, const char *device)
{
	DIR *directory = open_directory(at, name);
	int error = directory ? add_those_of(irqs, dirfd(directory), device) : 0;

	if (directory)
		closedir(directory);
	return error;
}

/* A virtio device is no bus device of its own: the one above it has the interrupts. */
static bool is_virtio(int interface)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(interface, "device/subsystem", target, sizeof(target) - 1);

	if (n < 0)
		return false;
	target[n] = 0;
	return strrchr(target, '/') && !strcmp(strrchr(target, '/'), "/virtio");
}

static int add_interface(struct nt_net_irqs *irqs, int net, const char *name, const char *device)
{
	DIR *interface = open_directory(net, name);
	int error = 0;

	(void)device;
	if (interface)
		error = add_those_in(irqs, dirfd(interface), is_virtio(dirfd(interface)) ? "device/.." : "device",
				     name);
	if (interface)
		closedir(interface);
	return error;
}

static int add_pci(struct nt_net_irqs *irqs, int devices, const char *name, const char *device)
{
	DIR *directory = open_directory(devices, name);
	char class[32];
	int error = 0;

	(void)device;
	if (!directory)
		return 0;
	read_file(dirfd(directory), "class", class, sizeof(class));
	if (!strncmp(class, PCI_CLASS_NETWORK, strlen(PCI_CLASS_NETWORK)))
		error = add_those_of(irqs, dirfd(directory), name);
	closedir(directory);
	return error;
}

int nt_net_irqs_read(struct nt_net_irqs *irqs, const char *sys)
{
	DIR *directory = open_directory(AT_FDCWD, sys);
	int error = 0;

	if (!directory)
		return 0;
	error = each_name(open_directory(dirfd(directory), "class/net"), add_interface, irqs, NULL);
	if (!error)
		error = each_name(open_directory(dirfd(directory), "bus/pci/devices"), add_pci, irqs, NULL);
	closedir(directory);
	return error;
}

const char *nt_net_irqs_device(const struct nt_net_irqs *irqs, uint32_t number)
{
	for (size_t i = 0; i < irqs->n; i++)
		if (irqs->irqs[i].number == number)
			return irqs->irqs[i].device;
	return "";
}

void nt_net_irqs_release(struct nt_net_irqs *irqs)
{
	free(irqs->irqs);
	memset(irqs, 0, sizeof(*irqs));
}
