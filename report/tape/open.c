// SPDX-License-Identifier: GPL-2.0-only
/*
 * open.c - opens a tape: finds its chunk files, goes over their block headers once, and learns the session from
 * the meta blocks. Faults are noted and survived so long as one chunk can be read.
 */
#include "report/tape/open.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/out/denied.h"
#include "report/tape/file_kind.h"
#include "report/util/array.h"
#include "schema/meta_keys.h"

/* ---- finding the files ---- */

int nt_tape_chunk_fd(const struct nt_tape *tape, const char *name)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s%s%s", tape->path, tape->is_file ? "" : "/", tape->is_file ? "" : name) < 0)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	free(path);
	if (fd >= 0)
		return fd;
	/* That one is for what has not been recorded yet (follow.h). */
	return errno == EAGAIN ? -EIO : -errno;
}

const char *nt_tape_final_name(const struct nt_tape_chunk *chunk, char name[NT_CHUNK_NAME_MAX])
{
	snprintf(name, NT_CHUNK_NAME_MAX, "chunk-%06u.ntc", chunk->number);
	return name;
}

/* chunk-000012.ntc or chunk-000012.ntc.partial */
static bool parse_name(const char *name, uint32_t *number, bool *partial)
{
	static const char prefix[] = "chunk-";
	uint64_t value = 0;
	size_t digits = 0;

	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return false;
	for (name += strlen(prefix); *name >= '0' && *name <= '9' && digits < 10; name++, digits++)
		value = value * 10 + (uint64_t)(*name - '0');
	*partial = !strcmp(name, ".ntc.partial");
	*number = (uint32_t)value;
	return digits >= 6 && value <= UINT32_MAX && (*partial || !strcmp(name, ".ntc"));
}

static int add_chunk(struct nt_tape *tape, const char *name, uint32_t number, bool partial)
{
	struct nt_tape_chunk *chunk;

	if (NT_ROOM(tape->chunks, tape->chunks_size, tape->n_chunks + 1))
		return -ENOMEM;
	chunk = &tape->chunks[tape->n_chunks];
	*chunk = (struct nt_tape_chunk){
		.name = strdup(name), .number = number, .partial = partial, .fd = -1, .kept_fd = -1};
	tape->n_chunks++;
	chunk->contents = calloc(1, sizeof(*chunk->contents));
	return chunk->name && chunk->contents ? 0 : -ENOMEM;
}

void nt_tape_remove_chunk(struct nt_tape *tape, size_t at)
{
	nt_tape_chunk_release(&tape->chunks[at]);
	tape->n_chunks--;
	memmove(&tape->chunks[at], &tape->chunks[at + 1], (tape->n_chunks - at) * sizeof(tape->chunks[0]));
}

static int by_number(const void *a, const void *b)
{
	const struct nt_tape_chunk *one = a, *other = b;

	if (one->number != other->number)
		return one->number < other->number ? -1 : 1;
	return one->partial - other->partial;
}

int nt_tape_has_chunks(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	bool has = false, partial;
	uint32_t number;

	if (!directory)
		return -errno;
	while (!has && (entry = readdir(directory)))
		has = parse_name(entry->d_name, &number, &partial);
	closedir(directory);
	return has;
}

int nt_tape_list_chunks(struct nt_tape *tape, uint32_t least)
{
	DIR *directory = opendir(tape->path);
	const size_t before = tape->n_chunks;
	const struct dirent *entry;
	int error = 0;

	if (!directory)
		return -errno;
	while (!error && (entry = readdir(directory))) {
		uint32_t number;
		bool partial;

		if (parse_name(entry->d_name, &number, &partial) && number >= least)
			error = add_chunk(tape, entry->d_name, number, partial);
	}
	closedir(directory);
	if (tape->n_chunks > before)
		qsort(&tape->chunks[before], tape->n_chunks - before, sizeof(tape->chunks[0]), by_number);
	return error;
}

int nt_tape_find_chunks(struct nt_tape_opening *opening)
{
	struct nt_tape *tape = opening->tape;
	const char *slash = strrchr(tape->path, '/');
	struct stat status;

	if (stat(tape->path, &status))
		return -errno;
	if (S_ISDIR(status.st_mode)) {
		const int error = nt_tape_list_chunks(tape, 0);

		opening->first_number = tape->n_chunks ? tape->chunks[0].number : 0;
		return error;
	}
	tape->is_file = true;
	return add_chunk(tape, slash ? slash + 1 : tape->path, 0, false);
}

/* ---- going over one chunk ---- */

static void note_times(struct nt_chunk_cpu *cpu, const struct nt_block_header *header)
{
	uint64_t *least_ns = header->flags & NT_BLOCK_LONG ? &cpu->least_long_ns : &cpu->least_begin_ns;

	if (!cpu->has)
		*cpu = (struct nt_chunk_cpu){.has = true, .least_begin_ns = UINT64_MAX, .least_long_ns = UINT64_MAX};
	if (header->last_end_ns > cpu->last_end_ns)
		cpu->last_end_ns = header->last_end_ns;
	if (header->least_begin_ns < *least_ns)
		*least_ns = header->least_begin_ns;
}

/*
 * So many blocks of the CPU may be missing before this one. Before its first one they may have been in chunks that are
 * meant to be missing: then the block goes on with what was before the first chunk there is.
 */
static uint64_t count_missing(const struct nt_tape_opening *opening, const struct nt_block_header *header)
{
	const struct nt_tape *tape = opening->tape;
	const uint64_t expected = opening->expected[header->cpu];

	if (!expected && (tape->is_file || (tape->n_dropped && header->since_ns <= tape->header.created_monotonic_ns)))
		return 0;
	return header->sequence - expected;
}

/* An event block: its place in its CPU's order, and its times. */
static int go_over_block(struct nt_tape_opening *opening, struct nt_tape_chunk *chunk, const struct nt_block_ref *block)
{
	const struct nt_block_header *header = &block->header;
	uint64_t *expected = &opening->expected[header->cpu], n_missing;
	int error = 0;

	/* A recording that is followed has got a CPU that it did not have. */
	if (opening->tape->present && !opening->tape->present[header->cpu])
		return -ESTALE;
	note_times(&chunk->cpus[header->cpu], header);
	if (header->sequence < *expected)
		return nt_tape_problem(opening->tape,
				       "%s: block %llu of CPU %u occurs twice or out of order and is left out.",
				       chunk->name, (unsigned long long)header->sequence, header->cpu);
	n_missing = count_missing(opening, header);
	if (n_missing)
		error = nt_tape_problem(
			opening->tape, "%s: CPU %u: %llu of its blocks are missing before its block %llu.", chunk->name,
			header->cpu, (unsigned long long)n_missing, (unsigned long long)header->sequence);
	*expected = header->sequence + 1;
	if (header->count && header->first_end_ns < opening->first_ns)
		opening->first_ns = header->first_end_ns;
	if (header->count && header->last_end_ns > opening->last_ns && header->last_end_ns <= INT64_MAX)
		opening->last_ns = header->last_end_ns;
	if (header->lag_ns > opening->tape->lag_max_ns)
		opening->tape->lag_max_ns = header->lag_ns;
	if (header->lag_ns > opening->lag_ns)
		opening->lag_ns = header->lag_ns;
	return error;
}

/* Room for the CPUs of the blocks from `block` on. */
static int make_room_for_cpus(struct nt_tape_chunk *chunk, size_t block)
{
	const struct nt_chunk_contents *contents = chunk->contents;
	struct nt_chunk_cpu *cpus;
	uint32_t n = chunk->n_cpus;

	for (; block < contents->n_blocks; block++) {
		const struct nt_block_header *header = &contents->blocks[block].header;

		if (header->type == NT_BLOCK_EVENTS && header->cpu >= n)
			n = header->cpu + 1;
	}
	if (n == chunk->n_cpus && chunk->cpus)
		return 0;
	cpus = reallocarray(chunk->cpus, (size_t)n + 1, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	memset(&cpus[chunk->n_cpus], 0, (n + 1 - chunk->n_cpus) * sizeof(*cpus));
	chunk->cpus = cpus;
	chunk->n_cpus = n;
	return 0;
}

/*
 * Takes over the first meta block of the tape, and keeps the last one that is not a chunk's first. All are read: those
 * of later chunks say the same, but damage is to be known.
 */
static int go_over_meta(struct nt_tape_opening *opening, size_t at, const struct nt_block_ref *block)
{
	struct nt_tape *tape = opening->tape;
	struct nt_buf *to = opening->has_meta ? &opening->closing : tape->meta.size ? &opening->again : &tape->meta;
	int error;

	if (opening->has_meta)
		opening->closing_chunk = at;
	opening->has_meta = true;
	error = nt_tape_load(tape, at, block, to);
	if (error != -EBADMSG)
		return error;
	to->size = 0;
	return 0;
}

/* How far a tape that grows has come. Damage is told of by who needs the clock. */
static int go_over_clock(struct nt_tape_opening *opening, size_t at, const struct nt_block_ref *block)
{
	struct nt_clock clock;
	int error = nt_tape_read(opening->tape, at, block, &opening->again);

	if (!error)
		error = nt_clock_decode(opening->again.data, opening->again.size, &clock);
	if (!error && clock.monotonic_ns > opening->clock_ns)
		opening->clock_ns = clock.monotonic_ns;
	opening->lag_ns -= opening->lag_ns / 16;
	return error == -EBADMSG ? 0 : error;
}

static int note_damage(struct nt_tape_opening *opening, const struct nt_tape_chunk *chunk)
{
	const struct nt_chunk_contents *contents = chunk->contents;
	int error = 0;

	for (; !error && opening->n_noted < contents->n_damage; opening->n_noted++) {
		const struct nt_damage *damage = &contents->damage[opening->n_noted];

		error = nt_tape_problem(opening->tape, "%s: %llu bytes at byte %llu cannot be read: %s.", chunk->name,
					(unsigned long long)damage->size, (unsigned long long)damage->offset,
					damage->what);
	}
	return error;
}

/* A chunk without a block: the recorder was killed before it wrote one, or is at work. */
static int note_nothing(struct nt_tape_opening *opening, const struct nt_tape_chunk *chunk)
{
	const bool is_first = chunk == opening->tape->chunks;

	opening->is_begun |= is_first;
	return nt_tape_problem(opening->tape,
			       "%s holds no block%s: the recorder was killed before it wrote the first one, or is "
			       "still at work.",
			       chunk->name, is_first ? ", so nothing was recorded" : "");
}

/* By its name it was finished. */
static bool is_cut(const struct nt_tape_chunk *chunk)
{
	const char *end = strrchr(chunk->name, '.');

	/* Where a stretch is damaged, that has been said. */
	return end && !strcmp(end, ".ntc") && !chunk->contents->indexed && !chunk->contents->n_damage;
}

int nt_tape_note_end(struct nt_tape_opening *opening, const struct nt_tape_chunk *chunk)
{
	struct nt_tape *tape = opening->tape;

	if (!chunk->contents->n_blocks && chunk->partial)
		return note_nothing(opening, chunk);
	if (is_cut(chunk))
		return nt_tape_problem(tape, "%s lacks its end, index and trailer: it was cut.", chunk->name);
	if (chunk->partial)
		return nt_tape_problem(tape, "%s was never finished: the recorder was killed, or is still at work.",
				       chunk->name);
	return 0;
}

int nt_tape_go_over_new(struct nt_tape_opening *opening, size_t at)
{
	struct nt_tape *tape = opening->tape;
	struct nt_tape_chunk *chunk = &tape->chunks[at];
	const struct nt_chunk_contents *contents = chunk->contents;
	int error = note_damage(opening, chunk);

	if (!error)
		error = make_room_for_cpus(chunk, opening->n_gone_over);
	opening->n_blocks += contents->n_blocks - opening->n_gone_over;
	for (; !error && opening->n_gone_over < contents->n_blocks; opening->n_gone_over++) {
		const struct nt_block_ref *block = &contents->blocks[opening->n_gone_over];

		if (block->header.type == NT_BLOCK_EVENTS)
			error = go_over_block(opening, chunk, block);
		else if (block->header.type == NT_BLOCK_META)
			error = go_over_meta(opening, at, block);
		else if (block->header.type == NT_BLOCK_CLOCK && tape->growth)
			error = go_over_clock(opening, at, block);
	}
	tape->bytes += chunk->size - opening->n_counted;
	opening->n_counted = chunk->size;
	return error;
}

static int go_over_chunk(struct nt_tape_opening *opening, size_t at)
{
	const struct nt_tape_chunk *chunk = &opening->tape->chunks[at];
	int error = 0;

	opening->n_gone_over = opening->n_noted = 0;
	opening->n_counted = 0;
	opening->has_meta = false;
	/* First: it says the most. */
	if (!chunk->grows && chunk->partial && !chunk->contents->n_blocks)
		error = note_nothing(opening, chunk);
	if (!error)
		error = nt_tape_go_over_new(opening, at);
	return error || chunk->grows ? error : nt_tape_note_end(opening, chunk);
}

/* ---- all chunks ---- */

/* A chunk whose header is damaged has no session of its own and is taken as one of this tape. */
static bool has_session(const struct nt_chunk_header *header)
{
	static const uint8_t none[sizeof(header->session)];

	return memcmp(header->session, none, sizeof(none)) != 0;
}

/* Why the chunk at `at` must be left out, in words; NULL: it need not. Opens it; *error is below 0 when all must end.
 */
static const char *reject_chunk(struct nt_tape_opening *opening, size_t at, int *error)
{
	struct nt_tape *tape = opening->tape;
	struct nt_tape_chunk *chunk = &tape->chunks[at];
	const struct nt_chunk_header *header = &chunk->contents->header;

	if (at && chunk[-1].number == chunk->number)
		return "the same chunk is there, finished";
	*error = nt_tape_chunk_open(tape, chunk);
	/* It has got its final name just now. */
	if (*error == -ENOENT && chunk->grows)
		*error = 0;
	if (*error == -ENOMEM || (*error && tape->is_file))
		return NULL;
	if (*error) {
		opening->first_error = opening->first_error ? opening->first_error : *error;
		return nt_tape_error_text(*error);
	}
	if (!has_session(&tape->header)) {
		tape->header = *header;
		tape->drops = !tape->is_file && header->flags & NT_CHUNK_DROPS;
		tape->n_dropped = tape->drops ? opening->first_number : 0;
	}
	if (has_session(header) && memcmp(header->session, tape->header.session, sizeof(header->session)) != 0)
		return "it is of another recording";
	return NULL;
}

/*
 * It was dropped, before it could be opened: the tape begins with the next. Where chunks before it were opened in time,
 * all must be listed again.
 */
static bool has_gone(const struct nt_tape *tape, size_t at, int error)
{
	return error == -ENOENT && !at && tape->n_chunks > 1;
}

static bool are_gone(const struct nt_tape *tape, size_t at, int error)
{
	return error == -ENOENT && at && tape->drops && !tape->present;
}

int nt_tape_go_over_chunks(struct nt_tape_opening *opening, size_t at)
{
	struct nt_tape *tape = opening->tape;

	while (at < tape->n_chunks) {
		struct nt_tape_chunk *chunk = &tape->chunks[at];
		int error = 0;
		const char *why = reject_chunk(opening, at, &error);

		if (are_gone(tape, at, error))
			return -ESTALE;
		if (has_gone(tape, at, error)) {
			nt_tape_remove_chunk(tape, at);
			opening->first_number = tape->chunks[0].number;
			error = 0;
		} else if (!why && !error && chunk->grows && !chunk->grown_to) {
			/* Its header is not there yet, or not by this name: the next look will find it. */
			nt_tape_remove_chunk(tape, at);
		} else if (why) {
			error = nt_tape_problem(tape, "%s is left out: %s.", chunk->name, why);
			nt_tape_remove_chunk(tape, at);
		} else if (!error) {
			if (tape->is_file)
				chunk->number = chunk->contents->header.number;
			error = go_over_chunk(opening, at);
			nt_tape_keep_file(tape, chunk);
			at++;
			if (!chunk->grows)
				nt_tape_chunk_close(chunk);
		}
		if (error)
			return error;
	}
	return tape->n_chunks ? 0 : opening->first_error;
}

/* Numbers that are not there. False, or true when none is missing. */
static bool is_gapless(struct nt_tape_opening *opening, int *error)
{
	struct nt_tape *tape = opening->tape;
	uint32_t next = tape->n_dropped;
	bool gapless = true;

	for (size_t i = 0; i < tape->n_chunks && !*error; i++) {
		uint32_t number = tape->chunks[i].number;

		if (number > next) {
			gapless = false;
			if (opening->tape->is_file)
				*error = nt_tape_problem(tape, "%s is chunk %u of a tape, opened without the others.",
							 tape->chunks[i].name, number);
			else if (number == next + 1)
				*error = nt_tape_problem(tape, "chunk-%06u.ntc is missing.", next);
			else
				*error = nt_tape_problem(tape, "chunk-%06u.ntc to chunk-%06u.ntc are missing.", next,
							 number - 1);
		}
		next = number + 1;
	}
	return gapless;
}

/* ---- the session ---- */

/* Marks the CPUs of a list like "0-3,8". */
static void mark_cpus(const char *list, uint8_t *flags, uint32_t n_flags)
{
	while (*list >= '0' && *list <= '9') {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long cpu = first; cpu <= last && cpu < n_flags; cpu++)
			flags[cpu] = 1;
		list = *end == ',' ? end + 1 : end;
	}
}

/*
 * CPUs: there at some time are those online at the start and those with records. Without a list of those online at the
 * start, all were.
 */
static int settle_cpus(struct nt_tape_opening *opening)
{
	struct nt_tape *tape = opening->tape;
	char list[4096];
	bool has_list = !nt_tape_meta(tape, NT_META_CPUS_ONLINE, list, sizeof(list));

	tape->online = calloc(NT_CHUNK_MAX_CPUS, 1);
	tape->present = calloc(NT_CHUNK_MAX_CPUS, 1);
	if (!tape->online || !tape->present)
		return -ENOMEM;
	if (has_list)
		mark_cpus(list, tape->online, NT_CHUNK_MAX_CPUS);
	for (uint32_t cpu = 0; cpu < NT_CHUNK_MAX_CPUS; cpu++) {
		bool has_records = opening->expected[cpu];

		tape->online[cpu] = tape->online[cpu] || (!has_list && has_records);
		tape->present[cpu] = tape->online[cpu] || has_records;
		if (tape->present[cpu])
			tape->n_cpus = cpu + 1;
	}
	return 0;
}

/* Of a recorder that was killed at once: that nothing was recorded has been said, and says all. */
static bool is_empty(const struct nt_tape_opening *opening)
{
	return opening->is_begun && !opening->n_blocks;
}

/* Of chunks without those before them, the session is what they cover. */
static void begin_with_first_chunk(struct nt_tape *tape)
{
	const struct nt_chunk_header *header = &tape->header;

	if (!(tape->is_file ? header->number : tape->n_dropped) || header->created_monotonic_ns <= tape->start_ns ||
	    header->created_monotonic_ns > INT64_MAX)
		return;
	tape->start_ns = header->created_monotonic_ns;
	tape->start_realtime_ns = header->created_realtime_ns <= INT64_MAX ? header->created_realtime_ns : 0;
}

static int settle_times(struct nt_tape_opening *opening, bool has_closing)
{
	struct nt_tape *tape = opening->tape;
	uint64_t first = opening->first_ns <= INT64_MAX ? opening->first_ns : 0;

	tape->start_ns = nt_tape_meta_number(tape, NT_META_START_NS, UINT64_MAX);
	tape->start_realtime_ns = nt_tape_meta_number(tape, NT_META_START_REALTIME_NS, 0);
	if (tape->start_ns == UINT64_MAX) {
		tape->start_ns = first;
		if (!is_empty(opening) &&
		    nt_tape_problem(tape,
				    "No block says when the session began: the time of the first record is used."))
			return -ENOMEM;
	}
	begin_with_first_chunk(tape);
	tape->end_ns = has_closing ? nt_tape_meta_number(tape, NT_META_END_NS, opening->last_ns) : opening->last_ns;
	if (tape->end_ns < tape->start_ns)
		tape->end_ns = tape->start_ns;
	return 0;
}

int nt_tape_settle_begin(struct nt_tape_opening *opening)
{
	int error = settle_times(opening, false);

	return error ? error : settle_cpus(opening);
}

int nt_tape_settle_end(struct nt_tape_opening *opening)
{
	struct nt_tape *tape = opening->tape;
	bool is_last = opening->closing.size && opening->closing_chunk == tape->n_chunks - 1;
	bool partial = false, gapless, has_closing;
	char text[8];
	int error = 0;

	/* Behind the end of a snapshot the recording may have gone on. */
	if (is_last) {
		error = nt_buf_append(&tape->meta, opening->closing.data, opening->closing.size);
		if (error)
			return error;
	}
	has_closing = is_last && !nt_tape_meta(tape, NT_META_COMPLETE, text, sizeof(text)) && !strcmp(text, "1");
	for (size_t i = 0; i < tape->n_chunks; i++)
		partial = partial || tape->chunks[i].partial;
	gapless = is_gapless(opening, &error);
	if (!error && !has_closing && !is_empty(opening))
		error = nt_tape_problem(tape, "The session's end is not on the tape: it ends with the last record.");
	tape->has_end = has_closing && gapless && !partial;
	return error ? error : settle_times(opening, has_closing);
}

/* ---- opening ---- */

void nt_tape_say_why(const struct nt_tape_opening *opening, int error, char text[NT_ERROR_MAX])
{
	const char *path = opening->tape->path, *kind = error == -EPROTO ? nt_file_kind(path) : NULL;
	char why[NT_DENIED_MAX];

	if (kind && !strcmp(kind, NT_EMPTY_DIRECTORY))
		nt_fail(text,
			"'%s' is an empty directory: nettape-record was killed before it recorded anything, or did not "
			"make it: record again, or give the directory that it wrote.",
			path);
	else if (error == -ENOTSUP)
		nt_fail(text,
			"'%s' is a tape of another version than this program reads (%u): use the nettape-report of the "
			"version that recorded it.",
			path, NT_CHUNK_VERSION);
	else if (error == -EPROTO && kind)
		nt_fail(text, "'%s' is not a nettape tape but %s%s.", path, kind,
			strstr(kind, ": ") ? "" : ": give the directory that nettape-record wrote");
	else if (error == -EPROTO)
		nt_fail(text,
			"'%s' is not a nettape tape: give the directory that nettape-record wrote, or one of its chunk "
			"files.",
			path);
	else if (error == -EBADMSG)
		nt_fail(text, "'%s' is damaged so that nothing of it can be read: %s", path,
			opening->tape->n_problems ? opening->tape->problems[0].text : "no chunk has a valid header.");
	else
		nt_fail(text, "'%s' cannot be read: %s.", path, nt_denied_read(why, path, -error));
}

int nt_tape_opening_begin(struct nt_tape_opening *opening, const char *path)
{
	struct nt_tape *tape = calloc(1, sizeof(*tape));

	*opening = (struct nt_tape_opening){.tape = tape, .first_ns = UINT64_MAX};
	opening->expected = calloc(NT_CHUNK_MAX_CPUS, sizeof(*opening->expected));
	if (!tape || !opening->expected || !(tape->path = strdup(path))) {
		free(tape);
		nt_tape_opening_release(opening);
		return -ENOMEM;
	}
	tape->settled_ns = UINT64_MAX;
	pthread_mutex_init(&tape->lock, NULL);
	return 0;
}

void nt_tape_opening_release(struct nt_tape_opening *opening)
{
	free(opening->expected);
	nt_buf_release(&opening->closing);
	nt_buf_release(&opening->again);
}

static int open_tape(struct nt_tape_opening *opening)
{
	int error = nt_tape_find_chunks(opening);

	if (!error && !opening->tape->n_chunks)
		error = -EPROTO;
	if (!error)
		error = nt_tape_go_over_chunks(opening, 0);
	if (!error)
		error = nt_tape_settle_end(opening);
	return error ? error : settle_cpus(opening);
}

static int open_once(struct nt_tape **out, const char *path, char error_text[NT_ERROR_MAX])
{
	struct nt_tape_opening opening;
	int error = nt_tape_opening_begin(&opening, path);

	if (error) {
		nt_fail(error_text, "'%s' cannot be read: %s.", path, strerror(-error));
		return error;
	}
	error = open_tape(&opening);
	if (error) {
		nt_tape_say_why(&opening, error, error_text);
		nt_tape_close(opening.tape);
	} else {
		*out = opening.tape;
	}
	nt_tape_opening_release(&opening);
	return error;
}

#define OPEN_TRIES 9 /* while a recorder drops chunks */

int nt_tape_open(struct nt_tape **out, const char *path, char error_text[NT_ERROR_MAX])
{
	int error = -ESTALE;

	for (int i = 0; i < OPEN_TRIES && error == -ESTALE; i++)
		error = open_once(out, path, error_text);
	return error;
}
