"""Tests what compare.py makes of figures that earlier calls kept: no program runs, for the time is over when it begins."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMPARE = pathlib.Path(__file__).with_name("compare.py")
MEASURE = COMPARE.with_name("measure.py")


def page_of(kept, *options):
    """(exit status, the page, errors) of a call that has no time left."""
    with tempfile.TemporaryDirectory() as tmp:
        keep, page = pathlib.Path(tmp, "keep.json"), pathlib.Path(tmp, "page.md")
        keep.write_text(json.dumps(kept), encoding="utf-8")
        done = subprocess.run([sys.executable, COMPARE, "--bin", tmp, "--peers", "hlokit,hlokit_fresh,xla", "--limit", "0",
                               "--keep", keep, "--page", page, *options], capture_output=True, text=True, check=False)
        return done.returncode, page.read_text(encoding="utf-8"), done.stderr


class Pages(unittest.TestCase):
    def test_kept_figures_have_rows_and_ratios(self):
        status, page, _ = page_of({"dlrm": [{"hlokit": 0.002, "hlokit_fresh": 0.004, "xla": 0.008}, {}],
                                   "lstm": [{"hlokit": 0.001, "hlokit_fresh": 0.001, "xla": 0.001}, {}]})
        self.assertEqual(status, 0)
        self.assertIn("| dlrm | 2 | 4 | 8 | 4.00 | 2.00 |", page)
        self.assertIn("| geometric mean |  |  |  | 2.00 | 1.41 |", page)

    def test_what_has_no_row_is_named(self):
        _, page, _ = page_of({"dlrm": [{"hlokit": 0.002, "xla": 0.008}, {}]})
        self.assertRegex(page, "Not measured this time: resnet50_1, .*lstm")
        self.assertNotRegex(page, "Not measured this time: .*dlrm")
        self.assertNotIn("| lstm", page)

    def test_a_missing_peer_leaves_a_cell_empty_and_a_wrong_one_fails(self):
        status, page, errors = page_of({"dlrm": [{"hlokit": 0.002}, {"xla": "longer than 9 s"}]})
        self.assertEqual(status, 0)
        self.assertIn("| dlrm | 2 |  |  |  |  |", page)
        self.assertIn("dlrm, xla: longer than 9 s", errors)
        status, _, _ = page_of({"dlrm": [{"hlokit": 0.002, "xla": 0.008}, {"hlokit": "differs from xla by 0.5"}]})
        self.assertEqual(status, 1)

    def test_a_worker_answers_each_line_and_nothing_else(self):
        with tempfile.TemporaryDirectory() as tmp:
            lines = "prepare lstm xla\nrun xla 0.01\nprepare bert_training_step openvino\nforget\nprepare dlrm xla\n"
            done = subprocess.run([sys.executable, MEASURE, "--serve", "--small", "--out", tmp], input=lines, capture_output=True,
                                  text=True, check=False)
            answers = [json.loads(line) for line in done.stdout.splitlines()]
            self.assertEqual([sorted(x) for x in answers],
                             [["compile_s", "peer"], ["peer", "run_s"], ["fault", "peer"], [], ["compile_s", "peer"]], done.stderr)
            self.assertEqual(sorted(p.name for p in pathlib.Path(tmp).iterdir()), ["dlrm.xla.npz", "lstm.xla.npz"])

    def test_only_the_programs_asked_for(self):
        kept = {name: [{"hlokit": 0.002, "xla": 0.008}, {}] for name in ("dlrm", "lstm")}
        _, page, _ = page_of(kept, "--programs", "lstm")
        self.assertIn("| lstm |", page)
        self.assertNotIn("| dlrm |", page)


if __name__ == "__main__":
    if subprocess.run([sys.executable, COMPARE, "--bin", ".", "--peers", "xla", "--limit", "0"], capture_output=True, check=False).returncode == 77:
        sys.exit(77)  # this Python lacks what compare.py needs
    unittest.main()
# SPDX-License-Identifier: Apache-2.0
