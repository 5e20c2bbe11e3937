/* SPDX-License-Identifier: GPL-2.0-only */
/* tools.h - the tools of `nettape-report mcp`: commands of nettape-report or its own, each with the options that it
 * offers. */
#pragma once

#include "report/mcp/tool.h"

/* The last one is NULL. */
extern const struct nt_mcp_tool *const nt_mcp_tools[];

/* Those of tools that are no command of nettape-report. */
extern const struct nt_command nt_mcp_payers, nt_mcp_schema, nt_mcp_query;
