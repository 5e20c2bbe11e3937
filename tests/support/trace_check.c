// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_check.c - holds the rows of a simulated trace against what the simulation knows. See trace_gen.h.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "tests/support/trace_gen.h"

static bool has(const struct trace *trace, enum trace_case which)
{
	return trace->cases >> which & 1;
}

/* Nothing is lost, not even while a CPU came online. */
static bool is_whole(const struct trace *trace)
{
	return trace->lossless && !has(trace, TRACE_HOTPLUG) && !has(trace, TRACE_STARTS_OFFLINE);
}

/*
 * Where a thread executed a program, the whole segment goes to what it became, or to what it was when loss
 * hides the change: a record does not say when it happened.
 */
static bool is_same_task(uint64_t told, uint64_t true_task)
{
	return told == true_task || trace_is_main_of(NULL, told, true_task) || trace_is_main_of(NULL, true_task, told);
}

static bool check_slice(const struct trace *trace, const struct row *row, FILE *out)
{
	uint64_t cpu = row->field[CPU_SLICE_CPU], end_ns = row->field[ROW_TS] + row->field[ROW_DUR];

	if (row->field[CPU_SLICE_OWNER] == NT_OWNER_UNCOVERED) {
		if (is_whole(trace)) {
			fprintf(out, "cpu %" PRIu64 " at %" PRIu64 ": uncovered without loss\n", cpu,
				row->field[ROW_TS]);
			return false;
		}
		return true;
	}
	for (uint64_t ns = row->field[ROW_TS]; ns < end_ns; ns++) {
		if (trace->owner[cpu][ns] == row->field[CPU_SLICE_OWNER] &&
		    is_same_task(row->field[CPU_SLICE_TASK], trace->task[cpu][ns]))
			continue;
		fprintf(out, "cpu %" PRIu64 " at %" PRIu64 ": %s of %" PRId64 ", in truth %s of %" PRId64 "\n", cpu, ns,
			nt_owner_name((enum nt_owner)row->field[CPU_SLICE_OWNER]), (int64_t)row->field[CPU_SLICE_TASK],
			nt_owner_name((enum nt_owner)trace->owner[cpu][ns]), (int64_t)trace->task[cpu][ns]);
		return false;
	}
	return true;
}

static uint64_t clip(const struct trace *trace, uint64_t ns)
{
	if (ns < trace->config.start_ns)
		return trace->config.start_ns;
	return ns > trace->config.end_ns ? trace->config.end_ns : ns;
}

/* The fault of an operation's row, or NULL. */
static const char *fault_of_op(const struct trace *trace, const struct row *row, const struct true_op *op)
{
	const uint64_t *f = row->field;
	bool timed = !(op->flags & NT_OP_NO_BEGIN);

	if (f[OP_DIR] != op->dir || f[OP_FLAGS] != op->flags || f[OP_CALL] != op->call || f[OP_TIMED] != timed)
		return "another operation";
	if (!is_same_task(f[OP_TASK], op->task) && (is_whole(trace) || f[OP_TASK] != NT_NO_TASK))
		return "another task";
	if (f[OP_TASK] == NT_NO_TASK && op->task != NT_NO_TASK && !f[OP_LOWER_BOUND])
		return "task not known without loss";
	if (f[OP_END] == NT_OP_DONE && (op->end != NT_OP_DONE || f[OP_RESULT] != (uint64_t)(int64_t)op->result))
		return "it did not end so";
	if (!timed)
		return NULL;
	if (f[ROW_TS] != clip(trace, op->begin_ns))
		return "it began at another time";
	if (f[OP_END] == NT_OP_DONE && f[ROW_TS] + f[ROW_DUR] != clip(trace, op->end_ns))
		return "it ended at another time";
	if (f[OP_BEFORE] != (op->begin_ns < trace->config.start_ns))
		return "it began before the session, or not";
	if (f[OP_CPU_NS] > op->cpu_ns)
		return "it cost less";
	/* It may seem to begin on a CPU that took its task before it was lost on the other. */
	if (has(trace, TRACE_CLOCKS_DIFFER) && !trace->lossless)
		return NULL;
	if (f[OP_CPU_NS] < op->cpu_ns && !f[OP_LOWER_BOUND] && !trace->loss_told_late)
		return "it cost more";
	return NULL;
}

static bool check_op(const struct trace *trace, const struct row *row, FILE *out)
{
	const struct true_op *op = &trace->ops[row->field[OP_SOCKET] - 1];
	const char *fault = fault_of_op(trace, row, op);

	if (fault)
		fprintf(out,
			"operation %" PRIu64 " of %" PRId64 " %" PRIu64 "..%" PRIu64 " cost %" PRIu64
			": %s (row: %" PRId64 " %" PRIu64 "+%" PRIu64 " cost %" PRIu64 ")\n",
			row->field[OP_SOCKET], (int64_t)op->task, op->begin_ns, op->end_ns, op->cpu_ns, fault,
			(int64_t)row->field[OP_TASK], row->field[ROW_TS], row->field[ROW_DUR], row->field[OP_CPU_NS]);
	return !fault;
}

/* Without loss, each operation of the session has one row, which tells how it ended. */
static bool check_all_ops(const struct trace *trace, const struct rows *rows, FILE *out)
{
	uint8_t *seen = calloc(trace->n_ops + 1, 1);
	bool good = seen != NULL;

	for (size_t i = 0; good && i < rows->n[ROW_OP]; i++) {
		const struct row *row = &rows->rows[ROW_OP][i];
		const struct true_op *op = &trace->ops[row->field[OP_SOCKET] - 1];

		/* One that ended unseen is noticed at its task's next state record, which may be its last. */
		bool end_fits = row->field[OP_END] == op->end ||
				(op->end == NT_OP_ABANDONED && row->field[OP_END] == NT_OP_EXIT);

		if (seen[row->field[OP_SOCKET] - 1]++ || !end_fits || row->field[OP_LOWER_BOUND])
			good = op->begin_ns < trace->config.start_ns && !row->field[OP_LOWER_BOUND];
		if (!good)
			fprintf(out, "operation %" PRIu64 ": ends %" PRIu64 ", in truth %d\n", row->field[OP_SOCKET],
				row->field[OP_END], (int)op->end);
	}
	for (size_t i = 0; good && i < trace->n_ops; i++) {
		const struct true_op *op = &trace->ops[i];

		if (op->recorded && op->begin_ns >= trace->config.start_ns && op->begin_ns < trace->config.end_ns &&
		    op->end_ns > trace->config.start_ns && !seen[i]) {
			fprintf(out, "operation %zu of %" PRId64 " has no row\n", i + 1, (int64_t)op->task);
			good = false;
		}
	}
	free(seen);
	return good;
}

/* Each covered nanosecond of a CPU that is there is in one stay. */
static bool check_stays(const struct trace *trace, const struct rows *rows, FILE *out)
{
	int64_t left[TRACE_CPUS] = {0};

	for (size_t i = 0; i < rows->n[ROW_CPU_SLICE]; i++) {
		const uint64_t *f = rows->rows[ROW_CPU_SLICE][i].field;

		if (f[CPU_SLICE_OWNER] != NT_OWNER_UNCOVERED && f[CPU_SLICE_OWNER] != NT_OWNER_OFFLINE)
			left[f[CPU_SLICE_CPU]] += (int64_t)f[ROW_DUR];
	}
	for (size_t i = 0; i < rows->n[ROW_SCHED_SLICE]; i++)
		left[rows->rows[ROW_SCHED_SLICE][i].field[SCHED_CPU]] -=
			(int64_t)rows->rows[ROW_SCHED_SLICE][i].field[ROW_DUR];
	for (uint32_t i = 0; i < trace->config.n_cpus; i++) {
		if (!left[i])
			continue;
		fprintf(out, "cpu %" PRIu32 ": %" PRId64 " ns are in no stay\n", i, left[i]);
		return false;
	}
	return true;
}

bool trace_check(const struct trace *trace, const struct rows *rows, FILE *out)
{
	for (size_t i = 0; i < rows->n[ROW_CPU_SLICE]; i++) {
		if (!check_slice(trace, &rows->rows[ROW_CPU_SLICE][i], out))
			return false;
	}
	for (size_t i = 0; i < rows->n[ROW_OP]; i++) {
		if (!check_op(trace, &rows->rows[ROW_OP][i], out))
			return false;
	}
	if (is_whole(trace) && !check_all_ops(trace, rows, out))
		return false;
	if (has(trace, TRACE_CLOCKS_DIFFER) || has(trace, TRACE_UNDECLARED))
		return true;
	return check_stays(trace, rows, out);
}
