/* SPDX-License-Identifier: GPL-2.0-only */
/* live_prometheus.h - nettape-report export prometheus --follow. */
#pragma once

#include "report/cmd/command.h"

/* A value of --follow. */
bool nt_set_follow(void *seconds, const struct nt_option_values *values);
/*
 * Writes options->output again and again while the tape is recorded: each options->follow_s seconds, and at its end or
 * on Ctrl-C, which then is no failure. Gives an exit code.
 */
int nt_live_prometheus(const struct nt_options *options, size_t limit);
