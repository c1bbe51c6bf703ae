// Functions of the driver that hlokit itself does not call, but that other programs do: Triton, or
// whatever loads libcuda.so.1. Names, values and meanings are those of NVIDIA's "CUDA Driver API".
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda_api/cuda_api.h"

namespace hlokit::cuda {

inline constexpr Result kNoBinaryForGpu = 209;

// CUfunction_attribute.
inline constexpr int kFunctionMaxThreads = 0;
inline constexpr int kFunctionSharedBytes = 1;
inline constexpr int kFunctionLocalBytes = 3;
inline constexpr int kFunctionRegisters = 4;

// CUlaunchConfig and what it points to.
struct LaunchAttribute {
  int id;
  int padding;
  unsigned char value[64];
};
inline constexpr int kAttributeClusterDimension = 4;
struct LaunchConfig {
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

// cuLaunchKernel with clusters of blocks.
Result LaunchClusters(Function function, const unsigned grid[3], const unsigned block[3],
                      const unsigned cluster[3], unsigned shared_bytes, void** parameters,
                      void** extra);

// A launch's parameters, read now for later launches by LaunchStored.
std::vector<std::byte> StoredParameters(Function function, void** parameters);
Result LaunchStored(Function function, const unsigned grid[3], const unsigned block[3],
                    unsigned shared_bytes, std::vector<std::byte>& parameters);

// What tensor maps of tiles and of im2col are both made of.
struct TensorMapArguments {
  int type;  // CUtensorMapDataType
  unsigned rank;
  DeviceAddress address;
  const uint64_t *dims, *strides;  // elements; bytes, of dimensions 1, 2, ...
  const unsigned* element_strides;
  int interleave, swizzle, fill;
};

extern "C" {
#define HLOKIT_CUDA_FUNCTION(name, parameters) Result name parameters;
#include "ptxsim/driver/client_functions.def"
#undef HLOKIT_CUDA_FUNCTION
}

}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
