#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The README, played from top to bottom by a newcomer: every line of it that begins with "$" is run, in order, first by root,
# then by a user under sudo; and what it shows below a line must be what is printed, but for numbers, names of programs and
# addresses, which are this host's. Then the mistakes that a newcomer makes, and what each is told.
#
# Its ten seconds are three here. sudo itself is not needed: what the programs see of it is the variables that it sets, and who owns what.
# check-all: it takes half a minute
# shellcheck source=tests/live/lib.sh disable=SC2154
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns
command -v iperf3 >/dev/null || skip "iperf3 is not installed"
command -v setpriv >/dev/null || skip "setpriv is not installed"
command -v python3 >/dev/null || skip "python3 is not installed"

user=65534 # nobody: has no home and no rights
readme=$PWD/README.md
checker=$PWD/tests/live/first_hour.py

# Traffic for as long as the test takes: TCP in bulk, and packets of UDP.
"${in_b[@]}" iperf3 -s -B "$addr_b" >"$work/server.log" 2>&1 &
keep $!
"${in_b[@]}" iperf3 -s -B "$addr_b" -p 5202 >"$work/server2.log" 2>&1 &
keep $!
listens() { [[ $("${in_b[@]}" ss -tln | grep -cE ':520[12] ') == 2 ]]; }
wait_for 10 listens || skip "iperf3 does not listen"
"${in_a[@]}" iperf3 -c "$addr_b" -b 400M -t 3600 >/dev/null 2>&1 &
keep $!
"${in_a[@]}" iperf3 -c "$addr_b" -p 5202 -u -b 20M -l 200 -t 3600 >/dev/null 2>&1 &
keep $!

# as_user COMMAND...: without root's rights
as_user() { setpriv --reuid=$user --regid=$user --clear-groups --no-new-privs -- "$@"; }

# a_place NAME OWNER: a directory with both programs in its PATH, as after `make install`
a_place() {
    place=$work/$1
    mkdir -p "$place/bin"
    # The user reaches it through directories that are not his.
    cp "$record" "$report" "$place/bin/"
    chown "$2:$2" "$place"
    chmod 755 "$work" "$place" "$place/bin"
}

# play WHO: the lines of the README in this place. `sudo COMMAND` is what sudo would make of it.
play() {
    local who=$1 number=0 line status
    python3 "$checker" commands "$readme" >"$work/commands"
    while IFS= read -r line; do
        number=$((number + 1))
        status=0
        line=${line/-d 10 /-d 3 }
        if [[ $line == sudo\ * || $who == root ]]; then
            (cd "$place" && PATH=$place/bin:$PATH SUDO_UID=$([[ $who == root ]] && echo 0 || echo $user) SUDO_GID=$([[ $who == root ]] && echo 0 || echo $user) \
                bash -c "sudo() { \"\$@\"; }; $line") >"$work/printed" 2>&1 </dev/null || status=$?
        else
            (cd "$place" && PATH=$place/bin:$PATH HOME=$place as_user bash -c "$line") >"$work/printed" 2>&1 </dev/null || status=$?
        fi
        # 3: recorded, with losses; the machine may be full.
        if [[ $status == 0 || ($status == 3 && $line == *nettape-record*) ]]; then ok "$who: $line"; else
            bad "$who: exit status $status of: $line"
            tail -5 "$work/printed" | sed 's/^/    /'
        fi
        if python3 "$checker" compare "$readme" "$number" "$work/printed" >"$work/compared"; then
            [[ ! -s $work/compared ]] || ok "$who: it prints what the README shows below: $line"
        else
            bad "$who: it does not print what the README shows below: $line"
            sed 's/^/    /' "$work/compared"
        fi
    done <"$work/commands"
    at_least "$who: commands of the README" "$number" 12
}

a_place root 0
play root
a_place user $user
play user
is "files of the tape that are not the user's" "$(find "$place"/*.tape ! -user $user | wc -l)" 0

# ---- mistakes ----

# told STATUS WHAT COMMAND...: what the user is told, and the exit status
told() {
    local wanted=$1 what=$2 status=0
    shift 2
    (cd "$place" && PATH=$place/bin:$PATH as_user "$@") >"$work/printed" 2>&1 </dev/null || status=$?
    if [[ $status == "$wanted" ]] && grep -qF -- "$what" "$work/printed"; then ok "$* says: $what"; else
        bad "$*: exit status $status, and not $wanted with: $what"
        head -5 "$work/printed" | sed 's/^/    /'
    fi
}

told 2 "did you mean 'summary'?" nettape-report sumary busy.tape
told 2 "did you mean '--from'?" nettape-report timeline busy.tape --fron 2
told 2 "a tape or a database" nettape-report summary
told 1 "a database that nettape-report import made" nettape-report info busy.db
told 1 "a database that nettape-report import made" nettape-report import busy.db -o other.db
told 1 "sock_op" nettape-report query busy.tape "SELECT * FROM sockop"
told 2 "html, perfetto or prometheus" nettape-report export busy.tape -o x.html
for command in stages latency flame; do
    probe=stacks
    [[ $command != latency ]] || probe=latency
    told 1 "record with nettape-record --probes default,$probe" nettape-report $command busy.tape
done
is "help of a command, both ways" "$("$report" help summary | sha256sum)" "$("$report" summary --help | sha256sum)"
told 2 "did you mean '--duration'?" nettape-record --duraton 3
told 2 "did you mean 'socket'" nettape-record --probes sokcet -o x.tape
told 2 "10s" nettape-record -d ten -o x.tape
told 2 "-- before a command" nettape-record -o x.tape sleep 5
told 1 "root" nettape-record -d 1 -o x.tape
told 1 "not empty" nettape-record -d 1 -o busy.tape
# A tape that root recorded without sudo, for instance from cron.
env -u SUDO_UID -u PKEXEC_UID "$record" -q -d 0.2 -o "$place/roots.tape"
told 1 "sudo chown -R" nettape-report summary roots.tape
status=0
bash tests/check.sh NO_SUCH_TEST >"$work/printed" 2>&1 || status=$?
is "make check ONLY= with a name that no test has" "$status" 2
holds_not() { if "$@"; then bad "is there: $*"; else ok "not there: $*"; fi; }
holds_not test -e "$place/x.tape"
holds_not test -e "$place/other.db"

finish
