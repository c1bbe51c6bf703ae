#!/usr/bin/env python3
"""Checks the modules of hlo-viz's page, which the build joins into one script: top-level names are unique, what is
imported is exported by the module named, and every file ends in its SPDX line."""
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "tools/hlo-viz/page"
TOP_LEVEL = re.compile(r"^(export )?(?:async )?(?:function\*?|class|const|let) (\w+)", re.M)
IMPORT = re.compile(r"^import \{([^}]*)\} from '\./([\w.]+)';$", re.M)


def faults(page):
    found, owner, exported, texts = [], {}, {}, {p.name: p.read_text() for p in sorted(page.glob("*.js"))}
    for name, text in texts.items():
        exported[name] = {m[1] for m in TOP_LEVEL.findall(text) if m[0]}
        for _, symbol in TOP_LEVEL.findall(text):
            if name != "layout.js" and symbol in owner:  # layout.js runs in a worker of its own
                found.append(f"{name}: {symbol} is also at the top of {owner[symbol]}")
            owner.setdefault(symbol, name)
    for name, text in texts.items():
        lines = [line for line in text.splitlines() if line.startswith("import ")]
        if len(lines) != len(IMPORT.findall(text)):
            found.append(f"{name}: an import that the bundler does not read; write import {{a, b}} from './c.js';")
        for symbols, module in IMPORT.findall(text):
            for symbol in (s.strip() for s in symbols.split(",")):
                if symbol not in exported.get(module, ()):
                    found.append(f"{name}: {module} exports no {symbol}")
        if not text.endswith("// SPDX-License-Identifier: Apache-2.0\n"):
            found.append(f"{name}: the SPDX line is missing")
        if "</script" in text:
            found.append(f"{name}: '</script' would end the script")
    return found


if __name__ == "__main__":
    result = faults(PAGE)
    print("\n".join(result + [f"{len(list(PAGE.glob('*.js')))} modules, {len(result)} faults"]))
    sys.exit(bool(result))
# SPDX-License-Identifier: Apache-2.0
