// SPDX-License-Identifier: GPL-2.0-only
/* page.c - see page.h. Style, script and their sums are made by the Makefile. */
#include "report/serve/page.h"

/* clang-format off */
const char nt_page[] =
	"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<title>nettape</title>\n<style>"
#include "text/page_css.h"
	"</style>\n</head>\n<body>\n<main id=\"page\">\n"
	"<noscript><p>This page draws its charts with a script, and scripts are off in this browser.\n"
	"<code>nettape-report summary</code> of the tape prints such figures.</p></noscript>\n"
	"</main>\n<script>"
#include "text/live_js.h"
	"</script>\n</body>\n</html>\n";
/* clang-format on */
const size_t nt_page_size = sizeof(nt_page) - 1;

const char nt_page_policy[] =
#include "text/live_policy.h"
	"; connect-src 'self'; frame-ancestors 'none'";
