#!/usr/bin/env python3
"""Runs searches for faults beside each other for hours, and writes a page of what they did. scripts/campaign/campaign.sh calls it.

A search (scripts/campaign/campaign_searches.py) works in slices of some minutes; the one that had the least of its share of processor
time comes next. After each slice the state, the page (page.md) and its figures (page.json) are written, so that a campaign may
end at any moment, by Ctrl-C or by SIGKILL, and go on later. A finding is a folder, findings/SEARCH/SIGNATURE/, with what
shows it, the output and repeat.sh; it is written before anything else is, and findings of one signature count as one.

  campaign.py --jobs 2 --hours 8 --folder build/campaign [--only REGEX] [--slice 300]
  campaign.py --folder build/campaign --hours 0           only writes the page

Exit status: 0 no findings so far, 1 findings, 2 bad usage.
"""
import argparse
import json
import os
import re
import signal
import sys
import threading
import time

from campaign_findings import Findings, write_whole
from campaign_searches import all_searches


class Campaign:
    def __init__(self, options, searches):
        self.options, self.searches = options, searches
        self.path = os.path.join(options.folder, "state.json")
        self.findings = Findings(os.path.join(options.folder, "findings"))
        self.lock, self.stop = threading.Condition(), threading.Event()
        self.busy = set()
        self.end = time.monotonic() + 3600 * options.hours
        self.state = self.read_state()

    def read_state(self):
        try:
            with open(self.path) as file:
                return json.load(file)
        except (OSError, ValueError):
            return {}

    def of(self, search):
        return self.state.setdefault(search.name, {"executions": 0, "processor_s": 0.0, "clock_s": 0.0, "slices": 0})

    def next_search(self):
        """The idle search with the least processor time for its share; None where all are at work."""
        idle = [search for search in self.searches if search.name not in self.busy and not self.of(search).get("broken")]
        return min(idle, key=lambda s: self.of(s)["processor_s"] / s.share, default=None)

    def work(self):
        while not self.stop.is_set() and time.monotonic() < self.end:
            with self.lock:
                search = self.next_search()
                if search:
                    self.busy.add(search.name)
            if search is None:
                self.stop.wait(1)
                continue
            self.run_slice(search)

    def run_slice(self, search):
        start = time.monotonic()
        seconds = max(5, min(self.options.slice, self.end - start))
        with self.lock:
            memory = dict(self.of(search))
        try:
            done = search.run(seconds, memory, self.findings, self.stop)
        except Exception as error:  # pylint: disable=broad-except  # one search must not end the others
            done = {"broken": f"{type(error).__name__}: {error}"}
        with self.lock:
            state = self.of(search)
            for key in ("executions", "processor_s"):
                state[key] += done.pop(key, 0)
            state["clock_s"] += time.monotonic() - start
            state["slices"] += 1
            state.update(done)
            self.busy.discard(search.name)
            self.save()

    def save(self):
        write_whole(self.path, json.dumps(self.state, indent=1))
        write_page(self)

    def run(self):
        for state in self.state.values():
            state.pop("broken", None)  # what was missing then may be there now
        workers = [threading.Thread(target=self.work) for _ in range(self.options.jobs)]
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self.stop.set())
        for worker in workers:
            worker.start()
        for worker in workers:
            while worker.is_alive():  # in short waits, so that signals are seen
                worker.join(0.5)
        self.save()


def page_rows(campaign):
    found = campaign.findings.counts()
    rows = []
    for name in sorted(set(campaign.state) | set(found)):
        state = campaign.state.get(name, {})
        rows.append({"search": name, "executions": state.get("executions", 0),
                     "processor_hours": round(state.get("processor_s", 0) / 3600, 3),
                     "coverage": state.get("coverage", ""), "corpus": state.get("corpus", ""),
                     "note": state.get("broken") or state.get("note", ""), "findings": found.get(name, {})})
    return rows


def write_page(campaign):
    rows = page_rows(campaign)
    findings = sum(len(row["findings"]) for row in rows)
    lines = ["# Campaign", "",
             f"{sum(row['executions'] for row in rows):,} executions, {sum(row['processor_hours'] for row in rows):.2f} hours of "
             f"processor time, {findings} findings.", "",
             "| search | executions | processor hours | coverage | corpus | findings | note |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {row['search']} | {row['executions']:,} | {row['processor_hours']:.2f} | {row['coverage']} | "
                     f"{row['corpus']} | {len(row['findings'])} | {row['note']} |")
    lines += ["", "Coverage is libFuzzer's: edges (`cov`) and features (`ft`). Each finding is a folder with `repeat.sh`.", ""]
    for row in rows:
        for signature, count in sorted(row["findings"].items()):
            lines.append(f"- `findings/{row['search']}/{signature}`: seen {count} times")
    write_whole(os.path.join(campaign.options.folder, "page.md"), "\n".join(lines) + "\n")
    write_whole(os.path.join(campaign.options.folder, "page.json"), json.dumps({"searches": rows}, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--hours", type=float, default=1, help="of the clock; 0: only write the page")
    parser.add_argument("--folder", default="build/campaign", help="state, corpora, findings, page")
    parser.add_argument("--bin", default="build/release/bin", help="the tools and tests")
    parser.add_argument("--fuzz-bin", default="build/fuzz/bin", help="libFuzzer's targets")
    parser.add_argument("--jax", default=os.environ.get("HLOKIT_JAX_PYTHON", ""), help="a Python with jaxlib; empty: none")
    parser.add_argument("--slice", type=float, default=300, help="seconds that a search works before the next has its turn")
    parser.add_argument("--only", default="", metavar="REGEX", help="searches of these names")
    parser.add_argument("--list", action="store_true", help="print the searches")
    options = parser.parse_args()
    options.folder, options.bin = os.path.abspath(options.folder), os.path.abspath(options.bin)
    options.fuzz_bin = os.path.abspath(options.fuzz_bin)
    os.makedirs(options.folder, exist_ok=True)
    searches = [search for search in all_searches(options) if re.search(options.only, search.name)]
    if options.list:
        print("\n".join(search.name for search in searches))
        return 0
    if not searches:
        parser.error(f"no search matches {options.only!r}")
    campaign = Campaign(options, searches)
    if options.hours > 0:
        campaign.run()
    campaign.save()
    findings = sum(len(found) for found in campaign.findings.counts().values())
    print(f"{os.path.join(options.folder, 'page.md')}: {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
