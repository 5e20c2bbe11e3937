// SPDX-License-Identifier: GPL-2.0-only
/* by.c - see by.h. */
#include "report/query/by.h"

#include <stdio.h>
#include <string.h>

#define COSTS NT_BY_OF_COSTS
#define LATENCIES NT_BY_OF_LATENCIES
#define FLOWS NT_BY_OF_FLOWS
#define STAGES (NT_BY_OF_STAGES | NT_BY_OF_FLAMES)

static const struct {
	const char *name;
	unsigned int commands; /* that have it */
} groupings[NT_BY_COUNT] = {
	[NT_BY_PROGRAM] = {"program", COSTS | LATENCIES},
	[NT_BY_PROCESS] = {"process", COSTS | LATENCIES | STAGES},
	[NT_BY_PAYER] = {"payer", STAGES},
	[NT_BY_FLOW] = {"flow", FLOWS},
	[NT_BY_SRC] = {"src", FLOWS},
	[NT_BY_DST] = {"dst", FLOWS},
	[NT_BY_PORT] = {"port", COSTS | LATENCIES | FLOWS},
	[NT_BY_PEER] = {"peer", COSTS},
	[NT_BY_CGROUP] = {"cgroup", COSTS | LATENCIES | STAGES},
	[NT_BY_SOCKET] = {"socket", COSTS | LATENCIES},
	[NT_BY_IFACE] = {"iface", COSTS | LATENCIES},
	[NT_BY_CPU] = {"cpu", LATENCIES | STAGES},
	[NT_BY_TIME] = {"time", NT_BY_OF_STAGES},
};

const char *nt_by_name(enum nt_by by)
{
	return groupings[by].name;
}

enum nt_by nt_by_nth(enum nt_by_of commands, size_t i)
{
	for (int by = NT_BY_NONE + 1; by < NT_BY_COUNT; by++) {
		if (groupings[by].commands & commands && !i--)
			return (enum nt_by)by;
	}
	return NT_BY_NONE;
}

const char *nt_by_words(enum nt_by_of commands, char text[NT_BY_WORDS_MAX])
{
	enum nt_by by;
	size_t at = 0;

	for (size_t i = 0; (by = nt_by_nth(commands, i)) != NT_BY_NONE && at < NT_BY_WORDS_MAX; i++) {
		const char *before = !i ? "" : nt_by_nth(commands, i + 1) == NT_BY_NONE ? " or " : ", ";

		at += (size_t)snprintf(text + at, NT_BY_WORDS_MAX - at, "%s%s", before, nt_by_name(by));
	}
	return text;
}

int nt_by_choose(const char *word, enum nt_by_of commands, enum nt_by *by, char error[NT_ERROR_MAX])
{
	char words[NT_BY_WORDS_MAX];

	*by = NT_BY_NONE;
	for (size_t i = 0; word && (*by = nt_by_nth(commands, i)) != NT_BY_NONE; i++) {
		if (!strcmp(word, nt_by_name(*by)))
			return 0;
	}
	return word ? nt_fail(error, "--by %.100s: choose %s.", word, nt_by_words(commands, words)) : 0;
}
