# SPDX-License-Identifier: GPL-2.0-only
#
# A client of `nettape-report mcp` (tests/cli/mcp.sh): what it answers, and what it must withstand.
#
#   mcp.py PART PROGRAM TAPE [FILE]      a line for each of the first faults; the last line is "N looked at"
import fcntl
import json
import os
import pty
import queue
import random
import re
import struct
import subprocess
import sys
import termios
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from serve_clients import is_running, keeps_growing, wait_until  # noqa: E402

FOREVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
MODERN = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {}}}
looked_at = faults = 0


def must(what, is_so, got=""):
    global looked_at, faults
    looked_at += 1
    faults += not is_so
    if not is_so and faults <= 5:
        print(f"FAULT: {what}: {str(got)[:400]}")


class Server:
    """What it writes is read all the time, a line an answer."""

    def __init__(self, program, *arguments, is_read=True, flags=0):
        end, begin = os.pipe()
        fcntl.fcntl(begin, fcntl.F_SETFL, fcntl.fcntl(begin, fcntl.F_GETFL) | flags)
        self.process = subprocess.Popen([program, "mcp", *arguments], stdin=subprocess.PIPE, stdout=begin)
        os.close(begin)
        self.output = os.fdopen(end, "rb")
        self.answers = queue.Queue()
        self.last_id = 0
        if is_read:
            self.start_reading()

    def start_reading(self):
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.output:
            try:
                self.answers.put(json.loads(line))
            except ValueError:
                must("an answer is JSON", False, line)
        self.answers.put(None)

    def send(self, line):
        self.process.stdin.write((line if isinstance(line, bytes) else line.encode()) + b"\n")
        self.process.stdin.flush()

    def post(self, method, params=None, **more):
        """A request; its id."""
        self.last_id += 1
        message = {"jsonrpc": "2.0", "id": self.last_id, "method": method, **more}
        if params is not None:
            message["params"] = params
        self.send(json.dumps(message))
        return self.last_id

    def next(self):
        """The next answer; None: there will be none."""
        return self.answers.get(timeout=300)

    def ask(self, method, params=None):
        wanted = self.post(method, params)
        answer = self.next()
        must("the answer is to the question", answer and answer.get("id") == wanted, answer)
        return answer or {}

    def post_call(self, tool, **arguments):
        return self.post("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool, **arguments):
        """Whether it is an error, and its texts."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments}).get("result", {})
        texts = [part["text"] for part in result.get("content", [])]
        return result.get("isError"), "\n".join(texts)

    def cancel(self, id):
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}))

    def children(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return file.read().split()

    def end(self):
        """Its exit status."""
        self.process.stdin.close()
        return self.process.wait(timeout=300)


def printed(program, *arguments):
    """As on a terminal that is as wide as an answer, in black and white."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    process = subprocess.Popen([program, *arguments], stdout=slave, stderr=subprocess.DEVNULL,
                               env={**os.environ, "TERM": "dumb", "LC_ALL": "C"})
    os.close(slave)
    text = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # its end
            break
        text += part
    process.wait()
    os.close(master)
    return text.decode().replace("\r\n", "\n")


# ---- what it answers ----

def look_at_schema(tool):
    schema = tool["inputSchema"]
    must("a tool's arguments", schema["type"] == "object" and schema["additionalProperties"] is False, tool)
    for name, property in schema["properties"].items():
        must("an argument", property["type"] in ("string", "boolean") and property["description"], (name, property))
    must("those that it needs", all(name in schema["properties"] for name in schema["required"]), schema)


def versions(program, tape):
    for asked, given in [("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"),
                         ("2025-03-26", "2025-11-25"), ("2026-07-28", "2025-11-25"), (None, "2025-11-25")]:
        server = Server(program, tape)
        result = server.ask("initialize", {"protocolVersion": asked, "capabilities": {}})["result"]
        must("the version", result["protocolVersion"] == given, result)
        must("its abilities", result["capabilities"] == {"tools": {}} and "instructions" in result, result)
        server.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
        must("a ping", server.ask("ping")["result"] == {})
        must("exit status", server.end() == 0)
    server = Server(program, tape)
    result = server.ask("server/discover", MODERN)["result"]
    must("what there is to discover", result["resultType"] == "complete" and result["ttlMs"] > 0 and
         "2026-07-28" in result["supportedVersions"], result)
    result = server.ask("tools/list", MODERN)["result"]
    must("a list by 2026-07-28", result["resultType"] == "complete" and result["cacheScope"] == "public", result)
    result = server.ask("tools/call", {"name": "schema", **MODERN})["result"]
    must("a call by 2026-07-28", result["resultType"] == "complete" and not result["isError"], result)
    must("a ping by 2026-07-28", server.ask("ping", MODERN)["error"]["code"] == -32601)
    version = "io.modelcontextprotocol/protocolVersion"
    error = server.ask("tools/list", {"_meta": {version: "2027-01-01"}})["error"]
    must("a version that there is not", error["code"] == -32022 and error["data"]["requested"] == "2027-01-01", error)
    for meta in ({version: "2026-07-28"}, {version: 5}):
        error = server.ask("tools/list", {"_meta": meta})["error"]
        must("what is needed", error["code"] == -32602 and "clientCapabilities" in error["message"], error)
    for params in ({"_meta": {version: "2025-11-25"}}, {"_meta": {"progressToken": 1}}, None):
        result = server.ask("tools/list", params)["result"]
        must("a list as before", "resultType" not in result and len(result["tools"]) == 8, result)
    server.end()


def tools(program, tape):
    """Calls and commands say the same."""
    server = Server(program, tape)
    listed = server.ask("tools/list")["result"]["tools"]
    must("the tools", [tool["name"] for tool in listed] == ["summary", "worst_windows", "stages", "latency", "payers",
                                                             "info", "schema", "query"], listed)
    for tool in listed:
        look_at_schema(tool)
    owners = listed[1]["inputSchema"]["properties"]["worst"]["enum"]
    must("values that have names", "network" in owners and "net_rx" in owners, owners)
    for tool, arguments, words in [
            ("summary", {}, "summary"), ("summary", {"by": "process", "limit": 3}, "summary --by process --limit 3"),
            ("summary", {"from": 0.001, "to": "3ms", "cpu": None}, "summary --from 0.001 --to 3ms"),
            ("worst_windows", {"window": "1ms", "top": 2, "each-cpu": True},
             "timeline --worst network --cells 60 --window 1ms --top 2 --each-cpu"),
            ("worst_windows", {"worst": "send", "each-cpu": False}, "timeline --worst send --cells 60"),
            ("stages", {}, "stages"), ("stages", {"by": "cpu", "owner": "net_rx,send"}, "stages --by cpu --owner "
                                                                                          "net_rx,send"),
            ("latency", {"by": "process"}, "latency --by process"), ("info", {}, "info")]:
        is_error, text = server.call(tool, **arguments)
        command, *options = words.split()
        wanted = printed(program, command, tape, *options)
        must(f"{tool} {arguments}", not is_error and text == wanted and len(text) > 200, text)
    for table in ["cpu_slice", "net_cost_process", "session"]:
        is_error, text = server.call("query", sql=f"SELECT * FROM {table} LIMIT 50")
        wanted = subprocess.run([program, "query", tape, f"SELECT * FROM {table} LIMIT 50", "--json"],
                                capture_output=True, check=True).stdout
        answer = json.loads(text)
        rows = [dict(zip(answer["columns"], row)) for row in answer["rows"]]
        must(f"rows of {table}", rows and rows == json.loads(wanted) and not answer["is_cut"], answer)
    schema(program, tape, server)
    mistakes(server)
    server.end()


def payers(program, tape):
    """The table of `summary`, of the whole and of a part."""
    server = Server(program, tape)
    for part in [{}, {"from": "0.05", "to": "1.12s"}]:
        is_error, text = server.call("payers", limit=10, **part)
        options = [word for name, value in part.items() for word in (f"--{name}", value)]
        table = re.search(r"\nWho pays for net_rx\n(.*?)\n\n", printed(program, "summary", tape, "--limit", "10",
                                                                         *options), re.S)
        must(f"payers {part}", not is_error and table and table.group(0) in text and "at_least" in text, text)
        must("who has an estimate is told", ("estimate" in text) == (bool(part) and tape.endswith(".db")), text)
    server.end()


def schema(program, tape, server):
    is_error, text = server.call("schema")
    must("all tables", not is_error and len(text) < 10000 and "sock_op" in text and "net_cost_process" in text, text)
    names = json.loads(server.call("query", limit=1000, sql="SELECT name FROM sqlite_master "
                                   "WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'")[1])["rows"]
    must("there are tables", len(names) > 50, names)
    for [name] in random.sample(names, 12):
        is_error, text = server.call("schema", of=name)
        columns = json.loads(server.call("query", sql=f"SELECT name FROM pragma_table_info('{name}')")[1])["rows"]
        line = "Columns of {}: {}".format(name, ", ".join(column for [column] in columns))
        must(f"schema of {name}", not is_error and line in " ".join(text.split()) and len(text) > len(line) + 40,
             text)
    must("a section", server.call("schema", of="windows")[1].startswith("## Windows\n"))
    is_error, text = server.call("schema", of="cookbook")
    must("the cookbook", not is_error and text.count("```sql") > 20, text)


def mistakes(server):
    """Each is told to whoever made it."""
    for tool, arguments, said in [
            ("summary", {"form": "1s"}, "did you mean 'from'?"), ("summary", {"names": "/etc/passwd"}, "no argument"),
            ("summary", {"from": "soon"}, "give a time since the start"), ("summary", {"from": ["1s"]}, "a string"),
            ("summary", {"process": "a\0b"}, "zero byte"), ("summary", {"by": "colour"}, "choose program"),
            ("worst_windows", {"each-cpu": "yes"}, "true or false"), ("info", {"of": "x"}, "it has none"),
            ("worst_windows", {"worst": "--"}, "--worst"), ("summary", {"limit": -1}, "a number of rows"),
            ("schema", {"of": "sok_op"}, "did you mean 'sock_op'?"), ("query", {}, "'query' needs 'sql'"),
            ("query", {"sql": "SELECT 1; SELECT 2"}, "more than one"), ("query", {"sql": ""}, "no SQL statement"),
            ("query", {"sql": "SELECT nme FROM process"}, "did you mean 'name'?"),
            ("query", {"sql": "DELETE FROM session"}, "may not be modified"),
            ("query", {"sql": "ATTACH '/etc/passwd' AS other"}, "read")]:
        is_error, text = server.call(tool, **arguments)
        must(f"{tool} {arguments} is refused: {said}", is_error and said in text, text)


# ---- bounds ----

def bounds(program, tape):
    server = Server(program, tape, "--timeout", "3600")
    answer = json.loads(server.call("query", sql="SELECT ts FROM cpu_slice")[1])
    must("100 rows", len(answer["rows"]) == 100 and answer["is_cut"], answer)
    answer = json.loads(server.call("query", limit=5, sql="SELECT ts FROM cpu_slice")[1])
    must("5 rows", len(answer["rows"]) == 5 and answer["is_cut"], answer)
    text = server.call("query", limit="all", sql="SELECT *, hex(zeroblob(100)) FROM cpu_slice")[1]
    must("16 KiB", json.loads(text)["is_cut"] and 16000 < len(text) < 17000, len(text))
    is_error, text = server.call("query", sql="SELECT hex(zeroblob(1000000))")
    must("a row that is too long", is_error and "longer" in text, text)
    is_error, text = server.call("query", sql="SELECT 1 AS '" + 200000 * "x" + "'")
    must("an answer that is too long", is_error and "longer" in text, text)
    ids = [server.post_call("schema") for _ in range(64)]
    must("64 calls at once", [server.next()["id"] for _ in ids] == ids)
    running = server.post_call("query", sql=FOREVER)
    must("it runs", wait_until(server.children))
    ids = [server.post_call("schema") for _ in range(65)]
    answer = server.next()
    must("a call too many", answer["id"] == ids.pop() and answer["result"]["isError"], answer)
    must("a ping", server.ask("ping")["result"] == {})
    server.cancel(running)
    must("those that waited", [server.next()["id"] for _ in ids] == ids)
    server.end()
    server = Server(program, tape, "--timeout", "1")
    begun = time.monotonic()
    # In one piece: both are there when the first one begins.
    server.send(json.dumps({"jsonrpc": "2.0", "id": "slow", "method": "tools/call",
                            "params": {"name": "query", "arguments": {"sql": FOREVER}}}) +
                '\n{"jsonrpc":"2.0","id":"ping","method":"ping"}')
    first, second = server.next(), server.next()
    must("a ping meanwhile", (first["id"], second["id"]) == ("ping", "slow"), (first, second))
    text = second["result"]["content"][0]["text"]
    must("an answer that takes too long", second["result"]["isError"] and "more than 1 s" in text, text)
    must("not before", time.monotonic() - begun >= 1)
    must("no process is left", not server.children(), server.children())
    server.end()


def wide(program, tape):
    """A report that is too long has no middle."""
    server = Server(program, tape)
    is_error, text = server.call("worst_windows", window="50us", top=100)
    whole = printed(program, "timeline", tape, *"--worst network --cells 60 --window 50us --top 100".split())
    cut = re.search(r"\n\[(\d+) lines are left out here, of (\d+): an answer has room for 32768 bytes\.\]\n\n", text)
    must("what is left out is told", not is_error and cut and len(text) < 33500 < len(whole), text[-300:])
    if cut:
        head, tail = text[:cut.start()], text[cut.end():]
        must("its lines", whole.startswith(head) and whole.endswith(tail), head[-100:])
        must("their number", (whole[len(head):len(whole) - len(tail)].count("\n"), whole.count("\n")) ==
             (int(cut.group(1)), int(cut.group(2))), cut.group(0))
    server.end()


def memory(program, tape):
    """Of a program without sanitizers, which have memory of their own, and keep what was freed."""
    server = Server(program, tape, "--timeout", "600")
    is_error, text = server.call("query", sql="WITH RECURSIVE n(i, t) AS (SELECT 1, zeroblob(60000000) UNION ALL "
                                 "SELECT i + 1, zeroblob(60000000) FROM n LIMIT 100) "
                                 "SELECT count(*) FROM (SELECT * FROM n ORDER BY t, i)")
    must("a query that needs memory", is_error and ("out of memory: a query may take 512 MiB" in text or
                                                    "a temporary file of more than 512 MiB" in text), text)

    def again():
        for _ in range(200):
            server.ask("ping", {"nothing": "y" * 16000})
            server.call("schema", of="y" * 16000)
            server.send(b'{"x":"' + b"y" * 16000)
            server.next()
        server.send(b'{"x":"' + b"y" * 3000000 + b'"}')
        server.next()
    again()
    must("memory", not keeps_growing(server.process.pid, "VmRSS:", again))
    server.end()


# ---- cancelled, and gone ----

def ends(program, tape):
    server = Server(program, tape, "--timeout", "3600")
    running = server.post_call("query", sql=FOREVER)
    waiting = server.post_call("query", sql=FOREVER)
    last = server.post_call("schema", of="process")
    must("it runs", wait_until(server.children))
    behind = server.post_call("query", sql=FOREVER)
    for id in (behind, waiting, running, 12345):
        server.cancel(id)
    more = server.post_call("schema", of="process")
    must("only these are answered", (server.next()["id"], server.next()["id"]) == (last, more))
    must("a ping", server.ask("ping")["result"] == {})
    must("no process is left", not server.children())
    # It answers all that was asked before the end, the last one without an end of its line.
    last = server.post_call("summary")
    server.process.stdin.write(b'{"jsonrpc":"2.0","id":"the last","method":"ping"}')
    must("exit status", server.end() == 0)
    got = [server.next(), server.next(), server.next()]
    must("what was asked for", sorted(str(answer["id"]) for answer in got[:2]) == [str(last), "the last"] and
         got[2] is None, got)
    for how in ("its client is gone", "it is killed"):
        server = Server(program, tape, "--timeout", "3600", is_read=False)
        server.post_call("query", sql=FOREVER)
        must("it runs", wait_until(server.children))
        child = server.children()[0]
        if how == "it is killed":
            server.process.kill()
        else:
            server.output.close()
        server.process.wait(timeout=300)
        must(f"{how}: no process is left", wait_until(lambda: not is_running(child)))


def blocked(program, tape):
    """Nobody reads the answers for a while: a call has its time, and nothing is lost, even if writes do not wait."""
    server = Server(program, tape, "--timeout", "1", is_read=False, flags=os.O_NONBLOCK)
    server.post_call("query", sql=FOREVER)
    must("it runs", wait_until(server.children))
    child = server.children()[0]
    for _ in range(50):
        server.post("tools/list")
    must("a call ends", wait_until(lambda: not is_running(child)))
    server.start_reading()
    got = [server.next() for _ in range(51)]
    must("each is answered", sorted(answer["id"] for answer in got) == list(range(1, 52)), got)
    late = next(answer for answer in got if answer["id"] == 1)["result"]
    must("the call as well", late["isError"] and "more than 1 s" in late["content"][0]["text"], late)
    must("exit status", server.end() == 0)


# ---- garbage ----

FIXED = [
    (b"garbage", -32700), (b"{", -32700), (b'{"jsonrpc":"2.0","id":1,"method":"ping"} x', -32700),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0"}', -32700), (b"\xff\xfe", -32700),
    (b'{"jsonrpc":"2.0","id":1,"method":"p\xff"}', -32700),
    (b'{"jsonrpc":"2.0","id":"\xc0\xb5","method":"ping"}', -32700),
    (b"{'jsonrpc':'2.0'}", -32700), (b"[" * 100000, -32700),
    (b"[" * 30 + b"]" * 30, -32600), (b"null", -32600), (b"1", -32600), (b'"x"', -32600), (b"[]", -32600),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600), (b"{}", -32600),
    (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":[],"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":5}', -32600), (b'{"jsonrpc":"2.0","id":1,"method":"a\\u0000"}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"nothing"}', -32601),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"2"}}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"schema","arguments":[]}}', -32602),
    (b'{"x":"' + b"y" * 3000000 + b'"}', -32700),
]
SEEDS = [b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":[1,2.5,true,null,{"b":"\\u00e9\\n"}]}}',
         b'{"jsonrpc":"2.0","id":"x","method":"tools/list","params":{"_meta":{"k":{"l":[[[]]]}}}}',
         b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"no"}}',
         b'{"jsonrpc":"2.0","id":-1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}',
         b'{"jsonrpc":"2.0","id":8,"result":{"content":[]}}',
         b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"info","arguments":{"of":"x"}}}']


def mutated(chance):
    line = bytearray(chance.choice(SEEDS))
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(line) + 1)
        what = chance.randrange(4)
        if what == 0:
            line[at:at + chance.randint(1, 8)] = b""
        elif what == 1:
            line[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 4)))
        elif what == 2:
            line[at:at] = chance.choice([b'"', b"{", b"]", b",", b"null", b"1e999", b"-0", b"\\ud800", b"/*", b"\0"])
        else:
            other = chance.choice(SEEDS)
            line[at:] = other[chance.randrange(len(other)):]
    return bytes(line).replace(b"\n", b" ")


def flood(server, chance, n):
    """Each line has one answer at most, and the question behind them is answered."""
    last = f"the end of flood {chance.random()}"
    for _ in range(n):
        server.send(mutated(chance))
    server.send(json.dumps({"jsonrpc": "2.0", "id": last, "method": "ping"}))
    server.owed += n + 1  # a call may be answered later
    answer = {}
    while answer is not None and answer.get("id") != last:
        answer = server.next()
        server.owed -= 1
        must("an answer", answer and "jsonrpc" in answer and ("result" in answer) != ("error" in answer), answer)
    must("no more answers than lines", server.owed >= 0, -server.owed)


def garbage(program, tape):
    seed = int(os.environ.get("NT_SEED", random.randrange(1 << 32)))
    print(f"NT_SEED={seed}", file=sys.stderr)
    chance = random.Random(seed)
    server = Server(program, tape)
    for line, code in FIXED:
        server.send(line)
        answer = server.next()
        must(f"{line[:60]}: an error", answer and answer.get("error", {}).get("code") == code, answer)
    for line in (b"", b"  \t ", b'{"jsonrpc":"2.0","method":"nothing"}', b'{"jsonrpc":"2.0","id":3,"result":{}}',
                 b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}',
                 b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}',
                 b'{"jsonrpc":"2.0","method":"ping","params":null}'):
        server.send(line)
    for id in ["", "\u00e9\u2028\"\\\n", -9223372036854775807, 9007199254740993, 0, "a\0b"]:
        server.send(json.dumps({"jsonrpc": "2.0", "id": id, "method": "ping"}))
        answer = server.next()
        must(f"the id {id!r} is given back", answer and answer.get("id") == id and "result" in answer, answer)
    server.owed = 0
    for _ in range(3):
        flood(server, chance, 500)
    must("exit status", server.end() == 0)


def main():
    part, *arguments = sys.argv[1:]
    globals()[part](*arguments)
    print(f"{looked_at} looked at")


main()
