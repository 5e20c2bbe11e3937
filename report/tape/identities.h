/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * identities.h - the identities behind a tape's ids. A tape repeats an identity in every chunk that refers to it. One
 * pass before the events learns which record of each id counts (the newest of those that say most: see
 * nt_identity_is_full), and what events need: the process of a thread, whether it is a thread of the kernel for polling
 * devices, the names of interrupts, reasons and symbols. The records themselves are not kept: a second pass over the
 * tape gives each id's newest one. Memory: some ten bytes for each id.
 *
 * The learned identities may serve several readers of the tape, one after the other or in turn (not at once). Each
 * reader has marks of its own (struct nt_identity_marks).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "report/tape/endpoints.h"
#include "report/util/arena.h"
#include "report/util/id_map.h"
#include "schema/block.h"
#include "schema/flow_key.h"

#define NT_IDENTITY_SORTS 7

/* Zero-initialised is empty. */
struct nt_identities {
	/* Of tasks, sockets, cgroups, devices, symbols, stacks, flows: the rank of the record that counts. */
	struct nt_id_map newest[NT_IDENTITY_SORTS];
	size_t n; /* of all these */
	struct nt_id_map parents, places; /* of stacks: the stack of the caller, the symbol */
	struct nt_id_map processes; /* of threads that are not their process's main one: its id + 1 */
	struct nt_id_map napi; /* kernel threads that poll network devices: 1 */
	struct nt_id_map irqs; /* type << 32 | number: where its name is, in the arena */
	struct nt_id_map irq_devices; /* of those whose device is known, or that there is none: the same, "" for none */
	struct nt_id_map reasons, symbols, disks; /* of drops; of the kernel's code; of block devices: the same */
	uint32_t refusal; /* the number of the reason NO_SOCKET */
	bool has_refusal;
	struct nt_endpoints endpoints; /* of sockets and flows */
	/* Whole, if probe flows has counted: what their hashes are made of. */
	bool keeps_flows;
	struct nt_flow *flows;
	size_t n_flows, flows_size;
	struct nt_id_map by_flow; /* index + 1 */
	struct nt_id_map devices; /* what nt_device_key() gives for each */
	struct nt_arena arena; /* of names */
};

/* Zero-initialised is empty. */
struct nt_identity_marks {
	struct nt_id_map taken[NT_IDENTITY_SORTS]; /* those whose newest record has been given: 1 */
	struct nt_id_map sampled; /* stacks that a sample speaks of: 1 */
	struct nt_id_map seen; /* tasks that an event or a row speaks of */
	struct nt_id_map made; /* processes that have a row without their main thread being known */
};

void nt_identities_release(struct nt_identities *ids);
/* Learns one identity. 0 or -ENOMEM. */
int nt_identities_learn(struct nt_identities *ids, const union nt_any *record);
/* 1 once for each id and reader: for the first record in reading order that is its newest. Else 0; or -ENOMEM. */
int nt_identities_take_newest(struct nt_identities *ids, struct nt_identity_marks *marks, const union nt_any *record);
/* Whether the record says the most of its id that was learned so far. */
bool nt_identities_is_newest(struct nt_identities *ids, const union nt_any *record);
/* Whether any record of this task was learned. */
bool nt_identities_knows_task(struct nt_identities *ids, uint64_t task);
/* The process of a task, as far as is known: else the task itself. */
uint64_t nt_identities_process_of(struct nt_identities *ids, uint64_t task);
/* Whether the task is a kernel thread that polls network devices: by its name, which the kernel gives to no other. */
bool nt_identities_is_napi(struct nt_identities *ids, uint64_t task);
/* The interrupt's name, or "irq 5" or "vector 236" when the tape has none. NULL: out of memory. */
const char *nt_identities_irq_name(struct nt_identities *ids, uint32_t type, uint32_t number);
/*
 * Whether the interrupt is a network device's. *device: its name; NULL: the recorder did not look, and the interrupt's
 * name says so (docs/sql-schema.md has the list).
 */
bool nt_identities_is_net_irq(struct nt_identities *ids, uint32_t type, uint32_t number, const char **device);
/*
 * The fields of a flow as probe flows has counted it, by *sort. False: not all are known, or the tape has no such
 * counts (keeps_flows).
 */
bool nt_identities_flow_tuple(struct nt_identities *ids, uint64_t flow, enum nt_flow_key_sort *sort,
			      struct nt_flow_tuple *tuple);
/* The kernel's word for a reason of drops, NULL: not known. */
const char *nt_identities_drop_reason(struct nt_identities *ids, uint32_t number);
/* The block device's name, "vda"; or "254:0" when the tape has none. NULL: out of memory. */
const char *nt_identities_block_device(struct nt_identities *ids, uint32_t number);
/* The reason that a packet is dropped for if no socket has its port. False: the tape does not tell. */
bool nt_identities_refusal(const struct nt_identities *ids, uint32_t *reason);
/* A place in the kernel's code, "tcp_v4_rcv+0x1a" or "nft_do_chain+0x20 [nf_tables]"; NULL: not known. */
const char *nt_identities_symbol(struct nt_identities *ids, uint64_t symbol);
/*
 * Goes from a stack to that of its caller and gives the symbol of the frame that is left, 0 if it is not known. 0:
 * there is no caller. A damaged tape may go round in circles: take no more steps than NT_STACK_MAX_FRAMES.
 */
uint64_t nt_identities_unwind(struct nt_identities *ids, uint64_t stack, uint64_t *symbol);

void nt_identity_marks_release(struct nt_identity_marks *marks);
/* Notes that rows speak of this task. 0 or -ENOMEM. */
int nt_identity_marks_see(struct nt_identity_marks *marks, uint64_t task);
/* Notes that a sample speaks of this stack. 0 or -ENOMEM. */
int nt_identity_marks_see_stack(struct nt_identity_marks *marks, uint64_t stack);
bool nt_identity_marks_is_sampled(struct nt_identity_marks *marks, uint64_t stack);
