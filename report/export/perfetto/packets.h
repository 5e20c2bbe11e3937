/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * packets.h - a Perfetto trace as a file: a series of packets, compressed many at a time. Knows how packets
 * are kept, not what is in them. A thread (deflater.h) writes to the stream until nt_packets_finish; prints nothing.
 *
 * Failures (memory, zlib, the stream) are kept and given by nt_packets_finish: until then nothing has to be asked.
 */
#pragma once

#include <stdio.h>

#include "report/export/perfetto/deflater.h"

/* Bytes of packets that are compressed together: more gains little, and is held in memory by who reads it. */
#define NT_PACKETS_BATCH (512u << 10)

struct nt_packets {
	struct nt_proto batch; /* packets that the deflater does not have yet */
	struct nt_deflater *deflater;
	bool failed; /* out of memory */
};

/* 0, or -1: out of memory; either way to be released. */
int nt_packets_init(struct nt_packets *packets, FILE *out);
void nt_packets_release(struct nt_packets *packets);
/*
 * A packet is what is written into the buffer that nt_packets_begin gives until nt_packets_end, which gets *packet.
 * One at a time.
 */
struct nt_proto *nt_packets_begin(struct nt_packets *packets, size_t *packet);
void nt_packets_end(struct nt_packets *packets, size_t packet);
/* Writes the rest. 0, or -1: out of memory. The error mark of the stream tells of failed writes. */
int nt_packets_finish(struct nt_packets *packets);
