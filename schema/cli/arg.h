/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arg.h - arguments that both programs take: a length of time; the known word that a misspelt one was meant to be; and
 * a path as a shell takes it, for the commands that they advise. Pure: no globals, no output, no allocation.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Reads digits with an optional fraction of up to nine digits that count. Stores the whole number and the fraction, in
 * units of 10^-9. Returns the first character behind, or NULL: there is no digit, or the number exceeds an int64_t.
 */
const char *nt_arg_number(const char *text, int64_t *whole, int64_t *billionths);

/*
 * Reads a length of time: "2.5" and "2.5s" are seconds; "2h", "2m", "300ms", "20us", "7ns" have other units. 0, or -1:
 * it is none of these, or exceeds an int64_t.
 */
int nt_arg_duration(const char *text, int64_t *ns);

/*
 * The one of `known` (ends with NULL) that is nearest to `word`, counted in letters inserted, deleted, replaced or
 * swapped with their neighbour; or NULL, if none is near enough to be what was meant. Not copied.
 */
const char *nt_arg_nearest(const char *word, const char *const *known);

/*
 * A path as a shell takes it: quoted only if it must be, without control characters, "./" before one that begins with a
 * dash. Cut if it is too long. Gives `out`.
 */
const char *nt_arg_shell(char *out, size_t size, const char *path);
