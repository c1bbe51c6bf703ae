#!/usr/bin/env python3
"""Makes testdata/models/mlp_mnist with JAX: make_demo_model.py [FOLDER].

One training step (loss, gradients, momentum) of a two-layer classifier on 14x14 digits: module.hlo is XLA's text before
its passes; inputs.npz holds in0, in1, ... and XLA's own results out0, out1, ..., with their names and HLO types.
Digits are drawn, not downloaded: each class is a few strokes plus noise.
"""
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np

SIDE, HIDDEN, CLASSES, BATCH = 14, 48, 10, 32
# Seven-segment strokes (top, middle, bottom, upper left, upper right, lower left, lower right) of each digit.
SEGMENTS = ["1011111", "0000101", "1110110", "1110101", "0101101", "1111001", "1111011", "1000101", "1111111", "1111101"]
STROKES = [np.s_[2, 4:10], np.s_[7, 4:10], np.s_[11, 4:10], np.s_[2:7, 4], np.s_[2:7, 9], np.s_[7:12, 4], np.s_[7:12, 9]]


def draw(rng, labels):
    images = rng.uniform(0, 0.2, (len(labels), SIDE, SIDE)).astype(np.float32)
    for image, label in zip(images, labels):
        for stroke, on in zip(STROKES, SEGMENTS[label]):
            if on == "1":
                image[stroke] += 0.8
    return images


def loss_of(params, images, labels):
    hidden = jax.nn.relu(images.reshape(len(images), -1) @ params["w1"] + params["b1"])
    logits = jax.nn.log_softmax(hidden @ params["w2"] + params["b2"])
    return -jnp.mean(jnp.take_along_axis(logits, labels[:, None], axis=1)), jnp.argmax(logits, axis=1)


def train_step(params, momentum, images, labels, rate):
    (loss, predicted), gradients = jax.value_and_grad(loss_of, has_aux=True)(params, images, labels)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
    params = jax.tree.map(lambda p, m: p - rate * m, params, momentum)
    return loss, predicted, params, momentum


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "testdata/models/mlp_mnist")
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, CLASSES, BATCH).astype(np.int32)
    params = {"w1": rng.normal(0, 0.1, (SIDE * SIDE, HIDDEN)), "b1": np.zeros(HIDDEN),
              "w2": rng.normal(0, 0.1, (HIDDEN, CLASSES)), "b2": np.zeros(CLASSES)}
    params = jax.tree.map(lambda x: np.round(x, 3).astype(np.float32), params)
    momentum = jax.tree.map(np.zeros_like, params)
    inputs = (params, momentum, draw(rng, labels).round(2), labels, np.float32(0.1))

    lowered = jax.jit(train_step).lower(*inputs)
    (folder / "module.hlo").write_text(lowered.compiler_ir("hlo").as_hlo_text())
    arrays = {f"in{i}": np.asarray(x) for i, x in enumerate(jax.tree.leaves(inputs))}
    arrays |= {f"out{i}": np.asarray(x) for i, x in enumerate(jax.tree.leaves(jax.jit(train_step)(*inputs)))}
    types = {"float32": "f32", "int32": "s32"}
    np.savez_compressed(folder / "inputs.npz", names=list(arrays), types=[types[a.dtype.name] for a in arrays.values()],
                        **arrays)


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
