"""What viz_browser_test.py tries beside the three sizes of modules: each function takes a page of browser.py, the path of
hlo-viz and a folder for files, and raises AssertionError (or TimeoutError) where the explorer does not do as it should."""
import os
import shutil
import subprocess
import time
import xml.dom.minidom

from pixels import colours_shown, pixels

MOST_EXPAND_MS = 3000  # of processor time; fifteen times the bar of 200 ms
PATIENCE = 60  # seconds; what is waited for comes within one
GHOST_RED, DARK_PAPER = (0xc6, 0x28, 0x28), (0x0d, 0x11, 0x17)


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def wait_for_picture(page, condition, what):
    """Until a screenshot fulfils a condition: what is drawn is seen a frame or two later."""
    end = time.time() + PATIENCE
    while not condition(page):
        check(time.time() < end, what)


def wait_for_colour(page, colour, what):
    wait_for_picture(page, lambda shown: colour in colours_shown(shown), what)


def page_of(tool, folder, name, text):
    """The address of the explorer's page of a module."""
    source, out = os.path.join(folder, name + ".hlo"), os.path.join(folder, name + ".html")
    with open(source, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    subprocess.run([tool, source, "-o", out], check=True)
    return "file://" + out


def scope_of(count):
    """A module with one scope of exactly `count` drawn instructions (the parameter is one) beside others."""
    lines = ["ENTRY main { p = f32[8,8] parameter(0)"]
    count -= 1
    for k in range(count):
        near, far = f"w{k - 1}" if k > 0 else "p", f"w{k // 2}" if k > 0 else "p"
        lines.append(f'  w{k} = f32[8,8] add({near}, {far}), metadata={{op_name="jit(f)/wide/add"}}')
    for k in range(100):
        before = f"o{k - 1}" if k > 0 else f"w{count - 1}"
        lines.append(f'  {"ROOT " if k == 99 else ""}o{k} = f32[8,8] negate({before}), metadata={{op_name="jit(f)/other/neg"}}')
    return "\n".join(lines) + "\n}\n"


EXPAND = """(async () => {
  const {model, contents} = hloViz;
  const best = model.scopes.findIndex((scope, s) => scope[1] === 'wide');
  hloViz.home();
  hloViz.reveal(model.size + best);
  await hloViz.refresh(model.size + best);
  const start = performance.now();
  await hloViz.expandAll(model.size + best);
  return [contents.inside(best).length, performance.now() - start, hloViz.view.scene.boxes.filter((b) => model.isInstruction(b.item)).length];
})()"""


def expanding(page, tool, folder):
    """A scope of 500 nodes opens at once."""
    page.call("Performance.enable", timeDomain="threadTicks")
    page.open(page_of(tool, folder, "wide", scope_of(500)))
    before = page.processor_ms()
    nodes, clock, shown = page.run(EXPAND)
    spent = page.processor_ms() - before
    check(nodes == 500 and shown >= 500, f"500 nodes are shown, not {nodes} and {shown}")
    check(spent <= MOST_EXPAND_MS, f"expanding takes {spent:.0f} ms of processor time")
    print(f"expanding a scope of exactly {nodes} nodes: {spent:.0f} ms of processor time, {clock:.0f} ms by the clock", flush=True)


BEFORE = """HloModule f, is_scheduled=true
ENTRY main {
  x = f32[1024] parameter(0)
  gone = f32[1024] cosine(x), metadata={op_name="jit(f)/gone" source_file="gone.py" source_line=5}
  kept = f32[1024] negate(gone)
  ROOT r = f32[1024] exponential(kept)
}
"""
ASSIGNMENT = """BufferAssignment:
allocation 0: size 4096, parameter 0, shape |f32[1024]| at ShapeIndex {}:
 value: <1 x @0> (size=4096,offset=0): f32[1024]{0}
allocation 1: size 12288, preallocated-temp:
 value: <2 kept @0> (size=4096,offset=0): f32[1024]{0}
 value: <3 r @0> (size=4096,offset=4096): f32[1024]{0}
"""
RANGES = """HloLiveRange (max 3):
  InstructionSequence:
    0:x
    1:kept
    2:r
  BufferLiveRange:
    x{}:0-3
    kept{}:1-2
    r{}:2-3
"""


def dump(page, tool, folder):
    """Removed instructions are drawn where they were; memory is XLA's own."""
    path = os.path.join(folder, "ghosts")
    os.makedirs(path)
    after = BEFORE.replace('  gone = f32[1024] cosine(x), metadata={op_name="jit(f)/gone" source_file="gone.py" source_line=5}\n', "").replace("negate(gone)", "negate(x)")
    files = {"before_optimizations.txt": BEFORE, "cpu_after_optimizations.txt": after,
             "cpu_after_optimizations-buffer-assignment.txt": ASSIGNMENT, "cpu_after_optimizations-live-range.txt": RANGES,
             "cpu_after_optimizations-memory-usage-report.txt": "Total bytes: 16384 <b>\n"}
    for name, text in files.items():
        with open(os.path.join(path, "module_0000.f." + name), "w") as file:
            file.write(text)
    subprocess.run([tool, path, "-o", path + ".html"], check=True)
    page.open("file://" + path + ".html")
    page.run("hloViz.view.canvas.focus()")
    page.key(".")
    page.wait("hloViz.model.ghosts.length === 1 && hloViz.view.boxOf(hloViz.model.firstGhost) !== null")
    wait_for_colour(page, GHOST_RED, "what is removed is drawn in red")
    page.run("hloViz.go(hloViz.model.firstGhost)")
    page.wait("document.querySelector('#panel').textContent.includes('removed by this pass')")
    check(page.run("location.hash").endswith("s=g%3Agone"), "a removed instruction has a link")
    check(page.run("hloViz.model.was.get(hloViz.model.byName.get('kept')).text").find("negate(%gone)") > 0, "and the changed one its old text")
    page.key("g")
    page.wait("hloViz.view.boxOf(hloViz.model.firstGhost) === null")
    removed_is_found(page)
    memory(page)


def removed_is_found(page):
    """By every field; the way there shows it again, though removed instructions are hidden."""
    for words in ("gone", "name:gone", "op:cosine", "shape:1024 op:cos", "op_name:jit(f)/gone", "source:gone.py:5", "change:removed"):
        check(page.run(f"hloViz.find({words!r}).items.map((i) => hloViz.model.label(i))") == ["gone"], f"{words} finds what is removed")
    check(page.run("hloViz.find('op:tanh').total") == 0, "and nothing else does")
    page.run("hloViz.go(hloViz.model.byName.get('x'))")
    page.key("/")
    page.type("op:cosine")
    page.wait("document.querySelector('#results li')?.textContent.includes('removed · cosine f32[1024]')")
    page.run("document.querySelector('#results li').dispatchEvent(new PointerEvent('pointerdown', {bubbles: true}))")
    page.wait("document.querySelector('#panel h2.removed')?.textContent === 'gone' && document.getElementById('show-removed').checked")
    page.wait("hloViz.view.boxOf(hloViz.model.firstGhost) !== null")
    check("gone.py:5" in page.run("document.querySelector('#panel').textContent"), "and the panel has its source")


def memory(page):
    page.run("document.getElementById('toggle-memory').click()")
    page.wait("document.getElementById('memory-note').textContent.includes(\"XLA's assignment\")")
    check("peak 12.0 KiB at step 2" in page.run("document.getElementById('memory-note').textContent"), "the peak is counted")
    check("12.0 KiB, 2 buffers, preallocated-temp" in page.run("document.getElementById('memory-allocation').textContent"), "allocations are told")
    place = page.run("(() => { const r = document.getElementById('memory-arena').getBoundingClientRect(); return {x: r.left + r.width * 0.6, y: r.top + r.height * 0.5}; })()")
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=place["x"], y=place["y"])
    page.wait("document.querySelector('.memory-row.hot')?.textContent.includes('r')")
    page.click(place["x"], place["y"])
    page.wait("hloViz.state.selected === hloViz.model.byName.get('r')")
    check("<b>" in page.run("document.querySelector('#memory-list pre').textContent"), "the report is text")


def brightness(rows):
    """From 0 to 255, of some of the pixels."""
    some = [pixel for row in rows[::40] for pixel in row[::40]]
    return sum(map(sum, some)) / (3 * len(some))


def is_dark(rows):
    return DARK_PAPER in {pixel for row in rows[::20] for pixel in row} and brightness(rows) < 90


def looks(page, tool, folder):
    """Night, pictures to keep, and a link that a colour theme does not change."""
    page.open(page_of(tool, folder, "looks", scope_of(20)))
    light = brightness(pixels(page.screenshot()))
    page.run("hloViz.view.canvas.focus()")
    page.key("d")
    page.wait("document.documentElement.dataset.theme === 'dark'")
    wait_for_picture(page, lambda shown: is_dark(pixels(shown.screenshot())), "the dark is dark")
    check(light > 90, f"the light is light: {light}")
    svg = xml.dom.minidom.parseString(page.run("hloViz.svg()"))
    check(len(svg.getElementsByTagName("rect")) > 5 and len(svg.getElementsByTagName("text")) > 5, "the SVG shows boxes and texts")
    page.key("d")


def hostile(page, tool, folder):
    """No text of a module becomes part of the page, and nothing is too deep or too wide for it."""
    script = r'</script><script>window.harm = 1</script><!--'
    texts = {
        "script": 'ENTRY e { p = f32[] parameter(0), metadata={op_name="%s/a" source_file="%s.py" source_line=1}\n'
                  ' ROOT c = f32[] custom-call(p), custom_call_target="%s<img src=x onerror=window.harm=1>", metadata={op_name="%s/b"} }' % ((script,) * 4),
        "bytes": b'ENTRY e { p = f32[] parameter(0), metadata={op_name="\xff\xfe\xc3(/\x01\x1b[31m"}\n ROOT n = f32[] negate(p) }',
        "name": f"ENTRY e {{ {'x' * 50000} = f32[] parameter(0)\n ROOT n = f32[] negate({'x' * 50000}) }}",
        "operands": f"ENTRY e {{ p = f32[] parameter(0)\n ROOT t = ({', '.join(['f32[]'] * 100000)}) tuple({', '.join(['p'] * 100000)}) }}",
        "users": "ENTRY e { p = f32[] parameter(0)\n" + "".join(f" v{k} = f32[] negate(p)\n" for k in range(100000)) +
                 f" ROOT t = ({', '.join(['f32[]'] * 100000)}) tuple({', '.join(f'v{k}' for k in range(100000))}) }}",
        "scopes": "ENTRY e { v0 = f32[] parameter(0)\n" + "".join(
            f' {"ROOT " if k == 799 else ""}v{k} = f32[] negate(v{k - 1}), metadata={{op_name="{"/".join(f"s{d}" for d in range(k))}/n"}}\n'
            for k in range(1, 800)) + "}",
        "calls": "d0 { a = f32[] parameter(0) ROOT b = f32[] negate(a) }\n" + "".join(
            f"d{k} {{ a = f32[] parameter(0) ROOT b = f32[] call(a), to_apply=d{k - 1} }}\n" for k in range(1, 500)) +
            "ENTRY e { p = f32[] parameter(0) ROOT r = f32[] call(p), to_apply=d499 }",
        "dead": "dead { a = f32[] parameter(0) ROOT b = f32[] negate(a) }\nENTRY e { ROOT p = f32[] parameter(0) }",
    }
    for name, text in texts.items():
        page.errors.clear()
        page.open(page_of(tool, folder, name, text))
        for action in ("hloViz.expandAll(hloViz.state.root)", "hloViz.go(0)", "hloViz.showNear(hloViz.model.size - 1, 2)",
                       "hloViz.find('x')", "hloViz.setTextShown(true)", "hloViz.svg().length"):
            page.run(action)
        check(page.run("hloViz.view.scene.boxes.length") > 0, f"{name}: something is drawn")
        check(page.run("window.harm === undefined"), f"{name}: no text is run")
        check(not page.errors, f"{name}: errors in the console: {page.errors}")


def served(page, tool, folder):
    """A page that waits for a dump, shows it, and grows with it."""
    watched = os.path.join(folder, "watched")
    os.makedirs(os.path.join(watched, "below"))
    server = subprocess.Popen([tool, watched, "--serve"], stdout=subprocess.PIPE, text=True)
    try:
        page.call("Page.navigate", url=server.stdout.readline().strip())
        page.wait("document.body?.textContent.includes('Nothing to show yet')")
        put(watched, "module_0000.f.before_optimizations.txt", BEFORE)
        page.wait("document.documentElement?.dataset.ready === 'yes'")
        page.run("hloViz.go(hloViz.model.byName.get('kept'))")
        put(watched, "below/module_0000.f.0001.p.after_change.before_x.txt", BEFORE.replace("cosine", "sine"))
        put(watched, "module_0000.f.cpu_after_optimizations.txt", "HloModule half\nENTRY e {")
        page.wait("hloViz.index.modules[0].versions.length === 2 && document.getElementById('notes').textContent.includes('cannot be read')")
        page.wait("hloViz.model.names[hloViz.state.selected] === 'kept'")  # a refresh keeps what is looked at
    finally:
        server.kill()
        server.wait()


def repeated(page, tool, folder):
    """Layers are named without op_names, and a link leads into one."""
    steps = ("negate", "cosine", "tanh", "abs", "sine", "floor", "sign", "exponential", "round-nearest-even", "ceil")
    lines = [f"  {'ROOT ' if k == 399 else ''}v{k} = f32[8] {steps[k % 10]}({f'v{k - 1}' if k else 'x'})" for k in range(400)]
    url = page_of(tool, folder, "repeated", "ENTRY e {\n  x = f32[8] parameter(0)\n" + "\n".join(lines) + "\n}\n")
    page.open(url)
    check("block A, 7 of 40" in page.run("hloViz.view.scene.boxes.map((box) => hloViz.model.label(box.item)).join('|')"), "layers are seen at first sight")
    page.open(url + "#s=i%3Av123")
    check(page.run("document.querySelector('#panel .crumbs').textContent").endswith("block A, 13 of 40"), "each is named where it is")


DIAMOND = """ENTRY e {
  x = f32[64] parameter(0)
  left = f32[64] negate(x)
  right = f32[64] cosine(x)
  aside = f32[64] sine(x)
  join = f32[64] add(left, right)
  ROOT out = (f32[64], f32[64]) tuple(join, aside)
}
"""


def text_to_graph(page, tool, folder):
    """A click on a line of the text leads to its instruction."""
    page.open(page_of(tool, folder, "text", DIAMOND))
    page.run("hloViz.showText(hloViz.model.byName.get('x'))")
    page.wait("document.querySelector('.text-line.marked')?.textContent.includes('parameter')")
    line = """[...document.querySelectorAll('.text-line')].find((l) => l.textContent.includes('cosine'))"""
    at = page.run(f"(() => {{ const r = {line}.querySelector('.text-number').getBoundingClientRect(); return {{x: r.left + r.width / 2, y: r.top + r.height / 2}}; }})()")
    page.click(at["x"], at["y"])
    page.wait("hloViz.state.selected === hloViz.model.byName.get('right')")
    page.wait("document.querySelector('#panel h2').textContent === 'right'")


def all_paths(page, tool, folder):
    """All paths between two instructions, by the panel's button and a click, and again by the link."""
    page.open(page_of(tool, folder, "paths", DIAMOND))
    page.run("hloViz.go(hloViz.model.byName.get('x'))")
    page.wait("document.querySelector('#panel h2').textContent === 'x'")
    page.run("[...document.querySelectorAll('#panel button')].find((b) => /path/i.test(b.textContent)).click()")
    at = page.run("hloViz.view.clientPlace(hloViz.model.byName.get('join'))")
    page.click(at["x"], at["y"])
    names = "[...(hloViz.state.set?.items ?? [])].map((i) => hloViz.model.names[i]).sort().join(' ')"
    page.wait(f"{names} === 'join left right x'")
    page.wait("hloViz.view.boxOf(hloViz.model.byName.get('aside')) === null")
    link = page.run("location.href")
    page.call("Page.navigate", url="about:blank")
    page.open(link)
    check(page.run(names) == "join left right x", "a link to paths restores them")


def time_overlay(page, tool, folder):
    """With a profile the page colours by time; what took longest is hottest, and the panel tells how long."""
    source, profile, out = (os.path.join(folder, "time" + end) for end in (".hlo", ".csv", ".html"))
    put(folder, "time.hlo", DIAMOND)
    put(folder, "time.csv", "join,0.5\nleft,0.125\n")
    subprocess.run([tool, source, "--profile", profile, "-o", out], check=True)
    page.open("file://" + out)
    page.run("(() => { const s = document.getElementById('colours'); s.value = 'time'; s.dispatchEvent(new Event('change')); })()")
    page.wait("hloViz.overlay.kind === 'time' && document.getElementById('legend').textContent.includes('500')")
    fills = page.run("['join', 'left', 'right'].map((n) => hloViz.overlay.colours(hloViz.model.byName.get(n)).fill)")
    check(len(set(fills)) == 3, f"each time has its colour: {fills}")
    hottest = page.run("[...document.getElementById('legend').querySelectorAll('.legend-row')].length")
    check(hottest == 4, "the scale is explained")
    page.run("hloViz.go(hloViz.model.byName.get('join'))")
    page.wait("/500\\S* ?ms/.test(document.querySelector('#panel').textContent)")


def narrow(page, tool, folder):
    """On a telephone: the graph as wide as the window, the panel below it, two fingers zoom; panes that open keep what fits fitted."""
    url = page_of(tool, folder, "narrow", scope_of(20))
    page.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
    page.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    try:
        page.open(url)
        check(page.run("hloViz.view.width() >= 380 && document.documentElement.scrollWidth <= 400"), "all is within the window")
        check(page.run("document.getElementById('panel').getBoundingClientRect().top >= document.getElementById('graph').getBoundingClientRect().bottom"), "the panel is below")
        page.run("hloViz.view.fit()")
        high = page.run("hloViz.view.height()")
        page.run("hloViz.setTextShown(true)")
        page.wait(f"hloViz.view.height() < {high} && hloViz.view.camera.y + hloViz.view.height() / 2 / hloViz.view.camera.scale > 0")
        page.run("hloViz.setTextShown(false)")
        page.wait(f"hloViz.view.height() === {high}")
        before = page.run("hloViz.view.camera.scale")
        top = page.run("document.getElementById('canvas').getBoundingClientRect().top")
        for kind, apart in (("touchStart", 40), ("touchMove", 80), ("touchMove", 160)):
            page.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": 200 + side * apart, "y": top + 150, "id": k} for k, side in enumerate((-1, 1))])
        page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        page.wait(f"hloViz.view.camera.scale > 1.5 * {before}")
    finally:
        page.call("Emulation.setTouchEmulationEnabled", enabled=False)
        page.call("Emulation.setDeviceMetricsOverride", width=1400, height=900, deviceScaleFactor=1, mobile=False)


def put(folder, name, text):
    with open(os.path.join(folder, name), "w") as file:
        file.write(text)


def code_dump(folder):
    """A dump whose fusion has LLVM IR, PTX, assembler and, where it can be made and read, an object, and another module's file."""
    path = os.path.join(folder, "code")
    os.makedirs(path, exist_ok=True)
    module = ("fused { p = f32[8] parameter(0) ROOT s = f32[8] add(p, p) }\n"
              "ENTRY main { x = f32[8] parameter(0) ROOT add_fusion.2 = f32[8] fusion(x), kind=kLoop, calls=fused }\n")
    files = {"module_0000.f.before_optimizations.txt": module, "module_0000.f.cpu_after_optimizations.txt": module,
             "module_0000.f.add_fusion.2_kernel_module.ir-with-opt.ll": "define ptr @add_fusion.2() {\n  ret <b>\n}\n",
             "module_0000.f.ptx": ".visible .entry add_fusion_2()\n{ ret; }\n", "module_0000.f.s": "add_fusion.2:\n\tretq\n",
             "module_0001.g.ptx": ".visible .entry add_fusion_2()\n{ trap; }\n"}
    for name, text in files.items():
        with open(os.path.join(path, name), "w") as file:
            file.write(text)
    if shutil.which("cc") and (shutil.which("objdump") or shutil.which("llvm-objdump")):
        source = ".globl \"add_fusion.2\"\n\"add_fusion.2\":\n nop\n"
        subprocess.run(["cc", "-x", "assembler", "-", "-c", "-o", os.path.join(path, "module_0000.f.obj-file.add_fusion.2.o")], input=source,
                       text=True, check=True)
    return path


def code(page, tool, folder):
    """Beside a fusion stands what the compiler made of it."""
    path = code_dump(folder)
    subprocess.run([tool, path, "-o", path + ".html"], check=True)
    page.open("file://" + path + ".html#v=after_optimizations&s=i%3Aadd_fusion.2")
    parts = ["LLVM IR, optimized", "PTX", "assembler", "ret <b>", "{ ret; }", "retq"]
    disassembled = os.path.exists(os.path.join(path, "module_0000.f.obj-file.add_fusion.2.o"))
    parts += ["machine code", "nop"] if disassembled else []
    page.wait(f"document.querySelectorAll('#panel details.code').length === {4 if disassembled else 3}")
    text = page.run("document.querySelector('#panel').textContent")
    for part in parts:
        check(part in text, f"{part} is shown")
    check("trap" not in text, "and nothing of another module")
    page.open("file://" + path + ".html#s=i%3Aadd_fusion.2")
    check(page.run("document.querySelectorAll('#panel details.code').length") == 0, "the module before optimization has no code")


ZOOMS = """(() => {
  const {view} = hloViz, seen = [];
  for (const scale of [1, 0.7, 0.5, 0.35, 0.2, 0.1, 0.05]) {
    view.camera.scale = scale;
    view.drawNow();
    seen.push([scale, view.smallestText, view.scene.boxes.filter((b) => !b.hidden).length, view.scene.boxes.filter((b) => b.folded).length]);
  }
  return seen.map((row) => row.map((x) => (x === Infinity ? 99 : x)));
})()"""


def readable(page, tool, folder):
    """No text is painted too small to read; what is too small is painted as one box, which a click reaches."""
    page.open(page_of(tool, folder, "readable", scope_of(300)))
    check(page.run("hloViz.view.smallestText") >= 9, "the first picture can be read")
    page.run("hloViz.expandAll(hloViz.state.root)")
    seen = page.run(ZOOMS)
    for scale, smallest, shown, folded in seen:
        check(smallest >= 8.99, f"at scale {scale} a text is {smallest:.1f} pixels high")
    check(seen[0][3] == 0 and seen[-1][3] > 0 and seen[-1][2] < seen[0][2] / 10, f"seen from far away there are few boxes: {seen}")
    check(page.run("(() => { const b = hloViz.view.scene.boxes.find((b) => b.folded), at = hloViz.view.clientPlace(b.item);"
                   " return hloViz.view.boxAt(at.x, at.y).item === b.item; })()"), "a click reaches the box that is seen")


def uncovered(page, tool, folder):
    """No panel lies over the graph."""
    page.open(page_of(tool, folder, "uncovered", scope_of(60)))
    for press in ("", "t", "m"):
        if press:
            page.run("hloViz.view.canvas.focus()")
            page.key(press)
        covered = page.run("""(() => {
          const at = document.getElementById('graph').getBoundingClientRect(), over = [];
          for (let x = at.left + 4; x < at.right - 4; x += 12)
            for (let y = at.top + 4; y < at.bottom - 4; y += 12) {
              const top = document.elementFromPoint(x, y);
              if (top && top.id !== 'canvas') over.push(top.id || top.className);
            }
          return [...new Set(over)];
        })()""")
        check(covered == [], f"over the graph lie {covered}")


def tree(page, tool, folder):
    """50,000 rows: few elements, a filter, keys."""
    lines = "".join(f" v{k} = f32[8] {'sine' if k % 1000 == 7 else 'negate'}(v{k - 1})\n" for k in range(1, 50000))
    page.open(page_of(tool, folder, "tree", "ENTRY main { v0 = f32[8] parameter(0)\n" + lines + " ROOT r = f32[8] cosine(v49999) }"))
    page.run("hloViz.go(hloViz.model.byName.get('v30000'))")
    page.wait("document.querySelector('.tree-row.current')?.textContent.includes('v30000')")
    check(page.run("document.querySelectorAll('.tree-row').length") < 100, "only rows in sight are elements")
    page.run("document.querySelector('#outline input').focus()")
    started = time.time()
    page.type("sine")
    page.wait("hloViz.outline.filtered && [...document.querySelectorAll('.tree-row')].some((row) => row.textContent.includes('v7007'))")
    check(time.time() - started < 5, "the filter answers at once")
    check(page.run("hloViz.outline.rows.filter(({item}) => hloViz.model.isInstruction(item)).length") == 51, "sine and cosine by name and opcode")
    page.run("document.querySelector('#outline input').value = ''; hloViz.outline.build(); document.querySelector('[role=tree]').focus()")
    page.key("Home")
    page.key("ArrowDown")
    page.key("Enter")
    page.wait("hloViz.state.selected !== null && hloViz.state.selected === hloViz.outline.active && hloViz.outline.active !== hloViz.outline.root")
    check(page.run("document.activeElement.getAttribute('role')") == "tree", "the focus stays in the tree")
    check(page.run("document.querySelector('[role=tree]').getAttribute('aria-activedescendant') !== null"), "a reader is told of the row")


def reader(page, tool, folder):
    """What a screen reader needs: names of all controls, what is selected as text; links to views; where the page opens."""
    address = page_of(tool, folder, "reader", scope_of(20))
    page.open(address)
    page.run("hloViz.go(hloViz.model.byName.get('w3'))")
    page.wait("document.getElementById('said').textContent.startsWith('w3: add f32[8,8]{1,0}, 2 operands')")
    nameless = page.run("[...document.querySelectorAll('button, input, select, canvas, aside')].filter((e) => "
                        "!(e.getAttribute('aria-label') || e.closest('label') || /[A-Za-z]{3}/.test(e.textContent))).map((e) => e.id || e.outerHTML)")
    check(nameless == [], f"these have no name: {nameless}")
    page.run("document.getElementById('link').click()")
    page.wait("/clipboard|#.*w3/.test(document.getElementById('status').textContent)")
    source, out = os.path.join(folder, "reader.hlo"), os.path.join(folder, "asked.html")
    for flags, wanted in ((["--instruction", "w5", "--radius", "1"], "hloViz.state.set !== null && hloViz.model.names[hloViz.state.selected] === 'w5'"),
                          (["--from", "w2", "--to", "w4"], "hloViz.state.set.title.startsWith('All paths between w2 and w4')"),
                          (["--computation", "main", "--color-by", "flops"], "hloViz.state.colours === 'flops'")):
        subprocess.run([tool, source, "-o", out, *flags], check=True)
        page.open("file://" + out)
        page.wait(wanted)
    check(subprocess.run([tool, source, "-o", out, "--instruction", "nowhere"], stderr=subprocess.DEVNULL).returncode == 2, "what is not there is refused")


ALL = (readable, uncovered, tree, reader, code, expanding, dump, looks, text_to_graph, all_paths, time_overlay, hostile, repeated, narrow, served)
# SPDX-License-Identifier: Apache-2.0
