/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * progress.h - shows how far a long operation is, on stderr, if that is a terminal and the operation takes over a
 * second.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct nt_progress {
	const char *what; /* "importing demo.tape" */
	uint64_t begin_ns, shown_ns;
	bool is_terminal;
};

void nt_progress_begin(struct nt_progress *progress, const char *what);
/* `permille` of the work and `n` rows are done. Cheap enough for every few thousand rows. */
void nt_progress_show(struct nt_progress *progress, unsigned int permille, uint64_t n);
/* Takes the line away. */
void nt_progress_end(struct nt_progress *progress);
