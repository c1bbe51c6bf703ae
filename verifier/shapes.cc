// Shapes: sizes and layouts by themselves, and each instruction's inference against the shape that
// it states.
#include "ops/array_shape.h"
#include "ops/infer/op_table.h"
#include "verifier/verifier_internal.h"

namespace hlokit {
namespace {

void CheckShape(VerifyRun& run, const Instruction& i, const Shape& shape) {
  for (const Shape& element : shape.elements) CheckShape(run, i, element);
  const absl::Status status = CheckArrayShape(shape, run.options.allow_unbounded);
  if (!status.ok()) run.Error(i, LabelOf(status), status.message());
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
