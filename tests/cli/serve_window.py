#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# A slow and obvious model of what the live page shows, for tests/cli/serve.sh.
#
#   serve_window.py ANSWER SLICES START
#
# ANSWER is what /live.json gave, SLICES has each slice of the tape's CPUs (cpu,owner,ts,dur), START is the session's
# begin. Prints each step of a CPU and owner that differs, and "done".
import collections
import csv
import json
import sys

with open(sys.argv[1], encoding="utf-8") as text:
    costs = json.load(text)["live"]["costs"]
start, step, end = int(sys.argv[3]), costs["step_ns"], costs["to_ns"]
wanted = collections.Counter()
with open(sys.argv[2], encoding="utf-8") as rows:
    for row in csv.DictReader(rows):
        at, to = int(row["ts"]) - start, int(row["ts"]) - start + int(row["dur"])
        while at < to:
            until = min(to, (at // step + 1) * step)
            wanted[int(row["cpu"]), row["owner"], at // step] += until - at
            at = until
got = collections.Counter()
for cpu in costs["cpus"]:
    for owner, sums in cpu["ns"].items():
        for number, ns in enumerate(sums, costs["from_ns"] // step):
            got[cpu["cpu"], owner, number] += ns
for key in sorted(wanted | got):
    if wanted[key] != got[key] and (key[2] + 1) * step > costs["from_ns"]:
        print(f"CPU {key[0]}, {key[1]}, step {key[2]}: {got[key]} and not {wanted[key]}")
if not wanted:
    print("no slices")
print("done" if costs["from_ns"] < end else "nothing")
