#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Open files: each CPU takes some, so the recorder raises its limit as far as it may. Its command keeps the old limit.
# Where the highest limit is too low, the recorder says so.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder

# with SOFT HARD COMMAND...: and no files open but the usual three
with() {
    (
        for fd in {3..99}; do eval "exec $fd>&-"; done
        ulimit -Sn "$1" && ulimit -Hn "$2" && "${@:3}"
    )
}
# shellcheck disable=SC2016  # it is the command's shell that asks
succeeds "a recording from a shell that allows 12 open files" with 12 1024 \
    may_lose "$record" --probes default,stacks --stacks all -o "$work/a.tape" -- \
    sh -c 'ulimit -Sn >"$0"; sleep 0.3' "$work/limit"
is "the command's limit" "$(<"$work/limit")" 12
at_least "samples" "$("$report" query "$work/a.tape" "SELECT count(*) FROM stack_sample" --csv | tail -1)" 1
status=0
with 12 12 "$record" -d 0.3 -o "$work/b.tape" 2>"$work/err" || status=$?
is "exit status where no more are allowed" "$status" 1
is "and what it says" "$(grep -c 'open files' "$work/err")" 1
is "no tape" "$(find "$work" -name b.tape)" ""
finish
