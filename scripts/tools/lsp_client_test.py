#!/usr/bin/env python3
"""hlo-lsp as an editor drives it: a client over pipes that opens, edits, asks, cancels and misbehaves. With --figures it
prints how long a 2 MB dump takes to its first diagnostics, a keystroke to its diagnostics, and a hover."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

MODULE = """HloModule m

%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}

ENTRY %main (p: f32[4]) -> f32[] {
  %p = f32[4]{0} parameter(0), metadata={op_name="é𝄞"}
  %zero = f32[] constant(0)
  ROOT %total = f32[] reduce(%p, %zero), dimensions={0}, to_apply=%add
}
"""
URI = "file:///m.hlo"


class Client:
    """One server, its answers by id and its notifications in order."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.changed = threading.Condition()
        self.answers, self.notes, self.last, self.ended = {}, [], 0, False
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        out = self.process.stdout
        while True:
            length = None
            while (line := out.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if length is None:
                break
            message = json.loads(out.read(length))
            with self.changed:
                if "method" in message:
                    self.notes.append((time.monotonic(), message))
                else:
                    self.answers[message["id"]] = (time.monotonic(), message)
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def start(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        return self.last

    def wait(self, done, limit=60):
        """Until done() is neither None nor False, and that."""
        with self.changed:
            end = time.monotonic() + limit
            while (found := done()) in (None, False):
                if self.ended and (found := done()) in (None, False):
                    raise AssertionError("the server has ended")
                if not self.changed.wait(max(0, end - time.monotonic())):
                    raise AssertionError("no answer")
            return found

    def answer(self, number):
        return self.wait(lambda: self.answers.get(number))[1]

    def ask(self, method, params):
        return self.answer(self.start(method, params))

    def result(self, method, **params):
        answer = self.ask(method, {"textDocument": {"uri": URI}, **params})
        assert "result" in answer, answer
        return answer["result"]

    def open(self, text, uri=URI, version=1):
        self.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "hlo", "version": version, "text": text}})

    def edit(self, version, start, end, text, uri=URI):
        at = lambda place: {"line": place[0], "character": place[1]}
        self.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": version},
                                               "contentChanges": [{"range": {"start": at(start), "end": at(end)}, "text": text}]})

    def diagnostics(self, version, uri=URI):
        """Of a version: when they came, and what they are."""
        def found():
            for when, note in self.notes:
                params = note.get("params", {})
                if note["method"] == "textDocument/publishDiagnostics" and params["uri"] == uri and params.get("version") == version:
                    return when, params["diagnostics"]
            return None
        return self.wait(found)


def begin(program):
    client = Client(program)
    answer = client.ask("initialize", {"capabilities": {}})
    assert answer["result"]["capabilities"]["hoverProvider"] is True
    client.notify("initialized", {})
    return client


def place(text, part, skip=0):
    before = text[:text.index(part)]
    line = before[before.rfind("\n") + 1:] + part[:skip]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}


def test_session(program):
    client = begin(program)
    client.open(MODULE)
    assert client.diagnostics(1)[1] == []
    hover = client.result("textDocument/hover", position=place(MODULE, "%total", 1))
    assert "f32[]" in hover["contents"]["value"]
    definition = client.result("textDocument/definition", position=place(MODULE, "reduce(%p", 8))
    assert definition["range"]["start"] == {"line": 9, "character": 3}, definition
    assert len(client.result("textDocument/references", position=place(MODULE, "%zero", 1), context={"includeDeclaration": True})) == 2
    assert len(client.result("textDocument/documentSymbol")) == 2
    assert len(client.result("textDocument/foldingRange")) == 2
    rename = client.result("textDocument/rename", position=place(MODULE, "to_apply=%add", 10), newName="plus")
    assert len(rename["changes"][URI]) == 2
    assert client.result("textDocument/semanticTokens/full")["data"]
    assert client.result("textDocument/inlayHint", range={"start": {"line": 0, "character": 0}, "end": {"line": 20, "character": 0}})
    assert any(action["command"]["command"] == "hlokit.isolate"
               for action in client.result("textDocument/codeAction", range={"start": place(MODULE, "%total"), "end": place(MODULE, "%total")},
                                           context={"diagnostics": []}))
    # After characters of two units: the range ends where the text ends.
    line = MODULE.split("\n")[9]
    units = len(line.encode("utf-16-le")) // 2
    client.edit(2, (9, units), (9, units), ", sharding={nonsense}")
    assert client.diagnostics(2)[1][0]["range"]["start"]["line"] == 9
    client.edit(3, (9, units), (9, units + 21), "")
    assert client.diagnostics(3)[1] == []
    # A whole text; a text that does not parse keeps answers by names.
    client.notify("textDocument/didChange", {"textDocument": {"uri": URI, "version": 4},
                                             "contentChanges": [{"text": MODULE.replace("reduce(%p", "reduce(%q")}]})
    found = client.diagnostics(4)[1]
    assert len(found) == 1 and "q" in found[0]["message"], found
    assert "f32[]" in client.result("textDocument/hover", position=place(MODULE, "%total", 1))["contents"]["value"]
    # A command that another tool does.
    done = client.ask("workspace/executeCommand", {"command": "hlokit.isolate", "arguments": [URI, "sum"]})
    assert "error" in done  # the text does not parse
    client.notify("textDocument/didChange", {"textDocument": {"uri": URI, "version": 5}, "contentChanges": [{"text": MODULE}]})
    done = client.ask("workspace/executeCommand", {"command": "hlokit.isolate", "arguments": [URI, "sum"]})
    assert "add(" in pathlib.Path(done["result"]["file"]).read_text(encoding="utf-8"), done
    client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert client.ask("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}})["error"]["code"] == -32602
    assert client.ask("shutdown", None)["result"] is None
    client.notify("exit", None)
    assert client.process.wait(10) == 0


def test_misbehaviour(program):
    client = Client(program)
    assert client.ask("textDocument/hover", {})["error"]["code"] == -32002  # before initialize
    assert "result" in client.ask("initialize", {"capabilities": []})
    client.open(MODULE)
    assert client.ask("no/such/method", {})["error"]["code"] == -32601
    client.send_bytes(b"Content-Length: 5\r\n\r\n{nope")
    assert client.answer(None)["error"]["code"] == -32700
    client.answers.clear()
    client.send_bytes(b"Content-Type: x\r\nContent-Length: 2\r\n\r\n[]")
    assert client.answer(None)["error"]["code"] == -32600
    for params in (None, [], 7, {"textDocument": 3}, {"textDocument": {"uri": 5}}, {"textDocument": {"uri": URI}, "position": "x"},
                   {"textDocument": {"uri": URI}, "position": {"line": -5, "character": 1e300}},
                   {"textDocument": {"uri": URI}, "position": {"line": 2**62, "character": 2**62}},
                   {"textDocument": {"uri": URI}, "range": {"start": {"line": 9}, "end": None}}):
        for method in ("hover", "definition", "references", "rename", "documentSymbol", "foldingRange", "inlayHint", "completion",
                       "codeAction", "semanticTokens/full", "semanticTokens/range", "prepareRename", "documentHighlight"):
            client.ask("textDocument/" + method, params)
        client.ask("workspace/executeCommand", params)
        for method in ("textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "exit/not", "$/cancelRequest", "$/x"):
            if not (method.endswith("didClose") and isinstance(params, dict)):
                client.notify(method, params)
    client.notify("textDocument/didChange", {"textDocument": {"uri": URI}, "contentChanges": [3, {"text": 4}, {"range": {}, "text": "x"}]})
    # A request is cancelled before its turn: behind a slow one, in one write.
    client.open("HloModule big\n" + "".join(f"c{k} {{\n  ROOT r = f32[] parameter(0)\n}}\n" for k in range(20000)), uri="file:///big")
    slow = client.last + 1
    messages = [{"id": slow + k, "method": "textDocument/documentSymbol", "params": {"textDocument": {"uri": "file:///big"}}} for k in range(3)]
    messages.append({"method": "$/cancelRequest", "params": {"id": slow + 2}})
    client.last += 3
    frames = b""
    for message in messages:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        frames += b"Content-Length: %d\r\n\r\n" % len(body) + body
    client.send_bytes(frames)
    assert len(client.answer(slow)["result"]) == 20000
    assert client.answer(slow + 2)["error"]["code"] == -32800
    client.process.stdin.close()
    assert client.process.wait(30) == 1  # no shutdown
    # A length that cannot be.
    client = Client(program)
    client.send_bytes(b"Content-Length: 99999999999\r\n\r\n")
    assert client.process.wait(30) == 2


def test_typing(program):
    """Every prefix and many keystrokes of a text: the last diagnostics are those of the last text."""
    client = begin(program)
    client.open("")
    version = 1
    for k, char in enumerate(MODULE):
        line, column = MODULE[:k].count("\n"), len(MODULE[:k].split("\n")[-1].encode("utf-16-le")) // 2
        version += 1
        client.edit(version, (line, column), (line, column), char)
        if k % 50 == 0:
            client.result("textDocument/completion", position={"line": line, "character": column})
    assert client.diagnostics(version)[1] == []
    client.ask("shutdown", None)
    client.notify("exit", None)
    assert client.process.wait(10) == 0


def big_text(size):
    """A module of about `size` bytes, of loops and their like."""
    parts, total = ["HloModule big\n\n"], 0
    body = "".join(f"  %v{k} = f32[64,64]{{1,0}} {'add' if k % 2 else 'multiply'}(%v{k - 1}, %v{max(k - 3, 0)}), "
                   f"metadata={{op_name=\"jit(f)/layer/{k}\" source_file=\"model.py\" source_line={k}}}\n" for k in range(1, 200))
    count = 0
    while total < size:
        parts.append(f"%c{count} (p: f32[64,64]) -> f32[64,64] {{\n  %v0 = f32[64,64]{{1,0}} parameter(0)\n{body}"
                     "  ROOT %r = f32[64,64]{1,0} tanh(%v199)\n}\n\n")
        total += len(parts[-1])
        count += 1
    parts.append("ENTRY %main (p: f32[64,64]) -> f32[64,64] {\n  %x0 = f32[64,64]{1,0} parameter(0)\n")
    parts += [f"  %x{k + 1} = f32[64,64]{{1,0}} call(%x{k}), to_apply=%c{k}\n" for k in range(count)]
    parts.append(f"  ROOT %end = f32[64,64]{{1,0}} negate(%x{count})\n}}\n")
    return "".join(parts)


def a_line(lines):
    """The number of an instruction's line: from the middle on where there is one, else before it."""
    half = len(lines) // 2
    found = next((k for k in [*range(half, len(lines)), *range(half)] if " = " in lines[k]), None)
    if found is None:
        raise SystemExit("--figures: the file has no instructions")
    return found


def figures(program, text, rounds=20):
    """First diagnostics, keystroke to diagnostics and hover, the fastest and the median of each, in ms."""
    client = begin(program)
    start = time.monotonic()
    client.open(text)
    first = client.diagnostics(1)[0] - start
    lines = text.split("\n")
    line = a_line(lines)
    column = lines[line].index("=") - 1
    strokes, hovers = [], []
    for k in range(rounds):
        start = time.monotonic()
        client.edit(k + 2, (line, column), (line, column + (k % 2)), "" if k % 2 else "7")
        strokes.append(client.diagnostics(k + 2)[0] - start)
        number = client.last + 1
        start = time.monotonic()
        client.start("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": line, "character": column - 1}})
        client.answer(number)
        hovers.append(client.answers[number][0] - start)
    # Asked while an analysis runs.
    client.edit(rounds + 2, (line, column), (line, column), "")
    number = client.last + 1
    start = time.monotonic()
    client.start("textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": line, "character": column - 1}})
    client.answer(number)
    during = client.answers[number][0] - start
    client.ask("shutdown", None)
    client.notify("exit", None)
    client.process.wait(60)
    middle = lambda times: sorted(times)[len(times) // 2]
    return {"mb": len(text) / 1e6, "first": 1e3 * first, "stroke": 1e3 * min(strokes), "stroke_median": 1e3 * middle(strokes),
            "hover": 1e3 * min(hovers), "hover_median": 1e3 * middle(hovers), "hover_during_analysis": 1e3 * during}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--bin", default="build/release/bin", help="where the tools are")
    parser.add_argument("--figures", nargs="*", metavar="FILE", help="print times, of these files too")
    options = parser.parse_args()
    program = os.path.abspath(os.path.join(options.bin, "hlo-lsp"))
    if options.figures is not None:
        texts = {"made, 2 MB": big_text(2e6), "made, 50 MB": big_text(50e6)}
        for path in options.figures:
            texts[path] = pathlib.Path(path).read_text(encoding="utf-8")
        for name, text in texts.items():
            print(name, {key: round(value, 1) for key, value in figures(program, text).items()})
        return 0
    # Files of any kind have figures: none of these lines has metadata or f32, or stands behind the middle.
    assert a_line(["HloModule m", "ENTRY e {", "  a = s8[] parameter(0)", "}", "", "", ""]) == 2
    for test in (test_session, test_misbehaviour, test_typing):
        test(program)
        print(f"{test.__name__}: ok")
    # With room for a busy machine: an analysis that is not linear would take minutes.
    found = figures(program, big_text(2e6), rounds=5)
    print({key: round(value, 1) for key, value in found.items()})
    assert found["first"] < 6000 and found["stroke"] < 3000 and found["hover"] < 500, found
    return 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
