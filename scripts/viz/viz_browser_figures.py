"""What the explorer takes on a module, as the table of docs/visualization.md: viz_browser_test.py --figures FILE... prints it.
*Processor* is the time of all threads of the page's process (or of hlo-viz), which other work on the machine changes little."""
import os
import resource
import subprocess
import time

from viz_browser_features import EXPAND, page_of, scope_of

# The scope nearest to 500 drawn instructions, brought into sight.
NEAREST = """(async () => {
  const {model, contents} = hloViz;
  let best = -1, size = 0;
  model.scopes.forEach((scope, s) => {
    const inside = contents.inside(s).length;
    if (Math.abs(inside - 500) < Math.abs(size - 500)) { best = s; size = inside; }
  });
  hloViz.home();
  await new Promise((done) => setTimeout(done, 500));
  hloViz.reveal(model.size + best);
  await hloViz.refresh(model.size + best);
  window.nearest = [best, size];
})()"""
OPEN_NEAREST = """(async () => {
  const {model} = hloViz, [best, size] = window.nearest;
  const start = performance.now();
  await hloViz.expandAll(model.size + best);
  return [size, performance.now() - start];
})()"""
OPEN_ALL = "(async () => { hloViz.home(); await hloViz.expandAll(hloViz.state.root); return hloViz.view.scene.boxes.length; })()"
WORDS = ("dot", "op:all", "shape:bf16", "multiply.12", "source:model")
SCALES = (0.02, 0.1, 0.3, 1)


def spent(page, script):
    """The value of a script, and the processor time that it took."""
    before = page.processor_ms()
    value = page.run(script)
    return value, page.processor_ms() - before


def written(tool, source, out):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    subprocess.run([tool, source, "-o", out], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.time() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows_of(page, tool, source, folder):
    """[(what, figure, bar)]"""
    out = os.path.join(folder, "figures.html")
    clock, processor = written(tool, source, out)
    yield "HTML written", f"{clock:.2f} s, processor {processor:.2f} s, {os.path.getsize(out) / 2**20:.2f} MiB", "2 s, 10 MB"
    page.call("Page.navigate", url="about:blank")
    before = page.processor_ms()
    page.open("file://" + out)
    opened, first = page.processor_ms(), page.run("hloViz.timings.first")
    yield "first paint", f"{first:.0f} ms, processor {opened - before:.0f} ms", "1 s"
    page.run("hloViz.find('warm')")
    searches = [spent(page, f"(hloViz.find({word!r}), hloViz.timings.search)") for word in WORDS]
    yield f"search, the slowest of {len(WORDS)}", f"{max(t for t, _ in searches):.0f} ms, processor {max(t for _, t in searches):.0f} ms", "100 ms"
    page.run(NEAREST)
    (nodes, clock), processor = spent(page, OPEN_NEAREST)
    yield f"a scope opened, {nodes} nodes", f"{clock:.0f} ms, processor {processor:.0f} ms", "200 ms"
    boxes = page.run(OPEN_ALL)
    frames = [spent(page, f"(hloViz.view.camera.scale = {scale}, hloViz.view.drawNow())")[1] for scale in SCALES]
    yield f"a frame of {boxes:,} open boxes, by scale", f"processor {min(frames):.0f} to {max(frames):.0f} ms", ""
    page.open(page_of(tool, folder, "wide", scope_of(500)))
    (nodes, clock, _), processor = spent(page, EXPAND)
    yield f"a scope opened, exactly {nodes} nodes (made by the test)", f"{clock:.0f} ms, processor {processor:.0f} ms", "200 ms"


def figures(page, tool, sources, folder):
    page.call("Performance.enable", timeDomain="threadTicks")
    for source in sources:
        with open(source, errors="replace") as file:
            instructions = sum(" = " in line for line in file)
        print(f"| | {os.path.basename(source)} ({os.path.getsize(source) / 1e6:.1f} MB, {instructions:,} instructions) | bar |\n|---|---|---|")
        for row in rows_of(page, tool, source, folder):
            print("| " + " | ".join(row) + " |", flush=True)
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
# SPDX-License-Identifier: Apache-2.0
