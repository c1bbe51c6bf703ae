"""The subcommands of operations_peer.py that compare values with those of the real XLA's CPU."""
import re
import warnings

import ml_dtypes
import numpy

import random_operations
import xla_peer

SECONDS = 60  # of the real XLA for one module, under load
TYPES = {"pred": numpy.bool_, "s8": numpy.int8, "s16": numpy.int16, "s32": numpy.int32, "s64": numpy.int64, "u8": numpy.uint8,
         "u16": numpy.uint16, "u32": numpy.uint32, "u64": numpy.uint64, "f16": numpy.float16, "bf16": ml_dtypes.bfloat16,
         "f32": numpy.float32, "f64": numpy.float64, "c64": numpy.complex64, "c128": numpy.complex128, "s4": ml_dtypes.int4,
         "u4": ml_dtypes.uint4, "s2": ml_dtypes.int2, "u2": ml_dtypes.uint2, "f8e5m2": ml_dtypes.float8_e5m2,
         "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e4m3": ml_dtypes.float8_e4m3, "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
         "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz, "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "f8e3m4": ml_dtypes.float8_e3m4,
         "f4e2m1fn": ml_dtypes.float4_e2m1fn, "f8e8m0fnu": ml_dtypes.float8_e8m0fnu}
INTEGER = "add subtract multiply divide remainder maximum minimum power and or xor shift-left shift-right-logical shift-right-arithmetic"
FLOAT = "add subtract multiply divide remainder maximum minimum"
SIGNED_UNARY, UNSIGNED_UNARY = "abs negate sign not popcnt count-leading-zeros", "negate not popcnt count-leading-zeros"
FLOAT_UNARY = "abs negate sign floor ceil round-nearest-afz round-nearest-even is-finite"
OPERAND = rf"({'|'.join(TYPES)})\[([\d,]*)\]"
# How far sums, which are added up in other orders, may differ beside the largest element, by the bytes of a real number.
RELATIVE = {1: .3, 2: .03, 4: 1e-4, 8: 1e-9}
SMALLEST = 1.2e-38  # below, f32 and bf16 are subnormal: --flush-denormals and XLA do not agree on each
# What docs/differences.md lists: exponents past the width, popcnt of negative s4, windows over scalars, subnormals as pred.
ALLOWED = re.compile(r"^power [su]|^popcnt s4|f4e2m1fn -> [su]|f8e8m0fnu -> pred|^reduce-window \['\w+\[\]'\]")


def run_on_xla(_, question):
    """(text, inputs) -> results of the real XLA's CPU, or its refusal."""
    import os
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax
    from jax._src.lib import _jax, xla_client
    from jaxlib import _hlo, lapack
    jax.config.update("jax_enable_x64", True)
    lapack._lapack.initialize()  # custom calls of LAPACK crash without it
    text, inputs = question
    try:
        computation = _hlo.XlaComputation(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
        device = jax.local_devices()[0]
        executable = device.client.compile_and_load(_jax.mlir.xla_computation_to_mlir_module(computation),
                                                    xla_client.DeviceList((device,)), xla_client.CompileOptions())
        results = executable.execute_sharded([jax.device_put(x, device) for x in inputs])
        return [numpy.asarray(r[0]) for r in results.disassemble_into_single_device_arrays()]
    except Exception as error:  # of several types
        return str(error)[:300]


def width(array):
    """Bits of an element that count: of s4 and the like only the low ones."""
    return {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "float4_e2m1fn": 4}.get(array.dtype.name, 8)


def bits(array):
    flat = numpy.ascontiguousarray(array).reshape(-1)
    return flat.view(numpy.uint8).reshape(flat.size, flat.dtype.itemsize) & ((1 << width(array)) - 1)


def as_type(ours, like):
    """Our array, whose type numpy may lack, as one of `like`'s type."""
    return numpy.ascontiguousarray(ours).view(like.dtype).reshape(like.shape)


def wide(array):
    return array.astype(numpy.complex128 if array.dtype.kind == "c" else numpy.float64)


def is_real(array):
    return array.dtype.kind in "fc" or array.dtype.name.startswith(("bfloat", "float"))


def exactly_wrong(ours, theirs):
    """Which elements differ in a bit; NaN is as good as NaN, a subnormal as another or zero."""
    wrong = (bits(ours) != bits(theirs)).any(axis=1)
    if is_real(theirs):
        x, y = wide(ours).reshape(-1), wide(theirs).reshape(-1)
        wrong &= ~(numpy.isnan(x) & numpy.isnan(y)) & ~((abs(x) < SMALLEST) & (abs(y) < SMALLEST))
    return wrong


def nearly_wrong(ours, theirs):
    """Which elements differ by more than rounding does, beside the array's largest."""
    if not is_real(theirs):
        return exactly_wrong(ours, theirs)
    x, y = wide(ours).reshape(-1), wide(theirs).reshape(-1)
    same = (x == y) | (numpy.isnan(x) & numpy.isnan(y))
    finite = y[numpy.isfinite(y)]
    real_bytes = theirs.dtype.itemsize // (2 if theirs.dtype.kind == "c" else 1)
    bound = RELATIVE[real_bytes] * max(1e-30, numpy.abs(finite).max() if finite.size else 1)
    return ~same & ~(numpy.abs(x - y) <= bound)


def compare(tool, findings, peer, module, names, inputs, wrong_in, flags=()):
    """Runs `module` (its text, or refused) on XLA and both platforms; `names` tell what each result is."""
    peer.ask((module, inputs))
    theirs = peer.answer(SECONDS)
    if isinstance(theirs, str):
        findings.note("not run by XLA")
        return
    for platform in ("interpreter", "cpu"):
        ours = tool.run(module, inputs, f"--platform={platform}", *flags)
        if isinstance(ours, str):
            findings.note("refused", f"{names[0]}: {platform} refuses {re.sub('[0-9]+', '#', ours)}", module)
            continue
        for name, x, y in zip(names, ours, theirs):
            wrong = numpy.nonzero(wrong_in(as_type(x, y), y))[0] if x.shape == y.shape else None
            if wrong is None or wrong.size and not ALLOWED.search(name):
                what = f"{x.shape}, not {y.shape}" if wrong is None else examples(as_type(x, y), y, wrong, inputs)
                findings.note("differ", f"{name} on {platform}", f"{what}\n{module if len(module) < 800 else ''}")
            else:
                findings.note("listed in docs/differences.md" if wrong.size else "agree")


def examples(ours, theirs, wrong, inputs):
    lines = [f"{wrong.size} of {theirs.size}"]
    for i in wrong[:4]:
        given = [str(x.reshape(-1)[i]) for x in inputs if x.size == theirs.size]
        lines.append(f"  {i}: XLA {theirs.reshape(-1)[i]}, ours {ours.reshape(-1)[i]}" + (f" of {', '.join(given)}" if given else ""))
    return "\n".join(lines)


def random_input(generator, shape):
    """Of an operand's shape as text: small numbers, so that sums and products stay smooth."""
    element_type, dims = re.fullmatch(OPERAND, shape).groups()
    dims = [int(d) for d in dims.split(",") if d]
    dtype = TYPES[element_type]
    if element_type == "pred":
        return generator.randint(0, 2, dims).astype(bool)
    if element_type[0] in "su":
        bits_of_type = int(element_type[1:])
        low = -min(8, 1 << (bits_of_type - 1)) if element_type[0] == "s" else 0
        return numpy.asarray(generator.randint(low, min(9, 1 << (bits_of_type - 1))
                                               if element_type[0] == "s" else min(9, 1 << bits_of_type), dims)).astype(dtype)
    values = generator.uniform(-4, 4, dims)
    if element_type[0] == "c":
        values = values + 1j * generator.uniform(-4, 4, dims)
    return numpy.asarray(abs(values) if element_type == "f8e8m0fnu" else values).astype(dtype)


def values(options, tool, findings):
    peer = xla_peer.Peer(run_on_xla)
    for seed in range(options.first, options.first + options.count):
        made = random_operations.operation(seed, static=True)
        text = made.text()
        # What lies behind a size set at run time comes back from XLA too.
        if made.opcode == "set-dimension-size" or not all(re.fullmatch(OPERAND, shape) for shape in made.operands):
            findings.note("without numpy arrays")
            continue
        inferred = tool.roots([text])[0]
        if not inferred[0]:
            findings.note("refused by us")
            continue
        inputs = [random_input(numpy.random.RandomState(seed), shape) for shape in made.operands]
        compare(tool, findings, peer, text, [f"{made.opcode} {made.operands[:1]} seed {seed} ({k})" for k in range(16)], inputs,
                nearly_wrong, ["--flush-denormals"])
    return findings.finish()


def edges(element_type):
    """All values of types up to 8 bits; of others edges and random ones of all magnitudes."""
    dtype, generator = numpy.dtype(TYPES[element_type]), numpy.random.RandomState(3)
    if element_type == "pred":
        return numpy.array([False, True])
    if element_type[0] in "su":
        count = int(element_type[1:])
        low, high = (-(1 << (count - 1)), (1 << (count - 1)) - 1) if element_type[0] == "s" else (0, (1 << count) - 1)
        if count <= 8:
            return numpy.arange(low, high + 1).astype(dtype)
        near = {p + d for e in range(count + 1) for p in (1 << e, -(1 << e)) for d in (-1, 0, 1)}
        near |= {int(x) >> int(generator.randint(0, 63)) for x in generator.randint(0, 2**63, 40, dtype=numpy.int64)}
        return numpy.array(sorted(x for x in near if low <= x <= high), dtype=dtype)
    if dtype.itemsize == 1:
        return numpy.arange(1 << width(numpy.zeros(1, dtype)), dtype=numpy.uint8).view(dtype)
    if dtype.itemsize == 2:
        return numpy.concatenate([generator.randint(0, 65536, 200), [0, 0x8000, 0x3c00, 0x7c00, 0xfc00, 0x7e00, 0x7f80, 0xff80, 0x7fc0,
                                                                     0x3f80]]).astype(numpy.uint16).view(dtype)
    special = [0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, 1e30, -1e30, 1e-8, 65504, 65520, 448, 464, 465, 240, 248, 57344, 61440]
    special += [s * (2.0**e + d) for e in (0, 1, 7, 8, 15, 16, 24, 31, 32, 53, 63, 64) for d in (-1, -.5, 0, .5, 1) for s in (1, -1)]
    spread = generator.randn(200) * 10.0 ** generator.randint(-10, 12, 200)
    real = numpy.array(special + list(spread) + list(generator.randint(-2000, 2000, 200) + .5))
    return (real + 1j * numpy.roll(real, 1) if dtype.kind == "c" else real).astype(dtype)


def tuple_module(shapes, instructions):
    """A module whose results are `instructions`, each (type, text), of as many elements as the parameters."""
    count = shapes[0].split("[")[1].rstrip("]")
    lines = [f"  p{i} = {shape} parameter({i})" for i, shape in enumerate(shapes)]
    lines += [f"  r{i} = {t}[{count}] {text}" for i, (t, text) in enumerate(instructions)]
    result = ", ".join(f"{t}[{count}]" for t, _ in instructions)
    lines.append(f"  ROOT t = ({result}) tuple({', '.join(f'r{i}' for i in range(len(instructions)))})")
    return "HloModule m\n\nENTRY e {\n" + "\n".join(lines) + "\n}\n"


def conversions(tool, findings, peer):
    for source in TYPES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given = edges(source)
        targets = ["c64", "c128"] if source[0] == "c" else list(TYPES)
        module = tuple_module([f"{source}[{given.size}]"], [(t, "convert(p0)") for t in targets])
        compare(tool, findings, peer, module, [f"{source} -> {t}" for t in targets], [given], exactly_wrong, ["--flush-denormals"])


def arithmetic(tool, findings, peer):
    for element_type in TYPES:
        if element_type in ("f32", "f64", "c64", "c128", "f8e8m0fnu"):  # hlokit_accuracy's; no arithmetic
            continue
        own = edges(element_type)
        x, y = numpy.repeat(own, own.size), numpy.tile(own, own.size)
        is_float = element_type[0] in "fb"
        binary = FLOAT if is_float else "and or xor add multiply maximum minimum" if element_type == "pred" else INTEGER
        unary = (FLOAT_UNARY if is_float else "not" if element_type == "pred"
                 else UNSIGNED_UNARY if element_type[0] == "u" else SIGNED_UNARY)
        rows = [(f"{op} {element_type}", element_type, f"{op}(p0, p1)") for op in binary.split()]
        rows += [(f"{op} {element_type}", "pred" if op == "is-finite" else element_type, f"{op}(p0)") for op in unary.split()]
        rows += [(f"compare {d} {element_type}", "pred", f"compare(p0, p1), direction={d}") for d in ("EQ", "NE", "LT", "GE")]
        rows.append((f"clamp {element_type}", element_type, "clamp(p0, p1, p0)"))
        module = tuple_module([f"{element_type}[{x.size}]"] * 2, [(t, text) for _, t, text in rows])
        compare(tool, findings, peer, module, [name for name, _, _ in rows], [x, y], exactly_wrong, ["--flush-denormals"])


def types(_, tool, findings):
    peer = xla_peer.Peer(run_on_xla)
    with numpy.errstate(all="ignore"):
        conversions(tool, findings, peer)
        arithmetic(tool, findings, peer)
    return findings.finish()
# SPDX-License-Identifier: Apache-2.0
