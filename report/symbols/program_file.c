// SPDX-License-Identifier: GPL-2.0-only
/*
 * program_file.c - see program_file.h. The formats: elf(5).
 */
#include "report/symbols/program_file.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "schema/build_id.h"

#define SECTION_MAX (1ull << 30) /* bytes: of browsers names are a tenth of that */
#define SYMBOLS_MAX (1ull << 28) /* bytes: eleven million symbols, which take eight times that while they are read */
#define NOTES_MAX 65536
#define NAME_SIZE 16384 /* names of templates have some thousand bytes */

static bool refers_to_section_0(const char *count, const char *offset, size_t offset_size)
{
	static const char zeroes[8];

	return !memcmp(count, zeroes, 2) && memcmp(offset, zeroes, offset_size);
}

/*
 * libelf makes room for all sections at once, for as many as the file says. More than 65,279 of them, which only what
 * a compiler gives to a linker has, are counted by a number as large as one likes in a file with holes.
 */
static bool has_few_parts(int fd)
{
	Elf64_Ehdr header;
	Elf32_Ehdr narrow;
	const uint16_t too_many = PN_XNUM; /* the same bytes in either order */

	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header))
		return false;
	memcpy(&narrow, &header, sizeof(narrow));
	if (header.e_ident[EI_CLASS] == ELFCLASS32)
		return !refers_to_section_0((char *)&narrow.e_shnum, (char *)&narrow.e_shoff, sizeof(narrow.e_shoff)) &&
		       narrow.e_phnum != too_many;
	return !refers_to_section_0((char *)&header.e_shnum, (char *)&header.e_shoff, sizeof(header.e_shoff)) &&
	       header.e_phnum != too_many;
}

/*
 * A file that holds only what debuggers know has segments, too: still those of the file that it was split from
 * (eu-strip), which are right, or with as few bytes as it has of them itself, at other places (objcopy), which say
 * nothing.
 */
static bool read_segments(struct nt_program *program, Elf *elf)
{
	GElf_Phdr segment;
	size_t n;

	if (program->n_segments || elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n && program->n_segments < NT_PROGRAM_MAX_SEGMENTS; i++) {
		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD && segment.p_flags & PF_X &&
		    segment.p_filesz && segment.p_filesz == segment.p_memsz)
			program->segments[program->n_segments++] =
				(struct nt_program_segment){segment.p_offset, segment.p_filesz, segment.p_vaddr};
	}
	return program->n_segments;
}

/* ---- symbols ---- */

struct symbols {
	Elf *elf;
	Elf_Data *data;
	bool are_all; /* no function is left out */
	size_t names; /* number of the section of names */
	size_t n;
	struct nt_function *functions;
	size_t n_functions;
};

/*
 * A function in assembly may lack the type of one; and compilers may leave marks, like $x, that are none. An absolute
 * number is no place in this program, but may be one in another that it was linked with.
 */
static bool is_function(Elf *elf, const GElf_Sym *symbol, const char *name)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);
	GElf_Shdr header;

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || !name || !*name ||
	    strnlen(name, NAME_SIZE) == NAME_SIZE)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && *name != '$' && *name != '.' && symbol->st_shndx < SHN_LORESERVE &&
	       gelf_getshdr(elf_getscn(elf, symbol->st_shndx), &header) && header.sh_flags & SHF_EXECINSTR;
}

static unsigned char binding_of(const GElf_Sym *symbol)
{
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_LOCAL:
		return 2;
	case STB_WEAK:
		return 1;
	default:
		return 0;
	}
}

/* Where the section of a symbol ends; 0: it is in none. */
static uint64_t limit_of(Elf *elf, const GElf_Sym *symbol)
{
	Elf_Scn *section = symbol->st_shndx < SHN_LORESERVE ? elf_getscn(elf, symbol->st_shndx) : NULL;
	GElf_Shdr header;

	return section && gelf_getshdr(section, &header) ? header.sh_addr + header.sh_size : 0;
}

/*
 * Without a size a function reaches to the next one, if that is known: in a library that was stripped the next one that
 * others may call can be a hundred functions away.
 */
static void take_function(struct symbols *symbols, const GElf_Sym *symbol)
{
	const char *name;

	if (!symbol->st_size && !symbols->are_all)
		return;
	name = elf_strptr(symbols->elf, symbols->names, symbol->st_name);
	if (!is_function(symbols->elf, symbol, name))
		return;
	symbols->functions[symbols->n_functions++] = (struct nt_function){
		.begin = symbol->st_value,
		.size = symbol->st_size,
		.limit = symbol->st_size ? 0 : limit_of(symbols->elf, symbol),
		.name = name,
		.binding = binding_of(symbol),
	};
}

/* A section that can be read into memory. */
static bool is_plain(const GElf_Shdr *header, uint32_t type)
{
	return header->sh_type == type && header->sh_size <= SECTION_MAX && !(header->sh_flags & SHF_COMPRESSED);
}

/* Where the last name does not end within the section libelf would look for an end through all of it, for each name. */
static bool has_end(Elf_Scn *names)
{
	const Elf_Data *data = elf_getdata(names, NULL);

	return data && data->d_size && !((const char *)data->d_buf)[data->d_size - 1];
}

/* The first section of symbols of this type. */
static bool find_symbols(struct symbols *symbols, uint32_t type)
{
	Elf_Scn *section = NULL, *names;
	GElf_Shdr header, names_header;

	while ((section = elf_nextscn(symbols->elf, section))) {
		if (!gelf_getshdr(section, &header) || !is_plain(&header, type) || header.sh_size > SYMBOLS_MAX)
			continue;
		names = elf_getscn(symbols->elf, header.sh_link);
		if (!names || !gelf_getshdr(names, &names_header) || !is_plain(&names_header, SHT_STRTAB) ||
		    !has_end(names))
			continue;
		symbols->data = elf_getdata(section, NULL);
		if (!symbols->data)
			continue;
		symbols->names = header.sh_link;
		symbols->n = symbols->data->d_size / gelf_fsize(symbols->elf, ELF_T_SYM, 1, EV_CURRENT);
		return true;
	}
	return false;
}

/* 1: the file has some, 0: none, or -ENOMEM. */
static int read_type(struct nt_function_ranges *ranges, Elf *elf, uint32_t type)
{
	struct symbols symbols = {.elf = elf, .are_all = type == SHT_SYMTAB};
	GElf_Sym symbol;
	int error;

	if (!find_symbols(&symbols, type) || !symbols.n)
		return 0;
	symbols.functions = reallocarray(NULL, symbols.n, sizeof(*symbols.functions));
	if (!symbols.functions)
		return -ENOMEM;
	for (size_t i = 0; i < symbols.n; i++) {
		if (gelf_getsym(symbols.data, (int)i, &symbol))
			take_function(&symbols, &symbol);
	}
	error = nt_function_ranges_make(ranges, symbols.functions, symbols.n_functions);
	free(symbols.functions);
	return error ? error : symbols.n_functions > 0;
}

/* Takes over the file where it has the better symbols: then it is the program's. */
static int read_symbols(struct nt_program *program, Elf *elf)
{
	static const struct {
		enum nt_program_symbols symbols;
		uint32_t type;
	} kinds[] = {{NT_SYMBOLS_ALL, SHT_SYMTAB}, {NT_SYMBOLS_DYNAMIC, SHT_DYNSYM}};
	struct nt_function_ranges ranges = {0};
	int result = 0;

	for (size_t i = 0; i < 2 && !result && program->symbols < kinds[i].symbols; i++) {
		result = read_type(&ranges, elf, kinds[i].type);
		if (result == 1) {
			nt_function_ranges_release(&program->functions);
			elf_end(program->elf);
			program->functions = ranges;
			program->symbols = kinds[i].symbols;
			program->elf = elf;
			return 1;
		}
	}
	nt_function_ranges_release(&ranges);
	return result;
}

/*
 * Of a file that was split off (eu-strip) segments say where the id was in the file that it was split from: sections
 * say where it is.
 */
static bool has_build_id_in_sections(Elf *elf, const uint8_t *build_id)
{
	Elf_Scn *section = NULL;
	uint8_t found[NT_BUILD_ID_LEN];
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) && is_plain(&header, SHT_NOTE) && header.sh_size <= NOTES_MAX &&
		    nt_build_id_in_notes(elf_getdata(section, NULL), found) && !memcmp(found, build_id, sizeof(found)))
			return true;
	}
	return false;
}

static bool has_build_id(Elf *elf, int fd, const uint8_t *build_id)
{
	uint8_t found[NT_BUILD_ID_LEN];

	return (nt_build_id_read(fd, found) && !memcmp(found, build_id, sizeof(found))) ||
	       has_build_id_in_sections(elf, build_id);
}

int nt_program_read(struct nt_program *program, int fd, const uint8_t *build_id)
{
	bool has_segments;
	Elf *elf;
	int result;

	if (!has_few_parts(fd))
		return 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || (build_id && !has_build_id(elf, fd, build_id))) {
		elf_end(elf);
		return 0;
	}
	has_segments = read_segments(program, elf);
	result = read_symbols(program, elf);
	/* The parts that were read stay, without the file. */
	elf_cntl(elf, ELF_C_FDDONE);
	if (result != 1)
		elf_end(elf);
	return result < 0 ? result : has_segments || result;
}

void nt_program_release(struct nt_program *program)
{
	nt_function_ranges_release(&program->functions);
	elf_end(program->elf);
	*program = (struct nt_program){0};
}

bool nt_program_is_whole(const struct nt_program *program)
{
	return program->n_segments && program->symbols == NT_SYMBOLS_ALL;
}

/* NULL: none; or several, of which each says another address. */
static const struct nt_program_segment *find_segment(const struct nt_program *program, uint64_t file_offset)
{
	const struct nt_program_segment *found = NULL;

	for (size_t i = 0; i < program->n_segments; i++) {
		const struct nt_program_segment *segment = &program->segments[i];

		if (file_offset < segment->file_offset || file_offset - segment->file_offset >= segment->size)
			continue;
		if (found)
			return NULL;
		found = segment;
	}
	return found;
}

const char *nt_program_find(const struct nt_program *program, uint64_t file_offset, uint64_t *offset)
{
	const struct nt_program_segment *segment = find_segment(program, file_offset);
	const struct nt_function_range *range;
	uint64_t address;

	if (!segment)
		return NULL;
	address = file_offset - segment->file_offset + segment->address;
	range = nt_function_ranges_find(&program->functions, address);
	if (!range)
		return NULL;
	*offset = address - range->function;
	return range->name;
}
