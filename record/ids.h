/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ids.h - turns the kernel's keys into the small ids of the tape, and keeps what is known about each id, so that every
 * chunk can carry the identities it refers to. Each role has its own ids. Memory grows with the number of tasks,
 * sockets and cgroups seen; only a new key allocates.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schema/block.h"

struct nt_id_entry {
	uint64_t key;
	union nt_any *identity; /* newest, ids translated; NULL: not heard of yet. Owned */
	uint32_t chunk; /* number + 1 of the last chunk that refers to it */
};

struct nt_id_space {
	struct nt_id_entry *entries; /* by id; entry 0 is the key 0 */
	uint32_t n_entries, capacity;
	uint32_t *slots; /* open addressing: id, 0 empty */
	uint32_t slot_mask;
};

struct nt_ids {
	struct nt_id_space spaces[NT_ROLE_COUNT];
	uint32_t chunk; /* number of the chunk being written */
	struct nt_buf pending; /* identity records, encoded, not yet in a block */
	/* The same of stacks and symbols: many and small, so they wait until they fill a block, or a second. */
	struct nt_buf dictionary;
};

int nt_ids_init(struct nt_ids *ids);
void nt_ids_release(struct nt_ids *ids);

/* The id of a key, new if need be; its identity goes into this chunk. 0 for key 0. UINT64_MAX: no memory. */
uint64_t nt_ids_get(struct nt_ids *ids, enum nt_role role, uint64_t key);

/*
 * Takes an identity record from the kernel side (keys in its id fields, which this call replaces): it is
 * kept as the newest and put into this chunk. Irq names are only put. 0 or a negative errno.
 */
int nt_ids_put(struct nt_ids *ids, union nt_any *record);

/* Whether the identity of this key has been put. */
bool nt_ids_knows(const struct nt_ids *ids, enum nt_role role, uint64_t key);

/* Replaces the keys in a record by ids. 0, or -ENOMEM. */
int nt_ids_translate(struct nt_ids *ids, const struct nt_kind_info *kind, void *record);

/* A new chunk begins: identities must be put again when they are next referred to. */
void nt_ids_next_chunk(struct nt_ids *ids, uint32_t number);
