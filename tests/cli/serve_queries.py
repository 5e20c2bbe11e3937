#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Clients that /api/query of nettape-serve must withstand, for tests/cli/serve_queries.sh. The server has no bound on
# the time of a query.
#
#   serve_queries.py PORT TOKEN PID [memory]
#
# More queries at once than may wait, none of which ends: the rest is refused, and a scrape is answered. When clients
# have left, others have their places. Then rounds of: SQL that is none, or has been changed at random; bodies that are
# shorter than they say, or come byte by byte; large answers that nobody takes. With "memory", more rounds must not
# need more of it. At last the server ends while a query runs.
#
# Prints a line for each kind of failure, and "done".
import os
import random
import select
import signal
import socket
import sys

from serve_clients import is_running, keeps_growing, memory_kb, read_all, wait_until

PORT, TOKEN, PID = int(sys.argv[1]), sys.argv[2], sys.argv[3]
LOOKS_AT_MEMORY = len(sys.argv) > 4
WAITING = 7
AT_ONCE = 30
ROUNDS = 2 if LOOKS_AT_MEMORY else 1
SEED = os.environ.get("NT_SEED", "1")
ENDLESS = b"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
LARGE = ENDLESS.replace(b"FROM n)", b"FROM n WHERE i < 9000)").replace(b"count(*)", b"hex(zeroblob(200))")
SQL = [
    b"SELECT owner, sum(dur) FROM cpu_slice GROUP BY owner",
    b"SELECT p.name, o.dur FROM sock_op AS o JOIN thread AS t USING (session_id, utid) JOIN process AS p "
    b"USING (session_id, upid) WHERE o.dur BETWEEN 5 AND 500000 ORDER BY o.dur DESC LIMIT 20",
    b"SELECT '\xc3\xa9', x'00ff', 1e300, -9223372036854775808, json('[1, {}]')",
]
failures = {}
held = []


def fail(kind):
    failures[kind] = failures.get(kind, 0) + 1


def head(path, size):
    return (f"{'POST' if size is not None else 'GET'} {path} HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {TOKEN}\r\n"
            + (f"Content-Length: {size}\r\n" if size is not None else "") + "\r\n").encode()


def connect(data):
    client = socket.create_connection(("127.0.0.1", PORT), timeout=120)
    client.sendall(data)
    return client


def post(sql, size=None):
    return connect(head("/api/query", len(sql) if size is None else size) + sql)


def status(answer):
    return answer.split(b" ", 2)[1].decode() if answer.startswith(b"HTTP/1.1 ") else ""


def expect(kind, client, wanted):
    got = status(read_all(client))
    if got not in wanted:
        fail(f"{kind}: {got or 'nothing'}")


def processes():
    """Its children."""
    found = []
    for task in os.listdir(f"/proc/{PID}/task"):
        with open(f"/proc/{PID}/task/{task}/children") as file:
            found += file.read().split()
    return found


def answered(clients):
    """Those of them, until only as many are left as may wait."""
    poll = select.poll()
    for number in clients:
        poll.register(number, select.POLLIN)
    while len(clients) > WAITING:
        ready = poll.poll(60000)
        if not ready:
            fail(f"{len(clients)} are held")
            break
        for number, _ in ready:
            poll.unregister(number)
            yield clients.pop(number)


def is_held():
    """Whether one more query waits, or is refused late. It has the place then."""
    client = post(SQL[0])
    is_answered = bool(select.select([client], [], [], 0.2)[0])
    if is_answered:
        expect("while the first one runs", client, {"429"})
    else:
        held.append(client)
    return not is_answered


def too_many():
    """None that runs or waits ends, so all that are answered are refused."""
    first = post(ENDLESS)
    if not wait_until(processes):
        fail("it does not begin")
    clients = {client.fileno(): client for client in (post(ENDLESS) for _ in range(AT_ONCE))}
    for client in answered(clients):
        expect("one too many", client, {"429"})
    if len(processes()) > 1:
        fail("several run at once")
    expect("a scrape beside them", connect(head("/metrics", None)), {"200"})
    for client in clients.values():
        client.close()
    if not wait_until(is_held):
        fail("clients that have left keep their places")
    first.close()
    for client in held:
        expect("the next one", client, {"200", "429"})


def changed(random_numbers):
    sql = bytearray(random_numbers.choice(SQL))
    for _ in range(random_numbers.randrange(4)):
        at = random_numbers.randrange(len(sql))
        kind = random_numbers.randrange(3)
        if kind == 0:
            sql[at] = random_numbers.randrange(256)
        elif kind == 1:
            del sql[at:at + random_numbers.randrange(20)]
            sql = sql or bytearray(b";")
        else:
            sql[at:at] = sql[:random_numbers.randrange(40)]
    return bytes(sql)


def run_round(random_numbers):
    slow = [post(LARGE) for _ in range(2)]
    short = post(SQL[0][:20], 100)
    dripping = post(b"", len(SQL[0]))
    for byte in SQL[0]:
        dripping.sendall(bytes([byte]))
    expect("byte by byte", dripping, {"200"})
    for _ in range(6):
        expect("changed SQL", post(changed(random_numbers)), {"200", "400"})
    expect("no SQL", post(random_numbers.randbytes(random_numbers.randrange(1, 3000))), {"400"})
    expect("as long as may be", post(SQL[0].ljust(16384)), {"200"})
    # After ten seconds the server may end those.
    for client in slow + [short]:
        client.close()
    if len(read_all(post(LARGE))) < 3000000:
        fail("a large answer is cut")


def run_rounds():
    random_numbers = random.Random(SEED)
    for _ in range(ROUNDS):
        run_round(random_numbers)


def end_while_one_runs():
    client = post(ENDLESS)
    if not wait_until(processes):
        fail("it does not begin")
    os.kill(int(PID), signal.SIGTERM)
    if not wait_until(lambda: not is_running(PID)):
        fail("a signal does not end it")
    client.close()


too_many()
run_rounds()
if LOOKS_AT_MEMORY:
    # Not its peak, which is that of the answers that happened to be there at once.
    if keeps_growing(PID, "VmRSS:", run_rounds):
        fail(f"it grows, to {memory_kb(PID, 'VmRSS:')} kB")
    if memory_kb(PID, "VmHWM:") >= 96 << 10:
        fail("more than eight answers at once")
end_while_one_runs()
for kind, n in failures.items():
    print(f"{kind}: {n} (NT_SEED={SEED})")
print("done")
