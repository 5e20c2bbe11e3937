#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Types a line into a shell on a terminal of its own, and prints what the terminal showed.
#
#   type.py LINE COMMAND...     LINE may have \t, for the Tab key
import os
import pty
import select
import sys
import time

pid, terminal = pty.fork()
if not pid:
    os.execvp(sys.argv[2], sys.argv[2:])
shown, typed, end = b'', False, time.monotonic() + 300
while time.monotonic() < end:
    if select.select([terminal], [], [], 0.1)[0]:
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # the shell has ended
            break
    if not typed and b'ready>' in shown:
        os.write(terminal, sys.argv[1].replace('\\t', '\t').encode() + b'\r')
        typed = True
sys.stdout.buffer.write(shown)
