// SPDX-License-Identifier: GPL-2.0-only
/*
 * drawing.c - the part of result.h that draws.
 */
#include "report/query/cpus/result.h"

#include <string.h>

#include "report/out/prose.h"
#include "report/query/latency/heatmap.h"
#include "report/query/part_time.h"
#include "report/util/array.h"

#define LABEL 7 /* characters before the frame */
#define LEGEND "         " /* what lines of the legend begin with */

/* Capitals are the network stack. Colours are those of the usual palette of 256: of the cell, and of its letter. */
static const struct {
	char letter;
	unsigned char back, front;
} looks[NT_LANE_KINDS + 1] = {
	[NT_OWNER_HARDIRQ] = {'h', 160, 231},  [NT_OWNER_NET_RX] = {'R', 27, 231}, [NT_OWNER_NET_TX] = {'X', 45, 16},
	[NT_OWNER_SOFTIRQ] = {'q', 208, 16},   [NT_OWNER_SEND] = {'S', 34, 16},	   [NT_OWNER_RECV] = {'V', 148, 16},
	[NT_OWNER_TASK] = {'t', 239, 247},     [NT_OWNER_IDLE] = {'_', 235, 240},  [NT_OWNER_OFFLINE] = {'x', 16, 250},
	[NT_OWNER_UNCOVERED] = {'?', 199, 16}, [NT_LANE_OTHER] = {'.', 235, 240},  [NT_LANE_KINDS] = {' ', 16, 250},
};
#define COLOUR_NETWORK 39
#define COLOUR_UNCOVERED 199
#define COLOUR_OFFLINE 250

/* ---- a CPU ---- */

static void draw_owners(const struct nt_lanes *lanes, const struct nt_lane *lane, FILE *out, bool colour)
{
	unsigned int before = NT_LANE_KINDS + 1;
	char label[16];

	snprintf(label, sizeof(label), "CPU %u", lane->cpu);
	fprintf(out, "%*s |", LABEL, label);
	for (uint32_t column = 0; column < lanes->columns; column++) {
		unsigned int kind = nt_lane_most(lane, column);

		if (colour && kind != before)
			fprintf(out, "\033[48;5;%d;38;5;%dm", looks[kind].back, looks[kind].front);
		fputc(looks[kind].letter, out);
		before = kind;
	}
	fprintf(out, "%s|\n", colour ? "\033[0m" : "");
}

/*
 * One character for a part of a cell, finer where the part is small: a cell with 2 % of network is to be told from one
 * with 10 %. Blank is nothing at all.
 */
static const struct {
	uint32_t most; /* of a thousand */
	const char *block;
} blocks[] = {
	{20, "▁"}, {50, "▂"}, {120, "▃"}, {250, "▄"}, {500, "▅"}, {750, "▆"}, {1000, "▇"},
};
#define BLOCK_ALL "█"
#define N_BLOCKS NT_COUNT(blocks)

static void draw_block(FILE *out, unsigned __int128 part, uint64_t whole)
{
	size_t i = 0;

	if (part >= whole) {
		fputs(BLOCK_ALL, out);
		return;
	}
	while (i + 1 < N_BLOCKS && part * 1000 > (unsigned __int128)whole * blocks[i].most)
		i++;
	fputs(blocks[i].block, out);
}

/* Tenths, rounded down; below one of them, marks. */
static char digit(unsigned __int128 part, uint64_t whole)
{
	if (part >= whole)
		return '#';
	if (part * 100 < whole)
		return '.';
	if (part * 20 < whole)
		return '-';
	if (part * 10 < whole)
		return '+';
	return (char)('0' + (int)(part * 10 / whole));
}

static void draw_part(FILE *out, uint64_t part, uint64_t whole, bool with_blocks)
{
	if (!part)
		fputc(' ', out);
	else if (with_blocks)
		draw_block(out, part, whole);
	else
		fputc(digit(part, whole), out);
}

static void draw_parts(const struct nt_lanes *lanes, const struct nt_lane *lane, FILE *out, const char *label,
		       unsigned int kinds, int colour, const struct nt_terminal *terminal)
{
	fprintf(out, "%*s |", LABEL, label);
	if (terminal->colour)
		fprintf(out, "\033[38;5;%dm", colour);
	for (uint32_t column = 0; column < lanes->columns; column++) {
		uint64_t whole =
			(uint64_t)nt_lanes_column_ts(lanes, column + 1) - (uint64_t)nt_lanes_column_ts(lanes, column);

		draw_part(out, nt_lane_cell(lane, column, kinds), whole, terminal->utf8);
	}
	fprintf(out, "%s|\n", terminal->colour ? "\033[0m" : "");
}

/* ---- below ---- */

/* The first multiple of the step that is not before `ns`. */
static uint64_t first_tick(uint64_t ns, uint64_t step)
{
	return ns % step ? ns + (step - ns % step) : ns;
}

static void draw_ticks(const struct nt_lanes *lanes, FILE *out, uint64_t begin, uint64_t end, uint64_t step,
		       int64_t since_ts)
{
	uint64_t tick = first_tick(begin, step);

	fprintf(out, "%*s +", LABEL, "");
	for (uint32_t column = 0; column < lanes->columns; column++) {
		bool is_tick = false;

		for (; tick < end && nt_lanes_column_of(lanes, since_ts + (int64_t)tick) == column; tick += step)
			is_tick = true;
		fputc(is_tick ? '|' : '-', out);
	}
	fputs("+\n", out);
}

static void draw_labels(const struct nt_lanes *lanes, FILE *out, uint64_t begin, uint64_t end, uint64_t step,
			int64_t since_ts)
{
	const size_t width = lanes->columns + 1; /* with the frame at the right */
	char text[NT_HUMAN_MAX];
	size_t at = 0;

	fprintf(out, "%*s  ", LABEL, "s");
	for (uint64_t tick = first_tick(begin, step); tick < end; tick += step) {
		size_t column = nt_lanes_column_of(lanes, since_ts + (int64_t)tick);
		size_t length = strlen(nt_part_seconds(text, tick));

		if (column + length > width)
			column = length < width ? width - length : 0;
		/* A label that would run into the one before is left out; its tick is there. */
		if (at && column < at + 1)
			continue;
		fprintf(out, "%*s%s", (int)(column - at), "", text);
		at = column + length;
	}
	fputc('\n', out);
}

static void draw_axis(const struct nt_lanes *lanes, FILE *out, int64_t since_ts)
{
	uint64_t begin = (uint64_t)lanes->from_ts - (uint64_t)since_ts;
	uint64_t end = (uint64_t)lanes->to_ts - (uint64_t)since_ts, step = nt_heat_step(end - begin);

	draw_ticks(lanes, out, begin, end, step, since_ts);
	draw_labels(lanes, out, begin, end, step, since_ts);
}

/* The owners that are in the picture, as many in a line as it has room for. */
static void draw_owners_legend(const uint64_t total[NT_LANE_KINDS], FILE *out, bool colour)
{
	struct nt_prose prose;
	const char *between = "";

	nt_prose_begin(&prose, out);
	for (unsigned int kind = 0; kind < NT_LANE_KINDS; kind++) {
		if (!total[kind])
			continue;
		fputs(between, prose.line);
		if (colour)
			fprintf(prose.line, "\033[48;5;%d;38;5;%dm", looks[kind].back, looks[kind].front);
		fprintf(prose.line, "%c%s" NT_STUCK "%s", looks[kind].letter, colour ? "\033[0m" : "",
			nt_lane_kind_name(kind));
		between = ", ";
	}
	nt_prose_end(&prose, LEGEND);
}

static void draw_parts_legend(FILE *out, bool with_blocks)
{
	struct nt_prose prose;

	if (!with_blocks) {
		nt_print_prose(out, LEGEND,
			       "net: the network stack's share in tenths, rounded down. Below a tenth: + from 5 %%, - "
			       "from 1 %%, . less. #: all of it. Blank: none at all.");
		return;
	}
	nt_prose_begin(&prose, out);
	fputs("net: the network stack's share, up to", prose.line);
	for (size_t i = 0; i + 1 < N_BLOCKS; i++)
		fprintf(prose.line, "%s %s" NT_STUCK "%u" NT_STUCK "%%", i ? "," : "", blocks[i].block,
			blocks[i].most / 10);
	fprintf(prose.line, ", %s more, " BLOCK_ALL " all of it; blank: none at all.", blocks[N_BLOCKS - 1].block);
	nt_prose_end(&prose, LEGEND);
}

static void draw_legend(const uint64_t total[NT_LANE_KINDS], FILE *out, const struct nt_terminal *terminal)
{
	draw_owners_legend(total, out, terminal->colour);
	nt_print_prose(out, LEGEND,
		       "A cell shows the owner of most of its time. The owners of the network stack, in capitals, "
		       "count as one.");
	draw_parts_legend(out, terminal->utf8);
	if (total[NT_OWNER_UNCOVERED])
		nt_print_prose(out, LEGEND, "lost: the share that is uncovered, likewise.");
}

static void draw_cpu(const struct nt_lanes *lanes, const struct nt_lane *lane, FILE *out,
		     const struct nt_terminal *terminal)
{
	draw_owners(lanes, lane, out, terminal->colour);
	if (!nt_lane_sum(lane->total, ~(1u << NT_OWNER_OFFLINE)))
		return; /* away all the time: that says it all */
	draw_parts(lanes, lane, out, "net", NT_NETWORK_OWNERS, COLOUR_NETWORK, terminal);
	/* However little it is: who had more of the cell would hide it. */
	if (lane->total[NT_OWNER_UNCOVERED])
		draw_parts(lanes, lane, out, "lost", 1u << NT_OWNER_UNCOVERED, COLOUR_UNCOVERED, terminal);
	if (lane->total[NT_OWNER_OFFLINE])
		draw_parts(lanes, lane, out, "offline", 1u << NT_OWNER_OFFLINE, COLOUR_OFFLINE, terminal);
}

void nt_lanes_draw(const struct nt_lanes *lanes, FILE *out, int64_t since_ts, const struct nt_terminal *terminal)
{
	uint64_t total[NT_LANE_KINDS];

	for (size_t i = 0; i < lanes->n; i++)
		draw_cpu(lanes, &lanes->lanes[i], out, terminal);
	draw_axis(lanes, out, since_ts);
	nt_lanes_total(lanes, total);
	draw_legend(total, out, terminal);
}
