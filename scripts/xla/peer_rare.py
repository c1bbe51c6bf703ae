# SPDX-License-Identifier: Apache-2.0
"""The subcommand `rare` of operations_peer.py: rare_operations.py's operations, their text and their values beside XLA's."""
import numpy

import peer_values
import rare_operations
import xla_peer

TOGETHER = 8  # operations in a module: starting programs takes most of the time


def text_and_results(hlo, question):
    """What XLA prints of a module, and what it comes to."""
    try:
        text = hlo.hlo_module_from_text(question[0]).to_string()
    except Exception as error:  # of several types
        return str(error)[:300], "not read"
    return text, peer_values.run_on_xla(hlo, question)


def given(seed):
    """An operation and its inputs."""
    made = rare_operations.rare(seed)
    with numpy.errstate(all="ignore"):
        return made, rare_operations.inputs(numpy.random.RandomState(seed), made, peer_values.TYPES)


def compare_together(tool, findings, peer, seeds):
    """Compares the operations of `seeds` in one module, or each alone where XLA or hlokit takes no such module."""
    cases = [given(seed) for seed in seeds]
    ended = tool.call("hlo-opt", tool.write("one.hlo", rare_operations.module([made for made, _ in cases])))
    inputs = [array for _, arrays in cases for array in arrays]
    if ended.returncode == 0:
        peer.ask((ended.stdout, inputs))
        answer = peer.answer(peer_values.SECONDS)
    if ended.returncode or isinstance(answer, str) or isinstance(answer[1], str):
        if len(seeds) > 1:
            for seed in seeds:
                compare_together(tool, findings, peer, [seed])
        else:
            opcode = cases[0][0].opcode
            why = ended.stderr.splitlines()[0].split("error: ")[1] if ended.returncode else answer if isinstance(answer, str) else answer[1]
            findings.note(f"{opcode} not run by {'us' if ended.returncode else 'XLA'}: {why[:100]}")
        return
    if answer[0].rstrip("\n") != ended.stdout.rstrip("\n"):
        findings.note("other text", f"text of {seeds}", f"XLA:\n{answer[0]}\nours:\n{ended.stdout}")
    compare_results(tool, findings, (seeds, cases, inputs), ended.stdout, answer[1])


def compare_results(tool, findings, asked, text, theirs):
    """The results of a module with XLA's, by the operation that they are of."""
    seeds, cases, inputs = asked
    for platform in ("interpreter", "cpu"):
        ours = tool.run(text, inputs, f"--platform={platform}", "--flush-denormals")
        if isinstance(ours, str):
            findings.note("refused", f"{platform} refuses {seeds}: {ours}", text)
            continue
        at = 0
        for seed, (made, own) in zip(seeds, cases):
            for output in range(made.outputs):
                compare_array(findings, f"{platform} {made.opcode} {made.operands[0].split('[')[0]} {output}",
                              (seed, made, own), ours[at], theirs[at])
                at += 1


def compare_array(findings, name, case, ours, theirs):
    seed, made, inputs = case
    wrong_in = peer_values.exactly_wrong if made.exact else peer_values.nearly_wrong
    ours = peer_values.as_type(ours, theirs)
    with numpy.errstate(all="ignore"):
        wrong = wrong_in(ours, theirs)
        if made.operands[0][0] == "c" and "special" in made.hints:  # XLA's are often NaN there (docs/differences.md)
            on_cut = (inputs[0].imag == 0) & (inputs[0].real < 0) if made.opcode in ("sqrt", "rsqrt") else False
            wrong &= numpy.isfinite(theirs.reshape(-1)) & (made.opcode != "atan2") & ~numpy.asarray(on_cut)
        wrong = numpy.nonzero(wrong)[0]
    if wrong.size:
        findings.note("differ", name, f"seed {seed}: {peer_values.examples(ours, theirs, wrong, inputs)}\n{made.text()}")
    else:
        findings.note("agree")


def rare(options, tool, findings):
    peer = xla_peer.Peer(text_and_results)
    last = options.first + options.count
    for first in range(options.first, last, TOGETHER):
        compare_together(tool, findings, peer, range(first, min(first + TOGETHER, last)))
    return findings.finish()
