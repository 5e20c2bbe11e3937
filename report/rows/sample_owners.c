// SPDX-License-Identifier: GPL-2.0-only
/* sample_owners.c - see sample_owners.h. */
#include "report/rows/sample_owners.h"

#include <stdlib.h>

#include "report/rows/waiting.h"

struct stretch {
	uint64_t ts_ns, end_ns; /* both 0: none */
	enum nt_owner owner; /* of the stretch */
	enum nt_owner under; /* what it interrupted; the same where it is no interrupt */
};

struct cpu {
	struct stretch before, last;
	struct nt_waiting waiting; /* samples */
};

struct nt_sample_owners {
	uint32_t n_cpus;
	nt_owned_fn owned;
	void *arg;
	struct cpu *cpus;
};

struct nt_sample_owners *nt_sample_owners_new(uint32_t n_cpus, nt_owned_fn owned, void *arg)
{
	struct nt_sample_owners *owners = calloc(1, sizeof(*owners));

	if (!owners)
		return NULL;
	*owners = (struct nt_sample_owners){.owned = owned, .arg = arg};
	owners->cpus = calloc((size_t)n_cpus + 1, sizeof(*owners->cpus));
	if (!owners->cpus) {
		nt_sample_owners_free(owners);
		return NULL;
	}
	owners->n_cpus = n_cpus;
	return owners;
}

void nt_sample_owners_free(struct nt_sample_owners *owners)
{
	if (!owners)
		return;
	for (uint32_t cpu = 0; cpu < owners->n_cpus; cpu++)
		nt_waiting_release(&owners->cpus[cpu].waiting);
	free(owners->cpus);
	free(owners);
}

static bool holds(const struct stretch *stretch, uint64_t ns)
{
	return ns >= stretch->ts_ns && ns < stretch->end_ns;
}

static enum nt_owner owner_in(const struct stretch *stretch, const struct nt_stack_sample *sample)
{
	return sample->context == NT_STACK_IN_HARDIRQ ? stretch->owner : stretch->under;
}

static int give(struct nt_sample_owners *owners, uint32_t number, const struct nt_stack_sample *sample)
{
	const struct cpu *cpu = &owners->cpus[number];
	enum nt_owner owner = NT_OWNER_UNKNOWN;

	if (holds(&cpu->last, sample->end_ns))
		owner = owner_in(&cpu->last, sample);
	else if (holds(&cpu->before, sample->end_ns))
		owner = owner_in(&cpu->before, sample);
	return owners->owned(owners->arg, number, sample, owner);
}

static size_t n_waiting(const struct cpu *cpu)
{
	return NT_WAITING_N(&cpu->waiting, struct nt_stack_sample);
}

static int give_first(struct nt_sample_owners *owners, uint32_t number)
{
	struct nt_waiting *waiting = &owners->cpus[number].waiting;
	const struct nt_stack_sample *sample = NT_WAITING_FIRST(waiting, struct nt_stack_sample);

	NT_WAITING_DROP(waiting, struct nt_stack_sample);
	return give(owners, number, sample);
}

int nt_sample_owners_add(struct nt_sample_owners *owners, uint32_t number, const struct nt_stack_sample *sample)
{
	struct cpu *cpu = &owners->cpus[number];
	int error = 0;

	if (sample->end_ns < cpu->last.end_ns)
		return give(owners, number, sample);
	if (n_waiting(cpu) == NT_WAITING_MAX)
		error = give_first(owners, number);
	return error ? error : nt_waiting_add(&cpu->waiting, sample, sizeof(*sample));
}

/* Those that the slice added last has an owner for. */
__attribute__((noinline)) static int give_until(struct nt_sample_owners *owners, uint32_t number)
{
	const struct cpu *cpu = &owners->cpus[number];
	int error = 0;

	while (!error && n_waiting(cpu) &&
	       NT_WAITING_FIRST(&cpu->waiting, struct nt_stack_sample)->end_ns < cpu->last.end_ns)
		error = give_first(owners, number);
	return error;
}

int nt_sample_owners_slice(struct nt_sample_owners *owners, const struct nt_cpu_slice *slice)
{
	struct cpu *cpu = &owners->cpus[slice->cpu];
	bool goes_on = cpu->last.end_ns == slice->ts_ns && slice->ts_ns;

	cpu->before = cpu->last;
	cpu->last = (struct stretch){
		.ts_ns = slice->ts_ns,
		.end_ns = slice->ts_ns + slice->dur_ns,
		.owner = slice->owner,
		.under = slice->owner,
	};
	if (slice->owner == NT_OWNER_HARDIRQ)
		cpu->last.under = goes_on ? cpu->before.under : NT_OWNER_UNKNOWN;
	return n_waiting(cpu) ? give_until(owners, slice->cpu) : 0;
}

int nt_sample_owners_finish(struct nt_sample_owners *owners)
{
	int error = 0;

	for (uint32_t cpu = 0; cpu < owners->n_cpus; cpu++)
		while (!error && n_waiting(&owners->cpus[cpu]))
			error = give_first(owners, cpu);
	return error;
}
