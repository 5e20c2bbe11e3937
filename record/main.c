// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - nettape-record: reads the command line and does what it asks.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "record/energy.h"
#include "record/kernel.h"
#include "record/options.h"
#include "record/session.h"
#include "record/wrap.h"

#define INDENT 12 /* the longest name of a probe, and a space */

__attribute__((format(printf, 2, 3))) static void print_paragraph(const char *head, const char *format, ...)
{
	struct nt_wrap wrap;
	char text[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	nt_wrap_begin(&wrap, stdout, INDENT, head);
	nt_wrap_words(&wrap, text);
	nt_wrap_end(&wrap);
}

static int print_uncovered(void *arg, const char *sentence)
{
	(void)arg;
	print_paragraph("", "not covered: %s", sentence);
	return 0;
}

static void print_points(const struct nt_plan *plan, int probe)
{
	const struct nt_candidate *chosen = plan->chosen[probe];
	struct nt_wrap wrap;
	bool has_filter = false;
	char by[64];

	nt_wrap_begin(&wrap, stdout, INDENT, "");
	snprintf(by, sizeof(by), "by %s%s", chosen->name, chosen->points[0].program ? ":" : "");
	nt_wrap_words(&wrap, by);
	/* Some points have two programs, one after the other. */
	for (int i = 0; chosen->points[i].program; i++) {
		const struct nt_attach_point *point = &chosen->points[i];

		has_filter |= plan->has[probe][i] && point->how == NT_AT_CGROUP;
		if (plan->has[probe][i] && point->how != NT_AT_ITERATOR && point->how != NT_AT_CGROUP &&
		    (!i || strcmp(point->point, point[-1].point)))
			nt_wrap_words(&wrap, point->point);
	}
	nt_wrap_end(&wrap);
	if (has_filter)
		print_paragraph("", "and a filter of the root cgroup, which lets all packets pass");
}

static void print_missing_energy(void)
{
	struct nt_energy energy = {};

	if (!nt_energy_open(&energy, "/sys") && nt_energy_uncovered(&energy))
		print_uncovered(NULL, nt_energy_uncovered(&energy));
	nt_energy_release(&energy);
}

static void print_probe(const struct nt_plan *plan, int probe)
{
	print_paragraph(nt_probes[probe].name, "%s", nt_probes[probe].what);
	if (!plan->chosen[probe]) {
		print_paragraph("", "not available (%s). %s", plan->refused[probe],
				nt_probes[probe].without ? nt_probes[probe].without : "");
		return;
	}
	print_points(plan, probe);
	if (plan->refused[probe][0])
		print_paragraph("", "not by %s: %s", nt_probes[probe].candidates->name, plan->refused[probe]);
	nt_plan_uncovered(plan, probe, print_uncovered, NULL);
	if (probe == NT_PROBE_ENERGY)
		print_missing_energy();
}

/* The programs are loaded, to see which the kernel takes. Without the right to do so its types must do. */
static int list_probes(struct nt_record_options *options)
{
	char message[1024];
	int error;

	memset(options->plan.on, true, sizeof(options->plan.on));
	error = nt_kernel_try(options, message, sizeof(message));
	if (error == -EPERM || error == -EACCES) {
		fprintf(stderr, "nettape-record: not tried, by the kernel's types only: %s\n", message);
	} else if (error) {
		fprintf(stderr, "nettape-record: %s\n", message);
		return 1;
	}
	for (int probe = 0; probe < NT_PROBE_COUNT; probe++)
		print_probe(&options->plan, probe);
	return 0;
}

int main(int argc, char **argv)
{
	struct nt_record_options options;
	int status;

	/* A line that is printed in parts goes out in one piece. */
	setlinebuf(stderr);
	if (nt_record_options_parse(&options, argc, argv, &status))
		return status;
	return options.list_probes ? list_probes(&options) : nt_session_run(&options);
}
