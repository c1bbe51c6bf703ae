// hlo-gen: prints random valid modules, for trying tools and compilers.
#include <algorithm>
#include <cstdio>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "generator/generator.h"
#include "printer/whole_text.h"
#include "support/file.h"
#include "tools/common/dump_folder.h"
#include "tools/common/exit_status.h"
#include "tools/common/flags.h"
#include "tools/common/signals.h"

namespace hlokit {
namespace {

constexpr char kTool[] = "hlo-gen";
constexpr char kExamples[] = R"(Examples:
  hlo-gen --seed=7                                            a module, on standard output
  hlo-gen --seed=7 | hlo-run - --reference-platform=interpreter
  hlo-gen --recipe=GatherValue --instructions=5
  hlo-gen --stage=fused --seed=7 | hlo-run - --no-passes --reference-platform=interpreter
  hlo-gen --seed=0 --count=100 -o DIR                         DIR/random_0.hlo, DIR/random_1.hlo, ...

A seed gives the same module everywhere. Floats stay where functions are smooth on the random inputs that hlo-run makes, so
that right executions agree within the tolerance named in the first line.)";

struct GenOptions {
  GeneratorOptions generator;
  int64_t count = 1;
  std::string output = "-";
  bool list_recipes = false, list_stages = false;
};

std::string TextOf(const GeneratorOptions& options) {
  const RandomModule random = GenerateModule(options);
  const double tolerance = *std::max_element(random.tolerances.begin(), random.tolerances.end());
  return absl::StrCat("// seed ", options.seed, ", --abs-error=", tolerance, "\n",
                      WholeText(*random.module));
}

int Run(GenOptions& o) {
  EndOnSignals(kTool, /*time_limit_s=*/0);
  if (o.list_recipes) {
    for (const std::string& name : RecipeNames()) std::printf("%s\n", name.c_str());
    return kExitDone;
  }
  if (o.list_stages) {
    for (const StageName& stage : StageNames())
      std::printf("%-10s %s\n", stage.name.c_str(), stage.summary.c_str());
    return kExitDone;
  }
  if (o.output != "-")
    if (const absl::Status made = MakeFolder(o.output); !made.ok()) return ReportError(kTool, made);
  std::string text;
  for (int64_t i = 0; i < o.count; ++i, ++o.generator.seed) {
    const std::string module = TextOf(o.generator);
    if (o.output == "-") {
      absl::StrAppend(&text, i > 0 ? "// -----\n" : "", module);
      continue;
    }
    const absl::Status written =
        AtomicWriteFile(absl::StrCat(o.output, "/random_", o.generator.seed, ".hlo"), module);
    if (!written.ok()) return ReportError(kTool, written);
  }
  return o.output == "-" ? ReportError(kTool, AtomicWriteFile("-", text)) : kExitDone;
}

bool Parse(int argc, const char* const* argv, GenOptions& o, int& exit_status) {
  CLI::App app("Prints random valid HLO modules.", kTool);
  app.add_option("--seed", o.generator.seed, "of the first module");
  app.add_option("--count", o.count, "how many, of the seeds that follow")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  app.add_option("--instructions", o.generator.instructions, "steps of the entry computation")
      ->check(CLI::Range(0, 10000));
  app.add_option("--max-elements", o.generator.max_elements, "of an array")
      ->check(CLI::Range(1, 1 << 24));
  app.add_option("--odd-layouts", o.generator.odd_layouts,
                 "how many arrays are not row-major, 0 to 1")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--empty-dims", o.generator.empty_dims, "how many dimensions have size 0, 0 to 1")
      ->check(CLI::Range(0.0, 1.0));
  app.add_flag("!--no-control-flow", o.generator.control_flow, "no calls, loops and branches");
  app.add_flag("--dynamic-shapes", o.generator.dynamic_shapes,
               "sizes that only the run knows, and operations over them");
  app.add_flag("--manual-regions", o.generator.manual_regions,
               "Shardy's regions on one device, which the interpreter alone runs unpartitioned");
  app.add_option("--recipe", o.generator.recipe, "only this kind of step")
      ->check(CLI::IsMember(RecipeNames()))
      ->type_name("NAME");
  app.add_flag("--list-recipes", o.list_recipes, "print the kinds of steps");
  std::vector<std::string> stages;
  for (StageName& stage : StageNames()) stages.push_back(std::move(stage.name));
  app.add_option("--stage", o.generator.stage, "whose form the modules have")
      ->check(CLI::IsMember(stages))
      ->type_name("NAME");
  app.add_flag("--list-stages", o.list_stages, "print the stages");
  app.add_option("-o,--output", o.output, "a folder, or - for standard output")->type_name("DIR");
  return ParseToolFlags(app, argc, argv, kExamples, exit_status);
}

}  // namespace
}  // namespace hlokit

int main(int argc, char** argv) {
  hlokit::GenOptions options;
  int exit_status = 0;
  if (!hlokit::Parse(argc, argv, options, exit_status)) return exit_status;
  return hlokit::Run(options);
}
// SPDX-License-Identifier: Apache-2.0
