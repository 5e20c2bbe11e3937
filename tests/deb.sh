#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Makes a package of what `make install` installs, for the release of Debian or Ubuntu that it runs on. `make deb` calls
# it, with BUILD, VERSION and MAKE. The package is $BUILD/nettape_VERSION_ARCHITECTURE.deb.
#
#   DEBFULLNAME, DEBEMAIL     whom it names as its maintainer, as Debian's other tools do
#
# dpkg-shlibdeps finds the libraries that the programs need, with their versions. So no list of them is kept here.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tests/give_back.sh
source tests/give_back.sh
work=$(realpath "$(mktemp -d "$BUILD/deb.XXXXXX")")
trap 'rm -rf "$work"; give_back "$BUILD"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
root=$work/nettape
maintainer="${DEBFULLNAME:-$(id -un)} <${DEBEMAIL:-$(id -un)@$(hostname)}>"
# The package's times are the commit's, so that another day gives the same package.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

# Debian's policy asks this of a package's files: https://www.debian.org/doc/debian-policy/
make_files() {
    ${MAKE:-make} -s install DESTDIR="$root" PREFIX=/usr
    strip --strip-unneeded --remove-section=.comment "$root"/usr/bin/* "$root"/usr/lib/nettape_sqlite.so
    mkdir "$root/usr/share/zsh/vendor-completions"
    mv "$root"/usr/share/zsh/site-functions/_nettape "$root/usr/share/zsh/vendor-completions/"
    rmdir "$root/usr/share/zsh/site-functions"
    gzip -9n "$root"/usr/share/man/man*/*
    cat >"$root/usr/share/doc/nettape/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: the developers of nettape
License: GPL-2.0-only
 The license is version 2 of the GNU General Public License, and no other one.
 /usr/share/common-licenses/GPL-2 is its text.
END
    gzip -9nc "$work/debian/changelog" >"$root/usr/share/doc/nettape/changelog.gz"
    chmod -R u=rwX,go=rX "$root"
}

# dpkg's tools read these files, and look for them in debian/.
make_sources() {
    mkdir -p "$work/debian"
    cat >"$work/debian/control" <<END
Source: nettape
Section: net
Priority: optional
Maintainer: $maintainer

Package: nettape
Architecture: any
Depends: \${shlibs:Depends}
Recommends: \${shlibs:Recommends}
Description: CPU cost of the Linux network stack, by CPU, process and socket
 nettape-record records where the Linux network stack spends CPU time, with BPF
 programs, into files. nettape-report reads them anywhere: exact timelines of
 each CPU, and the cost by process, container, socket and stage of the stack.
 nettape-serve answers Prometheus's scrapes while it is recorded.
END
    cat >"$work/debian/changelog" <<END
nettape ($VERSION) unstable; urgency=medium

  * Version $VERSION.

 -- $maintainer  $(date -uRd "@$SOURCE_DATE_EPOCH")
END
}

make_control() {
    mkdir "$root/DEBIAN"
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    cd "$work"
    # Who does not serve needs no server's library.
    dpkg-shlibdeps -Tdebian/substvars -enettape/usr/bin/nettape-record -enettape/usr/bin/nettape-report \
        -enettape/usr/lib/nettape_sqlite.so -dRecommends -enettape/usr/bin/nettape-serve
    dpkg-gencontrol -Pnettape -Tdebian/substvars
    cd - >/dev/null
    # Whatever the umask is: dpkg-deb wants it so.
    chmod 755 "$root/DEBIAN"
    chmod 644 "$root"/DEBIAN/*
}

make_sources
make_files
make_control
architecture=$(sed -n 's/^Architecture: //p' "$root/DEBIAN/control")
package=$BUILD/nettape_${VERSION}_$architecture.deb
dpkg-deb --root-owner-group --build "$root" "$package" >/dev/null
echo "nettape: made $package"
echo "nettape: as root, apt-get install $(realpath "$package") installs it, and apt-get remove nettape removes it"
