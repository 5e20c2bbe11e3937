#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# export prometheus: accepted by Prometheus' own promtool; buckets right to the nanosecond,
# cumulative, and their quantiles those of the samples to a bucket.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null || skip "sqlite3 is not installed, which makes the database"

make_tape hand
db=$work/p.db
"$PLAIN" import "$work/hand.tape" -o "$db" >/dev/null
sqlite3 "$db" <tests/cli/latency.sql
h='host="testhost"'
report 0 export prometheus "$db" -o "$work/all.prom"
nothing "nothing on standard output" "$out"
holds "nothing else is left" test ! -e "$work/all.prom.partial"
report 0 export prometheus "$db"
same "the same on standard output" "$work/all.prom" "$work/out"
for by in iface cgroup process socket cpu port; do
    report 0 export prometheus "$db" --by $by -o "$work/$by.prom"
done

# twice FILE: how many series there are, and how many of them more than once
twice() { sed -e '/^#/d' -e 's/ [^ ]*$//' "$1" | sort | uniq -c | awk '{ wrong += $1 > 1 } END { print NR,
    wrong + 0 }'; }

# bucket LE: so many packets of udp-socket-read up to that bound
bucket() { sed -n "s/^nettape_skb_latency_seconds_bucket{$h,hook=\"$1\",le=\"$2\"} //p" "$work/all.prom"; }
# 8000 and 16384: what equals 2^14 is in that bucket, not in the next.
is "below the bound" "$(bucket tcp-socket-read 8.192e-06)" 1
is "at the bound" "$(bucket tcp-socket-read 1.6384e-05)" 2
is "all" "$(bucket tcp-socket-read +Inf)" 2
is "weights" "$(bucket tcp-start +Inf)" 360
all "series that are cumulative, and have as many at the end as counted" "$(awk '
    { name = $0; sub(/ [^ ]*$/, "", name); now = $NF + 0;
        sub(/,?le="[^"]*"\}.*/, "", name); sub(/_count\{/, "_bucket{", name); sub(/\}$/, "", name) }
    /_bucket/ { wrong += name == last && now < n; last = name; n = now }
    /_count/ { series++; wrong += name != last || n != now }
    END { print series + 0, wrong + 0 }' "$work/all.prom" "$work/socket.prom")"
is "buckets of a series" "$(grep -c 'seconds_bucket{.*hook="ip-start"' "$work/all.prom")" 36

# --cpu and --process leave the series of that label, and the drops of that CPU.
# series FILE LABEL: its histograms with this label, without it
series() { grep '^nettape_skb_latency_seconds' "$1" | if [[ $2 ]]; then grep -F ",$2" | sed "s/,$2//"; else cat; fi; }
report 0 export prometheus "$db" --cpu 1 -o "$work/cpu1.prom"
is "--cpu 1" "$(series "$work/cpu1.prom" "")" "$(series "$work/cpu.prom" 'cpu="1"')"
is "drops and retransmits of CPU 1" "$(grep -E '^nettape_(skb_drops|tcp_retrans)' "$work/cpu1.prom")" \
    "nettape_skb_drops_total{$h,"'reason="QUEUE \"FULL\""} 1'
label=$(sed -n 's/^nettape.*_count{.*,\(process="web .*"\)} .*/\1/p' "$work/process.prom")
report 0 export prometheus "$db" --process web -o "$work/web.prom"
is "--process web" "$(series "$work/web.prom" "")" "$(series "$work/process.prom" "$label")"
nothing "uncovered time of a process" "$(grep -E '^nettape_cpu.*uncovered' "$work/web.prom")"
is "rejected are those of web" \
    "$(grep -E 'rejected.*(future|unknown|head_of_line)"' "$work/web.prom" | grep -v ' 0$')" \
    "$(grep -E 'rejected.*tcp-socket-read.*(future|unknown|head_of_line)"' "$work/all.prom")"
is "drops and retransmits are those of all" "$(grep -E '^nettape_(skb_drops|tcp_retrans)' "$work/web.prom")" \
    "$(grep -E '^nettape_(skb_drops|tcp_retrans)' "$work/all.prom")"
report 1 export prometheus "$db" --process nobody
has "there is no such process" "$err" "session 1 has no process nobody"

# The bucket in which a quantile is, and the exact one. (Exactly what histogram_quantile() starts from.)
quantile_bucket() {
    awk -v q="$2" -v hook="hook=\"$1\"" '/seconds_bucket{/ && index($0, hook) { le[++n] = $1; count[n] = $2 }
        END { for (i = 1; i <= n; i++) if (count[i] >= q * count[n]) { sub(/.*le="/, "", le[i]); sub(/".*/, "", le[i]);
            sub(/.*le="/, "", le[i - 1]); sub(/".*/, "", le[i - 1]); print le[i - 1], le[i]; exit } }' "$work/all.prom"
}
# The same asked of Prometheus, if it is there: its quantile is in that bucket.
{
    printf 'evaluation_interval: 1m\ntests:\n  - interval: 1m\n    input_series:\n'
    sed -n "s/^\(nettape_skb_latency_seconds_bucket{.*}\) \(.*\)/      - {series: '\1', values: '\2'}/p" \
        "$work/all.prom"
    printf '    promql_expr_test:\n'
} >"$work/rules.yml"
for hook in ip-start tcp-start udp-start udp-socket-read tcp-socket-read; do
    for q in 0.1 0.5 0.9 0.99 0.999; do
        read -r low high < <(quantile_bucket $hook $q)
        exact=$(sql "$db" "SELECT percentile(latency_ns, $q, weight) FROM skb_latency WHERE hook = '$hook'
            AND flags NOT LIKE '%hol%'")
        holds "$hook: quantile $q, $exact ns, is above $low and at most $high s" \
            awk -v e="$exact" -v l="$low" -v h="$high" 'BEGIN { exit !(e > l * 1e9 + 0.001 && e <= h * 1e9 + 0.001) }'
        quantile="histogram_quantile($q, nettape_skb_latency_seconds_bucket{hook=\"$hook\"})"
        between="($quantile > bool $low) * ($quantile <= bool $high)"
        printf "      - {expr: '%s', exp_samples: [{labels: '{%s,hook=\"%s\"}', value: 1}]}\n" \
            "$between" "$h" "$hook" >>"$work/rules.yml"
    done
done

# A part of the time: of everything, but for what only the programs counted, and that is said.
report 0 export prometheus "$db" --from 150us --to 250us
has "samples of the time" "$out" "nettape_skb_latency_seconds_count{$h,"'hook="udp-start"} 10'
is "drops of the time" "$(sed -n "s/^nettape_skb_drops_total{$h,/{/p" <<<"$out")" '{reason="NO_SOCKET"} 1'
lacks "retransmits of the time" "$out" "nettape_tcp_retransmits_total{"
has "counts of the whole" "$out" "rejected_total{$h,"'hook="ip-start",reason="no_stamp"} 14'
has "as the help says" "$out" "no_stamp, transmit_stamp, filter and lost are of the whole recording"
# One packet was dropped at 100, 200 and 300 us each.
report 0 export prometheus "$db" --from 200us --to 300us
is "the begin of a time is part of it, its end is not" "$(sed -n "s/^nettape_skb_drops_total{$h,/{/p" <<<"$out")" \
    '{reason="NO_SOCKET"} 1'
report 0 export prometheus "$db" --from 200us --to 300001ns
is "a nanosecond more" "$(sed -n "s/^nettape_skb_drops_total{$h,/{/p" <<<"$out" | sort)" \
    $'{reason="NO_SOCKET"} 1\n{reason="QUEUE \\"FULL\\""} 1'

# ---- costs: of any recording, and they add up ----

# ns FILE METRIC TEXT: the sum of the series with this text among their labels
ns() { awk -v name="$2{" -v text="$3" 'index($0, name) == 1 && index($0, text) { sum += $NF }
    END { printf("%.0f\n", sum * 1e9) }' "$1"; }
make_tape traffic 2
for tape in "$work/traffic.tape" tests/golden/v1-charges.tape; do
    costs=$work/costs.db
    rm -f "$costs" "$work/sums.db"
    "$PLAIN" import "$tape" -o "$costs" >/dev/null
    "$PLAIN" import "$tape" -o "$work/sums.db" --sums >/dev/null
    report 0 export prometheus "$tape" -o "$work/tape.prom"
    report 0 export prometheus "$costs" -o "$work/db.prom"
    same "a database gives the same" "$work/tape.prom" "$work/db.prom"
    report 0 export prometheus "$work/sums.db" -o "$work/sums.prom"
    is "and one of sums, but for names" "$(grep -E '^nettape_(cpu|net_rx|socket|record)' "$work/sums.prom")" \
        "$(grep -E '^nettape_(cpu|net_rx|socket|record)' "$work/tape.prom")"
    is "owners of each CPU" "$(sed -n 's/^nettape_cpu_seconds_total{.*cpu="\(.*\)",owner="\(.*\)"} /\1 \2 /p' \
        "$work/tape.prom" | awk '{ printf("%s,%s,%.0f\n", $1, $2, $3 * 1e9) }')" \
        "$(sql "$costs" "SELECT cpu, owner, sum(ns) FROM (SELECT cpu, owner, ns FROM net_cost_cpu
            UNION ALL SELECT DISTINCT cpu, 'uncovered', 0 FROM net_cost_cpu) GROUP BY 1, 2 ORDER BY 1, 2")"
    is "operations" "$(sed -n 's/^nettape_socket_.*op="\(.*\)"} /\1,/p' "$work/tape.prom" | sort)" \
        "$(sql "$costs" 'SELECT op, count(*) FROM sock_op GROUP BY 1 UNION ALL SELECT op, sum(result <> "ok")
            FROM sock_op GROUP BY 1 UNION ALL SELECT op, sum(bytes) FROM sock_cost GROUP BY 1' | sort)"
    report 0 export prometheus "$tape" --limit 1 -o "$work/few.prom"
    for file in tape few; do
        for group in program cgroup; do
            for owner in send recv; do
                is "$file: $owner of each $group" \
                    "$(ns "$work/$file.prom" nettape_${group}_seconds_total "\"$owner\"")" \
                    "$(ns "$work/tape.prom" nettape_cpu_seconds_total "\"$owner\"")"
            done
        done
        for group in program cgroup port; do
            is "$file: what sockets pay of net_rx, by $group" \
                "$(ns "$work/$file.prom" nettape_${group}_seconds_total '"net_rx"')" \
                "$(grep -q 'payer="socket"' "$work/tape.prom" &&
                    ns "$work/tape.prom" nettape_net_rx_seconds_total '"socket"' || echo 0)"
        done
        is "$file: sends of each port" "$(ns "$work/$file.prom" nettape_port_seconds_total '"send"')" \
            "$(sql "$costs" 'SELECT sum(cpu_ns) FROM sock_cost WHERE op = "send"')"
    done
    is "their bounds" "$(sed -n 's/^nettape_net_rx_[a-z]*_*seconds_total{.*payer="\(.*\)"} /\1 /p' "$work/tape.prom" |
        awk '{ printf("%s,%.0f\n", $1, $2 * 1e9) }' | sort)" "$(sql "$costs" "SELECT payer, sum(spent_ns) FROM rx_cost
            GROUP BY 1 UNION ALL SELECT payer, sum(exact_ns) FROM rx_cost GROUP BY 1
            UNION ALL SELECT payer, sum(most_ns) FROM rx_cost GROUP BY 1" | sort)"
    for group in program cgroup port; do
        for bound in low,exact_ns high,most_ns; do
            is "${bound%,*} of each $group" \
                "$(ns "$work/tape.prom" "nettape_${group}_net_rx_${bound%,*}_seconds_total" "")" \
                "$(sql "$costs" "SELECT coalesce(sum(${bound#*,}), 0) FROM rx_cost WHERE payer = 'socket'")"
        done
    done
    is "all payers" "$(ns "$work/tape.prom" nettape_net_rx_seconds_total "")" \
        "$(ns "$work/tape.prom" nettape_cpu_seconds_total '"net_rx"')"
    is "the dearest program, and the others" "$(sed -n 's/^nettape_program_operations.*program="\(.*\)"} .*/\1/p' \
        "$work/few.prom")" "$("$PLAIN" summary "$tape" --by program --csv |
            sed -n 's/^[0-9]*,programs,1,program,//p')
other"
    all "no series twice" "$(twice "$work/tape.prom")"
    # Followed, though it has its end: the same, but that payers and names are those that were known on the way.
    rm -f "$work/live.prom"
    report 0 export prometheus "$tape" --follow 1 -o "$work/live.prom"
    is "followed" "$(grep -E '^nettape_(cpu|socket|record|complete|sessions)' "$work/live.prom")" \
        "$(grep -E '^nettape_(cpu|socket|record|complete|sessions)' "$work/tape.prom")"
    for metric in net_rx program; do
        is "$metric in sum" "$(ns "$work/live.prom" nettape_${metric}_seconds_total "")" \
            "$(ns "$work/tape.prom" nettape_${metric}_seconds_total "")"
    done
    report 0 export prometheus "$tape" --follow 1 --limit 1 -o "$work/live.prom"
    all "at most one name, and the others" "$(sed -n 's/^nettape_program_operations.*program="\(.*\)"} .*/\1/p' \
        "$work/live.prom" | awk '{ names += $1 != "other" } END { print NR, (names > 1) }')"
done
# A program that is called so belongs to the others.
sqlite3 "$costs" "UPDATE process SET name = 'other' WHERE name = (SELECT name FROM process WHERE name NOTNULL LIMIT 1)"
report 0 export prometheus "$costs" --limit 1 -o "$work/others.prom"
all "no series twice" "$(twice "$work/others.prom")"
is "nothing is lost" "$(ns "$work/others.prom" nettape_program_seconds_total '"send"')" \
    "$(ns "$work/tape.prom" nettape_cpu_seconds_total '"send"')"

# However many there are of whatever strangers and users can make, series are few, and nothing is lost.
sqlite3 "$costs" "WITH RECURSIVE n(i) AS (SELECT 1000001 UNION ALL SELECT i + 1 FROM n WHERE i < 1050000)
    INSERT INTO socket(session_id, id, family, type, proto, src, sport, dst, dport, netns, upid)
        SELECT 1, i, 'inet', 'stream', 'tcp', '10.0.0.1', 1000 + i % 60000, '10.0.0.2', 1000 + i % 61, 1, i FROM n;
    INSERT INTO process(session_id, upid, pid, name, cgroup_id) SELECT 1, id, id, 'p' || id, id FROM socket
        WHERE id > 1000000;
    INSERT INTO thread(session_id, utid, tid, upid, name) SELECT 1, upid, upid, upid, name FROM process
        WHERE upid > 1000000;
    INSERT INTO cgroup(session_id, id, path, label) SELECT 1, upid, '/' || name, '/' || name FROM process
        WHERE upid > 1000000;
    INSERT INTO sock_cost SELECT 1, start_ts, 100000000, id, 'send', id, 1, 0, 0, 0, 3, 7 FROM socket, session
        WHERE id > 1000000"
report 0 export prometheus "$costs" -o "$work/many.prom"
holds "few series of 50,000 connections, programs and cgroups" test "$(grep -vc '^#' "$work/many.prom")" -lt 1000
for group in program cgroup port; do
    is "bytes of every $group" "$(sed -n "s/^nettape_${group}_bytes_total{.*op=\"send\"} //p" "$work/many.prom" |
        awk '{ sum += $1 } END { print sum }')" "$(sql "$costs" "SELECT sum(bytes) FROM sock_cost WHERE op = 'send'")"
done

# Of a part.
read -r from to until < <(sql "$costs" "SELECT dur / 4, dur / 2, start_realtime_ns + dur / 2 FROM session" | tr , ' ')
report 0 export prometheus "$tape" --from "${from}ns" --to "${to}ns" -o "$work/part.prom"
is "each CPU has that time" "$(ns "$work/part.prom" nettape_cpu_seconds_total 'cpu="0"')" $((to - from))
is "up to its end" "$(sed -n 's/^nettape_complete_until_seconds{.*} //p' "$work/part.prom" |
    awk -v until="$until" '{ print $1 * 1e9 - until < 1e3 && until - $1 * 1e9 < 1e3 }')" 1
is "nothing that is of the whole" "$(grep -cE '^nettape_record(er|s)_' "$work/part.prom")" 0
report 1 export prometheus "$tape" --cpu 63
has "another CPU" "$err" ": session 1 has none of these CPUs: it had 2."
report 1 export prometheus "$tape" --from 1h
has "another time" "$err" ": nothing of session 1 is in that time: it began at"
report 0 import "$tape" -o "$work/few.db" --tables cpu_slice,sock_op,rx_cost
report 0 export prometheus "$tape" --to "${to}ns" -o "$work/part.prom"
report 0 export prometheus "$work/few.db" --to "${to}ns"
# costs: series that are not 0
costs() { grep -E '^nettape_(cpu|net_rx|socket|program|cgroup|port)_' | grep -v ' 0$'; }
is "the costs of a part, of the tables that they are made of" "$(costs <<<"$out")" "$(costs <"$work/part.prom")"
rm "$work/few.db"
report 0 import "$tape" -o "$work/few.db" --tables cpu_cost
report 0 export prometheus "$work/few.db"
has "what there is" "$out" "nettape_cpu_seconds_total{"
has "what there is not" "$err" "no metrics of them are written: self_cost, record_count, sock_cost, rx_cost."

# Recordings of several hosts are told apart, those of one host are added up.
make_tape loss
"$PLAIN" import --append tests/golden/v1-samples.tape "$work/loss.tape" -o "$db" >/dev/null
report 0 export prometheus "$db" -o "$work/several.prom"
is "both hosts" "$(sed -n 's/^nettape_skb_latency_seconds_count{host="\([a-z.]*\)",hook="ip-start"}.*/\1/p' \
    "$work/several.prom")" $'testhost\ngolden.example'
is "one heading" "$(grep -c '^# TYPE nettape_skb_latency_seconds ' "$work/several.prom")" 1
is "recordings of each" "$(sed -n 's/^nettape_sessions{host=\(.*\)} /\1 /p' "$work/several.prom")" \
    $'"testhost" 2\n"golden.example" 1'
is "the last of each" "$(sed -n 's/^nettape_session_info.*session="\([^"]*\)".*/\1/p' "$work/several.prom" | sort)" \
    "$(sql "$db" "SELECT uuid FROM session WHERE session_id IN (2, 3) ORDER BY 1")"
all "no series twice" "$(twice "$work/several.prom")"
# Names are chosen for a host, not for a recording: `-`, and one of two processes.
rm -f "$work/twice.db"
"$PLAIN" import tests/golden/v1-samples.tape -o "$work/twice.db" >/dev/null
for table in session session_meta process thread socket cgroup self_cost record_count skb_latency; do
    sqlite3 "$work/twice.db" "CREATE TEMP TABLE t AS SELECT * FROM $table; UPDATE t SET session_id = 2;
        INSERT INTO $table SELECT * FROM t"
done
sqlite3 "$work/twice.db" "UPDATE session SET uuid = replace(uuid, substr(uuid, 1, 1), 'f'),
        start_realtime_ns = start_realtime_ns - 1000000000 WHERE session_id = 2;
    UPDATE process SET name = name || '2', pid = pid + 1 WHERE session_id = 2"
report 0 export prometheus "$work/twice.db" --by process --limit all -o "$work/names.prom"
report 0 export prometheus "$work/twice.db" --by process --limit 2 -o "$work/name.prom"
# packets FILE: those of tcp-socket-read, by process
packets() { sed -n 's/^nettape_skb_latency_seconds_count{.*"udp-socket-read",process="\(.*\)"} /\1 /p' "$1" | sort; }
is "one name, and others" "$(packets "$work/name.prom" | wc -l)" 2
is "of as many packets" "$(packets "$work/name.prom" | awk '{ sum += $NF } END { print sum }')" \
    "$(packets "$work/names.prom" | awk '{ sum += $NF } END { print sum }')"
is "the last recording is the one that began last" \
    "$(sed -n 's/^nettape_session_info.*session="\([^"]*\)".*/\1/p' "$work/names.prom")" \
    "$(sql "$work/twice.db" "SELECT uuid FROM session WHERE session_id = 1")"

if tool=$(bash tests/prometheus.sh promtool 2>"$work/why"); then
    holds "Prometheus' own quantiles are in those buckets" "$tool" test rules "$work/rules.yml"
    for file in all several iface cgroup process socket cpu port; do
        if "$tool" check metrics <"$work/$file.prom" >"$work/promtool" 2>&1 && [[ ! -s $work/promtool ]]; then
            ok "promtool accepts $file.prom"; else
            bad "promtool does not accept $file.prom: $(<"$work/promtool")"
        fi
    done
else
    without "not checked with promtool: $(<"$work/why")"
fi

# Names that would be shown alike are one: of an interface that is called like what belongs to none, and of such as are
# no UTF-8. (U+FFFD by its bytes: where the locale is not UTF-8, the shell does not know it by its number.)
cp "$db" "$work/names.db"
sqlite3 "$work/names.db" "DELETE FROM net_device; INSERT INTO net_device VALUES (1, 1, '-', 4026531840, 1),
    (1, 2, CAST(x'61ff' AS TEXT), 4026531840, 2), (1, 3, CAST(x'61ff62' AS TEXT), 4026531840, 3), (1, 4,
        CAST(x'61fe' AS TEXT), 4026531840, 4);
    UPDATE skb_latency SET device_id = (CAST(stamp_ns / 10000 AS INTEGER) % 5) WHERE hook = 'udp-start'
        AND session_id = 1;
    INSERT INTO skb_drop(session_id, ts, cpu, reason, location, length) VALUES (1, 1000000100000, 0,
    CAST(x'61ff' AS TEXT), 'x', 1),
    (1, 1000000100000, 0, CAST(x'61fe' AS TEXT), 'x', 1)"
report 0 export prometheus "$work/names.db" --hook udp-start --by iface
all "no series twice" "$(twice "$work/out")"
is "names that are one" \
    "$(sed -n "s/^nettape_skb_latency_seconds_count{$h,.*iface=\"\([^\"]*\)\"} /\1 /p" <<<"$out" | sort)" \
    $'- 40\na\xef\xbf\xbd 40\na\xef\xbf\xbd\x62 20'

has "reasons that are one" "$out" "nettape_skb_drops_total{$h,"$'reason="a\xef\xbf\xbd"} 2'

# A tape that nobody records any more has its end where it is.
make_tape partial
report 0 export prometheus "$work/partial.tape" --follow 1 -o "$work/live.prom"
has "that is a problem" "$err" "partial.tape: The session's end is not on the tape: it ends with the last record."
has "of the metrics too" "$(<"$work/live.prom")" "nettape_recording_whole{$h} 0"
report 1 export prometheus "$db" --follow 1 -o "$work/none.prom"
has "no tape" "$err" "p.db' is a file: give the directory that nettape-record writes."
report 1 export prometheus "$work/nowhere.tape" --follow 1 -o "$work/none.prom"
has "no such tape" "$err" "nowhere.tape' cannot be read: No such file or directory."
mkdir "$work/empty.tape"
report 1 export prometheus "$work/empty.tape" --follow 1 -o "$work/none.prom"
has "nothing in it" "$err" "empty.tape' is an empty directory"
holds "no file was made" test ! -e "$work/none.prom"
report 2 export prometheus "$work/partial.tape" --follow 1
has "no file" "$err" "--follow writes a file again and again: name it with -o"
report 2 export prometheus "$work/partial.tape" --follow 1 --cpu 0 -o "$work/none.prom"
has "a part" "$err" "only -o and --limit go with it"
report 2 export prometheus "$work/partial.tape" --follow 0 -o "$work/none.prom"
has "not so often" "$err" "a number of seconds from 1 to 86400"

# Misuse, and nothing to export.
cp "$costs" "$work/none.db"
sqlite3 "$work/none.db" "DELETE FROM session"
report 1 export prometheus "$work/none.db"
has "no session" "$err" "none.db: there is no session in it: import a tape first."
report 2 export flamegraph "$db"
has "the formats there are" "$err" "'export' needs a format: html, perfetto or prometheus"
report 2 export prometheus
has "something is missing" "$err" "'export prometheus' needs a tape or a database"
report 2 export prometheus "$db" --histogram
has "no such option" "$err" "option '--histogram' is not for 'export prometheus'; it is for latency."
report 1 export prometheus "$db" -o "$work/no/such.prom"
has "a file that cannot be made" "$err" "cannot be made: No such file"
if [[ -e /dev/full ]]; then
    report 1 export prometheus "$db" -o /dev/full
    has "a disk that is full" "$err" "/dev/full cannot be written"
    holds "what is no file is not replaced" test -c /dev/full
fi
finish
