#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
A second reader of tapes, written from docs/chunk-format.md alone, to find out whether that page says enough; the kinds
of records it reads from there. It prints what tests/tools/tape_dump.c prints. It is slow, and uses the standard library
only.

    read_tape.py [--scan] TAPE|CHUNK...

On standard error it names the event blocks whose header differs from their records (section 6.5).

Section numbers in comments are those of docs/chunk-format.md.
"""
import os
import re
import struct
import sys

U64 = (1 << 64) - 1


class Damaged(Exception):
    pass


class NotATape(Exception):
    pass


class OtherVersion(Exception):
    pass


def need(condition):
    if not condition:
        raise Damaged


# ---- section 2 ----

def make_crc_table():
    table = []
    for crc in range(256):
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    return table


CRC_TABLE = make_crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def unzigzag(z):
    return z // 2 if z % 2 == 0 else -((z + 1) // 2)


class Bytes:
    """Bytes that are read from front to back."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, size):
        need(size <= self.left())
        self.at += size
        return self.data[self.at - size:self.at]

    def u8(self):
        return self.take(1)[0]

    def varint(self):
        value = 0
        for i in range(10):
            byte = self.u8()
            value |= (byte & 0x7F) << 7 * i
            if byte < 0x80:
                need(value <= U64)
                return value
        raise Damaged


def lz4_decompress(data, raw_size):
    source, out = Bytes(data), bytearray()

    def extended(size):
        if size == 15:
            while True:
                more = source.u8()
                size += more
                if more != 255:
                    break
        return size

    while True:
        token = source.u8()
        out += source.take(extended(token >> 4))
        if not source.left():
            break
        offset = struct.unpack("<H", source.take(2))[0]
        need(0 < offset <= len(out))
        for _ in range(extended(token & 15) + 4):
            out.append(out[-offset])
        need(len(out) <= raw_size)
    need(len(out) == raw_size)
    return bytes(out)


# ---- sections 3 to 5 ----

CHUNK_MAGIC = b"\x89NTC\r\n\x1a\n"
BLOCK_MAGIC = b"\xb7NB\n"
TRAILER_MAGIC = b"\x89NTCEND\n"
BLOCK_FIELDS = ("type flags header_size raw_size stored_size cpu count sequence least_begin_ns first_end_ns last_end_ns"
                " since_ns task lag_ns payload_crc").split()
PRINTED = ("flags raw_size stored_size cpu sequence count least_begin_ns first_end_ns last_end_ns since_ns task"
           " lag_ns").split()
TYPES = {1: "meta", 2: "events", 3: "identities", 4: "clock", 5: "reading"}
INDEX = 6


def ends_in_crc(data):
    return struct.unpack("<I", data[-4:])[0] == crc32c(data[:-4])


def chunk_header(data):
    if data[:8] != CHUNK_MAGIC:
        raise NotATape
    need(len(data) >= 16)
    version, size = struct.unpack_from("<II", data, 8)
    need(20 <= size <= 4096 and size <= len(data) and ends_in_crc(data[:size]))
    if version != 1:
        raise OtherVersion
    need(size >= 176)
    monotonic, realtime = struct.unpack_from("<QQ", data, 40)
    return {"version": version, "header_size": size, "number": struct.unpack_from("<I", data, 16)[0],
            "session": data[24:40].hex(), "created_monotonic_ns": monotonic, "created_realtime_ns": realtime,
            "boot_id": data[56:96].split(b"\0")[0], "host": data[96:164].split(b"\0")[0]}


def block_header(data, at):
    """Conditions 4 and 5."""
    need(data[at:at + 4] == BLOCK_MAGIC and len(data) - at >= 88)
    header = dict(zip(BLOCK_FIELDS, struct.unpack_from("<BBHIIIIQQQQQQQI", data, at + 4)))
    size = header["header_size"]
    need(88 <= size <= 256 and size <= len(data) - at and ends_in_crc(data[at:at + size]))
    need(header["raw_size"] <= 4 << 20 and header["stored_size"] <= header["raw_size"])
    need(header["cpu"] < 65536 and header["count"] <= 1048576)
    header["end"] = at + size + header["stored_size"]
    return header


def payload_of(data, at, header):
    """Conditions 6 to 8."""
    need(header["end"] <= len(data))
    stored = data[at + header["header_size"]:header["end"]]
    need(crc32c(stored) == header["payload_crc"])
    if len(stored) == header["raw_size"]:
        return stored
    return lz4_decompress(stored, header["raw_size"])


def trailer(data):
    """Condition 9."""
    tail = data[-32:]
    need(len(tail) == 32 and tail[:8] == TRAILER_MAGIC and ends_in_crc(tail))
    return struct.unpack_from("<QQI", tail, 8)


def read_index(data):
    """Conditions 9 to 13. Gives the chunk header and the list of (offset, header)."""
    index_offset, n_blocks, n_index = trailer(data)
    at, place, own, blocks = index_offset, None, None, []
    for _ in range(n_index):
        header = block_header(data, at)
        need(header["type"] == INDEX)
        index, i = payload_of(data, at, header), 0
        if own is None:
            own = chunk_header(index)
            place = i = own["header_size"]
        while i < len(index):
            entry = block_header(index, i)
            need(entry["type"] != INDEX)
            i += entry["header_size"]
            blocks.append((place, entry))
            place += entry["header_size"] + entry["stored_size"]
        at = header["end"]
    need(own is not None and at == len(data) - 32 and place == index_offset and len(blocks) == n_blocks)
    return own, blocks


# ---- section 12 ----

def find_block(data, at):
    while True:
        at = data.find(BLOCK_MAGIC, at)
        if at < 0:
            break
        try:
            block_header(data, at)
            return at
        except Damaged:
            at += 1
    try:
        trailer(data)
        return len(data) - 32
    except Damaged:
        return len(data)


def scan(data, at):
    blocks, damage = [], []
    while at < len(data):
        try:
            if at == len(data) - 32:
                trailer(data)
                break
        except Damaged:
            pass
        try:
            header = block_header(data, at)
            need(header["end"] <= len(data))
            if header["type"] == INDEX:
                payload_of(data, at, header)
            else:
                blocks.append((at, header))
            at = header["end"]
        except Damaged:
            following = find_block(data, at + 1)
            following = following if following > at else len(data)
            damage.append((at, following - at))
            at = following
    return blocks, damage


# ---- section 13 ----

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/chunk-format.md")


def read_kinds():
    """The tables of section 13, so that they are tested too: {kind: (name, [(field, size)])}, events and identities.
    A size is a number of bytes; with s SIGNED, with t text, with b other bytes."""
    with open(DOCUMENT, encoding="utf-8") as file:
        section = file.read().split("\n## 13.")[1].split("\n## 14.")[0]
    tables = []
    for table in section.split("### Identities"):
        kinds = {}
        for kind, name, row in re.findall(r"^\| (?:(\d+) (\w+) )?\| (\d.*) \|$", table, re.MULTILINE):
            if kind:  # else the row continues the one above
                fields = []
                kinds[int(kind)] = (name, fields)
            for field in row.split(" · "):
                words = field.split()
                assert int(words[0]) == len(fields)
                if words[2] in ("text", "bytes"):
                    size = words[2][0] + words[3]
                else:
                    size = words[2] + ("s" if "SIGNED" in words else "")
                fields.append((words[1], size))
        tables.append(kinds)
    return tables


def read_spans():
    """The table of section 6.5: {kind: the flags with which its begin is not known}."""
    with open(DOCUMENT, encoding="utf-8") as file:
        section = file.read().split("\n### 6.5 ")[1].split("\n### 6.6 ")[0]
    rows = re.findall(r"^\| (\d+) (\w+) \| (.*) \|$", section, re.MULTILINE)
    assert all(KINDS[int(number)][0] == name for number, name, _ in rows)
    return {int(number): sum(int(flag, 16) for flag in flags.split(" or ")) for number, _, flags in rows}


KINDS, IDENTITIES = read_kinds()
SPANS = read_spans()


# ---- section 6 ----

TIME, AGO, PLAIN, SIGNED, DELTA = 1, 2, 3, 4, 5


def unpack_group(column, n):
    width, shift, n_exceptions = column.u8(), column.u8(), column.u8()
    need(width <= 56 and shift <= 63)
    base = column.varint()
    bits = int.from_bytes(column.take((n * width + 7) // 8), "little")
    numbers = [bits >> i * width & (1 << width) - 1 for i in range(n)]
    before = -1
    for _ in range(n_exceptions):
        position = column.u8()
        need(before < position < n)
        numbers[position] += column.varint() << width
        before = position
    return [base + (number << shift) & U64 for number in numbers]


def column_integers(layout, column, n):
    if layout == 1:
        values = [column.varint() for _ in range(n)]
    elif layout == 2:
        values = [column.varint()] * n
    elif layout == 3:
        values = []
        while len(values) < n:
            values += unpack_group(column, min(256, n - len(values)))
    else:
        raise Damaged
    need(not column.left())
    return values


def column_values(coding, layout, data, n, field):
    """What is stored, without its coding; AGO is still to be taken from the record's end."""
    need((coding == TIME) == (field == 0))
    values = column_integers(layout, Bytes(data), n)
    if coding in (TIME, AGO, SIGNED, DELTA):
        values = [unzigzag(value) for value in values]
    if coding == DELTA:
        for i in range(1, n):
            values[i] += values[i - 1]
    need(TIME <= coding <= DELTA)
    return values


def fit(value, size):
    bits = 8 * int(size[0])
    if size.endswith("s"):
        value = (value + (1 << 63) & U64) - (1 << 63)
        need(-(1 << bits - 1) <= value < 1 << bits - 1)
        return value
    value &= U64
    need(value < 1 << bits)
    return value


def read_columns(payload, counts):
    columns = {}
    while payload.left():
        kind, field, how = payload.u8(), payload.u8(), payload.u8()
        data = payload.take(payload.varint())
        need(kind in counts)
        known = len(KINDS[kind][1]) if kind in KINDS else 1
        if field < known:
            need((kind, field) not in columns)
            columns[kind, field] = (how & 15, column_values(how & 15, how >> 4, data, counts[kind], field))
    return columns


def header_fields(ends, begins):
    """Those of section 6.5, of a block that is not empty."""
    return {"count": len(ends), "first_end_ns": ends[0], "last_end_ns": max(ends),
            "least_begin_ns": min(ends[:1] + begins)}


def events(data):
    """Prints the records, and gives what section 6.5 says of them."""
    payload, ends, begins = Bytes(data), [], []
    count, end_ns = payload.varint(), payload.varint()
    need(count <= 1048576)
    kinds = payload.take(count)
    counts = {}
    for kind in kinds:
        need(1 <= kind <= 63)
        counts[kind] = counts.get(kind, 0) + 1
    columns = read_columns(payload, counts)
    seen, unknown = {}, 0
    for kind in kinds:
        i = seen.get(kind, 0)
        seen[kind] = i + 1
        if (kind, 0) in columns:
            end_ns = end_ns + columns[kind, 0][1][i] & U64
        ends.append(end_ns)
        if kind not in KINDS:
            unknown += 1
            continue
        name, fields = KINDS[kind]
        record = {}
        line = "  " + name + (" end_ns=%d" % end_ns if end_ns else "")
        for number, (field, size) in enumerate(fields):
            coding, values = columns.get((kind, number), (PLAIN, None))
            if number:
                value = values[i] if values else 0
                need(coding != AGO or size == "8")
                value = record[field] = fit(end_ns - value if coding == AGO else value, size)
                line += " %s=%d" % (field, value) if value else ""
        print(line)
        if kind in SPANS and not record["flags"] & SPANS[kind]:
            begins.append(max(end_ns - record["dur_ns"], 0))
    if unknown:
        print("  unknown records=%d" % unknown)
    return header_fields(ends, begins) if ends else None


# ---- sections 7 to 10 ----

def quoted(data):
    out = ""
    for byte in data:
        if byte == 10:
            out += "\\n"
        elif byte < 0x20 or byte > 0x7E or byte in b'"\\':
            out += "\\x%02x" % byte
        else:
            out += chr(byte)
    return '"' + out + '"'


def identity(name, fields, row):
    values, least = {}, 0
    while row.left():
        tag = row.u8()
        number = tag >> 1
        need(number >= least)
        least = number + 1
        value = row.take(row.varint()) if tag & 1 else row.varint()
        if number < len(fields):
            need((tag & 1) == (fields[number][1][0] in "tb"))
            values[number] = value
    line = "  " + name
    for number, value in values.items():
        field, size = fields[number]
        if size[0] == "t":
            need(len(value) < int(size[1:]) and 0 not in value)
            value = quoted(value)
        elif size[0] == "b":
            need(len(value) <= int(size[1:]))
            value = value.ljust(int(size[1:]), b"\0").hex()
        else:
            value = fit(value, size)
        line += " %s=%s" % (field, value) if value not in (0, '""', "00" * 16) else ""
    print(line)


def identities(data):
    payload = Bytes(data)
    while payload.left():
        kind = payload.u8()
        row = Bytes(payload.take(payload.varint()))
        if kind in IDENTITIES:
            identity(*IDENTITIES[kind], row)


def clock(data):
    need(len(data) >= 40)
    print("  clock monotonic_ns=%d realtime_ns=%d tai_ns=%d boot_ns=%d uncertainty_ns=%d" %
          struct.unpack("<5Q", data[:40]))


def reading(data):
    need(len(data) >= 18)
    begin_ns, end_ns, name_size = struct.unpack("<QQH", data[:18])
    need(1 <= name_size <= 256 and 18 + name_size <= len(data))
    name = data[18:18 + name_size]
    need(name.find(0) == name_size - 1)
    print("  reading begin_ns=%d end_ns=%d name=%s text=%s" %
          (begin_ns, end_ns, quoted(name[:-1]), quoted(data[18 + name_size:])))


def meta(data):
    while data:
        line, newline, data = data.partition(b"\n")
        key, equals, value = line.partition(b"=")
        need(newline and equals and key)
        print("  meta key=%s value=%s" % (quoted(key), quoted(value)))


PRINT = {1: meta, 2: events, 3: identities, 4: clock, 5: reading}


# ---- files ----

def print_block(data, number, at, header):
    words = ["offset=%d" % at, "type=%s" % TYPES.get(header["type"], header["type"])]
    words += ["%s=%d" % (name, header[name]) for name in PRINTED]
    print("block %d %s" % (number, " ".join(words)))
    try:
        own = block_header(data, at)
        need(all(own[name] == header[name] for name in BLOCK_FIELDS))
        payload = payload_of(data, at, own)
        if header["type"] in PRINT:
            fields = PRINT[header["type"]](payload) or {}
            differ = ["%s=%d, not %d" % (name, own[name], value)
                      for name, value in fields.items() if own[name] != value]
            if differ:
                print("block %d: %s" % (number, "; ".join(differ)), file=sys.stderr)
    except Damaged:
        print("  damaged")


def read_chunk(data, scan_it):
    own = None
    try:
        own = chunk_header(data)
    except (Damaged, NotATape) as error:
        own_error = error
    indexed, damage = not scan_it, []
    try:
        copy, blocks = read_index(data)
        need(own is None or copy == own)
        if own is None:
            damage = [(0, 176)]
    except (Damaged, NotATape, OtherVersion):
        copy, indexed = None, False
    header = own or copy
    if header is None:
        raise own_error
    if not indexed:
        first = own["header_size"] if own else find_block(data, 8)
        damage = [] if own else [(0, first)]
        blocks, more = scan(data, first)
        damage += more
    return header, indexed, blocks, damage


def dump(path, scan_it):
    print("chunk %s" % os.path.basename(path))
    with open(path, "rb") as file:
        data = file.read()
    try:
        header, indexed, blocks, damage = read_chunk(data, scan_it)
    except NotATape:
        print("error: not a tape")
        return False
    except OtherVersion:
        print("error: another version")
        return False
    except Damaged:
        print("error: damaged")
        return False
    print("header version=%d number=%d session=%s created_monotonic_ns=%d created_realtime_ns=%d boot_id=%s host=%s"
          " indexed=%d" % (
        header["version"], header["number"], header["session"], header["created_monotonic_ns"],
        header["created_realtime_ns"], quoted(header["boot_id"]), quoted(header["host"]), indexed))
    for offset, size in damage:
        print("damage offset=%d size=%d" % (offset, size))
    for number, (at, block) in enumerate(blocks):
        print_block(data, number, at, block)
    return True


def main():
    paths = sys.argv[1:]
    scan_it = paths[:1] == ["--scan"]
    paths = paths[1:] if scan_it else paths
    if not paths:
        sys.exit("usage: read_tape.py [--scan] TAPE|CHUNK...")
    whole = True
    for path in paths:
        if os.path.isdir(path):
            for name in sorted(os.listdir(path)):
                if name.startswith("chunk-"):
                    whole = dump(os.path.join(path, name), scan_it) and whole
        else:
            whole = dump(path, scan_it) and whole
    sys.exit(0 if whole else 1)


if __name__ == "__main__":
    main()
