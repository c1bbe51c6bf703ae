// Constants, data movement and products: one row an entry.
#include "client/op_cases_internal.h"

namespace hlokit {
namespace {

#define HLOKIT_CASE(name, ...)               \
  OpCase {                                   \
    name, [](XlaBuilder& b) { __VA_ARGS__; } \
  }

Sharding OnDevice0() {
  Sharding sharding;
  sharding.kind = Sharding::Kind::kMaximal;
  return sharding;
}

DotDimensionNumbers BatchDot() {
  DotDimensionNumbers numbers;
  numbers.lhs_batch_dimensions = numbers.rhs_batch_dimensions = {0};
  numbers.lhs_contracting_dimensions = {2};
  numbers.rhs_contracting_dimensions = {1};
  return numbers;
}

DotDimensionNumbers MatrixDot() {
  DotDimensionNumbers numbers;
  numbers.lhs_contracting_dimensions = {1};
  numbers.rhs_contracting_dimensions = {0};
  return numbers;
}

ConvolutionDimensionNumbers ChannelsLast() {
  ConvolutionDimensionNumbers numbers;
  numbers.input_batch = numbers.output_batch = 0;
  numbers.input_feature = numbers.output_feature = 3;
  numbers.input_spatial = numbers.output_spatial = {1, 2};
  numbers.kernel_spatial = {0, 1};
  numbers.kernel_input_feature = 2;
  numbers.kernel_output_feature = 3;
  return numbers;
}

GatherDimensionNumbers Windows() {
  GatherDimensionNumbers numbers;
  numbers.offset_dims = {1, 2};
  numbers.start_index_map = {0, 1};
  numbers.index_vector_dim = 1;
  return numbers;
}

// A symmetric matrix that is positive definite, whatever p0 is: x x^T + 4 I.
XlaOp PositiveDefinite(XlaBuilder& b) {
  const XlaOp x = P(b, 0, F32({2, 2}));
  return Add(Dot(x, Transpose(x, {1, 0})), ConstantR2<float>(&b, {{4, 0}, {0, 4}}));
}

std::vector<OpCase> ProductCases() {
  return {
    HLOKIT_CASE("Dot", Dot(P(b, 0, F32({2, 3})), P(b, 1, F32({3, 4})))),
        HLOKIT_CASE("Dot", Dot(P(b, 0, F32({3})), P(b, 1, F32({3})))),
        HLOKIT_CASE("Dot (000, general rank)",
                    Dot(P(b, 0, F32({2, 3, 4})), P(b, 1, F32({5, 4, 6})))),
        HLOKIT_CASE("Dot (000, general rank)", Dot(P(b, 0, F32({})), P(b, 1, F32({})))),
        HLOKIT_CASE(
            "DotGeneral", PrecisionConfig precision;
            precision.operand_precision = {Precision::kHighest, Precision::kHighest};
            DotGeneral(P(b, 0, F32({2, 2, 2})), P(b, 1, F32({2, 2, 2})), BatchDot(), &precision)),
        HLOKIT_CASE(
            "DotGeneral", const Shape bf16 = Shape::Array(ElementType::kBF16, {2, 2});
            DotGeneral(P(b, 0, bf16), P(b, 1, bf16), MatrixDot(), nullptr, ElementType::kF32)),
        HLOKIT_CASE("ScaledDot", const Shape f8 = Shape::Array(ElementType::kF8E4M3FN, {4, 64});
                    const Shape scale = Shape::Array(ElementType::kF8E8M0FNU, {4, 2});
                    const XlaOp a = ConvertElementType(P(b, 0, F32({4, 64})), f8.type);
                    const XlaOp w = ConvertElementType(P(b, 1, F32({64, 8})), f8.type);
                    const XlaOp one = One(&b, scale.type);
                    ScaledDot(a, w, Broadcast(one, {4, 2}), Broadcast(one, {2, 8}), MatrixDot())),
        HLOKIT_CASE("RaggedDot", RaggedDotDimensionNumbers numbers;
                    numbers.dot_dimension_numbers.lhs_contracting_dimensions = {1};
                    numbers.dot_dimension_numbers.rhs_contracting_dimensions = {1};
                    numbers.lhs_ragged_dimensions = {0}; numbers.rhs_group_dimensions = {0};
                    RaggedDot(P(b, 0, F32({6, 4})), P(b, 1, F32({3, 4, 5})),
                              ConstantR1<int64_t>(&b, {1, 2, 3}), numbers)),
        HLOKIT_CASE("Conv", Conv(P(b, 0, F32({1, 3, 5, 5})), P(b, 1, F32({8, 3, 3, 3})), {1, 1},
                                 Padding::kSame)),
        HLOKIT_CASE("ConvWithGeneralPadding",
                    ConvWithGeneralPadding(P(b, 0, F32({1, 3, 5, 5})), P(b, 1, F32({2, 3, 3, 3})),
                                           {2, 1}, {{1, 1}, {2, 3}})),
        HLOKIT_CASE(
            "ConvWithGeneralDimensions",
            ConvWithGeneralDimensions(P(b, 0, F32({1, 5, 5, 3})), P(b, 1, F32({3, 3, 3, 8})),
                                      {1, 1}, Padding::kSame, ChannelsLast())),
        HLOKIT_CASE("ConvGeneral",
                    ConvGeneral(P(b, 0, F32({1, 5, 5, 3})), P(b, 1, F32({3, 3, 3, 8})), {1, 1},
                                {{0, 0}, {0, 0}}, ChannelsLast())),
        HLOKIT_CASE("ConvGeneralDilated",
                    ConvGeneralDilated(P(b, 0, F32({1, 5, 5, 4})), P(b, 1, F32({3, 3, 1, 4})),
                                       {1, 1}, {{1, 1}, {1, 1}}, {2, 2}, {}, ChannelsLast(), 4, 1,
                                       nullptr, std::nullopt, {true, true})),
        HLOKIT_CASE("Cholesky", Cholesky(PositiveDefinite(b), true)),
        HLOKIT_CASE("TriangularSolve",
                    TriangularSolve(PositiveDefinite(b), P(b, 1, F32({2, 1})), true, true, false,
                                    TriangularTranspose::kNone)),
        HLOKIT_CASE("Fft", Fft(P(b, 0, F32({8, 16})), FftType::kRfft, {16})),
        HLOKIT_CASE("BatchNormTraining",
                    BatchNormTraining(P(b, 0, F32({4, 3, 2})), P(b, 1, F32({2})), P(b, 2, F32({2})),
                                      0.001F, 2)),
        HLOKIT_CASE(
            "BatchNormInference",
            BatchNormInference(P(b, 0, F32({4, 3, 2})), P(b, 1, F32({2})), P(b, 2, F32({2})),
                               P(b, 3, F32({2})), Abs(P(b, 4, F32({2}))), 0.001F, 2)),
        HLOKIT_CASE("BatchNormGrad",
                    BatchNormGrad(P(b, 0, F32({4, 3, 2})), P(b, 1, F32({2})), P(b, 2, F32({2})),
                                  Abs(P(b, 3, F32({2}))), P(b, 4, F32({4, 3, 2})), 0.001F, 2)),
  };
}

std::vector<OpCase> MovementCases() {
  return {
    HLOKIT_CASE("Parameter", P(b, 0, F32({10}))),
      HLOKIT_CASE("Constant / ConstantLiteral",
                  ConstantLiteral(&b, Literal::R1<float>({1, 2, 3}))),
      HLOKIT_CASE("ConstantR0 / R1 / R2 / R3 / R4 helpers",
                  const XlaOp zero = ConstantR0<float>(&b, 0.5F);
                  const XlaOp one = ConstantR1<int64_t>(&b, {1, 2, 3});
                  const XlaOp same = ConstantR1<float>(&b, 4, 7.0F);
                  const XlaOp two = ConstantR2<float>(&b, {{1, 2}, {3, 4}});
                  const XlaOp three = ConstantR3FromArray3D(&b, Array3D<int32_t>({1, 2, 2}, 3));
                  const XlaOp four = ConstantR4FromArray4D(&b, Array4D<int32_t>({1, 1, 2, 2}, 4));
                  Tuple(&b, {zero, one, same, two, three, four})),
      HLOKIT_CASE("Iota", Iota(&b, S32({4, 8}), 1)),
      HLOKIT_CASE("Broadcast", Broadcast(P(b, 0, F32({3})), {2})),
      HLOKIT_CASE("Broadcast", Broadcast(P(b, 0, F32({})), {2, 3})),
      HLOKIT_CASE("BroadcastInDim", BroadcastInDim(P(b, 0, F32({2, 1})), {2, 3, 4}, {0, 1})),
      HLOKIT_CASE("Collapse", Collapse(P(b, 0, F32({4, 2, 3})), {0, 1})),
      HLOKIT_CASE("Collapse", Collapse(P(b, 0, F32({4, 2, 3})), {1, 2})),
      HLOKIT_CASE("Reshape(operand, dimensions)", Reshape(P(b, 0, F32({4, 2, 3})), {8, 3})),
      HLOKIT_CASE("Reshape (explicit): Reshape(shape, operand)",
                  Reshape(Shape::ArrayWithLayout(ElementType::kF32, {2, 12}, {1, 0}),
                          P(b, 0, F32({4, 2, 3})))),
      HLOKIT_CASE("Reshape with dim order: Reshape(operand, dimensions, new_sizes)",
                  Reshape(P(b, 0, F32({4, 2, 3})), {1, 2, 0}, {8, 3})),
      {"DynamicReshape",
       [](XlaBuilder& b) {
         const XlaOp rows = ConstantR0<int32_t>(&b, 4);
         DynamicReshape(P(b, 0, F32({12})), {rows, ConstantR0<int32_t>(&b, 3)}, {4, 3},
                        {true, false});
       }},
      HLOKIT_CASE("Rev", Rev(P(b, 0, F32({2, 3})), {0, 1})),
      HLOKIT_CASE("Trans", Trans(P(b, 0, F32({2, 3})))),
      HLOKIT_CASE("Transpose", Transpose(P(b, 0, F32({2, 3, 4})), {2, 0, 1})),
      HLOKIT_CASE("Slice", Slice(P(b, 0, F32({4, 3})), {2, 1}, {4, 3})),
      HLOKIT_CASE("Slice", Slice(P(b, 0, F32({5})), {0}, {5}, {2})),
      HLOKIT_CASE("DynamicSlice", DynamicSlice(P(b, 0, F32({4, 3})),
                                               {P(b, 1, S32({})), P(b, 2, S32({}))}, {2, 2})),
      HLOKIT_CASE("DynamicSlice", DynamicSlice(P(b, 0, F32({4, 3})), P(b, 1, S32({2})), {2, 2})),
      HLOKIT_CASE("DynamicUpdateSlice", DynamicUpdateSlice(P(b, 0, F32({5})), P(b, 1, F32({2})),
                                                           OpSpan({P(b, 2, S32({}))}))),
      HLOKIT_CASE("ConcatInDim (Concatenate)",
                  ConcatInDim(&b, {P(b, 0, F32({3, 2})), P(b, 1, F32({1, 2}))}, 0)),
      HLOKIT_CASE("Pad", Pad(P(b, 0, F32({2, 3})), P(b, 1, F32({})), {{0, 1, 0}, {1, 2, 0}})),
      HLOKIT_CASE("Pad", Pad(P(b, 0, F32({3})), P(b, 1, F32({})), {{-1, 1, 1}})),
      HLOKIT_CASE("Gather", Gather(P(b, 0, F32({16, 11})),
                                   P(b, 1, Shape::Array(ElementType::kS64, {5, 2})), Windows(),
                                   {8, 6})),
      {"GetDimensionSize",
       [](XlaBuilder& b) {
         const XlaOp size = ConstantR0<int32_t>(&b, 5);
         GetDimensionSize(SetDimensionSize(P(b, 0, F32({10})), size, 0), 0);
       }},
      {"SetDimensionSize",
       [](XlaBuilder& b) {
         const XlaOp five = SetDimensionSize(P(b, 0, F32({10})), ConstantR0<int32_t>(&b, 5), 0);
         Reduce(five, ConstantR0<float>(&b, 0), AddF32(), {0});
       }},
      HLOKIT_CASE("Tuple", Tuple(&b, {P(b, 0, F32({10})), P(b, 1, S32({}))})),
      HLOKIT_CASE("GetTupleElement",
                  GetTupleElement(P(b, 0, Shape::Tuple({F32({10}), S32({})})), 1)),
      HLOKIT_CASE("Copy", Copy(P(b, 0, F32({2, 3})))),
      HLOKIT_CASE("CopyStart", CopyDone(CopyStart(P(b, 0, F32({4}))))),
      HLOKIT_CASE("CopyDone", CopyDone(CopyStart(P(b, 0, F32({4}))))),
      HLOKIT_CASE("Bitcast", Bitcast(F32({3, 2}), P(b, 0, F32({2, 3})))),
      HLOKIT_CASE("Domain",
                  MakeDomain(P(b, 0, F32({4})), OnDevice0(), Sharding())),
      HLOKIT_CASE("AddDependency", AddDependency(P(b, 0, F32({4})), CreateToken(&b))),
      HLOKIT_CASE("AfterAll", const XlaOp token = AfterAll(&b, {CreateToken(&b), CreateToken(&b)});
                  AddDependency(P(b, 0, F32({4})), token)),
      HLOKIT_CASE("OptimizationBarrier",
                  OptimizationBarrier(Tuple(&b, {P(b, 0, F32({4})), P(b, 1, S32({}))}))),
  };
}

}  // namespace

std::vector<OpCase> ArrayCases() {
  std::vector<OpCase> all = MovementCases();
  for (OpCase& more : ProductCases()) all.push_back(more);
  return all;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
