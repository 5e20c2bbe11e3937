#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# nettape-record --serve as root: the server shows the tape as the user who called sudo, with nothing of root's, on the
# usual port or another one. It ends with the recorder, also with one that is killed; without it the recording goes on.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
[[ -x build/nettape-serve ]] || skip "nettape-serve is not made here: bash tests/setup.sh serve"
for tool in curl setpriv; do type $tool >/dev/null || skip "no $tool"; done
user=65534 group=65533

# Not below $work: the project's directory may be closed to other users.
base=$(mktemp -d)
# shellcheck disable=SC2317  # called by the library
test_cleanup() { rm -rf --one-file-system "$base"; }
chmod 755 "$base"
install -m 755 "$record" build/nettape-serve "$base"
# With a group that the server must not have.
record=$base/recorder
printf '#!/bin/sh\nexec setpriv --groups 4 %s "$@"\n' "$base/nettape-record" >"$record"
chmod 755 "$record"
tapes=$base/tapes
install -d -o $user -g $group "$tapes"
unset PKEXEC_UID
export SUDO_UID=$user SUDO_GID=$group

address() { sed -nE 's|^nettape-serve: http://(127\.0\.0\.1:[0-9]+)/\?token=.*|\1|p' "$work/record.log"; }
token() { sed -nE 's|^nettape-serve: .*token=([0-9a-f]+).*|\1|p' "$work/record.log"; }
has_address() { [[ $(address) ]]; }
figures() { curl -sf "http://$(address)/metrics?token=$(token)"; }
# serving_start TAPE: $server is its server then, which has told where it is
serving_start() {
    recording_start "$tapes/$1" --serve
    wait_for 120 has_address
    server=$(pgrep -P "$recorder" -x nettape-serve)
}
is_gone() { [[ ! -d /proc/$server ]]; }
status_of() { sed -n "s/^$1:[[:space:]]*//p" "/proc/$server/status" | tr -s '\t ' ' '; }

# Another one has the usual port, for a while unless it is a stranger.
port_is_used() { : <>/dev/tcp/127.0.0.1/9477; } 2>/dev/null
other=
if ! port_is_used; then
    "$base/nettape-serve" "$tapes" -l 9477 >"$work/other.log" 2>&1 &
    other=$!
    keep "$other"
    wait_for 120 port_is_used
fi
serving_start a.tape
is "a port that is in use is left alone" "$(address | grep -c ':9477$')" 0
wait_for 120 figures
is "figures" "$(figures | grep -c '^nettape_complete_until_seconds ')" 1
is "its user" "$(status_of Uid)" "$user $user $user $user"
is "its group" "$(status_of Gid), $(status_of Groups)" "$group $group $group $group, "
is "its rights" "$(status_of CapPrm) $(status_of CapEff) $(status_of CapAmb) $(status_of NoNewPrivs)" \
    "0000000000000000 0000000000000000 0000000000000000 1"
is "its environment" "$(tr '\0' '\n' <"/proc/$server/environ" | cut -d= -f1 | sort | xargs)" "LISTEN_FDS LISTEN_PID"
# What the recorder was given is its own: here the pipe that tells of the begin.
is "files of the recorder" "$(find "/proc/$server/fd" -lname '*/begun' | wc -l)" 0
is "its session, terminal and directory" "$(ps -o sid=,tty= -p "$server" | xargs) $(readlink "/proc/$server/cwd")" \
    "$server ? /"
recording_stop
wait_for 120 is_gone || bad "the server goes on after the recording"
is "complaints" "$(grep -c '^nettape-record:' "$work/record.log")" 0
[[ -z $other ]] || { kill -TERM "$other" && wait "$other"; }

is_free=0
port_is_used || is_free=1
serving_start b.tape
((! is_free)) || is "the usual port" "$(address)" 127.0.0.1:9477
kill -KILL "$server"
tells() { grep -qF "nettape-serve has ended with status 137; the recording goes on" "$work/record.log"; }
wait_for 120 tells || bad "that the server has ended is not told"
recording_stop
succeeds "the tape is whole" "$report" check "$tapes/b.tape"

serving_start c.tape
recorder_kill
wait_for 120 is_gone || bad "the server goes on without its recorder"

# A server that somebody has taken over cannot drive the terminal.
mv "$base/nettape-serve" "$base/real"
printf '#!/bin/sh\nprintf "said: \\033[2J \\177 \\302"; sleep 1.1; printf "\\233 \\303\\237\\n"; exec sleep 1000\n' \
    >"$base/nettape-serve"
chmod 755 "$base/nettape-serve"
recording_start "$tapes/e.tape" --serve
has_said() { grep -aqF $'\303\237' "$work/record.log"; }
wait_for 120 has_said || bad "what the server says is not printed"
is "control characters" "$(grep -a '^said: ' "$work/record.log" | LC_ALL=C tr '\302' '<')" $'said: ?[2J ? <? \303\237'
recording_stop
mv "$base/real" "$base/nettape-serve"

# Who may not look into the directory is told so, and the tape is there.
chmod 700 "$base"
recording_start "$tapes/d.tape" --serve
complains() { grep -qE "^nettape-record: (cannot run|nettape-serve has ended)" "$work/record.log"; }
wait_for 120 complains || bad "nothing is said of a server that cannot run"
recording_stop
succeeds "the tape is whole" "$report" check "$tapes/d.tape"
finish
