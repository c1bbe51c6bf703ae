// The older forms in terms of XlaBuilder's.
#include "client/computation_builder.h"

#include <numeric>
#include <set>

#include "support/status.h"

namespace hlokit {

ComputationBuilder::ComputationBuilder(Client* client, std::string computation_name)
    : XlaBuilder(client, std::move(computation_name)) {
  set_require_ordered_infeeds(true);
}

ConvolutionDimensionNumbers ComputationBuilder::CreateDefaultConvDimensionNumbers() {
  return DefaultConvDimensionNumbers();
}

absl::StatusOr<ConvolutionDimensionNumbers> ComputationBuilder::CreateConvDimensionNumbers(
    int64_t batch, int64_t feature, int64_t first_spatial, int64_t second_spatial,
    int64_t kernel_output_feature, int64_t kernel_input_feature, int64_t kernel_first_spatial,
    int64_t kernel_second_spatial) {
  if (std::set<int64_t>{batch, feature, first_spatial, second_spatial}.size() != 4)
    return InvalidArgument("the input's dimensions ", batch, ", ", feature, ", ", first_spatial,
                           " and ", second_spatial, " are not distinct");
  if (std::set<int64_t>{kernel_output_feature, kernel_input_feature, kernel_first_spatial,
                        kernel_second_spatial}
          .size() != 4)
    return InvalidArgument("the kernel's dimensions ", kernel_output_feature, ", ",
                           kernel_input_feature, ", ", kernel_first_spatial, " and ",
                           kernel_second_spatial, " are not distinct");
  ConvolutionDimensionNumbers numbers;
  numbers.input_batch = numbers.output_batch = batch;
  numbers.input_feature = numbers.output_feature = feature;
  numbers.input_spatial = numbers.output_spatial = {first_spatial, second_spatial};
  numbers.kernel_output_feature = kernel_output_feature;
  numbers.kernel_input_feature = kernel_input_feature;
  numbers.kernel_spatial = {kernel_first_spatial, kernel_second_spatial};
  return numbers;
}

XlaOp ComputationBuilder::Map(OpSpan operands, const XlaComputation& computation,
                              OpSpan static_operands, Where where) {
  DimVector all;
  if (!operands.empty()) {
    const absl::StatusOr<Shape> shape = XlaBuilder::GetShape(operands[0]);
    if (!shape.ok()) return ReportError(shape.status(), where);
    all.resize(shape->rank());
    std::iota(all.begin(), all.end(), 0);
  }
  return hlokit::Map(this, operands, computation, all, static_operands, where);
}

XlaOp ComputationBuilder::CustomCallOp(const std::string& target, OpSpan operands,
                                       const Shape& shape, Where where) {
  return hlokit::CustomCall(this, target, operands, shape, "", false, where);
}

absl::StatusOr<std::unique_ptr<Shape>> ComputationBuilder::GetShape(XlaOp op) const {
  ASSIGN_OR_RETURN(Shape shape, XlaBuilder::GetShape(op));
  return std::make_unique<Shape>(std::move(shape));
}

absl::StatusOr<std::unique_ptr<GlobalData>> ComputationBuilder::ComputeConstant(
    XlaOp op, const Layout* output_layout) const {
  ASSIGN_OR_RETURN(Literal value, XlaBuilder::ComputeConstant(op, output_layout));
  return std::make_unique<GlobalData>(std::move(value), 0);
}

std::unique_ptr<ComputationBuilder> ComputationBuilder::CreateSubBuilder(
    std::string computation_name) {
  auto made = std::make_unique<ComputationBuilder>(client(), std::move(computation_name));
  AdoptSubBuilder(*made);
  return made;
}

absl::StatusOr<std::unique_ptr<XlaComputation>> ComputationBuilder::Build() {
  ASSIGN_OR_RETURN(XlaComputation built, XlaBuilder::Build());
  return std::make_unique<XlaComputation>(std::move(built));
}

std::unique_ptr<XlaComputation> ComputationBuilder::BuildAndNoteError() {
  return std::make_unique<XlaComputation>(XlaBuilder::BuildAndNoteError());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
