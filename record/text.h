/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * text.h - numbers and times as the recorder prints them for people. Pure: no output, no allocation.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NT_TEXT_MAX 32 /* of a number below */

/* "1,234,567" */
const char *nt_count_text(char out[NT_TEXT_MAX], uint64_t n);
/* "76.5 MB" */
const char *nt_bytes_text(char out[NT_TEXT_MAX], uint64_t bytes);
/* "10 s", "2 min", "500 ms" */
void nt_duration_text(char *out, size_t size, uint64_t ns);

struct nt_status_figures {
	uint64_t duration_ns, events, lost, bytes;
};
/*
 * "12 s, 28,797,145 events, 0 lost, 76.5 MB" in at most `width` characters: no number is cut, those that do not fit are
 * left out.
 */
void nt_status_text(char *line, size_t width, const struct nt_status_figures *progress);
