#!/usr/bin/env python3
"""Fails where docs/*.md name a file of this repository that is not there.

  check_docs.py [FOLDER]

A name is what stands between backticks and has a folder and an ending of a source, such as `parser/reader.cc`: it is looked for from the
root, and as the end of a path. `{a,b}` stands for both, `*` for anything; names with a word in capitals (`passes/SUBJECT/x.cc`) and of
`x` are patterns for what a reader adds.
"""
import pathlib
import re
import subprocess
import sys

NAME = re.compile(r"`(?:\.\./)?([\w./*{},-]*/[\w.*{},-]+\.(?:cc|h|def|py|md|txt|tsv|hlo|mlir|sh|proto))`")


def expanded(name):
    choice = re.search(r"\{([^}]*)\}", name)
    if not choice:
        return [name]
    return [n for option in choice[1].split(",") for n in expanded(name.replace(choice[0], option.strip(), 1))]


def is_pattern(name):
    return any(re.fullmatch(r"[A-Z]+", part) for part in re.split(r"[/_.]", name)) or re.search(r"(^|/)x(_\w+)?\.", name)


def faults(root, files):
    for page in sorted((root / "docs").glob("*.md")) + [root / "README.md", root / "CONTRIBUTING.md"]:
        if not page.is_file():
            continue
        for number, line in enumerate(page.read_text().splitlines(), 1):
            for written in NAME.findall(line):
                for name in expanded(written):
                    if is_pattern(name) or name.startswith("shared/"):
                        continue
                    form = re.compile("(^|.*/)" + re.escape(name).replace(r"\*\*", ".*").replace(r"\*", "[^/]*"))
                    if not any(form.fullmatch(f) for f in files):
                        yield f"{page.relative_to(root)}:{number}: there is no file {name}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True, check=False).stdout.split("\n")
    files = listed if len(listed) > 1 else [str(p.relative_to(root)) for p in root.rglob("*")]  # of an archive of the sources
    found = list(faults(root, files))
    print("\n".join(found + [f"{len(found)} names of files that are not there"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
