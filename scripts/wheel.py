"""Makes the wheel of hlokit from a build: the Python packages, one program with all tools, and the libraries they need.

  wheel.py --build build/wheel --out dist     (scripts/release.sh makes the build first)

Libraries that every Linux of the glibc in the wheel's name has stay outside; all others lie in hlokit/lib and are found by
$ORIGIN. The same build gives the same bits: files are sorted, times are SOURCE_DATE_EPOCH's.
"""
import argparse
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Graphviz loads these by name: hlo-viz's layout, and the formats that need no other libraries (SVG, DOT, PostScript).
GRAPHVIZ = ("libgvplugin_core.so.6", "libgvplugin_dot_layout.so.6")
# What PEP 600 lets a wheel of Linux expect outside.
OUTSIDE = re.compile(r"^(linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so)")
LIBRARIES = ("libpjrt_hlokit.so", "libhlokit_cpu_plugin.so", "libhlokit_cuda_plugin.so", "libhlokit_cuda_sim.so")
METADATA = """Metadata-Version: 2.1
Name: hlokit
Version: {version}
Summary: Read, check, transform, compile, run and look at XLA's HLO; a JAX platform
License: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: numpy
Provides-Extra: jax
Requires-Dist: jax; extra == "jax"
Requires-Dist: ml_dtypes; extra == "jax"
Description-Content-Type: text/markdown

"""


def version():
    return re.search(r"project\(hlokit VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def tools(build):
    """The names of the tools in the one program, as its usage lists them."""
    done = subprocess.run([build / "bin" / "hlokit", "--help"], capture_output=True, text=True, check=True)
    return re.findall(r"^  ([\w-]+)$", done.stdout, re.MULTILINE)


def needed(path):
    """The shared libraries that `path` loads, directly or not: name -> file."""
    done = subprocess.run(["ldd", path], capture_output=True, text=True, check=True)
    found = {}
    for line in done.stdout.splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if "not found" in rest:
            sys.exit(f"wheel.py: {path} needs {name}, which is not found")
        if arrow and not OUTSIDE.match(name):
            found[name] = pathlib.Path(rest.split(" (")[0])
    return found


def glibc_of(paths):
    """The newest glibc that one of the files names, as (2, 36)."""
    newest = (2, 17)
    for path in paths:
        text = subprocess.run(["objdump", "-T", path], capture_output=True, text=True, check=True).stdout
        for match in re.finditer(r"GLIBC_(\d+)\.(\d+)", text):
            newest = max(newest, (int(match[1]), int(match[2])))
    return newest


def graphviz_plugins(lib):
    """Copies the plugins to lib/graphviz, with their entries of the table that `dot -c` wrote; returns the copies."""
    folder = pathlib.Path(subprocess.run(["pkg-config", "--variable=libdir", "libgvc"], capture_output=True, text=True,
                                         check=True).stdout.strip()) / "graphviz"
    table = (folder / "config6a").read_text(encoding="utf-8")
    (lib / "graphviz").mkdir()
    blocks = re.findall(r"^(\S+) \w+ \{.*?^\}\n", table, re.MULTILINE | re.DOTALL)
    missing = set(GRAPHVIZ) - set(blocks)
    if missing:
        sys.exit(f"wheel.py: {folder}/config6a has no {', '.join(sorted(missing))}")
    kept = [match[0] for match in re.finditer(r"^(\S+) \w+ \{.*?^\}\n", table, re.MULTILINE | re.DOTALL) if match[1] in GRAPHVIZ]
    (lib / "graphviz" / "config6a").write_text("".join(kept), encoding="utf-8")
    return [pathlib.Path(shutil.copy((folder / name).resolve(), lib / "graphviz" / name)) for name in GRAPHVIZ]


def stage(build, to):
    """Fills `to` with what the wheel holds, without its own metadata."""
    for package in ("hlokit", "jax_plugins"):
        shutil.copytree(ROOT / "python" / package, to / package, ignore=shutil.ignore_patterns("__pycache__"))
    (to / "hlokit" / "bin").mkdir()
    lib = to / "hlokit" / "lib"
    (lib / "hlokit").mkdir(parents=True)
    shutil.copy(build / "bin" / "hlokit", to / "hlokit" / "bin" / "hlokit")
    for name in LIBRARIES:
        shutil.copy(build / "lib" / name, lib / name)
    shutil.copy(build / "lib" / "libhlokit_runtime.a", lib / "hlokit")  # hlo-aot's
    plugins = graphviz_plugins(lib)
    programs = [to / "hlokit" / "bin" / "hlokit", *(lib / name for name in LIBRARIES)]
    built = [build / "bin" / "hlokit", *(build / "lib" / name for name in LIBRARIES)]  # where $ORIGIN finds the others
    for program in built + plugins:
        for name, path in needed(program).items():
            if not (lib / name).exists():
                shutil.copy(path.resolve(), lib / name)
    for path in sorted(lib.rglob("*.so*")):
        subprocess.run(["strip", "--strip-unneeded", path], check=True)
        subprocess.run(["patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/.." if path in plugins else "$ORIGIN", path], check=True)
    # Plugins of passes find hlokit's functions in the program: its dynamic symbols stay.
    subprocess.run(["strip", programs[0]], check=True)
    subprocess.run(["patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../lib", programs[0]], check=True)
    subprocess.run(["strip", "--strip-debug", "--enable-deterministic-archives", lib / "hlokit" / "libhlokit_runtime.a"], check=True)
    return [programs[0], *lib.rglob("*.so*")]


def write_wheel(staged, out, tag, names):
    """The zip file, with RECORD last, as PEP 427 has it."""
    info = f"hlokit-{version()}.dist-info"
    files = {path.relative_to(staged).as_posix(): path.read_bytes() for path in sorted(staged.rglob("*")) if path.is_file()}
    files[f"{info}/METADATA"] = METADATA.format(version=version()).encode() + (ROOT / "docs" / "python.md").read_bytes()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: hlokit\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    scripts = "".join(f"{name} = hlokit.tools:{name.replace('-', '_')}\n" for name in names)
    files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{scripts}\n[jax_plugins]\nhlokit = jax_plugins.hlokit\n".encode()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = "".join(f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
                     for name, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    when = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "315532800")), 315532800))[:6]
    target = out / f"hlokit-{version()}-{tag}.whl"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, when)
            entry.external_attr = (0o100755 if name == "hlokit/bin/hlokit" else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        staged = pathlib.Path(work) / "wheel"
        staged.mkdir()
        machine = os.uname().machine
        major, minor = glibc_of(stage(arguments.build, staged))
        target = write_wheel(staged, arguments.out, f"py3-none-manylinux_{major}_{minor}_{machine}", tools(arguments.build))
    print(f"{target} ({target.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
