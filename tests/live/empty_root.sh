#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A tape made here and read by a user without rights, in an empty root with only nettape-report, its libraries and a
# /tmp, gives byte-identical answers. And neither program is linked with what it must not need.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
needs_netns

is "nettape-record needs sqlite" "$(ldd "$record" | grep -c sqlite || true)" 0
is "nettape-report needs libbpf" "$(ldd "$report" | grep -c libbpf || true)" 0

mkdir "$work/outside" "$work/root"
recording_start "$work/outside/e.tape"
"${in_a[@]}" "$tools/sockmatrix" 5 >/dev/null
sleep 1.2
recording_stop

cp "$report" "$work/root/nettape-report"
ldd "$report" | grep -o '/[^ ]*' | while read -r library; do
    install -D "$library" "$work/root$library"
done
cp -r "$work/outside/e.tape" "$work/root/e.tape"
chown -R 65534:65534 "$work/root/e.tape"
chmod 755 "$work/root"
# A host that does much while this records makes a tape whose rows are sorted in a file.
install -d -m 1777 "$work/root/tmp"

chroot=$(command -v chroot)
query='SELECT owner, count(*), sum(dur) FROM cpu_slice GROUP BY owner ORDER BY owner'
# compare NAME ARGUMENT...
compare() {
    local name=$1 outside=0 inside=0
    shift
    (cd "$work/outside" && "$report" "$@") >"$work/outside-$name" 2>&1 || outside=$?
    env -i "$chroot" --userspec=65534:65534 "$work/root" /nettape-report "$@" >"$work/inside-$name" 2>&1 || inside=$?
    is "$name: exit status outside" "$outside" 0
    is "$name: exit status inside" "$inside" 0
    at_least "$name: bytes of answer" "$(wc -c <"$work/outside-$name")" 100
    if cmp -s "$work/outside-$name" "$work/inside-$name"; then ok "$name: the same"; else
        bad "$name: not the same"
        diff "$work/outside-$name" "$work/inside-$name" | head -10
    fi
}
compare info info e.tape
compare info-json info --json e.tape
compare check check e.tape
compare summary summary e.tape
compare summary-json summary --json e.tape
compare query query e.tape "$query"
compare query-csv query --csv e.tape 'SELECT * FROM thread ORDER BY utid'
finish
