#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The command line of nettape-record: its errors, its help, and that help and list of probes agree and fit a terminal.
# Records nothing, and needs neither kernel nor rights.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
record=$PWD/build/nettape-record
[[ -x $record ]] || skip "build/nettape-record is not built"
unset SUDO_UID SUDO_GID PKEXEC_UID

# record STATUS ARGUMENT...: runs the recorder, which must exit so; its output is in $out and $err then
record() {
    local wanted=$1 status=0
    shift
    "$record" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    out=$(<"$work/out") err=$(<"$work/err")
    is "exit status of: $*" "$status" "$wanted"
}
# fits WHAT: no line of $out is wider than a terminal
fits() { all "$1: lines over 80 columns" "$(awk '{ long += length > 80 } END { print NR, long + 0 }' <<<"$out")"; }
# misused PART ARGUMENT...: exit status 2, and one line on standard error that has this part and names the help
misused() {
    local part=$1
    shift
    record 2 "$@"
    nothing "nothing on standard output" "$out"
    is "one line" "$(wc -l <"$work/err")" 1
    has "says what is wrong" "$err" "$part"
    has "names the help" "$err" "nettape-record --help"
}

record 0 --version
has "version" "$out" "nettape-record "
record 0 --help
fits "--help"
help=$out
record 0 -h
is "-h is --help" "$out" "$help"
record 0 --hel
is "an abbreviation" "$out" "$help"

# Probes: of what the kernel has, if it says. The help and the manual name all.
if "$record" --list-probes >"$work/probes" 2>"$work/err"; then
    out=$(<"$work/probes")
    fits "--list-probes"
    for probe in $(grep -oE '^[a-z]+' "$work/probes"); do
        has "help names $probe" "$help" "$probe"
        has "the manual names $probe" "$(<docs/nettape-record.1)" "$probe"
    done
    is "probes" "$(grep -c '^[a-z]' "$work/probes")" 20
    is "the first probe" "$(head -2 "$work/probes")" \
        "sched       context switches; tasks, processes and cgroups (always on)
            by tracepoints: sched_switch task_newtask sched_process_exec"
    points=$(awk '/^[a-z]/ || / not | and a / { on = 0 } sub(/.* by tracepoints:/, "") { on = 1 } on' "$work/probes")
    all "tracepoints that it names, and those that the kernel has not" "$(for point in $points; do
        grep -aqF "btf_trace_$point" /sys/kernel/btf/vmlinux && echo has || echo lacks
    done | awk '{ n++; lacks += $1 == "lacks" } END { print n + 0, lacks + 0 }')"
    # A guest may have no such clock.
    ! grep -q ' by perf_event' "$work/probes" || is "points of the last" \
        "$(sed -n '/^stacks/,$p' "$work/probes" | grep ' by perf')" "            by perf_event: cpu-clock"
    has "not covered by probe irq" "$(tr -s ' \n' ' ' <"$work/probes")" "not covered: Interrupt entry and exit code"
else
    echo "# --list-probes was not looked at: $(<"$work/err")"
fi

misused "unknown option '--porbes' (did you mean '--probes'?)" --porbes sched
misused "unknown option '--durration' (did you mean '--duration'?)" --durration=5
misused "unknown option '--frobnicate';" --frobnicate
misused "unknown option '-x'" -x
misused "option '--p' is ambiguous: --probes, --plan, --pid" --p 5
misused "option '--quiet' takes no value" --quiet=1
misused "option '-d' needs a value, such as 10s" -d
misused "option '--output' needs a value, such as busy.tape" --output
misused "option '-o' needs a value" -o -- true
for bad in 0 0s -1 5x 1e3 nan inf "" s 1,5 99999999999999999999; do
    misused "-d wants a time above 0, such as 10s, 2m or 500ms" -d "$bad"; done
misused "unknown probe 'sokcet' (did you mean 'socket'?)" --probes sched,sokcet
misused "unknown probe 'deafult' (did you mean 'default'?)" --probes deafult
misused "unknown probe 'frobnicate':" --probes frobnicate
misused "-o before the name of a tape, and -- before a command: sleep" sleep 5
misused "-o before the name of a tape" -d 1 busy.tape
misused "no command after --" -o "$work/n.tape" --
misused "-o wants a directory" -o ''
misused "-o wants a directory" -o -q
misused "--plan wants fentry, tracepoints, events or ends" --plan frobnicate
misused "--ring-size wants 64k to 1G" --ring-size 3
misused "-p wants the number of a process" -p self
misused "-F wants samples a second" -F 0
misused "-p needs the probe latency, which is off: add --probes default,latency" -p 1
misused "--netns needs the probe latency, which is off" --probes stacks --stacks all --netns 5
misused "--user-stacks needs the probe stacks, which is off: add --probes default,stacks" --user-stacks
misused "there is no user 'no-such-user' on this host" --user no-such-user

# failed PART ARGUMENT...: exit status 1, and one line that names what failed and the remedy
failed() {
    local part=$1
    shift
    record 1 "$@"
    is "one line" "$(wc -l <"$work/err")" 1
    has "says what failed" "$err" "$part"
    has "says what to do" "$err" "-o"
}
mkdir "$work/full" "$work/empty"
touch "$work/file" "$work/full/something"
ln -s empty "$work/link"
ln -s nothing "$work/dangling"
failed "$work/full exists and is not empty" -o "$work/full"
failed "$work/file exists and is not a directory" -o "$work/file"
failed "$work/file is not a directory" -o "$work/file/t.tape"
failed "$work/a does not exist" -o "$work/a/b/t.tape"
failed "$work/link is a link" -o "$work/link"
failed "is a link" -o "$work/link/"
failed "is a link" -o "$work/dangling"
is "nothing is made where links lead" "$(find "$work/empty" "$work/nothing" 2>/dev/null)" "$work/empty"

# As somebody else than root: whose the directory is, and that --user is root's.
somebody=()
if [[ $(id -u) == 0 ]] && command -v setpriv >/dev/null; then
    somebody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    install -m 755 "$record" "$work/nettape-record"
    chmod 755 "$work"
    mkdir -m 700 "$work/roots"
elif [[ $(id -u) == 0 ]]; then
    echo "# setpriv is not there: the recorder was not run by another user"
fi
if [[ $(id -u) != 0 ]]; then cp "$record" "$work"; fi
if [[ $(id -u) != 0 ]] || "${somebody[@]}" "$work/nettape-record" --version >/dev/null 2>&1; then
    record=("${somebody[@]}" "$work/nettape-record")
    record() {
        local wanted=$1 status=0
        shift
        "${record[@]}" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
        out=$(<"$work/out") err=$(<"$work/err")
        is "as a user, exit status of: $*" "$status" "$wanted"
    }
    misused "--user: only root can give the tape to another user" --user root
    if [[ ${#somebody[@]} != 0 ]]; then
        failed "$work belongs to root (mode 0755), and" -o "$work/t.tape"
        failed "$work/roots belongs to root (mode 0700), and" -o "$work/roots/t/t.tape"
        has "and names sudo" "$err" "use sudo"
    fi
fi
finish
