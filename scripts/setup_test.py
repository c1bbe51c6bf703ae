"""Tests setup.sh with made-up dpkg-query, apt-get and sudo: what it installs, and when it fetches the lists."""
import os
import pathlib
import subprocess
import tempfile
import unittest

SETUP = pathlib.Path(__file__).with_name("setup.sh")
PACKAGES = [line for line in SETUP.with_name("packages.txt").read_text().splitlines() if not line.startswith("#")]

DPKG_QUERY = """#!/bin/sh
for package in $PRESENT; do echo "installed $package"; done
echo "not-installed gone-but-known"
exit 1
"""
# Fails to install until the lists were fetched; logs its calls.
APT_GET = """#!/bin/sh
echo "apt-get $*" >> "$STATE/log"
case "$1" in
  update) touch "$STATE/lists";;
  install) [ -e "$STATE/lists" ] && [ -z "$BROKEN" ];;
esac
"""


def run_setup(present, lists=False, broken=""):
    """(exit status, standard error, apt-get's calls) of setup.sh where `present` packages are installed."""
    with tempfile.TemporaryDirectory() as tmp:
        state = pathlib.Path(tmp)
        for name, text in {"dpkg-query": DPKG_QUERY, "apt-get": APT_GET}.items():
            state.joinpath(name).write_text(text)
            state.joinpath(name).chmod(0o755)
        if lists:
            state.joinpath("lists").touch()
        env = dict(os.environ, PATH=f"{tmp}:{os.environ['PATH']}", PRESENT=" ".join(present), STATE=tmp, BROKEN=broken)
        done = subprocess.run(["bash", SETUP], env=env, capture_output=True, text=True, check=False)
        log = state / "log"
        return done.returncode, done.stderr, log.read_text().splitlines() if log.exists() else []


@unittest.skipUnless(os.geteuid() == 0, "as another user it asks sudo")
class Setup(unittest.TestCase):
    def test_does_nothing_where_all_is_there(self):
        self.assertEqual(run_setup(PACKAGES), (0, "", []))

    def test_installs_what_is_missing(self):
        status, errors, calls = run_setup(PACKAGES[1:], lists=True)
        self.assertEqual((status, errors), (0, f"setup.sh: installing {PACKAGES[0]}\n"))
        self.assertEqual(len(calls), 1)
        self.assertTrue(calls[0].endswith(f"--no-install-recommends {PACKAGES[0]}"), calls)

    def test_fetches_lists_where_there_are_none(self):
        status, _, calls = run_setup([])
        self.assertEqual(status, 0)
        self.assertEqual([call.split()[1] for call in calls], ["install", "update", "install"])
        for package in PACKAGES:
            self.assertIn(f" {package}", calls[2])

    def test_says_what_it_could_not_install(self):
        status, errors, _ = run_setup(PACKAGES[2:], broken="yes")
        self.assertEqual(status, 1)
        self.assertIn(f"could not install: {PACKAGES[0]} {PACKAGES[1]}", errors)

    def test_packages_are_named_once(self):
        self.assertEqual(len(PACKAGES), len(set(PACKAGES)))


if __name__ == "__main__":
    unittest.main()
# SPDX-License-Identifier: Apache-2.0
