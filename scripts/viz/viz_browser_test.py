#!/usr/bin/env python3
"""Drives hlo-viz's explorer in a headless chromium on modules of 10, 1,000 and 50,000 instructions: opens, searches,
opens scopes, follows links, goes back, looks at screenshots. With --figures FILE.hlo... prints what each takes as a table.
Exit status 77 where there is no chromium."""
import argparse
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser
import viz_browser_features
import viz_browser_figures
from pixels import colours_shown
from viz_browser_features import check, wait_for_colour

DOT_BLUE = (0x15, 0x65, 0xc0)


def module_text(count):
    """Layers of dots and elementwise work under op_names, with a loop, of about `count` instructions."""
    lines = ["HloModule layers", "body { s = (s32[], f32[8,8]) parameter(0) i = s32[] get-tuple-element(s), index=0",
             "  one = s32[] constant(1) j = s32[] add(i, one) v = f32[8,8] get-tuple-element(s), index=1",
             "  w = f32[8,8] tanh(v) ROOT t = (s32[], f32[8,8]) tuple(j, w) }",
             "cond { s = (s32[], f32[8,8]) parameter(0) i = s32[] get-tuple-element(s), index=0",
             "  n = s32[] constant(5) ROOT c = pred[] compare(i, n), direction=LT }",
             "ENTRY main { x0 = f32[8,8] parameter(0) k = f32[8,8] parameter(1)"]
    last, made, layer = "x0", 15, 0
    while made + 9 < count:
        scope = f"jit(f)/block_{layer // 40}/layer_{layer}"
        lines.append(f'  d{layer} = f32[8,8] dot({last}, k), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, metadata={{op_name="{scope}/attention/dot_general" source_file="model.py" source_line={layer + 1}}}')
        lines.append(f'  e{layer} = f32[8,8] exponential(d{layer}), metadata={{op_name="{scope}/attention/exp"}}')
        lines.append(f'  m{layer} = f32[8,8] multiply(e{layer}, {last}), metadata={{op_name="{scope}/mlp/mul"}}')
        lines.append(f'  n{layer} = f32[8,8] negate(m{layer}), metadata={{op_name="{scope}/mlp/neg"}}')
        lines.append(f'  a{layer} = f32[8,8] add(n{layer}, {last}), metadata={{op_name="{scope}/add"}}')
        last, made, layer = f"a{layer}", made + 5, layer + 1
    lines.append(f"  zero = s32[] constant(0) init = (s32[], f32[8,8]) tuple(zero, {last})")
    lines.append("  loop = (s32[], f32[8,8]) while(init), condition=cond, body=body")
    lines.append("  ROOT result = f32[8,8] get-tuple-element(loop), index=1 }")
    return "\n".join(lines)


def place(page, item):
    return page.run(f"hloViz.view.clientPlace({item})")


def click_item(page, item):
    at = place(page, item)
    page.click(at["x"], at["y"])


def item_of(page, name):
    return page.run(f"hloViz.model.byName.get({name!r})")


def expand_by_click(page):
    """Clicks the first closed scope in sight; returns whether there was one."""
    item = page.run("(hloViz.view.scene.boxes.find((b) => !b.open && hloViz.model.isScope(b.item)) || {}).item")
    if item is None:
        return False
    page.run(f"hloViz.view.centre({item})")
    before = page.run("hloViz.view.scene.boxes.length")
    click_item(page, item)
    page.wait(f"hloViz.view.scene.boxes.length > {before}")
    check(page.run(f"hloViz.open.has({item})"), "a click opens a scope")
    return True


def explore(page, url, count):
    page.errors.clear()
    page.open(url)
    check(len(colours_shown(page)) > 20, "the first picture is not blank")
    first = page.run("location.hash")
    opened = expand_by_click(page)
    check(opened or count < 20, "a large module has closed scopes")
    if opened:
        page.back()
        check(page.run("location.hash") == first, "back leads to where it was")
    page.key("/")
    page.type("name:d0" if count >= 20 else "name:loop")
    page.wait("document.querySelectorAll('#results li').length > 0")
    page.run("document.querySelector('#results li').dispatchEvent(new PointerEvent('pointerdown', {bubbles: true}))")
    page.wait("hloViz.state.selected !== null && document.querySelector('#panel h2').textContent === hloViz.model.names[hloViz.state.selected]")
    if count >= 20:
        wait_for_colour(page, DOT_BLUE, "a dot is drawn in its blue")
    user = page.run("document.querySelector('#panel ul.links a').textContent")
    page.run("document.querySelector('#panel ul.links a').click()")
    page.wait(f"document.querySelector('#panel h2').textContent === {user!r}")
    page.back()
    check(page.run("document.querySelector('#panel h2').textContent") != user, "back leads to what was selected before")
    keys(page)
    check(not page.errors, f"errors in the console: {page.errors}")


def keys(page):
    page.run("hloViz.view.canvas.focus()")
    page.key("t")
    page.wait("document.querySelectorAll('.text-line.marked').length === 1")
    page.key("n")
    page.wait("hloViz.state.set !== null && location.hash.includes('near')")
    near = page.run("hloViz.view.scene.boxes.length")
    page.key("]")
    page.wait(f"hloViz.view.scene.boxes.length >= {near} && location.hash.includes('%3A3')")
    page.key("Escape")
    page.wait("hloViz.state.set === null")
    page.key("d")
    page.wait("document.documentElement.dataset.theme === 'dark'")
    page.key("d")
    check("<svg" in page.run("hloViz.svg()"), "the picture can be exported")
    page.key("h")
    page.wait("hloViz.state.selected === null")


def permalink(page, url):
    """A link to an opened place leads there in a new page."""
    page.open(url)
    page.run("hloViz.go(hloViz.model.byName.get('m3'))")
    page.wait("location.hash.includes('m3')")
    link = page.run("location.href")
    page.call("Page.navigate", url="about:blank")
    page.open(link)
    check(page.run("hloViz.model.names[hloViz.state.selected]") == "m3", "a permalink restores the selection")
    check(page.run("hloViz.view.boxOf(hloViz.state.selected) !== null"), "and what is open")


def passes(page, tool, folder):
    """A dump folder: the slider shows what a pass has changed."""
    dump = os.path.join(folder, "dump")
    os.makedirs(dump, exist_ok=True)
    text = module_text(60)
    for name, body in (("before_optimizations", text), ("0001.p.after_change.before_x", text.replace("negate", "cosine", 1)),
                       ("cpu_after_optimizations", text)):
        with open(os.path.join(dump, f"module_0000.f.{name}.txt"), "w") as file:
            file.write(body)
    url = write_page(tool, dump, os.path.join(folder, "dump.html"))[0]
    page.open(url)
    page.run("hloViz.view.canvas.focus()")
    page.key(".")
    page.wait("hloViz.state.v === 1 && document.getElementById('pass-changes').textContent.includes('+')")
    check(page.run("hloViz.model.stateOf.some((s) => s > 0)"), "the change is marked")
    check(not page.errors, f"errors in the console: {page.errors}")


def write_page(tool, source, path, *flags):
    start = time.time()
    subprocess.run([tool, source, "-o", path, *flags], check=True, stderr=subprocess.DEVNULL if flags else None)
    return "file://" + os.path.abspath(path), time.time() - start, os.path.getsize(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/release/bin", help="where hlo-viz is")
    parser.add_argument("--figures", nargs="+", metavar="FILE", help="measure these modules instead of testing")
    parser.add_argument("--sweep", nargs="*", metavar="PATH", help="open a page of each, of a folder one with all of its modules, and report console errors")
    arguments = parser.parse_args()
    if browser.find() is None:
        print("skipped: no chromium")
        return 77
    tool = os.path.join(os.path.abspath(arguments.bin), "hlo-viz")
    with tempfile.TemporaryDirectory() as folder, browser.Browser() as page:
        if arguments.figures is not None:
            viz_browser_figures.figures(page, tool, arguments.figures, folder)
            return 0
        if arguments.sweep is not None:
            return sweep(page, tool, arguments.sweep, folder)
        for count in (10, 1000, 50000):
            source = os.path.join(folder, f"{count}.hlo")
            with open(source, "w") as file:
                file.write(module_text(count))
            url, written, size = write_page(tool, source, os.path.join(folder, f"{count}.html"))
            explore(page, url, count)
            print(f"{count} instructions: written in {written:.2f} s, {size / 1024:.0f} KiB, ok", flush=True)
            if count == 1000:
                permalink(page, url)
        passes(page, tool, folder)
        for feature in viz_browser_features.ALL:
            page.errors.clear()
            feature(page, tool, folder)
            print(f"{feature.__name__}: ok", flush=True)
    return 0


VISIT = """(async (m, v) => {
  hloViz.models.clear();
  await hloViz.load(m, v);
  await hloViz.expandAll(hloViz.state.root);
  await hloViz.go(hloViz.model.size - 1);
  return hloViz.view.scene.boxes.length;
})"""


def sweep(page, tool, paths, folder):
    """Of a folder one page, of which every module is opened."""
    modules, bad = 0, 0
    for path in paths:
        page.errors.clear()
        try:
            page.open(write_page(tool, path, os.path.join(folder, "sweep.html"), "--allow-unknown-attributes")[0], 120)
            names = page.run("hloViz.index.modules.flatMap(({name, versions}, m) => versions.map(({label}, v) => [m, v, name, label]))")
            page.errors += page.run("hloViz.index.notes")
        except (subprocess.CalledProcessError, TimeoutError, RuntimeError) as error:
            names = []
            page.errors.append(str(error))
        for m, v, name, label in [(0, 0, "", "")] * (not names) + names:
            modules += 1
            try:
                if names and page.run(f"{VISIT}({m}, {v})") == 0:
                    page.errors.append("nothing is drawn")
            except (TimeoutError, RuntimeError) as error:
                page.errors.append(str(error))
            if page.errors:
                bad += 1
                print(f"{path} {name} {label}: {page.errors[:2]}", flush=True)
                page.errors.clear()
        print(f"{path}: {len(names)} modules, so far {modules} with {bad} bad", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
