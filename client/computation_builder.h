// ComputationBuilder: the oldest form of the builder, every operation a method of it.
//
//   ComputationBuilder builder(ClientLibrary::ClientLibraryOrDie(), "axpy");
//   auto alpha = builder.Parameter(0, Shape::Scalar(ElementType::kF32), "alpha");
//   ...
//   builder.Add(builder.Mul(alpha, x), y);
//   std::unique_ptr<XlaComputation> axpy = builder.Build().value();
#pragma once

#include <memory>
#include <string>

#include "builder/builder.h"
#include "client/client.h"

namespace hlokit {

// XlaOp by its older name.
using ComputationDataHandle = XlaOp;

// XlaBuilder with the older names and forms; what XlaBuilder has, it has too. Differences: Map
// takes no dimensions, Dot is numpy's, several infeeds must be ordered by data, Build gives a
// pointer. Source: the ComputationBuilder interface.
class ComputationBuilder : public XlaBuilder {
 public:
  // `client` computes constants; it must outlive the builder.
  ComputationBuilder(Client* client, std::string computation_name);

  // Dimension numbers of 2-D convolutions, as the functions below make them.
  static constexpr int64_t kConvBatchDimension = 0;
  static constexpr int64_t kConvFeatureDimension = 1;
  static constexpr int64_t kConvFirstSpatialDimension = 2;
  static constexpr int64_t kConvSecondSpatialDimension = 3;
  static constexpr int64_t kConvKernelOutputDimension = 0;
  static constexpr int64_t kConvKernelInputDimension = 1;
  static constexpr int64_t kConvKernelFirstSpatialDimension = 2;
  static constexpr int64_t kConvKernelSecondSpatialDimension = 3;
  static ConvolutionDimensionNumbers CreateDefaultConvDimensionNumbers();
  // Input and result share their numbers. Errors: InvalidArgument where two of the input's four, or
  // of the kernel's, are the same.
  static absl::StatusOr<ConvolutionDimensionNumbers> CreateConvDimensionNumbers(
      int64_t batch, int64_t feature, int64_t first_spatial, int64_t second_spatial,
      int64_t kernel_output_feature, int64_t kernel_input_feature, int64_t kernel_first_spatial,
      int64_t kernel_second_spatial);

  // That of XlaBuilder, over some dimensions.
  using OpMethods::Map;
  // Over all dimensions; static operands are further whole arguments.
  XlaOp Map(OpSpan operands, const XlaComputation& computation, OpSpan static_operands = {},
            Where where = Where::current());
  // CustomCall by its older name.
  XlaOp CustomCallOp(const std::string& target, OpSpan operands, const Shape& shape,
                     Where where = Where::current());

  // Errors: as XlaBuilder::GetShape.
  absl::StatusOr<std::unique_ptr<Shape>> GetShape(XlaOp op) const;
  // The value of what needs no parameter, on the client's device; random numbers count as constant.
  // In `output_layout` where given. Errors: as XlaBuilder::ComputeConstant.
  absl::StatusOr<std::unique_ptr<GlobalData>> ComputeConstant(
      XlaOp op, const Layout* output_layout = nullptr) const;

  // As XlaBuilder has them, with pointers for results.
  std::unique_ptr<ComputationBuilder> CreateSubBuilder(std::string computation_name);
  absl::StatusOr<std::unique_ptr<XlaComputation>> Build();
  // Empty where an error was noted in the parent.
  std::unique_ptr<XlaComputation> BuildAndNoteError();
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
