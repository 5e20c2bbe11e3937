/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sample_owners.h - the owner of each stack sample. The clock that takes a sample comes as a hard interrupt, so by the
 * timeline the sample's own nanosecond belongs to that interrupt. But a sample shows what was interrupted. So its owner
 * is that of the CPU's time before all hard interrupts that lead up to it without a gap. Only a sample that interrupted
 * an interrupt belongs to `hardirq`.
 *
 * Samples come before the slices that contain them, and wait for them. Pure. Memory is for the CPUs: a sample waits
 * until its CPU's next state record at most, and no more than NT_WAITING_MAX of them do on any tape.
 *
 * tests/unit/rows/sample_owners_test.c has the slow, obvious second implementation.
 */
#pragma once

#include "report/timeline/timeline.h"

#define NT_OWNER_UNKNOWN NT_OWNER_COUNT /* no slice tells: the sample lies outside the session */
#define NT_WAITING_MAX 65536 /* samples of a CPU; of more the oldest goes as unknown */

/* Gives a sample and its owner, each sample once. Non-zero stops what called it, which gives that number. */
typedef int (*nt_owned_fn)(void *arg, uint32_t cpu, const struct nt_stack_sample *sample, enum nt_owner owner);

struct nt_sample_owners;

/* NULL: out of memory. */
struct nt_sample_owners *nt_sample_owners_new(uint32_t n_cpus, nt_owned_fn owned, void *arg);
void nt_sample_owners_free(struct nt_sample_owners *owners);
/* A sample of a CPU, whose number is below n_cpus. Its slice may be the CPU's last or the one before, else it must be
 * still to come. */
int nt_sample_owners_add(struct nt_sample_owners *owners, uint32_t cpu, const struct nt_stack_sample *sample);
/* The CPU's next slice. */
int nt_sample_owners_slice(struct nt_sample_owners *owners, const struct nt_cpu_slice *slice);
/* There are no more slices. */
int nt_sample_owners_finish(struct nt_sample_owners *owners);
