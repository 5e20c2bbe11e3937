// SPDX-License-Identifier: GPL-2.0-only
/*
 * build_id_test.c - build ids out of files: of this very program, as the loader has it in memory; of files of both
 * classes that are made here; and whatever files say of themselves, or are replaced by, it neither takes memory nor
 * opens what is no file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/build_id.h"

static char directory[64], path[128];
static const uint8_t id[NT_BUILD_ID_LEN] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

static int make_directory(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/build_id_test.XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/file", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);
}

static void write_at(uint64_t at, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, size, (off_t)at), size);
	close(fd);
}

static void make_header(uint16_t n_segments)
{
	const Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_phoff = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = n_segments,
	};

	unlink(path);
	write_at(0, &header, sizeof(header));
}

static void make_segment(unsigned int number, uint64_t at, uint64_t size, uint64_t align)
{
	const Elf64_Phdr segment = {.p_type = PT_NOTE, .p_offset = at, .p_filesz = size, .p_align = align};

	write_at(sizeof(Elf64_Ehdr) + number * sizeof(segment), &segment, sizeof(segment));
}

static void make_note(uint64_t at, uint32_t type, uint32_t name_size, uint32_t size)
{
	const Elf64_Nhdr note = {name_size, size, type};

	write_at(at, &note, sizeof(note));
	write_at(at + sizeof(note), "GNU", 4);
	write_at(at + sizeof(note) + 4, id, sizeof(id));
}

static bool is_found(uint8_t *build_id)
{
	memset(build_id, 0xaa, NT_BUILD_ID_LEN);
	return nt_build_id_of_file(path, build_id);
}

#define NOTE_SIZE (sizeof(Elf64_Nhdr) + 4 + NT_BUILD_ID_LEN)

static void finds_an_id(void **state)
{
	uint8_t build_id[NT_BUILD_ID_LEN];

	(void)state;
	make_header(3);
	make_segment(1, 2000, 32 + NOTE_SIZE + 4, 8); /* of aligned size, as linkers make them */
	make_note(2000, 5, 4, 16); /* NT_GNU_PROPERTY_TYPE_0 */
	make_note(2032, NT_GNU_BUILD_ID, 4, 20);
	write_at(2032 + NOTE_SIZE, "\0\0\0", 4);
	assert_true(is_found(build_id));
	assert_memory_equal(build_id, id, sizeof(id));
	/* A shorter one, as MD5 makes it, has zeroes behind it; of a longer one the begin counts. */
	make_note(2032, NT_GNU_BUILD_ID, 4, 16);
	assert_true(is_found(build_id));
	assert_memory_equal(build_id, id, 16);
	assert_memory_equal(build_id + 16, "\0\0\0", 4);
	make_segment(1, 2000, 32 + NOTE_SIZE + 12, 8);
	write_at(2032 + NOTE_SIZE, "more of the id", 12);
	make_note(2032, NT_GNU_BUILD_ID, 4, 32);
	assert_true(is_found(build_id));
	assert_memory_equal(build_id, id, sizeof(id));
}

static void finds_an_id_of_32_bits(void **state)
{
	const Elf32_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
		.e_phoff = 200,
		.e_phentsize = sizeof(Elf32_Phdr),
		.e_phnum = 1,
	};
	const Elf32_Phdr segment = {.p_type = PT_NOTE, .p_offset = 300, .p_filesz = NOTE_SIZE, .p_align = 4};
	uint8_t build_id[NT_BUILD_ID_LEN];

	(void)state;
	unlink(path);
	write_at(0, &header, sizeof(header));
	write_at(200, &segment, sizeof(segment));
	make_note(300, NT_GNU_BUILD_ID, 4, 20);
	assert_true(is_found(build_id));
	assert_memory_equal(build_id, id, sizeof(id));
}

/* Of a file with holes each size is as large as its owner likes. */
static void takes_no_memory_for_what_a_file_claims(void **state)
{
	const Elf64_Shdr sections = {.sh_size = 1ull << 36}; /* where the header has no number of them */
	uint8_t build_id[NT_BUILD_ID_LEN];

	(void)state;
	make_header(2);
	make_segment(0, 4096, 1ull << 42, 4);
	make_segment(1, 2000, NOTE_SIZE, 4);
	make_note(2000, NT_GNU_BUILD_ID, 4, 20);
	assert_int_equal(truncate(path, (off_t)1 << 43), 0);
	assert_true(is_found(build_id));
	assert_memory_equal(build_id, id, sizeof(id));
	make_header(2);
	make_segment(1, 2000, NOTE_SIZE, 4);
	write_at(offsetof(Elf64_Ehdr, e_shoff), &(const uint64_t){4096}, sizeof(uint64_t));
	write_at(offsetof(Elf64_Ehdr, e_shentsize), &(const uint16_t){sizeof(sections)}, sizeof(uint16_t));
	write_at(4096, &sections, sizeof(sections));
	make_note(2000, NT_GNU_BUILD_ID, 4, 20);
	assert_int_equal(truncate(path, (off_t)1 << 43), 0);
	assert_true(is_found(build_id));
	assert_memory_equal(build_id, id, sizeof(id));
	make_header(0xffff); /* PN_XNUM: their number would stand in a section */
	assert_int_equal(truncate(path, (off_t)1 << 43), 0);
	assert_false(is_found(build_id));
}

static void is_not_led_astray(void **state)
{
	static const uint32_t sizes[] = {0, 0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff};
	uint8_t build_id[NT_BUILD_ID_LEN];

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		make_header(1);
		make_segment(0, 2000, NOTE_SIZE, 4);
		make_note(2000, NT_GNU_BUILD_ID, 4, sizes[i]);
		assert_false(is_found(build_id));
		make_note(2000, NT_GNU_BUILD_ID, sizes[i], 20);
		assert_false(is_found(build_id));
		make_segment(0, UINT64_MAX - sizes[i], UINT64_MAX - sizes[i], 8);
		assert_false(is_found(build_id));
	}
	/* Behind the end of the file; no notes; no ELF. */
	make_segment(0, 1 << 20, NOTE_SIZE, 4);
	assert_false(is_found(build_id));
	make_segment(0, 2000, 0, 4);
	assert_false(is_found(build_id));
	write_at(0, "#!/bin/sh", 9);
	assert_false(is_found(build_id));
	assert_int_equal(truncate(path, 10), 0);
	assert_false(is_found(build_id));
}

static void opens_files_only(void **state)
{
	uint8_t build_id[NT_BUILD_ID_LEN];

	(void)state;
	unlink(path);
	assert_false(is_found(build_id));
	/* A reader that waits here waits for a writer, which never comes. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(is_found(build_id));
	unlink(path);
	assert_int_equal(symlink("/proc/self/exe", path), 0);
	assert_false(is_found(build_id));
	assert_false(nt_build_id_of_file("/dev/null", build_id));
	assert_false(nt_build_id_of_file(directory, build_id));
}

struct own {
	uint8_t build_id[NT_BUILD_ID_LEN];
	bool has_id;
};

/* The loader's view of this program, which comes first. */
static int look_at_self(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct own *own = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum && !own->has_id; i++) {
		const char *at = (const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		/* Linkers put the id alone, or behind properties, into a segment of notes. */
		for (size_t left = info->dlpi_phdr[i].p_type == PT_NOTE ? info->dlpi_phdr[i].p_memsz : 0;
		     left >= NOTE_SIZE && !own->has_id; at += 4, left -= 4) {
			const Elf64_Nhdr *note = (const void *)at;

			own->has_id = note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
				      note->n_descsz == NT_BUILD_ID_LEN && !memcmp(at + sizeof(*note), "GNU", 4);
			if (own->has_id)
				memcpy(own->build_id, at + sizeof(*note) + 4, NT_BUILD_ID_LEN);
		}
	}
	return 1;
}

static void agrees_with_the_loader(void **state)
{
	uint8_t build_id[NT_BUILD_ID_LEN];
	struct own own = {.has_id = false};
	char self[4096];
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	assert_true(size > 0);
	self[size] = 0;
	dl_iterate_phdr(look_at_self, &own);
	assert_int_equal(nt_build_id_of_file(self, build_id), own.has_id);
	if (own.has_id)
		assert_memory_equal(build_id, own.build_id, sizeof(build_id));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_an_id),
		cmocka_unit_test(finds_an_id_of_32_bits),
		cmocka_unit_test(takes_no_memory_for_what_a_file_claims),
		cmocka_unit_test(is_not_led_astray),
		cmocka_unit_test(opens_files_only),
		cmocka_unit_test(agrees_with_the_loader),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
