// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpus.c - the part of check that proves the promise itself: each CPU's slices follow one another without overlap
 * and gap from the session's start to its end, or from a part's; and the sums of them that views read are theirs.
 */
#include <stdlib.h>

#include "report/query/check/check.h"
#include "report/timeline/timeline.h"
#include "report/util/array.h"

#define MAX_CPUS 65536

/* NULL: out of memory. */
static struct nt_check_cpu *find_cpu(struct nt_check_cpus *all, int64_t number)
{
	if (NT_ROOM(all->cpus, all->size, (size_t)number + 1))
		return NULL;
	while (all->n <= number)
		all->cpus[all->n++] = (struct nt_check_cpu){0};
	return &all->cpus[number];
}

/* False: it is strange. */
static bool take_slice(struct nt_check *check, struct nt_check_cpu *cpu, const struct nt_row *slice)
{
	const enum nt_owner owner = nt_owner_number(nt_text(NT_VALUE(slice, cpu_slice, owner), ""));
	int64_t ts = nt_integer(NT_VALUE(slice, cpu_slice, ts), 0);
	int64_t dur = nt_integer(NT_VALUE(slice, cpu_slice, dur), 0), end;

	if (__builtin_add_overflow(ts, dur, &end))
		return false;
	if (check->part && !nt_check_clip(check, &ts, &dur))
		return true;
	if (owner == NT_OWNER_COUNT)
		return false;
	if (check->part && (owner == NT_OWNER_SEND || owner == NT_OWNER_RECV) &&
	    nt_lanes_has_thread(&check->filter, NT_VALUE(slice, cpu_slice, utid)) &&
	    !nt_check_add(&check->events.part_ops.slices_ns, dur))
		return false;
	if (!cpu->started)
		cpu->next_ns = check->from_ts;
	cpu->started = true;
	cpu->slices++;
	cpu->overlaps += ts < cpu->next_ns || dur <= 0;
	cpu->gaps += ts > cpu->next_ns;
	cpu->next_ns = ts;
	return nt_check_add(&cpu->next_ns, dur) && nt_check_add(&cpu->sum_ns, dur) &&
	       nt_check_add(&cpu->owned_ns[owner], dur);
}

int nt_check_take_slice(void *arg, const struct nt_row *slice)
{
	struct nt_check *check = arg;
	struct nt_check_cpus *all = &check->events.cpus;
	const int64_t number = nt_integer(NT_VALUE(slice, cpu_slice, cpu), -1);
	struct nt_check_cpu *cpu = NULL;

	if (check->part && !nt_lanes_has_cpu(check->part, NT_VALUE(slice, cpu_slice, cpu)))
		return 0;
	if (number >= 0 && number < MAX_CPUS) {
		cpu = find_cpu(all, number);
		if (!cpu)
			return nt_db_no_memory(check->db);
	}
	all->strange += !cpu || !take_slice(check, cpu, slice);
	return 0;
}

static void judge_cpu(struct nt_check *check, int64_t number, const struct nt_check_cpu *cpu)
{
	char slices[NT_HUMAN_MAX], sum[NT_HUMAN_MAX], length[NT_HUMAN_MAX], uncovered[NT_HUMAN_MAX],
		share[NT_HUMAN_MAX];
	const char *of = check->part ? "time" : "session";
	int64_t all_ns = check->to_ts - check->from_ts;
	bool ends = cpu->next_ns == check->to_ts;

	nt_human_count(slices, (int64_t)cpu->slices);
	nt_human_count(sum, cpu->sum_ns);
	nt_human_count(length, all_ns);
	nt_human_count(uncovered, cpu->owned_ns[NT_OWNER_UNCOVERED]);
	nt_human_share(share, (uint64_t)cpu->owned_ns[NT_OWNER_UNCOVERED], (uint64_t)all_ns);
	if (cpu->overlaps || cpu->gaps || !ends || cpu->sum_ns != all_ns)
		nt_check_say(
			check, NT_FOUND_FAILED,
			"CPU %lld: %s slices with %llu overlaps and %llu gaps sum to %s ns, but the %s has %s ns%s",
			(long long)number, slices, (unsigned long long)cpu->overlaps, (unsigned long long)cpu->gaps,
			sum, of, length, ends ? "" : ", and they end elsewhere");
	else
		nt_check_say(check, NT_FOUND_OK,
			     "CPU %lld: %s slices, no overlap, no gap, sum %s ns = the %s; uncovered %s ns (%s)",
			     (long long)number, slices, sum, of, uncovered, share);
}

/* Without loss at most a thousandth of a CPU's time may be uncovered. */
static int judge_uncovered(struct nt_check *check, int64_t number, const struct nt_check_cpu *cpu)
{
	char uncovered[NT_HUMAN_MAX];
	sqlite3_stmt *loss;
	bool has_loss;

	/* Of a part it may be more, since a stretch between two records is short, but has an end somewhere. */
	if (check->part || cpu->owned_ns[NT_OWNER_UNCOVERED] <= (check->to_ts - check->from_ts) / 1000)
		return 0;
	loss = nt_check_query(
		check,
		"SELECT 1 FROM loss WHERE session_id = ?1 AND cpu = ?2 AND kind NOT IN " NT_LOOSE_KINDS_SQL " LIMIT 1");
	sqlite3_bind_int64(loss, 2, number);
	has_loss = nt_db_next(loss);
	if (nt_check_end(check, loss))
		return -1;
	if (!has_loss)
		nt_check_say(check, NT_FOUND_FAILED, "CPU %lld: %s are uncovered, and no loss explains it",
			     (long long)number, nt_human_ns(uncovered, (uint64_t)cpu->owned_ns[NT_OWNER_UNCOVERED]));
	return 0;
}

/* The sums by bucket, that the views read, against the slices. */
static int judge_sums(struct nt_check *check, struct nt_check_cpus *all)
{
	sqlite3_stmt *sum =
		nt_check_query(check, "SELECT cpu, owner, sum(spent_ns) FROM cpu_cost WHERE session_id = ?1 "
				      "GROUP BY cpu, owner");
	uint64_t wrong = 0;
	int error;

	while (nt_db_next(sum)) {
		struct nt_check_cpu *cpu = find_cpu(all, sqlite3_column_int64(sum, 0));
		enum nt_owner owner = nt_owner_number(nt_db_text(sum, 1));

		if (!cpu || owner == NT_OWNER_COUNT ||
		    __builtin_sub_overflow(cpu->owned_ns[owner], sqlite3_column_int64(sum, 2), &cpu->owned_ns[owner]))
			wrong++;
	}
	for (int64_t number = 0; number < all->n; number++) {
		for (int owner = 0; owner < NT_OWNER_COUNT; owner++)
			wrong += all->cpus[number].owned_ns[owner] != 0;
	}
	check->name = "sums";
	/* Sums that do not fit are an error of SQLite's, and wrong all the same. */
	error = nt_check_end(check, sum);
	if (wrong)
		nt_check_say(check, NT_FOUND_FAILED, "%llu sums in cpu_cost are not those of cpu_slice",
			     (unsigned long long)wrong);
	else if (!error)
		nt_check_say(check, NT_FOUND_OK, "cpu_cost is the sum of cpu_slice, for each CPU and owner");
	return error;
}

int nt_check_conservation(struct nt_check *check)
{
	struct nt_check_cpus *all = &check->events.cpus;
	int64_t n = 0;
	int error = 0;

	check->name = "conservation";
	if (all->strange)
		nt_check_say(check, NT_FOUND_FAILED, "%llu slices have an impossible CPU, owner or time",
			     (unsigned long long)all->strange);
	for (int64_t number = 0; number < all->n && !error; number++) {
		if (!all->cpus[number].started)
			continue;
		n++;
		judge_cpu(check, number, &all->cpus[number]);
		error = judge_uncovered(check, number, &all->cpus[number]);
	}
	if (error || (check->part && check->part->selection->n_cpus))
		return error;
	if (n != check->session.cpus && check->to_ts > check->from_ts)
		nt_check_say(check, NT_FOUND_FAILED, "%lld CPUs have slices, but the session has %lld", (long long)n,
			     (long long)check->session.cpus);
	return check->part ? 0 : judge_sums(check, all);
}
