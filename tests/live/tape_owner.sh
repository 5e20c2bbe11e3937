#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The owner of a tape that root records: the user who called sudo or pkexec, who reads it without rights; or the user
# of --user. Links and other obstacles of this user, before and while the tape is made, lead to nothing of root's.
# shellcheck source=tests/live/lib.sh
source "$(dirname "$0")/lib.sh"
needs_recorder
command -v setpriv >/dev/null || skip "setpriv is not there: nothing can be run by another user"
unset SUDO_UID SUDO_GID PKEXEC_UID
user=65534
group=65533
as_user=(setpriv --reuid=$user --regid=$group --clear-groups)

# Not below $work: the project's directory may be closed to other users.
base=$(mktemp -d)
# shellcheck disable=SC2317  # called by the library
test_cleanup() {
    umount "$base/vfat" 2>/dev/null || true
    rm -rf --one-file-system "$base"
}
chmod 755 "$base"
install -m 755 "$report" "$base/nettape-report"
home=$base/home
install -d -o $user -g $group "$home"

whose() { stat -c '%u:%g %a' "$1"; }
# all_whose TAPE: the owner and mode of the directory, and those of its files, each once
all_whose() { echo "$(whose "$1"), $(stat -c '%u:%g %a' "$1"/* | sort -u)"; }
# recorded NAME VARIABLE... -- ARGUMENT...: records for a moment with these variables set, into $home/NAME.tape
recorded() {
    local name=$1 variables=()
    shift
    while [[ $1 != -- ]]; do
        variables+=("$1")
        shift
    done
    shift
    may_lose env "${variables[@]}" "$record" -o "$home/$name.tape" -d 100ms "$@" >"$work/$name.log" 2>&1 ||
        bad "$name: $(<"$work/$name.log")"
}

recorded sudo SUDO_UID=$user SUDO_GID=$group --
is "under sudo: the tape's owner" "$(all_whose "$home/sudo.tape")" "$user:$group 700, $user:$group 600"
is "the directory above" "$(whose "$home")" "$user:$group 755"
succeeds "its owner reads it" "${as_user[@]}" "$base/nettape-report" summary "$home/sudo.tape"
grep -q 'CPU' "$work/out" || bad "there is no summary: $(<"$work/out")"
recorded other SUDO_UID=12345 SUDO_GID=12345 --
status=0
"${as_user[@]}" "$base/nettape-report" summary "$home/other.tape" >"$work/out" 2>&1 || status=$?
is "another user does not read it: exit status" "$status" 1

recorded pkexec PKEXEC_UID=$user SUDO_GID=12345 --
is "under pkexec: the owner, with the user's own group" "$(whose "$home/pkexec.tape")" \
    "$user:$(getent passwd $user | awk -F: '{ print $4; found = 1 } END { if (!found) print 0 }') 700"
recorded number SUDO_UID=12345 SUDO_GID=12345 -- --user $user
is "--user before sudo's: the owner" "$(stat -c %u "$home/number.tape")" $user
name=$(getent passwd $user | cut -d: -f1) || name=
if [[ -n $name ]]; then
    recorded name -- --user "$name"
    is "--user $name: the owner" "$(stat -c %u "$home/name.tape")" $user
fi
recorded root SUDO_UID=$user -- --user 0
is "--user 0: stays root's" "$(all_whose "$home/root.tape")" "0:0 700, 0:0 600"
recorded plain --
is "without any: stays root's" "$(all_whose "$home/plain.tape")" "0:0 700, 0:0 600"
recorded bad SUDO_UID="$user " SUDO_GID=$group --
is "with a SUDO_UID that is none: stays root's" "$(all_whose "$home/bad.tape")" "0:0 700, 0:0 600"
is "and it says so" "$(grep -c "SUDO_UID is not a user's number" "$work/bad.log")" 1

# A directory that was there keeps its owner, also an empty one.
mkdir "$home/there.tape"
recorded there SUDO_UID=$user SUDO_GID=$group --
is "a directory that was there, and the file in it" "$(all_whose "$home/there.tape")" "0:0 755, $user:$group 600"

# ---- what the user puts in the way ----
install -d -m 700 "$base/victim"
echo precious >"$base/precious"
chmod 600 "$base/precious"
unharmed() {
    is "$1: root's directory" "$(whose "$base/victim") $(find "$base/victim" | wc -l)" "0:0 700 1"
    is "$1: root's file" "$(whose "$base/precious") $(<"$base/precious")" "0:0 600 precious"
}
"${as_user[@]}" ln -s "$base/victim" "$home/link.tape"
status=0
SUDO_UID=$user "$record" -o "$home/link.tape" -d 100ms >"$work/link.log" 2>&1 || status=$?
is "a link where the tape is to be: exit status" "$status" 1
is "and it says so" "$(grep -c 'is a link' "$work/link.log")" 1
unharmed "a link where the tape is to be"

# The directory is the user's as soon as it is there; the first file comes when the programs are loaded.
"${as_user[@]}" sh -c 'until ln -s "$2" "$1/chunk-000000.ntc.partial" 2>/dev/null; do sleep 0.01; done' sh \
    "$home/planted.tape" "$base/precious" &
keep $!
status=0
SUDO_UID=$user SUDO_GID=$group "$record" -o "$home/planted.tape" -d 500ms >"$work/planted.log" 2>&1 || status=$?
echo "# a link where a file is to be: exit status $status: $(head -1 "$work/planted.log")"
unharmed "a link where a file is to be"

# Whatever of the two is opened, given away or renamed: over and over the directory is moved away, and a link stands in
# its place.
"${as_user[@]}" sh \
    -c 'cd "$1" && while :; do
        mv -T m.tape away 2>/dev/null && ln -sfn "$2" m.tape; rm -f m.tape; mv -T away m.tape
    done' \
    sh "$home" "$base/victim" >/dev/null 2>&1 &
mover=$!
keep $mover
for _ in 1 2 3 4 5; do
    status=0
    SUDO_UID=$user SUDO_GID=$group "$record" -o "$home/m.tape" -d 100ms >"$work/moved.log" 2>&1 || status=$?
    echo "# a directory that is moved about: exit status $status: $(head -1 "$work/moved.log")"
    unharmed "a directory that is moved about"
    find "$home" -maxdepth 1 \( -name m.tape -o -name away \) -exec rm -rf {} + 2>/dev/null || true
done
kill $mover 2>/dev/null || true

# Where nothing has an owner.
mkdir "$base/vfat"
if command -v mkfs.vfat >/dev/null && truncate -s 4M "$base/vfat.img" && mkfs.vfat "$base/vfat.img" >/dev/null 2>&1 &&
    mount -o loop "$base/vfat.img" "$base/vfat" 2>/dev/null; then
    status=0
    SUDO_UID=$user may_lose "$record" -o "$base/vfat/t.tape" -d 100ms >"$work/vfat.log" 2>&1 || status=$?
    is "a file system without owners: exit status" "$status" 0
    is "and it says so" "$(grep -c 'cannot give' "$work/vfat.log")" 1
    status=0
    "$record" -o "$base/vfat/u.tape" --user $user -d 100ms >"$work/vfat.log" 2>&1 || status=$?
    is "with --user: exit status" "$status" 1
    is "nothing is left" "$(find "$base/vfat" -name u.tape)" ""
    umount "$base/vfat"
fi
finish
