// SPDX-License-Identifier: GPL-2.0-only
/*
 * text.c - the part of result.h that is for people: the picture, the owners in nanoseconds, the threads that ran, and
 * what else happened.
 */
#include <string.h>

#include "report/db/result.h"
#include "report/out/prose.h"
#include "report/query/cpus/result.h"
#include "report/query/part_time.h"
#include "report/query/payers.h"
#include "report/util/array.h"

#define TOP 10
#define WHO_OF_WINDOW 3

struct text {
	const struct nt_lanes_result *result;
	FILE *out;
	const struct nt_terminal *terminal;
	struct nt_printer *printer;
	sqlite3_stmt *names;
};

/* ---- whose it was ---- */

/* A table of these is folded: what a line has no room for stands in a table of its own below, so that nothing is left
 * out. */
struct columns {
	unsigned int kinds[NT_LANE_KINDS + 1]; /* those that there are; COLUMN_SUM is the last */
	int width[NT_LANE_KINDS + 1];
	size_t n;
};

#define COLUMN_SUM NT_LANE_KINDS
#define LABEL_WIDTH 5
#define SHARE_WIDTH 8 /* "100.00 %" */

static uint64_t value_of(const uint64_t ns[NT_LANE_KINDS], unsigned int column)
{
	return column == COLUMN_SUM ? nt_lane_sum(ns, ~0u) : ns[column];
}

static const char *column_name(unsigned int column)
{
	return column == COLUMN_SUM ? "sum" : nt_lane_kind_name(column);
}

static void set_columns(struct columns *columns, const uint64_t total[NT_LANE_KINDS])
{
	char text[NT_HUMAN_MAX];

	columns->n = 0;
	for (unsigned int column = 0; column <= COLUMN_SUM; column++) {
		int digits = (int)strlen(nt_human_count(text, (int64_t)value_of(total, column)));
		int name = (int)strlen(column_name(column)), width = digits > name ? digits : name;

		if (column != COLUMN_SUM && !total[column])
			continue;
		columns->kinds[columns->n] = column;
		columns->width[columns->n++] = width > SHARE_WIDTH ? width : SHARE_WIDTH;
	}
}

/* The first column that a line has no room for, if it begins with `first`. */
static size_t end_of_line(const struct columns *columns, size_t first, uint32_t room)
{
	size_t end = first, used = LABEL_WIDTH;

	while (end < columns->n && (end == first || used + 1 + (size_t)columns->width[end] <= room))
		used += 1 + (size_t)columns->width[end++];
	return end;
}

/* Two lines: nanoseconds, and below them parts of the sum. */
static void print_owned(FILE *out, const struct columns *columns, size_t first, size_t end, const char *label,
			const uint64_t ns[NT_LANE_KINDS])
{
	uint64_t sum = nt_lane_sum(ns, ~0u);
	char text[NT_HUMAN_MAX];

	fprintf(out, "%-*s", LABEL_WIDTH, label);
	for (size_t i = first; i < end; i++)
		fprintf(out, " %*s", columns->width[i], nt_human_count(text, (int64_t)value_of(ns, columns->kinds[i])));
	fprintf(out, "\n%-*s", LABEL_WIDTH, "");
	for (size_t i = first; i < end; i++)
		fprintf(out, " %*s", columns->width[i], nt_human_share(text, value_of(ns, columns->kinds[i]), sum));
	fputc('\n', out);
}

static void print_owned_head(const struct text *text, const struct columns *columns, size_t first, size_t end)
{
	const char *bold = text->terminal->colour ? "\033[1m" : "", *not_bold = text->terminal->colour ? "\033[0m" : "";

	fprintf(text->out, "%s%-*s", bold, LABEL_WIDTH, "CPU");
	for (size_t i = first; i < end; i++)
		fprintf(text->out, " %*s", columns->width[i], column_name(columns->kinds[i]));
	fprintf(text->out, "%s\n", not_bold);
}

/* A recording has an owner for each nanosecond; a database may be anybody's. */
static void print_unaccounted(FILE *out, const struct nt_lanes *lanes)
{
	uint64_t span = (uint64_t)lanes->to_ts - (uint64_t)lanes->from_ts;
	char sum[NT_HUMAN_MAX], of[NT_HUMAN_MAX];

	for (size_t i = 0; i < lanes->n; i++) {
		uint64_t owned = nt_lane_sum(lanes->lanes[i].total, ~0u);

		if (owned != span)
			nt_print_prose(out, "",
				       "CPU %u: %s ns have an owner, and this time is %s ns: see nettape-report check.",
				       lanes->lanes[i].cpu, nt_human_count(sum, (int64_t)owned),
				       nt_human_count(of, (int64_t)span));
	}
}

static void print_network(const struct text *text, const uint64_t total[NT_LANE_KINDS])
{
	uint64_t network = nt_lane_sum(total, NT_NETWORK_OWNERS), uncovered = total[NT_OWNER_UNCOVERED];
	uint64_t there = nt_lane_sum(total, ~(1u << NT_OWNER_OFFLINE));
	bool of_process = text->result->part.selection->process != NULL;
	char part[NT_HUMAN_MAX], whole[NT_HUMAN_MAX], share[NT_HUMAN_MAX], most[NT_HUMAN_MAX];

	fputc('\n', text->out);
	nt_human_share(most, network + uncovered, there);
	nt_print_prose(text->out, "",
		       "Network stack (net_rx + net_tx + send + recv)%s: %s of %s of CPU time, %s%s%s%s.",
		       of_process ? ", in its time" : "", nt_human_ns(part, network), nt_human_ns(whole, there),
		       nt_human_share(share, network, there), uncovered ? "; up to " : "", uncovered ? most : "",
		       uncovered ? " if all uncovered time was the network's" : "");
	if (of_process)
		nt_print_prose(text->out, "",
			       "net_rx, net_tx, softirq and hardirq interrupted it and are not its own cost; other is "
			       "everything else on the CPUs, also idle.");
}

static void print_totals(const struct text *text, const struct nt_lanes *lanes)
{
	uint64_t total[NT_LANE_KINDS];
	struct columns columns;
	char label[16];

	nt_lanes_total(lanes, total);
	set_columns(&columns, total);
	nt_print_heading(text->out, "\nOwners of the time, in ns");
	for (size_t first = 0, end; first < columns.n; first = end) {
		end = end_of_line(&columns, first, text->terminal->width);
		print_owned_head(text, &columns, first, end);
		for (size_t i = 0; i < lanes->n; i++) {
			snprintf(label, sizeof(label), "%u", lanes->lanes[i].cpu);
			print_owned(text->out, &columns, first, end, label, lanes->lanes[i].total);
		}
		if (lanes->n > 1)
			print_owned(text->out, &columns, first, end, "all", total);
	}
	print_unaccounted(text->out, lanes);
	print_network(text, total);
}

/* ---- who ran ---- */

static struct nt_cell name_cell(const struct text *text, bool found, int column)
{
	if (found && sqlite3_column_type(text->names, column) != SQLITE_NULL)
		return nt_result_cell(text->names, column);
	return column % 2 ? (struct nt_cell){.type = NT_CELL_NULL} : nt_cell_text("(unknown)");
}

static const unsigned int who_kinds[] = {NT_OWNER_SEND,	  NT_OWNER_RECV,    NT_OWNER_TASK,   NT_OWNER_NET_RX,
					 NT_OWNER_NET_TX, NT_OWNER_SOFTIRQ, NT_OWNER_HARDIRQ};
#define N_WHO_KINDS NT_COUNT(who_kinds)
#define N_WHO_COLUMNS (6 + N_WHO_KINDS)

static void put_who(struct nt_cell cells[N_WHO_COLUMNS], const struct nt_lanes *lanes, const struct nt_lane_who *who)
{
	double span = (double)((uint64_t)lanes->to_ts - (uint64_t)lanes->from_ts);
	uint64_t ran = nt_lane_who_ran(who);

	cells[4] = nt_cell_integer((int64_t)ran);
	cells[5] = (struct nt_cell){.type = NT_CELL_REAL, .real = (double)ran / span};
	for (size_t i = 0; i < N_WHO_KINDS; i++)
		cells[6 + i] = nt_cell_integer((int64_t)who->ns[who_kinds[i]]);
}

static int print_who_row(const struct text *text, const struct nt_lanes *lanes, const struct nt_lane_who *who)
{
	struct nt_cell cells[N_WHO_COLUMNS];
	bool found;

	if (nt_lanes_name(&text->result->part, text->names, who->utid, &found))
		return -1;
	for (int i = 0; i < 4; i++)
		cells[i] = name_cell(text, found && who->utid, (i + 2) % 4);
	if (!who->utid) {
		cells[0] = nt_cell_text("(while idle)");
		cells[2] = nt_cell_text("");
	}
	put_who(cells, lanes, who);
	return nt_printer_row(text->printer, cells) ? nt_db_no_memory(text->result->part.db) : 0;
}

/* The sum of all from `first` on that ran; nothing where there are none. */
static int print_who_sum(const struct text *text, const struct nt_lanes *lanes, size_t first, bool is_total)
{
	struct nt_lane_who sum = {0};
	struct nt_cell cells[N_WHO_COLUMNS];
	char label[NT_HUMAN_MAX + 8] = "total", count[NT_HUMAN_MAX];
	size_t i = first;

	for (; i < lanes->n_who && nt_lane_who_ran(&lanes->who[i]); i++) {
		for (unsigned int kind = 0; kind < NT_LANE_KINDS; kind++)
			sum.ns[kind] += lanes->who[i].ns[kind];
	}
	if (i - first < (is_total ? 2 : 1))
		return 0;
	if (!is_total)
		snprintf(label, sizeof(label), "%s other%s", nt_human_count(count, (int64_t)(i - first)),
			 i - first == 1 ? "" : "s");
	cells[0] = nt_cell_label(label);
	for (int column = 1; column < 4; column++)
		cells[column] = nt_cell_figure("");
	put_who(cells, lanes, &sum);
	return nt_printer_row(text->printer, cells) ? nt_db_no_memory(text->result->part.db) : 0;
}

static int print_who(const struct text *text, const struct nt_lanes *lanes)
{
	static const char *const names[N_WHO_COLUMNS] = {"process",   "pid",	    "thread",	 "tid",	    "ran_ns",
							 "cpu_share", "send_ns",    "recv_ns",	 "task_ns", "net_rx_ns",
							 "net_tx_ns", "softirq_ns", "hardirq_ns"};
	int error;

	nt_print_heading(text->out, "\nThreads that ran (cpu: share of one CPU); net_rx, net_tx, softirq and hardirq "
				    "interrupted them and are not their own cost");
	nt_printer_leave_out(text->printer,
			     "net_tx_ns,hardirq_ns,softirq_ns,net_rx_ns,cpu_share,tid,task_ns,pid,recv_ns&send_ns");
	error = nt_printer_begin(text->printer, N_WHO_COLUMNS, names) ? nt_db_no_memory(text->result->part.db) : 0;
	for (size_t i = 0; !error && i < lanes->n_who && i < TOP && nt_lane_who_ran(&lanes->who[i]); i++)
		error = print_who_row(text, lanes, &lanes->who[i]);
	if (!error)
		error = print_who_sum(text, lanes, TOP, false) || print_who_sum(text, lanes, 0, true) ? -1 : 0;
	nt_printer_end(text->printer);
	return error;
}

/* ---- what else happened ---- */

/* Nothing is printed where there is no row. Takes the statement, which may be NULL. */
static int print_rows(const struct text *text, sqlite3_stmt *rows, const char *least_important, const char *heading)
{
	int error;

	if (!rows)
		return -1;
	nt_printer_leave_out(text->printer, least_important);
	error = nt_result_print_top(text->result->part.db, rows, text->printer, TOP, heading);
	sqlite3_finalize(rows);
	return error;
}

static void print_payers_unknown(const struct text *text)
{
	fputc('\n', text->out);
	nt_print_prose(text->out, "", NT_PAYERS_UNKNOWN);
}

static int print_payers(const struct text *text, const struct nt_lanes *lanes, const struct nt_lanes_beside *beside)
{
	uint64_t total[NT_LANE_KINDS];
	bool is_estimate;

	if (text->result->has_payers) {
		if (print_rows(text, nt_lanes_payers(beside, &is_estimate), NT_PAYERS_LEAVE_OUT, NT_PAYERS_TITLE))
			return -1;
		if (is_estimate)
			nt_print_prose(text->out, "", NT_PAYERS_ESTIMATED);
		return 0;
	}
	nt_lanes_total(lanes, total);
	if (total[NT_OWNER_NET_RX])
		print_payers_unknown(text);
	return 0;
}

/* `before`: what the first line begins with. */
static int print_lanes(const struct text *text, const char *before, const struct nt_lanes *lanes,
		       const struct nt_lanes_beside *beside)
{
	const struct nt_part *part = &beside->part;
	struct nt_prose prose;
	char cell[NT_HUMAN_MAX];

	nt_prose_begin(&prose, text->out);
	fputs(before, prose.line);
	nt_part_put_time(prose.line, part->session, lanes->from_ts, lanes->to_ts);
	fprintf(prose.line, "; a cell is %s",
		nt_human_ns(cell, ((uint64_t)lanes->to_ts - (uint64_t)lanes->from_ts) / lanes->columns));
	nt_prose_end(&prose, "");
	if (part->selection->process)
		nt_print_prose(text->out, "", "only process %s: a dot is time that is not its own",
			       part->selection->process);
	fputc('\n', text->out);
	nt_lanes_draw(lanes, text->out, part->session->start_ts, text->terminal);
	print_totals(text, lanes);
	if (print_who(text, lanes) || print_payers(text, lanes, beside) ||
	    print_rows(text, nt_lanes_ops(beside),
		       "untimed_count,failed_count,dearest_ns,longest_ns,moved_bytes,pid,syscall",
		       "Socket operations that ended in this time (each with its whole CPU time and duration)") ||
	    print_rows(text, nt_lanes_softirqs(beside), NULL,
		       "Softirqs: their part in this time (with the interrupts in them)"))
		return -1;
	return print_rows(text, nt_lanes_losses(part), "why",
			  "Uncovered time: records were lost, so it has no owner (records: those of each whole "
			  "stretch)");
}

/* ---- the worst ---- */

static void put_name(const struct text *text, FILE *line, int64_t utid, bool found)
{
	const char *name = found ? nt_db_text(text->names, 0) : "";

	name = !utid ? "(while idle)" : name[0] ? name : "(unknown)";
	nt_print_clean(line, name, strlen(name));
	if (utid && found && sqlite3_column_type(text->names, 1) != SQLITE_NULL)
		fprintf(line, " (%lld)", (long long)sqlite3_column_int64(text->names, 1));
}

/* " 1  iperf3 (103) 41.20 %, ..." */
static int print_top_who(const struct text *text, unsigned int number)
{
	const struct nt_lanes_worst *worst = &text->result->worst[number];
	const struct nt_lanes *lanes = &worst->lanes;
	uint64_t whole = nt_lanes_worst_whole(text->result, worst);
	char share[NT_HUMAN_MAX], lead[16];
	struct nt_prose prose;
	int error = 0;

	nt_prose_begin(&prose, text->out);
	for (size_t i = 0; i < lanes->n_who && i < WHO_OF_WINDOW && !error; i++) {
		uint64_t ran = nt_lane_who_ran(&lanes->who[i]);
		bool found;

		if (!ran)
			break;
		error = nt_lanes_name(&text->result->part, text->names, lanes->who[i].utid, &found);
		if (error)
			break;
		fputs(i ? ", " : "", prose.line);
		put_name(text, prose.line, lanes->who[i].utid, found);
		fprintf(prose.line, " %s", nt_human_share(share, ran, whole));
	}
	snprintf(lead, sizeof(lead), "%3u  ", number + 1);
	nt_prose_end(&prose, lead);
	return error;
}

enum { PAYER, PAYER_PROCESS, PAYER_PID, PAYER_REASON, PAYER_NS }; /* columns of NT_PAYERS_SQL */

static void put_payer(FILE *line, sqlite3_stmt *payer, uint64_t whole)
{
	const bool is_process = sqlite3_column_type(payer, PAYER_PROCESS) != SQLITE_NULL;
	const char *name = nt_db_text(payer, is_process ? PAYER_PROCESS : PAYER);
	char share[NT_HUMAN_MAX];

	nt_print_clean(line, name, strlen(name));
	if (sqlite3_column_type(payer, PAYER_PID) != SQLITE_NULL)
		fprintf(line, " (%lld)", (long long)sqlite3_column_int64(payer, PAYER_PID));
	if (sqlite3_column_type(payer, PAYER_REASON) != SQLITE_NULL) {
		fputs(" (", line);
		nt_print_clean(line, nt_db_text(payer, PAYER_REASON), strlen(nt_db_text(payer, PAYER_REASON)));
		fputc(')', line);
	}
	fprintf(line, " %s", nt_human_share(share, (uint64_t)sqlite3_column_int64(payer, PAYER_NS), whole));
}

/* " 1  server (101) 12.00 %, unattributed 1.20 %, ..." */
static int print_top_payers(const struct text *text, unsigned int number)
{
	const struct nt_lanes_worst *worst = &text->result->worst[number];
	bool is_estimate;
	sqlite3_stmt *payer = nt_lanes_payers(&worst->beside, &is_estimate);
	const uint64_t whole = nt_lanes_worst_whole(text->result, worst);
	struct nt_prose prose;
	char lead[16];

	nt_prose_begin(&prose, text->out);
	for (int i = 0; i < WHO_OF_WINDOW && nt_db_next(payer); i++) {
		fputs(i ? ", " : "", prose.line);
		put_payer(prose.line, payer, whole);
	}
	snprintf(lead, sizeof(lead), "%3u  ", number + 1);
	nt_prose_end(&prose, lead);
	return nt_db_end(text->result->part.db, payer, "the recording cannot be read");
}

static int print_worst_payers(const struct text *text)
{
	int error = 0;

	if (!text->result->has_payers) {
		print_payers_unknown(text);
		return 0;
	}
	nt_print_heading(text->out, "\n" NT_PAYERS_TITLE " in them");
	for (unsigned int i = 0; i < text->result->n_worst && !error; i++)
		error = print_top_payers(text, i);
	return error;
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

enum { WORST_NUMBER, WORST_FROM, WORST_UTC, WORST_CPU, WORST_NS, WORST_SHARE, WORST_UNCOVERED, N_WORST_COLUMNS };

static int print_worst_row(const struct text *text, unsigned int number)
{
	const struct nt_lanes_result *result = text->result;
	const struct nt_lanes_worst *worst = &result->worst[number];
	uint64_t whole = nt_lanes_worst_whole(result, worst), total[NT_LANE_KINDS];
	char from[NT_HUMAN_MAX], wall[NT_HUMAN_MAX], ns[NT_HUMAN_MAX], share[NT_HUMAN_MAX], lost[NT_HUMAN_MAX];
	struct nt_cell cells[N_WORST_COLUMNS];

	nt_lanes_total(&worst->lanes, total);
	cells[WORST_NUMBER] = nt_cell_integer(number + 1);
	cells[WORST_FROM] = nt_cell_figure(nt_part_since(from, result->part.session, worst->window.ts));
	cells[WORST_UTC] = nt_cell_figure(nt_part_utc(wall, result->part.session, worst->window.ts));
	cells[WORST_CPU] = nt_cell_integer(busiest(result, &worst->lanes));
	cells[WORST_NS] = nt_cell_figure(nt_human_ns(ns, worst->window.ns));
	cells[WORST_SHARE] = nt_cell_figure(nt_human_share(share, worst->window.ns, whole));
	cells[WORST_UNCOVERED] = nt_cell_figure(nt_human_share(lost, total[NT_OWNER_UNCOVERED], whole));
	return nt_printer_row(text->printer, cells) ? nt_db_no_memory(result->part.db) : 0;
}

/* How far the worst may be off. */
static void print_bound(const struct text *text)
{
	const struct nt_lanes_result *result = text->result;
	char ns[NT_HUMAN_MAX];

	if (result->at_most_ns > (result->n_worst ? result->worst[0].window.ns : 0))
		nt_print_prose(text->out, "",
			       "Some of the time is uncovered: if all of that was %s, the worst window has up to %s.",
			       result->choice->worst, nt_human_ns(ns, result->at_most_ns));
}

static void print_worst_heading(const struct text *text)
{
	const struct nt_lanes_result *result = text->result;
	size_t cpus = result->worst[0].lanes.n;
	char length[NT_HUMAN_MAX], of[3 * NT_HUMAN_MAX];

	nt_human_ns(length, result->choice->window_ns);
	if (result->choice->each_cpu)
		snprintf(of, sizeof(of), "each of one CPU (share of %s)", length);
	else if (cpus == 1)
		snprintf(of, sizeof(of), "of CPU %u (share of %s)", result->worst[0].lanes.lanes[0].cpu, length);
	else
		snprintf(of, sizeof(of), "of %zu CPUs together (share of %zu x %s)", cpus, cpus, length);
	nt_print_heading(text->out, "\nThe windows of %s with the most %s, without overlap, %s", length,
			 result->choice->worst, of);
}

static int print_worst_table(const struct text *text)
{
	const struct nt_lanes_result *result = text->result;
	bool of_one = result->choice->each_cpu || result->worst[0].lanes.n == 1;
	const char *const names[N_WORST_COLUMNS] = {
		"#", "from, s", "UTC", of_one ? "CPU" : "top", result->choice->worst, "share", "uncovered"};
	int error;

	print_worst_heading(text);
	nt_printer_leave_out(text->printer, "UTC");
	error = nt_printer_begin(text->printer, N_WORST_COLUMNS, names) ? nt_db_no_memory(result->part.db) : 0;
	for (unsigned int i = 0; i < result->n_worst && !error; i++)
		error = print_worst_row(text, i);
	nt_printer_end(text->printer);
	if (error)
		return error;
	if (!of_one)
		nt_print_prose(text->out, "",
			       "top: the CPU that had most of it. --each-cpu looks for windows of single CPUs.");
	nt_print_heading(text->out, "\nThreads that ran in them");
	for (unsigned int i = 0; i < result->n_worst && !error; i++)
		error = print_top_who(text, i);
	return error ? error : print_worst_payers(text);
}

/* As a shell takes it; blanks in it are stuck, see out/prose.h. */
static void put_argument(FILE *out, const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-+:,@%";
	bool quote = !text[0] || text[strspn(text, plain)] != 0;

	if (quote)
		fputc('\'', out);
	for (size_t n = 0; text[0]; text += n) {
		n = strcspn(text, "' ");
		nt_print_clean(out, text, n);
		if (text[n])
			fputs(text[n++] == ' ' ? NT_STUCK : "'\\''", out);
	}
	if (quote)
		fputc('\'', out);
}

static void put_cpus(FILE *out, const struct nt_selection *selection)
{
	for (unsigned int i = 0; i < selection->n_cpus; i++) {
		fprintf(out, "%s%u", i ? "," : " --cpu" NT_STUCK, selection->cpus[i].first);
		if (selection->cpus[i].last > selection->cpus[i].first)
			fprintf(out, "-%u", selection->cpus[i].last);
	}
}

/* The command that shows one window. Where there are several sessions, the time of day tells which is meant. */
static void print_zoom(const struct text *text, const struct nt_lanes_worst *worst)
{
	const struct nt_lanes_result *result = text->result;
	const struct nt_session *session = result->part.session;
	bool by_wall = result->is_one_of_many && session->start_realtime_ns;
	const char *(*time_of)(char *, const struct nt_session *, int64_t) = by_wall ? nt_part_utc : nt_part_since;
	int64_t begin = worst->window.ts, end = (int64_t)((uint64_t)begin + result->choice->window_ns);
	char from[NT_HUMAN_MAX], to[NT_HUMAN_MAX];
	struct nt_prose command;

	nt_prose_begin(&command, text->out);
	fputs("nettape-report timeline ", command.line);
	put_argument(command.line, result->path);
	fprintf(command.line, " --from" NT_STUCK "%s", time_of(from, session, begin));
	fprintf(command.line, " --to" NT_STUCK "%s", time_of(to, session, end));
	if (result->choice->each_cpu)
		fprintf(command.line, " --cpu" NT_STUCK "%llu", (unsigned long long)worst->window.curve);
	else
		put_cpus(command.line, result->part.selection);
	if (result->part.selection->process) {
		fputs(" --process" NT_STUCK, command.line);
		put_argument(command.line, result->part.selection->process);
	}
	nt_prose_end_command(&command, "  ");
}

static int print_worst(const struct text *text)
{
	const struct nt_lanes_result *result = text->result;
	struct nt_prose prose;

	nt_prose_begin(&prose, text->out);
	fputs("searched ", prose.line);
	nt_part_put_time(prose.line, result->part.session, result->part.from_ts, result->part.to_ts);
	nt_prose_end(&prose, "");
	if (!result->n_worst) {
		fprintf(text->out, "\nNone of this time was %s.\n", result->choice->worst);
		print_bound(text);
		return 0;
	}
	if (print_worst_table(text))
		return -1;
	print_bound(text);
	nt_print_heading(text->out, "\nTo look at one of them");
	for (unsigned int i = 0; i < result->n_worst; i++)
		print_zoom(text, &result->worst[i]);
	fputc('\n', text->out);
	return print_lanes(text, "The worst: ", &result->worst[0].lanes, &result->worst[0].beside);
}

int nt_lanes_text(const struct nt_lanes_result *result, FILE *out, struct nt_printer *printer,
		  const struct nt_terminal *terminal)
{
	struct text text = {.result = result, .out = out, .terminal = terminal, .printer = printer};
	const struct nt_session *session = result->part.session;
	int error = -1;

	text.names = nt_lanes_names(&result->part);
	if (text.names) {
		nt_print_prose(out, "", "session %lld: host %s, Linux %s", (long long)session->id, session->host,
			       session->kernel);
		error = result->choice->worst ? print_worst(&text)
					      : print_lanes(&text, "", &result->lanes, &result->beside);
	}
	if (!error)
		nt_printer_say_left_out(printer, "\n", "--json has");
	sqlite3_finalize(text.names);
	return error;
}
