#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# `make format` would change nothing, and no line of C exceeds 120 columns.
# check-all: for developers, and other versions of clang-format disagree
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
[[ $(clang-format --version 2>/dev/null) == *" 14."* ]] || skip "no clang-format of version 14"

n=0 wrong=
while read -r file; do
    n=$((n + 1))
    clang-format "$file" | cmp -s - "$file" || wrong+=" $file"
done < <(find schema bpf record report tests -name '*.[ch]')
all "sources, those that make format changes$wrong" "$n $(wc -w <<<"$wrong")"
nothing "lines over 120 columns" "$(find schema bpf record report tests -name '*.[ch]' -exec \
    awk 'length > 120 { print FILENAME ":" FNR }' {} +)"
finish
