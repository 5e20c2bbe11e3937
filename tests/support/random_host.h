/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * random_host.h - a host of which much happens at once, and then nothing for long, for tests: all that a timeline has
 * to do with, also what is lost. Blocks are cut anywhere. What it records is not true of any host: a test holds one way
 * of reading it against another.
 */
#pragma once

#include "tests/support/tape_gen.h"

#define RANDOM_HOST_CPUS 4 /* the last is mostly idle */
#define RANDOM_HOST_TASKS 12
#define RANDOM_HOST_FLOWS 5 /* and as many sockets */
#define RANDOM_HOST_PROBES "sched,softirq,irq,socket,deliver"

/* Who looks on while it is recorded, after each event; `now`: in ns since GEN_START_NS. */
struct random_host_eye {
	void *arg;
	void (*see)(void *arg, struct tape_gen *gen, uint64_t now);
};

/* Records n events; the same for the same seed, whoever looks on (or NULL). Gives the end, in ns since GEN_START_NS. */
uint64_t random_host_record(const struct tape_gen_config *config, uint64_t seed, unsigned int n,
			    const struct random_host_eye *eye);
