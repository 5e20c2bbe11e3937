/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ids.h - turns the kernel's keys into the small ids of the tape, and keeps what is known about each id, so that every
 * chunk can carry the identities it refers to. Each role has its own ids, and none is given twice. Only a new key
 * allocates.
 *
 * Memory is bounded: on a host with many tasks, sockets and flows, those that were not used for long are forgotten.
 * Time is counted in generations. The kernel side sends the identity of a socket or flow once in each; so one that was
 * forgotten and comes back is known again, under a new id.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schema/block.h"

struct nt_id_entry {
	uint64_t key; /* 0: the place is free */
	uint64_t id;
	union nt_any *identity; /* newest, with the kernel's keys; NULL: not heard of yet. Owned */
	uint32_t chunk; /* number + 1 of the last chunk that refers to it */
	uint32_t used; /* the generation in which it was used last */
	uint32_t named_by; /* so many identities name it */
	uint32_t next_free; /* of a free place: another one, 0 none */
	bool has_ended; /* a task that has exited */
};

struct nt_id_space {
	struct nt_id_entry
		*entries; /* by place; place 0 is the key 0. Where nothing is forgotten the place is the id */
	uint32_t n_places, capacity; /* places in use, but for free ones among them */
	uint32_t n_free, first_free;
	uint64_t last_id;
	uint32_t *slots; /* open addressing: places, 0 empty */
	uint32_t slot_mask;
	struct nt_buf unnamed; /* keys that came without an identity, until nt_ids_take_unnamed */
};

/* A key that this chunk has referred to lately. */
struct nt_recent_id {
	uint64_t key, id;
};

#define NT_RECENT_IDS 16

struct nt_ids {
	struct nt_id_space spaces[NT_ROLE_COUNT];
	struct nt_recent_id recent[NT_ROLE_COUNT][NT_RECENT_IDS]; /* by a hash of the key; key 0: none */
	uint32_t chunk; /* number of the chunk being written */
	uint32_t generation;
	uint64_t generation_ns; /* when it began */
	uint32_t n_new; /* ids that were given since */
	uint32_t n_new_before; /* of those, by the last nt_ids_forget */
	/* Where forgetting is: the next place to look at. role NT_ROLE_COUNT: it is through. */
	unsigned int forget_role;
	uint32_t forget_place;
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
 * kept as the newest and put into this chunk, with the first process that was told to hold a socket. Irq names are only
 * put. 0 or a negative errno.
 */
int nt_ids_put(struct nt_ids *ids, union nt_any *record);

/* Whether the identity of this key has been put. */
bool nt_ids_knows(const struct nt_ids *ids, enum nt_role role, uint64_t key);
/* Whether the identity of this socket has been put, with the process that holds it. */
bool nt_ids_knows_holder(const struct nt_ids *ids, uint64_t socket);

/* Replaces the keys in a record of a known kind by ids. 0, or -ENOMEM. */
int nt_ids_translate(struct nt_ids *ids, union nt_any *record);

/*
 * A key of a task or cgroup that was referred to before its identity came, and was not given here yet; 0: there is
 * none. It may have an identity by now.
 */
uint64_t nt_ids_take_unnamed(struct nt_ids *ids, enum nt_role role);

/* A new chunk begins: identities must be put again when they are next referred to. */
void nt_ids_next_chunk(struct nt_ids *ids, uint32_t number);

#define NT_IDS_KEPT 16384 /* ids of a role; with fewer nothing is forgotten */
#define NT_IDS_NEW 16384 /* after so many new ones the next generation begins... */
#define NT_GENERATION_NS 60000000000ull /* ... or after this time */

/*
 * Forgets some of what was used neither in this generation nor in the one before: few at a time, more where many are
 * new, so that the rings hardly wait. May begin a new generation, if a role has more than NT_IDS_KEPT ids. Gives the
 * generation's number, which the kernel side must then be told.
 */
uint32_t nt_ids_forget(struct nt_ids *ids, uint64_t now_ns);
