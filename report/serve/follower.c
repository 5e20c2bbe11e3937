// SPDX-License-Identifier: GPL-2.0-only
/* follower.c - see follower.h. */
#include "report/serve/follower.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/prometheus/live.h"
#include "report/out/complain.h"
#include "report/out/denied.h"
#include "report/out/interrupt.h"
#include "report/serve/tape_choice.h"
#include "report/util/now.h"

#define OK 200
#define UNAVAILABLE 503
#define RETRY_MS 30000 /* after nothing could be read */
/* Sums take a tenth of the time, unless figures would become too old for that. */
#define SUM_PART 10
#define SUM_LEAST_MS 1000 /* between two */
#define SUM_MOST_MS 10000

struct nt_follower {
	char *path;
	size_t limit;
	struct nt_history *history;
	struct nt_tape_choice tape; /* at hand, as it was when it began or ended */
	struct nt_left_tapes left; /* that could not be read */
	struct nt_prometheus_live *live; /* NULL: there is none */
	bool is_told; /* on stdout, that it is served */
	bool has_ended; /* the tape; its figures have been published */
	uint64_t sum_ms, retry_ms; /* not before */
	bool has_figures; /* they have been published, of this tape or the one before */
	char said[NT_ERROR_MAX]; /* if not: why */
	char told[NT_ERROR_MAX]; /* on stderr, last */
};

struct nt_follower *nt_follower_new(const char *path, size_t limit, struct nt_history *history)
{
	struct nt_follower *follower = calloc(1, sizeof(*follower));

	if (!follower)
		return NULL;
	follower->limit = limit;
	follower->history = history;
	follower->path = strdup(path);
	if (follower->path)
		return follower;
	free(follower);
	return NULL;
}

static void forget_tape(struct nt_follower *follower)
{
	nt_prometheus_live_free(follower->live);
	follower->live = NULL;
	nt_tape_choice_release(&follower->tape);
}

void nt_follower_free(struct nt_follower *follower)
{
	if (!follower)
		return;
	forget_tape(follower);
	nt_left_tapes_release(&follower->left);
	free(follower->path);
	free(follower);
}

/* ---- pages ---- */

/* A page with a sentence. 0, or -1: out of memory, as the next. */
static int say(struct nt_follower *follower, const char *sentence, struct nt_page *page)
{
	if (!strcmp(follower->said, sentence))
		return 0;
	follower->has_figures = false;
	snprintf(follower->said, sizeof(follower->said), "%s", sentence);
	page->status = UNAVAILABLE;
	page->size = (size_t)asprintf(&page->text, "%s\n", sentence);
	return page->size == (size_t)-1 ? -1 : 0;
}

static int write_figures(struct nt_follower *follower, struct nt_page *page)
{
	FILE *out = open_memstream(&page->text, &page->size);

	if (!out)
		return -1;
	nt_prometheus_live_write(follower->live, out);
	if (fclose(out)) {
		free(page->text);
		page->text = NULL;
		return -1;
	}
	page->status = OK;
	follower->has_figures = true;
	follower->said[0] = 0;
	return 0;
}

/* ---- which tape ---- */

static bool is_interrupted(void *arg)
{
	(void)arg;
	return nt_interrupted();
}

static int begin(struct nt_follower *follower, struct nt_tape_choice *tape)
{
	const struct nt_prometheus_choice choice = {.limit = follower->limit,
						    .is_stopped = is_interrupted,
						    .add = nt_history_add,
						    .arg = follower->history};

	forget_tape(follower);
	follower->tape = *tape;
	*tape = (struct nt_tape_choice){.path = NULL};
	follower->is_told = false;
	follower->has_ended = false;
	follower->sum_ms = 0;
	follower->live = nt_prometheus_live_new(follower->tape.path, &choice);
	return follower->live ? 0 : -1;
}

/* Once, while nothing else is told. */
static void tell(struct nt_follower *follower, const char *sentence)
{
	if (strcmp(follower->told, sentence) != 0)
		nt_complain("%s", sentence);
	snprintf(follower->told, sizeof(follower->told), "%s", sentence);
}

/* There is no tape, or none that can be read: what failed before is tried again. */
static int wait_for_one(struct nt_follower *follower, const char *unreadable, struct nt_page *page)
{
	char sentence[NT_ERROR_MAX];

	if (follower->left.n) {
		nt_left_tapes_release(&follower->left);
		follower->retry_ms = nt_now_ms() + RETRY_MS;
		return 0;
	}
	if (unreadable)
		return say(follower, unreadable, page);
	nt_fail(sentence, "there is no tape at %s yet.", follower->path);
	return say(follower, sentence, page);
}

/* The next one, if there is: while a tape is recorded, it stays that. 0, or -1: out of memory. */
static int choose(struct nt_follower *follower, struct nt_page *page)
{
	struct nt_tape_choice tape = nt_tape_choose(follower->path, &follower->left);
	char why[NT_DENIED_MAX], unreadable[NT_ERROR_MAX] = "";
	int error = 0;

	if (tape.unreadable) {
		nt_fail(unreadable, "%s cannot be read: %s.", tape.unreadable,
			nt_denied_read(why, tape.unreadable, EACCES));
		tell(follower, unreadable);
	}
	if (tape.path && !(follower->live && nt_tape_choice_is(&tape, &follower->tape)))
		error = begin(follower, &tape);
	if (!follower->live && !error)
		error = wait_for_one(follower, unreadable[0] ? unreadable : NULL, page);
	nt_tape_choice_release(&tape);
	return error;
}

/* ---- looking ---- */

/* The tape cannot be read any more. Somebody may put that right. */
static int fail(struct nt_follower *follower, const char *error, struct nt_page *page)
{
	tell(follower, error);
	/* Not before something comes there, or nothing else can be read. */
	nt_tape_choice_note(&follower->tape);
	if (nt_tape_leave_out(&follower->left, &follower->tape))
		return -1;
	forget_tape(follower);
	return say(follower, error, page);
}

static void tell_problems(const struct nt_follower *follower)
{
	char text[NT_ERROR_MAX];

	while (nt_prometheus_live_problem(follower->live, text))
		nt_complain("%s: %s", follower->tape.path, text);
}

/* The next one, after one that began then. */
static void put_off_sum(struct nt_follower *follower, uint64_t begin_ms)
{
	const uint64_t end_ms = nt_now_ms();
	uint64_t pause_ms = SUM_PART * (end_ms - begin_ms);

	if (pause_ms < SUM_LEAST_MS)
		pause_ms = SUM_LEAST_MS;
	follower->sum_ms = end_ms + (pause_ms < SUM_MOST_MS ? pause_ms : SUM_MOST_MS);
}

/* Why there are no figures of the tape. Those of the one before hold until there are. */
static int say_not_yet(struct nt_follower *follower, const char *what, struct nt_page *page)
{
	char sentence[NT_ERROR_MAX];

	if (follower->has_figures)
		return 0;
	nt_fail(sentence, "%s: %s.", follower->tape.path, what);
	return say(follower, sentence, page);
}

/* Adds up what is complete, now and then, and at the end. */
static int sum(struct nt_follower *follower, struct nt_page *page)
{
	const uint64_t begin_ms = nt_now_ms();
	char error[NT_ERROR_MAX];
	int result;

	if (begin_ms < follower->sum_ms && !follower->has_ended)
		return 0;
	result = nt_prometheus_live_sum(follower->live, error);
	if (result < 0)
		return fail(follower, error, page);
	if (follower->has_ended)
		nt_history_end(follower->history);
	put_off_sum(follower, begin_ms);
	return result ? write_figures(follower, page) : say_not_yet(follower, "nothing is complete yet", page);
}

static void tell_what_is_served(struct nt_follower *follower)
{
	if (follower->is_told)
		return;
	printf("nettape-serve: %s %s\n", follower->tape.is_recorded ? "follows" : "shows", follower->tape.path);
	follower->is_told = true;
}

static int look_at_tape(struct nt_follower *follower, struct nt_page *page, bool *is_behind)
{
	char error[NT_ERROR_MAX];
	const int result = nt_prometheus_live_look(follower->live, error);

	if (result < 0)
		return fail(follower, error, page);
	tell_what_is_served(follower);
	tell_problems(follower);
	follower->has_ended = result;
	if (follower->has_ended)
		nt_tape_choice_note(&follower->tape);
	*is_behind = nt_prometheus_live_is_behind(follower->live);
	/* Sums of a part would be less than what was answered before: no counter falls. */
	return *is_behind ? say_not_yet(follower, "it is being read", page) : sum(follower, page);
}

int nt_follower_look(struct nt_follower *follower, struct nt_page *page, bool *is_behind)
{
	*page = (struct nt_page){.text = NULL};
	*is_behind = false;
	if (nt_now_ms() < follower->retry_ms)
		return 0;
	if ((!follower->live || follower->has_ended) && choose(follower, page))
		return -1;
	return follower->live && !follower->has_ended ? look_at_tape(follower, page, is_behind) : 0;
}

const char *nt_follower_tape(const struct nt_follower *follower)
{
	return follower->live ? follower->tape.path : NULL;
}
