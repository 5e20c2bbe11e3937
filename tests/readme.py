# SPDX-License-Identifier: GPL-2.0-only
"""
The README's commands, and what it shows below them.

    readme.py commands README           the lines that begin with "$" in its console blocks, one a line, in order
    readme.py install README            the lines of its sh blocks, in order
    readme.py compare README N PRINTED  whether what stands below the Nth is in the file PRINTED; prints what is not
    readme.py remake README N PRINTED   puts what is in PRINTED below the Nth, shortened as SHOWN says
    readme.py costs README DIRECTORY    makes its table of costs from the measurements in DIRECTORY/NAME.cost

To compare: a line of the README is there if a printed line has the same words in the same order. Numbers, units and
addresses are the host's, and so is what a row of a table is about: of a line with several numbers only the first word
counts. A column may be left out if a sentence names it. A line of "..." stands for any number of lines. What only
some traffic has is told where there was some: losses, uncovered time, payers other than sockets.
"""
import re
import statistics
import sys

# The part of a command's output that is shown: of each paragraph that begins so, so many of its first and last lines.
# The rest becomes "...". A command that is not here shows nothing.
SHOWN = {
    "nettape-record": [("", 9, 0)],
    "nettape-report summary": [
        ("host ", 2, 0), ("Owners of each", 5, 0), ("Network stack", 4, 0), ("Programs by", 9, 0),
        ("Sockets by", 5, 2), ("Who pays", 8, 1)],
    "nettape-report stages": [("session 1", 9, 0), ("owner ", 9, 0)],
    "nettape-report latency": [("host ", 1, 0), ("How late", 9, 0)],
    "nettape-report timeline": [("The windows", 4, 0), ("Threads that ran", 3, 0), ("  CPU 0 |", 7, 0)],
    "nettape-report check": [("session 1", 4, 1)],
}

COSTS = {
    "nothing": "nothing",
    "default": "nettape, the default probes",
    "default,stacks,latency": "nettape, with `stacks` and `latency`",
    "perf": "`perf record`, five tracepoints",
}
COSTS_HEAD = ["| recorded by | GET a second | kept | p50 | p99 | its own CPU time |", "|---|---|---|---|---|---|"]


class Command:
    """One command of the README: its text, and at which lines of the README its output stands."""

    def __init__(self, text, begin, end):
        self.text, self.begin, self.end = text, begin, end


def read_lines(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().split("\n")


def commands(lines):
    found, inside = [], False
    for number, line in enumerate(lines):
        if line.startswith("```"):
            inside = line == "```console"
        elif inside and line.startswith("$ "):
            found.append(Command(re.sub(r"\s+#.*$", "", line[2:]), number + 1, number + 1))
        elif inside:
            found[-1].end = number + 1
    return found


def install_lines(lines):
    found, inside = [], False
    for line in lines:
        if line.startswith("```"):
            inside = line == "```sh"
        elif inside:
            found.append(line)
    return found


# ---- compare ----

# Each has a row where it paid for some of net_rx.
PAYERS_OF_SOME = {"forwarded", "dropped", "other", "unattributed"}

BOUND_OF_UNCOVERED = "if all uncovered time was the network's"

UNITS = {"s", "ms", "us", "ns", "B", "kB", "MB", "GB", "TB", "%"}


def words(text):
    """The words of a line that are the same on every host: no numbers, units, addresses or paths."""
    text = re.sub(r"\|.*\|$|[|+~#=\-]{2,}", " ", text)
    bare = (word.strip("(),;:.|") for word in text.split())
    return [word for word in bare if word and word not in UNITS and not re.search(r"\d", word)]


def has_in_order(wanted, got):
    rest = iter(got)
    return all(word in rest for word in wanted)


def numbers(text):
    """Not those in a name such as p99."""
    return len(re.findall(r"(?<!\w)\d[\d,.]*", text))


def columns_left_out(printed):
    """The columns that a table has no room for: a sentence names them."""
    found = re.findall(r"Left out, as a line has \d+ columns: ([^.]*)\.", " ".join(" ".join(printed).split()))
    return {name for names in found for name in names.split(", ")}


def legend(line, least=3):
    """Letter to name, of a line such as "h hardirq, R net_rx" with so many pairs; nothing if it is no such line."""
    pairs = [part.split() for part in line.strip().split(", ")]
    is_legend = len(pairs) >= least and all(len(pair) == 2 and len(pair[0]) == 1 for pair in pairs)
    return dict(pairs) if is_legend else {}


def has_legend(wanted, printed):
    """It lists what its own picture has, on a busy host perhaps one owner: each letter there, none by another name."""
    legends = [legend(line, least=1) for line in printed]
    drawn = {letter for line in printed for cells in re.findall(r"^ *CPU \d+ \|(.*)\|$", line) for letter in cells
             if letter.isalpha()}
    same = {letter for got in legends for letter in wanted if got.get(letter) == wanted[letter]}
    other = {letter for got in legends for letter in wanted if letter in got and got[letter] != wanted[letter]}
    return same and not other and any(drawn <= got.keys() for got in legends)


def has_head(wanted, printed):
    """Each column is in one printed line, in the same order, or is said to be left out."""
    left_out = columns_left_out(printed)
    heads = [line.split() for line in printed if line.split()[:1] == wanted[:1]]
    return any(has_in_order([word for word in wanted if word in got or word not in left_out], got) for got in heads)


def is_told(line, printed):
    """Of losses and uncovered time: told if there were some, and only then."""
    if BOUND_OF_UNCOVERED in line:
        text = " ".join(" ".join(printed).split())
        return ("uncovered 0 ns." in text) != (BOUND_OF_UNCOVERED in text)
    if line.startswith("lost:"):
        has_lost = any(re.search(r"\b[1-9][\d,]* lost,", text) for text in printed)
        return has_lost == any(text.startswith("lost:") for text in printed)
    has_lost = any(re.match(r"  loss\b", text) for text in printed)
    verdicts = [text for text in printed if text.startswith("ok")]
    return bool(verdicts) and has_lost == any(text.startswith("ok, WITH LOSS") for text in verdicts)


def is_printed(line, below, printed, printed_words):
    """Of a row of a table only its first word is wanted: the rest is this host's."""
    if line.startswith(("lost:", "ok")) or BOUND_OF_UNCOVERED in line:
        return is_told(line, printed)
    if legend(line):
        return has_legend(legend(line), printed)
    if words(line) and numbers(line) == 0 and numbers(below) > 2:
        return has_head(line.split(), printed)
    wanted = words(line)[:1] if numbers(line) > 2 else words(line)
    if wanted and wanted[0] in PAYERS_OF_SOME:
        return True
    return any(has_in_order(wanted, got) for got in printed_words)


def compare(readme, number, printed_path):
    lines = read_lines(readme)
    command = commands(lines)[number - 1]
    shown = [line for line in lines[command.begin:command.end] if line not in ("", "...")]
    printed = read_lines(printed_path)
    # Sentences are wrapped: each is also compared as one line.
    printed += [" ".join(part.split()) for part in re.split(r"\n\s*\n|\n(?=\S)", "\n".join(printed))]
    printed_words = [words(line) for line in printed]
    missing = [
        line for line, below in zip(shown, shown[1:] + [""]) if not is_printed(line, below, printed, printed_words)
    ]
    for line in missing:
        print("not printed: " + line)
    if shown and not missing:
        print("all there")
    return 1 if missing else 0


# ---- remake ----

def shorten(printed, rules):
    """The lines to show, and "..." for what is left out."""
    shown = []
    for paragraph in "\n".join(printed).strip("\n").split("\n\n"):
        lines = paragraph.split("\n")
        first, last = next((counts for begin, *counts in rules if paragraph.startswith(begin)), (0, 0))
        if first and shown:
            shown.append("")
        if len(lines) <= first + last:
            shown += lines
            continue
        shown += lines[:first]
        if shown[-1:] != ["..."]:
            shown.append("...")
        shown += lines[len(lines) - last:]
    return shown


def remake(readme, number, printed_path):
    lines = read_lines(readme)
    command = commands(lines)[number - 1]
    name = command.text.removeprefix("sudo ")
    rules = next((rules for begin, rules in SHOWN.items() if name.startswith(begin)), None)
    shown = shorten(read_lines(printed_path), rules) if rules else []
    # A blank line before the next command of the block, if there was one.
    if shown and lines[command.end - 1] == "":
        shown.append("")
    lines[command.begin:command.end] = shown
    with open(readme, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    return 0


# ---- costs ----

def cost_row(name, rounds, unrecorded):
    """Medians of the rounds; the rate that was kept is that of the same round that nothing recorded."""
    rate, p50, p99, own = (statistics.median(column) for column in zip(*rounds))
    kept = statistics.median(a[0] / b[0] for a, b in zip(rounds, unrecorded))
    own_share = "" if name == "nothing" else f"{own:.0f} % of one CPU"
    return f"| {COSTS[name]} | {round(rate, -3):,.0f} | {kept:.2f} | {p50:.2f} ms | {p99:.2f} ms | {own_share} |"


def costs(readme, directory):
    measured = {
        name: [[float(word) for word in line.split()] for line in read_lines(f"{directory}/{name}.cost") if line]
        for name in COSTS
    }
    lines = read_lines(readme)
    begin = lines.index(COSTS_HEAD[0])
    end = lines.index("", begin)
    lines[begin:end] = COSTS_HEAD + [cost_row(name, measured[name], measured["nothing"]) for name in COSTS]
    with open(readme, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    print("\n".join(lines[begin:begin + 6]))
    return 0


def main():
    verb, readme, *rest = sys.argv[1:]
    if verb == "commands":
        for command in commands(read_lines(readme)):
            print(command.text)
        return 0
    if verb == "install":
        print("\n".join(install_lines(read_lines(readme))))
        return 0
    if verb == "costs":
        return costs(readme, rest[0])
    return {"compare": compare, "remake": remake}[verb](readme, int(rest[0]), rest[1])


sys.exit(main())
