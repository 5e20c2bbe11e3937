// SPDX-License-Identifier: GPL-2.0-only
/*
 * utf8.c - see utf8.h.
 */
#include "report/util/utf8.h"

#include <string.h>

static size_t length_said_by(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		return 2;
	if (lead >= 0xe0 && lead <= 0xef)
		return 3;
	if (lead >= 0xf0 && lead <= 0xf4)
		return 4;
	return 0;
}

size_t nt_utf8_length(const char *text, size_t size)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t length = length_said_by(bytes[0]);

	if (length > size)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	}
	/* Longer than needed, a surrogate, or over U+10FFFF. */
	if ((bytes[0] == 0xe0 && bytes[1] < 0xa0) || (bytes[0] == 0xed && bytes[1] > 0x9f) ||
	    (bytes[0] == 0xf0 && bytes[1] < 0x90) || (bytes[0] == 0xf4 && bytes[1] > 0x8f))
		return 0;
	return length;
}

uint32_t nt_utf8_code(const char *text, size_t length)
{
	uint32_t code = (unsigned char)text[0];

	if (length > 1)
		code &= 0x7fu >> length;
	for (size_t i = 1; i < length; i++)
		code = code << 6 | ((unsigned char)text[i] & 0x3f);
	return code;
}

bool nt_utf8_is_control(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x0, 0x1f},	  {0x7f, 0x9f},	    {0x61c, 0x61c},   {0x200b, 0x200f},
		{0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

const char *nt_arena_clean(struct nt_arena *arena, const char *text, size_t size)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t length = strnlen(text, size);
	char *copy = nt_arena_get(arena, length * 3 + 1);
	char *to = copy;

	for (size_t i = 0; copy && i < length;) {
		size_t n = nt_utf8_length(text + i, length - i);

		memcpy(to, n ? text + i : replacement, n ? n : 3);
		to += n ? n : 3;
		i += n ? n : 1;
	}
	if (copy)
		*to = 0;
	return copy;
}
