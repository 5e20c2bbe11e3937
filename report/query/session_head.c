// SPDX-License-Identifier: GPL-2.0-only
/* session_head.c - see session_head.h. */
#include "report/query/session_head.h"

#include <string.h>

#include "report/out/output.h"
#include "report/out/prose.h"

void nt_session_head_print(FILE *out, const struct nt_session *session, const struct nt_selection *selection)
{
	char number[NT_HUMAN_MAX], selected[NT_SELECTED_MAX];
	struct nt_prose prose;

	nt_prose_begin(&prose, out);
	fputs("host ", prose.line);
	nt_print_clean(prose.line, session->host, strlen(session->host));
	if (session->start_realtime_ns)
		fprintf(prose.line, ", %s", nt_human_time(number, (uint64_t)session->start_realtime_ns));
	fprintf(prose.line, ", %s", nt_human_ns(number, (uint64_t)session->end_ts - (uint64_t)session->start_ts));
	nt_session_put_kept(prose.line, session);
	nt_session_selected(session, selection, selected, sizeof(selected));
	nt_print_clean(prose.line, selected, strlen(selected));
	nt_prose_end(&prose, "");
}
