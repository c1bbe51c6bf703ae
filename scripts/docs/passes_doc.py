#!/usr/bin/env python3
"""Writes docs/passes.md from passes/passes.def, passes/absent.def and passes/pipelines.cc; with --check only says whether it is current."""
import pathlib
import re
import sys

import made_page

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "passes.md"
HEAD = """# Passes

Made by `scripts/docs/passes_doc.py` from `passes/passes.def`, `passes/absent.def` and `passes/pipelines.cc`; a test keeps it current.

`hlo-opt --passes=a,b` and `hlo-run --passes=a,b` run passes by name; `fix<a,b>` repeats a and b until neither changes
anything. `a{x=1 y}` passes options to a; `hlo-opt --list-passes=help` lists them. `hlo-opt --pipeline=NAME` runs a pipeline.
`--load-pass-plugin=FILE` loads passes from a shared library, in hlo-run, hlo-cost and hlo-reduce too ([example](../examples/pass_plugin/README.md)).

"""

LEFT_OUT = """
## Passes of XLA that hlokit does not have

| pass | reason |
|---|---|
"""


def absent():
    """Rows of what is not here, by reason, in the order of names."""
    reasons = {}
    for name, reason in re.findall(r'HLO_ABSENT_PASS\("([^"]+)", "([^"]+)"\)', (ROOT / "passes/absent.def").read_text()):
        reasons.setdefault(reason, []).append(f"`{name}`")
    return "".join(f"| {', '.join(names)} | {reason} |\n" for reason, names in reasons.items())


NOTES = {
    "gpu": """The order is what jaxlib's GPU compiler logs (`TF_CPP_VMODULE=hlo_pass_pipeline=1`). Left out: calls of libraries (`conv-rewriter`,
`cublas-gemm-rewriter`, `sort-rewriter`, `topk-rewriter`, `triangular-solve-rewriter`, padding for them), products for Triton and what an
autotuner chooses, `float_normalization`, the pipeliner and asynchronous pairs of collectives, host offloading, `latency-hiding-scheduler`,
`rematerialization`. Absent passes have their reasons above.

""",
    "xla-cpu": """The order is what jaxlib's CPU compiler logs. Left out: the normalization of floats of 4 and 8 bits, `change-op-data-type` and
`convolution-group-converter`, `dot-library-rewriter` (fusions for YNNPACK), `cpu-parallel-task-assigner`.

""",
}


def page():
    rows = re.findall(r'HLO_PASS(?:_WITH_OPTIONS)?\("([^"]+)",\s*\w+,\s*"([^"]+)"\)', (ROOT / "passes/passes.def").read_text())
    source = (ROOT / "passes/pipelines.cc").read_text().replace("\\\n", "\n")
    for name, passes in re.findall(r'#define (\w+)((?:\s*"[^"]*")+)', source):  # lists that stand in several places
        source = re.sub(rf"^ *{name}$", lambda _, passes=passes: passes, source, flags=re.M)
    table = source[source.index("kPipelines[]"):source.index("};", source.index("kPipelines[]"))]
    parts = dict(re.findall(r'(k\w+) =((?:\s*"[^"]*")+);', source))
    pipelines = [(name, parts.get(front, "") + back)
                 for name, front, back in re.findall(r'\{"([^"]+)", (k\w+|""),((?:\s*"[^"]*")+)\}', table)]
    text = HEAD + "| pass | what it does |\n|---|---|\n"
    text += "".join(f"| `{name}` | {summary} |\n" for name, summary in rows)
    text += LEFT_OUT + absent()
    for name, spec in pipelines:
        passes = "".join(re.findall(r'"([^"]*)"', spec))
        note = NOTES.get(name, "")
        text += f"\n## Pipeline {name}\n\n{note}```\n" + re.sub(r",(?![^<]*>)", "\n", passes) + "\n```\n"
    return text


if __name__ == "__main__":
    sys.exit(made_page.write_or_check(PAGE, page(), "scripts/docs/passes_doc.py"))
# SPDX-License-Identifier: Apache-2.0
