/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * symbols.h - names for addresses of the kernel's code, and for the reasons that it gives for drops. Reads /proc/kallsyms and
 * the kernel's type information, never on the path of an event.
 */
#ifndef NT_RECORD_SYMBOLS_H
#define NT_RECORD_SYMBOLS_H

#include "record/ids.h"

struct nt_symbol_entry {
	uint64_t address;
	uint32_t name;			/* offset in `names`: the symbol, a zero, the module ("" for the kernel proper), a zero */
};

struct nt_symbols {
	struct nt_symbol_entry *entries;	/* by address */
	size_t n_entries, capacity;
	struct nt_buf names;
	uint64_t modules;			/* tells whether modules have come or gone since the table was read */
	uint32_t done;				/* ids up to here have been looked at */
	struct btf *btf;			/* for the reasons; NULL: there are none to be had */
	bool is_on;
};

/* Reads the table, before a recording that will need it: that takes as long as a ring needs to fill. 0 or -ENOMEM. */
int nt_symbols_init(struct nt_symbols *symbols);
/* Sentence: why there are no names; NULL if there are, or none are asked for. */
const char *nt_symbols_uncovered(const struct nt_symbols *symbols);
void nt_symbols_release(struct nt_symbols *symbols);
/* Puts what is known of each address that has been referred to since the call before. 0 or -ENOMEM. */
int nt_symbols_resolve(struct nt_symbols *symbols, struct nt_ids *ids, uint64_t now_ns);
/* Puts the names of all reasons for drops. 0 or -ENOMEM. */
int nt_symbols_put_reasons(const struct nt_symbols *symbols, struct nt_ids *ids, uint64_t now_ns);

#endif
