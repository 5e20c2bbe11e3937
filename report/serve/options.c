// SPDX-License-Identifier: GPL-2.0-only
/* options.c - see options.h. */
#include "report/serve/options.h"

#include <stdio.h>
#include <string.h>

#include "report/cmd/options.h"
#include "report/export/export.h"
#include "report/out/complain.h"
#include "report/out/option_help.h"
#include "report/out/prose.h"
#include "schema/cli/arg.h"

#define QUERY_LEAST_NS 1000000
#define QUERY_MOST_NS 3600000000000

static bool set_listener(void *listener, const struct nt_option_values *values)
{
	return nt_listener_parse(listener, values->text);
}

static bool add_name(void *into, const struct nt_option_values *values)
{
	struct nt_serve_options *options = into;

	if (options->n_names == NT_SERVE_NAMES_MAX) {
		snprintf(values->error, values->error_size, "option '--host' is given too often");
		return false;
	}
	options->names[options->n_names++] = values->text;
	return true;
}

static bool set_query_time(void *query_ns, const struct nt_option_values *values)
{
	int64_t *ns = query_ns;

	return !nt_arg_duration(values->text, ns) && *ns >= QUERY_LEAST_NS && *ns <= QUERY_MOST_NS;
}

#define TO(set, member) NT_TO(set, struct nt_serve_options, member)

static const struct nt_option table[] = {
	NT_OPTION("listen", 'l', "WHERE", NT_LISTENER_DEFAULT, TO(set_listener, listener),
		  "the address and port, or unix:PATH for a socket that only its owner reaches (" NT_LISTENER_DEFAULT
		  ")",
		  .wants = "ADDRESS:PORT, [ADDRESS]:PORT, PORT or unix:PATH"),
	NT_OPTION("token-file", 0, "FILE", "nettape.token", TO(nt_option_set_text, token_file),
		  "the token that requests must know; made if it is not there (without: a new token, which is "
		  "printed)"),
	{.name = "host",
	 .value = "NAME",
	 .example = "server.example.org",
	 .set = add_name,
	 .help = "a name of this host that requests may have, beside addresses and localhost; may be repeated"},
	NT_OPTION("limit", 0, "N", "25", TO(nt_set_limit, limit),
		  "N programs, cgroups and ports with names, or all (25)", .wants = "a number from 1 on, or all",
		  .choice = nt_choose_limit),
	NT_OPTION("queries", 0, "TIME", "10s", TO(set_query_time, query_ns),
		  "answer SQL at /api/query, each query for so long at most (without: no SQL)",
		  .wants = "a time from 1ms to 1h"),
	NT_OPTION("help", 'h', NULL, NULL, TO(nt_option_set_true, help), "show this text"),
	NT_OPTION("version", 0, NULL, NULL, TO(nt_option_set_true, version), "show the version"),
	NT_OPTIONS_END,
};

static const char usage[] = "usage: nettape-serve TAPE|DIRECTORY [OPTION]...";

static void print_help(void)
{
	puts(usage);
	puts("");
	nt_print_prose(stdout, "", "%s",
		       "Shows a tape in a browser while nettape-record writes it, on a page whose address it "
		       "prints, and answers Prometheus at /metrics. Of a directory of tapes it serves the one "
		       "that is recorded.");
	puts("\nOptions:");
	nt_print_options(stdout, table);
	puts("\nExample:\n  nettape-serve /var/lib/nettape --token-file nettape.token\n"
	     "\nManual:\n  man nettape-serve");
}

static bool misused(const char *sentence, int *exit_status)
{
	nt_complain("%s.", sentence);
	fprintf(stderr, "%s\nHelp: nettape-serve --help\n", usage);
	*exit_status = NT_EXIT_MISUSED;
	return false;
}

static void complete(int n, char **words)
{
	bool is_behind;

	if (n > 0 && !nt_option_complete(stdout, table, false, n, words, &is_behind))
		puts(":directories");
}

static bool print_and_end(const struct nt_serve_options *options, int *exit_status)
{
	if (options->help)
		print_help();
	else
		puts("nettape-serve " NT_VERSION);
	*exit_status = NT_EXIT_DONE;
	return false;
}

bool nt_serve_options_read(struct nt_serve_options *options, int argc, char **argv, int *exit_status)
{
	char error[NT_ERROR_MAX];
	struct nt_option_reader reader = {
		.options = table, .into = options, .error = error, .error_size = sizeof(error)};
	int n;

	*options = (struct nt_serve_options){.limit = NT_PROMETHEUS_NAMED, .listener.fd = -1};
	*exit_status = NT_EXIT_DONE;
	if (argc > 1 && !strcmp(argv[1], "--complete")) {
		complete(argc - 2, argv + 2);
		return false;
	}
	n = nt_option_read(&reader, argc, argv);
	if (n < 0)
		return misused(error, exit_status);
	if (options->help || options->version)
		return print_and_end(options, exit_status);
	if (n != 1)
		return misused(n ? "one tape or directory, and no more, can be served"
				 : "a tape is missing, or a directory of tapes",
			       exit_status);
	options->path = argv[1];
	return true;
}
