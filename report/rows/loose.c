// SPDX-License-Identifier: GPL-2.0-only
/*
 * loose.c - the part of rows.h that makes rows of loose records (latencies, drops, retransmits, wake-ups, stack
 * samples, timers, received packets, counts of flows, requests to block devices, memory of processes and of the kernel)
 * and of their losses. They are not part of the timeline. Each record becomes a row when it comes, or, for a stack
 * sample, when its owner and flow are known. This includes records between the opening of their CPU's gate and the
 * session's start, so that rows and the programs' own counters are equal.
 */
#include <errno.h>

#include "report/rows/state.h"
#include "schema/kind.h"

#define NONE UINT64_MAX /* more than SQL can hold: NULL */

static int push_latency(struct nt_rows *rows, uint32_t cpu, const struct nt_latency *sample)
{
	struct nt_latency_info info = {.cpu = cpu, .sample = sample, .wait_ns = NONE};
	int error = sample->task ? nt_rows_see(rows, sample->task) : 0;

	info.late = nt_clocks_latency(&rows->learned->clocks, sample->end_ns, sample->stamp_ns, &info.latency_ns);
	return error ? error : nt_rows_push(rows, NT_TABLE_SKB_LATENCY, &info);
}

/* Both times are of one clock. A packet whose send is not known has no stamp. */
static int push_transmit(struct nt_rows *rows, uint32_t cpu, const struct nt_transmit *packet)
{
	const bool is_known = packet->send_ns && packet->send_ns <= packet->end_ns;
	const struct nt_latency sample = {
		.end_ns = packet->end_ns,
		.hook = packet->hook,
		.flags = packet->flags,
		.length = packet->length,
		.stamp_ns = is_known ? packet->send_ns : NONE,
		.device = packet->device,
		.socket = packet->socket,
		.task = packet->task,
		.weight = packet->weight,
	};
	const struct nt_latency_info info = {
		.cpu = cpu,
		.sample = &sample,
		.late = is_known ? NT_LATE_KNOWN : NT_LATE_NO_CLOCK,
		.latency_ns = packet->end_ns - packet->send_ns,
		.wait_ns = packet->hook == NT_HOOK_tx_started ? packet->wait_ns : NONE,
	};
	int error = packet->task ? nt_rows_see(rows, packet->task) : 0;

	return error ? error : nt_rows_push(rows, NT_TABLE_SKB_LATENCY, &info);
}

static int push_drop(struct nt_rows *rows, uint32_t cpu, const struct nt_drop *drop)
{
	const struct nt_drop_info info = {
		.cpu = cpu,
		.drop = drop,
		.reason = nt_identities_drop_reason(&rows->learned->ids, drop->reason),
		.location = nt_identities_symbol(&rows->learned->ids, drop->location),
	};

	return nt_rows_push(rows, NT_TABLE_SKB_DROP, &info);
}

static int push_kmem(struct nt_rows *rows, uint32_t cpu, const struct nt_kmem *kmem)
{
	const struct nt_kmem_info info = {
		.cpu = cpu,
		.kmem = kmem,
		.location = kmem->location ? nt_identities_symbol(&rows->learned->ids, kmem->location) : NULL,
	};
	int error = kmem->task ? nt_rows_see(rows, kmem->task) : 0;

	return error ? error : nt_rows_push(rows, NT_TABLE_KMEM, &info);
}

static int push_block_io(struct nt_rows *rows, uint32_t cpu, const union nt_any *record)
{
	const struct nt_block_io *io = &record->as_block_io;
	struct nt_block_io_info info = {.cpu = cpu, .record = record};
	int error = io->task ? nt_rows_see(rows, io->task) : 0;

	if (!error && io->device && !(info.device = nt_identities_block_device(&rows->learned->ids, io->device)))
		error = -ENOMEM;
	return error ? error : nt_rows_push(rows, NT_TABLE_BLOCK_IO, &info);
}

/* Notes the tasks that a record names: by the roles of its kind's fields. */
static int see_tasks(struct nt_rows *rows, const union nt_any *record)
{
	const struct nt_kind_info *kind = nt_kind(record->record.kind);
	int error = 0;

	for (uint16_t i = 0; i < kind->n_fields && !error; i++) {
		if (kind->fields[i].role == NT_ROLE_TASK)
			error = nt_rows_see(rows, nt_field_get(&kind->fields[i], record));
	}
	return error;
}

/* A window reads what the table's source needs. */
#define X(kind, table)                                                                                                 \
	_Static_assert(                                                                                                \
		((int)NT_SOURCE_OF_##table == NT_SOURCE_LOOSE || (int)NT_SOURCE_OF_##table == NT_SOURCE_FLOWS) ==      \
				((int)NT_PLACE_OF_##kind == NT_PLACE_LOOSE) &&                                         \
			((int)NT_SOURCE_OF_##table == NT_SOURCE_SPANS) ==                                              \
				((int)NT_PLACE_OF_##kind == NT_PLACE_TIMELINE),                                        \
		"the source of " #table " and the place of " #kind);
NT_RECORD_TABLES(X)
#undef X

int nt_rows_push_record(struct nt_rows *rows, const struct nt_cpu_record *from)
{
	int error = nt_rows_see(rows, from->task);

	if (!error)
		error = see_tasks(rows, from->record);
	if (error)
		return error;
	switch (from->record->record.kind) {
#define X(kind, table)                                                                                                 \
	case NT_##kind:                                                                                                \
		return nt_rows_push(rows, NT_TABLE_##table, from);
		NT_RECORD_TABLES(X)
#undef X
	default:
		return 0;
	}
}

static int push_stack(struct nt_rows *rows, struct nt_stack_sample_info *info)
{
	const struct nt_stack_sample *sample = info->sample;
	int error = nt_rows_see(rows, sample->task);

	if (!error && sample->stack)
		error = nt_stack_stage(&rows->learned->stages, &rows->learned->ids, sample->stack, &info->stage,
				       &info->family);
	/* The interrupted code was a BPF program, or something like it. */
	if (sample->error == NT_STACK_SAMPLE_IN_PROGRAM)
		info->stage = "tracing";
	if (!error)
		error = nt_identity_marks_see_stack(&rows->marks, sample->stack);
	if (!error)
		error = nt_identity_marks_see_stack(&rows->marks, sample->user_stack);
	return error ? error : nt_rows_push(rows, NT_TABLE_STACK_SAMPLE, info);
}

int nt_rows_push_owned(void *arg, uint32_t cpu, const struct nt_stack_sample *sample, enum nt_owner owner)
{
	struct nt_rows *rows = arg;

	if (owner == NT_OWNER_NET_RX && rows->charges)
		return nt_rx_rows_sample(rows, cpu, sample);
	return push_stack(rows, &(struct nt_stack_sample_info){.cpu = cpu, .sample = sample, .owner = owner});
}

int nt_rows_push_received(void *arg, const struct nt_rx_sample *sample)
{
	struct nt_stack_sample_info info = {.cpu = sample->cpu,
					    .sample = sample->sample,
					    .owner = NT_OWNER_NET_RX,
					    .flow = sample->flow,
					    .flow_is_exact = sample->is_exact};

	return push_stack(arg, &info);
}

/* From the first to the last that was lost; where that is not known, when it was told. */
static int push_loss(struct nt_rows *rows, uint32_t cpu, const struct nt_loss *loss)
{
	const uint64_t first_ns = loss->first_ns ? loss->first_ns : loss->end_ns;
	const struct nt_loss_row row = {
		.ts_ns = first_ns,
		.dur_ns = loss->last_ns > first_ns ? loss->last_ns - first_ns : 0,
		.cpu = cpu,
		.kind = loss->lost_kind,
		.count = loss->count,
		.why = nt_loss_why_name(loss->why),
	};

	return nt_rows_push(rows, NT_TABLE_LOSS, &row);
}

static int push_stretch(struct nt_rows *rows, uint32_t cpu, const union nt_any *record)
{
	int error = rows->charges ? nt_rx_charges_stretch(rows->charges, cpu, &record->as_rx_stretch) : 0;

	return error ? error : nt_rows_push_record(rows, &(struct nt_cpu_record){cpu, NT_NO_TASK, record});
}

static int push_timer(struct nt_rows *rows, uint32_t cpu, const union nt_any *record)
{
	int error = rows->rollup ? nt_elsewhere_timer(rows, cpu, &record->as_net_timer) : 0;

	return error ? error : nt_rows_push_record(rows, &(struct nt_cpu_record){cpu, NT_NO_TASK, record});
}

int nt_rows_push_loose(struct nt_rows *rows, uint32_t cpu, const union nt_any *record)
{
	switch (record->record.kind) {
	case NT_LATENCY:
		return push_latency(rows, cpu, &record->as_latency);
	case NT_TRANSMIT:
		return push_transmit(rows, cpu, &record->as_transmit);
	case NT_DROP:
		return push_drop(rows, cpu, &record->as_drop);
	case NT_BLOCK_IO:
		return push_block_io(rows, cpu, record);
	case NT_KMEM:
		return push_kmem(rows, cpu, &record->as_kmem);
	case NT_STACK_SAMPLE:
		return rows->owners ? nt_sample_owners_add(rows->owners, cpu, &record->as_stack_sample) : 0;
	case NT_LOSS:
		return push_loss(rows, cpu, &record->as_loss);
	case NT_RX_STRETCH:
		return push_stretch(rows, cpu, record);
	case NT_NET_TIMER:
		return push_timer(rows, cpu, record);
	case NT_FLOW_SKETCH:
		return nt_flow_rows_sketch(rows, cpu, record);
	case NT_FLOW_CELL:
		return nt_flow_rows_cell(rows, cpu, record);
	case NT_FLOW_COUNT:
		return nt_flow_rows_count(rows, &record->as_flow_count);
	default:
		return nt_rows_push_record(rows, &(struct nt_cpu_record){cpu, NT_NO_TASK, record});
	}
}
