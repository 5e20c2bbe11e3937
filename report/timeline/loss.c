// SPDX-License-Identifier: GPL-2.0-only
/*
 * loss.c - uncovered stretches: where they begin, how long they last, and what caused them.
 */
#include <errno.h>

#include "report/timeline/state.h"
#include "report/util/array.h"
#include "schema/kind.h"

int nt_loss_push(struct nt_cpu_line *line, uint8_t kind, uint64_t count, const char *why)
{
	struct nt_pending_loss *last;

	if (line->n_losses < NT_MAX_LOSSES) {
		if (NT_ROOM(line->losses, line->losses_size, line->n_losses + 1))
			return -ENOMEM;
		line->losses[line->n_losses++] = (struct nt_pending_loss){count, kind, why};
		return 0;
	}
	/* So many in one stretch are of a forged tape; their number is kept, if not which is which. */
	last = &line->losses[NT_MAX_LOSSES - 1];
	if (last->kind != kind)
		last->kind = 0;
	last->count += count;
	return 0;
}

static void set_lost_begin(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t from_ns)
{
	line->lost_ns = from_ns;
	if (!line->counted && from_ns < timeline->end_ns) {
		line->counted = true;
		timeline->n_lost++;
	}
}

void nt_loss_begin(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t from_ns)
{
	line->lost = true;
	line->task_lost = false;
	line->too_long = false;
	line->lost_until_ns = 0;
	set_lost_begin(timeline, line, from_ns);
	nt_cpu_line_suspend_stay(line);
}

int nt_loss_end(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t from_ns, uint64_t to_ns)
{
	to_ns = nt_min_ns(to_ns, timeline->end_ns);
	if (line->counted)
		timeline->n_lost--;
	line->counted = line->lost = line->initial = false;
	if (from_ns < to_ns)
		timeline->uncovered_until_ns = nt_max_ns(timeline->uncovered_until_ns, to_ns);
	return nt_cpu_line_losses(timeline, line, from_ns, to_ns);
}

void nt_loss_of_segment(struct nt_timeline *timeline, struct nt_cpu_line *line)
{
	if (line->lost)
		set_lost_begin(timeline, line, line->start_ns);
	else
		nt_loss_begin(timeline, line, line->start_ns);
	line->initial = false;
	line->n_before_loss = 0;
}

int nt_loss_of_long(struct nt_timeline *timeline, struct nt_cpu_line *line)
{
	int error = 0;

	nt_loss_of_segment(timeline, line);
	if (!line->too_long)
		error = nt_loss_push(line, 0, 0, "segment too long");
	line->too_long = true;
	if (!error)
		error = nt_cpu_line_spans(timeline, line, line->start_ns);
	line->segment.n = 0;
	return error;
}

/* ---- LOSS records ---- */

/*
 * Where a stretch begins, of which records that ended at first_ns or later were lost: at the end of the last record
 * before. Further losses of the same stretch can only move that back, so that each record is looked at once.
 */
static uint64_t last_end_by(struct nt_cpu_line *line, uint64_t first_ns)
{
	for (; line->n_before_loss; line->n_before_loss--) {
		uint64_t end_ns = line->segment.spans[line->n_before_loss - 1].end_ns;

		if (end_ns <= first_ns)
			return nt_max_ns(line->start_ns, end_ns);
	}
	return line->start_ns;
}

void nt_loss_until(struct nt_cpu_line *line, uint64_t last_ns)
{
	line->lost_until_ns = nt_max_ns(line->lost_until_ns, last_ns < UINT64_MAX ? last_ns + 1 : last_ns);
}

/* Whether the task on the CPU may have changed when records of this kind were lost. */
static bool kind_tells_task(uint8_t kind)
{
	return kind != NT_STATE && kind != NT_OPEN && kind != NT_SOFTIRQ && kind != NT_IRQ && kind != NT_OP &&
	       kind != NT_NAPI;
}

int nt_loss_record(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_loss *loss)
{
	uint64_t first_ns = loss->first_ns ? loss->first_ns : UINT64_MAX;
	uint64_t last_ns = loss->last_ns ? loss->last_ns : line->last_end_ns;
	uint64_t begin_ns = loss->begin_ns ? loss->begin_ns : UINT64_MAX;
	uint64_t from_ns;

	if (!line->lost)
		line->n_before_loss = line->segment.n;
	from_ns = nt_min_ns(line->lost ? line->lost_ns : UINT64_MAX, last_end_by(line, first_ns));
	from_ns = nt_max_ns(line->start_ns, nt_min_ns(from_ns, begin_ns));
	if (line->lost)
		set_lost_begin(timeline, line, from_ns);
	else
		nt_loss_begin(timeline, line, from_ns);
	line->initial = false;
	line->task_lost = line->task_lost || kind_tells_task(loss->lost_kind);
	nt_loss_until(line, last_ns);
	return nt_loss_push(line, loss->lost_kind, loss->count, nt_loss_why_name(loss->why));
}
