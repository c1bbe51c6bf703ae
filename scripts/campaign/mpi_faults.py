#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults of machines and networks under mpirun: every process ends in time and says what it waited for.

  mpi_faults.py --bin build/release/bin [--count 100] [--only REGEX] [--timeout 4] [--seed 1]

Each machine is a network namespace with an address of its own, joined by a bridge; mpirun reaches it through an agent in ssh's
place. All stands in namespaces of this script (network, mounts, processes), so that it touches nothing outside and whatever is
left over is seen: needs root, ip, mpirun; exit status 77 where it cannot have them.

A fault (kill, stop, Ctrl-C, lost link, lost host, full disk, another build, another module, ...) strikes one rank or machine at a
random moment of a run of many collectives. It passes where mpirun has ended within --timeout and some seconds, with a status
other than 0, has named the rank (or, with `slow`, where the run finishes with the right bits), and no process is left.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MACHINES = ("2", "3")
NETWORK = "10.77.0"
SLACK_S = 12  # the launcher's own: it starts agents, ends machines, waits for what it has ended
# mpirun and its daemons find out in seconds, not in minutes, that a line is cut (docs/distributed.md).
GIVE_UP = "echo 3 > /proc/sys/net/ipv4/tcp_retries2"
KEEPALIVE = {"oob_tcp_keepalive_time": 3, "oob_tcp_keepalive_intvl": 1, "oob_tcp_keepalive_probes": 3}
SUM = "sum { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
SMALL = "f32[1024]"
LARGE = "f32[1048576]"


def module(shape, collective):
    """A loop of collectives that runs for a minute or so, four devices."""
    groups = "replica_groups={{0,1,2,3}}, channel_id=1"
    text = {
        "all-reduce": f"all-reduce(x), {groups}, use_global_device_ids=true, to_apply=sum",
        "all-to-all": f"all-to-all(x), {groups}, dimensions={{0}}",
        "collective-permute": "collective-permute(x), source_target_pairs={{0,2},{2,1},{1,3},{3,0}}, channel_id=1",
    }[collective]
    return (f"HloModule m, num_partitions=4\n{SUM}"
            f"body {{ p = (s32[], {shape}) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
            f" x = {shape} get-tuple-element(p), index=1\n one = s32[] constant(1)\n n = s32[] add(i, one)\n"
            f" moved = {shape} {text}\n half = f32[] constant(0.25)\n halves = {shape} broadcast(half), dimensions={{}}\n"
            f" y = {shape} multiply(moved, halves)\n ROOT t = (s32[], {shape}) tuple(n, y) }}\n"
            f"condition {{ p = (s32[], {shape}) parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
            " end = s32[] constant(ROUNDS)\n ROOT c = pred[] compare(i, end), direction=LT }\n"
            f"ENTRY e {{ z = s32[] constant(0)\n x = {shape} parameter(0)\n t = (s32[], {shape}) tuple(z, x)\n"
            f" w = (s32[], {shape}) while(t), condition=condition, body=body\n ROOT r = {shape} get-tuple-element(w), index=1 }}\n")


MODULES = {
    "all-reduce, small": module(SMALL, "all-reduce"), "all-reduce": module(LARGE, "all-reduce"),
    "all-to-all": module(LARGE, "all-to-all"), "collective-permute": module(SMALL, "collective-permute"),
}


def sh(command, check=True):
    return subprocess.run(command, shell=True, check=check, capture_output=True, text=True)


def set_up():
    sh("mkdir -p /run/netns; mount -t tmpfs tmpfs /run/netns; ip link set lo up; ip link add br0 type bridge; "
       f"ip addr add {NETWORK}.1/24 dev br0; ip link set br0 up")
    for m in MACHINES:
        sh(f"ip netns add m{m} && ip link add v{m} type veth peer name e0 netns m{m} && ip link set v{m} master br0 up && "
           f"ip netns exec m{m} sh -c 'ip addr add {NETWORK}.{m}/24 dev e0; ip link set e0 up; ip link set lo up; {GIVE_UP}'")
    sh(GIVE_UP)


def mend(work):
    """Undoes what a fault has left."""
    for m in MACHINES:
        sh(f"ip link set v{m} up; tc qdisc del dev v{m} root; ip netns exec m{m} sh -c 'ip link set e0 up; tc qdisc del dev e0 root; "
           f"ip route flush type blackhole; ip neigh flush all'", check=False)
    for path in work.glob("before.*"):
        path.unlink()


def others():
    """Processes of this namespace but this one and its parents: (number, command line)."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) in (1, os.getpid()):
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if state != "Z" and command:
            found.append((int(entry.name), command.strip()))
    return found


def others_after(seconds):
    """Command lines of what is still there; as soon as nothing is."""
    limit = time.time() + seconds
    while others() and time.time() < limit:
        time.sleep(0.1)
    return [command for _, command in others()]


class Run:
    """One mpirun over the machines; `commands`: of each rank, `before`: shell words that a machine runs first."""

    def __init__(self, options, work, commands, before=None):
        self.hlo_run, self.work, self.options = options.hlo_run, work, options
        for m, words in (before or {}).items():
            (work / f"before.{m}").write_text(words + "\n")
        start = ["mpirun", "--allow-run-as-root", "--mca", "plm_rsh_agent", str(work / "agent"), "--mca", "btl", "tcp,self", "--mca", "pml", "ob1",
                 "--mca", "btl_base_warn_component_unused", "0"]
        for name, value in {"oob_tcp_if_include": f"{NETWORK}.0/24", "btl_tcp_if_include": f"{NETWORK}.0/24", **KEEPALIVE}.items():
            start += ["--mca", name, str(value)]
        for rank, command in enumerate(commands):
            start += [":"] if rank else []
            start += ["-np", "1", "-host", f"{NETWORK}.{MACHINES[rank]}", *map(str, command)]
        self.text = work / "output.txt"
        self.out = open(self.text, "w")
        self.begun = time.time()
        self.process = subprocess.Popen(start, stdout=self.out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

    def output(self):
        return self.text.read_text(errors="replace")

    def ranks(self):
        """Process numbers by machine."""
        found = {}
        for number, command in others():
            if not re.match(r"\S*hlo-run\S* ", command):
                continue
            try:
                environment = pathlib.Path(f"/proc/{number}/environ").read_bytes()
            except OSError:
                continue
            rank = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", environment)
            if rank:
                found[int(rank[1])] = number
        return found

    def wait_until_running(self):
        while time.time() < self.begun + 60 and self.process.poll() is None:
            if "rank  host" in self.output() and len(self.ranks()) == len(MACHINES):
                return self.traffic_grows()
            time.sleep(0.1)
        return False

    def traffic_grows(self):
        """Once collectives run: nothing else sends 200 KB after the table."""
        def sent():
            return int(re.search(rf"v{MACHINES[0]}: *(\d+)", pathlib.Path("/proc/net/dev").read_text())[1])
        at = sent()
        while time.time() < self.begun + 60 and self.process.poll() is None:
            if sent() > at + 200_000:
                return True
            time.sleep(0.1)
        return False

    def end(self, limit):
        try:
            return self.process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            return None

    def clear(self):
        self.out.close()
        for number, _ in others():
            try:
                os.kill(number, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()


# Faults that strike a running job: (what it does to rank r on machine m, what the output must name: any of these).
def rank_named(r):
    return [rf"ranks? (\d, )*{r}\b", rf"process name: \[\[\d+,1\],{r}\]"]


def to_rank(number):
    def strike(run, r, _):
        os.kill(run.ranks()[r], number)
    return strike


def lose_link(run, r, m):
    sh(f"ip link set v{m} down")


def lose_inside(run, r, m):
    sh(f"ip netns exec m{m} ip link set e0 down")


def lose_one_way(run, r, m):
    other = MACHINES[1 - r]
    sh(f"ip netns exec m{m} ip route add blackhole {NETWORK}.{other}/32")


def lose_host(run, r, m):
    sh(f"ip link set v{m} down")
    for number in sh(f"ip netns pids m{m}").stdout.split():
        os.kill(int(number), signal.SIGKILL)


def kill_daemon(run, r, m):
    for number in sh(f"ip netns pids m{m}").stdout.split():
        if b"orted" in pathlib.Path(f"/proc/{number}/cmdline").read_bytes():
            os.kill(int(number), signal.SIGKILL)


def interrupt_launcher(run, r, m):
    run.process.send_signal(signal.SIGINT)


def kill_launcher(run, r, m):
    run.process.send_signal(signal.SIGKILL)


WAITED = [r"device \d at (all-reduce|all-to-all|collective-permute) %moved", r"rank \d.* computing on device"]
STRIKES = {
    "SIGKILL": (to_rank(signal.SIGKILL), True), "SIGSTOP": (to_rank(signal.SIGSTOP), True), "SIGINT": (to_rank(signal.SIGINT), True),
    "SIGTERM": (to_rank(signal.SIGTERM), True), "SIGSEGV": (to_rank(signal.SIGSEGV), True), "SIGBUS": (to_rank(signal.SIGBUS), True),
    "lost link": (lose_link, True), "interface down": (lose_inside, True), "lost one way": (lose_one_way, True),
    "lost host": (lose_host, True), "killed daemon": (kill_daemon, False),
    "Ctrl-C": (interrupt_launcher, True), "killed launcher": (kill_launcher, False),
}


def strike_fault(name, options, work, rng):
    """The problems that the fault shows; empty: it ended as it should."""
    strike, waited = STRIKES[name]
    r = rng.randrange(2)
    text = rng.choice(sorted(MODULES))
    path = work / "m.hlo"
    path.write_text(MODULES[text].replace("ROUNDS", str(10**9)))
    run = Run(options, work, [[options.hlo_run, path, f"--timeout={options.timeout}"]] * 2)
    if not run.wait_until_running():
        return f"{text}, rank {r}", ["the job did not start"], run
    time.sleep(rng.uniform(0.6, 2))
    struck = time.time()
    strike(run, r, MACHINES[r])
    status = run.end(options.timeout + SLACK_S)
    took = time.time() - struck
    problems = []
    if status is None:
        problems.append(f"no end within {options.timeout + SLACK_S:g} s")
    elif status == 0:
        problems.append("exit status 0")
    left = others_after(SLACK_S)
    output = run.output()
    if name not in ("Ctrl-C", "killed launcher", "killed daemon") and not any(re.search(w, output, re.I) for w in rank_named(r)):
        problems.append(f"rank {r} is not named")
    if waited and not any(re.search(w, output) for w in WAITED):
        problems.append("no instruction is named")
    if left:
        problems.append(f"left over: {left[:4]}")
    return f"{text}, rank {r}, {took:.1f} s", problems, run


# Faults that stand there from the beginning: commands of both ranks, what runs before them on a machine, words that must be said.
def begin_fault(name, options, work, rng):
    r = rng.randrange(2)
    m = MACHINES[r]
    good, bad = work / "m.hlo", work / "bad.hlo"
    rounds = 2000
    good.write_text(MODULES["all-reduce, small"].replace("ROUNDS", str(rounds)))
    base = [options.hlo_run, good, f"--timeout={options.timeout}"]
    commands, before, words, ok = [list(base), list(base)], {}, rank_named(r), False
    full = work / "full"
    full.mkdir(exist_ok=True)
    small_disk = f"mount -t tmpfs -o size=16k tmpfs {full}; dd if=/dev/zero of={full}/fill bs=4k 2> /dev/null"
    if name == "another module":
        bad.write_text(MODULES["all-reduce, small"].replace("ROUNDS", str(rounds + 1)))
        commands[r][1], words = bad, ["another module"]
    elif name == "another build":
        other = work / "hlo-run-other"
        data = bytearray(options.hlo_run.read_bytes())
        number = bytes.fromhex(re.search(r"Build ID: (\w+)", sh(f"readelf -n {options.hlo_run}").stdout)[1])
        data[data.index(number)] ^= 1
        other.write_bytes(data)
        other.chmod(0o755)
        commands[r][0], words = other, ["another build of the program"]
    elif name == "other flags":
        commands[r].append("--platform=interpreter")
        words = ["other flags"]
    elif name == "missing file":
        commands[r][1], words = work / "none.hlo", ["none.hlo"]
    elif name == "text that does not parse":
        bad.write_text("HloModule m\nENTRY e { ROOT x = f32[] nothing() }\n")
        commands[r][1], words = bad, ["bad.hlo:2"]
    elif name == "missing input":
        commands[r].append(f"--input={work}/none.npz")
        words = ["none.npz"]
    elif name == "full disk, results":
        r, m = 0, MACHINES[0]
        for command in commands:
            command.append(f"--output={full}/o.npz")
        good.write_text(MODULES["all-reduce"].replace("ROUNDS", "3"))
        before[m], words = small_disk, ["full/o.npz", "No space left"]
    elif name == "full disk, dump":
        commands[r].append(f"--dump-to={full}/dump")  # of this rank alone
        before[m], words = small_disk, ["full/dump", "No space left"]
    elif name == "full disk, cache":  # a warning; the run goes on
        for command in commands:
            command.append(f"--cache-dir={full}/cache")
        before[m], words, ok = small_disk, ["--cache-dir", "No space left"], True
    elif name == "program missing":
        commands[r][0], words = work / "no-program", ["no-program"]
    elif name == "deadlock":
        bad.write_text(options.deadlock.read_text())
        commands = [[options.hlo_run, bad, f"--timeout={options.timeout}"]] * 2
        words = ["devices wait for one another for ever.*rank 0: device.*rank 1: device"]
    run = Run(options, work, commands, before)
    begun = time.time()
    status = run.end(options.timeout + SLACK_S + 15)
    took = time.time() - begun
    problems = []
    if status is None:
        problems.append("no end")
    elif (status == 0) != ok:
        problems.append(f"exit status {status}")
    left = others_after(SLACK_S)
    output = run.output()
    if not any(re.search(w, output, re.S) for w in words):
        problems.append(f"none of {words} is said")
    if name not in ("program missing", "full disk, cache") and not re.search(r"rank \d|rank: \d|rank 1", output):
        problems.append("no rank is named")
    if left:
        problems.append(f"left over: {left[:4]}")
    return f"rank {r}, {took:.1f} s", problems, run


BEGINNINGS = ["another module", "another build", "other flags", "missing file", "text that does not parse", "missing input",
              "full disk, results", "full disk, dump", "full disk, cache", "program missing", "deadlock"]


def slow_fault(name, options, work, rng):
    """A rank or a line that is slow, not dead: named, and waited for."""
    r = rng.randrange(2)
    path, out = work / "m.hlo", work / "out.npz"
    out.unlink(missing_ok=True)
    text = "all-reduce" if name == "slow line" else "all-reduce, small"
    path.write_text(MODULES[text].replace("ROUNDS", "6" if name == "slow line" else "2000"))
    run = Run(options, work, [[options.hlo_run, path, f"--timeout={options.timeout}", f"--output={out}"]] * 2)
    problems = []
    if not run.wait_until_running():
        return f"rank {r}", ["the job did not start"], run
    if name == "slow line":
        sh(f"tc qdisc add dev v{MACHINES[r]} root tbf rate 40mbit burst 64kbit latency 400ms")
    else:
        number = run.ranks().get(r)
        for _ in range(3):  # shorter than the timeout each time
            try:
                os.kill(number, signal.SIGSTOP)
                time.sleep(options.timeout * 0.6)
                os.kill(number, signal.SIGCONT)
            except (ProcessLookupError, TypeError):
                break
            time.sleep(0.3)
    status = run.end(90)
    if status != 0:
        problems.append(f"exit status {status}")
    elif not out.exists():
        problems.append("no results")
    left = others_after(SLACK_S)
    if left:
        problems.append(f"left over: {left[:4]}")
    return f"rank {r}", problems, run


SLOW = ["slow line", "slow rank"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", default="")
    parser.add_argument("--timeout", type=float, default=4)
    parser.add_argument("--first", type=int, default=0, help="number of the first fault, of those that --count counts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if os.geteuid() != 0 or not all(map(shutil.which, ("mpirun", "ip", "unshare", "tc", "readelf"))):
        return 77
    if not options.inside:
        command = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc"]
        if subprocess.run([*command, "true"], capture_output=True).returncode != 0:
            return 77
        return subprocess.run([*command, "--kill-child", sys.executable, *sys.argv, "--inside"]).returncode
    options.hlo_run = (options.bin / "hlo-run").resolve()
    options.deadlock = pathlib.Path(__file__).resolve().parents[2] / "testdata" / "backends" / "mpi_deadlock.hlo"
    names = [n for n in [*STRIKES, *BEGINNINGS, *SLOW] if re.search(options.only, n)]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        try:
            set_up()
        except subprocess.CalledProcessError as error:
            print(f"no network of namespaces here: {error.stderr.strip()}")
            return 77
        agent = work / "agent"
        agent.write_text(f"#!/bin/sh\nhost=${{1##*.}}; shift\nexec ip netns exec m$host unshare --uts --mount sh -c "
                         f"\"hostname m$host; [ ! -f {work}/before.$host ] || . {work}/before.$host; $*\"\n")
        agent.chmod(0o755)
        for k in range(options.first, options.count):
            name = names[k % len(names)]
            rng = random.Random(options.seed * 1000 + k)
            fault = strike_fault if name in STRIKES else slow_fault if name in SLOW else begin_fault
            what, problems, run = fault(name, options, work, rng)
            output = run.output()
            run.clear()
            mend(work)
            failed += bool(problems)
            print(f"{k:3} {'FAILED' if problems else 'ok':6} {name}: {what}{': ' + '; '.join(problems) if problems else ''}", flush=True)
            if problems:
                print("    " + "\n    ".join(output.strip().splitlines()[-25:]), flush=True)
    print(f"{options.count - options.first} faults, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
