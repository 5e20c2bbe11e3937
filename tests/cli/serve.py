#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Clients that nettape-serve must withstand, for tests/cli/serve.sh.
#
#   serve.py PORT TOKEN [PID]
#
# Rounds of: 200 connections at once, some of which send their request byte by byte, or a part of it, or take no
# answer; random bytes; heads and URLs that are too long. While these are there, a scrape is answered. With PID,
# then more connections than there may be, none of which sends a request: a scrape is answered when they are late. The
# rounds again must not need more memory each time. With as many connections the server ends when it is to.
#
# Prints a line for each kind of failure, and "done".
import os
import random
import signal
import socket
import sys
import time

from serve_clients import is_running, keeps_growing, memory_kb, read_all, wait_until

PORT, TOKEN, PID = int(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None
HOST = "127.0.0.1"
ROUNDS = 12
SEED = os.environ.get("NT_SEED", "1")
GOOD = f"GET /metrics HTTP/1.1\r\nHost: {HOST}:{PORT}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
failures = {}


def fail(kind):
    failures[kind] = failures.get(kind, 0) + 1


def connect():
    return socket.create_connection((HOST, PORT), timeout=120)


def send(client, data):
    """The server may have ended it before."""
    try:
        client.sendall(data)
    except ConnectionError:
        pass


def scrape(kind):
    client = connect()
    send(client, GOOD)
    answer = read_all(client)
    client.close()
    if not answer.startswith(b"HTTP/1.1 200 ") or b"\nnettape_complete_until_seconds " not in answer:
        fail(f"no figures {kind}")


def garbage(random_numbers):
    """A request that is none, and what may be answered."""
    kind = random_numbers.randrange(6)
    if kind == 0:
        return random_numbers.randbytes(random_numbers.randrange(1, 3000))
    if kind == 1:
        token = b"x" * random_numbers.choice((300, 5000, 40000))
        return b"GET /metrics?token=" + token + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    if kind == 2:
        return b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * random_numbers.choice((50, 5000)) + b"\r\n"
    if kind == 3:
        head = b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n"
        return head + b"x" * 5000
    if kind == 4:
        return b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffffff\r\n"
    at = random_numbers.randrange(len(TOKEN))
    return GOOD.replace(TOKEN.encode(), f"{TOKEN[:at]}\0{TOKEN[at + 1:]}".encode())


def run_round(random_numbers):
    clients = [connect() for _ in range(200)]
    for i, client in enumerate(clients):
        if i % 4 == 0:
            send(client, GOOD[:random_numbers.randrange(len(GOOD))])
        elif i % 4 == 1:
            send(client, GOOD)  # takes no answer for now
        elif i % 4 == 2:
            send(client, garbage(random_numbers))
    scrape("beside 200 others")
    for i, client in enumerate(clients):
        if i % 4 == 1 and not read_all(client).startswith(b"HTTP/1.1 200 "):
            fail("no figures for one of 200")
        if i % 4 == 2:
            client.settimeout(0.002)
            try:
                answer = read_all(client)
            except TimeoutError:
                answer = b""  # it waits for the rest
            if answer.startswith(b"HTTP/1.1 200 "):
                fail("figures for garbage")
        client.close()


def connect_too_many():
    clients = [connect() for _ in range(560)]
    for client in clients:
        send(client, GOOD[:-2] + b"A: " + b"x" * 12000)
    return clients


def accepts():
    """Whether connections were accepted within half a second."""
    before = len(os.listdir(f"/proc/{PID}/fd"))
    time.sleep(0.5)
    return len(os.listdir(f"/proc/{PID}/fd")) != before


def fill():
    """The ones behind wait until some are late."""
    clients = connect_too_many()
    scrape("when connections are late")
    for client in clients:
        client.close()


def end_when_full():
    clients = connect_too_many()
    wait_until(lambda: not accepts())
    os.kill(int(PID), signal.SIGTERM)
    if not wait_until(lambda: not is_running(PID)):
        fail("a signal does not end it")
    for client in clients:
        client.close()


def run_rounds():
    random_numbers = random.Random(SEED)
    for _ in range(ROUNDS):
        run_round(random_numbers)


run_rounds()
if PID:
    fill()
    # The same again needs no more memory. The sanitizers' run finds what is lost, however little.
    if keeps_growing(PID, "VmHWM:", run_rounds):
        fail(f"it grows, to {memory_kb(PID, 'VmHWM:')} kB")
    end_when_full()
for kind, n in failures.items():
    print(f"{kind}: {n} (NT_SEED={SEED})")
print("done")
