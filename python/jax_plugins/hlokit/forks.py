"""What a forked child of a process with JAX may do: run programs that its parent compiled, not compile others.

JAX compiles on threads of jaxlib, which fork() leaves behind: a compile in the child, or the loading of a serialized program, would wait for
them for ever. Both are refused here.
"""
import os

MESSAGE = ("hlokit: this process was forked from one in which JAX runs, and jaxlib's threads, which compile, did not come along. Programs that "
           "the parent has compiled run here; others need a process that starts JAX itself (multiprocessing's start method 'spawn' or "
           "'forkserver', or a fork before the first use of JAX).")

_forked = False


def _after_fork():
    global _forked  # pylint: disable=global-statement
    from jax._src import xla_bridge  # pylint: disable=import-outside-toplevel

    _forked = _forked or bool(xla_bridge._backends)  # pylint: disable=protected-access


def install():
    """Refuses to compile in children. Nothing changes in a child that is forked before JAX starts."""
    from jax._src import compiler  # pylint: disable=import-outside-toplevel
    from jax._src.lib import _jax  # pylint: disable=import-outside-toplevel

    theirs = compiler.compile_or_get_cached
    load = _jax.Client.deserialize_executable

    def compile_or_get_cached(backend, *arguments, **keywords):
        if _forked and backend.platform == "hlokit":
            raise RuntimeError(MESSAGE)
        return theirs(backend, *arguments, **keywords)

    def deserialize_executable(self, *arguments, **keywords):
        if _forked and self.platform == "hlokit":
            raise RuntimeError(MESSAGE)
        return load(self, *arguments, **keywords)

    compiler.compile_or_get_cached = compile_or_get_cached
    _jax.Client.deserialize_executable = deserialize_executable
    os.register_at_fork(after_in_child=_after_fork)
# SPDX-License-Identifier: Apache-2.0
