#!/usr/bin/env python3
"""Talks to hlo-viz as a user does: --repl on a terminal (completion, history, Ctrl-C), --serve over HTTP while a dump
grows, connections that say nothing and other hosts among them. Needs no browser."""
import argparse
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
import urllib.error
import urllib.request

PATIENCE = 60  # seconds; what is waited for comes within one
MODULE = """ENTRY main {
  first = f32[8] parameter(0)
  firm = f32[8] negate(first), metadata={op_name="jit(f)/neg" source_file="model.py" source_line=7}
  ROOT last = f32[8] multiply(firm, first)
}
"""


def check(condition, what):
    if not condition:
        raise AssertionError(what)


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, command, environment):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(command[0], command, {**os.environ, **environment})

    def type(self, keys, expected):
        """Types and waits until the answer holds a pattern; returns what came since."""
        start = len(self.text)
        self.until_it_reads()
        os.write(self.fd, keys.encode())
        return self.wait(expected, start)

    def wait(self, expected, start=0):
        end = time.time() + PATIENCE
        while not re.search(expected, self.text[start:]):
            check(time.time() < end, f"{expected!r} does not come; the terminal shows {self.text[start:]!r}")
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:  # the program has ended
                    check(re.search(expected, self.text[start:]), f"{expected!r} does not come before the end")
        return self.text[start:]

    def until_it_reads(self):
        """After a prompt: until keys are the program's. A Ctrl-D before that would be the terminal's own."""
        end = time.time() + PATIENCE
        while termios.tcgetattr(self.fd)[3] & termios.ICANON:
            check(time.time() < end, f"no line is read; the terminal shows {self.text[-300:]!r}")
            time.sleep(0.01)

    def end(self, keys):
        """Types what ends the program and gives its status; what it still writes is read, so that it need not wait."""
        self.until_it_reads()
        os.write(self.fd, keys.encode())
        end = time.time() + PATIENCE
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
            if time.time() > end:
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError(f"the program does not end; the terminal shows {self.text[-300:]!r}")
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    self.text += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:  # the program has closed its end
                    time.sleep(0.01)


def repl(tool, folder):
    source = os.path.join(folder, "m.hlo")
    put(folder, "m.hlo", MODULE)
    home = os.path.join(folder, "home")
    os.makedirs(home)
    command = [tool, source, "--repl", "-o", os.path.join(folder, "p.svg")]
    session = Terminal(command, {"HOME": home, "TERM": "xterm"})
    session.wait("hlo-viz> ")
    session.type("inf\t", r"inf[\s\S]*o ")
    session.type("fir\t\t", "firm +first|first +firm")
    session.type("m\n", r"negate\(%first\)[\s\S]*hlo-viz> ")
    session.type("list \t\t", "computations")
    session.type("name la\n", r"1 found[\s\S]*hlo-viz> ")
    session.type("a line given up\x03", r"\^C[\s\S]*hlo-viz> ")
    session.type("\x1b[A\n", r"list name la[\s\S]*1 found[\s\S]*hlo-viz> ")
    session.type("firm 1 / last\n", r"3 nodes, .*p\.1\.svg[\s\S]*hlo-viz> ")
    session.type("stacktrace firm\n", r"model\.py:7[\s\S]*hlo-viz> ")
    session.type("nonsense\n", r"error: no instruction nonsense[\s\S]*hlo-viz> ")
    check(session.end("quit\n") == 0, "quit ends with 0")
    check(os.path.getsize(os.path.join(folder, "p.1.svg")) > 500, "the picture is written")
    again = Terminal(command, {"HOME": home, "TERM": "xterm"})
    again.wait("hlo-viz> ")
    again.type("\x1b[A\x1b[A\n", r"nonsense[\s\S]*error: no instruction[\s\S]*hlo-viz> ")
    check(again.end("\x04") == 0, "the end of input ends with 0")
    browser, seen = os.path.join(folder, "browser"), os.path.join(folder, "shown")
    put(folder, "browser", f"#!/bin/sh\nprintf %s \"$1\" > {seen}.part && mv {seen}.part {seen}\n")
    os.chmod(browser, 0o755)
    subprocess.run([*command, "--browser", browser], input="firm 1\n", text=True, check=True, stdout=subprocess.DEVNULL)
    wait_for(lambda: os.path.exists(seen), "the browser is started")
    with open(seen) as file:
        check(file.read().endswith("p.1.svg"), "and is given the picture")
    print("repl: ok")


def wait_for(condition, what):
    end = time.time() + PATIENCE
    while not condition():
        check(time.time() < end, what)
        time.sleep(0.02)


def put(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def get(url, path="", **headers):
    """Status and text of an answer."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, headers=headers), timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def serve(tool, folder):
    watched = os.path.join(folder, "dump")
    os.makedirs(watched)
    server = subprocess.Popen([tool, watched, "--serve"], stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip()
        check(re.fullmatch(r"http://127\.0\.0\.1:\d+/", url), f"{url!r} is an address of this machine")
        silent = [socket.create_connection(("127.0.0.1", int(url.split(":")[2].strip("/")))) for _ in range(3)]
        start = time.time()
        check("Nothing to show yet" in get(url)[1], "an empty folder is waited for")
        check(time.time() - start < 12, "connections that say nothing hold up no other")
        revision = get(url, "revision")[1]
        put(watched, "below/module_0000.f.before_optimizations.txt", MODULE)
        check(get(url, "revision")[1] != revision, "a file in a folder below is noticed")
        page = get(url)[1]
        check('"label":"before_optimizations"' in page, "the new file is shown")
        put(watched, "below/module_0000.f.cpu_after_optimizations.txt", MODULE.replace("negate", "cosine"))
        check('"label":"after_optimizations","added":1,"removed":1' in get(url)[1], "what is added to it is compared")
        check(get(url, "other")[0] == 404, "there are no other pages")
        check(get(url, Host="example.com")[0] == 403, "other hosts are refused")
        for connection in silent:
            connection.close()
        check(server.poll() is None, "the server goes on")
    finally:
        server.kill()
        server.wait()
    print("serve: ok")


def serve_file(tool, folder):
    """A module alone is served too, a broken one with what is wrong until it is whole."""
    source = os.path.join(folder, "m.hlo")
    put(folder, "m.hlo", MODULE)
    server = subprocess.Popen([tool, source, "--serve"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = server.stdout.readline().strip()
        first, revision = get(url)[1], get(url, "revision")[1]
        check('"revision":' + revision in first, "the page knows what it was made of")
        put(folder, "m.hlo", MODULE + "broken")
        check(get(url, "revision")[1] != revision, "a change is noticed")
        check("Nothing to show yet" in get(url)[1], "a broken module is waited for")
        put(folder, "m.hlo", MODULE.replace("ENTRY main", "HloModule renamed\nENTRY main"))
        check("<title>renamed</title>" in get(url)[1], "a new one is shown")
    finally:
        server.kill()
        server.wait()
    check(subprocess.run([tool, os.path.join(folder, "none"), "--serve"], stderr=subprocess.DEVNULL).returncode == 2, "what is not there is refused")
    print("serve_file: ok")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/release/bin", help="where hlo-viz is")
    tool = os.path.join(os.path.abspath(parser.parse_args().bin), "hlo-viz")
    with tempfile.TemporaryDirectory() as folder:
        repl(tool, folder)
        serve(tool, folder)
        serve_file(tool, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
