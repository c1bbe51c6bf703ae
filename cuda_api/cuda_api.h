// The part of the CUDA driver's C interface that hlokit calls and that its simulator implements,
// declared here so that no CUDA header is needed. Names, values and meanings are those of NVIDIA's
// "CUDA Driver API" reference; handles are opaque.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hlokit::cuda {

using Device = int;
using DeviceAddress = uint64_t;
using Context = struct ContextHandle*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;
using Stream = struct StreamHandle*;
using Event = struct EventHandle*;
using Graph = struct GraphHandle*;
using GraphNode = struct GraphNodeHandle*;
using GraphExec = struct GraphExecHandle*;
using GraphCondition = uint64_t;  // what conditional nodes read

// CUresult.
using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidValue = 1;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kNotInitialized = 3;
inline constexpr Result kNoDevice = 100;
inline constexpr Result kInvalidDevice = 101;
inline constexpr Result kInvalidContext = 201;
inline constexpr Result kInvalidPtx = 218;
inline constexpr Result kInvalidHandle = 400;
inline constexpr Result kNotFound = 500;
inline constexpr Result kIllegalAddress = 700;
inline constexpr Result kLaunchFailed = 719;
inline constexpr Result kNotSupported = 801;
inline constexpr Result kUnknown = 999;

// CUdevice_attribute.
inline constexpr int kMaxThreadsPerBlock = 1;
inline constexpr int kMaxSharedMemoryPerBlock = 8;
inline constexpr int kWarpSize = 10;
inline constexpr int kMultiprocessorCount = 16;
inline constexpr int kComputeCapabilityMajor = 75;
inline constexpr int kComputeCapabilityMinor = 76;

// CUfunction_attribute.
inline constexpr int kMaxDynamicSharedBytes = 8;

// CUjit_option.
inline constexpr int kJitErrorLogBuffer = 5;
inline constexpr int kJitErrorLogBufferBytes = 6;

// CUgraphNodeType, CUgraphConditionalNodeType, CUmemorytype.
inline constexpr int kKernelNode = 0, kCopyNode = 1, kConditionalNode = 13;
inline constexpr int kIfNode = 0, kWhileNode = 1;
inline constexpr int kDeviceMemory = 2;

// CUgraphEdgeData. From port 1, of type 1: the node may start when all blocks of the kernel before
// it have executed griddepcontrol.launch_dependents, and waits for its end by griddepcontrol.wait.
struct GraphEdge {
  unsigned char from_port, to_port, type;
  unsigned char reserved[5];
};

// CUDA_KERNEL_NODE_PARAMS_v3.
struct KernelNodeParams {
  Function function;
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  void** parameters;
  void** extra;
  void* kernel;
  Context context;
};
// One side of a CUDA_MEMCPY3D.
struct CopySide {
  size_t x_bytes, y, z, lod;
  int memory_type;
  const void* host;
  DeviceAddress device;
  void *array, *reserved;
  size_t pitch, height;
};
// CUDA_MEMCPY_NODE_PARAMS.
struct CopyNodeParams {
  int flags, reserved;
  Context context;
  CopySide from, to;
  size_t width_bytes, height, depth;
};
// CUDA_CONDITIONAL_NODE_PARAMS: `bodies` is written by the driver.
struct ConditionalNodeParams {
  GraphCondition condition;
  int type;
  unsigned body_count;
  Graph* bodies;
  Context context;
};
// CUgraphNodeParams.
struct GraphNodeParams {
  int type;
  int reserved[3];
  union {
    long long bytes[29];
    KernelNodeParams kernel;
    CopyNodeParams copy;
    ConditionalNodeParams conditional;
  };
  long long reserved_end;
};
static_assert(sizeof(GraphNodeParams) == 256 && sizeof(KernelNodeParams) == 72 &&
              sizeof(CopyNodeParams) == 216);

extern "C" {
#define HLOKIT_CUDA_FUNCTION(name, parameters) Result name parameters;
#include "cuda_api/functions.def"
#include "cuda_api/graph_functions.def"
#undef HLOKIT_CUDA_FUNCTION
}

}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
