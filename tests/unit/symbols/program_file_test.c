// SPDX-License-Identifier: GPL-2.0-only
/*
 * program_file_test.c - functions out of ELF files: of this very program, at the addresses that it knows itself; and
 * files that say what no file may, for which neither memory is taken nor anything found.
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
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "report/symbols/program_file.h"

/* Where in this program's file an address of its code is. */
struct lookup {
	uintptr_t address;
	uint64_t file_offset;
};

static int find_file_offset(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct lookup *lookup = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && lookup->address >= begin &&
		    lookup->address - begin < segment->p_memsz)
			lookup->file_offset = lookup->address - begin + segment->p_offset;
	}
	return 1; /* the program itself comes first */
}

static void finds_this_programs_functions(void **state)
{
	struct nt_program program = {0};
	struct lookup lookup = {.address = (uintptr_t)finds_this_programs_functions + 3};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t offset = 0;

	(void)state;
	dl_iterate_phdr(find_file_offset, &lookup);
	assert_true(fd >= 0 && lookup.file_offset);
	assert_int_equal(nt_program_read(&program, fd, NULL), 1);
	assert_true(nt_program_is_whole(&program));
	assert_int_equal(nt_program_read(&program, fd, NULL), 0);
	close(fd);
	assert_string_equal(nt_program_find(&program, lookup.file_offset, &offset), "finds_this_programs_functions");
	assert_int_equal(offset, 3);
	assert_null(nt_program_find(&program, 0, &offset));
	assert_null(nt_program_find(&program, UINT64_MAX, &offset));
	nt_program_release(&program);
}

/* ---- files that are made here ---- */

static int make_file(const Elf64_Ehdr *header)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, header, sizeof(*header), 0), sizeof(*header));
	return fd;
}

static void put(int fd, uint64_t at, const void *bytes, size_t size)
{
	assert_int_equal(pwrite(fd, bytes, size, (off_t)at), size);
}

#define SECTIONS_AT 4096
#define SECTION(fd, number, ...)                                                                                       \
	put(fd, SECTIONS_AT + (number) * sizeof(Elf64_Shdr), &(Elf64_Shdr){__VA_ARGS__}, sizeof(Elf64_Shdr))

static Elf64_Ehdr header_of(uint16_t n_segments, uint16_t n_sections)
{
	return (Elf64_Ehdr){
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = n_segments,
		.e_shoff = SECTIONS_AT,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = n_sections,
	};
}

static const Elf64_Sym work = {.st_name = 1,
			       .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			       .st_shndx = 3,
			       .st_value = 0x401000,
			       .st_size = 32};

static const char *symbol_name = "work";

/* A file with one function, `work`, at address 0x401000, which is at 0x1000 of the file. */
static int make_program_of(uint32_t type, Elf64_Sym symbol, uint64_t symbols_size, uint64_t names_size)
{
	const Elf64_Ehdr header = header_of(1, 4);
	const Elf64_Phdr segment = {.p_type = PT_LOAD,
				    .p_flags = PF_R | PF_X,
				    .p_offset = 0x1000,
				    .p_vaddr = 0x401000,
				    .p_filesz = 64,
				    .p_memsz = 64};
	const Elf64_Sym symbols[2] = {{0}, symbol};
	int fd = make_file(&header);

	put(fd, sizeof(header), &segment, sizeof(segment));
	put(fd, 512, symbols, sizeof(symbols));
	put(fd, 601, symbol_name, strlen(symbol_name) + 1);
	SECTION(fd, 0, .sh_type = SHT_NULL);
	SECTION(fd, 1, .sh_type = type, .sh_offset = 512, .sh_size = symbols_size, .sh_link = 2,
		.sh_entsize = sizeof(Elf64_Sym), .sh_info = 1, .sh_addralign = 8);
	SECTION(fd, 2, .sh_type = SHT_STRTAB, .sh_offset = 600, .sh_size = names_size, .sh_addralign = 1);
	SECTION(fd, 3, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = 0x401000,
		.sh_offset = 0x1000, .sh_size = 64, .sh_addralign = 16);
	return fd;
}

static int make_program(uint64_t symbols_size, uint64_t names_size)
{
	return make_program_of(SHT_SYMTAB, work, symbols_size, names_size);
}

static const char *name_in(int fd, uint64_t file_offset)
{
	static char name[64];
	struct nt_program program = {0};
	const char *found = NULL;
	uint64_t offset;

	if (nt_program_read(&program, fd, NULL) > 0)
		found = nt_program_find(&program, file_offset, &offset);
	if (found)
		snprintf(name, sizeof(name), "%s+%llu", found, (unsigned long long)offset);
	nt_program_release(&program);
	close(fd);
	return found ? name : "";
}

#define NAMES_SIZE 6 /* "", "work" */

static void reads_what_is_whole(void **state)
{
	(void)state;
	assert_string_equal(name_in(make_program(2 * sizeof(Elf64_Sym), NAMES_SIZE), 0x1007), "work+7");
	assert_string_equal(name_in(make_program(2 * sizeof(Elf64_Sym), NAMES_SIZE), 0x1020), "");
	/* A name that does not end within its section is none. */
	assert_string_equal(name_in(make_program(2 * sizeof(Elf64_Sym), 4), 0x1007), "");
}

static const char *name_of(uint32_t type, Elf64_Sym symbol)
{
	return name_in(make_program_of(type, symbol, 2 * sizeof(symbol), NAMES_SIZE), 0x1007);
}

/* Where only what others may call is known, the next such function says nothing of where one without a size ends. */
static void gives_no_function_what_may_be_anothers(void **state)
{
	Elf64_Sym symbol = work;

	(void)state;
	assert_string_equal(name_of(SHT_DYNSYM, symbol), "work+7");
	symbol.st_size = 0;
	assert_string_equal(name_of(SHT_SYMTAB, symbol), "work+7");
	assert_string_equal(name_of(SHT_DYNSYM, symbol), "");
	symbol = work;
	symbol.st_shndx = SHN_ABS;
	assert_string_equal(name_of(SHT_SYMTAB, symbol), "");
}

/* Code that was written in assembly is a function; marks of compilers and what is no code are none. */
static void takes_symbols_without_a_type(void **state)
{
	Elf64_Sym symbol = work;

	(void)state;
	symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
	assert_string_equal(name_of(SHT_SYMTAB, symbol), "work+7");
	symbol_name = "$ork";
	assert_string_equal(name_of(SHT_SYMTAB, symbol), "");
	symbol_name = ".ork";
	assert_string_equal(name_of(SHT_SYMTAB, symbol), "");
	symbol_name = "work";
	symbol.st_shndx = 2; /* of names */
	assert_string_equal(name_of(SHT_SYMTAB, symbol), "");
	symbol.st_shndx = SHN_COMMON;
	assert_string_equal(name_of(SHT_SYMTAB, symbol), "");
	symbol.st_shndx = 3;
	symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	assert_string_equal(name_of(SHT_SYMTAB, symbol), "");
	symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
	assert_string_equal(name_of(SHT_SYMTAB, symbol), "work+7");
	symbol.st_shndx = SHN_UNDEF;
	assert_string_equal(name_of(SHT_SYMTAB, symbol), "");
}

/* A file may claim to have a section of each number; those from SHN_LORESERVE on mean something else. */
static void takes_no_reserved_number_for_a_section(void **state)
{
	const uint16_t n_sections = SHN_LORESERVE + 1;
	Elf64_Sym symbol = work;

	(void)state;
	symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
	for (uint16_t section = SHN_LORESERVE - 1; section <= SHN_LORESERVE; section++) {
		int fd;

		symbol.st_shndx = section;
		fd = make_program_of(SHT_SYMTAB, symbol, 2 * sizeof(symbol), NAMES_SIZE);
		put(fd, offsetof(Elf64_Ehdr, e_shnum), &n_sections, sizeof(n_sections));
		SECTION(fd, n_sections - 1, .sh_type = SHT_NULL);
		SECTION(fd, section, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = 0x401000, .sh_offset = 0x1000, .sh_size = 64, .sh_addralign = 16);
		assert_string_equal(name_in(fd, 0x1007), section < SHN_LORESERVE ? "work+7" : "");
	}
}

static void knows_no_place_that_is_loaded_twice(void **state)
{
	struct nt_program program = {0};
	int fd = make_program(2 * sizeof(Elf64_Sym), NAMES_SIZE);
	uint64_t offset;

	(void)state;
	assert_int_equal(nt_program_read(&program, fd, NULL), 1);
	close(fd);
	assert_non_null(nt_program_find(&program, 0x1007, &offset));
	program.segments[program.n_segments++] = (struct nt_program_segment){0x1004, 4, 0x501000};
	assert_non_null(nt_program_find(&program, 0x1003, &offset));
	assert_null(nt_program_find(&program, 0x1004, &offset));
	assert_null(nt_program_find(&program, 0x1007, &offset));
	assert_non_null(nt_program_find(&program, 0x1008, &offset));
	nt_program_release(&program);
}

/* More may be learned of a program while its places or some of its functions are missing. */
static void is_whole_with_places_and_all_symbols(void **state)
{
	const uint16_t none = 0;

	(void)state;
	for (int has_segment = 0; has_segment < 2; has_segment++) {
		for (int has_all = 0; has_all < 2; has_all++) {
			struct nt_program program = {0};
			int fd = make_program_of(has_all ? SHT_SYMTAB : SHT_DYNSYM, work, 2 * sizeof(work), NAMES_SIZE);

			if (!has_segment)
				put(fd, offsetof(Elf64_Ehdr, e_phnum), &none, sizeof(none));
			assert_int_equal(nt_program_read(&program, fd, NULL), 1);
			close(fd);
			assert_int_equal(nt_program_is_whole(&program), has_segment && has_all);
			nt_program_release(&program);
		}
	}
}

static uint64_t peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss;
}

/* With holes each size is as large as one likes. */
static void takes_no_memory_for_what_a_file_claims(void **state)
{
	const uint64_t large = 1ull << 38, before = peak_kib();
	Elf64_Ehdr many = header_of(0, 0), segments = header_of(PN_XNUM, 1);
	int fd;

	(void)state;
	fd = make_program(large, NAMES_SIZE);
	assert_int_equal(ftruncate(fd, (off_t)(2 * large)), 0);
	assert_string_equal(name_in(fd, 0x1007), "");
	fd = make_program(2 * sizeof(Elf64_Sym), large);
	assert_int_equal(ftruncate(fd, (off_t)(2 * large)), 0);
	assert_string_equal(name_in(fd, 0x1007), "");
	fd = make_file(&many);
	SECTION(fd, 0, .sh_size = 1ull << 31);
	assert_int_equal(ftruncate(fd, (off_t)large), 0);
	assert_string_equal(name_in(fd, 0x1007), "");
	fd = make_file(&segments);
	SECTION(fd, 0, .sh_info = 1u << 31);
	assert_int_equal(ftruncate(fd, (off_t)large), 0);
	assert_string_equal(name_in(fd, 0x1007), "");
	assert_true(peak_kib() - before < 64 * 1024);
}

static void finds_nothing_in_what_is_no_program(void **state)
{
	const Elf64_Ehdr zero = {0};

	(void)state;
	assert_string_equal(name_in(make_file(&zero), 0), "");
	assert_string_equal(name_in(memfd_create("empty", MFD_CLOEXEC), 0), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_this_programs_functions),
		cmocka_unit_test(reads_what_is_whole),
		cmocka_unit_test(gives_no_function_what_may_be_anothers),
		cmocka_unit_test(takes_symbols_without_a_type),
		cmocka_unit_test(takes_no_reserved_number_for_a_section),
		cmocka_unit_test(knows_no_place_that_is_loaded_twice),
		cmocka_unit_test(is_whole_with_places_and_all_symbols),
		cmocka_unit_test(takes_no_memory_for_what_a_file_claims),
		cmocka_unit_test(finds_nothing_in_what_is_no_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
