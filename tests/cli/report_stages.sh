#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# stages and flame: by hand on a small tape; against plain SQL, to the nanosecond, on a database with many samples;
# hostile names and rows; and refusals.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
tape=$PWD/tests/golden/v1-stacks.tape

# By hand: one sample of net_rx, in nft_do_chain below ip_rcv, and its 100 us less the clock's 3; Wilson's bounds of one
# sample of one.
report 0 stages "$tape" --csv
is "one sample of each" "$out" "session_id,owner,stage,family,spent_ns,share,low_ns,high_ns,samples
1,net_rx,netfilter_prerouting,inet,97000,1,20035,97000,1
1,send,ip_receive,inet,97000,1,20035,97000,1"
report 0 stages "$tape"
has "for people" "$out" "net_rx  netfilter_prerouting  inet    97.00 us  100.00 %   20.65 %  100.00 %"
has "says how sure" "$out" "with 95 %"
# 999 a second are too few in 97 us; in 4 s there are 7.
has "so many were due" "$out" "net_rx     97.00 us, 1 samples of 0 due"
lacks "no word on so few" "$out" "Too few"
report 0 stages "$tape" --owner hardirq,net_rx,task
has "in a hard interrupt none is due" "$out" "hardirq    19.00 us, 1 samples
"
has "too few" "$out" "Too few samples: task has 7 of 3,996 due (0.18 %). Clock ticks"
has "and what that means" "$(flat "$out")" "The bounds do not cover time that was not sampled."
report 0 flame "$tape" --folded --owner net_rx,send,hardirq
is "folded" "$(sort "$work/out")" "$(sort <<'END'
hardirq;entry_SYSCALL_64_after_hwframe;ip_rcv 19000
net_rx;entry_SYSCALL_64_after_hwframe;ip_rcv;nft_do_chain 97000
send;entry_SYSCALL_64_after_hwframe;ip_rcv;[unknown] 97000
END
)"
report 0 flame "$tape" --folded --owner task --user-stacks
has "user space" "$out" "task;libc.so.6+0x91b4f;[deadbeef]+0x1234;[unknown];[no kernel stack] "
report 0 stages "$tape" --inclusive --csv
has "inclusive" "$out" "1,net_rx,ip_receive,97000,1,20035,97000,1"
report 0 stages "$tape" --owner task --other
has "stacks without a stage" "$out" "[unknown]; [unknown]"
report 0 stages "$tape" --cpu 1 --owner net_rx --csv
is "no time, no rows" "$(wc -l <"$work/out")" 1

# ---- many samples ----
command -v sqlite3 >/dev/null || without "sqlite3 is not installed, which changes databases"
command -v sqlite3 >/dev/null || finish
make_tape traffic 500
"$PLAIN" import "$work/traffic.tape" -o "$work/t.db" >/dev/null
# 16 stacks; which one a sample has, its owner and its CPU follow from its number. CPU 1 has no sample of send, and
# nobody one of net_tx.
sqlite3 "$work/t.db" "
    UPDATE cpu_slice SET owner = 'net_tx' WHERE owner = 'softirq'; UPDATE cpu_cost SET owner = 'net_tx'
        WHERE owner = 'softirq';
    INSERT INTO symbol(session_id, id, kind, name, offset) VALUES (1, 1, 'kernel', 'net_rx_action', 1), (1, 2, 'kernel',
        '__napi_poll', 1),
        (1, 3, 'kernel', 'ip_rcv.isra.0', 1), (1, 4, 'kernel', 'udp_sendmsg', 1), (1, 5, 'kernel',
            '</text><script>alert(1)</script>', 1),
        (1, 6, 'kernel', 'a;b' || char(10) || ']]>&\"' || CAST(x'ff' AS TEXT), 1), (1, 7, 'kernel', 'udpv6_rcv', 1), (1,
            8, 'kernel', 'e1000_clean', 1);
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 15) INSERT INTO stack(session_id, id,
    depth, kind, symbol_id)
        SELECT 1, i + 1, 3, 'kernel', 1 + i % 8 FROM n;
    INSERT INTO frame(session_id, stack_id, pos, symbol_id) SELECT 1, id, pos, CASE pos WHEN 0 THEN symbol_id
    WHEN 1 THEN 1 + id % 7 ELSE 1 END
        FROM stack, (SELECT 0 AS pos UNION ALL SELECT 1 UNION ALL SELECT 2) ORDER BY id, pos;
    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2999)
    INSERT INTO stack_sample(session_id, ts, cpu, utid, owner, stage, family, context, in_user, stack_id, flags)
        SELECT 1, start_ts + i * i * 333 % (end_ts - start_ts), i % 2, 1 + i % 3, CASE WHEN i % 5 < 2 THEN 'net_rx'
            WHEN i % 5 = 2 AND i % 2 = 0 THEN 'send' ELSE 'recv' END,
            CASE i * 7919 % 11 WHEN 0 THEN NULL WHEN 1 THEN 'udp_receive' WHEN 2 THEN 'other' WHEN 3 THEN 'gro'
                ELSE 'ip_receive' END,
            CASE i % 3 WHEN 0 THEN 'inet' WHEN 1 THEN 'inet6' END, 'net_rx', 0, 1 + i % 16, '' FROM n, session;"
query() { sqlite3 "$work/t.db" "$1"; }
# sums FILE COLUMNS...: spent_ns (by name) summed by these columns
sums() {
    local file=$1
    shift
    awk -F, -v keys="$*" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split(keys, key, " "); next }
        { k = ""; for (i = 1; i <= n; i++) k = k $at[key[i]] "|"; sum[k] += $at["spent_ns"] } END {
            for (k in sum) printf "%s%.0f\n", k, sum[k] }' "$file" | LC_ALL=C sort
}
owners="owner IN ('net_rx', 'net_tx', 'send', 'recv')"
report 0 stages "$work/t.db" --csv
cp "$work/out" "$work/all.csv"
is "owners' time" "$(sums "$work/all.csv" owner)" \
    "$(query "SELECT owner, sum(dur) FROM cpu_slice WHERE $owners GROUP BY owner ORDER BY owner")"
is "as the view has it" "$(sums "$work/all.csv" owner stage family)" \
    "$(query "SELECT owner, stage, ifnull(family, ''), ns FROM net_cost_stage" | LC_ALL=C sort)"
is "samples" "$(awk -F, 'NR > 1 { n += $9 } END { print n }' "$work/all.csv")" \
    "$(query "SELECT sum(samples) FROM net_cost_stage")"
holds "bounds" awk -F, 'NR > 1 && !($7 <= $5 && $5 <= $8) { exit 1 }' "$work/all.csv"
is "an owner without any sample" "$(awk -F, '$2 == "net_tx" { print $3 }' "$work/all.csv" | sort -u)" \
    "$(query "SELECT DISTINCT 'unsampled' FROM cpu_slice WHERE owner = 'net_tx'")"
has "samples without a stack" "$out" ",no_stack,"
for by in cpu process cgroup time; do
    report 0 stages "$work/t.db" --by $by --csv
    is "by $by: owners' time" "$(sums "$work/out" owner)" "$(sums "$work/all.csv" owner)"
    cp "$work/out" "$work/$by.csv"
done
is "by cpu" "$(sums "$work/cpu.csv" cpu owner)" \
    "$(query "SELECT cpu, owner, sum(dur) FROM cpu_slice WHERE $owners GROUP BY 1, 2" | LC_ALL=C sort)"
is "by cpu, as the view has it" "$(sums "$work/cpu.csv" cpu owner stage family)" \
    "$(query "SELECT cpu, owner, stage, ifnull(family, ''), sum(ns) FROM net_cost_stage_over_time WHERE $owners
        GROUP BY 1, 2, 3, 4" | LC_ALL=C sort)"
is "by time, as the view has it" "$(sums "$work/time.csv" since_start_ns owner stage family)" \
    "$(query "SELECT v.ts - start_ts, owner, stage, ifnull(family, ''), sum(ns) FROM net_cost_stage_over_time AS v
        JOIN session USING (session_id) WHERE $owners GROUP BY 1, 2, 3, 4" | LC_ALL=C sort |
        awk -F'|' -v step="$(awk -F, 'NR > 1 { print $2 }' "$work/time.csv" | sort -un | sed -n 2p)" \
            '{ k = sprintf("%.0f|", int($1 / step) * step) $2 "|" $3 "|" $4 "|"; sum[k] += $5 }
            END { for (k in sum) printf "%s%.0f\n", k, sum[k] }' | LC_ALL=C sort)"
is "sending and receiving by process" "$(awk -F, 'NR > 1 && ($3 == "send" || $3 == "recv")' "$work/process.csv" |
    awk -F, '{ sum[$3] += $6 } END { for (k in sum) printf "%s|%.0f\n", k, sum[k] }' | sort)" \
    "$(query "SELECT 'recv', sum(recv_ns) FROM net_cost_process UNION ALL SELECT 'send', sum(send_ns)
        FROM net_cost_process")"
report 0 stages "$work/t.db" --from 0.1234567 --to 0.45 --cpu 1 --csv
is "a part, to the nanosecond" "$(sums "$work/out" owner)" \
    "$(query "WITH t AS (SELECT start_ts + 123456700 AS a, start_ts + 450000000 AS z FROM session)
    SELECT owner, sum(min(ts + dur, z) - max(ts, a)) FROM cpu_slice, t WHERE cpu = 1 AND $owners AND ts < z
    AND ts + dur > a GROUP BY owner ORDER BY owner")"
who=$(query "SELECT pid FROM net_cost_process ORDER BY net_ns DESC LIMIT 1")
report 0 stages "$work/t.db" --process "$who" --csv
is "of one process" "$(sums "$work/out" owner)" \
    "$(query "SELECT owner, sum(dur) FROM cpu_slice JOIN thread USING (session_id, utid) JOIN process USING (session_id,
        upid)
    WHERE pid = $who AND $owners GROUP BY owner ORDER BY owner")"
report 0 stages "$work/t.db" --json
python_holds "JSON" -m json.tool "$work/out" /dev/null

# Sanitizers look on before this and after it, at the same commands.
checked=$REPORT
REPORT=$PLAIN

# ---- samples that were due ----
# owners: of the JSON in $work/out: owner|spent_ns|samples|samples_due|too_few
owners() {
    sqlite3 :memory: "SELECT json_extract(o.value, '\$.owner'), json_extract(o.value, '\$.spent_ns'),
        json_extract(o.value, '\$.samples'), json_extract(o.value, '\$.samples_due'),
        json_extract(o.value, '\$.too_few') FROM json_each(CAST(readfile('$work/out') AS TEXT),
            '\$.sessions[0].owners') AS o" | LC_ALL=C sort
}
# due HZ FROM TO CPU: the same by SQL, of the time between and of CPUs that are LIKE this
due() {
    query "WITH t AS (SELECT start_ts + $2 AS a, start_ts + $3 AS z FROM session),
        spent AS (SELECT owner, sum(min(ts + dur, z) - max(ts, a)) AS ns FROM cpu_slice, t WHERE cpu LIKE '$4'
            AND $owners AND ts < z AND ts + dur > a GROUP BY owner),
        had AS (SELECT owner, count(*) AS n FROM stack_sample, t WHERE cpu LIKE '$4' AND ts >= a AND ts < z
            GROUP BY owner),
        due AS (SELECT owner, ns, ifnull(n, 0) AS n, CAST(round(ns * $1 / 1e9) AS INTEGER) AS due FROM spent LEFT
        JOIN had USING (owner))
        SELECT owner, ns, n, due, due >= 100 AND n * 10 < due * 9 AND (due - n) * (due - n) > 4 * due FROM due
        ORDER BY owner"
}
has "a tape that does not tell the rate" "$out" '"rate_hz": null'
has "none is due that is known" "$out" '"samples_due": null, "too_few": false'
report 0 stages "$work/t.db"
lacks "nor to people" "$out" " due"
sqlite3 "$work/t.db" "INSERT INTO session_meta(session_id, key, value) VALUES (1, 'stacks_hz', '999'), (1, 'stacks',
    'network')"
length=$(query "SELECT end_ts - start_ts FROM session")
report 0 stages "$work/t.db" --json
is "samples that were due" "$(owners)" "$(due 999 0 "$length" %)"
was=$(owners)
for more in "--by cpu" "--by time" --inclusive; do
    # shellcheck disable=SC2086
    report 0 stages "$work/t.db" --json $more
    is "the same $more" "$(owners)" "$was"
done
report 0 stages "$work/t.db" --json --cpu 1
is "of a CPU" "$(owners)" "$(due 999 0 "$length" 1)"
report 0 stages "$work/t.db" --json --from 0.1234567 --to 0.45
is "of a part" "$(owners)" "$(due 999 123456700 450000000 %)"
report 0 stages "$work/t.db" --json --owner task
has "others were not sampled" "$out" '"samples_due": null'
sqlite3 "$work/t.db" "UPDATE session_meta SET value = '20000' WHERE key = 'stacks_hz'"
report 0 stages "$work/t.db" --json
is "too few" "$(owners)" "$(due 20000 0 "$length" %)"
few=$(owners | awk -F'|' '$5 { print $1 }')
holds "of some owner" test -n "$few"
report 0 stages "$work/t.db"
is "are named" "$(tr -s ' \n' ' ' <"$work/out" | grep -o 'Too few samples:.*)\.' | grep -oE '[a-z_]+ has' |
    awk '{ print $1 }' | LC_ALL=C sort)" "$few"
report 0 stages "$work/t.db" --to 0.001
lacks "but not where hardly any are due" "$out" "Too few"
sqlite3 "$work/t.db" "DELETE FROM session_meta WHERE key IN ('stacks_hz', 'stacks')"
"$PLAIN" import "$tape" -o "$work/small.db" >/dev/null 2>&1
for rate in "" 0 -1 1e9 100001 99999999999999999999; do
    sqlite3 "$work/small.db" "UPDATE session_meta SET value = '$rate' WHERE key = 'stacks_hz'"
    report 0 stages "$work/small.db" --json
    has "a rate that is none: $rate" "$out" '"rate_hz": null'
done

# ---- the rest of a table ----

report 0 stages "$work/t.db" --csv --by cpu
# Without one row of the table it is the one with the least time that is left out.
least=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "spent_ns") at = i; next }
    !least || $at < ns { ns = $at; least = NR - 1 } END { print least, NR - 2 }' "$work/out")
is "the other has its time" "$("$REPORT" stages "$work/t.db" --by cpu --limit "${least#* }" |
    awk '/^ *1 other / { print $3, $4 }')" \
    "$("$REPORT" stages "$work/t.db" --by cpu --limit all |
    awk -v least="${least% *}" '/^ *cpu / { on = NR } on && NR == on + least { print $5, $6 }')"

REPORT=$checked

# ---- a month ----
# What is long past is split as what is at the begin is: on day N, N of 31 samples are in the firewall. Days are 86,400
# s.
make_tape month
"$PLAIN" import "$work/month.tape" -o "$work/month.db" >/dev/null
day() { report 0 "$1" "$work/month.db" --from $(($2 * 86400)) --to $((($2 + 1) * 86400)) "${@:3}"; }
day stages 30 --csv
is "day 30" "$(tail -n +2 "$work/out" | cut -d, -f 3,5,9)" "netfilter_prerouting,95555560,86
ip_receive,4444440,4"
day flame 30 --folded
is "day 30, as stacks" "$(sort "$work/out")" "net_rx;net_rx_action;ip_rcv 4444440
net_rx;net_rx_action;ip_rcv;nft_do_chain 95555560"
report 0 stages "$work/month.db" --from $((25 * 86400 + 3600)) --to $((25 * 86400 + 3660)) --by time --csv
is "a minute of day 25, by time" "$(sums "$work/out" owner)" "net_rx|100000000"
is "counted from the begin of the recording" "$(awk -F, 'NR > 1 { print $2 }' "$work/out" | sort -u)" \
    $(((25 * 86400 + 3600) * 1000000000))
report 0 stages "$work/month.db" --csv
cp "$work/out" "$work/month.csv"
report 0 stages "$work/month.db" --by time --csv
is "the whole month, by time" "$(sums "$work/out" owner stage)" "$(sums "$work/month.csv" owner stage)"
is "the last column" "$(tail -1 "$work/out" | cut -d, -f 2)" 2500000000000000
report 0 flame "$work/month.db" -o "$work/month.svg"
has "the picture" "$(<"$work/month.svg")" "nft_do_chain"
# One stay of 24 days. 12 samples a day: a run of 30 that is full on day 20 has the last samples of one stack and the
# first of the other.
report 0 stages "$work/month.db" --owner task --csv
is "24 days in one piece" "$(sums "$work/out" owner)" "task|$((24 * 86400 * 1000000000))"
is "in both of its stacks" "$(awk -F, 'NR > 1 { print $3, $9 }' "$work/out")" "ip_receive 228
netfilter_prerouting 60"
report 0 stages "$work/month.db" --owner task --by time --csv
is "and by time" "$(sums "$work/out" owner)" "task|$((24 * 86400 * 1000000000))"
is "full columns" "$(sums "$work/out" since_start_ns | awk -F'|' '{ print $2 }' | sort -u | tr '\n' ' ')" \
    "100000000000000 13600000000000 60000000000000 "
# The view takes idle time apart as well, in which there would be sixty million buckets.
sqlite3 "$work/month.db" "DELETE FROM cpu_cost WHERE owner NOT IN ('net_rx', 'send')"
is "as the view has it" "$(sums "$work/month.csv" owner stage family)" \
    "$(sqlite3 "$work/month.db" "SELECT owner, stage, ifnull(family, ''), ns FROM net_cost_stage" | LC_ALL=C sort)"
# Three hundred years are no recording's, but any part of them may be asked for.
sqlite3 "$work/month.db" "UPDATE session SET end_ts = 9223372036854775807, dur = 9223372036854775807 - start_ts;
    UPDATE cpu_slice SET dur = 9223372036854775807 - ts WHERE owner = 'task'"
for command in stages flame; do
    report 1 $command "$work/month.db" --owner task
    has "too long" "$err" "are too long to be split at once: choose less with --from and --to."
    day $command 100000 --owner task
done
day stages 100000 --owner task --by time --csv
is "a day of year 273" "$(sums "$work/out" owner)" "task|86400000000000"

# ---- sessions without samples ----
# The view has their time as unsampled; the commands leave them out, and say so.
make_tape hand
make_tape hotplug
"$PLAIN" import "$tape" "$work/hand.tape" -o "$work/two.db" >/dev/null 2>&1
report 0 stages "$tape" --csv
cp "$work/out" "$work/one.csv"
why="session 2 has no stack samples: record with nettape-record --probes default,stacks"
report 0 stages "$work/two.db" --csv
is "what has samples is shown" "$out" "$(<"$work/one.csv")"
is "what has none is told" "$err" "nettape-report: $work/two.db: 1 of 2 sessions is left out: $why."
is "all of which the view has as unsampled" \
    "$(sqlite3 "$work/two.db" "SELECT DISTINCT stage FROM net_cost_stage WHERE session_id = 2")" unsampled
report 0 stages "$work/two.db"
has "to people" "$err" "1 of 2 sessions is left out: $why."
report 0 stages "$work/two.db" --json
is "and to programs" "$(sqlite3 :memory: "SELECT json_extract(CAST(readfile('$work/out') AS TEXT), '\$.left_out')")" \
    "[{\"session_id\":2,\"why\":\"$why\"}]"
report 0 flame "$work/two.db" --folded
has "of a flame graph as well" "$err" "1 of 2 sessions is left out: $why."
report 0 flame --diff "$work/two.db" "$tape" -o "$work/two.svg"
has "of a side" "$err" "two.db: 1 of 2 sessions is left out: $why."
report 0 stages "$tape" --json
has "none is left out" "$out" '"left_out": []'
nothing "and nothing said" "$err"
"$PLAIN" import "$tape" "$work/hand.tape" "$work/hotplug.tape" -o "$work/three.db" >/dev/null 2>&1
report 0 stages "$work/three.db"
is "of several the first" "$err" "nettape-report: $work/three.db: 2 of 3 sessions are left out: $why; and so on."

# ---- flame ----
report 0 flame "$work/t.db" --folded
is "the same time in stacks" "$(awk '{ sum += $NF } END { printf "%.0f", sum }' "$work/out")" \
    "$(query "SELECT sum(dur) FROM cpu_slice WHERE $owners")"
# As speedscope and its like read it: the number is behind the last blank, names are between semicolons.
# A name may be of any bytes: so no locale.
holds "each line is folded" env LC_ALL=C awk '!/^(net_rx|net_tx|send|recv)(;[^;]+)* [0-9]+$/ { exit 1 }' "$work/out"
has "a hostile name is one name" "$out" "a,b?]]>&\""
# By process: the same time, below a frame for each; what softirqs did is of none.
report 0 flame "$work/t.db" --folded --by process
is "the same time by process" "$(awk '{ sum += $NF } END { printf "%.0f", sum }' "$work/out")" \
    "$(query "SELECT sum(dur) FROM cpu_slice WHERE $owners")"
is "each process has its time" "$(LC_ALL=C sed -E 's/^([^;]*);(send|recv|net_rx|net_tx);.* ([0-9]+)$/\1|\2|\3/' \
    "$work/out" | awk -F'|' '{ n[$1 "|" $2] += $3 } END { for (i in n) print i "|" n[i] }' | LC_ALL=C sort)" \
    "$(query "SELECT CASE WHEN owner IN ('net_rx', 'net_tx') THEN '[of no process]' ELSE coalesce(p.name, '(unknown)')
        || ' (' || p.pid || ')' END AS who, owner, sum(dur)
        FROM cpu_slice AS c LEFT JOIN thread USING (session_id, utid) LEFT JOIN process AS p USING (session_id, upid)
        WHERE $owners GROUP BY who, owner" | LC_ALL=C sort)"
report 0 flame "$work/t.db" --folded --by cpu
is "and by CPU" "$(cut -d';' -f1 <<<"$out" | sort -u | tr '\n' ' ')" "CPU 0 CPU 1 "
report 2 flame "$work/t.db" --folded --by time
has "not by time" "$err" "--by time: choose process, payer, cgroup or cpu"
report 0 flame "$work/t.db" --owner send,net_tx -o "$work/t.svg"
host=$(query "SELECT host FROM session")
has "host, date" "$(<"$work/t.svg")" \
    ">$host, $(query "SELECT strftime('%Y-%m-%d %H:%M:%S', start_realtime_ns / 1000000000, 'unixepoch')
        FROM session") UTC, "
legend=$(grep -oE '<g class="k".*</g>' "$work/t.svg" | grep -oE '[0-9.]+ %' |
    awk '{ sum += $1 } END { printf "%.1f", sum }')
is "the legend's parts are the whole" "$legend" 100.0
lacks "no markup of a name's" "$(<"$work/t.svg")" "<script>alert"
has "but its text" "$(<"$work/t.svg")" "&lt;/text&gt;&lt;script&gt;alert(1)&lt;/script&gt;"
is "one script" "$(grep -c '<script' "$work/t.svg")" 1
is "nothing from elsewhere" "$(grep -oE '(href=|src=|url\(|@import|https?:)[^ ]*' "$work/t.svg" | sort -u)" \
    "http://www.w3.org/2000/svg\""
python_holds "well-formed XML" -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' "$work/t.svg"
sqlite3 "$work/t.db" ".backup $work/u.db"
sqlite3 "$work/u.db" "UPDATE stack_sample SET stack_id = 3 WHERE owner = 'net_rx' AND rowid % 4 > 0"
report 0 flame --diff "$work/t.db" "$work/u.db" -o "$work/diff.svg"
has "what has grown" "$(grep -o 'ip_rcv.isra.0: [^<]*points' "$work/diff.svg")" ", +"
python_holds "well-formed XML too" -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' "$work/diff.svg"
report 0 flame --diff "$work/t.db" "$work/t.db" -o "$work/same.svg"
is "no change" "$(grep -oE '[+-][0-9.]+ points' "$work/same.svg" | sort -u)" "+0.00 points"
report 1 flame "$work/t.db" -o "$work/not/there.svg"
has "names the file" "$err" "not/there.svg"
report 1 flame "$work/t.db" --owner net_rx --from 10 -o "$work/x.svg"
has "nothing in that time" "$err" "nothing of session 1 is in that time"
holds "and no file" test ! -e "$work/x.svg"

# ---- what is refused ----
for command in stages flame; do
    report 1 $command "$work/hand.tape"
    is "no samples" "${err#nettape-report: }" \
        "$work/hand.tape: it has no stack samples: record with nettape-record --probes default,stacks."
    nothing "and so no answer" "$out"
done
report 1 stages "$work/t.db" --process nobody
has "no such process" "$err" "has no process nobody"
report 1 stages "$work/t.db" --cpu 7
has "no such CPU" "$err" "has none of these CPUs"
# misused PART ARGUMENT...
misused() {
    local part=$1
    shift
    report 2 "$@"
    nothing "nothing on standard output" "$out"
    has "says what is wrong" "$err" "$part"
}
misused "--by iface: choose process" stages "$tape" --by iface
misused "--owner x: choose from hardirq" stages "$tape" --owner net_rx,x
misused "--owner takes" stages "$tape" --owner ""
misused "leave --by and --inclusive out" stages "$tape" --other --by cpu
misused "--diff takes two" flame "$tape" --diff
misused "two with --diff" flame "$tape" "$tape"
misused "leave --diff out" flame "$tape" "$tape" --diff --folded
misused "--from is not before --to" stages "$tape" --from 2 --to 1
for change in "cpu = -1" "cpu = 100000" "owner = 'nobody'"; do
    cp "$work/t.db" "$work/spoilt.db"
    sqlite3 "$work/spoilt.db" "UPDATE stack_sample SET $change WHERE rowid = 7"
    for command in stages flame; do
        report 1 $command "$work/spoilt.db"
        has "$change" "$err" "its slices or samples are not those of a recording"
    done
done
cp "$work/t.db" "$work/spoilt.db"
sqlite3 "$work/spoilt.db" "UPDATE cpu_slice SET ts = (SELECT start_ts FROM session), dur = 900000000
    WHERE rowid = (SELECT min(rowid) FROM cpu_slice WHERE owner = 'recv')"
for command in stages flame; do
    report 1 $command "$work/spoilt.db"
    has "time that passes twice" "$err" "its slices or samples are not those of a recording"
done
cp "$work/t.db" "$work/spoilt.db"
seed=$(seed)
sqlite3 "$work/spoilt.db" "UPDATE frame SET symbol_id = rowid * 1000003, stack_id = abs($(any 1) % 5);
    UPDATE stack_sample SET stack_id = $(any 2), utid = $(any 3), stage = x'ff00fe'"
for command in "stages --inclusive" "stages --other" "stages --by process" "flame --user-stacks" "flame --folded"; do
    # shellcheck disable=SC2086
    report 0 ${command%% *} "$work/spoilt.db" ${command#* }
done
finish
