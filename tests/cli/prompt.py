# SPDX-License-Identifier: GPL-2.0-only
"""prompt.py REPORT DB - plays a session of `query DB` on a terminal. Waits for its output, however long it takes."""

import os
import pty
import re
import select
import sys

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n;"
CTRL_C, CTRL_D = "\x03", "\x04"


class Session:
    def __init__(self, report, *arguments):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execv(report, [report, "query", *arguments])
        self.text = ""

    def has_more(self, seconds):
        return bool(select.select([self.terminal], [], [], seconds)[0])

    def read(self, part):
        """More of what comes. After minutes of nothing there is a defect, and not a load."""
        try:
            ready = select.select([self.terminal], [], [], 200)[0]
            more = os.read(self.terminal, 4096) if ready else b""
        except OSError:
            more = b""
        if not more:
            sys.exit(f"{part!r} did not come: {self.text!r}")
        # A sentence that the terminal has no room for goes on in an indented line.
        self.text = re.sub(r"\r\n +(?=\S)", " ", self.text + more.decode(errors="replace"))

    def expect(self, *parts):
        """Waits until all parts have come in this order; what stands before is forgotten."""
        for part in parts:
            while part not in self.text:
                self.read(part)
            self.text = self.text.split(part, 1)[1]
        print("ok: came:", *parts[:2])

    def type(self, line):
        os.write(self.terminal, line.encode())

    def ask(self, line, *parts):
        """Types a line, expects its echo, these parts, and the next prompt."""
        self.type(line + "\n")
        self.expect(line, *parts, "sql> ")

    def end(self, wanted):
        while True:
            try:
                if not os.read(self.terminal, 4096):
                    break
            except OSError:
                break
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if status != wanted:
            sys.exit(f"exit status {status}, not {wanted}")
        print("ok: exit status", status)


def main():
    report, db = sys.argv[1:]
    session = Session(report, db)
    session.expect(f"SQL on {db}, read-only. A statement ends with ;", ".tables", "Ctrl-D ends", "sql> ")
    session.ask("SELECT 40 + 2 AS answer;", "answer", "42")
    session.type("SELECT 7\n")
    session.expect("...> ")
    session.type("  AS seven;\n")
    session.expect("seven", "7", "sql> ")
    session.ask(".tables", "Tables: ", "cpu_slice", "Views: ", "net_cost_process")
    session.ask(".columns socket", "socket: session_id, ", "cookie")
    session.ask(".columns", ".columns needs the name of a table or view")
    session.ask(".columns sokcet", "no such table: sokcet; did you mean 'socket'?")
    session.ask(".tabels", "there is no command .tabels; did you mean .tables?")
    session.ask("help", ".columns NAME")
    session.type("\n")
    session.expect("sql> ")
    # Errors do not end it.
    session.ask("SELECT * FROM sockt;", "no such table: sockt; did you mean 'socket'?", "Tables: ", "Views: ")
    session.ask("SELEC 1;", "syntax error")
    session.ask("DELETE FROM session;", "only statements that read are allowed here")
    # Ctrl-C ends what runs, what is being typed, and nothing else.
    # Once the first statement has answered, the line has been read, and Ctrl-C does not take it back; but it may come
    # before the second one runs, and is typed again; not at once, for each throws away what the terminal has not yet
    # given out.
    session.type("SELECT 'go' || 'ing' AS x; " + ENDLESS + "\n")
    session.expect("going")
    while "interrupted." not in session.text:
        session.type(CTRL_C)
        while "interrupted." not in session.text and session.has_more(2):
            session.read("interrupted.")
    session.expect("interrupted.")
    # The prompt may come amid the echo of this, and once more for another Ctrl-C: only the answer is told apart.
    session.type("SELECT 'still' || ' here' AS x;\n")
    session.expect("still here", "sql> ")
    session.type("SELECT 'half\n")
    session.expect("...> ")
    session.type(CTRL_C)
    session.expect("sql> ")
    session.ask("SELECT 'an' || 'other' AS x;", "another")
    session.type(CTRL_D)
    session.end(0)

    session = Session(report, db, "--csv")
    session.expect("sql> ")
    session.ask("SELECT 1 AS a, 2 AS b;", "a,b", "1,2")
    session.type(".quit\n")
    session.end(0)

    # The last statement may lack its semicolon.
    session = Session(report, db)
    session.expect("sql> ")
    session.type("SELECT 6 * 7 AS last\n")
    session.expect("...> ")
    session.type(CTRL_D)
    session.expect("42")
    session.end(0)


main()
