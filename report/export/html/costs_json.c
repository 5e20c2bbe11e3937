// SPDX-License-Identifier: GPL-2.0-only
/*
 * costs_json.c - the owners of each CPU's time, as the page's script reads them; see parts.h.
 */
#include "report/export/html/parts.h"

static const char *owner_name(uint32_t owner)
{
	return owner < NT_OWNER_COUNT ? nt_owner_name((enum nt_owner)owner) : "other";
}

static void write_peak(struct nt_json *json, const char *name, const struct nt_html_costs *costs,
		       const struct nt_html_peak *peak, int64_t since_ts)
{
	if (!peak->is_there)
		return;
	nt_json_open(json, name, '{');
	nt_json_integer(json, "cpu", peak->cpu);
	nt_json_integer(json, "from_ns", costs->from_ts - since_ts + peak->first_step * costs->step_ns);
	nt_json_integer(json, "dur_ns", peak->steps * costs->step_ns);
	nt_json_integer(json, "net_ns", peak->net_ns);
	nt_json_close(json, '}');
}

/* "net_rx": [ns in each step], if there are any. */
static void write_owner(struct nt_json *json, const struct nt_html_costs *costs, uint32_t cpu, uint32_t owner)
{
	bool any = false;

	for (uint32_t step = 0; step < costs->steps && !any; step++)
		any = *nt_html_cell(costs, cpu, owner, step) > 0;
	if (!any)
		return;
	nt_json_open(json, owner_name(owner), '[');
	for (uint32_t step = 0; step < costs->steps; step++)
		nt_json_integer(json, NULL, *nt_html_cell(costs, cpu, owner, step));
	nt_json_close(json, ']');
}

/* The owners that the page sums up as the network. */
static void write_network(struct nt_json *json)
{
	nt_json_open(json, "network", '[');
	for (uint32_t owner = 0; owner < NT_OWNER_COUNT; owner++) {
		if (NT_NETWORK_OWNERS >> owner & 1)
			nt_json_text(json, NULL, owner_name(owner));
	}
	nt_json_close(json, ']');
}

void nt_html_costs_json(const struct nt_html_costs *costs, int64_t since_ts, struct nt_json *json)
{
	nt_json_open(json, "costs", '{');
	nt_json_integer(json, "from_ns", costs->from_ts - since_ts);
	nt_json_integer(json, "to_ns", costs->to_ts - since_ts);
	nt_json_integer(json, "step_ns", costs->step_ns);
	nt_json_integer(json, "steps", costs->steps);
	nt_json_text(json, "source", costs->from_slices ? "cpu_slice" : "cpu_cost");
	write_network(json);
	write_peak(json, "peak", costs, &costs->peak, since_ts);
	write_peak(json, "peak_all", costs, &costs->peak_all, since_ts);
	nt_json_open(json, "cpus", '[');
	for (uint32_t cpu = 0; costs->steps && cpu < costs->n_cpus; cpu++) {
		nt_json_open(json, NULL, '{');
		nt_json_integer(json, "cpu", costs->cpus[cpu]);
		nt_json_open(json, "ns", '{');
		for (uint32_t owner = 0; owner < NT_HTML_OWNERS; owner++)
			write_owner(json, costs, cpu, owner);
		nt_json_close(json, '}');
		nt_json_close(json, '}');
	}
	nt_json_close(json, ']');
	nt_json_close(json, '}');
}
