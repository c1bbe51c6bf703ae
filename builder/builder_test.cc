// The builder itself: errors and their places, sub-builders, return values, constants, scopes.
#include "builder/builder.h"

#include <functional>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "parser/parser.h"
#include "printer/printer.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr ElementType kF32 = ElementType::kF32;
Shape F32(std::initializer_list<int64_t> dims) { return Shape::Array(kF32, dims); }

// The text of a computation, which reads back as it is.
std::string TextOf(const absl::StatusOr<XlaComputation>& computation) {
  EXPECT_TRUE(computation.ok()) << computation.status();
  if (!computation.ok()) return "";
  PrintOptions whole;
  whole.large_constants = true;
  const std::string text = Print(computation->module(), whole);
  const auto back = ParseModule(text);
  EXPECT_TRUE(back.ok()) << back.status() << text;
  if (!back.ok()) return "";
  EXPECT_EQ(Print(**back, whole), text);
  return text;
}

std::string RootText(const absl::StatusOr<XlaComputation>& computation) {
  TextOf(computation);
  return computation.ok() ? Print(*computation->module().entry()->root()) : "";
}

OpMetadata Named(const char* name) {
  OpMetadata metadata;
  metadata.op_name = name;
  return metadata;
}

TEST(XlaBuilderTest, AxpyIsBuiltWithItsName) {
  XlaBuilder b("axpy");
  const XlaOp alpha = Parameter(&b, 0, F32({}), "alpha");
  const XlaOp x = Parameter(&b, 1, F32({10}), "x");
  const XlaOp y = Parameter(&b, 2, F32({10}), "y");
  Add(Mul(alpha, x), y);
  const std::string text = TextOf(b.Build());
  EXPECT_THAT(text, HasSubstr("HloModule axpy, entry_computation_layout={(f32[], f32[10]{0}, "
                              "f32[10]{0})->f32[10]{0}}"));
  EXPECT_THAT(text, HasSubstr("ENTRY %axpy (alpha: f32[], x: f32[10], y: f32[10]) -> f32[10]"));
  EXPECT_THAT(text, HasSubstr("broadcast(%alpha), dimensions={}"));
}

// What a scheduled module says of order stays where it is an edge; its schedule is that of another
// module, and goes.
TEST(XlaBuilderTest, ScheduledComputationsAreCalled) {
  const XlaComputation scheduled(ParseModule(R"(
HloModule scheduled, is_scheduled=true
twice { a = f32[2] parameter(0)
  ROOT b = f32[2] add(a, a) }
ENTRY e {
  x = f32[2]{0} parameter(0)
  t = token[] after-all()
  second = f32[2]{0} call(x), to_apply=twice
  o = token[] outfeed(x, t), outfeed_shape=f32[2]{0}
  first = f32[2]{0} negate(x), control-predecessors={o, second}
  ROOT r = f32[2]{0} multiply(first, second)
})")
                                     .value());
  XlaBuilder b("caller");
  const XlaOp x = Parameter(&b, 0, F32({2}), "x");
  Add(Call(&b, scheduled, {x}), Call(&b, scheduled, {x}));
  const absl::StatusOr<XlaComputation> built = b.Build();
  const std::string text = TextOf(built);
  EXPECT_THAT(text, HasSubstr("outfeed("));
  EXPECT_THAT(text, HasSubstr("control-predecessors={%o, %second}"));
  EXPECT_THAT(text, Not(HasSubstr("is_scheduled")));
  EXPECT_THAT(TextOf(scheduled), HasSubstr("is_scheduled=true"));
}

TEST(XlaBuilderTest, FirstErrorIsKeptWithItsPlace) {
  XlaBuilder b("wrong");
  const XlaOp x = Parameter(&b, 0, F32({2}), "x");
  const XlaOp y = Parameter(&b, 1, F32({3}), "y");
  const int line = __LINE__ + 1;
  const XlaOp sum = Add(x, y);
  EXPECT_FALSE(sum.valid());
  EXPECT_FALSE(Exp(sum).valid());
  Add(x, Parameter(&b, 7, Shape::Token(), "t"));
  const absl::Status status = b.Build().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("builder_test.cc:", line, ": add: ")));
  EXPECT_EQ(b.GetShape(x).status(), status);
}

TEST(XlaBuilderTest, OperatorsKnowTheirPlace) {
  XlaBuilder b("wrong");
  const XlaOp x = Parameter(&b, 0, F32({2}), "x");
  const int line = __LINE__ + 1;
  x* Parameter(&b, 1, F32({3}), "y");
  EXPECT_THAT(std::string(b.first_error().message()),
              HasSubstr(absl::StrCat("builder_test.cc:", line, ": multiply: ")));
}

TEST(XlaBuilderTest, RulesKeepTheirLabels) {
  XlaBuilder b("wrong");
  Transpose(Parameter(&b, 0, F32({2, 3}), "x"), {0, 0});
  EXPECT_EQ(LabelOf(b.Build().status()), "transpose-c2");
}

TEST(XlaBuilderTest, HandlesOfOthersAndNoHandlesAreErrors) {
  XlaBuilder b("one"), other("other");
  const XlaOp x = Parameter(&b, 0, F32({2}), "x");
  const XlaOp theirs = Parameter(&other, 0, F32({2}), "theirs");
  EXPECT_FALSE(Add(x, theirs).valid());
  EXPECT_THAT(std::string(b.Build().status().message()), HasSubstr("other"));
  XlaBuilder c("two");
  Add(Parameter(&c, 0, F32({2}), "x"), XlaOp());
  EXPECT_FALSE(c.Build().ok());
  EXPECT_FALSE(Add(XlaOp(), XlaOp()).valid());
}

TEST(XlaBuilderTest, ParametersAreNumberedOnceWithoutGaps) {
  XlaBuilder twice("twice");
  Parameter(&twice, 0, F32({}), "a");
  Parameter(&twice, 0, F32({}), "b");
  EXPECT_FALSE(twice.Build().ok());
  XlaBuilder gap("gap");
  Parameter(&gap, 1, F32({}), "b");
  EXPECT_THAT(std::string(gap.Build().status().message()), HasSubstr("no parameter 0"));
  XlaBuilder identity("identity");
  Parameter(&identity, 0, F32({2}), "x");
  EXPECT_THAT(TextOf(identity.Build()), HasSubstr("ROOT %x = f32[2]{0} parameter(0)"));
  XlaBuilder negative("negative"), empty("empty");
  Parameter(&negative, -1, F32({}), "a");
  EXPECT_FALSE(negative.Build().ok());
  EXPECT_FALSE(empty.Build().ok());
}

TEST(XlaBuilderDeathTest, DiesAtTheFirstErrorWhereAskedTo) {
  EXPECT_DEATH(
      {
        XlaBuilder b("fragile");
        b.set_die_immediately_on_error(true);
        const auto sub = b.CreateSubBuilder("sub");
        Add(Parameter(sub.get(), 0, F32({2}), "x"), Parameter(sub.get(), 1, F32({3}), "y"));
      },
      "builder sub: .*add: ");
}

TEST(XlaBuilderTest, ShapesBeyondCountingAreErrors) {
  const int64_t most = std::numeric_limits<int64_t>::max(), many = int64_t{1} << 40;
  const auto error_of = [](const std::function<void(XlaBuilder&)>& build) {
    XlaBuilder b("huge");
    build(b);
    return b.Build().status().code();
  };
  const absl::StatusCode wrong = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(error_of([&](XlaBuilder& b) { Parameter(&b, 0, F32({many, many}), "x"); }), wrong);
  EXPECT_EQ(error_of([&](XlaBuilder& b) { Parameter(&b, 0, F32({-1}), "x"); }), wrong);
  EXPECT_EQ(error_of([&](XlaBuilder& b) {
              Shape unbounded = F32({-1, kUnbounded});
              unbounded.SetDynamic(1, true);
              CustomCall(&b, "target", {}, unbounded);
            }),
            wrong);
  EXPECT_EQ(error_of([&](XlaBuilder& b) { Iota(&b, F32({most}), 0); }), wrong);
  EXPECT_EQ(error_of([&](XlaBuilder& b) { Broadcast(Zero(&b, kF32), {many, many}); }), wrong);
  EXPECT_EQ(error_of([&](XlaBuilder& b) { ConstantR1<float>(&b, most, 1); }), wrong);
  EXPECT_EQ(error_of([&](XlaBuilder& b) {
              Pad(Parameter(&b, 0, F32({2}), "x"), Zero(&b, kF32), {{most - 1, most - 1, 0}});
            }),
            wrong);
  EXPECT_EQ(error_of([&](XlaBuilder& b) {
              const XlaOp x = Broadcast(Zero(&b, kF32), {many});
              Mul(x, Parameter(&b, 0, F32({many, many >> 20}), "y"), {0});
            }),
            wrong);
}

TEST(XlaBuilderTest, WhatIsNoValueIsAnErrorAndNoCrash) {
  const auto error_of = [](const std::function<void(XlaBuilder&)>& build) {
    XlaBuilder b("wrong");
    build(b);
    return std::string(b.Build().status().message());
  };
  for (const ElementType type :
       {ElementType::kToken, ElementType::kTuple, ElementType::kOpaque, ElementType::kInvalid}) {
    EXPECT_THAT(error_of([&](XlaBuilder& b) { MinValue(&b, type); }), HasSubstr("type"));
    EXPECT_THAT(error_of([&](XlaBuilder& b) { MaxValue(&b, type); }), HasSubstr("type"));
    EXPECT_THAT(error_of([&](XlaBuilder& b) { Zero(&b, type); }), HasSubstr("type"));
    EXPECT_THAT(error_of([&](XlaBuilder& b) { One(&b, type); }), HasSubstr("type"));
  }
  EXPECT_THAT(error_of([](XlaBuilder& b) { MinValue(&b, ElementType::kC64); }), HasSubstr("c64"));
  EXPECT_THAT(error_of([](XlaBuilder& b) {
                const XlaComputation* const none = nullptr;
                Conditional(Zero(&b, ElementType::kS32), {none}, {Zero(&b, kF32)});
              }),
              HasSubstr("not built"));
  EXPECT_THAT(error_of([](XlaBuilder& b) {
                CustomCallWithLayout(&b, "target", {Zero(&b, kF32)}, F32({}), {});
              }),
              HasSubstr("1 operands"));
}

// Sizes that can be counted and not be had are errors of the run, not of the build.
TEST(XlaBuilderTest, ConstantsBeyondMemoryAreNotComputed) {
  XlaBuilder b("large");
  const XlaOp x = Broadcast(Zero(&b, kF32), {int64_t{1} << 45});
  EXPECT_EQ(b.ComputeConstant(Neg(x)).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(b.Build().ok());
}

TEST(XlaBuilderTest, ReturnValueMayBeSet) {
  XlaBuilder b("returns");
  const XlaOp one = ConstantR0<float>(&b, 1);
  ConstantR0<float>(&b, 2);
  EXPECT_TRUE(b.SetReturnValue(one).ok());
  const XlaOp three = ConstantR0<float>(&b, 3);
  EXPECT_THAT(RootText(b.Build()), HasSubstr("constant(1)"));
  EXPECT_TRUE(b.SetReturnValue(three).ok());
  EXPECT_THAT(RootText(b.Build()), HasSubstr("constant(3)"));
  EXPECT_THAT(RootText(b.Build(one)), HasSubstr("constant(1)"));
  EXPECT_FALSE(b.SetReturnValue(XlaOp()).ok());
}

TEST(XlaBuilderTest, SubBuildersNoteErrorsInTheirParent) {
  XlaBuilder b("parent");
  const XlaOp x = Parameter(&b, 0, F32({4}), "x");
  const auto sub = b.CreateSubBuilder("sub");
  Add(Parameter(sub.get(), 0, F32({2}), "a"), Parameter(sub.get(), 1, F32({3}), "b"));
  const XlaComputation failed = sub->BuildAndNoteError();
  EXPECT_TRUE(failed.IsNull());
  EXPECT_FALSE(Reduce(x, x, failed, {0}).valid());
  EXPECT_THAT(std::string(b.Build().status().message()), HasSubstr("in computation sub"));
}

TEST(XlaBuilderTest, NamesOfSubComputationsMayRepeat) {
  XlaBuilder b("parent");
  XlaOp x = Parameter(&b, 0, F32({4}), "x");
  for (const bool largest : {true, false}) {
    const auto sub = b.CreateSubBuilder("reducer");
    const XlaOp lhs = Parameter(sub.get(), 0, F32({}), "x");
    const XlaOp rhs = Parameter(sub.get(), 1, F32({}), "y");
    largest ? Max(lhs, rhs) : Min(lhs, rhs);
    const XlaComputation reducer = sub->BuildAndNoteError();
    x = Broadcast(Reduce(x, ConstantR0<float>(&b, 0), reducer, {0}), {4});
  }
  const std::string text = TextOf(b.Build());
  EXPECT_THAT(text, HasSubstr("to_apply=%reducer"));
  EXPECT_THAT(text, HasSubstr("to_apply=%reducer.1"));
}

TEST(XlaBuilderTest, ShapesAreKnownWhileBuilding) {
  XlaBuilder b("shapes");
  const XlaOp x = Parameter(&b, 0, F32({2, 3}), "x");
  const XlaOp sum = Add(x, ConstantR0<float>(&b, 1));
  EXPECT_EQ(Text(b.GetShape(sum).value()), "f32[2,3]");
  EXPECT_EQ(b.CheckShape(sum, F32({2, 3})), sum);
  b.CheckSameShape(x, sum);
  const ProgramShape shape = b.GetProgramShape().value();
  EXPECT_EQ(shape.parameter_names, std::vector<std::string>{"x"});
  EXPECT_EQ(Text(b.GetProgramShape(x).value().result), "f32[2,3]");
  EXPECT_DEATH(b.CheckShape(sum, F32({3, 2})), "f32\\[2,3\\].*f32\\[3,2\\]");
}

TEST(XlaBuilderTest, ConstantsAreComputedWhileBuilding) {
  XlaBuilder b("constants");
  const XlaOp x = Parameter(&b, 0, Shape::Scalar(ElementType::kS32), "x");
  const XlaOp five = Add(ConstantR0<int32_t>(&b, 2), ConstantR0<int32_t>(&b, 3));
  EXPECT_TRUE(b.IsConstant(five).value());
  EXPECT_EQ(Text(b.ComputeConstant(five).value()), "5");
  const XlaOp mixed = Add(five, x);
  EXPECT_FALSE(b.IsConstant(mixed).value());
  EXPECT_THAT(std::string(b.ComputeConstant(mixed).status().message()), HasSubstr("%x"));
  const XlaOp uniform = RngUniform(ConstantR0<float>(&b, 0), ConstantR0<float>(&b, 1), F32({2}));
  EXPECT_FALSE(b.IsConstant(uniform).value());
  EXPECT_TRUE(b.IsConstant(uniform, XlaBuilder::ConstantRule::kWithRandom).value());
  EXPECT_TRUE(b.ComputeConstant(uniform).ok());
  const XlaOp matrix = ConstantR2<float>(&b, {{1, 2}, {3, 4}});
  const Shape columns = Shape::ArrayWithLayout(kF32, {2, 2}, {0, 1});
  const Literal value = b.ComputeConstant(matrix, &columns.layout).value();
  EXPECT_EQ(Text(value.shape(), true), "f32[2,2]{0,1}");
  EXPECT_EQ(Text(value), "{ { 1, 2 }, { 3, 4 } }");
  TextOf(b.Build());
}

TEST(XlaBuilderTest, NativeTypesOfConstants) {
  XlaBuilder b("natives");
  const auto shape = [&](XlaOp op) { return Text(b.GetShape(op).value()); };
  EXPECT_EQ(shape(ConstantR0<bool>(&b, true)), "pred[]");
  EXPECT_EQ(shape(ConstantR0<int32_t>(&b, 1)), "s32[]");
  EXPECT_EQ(shape(ConstantR1<int64_t>(&b, {1, 2, 3})), "s64[3]");
  EXPECT_EQ(shape(ConstantR0<uint32_t>(&b, 1)), "u32[]");
  EXPECT_EQ(shape(ConstantR0<uint64_t>(&b, 1)), "u64[]");
  EXPECT_EQ(shape(ConstantR0<double>(&b, 1)), "f64[]");
  EXPECT_EQ(Text(b.ComputeConstant(ConstantR1<float>(&b, 4, 7)).value()), "{7, 7, 7, 7}");
  EXPECT_EQ(Text(b.ComputeConstant(ConstantR2FromArray2D(&b, Array2D<float>({2, 3}, 1))).value()),
            "{ { 1, 1, 1 }, { 1, 1, 1 } }");
  EXPECT_EQ(shape(ConstantR3FromArray3D(&b, Array3D<int32_t>({2, 3, 4}))), "s32[2,3,4]");
  EXPECT_EQ(shape(ConstantR4FromArray4D(&b, Array4D<int32_t>({2, 3, 4, 5}))), "s32[2,3,4,5]");
  EXPECT_EQ(shape(ConstantLiteral(&b, Literal::Tuple({Literal::R0<float>(1)}))), "(f32[])");
  EXPECT_EQ(Text(MinValueLiteral(kF32)), "-inf");
  EXPECT_EQ(Text(MinValueLiteral(ElementType::kS8)), "-128");
  EXPECT_EQ(Text(MaxValueLiteral(ElementType::kU64)), "18446744073709551615");
  EXPECT_EQ(Text(MaxValueLiteral(ElementType::kF8E4M3FN)), "448");
}

TEST(XlaBuilderTest, ScopesPutMarksOnOperations) {
  XlaBuilder b("scopes");
  const XlaOp x = Parameter(&b, 0, F32({4}), "x");
  {
    const ScopedOpMetadata metadata(&b, Named("net/layer"));
    Sharding sharding;
    sharding.kind = Sharding::Kind::kReplicated;
    const ScopedSharding sharded(&b, sharding);
    const ScopedFrontendAttributes attributes(&b, {{"mine", "1"}});
    const XlaOp y = Neg(x);
    b.SetOneShotOpMetadata(Named("once"));
    Abs(y);
    Exp(y);
  }
  Neg(x);
  const std::string text = TextOf(b.Build());
  EXPECT_THAT(text, HasSubstr("negate(%x), sharding={replicated}, frontend_attributes={mine=\"1\"},"
                              " metadata={op_name=\"net/layer\"}"));
  EXPECT_THAT(text, HasSubstr("metadata={op_name=\"once\"}"));
  EXPECT_THAT(text, HasSubstr("ROOT %negate.1 = f32[4]{0} negate(%x)\n"));
}

TEST(XlaBuilderTest, AliasesAndDonors) {
  XlaBuilder b("aliases");
  const XlaOp x = Parameter(&b, 0, F32({4}), "x");
  const XlaOp y = Parameter(&b, 1, F32({4}), "y");
  b.SetUpAlias({0}, 0, {}, false);
  b.AddBufferDonor(1, {});
  Tuple(&b, {Neg(x), Neg(y)});
  const std::string text = TextOf(b.Build());
  EXPECT_THAT(text, HasSubstr("input_output_alias={ {0}: (0, {}, may-alias) }"));
  EXPECT_THAT(text, HasSubstr("buffer_donor={ (1, {}) }"));
}

TEST(XlaBuilderTest, MethodsAndBothConstructors) {
  XlaBuilder b(nullptr, "max");
  const auto y = b.Parameter(0, F32({}), "y");
  const auto x = b.Parameter(1, F32({}), "x");
  b.Max(y, x);
  const XlaComputation max = b.Build().value();
  EXPECT_EQ(max.name(), "max");
  XlaBuilder windows("windows");
  const auto input = windows.Parameter(0, F32({4, 6}), "input");
  windows.ReduceWindow(input, windows.ConstantLiteral(MinValueLiteral(kF32)), max, {2, 3}, {2, 3},
                       Padding::kValid);
  EXPECT_THAT(RootText(windows.Build()),
              HasSubstr("f32[2,2]{1,0} reduce-window(%input, %constant), window={size=2x3 "
                        "stride=2x3}, to_apply=%max"));
}

TEST(MakePaddingTest, SameAndValid) {
  const auto pad = [](int64_t size, int64_t window, int64_t stride) {
    return MakePadding({size}, {window}, {stride}, Padding::kSame).value()[0];
  };
  EXPECT_EQ(pad(5, 3, 2), std::pair(int64_t{1}, int64_t{1}));
  EXPECT_EQ(pad(10, 5, 3), std::pair(int64_t{2}, int64_t{2}));
  EXPECT_EQ(pad(4, 2, 1), std::pair(int64_t{0}, int64_t{1}));
  EXPECT_EQ(pad(4, 3, 2), std::pair(int64_t{0}, int64_t{1}));
  EXPECT_EQ(MakePadding({5}, {3}, {2}, Padding::kValid).value(), PaddingPairs({{0, 0}}));
  EXPECT_FALSE(MakePadding({5}, {3}, {0}, Padding::kSame).ok());
  EXPECT_FALSE(MakePadding({5}, {3}, {2, 2}, Padding::kSame).ok());
}

struct BroadcastCase {
  std::vector<int64_t> lhs, rhs, dimensions;
  const char* result;  // null: an error
};

TEST(ImplicitBroadcastTest, SeedsExamples) {
  const BroadcastCase cases[] = {
      {{2, 3}, {}, {}, "f32[2,3]"},
      {{}, {2, 3}, {}, "f32[2,3]"},
      {{2, 3}, {3}, {}, nullptr},
      {{2, 3}, {3}, {1}, "f32[2,3]"},
      {{2, 3}, {3}, {0}, nullptr},
      {{3, 3}, {3}, {0}, "f32[3,3]"},
      {{2, 3, 4}, {3, 4}, {1, 2}, "f32[2,3,4]"},
      {{2, 3, 4}, {4, 3}, {2, 1}, nullptr},
      {{2, 1}, {2, 3}, {}, "f32[2,3]"},
      {{1, 2, 5}, {7, 2, 5}, {}, "f32[7,2,5]"},
      {{7, 2, 5}, {7, 1, 5}, {}, "f32[7,2,5]"},
      {{7, 2, 5}, {7, 2, 6}, {}, nullptr},
      {{2, 1}, {1, 3}, {}, "f32[2,3]"},
      {{1, 2}, {4}, {0}, "f32[4,2]"},
      {{4, 3, 1}, {1, 2}, {1, 2}, "f32[4,3,2]"},
      {{2, 1}, {2, 3, 4}, {0, 2}, "f32[2,3,4]"},
      {{2, 3}, {2, 1, 4}, {0, 1}, "f32[2,3,4]"},
      {{2, 1}, {2, 3, 4}, {1, 2}, nullptr},
  };
  for (const BroadcastCase& c : cases) {
    XlaBuilder b("broadcast");
    const XlaOp lhs = Parameter(&b, 0, Shape::Array(kF32, c.lhs), "lhs");
    const XlaOp rhs = Parameter(&b, 1, Shape::Array(kF32, c.rhs), "rhs");
    const XlaOp sum = Add(lhs, rhs, c.dimensions);
    ASSERT_EQ(sum.valid(), c.result != nullptr) << Text(Shape::Array(kF32, c.lhs));
    if (!sum.valid()) continue;
    EXPECT_EQ(Text(b.GetShape(sum).value()), c.result);
    TextOf(b.Build());
  }
}

TEST(ImplicitBroadcastTest, ValuesOfTheWorkedExamples) {
  XlaBuilder b("values");
  const auto text = [&](XlaOp op) {
    const absl::StatusOr<Literal> value = b.ComputeConstant(op);
    return value.ok() ? Text(*value) : std::string(value.status().message());
  };
  const XlaOp matrix = ConstantR2<float>(&b, {{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(text(Add(matrix, ConstantR0<float>(&b, 7))), "{ { 8, 9, 10 }, { 11, 12, 13 } }");
  EXPECT_EQ(text(Add(matrix, ConstantR1<float>(&b, {7, 8, 9}), {1})),
            "{ { 8, 10, 12 }, { 11, 13, 15 } }");
  const XlaOp vector = ConstantR1<float>(&b, {1, 2, 3, 4});
  EXPECT_EQ(text(Add(vector, ConstantR2<float>(&b, {{5, 6}}), {0})),
            "{ { 6, 7 }, { 7, 8 }, { 8, 9 }, { 9, 10 } }");
  const XlaOp zeros = ConstantR2FromArray2D(&b, Array2D<float>({3, 3}));
  EXPECT_EQ(text(Add(zeros, ConstantR1<float>(&b, {7, 8, 9}), {0})),
            "{ { 7, 7, 7 }, { 8, 8, 8 }, { 9, 9, 9 } }");
}

TEST(XlaBuilderTest, HalvesAndPairsAreReportedHere) {
  XlaBuilder alone("alone");
  const XlaOp token = CreateToken(&alone);
  const XlaOp sent = SendStart(Parameter(&alone, 0, F32({2}), "x"), token, ChannelHandle{1}, false);
  EXPECT_THAT(std::string(alone.Build().status().message()), HasSubstr("send %send"));
  SendDone(sent, ChannelHandle{1}, false);
  EXPECT_TRUE(alone.Build().ok());
  RecvStart(token, F32({2}), ChannelHandle{1}, false);
  EXPECT_THAT(std::string(alone.Build().status().message()), HasSubstr("without its second"));

  for (const IntPairs& pairs :
       {IntPairs{{0, 1}, {0, 2}}, IntPairs{{0, 1}, {2, 1}}, IntPairs{{-1, 0}}}) {
    XlaBuilder permutes("permutes");
    CollectivePermute(Parameter(&permutes, 0, F32({2}), "x"), pairs);
    EXPECT_THAT(std::string(permutes.Build().status().message()),
                HasSubstr("collective-permute: source_target_pairs"));
  }
}

TEST(OpMethodsTest, InfeedsAreOrderedOrRefused) {
  XlaBuilder ordered("ordered");
  const XlaOp first = Infeed(&ordered, F32({2}));
  Add(first, Infeed(&ordered, F32({2})));
  EXPECT_THAT(TextOf(ordered.Build()), HasSubstr("infeed(%get-tuple-element"));
  XlaBuilder strict("strict");
  strict.set_require_ordered_infeeds(true);
  Add(Infeed(&strict, F32({2})), Infeed(&strict, F32({2})));
  EXPECT_THAT(std::string(strict.Build().status().message()), HasSubstr("no order"));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
