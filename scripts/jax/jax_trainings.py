#!/usr/bin/env python3
"""Whole trainings, written with packages of PyPI as their users write them, on hlokit and on JAX's CPU: losses agree, seconds a step.

  jax_trainings.py --lib FILE [--python PYTHON] [--packages DIR] [--only REGEX] [--steps N]

PYTHON needs jax, and optax, flax and equinox (beside jax or in DIR); a training whose package is not there is skipped by name.
Losses agree within 1e-3 of JAX's CPU. A training that amplifies roundings (bf16, many steps of a recurrence) goes apart further on any
two compilers; it is run in f64 on JAX's CPU too, and ours may be at most as far from that, in the mean over the steps, as 1.25 times what
JAX's own is, and must agree within 1e-3 for the first tenth of the steps.
Exit status: 0 all losses agree, 1 one does not, 77 PYTHON has no jax.
"""
import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRAININGS = {}
LIMIT = 1e-3  # of relative differences of losses


def training(function):
    TRAININGS[function.__name__] = function
    return function


# Each gives (step, state): step(state) gives (state, loss), both of JAX.

def with_optax(loss, parameters, optimizer):
    import jax
    import optax

    @jax.jit
    def step(state):
        weights, memory = state
        value, gradient = jax.value_and_grad(loss)(weights)
        change, memory = optimizer.update(gradient, memory, weights)
        return (optax.apply_updates(weights, change), memory), value

    return step, (parameters, optimizer.init(parameters))


def data(*shape, seed=0):
    import jax
    import jax.numpy as jnp
    import numpy as np

    return jax.random.normal(jax.random.key(seed), shape, np.float32).astype(jnp.result_type(float))  # f64 draws other numbers


def dense(sizes, seed=1):
    return [(data(a, b, seed=seed + i) / math.sqrt(a), data(b, seed=seed + 50 + i) * 0) for i, (a, b) in enumerate(zip(sizes, sizes[1:]))]


def forward(layers, x):
    import jax

    for weights, bias in layers[:-1]:
        x = jax.nn.relu(x @ weights + bias)
    return x @ layers[-1][0] + layers[-1][1]


def regression(optimizer):
    import jax.numpy as jnp

    x = data(256, 16)
    y = jnp.sin(x[:, :1] * 2) + x[:, 1:2] ** 2
    return with_optax(lambda w: jnp.mean((forward(w, x) - y) ** 2), dense([16, 64, 64, 1]), optimizer)


@training
def mlp_sgd():
    import optax

    return regression(optax.sgd(1e-2, momentum=0.9))


@training
def mlp_adam():
    import optax

    return regression(optax.adam(1e-3))


@training
def mlp_lamb_with_schedule():
    import optax

    return regression(optax.chain(optax.clip_by_global_norm(1.0), optax.lamb(optax.cosine_decay_schedule(1e-2, 100))))


@training
def classifier_adamw():
    import jax
    import jax.numpy as jnp
    import optax

    x = data(512, 32)
    labels = jnp.argmax(x[:, :10], axis=1)
    loss = lambda w: optax.softmax_cross_entropy_with_integer_labels(forward(w, x), labels).mean()
    del jax
    return with_optax(loss, dense([32, 128, 10]), optax.adamw(1e-3))


@training
def gru_by_scan():
    import jax
    import jax.numpy as jnp
    import optax

    x = data(24, 16, 8)
    weights = {"x": data(8, 96, seed=3) / 3, "h": data(32, 96, seed=4) / 6, "out": data(32, 1, seed=5) / 6}

    def loss(w):
        def cell(h, v):
            r, z, n = jnp.split(v @ w["x"], 3, axis=1)
            hr, hz, hn = jnp.split(h @ w["h"], 3, axis=1)
            r, z = jax.nn.sigmoid(r + hr), jax.nn.sigmoid(z + hz)
            h = (1 - z) * jnp.tanh(n + r * hn) + z * h
            return h, h @ w["out"]

        _, out = jax.lax.scan(cell, jnp.zeros((16, 32)), x)
        return jnp.mean((out[:, :, 0] - jnp.cumsum(x[:, :, 0], 0)) ** 2)

    return with_optax(loss, weights, optax.rmsprop(1e-3))


@training
def attention_block():
    import jax
    import jax.numpy as jnp
    import optax

    x = data(8, 32, 64)
    weights = {n: data(64, 64, seed=i) / 8 for i, n in enumerate(("q", "k", "v", "o", "f", "g"))}

    def loss(w):
        heads = lambda m: (x @ w[m]).reshape(8, 32, 4, 16)
        a = jax.nn.dot_product_attention(heads("q"), heads("k"), heads("v"), is_causal=True).reshape(8, 32, 64)
        h = jax.nn.standardize(x + a @ w["o"])
        return jnp.mean((h + jax.nn.gelu(h @ w["f"]) @ w["g"] - jnp.roll(x, 1, 1)) ** 2)

    return with_optax(loss, weights, optax.adam(1e-3))


@training
def variational_autoencoder():
    import jax
    import jax.numpy as jnp
    import optax

    x = jax.nn.sigmoid(data(128, 36))
    weights = {"encode": dense([36, 64, 16]), "decode": dense([8, 64, 36], seed=9)}

    def loss(w):
        mean, log_variance = jnp.split(forward(w["encode"], x), 2, axis=1)
        z = mean + jnp.exp(log_variance / 2) * jax.random.normal(jax.random.key(3), mean.shape)
        divergence = -0.5 * jnp.sum(1 + log_variance - mean**2 - jnp.exp(log_variance), 1)
        return jnp.mean(optax.sigmoid_binary_cross_entropy(forward(w["decode"], z), x).sum(1) + divergence)

    return with_optax(loss, weights, optax.adam(1e-3))


@training
def flax_convolutions():
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Conv(8, (3, 3))(x))
            x = nn.max_pool(x, (2, 2), (2, 2))
            x = nn.relu(nn.GroupNorm(num_groups=4)(nn.Conv(16, (3, 3))(x)))
            return nn.Dense(10)(nn.avg_pool(x, (2, 2), (2, 2)).reshape(x.shape[0], -1))

    x = data(32, 16, 16, 3)
    labels = jnp.arange(32) % 10
    net = Net()
    loss = lambda w: optax.softmax_cross_entropy_with_integer_labels(net.apply(w, x), labels).mean()
    return with_optax(loss, net.init(jax.random.key(0), x), optax.adam(1e-3))


@training
def flax_lstm():
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(1)(nn.RNN(nn.LSTMCell(32))(nn.LayerNorm()(x)))

    x = data(16, 20, 8)
    net = Net()
    loss = lambda w: jnp.mean((net.apply(w, x)[:, :, 0] - jnp.cumsum(x[:, :, 0], 1)) ** 2)
    return with_optax(loss, net.init(jax.random.key(0), x), optax.adam(3e-3))


@training
def equinox_mlp():
    import equinox
    import jax
    import jax.numpy as jnp
    import optax

    x = data(256, 4)
    y = jnp.prod(x[:, :2], axis=1)
    model = equinox.nn.MLP(4, "scalar", 64, 2, key=jax.random.key(0))
    optimizer = optax.adabelief(1e-3)

    @equinox.filter_jit
    def step(state):
        model, memory = state
        loss = lambda m: jnp.mean((jax.vmap(m)(x) - y) ** 2)
        value, gradient = equinox.filter_value_and_grad(loss)(model)
        change, memory = optimizer.update(gradient, memory, equinox.filter(model, equinox.is_array))
        return (equinox.apply_updates(model, change), memory), value

    return step, (model, optimizer.init(equinox.filter(model, equinox.is_array)))


def compute_in_f64():
    """Narrow types are f64 too, as far as trainings name them by jax.numpy."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    jnp.bfloat16 = jnp.float32 = jnp.float64


def worker(options):
    """Prints a line of JSON for each training: its losses, seconds to the first step's end and of a later step."""
    import time
    import warnings

    import jax
    import jax_more_trainings

    if options.f64:
        compute_in_f64()

    warnings.simplefilter("ignore")
    for name, make in {**TRAININGS, **jax_more_trainings.TRAININGS}.items():
        if not re.search(options.only, name):
            continue
        try:
            begin = time.perf_counter()
            step, state = make()
            state, loss = step(state)
            losses = [float(loss)]
            first = time.perf_counter() - begin
            times = []
            for _ in range(options.steps):
                start = time.perf_counter()
                state, loss = step(state)
                jax.block_until_ready((state, loss))
                times.append(time.perf_counter() - start)
                losses.append(float(loss))
            print(json.dumps({"name": name, "losses": losses, "first": first, "step": sorted(times)[len(times) // 2]}), flush=True)
        except ImportError as missing:
            print(json.dumps({"name": name, "skipped": str(missing)}), flush=True)


def distance(losses, from_losses):
    """The mean over the steps of the relative differences, and the largest."""
    each = [abs(a - b) / max(abs(b), 1e-3) for a, b in zip(losses, from_losses)]
    return sum(each) / len(each), max(each)


def is_wrong(options, name, own, other):
    """Whether losses differ by more than the limit, and by more than roundings explain: what the module's text says of f64."""
    if distance(own, other)[1] <= LIMIT:
        return False
    if distance(own[:len(own) // 10], other[:len(own) // 10])[1] > LIMIT:
        return True
    exact = results(options, "cpu", only=f"^{name}$", f64=True).get(name, {}).get("losses")
    if exact is None:
        return True
    ours, theirs = distance(own, exact)[0], distance(other, exact)[0]
    print(f"{name}: in the mean {ours:.1e} from f64, JAX's CPU {theirs:.1e}")
    return ours > 1.25 * theirs


def results(options, platform, only="", f64=False):
    path = [str(ROOT / "python")] * (platform == "hlokit") + [options.packages] * bool(options.packages)
    done = subprocess.run([options.python, __file__, "--worker", "--only", only or options.only, "--steps", str(options.steps), "--lib", ""]
                          + ["--f64"] * f64,
                          capture_output=True, text=True, check=False,
                          env={**os.environ, "JAX_PLATFORMS": platform, "PYTHONPATH": ":".join(path), "HLOKIT_PJRT_LIBRARY": options.lib})
    if done.returncode != 0:
        print(done.stderr[-2000:])
    return {entry["name"]: entry for entry in map(json.loads, filter(lambda line: line.startswith("{"), done.stdout.splitlines()))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--packages", default="")
    parser.add_argument("--only", default=".")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--f64", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker(options)
    if subprocess.run([options.python, "-c", "import jax"], capture_output=True, check=False).returncode != 0:
        print("skipped: no jax")
        return 77
    theirs, ours = results(options, "cpu"), results(options, "hlokit")
    wrong, firsts, steps = 0, [], []
    for name, other in theirs.items():
        own = ours.get(name)
        if "skipped" in other:
            print(f"{name}: skipped: {other['skipped']}")
            continue
        if own is None:
            wrong += 1
            print(f"{name}: did not run")
            continue
        worst = distance(own["losses"], other["losses"])[1]
        wrong += is_wrong(options, name, own["losses"], other["losses"])
        firsts.append(other["first"] / own["first"])
        steps.append(other["step"] / own["step"])
        print(f"{name}: losses {own['losses'][0]:.5g} to {own['losses'][-1]:.5g}, {worst:.1e} apart; first step {firsts[-1]:.2f} times, "
              f"later ones {steps[-1]:.2f} times as fast")
    if steps:
        mean = lambda values: math.exp(sum(map(math.log, values)) / len(values))
        print(f"{len(steps)} trainings, {wrong} wrong; first step {mean(firsts):.2f} times, later ones {mean(steps):.2f} times as fast")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
