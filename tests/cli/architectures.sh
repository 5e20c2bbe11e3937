#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The programs compile for each architecture that they know, on any machine. They run in guests (check-vm.sh).
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"

flags=(-target bpf -mcpu=v3 -O2 -std=gnu11 -I. "-I/usr/include/$(uname -m)-linux-gnu" -fsyntax-only
    -Wall -Wextra -Wno-unused-parameter -Werror)
for architecture in x86 arm64; do
    holds "the programs compile for $architecture" "${CLANG:-clang}" "${flags[@]}" "-D__TARGET_ARCH_$architecture" \
        bpf/*.bpf.c
done
finish
