// SPDX-License-Identifier: GPL-2.0-only
/*
 * info.c - nettape-report info: what is on a tape, how it was recorded, and what it does not cover. From the tape
 * itself; events are counted, not interpreted.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/cmd/command.h"
#include "report/cmd/options.h"
#include "report/out/prose.h"
#include "report/query/whole.h"
#include "report/rows/rows.h"
#include "report/tape/clock.h"
#include "schema/meta_keys.h"

struct info {
	struct nt_tape *tape;
	uint64_t records[NT_KIND_MAX], lost[NT_KIND_MAX];
	uint64_t n_records, n_lost, unknown;
	uint64_t busy_polls, busy_polls_untimed; /* by tasks; and of these, of unknown begin */
	struct nt_clocks clocks;
};

/* ---- counting ---- */

static int count_block(struct info *info, struct nt_event_decoder *decoder, const struct nt_buf *raw)
{
	union nt_any record;
	int error = nt_event_decoder_open(decoder, raw->data, raw->size);

	while (!error && !(error = nt_event_decoder_next(decoder, &record))) {
		info->records[record.record.kind % NT_KIND_MAX]++;
		info->n_records++;
		if (record.record.kind == NT_NAPI && record.as_napi.context == NT_NAPI_BUSY) {
			info->busy_polls++;
			info->busy_polls_untimed += record.as_napi.flags & NT_SPAN_NO_BEGIN;
		}
		if (record.record.kind == NT_LOSS) {
			info->lost[record.as_loss.lost_kind % NT_KIND_MAX] += record.as_loss.count;
			info->n_lost += record.as_loss.count;
		}
	}
	info->unknown += nt_event_decoder_unknown(decoder);
	return error == 1 ? 0 : error;
}

static int add_clock(struct info *info, const struct nt_buf *raw)
{
	struct nt_clock clock;
	int error = nt_clock_decode(raw->data, raw->size, &clock);

	return error ? error : nt_clocks_add(&info->clocks, &clock);
}

static int count_chunk(struct info *info, size_t chunk, struct nt_event_decoder *decoder, struct nt_buf *raw)
{
	const struct nt_chunk_contents *contents;
	int error = nt_tape_hold(info->tape, chunk, &contents);

	if (error)
		return error;
	for (size_t i = 0; i < contents->n_blocks && !error; i++) {
		const struct nt_block_ref *block = &contents->blocks[i];
		const bool is_clock = block->header.type == NT_BLOCK_CLOCK;

		if (block->header.type != NT_BLOCK_EVENTS && !is_clock)
			continue;
		error = nt_tape_load(info->tape, chunk, block, raw);
		if (!error) {
			error = is_clock ? add_clock(info, raw) : count_block(info, decoder, raw);
			if (error == -EBADMSG)
				error = nt_tape_bad_block(info->tape, chunk, block->offset);
		} else if (error == -EBADMSG) {
			error = 0; /* a problem of the tape by now */
		}
	}
	nt_tape_drop(info->tape, chunk);
	return error;
}

static int count_all(struct info *info)
{
	struct nt_event_decoder *decoder = nt_event_decoder_new();
	struct nt_buf raw = {0};
	int error = decoder ? 0 : -ENOMEM;

	for (size_t chunk = 0; chunk < info->tape->n_chunks && !error; chunk++)
		error = count_chunk(info, chunk, decoder, &raw);
	nt_clocks_settle(&info->clocks);
	nt_event_decoder_free(decoder);
	nt_buf_release(&raw);
	return error;
}

/* ---- what the tape says of itself ---- */

/* The value of a key, or NULL; `text` is where it is put. */
static const char *meta(const struct info *info, const char *key, char text[512])
{
	return nt_tape_meta(info->tape, key, text, 512) ? NULL : text;
}

static unsigned int count_cpus(const struct info *info)
{
	unsigned int n = 0;

	for (uint32_t cpu = 0; cpu < info->tape->n_cpus; cpu++)
		n += info->tape->present[cpu];
	return n;
}

/* Moves on to the next line with this key. False: there is none. */
static bool next_meta(const struct info *info, const char *key, size_t *offset, char text[512])
{
	const struct nt_buf *all = &info->tape->meta;
	const char *line_key, *value;
	size_t key_size, size;

	while (!nt_meta_next(all->data, all->size, offset, &line_key, &key_size, &value, &size)) {
		if (key_size != strlen(key) || memcmp(line_key, key, key_size) != 0)
			continue;
		snprintf(text, 512, "%.*s", size < 511 ? (int)size : 511, value);
		return true;
	}
	return false;
}

/* A sentence on the busy polls without a known begin, or NULL. */
static const char *missed_polls(const struct info *info, char text[512])
{
	char polls[NT_HUMAN_MAX], untimed[NT_HUMAN_MAX];

	if (!info->busy_polls_untimed)
		return NULL;
	snprintf(text, 512,
		 "Of %s polls that tasks made by themselves (busy polling), %s have no known begin: their time is not "
		 "net_rx; it belongs to the task or its receive.",
		 nt_human_count(polls, (int64_t)info->busy_polls),
		 nt_human_count(untimed, (int64_t)info->busy_polls_untimed));
	return text;
}

/* Events are counted and not interpreted: how much time is touched is not known. */
static struct nt_whole whole_of(const struct nt_tape *tape)
{
	struct nt_whole whole = {.is_whole = nt_tape_is_complete(tape)};
	char text[512];

	whole.open_end = !tape->has_end && nt_tape_meta(tape, NT_META_STOP, text, sizeof(text));
	whole.n_problems = (int64_t)nt_tape_problem_at(tape, 0, whole.first);
	return whole;
}

/* ---- JSON ---- */

static void json_kinds(struct nt_json *json, const char *key, const uint64_t *counts)
{
	nt_json_open(json, key, '{');
	for (unsigned int kind = 0; kind < NT_KIND_MAX; kind++) {
		if (nt_kind_is_of_cpu(kind))
			nt_json_integer(json, nt_kind(kind)->name, (int64_t)counts[kind]);
		else if (counts[kind])
			nt_json_integer(json, "unknown", (int64_t)counts[kind]);
	}
	nt_json_close(json, '}');
}

/* `more`: one more line, or NULL. */
static void json_list(struct nt_json *json, const struct info *info, const char *key, const char *more)
{
	size_t offset = 0;
	char text[512];

	nt_json_open(json, key, '[');
	while (next_meta(info, key, &offset, text))
		nt_json_text(json, NULL, text);
	if (more)
		nt_json_text(json, NULL, more);
	nt_json_close(json, ']');
}

static void json_number(struct nt_json *json, const struct info *info, const char *key)
{
	uint64_t number = nt_tape_meta_number(info->tape, key, UINT64_MAX);

	nt_json_if(json, key, number != UINT64_MAX, (int64_t)number);
}

/* "sched,softirq" as a list. */
static void json_probes(struct nt_json *json, const struct info *info)
{
	char text[512], *rest = text, *probe;

	nt_json_open(json, "probes", '[');
	if (meta(info, NT_META_PROBES, text)) {
		while ((probe = strsep(&rest, ",")))
			nt_json_text(json, NULL, probe);
	}
	nt_json_close(json, ']');
}

#define MAX_STEPS 20 /* that are told one by one */

static void json_clocks(struct nt_json *json, const struct info *info)
{
	struct nt_clock_step steps[MAX_STEPS];
	size_t n = nt_clocks_steps(&info->clocks, steps, MAX_STEPS);
	uint64_t uncertainty_ns = nt_clocks_uncertainty(&info->clocks);

	nt_json_if(json, "clock_uncertainty_ns", uncertainty_ns <= INT64_MAX, (int64_t)uncertainty_ns);
	nt_json_integer(json, "clock_steps", (int64_t)n);
	nt_json_open(json, "first_clock_steps", '[');
	for (size_t i = 0; i < n && i < MAX_STEPS; i++) {
		nt_json_open(json, NULL, '{');
		nt_json_integer(json, "after_ns", steps[i].after_ns);
		nt_json_integer(json, "before_ns", steps[i].before_ns);
		nt_json_integer(json, "change_ns", steps[i].change_ns);
		nt_json_close(json, '}');
	}
	nt_json_close(json, ']');
}

/* How samples were taken. */
static void json_samples(struct nt_json *json, const struct info *info)
{
	char text[512];

	nt_json_text(json, "latency_sample", meta(info, NT_META_LATENCY_SAMPLE, text));
	json_list(json, info, NT_META_LATENCY_FILTER, NULL);
	nt_json_text(json, "flow_sample", meta(info, NT_META_FLOW_SAMPLE, text));
	nt_json_text(json, "flow_sketch", meta(info, NT_META_FLOW_SKETCH, text));
	nt_json_text(json, "flow_keys", meta(info, NT_META_FLOW_KEYS, text));
	nt_json_text(json, "flow_hash", meta(info, NT_META_FLOW_HASH, text));
	json_number(json, info, NT_META_TSTAMP_PREQUEUE);
	json_clocks(json, info);
}

static void print_json(const struct info *info)
{
	static const char *const texts[] = {NT_META_KERNEL, NT_META_MACHINE, NT_META_OS,  NT_META_VIRTUAL,
					    NT_META_TOOL,   NT_META_COMMAND, NT_META_STOP};
	const struct nt_tape *tape = info->tape;
	const struct nt_whole whole = whole_of(tape);
	struct nt_json json = {.out = stdout, .lines = 2};
	char text[512];

	nt_session_uuid(tape, text);
	nt_json_open(&json, NULL, '{');
	nt_whole_json(&whole, &json);
	nt_json_text(&json, "session_id", text);
	nt_json_text(&json, "host", tape->header.host);
	nt_json_text(&json, "boot_id", tape->header.boot_id);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		nt_json_text(&json, texts[i], meta(info, texts[i], text));
	nt_json_integer(&json, "cpus", count_cpus(info));
	nt_json_integer(&json, "start_ns", (int64_t)tape->start_ns);
	nt_json_integer(&json, "dropped_ns", (int64_t)nt_tape_dropped_ns(tape));
	nt_json_integer(&json, "dropped_chunks", tape->n_dropped);
	nt_json_if(&json, NT_META_START_REALTIME_NS, tape->start_realtime_ns, (int64_t)tape->start_realtime_ns);
	nt_json_integer(&json, "duration_ns", (int64_t)(tape->end_ns - tape->start_ns));
	nt_json_bool(&json, "complete", nt_tape_is_complete(tape));
	nt_json_integer(&json, "events", (int64_t)info->n_records);
	nt_json_integer(&json, "lost", (int64_t)info->n_lost);
	nt_json_integer(&json, "unknown", (int64_t)info->unknown);
	nt_json_integer(&json, "bytes", (int64_t)tape->bytes);
	nt_json_integer(&json, "chunks", (int64_t)tape->n_chunks);
	json_kinds(&json, "events_by_kind", info->records);
	json_kinds(&json, "lost_by_kind", info->lost);
	json_number(&json, info, NT_META_RING_SIZE);
	nt_json_integer(&json, "flush_lag_max_ns", (int64_t)tape->lag_max_ns);
	json_probes(&json, info);
	nt_json_integer(&json, "busy_polls", (int64_t)info->busy_polls);
	nt_json_integer(&json, "busy_polls_untimed", (int64_t)info->busy_polls_untimed);
	json_samples(&json, info);
	json_list(&json, info, NT_META_PLAN, NULL);
	json_list(&json, info, NT_META_ATTACH, NULL);
	json_list(&json, info, NT_META_UNCOVERED, missed_polls(info, text));
	nt_json_open(&json, "problems", '[');
	for (size_t i = 0; i < tape->n_problems; i++)
		nt_json_text(&json, NULL, tape->problems[i].text);
	nt_json_close(&json, ']');
	nt_json_close(&json, '}');
}

/* ---- for people ---- */

/* A piece of a line; nothing if there is no text. */
static void put_text(FILE *line, const char *before, const char *text)
{
	if (!text)
		return;
	fputs(before, line);
	nt_print_clean(line, text, strlen(text));
}

/* `more`: one more line, or NULL. */
static void print_list(const struct info *info, const char *key, const char *title, const char *more)
{
	size_t offset = 0;
	char text[512];
	int n = 0;

	while (next_meta(info, key, &offset, text)) {
		if (!n++)
			nt_print_heading(stdout, "%s:", title);
		nt_print_prose(stdout, "  ", "%s", text);
	}
	if (more && !n)
		nt_print_heading(stdout, "%s:", title);
	if (more)
		nt_print_prose(stdout, "  ", "%s", more);
}

static void put_kinds(FILE *line, const char *before, const uint64_t *counts)
{
	char text[NT_HUMAN_MAX];

	for (unsigned int kind = 0; kind < NT_KIND_MAX; kind++) {
		const struct nt_kind_info *known = nt_kind(kind);

		if (!counts[kind])
			continue;
		fprintf(line, "%s%s" NT_STUCK "%s", before, known ? known->name : "unknown",
			nt_human_count(text, (int64_t)counts[kind]));
		before = ", ";
	}
}

static void print_host(const struct info *info)
{
	struct nt_prose prose;
	char text[512];

	nt_prose_begin(&prose, stdout);
	put_text(prose.line, "host ", info->tape->header.host[0] ? info->tape->header.host : "(unknown)");
	put_text(prose.line, ", Linux ", meta(info, NT_META_KERNEL, text));
	put_text(prose.line, " ", meta(info, NT_META_MACHINE, text));
	put_text(prose.line, ", ", meta(info, NT_META_OS, text));
	put_text(prose.line, ", virtual: ", meta(info, NT_META_VIRTUAL, text));
	fprintf(prose.line, ", %u CPUs", count_cpus(info));
	nt_prose_end(&prose, "");
}

static void print_head(const struct info *info)
{
	const struct nt_tape *tape = info->tape;
	const uint64_t realtime_ns = tape->start_realtime_ns;
	char text[512], number[NT_HUMAN_MAX];
	struct nt_prose prose;

	print_host(info);
	nt_prose_begin(&prose, stdout);
	if (realtime_ns)
		fprintf(prose.line, "%s, ", nt_human_time(number, realtime_ns));
	fputs(nt_human_ns(number, tape->end_ns - tape->start_ns), prose.line);
	if (nt_tape_dropped_ns(tape))
		fprintf(prose.line, ", kept of a recording of %s",
			nt_human_ns(number, tape->end_ns - tape->start_ns + nt_tape_dropped_ns(tape)));
	fprintf(prose.line, ", %s", nt_tape_is_complete(tape) ? "complete" : "NOT COMPLETE");
	put_text(prose.line, ", stopped by: ", meta(info, NT_META_STOP, text));
	nt_prose_end(&prose, "");
	nt_session_uuid(tape, text);
	printf("session %s\n\n", text);
}

static void print_count(uint64_t n, const char *what, const uint64_t *counts)
{
	char number[NT_HUMAN_MAX];
	struct nt_prose prose;

	nt_prose_begin(&prose, stdout);
	fprintf(prose.line, "%s %s", nt_human_count(number, (int64_t)n), what);
	put_kinds(prose.line, ": ", counts);
	nt_prose_end(&prose, "");
}

static void print_events(const struct info *info)
{
	const struct nt_tape *tape = info->tape;
	char number[NT_HUMAN_MAX];

	print_count(info->n_records, "events", info->records);
	print_count(info->n_lost, "lost", info->lost);
	if (info->unknown)
		nt_print_prose(stdout, "", "%s records of kinds that this program does not know",
			       nt_human_count(number, (int64_t)info->unknown));
	printf("%zu %s, %s", tape->n_chunks, tape->n_chunks == 1 ? "chunk" : "chunks",
	       nt_human_bytes(number, tape->bytes));
	if (tape->n_dropped)
		printf(" (%s older %s dropped)", nt_human_count(number, tape->n_dropped),
		       tape->n_dropped == 1 ? "one was" : "ones were");
	if (info->n_records)
		printf(", %.2f bytes an event", (double)tape->bytes / (double)info->n_records);
	puts("\n");
}

/* A time as it stands in the recording: +1.5 s. */
static const char *after_start(const struct info *info, int64_t at_ns, char text[NT_HUMAN_MAX + 1])
{
	int64_t since_ns = at_ns - (int64_t)info->tape->start_ns;

	text[0] = since_ns < 0 ? '-' : '+';
	nt_human_ns(text + 1, since_ns < 0 ? 0 - (uint64_t)since_ns : (uint64_t)since_ns);
	return text;
}

static void print_steps(const struct info *info)
{
	struct nt_clock_step steps[MAX_STEPS];
	size_t n = nt_clocks_steps(&info->clocks, steps, MAX_STEPS);
	char change[NT_HUMAN_MAX], after[NT_HUMAN_MAX + 1], before[NT_HUMAN_MAX + 1];

	for (size_t i = 0; i < n && i < MAX_STEPS; i++) {
		int64_t by_ns = steps[i].change_ns;

		nt_print_prose(stdout, "warning: ", "the realtime clock was set %s by %s between %s and %s",
			       by_ns < 0 ? "back" : "forward",
			       nt_human_ns(change, by_ns < 0 ? 0 - (uint64_t)by_ns : (uint64_t)by_ns),
			       after_start(info, steps[i].after_ns, after),
			       after_start(info, steps[i].before_ns, before));
	}
	if (n > MAX_STEPS)
		printf("warning: and %zu times more\n", n - MAX_STEPS);
}

/* How often stacks were taken, and of what. */
static void print_stacks(const struct info *info)
{
	uint64_t hz = nt_tape_meta_number(info->tape, NT_META_STACKS_HZ, 0);
	char which[512];

	if (!hz)
		return;
	nt_print_prose(stdout, "stacks: ", "of each CPU %llu a second%s%s", (unsigned long long)hz,
		       meta(info, NT_META_STACKS, which) && !strcmp(which, "all")
			       ? ""
			       : ", kept where they belong to the network",
		       nt_tape_meta_number(info->tape, NT_META_USER_STACKS, 0) ? ", also of user space" : "");
}

static void print_flows(const struct info *info)
{
	char sample[512], sketch[512], keys[512], hash[512];

	if (!meta(info, NT_META_FLOW_SAMPLE, sample) || !meta(info, NT_META_FLOW_SKETCH, sketch))
		return;
	if (!strcmp(sketch, NT_FLOW_SKETCH_NONE))
		nt_print_prose(
			stdout, "flows: ",
			"each packet was counted with its flow, if that had a place; totals by device are exact");
	else
		nt_print_prose(stdout, "flows: ",
			       "estimated by a sketch of %s rows and columns, whose updates were sampled with the "
			       "probability %s; bounds hold with a probability of 99 %%; totals by device are exact",
			       sketch, sample);
	if (meta(info, NT_META_FLOW_KEYS, keys) && meta(info, NT_META_FLOW_HASH, hash))
		nt_print_prose(stdout, "flows: ",
			       "counted by %s; hashed by numbers drawn for this recording, which begin with %.16s "
			       "(--json has all)",
			       keys, hash);
}

/* How samples were taken, and how good their latencies are. */
static void print_samples(const struct info *info)
{
	uint64_t uncertainty_ns = nt_clocks_uncertainty(&info->clocks);
	uint64_t prequeue = nt_tape_meta_number(info->tape, NT_META_TSTAMP_PREQUEUE, UINT64_MAX);
	bool has_latency = info->records[NT_LATENCY] || info->lost[NT_LATENCY];
	char text[512];

	if (meta(info, NT_META_LATENCY_SAMPLE, text))
		nt_print_prose(stdout, "latency: ", "packets are sampled with probability %s", text);
	if (prequeue != UINT64_MAX)
		nt_print_prose(stdout, "latency: ", "packets are timestamped %s (netdev_tstamp_prequeue %llu)",
			       prequeue ? "before they are queued for another CPU" : "when their CPU processes them",
			       (unsigned long long)prequeue);
	print_list(info, NT_META_LATENCY_FILTER, "latency: only of", NULL);
	if (has_latency && uncertainty_ns == UINT64_MAX)
		nt_print_prose(stdout, "warning: ", "the tape has no snapshot of the clocks: latencies are not known");
	else if (has_latency)
		printf("clocks agree to +-%llu ns\n", (unsigned long long)uncertainty_ns);
	print_steps(info);
	print_stacks(info);
	print_flows(info);
}

static void print_recorder(const struct info *info)
{
	const struct nt_tape *tape = info->tape;
	char text[512], number[NT_HUMAN_MAX], lag[NT_HUMAN_MAX];
	struct nt_prose prose;

	nt_prose_begin(&prose, stdout);
	put_text(prose.line, "recorded by ", meta(info, NT_META_TOOL, text));
	put_text(prose.line, ": ", meta(info, NT_META_COMMAND, text));
	nt_prose_end(&prose, "");
	nt_print_prose(stdout, "", "ring of each CPU: %s; the oldest record waited %s for its reader",
		       nt_human_bytes(number, nt_tape_meta_number(tape, NT_META_RING_SIZE, 0)),
		       nt_human_ns(lag, tape->lag_max_ns));
	/* A list of words with commas between: it wraps with blanks behind these. */
	nt_prose_begin(&prose, stdout);
	for (const char *at = meta(info, NT_META_PROBES, text) ? text : ""; *at;) {
		size_t size = strcspn(at, ",");

		nt_print_clean(prose.line, at, size);
		fputs(at[size] ? ", " : "", prose.line);
		at += size + (at[size] == ',');
	}
	nt_prose_end(&prose, "probes: ");
}

static void print_text(const struct info *info)
{
	const struct nt_tape *tape = info->tape;
	const struct nt_whole whole = whole_of(tape);
	char text[512];

	nt_whole_print(&whole, stdout);
	print_head(info);
	print_events(info);
	print_recorder(info);
	print_samples(info);
	print_list(info, NT_META_PLAN, "served by", NULL);
	print_list(info, NT_META_ATTACH, "attached", NULL);
	print_list(info, NT_META_UNCOVERED, "not covered", missed_polls(info, text));
	if (tape->n_problems)
		nt_print_heading(stdout, "problems:");
	for (size_t i = 0; i < tape->n_problems; i++)
		nt_print_prose(stdout, "  ", "%s", tape->problems[i].text);
}

static int run(const struct nt_options *options)
{
	struct info info = {0};
	char text[NT_ERROR_MAX];
	int error;

	if (nt_tape_open(&info.tape, options->args[0], text))
		return nt_complain("%s", text);
	error = count_all(&info);
	if (error)
		nt_complain("%s cannot be read: %s.", options->args[0], nt_tape_error_text(error));
	else if (options->format == NT_FORMAT_JSON)
		print_json(&info);
	else
		print_text(&info);
	nt_clocks_release(&info.clocks);
	nt_tape_close(info.tape);
	return error ? NT_EXIT_FAILED : NT_EXIT_DONE;
}

static const struct nt_option options[] = {
	NT_OPTION_JSON,
	NT_OPTION_HELP,
	NT_OPTIONS_END,
};

const struct nt_command nt_cmd_info = {
	.name = "info",
	.group = NT_GROUP_LOOK,
	.usage = "TAPE [--json]",
	.what = "show what is on a tape, how it was recorded, what it lacks",
	.help = "Events are counted and not interpreted. Everything that is wrong with the tape is listed.",
	.example = "info busy.tape",
	.wants = "a tape",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
