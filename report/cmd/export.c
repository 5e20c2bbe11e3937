// SPDX-License-Identifier: GPL-2.0-only
/*
 * export.c - nettape-report export: a recording in the formats of other programs. Each format is one command here; its
 * writer is in export/.
 */
#include <string.h>
#include <unistd.h>

#include "report/cmd/command.h"
#include "report/cmd/options.h"
#include "report/db/load.h"
#include "report/export/html/page.h"
#include "report/export/perfetto/perfetto.h"
#include "report/export/prometheus.h"
#include "report/out/new_file.h"

/* ---- prometheus ---- */

struct prometheus {
	struct nt_db *db;
	struct nt_latency_choice choice;
};

/* Whether there is anything to export: 1 and 0, or -1 and db->error. */
static int has_any(struct nt_db *db)
{
	/* The view last: it looks at every sample. */
	static const char *const names[] = {"skb_latency", "skb_drop", "tcp_retransmit", "latency_hook"};
	bool has = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !has; i++) {
		if (nt_db_has_rows(db, names[i], 0, &has))
			return -1;
	}
	return has;
}

static int write_prometheus(void *arg, FILE *out)
{
	struct prometheus *export = arg;

	return nt_export_prometheus(export->db, &export->choice, out) ? nt_complain("%s", export->db->error)
								      : NT_EXIT_DONE;
}

static int export_if_any(struct prometheus *export, const struct nt_options *options)
{
	int has = has_any(export->db);
	char why[NT_NEED_MAX];

	if (has < 0)
		return nt_complain("%s", export->db->error);
	if (!has) {
		nt_need_say(&nt_need_packets, why, sizeof(why));
		return nt_complain("%s: it has %s.", options->args[0], why);
	}
	return nt_new_file(options->output, "the textfile collector of node_exporter reads it", write_prometheus,
			   export);
}

static int export_prometheus(const struct nt_options *options)
{
	struct prometheus export;
	char error[512];
	int code;

	if (nt_latency_choose(&options->samples, &options->selection, &export.choice, error, sizeof(error)) ||
	    nt_selection_check(&export.choice.selection, error, sizeof(error)))
		return nt_complain_misused(error);
	if (nt_load_open_with(&export.db, options->args[0], NULL, &nt_need_packets, error, sizeof(error)))
		return nt_complain("%s", error);
	code = export_if_any(&export, options);
	nt_db_close(export.db);
	return code;
}

/* ---- html ---- */

struct page {
	struct nt_db *db;
	struct nt_selection selection;
	enum nt_group by;
};

static int write_html(void *arg, FILE *out)
{
	struct page *page = arg;

	return nt_export_html(page->db, &page->selection, page->by, out) ? nt_complain("%s", page->db->error)
									 : NT_EXIT_DONE;
}

static int export_page(struct page *page, const struct nt_options *options)
{
	char why[200];
	int has = nt_export_html_has(page->db, &page->selection, why, sizeof(why));

	if (has < 0)
		return nt_complain("%s", page->db->error);
	if (!has)
		return nt_complain("%s: %s.", options->args[0], why);
	return nt_new_file(options->output, "open it in a browser", write_html, page);
}

static int export_html(const struct nt_options *options)
{
	const char *by = options->samples.by;
	struct page page = {.by = by ? nt_group_of(by) : NT_GROUP_PROGRAM};
	char error[512];
	int code;

	if (page.by == NT_GROUP_COUNT) {
		nt_complain("--by %s: choose " NT_GROUP_NAMES ".", by);
		return NT_EXIT_MISUSED;
	}
	if (!options->output && isatty(STDOUT_FILENO))
		return nt_complain_misused("the page would go to the terminal: give a file with -o.");
	if (nt_select(&options->selection, &page.selection, error, sizeof(error)) ||
	    nt_selection_check(&page.selection, error, sizeof(error)))
		return nt_complain_misused(error);
	if (nt_load_open(&page.db, options->args[0], NULL, error, sizeof(error)))
		return nt_complain("%s", error);
	code = export_page(&page, options);
	nt_db_close(page.db);
	return code;
}

/* ---- perfetto ---- */

struct perfetto {
	struct nt_feed *feed;
	struct nt_selection selection;
	const char *path;
};

static int write_perfetto(void *arg, FILE *out)
{
	struct perfetto *export = arg;
	struct nt_progress progress;
	char error[512];
	int result;

	nt_progress_begin(&progress, export->path);
	result = nt_perfetto_export(export->feed, &export->selection, out, &progress, error, sizeof(error));
	nt_progress_end(&progress);
	return result ? nt_complain("%s: %s", export->path, error) : NT_EXIT_DONE;
}

static int export_perfetto(const struct nt_options *options)
{
	struct perfetto export = {.path = options->args[0]};
	char error[512];
	int code;

	if (nt_select(&options->selection, &export.selection, error, sizeof(error)) ||
	    nt_selection_check(&export.selection, error, sizeof(error)))
		return nt_complain_misused(error);
	if (nt_feed_open(&export.feed, export.path, &options->symbols, error, sizeof(error)))
		return nt_complain("%s", error);
	code = nt_new_file(options->output, "open it in https://ui.perfetto.dev", write_perfetto, &export);
	nt_feed_close(export.feed);
	return code;
}

/* ---- the commands ---- */

static const struct nt_option html_options[] = {
	NT_OPTION_OUTPUT_OR_NOT, NT_OPTIONS_TIME, NT_OPTIONS_WHO, NT_OPTION_BY_COST, NT_OPTION_HELP, NT_OPTIONS_END,
};

const struct nt_command nt_cmd_export_html = {
	.name = "export html",
	.group = NT_GROUP_TAKE,
	.usage = "TAPE|DB -o FILE [OPTION]...",
	.what = "write one page for browsers: charts and tables, in one file",
	.help = "The page needs no network and no other file.",
	.example = "export html busy.tape -o busy.html",
	.wants = "a tape or a database",
	.options = html_options,
	.min_args = 1,
	.max_args = 1,
	.run = export_html,
};

static const struct nt_option perfetto_options[] = {
	NT_OPTION_OUTPUT("FILE", "busy.pftrace", "the file to write", .is_needed = true),
	NT_OPTIONS_TIME,
	NT_OPTIONS_WHO,
	NT_OPTION_SYMBOLS,
	NT_OPTION_NO_SYMBOLS,
	NT_OPTION_HELP,
	NT_OPTIONS_END,
};

const struct nt_command nt_cmd_export_perfetto = {
	.name = "export perfetto",
	.group = NT_GROUP_TAKE,
	.usage = "TAPE|DB -o FILE [OPTION]...",
	.what = "write a trace for https://ui.perfetto.dev",
	.help = "It has threads, softirqs, interrupts, the owners of each CPU, socket operations, packets and losses.",
	.example = "export perfetto busy.tape -o busy.pftrace --from 2.5 --to 4",
	.wants = "a tape or a database",
	.options = perfetto_options,
	.min_args = 1,
	.max_args = 1,
	.run = export_perfetto,
};

static const struct nt_option prometheus_options[] = {
	NT_OPTION_OUTPUT_OR_NOT, NT_OPTIONS_TIME, NT_OPTION_BY_LATENCY, NT_OPTION_HOOK,
	NT_OPTION_INCLUDE_HOL,	 NT_OPTION_HELP,  NT_OPTIONS_END,
};

const struct nt_command nt_cmd_export_prometheus = {
	.name = "export prometheus",
	.group = NT_GROUP_TAKE,
	.usage = "TAPE|DB [-o FILE] [OPTION]...",
	.what = "write latency histograms, drops and retransmits as metrics",
	.help = "Each hook has a histogram, in seconds. Counters give drops, retransmits, and the packets that are in "
		"no histogram. Record with --probes default,latency,drops,retransmits.",
	.example = "export prometheus busy.tape -o busy.prom",
	.wants = "a tape or a database",
	.options = prometheus_options,
	.min_args = 1,
	.max_args = 1,
	.run = export_prometheus,
};
