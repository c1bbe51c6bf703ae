#!/usr/bin/env python3
"""The Python package hlokit: modules read, printed, verified, transformed, compiled and run on numpy arrays.

  python_package_test.py --lib FILE

Exit status: 0 all as it should be, 1 not, 77 this Python has no numpy.
"""
import argparse
import ast
import importlib
import importlib.util
import inspect
import os
import pathlib
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = """HloModule sums
ENTRY e {
  x = f32[2,3] parameter(0)
  y = f32[2,3] parameter(1)
  one = f32[2,3] broadcast(f32[] constant(1)), dimensions={}
  s = f32[2,3] add(x, y)
  t = f32[2,3] multiply(s, one)
  k = s32[2] constant({7, 8})
  ROOT r = (f32[2,3], (s32[2])) tuple(t, (s32[2]) tuple(k))
}
"""
BROKEN = "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[3] negate(x)\n}\n"
STABLEHLO = """module @twice {
  func.func @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
"""


class PackageTest(unittest.TestCase):
    def test_stubs_have_every_public_name_with_its_parameters(self):
        for name, module in (("__init__", hlokit), ("builder", hlokit.builder)):
            tree = ast.parse((ROOT / "python" / "hlokit" / f"{name}.pyi").read_text(encoding="utf-8"))
            for stub in (node for node in tree.body if isinstance(node, ast.ClassDef)):
                told = {node.name: node.args for node in stub.body if isinstance(node, ast.FunctionDef)}
                for member, value in vars(getattr(module, stub.name)).items():
                    if member.startswith("_") and member != "__init__":
                        continue
                    if not callable(value) and not isinstance(value, (property, classmethod)):
                        continue
                    self.assertIn(member, told, stub.name)
                    if isinstance(value, property):
                        continue
                    parameters = inspect.signature(getattr(value, "__func__", value)).parameters
                    arguments = told[member]
                    stubbed = [a.arg for a in arguments.args + arguments.kwonlyargs + [a for a in (arguments.vararg, arguments.kwarg) if a]]
                    self.assertCountEqual(stubbed, parameters, f"{stub.name}.{member}")
        for name in hlokit.__all__:
            self.assertIn(name, (ROOT / "python" / "hlokit" / "__init__.pyi").read_text(encoding="utf-8"))

    def test_prints_what_it_reads(self):
        module = hlokit.Module.parse(TEXT)
        self.assertIn("ROOT %r = (f32[2,3]{1,0}, (s32[2]{0})) tuple(", str(module))
        self.assertEqual(module, hlokit.Module.parse(str(module)))
        self.assertEqual(repr(module), "<hlokit.Module sums>")
        module.verify()

    def test_loads_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "twice.mlir"
            path.write_text(STABLEHLO, encoding="utf-8")
            self.assertEqual(hlokit.Module.load(path)(np.arange(3, dtype=np.float32)).tolist(), [0, 2, 4])

    def test_runs(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        program = hlokit.Module.parse(TEXT).compile()
        self.assertEqual(program.parameter_shapes, ["f32[2,3]{1,0}"] * 2)
        total, (k,) = program(x, x.T.copy().T)  # strided as well
        np.testing.assert_array_equal(total, 2 * x)
        np.testing.assert_array_equal(k, np.array([7, 8], np.int32))
        same, _ = hlokit.Module.parse(TEXT)(x, x.tolist(), platform="interpreter")
        np.testing.assert_array_equal(same, total)

    def test_passes_give_another_module(self):
        module = hlokit.Module.parse(TEXT)
        simpler = module.passes("algsimp", "dce")
        self.assertIn("broadcast", str(module))
        self.assertNotIn("broadcast", str(simpler))

    def test_diffs_and_html(self):
        module = hlokit.Module.parse(TEXT)
        simpler = module.passes("algsimp", "dce")
        self.assertEqual(module.diff(module), "")
        changed = [line for line in module.diff(simpler).splitlines() if line.startswith("-") and "broadcast(" in line]
        self.assertEqual(len(changed), 1)
        self.assertIn("<b>multiply</b>(", module._colored_text())
        self.assertNotIn("->", module._colored_text())  # escaped

    def test_builder(self):
        b = hlokit.Builder("scores")
        x, w = b.parameter("f32[2,3]", "x"), b.parameter("f32[3,4]", "w")
        y = b.op("dot", x, w, lhs_contracting_dims=[1], rhs_contracting_dims=[0])
        self.assertEqual(y.shape, "f32[2,4]{1,0}")
        total = b.op("reduce", -(2.0 * y + 1.0) / 2.0, np.float32(0), dimensions=[1], calls=[hlokit.reducer("add", "f32")])
        module = b.build(b.op("tuple", total, b.op("iota", shape="s32[3]", iota_dimension=0), b.binary("compare", x, 1.0, attributes="direction=LT")))
        module.verify()
        ones = np.ones((2, 3), np.float32), np.ones((3, 4), np.float32)
        sums, iota, less = module(*ones)
        self.assertEqual((sums.tolist(), iota.tolist(), less.any()), ([-14.0, -14.0], [0, 1, 2], False))
        with self.assertRaisesRegex(hlokit.Error, "add"):
            b.op("add", x, w)
        with self.assertRaisesRegex(hlokit.Error, "another builder"):
            hlokit.Builder().op("negate", x)

    def test_tools_tell_of_a_module(self):
        if not (pathlib.Path(os.environ["HLOKIT_PJRT_LIBRARY"]).resolve().parents[1] / "bin" / "hlo-cost").exists():
            self.skipTest("no tools beside the library")
        module = hlokit.Module.parse(TEXT)
        x = np.ones((2, 3), np.float32)
        self.assertEqual(module.cost()["total"]["flops"], 12)
        self.assertEqual({row["opcode"] for row in module.cost(by="opcode")["rows"]}, {"add", "multiply", "broadcast"})
        self.assertGreater(sum(row["microseconds"] for row in module.profile(x, x)), 0)
        self.assertIn("agree", module.bisect(x, x))
        small = module.reduce("grep -q multiply {}")
        self.assertIn("multiply", str(small))
        self.assertLess(len(str(small)), len(str(module)))
        with tempfile.TemporaryDirectory() as folder:
            page = module.to_html(pathlib.Path(folder) / "page.html")
            self.assertTrue(page.startswith("<!DOCTYPE html>"))
            self.assertEqual((pathlib.Path(folder) / "page.html").read_text(encoding="utf-8"), page)
        shown = module._repr_html_()
        self.assertTrue(shown.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;'))
        self.assertEqual(shown.count("<"), 2)  # the page is escaped
        with self.assertRaises(hlokit.Error):
            module.cost(by="weight")

    def test_dumps(self):
        module = hlokit.Module.parse(TEXT)
        with tempfile.TemporaryDirectory() as folder:
            texts = {"0000.simplification.after_pipeline-start.before_algsimp": module, "0001.simplification.after_algsimp.before_dce":
                     module.passes("algsimp"), "0002.simplification.after_dce.before_pipeline-end": module.passes("algsimp", "dce")}
            for name, text in texts.items():
                (pathlib.Path(folder) / f"module_0001.sums.{name}.txt").write_text(str(text), encoding="utf-8")
            (pathlib.Path(folder) / "module_0001.sums.cpu_after_optimizations.txt").write_text(TEXT, encoding="utf-8")
            dump = hlokit.Dump(folder)
            self.assertEqual(dump.modules, ["module_0001.sums"])
            self.assertEqual([step.name for step in dump.passes], ["algsimp", "dce"])
            self.assertTrue(dump.passes[0].changed)
            self.assertIn("multiply(", dump.passes[0].diff())
            self.assertEqual(dump.passes[1].after, texts["0002.simplification.after_dce.before_pipeline-end"])
            self.assertIn("after", dump.files["module_0001.sums"])
            with self.assertRaises(KeyError):
                hlokit.Dump(folder, module="other")
        with self.assertRaises(FileNotFoundError):
            hlokit.Dump(folder)

    def test_takes_arrays_of_others(self):
        class Other:  # an array that knows DLPack alone
            def __init__(self, array):
                self.array, self.dtype = array, array.dtype

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        x = np.ones((2, 3), np.float32)
        np.testing.assert_array_equal(hlokit.Module.parse(TEXT)(Other(x), x)[0], 2 * x)

    def test_errors_have_places(self):
        with self.assertRaises(hlokit.Error) as caught:
            hlokit.Module.parse("HloModule m\nENTRY e {\n  ROOT x = f32[2] parametre(0)\n}\n", name="my.hlo")
        self.assertEqual((caught.exception.file, caught.exception.line), ("my.hlo", 3))
        with self.assertRaises(hlokit.Error) as caught:
            hlokit.Module.parse(BROKEN, name="my.hlo").verify()
        self.assertEqual((caught.exception.file, caught.exception.line), ("my.hlo", 4))
        with self.assertRaisesRegex(hlokit.Error, "no-such-pass"):
            hlokit.Module.parse(TEXT).passes("no-such-pass")
        with self.assertRaises(hlokit.Error):
            hlokit.Module.parse(BROKEN).compile()
        with self.assertRaises(hlokit.Error):
            hlokit.Module.parse(TEXT).compile(platform="abacus")
        with self.assertRaises(hlokit.Error):
            hlokit.Module.parse(b"\x00\x01damaged")

    def test_arguments_are_checked(self):
        program = hlokit.Module.parse(TEXT).compile()
        x = np.zeros((2, 3), np.float32)
        for wrong in [(x,), (x, x.T), (x, x.astype(np.float64)), (x, x[:1])]:
            with self.assertRaises(hlokit.Error):
                program(*wrong)

    def test_results_are_arrays_of_their_own(self):
        text = """HloModule m
ENTRY e {
  x = f32[128,256] parameter(0)
  y = f32[128,256] negate(x)
  k = s32[3] constant({1, 2, 3})
  ROOT r = (f32[128,256], f32[128,256], f32[128,256], s32[3], f32[0,2], pred[]) tuple(x, y, y, k, f32[0,2] constant({}), pred[] constant(true))
}
"""
        for platform in ("cpu", "interpreter"):
            program = hlokit.Module.parse(text).compile(platform)
            x = np.arange(128 * 256, dtype=np.float32).reshape(128, 256)
            for aligned in (x, np.concatenate([[0], x.ravel()]).astype(np.float32)[1:].reshape(128, 256)):
                results = program(aligned)
                for i, changed in enumerate(results):
                    changed[...] = 0
                    for j, other in enumerate(results):
                        if j > i and other.size:
                            self.assertTrue(other.any(), f"{platform}: result {j} changed with {i}")
                self.assertTrue(aligned.any(), f"{platform}: the argument changed with a result")
            again = program(x)
            del program
            self.assertEqual(again[3].tolist(), [1, 2, 3])
            np.testing.assert_array_equal(again[1], -x)
            self.assertEqual((again[4].shape, again[5].shape, bool(again[5])), ((0, 2), (), True))

    def test_programs_are_kept_as_bytes(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        data = hlokit.Module.parse(TEXT).compile().serialize()
        np.testing.assert_array_equal(hlokit.Program.deserialize(data)(x, x)[0], 2 * x)
        for damaged in (b"", data[:100], data[:-1], b"\0" * len(data)):
            with self.assertRaises(hlokit.Error):
                hlokit.Program.deserialize(damaged)

    def test_several_devices(self):
        text = """HloModule m, replica_count=4
a { p = f32[] parameter(0) q = f32[] parameter(1) ROOT s = f32[] add(p, q) }
ENTRY e { x = f32[3] parameter(0) r = f32[3] all-reduce(x), to_apply=a ROOT t = (f32[3], u32[]) tuple(r, u32[] replica-id()) }
"""
        program = hlokit.Module.parse(text).compile()
        self.assertEqual(program.device_count, 4)
        results = program.on_devices([[np.full(3, i, np.float32)] for i in range(4)])
        self.assertEqual([(total.tolist(), int(replica)) for total, replica in results], [([6, 6, 6], i) for i in range(4)])
        with self.assertRaisesRegex(hlokit.Error, "4 devices"):
            program(np.zeros(3, np.float32))
        with self.assertRaisesRegex(hlokit.Error, "of 3 devices"):
            program.on_devices([[np.zeros(3, np.float32)]] * 3)
        with self.assertRaisesRegex(hlokit.Error, "argument 0"):
            program.on_devices([[np.zeros(2, np.float32)]] * 4)

    def test_threads_call_one_program(self):
        program = hlokit.Module.parse(TEXT).compile()
        found = [None] * 8

        def run(i):
            x = np.full((2, 3), i, np.float32)
            found[i] = all(float(program(x, x)[0].sum()) == 12 * i for _ in range(50))

        threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [True] * 8)

    def test_element_types(self):
        dtypes = importlib.import_module("hlokit.dtypes")
        types = dict(dtypes._TYPES)
        if importlib.util.find_spec("ml_dtypes"):
            types |= {element: dtypes.dtype_of(element) for element in dtypes._ML_TYPES if element[0] != "u" and element != "f8e8m0fnu"}
        for element, dtype in types.items():
            text = f"HloModule m\nENTRY e {{\n  ROOT x = {element}[2,2] parameter(0)\n}}\n"
            x = np.array([[0, 1], [1, 0]]).astype(dtype)
            result = hlokit.Module.parse(text)(x)
            self.assertEqual(result.dtype, x.dtype)
            np.testing.assert_array_equal(result, x)

    @unittest.skipUnless(importlib.util.find_spec("jax"), "no jax")
    def test_lowers_functions_of_jax(self):
        import jax.numpy as jnp

        x = np.arange(4, dtype=np.float32)
        module = hlokit.from_jax(lambda v: jnp.sin(v) + jnp.cumsum(v), x)
        np.testing.assert_allclose(module(x), np.sin(x) + np.cumsum(x), rtol=1e-6)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", required=True)
    arguments = parser.parse_args()
    try:
        import numpy as np
    except ImportError:
        print("skipped: no numpy")
        sys.exit(77)
    os.environ["HLOKIT_PJRT_LIBRARY"] = arguments.lib
    sys.path.insert(0, str(ROOT / "python"))
    hlokit = importlib.import_module("hlokit")
    unittest.main(argv=[sys.argv[0]])
# SPDX-License-Identifier: Apache-2.0
