// The functions behind instructions.def, and those that they share.
#pragma once

#include "ptxsim/binder.h"
#include "ptxsim/block.h"

namespace hlokit::ptx {

#define HLOKIT_PTX_INSTRUCTION(mnemonic, bind, least, most, modifiers, types) void bind(Binder& b);
#include "ptxsim/instructions.def"
#undef HLOKIT_PTX_INSTRUCTION

// `flag` where `on`, else no flag.
inline uint32_t When(bool on, uint32_t flag) { return on ? flag : 0; }

// barrier.cluster, and isspacep.shared::cta.
void BindClusterBarrier(Binder& b);
void BindIsOwnShared(Binder& b);
// bar.warp.sync.
void BindWarpBarrier(Binder& b);
// Integer and half-precision forms of arithmetic.
void BindIntegerAdd(Binder& b);
void BindIntegerSub(Binder& b);
void BindIntegerMul(Binder& b);
void BindIntegerMad(Binder& b);
void BindIntegerDiv(Binder& b);
void BindIntegerMin(Binder& b);
void BindIntegerMax(Binder& b);
void BindIntegerNeg(Binder& b);
void BindIntegerAbs(Binder& b);
void BindReluOf(Binder& b);
void BindHalfAdd(Binder& b);
void BindHalfSub(Binder& b);
void BindHalfMul(Binder& b);
void BindHalfFma(Binder& b);
void BindHalfMinMax(Binder& b, bool max);
void BindHalfSign(Binder& b, bool abs);
void BindHalfEx2(Binder& b);
void BindHalfTanh(Binder& b);
// A column of f32 with the values of one of f16 or bf16; `flush`: subnormals as zeros.
uint32_t WidenHalf(Binder& b, uint32_t at, Type type, bool flush);

// Bytes of memory for a lane; null after a fault (out of bounds or misaligned).
std::byte* LaneMemory(const Op& op, Warp& warp, int lane, uint64_t address, int64_t size,
                      Space space, absl::string_view what);
// The same for all lanes of `mask` at once, at addresses[i] + offset; what the others get means
// nothing. False, and no fault, where a lane needs LaneMemory: memory of each thread, an access
// that is out of bounds or misaligned, lanes in several pieces of memory, somebody who watches.
bool ResolveLanes(Warp& warp, Space space, const uint64_t* addresses, int64_t offset, LaneMask mask,
                  int64_t size, bool is_store, std::byte** data);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
