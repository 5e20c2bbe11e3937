#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Writes the reports on a tape into a directory, to be compared: tests/vm/guest/reports.sh TAPE DIRECTORY
set -euo pipefail
report=$PWD/build/nettape-report
mkdir -p "$2"
for arguments in "summary" "summary --json" "info" "info --json"; do
    # shellcheck disable=SC2086
    "$report" $arguments "$1" >"$2/${arguments// /}"
done
"$report" import "$1" -o "$2/import.db" 2>/dev/null
sqlite3 -batch -readonly "$2/import.db" .dump >"$2/import.sql"
rm "$2/import.db"
