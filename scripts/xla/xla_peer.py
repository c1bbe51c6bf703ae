"""What scripts share that hold hlokit to the real XLA of jaxlib: their command line, and XLA in a process of its own."""
import multiprocessing
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIPPED = 77


def arguments(parser, largest):
    """The command line, with --bin, --seed, --largest and paths (by default the corpus, else testdata); ends the script
    where there is no jaxlib."""
    parser.add_argument("--bin", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--largest", type=int, default=largest, help="bytes of a file at most")
    parser.add_argument("paths", nargs="*")
    options = parser.parse_args()
    try:
        from jaxlib import _hlo  # noqa: F401; here already, since each peer is a fork of this process
    except ImportError:
        print("skipped: no jaxlib")
        sys.exit(SKIPPED)
    corpora = [os.path.join(ROOT, "..", "shared", "corpus"), "/work/shared/corpus", os.path.join(ROOT, "testdata")]
    options.paths = options.paths or [next(path for path in corpora if os.path.isdir(path))]
    return options


def files_below(paths, largest):
    """The HLO files that `paths` name or hold, without empty ones and those of more bytes than `largest`."""
    found = []
    for path in paths:
        if os.path.isfile(path):
            found.append(path)
        for folder, _, names in os.walk(path):
            found += [os.path.join(folder, n) for n in names if n.endswith((".hlo", ".txt"))]
    return sorted(f for f in found if 0 < os.path.getsize(f) <= largest)


def _serve(connection, answer):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    from jaxlib import _hlo
    while True:
        connection.send(answer(_hlo, connection.recv()))


class Peer:
    """A process in which answer(_hlo, question) answers questions; XLA aborts on some, and another process takes over."""

    def __init__(self, answer):
        self.answer_with = answer
        self._start()

    def _start(self):
        self.connection, child = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=_serve, args=(child, self.answer_with), daemon=True)
        self.process.start()
        child.close()

    def ask(self, question):
        self.connection.send(question)

    def answer(self, seconds=None):
        """The answer to the oldest question; "aborts" where XLA died of it, "hangs" where it took more than `seconds`."""
        try:
            if self.connection.poll(seconds):
                return self.connection.recv()
            ending = "hangs"
        except (EOFError, ConnectionResetError):
            ending = "aborts"
        self.process.kill()
        self.process.join()
        self._start()
        return ending
# SPDX-License-Identifier: Apache-2.0
