#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A Debian kernel to boot a guest with: downloaded and unpacked below build/vm, never installed.
#
#   tests/vm/guest/kernel.sh [--image] SERIES      prints the directory that holds it
#
# SERIES is 6.1, 6.12, 6.12-rt, ...: the newest of that series that this machine's apt offers, else that Debian's
# trixie-backports offers. Or it is newest, or newest-rt: the newest of trixie-backports. Or 6.12-arm64. For what the
# machine's lists do not have, apt has lists of its own (apt.sh); the machine's stay as they are.
#
# The directory has `release` (what `uname -r` will say), `vmlinuz`, `modules/RELEASE` with its dependencies worked
# out, and `initrd`. With --image only the first two are sure to be there. The files of an earlier call are used again,
# unless apt now offers a newer kernel. They are used also if apt offers nothing, because it has no network. Exit status
# 77, and one line that says why, where there is no such kernel.
set -euo pipefail
cd "$(dirname "$0")/../../.."
PATH=$PATH:/usr/sbin:/sbin
# shellcheck source=tests/vm/guest/apt.sh
source tests/vm/guest/apt.sh
image=
if [[ $1 == --image ]]; then
    image=1
    shift
fi
series=$1
dir=$PWD/build/vm/kernel-$series
case $series in
*-rt) flavour=rt-amd64 ;;
*-arm64) flavour=arm64 ;;
*) flavour=amd64 ;;
esac
version=${series%-rt}
version=${version%-arm64}

unavailable() {
    echo "$*"
    exit 77
}

# The package that has the kernel itself: what a meta package depends on, else the newest of that series that is
# offered.
offered_package() {
    local meta package
    for meta in "linux-image-$version-$flavour" "linux-image-$flavour"; do
        package=$(apt-cache "${apt_options[@]}" depends --important "$meta" 2>/dev/null |
            sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' | head -1)
        [[ $package != linux-image-"$version".* ]] || {
            echo "$package"
            return
        }
    done
    apt-cache "${apt_options[@]}" pkgnames "linux-image-$version." 2>/dev/null |
        { grep -E "^linux-image-${version//./\\.}\.[0-9]+(-[0-9]+|\+deb[0-9]+)?-$flavour\$" || true; } | sort -V |
            tail -1
}

# The packages that have a kernel in trixie-backports, in one line. Since 6.19 they are three; of old ones the archive
# keeps only the image, without modules, which no guest can boot.
offered_in_backports() {
    local series='[0-9]+\.[0-9]+' names release
    [[ $version == newest ]] || series=${version//./\\.}
    names=$(apt-cache "${apt_options[@]}" pkgnames linux- 2>/dev/null || true)
    while read -r release; do
        if ! grep -qxF "linux-binary-$release" <<<"$names"; then
            echo "linux-image-$release"
        elif [[ $image ]] || grep -qxF "linux-modules-$release" <<<"$names"; then
            echo "linux-binary-$release linux-modules-$release linux-base-$release"
        else
            continue
        fi
        break
    done < <(sed -nE "s/^linux-(image|binary)-($series\.[0-9]+\+deb[0-9]+-$flavour)\$/\2/p" <<<"$names" | sort -rV)
}

# make_initrd DIRECTORY: its initrd, with the modules that mount the root
make_initrd() {
    local root=$1/root release name module
    release=$(cat "$1/release")
    mkdir -p "$root"/{bin,mod,proc,sys,dev,lower,upper,new}
    cp "$busybox" "$root/bin/busybox"
    cp tests/vm/guest/init "$root/init"
    chmod 755 "$root/init"
    # The modules that mount the root, in order. Some kernels have some of these built in.
    for name in virtio_pci 9pnet_virtio 9p overlay; do
        { modprobe -d "$1" -S "$release" --show-depends "$name" 2>/dev/null || true; } |
            sed -n 's/^insmod \([^ ]*\).*/\1/p'
    done | awk '!seen[$0]++' | while read -r module; do
        name=$(basename "$module" .xz)
        if [[ $module == *.xz ]]; then xz -dc "$module" >"$root/mod/$name"; else cp "$module" "$root/mod/$name"; fi
        echo "$name" >>"$root/mod/order"
    done
    (cd "$root" && find . | cpio -o -H newc --quiet | zstd -q -3 -f -o ../initrd)
    rm -rf "$root"
}

# take_image TREE RELEASE TO: the kernel out of what was unpacked. Since 7.2 it is beside its modules.
take_image() {
    if [[ -e $1/boot/vmlinuz-$2 ]]; then mv "$1/boot/vmlinuz-$2" "$3/vmlinuz"; else
        mv "$1/usr/lib/modules/$2/vmlinuz" "$3/vmlinuz"; fi
    echo "$2" >"$3/release"
}

# take_modules TREE RELEASE TO: and the kernel's configuration, which is there already, or in /boot
take_modules() {
    # modprobe and depmod look for DIR/lib/modules/RELEASE.
    mkdir -p "$3/lib"
    if [[ -d $1/lib/modules ]]; then mv "$1/lib/modules" "$3/lib/modules"; else
        mv "$1/usr/lib/modules" "$3/lib/modules"; fi
    [[ ! -e $1/boot/config-$2 ]] || mv "$1/boot/config-$2" "$3/lib/modules/$2/config"
    depmod -b "$3" "$2"
    make_initrd "$3"
}

fetch() {
    local packages=$1 new=$dir.new deb release
    rm -rf "$new"
    mkdir -p "$new/deb" "$new/tree"
    echo "nettape: kernel $series: downloading ${packages// /, } into build/vm (it is not installed)" >&2
    # shellcheck disable=SC2086  # words on purpose
    (cd "$new/deb" && download ../log $packages)
    for deb in "$new"/deb/*.deb; do dpkg-deb -x "$deb" "$new/tree" 2>>"$new/log"; done
    release=${packages%% *}
    release=${release#linux-image-}
    release=${release#linux-binary-}
    take_image "$new/tree" "$release" "$new"
    [[ $image ]] || take_modules "$new/tree" "$release" "$new"
    echo "$packages" >"$new/package"
    rm -rf "$new/deb" "$new/tree" "$dir"
    mv "$new" "$dir"
}

# is_there DIR PACKAGES: what is offered, or, if nothing is, anything
is_there() { [[ -s $1/package && ( -z $2 || $(<"$1/package") == "$2" ) ]]; }

packages=
busybox=$(command -v busybox || true)
if [[ $flavour == arm64 ]]; then
    use_arm64
    root=$(bash tests/vm/guest/root.sh) || unavailable "$root"
    busybox=$root/bin/busybox
fi
[[ $version == newest ]] || packages=$(offered_package)
# Where apt has newer ones, linux-image is only a name for several packages.
[[ -z $(apt-cache pkgnames "linux-binary-${packages#linux-image-}" 2>/dev/null) ]] || packages=
if [[ -z $packages && $flavour != arm64 ]]; then
    use_lists apt amd64 trixie-backports
    packages=$(offered_in_backports)
fi
if [[ $image ]] && ! is_there "$dir" "$packages"; then
    dir=$PWD/build/vm/image-$series
    packages=${packages%% *}
fi
if is_there "$dir" "$packages"; then
    # The initrd follows the scripts that make it.
    if [[ ! $image && ( tests/vm/guest/init -nt $dir/initrd || tests/vm/guest/kernel.sh -nt $dir/initrd ) ]]; then
        make_initrd "$dir" >&2; fi
elif [[ -z $packages ]]; then
    [[ -z ${NO_INSTALL:-} ]] || unavailable "Linux $series is not there, and not looked for, since NO_INSTALL is set"
    unavailable "neither this machine's apt nor Debian's ${apt_options[-1]##*=} offers a Linux $series ($flavour)"
elif [[ -n ${NO_INSTALL:-} ]]; then
    unavailable "the package ${packages// /, } is not there, and NO_INSTALL is set, so it was not downloaded"
else
    # No condition, in which bash would go on after a command that failed.
    trap 'unavailable "$packages cannot be downloaded and unpacked: $(tail -1 "$dir.new/log")"' EXIT
    fetch "$packages" >&2
    trap - EXIT
fi
echo "$dir"
