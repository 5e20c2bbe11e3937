/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * xml.h - texts of a tape, which may hold anything, as XML has them: in elements and in attributes with ". Write errors
 * stay in the stream.
 */
#ifndef NT_REPORT_EXPORT_SVG_XML_H
#define NT_REPORT_EXPORT_SVG_XML_H

#include <stdio.h>

/* What XML cannot hold, and what is no UTF-8, becomes U+FFFD. */
void nt_xml_text(FILE *out, const char *text);

#endif
