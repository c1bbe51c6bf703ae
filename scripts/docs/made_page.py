"""Pages of docs/ that scripts make from the project's tables."""
import sys


def write_or_check(page, text, script):
    """Writes `text` to the path `page`; with --check on the command line only says, as an exit status, whether it stands there."""
    if "--check" not in sys.argv[1:]:
        page.write_text(text, encoding="utf-8")
        return 0
    if page.exists() and page.read_text(encoding="utf-8") == text:
        return 0
    print(f"docs/{page.name} is out of date: run {script}")
    return 1
# SPDX-License-Identifier: Apache-2.0
