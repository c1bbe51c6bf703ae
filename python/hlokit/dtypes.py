# SPDX-License-Identifier: Apache-2.0
"""Element types of HLO and dtypes of numpy and ml_dtypes, both ways."""
import re

import numpy as np

from ._native import Error

# HLO's element types and numpy's; those of ml_dtypes where it is installed.
_TYPES = {"pred": "bool", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8", "u16": "uint16",
          "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64",
          "c128": "complex128"}
_ML_TYPES = {"bf16": "bfloat16", "s4": "int4", "u4": "uint4", "s2": "int2", "u2": "uint2", "f8e4m3fn": "float8_e4m3fn",
             "f8e5m2": "float8_e5m2", "f8e4m3": "float8_e4m3", "f8e3m4": "float8_e3m4", "f8e4m3fnuz": "float8_e4m3fnuz",
             "f8e5m2fnuz": "float8_e5m2fnuz", "f8e4m3b11fnuz": "float8_e4m3b11fnuz", "f8e8m0fnu": "float8_e8m0fnu",
             "f4e2m1fn": "float4_e2m1fn"}
ARRAY = re.compile(r"(\w+)\[([\d,<=]*)\]")


def dtype_of(element_type):
    if element_type in _TYPES:
        return np.dtype(_TYPES[element_type])
    if element_type in _ML_TYPES:
        import ml_dtypes  # pylint: disable=import-outside-toplevel

        return np.dtype(getattr(ml_dtypes, _ML_TYPES[element_type]))
    raise Error(f"arrays of {element_type} have no equal in numpy")


def element_type(dtype):
    """HLO's name of a dtype of numpy or ml_dtypes."""
    for element, name in (_TYPES | _ML_TYPES).items():
        if np.dtype(dtype).name == name:
            return element
    raise Error(f"HLO has no arrays of {dtype}")


def array_shape(text):
    """The dtype and the dimensions of `f32[2,3]{1,0}`; raises Error where the text says something else."""
    found = ARRAY.match(text)
    if not found:
        raise Error(f"{text} is no array")
    return dtype_of(found[1]), tuple(int(size.lstrip("<=")) for size in found[2].split(",") if size)
