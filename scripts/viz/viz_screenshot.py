#!/usr/bin/env python3
"""Takes a picture of a page of hlo-viz in a headless chromium: viz_screenshot.py PAGE.html[#LINK] OUT.png [--press KEYS].
KEYS are pressed one after the other; a link is what stands in the address of the page when it looks as it should."""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page")
    parser.add_argument("out")
    parser.add_argument("--press", default="", help="keys, such as t for the text")
    arguments = parser.parse_args()
    if browser.find() is None:
        print("there is no chromium")
        return 77
    path, mark, link = arguments.page.partition("#")
    with browser.Browser() as page:
        page.open("file://" + os.path.abspath(path) + mark + link)
        page.run("hloViz.view.canvas.focus()")
        for key in arguments.press:
            page.key(key)
            page.run("new Promise((done) => setTimeout(done, 500))")
        page.screenshot(arguments.out)
        for error in page.errors:
            print(error, file=sys.stderr)
    return 1 if page.errors else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
