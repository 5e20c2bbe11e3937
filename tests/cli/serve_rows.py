#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Whether answers of /api/query have the rows of `nettape-report query --json`, for tests/cli/serve_queries.sh.
#
#   serve_rows.py DIR N      compares DIR/rows.I with DIR/wanted.I
#
# Prints "all", or which differ.
import json
import sys

wrong = []
n_rows = 0
for i in range(int(sys.argv[2])):
    with open(f"{sys.argv[1]}/rows.{i}") as got, open(f"{sys.argv[1]}/wanted.{i}") as wanted:
        answer, rows = json.load(got), json.load(wanted)
    n_rows += len(rows)
    if answer["rows"] != [list(row.values()) for row in rows] or answer["is_cut"]:
        wrong.append(i)
    if rows and answer["columns"] != list(rows[0]):
        wrong.append(i)
    if answer["columns"] == ["session_id", "text"] and (
            not rows or answer["problems"] != [row["text"] for row in rows]):
        wrong.append(i)
print(f"these differ: {wrong}" if wrong or not n_rows else "all")
