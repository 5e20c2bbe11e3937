// SPDX-License-Identifier: GPL-2.0-only
/* history.c - see history.h. */
#include "report/serve/history.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/export/html/parts.h"
#include "report/query/groups.h"
#include "report/query/ports.h"
#include "report/serve/recent.h"
#include "report/util/array.h"

#define DATA_VERSION 1
#define NS_PER_S 1000000000ll
#define TABLE_ROWS 40
#define LEAST_STEPS 60
#define MOST_STEPS 600

static const struct {
	const char *seconds;
	int64_t span_ns;
} spans[] = {{"60", 60 * NS_PER_S}, {"300", 300 * NS_PER_S}, {"3600", 3600 * NS_PER_S}};

struct window {
	struct nt_html_costs costs;
	struct nt_html_costs next; /* of the same size; of the thread that adds, which needs no lock for it */
	struct nt_recent recent;
};

struct nt_history {
	pthread_mutex_t lock;
	int64_t start_ts, until_ts; /* of the recording at hand */
	bool is_due; /* another one is to begin */
	bool has_ended;
	char *facts; /* as JSON; NULL: nothing was added yet */
	struct window windows[NT_COUNT(spans)];
};

struct nt_history *nt_history_new(void)
{
	struct nt_history *history = calloc(1, sizeof(*history));

	if (history)
		pthread_mutex_init(&history->lock, NULL);
	return history;
}

static void forget(struct nt_history *history)
{
	for (size_t i = 0; i < NT_COUNT(spans); i++) {
		nt_html_costs_release(&history->windows[i].costs);
		nt_html_costs_release(&history->windows[i].next);
		nt_recent_release(&history->windows[i].recent);
	}
	free(history->facts);
	history->facts = NULL;
}

void nt_history_free(struct nt_history *history)
{
	if (!history)
		return;
	forget(history);
	pthread_mutex_destroy(&history->lock);
	free(history);
}

/* ---- windows ---- */

/* With each of these numbers, the steps of all windows are whole buckets of cpu_cost. */
static uint32_t steps_for(uint32_t n_cpus)
{
	static const uint32_t all[] = {MOST_STEPS, 300, 200, 150, 120, 100, LEAST_STEPS};
	const size_t i = NT_FIRST(NT_COUNT(all), k, (uint64_t)all[k] * n_cpus <= NT_HISTORY_CELLS);

	return i < NT_COUNT(all) ? all[i] : LEAST_STEPS;
}

/* `cpus`: those of the recording, which are copied. */
static int begin_costs(struct nt_html_costs *costs, int64_t span_ns, int64_t start_ts, const struct nt_html_costs *cpus)
{
	const uint32_t steps = steps_for(cpus->n_cpus);

	costs->from_ts = costs->to_ts = start_ts;
	costs->step_ns = span_ns / steps;
	if (NT_ROOM(costs->cpus, costs->cpus_size, cpus->n_cpus))
		return -ENOMEM;
	memcpy(costs->cpus, cpus->cpus, cpus->n_cpus * sizeof(*cpus->cpus));
	costs->n_cpus = cpus->n_cpus;
	/* One more, since the last one may have only begun. */
	return nt_html_costs_make_room(costs, steps + 1);
}

static int begin_window(struct window *window, int64_t span_ns, int64_t start_ts, const struct nt_html_costs *cpus)
{
	window->recent.span_ns = span_ns;
	return begin_costs(&window->costs, span_ns, start_ts, cpus) ||
			       begin_costs(&window->next, span_ns, start_ts, cpus)
		       ? -ENOMEM
		       : 0;
}

/* From a time on: the recording's begin, or when a CPU came that had no time before. */
static int begin_again(struct nt_history *history, const struct nt_session *session, int64_t from_ts,
		       const struct nt_html_costs *cpus)
{
	int error = 0;

	forget(history);
	history->is_due = history->has_ended = false;
	history->start_ts = session->start_ts;
	history->until_ts = from_ts;
	for (size_t i = 0; i < NT_COUNT(spans) && !error; i++)
		error = begin_window(&history->windows[i], spans[i].span_ns, from_ts, cpus);
	return error;
}

static bool has_cpu(const struct nt_html_costs *costs, uint32_t cpu)
{
	return bsearch(&cpu, costs->cpus, costs->n_cpus, sizeof(cpu), nt_compare_u32);
}

static bool goes_on(const struct nt_history *history, const struct nt_html_costs *cpus)
{
	return history->facts && !history->is_due &&
	       !NT_ANY(cpus->n_cpus, i, !has_cpu(&history->windows[0].costs, cpus->cpus[i]));
}

/* ---- adding ---- */

/* The next costs are those so far, and have room for what comes. */
static void go_on(struct nt_html_costs *next, const struct nt_html_costs *costs, int64_t to_ts)
{
	int64_t *const cells = next->cells;
	uint32_t *const cpus = next->cpus;

	memcpy(cells, costs->cells, (size_t)costs->n_cpus * NT_HTML_OWNERS * costs->room * sizeof(*cells));
	*next = *costs;
	next->cells = cells;
	next->cpus = cpus;
	nt_html_costs_go_on(next, to_ts);
}

static int add_time(struct nt_history *history, const struct nt_part *part)
{
	sqlite3_stmt *row =
		nt_db_query(part->db, "SELECT cpu, owner, ts, dur, spent_ns FROM cpu_cost WHERE session_id = ?1",
			    part->session->id);

	while (nt_db_next(row)) {
		for (size_t i = 0; i < NT_COUNT(spans); i++)
			nt_html_costs_add(&history->windows[i].next, sqlite3_column_int64(row, 0),
					  nt_owner_number(nt_db_text(row, 1)), sqlite3_column_int64(row, 2),
					  sqlite3_column_int64(row, 3), sqlite3_column_int64(row, 4));
	}
	return nt_db_end(part->db, row, "the time of CPUs cannot be read");
}

static int count_records(const struct nt_part *part, struct nt_recent_slot *slot)
{
	sqlite3_stmt *row =
		nt_db_query(part->db, "SELECT total(records), total(lost) FROM record_count WHERE session_id = ?1",
			    part->session->id);

	if (nt_db_next(row)) {
		slot->records = sqlite3_column_double(row, 0);
		slot->lost = sqlite3_column_double(row, 1);
	}
	return nt_db_end(part->db, row, "the records cannot be counted");
}

/* What is known of the recording as a whole. The text is the caller's to free, in any case. */
static int write_facts(const struct nt_html_scope *scope, char **text)
{
	size_t size;
	FILE *out = open_memstream(text, &size);
	struct nt_json json = {.out = out, .compact = true};
	int error;

	if (!out)
		return nt_db_no_memory(scope->db);
	nt_json_open(&json, NULL, '{');
	error = nt_html_facts(scope, &json) || nt_html_texts(scope, &json) ? -1 : 0;
	nt_json_close(&json, '}');
	if (fclose(out) && !error)
		error = nt_db_no_memory(scope->db);
	return error;
}

static void swap(struct nt_html_costs *a, struct nt_html_costs *b)
{
	const struct nt_html_costs before = *a;

	*a = *b;
	*b = before;
}

/* With the lock. Takes the facts. 0 or -ENOMEM. */
static int put(struct nt_history *history, const struct nt_recent_slot *slot, char *facts)
{
	int error = 0;

	for (size_t i = 0; i < NT_COUNT(spans); i++) {
		swap(&history->windows[i].costs, &history->windows[i].next);
		error |= nt_recent_add(&history->windows[i].recent, slot);
	}
	history->until_ts = slot->to_ts;
	free(history->facts);
	history->facts = facts;
	/* A slot of which a part is missing is not to be read. */
	if (error)
		forget(history);
	return error ? -ENOMEM : 0;
}

/* Takes the facts. */
static int add(struct nt_history *history, const struct nt_prometheus_news *news, char *facts)
{
	const struct nt_part *part = news->part;
	struct nt_recent_slot slot = {.from_ts = history->until_ts, .to_ts = part->to_ts};
	int error;

	for (size_t i = 0; i < NT_COUNT(spans); i++)
		go_on(&history->windows[i].next, &history->windows[i].costs, part->to_ts);
	if (add_time(history, part) || count_records(part, &slot)) {
		free(facts);
		return -1;
	}
	for (size_t i = 0; i < NT_COUNT(spans); i++)
		nt_html_costs_end(&history->windows[i].next);
	memcpy(slot.groups, news->groups, sizeof(slot.groups));
	pthread_mutex_lock(&history->lock);
	error = put(history, &slot, facts);
	pthread_mutex_unlock(&history->lock);
	return error ? nt_db_no_memory(part->db) : 0;
}

/* `cpus`: of what is new. 1: there is nothing yet that anything could be added to. */
static int make_ready(struct nt_history *history, const struct nt_part *part, const struct nt_html_costs *cpus)
{
	const bool is_new = history->is_due || !history->facts;
	int error;

	if (goes_on(history, cpus))
		return 0;
	if (!cpus->n_cpus)
		return 1;
	pthread_mutex_lock(&history->lock);
	error = begin_again(history, part->session, is_new ? part->session->start_ts : history->until_ts, cpus);
	pthread_mutex_unlock(&history->lock);
	return error ? nt_db_no_memory(part->db) : 0;
}

static int add_of(struct nt_history *history, const struct nt_prometheus_news *news, const struct nt_html_scope *scope,
		  const struct nt_html_costs *cpus)
{
	const int result = make_ready(history, news->part, cpus);
	char *facts = NULL;

	if (result)
		return result < 0 ? -1 : 0;
	if (!write_facts(scope, &facts))
		return add(history, news, facts);
	free(facts);
	return -1;
}

/* Of a host with more CPUs than a page shows there is nothing. */
static int refuse(struct nt_history *history)
{
	pthread_mutex_lock(&history->lock);
	forget(history);
	pthread_mutex_unlock(&history->lock);
	return 0;
}

int nt_history_add(void *arg, const struct nt_prometheus_news *news)
{
	struct nt_history *history = arg;
	struct nt_html_costs cpus = {0};
	struct nt_html_scope scope;
	int error;

	history->is_due |= news->is_first;
	nt_html_scope_init(&scope, news->part->db, news->part->selection, news->part->session);
	error = nt_html_costs_cpus(&scope, &cpus);
	if (!error)
		error = add_of(history, news, &scope, &cpus);
	else if (cpus.n_cpus == NT_HTML_MAX_CPUS)
		error = refuse(history);
	nt_html_costs_release(&cpus);
	return error;
}

void nt_history_end(struct nt_history *history)
{
	pthread_mutex_lock(&history->lock);
	history->has_ended = true;
	pthread_mutex_unlock(&history->lock);
}

/* ---- writing ---- */

bool nt_history_window(const char *seconds, size_t *window)
{
	*window = NT_FIRST(NT_COUNT(spans), i, seconds && !strcmp(seconds, spans[i].seconds));
	return *window < NT_COUNT(spans);
}

struct table {
	struct nt_json *json;
	double span_ns;
	struct nt_prometheus_cost rest;
	int64_t rest_rows;
};

/* As query/groups.h has them. */
static const char *const columns[] = {"total_ns", "at_least_ns", "at_most_ns", "cpu_share",  "send_ns",
				      "recv_ns",  "rx_ns",	 "ops_count",  "sent_bytes", "received_bytes"};

/* The figures in their order. */
static void write_cost(const struct table *table, const struct nt_prometheus_cost *cost)
{
	const double own_ns = cost->send_ns + cost->recv_ns, total_ns = nt_prometheus_cost_total(cost);
	const double figures[NT_COUNT(columns)] = {total_ns,
						   own_ns + cost->rx_low_ns,
						   own_ns + cost->rx_high_ns,
						   total_ns / table->span_ns,
						   cost->send_ns,
						   cost->recv_ns,
						   cost->has_rx ? cost->rx_ns : NAN, /* NAN: null */
						   cost->ops,
						   cost->sent_bytes,
						   cost->received_bytes};

	for (size_t i = 0; i < NT_COUNT(columns); i++)
		nt_json_real(table->json, NULL, figures[i]);
}

static void write_columns(struct nt_json *json, const char *by)
{
	nt_json_open(json, "columns", '[');
	nt_json_text(json, NULL, by);
	for (size_t i = 0; i < NT_COUNT(columns); i++)
		nt_json_text(json, NULL, columns[i]);
	nt_json_close(json, ']');
}

static int write_group(void *arg, const char *name, const struct nt_prometheus_group *group)
{
	struct table *table = arg;

	if (!strcmp(name, NT_PROMETHEUS_OTHER)) {
		table->rest_rows++;
		nt_prometheus_cost_add(&table->rest, group->figures);
		return 0;
	}
	nt_json_open(table->json, NULL, '[');
	nt_json_text(table->json, NULL, name);
	write_cost(table, group->figures);
	nt_json_close(table->json, ']');
	return 0;
}

static void write_rest(const struct table *table)
{
	nt_json_integer(table->json, "rest_rows", table->rest_rows);
	nt_json_open(table->json, "rest", '[');
	if (table->rest_rows) {
		nt_json_text(table->json, NULL, NULL);
		write_cost(table, &table->rest);
	}
	nt_json_close(table->json, ']');
}

/* Whether the rest has groups that have lost their names (recent.h), and so are not counted. */
static bool has_more(const struct nt_prometheus_groups *groups)
{
	const struct nt_labels *names = groups->n ? &groups->hosts[0].names : NULL;

	return names && NT_ANY(names->texts.n, i, !strcmp(nt_labels_text(names, (uint32_t)i), NT_PROMETHEUS_OTHER));
}

static int write_table(enum nt_by by, const struct nt_recent_slot *sum, const struct nt_prometheus_groups *groups,
		       struct nt_json *json)
{
	const struct nt_group_info *group = nt_group(by);
	struct table table = {.json = json, .span_ns = (double)(sum->to_ts - sum->from_ts)};
	struct nt_sheet one_host = {.host = 0};
	int error;

	nt_json_open(json, NULL, '{');
	nt_json_text(json, "name", group->rows);
	nt_json_text(json, "by", nt_by_name(by));
	nt_json_text(json, "title", group->title);
	/* Of ports there are no columns but these. */
	nt_json_text(json, "note", by == NT_BY_PORT ? NT_PORT_NOTE : group->note);
	write_columns(json, nt_by_name(by));
	nt_json_open(json, "rows", '[');
	error = nt_prometheus_each_group(groups, TABLE_ROWS, &one_host, write_group, &table);
	nt_json_close(json, ']');
	write_rest(&table);
	nt_json_bool(json, "rest_has_more", has_more(groups));
	nt_json_close(json, '}');
	return error;
}

static int write_recent(const struct nt_history *history, const struct nt_recent *recent, struct nt_json *json)
{
	struct nt_recent_slot sum;
	int error = nt_recent_sum(recent, &sum);

	if (error)
		return error;
	nt_json_integer(json, "tables_from_ns", sum.from_ts - history->start_ts);
	nt_json_real(json, "records_count", sum.records);
	nt_json_real(json, "lost_count", sum.lost);
	nt_json_open(json, "tables", '[');
	for (size_t i = 0; i < NT_COUNT(sum.groups) && !error; i++)
		error = write_table(nt_prometheus_kind(i), &sum, &sum.groups[i], json);
	nt_json_close(json, ']');
	nt_recent_slot_release(&sum);
	return error;
}

/* Of the same clock as the recording's begin, as far as that has not been set since. */
static int64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static int write_window(struct nt_history *history, size_t i, FILE *out)
{
	struct nt_json json = {.out = out, .compact = true};
	struct window *window = &history->windows[i];
	int error;

	fprintf(out, "{\"facts\":%s,\"live\":", history->facts);
	nt_json_open(&json, NULL, '{');
	nt_json_integer(&json, "version", DATA_VERSION);
	nt_json_text(&json, "tool", "nettape-serve " NT_VERSION);
	nt_json_bool(&json, "ended", history->has_ended);
	nt_json_integer(&json, "wall_ns", wall_ns());
	nt_html_costs_json(&window->costs, history->start_ts, &json);
	error = write_recent(history, &window->recent, &json);
	nt_json_close(&json, '}');
	fputs("}\n", out);
	return error ? error : 1;
}

int nt_history_write(struct nt_history *history, size_t window, FILE *out)
{
	int result;

	pthread_mutex_lock(&history->lock);
	result = history->facts ? write_window(history, window, out) : 0;
	pthread_mutex_unlock(&history->lock);
	return result;
}
