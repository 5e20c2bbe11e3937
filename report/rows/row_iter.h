/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * row_iter.h - rows of tables (tables.h), pulled one by one: the only way in which they come, whoever makes them.
 * rows.h makes them of a tape, ahead.h in a thread, db/tape_source.h and db/scan.h for those who ask.
 */
#pragma once

#include "report/rows/tables.h"

/* The first member of what makes the rows. */
struct nt_row_iter {
	int (*next)(struct nt_row_iter *iter, const struct nt_row **out);
	unsigned int (*progress)(const struct nt_row_iter *iter);
	void (*close)(struct nt_row_iter *iter);
};

/*
 * 0: *out is the next row, good until the next call; 1: end; below 0: an error, as the function says that opened the
 * iterator.
 */
static inline int nt_row_next(struct nt_row_iter *iter, const struct nt_row **out)
{
	return iter->next(iter, out);
}

/* How far it is, of 1000: for showing progress. */
static inline unsigned int nt_row_progress(const struct nt_row_iter *iter)
{
	return iter->progress(iter);
}

/* Wherever it is. Safe on NULL. */
static inline void nt_row_close(struct nt_row_iter *iter)
{
	if (iter)
		iter->close(iter);
}
