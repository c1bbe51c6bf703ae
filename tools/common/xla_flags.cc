// The tables. A flag that means nothing here is named in a warning, so that nobody takes a result
// for what it is not.
#include "tools/common/xla_flags.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "support/text.h"

namespace hlokit {
namespace {

using M = XlaFlag::Meaning;

constexpr XlaProgram kPrograms[] = {
    {"run_hlo_module", "hlo-run", kRunHloModule},
    {"hlo_runner_main", "hlo-run", kHloRunner},
    {"hlo_runner_main_gpu", "hlo-run", kHloRunner},
    {"multihost_hlo_runner", "hlo-run", kHloRunner},
    {"hlo_isolation_test", "hlo-run", kIsolationTest},
    {"hlo_isolate", "hlo-opt", kIsolateHlo},
    {"isolate_hlo", "hlo-opt", kIsolateHlo},
    {"hlo-extractor", "hlo-opt", kIsolateHlo},
    {"hlo_extractor", "hlo-opt", kIsolateHlo},
    {"hlo-expand", "hlo-opt", kExpand},
    {"hlo_expand", "hlo-opt", kExpand},
    {"hlo_proto_to_json", "hlo-opt", kProtoToJson},
    {"hlo-translate", "hlo-opt", kTranslate},
    {"xla-translate", "hlo-opt", kTranslate},
    {"convert", "hlo-opt", kConvert},  // not installed: it is another program's name (cmake/HlokitLibrary.cmake)
    {"interactive_graphviz", "hlo-viz", kGraphviz},
    {"hlo_bisect", "hlo-reduce", kBisect},
    {"compute_cost", "hlo-cost", kComputeCost},
    {"hlo_diff", "hlo-diff", kHloDiff},
    {"show_signature", "hlo-opt", kShowSignature},
    {"show_literal", "hlo-opt", kShowLiteral},
    {"show_text_literal", "hlo-opt", kShowLiteral},
    {"xla_compile", "hlo-aot", kXlaCompile},
    {"xla_cpu_compile", "hlo-aot", kXlaCompile},
    {"xla_gpu_compile", "hlo-aot", kXlaCompile},
    {"dumped_computation_to_text", "hlo-opt", kDumpedToText},
    {"dumped_computation_to_operation_list", "hlo-opt", kDumpedToOperations},
    {"dumped_computation_to_graphviz", "hlo-viz", kDumpedToGraph},
};

constexpr absl::string_view kSimulated = "one process simulates all devices";
constexpr absl::string_view kNoLog =
    "there is no log; --time-passes, --stats and --dump-to show what is done";
constexpr absl::string_view kGpuCompiler = "it steers XLA's compiler for GPUs";
constexpr absl::string_view kTuplesStay = "arguments and results are tuples where they were";
constexpr absl::string_view kAllComputations = "--stablehlo-all-computations";
constexpr absl::string_view kFlatEntry = "--stablehlo-flat-entry";
constexpr absl::string_view kDumpsAreText =
    "dumps are text; hlo-opt --format=pb, hlo-viz make the rest of them";

// Rows of a program come before those of XLA's compiler; the first that fits counts.
constexpr XlaFlag kFlags[] = {
    // Read by ReadToolCall itself.
    {kRunners | kOpts, "--debug-options-file", M::kIs, "--debug-options-file"},
    {kHloRunner, "--num-nodes", M::kIs, "--num-nodes"},
    {kHloRunner, "--task-id", M::kIs, "--task-id"},
    {kHloRunner, "--address", M::kIs, "--address"},
    {kBisect, "--dump-path", M::kIs, "--dump-path"},

    // Files.
    {kHloRunner | kIsolationTest, "--hlo-file", M::kFile, ""},
    {kRunHloModule, "--input-module", M::kFile, ""},
    {kIsolateHlo | kComputeCost | kBisect, "--input", M::kFile, ""},
    {kProtoToJson, "--input-file", M::kFile, ""},
    {kProtoToJson, "--output-file", M::kIs, "--output"},
    {kIsolateHlo | kExpand | kConvert, "--output-format", M::kFormat, "--format"},
    {kExpand, "--output-file", M::kIs, "--output"},
    {kExpand, "--expand-all", M::kPasses,
     "batchnorm_expander,cholesky_expander,rng-expander,rng-bit-generator-expander,"
     "topk-decomposer,triangular_solve_expander,sharding-propagation,spmd-partitioning"},
    {kExpand, "--batch-norm-expander", M::kPasses, "batchnorm_expander"},
    {kExpand, "--batch-norm-grad-expander", M::kPasses, "batchnorm_expander"},
    {kExpand, "--batch-norm-inference-expander", M::kPasses, "batchnorm_expander"},
    {kExpand, "--batch-norm-training-expander", M::kPasses, "batchnorm_expander"},
    {kExpand, "--cholesky-expander", M::kPasses, "cholesky_expander"},
    {kExpand, "--rng-expander", M::kPasses, "rng-expander"},
    {kExpand, "--rng-bit-generator-expander", M::kPasses, "rng-bit-generator-expander"},
    {kExpand, "--rng-bit-generator-philox-expander", M::kPasses, "rng-bit-generator-expander"},
    {kExpand, "--rng-bit-generator-three-fry-expander", M::kPasses, "rng-bit-generator-expander"},
    {kExpand, "--topk-expander", M::kPasses, "topk-decomposer"},
    {kExpand, "--triangular-solve-expander", M::kPasses, "triangular_solve_expander"},
    {kExpand, "--spmd-expander", M::kPasses, "sharding-propagation,spmd-partitioning"},
    {kExpand, "--verify-hlo", M::kAlways, ""},
    {kXlaCompile, "--module-file", M::kFile, ""},
    {kXlaCompile, "--output-file", M::kIs, "--output"},
    {kXlaCompile, "--platform", M::kIs, "--platform"},
    {kXlaCompile, "--result-output-file", M::kNoEffect, "the exit status says how it went"},
    {kXlaCompile, "--use-attached-device", M::kNoEffect, "no device is needed"},
    {kXlaCompile, "--wait-for-uploads", M::kNoEffect, "nothing is uploaded"},
    {kXlaCompile, "--symbol-repo", M::kRefused, "give the module's file"},
    {kXlaCompile, "--symbol-id", M::kRefused, "give the module's file"},
    {kXlaCompile, "--gpu-target-config", M::kRefused,
     "hlo-opt --platform=gpu --stage=ptx --gpu-arch=sm_90 compiles for GPUs"},
    {kXlaCompile, "--autotune-results", M::kNoEffect, "nothing is autotuned"},
    {kIsolateHlo, "--instruction-name", M::kIs, "--extract"},
    {kComputeCost, "--format", M::kFormat, "--input-format"},
    {kAnyCaller & ~kComputeCost, "--input-format", M::kFormat, "--input-format"},
    {kAnyCaller, "--o", M::kIs, "--output"},
    {kTranslate, "--hlo-to-mlir", M::kWhereOn, "--format=stablehlo-pretty"},
    {kTranslate, "--hlo-text-to-stablehlo", M::kWhereOn, "--format=stablehlo-pretty"},
    {kTranslate, "--hlo-to-stablehlo", M::kWhereOn, "--format=stablehlo-pretty"},
    {kTranslate, "--hlo-text-to-mlir-hlo", M::kWhereOn, "--format=stablehlo-pretty"},
    {kTranslate, "--hlo-to-mlir-hlo", M::kWhereOn, "--format=stablehlo-pretty"},
    {kTranslate, "--mlir-to-hlo", M::kAlways, ""},
    {kTranslate, "--mlir-hlo-to-hlo", M::kWhereOn, "--emit-proto"},
    {kTranslate, "--stablehlo-to-hlo-text", M::kAlways, ""},
    {kTranslate, "--mlir-hlo-to-hlo-text", M::kAlways, ""},
    {kTranslate, "--stablehlo-to-hlo", M::kWhereOn, "--emit-proto"},
    {kDumpedToText, "--compile", M::kWhereOn, "--stage=hlo-backend"},
    {kTranslate, "--print-layouts", M::kAlways, ""},
    {kTranslate, "--with-layouts", M::kAlways, ""},
    {kTranslate, "--print-sugar", M::kWhereOff, "--no-print-sugar"},
    {kTranslate, "--import-all-computations", M::kWhereOn, kAllComputations},
    {kTranslate, "--hlo-import-all-computations", M::kWhereOn, kAllComputations},
    {kTranslate, "--emit-stablehlo", M::kAlwaysOn, "StableHLO is what is written"},
    {kTranslate, "--emit-mhlo", M::kAlwaysOff, "StableHLO is what is written"},
    {kTranslate, "--via-builder", M::kAlways, ""},
    {kTranslate, "--flatten-computation-args-result", M::kWhereOn, kFlatEntry},
    {kTranslate, "--hlo-flatten-computation-args-result", M::kWhereOn, kFlatEntry},
    {kTranslate, "--emit-return-tuple", M::kNoEffect, kTuplesStay},
    {kTranslate, "--emit-use-tuple-args", M::kNoEffect, kTuplesStay},

    // Platforms, comparisons.
    {kRunHloModule | kHloRunner, "--platform", M::kPlatform, "--platform"},
    {kHloRunner, "--device-type", M::kPlatform, "--platform"},
    {kIsolationTest, "--test-platform", M::kPlatform, "--platform"},
    {kRunHloModule | kIsolationTest, "--reference-platform", M::kPlatform, "--reference-platform"},
    {kBisect, "--test-platform", M::kPlatform, "--test-platform"},
    {kBisect, "--reference-platform", M::kPlatform, "--reference-platform"},
    {kHloOpt, "--platform", M::kPlatform, "--platform"},
    {kGraphviz, "--platform", M::kNoEffect,
     "the module is shown as it is; hlo-opt --stage=hlo-backend compiles it first"},
    {kIsolationTest, "--run-hlo-passes", M::kWhereOff, "--no-passes"},
    {kIsolationTest, "--filter-by-name", M::kIs, "--filter-by-name"},
    {kIsolationTest, "--num-shards", M::kIs, "--num-shards"},

    // Runs.
    {kRunHloModule | kHloRun, "--num-runs", M::kIs, "--iterations"},
    {kRunHloModule, "--force-fake-data", M::kRefused,
     "no version of run_hlo_module has it: cut the module out of the snapshot with hlo-opt"},
    {kHloRunner, "--run", M::kWhereOff, "--compile-only"},
    {kHloRunner, "--is-spmd-partitioned-module", M::kWhereOn, "--no-passes"},
    {kHloRunner, "--use-spmd-partitioning", M::kAlways, ""},
    {kHloRunner, "--use-shardy-partitioner", M::kAlways, ""},
    {kHloRunner, "--remove-infeed-outfeed", M::kAlways, ""},
    {kHloRunner, "--use-layouts-from-hlo-module", M::kAlwaysOn,
     "arguments have the layouts that the module gives them"},
    {kHloRunner, "--force-auto-layout", M::kAlwaysOff,
     "arguments have the layouts that the module gives them"},
    {kHloRunner, "--enable-mock-nccl", M::kAlways, ""},
    {kHloRunner, "--enable-mock-gpu", M::kAlways, ""},
    {kHloRunner, "--xla-dump-as-text", M::kAlways, ""},
    {kHloRunner, "--xla-dump-as-proto", M::kAlwaysOff, kDumpsAreText},
    {kHloRunner, "--compile-as-stablehlo", M::kAlwaysOff, "modules are compiled as HLO"},
    {kHloRunner, "--execution-options-path", M::kRefused,
     "give replicas, partitions and layouts by flags: --num-replicas, --num-partitions"},
    {kHloRunner, "--append-profile-to-csv-file", M::kRefused, "--json=FILE writes the times"},
    {kHloRunner, "--gpu-client-mem-fraction", M::kNoEffect, "memory is taken as it is needed"},
    {kHloRunner, "--gpu-client-initialization-timeout-sec", M::kNoEffect, kSimulated},
    {kHloRunner, "--xla-gpu-dump-xspace-to", M::kNoEffect, "--profile=FILE.json writes a trace"},

    {kRunHloModule, "--flatten-control-flow", M::kWhereOn, "--while-execution-count=1"},
    {kRunHloModule, "--force-use-cpu-thunk-runtime-for-test", M::kAlways, ""},
    {kRunHloModule, "--treat-gte-as-data-formatting", M::kNoEffect, "it steers XLA's compiler"},
    {kRunHloModule, "--input-compilation-environments", M::kNoEffect, "it steers XLA's compiler"},

    // Logs, which every program of XLA's writes.
    {kAnyCaller, "--v", M::kNoEffect, kNoLog},
    {kAnyCaller, "--vmodule", M::kNoEffect, kNoLog},
    {kAnyCaller, "--minloglevel", M::kNoEffect, kNoLog},
    {kAnyCaller, "--stderrthreshold", M::kNoEffect, kNoLog},
    {kAnyCaller, "--log-dir", M::kNoEffect, kNoLog},
    {kAnyCaller, "--logtostderr", M::kAlways, ""},
    {kAnyCaller, "--alsologtostderr", M::kAlways, ""},
    {kAnyCaller, "--helpfull", M::kWhereOn, "--help"},
    {kAnyCaller, "--helpshort", M::kWhereOn, "--help"},

    // Others.
    {kComputeCost, "--gpu", M::kNoEffect, "the count is the same for all machines"},
    {kBisect, "--all-computations", M::kAlwaysOn, "all computations are reduced"},
    {kBisect, "--output-format", M::kFormat, "--output-format"},
    {kHloDiff, "--ignore-shape", M::kIs, "--ignore-shapes"},
    {kGraphviz | kBisect | kComputeCost | kIsolateHlo, "--nobrowser", M::kAlways, ""},

    // XLA's compiler.
    {kRunners | kHloAot | kXlaCompile, "--xla-disable-all-hlo-passes", M::kWhereOn, "--no-passes"},
    {kRunners, "--xla-disable-hlo-passes", M::kIs, "--disable-passes"},
    {kRunners, "--xla-enable-hlo-passes-only", M::kIs, "--enable-passes-only"},
    {kRunners | kOpts | kHloAot | kXlaCompile, "--xla-backend-optimization-level", M::kIs,
     "--opt-level"},
    {kRunners, "--xla-cpu-multi-thread-eigen", M::kThreads, "--threads=1"},
    {kRunners, "--xla-hlo-profile", M::kWhereOn, "--profile"},
    {kRunners | kOpts, "--xla-force-host-platform-device-count", M::kAlways, ""},
    {kRunners | kOpts, "--xla-dump-hlo-as-text", M::kAlways, ""},
    {kRunners | kOpts, "--xla-dump-hlo-as-long-text", M::kAlways, ""},
    {kRunners, "--xla-dump-large-constants", M::kAlwaysOn, "dumps hold all constants"},
    {kRunners | kOpts, "--xla-dump-hlo-as-proto", M::kAlwaysOff, kDumpsAreText},
    {kRunners | kOpts, "--xla-dump-hlo-as-html", M::kAlwaysOff, kDumpsAreText},
    {kRunners | kOpts, "--xla-dump-hlo-as-dot", M::kAlwaysOff, kDumpsAreText},
    {kRunners | kOpts, "--xla-dump-hlo-as-url", M::kAlwaysOff, kDumpsAreText},
    {kRunners | kOpts, "--xla-dump-hlo-snapshots", M::kAlwaysOff,
     "hlo-run --output-literals-file=FILE.pb writes arguments and results"},
    {kRunners, "--xla-dump-hlo-pass-re", M::kNoEffect,
     "hlo-opt --pipeline=cpu --dump-to=FOLDER writes the module after each pass"},
    {kRunners | kOpts, "--xla-dump-hlo-module-re", M::kNoEffect, "all modules are dumped"},
    {kRunners | kOpts, "--xla-cpu-enable-fast-math", M::kAlwaysOff,
     "results are those of IEEE 754"},
    {kRunners | kOpts, "--xla-gpu-deterministic-ops", M::kAlwaysOn, "results never vary"},
    {kRunners | kOpts, "--xla-gpu-exclude-nondeterministic-ops", M::kAlwaysOn,
     "results never vary"},
    {kRunners | kOpts, "--xla-gpu-autotune-level", M::kAlwaysOff, "nothing is autotuned"},
    {kOpts, "--xla-gpu-target-config-filename", M::kGpuTarget, "--gpu-arch"},
    {kRunners | kOpts, "--xla-gpu-load-autotune-results-from", M::kNoEffect,
     "nothing is autotuned"},
    {kRunners | kOpts, "--xla-gpu-dump-autotune-results-to", M::kNoEffect, "nothing is autotuned"},
    {kOpts, "--xla-reduce-window-rewrite-base-length", M::kNoEffect,
     "--passes='reduce-window-rewriter{base-length=N}' sets it"},
    {kRunners, "--xla-fuel", M::kNoEffect, "hlo-opt --xla-fuel limits the rewrites of a pass"},
};

// Flags of XLA's compiler that have no row.
constexpr XlaFlag kGpuFlag = {kAnyCaller, "--xla-gpu-", M::kNoEffect, kGpuCompiler};
constexpr XlaFlag kCompilerFlag = {kAnyCaller, "--xla-", M::kNoEffect, "it steers XLA's compiler"};

constexpr XlaFlag kUnknownFlag = {kAnyCaller, "--xla-", M::kNoEffect,
                                  "XLA (jaxlib 0.10.2) has no such flag"};

constexpr absl::string_view kCompilerFlagNames[] = {
#define HLOKIT_XLA_COMPILER_FLAG(name) name,
#include "tools/common/xla_compiler_flags.def"
#undef HLOKIT_XLA_COMPILER_FLAG
};

// Dashes and underscores are the same.
bool SameName(absl::string_view a, absl::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return (x == '-' ? '_' : x) == (y == '-' ? '_' : y); });
}

}  // namespace

absl::Span<const XlaProgram> XlaPrograms() { return kPrograms; }

const XlaProgram* FindXlaProgram(absl::string_view path) {
  const absl::string_view name = path.substr(path.rfind('/') + 1);
  for (const XlaProgram& program : kPrograms)
    if (SameName(program.name, name)) return &program;
  return nullptr;
}

absl::Span<const XlaFlag> XlaFlags() { return kFlags; }

bool HasMeaning(const XlaFlag& flag) {
  return flag.meaning != M::kNoEffect && flag.meaning != M::kRefused;
}

const XlaFlag* FindXlaFlag(Callers caller, absl::string_view name) {
  for (const XlaFlag& flag : kFlags)
    if ((flag.callers & caller) != 0 && flag.name == name) return &flag;
  if (!absl::StartsWith(name, kCompilerFlag.name)) return nullptr;
  if (!IsXlaCompilerFlag(name)) return &kUnknownFlag;
  return absl::StartsWith(name, kGpuFlag.name) ? &kGpuFlag : &kCompilerFlag;
}

absl::Span<const absl::string_view> XlaCompilerFlags() { return kCompilerFlagNames; }

bool IsXlaCompilerFlag(absl::string_view name) {
  return absl::ConsumePrefix(&name, "--xla-") &&
         std::any_of(std::begin(kCompilerFlagNames), std::end(kCompilerFlagNames),
                     [&](absl::string_view known) { return SameName(known, name); });
}

std::string NearXlaCompilerFlag(absl::string_view name) {
  constexpr int kMaxEdits = 2;
  if (!absl::ConsumePrefix(&name, "--xla-")) return "";
  const std::string wanted = absl::StrReplaceAll(name, {{"-", "_"}});
  for (const absl::string_view known : kCompilerFlagNames)
    if (EditDistance(wanted, known, kMaxEdits) <= kMaxEdits) return absl::StrCat("--xla_", known);
  return "";
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
