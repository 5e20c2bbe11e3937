# SPDX-License-Identifier: GPL-2.0-only
"""
What first_hour.sh asks of the README.

    first_hour.py commands README           the lines that begin with "$", one a line, in order
    first_hour.py compare README N PRINTED  whether what stands below the Nth is in the file PRINTED; prints what is not

A line of the README is there if a printed line has the same words in the same order. Numbers, units and addresses are the
host's, and so is what a row of a table is about: of a line with several numbers only the first word counts. A line with "..."
in it is compared up to there; a line of "..." stands for any number of lines.
"""
import re
import sys


def blocks(path):
    """(command, the lines shown below it) for each command."""
    found, inside = [], False
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.rstrip("\n")
            if line.startswith("    $ "):
                found.append((line[6:], []))
                inside = True
            elif inside and (line.startswith("    ") or not line):
                found[-1][1].append(line[4:])
            else:
                inside = False
    return [join_command(command, lines) for command, lines in found]


def join_command(command, lines):
    """A command may go over several lines: while a quote is open, or a backslash ends the line."""
    while lines and (command.count('"') % 2 or command.endswith("\\")):
        command = command.rstrip("\\") + " " + lines.pop(0).strip()
    return re.sub(r"\s+#.*$", "", command), [line for line in lines if line.strip()]


UNITS = {"s", "ms", "us", "ns", "B", "kB", "MB", "GB", "TB", "%"}


def words(text):
    """The words of a line that are the same on every host: no numbers, units, addresses or paths."""
    text = re.sub(r"\|.*\|$|[|+~#=\-]{2,}", " ", text)
    found = []
    for word in re.findall(r"\S+", text):
        bare = word.strip("(),;:.|")
        if not bare or bare in UNITS or re.search(r"\d", bare):
            continue
        found.append(bare)
    return found


def is_shown(shown, printed):
    cut = shown.split("...")[0]
    wanted = words(cut)
    if len(re.findall(r"\d[\d,.]*", cut)) > 2:
        wanted = wanted[:1]
    if not wanted:
        return True
    for line in printed:
        got = words(line)
        at = 0
        for word in got:
            if at < len(wanted) and word == wanted[at]:
                at += 1
        if at == len(wanted):
            return True
    return False


def compare(path, number, printed_path):
    with open(printed_path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    # Long lines are wrapped where the terminal ends: a sentence is compared as one.
    printed = text.split("\n") + [" ".join(part.split()) for part in re.split(r"\n\s*\n|\n(?=\S)", text)]
    missing = [line for line in blocks(path)[number - 1][1] if not is_shown(line, printed)]
    for line in missing:
        print("not printed: " + line)
    if not missing and blocks(path)[number - 1][1]:
        print("all there")
    return 1 if missing else 0


def main():
    if sys.argv[1] == "commands":
        for command, _ in blocks(sys.argv[2]):
            print(command)
        return 0
    return compare(sys.argv[2], int(sys.argv[3]), sys.argv[4])


sys.exit(main())
