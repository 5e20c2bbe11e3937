#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Filters and sampling of probe latency leave what they say: by device and by the reader's cgroup (latency.sh has its
# process); those that can be nothing are refused. Losses are told.
# check-all: it takes half a minute
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
# shellcheck source=tests/live/latency_lib.sh
source "$(dirname "$0")/latency_lib.sh"

# ---- sampling, and a filter on the namespace and its device ----

recording_start "$work/s.tape" --bpf-stats --probes latency --latency-sample 0.1 --netns "/run/netns/$netns_b" -i veth0
exchange udp 9011 "$count" 100 50 0
exchange tcp 9013 "$count" 100 50 0
recording_stop
db=$work/s.db
import_tape "$work/s.tape" "$db"
adds_up "$db"
is "samples of other devices" "$(sql "$db" "SELECT count(*) FROM skb_latency l LEFT
    JOIN net_device d ON d.id = l.device_id
    WHERE d.netns IS NOT $netns OR d.name IS NOT 'veth0'")" 0
at_least "packets elsewhere that were passed by" "$(sql "$db" 'SELECT sum(skipped_filter) FROM latency_hook')" 1
# One in ten: of 5,000 datagrams 500, and the standard deviation is 21.
at_least "weights of samples at udp-socket-enqueued" "$(at_socket udp-socket-enqueued 9011 'sum(weight)')" \
    $((count / 2))
at_most "weights of samples at udp-socket-enqueued" "$(at_socket udp-socket-enqueued 9011 'sum(weight)')" \
    $((count * 3 / 2))
at_least "samples of these" "$(samples udp-socket-enqueued 9011)" $((count / 20))
at_most "samples of these" "$(samples udp-socket-enqueued 9011)" $((count / 5))
"$report" info "$work/s.tape" >"$work/info"
at_least "info tells of the filter" "$(tr -s ' \n' ' ' <"$work/info" | grep -c "veth0.*$netns" || true)" 1

# refused WHAT ARGUMENT...: an option's value that can be nothing, with a message that names it
refused() {
    local what=$1
    shift
    if "$record" -q -o "$work/no.tape" -d 0.1 --probes latency "$@" 2>"$work/refused"; then
        bad "recorded with $*"
    elif ! grep -qF -- "$what" "$work/refused"; then
        bad "the message for $* does not say: $what: $(cat "$work/refused")"
    fi
}
refused "wants the number of a process" -p none
if [[ $(readlink /proc/self/ns/pid) == "pid:[4026531836]" ]]; then
    refused "there is no process" -p 2147483647
fi
refused "there is no network device nodev0" -i nodev0
refused "is not a network namespace" --netns /etc/passwd
refused "is not a network namespace" --netns /proc/self/ns/mnt
refused "has a network namespace with the inode 1" --netns 1
refused "is not a cgroup" --cgroup /etc
refused "wants a probability" --latency-sample 0
refused "wants a number of packets" --min-queue -1
is "tapes of what was refused" "$(find "$work" -name no.tape | wc -l)" 0

# A reader in a cgroup below the one that is asked for, and one elsewhere.
hierarchy=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
group=$hierarchy/nettape-$$
test_cleanup() { rmdir "$group/below" "$group" 2>/dev/null || true; }
if [[ -n $hierarchy ]] && mkdir -p "$group/below" 2>/dev/null; then
    recording_start "$work/c.tape" --bpf-stats --probes latency --cgroup "$group"
    exchange tcp 9042 "$late" 100 100 0
    echo $$ >"$group/below/cgroup.procs"
    exchange tcp 9041 "$late" 100 100 0
    echo $$ >"$hierarchy/cgroup.procs"
    recording_stop
    db=$work/c.db
    import_tape "$work/c.tape" "$db"
    adds_up "$db"
    at_least "reads in the cgroup" "$(samples tcp-socket-read 9041)" 1
    is "reads elsewhere" "$(samples tcp-socket-read 9042)" 0
    # By tracepoints a connection's first segment may have no socket.
    at_most "samples of other sockets" \
        "$(($(sql "$db" "SELECT count(*) FROM skb_latency") - $(samples tcp-socket-read 9041)))" 1
else
    echo "# no cgroup2 hierarchy that can be written to"
fi

# ---- loss ----

# wait_for_datagrams NUMBER: until so many more have come
wait_for_datagrams() { wait_for 60 have_come $(($(datagrams_in) + $1)) || bad "the flood does not come"; }
recording_start "$work/l.tape" --bpf-stats --probes latency --ring-size 64k
# Not before the recording: in a guest the recorder would wait for its CPU.
flood_start "$(scaled 50000)"
wait_for_datagrams 100
kill -STOP "$recorder"
# Three records of 64 bytes each, which is more than the rings of two CPUs hold.
wait_for_datagrams "$(scaled 30000)"
kill -CONT "$recorder"
sleep 0.3
recording_stop
is "the recorder's exit status" "$recorder_status" 3
db=$work/l.db
import_tape "$work/l.tape" "$db"
adds_up "$db"
at_least "samples that found no room" "$(sql "$db" 'SELECT sum(lost) FROM latency_hook')" 100
is "of these, told on the tape" "$(sql "$db" "SELECT sum(count) FROM loss WHERE kind = 'latency'")" \
    "$(sql "$db" 'SELECT sum(lost) FROM latency_hook')"
finish
