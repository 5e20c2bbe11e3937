// SPDX-License-Identifier: GPL-2.0-only
/* tools.c - see tools.h. */
#include "report/mcp/tools.h"

#include "report/cmd/answer.h"

#define MIB (1u << 20)

#define TOOL(command_, offered_) .command = &(command_), .offered = offered_
#define OF_WINDOW "from,to,cpu,process"

static const struct nt_mcp_tool summary = {
	.name = "summary",
	.title = "Cost of the network stack",
	.what = "CPU time of the network stack: its share of the host; by program, process, control group, socket and "
		"interface; who pays for receiving; the owners of each CPU's time; what other probes recorded. Call it "
		"first, then with from and to for a part. With `by`, one table of costs with more rows stands for the "
		"usual five.",
	.is_cut = true,
	TOOL(nt_cmd_summary, OF_WINDOW ",by,limit"),
};

static const struct nt_mcp_tool worst_windows = {
	.name = "worst_windows",
	.title = "The worst moments",
	.what = "Finds the windows of time in which the network stack, or another owner, had most CPU time. Give the "
		"times that it finds as from and to of other tools.",
	.always = "--worst=network --cells=60",
	.is_cut = true,
	TOOL(nt_cmd_timeline, OF_WINDOW ",worst,window,top,each-cpu"),
};

static const struct nt_mcp_tool stages = {
	.name = "stages",
	.title = "Stages of the stack",
	.what = "Splits the CPU time of the network stack into stages, such as driver, IP, TCP, copying, or filtering. "
		"It needs stack samples: nettape-record --probes default,stacks. Shares of time come from samples, so "
		"they have bounds.",
	.is_cut = true,
	TOOL(nt_cmd_stages, OF_WINDOW ",owner,by,limit,inclusive,other"),
};

static const struct nt_mcp_tool latency = {
	.name = "latency",
	.title = "Latency of packets",
	.what = "How late packets were at each hook on their way up to a socket, or down to a device: percentiles, and "
		"how many samples these rest on. It needs nettape-record --probes default,latency (up) or transmit "
		"(down).",
	.is_cut = true,
	TOOL(nt_cmd_latency, OF_WINDOW ",hook,by,limit,include-hol,histogram"),
};

static const struct nt_mcp_tool payers = {
	.name = "payers",
	.title = "Who pays for receiving",
	.what = "net_rx is the work of receiving packets. It runs in the time of whoever was interrupted. This tool "
		"says for whom it was: by process, and by interface, with bounds (at_least, at_most).",
	.is_cut = true,
	TOOL(nt_mcp_payers, OF_WINDOW ",limit"),
};

static const struct nt_mcp_tool info = {
	.name = "info",
	.title = "What was recorded, and what was not",
	.what = "How the tape was recorded: host, kernel, probes, losses, and all that the recording does not cover. "
		"Call it before you trust a figure. Only a tape has it, and a database does not.",
	.is_cut = true,
	TOOL(nt_cmd_info, ""),
};

static const struct nt_mcp_tool schema = {
	.name = "schema",
	.title = "Tables for SQL",
	.what = "Describes the tables and views that `query` reads: all of them in a line each; or one of them, with "
		"its columns; or a section of the manual. `cookbook` has ready queries for common questions.",
	.is_cut = true,
	TOOL(nt_mcp_schema, "of"),
};

static const struct nt_mcp_tool query = {
	.name = "query",
	.title = "SQL",
	.what = "Runs one statement of SQLite's SQL on the recording, read-only, and answers in JSON; is_cut tells "
		"that there are more rows. Ask `schema` for tables and columns first. Sum up in SQL, do not fetch "
		"rows. A "
		"condition on ts makes a query quick: WHERE ts >= A AND ts < B.",
	.memory_bytes = (size_t)NT_ANSWER_MEMORY_MIB * MIB,
	TOOL(nt_mcp_query, "sql,limit"),
};

const struct nt_mcp_tool *const nt_mcp_tools[] = {&summary, &worst_windows, &stages, &latency, &payers,
						  &info,    &schema,	    &query,  NULL};
