// SPDX-License-Identifier: GPL-2.0-only
/*
 * lanes_people.c - the part of lanes_result.h that is for people: which time, the picture, then whose it was to the
 * nanosecond, who ran, and what else happened.
 */
#include <string.h>
#include <time.h>

#include "report/lanes_result.h"
#include "report/result.h"

#define TOP 10
#define WHO_OF_WINDOW 3

struct people {
	const struct nt_lanes_result *result;
	FILE *out;
	const struct nt_lanes_style *style;
	struct nt_printer *printer;
	sqlite3_stmt *names;
};

static int no_memory(struct nt_db *db)
{
	snprintf(db->error, sizeof(db->error), "out of memory.");
	return -1;
}

/* As --from takes it, with as many digits as it has; "-" where the wall's time is not known. */
static const char *utc(char text[NT_HUMAN_MAX], const struct nt_latency_session *session, int64_t ts)
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

static const char *since_start(char text[NT_HUMAN_MAX], const struct nt_latency_session *session, int64_t ts)
{
	return nt_lanes_seconds(text, (uint64_t)ts - (uint64_t)session->start_ts);
}

static int print_head(const struct people *people)
{
	const struct nt_lanes_part *part = &people->result->part;
	sqlite3_stmt *row = nt_db_prepare(part->db, "SELECT host, kernel FROM session WHERE session_id = ?1", NULL);
	int error = 0;

	if (!row)
		return -1;
	sqlite3_bind_int64(row, 1, part->session->id);
	if (sqlite3_step(row) == SQLITE_ROW) {
		fprintf(people->out, "session %lld: host ", (long long)part->session->id);
		nt_print_clean(people->out, nt_db_text(row, 0), strlen(nt_db_text(row, 0)));
		fputs(", Linux ", people->out);
		nt_print_clean(people->out, nt_db_text(row, 1), strlen(nt_db_text(row, 1)));
		fputc('\n', people->out);
	} else {
		error = nt_db_fail(part->db, "the session cannot be read");
	}
	sqlite3_finalize(row);
	return error;
}

/* ---- times ---- */

/* Around the heads of tables, as output.h does it. */
static const char *bold(const struct people *people)
{
	return people->style->colour ? "\033[1m" : "";
}

static const char *not_bold(const struct people *people)
{
	return people->style->colour ? "\033[0m" : "";
}

/* "from 0.2 s (2023-11-14T22:13:20.2Z) to 0.3 s: 100.0 ms, all of the recording" */
static void print_time(const struct people *people, int64_t from_ts, int64_t to_ts)
{
	const struct nt_latency_session *session = people->result->part.session;
	char from[NT_HUMAN_MAX], to[NT_HUMAN_MAX], wall[NT_HUMAN_MAX], span[NT_HUMAN_MAX], of[NT_HUMAN_MAX];

	fprintf(people->out, "from %s s (%s) to %s s: %s", since_start(from, session, from_ts),
		utc(wall, session, from_ts), since_start(to, session, to_ts),
		nt_human_ns(span, (uint64_t)to_ts - (uint64_t)from_ts));
	if (from_ts == session->start_ts && to_ts == session->end_ts)
		fputs(", all of the recording", people->out);
	else
		fprintf(people->out, " of a recording of %s",
			nt_human_ns(of, (uint64_t)session->end_ts - (uint64_t)session->start_ts));
}

/* ---- whose it was ---- */

struct columns {
	bool shown[NT_LANE_KINDS];
	int width[NT_LANE_KINDS], sum_width;
};

static int width_of(uint64_t ns, int least)
{
	char text[NT_HUMAN_MAX];
	int width = (int)strlen(nt_human_count(text, (int64_t)ns));

	return width > least ? width : least;
}

static void set_columns(struct columns *columns, const uint64_t total[NT_LANE_KINDS])
{
	for (unsigned int kind = 0; kind < NT_LANE_KINDS; kind++) {
		columns->shown[kind] = total[kind] > 0;
		columns->width[kind] = width_of(total[kind], (int)strlen(nt_lane_kind_name(kind)));
		if (columns->width[kind] < 8)
			columns->width[kind] = 8; /* "100.00 %" */
	}
	columns->sum_width = width_of(nt_lane_sum(total, ~0u), 8);
}

/* Two lines: nanoseconds, and below them parts of the sum. */
static void print_owned(FILE *out, const struct columns *columns, const char *label, const uint64_t ns[NT_LANE_KINDS])
{
	uint64_t sum = nt_lane_sum(ns, ~0u);
	char text[NT_HUMAN_MAX];

	fprintf(out, "%-5s", label);
	for (unsigned int kind = 0; kind < NT_LANE_KINDS; kind++) {
		if (columns->shown[kind])
			fprintf(out, " %*s", columns->width[kind], nt_human_count(text, (int64_t)ns[kind]));
	}
	fprintf(out, " %*s\n%-5s", columns->sum_width, nt_human_count(text, (int64_t)sum), "");
	for (unsigned int kind = 0; kind < NT_LANE_KINDS; kind++) {
		if (columns->shown[kind])
			fprintf(out, " %*s", columns->width[kind], nt_human_share(text, ns[kind], sum));
	}
	fprintf(out, " %*s\n", columns->sum_width, nt_human_share(text, sum, sum));
}

/* A recording has an owner for each nanosecond; a database may be anybody's. */
static void print_unaccounted(FILE *out, const struct nt_lanes *lanes)
{
	uint64_t span = (uint64_t)lanes->to_ts - (uint64_t)lanes->from_ts;
	char sum[NT_HUMAN_MAX], of[NT_HUMAN_MAX];

	for (size_t i = 0; i < lanes->n; i++) {
		uint64_t owned = nt_lane_sum(lanes->lanes[i].total, ~0u);

		if (owned != span)
			fprintf(out, "CPU %u: %s ns have an owner, and this time is %s ns: see nettape-report check.\n",
				lanes->lanes[i].cpu, nt_human_count(sum, (int64_t)owned),
				nt_human_count(of, (int64_t)span));
	}
}

static void print_network(const struct people *people, const uint64_t total[NT_LANE_KINDS])
{
	uint64_t network = nt_lane_sum(total, NT_LANE_NETWORK), uncovered = total[NT_OWNER_UNCOVERED];
	uint64_t there = nt_lane_sum(total, ~(1u << NT_OWNER_OFFLINE));
	bool of_process = people->result->part.selection->process != NULL;
	char part[NT_HUMAN_MAX], whole[NT_HUMAN_MAX], share[NT_HUMAN_MAX];

	fprintf(people->out, "\nNetwork stack (net_rx + net_tx + send + recv)%s: %s of %s of CPU time, %s",
		of_process ? ", in its time" : "", nt_human_ns(part, network), nt_human_ns(whole, there),
		nt_human_share(share, network, there));
	if (uncovered)
		fprintf(people->out, "; up to %s if all uncovered time was its",
			nt_human_share(share, network + uncovered, there));
	fputs(".\n", people->out);
	if (of_process)
		fputs("net_rx, net_tx, softirq and hardirq ran in its time, for whomever, and are not its own cost; "
		      "other is whatever\nelse the CPUs did, idle too.\n",
		      people->out);
}

static void print_totals(const struct people *people, const struct nt_lanes *lanes)
{
	uint64_t total[NT_LANE_KINDS];
	struct columns columns;
	char label[16];

	nt_lanes_total(lanes, total);
	set_columns(&columns, total);
	fprintf(people->out, "\nWhose the time was, in ns\n%s%-5s", bold(people), "CPU");
	for (unsigned int kind = 0; kind < NT_LANE_KINDS; kind++) {
		if (columns.shown[kind])
			fprintf(people->out, " %*s", columns.width[kind], nt_lane_kind_name(kind));
	}
	fprintf(people->out, " %*s%s\n", columns.sum_width, "sum", not_bold(people));
	for (size_t i = 0; i < lanes->n; i++) {
		snprintf(label, sizeof(label), "%u", lanes->lanes[i].cpu);
		print_owned(people->out, &columns, label, lanes->lanes[i].total);
	}
	if (lanes->n > 1)
		print_owned(people->out, &columns, "all", total);
	print_unaccounted(people->out, lanes);
	print_network(people, total);
}

/* ---- who ran ---- */

static struct nt_cell name_cell(const struct people *people, bool found, int column)
{
	if (found && sqlite3_column_type(people->names, column) != SQLITE_NULL)
		return nt_result_cell(people->names, column);
	return column % 2 ? (struct nt_cell){.type = NT_CELL_NULL} : nt_cell_text("(unknown)");
}

static const unsigned int who_kinds[] = {NT_OWNER_SEND,	  NT_OWNER_RECV,    NT_OWNER_TASK,   NT_OWNER_NET_RX,
					 NT_OWNER_NET_TX, NT_OWNER_SOFTIRQ, NT_OWNER_HARDIRQ};
#define N_WHO_KINDS (sizeof(who_kinds) / sizeof(who_kinds[0]))
#define N_WHO_COLUMNS (6 + N_WHO_KINDS)

static int print_who_row(const struct people *people, const struct nt_lanes *lanes, const struct nt_lane_who *who)
{
	double span = (double)((uint64_t)lanes->to_ts - (uint64_t)lanes->from_ts);
	struct nt_cell cells[N_WHO_COLUMNS];
	uint64_t ran = nt_lane_who_ran(who);
	bool found;

	if (nt_lanes_name(&people->result->part, people->names, who->utid, &found))
		return -1;
	for (int i = 0; i < 4; i++)
		cells[i] = name_cell(people, found && who->utid, (i + 2) % 4);
	if (!who->utid) {
		cells[0] = nt_cell_text("(while idle)");
		cells[2] = nt_cell_text("");
	}
	cells[4] = nt_cell_integer((int64_t)ran);
	cells[5] = (struct nt_cell){.type = NT_CELL_REAL, .real = (double)ran / span};
	for (size_t i = 0; i < N_WHO_KINDS; i++)
		cells[6 + i] = nt_cell_integer((int64_t)who->ns[who_kinds[i]]);
	return nt_printer_row(people->printer, cells) ? no_memory(people->result->part.db) : 0;
}

static int print_who(const struct people *people, const struct nt_lanes *lanes)
{
	static const char *const names[N_WHO_COLUMNS] = {"process",   "pid",	    "thread",	 "tid",	    "ran_ns",
							 "cpu_share", "send_ns",    "recv_ns",	 "task_ns", "net_rx_ns",
							 "net_tx_ns", "softirq_ns", "hardirq_ns"};
	int error;

	fputs("\nWho ran (share of one CPU); net_rx, net_tx, softirq and hardirq in its time are not its own\n",
	      people->out);
	error = nt_printer_begin(people->printer, N_WHO_COLUMNS, names) ? no_memory(people->result->part.db) : 0;
	for (size_t i = 0; !error && i < lanes->n_who && i < TOP && nt_lane_who_ran(&lanes->who[i]); i++)
		error = print_who_row(people, lanes, &lanes->who[i]);
	nt_printer_end(people->printer);
	if (lanes->n_who > TOP && nt_lane_who_ran(&lanes->who[TOP]))
		fputs("and others: --json has all\n", people->out);
	return error;
}

/* ---- what else happened ---- */

#define MAX_COLUMNS 16

/* One row, the first with the columns' names ahead. */
static int print_row(const struct people *people, sqlite3_stmt *row, bool is_first)
{
	const char *names[MAX_COLUMNS];
	struct nt_cell cells[MAX_COLUMNS];
	int n = sqlite3_column_count(row);

	for (int i = 0; i < n && i < MAX_COLUMNS; i++) {
		names[i] = sqlite3_column_name(row, i);
		cells[i] = nt_result_cell(row, i);
	}
	if (is_first && nt_printer_begin(people->printer, (size_t)n, names))
		return -1;
	return nt_printer_row(people->printer, cells);
}

/* Nothing is printed where there is no row. */
static int print_rows(const struct people *people, const struct nt_lanes_part *part, enum nt_lanes_rows what,
		      const char *title)
{
	sqlite3_stmt *rows = nt_lanes_rows(part, what, TOP + 1);
	int step = SQLITE_DONE, n = 0, error = 0;

	if (!rows)
		return -1;
	for (; !error && (step = sqlite3_step(rows)) == SQLITE_ROW && n < TOP; n++) {
		if (!n)
			fprintf(people->out, "\n%s\n", title);
		error = print_row(people, rows, !n) ? no_memory(part->db) : 0;
	}
	if (n)
		nt_printer_end(people->printer);
	if (!error && step == SQLITE_ROW)
		fputs("and others: --json has all\n", people->out);
	else if (!error && step != SQLITE_DONE)
		error = nt_db_fail(part->db, "the recording cannot be read");
	sqlite3_finalize(rows);
	return error;
}

static int print_lanes(const struct people *people, const struct nt_lanes *lanes, const struct nt_lanes_part *part)
{
	char cell[NT_HUMAN_MAX];

	print_time(people, lanes->from_ts, lanes->to_ts);
	fprintf(people->out, "; a cell is %s\n",
		nt_human_ns(cell, ((uint64_t)lanes->to_ts - (uint64_t)lanes->from_ts) / lanes->columns));
	if (part->selection->process) {
		fputs("only process ", people->out);
		nt_print_clean(people->out, part->selection->process, strlen(part->selection->process));
		fputs(": a dot is what is not its\n", people->out);
	}
	fputc('\n', people->out);
	nt_lanes_draw(lanes, people->out, part->session->start_ts, people->style);
	print_totals(people, lanes);
	if (print_who(people, lanes) ||
	    print_rows(people, part, NT_LANES_OPERATIONS,
		       "Socket operations that ended in this time (each with all that it burned and took)") ||
	    print_rows(people, part, NT_LANES_SOFTIRQS,
		       "Softirqs, as far as they ran in this time (with the interrupts in them)"))
		return -1;
	return print_rows(
		people, part, NT_LANES_LOSSES,
		"Uncovered: records were lost, and nobody is charged with this time (records: of each whole stretch)");
}

/* ---- the worst ---- */

static void print_name(const struct people *people, int64_t utid, bool found)
{
	const char *name = found ? nt_db_text(people->names, 0) : "";

	name = !utid ? "(while idle)" : name[0] ? name : "(unknown)";
	nt_print_clean(people->out, name, strlen(name));
	if (utid && found && sqlite3_column_type(people->names, 1) != SQLITE_NULL)
		fprintf(people->out, " (%lld)", (long long)sqlite3_column_int64(people->names, 1));
}

/* "iperf3 (103) 41.20 %, ..." */
static int print_top_who(const struct people *people, const struct nt_lanes_worst *worst)
{
	const struct nt_lanes *lanes = &worst->lanes;
	uint64_t whole = nt_lanes_worst_whole(people->result, worst);
	char share[NT_HUMAN_MAX];

	for (size_t i = 0; i < lanes->n_who && i < WHO_OF_WINDOW; i++) {
		uint64_t ran = nt_lane_who_ran(&lanes->who[i]);
		bool found;

		if (!ran)
			break;
		if (nt_lanes_name(&people->result->part, people->names, lanes->who[i].utid, &found))
			return -1;
		fputs(i ? ", " : "", people->out);
		print_name(people, lanes->who[i].utid, found);
		fprintf(people->out, " %s", nt_human_share(share, ran, whole));
	}
	fputc('\n', people->out);
	return 0;
}

/* The CPU that had most of what was looked for. */
static uint32_t busiest(const struct nt_lanes_result *result, const struct nt_lanes *lanes)
{
	unsigned int kinds = result->choice->worst_kinds;
	const struct nt_lane *most = &lanes->lanes[0];

	for (size_t i = 1; i < lanes->n; i++) {
		if (nt_lane_sum(lanes->lanes[i].total, kinds) > nt_lane_sum(most->total, kinds))
			most = &lanes->lanes[i];
	}
	return most->cpu;
}

static int print_worst_row(const struct people *people, unsigned int number)
{
	const struct nt_lanes_result *result = people->result;
	const struct nt_lanes_worst *worst = &result->worst[number];
	uint64_t whole = nt_lanes_worst_whole(result, worst), total[NT_LANE_KINDS];
	char from[NT_HUMAN_MAX], wall[NT_HUMAN_MAX], ns[NT_HUMAN_MAX], share[NT_HUMAN_MAX], lost[NT_HUMAN_MAX];

	nt_lanes_total(&worst->lanes, total);
	fprintf(people->out, "%2u  %13s  %30s  %3u  %9s  %8s  %9s  ", number + 1,
		since_start(from, result->part.session, worst->window.ts),
		utc(wall, result->part.session, worst->window.ts), busiest(result, &worst->lanes),
		nt_human_ns(ns, worst->window.ns), nt_human_share(share, worst->window.ns, whole),
		nt_human_share(lost, total[NT_OWNER_UNCOVERED], whole));
	return print_top_who(people, worst);
}

/* How far the worst may be off. */
static void print_bound(const struct people *people)
{
	const struct nt_lanes_result *result = people->result;
	char ns[NT_HUMAN_MAX];

	if (result->at_most_ns > (result->n_worst ? result->worst[0].window.ns : 0))
		fprintf(people->out,
			"Some of the time is uncovered: if all of that was %s, the worst window has up to %s.\n",
			result->choice->worst, nt_human_ns(ns, result->at_most_ns));
}

static int print_worst_table(const struct people *people)
{
	const struct nt_lanes_result *result = people->result;
	size_t cpus = result->worst[0].lanes.n;
	char length[NT_HUMAN_MAX];

	nt_human_ns(length, result->choice->window_ns);
	fprintf(people->out, "\nThe windows of %s with most %s, none overlapping another, ", length,
		result->choice->worst);
	if (result->choice->each_cpu)
		fprintf(people->out, "each of one CPU (share of %s)\n", length);
	else if (cpus == 1)
		fprintf(people->out, "of CPU %u (share of %s)\n", result->worst[0].lanes.lanes[0].cpu, length);
	else
		fprintf(people->out, "of %zu CPUs together (share of %zu x %s)\n", cpus, cpus, length);
	fprintf(people->out, "%s%2s  %13s  %30s  %3s  %9s  %8s  %9s  %s%s\n", bold(people), "#", "from, s", "UTC",
		result->choice->each_cpu || cpus == 1 ? "CPU" : "top", result->choice->worst, "share", "uncovered",
		"who ran", not_bold(people));
	for (unsigned int i = 0; i < result->n_worst; i++) {
		if (print_worst_row(people, i))
			return -1;
	}
	if (!result->choice->each_cpu && cpus > 1)
		fprintf(people->out,
			"top: the CPU that had most of it. --each-cpu looks for windows of single CPUs.\n");
	return 0;
}

/* As a shell takes it. */
static void print_argument(FILE *out, const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-+:,@%";
	bool quote = !text[0] || text[strspn(text, plain)] != 0;

	if (quote)
		fputc('\'', out);
	for (size_t n = 0; text[0]; text += n) {
		n = strcspn(text, "'");
		nt_print_clean(out, text, n);
		if (text[n] == '\'') {
			fputs("'\\''", out);
			n++;
		}
	}
	if (quote)
		fputc('\'', out);
}

static void print_cpus(FILE *out, const struct nt_selection *selection)
{
	for (unsigned int i = 0; i < selection->n_cpus; i++) {
		fprintf(out, "%s%u", i ? "," : " --cpu ", selection->cpus[i].first);
		if (selection->cpus[i].last > selection->cpus[i].first)
			fprintf(out, "-%u", selection->cpus[i].last);
	}
}

/* The command that shows one window. Where there are several sessions, the time of day tells which is meant. */
static void print_zoom(const struct people *people, const struct nt_lanes_worst *worst)
{
	const struct nt_lanes_result *result = people->result;
	const struct nt_latency_session *session = result->part.session;
	bool by_wall = result->is_one_of_many && session->start_realtime_ns;
	const char *(*time_of)(char *, const struct nt_latency_session *, int64_t) = by_wall ? utc : since_start;
	int64_t begin = worst->window.ts, end = (int64_t)((uint64_t)begin + result->choice->window_ns);
	char from[NT_HUMAN_MAX], to[NT_HUMAN_MAX];

	fputs("  nettape-report timeline ", people->out);
	print_argument(people->out, result->path);
	fprintf(people->out, " --from %s", time_of(from, session, begin));
	fprintf(people->out, " --to %s", time_of(to, session, end));
	if (result->choice->each_cpu)
		fprintf(people->out, " --cpu %llu", (unsigned long long)worst->window.curve);
	else
		print_cpus(people->out, result->part.selection);
	if (result->part.selection->process) {
		fputs(" --process ", people->out);
		print_argument(people->out, result->part.selection->process);
	}
	fputc('\n', people->out);
}

static int print_worst(const struct people *people)
{
	const struct nt_lanes_result *result = people->result;
	struct nt_lanes_part part = result->part;
	struct nt_selection one_cpu;

	fputs("searched ", people->out);
	print_time(people, part.from_ts, part.to_ts);
	fputc('\n', people->out);
	if (!result->n_worst) {
		fprintf(people->out, "\nNothing of this time was %s.\n", result->choice->worst);
		print_bound(people);
		return 0;
	}
	if (print_worst_table(people))
		return -1;
	print_bound(people);
	fputs("\nTo look at one of them:\n", people->out);
	for (unsigned int i = 0; i < result->n_worst; i++)
		print_zoom(people, &result->worst[i]);
	fputs("\nThe worst: ", people->out);
	part = nt_lanes_worst_part(result, &result->worst[0], &one_cpu);
	return print_lanes(people, &result->worst[0].lanes, &part);
}

int nt_lanes_people(const struct nt_lanes_result *result, FILE *out, const struct nt_lanes_style *style)
{
	struct people people = {.result = result, .out = out, .style = style};
	int error;

	people.printer = nt_printer_new(out, NT_FORMAT_TABLE, true);
	if (!people.printer)
		return no_memory(result->part.db);
	people.names = nt_lanes_names(&result->part);
	error = people.names ? print_head(&people) : -1;
	if (!error)
		error = result->choice->worst ? print_worst(&people)
					      : print_lanes(&people, &result->lanes, &result->part);
	sqlite3_finalize(people.names);
	nt_printer_free(people.printer);
	return error;
}
