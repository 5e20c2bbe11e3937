#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Probe kmem: a program makes known numbers of eventfds, of pages and of TCP connections, so often that most of what the
# kernel takes for them is not recorded. Sums by weight are those numbers, within what they say they may be off by. It
# reads attributes of a file with so much room that the kernel takes 64 KiB at once: these are sampled apart.
# The sockets of received connections are nobody's: softirqs make them, though in the program's time.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
type python3 >/dev/null || skip "no python3"

fds=60000 touched=20000 connections=8000 reads=300
# An emulated CPU is so slow that most are recorded.
[[ -z ${NT_EMULATED:-} ]] || fds=6000 touched=4000 connections=800 reads=100
cat >"$work/taker.py" <<'PY'
import ctypes, mmap, os, socket, sys, time
fds, touched, connections, reads = map(int, sys.argv[1:])
memory = mmap.mmap(-1, touched * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
try:
    memory.madvise(mmap.MADV_NOHUGEPAGE)
except OSError:
    pass # a kernel without huge pages
server = socket.create_server(("127.0.0.1", 0), backlog=64)
server_address = server.getsockname()
print("ready", flush=True)
sys.stdin.readline()
since = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
for page in range(touched):
    memory[page * mmap.PAGESIZE] = 1
print("touched", since, time.clock_gettime_ns(time.CLOCK_MONOTONIC), flush=True)
for _ in range(fds):
    os.close(os.eventfd(0))
libc, room = ctypes.CDLL(None), ctypes.create_string_buffer(65536)
for _ in range(reads):
    libc.getxattr(b"/", b"user.none", room, len(room))
for _ in range(connections):
    with socket.create_connection(server_address):
        server.accept()[0].close()
PY
mkfifo "$work/go"
python3 "$work/taker.py" $fds $touched $connections $reads <"$work/go" >"$work/said" &
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

# The kernel leaves out runs of a program inside another of its runs, such as an interrupt's.
missed=$(sql "$db" "SELECT ifnull(sum(value), 0) FROM self_cost_last WHERE name = 'misses' AND program IN
    ('nt_kmalloc', 'nt_kmem_cache_alloc', 'nt_mm_page_alloc')")
# sum WHERE: of rows: how many they stand for, and six standard deviations of that
sum() {
    sql "$db" "SELECT ifnull(sum(weight), 0), CAST(6 * sqrt(total(weight * (weight - 1))) AS INTEGER) FROM kmem
        LEFT JOIN thread USING (session_id, utid) LEFT JOIN process USING (session_id, upid) WHERE $1" | tr '|' ' '
}
# is_about NAME WHERE TRUE [MORE]: so many of others may be counted with them
is_about() {
    local n within
    read -r n within < <(sum "$2")
    at_least "$1 (within $within, missed $missed)" "$n" $(($3 - within - missed))
    at_most "$1 (within $within)" "$n" $(($3 + within + ${4:-0}))
}
page=$(getconf PAGESIZE)
own="pid = $taker AND context = 'task'"
socket="kind = 'cache' AND (location GLOB 'sk_prot_alloc+*'
    OR location GLOB 'sk_alloc+*' OR location GLOB 'sk_clone*+*')"
is_about "eventfds" "$own AND kind = 'kmalloc' AND location GLOB '*eventfd*'" $fds
# Kernels from 6.10 on tell of one twice: at its caller, and in the allocator itself.
is_about "reads of 64 KiB" "$own AND kind = 'kmalloc' AND bytes = 65536
    AND ifnull(location, '') NOT GLOB '__kvmalloc_node_*'" $reads
read -r _ since until < <(grep touched "$work/said")
# Some are for the tables of the others, and for the program itself.
is_about "pages" "$own AND kind = 'pages' AND bytes = $page AND kmem.ts BETWEEN $since AND $until" \
    $touched $((touched / 20))
is_about "sockets that it made" "$own AND $socket" $connections
read -r n within < <(sum "context = 'softirq' AND vec = 'NET_RX' AND $socket")
at_least "sockets that softirqs made (within $within)" "$n" $((connections - within - missed))
is "who is charged for softirqs" "$(sql "$db" "SELECT count(*) FROM kmem WHERE context IN ('softirq', 'hardirq')
    AND utid IS NOT NULL")" 0

# All runs are counted: weights stand for what was recorded and left out, but where records were lost.
for kind in kmalloc:kmalloc kmem_cache_alloc:cache mm_page_alloc:pages; do
    missed=0
    is_about "all of kind ${kind#*:}" "kind = '${kind#*:}'" "$(sql "$db" "SELECT sum(value) FROM self_cost_last
        WHERE program = 'nt_${kind%:*}' AND name IN ('recorded', 'lost', 'skipped_sample')")"
done
finish
