"""Modules made in Python, operation by operation; shapes are inferred.

    b = hlokit.Builder("scores")
    x, w = b.parameter("f32[8,16]", "x"), b.parameter("f32[16,4]", "w")
    y = b.op("dot", x, w, lhs_contracting_dims=[1], rhs_contracting_dims=[0])
    total = b.op("reduce", y, b.constant(np.float32(0)), dimensions=[1], calls=[hlokit.reducer("add", "f32")])
    module = b.build(total)

Values take Python's operators (x + y, x * 2.0, -x), which broadcast as XLA's client library does: scalars and sizes of 1 stretch.
The first mistake raises hlokit.Error where it is made.
"""
import ctypes
import weakref

import numpy as np

from . import _native
from ._native import Error
from .dtypes import array_shape, element_type


class Value:
    """What an operation of a builder gives."""

    def __init__(self, builder, number):
        """Of the package's own; a builder's functions give values."""
        self.builder, self._number = builder, number

    @property
    def shape(self):
        """As HLO text has it, such as `f32[2,3]{1,0}`."""
        return _native.builder_shape(self.builder._handle, self._number).decode()

    def __repr__(self):
        return f"<hlokit.Value {self.shape}>"

    def __neg__(self):
        return self.builder.op("negate", self)


def _operator(opcode, swapped=False):
    def apply(self, other):
        left, right = (other, self) if swapped else (self, other)
        return self.builder.binary(opcode, left, right)

    return apply


for _name, _opcode in {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "mod": "remainder", "pow": "power",
                       "and": "and", "or": "or", "xor": "xor"}.items():
    setattr(Value, f"__{_name}__", _operator(_opcode))
    setattr(Value, f"__r{_name}__", _operator(_opcode, swapped=True))


def _attribute(name, value):
    """`dimensions={1,0}` of dimensions=[1, 0]; text stays as it is."""
    if isinstance(value, (list, tuple)):
        value = "{" + ",".join(str(v) for v in value) + "}"
    elif isinstance(value, bool):
        value = str(value).lower()
    return f"{name}={value}"


class Builder:
    """A computation in the making; `build` gives the module and may be called again later."""

    def __init__(self, name="computation"):
        self._handle = ctypes.c_void_p(_native.builder_create(name.encode()))
        weakref.finalize(self, _native.builder_free, self._handle)
        self._parameters = 0

    def _value(self, number):
        if number < 0:
            _native.builder_error(self._handle)
            raise Error("the builder has failed")
        return Value(self, number)

    def parameter(self, shape, name=None):
        """The next parameter, of a shape such as `f32[2,3]`."""
        number, self._parameters = self._parameters, self._parameters + 1
        return self._value(_native.builder_parameter(self._handle, number, shape.encode(), (name or f"p{number}").encode()))

    def constant(self, value, dtype=None):
        """An array of numpy, or what becomes one."""

        array = np.ascontiguousarray(np.asarray(value, dtype))
        shape = f"{element_type(array.dtype)}[{','.join(map(str, np.shape(value)))}]"
        return self._value(_native.builder_constant(self._handle, shape.encode(), array.ctypes.data, array.nbytes))

    def binary(self, opcode, left, right, broadcast_dimensions=None, attributes=None):
        """An elementwise function of two values; a number takes the other's element type. `broadcast_dimensions`: the dimension of the
        other operand for each of the one of lower rank. `attributes`: as HLO text has them, such as "direction=LT" of compare."""
        left, right = self._operand(left, right), self._operand(right, left)
        dims = broadcast_dimensions or []
        return self._value(_native.builder_binary(self._handle, opcode.encode(), left._number, right._number, (ctypes.c_int64 * len(dims))(*dims),
                                                  len(dims), attributes and attributes.encode()))

    def _operand(self, value, other):

        if isinstance(value, Value):
            if value.builder is not self:
                raise Error("a value of another builder")
            return value
        return self.constant(value, array_shape(other.shape)[0] if np.ndim(value) == 0 and isinstance(other, Value) else None)

    def op(self, opcode, *operands, shape=None, calls=(), **attributes):
        """Any operation but parameter and constant. `calls`: modules whose entries it calls, in the order of HLO text (a reducer; condition,
        then body). `shape`: of the result where operands and attributes do not tell it, as of reshape, convert, iota. Other keywords are
        attributes: dimensions=[0], direction="LT", slice="{[0:2]}"."""
        numbers = [self._operand(value, None)._number for value in operands]
        computations = [_native.made(_native.computation_from_text, str(module).encode()) for module in calls]
        text = ", ".join(_attribute(name, value) for name, value in attributes.items())
        operation = _native.Operation(ctypes.sizeof(_native.Operation), opcode.encode(), (ctypes.c_int64 * len(numbers))(*numbers), len(numbers),
                                      text.encode() or None, (ctypes.c_void_p * len(computations))(*computations), len(computations),
                                      shape and shape.encode())
        try:
            return self._value(_native.builder_operation(self._handle, ctypes.byref(operation)))
        finally:
            for computation in computations:
                _native.computation_free(computation)

    def build(self, root=None):
        """The module that returns `root`, or the last value."""
        from . import Module  # pylint: disable=import-outside-toplevel

        computation = _native.made(_native.builder_build, self._handle, -1 if root is None else root._number)
        try:
            return Module.parse(_native.taken_text(_native.computation_text, computation))
        finally:
            _native.computation_free(computation)


def reducer(opcode, element_type):
    """(T, T) -> T: what reduce, all-reduce, scatter and the like call."""
    b = Builder(opcode)
    left, right = b.parameter(f"{element_type}[]"), b.parameter(f"{element_type}[]")
    return b.build(b.binary(opcode, left, right))
# SPDX-License-Identifier: Apache-2.0
