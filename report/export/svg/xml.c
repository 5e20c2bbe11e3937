// SPDX-License-Identifier: GPL-2.0-only
/*
 * xml.c - see xml.h.
 */
#include "report/export/svg/xml.h"

#include <stdbool.h>
#include <string.h>

#include "report/util/utf8.h"

void nt_xml_text(FILE *out, const char *text)
{
	size_t size = strlen(text);

	for (size_t i = 0; i < size;) {
		size_t n = nt_utf8_length(text + i, size - i);
		unsigned char byte = (unsigned char)text[i];
		bool is_noncharacter = n == 3 && !memcmp(text + i, "\xef\xbf", 2) && (unsigned char)text[i + 2] >= 0xbe;

		if (!n || (byte < 0x20 && byte != '\t' && byte != '\n') || byte == 0x7f || is_noncharacter)
			fputs("&#xfffd;", out);
		else if (byte == '&')
			fputs("&amp;", out);
		else if (byte == '<')
			fputs("&lt;", out);
		else if (byte == '>')
			fputs("&gt;", out);
		else if (byte == '"')
			fputs("&quot;", out);
		else
			fwrite(text + i, 1, n, out);
		i += n ? n : 1;
	}
}
