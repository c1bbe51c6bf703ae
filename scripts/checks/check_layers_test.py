#!/usr/bin/env python3
"""Tests check_layers.py on small made-up trees."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).with_name("check_layers.py")
LAYERS = "support:\nir: support\nparser: ir\nprinter: ir\nexamples: *\n"


def file_text(*lines):
    return "\n".join(["// A file.", *lines, "// SPDX-License-Identifier: Apache-2.0"]) + "\n"


def check(files, layers=LAYERS):
    """(exit status, output) of the check on a tree of {path: text}."""
    with tempfile.TemporaryDirectory() as tmp:
        for path, text in {"docs/layers.txt": layers, **files}.items():
            target = pathlib.Path(tmp, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, CHECK, tmp], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


class CheckLayers(unittest.TestCase):
    def assert_fault(self, files, want, **kwargs):
        status, output = check(files, **kwargs)
        self.assertEqual(status, 1, output)
        self.assertIn(want, output)

    def test_allowed_includes(self):
        status, output = check({
            "support/a.h": file_text("#pragma once"),
            "ir/b.cc": file_text('#include "support/a.h"', '#include "ir/b_internal.h"', '#include "absl/strings/x.h"'),
            "ir/b_test.cc": file_text('#include "parser/p.h"'),
            "parser/p.cc": file_text('#include "support/a.h"'),
            "examples/e.cc": file_text('#include "parser/p.h"', '#include "printer/p.h"'),
        })
        self.assertEqual((status, output), (0, "5 files, 0 faults\n"))

    def test_types_of_one_file_may_share_names(self):
        files = {name: file_text("namespace hlokit {", "namespace {", "struct Part {", "};", "}  // namespace",
                                 "struct Whole::State {", "};", "}  // namespace hlokit")
                 for name in ("support/a.cc", "ir/b.cc")}
        self.assertEqual(check(files), (0, "2 files, 0 faults\n"))

    def test_faults(self):
        self.assert_fault({"ir/b.cc": file_text('#include "parser/p.h"')}, "ir/b.cc:2: ir/ may not include parser/")
        self.assert_fault({"parser/b.cc": file_text('#include "printer/p.h"')}, "may not include printer/")
        self.assert_fault({"ir/b.cc": file_text('#include "examples/e.h"')}, "may not include examples/")
        self.assert_fault({"parser/b.cc": file_text('#include "ir/b_internal.h"')}, "for its own folder alone")
        self.assert_fault({"ir/b.h": file_text("#pragma once", '#include "ir/b_internal.h"')}, "is not installed")
        self.assert_fault({"ir/b.h": file_text()}, "no #pragma once")
        self.assert_fault({"ir/b.cc": "// A file.\n"}, "last line")
        self.assert_fault({"ir/b.cc": "int x;\n// SPDX-License-Identifier: Apache-2.0\n"}, "first line")
        self.assert_fault({"ir/a.cc": file_text('#include "ir/b.h"'), "ir/b.h": file_text("#pragma once"),
                           "ir/b.cc": file_text('#include "ir/a_internal.h"'), "ir/a_internal.h": file_text("#pragma once")},
                          "ir/a.cc: ir/a and ir/b include each other")
        twice = {name: file_text("namespace hlokit {", "struct Part {", "};", "}  // namespace hlokit")
                 for name in ("support/a.cc", "ir/b.cc")}
        self.assert_fault(twice, "ir/b.cc:3: hlokit::Part is defined in support/a.cc:3 too")
        self.assert_fault({}, "circle", layers="a: b\nb: a\n")

    def test_floors_within_a_folder(self):
        layers = "ir:\nir/low:\nir/high: ir/low\nir/high/top: ir/high\n"
        below, above = file_text('#include "ir/low/a.h"'), file_text('#include "ir/high/more/a.h"')
        self.assertEqual(check({"ir/high/more/b.cc": below}, layers=layers), (0, "1 files, 0 faults\n"))
        self.assertEqual(check({"ir/high/top/b.cc": above}, layers=layers), (0, "1 files, 0 faults\n"))
        self.assert_fault({"ir/low/b.cc": above}, "ir/low/ may not include ir/high/", layers=layers)
        self.assert_fault({"ir/b.cc": below}, "ir/ may not include ir/low/", layers=layers)

    def test_circles(self):
        head = ("#pragma once",)
        a, b = file_text(*head, '#include "ir/b.h"'), file_text(*head, '#include "ir/a.h"')
        self.assert_fault({"ir/a.h": a, "ir/b.h": b}, "ir/a.h: headers include each other: ir/a.h -> ir/b.h -> ir/a.h")
        files = {"ir/x/a.cc": file_text('#include "ir/y/b.h"'), "ir/x/a.h": file_text(*head), "ir/y/b.h": file_text(*head),
                 "ir/y/b.cc": file_text('#include "ir/x/a.h"')}
        self.assert_fault(files, "folders include each other: ir/x -> ir/y -> ir/x")

    def test_headers_of_one_source(self):
        files = {"ir/a.h": file_text("#pragma once"), "ir/a.cc": file_text('#include "ir/a.h"')}
        self.assert_fault(files, "ir/a.h: nothing but its own source includes it")
        files["ir/a_test.cc"] = file_text('#include "ir/a.h"')
        self.assertEqual(check(files), (0, "3 files, 0 faults\n"))

    def test_files_that_comments_name(self):
        files = {"ir/a.cc": file_text("// See support/text.cc."), "support/text.cc": file_text()}
        self.assertEqual(check(files), (0, "2 files, 0 faults\n"))
        files["ir/a.cc"] = file_text("int a;  // as in support/gone.h")
        self.assert_fault(files, "ir/a.cc:2: there is no support/gone.h")


if __name__ == "__main__":
    unittest.main()
# SPDX-License-Identifier: Apache-2.0
