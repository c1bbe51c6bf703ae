#!/usr/bin/env python3
"""Mutation testing of our own tests: which small faults do the quick and exec tests notice?

  mutants.py plan  [--count 300] [--seed 1] [--folders ops codegen ...]
  mutants.py build   one build holds all mutants; a site that does not compile is dropped
  mutants.py reach   runs every test once: which mutants does it reach, and how long does it take?
  mutants.py run   [--budget 120] [--only ID...]   each mutant under the tests that reach it, until one fails
  mutants.py report  killed and total by folder, and the survivors

All work stands in --build (default build/mutants). HLOKIT_MUTANT=ID in the environment of any
program built there switches mutant ID on; HLOKIT_MUTANT_REACH=FILE collects which are reached.
A mutant is a change of one expression or statement (scripts/campaign/mutant_sites.py), drawn by seed:
folders by their lines, then files by theirs, then up to four sites a file, kinds of change alike.
A test can kill an expression of plain values only if some execution gives the two another value;
reach records that, so few tests are run for a mutant. Crashes, and more than four times the
processor time, count as killed. scripts/campaign/mutants_equivalent.tsv names mutants that no test can kill.
Needs python3-clang-14. Run `build` and `run` under nice; all steps can be repeated and go on.
"""
import argparse
import collections
import json
import mmap
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EQUIVALENT = os.path.join(ROOT, "scripts/campaign/mutants_equivalent.tsv")
SITES_A_FILE = 4
SPARE = 1.1  # sites planned for each wanted: some do not compile
REACH_BYTES = 4096
CPU_FACTOR, CPU_SECONDS = 4, 15  # a test takes longer than this many times its usual: killed
TESTS_A_PROCESS = 150
MEMORY_BYTES = 24 << 30  # of addresses

RUNTIME = """// Asks whether a mutant is switched on; written by scripts/campaign/mutants.py.
#pragma once
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

namespace hlokit_mutants {

struct State {
  State() {
    const char* number = getenv("HLOKIT_MUTANT");
    if (number != nullptr) active = atoi(number);
    const char* path = getenv("HLOKIT_MUTANT_REACH");
    const int file = path != nullptr ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void* bytes = mmap(nullptr, REACH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (bytes != MAP_FAILED) reached = static_cast<unsigned char*>(bytes);
  }
  int active = 0;
  unsigned char* reached = nullptr;  // 1: executed; 2: with another value, or perhaps so
};
inline State state;

inline bool On(int id) {
  if (state.reached != nullptr) state.reached[id] = 3;
  return id == state.active;
}

template <typename T, typename U>
U Pick(int id, T mutated, U original) {
  if (state.reached != nullptr) state.reached[id] |= mutated == static_cast<T>(original) ? 1 : 3;
  return id == state.active ? static_cast<U>(mutated) : original;
}

}  // namespace hlokit_mutants
""".replace("REACH_BYTES", str(REACH_BYTES))

LAUNCHER = """#!/usr/bin/env bash
# Compiles the file with mutants where there is one; written by scripts/campaign/mutants.py.
args=()
for arg in "$@"; do
  if [[ $arg == ROOT/*.cc && -f OVERLAY/${arg#ROOT/} ]]; then arg=OVERLAY/${arg#ROOT/}; fi
  args+=("$arg")
done
exec CCACHE "${args[@]}"
"""


class Work:
    """The files of one run of mutation testing."""

    def __init__(self, build):
        self.build = os.path.abspath(build)
        self.overlay = os.path.join(self.build, "overlay")

    def path(self, name):
        return os.path.join(self.build, name)

    def load(self, name, default=None):
        if not os.path.exists(self.path(name)):
            return default
        with open(self.path(name), encoding="utf-8") as file:
            return json.load(file)

    def save(self, name, value):
        with open(self.path(name) + ".new", "w", encoding="utf-8") as file:
            json.dump(value, file, indent=0)
        os.replace(self.path(name) + ".new", self.path(name))

    def results(self):
        if not os.path.exists(self.path("results.jsonl")):
            return {}
        with open(self.path("results.jsonl"), encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        # The last try counts; what one try killed is killed.
        return {r["id"]: r for r in sorted(rows, key=lambda r: r["verdict"] == "killed")}


# ---- plan


def sources_of(folder):
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", folder], check=True, capture_output=True,
                            text=True).stdout.split()
    result = {}
    for name in listed:
        if name.endswith(".cc") and not name.endswith("_test.cc"):
            with open(os.path.join(ROOT, name), "rb") as file:
                result[name] = file.read().count(b"\n")
    return result


def quotas(folders, count):
    lines = {f: sum(sources_of(f).values()) for f in folders}
    shares = {f: max(count * lines[f] / sum(lines.values()), min(20, count / len(folders)))
              for f in folders}
    scale = count / sum(shares.values())
    return {f: round(share * scale) for f, share in shares.items()}


def draw_sites(sites, rng):
    """Up to SITES_A_FILE disjoint sites, each kind of change with the same chance."""
    kinds = collections.defaultdict(list)
    for site in sites:
        kinds[site["kind"]].append(site)
    drawn = []
    while kinds and len(drawn) < SITES_A_FILE:
        kind = rng.choice(sorted(kinds))
        site = kinds[kind].pop(rng.randrange(len(kinds[kind])))
        if not kinds[kind]:
            del kinds[kind]
        if all(site["end"] <= d["start"] or d["end"] <= site["start"] for d in drawn):
            drawn.append(site)
    return drawn


def plan(work, options):
    import mutant_sites
    configure(work)
    commands = {e["file"]: e["command"] for e in work.load("compile_commands.json")}
    rng = random.Random(options.seed)
    mutants = []
    for folder, wanted in quotas(options.folders, round(options.count * SPARE)).items():
        files, found = sources_of(folder), 0
        while files and found < wanted:
            name = rng.choices(list(files), weights=list(files.values()))[0]
            del files[name]
            path = os.path.join(ROOT, name)
            sites = mutant_sites.Finder(path, commands[path]).find()
            for site in draw_sites(sites, rng)[:wanted - found]:
                mutants.append({"id": len(mutants) + 1, "file": name, "folder": folder, **site})
                found += 1
        print(f"{folder}: {found} sites")
    work.save("mutants.json", mutants)


# ---- build


def write_overlay(work, mutants):
    """One mutated copy of each file that has mutants left; the compiler takes it in the place of the file."""
    import mutant_sites
    files = collections.defaultdict(list)
    for mutant in mutants:
        files[mutant["file"]].append(mutant)
    for name, sites in files.items():
        with open(os.path.join(ROOT, name), "rb") as file:
            text = file.read()
        head = f'#include "{work.overlay}/mutants.h"\n#line 1\n'.encode()
        new = head + mutant_sites.rewrite(text, [s for s in sites if not s.get("dropped")])
        path = os.path.join(work.overlay, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        old = open(path, "rb").read() if os.path.exists(path) else b""
        if old != new:
            with open(path, "wb") as file:
                file.write(new)
            for entry in work.load("compile_commands.json"):
                if entry["file"] == os.path.join(ROOT, name):
                    output = re.search(r" -o (\S+)", entry["command"]).group(1)
                    if os.path.exists(work.path(output)):
                        os.remove(work.path(output))


def configure(work):
    os.makedirs(work.overlay, exist_ok=True)
    with open(os.path.join(work.overlay, "mutants.h"), "w", encoding="utf-8") as file:
        file.write(RUNTIME)
    launcher = work.path("launcher.sh")
    ccache = shutil.which("ccache") or ""
    with open(launcher, "w", encoding="utf-8") as file:
        file.write(LAUNCHER.replace("ROOT", ROOT).replace("OVERLAY", work.overlay).replace("CCACHE", ccache))
    os.chmod(launcher, 0o755)
    subprocess.run(["cmake", "-S", ROOT, "-B", work.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"], check=True, stdout=subprocess.DEVNULL)


def drop_failing(mutants, log, overlay):
    """Drops the sites on lines with errors, else all of a file that does not compile; their number."""
    places = collections.defaultdict(set)
    for name, line in re.findall(r"^(\S+?\.(?:cc|h|def)):(\d+):\d+: .*(?:error|required from)", log, re.M):
        places[name.replace(overlay + "/", "").replace(ROOT + "/", "")].add(int(line))
    dropped = 0
    for folder, file in set(re.findall(r"^FAILED: (\S*?)CMakeFiles/\S+?\.dir/(\S+)\.o", log, re.M)):
        here = [m for m in mutants if m["file"] == folder + file and not m.get("dropped")]
        bad = [m for m in here if any(m["line"] <= line <= m["line"] + m["before"].count("\n")
                                      for line in places[folder + file])]
        for mutant in bad or here:
            mutant["dropped"] = True
            dropped += 1
    return dropped


def build(work, options):
    configure(work)
    mutants = work.load("mutants.json")
    while True:
        write_overlay(work, mutants)
        done = subprocess.run(["ninja", "-C", work.build, f"-j{options.jobs}", "-k0", *options.targets],
                              capture_output=True, text=True, errors="replace", check=False)
        with open(work.path("build.log"), "w", encoding="utf-8") as file:
            file.write(done.stdout)
        if done.returncode == 0:
            break
        dropped = drop_failing(mutants, done.stdout, work.overlay)
        work.save("mutants.json", mutants)
        print(f"{dropped} sites do not compile", flush=True)
        if dropped == 0:
            sys.exit(f"the build fails for another reason: {work.path('build.log')}")
    print(sum(not m.get("dropped") for m in mutants), "mutants built")


# ---- running tests


def ctest_tests(work, labels):
    """The tests of built programs that have one of the labels, by name."""
    listed = subprocess.run(["ctest", "--test-dir", work.build, "--show-only=json-v1", "-L",
                             f"^({'|'.join(labels)})$"], check=True, capture_output=True, text=True).stdout
    tests = {}
    for test in json.loads(listed)["tests"]:
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        if "command" in test and not test["name"].endswith("_NOT_BUILT"):
            tests[test["name"]] = {
                "name": test["name"], "command": test["command"], "label": properties["LABELS"][0],
                "cwd": properties.get("WORKING_DIRECTORY", work.build),
                "skip": properties.get("SKIP_RETURN_CODE")}
    return tests


def run_command(command, cwd, environment, seconds):
    """(exit status, wall seconds, processor seconds); None as status where the time ran out."""
    def limit():
        cpu = int(seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    start, used = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    child = subprocess.Popen(command, cwd=cwd, env={**os.environ, **environment}, preexec_fn=limit,
                             start_new_session=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        status = child.wait(timeout=60 + 6 * seconds)
    except subprocess.TimeoutExpired:
        status = None
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    return status, time.time() - start, cpu


def reach(work, options):
    """reach.json: test -> its label, time, and the mutants it reaches or tells apart."""
    tests, known = ctest_tests(work, options.labels), work.load("reach.json", {})
    bytes_path = work.path("reach.bytes")
    with open(bytes_path, "wb") as file:
        file.write(bytes(REACH_BYTES))
    with open(bytes_path, "r+b") as file, mmap.mmap(file.fileno(), REACH_BYTES) as reached:
        for count, (name, test) in enumerate(tests.items()):
            if not re.search(options.tests, name) or (name in known and not options.again):
                continue
            reached[:] = bytes(REACH_BYTES)
            status, wall, cpu = run_command(test["command"], test["cwd"],
                                            {"HLOKIT_MUTANT_REACH": bytes_path}, options.limit)
            known[name] = {**test, "passes": status == 0, "seconds": wall, "cpu": cpu,
                           "reached": [i for i, b in enumerate(reached[:]) if b],
                           "apart": [i for i, b in enumerate(reached[:]) if b & 2]}
            if status != 0:
                print(f"{name}: left out, its status is {status}")
            if count % 100 == 99:
                work.save("reach.json", known)
                print(count + 1, "of", len(tests), flush=True)
    work.save("reach.json", known)


def affinity(mutant, test):
    """Tests that name the subject of the file come first, then quick ones, then short ones."""
    subject = set(re.split(r"[/_.]", os.path.splitext(mutant["file"])[0].split("/", 1)[1])) - {"eval", "passes"}
    named = sum(len(word) > 2 and word.rstrip("s") in test["name"].lower() for word in subject)
    return (-min(named, 2), test["label"] != "quick", test["cpu"])


def batches(tests):
    """The tests of one GoogleTest program in one process, others alone; early tests in small batches."""
    size, rest = 6, list(tests)
    while rest:
        part, rest = rest[:size], rest[size:]
        size = min(size * 4, TESTS_A_PROCESS)
        programs = collections.OrderedDict()
        for test in part:
            names = re.match(r"--gtest_filter=(.*)", test["command"][1]) if len(test["command"]) > 1 else None
            key = (test["command"][0], test["cwd"]) if names else (test["name"],)
            programs.setdefault(key, []).append((test, names and names.group(1)))
        for group in programs.values():
            first = group[0][0]
            command = first["command"]
            if group[0][1]:
                command = [command[0], "--gtest_filter=" + ":".join(n for _, n in group), "--gtest_fail_fast",
                           "--gtest_brief=1", "--gtest_also_run_disabled_tests"]
            yield [t for t, _ in group], command, first["cwd"]


def try_mutant(mutant, tests, budget):
    """The verdict on one mutant: killed, survived, or open where the budget (seconds) ended first."""
    start, tried = time.time(), 0
    for group, command, cwd in batches(sorted(tests, key=lambda t: affinity(mutant, t))):
        if time.time() - start > budget:
            return {"verdict": "open", "tried": tried, "of": len(tests)}
        limit = CPU_SECONDS + CPU_FACTOR * sum(t["cpu"] for t in group)
        status, _, _ = run_command(command, cwd, {"HLOKIT_MUTANT": str(mutant["id"])}, limit)
        if status not in (0, group[0]["skip"]):
            return {"verdict": "killed", "by": group[0]["name"], "among": len(group), "status": status}
        tried += len(group)
    return {"verdict": "survived", "tried": tried}


def run(work, options):
    mutants = [m for m in work.load("mutants.json") if not m.get("dropped")]
    tests, results, known = work.load("reach.json"), work.results(), equivalents()
    random.Random(options.seed).shuffle(mutants)
    with open(work.path("results.jsonl"), "a", encoding="utf-8") as file:
        for mutant in mutants:
            number = mutant["id"]
            if options.only and number not in options.only:
                continue
            settled = number in results and (not options.again_survivors or results[number]["verdict"] == "killed"
                                             or key_of(mutant) in known)
            if settled and not options.only:
                continue
            apart = [t for t in tests.values() if t["passes"] and number in t["apart"]]
            reached = any(number in t["reached"] for t in tests.values())
            start = time.time()
            if apart:
                result = try_mutant(mutant, apart, options.budget)
            else:
                result = {"verdict": "same value" if reached else "unreached"}
            result = {"id": number, "seconds": round(time.time() - start, 1), **result}
            file.write(json.dumps(result) + "\n")
            file.flush()
            print(number, mutant["file"], mutant["line"], mutant["kind"], result, flush=True)


# ---- report


def equivalents():
    """(file, before, after) -> reason."""
    if not os.path.exists(EQUIVALENT):
        return {}
    with open(EQUIVALENT, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if line.strip() and line[0] != "#"]
    return {(r[0], r[1], r[2]): r[3] for r in rows}


def words(text):
    return " ".join((" / ".join(text) if isinstance(text, (list, tuple)) else text).split())


def key_of(mutant):
    return mutant["file"], words(mutant["before"]), words(mutant["after"])


def report(work, _options):
    known, results = equivalents(), work.results()
    table = collections.defaultdict(collections.Counter)
    for mutant in work.load("mutants.json"):
        result = results.get(mutant["id"])
        if result is None or mutant.get("dropped"):
            continue
        verdict = result["verdict"]
        key = key_of(mutant)
        if verdict != "killed" and key in known:
            verdict = "equivalent"
        for row in (mutant["folder"], "all"):
            table[row][verdict] += 1
        if verdict not in ("killed", "equivalent"):
            print(f"{mutant['id']}\t{verdict}\t{mutant['file']}:{mutant['line']}\t{mutant['kind']}\t"
                  f"{key[1][:100]}\t{key[2][:100]}")
    for folder, counts in table.items():
        total = sum(counts.values())
        can_die = total - counts["equivalent"]
        print(f"{folder}: {counts['killed']} of {can_die} killed ({counts['killed'] / max(can_die, 1):.1%}),",
              f"{counts['equivalent']} equivalent;", dict(counts))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["plan", "build", "reach", "run", "report"])
    parser.add_argument("--targets", nargs="+", default=[], help="build: these of ninja's targets, else all")
    parser.add_argument("--build", default=os.path.join(ROOT, "build/mutants"))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folders", nargs="+", default=["ops", "codegen", "backends/cpu/host_program", "backends/cpu/kernels",
                                                          "backends/cpu/library_calls", "passes", "verifier"])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120, help="processor seconds of a test, for reach")
    parser.add_argument("--labels", nargs="+", default=["quick", "exec"], help="reach: tests of these labels")
    parser.add_argument("--tests", default="", help="reach: those whose names hold this regular expression")
    parser.add_argument("--again", action="store_true", help="reach: those too whose reach is known")
    parser.add_argument("--budget", type=float, default=120, help="seconds a mutant, for run")
    parser.add_argument("--only", type=int, nargs="+", help="run: these mutants")
    parser.add_argument("--again-survivors", action="store_true", help="run: all that are not killed, too")
    options = parser.parse_args()
    work = Work(options.build)
    steps = {"plan": plan, "build": build, "reach": reach, "run": run, "report": report}
    steps[options.step](work, options)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
