"""Cases of jax_manner.py for JAX's interface: messages of errors, texts of programs, analyses, transfers, checks, exports, callbacks.

A case gives text; what must differ by platform (its name, addresses) is taken out of it. Errors are text too, so that their messages are
compared, as JAX's own tests match them.
"""
import functools
import re

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
from jax import lax


def text(*values):
    """Any values as an array of characters."""
    plain = re.sub(r"(?i)hlokit|TFRT_CPU|cpu", "cpu", repr(values))
    return np.frombuffer(re.sub(r"0x[0-9a-f]+|cpu_?(:|\()?\d+\)?|id=\d+", "", plain).encode(), np.uint8)


def error(function):
    """The type and the beginning of the message; of a callback's, which tells where it was called, the last line."""
    try:
        value = function()
        jax.block_until_ready(value)
    except Exception as e:  # pylint: disable=broad-except
        lines = str(e).strip().splitlines()
        return text(type(e).__name__, lines[-1] if "Traceback" in str(e) else str(e)[:400])
    return text("no error")


def f32(*shape):
    return jnp.arange(float(np.prod(shape)), dtype="float32").reshape(shape)


def error_cases():
    donating = lambda n: jax.jit(lambda *a: a[0] + 1, donate_argnums=n)
    def deleted(use):
        def run():
            x = f32(3) + 1
            x.delete()
            return use(x)
        return run
    def used_twice():
        x = f32(4) + 1
        return jax.jit(lambda a, b: a + b, donate_argnums=(0, 1))(x, x)
    def after_donation():
        x = f32(4) + 1
        donating(0)(x)
        return x + 1
    def gone():
        x = f32(4) + 1
        donating(0)(x)
        return np.asarray(x)
    def wrong_callback(shape, t):
        return lambda: jax.jit(lambda x: jax.pure_callback(lambda x: np.zeros(shape, t), jax.ShapeDtypeStruct((3,), np.float32), x))(f32(3))
    kinds = {
        "deleted_add": deleted(lambda x: x + 1), "deleted_numpy": deleted(np.asarray), "deleted_jit": deleted(jax.jit(lambda x: x * 2)), "deleted_put": deleted(lambda x: jax.device_put(x, jax.devices()[0])), "deleted_repr": deleted(repr),
        "deleted_block": deleted(lambda x: x.block_until_ready()), "deleted_pointer": deleted(lambda x: x.unsafe_buffer_pointer()), "deleted_dlpack": deleted(lambda x: x.__dlpack__()), "used_twice": used_twice, "after_donation": after_donation, "gone": gone,
        "shapes": lambda: f32(3) + f32(4), "dot": lambda: jnp.dot(f32(3), f32(4)), "reshape": lambda: f32(3).reshape(2, 2), "index": lambda: f32(3)[1, 2], "concat": lambda: jnp.concatenate([f32(3), f32(2, 2)]), "bool": lambda: bool(f32(3)), "float": lambda: float(f32(3)), "iter0": lambda: list(f32()),
        "option": lambda: jax.jit(lambda x: x, compiler_options={"invalid_key": 1})(1.0), "option_value": lambda: jax.jit(lambda x: x, compiler_options={"xla_embed_ir_in_executable": "invalid_value"})(1.0), "option_lowered": lambda: jax.jit(lambda x: x).lower(1.0).compile(compiler_options={"invalid_key": "x"}),
        "option_type": lambda: jax.jit(lambda x: x).lower(1.0).compile(compiler_options={"xla_cpu_enable_fast_math": True, "xla_dump_max_hlo_modules": 200}), "option_bad_int": lambda: jax.jit(lambda x: x).lower(1.0).compile(compiler_options={"xla_dump_max_hlo_modules": "a"}),
        "object": lambda: jax.device_put(np.array(["a"])), "compiled_shape": lambda: jax.jit(lambda x: x + 1).lower(f32(3)).compile()(f32(4)), "compiled_tree": lambda: jax.jit(lambda x: x["a"]).lower({"a": f32(3)}).compile()({"b": f32(3)}), "compiled_many": lambda: jax.jit(lambda x: x).lower(f32(3)).compile()(f32(3), 1),
        "compiled_traced": lambda: jax.jit(jax.jit(lambda x: x).lower(f32(3)).compile())(f32(3)), "nan": lambda: jax.jit(lambda x: x / x)(jnp.zeros(3)),
        "callback_shape": wrong_callback((4,), np.float32), "callback_type": wrong_callback((3,), np.int32), "while_types": lambda: lax.while_loop(lambda x: x < 5, lambda x: x * 1.5, 1), "scan_types": lambda: lax.scan(lambda c, x: (c * 1.5, x), 1, f32(3)), "cond_types": lambda: lax.cond(True, lambda x: x, lambda x: jnp.stack([x]), 1.0),
        "unpickle": lambda: jax.export.deserialize(bytearray(b"nothing")), "grad_int": lambda: jax.grad(lambda x: x)(1), "leaked": lambda: (lambda out: (jax.jit(lambda x: out.append(x))(1), out[0] + 1))([]), "static": lambda: jax.jit(lambda x: x, static_argnums=0)([1]),
        "singular": lambda: jnp.linalg.inv(jnp.zeros((2, 3))), "complex_float": lambda: float(jnp.asarray(1j)), "overflow": lambda: jnp.asarray(1 << 70), "x": lambda: jnp.int8(300), "at": lambda: f32(3).at[0], "set": lambda: f32(3).__setitem__(0, 1.0), "too_large_sort": lambda: lax.top_k(f32(3), 5),
        "memory_kind": lambda: jax.device_put(1.0, jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="no_such_kind")), "devices": lambda: jax.devices("no_such_platform"), "mesh": lambda: jax.make_mesh((64,), ("x",)), "sharding": lambda: jax.jit(lambda x: x, in_shardings=3)(1.0),
        "conv": lambda: lax.conv(f32(1, 2, 5, 5), f32(1, 3, 2, 2), (1, 1), "VALID"), "gather": lambda: jnp.take(f32(3), jnp.array([5]), mode="raise"), "choice": lambda: jax.random.choice(jax.random.key(0), 3, (5,), replace=False), "key": lambda: jax.random.uniform(jnp.zeros(3, jnp.uint32)), "uint": lambda: -jnp.arange(3, dtype="uint8") + (-1),
    }
    for name, function in kinds.items():
        yield f"api.error/{name}", functools.partial(error, function)
    for guard in ("disallow", "disallow_explicit", "log", "allow"):
        for name, function in {"to_device": lambda: jnp.add(np.ones(3), 1), "put": lambda: jax.device_put(np.ones(3)), "jit": lambda: jax.jit(lambda x: x)(np.ones(3)), "back": lambda: np.asarray(f32(3) + 1), "get": lambda: jax.device_get(f32(3) + 1), "float": lambda: float(f32(3)[0])}.items():
            def guarded(guard=guard, function=function):
                with jax.transfer_guard(guard):
                    return function()
            yield f"api.guard/{guard}/{name}", functools.partial(error, guarded)
    for name, function in {"log": lambda: jnp.log(-f32(3)), "div": lambda: jax.jit(lambda x: x / x)(f32(3)), "inf": lambda: jax.jit(lambda x: 1 / x)(f32(3)), "scan": lambda: lax.scan(lambda c, x: (c, jnp.log(x)), 0.0, -f32(3)), "grad": lambda: jax.grad(jnp.sqrt)(0.0), "complex": lambda: jnp.asarray(1j) * np.nan, "fine": lambda: f32(3) * 2}.items():
        for config in (jax.debug_nans, jax.debug_infs):
            def watched(function=function, config=config):
                with config(True):
                    return function()
            yield f"api.{config._name if hasattr(config, '_name') else 'debug'}/{name}", functools.partial(error, watched)


def check_cases():
    from jax.experimental import checkify
    functions = {
        "nan": (lambda x: jnp.log(x), (-1.0,)), "division": (lambda x: 1 // x, (0,)), "index": (lambda x: x[5], (f32(3),)), "negative": (lambda x: x[-5], (f32(3),)), "update": (lambda x: x.at[9].set(1), (f32(3),)), "user": (lambda x: (checkify.check(jnp.all(x > 0), "must be positive: {x}", x=x), x)[1], (f32(3),)),
        "scan": (lambda x: lax.scan(lambda c, v: (c, jnp.log(v)), 0.0, x), (f32(3) - 1,)), "while": (lambda x: lax.while_loop(lambda v: v > 0, lambda v: (checkify.check(v < 3, "small {}", v), v - 1)[1], x), (5,)), "cond": (lambda x: lax.cond(x > 0, lambda v: jnp.log(-v), lambda v: v, x), (1.0,)), "vmap": (lambda x: jax.vmap(lambda v: jnp.log(v))(x), (-f32(3),)),
        "jit": (jax.jit(lambda x: jnp.sin(x / 0)), (0.0,)), "grad": (lambda x: jax.grad(lambda v: jnp.sqrt(v))(x), (0.0,)), "fori": (lambda x: lax.fori_loop(0, 5, lambda i, v: v.at[i].set(i), x), (f32(3),)), "dynamic": (lambda x: lax.dynamic_slice(x, (4,), (2,)), (f32(5),)), "gather": (lambda x: jnp.take_along_axis(x, jnp.array([7]), 0), (f32(5),)), "good": (lambda x: jnp.log(x), (1.0,)),
        "associative": (lambda x: lax.associative_scan(jnp.divide, x), (f32(4),)), "reduce": (lambda x: jnp.sum(x / x), (f32(4),)), "sort": (lambda x: (checkify.check(jnp.all(jnp.diff(x) >= 0), "unsorted"), jnp.sort(x))[1], (-f32(4),)), "nested": (jax.jit(lambda x: jax.jit(jnp.log)(x)), (-1.0,)), "remat": (jax.checkpoint(lambda x: jnp.log(x)), (-1.0,)),
    }
    for name, (function, arguments) in functions.items():
        for errors in ("user_checks", "nan_checks", "div_checks", "index_checks", "float_checks", "automatic_checks", "all_checks"):
            def run(function=function, arguments=arguments, errors=errors):
                found, out = checkify.checkify(function, errors=getattr(checkify, errors))(*arguments)
                message = found.get()
                return text(message.splitlines()[0] if message else message), out
            yield f"api.checkify/{name}/{errors}", run


def program_cases():
    functions = {"add": lambda x: x + 1, "dot": lambda x: x @ x, "sum": lambda x: x.sum(), "scan": lambda x: lax.scan(lambda c, v: (c + v, c), x[0], x)[0], "while": lambda x: lax.while_loop(lambda v: v[0, 0] < 5, lambda v: v + 1, x), "many": lambda x: (x, {"a": x.T, "b": (x > 1,)}), "empty": lambda x: (), "sort": jnp.sort, "fft": lambda x: jnp.fft.fft(x), "solve": lambda x: jnp.linalg.solve(x + 9 * jnp.eye(4), x), "random": lambda x: x + jax.random.normal(jax.random.key(0), (4, 4)), "none": lambda x: None, "same": lambda x: x}
    for name, function in functions.items():
        lowered = lambda function=function: jax.jit(function).lower(f32(4, 4))
        yield f"api.text/{name}", lambda l=lowered: text(l().as_text()), 1
        yield f"api.debug_text/{name}", lambda l=lowered: text(len(l().as_text(debug_info=True)) > 0, "loc(" in l().as_text(debug_info=True))
        yield f"api.hlo/{name}", lambda l=lowered: text(l().as_text("hlo"), l().compiler_ir("hlo").as_hlo_text()[:20], str(l().compiler_ir("stablehlo"))[:300])
        yield f"api.compiled/{name}", lambda l=lowered: (lambda c: text(isinstance(c.as_text(), str), "HloModule" in c.as_text(), sorted(c.cost_analysis())[:0], type(c.cost_analysis()).__name__, type(c.memory_analysis()).__name__, c.memory_analysis().argument_size_in_bytes, c.memory_analysis().output_size_in_bytes >= 0, c.in_tree, c.out_tree, c.in_avals, [str(s) for s in jax.tree.leaves(c.input_shardings)], [str(s) for s in jax.tree.leaves(c.output_shardings)], c.input_formats, c.output_formats, c.args_info, c.out_info))(l().compile())
        yield f"api.flops/{name}", lambda l=lowered: text(l().compile().cost_analysis().get("flops", 0) >= 0)
        yield f"api.run/{name}", lambda l=lowered: (l().compile()(f32(4, 4)), jax.jit(jax.tree_util.Partial(functions[name]) if False else functions[name])(f32(4, 4)))
        yield f"api.export/{name}", lambda function=function: jax.export.deserialize(jax.export.export(jax.jit(function), platforms=("cpu", "hlokit"))(f32(4, 4)).serialize()).call(f32(4, 4))
        yield f"api.symbolic/{name}", lambda function=function: jax.export.export(jax.jit(function), platforms=("cpu", "hlokit"))(jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, b"), jnp.float32)).call(f32(4, 4)) if name not in ("solve", "random", "fft") else 0
    for dims, function in {"n": lambda x: jnp.cumsum(x), "n, m": lambda x: x.T @ x, "n, 2*n": lambda x: x.reshape(-1), "2*n": lambda x: x[::2] + x.shape[0], "n+1": lambda x: x[1:] - x[:-1], "b, 4": lambda x: jax.nn.softmax(x) @ jnp.ones((4, 3)), "n,": lambda x: jnp.pad(x, 1), "k, 3": lambda x: jnp.sort(x, 0), "k, 5": lambda x: x.at[x.shape[0] - 1].set(1), "q": lambda x: lax.fori_loop(0, x.shape[0], lambda i, c: c + x[i], 0.0), "q, q": lambda x: jnp.eye(x.shape[0]) + jnp.tril(x), "r": lambda x: jnp.concatenate([x, jnp.arange(x.shape[0], dtype=x.dtype)]), "r, 2": lambda x: lax.dynamic_slice(x, (x.shape[0] // 2, 0), (1, 2)), "s, 4": lambda x: jax.vmap(jnp.dot, (0, None))(x, jnp.ones(4)), "t": lambda x: x.mean() + jnp.var(x)}.items():
        shape = {"n": (5,), "n, m": (3, 4), "n, 2*n": (3, 6), "2*n": (6,), "n+1": (5,), "b, 4": (3, 4), "n,": (3,), "k, 3": (4, 3), "k, 5": (2, 5), "q": (4,), "q, q": (3, 3), "r": (4,), "r, 2": (5, 2), "s, 4": (3, 4), "t": (7,)}[dims]
        yield f"api.symbolic_shape/{dims}", lambda dims=dims, function=function, shape=shape: (lambda e: (e.call(f32(*shape)), jax.jit(e.call)(f32(*shape)), text(e.out_avals)))(jax.export.export(jax.jit(function), platforms=("cpu", "hlokit"))(jax.ShapeDtypeStruct(jax.export.symbolic_shape(dims), jnp.float32)))
        yield f"api.symbolic_grad/{dims}", lambda dims=dims, function=function, shape=shape: jax.grad(lambda x: jax.export.export(jax.jit(function), platforms=("cpu", "hlokit"))(jax.ShapeDtypeStruct(jax.export.symbolic_shape(dims), jnp.float32)).call(x).sum())(f32(*shape)), 10 if dims != "b, 4" else 1e4


def callback_cases():
    def log_of(function):
        def run():
            seen = []
            out = function(seen)
            jax.block_until_ready(out)
            jax.effects_barrier()
            return text(seen), out
        return run
    note = lambda seen, ordered=False: lambda x: jax.debug.callback(lambda v: seen.append(np.asarray(v).tolist()), x, ordered=ordered)
    from jax.experimental import io_callback
    shape = jax.ShapeDtypeStruct((), np.float32)
    pure = lambda x, method=None: jax.pure_callback(lambda v: np.asarray(np.sin(v), np.float32), jax.ShapeDtypeStruct(jnp.shape(x), np.float32), x, vmap_method=method)
    cases_ = {
        "debug": lambda seen: jax.jit(lambda x: (note(seen)(x), x)[1])(1.0), "ordered": lambda seen: jax.jit(lambda x: [note(seen, True)(x + i) for i in range(5)])(1.0), "scan": lambda seen: lax.scan(lambda c, x: (note(seen, True)(x), (c + x, c))[1], 0.0, f32(4)), "while": lambda seen: jax.jit(lambda n: lax.while_loop(lambda i: i < n, lambda i: (note(seen, True)(i), i + 1)[1], 0))(4),
        "cond": lambda seen: jax.jit(lambda p: lax.cond(p, note(seen), lambda x: None, 3.0))(True), "switch": lambda seen: [jax.jit(lambda i: lax.switch(i, [lambda i: note(seen)(i), lambda i: note(seen)(-i)], i))(k) for k in (0, 1)], "grad": lambda seen: jax.grad(lambda x: (note(seen)(x), x * x)[1])(3.0), "remat": lambda seen: jax.grad(jax.checkpoint(lambda x: (note(seen)(x), jnp.sin(x))[1]))(3.0),
        "jvp": lambda seen: jax.jvp(lambda x: (note(seen)(x), x * 2)[1], (1.0,), (1.0,)), "vmap": lambda seen: (jax.vmap(lambda x: (note(seen)(x), x)[1])(f32(3)), seen.sort())[0], "pure": lambda seen: jax.jit(pure)(f32(3)), "vmap_sequential": lambda seen: jax.vmap(lambda x: pure(x, "sequential"))(f32(3)), "vmap_expand": lambda seen: jax.vmap(lambda x: pure(x, "expand_dims"))(f32(3)), "vmap_broadcast": lambda seen: jax.vmap(lambda x: pure(x, "broadcast_all"))(f32(3)), "vmap_unroll": lambda seen: jax.vmap(lambda x: pure(x, "sequential_unrolled"))(f32(3)), "vmap_legacy": lambda seen: jax.vmap(lambda x: pure(x, "legacy_vectorized"))(f32(3)),
        "io": lambda seen: jax.jit(lambda x: io_callback(lambda v: (seen.append(float(v)), np.float32(v * 2))[1], shape, x))(3.0), "io_ordered": lambda seen: jax.jit(lambda: [io_callback(lambda: (seen.append(len(seen)), np.float32(len(seen)))[1], shape, ordered=True) for _ in range(4)])(), "io_scan": lambda seen: lax.scan(lambda c, _: (c, io_callback(lambda: (seen.append(1), np.float32(len(seen)))[1], shape, ordered=True)), 0, None, length=4), "io_none": lambda seen: jax.jit(lambda x: io_callback(lambda v: seen.append(float(v)), None, x))(2.0), "io_vmap": lambda seen: (jax.vmap(lambda x: io_callback(lambda v: seen.append(float(v)), None, x))(f32(3)), seen.sort())[0],
        "tree": lambda seen: jax.jit(lambda x: jax.pure_callback(lambda t: {"a": t["b"] + 1, "c": (t["b"],)}, {"a": jax.ShapeDtypeStruct((3,), np.float32), "c": (jax.ShapeDtypeStruct((3,), np.float32),)}, {"b": x}))(f32(3)), "types": lambda seen: [jax.jit(lambda x: jax.pure_callback(lambda v: np.asarray(v), jax.ShapeDtypeStruct((2,), x.dtype), x))(jnp.ones(2, t)) for t in ("bfloat16", "float16", "int8", "bool", "complex64", "uint64", "float8_e5m2", "float64", "int4")], "empty": lambda seen: jax.jit(lambda x: jax.pure_callback(lambda v: np.asarray(v), jax.ShapeDtypeStruct((0, 3), x.dtype), x))(jnp.ones((0, 3))),
        "print": lambda seen: jax.jit(lambda x: jax.debug.print("{} {x}", x, x=x + 1))(1.0), "many": lambda seen: jax.jit(lambda *a: jax.pure_callback(lambda *v: sum(v), jax.ShapeDtypeStruct((), np.float32), *a))(*[jnp.float32(i) for i in range(40)]), "nested": lambda seen: jax.jit(lambda x: jax.pure_callback(lambda v: np.asarray(np.sin(v) * 2, np.float32), shape, x))(1.0), "key": lambda seen: jax.jit(lambda k: jax.debug.callback(lambda k: seen.append(str(k.dtype)), k))(jax.random.key(0)),
        "custom_jvp": lambda seen: (lambda f: (f.defjvp(lambda p, t: (f(*p), jax.pure_callback(lambda v: np.asarray(np.cos(v), np.float32), shape, p[0]) * t[0])), jax.grad(f)(1.0))[1])(jax.custom_jvp(lambda x: pure(x))), "fori_big": lambda seen: jax.jit(lambda x: lax.fori_loop(0, 3, lambda i, v: pure(v), x))(f32(1000)), "partial_eval": lambda seen: jax.linearize(lambda x: (note(seen)(x), x * x)[1], 2.0)[1](1.0),
    }
    for name, function in cases_.items():
        yield f"api.callback/{name}", log_of(function)
    for name, function in {"error": lambda x: 1 / 0, "key_error": lambda x: {}["missing"], "value": lambda x: (_ for _ in ()).throw(ValueError("told")), "keyboard": lambda x: (_ for _ in ()).throw(RuntimeError("stop"))}.items():
        def failing(function=function):
            try:
                jax.block_until_ready(jax.jit(lambda x: jax.pure_callback(function, shape, x))(1.0))
            except Exception as e:  # pylint: disable=broad-except
                return text(type(e).__name__, [w for w in ("ZeroDivisionError", "KeyError: 'missing'", "ValueError: told", "RuntimeError: stop") if w in str(e)])
            return text("none")
        yield f"api.callback_error/{name}", failing


def array_cases():
    x = lambda: f32(4, 6)
    items = {
        "repr": lambda: text(repr(x()), str(x()), f"{x()[0, 1]:.3f}", x().tolist(), x().item(3)), "attributes": lambda: text(x().shape, x().dtype, x().ndim, x().size, x().nbytes, x().itemsize, x().weak_type, x().committed, x().is_fully_addressable, x().is_fully_replicated, x().is_deleted(), len(x()), x().aval, jax.typeof(x())), "sharding": lambda: text(x().sharding, x().format, len(x().addressable_shards), x().addressable_shards[0].index, x().addressable_shards[0].replica_id, x().global_shards[0].index, x().on_device_size_in_bytes()),
        "numpy": lambda: [np.asarray(x()), np.array(x(), dtype=np.float64), x().__array__(), np.asarray(x()).flags.writeable, np.asarray(x()).flags.c_contiguous], "copy": lambda: (lambda a: [a.copy(), a.__copy__(), a.__deepcopy__({}), jnp.array(a, copy=True), jnp.asarray(a) is a])(x()), "dlpack": lambda: [np.from_dlpack(x()), jnp.from_dlpack(np.arange(5.0)), jax.dlpack.is_supported_dtype(jnp.float32)], "interface": lambda: text(sorted(k for k in ("__array_priority__", "__cuda_array_interface__", "__array_interface__", "__dlpack__", "__array_namespace__") if hasattr(x(), k))), "pickle": lambda: __import__("pickle").loads(__import__("pickle").dumps(x())), "device": lambda: text(x().device, x().devices(), x().platform() if callable(getattr(x(), "platform", None)) else 0, x().to_device(jax.devices()[0]).shape),
        "strided": lambda: [jnp.asarray(np.arange(24.0).reshape(4, 6)[::-2, 1::2]), jnp.asarray(np.arange(24.0).reshape(4, 6).T), jnp.asarray(np.broadcast_to(np.float32(3), (2, 3))), jnp.asarray(np.arange(5, dtype=">i4")), jnp.asarray(np.frombuffer(b"abcdefgh", np.uint8)[1:]), jnp.asarray(np.asfortranarray(np.arange(6.0).reshape(2, 3)))], "mutated": lambda: (lambda a: (lambda b: (a.__setitem__(0, 9), b)[1])(jnp.array(a)))(np.arange(4.0)), "put": lambda: (lambda a: (lambda b: (jax.block_until_ready(b), a.__setitem__(0, 9), b)[2])(jax.device_put(a, may_alias=False)))(np.arange(400.0)), "scalars": lambda: [jnp.asarray(v) for v in (1, 2.5, True, 1j, np.float16(3), np.int8(-3))] + [int(jnp.int8(-7)), float(jnp.bfloat16(1.5)), complex(jnp.complex64(1 + 2j)), bool(jnp.array(True)), list(range(10))[jnp.array(3)], hex(jnp.uint8(255))], "iter": lambda: [list(x()), list(zip(x(), x())), x().__getitem__(slice(1, 2)), sum(x()), max(f32(5)), x() in [1] if False else 0, 3.0 in x()], "memory": lambda: text(sorted(jax.devices()[0].addressable_memories(), key=str).__len__() >= 1, x().sharding.memory_kind, jax.devices()[0].default_memory().kind),
        "device_get": lambda: jax.device_get({"a": x(), "b": [x() + 1, 3]}), "eval_shape": lambda: text(jax.eval_shape(lambda a: a @ a.T, x()), jax.make_jaxpr(lambda a: jnp.sin(a).sum())(x())), "named_call": lambda: jax.named_call(lambda a: a + 1, name="n")(x()), "named_scope": lambda: text("inner" in jax.jit(lambda a: jax.named_scope("inner")(jnp.sin)(a)).lower(x()).as_text(debug_info=True)), "stats": lambda: text(type(jax.devices()[0].memory_stats()).__name__ != "", jax.device_count() == 1, jax.local_device_count() == 1, jax.process_index(), jax.process_count()),
        "clear": lambda: (jax.jit(lambda a: a * 3)(x()), jax.clear_caches(), jax.jit(lambda a: a * 3)(x()))[2], "async": lambda: (lambda a: (a.copy_to_host_async(), np.asarray(a), a.is_ready())[1])(jax.jit(lambda a: a @ a.T)(x())), "disable_jit": lambda: (lambda c: c.__enter__() or (lax.scan(lambda a, b: (a + b, a), 0.0, f32(4)), c.__exit__(None, None, None))[0])(jax.disable_jit()), "ref": lambda: (lambda r: (r.__setitem__(..., r[...] * 2), jax.jit(lambda q: q.__setitem__(1, 7.0))(r), r[...])[2])(jax.new_ref(f32(3))), "token": lambda: jax.jit(lambda a: lax.optimization_barrier((a, a + 1)))(x()), "profile": lambda: text(type(jax.jit(lambda a: a + 1).trace(x())).__name__), "cache_size": lambda: (lambda f: (f(1.0), f(2.0), f(f32(2)), text(f._cache_size()))[3])(jax.jit(lambda a: a + 1)), "donate_unused": lambda: jax.jit(lambda a: a.sum(), donate_argnums=0)(x() + 1), "donate_kept": lambda: (lambda a: (jax.jit(lambda b: b + 1, donate_argnums=0)(a), text(a.is_deleted()))[1])(x() + 1), "donate_shape": lambda: (lambda a: (jax.jit(lambda b: b.T, donate_argnums=0)(a), text(a.is_deleted()))[1])(x() + 1), "aot_donate": lambda: (lambda a: (jax.jit(lambda b: b * 2, donate_argnums=0).lower(a).compile()(a), text(a.is_deleted()))[1])(x() + 1), "donate_names": lambda: (lambda a: (jax.jit(lambda b: b * 2, donate_argnames="b")(b=a), text(a.is_deleted()))[1])(x() + 1),
    }
    for name, function in items.items():
        yield f"api.array/{name}", function


def cases():
    for part in (error_cases, check_cases, program_cases, callback_cases, array_cases):
        yield from part()
# SPDX-License-Identifier: Apache-2.0
