"""Cases of jax_manner.py that JAX's own wheel brings: the 7,526 harnesses of jax._src.internal_test_util.test_harnesses, a primitive with
types, shapes and parameters each, jitted and operation by operation; one in four vectorized too. None where absl-py is not there.

Example: `harness.cumsum/dtype_by_fun_shape_8_9_float16_axis_0_reverse_False/jit`.
"""
import zlib

import jax
import numpy as np

SHARP = {"eig", "eigh", "svd", "qr", "lu", "cholesky", "triangular_solve", "custom_linear_solve", "tridiagonal_solve", "digamma", "lgamma",
         "igamma", "igammac", "regularized_incomplete_beta", "random_gamma"}


def cases():
    try:
        from jax._src.internal_test_util import test_harnesses  # pylint: disable=import-outside-toplevel
    except ImportError:
        return
    for harness in test_harnesses.all_harnesses:
        if not harness.filter("cpu"):
            continue
        name, factor = f"harness.{harness.group_name}/{harness.name}", 1000 if harness.group_name in SHARP else 20

        def arguments(harness=harness):
            return harness.dyn_args_maker(np.random.RandomState(0))

        def vectorized(harness=harness, arguments=arguments):
            given = arguments()
            arrays = [isinstance(value, np.ndarray) for value in given]
            function = jax.vmap(harness.dyn_fun, in_axes=[0 if is_array else None for is_array in arrays])
            return jax.jit(function)(*(np.stack([value] * 3) if is_array else value for value, is_array in zip(given, arrays)))

        yield name + "/jit", lambda h=harness, a=arguments: jax.jit(h.dyn_fun)(*a()), factor
        yield name + "/eager", lambda h=harness, a=arguments: h.dyn_fun(*a()), factor
        if zlib.crc32(name.encode()) % 4 == 0:
            yield name + "/vmap", vectorized, factor
# SPDX-License-Identifier: Apache-2.0
