// Operations that run computations, and random numbers: one row an entry.
#include "client/op_cases_internal.h"

namespace hlokit {
namespace {

#define HLOKIT_CASE(name, ...)               \
  OpCase {                                   \
    name, [](XlaBuilder& b) { __VA_ARGS__; } \
  }

constexpr ElementType kF32 = ElementType::kF32;
constexpr ElementType kS32 = ElementType::kS32;

XlaComputation MinF32() { return ScalarComputation(Opcode::kMinimum, kF32); }
XlaComputation GreaterEqual() { return ScalarComparison(ComparisonDirection::kGe, {kF32}); }

// (max, argmax, value, index) -> the greater of the two.
XlaComputation ArgMax() {
  XlaBuilder b("argmax");
  const XlaOp max = P(b, 0, F32({})), at = P(b, 1, S32({}));
  const XlaOp value = P(b, 2, F32({})), index = P(b, 3, S32({}));
  const XlaOp greater = Gt(value, max);
  const XlaOp chosen = Select(greater, value, max);
  Tuple(&b, {chosen, Select(greater, index, at)});
  return b.Build().value();
}

// (x, carry) -> (sum, sum).
XlaComputation RunningSum() {
  XlaBuilder b("running_sum");
  const XlaOp sum = P(b, 0, F32({})) + P(b, 1, F32({}));
  Tuple(&b, {sum, sum});
  return b.Build().value();
}

XlaComputation MulAdd() {
  XlaBuilder b("mul_add");
  const XlaOp x = P(b, 0, F32({})), y = P(b, 1, F32({}));
  x* y + y;
  return b.Build().value();
}

// x -> x * factor of f32[4].
XlaComputation Scale(float factor) {
  XlaBuilder b("scale");
  Mul(P(b, 0, F32({4})), ConstantR0<float>(&b, factor));
  return b.Build().value();
}

Shape LoopState() { return Shape::Tuple({S32({}), F32({10})}); }

XlaComputation LoopCondition() {
  XlaBuilder b("condition");
  Lt(GetTupleElement(P(b, 0, LoopState()), 0), ConstantR0<int32_t>(&b, 1000));
  return b.Build().value();
}

XlaComputation LoopBody() {
  XlaBuilder b("body");
  const XlaOp state = P(b, 0, LoopState());
  const XlaOp next = GetTupleElement(state, 0) + ConstantR0<int32_t>(&b, 1);
  Tuple(&b, {next, GetTupleElement(state, 1) + ConstantR1<float>(&b, 10, 0.5F)});
  return b.Build().value();
}

ScatterDimensionNumbers Rows() {
  ScatterDimensionNumbers numbers;
  numbers.inserted_window_dims = {0};
  numbers.scatter_dims_to_operand_dims = {0};
  numbers.index_vector_dim = 1;
  return numbers;
}

std::vector<OpCase> ReductionCases() {
  return {
      HLOKIT_CASE("Reduce", Reduce(P(b, 0, F32({2, 3})), P(b, 1, F32({})), AddF32(), {1})),
      HLOKIT_CASE("Reduce", ReduceAll(P(b, 0, F32({2, 3})), P(b, 1, F32({})), AddF32())),
      HLOKIT_CASE("Reduce (variadic, N>1)",
                  Reduce(&b, {P(b, 0, F32({4})), Iota(&b, kS32, 4)},
                         {MinValue(&b, kF32), Zero(&b, kS32)}, ArgMax(), {0})),
      HLOKIT_CASE("ReduceWindow", ReduceWindow(P(b, 0, F32({4, 6})), MinValue(&b, kF32), MaxF32(),
                                               {2, 3}, {2, 3}, Padding::kValid)),
      HLOKIT_CASE("ReduceWindow",
                  ReduceWindowWithGeneralPadding(P(b, 0, S32({3, 2})), Zero(&b, kS32),
                                                 ScalarComputation(Opcode::kAdd, kS32), {2, 1},
                                                 {4, 1}, {2, 1}, {3, 1}, {{2, 1}, {0, 0}})),
      HLOKIT_CASE("ReduceWindowWithGeneralPadding",
                  ReduceWindowWithGeneralPadding(P(b, 0, F32({5})), MaxValue(&b, kF32), MinF32(),
                                                 {3}, {2}, {{1, 1}})),
      HLOKIT_CASE(
          "SelectAndScatter",
          SelectAndScatter(P(b, 0, F32({4, 6})), GreaterEqual(), {2, 3}, {2, 3}, Padding::kValid,
                           P(b, 1, F32({2, 2})), Zero(&b, kF32), AddF32())),
      HLOKIT_CASE("SelectAndScatterWithGeneralPadding",
                  SelectAndScatterWithGeneralPadding(P(b, 0, F32({4, 6})), GreaterEqual(), {3, 3},
                                                     {2, 2}, {{0, 1}, {0, 1}}, P(b, 1, F32({2, 3})),
                                                     Zero(&b, kF32), AddF32())),
      HLOKIT_CASE("Scan", Scan(&b, {P(b, 0, F32({3}))}, {P(b, 1, F32({}))}, RunningSum(), 0)),
      HLOKIT_CASE("Map", Map(&b, {P(b, 0, F32({4})), P(b, 1, F32({4}))}, MulAdd(), {0})),
      HLOKIT_CASE("Map", Map(&b, {P(b, 0, F32({4}))}, MulAdd(), {0}, {P(b, 1, F32({}))})),
      HLOKIT_CASE("Sort", Sort({P(b, 0, F32({8})), Iota(&b, kS32, 8)},
                               ScalarComparison(ComparisonDirection::kLt, {kF32, kS32}), 0, true)),
      HLOKIT_CASE("Sort(operand)", Sort(P(b, 0, F32({2, 8})))),
      HLOKIT_CASE("TopK", TopK(P(b, 0, F32({2, 3})), 1)),
      HLOKIT_CASE("TopK", TopK(P(b, 0, F32({2, 3})), 2,
                               ScalarComparison(ComparisonDirection::kGt, {kF32, kS32}))),
      HLOKIT_CASE("Scatter", Scatter(P(b, 0, F32({4})), P(b, 1, S32({2, 1})), P(b, 2, F32({2})),
                                     AddF32(), Rows())),
  };
}

std::vector<OpCase> ControlCases() {
  return {
    HLOKIT_CASE("Call", Call(&b, Scale(2), {P(b, 0, F32({4}))})),
        HLOKIT_CASE("CompositeCall",
                    CompositeCall(&b, Scale(2), {P(b, 0, F32({4}))}, "foo.bar",
                                  "{n = 1 : i32, tensor = dense<1> : tensor<i32>}", 1)),
        HLOKIT_CASE("Conditional (predicated)",
                    Conditional(P(b, 0, Shape::Scalar(ElementType::kPred)), P(b, 1, F32({4})),
                                Scale(2), P(b, 2, F32({4})), Scale(-1))),
        HLOKIT_CASE("Conditional (N-way)", const XlaComputation twice = Scale(2), thrice = Scale(3),
                    half = Scale(0.5F);
                    const XlaOp x = P(b, 1, F32({4}));
                    Conditional(P(b, 0, S32({})), {&twice, &thrice, &half}, {x, x, x})),
        HLOKIT_CASE("While", While(LoopCondition(), LoopBody(),
                                   Tuple(&b, {Zero(&b, kS32), ConstantR1<float>(&b, 10, 0)}))),
        HLOKIT_CASE(
            "CustomCall",
            CustomCall(&b, "myfunc", {P(b, 0, F32({2})), P(b, 1, F32({2, 3}))}, F32({3, 3}))),
        HLOKIT_CASE("CustomCallOp",
                    CustomCall(&b, "myfunc", {P(b, 0, F32({2})), P(b, 1, F32({2, 3}))}, F32({3, 3}),
                               "cfg", true)),
        HLOKIT_CASE("Trace", Neg(Trace("tag", P(b, 0, F32({4}))))),
        HLOKIT_CASE("Fusion", Fusion(&b, FusionKind::kLoop, Scale(2), {P(b, 0, F32({4}))})),
        HLOKIT_CASE("AsyncStart", AsyncDone(AsyncStart(&b, Scale(2), {P(b, 0, F32({4}))}))),
        HLOKIT_CASE("AsyncUpdate",
                    AsyncDone(AsyncUpdate(AsyncStart(&b, Scale(2), {P(b, 0, F32({4}))})))),
        HLOKIT_CASE("AsyncDone", AsyncDone(AsyncStart(&b, Scale(2), {P(b, 0, F32({4}))}))),
  };
}

// Random numbers differ between platforms: cases whose values do run for their text, and as ranges
// of no width elsewhere.
std::vector<OpCase> RandomCases() {
  const auto philox = [](XlaBuilder& b) {
    RngBitGenerator(RngAlgorithm::kPhilox, ConstantR1<uint64_t>(&b, {1, 2, 3}),
                    Shape::Array(ElementType::kU32, {4}));
  };
  return {
    HLOKIT_CASE("RngNormal", RngNormal(P(b, 0, F32({})), Zero(&b, kF32), F32({100}))),
        HLOKIT_CASE("RngUniform", RngUniform(P(b, 0, S32({})), P(b, 1, S32({})), S32({100}))),
        HLOKIT_CASE("RngUniform",
                    const XlaOp drawn = RngUniform(Zero(&b, kF32), One(&b, kF32), F32({100}));
                    Floor(drawn)),
        HLOKIT_CASE("RngBernoulli", RngBernoulli(One(&b, kF32), S32({100}))),
        {"RngBitGenerator", philox},
        HLOKIT_CASE("RngBitGenerator",
                    RngBitGenerator(RngAlgorithm::kThreeFry, ConstantR1<uint64_t>(&b, {1, 2}),
                                    Shape::Array(ElementType::kU32, {4}))),
        // Each draw of the process has a state of its own.
        HLOKIT_CASE("RngGetAndUpdateState",
                    And(RngGetAndUpdateState(&b, 1), ConstantR0<uint64_t>(&b, 0))),
  };
}

}  // namespace

std::vector<OpCase> ComputationCases() {
  std::vector<OpCase> all = ReductionCases();
  for (OpCase& more : ControlCases()) all.push_back(more);
  for (OpCase& more : RandomCases()) all.push_back(more);
  return all;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
