"""Holds every #include "folder/file.h" against docs/layers.txt, and house rules that need no compiler.

check_layers.py [ROOT]: prints FILE:LINE: what is wrong, one a line; exit status 1 where there is any.
Tests may also include parser/, printer/ and generator/. A header named *_internal.h serves its own folder alone.
"""
import pathlib
import re
import sys

NAMESPACE = re.compile(r"namespace\s*([\w:]+)?\s*\{")
TYPE = re.compile(r"(?:struct|class|enum class|enum) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?:\s*:(?!:)[^;{]*)? \{")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([\w.-]+)/([^"]+)"')
SPDX = "SPDX-License-Identifier: Apache-2.0"
TEST_ALSO = {"parser", "printer", "generator"}


def read_layers(path):
    """folder -> the folders it stands on, directly; '*' stands for all floors."""
    layers = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        folder, colon, below = line.partition(":")
        if colon and not line.startswith("#"):
            layers[folder.strip()] = below.split()
    return layers


def reachable(layers):
    """folder -> every folder it may include. A folder that reaches itself is an error in layers.txt."""
    floors = {f for f, below in layers.items() if below != ["*"]}
    result = {}

    def visit(folder, path):
        if folder in path:
            sys.exit(f"docs/layers.txt: circle {' -> '.join(path + [folder])}")
        if folder not in result:
            below = floors if layers[folder] == ["*"] else set(layers[folder])
            result[folder] = {folder} | below.union(*(visit(b, path + [folder]) for b in below))
        return result[folder]

    for folder in layers:
        visit(folder, [])
    return result


def check_file(path, folder, allowed, layers):
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    if not lines or not lines[0].startswith("//"):
        yield 1, "the first line does not say what the file is for"
    if not lines or SPDX not in lines[-1]:
        yield len(lines), f"the last line is not // {SPDX}"
    if path.suffix == ".h" and "#pragma once" not in lines:
        yield 1, "no #pragma once"
    extra = TEST_ALSO if path.name.endswith("_test.cc") else set()
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match or match[1] not in layers:
            continue
        if match[1] not in allowed | extra:
            yield number, f"{folder}/ may not include {match[1]}/ (docs/layers.txt)"
        elif match[1] != folder and match[2].endswith("_internal.h"):
            yield number, f"{match[1]}/{match[2]} is for its own folder alone"
        elif match[2].endswith("_internal.h") and path.suffix == ".h" and not path.name.endswith("_internal.h"):
            yield number, f"{match[1]}/{match[2]} is not installed, this header is"


def types_of(lines):
    """(line, name) of the types that a file defines for other files too: those in no unnamed namespace."""
    spaces = []
    for number, line in enumerate(lines, 1):
        match = NAMESPACE.match(line)
        if match:
            spaces.append(match[1] or "")
        elif line.startswith("}  // namespace") and spaces:
            spaces.pop()
        elif spaces and all(spaces) and (match := TYPE.match(line)):
            yield number, "::".join(spaces + [match[1]])


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    layers = read_layers(root / "docs" / "layers.txt")
    allowed = reachable(layers)
    files, wrong = 0, 0
    types = {}  # each type's first definition; a second one would be another's code, picked by the linker
    for folder in layers:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cc", ".h") or not path.is_file():
                continue
            files += 1
            for number, message in check_file(path, folder, allowed[folder], layers):
                wrong += 1
                print(f"{path.relative_to(root)}:{number}: {message}")
            for number, name in types_of(path.read_text(encoding="utf-8").splitlines()):
                place = f"{path.relative_to(root)}:{number}"
                if types.setdefault(name, place) != place:
                    wrong += 1
                    print(f"{place}: {name} is defined in {types[name]} too")
    print(f"{files} files, {wrong} faults")
    sys.exit(1 if wrong or not files else 0)


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
