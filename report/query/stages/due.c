// SPDX-License-Identifier: GPL-2.0-only
/*
 * due.c - see due.h.
 */
#include "report/query/stages/due.h"

#include <string.h>

#include "report/query/cpus/lanes.h"

#define DUE_LEAST 100
#define SHORT_PERCENT 90

struct nt_stage_clock nt_stage_clock_of(const char *rate, const char *kept)
{
	/* As docs/limits.md has it: in hard interrupts the clock does not come. */
	const unsigned int running =
		NT_NETWORK_OWNERS | 1u << NT_OWNER_SOFTIRQ | 1u << NT_OWNER_TASK | 1u << NT_OWNER_IDLE;
	struct nt_stage_clock clock = {.owners = kept && !strcmp(kept, "all") ? running : NT_NETWORK_OWNERS};
	size_t digits = rate ? strspn(rate, "0123456789") : 0;
	uint32_t hz = 0;

	if (!digits || rate[digits] || digits > 6)
		return clock;
	for (size_t i = 0; i < digits; i++)
		hz = hz * 10 + (uint32_t)(rate[i] - '0');
	clock.rate_hz = hz <= NT_STAGE_RATE_MAX ? hz : 0;
	return clock;
}

int nt_stage_clock_read(struct nt_db *db, int64_t session_id, struct nt_stage_clock *clock)
{
	sqlite3_stmt *row = nt_db_query(
		db, "SELECT (" NT_META_SQL(NT_META_STACKS_HZ) "), (" NT_META_SQL(NT_META_STACKS) ")", session_id);

	if (nt_db_next(row))
		*clock = nt_stage_clock_of(nt_db_text(row, 0), nt_db_text(row, 1));
	return nt_db_end(db, row, "the rate of the samples cannot be read");
}

bool nt_stage_clock_tells(const struct nt_stage_clock *clock, unsigned int owner)
{
	return clock->rate_hz && (clock->owners >> owner & 1);
}

uint64_t nt_stage_due(const struct nt_stage_clock *clock, uint64_t ns)
{
	return (uint64_t)(((unsigned __int128)ns * clock->rate_hz + 500000000) / 1000000000);
}

/*
 * How many ticks fall into an owner's time is chance, with a deviation of no more than the root of those due: 84 of a
 * hundred are no sign of anything, 80 hardly are; that is two deviations.
 */
bool nt_stage_is_short(uint64_t samples, uint64_t due)
{
	unsigned __int128 missing = samples < due ? due - samples : 0;

	if (due < DUE_LEAST)
		return false;
	return missing * 100 > (unsigned __int128)due * (100 - SHORT_PERCENT) &&
	       missing * missing > (unsigned __int128)due * 4;
}
