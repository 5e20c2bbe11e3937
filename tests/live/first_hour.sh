#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The README, played from top to bottom by a newcomer: every line of it that begins with "$" is run, in order, first by
# root, then by a user under sudo. It must print what the README shows below it, but for numbers, names and addresses,
# which are this host's. Then the mistakes that a newcomer makes, and the message to each.
#
# Its ten seconds are three here. sudo itself is not needed: the programs see only the variables that it sets.
# check-all: it takes half a minute
# shellcheck source=tests/live/lib.sh disable=SC2154
source "$(dirname "$0")/lib.sh"
# shellcheck source=tests/redis.sh
source tests/redis.sh
needs_recorder
needs_netns
command -v iperf3 >/dev/null || skip "iperf3 is not installed"
command -v setpriv >/dev/null || skip "setpriv is not installed"
command -v python3 >/dev/null || skip "python3 is not installed"
has_redis || skip "redis-tools is not installed"

user=65534 # nobody: has no home and no rights
readme=$PWD/README.md
checker=$PWD/tests/readme.py
redis_start || skip "redis does not start: $(tail -1 "$work/redis.log")"

# beside_traffic COMMAND...: run beside the README's traffic
beside_traffic() {
    local before=${#background[@]} status=0
    redis_load large
    copy_start 0 60
    "$@" || status=$?
    kill "${background[@]:before}"
    wait "${background[@]:before}" || true
    background=("${background[@]:0:before}")
    return "$status"
}

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

# run_as WHO LINE: a line of the README in this place. `sudo COMMAND` is what sudo would make of it.
# shellcheck disable=SC2317  # called by its name in an array
run_as() {
    local owner=$user
    [[ $1 != root ]] || owner=0
    if [[ $2 == sudo\ * || $1 == root ]]; then
        (cd "$place" && PATH=$place/bin:$PATH SUDO_UID=$owner SUDO_GID=$owner bash -c "sudo() { \"\$@\"; }; $2")
    else
        (cd "$place" && PATH=$place/bin:$PATH HOME=$place as_user bash -c "$2")
    fi >"$work/printed" 2>&1 </dev/null
}

# play WHO: the lines of the README
play() {
    local who=$1 number=0 line status run
    python3 "$checker" commands "$readme" >"$work/commands"
    while IFS= read -r line; do
        number=$((number + 1))
        status=0
        run=(run_as "$who" "${line/-d 10 /-d 3 }")
        if [[ $line == *nettape-record* ]]; then
            beside_traffic "${run[@]}" || status=$?
        else
            "${run[@]}" || status=$?
        fi
        # 3: recorded, with losses; the machine may be full.
        if [[ $status == 0 || ($status == 3 && $line == *nettape-record*) ]]; then ok "$who: $line"; else
            bad "$who: exit status $status of: $line"
            tail -5 "$work/printed" | sed 's/^/    /'
        fi
        if python3 "$checker" compare "$readme" "$number" "$work/printed" >"$work/compared"; then
            [[ ! -s $work/compared ]] || ok "$who: it prints what the README shows below: $line"
        else
            bad "$who: it does not print what the README shows below: $line: $(head -1 "$work/compared")"
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
told 1 "perhaps you mean busy.tape" nettape-report summary busy.tap
told 1 "sock_op" nettape-report query busy.tape "SELECT * FROM sockop"
told 2 "html, perfetto or prometheus" nettape-report export busy.tape -o x.html
SUDO_UID=$user SUDO_GID=$user may_lose "$record" -q -d 0.2 -o "$place/plain.tape"
for command in stages latency flame; do
    probe=stacks
    [[ $command != latency ]] || probe=latency
    told 1 "record with nettape-record --probes default,$probe" nettape-report $command plain.tape
done
is "help of a command, both ways" "$("$report" help summary | sha256sum)" "$("$report" summary --help | sha256sum)"
told 2 "did you mean '--duration'?" nettape-record --duraton 3
told 2 "did you mean 'socket'" nettape-record --probes sokcet -o x.tape
told 2 "10s" nettape-record -d ten -o x.tape
told 2 "-- before a command" nettape-record -o x.tape sleep 5
told 1 "root" nettape-record -d 1 -o x.tape
told 1 "not empty" nettape-record -d 1 -o busy.tape
# A tape that root recorded without sudo, for instance from cron.
may_lose env -u SUDO_UID -u PKEXEC_UID "$record" -q -d 0.2 -o "$place/roots.tape"
told 1 "sudo chown -R" nettape-report summary roots.tape
status=0
bash tests/check.sh NO_SUCH_TEST >"$work/printed" 2>&1 || status=$?
is "make check ONLY= with a name that no test has" "$status" 2
holds_not() { if "$@"; then bad "is there: $*"; else ok "not there: $*"; fi; }
holds_not test -e "$place/x.tape"
holds_not test -e "$place/other.db"

finish
