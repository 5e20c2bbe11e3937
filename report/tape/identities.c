// SPDX-License-Identifier: GPL-2.0-only
/*
 * identities.c - see identities.h.
 */
#include "report/tape/identities.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"
#include "report/util/utf8.h"

void nt_identities_release(struct nt_identities *ids)
{
	for (int i = 0; i < NT_IDENTITY_SORTS; i++)
		nt_id_map_release(&ids->newest[i]);
	nt_id_map_release(&ids->parents);
	nt_id_map_release(&ids->places);
	nt_id_map_release(&ids->processes);
	nt_id_map_release(&ids->napi);
	nt_id_map_release(&ids->irqs);
	nt_id_map_release(&ids->irq_devices);
	nt_id_map_release(&ids->reasons);
	nt_id_map_release(&ids->symbols);
	nt_id_map_release(&ids->disks);
	nt_endpoints_release(&ids->endpoints);
	free(ids->flows);
	nt_id_map_release(&ids->by_flow);
	nt_id_map_release(&ids->devices);
	nt_arena_release(&ids->arena);
	*ids = (struct nt_identities){0};
}

void nt_identity_marks_release(struct nt_identity_marks *marks)
{
	for (int i = 0; i < NT_IDENTITY_SORTS; i++)
		nt_id_map_release(&marks->taken[i]);
	nt_id_map_release(&marks->sampled);
	nt_id_map_release(&marks->seen);
	nt_id_map_release(&marks->made);
	*marks = (struct nt_identity_marks){0};
}

/* X(CONSTANT, name, field of the id, number of the map): the kinds of which the newest record counts. */
#define WITH_NEWEST(X)                                                                                                 \
	X(TASK, task, task, 0)                                                                                         \
	X(SOCKET, socket, socket, 1)                                                                                   \
	X(CGROUP, cgroup, cgroup, 2)                                                                                   \
	X(DEVICE, device, device, 3)                                                                                   \
	X(SYMBOL, symbol, symbol, 4)                                                                                   \
	X(USER_SYMBOL, user_symbol, symbol, 4)                                                                         \
	X(STACK, stack, stack, 5)                                                                                      \
	X(FLOW, flow, flow, 6)

/* The map and the id of a record, NULL for a kind that has none. */
static struct nt_id_map *map_of(struct nt_identities *ids, const union nt_any *record, uint64_t *id)
{
	switch (record->record.kind) {
#define X(constant, name, field, map)                                                                                  \
	case NT_##constant:                                                                                            \
		*id = record->as_##name.field;                                                                         \
		return &ids->newest[map];
		WITH_NEWEST(X)
#undef X
	default:
		return NULL;
	}
}

/* Of two records of an id the one of higher rank counts: the newer one, but a full one before one that is not. */
static uint64_t rank_of(const union nt_any *record)
{
	return record->record.end_ns | (uint64_t)nt_identity_is_full(record) << 63;
}

static uint64_t irq_id(uint32_t type, uint32_t number)
{
	return (uint64_t)type << 32 | number;
}

static int set_name(struct nt_id_map *map, uint64_t id, const char *name)
{
	return name ? nt_id_map_set(map, id, (uintptr_t)name) : -ENOMEM;
}

static const char *name_in(struct nt_id_map *map, uint64_t id)
{
	return (const char *)(uintptr_t)nt_id_map_get(map, id);
}

/* NAPI threads are named napi/DEVICE-ID; those of a CPU's backlog, backlog_napi/CPU. */
static bool is_napi_thread(const struct nt_task *task)
{
	static const char device[] = "napi/", backlog[] = "backlog_napi/";

	return task->flags & NT_TASK_KTHREAD &&
	       (!memcmp(task->comm, device, sizeof(device) - 1) || !memcmp(task->comm, backlog, sizeof(backlog) - 1));
}

/* "tcp_v4_rcv+0x1a [module]". NULL: out of memory. */
static const char *symbol_text(struct nt_identities *ids, const struct nt_symbol *symbol)
{
	const char *name = nt_arena_clean(&ids->arena, symbol->name, sizeof(symbol->name));
	const char *module = nt_arena_clean(&ids->arena, symbol->module, sizeof(symbol->module));

	if (!name || !module)
		return NULL;
	return nt_arena_format(&ids->arena, module[0] ? "%s+0x%x [%s]" : "%s+0x%x", name, symbol->offset, module);
}

static int learn_irq(struct nt_identities *ids, const struct nt_irq_name *irq)
{
	const uint64_t id = irq_id(irq->type, irq->number);
	int error = 0;

	if (!name_in(&ids->irqs, id))
		error = set_name(&ids->irqs, id, nt_arena_clean(&ids->arena, irq->name, sizeof(irq->name)));
	if (error || !(irq->flags & NT_IRQ_NAME_ASKED) || name_in(&ids->irq_devices, id))
		return error;
	return set_name(&ids->irq_devices, id, nt_arena_clean(&ids->arena, irq->device, sizeof(irq->device)));
}

/*
 * Interrupts, reasons of drops, symbols and block devices have a name that other rows show: the first name that the
 * tape gives an id stays. 0 or -ENOMEM.
 */
static int learn_name(struct nt_identities *ids, const union nt_any *record)
{
	const struct nt_irq_name *irq = &record->as_irq_name;
	const struct nt_drop_reason *reason = &record->as_drop_reason;
	const struct nt_symbol *symbol = &record->as_symbol;
	const struct nt_block_device *disk = &record->as_block_device;

	switch (record->record.kind) {
	case NT_IRQ_NAME:
		return learn_irq(ids, irq);
	case NT_DROP_REASON:
		if (!reason->name[0] || name_in(&ids->reasons, reason->number))
			return 0;
		if (!ids->has_refusal && !strncmp(reason->name, "NO_SOCKET", sizeof(reason->name))) {
			ids->has_refusal = true;
			ids->refusal = reason->number;
		}
		return set_name(&ids->reasons, reason->number,
				nt_arena_clean(&ids->arena, reason->name, sizeof(reason->name)));
	case NT_SYMBOL:
		if (!symbol->name[0] || name_in(&ids->symbols, symbol->symbol))
			return 0;
		return set_name(&ids->symbols, symbol->symbol, symbol_text(ids, symbol));
	case NT_BLOCK_DEVICE:
		if (!disk->name[0] || name_in(&ids->disks, disk->number))
			return 0;
		return set_name(&ids->disks, disk->number, nt_arena_clean(&ids->arena, disk->name, sizeof(disk->name)));
	default:
		return 0;
	}
}

static int learn_stack(struct nt_identities *ids, const struct nt_stack *stack)
{
	int error = nt_id_map_set(&ids->parents, stack->stack, stack->parent);

	return error ? error : nt_id_map_set(&ids->places, stack->stack, stack->symbol);
}

/* Of a flow or a device that comes again the first stays: what is asked for does not change. */
static int keep_flow(struct nt_identities *ids, const union nt_any *record)
{
	const struct nt_device *device = &record->as_device;
	uint64_t *index;

	if (record->record.kind == NT_DEVICE)
		return nt_id_map_set(&ids->devices, device->device, nt_device_key(device->netns, device->ifindex));
	if (record->record.kind != NT_FLOW)
		return 0;
	index = nt_id_map_at(&ids->by_flow, record->as_flow.flow);
	if (!index || NT_ROOM(ids->flows, ids->flows_size, ids->n_flows + 1))
		return -ENOMEM;
	if (*index)
		return 0;
	ids->flows[ids->n_flows] = record->as_flow;
	*index = ++ids->n_flows;
	return 0;
}

int nt_identities_learn(struct nt_identities *ids, const union nt_any *record)
{
	uint64_t id;
	int error = learn_name(ids, record);
	struct nt_id_map *map;
	uint64_t *newest;

	if (error)
		return error;
	map = map_of(ids, record, &id);
	if (!map || !id || record->record.end_ns > INT64_MAX)
		return 0;
	if (record->record.kind == NT_TASK && is_napi_thread(&record->as_task) && nt_id_map_set(&ids->napi, id, 1))
		return -ENOMEM;
	newest = nt_id_map_at(map, id);
	if (!newest)
		return -ENOMEM;
	ids->n += !*newest;
	/* Of a flow each counts from its time on, in whatever order they come. */
	if (record->record.kind == NT_FLOW && nt_endpoints_add_flow(&ids->endpoints, &record->as_flow))
		return -ENOMEM;
	if (ids->keeps_flows && keep_flow(ids, record))
		return -ENOMEM;
	if (rank_of(record) <= *newest)
		return 0;
	*newest = rank_of(record);
	if (record->record.kind == NT_STACK)
		return learn_stack(ids, &record->as_stack);
	if (record->record.kind == NT_SOCKET)
		return nt_endpoints_add_socket(&ids->endpoints, &record->as_socket);
	if (record->record.kind == NT_TASK && record->as_task.process != record->as_task.task)
		return nt_id_map_set(&ids->processes, id, record->as_task.process + 1);
	return 0;
}

/* Where the rank of the record's id is, if the record is the one that counts so far; else NULL. */
static struct nt_id_map *map_of_newest(struct nt_identities *ids, const union nt_any *record, uint64_t *id)
{
	struct nt_id_map *map;

	*id = 0;
	map = map_of(ids, record, id);
	return map && *id && record->record.end_ns <= INT64_MAX && nt_id_map_get(map, *id) == rank_of(record) ? map
													      : NULL;
}

bool nt_identities_is_newest(struct nt_identities *ids, const union nt_any *record)
{
	uint64_t id;

	return map_of_newest(ids, record, &id);
}

int nt_identities_take_newest(struct nt_identities *ids, struct nt_identity_marks *marks, const union nt_any *record)
{
	uint64_t id;
	const struct nt_id_map *map = map_of_newest(ids, record, &id);
	struct nt_id_map *taken = map ? &marks->taken[map - ids->newest] : NULL;

	if (!taken || nt_id_map_get(taken, id))
		return 0;
	return nt_id_map_set(taken, id, 1) ? -ENOMEM : 1;
}

bool nt_identities_knows_task(struct nt_identities *ids, uint64_t task)
{
	return nt_id_map_get(&ids->newest[0], task) != 0;
}

uint64_t nt_identities_process_of(struct nt_identities *ids, uint64_t task)
{
	uint64_t process = nt_id_map_get(&ids->processes, task);

	return process ? process - 1 : task;
}

bool nt_identities_flow_tuple(struct nt_identities *ids, uint64_t flow, enum nt_flow_key_sort *sort,
			      struct nt_flow_tuple *tuple)
{
	const uint64_t index = nt_id_map_get(&ids->by_flow, flow);
	const struct nt_flow *from = index ? &ids->flows[index - 1] : NULL;
	const uint64_t device = from ? nt_id_map_get(&ids->devices, from->device) : 0;

	if (!device || from->flags & NT_FLOW_MANY)
		return false;
	*sort = nt_flow_sort_of(from);
	*tuple = (struct nt_flow_tuple){
		.device = device | (from->flags & NT_FLOW_SENT ? NT_DEVICE_SENDS : 0),
		.ports = htons(from->src_port) | (uint32_t)htons(from->dst_port) << 16,
		.ethertype = from->ethertype,
		.family = from->family,
		.protocol = from->protocol,
	};
	memcpy(tuple->src, from->src, sizeof(tuple->src));
	memcpy(tuple->dst, from->dst, sizeof(tuple->dst));
	return true;
}

bool nt_identities_is_napi(struct nt_identities *ids, uint64_t task)
{
	return nt_id_map_get(&ids->napi, task);
}

int nt_identity_marks_see(struct nt_identity_marks *marks, uint64_t task)
{
	return nt_id_map_set(&marks->seen, task, 1);
}

const char *nt_identities_irq_name(struct nt_identities *ids, uint32_t type, uint32_t number)
{
	uint64_t id = irq_id(type, number);
	const char *name = name_in(&ids->irqs, id);

	if (name)
		return name;
	name = nt_arena_format(&ids->arena, type == NT_IRQ_VECTOR ? "vector %u" : "irq %u", number);
	return set_name(&ids->irqs, id, name) ? NULL : name;
}

/* Drivers' names for interrupts of network cards, as far as no other interrupts have such names. */
static bool is_net_name(const char *name)
{
	static const char *const patterns[] = {
		"virtio[0-9]*-input.[0-9]*",
		"virtio[0-9]*-output.[0-9]*",
		"eth[0-9]*",
		"en[opsx][0-9]*",
		"wl[opsx][0-9]*",
		"wlan[0-9]*",
		"mlx[45]*comp*",
		"iwlwifi*",
		"i40e-*",
		"iavf-*",
		"ice-*",
	};

	return !strstr(name, ", ") && NT_ANY(NT_COUNT(patterns), i, !fnmatch(patterns[i], name, 0));
}

bool nt_identities_is_net_irq(struct nt_identities *ids, uint32_t type, uint32_t number, const char **device)
{
	const char *known = name_in(&ids->irq_devices, irq_id(type, number));
	const char *name = name_in(&ids->irqs, irq_id(type, number));

	*device = known && known[0] ? known : NULL;
	if (known)
		return known[0];
	return type == NT_IRQ_DEVICE && name && is_net_name(name);
}

const char *nt_identities_drop_reason(struct nt_identities *ids, uint32_t number)
{
	return name_in(&ids->reasons, number);
}

const char *nt_identities_block_device(struct nt_identities *ids, uint32_t number)
{
	const char *name = name_in(&ids->disks, number);

	if (name)
		return name;
	name = nt_arena_format(&ids->arena, "%u:%u", number >> 20, number & 0xfffff);
	return set_name(&ids->disks, number, name) ? NULL : name;
}

bool nt_identities_refusal(const struct nt_identities *ids, uint32_t *reason)
{
	*reason = ids->refusal;
	return ids->has_refusal;
}

const char *nt_identities_symbol(struct nt_identities *ids, uint64_t symbol)
{
	return name_in(&ids->symbols, symbol);
}

int nt_identity_marks_see_stack(struct nt_identity_marks *marks, uint64_t stack)
{
	return stack ? nt_id_map_set(&marks->sampled, stack, 1) : 0;
}

bool nt_identity_marks_is_sampled(struct nt_identity_marks *marks, uint64_t stack)
{
	return nt_id_map_get(&marks->sampled, stack);
}

uint64_t nt_identities_unwind(struct nt_identities *ids, uint64_t stack, uint64_t *symbol)
{
	*symbol = nt_id_map_get(&ids->places, stack);
	return nt_id_map_get(&ids->parents, stack);
}
