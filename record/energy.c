// SPDX-License-Identifier: GPL-2.0-only
/* energy.c - see energy.h. */
#include "record/energy.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/first_line.h"

#define COUNTER "/energy_uj"
#define USUAL_DRIVER "intel-rapl"
#define DRIVER_MAX 20 /* characters of another driver's name */

static bool read_file(const char *directory, const char *name, char *line, size_t size)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return nt_first_line(path, line, size);
}

/* False: it is no number. */
static bool parse_number(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	/* That would take a sign, too. */
	return text[0] >= '0' && text[0] <= '9' && !*end && !errno;
}

static bool read_number(const char *directory, const char *name, uint64_t *out)
{
	char line[32];

	return read_file(directory, name, line, sizeof(line)) && parse_number(line, out);
}

/* Of a file that stays open. */
static bool read_counter(int fd, uint64_t *out)
{
	char line[32];
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);

	line[n > 0 ? n : 0] = 0;
	line[strcspn(line, "\n")] = 0;
	return parse_number(line, out);
}

/* ---- names ---- */

/* Of "intel-rapl:0:2", the directory of the zone that it is a part of. False: it is a part of none. */
static bool directory_above(const char *directory, char *above, size_t size)
{
	const char *last = strrchr(directory, ':'), *base = strrchr(directory, '/');

	if (!last || !base || last < base || memchr(base, ':', (size_t)(last - base)) == NULL)
		return false;
	snprintf(above, size, "%.*s", (int)(last - directory), directory);
	return true;
}

static bool is_taken(const struct nt_energy *energy, const char *name)
{
	for (size_t i = 0; i < energy->n; i++)
		if (!strcmp(energy->zones[i].name, name))
			return true;
	return false;
}

/* One without a name, or with another's, is named as its directory is. Names are one word. */
static void name_zone(const struct nt_energy *energy, const char *directory, struct nt_energy_zone *zone)
{
	const char *base = strrchr(directory, '/') + 1;
	const bool is_usual = !strncmp(base, USUAL_DRIVER ":", strlen(USUAL_DRIVER ":"));
	const size_t driver = is_usual ? 0 : strcspn(base, ":");
	char name[24], above[24] = "", path[PATH_MAX];

	if (directory_above(directory, path, sizeof(path)))
		read_file(path, "name", above, sizeof(above));
	if (read_file(directory, "name", name, sizeof(name)))
		snprintf(zone->name, sizeof(zone->name), "%.*s%s%s%s%s",
			 (int)(driver < DRIVER_MAX ? driver : DRIVER_MAX), base, is_usual ? "" : "/", above,
			 above[0] ? "." : "", name);
	if (!name[0] || is_taken(energy, zone->name))
		snprintf(zone->name, sizeof(zone->name), "%s", base);
	for (char *at = zone->name; *at; at++)
		if (*at <= ' ' || *at > '~')
			*at = '_';
}

/* ---- counters ---- */

static int add(struct nt_energy *energy, const struct nt_energy_zone *zone)
{
	if (energy->n == energy->capacity) {
		size_t capacity = energy->capacity ? energy->capacity * 2 : 16;
		struct nt_energy_zone *more = realloc(energy->zones, capacity * sizeof(*more));

		if (!more)
			return -ENOMEM;
		energy->zones = more;
		energy->capacity = capacity;
	}
	energy->zones[energy->n++] = *zone;
	return 0;
}

/* The first counter that was refused is named. */
static void note_refusal(struct nt_energy *energy, const char *path, int error)
{
	if (!energy->uncovered[0])
		snprintf(energy->uncovered, sizeof(energy->uncovered),
			 "Energy is not that of all counters: %.120s: %s.", path, strerror(error));
}

static int open_zone(struct nt_energy *energy, const char *path)
{
	struct nt_energy_zone zone = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
	char directory[PATH_MAX];
	int error;

	if (zone.fd < 0 || !read_counter(zone.fd, &zone.counter_uj)) {
		note_refusal(energy, path, zone.fd < 0 ? errno : EIO);
		if (zone.fd >= 0)
			close(zone.fd);
		return 0;
	}
	snprintf(directory, sizeof(directory), "%.*s", (int)(strlen(path) - strlen(COUNTER)), path);
	if (!read_number(directory, "max_energy_range_uj", &zone.range_uj))
		zone.range_uj = 0;
	name_zone(energy, directory, &zone);
	error = add(energy, &zone);
	if (error)
		close(zone.fd);
	return error;
}

int nt_energy_open(struct nt_energy *energy, const char *sys)
{
	char pattern[PATH_MAX];
	glob_t files = {0};
	int found, error;

	snprintf(pattern, sizeof(pattern), "%s/class/powercap/*" COUNTER, sys);
	found = glob(pattern, 0, NULL, &files);
	error = found == GLOB_NOSPACE ? -ENOMEM : 0;
	if (!found) {
		for (size_t i = 0; i < files.gl_pathc && !error; i++)
			error = open_zone(energy, files.gl_pathv[i]);
	}
	globfree(&files);
	if (!energy->n && !energy->uncovered[0])
		snprintf(energy->uncovered, sizeof(energy->uncovered),
			 "Energy is not recorded: this host has no counter (%s/class/powercap). Most virtual machines "
			 "have none.",
			 sys);
	return error;
}

void nt_energy_release(struct nt_energy *energy)
{
	for (size_t i = 0; i < energy->n; i++)
		close(energy->zones[i].fd);
	free(energy->zones);
	memset(energy, 0, sizeof(*energy));
}

const char *nt_energy_uncovered(const struct nt_energy *energy)
{
	return energy->uncovered[0] ? energy->uncovered : NULL;
}

/*
 * The gain of a counter. One that fell began anew: behind its range, or since somebody set it back. Between two
 * readings no host uses half a range.
 */
static uint64_t gain(const struct nt_energy_zone *zone, uint64_t counter_uj)
{
	const uint64_t fell_uj = zone->counter_uj - counter_uj;

	if (counter_uj >= zone->counter_uj)
		return counter_uj - zone->counter_uj;
	return fell_uj <= zone->range_uj && fell_uj > zone->range_uj / 2 ? zone->range_uj - fell_uj : counter_uj;
}

int nt_energy_print(struct nt_energy *energy, struct nt_buf *text)
{
	uint64_t counter_uj;
	int error = 0;

	for (size_t i = 0; i < energy->n && !error; i++) {
		struct nt_energy_zone *zone = &energy->zones[i];

		if (!read_counter(zone->fd, &counter_uj))
			continue;
		zone->sum_uj += gain(zone, counter_uj);
		zone->counter_uj = counter_uj;
		error = nt_buf_print(text, "%s %" PRIu64 "\n", zone->name, zone->sum_uj);
	}
	return error;
}

/* ---- packages ---- */

int nt_energy_print_cpus(const char *sys, uint32_t n_cpus, struct nt_buf *text)
{
	static const struct {
		const char *name, *file;
	} ids[] = {{"package", "physical_package_id"}, {"die", "die_id"}, {"core", "core_id"}};
	char directory[PATH_MAX];
	uint64_t id;
	int error = 0;

	for (uint32_t cpu = 0; cpu < n_cpus && !error; cpu++) {
		snprintf(directory, sizeof(directory), "%s/devices/system/cpu/cpu%u/topology", sys, cpu);
		if (!read_number(directory, ids[0].file, &id))
			continue;
		error = nt_buf_print(text, "%u", cpu);
		for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]) && !error; i++)
			if (read_number(directory, ids[i].file, &id))
				error = nt_buf_print(text, " %s=%" PRIu64, ids[i].name, id);
		if (!error)
			error = nt_buf_print(text, "\n");
	}
	return error;
}
