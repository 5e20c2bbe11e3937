#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The recorder's memory does not grow with the sockets and processes that come and go. Those that stay, or come back
# after a long silence, are known, and every operation has its socket, every process its name.
# check-all: it takes a quarter of a minute
# alone: its rings are small, so that their memory is known
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

# So many that by the middle memory has stopped growing, but for a megabyte.
sockets=$(scaled 160000) every=6
# Rings for a recorder that waits for its turn; by the middle they have been used, and are in its memory.
recording_start "$work/c.tape" --ring-size 16M
"${in_a[@]}" "$tools/churn" "$sockets" "$every" >"$work/said"
recording_stop
read -r _ receiver old <"$work/said"
import_tape "$work/c.tape" "$work/c.db"
db=$work/c.db
check_whole "$work/c.tape" "$db"

of_churn="JOIN thread t USING (session_id, utid) WHERE t.name = 'churn'"
is "operations" "$(sql "$db" "SELECT count(*) FROM sock_op $of_churn")" "$((2 * (sockets + 2)))"
is "operations whose socket has no row" "$(sql "$db" "
    SELECT count(*) FROM (SELECT o.socket_id FROM sock_op o $of_churn) WHERE socket_id IS NULL
        OR socket_id NOT IN (SELECT id FROM socket WHERE family = 'inet')")" 0
is "sockets, as the kernel numbers them" "$(sql "$db" "
    SELECT count(DISTINCT cookie) FROM socket WHERE id IN (SELECT o.socket_id FROM sock_op o $of_churn)")" \
    "$((sockets + 2))"
is "operations of the one that receives" "$(sql "$db" "
    SELECT count(*) FROM sock_op o JOIN socket s ON s.id = o.socket_id WHERE s.cookie = $receiver")" "$((sockets + 2))"
is "ids of the one that receives: it is used all the time" "$(sql "$db" "
    SELECT count(*) FROM socket WHERE cookie = $receiver")" 1
is "operations of the one that was silent" "$(sql "$db" "
    SELECT count(*) FROM sock_op o JOIN socket s ON s.id = o.socket_id WHERE s.cookie = $old")" 2
at_least "packets of its flows and the others', by flows that are known" "$(sql "$db" "
    SELECT ifnull(sum(packets), 0) FROM rx_cost JOIN socket s ON s.id = socket_id WHERE s.cookie = $receiver")" \
    "$((sockets + 2))"
at_least "processes that exited" "$(sql "$db" "
    SELECT count(*) FROM process WHERE name = 'churn' AND end_ts IS NOT NULL")" "$((sockets / every))"
is "threads without a name that ran" "$(sql "$db" "
    SELECT count(*) FROM thread WHERE name IS NULL AND utid IN (SELECT utid FROM sched_slice)")" 0

# Each socket takes some 200 bytes, as long as it is known; so does its flow. A recorder that forgets none of the second
# half's grows by all of that. The memory of its rings and blocks is the same in both halves, but for chance.
grown=$(sql "$db" "
    WITH rss AS (SELECT ts, value FROM self_cost WHERE name = 'max_rss_kib'),
         span AS (SELECT min(ts) AS first, max(ts) AS last FROM rss)
    SELECT max(CASE WHEN ts <= first + (last - first) / 2 THEN value END), max(value) FROM rss, span")
echo "# largest memory by the middle of the recording, and by its end, in KiB: $grown"
at_most "growth in the second half (KiB), of a quarter of what its sockets and flows take" \
    "$((${grown#*|} - ${grown%|*}))" $((sockets / 2 * (200 + 200) / 1024 / 4))
finish
