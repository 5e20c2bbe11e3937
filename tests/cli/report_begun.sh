#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The remains of a recorder that is killed before its first block is on the disk: an empty directory, or a chunk that
# has no byte, a part of its header, no block, or a part of its first block. Each is an incomplete recording of nothing,
# and says so. Other files are still no tape.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
whole=$PWD/tests/golden/v1.tape
cd "$work"
killed="the recorder was killed before it wrote the first one, or is still at work."
head_size=176 # of a chunk's header (docs/chunk-format.md, section 3)

# cut BYTES CHUNK: the first bytes of a chunk, as chunk CHUNK of a.tape, which is not finished
cut() { head -c "$1" "$whole/chunk-00000$2.ntc" >"a.tape/chunk-00000$2.ntc.partial"; }
complete() { sql a.tape "SELECT complete, events, dur, (SELECT count(*) FROM cpu_slice) FROM session"; }

mkdir a.tape
for size in 0 1 7 8 11 15 16 100 $((head_size - 1)) $head_size $((head_size + 1)) $((head_size + 87)) \
    $((head_size + 100)); do
    cut "$size" 0
    report 0 info a.tape
    said=$(flat "$out")
    has "$size bytes: info says it" "$said" "chunk-000000.ntc.partial holds no block, so nothing was recorded: $killed"
    has "as a recording" "$said" "NOT COMPLETE"
    has "without events" "$out" $'\n0 events\n'
    lacks "nothing is said of a time" "$said" "began"
    if ((size <= head_size)); then is "one problem" "$(grep -c . <<<"${out#*problems:}")" 2; else
        has "and one more" "$said" "$((size - head_size)) bytes at byte $head_size cannot be read: block"
    fi
    is "the session" "$(complete 2>/dev/null)" "0,0,0,0"
    report 0 summary a.tape
    has "summary says it" "$err" "holds no block, so nothing was recorded"
    report 1 check a.tape
    has "check says it" "$(flat "$out")" "FAILED whole chunk-000000.ntc.partial holds no block, so nothing was recorded"
    report 0 import a.tape -o a.db
    has "import says it" "$err" "holds no block, so nothing was recorded"
    rm a.db
done

# Behind a chunk that is whole, it ends the recording, and no more.
cp "$whole/chunk-000000.ntc" a.tape
rm a.tape/*.partial
events=$(sql a.tape "SELECT events FROM session" 2>/dev/null)
for size in 0 100 $head_size; do
    cut "$size" 1
    report 0 info a.tape
    has "$size bytes of a later chunk: info says it" "$(flat "$out")" "chunk-000001.ntc.partial holds no block: $killed"
    lacks "and not that nothing was recorded" "$out" "nothing was recorded"
    is "what was recorded before" "$(sql a.tape "SELECT events, complete FROM session" 2>/dev/null)" "$events,0"
done

# ---- what is not a recorder's ----
# none WHAT: a.tape has one file that no recorder leaves
none() {
    report 1 info a.tape
    has "$1" "$err" "'a.tape' is $2"
}
rm a.tape/*
report 1 info a.tape
has "an empty directory" "$err" "'a.tape' is an empty directory: nettape-record was killed before it recorded anything"
: >a.tape/notes
none "a directory of other files" "not a nettape tape"
rm a.tape/*
: >a.tape/chunk-000000.ntc
none "an empty file that is called finished" "not a nettape tape"
rm a.tape/*
echo garbage >a.tape/chunk-000000.ntc.partial
none "a file of something else" "not a nettape tape"
gzip -nc "$OLDPWD/docs/CONTRIBUTING.md" | tail -c 300 >a.tape/chunk-000000.ntc.partial
none "bytes of all values" "not a nettape tape"
head -c 100 "$whole/chunk-000000.ntc" >a.tape/chunk-000000.ntc
rm a.tape/*.partial
none "a header that was cut, of a chunk that is called finished" "damaged so that nothing of it can be read"
{ head -c 50 "$whole/chunk-000000.ntc" && head -c 126 /dev/zero; } >a.tape/chunk-000000.ntc.partial
rm a.tape/*.ntc
none "a header of the right size that is damaged" "damaged so that nothing of it can be read"
finish
