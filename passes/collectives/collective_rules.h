// Local rewrites of collectives, each a pass of XLA's.
#pragma once

#include "passes/pass.h"

namespace hlokit {

// all-reduce-simplifier: an all-reduce within groups of one device is its operand; of a constant it
// is the constant (maximum, minimum, and, or) or a multiple of it (add). Exact for integers.
std::unique_ptr<Pass> CreateAllReduceSimplifier();
// all-gather-simplifier: an all-gather within groups of one device is its operand. Exact.
std::unique_ptr<Pass> CreateAllGatherSimplifier();
// all-gather-dynamic-slice-simplifier: a dynamic-slice that takes a device's own part out of what
// it has gathered becomes that part. Exact.
std::unique_ptr<Pass> CreateAllGatherDynamicSliceSimplifier();
// all-gather-bcast-reorder: an all-gather of a broadcast becomes a broadcast of an all-gather,
// which moves less. Exact.
std::unique_ptr<Pass> CreateAllGatherBroadcastReorder();
// all-reduce-folder: an all-reduce of an all-reduce whose groups make up larger groups becomes one.
// Reassociates floats.
std::unique_ptr<Pass> CreateAllReduceFolder();
// all-reduce-splitter: a slice of an all-reduce over all devices that several of them share becomes
// an all-reduce over one device of each slice, the slice, and an all-reduce over those that share
// it, which moves less. Reassociates floats.
std::unique_ptr<Pass> CreateAllReduceSplitter();
// all-reduce-reassociate, reduce-scatter-reassociate: a combination of two of them, read by nothing
// else, becomes one of the combination. Reassociates floats.
std::unique_ptr<Pass> CreateAllReduceReassociate();
std::unique_ptr<Pass> CreateReduceScatterReassociate();
// all-reduce-contiguous: an all-reduce of several arrays becomes one of their concatenation. Exact.
std::unique_ptr<Pass> CreateAllReduceContiguous();
// collective-transformation-reorderer: a reshape that only an all-gather or all-reduce reads, and
// that leaves the gathered dimension as it is, moves behind it. Exact.
std::unique_ptr<Pass> CreateCollectiveTransformationReorderer();
// collective-quantizer: a conversion to a narrower type moves before the all-gather, all-to-all,
// collective-permute or collective-broadcast that it is the only reader of. Exact.
std::unique_ptr<Pass> CreateCollectiveQuantizer();
// reorder-convert-reduce-add: a conversion to a wider type moves before the all-reduce or
// reduce-scatter that it is the only reader of. Rounds less.
std::unique_ptr<Pass> CreateReorderConvertReduceAdd();
// reorder-reduce-transpose: a transpose moves before the reduce-scatter that it is the only reader
// of. Exact.
std::unique_ptr<Pass> CreateReorderReduceTranspose();

// reduce-scatter-creator: a device's own part of an all-reduce over its group, which nothing else
// reads, comes from a reduce-scatter. Exact.
std::unique_ptr<Pass> CreateReduceScatterCreator();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
