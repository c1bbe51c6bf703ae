#!/usr/bin/env python3
"""Checks that a name in an unnamed namespace stands in one source of its folder only, as unity builds ask (cmake/UnityBuild.cmake).

A helper that two sources of a folder define is a twin: it belongs into a header of the folder. Constants, types and functions of the
same parameters count; overloads do not. A type (an alias too) and a function of one name clash as well, and so do a type that a
header of the folder declares and a function of any header that its sources include. Tests, fuzzers, runtime/ and sources that are compiled alone
(SKIP_UNITY_BUILD_INCLUSION, COMPILE_OPTIONS) are left out.
  check_names.py [ROOT]: prints each twin with its places; exit status 1 where there is one.
Cost: two seconds; it reads lines at the margin, as clang-format leaves them, not C++.
"""
import collections
import pathlib
import re
import sys

LEFT_OUT = {"benchmarks", "build", "examples", "fuzz", "runtime", "testdata"}
TYPE = re.compile(r"(?:struct|class|enum class|enum|union) (\w+)")
FUNCTION = re.compile(r"[\w:<>,&*\s\[\]]*?[\s&*>](\w+)(\(.*)")
VARIABLE = re.compile(r"(?:inline |static )?(?:constexpr|const) [\w:<>,&*\s]*?[\s&*>](\w+)(?:\[\w*\])? (?:=|\{)")


def statements(text):
    """(line number, text) of what begins at the margin within unnamed namespaces, up to its brace or semicolon."""
    inside, lines = False, text.split("\n")
    for number, line in enumerate(lines):
        if line == "namespace {":
            inside = True
        elif line == "}  // namespace":
            inside = False
        elif inside and re.match(r"[A-Za-z\[]", line) and not line.startswith("template"):
            whole = line
            for more in lines[number + 1:number + 8]:
                if re.search(r"[{;]", whole):
                    break
                whole += " " + more.strip()
            yield number + 1, re.sub(r"\[\[\w+\]\] ?", "", whole)


def parameters(text):
    """The types of a parameter list, without names and default values."""
    depth, end = 0, 0
    for end, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            break
    parts = re.sub(r" = [^,)]*", "", text[1:end]).split(", ")
    return ", ".join(re.sub(r"(?<=[\s&*>])\w+$", "", part).strip() for part in parts)


def names(text):
    """(key, name, line number) of what the unnamed namespaces of a source define."""
    for number, whole in statements(text):
        if found := TYPE.match(whole):
            yield found[1], found[1], number
        elif found := VARIABLE.match(whole):
            yield found[1], found[1], number
        elif (found := FUNCTION.match(whole)) and not whole.startswith(("using", "static_assert", "return")):
            yield found[1] + "(" + parameters(found[2]) + ")", found[1], number


def declarations(text):
    """(key, name, line number) of the functions that a header declares at the margin."""
    for found in re.finditer(r"(?m)^(?!using|return|static_assert|template|extern|#|//)[A-Za-z][\w:<>,&*\s]*?[\s&*>](\w+)(\((?:[^;{]|\n)*)", text):
        yield found[1] + "(" + parameters(" ".join(found[2].split())) + ")", found[1], text.count("\n", 0, found.start()) + 1


def aliases(text):
    """(name, type, line number) of the aliases at the margin, in any namespace."""
    for found in re.finditer(r"(?m)^using (\w+) =\s+([^;]*);", text):
        yield found[1], " ".join(found[2].split()), text.count("\n", 0, found.start()) + 1


def alone(root):
    """Sources that CMakeLists.txt files set options for."""
    paths = set()
    for file in root.glob("*/**/CMakeLists.txt"):
        if file.relative_to(root).parts[0] in LEFT_OUT:
            continue
        text = file.read_text()
        for sources in re.findall(r"set_source_files_properties\(([^)]*?)\s+PROPERTIES (?:SKIP_UNITY|COMPILE_OPTIONS)", text):
            for source in sources.split():
                for pattern in re.findall(r"file\(GLOB " + re.escape(source.strip("${}")) + r" \S*?/([^/\s)]+)\)", text) or [source]:
                    paths.update(file.parent.glob(pattern))
    return paths


def headers_of(root):
    """A function that gives the headers that the sources of a folder include, directly or by others."""
    included, known = {}, {}

    def of(path):
        if path not in included:
            included[path] = {root / name for name in re.findall(r'(?m)^#include "([^"]+)"', path.read_text())} if path.exists() else set()
        return included[path]

    def within_reach(folder):
        if folder not in known:
            seen, open_ = set(), [path for kind in ("*.cc", "*.h") for path in folder.glob(kind) if not path.name.endswith("_test.cc")]
            while open_:
                new = of(open_.pop()) - seen
                seen |= new
                open_ += new
            known[folder] = seen
        return known[folder]

    return within_reach


def twins(root):
    """Lists of places, "path:line: name", one list a name that stands in several sources of a folder."""
    clashes, within_reach = [], headers_of(root)
    found, types, kinds, declared = (collections.defaultdict(dict) for _ in range(4))
    for path in sorted(root.glob("*/**/*.h")):
        if path.relative_to(root).parts[0] in LEFT_OUT:
            continue
        text = path.read_text()
        for match in re.finditer(r"(?m)^" + TYPE.pattern + r"(?=[^;]*\{)", text):
            place = f"{path.relative_to(root)}:{text.count(chr(10), 0, match.start()) + 1}: {match[1]}"
            types[path.parent, match[1]].setdefault(path, place)
        for key, name, number in declarations(text):
            declared[key].setdefault(path, f"{path.relative_to(root)}:{number}: {name}")
    skipped = alone(root)
    for path in sorted(root.glob("*/**/*.cc")):
        parts = path.relative_to(root).parts
        if parts[0] in LEFT_OUT or path.name.endswith("_test.cc") or path in skipped:
            continue
        text = path.read_text()
        for key, name, number in names(text):
            place = f"{path.relative_to(root)}:{number}: {name}"
            found[path.parent, key].setdefault(path, place)
            near = [at for header, at in declared.get(key, {}).items() if header in within_reach(path.parent)]
            if near:
                clashes.append([place, *near])
            kinds[path.parent, name].setdefault(("(" in key, path), place)
            if (path.parent, name) in types and "(" not in key:
                types[path.parent, name].setdefault(path, place)
        for name, meaning, number in aliases(text):
            place = f"{path.relative_to(root)}:{number}: {name}"
            types[path.parent, name].setdefault(meaning, place)
            kinds[path.parent, name].setdefault((False, path), place)
    # A type in one source, a function in another.
    mixed = [list(places.values()) for places in kinds.values()
             if len({kind for kind, _ in places}) > 1 and len({path for _, path in places}) > 1]
    return [list(places.values()) for places in [*found.values(), *types.values()] if len(places) > 1] + mixed + clashes


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]).resolve()
    bad = twins(root)
    for places in bad:
        print("\n  also ".join(places))
    if bad:
        print(f"{len(bad)} names of unnamed namespaces stand in several sources of a folder: share them in a header, or rename them")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
