#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# report/export/perfetto/fields.h (for writing) and tests/perfetto/subset.proto (for reading) have the same fields'
# numbers in each message.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

# Both print lines "MESSAGE NUMBER"; a message in another as OUTER.INNER.

# of_header FILE: the messages of an enum are in the comment above it
of_header() {
    awk '
        function told(line) {
            sub(/\/\*.*\*\//, "", line)
            while (match(line, /= [0-9]+/)) {
                for (i = 1; i <= n; i++) print messages[i], substr(line, RSTART + 2, RLENGTH - 2)
                line = substr(line, RSTART + RLENGTH)
            }
        }
        /^enum nt_[a-z_]*_field / {
            n = above ~ /^\/\* [A-Za-z., ]+ \*\/$/ ? split(substr(above, 4, length(above) - 6), messages, ", ") : 0
            if (!n) print "no message of " $2
            on = 1
        }
        on { told($0) }
        /};/ { on = 0 }
        { above = $0 }' "$1" | sort -u
}

# of_proto FILE
of_proto() {
    sed 's,//.*,,' "$1" | awk '
        {
            while (match($0, /message [A-Za-z]+ \{|\}|= [0-9]+/)) {
                token = substr($0, RSTART, RLENGTH)
                $0 = substr($0, RSTART + RLENGTH)
                if (token == "}") depth--
                else if (token ~ /^=/) print name[depth], substr(token, 3)
                else {
                    split(token, words, " ")
                    name[depth + 1] = (depth ? name[depth] "." : "") words[2]
                    depth++
                }
            }
        }' | sort
}

of_header report/export/perfetto/fields.h >"$work/header"
of_proto tests/perfetto/subset.proto >"$work/proto"
holds "there are as many fields as messages have" test "$(wc -l <"$work/proto")" -gt 100
nothing "fields that only one of them has" "$(diff "$work/header" "$work/proto")"
finish
