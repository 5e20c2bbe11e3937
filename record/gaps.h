/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * gaps.h - the gaps between what is sampled, drawn before the recording so that no program has to.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/shared.h"

/* Takes a probability from 0.000001 to 1. False: it is none. */
bool nt_gaps_parse(const char *text, double *p);

/*
 * Draws NT_GAPS gaps, each at least 1, from the geometric distribution of the probability p (above 0, at most 1):
 * whoever takes one thing in each gap samples with p. `random` gives a number of 32 bits at each call.
 */
void nt_gaps_draw(double p, uint32_t *gaps, uint32_t (*random)(void *arg), void *arg);

/* Draws what bpf/thinning.h makes gaps of. */
void nt_gaps_draw_thinning(struct nt_thinning_config *config, uint32_t (*random)(void *arg), void *arg);

/* From the kernel's source of random numbers; `arg` is not used. */
uint32_t nt_gaps_random(void *arg);
