"""Textures and surfaces of the CUDA driver by ctypes, as ptx_cases_textures.py describes them: arrays, their contents, objects."""
import ctypes
import numpy as np

u, i32, size, f32, ptr, address = ctypes.c_uint, ctypes.c_int, ctypes.c_size_t, ctypes.c_float, ctypes.c_void_p, ctypes.c_uint64


class Array3D(ctypes.Structure):
    _fields_ = [("width", size), ("height", size), ("depth", size), ("format", i32), ("channels", u), ("flags", u)]


class Copy3D(ctypes.Structure):
    _fields_ = [("from_x", size), ("from_y", size), ("from_z", size), ("from_level", size), ("from_type", i32), ("from_host", ptr), ("from_device", address), ("from_array", ptr), ("reserved0", ptr),
                ("from_pitch", size), ("from_height", size), ("to_x", size), ("to_y", size), ("to_z", size), ("to_level", size), ("to_type", i32), ("to_host", ptr), ("to_device", address),
                ("to_array", ptr), ("reserved1", ptr), ("to_pitch", size), ("to_height", size), ("width_bytes", size), ("height", size), ("depth", size)]


class Linear(ctypes.Structure):
    _fields_ = [("address", address), ("format", i32), ("channels", u), ("bytes", size)]


class Pitched(ctypes.Structure):
    _fields_ = [("address", address), ("format", i32), ("channels", u), ("width", size), ("height", size), ("pitch", size)]


class Resource(ctypes.Union):
    _fields_ = [("array", ptr), ("linear", Linear), ("pitched", Pitched), ("reserved", i32 * 32)]


class ResourceDescriptor(ctypes.Structure):
    _fields_ = [("type", i32), ("resource", Resource), ("flags", u)]


class TextureDescriptor(ctypes.Structure):
    _fields_ = [("address", i32 * 3), ("filter", i32), ("flags", u), ("anisotropy", u), ("mip_filter", i32), ("bias", f32), ("least", f32), ("most", f32), ("border", f32 * 4), ("reserved", i32 * 12)]


HOST, ARRAY = 1, 3


def extents(spec):
    return [max(1, n) for n in spec["size"]]


class TextureOf:
    """The object of a spec: `handle`, and what to read back."""

    def __init__(self, driver, spec, pool):
        self.driver, self.spec, self.memory = driver, spec, None
        texel = spec["bytes"] * spec["channels"]
        resource, self.handle = ResourceDescriptor(), ctypes.c_uint64()
        ctypes.memset(ctypes.byref(resource), 0, ctypes.sizeof(resource))
        self.array, self.levels, raw = ctypes.c_void_p(), [], pool.view(np.uint32).reshape(-1, 2)[:, 0].copy().tobytes()
        width, height, depth = extents(spec)
        if spec["kind"] == "array":
            described = Array3D(*spec["size"], spec["format"], spec["channels"], spec["flags"])
            if spec["levels"] > 1:
                driver.check("cuMipmappedArrayCreate", ctypes.byref(self.array), ctypes.byref(described), spec["levels"])
                for level in range(spec["levels"]):
                    one = ctypes.c_void_p()
                    driver.check("cuMipmappedArrayGetLevel", ctypes.byref(one), self.array, level)
                    self.copy(one, raw[1024 * level:], [max(1, n >> level) for n in extents(spec)], True)
            else:
                driver.check("cuArray3DCreate_v2", ctypes.byref(self.array), ctypes.byref(described))
                self.copy(self.array, raw, extents(spec), True)
            resource.type, resource.resource.array = (1 if spec["levels"] > 1 else 0), self.array
        else:
            self.memory = driver.upload(np.frombuffer(raw[:1 << 16], np.uint8))
            if spec["kind"] == "linear":
                resource.type, resource.resource.linear = 2, Linear(self.memory, spec["format"], spec["channels"], width * texel)
            else:
                resource.type, resource.resource.pitched = 3, Pitched(self.memory, spec["format"], spec["channels"], width, height, 512)
        if spec.get("surface"):
            driver.check("cuSurfObjectCreate", ctypes.byref(self.handle), ctypes.byref(resource))
            return
        texture = TextureDescriptor((i32 * 3)(*spec["address"]), spec["filter"], spec["read"], 0, spec["mip_filter"], spec["bias"], spec["clamp"][0], spec["clamp"][1], (f32 * 4)(*spec["border"]))
        driver.check("cuTexObjectCreate", ctypes.byref(self.handle), ctypes.byref(resource), ctypes.byref(texture), None)

    def copy(self, array, raw, size, into):
        texel = self.spec["bytes"] * self.spec["channels"]
        pitch = size[0] * texel
        if into:
            raw = raw[:pitch * size[1] * size[2]]
        buffer = ctypes.create_string_buffer(raw, pitch * size[1] * size[2])
        copy = Copy3D()
        ctypes.memset(ctypes.byref(copy), 0, ctypes.sizeof(copy))
        copy.from_type, copy.to_type = (HOST, ARRAY) if into else (ARRAY, HOST)
        if into:
            copy.from_host, copy.from_pitch, copy.from_height, copy.to_array = ctypes.addressof(buffer), pitch, size[1], array
        else:
            copy.to_host, copy.to_pitch, copy.to_height, copy.from_array = ctypes.addressof(buffer), pitch, size[1], array
        copy.width_bytes, copy.height, copy.depth = pitch, size[1], size[2]
        self.driver.check("cuMemcpy3D_v2", ctypes.byref(copy))
        return buffer.raw

    def read_back(self):
        raw = self.copy(self.array, b"", extents(self.spec), False)
        return np.frombuffer(raw + bytes(-len(raw) % 4), np.uint32).copy()

    def destroy(self):
        self.driver.check("cuSurfObjectDestroy" if self.spec.get("surface") else "cuTexObjectDestroy", self.handle)
        if self.memory is not None:
            self.driver.check("cuMemFree_v2", self.memory)
        else:
            self.driver.check("cuMipmappedArrayDestroy" if self.spec["levels"] > 1 else "cuArrayDestroy", self.array)
# SPDX-License-Identifier: Apache-2.0
