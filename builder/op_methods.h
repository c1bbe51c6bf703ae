// Operations as methods of the builder, in the style of the older builders: builder.Add(x, y).
#pragma once

#include <string>

#include "builder/collectives.h"
#include "builder/communication.h"
#include "builder/constants.h"
#include "builder/control.h"
#include "builder/elementwise.h"
#include "builder/movement.h"
#include "builder/products.h"
#include "builder/random.h"
#include "builder/reductions.h"

namespace hlokit {

// Each method does what the function of its name does (see the header named above it), in this
// builder. Sources: the samples of XLA Operation Semantics, and the oldest builder.
class OpMethods {
 public:
  virtual ~OpMethods() = default;

  // ---- Functions of elements: elementwise.h ----
  XlaOp Abs(XlaOp operand, Where where = Where::current()) { return hlokit::Abs(operand, where); }
  XlaOp Ceil(XlaOp operand, Where where = Where::current()) { return hlokit::Ceil(operand, where); }
  XlaOp Floor(XlaOp operand, Where where = Where::current()) {
    return hlokit::Floor(operand, where);
  }
  XlaOp IsFinite(XlaOp operand, Where where = Where::current()) {
    return hlokit::IsFinite(operand, where);
  }
  XlaOp Not(XlaOp operand, Where where = Where::current()) { return hlokit::Not(operand, where); }
  XlaOp Neg(XlaOp operand, Where where = Where::current()) { return hlokit::Neg(operand, where); }
  XlaOp Sign(XlaOp operand, Where where = Where::current()) { return hlokit::Sign(operand, where); }
  XlaOp LogicalNot(XlaOp operand, Where where = Where::current()) {
    return hlokit::LogicalNot(operand, where);
  }
  XlaOp Cos(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
            Where where = Where::current()) {
    return hlokit::Cos(operand, accuracy, where);
  }
  XlaOp Exp(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
            Where where = Where::current()) {
    return hlokit::Exp(operand, accuracy, where);
  }
  XlaOp Log(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
            Where where = Where::current()) {
    return hlokit::Log(operand, accuracy, where);
  }
  XlaOp Rsqrt(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
              Where where = Where::current()) {
    return hlokit::Rsqrt(operand, accuracy, where);
  }
  XlaOp Sin(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
            Where where = Where::current()) {
    return hlokit::Sin(operand, accuracy, where);
  }
  XlaOp Sqrt(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
             Where where = Where::current()) {
    return hlokit::Sqrt(operand, accuracy, where);
  }
  XlaOp Tanh(XlaOp operand, const MaybeAccuracy& accuracy = std::nullopt,
             Where where = Where::current()) {
    return hlokit::Tanh(operand, accuracy, where);
  }
  XlaOp SqrtF32(XlaOp operand, Where where = Where::current()) {
    return hlokit::SqrtF32(operand, where);
  }
  XlaOp SquareF32(XlaOp operand, Where where = Where::current()) {
    return hlokit::SquareF32(operand, where);
  }
  XlaOp ReciprocalF32(XlaOp operand, Where where = Where::current()) {
    return hlokit::ReciprocalF32(operand, where);
  }
  XlaOp Add(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
            Where where = Where::current()) {
    return hlokit::Add(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp Sub(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
            Where where = Where::current()) {
    return hlokit::Sub(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp Mul(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
            Where where = Where::current()) {
    return hlokit::Mul(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp Div(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
            Where where = Where::current()) {
    return hlokit::Div(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp Rem(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
            Where where = Where::current()) {
    return hlokit::Rem(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp Max(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
            Where where = Where::current()) {
    return hlokit::Max(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp Min(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
            Where where = Where::current()) {
    return hlokit::Min(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp Pow(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
            Where where = Where::current()) {
    return hlokit::Pow(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp And(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
            Where where = Where::current()) {
    return hlokit::And(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp Or(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
           Where where = Where::current()) {
    return hlokit::Or(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp Xor(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
            Where where = Where::current()) {
    return hlokit::Xor(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp LogicalAnd(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
                   Where where = Where::current()) {
    return hlokit::LogicalAnd(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp LogicalOr(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
                  Where where = Where::current()) {
    return hlokit::LogicalOr(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp Eq(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
           Where where = Where::current()) {
    return hlokit::Eq(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp Ne(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
           Where where = Where::current()) {
    return hlokit::Ne(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp Ge(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
           Where where = Where::current()) {
    return hlokit::Ge(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp Gt(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
           Where where = Where::current()) {
    return hlokit::Gt(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp Le(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
           Where where = Where::current()) {
    return hlokit::Le(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp Lt(XlaOp lhs, XlaOp rhs, DimSpan broadcast_dimensions = {},
           Where where = Where::current()) {
    return hlokit::Lt(lhs, rhs, broadcast_dimensions, where);
  }
  XlaOp Clamp(XlaOp min, XlaOp operand, XlaOp max, Where where = Where::current()) {
    return hlokit::Clamp(min, operand, max, where);
  }
  XlaOp Select(XlaOp pred, XlaOp on_true, XlaOp on_false, Where where = Where::current()) {
    return hlokit::Select(pred, on_true, on_false, where);
  }
  XlaOp ConvertElementType(XlaOp operand, ElementType type, Where where = Where::current()) {
    return hlokit::ConvertElementType(operand, type, where);
  }

  // ---- Moving elements: movement.h ----
  XlaOp Broadcast(XlaOp operand, DimSpan sizes, Where where = Where::current()) {
    return hlokit::Broadcast(operand, sizes, where);
  }
  XlaOp BroadcastInDim(XlaOp operand, DimSpan out_sizes, DimSpan broadcast_dimensions,
                       Where where = Where::current()) {
    return hlokit::BroadcastInDim(operand, out_sizes, broadcast_dimensions, where);
  }
  XlaOp Reshape(XlaOp operand, DimSpan sizes, Where where = Where::current()) {
    return hlokit::Reshape(operand, sizes, where);
  }
  XlaOp Reshape(const Shape& shape, XlaOp operand, Where where = Where::current()) {
    return hlokit::Reshape(shape, operand, where);
  }
  XlaOp Reshape(XlaOp operand, DimSpan dimensions, DimSpan sizes, Where where = Where::current()) {
    return hlokit::Reshape(operand, dimensions, sizes, where);
  }
  XlaOp Collapse(XlaOp operand, DimSpan dimensions, Where where = Where::current()) {
    return hlokit::Collapse(operand, dimensions, where);
  }
  XlaOp Transpose(XlaOp operand, DimSpan permutation, Where where = Where::current()) {
    return hlokit::Transpose(operand, permutation, where);
  }
  XlaOp Trans(XlaOp operand, Where where = Where::current()) {
    return hlokit::Trans(operand, where);
  }
  XlaOp Rev(XlaOp operand, DimSpan dimensions, Where where = Where::current()) {
    return hlokit::Rev(operand, dimensions, where);
  }
  XlaOp Slice(XlaOp operand, DimSpan starts, DimSpan limits, DimSpan strides = {},
              Where where = Where::current()) {
    return hlokit::Slice(operand, starts, limits, strides, where);
  }
  XlaOp DynamicSlice(XlaOp operand, OpSpan starts, DimSpan sizes, Where where = Where::current()) {
    return hlokit::DynamicSlice(operand, starts, sizes, where);
  }
  XlaOp DynamicSlice(XlaOp operand, XlaOp starts, DimSpan sizes, Where where = Where::current()) {
    return hlokit::DynamicSlice(operand, starts, sizes, where);
  }
  XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, OpSpan starts,
                           Where where = Where::current()) {
    return hlokit::DynamicUpdateSlice(operand, update, starts, where);
  }
  XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, XlaOp starts,
                           Where where = Where::current()) {
    return hlokit::DynamicUpdateSlice(operand, update, starts, where);
  }
  XlaOp ConcatInDim(OpSpan operands, int64_t dimension, Where where = Where::current()) {
    return hlokit::ConcatInDim(self_, operands, dimension, where);
  }
  XlaOp Concatenate(OpSpan operands, int64_t dimension, Where where = Where::current()) {
    return hlokit::Concatenate(operands, dimension, where);
  }
  XlaOp Pad(XlaOp operand, XlaOp value, const PaddingConfig& padding,
            Where where = Where::current()) {
    return hlokit::Pad(operand, value, padding, where);
  }

  // ---- Products and normalisation: products.h ----
  XlaOp Dot(XlaOp lhs, XlaOp rhs, const PrecisionConfig* precision = nullptr,
            MaybeType preferred_type = std::nullopt, Where where = Where::current()) {
    return hlokit::Dot(lhs, rhs, precision, preferred_type, where);
  }
  XlaOp DotGeneral(XlaOp lhs, XlaOp rhs, const DotDimensionNumbers& numbers,
                   const PrecisionConfig* precision = nullptr,
                   MaybeType preferred_type = std::nullopt, Where where = Where::current()) {
    return hlokit::DotGeneral(lhs, rhs, numbers, precision, preferred_type, where);
  }
  XlaOp Conv(XlaOp lhs, XlaOp rhs, DimSpan strides, Padding padding,
             int64_t feature_group_count = 1, int64_t batch_group_count = 1,
             const PrecisionConfig* precision = nullptr, MaybeType preferred_type = std::nullopt,
             Where where = Where::current()) {
    return hlokit::Conv(lhs, rhs, strides, padding, feature_group_count, batch_group_count,
                        precision, preferred_type, where);
  }
  XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, DimSpan strides, const PaddingPairs& padding,
                               int64_t feature_group_count = 1, int64_t batch_group_count = 1,
                               const PrecisionConfig* precision = nullptr,
                               MaybeType preferred_type = std::nullopt,
                               Where where = Where::current()) {
    return hlokit::ConvWithGeneralPadding(lhs, rhs, strides, padding, feature_group_count,
                                          batch_group_count, precision, preferred_type, where);
  }
  XlaOp ConvWithGeneralDimensions(XlaOp lhs, XlaOp rhs, DimSpan strides, Padding padding,
                                  const ConvolutionDimensionNumbers& numbers,
                                  int64_t feature_group_count = 1, int64_t batch_group_count = 1,
                                  const PrecisionConfig* precision = nullptr,
                                  MaybeType preferred_type = std::nullopt,
                                  Where where = Where::current()) {
    return hlokit::ConvWithGeneralDimensions(lhs, rhs, strides, padding, numbers,
                                             feature_group_count, batch_group_count, precision,
                                             preferred_type, where);
  }
  XlaOp ConvGeneral(XlaOp lhs, XlaOp rhs, DimSpan strides, const PaddingPairs& padding,
                    const ConvolutionDimensionNumbers& numbers, int64_t feature_group_count = 1,
                    int64_t batch_group_count = 1, const PrecisionConfig* precision = nullptr,
                    MaybeType preferred_type = std::nullopt, Where where = Where::current()) {
    return hlokit::ConvGeneral(lhs, rhs, strides, padding, numbers, feature_group_count,
                               batch_group_count, precision, preferred_type, where);
  }
  XlaOp ConvGeneralDilated(XlaOp lhs, XlaOp rhs, DimSpan strides, const PaddingPairs& padding,
                           DimSpan lhs_dilation, DimSpan rhs_dilation,
                           const ConvolutionDimensionNumbers& numbers,
                           int64_t feature_group_count = 1, int64_t batch_group_count = 1,
                           const PrecisionConfig* precision = nullptr,
                           MaybeType preferred_type = std::nullopt,
                           const std::vector<bool>& window_reversal = {},
                           Where where = Where::current()) {
    return hlokit::ConvGeneralDilated(lhs, rhs, strides, padding, lhs_dilation, rhs_dilation,
                                      numbers, feature_group_count, batch_group_count, precision,
                                      preferred_type, window_reversal, where);
  }
  XlaOp BatchNormTraining(XlaOp operand, XlaOp scale, XlaOp offset, float epsilon,
                          int64_t feature_index, Where where = Where::current()) {
    return hlokit::BatchNormTraining(operand, scale, offset, epsilon, feature_index, where);
  }
  XlaOp BatchNormInference(XlaOp operand, XlaOp scale, XlaOp offset, XlaOp mean, XlaOp variance,
                           float epsilon, int64_t feature_index, Where where = Where::current()) {
    return hlokit::BatchNormInference(operand, scale, offset, mean, variance, epsilon,
                                      feature_index, where);
  }
  XlaOp BatchNormGrad(XlaOp operand, XlaOp scale, XlaOp batch_mean, XlaOp batch_var,
                      XlaOp grad_output, float epsilon, int64_t feature_index,
                      Where where = Where::current()) {
    return hlokit::BatchNormGrad(operand, scale, batch_mean, batch_var, grad_output, epsilon,
                                 feature_index, where);
  }

  // ---- Reductions, windows, sorting: reductions.h ----
  XlaOp Reduce(XlaOp operand, XlaOp init, const XlaComputation& computation, DimSpan dimensions,
               Where where = Where::current()) {
    return hlokit::Reduce(operand, init, computation, dimensions, where);
  }
  XlaOp Reduce(OpSpan operands, OpSpan inits, const XlaComputation& computation, DimSpan dimensions,
               Where where = Where::current()) {
    return hlokit::Reduce(self_, operands, inits, computation, dimensions, where);
  }
  XlaOp ReduceWindow(XlaOp operand, XlaOp init, const XlaComputation& computation, DimSpan sizes,
                     DimSpan strides, Padding padding, Where where = Where::current()) {
    return hlokit::ReduceWindow(operand, init, computation, sizes, strides, padding, where);
  }
  XlaOp ReduceWindow(OpSpan operands, OpSpan inits, const XlaComputation& computation,
                     DimSpan sizes, DimSpan strides, Padding padding,
                     Where where = Where::current()) {
    return hlokit::ReduceWindow(self_, operands, inits, computation, sizes, strides, padding,
                                where);
  }
  XlaOp ReduceWindowWithGeneralPadding(XlaOp operand, XlaOp init, const XlaComputation& computation,
                                       DimSpan sizes, DimSpan strides, DimSpan base_dilations,
                                       DimSpan window_dilations, const PaddingPairs& padding,
                                       Where where = Where::current()) {
    return hlokit::ReduceWindowWithGeneralPadding(operand, init, computation, sizes, strides,
                                                  base_dilations, window_dilations, padding, where);
  }
  XlaOp ReduceWindowWithGeneralPadding(XlaOp operand, XlaOp init, const XlaComputation& computation,
                                       DimSpan sizes, DimSpan strides, const PaddingPairs& padding,
                                       Where where = Where::current()) {
    return hlokit::ReduceWindowWithGeneralPadding(operand, init, computation, sizes, strides,
                                                  padding, where);
  }
  XlaOp ReduceWindowWithGeneralPadding(OpSpan operands, OpSpan inits,
                                       const XlaComputation& computation,
                                       const WindowOptions& window,
                                       Where where = Where::current()) {
    return hlokit::ReduceWindowWithGeneralPadding(self_, operands, inits, computation, window,
                                                  where);
  }
  XlaOp SelectAndScatter(XlaOp operand, const XlaComputation& select, DimSpan sizes,
                         DimSpan strides, Padding padding, XlaOp source, XlaOp init,
                         const XlaComputation& scatter, Where where = Where::current()) {
    return hlokit::SelectAndScatter(operand, select, sizes, strides, padding, source, init, scatter,
                                    where);
  }
  XlaOp SelectAndScatterWithGeneralPadding(XlaOp operand, const XlaComputation& select,
                                           DimSpan sizes, DimSpan strides,
                                           const PaddingPairs& padding, XlaOp source, XlaOp init,
                                           const XlaComputation& scatter,
                                           Where where = Where::current()) {
    return hlokit::SelectAndScatterWithGeneralPadding(operand, select, sizes, strides, padding,
                                                      source, init, scatter, where);
  }
  XlaOp Map(OpSpan operands, const XlaComputation& computation, DimSpan dimensions,
            OpSpan static_operands = {}, Where where = Where::current()) {
    return hlokit::Map(self_, operands, computation, dimensions, static_operands, where);
  }
  XlaOp Sort(OpSpan operands, const XlaComputation& comparator, int64_t dimension = -1,
             bool is_stable = false, Where where = Where::current()) {
    return hlokit::Sort(operands, comparator, dimension, is_stable, where);
  }
  XlaOp Sort(XlaOp operand, Where where = Where::current()) { return hlokit::Sort(operand, where); }

  // ---- Tuples and computations: control.h ----
  XlaOp Tuple(OpSpan elements, Where where = Where::current()) {
    return hlokit::Tuple(self_, elements, where);
  }
  XlaOp GetTupleElement(XlaOp tuple, int64_t index, Where where = Where::current()) {
    return hlokit::GetTupleElement(tuple, index, where);
  }
  XlaOp Call(const XlaComputation& computation, OpSpan operands, Where where = Where::current()) {
    return hlokit::Call(self_, computation, operands, where);
  }
  XlaOp While(const XlaComputation& condition, const XlaComputation& body, XlaOp init,
              Where where = Where::current()) {
    return hlokit::While(condition, body, init, where);
  }
  XlaOp Conditional(XlaOp predicate, XlaOp true_operand, const XlaComputation& true_computation,
                    XlaOp false_operand, const XlaComputation& false_computation,
                    Where where = Where::current()) {
    return hlokit::Conditional(predicate, true_operand, true_computation, false_operand,
                               false_computation, where);
  }
  XlaOp Conditional(XlaOp branch_index, absl::Span<const XlaComputation* const> branches,
                    OpSpan operands, Where where = Where::current()) {
    return hlokit::Conditional(branch_index, branches, operands, where);
  }
  XlaOp CustomCall(const std::string& target, OpSpan operands, const Shape& shape,
                   const std::string& opaque = "", bool has_side_effect = false,
                   Where where = Where::current()) {
    return hlokit::CustomCall(self_, target, operands, shape, opaque, has_side_effect, where);
  }
  XlaOp CustomCall(const std::string& target, OpSpan operands, const Shape& shape,
                   CustomCallOptions options, Where where = Where::current()) {
    return hlokit::CustomCall(self_, target, operands, shape, options, where);
  }
  XlaOp Trace(const std::string& tag, XlaOp operand, Where where = Where::current()) {
    return hlokit::Trace(tag, operand, where);
  }

  // ---- Feeds and transfers: communication.h ----
  XlaOp Infeed(const Shape& shape, const std::string& config = "", Where where = Where::current()) {
    return hlokit::Infeed(self_, shape, config, where);
  }
  XlaOp Outfeed(XlaOp operand, const Shape& shape_with_layout, const std::string& config = "",
                Where where = Where::current()) {
    return hlokit::Outfeed(operand, shape_with_layout, config, where);
  }
  XlaOp Send(XlaOp operand, ChannelHandle channel, Where where = Where::current()) {
    return hlokit::Send(operand, channel, where);
  }
  XlaOp Recv(const Shape& shape, ChannelHandle channel, Where where = Where::current()) {
    return hlokit::Recv(self_, shape, channel, where);
  }

  // ---- Devices: collectives.h ----
  XlaOp CrossReplicaSum(XlaOp operand, const ReplicaGroups& replica_groups = {},
                        Where where = Where::current()) {
    return hlokit::CrossReplicaSum(operand, replica_groups, where);
  }

  // ---- Random numbers: random.h ----
  XlaOp RngNormal(XlaOp mu, XlaOp sigma, const Shape& shape, Where where = Where::current()) {
    return hlokit::RngNormal(mu, sigma, shape, where);
  }
  XlaOp RngUniform(XlaOp a, XlaOp b, const Shape& shape, Where where = Where::current()) {
    return hlokit::RngUniform(a, b, shape, where);
  }
  XlaOp RngBernoulli(XlaOp mean, const Shape& shape, Where where = Where::current()) {
    return hlokit::RngBernoulli(mean, shape, where);
  }

  // ---- Parameters and constants: constants.h ----
  XlaOp Parameter(int64_t number, const Shape& shape, const std::string& name,
                  const std::vector<bool>& replicated = {}, Where where = Where::current()) {
    return hlokit::Parameter(self_, number, shape, name, replicated, where);
  }
  XlaOp ConstantLiteral(const Literal& literal, Where where = Where::current()) {
    return hlokit::ConstantLiteral(self_, literal, where);
  }
  XlaOp Iota(const Shape& shape, int64_t iota_dimension, Where where = Where::current()) {
    return hlokit::Iota(self_, shape, iota_dimension, where);
  }
  XlaOp Iota(ElementType type, int64_t size, Where where = Where::current()) {
    return hlokit::Iota(self_, type, size, where);
  }

  // Natives as in constants.h.
  template <typename T>
  XlaOp ConstantR0(T value, Where where = Where::current()) {
    return hlokit::ConstantR0<T>(self_, value, where);
  }
  template <typename T>
  XlaOp ConstantR1(absl::Span<const T> values, Where where = Where::current()) {
    return hlokit::ConstantR1<T>(self_, values, where);
  }
  template <typename T>
  XlaOp ConstantR1(int64_t length, T value, Where where = Where::current()) {
    return hlokit::ConstantR1<T>(self_, length, value, where);
  }
  template <typename T>
  XlaOp ConstantR2(NestedList<T> rows, Where where = Where::current()) {
    return hlokit::ConstantR2<T>(self_, rows, where);
  }
  template <typename T>
  XlaOp ConstantR2FromArray2D(const Array2D<T>& values, Where where = Where::current()) {
    return hlokit::ConstantR2FromArray2D<T>(self_, values, where);
  }
  template <typename T>
  XlaOp ConstantR3FromArray3D(const Array3D<T>& values, Where where = Where::current()) {
    return hlokit::ConstantR3FromArray3D<T>(self_, values, where);
  }
  template <typename T>
  XlaOp ConstantR4FromArray4D(const Array4D<T>& values, Where where = Where::current()) {
    return hlokit::ConstantR4FromArray4D<T>(self_, values, where);
  }

 protected:
  // For `self`, the builder that this is part of.
  explicit OpMethods(XlaBuilder* self) : self_(self) {}

 private:
  XlaBuilder* self_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
