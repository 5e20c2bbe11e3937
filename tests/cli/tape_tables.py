#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Statements for tape_tables.sh, and what they give in two places: tape, database, or tape by the extension of SQLite.
#
#   tape_tables.py statements DB SEED NUMBER >FILE    one a line: each table and view in full, then random ones, with
#                                                     values that are in the database
#   tape_tables.py compare FILE A B                   A and B: what `nettape-report query --json` printed of FILE, or
#                                                     `sqlite3 -json` of its lines, each after a line with MARK
#   tape_tables.py extension LIBRARY TAPE DB FILE     runs FILE on tape and database with Python's SQLite
#
# The last two print how many statements there were and how many differ ("120 0"), and before that the first that do.
# Rows are compared as a set, but with a last ORDER BY.
import json
import random
import re
import sqlite3
import sys

KEYS = ('utid', 'cpu', 'socket_id', 'upid', 'stack_id', 'symbol_id', 'device_id')
SHOWN = 3
MARK = "SELECT '' AS mark;"  # before a statement: the shell prints nothing of an empty result
MANY_ROWS = 60  # in what is looked at row by row


class Table:
    def __init__(self, db, name):
        info = list(db.execute(f'PRAGMA table_info({name})'))
        self.name = name
        self.columns = [row[1] for row in info]
        self.is_text = {row[1]: row[2] == 'TEXT' for row in info}
        self.has_rowid = not any(row[5] for row in info)
        self.size = db.execute(f'SELECT count(*) FROM {name}').fetchone()[0]
        self.values = {column: [row[0] for row in db.execute(
            f'SELECT DISTINCT "{column}" FROM {name} ORDER BY 1')] for column in self.columns}


class Maker:
    """Random statements."""

    def __init__(self, db, seed):
        self.random = random.Random(seed)
        self.tables = [Table(db, row[0]) for row in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        self.events = [t for t in self.tables if 'ts' in t.columns and 'cpu' in t.columns and t.size]
        self.filled = [t for t in self.tables if t.size]

    def pick(self, *choices):
        return self.random.choice(choices)

    def table(self, events=False):
        return self.random.choice(self.events if events or self.random.random() < 0.6 else self.filled)

    def literal(self, value):
        if value is None:
            return 'NULL'
        return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"

    def value(self, table, column):
        """A value of the column, or near one, often written as another type."""
        value = self.random.choice(table.values[column] + [None])
        if value is None and self.random.random() < 0.8:
            value = self.random.choice(table.values[column])
        if isinstance(value, int):
            value += self.pick(0, 0, 0, 1, -1)
            return self.pick('{}', '{}', '{}', "'{}'", '{}.0', '{}.5', "CAST('0{}' AS NUMERIC)", "'0{}'",
                             "CAST({} AS TEXT)", "x'{:02x}'" if 0 <= value < 256 else '{}').format(value)
        if isinstance(value, str) and value.isdigit():
            return self.pick(self.literal(value), value, f'CAST({value} AS INTEGER)', value + '.0')
        if isinstance(value, str) and self.random.random() < 0.2:
            return self.pick('1', '1.0', "CAST('01' AS INTEGER)", "x'41'", self.literal(value.upper()))
        return self.literal(value)

    def window(self, table):
        times = [value for value in table.values['ts'] if value is not None]
        a, b = sorted(self.random.choice(times) for _ in range(2))
        return self.pick(f'{{0}}.ts >= {a} AND {{0}}.ts < {b}', f'{{0}}.ts BETWEEN {a} AND {b}', f'{{0}}.ts > {a}',
                         f"{{0}}.ts <= '{b}'", f'{a} <= {{0}}.ts AND {b}.5 > {{0}}.ts')

    def condition(self, table, alias, depth=0):
        roll = self.random.random()
        column = self.random.choice(table.columns)
        name = f'{alias}.{column}'
        if roll < 0.15 and 'ts' in table.columns and table.size:
            return '(' + self.window(table).format(alias) + ')'
        if roll < 0.25 and depth < 2:
            operands = [self.condition(table, alias, depth + 1) for _ in range(2)]
            return f'({operands[0]} {self.pick("OR", "OR", "AND")} {operands[1]})'
        if roll < 0.28 and depth < 2:
            return f'NOT {self.condition(table, alias, depth + 1)}'
        if roll < 0.35 and table.has_rowid:
            number = self.random.randrange(table.size + 2)
            return self.pick(f'{alias}.rowid = {number}', f'{alias}.rowid < {number}',
                             f'{alias}.rowid IN (1, {number})')
        if roll < 0.45:
            values = ', '.join(self.value(table, column) for _ in range(self.random.randrange(4)))
            return f'{name} {self.pick("IN", "IN", "NOT IN")} ({values})'
        if roll < 0.52:
            return f'{name} {self.pick("IS", "IS NOT")} {self.pick("NULL", self.value(table, column))}'
        if roll < 0.60 and table.is_text[column]:
            return self.pick(f'{name} = {self.value(table, column)} COLLATE NOCASE',
                             f'{name} COLLATE NOCASE >= {self.value(table, column)}', f"{name} LIKE 'S%'",
                             f"{name} GLOB '*e*'")
        return f'{name} {self.pick("=", "=", "=", "=", "<", ">", "<=", ">=", "<>")} {self.value(table, column)}'

    def where(self, table, alias, least=0):
        conditions = [self.condition(table, alias) for _ in range(self.random.randint(least, 3))]
        return ' WHERE ' + ' AND '.join(conditions) if conditions else ''

    def columns(self, table, alias):
        names = self.random.sample(table.columns, self.random.randint(1, len(table.columns)))
        return [f'{alias}.{name}' for name in names] + [f'{alias}.rowid'] * (table.has_rowid and self.pick(0, 1))

    # ---- kinds of statements ----

    def plain(self):
        table = self.table()
        names = self.columns(table, 't')
        order = ' ORDER BY ' + ', '.join(f'{i + 1}{self.pick("", " DESC")}' for i in range(len(names)))
        return (f'SELECT {self.pick("", "", "DISTINCT ")}{", ".join(names)} FROM {table.name} AS t'
                f'{self.where(table, "t")}{self.pick("", order)}')

    def by_rowid(self):
        table = self.random.choice([t for t in self.filled if t.has_rowid])
        return (f'SELECT {", ".join(self.columns(table, "t"))} FROM {table.name} AS t{self.where(table, "t")}'
                f' ORDER BY t.rowid{self.pick("", " DESC")} LIMIT {self.random.randrange(40)}'
                f' OFFSET {self.random.randrange(10)}')

    def by_number(self):
        """A table beside its own rows, found by their rowids."""
        table = self.random.choice([t for t in self.filled if t.has_rowid])
        number = self.pick('a.n', 'a.n', 'a.n + 1', "a.n || ''", 'a.n + 0.0', 'a.n + 0.5', 'nullif(a.n % 4, 3)')
        and_on = self.pick('', f' AND {self.condition(table, "b")}')
        return (f'SELECT a.n, {", ".join(self.columns(table, "b"))} FROM (SELECT rowid AS n FROM {table.name}'
                f' ORDER BY rowid LIMIT {MANY_ROWS} OFFSET {self.random.randrange(table.size)}) AS a'
                f' {self.pick("JOIN", "LEFT JOIN", "CROSS JOIN")} {table.name} AS b ON b.rowid = {number}{and_on}')

    def group(self):
        table = self.table()
        by = self.random.choice(table.columns)
        of = self.random.choice(table.columns)
        return (f'SELECT t.{by}, count(*), count(t.{of}), min(t.{of}), max(t.{of}), total(length(t.{of}))'
                f' FROM {table.name} AS t{self.where(table, "t")} GROUP BY 1{self.pick("", " HAVING count(*) > 2")}')

    def percentile(self):
        table = self.table(events=True)
        return (f'SELECT t.cpu, percentile(t.ts, 0.{self.random.randrange(100):02}) FROM {table.name} AS t'
                f'{self.where(table, "t")} GROUP BY t.cpu')

    def pair(self):
        """Two tables and a column that both have."""
        for _ in range(100):
            left, right = self.table(events=True), self.table()
            both = [key for key in KEYS if key in left.columns and key in right.columns]
            if both:
                return left, right, self.random.choice(both)
        raise ValueError('no two tables have a column in common')

    def some(self, table):
        """Few rows of a table."""
        order = 'rowid' if table.has_rowid else '1, 2'
        return (f'(SELECT * FROM {table.name} ORDER BY {order} LIMIT {MANY_ROWS}'
                f' OFFSET {self.random.randrange(table.size)})')

    def join(self):
        left, right, key = self.pair()
        kind = self.pick('JOIN', 'LEFT JOIN', 'CROSS JOIN')
        if sqlite3.sqlite_version_info >= (3, 39):
            kind = self.pick(kind, kind, 'RIGHT JOIN', 'FULL JOIN')
        first = self.pick(self.some(left), left.name)
        and_on = self.pick('', f' AND {self.condition(right, "b")}')
        return (f'SELECT count(*), min(a.ts), max(b.{self.random.choice(right.columns)}), count(b.session_id),'
                f' total(b.{key}) FROM {first} AS a {kind} {right.name} AS b'
                f' ON b.session_id = a.session_id AND b.{key} = a.{key}{and_on}'
                f'{self.pick("", self.where(left, "a", 1))}')

    def joins(self):
        left, right, key = self.pair()
        return (f'SELECT a.ts, b.{self.random.choice(right.columns)}, t.name, p.pid FROM {self.some(left)} AS a'
                f' JOIN {right.name} AS b USING (session_id, {key})'
                f' LEFT JOIN thread AS t ON t.session_id = a.session_id AND t.utid = a.{key}'
                f' LEFT JOIN process AS p ON p.session_id = t.session_id AND p.upid = t.upid'
                f'{self.where(right, "b", 1)}')

    def neighbours(self):
        table = self.random.choice([t for t in self.events if t.has_rowid])
        return (f'SELECT a.ts, b.ts - a.ts FROM {self.some(table)} AS a JOIN {table.name} AS b ON b.ts '
                f'{self.pick("<", "=", ">=")} a.ts AND b.cpu = a.cpu{self.where(table, "b", 1)}')

    def either(self):
        """What SQLite answers by two looks into the table, if each finds rows by what is equal."""
        table = self.table()
        parts = []
        for column in self.random.sample(table.columns, 2):
            parts.append(f't.{column} = {self.literal(self.random.choice(table.values[column]))}')
        return f'SELECT {", ".join(self.columns(table, "t"))} FROM {table.name} AS t WHERE {" OR ".join(parts)}'

    def twice(self):
        """A small table beside itself."""
        table = self.random.choice([t for t in self.filled if t.size < MANY_ROWS])
        column = self.random.choice(table.columns)
        return (f'SELECT {", ".join(self.columns(table, "a"))}, b.{column} FROM {table.name} AS a, {table.name} AS b'
                f'{self.where(table, "b")}')

    def correlated(self):
        left, right, key = self.pair()
        inner = self.pick(f'count(*)', f'max(b.{self.random.choice(right.columns)})')
        order = ' AND b.ts < a.ts' if 'ts' in right.columns and self.random.random() < 0.5 else ''
        return (f'SELECT a.ts, a.{key}, (SELECT {inner} FROM {right.name} AS b WHERE b.{key} = a.{key}{order})'
                f' FROM {self.some(left)} AS a')

    def exists(self):
        left, right, key = self.pair()
        return (f'SELECT count(*), min(a.ts) FROM {self.some(left)} AS a WHERE {self.pick("", "NOT ")}EXISTS'
                f' (SELECT 1 FROM {right.name} AS b WHERE b.{key} = a.{key} AND {self.condition(right, "b")})')

    def in_select(self):
        left, right, key = self.pair()
        return (f'SELECT a.{key}, count(*) FROM {left.name} AS a WHERE a.{key} {self.pick("IN", "NOT IN")}'
                f' (SELECT b.{key} FROM {right.name} AS b{self.where(right, "b", 1)}) GROUP BY 1')

    def compound(self):
        left, right, key = self.pair()
        return (f'SELECT a.{key} FROM {left.name} AS a{self.where(left, "a", 1)}'
                f' {self.pick("UNION", "UNION ALL", "EXCEPT", "INTERSECT")}'
                f' SELECT b.{key} FROM {right.name} AS b{self.where(right, "b", 1)}')

    def window_function(self):
        table = self.random.choice([t for t in self.events if t.has_rowid])
        by = self.pick('cpu', self.random.choice(table.columns))
        call = self.pick('row_number()', 'lag(t.ts, 2)', 'lead(t.cpu)', 'sum(t.cpu)', 'count(*)', 'max(t.ts)')
        return (f'SELECT t.ts, {call} OVER (PARTITION BY t.{by} ORDER BY t.ts, t.rowid'
                f'{self.pick("", " ROWS BETWEEN 3 PRECEDING AND CURRENT ROW")}) FROM {table.name} AS t'
                f'{self.where(table, "t")}')

    def common_table(self):
        table = self.table(events=True)
        return (f'WITH some AS (SELECT t.cpu, t.ts FROM {table.name} AS t{self.where(table, "t", 1)})'
                f' SELECT a.cpu, count(*), (SELECT count(*) FROM some) FROM some AS a'
                f' JOIN cpu_cost AS c ON c.cpu = a.cpu GROUP BY 1 ORDER BY 1')

    def any(self):
        kinds = (self.plain, self.plain, self.by_rowid, self.by_number,
                 self.group, self.percentile, self.join, self.joins,
                 self.neighbours, self.either, self.twice, self.correlated, self.exists, self.in_select,
                 self.compound, self.window_function, self.common_table)
        statement = self.pick(*kinds)()
        return read_whole(statement) if is_rowid_hidden(statement) else statement


def is_rowid_hidden(statement):
    """
    Whether SQLite asks for rowids of which the plan of a look does not know: those in the result and in parts of
    conditions, and its own for RIGHT and FULL JOIN. A tape has them only where all of it is read.
    """
    in_parentheses = r'\((?:[^()]|\([^()]*\))*\.rowid'
    return re.search(rf'RIGHT JOIN|FULL JOIN|^SELECT [^(]*\.rowid.* FROM|\bNOT \w\.rowid|{in_parentheses}', statement)


def read_whole(statement):
    """Conditions on ts and cpu do not choose what is read."""
    statement = re.sub(r'USING \(session_id, cpu\)', 'ON b.session_id = a.session_id AND b.cpu = a.cpu', statement)
    return re.sub(r'\b([abt]\.(ts|cpu))\b(?!,| FROM)', r'+\1', statement)  # but not where names of columns are made


def open_read(path):
    return sqlite3.connect(f'file:{path}?mode=ro', uri=True)


def print_statements(path, seed, number):
    db = open_read(path)
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"):
        print(f'SELECT * FROM {name};')
    maker = Maker(db, int(seed))
    for _ in range(int(number)):
        print(maker.any() + ';')


# ---- comparing ----

def read_statements(path):
    return [line.strip() for line in open(path, encoding='utf-8') if line.strip()]


def read_sets(path):
    """The result of each statement, as lists of rows."""
    text = open(path, encoding='utf-8').read()
    decoder = json.JSONDecoder(object_pairs_hook=list)
    space = re.compile(r'\s*')
    at, sets = space.match(text).end(), []
    while at < len(text):
        rows, at = decoder.raw_decode(text, at)
        sets.append(rows)
        at = space.match(text, at).end()
    return by_marks(sets) if sets and is_mark(sets[0]) else sets


def is_mark(rows):
    return rows == [[('mark', '')]]


def by_marks(sets):
    marked = []
    for rows in sets:
        if is_mark(rows):
            marked.append([])
        else:
            marked[-1] = rows
    return marked


def in_order(statement, rows):
    return rows if re.search(r' ORDER BY [^()]*$', statement) else sorted(rows, key=repr)


def first_of(a, b):
    """What to show of a beside b: the first row that b lacks."""
    if isinstance(a, list) and isinstance(b, list):
        return f'{len(a)} rows, one: {next((row for row in a if row not in b), None)}'
    return str(a)[:400]


class Difference:
    def __init__(self):
        self.n = self.wrong = self.with_rows = 0

    def add(self, statement, a, b):
        self.n += 1
        self.with_rows += isinstance(b, list) and len(b) > 0
        if isinstance(a, list) and isinstance(b, list):
            a, b = in_order(statement, a), in_order(statement, b)
        if a == b:
            return
        self.wrong += 1
        if self.wrong <= SHOWN:
            print(f'{statement}\n    {first_of(a, b)}\n    {first_of(b, a)}')

    def end(self):
        if self.with_rows < self.n / 6:
            print(f'only {self.with_rows} of {self.n} statements gave rows')
            self.wrong += 1
        print(f'{self.n} {self.wrong}')


def compare(statements_path, a_path, b_path):
    statements, a, b = read_statements(statements_path), read_sets(a_path), read_sets(b_path)
    difference = Difference()
    for i, statement in enumerate(statements):
        difference.add(statement, a[i] if i < len(a) else 'no result', b[i] if i < len(b) else 'no result either')
    difference.end()


def run(db, statement):
    try:
        return list(db.execute(statement))
    except sqlite3.Error as error:
        return f'{type(error).__name__}: {error}'


def load(db, library):
    db.enable_load_extension(True)
    db.load_extension(library)


def compare_extension(library, tape, path, statements_path):
    on_tape, on_db = sqlite3.connect(':memory:'), open_read(path)
    for db in on_tape, on_db:
        load(db, library)
    on_tape.execute('SELECT nettape_open(?)', (tape,)).fetchall()
    difference = Difference()
    for statement in read_statements(statements_path):
        difference.add(statement, run(on_tape, statement), run(on_db, statement))
    difference.end()


if __name__ == '__main__':
    {'statements': print_statements, 'compare': compare,
     'extension': compare_extension}[sys.argv[1]](*sys.argv[2:])
