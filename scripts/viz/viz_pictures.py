#!/usr/bin/env python3
"""Makes the pictures of docs/visualization.md anew by the commands that stand above them there. A command is a line in
backquotes, the picture the next image; hlo-viz writes SVG itself, and of a page scripts/viz/viz_screenshot.py takes a picture.
With --check only compares what the SVG pictures say with what the commands give now. Exit status 1 where they differ."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
COMMAND = re.compile(r"^`((?:hlo-viz [^`]* -o [\w-]+\.|scripts/viz/viz_screenshot\.py )[^`]*)`", re.M)
IMAGE = re.compile(r"!\[[^\]]*\]\((pictures/[^)]+)\)")


def pictures(text):
    """[(commands, picture)]: the commands since the picture before."""
    found, at = [], 0
    for image in IMAGE.finditer(text):
        commands = [command[1] for command in COMMAND.finditer(text, at, image.start())]
        found.append((commands, image[1]))
        at = image.end()
    return found


def corpus(word):
    """A word of a command; ../shared may be one folder further up. None where it is not here."""
    if not word.startswith("../shared/"):
        return word
    return next((path for path in (word, "../" + word) if os.path.exists(os.path.join(ROOT, path))), None)


def made(commands, name, binaries):
    """The picture's bytes as the commands make it; None where an input is not here."""
    with tempfile.TemporaryDirectory() as folder:
        for command in commands:
            words = command.split()
            words = [corpus(word) for word in words]
            if None in words:
                return None
            words[0] = os.path.join(binaries, words[0]) if words[0] == "hlo-viz" else os.path.join(ROOT, words[0])
            words = [os.path.join(folder, word) if k > 0 and re.fullmatch(r"[\w-]+\.(svg|png|html)(#.*)?", word) else word
                     for k, word in enumerate(words)]
            subprocess.run(words, cwd=ROOT, check=True)
        with open(os.path.join(folder, os.path.basename(name)), "rb") as file:
            return file.read()


def said(svg):
    """The texts of a picture, whatever their places: these depend on fonts."""
    return sorted(re.findall(rb"<text[^>]*>([^<]*)</text>", svg))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/release/bin", help="where hlo-viz is")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    arguments = parser.parse_args()
    with open(os.path.join(ROOT, "docs/visualization.md")) as file:
        wanted = pictures(file.read())
    stale = 0
    for commands, name in wanted:
        path = os.path.join(ROOT, "docs", name)
        if not commands or (arguments.check and not name.endswith(".svg")):
            stale += not commands
            print(f"{name}: {'has no command' if not commands else 'a screenshot, not compared'}")
            continue
        data = made(commands, name, os.path.abspath(arguments.bin))
        if data is None:
            print(f"{name}: skipped, its input is not here")
        elif not arguments.check:
            with open(path, "wb") as file:
                file.write(data)
            print(f"{name}: {len(data)} bytes")
        else:
            with open(path, "rb") as file:
                same = said(file.read()) == said(data)
            stale += not same
            print(f"{name}: {'ok' if same else 'says something else now'}")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
