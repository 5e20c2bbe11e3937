/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * demangle.h - names of C++ and Rust as in their sources. A mangled name may refer to its own parts, so 250 bytes can
 * stand for gigabytes. Names are anybody's, so the result has a bound here. Pure.
 */
#pragma once

#include <stdbool.h>

#define NT_DEMANGLED_SIZE 16384 /* with the zero at its end */

/* False: it is no mangled name, or would become too long. Then `out` holds nothing of use. */
bool nt_demangle(const char *name, char out[NT_DEMANGLED_SIZE]);
