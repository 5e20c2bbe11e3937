/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session.h - one recording from begin to end: everything between the command line and the last line printed. It joins
 * the parts; each part has its own file.
 */
#pragma once

#include "record/options.h"

#define NT_RECORD_LOST 3 /* exit status: recorded, but records found the rings full */

/* Records as the options say. Gives the exit status of the program; has printed why if it is not the command's. */
int nt_session_run(struct nt_record_options *options);
