// SPDX-License-Identifier: GPL-2.0-only
/* sample_owners.c - see sample_owners.h. */
#include "report/rows/sample_owners.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64
/* Samples stand in the order of their ring, which inverts few, and those by little. */
#define REORDER 64

struct stretch {
	uint64_t ts_ns, end_ns; /* both 0: none */
	enum nt_owner owner; /* of the stretch */
	enum nt_owner under; /* what it interrupted; the same where it is no interrupt */
};

struct cpu {
	struct stretch before, last;
	struct nt_stack_sample *waiting; /* from `first` on, by time but for a few */
	size_t first, n, capacity; /* a power of two: the places go round */
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
	*owners = (struct nt_sample_owners){.n_cpus = n_cpus, .owned = owned, .arg = arg};
	owners->cpus = calloc((size_t)n_cpus + 1, sizeof(*owners->cpus));
	if (owners->cpus)
		return owners;
	free(owners);
	return NULL;
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

static struct nt_stack_sample *place(struct cpu *cpu, size_t number)
{
	return &cpu->waiting[(cpu->first + number) & (cpu->capacity - 1)];
}

/* Twice the room, with the first in the first place. */
static int grow(struct cpu *cpu)
{
	size_t capacity = cpu->capacity ? 2 * cpu->capacity : FIRST_CAPACITY;
	struct nt_stack_sample *waiting = reallocarray(NULL, capacity, sizeof(*waiting));

	if (!waiting)
		return -ENOMEM;
	for (size_t i = 0; i < cpu->n; i++)
		waiting[i] = *place(cpu, i);
	free(cpu->waiting);
	cpu->waiting = waiting;
	cpu->capacity = capacity;
	cpu->first = 0;
	return 0;
}

static int give_first(struct nt_sample_owners *owners, uint32_t number)
{
	struct cpu *cpu = &owners->cpus[number];
	struct nt_stack_sample sample = *place(cpu, 0);

	cpu->first = (cpu->first + 1) & (cpu->capacity - 1);
	cpu->n--;
	return give(owners, number, &sample);
}

int nt_sample_owners_add(struct nt_sample_owners *owners, uint32_t number, const struct nt_stack_sample *sample)
{
	struct cpu *cpu = &owners->cpus[number];
	size_t at;
	int error = 0;

	if (sample->end_ns < cpu->last.end_ns)
		return give(owners, number, sample);
	if (cpu->n == NT_WAITING_MAX)
		error = give_first(owners, number);
	if (!error && cpu->n == cpu->capacity)
		error = grow(cpu);
	if (error)
		return error;
	for (at = cpu->n++; at && cpu->n - at <= REORDER && place(cpu, at - 1)->end_ns > sample->end_ns; at--)
		*place(cpu, at) = *place(cpu, at - 1);
	*place(cpu, at) = *sample;
	return 0;
}

int nt_sample_owners_slice(struct nt_sample_owners *owners, const struct nt_cpu_slice *slice)
{
	struct cpu *cpu = &owners->cpus[slice->cpu];
	bool goes_on = cpu->last.end_ns == slice->ts_ns && slice->ts_ns;
	int error = 0;

	cpu->before = cpu->last;
	cpu->last = (struct stretch){
		.ts_ns = slice->ts_ns,
		.end_ns = slice->ts_ns + slice->dur_ns,
		.owner = slice->owner,
		.under = slice->owner,
	};
	if (slice->owner == NT_OWNER_HARDIRQ)
		cpu->last.under = goes_on ? cpu->before.under : NT_OWNER_UNKNOWN;
	while (!error && cpu->n && place(cpu, 0)->end_ns < cpu->last.end_ns)
		error = give_first(owners, slice->cpu);
	return error;
}

int nt_sample_owners_finish(struct nt_sample_owners *owners)
{
	int error = 0;

	for (uint32_t cpu = 0; cpu < owners->n_cpus; cpu++)
		while (!error && owners->cpus[cpu].n)
			error = give_first(owners, cpu);
	return error;
}
