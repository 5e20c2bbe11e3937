/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * due.h - how many stack samples an owner should have. Their clock ticks at a fixed rate, so an owner's exact time says
 * how many were due. Where ticks were skipped or lost, or came late and met another owner, there are fewer, and nothing
 * is known of that time. Pure, but for reading the rate.
 */
#pragma once

#include "report/db/db.h"

#define NT_STAGE_RATE_MAX 100000 /* Hz: more the recorder does not take */

/* The clock of a session's samples. */
struct nt_stage_clock {
	uint32_t rate_hz; /* 0: the recording does not say */
	unsigned int owners; /* 1 << enum nt_owner for each whose samples were kept */
};

/* 0, or -1 and a sentence in db->error. */
int nt_stage_clock_read(struct nt_db *db, int64_t session_id, struct nt_stage_clock *clock);
/* From `stacks_hz` and `stacks` as they stand on the tape; NULL: it does not stand there. */
struct nt_stage_clock nt_stage_clock_of(const char *rate, const char *kept);
/* Whether it is known how many of an owner are due. */
bool nt_stage_clock_tells(const struct nt_stage_clock *clock, unsigned int owner);
/* How many are due in that time, rounded. */
uint64_t nt_stage_due(const struct nt_stage_clock *clock, uint64_t ns);
/* Whether so many are under 90 % of those due, which are a hundred at least, and fewer than chance explains. */
bool nt_stage_is_short(uint64_t samples, uint64_t due);
