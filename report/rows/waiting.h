/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waiting.h - records of one kind and CPU that wait, by their end, until something tells what becomes of them. Records
 * come in the order of their ring, which inverts few, and those by little. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty. Owner frees with nt_waiting_release. */
struct nt_waiting {
	char *records;
	size_t first, end, size; /* bytes: those from `first` to `end` wait */
};

void nt_waiting_release(struct nt_waiting *waiting);
/* Copies a record of so many bytes, which begins with its end_ns (struct nt_record). 0 or -ENOMEM. */
int nt_waiting_add(struct nt_waiting *waiting, const void *record, size_t bytes);

/* How many wait; the first of them, others stand behind it; and the first no longer waits. */
#define NT_WAITING_N(waiting, type) (((waiting)->end - (waiting)->first) / sizeof(type))
#define NT_WAITING_FIRST(waiting, type)                                                                                \
	((const type *)(const void *)((waiting)->records ? (waiting)->records + (waiting)->first : NULL))
#define NT_WAITING_DROP(waiting, type) ((waiting)->first += sizeof(type))
