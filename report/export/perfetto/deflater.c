// SPDX-License-Identifier: GPL-2.0-only
/*
 * deflater.c - see deflater.h. Batches form a ring: its user fills them in their order, and the thread empties them in
 * the same order. The buffers go back and forth, so that nothing is copied.
 */
#include "report/export/perfetto/deflater.h"

#include <signal.h>
#include <stdlib.h>
#include <zlib.h>

#include "report/export/perfetto/fields.h"
#include "report/util/handover.h"

/* On such packets 3 is as fast as 1 and a tenth smaller; 6 takes half as long again, for another tenth. */
#define LEVEL 3
#define BATCHES 3

struct nt_deflater {
	FILE *out;
	z_stream zlib;
	struct nt_proto deflated, packet;
	bool failed; /* out of memory; the thread's, until it has ended */
	struct nt_handover handover;
	struct nt_proto batches[BATCHES];
};

/* ---- one batch ---- */

static bool deflate_batch(struct nt_deflater *deflater, const struct nt_proto *batch)
{
	struct nt_proto *deflated = &deflater->deflated;
	z_stream *zlib = &deflater->zlib;
	const uLong bound = deflateBound(zlib, batch->size);

	nt_proto_reset(deflated);
	/* zlib counts in 32 bits. So much is only in the texts of a database that no tape was imported into. */
	if (batch->failed || batch->size > UINT32_MAX || bound > UINT32_MAX || deflateReset(zlib) != Z_OK ||
	    !nt_proto_room(deflated, bound))
		return false;
	zlib->next_in = batch->data;
	zlib->avail_in = (uInt)batch->size;
	zlib->next_out = deflated->data;
	zlib->avail_out = (uInt)bound;
	if (deflate(zlib, Z_FINISH) != Z_STREAM_END)
		return false;
	deflated->size = zlib->total_out;
	return true;
}

static bool write_packet(struct nt_deflater *deflater)
{
	struct nt_proto *packet = &deflater->packet;
	size_t begin;

	nt_proto_reset(packet);
	begin = nt_proto_begin(packet, NT_TRACE_PACKET);
	nt_proto_bytes(packet, NT_PACKET_COMPRESSED_PACKETS, deflater->deflated.data, deflater->deflated.size);
	nt_proto_end(packet, begin);
	if (packet->failed)
		return false;
	fwrite(packet->data, 1, packet->size, deflater->out);
	return true;
}

static void write_batch(struct nt_deflater *deflater, struct nt_proto *batch)
{
	if (!deflater->failed)
		deflater->failed = !deflate_batch(deflater, batch) || !write_packet(deflater);
	nt_proto_reset(batch);
}

/* ---- the thread ---- */

static void *write_batches(void *arg)
{
	struct nt_deflater *deflater = arg;
	int place;

	while ((place = nt_handover_to_empty(&deflater->handover, UINT64_MAX)) >= 0) {
		write_batch(deflater, &deflater->batches[place]);
		nt_handover_emptied(&deflater->handover);
	}
	return NULL;
}

/* ---- its user ---- */

struct nt_deflater *nt_deflater_open(FILE *out)
{
	struct nt_deflater *deflater = calloc(1, sizeof(*deflater));

	if (!deflater)
		return NULL;
	deflater->out = out;
	if (deflateInit(&deflater->zlib, LEVEL) != Z_OK) {
		free(deflater);
		return NULL;
	}
	nt_handover_init(&deflater->handover, BATCHES);
	/* The thread that writes takes SIGPIPE: a reader that has enough ends the program. */
	nt_handover_start(&deflater->handover, SIGPIPE, write_batches, deflater);
	return deflater;
}

void nt_deflater_put(struct nt_deflater *deflater, struct nt_proto *batch)
{
	struct nt_proto *empty, filled = *batch;

	if (!deflater->handover.has_thread) {
		write_batch(deflater, batch);
		return;
	}
	empty = &deflater->batches[nt_handover_to_fill(&deflater->handover)];
	*batch = *empty;
	*empty = filled;
	nt_handover_filled(&deflater->handover);
}

int nt_deflater_finish(struct nt_deflater *deflater)
{
	nt_handover_finish(&deflater->handover);
	return deflater->failed ? -1 : 0;
}

void nt_deflater_close(struct nt_deflater *deflater)
{
	if (!deflater)
		return;
	nt_handover_stop(&deflater->handover);
	nt_handover_release(&deflater->handover);
	deflateEnd(&deflater->zlib);
	nt_proto_release(&deflater->deflated);
	nt_proto_release(&deflater->packet);
	for (size_t i = 0; i < BATCHES; i++)
		nt_proto_release(&deflater->batches[i]);
	free(deflater);
}
