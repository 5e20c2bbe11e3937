# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Reads docs/cookbook.md. To be sourced by what runs in the project's directory.

# cookbook_questions DIR: writes the query of each question N into DIR/N.sql
cookbook_questions() {
    awk -v dir="$1" '/^\*\*[0-9]+\./ { n = $1; gsub(/[^0-9]/, "", n) } /^```sql/ { on = 1
        file = dir "/" n ".sql"; next } /^```/ { on = 0 } on { print > file }' docs/cookbook.md
}
