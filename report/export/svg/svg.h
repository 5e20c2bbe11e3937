/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * svg.h - what the pictures of `flame` and `latency` have in common: the root of the file, colours for the light and
 * for the dark, texts, and a line that says what was recorded. A picture is as wide as its window. Colours stand as
 * attributes, which every viewer knows; a style sheet replaces them in the dark.
 *
 * Texts may hold anything; they are escaped. Write errors stay in the stream.
 */
#pragma once

#include <stdio.h>

#include "report/query/latency/scan.h"
#include "report/query/selection.h"

#define NT_SVG_PAPER "#ffffff"
#define NT_SVG_INK "#1b1f24"
#define NT_SVG_SOFT "#59636e"
#define NT_SVG_DARK_PAPER "#14181d"
#define NT_SVG_DARK_INK "#e3e8ee"
#define NT_SVG_DARK_SOFT "#9aa5b1"

/* A text as XML has it, in elements and in attributes with ". Characters that XML cannot hold, and bytes that are no
 * UTF-8, become U+FFFD. */
void nt_xml_text(FILE *out, const char *text);

struct nt_svg {
	int width, height; /* units of the picture; it is scaled to its window */
	const char *title;
	const char *attributes; /* more of the root's, with a blank before each; "" */
	const char *style; /* rules for both, "" */
	const char *dark; /* rules for the dark, "" */
};

/* From the XML declaration to the background. */
void nt_svg_open(FILE *out, const struct nt_svg *svg);
void nt_svg_close(FILE *out);
/* <text>, with attributes as they stand (with a blank before each); `text` is escaped, and ends with ".." after `most`
 * characters. */
void nt_svg_text(FILE *out, int x, int y, const char *attributes, const char *text, size_t most);

#define NT_SVG_SESSION_MAX 400
/* "vm, 2026-11-21 10:40:51 UTC, 2.014 s", and what of it was selected. 0, or -1 and db->error. */
void nt_svg_session(const struct nt_session *session, const struct nt_selection *selection,
		    char text[NT_SVG_SESSION_MAX]);
