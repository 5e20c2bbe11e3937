// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_export.c - nettape-report export: what is on a tape, in the formats of other programs. Each format is a line of a
 * table here and a file export_*.c.
 */
#include <string.h>
#include <unistd.h>

#include "report/command.h"
#include "report/export_html.h"
#include "report/export_prometheus.h"
#include "report/load.h"
#include "report/new_file.h"
#include "report/perfetto.h"

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
		if (nt_latency_has_rows(db, names[i], 0, &has))
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

	if (has < 0)
		return nt_complain("%s", export->db->error);
	if (!has)
		return nt_complain("%s: there is nothing to export: record with nettape-record --probes "
				   "default,latency,drops,retransmits.",
				   options->args[1]);
	return nt_new_file(options->output, write_prometheus, export);
}

static int export_prometheus(const struct nt_options *options)
{
	struct prometheus export;
	char error[512];
	int code;

	if (options->selection.cpus || options->selection.process)
		return nt_complain_misused(
			"export prometheus: there is no --cpu and no --process here; --by cpu and --by process "
			"give each its own series.");
	if (nt_latency_choose(&options->samples, &options->selection, &export.choice, error, sizeof(error)) ||
	    nt_selection_check(&export.choice.selection, error, sizeof(error)))
		return nt_complain_misused(error);
	if (nt_load_open(&export.db, options->args[1], NULL, error, sizeof(error)))
		return nt_complain("%s", error);
	code = export_if_any(&export, options);
	nt_db_close(export.db);
	return code;
}

/* ---- what html and perfetto have in common ---- */

/* Options that choose among samples: a page and a trace have them all. */
static int refuse_samples_words(const char *format, const struct nt_latency_words *words)
{
	if (!words->by && !words->n_hooks && !words->include_hol)
		return NT_EXIT_DONE;
	nt_complain("export %s: --by, --hook and --include-hol are for export prometheus.", format);
	return NT_EXIT_MISUSED;
}

/* ---- html ---- */

struct page {
	struct nt_db *db;
	struct nt_selection selection;
};

static int write_html(void *arg, FILE *out)
{
	struct page *page = arg;

	return nt_export_html(page->db, &page->selection, out) ? nt_complain("%s", page->db->error) : NT_EXIT_DONE;
}

static int export_page(struct page *page, const struct nt_options *options)
{
	char why[200];
	int has = nt_export_html_has(page->db, &page->selection, why, sizeof(why));

	if (has < 0)
		return nt_complain("%s", page->db->error);
	if (!has)
		return nt_complain("%s: %s.", options->args[1], why);
	return nt_new_file(options->output, write_html, page);
}

static int export_html(const struct nt_options *options)
{
	struct page page;
	char error[512];
	int code;

	if (refuse_samples_words("html", &options->samples))
		return NT_EXIT_MISUSED;
	if (!options->output && isatty(STDOUT_FILENO))
		return nt_complain_misused(
			"export html: a page is nothing for a terminal: -o FILE says where it goes.");
	if (nt_select(&options->selection, &page.selection, error, sizeof(error)) ||
	    nt_selection_check(&page.selection, error, sizeof(error)))
		return nt_complain_misused(error);
	if (nt_load_open(&page.db, options->args[1], NULL, error, sizeof(error)))
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
	struct perfetto export = {.path = options->args[1]};
	char error[512];
	int code;

	if (refuse_samples_words("perfetto", &options->samples))
		return NT_EXIT_MISUSED;
	if (!options->output)
		return nt_complain_misused("export perfetto: -o FILE is missing.");
	if (nt_select(&options->selection, &export.selection, error, sizeof(error)) ||
	    nt_selection_check(&export.selection, error, sizeof(error)))
		return nt_complain_misused(error);
	if (nt_feed_open(&export.feed, export.path, &options->symbols, error, sizeof(error)))
		return nt_complain("%s", error);
	code = nt_new_file(options->output, write_perfetto, &export);
	nt_feed_close(export.feed);
	return code;
}

/* ---- all formats ---- */

struct format {
	const char *name;
	bool has_stacks; /* so that functions have names */
	int (*run)(const struct nt_options *options);
};

static const struct format formats[] = {
	{"html", false, export_html},
	{"perfetto", true, export_perfetto},
	{"prometheus", false, export_prometheus},
};

static int run(const struct nt_options *options)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(options->args[0], formats[i].name))
			continue;
		if (!formats[i].has_stacks && (options->symbols.n_dirs || options->symbols.none))
			return nt_complain_misused(
				"this format has no stacks: --symbols and --no-symbols are for export perfetto.");
		return formats[i].run(options);
	}
	return nt_complain_misused(
		"the formats to export are html, perfetto and prometheus: nettape-report export html TAPE|DB -o FILE.");
}

const struct nt_command nt_cmd_export = {
	.name = "export",
	.usage = "html|perfetto|prometheus TAPE|DB [-o FILE] ...",
	.what = "writes the recording in the format of another program",
	.help = "html        a page for browsers: all of it as one file that needs nothing else\n"
		"perfetto    a trace for https://ui.perfetto.dev: the scheduler, softirqs, interrupts, who had each\n"
		"            CPU, socket operations, packets, losses; needs -o\n"
		"prometheus  a histogram of latency for each hook, in seconds, and counters of what is in none, drops\n"
		"            and retransmits\n",
	.takes = NT_TAKES_OUTPUT_IF | NT_TAKES_TIME | NT_TAKES_WHO | NT_TAKES_SAMPLES |
		 NT_TAKES_SYMBOLS | NT_TAKES_NO_SYMBOLS,
	.min_args = 2,
	.max_args = 2,
	.run = run,
};
