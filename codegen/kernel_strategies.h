// Strategies: the ways in which kernels compute an expression. A target has an ordered list of
// them, its own and those declared here, and takes the first that applies:
//
//   constexpr KernelStrategy kStrategies[] = {
//       {"scatter", AddScatterKernels}, {"rows in vectors", AddRowKernels}, ...
//       {"elements", AddElementKernels}};
//   std::vector<Kernel> kernels = MakeKernels(fusion, in_place, target, kStrategies);
#pragma once

#include "absl/types/span.h"
#include "codegen/kernels.h"

namespace hlokit {

// What kernels are asked for.
struct KernelRequest {
  const Expression& expression;
  const InPlace& in_place;
  const TargetInfo& target;
};

struct KernelStrategy {
  const char* name;  // for readers of the list
  // Appends the kernels that compute the expression, to run one after the other; false, with
  // nothing appended, where the strategy does not apply. True with nothing appended: there is
  // nothing to compute.
  bool (*add_kernels)(const KernelRequest& request, std::vector<Kernel>& out);
};

// The kernels that compute `instruction`, each part of a fusion by the first strategy that applies.
// Preconditions: CanEmitKernels (analysis/emittable.h); the last strategy applies to every
// expression.
std::vector<Kernel> MakeKernels(const Instruction& instruction, const InPlace& in_place,
                                const TargetInfo& target,
                                absl::Span<const KernelStrategy> strategies);

// ---- Strategies of scalar code, for any target ----

// Loops over the elements of the roots, one for all roots of the same shape. Applies always.
bool AddElementKernels(const KernelRequest& request, std::vector<Kernel>& out);
// True for products of a matrix and a vector of up to eight elements, in the types that are
// computed in: AddElementKernels writes their sums out, so that no other kernel is faster.
bool IsShortMatrixVector(const Instruction& instruction);

// scatter and select-and-scatter roots: the base is copied (or lies there already), then the
// updates are combined with it in order.
bool AddScatterKernels(const KernelRequest& request, std::vector<Kernel>& out);
// The base of a scatter's result `leaf`: copied where it is a buffer of its own, computed where it
// is an expression; nothing where it lies in place.
void AddScatterBase(const KernelRequest& request, const Instruction* base, int64_t leaf,
                    std::vector<Kernel>& out);

// dynamic-update-slice roots: the untouched part is copied (or lies there already), then the window
// is written.
bool AddUpdateKernels(const KernelRequest& request, std::vector<Kernel>& out);

// concatenate roots: one loop an operand.
bool AddConcatenateKernels(const KernelRequest& request, std::vector<Kernel>& out);
// The same; `add_part` comes first for each operand, which begins at `start` of the concatenated
// dimension, and returns false where it adds no kernel. Up to `max_together` neighbours that read
// the same arrays are computed in one loop.
using AddPart = bool (*)(const Expression& expression, const Instruction* part, int64_t dimension,
                         int64_t start, std::vector<Kernel>& out);
bool AddConcatenateKernels(const KernelRequest& request, AddPart add_part, size_t max_together,
                           std::vector<Kernel>& out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
