"""What a forked child of a process with JAX may do: run programs that its parent compiled, not compile others.

JAX compiles on threads of jaxlib, which fork() leaves behind: a compile in the child would wait for them for ever. It is refused here.
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

    theirs = compiler.compile_or_get_cached

    def compile_or_get_cached(backend, *arguments, **keywords):
        if _forked and backend.platform == "hlokit":
            raise RuntimeError(MESSAGE)
        return theirs(backend, *arguments, **keywords)

    compiler.compile_or_get_cached = compile_or_get_cached
    os.register_at_fork(after_in_child=_after_fork)
# SPDX-License-Identifier: Apache-2.0
