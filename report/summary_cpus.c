// SPDX-License-Identifier: GPL-2.0-only
/*
 * summary_cpus.c - see summary_cpus.h.
 */
#include "report/summary_cpus.h"

#include <stdio.h>

#include "report/output.h"
#include "report/timeline.h"

/* Columns of NT_SUMMARY_CPUS_SQL behind the owners. */
enum { COLUMN_ALL = 1 + NT_OWNER_COUNT, COLUMN_EVENTS, COLUMN_LOST, COLUMN_LOST_SAMPLES, COLUMN_STOLEN };

struct line {
	bool is_total;
	int cpu;
	uint64_t ns[NT_OWNER_COUNT];
	uint64_t there_ns; /* all but offline */
	int64_t events, lost, lost_samples; /* of the lost: samples */
	bool has_stolen;
	uint64_t stolen_ns;
};

static struct line read_line(sqlite3_stmt *statement)
{
	struct line line = {.is_total = sqlite3_column_type(statement, 0) == SQLITE_NULL};

	line.cpu = sqlite3_column_int(statement, 0);
	for (int owner = 0; owner < NT_OWNER_COUNT; owner++)
		line.ns[owner] = (uint64_t)sqlite3_column_int64(statement, 1 + owner);
	line.there_ns = (uint64_t)sqlite3_column_int64(statement, COLUMN_ALL) - line.ns[NT_OWNER_OFFLINE];
	line.events = sqlite3_column_int64(statement, COLUMN_EVENTS);
	line.lost = sqlite3_column_int64(statement, COLUMN_LOST);
	line.lost_samples = sqlite3_column_int64(statement, COLUMN_LOST_SAMPLES);
	line.has_stolen = sqlite3_column_type(statement, COLUMN_STOLEN) != SQLITE_NULL;
	line.stolen_ns = (uint64_t)sqlite3_column_int64(statement, COLUMN_STOLEN);
	return line;
}

/* `offline` has a column only where a CPU was: rare, and the line is long. */
static bool is_shown(int owner, bool with_offline)
{
	return owner != NT_OWNER_OFFLINE || with_offline;
}

static void print_header(bool with_offline)
{
	printf("%-4s", "CPU");
	for (int owner = 0; owner < NT_OWNER_COUNT; owner++) {
		if (is_shown(owner, with_offline))
			printf(" %9s", nt_owner_name((enum nt_owner)owner));
	}
	printf(" %12s %10s\n", "events", "lost");
}

static void print_line(const struct line *line, bool with_offline)
{
	char text[NT_HUMAN_MAX];

	if (line->is_total)
		printf("%-4s", "all");
	else
		printf("%-4d", line->cpu);
	for (int owner = 0; owner < NT_OWNER_COUNT; owner++) {
		if (is_shown(owner, with_offline))
			printf(" %9s",
			       nt_human_share(text, line->ns[owner],
					      line->there_ns +
						      (owner == NT_OWNER_OFFLINE ? line->ns[NT_OWNER_OFFLINE] : 0)));
	}
	printf(" %12s", nt_human_count(text, line->events));
	printf(" %10s\n%4s", nt_human_count(text, line->lost), "");
	for (int owner = 0; owner < NT_OWNER_COUNT; owner++) {
		if (is_shown(owner, with_offline))
			printf(" %9s", nt_human_ns(text, line->ns[owner]));
	}
	putchar('\n');
}

/* What the numbers come to, and how sure that is. */
static void print_sentences(const struct line *total)
{
	const uint64_t *ns = total->ns;
	uint64_t net = ns[NT_OWNER_NET_RX] + ns[NT_OWNER_NET_TX] + ns[NT_OWNER_SEND] + ns[NT_OWNER_RECV];
	char part[NT_HUMAN_MAX], whole[NT_HUMAN_MAX], share[NT_HUMAN_MAX];

	printf("\nNetwork stack (net_rx + net_tx + send + recv): %s of %s of CPU time, %s", nt_human_ns(part, net),
	       nt_human_ns(whole, total->there_ns), nt_human_share(share, net, total->there_ns));
	if (ns[NT_OWNER_UNCOVERED])
		printf("; up to %s if all uncovered time was its",
		       nt_human_share(share, net + ns[NT_OWNER_UNCOVERED], total->there_ns));
	puts(".");
	if (total->lost > total->lost_samples)
		printf("%s records were lost; the time about them is uncovered and charged to nobody.\n",
		       nt_human_count(part, total->lost - total->lost_samples));
	if (total->lost_samples)
		printf("%s samples were lost; no time is uncovered by that.\n",
		       nt_human_count(part, total->lost_samples));
	if (total->has_stolen && total->stolen_ns)
		printf("Of all this, up to %s (%s) was stolen by the hypervisor; it is inside whoever ran.\n",
		       nt_human_ns(part, total->stolen_ns), nt_human_share(share, total->stolen_ns, total->there_ns));
}

static bool has_offline(struct nt_db *db, int64_t session_id)
{
	sqlite3_stmt *statement =
		nt_db_prepare(db, "SELECT 1 FROM net_cost_cpu WHERE session_id = ? AND owner = 'offline'", NULL);
	bool has;

	sqlite3_bind_int64(statement, 1, session_id);
	has = sqlite3_step(statement) == SQLITE_ROW;
	sqlite3_finalize(statement);
	return has;
}

int nt_summary_print_cpus(struct nt_db *db, int64_t session_id)
{
	bool with_offline = has_offline(db, session_id);
	sqlite3_stmt *statement = nt_db_prepare(db, NT_SUMMARY_CPUS_SQL, NULL);
	struct line line = {0};
	int step;

	if (!statement)
		return -1;
	sqlite3_bind_int64(statement, 1, session_id);
	sqlite3_bind_int(statement, 2, -1);
	print_header(with_offline);
	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		line = read_line(statement);
		print_line(&line, with_offline);
	}
	sqlite3_finalize(statement);
	if (step != SQLITE_DONE)
		return nt_db_fail(db, "the summary cannot be made");
	print_sentences(&line);
	return 0;
}
