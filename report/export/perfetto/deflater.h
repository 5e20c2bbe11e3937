/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * deflater.h - batches of packets, each deflated and written to a stream as one packet, by a thread of its own while
 * its user makes the next batch. The thread takes no signal but SIGPIPE. Where none can be started, nt_deflater_put
 * does the work. The output is the same. Prints nothing.
 */
#pragma once

#include <stdio.h>

#include "report/export/perfetto/proto.h"

struct nt_deflater;

/* Until nt_deflater_finish or nt_deflater_close the stream is the thread's. NULL: out of memory. */
struct nt_deflater *nt_deflater_open(FILE *out);
/* Takes what is in `batch`, which becomes empty; waits while too many batches wait. */
void nt_deflater_put(struct nt_deflater *deflater, struct nt_proto *batch);
/*
 * Waits until all is written; once. 0, or -1: there was no memory for some of it, and nothing after that was written.
 * The error mark of the stream tells of failed writes.
 */
int nt_deflater_finish(struct nt_deflater *deflater);
/* Batches that wait are not written. Safe on NULL. */
void nt_deflater_close(struct nt_deflater *deflater);
