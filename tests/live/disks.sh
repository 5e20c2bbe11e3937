#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Probe block: requests of known sizes to a loop device, direct and through the page cache, discarded, flushed, and
# through a mapped device. Their numbers and bytes are those of /proc/diskstats and, where these count the same, of
# /proc/PID/io. Who made them is charged, also where the completion interrupts another: on a device that completes in
# interrupts, beside tasks that burn all CPUs.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
type mkfs.ext4 losetup blkdiscard >/dev/null 2>&1 || skip "no mkfs.ext4, losetup or blkdiscard"
[[ $(id -u) == 0 ]] || skip "only root makes loop devices"
modprobe loop 2>/dev/null || true
modprobe dm-mod 2>/dev/null || true
mapped=nettape-$$
test_cleanup() {
    dmsetup remove "$mapped" 2>/dev/null || true
    umount "$work/mnt" 2>/dev/null || true
    [[ -z ${loop:-} ]] || losetup -d "$loop"
    modprobe -r null_blk 2>/dev/null || true
    [[ -z ${group:-} ]] || { echo $$ >/sys/fs/cgroup/cgroup.procs; rmdir "$group"; }
}

truncate -s 64M "$work/disk"
loop=$(losetup -f --show "$work/disk" 2>/dev/null) || skip "no loop device can be made here"
dev=${loop#/dev/}

# Writes that wait in the page cache are a cgroup's where the kernel keeps that with a page.
if grep -qw io /sys/fs/cgroup/cgroup.controllers 2>/dev/null &&
    echo "+io +memory" >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null; then
    group=/sys/fs/cgroup/nettape-$$
    mkdir "$group"
fi
# A device that completes in interrupts: one in memory, by a timer; else the disk that the test's files are on.
if modprobe null_blk nr_devices=1 gb=1 irqmode=2 completion_nsec=2000000 2>/dev/null && [[ -b /dev/nullb0 ]]; then
    busy=nullb0 from=/dev/nullb0
else
    busy=$(lsblk -no pkname,kname "$(findmnt -no SOURCE -T "$work")" 2>/dev/null | awk 'NR == 1 { print $1 }') || true
    from=$work/read
    dd if=/dev/urandom of="$from" bs=64k count=100 conv=fsync status=none
fi

stats() { awk -v dev="$dev" '$3 == dev { print $4, $6, $8, $10, $15, $17, $19 }' /proc/diskstats; }
# What the recording is of.
traffic() {
    # The shell's numbers are those of its children, too.
    # shellcheck disable=SC2016
    bash -c '
        dd if=/dev/zero of="$1" bs=64k count=100 oflag=direct status=none
        dd if="$1" of=/dev/null bs=16k count=200 iflag=direct status=none
        io=$(cat /proc/$$/io)
        printf "pid: %s\n%s\n" $$ "$io"' direct "$loop" >"$work/io"
    # More than a request may have: the kernel splits it.
    dd if=/dev/zero of="$loop" bs=8M count=1 oflag=direct status=none
    dd if=/dev/zero of="$loop" bs=64k count=100 conv=fsync status=none
    blkdiscard -f -l 4M "$loop" 2>/dev/null
    mapper=
    if dmsetup create --noudevsync "$mapped" --table "0 131072 linear $loop 0" 2>/dev/null; then
        dd if=/dev/zero of="/dev/$(dmsetup info -c --noheadings -o blkdevname "$mapped")" bs=32k count=50 oflag=direct \
            status=none &
        mapper=$!
        wait "$mapper"
        dmsetup remove "$mapped"
    fi
    # A kernel thread writes back what waits in the page cache.
    mkfs.ext4 -q -F -E nodiscard "$loop"
    mkdir -p "$work/mnt"
    mount "$loop" "$work/mnt"
    bash -c '[[ -z $2 ]] || echo $$ >"$2/cgroup.procs"
        exec dd if=/dev/zero of="$1" bs=64k count=100 status=none' waits "$work/mnt/file" "${group:-}"
    sync -f "$work/mnt"
    umount "$work/mnt"
    if [[ -n $busy ]]; then
        burners=()
        for ((cpu = 0; cpu < $(nproc); cpu++)); do
            taskset -c "$cpu" bash -c 'while :; do :; done' &
            keep $!
            burners+=($!)
        done
        dd if="$from" of=/dev/null bs=64k count=100 iflag=direct status=none &
        reader=$!
        wait "$reader"
        kill "${burners[@]}"
    fi
}

# sum COLUMN CONDITION: of requests to the loop device
sum() { sql "$db" "SELECT ifnull(sum($1), 0) FROM block_io WHERE device = '$dev' AND ($2)"; }
# A shared flush is the device's own. One that was not issued counts as a write, and so does the writing of zeroes.
seen() {
    echo "$(sum 1 "op = 'read'") $(sum bytes/512 "op = 'read'")" \
        "$(sum 1 "op LIKE 'write%' OR op = 'flush' AND payer <> 'shared'") $(sum bytes/512 "op LIKE 'write%'")" \
        "$(sum 1 "op = 'discard'") $(sum bytes/512 "op = 'discard'") $(sum 1 "payer = 'shared'")"
}
# Of a file system, a file may lie in parts, and the program is read, too.
of_reader() {
    sql "$db" "SELECT ifnull(sum(bytes), 0) FROM block_io JOIN thread USING (session_id, utid)
        JOIN process USING (session_id, upid)
        WHERE device = '$busy' AND op = 'read' AND payer = 'task' AND pid = $reader"
}
# hidden [CONDITION]: how often a process ran that the kernel hides
hidden() { sql "$db" "SELECT count(*) FROM loss l WHERE why = 'not run' AND (${1:-1})"; }
# Of requests that interrupt such a process, none is seen. Where one is missing and such a process ran meanwhile, all is
# recorded again; one that is missing for another reason is so each time.
may_be_hidden() {
    local while_reading="EXISTS (SELECT 1 FROM thread t WHERE tid = ${reader:-0} AND start_ts < l.ts + l.dur
        AND ifnull(end_ts > l.ts, 1))"
    if [[ $(seen) != "$counted" ]]; then [[ $(hidden) != 0 ]]; else
        [[ -n $busy && $(of_reader) -lt $((100 << 16)) && $(hidden "$while_reading") != 0 ]]; fi
}

db=$work/d.db
for try in 1 2 3 4 5; do
    before=$(stats)
    recording_start "$work/$try.tape" --probes default,block
    traffic
    udevadm settle 2>/dev/null || true
    recording_stop
    after=$(stats)
    rm -f "$db"
    import_tape "$work/$try.tape" "$db"
    counted=$(paste <(tr ' ' '\n' <<<"$before") <(tr ' ' '\n' <<<"$after") | awk '{ print $2 - $1 }' | paste -sd' ')
    may_be_hidden || break
done
check_whole "$work/$try.tape" "$db"

is "reads, sectors, writes, sectors, discards, sectors, flushes of the device" "$(seen)" "$counted"
io() { sed -n "s/^$1: //p" "$work/io"; }
# made_by CONDITION: bytes of requests to the loop device that processes made
made_by() {
    sum bytes "payer = 'task' AND utid IN (
        SELECT utid FROM thread JOIN process USING (session_id, upid) WHERE $1)"
}
# There is more there: what was read of programs (also from a network), and pages that a time of access made dirty.
moved() {
    local got
    got=$(made_by "ppid = $(io pid) AND op = '$1'")
    is "bytes of direct requests to $1" "$got" "$3"
    at_least "the same in /proc/PID/io" "$(io "$2")" "$got"
    at_most "the same, and a little more" "$(io "$2")" $((got + (1 << 21)))
}
moved read read_bytes $((200 << 14))
moved write write_bytes $((100 << 16))
at_least "bytes of the page cache that are charged to ${group:-writeback}" "$(sum bytes "$([[ -z ${group:-} ]] &&
    echo "payer = 'writeback'" || echo "cgroup_id = (SELECT id FROM cgroup WHERE path = '/${group##*/}')")")" \
    $((100 << 16))
[[ -z $mapper ]] || is "bytes to the mapped device, charged to who wrote them" \
    "$(made_by "pid = $mapper")" $((50 << 15))
is "requests that loop workers made of these, to another device, are charged to nobody else" \
    "$(sql "$db" "SELECT count(*) FROM block_cost WHERE payer = 'loop'")" 0
if [[ -n $busy ]]; then
    got=$(of_reader)
    at_least "bytes that the reader among tasks that burn is charged with, of $busy" "$got" $((100 << 16))
    at_most "the same, and a little more" "$got" $(((100 << 16) + (1 << 21)))
    others=$(sql "$db" "
        SELECT count(*) FROM block_io b JOIN thread t USING (session_id, utid) JOIN process USING (session_id, upid)
        CROSS JOIN sched_slice s ON s.cpu = b.cpu AND s.ts <= b.ts + b.dur AND s.ts + s.dur > b.ts + b.dur
        WHERE b.device = '$busy' AND b.op = 'read' AND pid = $reader AND s.utid <> b.utid")
    # A fast disk may always be done before its reader sleeps.
    if [[ $busy == nullb0 ]]; then at_least "of these, completions in another's time" "$others" 1; else
        echo "# $others completions in another's time"; fi
fi
is "requests that nobody made" "$(sum 1 "payer = 'unknown'")" 0
echo "# recording $try; $dev: $before -> $after"
finish
