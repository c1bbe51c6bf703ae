"""Dumps as XLA writes them (--xla_dump_to=DIR --xla_dump_hlo_pass_re=.*) as objects.

    dump = hlokit.Dump("/tmp/dump")
    for step in dump.passes:
        print(step.name, step.changed)
    print(dump.passes[3].diff())
"""
import difflib
import pathlib
import re

_STEP = re.compile(r"(?P<module>.+)\.(?P<number>\d{4,})\.(?P<pipeline>.+?)\.after_(?P<after>.+?)\.before_(?P<before>.+?)\.txt")
_WHOLE = re.compile(r"(?P<module>.+?)\.(?:\w+_)?(?P<when>before|after)_optimizations\.txt")


class DumpPass:
    """A pass of a dump: the module before and after it, read when first asked for."""

    def __init__(self, name, pipeline, before, after):
        self.name, self.pipeline, self.before_path, self.after_path = name, pipeline, before, after

    @property
    def before(self):
        from . import Module  # pylint: disable=import-outside-toplevel

        return Module.load(self.before_path)

    @property
    def after(self):
        from . import Module  # pylint: disable=import-outside-toplevel

        return Module.load(self.after_path)

    @property
    def changed(self):
        return self.before_path.read_text(encoding="utf-8") != self.after_path.read_text(encoding="utf-8")

    def diff(self, context=3):
        """The texts' difference as unified lines; empty where the pass changed nothing."""
        return unified(self.before_path.read_text(encoding="utf-8"), self.after_path.read_text(encoding="utf-8"),
                       self.before_path.name, self.after_path.name, context)

    def __repr__(self):
        return f"<hlokit.DumpPass {self.pipeline}/{self.name}>"


class Dump:
    """A folder of dumps. `modules` names them; `passes` are those of one, in order: of `module`, else of the first that has any."""

    def __init__(self, folder, module=None):
        self.folder = pathlib.Path(folder)
        if not self.folder.is_dir():
            raise FileNotFoundError(f"{folder} is no folder")
        steps, self.files = {}, {}
        for path in sorted(self.folder.iterdir()):
            if step := _STEP.fullmatch(path.name):
                steps.setdefault(step["module"], []).append((int(step["number"]), step["pipeline"], step["after"], path))
            elif whole := _WHOLE.fullmatch(path.name):
                self.files.setdefault(whole["module"], {})[whole["when"]] = path
        self.modules = sorted({*steps, *self.files})
        chosen = module if module is not None else next(iter(sorted(steps)), None)
        if module is not None and module not in self.modules:
            raise KeyError(f"{folder} has no module {module}; there are {', '.join(self.modules) or 'none'}")
        self.passes = []
        before = None
        for _, pipeline, after, path in sorted(steps.get(chosen, [])):
            if before is not None and after != "pipeline-start":
                self.passes.append(DumpPass(after, pipeline, before, path))
            before = path

    def __repr__(self):
        return f"<hlokit.Dump {self.folder}: {len(self.modules)} modules, {len(self.passes)} passes>"


def unified(before, after, before_name="before", after_name="after", context=3):
    return "\n".join(difflib.unified_diff(before.splitlines(), after.splitlines(), before_name, after_name, lineterm="", n=context))
# SPDX-License-Identifier: Apache-2.0
