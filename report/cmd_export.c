// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_export.c - nettape-report export: what is on a tape, in the formats of other programs. With -o the file appears
 * under its name when it is whole, for there may be who reads whatever is there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/command.h"
#include "report/export_prometheus.h"
#include "report/load.h"

static int misused(const char *what)
{
	nt_complain("%s", what);
	return NT_EXIT_MISUSED;
}

/* Writes to the file; gives an exit code. */
static int write_all(struct nt_db *db, const struct nt_latency_choice *choice, FILE *out)
{
	return nt_export_prometheus(db, choice, out) ? nt_complain("%s", db->error) : NT_EXIT_DONE;
}

/* Gives an exit code; closes the file. */
static int write_and_close(struct nt_db *db, const struct nt_latency_choice *choice, FILE *file, const char *path)
{
	int code = write_all(db, choice, file);
	bool failed = ferror(file) != 0;

	failed |= fclose(file) != 0;
	return !code && failed ? nt_complain("%s cannot be written: is the disk full?", path) : code;
}

/* What is there and no file, such as a pipe, is written to as it is. */
static bool is_special(const char *path)
{
	struct stat status;

	return !stat(path, &status) && !S_ISREG(status.st_mode);
}

static int write_new(struct nt_db *db, const struct nt_latency_choice *choice, const char *path, const char *partial)
{
	FILE *file = fopen(partial, "we");
	int code;

	if (!file)
		return nt_complain("%s cannot be made: %s.", partial, strerror(errno));
	code = write_and_close(db, choice, file, partial);
	if (!code && rename(partial, path))
		code = nt_complain("%s cannot be finished: %s.", path, strerror(errno));
	if (code)
		unlink(partial);
	return code;
}

static int write_file(struct nt_db *db, const struct nt_latency_choice *choice, const char *path)
{
	char *partial = NULL;
	FILE *file;
	int code;

	if (is_special(path)) {
		file = fopen(path, "we");
		return file ? write_and_close(db, choice, file, path)
			    : nt_complain("%s cannot be opened: %s.", path, strerror(errno));
	}
	if (asprintf(&partial, "%s.partial", path) < 0)
		return nt_complain("out of memory.");
	code = write_new(db, choice, path, partial);
	free(partial);
	return code;
}

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

static int export_all(struct nt_db *db, const struct nt_options *options, const struct nt_latency_choice *choice)
{
	int has = has_any(db);

	if (has < 0)
		return nt_complain("%s", db->error);
	if (!has)
		return nt_complain("%s: there is nothing to export: record with nettape-record --probes "
				   "default,latency,drops,retransmits.",
				   options->args[1]);
	return options->output ? write_file(db, choice, options->output) : write_all(db, choice, stdout);
}

static int run(const struct nt_options *options)
{
	struct nt_latency_choice choice;
	struct nt_db *db;
	char error[512];
	int code;

	if (strcmp(options->args[0], "prometheus") != 0)
		return misused("the one format to export is prometheus: nettape-report export prometheus TAPE|DB.");
	if (nt_latency_choose(&options->samples, &choice, error, sizeof(error)))
		return misused(error);
	if (nt_load_open(&db, options->args[1], error, sizeof(error)))
		return nt_complain("%s", error);
	code = export_all(db, options, &choice);
	nt_db_close(db);
	return code;
}

const struct nt_command nt_cmd_export = {
	.name = "export",
	.usage = "prometheus TAPE|DB [-o FILE] ...",
	.what = "writes latency histograms, drops and retransmits for Prometheus",
	.help = "A histogram of latency for each hook, in seconds, and counters of what is in none.\n",
	.takes = NT_TAKES_OUTPUT_IF | NT_TAKES_SAMPLES,
	.min_args = 2,
	.max_args = 2,
	.run = run,
};
