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
        twice = {name: file_text("namespace hlokit {", "struct Part {", "};", "}  // namespace hlokit")
                 for name in ("support/a.cc", "ir/b.cc")}
        self.assert_fault(twice, "ir/b.cc:3: hlokit::Part is defined in support/a.cc:3 too")
        self.assert_fault({}, "circle", layers="a: b\nb: a\n")


if __name__ == "__main__":
    unittest.main()
# SPDX-License-Identifier: Apache-2.0
