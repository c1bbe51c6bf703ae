// Every pass, every pipeline and random lists of passes leave random modules (some of many empty
// arrays, of tokens, of sizes that only the run knows) valid and equal in value, and say truly
// whether they changed them.
//
// HLOKIT_RANDOM_MODULES=20000 HLOKIT_RANDOM_SEED=0 tell RandomModulesSlowTest how many, from where;
// HLOKIT_RANDOM_PASSES=a,b has these lists tried alone, HLOKIT_RANDOM_STAGE=fused modules of one
// stage (hlo-gen --list-stages) instead of all in turn, HLOKIT_RANDOM_RECIPE=EndsMoved of one kind
// of step (hlo-gen --list-recipes).
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "generator/generator.h"
#include "gtest/gtest.h"
#include "interpreter/interpreter.h"
#include "parser/parser.h"
#include "passes/framework/promises.h"
#include "passes/manager.h"
#include "passes/pipelines.h"
#include "printer/whole_text.h"
#include "types/compare.h"

namespace hlokit {
namespace {

constexpr double kTimeLimit = 20;  // seconds of one evaluation

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

// Lists after which devices have shards where they had whole arrays.
bool Partitions(absl::string_view passes) {
  return absl::StrContains(passes, "spmd-partitioning") || absl::StrContains(passes, "shardy-xla");
}

const std::vector<std::string>& AllPasses() {
  static const auto* const kNames = [] {
    auto* names = new std::vector<std::string>;
    for (const PassInfo& pass : ListPasses()) names->emplace_back(pass.name);
    return names;
  }();
  return *kNames;
}

// What one execution gives: each device's result, and what the host got.
struct Outcome {
  std::vector<Literal> results;
  std::vector<Literal> taken;
};

class Trial {
 public:
  Trial(const std::string& stage, uint64_t seed) : stage_(stage), seed_(seed) {
    GeneratorOptions options;
    options.seed = seed;
    options.stage = stage;
    options.instructions = 12 + static_cast<int>(seed % 3) * 8;
    options.dynamic_shapes = stage == "raw" && seed % 5 == 4;
    if (seed % 4 == 3) options.empty_dims = 0.3;
    options.manual_regions = stage == "raw" && seed % 3 == 1;
    if (const char* recipe = std::getenv("HLOKIT_RANDOM_RECIPE")) options.recipe = recipe;
    random_ = GenerateModule(options);
    const ModuleHeader& header = random_.module->header();
    for (int64_t device = 0; device < header.replica_count * header.num_partitions; ++device)
      arguments_.push_back(
          RandomArguments(*random_.module, seed + 1000003 * static_cast<uint64_t>(device)));
    text_ = WholeText(*random_.module);
  }

  // From its text, as users have it: there every array has a layout.
  absl::Status Start() {
    Diagnostics diagnostics;
    const auto source = std::make_shared<const SourceFile>("random.hlo", text_);
    auto read = ParseModule(source, {}, diagnostics);
    if (!read.ok()) return read.status();
    random_.module = *std::move(read);
    text_ = WholeText(*random_.module->Clone());
    state_.emplace(ModuleState::OfCopy(*random_.module));
    auto outcome = Evaluate(*random_.module);
    if (!outcome.ok()) return outcome.status();
    expected_ = *std::move(outcome);
    return absl::OkStatus();
  }

  // What is wrong with the module after `passes`; empty: nothing.
  std::string Wrong(const std::string& passes) {
    std::unique_ptr<Module> module = untouched_ ? std::move(untouched_) : random_.module->Clone();
    PassOptions options;
    options.verify_each = true;
    options.at_start = &*state_;
    PassReport report;
    const absl::Status status = RunPasses(*module, passes, options, &report);
    if (absl::IsUnimplemented(status)) return "";  // refused by name, as dynamic_padder may
    if (absl::IsInvalidArgument(status) && RefusesModules(passes)) return "";
    if (!status.ok()) return status.ToString();
    if (!report.misreports.empty()) return report.misreports[0];
    bool changed = false;
    for (const PassRun& run : report.runs) changed |= run.changed;
    if (changed) return ChangesValues(passes) ? "" : WrongValues(*module);
    if (report.runs.size() == 1) untouched_ = std::move(module);
    return "";
  }

  // Where the module can be looked at.
  std::string Save() const {
    std::string path =
        absl::StrCat(testing::TempDir(), "passes_random_", stage_, "_", seed_, ".hlo");
    std::ofstream(path) << text_;
    return path;
  }

 private:
  absl::StatusOr<Outcome> Evaluate(const Module& module) const {
    RandomHost host(seed_);
    InterpreterOptions options;
    options.time_limit_s = kTimeLimit;
    options.infeed = [&host](int64_t, const Shape& shape) { return host.Feed(shape); };
    options.outfeed = [&host](int64_t, const Literal& item) {
      host.Take(item);
      return absl::OkStatus();
    };
    std::vector<std::vector<const Literal*>> arguments(arguments_.size());
    for (size_t device = 0; device < arguments_.size(); ++device)
      for (const Literal& argument : arguments_[device]) arguments[device].push_back(&argument);
    auto results = InterpretDevices(module, arguments, options);
    if (!results.ok()) return results.status();
    return Outcome{*std::move(results), host.taken()};
  }

  std::string WrongValues(const Module& module) const {
    const auto actual = Evaluate(module);
    if (!actual.ok()) return absl::StrCat("cannot be evaluated: ", actual.status().ToString());
    if (actual->taken.size() != expected_.taken.size()) return "the host got more, or less";
    for (size_t i = 0; i < expected_.taken.size(); ++i)
      if (const CompareResult same = Compare(expected_.taken[i], actual->taken[i], {}); !same.equal)
        return absl::StrCat("item ", i, " of the host: ", same.Report());
    for (size_t device = 0; device < arguments_.size(); ++device)
      if (std::string wrong = WrongResult(expected_.results[device], actual->results[device]);
          !wrong.empty())
        return wrong;
    return "";
  }

  std::string WrongResult(const Literal& expected, const Literal& actual) const {
    const bool tuple = expected.shape().IsTuple();
    for (size_t i = 0; i < random_.tolerances.size(); ++i) {
      CompareOptions bounds;
      bounds.abs_error = random_.tolerances[i];
      const CompareResult same = Compare(tuple ? expected.elements()[i] : expected,
                                         tuple ? actual.elements()[i] : actual, bounds);
      if (!same.equal)
        return absl::StrCat("array ", i, ", within ", bounds.abs_error, ": ", same.shape_mismatch,
                            same.Report());
    }
    return "";
  }

  std::string stage_;
  uint64_t seed_;
  RandomModule random_;
  std::vector<std::vector<Literal>> arguments_;  // of each device
  std::string text_;
  std::optional<ModuleState> state_;   // of the module before any pass
  std::unique_ptr<Module> untouched_;  // a copy that the last pass left as it was; may be null
  Outcome expected_;
};

// A pipeline without the pass that leaves out roundings: a type of few bits shows that.
std::string RoundingPipeline(absl::string_view name) {
  return absl::StrReplaceAll(*PipelineSpec(name), {{"simplify-fp-conversions,", ""}});
}

// Each pass by itself, each pipeline, and three random lists of ten passes.
std::vector<std::string> ListsFor(uint64_t seed) {
  std::vector<std::string> passes = AllPasses(), lists = passes;
  std::erase_if(
      passes, [](const std::string& pass) { return ChangesValues(pass) || RefusesModules(pass); });
  lists.emplace_back("domain_remover,domain_isolator,domain_verifier");
  for (absl::string_view name : ListPipelines()) lists.push_back(RoundingPipeline(name));
  std::mt19937_64 random(seed);
  for (int k = 0; k < 3; ++k) {
    std::vector<std::string> some;
    for (int n = 0; n < 10; ++n) some.push_back(passes[random() % passes.size()]);
    lists.push_back(absl::StrJoin(some, ","));
  }
  return lists;
}

// Tries lists of passes on modules, goes on after findings, and writes down where it is: should
// a pass crash or never end, a file names the module and the list.
class Sweep {
 public:
  // `current`: that file; empty: none.
  explicit Sweep(const std::string& current) {
    if (!current.empty()) current_.open(current);
  }

  // Fails for each list that is wrong, but no more once it was wrong kMaxFindings times.
  void Try(const std::string& stage, uint64_t seed, absl::Span<const std::string> lists) {
    Trial trial(stage, seed);
    ++modules_;
    const absl::Status start = trial.Start();
    ASSERT_TRUE(start.ok()) << start << "\n" << trial.Save();
    for (const std::string& passes : lists) {
      if (findings_[passes] >= kMaxFindings || (stage == "sharded" && Partitions(passes))) continue;
      Mark(absl::StrCat(stage, " ", seed, " ", passes));
      ++trials_;
      const std::string wrong = trial.Wrong(passes);
      if (wrong.empty()) continue;
      ++findings_[passes];
      ADD_FAILURE() << trial.Save() << " --passes=" << passes << "\n" << wrong;
    }
  }

  std::string Summary() const {
    return absl::StrCat(modules_, " modules, ", trials_, " lists of passes tried on them");
  }

 private:
  static constexpr int kMaxFindings = 5;

  void Mark(const std::string& what) {
    constexpr size_t kWidth = 400;  // over the line before, without a moment of no line
    if (!current_.is_open()) return;
    current_.seekp(0);
    current_ << what << std::string(kWidth - std::min(kWidth, what.size()), ' ') << std::endl;
  }

  std::ofstream current_;
  std::map<std::string, int> findings_;
  int64_t modules_ = 0, trials_ = 0;
};

std::vector<std::string> Stages() {
  std::vector<std::string> names;
  for (StageName& stage : StageNames()) names.push_back(std::move(stage.name));
  return names;
}

// Seed after seed, of the stages in turn.
void TrySeeds(absl::Span<const std::string> stages, int64_t first, int64_t count,
              const std::string& current) {
  Sweep sweep(current);
  const char* const chosen = std::getenv("HLOKIT_RANDOM_PASSES");
  for (int64_t seed = first; seed < first + count; ++seed)
    sweep.Try(
        stages[seed % stages.size()], seed,
        chosen != nullptr ? absl::StrSplit(chosen, ' ') : ListsFor(static_cast<uint64_t>(seed)));
  std::cout << "seeds from " << first << ": " << sweep.Summary() << std::endl;
}

TEST(RandomModulesTest, PassesKeepValues) { TrySeeds({"raw"}, 0, 12, ""); }

class StagesTest : public testing::TestWithParam<std::string> {};

TEST_P(StagesTest, PassesKeepValues) { TrySeeds({GetParam()}, 0, 2, ""); }

INSTANTIATE_TEST_SUITE_P(Random, StagesTest, testing::ValuesIn(Stages()),
                         [](const auto& info) { return info.param; });

TEST(RandomModulesSlowTest, PassesKeepValues) {
  const int64_t first = FromEnvironment("HLOKIT_RANDOM_SEED", 1000);
  const char* const chosen = std::getenv("HLOKIT_RANDOM_STAGE");
  TrySeeds(chosen != nullptr ? std::vector<std::string>{chosen} : Stages(), first,
           FromEnvironment("HLOKIT_RANDOM_MODULES", 100),
           absl::StrCat(testing::TempDir(), "passes_current_seed_", first));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
