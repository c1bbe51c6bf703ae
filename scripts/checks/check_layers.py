#!/usr/bin/env python3
"""Holds every #include "folder/file.h" against docs/layers.txt, and house rules that need no compiler.

check_layers.py [ROOT]: prints FILE:LINE: what is wrong, one a line; exit status 1 where there is any.
Tests may also include parser/, printer/, verifier/ and generator/. A header named *_internal.h serves its own folder alone.
A folder's line in docs/layers.txt holds for its subfolders too, where these have no line of their own. No headers include
each other, no two sources with their headers either, no folders either (at any level, apart from a folder and what lies in it), and no header serves its own source alone.
A source that a comment names (codegen/loops.h) is there, under that path or one that ends so.
"""
import collections
import pathlib
import re
import sys

NAMESPACE = re.compile(r"namespace\s*([\w:]+)?\s*\{")
TYPE = re.compile(r"(?:struct|class|enum class|enum) (?:\[\[\w+\]\] )?(\w+)(?: final)?(?:\s*:(?!:)[^;{]*)? \{")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([\w.-]+(?:/[\w.-]+)*)/([^"/]+)"')
NAMED = re.compile(r"(?<![\w/.{$<\"-])((?:[a-z][\w-]*/)+\w+\.(?:cc|h))\b")
SPDX = "SPDX-License-Identifier: Apache-2.0"
TEST_ALSO = {"parser", "printer", "verifier", "generator"}


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


def layer_of(folder, layers):
    """The line of layers.txt that `folder` falls under: its own, or that of the nearest folder around it; None without one."""
    while folder and folder not in layers:
        folder = folder.rpartition("/")[0]
    return folder or None


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
        layer = layer_of(match[1], layers) if match else None
        if not layer:
            continue
        if layer not in allowed | extra:
            yield number, f"{folder}/ may not include {layer}/ (docs/layers.txt)"
        elif layer != folder and match[2].endswith("_internal.h"):
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


def included(files):
    """file -> the files among `files` (path: text) that it includes."""
    return {path: [f"{m[1]}/{m[2]}" for m in map(INCLUDE.match, text.splitlines()) if m and f"{m[1]}/{m[2]}" in files]
            for path, text in files.items()}


def circles(arrows):
    """The circles of a graph {node: nodes}, each as a path back to its first node; one for each node that closes one."""
    done, result = set(), []
    for start in arrows:
        path, work = [], [(start, None)]
        while work:
            node, leave = work.pop()
            if leave:
                path.pop()
            elif node in path:
                result.append(path[path.index(node):] + [node])
            elif node not in done:
                done.add(node)
                path.append(node)
                work.append((node, True))
                work += [(below, None) for below in arrows.get(node, ())]
    return result


def folder_arrows(includes):
    """Arrows between folders that lie side by side: of ir/a.cc and passes/loops/b.cc that between ir and passes."""
    arrows = collections.defaultdict(set)
    for path, others in includes.items():
        for other in others if not path.endswith("_test.cc") else ():
            a, b = path.split("/")[:-1], other.split("/")[:-1]
            depth = next((k for k, (x, y) in enumerate(zip(a, b)) if x != y), None)
            if depth is not None:
                arrows["/".join(a[:depth + 1])].add("/".join(b[:depth + 1]))
    return arrows


def module_arrows(includes):
    """Arrows between modules: a module is a source with its headers, x.h, x_internal.h and x.cc."""
    arrows = collections.defaultdict(set)
    for path, others in includes.items():
        module = module_of(path)
        if not module.endswith("_test"):
            arrows[module] |= {module_of(other) for other in others} - {module}
    return arrows


def module_of(path):
    return path.rpartition(".")[0].removesuffix("_internal")


def check_graph(files):
    """Faults of the includes among `files` (path: text) as a whole, as (path, message)."""
    includes = included(files)
    headers = {path: others for path, others in includes.items() if path.endswith(".h")}
    for circle in circles(headers):
        yield circle[0], f"headers include each other: {' -> '.join(circle)}"
    for circle in circles(folder_arrows(includes)):
        yield circle[0], f"folders include each other: {' -> '.join(circle)}"
    modules = module_arrows(includes)
    for module in sorted(modules):
        for other in sorted(modules[module]):
            if module < other and module in modules.get(other, ()):
                yield module + ".cc", f"{module} and {other} include each other, by header or source"
    users = collections.defaultdict(set)
    for path, others in includes.items():
        for other in others:
            users[other].add(path)
    for path in headers:
        if users[path] == {path[:-2] + ".cc"}:
            yield path, "nothing but its own source includes it: declare it there"


def named_files(files, layers):
    """(path, line, name) of the sources that comments name and that are not there."""
    folders = {folder.partition("/")[0] for folder in layers}
    for path, text in files.items():
        for number, line in enumerate(text.splitlines(), 1):
            for match in NAMED.finditer(line[line.index("//"):] if "//" in line else ""):
                name = match[1]
                if name.partition("/")[0] in folders and name not in files and not any(f.endswith("/" + name) for f in files):
                    yield path, number, name


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]).resolve()
    layers = read_layers(root / "docs" / "layers.txt")
    allowed = reachable(layers)
    files, wrong = {}, 0
    types = {}  # each type's first definition; a second one would be another's code, picked by the linker
    for folder in layers:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in (".cc", ".h") or not path.is_file() or layer_of(name.rpartition("/")[0], layers) != folder:
                continue
            files[name] = path.read_text(encoding="utf-8")
            for number, message in check_file(path, folder, allowed[folder], layers):
                wrong += 1
                print(f"{name}:{number}: {message}")
            for number, type_name in types_of(files[name].splitlines()):
                place = f"{name}:{number}"
                if types.setdefault(type_name, place) != place:
                    wrong += 1
                    print(f"{place}: {type_name} is defined in {types[type_name]} too")
    for name, message in check_graph(files):
        wrong += 1
        print(f"{name}: {message}")
    for name, number, missing in named_files(files, layers):
        wrong += 1
        print(f"{name}:{number}: there is no {missing}")
    print(f"{len(files)} files, {wrong} faults")
    sys.exit(1 if wrong or not files else 0)


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
