"""The programs of benchmarks/peers: names, sizes, random weights and inputs. What they compute stands in for_jax.py and
for_torch.py, once for each. A program has weights, a tree of dictionaries and lists of numpy arrays, and inputs, a list of arrays.

    bert_base_128 = the function `encoder` of both files on 12 layers of 768 features and 128 tokens

`small` sizes take milliseconds; the tests run these.
"""
import dataclasses

import ml_dtypes
import numpy


@dataclasses.dataclass(frozen=True)
class Program:
    function: str  # in for_jax.py and for_torch.py
    sizes: dict
    small: dict
    make: object  # makes (weights, inputs) of sizes and a random generator
    dtype: type = numpy.float32
    tolerance: float = 2e-3  # of results against XLA's, relative to the largest of them
    donated: tuple = ()  # inputs that are overwritten
    trains: bool = False  # gives a loss and new weights: these are not frozen, and inference alone cannot run it


def array(rng, *shape):
    """Random values whose products with unit-size vectors stay of unit size."""
    depth = numpy.prod(shape[:-1]) if len(shape) > 1 else 50
    return (rng.standard_normal(shape) / numpy.sqrt(depth)).astype(numpy.float32)


def dense(rng, rows, columns):
    return {"w": array(rng, rows, columns), "b": array(rng, columns)}


def norm(rng, features):
    return {"g": 1 + array(rng, features), "b": array(rng, features)}


def block(rng, d, hidden):
    return {"norm1": norm(rng, d), "qkv": dense(rng, d, 3 * d), "out": dense(rng, d, d), "norm2": norm(rng, d),
            "up": dense(rng, d, hidden), "down": dense(rng, hidden, d)}


def transformer(rng, s):
    weights = {"layers": [block(rng, s["d"], 4 * s["d"]) for _ in range(s["layers"])], "norm": norm(rng, s["d"])}
    return weights, [rng.standard_normal((s["batch"], s["tokens"], s["d"])).astype(numpy.float32)]


def vision(rng, s):
    weights, _ = transformer(rng, {**s, "tokens": 1})
    patches = s["side"] ** 2
    weights |= {"patches": dense(rng, s["patch"] ** 2 * 3, s["d"]), "places": array(rng, patches, s["d"]),
                "head": dense(rng, s["d"], s["classes"])}
    pixels = s["side"] * s["patch"]
    return weights, [rng.standard_normal((s["batch"], pixels, pixels, 3)).astype(numpy.float32)]


def causal(rng, s):
    weights, inputs = transformer(rng, s)
    weights["words"] = array(rng, s["d"], s["words"])
    return weights, inputs


def decode(rng, s):
    weights, inputs = causal(rng, {**s, "tokens": 1})
    caches = rng.standard_normal((s["layers"], 2, s["batch"], s["cache"], s["d"])).astype(numpy.float32)
    return weights, [*inputs, caches, numpy.int32(s["cache"] - 5)]


def llama(rng, s):
    d, hidden, group = s["d"], s["hidden"], s["d"] // s["heads"] * s["key_heads"]
    layer = lambda: {"norm1": 1 + array(rng, d), "q": array(rng, d, d), "k": array(rng, d, group), "v": array(rng, d, group),
                     "out": array(rng, d, d), "norm2": 1 + array(rng, d), "gate": array(rng, d, hidden),
                     "up": array(rng, d, hidden), "down": array(rng, hidden, d)}
    return {"layers": [layer() for _ in range(s["layers"])]}, [
        rng.standard_normal((s["batch"], s["tokens"], d)).astype(numpy.float32)]


def quantized(matrix):
    """s8 and a scale for each column."""
    scale = numpy.abs(matrix).max(0) / 127
    return {"s8": numpy.rint(matrix / scale).astype(numpy.int8), "scale": scale}


def llama_s8(rng, s):
    weights, inputs = llama(rng, s)
    layers = [{name: quantized(each) if each.ndim == 2 else each for name, each in layer.items()} for layer in weights["layers"]]
    return {"layers": layers}, inputs


def bodies(rng, s):
    """Positions and velocities; the masses do not change."""
    moving = [rng.standard_normal((s["bodies"], 3)).astype(numpy.float32) for _ in range(2)]
    return {"mass": (rng.random(s["bodies"]) / s["bodies"]).astype(numpy.float32)}, moving


def trees(rng, s):
    """A forest of binary trees of one depth, nodes in the order of a heap, as gradient boosting makes it."""
    nodes = 2 ** s["depth"] - 1
    weights = {"feature": rng.integers(0, s["features"], (s["trees"], nodes)).astype(numpy.int32),
               "threshold": rng.standard_normal((s["trees"], nodes)).astype(numpy.float32),
               "leaf": array(rng, s["trees"], nodes + 1)}
    return weights, [rng.standard_normal((s["batch"], s["features"])).astype(numpy.float32)]


def lstm(rng, s):
    d = s["d"]
    weights = {"x": dense(rng, d, 4 * d), "h": array(rng, d, 4 * d)}
    return weights, [rng.standard_normal((s["steps"], s["batch"], d)).astype(numpy.float32)]


def recommender(rng, s):
    d, tables = s["d"], s["tables"]
    pairs = (tables + 1) * tables // 2
    weights = {"tables": array(rng, tables, s["rows"], d) * numpy.float32(s["rows"]),
               "bottom": [dense(rng, 13, 512), dense(rng, 512, 256), dense(rng, 256, d)],
               "top": [dense(rng, d + pairs, 512), dense(rng, 512, 256), dense(rng, 256, 1)]}
    return weights, [rng.standard_normal((s["batch"], 13)).astype(numpy.float32),
                     rng.integers(0, s["rows"], (s["batch"], tables)).astype(numpy.int32)]


def convolution(rng, size, inputs, outputs):
    """Batch norm is folded into the weights and a bias."""
    return {"w": array(rng, size, size, inputs, outputs), "b": array(rng, outputs)}


def residual(rng, s):
    stages, features = [], s["width"]
    for stage, count in enumerate(s["blocks"]):
        middle = s["width"] << stage
        blocks = []
        for k in range(count):
            blocks.append({"a": convolution(rng, 1, features, middle), "b": convolution(rng, 3, middle, middle),
                           "c": convolution(rng, 1, middle, 4 * middle)})
            if k == 0:
                blocks[0]["skip"] = convolution(rng, 1, features, 4 * middle)
            features = 4 * middle
        stages.append(blocks)
    weights = {"stem": convolution(rng, 7, 3, s["width"]), "stages": stages, "head": dense(rng, features, 1000)}
    return weights, [rng.standard_normal((s["batch"], s["pixels"], s["pixels"], 3)).astype(numpy.float32)]


def mobile(rng, s):
    """MobileNetV2 and EfficientNet: inverted residuals (expansion, features, blocks, stride, size of the filters); with
    `squeezes`, features are scaled by what two products make of their means."""
    features, blocks = s["stem"], []
    for expansion, outputs, count, stride, size in s["stages"]:
        for k in range(count):
            middle = features * expansion
            block = {"deep": convolution(rng, size, 1, middle), "down": convolution(rng, 1, middle, outputs)}
            if expansion > 1:
                block["up"] = convolution(rng, 1, features, middle)
            if s["squeezes"]:
                block |= {"squeeze": dense(rng, middle, features // 4), "excite": dense(rng, features // 4, middle)}
            block["deep"]["w"] *= 3
            # Stages of one stride name it where their first block begins.
            blocks.append({"stride2" if k == 0 and stride == 2 else "stride1": block})
            features = outputs
    weights = {"stem": convolution(rng, 3, 3, s["stem"]), "blocks": blocks,
               "last": convolution(rng, 1, features, s["last"]), "head": dense(rng, s["last"], 1000)}
    return weights, [rng.standard_normal((s["batch"], s["pixels"], s["pixels"], 3)).astype(numpy.float32)]


def unet_block(rng, inputs, outputs, time):
    block = {"norm1": norm(rng, inputs), "conv1": convolution(rng, 3, inputs, outputs), "time": dense(rng, time, outputs),
             "norm2": norm(rng, outputs), "conv2": convolution(rng, 3, outputs, outputs)}
    if inputs != outputs:
        block["skip"] = convolution(rng, 1, inputs, outputs)
    return block


def unet(rng, s):
    """One denoising step: two levels down, attention in the middle, two up."""
    c, time = s["width"], 4 * s["width"]
    weights = {"stem": convolution(rng, 3, 4, c), "time": dense(rng, time, time),
               "down": [unet_block(rng, c, c, time), unet_block(rng, c, 2 * c, time), unet_block(rng, 2 * c, 4 * c, time)],
               "middle": [unet_block(rng, 4 * c, 4 * c, time), unet_block(rng, 4 * c, 4 * c, time)],
               "norm": norm(rng, 4 * c), "qkv": dense(rng, 4 * c, 12 * c), "out": dense(rng, 4 * c, 4 * c),
               "up": [unet_block(rng, 8 * c, 2 * c, time), unet_block(rng, 4 * c, c, time), unet_block(rng, 2 * c, c, time)],
               "last": norm(rng, c), "head": convolution(rng, 3, c, 4)}
    return weights, [rng.standard_normal((s["batch"], s["pixels"], s["pixels"], 4)).astype(numpy.float32),
                     rng.standard_normal((s["batch"], time)).astype(numpy.float32)]


def speech(rng, s):
    """Whisper's encoder: two convolutions over time, then a transformer."""
    weights, _ = transformer(rng, {**s, "tokens": 1})
    d = s["d"]
    weights |= {"conv1": {"w": array(rng, 3, 80, d), "b": array(rng, d)},
                "conv2": {"w": array(rng, 3, d, d), "b": array(rng, d)}, "places": array(rng, s["frames"] // 2, d)}
    return weights, [rng.standard_normal((s["batch"], s["frames"], 80)).astype(numpy.float32)]


def training(rng, s):
    weights, inputs = transformer(rng, s)
    return weights, [*inputs, rng.standard_normal(inputs[0].shape).astype(numpy.float32)]


def residual_training(rng, s):
    weights, inputs = residual(rng, s)
    return weights, [*inputs, rng.standard_normal((s["batch"], 1000)).astype(numpy.float32)]


BERT = {"batch": 1, "tokens": 128, "d": 768, "layers": 12}
LITTLE = {"batch": 1, "tokens": 12, "d": 128, "layers": 2, "words": 100, "cache": 20}
LLAMA = {"batch": 1, "tokens": 256, "d": 2048, "hidden": 5632, "heads": 32, "key_heads": 4, "layers": 2}
LITTLE_LLAMA = {"batch": 1, "tokens": 12, "d": 128, "hidden": 96, "heads": 2, "key_heads": 1, "layers": 2}
GEMMA = {"batch": 1, "tokens": 256, "d": 1152, "hidden": 6912, "heads": 18, "key_heads": 6, "layers": 2}
GPT2 = {"batch": 1, "tokens": 512, "d": 768, "layers": 12, "words": 50257, "cache": 1024}
RESNET = {"batch": 1, "pixels": 224, "width": 64, "blocks": [3, 4, 6, 3]}
LITTLE_RESNET = {"batch": 2, "pixels": 32, "width": 16, "blocks": [1, 1]}
MOBILE = {"batch": 1, "pixels": 224, "stem": 32, "last": 1280, "squeezes": False,
          "stages": [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3), (6, 96, 3, 1, 3), (6, 160, 3, 2, 3),
                     (6, 320, 1, 1, 3)]}
EFFICIENT = {**MOBILE, "squeezes": True,
             "stages": [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
                        (6, 320, 1, 1, 3)]}
LITTLE_MOBILE = {"batch": 1, "pixels": 32, "stem": 8, "last": 64, "squeezes": False, "stages": [(1, 8, 1, 1, 3), (6, 16, 2, 2, 5)]}
BF16 = {"dtype": ml_dtypes.bfloat16, "tolerance": 0.06}

PROGRAMS = {
    "resnet50_1": Program("resnet", RESNET, {**LITTLE_RESNET, "batch": 1}, residual),
    "resnet50_8": Program("resnet", {**RESNET, "batch": 8}, LITTLE_RESNET, residual),
    "resnet50_training_step": Program("train_resnet", {**RESNET, "batch": 4}, LITTLE_RESNET, residual_training, trains=True),
    "mobilenet_v2": Program("mobilenet", MOBILE, LITTLE_MOBILE, mobile),
    "efficientnet_b0": Program("efficientnet", EFFICIENT, {**LITTLE_MOBILE, "squeezes": True}, mobile),
    "unet_step": Program("denoise", {"batch": 1, "pixels": 64, "width": 128}, {"batch": 1, "pixels": 8, "width": 32}, unet),
    "whisper_base_encoder": Program("listen", {"batch": 1, "frames": 3000, "d": 512, "layers": 6},
                                    {"batch": 1, "frames": 24, "d": 128, "layers": 2}, speech),
    "bert_base_128": Program("encoder", BERT, LITTLE, transformer),
    "bert_base_512": Program("encoder", {**BERT, "tokens": 512}, LITTLE, transformer),
    "bert_base_128_bf16": Program("encoder", BERT, LITTLE, transformer, **BF16),
    "vit_b": Program("vision", {"batch": 1, "side": 14, "patch": 16, "d": 768, "layers": 12, "classes": 1000},
                     {"batch": 1, "side": 3, "patch": 4, "d": 128, "layers": 2, "classes": 10}, vision),
    "gpt2_prefill_512": Program("prefill", GPT2, LITTLE, causal),
    "gpt2_decode_1024": Program("decode", GPT2, LITTLE, decode, donated=(1,)),
    "llama_prefill_256": Program("llama", LLAMA, LITTLE_LLAMA, llama),
    "llama_prefill_256_bf16": Program("llama", LLAMA, LITTLE_LLAMA, llama, **BF16),
    "llama_token": Program("llama", {**LLAMA, "tokens": 1}, {**LITTLE_LLAMA, "tokens": 1}, llama),
    "llama_token_s8": Program("llama", {**LLAMA, "tokens": 1}, {**LITTLE_LLAMA, "tokens": 1}, llama_s8),
    "gemma_prefill_256": Program("gemma", GEMMA, LITTLE_LLAMA, llama),
    "nbody_2048": Program("gravity", {"bodies": 2048}, {"bodies": 20}, bodies),
    "trees_4096": Program("forest", {"batch": 4096, "features": 32, "trees": 200, "depth": 6},
                          {"batch": 5, "features": 4, "trees": 3, "depth": 3}, trees),
    "lstm": Program("lstm", {"d": 512, "steps": 64, "batch": 16}, {"d": 32, "steps": 5, "batch": 3}, lstm),
    "bert_training_step": Program("train", {"batch": 2, "tokens": 128, "d": 768, "layers": 4}, LITTLE, training, trains=True),
    "dlrm": Program("recommender", {"d": 64, "tables": 26, "rows": 20000, "batch": 256},
                    {"d": 8, "tables": 4, "rows": 50, "batch": 5}, recommender),
}


def made(name, small):
    """(weights, inputs) of a program, floats in its type."""
    program = PROGRAMS[name]
    weights, inputs = program.make(numpy.random.default_rng(7), program.small if small else program.sizes)

    def cast(tree):
        if isinstance(tree, dict):
            return {key: cast(value) for key, value in tree.items()}
        if isinstance(tree, list):
            return [cast(value) for value in tree]
        return tree.astype(program.dtype) if tree.dtype == numpy.float32 else tree

    return cast(weights), cast(inputs)
# SPDX-License-Identifier: Apache-2.0
