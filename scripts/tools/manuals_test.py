#!/usr/bin/env python3
"""Manual pages and completions that the tools make of their own flags: each flag of --help is in each of them; groff takes the
pages without a warning; bash completes flags, choices, files and passes; the pkg-config files name what an installed tree has."""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ("hlo-run", "hlo-opt", "hlo-viz", "hlo-diff", "hlo-cost", "hlo-reduce", "hlo-aot", "hlo-gen", "hlo-lsp")
LINKS = ("run_hlo_module", "hlo_runner_main", "interactive_graphviz", "hlo_bisect", "isolate_hlo", "compute_cost", "hlo_proto_to_json", "hlo_diff")


def output(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, timeout=60, **more).stdout


def flags_of(tool):
    """The names in the table of --help; the rest of the text names flags of other tools too."""
    table = output(tool, "--help").split("Examples:")[0]
    return sorted(set(re.findall(r"(?:^ +|,)(--[a-z][a-z0-9-]*)", table, re.MULTILINE)))


def complete(script, words, path):
    """What bash offers for the last of the words, as it takes them apart."""
    apart = []
    for word in words:
        apart += re.split(r"(=)", word) if word.startswith("--") and "=" in word else [word]
    if apart[-1] == "" and len(apart) > 1 and apart[-2] == "=":
        apart.pop()
    array = " ".join("'" + word + "'" for word in apart)
    code = f"""source {script}
COMP_WORDS=({array}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()
$(complete -p {words[0]} | sed 's/.*-F \\([^ ]*\\).*/\\1/')
printf '%s\\n' "${{COMPREPLY[@]}}" """
    return output("bash", "--norc", "-c", code, env={"PATH": f"{path}:/usr/bin:/bin"}).split()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin", help="where the tools are")
    tools = parser.parse_args().bin.resolve()
    with tempfile.TemporaryDirectory() as folder:
        scripts = {}
        for name in TOOLS + LINKS:
            if not (tools / name).exists():
                continue
            flags = flags_of(tools / name)
            assert len(flags) > 2, name
            page = output(tools / name, "--print-man-page")
            plain = page.replace("\\-", "-")
            missing = [flag for flag in flags if flag not in plain]
            assert not missing, (name, "man page", missing)
            assert f".TH {name} 1".replace("-", "\\-") in page
            if shutil.which("groff"):
                done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, capture_output=True, text=True, check=True)
                assert not done.stderr, (name, done.stderr)
            for shell in ("bash", "zsh", "fish"):
                text = output(tools / name, f"--print-completion={shell}")
                missing = [flag for flag in flags if (f"-l {flag[2:]}" if shell == "fish" else flag) not in text]
                assert not missing, (name, shell, missing)
                if shell == "bash":
                    scripts[name] = pathlib.Path(folder) / name
                    scripts[name].write_text(text, encoding="utf-8")
            output("bash", "-n", scripts[name])
        refused = subprocess.run([tools / "hlo-run", "--print-completion=tcsh"], capture_output=True, text=True, check=False)
        assert refused.returncode == 2 and "bash, zsh and fish" in refused.stderr
        found = complete(scripts["hlo-run"], ["hlo-run", "--ref"], tools)
        assert found == ["--reference-platform="], found
        assert complete(scripts["hlo-diff"], ["hlo-diff", "--format=j"], tools) == ["json"]
        assert complete(scripts["hlo-diff"], ["hlo-diff", "--format", ""], tools) == ["text", "json", "html"]
        assert complete(scripts["hlo-diff"], ["hlo-diff", "--format="], tools) == ["text", "json", "html"]
        assert "algsimp" in complete(scripts["hlo-opt"], ["hlo-opt", "--passes=algs"], tools)
        found = complete(scripts["hlo-opt"], ["hlo-opt", "--passes=cse,algs"], tools)
        assert "cse,algsimp" in found, found
        (pathlib.Path(folder) / "module.hlo").touch()
        assert complete(scripts["hlo-run"], ["hlo-run", f"--input={folder}/mod"], tools) == [f"{folder}/module.hlo"]
        assert "--input_literals_file" in " ".join(complete(scripts["run_hlo_module"], ["run_hlo_module", "--"], tools)).replace("-literals-", "_literals_").replace("-file", "_file")
        assert "--num_runs" in complete(scripts["run_hlo_module"], ["run_hlo_module", "--num_"], tools)
    if shutil.which("pkg-config"):
        for name, library in {"hlokit": "-lpjrt_hlokit", "hlokit-runtime": "-lhlokit_runtime"}.items():
            said = output("pkg-config", "--cflags", "--libs", tools.parent / f"{name}.pc")
            assert library in said and "include/hlokit" in said, said
    print("manuals and completions of", len(scripts), "names")
    return 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
