#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# No line of the tree exceeds 120 columns, and `make format` would change nothing.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

# The project's own files: a user may have put others beside them, such as pages and pictures of recordings.
tree=(./{Makefile,README.md,LICENSE,.ci,.clang-format,.editorconfig,.gitignore,bpf,docs,record,report,schema,tests})
# Every text file but data: golden tapes, recorded outputs, mutants (one a line), and patches.
data=(-path './tests/golden/*.*' -o -path ./tests/golden/bad
    -o -path ./tests/cli/outputs -o -path ./tests/fuzz/corpus -o -path ./tests/mutants.txt
    -o -path './tests/examples/*.patch' -o -path ./docs/monitoring/dashboard.json)
# too_long FILE...: those with a line over 120 columns, where a tab ends at the next eighth column
too_long() {
    LC_ALL=C.UTF-8 wc -L "$@" | awk '$1 > 120 && $2 != "total" { print $2 " (" $1 ")" }'
}
mapfile -t texts < <({ find "${tree[@]}" \( "${data[@]}" \) -prune -o -type f -print; echo ./tests/golden/README.md; } |
    xargs grep -Il .)
holds "the tree has text files" test ${#texts[@]} -gt 500
nothing "files with a line over 120 columns" "$(too_long "${texts[@]}")"
printf '%0120d\n' 0 >"$work/fits"
printf '\t%0113d\n' 0 >"$work/tab"
is "a line of 121 columns is found" "$(too_long "$work/fits" "$work/tab")" "$work/tab (121)"

if [[ $(clang-format --version 2>/dev/null) != *" 14."* ]]; then
    without "clang-format of version 14: the layout of the C sources is not tested"
    finish
fi
mapfile -t sources < <(find schema bpf record report tests -name '*.[ch]')
# wrong FILE...: those that it would change. One process for all of them.
wrong() { clang-format --dry-run "$@" 2>&1 | sed -n 's/^\([^ :]*\):[0-9].*/\1/p' | sort -u | xargs; }
printf 'int  a;\n' >"$work/layout.c"
is "a layout that is not ours is found" "$(wrong "${sources[0]}" "$work/layout.c")" "$work/layout.c"
changed=$(wrong "${sources[@]}")
all "sources, those that make format changes${changed:+: $changed}" "${#sources[@]} $(wc -w <<<"$changed")"
finish
