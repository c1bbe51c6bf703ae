"""The programs of benchmarks/peers in PyTorch, as users write them: weights of products as [inputs, outputs], of convolutions
as [outputs, inputs, y, x] and pictures as [batch, features, y, x] (measure.py turns them) in channels_last."""
import math

import torch
from torch.nn import functional as F

HEAD = 64  # features of one attention head


def dense(w, x):
    return x @ w["w"] + w["b"]


def layer_norm(w, x):
    return F.layer_norm(x, x.shape[-1:], w["g"], w["b"], 1e-5)


def heads_of(x):
    return x.reshape(x.shape[0], x.shape[1], -1, HEAD).transpose(1, 2)


def attention(q, k, v, mask=None, causal=False):
    return F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal).transpose(1, 2).flatten(2)


def feed_forward(w, x):
    return dense(w["down"], F.gelu(dense(w["up"], x), approximate="tanh"))


def layer(w, x, causal=False):
    q, k, v = (heads_of(t) for t in dense(w["qkv"], layer_norm(w["norm1"], x)).chunk(3, -1))
    x = x + dense(w["out"], attention(q, k, v, causal=causal))
    return x + feed_forward(w, layer_norm(w["norm2"], x))


def encoder(w, x):
    for each in w["layers"]:
        x = layer(each, x)
    return layer_norm(w["norm"], x)


def vision(w, pictures):
    patch = math.isqrt(int(w["patches"]["w"].shape[0]) // 3)  # the tracers of exporters have tensors here
    b, side = int(pictures.shape[0]), int(pictures.shape[2]) // patch
    x = pictures.permute(0, 2, 3, 1).reshape(b, side, patch, side, patch, 3)
    x = x.permute(0, 1, 3, 2, 4, 5).reshape(b, side * side, -1)
    x = encoder(w, dense(w["patches"], x) + w["places"])
    return dense(w["head"], x.mean(1))


def prefill(w, x):
    for each in w["layers"]:
        x = layer(each, x, causal=True)
    return layer_norm(w["norm"], x)[:, -1] @ w["words"]


def decode(w, x, caches, position):
    mask = torch.arange(caches.shape[3])[None] <= position
    place = position.reshape(1).long()
    for number, each in enumerate(w["layers"]):
        q, k, v = dense(each["qkv"], layer_norm(each["norm1"], x)).chunk(3, -1)
        caches[number, 0].index_copy_(1, place, k)
        caches[number, 1].index_copy_(1, place, v)
        mixed = attention(heads_of(q), heads_of(caches[number, 0]), heads_of(caches[number, 1]), mask)
        x = x + dense(each["out"], mixed)
        x = x + feed_forward(each, layer_norm(each["norm2"], x))
    return layer_norm(w["norm"], x)[:, -1] @ w["words"], caches


def rotated(x):
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[2])[:, None] * 10000.0 ** (-torch.arange(half) / half)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


def rms_norm(g, x):
    """Spelled out as Llama's reference code does: ONNX has no such operation to export F.rms_norm to."""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * g


def times(x, w):
    """By weights as they are, or by s8 with a scale a column."""
    return (x @ w["s8"].to(x.dtype)) * w["scale"] if isinstance(w, dict) else x @ w


def llama(w, x):
    for each in w["layers"]:
        y = rms_norm(each["norm1"], x)
        q, k, v = rotated(heads_of(times(y, each["q"]))), rotated(heads_of(times(y, each["k"]))), heads_of(times(y, each["v"]))
        groups = q.shape[1] // k.shape[1]
        mixed = attention(q, k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1), causal=True)
        x = x + times(mixed, each["out"])
        y = rms_norm(each["norm2"], x)
        x = x + times(F.silu(times(y, each["gate"])) * times(y, each["up"]), each["down"])
    return x


def gemma(w, x):
    tokens = x.shape[1]
    causal = torch.ones(tokens, tokens, dtype=torch.bool).tril()
    for number, each in enumerate(w["layers"]):
        mask = causal & ~causal.tril(-(tokens // 4)) if number % 2 == 0 else causal
        y = rms_norm(1 + each["norm1"], x)
        q, k, v = rotated(heads_of(y @ each["q"])), rotated(heads_of(y @ each["k"])), heads_of(y @ each["v"])
        groups = q.shape[1] // k.shape[1]
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        scores = 50.0 * torch.tanh(q @ k.transpose(2, 3) * HEAD**-0.5 / 50.0)
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        x = x + (scores.softmax(-1) @ v).transpose(1, 2).flatten(2) @ each["out"]
        y = rms_norm(1 + each["norm2"], x)
        x = x + (F.gelu(y @ each["gate"], approximate="tanh") * (y @ each["up"])) @ each["down"]
    return x


def gravity(w, x, v):
    apart = x[None] - x[:, None]
    square = (apart**2).sum(-1) + 1e-3
    pull = (apart * (w["mass"] / (square * square.sqrt()))[..., None]).sum(1)
    v = v + 0.01 * pull
    return x + 0.01 * v, v


def forest(w, x):
    nodes = int(w["threshold"].shape[1])  # the tracers of exporters have tensors here
    tree = torch.arange(w["threshold"].shape[0])
    node = torch.zeros(x.shape[0], tree.shape[0], dtype=torch.long)
    for _ in range((nodes + 1).bit_length() - 1):
        value = x.gather(1, w["feature"][tree, node].long())
        node = 2 * node + 1 + (value > w["threshold"][tree, node]).long()
    return w["leaf"][tree, node - nodes].sum(1)


def lstm(w, xs):
    h = c = torch.zeros_like(xs[0])
    out = []
    for x in xs:
        i, f, g, o = (dense(w["x"], x) + h @ w["h"]).chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        out.append(h)
    return torch.stack(out)


def recommender(w, numbers, ids):
    x = numbers
    for each in w["bottom"]:
        x = F.relu(dense(each, x))
    rows = w["tables"][torch.arange(ids.shape[1]), ids.long()]
    features = torch.cat([x[:, None], rows], 1)
    products = features @ features.transpose(1, 2)
    size = features.shape[1]
    below = torch.tensor([(i, j) for i in range(size) for j in range(i)]).T
    y = torch.cat([x, products[:, below[0], below[1]]], 1)
    for each in w["top"][:-1]:
        y = F.relu(dense(each, y))
    return dense(w["top"][-1], y).sigmoid()


def convolve(w, x, stride=1):
    return F.conv2d(x, w["w"], w["b"], stride, w["w"].shape[2] // 2)


def resnet(w, x):
    x = F.max_pool2d(F.relu(convolve(w["stem"], x, 2)), 3, 2, 1)
    for number, stage in enumerate(w["stages"]):
        for k, each in enumerate(stage):
            stride = 2 if k == 0 and number > 0 else 1
            y = F.relu(convolve(each["a"], x))
            y = convolve(each["c"], F.relu(convolve(each["b"], y, stride)))
            x = F.relu(y + (convolve(each["skip"], x, stride) if "skip" in each else x))
    return dense(w["head"], x.mean((2, 3)))


def inverted_residuals(w, x, activation):
    x = activation(convolve(w["stem"], x, 2))
    for block in w["blocks"]:
        (name, each), = block.items()
        y = activation(convolve(each["up"], x)) if "up" in each else x
        deep = each["deep"]
        y = activation(F.conv2d(y, deep["w"], deep["b"], int(name[-1]), deep["w"].shape[2] // 2, groups=y.shape[1]))
        if "squeeze" in each:
            scale = dense(each["excite"], activation(dense(each["squeeze"], y.mean((2, 3))))).sigmoid()
            y = y * scale[:, :, None, None]
        y = convolve(each["down"], y)
        x = x + y if x.shape == y.shape else y
    return dense(w["head"], activation(convolve(w["last"], x)).mean((2, 3)))


def mobilenet(w, x):
    return inverted_residuals(w, x, F.relu6)


def efficientnet(w, x):
    return inverted_residuals(w, x, F.silu)


def group_norm(w, x):
    return F.group_norm(x, 8, w["g"], w["b"], 1e-5)


def unet_block(w, x, time):
    y = convolve(w["conv1"], F.silu(group_norm(w["norm1"], x))) + dense(w["time"], time)[:, :, None, None]
    y = convolve(w["conv2"], F.silu(group_norm(w["norm2"], y)))
    return y + (convolve(w["skip"], x) if "skip" in w else x)


def denoise(w, x, time):
    time = F.silu(dense(w["time"], time))
    x, kept = convolve(w["stem"], x), []
    for number, each in enumerate(w["down"]):
        x = unet_block(each, x, time)
        kept.append(x)
        if number < 2:
            x = F.avg_pool2d(x, 2)
    x = unet_block(w["middle"][0], x, time)
    flat = group_norm(w["norm"], x).flatten(2).transpose(1, 2)
    q, k, v = (heads_of(t) for t in dense(w["qkv"], flat).chunk(3, -1))
    mixed = dense(w["out"], attention(q, k, v)).transpose(1, 2).reshape(x.shape)
    x = unet_block(w["middle"][1], x + mixed, time)
    for number, each in enumerate(w["up"]):
        x = unet_block(each, torch.cat([x, kept.pop()], 1), time)
        if number < 2:
            x = F.interpolate(x, scale_factor=2.0, mode="nearest")
    return convolve(w["head"], F.silu(group_norm(w["last"], x))).permute(0, 2, 3, 1)


def listen(w, x):
    x = x.transpose(1, 2)
    for name, stride in (("conv1", 1), ("conv2", 2)):
        x = F.gelu(F.conv1d(x, w[name]["w"].permute(2, 1, 0), w[name]["b"], stride, 1), approximate="tanh")
    return encoder(w, x.transpose(1, 2) + w["places"])


def leaves_of(tree):
    """In the order of jax.tree_util.tree_leaves."""
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves_of(tree[key])]
    return [leaf for each in tree for leaf in leaves_of(each)] if isinstance(tree, list) else [tree]


def trained(function, w, x, target):
    leaves = leaves_of(w)
    for leaf in leaves:
        leaf.requires_grad_(True)
    loss = ((function(w, x) - target) ** 2).mean()
    slopes = torch.autograd.grad(loss, leaves)
    return (loss, *(a.detach() - 0.01 * b for a, b in zip(leaves, slopes)))


def train(w, x, target):
    return trained(encoder, w, x, target)


def train_resnet(w, x, target):
    """Filters as for_jax.py has them, [y, x, inputs, outputs]."""
    return [t.permute(2, 3, 1, 0) if t.dim() == 4 else t for t in trained(resnet, w, x, target)]
# SPDX-License-Identifier: Apache-2.0
