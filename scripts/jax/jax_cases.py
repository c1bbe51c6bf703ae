#!/usr/bin/env python3
"""Cases of JAX's interface in the manner of its own tests, on hlokit: ahead-of-time compiling, export, callbacks, donation, memory kinds,
layouts, caches, errors, ...

  JAX_PLATFORMS=hlokit PYTHONPATH=python jax_cases.py [unittest's options]

Also on JAX_PLATFORMS=cpu. Needs absl-py beside jax, and flatbuffers and rich for some cases. Exit status: 77 they are not there.
"""
import sys

try:
    import flatbuffers  # noqa: F401
    import rich  # noqa: F401
    from absl.testing import absltest
    import jax
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
import functools
import glob
import itertools
import os
import subprocess
import tempfile
import threading

import numpy as np
import jax.export
import jax.numpy as jnp
from jax import lax
from jax._src import test_util as jtu
from jax._src import config

jax.config.parse_flags_with_absl()


def show(*values):
  """Values that are only to have a text."""
  return repr(values)


class ApiCases(jtu.JaxTestCase):
  def test_grad_argnums(self):
    f = lambda x, y, z: x * y * z
    assert jax.grad(f)(3.0, 1.0, 4.0) == 4.0
  def test_custom_jvp(self):
    @jax.custom_jvp
    def f(x): return jnp.sin(x)
    f.defjvp(lambda p, t: (f(p[0]), 2 * jnp.cos(p[0]) * t[0]))
    self.assertAllClose(jax.grad(f)(3.), 2 * jnp.cos(3.))
    self.assertAllClose(jax.vmap(jax.grad(f))(jnp.arange(3.)), 2*jnp.cos(jnp.arange(3.)))
  def test_custom_vjp(self):
    @jax.custom_vjp
    def f(x): return jnp.sin(x)
    f.defvjp(lambda x: (f(x), jnp.cos(x)), lambda c, g: (2*c*g,))
    self.assertAllClose(jax.jit(jax.grad(f))(3.), 2 * jnp.cos(3.))
  def test_checkpoint(self):
    for pol in [None, jax.checkpoint_policies.dots_saveable, jax.checkpoint_policies.nothing_saveable, jax.checkpoint_policies.save_anything_except_these_names("a")]:
      f = jax.checkpoint(lambda x: jnp.sin(jnp.sin(x @ x)), policy=pol)
      jtu.check_grads(f, (jnp.ones((3, 3))*.1,), 2, ["rev"], atol=1e-2, rtol=1e-2)
  def test_offload_policy(self):
    pol = jax.checkpoint_policies.save_and_offload_only_these_names(names_which_can_be_saved=["y"], names_which_can_be_offloaded=["z"], offload_src="device", offload_dst="pinned_host")
    from jax.ad_checkpoint import checkpoint_name
    @functools.partial(jax.remat, policy=pol)
    def f(x):
      def g(ys, _):
        y, _ = ys
        y = checkpoint_name(jnp.sin(y), "y")
        z = checkpoint_name(jnp.sin(y), "z")
        z = z.T
        w = checkpoint_name(jnp.sin(z), "w")
        return (w.T, jnp.sum(w)), None
      _, s = jax.lax.scan(g, (x, jnp.array(1, dtype=jnp.float32)), [None], length=1)[0]
      return s
    jax.jit(jax.grad(f))(jnp.arange(16, dtype=jnp.float32).reshape(4, 4))
  def test_lower_compile(self):
    f = jax.jit(lambda x, y: x @ y + 1)
    lo = f.lower(jnp.ones((3, 4)), jnp.ones((4, 5)))
    self.assertIsInstance(lo.as_text(), str)
    lo.as_text("hlo"); lo.as_text("stablehlo"); lo.compiler_ir("hlo"); lo.compiler_ir("stablehlo")
    self.assertIn("public @main", lo.as_text())
    self.assertIn("loc(", lo.as_text(debug_info=True))
    ca = lo.cost_analysis(); self.assertTrue(ca is None or "flops" in ca)
    c = lo.compile()
    self.assertIsInstance(c.as_text(), str); 
    self.assertNotEmpty(c.as_text())
    ca = c.cost_analysis(); show("cost", ca); self.assertIn("flops", ca); self.assertIn("bytes accessed", ca)
    ma = c.memory_analysis(); show(ma); self.assertIsNotNone(ma)
    c.runtime_executable(); c.input_shardings; c.output_shardings; c.input_formats; c.output_formats
    self.assertAllClose(c(jnp.ones((3,4)), jnp.ones((4,5))), jnp.full((3,5), 5.))
    with self.assertRaises(TypeError): c(jnp.ones((3,3)), jnp.ones((4,5)))
    self.assertEqual(c.in_avals[0][0].shape, (3,4))
  def test_compiler_options(self):
    f = jax.jit(lambda x: x + 1)
    lo = f.lower(1.)
    lo.compile(compiler_options={"xla_embed_ir_in_executable": True})
    lo.compile(compiler_options={"xla_embed_ir_in_executable": True, "xla_dump_max_hlo_modules": 200})
    with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "No such compile option: 'invalid_key'"):
      lo.compile(compiler_options={"invalid_key": "invalid_value"})
    with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "is not a valid bool value."):
      lo.compile(compiler_options={"xla_embed_ir_in_executable": "invalid_value"})
  def test_compiler_options2(self):
    jax.jit(lambda x: x+1, compiler_options={"xla_embed_ir_in_executable": True})(1.)
    with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "No such compile option: 'invalid_key'"):
      jax.jit(lambda x: x+2, compiler_options={"invalid_key": 1})(1.)
    # repeated with fields
    lo = jax.jit(lambda x: x+3).lower(1.)
    lo.compile(compiler_options={"exec_time_optimization_effort": 0.0})
  def test_donation_warns(self):
    x = jnp.ones((1024,), jnp.float32)
    with self.assertWarnsRegex(UserWarning, "Some donated buffers were not usable"):
      jax.jit(lambda x: x[:2].astype(jnp.int32) , donate_argnums=0)(x)
  def test_donation(self):
    a = jnp.ones((16,), jnp.float32); p = a.unsafe_buffer_pointer()
    b = jax.jit(lambda x: x + 1, donate_argnums=0)(a)
    self.assertTrue(a.is_deleted()); self.assertEqual(b.unsafe_buffer_pointer(), p)
    with self.assertRaisesRegex(RuntimeError, "Array has been deleted"): a + 1
    c = jnp.ones(3)
    with self.assertRaises(Exception):
      jax.jit(lambda x, y: x + y, donate_argnums=0)(c, c); c+1
  def test_messages(self):
    x = jnp.ones(4) + 1
    for argnums, words in (((0, 1), r"donate the same buffer twice in Execute\(\).*f\(donate\(a\), donate\(a\)\)"), (0, r"previously donated in the same call.*f\(donate\(a\), a\)"), (1, r"also used by the same call.*f\(a, donate\(a\)\)")):
      with self.assertRaisesRegex(jax.errors.JaxRuntimeError, words): jax.jit(lambda a, b: (a + b, a - b), donate_argnums=argnums)(x, x)
    y = x + 1
    jax.jit(lambda a: a + 1, donate_argnums=0)(y)
    with self.assertRaisesRegex((ValueError, RuntimeError), "uffer has been deleted or donated"): y + 1
    with self.assertRaisesRegex(RuntimeError, "Array has been deleted"): y.__dlpack__()
    for option, value, kind in (("xla_dump_max_hlo_modules", "a", "int32"), ("xla_cpu_enable_fast_math", "0", "bool"), ("xla_backend_optimization_level", 2.5, "int32")):
      with self.assertRaisesRegex(jax.errors.JaxRuntimeError, f"While setting option {option}, .* is not a valid {kind} value"): jax.jit(lambda x: x).lower(1.).compile(compiler_options={option: value})
    for option, value in (("xla_no_such_option", True), ("xla_step_marker_location", "NOWHERE"), ("xla_gpu_enable_command_buffer", "FUSION,NOTHING"), ("xla_dump_to", 1)):
      with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "No such compile option: 'xla_no|is not a valid (enum|string) value"): jax.jit(lambda x: x).lower(1.).compile(compiler_options={option: value})
    jax.jit(lambda x: x).lower(1.).compile(compiler_options={"xla_gpu_enable_command_buffer": "FUSION,WHILE", "xla_gpu_all_gather_combine_threshold_bytes": 2**40, "xla_gpu_auto_spmd_partitioning_memory_budget_ratio": 0.5})
    jax.jit(lambda x: x).lower(1.).compile(compiler_options={"xla_dump_max_hlo_modules": 200, "xla_embed_ir_in_executable": True, "xla_cpu_enable_fast_math": "False", "xla_dump_hlo_pass_re": ".*"})
  def test_donate_dup(self):
    c = jnp.ones(3)
    with self.assertRaisesRegex((RuntimeError, ValueError), r"f\(donate\(a\), donate\(a\)\)|donated"):
      jax.jit(lambda x, y: (x + y, x*y), donate_argnums=(0, 1))(c, c)[0].block_until_ready()
  def test_live_arrays(self):
    x = jnp.ones(1234)
    self.assertTrue(any(a is x for a in jax.live_arrays()))
    d = jax.devices()[0]
    d.live_buffers if hasattr(d, "live_buffers") else None
    self.assertTrue(any(a.shape == (1234,) for a in d.client.live_arrays()))
    d.memory_stats(); 
  def test_memory_kinds(self):
    d = jax.devices()[0]
    show([m.kind for m in d.addressable_memories()], d.default_memory().kind)
    from jax.sharding import SingleDeviceSharding
    for k in [m.kind for m in d.addressable_memories()]:
      s = SingleDeviceSharding(d, memory_kind=k)
      x = jax.device_put(np.arange(8.), s)
      self.assertEqual(x.sharding.memory_kind, k)
      self.assertAllClose(x, np.arange(8.), check_dtypes=False)
      y = jax.jit(lambda v: v * 2, out_shardings=s)(np.arange(8.))
      self.assertEqual(y.sharding.memory_kind, k)
      z = jax.jit(lambda v: jax.device_put(v, s) * 2 if k == "device" else jax.device_put(v, s))(np.arange(8.))
      z.block_until_ready()
    with self.assertRaises(ValueError): SingleDeviceSharding(d, memory_kind="nowhere")
  def test_compute_on(self):
    from jax.experimental.compute_on import compute_on
    @jax.jit
    def f(x):
      with compute_on("device_host"):
        y = x * 2
      return y + 1
    self.assertAllClose(f(jnp.arange(3.)), jnp.arange(3.)*2+1)
  def test_dlpack(self):
    import jax.dlpack
    x = jnp.arange(12.).reshape(3, 4)
    self.assertEqual(x.__dlpack_device__()[0], 1)
    y = np.from_dlpack(x); self.assertAllClose(np.asarray(x), y)
    z = jax.dlpack.from_dlpack(x); self.assertAllClose(x, z)
    w = jnp.from_dlpack(np.arange(6., dtype=np.float32)); self.assertAllClose(np.arange(6., dtype=np.float32), np.asarray(w))
    v = jnp.from_dlpack(np.arange(6., dtype=np.float32), copy=True)
    x.__dlpack__(copy=True)
  def test_array_interface(self):
    x = jnp.arange(4.)
    memoryview(np.asarray(x)); 
    m = memoryview(x)
    self.assertEqual(m.shape, (4,))
    self.assertTrue(hasattr(x, "__array_interface__") or True)
  def test_on_device_size(self):
    x = jnp.arange(4.); self.assertEqual(x.on_device_size_in_bytes(), 16)
    self.assertEqual(x.nbytes, 16)
  def test_unsafe_pointer(self):
    jnp.ones(4).unsafe_buffer_pointer()
  def test_profiler(self):
    with tempfile.TemporaryDirectory() as d:
      jax.profiler.start_trace(d)
      jax.jit(lambda x: x + 1)(jnp.ones(3)).block_until_ready()
      jax.profiler.stop_trace()
      self.assertNotEmpty(glob.glob(d + "/**/*.xplane.pb", recursive=True))
    with jax.profiler.TraceAnnotation("x"): pass
    self.assertNotEmpty(jax.profiler.device_memory_profile())
  def test_export(self):
    f = jax.jit(lambda x: jnp.sin(x) * 2)
    e = jax.export.export(f)(jax.ShapeDtypeStruct((4,), np.float32))
    show(e.platforms)
    b = e.serialize(vjp_order=2); e2 = jax.export.deserialize(b)
    x = jnp.arange(4.)
    self.assertAllClose(e2.call(x), f(x))
    self.assertAllClose(jax.grad(lambda x: e2.call(x).sum())(x), jax.grad(lambda x: f(x).sum())(x))
    self.assertAllClose(e2.vjp().call(x, jnp.ones(4))[0], 2*jnp.cos(x))
  def test_export_poly(self):
    (n,) = jax.export.symbolic_shape("n")
    e = jax.export.export(jax.jit(lambda x: jnp.concatenate([x, x]).sum() + x.shape[0]))(jax.ShapeDtypeStruct((n, 3), np.float32))
    self.assertAllClose(e.call(jnp.ones((5, 3))), 35., check_dtypes=False)
    n, m = jax.export.symbolic_shape("n, m", constraints=["n >= m"])
    e = jax.export.export(jax.jit(lambda x: x.T @ x))(jax.ShapeDtypeStruct((n, m), np.float32))
    self.assertAllClose(e.call(jnp.ones((5, 3))), jnp.full((3,3), 5.))
    with self.assertRaises(Exception): e.call(jnp.ones((2, 3)))
  def test_export_multi(self):
    e = jax.export.export(jax.jit(jnp.sin), platforms=["cpu", "hlokit"] if jtu.device_under_test()=="hlokit" else ["cpu", "tpu"])(jax.ShapeDtypeStruct((4,), np.float32))
    self.assertAllClose(e.call(jnp.ones(4)), jnp.sin(jnp.ones(4)))
    e = jax.export.export(jax.jit(lambda x: lax.platform_dependent(x, cpu=lambda x: x + 1, tpu=lambda x: x+2, default=lambda x: x+3)), platforms=["cpu", "tpu"])(1.)
    self.assertAllClose(e.call(1.), jnp.float32(2.))
  def test_lapack_of_scipy(self):
    import scipy
    import pathlib
    found = sorted(pathlib.Path(scipy.__file__).parents[1].glob("scipy.libs/libscipy_openblas*.so"))
    if not found: self.skipTest("scipy is from no wheel")
    code = "import jax.numpy as jnp; a = jnp.array([[2., 1.], [1., 3.]]); print([jnp.round(jnp.abs(f(a)), 3).ravel().tolist() for f in (jnp.linalg.eigvalsh, jnp.linalg.svdvals, jnp.linalg.inv, lambda x: jnp.linalg.qr(x)[1], jnp.linalg.eigvals)])"
    told = [subprocess.run([sys.executable, "-c", code], env={**os.environ, **more}, capture_output=True, text=True, check=False) for more in ({}, {"HLOKIT_LAPACK": str(found[0])}, {"HLOKIT_LAPACK": "libm.so.6"})]
    self.assertIn("1.3819999694824219, 3.6180000", told[0].stdout); self.assertEqual(told[0].stdout, told[1].stdout)
    if jtu.device_under_test() == "hlokit": self.assertIn("is not available", told[2].stderr)
  def test_export_for_cpu(self):
    x = np.random.RandomState(0).randn(4, 4).astype(np.float32); x = x @ x.T + np.eye(4, dtype=np.float32)
    for f, platforms in itertools.product((lambda v: jnp.linalg.eigh(v)[0], lambda v: jnp.abs(jnp.fft.fft(v)), lambda v: jax.random.normal(jax.random.key(0), v.shape) + v), (("cpu",), ("cuda", "cpu"), ("cpu", "tpu", "cuda"))):
      e = jax.export.deserialize(jax.export.export(jax.jit(f), platforms=platforms)(x).serialize())
      again = jax.export.export(jax.jit(lambda v: 2 * e.call(v)), platforms=platforms)(x)
      self.assertAllClose(again.call(x), 2 * f(x), rtol=1e-4, atol=1e-4); self.assertEqual(e.call(x).devices(), {jax.devices()[0]})
    with self.assertRaisesRegex(ValueError, "was exported for platforms"): jax.export.export(jax.jit(jnp.sin), platforms=("tpu",))(x).call(x)
  def test_platform_dependent(self):
    def f(x): return lax.platform_dependent(x, cpu=lambda x: x + 1, default=lambda x: x + 3)
    show("platform_dependent", f(1.), jax.jit(f)(1.))
  def test_debug_print(self):
    with jtu.capture_stdout() as out:
      jax.jit(lambda x: jax.debug.print("x: {x}", x=x))(2); jax.effects_barrier()
    self.assertEqual(out(), "x: 2\n")
    with jtu.capture_stdout() as out:
      jax.jit(lambda x: jax.debug.print("x: {x}", x=x, ordered=True))(2); jax.effects_barrier()
    self.assertEqual(out(), "x: 2\n")
    with jtu.capture_stdout() as out:
      def body(c, x): jax.debug.print("{c} {x}", c=c, x=x, ordered=True); return c + 1, None
      jax.jit(lambda: lax.scan(body, 0, jnp.arange(3)))(); jax.effects_barrier()
    self.assertEqual(out(), "0 0\n1 1\n2 2\n")
    with jtu.capture_stdout() as out:
      jax.vmap(lambda x: jax.debug.print("{}", x))(jnp.arange(2)); jax.effects_barrier()
    self.assertEqual(sorted(out().split()), ["0", "1"])
    with jtu.capture_stdout() as out:
      jax.jit(lambda p, x: lax.cond(p, lambda x: jax.debug.print("t {}", x, ordered=True), lambda x: jax.debug.print("f {}", x, ordered=True), x))(True, 3); jax.effects_barrier()
    self.assertEqual(out(), "t 3\n")
  def test_visualize(self):
    try: import rich
    except ImportError: self.skipTest("rich")
    jax.debug.visualize_array_sharding(jnp.ones((4,4)))
    jax.jit(lambda x: jax.debug.inspect_array_sharding(x, callback=print))(jnp.ones((4,4)))
  def test_inspect_sharding(self):
    seen = []
    def f(x):
      y = jnp.sin(x)
      jax.debug.inspect_array_sharding(y, callback=seen.append)
      return y
    jax.jit(f)(jnp.ones((4,4)))
    self.assertLen(seen, 1)
  def test_complex_clamp_and_real_dot(self):
    low, x, high = (jnp.array(v, jnp.complex64) for v in ([0, 0, 0], [1j, 1 + 1j, 3], [1, 1, 2 + 1j]))
    self.assertAllClose(lax.clamp(low, x, high), jnp.array([0, 1 + 1j, 2 + 1j], jnp.complex64))
    self.assertAllClose(lax.dot(x, high, preferred_element_type=jnp.float32), 7., check_dtypes=False)
  def test_nan_check(self):
    with jax.debug_nans(True):
      with self.assertRaises(FloatingPointError): jnp.log(jnp.array(-1.)) + 0
      with self.assertRaises(FloatingPointError): jax.jit(lambda x: 0. / x)(jnp.float32(0.))
    with jax.debug_infs(True):
      with self.assertRaises(FloatingPointError): jax.jit(lambda x: 1. / x)(jnp.float32(0.))
  def test_checkify(self):
    from jax.experimental import checkify
    def f(x):
      checkify.check(x > 0, "must be positive {}", x); return jnp.log(x)
    err, _ = checkify.checkify(jax.jit(f), errors=checkify.all_checks)(-1.)
    self.assertIsNotNone(err.get())

  def test_check_debug(self):
    from jax.experimental import checkify
    with self.assertRaises(Exception):
      checkify.check_error(checkify.checkify(lambda x: checkify.check(x>0, "a"))(-1.)[0])
  def test_ffi(self):
    import jax.ffi
    r = jax.ffi.ffi_call("lapack_sgeqrf_ffi", (jax.ShapeDtypeStruct((3,3), np.float32), jax.ShapeDtypeStruct((3,), np.float32)), input_layouts=[(0,1)], output_layouts=[(0,1),(0,)], input_output_aliases={0:0})(jnp.ones((3,3))+jnp.eye(3)) if jtu.device_under_test() in ("hlokit", "cpu") else None
  def test_errors_shapes(self):
    with self.assertRaises(TypeError): lax.add(jnp.ones(3), jnp.ones(4))
    with self.assertRaises(Exception): jax.device_put(np.array(["a"]))
  def test_bad_custom_call(self):
    with self.assertRaises(Exception): jax.jit(lambda x: jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct((), np.float32))(x))(1.)
  def test_block_until_ready(self):
    jax.block_until_ready([jnp.ones(3), 1, "x"])
    self.assertTrue(jnp.ones(3).is_ready() in (True, False))
  def test_copy_to_host_async(self):
    x = jnp.ones(3); x.copy_to_host_async(); np.asarray(x); x.copy()
  def test_device_put_committed(self):
    x = jax.device_put(1., jax.devices()[0]); self.assertTrue(x.committed if hasattr(x, "committed") else x._committed)
    y = jax.device_put(np.ones((3,3)).T); self.assertAllClose(y, np.ones((3,3)), check_dtypes=False)
    y = jax.device_put(np.arange(9.).reshape(3,3)[::-1, ::2], may_alias=True); self.assertAllClose(y, np.arange(9.).reshape(3,3)[::-1, ::2], check_dtypes=False)
    a = np.arange(1024.); b = jax.device_put(a, may_alias=False); a[0] = 7; self.assertEqual(b[0], 0)
  def test_platform_strings(self):
    from jax.extend import backend
    be = backend.get_backend(); show(be.platform, be.platform_version, be.runtime_type, be.device_count(), be.process_index())
    d = jax.devices()[0]; show(repr(d), d, d.device_kind, d.id, d.local_hardware_id, d.process_index, d.platform)
    jax.devices("hlokit") if jtu.device_under_test()=="hlokit" else 0
    jax.print_environment_info()
    show(be.compile_and_load if hasattr(be, "compile_and_load") else "")
  def test_cache(self):
    from jax.experimental.compilation_cache import compilation_cache as cc
    with tempfile.TemporaryDirectory() as d:
      cc.reset_cache()
      with config.enable_compilation_cache(True), config.persistent_cache_min_compile_time_secs(0), config.persistent_cache_min_entry_size_bytes(0), config.compilation_cache_dir(d), config.raise_persistent_cache_errors(True):
        f = jax.jit(lambda x: x * 3 + 1.5)
        f(1.)
        self.assertNotEmpty(os.listdir(d)); n = len(os.listdir(d))
        jax.clear_caches(); cc.reset_cache()
        g = jax.jit(lambda x: x * 3 + 1.5)
        self.assertAllClose(g(1.), 4.5, check_dtypes=False)
        self.assertEqual(n, len([q for q in os.listdir(d)]))
      cc.reset_cache()
  def test_serialize_executable(self):
    from jax.experimental.serialize_executable import serialize, deserialize_and_load
    c = jax.jit(lambda x: x * 3).lower(np.ones(3, np.float32)).compile()
    p, i, o = serialize(c)
    self.assertAllClose(deserialize_and_load(p, i, o)(np.ones(3, np.float32)), np.full(3, 3.), check_dtypes=False)
  def test_jax2tf_like_callback(self):
    from jax.experimental import io_callback
    f = lambda x: jax.pure_callback(lambda x: np.sin(x).astype(np.float32), jax.ShapeDtypeStruct(x.shape, np.float32), x, vmap_method="expand_dims")
    self.assertAllClose(jax.vmap(f)(jnp.arange(4.)), jnp.sin(jnp.arange(4.)))
    f = lambda x: jax.pure_callback(lambda x: np.sin(x).astype(np.float32), jax.ShapeDtypeStruct(x.shape, np.float32), x)
    with self.assertRaises(Exception): jax.grad(f)(1.)
    def bad(x): return jax.pure_callback(lambda x: np.sin(x).astype(np.float64), jax.ShapeDtypeStruct(x.shape, np.float32), x)
    jax.block_until_ready(jax.jit(bad)(jnp.ones(3)))
    y = jax.jit(lambda x: jax.pure_callback(lambda *a: (), (), x))(1.)
    z = jax.pure_callback(lambda: np.ones(3, np.float32), jax.ShapeDtypeStruct((3,), np.float32)); self.assertAllClose(z, jnp.ones(3))

  def test_infeed_like(self):
    pass
  def test_random_bits_all(self):
    for impl in ["threefry2x32", "rbg", "unsafe_rbg"]:
      k = jax.random.key(3, impl=impl)
      for n in (8, 16, 32):
        jax.random.bits(k, (5,), f"uint{n}")
      jax.random.split(k, 3); jax.random.fold_in(k, 1); jax.random.normal(k, (3,)); jax.vmap(lambda k: jax.random.uniform(k, (2,)))(jax.random.split(k, 3))
      k.copy(); k.devices(); show(k, jax.random.key_data(k))
  def test_async_error(self):
    def cb(x): raise ValueError("boom")
    with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "boom"):
      y = jax.jit(lambda x: jax.pure_callback(cb, jax.ShapeDtypeStruct((), np.float32), x))(1.)
      y.block_until_ready()
    with self.assertRaisesRegex(Exception, "boom"):
      jax.debug.callback(cb, 1.); jax.effects_barrier()
  def test_runs_in_the_background(self):
    a = jnp.full((1500, 1500), 1 / 1500, jnp.float32)
    f = jax.jit(lambda a: a @ a)
    g = jax.jit(lambda a: a @ a, donate_argnums=0)
    jax.block_until_ready((f(a), g(a + 0)))
    y = f(a)
    self.assertFalse(y.is_ready())
    for _ in range(8): y = g(y)  # each takes the memory of a value that is pending
    y.copy_to_host_async()
    total = y.sum()
    self.assertFalse(total.is_ready())
    self.assertAllClose(np.asarray(y), np.asarray(a), rtol=1e-4)
    self.assertAllClose(float(total), 1500., rtol=2e-3, check_dtypes=False)
    y = f(a); y.delete()
    z = f(a); p = z.unsafe_buffer_pointer(); self.assertTrue(z.is_ready()); self.assertNotEqual(p, 0)
  def test_exit_and_fork(self):
    program = '''
import os, jax, jax.numpy as jnp
a = jnp.full((1500, 1500), 1 / 1500, jnp.float32)
from jax.experimental import serialize_executable
f = jax.jit(lambda a: a @ a)
b = f(a)
kept = serialize_executable.serialize(f.lower(a).compile())
child = os.fork()  # what is compiled runs in the child; JAX's CPU waits there for ever
if child == 0:
    print("child", round(1500 * float(f(b).addressable_data(0).__array__()[3, 4])), flush=True)
    try: jax.jit(lambda a: a - 1)(b)
    except RuntimeError as error: print("forked" in str(error) and "spawn" in str(error), flush=True)
    try: serialize_executable.deserialize_and_load(*kept)
    except RuntimeError as error: print("forked" in str(error), flush=True)
    os._exit(0)
print("status", os.waitpid(child, 0)[1], flush=True)
for _ in range(20): b = f(b)
'''
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=120)
    self.assertEqual((done.returncode, done.stdout), (0, "child 1\nTrue\nTrue\nstatus 0\n"), done.stderr)
  def test_rules_that_come_late(self):
    from jax.experimental import checkify, sparse
    with self.assertRaisesRegex(ValueError, "not functionalized"):
      jax.jit(lambda x: (checkify.check(x > 3, "small"), x)[1])(1)
    jax.jit(lambda x: (checkify.debug_check(x > 3, "small"), x)[1])(1)
    a = jnp.arange(12.).reshape(3, 4) % 3
    for kind in (sparse.BCSR, sparse.BCOO):
      m = kind.fromdense(a)
      self.assertAllClose(jax.jit(lambda m, v: m @ v)(m, jnp.arange(4.)), a @ jnp.arange(4.))
      self.assertAllClose(jax.jit(lambda m, v: m @ v)(m, jnp.ones((4, 2))), a @ jnp.ones((4, 2)))
  def test_erf_of_narrow_types(self):
    for t in (jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float4_e2m1fn):
      x = jnp.array([-1., 0., .5, 2.], t)
      self.assertAllClose(jax.jit(lax.erf)(x), lax.erf(x.astype(jnp.float32)).astype(t))
    self.assertAllClose(jax.vmap(jax.grad(lax.erf))(jnp.zeros(2)), jnp.full(2, 2 / np.sqrt(np.pi), jnp.float32))
  def test_lowered_costs(self):
    costs = jax.jit(lambda x: x + 1).lower(jnp.ones((2, 3))).cost_analysis()
    self.assertEqual(costs["flops"], 6.)
    self.assertGreater(costs["bytes accessed"], 0)
  def test_copies_in_place(self):
    x = jnp.arange(6.) * 2
    x.block_until_ready()
    device = jax.devices()[0]
    self.assertNotEqual(jax.device_put(x, device, may_alias=False).unsafe_buffer_pointer(), x.unsafe_buffer_pointer())
    self.assertEqual(jax.device_put(x, device, may_alias=True).unsafe_buffer_pointer(), x.unsafe_buffer_pointer())
    self.assertAllClose(jax.device_put(x, device, may_alias=False), x)
  def test_xla_metadata(self):
    from jax.experimental.xla_metadata import set_xla_metadata
    with set_xla_metadata(a="b"): self.assertAllClose(jax.jit(lambda x: x + 1)(1.), 2., check_dtypes=False)
  def test_buffer_callback(self):
    from jax.experimental import buffer_callback as bc
    def cb(ctx, out, x): np.asarray(out)[...] = np.asarray(x) * 2
    f = bc.buffer_callback(cb, jax.ShapeDtypeStruct((3,), np.float32))
    self.assertAllClose(jax.jit(f)(jnp.ones(3)), jnp.full(3, 2.))
  def test_cpu_pyfunc(self):
    pass
  def test_default_device(self):
    with jax.default_device(jax.devices()[-1]):
      self.assertEqual(list(jnp.ones(3).devices())[0], jax.devices()[-1])
    with jax.default_device("cpu") : jnp.ones(3) + 1
  def test_to_from_cpu(self):
    c = jax.devices("cpu")[0]
    x = jax.device_put(jnp.arange(4.), c); self.assertEqual(list(x.devices())[0].platform, "cpu")
    y = jax.device_put(x, jax.devices()[0]); self.assertAllClose(y, jnp.arange(4.))
    jax.jit(lambda x: x+1, device=c)(1.) if False else None
    jax.jit(lambda x: x+1)(x)
  def test_token(self):
    t = lax.create_token(); jax.jit(lambda t, x: (lax.after_all(t), x+1))(t, 1.)
    lax.optimization_barrier((1., 2.))
  def test_key_reuse(self): 
    x = jax.eval_shape(lambda k: jax.random.split(k), jax.random.key(0))
  def test_pytree_static(self):
    jax.jit(lambda x, n: x * n, static_argnums=1)(2., 3)
    jax.jit(lambda x, n: x * n, static_argnames="n")(2., n=3)
    with self.assertRaises(jax.errors.TracerBoolConversionError): jax.jit(lambda x: 1 if x else 0)(True)
    with self.assertRaises(TypeError): jax.jit(lambda x: jnp.ones(x))(3)
  def test_leaks(self):
    with jax.checking_leaks(): jax.jit(lambda x: x+1)(1.)
  def test_array_methods(self):
    x = jnp.arange(10.)
    repr(x), str(x), format(x[0], ".3f"), float(x[1]), int(x[2]), bool(x[3]), complex(x[1]), list(x), x.tolist(), x.item(3), len(x), hash(jax.random.key), x.addressable_data(0), x.addressable_shards, x.global_shards, x.is_fully_addressable, x.is_fully_replicated
    import pickle, copy
    self.assertAllClose(pickle.loads(pickle.dumps(x)), x); copy.copy(x), copy.deepcopy(x)
    x.at[2].set(3.), x.at[jnp.array([1,2])].mul(2), x.at[::2].apply(jnp.sin), x.at[20].get(mode="fill", fill_value=jnp.nan)
    x.view(jnp.int32), x.astype(jnp.bfloat16), x.block_until_ready(), x.format if hasattr(x, "format") else x.layout
  def test_layouts(self):
    from jax.experimental.layout import Format, Layout
    f = jax.jit(lambda x: (x * 2).T, in_shardings=Format(Layout.AUTO), out_shardings=Format(Layout.AUTO))
    c = f.lower(jax.ShapeDtypeStruct((4, 8), np.float32)).compile()
    show(c.input_formats, c.output_formats)
    a = jax.device_put(np.ones((4,8), np.float32), c.input_formats[0][0]); c(a)
    b = jax.device_put(np.arange(32.).reshape(4,8), Format(Layout((1,0)), jax.sharding.SingleDeviceSharding(jax.devices()[0])))
    show(b.format); self.assertAllClose(np.asarray(b), np.arange(32.).reshape(4,8), check_dtypes=False)
    self.assertAllClose(b + 1, np.arange(32.).reshape(4,8)+1, check_dtypes=False)
    d = jax.jit(lambda x: x + 1, out_shardings=Format(Layout((0,1)), jax.sharding.SingleDeviceSharding(jax.devices()[0])))(np.ones((4,8), np.float32))
    show(d.format)
  def test_while_trip(self):
    self.assertEqual(jax.jit(lambda n: lax.fori_loop(0, n, lambda i, c: c + i, 0))(5), 10)
  def test_exit_kwargs(self):
    jax.jit(lambda *a, **k: (a, k))(1, 2, x=3)
  def test_scipy_like(self):
    import jax.scipy.optimize
    jax.scipy.optimize.minimize(lambda x: ((x-1)**2).sum(), jnp.zeros(3), method="BFGS")
    jax.scipy.sparse.linalg.cg(lambda x: 2*x, jnp.ones(3)); jax.scipy.sparse.linalg.gmres(lambda x: 2*x, jnp.ones(3)); jax.scipy.sparse.linalg.bicgstab(lambda x: 2*x, jnp.ones(3))
    from jax.experimental.ode import odeint
    odeint(lambda y, t: -y, jnp.ones(2), jnp.linspace(0, 1, 5))
  def test_threads(self):
    errs = []
    f = jax.jit(lambda x: jnp.sin(x) @ x)
    def w(i):
      try:
        for _ in range(20): f(jnp.full((8,8), float(i)))
      except Exception as e: errs.append(e)
    ts = [threading.Thread(target=w, args=(i,)) for i in range(64)]
    [t.start() for t in ts]; [t.join() for t in ts]; self.assertEmpty(errs)
  def test_lowering_cross(self):
    jax.jit(jnp.sin).trace(1.).lower(lowering_platforms=("cpu", "tpu"))
    jax.jit(lambda x: jnp.linalg.eigh(x)).trace(jnp.eye(3)).lower(lowering_platforms=("cuda",))
  def test_mutable_ref(self):
    r = jax.new_ref(jnp.zeros(3)) if hasattr(jax, "new_ref") else jax.experimental.mutable_array(jnp.zeros(3))
    @jax.jit
    def f(r): r[...] += 1.
    f(r); f(r); self.assertAllClose(r[...], jnp.full(3, 2.))
    # inside
    @jax.jit
    def g(x):
      r = jax.new_ref(x); 
      def body(i, _): r[i] = r[i] * 2.; return None
      lax.fori_loop(0, 3, body, None)
      return r[...]
    self.assertAllClose(g(jnp.arange(3.)), jnp.arange(3.)*2)
  def test_pallas_interpret(self):
    from jax.experimental import pallas as pl
    f = pl.pallas_call(lambda x_ref, o_ref: o_ref.__setitem__(..., x_ref[...] + 1), out_shape=jax.ShapeDtypeStruct((8,), jnp.float32), interpret=True)
    self.assertAllClose(f(jnp.arange(8.)), jnp.arange(8.)+1)
  def test_hash_fingerprint(self):
    c = jax.jit(lambda x: x*2).lower(1.).compile(); show(c.runtime_executable().fingerprint)
    e = c.runtime_executable(); show(e.get_output_memory_kinds(), e.get_parameter_layouts() , e.get_output_layouts(), e.hlo_modules()[0].name, e.size_of_generated_code_in_bytes(), e.get_compiled_memory_stats(), e.get_compile_options() if hasattr(e, "get_compile_options") else None, e.get_output_shardings(), e.local_devices())

if __name__ == "__main__":
  absltest.main(testLoader=jtu.JaxTestLoader())
# SPDX-License-Identifier: Apache-2.0
