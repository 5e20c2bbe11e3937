// SPDX-License-Identifier: GPL-2.0-only
/* sample_owners.c - see sample_owners.h. */
#include "report/rows/sample_owners.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"

/* Samples stand in the order of their ring, which inverts few, and those by little. */
#define REORDER 64

struct stretch {
	uint64_t ts_ns, end_ns; /* both 0: none */
	enum nt_owner owner; /* of the stretch */
	enum nt_owner under; /* what it interrupted; the same where it is no interrupt */
};

struct cpu {
	struct stretch before, last;
	struct nt_stack_sample *waiting; /* from `first` to `end`, by time but for a few */
	size_t first, end, size;
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
		free(owners->cpus[cpu].waiting);
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

/* Room for one more, also where those stood that have been given, once they were half of all. */
static int make_room(struct cpu *cpu)
{
	if (cpu->first > cpu->end / 2) {
		cpu->end -= cpu->first;
		memmove(cpu->waiting, cpu->waiting + cpu->first, cpu->end * sizeof(*cpu->waiting));
		cpu->first = 0;
	}
	return NT_ROOM(cpu->waiting, cpu->size, cpu->end + 1);
}

static int give_first(struct nt_sample_owners *owners, uint32_t number)
{
	struct cpu *cpu = &owners->cpus[number];

	return give(owners, number, &cpu->waiting[cpu->first++]);
}

int nt_sample_owners_add(struct nt_sample_owners *owners, uint32_t number, const struct nt_stack_sample *sample)
{
	struct cpu *cpu = &owners->cpus[number];
	int error = 0;
	size_t at;

	if (sample->end_ns < cpu->last.end_ns)
		return give(owners, number, sample);
	if (cpu->end - cpu->first == NT_WAITING_MAX)
		error = give_first(owners, number);
	if (!error)
		error = make_room(cpu);
	if (error)
		return error;
	for (at = cpu->end++; at > cpu->first && cpu->end - at <= REORDER; at--) {
		if (cpu->waiting[at - 1].end_ns <= sample->end_ns)
			break;
		cpu->waiting[at] = cpu->waiting[at - 1];
	}
	cpu->waiting[at] = *sample;
	return 0;
}

/* Those that the slice added last has an owner for. */
__attribute__((noinline)) static int give_until(struct nt_sample_owners *owners, uint32_t number)
{
	const struct cpu *cpu = &owners->cpus[number];
	int error = 0;

	while (!error && cpu->first < cpu->end && cpu->waiting[cpu->first].end_ns < cpu->last.end_ns)
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
	return cpu->first < cpu->end ? give_until(owners, slice->cpu) : 0;
}

int nt_sample_owners_finish(struct nt_sample_owners *owners)
{
	int error = 0;

	for (uint32_t cpu = 0; cpu < owners->n_cpus; cpu++)
		while (!error && owners->cpus[cpu].first < owners->cpus[cpu].end)
			error = give_first(owners, cpu);
	return error;
}
