"""The searches of a campaign: each runs for some seconds, adds findings, and says what it did.

A search has a name, a share of the processor time, and run(seconds, memory, findings, stop), which returns what to add to
`executions` and `processor_s`, and what else to remember for the next slice (`memory`: what it returned before): `next`, the
first seed not yet tried, `coverage`, `corpus`, `note`. It raises OSError where what it needs is not there.
"""
import glob
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import tempfile
import time

FUZZ_TARGETS = ["text", "proto", "values", "numpy", "interpret", "passes", "run", "stablehlo", "safetensors", "weights", "topology", "diff", "lsp"]
SLOW_TARGETS = {"interpret", "passes", "run"}
MAX_LENGTH = 4096  # bytes of an input
MERGE_EVERY = 4  # slices
SEEDS = "fuzz/seeds.txt"


class Run:
    """A command that has ended, or was ended: its output, status (None: it was ended) and processor time."""

    def __init__(self, command, stop, limit, env=None, cwd=None, grace=20):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=cwd,
                                       env=dict(os.environ, **(env or {})), start_new_session=True)
            self.status = self.wait(process, stop, time.monotonic() + limit, grace)
            output.seek(0)
            self.output = output.read().decode(errors="replace")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)  # of all children: good enough for shares
        self.processor_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    @staticmethod
    def wait(process, stop, end, grace):
        asked = None
        while True:
            try:
                return process.wait(0.2)
            except subprocess.TimeoutExpired:
                pass
            now = time.monotonic()
            if asked is None and (stop.is_set() or now > end):
                os.killpg(process.pid, signal.SIGINT)  # libFuzzer ends with its figures
                asked = now
            elif asked is not None and now > asked + grace:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return None


class Search:
    def __init__(self, options, name, share=1.0):
        self.options, self.name, self.share = options, name, share

    def tool(self, name):
        path = os.path.join(self.options.bin, name)
        if not os.path.exists(path):
            raise OSError(f"{path} is missing")
        return path

    def folder(self, *parts):
        path = os.path.join(self.options.folder, *parts)
        os.makedirs(path, exist_ok=True)
        return path


def seeds_of(build, target):
    """The files and folders of seeds that CMake wrote down for a target."""
    with open(os.path.join(build, SEEDS)) as file:
        for line in file:
            name, _, paths = line.strip().partition(": ")
            if name == target:
                return [path for path in paths.split(";") if path]
    return []


class Fuzz(Search):
    """A libFuzzer target with sanitizers."""

    def __init__(self, options, target):
        super().__init__(options, f"fuzz-{target}", 1.0)
        self.target = target

    def program(self, kind="fuzz"):
        path = os.path.join(self.options.fuzz_bin, f"{self.target}_{kind}")
        if not os.path.exists(path):
            raise OSError(f"{path} is missing: build with the preset fuzz")
        return path

    def run(self, seconds, memory, findings, stop):
        program, corpus = self.program(), self.folder("corpus", self.target)
        new = self.folder("new", self.target)
        self.collect(new, findings, "")  # of a campaign that was killed
        dictionary = os.path.join(self.options.folder, "hlo.dict")
        if not os.path.exists(dictionary):
            subprocess.run([self.program("replay"), "--write-dictionary", dictionary], check=True)
        seeds = seeds_of(os.path.dirname(self.options.fuzz_bin), self.target)
        env = {"ASAN_OPTIONS": "allocator_may_return_null=1:handle_abort=1", "UBSAN_OPTIONS": "print_stacktrace=1",
               "LSAN_OPTIONS": f"suppressions={os.getcwd()}/scripts/campaign/leaks.supp:print_suppressions=0"}
        slow = self.target in SLOW_TARGETS
        done = Run([program, f"-max_total_time={int(seconds)}", f"-max_len={MAX_LENGTH}", "-timeout=30", "-rss_limit_mb=4096",
                    "-malloc_limit_mb=4096", f"-dict={dictionary}", f"-artifact_prefix={new}/", "-print_final_stats=1",
                    "-use_value_profile=0" if slow else "-use_value_profile=1", corpus, *seeds], stop, seconds + 120, env)
        self.collect(new, findings, done.output)
        executions = re.search(r"stat::number_of_executed_units: (\d+)", done.output)
        result = {"executions": int(executions.group(1)) if executions else self.last_count(done.output),
                  "processor_s": done.processor_s}
        covered = re.findall(r"cov: (\d+) ft: (\d+)", done.output)
        if covered:
            result["coverage"] = "cov {}, ft {}".format(*covered[-1])
        if memory.get("slices", 0) % MERGE_EVERY == MERGE_EVERY - 1 and not stop.is_set():
            result["processor_s"] += self.minimise(program, corpus, seconds, stop, env)
        files = os.listdir(corpus)
        size = sum(os.path.getsize(os.path.join(corpus, file)) for file in files)
        result["corpus"] = f"{len(files)} files, {size // 1024} KiB"
        return result

    @staticmethod
    def last_count(output):
        counts = re.findall(r"^#(\d+)\s", output, re.M)
        return int(counts[-1]) if counts else 0

    def collect(self, new, findings, output):
        """Files findings; the input is removed from where libFuzzer left it once it is kept."""
        for path in sorted(glob.glob(os.path.join(new, "*"))):
            said = output if path in output else Run([self.program(), path], NEVER, 120).output
            kind = os.path.basename(path).split("-")[0]
            signature = None if kind in ("crash", "leak") else kind
            findings.add(self.name, said, f"{self.program()} INPUT", [path], signature)
            os.remove(path)

    def minimise(self, program, corpus, seconds, stop, env):
        """The corpus cut to what covers as much; the old one stays until the new one is whole."""
        small = f"{corpus}.merged"
        os.makedirs(small, exist_ok=True)
        merged = Run([program, "-merge=1", f"-max_len={MAX_LENGTH}", "-timeout=30", small, corpus], stop, max(seconds, 60), env)
        if merged.status == 0:
            os.rename(corpus, f"{corpus}.old")
            os.rename(small, corpus)
            small = f"{corpus}.old"
        for file in os.listdir(small):
            os.remove(os.path.join(small, file))
        os.rmdir(small)
        return merged.processor_s


class Never:
    @staticmethod
    def is_set():
        return False


NEVER = Never()


class Replay(Search):
    """Mutations of a target's seeds by its own mutator, as released: fewer checks, many more executions."""

    def __init__(self, options, target):
        super().__init__(options, f"replay-{target}", 0.3)
        self.target = target

    def run(self, seconds, memory, findings, stop):
        program, seed = self.tool(f"{self.target}_replay"), memory.get("next", 1000)
        count = 300 if self.target in SLOW_TARGETS else 3000
        seeds = seeds_of(os.path.dirname(self.options.bin), self.target)
        end, executions, processor = time.monotonic() + seconds, 0, 0.0
        while time.monotonic() < end and not stop.is_set():
            crash = os.path.join(self.folder("new"), f"{self.target}.{seed}.input")
            flags = ["--mutations", str(count), "--seed", str(seed), "--save", crash]
            done = Run([program, *flags, *seeds], stop, 1200)
            if stop.is_set():
                break
            seed, executions, processor = seed + 1, executions + count, processor + done.processor_s
            if done.status != 0:
                findings.add(self.name, done.output, f"{program} INPUT", [crash])
            if os.path.exists(crash):
                os.remove(crash)
        return {"executions": executions, "processor_s": processor, "next": seed, "note": f"seeds to {seed - 1}"}


class RandomModules(Search):
    """hlo-gen's modules of one stage on the CPU, beside the interpreter; with `sanitize` under hlo-run --sanitize."""

    def __init__(self, options, stage, sanitize):
        super().__init__(options, f"{'sanitize' if sanitize else 'modules'}-{stage or 'raw'}", 0.7)
        self.stage, self.sanitize = stage, sanitize

    def flags(self, text, seed):
        error = re.search(r"--abs-error=(\S+)", text)
        flags = ["--sanitize"] if self.sanitize else ["--reference-platform=interpreter"]
        if error and not self.sanitize:
            flags.append(f"--abs-error={error.group(1)}")
        if seed % 2 == 1 or self.stage in ("fused", "scheduled"):
            flags.append("--no-passes")
        return [*flags, "--opt-level=1", "--threads=1", f"--seed={seed}"]

    def run(self, seconds, memory, findings, stop):
        generator, runner = self.tool("hlo-gen"), self.tool("hlo-run")
        seed, executions, processor = memory.get("next", 1_000_000), 0, 0.0
        end, refused = time.monotonic() + seconds, memory.get("refused", 0)
        stage = [f"--stage={self.stage}"] if self.stage else []
        with tempfile.TemporaryDirectory(prefix="hlokit_campaign_") as folder:
            while time.monotonic() < end and not stop.is_set():
                made = Run([generator, f"--seed={seed}", *stage, "-o", folder], stop, 120)
                path = os.path.join(folder, f"random_{seed}.hlo")
                if made.status != 0 and not stop.is_set():
                    findings.add(self.name, made.output, shlex.join([generator, f"--seed={seed}", *stage]))
                if not os.path.exists(path):
                    seed += 1
                    continue
                with open(path) as file:
                    flags = self.flags(file.readline(), seed)
                done = Run([runner, path, *flags], stop, 300)
                if stop.is_set():
                    break
                executions, processor = executions + 1, processor + made.processor_s + done.processor_s
                refused += done.status == 2
                if done.status not in (0, 2) or "internal error" in done.output:
                    findings.add(self.name, done.output, f"{runner} INPUT {shlex.join(flags)}", [path],
                                 None if done.status != 1 else "differs_" + self.kind(done.output))
                os.remove(path)
                seed += 1
        return {"executions": executions, "processor_s": processor, "next": seed, "refused": refused,
                "note": f"seeds to {seed - 1}" + (f", {refused} refused by name" if refused else "")}

    @staticmethod
    def kind(output):
        """Results that differ look alike: an element type and the instruction that a report names tell them apart."""
        match = re.search(r"\b(\w+)\[[\d,<=]*\]", output)
        named = re.search(r"%?([a-z][a-z-]+)[.\w]*: ", output)
        return "_".join(part.group(1) for part in (match, named) if part) or "values"


class PassLists(Search):
    """Every pass, every pipeline and random lists on random modules, in one process: passes/random_modules_test.cc."""

    def __init__(self, options):
        super().__init__(options, "passes", 1.0)

    def run(self, seconds, memory, findings, stop):
        seed, modules = memory.get("next", 2_000_000), 20
        executions, processor, end = 0, 0.0, time.monotonic() + seconds
        while time.monotonic() < end and not stop.is_set():
            env = {"HLOKIT_RANDOM_SEED": str(seed), "HLOKIT_RANDOM_MODULES": str(modules), "TEST_TMPDIR": self.folder("new")}
            command = [self.tool("hlokit_passes_test"), "--gtest_filter=*RandomModulesSlow*"]
            done = Run(command, stop, 1800, env)
            if stop.is_set():
                break
            lists = re.search(r"(\d+) lists of passes", done.output)
            executions += int(lists.group(1)) if lists else 0
            processor += done.processor_s
            if done.status != 0:
                self.add(findings, done.output, seed, modules, command)
            seed += modules
        return {"executions": executions, "processor_s": processor, "next": seed, "note": f"seeds to {seed - 1}"}

    def add(self, findings, output, seed, modules, command):
        again = f"HLOKIT_RANDOM_SEED={seed} HLOKIT_RANDOM_MODULES={modules} {shlex.join(command)}"
        failures = re.findall(r"(\S+\.hlo) --passes=(\S+)\n((?:.*\n){1,6})", output)
        if not failures:
            findings.add(self.name, output, again)
        for path, passes, said in failures:
            name = re.sub(r"\W+", "_", passes if "," not in passes else "list")[:60]
            findings.add(self.name, f"{path} --passes={passes}\n{said}", again, [path], f"{name}_{said.split(':')[0][:30].strip()}"
                         .replace(" ", "_").replace("/", "_"))


class Faults(Search):
    """One call of a run fails: scripts/campaign/fault_injection.py."""

    def __init__(self, options):
        super().__init__(options, "faults", 0.7)

    def run(self, seconds, memory, findings, stop):
        seed = memory.get("next", 1)
        report = os.path.join(self.folder("new"), "faults.json")
        done = Run(["python3", "scripts/campaign/fault_injection.py", "--bin", self.options.bin, "--samples", "2000", "--seed", str(seed),
                    "--order", "random", "--jobs", "1", "--seconds", str(int(seconds)), "--json", report], stop, seconds + 300)
        if stop.is_set() or not os.path.exists(report):
            return {"processor_s": done.processor_s}
        with open(report) as file:
            told = json.load(file)
        for found in told["findings"]:
            name = re.sub(r"\W+", "_", f"{found['command']} {found['fired'].split(' from')[0]} {found['what']}")[:80]
            findings.add(self.name, json.dumps(found, indent=1), found["repeat"], [], name)
        os.remove(report)
        return {"executions": told["runs"], "processor_s": done.processor_s, "next": seed + 1}


class CacheKills(Search):
    """Processes that are killed while they write the cache: scripts/campaign/cache_kills.py."""

    def __init__(self, options):
        super().__init__(options, "cache-kills", 0.2)

    def run(self, seconds, memory, findings, stop):
        seed, rounds = memory.get("next", 1), 10
        command = ["python3", "scripts/campaign/cache_kills.py", "--bin", self.options.bin, "--rounds", str(rounds), "--seed", str(seed)]
        done = Run(command, stop, 900)
        if stop.is_set():
            return {"processor_s": done.processor_s}
        if done.status != 0:
            findings.add(self.name, done.output, shlex.join(command))
        return {"executions": rounds, "processor_s": done.processor_s, "next": seed + 1}


class XlaOptimized(Search):
    """Random JAX programs as XLA optimizes them: scripts/xla/xla_optimized_peer.py."""

    def __init__(self, options):
        super().__init__(options, "xla-optimized", 1.0)

    def run(self, seconds, memory, findings, stop):
        script, first, count = "scripts/xla/xla_optimized_peer.py", memory.get("next", 100_000), 20
        if not os.path.exists(script) or not os.path.exists(self.options.jax):
            raise OSError(f"{script} or its --jax is missing")
        executions, processor, end = 0, 0.0, time.monotonic() + seconds
        while time.monotonic() < end and not stop.is_set():
            command = [self.options.jax, script, "--bin", self.options.bin, "--first", str(first), "--count", str(count)]
            with tempfile.TemporaryDirectory(prefix="hlokit_campaign_") as kept:
                done = Run([*command, "--keep", kept], stop, 1800)
                if stop.is_set():
                    break
                if done.status in (2, 77):  # bad usage; no jaxlib
                    raise OSError(done.output[-300:])
                for path in sorted(glob.glob(os.path.join(kept, "*.hlo"))):
                    findings.add(self.name, done.output, f"{shlex.join(command)}  # INPUT", [path, path[:-4] + ".npz"],
                                 "_".join(os.path.basename(path).split(".")[:2]))
            first, executions, processor = first + count, executions + count, processor + done.processor_s
        return {"executions": executions, "processor_s": processor, "next": first, "note": f"seeds to {first - 1}"}


def lines_of(command):
    """What a tool prints; nothing where it has no such flag."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except OSError:
        return []
    return done.stdout.split("\n") if done.returncode == 0 else []


def all_searches(options):
    stages = [line.split()[0] for line in lines_of([os.path.join(options.bin, "hlo-gen"), "--list-stages"]) if line.strip()]
    help_text = "\n".join(lines_of([os.path.join(options.bin, "hlo-run"), "--help"]))
    searches = [Fuzz(options, target) for target in FUZZ_TARGETS] + [Replay(options, target) for target in FUZZ_TARGETS]
    searches += [RandomModules(options, stage, False) for stage in stages or [""]]
    if "--sanitize" in help_text:
        searches += [RandomModules(options, stage, True) for stage in stages or [""]]
    return searches + [PassLists(options), Faults(options), CacheKills(options), XlaOptimized(options)]
# SPDX-License-Identifier: Apache-2.0
