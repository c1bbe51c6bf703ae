#!/usr/bin/env python3
"""What doxygen reads of a header: the house's // and /* comments as documentation.

  scripts/docs/doxygen_filter.py HEADER

A file's first comment is the file's. A comment stands for all that follows it up to the next blank line or comment of
the same depth; `// ---- Section ----` for what has no comment of its own up to the next section or the end of the class.
A comment behind a member is the member's.
"""
import re
import sys

COMMENT = re.compile(r"^( *)//(?!/)( ?.*)$")
SECTION = re.compile(r"^ ---- (.*?) ?-*$")
# Lines that begin no declaration.
OTHER = re.compile(r"^ *(#|}|\)|public:|private:|protected:|namespace |extern \"C\"|template <|friend |$)")


def depth(line):
    return len(line) - len(line.lstrip(" "))


def paragraph(lines, start):
    """The end of what stands together from `start` on: up to a blank line, a comment or a closing brace."""
    indent, level, i = depth(lines[start]), 0, start
    while i < len(lines):
        line = lines[i]
        if level == 0 and i > start:
            if not line.strip() or depth(line) < indent or (depth(line) == indent and
                                                                       re.match(r" *(//|/\*)", line)):
                break
            if re.match(r" *(public|private|protected):", line):
                break
        code = re.sub(r'"(\\.|[^"\\])*"|//.*', "", line)
        level += code.count("{") + code.count("(") - code.count("}") - code.count(")")
        if level < 0:
            break
        i += 1
    return i


def document(text):
    return "///" + text.replace("\\xNN", "backslash xNN")


def trailing(line):
    line = re.sub(r"([;,{]|[\w)}]) +/\* (.*)$", r"\1 /**< \2", line)
    return re.sub(r"([;,{]|[\w)}]) +// (.*)$", r"\1  ///< \2", line)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if "SPDX-License" not in line]
    out, i, sections = [], 0, {}
    if lines and lines[0].startswith("//"):
        out.append("/// @file")
        while i < len(lines) and lines[i].startswith("//"):
            out.append(document(lines[i][2:]))
            i += 1
    while i < len(lines):
        line = lines[i]
        for indent in [d for d in sections if line.strip() and depth(line) < d]:
            del sections[indent]
        comment = COMMENT.match(line)
        if line.lstrip().startswith("/* "):
            out.append(line.replace("/* ", "/** ", 1))
            while "*/" not in lines[i]:
                i += 1
                out.append(lines[i])
            i += 1
            if i < len(lines) and lines[i].strip() and not lines[i].lstrip().startswith("#"):
                i = declarations(lines, i, out)
        elif comment:
            indent, texts = comment.group(1), []
            while i < len(lines) and (comment := COMMENT.match(lines[i])) and comment.group(1) == indent:
                texts.append(comment.group(2))
                i += 1
            section = SECTION.match(texts[0])
            if section:
                sections[len(indent)] = " ".join([section.group(1)] + [t.strip() for t in texts[1:]])
                continue
            out += [indent + document(text) for text in texts]
            if i < len(lines) and lines[i].strip() and not lines[i].lstrip().startswith("#"):
                i = declarations(lines, i, out)
        elif sections.get(depth(line)) and not OTHER.match(line):
            out.append(" " * depth(line) + document(" " + sections[depth(line)]))
            after = declarations(lines, i, out)
            if after == i:
                out.append(trailing(line))
            i = max(after, i + 1)
        else:
            out.append(trailing(line))
            i += 1
    print("\n".join(out))


def declarations(lines, i, out):
    """Several declarations under one comment are a group that shares it; what opens a block is left to the caller."""
    end, indent = max(paragraph(lines, i), i + 1), depth(lines[i])
    heads = [line for line in lines[i:end] if depth(line) == indent and not OTHER.match(line)]
    block = any(re.match(r" *(template <.*> *)?(class|struct|enum|union|typedef struct|typedef enum)\b[^;]*$", line)
                for line in heads[:1] + heads[1:2])
    several = len(heads) > 1 or (heads and re.match(r"[^(<]*(<[^(]*>)?[^(<]*,[^(]*;", heads[0]))
    if block or not several:
        return i if block else emit(lines, i, end, out)
    out.append(" " * indent + "///@{")
    end = emit(lines, i, end, out)
    out.append(" " * indent + "///@}")
    return end


def emit(lines, i, end, out):
    out += [trailing(line) for line in lines[i:end]]
    return end


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
