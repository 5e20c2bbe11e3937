/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * block.h - the payloads of blocks: events as columns, identities as rows, snapshots as text.
 *
 * An encoder takes records and gives bytes; a decoder takes bytes, hostile until checked, and gives
 * records. No I/O, no globals. docs/chunk-format.md is the specification.
 *
 * Errors everywhere in schema/: 0 done, 1 end, below 0 a negative errno:
 *   -ENOMEM   out of memory        -EBADMSG  damaged, or not what the specification says
 *   -EPROTO   not a tape           -ENOTSUP  a tape of another version
 *   -E2BIG    over a bound         others    what a callback gave
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/event.h"
#include "schema/kind.h"

/* Bounds that a reader holds every tape to, and a writer keeps. */
#define NT_BLOCK_MAX_RAW (4u << 20) /* bytes of a payload before compression */
#define NT_BLOCK_MAX_EVENTS (1u << 20)
#define NT_BLOCK_LONG_NS 1000000000ull /* spans longer than this go into blocks of their own */

/* A growing byte buffer. Owner frees with nt_buf_release; zero-initialised is empty. */
struct nt_buf {
	uint8_t *data;
	size_t size, capacity;
};
int nt_buf_reserve(struct nt_buf *buf, size_t more);
int nt_buf_append(struct nt_buf *buf, const void *data, size_t size);
/* Adds a text, of which 511 characters at most. */
__attribute__((format(printf, 2, 3))) int nt_buf_print(struct nt_buf *buf, const char *format, ...);
void nt_buf_release(struct nt_buf *buf);

/*
 * Event blocks. One encoder per CPU, reused from block to block; after it has warmed up, adding a record
 * allocates nothing.
 */
struct nt_event_encoder;

struct nt_event_stats {
	uint32_t count; /* records in the block */
	uint64_t first_end_ns; /* of the first record added */
	uint64_t last_end_ns; /* greatest end */
	uint64_t least_begin_ns; /* least of first_end_ns and the known begins of spans that ended here */
};

struct nt_event_encoder *nt_event_encoder_new(void);
void nt_event_encoder_free(struct nt_event_encoder *encoder);
/* Adds one record of a CPU (nt_kind_is_of_cpu) whose ids are translated already. -EINVAL for another kind. */
int nt_event_encoder_add(struct nt_event_encoder *encoder, const void *record);
/* At most so many bytes the payload would have now, before compression: O(1), for deciding when to cut. */
size_t nt_event_encoder_size(const struct nt_event_encoder *encoder);
const struct nt_event_stats *nt_event_encoder_stats(const struct nt_event_encoder *encoder);
/* Appends the raw payload to `out` and empties the encoder. -ENOMEM: nothing happened, try again. */
int nt_event_encoder_finish(struct nt_event_encoder *encoder, struct nt_buf *out);

/* Decodes one raw payload. Holds pointers into it: the payload must outlive the decoder. */
struct nt_event_decoder;
struct nt_event_decoder *nt_event_decoder_new(void);
void nt_event_decoder_free(struct nt_event_decoder *decoder);
/* `payload` may be any bytes. Unknown kinds and fields are skipped and counted. */
int nt_event_decoder_open(struct nt_event_decoder *decoder, const void *payload, size_t size);
/* 0: *out is the next record, in ring order; 1: end; below 0: damaged. */
int nt_event_decoder_next(struct nt_event_decoder *decoder, union nt_any *out);
uint64_t nt_event_decoder_unknown(const struct nt_event_decoder *decoder); /* records skipped so far */

/* Identity blocks: records of identities, in any order. */
int nt_identity_encode(struct nt_buf *out, const void *record);
/* How many bytes of these records are whole ones and at most `most`, but the first in any case; all if damaged. */
size_t nt_identity_cut(const void *payload, size_t size, size_t most);
/* Reads the record at *offset and moves it on. 0 ok, 1 end; unknown kinds are skipped. Strings in *out end in zero. */
int nt_identity_next(const void *payload, size_t size, size_t *offset, union nt_any *out);

/*
 * Whether it says what others of the same id may leave out: the path of a cgroup, a socket's own port. The newest
 * identity counts, but none that lacks this replaces one that has it.
 */
bool nt_identity_is_full(const union nt_any *record);

/* Clock blocks: one instant on all clocks, the monotonic one read before and after the others. */
struct nt_clock {
	uint64_t monotonic_ns, realtime_ns, tai_ns, boot_ns, uncertainty_ns;
};
int nt_clock_encode(struct nt_buf *out, const struct nt_clock *clock);
int nt_clock_decode(const void *payload, size_t size, struct nt_clock *out);

/*
 * Snapshot blocks: a text (a file of /proc, or the recorder's own counters under the name "nettape/..."),
 * read between begin_ns and end_ns.
 */
struct nt_proc_snapshot {
	uint64_t begin_ns, end_ns;
	const char *name; /* zero-terminated in the decoder's result */
	const char *text; /* text_size bytes, no terminator */
	size_t text_size;
};
int nt_proc_snapshot_encode(struct nt_buf *out, const struct nt_proc_snapshot *snapshot);
/* The result points into the payload. */
int nt_proc_snapshot_decode(const void *payload, size_t size, struct nt_proc_snapshot *out);

/*
 * Meta blocks: lines "key=value\n" about the session; keys and values hold no newline, a key holds no
 * '='. A key may stand several times.
 */
int nt_meta_append(struct nt_buf *out, const char *key, const char *value);
/* Moves over one line. 0 ok, 1 end, -EBADMSG. Results point into the payload and are not terminated. */
int nt_meta_next(const void *payload, size_t size, size_t *offset, const char **key, size_t *key_size,
		 const char **value, size_t *value_size);
