#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Functions of programs by files of the same build id: those at hand where the tape is read, and those that come later;
# stripped ones, and what was split off them; beside what elfutils and GNU's tools find in the same files.
#
# check-all: it takes half a minute
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
for tool in eu-addr2line eu-strip objcopy strip readelf c++filt; do
    command -v $tool >/dev/null || skip "$tool is not installed: bash tests/setup.sh build test"
done
# So that no file of this host is taken for one that the test made.
export DEBUGINFOD_CACHE_PATH=$work/no-cache

program=$work/caller
cp "$tools/caller" "$program"
"$program" 120 >"$work/sum" &
caller=$!
keep $caller
# Samples come with the program's CPU time: half a second of it, on a loaded host too.
ran_ms() { awk '{ printf "%d", $1 / 1000000 }' /proc/$caller/schedstat; }
# shellcheck disable=SC2317  # called by wait_for
enough() { (($(ran_ms) >= before_ms + 500)); }
recording_start "$work/a.tape" --probes default,stacks --stacks all --user-stacks
before_ms=$(ran_ms)
wait_for 100 enough || bad "the program had $(($(ran_ms) - before_ms)) ms of CPU time in 100 seconds"
recording_stop
build_id=$(readelf -n "$program" | awk '/Build ID/ { print $3 }')

# fresh NAME [OPTION...]: the tape as a new database of that name, in $db
fresh() {
    db=$work/$1.db
    shift
    timeout 120 "$report" import -o "$db" "$@" "$work/a.tape" >"$work/import.log" 2>&1 ||
        bad "import $*: $(tail -1 "$work/import.log")"
}
of_program="kind = 'user' AND build_id = '$build_id'"
n_named() { sql "$db" "SELECT count(*) FROM symbol WHERE $of_program AND offset IS NOT NULL"; }

# ---- with the program's file in its place ----
fresh whole
places=$(sql "$db" "SELECT count(*) FROM symbol WHERE $of_program")
at_least "places in the program" "$places" 5
is "of these named" "$(n_named)" "$places"
is "functions of the program" "$(sql "$db" "SELECT group_concat(name, ' ') FROM (SELECT DISTINCT name FROM symbol
    WHERE $of_program AND name IN
    ('main', 'send_all', 'compute', 'demo::Proxy::forward') ORDER BY 1)")" "compute demo::Proxy::forward main send_all"
# (libc keeps no frame of its own, so the caller of sendto is missing. Since glibc 2.41 sendto enters the kernel by
# functions that it does not export.)
at_least "stacks of main, forward, libc and the kernel, as a flame" \
    "$("$report" flame --folded --user-stacks "$db" |
    grep -cE ';main;demo::Proxy::forward(;sendto|(;libc\.so\.6\+0x[0-9a-f]+)+);.*;udp_sendmsg' || true)" 1

# Of all files that are still there: eu-addr2line knows places by their address. A place that was taken for a caller may
# be no code at all: then it has no address and no function.
build_id_of() { readelf -n "$1" 2>/dev/null | awk '/Build ID/ { print $3 }'; }
# theirs PATH: of places in this file (lines PLACE NAME OFFSET), the same with what eu-addr2line says behind
theirs() {
    local path=$1 place name offset at size load address segments
    segments=$(readelf -lW "$path" | awk '$1 == "LOAD" && $8 == "E" { print $2, $5, $3 }')
    : >"$work/places"
    : >"$work/addresses"
    while IFS='|' read -r place name offset; do
        address=
        while read -r at size load; do
            if ((place >= at && place < at + size)); then address=$((place - at + load)); fi
        done <<<"$segments"
        if [[ -n $address ]]; then
            printf '%s|%s|%s\n' "$place" "$name" "$offset" >>"$work/places"
            printf '0x%x\n' "$address" >>"$work/addresses"
        elif [[ -n $offset ]]; then
            echo "$place|$name|$offset|no code"
        fi
    done
    # Two lines an address: the function, the source.
    xargs -r eu-addr2line -S -e "$path" <"$work/addresses" | awk 'NR % 2 { print $1 }' | paste -d'|' "$work/places" -
}
same=0
while IFS='|' read -r path id; do
    [[ -f $path && $(build_id_of "$path") == "$id" ]] || continue
    sql "$db" "SELECT file_offset, name, offset FROM symbol WHERE kind = 'user'
        AND path = '${path//\'/\'\'}' AND build_id = '$id'" | theirs "$path" >"$work/theirs"
    # A file that somebody has just replaced is another.
    [[ $(build_id_of "$path") == "$id" ]] || continue
    while IFS='|' read -r place name offset theirs; do
        # NAME+0x1a; of several names for one function they may take another.
        behind=0
        if [[ $theirs == *+0x* ]]; then behind=$((${theirs##*+})); fi
        if [[ $theirs == '??'* || $theirs != [_a-zA-Z]* ]]; then behind=; fi
        if [[ $offset == "$behind" ]]; then same=$((same + 1)); else
            bad "$path $place is $name+$offset; eu-addr2line: $theirs"; fi
    done <"$work/theirs"
done < <(sql "$db" "SELECT DISTINCT path, build_id FROM symbol WHERE kind = 'user' AND build_id IS NOT NULL
    AND path NOT LIKE '%(deleted)'")
at_least "places that eu-addr2line finds in the same function" "$same" "$places"

# ---- nothing at hand ----
mv "$program" "$work/kept"
fresh gone
is "named without the file" "$(n_named)" 0
like=$(sql "$db" "SELECT count(*) FROM symbol WHERE $of_program AND name LIKE 'caller+0x%'")
is "places that have a stable name" "$like" "$places"
fresh none --no-symbols
is "named when nothing is looked at" "$(sql "$db" "SELECT count(*) FROM symbol WHERE kind = 'user'
    AND offset IS NOT NULL")" 0

# ---- others in its place ----
cp "$tools/burner" "$program"
fresh other
is "named by a file of another build id" "$(n_named)" 0
rm "$program"
mkfifo "$program"
fresh pipe
is "named by a pipe that nobody writes to" "$(n_named)" 0
rm "$program"

# ---- what was split off, and what was left ----
symbols=$work/symbols
split=$symbols/.build-id/${build_id:0:2}/${build_id:2}.debug
mkdir -p "$(dirname "$split")" "$symbols/$(dirname "$program")"
objcopy --only-keep-debug "$work/kept" "$split"
said() { "$report" symbolize "$db" --symbols "$symbols" --csv |
    sed -n "s|^$places,\([0-9]*\),$build_id,.*,\([^,]*\)$|\1 \2|p"; }
fresh later
is "nothing at hand, symbolize says" "$("$report" symbolize "$db" --csv |
    sed -n "s|^$places,\([0-9]*\),$build_id,.*,\([^,]*\)$|\1 \2|p")" "0 no file has this build id"
is "only what objcopy split off" "$(said)" "0 symbols without the program itself"
strip -o "$symbols$program" "$work/kept"
is "with the stripped program" "$(said)" "$places named"
dump() { sqlite3 "$1" "SELECT * FROM symbol WHERE $of_program ORDER BY id"; }
is "places that are named otherwise than by the whole file" "$(diff <(dump "$db") <(dump "$work/whole.db") | wc -l)" 0
fresh both --symbols "$symbols"
is "the same at import" "$(diff <(dump "$db") <(dump "$work/whole.db") | wc -l)" 0
"$report" flame --folded --user-stacks "$work/a.tape" --symbols "$symbols" >"$work/tape.folded"
is "the same of the tape" "$(diff "$work/tape.folded" <("$report" flame --folded --user-stacks "$db") | wc -l)" 0
"$report" export perfetto "$work/a.tape" --symbols "$symbols" -o "$work/a.pftrace"
at_least "the same in a trace for Perfetto" \
    "$("$tools/perfetto_cat" "$work/a.pftrace" | grep -c 'demo::Proxy::forward' || true)" 1
rm -r "$symbols/.build-id"
fresh stripped
is "the stripped program alone" "$(said)" "0 the program without symbols"
rm -r "${symbols:?}"
mkdir "$symbols"
eu-strip -o "$work/stripped" -f "$symbols/caller.debug" "$work/kept"
is "only what eu-strip split off" "$(said)" "$places named"
is "places that are named otherwise" "$(diff <(dump "$db") <(dump "$work/whole.db") | wc -l)" 0

# ---- clear words ----
refuses() {
    local what=$1 why=$2 status=0
    shift 2
    "$@" >"$work/out" 2>&1 || status=$?
    is "$what: exit status" "$((status != 0))" 1
    is "$what: says why" "$(grep -c "$why" "$work/out" || true)" 1
}
refuses "a database and --symbols" "nettape-report symbolize" "$report" flame "$db" --symbols "$work"
refuses "a directory that is not there" "no such directory" "$report" flame "$work/a.tape" --symbols "$work/nowhere"
refuses "symbolize on a tape" "import TAPE -o DB" "$report" symbolize "$work/a.tape"
refuses "a format without stacks" "export perfetto" "$report" export html "$work/a.tape" -o "$work/a.html" --symbols \
    "$work"
finish
