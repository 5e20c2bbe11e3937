// SPDX-License-Identifier: GPL-2.0-only
/*
 * worst.c - see worst.h.
 */
#include "report/query/cpus/worst.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/query/cpus/lanes.h"
#include "report/query/cpus/stretches.h"
#include "report/util/array.h"
#include "report/util/id_map.h"

#define ADDED_PER_WALK 1024 /* slices between two walks, which look at all CPUs */
#define NEVER UINT64_MAX

/* The slices of one CPU that are own or uncovered. */
struct stream {
	uint32_t cpu;
	bool is_left_out;
	bool may_grow; /* nobody has read the last one yet */
	int64_t known_ts; /* all is known up to here */
	struct nt_stretches stretches;
	size_t n_swept; /* blocks that were left when those that nobody needs were forgotten */
};

/*
 * The slices of one CPU as one end of the window passes them. Places are such of the window's front: 0 is the begin of
 * the time, and a window of the time begins `length` before its front.
 */
struct source {
	struct nt_stretch_cursor cursor;
	struct nt_stretch stretch; /* that was read last */
	bool is_front; /* or the window's back */
	bool is_in; /* the end is within the stretch */
	uint64_t next; /* the place where this changes; NEVER: no more is known */
};

/* The time that a window holds, and its growth while the window moves on. */
struct amount {
	uint64_t ns, slope;
};

struct walk {
	int64_t from_ts;
	uint64_t length;
	struct source *sources; /* front and back of each stream */
	struct source **heap; /* those, least `next` first */
	size_t n;
	uint64_t at;
	struct amount own, uncovered;
	uint64_t bound; /* the most of both */
	/* The cell: its places, both included, and the worst of them. */
	uint64_t first, last, worst, worst_ns;
};

/* Streams from `stream` on, and their walk. */
struct curve {
	uint64_t id;
	size_t stream, n;
	struct walk walk;
	bool has_begun, is_done;
};

/* Where windows may begin yet, both ends included, within one cell; and the worst of them. */
struct range {
	size_t curve;
	int64_t first_ts, last_ts;
	struct nt_worst_window worst;
};

struct nt_worst {
	struct nt_worst_want want;
	struct nt_stretch_store store;
	struct stream **streams;
	size_t n_streams, streams_size;
	struct nt_id_map by_cpu; /* index + 1 */
	struct curve *curves; /* one, or one for each stream */
	size_t n_curves, curves_size;
	struct range *cells; /* those that come first, in order */
	size_t n_cells, most_cells;
	uint64_t added;
};

/* ---- one end of the window ---- */

static uint64_t place_of(const struct walk *walk, const struct source *source, int64_t ts)
{
	return (uint64_t)ts - (uint64_t)walk->from_ts + (source->is_front ? 0 : walk->length);
}

static int64_t end_of(const struct nt_stretch *stretch)
{
	return stretch->ts + (int64_t)stretch->ns;
}

/* Reads the next stretch, if there is one. */
static int read_next(const struct walk *walk, struct source *source)
{
	int error;

	do
		error = nt_stretch_cursor_next(&source->cursor, &source->stretch);
	while (!error && end_of(&source->stretch) <= walk->from_ts);
	source->next = NEVER;
	if (error)
		return error < 0 ? error : 0;
	source->next = place_of(walk, source, source->stretch.ts > walk->from_ts ? source->stretch.ts : walk->from_ts);
	return 0;
}

/* It passes the begin or the end of its stretch. */
static int pass(struct walk *walk, struct source *source)
{
	struct amount *amount = source->stretch.is_uncovered ? &walk->uncovered : &walk->own;

	if (source->is_in == source->is_front)
		amount->slope--;
	else
		amount->slope++;
	source->is_in = !source->is_in;
	if (!source->is_in)
		return read_next(walk, source);
	source->next = place_of(walk, source, end_of(&source->stretch));
	return 0;
}

/* ---- walking ---- */

static void sift_down(struct walk *walk, size_t at)
{
	struct source *source = walk->heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= walk->n)
			break;
		if (child + 1 < walk->n && walk->heap[child + 1]->next < walk->heap[child]->next)
			child++;
		if (walk->heap[child]->next >= source->next)
			break;
		walk->heap[at] = walk->heap[child];
		at = child;
	}
	walk->heap[at] = source;
}

static uint64_t next_place(const struct walk *walk)
{
	return walk->n ? walk->heap[0]->next : NEVER;
}

/* Asks again where nothing more was known. */
static int renew(struct walk *walk)
{
	for (size_t i = 0; i < walk->n; i++) {
		struct source *source = &walk->sources[i];
		int error = source->next == NEVER ? read_next(walk, source) : 0;

		if (error)
			return error;
	}
	for (size_t i = walk->n / 2; i-- > 0;)
		sift_down(walk, i);
	return 0;
}

static void walk_release(struct walk *walk)
{
	for (size_t i = 0; i < walk->n; i++)
		nt_stretch_cursor_release(&walk->sources[i].cursor);
	free(walk->sources);
	free(walk->heap);
	memset(walk, 0, sizeof(*walk));
}

/* Its first cell is to be set. To be released also on failure. */
static int walk_begin(struct walk *walk, const struct nt_worst *worst, const struct curve *curve, int64_t from_ts)
{
	*walk = (struct walk){.from_ts = from_ts, .length = worst->want.length};
	walk->sources = calloc(2 * curve->n + 1, sizeof(*walk->sources));
	walk->heap = calloc(2 * curve->n + 1, sizeof(struct source *));
	if (!walk->sources || !walk->heap)
		return -ENOMEM;
	walk->n = 2 * curve->n;
	for (size_t i = 0; i < walk->n; i++) {
		struct source *source = walk->heap[i] = &walk->sources[i];

		source->is_front = i % 2;
		source->next = NEVER;
		nt_stretch_cursor_set(&source->cursor, &worst->streams[curve->stream + i / 2]->stretches, from_ts);
	}
	return renew(walk);
}

static void move_to(struct walk *walk, uint64_t place)
{
	const uint64_t step = place - walk->at;

	walk->own.ns += walk->own.slope * step;
	walk->uncovered.ns += walk->uncovered.slope * step;
	walk->at = place;
	if (place >= walk->length && walk->own.ns + walk->uncovered.ns > walk->bound)
		walk->bound = walk->own.ns + walk->uncovered.ns;
	if (place >= walk->first && walk->own.ns > walk->worst_ns) {
		walk->worst_ns = walk->own.ns;
		walk->worst = place;
	}
}

/* Up to the end of the cell: 1; or as far as all slices are known: 0. */
static int walk_on(struct walk *walk, uint64_t known)
{
	for (;;) {
		const uint64_t next = next_place(walk), mark = walk->at < walk->first ? walk->first : walk->last;
		const uint64_t place = next < mark ? next : mark;
		int error;

		if (place > known)
			return 0;
		move_to(walk, place);
		if (next > place) {
			if (place == walk->last)
				return 1;
			continue;
		}
		error = pass(walk, walk->heap[0]);
		if (error)
			return error;
		sift_down(walk, 0);
	}
}

/* ---- cells ---- */

static bool comes_before(const struct nt_worst_window *a, const struct nt_worst_window *b)
{
	if (a->ns != b->ns)
		return a->ns > b->ns;
	return a->ts != b->ts ? a->ts < b->ts : a->curve < b->curve;
}

static int64_t begin_of(const struct walk *walk, uint64_t place)
{
	return (int64_t)((uint64_t)walk->from_ts + (place - walk->length));
}

static struct nt_worst_window worst_of(const struct curve *curve, const struct walk *walk)
{
	return (struct nt_worst_window){.curve = curve->id,
					.ts = begin_of(walk, walk->worst_ns ? walk->worst : walk->first),
					.ns = walk->worst_ns};
}

/* Whether a cell is one of the first so far, if this is its worst. */
static bool is_of_first(const struct nt_worst *worst, const struct nt_worst_window *window)
{
	if (!window->ns)
		return false;
	return worst->n_cells < worst->most_cells || comes_before(window, &worst->cells[worst->n_cells - 1].worst);
}

/* Keeps the cell that the curve's walk is at the end of, if it is one of the first. */
static void keep_cell(struct nt_worst *worst, const struct curve *curve)
{
	const struct walk *walk = &curve->walk;
	const struct range cell = {
		.curve = (size_t)(curve - worst->curves),
		.first_ts = begin_of(walk, walk->first),
		.last_ts = begin_of(walk, walk->last),
		.worst = worst_of(curve, walk),
	};
	size_t at = worst->n_cells;

	if (!is_of_first(worst, &cell.worst))
		return;
	while (at && comes_before(&cell.worst, &worst->cells[at - 1].worst))
		at--;
	if (worst->n_cells < worst->most_cells)
		worst->n_cells++;
	memmove(&worst->cells[at + 1], &worst->cells[at], (worst->n_cells - 1 - at) * sizeof(*worst->cells));
	worst->cells[at] = cell;
}

static uint64_t place_of_end(const struct nt_worst *worst)
{
	return (uint64_t)worst->want.to_ts - (uint64_t)worst->want.from_ts;
}

static void set_cell(const struct nt_worst *worst, struct walk *walk, uint64_t first)
{
	const uint64_t end = place_of_end(worst);

	walk->first = first;
	walk->last = end - first < walk->length ? end : first + walk->length - 1;
	walk->worst_ns = 0;
}

/* On to the next cell. Where nothing changes, whole cells are left out that would not be among the first. */
static void next_cell(const struct nt_worst *worst, struct curve *curve, uint64_t known)
{
	struct walk *walk = &curve->walk;
	const uint64_t length = walk->length, next = next_place(walk), end = place_of_end(worst);
	uint64_t first = walk->last + 1, until = next < known ? next : known;
	const struct nt_worst_window same = {.curve = curve->id, .ts = begin_of(walk, first), .ns = walk->own.ns};

	until = until < end ? until : end;
	if (!walk->own.slope && !is_of_first(worst, &same))
		first += (until - walk->at) / length * length;
	curve->is_done = first > end;
	if (curve->is_done)
		move_to(walk, end); /* uncovered time may have grown until then */
	else
		set_cell(worst, walk, first);
}

static int begin_curve(const struct nt_worst *worst, struct curve *curve)
{
	int error = walk_begin(&curve->walk, worst, curve, worst->want.from_ts);

	curve->has_begun = true;
	set_cell(worst, &curve->walk, worst->want.length);
	return error;
}

static int walk_curve(struct nt_worst *worst, struct curve *curve, uint64_t known)
{
	int error = curve->has_begun ? renew(&curve->walk) : begin_curve(worst, curve);

	while (!error && !curve->is_done) {
		error = walk_on(&curve->walk, known);
		if (error != 1)
			return error;
		keep_cell(worst, curve);
		next_cell(worst, curve, known);
		error = 0;
	}
	return error;
}

/* ---- forgetting ---- */

struct needs {
	const struct nt_worst *worst;
	const struct curve *curve;
};

static bool is_needed(const void *arg, const struct nt_stretch_block *block)
{
	const struct needs *needs = arg;
	const struct nt_worst *worst = needs->worst;
	const size_t curve = (size_t)(needs->curve - worst->curves);

	if (!needs->curve->is_done && block->end_ts > begin_of(&needs->curve->walk, needs->curve->walk.first))
		return true;
	return NT_ANY(worst->n_cells, i,
		      worst->cells[i].curve == curve && block->end_ts > worst->cells[i].first_ts &&
			      block->ts < worst->cells[i].last_ts + (int64_t)worst->want.length);
}

/* Forgets slices of a stream that no walk will come to; not each time, since it looks at all that are left. */
static void sweep(const struct nt_worst *worst, struct curve *curve, size_t i)
{
	struct stream *stream = worst->streams[curve->stream + i];
	struct nt_stretch_cursor *back = &curve->walk.sources[2 * i].cursor;
	struct nt_stretch_cursor *front = &curve->walk.sources[2 * i + 1].cursor;
	const struct needs needs = {worst, curve};
	size_t forgotten;

	if (back->block < 2 * stream->n_swept + 4)
		return;
	forgotten = nt_stretches_forget(&stream->stretches, back->block, is_needed, &needs);
	back->block -= forgotten;
	front->block -= forgotten;
	stream->n_swept = back->block;
}

/* ---- as slices come ---- */

/* How far all streams of the curve are known: a place. */
static uint64_t known_of(const struct nt_worst *worst, const struct curve *curve)
{
	int64_t known_ts = worst->want.to_ts;

	for (size_t i = 0; i < curve->n; i++) {
		const struct stream *stream = worst->streams[curve->stream + i];

		if (!stream->is_left_out && stream->known_ts < known_ts)
			known_ts = stream->known_ts;
	}
	return (uint64_t)known_ts - (uint64_t)worst->want.from_ts;
}

static int walk_all(struct nt_worst *worst)
{
	int error = 0;

	if (!worst->want.each_cpu && worst->n_streams < worst->want.cpus)
		return 0;
	for (size_t i = 0; i < worst->n_streams; i++)
		worst->streams[i]->may_grow = false;
	for (size_t i = 0; i < worst->n_curves && !error; i++) {
		struct curve *curve = &worst->curves[i];

		error = walk_curve(worst, curve, known_of(worst, curve));
		for (size_t j = 0; j < curve->n && !error; j++)
			sweep(worst, curve, j);
	}
	return error;
}

/* A curve for the new stream, or one more in the curve of all. */
static int add_to_curve(struct nt_worst *worst, uint32_t cpu)
{
	if (worst->n_curves && !worst->want.each_cpu) {
		worst->curves[0].n++;
		return 0;
	}
	if (NT_ROOM(worst->curves, worst->curves_size, worst->n_curves + 1))
		return -ENOMEM;
	worst->curves[worst->n_curves++] =
		(struct curve){.id = worst->want.each_cpu ? cpu : 0, .stream = worst->n_streams, .n = 1};
	return 0;
}

static int add_stream(struct nt_worst *worst, uint32_t cpu, bool is_left_out)
{
	struct stream *stream;

	if (worst->n_streams == NT_LANE_MAX_CPUS ||
	    (!worst->want.each_cpu && worst->n_curves && worst->curves[0].has_begun))
		return -ERANGE;
	stream = calloc(1, sizeof(*stream));
	if (!stream || NT_ROOM(worst->streams, worst->streams_size, worst->n_streams + 1) || add_to_curve(worst, cpu)) {
		free(stream);
		return -ENOMEM;
	}
	stream->cpu = cpu;
	stream->is_left_out = is_left_out;
	stream->known_ts = worst->want.from_ts;
	stream->stretches.store = &worst->store;
	worst->streams[worst->n_streams++] = stream;
	return nt_id_map_set(&worst->by_cpu, cpu, worst->n_streams);
}

/* Which begins where the last one ended is more of the same. */
static int add_stretch(struct stream *stream, int64_t ts, int64_t end_ts, bool is_uncovered)
{
	const struct nt_stretches *stretches = &stream->stretches;
	const struct nt_stretch_block *block = stream->may_grow ? &stretches->blocks[stretches->n - 1] : NULL;
	const struct nt_stretch stretch = {
		.ts = ts, .ns = (uint64_t)end_ts - (uint64_t)ts, .is_uncovered = is_uncovered};

	if (block && block->end_ts == ts && block->stretches[block->n - 1].is_uncovered == stretch.is_uncovered) {
		nt_stretches_lengthen(&stream->stretches, end_ts);
		return 0;
	}
	stream->may_grow = true;
	return nt_stretches_add(&stream->stretches, &stretch);
}

static int add_slice(struct nt_worst *worst, struct stream *stream, int64_t ts, int64_t end_ts, enum nt_worst_kind kind)
{
	if (ts < worst->want.from_ts)
		ts = worst->want.from_ts;
	if (end_ts > worst->want.to_ts)
		end_ts = worst->want.to_ts;
	if (ts >= end_ts || kind == NT_WORST_LEFT_OUT)
		return 0;
	if (ts < stream->known_ts)
		return -ERANGE;
	stream->known_ts = end_ts;
	return kind == NT_WORST_OTHER ? 0 : add_stretch(stream, ts, end_ts, kind == NT_WORST_UNCOVERED);
}

int nt_worst_add(struct nt_worst *worst, uint32_t cpu, int64_t ts, int64_t end_ts, enum nt_worst_kind kind)
{
	uint64_t i = nt_id_map_get(&worst->by_cpu, cpu);
	int error = i ? 0 : add_stream(worst, cpu, kind == NT_WORST_LEFT_OUT);

	if (error)
		return error;
	error = add_slice(worst, worst->streams[(i ? i : worst->n_streams) - 1], ts, end_ts, kind);
	if (error || ++worst->added % ADDED_PER_WALK)
		return error;
	return walk_all(worst);
}

/* ---- choosing ---- */

/* The worst window that begins in the range. */
static int search(const struct nt_worst *worst, struct range *range)
{
	const struct curve *curve = &worst->curves[range->curve];
	struct walk walk;
	int error = walk_begin(&walk, worst, curve, range->first_ts);

	walk.first = walk.length;
	walk.last = walk.length + ((uint64_t)range->last_ts - (uint64_t)range->first_ts);
	if (!error)
		error = walk_on(&walk, walk.last);
	range->worst = worst_of(curve, &walk);
	walk_release(&walk);
	return error < 0 ? error : 0;
}

/* Takes away what would overlap the window: the range's end, its begin, or all. */
static void cut(struct range *range, int64_t ts, uint64_t length)
{
	const int64_t before_ts = ts - (int64_t)length, behind_ts = ts + (int64_t)length;

	if (range->first_ts <= before_ts)
		range->last_ts = range->last_ts < before_ts ? range->last_ts : before_ts;
	else if (range->first_ts < behind_ts)
		range->first_ts = behind_ts;
}

/* The same of all ranges of its curve. Gives how many are left, or an error. */
static int64_t cut_all(const struct nt_worst *worst, struct range *ranges, size_t n, const struct range *taken)
{
	const struct range by = *taken;
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		struct range range = ranges[i];
		int error = 0;

		if (range.curve == by.curve)
			cut(&range, by.worst.ts, worst->want.length);
		if (range.first_ts > range.last_ts)
			continue;
		if (range.worst.ts < range.first_ts || range.worst.ts > range.last_ts)
			error = search(worst, &range);
		if (error)
			return error;
		ranges[left++] = range;
	}
	return (int64_t)left;
}

static struct range *worst_range(struct range *ranges, size_t n)
{
	struct range *found = n ? &ranges[0] : NULL;

	for (size_t i = 1; i < n; i++) {
		if (comes_before(&ranges[i].worst, &found->worst))
			found = &ranges[i];
	}
	return found && found->worst.ns ? found : NULL;
}

/* Leaves nothing of the cells. */
static int choose(struct nt_worst *worst, struct nt_worst_window *windows)
{
	int64_t n = (int64_t)worst->n_cells;
	unsigned int found = 0;

	while (found < worst->want.most) {
		const struct range *taken = worst_range(worst->cells, (size_t)n);

		if (!taken)
			break;
		windows[found++] = taken->worst;
		n = cut_all(worst, worst->cells, (size_t)n, taken);
		if (n < 0)
			return (int)n;
	}
	worst->n_cells = 0;
	return (int)found;
}

int nt_worst_find(struct nt_worst *worst, struct nt_worst_window *windows)
{
	int error = 0;

	for (size_t i = 0; i < worst->n_curves && !error; i++)
		error = walk_curve(worst, &worst->curves[i], place_of_end(worst));
	return error ? error : choose(worst, windows);
}

uint64_t nt_worst_bound(const struct nt_worst *worst)
{
	uint64_t most = 0;

	for (size_t i = 0; i < worst->n_curves; i++)
		most = worst->curves[i].walk.bound > most ? worst->curves[i].walk.bound : most;
	return most;
}

const char *nt_worst_error(const struct nt_worst *worst)
{
	return worst->store.error;
}

/* ---- all ---- */

struct nt_worst *nt_worst_new(const struct nt_worst_want *want)
{
	const size_t block = NT_STRETCHES_IN_BLOCK * sizeof(struct nt_stretch);
	struct nt_worst *worst = calloc(1, sizeof(*worst));

	if (!worst)
		return NULL;
	worst->want = *want;
	worst->store.most_in_memory = (want->in_memory ? want->in_memory : NT_WORST_IN_MEMORY) / block;
	worst->most_cells = 3 * (size_t)want->most - 2;
	worst->cells = calloc(worst->most_cells, sizeof(*worst->cells));
	if (worst->cells)
		return worst;
	nt_worst_free(worst);
	return NULL;
}

void nt_worst_free(struct nt_worst *worst)
{
	if (!worst)
		return;
	for (size_t i = 0; i < worst->n_curves; i++)
		walk_release(&worst->curves[i].walk);
	for (size_t i = 0; i < worst->n_streams; i++) {
		nt_stretches_release(&worst->streams[i]->stretches);
		free(worst->streams[i]);
	}
	free(worst->streams);
	free(worst->curves);
	free(worst->cells);
	nt_id_map_release(&worst->by_cpu);
	nt_stretch_store_release(&worst->store);
	free(worst);
}
