#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# latency: figures that can be computed by hand (tests/cli/latency.sql has the samples), and that they agree with SQL.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null || skip "sqlite3 is not installed, which makes the database"

make_tape hand
db=$work/l.db
"$PLAIN" import "$work/hand.tape" -o "$db" >/dev/null
sqlite3 "$db" <tests/cli/latency.sql

# figures HOOK ARGUMENT...: packets, samples, min, mean, p50, p99, max of the one line
figures() {
    local hook=$1
    shift
    "$REPORT" latency "$db" --hook "$hook" --csv "$@" | awk -F, 'NR == 2 { print $3, $4, $5, $6, $7, $9, $11 }'
}
is "by hand: at ip-start 1000 to 1099 ns" "$(figures ip-start)" "100 100 1000 1050 1049 1098 1099"
is "by hand: a late segment counts apart" "$(figures tcp-socket-read)" "2 2 8000 12192 8000 16384 16384"
is "by hand: and with --include-hol" "$(figures tcp-socket-read --include-hol)" "3 3 8000 141461 16384 400000 400000"
is "by hand: packets are the sum of weights" "$(figures tcp-start)" "360 80 500 907 890 1290 1290"
is "from and to" "$(figures udp-start --from 100us --to 200us)" "10 10 2000 2000 2000 2000 2000"
is "the same with the time of day" "$(figures udp-start --from 2023-11-14T22:13:20.0001Z --to \
    2023-11-14T22:13:20.0002Z)" \
    "10 10 2000 2000 2000 2000 2000"
is "the end is not part of it" "$(figures udp-start --from 2us --to 12us)" "1 1 2000 2000 2000 2000 2000"
is "between, by hand: 1000 + 100 i ns in the socket" \
    "$("$REPORT" latency "$db" --between udp-socket-enqueued udp-socket-read --csv |
    awk -F, 'NR == 2 { print $2, $3, $5, $11 }')" \
    "udp-socket-enqueued to udp-socket-read 100 1000 10900"
# alone ARGUMENT...: how many samples of tcp-start and tcp-socket-read have no other
alone() {
    "$REPORT" latency "$db" --between tcp-start tcp-socket-read "$@" | awk '/^Not in these figures/ { print $5, $10 }'
}
is "alone, by hand: one each 12.5 us, and all that were read" "$(alone)" "80 5"
is "of these, what is in the time that was chosen" "$(alone --from 500us) $(alone --from 650us) $(alone --to 650us)" \
    "40 5 28 3 52 2"
is "nothing in that time" "$("$REPORT" latency "$db" --from 5s | sed -n '/^How late/,/^$/p')" "How late packets were
none"

# The late segment is in no table of figures of two hooks, and so it is in the sentence below; or in the table, if that
# is asked for.
cp "$db" "$work/late.db"
sqlite3 "$work/late.db" "INSERT INTO skb_latency(session_id, ts, cpu, hook, latency_ns, stamp_ns, socket_id, length,
    queue_len, weight, flags)
    VALUES (1, 1000000650000, 0, 'tcp-socket-enqueued', 350000, 1700000000000300000, 1, 60, 0, 1, '')"
# late ARGUMENT...: packets of the table, and pairs of the sentence
late() {
    "$REPORT" latency "$work/late.db" --between tcp-socket-enqueued tcp-socket-read "$@" |
        awk '/^tcp/ { n = $4 } /^Not in/ { on = 1 } /^$/ { on = 0 } on { text = text " " $0 }
            END { match(text, /[0-9]+ pairs/); print n, substr(text, RSTART, RLENGTH) }'
}
is "a late segment between two hooks" "$(late) $(late --include-hol)" "0 1 pairs 1 0 pairs"

# How far the number of packets may be off, by hand: 80 samples, whose w (w - 1) have the mean 21; 80 of 82 that were
# drawn are there; two CPUs. error_of ARGUMENT...: of the one line
error_of() {
    "$REPORT" latency "$work/late.db" --csv "$@" |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "packets_error") at = i } NR == 2 { print $at }'
}
is "two ends that nobody counts" "$(error_of --hook tcp-start)" 10 # of (2/82 * 80 + (80/82)^2 * 6/2) * 21
is "two ends and two beginnings" "$(error_of --hook tcp-start --from 500us)" 8 # of (2/82 * 40 + (80/82)^2 * 4/2) * 21
is "one CPU of its own" "$(error_of --hook tcp-start --by cpu)" 8 # of (2/82 * 80 + (80/82)^2 * 2/2) * 21
sqlite3 "$work/late.db" "INSERT INTO self_cost(session_id, ts, program, name, value) VALUES
    (1, 1000001000000, 'nt_latency_tcp_start__tcp_v6_rcv', 'skipped_sample', 5);
    UPDATE skb_latency SET weight = 3 WHERE hook IN ('udp-start', 'udp-socket-read')"
is "two programs on each" "$(error_of --hook tcp-start)" 16 # of (2/82 * 80 + (80/82)^2 * 20/2) * 21
is "pairs of samples" "$(error_of --between udp-start udp-socket-read)" 85 # of 100 * 9 * 8

# --cpu and --process show the same as the rows of --by: all figures and their errors. group COLUMN VALUE: those rows,
# without that column.
group() { awk -F, -v OFS=, -v value="$1" 'NR == 1 || $3 == value { $3 = ""; print }' | sed 's/,,/,/'; }
for file in "$db" "$work/late.db"; do
    for cpu in 0 1; do
        is "--cpu $cpu of $(basename "$file")" "$("$REPORT" latency "$file" --csv --cpu $cpu | sed 1d)" \
            "$("$REPORT" latency "$file" --csv --by cpu | group $cpu | sed 1d)"
        is "--cpu $cpu between two hooks" \
            "$("$REPORT" latency "$file" --csv --cpu $cpu --between udp-start udp-socket-read | sed 1d)" \
            "$("$REPORT" latency "$file" --csv --by cpu --between udp-start udp-socket-read | group $cpu | sed 1d)"
    done
    while read -r label; do
        pid=${label##*(}
        is "--process ${pid%)} of $(basename "$file")" \
            "$("$REPORT" latency "$file" --csv --process "${pid%)}" | sed 1d)" \
            "$("$REPORT" latency "$file" --csv --by process | group "$label" | sed 1d)"
        is "--process ${label% (*}, which is its name, of a CPU" \
            "$("$REPORT" latency "$file" --csv --process "${label% (*}" --by cpu --from 100us | sed 1d)" \
            "$("$REPORT" latency "$file" --csv --process "${pid%)}" --by cpu --from 100us | sed 1d)"
    done < <("$REPORT" latency "$file" --csv --by process | awk -F, '$3 ~ /\(/ { print $3 }' | sort -u)
done
is "the CPUs together have all packets" \
    "$("$REPORT" latency "$db" --csv --cpu 0-1 | cut -d, -f1-16)" "$("$REPORT" latency "$db" --csv | cut -d, -f1-16)"
is "a sample without its other counts where it was taken itself" \
    "$(alone --cpu 0) $(alone --cpu 1) $(alone --process web)" "0 5 80 0 0 5"
has "the selection is said" "$("$REPORT" latency "$db" --cpu 0,3-4 --process web --from 1us | head -2 | xargs)" \
    ", from 1e-06 s, CPU 0,3-4, process web"
report 0 latency "$db" --process web --svg "$work/web.svg"
has "in the picture, too" "$(cat "$work/web.svg")" ", process web</text>"
report 1 latency "$db" --process nobody
has "there is no such process" "$err" "has no process nobody"

# The command agrees with the SQL function.
is "quantiles as by SQL" "$("$REPORT" latency "$db" --csv | awk -F, 'NR > 1 { print $2, $7, $8, $9, $10 }' | sort)" \
    "$(sql "$db" "SELECT hook || ' ' || percentile(latency_ns, 0.5, weight) || ' ' || percentile(latency_ns, 0.9,
        weight) || ' ' ||
        percentile(latency_ns, 0.99, weight) || ' ' || percentile(latency_ns, 0.999, weight) AS line
        FROM skb_latency WHERE flags NOT LIKE '%hol%' GROUP BY hook" | sort)"
is "what was left out is as in the view" \
    "$("$REPORT" latency "$db" | tr -d , | awk '/^Packets left out/ { on = 1 }
        on && $3 ~ /^[0-9]+$/ { print $1, $3, $4, $5, $6, $7 }' | sort)" \
    "$(sql "$db" "SELECT hook || ' ' || no_stamp || ' ' || transmit_stamp || ' ' || skipped_filter || ' '
        || skipped_sample || ' ' || lost AS line
        FROM latency_hook WHERE no_stamp IS NOT NULL" | sort)"
is "the histogram holds each packet once" \
    "$("$REPORT" latency "$db" --csv --histogram --buckets 3 | awk -F, 'NR > 1 { n += $NF } END { print n }')" 762
is "so does the heat map" "$("$REPORT" latency "$db" --csv --over-time |
    awk -F, 'NR > 1 { n += $NF } END { print n }')" 762
cp "$db" "$work/few.db"
sqlite3 "$work/few.db" "UPDATE skb_latency SET flags = 'hol' WHERE hook = 'ip-start'; DELETE FROM skb_latency
    WHERE hook = 'udp-start' AND ts > 1000000000000 + 640000"
# Of udp-start there are 64, as many as there is memory for: ASan sees who looks at one more.
report 0 latency "$work/few.db" --histogram
is "a hook without figures has no histogram, and hides no other" \
    "$(grep -xE '[a-z]+-(start|socket-read|socket-enqueued)' <<<"$out" | xargs)" \
    "tcp-start udp-start udp-socket-enqueued tcp-socket-read udp-socket-read"

# The picture: XML, one panel for each hook, the one with the most packets first, and the numbers of each cell.
report 0 latency "$db" --svg "$work/l.svg"
python_holds "the picture is XML" -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$work/l.svg"
is "panels" "$(grep -c '(session 1)</text>' "$work/l.svg")" 6
is "and what was recorded, above each" \
    "$(grep -c ">$(sqlite3 "$db" "SELECT host FROM session"), $(sqlite3 "$db" "SELECT strftime('%Y-%m-%d %H:%M:%S',
        start_realtime_ns / 1000000000, 'unixepoch') FROM session") UTC, .*</text>" "$work/l.svg")" 6
# cells PICTURE: the packets of each panel, and whether so many cells are drawn as have some
cells() {
    awk -F'"' '
        function cells_of(path, n, pieces, i) {
            n = split(path, pieces, "v")
            for (i = 2; i <= n; i++) drawn += pieces[i]
        }
        /^<g class="map"/ {
            for (i = 1; i < NF; i++) if ($i ~ / data-cells=$/) cells = $(i + 1)
            n = split(cells, columns, ";")
            packets = filled = drawn = 0
            for (i = 1; i <= n; i++) {
                m = split(columns[i], numbers, " ")
                for (k = 2; k <= m; k += 2) { packets += numbers[k]; filled++ }
            }
            inside = 1
        }
        inside && /^<path class="l/ { for (i = 1; i < NF; i++) if ($i ~ / d=$/) cells_of($(i + 1)) }
        inside && /^<\/g>/ {
            print packets, (filled && filled == drawn ? "as drawn" : filled " not " drawn)
            inside = 0
        }
    ' "$1"
}
cells "$work/l.svg" >"$work/cells"
is "every packet is in a cell" "$(awk '{ n += $1 } END { print n }' "$work/cells")" 762
is "panels in the order of packets, of as many cells as are drawn" "$(cat "$work/cells")" \
    "$(sort -k 1,1nr "$work/cells" | sed 's/ .*/ as drawn/')"
lacks "nothing from elsewhere" "$(grep -v 'xmlns=' "$work/l.svg")" "http"
# The axis of times: a short window late in a long session has a label for each tick; a session that ended before the
# window began has an end to its ticks too.
cp "$db" "$work/long.db"
sqlite3 "$work/long.db" "UPDATE session SET end_ts = start_ts + 2000000000000, dur = 2000000000000;
    UPDATE skb_latency SET ts = ts + 1000005000000 WHERE hook = 'udp-start'"
report 0 latency "$work/long.db" --from 1000 --to 1000.01 --over-time --svg "$work/long.svg"
has "the ends of the axis differ" "$(tr -s ' ' <<<"$out")" " 1000 s 1000.01 s"
is "the ticks too" "$(sed -n 's/.*middle">\([0-9.]* s\)<.*/\1/p' "$work/long.svg" | xargs)" \
    "1000 s $(printf '1000.00%d s ' 1 2 3 4 5 6 7 8 9)1000.01 s"
# A month, with packets on two days of it; and as long as a database can say.
sqlite3 "$work/long.db" "UPDATE session SET end_ts = start_ts + 2678400000000000, dur = 2678400000000000;
    UPDATE skb_latency SET ts = ts + 2505600000000000 WHERE hook = 'udp-start'"
columns() { "$REPORT" latency "$work/long.db" --hook udp-start --csv --over-time |
    awk -F, 'NR > 1 { n += $NF } END { print n }'; }
samples=$(sqlite3 "$work/long.db" "SELECT sum(weight) FROM skb_latency WHERE hook = 'udp-start'")
is "all of a month's packets are in the heat map" "$(columns)" "$samples"
sqlite3 "$work/long.db" "UPDATE session SET start_ts = 0, end_ts = 9223372036854775807;
    UPDATE skb_latency SET ts = 9223372036854775806 WHERE hook = 'udp-start'"
is "and of three centuries'" "$(columns)" "$samples"
report 0 latency "$work/long.db" --over-time --svg "$work/long.svg"
report 0 latency "$work/long.db" --over-time --from 9223372036.85
sqlite3 "$work/long.db" "UPDATE session SET start_ts = 0, end_ts = 0, start_realtime_ns = NULL;
    UPDATE skb_latency SET ts = 1800000000000000000 WHERE hook = 'udp-start'"
status=0
timeout 600 "$REPORT" latency "$work/long.db" --from 2026-11-21T18:00:00Z --svg "$work/long.svg" >/dev/null || status=$?
is "times of no session" "$status, $(grep -c ' s</text>' "$work/long.svg") ticks" "0, 2 ticks"

report 1 latency "$db" --svg "$work/no/l.svg"
has "a picture that cannot be made" "$err" "l.svg cannot be made: No such file"
# One that could not be written whole leaves what was there.
echo before >"$work/kept.svg"
status=0
(ulimit -f 1; trap '' XFSZ; exec "$REPORT" latency "$db" --svg "$work/kept.svg" >/dev/null 2>"$work/why") || status=$?
is "a picture on a full disk" "$status, $(<"$work/kept.svg"), $(ls "$work" | grep -c partial)" "1, before, 0"
has "why" "$(<"$work/why")" "kept.svg cannot be written: is the disk full?"
report 2 latency "$db" --from 2ms --to 1ms
has "no time" "$err" "--from is not before --to"
cp "$db" "$work/none.db"
sqlite3 "$work/none.db" "DELETE FROM session"
report 1 latency "$work/none.db"
has "no session" "$err" "none.db: it holds no recording"

# No samples, and several sessions.
missing="no latency samples: record with nettape-record --probes default,latency."
report 1 latency "$work/hand.tape" --json
is "no probe" "$err" "nettape-report: $work/hand.tape: it has $missing"
nothing "and so no answer" "$out"
make_tape loss
"$PLAIN" import "$work/loss.tape" -o "$work/loss.db" >/dev/null 2>&1
report 1 latency "$work/loss.db"
is "no probe, in a database" "$err" "nettape-report: $work/loss.db: session 1 has $missing"
"$PLAIN" import --append "$work/loss.tape" -o "$db" >/dev/null
report 0 latency "$db"
is "sessions that have samples" "$(grep -c '^host ' "$work/out")" 1
is "the one that has none is told" "$err" "nettape-report: $db: 1 of 2 sessions is left out: session 2 has $missing"
is "sessions in JSON" "$("$REPORT" latency "$db" --json | grep -c '"session_id"')" 2
report 0 latency tests/golden/v1-samples.tape --by process
has "a tape" "$out" "udp-socket-read      responder (101)"

# Misuse.
# misused PART ARGUMENT...
misused() {
    local part=$1
    shift
    report 2 latency "$db" "$@"
    nothing "nothing on standard output" "$out"
    has "says what is wrong" "$err" "$part"
}
misused "choose program, process, port, cgroup, socket, iface or cpu" --by colour
misused "there is no such hook" --hook ip-end
misused "--from soon: give a time" --from soon
misused "in the order that packets pass them" --between udp-socket-read ip-start
misused "option '--between' needs two values" --between ip-start
misused "in each doubling, from 1 to 64" --histogram --buckets 65
misused "--buckets needs --histogram" --buckets 2
misused "leave --by out" --over-time --by cpu
misused "one kind of line" --csv --histogram --over-time
report 2 summary "$db" --hook ip-start
has "other commands have no such option" "$err" "option '--hook' is not for 'summary'"
report 2 check "$db" --by cpu
has "check has no groups" "$err" "option '--by' is not for 'check'"
finish
