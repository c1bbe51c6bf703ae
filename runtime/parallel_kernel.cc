// Kernels with arrays for arguments as bodies of parallel loops: one caller for each number of
// them, so that no kernel needs a function of its own that unpacks them.
#include <array>
#include <cstddef>
#include <utility>

#include "runtime/parallel.h"

namespace hlokit {
namespace {

struct KernelCall {
  void* kernel;
  void* const* arrays;
};

template <size_t>
using ArrayArgument = void*;

template <size_t... Array>
HlokitLoopBody CallerOf(std::index_sequence<Array...>) {
  return [](void* env, int64_t begin, int64_t end) {
    using Kernel = void (*)(ArrayArgument<Array>..., int64_t, int64_t);
    const auto* call = static_cast<const KernelCall*>(env);
    reinterpret_cast<Kernel>(call->kernel)(call->arrays[Array]..., begin, end);
  };
}

template <size_t... Count>
std::array<HlokitLoopBody, sizeof...(Count)> Callers(std::index_sequence<Count...>) {
  return {CallerOf(std::make_index_sequence<Count>())...};
}

}  // namespace
}  // namespace hlokit

extern "C" void hlokit_parallel_kernel(void* ctx, void* kernel, void* const* arrays, int64_t count,
                                       int64_t total, int64_t grain) {
  static const auto callers =
      hlokit::Callers(std::make_index_sequence<kHlokitMostKernelArrays + 1>());
  hlokit::KernelCall call{kernel, arrays};
  hlokit_parallel_for(ctx, callers[static_cast<size_t>(count)], &call, total, grain);
}
// SPDX-License-Identifier: Apache-2.0
