// SPDX-License-Identifier: GPL-2.0-only
/*
 * page.c - a recording as one page that needs nothing else: no network, no library, no other file. The page itself is
 * report/export/html/page/, built into the program; here its data is put in. The data is asked for in parts.h.
 *
 * A tape may hold anything, and this goes to browsers. Data stands in the page as JSON without < > &, which the page's
 * script turns into text nodes, never into markup; and the page's own policy lets a browser run that script and no
 * other.
 */
#include "report/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "report/export/html/parts.h"
#include "report/export/svg/svg.h"
#include "report/query/cpus/part_costs.h"
#include "report/query/flows.h"
#include "report/query/whole.h"
#include "report/util/array.h"
#include "schema/block.h"

#define DATA_VERSION 2

/* From report/export/html/page/, by the Makefile; the policy names the sums of style and script. */
static const char page_html[] =
#include "text/page_html.h"
	;
static const char page_css[] =
#include "text/page_css.h"
	;
static const char page_js[] =
#include "text/page_js.h"
	;
static const char page_policy[] =
#include "text/page_policy.h"
	;

struct page {
	struct nt_db *db;
	const struct nt_selection *selection;
	FILE *out;
	struct nt_json json;
	enum nt_by by;
	int64_t n_sessions;
	/* Both are made before the page is written: what is missing is known when all has been read. */
	struct part {
		FILE *out;
		struct nt_buf text; /* with a zero at its end, when it is whole */
	} data, damage;
};

struct section {
	struct nt_html_scope scope;
	struct nt_html_costs costs;
	struct nt_html_stages stages;
};

/* ---- one session: writing ---- */

static void write_selection(const struct nt_html_scope *scope, struct nt_json *json)
{
	nt_json_open(json, "selection", '{');
	nt_json_integer(json, "from_ns", scope->from_ts - scope->session.start_ts);
	nt_json_integer(json, "to_ns", scope->to_ts - scope->session.start_ts);
	nt_json_bool(json, "whole", scope->is_whole);
	nt_json_bool(json, "all_cpus", !scope->selection->n_cpus);
	nt_json_text(json, "process", scope->selection->process);
	nt_json_close(json, '}');
}

/* The members that ask for the selected time; there is some. */
static int write_selected(struct section *section, struct nt_json *json)
{
	const struct nt_html_scope *scope = &section->scope;

	nt_html_costs_json(&section->costs, scope->session.start_ts, json);
	if (nt_html_events(scope, &section->costs, json) || nt_html_stages(&section->stages, json) ||
	    nt_html_tables(scope, json))
		return -1;
	return nt_html_latency(scope, json);
}

/* ---- one session: reading ---- */

static int end_stages(struct nt_html_stages *stages, int error)
{
	return stages->has ? nt_stage_find_end(&stages->result, error) : error;
}

/* Costs and stages out of one scan. Of sums there are few: they are kept already, and read by themselves. */
static int scan(struct section *section)
{
	struct nt_db *db = section->scope.db;
	const int64_t session_id = section->scope.session.id;
	struct nt_scan_reader readers[1 + NT_STAGE_READERS];
	size_t n = 0;
	int error = 0;

	readers[n++] = nt_html_costs_reader(&section->costs);
	if (!section->costs.from_slices) {
		error = nt_scan_all(db, session_id, 0, readers, n);
		n = 0;
	}
	if (section->stages.has) {
		nt_stage_readers(section->stages.result.reading, readers + n);
		n += NT_STAGE_READERS;
	}
	return error || !n ? error : nt_scan_all(db, session_id, 0, readers, n);
}

/* A part of the session has no sums of its own. */
static int make_sums(const struct nt_html_scope *scope)
{
	const struct nt_selection *selection = scope->selection;
	bool is_estimate; /* the page says so in any case */
	const bool is_part = selection->from.is_given || selection->to.is_given || selection->n_cpus;

	if (!is_part || scope->from_ts >= scope->to_ts)
		return 0;
	return nt_part_costs(&scope->part, false, &is_estimate) || nt_flows_sum(&scope->part) ? -1 : 0;
}

static int read_section(const struct page *page, struct section *section)
{
	if (make_sums(&section->scope) ||
	    nt_html_costs_begin(&section->scope, (uint32_t)(NT_HTML_MAX_CELLS / page->n_sessions), &section->costs))
		return -1;
	if (!section->costs.steps)
		return 0;
	if (nt_html_stages_begin(&section->scope, &section->stages) || end_stages(&section->stages, scan(section)))
		return -1;
	nt_html_costs_end(&section->costs);
	return 0;
}

/* In the data, and as a banner above all else, which is there without scripts too. */
static int write_whole(struct page *page, const struct nt_html_scope *scope)
{
	char text[NT_WHOLE_MAX];
	struct nt_whole whole;

	if (nt_whole_find(page->db, &scope->session, page->selection, &whole))
		return -1;
	nt_whole_json(&whole, &page->json);
	if (whole.is_whole)
		return 0;
	fputs("<p class=\"banner bad\" role=\"alert\">", page->damage.out);
	if (page->n_sessions > 1)
		fprintf(page->damage.out, "Session %lld: ", (long long)scope->session.id);
	nt_xml_text(page->damage.out, nt_whole_text(&whole, text));
	fputs("</p>\n", page->damage.out);
	return 0;
}

static int write_session(void *arg, const struct nt_session *session)
{
	struct page *page = arg;
	struct section section = {0};
	int error;

	nt_html_scope_init(&section.scope, page->db, page->selection, session);
	error = read_section(page, &section);
	if (!error) {
		nt_json_open(&page->json, NULL, '{');
		write_selection(&section.scope, &page->json);
		error = nt_html_facts(&section.scope, &page->json) || nt_html_texts(&section.scope, &page->json) ? -1
														 : 0;
		if (!error && section.costs.steps)
			error = write_selected(&section, &page->json);
		if (!error)
			error = write_whole(page, &section.scope);
		nt_json_close(&page->json, '}');
	}
	nt_html_stages_release(&section.stages);
	nt_html_costs_release(&section.costs);
	return error;
}

/* ---- all sessions ---- */

static int make_data(struct page *page)
{
	int error;

	page->json = (struct nt_json){.out = page->data.out, .lines = 3, .compact = true, .for_html = true};
	nt_json_open(&page->json, NULL, '{');
	nt_json_integer(&page->json, "version", DATA_VERSION);
	nt_json_text(&page->json, "tool", "nettape-report " NT_VERSION);
	nt_json_text(&page->json, "by", nt_by_name(page->by));
	nt_json_open(&page->json, "sessions", '[');
	error = nt_session_each(page->db, write_session, page);
	nt_json_close(&page->json, ']');
	nt_json_close(&page->json, '}');
	return error;
}

/* ---- the template: text, and names between two @ that are replaced ---- */

static void write_page(const struct page *page)
{
	const struct {
		const char *name, *text;
	} parts[] = {
		{"@POLICY@", page_policy},
		{"@STYLE@", page_css},
		{"@DAMAGE@", (const char *)page->damage.text.data},
		{"@DATA@", (const char *)page->data.text.data},
		{"@SCRIPT@", page_js},
	};

	for (const char *at = page_html; *at;) {
		size_t text = strcspn(at, "@");
		size_t part = NT_FIRST(NT_COUNT(parts), i, !strncmp(at + text, parts[i].name, strlen(parts[i].name)));

		if (part == NT_COUNT(parts) && at[text])
			text++;
		fwrite(at, 1, text, page->out);
		at += text;
		if (part == NT_COUNT(parts))
			continue;
		fputs(parts[part].text, page->out);
		at += strlen(parts[part].name);
	}
}

/* For the C library, to which 0 is a failure. Its own streams into memory do not tell of one. */
static ssize_t take_text(void *part, const char *text, size_t size)
{
	return nt_buf_append(&((struct part *)part)->text, text, size) ? 0 : (ssize_t)size;
}

static int begin_part(struct page *page, struct part *part)
{
	part->out = fopencookie(part, "w", (cookie_io_functions_t){.write = take_text});
	return part->out ? 0 : nt_db_no_memory(page->db);
}

/* `error` of what wrote it. */
static int end_part(struct page *page, struct part *part, int error)
{
	bool is_cut;

	if (!part->out)
		return -1;
	is_cut = ferror(part->out);
	if ((fclose(part->out) || is_cut || nt_buf_append(&part->text, "", 1)) && !error)
		return nt_db_no_memory(page->db);
	return error;
}

static int make_page(struct page *page)
{
	int error = begin_part(page, &page->data);

	if (!error)
		error = begin_part(page, &page->damage);
	if (!error)
		error = make_data(page);
	error = end_part(page, &page->data, error);
	error = end_part(page, &page->damage, error);
	if (!error)
		write_page(page);
	nt_buf_release(&page->data.text);
	nt_buf_release(&page->damage.text);
	return error;
}

int nt_export_html(struct nt_db *db, const struct nt_selection *selection, enum nt_by by, FILE *out)
{
	struct page page = {.db = db, .selection = selection, .by = by, .out = out};
	int error = nt_session_count(db, &page.n_sessions);

	if (!page.n_sessions)
		page.n_sessions =
			1; /* there may be some when they are asked for again, in a database that is no recording's */
	return error ? error : make_page(&page);
}

/* ---- whether there is anything ---- */

struct looking {
	struct nt_db *db;
	const struct nt_selection *selection;
	bool any_session, any_time, any_cpu, any_process;
};

/* Whether the statement gives a row. */
static int gives_row(const struct nt_html_scope *scope, const char *sql, bool *has)
{
	sqlite3_stmt *statement = nt_html_prepare(scope, sql);

	*has |= nt_db_next(statement);
	return nt_db_end(scope->db, statement, "the session cannot be read");
}

static int look_at(void *arg, const struct nt_session *session)
{
	struct looking *looking = arg;
	struct nt_html_scope scope;
	char *sql;
	int error;

	nt_html_scope_init(&scope, looking->db, looking->selection, session);
	looking->any_session = true;
	looking->any_time |= scope.to_ts > scope.from_ts;
	if (asprintf(&sql, "SELECT 1 FROM cpu_cost WHERE session_id = ?1 AND %s LIMIT 1", scope.cpus) < 0)
		return nt_db_no_memory(looking->db);
	error = gives_row(&scope, sql, &looking->any_cpu);
	free(sql);
	return error ? error
		     : gives_row(
			       &scope,
			       "SELECT 1 FROM process WHERE session_id = ?1 AND (?4 IS NULL OR CAST(pid AS TEXT) = ?4 "
			       "OR name = ?4) UNION ALL SELECT 1 WHERE ?4 IS NULL LIMIT 1",
			       &looking->any_process);
}

int nt_export_html_has(struct nt_db *db, const struct nt_selection *selection, const char **why)
{
	struct looking looking = {.db = db, .selection = selection};

	if (nt_session_each(db, look_at, &looking))
		return -1;
	if (!looking.any_session)
		*why = "there is no session in it: import a tape into it";
	else if (!looking.any_time)
		*why = "nothing was recorded in the time of --from and --to; summary says when it was";
	else if (!looking.any_cpu)
		*why = "none of these CPUs was recorded; summary lists them";
	else if (!looking.any_process)
		*why = "no process of this pid or name was recorded; query lists them (SELECT pid, name FROM "
		       "process)";
	else
		return 1;
	return 0;
}
