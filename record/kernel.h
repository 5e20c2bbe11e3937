/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - the kernel side as the recorder holds it: the loaded programs, the rings and state of each CPU,
 * and the life of the programs: load, attach, seed, start, stop.
 */
#pragma once

#include "bpf/shared.h"
#include "record/ids.h"
#include "record/options.h"
#include "record/ring.h"
#include "record/sampler.h"

struct nettape; /* the generated skeleton */

struct nt_kernel {
	struct nettape *skeleton;
	struct bpf_object *object;
	uint32_t n_cpus; /* possible CPUs */
	struct nt_cpu *cpus; /* n_cpus, shared with the programs */
	struct nt_ring_reader *rings; /* n_cpus; fd 0: this CPU has never been online */
	struct nt_sampler sampler; /* of probe stacks */
	int stats_fd, stamps_fd; /* -1: not asked for */
	uint64_t start_ns, end_ns; /* when the last gate opened, when the first one closed */
};

/*
 * Opens and loads the programs of options->plan (which this call completes by asking the kernel), makes a
 * ring for each CPU that is present and attaches. A probe or program that the kernel refuses leaves the plan, if the
 * rest can be recorded without it. On failure gives a negative errno and writes one sentence with the remedy into
 * `message`. nt_kernel_release afterwards in any case.
 */
int nt_kernel_load(struct nt_kernel *kernel, struct nt_record_options *options, char *message, size_t message_size);
/* The same, only to see what the kernel takes: nothing is attached, nothing stays. */
int nt_kernel_try(struct nt_record_options *options, char *message, size_t message_size);
/* The numbers that flows' keys are made with. */
const struct nt_flow_hash *nt_kernel_flow_hashes(const struct nt_kernel *kernel);
/* Makes the ring of a CPU. */
int nt_kernel_make_ring(struct nt_kernel *kernel, uint32_t cpu, size_t size);
/* Takes in all tasks that are there, and the operations that they are inside. */
int nt_kernel_seed(struct nt_kernel *kernel, struct nt_ids *ids);
/*
 * Takes in the sockets that tasks hold and packets can come for, but those that are announced, if it is to be known who
 * receives. At the start, and at the end for those that were made meanwhile and never used.
 */
int nt_kernel_seed_sockets(struct nt_kernel *kernel, const struct nt_plan *plan, struct nt_ids *ids);
/* Takes a record that an iterator wrote: 1 or, if it is not wanted, 0; or a negative errno. */
typedef int nt_seed_fn(void *arg, union nt_any *record);
/* Gives `take` what memory processes have: MEM_RSS records, of probe memory. 0 or a negative errno. */
int nt_kernel_seed_memory(struct nt_kernel *kernel, nt_seed_fn *take, void *arg);
/* Opens the gate of each CPU, also of those that are offline; sets start_ns. */
int nt_kernel_start(struct nt_kernel *kernel);
/* From now on the programs send the identities of sockets and flows again, once (record/ids.h). */
void nt_kernel_begin_generation(struct nt_kernel *kernel, uint32_t generation);
/* Closes the gates, sets end_ns, detaches. Records in the rings stay there. */
void nt_kernel_stop(struct nt_kernel *kernel, struct nt_plan *plan);
/* Has each CPU write the losses that it has not been able to. Call between two drains after the stop. */
void nt_kernel_flush_losses(struct nt_kernel *kernel);
/*
 * Has each CPU write where it is, and put its batch into its ring, that has been silent for idle_ns with records in the
 * batch, or for silent_ns in any case.
 */
void nt_kernel_refresh(struct nt_kernel *kernel, uint64_t now_ns, uint64_t idle_ns, uint64_t silent_ns);
/* Gives, as one item, the batch that a CPU has not put into its ring. Only when no program writes there any more. */
int nt_kernel_drain_batch(struct nt_kernel *kernel, uint32_t cpu, nt_ring_item_fn take, void *arg);
/*
 * Gives CPUs that have been plugged in and are online a ring, opens their gate, and starts their clock. *changed: how
 * many rings.
 */
int nt_kernel_follow_hotplug(struct nt_kernel *kernel, size_t ring_size, unsigned int *changed);
void nt_kernel_release(struct nt_kernel *kernel);
