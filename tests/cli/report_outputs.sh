#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Whole outputs of many commands, held against tests/cli/outputs/*.txt. Each of these files is a transcript: a line
# that begins with "$ " is a command, and what it wrote to standard output and then to standard error follows, then a
# line with its exit status unless that is 0. Where an earlier command of the file wrote the same, "= as" names it. Two
# commands are this script's: `show FILE`, and `change DATABASE SQL`, which makes changed.db. The output of a command on
# changed.db stands as its differences (> and <) from the output on DATABASE. To add a command, add its line and run
#
#   UPDATE=1 bash tests/cli/report_outputs.sh [FILE...]
#
# which writes the files anew; then look whether what it wrote is right. Other tests say why a figure is so; these
# notice that one changed. They are of one version of the tapes that tests/tools/make_tape.c and golden_make.c make.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null || skip "sqlite3 is not installed, which changes databases"
built build/tools/perfetto_cat
outputs=$PWD/tests/cli/outputs
here=$PWD

# ---- what the commands are about ----

for scenario in hand hotplug hostile markup containers empty unclocked partial undeclared month steal; do
    make_tape $scenario
done
for scenario in samples miscounted traffic; do make_tape $scenario 2; done
make_tape loss 2 2
make_tape chunks 2 3
make_tape dropped 2 4
for name in samples stacks wakeups polls charges holders sketch waits disks transmit memory readings kmem; do
    cp -r "tests/golden/v1-$name.tape" "$work/$name-1.tape"
done
cp -r tests/golden/demo.tape tests/golden/bad "$work"
cd "$work"
for name in samples stacks-1 hand; do "$PLAIN" import $name.tape -o $name.db >/dev/null; done
stack_samples samples.db 100000
"$PLAIN" import hand.tape stacks-1.tape loss.tape samples.tape -o all.db >/dev/null
"$PLAIN" import samples.tape hand.tape -o sums.db --sums >/dev/null
cp samples.db latency.db
sqlite3 latency.db ".read $here/tests/cli/latency.sql"
# So many samples that they do not fit in memory.
cp samples.db many.db
stack_samples many.db 1000000
sqlite3 many.db "CREATE TEMP TABLE few AS SELECT * FROM stack_sample; DELETE FROM stack_sample;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
    INSERT INTO stack_sample SELECT few.* FROM few, n ORDER BY few.rowid, i"
# Groups of 1 to 40 samples, each of which stands for four packets: at CPU n there are n.
cp hand.db ranks.db
sqlite3 ranks.db "INSERT INTO session_meta(session_id, key, value) VALUES (1, 'latency_sample', '0.25');
    UPDATE session_meta SET value = 'sched,softirq,irq,socket,latency' WHERE session_id = 1 AND key = 'probes';
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40), k(i) AS (SELECT * FROM n)
    INSERT INTO skb_latency(session_id, ts, cpu, hook, latency_ns, stamp_ns, length, queue_len, weight, flags)
        SELECT 1, 1000000000000 + 10000 * k.i, n.i, 'udp-start', 1000 * k.i, 1700000000000000000, 100, 1, 4, ''
        FROM n, k WHERE k.i <= n.i"
cat >names.txt <<'NAMES'
4f0c91756358 web
2ca4a155-3599-498d-bb9d-4446693fa3ea shop/web-7c9
/lxc.payload.box the box
NAMES
mkdir symbols
cp "$here/tests/fuzz/corpus/program_fuzz/static" symbols/server
id=$(readelf -n symbols/server 2>/dev/null | awk '/Build ID/ { print $3 }')
cp stacks-1.db places.db
sqlite3 places.db "INSERT INTO symbol(session_id, id, kind, name, build_id, file_offset, path) VALUES
    (1, 1001, 'user', 'server+0x10d', '$id', $((0x10d)), '/opt/x/server'),
    (1, 1002, 'user', 'other+0x10e', '$id', $((0x10e)), NULL)"

# ---- running them ----

# The content of a file, without the parts that are the same in each: scripts and styles. A packet of a trace is a line,
# and so is a part of a page's data.
show() {
    case $1 in
    *.html) data "$1" | sed -e '/^  "tool":/d' -e 's/,"/,\n"/g' | awk -v RS=, '$0 == last { again++; next }
            again { printf(" and %d more", again); again = 0 }
            { printf("%s%s", (NR > 1 ? "," : ""), $0); last = $0 }' ;;
    *.pftrace)
        "$here/build/tools/perfetto_cat" "$1" >plain
        protoc --decode_raw <plain | tr -s ' \n' ' ' | sed 's/ 1 { 10: 1/\n1 { 10: 1/g'
        echo ;;
    *) sed -e '/^<script>/,/<\/script>/d' -e '/^<style>/,/<\/style>/d' "$1" ;;
    esac
}

# said WORD...: writes the output of the command, its errors and its exit status to the file `said`
said() {
    local status=0
    if [[ $1 == show ]]; then show "$2" >out 2>err || status=$?; else
        "$REPORT" "$@" >out 2>err </dev/null || status=$?
    fi
    # The size of what is compressed is LZ4's affair, that of a database SQLite's.
    sed -e 's/, [0-9.]* [kM]*B, [0-9.]* bytes an event/, SIZE/' -e 's/"bytes": [0-9]*/"bytes": SIZE/' out >said
    sed -e 's/ ([0-9.]* [kM]*B):/ (SIZE):/' -e 's/^/! /' err >>said
    [[ $status == 0 ]] || echo "= $status" >>said
}

declare -A first  # of what was said: the command that said it

# run LINE: the command after "$ ", with words as a shell has them
run() {
    local -a words
    local text
    eval "words=($1)"
    echo "\$ $1"
    if [[ ${words[0]} == change ]]; then
        rm -rf before after
        mkdir before after
        cp "${words[1]}" before/changed.db
        cp "${words[1]}" after/changed.db
        sqlite3 after/changed.db "${words[2]}"
    elif [[ $1 == *changed.* ]]; then
        # Without sanitizers: they watch such commands on databases that nobody changed elsewhere.
        (cd before && REPORT=$PLAIN said "${words[@]}")
        (cd after && said "${words[@]}")
        # Two that fail alike would show nothing.
        grep '^= ' before/said | sed 's/^=/= before:/' || true
        diff before/said after/said | grep '^[<>]' || true
    else
        said "${words[@]}"
        text=:$(<said)
        if [[ ${first[$text]:-} && $(wc -l <said) -gt 2 ]]; then echo "= as ${first[$text]}"; else
            first[$text]=$1
            cat said
        fi
    fi
}

# transcript FILE: its commands, run again
transcript() {
    local line
    first=()
    while read -r line; do
        if [[ $line == '$ '* ]]; then run "${line#??}"; fi
    done <"$1"
}

for file in "$outputs"/*.txt; do
    name=${file##*/}
    [[ $# == 0 || " $* " == *" $name "* ]] || continue
    if [[ $name == perfetto.txt ]] && ! command -v protoc >/dev/null; then
        without "protoc is not installed, which shows what a trace has"
        continue
    fi
    transcript "$file" >"$name"
    [[ -z ${UPDATE:-} ]] || cp "$name" "$file"
    holds "$name: $(grep -c '^\$ ' "$file") commands" diff -u "$file" "$name"
done
finish
