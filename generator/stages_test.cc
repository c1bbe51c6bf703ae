// Modules of a stage have what dumps of that stage have.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "absl/strings/match.h"
#include "generator/generator.h"
#include "ops/infer/op_table.h"

namespace hlokit {
namespace {

// How many instructions of a stage's first modules are such.
int Count(const std::string& stage, const std::function<bool(const Instruction&)>& is,
          uint64_t modules = 150) {
  int count = 0;
  for (uint64_t seed = 0; seed < modules; ++seed) {
    GeneratorOptions options;
    options.seed = seed;
    options.stage = stage;
    const RandomModule random = GenerateModule(options);
    for (const Computation* c : random.module->Computations())
      for (const Instruction* i : c->Instructions()) count += is(*i) ? 1 : 0;
  }
  return count;
}

bool IsFusion(const Instruction& i) { return i.opcode() == Opcode::kFusion; }

TEST(StageFormsTest, FusionsOfAllKinds) {
  for (const FusionKind kind :
       {FusionKind::kLoop, FusionKind::kInput, FusionKind::kOutput, FusionKind::kCustom})
    EXPECT_GT(Count("fused",
                    [kind](const Instruction& i) {
                      return IsFusion(i) && i.attr<FusionAttrs>().kind == kind;
                    }),
              5);
}

TEST(StageFormsTest, FusionsOfAllForms) {
  const auto count = [](bool (*is)(const Instruction&)) {
    return Count("fused", [is](const Instruction& i) { return IsFusion(i) && is(i); });
  };
  EXPECT_GT(count([](const Instruction& i) { return i.shape().IsTuple(); }), 20);
  EXPECT_GT(count([](const Instruction& i) {  // nested
              return absl::StrContains(i.parent()->name(), "fused");
            }),
            20);
  EXPECT_GT(count([](const Instruction& i) {  // an operand twice
              return std::set<Instruction*>(i.operands().begin(), i.operands().end()).size() <
                     i.operands().size();
            }),
            20);
  const auto aliases = [](const Instruction& i) {
    return IsFusion(i) && !i.attr<FusionAttrs>().output_to_operand_aliasing.empty();
  };
  EXPECT_GT(Count("fused", aliases, /*modules=*/600), 0);  // seldom
}

TEST(StageFormsTest, BitcastsHoldForTheirLayoutsAlone) {
  const auto odd = [](const Instruction& i) {
    return i.opcode() == Opcode::kBitcast && i.shape().rank() != i.operand(0)->shape().rank() &&
           !(i.shape().IsRowMajor() && i.operand(0)->shape().IsRowMajor());
  };
  EXPECT_GT(Count("layouts", odd), 20);
  EXPECT_GT(Count("fused", odd), 20);
}

TEST(StageFormsTest, BitcastsOfOtherWidths) {
  const auto cut = [](const Instruction& i) {
    return i.opcode() == Opcode::kBitcast &&
           BitWidth(i.shape().type) != BitWidth(i.operand(0)->shape().type);
  };
  EXPECT_GT(Count("gpu", cut), 20);
  EXPECT_GT(Count("tpu", cut), 20);
}

TEST(StageFormsTest, PairsLieApartInSchedules) {
  int apart = 0;
  Count("scheduled", [&](const Instruction& i) {
    if (!HasTrait(i.opcode(), kAsyncDone) || !i.parent()->has_schedule()) return false;
    const auto order = i.parent()->schedule();
    const auto place = [&](const Instruction* of) {
      return std::find(order.begin(), order.end(), of) - order.begin();
    };
    apart += place(&i) > place(i.operand(0)) + 3 ? 1 : 0;
    return true;
  });
  EXPECT_GT(apart, 50);
  EXPECT_GT(
      Count("scheduled", [](const Instruction& i) { return !i.control_predecessors().empty(); }),
      50);
}

TEST(StageFormsTest, CallsMixLayouts) {
  EXPECT_GT(Count("calls",
                  [](const Instruction& i) {
                    return i.opcode() == Opcode::kCall &&
                           i.operand(0)->shape() != i.called(0)->parameter(0)->shape();
                  }),
            5);
}

TEST(StageFormsTest, DevicesMeet) {
  EXPECT_GT(Count("spmd",
                  [](const Instruction& i) {
                    return i.opcode() == Opcode::kAllGather && i.shape() != i.operand(0)->shape();
                  }),
            10);
  EXPECT_GT(Count("sharded",
                  [](const Instruction& i) {
                    return i.sharding() != nullptr && i.sharding()->kind == Sharding::Kind::kTiled;
                  }),
            100);
}

// A domain says how what it parts is sharded, which is no longer so.
TEST(StageFormsTest, NoDomainsBetweenShardings) {
  EXPECT_EQ(Count("sharded",
                  [](const Instruction& i) {
                    return i.opcode() == Opcode::kDomain && i.parent()->IsEntry();
                  }),
            0);
}

TEST(StageFormsTest, DumpsOfAccelerators) {
  EXPECT_GT(Count("gpu",
                  [](const Instruction& i) {
                    return i.opcode() == Opcode::kCustomCall &&
                           i.attr<CustomCallAttrs>().target == "__cublas$gemm";
                  }),
            5);
  EXPECT_GT(Count("gpu",
                  [](const Instruction& i) {
                    return i.opcode() == Opcode::kCall &&
                           absl::StartsWith(i.to_apply()->name(), "command_buffer");
                  }),
            20);
  EXPECT_GT(Count("tpu",
                  [](const Instruction& i) {
                    const auto& extras = i.shape().layout.extras;
                    return i.shape().IsArray() && extras != nullptr && !extras->tiles.empty();
                  }),
            500);
  EXPECT_GT(Count("tpu",
                  [](const Instruction& i) {
                    return i.opcode() == Opcode::kCopyDone && i.shape().layout.memory_space() == 1;
                  }),
            20);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
