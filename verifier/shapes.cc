// Shapes: sizes and layouts by themselves, and each instruction's inference against the shape that
// it states.
#include "ops/dim_lists.h"
#include "ops/op_table.h"
#include "verifier/verifier_internal.h"

namespace hlokit {
namespace {

// [shape-c1] no unbounded dimension unless allowed, [shape-c2] a size in bytes that fits 64 bits,
// [shape-c3] a layout that is a permutation of the dimensions. Returns what is wrong, or an empty
// text.
std::string ProblemOf(const Shape& array, const VerifyOptions& options, absl::string_view& label) {
  if (array.HasUnboundedDims()) {
    if (options.allow_unbounded) return "";
    label = "shape-c1";
    return absl::StrCat("dimension of unknown size in ", Text(array));
  }
  if (array.ElementCount() > std::numeric_limits<int64_t>::max() / 16) {
    label = "shape-c2";
    return absl::StrCat("too many elements in ", Text(array));
  }
  if (array.has_layout) {
    const DimVector order(array.layout.minor_to_major.begin(), array.layout.minor_to_major.end());
    label = "shape-c3";
    if (!IsPermutation(order, array.rank()))
      return absl::StrCat("layout ", ListText(order), " is not a permutation of the dimensions of ",
                          Text(array));
  }
  return "";
}

void CheckShape(VerifyRun& run, const Instruction& i, const Shape& shape) {
  for (const Shape& element : shape.elements) CheckShape(run, i, element);
  if (!shape.IsArray()) return;
  absl::string_view label;
  const std::string problem = ProblemOf(shape, run.options, label);
  if (!problem.empty()) run.Error(i, label, problem);
}

}  // namespace

void CheckShapes(VerifyRun& run) {
  run.ForEachInstruction([&](const Instruction& i) {
    CheckShape(run, i, i.shape());
    const absl::StatusOr<Shape> inferred = InferShape(i);
    if (!inferred.ok()) {
      run.Error(i, inferred.status());
      run.broken[i.id()] = 1;
    } else if (!Compatible(*inferred, i.shape())) {
      run.Error(i, absl::StrCat(Text(i.opcode()), "-c99"), "expects ", Text(*inferred),
                " as result, found ", Text(i.shape()));
      run.broken[i.id()] = 1;
    }
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
