/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flame.h - stacks joined into a tree, each node with its exact time (split.h): drawn as flame graphs
 * (export/svg/flame.c), and written as folded stacks (flame.c). One tree can hold two sides, to be compared. Writes to
 * the stream it is given and nowhere else.
 *
 *     all -> [group ->] owner -> [functions of the program ->] functions of the kernel, the outermost first
 */
#pragma once

#include <stdio.h>

#include "report/query/stages/frames.h"
#include "report/query/stages/read.h"

struct nt_flame_node {
	uint32_t parent; /* index; that of the root is its own */
	uint32_t name; /* number */
	uint32_t depth; /* of the root: 0 */
	uint64_t ns[2], samples[2]; /* of each side, with all that is below */
	uint64_t below[2]; /* of ns: in children */
	uint16_t stage; /* of the function by itself + 1; 0: as its caller */
};

/* Zero-initialise. Owner frees with nt_flame_release. */
struct nt_flame {
	struct nt_flame_node *nodes; /* a parent stands before its children */
	size_t n, size;
	struct nt_texts names;
	struct nt_id_map by_edge; /* parent << 32 | name: index + 1 */
	uint32_t deepest;
};

/* Adds a session's data, split by stacks, to one side; `by`: what frames at the root tell apart, not by time. 0, or
 * -ENOMEM. */
int nt_flame_add(struct nt_flame *flame, unsigned int side, enum nt_by by, struct nt_stage_data *data,
		 struct nt_frames *frames);
void nt_flame_release(struct nt_flame *flame);
/* One line a stack: names with ; between them, a blank, nanoseconds. In names ; is written as , and a control character
 * as ?. */
void nt_flame_folded(const struct nt_flame *flame, FILE *out);
/* The lines above a picture: the title, the recording, and its problems. */
#define NT_FLAME_LINES 4
struct nt_flame_head {
	char title[400];
	char lines[NT_FLAME_LINES][512];
	unsigned int n_lines;
};
/* One self-contained file with its script. `is_diff`: widths are by both sides, colours by how they differ. -1: out of
 * memory. */
int nt_flame_svg(const struct nt_flame *flame, bool is_diff, const struct nt_flame_head *head, FILE *out);
