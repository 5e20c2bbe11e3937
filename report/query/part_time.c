// SPDX-License-Identifier: GPL-2.0-only
/*
 * part_time.c - see part_time.h.
 */
#include "report/query/part_time.h"

#include <string.h>
#include <time.h>

const char *nt_part_utc(char text[NT_HUMAN_MAX], const struct nt_session *session, int64_t ts)
{
	uint64_t ns = (uint64_t)session->start_realtime_ns + ((uint64_t)ts - (uint64_t)session->start_ts);
	unsigned long long fraction = ns % 1000000000;
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm parts;
	size_t n = 0;
	int digits = 9;

	for (; digits && fraction % 10 == 0; digits--)
		fraction /= 10;
	if (session->start_realtime_ns && gmtime_r(&seconds, &parts))
		n = strftime(text, NT_HUMAN_MAX, "%Y-%m-%dT%H:%M:%S", &parts);
	if (!n)
		snprintf(text, NT_HUMAN_MAX, "-");
	else if (digits)
		snprintf(text + n, NT_HUMAN_MAX - n, ".%0*lluZ", digits, fraction);
	else
		snprintf(text + n, NT_HUMAN_MAX - n, "Z");
	return text;
}

const char *nt_part_seconds(char text[NT_HUMAN_MAX], uint64_t ns)
{
	nt_human_seconds(text, ns);
	*strchr(text, ' ') = 0; /* its unit */
	return text;
}

const char *nt_part_since(char text[NT_HUMAN_MAX], const struct nt_session *session, int64_t ts)
{
	return nt_part_seconds(text, (uint64_t)ts - (uint64_t)session->start_ts);
}

void nt_part_put_time(FILE *line, const struct nt_session *session, int64_t from_ts, int64_t to_ts)
{
	char from[NT_HUMAN_MAX], to[NT_HUMAN_MAX], wall[NT_HUMAN_MAX], span[NT_HUMAN_MAX], of[NT_HUMAN_MAX];

	fprintf(line, "from %s s (%s) to %s s: %s", nt_part_since(from, session, from_ts),
		nt_part_utc(wall, session, from_ts), nt_part_since(to, session, to_ts),
		nt_human_ns(span, (uint64_t)to_ts - (uint64_t)from_ts));
	if (session->recording_ns > 0)
		fprintf(line, " of a part of a recording of %s", nt_human_ns(of, (uint64_t)session->recording_ns));
	else if (from_ts == session->start_ts && to_ts == session->end_ts)
		fputs(session->dropped_ns ? ", all that was kept of the recording" : ", all of the recording", line);
	else
		fprintf(line, " of a recording of %s",
			nt_human_ns(of, (uint64_t)session->end_ts - (uint64_t)session->start_ts));
}
