/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * crc32c.h - two implementations of CRC32C, for nt_crc32c() (chunk.h) to choose from and for tests to compare.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

uint32_t nt_crc32c_portable(uint32_t crc, const void *data, size_t size);
/* Whether nt_crc32c_hardware may be called on this CPU. */
bool nt_crc32c_has_hardware(void);
uint32_t nt_crc32c_hardware(uint32_t crc, const void *data, size_t size);
