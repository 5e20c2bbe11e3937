/* SPDX-License-Identifier: GPL-2.0-only */
/* token.h - the secret that a request must know: a new one, or that of a file. */
#pragma once

#include <stdbool.h>

#include "report/util/fail.h"

#define NT_TOKEN_MAX 256 /* with its end */

/* A new one, of 128 random bits. 0, or -1 and a sentence. */
int nt_token_new(char token[NT_TOKEN_MAX], char error[NT_ERROR_MAX]);
/*
 * Reads the token that stands in the file, on one line. Where there is no file, makes one with a new token that its
 * owner alone may read. 0, or -1 and a sentence: also of a file that everybody may read.
 */
int nt_token_of_file(const char *path, char token[NT_TOKEN_MAX], char error[NT_ERROR_MAX]);
/* Whether it was given. How long that takes tells nothing of the token. `given` may be NULL. */
bool nt_token_is(const char *token, const char *given);
