"""The programs of benchmarks/peers in JAX, as users write them."""
import jax
from jax import lax
from jax import numpy as jnp

HEAD = 64  # features of one attention head


def dense(w, x):
    return x @ w["w"] + w["b"]


def layer_norm(w, x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * w["g"] + w["b"]


def heads_of(x):
    return x.reshape(*x.shape[:2], -1, HEAD).transpose(0, 2, 1, 3)


def attention(q, k, v, mask=None):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * HEAD**-0.5
    if mask is not None:
        scores = jnp.where(mask, scores, jnp.finfo(scores.dtype).min)
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)
    return mixed.transpose(0, 2, 1, 3).reshape(q.shape[0], q.shape[2], -1)


def feed_forward(w, x):
    return dense(w["down"], jax.nn.gelu(dense(w["up"], x)))


def layer(w, x, mask=None):
    q, k, v = (heads_of(t) for t in jnp.split(dense(w["qkv"], layer_norm(w["norm1"], x)), 3, -1))
    x = x + dense(w["out"], attention(q, k, v, mask))
    return x + feed_forward(w, layer_norm(w["norm2"], x))


def encoder(w, x):
    for each in w["layers"]:
        x = layer(each, x)
    return layer_norm(w["norm"], x)


def vision(w, pictures):
    patch = round((w["patches"]["w"].shape[0] // 3) ** 0.5)
    b, side = pictures.shape[0], pictures.shape[1] // patch
    x = pictures.reshape(b, side, patch, side, patch, 3).transpose(0, 1, 3, 2, 4, 5).reshape(b, side * side, -1)
    x = encoder(w, dense(w["patches"], x) + w["places"])
    return dense(w["head"], x.mean(1))


def prefill(w, x):
    mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
    for each in w["layers"]:
        x = layer(each, x, mask)
    return layer_norm(w["norm"], x)[:, -1] @ w["words"]


def decode(w, x, caches, position):
    mask = jnp.arange(caches.shape[3]) <= position
    for number, each in enumerate(w["layers"]):
        q, k, v = jnp.split(dense(each["qkv"], layer_norm(each["norm1"], x)), 3, -1)
        caches = lax.dynamic_update_slice(caches, jnp.stack([k, v])[None], (number, 0, 0, position, 0))
        x = x + dense(each["out"], attention(heads_of(q), heads_of(caches[number, 0]), heads_of(caches[number, 1]), mask))
        x = x + feed_forward(each, layer_norm(each["norm2"], x))
    return layer_norm(w["norm"], x)[:, -1] @ w["words"], caches


def rms_norm(g, x):
    return x * lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-5) * g


def rotated(x):
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[2])[:, None] * 10000.0 ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angles).astype(x.dtype), jnp.sin(angles).astype(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def times(x, w):
    """By weights as they are, or by s8 with a scale a column."""
    return (x @ w["s8"].astype(x.dtype)) * w["scale"] if isinstance(w, dict) else x @ w


def llama(w, x):
    mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
    for each in w["layers"]:
        y = rms_norm(each["norm1"], x)
        q, k, v = rotated(heads_of(times(y, each["q"]))), rotated(heads_of(times(y, each["k"]))), heads_of(times(y, each["v"]))
        groups = q.shape[1] // k.shape[1]
        x = x + times(attention(q, jnp.repeat(k, groups, 1), jnp.repeat(v, groups, 1), mask), each["out"])
        y = rms_norm(each["norm2"], x)
        x = x + times(jax.nn.silu(times(y, each["gate"])) * times(y, each["up"]), each["down"])
    return x


def capped(x, cap):
    return cap * jnp.tanh(x / cap)


def gemma(w, x):
    """Gemma's blocks: norms scaled by 1 + g, soft caps on scores, gates of GELU, a window of keys in every other layer."""
    tokens = x.shape[1]
    causal = jnp.tril(jnp.ones((tokens, tokens), bool))
    for number, each in enumerate(w["layers"]):
        mask = causal & ~jnp.tril(causal, -(tokens // 4)) if number % 2 == 0 else causal
        y = rms_norm(1 + each["norm1"], x)
        q, k, v = rotated(heads_of(y @ each["q"])), rotated(heads_of(y @ each["k"])), heads_of(y @ each["v"])
        groups = q.shape[1] // k.shape[1]
        k, v = jnp.repeat(k, groups, 1), jnp.repeat(v, groups, 1)
        scores = capped(jnp.einsum("bhqd,bhkd->bhqk", q, k) * HEAD**-0.5, 50.0)
        scores = jnp.where(mask, scores, jnp.finfo(scores.dtype).min)
        mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, -1), v)
        x = x + mixed.transpose(0, 2, 1, 3).reshape(*x.shape[:2], -1) @ each["out"]
        y = rms_norm(1 + each["norm2"], x)
        x = x + (jax.nn.gelu(y @ each["gate"]) * (y @ each["up"])) @ each["down"]
    return x


def gravity(w, x, v):
    """A step of bodies that attract each other."""
    apart = x[None] - x[:, None]
    square = (apart**2).sum(-1) + 1e-3
    pull = (apart * (w["mass"] / (square * jnp.sqrt(square)))[..., None]).sum(1)
    v = v + 0.01 * pull
    return x + 0.01 * v, v


def forest(w, x):
    nodes = w["threshold"].shape[1]
    tree = jnp.arange(w["threshold"].shape[0])
    node = jnp.zeros((x.shape[0], tree.shape[0]), jnp.int32)
    for _ in range((nodes + 1).bit_length() - 1):
        value = jnp.take_along_axis(x, w["feature"][tree, node], 1)
        node = 2 * node + 1 + (value > w["threshold"][tree, node])
    return w["leaf"][tree, node - nodes].sum(1)


def lstm(w, xs):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(dense(w["x"], x) + h @ w["h"], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros(xs.shape[1:], xs.dtype)
    return lax.scan(step, (zero, zero), xs)[1]


def recommender(w, numbers, ids):
    x = numbers
    for each in w["bottom"]:
        x = jax.nn.relu(dense(each, x))
    rows = w["tables"][jnp.arange(ids.shape[1]), ids]
    features = jnp.concatenate([x[:, None], rows], 1)
    products = features @ features.transpose(0, 2, 1)
    y = jnp.concatenate([x, products[:, *jnp.tril_indices(features.shape[1], -1)]], 1)
    for each in w["top"][:-1]:
        y = jax.nn.relu(dense(each, y))
    return jax.nn.sigmoid(dense(w["top"][-1], y))


def convolve(w, x, stride=1):
    pad = w["w"].shape[0] // 2
    return lax.conv_general_dilated(x, w["w"], (stride, stride), [(pad, pad)] * 2,
                                    dimension_numbers=("NHWC", "HWIO", "NHWC")) + w["b"]


def resnet(w, x):
    x = jax.nn.relu(convolve(w["stem"], x, 2))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0)))
    for number, stage in enumerate(w["stages"]):
        for k, each in enumerate(stage):
            stride = 2 if k == 0 and number > 0 else 1
            y = jax.nn.relu(convolve(each["a"], x))
            y = convolve(each["c"], jax.nn.relu(convolve(each["b"], y, stride)))
            x = jax.nn.relu(y + (convolve(each["skip"], x, stride) if "skip" in each else x))
    return dense(w["head"], x.mean((1, 2)))


def deep(w, x, stride):
    """A filter for each feature."""
    pad = w["w"].shape[0] // 2
    return lax.conv_general_dilated(x, w["w"], (stride, stride), [(pad, pad)] * 2, feature_group_count=x.shape[-1],
                                    dimension_numbers=("NHWC", "HWIO", "NHWC")) + w["b"]


def inverted_residuals(w, x, activation):
    x = activation(convolve(w["stem"], x, 2))
    for block in w["blocks"]:
        (name, each), = block.items()
        y = activation(convolve(each["up"], x)) if "up" in each else x
        y = activation(deep(each["deep"], y, int(name[-1])))
        if "squeeze" in each:
            y = y * jax.nn.sigmoid(dense(each["excite"], activation(dense(each["squeeze"], y.mean((1, 2))))))[:, None, None]
        y = convolve(each["down"], y)
        x = x + y if x.shape == y.shape else y
    return dense(w["head"], activation(convolve(w["last"], x)).mean((1, 2)))


def mobilenet(w, x):
    return inverted_residuals(w, x, jax.nn.relu6)


def efficientnet(w, x):
    return inverted_residuals(w, x, jax.nn.silu)


def group_norm(w, x):
    groups = x.reshape(x.shape[0], -1, 8, x.shape[-1] // 8)
    mean = groups.mean((1, 3), keepdims=True)
    y = (groups - mean) * lax.rsqrt(((groups - mean) ** 2).mean((1, 3), keepdims=True) + 1e-5)
    return y.reshape(x.shape) * w["g"] + w["b"]


def unet_block(w, x, time):
    y = convolve(w["conv1"], jax.nn.silu(group_norm(w["norm1"], x))) + dense(w["time"], time)[:, None, None]
    y = convolve(w["conv2"], jax.nn.silu(group_norm(w["norm2"], y)))
    return y + (convolve(w["skip"], x) if "skip" in w else x)


def denoise(w, x, time):
    time = jax.nn.silu(dense(w["time"], time))
    x, kept = convolve(w["stem"], x), []
    for number, each in enumerate(w["down"]):
        x = unet_block(each, x, time)
        kept.append(x)
        if number < 2:
            x = lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") * 0.25
    x = unet_block(w["middle"][0], x, time)
    flat = group_norm(w["norm"], x).reshape(x.shape[0], -1, x.shape[-1])
    q, k, v = (heads_of(t) for t in jnp.split(dense(w["qkv"], flat), 3, -1))
    x = unet_block(w["middle"][1], x + dense(w["out"], attention(q, k, v)).reshape(x.shape), time)
    for number, each in enumerate(w["up"]):
        x = unet_block(each, jnp.concatenate([x, kept.pop()], -1), time)
        if number < 2:
            x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
    return convolve(w["head"], jax.nn.silu(group_norm(w["last"], x)))


def listen(w, x):
    for name, stride in (("conv1", 1), ("conv2", 2)):
        x = lax.conv_general_dilated(x, w[name]["w"], (stride,), [(1, 1)], dimension_numbers=("NWC", "WIO", "NWC"))
        x = jax.nn.gelu(x + w[name]["b"])
    return encoder(w, x + w["places"])


def trained(function, w, x, target):
    """A step of gradient descent: the loss, then the new weights."""
    loss, slopes = jax.value_and_grad(lambda w: ((function(w, x) - target) ** 2).mean())(w)
    return (loss, *(a - 0.01 * b for a, b in zip(jax.tree_util.tree_leaves(w), jax.tree_util.tree_leaves(slopes))))


def train(w, x, target):
    return trained(encoder, w, x, target)


def train_resnet(w, x, target):
    return trained(resnet, w, x, target)
# SPDX-License-Identifier: Apache-2.0
