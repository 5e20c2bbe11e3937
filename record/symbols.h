/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbols.h - names for addresses of kernel code. Reads /proc/kallsyms, never on the path of an event.
 *
 * The table of names is read before the recording. Code that comes later (a module, a BPF program) is not in it. Then a
 * thread reads the table again, since that takes longer than a ring takes to fill, and names that were missing or may
 * have changed are put once more. An address that no table has keeps no name.
 */
#pragma once

#include <pthread.h>

#include "record/ids.h"

struct nt_symbol_entry {
	uint64_t address;
	uint32_t name; /* offset in `names`: the symbol, a zero, the module ("" for the kernel proper), a zero */
};

/* /proc/kallsyms as it was. */
struct nt_symbol_table {
	struct nt_symbol_entry *entries; /* by address */
	size_t n_entries, capacity;
	struct nt_buf names;
	uint64_t modules; /* tells whether modules have come or gone since */
};

struct nt_symbols {
	struct nt_symbol_table table;
	struct nt_symbol_table fresh; /* the reader's, while it is at work; then ours */
	pthread_t reader;
	bool is_reading;
	int has_read; /* set by the reader when it has done */
	unsigned int pause, paused; /* calls to leave out before the next reading, and how many have been */
	uint32_t done; /* ids below this have been looked at */
	uint32_t asked; /* as `done` was when the reader began: those above are not surely in its table */
	uint32_t unsure; /* from this on by a table that may have been too old; 0: none */
	bool is_on;
};

/* Reads the table, before a recording that will need it. 0 or -ENOMEM. */
int nt_symbols_init(struct nt_symbols *symbols);
/*
 * Where the n functions are, by their names; 0: not there. NULL is no name. All are 0 where the kernel hides addresses.
 */
void nt_symbols_look_up(const char *const *names, size_t n, uint64_t *addresses);
/* Sentence: why there are no names; NULL if there are, or none are asked for. */
const char *nt_symbols_uncovered(const struct nt_symbols *symbols);
void nt_symbols_release(struct nt_symbols *symbols);

enum nt_symbols_when {
	NT_SYMBOLS_SOON, /* by the table at hand; if a new one is needed, again when it is there */
	NT_SYMBOLS_NOW, /* a chunk ends: by the table at hand */
	NT_SYMBOLS_LAST /* the recording has ended: by a new table if need be, however long that takes */
};
/* Puts what is known of each address that has been referred to since the call before. 0 or -ENOMEM. */
int nt_symbols_resolve(struct nt_symbols *symbols, struct nt_ids *ids, uint64_t now_ns, enum nt_symbols_when when);
