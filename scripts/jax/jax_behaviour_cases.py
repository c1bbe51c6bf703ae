"""The cases of jax_behaviours.py: (name, function without arguments)."""
import contextlib
import gc
import glob
import io
import os
import pickle
import tempfile
import threading
import weakref

import jax
import jax.export
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding


def f32(*shape):
    return jnp.arange(float(np.prod(shape)), dtype="float32").reshape(shape)


def mesh(shape=(4,), names=("x",)):
    return Mesh(np.array(jax.devices()[:4]).reshape(shape), names, axis_types=(AxisType.Auto,) * len(names))


def cut(spec=P("x"), shape=(4,), names=("x",)):
    return NamedSharding(mesh(shape, names), spec)


def sharded():
    return jax.device_put(np.arange(16, dtype=np.float32).reshape(8, 2), cut())


def device_cases():
    first = lambda: jax.devices()[0]
    client = lambda: first().client
    yield "device/ids", lambda: [(d.id, d.process_index, d.local_hardware_id, d.host_id if hasattr(d, "host_id") else 0) for d in jax.devices()]
    yield "device/text", lambda: [str(first()), repr(first()), first().device_kind]
    yield "device/memories", lambda: [m.kind for m in first().addressable_memories()]
    yield "device/default_memory", lambda: first().default_memory().kind
    yield "device/memory_of", lambda: [first().memory("pinned_host").kind, len(first().memory("device").addressable_by_devices())]
    yield "device/no_memory", lambda: first().memory("nowhere")
    yield "device/memory_stats", lambda: type(first().memory_stats()).__name__
    yield "device/compare", lambda: [first() == jax.devices()[0], first() != jax.devices()[1], hash(first()) == hash(jax.local_devices()[0]), len(set(jax.devices()))]
    yield "device/by_process", lambda: [len(jax.local_devices(process_index=0)), jax.process_indices() if hasattr(jax, "process_indices") else 0, jax.host_id() if False else 0]
    yield "device/no_process", lambda: jax.local_devices(process_index=3)
    yield "device/client", lambda: [client().device_count(), client().local_device_count(), client().process_index(), len(client().devices()), len(client().local_devices()), client().runtime_type != ""]
    yield "device/lookup", lambda: [client().device_from_local_hardware_id(1).id, jax.devices()[2].id]
    yield "device/no_lookup", lambda: client().device_from_local_hardware_id(77)
    yield "device/attributes", lambda: sorted(k for k in ("coords", "core_on_chip", "num_cores", "slice_index", "compute_capability") if hasattr(first(), k))
    yield "device/live", lambda: (lambda x: [any(x is a for a in jax.live_arrays()), len(client().live_executables()) > 0])(f32(3) + 1)
    yield "device/live_gone", lambda: (lambda n: (gc.collect(), len(jax.live_arrays()) <= n)[1])((f32(7) + 1, gc.collect(), len(jax.live_arrays()))[2])
    yield "device/heap_profile", lambda: len(client().heap_profile()) > 0
    yield "device/synchronize", lambda: [first().synchronize_all_activity() if hasattr(first(), "synchronize_all_activity") else None]
    yield "device/defragment", lambda: client().defragment()
    yield "device/infeed", lambda: first().transfer_to_infeed((np.float32(1),)) if hasattr(first(), "transfer_to_infeed") else "none"
    yield "device/attributes_client", lambda: sorted(k for k in ("platform_version", "platform", "runtime_type") if isinstance(getattr(client(), k, None), str))


def array_cases():
    yield "array/shards", lambda: [(s.device.id, s.index, s.replica_id, s.data) for s in sharded().addressable_shards]
    yield "array/replicas", lambda: [(s.device.id, s.index, s.replica_id) for s in jax.device_put(f32(4), cut(P(None))).addressable_shards]
    yield "array/partly", lambda: [(s.device.id, s.index, s.replica_id) for s in jax.device_put(f32(4, 2), cut(P("y"), (2, 2), ("x", "y"))).global_shards]
    yield "array/uneven", lambda: jax.device_put(f32(6), cut())
    yield "array/shard_deleted", lambda: (lambda x: (x.delete(), x.addressable_shards[0].data))(sharded())
    yield "array/delete_twice", lambda: (lambda x: (x.delete(), x.delete(), x.is_deleted()))(f32(3) + 1)
    yield "array/delete_keeps_view", lambda: (lambda x: (lambda v: (x.delete(), v)[1])(np.asarray(x)))(f32(4) + 1)
    yield "array/delete_shard_part", lambda: (lambda x: (lambda p: (x.delete(), p.is_deleted()))(x.addressable_shards[1].data))(sharded())
    yield "array/deleted_shape", lambda: (lambda x: (x.delete(), x.shape, x.dtype, x.sharding.num_devices, len(x)))(f32(3) + 1)
    yield "array/deleted_get", lambda: (lambda x: (x.delete(), jax.device_get([x])))(f32(3) + 1)
    yield "array/deleted_async", lambda: (lambda x: (x.delete(), x.copy_to_host_async()))(f32(3) + 1)
    yield "array/deleted_index", lambda: (lambda x: (x.delete(), x[0]))(f32(3) + 1)
    yield "array/deleted_shards_numpy", lambda: (lambda x: (x.delete(), np.asarray(x)))(sharded())
    yield "array/deleted_other_device", lambda: (lambda x: (x.delete(), jax.device_put(x, jax.devices()[1])))(f32(3) + 1)
    yield "array/pointer_is_view", lambda: (lambda x: np.asarray(x).ctypes.data == x.unsafe_buffer_pointer())(f32(1000) + 1)
    yield "array/pointer_sharded", lambda: sharded().unsafe_buffer_pointer()
    yield "array/pointer_shards", lambda: (lambda x: len({s.data.unsafe_buffer_pointer() for s in x.addressable_shards}))(sharded())
    yield "array/size_on_device", lambda: [jnp.zeros(10, t).on_device_size_in_bytes() for t in ("float32", "int8", "bool", "bfloat16", "float8_e5m2", "int4", "uint4")]
    yield "array/nbytes", lambda: [(jnp.zeros(10, t).nbytes, jnp.zeros(10, t).itemsize) for t in ("float32", "int4", "uint4", "float8_e4m3fn", "bool")]
    yield "array/view_flags", lambda: (lambda v: [v.flags.writeable, v.flags.owndata, v.flags.aligned])(np.asarray(f32(100) + 1))
    yield "array/write_view", lambda: np.asarray(f32(4) + 1).__setitem__(0, 5)
    yield "array/numpy_cached", lambda: (lambda x: np.asarray(x) is np.asarray(x) or np.shares_memory(np.asarray(x), np.asarray(x)))(f32(100) + 1)
    yield "array/numpy_copy", lambda: (lambda x: np.shares_memory(np.array(x), np.asarray(x)))(f32(100) + 1)
    yield "array/interface", lambda: f32(3).__array_interface__["typestr"]
    yield "array/cuda_interface", lambda: f32(3).__cuda_array_interface__
    yield "array/callback", lambda: jax.make_array_from_callback((8, 2), cut(), lambda i: np.arange(16.0, dtype=np.float32).reshape(8, 2)[i])
    yield "array/callback_shape", lambda: jax.make_array_from_callback((8, 2), cut(), lambda i: np.zeros((3, 2), np.float32))
    yield "array/callback_types", lambda: jax.make_array_from_callback((4,), cut(), lambda i: np.zeros(1, np.float32 if i[0].start == 0 else np.int32))
    yield "array/from_parts", lambda: jax.make_array_from_single_device_arrays((4,), cut(), [jax.device_put(jnp.float32([d.id]), d) for d in jax.devices()[:4]])
    yield "array/from_parts_wrong", lambda: jax.make_array_from_single_device_arrays((4,), cut(), [jax.device_put(jnp.float32([d.id, 1]), d) for d in jax.devices()[:4]])
    yield "array/from_parts_few", lambda: jax.make_array_from_single_device_arrays((4,), cut(), [jnp.float32([1])])
    yield "array/from_parts_device", lambda: jax.make_array_from_single_device_arrays((4,), cut(), [jnp.float32([1])] * 4)
    yield "array/process_local", lambda: jax.make_array_from_process_local_data(cut(), np.arange(8.0, dtype=np.float32))
    yield "array/data_per_device", lambda: [sharded().addressable_data(2), sharded().is_fully_replicated]
    yield "array/pickle_sharded", lambda: (lambda x: [x, x.sharding.num_devices])(pickle.loads(pickle.dumps(sharded())))
    yield "array/weakref", lambda: (lambda r: (gc.collect(), r() is None)[1])(weakref.ref(f32(5) + 1))
    yield "array/namespace", lambda: f32(2).__array_namespace__() is jnp
    yield "array/views", lambda: [f32(2).view("int32"), jnp.int32([1, 2]).view("int8"), jnp.uint8([1, 2, 3, 4]).view("float32")]
    yield "array/view_wrong", lambda: jnp.uint8([1, 2, 3]).view("float32")
    yield "array/real_imag", lambda: [jnp.complex64(1 + 2j).real, jnp.complex64(1 + 2j).imag, jnp.conj(jnp.complex64([1 + 2j]))]
    yield "array/iter_sharded", lambda: [list(sharded())[3], sharded()[5, 1], sharded()[1:7:2]]


def transfer_cases():
    host = lambda n=4096: np.arange(n, dtype=np.float32)
    yield "put/array_copies", lambda: (lambda a: (lambda x: (a.__setitem__(0, 9), float(x[0]))[1])(jax.block_until_ready(jnp.array(a))))(host())
    yield "put/donate", lambda: (lambda x: [jax.device_put(x, jax.devices()[1], donate=True), x.is_deleted()])(f32(3) + 1)
    yield "put/donate_same", lambda: (lambda x: [jax.device_put(x, jax.devices()[0], donate=True), x.is_deleted()])(f32(3) + 1)
    yield "put/same_is_same", lambda: (lambda x: jax.device_put(x) is x)(f32(3) + 1)
    yield "put/alias", lambda: (lambda x: jax.device_put(x, jax.devices()[0]).unsafe_buffer_pointer() == x.unsafe_buffer_pointer())(f32(3000) + 1)
    yield "put/no_alias", lambda: (lambda x: jax.device_put(x, jax.devices()[0], may_alias=False).unsafe_buffer_pointer() == x.unsafe_buffer_pointer())(f32(3000) + 1)
    yield "put/copy_pointer", lambda: (lambda x: x.copy().unsafe_buffer_pointer() == x.unsafe_buffer_pointer())(f32(3000) + 1)
    yield "put/other_device", lambda: (lambda y: [y, [d.id for d in y.devices()], y.committed])(jax.device_put(f32(3), jax.devices()[2]))
    yield "put/reshard", lambda: [s.data for s in jax.device_put(sharded(), cut(P(None, "x"), (2,), ("x",)) if False else NamedSharding(Mesh(np.array(jax.devices()[:2]), ("x",)), P(None, "x"))).addressable_shards]
    yield "put/tree", lambda: jax.device_put({"a": 1, "b": (2.5, np.int8(3))}, jax.devices()[1])
    yield "put/tree_of_places", lambda: [list(v.devices())[0].id for v in jax.device_put([1, 2.0], [jax.devices()[1], jax.devices()[3]])]
    yield "put/memory", lambda: (lambda x: [x.sharding.memory_kind, x, (x + 1).sharding.memory_kind])(jax.device_put(f32(3), SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")))
    yield "put/memory_back", lambda: (lambda x: jax.device_put(x, SingleDeviceSharding(jax.devices()[0], memory_kind="device")).sharding.memory_kind)(jax.device_put(f32(3), SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")))
    yield "put/types", lambda: [jax.device_put(np.array([1, 2], t)) for t in ("int64", "float64", "complex128", "uint64", ">i4", "?", "e")]
    yield "put/small_types", lambda: [jax.device_put(np.array([1, 2, -1], t)) for t in (ml_dtypes.int4, ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16, ml_dtypes.float8_e8m0fnu, ml_dtypes.float4_e2m1fn, ml_dtypes.int2)]
    yield "put/strings", lambda: jax.device_put(np.array(["a"]))
    yield "put/datetime", lambda: jax.device_put(np.array(["2020-01-01"], "datetime64[D]"))
    yield "put/record", lambda: jax.device_put(np.zeros(2, [("a", "i4")]))
    yield "put/read_only", lambda: jax.device_put(np.broadcast_to(np.float32(3), (4, 4)))
    yield "put/zero_size", lambda: [jax.device_put(np.zeros((0, 3), np.float32)), jax.device_put(np.zeros((3, 0), np.int8), cut(P()))]
    yield "put/rank0_sharded", lambda: jax.device_put(np.float32(1), cut())
    yield "get/tree", lambda: [type(v).__name__ for v in jax.tree.leaves(jax.device_get({"a": f32(2), "b": 3, "c": sharded()}))]
    yield "get/async_then_delete", lambda: (lambda x: (x.copy_to_host_async(), np.asarray(x), x.delete(), x.is_deleted()))(f32(5) + 1)
    yield "dlpack/device", lambda: [f32(3).__dlpack_device__(), jnp.int8([1]).__dlpack_device__()]
    yield "dlpack/share_out", lambda: (lambda x: np.from_dlpack(x).ctypes.data == x.unsafe_buffer_pointer())(f32(1000) + 1)
    yield "dlpack/share_in", lambda: (lambda b: (lambda a: jnp.from_dlpack(a).unsafe_buffer_pointer() == a.ctypes.data)(b[(-b.ctypes.data % 64) // 4:][:1024]))(np.zeros(2048, np.float32))
    yield "dlpack/writeable", lambda: np.from_dlpack(f32(10) + 1).flags.writeable
    yield "dlpack/copy", lambda: (lambda x: np.from_dlpack(x, copy=True).ctypes.data == x.unsafe_buffer_pointer())(f32(1000) + 1)
    yield "dlpack/in_copy", lambda: (lambda a: (lambda x: (a.__setitem__(0, 5), x)[1])(jax.block_until_ready(jnp.from_dlpack(a, copy=True))))(np.zeros(4, np.float32))
    yield "dlpack/types", lambda: [np.from_dlpack(jnp.ones(2, t)) for t in ("int8", "uint32", "float16", "complex64", "bool")]
    yield "dlpack/bf16", lambda: jnp.from_dlpack(jnp.ones(2, "bfloat16"))
    yield "dlpack/f8", lambda: jnp.from_dlpack(jnp.ones(2, "float8_e5m2"))
    yield "dlpack/int4", lambda: jnp.from_dlpack(jnp.ones(2, "int4"))
    yield "dlpack/deleted", lambda: (lambda x: (x.delete(), x.__dlpack__()))(f32(3) + 1)
    yield "dlpack/sharded", lambda: sharded().__dlpack__()
    yield "dlpack/second_device", lambda: jax.device_put(f32(3), jax.devices()[1]).__dlpack_device__()
    yield "dlpack/strided", lambda: jnp.from_dlpack(np.arange(12, dtype=np.float32).reshape(3, 4).T)
    yield "dlpack/negative", lambda: jnp.from_dlpack(np.arange(4, dtype=np.float32)[::-1])
    yield "dlpack/keeps", lambda: (lambda v: (gc.collect(), v)[1])(np.from_dlpack(f32(100) + 1))
    yield "dlpack/to_device", lambda: [d.id for d in jnp.from_dlpack(np.zeros(4, np.float32), device=jax.devices()[1]).devices()]


def donation_cases():
    give = lambda f, *n: jax.jit(f, donate_argnums=n)
    yield "donate/pointer", lambda: (lambda x: (lambda p: give(lambda v: v + 1, 0)(x).unsafe_buffer_pointer() == p)(x.unsafe_buffer_pointer()))(f32(5000) + 1)
    yield "donate/unusable", lambda: (lambda x: [give(lambda v: v.sum(), 0)(x), x.is_deleted()])(f32(5) + 1)
    yield "donate/other_type", lambda: (lambda x: [give(lambda v: v.astype("int32"), 0)(x), x.is_deleted()])(f32(5) + 1)
    yield "donate/unused", lambda: (lambda x: [give(lambda v, w: w + 1, 0)(x, 2.0), x.is_deleted()])(f32(5) + 1)
    yield "donate/passed_on", lambda: (lambda x: [give(lambda v: v, 0)(x), x.is_deleted()])(f32(5) + 1)
    yield "donate/twice", lambda: (lambda x: give(lambda v, w: (v, w), 0, 1)(x, x))(f32(5) + 1)
    yield "donate/use_after", lambda: (lambda x: (give(lambda v: v + 1, 0)(x), x * 2))(f32(5) + 1)
    yield "donate/viewed", lambda: (lambda x: (lambda v: (give(lambda a: a + 1, 0)(x), v)[1])(np.asarray(x)))(f32(1000) + 1)
    yield "donate/host", lambda: give(lambda v: v + 1, 0)(np.ones(3, np.float32))
    yield "donate/sharded", lambda: (lambda x: [give(lambda v: v + 1, 0)(x), x.is_deleted()])(sharded())
    yield "donate/tree", lambda: (lambda t: [give(lambda s: jax.tree.map(lambda v: v * 2, s), 0)(t), [v.is_deleted() for v in t.values()]])({"a": f32(2) + 1, "b": f32(3) + 1})
    yield "donate/constants_stay", lambda: (lambda x: [give(lambda v: v + x, 0)(f32(3) + 5), x.is_deleted()])(f32(3) + 1)
    yield "donate/scan", lambda: (lambda x: [give(lambda v: lax.fori_loop(0, 5, lambda i, c: c + 1, v), 0)(x), x.is_deleted()])(f32(5) + 1)
    yield "donate/pmap", lambda: (lambda x: [jax.pmap(lambda v: v + 1, donate_argnums=0)(x), x.is_deleted()])(jax.pmap(lambda v: v)(f32(4, 2)))
    yield "donate/loop", lambda: (lambda step: [x := f32(4), [x := step(x) for _ in range(20)][-1]])(give(lambda v: v + 1, 0))


def error_cases():
    code = lambda name, *a, **k: jax.ffi.ffi_call(name, jax.ShapeDtypeStruct((3,), np.float32))(*a, **k)
    yield "error/memory", lambda: jnp.zeros((1 << 24, 1 << 24), jnp.int8) + 1
    yield "error/memory_jit", lambda: jax.jit(lambda x: jnp.broadcast_to(x, (1 << 22, 1 << 23)) + x)(1.0)
    yield "error/unknown_call", lambda: code("nobody_knows_it", f32(3))
    yield "error/unknown_call_jit", lambda: jax.jit(lambda x: code("nobody_knows_it", x))(f32(3))
    yield "error/many_devices", lambda: jax.pmap(lambda x: x)(f32(9, 2))
    yield "error/two_devices", lambda: jax.device_put(f32(3), jax.devices()[0]) + jax.device_put(f32(3), jax.devices()[1])
    yield "error/is_runtime", lambda: [issubclass(jax.errors.JaxRuntimeError, RuntimeError), jax.errors.JaxRuntimeError.__name__]
    def failing(kind, ordered=False):
        def call(x):
            raise kind("told")
        return lambda: jax.block_until_ready(jax.jit(lambda x: jax.experimental.io_callback(call, jax.ShapeDtypeStruct((), np.float32), x, ordered=ordered))(1.0))
    for kind in (ValueError, KeyError, RuntimeError, NotImplementedError):
        yield f"error/callback_{kind.__name__}", failing(kind)
    yield "error/callback_ordered", failing(ValueError, True)
    def after_error():
        with contextlib.suppress(Exception):
            failing(ValueError)()
        return f32(3) + 1
    yield "error/goes_on", after_error
    yield "error/callback_where", lambda: (lambda e: e)([type(e).__name__ for e in _caught(failing(ValueError))])
    yield "error/pure_shape", lambda: jax.jit(lambda x: jax.pure_callback(lambda v: np.zeros(4, np.float32), jax.ShapeDtypeStruct((3,), np.float32), x))(f32(3))
    yield "error/pure_type", lambda: jax.jit(lambda x: jax.pure_callback(lambda v: np.zeros(3, np.int32), jax.ShapeDtypeStruct((3,), np.float32), x))(f32(3))
    yield "error/pure_many", lambda: jax.jit(lambda x: jax.pure_callback(lambda v: (v, v), jax.ShapeDtypeStruct((3,), np.float32), x))(f32(3))
    yield "error/deserialize", lambda: jax.devices()[0].client.deserialize_executable(b"no program", jax.devices()[0].client.devices())
    yield "error/dot_algorithm", lambda: lax.dot(f32(4, 4), f32(4, 4), precision=lax.DotAlgorithmPreset.TF32_TF32_F32)
    yield "error/dot_algorithms", lambda: [_name(lambda a=a: lax.dot(f32(4, 4), f32(4, 4), precision=a, preferred_element_type=np.float32)) for a in (lax.DotAlgorithmPreset.DEFAULT, lax.DotAlgorithmPreset.F32_F32_F32, lax.DotAlgorithmPreset.BF16_BF16_F32, lax.DotAlgorithmPreset.BF16_BF16_F32_X3, lax.DotAlgorithmPreset.F16_F16_F32, lax.DotAlgorithmPreset.ANY_F8_ANY_F8_F32)]
    yield "error/attention_cudnn", lambda: jax.nn.dot_product_attention(*[jnp.ones((1, 4, 2, 8), "bfloat16")] * 3, implementation="cudnn")
    yield "error/nan_message", lambda: jax.debug_nans(True).__enter__() or 0
    yield "error/nan_jit", lambda: _with(jax.debug_nans(True), lambda: jax.jit(lambda x: x / x)(jnp.zeros(3)))
    yield "error/nan_off", lambda: jax.config.update("jax_debug_nans", False)
    yield "error/compiled_deleted", lambda: (lambda c: (c.runtime_executable().delete() if hasattr(c.runtime_executable(), "delete") else None, "done")[1])(jax.jit(lambda x: x * 7).lower(f32(3)).compile())
    yield "error/mesh_small", lambda: jax.jit(lambda x: x, in_shardings=NamedSharding(Mesh(np.array(jax.devices()[:3]), ("x",)), P("x")))(f32(4))
    yield "error/threads", lambda: _in_threads(lambda: _name(failing(ValueError)), 8)


def _caught(function):
    try:
        function()
    except Exception as e:  # pylint: disable=broad-except
        return [e]
    return []


def _name(function):
    try:
        jax.block_until_ready(function())
    except Exception as e:  # pylint: disable=broad-except
        return type(e).__name__
    return "fine"


def _with(context, function):
    with context:
        return jax.block_until_ready(function())


def _in_threads(function, count):
    out = [None] * count
    threads = [threading.Thread(target=lambda k=k: out.__setitem__(k, function())) for k in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return out


def executable_cases():
    compiled = lambda f=lambda x: x @ x + 1, *a: jax.jit(f).lower(*(a or (f32(4, 4),))).compile()
    low = lambda *a: compiled(*a).runtime_executable()
    yield "program/memory", lambda: (lambda m: [m.argument_size_in_bytes, m.output_size_in_bytes, m.alias_size_in_bytes, type(m).__name__])(compiled().memory_analysis())
    yield "program/memory_donated", lambda: jax.jit(lambda x: x + 1, donate_argnums=0).lower(f32(100)).compile().memory_analysis().alias_size_in_bytes
    yield "program/cost", lambda: [type(compiled().cost_analysis()).__name__, compiled().cost_analysis().get("flops", 0) > 0]
    yield "program/modules", lambda: [len(low().hlo_modules()), low().hlo_modules()[0].name, type(low().hlo_modules()[0].to_string()).__name__]
    yield "program/shardings", lambda: [low().get_output_shardings() is None, low().get_parameter_shardings() is None, len(low().local_devices())]
    yield "program/kinds", lambda: [low().get_output_memory_kinds(), len(low().get_output_layouts()), len(low().get_parameter_layouts())]
    yield "program/in_cut", lambda: jax.jit(lambda x: x * 2).lower(sharded()).compile().output_shardings
    yield "program/fingerprint", lambda: type(low().fingerprint).__name__
    yield "program/wrong_type", lambda: compiled()(jnp.ones((4, 4), "int32"))
    yield "program/wrong_device", lambda: compiled()(jax.device_put(f32(4, 4), jax.devices()[1]))
    yield "program/kept_arguments", lambda: [len(jax.tree.leaves(jax.jit(lambda x, y: x).lower(1.0, 2.0).compile().input_shardings)), jax.jit(lambda x, y: x, keep_unused=True).lower(1.0, 2.0).compile()(3.0, 4.0)]
    yield "program/many_results", lambda: jax.jit(lambda x: tuple(x + i for i in range(300)))(1.0)[299]
    yield "program/many_arguments", lambda: jax.jit(lambda *a: sum(a))(*map(float, range(300)))
    yield "program/same_result_twice", lambda: (lambda r: [r[0] is r[1], r[0].unsafe_buffer_pointer() == r[1].unsafe_buffer_pointer()])(jax.jit(lambda x: (x + 1, x + 1))(f32(1000)))
    yield "program/forwarded", lambda: (lambda x: jax.jit(lambda v: (v, v + 1))(x)[0].unsafe_buffer_pointer() == x.unsafe_buffer_pointer())(f32(1000) + 1)
    yield "program/forwarded_twice", lambda: (lambda x: (lambda r: [r[0].unsafe_buffer_pointer() == r[1].unsafe_buffer_pointer(), r[1].is_deleted()])(jax.jit(lambda v: (v, v))(x)))(f32(1000) + 1)
    yield "program/constant", lambda: (lambda r: (r.delete(), jax.jit(lambda: jnp.ones(3))())[1])(jax.jit(lambda: jnp.ones(3))())
    yield "program/uncommitted", lambda: [jax.jit(lambda x: x + 1)(1.0).committed, jax.jit(lambda x: x + 1)(jax.device_put(1.0, jax.devices()[1])).committed]
    yield "program/serialize", lambda: _serialized(lambda x: jnp.sin(x) @ x)
    yield "program/serialize_donating", lambda: _serialized(lambda x: x * 2, donate_argnums=0)
    yield "program/serialize_random", lambda: _serialized(lambda x: x + jax.random.normal(jax.random.key(1), x.shape))
    yield "program/export_platforms", lambda: jax.export.export(jax.jit(jnp.sin), platforms=("cuda",))(1.0).platforms
    yield "program/export_wrong", lambda: jax.export.export(jax.jit(jnp.sin), platforms=("cuda",))(f32(3)).call(f32(3))
    yield "program/export_devices", lambda: jax.export.export(jax.jit(lambda x: x + 1, in_shardings=cut(), out_shardings=cut()))(sharded()).nr_devices
    yield "program/export_devices_wrong", lambda: jax.export.export(jax.jit(lambda x: x + 1, in_shardings=cut(), out_shardings=cut()))(sharded()).call(f32(8, 2))
    yield "program/cache", _cache
    yield "program/dump_ir", lambda: _files(lambda d: _with(jax._src.config.dump_ir_to(d) if False else contextlib.nullcontext(), lambda: jnp.sin(1.0)))
    yield "program/metadata", lambda: "my_scope" in jax.jit(lambda x: jax.named_scope("my_scope")(jnp.sin)(x)).lower(1.0).compile().as_text()


def _serialized(function, **options):
    from jax.experimental.serialize_executable import deserialize_and_load, serialize
    return deserialize_and_load(*serialize(jax.jit(function, **options).lower(f32(4, 4)).compile()))(f32(4, 4))


def _cache():
    from jax._src import monitoring
    from jax.experimental.compilation_cache import compilation_cache
    seen = []
    monitoring.register_event_listener(lambda event, **_: seen.append(event) if "cache_hits" in event or "cache_misses" in event else None)
    with tempfile.TemporaryDirectory() as folder:
        before = {name: getattr(jax.config, name) for name in ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs", "jax_persistent_cache_min_entry_size_bytes")}
        for name, value in zip(before, (folder, 0, -1)):
            jax.config.update(name, value)
        compilation_cache.reset_cache()
        f = lambda x: jnp.sin(x) * 3 + x
        first = jax.jit(f)(f32(7))
        files = len(glob.glob(folder + "/*-cache"))
        jax.clear_caches()
        second = jax.jit(f)(f32(7))
        hits = sum("hits" in s for s in seen) > 0
        for name, value in before.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()
    return [files > 0, hits, first, second]


def _files(function):
    with tempfile.TemporaryDirectory() as folder:
        function(folder)
        return sorted(os.path.splitext(f)[1] for f in glob.glob(folder + "/**", recursive=True) if os.path.isfile(f))


def profile_cases():
    def traced(folder):
        with jax.profiler.trace(folder):
            with jax.profiler.StepTraceAnnotation("train", step_num=1):
                jax.block_until_ready(f32(100) @ f32(100))
    yield "profile/files", lambda: _files(traced)
    yield "profile/twice", lambda: _with(tempfile.TemporaryDirectory(), lambda: None) and 0 or [_name(lambda: (jax.profiler.start_trace("/tmp/t1"), jax.profiler.start_trace("/tmp/t1"))), _name(jax.profiler.stop_trace), _name(jax.profiler.stop_trace)]
    yield "profile/memory", lambda: len(jax.profiler.device_memory_profile()) > 100
    yield "profile/annotate", lambda: jax.profiler.annotate_function(lambda x: x + 1)(f32(2))


def print_cases():
    def printed(function):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            jax.block_until_ready(function())
            jax.effects_barrier()
        return sorted(out.getvalue().splitlines())
    yield "print/values", lambda: printed(lambda: jax.jit(lambda x: (jax.debug.print("{} {y:.2f}", x, y=x * 2), x)[1])(1.5))
    yield "print/types", lambda: printed(lambda: [jax.jit(lambda x: jax.debug.print("{}", x))(jnp.ones(2, t)) for t in ("bfloat16", "int4", "bool", "float8_e5m2", "complex64", "uint8")])
    yield "print/ordered", lambda: printed(lambda: jax.jit(lambda x: [jax.debug.print("{}", x + i, ordered=True) for i in range(4)])(1))
    yield "print/loop", lambda: printed(lambda: lax.fori_loop(0, 3, lambda i, c: (jax.debug.print("{}", i), c)[1], 0))
    yield "print/vmap", lambda: printed(lambda: jax.vmap(lambda x: jax.debug.print("{}", x))(f32(3)))
    yield "print/pmap", lambda: printed(lambda: jax.pmap(lambda x: (jax.debug.print("{}", x), x)[1])(f32(4)))
    yield "print/grad", lambda: printed(lambda: jax.grad(lambda x: (jax.debug.print("{}", x), x * x)[1])(3.0))
    yield "print/branch", lambda: printed(lambda: jax.jit(lambda p: lax.cond(p, lambda: jax.debug.print("yes"), lambda: jax.debug.print("no")))(True))
    yield "print/sharded", lambda: printed(lambda: jax.jit(lambda x: jax.debug.print("{}", x.sum()))(sharded()))
    yield "print/key", lambda: printed(lambda: jax.jit(lambda k: jax.debug.print("{}", k))(jax.random.key(1)))
    yield "print/threads", lambda: len(printed(lambda: [0 for _ in _in_threads(lambda: jax.jit(lambda x: jax.debug.print("{}", x))(1.0), 4)]))


def number_cases():
    for impl in ("threefry2x32", "rbg", "unsafe_rbg"):
        key = lambda impl=impl: jax.random.key(7, impl=impl)
        yield f"random/{impl}/bits", lambda key=key: jax.random.bits(key(), (5,))
        yield f"random/{impl}/normal", lambda key=key: jax.random.normal(key(), (5,))
        yield f"random/{impl}/split", lambda key=key: jax.random.split(key(), 3)
        yield f"random/{impl}/fold", lambda key=key: jax.random.fold_in(key(), 5)
        yield f"random/{impl}/vmap", lambda key=key: jax.vmap(lambda k: jax.random.uniform(k, (2,)))(jax.random.split(key(), 3))
        yield f"random/{impl}/jit", lambda key=key: jax.jit(lambda k: (jax.random.randint(k, (4,), 0, 100), jax.random.permutation(k, 6), jax.random.bits(k, (3,), "uint8"), jax.random.bits(k, (3,), "uint16")))(key())
        yield f"random/{impl}/categorical", lambda key=key: jax.random.categorical(key(), jnp.zeros(5), shape=(8,))
        yield f"random/{impl}/sharded", lambda key=key: jax.jit(lambda k: jax.random.normal(k, (8,)), out_shardings=cut())(key())
    for algorithm in (lax.RandomAlgorithm.RNG_DEFAULT, lax.RandomAlgorithm.RNG_PHILOX, lax.RandomAlgorithm.RNG_THREE_FRY):
        size = 2 if algorithm == lax.RandomAlgorithm.RNG_THREE_FRY else 4
        yield f"random/generator/{algorithm.name}", lambda a=algorithm, s=size: lax.rng_bit_generator(jnp.arange(s * 2, dtype="uint32")[:4], (6,), algorithm=a)
    yield "number/nan_order", lambda: [jnp.sort(jnp.float32([2, np.nan, -np.inf, -0.0, 0.0, np.inf])), jnp.argmax(jnp.float32([1, np.nan, 3])), jnp.argmin(jnp.float32([np.nan, 1])), lax.top_k(jnp.float32([1, np.nan, 3]), 2)]
    yield "number/minmax_nan", lambda: [jnp.maximum(jnp.float32([np.nan, 1]), 0), jnp.min(jnp.float32([1, np.nan])), jnp.fmax(np.nan, 2.0), lax.clamp(0.0, jnp.float32([np.nan, 5]), 1.0)]
    yield "number/zeros", lambda: [jnp.sign(jnp.float32([-0.0, 0.0])), jnp.maximum(-0.0, 0.0), 1 / jnp.float32([-0.0]), jnp.round(jnp.float32([-0.4, 0.5, 1.5, -2.5])), -jnp.zeros(2), jnp.float32([0.0]) * -1]
    yield "number/divide", lambda: [jnp.int32([7, -7]) // 0, jnp.int32([7, -7]) % 0, jnp.int8([-128]) // jnp.int8([-1]), jnp.uint8([5]) // jnp.uint8([0]), lax.rem(jnp.int32([7]), jnp.int32([0])), lax.div(jnp.int32([-(2**31)]), jnp.int32([-1]))]
    yield "number/shift", lambda: [lax.shift_left(jnp.int32([1, 1]), jnp.int32([32, -1])), lax.shift_right_arithmetic(jnp.int32([-8, -8]), jnp.int32([40, 1])), lax.shift_right_logical(jnp.uint8([200]), jnp.uint8([9]))]
    yield "number/convert", lambda: [jnp.float32([np.nan, 1e20, -1e20, 2.9, -2.9]).astype(t) for t in ("int32", "int8", "uint8", "uint32", "bool")]
    yield "number/small", lambda: [jnp.float32([1e9, -1e9, 0.3, np.nan, 7.5]).astype(t).astype("float32") for t in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "bfloat16", "float16", "float4_e2m1fn", "float8_e8m0fnu")]
    yield "number/int4", lambda: [jnp.int32([7, 8, -9, 100]).astype("int4").astype("int32"), jnp.int32([15, 16, -1]).astype("uint4").astype("int32"), jnp.ones(3, "int4") + jnp.ones(3, "int4"), jnp.int32([1, 2, -3]).astype("int2").astype("int32")]
    yield "number/subnormal", lambda: [jnp.float32([1e-40, 2e-38]) * 0.5, jnp.float32([1e-40]) > 0, jnp.exp(jnp.float32([-100.0])), jnp.sqrt(jnp.float32([1e-40])), jnp.float32([1e-40]) == 0]
    yield "number/subnormal_loop", lambda: lax.fori_loop(0, 200, lambda i, x: x * 0.5, jnp.float32([1.0]))
    yield "number/outside", lambda: [lax.dynamic_slice(f32(5), (4,), (3,)), lax.dynamic_update_slice(f32(5), jnp.ones(3), (9,)), f32(5)[jnp.array([9, -9])], f32(5).at[9].set(1), f32(5).at[9].get(mode="fill", fill_value=7), jnp.take(f32(5), 9), jnp.take(f32(5), 9, mode="wrap"), jnp.take(f32(5), -7, mode="clip")]
    yield "number/duplicates", lambda: [f32(3).at[jnp.array([0, 0, 0])].set(jnp.float32([1, 2, 3])), f32(3).at[jnp.array([0, 0])].multiply(3), f32(3).at[jnp.array([1, 1])].max(9.0)]
    yield "number/power", lambda: [jnp.power(jnp.float32([-8, 0, 0, np.inf]), jnp.float32([1 / 3, 0, -1, 0])), jnp.int32([2, 0, -1]) ** jnp.int32([31, 0, 3]), lax.integer_pow(jnp.float32([2]), -3), jnp.float_power(2, -1)]
    yield "number/next", lambda: [lax.nextafter(jnp.float32([1, -1]), jnp.float32([2, 2])), lax.population_count(jnp.uint8([255, 3])), lax.clz(jnp.int32([1, 0])), lax.reduce_precision(jnp.float32([1.2345]), 5, 3)]
    yield "number/not_definite", lambda: [jnp.linalg.cholesky(-jnp.eye(2)), jnp.linalg.solve(jnp.zeros((2, 2)), jnp.ones(2)), jnp.linalg.eigvalsh(jnp.full((2, 2), np.nan)), jnp.linalg.svd(jnp.full((2, 2), np.nan), compute_uv=False), jnp.linalg.inv(jnp.zeros((2, 2))), jnp.linalg.slogdet(jnp.zeros((2, 2)))]
    yield "number/empty", lambda: [jnp.sum(jnp.zeros(0)), jnp.prod(jnp.zeros((0, 2)), 0), jnp.zeros((3, 0)) @ jnp.zeros((0, 2)), jnp.sort(jnp.zeros(0)), jnp.concatenate([jnp.zeros(0), f32(2)]), jnp.linalg.det(jnp.zeros((0, 0))), jnp.fft.fft(jnp.zeros((0, 4)))]
    yield "number/empty_max", lambda: jnp.max(jnp.zeros(0))


def place_cases():
    yield "place/default_device", lambda: _with(jax.default_device(jax.devices()[2]), lambda: [d.id for d in (f32(3) + 1).devices()])
    yield "place/jit_follows", lambda: [d.id for d in jax.jit(lambda x: x + 1)(jax.device_put(f32(3), jax.devices()[3])).devices()]
    yield "place/constraint", lambda: (lambda y: [str(y.sharding.spec), [s.device.id for s in y.addressable_shards]])(jax.jit(lambda x: lax.with_sharding_constraint(x * 2, cut()))(f32(8)))
    yield "place/out_memory", lambda: jax.jit(lambda x: x + 1, out_shardings=SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host"))(f32(3)).sharding.memory_kind
    yield "place/put_inside", lambda: jax.jit(lambda x: jax.device_put(x * 2, jax.memory.Space.Host) if hasattr(jax, "memory") else x)(f32(3))
    yield "place/offload", lambda: jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum(), policy=jax.checkpoint_policies.offload_dot_with_no_batch_dims("device", "pinned_host")))(f32(3))
    yield "place/reversed", lambda: [(s.device.id, s.data) for s in jax.device_put(f32(4), NamedSharding(Mesh(np.array(jax.devices()[:4])[::-1], ("x",)), P("x"))).addressable_shards]
    yield "place/subset", lambda: [s.device.id for s in jax.jit(lambda x: x * 2, out_shardings=NamedSharding(Mesh(np.array(jax.devices()[1:3]), ("x",)), P("x")))(f32(4)).addressable_shards]
    yield "place/mixed_meshes", lambda: jax.device_put(f32(4), cut()) + jax.device_put(f32(4), NamedSharding(Mesh(np.array(jax.devices()[:2]), ("x",)), P("x")))
    yield "place/pmap_devices", lambda: [s.device.id for s in jax.pmap(lambda x: x, devices=jax.devices()[2:4])(f32(2, 2)).addressable_shards]
    yield "place/pmap_sharding", lambda: type(jax.pmap(lambda x: x)(f32(4, 2)).sharding).__name__
    yield "place/pmap_in_axes", lambda: jax.pmap(lambda x, y: x + y, in_axes=(1, None), out_axes=1)(f32(2, 4), 1.0)
    yield "place/pmap_nested", lambda: jax.pmap(jax.pmap(lambda x: lax.psum(x, ("i", "j")), axis_name="j"), axis_name="i")(f32(2, 2))
    yield "place/shard_map_outside", lambda: jax.shard_map(lambda x: x.sum(keepdims=True), mesh=mesh(), in_specs=P("x"), out_specs=P("x"))(f32(8))
    yield "place/shard_map_uneven", lambda: jax.shard_map(lambda x: x, mesh=mesh(), in_specs=P("x"), out_specs=P("x"))(f32(6))
    yield "place/inspect", lambda: (lambda seen: (jax.jit(lambda x: (jax.debug.inspect_array_sharding(x, callback=lambda s: seen.append(str(s.spec if hasattr(s, "spec") else s)[:40])), x * 2)[1])(sharded()), seen)[1])([])
    yield "place/collectives", lambda: jax.shard_map(lambda x: lax.psum(x, "x") + lax.pmax(x, "x") + lax.axis_index("x") + lax.ppermute(x, "x", [(0, 1), (1, 0)]), mesh=mesh(), in_specs=P("x"), out_specs=P("x"))(f32(4))
    yield "place/key_sharded", lambda: (lambda k: [k.sharding.num_devices, k[2]])(jax.device_put(jax.random.split(jax.random.key(0), 4), cut()))


def cases():
    for part in (device_cases, array_cases, transfer_cases, donation_cases, error_cases, executable_cases, profile_cases, print_cases, number_cases, place_cases):
        yield from part()
# SPDX-License-Identifier: Apache-2.0
