#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Allocations of the importer fail, one by one; see tests/tools/import_nomem.c. Then those of SQL on a tape, latency,
# the exports, timeline, and names of programs.
#
# check-all: it takes minutes
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/../cli/lib.sh"
make -s build/tools/{import,query,latency,perfetto,names}_nomem
make_tape hostile
make_tape hand
make_tape loss 2
for tape in "$work/hostile.tape" "$work/loss.tape" tests/golden/v1-samples.tape; do
    holds "the importer survives it: ${tape##*/}" build/tools/import_nomem "$tape"
    holds "so does SQL on it" build/tools/query_nomem "$tape" 41
    holds "so does the export to Perfetto" build/tools/perfetto_nomem "$tape"
done
"$REPORT" import tests/golden/v1-samples.tape -o "$work/samples.db" >/dev/null
"$REPORT" import "$work/hand.tape" -o "$work/hand.db" >/dev/null
"$REPORT" import tests/golden/v1-stacks.tape -o "$work/stacks.db" >/dev/null
# Threads that wake-ups alone tell of.
holds "also where records tell of threads" build/tools/import_nomem tests/golden/v1-wakeups.tape
holds "so do latency, export, timeline, stages and flame" \
    build/tools/latency_nomem "$work"/{samples,hand,stacks}.db 2>"$work/said"
holds "and the export to Perfetto of a database" build/tools/perfetto_nomem "$work/samples.db" 3
grep -v '^nettape-report: ' "$work/said" || true
holds "and looking for functions of programs" build/tools/names_nomem tests/fuzz/corpus/program_fuzz
finish
