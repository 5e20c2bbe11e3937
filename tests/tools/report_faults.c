// SPDX-License-Identifier: GPL-2.0-only
/*
 * report_faults.c - runs nettape-report's commands again and again, each time with another call failing
 * (failing_calls.h): memory, files, threads, SQL. Each run must end in one of two ways:
 *
 *   - as otherwise: the failure did not matter
 *   - exit status 1, a sentence on standard error that says why, and no part of a file under the output's name
 *
 * and nothing leaks. Of the calls that the same places in the program led to the first fails, over all commands; of all
 * others, some that are drawn: alone, and with those of its sort that follow.
 *
 *   report_faults [-n DRAWN] [-v] <COMMANDS
 *
 * COMMANDS has one a line; a word with blanks stands between double quotes. The file that a command writes has to be
 * out/it. DRAWN is per command (4). NT_SEED decides which (rand.h).
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/support/must.h"
#include "tests/support/rand.h"
#include "tests/tools/failing_calls.h"

int report_main(int argc, char **argv);
#define main report_main
#include "report/main.c"
#undef main

#define MAX_WORDS 32
#define MAX_SEEN (1 << 20)
#define MAX_WRONG 10 /* after so many bad runs the rest is left out, but with -v */
#define SECONDS 300 /* a run that takes longer hangs, also on a busy machine */
#define MAX_SAID 65536 /* a pipe has room for so much */
#define OUTPUT "out/it"

struct text {
	char *data;
	size_t size;
};

/* The results of a run. */
struct outcome {
	int status; /* of waitpid */
	bool has_file;
	struct text out, file, said;
	long live; /* pieces of memory at its end */
};

struct shared {
	struct call_notes notes;
	long live;
};

struct sweep {
	struct shared *shared;
	int out; /* a file for standard output */
	int said[2]; /* a pipe for standard error: also where no file can grow */
	char *words[MAX_WORDS + 2]; /* of the command, after the program's name */
	int n_words;
	const char *line; /* as it was written */
	struct outcome wanted;
	struct nt_rand random;
	bool is_verbose;
	size_t runs, tolerated, wrong;
};

/* ---- files that may name functions: whatever fails of one, it is none. names_nomem.c asks about their memory ---- */

struct nt_program;

int __real_nt_build_id_open(const char *path, bool through_link);
int __wrap_nt_build_id_open(const char *path, bool through_link);
int __real_nt_program_read(struct nt_program *program, int fd, const uint8_t *build_id);
int __wrap_nt_program_read(struct nt_program *program, int fd, const uint8_t *build_id);

int __wrap_nt_build_id_open(const char *path, bool through_link)
{
	int fd;

	is_inside = true;
	fd = __real_nt_build_id_open(path, through_link);
	is_inside = false;
	return fd;
}

int __wrap_nt_program_read(struct nt_program *program, int fd, const uint8_t *build_id)
{
	int result;

	is_inside = true;
	result = __real_nt_program_read(program, fd, build_id);
	is_inside = false;
	return result;
}

/* ---- one run ---- */

static struct text read_whole(int fd)
{
	struct text text = {0};
	struct stat is;

	MUST(!fstat(fd, &is));
	text.data = malloc((size_t)is.st_size + 1);
	MUST(text.data);
	text.size = (size_t)pread(fd, text.data, (size_t)is.st_size, 0);
	MUST(text.size == (size_t)is.st_size);
	text.data[text.size] = 0;
	return text;
}

/* The pipe's content by now, or its begin. */
static struct text read_pipe(int fd)
{
	struct text text = {.data = malloc(MAX_SAID + 1)};
	ssize_t n;

	MUST(text.data);
	n = read(fd, text.data, MAX_SAID);
	text.size = n < 0 ? 0 : (size_t)n;
	text.data[text.size] = 0;
	return text;
}

static bool read_file(const char *path, struct text *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	*text = read_whole(fd);
	close(fd);
	return true;
}

static void release(struct outcome *outcome)
{
	free(outcome->out.data);
	free(outcome->file.data);
	free(outcome->said.data);
}

/* `room`: so many bytes may a file have. */
static void run_as_child(struct sweep *sweep, enum call_mode mode, const struct call *failing, rlim_t room)
{
	int nothing = open("/dev/null", O_RDONLY), status;

	MUST(nothing >= 0 && dup2(nothing, 0) == 0);
	MUST(dup2(sweep->out, STDOUT_FILENO) >= 0 && dup2(sweep->said[1], STDERR_FILENO) >= 0);
	alarm(SECONDS);
	signal(SIGXFSZ, SIG_IGN);
	MUST(!setrlimit(RLIMIT_FSIZE, &(struct rlimit){room, RLIM_INFINITY}));
	call_number = 0;
	failing_call = failing ? *failing : (struct call){0};
	live = 0;
	call_mode = mode;
	status = report_main(sweep->n_words + 1, sweep->words);
	call_mode = CALLS_PASS;
	sweep->shared->live = live;
	exit(status);
}

static struct outcome run_command(struct sweep *sweep, enum call_mode mode, const struct call *failing, rlim_t room)
{
	struct outcome outcome = {0};
	pid_t pid;

	MUST(!ftruncate(sweep->out, 0) && !lseek(sweep->out, 0, SEEK_SET));
	unlink(OUTPUT);
	sweep->shared->notes.has_failed = false;
	sweep->shared->notes.depth = 0;
	fflush(stdout);
	pid = fork();
	MUST(pid >= 0);
	if (!pid)
		run_as_child(sweep, mode, failing, room);
	MUST(waitpid(pid, &outcome.status, 0) == pid);
	outcome.has_file = read_file(OUTPUT, &outcome.file);
	outcome.out = read_whole(sweep->out);
	outcome.said = read_pipe(sweep->said[0]);
	outcome.live = sweep->shared->live;
	return outcome;
}

/* ---- judging it ---- */

static bool is_same(const struct text *a, const struct text *b)
{
	return a->size == b->size && (!a->size || !memcmp(a->data, b->data, a->size));
}

/* A tape of which a part cannot be read is shown as one that is damaged there, with the reason. */
static bool says_what_is_missing(const struct outcome *got, enum call_sort sort)
{
	const char *why = sort == CALL_OPEN ? strerror(EMFILE) : strerror(EIO);

	return (sort == CALL_OPEN || sort == CALL_STAT || sort == CALL_READ) &&
	       (strstr(got->out.data, why) || strstr(got->said.data, why));
}

/* NULL: it is as it must be. */
static const char *judge(const struct sweep *sweep, const struct outcome *got, enum call_sort sort)
{
	if (WIFSIGNALED(got->status))
		return WTERMSIG(got->status) == SIGALRM ? "it hangs" : "it crashes";
	if (got->live > sweep->wanted.live)
		return "memory leaks";
	if (got->status == sweep->wanted.status && is_same(&got->out, &sweep->wanted.out) &&
	    is_same(&got->file, &sweep->wanted.file))
		return NULL;
	if (!WEXITSTATUS(got->status) && says_what_is_missing(got, sort))
		return NULL;
	if (!WEXITSTATUS(got->status))
		return "it ends well with another output";
	if (WEXITSTATUS(got->status) != 1)
		return "the exit status is neither 0 nor 1";
	if (!strstr(got->said.data, "nettape-report: "))
		return "it fails and does not say why";
	if (sort == CALL_MEMORY && !strstr(got->said.data, "memory"))
		return "it does not say that memory is out";
	return got->has_file && !is_same(&got->file, &sweep->wanted.file) ? "it leaves a part of its output" : NULL;
}

static void explain(const struct sweep *sweep, const struct call *call, const struct outcome *got, const char *why)
{
	const struct call_notes *notes = &sweep->shared->notes;

	printf("FAILED %s\n  %s %u:%u: %s (status %#x, %zu bytes, said: %.200s)\n ", sweep->line,
	       call_sorts[call->sort], call->thread, call->number, why, got->status, got->out.size, got->said.data);
	for (int i = 0; i < notes->depth; i++)
		printf(" %p", notes->stack[i]);
	printf("\n");
}

static bool is_enough(const struct sweep *sweep)
{
	return sweep->wrong >= MAX_WRONG && !sweep->is_verbose;
}

static void try(struct sweep *sweep, enum call_mode mode, const struct call *call, rlim_t room)
{
	struct outcome got;
	const char *why;

	if (is_enough(sweep))
		return;
	got = run_command(sweep, mode, call, room);
	why = judge(sweep, &got, call->sort);
	sweep->runs++;
	sweep->tolerated += got.status == sweep->wanted.status && is_same(&got.out, &sweep->wanted.out);
	sweep->wrong += why != NULL;
	if (why)
		explain(sweep, call, &got, why);
	release(&got);
}

/* ---- which calls fail ---- */

/* False: a call of these functions has failed before. */
static bool is_new(uint64_t stack)
{
	static uint64_t seen[MAX_SEEN];

	for (size_t at = stack % MAX_SEEN;; at = (at + 1) % MAX_SEEN) {
		if (seen[at] == stack)
			return false;
		if (!seen[at]) {
			seen[at] = stack;
			return true;
		}
	}
}

static void try_calls(struct sweep *sweep, size_t n_drawn)
{
	size_t n = sweep->shared->notes.n;
	struct call *calls;

	MUST(n && n < MAX_CALLS);
	calls = malloc(n * sizeof(*calls));
	MUST(calls);
	memcpy(calls, sweep->shared->notes.list, n * sizeof(*calls));
	for (size_t i = 0; i < n; i++) {
		if (is_new(calls[i].stack))
			try(sweep, ONE_CALL_FAILS, &calls[i], RLIM_INFINITY);
	}
	for (size_t i = 0; i < n_drawn; i++) {
		try(sweep, ONE_CALL_FAILS, &calls[nt_rand_below(&sweep->random, n)], RLIM_INFINITY);
		try(sweep, ALL_CALLS_FAIL_FROM_THERE, &calls[nt_rand_below(&sweep->random, n)], RLIM_INFINITY);
	}
	free(calls);
}

/* The disk is full: nothing can be written, half of it, all but a byte. */
static void try_full_disk(struct sweep *sweep)
{
	const size_t size = sweep->wanted.has_file ? sweep->wanted.file.size : sweep->wanted.out.size;
	const struct call call = {.sort = CALL_WRITE};

	try(sweep, CALLS_PASS, &call, 0);
	try(sweep, CALLS_PASS, &call, size / 2);
	try(sweep, CALLS_PASS, &call, size - 1);
}

/* ---- all commands ---- */

/* Cuts the line, which is written over. */
static void split(struct sweep *sweep, char *line)
{
	sweep->words[0] = (char *)"nettape-report";
	sweep->n_words = 0;
	for (char *at = line; *(at += strspn(at, " "));) {
		const char end = *at == '"' ? '"' : ' ';

		at += end == '"';
		MUST(sweep->n_words < MAX_WORDS);
		sweep->words[++sweep->n_words] = at;
		at = strchrnul(at, end);
		if (*at)
			*at++ = 0;
	}
	sweep->words[sweep->n_words + 1] = NULL;
}

static double seconds_of_children(void)
{
	struct rusage used;

	getrusage(RUSAGE_CHILDREN, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void try_command(struct sweep *sweep, const char *line, size_t n_drawn)
{
	const double begin = seconds_of_children();
	const size_t runs = sweep->runs, tolerated = sweep->tolerated, wrong = sweep->wrong;
	struct outcome noted;
	char *words = strdup(line);

	MUST(words);
	sweep->line = line;
	split(sweep, words);
	sweep->wanted = run_command(sweep, CALLS_PASS, NULL, RLIM_INFINITY);
	sweep->shared->notes.n = 0;
	noted = run_command(sweep, CALLS_ARE_NOTED, NULL, RLIM_INFINITY);
	if (noted.status != sweep->wanted.status || WIFSIGNALED(noted.status) || WEXITSTATUS(noted.status) > 1 ||
	    (!noted.out.size && !noted.has_file) || !is_same(&noted.out, &sweep->wanted.out) ||
	    !is_same(&noted.file, &sweep->wanted.file)) {
		printf("FAILED %s: by itself, with status %#x, or not the same twice: %s\n", line, noted.status,
		       noted.said.data);
		sweep->wrong++;
	} else {
		try_calls(sweep, n_drawn);
		try_full_disk(sweep);
	}
	if (sweep->is_verbose)
		printf("%s: %zu calls, %zu runs, %zu tolerated, %zu wrong, %.2f s\n", line,
		       (size_t)sweep->shared->notes.n, sweep->runs - runs, sweep->tolerated - tolerated,
		       sweep->wrong - wrong, seconds_of_children() - begin);
	release(&noted);
	release(&sweep->wanted);
	free(words);
}

int main(int argc, char **argv)
{
	static struct sweep sweep;
	size_t n_drawn = 4, n_commands = 0, size = 0;
	char *line = NULL;
	int option;

	while ((option = getopt(argc, argv, "n:v")) != -1) {
		MUST(option != '?');
		if (option == 'n')
			n_drawn = strtoull(optarg, NULL, 10);
		else
			sweep.is_verbose = true;
	}
	sweep.random.state = nt_rand_seed();
	sweep.out = memfd_create("out", MFD_CLOEXEC);
	sweep.shared = mmap(NULL, sizeof(*sweep.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(sweep.out >= 0 && !pipe2(sweep.said, O_NONBLOCK | O_CLOEXEC) && sweep.shared != MAP_FAILED);
	call_notes = &sweep.shared->notes;
	for (ssize_t length; (length = getline(&line, &size, stdin)) > 0;) {
		line[strcspn(line, "\n")] = 0;
		if (line[0] && !is_enough(&sweep)) {
			try_command(&sweep, line, n_drawn);
			n_commands++;
		}
	}
	free(line);
	printf("%zu commands, %zu runs with a call that fails, %zu of them as if it had not, %zu wrong\n", n_commands,
	       sweep.runs, sweep.tolerated, sweep.wrong);
	return sweep.wrong || !n_commands;
}
