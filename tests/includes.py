#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
#
# Whether every #include goes the way that docs/architecture.md states. Reads two of its tables: the folders at the top
# with what each may include, and the order of the folders of report/. Also finds cycles between folders, subfolders
# counted as folders of their own.
#
#   tests/includes.py [ROOT]
#
# One line for each fault. Exit status 0: none, 1: some, 2: the page cannot be understood.
import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
GENERATED = ('text/', 'bpf/nettape.skel.h')  # made by the build, below build/
PURE = ('schema/', 'report/util/', 'report/timeline/')  # all that report/timeline may include


def table_rows(text):
    """The cells of each row of each table, without headings."""
    for line in text.splitlines():
        if line.startswith('| `'):
            yield [cell.strip() for cell in line.strip('|').split('|')]


def read_page(path):
    """(folder: what it may include; the folders of report/, the last step first)"""
    text = open(path, encoding='utf-8').read()
    before, _, rest = text.partition('<!-- includes: begin -->')
    inside, _, after = rest.partition('<!-- includes: end -->')
    allowed = {}
    for cells in table_rows(before):
        if len(cells) == 3:
            allowed[cells[0].strip('`')] = re.findall(r'`([^`]+)`', cells[2])
    order = [cells[0].strip('`') for cells in table_rows(inside)]
    if not after or not allowed or len(order) < 2:
        sys.exit(2)
    return allowed, order


def sources(root, folders):
    for folder in folders:
        for directory, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if name.endswith(('.c', '.h')):
                    yield os.path.relpath(os.path.join(directory, name), root)


def step(path, order):
    """The place of a file of report/ in the order, or None: its folder is not in the table."""
    parts = path.split('/')
    folder = parts[1] if len(parts) > 2 else '.'
    return order.index(folder) if folder in order else None


def fault_of(path, include, allowed, order):
    """What is wrong with one include, or None."""
    top = path.split('/')[0] + '/'
    if top not in allowed:
        return None
    if not include.startswith(tuple(allowed[top])):
        return f'{top} may not include it'
    if path.startswith('report/timeline/') and not include.startswith(PURE):
        return 'timeline may include schema and util alone'
    if top == 'report/' and include.startswith('report/'):
        here, there = step(path, order), step(include, order)
        if here is None or there is None:
            return 'a folder that the table does not have'
        if there < here:
            return f'goes up, from {order[here]} to {order[there]}'
    return None


def cycle(graph):
    """A list of folders that include one another, or None."""
    state = {}

    def visit(node, way):
        if state.get(node) == 'done':
            return None
        if state.get(node) == 'open':
            return way[way.index(node):] + [node]
        state[node] = 'open'
        for other in sorted(graph.get(node, ())):
            found = visit(other, way + [node])
            if found:
                return found
        state[node] = 'done'
        return None

    for node in sorted(graph):
        found = visit(node, [])
        if found:
            return found
    return None


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else '.'
    allowed, order = read_page(os.path.join(root, 'docs/architecture.md'))
    faults, seen, graph = [], 0, {}
    for path in sources(root, ('schema', 'bpf', 'record', 'report')):
        for include in INCLUDE.findall(open(os.path.join(root, path), encoding='utf-8').read()):
            if include.startswith(GENERATED):
                continue
            seen += 1
            if not os.path.exists(os.path.join(root, include)):
                faults.append(f'{path} includes {include}: there is no such file')
                continue
            what = fault_of(path, include, allowed, order)
            if what:
                faults.append(f'{path} includes {include}: {what}')
            here, there = os.path.dirname(path), os.path.dirname(include)
            if here != there:
                graph.setdefault(here, set()).add(there)
    found = cycle(graph)
    if found:
        faults.append('folders that include one another: ' + ' -> '.join(found))
    for fault in faults:
        print(fault)
    print(f'{seen} includes, {len(faults)} faults')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
