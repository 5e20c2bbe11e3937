// SPDX-License-Identifier: GPL-2.0-only
/*
 * tape_gen_records.c - the part of tape_gen.h that makes records.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/support/tape_gen.h"

static uint64_t ns(uint64_t at)
{
	return GEN_START_NS + at;
}

void gen_state(struct tape_gen *gen, uint32_t cpu, uint64_t at, uint64_t task, unsigned int reason, unsigned int n_open)
{
	union nt_any any = {.as_state = {.end_ns = ns(at),
					 .kind = NT_STATE,
					 .n_open = (uint8_t)n_open,
					 .reason = (uint8_t)reason,
					 .task = task}};

	tape_gen_event(gen, cpu, &any);
}

void gen_switch(struct tape_gen *gen, uint32_t cpu, uint64_t at, uint64_t prev, uint32_t prev_state, uint64_t next,
		unsigned int n_open)
{
	union nt_any any = {.as_switch = {.end_ns = ns(at),
					  .kind = NT_SWITCH,
					  .n_open = (uint8_t)n_open,
					  .prev_prio = 120,
					  .prev_state = prev_state,
					  .prev = prev,
					  .next = next}};

	tape_gen_event(gen, cpu, &any);
}

void gen_open(struct tape_gen *gen, uint32_t cpu, uint64_t at, unsigned int what, unsigned int detail, uint32_t number,
	      uint64_t begin, uint64_t socket)
{
	union nt_any any = {.as_open = {.end_ns = ns(at),
					.kind = NT_OPEN,
					.what = (uint8_t)what,
					.detail = (uint8_t)detail,
					.number = number,
					.begin_ns = ns(begin),
					.socket = socket}};

	tape_gen_event(gen, cpu, &any);
}

void gen_softirq(struct tape_gen *gen, uint32_t cpu, uint64_t begin, uint64_t end, unsigned int vec,
		 unsigned int context)
{
	union nt_any any = {.as_softirq = {.end_ns = ns(end),
					   .kind = NT_SOFTIRQ,
					   .vec = (uint8_t)vec,
					   .context = (uint8_t)context,
					   .dur_ns = end - begin}};

	tape_gen_event(gen, cpu, &any);
}

void gen_irq(struct tape_gen *gen, uint32_t cpu, uint64_t begin, uint64_t end, unsigned int type, uint32_t number)
{
	union nt_any any = {.as_irq = {.end_ns = ns(end),
				       .kind = NT_IRQ,
				       .type = (uint8_t)type,
				       .number = number,
				       .dur_ns = end - begin}};

	tape_gen_event(gen, cpu, &any);
}

void gen_op(struct tape_gen *gen, uint32_t cpu, uint64_t begin, uint64_t end, unsigned int dir, unsigned int call,
	    uint64_t socket, int32_t result, unsigned int flags)
{
	bool timed = !(flags & (NT_OP_NO_BEGIN | NT_OP_BEFORE));
	union nt_any any = {.as_op = {.end_ns = ns(end),
				      .kind = NT_OP,
				      .dir = (uint8_t)dir,
				      .call = (uint8_t)call,
				      .flags = (uint8_t)flags,
				      .result = result,
				      .dur_ns = timed ? end - begin : 0,
				      .socket = socket}};

	tape_gen_event(gen, cpu, &any);
}

unsigned int gen_loose_span_kind(void)
{
	for (unsigned int number = 0; number < NT_KIND_MAX; number++) {
		if (nt_kind_is_loose(number) && nt_kind(number)->shape == NT_SHAPE_SPAN)
			return number;
	}
	return 0;
}

bool gen_loose_span(struct tape_gen *gen, uint32_t cpu, int64_t begin, uint64_t end)
{
	union nt_any record = {.record = {.end_ns = GEN_START_NS + end, .kind = (uint8_t)gen_loose_span_kind()}};
	const struct nt_kind_info *kind = nt_kind(record.record.kind);

	for (uint16_t i = 0; kind && i < kind->n_fields; i++) {
		if (!strcmp(kind->fields[i].name, "dur_ns"))
			nt_field_set(&kind->fields[i], &record, (uint64_t)((int64_t)end - begin));
	}
	if (kind)
		tape_gen_event(gen, cpu, &record);
	return kind;
}

void gen_loss(struct tape_gen *gen, uint32_t cpu, uint64_t at, unsigned int kind, uint32_t count, uint64_t first,
	      uint64_t last, uint64_t begin)
{
	union nt_any any = {.as_loss = {.end_ns = ns(at),
					.kind = NT_LOSS,
					.lost_kind = (uint8_t)kind,
					.count = count,
					.first_ns = ns(first),
					.last_ns = ns(last),
					.begin_ns = ns(begin)}};

	tape_gen_event(gen, cpu, &any);
}

void gen_task(struct tape_gen *gen, uint64_t at, uint64_t start, uint64_t task, uint64_t process, uint32_t tid,
	      uint32_t pid, uint64_t cgroup, unsigned int why, const char *comm)
{
	union nt_any any = {.as_task = {.end_ns = ns(at),
					.kind = NT_TASK,
					.why = (uint8_t)why,
					.tid = tid,
					.task = task,
					.process = process,
					.start_ns = start == GEN_BEFORE ? ns(0) - 5000000000 : ns(start),
					.cgroup = cgroup,
					.pid = pid,
					.parent_pid = 1}};

	strncpy(any.as_task.comm, comm, sizeof(any.as_task.comm) - 1);
	tape_gen_identity(gen, &any);
}

void gen_socket(struct tape_gen *gen, uint64_t socket, unsigned int protocol, const char *src, unsigned int src_port,
		const char *dst, unsigned int dst_port)
{
	bool is_6 = strchr(src, ':') != NULL;
	union nt_any any = {.as_socket = {.end_ns = ns(0),
					  .kind = NT_SOCKET,
					  .family = is_6 ? AF_INET6 : AF_INET,
					  .type = protocol == 6 ? SOCK_STREAM : SOCK_DGRAM,
					  .netns = 4026531840,
					  .socket = socket,
					  .cookie = 1000 + socket,
					  .protocol = (uint16_t)protocol,
					  .src_port = (uint16_t)src_port,
					  .dst_port = (uint16_t)dst_port}};

	inet_pton(any.as_socket.family, src, any.as_socket.src);
	inet_pton(any.as_socket.family, dst, any.as_socket.dst);
	tape_gen_identity(gen, &any);
}

void gen_cgroup(struct tape_gen *gen, uint64_t cgroup, const char *path)
{
	union nt_any any = {
		.as_cgroup = {.end_ns = ns(0), .kind = NT_CGROUP, .cgroup = cgroup, .kernel_id = 7000 + cgroup}};

	snprintf(any.as_cgroup.path, sizeof(any.as_cgroup.path), "%s", path);
	tape_gen_identity(gen, &any);
}

void gen_irq_name(struct tape_gen *gen, unsigned int type, uint32_t number, const char *name)
{
	union nt_any any = {
		.as_irq_name = {.end_ns = ns(0), .kind = NT_IRQ_NAME, .type = (uint8_t)type, .number = number}};

	snprintf(any.as_irq_name.name, sizeof(any.as_irq_name.name), "%s", name);
	tape_gen_identity(gen, &any);
}
