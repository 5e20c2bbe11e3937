#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A Debian kernel to boot a guest with: downloaded and unpacked below build/vm, never installed.
#
#   tests/vm/guest/kernel.sh SERIES      6.1, 6.12 or 6.12-rt; prints the directory that holds it
#
# The directory has `release` (what `uname -r` will say), `vmlinuz`, `modules/RELEASE` with its dependencies worked
# out, and `initrd`. What is there of an earlier call is used again, unless apt now offers a newer one; and if apt
# offers nothing, because it has no network. Exit status 77, and one line that says why, where there is no such kernel.
set -euo pipefail
cd "$(dirname "$0")/../../.."
PATH=$PATH:/usr/sbin:/sbin
# shellcheck source=tests/retry.sh
source tests/retry.sh
series=$1
dir=$PWD/build/vm/kernel-$series
flavour=amd64
[[ $series != *-rt ]] || flavour=rt-amd64
version=${series%-rt}

unavailable() {
    echo "$*"
    exit 77
}

# The package that has the kernel itself: what a meta package depends on, else the newest of that series that is
# offered.
offered_package() {
    local meta package
    for meta in "linux-image-$version-$flavour" "linux-image-$flavour"; do
        package=$(apt-cache depends --important "$meta" 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p' |
            head -1)
        [[ $package != linux-image-"$version".* ]] || {
            echo "$package"
            return
        }
    done
    apt-cache pkgnames "linux-image-$version." 2>/dev/null |
        { grep -E "^linux-image-${version//./\\.}\.[0-9]+(-[0-9]+|\+deb[0-9]+)?-$flavour\$" || true; } | sort -V |
            tail -1
}

# What follows from the files in $dir: where the parts are, modules.dep, the initrd.
make_initrd() {
    local root=$1/root release name module
    release=$(cat "$1/release")
    mkdir -p "$root"/{bin,mod,proc,sys,dev,lower,upper,new}
    cp "$(command -v busybox)" "$root/bin/busybox"
    cp tests/vm/guest/init "$root/init"
    chmod 755 "$root/init"
    # What it takes to mount the root, in order. Which of these are modules at all differs from kernel to kernel.
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

fetch() {
    local package=$1 new=$dir.new release
    rm -rf "$new"
    mkdir -p "$new/deb" "$new/tree"
    echo "nettape: kernel $series: downloading $package into build/vm (it is not installed)" >&2
    if ! (cd "$new/deb" && apt-get download "$package" >../log 2>&1); then
        apt-get update >>"$new/log" 2>&1
        (cd "$new/deb" && retry apt-get download "$package" >>../log 2>&1)
    fi
    dpkg-deb -x "$new"/deb/*.deb "$new/tree" 2>>"$new/log"
    release=$(basename "$new"/tree/boot/vmlinuz-*)
    release=${release#vmlinuz-}
    # modprobe and depmod look for DIR/lib/modules/RELEASE.
    mkdir -p "$new/lib"
    if [[ -d $new/tree/lib/modules ]]; then mv "$new/tree/lib/modules" "$new/lib/modules"; else
        mv "$new/tree/usr/lib/modules" "$new/lib/modules"; fi
    mv "$new/tree/boot/vmlinuz-$release" "$new/vmlinuz"
    mv "$new/tree/boot/config-$release" "$new/lib/modules/$release/config"
    echo "$release" >"$new/release"
    echo "$package" >"$new/package"
    depmod -b "$new" "$release"
    make_initrd "$new"
    rm -rf "$new/deb" "$new/tree" "$dir"
    mv "$new" "$dir"
}

package=$(offered_package)
have=$(cat "$dir/package" 2>/dev/null || true)
if [[ -n $have && ( -z $package || $have == "$package" ) ]]; then
    # The initrd follows the scripts that make it.
    if [[ tests/vm/guest/init -nt $dir/initrd || tests/vm/guest/kernel.sh -nt $dir/initrd ]]; then
        make_initrd "$dir" >&2; fi
elif [[ -z $package ]]; then
    unavailable "apt offers no Linux $series for this machine (linux-image-$version-$flavour)"
elif [[ -n ${NO_INSTALL:-} ]]; then
    unavailable "the package $package is not there, and NO_INSTALL is set, so it was not downloaded"
else
    # No condition, in which bash would go on after a command that failed.
    trap 'unavailable "$package cannot be downloaded and unpacked: $(tail -1 "$dir.new/log")"' EXIT
    fetch "$package" >&2
    trap - EXIT
fi
echo "$dir"
