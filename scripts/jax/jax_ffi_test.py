#!/usr/bin/env python3
"""jax.ffi on hlokit: handlers in C++, compiled with the headers that jaxlib ships, run as custom calls of jitted functions.

  jax_ffi_test.py --lib FILE [--python PYTHON] [--cxx COMPILER]

Exit status: 0 all as expected, 1 not, 77 PYTHON has no jax or there is no compiler.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = r"""
import ctypes, gc, sys
import jax, jax.numpy as jnp, numpy as np
handlers, platform, early = ctypes.CDLL(sys.argv[1]), sys.argv[2], sys.argv[3] == "early"
if not early: jax.devices()
for function in (handlers.CounterTypeId, handlers.CounterTypeInfo): function.restype = ctypes.c_void_p
def capsule(pointer):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(pointer, None, None)
ffi = jax.ffi
handler = lambda name: ffi.pycapsule(getattr(handlers, name + "Handler"))
ffi.register_ffi_type("Counter", {"type_id": capsule(handlers.CounterTypeId()), "type_info": capsule(handlers.CounterTypeInfo())}, platform=platform)
ffi.register_ffi_target("count", {"instantiate": handler("MakeCounter"), "execute": handler("Count")}, platform=platform)
for name in ("Scale", "InPlace", "Scratch", "Later", "Lent", "RunIdOf"): ffi.register_ffi_target(name, handler(name), platform=platform)
ffi.register_ffi_target("Triple", ffi.pycapsule(handlers.Triple), platform=platform, api_version=0)
array = lambda *dims, dtype=np.float32: jax.ShapeDtypeStruct(dims, dtype)
x = jnp.arange(4.)
def scale(x, mode="plain", factor=np.float32(2.5)):
    return ffi.ffi_call("Scale", array(4), vmap_method="sequential")(x, factor=factor, mode=mode, dims=np.array([7, 8]), more={"k": np.int32(1000)}, flag=True)
def refused(function, *texts):
    try:
        jax.block_until_ready(jax.jit(function)(x))
    except jax.errors.JaxRuntimeError as error:
        assert all(text in str(error) for text in texts), str(error)
    else:
        raise SystemExit(f"nothing was refused for {texts}")
np.testing.assert_array_equal(jax.jit(scale)(x), [1107, 1109.5, 1112, 1114.5])
np.testing.assert_array_equal(jax.vmap(scale)(jnp.ones((2, 4))), np.full((2, 4), 1109.5))
refused(lambda v: scale(v, "bad"), "Scale", "mode is bad")
refused(lambda v: scale(v, factor=True), "Scale", "expected F32 but got PRED")
refused(lambda v: ffi.ffi_call("Later", array(1))(v.astype(jnp.int8)), "Later")
refused(lambda v: ffi.ffi_call("Nothing", array(1))(v), '"Nothing" is not known here')
counter = lambda: ffi.ffi_call("count", array(1, dtype=np.int32), has_side_effect=True)(start=5)
count, two = jax.jit(counter), jax.jit(lambda: (counter(), counter()))
loop = jax.jit(lambda: jax.lax.fori_loop(0, 3, lambda i, total: total + counter(), jnp.zeros(1, np.int32)))
assert [int(count()[0]) for _ in range(3)] == [5, 6, 7]
assert [[int(v[0]) for v in two()] for _ in range(2)] == [[5, 5], [6, 6]]  # a state a call site
assert [int(loop()[0]) for _ in range(2)] == [18, 27]
assert handlers.Deleted() == 0
del count, two, loop
jax.clear_caches()
gc.collect()
assert handlers.Deleted() == 4, handlers.Deleted()  # states go with their programs
refused(lambda v: ffi.ffi_call("Lent", array(1))(), "User data with type id 1234 not found in execution context")
run_id = lambda n: ffi.ffi_call("RunIdOf", array(1, dtype=np.int32), has_side_effect=True)(n=n)
run_ids = jax.jit(lambda: (run_id(1), run_id(2)))
(a, b), (c, d) = run_ids(), run_ids()
assert a == b and c == d and a != c, (a, b, c, d)
np.testing.assert_array_equal(jax.jit(lambda v: ffi.ffi_call("InPlace", array(4), input_output_aliases={0: 0})(v))(x), x + 1)
assert float(jax.jit(lambda v: ffi.ffi_call("Scratch", array(1))(v))(x + 1)[0]) == 2
assert float(jax.jit(lambda v: ffi.ffi_call("Later", array(1))(v))(jnp.ones(1))[0]) == -1
assert float(jax.jit(lambda v: ffi.ffi_call("Triple", array(1), custom_call_api_version=1)(v))(jnp.ones(1))[0]) == 3
assert jax.devices()[0].platform == "hlokit"
print("handlers for", platform, sys.argv[3], "run")
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--cxx", default="c++")
    arguments = parser.parse_args()
    found = subprocess.run([arguments.python, "-c", "import jax.ffi; print(jax.ffi.include_dir())"], capture_output=True, text=True, check=False)
    if found.returncode != 0 or shutil.which(arguments.cxx) is None:
        print("skipped: no jax, or no compiler")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/handlers.so"
        subprocess.run([arguments.cxx, "-std=c++17", "-w", "-shared", "-fPIC", f"-I{found.stdout.strip()}", str(ROOT / "scripts/jax/jax_ffi_handlers.cc"),
                        "-o", library], check=True)
        environment = {**os.environ, "JAX_PLATFORMS": "hlokit", "PYTHONPATH": str(ROOT / "python"), "HLOKIT_PJRT_LIBRARY": arguments.lib}
        for platform, when in (("hlokit", "early"), ("hlokit", "late"), ("cpu", "late")):
            done = subprocess.run([arguments.python, "-c", PROGRAM, library, platform, when], env=environment, capture_output=True, text=True,
                                  timeout=300, check=False)
            print(done.stdout, end="")
            if done.returncode != 0:
                print(done.stderr[-3000:])
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
