// SPDX-License-Identifier: GPL-2.0-only
/*
 * moment.c - see moment.h.
 */
#include "report/query/moment.h"

#include <string.h>
#include <time.h>

#include "schema/cli/arg.h"

#define SECOND 1000000000ll

static int parse_wall(const char *text, struct nt_moment *moment)
{
	struct tm parts = {0};
	int64_t whole, billionths = 0;
	const char *behind = strptime(text, "%Y-%m-%dT%H:%M:", &parts);

	if (!behind)
		return -1;
	text = behind;
	behind = nt_arg_number(text, &whole, &billionths);
	if (!behind || strspn(text, "0123456789") != 2 || whole > 60 || strcmp(behind, "Z") != 0)
		return -1;
	whole += timegm(&parts);
	if (whole < 0 || __builtin_mul_overflow(whole, SECOND, &moment->ns) ||
	    __builtin_add_overflow(moment->ns, billionths, &moment->ns))
		return -1;
	moment->is_wall = true;
	return 0;
}

int nt_moment_parse(const char *text, struct nt_moment *moment)
{
	*moment = (struct nt_moment){.is_given = true};
	return strchr(text, 'T') ? parse_wall(text, moment) : nt_arg_duration(text, &moment->ns);
}
