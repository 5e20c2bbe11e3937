#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# As many socket operations with as many bytes as two programs of ours say they made, by call, protocol, family
# and result: every call over TCP and UDP, and what fails, is broken off, or only looks like an operation. In every way
# in which this kernel lets operations be recorded: all count alike.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

netns=$("${in_a[@]}" stat -Lc %i /proc/self/ns/net)

# A thread is known by its last name, and the odd cases run in one thread that renames itself: of that program the
# names are not compared, but all else is.
cat >"$work/compare.sql" <<SQL
CREATE TEMP TABLE made AS
SELECT CASE WHEN thread LIKE 'o-%' THEN 'sockodd' ELSE thread END AS thread, op, syscall, family, proto, result, flag,
       min(counted) AS counted, sum(ops) AS ops, sum(bytes) AS bytes
FROM (SELECT json_extract(value, '\$.thread') AS thread, json_extract(value, '\$.op') AS op,
             json_extract(value, '\$.syscall') AS syscall, json_extract(value, '\$.family') AS family,
             json_extract(value, '\$.proto') AS proto, json_extract(value, '\$.result') AS result,
             json_extract(value, '\$.flag') AS flag, json_extract(value, '\$.counted') AS counted,
             json_extract(value, '\$.ops') AS ops, json_extract(value, '\$.bytes') AS bytes
      FROM (SELECT value FROM json_each(readfile('$work/expected-1.json'))
            UNION ALL SELECT value FROM json_each(readfile('$work/expected-2.json'))))
GROUP BY 1, 2, 3, 4, 5, 6, 7;

CREATE TEMP TABLE recorded AS
SELECT CASE WHEN t.name LIKE 'o-%' THEN 'sockodd' ELSE t.name END AS thread, o.op, o.syscall,
       ifnull(s.family, '?') AS family, ifnull(s.proto, '?') AS proto, o.result,
       CASE WHEN instr(o.flags, 'peek') THEN 'peek' WHEN instr(o.flags, 'errqueue') THEN 'errqueue' ELSE '' END AS flag,
       count(*) AS ops,
       sum(CASE WHEN instr(o.flags, 'peek') OR instr(o.flags, 'errqueue') THEN 0 ELSE ifnull(o.bytes, 0) END) AS bytes
FROM sock_op o JOIN thread t USING (session_id, utid)
LEFT JOIN socket s ON s.session_id = o.session_id AND s.id = o.socket_id
WHERE (t.name LIKE 'm-%' OR t.name LIKE 'o-%') AND ifnull(s.netns, $netns) = $netns AND o.result <> 'abandoned'
GROUP BY 1, 2, 3, 4, 5, 6, 7;

SELECT printf('kinds of operation compared: %d, operations: %d, bytes: %d', count(*), sum(ops), sum(bytes)) FROM made;
SELECT printf('DIFFERENT %s %s %s %s %s %s %s: made %d operations, %d bytes; recorded %d and %d', m.thread, m.op,
              m.syscall, m.family, m.proto, m.result, m.flag, m.ops, m.bytes, ifnull(r.ops, 0), ifnull(r.bytes, 0))
FROM made m LEFT JOIN recorded r USING (thread, op, syscall, family, proto, result, flag)
WHERE (m.counted AND ifnull(r.ops, 0) <> m.ops) OR ifnull(r.bytes, 0) <> m.bytes OR r.ops IS NULL;
SELECT printf('NOT MADE %s %s %s %s %s %s %s: recorded %d operations, %d bytes', r.thread, r.op, r.syscall, r.family,
              r.proto, r.result, r.flag, r.ops, r.bytes)
FROM recorded r LEFT JOIN made m USING (thread, op, syscall, family, proto, result, flag) WHERE m.ops IS NULL;
SQL

# left_out DB: runs at begins that the kernel did not make, or that found no place to note the begin
left_out() {
    sql "$1" "SELECT ifnull(sum(most), 0) FROM (SELECT max(value) AS most FROM self_cost
        WHERE program LIKE 'nt_enter_%' AND name IN ('misses', 'skipped_failed', 'skipped_deep') GROUP BY program,
            name)"
}

matrix() {
    local plan=$1
    recording_start "$work/m.tape" --plan "$plan"
    "${in_a[@]}" "$tools/sockmatrix" "${ROUNDS:-$(scaled 60)}" >"$work/expected-1.json"
    "${in_a[@]}" "$tools/sockodd" 5 >"$work/expected-2.json"
    recording_stop
    import_tape "$work/m.tape" "$work/m.db"
    check_whole "$work/m.tape" "$work/m.db"
    is "what info says of the plan" "$("$report" info --json "$work/m.tape" |
        grep -oE '"socket (fentry|tracepoints|events|ends)' | head -1)" "\"socket $plan"

    sqlite3 -batch -noheader -readonly "$work/m.db" <"$work/compare.sql" >"$work/compare.txt"
    head -1 "$work/compare.txt"
    sed 1d "$work/compare.txt" | head -40
    is "differences" "$(sed 1d "$work/compare.txt" | wc -l)" 0
    at_least "kinds of operation" "$(sed -n '1s/[^0-9]*\([0-9]*\),.*/\1/p' "$work/compare.txt")" 150
    if [[ $plan == ends ]]; then
        is "operations that carry a begin" "$(sql "$work/m.db" "SELECT count(*) FROM sock_op WHERE dur IS NOT NULL")" 0
        is "time in operations" "$(sql "$work/m.db" "
            SELECT count(*) FROM cpu_slice WHERE owner IN ('send', 'recv')")" 0
        succeeds "the summary says so" grep -q "When sends and receives began was not recorded" \
            <("$report" summary "$work/m.tape" | tr '\n' ' ')
        is "runs at system calls" "$(sql "$work/m.db" "
            SELECT count(*) FROM self_cost WHERE program LIKE 'nt_sys_%' AND value > 0")" 0
    elif [[ $("$report" info "$work/m.tape" | tr -s ' \n' ' ') == *"may preempt the program at the begin"* ]]
    then
        # Where the programs at begins are preempted, the kernel leaves some out: no more begins are missing than it
        # left out.
        at_most "operations that do not carry their begin, as many as runs left out" "$(sql "$work/m.db" "
            SELECT count(*) FROM sock_op JOIN thread t USING (session_id, utid)
            WHERE dur IS NULL AND result <> 'open' AND (t.name LIKE 'm-%' OR t.name LIKE 'o-%')")" \
                "$(left_out "$work/m.db")"
    else
        bar_at_least "operations that carry their begin, of 100" "$(sql "$work/m.db" "
            SELECT 100.0 * sum(dur IS NOT NULL) / count(*) FROM sock_op JOIN thread t USING (session_id, utid)
            WHERE t.name LIKE 'm-%' OR t.name LIKE 'o-%'")" 99.9
        # A begin may lie where this kernel shows a task to nobody.
        at_most "receives that do not carry their begin, of those whose descriptor another thread closed" \
            "$(sql "$work/m.db" "
            SELECT count(*) FROM sock_op JOIN thread t USING (session_id, utid) WHERE t.name = 'o-closed'
                AND dur IS NULL")" \
            "$(sql "$work/m.db" "SELECT count(*) FROM cpu_slice WHERE owner = 'uncovered'")"
    fi
    is "receives whose descriptor another thread closed meanwhile" "$(sql "$work/m.db" "
        SELECT count(*) FROM sock_op JOIN thread t USING (session_id, utid) WHERE t.name = 'o-closed'
            AND result <> 'abandoned'")" 120
    is "messages of full batches that slept before they returned, and other rows of theirs" "$(sql "$work/m.db" "
        SELECT sum(result = 'ok'), sum(result <> 'ok') FROM sock_op JOIN thread t USING (session_id, utid)
        WHERE t.name = 'o-batch'")" '40|0'
    # A batch that ends early, and is switched out before it returns, leaves such a row (docs/limits.md).
    bar_at_most "rows of what was begun and turned out to be no operation, of 100" "$(sql "$work/m.db" "
        SELECT 100.0 * sum(result = 'abandoned') / count(*) FROM sock_op JOIN thread t USING (session_id, utid)
        WHERE t.name LIKE 'm-%' OR t.name LIKE 'o-%'")" 1
}

plans=0
for plan in fentry tracepoints events ends; do
    if ! may_lose "$record" -q -o "$work/try.tape" -d 0.01 --plan "$plan" 2>"$work/refused"; then
        echo "# not by $plan: $(cat "$work/refused")"
        continue
    fi
    echo "# by $plan"
    rm -rf "$work"/{try,m}.*
    matrix "$plan"
    plans=$((plans + 1))
done
at_least "ways in which this kernel lets operations be recorded" "$plans" 1
finish
