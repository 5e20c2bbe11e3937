/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * answer.h - the process of one query (queries.h): reads SQL from standard input, runs it on a tape, and prints the
 * answer as JSON. So a query may take memory and time, or even fail, and the server does not.
 */
#pragma once

/* nettape-serve's first argument in this process; the tape is the second. */
#define NT_ANSWER_ARGUMENT "--answer"

/* These end a result, beside the bounds of queries.h. */
#define NT_ANSWER_ROWS 10000
#define NT_ANSWER_BYTES (4u << 20)

/* Exit codes: NT_EXIT_DONE; NT_EXIT_MISUSED: the query cannot be answered; NT_EXIT_FAILED: the tape cannot be read, or
 * the host has no room for temporary files. Why is on standard error. */
int nt_answer(const char *tape);
