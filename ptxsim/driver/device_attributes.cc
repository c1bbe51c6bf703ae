// Rows of attribute, value: "CUDA Driver API", CUdevice_attribute, and NVIDIA's "H100 Tensor Core
// GPU Architecture".
#include "ptxsim/driver/device_attributes.h"

namespace hlokit::cuda {
namespace {

struct Row {
  int attribute, value;
};
constexpr Row kRows[] = {
    {1, 1024},         // threads a block
    {2, 1024},         // block x, y, z
    {3, 1024},         //
    {4, 64},           //
    {5, 2147483647},   // grid x, y, z
    {6, 65535},        //
    {7, 65535},        //
    {8, 48 << 10},     // shared memory of a block, bytes
    {9, 64 << 10},     // constant memory
    {10, 32},          // warp
    {11, 2147483647},  // pitch of copies
    {12, 65536},       // registers of a block
    {13, 1980000},     // clock, kHz
    {15, 1},           // copies beside kernels
    {16, 132},         // multiprocessors
    {17, 0},           // time limit of kernels
    {18, 0},           // integrated
    {19, 1},           // host memory can be mapped
    {20, 0},           // compute mode
    {31, 1},           // concurrent kernels
    {32, 1},           // error correction
    {33, 1},           // PCI bus, device
    {34, 0},           //
    {36, 2619000},     // memory clock, kHz
    {37, 5120},        // memory bus, bits
    {38, 50 << 20},    // second-level cache, bytes
    {39, 2048},        // threads of a multiprocessor
    {40, 3},           // copy engines
    {41, 1},           // unified addresses
    {50, 0},           // PCI domain
    {78, 1},           // stream priorities
    {81, 228 << 10},   // shared memory of a multiprocessor
    {82, 65536},       // its registers
    {83, 0},           // managed memory
    {95, 1},           // cooperative launches
    {97, 227 << 10},   // shared memory of a block, where it is asked for
    {106, 32},         // blocks of a multiprocessor
    {111, 1024},       // shared memory that is reserved for each block
    {115, 0},          // memory pools
    {120, 0},          // clusters of several blocks
    {127, 0},          // tensor maps
};

}  // namespace

std::optional<int> AttributeOfH100(int attribute) {
  for (const Row& row : kRows)
    if (row.attribute == attribute) return row.value;
  return std::nullopt;
}

}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
