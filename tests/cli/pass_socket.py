#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs a program with sockets that listen already, as systemd does for a service (sd_listen_fds):
#
#   pass_socket.py N WHERE PROGRAM [ARGUMENT]...    N of them, at any port of 127.0.0.1 ("0"), or at a path, with the
#                                                   mode that the umask gives it
import fcntl
import os
import socket
import sys

FIRST = 3
n, where, program = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
opened = []
for _ in range(n):
    if where.isdigit():
        listener = socket.create_server(("127.0.0.1", int(where)))
    else:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(where)
        listener.listen()
    opened.append(listener)
# Above those where they are to be.
sources = [fcntl.fcntl(listener, fcntl.F_DUPFD_CLOEXEC, FIRST + n) for listener in opened]
for i, source in enumerate(sources):
    os.dup2(source, FIRST + i)
os.execve(program[0], program, os.environ | {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": str(n)})
