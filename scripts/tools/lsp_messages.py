#!/usr/bin/env python3
"""hlo-lsp under messages that no editor sends: sessions of damaged requests, wrong kinds of members, positions outside,
edits of parts of characters, deep nesting, broken frames. Each session must end by itself with status 0, 1 or 2, answer every
request with an id, in JSON. --sessions and --seed choose others."""
import argparse
import json
import os
import random
import subprocess
import sys

from lsp_client_test import MODULE

ASKED = ["definition", "references", "documentHighlight", "hover", "prepareRename", "rename", "documentSymbol", "foldingRange", "inlayHint",
         "completion", "codeAction", "semanticTokens/full", "semanticTokens/range"]
NUMBERS = [0, 1, 7, -1, 2**31, 2**32, 2**63 - 1, -2**63, 2**64 - 1, 1e300, 0.5]
ODD = [None, True, "", "x", [], {}, [[]], {"line": 1}, "file:///m.hlo", "\0", "é", *NUMBERS]


def framed(body):
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def position(choose):
    line = choose.choice(NUMBERS) if choose.random() < 0.3 else choose.randrange(14)
    return {"line": line, "character": choose.choice(NUMBERS) if choose.random() < 0.3 else choose.randrange(60)}


def request(choose, number):
    text = {"uri": "file:///m.hlo", "version": choose.choice([1, 2, 2**63 - 1, -5])}
    params = {"textDocument": text, "position": position(choose), "newName": choose.choice(["n", "", "a b", "%p", "x"]),
              "range": {"start": position(choose), "end": position(choose)}, "context": {"includeDeclaration": choose.choice(ODD)}}
    kind = choose.randrange(10)
    if kind < 6:
        return {"id": number, "method": "textDocument/" + choose.choice(ASKED), "params": params}
    if kind < 8:
        change = {"range": params["range"], "text": choose.choice(["", "\n", "é", "𝄞", "%x", "{", "}}", "\"", "//", "\r", "\0"])}
        if choose.random() < 0.1:
            change = {"text": MODULE}
        return {"method": "textDocument/didChange", "params": {"textDocument": text, "contentChanges": [change]}}
    if kind == 8:
        method = choose.choice(["didOpen", "didClose", "didSave"])
        return {"method": "textDocument/" + method, "params": {"textDocument": {**text, "text": MODULE, "languageId": "hlo"}}}
    return {"id": number, "method": choose.choice(["nothing", "initialize", "workspace/executeCommand", "$/cancelRequest"]), "params": {}}


def damaged(choose, value, depth=0):
    """The same with a member somewhere left out or of another kind."""
    if isinstance(value, dict) and value and choose.random() < 0.85:
        key = choose.choice(list(value))
        if choose.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: damaged(choose, value[key], depth + 1)}
    if isinstance(value, list) and value and choose.random() < 0.7:
        return [damaged(choose, value[0], depth + 1), *value[1:]]
    return choose.choice(ODD)


def deep(choose, number):
    """Members that nest so deep that walking over them by recursion would end the stack."""
    nest = b"[" * 100000 + b"]" * 100000
    method = choose.choice([b"shutdown", b"textDocument/hover", b"workspace/executeCommand", b"nothing"])
    what = choose.choice([b'"id":%s,"params":{}', b'"id":%d,"params":%%s' % number, b'"id":%d,"params":{"textDocument":{"uri":%%s}}' % number,
                          b'"id":%d,"params":{"command":"hlokit.cost","arguments":["file:///m.hlo",%%s]}' % number,
                          b'"id":%d,"params":{"command":"hlokit.cost","arguments":%%s}' % number])
    return b'{"jsonrpc":"2.0","method":"' + method + b'",' + what % nest + b"}"


def session(choose, count):
    """Frames, and the ids that must be answered."""
    frames, ids = [framed(b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}')], {0}
    text = {"uri": "file:///m.hlo", "text": MODULE, "version": 1}
    frames.append(framed(json.dumps({"method": "textDocument/didOpen", "params": {"textDocument": text}}).encode()))
    for number in range(1, count + 1):
        kind = choose.random()
        if kind < 0.02:
            frames.append(framed(deep(choose, number)))
            continue
        message = request(choose, number)
        if kind < 0.35:
            message = damaged(choose, message)
        body = json.dumps(message).encode()
        if kind > 0.95:
            at = choose.randrange(len(body))
            body = body[:at] + bytes([choose.randrange(256)]) + body[at + choose.randrange(3):]
        elif isinstance(message, dict) and message.get("method") not in ("exit", "$/cancelRequest"):
            if type(message.get("id")) in (int, str) and "method" in message:
                ids.add(message["id"])
        frames.append(framed(body))
    if choose.random() < 0.3:
        frames.append(choose.choice([b"Content-Length: 5\r\n\r\n{}", b"Content-Length: -1\r\n\r\n", b"X: y\r\n\r\n{}", b"\r\n\r\n",
                                     b"Content-Length: 99999999999999999999\r\n\r\n", b"\xff" * 70000, b"Content-Length: 0\r\n\r\n"]))
    else:
        frames.append(framed(b'{"method":"exit"}'))
    return frames, ids


def answers(out):
    """The messages of the server; raises where a frame is none or its body no JSON."""
    found = []
    while out:
        head, _, rest = out.partition(b"\r\n\r\n")
        length = int(head.split(b":")[1])
        found.append(json.loads(rest[:length].decode("utf-8")))
        out = rest[length:]
    return found


def fault(program, frames, ids):
    try:
        done = subprocess.run([program], input=b"".join(frames), capture_output=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "no end within 120 s"
    if done.returncode not in (0, 1, 2):
        return f"exit status {done.returncode}: {done.stderr[:300]!r}"
    try:
        answered = {m["id"] for m in answers(done.stdout) if "method" not in m and not isinstance(m["id"], (list, dict))}
    except (ValueError, IndexError, KeyError) as what:
        return f"an answer that cannot be read: {what}"
    missing = [i for i in ids if i not in answered]
    return f"no answer to {missing[:5]}" if missing else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/release/bin", help="where hlo-lsp is")
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--messages", type=int, default=200, help="of a session")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--save", help="a file for the first session that fails")
    options = parser.parse_args()
    program = os.path.join(options.bin, "hlo-lsp")
    wrong = 0
    for seed in range(options.seed, options.seed + options.sessions):
        frames, ids = session(random.Random(seed), options.messages)
        what = fault(program, frames, ids)
        if what is None:
            continue
        wrong += 1
        print(f"session {seed}: {what}")
        if options.save and wrong == 1:
            with open(options.save, "wb") as file:
                file.write(b"".join(frames))
    print(f"{options.sessions} sessions of {options.messages} messages, {wrong} faults")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
