#!/usr/bin/env python3
"""Makes the documentation site; site.sh calls it. Each Markdown file becomes a page with the list of all pages beside it, links to other
Markdown files become links to their pages, links to other files of the tree become copies of them, and each tool has its manual as a page.
The pages need no network and no server; search goes through an index that lies beside them."""
import argparse
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import markdown

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ("hlo-run", "hlo-opt", "hlo-diff", "hlo-reduce", "hlo-cost", "hlo-viz", "hlo-aot", "hlo-gen", "hlo-lsp")
# Titles of the list, and the files under each; what is in docs/ and in none of them comes under the last.
SECTIONS = (
    ("Start", ["README.md", "docs/tools.md", "docs/visualization.md", "editors/README.md"]),
    ("Tutorials", ["docs/tutorials/README.md", "docs/tutorials/*.md"]),
    ("Reference", ["docs/passes.md", "docs/operations.md", "docs/stablehlo.md", "docs/numerics.md", "docs/limits.md", "docs/differences.md"]),
    ("In programs", ["docs/api.md", "docs/python.md", "docs/pjrt.md", "docs/distributed.md", "docs/packages.md", "examples/*/README.md"]),
    ("Targets", ["docs/cpu.md", "docs/cuda.md", "docs/ptxsim.md", "docs/performance*.md"]),
    ("Inside", ["docs/*.md", "CONTRIBUTING.md"]),
)
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - hlokit</title><link rel="stylesheet" href="{up}site.css"></head>
<body><a class="skip" href="#main">to the text</a>
<nav aria-label="pages"><label for="search">Search</label><input id="search" type="search" autocomplete="off"><ul id="found"></ul>{links}</nav>
<main id="main">{body}</main>
<script>const up = '{up}';</script><script src="{up}search.js"></script></body></html>
"""
STYLE = """:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { margin: 0; display: flex; font: 16px/1.55 system-ui, sans-serif; }
nav { flex: 0 0 15em; box-sizing: border-box; height: 100vh; position: sticky; top: 0; overflow: auto; padding: 1em; border-right: 1px solid var(--line); font-size: 14px; }
nav ul { list-style: none; padding: 0; margin: 0 0 .8em; } nav h2 { font-size: 13px; margin: .6em 0 .1em; opacity: .7; } nav input { width: 100%; box-sizing: border-box; }
main { flex: 1; min-width: 0; max-width: 62em; padding: 1em 2em 4em; } pre { overflow: auto; padding: .7em; background: var(--soft); border-radius: 6px; font-size: 13px; }
code { background: var(--soft); border-radius: 3px; padding: 0 .2em; } pre code { background: none; padding: 0; } img { max-width: 100%; background: #fff; }
table { border-collapse: collapse; display: block; overflow: auto; } td, th { border: 1px solid var(--line); padding: .2em .6em; text-align: left; vertical-align: top; }
.skip { position: absolute; left: -99em; } .skip:focus { left: 1em; } [aria-current] { font-weight: bold; }
@media (max-width: 700px) { body { display: block; } nav { position: static; height: auto; border: 0; } }
"""
SEARCH = """const box = document.getElementById('search'), list = document.getElementById('found');
let index = null;
box.addEventListener('input', () => {
  if (index === null) {
    const script = document.createElement('script');
    script.src = up + 'index.js';
    script.onload = () => { index = window.pages; show(); };
    document.head.append(script);
  } else {
    show();
  }
});
function show() {
  const words = box.value.toLowerCase().split(/\\s+/).filter((word) => word);
  const hits = words.length === 0 ? [] : index.filter(([, , text]) => words.every((word) => text.includes(word)));
  list.replaceChildren(...hits.slice(0, 20).map(([path, title]) => {
    const row = document.createElement('li'), link = document.createElement('a');
    link.href = up + path;
    link.textContent = title;
    row.append(link);
    return row;
  }));
}
"""


def anchor(text, separator):
    """An id of a heading as GitHub makes it, which the links of the documents expect."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", separator)


class Site:
    def __init__(self, out, tools):
        self.out, self.tools, self.faults = out, tools, []
        self.sections, seen = [], set()
        for title, patterns in SECTIONS:
            files = []
            for pattern in patterns:
                files += [path for path in sorted(ROOT.glob(pattern)) if path not in seen and path not in files]
            seen.update(files)
            self.sections.append((title, files))
        self.titles = {path: self.title_of(path) for _, files in self.sections for path in files}
        self.manuals = [tool for tool in TOOLS if tools and (tools / tool).exists()]

    @staticmethod
    def title_of(path):
        found = re.search(r"^# (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        return found[1] if found else path.stem

    def page_of(self, path):
        """Where a Markdown file's page lies in the site."""
        relative = path.relative_to(ROOT)
        if relative.name == "README.md":
            return "index.html" if relative.parent == pathlib.Path(".") else str(relative.parent / "index.html").removeprefix("docs/")
        return str(relative.with_suffix(".html")).removeprefix("docs/")

    def links(self, page):
        up = "../" * page.count("/")

        def row(target, title):
            here = ' aria-current="page"' if target == page else ""
            return f'<li><a href="{up}{target}"{here}>{html.escape(title)}</a></li>'
        parts = []
        for title, files in self.sections:
            rows = "".join(row(self.page_of(path), self.titles[path]) for path in files)
            if title == "Start":
                rows += "".join(row(f"man/{tool}.html", f"{tool}(1)") for tool in self.manuals)
            parts.append(f"<h2>{title}</h2><ul>{rows}</ul>")
        return "".join(parts)

    def target(self, path, page, reference):
        """What a link of a file becomes."""
        name, hash_mark, fragment = reference.partition("#")
        if re.match(r"[a-z]+:", reference) or not name:
            return reference
        found = (path.parent / name).resolve()
        up = "../" * page.count("/")
        if not found.exists() or not found.is_relative_to(ROOT):
            self.faults.append(f"{path.relative_to(ROOT)}: {reference} leads nowhere")
            return reference
        if found in self.titles:
            return up + self.page_of(found) + hash_mark + fragment
        if found.is_dir():
            if found / "README.md" in self.titles:
                return up + self.page_of(found / "README.md")
            return up + self.list_of(found)
        return up + self.copy(found)

    def list_of(self, folder):
        """The page of a folder of sources."""
        page = f"source/{folder.relative_to(ROOT)}/index.html"
        if not (self.out / page).exists():
            files = [self.copy(file) for file in sorted(folder.iterdir()) if file.is_file()]
            up = "../" * page.count("/")
            rows = "".join(f'<li><a href="{up}{file}">{html.escape(pathlib.Path(file).name.removesuffix(".txt"))}</a></li>' for file in files)
            title = str(folder.relative_to(ROOT))
            self.write(page, title, f"<h1>{html.escape(title)}</h1><ul>{rows}</ul>")
        return page

    def copy(self, file):
        pictures = (".png", ".svg")
        relative = str(file.relative_to(ROOT))
        place = relative.removeprefix("docs/") if file.suffix in pictures else f"source/{relative}" + ("" if file.suffix in (".txt", ".json") else ".txt")
        (self.out / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, self.out / place)
        return place

    def write(self, page, title, body):
        place = self.out / page
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(PAGE.format(title=html.escape(title), up="../" * page.count("/"), links=self.links(page), body=body), encoding="utf-8")
        text = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", body))).lower()
        self.index.append([page, title, text])

    def make(self):
        self.index = []
        for path, title in self.titles.items():
            page = self.page_of(path)
            text = re.sub(r"^<!-- .* -->$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
            text = re.sub(r"^```(\w+) [^\n]*$", r"```\1", text, flags=re.MULTILINE)  # a tutorial's names of files
            body = markdown.markdown(text, extensions=["tables", "fenced_code", "sane_lists", "toc"], extension_configs={"toc": {"slugify": anchor}})
            body = re.sub(r'(href|src)="([^"]*)"', lambda found: f'{found[1]}="{self.target(path, page, html.unescape(found[2]))}"', body)
            self.write(page, title, body)
        for tool in self.manuals:
            manual = subprocess.run([self.tools / tool, "--print-man-page"], capture_output=True, check=True).stdout
            shown = subprocess.run(["groff", "-man", "-Tutf8", "-P-cbou"], input=manual, capture_output=True, check=True).stdout if shutil.which("groff") else manual
            self.write(f"man/{tool}.html", f"{tool}(1)", f"<h1>{tool}(1)</h1><pre>{html.escape(shown.decode())}</pre>")
        (self.out / "site.css").write_text(STYLE, encoding="utf-8")
        (self.out / "search.js").write_text(SEARCH, encoding="utf-8")
        (self.out / "index.js").write_text(f"window.pages = {json.dumps(self.index)};\n", encoding="utf-8")
        self.check()

    def check(self):
        """Every link of every page leads to a file of the site, and to a place in it."""
        ids = {page: set(re.findall(r'id="([^"]*)"', page.read_text(encoding="utf-8"))) for page in self.out.rglob("*.html")}
        for page in ids:
            for reference in re.findall(r'(?:href|src)="([^"]*)"', page.read_text(encoding="utf-8")):
                name, _, fragment = html.unescape(reference).partition("#")
                if re.match(r"[a-z]+:", reference):
                    continue
                found = (page.parent / name).resolve() if name else page
                if not found.exists():
                    self.faults.append(f"{page.relative_to(self.out)}: {reference} is not there")
                elif fragment and fragment not in ids.get(found, set()):
                    self.faults.append(f"{page.relative_to(self.out)}: {reference}: there is no such place")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(";")[0])
    parser.add_argument("out", nargs="?", type=pathlib.Path, default=ROOT / "build" / "site", help="a folder, which is emptied first")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin", help="where the tools are, for their manuals")
    parser.add_argument("--check", action="store_true", help="keep nothing")
    options = parser.parse_args()
    if options.check:
        with tempfile.TemporaryDirectory() as folder:
            site = Site(pathlib.Path(folder).resolve(), options.bin)
            site.make()
    else:
        shutil.rmtree(options.out, ignore_errors=True)
        options.out.mkdir(parents=True)
        site = Site(options.out.resolve(), options.bin)
        site.make()
    for fault in site.faults:
        print(fault)
    print(f"{len(site.index)} pages, {len(site.faults)} faults" + ("" if options.check else f": {options.out}/index.html"))
    return 1 if site.faults else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
