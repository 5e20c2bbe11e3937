/* SPDX-License-Identifier: GPL-2.0-only */
/* first_line.h - small files of /proc and /sys, which have one line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The first line of a file, without its end. False, and "": the file cannot be read, or that line is empty. */
bool nt_first_line(const char *path, char *line, size_t size);
