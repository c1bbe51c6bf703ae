#!/usr/bin/env python3
"""Programs on packages of PyPI (diffrax, numpyro, jaxopt, haiku, flax.nnx, optax with donation) on hlokit and on JAX's CPU: losses agree.

  jax_packages.py --lib FILE [--python PYTHON]

A program whose package PYTHON lacks is left out by name. Exit status: 0 all losses agree within 1e-3, 1 one does not, 77 no jax.
"""
import argparse
import functools
import json
import logging
import os
import pathlib
import subprocess
import sys
import warnings

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    jax = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


@program
def diffrax():
    import diffrax, equinox as eqx, optax
    def solve(th): return diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, a: -a * y), diffrax.Tsit5(), 0., 1., .1, jnp.ones(2), args=th, max_steps=64).ys[0]
    f = jax.jit(jax.value_and_grad(lambda th: jnp.sum((solve(th) - .3) ** 2))); th = jnp.array([1., .5]); o = []
    for _ in range(5): l, g = f(th); th = th - .5 * g; o.append(float(l))
    return o


@program
def numpyro():
    import numpyro, numpyro.distributions as dist; from numpyro.infer import SVI, Trace_ELBO
    from numpyro.infer.autoguide import AutoNormal
    x = jnp.linspace(-1, 1, 20); y = 2 * x + .1
    def model(x, y):
        w = numpyro.sample("w", dist.Normal(0, 1)); b = numpyro.sample("b", dist.Normal(0, 1)); numpyro.sample("y", dist.Normal(w * x + b, .1), obs=y)
    svi = SVI(model, AutoNormal(model), numpyro.optim.Adam(.05), Trace_ELBO()); s = svi.init(jax.random.key(0), x, y); o = []
    up = jax.jit(svi.update)
    for _ in range(5): s, l = up(s, x, y); o.append(float(l))
    return o


@program
def nuts():
    import numpyro, numpyro.distributions as dist; from numpyro.infer import MCMC, NUTS
    def model(): numpyro.sample("x", dist.Normal(1, 2))
    m = MCMC(NUTS(model), num_warmup=30, num_samples=30, progress_bar=False); m.run(jax.random.key(0)); return [float(m.get_samples()["x"].mean())]


@program
def jaxopt():
    import jaxopt
    X = jax.random.normal(jax.random.key(0), (30, 4)); y = X @ jnp.arange(4.) 
    r = jaxopt.LBFGS(lambda w: jnp.mean((X @ w - y) ** 2), maxiter=20).run(jnp.zeros(4)); q = jaxopt.GradientDescent(lambda w: jnp.mean((X @ w - y) ** 2), maxiter=20).run(jnp.zeros(4))
    return [float(r.params.sum()), float(q.params.sum())]


@program
def haiku():
    import haiku as hk, optax
    net = hk.transform_with_state(lambda x: hk.Sequential([hk.Linear(16), jax.nn.relu, hk.Linear(1)])(hk.BatchNorm(True, True, .9)(x, is_training=True)))
    x = jax.random.normal(jax.random.key(0), (32, 5)); y = x.sum(1, keepdims=True); p, s = net.init(jax.random.key(1), x); opt = optax.adam(1e-2); os = opt.init(p); o = []
    @jax.jit
    def step(p, s, os):
        (l, s), g = jax.value_and_grad(lambda p: (lambda r: (jnp.mean((r[0] - y) ** 2), r[1]))(net.apply(p, s, None, x)), has_aux=True)(p); u, os = opt.update(g, os); return optax.apply_updates(p, u), s, os, l
    for _ in range(5): p, s, os, l = step(p, s, os); o.append(float(l))
    return o


@program
def nnx():
    from flax import nnx; import optax
    class M(nnx.Module):
        def __init__(self, rngs): self.a = nnx.Linear(5, 16, rngs=rngs); self.d = nnx.Dropout(.1, rngs=rngs); self.b = nnx.Linear(16, 1, rngs=rngs)
        def __call__(self, x): return self.b(self.d(jax.nn.gelu(self.a(x))))
    m = M(nnx.Rngs(0)); opt = nnx.Optimizer(m, optax.adamw(1e-2), wrt=nnx.Param); x = jax.random.normal(jax.random.key(0), (32, 5)); o = []
    @nnx.jit
    def step(m, opt): l, g = nnx.value_and_grad(lambda m: jnp.mean((m(x) - 1) ** 2))(m); opt.update(m, g); return l
    for _ in range(5): o.append(float(step(m, opt)))
    return o


@program
def donate():
    import optax
    opt = optax.lion(1e-2); p = {"w": jax.random.normal(jax.random.key(0), (64, 64)), "b": jnp.zeros(64)}; s = opt.init(p); x = jax.random.normal(jax.random.key(1), (16, 64)); o = []
    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(p, s): l, g = jax.value_and_grad(lambda p: jnp.mean(jnp.tanh(x @ p["w"] + p["b"]) ** 2))(p); u, s = opt.update(g, s, p); return optax.apply_updates(p, u), s, l
    for _ in range(10): p, s, l = step(p, s); o.append(float(l))
    return o


def worker():
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    for name, run in PROGRAMS.items():
        try:
            print(json.dumps([name, run()]), flush=True)
        except ModuleNotFoundError as error:
            print(json.dumps([name, str(error)]), flush=True)


def losses(python, **environment):
    done = subprocess.run([python, __file__, "--worker"], capture_output=True, text=True, timeout=900, check=False, env={**os.environ, **environment})
    if done.returncode != 0:
        print(done.stderr[-3000:])
    return dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        worker()
        return 0
    if subprocess.run([arguments.python, "-c", "import jax"], capture_output=True, check=False).returncode != 0:
        print("skipped: no jax")
        return 77
    theirs = losses(arguments.python, JAX_PLATFORMS="cpu")
    ours = losses(arguments.python, JAX_PLATFORMS="hlokit", PYTHONPATH=str(ROOT / "python"), HLOKIT_PJRT_LIBRARY=os.path.abspath(arguments.lib))
    wrong = 0
    for name, expected in theirs.items():
        if isinstance(expected, str):
            print(f"{name}: left out, {expected}")
            continue
        found = ours.get(name, [])
        apart = max((abs(a - b) / max(abs(b), 1e-6) for a, b in zip(found, expected)), default=1.0)
        wrong += len(found) != len(expected) or not apart <= 1e-3
        print(f"{name}: {expected[0]:.5g} to {expected[-1]:.5g}, {apart:.1e} apart")
    print(f"{len(theirs)} programs, {wrong} wrong")
    return 1 if wrong or not theirs else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
