#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A usual load with all probes, as a new user would record it: redis with 20 clients, a copy with iperf3, and
# a server that closes each of its connections. The sockets have the ports that `ss` shows, connections that end are no
# drops, processes are ranked by all that they cost, and the cost of recording is the same wherever it is said.
# shellcheck source=tests/live/lib.sh disable=SC2154
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/redis.sh
source tests/redis.sh
needs_recorder
needs_netns
for command in iperf3 curl python3 ss; do
    command -v $command >/dev/null || skip "$command is not installed"
done
has_redis || skip "redis-tools is not installed"

requests=$(scaled 20)
mkdir "$work/www"
head -c 4096 /dev/zero >"$work/www/page"
redis_start || skip "redis does not start: $(tail -1 "$work/redis.log")"
"${in_b[@]}" python3 -m http.server --bind "$addr_b" --directory "$work/www" 8080 >"$work/www.log" 2>&1 &
keep $!
wait_for 60 "${in_a[@]}" curl -sf "http://$addr_b:8080/page" || skip "the server does not start"

# listed NAMESPACE_COMMAND...: the cookie and the own port of each TCP socket, as the kernel has them
listed() {
    "$@" ss -H -tnae 2>/dev/null | awk '{ port = $4; sub(/.*:/, "", port)
        if (match($0, /sk:[0-9a-f]+/)) print substr($0, RSTART + 3, RLENGTH - 3), port }'
}

recording_start "$work/look.tape" --probes all
redis_load small 20
copy_start 0 60
for ((i = 0; i < requests; i++)); do
    "${in_a[@]}" curl -sf "http://$addr_b:8080/page" >/dev/null || bad "request $i has no answer"
    # While it lasts, a connection is known to ss.
    ((i % 5)) || { listed "${in_a[@]}" && listed "${in_b[@]}"; } >>"$work/listed"
done
recording_stop
import_tape "$work/look.tape" "$work/look.db"
check_whole "$work/look.tape" "$work/look.db"

# ---- sockets ----

sort -u "$work/listed" | awk '{ printf "INSERT INTO listed VALUES (%s, %s);\n", "0x" $1, $2 }' >"$work/listed.sql"
# joined SQL: over sockets that ss has listed
joined() {
    sqlite3 "$work/look.db" "CREATE TEMP TABLE listed(cookie INTEGER, port INTEGER)" ".read $work/listed.sql" "$1"
}
at_least "sockets that ss knows too" \
    "$(joined "SELECT count(DISTINCT cookie) FROM socket JOIN listed USING (cookie)")" 40
is "sockets with another port than ss says" "$(joined "SELECT count(*) FROM socket JOIN listed USING (cookie)
    WHERE sport IS NOT port")" 0
is "TCP sockets without a port" "$(sql "$work/look.db" "SELECT count(*) FROM socket WHERE proto = 'tcp'
    AND ifnull(sport, 0) = 0")" 0
at_least "sockets of the server that closes" "$(sql "$work/look.db" "SELECT count(DISTINCT o.socket_id)
    FROM sock_op AS o JOIN thread AS t USING (session_id, utid) JOIN process AS p USING (session_id, upid)
    JOIN socket AS s ON s.session_id = o.session_id AND s.id = o.socket_id
    WHERE s.sport = 8080 AND p.name LIKE 'python%'")" "$requests"

# ---- drops ----

is "drops without bytes of TCP sockets" "$(sql "$work/look.db" "SELECT count(*) FROM skb_drop AS d JOIN socket AS s
    ON s.session_id = d.session_id AND s.id = d.socket_id WHERE d.length = 0 AND s.proto = 'tcp'")" 0
at_least "ends of connections that are left out" "$(sql "$work/look.db" "SELECT value FROM self_cost_last
    WHERE program = 'nt_kfree_skb' AND name = 'skipped_empty'")" 1

# ---- who costs most ----

"$report" summary "$work/look.tape" >"$work/summary"
"$report" summary --json "$work/look.tape" >"$work/summary.json"
# of_json FILE SQL: of its one session, `j`
of_json() { sqlite3 :memory: "WITH file AS (SELECT readfile('$1') -> '$.sessions[0]' AS j) $2"; }
# shown FILE: each process, and the least, the stated and the most that it costs, in the order of the summary
shown() {
    of_json "$1" "SELECT value ->> 'pid', value ->> 'at_least_ns', value ->> 'total_ns', value ->> 'at_most_ns'
        FROM file, json_each(j, '$.processes') WHERE value ->> 'total_ns' > 0"
}
# By the tables themselves. Two processes may cost the same, and then either may be the first.
is "each process and its figures" "$(shown "$work/summary.json" | sort)" "$(sql "$work/look.db" "WITH cost AS (
        SELECT t.upid, c.dur AS least, c.dur AS ns, c.dur AS most FROM cpu_slice AS c
            LEFT JOIN thread AS t USING (session_id, utid) WHERE c.owner IN ('send', 'recv')
        UNION ALL SELECT upid, exact_ns, spent_ns, most_ns FROM rx_cost WHERE payer = 'socket')
    SELECT p.pid, sum(least), sum(ns), sum(most) FROM cost LEFT JOIN process AS p USING (upid) GROUP BY cost.upid
    HAVING sum(ns) > 0" | tr ',' '|' | sort)"
is "processes below one that costs less" \
    "$(shown "$work/summary.json" | awk -F'|' 'NR > 1 && $3 > last { n++ } { last = $3 } END { print n + 0 }')" 0
dearest=$(shown "$work/summary.json" | sed q)
is "its first row is the first that people see" \
    "$(awk '/^Processes by/ { getline; getline; print $2; exit }' "$work/summary")" "${dearest%%|*}"
"$report" summary --json --process "${dearest%%|*}" "$work/look.tape" >"$work/one.json"
is "its figure, asked for alone" "$(shown "$work/one.json")" "$dearest"

# ---- the cost of recording ----

lasted=$(sql "$work/look.db" "SELECT dur FROM session")
for part in "" "--from $((lasted / 4))ns --to $((lasted / 4 * 3))ns" "--process ${dearest%%|*}"; do
    # shellcheck disable=SC2086
    "$report" summary --json $part "$work/look.tape" >"$work/one.json"
    # shellcheck disable=SC2086
    "$report" stages --json $part "$work/look.tape" >"$work/stages.json"
    is "what tracing took, as stages has it: ${part:-all}" \
        "$(of_json "$work/one.json" "SELECT j ->> '$.tracing.spent_ns', j ->> '$.tracing.network_ns' FROM file")" \
        "$(of_json "$work/stages.json" "SELECT (SELECT sum(value ->> 'spent_ns') FROM json_each(j, '$.stages')
            WHERE value ->> 'stage' = 'tracing'), (SELECT sum(value ->> 'spent_ns') FROM json_each(j, '$.owners'))
            FROM file")"
done
is "it is on the summary" "$(grep -c '^Tracing took .* in the network stack' "$work/summary")" 1
# shares FILE: what it says of one CPU while recording
shares() { tr -s ' \n' ' ' <"$1" | grep -oE 'while recording[^%]*%' | grep -oE '[0-9.]+ %$'; }
share=$(shares "$work/record.log")
is "the recorder's share of a CPU, in the summary" "$(shares "$work/summary")" "${share:-none}"
finish
