"""Types of the package."""
import os
import pathlib
from typing import Any, Callable

import numpy as np

class Error(Exception):
    text: str
    file: str | None
    line: int | None
    column: int | None
    def __init__(self, text: str) -> None: ...

class Module:
    @classmethod
    def parse(cls, source: str | bytes, name: str = ...) -> Module: ...
    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Module: ...
    def diff(self, other: Module, context: int = ...) -> str: ...
    def verify(self) -> None: ...
    def passes(self, *names: str) -> Module: ...
    def compile(self, platform: str = ..., opt_level: int = ..., threads: int = ..., run_passes: bool = ...) -> Program: ...
    def __call__(self, *arrays: Any, platform: str = ...) -> np.ndarray | tuple[Any, ...]: ...

class Program:
    parameter_shapes: list[str]
    result_shape: str
    def __call__(self, *arrays: Any) -> np.ndarray | tuple[Any, ...]: ...

class DumpPass:
    name: str
    pipeline: str
    before_path: pathlib.Path
    after_path: pathlib.Path
    @property
    def before(self) -> Module: ...
    @property
    def after(self) -> Module: ...
    @property
    def changed(self) -> bool: ...
    def diff(self, context: int = ...) -> str: ...

class Dump:
    folder: pathlib.Path
    modules: list[str]
    files: dict[str, dict[str, pathlib.Path]]
    passes: list[DumpPass]
    def __init__(self, folder: str | os.PathLike[str], module: str | None = ...) -> None: ...

def from_jax(function: Callable[..., Any], *arguments: Any) -> Module: ...
# SPDX-License-Identifier: Apache-2.0
