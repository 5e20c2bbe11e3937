// SPDX-License-Identifier: GPL-2.0-only
/*
 * svg.c - see svg.h.
 */
#include "report/export/svg/svg.h"

#include <string.h>

#include "report/out/output.h"
#include "report/util/utf8.h"

void nt_xml_text(FILE *out, const char *text)
{
	size_t size = strlen(text);

	for (size_t i = 0; i < size;) {
		size_t n = nt_utf8_length(text + i, size - i);
		unsigned char byte = (unsigned char)text[i];
		bool is_noncharacter = n == 3 && !memcmp(text + i, "\xef\xbf", 2) && (unsigned char)text[i + 2] >= 0xbe;

		if (!n || is_noncharacter ||
		    (byte != '\t' && byte != '\n' && nt_utf8_is_control(nt_utf8_code(text + i, n))))
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

void nt_svg_open(FILE *out, const struct nt_svg *svg)
{
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\" viewBox=\"0 0 %d %d\" fill=\"" NT_SVG_INK
		"\" font-family=\"sans-serif\" font-size=\"12\"%s>\n<title>",
		svg->width, svg->height, svg->attributes);
	nt_xml_text(out, svg->title);
	fprintf(out,
		"</title>\n<style>:root { height: auto; background: " NT_SVG_PAPER " }\n%s"
		"@media (prefers-color-scheme: dark) {\n"
		":root { background: " NT_SVG_DARK_PAPER "; color-scheme: dark }\n.paper { fill: " NT_SVG_DARK_PAPER
		" }\ntext { fill: " NT_SVG_DARK_INK " }\ntext.soft { fill: " NT_SVG_DARK_SOFT
		" }\n.line { stroke: " NT_SVG_DARK_SOFT " }\n%s}</style>\n"
		"<rect class=\"paper\" width=\"100%%\" height=\"100%%\" fill=\"" NT_SVG_PAPER "\"/>\n",
		svg->style, svg->dark);
}

void nt_svg_close(FILE *out)
{
	fputs("</svg>\n", out);
}

/* The bytes of the first `most` characters. */
static size_t bytes_of(const char *text, size_t most)
{
	size_t at = 0;

	for (size_t n = 0; text[at] && n < most; n++) {
		at++;
		while (((unsigned char)text[at] & 0xc0) == 0x80)
			at++;
	}
	return at;
}

void nt_svg_text(FILE *out, int x, int y, const char *attributes, const char *text, size_t most)
{
	char part[512];
	size_t n = bytes_of(text, most);

	if (n > sizeof(part) - 4)
		n = sizeof(part) - 4;
	memcpy(part, text, n);
	memcpy(part + n, text[n] ? ".." : "", text[n] ? 3 : 1);
	fprintf(out, "<text x=\"%d\" y=\"%d\"%s>", x, y, attributes);
	nt_xml_text(out, part);
	fputs("</text>\n", out);
}

void nt_svg_session(const struct nt_session *session, const struct nt_selection *selection,
		    char text[NT_SVG_SESSION_MAX])
{
	char time[NT_HUMAN_MAX], span[NT_HUMAN_MAX];
	size_t at;

	snprintf(text, NT_SVG_SESSION_MAX, "%.64s, %s, %s", session->host,
		 session->start_realtime_ns ? nt_human_time(time, (uint64_t)session->start_realtime_ns)
					    : "at an unknown time",
		 nt_human_ns(span, (uint64_t)session->end_ts - (uint64_t)session->start_ts));
	at = strlen(text);
	nt_session_selected(session, selection, text + at, NT_SVG_SESSION_MAX - at);
}
