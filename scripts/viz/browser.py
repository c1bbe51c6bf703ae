"""A headless chromium driven through the DevTools protocol, with the standard library only."""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find():
    """The path of a chromium, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Socket:
    """A WebSocket to a server on this machine: text messages both ways."""

    def __init__(self, url, timeout):
        host, path = url[len("ws://"):].split("/", 1)
        name, port = host.split(":")
        self.stream = socket.create_connection((name, int(port)), timeout=timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        self.stream.sendall((f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n"
                             f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.stream.recv(1)

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        size = len(data)
        length = struct.pack("!B", 0x80 | size) if size < 126 else struct.pack(
            "!BH", 0x80 | 126, size) if size < 65536 else struct.pack("!BQ", 0x80 | 127, size)
        self.stream.sendall(b"\x81" + length + mask + bytes(b ^ mask[k % 4] for k, b in enumerate(data)))

    def read(self, count):
        parts = []
        while count > 0:
            part = self.stream.recv(min(count, 1 << 20))
            if not part:
                raise ConnectionError("the browser hung up")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def receive(self):
        text = b""
        while True:
            first, second = self.read(2)
            size = second & 0x7f
            if size == 126:
                size = struct.unpack("!H", self.read(2))[0]
            elif size == 127:
                size = struct.unpack("!Q", self.read(8))[0]
            text += self.read(size)
            if first & 0x80:
                return text.decode()


class Browser:
    """One page of a chromium. `errors` collects exceptions and console errors."""

    def __init__(self, width=1400, height=900, timeout=300):
        self.folder = tempfile.mkdtemp(prefix="hlo-viz-browser-")
        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-extensions", "--disable-background-networking", "--remote-debugging-port=0",
             f"--user-data-dir={self.folder}", f"--window-size={width},{height}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.errors, self.answers, self.number = [], {}, 0
        end = time.time() + timeout
        port = self._until(self._port, end, "chromium does not start")
        address = self._until(lambda: self._page(port, timeout), end, "chromium opens no page")
        self.socket = Socket(address, timeout)
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    @staticmethod
    def _until(attempt, end, what):
        """The first result of `attempt` that is not None."""
        while time.time() < end:
            result = attempt()
            if result is not None:
                return result
            time.sleep(0.05)
        raise TimeoutError(what)

    def _port(self):
        try:
            with open(os.path.join(self.folder, "DevToolsActivePort")) as file:
                lines = file.read().split("\n")
        except OSError:
            return None
        return int(lines[0]) if len(lines) > 1 else None

    @staticmethod
    def _page(port, timeout):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=timeout) as answer:
            pages = json.load(answer)
        return next((page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page"), None)

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.receive())
            self._note(message)
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]

    def _note(self, message):
        params = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif message.get("method") == "Runtime.consoleAPICalled" and params["type"] == "error":
            self.errors.append(" ".join(str(a.get("value", a.get("description"))) for a in params["args"]))
        elif message.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])

    def run(self, script):
        """The value of a JavaScript expression; promises are waited for."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def open(self, url, timeout=120):
        """Loads a page of hlo-viz and waits until it is ready. A link into the page that is open loads it anew."""
        self.call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'", timeout)
        self.call("Page.navigate", url=url)
        self.wait("document.documentElement?.dataset.ready === 'yes'", timeout)

    def wait(self, condition, timeout=60):
        """Until a JavaScript expression holds. What raises (a page that is being loaded lacks its variables) does not hold yet."""
        end, raised = time.time() + timeout, None
        while time.time() < end:
            try:
                if self.run(f"Boolean({condition})"):
                    return
                raised = None
            except RuntimeError as error:
                raised = error
            time.sleep(0.02)
        raise TimeoutError(f"{condition}: not within {timeout} s; {raised or ''} errors: {self.errors}")

    def back(self):
        """One step back in the page's own history, until it shows that."""
        before = self.run("location.hash")
        self.run("history.back()")
        self.wait(f"location.hash !== {json.dumps(before)} && hloViz.written === location.hash")

    def processor_ms(self):
        """What the page's process has spent on processors, after Performance.enable."""
        return 1000 * next(m["value"] for m in self.call("Performance.getMetrics")["metrics"] if m["name"] == "ProcessTime")

    def click(self, x, y, count=1):
        for n in range(1, count + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=n)

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=key if len(key) == 1 and kind == "keyDown" else "")

    def type(self, text):
        self.call("Input.insertText", text=text)

    def screenshot(self, path=None):
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path:
            with open(path, "wb") as file:
                file.write(data)
        return data

    def close(self):
        try:
            self.call("Browser.close")
        except (OSError, ConnectionError, RuntimeError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
# SPDX-License-Identifier: Apache-2.0
