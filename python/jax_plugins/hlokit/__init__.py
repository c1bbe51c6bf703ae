"""hlokit as a platform of JAX: with this folder's parent on PYTHONPATH, JAX_PLATFORMS=hlokit runs unchanged programs.

JAX finds the package by its name (jax_plugins.*) and calls initialize() before it first asks for devices. The library is
$HLOKIT_PJRT_LIBRARY, or that of the package hlokit, or of the newest build below the source tree.
Devices: HLOKIT_NUM_DEVICES, or --xla_force_host_platform_device_count in XLA_FLAGS, or jax_num_cpu_devices; 1 without any.
"""
import os
import pathlib

LIBRARY = "libpjrt_hlokit.so"
# Newest first; others may work, but no test has said so. initialize() says which these are where JAX is another.
TESTED_JAX = ("0.10.2", "0.10.1", "0.10.0")


def library_path():
    """The plugin's shared object. Raises FileNotFoundError, naming the places that were tried."""
    chosen = os.environ.get("HLOKIT_PJRT_LIBRARY")
    if chosen:
        return pathlib.Path(chosen)
    here = pathlib.Path(__file__).resolve().parent
    # In a wheel's package; where Debian's package installs it, seen from /usr/lib/python3/dist-packages/jax_plugins/hlokit.
    places = [here.parents[1] / "hlokit" / "lib", here.parents[3], *sorted(here.parents[3].glob("*-linux-gnu"))]
    for place in places:
        if (place / LIBRARY).exists():
            return place / LIBRARY
    built = sorted(here.parents[2].glob(f"build/*/lib/{LIBRARY}"), key=lambda path: path.stat().st_mtime)
    if built:
        return built[-1]
    raise FileNotFoundError(f"{LIBRARY} is neither in {places[0]} nor installed nor below {here.parents[2] / 'build'}; set HLOKIT_PJRT_LIBRARY")


class Rules(dict):
    """Lowering rules of hlokit, by primitive; where it has none of its own, those that `cpu` has by then.

    Modules that JAX imports late (checkify, sparse) and users register rules for the CPU after hlokit has started.
    """

    def __init__(self, own, cpu):
        super().__init__(own)
        self.cpu = cpu

    def __contains__(self, primitive):
        return super().__contains__(primitive) or primitive in self.cpu

    def __missing__(self, primitive):
        return self.cpu[primitive]


def lower_as_cpu():
    """Gives hlokit the lowering rules that JAX has for its CPU alone: LAPACK calls, Fourier transforms and the like."""
    from jax._src.interpreters import mlir  # pylint: disable=import-outside-toplevel

    rules = mlir._platform_specific_lowerings  # pylint: disable=protected-access
    rules["hlokit"] = Rules(rules["hlokit"], rules["cpu"])


def lower_custom_partitioning():
    """Functions with a partitioning of their own run on whole arrays: as they are."""
    from jax._src import core, custom_partitioning  # pylint: disable=import-outside-toplevel
    from jax._src.interpreters import mlir  # pylint: disable=import-outside-toplevel

    def rule(ctx, *values, call, **_):
        return mlir.lower_fun(core.jaxpr_as_fun(call), multiple_results=True)(ctx, *values)

    mlir.register_lowering(custom_partitioning.custom_partitioning_p, rule, platform="hlokit")


def lower_narrow_erf():
    """erf of types of 8 and 4 bits by way of f32, as XLA's CPU has it: jaxlib's conversion for plugins knows no chlo.erf of them."""
    from jax._src.interpreters import mlir  # pylint: disable=import-outside-toplevel
    from jax._src.lax import special  # pylint: disable=import-outside-toplevel

    def rule(ctx, x):
        aval = ctx.avals_in[0]
        if aval.dtype.itemsize > 1:
            return mlir._lowerings[special.erf_p].rule(ctx, x)  # pylint: disable=protected-access
        by_f32 = lambda v: special.erf(v.astype("float32")).astype(aval.dtype)
        return mlir.lower_fun(by_f32, multiple_results=False)(ctx, x)

    mlir.register_lowering(special.erf_p, rule, platform="hlokit")


def offer_lapack():
    """Names the LAPACK of SciPy's wheel, which JAX depends on, for machines that have no OpenBLAS of their own."""
    import importlib.util  # pylint: disable=import-outside-toplevel

    scipy = importlib.util.find_spec("scipy")
    if scipy is None or scipy.origin is None:
        return
    for library in sorted(pathlib.Path(scipy.origin).parents[1].glob("scipy.libs/libscipy_openblas*.so")):
        os.environ.setdefault("HLOKIT_SCIPY_LAPACK", str(library))


class AlsoHlokit(tuple):
    """The platforms that a function was exported for; where `cpu` is one, `hlokit` stands for it."""

    def __contains__(self, platform):
        return super().__contains__("cpu" if platform == "hlokit" and not super().__contains__(platform) else platform)

    def index(self, platform, *bounds):
        return super().index("cpu" if platform == "hlokit" and not super().__contains__(platform) else platform, *bounds)


def call_exports_for_cpu():
    """Functions exported for JAX's CPU (jax.export) run on hlokit: what they call, LAPACK and the like, is there under the same names."""
    import dataclasses  # pylint: disable=import-outside-toplevel

    from jax._src.export import _export  # pylint: disable=import-outside-toplevel
    from jax._src.interpreters import mlir  # pylint: disable=import-outside-toplevel

    theirs = _export._call_exported_lowering  # pylint: disable=protected-access

    def rule(ctx, *values, exported):
        return theirs(ctx, *values, exported=dataclasses.replace(exported, platforms=AlsoHlokit(exported.platforms)))

    mlir.register_lowering(_export.call_exported_p, rule, platform="hlokit")


def allow_donation():
    """Says that hlokit takes donated arguments, as JAX's own platforms do."""
    from jax._src.interpreters import mlir  # pylint: disable=import-outside-toplevel

    platforms = mlir._platforms_with_donation  # pylint: disable=protected-access
    if "hlokit" not in platforms:
        platforms.append("hlokit")


def start_with_cpu():
    """Callbacks get their arguments as arrays of JAX's own CPU: it starts beside hlokit, which stays the default.

    To JAX, "hlokit" stands for two platforms while it starts them; its configuration stays as the user has it.
    """
    import dataclasses  # pylint: disable=import-outside-toplevel

    from jax._src import xla_bridge  # pylint: disable=import-outside-toplevel

    aliases, factories = xla_bridge._alias_to_platforms, xla_bridge._backend_factories  # pylint: disable=protected-access
    registered = factories["hlokit"]

    def start(*arguments, **keywords):
        aliases.pop("hlokit", None)
        return registered.factory(*arguments, **keywords)

    if xla_bridge.config.jax_platforms.value == "hlokit":
        aliases["hlokit"] = ["hlokit", "cpu"]
        factories["hlokit"] = dataclasses.replace(registered, factory=start)


def use_cache():
    """JAX's compilation cache lists the platforms that it works for: hlokit's executables are serialized like its CPU's."""
    import types  # pylint: disable=import-outside-toplevel

    from jax._src import compilation_cache  # pylint: disable=import-outside-toplevel

    theirs = compilation_cache.is_cache_used
    stand_in = types.SimpleNamespace(platform="cpu", supports_executable_serialization=True)
    compilation_cache.is_cache_used = lambda backend: theirs(stand_in if backend.platform == "hlokit" else backend)


def analyse_as_cpu():
    """What a program costs before it is compiled is told by JAX's CPU, which starts beside hlokit: the interface of plugins has no function for it."""
    from jax._src import xla_bridge  # pylint: disable=import-outside-toplevel
    from jax._src.interpreters import pxla  # pylint: disable=import-outside-toplevel
    from jax._src.lib import _jax  # pylint: disable=import-outside-toplevel

    theirs = pxla.MeshComputation.cost_analysis

    def cost_analysis(self):
        if self.compile_args["backend"].platform != "hlokit" or "cpu" not in xla_bridge.backends():
            return theirs(self)
        return _jax.hlo_module_cost_analysis(xla_bridge.get_backend("cpu"), self.hlo().as_hlo_module())

    pxla.MeshComputation.cost_analysis = cost_analysis


def client_options():
    """As many devices as jax_num_cpu_devices asks of JAX's CPU, where the environment says nothing of them."""
    from jax._src import xla_bridge  # pylint: disable=import-outside-toplevel

    devices = xla_bridge.num_cpu_devices.value
    said = "HLOKIT_NUM_DEVICES" in os.environ or "--xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", "")
    return {} if said or devices < 1 else {"num_devices": devices}


def initialize():
    """Registers the platform; JAX calls it. Warns of a version of JAX that was not tested.

    Raises FileNotFoundError where the library is not there, RuntimeError where this JAX lacks what hlokit leans on.
    """
    import jax  # pylint: disable=import-outside-toplevel

    library, tested = library_path(), " and ".join(TESTED_JAX)
    if jax.__version__ not in TESTED_JAX:
        import warnings  # pylint: disable=import-outside-toplevel

        warnings.warn(f"hlokit was tested with JAX {tested}; this is JAX {jax.__version__}", stacklevel=2)
    try:
        register(library)
    except (AttributeError, ImportError, KeyError, TypeError) as error:
        raise RuntimeError(f"hlokit works with JAX {tested}; JAX {jax.__version__} lacks what it leans on: {error!r}") from error


def register(library):
    """The platform, its lowering rules and what else JAX gives its own platforms alone."""
    from jax._src import xla_bridge  # pylint: disable=import-outside-toplevel

    from . import callbacks, dlpack, ffi, forks, inspections  # pylint: disable=import-outside-toplevel

    xla_bridge._nonexperimental_plugins.add("hlokit")  # pylint: disable=protected-access
    xla_bridge.register_plugin("hlokit", priority=0, library_path=str(library), options=client_options)
    lower_as_cpu()
    lower_custom_partitioning()
    lower_narrow_erf()
    offer_lapack()
    call_exports_for_cpu()
    allow_donation()
    start_with_cpu()
    use_cache()
    analyse_as_cpu()
    callbacks.install(library)
    ffi.install(library)
    dlpack.install()
    forks.install()
    inspections.install(library)
# SPDX-License-Identifier: Apache-2.0
