// SPDX-License-Identifier: GPL-2.0-only
/* build_id.c - see build_id.h. */
#include "record/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENTS_MAX 256	/* programs have some fifteen */
#define NOTES_MAX 4096		/* bytes of a segment of notes: the id stands among the first */

/*
 * Looked at before it is opened for reading, and then opened as what was looked at, not by its path again: its owner may have put a link
 * to a watchdog or a tape drive there, or to a file of /proc that is consumed by reading (these have no size). Nor must a lease that
 * somebody has on it hold us up.
 */
static int open_regular(const char *path)
{
	int place = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW), fd = -1;
	struct stat file;
	char name[32];

	if (place < 0)
		return -1;
	if (!fstat(place, &file) && S_ISREG(file.st_mode) && file.st_size) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	close(place);
	return fd;
}

static bool read_at(int fd, void *to, size_t size, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, to, size, (off_t)at) == (ssize_t)size;
}

static uint64_t padded(uint64_t size, uint64_t align)
{
	return (size + align - 1) / align * align;
}

static bool is_build_id(const Elf64_Nhdr *note, const uint8_t *name)
{
	return note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof("GNU") && !memcmp(name, "GNU", sizeof("GNU")) && note->n_descsz;
}

/* Among the notes of one segment. Their sizes are 32 bits each, so that sums of them in 64 cannot overflow. */
static bool find_in_notes(const uint8_t *notes, size_t size, uint64_t align, uint8_t *build_id)
{
	uint64_t at = 0;
	Elf64_Nhdr note;	/* the same in 32 bits */

	while (at + sizeof(note) <= size) {
		uint64_t name = at + sizeof(note), desc, n;

		memcpy(&note, notes + at, sizeof(note));
		desc = padded(name + note.n_namesz, align);
		if (desc + note.n_descsz > size)
			return false;
		n = note.n_descsz < NT_BUILD_ID_LEN ? note.n_descsz : NT_BUILD_ID_LEN;
		if (is_build_id(&note, notes + name)) {
			memset(build_id, 0, NT_BUILD_ID_LEN);
			memcpy(build_id, notes + desc, n);
			return true;
		}
		at = padded(desc + note.n_descsz, align);
	}
	return false;
}

/* A segment as far as we ask, of either class. */
static bool find_in_segment(int fd, const Elf64_Phdr *segment, uint8_t *build_id)
{
	uint8_t notes[NOTES_MAX];
	size_t size = segment->p_filesz < sizeof(notes) ? segment->p_filesz : sizeof(notes);

	return segment->p_type == PT_NOTE && read_at(fd, notes, size, segment->p_offset) &&
	       find_in_notes(notes, size, segment->p_align == 8 ? 8 : 4, build_id);
}

static bool find_in_64(int fd, uint8_t *build_id)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	uint64_t i;

	if (!read_at(fd, &header, sizeof(header), 0) || header.e_phentsize != sizeof(segment))
		return false;
	for (i = 0; i < header.e_phnum && i < SEGMENTS_MAX; i++)
		if (header.e_phoff <= INT64_MAX && read_at(fd, &segment, sizeof(segment), header.e_phoff + i * sizeof(segment)) &&
		    find_in_segment(fd, &segment, build_id))
			return true;
	return false;
}

static bool find_in_32(int fd, uint8_t *build_id)
{
	Elf32_Ehdr header;
	Elf32_Phdr segment;
	Elf64_Phdr wide = {};
	uint64_t i;

	if (!read_at(fd, &header, sizeof(header), 0) || header.e_phentsize != sizeof(segment))
		return false;
	for (i = 0; i < header.e_phnum && i < SEGMENTS_MAX; i++) {
		if (!read_at(fd, &segment, sizeof(segment), header.e_phoff + i * sizeof(segment)))
			continue;
		wide.p_type = segment.p_type;
		wide.p_offset = segment.p_offset;
		wide.p_filesz = segment.p_filesz;
		wide.p_align = segment.p_align;
		if (find_in_segment(fd, &wide, build_id))
			return true;
	}
	return false;
}

bool nt_build_id_of_file(const char *path, uint8_t build_id[NT_BUILD_ID_LEN])
{
	uint8_t ident[EI_NIDENT];
	int fd = open_regular(path);
	bool found = false;

	if (fd < 0)
		return false;
	/* The recorder runs on little-endian machines only, and so do programs there. */
	if (read_at(fd, ident, sizeof(ident), 0) && !memcmp(ident, ELFMAG, SELFMAG) && ident[EI_DATA] == ELFDATA2LSB)
		found = ident[EI_CLASS] == ELFCLASS64 ? find_in_64(fd, build_id) :
			ident[EI_CLASS] == ELFCLASS32 && find_in_32(fd, build_id);
	close(fd);
	return found;
}
