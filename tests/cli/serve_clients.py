# SPDX-License-Identifier: GPL-2.0-only
#
# Shared by the hostile clients of nettape-serve: tests/cli/serve.py and serve_queries.py.
import time


def read_all(client):
    """What it answers, until it ends the connection."""
    parts = []
    while True:
        try:
            part = client.recv(65536)
        except ConnectionError:
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


def wait_until(is_so, seconds=60):
    """That long at least."""
    for _ in range(seconds * 50):
        if is_so():
            return True
        time.sleep(0.02)
    return False


def memory_kb(pid, name):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name))


def keeps_growing(pid, name, again):
    """
    Whether each time that it is done again takes a MiB more, at rest. A leak does so each time. A single time may: so
    much was never there at once before.
    """
    for _ in range(5):
        before = memory_kb(pid, name)
        again()
        if wait_until(lambda: memory_kb(pid, name) < before + 1024, 10):
            return False
    return True


def is_running(pid):
    """A child that has ended is there until its parent asks; and it may go while it is read."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
