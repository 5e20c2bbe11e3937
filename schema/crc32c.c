// SPDX-License-Identifier: GPL-2.0-only
/*
 * crc32c.c - CRC32C (Castagnoli, reflected, as in iSCSI, SSE4.2 and ARMv8): by the CPU's instruction where it has
 * one, else by tables, eight bytes at a time. Constant tables only.
 */
#include "schema/chunk.h"
#include "schema/crc32c.h"

#include <string.h>
#ifdef __aarch64__
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

/*
 * The CRC is linear, so a table is given by its entries at the powers of two; entry i is the exclusive or
 * of those that i has bits for. Table k is for a byte with k bytes behind it: table 0 of a power of two is
 * that bit through eight steps of x -> x >> 1 ^ (x & 1 ? 0x82f63b78 : 0), table k + 1 is table k through
 * eight more.
 */
#define NT_CRC_TABLES(X)                                                                                               \
	X(0, 0xf26b8303, 0xe13b70f7, 0xc79a971f, 0x8ad958cf, 0x105ec76f, 0x20bd8ede, 0x417b1dbc, 0x82f63b78)           \
	X(1, 0x13a29877, 0x274530ee, 0x4e8a61dc, 0x9d14c3b8, 0x3fc5f181, 0x7f8be302, 0xff17c604, 0xfbc3faf9)           \
	X(2, 0xa541927e, 0x4f6f520d, 0x9edea41a, 0x38513ec5, 0x70a27d8a, 0xe144fb14, 0xc76580d9, 0x8b277743)           \
	X(3, 0xdd45aab8, 0xbf672381, 0x7b2231f3, 0xf64463e6, 0xe964b13d, 0xd725148b, 0xaba65fe7, 0x52a0c93f)           \
	X(4, 0x38116fac, 0x7022df58, 0xe045beb0, 0xc5670b91, 0x8f2261d3, 0x1ba8b557, 0x37516aae, 0x6ea2d55c)           \
	X(5, 0xef306b19, 0xdb8ca0c3, 0xb2f53777, 0x6006181f, 0xc00c303e, 0x85f4168d, 0x0e045beb, 0x1c08b7d6)           \
	X(6, 0x68032cc8, 0xd0065990, 0xa5e0c5d1, 0x4e2dfd53, 0x9c5bfaa6, 0x3d5b83bd, 0x7ab7077a, 0xf56e0ef4)           \
	X(7, 0x493c7d27, 0x9278fa4e, 0x211d826d, 0x423b04da, 0x847609b4, 0x0d006599, 0x1a00cb32, 0x34019664)

#define E(i, a, b, c, d, e, f, g, h)                                                                                   \
	(((i)&1 ? (a) : 0) ^ ((i)&2 ? (b) : 0) ^ ((i)&4 ? (c) : 0) ^ ((i)&8 ? (d) : 0) ^ ((i)&16 ? (e) : 0) ^          \
	 ((i)&32 ? (f) : 0) ^ ((i)&64 ? (g) : 0) ^ ((i)&128 ? (h) : 0))
#define E4(i, ...) E(i, __VA_ARGS__), E((i) + 1, __VA_ARGS__), E((i) + 2, __VA_ARGS__), E((i) + 3, __VA_ARGS__)
#define E16(i, ...) E4(i, __VA_ARGS__), E4((i) + 4, __VA_ARGS__), E4((i) + 8, __VA_ARGS__), E4((i) + 12, __VA_ARGS__)
#define E64(i, ...)                                                                                                    \
	E16(i, __VA_ARGS__), E16((i) + 16, __VA_ARGS__), E16((i) + 32, __VA_ARGS__), E16((i) + 48, __VA_ARGS__)
#define E256(k, ...) [k] = {E64(0, __VA_ARGS__), E64(64, __VA_ARGS__), E64(128, __VA_ARGS__), E64(192, __VA_ARGS__)},

static const uint32_t tables[8][256] = {NT_CRC_TABLES(E256)};

uint32_t nt_crc32c_portable(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *at = data;

	crc = ~crc;
	for (; size >= 8; size -= 8, at += 8) {
		uint64_t word;

		memcpy(&word, at, 8);
		word ^= crc;
		crc = tables[7][word & 0xff] ^ tables[6][word >> 8 & 0xff] ^ tables[5][word >> 16 & 0xff] ^
		      tables[4][word >> 24 & 0xff] ^ tables[3][word >> 32 & 0xff] ^ tables[2][word >> 40 & 0xff] ^
		      tables[1][word >> 48 & 0xff] ^ tables[0][word >> 56];
	}
	while (size--)
		crc = crc >> 8 ^ tables[0][(crc ^ *at++) & 0xff];
	return ~crc;
}

#ifdef __x86_64__
bool nt_crc32c_has_hardware(void)
{
	return __builtin_cpu_supports("sse4.2");
}

__attribute__((target("sse4.2"))) uint32_t nt_crc32c_hardware(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *at = data;
	uint64_t state = ~crc;

	for (; size >= 8; size -= 8, at += 8) {
		uint64_t word;

		memcpy(&word, at, 8);
		state = __builtin_ia32_crc32di(state, word);
	}
	while (size--)
		state = __builtin_ia32_crc32qi((uint32_t)state, *at++);
	return ~(uint32_t)state;
}
#elif defined(__aarch64__)
bool nt_crc32c_has_hardware(void)
{
	return getauxval(AT_HWCAP) & HWCAP_CRC32;
}

uint32_t nt_crc32c_hardware(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *at = data;
	uint32_t state = ~crc;

	for (; size >= 8; size -= 8, at += 8) {
		uint64_t word;

		memcpy(&word, at, 8);
		__asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %1" : "+r"(state) : "r"(word));
	}
	while (size--)
		__asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(state) : "r"((uint32_t)*at++));
	return ~state;
}
#else
bool nt_crc32c_has_hardware(void)
{
	return false;
}

uint32_t nt_crc32c_hardware(uint32_t crc, const void *data, size_t size)
{
	return nt_crc32c_portable(crc, data, size);
}
#endif

uint32_t nt_crc32c(uint32_t crc, const void *data, size_t size)
{
	return nt_crc32c_has_hardware() ? nt_crc32c_hardware(crc, data, size) : nt_crc32c_portable(crc, data, size);
}
