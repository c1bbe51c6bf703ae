#!/usr/bin/env python3
"""Plugins of passes as a user meets them: used, refused, and with passes that fail, crash or break the module.

plugin_test.py --bin FOLDER --plugins FOLDER --example FOLDER --work FOLDER
Of each failure: the exit status, the words, and the reproducer, whose first line, run in a shell, shows the fault again.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import unittest

MODULE = """HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}
ENTRY e {
  p = f32[4] parameter(0)
  dead = f32[4] cosine(p)
  n = f32[4] negate(p)
  ROOT r = f32[4] sine(n)
}
"""
a = None


def shell(command, text=None):
    return subprocess.run(command, shell=True, text=True, input=text, capture_output=True, timeout=100,
                          env={**os.environ, "PATH": f"{a.bin}:{os.environ['PATH']}"})


class Plugins(unittest.TestCase):
    def plugin(self, name):
        return f"--load-pass-plugin={a.plugins}/{name}.so"

    def refused(self, flags, words):
        run = shell(f"hlo-opt {flags} --list-passes")
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertRegex(run.stderr, words)
        self.assertEqual(run.stdout, "")

    def test_bad_plugins_are_refused(self):
        self.refused("--load-pass-plugin=/none.so", r"cannot load the pass plugin /none\.so: ")
        self.refused(self.plugin("undefined"), r"undefined symbol: .*NobodyHasThisFunction")
        self.refused(self.plugin("other_version"), "built for version 3 of the interface of passes, this program has version 2")
        self.refused(self.plugin("other_headers"), "built with other headers of hlokit")
        self.refused(self.plugin("clash"), "plugin 'faulty': there is a pass dce already")
        self.refused(self.plugin("bad_name"), "'a,b' cannot be a pass's name")
        self.refused(self.plugin("no_function"), "lacks the function hlokit_pass_plugin")
        self.refused(self.plugin("faulty") + " " + self.plugin("faulty"), "there is a pass fail already")

    def test_two_plugins_at_once(self):
        run = shell(f"hlo-opt {self.plugin('faulty')} {self.plugin('example')} --list-passes=help")
        self.assertRegex(run.stdout, r"(?s)\nfail\tFails\.\n.*\ndrop-double-negation\tTakes a value for minus minus it\.")
        self.assertIn("integers-only: leave floats alone", run.stdout)

    def test_passes_of_plugins_are_passes(self):
        module = f"{a.example}/module.hlo"
        run = shell(f"hlo-opt {self.plugin('example')} {module} --passes='fix<drop-double-negation,dce>' --verify-each=interp --stats")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("add(%x, %x)", run.stdout)
        self.assertIn("double-negation: 1", run.stderr)
        run = shell(f"hlo-opt {self.plugin('example')} {module} --passes=drop-double-negtion")
        self.assertEqual(run.returncode, 2)
        self.assertIn("did you mean drop-double-negation", run.stderr.replace("'", ""))

    def test_other_tools_load_plugins(self):
        module = a.work / "module.hlo"
        module.write_text(MODULE)
        run = shell(f"hlo-run {self.plugin('faulty')} {module} --passes=miscompute --reference-platform=interpreter "
                    "--run-reference-hlo-passes=false")
        self.assertEqual(run.returncode, 1, run.stderr)
        run = shell(f"hlo-cost {self.plugin('faulty')} {module} --passes=fail")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("a planted fault", run.stderr)
        small = a.work / "small.hlo"
        run = shell(f"hlo-reduce {self.plugin('faulty')} {module} --passes=miscompute -o {small} --time-limit=60 -j1")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("cosine", small.read_text())

    def fails(self, name, words, source=None):
        """hlo-opt ends with status 3 and `words`; its reproducer does so again. Returns the reproducer's text."""
        reproducer = a.work / f"{name}.hlo"
        module = a.work / "module.hlo"
        module.write_text(MODULE)
        run = shell(f"hlo-opt {source or module} {self.plugin('faulty')} --passes='fix<dce>,{name},cse' --reproducer={reproducer}",
                    MODULE)
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertEqual(run.stdout, "")
        self.assertRegex(run.stderr, words)
        self.assertIn(str(reproducer), run.stderr)
        text = reproducer.read_text()
        command = re.match(r"// (hlo-opt .*)", text).group(1)
        self.assertIn(f"--passes={name}", command)
        again = shell(command + f" --reproducer={a.work}/again.hlo")
        self.assertEqual(again.returncode, 3, command + again.stderr)
        self.assertRegex(again.stderr, words.split(",")[0])
        return text

    def test_failures_leave_reproducers(self):
        text = self.fails("fail", "internal error: pass fail .*a planted fault")
        self.assertNotIn("cosine", text)  # dce had run
        self.assertIn("negate", text)
        self.assertRegex(text, r"// after \d+ steps of fix<dce>,fail,cse\n")
        self.assertRegex(text, r"// by: hlo-opt .*--passes='fix<dce>,fail,cse'")
        self.fails("break", "internal error: pass break .*the module is broken after")

    @unittest.skipIf(os.environ.get("HLOKIT_SANITIZE"), "sanitizers have handlers of their own")
    def test_crashes_leave_reproducers(self):
        for name, signal in (("crash", "SIGSEGV"), ("abort", "SIGABRT"), ("overflow", "SIGSEGV")):
            text = self.fails(name, f"internal error: {signal} in pass {name}, after 2 steps")
            self.assertNotIn("cosine", text)
            self.assertIn("negate", text)
            self.assertIn("// it crashed", text)
        self.fails("crash", "internal error: SIGSEGV in pass crash, after 2 steps", source="-")

    def test_wrong_values_leave_reproducers(self):
        module = a.work / "module.hlo"
        module.write_text(MODULE)
        reproducer = a.work / "values.hlo"
        for flags in ("--verify-each=interp", "--bisect"):
            reproducer.unlink(missing_ok=True)
            run = shell(f"hlo-opt {module} {self.plugin('faulty')} --passes=dce,miscompute {flags} --reproducer={reproducer}")
            self.assertEqual(run.returncode, 1, run.stderr)
            self.assertRegex(run.stderr, "miscompute")
            command = re.match(r"// (hlo-opt .*)", reproducer.read_text()).group(1)
            again = shell(command + f" --reproducer={a.work}/again.hlo")
            self.assertEqual(again.returncode, 1, command + again.stderr)

    def silent(self, flags, text=MODULE):
        module = a.work / "silent.hlo"
        module.write_text(text)
        return shell(f"hlo-opt {module} {self.plugin('faulty')} {flags} --reproducer={a.work}/silent.reproducer.hlo")

    def test_changes_that_passes_do_not_tell_of_are_faults(self):
        run = self.silent("--passes=cse,silent-miscompute,cse --verify-each=interp")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("silent-miscompute changed values and says that it changed nothing", run.stderr)
        for flag in ("--verify-each", "--verify-each=interp"):
            self.fails_silently("silent-rename", flag, "silent-rename changed the module and says that it changed nothing")
            self.fails_silently("silent-break", flag, "the module is broken after silent-break, which says that it changed nothing")

    def fails_silently(self, name, flag, words):
        run = self.silent(f"--passes=cse,{name} {flag}")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn(words, run.stderr)
        command = re.match(r"// (hlo-opt .*)", (a.work / "silent.reproducer.hlo").read_text()).group(1)
        again = shell(f"{command} --reproducer={a.work}/again.hlo")
        self.assertEqual(again.returncode, 3, command + again.stderr)
        self.assertIn(words, again.stderr)

    def test_bisect_finds_what_passes_do_not_tell_of(self):
        run = self.silent("--passes=cse,silent-miscompute,cse --bisect")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("step 2 is the first bad one, in silent-miscompute", run.stderr)

    def test_other_tools_find_what_passes_do_not_tell_of(self):
        module = a.work / "silent.hlo"
        module.write_text(MODULE)
        run = shell(f"hlo-run {self.plugin('faulty')} {module} --passes=silent-rename --verify-each")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("silent-rename changed the module and says that it changed nothing", run.stderr)
        for name in ("silent-rename", "silent-miscompute"):
            small = a.work / f"{name}.small.hlo"
            run = shell(f"hlo-reduce {self.plugin('faulty')} {module} --passes={name} -o {small} --time-limit=60 -j1")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(small.read_text().count(" = "), 2)

    def test_changes_that_passes_do_not_tell_of_are_shown(self):
        warning = "warning: pass silent-rename changed the module and says that it changed nothing"
        for flag, shown in (("--print-changed", r"// silent-rename changed\n.*\+  ROOT %renamed = "),
                            ("--print-after-all", r"// after silent-rename\n.*renamed"),
                            ("--explain=renamed", "silent-rename: made it in e"),
                            ("--stats", "silent-rename: ran 1, changed 1")):
            run = self.silent(f"--passes=cse,silent-rename,cse {flag}")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertRegex(run.stdout if flag.startswith("--explain") else run.stderr, "(?s)" + shown)
            self.assertEqual(run.stderr.count(warning), 1, run.stderr)
        folder = a.work / "dumps"
        run = self.silent(f"--passes=cse,silent-rename,cse --dump-to={folder}")
        self.assertIn(warning, run.stderr)
        dump, = folder.glob("*after_silent-rename.before_cse.txt")
        self.assertIn("%renamed = ", dump.read_text())

    def test_changes_that_did_not_happen_are_told(self):
        warning = "warning: pass boast changed nothing and says that it changed the module"
        for flag in ("--verify-each", "--verify-each=interp", "--print-changed", "--stats"):
            run = self.silent(f"--passes=boast,cse,boast {flag}")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stderr.count(warning), 1, run.stderr)
        run = self.silent("--passes='fix<boast,dce>' --stats")
        self.assertIn("boast says that it changes what it does not", run.stderr)
        run = self.silent("--passes=boast,silent-rename")
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_schedules_that_name_what_is_gone_are_dropped(self):
        scheduled = MODULE.replace("HloModule m", "HloModule m, is_scheduled=true")
        run = self.silent("--passes=silent-remove", scheduled)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("is_scheduled", run.stdout)
        self.assertNotIn("cosine", run.stdout)
        run = self.silent("--passes=silent-rename", scheduled)
        self.assertIn("is_scheduled", run.stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("--bin", "--plugins", "--example", "--work"):
        parser.add_argument(flag, type=pathlib.Path, required=True)
    a = parser.parse_args()
    a.work.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1])
# SPDX-License-Identifier: Apache-2.0
