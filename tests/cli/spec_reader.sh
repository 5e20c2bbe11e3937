#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# docs/chunk-format.md says enough, and nothing else than the code: a reader written from it alone (read_tape.py)
# reads the golden tapes, the broken ones, and chunks of random values as schema/ does.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v python3 >/dev/null || { echo "SKIP: needs python3"; exit 77; }
for tool in build/tools/{tape_dump,chunk_random,seed}; do [[ -x $tool ]] || make -s "$tool"; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# same ARGUMENT...: both readers print the same for these arguments, and headers of blocks fit their records. The words
# for damage are not in the specification.
same() {
    local ours=0 theirs=0
    build/tools/tape_dump "$@" >"$work/ours" || ours=$?
    python3 tests/tools/read_tape.py "$@" >"$work/theirs" 2>"$work/headers" || theirs=$?
    sed -i '/^damage /s/ what=.*//' "$work/ours"
    if ! diff "$work/ours" "$work/theirs" >"$work/diff" || [[ $ours != "$theirs" ]]; then
        echo "DIFFERENT: $* (exit status $ours and $theirs)"
        head -20 "$work/diff"
        exit 1
    fi
    if [[ -s $work/headers ]]; then
        echo "HEADERS of $* are not as section 6.5 says:"
        cat "$work/headers"
        exit 1
    fi
}

for tape in tests/golden/v1*.tape; do build/tools/tape_dump "$tape" | cmp - "${tape%.tape}.expected"; done
for scan in "" --scan; do
    for tape in tests/golden/v1*.tape tests/golden/bad/*; do
        same $scan "$tape"
    done
done

# The keys of section 10 are those of schema/.
sed -n '/^## 10\./,/^## 11\./s/^| \(`[^|]*`\) |.*/\1/p' docs/chunk-format.md | grep -o '[a-z_]*' | sort >"$work/keys"
[[ -s $work/keys ]] || { echo "NO keys in section 10"; exit 1; }
if ! sed -n 's/^#define NT_META_[A-Z_]* "\([a-z_]*\)".*/\1/p' schema/meta_keys.h | sort | diff - "$work/keys"; then
    echo "KEYS of schema/meta_keys.h are not those of section 10"
    exit 1
fi

seed=$(build/tools/seed)
for i in {0..29}; do
    build/tools/chunk_random $((seed + i)) >"$work/random-$i.ntc"
    same "$work/random-$i.ntc"
done
echo "both readers agree"
