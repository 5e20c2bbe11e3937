/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * page.h - the live page: that of `export html` (export/html/page/), whose script asks this server for its data
 * (history.h). It holds no data itself.
 */
#pragma once

#include <stddef.h>

extern const char nt_page[];
extern const size_t nt_page_size;
/* Of the header Content-Security-Policy: a browser runs only this style and script, which ask nobody but this server.
 */
extern const char nt_page_policy[];
/* The same of answers that are no page. */
#define NT_PAGE_NO_POLICY "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
