// SPDX-License-Identifier: GPL-2.0-only
/* export_html.c - nettape-report export html: a recording as one page for browsers. */
#include <unistd.h>

#include "report/cmd/command.h"
#include "report/cmd/damage.h"
#include "report/cmd/options.h"
#include "report/db/load.h"
#include "report/out/new_file.h"

struct page {
	struct nt_db *db;
	struct nt_selection selection;
	enum nt_by by;
};

static int write_html(void *arg, FILE *out)
{
	struct page *page = arg;

	return nt_export_html(page->db, &page->selection, page->by, out) ? nt_complain("%s", page->db->error)
									 : NT_EXIT_DONE;
}

static int export_page(struct page *page, const struct nt_options *options)
{
	const char *why;
	int has = nt_export_html_has(page->db, &page->selection, &why);

	if (has < 0)
		return nt_complain("%s", page->db->error);
	if (!has)
		return nt_complain("%s: %s.", options->args[0], why);
	return nt_new_file(options->output, "open it in a browser", write_html, page);
}

static int run(const struct nt_options *options)
{
	struct page page = {0};
	char error[NT_ERROR_MAX];
	size_t told = 0;
	int code;

	if (nt_by_choose(options->samples.by, NT_BY_OF_COSTS, &page.by, error))
		return nt_complain_misused(error);
	if (page.by == NT_BY_NONE)
		page.by = NT_BY_PROGRAM;
	if (!options->output && isatty(STDOUT_FILENO))
		return nt_complain_misused("the page would go to the terminal: give a file with -o.");
	if (nt_select(&options->selection, &page.selection, error))
		return nt_complain_misused(error);
	if (nt_load_open(&page.db, options->args[0], NULL, options->names, NULL, error))
		return nt_complain("%s", error);
	nt_damage_tell(page.db, options->args[0], &told);
	code = export_page(&page, options);
	nt_damage_tell(page.db, options->args[0], &told);
	nt_db_close(page.db);
	return code;
}

static const struct nt_option options[] = {
	NT_OPTION_OUTPUT_OR_NOT, NT_OPTIONS_TIME, NT_OPTIONS_WHO, NT_OPTION_BY_COST,
	NT_OPTION_NAMES,	 NT_OPTION_HELP,  NT_OPTIONS_END,
};

const struct nt_command nt_cmd_export_html = {
	.name = "export html",
	.group = NT_GROUP_TAKE,
	.usage = "TAPE|DB -o FILE [OPTION]...",
	.what = "write one page for browsers: charts and tables, in one file",
	.help = "The page needs no network and no other file.",
	.example = "export html busy.tape -o busy.html",
	.wants = "a tape or a database",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
