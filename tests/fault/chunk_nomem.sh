#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each allocation of the codec fails once; see tests/tools/chunk_nomem.c.
set -euo pipefail
cd "$(dirname "$0")/../.."
[[ -x build/tools/chunk_nomem ]] || make -s build/tools/chunk_nomem
build/tools/chunk_nomem
