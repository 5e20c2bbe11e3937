// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeline_rows.c - see timeline_rows.h.
 */
#include "tests/support/timeline_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[ROW_KINDS] = {"cpu_slice", "rx_part", "irq_part", "sched_slice", "softirq",
						  "irq",       "op",	  "napi",     "loss"};

static const char *const field_names[ROW_KINDS][ROW_FIELDS] = {
	[ROW_CPU_SLICE] = {"ts", "dur", "cpu", "owner", "task"},
	[ROW_RX_PART] = {"ts", "dur", "cpu", "run"},
	[ROW_IRQ_PART] = {"ts", "dur", "cpu", "irq"},
	[ROW_SCHED_SLICE] = {"ts", "dur", "cpu", "task", "by_switch", "state", "prio"},
	[ROW_SOFTIRQ] = {"ts", "dur", "cpu", "task", "vec", "context", "open"},
	[ROW_IRQ] = {"ts", "dur", "cpu", "task", "type", "number", "open"},
	[ROW_OP] = {"ts", "dur", "cpu_ns", "timed", "before", "lower", "cpu", "task", "dir", "call", "flags", "socket",
		    "end", "result"},
	[ROW_NAPI] = {"ts", "dur", "timed", "cpu", "task", "context", "device", "napi_id", "work", "budget"},
	[ROW_LOSS] = {"ts", "dur", "cpu", "kind", "count", "why"},
};

static int add(struct rows *rows, enum row_kind kind, struct row row)
{
	if (rows->n[kind] == rows->size[kind]) {
		rows->size[kind] = rows->size[kind] ? rows->size[kind] * 2 : 64;
		rows->rows[kind] = realloc(rows->rows[kind], rows->size[kind] * sizeof(row));
		if (!rows->rows[kind])
			abort();
	}
	rows->rows[kind][rows->n[kind]++] = row;
	return 0;
}

static int add_cpu_slice(void *arg, const struct nt_cpu_slice *s)
{
	return add(arg, ROW_CPU_SLICE, (struct row){{s->ts_ns, s->dur_ns, s->cpu, s->owner, s->task}});
}

/* The last part of that CPU, or NULL. */
static uint64_t *last_part(struct rows *rows, enum row_kind kind, uint64_t cpu)
{
	for (size_t i = rows->n[kind]; i--;) {
		if (rows->rows[kind][i].field[RX_PART_CPU] == cpu)
			return rows->rows[kind][i].field;
	}
	return NULL;
}

static int add_part(struct rows *rows, enum row_kind kind, struct row part)
{
	uint64_t *last = last_part(rows, kind, part.field[RX_PART_CPU]);

	if (!last || last[ROW_TS] + last[ROW_DUR] != part.field[ROW_TS] || last[RX_PART_RUN] != part.field[RX_PART_RUN])
		return add(rows, kind, part);
	last[ROW_DUR] += part.field[ROW_DUR];
	return 0;
}

static int add_rx_part(void *arg, const struct nt_rx_part *p)
{
	return add_part(arg, ROW_RX_PART, (struct row){{p->ts_ns, p->dur_ns, p->cpu, p->run_ns}});
}

static int add_irq_part(void *arg, const struct nt_irq_part *p)
{
	return add_part(arg, ROW_IRQ_PART,
			(struct row){{p->ts_ns, p->dur_ns, p->cpu, (uint64_t)p->type << 32 | p->number}});
}

static int add_sched_slice(void *arg, const struct nt_sched_slice *s)
{
	return add(arg, ROW_SCHED_SLICE,
		   (struct row){{s->ts_ns, s->dur_ns, s->cpu, s->task, s->ended_by_switch, s->end_state, s->priority}});
}

static struct row span_row(const struct nt_span_row *s)
{
	return (struct row){{s->ts_ns, s->dur_ns, s->cpu, s->task, s->detail, s->number, s->still_open}};
}

static int add_softirq(void *arg, const struct nt_span_row *s)
{
	return add(arg, ROW_SOFTIRQ, span_row(s));
}

static int add_irq(void *arg, const struct nt_span_row *s)
{
	return add(arg, ROW_IRQ, span_row(s));
}

static int add_op(void *arg, const struct nt_op_row *o)
{
	return add(arg, ROW_OP,
		   (struct row){{o->ts_ns, o->dur_ns, o->cpu_ns, o->timed, o->before, o->lower_bound, o->cpu, o->task,
				 o->dir, o->call, o->flags, o->socket, o->end, (uint64_t)(int64_t)o->result}});
}

static int add_napi(void *arg, const struct nt_napi_row *n)
{
	return add(arg, ROW_NAPI,
		   (struct row){{n->ts_ns, n->dur_ns, n->timed, n->cpu, n->task, n->context, n->device, n->napi_id,
				 n->work, n->budget}});
}

uint64_t rows_why(const char *why)
{
	uint64_t hash = 14695981039346656037ull;

	while (*why)
		hash = (hash ^ (uint8_t)*why++) * 1099511628211ull;
	return hash;
}

static int add_loss(void *arg, const struct nt_loss_row *l)
{
	return add(arg, ROW_LOSS, (struct row){{l->ts_ns, l->dur_ns, l->cpu, l->kind, l->count, rows_why(l->why)}});
}

struct nt_timeline_sink rows_sink(struct rows *rows)
{
	return (struct nt_timeline_sink){
		.arg = rows,
		.cpu_slice = add_cpu_slice,
		.rx_part = add_rx_part,
		.irq_part = add_irq_part,
		.sched_slice = add_sched_slice,
		.softirq = add_softirq,
		.irq = add_irq,
		.op = add_op,
		.napi = add_napi,
		.loss = add_loss,
	};
}

void rows_clear(struct rows *rows)
{
	memset(rows->n, 0, sizeof(rows->n));
	rows->counts = (struct nt_timeline_counts){0};
}

void rows_release(struct rows *rows)
{
	for (int kind = 0; kind < ROW_KINDS; kind++)
		free(rows->rows[kind]);
	*rows = (struct rows){0};
}

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	for (int i = 0; i < ROW_FIELDS; i++) {
		if (x->field[i] != y->field[i])
			return x->field[i] < y->field[i] ? -1 : 1;
	}
	return 0;
}

void rows_sort(struct rows *rows)
{
	for (int kind = 0; kind < ROW_KINDS; kind++) {
		if (rows->n[kind])
			qsort(rows->rows[kind], rows->n[kind], sizeof(struct row), compare);
	}
}

static void print_row(enum row_kind kind, const struct row *row, FILE *out)
{
	fprintf(out, "%s", kind_names[kind]);
	for (int i = 0; i < ROW_FIELDS && field_names[kind][i]; i++) {
		if (kind == ROW_CPU_SLICE && i == CPU_SLICE_OWNER)
			fprintf(out, " owner=%s", nt_owner_name((enum nt_owner)row->field[i]));
		else
			fprintf(out, " %s=%" PRId64, field_names[kind][i], (int64_t)row->field[i]);
	}
	fputc('\n', out);
}

void rows_print(const struct rows *rows, FILE *out)
{
	for (int kind = 0; kind < ROW_KINDS; kind++) {
		for (size_t i = 0; i < rows->n[kind]; i++)
			print_row((enum row_kind)kind, &rows->rows[kind][i], out);
	}
}

static bool kind_equal(enum row_kind kind, const struct rows *a, const char *name_a, const struct rows *b,
		       const char *name_b, FILE *out)
{
	size_t i = 0, j = 0;
	bool equal = true;

	while (i < a->n[kind] || j < b->n[kind]) {
		int order;

		if (i == a->n[kind])
			order = 1;
		else if (j == b->n[kind])
			order = -1;
		else
			order = compare(&a->rows[kind][i], &b->rows[kind][j]);
		if (order) {
			equal = false;
			fprintf(out, "only %s: ", order < 0 ? name_a : name_b);
			print_row(kind, order < 0 ? &a->rows[kind][i] : &b->rows[kind][j], out);
		}
		i += order <= 0;
		j += order >= 0;
	}
	return equal;
}

static void print_counts(const struct nt_timeline_counts *c, const char *name, FILE *out)
{
	fprintf(out,
		"%s: records %" PRIu64 " outside %" PRIu64 " undeclared %" PRIu64 " clamped %" PRIu64 " max %" PRIu64
		" malformed %" PRIu64 "\n",
		name, c->records, c->outside, c->undeclared, c->clamped, c->clamped_max_ns, c->malformed);
}

bool rows_equal(const struct rows *a, const char *name_a, const struct rows *b, const char *name_b, FILE *out)
{
	bool equal = true;

	for (int kind = 0; kind < ROW_KINDS; kind++)
		equal = kind_equal((enum row_kind)kind, a, name_a, b, name_b, out) && equal;
	if (memcmp(&a->counts, &b->counts, sizeof(a->counts))) {
		equal = false;
		print_counts(&a->counts, name_a, out);
		print_counts(&b->counts, name_b, out);
	}
	return equal;
}

static bool cpu_conserves(const struct rows *rows, const struct nt_timeline_config *config, uint32_t cpu, FILE *out)
{
	const struct row *before = NULL;
	uint64_t at_ns = config->start_ns;

	for (size_t i = 0; i < rows->n[ROW_CPU_SLICE]; i++) {
		const struct row *row = &rows->rows[ROW_CPU_SLICE][i];

		if (row->field[CPU_SLICE_CPU] != cpu)
			continue;
		if (!config->present[cpu] || row->field[ROW_TS] != at_ns || row->field[ROW_DUR] == 0 ||
		    (before && before->field[CPU_SLICE_OWNER] == row->field[CPU_SLICE_OWNER] &&
		     before->field[CPU_SLICE_TASK] == row->field[CPU_SLICE_TASK])) {
			fprintf(out, "cpu %u at %" PRIu64 ": ", cpu, at_ns);
			print_row(ROW_CPU_SLICE, row, out);
			return false;
		}
		at_ns += row->field[ROW_DUR];
		before = row;
	}
	if (config->present[cpu] && at_ns != config->end_ns) {
		fprintf(out, "cpu %u ends at %" PRIu64 "\n", cpu, at_ns);
		return false;
	}
	return true;
}

/* The time of all rows of a kind, of those only whose field is so, if it is not negative. */
static uint64_t time_of(const struct rows *rows, enum row_kind kind, int field, uint64_t value)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < rows->n[kind]; i++) {
		const uint64_t *f = rows->rows[kind][i].field;

		if (field < 0 || f[field] == value)
			ns += f[ROW_DUR];
	}
	return ns;
}

static bool parts_conserve(const struct rows *rows, enum row_kind kind, enum nt_owner owner, FILE *out)
{
	const uint64_t parts = time_of(rows, kind, -1, 0);
	const uint64_t slices = time_of(rows, ROW_CPU_SLICE, CPU_SLICE_OWNER, owner);

	if (parts != slices)
		fprintf(out, "%s has %" PRIu64 ", slices of %s %" PRIu64 "\n", kind_names[kind], parts,
			nt_owner_name(owner), slices);
	return parts == slices;
}

bool rows_conserve(const struct rows *rows, const struct nt_timeline_config *config, FILE *out)
{
	uint64_t in_ops = 0;
	const uint64_t in_slices = time_of(rows, ROW_CPU_SLICE, CPU_SLICE_OWNER, NT_OWNER_SEND) +
				   time_of(rows, ROW_CPU_SLICE, CPU_SLICE_OWNER, NT_OWNER_RECV);

	for (uint32_t cpu = 0; cpu < config->n_cpus; cpu++) {
		if (!cpu_conserves(rows, config, cpu, out))
			return false;
	}
	for (size_t i = 0; i < rows->n[ROW_OP]; i++)
		in_ops += rows->rows[ROW_OP][i].field[OP_CPU_NS];
	if (in_ops != in_slices)
		fprintf(out, "operations own %" PRIu64 ", their slices %" PRIu64 "\n", in_ops, in_slices);
	return parts_conserve(rows, ROW_RX_PART, NT_OWNER_NET_RX, out) &&
	       parts_conserve(rows, ROW_IRQ_PART, NT_OWNER_HARDIRQ, out) && in_ops == in_slices;
}
