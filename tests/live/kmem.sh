#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Probe kmem: a program makes known numbers of eventfds, of pages and of TCP connections, so often that most of what the
# kernel takes for them is not recorded. Sums by weight are those numbers, within what they say they may be off by.
# The sockets of received connections are nobody's: softirqs make them, though in the program's time.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
type python3 >/dev/null || skip "no python3"

fds=60000 touched=20000 connections=8000
# An emulated CPU is so slow that most are recorded.
[[ -z ${NT_EMULATED:-} ]] || fds=6000 touched=4000 connections=800
cat >"$work/taker.py" <<'PY'
import mmap, os, socket, sys
fds, touched, connections = map(int, sys.argv[1:])
memory = mmap.mmap(-1, touched * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
try:
    memory.madvise(mmap.MADV_NOHUGEPAGE)
except OSError:
    pass # a kernel without huge pages
server = socket.create_server(("127.0.0.1", 0), backlog=64)
server_address = server.getsockname()
print("ready", flush=True)
sys.stdin.readline()
for _ in range(fds):
    os.close(os.eventfd(0))
for page in range(touched):
    memory[page * mmap.PAGESIZE] = 1
for _ in range(connections):
    with socket.create_connection(server_address):
        server.accept()[0].close()
PY
mkfifo "$work/go"
python3 "$work/taker.py" $fds $touched $connections <"$work/go" >"$work/said" &
taker=$!
keep "$taker"
exec 8>"$work/go"
wait_for 120 grep -q ready "$work/said"
recording_start "$work/k.tape" --probes sched,softirq,irq,kmem
echo >&8
succeeds "the program" wait "$taker"
recording_stop
db=$work/k.db
import_tape "$work/k.tape" "$db"
check_whole "$work/k.tape" "$db"

# sum COLUMN WHERE: of rows of kmem_cost: the sum, and six standard deviations of it
sum() {
    sql "$db" "SELECT ifnull(sum($1), 0), CAST(6 * sqrt(ifnull(sum($1_variance), 0)) AS INTEGER) FROM kmem_cost
        WHERE $2" | tr '|' ' '
}
# is_about WHAT COLUMN WHERE TRUE MORE: what else may have been counted with it
is_about() {
    local n within
    read -r n within < <(sum "$2" "$3")
    at_least "$1 (within $within)" "$n" $(($4 - within))
    at_most "$1 (within $within)" "$n" $(($4 + within + $5))
}
own="pid = $taker AND context = 'task'"
socket="kind = 'cache' AND (location GLOB 'sk_prot_alloc+*'
    OR location GLOB 'sk_alloc+*' OR location GLOB 'sk_clone*+*')"
is_about "eventfds" allocations "$own AND kind = 'kmalloc' AND location GLOB '*eventfd*'" $fds 0
is_about "bytes of pages" bytes "$own AND kind = 'pages'" $((touched * $(getconf PAGESIZE))) $((24 << 20))
is_about "sockets that it made" allocations "$own AND $socket" $connections 0
read -r n within < <(sum allocations "context = 'softirq' AND vec = 'NET_RX' AND $socket")
at_least "sockets that softirqs made (within $within)" "$n" $((connections - within))
is "who is charged for softirqs" "$(sql "$db" "SELECT count(*) FROM kmem WHERE context IN ('softirq', 'hardirq')
    AND utid IS NOT NULL")" 0

# All runs are counted: the weights stand for what was recorded and left out, but where records were lost.
for program in kmalloc kmem_cache_alloc mm_page_alloc; do
    kind=${program/kmem_cache_alloc/cache} kind=${kind/mm_page_alloc/pages}
    seen=$(sql "$db" "SELECT sum(value) FROM self_cost_last WHERE program = 'nt_$program'
        AND name IN ('recorded', 'lost', 'skipped_sample')")
    is_about "all of kind $kind" allocations "kind = '$kind'" "$seen" 0
done
