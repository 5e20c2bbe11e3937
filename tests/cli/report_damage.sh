#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Damage never goes unsaid: of a tape in which one bit is another, each command gives what it gives of the whole tape,
# or says on standard error that figures lack something. Such a session is not called complete. The same of a tape that
# was cut, of a later chunk's meta block, and of a database that a damaged tape was imported into. The output of each
# command says so too, at its head, with the time that is touched: a line, a banner, members of JSON, marks, a metric.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
built build/tools/perfetto_cat
make_tape hand
here=$PWD golden=$PWD/tests/golden
cd "$work"

commands=(
    "summary TAPE"
    "timeline TAPE"
    "latency TAPE --json"
    "stages TAPE"
    "flame TAPE --folded"
    "query TAPE 'SELECT owner, sum(dur), count(*) FROM cpu_slice GROUP BY 1'"
    "query TAPE 'SELECT * FROM softirq_slice'"
    "export perfetto TAPE -o file"
    "export html TAPE -o file"
    "export prometheus TAPE -o file"
)

# flip FILE OFFSET: one bit of that byte
flip() {
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    # shellcheck disable=SC2059
    printf "\\x$(printf %x $((byte ^ 4)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# show PROGRAM COMMAND TAPE TO: what it gives of the tape; what it says is in err
show() {
    rm -f file
    eval "\"\$1\" ${2/TAPE/$3}" >out 2>err || true
    cat out file 2>/dev/null >"$4" || true
}

changed=0 unsaid=0
# compare TAPE WHAT: of a.tape, which has been damaged so; the whole one's outputs are there
compare() {
    local i
    for i in "${!commands[@]}"; do
        show "$REPORT" "${commands[i]}" a.tape is
        cmp -s "$1.$i" is || changed=$((changed + 1))
        if ! cmp -s "$1.$i" is && ! grep -q "a.tape is not whole, so figures lack" err &&
            ! grep -qE "a.tape.*(damaged|cannot be read|not a nettape)" err; then
            unsaid=$((unsaid + 1))
            bad "$2: ${commands[i]}: another output, and $(head -1 err)"
        fi
    done
}

for tape in v1 v1-stacks v1-samples v1-charges; do
    rm -rf a.tape
    cp -r "$golden/$tape.tape" a.tape
    for i in "${!commands[@]}"; do
        show "$PLAIN" "${commands[i]}" a.tape "$tape.$i"
        ! grep -q "not whole" err || bad "$tape: ${commands[i]}: of a whole tape: $(<err)"
    done
    for part in 1 3 5 7; do
        rm -rf a.tape
        cp -r "$golden/$tape.tape" a.tape
        file=$(find a.tape -name 'chunk*' | sort | tail -1)
        flip "$file" $(($(stat -c %s "$file") * part / 8))
        compare $tape "$tape, byte at $part/8"
    done
done
holds "outputs that changed: $changed" test $changed -ge 20
all "and were silent" "$changed $unsaid"

# cut SIZE: the last chunk of v1.tape is so long and no longer
last=chunk-000001.ntc
cut_at() {
    rm -rf a.tape
    cp -r "$golden/v1.tape" a.tape
    truncate -s "$1" a.tape/$last
}
size=$(stat -c %s "$golden/v1.tape/$last")
index=$(od -An -tu8 -j $((size - 24)) -N 8 "$golden/v1.tape/$last")
cut_at "$index"
report 1 check a.tape
has "without index and trailer" "$out" "$last lacks its end, index and trailer"
report 0 summary a.tape
has "it is said" "$err" "a.tape is not whole"
has "not complete" "$out" "NOT COMPLETE"
cut_at $((size - 32))
report 1 check a.tape
has "without its trailer" "$out" "trailer is damaged or cut short"

# The meta block of a later chunk, which says what the first one's says: behind its header of 88 bytes, and the chunk's
# of 176.
cp "$golden/v1.tape/$last" a.tape/
flip a.tape/$last 268
report 1 check a.tape
has "a later meta block" "$out" "$last: the block at byte 176 is damaged."
report 0 info a.tape
has "in info" "$out" "the block at byte 176 is damaged."
has "not complete there" "$out" "NOT COMPLETE"
report 0 import a.tape -o a.db
report 0 summary a.db
has "a database keeps it" "$err" "a.db is not whole, so figures lack what is missing: $last: the block at byte 176"
has "not complete, of a database" "$out" "NOT COMPLETE"
report 0 summary a.db --json
has "nor in JSON" "$out" '"complete": 0'
report 0 export html a.db
has "nor in a page" "$out" '"complete":0'
report 0 export html "$golden/v1.tape"
has "as a whole one is" "$out" '"complete":1'

# ---- in what is written ----

readonly missing="why IN ('missing block', 'damaged block', 'no state record', 'no last state record')"

# touched DB [FROM TO]: ns of all CPUs in which records are missing, between these times after the start
touched() {
    local from=${2:-0} to=${3:-9e18}
    sql "$1" "SELECT CAST(coalesce(sum(min(l.ts + l.dur, start_ts + $to) - max(l.ts, start_ts + $from)), 0) AS INTEGER)
        FROM (SELECT DISTINCT session_id, cpu, ts, dur FROM loss WHERE $missing) AS l JOIN session USING (session_id)
        WHERE l.ts < start_ts + $to AND l.ts + l.dur > start_ts + $from" 2>err
}
# says COMMAND: its line, of standard output, flat; or of the file that it wrote
says() {
    rm -f file
    eval "\"\$REPORT\" $1" >out 2>err || bad "$1 failed: $(<err)"
    if [[ ! -e file ]]; then sed '/^$/,$d' out | tr -s '\n' ' ' | sed 's/ $//' | grep '^NOT WHOLE' || true
    elif [[ $1 == *perfetto* ]]; then
        "$here/build/tools/perfetto_cat" file | tr -c '[:print:]' '\n' | grep -o 'NOT WHOLE.*' || true
    else sed -n 's/.*>\(\(k.tape: \)*NOT WHOLE[^<]*\)<.*/\1/p' file; fi
}
# members COMMAND: of its JSON, whether it is whole, and the time that is touched
members() {
    eval "\"\$REPORT\" $1" >out 2>err || bad "$1 failed: $(<err)"
    grep -oE '"(whole|damage|touched_ns)": ?(true|false|null|[0-9]+)' out | tr -d '"' | tr -s ':\n' ' ' | sed 's/ $//'
}

# of_stacks TAPE: commands that know the time that is touched; of a tape with stacks
of_stacks() { printf '%s\n' "summary $1" "timeline $1" "stages $1" "export html $1 -o file" \
    "export perfetto $1 -o file" "flame $1 -o file"; }

rm -rf k.tape l.tape
cp -r "$golden/v1-stacks.tape" k.tape
cp -r "$golden/v1-samples.tape" l.tape
silent=0
while read -r command; do
    line=$(says "$command")
    silent=$((silent + 1))
    nothing "of a whole tape: $command" "$line"
done < <(of_stacks k.tape; printf '%s\n' "latency l.tape" "latency l.tape --svg file")
is "outputs of whole tapes" $silent 8
for command in "summary k.tape" "summary k.tape --from 1" "timeline k.tape" "stages k.tape" "info k.tape" \
    "latency l.tape"; do
    is "JSON of a whole tape: $command" "$(members "$command --json")" "whole true damage null"
done
report 0 export prometheus l.tape
# Without the host.
recording() { sed -n 's/^\(nettape_recording[a-z_]*\){[^}]*}/\1/p' | xargs; }
is "metrics of a whole tape" "$(recording <<<"$out")" \
    "nettape_recording_whole 1 nettape_recording_problems 0 nettape_recording_touched_seconds 0"

# One bit of an event block: its change leaves time uncovered, and some time with stacks is left.
chunk=$(find k.tape -name 'chunk*' | sort | tail -1)
size=$(stat -c %s "$chunk")
for ((at = size / 4; at < size; at += 100)); do
    flip "$chunk" $at
    rm -f k.db
    if "$REPORT" import k.tape -o k.db >out 2>err && [[ $(touched k.db) -gt 0 ]] &&
        "$REPORT" flame k.db -o file 2>err; then break; fi
    flip "$chunk" $at
done
ns=$(touched k.db)
holds "time is touched: $ns ns" test "$ns" -gt 0
# It is time that nobody owns.
is "as uncovered slices have it" "$(sql k.db "SELECT sum(min(s.ts + s.dur, l.ts + l.dur) - max(s.ts, l.ts))
    FROM cpu_slice AS s JOIN (SELECT DISTINCT cpu, ts, dur FROM loss WHERE $missing) AS l USING (cpu)
    WHERE owner = 'uncovered' AND s.ts < l.ts + l.dur AND l.ts < s.ts + s.dur" 2>err)" "$ns"
share=$(sql k.db "SELECT printf('%.2f %%', 100.0 * $ns / dur / cpus) FROM session" 2>err)
line=$(says "summary k.tape")
has "how much" "$line" "of CPU time ($share)"
has "what" "$line" ": ${chunk##*/}: "
for tape in k.tape k.db; do
    while read -r command; do is "$command" "$(says "$command")" "$line"; done < <(of_stacks $tape)
    for command in summary timeline stages; do
        is "JSON: $command $tape" "$(members "$command $tape --json")" "whole false touched_ns $ns"
    done
    "$REPORT" export html $tape -o file 2>err
    is "JSON in a page" "$(data file | grep -oE '"(whole|touched_ns)":(false|[0-9]+)' | xargs)" \
        "whole:false touched_ns:$ns"
    is "a banner that needs no script: above all else of the page" \
        "$(sed -n '/<main/{n;s/<p class="\(banner bad\)".*/\1/p}' file)" "banner bad"
done
has "the page's own words for it" "$(<file)" "<noscript>"
is "of two, with the name" "$(says "flame --diff k.tape $golden/v1-stacks.tape -o file")" "k.tape: $line"
is "JSON of info, which does not ask" "$(members "info k.tape --json")" "whole false touched_ns null"
has "nor does its line" "$(says "info k.tape")" "touches an unknown amount of CPU time: ${chunk##*/}"
for command in "flame k.tape --folded" "stages k.tape --csv" "query k.tape 'SELECT 1'"; do
    eval "\"\$REPORT\" $command" >out 2>err
    lacks "what programs parse: $command" "$(<out)" "NOT WHOLE"
done
# Of a part, what of it is touched: the first half of a stretch.
read -r from to < <(sql k.db "SELECT ts - start_ts, ts - start_ts + l.dur / 2 FROM loss AS l JOIN session USING
    (session_id) WHERE $missing ORDER BY l.dur DESC LIMIT 1" 2>err | tr , ' ')
ns=$(touched k.db "$from" "$to")
holds "half of it is touched: $ns ns" test "$ns" -gt 0
for tape in k.tape k.db; do
    for command in summary timeline "export html"; do
        json=--json
        [[ $command != export* ]] || json=
        # shellcheck disable=SC2086
        "$REPORT" $command $tape --from "${from}ns" --to "${to}ns" $json >out 2>err
        is "of a part: $command $tape" "$(grep -oE '"touched_ns": ?[0-9]+' out | tr -d '" ')" "touched_ns:$ns"
    done
    report 0 summary $tape --from "${to}ns" --json
    has "and no part is complete" "$out" '"complete": 0'
done

# latency reads too little of a tape to know the time that is touched; a database has all.
chunk=$(find l.tape -name 'chunk*' | sort | tail -1)
truncate -s $(($(stat -c %s "$chunk") * 5 / 8)) "$chunk"
"$REPORT" import l.tape -o l.db >out 2>err
ns=$(touched l.db)
is "a cut one, of a tape" "$(members "latency l.tape --json")" "whole false touched_ns null"
is "a cut one, of a database" "$(members "latency l.db --json")" "whole false touched_ns $ns"
has "its end" "$(<out)" '"open_end": true'
has "its line" "$(says "latency l.tape")" "NOT WHOLE: 2 problems touch an unknown amount of CPU time. The first: "
line=$(says "latency l.db")
has "its line, of a database" "$line" " after the last record. The first: ${chunk##*/}: "
for command in "summary l.tape" "timeline l.tape" "export html l.tape -o file" "export perfetto l.tape -o file"; do
    is "$command" "$(says "$command")" "$line"
done
has "each picture of its latencies" "$(says "latency l.tape --svg file" | head -1)" "NOT WHOLE: golden.example, "
for from in l.tape l.db; do
    report 0 export prometheus $from
    is "metrics of $from" "$(recording <<<"$out")" \
        "nettape_recording_whole 0 nettape_recording_problems 2 nettape_recording_touched_seconds $(
            awk "BEGIN { printf \"%.9g\", $ns / 1e9 }")"
done
# Sessions beside it are whole.
"$REPORT" import --append hand.tape -o l.db >out 2>err
is "each session for itself" "$(members "summary l.db --json")" "whole false touched_ns $ns whole true damage null"
report 0 export html l.db
is "and in a page" "$(grep -oE 'Session [0-9]+: NOT WHOLE' <<<"$out")" "Session 1: NOT WHOLE"
report 0 export prometheus l.db
is "and in metrics" "$(grep '^nettape_recording_whole' <<<"$out" | xargs)" \
    "nettape_recording_whole{host=golden.example} 0 nettape_recording_whole{host=testhost} 1"
finish
