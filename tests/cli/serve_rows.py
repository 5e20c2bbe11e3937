#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Whether answers of /api/query have the rows of `nettape-report query --json`, for tests/cli/serve_queries.sh.
#
#   serve_rows.py GOT WANTED     two directories, with a file for each table. One is "problem"
#
# Prints "all of N", or which differ.
import json
import os
import sys


def is_same(name):
    with open(f"{sys.argv[1]}/{name}") as got, open(f"{sys.argv[2]}/{name}") as wanted:
        answer, rows = json.load(got), json.load(wanted)
    problems = [row["text"] for row in rows] if name == "problem" else answer["problems"]
    return (answer["rows"] == [list(row.values()) for row in rows] and not answer["is_cut"] and answer["problems"]
            and answer["problems"] == problems and (not rows or answer["columns"] == list(rows[0])))


names = os.listdir(sys.argv[2])
wrong = [name for name in names if not is_same(name)]
print(f"these differ: {wrong}" if wrong else f"all of {len(names)}")
