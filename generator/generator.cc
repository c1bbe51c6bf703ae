// Whole modules: an entry computation grown step by step, and a result of what nothing else reads.
//
// Each step picks a recipe by weight (recipes.def); a recipe takes values made so far, or new
// parameters, adds a few instructions and keeps their results with bounds: the range that values
// lie in and the error that two right executions may differ by. So comparisons know their
// tolerance, and integers and data movement must agree exactly. One seed gives one module, on every
// machine. A stage (stages.cc) adds steps of its own and rewrites the finished module.
#include "generator/generator.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "generator/scope_internal.h"
#include "generator/stages_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr size_t kMaxResults = 10;

constexpr Recipe kRecipes[] = {
#define HLO_RECIPE(function, weight, fused) {#function, weight, fused, function},
#include "generator/recipes.def"
#undef HLO_RECIPE
};

// The last values that nothing reads, and some that something does.
Values PickResults(GeneratedCode& scope) {
  Values results;
  const Values& values = scope.values();
  for (auto value = values.rbegin(); value != values.rend() && results.size() < kMaxResults;
       ++value)
    if (value->instruction->users().empty() || scope.random().Chance(0.1))
      results.push_back(*value);
  if (results.empty()) results.push_back(scope.Any());
  if (scope.random().Chance(0.2)) results.resize(1);
  return results;
}

void AddStageSteps(GeneratedCode& scope, const StageInfo& stage) {
  for (int i = 0; i < stage.extra_steps; ++i) {
    scope.random().OneOf(stage.recipes)(scope);
    scope.Grow(1);
  }
}

void PickDevices(StageInfo::Devices devices, GeneratorState& state) {
  ModuleHeader& header = state.module.header();
  if (devices == StageInfo::Devices::kSeveral) {
    header.replica_count = state.random.OneOf({1, 1, 2});
    header.num_partitions =
        header.replica_count == 2 ? state.random.OneOf({1, 2, 2}) : state.random.OneOf({2, 2, 4});
  } else if (devices == StageInfo::Devices::kUnknown) {
    header.num_partitions = state.random.OneOf({2, 4});
    state.divergent = 1;  // no collectives
  }
}

}  // namespace

absl::Span<const Recipe> Recipes() { return kRecipes; }

std::vector<std::string> RecipeNames() {
  std::vector<std::string> names;
  for (const Recipe& recipe : kRecipes) names.emplace_back(recipe.name);
  return names;
}

RandomModule GenerateModule(const GeneratorOptions& given) {
  const StageInfo* const stage = FindStage(given.stage);
  CHECK(stage != nullptr) << given.stage;
  GeneratorOptions options = given;
  options.odd_layouts = std::max(options.odd_layouts, stage->odd_layouts);
  RandomModule result;
  result.module = std::make_unique<Module>(absl::StrCat("random_", options.seed));
  Module& module = *result.module;
  GeneratorState state{options, module, Random(options.seed), {}};
  Computation* entry = module.AddComputation("entry");
  module.set_entry(entry);
  PickDevices(stage->devices, state);
  GeneratedCode scope(state, *entry, GeneratedCode::Kind::kEntry, 0);
  for (int i = 0; i < 3; ++i) scope.GetAny(scope.AnyType());
  scope.Grow(options.instructions);
  if (options.recipe.empty()) AddStageSteps(scope, *stage);
  const Values results = PickResults(scope);
  std::vector<Instruction*> instructions;
  for (const RandomValue& value : results) {
    instructions.push_back(value.instruction);
    const bool exact = !IsFloat(value.type()) && !IsComplex(value.type());
    result.tolerances.push_back(exact ? 0 : 2 * value.bounds.error);
  }
  if (instructions.size() == 1) {
    entry->set_root(instructions[0]);
  } else {
    std::vector<Shape> shapes;
    for (const Instruction* i : instructions) shapes.push_back(i->shape());
    entry->set_root(entry->Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), instructions));
  }
  for (const StageStep step : stage->steps) step(module, state.random);
  result.refusals = std::move(state.refusals);
  return result;
}

Literal RandomHost::Feed(const Shape& shape) {
  Literal item(shape);
  constexpr uint64_t kBeyondParameters = 0x8000;
  FillRandom(item, seed_ * 0x10001 + kBeyondParameters + fed_++, RandomRanges());
  return item;
}

std::vector<Literal> RandomArguments(const Module& module, uint64_t seed) {
  std::vector<Literal> arguments;
  for (const Instruction* parameter : module.entry()->parameters()) {
    arguments.emplace_back(parameter->shape());
    FillRandom(arguments.back(), seed * 0x10001 + parameter->parameter_number(), RandomRanges());
  }
  return arguments;
}

std::vector<StageName> StageNames() {
  std::vector<StageName> names;
  for (const StageInfo& stage : Stages())
    names.push_back({std::string(stage.name), std::string(stage.summary)});
  return names;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
