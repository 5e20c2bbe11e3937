// SPDX-License-Identifier: GPL-2.0-only
/*
 * flame.c - the part of flame.h that makes the tree, and folds it.
 */
#include "report/query/stages/flame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void nt_flame_release(struct nt_flame *flame)
{
	free(flame->nodes);
	nt_texts_release(&flame->names);
	nt_id_map_release(&flame->by_edge);
}

/* The child of a node, new or known; -1: out of memory. */
static int64_t child(struct nt_flame *flame, uint32_t parent, const char *name, uint16_t stage)
{
	bool is_new;
	uint32_t number = nt_texts_number(&flame->names, name, &is_new);
	uint32_t depth = flame->n ? flame->nodes[parent].depth + 1 : 0;

	if (!number)
		return -1;
	if (depth > flame->deepest)
		flame->deepest = depth;
	return NT_INDEX(&flame->by_edge, (uint64_t)parent << 32 | number, flame->nodes, flame->size, flame->n,
			{.parent = parent, .name = number, .depth = depth, .stage = stage});
}

/* ---- adding a session ---- */

struct adding {
	struct nt_flame *flame;
	unsigned int side;
	enum nt_by by;
	struct nt_stage_data *data;
	struct nt_frames *frames;
	struct nt_id_map leaves; /* series << 32 | category: index of its node + 1 */
};

/* The frame of a series' group, at the root; -1: out of memory. */
static int64_t find_group(struct adding *adding, const struct nt_stage_series *series)
{
	char text[32];

	switch (adding->by) {
	case NT_BY_NONE:
	case NT_BY_TIME:
		return 0;
	case NT_BY_CPU:
		snprintf(text, sizeof(text), "CPU %u", series->cpu);
		return child(adding->flame, 0, text, 0);
	default:
		if (series->group)
			return child(adding->flame, 0, nt_labels_text(&adding->data->groups, series->group), 0);
		return child(adding->flame, 0, adding->by == NT_BY_CGROUP ? "[of no control group]" : "[of no process]",
			     0);
	}
}

/* From the outermost function on. */
static int64_t add_frames(struct adding *adding, int64_t node, int64_t stack_id)
{
	struct nt_frames *frames = adding->frames;
	struct nt_frames_stack stack = nt_frames_of(frames, stack_id);

	if (!stack.n)
		return child(adding->flame, (uint32_t)node, "[unknown]", 0);
	for (size_t i = stack.n; i > 0 && node >= 0; i--) {
		uint32_t number = stack.numbers[i - 1];

		node = child(adding->flame, (uint32_t)node, nt_frames_name(frames, number),
			     frames->functions[number].rules.stage);
	}
	return node;
}

/* The node that a category of a series ends in; -1: out of memory. */
static int64_t find_leaf(struct adding *adding, uint32_t number, uint32_t category)
{
	const struct nt_stage_series *series = &adding->data->series[number];
	uint64_t *known = nt_id_map_at(&adding->leaves, (uint64_t)number << 32 | category);
	const struct nt_stage_category *stack;
	int64_t node;

	if (!known)
		return -1;
	if (*known)
		return (int64_t)*known - 1;
	node = find_group(adding, series);
	if (node >= 0)
		node = child(adding->flame, (uint32_t)node, nt_owner_name((enum nt_owner)series->owner), 0);
	if (node >= 0 && category == NT_SPLIT_UNSAMPLED) {
		node = child(adding->flame, (uint32_t)node, "[unsampled]", 0);
	} else if (node >= 0) {
		stack = &adding->data->categories[category];
		if (stack->user_stack_id >= 0)
			node = add_frames(adding, node, stack->user_stack_id);
		if (node >= 0)
			node = stack->stack_id >= 0 ? add_frames(adding, node, stack->stack_id)
						    : child(adding->flame, (uint32_t)node, "[no kernel stack]", 0);
	}
	*known = (uint64_t)(node + 1);
	return node;
}

static int add_to_leaf(struct adding *adding, uint32_t series, uint32_t category, uint64_t ns, uint64_t samples)
{
	struct nt_flame_node *nodes;
	int64_t node = find_leaf(adding, series, category);

	if (node < 0)
		return -ENOMEM;
	nodes = adding->flame->nodes;
	for (;; node = nodes[node].parent) {
		nodes[node].ns[adding->side] += ns;
		nodes[node].samples[adding->side] += samples;
		if (!node)
			return 0;
		nodes[nodes[node].parent].below[adding->side] += ns;
	}
}

static int add_part(void *arg, const struct nt_split_part *part)
{
	struct adding *adding = arg;

	return part->ns ? add_to_leaf(adding, part->series, part->category, part->ns * part->n, 0) : 0;
}

int nt_flame_add(struct nt_flame *flame, unsigned int side, enum nt_by by, struct nt_stage_data *data,
		 struct nt_frames *frames)
{
	struct adding adding = {.flame = flame, .side = side, .by = by, .data = data, .frames = frames};
	int error = flame->n || child(flame, 0, "all", 0) == 0 ? 0 : -ENOMEM;

	if (!error)
		error = nt_split_each(&data->split, add_part, &adding);
	for (size_t i = 0; i < data->split.n_samples && !error; i++)
		error = add_to_leaf(&adding, data->split.samples[i].series, data->split.samples[i].category, 0, 1);
	nt_id_map_release(&adding.leaves);
	return error;
}

/* ---- folded ---- */

static void write_name(FILE *out, const char *name)
{
	for (; *name; name++) {
		unsigned char byte = (unsigned char)*name;

		fputc(byte == ';' ? ',' : byte < 0x20 || byte == 0x7f ? '?' : byte, out);
	}
}

/* No stack is deeper: twice NT_STACK_MAX_FRAMES. Those of a hostile database may be, and are cut. */
#define DEPTH_MAX 1024

void nt_flame_folded(const struct nt_flame *flame, FILE *out)
{
	for (uint32_t node = 1; node < flame->n; node++) {
		uint32_t path[DEPTH_MAX], n = 0;

		if (flame->nodes[node].ns[0] == flame->nodes[node].below[0])
			continue;
		for (uint32_t at = node; at && n < DEPTH_MAX; at = flame->nodes[at].parent)
			path[n++] = at;
		for (uint32_t i = n; i > 0; i--) {
			write_name(out, nt_texts_text(&flame->names, flame->nodes[path[i - 1]].name));
			fputc(i > 1 ? ';' : ' ', out);
		}
		fprintf(out, "%llu\n", (unsigned long long)(flame->nodes[node].ns[0] - flame->nodes[node].below[0]));
	}
}
