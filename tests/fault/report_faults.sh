#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each command of nettape-report, in each of its formats, while calls fail one by one: memory, files, threads, SQL.
# Either the output is what it is otherwise, or the command says what failed and exits with 1. See
# tests/tools/report_faults.c.
#
#   NT_SEED=N      which calls are drawn (tests/support/rand.h)
#   NT_DRAWN=N     how many, for each command
#   NT_VERBOSE=1   what each command takes; all that is wrong
#
# check-all: it takes half a minute
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/../cli/lib.sh"
built build/tools/{report_faults,names_nomem}

make_tape samples 2
make_tape loss 2 2
make_tape chunks 2 3
make_tape hand
make_tape hotplug
make_tape hostile
make_tape miscounted 3
for name in samples stacks wakeups polls; do cp -r "tests/golden/v1-$name.tape" "$work/$name-1.tape"; done

for name in samples-1 stacks-1 samples; do "$PLAIN" import "$work/$name.tape" -o "$work/$name.db" >/dev/null; done
# Several sessions, each with something else.
"$PLAIN" import "$work"/{hand,stacks-1,loss,samples}.tape -o "$work/all.db" >/dev/null
"$PLAIN" import "$work"/{samples,stacks-1}.tape -o "$work/sums.db" --sums >/dev/null
# Places in a program, which symbolize gives names.
mkdir "$work/symbols" "$work/out"
cp tests/fuzz/corpus/program_fuzz/static "$work/symbols/server"
id=$(readelf -n "$work/symbols/server" 2>/dev/null | awk '/Build ID/ { print $3 }')
cp "$work/stacks-1.db" "$work/places.db"
sqlite3 "$work/places.db" "INSERT INTO symbol(session_id, id, kind, name, build_id, file_offset, path) VALUES
    (1, 1001, 'user', 'server+0x10d', '$id', $((0x10d)), '/opt/x/server'),
    (1, 1002, 'user', 'other+0x10e', '$id', $((0x10e)), NULL)"
make_tape containers
"$PLAIN" import "$work/containers.tape" -o "$work/containers.db" >/dev/null
cat >"$work/names.txt" <<'NAMES'
# a file with a remark
4f0c91756358 web
2ca4a155-3599-498d-bb9d-4446693fa3ea shop/web-7c9
/lxc.payload.box the box
NAMES
cat >"$work/a.sql" <<'SQL'
SELECT * FROM cpu_slice WHERE cpu = 0 AND owner = 'idle';
SELECT a.host, b.uuid FROM session AS a, session AS b;
SELECT a.ts, (SELECT max(b.ts) FROM sched_slice AS b WHERE b.utid = a.utid) FROM sock_op AS a;
SELECT * FROM thread WHERE utid = 1 OR name = 'web';
SELECT a.ts, b.name FROM cpu_slice AS a JOIN thread AS b USING (session_id, utid) ORDER BY b.name, a.ts;
SQL

# Those that take least come first: a call that several commands share fails in the first of them alone.
cat >"$work/commands" <<'COMMANDS'
info chunks.tape --json
info samples.tape
info hostile.tape
latency samples-1.db --by process --csv
query all.db "SELECT 1; SELECT nothing_of_it IS NULL FROM (SELECT NULL AS nothing_of_it)"
stages samples.db --by cpu --csv
timeline all.db --process web --csv
latency samples.db --over-time --svg out/it
export perfetto stacks-1.db -o out/it --cpu 0
retransmits samples.db --csv
flame samples.db --folded --user-stacks
symbolize places.db --symbols symbols
stages all.db --other
query containers.db "SELECT * FROM cgroup AS c JOIN net_cost_cgroup ON cgroup_id = c.id" --names names.txt
latency all.db --json
export perfetto samples.db -o out/it --process 1001
timeline samples.db --worst network --window 100us --each-cpu
export prometheus samples-1.db --by iface
export prometheus chunks.tape --follow 1 -o out/it
export perfetto wakeups-1.tape -o out/it
check all.db
export perfetto stacks-1.tape -o out/it --symbols symbols
export perfetto containers.tape -o out/it --names names.txt
export html stacks-1.db --from 1us
summary containers.db --by cgroup --names names.txt
export perfetto polls-1.tape -o out/it
summary samples.db --process 1001 --json
query samples.tape "SELECT percentile(dur, 0.5), count(DISTINCT utid) FROM cpu_slice GROUP BY owner, cpu"
check hotplug.tape
export perfetto samples.tape -o out/it
import loss.tape -o out/it --tables cpu_slice,sock_op --from 500us --to 1500us
import samples.tape -o out/it --sums
latency samples.tape --by socket --json
query containers.tape "SELECT * FROM cgroup" --names names.txt
export prometheus samples.tape -o out/it
import containers.tape hand.tape -o out/it --names names.txt
summary sums.db
timeline hotplug.tape --json
latency samples.tape --between udp-start udp-socket-read
stages samples.tape --inclusive --json
timeline samples.tape
latency samples.tape --over-time --json
flame --diff stacks-1.tape all.db -o out/it
summary samples.tape --by cgroup --cpu 0 --from 500us --to 1500us
query hostile.tape "SELECT * FROM net_cost_process" --csv
check loss.tape --json
summary all.db --by socket
latency samples.tape --histogram --by socket --limit 1
flame stacks-1.tape -o out/it
import samples.tape -o out/it
query hand.tape -f a.sql --json
import hand.tape stacks-1.tape chunks.tape -o out/it --symbols symbols
stages stacks-1.tape --by process --limit 1
drops samples.tape
summary chunks.tape --json
query all.db -f a.sql
summary stacks-1.tape --csv
wakeups samples.tape --json
timeline loss.tape --worst task --window 100us --json
check samples.tape
query samples.tape -f a.sql
export html all.db -o out/it --by program
summary samples.tape
export html samples.tape -o out/it
COMMANDS
sweep=$PWD/build/tools/report_faults
holds "no failure is swallowed" env -C "$work" "$sweep" -n "${NT_DRAWN:-4}" \
    ${NT_VERBOSE:+-v} <"$work/commands"
holds "nor one of memory while functions of programs are looked for" \
    build/tools/names_nomem tests/fuzz/corpus/program_fuzz
finish
