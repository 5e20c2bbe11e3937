#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Asks whether the tests would notice: changes one line of a C source at a time, builds, and runs the tests that reach
that line, the quickest first. `make mutate` calls it.

    tests/mutate.py [-n NUMBER] [--seed N] [--only REGEX] [--jobs N] [--budget SECONDS] [--tests REGEX] [--keep]

A mutant is killed when a test fails or the compiler refuses it with an error of its own; it survives when all tests
that reach its line pass. Survivors are listed with file, line and change; the exit status is 1 if there are any.
tests/mutants.txt names the mutants that change nothing, each with the reason: they are not counted.

Tests that record are asked about record/, and elsewhere only about lines that no other test reaches.

Which test reaches which line is measured first, once, with gcov: all tests run in a copy of the tree that counts lines.
Mutants are made in other copies, below build/mutate; the tree itself is never touched. Tests that record need root;
without it they are left out, and so is what only they would see. No test can replace the devices in
/dev. A test that fails where lines are counted is asked last, about all lines of its folders (UNCOUNTED).

Not made: mutants that only give less back (free, close, release). LeakSanitizer watches the first; nobody the others.
Nor other sizes of arrays: most have some room to spare.
"""
import argparse
import gzip
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = os.path.join(TOP, "build", "mutate")
FOLDERS = ("schema", "record", "report")
EQUIVALENT = os.path.join("tests", "mutants.txt")
COVERAGE = "--coverage -fprofile-update=atomic"
SANITIZE = "-U_FORTIFY_SOURCE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g"
# A warning is no reason to refuse a mutant.
PLAIN_FLAGS = ("CFLAGS=-O1 -g -Wno-error", "SAN=" + SANITIZE + " -Wno-error")
# Without optimisation: else lines that share code share a count.
COVERAGE_FLAGS = tuple(flags.replace("-O1", "-O0") + " " + COVERAGE for flags in PLAIN_FLAGS)
TIERS = ("unit", "fuzz", "cli", "live", "fault")
# Tests that fail where lines are counted, since gcov complains in the output of programs that another user runs, or
# that find no room. Such a test is taken to reach every line below these folders.
UNCOUNTED = {
    "cli/record_usage": ("record/", "schema/cli/"),
    "cli/report_errors": ("report/",),
    "live/empty_root": ("record/",),
    "live/stop": ("record/",),
}
# A mutant that root runs may put a file in a device's place. So each device that tests name is a mount of its own where
# tests run: nobody can remove or replace that.
GUARD = ["unshare", "--mount", "sh", "-c",
         'for device in full null random tty urandom zero; do '
         'mount --bind "/dev/$device" "/dev/$device" || exit; done; '
         'exec "$@"', "sh"] if os.getuid() == 0 else []


# ---- mutants ----


def masked(text):
    """The text with comments, strings and characters as blanks, so rules see code alone. Same length, same lines."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


SWAPS = [
    (r"(?<=[\w)\]] )<(?= [\w(*&!-])", "<="),
    (r"(?<=[\w)\]] )<=(?= )", "<"),
    (r"(?<=[\w)\]] )>(?= [\w(*&!-])", ">="),
    (r"(?<=[\w)\]] )>=(?= )", ">"),
    (r"(?<= )==(?= )", "!="),
    (r"(?<= )!=(?= )", "=="),
    (r"(?<= )&&(?=\s|$)", "||"),
    (r"(?<= )\|\|(?=\s|$)", "&&"),
    (r"!(?=[\w(*])", ""),
    (r"(?<=[\w)\]] )\+(?= [\w(*&])", "-"),
    (r"(?<=[\w)\]] )-(?= [\w(*&])", "+"),
    (r"(?<= )\+=(?= )", "-="),
    (r"(?<= )-=(?= )", "+="),
    (r"\breturn (?!0;)(?:err|error|-\w+|step);", "return 0;"),
    (r"\breturn true;", "return false;"),
    (r"\breturn false;", "return true;"),
    (r"\bcontinue;", "break;"),
]
# The lesser or the greater of two: where both are equal it does not matter which is taken, nor whether one becomes the
# other.
TERM = r"[\w\->.\[\]]+(?: [+\-*/] [\w\->.\[\]]+)*"
LESSER = re.compile(r"(?<!\w [+\-*/] )(?<![\w>.])"
                    r"(%s) (?:<|>|<=|>=) (%s) \? (?:\1 : \2|\2 : \1)(?![\w\->.\[(]| [+\-*/] )" % (TERM, TERM))
CLAMP = re.compile(r"^\s*if \((%s) (?:<|>|<=|>=) (%s)\)\n\s*(?:\1 = \2|\2 = \1);$" % (TERM, TERM))
# A statement on one line that does something: a call, an assignment, a step.
STATEMENT = re.compile(
    r"^\s*(?:\(void\))?[\w*][\w\->.\[\]*&+ ()]*(?:\([^;]*\)|(?:[-+*/|&^]|<<|>>)?= [^;]*|\+\+|--);\s*$")
NOT_DROPPED = re.compile(
    r"^\s*(?:return|goto|case|else|do|while|for|if|static|const|struct|union|enum|unsigned|signed|char|int|long|double|"
    r"float|void|bool|size_t|ssize_t|off_t|FILE|DIR|u?int\d+_t|__u\d+|sqlite3\w*|va_list|pthread\w*|Elf\w*|"
    r"time_t|sigset_t|"
    r"free|close|fclose|closedir|va_end|munmap|\w+_(?:free|release|close|finalize))\b"
)
# Sizes of arrays that a line declares, up to its first value: what is too large is not noticed.
SIZES = re.compile(r"^\s*(?!(?:return|case|else|goto)\b)(?:\w+ )+\**\w+[\[,][^=;]*")
SIZE = re.compile(r"(?<=\w)\[[^\]]*\]")
DECLARATION = re.compile(r"^\s*\w+ \*?\w+(?:\[[^\]]*\])?(?: = |;|,)")


def sizes(seen):
    """Where in a line of code the sizes of arrays stand that it declares: pairs of positions."""
    declared = SIZES.match(seen)
    return [match.span() for match in SIZE.finditer(seen, 0, declared.end())] if declared else []


def first_line(code, number):
    """Where the statement on a line begins: gcov counts some statements of several lines on their first one only."""
    while number > 1 and code[number - 2].strip() and not re.search(r"[;{}:]\s*$", code[number - 2]):
        number -= 1
    return number


class Mutant:
    def __init__(self, path, line, before, after, rule, first):
        self.path, self.line, self.before, self.after, self.rule = path, line, before, after, rule
        self.first = first  # line of its statement

    @property
    def folder(self):
        return self.path.split("/")[0]

    @property
    def name(self):
        """How tests/mutants.txt names it: by its text, since lines move."""
        return "%s | %s | %s" % (self.path, self.before.strip(), self.after.strip() or "(nothing)")

    def __str__(self):
        return "%s:%d: %s  ->  %s" % (self.path, self.line, self.before.strip(), self.after.strip() or "(nothing)")


def mutants_of(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        text = file.read()
    lines, code, inside = text.split("\n"), masked(text).split("\n"), False
    found = []
    for number, (line, seen) in enumerate(zip(lines, code), 1):
        # A function's braces stand in the first column, and nothing else's does but an initialiser's end.
        if line.startswith("{"):
            inside = True
        elif line.startswith("}"):
            inside = False
        if not inside or seen.lstrip().startswith(("#", "_Static_assert")):
            continue
        lesser, fixed = [match.span() for match in LESSER.finditer(seen)], sizes(seen)
        if CLAMP.match("\n".join(code[number - 1 : number + 1])):
            lesser.append((0, len(seen)))
        for pattern, replacement in SWAPS:
            for match in re.finditer(pattern, seen):
                if "=" in match.group() + replacement and any(a < match.start() < b for a, b in lesser):
                    continue
                if any(a < match.start() < b for a, b in fixed):
                    continue
                swapped = line[: match.start()] + replacement + line[match.end():]
                found.append(Mutant(path, number, line, swapped, "swap", first_line(code, number)))
        if STATEMENT.match(seen) and not NOT_DROPPED.match(seen) and not DECLARATION.match(seen):
            if line.strip() and not line.strip().startswith(("*/", "/*")):
                empty = re.match(r"\s*", line).group() + ";"
                found.append(Mutant(path, number, line, empty, "drop", first_line(code, number)))
    return found


def equivalent_names():
    names = set()
    path = os.path.join(TOP, EQUIVALENT)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    names.add(" | ".join(part.strip() for part in line.split(" | ")[:3]))
    return names


# ---- copies of the tree ----


def run(command, cwd, timeout=None, env=None, log=None):
    """Exit status; 124 when it took too long. Whatever the command started is ended with it."""
    with open(log or os.devnull, "w") as out:
        process = subprocess.Popen(
            command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=env,
            start_new_session=True
        )
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 15)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
            return 124


def copy_tree(to):
    """The files that git knows and new ones, as they are now. Unchanged files keep their time, so little is rebuilt."""
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP, check=True, capture_output=True, text=True
    ).stdout.split("\n")
    for name in filter(None, names):
        source, target = os.path.join(TOP, name), os.path.join(to, name)
        if not os.path.isfile(source):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.exists(target) and open(source, "rb").read() == open(target, "rb").read():
            continue
        shutil.copyfile(source, target)
        shutil.copymode(source, target)
    # Perfetto's engine, if `make check-all` has fetched it: without it half of what asks about the export is skipped.
    engine, link = os.path.join(TOP, "build", "tmp", "perfetto"), os.path.join(to, "build", "tmp", "perfetto")
    if os.path.isdir(engine) and not os.path.exists(link):
        os.makedirs(os.path.dirname(link), exist_ok=True)
        os.symlink(engine, link)


def test_environment(flags):
    """What a test builds for itself is built as the rest was. Random tests do the same each time (CI)."""
    return dict(os.environ, NO_INSTALL="1", CI="true", MAKEFLAGS=" ".join(flag.replace(" ", "\\ ") for flag in flags))


def make(tree, targets, log, flags=PLAIN_FLAGS, jobs=1):
    return run(["make", "-s", "-j%d" % jobs, *flags, *targets], tree, timeout=1800, log=log)


# ---- tests ----


class Test:
    def __init__(self, tier, name):
        self.tier, self.name = tier, name
        self.seconds = 0.0
        self.reached = {}  # path: set of lines; or, uncounted, folder/: nothing

    @property
    def full_name(self):
        return self.tier + "/" + self.name

    @property
    def is_uncounted(self):
        return any(path.endswith("/") for path in self.reached)

    def reaches(self, mutant):
        if self.is_uncounted:
            return mutant.path.startswith(tuple(self.reached))
        return not self.reached.get(mutant.path, set()).isdisjoint(range(mutant.first, mutant.line + 1))

    @property
    def command(self):
        if self.tier in ("unit", "fuzz"):
            return GUARD + ["build/tests/" + self.name]
        return GUARD + ["bash", "tests/%s/%s.sh" % (self.tier, self.name)]

    @property
    def targets(self):
        """What must be built for it."""
        if self.tier in ("unit", "fuzz"):
            return ["build/tests/" + self.name]
        if self.tier == "cli":
            return ["all", "build/san/nettape-report", "tools"]
        if self.tier == "live":
            return ["all", "tools"]
        return ["all", "tools", "build/san/nettape-report"]

    @property
    def is_alone(self):
        return self.tier in ("live", "fault")


def find_tests(pattern):
    tests = []
    for tier in TIERS:
        if tier == "live" and os.getuid() != 0:
            continue
        top = os.path.join(TOP, "tests", tier)
        for path in sorted(os.path.join(folder, name) for folder, _, names in os.walk(top) for name in names):
            base, end = os.path.splitext(os.path.relpath(path, top))
            is_program = tier in ("unit", "fuzz") and end == ".c" and base.endswith(("_test", "_fuzz"))
            is_script = tier not in ("unit", "fuzz") and end == ".sh" and not base.endswith("lib")
            if (is_program or is_script) and re.search(pattern, tier + "/" + base):
                tests.append(Test(tier, base))
    return tests


def lines_reached(tree, prefix):
    """Path to lines, out of the counters that a test left below `prefix`."""
    reached = {}
    counters = []
    for folder, _, names in os.walk(prefix):
        for name in names:
            if not name.endswith(".gcda"):
                continue
            counter = os.path.join(folder, name)
            notes = "/" + os.path.relpath(counter, prefix)[: -len("gcda")] + "gcno"
            if os.path.exists(notes) and not os.path.exists(counter[: -len("gcda")] + "gcno"):
                os.symlink(notes, counter[: -len("gcda")] + "gcno")
            counters.append(counter)
    for at in range(0, len(counters), 100):
        # The files are in one folder for gcov: it names what it writes by them alone.
        out = subprocess.run(["gcov", "--json-format", "--stdout", *counters[at : at + 100]],
                             cwd=tree, capture_output=True)
        for text in out.stdout.split(b"\n"):
            if not text.strip():
                continue
            for file in json.loads(text)["files"]:
                path = os.path.normpath(file["file"])
                path = os.path.relpath(path, tree) if os.path.isabs(path) else path
                if path.split("/")[0] in FOLDERS:
                    lines = reached.setdefault(path, set())
                    lines.update(line["line_number"] for line in file["lines"] if line["count"])
    return reached


def passes_plain(test):
    """Whether it passes where no lines are counted: in the first of the trees that mutants are made in."""
    tree, log = os.path.join(WORK, "tree-0"), os.path.join(WORK, "tree-0.log")
    copy_tree(tree)
    if make(tree, test.targets, log, jobs=os.cpu_count()):
        sys.exit("mutate: the tree does not build: " + log)
    begin = time.monotonic()
    status = run(test.command, tree, 600, test_environment(PLAIN_FLAGS), log)
    test.seconds = time.monotonic() - begin
    return status == 0


def measure(tests):
    """Runs each test once in a tree that counts lines. Gives the tests that pass."""
    tree = os.path.join(WORK, "coverage")
    copy_tree(tree)
    print("mutate: building with line counts", flush=True)
    log = os.path.join(WORK, "coverage.log")
    if make(tree, ["all", "unit", "tools", "build/san/nettape-report"], log, COVERAGE_FLAGS, os.cpu_count()):
        sys.exit("mutate: the tree does not build: " + log)
    passing = []
    for test in tests:
        prefix = os.path.join(WORK, "reached", test.full_name.replace("/", "-"))
        shutil.rmtree(prefix, ignore_errors=True)
        os.makedirs(prefix)
        env = dict(test_environment(COVERAGE_FLAGS), GCOV_PREFIX=prefix)
        log = os.path.join(WORK, "reached", test.full_name.replace("/", "-") + ".log")
        # Once more where it fails: tests that record depend on what else the host does.
        for _ in range(2):
            begin = time.monotonic()
            status = run(test.command, tree, 600, env, log)
            test.seconds = time.monotonic() - begin
            if status in (0, 77):
                break
        if status == 0:
            test.reached = lines_reached(tree, prefix)
            passing.append(test)
        elif test.full_name in UNCOUNTED and passes_plain(test):
            test.reached = {folder: () for folder in UNCOUNTED[test.full_name]}
            passing.append(test)
        else:
            print("mutate: %s %s, and is left out: %s" % (test.full_name, "skips" if status == 77 else "fails", log),
                  flush=True)
        shutil.rmtree(prefix, ignore_errors=True)
    with gzip.open(os.path.join(WORK, "reached.json.gz"), "wt") as file:
        json.dump([[t.tier, t.name, t.seconds, {p: sorted(l) for p, l in t.reached.items()}] for t in passing], file)
    return passing


def measured_before():
    with gzip.open(os.path.join(WORK, "reached.json.gz"), "rt") as file:
        tests = []
        for tier, name, seconds, reached in json.load(file):
            test = Test(tier, name)
            test.seconds, test.reached = seconds, {path: set(lines) for path, lines in reached.items()}
            tests.append(test)
        return tests


# ---- the work ----


class Worker(threading.Thread):
    alone = threading.Lock()  # tests that record, or fill memory and disks, run one at a time

    def __init__(self, number, work):
        super().__init__(daemon=True)
        self.tree, self.work = os.path.join(WORK, "tree-%d" % number), work
        self.log = os.path.join(WORK, "tree-%d.log" % number)

    def prepare(self):
        copy_tree(self.tree)
        return make(self.tree, ["all", "unit", "tools", "build/san/nettape-report"], self.log, jobs=os.cpu_count())

    def run(self):
        while True:
            mutant = self.work.next()
            if not mutant:
                return
            target = os.path.join(self.tree, mutant.path)
            with open(target, encoding="utf-8") as file:
                text = file.read()
            lines = text.split("\n")
            lines[mutant.line - 1] = mutant.after
            with open(target, "w", encoding="utf-8") as file:
                file.write("\n".join(lines))
            try:
                self.work.done(mutant, *self.judge(mutant))
            finally:
                with open(target, "w", encoding="utf-8") as file:
                    file.write(text)

    def judge(self, mutant):
        """("killed", by what), ("survived", after what), or ("refused", "") when it is no C."""
        tests = self.work.tests_for(mutant)
        if not tests:
            return "survived", "no test reaches the line"
        spent, ran, built = 0.0, 0, set()
        for test in tests:
            if ran and spent + test.seconds > self.work.budget:
                continue
            if not built.issuperset(test.targets):
                if make(self.tree, test.targets, self.log):
                    return "refused", ""
                built.update(test.targets)
            begin = time.monotonic()
            log = os.path.join(self.tree, "mutant.log")
            limit = 5 * test.seconds + 20
            env = test_environment(PLAIN_FLAGS)
            if test.is_alone:
                with Worker.alone:
                    status = run(test.command, self.tree, limit, env, log)
            else:
                status = run(test.command, self.tree, limit, env, log)
            spent += time.monotonic() - begin
            ran += 1
            if status not in (0, 77):
                return "killed", test.full_name + (", which did not end" if status == 124 else "")
        return "survived", "%d of %d tests" % (ran, len(tests))


class Work:
    """Which mutants there are still to try, and what became of the others."""

    def __init__(self, mutants, wanted, tests, budget):
        self.mutants, self.wanted, self.budget = mutants, wanted, budget
        self.tests, self.lock = tests, threading.Lock()
        self.results, self.under_way = [], 0

    def tests_for(self, mutant):
        reaching = [test for test in self.tests if test.reaches(mutant)]
        uncounted = [test for test in reaching if test.is_uncounted]
        reaching = [test for test in reaching if not test.is_uncounted]
        # Tests that record read what they recorded with the other program, but ask about the recorder: of the rest they
        # would notice little, in minutes.
        asked = [test for test in reaching if mutant.folder == "record" or test.tier != "live"]
        return sorted(asked or reaching, key=lambda test: test.seconds) + uncounted

    def next(self):
        with self.lock:
            if not self.mutants or len(self.results) + self.under_way >= self.wanted:
                return None
            self.under_way += 1
            return self.mutants.pop()

    def done(self, mutant, verdict, why):
        with self.lock:
            self.under_way -= 1
            if verdict != "refused":
                self.results.append((mutant, verdict, why))
                print("%4d %-8s %s  (%s)" % (len(self.results), verdict, mutant, why), flush=True)


def summary(results):
    folders = {}
    for mutant, verdict, _ in results:
        counts = folders.setdefault(mutant.folder, [0, 0])
        counts[0] += verdict == "killed"
        counts[1] += 1
    print()
    for folder, (killed, n) in sorted(folders.items()):
        print("%-8s killed %d of %d, %.1f %%" % (folder, killed, n, 100 * killed / n))
    survivors = [(mutant, why) for mutant, verdict, why in results if verdict == "survived"]
    print("%-8s killed %d of %d, %.1f %%" % ("all", len(results) - len(survivors), len(results),
                                             100 * (1 - len(survivors) / max(len(results), 1))))
    if survivors:
        print("\nSurvivors:")
        for mutant, why in sorted(survivors, key=lambda pair: (pair[0].path, pair[0].line)):
            print("  %s  (%s)" % (mutant, why))
    return len(survivors)


def main():
    parser = argparse.ArgumentParser(description="Asks whether the tests would notice a changed line.")
    parser.add_argument("-n", type=int, default=50, help="so many mutants (50)")
    parser.add_argument("--seed", type=int, default=None, help="which are drawn; printed when it is not given")
    parser.add_argument("--only", default=".", help="only of files that match, such as ^record/")
    parser.add_argument("--tests", default=".", help="only with tests whose name matches, such as ^(unit|cli)/")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        help="copies of the tree that work beside each other")
    parser.add_argument("--budget", type=float, default=300,
                        help="seconds of tests for one mutant; then it has survived (300)")
    parser.add_argument("--keep", action="store_true",
                        help="take the line counts of the last run; the sources must not have changed")
    options = parser.parse_args()
    os.makedirs(WORK, exist_ok=True)
    if run(GUARD + ["true"], TOP):
        sys.exit("mutate: cannot guard the devices in /dev: unshare --mount and mount --bind must work for root")
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    tests = find_tests(options.tests)
    if options.keep:
        names = {test.full_name for test in tests}
        tests = [test for test in measured_before() if test.full_name in names]
    else:
        tests = measure(tests)
    known = equivalent_names()
    mutants = []
    for folder in FOLDERS:
        for place, _, names in sorted(os.walk(os.path.join(TOP, folder))):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(place, name), TOP)
                if name.endswith(".c") and re.search(options.only, path):
                    mutants += [mutant for mutant in mutants_of(path) if mutant.name not in known]
    random.Random(seed).shuffle(mutants)
    print("mutate: %d mutants can be made, %d are drawn by seed %d; %d tests" %
          (len(mutants), min(options.n, len(mutants)), seed, len(tests)), flush=True)
    work = Work(mutants, options.n, tests, options.budget)
    workers = [Worker(number, work) for number in range(options.jobs)]
    for worker in workers:
        if worker.prepare():
            sys.exit("mutate: the tree does not build: " + worker.log)
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    sys.exit(1 if summary(work.results) else 0)


if __name__ == "__main__":
    main()
