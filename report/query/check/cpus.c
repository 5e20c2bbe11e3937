// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpus.c - the part of check that proves the promise itself: each CPU's slices follow one another without overlap
 * and gap from the session's start to its end; no thread is in two places; operations cost what the slices say; the
 * sums that views read are the sums of what they stand for.
 */
#include <stdlib.h>
#include <string.h>

#include "report/query/check/check.h"
#include "report/timeline/timeline.h"
#include "report/util/array.h"

#define MAX_CPUS 65536

/* What one pass over the slices of a CPU tells. */
struct cpu {
	uint64_t slices, overlaps, gaps;
	int64_t next_ns; /* where the next slice must begin */
	int64_t sum_ns;
	int64_t owned_ns[NT_OWNER_COUNT];
	bool started;
};

struct cpus {
	struct cpu *cpus;
	size_t size;
	int64_t n;
};

static struct cpu *find_cpu(struct cpus *all, int64_t number)
{
	if (number < 0 || number >= MAX_CPUS || NT_ROOM(all->cpus, all->size, (size_t)number + 1))
		return NULL;
	while (all->n <= number)
		all->cpus[all->n++] = (struct cpu){0};
	return &all->cpus[number];
}

/* Adds to *sum; false: the sum is more than there is time. */
static bool add(int64_t *sum, int64_t ns)
{
	int64_t more;
	bool fits = !__builtin_add_overflow(*sum, ns, &more);

	if (fits)
		*sum = more;
	return fits;
}

static bool take_slice(struct cpus *all, int64_t start_ns, sqlite3_stmt *slice)
{
	struct cpu *cpu = find_cpu(all, sqlite3_column_int64(slice, 0));
	int64_t ts = sqlite3_column_int64(slice, 1), dur = sqlite3_column_int64(slice, 2);
	enum nt_owner owner = nt_owner_number(nt_db_text(slice, 3));

	if (!cpu || owner == NT_OWNER_COUNT)
		return false;
	if (!cpu->started)
		cpu->next_ns = start_ns;
	cpu->started = true;
	cpu->slices++;
	cpu->overlaps += ts < cpu->next_ns || dur <= 0;
	cpu->gaps += ts > cpu->next_ns;
	cpu->next_ns = ts;
	return add(&cpu->next_ns, dur) && add(&cpu->sum_ns, dur) && add(&cpu->owned_ns[owner], dur);
}

/* Slices of a CPU stand in the table in the order of time: so they need not be sorted. */
static int read_slices(struct nt_check *check, struct cpus *all)
{
	sqlite3_stmt *slice =
		nt_check_query(check, "SELECT cpu, ts, dur, owner FROM cpu_slice WHERE session_id = ?1 ORDER BY rowid");
	uint64_t strange = 0;

	while (nt_db_next(slice))
		strange += !take_slice(all, check->session.start_ts, slice);
	if (strange)
		nt_check_say(check, NT_FOUND_FAILED, "%llu slices have an impossible CPU, owner or time",
			     (unsigned long long)strange);
	return nt_check_end(check, slice);
}

static void judge_cpu(struct nt_check *check, int64_t number, const struct cpu *cpu)
{
	char slices[NT_HUMAN_MAX], sum[NT_HUMAN_MAX], length[NT_HUMAN_MAX], uncovered[NT_HUMAN_MAX],
		share[NT_HUMAN_MAX];
	int64_t all_ns = check->session.end_ts - check->session.start_ts;
	bool ends = cpu->next_ns == check->session.end_ts;

	nt_human_count(slices, (int64_t)cpu->slices);
	nt_human_count(sum, cpu->sum_ns);
	nt_human_count(length, all_ns);
	nt_human_count(uncovered, cpu->owned_ns[NT_OWNER_UNCOVERED]);
	nt_human_share(share, (uint64_t)cpu->owned_ns[NT_OWNER_UNCOVERED], (uint64_t)all_ns);
	if (cpu->overlaps || cpu->gaps || !ends || cpu->sum_ns != all_ns)
		nt_check_say(check, NT_FOUND_FAILED,
			     "CPU %lld: %s slices with %llu overlaps and %llu gaps sum to %s ns, but the session has "
			     "%s ns%s",
			     (long long)number, slices, (unsigned long long)cpu->overlaps,
			     (unsigned long long)cpu->gaps, sum, length, ends ? "" : ", and they end elsewhere");
	else
		nt_check_say(check, NT_FOUND_OK,
			     "CPU %lld: %s slices, no overlap, no gap, sum %s ns = the session; uncovered %s ns (%s)",
			     (long long)number, slices, sum, uncovered, share);
}

/* Without loss at most a thousandth of a CPU's time may be uncovered. */
static int judge_uncovered(struct nt_check *check, int64_t number, const struct cpu *cpu)
{
	char uncovered[NT_HUMAN_MAX];
	sqlite3_stmt *loss;
	bool has_loss;

	if (cpu->owned_ns[NT_OWNER_UNCOVERED] <= (check->session.end_ts - check->session.start_ts) / 1000)
		return 0;
	loss = nt_check_query(check,
			      "SELECT 1 FROM loss WHERE session_id = ?1 AND cpu = ?2 AND kind NOT IN " NT_SAMPLES_SQL
			      " LIMIT 1");
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
static int judge_sums(struct nt_check *check, struct cpus *all)
{
	sqlite3_stmt *sum =
		nt_check_query(check, "SELECT cpu, owner, sum(spent_ns) FROM cpu_cost WHERE session_id = ?1 "
				      "GROUP BY cpu, owner");
	uint64_t wrong = 0;
	int error;

	while (nt_db_next(sum)) {
		struct cpu *cpu = find_cpu(all, sqlite3_column_int64(sum, 0));
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
	struct cpus all = {0};
	int64_t n = 0;
	int error;

	check->name = "conservation";
	error = read_slices(check, &all);
	for (int64_t number = 0; number < all.n && !error; number++) {
		if (!all.cpus[number].started)
			continue;
		n++;
		judge_cpu(check, number, &all.cpus[number]);
		error = judge_uncovered(check, number, &all.cpus[number]);
	}
	if (!error && n != check->session.cpus && check->session.end_ts > check->session.start_ts)
		nt_check_say(check, NT_FOUND_FAILED, "%lld CPUs have slices, but the session has %lld", (long long)n,
			     (long long)check->session.cpus);
	if (!error)
		error = judge_sums(check, &all);
	free(all.cpus);
	return error;
}

/* ---- threads ---- */

int nt_check_threads(struct nt_check *check)
{
	sqlite3_stmt *slice =
		nt_check_query(check, "SELECT utid, ts, dur FROM sched_slice WHERE session_id = ?1 AND utid <> 0 "
				      "ORDER BY utid, ts");
	int64_t utid = -1, end_ns = 0;
	uint64_t n = 0, threads = 0, overlaps = 0;
	char count[NT_HUMAN_MAX];

	check->name = "threads";
	while (nt_db_next(slice)) {
		int64_t ts = sqlite3_column_int64(slice, 1);

		if (sqlite3_column_int64(slice, 0) != utid) {
			utid = sqlite3_column_int64(slice, 0);
			threads++;
		} else if (ts < end_ns) {
			overlaps++;
		}
		if (__builtin_add_overflow(ts, sqlite3_column_int64(slice, 2), &end_ns))
			end_ns = INT64_MAX;
		n++;
	}
	nt_human_count(count, (int64_t)n);
	if (overlaps)
		nt_check_say(check, NT_FOUND_FAILED, "%llu times a thread was on two CPUs at once",
			     (unsigned long long)overlaps);
	else
		nt_check_say(check, NT_FOUND_OK, "none was on two CPUs at once: %llu threads, %s slices",
			     (unsigned long long)threads, count);
	return nt_check_end(check, slice);
}

/* ---- operations ---- */

/* What operations sum to, by sock_op or by sock_cost; and the time of their slices. */
struct op_sums {
	int64_t ops, cpu_ns, sent, received;
};

/* Bytes of an operation that count: those of peeks and of the error queue do not. */
#define MOVED_BY(dir)                                                                                                  \
	"coalesce(sum(CASE WHEN op = '" dir "' AND (flags = '' OR (instr(',' || flags || ',', ',peek,') = 0 AND "      \
	"instr(',' || flags || ',', ',errqueue,') = 0)) THEN bytes END), 0)"

static const char sums_of_ops[] = "SELECT count(*), coalesce(sum(cpu_ns), 0), " MOVED_BY("send") ", " MOVED_BY(
	"recv") " FROM sock_op WHERE session_id = ?1";
static const char sums_of_costs[] =
	"SELECT coalesce(sum(ops), 0), coalesce(sum(cpu_ns), 0), coalesce(sum(CASE op WHEN 'send' THEN bytes END), 0), "
	"coalesce(sum(CASE op WHEN 'recv' THEN bytes END), 0) FROM sock_cost WHERE session_id = ?1";

static const char sums_of_slices[] =
	"SELECT 0, coalesce(sum(spent_ns), 0), 0, 0 FROM cpu_cost WHERE session_id = ?1 AND owner IN ('send', 'recv')";

static int read_op_sums(struct nt_check *check, const char *sql, struct op_sums *sums)
{
	sqlite3_stmt *row = nt_check_query(check, sql);

	while (nt_db_next(row))
		*sums = (struct op_sums){sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
					 sqlite3_column_int64(row, 2), sqlite3_column_int64(row, 3)};
	return nt_check_end(check, row);
}

static void judge_op_costs(struct nt_check *check, const struct op_sums *ops, int64_t slices_ns)
{
	char count[NT_HUMAN_MAX], ops_ns[NT_HUMAN_MAX], sum_ns[NT_HUMAN_MAX];

	check->name = "operations";
	nt_human_count(count, ops->ops);
	nt_human_count(ops_ns, ops->cpu_ns);
	nt_human_count(sum_ns, slices_ns);
	if (ops->cpu_ns != slices_ns)
		nt_check_say(check, NT_FOUND_FAILED,
			     "%s operations cost %s ns, but the slices of send and recv sum to %s ns", count, ops_ns,
			     sum_ns);
	else
		nt_check_say(check, NT_FOUND_OK, "%s operations cost %s ns = the slices of send and recv", count,
			     ops_ns);
}

static const char *describe(char text[200], const struct op_sums *sums)
{
	char ops[NT_HUMAN_MAX], ns[NT_HUMAN_MAX], sent[NT_HUMAN_MAX], received[NT_HUMAN_MAX];

	snprintf(text, 200, "%s operations, %s ns, %s bytes sent and %s received", nt_human_count(ops, sums->ops),
		 nt_human_count(ns, sums->cpu_ns), nt_human_count(sent, sums->sent),
		 nt_human_count(received, sums->received));
	return text;
}

static void judge_op_sums(struct nt_check *check, const struct op_sums *ops, const struct op_sums *costs)
{
	char of_ops[200], of_costs[200];

	check->name = "sums";
	if (ops->ops != costs->ops || ops->cpu_ns != costs->cpu_ns || ops->sent != costs->sent ||
	    ops->received != costs->received)
		nt_check_say(check, NT_FOUND_FAILED, "sock_cost is not the sum of sock_op: it has %s; sock_op has %s",
			     describe(of_costs, costs), describe(of_ops, ops));
	else
		nt_check_say(check, NT_FOUND_OK, "sock_cost is the sum of sock_op");
}

int nt_check_operations(struct nt_check *check)
{
	struct op_sums ops = {0}, costs = {0}, slices = {0};

	if (read_op_sums(check, sums_of_ops, &ops) || read_op_sums(check, sums_of_costs, &costs) ||
	    read_op_sums(check, sums_of_slices, &slices))
		return -1;
	judge_op_costs(check, &ops, slices.cpu_ns);
	judge_op_sums(check, &ops, &costs);
	return 0;
}
