// SPDX-License-Identifier: GPL-2.0-only
/*
 * demangle.c - see demangle.h. libiberty gives the text piece by piece and cannot be told to stop, so a jump leaves it.
 * Its own memory is on the stack, except for an identifier of Rust in Punycode, which would leak.
 */
#include "report/symbols/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#define MANGLED_MAX 4096 /* bytes: it takes stack for each */

struct text {
	char *out;
	size_t size;
	jmp_buf too_long;
};

static void append(const char *piece, size_t size, void *arg)
{
	struct text *text = arg;

	if (size >= NT_DEMANGLED_SIZE - text->size)
		longjmp(text->too_long, 1);
	if (size)
		memcpy(text->out + text->size, piece, size); /* an empty piece may be NULL */
	text->size += size;
}

typedef int demangle_fn(const char *name, int options, demangle_callbackref callback, void *arg);

static bool try(demangle_fn *demangle, const char *name, char *out)
{
	struct text text = {.out = out};

	if (setjmp(text.too_long) || !demangle(name, DMGL_NO_OPTS, append, &text))
		return false;
	out[text.size] = 0;
	return text.size;
}

/* Rust's first: its older names look like those of C++. */
bool nt_demangle(const char *name, char out[NT_DEMANGLED_SIZE])
{
	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') || strlen(name) > MANGLED_MAX)
		return false;
	return try(rust_demangle_callback, name, out) || try(cplus_demangle_v3_callback, name, out);
}
