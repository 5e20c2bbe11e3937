/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracing.h - how much of the network's time tracing took, by stack samples: the stage `tracing` of `stages`, over all
 * owners and address families. It is the recorder's programs and those of every other tracer.
 */
#pragma once

#include "report/query/stages/result.h"

/* Zero-initialised is not known. */
struct nt_tracing {
	bool is_known;
	bool is_short; /* an owner has too few samples: see nt_stage_is_short */
	uint64_t network_ns; /* the time of its owners */
	uint64_t ns, low_ns, high_ns; /* of it; with 95 % confidence between these */
};

/*
 * Of a session, or of the part that is selected; not known where that has no stack samples. One scan of it: of all of a
 * tape, it finds the small tables too (db/tape_source.h). 0, or -1 and a sentence in db->error.
 */
int nt_tracing_find(struct nt_db *db, const struct nt_session *session, const struct nt_selection *selection,
		    struct nt_tracing *tracing);
/* Of what is found already, for the network's owners, not in groups. */
struct nt_tracing nt_tracing_of(const struct nt_stage_result *result);
/* A sentence on stdout; nothing if it is not known. */
void nt_tracing_print(const struct nt_tracing *tracing);
/* For programs: the object `tracing`, with the members network_ns, spent_ns, low_ns, high_ns and too_few; the same as
 * cells, for CSV. Empty if it is not known. */
void nt_tracing_json(const struct nt_tracing *tracing, struct nt_json *json);
void nt_tracing_line(const struct nt_tracing *tracing, struct nt_line *line);
