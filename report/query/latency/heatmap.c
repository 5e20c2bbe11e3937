// SPDX-License-Identifier: GPL-2.0-only
/*
 * heatmap.c - see heatmap.h: counting, and the scale of shades.
 */
#include "report/query/latency/heatmap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/histogram.h"

int nt_heatmap_init(struct nt_heatmap *map, int64_t begin_ts, int64_t end_ts, uint32_t columns, uint32_t per_octave)
{
	*map = (struct nt_heatmap){.begin_ts = begin_ts,
				   .end_ts = end_ts,
				   .columns = columns,
				   .per_octave = per_octave,
				   .rows = nt_bucket_count(per_octave, 63)};
	map->cells = calloc((size_t)columns * map->rows, sizeof(*map->cells));
	return map->cells ? 0 : -ENOMEM;
}

void nt_heatmap_release(struct nt_heatmap *map)
{
	free(map->cells);
	memset(map, 0, sizeof(*map));
}

void nt_heatmap_add(struct nt_heatmap *map, int64_t ts, int64_t ns, double weight)
{
	uint32_t bucket = nt_bucket_of(map->per_octave, ns), column = 0;
	double *cell;

	if (ts >= map->end_ts)
		column = map->columns - 1;
	else if (ts > map->begin_ts)
		column = (uint32_t)((unsigned __int128)((uint64_t)ts - (uint64_t)map->begin_ts) * map->columns /
				    ((uint64_t)map->end_ts - (uint64_t)map->begin_ts));
	cell = &map->cells[(size_t)column * map->rows + bucket];
	*cell += weight;
	map->all += weight;
	if (*cell > map->most)
		map->most = *cell;
	if (!map->high || bucket < map->low)
		map->low = bucket;
	if (bucket >= map->high)
		map->high = bucket + 1;
}

double nt_heatmap_cell(const struct nt_heatmap *map, uint32_t column, uint32_t bucket)
{
	return map->cells[(size_t)column * map->rows + bucket];
}

/* The first time that falls into the column, so upward. */
int64_t nt_heatmap_column_ts(const struct nt_heatmap *map, uint32_t column)
{
	unsigned __int128 span = (uint64_t)map->end_ts - (uint64_t)map->begin_ts;

	return map->begin_ts + (int64_t)((span * column + map->columns - 1) / map->columns);
}

unsigned int nt_heat_level(double count, double most)
{
	double level;

	if (!(count > 0))
		return 0;
	if (count >= most || most <= 1)
		return NT_HEAT_LEVELS;
	level = 1 + floor(NT_HEAT_LEVELS * log(count) / log(most));
	return level < 1 ? 1 : level > NT_HEAT_LEVELS ? NT_HEAT_LEVELS : (unsigned int)level;
}

double nt_heat_level_begin(unsigned int level, double most)
{
	double begin = level <= 1 || most <= 1 ? 1 : ceil(pow(most, (double)(level - 1) / NT_HEAT_LEVELS) - 1e-9);

	return begin > most ? most : begin;
}

uint64_t nt_heat_step(uint64_t span_ns)
{
	uint64_t least = span_ns / 10 + (span_ns % 10 != 0), power = 1;

	while (10 * power <= least)
		power *= 10;
	if (least <= power)
		return power;
	return least <= 2 * power ? 2 * power : least <= 5 * power ? 5 * power : 10 * power;
}
