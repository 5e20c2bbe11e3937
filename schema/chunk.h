/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * chunk.h - the chunk file: a header, blocks, an index. Writer and reader, over callbacks, so that tests
 * run in memory. No I/O of its own, no globals, prints nothing. docs/chunk-format.md is the
 * specification; this header implements version NT_CHUNK_VERSION of it. Errors: see block.h.
 */
#pragma once

#include "schema/block.h"

#define NT_CHUNK_VERSION 1
#define NT_CHUNK_MAX_CPUS 65536 /* a CPU number at or over this is damage */

enum nt_block_type {
	NT_BLOCK_META = 1, /* nt_meta_*: first in every chunk; once more at the end of a session */
	NT_BLOCK_EVENTS = 2, /* nt_event_*: one CPU */
	NT_BLOCK_IDENTITIES = 3,
	NT_BLOCK_CLOCK = 4,
	NT_BLOCK_PROC_SNAPSHOT = 5,
	NT_BLOCK_INDEX = 6 /* last in a finished chunk */
};

#define NT_CHUNK_DROPS 0x01 /* of a flight recorder's tape, whose first chunks may be missing */

struct nt_chunk_header {
	uint32_t version;
	uint32_t number; /* of the chunk in its tape, from 0 */
	uint32_t flags; /* NT_CHUNK_* */
	uint8_t session[16]; /* random, the same in every chunk of a tape */
	uint64_t created_monotonic_ns;
	uint64_t created_realtime_ns;
	char boot_id[40]; /* text, zero-terminated */
	char host[68]; /* host name, zero-terminated, cut if longer */
};

#define NT_BLOCK_HAS_LOSS 0x01 /* a LOSS record is among the events */
#define NT_BLOCK_LONG 0x02 /* holds only spans longer than NT_BLOCK_LONG_NS */

/* The header before every payload, decoded. The fields after `flags` are of event blocks, else 0. */
struct nt_block_header {
	uint8_t type; /* enum nt_block_type */
	uint8_t flags; /* NT_BLOCK_* */
	uint32_t raw_size; /* payload before compression */
	uint32_t stored_size; /* payload as it stands; equal to raw_size: not compressed */
	uint32_t cpu;
	uint64_t sequence; /* of this CPU's event blocks over the whole session, from 0 */
	uint32_t count; /* records */
	uint64_t least_begin_ns, first_end_ns, last_end_ns;
	uint64_t since_ns; /* end of this CPU's last record before this block (start of session: 0) */
	uint64_t task; /* on the CPU at since_ns: the writer's copy of the last state */
	uint64_t lag_ns; /* how old the oldest record was when the writer read it from the ring */
};

/* ---- writing ---- */

/* Takes all bytes or gives a negative errno. */
typedef int (*nt_write_fn)(void *arg, const void *data, size_t size);

struct nt_chunk_writer;
/* Writes the chunk header. */
int nt_chunk_writer_new(struct nt_chunk_writer **out, const struct nt_chunk_header *header, nt_write_fn write,
			void *arg);
/*
 * Compresses (LZ4) and writes one block. In *header the caller sets type, flags and, for events, cpu,
 * sequence, count, times, since, task and lag; sizes are filled in here. One write call per block.
 */
int nt_chunk_writer_block(struct nt_chunk_writer *writer, struct nt_block_header *header, const void *raw,
			  size_t raw_size);
/* Writes the index. After it the chunk is whole and the caller may take off `.partial`. */
int nt_chunk_writer_finish(struct nt_chunk_writer *writer);
uint64_t nt_chunk_writer_size(const struct nt_chunk_writer *writer); /* bytes written so far */
void nt_chunk_writer_free(struct nt_chunk_writer *writer);

/* ---- reading ---- */

/* A file, or memory. read gives how many bytes it read (less than asked only at the end) or a negative errno. */
struct nt_source {
	void *arg;
	uint64_t size;
	int64_t (*read)(void *arg, uint64_t offset, void *data, size_t size);
};

struct nt_block_ref {
	uint64_t offset; /* of the block's header in the chunk */
	struct nt_block_header header;
};

/* A damaged stretch of a chunk. */
struct nt_damage {
	uint64_t offset, size;
	const char *what; /* a constant sentence part: "block header does not match its checksum" */
};

struct nt_chunk_contents {
	struct nt_chunk_header header;
	struct nt_block_ref *blocks; /* in file order */
	size_t n_blocks;
	struct nt_damage *damage; /* bounded: beyond NT_MAX_DAMAGE the last entry grows */
	size_t n_damage;
	bool indexed; /* from the index, or there is one; else by scanning */
};
#define NT_MAX_DAMAGE 1000

/*
 * Reads the header and the index, or scans (when there is no valid index, or with `scan`): block headers
 * with a bad checksum are stepped over by searching for the next valid one. Payloads are not read.
 * -EPROTO and -ENOTSUP mean that nothing was read. Release with nt_chunk_contents_release; after an error
 * there is nothing to release. A damaged chunk header is taken from the index; without one, header.version is
 * 0 and so is the rest of it.
 */
int nt_chunk_open(const struct nt_source *source, bool scan, struct nt_chunk_contents *out);
void nt_chunk_contents_release(struct nt_chunk_contents *contents);
/* Whether the file is the begin of a chunk's header and no more: its writer ended there. 0, 1 or a negative errno. */
int nt_chunk_is_begun(const struct nt_source *source);
/*
 * The same while the chunk is being written, again and again: lists, behind what is listed already, the blocks that are
 * whole by now. *offset is where it goes on, 0 at first; it stays 0 until the header is there. What is not whole waits
 * for the next time. The contents, zero-initialised at first, stay as they are on an error.
 */
int nt_chunk_grow(const struct nt_source *source, uint64_t *offset, struct nt_chunk_contents *contents);
/* The last time: the writer has finished, and what is not whole is damage. `indexed` says whether the trailer is there.
 */
int nt_chunk_grown(const struct nt_source *source, uint64_t offset, struct nt_chunk_contents *contents);
/* Reads, checks and decompresses one payload into `raw` (replacing what it held). -EBADMSG: damaged. */
int nt_chunk_load(const struct nt_source *source, const struct nt_block_ref *block, struct nt_buf *raw);

uint32_t nt_crc32c(uint32_t crc, const void *data, size_t size);
