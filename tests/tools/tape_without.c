// SPDX-License-Identifier: GPL-2.0-only
/*
 * tape_without.c - what kinds of records take on a tape: writes its blocks again, in memory, with and without them, and
 * prints the sizes of both and how many records were left out.
 *
 *   tape_without TAPE KIND...     kinds by name: stack_sample stack symbol
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/chunk.h"
#include "tests/support/must.h"

struct without {
	uint64_t left_out[NT_KIND_MAX];
	bool is_out[NT_KIND_MAX];
	struct nt_chunk_writer *with, *without;
	struct nt_buf raw, again;
	struct nt_event_encoder *encoder;
	struct nt_event_decoder *decoder;
};

static int64_t read_file(void *arg, uint64_t offset, void *data, size_t size)
{
	ssize_t n = pread(*(int *)arg, data, size, (off_t)offset);

	return n < 0 ? -errno : n;
}

static int forget(void *arg, const void *data, size_t size)
{
	(void)arg, (void)data, (void)size;
	return 0;
}

static bool leaves_out(struct without *all, const union nt_any *record)
{
	bool is_out = all->is_out[record->record.kind];

	all->left_out[record->record.kind] += is_out;
	return is_out;
}

static void encode_events(struct without *all)
{
	union nt_any record;

	MUST(!nt_event_decoder_open(all->decoder, all->raw.data, all->raw.size));
	while (!nt_event_decoder_next(all->decoder, &record))
		if (!leaves_out(all, &record))
			MUST(!nt_event_encoder_add(all->encoder, &record));
	MUST(!nt_event_encoder_finish(all->encoder, &all->again));
}

static void encode_identities(struct without *all)
{
	union nt_any record;
	size_t offset = 0;

	while (!nt_identity_next(all->raw.data, all->raw.size, &offset, &record))
		if (!leaves_out(all, &record))
			MUST(!nt_identity_encode(&all->again, &record));
}

static void take_block(struct without *all, const struct nt_block_header *header)
{
	struct nt_block_header copy = *header;

	MUST(!nt_chunk_writer_block(all->with, &copy, all->raw.data, all->raw.size));
	all->again.size = 0;
	if (header->type == NT_BLOCK_EVENTS)
		encode_events(all);
	else if (header->type == NT_BLOCK_IDENTITIES)
		encode_identities(all);
	else
		MUST(!nt_buf_append(&all->again, all->raw.data, all->raw.size));
	copy = *header;
	if (all->again.size)
		MUST(!nt_chunk_writer_block(all->without, &copy, all->again.data, all->again.size));
}

static void take_chunk(struct without *all, const char *path, uint64_t *with, uint64_t *without)
{
	struct nt_chunk_contents contents;
	struct nt_source source;
	struct stat stat_of;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	MUST(fd >= 0 && !fstat(fd, &stat_of));
	source = (struct nt_source){.arg = &fd, .size = (uint64_t)stat_of.st_size, .read = read_file};
	MUST(!nt_chunk_open(&source, false, &contents));
	MUST(!nt_chunk_writer_new(&all->with, &contents.header, forget, NULL));
	MUST(!nt_chunk_writer_new(&all->without, &contents.header, forget, NULL));
	for (size_t i = 0; i < contents.n_blocks; i++) {
		MUST(!nt_chunk_load(&source, &contents.blocks[i], &all->raw));
		take_block(all, &contents.blocks[i].header);
	}
	*with += nt_chunk_writer_size(all->with);
	*without += nt_chunk_writer_size(all->without);
	nt_chunk_writer_free(all->with);
	nt_chunk_writer_free(all->without);
	nt_chunk_contents_release(&contents);
	close(fd);
}

static void name_kinds(struct without *all, char **names)
{
	for (; *names; names++) {
		bool found = false;

		for (unsigned int kind = 0; kind < NT_KIND_MAX; kind++)
			if (nt_kind(kind) && !strcmp(nt_kind(kind)->name, *names))
				found = all->is_out[kind] = true;
		MUST(found);
	}
}

int main(int argc, char **argv)
{
	struct without all = {.encoder = nt_event_encoder_new(), .decoder = nt_event_decoder_new()};
	uint64_t with = 0, without = 0;
	struct dirent *entry;
	DIR *directory;

	MUST(argc > 2 && all.encoder && all.decoder);
	name_kinds(&all, argv + 2);
	directory = opendir(argv[1]);
	MUST(directory);
	while ((entry = readdir(directory))) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
		if (!strncmp(entry->d_name, "chunk-", 6))
			take_chunk(&all, path, &with, &without);
	}
	closedir(directory);
	printf("with %llu bytes, without %llu: %lld\n", (unsigned long long)with, (unsigned long long)without,
	       (long long)(with - without));
	for (unsigned int kind = 0; kind < NT_KIND_MAX; kind++)
		if (all.left_out[kind])
			printf("%s %llu\n", nt_kind(kind)->name, (unsigned long long)all.left_out[kind]);
	nt_event_encoder_free(all.encoder);
	nt_event_decoder_free(all.decoder);
	nt_buf_release(&all.raw);
	nt_buf_release(&all.again);
	return 0;
}
