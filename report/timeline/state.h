/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - the state of a timeline, and the parts that work on it: timeline.c takes records and decides where segments
 * begin and end, spans.c collects their spans, loss.c their uncovered time, rows.c gives rows. Private to these.
 */
#pragma once

#include "report/timeline/open_ops.h"
#include "report/timeline/segment.h"
#include "report/timeline/timeline.h"

#define NT_INVERSION_MAX_NS 1000 /* times inverted by more are not set right, but counted malformed */
#define NT_MAX_LOSSES 256 /* rows of one uncovered stretch; further losses add to these */

/* The state of a CPU since its last state record. */
enum nt_base { NT_BASE_NONE, NT_BASE_TASK, NT_BASE_OFFLINE };

/* A loss row that waits for the end of its stretch. */
struct nt_pending_loss {
	uint64_t count;
	uint8_t kind;
	const char *why;
};

/* One CPU. Its time before start_ns has been given away; the rest waits for a state record. */
struct nt_cpu_line {
	uint32_t number;
	bool present;

	/* The segment at hand. */
	enum nt_base base;
	uint64_t task; /* believed, if base is TASK */
	uint64_t start_ns; /* never before the session's start */
	uint64_t known_ns; /* nt_timeline_known_since */
	uint64_t asked_task; /* the task that is_napi was asked about last, */
	bool asked_is_napi; /* and what it said */
	struct nt_segment segment;
	struct nt_open opens[NT_MAX_OPEN]; /* read since, all with the same end: of the state record to come */
	uint32_t n_opens;
	uint64_t last_end_ns; /* greatest end of this CPU's records, LOSS aside */
	bool stopped; /* the last state record was of reason STOP */

	/* While lost, [lost_ns, the end of the stretch) will be uncovered. base is what was before it. */
	bool lost;
	bool initial; /* lost only because no record came yet */
	bool task_lost; /* the task may have changed since the stretch began */
	bool too_long; /* its segment was cut short */
	bool counted; /* in nt_timeline.n_lost */
	uint64_t lost_ns;
	uint32_t n_before_loss; /* of the segment's spans, those that may have ended before the loss */
	uint64_t lost_until_ns; /* a state record before this does not end it */
	struct nt_pending_loss *losses;
	uint32_t n_losses;
	size_t losses_size;

	/* The stay: from switch to switch, over several segments. */
	bool staying;
	bool running; /* in nt_timeline.running */
	uint64_t stay_task, stay_ns;
	uint64_t came_ns; /* as stay_ns was at first */
	LIST_ENTRY(nt_cpu_line) of_running;

	struct nt_cpu_slice slice; /* the last, held back: the next may continue it; dur 0: none */

	/* Softirqs and interrupts open at the last state record. */
	struct nt_span unended[NT_MAX_OPEN];
	uint32_t n_unended;
	uint64_t unended_task;
	bool unended_last; /* that record was at the session's end or after it */
};

LIST_HEAD(nt_running, nt_cpu_line);

struct nt_timeline {
	uint64_t start_ns, end_ns;
	uint32_t n_lines;
	struct nt_cpu_line *lines;
	bool (*is_main_of)(void *arg, uint64_t main, uint64_t task);
	bool (*is_napi)(void *arg, uint64_t task);
	void *callback_arg; /* of these two */
	struct nt_timeline_sink sink;
	struct nt_timeline_counts counts;
	struct nt_open_ops open_ops;
	/* For knowing whether an operation may have pieces in uncovered time: */
	uint32_t n_lost; /* CPUs uncovered now */
	uint64_t uncovered_until_ns; /* the latest end of a stretch that has ended */
	/* The CPUs that a task other than idle stays on, found by a hash of the task; a power of two of lists. */
	struct nt_running *running;
	uint32_t n_running;
};

/* A state record, of either kind, and what it means. */
struct nt_closing {
	uint64_t end_ns; /* as recorded */
	uint64_t at_ns; /* the same, not before the segment's start */
	uint64_t task; /* was on the CPU until then */
	uint64_t next; /* is from then on */
	uint8_t n_open;
	uint8_t reason; /* enum nt_state_reason; 0: a switch */
	const struct nt_switch *by; /* NULL: not a switch */
	bool covered; /* the segment is of one known task, under one id, and has nothing uncovered in it */
};

static inline uint64_t nt_min_ns(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t nt_max_ns(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- loss.c; those that may fail give 0, -ENOMEM, or what a callback gave ---- */

/* Adds a cause, of the stretch at hand or about to begin. */
int nt_loss_push(struct nt_cpu_line *line, uint8_t kind, uint64_t count, const char *why);
/* From here on, [from_ns, ...) of the CPU is uncovered. */
void nt_loss_begin(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t from_ns);
/* The stretch at hand is [from_ns, to_ns); gives its rows. */
int nt_loss_end(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t from_ns, uint64_t to_ns);
/* Everything since the segment's start is not to be relied on, whether it was lost already or not. */
void nt_loss_of_segment(struct nt_timeline *timeline, struct nt_cpu_line *line);
/* The segment is longer than any writer makes one: gives its rows, forgets its spans, and is uncovered. */
int nt_loss_of_long(struct nt_timeline *timeline, struct nt_cpu_line *line);
/* The stretch lasts to the first state record after last_ns. */
void nt_loss_until(struct nt_cpu_line *line, uint64_t last_ns);
int nt_loss_record(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_loss *loss);

/* ---- spans.c; the same ---- */

int nt_spans_softirq(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_softirq *softirq);
int nt_spans_irq(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_irq *irq);
int nt_spans_op(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_op *op);
int nt_spans_napi(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_napi *napi);
void nt_spans_open(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_open *open);
/* The OPEN records read since the last state record belong to none. */
void nt_spans_drop_opens(struct nt_timeline *timeline, struct nt_cpu_line *line);
/* Adds the spans open at a state record to the segment it closes. */
int nt_spans_list_opens(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_closing *closing);
/* The segment is painted: brings what is remembered of its task's operations up to date. */
int nt_spans_update_ops(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_closing *closing);
/* Remembers the softirqs and interrupts open at a state record, which may be the session's last. */
void nt_spans_note_unended(const struct nt_timeline *timeline, struct nt_cpu_line *line,
			   const struct nt_closing *closing);

/* ---- rows.c; all give 0, or what a callback gave ---- */

/* The owner of the CPU's time up to until_ns, from where the slice before ended. */
int nt_cpu_line_slice(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t until_ns, enum nt_owner owner,
		      uint64_t task);
/* The same, of net_rx's time. Before the slice. */
int nt_cpu_line_rx_part(struct nt_timeline *timeline, const struct nt_cpu_line *line, const struct nt_piece *piece);
int nt_cpu_line_irq_part(struct nt_timeline *timeline, const struct nt_cpu_line *line, const struct nt_piece *piece);
/* Gives the slice that was held back. */
int nt_cpu_line_last_slice(struct nt_timeline *timeline, struct nt_cpu_line *line);
/* The spans that ended in the segment, painted up to paint_ns. Takes the remembered parts of operations. */
int nt_cpu_line_spans(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t paint_ns);
/*
 * A span has been recorded. If it is an operation, its remembered part waits for the row, which the segment's end
 * gives: no other CPU's state record may take the part for one without a record. Without `claim` that is taken back.
 */
void nt_cpu_line_claim(struct nt_timeline *timeline, const struct nt_cpu_line *line, const struct nt_span *span,
		       bool claim);
/* The softirqs and interrupts that are open at the session's end. */
int nt_cpu_line_unended(struct nt_timeline *timeline, struct nt_cpu_line *line);
/* An operation without a record of its end. until_ns: when it was last known to be open. */
int nt_cpu_line_open_op(struct nt_timeline *timeline, const struct nt_open_op *op, enum nt_op_end end,
			uint64_t until_ns, bool lower_bound);
/* The loss rows of the stretch [from_ns, to_ns), which are then no longer pending. */
int nt_cpu_line_losses(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t from_ns, uint64_t to_ns);
/*
 * A stay ended: by a switch, or (NULL) was cut. Moves the begin of the same task's stay on another CPU, if that
 * began a little too early.
 */
int nt_cpu_line_end_stay(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t end_ns,
			 const struct nt_switch *by);
void nt_cpu_line_begin_stay(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t begin_ns, uint64_t task);
/* The end of the stay is not known yet, and will lie in the past. */
void nt_cpu_line_suspend_stay(struct nt_cpu_line *line);

/* Counts a time that was inverted by so much. */
void nt_count_inversion(struct nt_timeline *timeline, uint64_t by_ns);
/* Whether an operation that began then, and is known until now, may have pieces in uncovered time of any CPU. */
bool nt_crosses_loss(const struct nt_timeline *timeline, uint64_t begin_ns);
