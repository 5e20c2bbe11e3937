// SPDX-License-Identifier: GPL-2.0-only
/*
 * ids.c - see ids.h.
 */
#include "record/ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 4096u /* a power of two */

/* Those that come and go. Devices, stacks and symbols stay. */
static const bool is_forgotten[NT_ROLE_COUNT] = {
	[NT_ROLE_TASK] = true, [NT_ROLE_SOCKET] = true, [NT_ROLE_CGROUP] = true, [NT_ROLE_FLOW] = true};
/* Those that the recorder looks up when no identity came (proc_names.h). */
static const bool is_looked_up[NT_ROLE_COUNT] = {[NT_ROLE_TASK] = true, [NT_ROLE_CGROUP] = true};

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
	space->n_places = 1;
	return space->entries && space->slots ? 0 : -ENOMEM;
}

int nt_ids_init(struct nt_ids *ids)
{
	int error = 0;

	memset(ids, 0, sizeof(*ids));
	ids->forget_role = NT_ROLE_COUNT;
	for (int role = 0; role < NT_ROLE_COUNT && !error; role++)
		error = space_init(&ids->spaces[role]);
	if (error)
		nt_ids_release(ids);
	return error;
}

void nt_ids_release(struct nt_ids *ids)
{
	for (struct nt_id_space *space = ids->spaces; space < ids->spaces + NT_ROLE_COUNT; space++) {
		for (uint32_t i = 0; i < space->n_places && space->entries; i++)
			free(space->entries[i].identity);
		free(space->entries);
		free(space->slots);
		nt_buf_release(&space->unnamed);
	}
	nt_buf_release(&ids->pending);
	nt_buf_release(&ids->dictionary);
	memset(ids, 0, sizeof(*ids));
}

/* ---- keys ---- */

/* The slot of the key; of one that is not there: where it would go. */
static uint32_t slot_of(const struct nt_id_space *space, uint64_t key)
{
	uint32_t slot = hash(key) & space->slot_mask;

	while (space->slots[slot] && space->entries[space->slots[slot]].key != key)
		slot = (slot + 1) & space->slot_mask;
	return slot;
}

/* The place of a key; 0: it has none. */
static uint32_t find(const struct nt_id_space *space, uint64_t key)
{
	return space->slots[slot_of(space, key)];
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
	for (uint32_t place = 1; place < space->n_places; place++)
		space->slots[slot_of(space, entries[place].key)] = place;
	return 0;
}

/* A free place; 0 when there is no memory for one. */
static uint32_t take_place(struct nt_id_space *space)
{
	uint32_t place = space->first_free;

	if (place) {
		space->first_free = space->entries[place].next_free;
		space->n_free--;
		return place;
	}
	if (space->n_places == space->capacity && grow(space))
		return 0;
	return space->n_places++;
}

/* The place of a key; 0 when there is no memory for a new one. */
static uint32_t find_or_add(struct nt_ids *ids, enum nt_role role, uint64_t key)
{
	struct nt_id_space *space = &ids->spaces[role];
	uint32_t place = find(space, key);

	if (place)
		return place;
	place = take_place(space);
	if (!place)
		return 0;
	space->entries[place] = (struct nt_id_entry){.key = key, .id = ++space->last_id, .used = ids->generation};
	space->slots[slot_of(space, key)] = place;
	ids->n_new += is_forgotten[role];
	return place;
}

/* Empties a slot. Those behind it that would not be found any more close the hole. */
static void empty_slot(struct nt_id_space *space, uint32_t hole)
{
	uint32_t slot = hole;

	space->slots[hole] = 0;
	while (space->slots[slot = (slot + 1) & space->slot_mask]) {
		const uint32_t home = hash(space->entries[space->slots[slot]].key) & space->slot_mask;

		if (((slot - home) & space->slot_mask) < ((slot - hole) & space->slot_mask))
			continue;
		space->slots[hole] = space->slots[slot];
		space->slots[slot] = 0;
		hole = slot;
	}
}

static void free_place(struct nt_id_space *space, uint32_t place)
{
	struct nt_id_entry *entry = &space->entries[place];

	empty_slot(space, slot_of(space, entry->key));
	free(entry->identity);
	*entry = (struct nt_id_entry){.next_free = space->first_free};
	space->first_free = place;
	space->n_free++;
}

/* ---- what a chunk refers to ---- */

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

static int refer(struct nt_ids *ids, enum nt_role role, uint32_t place);

uint64_t nt_ids_get(struct nt_ids *ids, enum nt_role role, uint64_t key)
{
	struct nt_recent_id *recent = &ids->recent[role][hash(key) % NT_RECENT_IDS];
	struct nt_id_space *space = &ids->spaces[role];
	uint32_t place;

	if (!key || recent->key == key)
		return key ? recent->id : 0;
	place = find(space, key);
	if (!place) {
		place = find_or_add(ids, role, key);
		if (!place || (is_looked_up[role] && nt_buf_append(&space->unnamed, &key, sizeof(key))))
			return UINT64_MAX;
	}
	space->entries[place].used = ids->generation;
	if (refer(ids, role, place))
		return UINT64_MAX;
	*recent = (struct nt_recent_id){.key = key, .id = space->entries[place].id};
	return recent->id;
}

bool nt_ids_knows(const struct nt_ids *ids, enum nt_role role, uint64_t key)
{
	const struct nt_id_space *space = &ids->spaces[role];

	return key && space->entries[find(space, key)].identity;
}

bool nt_ids_knows_holder(const struct nt_ids *ids, uint64_t socket)
{
	const struct nt_id_space *space = &ids->spaces[NT_ROLE_SOCKET];
	const union nt_any *identity = socket ? space->entries[find(space, socket)].identity : NULL;

	return identity && identity->as_socket.process;
}

/* `at`: a field of 8 bytes, a key. */
static inline int translate_key(struct nt_ids *ids, enum nt_role role, void *at)
{
	uint64_t key, id;

	memcpy(&key, at, sizeof(key));
	if (!key)
		return 0;
	id = nt_ids_get(ids, role, key);
	if (id == UINT64_MAX)
		return -ENOMEM;
	memcpy(at, &id, sizeof(id));
	return 0;
}

/* One function per kind, from the field lists of event.h: so nothing is looked up for a field that has no role. */
#define F(field, coding, role)                                                                                         \
	if (NT_ROLE_##role != NT_ROLE_NONE && translate_key(ids, NT_ROLE_##role, &record->field))                      \
		return -ENOMEM;
#define X(number, constant, name, shape, place)                                                                        \
	static inline int translate_##name(struct nt_ids *ids, struct nt_##name *record)                               \
	{                                                                                                              \
		NT_FIELDS_##name(F) return 0;                                                                          \
	}
NT_KINDS(X)
#undef X
#undef F

int nt_ids_translate(struct nt_ids *ids, union nt_any *record)
{
	switch (record->record.kind) {
#define X(number, constant, name, shape, place)                                                                        \
	case number:                                                                                                   \
		return translate_##name(ids, &record->as_##name);
		NT_KINDS(X)
#undef X
	default:
		return 0;
	}
}

/*
 * This chunk refers to an id: its identity goes there too, and so do those that it names. (A stack names its caller's:
 * as many calls inside each other as it has frames.)
 */
static int refer(struct nt_ids *ids, enum nt_role role, uint32_t place)
{
	struct nt_id_entry *entry = &ids->spaces[role].entries[place];
	union nt_any record;

	if (entry->chunk == ids->chunk + 1)
		return 0;
	entry->chunk = ids->chunk + 1;
	if (!entry->identity)
		return 0;
	memcpy(&record, entry->identity, nt_kind_size(entry->identity->record.kind));
	return nt_ids_translate(ids, &record) || encode(ids, &record) ? -ENOMEM : 0;
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

/* A cgroup's path is asked for at its first task, and a socket that is closed has no port. */
static bool is_worse(const union nt_any *old, const union nt_any *new)
{
	return !nt_identity_is_full(new) && nt_identity_is_full(old);
}

/* The holder of a socket is told once, its addresses each time. A flow that is announced again says no socket. */
static void keep_what_was_told(const union nt_any *before, union nt_any *now)
{
	if (now->record.kind == NT_SOCKET && before->as_socket.process)
		now->as_socket.process = before->as_socket.process;
	if (now->record.kind == NT_FLOW && !now->as_flow.socket && !(now->as_flow.flags & NT_FLOW_SCATTERED))
		now->as_flow.socket = before->as_flow.socket;
}

/* Several CPUs tell of a flow, and are read one after the other. */
static bool is_late(const union nt_any *before, const union nt_any *now)
{
	return now->record.kind == NT_FLOW && now->record.end_ns < before->record.end_ns;
}

/* ---- what is known of an id ---- */

/* Counts, at those whom the identity of `by` names, that it does so (1), or no longer does (-1). */
static void count_named(struct nt_ids *ids, const struct nt_id_entry *by, const union nt_any *identity, int change)
{
	const struct nt_kind_info *kind = nt_kind(identity->record.kind);

	for (unsigned int i = 0; i < kind->n_fields; i++) {
		struct nt_id_space *space = &ids->spaces[kind->fields[i].role];
		uint64_t key;
		uint32_t place;

		if (kind->fields[i].role == NT_ROLE_NONE)
			continue;
		key = nt_field_get(&kind->fields[i], identity);
		place = key ? find(space, key) : 0;
		if (place && &space->entries[place] != by)
			space->entries[place].named_by += (uint32_t)change;
	}
}

/*
 * Whether a task has exited, by what is told of it now. Records of several CPUs come in any order, and a thread that
 * executes a program goes on as the main thread that it has ended.
 */
static bool has_ended(const struct nt_id_entry *entry, const struct nt_task *now)
{
	const struct nt_task *before = entry->identity ? &entry->identity->as_task : NULL;
	const bool is_newer = !before || now->end_ns >= before->end_ns;

	if (now->why == NT_TASK_EXIT)
		return is_newer || before->why != NT_TASK_EXEC;
	if (now->why == NT_TASK_EXEC)
		return !is_newer && before->why == NT_TASK_EXIT;
	return entry->has_ended;
}

/* `identity` has the kernel's keys, and what it names has ids. */
static int keep(struct nt_ids *ids, struct nt_id_entry *entry, const union nt_any *identity)
{
	const size_t size = nt_kind_size(identity->record.kind);

	if (identity->record.kind == NT_TASK)
		entry->has_ended = has_ended(entry, &identity->as_task);
	if (entry->identity)
		count_named(ids, entry, entry->identity, -1);
	else
		entry->identity = malloc(size);
	if (!entry->identity)
		return -ENOMEM;
	memcpy(entry->identity, identity, size);
	count_named(ids, entry, identity, 1);
	return 0;
}

int nt_ids_put(struct nt_ids *ids, union nt_any *record)
{
	struct nt_id_entry *entry;
	union nt_any with_keys;
	enum nt_role role;
	uint64_t key;
	uint32_t place;
	int error;

	role = own_key(record, &key);
	if (role == NT_ROLE_NONE || !key)
		return encode(ids, record);
	place = find_or_add(ids, role, key);
	if (!place)
		return -ENOMEM;
	entry = &ids->spaces[role].entries[place];
	entry->used = ids->generation;
	if (entry->identity && is_worse(entry->identity, record))
		return refer(ids, role, place);
	if (entry->identity && is_late(entry->identity, record)) {
		error = refer(ids, role, place);
		if (!error)
			error = nt_ids_translate(ids, record);
		return error ? error : encode(ids, record);
	}
	if (entry->identity)
		keep_what_was_told(entry->identity, record);
	/* Marked first, so that translating its own id does not put the old identity into the chunk again. */
	entry->chunk = ids->chunk + 1;
	memcpy(&with_keys, record, nt_kind_size(record->record.kind));
	error = nt_ids_translate(ids, record);
	if (!error)
		error = keep(ids, &ids->spaces[role].entries[place], &with_keys);
	return error ? error : encode(ids, record);
}

uint64_t nt_ids_take_unnamed(struct nt_ids *ids, enum nt_role role)
{
	struct nt_buf *unnamed = &ids->spaces[role].unnamed;
	uint64_t key = 0;

	if (unnamed->size) {
		unnamed->size -= sizeof(key);
		memcpy(&key, unnamed->data + unnamed->size, sizeof(key));
	}
	return key;
}

void nt_ids_next_chunk(struct nt_ids *ids, uint32_t number)
{
	ids->chunk = number;
	memset(ids->recent, 0, sizeof(ids->recent));
}

/* ---- forgetting ---- */

static uint32_t n_known(const struct nt_id_space *space)
{
	return space->n_places - 1 - space->n_free;
}

/* A task lives until its exit; one without an identity would be looked up again. */
static bool may_forget(const struct nt_ids *ids, enum nt_role role, const struct nt_id_entry *entry)
{
	if (!entry->key || entry->named_by || ids->generation - entry->used < 2)
		return false;
	return role != NT_ROLE_TASK || entry->has_ended || !entry->identity;
}

static void forget(struct nt_ids *ids, enum nt_role role, uint32_t place)
{
	const struct nt_id_entry *entry = &ids->spaces[role].entries[place];

	if (entry->identity)
		count_named(ids, entry, entry->identity, -1);
	free_place(&ids->spaces[role], place);
}

static bool is_due(const struct nt_ids *ids, uint64_t now_ns)
{
	bool has_many = false;

	for (unsigned int role = 0; role < NT_ROLE_COUNT; role++)
		has_many |= is_forgotten[role] && n_known(&ids->spaces[role]) > NT_IDS_KEPT;
	return has_many && (ids->n_new >= NT_IDS_NEW || now_ns - ids->generation_ns >= NT_GENERATION_NS);
}

static void begin_generation(struct nt_ids *ids, uint64_t now_ns)
{
	ids->generation++;
	ids->generation_ns = now_ns;
	ids->n_new = 0;
	ids->forget_role = 0;
	ids->forget_place = 1;
	/* So the next use of each id is noted. */
	memset(ids->recent, 0, sizeof(ids->recent));
}

/*
 * A call looks at so many places, at a part of all, so that many calls go through all, and at some for each id that is
 * new since the last call: what is known then grows with what one drain brings, not with how many drains a generation
 * takes.
 */
#define PLACES_AT_LEAST 512
#define PLACES_PART 64
#define PLACES_FOR_NEW 8

/* Looks at up to n places of the role that is next; gives how many are left of n. */
static uint32_t forget_some(struct nt_ids *ids, uint32_t n)
{
	const enum nt_role role = ids->forget_role;
	const struct nt_id_space *space = &ids->spaces[role];

	for (; is_forgotten[role] && n && ids->forget_place < space->n_places && n_known(space) > NT_IDS_KEPT; n--) {
		if (may_forget(ids, role, &space->entries[ids->forget_place]))
			forget(ids, role, ids->forget_place);
		ids->forget_place++;
	}
	if (!is_forgotten[role] || ids->forget_place >= space->n_places || n_known(space) <= NT_IDS_KEPT) {
		ids->forget_role++;
		ids->forget_place = 1;
	}
	return n;
}

uint32_t nt_ids_forget(struct nt_ids *ids, uint64_t now_ns)
{
	uint32_t n = PLACES_AT_LEAST + PLACES_FOR_NEW * (ids->n_new - ids->n_new_before);

	if (ids->forget_role == NT_ROLE_COUNT && is_due(ids, now_ns))
		begin_generation(ids, now_ns);
	for (unsigned int role = 0; role < NT_ROLE_COUNT; role++)
		n += is_forgotten[role] ? ids->spaces[role].n_places / PLACES_PART : 0;
	while (n && ids->forget_role != NT_ROLE_COUNT)
		n = forget_some(ids, n);
	ids->n_new_before = ids->n_new;
	return ids->generation;
}
