// SPDX-License-Identifier: GPL-2.0-only
/*
 * deflater.c - see deflater.h. Batches form a ring: its user fills them in their order, and the thread empties them in
 * the same order. The buffers go back and forth, so that nothing is copied.
 */
#include "report/export/perfetto/deflater.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <zlib.h>

#include "report/export/perfetto/fields.h"

/* On such packets 3 is as fast as 1 and a tenth smaller; 6 takes half as long again, for another tenth. */
#define LEVEL 3
#define BATCHES 3

struct nt_deflater {
	FILE *out;
	z_stream zlib;
	struct nt_proto deflated, packet;
	bool failed; /* out of memory; the thread's, until it has ended */
	bool has_thread;
	pthread_t thread;
	pthread_mutex_t lock; /* of the four below it */
	pthread_cond_t changed;
	uint64_t filled, emptied; /* batches so far */
	bool finish, stop; /* no batch comes any more; those that wait are not wanted */
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

/* A batch to write; NULL: there is none, and none will come. */
static struct nt_proto *wait_filled(struct nt_deflater *deflater)
{
	struct nt_proto *batch = NULL;

	pthread_mutex_lock(&deflater->lock);
	while (!deflater->stop && !deflater->finish && deflater->filled == deflater->emptied)
		pthread_cond_wait(&deflater->changed, &deflater->lock);
	if (!deflater->stop && deflater->filled != deflater->emptied)
		batch = &deflater->batches[deflater->emptied % BATCHES];
	pthread_mutex_unlock(&deflater->lock);
	return batch;
}

static void count_one_more(struct nt_deflater *deflater, uint64_t *batches)
{
	pthread_mutex_lock(&deflater->lock);
	++*batches;
	pthread_cond_signal(&deflater->changed);
	pthread_mutex_unlock(&deflater->lock);
}

static void *write_batches(void *arg)
{
	struct nt_deflater *deflater = arg;
	struct nt_proto *batch;

	while ((batch = wait_filled(deflater))) {
		write_batch(deflater, batch);
		count_one_more(deflater, &deflater->emptied);
	}
	return NULL;
}

/*
 * With all signals blocked, for handlers run in the thread that works on what they clean up; but SIGPIPE, which comes
 * to the thread that writes: a reader that has enough ends the program.
 */
static void start(struct nt_deflater *deflater)
{
	sigset_t all, before;

	sigfillset(&all);
	sigdelset(&all, SIGPIPE);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	deflater->has_thread = !pthread_create(&deflater->thread, NULL, write_batches, deflater);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* `why`: &deflater->finish or &deflater->stop. */
static void end_thread(struct nt_deflater *deflater, bool *why)
{
	if (!deflater->has_thread)
		return;
	pthread_mutex_lock(&deflater->lock);
	*why = true;
	pthread_cond_signal(&deflater->changed);
	pthread_mutex_unlock(&deflater->lock);
	pthread_join(deflater->thread, NULL);
	deflater->has_thread = false;
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
	pthread_mutex_init(&deflater->lock, NULL);
	pthread_cond_init(&deflater->changed, NULL);
	start(deflater);
	return deflater;
}

/* An empty batch. */
static struct nt_proto *wait_empty(struct nt_deflater *deflater)
{
	struct nt_proto *batch;

	pthread_mutex_lock(&deflater->lock);
	while (deflater->filled - deflater->emptied == BATCHES)
		pthread_cond_wait(&deflater->changed, &deflater->lock);
	batch = &deflater->batches[deflater->filled % BATCHES];
	pthread_mutex_unlock(&deflater->lock);
	return batch;
}

void nt_deflater_put(struct nt_deflater *deflater, struct nt_proto *batch)
{
	struct nt_proto *empty, filled = *batch;

	if (!deflater->has_thread) {
		write_batch(deflater, batch);
		return;
	}
	empty = wait_empty(deflater);
	*batch = *empty;
	*empty = filled;
	count_one_more(deflater, &deflater->filled);
}

int nt_deflater_finish(struct nt_deflater *deflater)
{
	end_thread(deflater, &deflater->finish);
	return deflater->failed ? -1 : 0;
}

void nt_deflater_close(struct nt_deflater *deflater)
{
	if (!deflater)
		return;
	end_thread(deflater, &deflater->stop);
	pthread_cond_destroy(&deflater->changed);
	pthread_mutex_destroy(&deflater->lock);
	deflateEnd(&deflater->zlib);
	nt_proto_release(&deflater->deflated);
	nt_proto_release(&deflater->packet);
	for (size_t i = 0; i < BATCHES; i++)
		nt_proto_release(&deflater->batches[i]);
	free(deflater);
}
