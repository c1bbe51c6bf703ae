"""Ten further trainings of jax_trainings.py: what its first ten leave out, such as linear algebra, scatters, random numbers in a step, bf16.

Each gives (step, state), as there. Example: `embeddings` learns by gathers, whose gradient is a scatter.
"""
import math

from jax_trainings import data, dense, forward, with_optax

TRAININGS = {}


def training(function):
    TRAININGS[function.__name__] = function
    return function


@training
def residual_bf16():
    import jax
    import jax.numpy as jnp
    import optax

    x, y = data(128, 32), data(128, 8, seed=2)
    weights = {"in": data(32, 64) / 6, "mid": data(4, 64, 64, seed=3) / 8, "out": data(64, 8, seed=4) / 8}

    def loss(w):
        half = jax.tree.map(lambda v: v.astype(jnp.bfloat16), w)
        h = x.astype(jnp.bfloat16) @ half["in"]
        for layer in half["mid"]:
            h = h + jax.nn.silu(h @ layer)
        return jnp.mean(((h @ half["out"]).astype(jnp.float32) - y) ** 2)

    return with_optax(loss, weights, optax.sgd(0.02))  # Adam divides by small gradients, which bf16 rounds


@training
def layers_by_scan_with_remat():
    import jax
    import jax.numpy as jnp
    import optax

    x = data(4, 24, 32)
    weights = {n: data(3, 32, 32, seed=i) / 6 for i, n in enumerate(("q", "k", "v", "f"))}

    @jax.checkpoint
    def layer(h, w):
        score = jnp.einsum("btd,bsd->bts", h @ w["q"], h @ w["k"]) / math.sqrt(32)
        h = h + jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((24, 24), bool)), score, -1e9)) @ (h @ w["v"])
        return h + jnp.tanh(h @ w["f"]), None

    loss = lambda w: jnp.mean((jax.lax.scan(layer, x, w)[0] - jnp.roll(x, 1, 1)) ** 2)
    return with_optax(loss, weights, optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3)))


@training
def flax_transformer():
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            h = nn.Embed(50, 32)(tokens)
            for _ in range(2):
                h = h + nn.MultiHeadDotProductAttention(num_heads=4)(nn.LayerNorm()(h), mask=nn.make_causal_mask(tokens))
                h = h + nn.Dense(32)(nn.gelu(nn.Dense(64)(nn.LayerNorm()(h))))
            return nn.Dense(50)(h)

    tokens = jax.random.randint(jax.random.key(0), (8, 20), 0, 50)
    net = Net()
    loss = lambda w: optax.softmax_cross_entropy_with_integer_labels(net.apply(w, tokens)[:, :-1], tokens[:, 1:]).mean()
    return with_optax(loss, net.init(jax.random.key(1), tokens), optax.adamw(1e-3))


@training
def flax_batch_norm():
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import optax

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.BatchNorm(use_running_average=False)(nn.Conv(8, (3, 3), use_bias=False)(x)))
            return nn.Dense(5)(x.mean((1, 2)))

    x, labels, net, optimizer = data(16, 12, 12, 3), jnp.arange(16) % 5, Net(), optax.sgd(0.05, momentum=0.9)
    begin = net.init(jax.random.key(0), x)

    @jax.jit
    def step(state):
        weights, statistics, memory = state

        def loss(w):
            out, changed = net.apply({"params": w, "batch_stats": statistics}, x, mutable=["batch_stats"])
            return optax.softmax_cross_entropy_with_integer_labels(out, labels).mean(), changed["batch_stats"]

        (value, statistics), gradient = jax.value_and_grad(loss, has_aux=True)(weights)
        change, memory = optimizer.update(gradient, memory)
        return (optax.apply_updates(weights, change), statistics, memory), value

    return step, (begin["params"], begin["batch_stats"], optimizer.init(begin["params"]))


@training
def neural_ode():
    import jax
    import jax.numpy as jnp
    import optax

    start, target = data(32, 2), data(32, 2, seed=5)

    def loss(layers):
        slope = lambda y: jnp.tanh(forward(layers, y))

        def advance(y, _):
            h = 0.1
            a = slope(y)
            b = slope(y + h / 2 * a)
            c = slope(y + h / 2 * b)
            return y + h / 6 * (a + 2 * b + 2 * c + slope(y + h * c)), None

        return jnp.mean((jax.lax.scan(advance, start, None, length=10)[0] - target) ** 2)

    return with_optax(loss, dense([2, 32, 2]), optax.adam(3e-3))


@training
def graph_network():
    import jax
    import jax.numpy as jnp
    import optax

    nodes, edges = data(60, 16), jax.random.randint(jax.random.key(1), (2, 240), 0, 60)
    target = jax.ops.segment_sum(nodes[edges[0], 0], edges[1], 60)
    weights = {"message": dense([32, 32, 16]), "update": dense([32, 32, 1], seed=7)}

    def loss(w):
        messages = forward(w["message"], jnp.concatenate([nodes[edges[0]], nodes[edges[1]]], 1))
        gathered = jax.ops.segment_sum(messages, edges[1], 60)
        return jnp.mean((forward(w["update"], jnp.concatenate([nodes, gathered], 1))[:, 0] - target) ** 2)

    return with_optax(loss, weights, optax.adam(3e-3))


@training
def gaussian_process():
    import jax
    import jax.numpy as jnp
    import optax

    x = jnp.sort(data(40))
    y = jnp.sin(2 * x)

    def loss(w):
        scale, length, noise = (jax.nn.softplus(w[n]) for n in ("scale", "length", "noise"))
        kernel = scale * jnp.exp(-((x[:, None] - x) ** 2) / (2 * length ** 2)) + (noise + 1e-3) * jnp.eye(40)
        factor = jnp.linalg.cholesky(kernel)
        white = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
        return (0.5 * white @ white + jnp.log(jnp.diag(factor)).sum()) / 40

    return with_optax(loss, {n: jnp.zeros(()) for n in ("scale", "length", "noise")}, optax.adam(1e-2))


@training
def embeddings():
    import jax
    import jax.numpy as jnp
    import optax

    pairs = jax.random.randint(jax.random.key(2), (2, 512), 0, 300)
    wrong = jax.random.randint(jax.random.key(3), (512, 5), 0, 300)

    def loss(w):
        center, near, far = w["in"][pairs[0]], w["out"][pairs[1]], w["out"][wrong]
        good = jax.nn.log_sigmoid((center * near).sum(1))
        return -(good + jax.nn.log_sigmoid(-jnp.einsum("bd,bnd->bn", center, far)).sum(1)).mean()

    return with_optax(loss, {"in": data(300, 24) / 5, "out": data(300, 24, seed=1) / 5}, optax.adagrad(0.1))


@training
def denoiser():
    import jax
    import jax.numpy as jnp
    import optax

    x, optimizer = data(64, 8), optax.adam(1e-3)
    layers = dense([9, 64, 64, 8])

    @jax.jit
    def step(state):
        weights, memory, key = state
        key, noise_key, time_key = jax.random.split(key, 3)
        noise, time = jax.random.normal(noise_key, x.shape), jax.random.uniform(time_key, (64, 1))

        def loss(w):
            mixed = jnp.sqrt(1 - time) * x + jnp.sqrt(time) * noise
            return jnp.mean((forward(w, jnp.concatenate([mixed, time], 1)) - noise) ** 2)

        value, gradient = jax.value_and_grad(loss)(weights)
        change, memory = optimizer.update(gradient, memory)
        return (optax.apply_updates(weights, change), memory, key), value

    return step, (layers, optimizer.init(layers), jax.random.key(9))


@training
def policy_gradient():
    import jax
    import jax.numpy as jnp
    import optax

    def loss(layers):
        def act(carry, key):
            place, total = carry
            logits = forward(layers, place)
            # Actions do not depend on the weights: one that rounding flips would change all that follows.
            action = jax.random.categorical(key, -place)
            place = 0.9 * place + 0.1 * jnp.where((action == 1)[:, None], 1.0, -1.0) * jnp.array([1.0, -0.5])
            chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], 1)[:, 0]
            return (place, total + chosen * jax.lax.stop_gradient(-jnp.abs(place).sum(1))), None

        keys = jax.random.split(jax.random.key(4), 15)
        return -jax.lax.scan(act, (data(32, 2), jnp.zeros(32)), keys)[0][1].mean()

    return with_optax(loss, dense([2, 32, 2]), optax.rmsprop(1e-3))
# SPDX-License-Identifier: Apache-2.0
