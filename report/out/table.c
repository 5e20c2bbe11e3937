// SPDX-License-Identifier: GPL-2.0-only
/*
 * table.c - see table.h.
 */
#include "report/out/table.h"

#define LEGIBLE 30 /* a name is shortened below this only when no more column can be left out for it */

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t max(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* The width of a column if names may have no more than `most`. */
static size_t capped(const struct nt_table_column *column, size_t most)
{
	return min(column->natural, max(column->least, most));
}

static size_t sum(const struct nt_table_column *columns, size_t n, size_t most)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++)
		width += columns[i].is_shown ? capped(&columns[i], most) + (i ? NT_TABLE_GAP : 0) : 0;
	return width;
}

/* The next rank in the order of importance: the least above `above` of columns that are shown, or are not; 0: none. */
static unsigned int next_rank(const struct nt_table_column *columns, size_t n, bool is_shown, unsigned int above)
{
	unsigned int found = 0;

	for (size_t i = 1; i < n; i++) {
		unsigned int rank = columns[i].rank;

		if (columns[i].is_shown == is_shown && rank > above && (!found || rank < found))
			found = rank;
	}
	return found;
}

static void show_rank(struct nt_table_column *columns, size_t n, unsigned int rank, bool is_shown)
{
	for (size_t i = 1; i < n; i++) {
		if (columns[i].rank == rank)
			columns[i].is_shown = is_shown;
	}
}

/* Of those that were left out, the more important go back if there is room for them after all. */
static void put_back(struct nt_table_column *columns, size_t n, size_t room)
{
	unsigned int most = 0;

	for (size_t i = 1; i < n; i++)
		most = columns[i].rank > most ? columns[i].rank : most;
	for (unsigned int rank = most; rank; rank--) {
		/* None of this rank is shown, unless all are. */
		if (next_rank(columns, n, false, rank - 1) != rank)
			continue;
		show_rank(columns, n, rank, true);
		show_rank(columns, n, rank, sum(columns, n, LEGIBLE) <= room);
	}
}

static void leave_out(struct nt_table_column *columns, size_t n, size_t room)
{
	unsigned int rank;

	while (sum(columns, n, LEGIBLE) > room && (rank = next_rank(columns, n, true, 0)))
		show_rank(columns, n, rank, false);
	for (size_t i = n - 1; i > 0 && sum(columns, n, 0) > room; i--)
		columns[i].is_shown = false;
	put_back(columns, n, room);
}

void nt_table_fit(struct nt_table_column *columns, size_t n, size_t room)
{
	size_t most = room;

	for (size_t i = 0; i < n; i++)
		columns[i].is_shown = true;
	if (!n)
		return;
	if (sum(columns, n, (size_t)-1) <= room) {
		most = (size_t)-1;
	} else {
		leave_out(columns, n, room);
		while (most && sum(columns, n, most) > room)
			most--;
	}
	for (size_t i = 0; i < n; i++)
		columns[i].width = capped(&columns[i], most);
	/* The rest of the room goes to the names, from the left. */
	for (size_t i = 0, left = room - min(room, sum(columns, n, most)); i < n && most < room; i++) {
		size_t more = columns[i].is_shown ? min(left, columns[i].natural - columns[i].width) : 0;

		columns[i].width += more;
		left -= more;
	}
}
