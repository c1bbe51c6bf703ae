#!/usr/bin/env python3
"""Holds what hlo-run computes of StableHLO to StableHLO's own reference interpreter. Skipped (77) where jax is missing.

  stablehlo_reference_peer.py --bin DIR [--forms pretty,generic,vhlo,bytecode,artifact,0.9.0] [--edges] [--keep FOLDER] [NAME...]

Each program of stablehlo_reference_programs.py is evaluated by the reference interpreter (jaxlib's eval_module). What it gives
becomes checks in the program, as StableHLO's tests have them (check.expect_eq_const, check.expect_almost_eq_const, check.expect_close),
and hlo-run runs the program: as MLIR prints it, in the generic form, as text of vhlo, as bytecode and as portable artifacts.
--edges takes those of stablehlo_edge_programs.py instead: elementwise operations at the edges of their types.
Exit status: 0 all checks hold, 1 some do not.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

try:
    from jax._src.interpreters import mlir
    from jaxlib.mlir import ir, passmanager
    from jaxlib.mlir.dialects import chlo, stablehlo  # pylint: disable=unused-import
    import stablehlo_edge_programs
    import stablehlo_reference_programs
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def lowered(module, pipeline):
    """A copy of the module behind passes."""
    copy = ir.Module.parse(module.operation.get_asm(print_generic_op_form=True))
    passmanager.PassManager.parse(pipeline).run(copy.operation)
    return copy


def check_of(value, expected, ulps):
    """The line of text that compares a value; None where it takes several."""
    element = expected.rsplit(":", 1)[1]
    if re.search(r"x?(b?f\d|complex)", element) and ulps != 0:
        if ulps is None:
            return f"check.expect_almost_eq_const {value}, {expected}"
        return None
    return f"check.expect_eq_const {value}, {expected}"


def with_checks(text, results, program):
    """The text of a module with checks of what its function main returns."""
    lines = text.split("\n")
    in_main = False
    for i, line in enumerate(lines):
        in_main = in_main or re.match(r"\s*func\.func (public )?@main\(", line) is not None
        returned = re.match(r'\s*(?:func\.)?return (%.*) : ', line)
        if in_main and returned:
            values = [v.strip() for v in returned[1].split(",")]
            checks = []
            for k, (value, expected) in enumerate(zip(values, results)):
                check = check_of(value, expected, program.ulps)
                if check is None:
                    kind = expected.rsplit(": ", 1)[1]
                    checks += [f"%expected{k} = stablehlo.constant {expected}",
                               f"check.expect_close {value}, %expected{k}, max_ulp_difference = {program.ulps} : {kind}, {kind}"]
                else:
                    checks.append(check)
            lines[i:i + 1] = checks + [line]
            break
    return "\n".join(lines)


def evaluated(module, program):
    """What the reference interpreter gives, as texts of constants; or what it says. In a process of its own: it ends some with an abort."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            signal.alarm(20)
            run_as = lowered(module, "builtin.module(func.func(chlo-legalize-to-stablehlo))") if "chlo." in program.text else module
            said = [True, [str(ir.Attribute(result)) for result in stablehlo.eval_module(run_as, [])]]
        except BaseException as fault:  # jaxlib has several
            said = [False, str(fault).splitlines()[-1][:200]]
        with os.fdopen(writer, "w") as pipe:
            json.dump(said, pipe)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return json.loads(said) if said else [False, "the interpreter aborted"]


def files_of(program, module, results, forms):
    """What hlo-run is given: (form, suffix, bytes)."""
    pretty = module.operation.get_asm(large_elements_limit=None)
    for form in forms:
        if form == "pretty":
            yield form, with_checks(pretty, results, program).encode()
        elif form == "generic":
            # Checks as calls, which MLIR itself can carry.
            yield form, carried(pretty, results, program).operation.get_asm(print_generic_op_form=True).encode()
        elif form == "vhlo":
            own = carried(pretty, results, program)
            yield form, str(lowered(own, "builtin.module(func.func(chlo-legalize-to-stablehlo),stablehlo-legalize-to-vhlo)")).encode()
        elif form == "bytecode":
            yield form, mlir.module_to_bytecode(carried(pretty, results, program))
        else:
            version = stablehlo.get_current_version() if form == "artifact" else form
            own = lowered(carried(pretty, results, program), "builtin.module(func.func(chlo-legalize-to-stablehlo))")
            yield form, stablehlo.serialize_portable_artifact_str(own.operation.get_asm(print_generic_op_form=True), version)


def carried(pretty, results, program):
    """The module with its checks as custom calls of the same names."""
    text = with_checks(pretty, results, program)
    count = [0]

    def call(match):
        name, value, expected = match[1], match[2], match[3]
        kind = expected.rsplit(": ", 1)[1]
        count[0] += 1
        config = ', backend_config = "{tolerance = 0.0001 : f64}"' if name.startswith("expect_almost_eq") else ""
        return (f"%const{count[0]} = stablehlo.constant {expected}\n"
                f"stablehlo.custom_call @check.{name}({value}, %const{count[0]}) {{has_side_effect = true{config}}} : ({kind}, {kind}) -> ()")

    text = re.sub(r"check\.(expect_\w+)_const (%[\w#]+), (dense<.*> : tensor<.*>)$", call, text, flags=re.M)
    text = re.sub(r"check\.expect_close (%[\w#]+), (%\w+), max_ulp_difference = (\d+) : (.*), (tensor.*)$",
                  lambda m: f'stablehlo.custom_call @check.expect_close({m[1]}, {m[2]}) {{has_side_effect = true, '
                            f'backend_config = "{{max_ulp_difference = {m[3]} : i64}}"}} : ({m[4]}, {m[5]}) -> ()', text, flags=re.M)
    return ir.Module.parse(text)


def run(args, path):
    done = subprocess.run([args.bin / "hlo-run", path, f"--platform={args.platform}"], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode == 0:
        return None
    said = (done.stderr.strip() or done.stdout.strip() or f"status {done.returncode}").splitlines()
    return said[0][:240]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--forms", default="pretty,generic,vhlo,bytecode,artifact,0.9.0")
    parser.add_argument("--platform", default="interpreter")
    parser.add_argument("--edges", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    stablehlo.register_stablehlo_passes()
    right = tried = unwritten = 0
    with tempfile.TemporaryDirectory() as scratch, mlir.make_ir_context() as context:
        stablehlo.register_interpreter_dialect(context)
        folder = args.keep or pathlib.Path(scratch)
        folder.mkdir(exist_ok=True)
        for program in (stablehlo_edge_programs if args.edges else stablehlo_reference_programs).PROGRAMS:
            if args.names and not any(re.fullmatch(n, program.name) for n in args.names):
                continue
            try:
                module = ir.Module.parse(program.text)
                done, results = evaluated(module, program)
            except Exception as fault:
                done, results = False, str(fault).splitlines()[-1][:200]
            if not done:
                print(f"{program.name}: no expected values: {results}")
                unwritten += 1
                continue
            writing = files_of(program, module, results, args.forms.split(","))
            while True:
                try:
                    form, content = next(writing)
                except StopIteration:
                    break
                except Exception as fault:
                    if "0.9" not in args.forms and "legalize" not in str(fault):
                        print(f"{program.name}: not written: {str(fault).splitlines()[-1][:200]}")
                    break
                path = folder / f"{program.name}.{form}.mlir"
                path.write_bytes(content)
                tried += 1
                problem = run(args, path)
                right += problem is None
                if problem:
                    print(f"{program.name} {form}: {problem}", flush=True)
    print(f"{right} of {tried} hold, {unwritten} programs without expected values")
    return 0 if right == tried else 1


if __name__ == "__main__":
    sys.exit(main())
