#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Traffic in real cgroups with names as runtimes give them: a container that was there before the recording, and one of
# a cluster in it, made during the recording, whose path is longer than the tape has room for. Both are shown by the
# names in a file. The cgroups are those of the controller `memory` where that is of version 1, as on hybrid hosts.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
command -v python3 >/dev/null || skip "python3 is not installed, which sends"

if (($(awk '$1 == "memory" { print $2 * $4 }' /proc/cgroups))); then
    mounted="cgroup:memory"
else
    mounted="cgroup2:"
fi
# mount_of TYPE:OPTION: where it is
mount_of() {
    awk -v type="${1%:*}" -v option="${1#*:}" '
        $3 == type && (option == "" || "," $4 "," ~ "," option ",") { print $2; exit }' /proc/self/mounts
}
root=$(mount_of $mounted)
if [[ -z $root ]]; then
    [[ $mounted == cgroup2: ]] || skip "the cgroups of this host are mounted nowhere"
    root=$work/cgroup
    mkdir "$root"
    mount -t cgroup2 none "$root" 2>/dev/null || skip "no cgroups of version 2 can be mounted here"
fi
outer_id=d6701ec289c56e4391acb11d07474b3139466857a305490575508a8b7a9fcf22
inner_id=5eed917563583925ffdbd40a64efb2aaffe58638e57add8becaf460fe74f5b1c
slice=$root/nettape_test_$$.slice
outer=$slice/docker-$outer_id.scope
besteffort=$outer/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice
pod=$besteffort/kubelet-kubepods-besteffort-poda5c1f8d5_1919_434d_add7_4afaafdaef89.slice
inner=$pod/cri-containerd-$inner_id.scope
# Of a hierarchy that is not recorded, on hybrid hosts: ids are those of others here.
elsewhere=
[[ $mounted == cgroup2: ]] || elsewhere=$(mount_of cgroup2:)
[[ -z $elsewhere ]] || elsewhere+=/nettape_elsewhere_$$
test_cleanup() {
    [[ ! -d $elsewhere ]] || rmdir "$elsewhere" || true
    [[ ! -d $slice ]] || find "$slice" -depth -type d -exec rmdir {} + 2>/dev/null || true
    [[ $root != "$work/cgroup" ]] || umount "$root" || true
}
mkdir -p "$outer" 2>/dev/null || skip "no cgroups can be made here"

# send_in CGROUP N: so many datagrams of 100 bytes to itself
send_in() {
    sh -c 'echo $$ >"$1/cgroup.procs" && exec python3 -c "
import socket, sys
a, b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for i in range(2))
a.bind((\"127.0.0.1\", 0))
for i in range(int(sys.argv[1])):
    b.sendto(b\"x\" * 100, a.getsockname())
    a.recv(200)
" "$2"' sh "$1" "$2"
}

recording_start "$work/c.tape"
[[ -z $elsewhere ]] || mkdir "$elsewhere"
mkdir -p "$inner"
send_in "$outer" 1000
send_in "$inner" 2000
recording_stop
is "the path is longer than the tape's" "$((${#inner} - ${#root} > 231))" 1
db=$work/c.db
import_tape "$work/c.tape" "$db"
check_whole "$work/c.tape" "$db"
is "what paths say" "$(sql "$db" "SELECT runtime, container, pod FROM cgroup WHERE container IN ('$outer_id',
    '$inner_id') AND id IN (SELECT cgroup_id FROM process) ORDER BY container" | xargs)" \
    "containerd|$inner_id|a5c1f8d5-1919-434d-add7-4afaafdaef89 docker|$outer_id|"
printf '%s\n' "${outer_id:0:12} node" "containerd://$inner_id shop/web/nginx" >"$work/names.txt"
is "cgroups of another hierarchy" \
    "$(sql "$db" "SELECT count(*) FROM cgroup WHERE path LIKE '/nettape_elsewhere%'")" 0
"$report" info "$work/c.tape" | tr -s ' \n' ' ' >"$work/info"
if [[ $mounted == cgroup2: ]]; then
    is "words on version 1" "$(grep -c "of the controller" "$work/info")" 0
else
    is "cgroups of sockets, of version 1" "$(sql "$db" "SELECT count(cgroup_id) FROM socket")" 0
    is "words on version 1" "$(grep -c "of the controller memory" "$work/info")" 1
fi
names() {
    "$report" query "$1" --names "$work/names.txt" --csv "SELECT label, send_ops, send_bytes FROM net_cost_cgroup
        WHERE name IS NOT NULL AND send_ops > 0 ORDER BY send_ops" | tail -n +2 | xargs
}
for from in "$work/c.tape" "$db"; do
    is "containers of ${from##*/}" "$(names "$from")" \
        "node (${outer_id:0:12}),1000,100000 shop/web/nginx (${inner_id:0:12}),2000,200000"
done
finish
