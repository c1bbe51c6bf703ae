// The inner loops of Gemm for machines with AVX512.
#define HLOKIT_ISA isa_avx512
#define HLOKIT_VECTOR_BYTES 64
#define HLOKIT_ACCUMULATORS 28
#include "runtime/dot/gemm_kernels_internal.h"

namespace hlokit::HLOKIT_ISA {

constexpr GemmIsa kGemm = {MakeKernels<float>(), MakeKernels<double>(), MakeKernels<uint32_t>(),
                           MakeKernels<uint64_t>()};

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
