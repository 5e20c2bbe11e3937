// SPDX-License-Identifier: GPL-2.0-only
/*
 * terminal.c - see terminal.h. Asks the terminal and the environment.
 */
#include "report/out/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/util/array.h"

static uint32_t width_elsewhere = 80;

void nt_terminal_set_width(uint32_t columns)
{
	width_elsewhere = columns;
}

/* The first of these that is set, and not to "", decides. */
static bool has_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < NT_COUNT(names); i++) {
		const char *value = getenv(names[i]);

		if (value && value[0])
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

static bool is_dumb(void)
{
	const char *name = getenv("TERM");

	return !name || !name[0] || !strcmp(name, "dumb");
}

struct nt_terminal nt_terminal_find(FILE *out, enum nt_format format)
{
	struct nt_terminal terminal = {.width = width_elsewhere};
	struct winsize size = {0};

	if (format != NT_FORMAT_TABLE || !isatty(fileno(out)))
		return terminal;
	terminal.is_terminal = true;
	terminal.colour = !getenv("NO_COLOR") && !is_dumb();
	terminal.utf8 = has_utf8() && !is_dumb();
	if (!ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col)
		terminal.width = size.ws_col < 40 ? 40 : size.ws_col > 400 ? 400 : size.ws_col;
	return terminal;
}
