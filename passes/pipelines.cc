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
     "attention-fusion,"
     "fusion,"
     "cse{iotas},"
     "dce,"
     "cpu_multi_output_fusion,"
     "horizontal_loop_fusion,"
     "horizontal_input_fusion,"
     "hlo-memory-scheduler"},
    // The same kernels on a GPU, where a loop is a launch.
    {"cuda", kElementKernelPasses,
     "dot-strength-reduction{least=65536},"
     "reduce-window-rewriter{least=128 rows},"
     "scatter-sorter,"
     HLOKIT_NORMALIZED
     "fusion{launch-work=65536 max-members=1000 max-code=3000 max-copies=64 max-inputs=128 "
     "min-rows=1 "
     "min-row=2 min-columns=1 lanes=1},"
     "cse{iotas},"
     "dce,"
     "multi_output_fusion{elements},"
     "horizontal_loop_fusion,"
     "horizontal_input_fusion,"
     "hlo-memory-scheduler"},
    // What XLA's GPU compiler runs before it asks what the device is, in its order.
    {"gpu", "",
     "call-inliner,"
     "flatten-call-graph{running},"
     "zero_sized_hlo_elimination,"
     "conditional-canonicalizer,"
     "topk-decomposer,"
     "comparison-expander,"
     "logistic-expander,"
     "batchnorm_expander,"
     "cholesky_expander,"
     "qr_expander,"
     "eigh_expander,"
     "triangular_solve_expander,"
     "rng-bit-generator-expander,"
     "stochastic_convert_decomposer,"
     "scan_expander,"
     "dynamic-index-splitter,"
     "all_to_all_decomposer,"
     "convolution_4d_expander,"
     "dot_decomposer,"
     "fix<"
     "zero_sized_hlo_elimination,"
     "gather_simplifier,"
     "scatter_simplifier,"
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
     "algsimp,"
     "dce"
     ">,"
     "all-reduce-simplifier,"
     "all-reduce-folder,"
     "reduce-scatter-creator,"
     "all-gather-bcast-reorder,"
     "while-loop-all-reduce-code-motion,"
     "layout-assignment,"
     "reduction-degenerate-dim-remover,"
     "reduction-dimension-grouper,"
     "fix<"
     "tuple-simplifier,"
     "algsimp,"
     "cse,"
     "dce"
     ">,"
     "fusion,"
     "multi_output_fusion,"
     "cse,"
     "dce,"
     "all-gather-combiner,"
     "all-reduce-combiner,"
     "reduce-scatter-combiner,"
     "copy-insertion,"
     "hlo-memory-scheduler"},
    // What XLA's CPU compiler runs, in its order, to the text that its kernels are made of.
    {"xla-cpu", "",
     "conditional-to-select,"
     "flatten-call-graph,"
     "dce,"
     "batched_gather_scatter_normalizer,"
     "result_caster,"
     "topk-decomposer,"
     "comparison-expander,"
     "cholesky_expander,"
     "qr_expander,"
     "eigh_expander,"
     "triangular_solve_expander,"
     "rng-expander,"
     "rng-bit-generator-expander,"
     "all_to_all_decomposer,"
     "all_gather_decomposer,"
     "stochastic_convert_decomposer,"
     "logistic-expander,"
     "scan_expander,"
     "call-inliner,"
     "batch-dot-simplification,"
     "dot_decomposer,"
     "operand_upcaster,"
     "float-normalization-bf16,"
     "convolution-pred-expander,"
     "batchnorm_expander,"
     "zero_sized_hlo_elimination,"
     "dynamic-index-splitter,"
     "conditional-canonicalizer,"
     "convolution-canonicalization,"
     "dynamic-dimension-simplifier,"
     "fix<"
     "algsimp{disable=add-negated;dot-of-vector},"
     "simplify-sorts,"
     "dce,"
     "gather_expander,"
     "gather_simplifier,"
     "tree_reduction_rewriter,"
     "while-loop-constant-sinking,"
     "while-loop-invariant-code-motion,"
     "tuple-simplifier,"
     "simplify-while-loops,"
     "dce,"
     "reshape-mover,"
     "constant_folding,"
     "simplify-conditional"
     ">,"
     "select_and_scatter_expander,"
     "scatter_expander,"
     "scatter_simplifier,"
     "fix<"
     "algsimp{disable=add-negated;dot-of-vector},"
     "simplify-sorts,"
     "dce,"
     "gather_expander,"
     "while-loop-constant-sinking,"
     "while-loop-invariant-code-motion,"
     "tuple-simplifier,"
     "simplify-while-loops,"
     "dce,"
     "reshape-mover,"
     "constant_folding,"
     "simplify-conditional"
     ">,"
     "gemv-rewriter,"
     "topk-rewriter,"
     "transpose-folding{matrices},"
     "cse,"
     "cse_barrier_expander,"
     "while-loop-trip-count-annotator,"
     "flatten-call-graph,"
     "layout-assignment{transposes default-results back},"
     "reshape-decomposer,"
     "reduce-decomposer,"
     "fusion{xla},"
     "fusion-wrapper{cpu},"
     "fix<"
     "algsimp{layout_sensitive disable=add-negated;dot-of-vector},"
     "dce,"
     "cse"
     ">,"
     "copy-insertion,"
     "small-while-loop-hoisting,"
     "dce"},
    {"interpreter", "", "call-inliner{manual-bodies},dce"},
};
#undef HLOKIT_SIMPLIFIED
#undef HLOKIT_NORMALIZED

}  // namespace

constexpr absl::string_view kRoundedReductionPasses =
    "tree_reduction_rewriter{rounded},"
    "reduce-window-rewriter{rounded}";
constexpr absl::string_view kLegalizationPasses = "legalize";
constexpr absl::string_view kGpuExpanderPasses =
    "cholesky_expander,triangular_solve_expander,rng-expander,rng-bit-generator-expander,"
    "topk-decomposer";
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
