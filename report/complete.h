/* SPDX-License-Identifier: GPL-2.0-only */
/* complete.h - shell completion of a word of a command line of nettape-report. */
#pragma once

/* Prints what may become of the last of these words, which follow the program's name: lines as in schema/cli/option.h.
 */
void nt_complete(int n, char **words);
