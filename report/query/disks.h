/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * disks.h - requests to block devices, by device and by who made them, for every command that shows them. Prints
 * nothing. All are of all processes and CPUs: a request is nobody's while the device works on it.
 */
#pragma once

#include "report/query/session.h"

#define NT_DISKS_TITLE "Requests to block devices"
#define NT_DISKS_NOTE                                                                                                  \
	"Times are from the issue to the device until it completed; queue_p99_ns is of the time before. Of all "       \
	"processes and CPUs."
#define NT_DISK_PAYERS_TITLE "Requests to block devices by who made them"
#define NT_DISK_PAYERS_NOTE                                                                                            \
	"Kernel threads write back pages: for the cgroup of these where the kernel tells it, else as `writeback`. A "  \
	"shared flush is for all that wait for one. What a loop device asks of its backing device is left out: it is " \
	"counted with the loop device."

#define NT_DISK_ISSUED_SQL "instr(flags, 'unissued') = 0 "
/* Rows of block_io of session ?1 that were issued in the time from ?2 to ?3. */
#define NT_DISKS_OF_SQL "(SELECT * FROM block_io WHERE session_id = ?1 AND ts >= ?2 AND ts < ?3) "
/* A row for each device and operation. What was never issued did not get to its device. */
#define NT_DISKS_SQL                                                                                                   \
	"SELECT device, op, count(*) AS requests_count, sum(bytes) AS moved_bytes, percentile(queue_ns, 0.99) AS "     \
	"queue_p99_ns, percentile(dur, 0.5) AS p50_ns, percentile(dur, 0.99) AS p99_ns, max(dur) AS longest_ns, "      \
	"sum(result <> 'ok') AS failed_count FROM " NT_DISKS_OF_SQL "WHERE " NT_DISK_ISSUED_SQL                        \
	"GROUP BY device, op ORDER BY device, moved_bytes DESC, op"
/* A row for each payer, the one that moved most first: of a cgroup its label, of a process or thread its name. */
#define NT_DISK_PAYERS_SQL                                                                                             \
	"SELECT b.payer, CASE b.payer WHEN 'task' THEN p.name WHEN 'cgroup' THEN c.label WHEN 'kernel' THEN t.name "   \
	"END AS name, CASE b.payer WHEN 'task' THEN p.pid END AS pid, count(*) AS requests_count, "                    \
	"sum(CASE b.op WHEN 'read' THEN b.bytes ELSE 0 END) AS read_bytes, "                                           \
	"sum(CASE b.op WHEN 'write' THEN b.bytes ELSE 0 END) AS written_bytes, sum(b.queue_ns) AS queue_ns, "          \
	"sum(b.dur) AS device_ns FROM " NT_DISKS_OF_SQL "AS b "                                                        \
	"LEFT JOIN thread AS t ON t.session_id = ?1 AND t.utid = b.utid "                                              \
	"LEFT JOIN process AS p ON p.session_id = ?1 AND p.upid = t.upid "                                             \
	"LEFT JOIN cgroup AS c ON c.session_id = ?1 AND c.id = b.cgroup_id WHERE b.payer <> 'loop' "                   \
	"GROUP BY b.payer, CASE b.payer WHEN 'task' THEN t.upid WHEN 'cgroup' THEN b.cgroup_id WHEN 'kernel' THEN "    \
	"t.name END ORDER BY read_bytes + written_bytes DESC, requests_count DESC, 1, 2, 3"

/* Whether the session has the probe, and its database the table. 0, or -1 and db->error. */
int nt_disks_are_known(const struct nt_part *part, bool *are_known);
