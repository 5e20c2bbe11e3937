#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The first steps of a new user: installs a minimal Debian 12 and 13 into directories below build/fresh, and follows the
# README there. `make check-fresh` calls it, as root.
#
#   FRESH="bookworm trixie"      only these releases
#   FRESH_STEPS="missing make demo check offline user readme deb"      only these steps
#   ONLY=PATTERN      in check, only these tests
#
#   missing   without any package: make, make demo and others each name all that is missing, and fail
#   make      make deps, make
#   demo      make demo
#   check     make check: no test fails
#   offline   make demo once more, from the start, without a network
#   user      make, make install and a report, by a user, in a directory whose name has a blank, without git
#   readme    the README's commands from top to bottom, by a user with sudo, in a clean root; then make uninstall
#   deb       make deb; its package is installed, tried and removed in a clean root
#
# One line a step, as of check.sh; logs are in build/fresh/logs. Exit status 0 if none failed.
#
# A root's mounts are in a mount namespace of their own and end with its processes. So nothing of this machine is
# mounted in it when it is removed. Each step is a process of its own (--step), in which a command that fails ends the
# step.
# shellcheck disable=SC2317  # the steps are called by name
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/give_back.sh
source tests/give_back.sh
# shellcheck source=tests/mirror.sh
source tests/mirror.sh
# shellcheck source=tests/retry.sh
source tests/retry.sh
# shellcheck source=tests/may_lose.sh
source tests/may_lose.sh
all_steps="missing make demo check offline user readme deb"
logs=build/fresh/logs

# ---- the steps, in the mount namespace of $release, whose files are in $root; the tree is there as /nettape ----

# in_root COMMAND...: in the tree there, with nothing of the caller's environment but proxies
in_root() {
    # shellcheck disable=SC2016
    env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=$home DEBIAN_FRONTEND=noninteractive \
        ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} \
        chroot "${as[@]}" "$root" sh -c 'cd "$0" && exec "$@"' "$tree" "$@"
}
as=() tree=/nettape home=/root

# The tree as it is, with what is not committed, and without what is built.
copy_tree() {
    if [[ -e .git ]] && git rev-parse --git-dir >/dev/null 2>&1; then
        git ls-files -z --cached --others --exclude-standard | xargs -0 ls -d 2>/dev/null | tar -c -T -
    else
        tar -c --exclude=./build .
    fi | tar -x --no-same-owner -C "$root$1"
}

# Not sooner: what debootstrap does to /dev must not be done to this machine's, of which the root sees nothing.
mount_root() {
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
    mount -t tmpfs tmpfs "$root/dev/shm"
    mount -t tmpfs tmpfs "$root/run"
}

# Anew each time: what a download that failed has left is no root.
make_root() {
    rm -rf --one-file-system "$root" && mkdir "$root" && debootstrap --variant=minbase "$release" "$root" "$(mirror)"
}

step_root() {
    retry make_root
    mount_root
    # How this machine reaches the mirror.
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    apt-config dump | grep -E '^Acquire::(http|https|Check)[^"]*"[^"]' >"$root/etc/apt/apt.conf.d/99host" || true
    # For the README's own commands, which are not tried again.
    echo 'Acquire::Retries "3";' >"$root/etc/apt/apt.conf.d/99retries"
    tree=/ retry in_root apt-get -qq update
    cp -ax "$root" "$root-clean"
    mkdir "$root$tree"
    copy_tree "$tree"
    retry in_root apt-get -qq install -y --no-install-recommends make
}

# From here on, in_root is in a copy of the root as it was before anything was installed in it.
enter_clean_root() {
    cp -ax "$root-clean" "$root-$1"
    root=$root-$1
    mount_root
}

# names_missing PACKAGES COMMAND...: it fails, and names each of these in one go
names_missing() {
    local package output status=0
    output=$(in_root "${@:2}" 2>&1) || status=$?
    printf '%s\n' "$ ${*:2}" "$output"
    [[ $status != 0 ]] || { echo "it did not fail"; exit 1; }
    for package in $1; do
        [[ " ${output//$'\n'/ } " == *" $package "* ]] || { echo "it does not name $package"; exit 1; }
    done
    if grep -E 'error:|not found|Error 127' <<<"$output"; then exit 1; fi
}
step_missing() {
    local output report="gcc libc6-dev libelf-dev zlib1g-dev liblz4-dev libiberty-dev libsqlite3-dev libjson-c-dev"
    local record="clang bpftool libbpf-dev"
    names_missing "$report $record" make
    names_missing "$report" make report
    names_missing "$report $record iproute2 iperf3" env NO_INSTALL=1 make demo
    names_missing "$report $record libmicrohttpd-dev iproute2 iperf3" env NO_INSTALL=1 make deps
    output=$(in_root env NO_INSTALL=1 make deps 2>&1) || true
    if grep -E 'libcmocka|redis' <<<"$output"; then echo "make deps also wants what only tests need"; exit 1; fi
    names_missing "$report $record iproute2 iperf3 libcmocka-dev sqlite3 python3" env NO_INSTALL=1 make check
}

step_make() {
    in_root make deps
    in_root make -j"$(nproc)"
}

step_demo() {
    in_root make demo
    in_root test -s demo.db
    in_root test -d demo.tape
}

step_check() { in_root make check ONLY="${ONLY:-}"; }

step_offline() {
    in_root rm -rf build demo.tape demo.db demo.html
    unshare --net bash "$0" --step "$release" demo
}

step_user() {
    tree="/home/a user"
    mkdir "$root$tree"
    copy_tree "$tree"
    in_root chown -R 1000:1000 .
    as=(--userspec=1000:1000)
    in_root make -j"$(nproc)"
    in_root make install DESTDIR=installed PREFIX=/usr
    in_root ls installed/usr/bin/nettape-record installed/usr/share/man/man1/nettape-report.1
    in_root installed/usr/bin/nettape-report summary tests/golden/demo.tape
}

# A repository of the tree as it is, in one file. git clones any user's file, but refuses another user's directory.
make_bundle() {
    local repository=$root/srv/tree
    mkdir "$repository"
    copy_tree /srv/tree
    git -C "$repository" init -q
    git -C "$repository" add --all
    git -C "$repository" -c user.name=check-fresh -c user.email=root@localhost commit -q -m "the tree as it is"
    git -C "$repository" bundle create -q "$root/srv/nettape.bundle" HEAD
    rm -rf "$repository"
}

# A user who may use sudo, with nothing of this project.
add_user() {
    # apt-get would ask.
    echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/99yes"
    retry in_root apt-get -qq install sudo
    in_root useradd --create-home --shell /bin/bash user
    printf '%s\n' 'user ALL=(ALL) NOPASSWD: ALL' 'Defaults env_keep += "http_proxy https_proxy"' \
        >"$root/etc/sudoers.d/user"
    as=(--userspec=user:user) tree=/home/user home=/home/user
}

# play LINE: as a command of the README's examples; 3: recorded, with losses
play() {
    local status=0
    echo "\$ $1"
    in_root bash -c "$1" </dev/null || status=$?
    [[ $status == 0 || ($status == 3 && $1 == *nettape-record*) ]] || { echo "exit status $status"; exit 1; }
}

step_readme() {
    local line made port=15201
    tree=/
    enter_clean_root readme
    make_bundle
    add_user
    python3 tests/readme.py install README.md | sed 's|ADDRESS|/srv/nettape.bundle|' >"$root/srv/install"
    in_root bash -ex /srv/install </dev/null
    tree+=/nettape
    in_root test -s demo.html
    # The traffic that it records; it ends by itself.
    in_root timeout 60 iperf3 -s -1 -B 127.0.0.1 -p $port >/dev/null &
    in_root timeout 60 sh -c "until iperf3 -c 127.0.0.1 -p $port -b 50M -t 15; do sleep 0.1; done" >/dev/null &
    python3 tests/readme.py commands README.md >"$root/srv/commands"
    while IFS= read -r line; do play "$line"; done <"$root/srv/commands"
    for made in tape html svg pftrace prom db; do in_root test -O "busy.$made"; done
    wait
    in_root sudo make uninstall
    if find "$root/usr/local" -type f | grep .; then echo "make uninstall has left this"; exit 1; fi
}

step_deb() {
    local files file output
    in_root make deps
    in_root make -j"$(nproc)" deb
    tree=/
    files=$(dpkg-deb --contents "$root"/nettape/build/nettape_*.deb | sed -n 's|^[^d].* \./|/|p')
    enter_clean_root deb
    cp "${root%-deb}"/nettape/build/nettape_*.deb "$root/srv/nettape.deb"
    cp -r tests/golden/demo.tape "$root/srv/"
    retry in_root apt-get -qq install -y --no-install-recommends /srv/nettape.deb
    in_root nettape-report summary /srv/demo.tape
    may_lose in_root nettape-record -q -d 1 -o /srv/own.tape
    in_root nettape-report check /srv/own.tape
    # It names what is missing or differs, and exits with 0.
    output=$(in_root dpkg --verify nettape)
    [[ ! $output ]] || { echo "$output"; exit 1; }
    in_root apt-get -qq remove -y nettape
    for file in $files; do [[ ! -e $root$file ]] || { echo "still there: $file"; exit 1; }; done
    [[ $files == */usr/bin/nettape-record* && $files == */usr/bin/nettape-serve* ]]
}

# inside STEP...: makes the root and does the steps, a line each; those after the root do not need each other
inside() {
    local step log started result failed=0
    for step in root "$@"; do
        log=$logs/$release-$step.log started=$SECONDS result=passed
        bash "$0" --step "$release" "$step" >"$log" 2>&1 </dev/null || result=FAILED
        printf '%-8s %-28s %6s s\n' $result "$release/$step" $((SECONDS - started))
        [[ $result == FAILED ]] || continue
        failed=1
        echo "         | the whole log: $log"
        tail -15 "$log" | sed 's/^/         | /'
        [[ $step != root ]] || break
    done
    return $failed
}

release=${2:-} root=$PWD/build/fresh/${2:-}
case ${1:-} in
--inside)
    inside "${@:3}"
    exit
    ;;
--step)
    "step_$3"
    exit
    ;;
esac

# ---- outside ----

# Processes whose root is a release's, whatever they are children of.
processes_in() {
    local process
    for process in /proc/[0-9]*; do
        [[ ! $process/root -ef $1 ]] || echo "${process#/proc/}"
    done
}

# Ends what runs in a root, and removes it.
remove_one_root() {
    local root=$1 i pids
    [[ -d $root ]] || return 0
    for ((i = 0; i < 100; i++)); do
        pids=$(processes_in "$root")
        [[ $pids ]] || break
        # shellcheck disable=SC2086
        kill "-$( ((i < 50)) && echo TERM || echo KILL)" $pids 2>/dev/null || true
        sleep 0.1
    done
    rm -rf --one-file-system "$root"
}

# remove_root RELEASE: with its copies
remove_root() {
    local root
    for root in "build/fresh/$1" "build/fresh/$1"-*; do remove_one_root "$root"; done
}

child=
cleanup() {
    local status=$?
    trap - EXIT INT TERM HUP
    # Its group: it is a session of its own, so that a Ctrl-C is answered here.
    if [[ $child ]]; then
        kill -TERM -- "-$child" 2>/dev/null || true
        for release in $releases; do remove_root "$release"; done
        kill -KILL -- "-$child" 2>/dev/null || true
    fi
    give_back build
    exit "$status"
}

releases=${FRESH:-bookworm trixie} steps=
for step in $all_steps; do
    [[ " ${FRESH_STEPS:-$all_steps} " != *" $step "* ]] || steps+=" $step"
done
for step in ${FRESH_STEPS:-}; do
    if [[ " $all_steps " != *" $step "* ]]; then
        echo "nettape: FRESH_STEPS: there is no step $step; the steps: $all_steps" >&2
        exit 2
    fi
done
for release in $releases; do
    if [[ ! $release =~ ^[a-z]+$ || $release == logs ]]; then
        echo "nettape: FRESH: $release is no release of Debian" >&2
        exit 2
    fi
done
[[ $(id -u) == 0 ]] || { echo "nettape: make check-fresh needs root: it installs Debian into build/fresh" >&2; exit 1; }
bash tests/setup.sh fresh
echo "nettape: Debian ${releases// / and } below build/fresh, removed at the end:" \
    "250 MB to download, 3 GB on disk, each"
echo "nettape: steps:$steps; about 10 minutes each release for all steps, on two CPUs"
mkdir -p "$logs"
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
failed=0
for release in $releases; do
    remove_root "$release"
    mkdir "build/fresh/$release"
    # shellcheck disable=SC2086  # words on purpose
    setsid unshare --mount --propagation private bash "$0" --inside "$release" $steps </dev/null &
    child=$!
    wait $child || failed=1
    remove_root "$release"
    child=
done
exit $failed
