// What becomes of programs beside running them: written and loaded with their options, forgotten
// when nobody can ask for them again.
#include <limits>

#include "builder/builder.h"
#include "client/client.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

using ::testing::HasSubstr;

constexpr ElementType kF32 = ElementType::kF32;

class KeptProgramsTest : public testing::TestWithParam<const char*> {
 protected:
  ProgramHandle Reloaded(const CompiledProgram& program) {
    const std::string bytes = client_->SerializeExecutable(program).value();
    other_ = Client::Create(GetParam()).value();
    return other_->LoadExecutable(bytes).value();
  }
  std::unique_ptr<Client> client_ = Client::Create(GetParam()).value(), other_;
};

INSTANTIATE_TEST_SUITE_P(Platforms, KeptProgramsTest, testing::Values("cpu", "interpreter"));

TEST_P(KeptProgramsTest, OptionsStay) {
  ClientCompileOptions options;
  options.backend.opt_level = 0;
  options.backend.donate = true;
  options.backend.flush_denormals = true;
  options.backend.threads = 1;
  const ProgramHandle program =
      client_
          ->CompileText(
              "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }\n"
              "ENTRY e { x = f32[512]{0} parameter(0)\n ROOT y = f32[512]{0} add(x, x) }",
              options)
          .value();
  const ProgramHandle loaded = Reloaded(*program);
  EXPECT_EQ(loaded->options().opt_level, 0);
  EXPECT_TRUE(loaded->options().donate);
  EXPECT_TRUE(loaded->options().flush_denormals);
  EXPECT_EQ(loaded->stats().donated, program->stats().donated);
  EXPECT_EQ(loaded->stats().cached_objects, loaded->stats().objects);
  // And once more, from what was loaded.
  const std::string again = other_->SerializeExecutable(*loaded).value();
  EXPECT_TRUE(client_->LoadExecutable(again).value()->options().donate);
}

// Compiled code has sizes as parameters and results of their own, which nobody sees.
TEST_P(KeptProgramsTest, DynamicProgramsStayAsTheyAre) {
  const ProgramHandle program = client_
                                    ->CompileText(R"(
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e { x = f32[4] parameter(0)
  n = s32[] parameter(1)
  y = f32[<=4] parameter(2)
  part = f32[<=4] set-dimension-size(x, n), dimensions={0}
  zero = f32[] constant(0)
  sum = f32[] reduce(part, zero), dimensions={0}, to_apply=add
  twice = f32[<=4] add(y, y)
  ROOT r = (f32[], f32[<=4]) tuple(sum, twice) })")
                                    .value();
  const ProgramHandle loaded = Reloaded(*program);
  EXPECT_EQ(loaded->program_shape(), program->program_shape());
  Literal bounded(Shape::Array(kF32, {4}));
  std::fill_n(bounded.as<float>(), 4, 1.5F);
  Shape shape = bounded.shape();
  shape.SetDynamic(0, true);
  bounded.set_shape(shape);
  bounded.set_dynamic_size(0, 3);
  const auto x = other_->TransferToServer(Literal::R1<float>({1, 2, 4, 8})).value();
  const auto n = other_->TransferToServer(Literal::R0<int32_t>(3)).value();
  const auto y = other_->TransferToServer(bounded).value();
  const auto result = other_->Execute(*loaded, {x.get(), n.get(), y.get()}).value();
  EXPECT_EQ(Text(result->literal()), "( 7, {3, 3, 3} )");
}

TEST_P(KeptProgramsTest, DamagedOptionsAreRefused) {
  const ProgramHandle program =
      client_->CompileText("ENTRY e { ROOT x = f32[] parameter(0) }").value();
  std::string bytes = client_->SerializeExecutable(*program).value();
  // Behind the magic and the platform, each with its length: the options.
  const size_t options = bytes.find(GetParam()) + std::string(GetParam()).size() + 8;
  for (size_t field = 0; field < 3; ++field) {
    std::string damaged = bytes;
    damaged.replace(options + 8 * field, 8, 8, '\x7f');
    const auto loaded = client_->LoadExecutable(damaged);
    ASSERT_FALSE(loaded.ok()) << field;
    EXPECT_THAT(std::string(loaded.status().message()), HasSubstr("options"));
  }
}

TEST_P(KeptProgramsTest, ProgramsOfComputationsThatAreGoneAreForgotten) {
  std::weak_ptr<const Module> first;
  XlaBuilder kept_builder("kept");
  Parameter(&kept_builder, 0, Shape::Scalar(kF32), "x");
  const XlaComputation kept = kept_builder.Build().value();
  const auto x = client_->TransferToServer(Literal::R0<float>(1)).value();
  ASSERT_TRUE(client_->Execute(kept, {x.get()}).ok());
  for (int i = 0; i < 20; ++i) {
    XlaBuilder b("passing");
    Neg(Parameter(&b, 0, Shape::Scalar(kF32), "x"));
    const XlaComputation computation = b.Build().value();
    if (i == 0) first = computation.shared_module();
    ASSERT_TRUE(client_->Execute(computation, {x.get()}).ok());
  }
  EXPECT_TRUE(first.expired());
  const int64_t compiled = client_->compile_count();
  ASSERT_TRUE(client_->Execute(kept, {x.get()}).ok());
  EXPECT_EQ(client_->compile_count(), compiled);
}

TEST_P(KeptProgramsTest, ProgramsRunInTheBackground) {
  const ProgramHandle program =
      client_->CompileText("ENTRY e { x = f32[] parameter(0)\n ROOT y = f32[] negate(x) }").value();
  const auto x = client_->TransferToServer(Literal::R0<float>(2)).value();
  std::future<DataOr> result = client_->ExecuteAsync(program, {x.get()});
  EXPECT_EQ(Text((*result.get())->literal()), "-2");
  EXPECT_FALSE(client_->ExecuteAsync(ProgramHandle(), {}).get().ok());
}

TEST_P(KeptProgramsTest, OutfeedsAreAwaitedForAnyTime) {
  ASSERT_TRUE(client_->CompileText("ENTRY e { ROOT x = f32[] parameter(0) }").ok());
  EXPECT_EQ(client_->TransferFromOutfeed(0, 0).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  XlaBuilder b("fed");
  Outfeed(ConstantR0<float>(&b, 3), Shape::Scalar(kF32), "");
  const XlaComputation computation = b.Build().value();
  for (const double timeout : {1e300, std::numeric_limits<double>::infinity(), -1.0}) {
    std::future<DataOr> run = client_->ExecuteAsync(computation, {});
    EXPECT_EQ(Text(client_->TransferFromOutfeed(0, timeout).value()), "3");
    EXPECT_TRUE(run.get().ok());
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
