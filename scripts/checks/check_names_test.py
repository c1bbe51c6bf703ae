#!/usr/bin/env python3
"""Tests check_names.py on small made-up trees."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).with_name("check_names.py")


def source(*lines):
    return "\n".join(["namespace hlokit {", "namespace {", "", *lines, "", "}  // namespace", "}  // namespace hlokit", ""])


def check(files):
    """(exit status, output) of the check on a tree of {path: text}."""
    with tempfile.TemporaryDirectory() as tmp:
        for path, text in files.items():
            target = pathlib.Path(tmp, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, CHECK, tmp], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


class CheckNames(unittest.TestCase):
    def assert_twin(self, first, second, want):
        status, output = check({"ir/a.cc": source(first), "ir/b.cc": source(second)})
        self.assertEqual(status, 1, output)
        self.assertIn(want, output)

    def assert_fine(self, files):
        status, output = check(files)
        self.assertEqual((status, output), (0, ""))

    def test_functions_of_headers_that_the_folder_includes(self):
        header = "namespace hlokit {\nbool Is(const Op& i);\n}\n"
        files = {"types/a.h": header, "types/b.h": '#include "types/a.h"\n', "ir/a.cc": source("bool Is(const Op& op) {", "}")}
        self.assert_fine(files)
        status, output = check({**files, "ir/b.cc": '#include "types/b.h"\n'})
        self.assertEqual(status, 1, output)
        self.assertIn("ir/a.cc:4: Is\n  also types/a.h:2: Is", output)
        self.assert_fine({**files, "ir/a.cc": source("bool Is(int op) {", "}"), "ir/b.cc": '#include "types/b.h"\n'})

    def test_functions_of_the_same_parameters(self):
        self.assert_twin("bool Is(const Op* i) { return i; }", "bool Is(const Op* op) { return !op; }",
                         "ir/a.cc:4: Is\n  also ir/b.cc:4: Is")
        self.assert_twin("Made Cut(Array a,\n         int64_t d = 0) {", "Made Cut(Array b, int64_t e) {", "ir/b.cc:4: Cut")

    def test_constants_and_types(self):
        self.assert_twin("constexpr int kMost = 3;", "constexpr int64_t kMost = 4;", "kMost")
        self.assert_twin("constexpr Rule kRules[] = {", "constexpr Row kRules[] = {", "kRules")
        self.assert_twin("class Walk {", "struct Walk {", "Walk")

    def test_aliases_of_different_types(self):
        self.assert_twin("using Fields = Row;", "using Fields = std::vector<Row>;", "ir/b.cc:4: Fields")

    def test_overloads_aliases_and_members(self):
        self.assert_fine({"ir/a.cc": source("bool Is(const Op* i) { return i; }", "using Made = int;", "int Walk::Next() {"),
                          "ir/b.cc": source("bool Is(const Shape& s) {", "using Made = int;", "int Walk::Next() {")})

    def test_other_folders_tests_and_what_is_compiled_alone(self):
        twin = source("constexpr int kMost = 3;")
        self.assert_fine({"ir/a.cc": twin, "ops/a.cc": twin, "ir/a_test.cc": twin, "runtime/a.cc": twin, "runtime/b.cc": twin})
        self.assert_fine({"ir/a.cc": twin, "ir/b.cc": twin,
                          "ir/CMakeLists.txt": "set_source_files_properties(b.cc c.cc\n  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)"})
        self.assert_fine({"ir/a.cc": twin, "ir/eval_b.cc": twin,
                          "ir/CMakeLists.txt": "file(GLOB some ${CMAKE_CURRENT_SOURCE_DIR}/eval_*.cc)\n"
                                               "set_source_files_properties(${some} PROPERTIES COMPILE_OPTIONS -O3)"})


if __name__ == "__main__":
    unittest.main()
