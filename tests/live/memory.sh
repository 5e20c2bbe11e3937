#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Probe memory: a program has memory of each kind before the recording begins, touches more, gives some back, is
# forked, has pages taken by another, and runs another program. After each step what its rows say is what
# /proc/PID/status says, within what CPUs keep to themselves. A program's page faults are those that its parent is told
# when it has ended, threads and all.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
type python3 >/dev/null || skip "no python3"
test_cleanup() {
    [[ -z ${swap:-} ]] || { swapoff "$swap"; losetup -d "$swap"; }
}
# A guest's own memory may be swapped; a host's is left alone.
if [[ -n ${NT_EMULATED:-} ]] && modprobe loop 2>/dev/null; then
    truncate -s 32M "$work/swap"
    swap=$(losetup -f --show "$work/swap")
    { mkswap "$swap" && swapon "$swap"; } >/dev/null
fi

# Prints lines: the step, when it was over, the process, and its memory in KiB as NT_RSS_KINDS are numbered.
cat >"$work/holder.py" <<'PY'
import ctypes, mmap, os, sys, time
PAGE, SIZE = 4096, 16 << 20

def tell(step):
    with open("/proc/self/status") as file:
        status = dict(line.split(":", 1) for line in file)
    kinds = [status[kind].split()[0] for kind in ("RssFile", "RssAnon", "VmSwap", "RssShmem")]
    print(step, time.clock_gettime_ns(time.CLOCK_MONOTONIC), os.getpid(), *kinds, flush=True)

def touch(memory, size):
    for at in range(0, size, PAGE):
        memory[at] = 1

if len(sys.argv) == 1:
    tell("exec")
    sys.exit()
anon = mmap.mmap(-1, 2 * SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
touch(anon, SIZE)
print("ready", flush=True)
sys.stdin.readline()
tell("start")
touch(anon, 2 * SIZE)
tell("anon")
file = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), SIZE)
sum(file[at] for at in range(0, SIZE, PAGE))
tell("file")
shared = mmap.mmap(-1, SIZE)
touch(shared, SIZE)
tell("shmem")
anon.madvise(mmap.MADV_DONTNEED, 0, SIZE // 2)
tell("freed")
pid = os.fork()
if not pid:
    tell("forked")
    os._exit(0)
os.waitpid(pid, 0)
tell("fork")
places = [ctypes.addressof((ctypes.c_char * 1).from_buffer(memory)) for memory in (anon, file)]
print("at", os.getpid(), *places, 2 * SIZE, SIZE, flush=True)
sys.stdin.readline()
tell("taken")
os.execv(sys.executable, [sys.executable, os.path.realpath(__file__)])
PY
# process_madvise(MADV_PAGEOUT): this process takes the other's pages, as reclaim would
cat >"$work/taker.py" <<'PY'
import ctypes, os, sys
pid, *at = map(int, sys.argv[1:])
libc = ctypes.CDLL(None, use_errno=True)
class Part(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("size", ctypes.c_size_t)]
parts = (Part * 2)(*zip(at[:2], at[2:]))
if libc.syscall(440, os.pidfd_open(pid), parts, 2, 21, 0) < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
PY
dd if=/dev/urandom of="$work/file" bs=1M count=16 conv=fsync status=none
mkfifo "$work/go"
python3 "$work/holder.py" "$work/file" <"$work/go" >"$work/steps" &
started=$!
keep "$started"
exec 8>"$work/go"
wait_for 120 grep -q ready "$work/steps"

# pressures: lines "RESOURCE some_us|full_us MICROSECONDS", as the kernel tells them now
pressures() {
    local resource
    for resource in cpu io memory irq; do
        sed -n "s/^\\([a-z]*\\) .*total=/$resource \\1_us /p" "/proc/pressure/$resource" 2>/dev/null || true
    done
}
pressures >"$work/before"
recording_start "$work/m.tape" --probes sched,memory
echo >&8
wait_for 120 grep -q ^at "$work/steps"
read -r _ pid places < <(grep ^at "$work/steps")
# shellcheck disable=SC2086  # several
succeeds "another process takes its pages" python3 "$work/taker.py" "$pid" $places
echo >&8
wait "$started"
python3 - >"$work/faults" <<'PY'
import os, sys
# Threads too, and a program that is begun anew.
work = """
import threading
def touch(): return bytearray(8 << 20)
threads = [threading.Thread(target=touch) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
pid = os.spawnv(os.P_NOWAIT, sys.executable, [sys.executable, "-c", work])
used = os.wait4(pid, 0)[2]
print(pid, used.ru_minflt, used.ru_majflt)
PY
recording_stop
pressures >"$work/after"
db=$work/m.db
import_tape "$work/m.tape" "$db"
check_whole "$work/m.tape" "$db"

# What each CPU keeps to itself; before Linux 6.2 each thread did, and a row is written from 32 pages on.
cpus=$(nproc)
if [[ $(printf '6.2\n%s\n' "$(uname -r)" | sort -V | head -1) == 6.2 ]]; then
    pages=$(((cpus * 2 > 32 ? cpus * 2 : 32) * cpus))
else
    pages=$((64 + 32))
fi
within=$((pages * $(getconf PAGESIZE)))
holder=$pid
while read -r step ts pid kibs; do
    for kind in file anon swap shmem; do
        kib=${kibs%% *} kibs=${kibs#* }
        at_most "bytes of $kind after '$step' that /proc/$pid/status tells otherwise" "$(sql "$db" "
            SELECT abs($kib * 1024 - ifnull((SELECT bytes FROM mem_rss JOIN process USING (session_id, upid)
                WHERE pid = $pid AND kind = '$kind' AND ts <= $ts ORDER BY ts DESC LIMIT 1), 0))")" "$within"
    done
done < <(grep -v -e ready -e ^at "$work/steps")
# of PID COLUMN
of() { sql "$db" "SELECT $2 FROM mem_cost WHERE pid = $1"; }
at_least "bytes that others took of it" "$(of "$holder" taken_bytes)" $(((16 << 20) - within))
most=$(awk -v pid="$holder" '$3 == pid { sum = $4 + $5 + $7; if (sum > most) most = sum }
    END { print most * 1024 }' "$work/steps")
at_least "most resident bytes" "$(of "$holder" peak_bytes)" $((most - 3 * within))
at_most "most resident bytes" "$(of "$holder" peak_bytes)" $((most + 3 * within + (1 << 20)))

read -r pid minor major <"$work/faults"
# Faults of a stay whose end the kernel hid are not known.
hidden=$(stretches_uncovered "$db")
for kind in minor major; do
    got=$(of "$pid" "$kind")
    if [[ $hidden == 0 ]]; then is "$kind faults" "$got" "${!kind}"; else
        at_most "$kind faults, of which some may be hidden" "$got" "${!kind}"; fi
done
# A CPU's gate opens before the session starts, and may close after it ends.
at_most "rows of faults that are not of one stay of their thread on a CPU" "$(sql "$db" "
    SELECT count(*) FROM page_fault f JOIN session i USING (session_id) WHERE NOT EXISTS (
        SELECT 1 FROM sched_slice s WHERE s.utid = f.utid AND s.cpu = f.cpu
            AND s.ts <= max(f.ts, i.start_ts) AND s.ts + s.dur >= min(f.ts + f.dur, i.end_ts))")" "$hidden"

# The kernel's readings: pressure lies between what it was before and after; sockets have what the file names.
while read -r resource name before && read -r _ _ after <&8; do
    is "readings of $resource's $name between $before and $after us, and others" "$(sql "$db" "
        SELECT count(*) > 1, sum(value NOT BETWEEN $before AND $after) FROM proc_counter
        WHERE source = '/proc/pressure/$resource' AND name = '$name'")" "1|0"
done <"$work/before" 8<"$work/after"
if [[ ! -s $work/before ]]; then
    succeeds "info says that there is no pressure" grep -F 'Pressure was not recorded' <("$report" info "$work/m.tape")
fi
is "counters of sockets" "$(sql "$db" "SELECT DISTINCT name FROM proc_counter
        WHERE source = '/proc/net/sockstat' ORDER BY 1" | tr '\n' ' ')" \
    "$(awk '{ for (i = 2; i < NF; i += 2) print substr($1, 1, length($1) - 1) "." $i }' /proc/net/sockstat |
        LC_ALL=C sort | tr '\n' ' ')"
echo "# $hidden stretches uncovered; faults: $minor minor, $major major"
finish
