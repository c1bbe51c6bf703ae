#!/usr/bin/env python3
"""JAX on hlokit beside JAX's own CPU: the same small programs, in two processes, give the same results.

  jax_plugin_test.py --lib FILE [--python PYTHON]

Exit status: 0 all agree, 1 one does not, 77 PYTHON has no jax of a tested version.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = r"""
import sys
import jax, jax.numpy as jnp, numpy as np
key = jax.random.key(1)
x = jnp.arange(12.0).reshape(3, 4)
spd = x @ x.T + 10 * jnp.eye(3)
def loss(w): return jnp.sum(jnp.tanh(x @ w) ** 2)
results = {
    "arange": x,
    "sin": jax.jit(jnp.sin)(x),
    "dot": jnp.dot(x, x.T),
    "grad": jax.grad(loss)(jnp.ones((4, 2))),
    "vmap": jax.vmap(lambda r: jnp.cumsum(r)[::-1])(x),
    "scan": jax.lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(4), x)[1],
    "while": jax.lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 2), (0, jnp.ones(3)))[1],
    "cond": jax.lax.cond(x[0, 1] > 0, lambda v: v + 1, lambda v: v - 1, x),
    "sort": jnp.sort(jnp.sin(x * 7)),
    "argmax": jnp.argmax(jnp.sin(x * 3), axis=1),
    "random": jax.random.normal(key, (8,)),
    "ints": jnp.arange(5) // 2 + jnp.array([1, 2, 3, 4, 5], jnp.int32),
    "bf16": (x.astype(jnp.bfloat16) * 3).astype(jnp.float32),
    "bool": x > 3,
    "complex": jnp.exp(1j * x),
    "fft": jnp.abs(jnp.fft.fft(x)),
    "cholesky": jnp.linalg.cholesky(spd),
    "solve": jnp.linalg.solve(spd, jnp.ones(3)),
    "eigvalsh": jnp.linalg.eigvalsh(spd),
    "scatter": x.at[1, 2].add(5.0),
    "empty": jnp.zeros((0, 3)),
    "donated": jax.jit(lambda v: v + 1, donate_argnums=0)(jnp.ones(5)),
    "tuple": jax.jit(lambda v: (v, v + 1))(x)[1],
}
results["platform"] = np.array([jax.devices()[0].platform == sys.argv[2]])
try:
    jax.jit(lambda v: v)(jnp.ones(3)).delete()
    jnp.add(jnp.ones(3), jnp.ones(4))
    raise SystemExit("shapes that do not match were added")
except TypeError:
    pass
np.savez(sys.argv[1], **{k: np.asarray(v) for k, v in results.items()})
"""


def run(python, platform, out, **environment):
    return subprocess.run([python, "-c", PROGRAMS, out, platform], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "JAX_PLATFORMS": platform, **environment}, check=False)


def compare(ours, theirs):
    wrong = 0
    for name in theirs.files:
        a, b = ours[name], theirs[name]
        same = a.shape == b.shape and a.dtype == b.dtype
        if not same or not numpy.allclose(a, b, rtol=2e-5, atol=2e-6, equal_nan=True):
            wrong += 1
            print(f"{name}: {a!r} instead of {b!r}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", required=True)
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    version = subprocess.run([arguments.python, "-c", "import jax; print(jax.__version__)"], capture_output=True, text=True, check=False)
    if version.returncode != 0 or numpy is None:
        print("skipped: no jax")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        theirs = run(arguments.python, "cpu", f"{folder}/cpu.npz")
        ours = run(arguments.python, "hlokit", f"{folder}/hlokit.npz", PYTHONPATH=str(ROOT / "python"),
                   HLOKIT_PJRT_LIBRARY=arguments.lib)
        for done in (theirs, ours):
            if done.returncode != 0:
                print(done.stderr[-3000:])
                return 1
        with numpy.load(f"{folder}/hlokit.npz") as a, numpy.load(f"{folder}/cpu.npz") as b:
            wrong = compare(a, b)
            print(f"{len(b.files)} results of JAX {version.stdout.strip()}, {wrong} differ")
            return 1 if wrong else 0


try:
    import numpy
except ImportError:
    numpy = None

if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
