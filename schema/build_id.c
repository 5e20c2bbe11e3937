// SPDX-License-Identifier: GPL-2.0-only
/* build_id.c - see build_id.h. */
#include "schema/build_id.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENTS_MAX 256 /* programs have some fifteen */
#define NOTES_MAX 4096 /* bytes of a segment of notes: the id stands among the first */
#define IMAGE_SIZE 65536 /* linkers put the id into the first page */

union image {
	char bytes[IMAGE_SIZE];
	Elf32_Ehdr as_32;
	Elf64_Ehdr as_64;
};

/*
 * Looked at before it is opened for reading, and then opened as what was looked at, not by its path again: its owner
 * may have put a link to a watchdog or a tape drive there, or to a file of /proc that is consumed by reading (these
 * have no size). Nor must a lease that somebody has on it hold us up.
 */
int nt_build_id_open(const char *path, bool through_link)
{
	int place = open(path, O_PATH | O_CLOEXEC | (through_link ? 0 : O_NOFOLLOW)), fd = -1;
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

static bool is_build_id(const GElf_Nhdr *note, const char *name)
{
	return note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof("GNU") &&
	       !memcmp(name, "GNU", sizeof("GNU")) && note->n_descsz;
}

bool nt_build_id_in_notes(Elf_Data *notes, uint8_t build_id[NT_BUILD_ID_LEN])
{
	size_t at = 0, name, desc;
	GElf_Nhdr note;

	while (notes && (at = gelf_getnote(notes, at, &note, &name, &desc))) {
		const char *bytes = notes->d_buf;

		if (!is_build_id(&note, bytes + name))
			continue;
		memset(build_id, 0, NT_BUILD_ID_LEN);
		memcpy(build_id, bytes + desc, note.n_descsz < NT_BUILD_ID_LEN ? note.n_descsz : NT_BUILD_ID_LEN);
		return true;
	}
	return false;
}

static bool find_in_elf(Elf *elf, uint8_t *build_id)
{
	GElf_Ehdr header;
	GElf_Phdr segment;
	int i;

	if (!elf || !gelf_getehdr(elf, &header) || header.e_phnum > SEGMENTS_MAX)
		return false;
	for (i = 0; i < header.e_phnum; i++) {
		if (!gelf_getphdr(elf, i, &segment) || segment.p_type != PT_NOTE)
			continue;
		if (nt_build_id_in_notes(
			    elf_getdata_rawchunk(elf, (int64_t)segment.p_offset,
						 segment.p_filesz < NOTES_MAX ? segment.p_filesz : NOTES_MAX,
						 segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
			    build_id))
			return true;
	}
	return false;
}

/*
 * libelf is given no more than the file's begin, in memory, since what it takes for a file is as much as the file says.
 * Its sections are nothing to us, and may lie behind that.
 */
static Elf *begin(int fd, union image *image)
{
	ssize_t size = pread(fd, image->bytes, sizeof(image->bytes), 0);

	if (size < (ssize_t)sizeof(image->as_64))
		return NULL;
	if (image->bytes[EI_CLASS] == ELFCLASS32) {
		image->as_32.e_shoff = 0;
		image->as_32.e_shnum = 0;
	} else {
		image->as_64.e_shoff = 0;
		image->as_64.e_shnum = 0;
	}
	return elf_memory(image->bytes, size);
}

bool nt_build_id_read(int fd, uint8_t build_id[NT_BUILD_ID_LEN])
{
	union image image;
	bool found;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = begin(fd, &image);
	found = find_in_elf(elf, build_id);
	elf_end(elf);
	return found;
}

bool nt_build_id_of_file(const char *path, uint8_t build_id[NT_BUILD_ID_LEN])
{
	int fd = nt_build_id_open(path, false);
	bool found = fd >= 0 && nt_build_id_read(fd, build_id);

	if (fd >= 0)
		close(fd);
	return found;
}
