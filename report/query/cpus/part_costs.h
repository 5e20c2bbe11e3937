/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * part_costs.h - the sums of a part of a session, by the names of the tables that have those of the whole: cpu_cost,
 * sock_cost and rx_cost. So a command asks the same of a part and of a whole. Prints nothing.
 *
 * A tape gives the sums of a view (rows/view.h). In a database they are made of cpu_slice and sock_op, and are
 * temporary tables, which hide the database's own. A database has rx_cost in buckets. In a bucket that an edge of the
 * part cuts, the slices tell how much net_rx each CPU had within the part. That is divided in the proportion of the
 * whole bucket: with exact remainders, and with bounds. So the charges of a part add up to its net_rx in both cases.
 */
#pragma once

#include "report/query/session.h"

/*
 * From now on the tables, or rx_cost alone, have the sums of this part, and no other's. *is_estimate: what somebody
 * pays there is not known as well as in the whole. 0, or -1 and db->error.
 */
int nt_part_costs(const struct nt_part *part, bool only_charges, bool *is_estimate);
