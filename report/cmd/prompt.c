// SPDX-License-Identifier: GPL-2.0-only
/*
 * prompt.c - see prompt.h.
 */
#include "report/cmd/prompt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/cmd/sql.h"
#include "report/out/complain.h"
#include "schema/cli/arg.h"

#define MAX_SQL (1u << 20)

/* The handler of Ctrl-C acts on these: a signal handler has no argument of its own. */
static sqlite3 *volatile asked;
static volatile sig_atomic_t interrupted;

struct prompt {
	struct nt_db *db;
	struct nt_printer *printer;
	/* The statement so far, zero-terminated. */
	char *sql;
	size_t size;
	bool is_over;
};

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
	sqlite3_interrupt(asked);
}

/* ---- commands that are no SQL ---- */

static void show_help(void)
{
	puts(".tables         the tables and views\n"
	     ".columns NAME   the columns of one of them\n"
	     ".quit           ends, as Ctrl-D does\n"
	     "Everything else is SQL that reads. A statement ends with ; and may have several\n"
	     "lines. Ctrl-C ends a statement that runs or is being typed.\n"
	     "Try: SELECT * FROM net_cost_process ORDER BY net_ns DESC LIMIT 5;");
}

static void show_columns(struct nt_db *db, const char *table)
{
	struct nt_sql_names columns = {0}, tables = {0};
	const char *nearest;

	if (!table[0]) {
		nt_complain(".columns needs the name of a table or view, such as .columns socket.");
	} else if (nt_sql_columns(db, table, &columns) || nt_sql_tables(db, NULL, &tables)) {
		nt_complain("%s", db->error);
	} else if (columns.n) {
		nt_sql_names_print(stdout, table, &columns);
	} else {
		nearest = nt_arg_nearest(table, (const char *const *)tables.list);
		nt_complain("no such table: %s; %s%s%s", table, nearest ? "did you mean '" : ".tables lists them.",
			    nearest ? nearest : "", nearest ? "'?" : "");
	}
	nt_sql_names_release(&columns);
	nt_sql_names_release(&tables);
}

/* Whether the line is such a command; then it has been run. The line is cut into words. */
static bool run_command(struct prompt *prompt, char *line)
{
	static const char *const known[] = {".tables", ".columns", ".help", ".quit", NULL};
	char *word = strtok(line, " \t\r\n;"), *argument = word ? strtok(NULL, " \t\r\n;") : NULL;
	const char *nearest;

	if (!word)
		return true;
	if (!strcmp(word, ".quit") || !strcmp(word, ".exit") || !strcmp(word, "quit") || !strcmp(word, "exit"))
		prompt->is_over = true;
	else if (!strcmp(word, ".help") || !strcmp(word, "help"))
		show_help();
	else if (!strcmp(word, ".tables"))
		nt_sql_tables_print(stdout, prompt->db);
	else if (!strcmp(word, ".columns") || !strcmp(word, ".schema"))
		show_columns(prompt->db, argument ? argument : "");
	else if (word[0] != '.')
		return false;
	else if ((nearest = nt_arg_nearest(word, known)))
		nt_complain("there is no command %s; did you mean %s?", word, nearest);
	else
		nt_complain("there is no command %s; .help lists them.", word);
	return true;
}

/* ---- statements ---- */

static void forget(struct prompt *prompt)
{
	prompt->size = 0;
	if (prompt->sql)
		prompt->sql[0] = 0;
}

static int append(struct prompt *prompt, const char *line)
{
	size_t size = strlen(line);
	char *larger = prompt->size + size < MAX_SQL ? realloc(prompt->sql, prompt->size + size + 1) : NULL;

	if (!larger)
		return -1;
	memcpy(larger + prompt->size, line, size + 1);
	prompt->sql = larger;
	prompt->size += size;
	return 0;
}

static void run_statement(struct prompt *prompt)
{
	interrupted = 0;
	nt_sql_run(prompt->db, prompt->printer, prompt->sql);
	forget(prompt);
}

static void take_line(struct prompt *prompt, const char *line)
{
	char *copy;
	bool is_command;

	if (!prompt->size) {
		copy = strdup(line);
		is_command = copy && run_command(prompt, copy);
		free(copy);
		if (is_command)
			return;
	}
	if (append(prompt, line)) {
		nt_complain("the statement is longer than a megabyte.");
		forget(prompt);
	} else if (sqlite3_complete(prompt->sql)) {
		run_statement(prompt);
	}
}

/* After an interrupt: a write or read that it cut off is no failure. */
static void recover(struct prompt *prompt)
{
	interrupted = 0;
	clearerr(stdin);
	clearerr(stdout);
	forget(prompt);
	fputc('\n', stderr);
}

/*
 * Waits until there is something to read, or Ctrl-C came. From the look at `interrupted` to the wait the signal is held
 * back: one that came between them would end nothing.
 */
static void wait_for_line(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	sigset_t held, before;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigprocmask(SIG_BLOCK, &held, &before);
	while (!interrupted && ppoll(&input, 1, NULL, &before) < 0 && errno == EINTR)
		;
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void read_lines(struct prompt *prompt)
{
	char *line = NULL;
	size_t size = 0;

	/* The wait sees only the file descriptor: the C library must not read ahead. */
	setvbuf(stdin, NULL, _IONBF, 0);
	while (!prompt->is_over) {
		fflush(stdout);
		if (interrupted)
			recover(prompt);
		fputs(prompt->size ? "...> " : "sql> ", stderr);
		wait_for_line();
		if (interrupted)
			continue;
		if (getline(&line, &size, stdin) >= 0)
			take_line(prompt, line);
		else if (!interrupted)
			break;
	}
	free(line);
	if (prompt->is_over)
		return;
	/* Ctrl-D: what was typed lacks its semicolon, no more. */
	fputc('\n', stderr);
	if (prompt->size)
		run_statement(prompt);
}

int nt_prompt(struct nt_db *db, struct nt_printer *printer, const char *path)
{
	/* Without SA_RESTART: Ctrl-C must also end the wait for a line. */
	struct sigaction action = {.sa_handler = interrupt}, before;
	struct prompt prompt = {.db = db, .printer = printer};

	fprintf(stderr,
		"SQL on %s, read-only. A statement ends with ; and Enter.\n"
		".tables lists tables and views, .columns NAME their columns, .help more; Ctrl-D ends.\n",
		path);
	asked = db->handle;
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, &before);
	read_lines(&prompt);
	sigaction(SIGINT, &before, NULL);
	free(prompt.sql);
	return NT_EXIT_DONE;
}
