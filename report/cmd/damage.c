// SPDX-License-Identifier: GPL-2.0-only
/*
 * damage.c - see damage.h.
 */
#include "report/cmd/damage.h"

#include "report/db/load.h"
#include "report/out/complain.h"

void nt_damage_tell(struct nt_db *db, const char *path, size_t *told)
{
	char text[NT_ERROR_MAX];
	const size_t n = nt_load_problem_at(db, *told, text), more = n - *told;

	if (n <= *told)
		return;
	if (*told)
		nt_complain("%s: reading it found more that is missing: %s", path, text);
	else if (more == 1)
		nt_complain("%s is not whole, so figures lack what is missing: %s", path, text);
	else
		nt_complain("%s is not whole, so figures lack what is missing: %s And %zu problem%s more: "
			    "nettape-report check %s",
			    path, text, more - 1, more > 2 ? "s" : "", path);
	*told = n;
}
