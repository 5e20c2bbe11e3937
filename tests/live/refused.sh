#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A kernel that refuses one program, or one map: the rest is recorded, and the recorder and `info` name what is not.
# Which probe does without which program is for unit/record/plan_test; here libbpf and a kernel say no. A recorder that
# may not have what it asks for, or that does not see the host as the kernel does, says so, too.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
make -s build/preload/refuse.so
refusing=(env LD_PRELOAD="$PWD/build/preload/refuse.so")

# record_refusing NAME VARIABLE=WHAT PROBES
record_refusing() {
    status=0
    "${refusing[@]}" "$2" "$record" -d 0.2 -o "$work/$1.tape" --probes "$3" 2>"$work/$1.err" || status=$?
    [[ $status != 3 ]] || status=0
}

# recorded NAME: it went on, and the tape adds up
recorded() {
    is "$1: exit status" "$status" 0
    [[ $status == 0 ]] || { cat "$work/$1.err"; return; }
    "$report" info "$work/$1.tape" | tr '\n' ' ' | tr -s ' ' >"$work/$1.info"
    succeeds "$1: check" "$report" check "$work/$1.tape"
}

# says NAME FILE TEXT
says() {
    if grep -qF -- "$3" "$work/$1.$2"; then ok "$1: $2 says: $3"; else
        bad "$1: $2 does not say: $3"
        sed 's/^/    /' "$work/$1.$2"
    fi
}

record_refusing call NT_REFUSE_PROGRAM=nt_sys_enter default
recorded call
# Its twin, where programs at tracepoints may be preempted.
program=$(grep -oE 'nt_sys_enter(__event)?' "$work/call.err" | head -1)
says call err "this kernel refuses the program $program (BPF program load failed: Invalid argument)"
says call info "This kernel refuses the program $program (BPF program load failed: Invalid argument): the probe \
socket is served by $(grep -qF 'served by fentry' "$work/call.info" && echo fentry || echo ends)."

record_refusing optional NT_REFUSE_PROGRAM=nt_cgroup_mkdir sched
recorded optional
says optional info "This kernel refuses the program nt_cgroup_mkdir (BPF program load failed: Invalid argument): what"

record_refusing probe NT_REFUSE_PROGRAM=nt_kfree_skb sched,irq,drops
recorded probe
says probe err "recording sched, irq to"
says probe err "not recorded: drops is not available on this kernel"
says probe info "The probe drops is not available on this kernel (tp_btf:kfree_skb: this kernel refuses the program"

# libbpf names no program: the probes are tried one by one.
record_refusing map NT_REFUSE_MAP=nt_seen_stacks irq,stacks
recorded map
says map err "recording sched, softirq, irq to"
says map info "(this kernel refuses its programs: map 'nt_seen_stacks': failed to create: Invalid argument(-22))"

record_refusing base NT_REFUSE_PROGRAM=nt_sched_switch default
is "without context switches: exit status" "$status" 1
says base err "this kernel ($(uname -r)) refuses what nothing can be recorded without (nt_sched_switch: "
is "and no tape" "$(find "$work" -maxdepth 1 -name base.tape)" ""

"${refusing[@]}" NT_REFUSE_PROGRAM=nt_napi_poll "$record" --list-probes | tr '\n' ' ' | tr -s ' ' >"$work/list.out"
says list out "not available (tp_btf:napi_poll: this kernel refuses the program nt_napi_poll: BPF program load failed"

# record_as NAME COMMAND...: the recorder, by that command
record_as() {
    local name=$1
    shift
    status=0
    "$@" "$record" -d 0.2 -o "$work/$name.tape" 2>"$work/$name.err" || status=$?
    [[ $status != 3 ]] || status=0
}

record_as priority prlimit --rtprio=0 setpriv --bounding-set -sys_nice --inh-caps -sys_nice
recorded priority
says priority err "no real-time priority (Operation not permitted), so a busy host may lose more records: allow"
says priority info "Real-time priority was refused to the recorder (Operation not permitted)"

record_as size prlimit --fsize=4096
is "files that may not be large: exit status" "$status" 1
says size err "File too large; the part written before is whole and can be read: allow larger files (ulimit -f), or"
succeeds "size: info" "$report" info "$work/size.tape"

# A part of the host, or another clock than the kernel's: then what the tape said would be wrong.
# not_recorded NAME TEXT
not_recorded() {
    is "$1: exit status" "$status" 1
    says "$1" err "$2"
    is "$1: what is left of the tape" "$(find "$work" -maxdepth 1 -name "$1.tape")" ""
}
record_as pids unshare --pid --fork --mount-proc
not_recorded pids "in a pid namespace few of the host's processes are seen, and none by its number: record outside"
if unshare --time --monotonic 1000 true 2>/dev/null; then
    record_as ahead unshare --time --monotonic 1000
    not_recorded ahead "the monotonic clock is 1000.0 s ahead of the kernel's here, as in a time namespace: record"
    # A guest is not up for so long.
    record_as behind unshare --time --monotonic=-2
    not_recorded behind "the monotonic clock is 2.0 s behind the kernel's here"
fi
finish
