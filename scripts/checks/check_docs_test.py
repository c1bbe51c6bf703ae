#!/usr/bin/env python3
"""Tests check_docs.py on small made-up trees."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).with_name("check_docs.py")


def check(page, files):
    """(exit status, output) of the check on a tree with that page."""
    with tempfile.TemporaryDirectory() as tmp:
        for path, text in {"docs/page.md": page, **{f: "" for f in files}}.items():
            target = pathlib.Path(tmp, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, CHECK, tmp], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


class CheckDocs(unittest.TestCase):
    def test_a_file_that_is_there(self):
        self.assertEqual(check("`ir/ops.def`, `a/{b,c}.cc`, `deep/x.h`", ["ir/ops.def", "a/b.cc", "a/c.cc", "very/deep/x.h"])[0], 0)

    def test_a_file_that_is_not(self):
        status, output = check("one\n`a/{b,c}.cc`", ["a/b.cc"])
        self.assertEqual(status, 1)
        self.assertIn("docs/page.md:2: there is no file a/c.cc", output)

    def test_part_of_a_name_is_no_name(self):
        self.assertEqual(check("`a/b.cc`", ["xa/b.cc"])[0], 1)

    def test_patterns(self):
        self.assertEqual(check("`passes/SUBJECT/x.cc`, `backends/x_kernels.cc`, `t/*.hlo`, `t/**.hlo`", ["t/s.hlo"])[0], 0)
        self.assertEqual(check("`t/*.hlo`", ["t/u/s.hlo"])[0], 1)


if __name__ == "__main__":
    unittest.main()
