/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * program_file.h - a program or library as ELF files have it: which function is at a file offset. Reads with libelf. A
 * program may be in two files: what is loaded, and what debuggers know of it, split off. The first says which address a
 * file offset has, either may have symbols.
 *
 * Files are anybody's: what is read of one is checked against its size, and a file that contradicts itself has no
 * functions. Memory: a million functions take some 150 MiB while they are read, half of that later; no file more than
 * 3 GiB, whatever it says.
 */
#pragma once

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "report/symbols/function_ranges.h"

#define NT_PROGRAM_MAX_SEGMENTS 16 /* of code: programs have one or two */

enum nt_program_symbols {
	NT_SYMBOLS_NONE,
	NT_SYMBOLS_DYNAMIC, /* what others may call */
	NT_SYMBOLS_ALL
};

/* Zero-initialised is one that nothing is known of. Owner frees with nt_program_release. */
struct nt_program {
	struct nt_program_segment {
		uint64_t file_offset, size, address; /* bytes of the file, and where they are loaded */
	} segments[NT_PROGRAM_MAX_SEGMENTS];
	size_t n_segments; /* 0: it is not known where its code lies in the file */
	enum nt_program_symbols symbols;
	struct nt_function_ranges functions;
	Elf *elf; /* holds the names */
};

/*
 * Learns from a file of this build id (NULL: of any) what is not known yet, or better. 1: something, 0: nothing, or
 * -ENOMEM. `fd` remains the caller's, and may be closed.
 */
int nt_program_read(struct nt_program *program, int fd, const uint8_t *build_id);
void nt_program_release(struct nt_program *program);
/* Whether no file could add anything. */
bool nt_program_is_whole(const struct nt_program *program);
/* The function's name as the file has it, and how far behind its begin the offset is. NULL: no function is known there.
 */
const char *nt_program_find(const struct nt_program *program, uint64_t file_offset, uint64_t *offset);
