#!/usr/bin/env python3
"""Whole trainings, written with packages of PyPI as their users write them, on hlokit and on JAX's CPU: losses agree, seconds a step.

  jax_trainings.py --lib FILE [--python PYTHON] [--packages DIR] [--only REGEX] [--steps N] [--blocks N] [--cpus LIST]

The two sides take turns, a fifth of a second each (jax_turns.py): a training's figure is the middle of the turns' ratios of step times, beside
it that of processor time of all threads, and the peak of resident memory; a first step, tracing and compiling, is timed three times with JAX's caches cleared, and the middle taken.
PYTHON needs jax, and optax, flax and equinox (beside jax or in DIR); a training whose package is not there is skipped by name.
Losses agree within 1e-3 of JAX's CPU. A training that amplifies roundings (bf16, many steps of a recurrence) goes apart further on any
two compilers; it is run in f64 on JAX's CPU too, and ours may be at most as far from that, in the mean over the steps, as 1.25 times what
JAX's own is, and must agree within 1e-3 for the first tenth of the steps.
Exit status: 0 all losses agree, 1 one does not, 77 PYTHON has no jax.
"""
import argparse
import math
import pathlib
import re
import statistics
import subprocess
import sys

import jax_turns

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


class Worker:
    """Answers requests for a training, the one begun last."""

    def __init__(self, f64):
        import warnings

        import jax_more_trainings

        self.makers = {**TRAININGS, **jax_more_trainings.TRAININGS}
        warnings.simplefilter("ignore")
        if f64:
            compute_in_f64()

    def advance(self):
        import jax

        self.state, self.loss = self.step(self.state)
        jax.block_until_ready((self.state, self.loss))

    def first(self, name):
        """Seconds from nothing to the end of the first step, caches being empty."""
        import time

        import jax

        jax.clear_caches()
        begin = time.perf_counter()
        self.step, self.state = self.makers[name]()
        self.advance()
        return {"first": time.perf_counter() - begin}

    def begin(self, name, steps):
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak of resident memory begins anew
        answer = self.first(name)
        losses = [float(self.loss)]
        for _ in range(steps):
            self.advance()
            losses.append(float(self.loss))
        return {**answer, "losses": losses}

    def block(self, seconds):
        return jax_turns.timed(self.advance, seconds)

    def peak(self):
        """The most MiB that were resident since the training began."""
        return {"peak": int(re.search(r"VmHWM:\s*(\d+)", pathlib.Path("/proc/self/status").read_text()).group(1)) / 1024}

    def names(self):
        return {"names": list(self.makers)}


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
    side = jax_turns.Side("cpu", options, __file__, ["--f64"])
    exact = side.ask("begin", name=name, steps=options.steps).get("losses")
    side.close()
    if exact is None:
        return True
    ours, theirs = distance(own, exact)[0], distance(other, exact)[0]
    print(f"{name}: in the mean {ours:.1e} from f64, JAX's CPU {theirs:.1e}")
    return ours > 1.25 * theirs


def compare(options, name, sides):
    """Whether losses differ, and how many times as fast we are: first step, later ones by wall and processor time; nothing where it is skipped."""
    own, other = (side.ask("begin", name=name, steps=options.steps) for side in sides)
    if "losses" not in other:
        print(f"{name}: skipped: {other}")
        return None
    if own is None or "losses" not in own:
        print(f"{name}: did not run: {own}")
        return True, None
    worst = distance(own["losses"], other["losses"])[1]
    wrong = is_wrong(options, name, own["losses"], other["losses"])
    firsts = [[side.ask("first", name=name) for side in sides] for _ in range(3)]
    blocks = jax_turns.in_turns(sides, options.blocks, seconds=0.2)
    speed = [jax_turns.ratio(*zip(*firsts), "first"), *(jax_turns.ratio(*blocks, key) for key in ("wall", "used"))]
    peaks = [side.ask("peak")["peak"] for side in sides]
    speed.append(peaks[1] / peaks[0])
    middle = [statistics.median(block["wall"] for block in of_side) * 1e6 for of_side in blocks]
    print(f"{name}: losses {own['losses'][0]:.5g} to {own['losses'][-1]:.5g}, {worst:.1e} apart; first step {speed[0]:.2f} times, later ones "
          f"{speed[1]:.2f} times as fast ({middle[0]:.0f} beside {middle[1]:.0f} us; processor time {speed[2]:.2f}), "
          f"memory {peaks[0]:.0f} beside {peaks[1]:.0f} MiB", flush=True)
    return wrong, speed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--packages", default="")
    parser.add_argument("--only", default=".")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--blocks", type=int, default=15)
    parser.add_argument("--cpus", default="", help="as taskset has them; all where it is empty")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--f64", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        worker = Worker(options.f64)
        return jax_turns.serve({name: getattr(worker, name) for name in ("first", "begin", "block", "peak", "names")})
    if subprocess.run([options.python, "-c", "import jax"], capture_output=True, check=False).returncode != 0:
        print("skipped: no jax")
        return 77
    sides = [jax_turns.Side(platform, options, __file__) for platform in ("hlokit", "cpu")]
    names = [name for name in sides[1].ask("names")["names"] if re.search(options.only, name)]
    told = [one for one in (compare(options, name, sides) for name in names) if one is not None]
    wrong = sum(one[0] for one in told)
    speeds = [one[1] for one in told if one[1] is not None]
    if speeds:
        means = [math.exp(sum(map(math.log, values)) / len(values)) for values in zip(*speeds)]
        print(f"{len(told)} trainings, {wrong} wrong; first step {means[0]:.2f} times, later ones {means[1]:.2f} times as fast, "
              f"the least {min(one[1] for one in speeds):.2f}; processor time {means[2]:.2f}, memory {1 / means[3]:.2f} times")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
