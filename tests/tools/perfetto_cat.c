// SPDX-License-Identifier: GPL-2.0-only
/*
 * perfetto_cat.c - unpacks a Perfetto trace: perfetto_cat TRACE >PLAIN. A packet that holds compressed ones is replaced
 * by them, so that protoc can read it all. Knows nothing of the exporter but the format; whatever is not right ends it
 * with exit status 1.
 */
#include <err.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define PACKET 1u
#define COMPRESSED_PACKETS 50u
#define BYTES 2u

struct span {
	const uint8_t *at, *end;
};

static uint64_t take_varint(struct span *in)
{
	uint64_t number = 0;

	for (unsigned int shift = 0; shift < 64 && in->at < in->end; shift += 7) {
		number |= (uint64_t)(*in->at & 0x7f) << shift;
		if (*in->at++ < 0x80)
			return number;
	}
	errx(1, "a number does not end");
}

/* The value of a field that must be `field`, of type bytes. */
static struct span take_bytes(struct span *in, unsigned int field)
{
	struct span value;
	uint64_t tag = take_varint(in), size = take_varint(in);

	if (tag != (field << 3 | BYTES))
		errx(1, "there is field %llu of type %llu, not %u", (unsigned long long)tag >> 3,
		     (unsigned long long)tag & 7, field);
	if (size > (uint64_t)(in->end - in->at))
		errx(1, "field %u ends behind the end", field);
	value = (struct span){in->at, in->at + size};
	in->at += size;
	return value;
}

static void write_all(const void *data, size_t size)
{
	if (fwrite(data, 1, size, stdout) != size)
		err(1, "writing");
}

static void unpack(struct span deflated)
{
	z_stream zlib = {.next_in = (Bytef *)(uintptr_t)deflated.at, .avail_in = (uInt)(deflated.end - deflated.at)};
	uint8_t out[65536];
	int code = inflateInit(&zlib);

	while (code == Z_OK) {
		zlib.next_out = out;
		zlib.avail_out = sizeof(out);
		code = inflate(&zlib, Z_NO_FLUSH);
		if (code == Z_OK || code == Z_STREAM_END)
			write_all(out, sizeof(out) - zlib.avail_out);
	}
	if (code != Z_STREAM_END || zlib.avail_in)
		errx(1, "packets cannot be inflated: %d", code);
	inflateEnd(&zlib);
}

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
	uint8_t *data = NULL;
	size_t size = 0, n;
	struct span trace;

	if (!file)
		err(2, "usage: perfetto_cat TRACE >PLAIN");
	do {
		data = realloc(data, size + (1u << 20));
		if (!data)
			err(1, "memory");
		n = fread(data + size, 1, 1u << 20, file);
		size += n;
	} while (n);
	trace = (struct span){data, data + size};
	while (trace.at < trace.end) {
		const uint8_t *begin = trace.at;
		struct span packet = take_bytes(&trace, PACKET);
		struct span look = packet;

		if (look.at < look.end && take_varint(&look) == (COMPRESSED_PACKETS << 3 | BYTES)) {
			unpack(take_bytes(&packet, COMPRESSED_PACKETS));
			if (packet.at != packet.end)
				errx(1, "there is more in a packet that holds packets");
		} else {
			write_all(begin, (size_t)(trace.at - begin));
		}
	}
	free(data);
	fclose(file);
	return fflush(stdout) ? 1 : 0;
}
