// The pipelines' texts.
#include "passes/pipelines.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "support/status.h"
#include "support/text.h"

namespace hlokit {
namespace {

struct Pipeline {
  absl::string_view name, front, back;  // the list is `front` and then `back`
};

// A pass a line; in a list that repeats (fix<...>), too.

// Simplified until nothing changes.
#define HLOKIT_SIMPLIFIED \
  "fix<"                  \
  "algsimp{exact},"       \
  "constant_folding,"     \
  "cse{iotas},"           \
  "tuple-simplifier,"     \
  "dce"                   \
  ">,"
// Row-major layouts, and what the transposes that make them leave to do.
#define HLOKIT_NORMALIZED \
  "layout_normalization," \
  "fix<"                  \
  "tuple-simplifier,"     \
  "algsimp{exact},"       \
  "cse{iotas},"           \
  "dce"                   \
  ">,"

// What XLA's CPU compiler simplifies with, before and after scatters are expanded.
#define HLOKIT_XLA_CPU_SIMPLIFIED               \
  "fix<"                                        \
  "algsimp{disable=add-negated;dot-of-vector}," \
  "simplify-sorts,"                             \
  "dce,"                                        \
  "gather_expander,"                            \
  "gather_simplifier,"                          \
  "tree_reduction_rewriter,"                    \
  "zero_sized_hlo_elimination,"                 \
  "while-loop-invariant-code-motion,"           \
  "tuple-simplifier,"                           \
  "while-loop-constant-sinking,"                \
  "simplify-while-loops,"                       \
  "dce,"                                        \
  "reshape-mover,"                              \
  "constant_folding,"                           \
  "simplify-conditional"                        \
  ">,"

// What comes before fusions for kernels that compute elements (codegen/), whatever runs them.
constexpr absl::string_view kElementKernelPasses =
    "vendor-call-expander,"
    "qr_expander,"
    "eigh_expander,"
    "batchnorm_expander,"
    "scaled-dot-rewriter,"
    "scan_expander,"
    "stochastic_convert_decomposer,"
    "call-inliner{manual-bodies},"
    "flatten-call-graph{running},"
    "zero_sized_hlo_elimination,"
    "tuple-simplifier,"
    "dce,"
    "unrounded-products,"
    HLOKIT_SIMPLIFIED
    "simplify-conditional,"
    "simplify-while-loops{plain},"
    "call-inliner{manual-bodies},"
    "cse_barrier_expander,"
    HLOKIT_SIMPLIFIED
    "tree_reduction_rewriter{rounded},"
    "reduce-window-rewriter{rounded},"
    "argmax-rewriter,"
    "while-loop-invariant-code-motion{dear},"
    "while-loop-product-batching,"
    "while-loop-trip-count-annotator,"
    "transpose-folding{any},"
    "narrow-operand-upcaster,"
    "layout-assignment,"
    HLOKIT_NORMALIZED
    "short-row-splitter,"
    "window-splitter,"
    "unrounded-results,";

constexpr Pipeline kPipelines[] = {
    {"cpu", kElementKernelPasses,
     "scatter-to-update,"
     "attention-fusion,"
     "dot-operand-narrowing,"
     "product-finish-fusion,"
     "fusion,"
     "cse{iotas},"
     "dce,"
     "cpu_multi_output_fusion,"
     "horizontal_loop_fusion,"
     "horizontal_input_fusion,"
     "hlo-memory-scheduler"},
    // The same kernels on a GPU, where a loop is a launch.
    {"cuda", kElementKernelPasses,
     "dot-strength-reduction{least=8192 few=7},"
     "reduce-window-rewriter{least=128 rows},"
     "scatter-sorter{atomics},"
     HLOKIT_NORMALIZED
     "attention-rows-fusion,"
     "fusion{launch-work=65536 max-members=1000 max-code=3000 max-copies=64 max-inputs=128 "
     "min-rows=1 "
     "min-row=2 min-columns=1 lanes=1},"
     "cse{iotas},"
     "dce,"
     "multi_output_fusion{elements},"
     "horizontal_loop_fusion,"
     "horizontal_input_fusion,"
     "dot-finish-fusion,"
     "row-finish-fusion,"
     "hlo-memory-scheduler"},
    // What XLA's GPU compiler runs on operations, in its order (docs/passes.md says what it runs
    // besides: calls of libraries, asynchronous copies, what an autotuner chooses).
    {"gpu", "",
     "convert-memory-placement-to-internal-annotations,"
     "scan-rewriter,"
     "flatten-call-graph{running},"
     "call-inliner,"
     "zero_sized_hlo_elimination,"
     "conditional-canonicalizer,"
     "topk-decomposer,"
     "sharding-remover,"
     "dce,"
     "ragged_dot_rewriter,"
     "batched_gather_scatter_normalizer,"
     "dot_dimension_sorter,"
     "dot_decomposer,"
     "result_caster,"
     "operand_upcaster,"
     "operand_converter,"
     "rng-expander,"
     "rng-bit-generator-expander,"
     "permutation_sort_simplifier,"
     "comparison-expander,"
     "zero_sized_hlo_elimination,"
     "select_and_scatter_expander,"
     "cholesky_expander,"
     "gpu_scatter_expander,"
     "qr_expander,"
     "eigh_expander,"
     "triangular_solve_expander,"
     "dynamic-index-splitter,"
     "call-inliner,"
     "stochastic_convert_decomposer,"
     "convolution_4d_expander,"
     "convolution-pred-expander,"
     "batchnorm_expander,"
     "logistic-expander,"
     "conditional-canonicalizer,"
     "dynamic-dimension-simplifier,"
     "associative-scan-rewriter{any},"
     "reduce-window-rewriter,"
     "reduce-window-resizer,"
     "scan_expander,"
     "dynamic_padder,"
     "stable-sort-expander,"
     "fix<"
     "zero_sized_hlo_elimination,"
     "gather_simplifier,"
     "gather_expander,"
     "scatter_simplifier,"
     "scatter-slice-simplifier,"
     "algsimp,"
     "simplify-sorts,"
     "tuple-simplifier,"
     "while-loop-constant-sinking,"
     "simplify-while-loops,"
     "slice-sinker,"
     "reshape-mover,"
     "constant_folding,"
     "simplify-conditional,"
     "transpose-folding,"
     "cse,"
     "dce"
     ">,"
     "dot-merger{bytes=33554432},"
     "fix<"
     "convert-mover,"
     "algsimp"
     ">,"
     "computation-deduplicator,"
     "ragged-all-to-all-canonicalizer,"
     "all-reduce-simplifier,"
     "all-reduce-folder,"
     "all-reduce-splitter,"
     "all-gather-optimizer,"
     "all-gather-dynamic-slice-simplifier,"
     "all-gather-to-collective-permute-simplifier,"
     "all-reduce-reassociate,"
     "reduce-scatter-reassociate,"
     "while-loop-all-reduce-code-motion,"
     "dce,"
     "algsimp,"
     "reduce-scatter-creator,"
     "all-gather-bcast-reorder,"
     "all-gather-remove-degenerate-dims,"
     "all-reduce-promotion,"
     "dce,"
     "while-loop-trip-count-annotator,"
     "flatten-call-graph{running},"
     "layout-assignment,"
     "reshape-decomposer,"
     "move_copy_to_users,"
     "layout_normalization,"
     "algsimp{layout_sensitive},"
     "broadcast_canonicalizer,"
     "scatter_simplifier,"
     "dot_dimension_merger,"
     "bitcast_dtypes_expander,"
     "reduce-decomposer,"
     "dot_normalizer,"
     "reduction-degenerate-dim-remover,"
     "reduction-layout-normalizer,"
     "fix<"
     "algsimp{layout_sensitive},"
     "cse,"
     "constant_folding,"
     "dce"
     ">,"
     "reduction-dimension-grouper,"
     "reduction-splitter,"
     "tree-reduction-rewriter,"
     "simplify-fp-conversions,"
     "tuple-simplifier,"
     "algsimp{layout_sensitive},"
     "cse,"
     "variadic-op-splitter,"
     "priority-fusion,"
     "cse,"
     "dce,"
     "multi_output_fusion,"
     "cse,"
     "dce,"
     "tuple-simplifier,"
     "gpu-all-gather-combiner,"
     "gpu-all-reduce-combiner,"
     "gpu-reduce-scatter-combiner,"
     "collective-permute-combiner,"
     "computation-deduplicator,"
     "fusion-wrapper,"
     "dce,"
     "loop-schedule-linearizer,"
     "copy-insertion,"
     "copy_fusion,"
     "hlo-memory-scheduler"},
    // What XLA's CPU compiler runs, in its order, to the text that its kernels are made of. Passes
    // that do nothing there without an option are left out.
    {"xla-cpu", "",
     "flatten-call-graph,"
     "sharding-remover,"
     "control-dep-rewriter,"
     "dce,"
     "batched_gather_scatter_normalizer,"
     "result_caster,"
     "dot_decomposer,"
     "operand_upcaster,"
     "rng-expander,"
     "rng-bit-generator-expander,"
     "zero_sized_hlo_elimination,"
     "dynamic-index-splitter,"
     "conditional-to-select,"
     "map-inline,"
     "topk-decomposer,"
     "comparison-expander,"
     "cholesky_expander,"
     "qr_expander,"
     "eigh_expander,"
     "triangular_solve_expander,"
     "all_to_all_decomposer,"
     "stochastic_convert_decomposer,"
     "call-inliner,"
     "batch-dot-simplification,"
     "dot_decomposer,"
     "all-reduce-promotion,"
     "float-normalization-bf16,"
     "batchnorm_expander,"
     "logistic-expander,"
     "conditional-canonicalizer,"
     "dynamic-dimension-simplifier,"
     "associative-scan-rewriter{any},"
     "reduce-window-rewriter,"
     "reduce-window-resizer,"
     "scan_expander,"
     "dynamic_padder,"
     "convolution-canonicalization,"
     HLOKIT_XLA_CPU_SIMPLIFIED
     "select_and_scatter_expander,"
     "scatter_expander,"
     "scatter_simplifier,"
     HLOKIT_XLA_CPU_SIMPLIFIED
     "gemv-rewriter,"
     "bitcast_dtypes_expander,"
     "topk-rewriter,"
     "transpose-folding{matrices},"
     "cse,"
     "cse_barrier_expander,"
     "tuple-simplifier,"
     "while-loop-trip-count-annotator,"
     "flatten-call-graph,"
     "layout-assignment{xla default-results},"
     "reshape-decomposer,"
     "reduce-decomposer,"
     "broadcast_canonicalizer,"
     "dot_decomposer,"
     "reshape-decomposer,"
     "fusion{xla},"
     "fusion-wrapper{cpu},"
     "cpu-all-reduce-combiner,"
     "tuple-simplifier,"
     "fix<"
     "algsimp{layout_sensitive disable=add-negated;dot-of-vector},"
     "dce,"
     "cse"
     ">,"
     "dce,"
     "optimize_input_output_buffer_alias,"
     "copy-insertion,"
     "small-while-loop-hoisting,"
     "dce"},
    {"interpreter", "", "call-inliner{manual-bodies},dce"},
};
#undef HLOKIT_SIMPLIFIED
#undef HLOKIT_NORMALIZED
#undef HLOKIT_XLA_CPU_SIMPLIFIED

}  // namespace

constexpr absl::string_view kRoundedReductionPasses =
    "tree_reduction_rewriter{rounded},"
    "reduce-window-rewriter{rounded}";
constexpr absl::string_view kLegalizationPasses = "legalize";
constexpr absl::string_view kGpuExpanderPasses =
    "cholesky_expander{columns},triangular_solve_expander,rng-expander,rng-bit-generator-expander,"
    "topk-decomposer{rows}";
constexpr absl::string_view kInlineCallsPasses = "call-inliner{manual-bodies}";
constexpr absl::string_view kDefusePasses = "defuser";
constexpr absl::string_view kMaskDynamicSizesPasses =
    "dynamic_padder{keep-unknown},"
    "dce";

absl::StatusOr<absl::string_view> PipelineSpec(absl::string_view name) {
  static const std::vector<std::string> specs = [] {
    std::vector<std::string> all;
    for (const Pipeline& p : kPipelines) all.push_back(absl::StrCat(p.front, p.back));
    return all;
  }();
  for (size_t k = 0; k < specs.size(); ++k)
    if (kPipelines[k].name == name) return specs[k];
  return InvalidArgument("unknown pipeline '", name, "'", DidYouMean(name, ListPipelines()));
}

std::vector<absl::string_view> ListPipelines() {
  std::vector<absl::string_view> names;
  for (const Pipeline& pipeline : kPipelines) names.push_back(pipeline.name);
  return names;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
