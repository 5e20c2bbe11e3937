/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kind.h - what event.h says of each kind of record, as tables that code can walk, and the words for its
 * numbers. User space only. Everything here is constant.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/event.h"
#include "schema/flow_key.h"

/* How a field is stored; the values are on tapes. */
enum nt_coding {
	NT_CODING_TIME = 1,
	NT_CODING_AGO = 2,
	NT_CODING_PLAIN = 3,
	NT_CODING_SIGNED = 4,
	NT_CODING_DELTA = 5,
	NT_CODING_BYTES = 6
};

enum nt_role {
	NT_ROLE_NONE = 0,
	NT_ROLE_TASK = 1,
	NT_ROLE_SOCKET = 2,
	NT_ROLE_CGROUP = 3,
	NT_ROLE_DEVICE = 4,
	NT_ROLE_SYMBOL = 5,
	NT_ROLE_STACK = 6,
	NT_ROLE_FLOW = 7,
	NT_ROLE_COUNT = 8
};

enum nt_shape { NT_SHAPE_MOMENT, NT_SHAPE_SPAN };
enum nt_kind_place { NT_PLACE_TIMELINE, NT_PLACE_LOOSE, NT_PLACE_IDENTITY };

/* NT_PLACE_OF_STATE, ...: for asserts. */
enum {
#define X(kind, constant, name, shape, place) NT_PLACE_OF_##constant = NT_PLACE_##place,
	NT_KINDS(X)
#undef X
};

struct nt_field {
	const char *name;
	uint16_t offset; /* in the record's struct */
	uint16_t size; /* 1, 2, 4 or 8; any for NT_CODING_BYTES */
	uint8_t coding; /* enum nt_coding */
	uint8_t role; /* enum nt_role */
};

struct nt_kind_info {
	const char *name;
	uint8_t number; /* enum nt_kind */
	uint8_t shape; /* enum nt_shape */
	uint8_t place; /* enum nt_kind_place */
	uint16_t size; /* of the record's struct */
	uint16_t n_fields;
	const struct nt_field *fields; /* fields[0] is end_ns; the index is the field's number on tapes */
};

/* The kind with this number, or NULL when this version does not know it. */
const struct nt_kind_info *nt_kind(unsigned int number);

/* These are inline, since they are asked for every event of a host. */

/* Bytes of a record of this kind; 0 for an unknown kind. */
static inline size_t nt_kind_size(unsigned int number)
{
#define X(kind, constant, name, shape, place) [kind] = sizeof(struct nt_##name),
	static const uint16_t sizes[NT_KIND_MAX] = {NT_KINDS(X)};
#undef X
	return number < NT_KIND_MAX ? sizes[number] : 0;
}

/* Whether records of this kind are a CPU's, in event blocks: all but identities. False for an unknown kind. */
static inline bool nt_kind_is_of_cpu(unsigned int number)
{
#define X(kind, constant, name, shape, place) | (uint64_t)(NT_PLACE_##place != NT_PLACE_IDENTITY) << kind
	return number < NT_KIND_MAX && (0 NT_KINDS(X)) >> number & 1;
#undef X
}

/* Whether records of this kind are a CPU's, but no part of its timeline. */
static inline bool nt_kind_is_loose(unsigned int number)
{
#define X(kind, constant, name, shape, place) | (uint64_t)(NT_PLACE_##place == NT_PLACE_LOOSE) << kind
	return number < NT_KIND_MAX && (0 NT_KINDS(X)) >> number & 1;
#undef X
}

/* Whether a field of coding BYTES is text, which ends in zero; the others are addresses, and build ids. */
bool nt_field_is_text(unsigned int kind, const struct nt_field *field);

/* The value of an unsigned or sign-extended integer field of a record. */
uint64_t nt_field_get(const struct nt_field *field, const void *record);
void nt_field_set(const struct nt_field *field, void *record, uint64_t value);

/* All flows of it have that in common; NT_FLOW_KEY_FLOW: it is one flow. */
static inline enum nt_flow_key_sort nt_flow_sort_of(const struct nt_flow *flow)
{
	return (enum nt_flow_key_sort)((flow->flags & NT_FLOW_KEY_MASK) >> NT_FLOW_KEY_SHIFT);
}

/* Words for numbers. Never NULL: a number without a word gives "unknown". */
const char *nt_vec_name(unsigned int vec); /* the kernel's: HI TIMER NET_TX NET_RX ... RCU */
const char *nt_call_name(unsigned int call); /* enum nt_call; "other" for 0 */
const char *nt_dir_name(unsigned int dir); /* send, recv */
const char *nt_flow_key_name(unsigned int sort); /* enum nt_flow_key_sort: flow, src */
const char *nt_softirq_context_name(unsigned int context);
const char *nt_role_name(unsigned int role);
const char *nt_napi_context_name(unsigned int context); /* softirq, thread, busy, netpoll */
const char *nt_hook_name(unsigned int hook); /* enum nt_hook: "ip-start" */
const char *nt_retransmit_name(unsigned int what); /* data, synack */
const char *nt_wakeup_name(unsigned int what); /* waking, new */
const char *nt_cpu_context_name(unsigned int context); /* task, softirq, hardirq; NULL for NT_CPU_UNKNOWN */
const char *nt_stack_context_name(unsigned int context); /* enum nt_stack_context: idle, net_rx */
const char *nt_io_payer_name(unsigned int payer); /* enum nt_io_payer: task, writeback */
const char *nt_io_op_name(unsigned int op); /* the kernel's enum req_op: read, write, flush, discard */
const char *nt_rss_kind_name(unsigned int what); /* enum nt_rss_kind: file, anon, swap, shmem */
const char *nt_rss_cause_name(unsigned int cause); /* enum nt_rss_cause: change, start, fork, exec */
const char *nt_kmem_kind_name(unsigned int what); /* enum nt_kmem_kind: kmalloc, cache, pages */
const char *nt_loss_why_name(unsigned int why); /* enum nt_loss_why: "ring full", "not run" */

#define NT_VEC_COUNT 10
#define NT_VEC_NET_TX 2
#define NT_VEC_NET_RX 3
