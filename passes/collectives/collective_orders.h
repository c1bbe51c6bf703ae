// Transfers in places where fewer bytes move, or where more of them are alike.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// all-gather-to-collective-permute-simplifier. Matches a dynamic slice of an all-gather that takes,
// by a constant table over devices, the whole part of one device, each of another: leaves a
// collective-permute. Exact.
std::unique_ptr<Pass> CreateAllGatherToCollectivePermuteSimplifier();

// all-reduce-reduce-scatter-reorder. Matches a reduce-scatter of an all-reduce by one function,
// where it does not matter in which order their groups meet: reduces the parts only. Reassociates.
std::unique_ptr<Pass> CreateAllReduceReduceScatterReorder();

// sub-byte-collective-normalization: what moves four-bit values between devices without looking at
// them moves pairs of them as bytes. Exact.
std::unique_ptr<Pass> CreateSubByteCollectiveNormalization();

// canon-all-gather-for-cse: reshapes that an all-gather reads move behind it, so that those of one
// array become alike. Exact.
std::unique_ptr<Pass> CreateCanonicalizeAllGatherForCse();

// all-gather-pad-ds-simplifier: of a padded all-gather each device reads one other device's part,
// or padding alone: the part is sent, and a choice by the device takes padding. Exact.
std::unique_ptr<Pass> CreateAllGatherPadDsSimplifier();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
