"""What a campaign finds, kept in folders: findings/SEARCH/SIGNATURE/{input files, output.txt, repeat.sh, count}."""
import hashlib
import os
import re
import shlex
import shutil
import threading

MOST_EXAMPLES = 3  # inputs kept of one signature


def write_whole(path, text):
    """A reader, or a campaign that goes on after SIGKILL, never sees a part."""
    part = f"{path}.tmp{os.getpid()}.{threading.get_ident()}"
    with open(part, "w") as file:
        file.write(text)
    os.replace(part, path)


def signature_of(output):
    """A short name for what went wrong: the failed check, the sanitizer's summary, the signal, else the message."""
    patterns = [r"SUMMARY: (\w+: [\w-]+ \S+:\d+)", r"SUMMARY: (\w+: [\w-]+)", r"([\w./]+:\d+: CHECK\S* .{0,60})",
                r"(\S+\.(?:cc|h):\d+:.{0,60})", r"(runtime error: .{0,60})", r"(internal error.{0,60})", r"(error: .{0,60})",
                r"(\S.{0,60})"]
    for pattern in patterns:
        match = re.search(pattern, output)
        if match:
            text = re.sub(r"0x[0-9a-f]+|%?[\w-]+\.\d+\b(?!:)", "", match.group(1))  # addresses, names of instructions
            slug = re.sub(r"[^A-Za-z0-9]+", "_", text.replace(os.getcwd(), "")).strip("_")[:80]
            return slug or "unnamed"
    return "silent"


class Findings:
    def __init__(self, folder):
        self.folder, self.lock = folder, threading.Lock()
        os.makedirs(folder, exist_ok=True)

    def add(self, search, output, repeat, inputs=(), signature=None):
        """Keeps a finding. `inputs`: files that show it, copied; INPUT in `repeat`, a shell command, stands for the first."""
        signature = signature or signature_of(output)
        with self.lock:
            folder = os.path.join(self.folder, search, signature)
            os.makedirs(folder, exist_ok=True)
            kept = []
            if len(os.listdir(folder)) < 3 + MOST_EXAMPLES:
                kept = [self.keep(path, folder) for path in inputs if os.path.exists(path)]
            count = self.count_of(folder)
            if count == 0:
                command = repeat.replace("INPUT", shlex.quote(os.path.join(folder, kept[0])) if kept else "")
                write_whole(os.path.join(folder, "repeat.sh"),
                            f"#!/usr/bin/env bash\ncd {shlex.quote(os.getcwd())}\n{command}\n")
                os.chmod(os.path.join(folder, "repeat.sh"), 0o755)
                write_whole(os.path.join(folder, "output.txt"), output[-200_000:])
            write_whole(os.path.join(folder, "count"), str(count + 1))

    @staticmethod
    def keep(path, folder):
        with open(path, "rb") as file:
            digest = hashlib.sha1(file.read()).hexdigest()[:12]
        name = f"{digest}{os.path.splitext(path)[1] if len(os.path.splitext(path)[1]) < 6 else ''}"
        shutil.copyfile(path, os.path.join(folder, name))
        return name

    @staticmethod
    def count_of(folder):
        try:
            with open(os.path.join(folder, "count")) as file:
                return int(file.read())
        except (OSError, ValueError):
            return 0

    def counts(self):
        """How often each signature was seen, by search."""
        found = {}
        for search in sorted(os.listdir(self.folder)):
            for signature in sorted(os.listdir(os.path.join(self.folder, search))):
                folder = os.path.join(self.folder, search, signature)
                if os.path.isdir(folder):
                    found.setdefault(search, {})[signature] = self.count_of(folder)
        return found
# SPDX-License-Identifier: Apache-2.0
