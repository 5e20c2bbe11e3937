/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * heatmap.h - latency over time as a heat map: columns of equal duration, rows that are the buckets of
 * util/histogram.h. And two ways to draw one: characters, and SVG. The drawing writes to the stream it is given and
 * nowhere else; write errors stay in the stream.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/out/output.h"

#define NT_HEAT_LEVELS 9 /* shades; level 0 is empty */

struct nt_heatmap {
	int64_t begin_ts, end_ts;
	uint32_t columns, per_octave, rows;
	double *cells; /* packets, [column * rows + bucket] */
	double most, all; /* in any cell, and in all */
	uint32_t low, high; /* buckets that hold something are low .. high - 1; high 0: none */
};

/* 0, or -ENOMEM. end_ts > begin_ts. Owner frees with nt_heatmap_release. */
int nt_heatmap_init(struct nt_heatmap *map, int64_t begin_ts, int64_t end_ts, uint32_t columns, uint32_t per_octave);
void nt_heatmap_release(struct nt_heatmap *map);
/* Times outside go to the first or last column. */
void nt_heatmap_add(struct nt_heatmap *map, int64_t ts, int64_t ns, double weight);
double nt_heatmap_cell(const struct nt_heatmap *map, uint32_t column, uint32_t bucket);
/* When a column begins; of one past the last, the end. */
int64_t nt_heatmap_column_ts(const struct nt_heatmap *map, uint32_t column);

/* Shades follow the logarithm of the count: 0 for none, else 1 to NT_HEAT_LEVELS; `most` has the last. */
unsigned int nt_heat_level(double count, double most);
/* The least whole count that has a level. */
double nt_heat_level_begin(unsigned int level, double most);

/* The least of 1, 2, 5 times a power of ten nanoseconds that makes at most ten steps of the span. */
uint64_t nt_heat_step(uint64_t span_ns);

/* Lines of characters: `since_ts` is time 0 of the axis, and not after begin_ts. `colour`: with escape sequences of a
 * terminal. */
void nt_heatmap_print(const struct nt_heatmap *map, FILE *out, int64_t since_ts, bool colour);

/* ---- SVG: begin, each map as a panel, from number 0 on, end ---- */

/* Texts may hold anything. */
void nt_svg_begin(FILE *out, unsigned int panels, const char *title);
/* `session`: what was recorded, below the title. */
void nt_svg_panel(FILE *out, unsigned int number, const struct nt_heatmap *map, int64_t since_ts, const char *title,
		  const char *session);
void nt_svg_end(FILE *out);
