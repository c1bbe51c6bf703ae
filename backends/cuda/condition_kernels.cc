// cudaGraphSetConditional is declared only: the driver has it.
#include "backends/cuda/condition_kernels.h"

namespace hlokit {

const char kConditionKernels[] = R"(.version 7.0
.target sm_70
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 condition, .param .b32 value);

.visible .entry set_condition(.param .u64 condition, .param .u64 selector, .param .u32 bytes, .param .u32 number, .param .u32 count)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<8>;
  .reg .pred %p<4>;
  ld.param.u64 %rd1, [condition];
  ld.param.u64 %rd2, [selector];
  ld.param.u32 %r1, [bytes];
  ld.param.u32 %r2, [number];
  ld.param.u32 %r3, [count];
  setp.eq.u32 %p1, %r1, 1;
  @%p1 bra PREDICATE;
  ld.global.u32 %r4, [%rd2];
  sub.u32 %r5, %r3, 1;
  min.u32 %r4, %r4, %r5;
  bra CHOSEN;
PREDICATE:
  ld.global.u8 %r4, [%rd2];
  setp.eq.u32 %p2, %r4, 0;
  selp.u32 %r4, 1, 0, %p2;
CHOSEN:
  setp.eq.u32 %p3, %r4, %r2;
  selp.u32 %r6, 1, 0, %p3;
  {
  .param .b64 c;
  .param .b32 v;
  st.param.b64 [c], %rd1;
  st.param.b32 [v], %r6;
  call.uni cudaGraphSetConditional, (c, v);
  }
  ret;
}
)";

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
