#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes a table of a database give rows without end, in a file that stays small.

endless_table.py DB TABLE ("sqlite_master" is one)

The table's pages become ten levels of pages, each of which has the one below as child many times. SQLite has no notion
of a page that has two parents, so it reads them all. The table must have several pages.
"""
import sqlite3
import struct
import sys

LEVELS = 10
INNER = (2, 5)  # types of pages that have children, of indexes and of tables
FILE_HEAD = 100  # bytes before the head of page 1

path, table = sys.argv[1:]
db = sqlite3.connect(path)
size = db.execute("PRAGMA page_size").fetchone()[0]
roots = dict(db.execute("SELECT name, rootpage FROM sqlite_master"), sqlite_master=1)
db.close()
with open(path, "rb") as file:
    data = bytearray(file.read())


def get(number):
    """A page, and where its head is."""
    return data[(number - 1) * size:number * size], FILE_HEAD if number == 1 else 0


def children(page, head):
    """Where in the page the numbers of its children stand, first that of the last."""
    (n,) = struct.unpack_from(">H", page, head + 3)
    return [head + 8] + [struct.unpack_from(">H", page, head + 12 + 2 * i)[0] for i in range(n)]


def last_child(page, head):
    return struct.unpack_from(">I", page, children(page, head)[0])[0]


def with_child(page, head, child):
    """The page, all of whose children are this one."""
    page = bytearray(page)
    for at in children(page, head):
        struct.pack_into(">I", page, at, child)
    return page


root = roots[table]
page, head = get(root)
if page[head] not in INNER:
    sys.exit(f"{table} has only one page")
child, level = last_child(page, head), None
while get(child)[0][0] in INNER:
    level = get(child)[0]
    child = last_child(level, 0)
if not level:
    sys.exit(f"{table} has too few pages")
for _ in range(LEVELS):
    data += with_child(level, 0, child)
    child = len(data) // size
data[(root - 1) * size:root * size] = with_child(page, head, child)
struct.pack_into(">I", data, 28, len(data) // size)
with open(path, "wb") as file:
    file.write(data)
