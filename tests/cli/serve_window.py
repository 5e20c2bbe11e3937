#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# A slow and obvious model of what the live page shows, for tests/cli/serve.sh.
#
#   serve_window.py ANSWER SLICES START SECONDS
#
# ANSWER is what /live.json gave of the last SECONDS; SLICES has each slice of the tape's CPUs (cpu,owner,ts,dur), START
# is the session's begin. Prints how each step of each CPU and owner differs, and "done".
import collections
import csv
import json
import sys

answer, slices, start, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with open(answer, encoding="utf-8") as text:
    costs = json.load(text)["live"]["costs"]
step, begin, end = costs["step_ns"], costs["from_ns"], costs["to_ns"]
wanted = collections.Counter()
with open(slices, encoding="utf-8") as rows:
    for row in csv.DictReader(rows):
        at, to = max(int(row["ts"]) - start, begin), min(int(row["ts"]) - start + int(row["dur"]), end)
        while at < to:
            number = (at - begin) // step
            until = min(to, begin + (number + 1) * step)
            wanted[int(row["cpu"]), row["owner"], number] += until - at
            at = until
got = collections.Counter()
for cpu in costs["cpus"]:
    for owner, sums in cpu["ns"].items():
        for number, ns in enumerate(sums):
            got[cpu["cpu"], owner, number] += ns
for key in sorted(set(wanted) | set(got)):
    if wanted[key] != got[key]:
        print(f"CPU {key[0]}, {key[1]}, step {key[2]}: {got[key]} and not {wanted[key]}")
if not end - seconds * 10**9 - step <= begin <= max(0, end - seconds * 10**9):
    print(f"it begins at {begin}, and ends at {end}")
if costs["steps"] != -(-(end - begin) // step):
    print(f"{costs['steps']} steps")
print("done")
