"""Finds the places of a source file that mutation testing may change, through libclang.

A site is a dict: `kind` (see OPERATORS), `start` and `end` (offsets in bytes), `line`, `before` and
`after` (text), and `form`, which says how rewrite() writes it:
  pick   an expression of values without side effects: both are computed and compared
  choose an expression: one of the two is computed
  drop   a statement that a mutant leaves out
Only bodies of functions count; constant expressions, macros and what templates compute from types
are left out, since a choice made at run time cannot stand there.
"""
import sys

try:
    import clang.cindex
    from clang.cindex import CursorKind as K
    from clang.cindex import TypeKind as T
except ImportError:
    print("mutants.py: needs libclang for Python: apt-get install python3-clang-14, and Debian's /usr/bin/python3", file=sys.stderr)
    sys.exit(2)

FUNCTIONS = {K.FUNCTION_DECL, K.CXX_METHOD, K.CONSTRUCTOR, K.DESTRUCTOR, K.FUNCTION_TEMPLATE,
             K.CONVERSION_FUNCTION}
INTEGERS = {T.CHAR_U, T.UCHAR, T.USHORT, T.UINT, T.ULONG, T.ULONGLONG, T.CHAR_S, T.SCHAR, T.SHORT,
            T.INT, T.LONG, T.LONGLONG}
NUMBERS = INTEGERS | {T.FLOAT, T.DOUBLE, T.LONGDOUBLE}
BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
NEGATION = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*"}
COMPOUND = {"+=": "-=", "-=": "+=", "*=": "+="}
LOGIC = {"&&": "||", "||": "&&"}
# Calls of one meaning whatever the order of their arguments, or whose arguments make messages.
UNORDERED = {"min", "max", "Min", "Max", "swap", "StrCat", "StrAppend", "Fail", "Error", "Text",
             "make_pair", "equal", "operator()"}
PURE = {"operator[]", "operator->", "operator*", "begin", "end", "data", "front", "back", "at"}


def arguments_of(command):
    """What libclang needs of a compiler's command line."""
    words = command.split()
    kept = [w for w in words if w.startswith(("-I", "-D", "-std", "-m"))]
    for flag in ("-isystem", "-include"):  # libclang refuses GCC's precompiled headers; files include what they need
        kept += [x for i, w in enumerate(words[:-1]) if w == flag and not words[i + 1].endswith("cmake_pch.hxx")
                 for x in (flag, words[i + 1])]
    return kept


class Finder:
    """The sites of one file."""

    def __init__(self, path, command):
        options = clang.cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
        self.unit = clang.cindex.Index.create().parse(path, arguments_of(command), options=options)
        self.path = path
        with open(path, "rb") as file:
            self.text = file.read()
        self.macros = []
        self.sites = []

    def find(self):
        for cursor in self.unit.cursor.get_children():
            if not self.is_here(cursor):
                continue
            if cursor.kind == K.MACRO_INSTANTIATION:
                self.macros.append(self.range(cursor))
            elif cursor.kind != K.MACRO_DEFINITION:
                self.find_bodies(cursor)
        return self.sites

    def is_here(self, cursor):
        file = cursor.location.file
        return file is not None and file.name == self.path

    @staticmethod
    def range(cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def words(self, cursor):
        start, end = self.range(cursor)
        return self.text[start:end].decode(errors="replace")

    def find_bodies(self, cursor):
        if cursor.kind in FUNCTIONS:
            children = list(cursor.get_children())
            if not children or children[-1].kind != K.COMPOUND_STMT:
                return
            head = self.text[self.range(cursor)[0]:self.range(children[-1])[0]]
            if b"constexpr" not in head and b"consteval" not in head:
                self.walk(children[-1], cursor)
            return
        if cursor.kind in (K.NAMESPACE, K.CLASS_DECL, K.STRUCT_DECL, K.CLASS_TEMPLATE,
                           K.LINKAGE_SPEC, K.UNEXPOSED_DECL):
            for child in cursor.get_children():
                self.find_bodies(child)

    def walk(self, cursor, parent):
        """The sites below `cursor`; what must stay constant has none."""
        if cursor.kind == K.CASE_STMT:
            children = list(cursor.get_children())[1:]
        elif cursor.kind == K.VAR_DECL and self.is_constant(cursor):
            return
        elif cursor.kind in (K.STATIC_ASSERT, K.TYPE_REF, K.TEMPLATE_REF, K.ENUM_DECL):
            return
        else:
            children = list(cursor.get_children())
            self.visit(cursor, children, parent)
        if cursor.kind == K.IF_STMT and b"constexpr" in self.text[
                self.range(cursor)[0]:self.range(children[0])[0]]:
            children = children[1:]
        for child in children:
            self.walk(child, cursor)

    def is_constant(self, cursor):
        words = self.words(cursor).split("=")[0]
        return "constexpr" in words or "[" in words.split("(")[0] and "auto" not in words

    def visit(self, cursor, children, parent):
        kind = cursor.kind
        if kind == K.BINARY_OPERATOR or kind == K.COMPOUND_ASSIGNMENT_OPERATOR:
            self.visit_binary(cursor, children)
        elif kind == K.CALL_EXPR:
            if cursor.spelling in ("operator==", "operator!=") and len(children) >= 2:
                self.add("comparison-negated", cursor, f"!({self.words(cursor)})")
            self.visit_arguments(cursor)
        elif kind == K.INTEGER_LITERAL and cursor.type.get_canonical().kind in INTEGERS:
            self.visit_constant(cursor)
        elif kind == K.CXX_BOOL_LITERAL_EXPR and parent.kind == K.RETURN_STMT:
            word = self.words(cursor)
            if word in ("true", "false"):
                self.add("returned-bool", cursor, "false" if word == "true" else "true")
        elif kind == K.IF_STMT and children and children[0].kind.is_expression():
            self.add("condition-negated", children[0], f"!({self.words(children[0])})")
        elif kind == K.UNARY_OPERATOR and self.words(cursor).startswith("!") and not self.words(cursor).startswith("!="):
            # C++20 makes !(a == b) of a != b: that one has no `!` of its own.
            self.add("not-removed", cursor, f"static_cast<bool>({self.words(cursor)[1:]})")
        if kind == K.COMPOUND_STMT or kind in (K.IF_STMT, K.FOR_STMT, K.CXX_FOR_RANGE_STMT):
            for child in (children if kind == K.COMPOUND_STMT else children[-1:]):
                self.visit_statement(child)

    def visit_binary(self, cursor, children):
        if len(children) != 2:
            return
        between = self.text[self.range(children[0])[1]:self.range(children[1])[0]]
        operator = between.decode(errors="replace").strip()
        left, right = self.words(children[0]), self.words(children[1])
        types = [c.type.get_canonical().kind for c in children]
        plain = all(t in NUMBERS for t in types)
        whole = all(t in INTEGERS for t in types)
        if operator in BOUNDARY and types[0] != T.POINTER:
            self.add("comparison-boundary", cursor, f"{left} {BOUNDARY[operator]} {right}", plain)
        if operator in NEGATION:
            self.add("comparison-negated", cursor, f"{left} {NEGATION[operator]} {right}", plain)
        if operator in ARITHMETIC and plain and (operator != "%" or whole):
            safe = ARITHMETIC[operator] != "/"
            self.add("arithmetic", cursor, f"{left} {ARITHMETIC[operator]} {right}", safe)
        if operator in COMPOUND and plain:
            self.add("arithmetic", cursor, f"{left} {COMPOUND[operator]} {right}")
        if operator in LOGIC:
            self.add("logic", cursor, f"({left}) {LOGIC[operator]} ({right})")

    def visit_constant(self, cursor):
        word = self.words(cursor)
        digits = word.rstrip("uUlL")
        if not digits.isdigit() or len(digits) > 9:
            return
        suffix = word[len(digits):]
        changes = [int(digits) + 1] + ([int(digits) - 1] if int(digits) > 0 else [])
        for changed in changes:
            self.add("constant", cursor, f"{changed}{suffix}", True)

    def visit_arguments(self, cursor):
        if cursor.spelling in UNORDERED or cursor.spelling.startswith("operator"):
            return
        arguments = list(cursor.get_arguments())
        for a, b in zip(arguments, arguments[1:]):
            words = self.words(a), self.words(b)
            types = [x.type.get_canonical().spelling.replace("const ", "") for x in (a, b)]
            if types[0] != types[1] or words[0] == words[1] or "" in words:
                continue
            if any(w.startswith("{") or "move(" in w or "begin()" in w for w in words):
                continue
            between = self.text[self.range(a)[1]:self.range(b)[0]].decode(errors="replace")
            if between.strip() == ",":
                self.add("arguments-swapped", (a, b), words)

    def visit_statement(self, cursor):
        kind = cursor.kind
        if kind == K.UNEXPOSED_EXPR:
            inner = list(cursor.get_children())
            kind = inner[0].kind if len(inner) == 1 else kind
        if kind in (K.CALL_EXPR, K.COMPOUND_ASSIGNMENT_OPERATOR, K.BINARY_OPERATOR):
            self.add("statement-dropped", cursor, "")

    def is_pure(self, cursor):
        """Whether computing the expression twice is computing it once: conservative."""
        for node in cursor.walk_preorder():
            if node.kind in (K.LAMBDA_EXPR, K.COMPOUND_ASSIGNMENT_OPERATOR, K.CXX_NEW_EXPR):
                return False
            if node.kind == K.UNARY_OPERATOR and ("++" in self.words(node) or "--" in self.words(node)):
                return False
            if node.kind == K.CALL_EXPR and node.spelling not in PURE:
                callee = node.referenced
                if callee is None or callee.kind != K.CXX_METHOD or not callee.is_const_method():
                    return False
        return True

    def add(self, kind, cursor, after, values=False):
        pair = cursor if isinstance(cursor, tuple) else (cursor, cursor)
        start, end = self.range(pair[0])[0], self.range(pair[1])[1]
        before = self.text[start:end].decode(errors="replace")
        inside = any(s < end and start < e for s, e in self.macros)
        if inside or not before or any(c.location.file is None or not self.is_here(c) for c in pair):
            return
        if "#" in before or "[](" in before:
            return
        form = "drop" if kind == "statement-dropped" else "choose"
        if values and form == "choose" and self.is_pure(cursor):
            form = "pick"
        self.sites.append({"kind": kind, "start": start, "end": end, "line": pair[0].extent.start.line,
                           "before": before, "after": after, "form": form})


def rewrite(text, sites):
    """The bytes of a file in which each site (disjoint, with an `id`) asks whether it is the mutant."""
    for site in sorted(sites, key=lambda s: -s["start"]):
        number, before, after = site["id"], site["before"], site["after"]
        asks = f"hlokit_mutants::On({number})"
        if site["kind"] == "arguments-swapped":
            first, second = after
            new = f"({asks} ? {second} : {first}), ({asks} ? {first} : {second})"
            new += "\n" * before.count("\n") if before.count("\n") > new.count("\n") else ""
        elif site["form"] == "drop":
            new = f"({asks} ? (void)0 : (void)({before}))"
        elif site["form"] == "pick":
            new = f"hlokit_mutants::Pick({number}, ({flat(after)}), ({before}))"
        else:
            new = f"({asks} ? ({flat(after)}) : ({before}))"
        text = text[:site["start"]] + new.encode() + text[site["end"]:]
    return text


def flat(words):
    """`words` on one line, so that lines keep their numbers; comments end with lines."""
    return " ".join(line.split("//")[0] for line in words.split("\n"))

# SPDX-License-Identifier: Apache-2.0
