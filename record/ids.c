// SPDX-License-Identifier: GPL-2.0-only
/*
 * ids.c - see ids.h.
 */
#include "record/ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 4096u /* a power of two */

static uint32_t hash(uint64_t key)
{
	return (key * 0x9e3779b97f4a7c15ull) >> 32;
}

static int space_init(struct nt_id_space *space)
{
	space->capacity = FIRST_SLOTS / 2;
	space->entries = calloc(space->capacity, sizeof(*space->entries));
	space->slots = calloc(FIRST_SLOTS, sizeof(*space->slots));
	space->slot_mask = FIRST_SLOTS - 1;
	space->n_entries = 1;
	return space->entries && space->slots ? 0 : -ENOMEM;
}

int nt_ids_init(struct nt_ids *ids)
{
	int error = 0;

	memset(ids, 0, sizeof(*ids));
	for (int role = 0; role < NT_ROLE_COUNT && !error; role++)
		error = space_init(&ids->spaces[role]);
	if (error)
		nt_ids_release(ids);
	return error;
}

void nt_ids_release(struct nt_ids *ids)
{
	for (struct nt_id_space *space = ids->spaces; space < ids->spaces + NT_ROLE_COUNT; space++) {
		for (uint32_t i = 0; i < space->n_entries && space->entries; i++)
			free(space->entries[i].identity);
		free(space->entries);
		free(space->slots);
	}
	nt_buf_release(&ids->pending);
	nt_buf_release(&ids->dictionary);
	memset(ids, 0, sizeof(*ids));
}

static void place(struct nt_id_space *space, uint32_t id)
{
	uint32_t slot = hash(space->entries[id].key) & space->slot_mask;

	while (space->slots[slot])
		slot = (slot + 1) & space->slot_mask;
	space->slots[slot] = id;
}

/* Twice the room. The slots stay at most half full. */
static int grow(struct nt_id_space *space)
{
	uint32_t capacity = space->capacity * 2;
	struct nt_id_entry *entries = realloc(space->entries, capacity * sizeof(*entries));
	uint32_t *slots;

	if (!entries)
		return -ENOMEM;
	space->entries = entries;
	memset(entries + space->capacity, 0, (capacity - space->capacity) * sizeof(*entries));
	slots = calloc((size_t)capacity * 2, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(space->slots);
	space->slots = slots;
	space->slot_mask = capacity * 2 - 1;
	space->capacity = capacity;
	for (uint32_t id = 1; id < space->n_entries; id++)
		place(space, id);
	return 0;
}

/* The id of a key; 0 when there is no memory for a new one. */
static uint32_t find_or_add(struct nt_id_space *space, uint64_t key)
{
	uint32_t slot = hash(key) & space->slot_mask, id;

	while ((id = space->slots[slot])) {
		if (space->entries[id].key == key)
			return id;
		slot = (slot + 1) & space->slot_mask;
	}
	if (space->n_entries == space->capacity && grow(space))
		return 0;
	id = space->n_entries++;
	space->entries[id].key = key;
	place(space, id);
	return id;
}

static int encode(struct nt_ids *ids, const union nt_any *identity)
{
	switch (identity->record.kind) {
	case NT_STACK:
	case NT_SYMBOL:
	case NT_USER_SYMBOL:
		return nt_identity_encode(&ids->dictionary, identity);
	default:
		return nt_identity_encode(&ids->pending, identity);
	}
}

/*
 * This chunk refers to an id: its identity goes there too. A stack's, with the stacks that it goes on from and the
 * symbols of all; where one of them is there already, so are those below.
 */
static int refer(struct nt_ids *ids, enum nt_role role, uint32_t id)
{
	while (id) {
		struct nt_id_entry *entry = &ids->spaces[role].entries[id];
		const union nt_any *identity = entry->identity;

		if (entry->chunk == ids->chunk + 1)
			return 0;
		entry->chunk = ids->chunk + 1;
		if (!identity)
			return 0;
		if (encode(ids, identity))
			return -ENOMEM;
		if (identity->record.kind != NT_STACK)
			return 0;
		if (refer(ids, NT_ROLE_SYMBOL, identity->as_stack.symbol))
			return -ENOMEM;
		id = identity->as_stack.parent;
	}
	return 0;
}

uint64_t nt_ids_get(struct nt_ids *ids, enum nt_role role, uint64_t key)
{
	struct nt_id_space *space = &ids->spaces[role];
	uint32_t id;

	if (!key)
		return 0;
	id = find_or_add(space, key);
	return !id || refer(ids, role, id) ? UINT64_MAX : id;
}

bool nt_ids_knows(const struct nt_ids *ids, enum nt_role role, uint64_t key)
{
	const struct nt_id_space *space = &ids->spaces[role];
	uint32_t slot = hash(key) & space->slot_mask, id;

	while ((id = space->slots[slot])) {
		if (space->entries[id].key == key)
			return space->entries[id].identity;
		slot = (slot + 1) & space->slot_mask;
	}
	return false;
}

int nt_ids_translate(struct nt_ids *ids, const struct nt_kind_info *kind, void *record)
{
	for (uint16_t i = 1; i < kind->n_fields; i++) {
		const struct nt_field *field = &kind->fields[i];
		uint64_t key, id;

		if (field->role == NT_ROLE_NONE)
			continue;
		memcpy(&key, (char *)record + field->offset, sizeof(key));
		if (!key)
			continue;
		id = nt_ids_get(ids, field->role, key);
		if (id == UINT64_MAX)
			return -ENOMEM;
		memcpy((char *)record + field->offset, &id, sizeof(id));
	}
	return 0;
}

/* Which space an identity is of, and its key. NONE for those that have no space. */
static enum nt_role own_key(const union nt_any *record, uint64_t *key)
{
	switch (record->record.kind) {
	case NT_TASK:
		*key = record->as_task.task;
		return NT_ROLE_TASK;
	case NT_SOCKET:
		*key = record->as_socket.socket;
		return NT_ROLE_SOCKET;
	case NT_CGROUP:
		*key = record->as_cgroup.cgroup;
		return NT_ROLE_CGROUP;
	case NT_DEVICE:
		*key = record->as_device.device;
		return NT_ROLE_DEVICE;
	case NT_FLOW:
		*key = record->as_flow.flow;
		return NT_ROLE_FLOW;
	case NT_SYMBOL:
		*key = record->as_symbol.symbol;
		return NT_ROLE_SYMBOL;
	case NT_USER_SYMBOL:
		*key = record->as_user_symbol.symbol;
		return NT_ROLE_SYMBOL;
	case NT_STACK:
		*key = record->as_stack.stack;
		return NT_ROLE_STACK;
	default:
		*key = 0;
		return NT_ROLE_NONE;
	}
}

/* A cgroup's path is asked for at its first task; no entry must lose a path that it has. */
static bool is_worse(const union nt_any *old, const union nt_any *new)
{
	return new->record.kind == NT_CGROUP && !new->as_cgroup.path[0] && old->as_cgroup.path[0];
}

int nt_ids_put(struct nt_ids *ids, union nt_any *record)
{
	const struct nt_kind_info *kind = nt_kind(record->record.kind);
	struct nt_id_entry *entry;
	enum nt_role role;
	uint64_t key;
	uint32_t id;
	int error;

	role = own_key(record, &key);
	if (role == NT_ROLE_NONE || !key)
		return encode(ids, record);
	id = find_or_add(&ids->spaces[role], key);
	if (!id)
		return -ENOMEM;
	/* Marked first, so that translating its own id does not put the old identity into the chunk again. */
	ids->spaces[role].entries[id].chunk = ids->chunk + 1;
	error = nt_ids_translate(ids, kind, record);
	if (error)
		return error;
	entry = &ids->spaces[role].entries[id];
	if (!entry->identity)
		entry->identity = malloc(kind->size);
	else if (is_worse(entry->identity, record))
		return 0;
	if (!entry->identity)
		return -ENOMEM;
	memcpy(entry->identity, record, kind->size);
	return encode(ids, record);
}

void nt_ids_next_chunk(struct nt_ids *ids, uint32_t number)
{
	ids->chunk = number;
}
