// Instructions as operations: names, and attributes in MLIR's text.
//
// Example: `reverse(x), dimensions={1}` is stablehlo.reverse with `dimensions = array<i64: 1>`. The
// names of operations without attributes are the rows of convert/operations.def, read backwards.
// Limits: what has no equal (asynchronous pairs, stochastic-convert, sparse products, kinds of
// convolutions) is refused by its name.
#include "stablehlo/write/forms_internal.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "stablehlo/write/text_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

absl::Status NoEqual(const Instruction& i, absl::string_view what) {
  return Unimplemented(Text(i.opcode()), ": ", what, " has no equal in StableHLO");
}

void AddPrecision(AttributeText& text, const std::vector<Precision>& precisions) {
  if (precisions.empty()) return;
  std::string list;
  for (const Precision p : precisions)
    absl::StrAppend(&list, list.empty() ? "" : ", ", "#stablehlo<precision ",
                    absl::AsciiStrToUpper(Text(p)), ">");
  text.Add("precision_config", absl::StrCat("[", list, "]"));
}

}  // namespace

absl::StatusOr<AttributeText> WrittenNone(const Instruction&) { return AttributeText(); }

absl::StatusOr<AttributeText> WrittenAccurate(const Instruction& i) {
  const ResultAccuracy& accuracy = i.attr<AccuracyAttrs>().result_accuracy;
  AttributeText text;
  if (accuracy.kind == ResultAccuracy::Kind::kDefault) return text;
  const bool bound = accuracy.kind == ResultAccuracy::Kind::kTolerance;
  const std::string fields =
      bound ? absl::StrCat("atol = ", absl::StrFormat("%.17e", accuracy.atol),
                           ", rtol = ", absl::StrFormat("%.17e", accuracy.rtol),
                           ", ulps = ", accuracy.ulps, ", ")
            : "";
  text.Add("result_accuracy", absl::StrCat("#stablehlo.result_accuracy<", fields,
                                           "mode = #stablehlo.result_accuracy_mode<",
                                           bound ? "TOLERANCE" : "HIGHEST", ">>"));
  return text;
}

absl::StatusOr<AttributeText> WrittenBatchNorm(const Instruction& i) {
  const auto& norm = i.attr<BatchNormAttrs>();
  AttributeText text;
  text.Add("epsilon", absl::StrFormat("%.9e : f32", norm.epsilon));
  return text.Int("feature_index", norm.feature_index);
}

absl::StatusOr<AttributeText> WrittenBroadcast(const Instruction& i) {
  return AttributeText().Ints("broadcast_dimensions", i.attr<BroadcastAttrs>().dimensions);
}

absl::StatusOr<AttributeText> WrittenCholesky(const Instruction& i) {
  return AttributeText().Flag("lower", i.attr<CholeskyAttrs>().lower);
}

absl::StatusOr<AttributeText> WrittenCompare(const Instruction& i) {
  const auto& compare = i.attr<CompareAttrs>();
  const ElementType type = i.operand(0)->shape().type;
  const char* order = IsSigned(type)                    ? "SIGNED"
                      : IsInteger(type) || IsPred(type) ? "UNSIGNED"
                                                        : "FLOAT";
  if (compare.type == ComparisonType::kTotalOrder && IsFloat(type)) order = "TOTALORDER";
  return AttributeText()
      .Enum("comparison_direction", "comparison_direction", Text(compare.direction))
      .Enum("compare_type", "comparison_type", order);
}

absl::StatusOr<AttributeText> WrittenConcatenate(const Instruction& i) {
  return AttributeText().Int("dimension", i.attr<DimensionsAttrs>().dimensions[0]);
}

absl::StatusOr<AttributeText> WrittenDimensions(const Instruction& i) {
  return AttributeText().Ints("dimensions", i.attr<DimensionsAttrs>().dimensions);
}

absl::StatusOr<AttributeText> WrittenTranspose(const Instruction& i) {
  return AttributeText().Ints("permutation", i.attr<DimensionsAttrs>().dimensions);
}

absl::StatusOr<AttributeText> WrittenMap(const Instruction& i) {
  return AttributeText().Ints("dimensions", i.attr<MapAttrs>().dimensions);
}

namespace {

std::string DimensionText(char first, char second, int64_t first_at, int64_t second_at,
                          const DimVector& spatial) {
  std::vector<std::string> labels(spatial.size() + 2);
  labels[first_at] = first;
  labels[second_at] = second;
  for (size_t d = 0; d < spatial.size(); ++d) labels[spatial[d]] = absl::StrCat(d);
  return absl::StrCat("[", absl::StrJoin(labels, ", "), "]");
}

std::vector<std::vector<int64_t>> PaddingOf(const Window& window) {
  std::vector<std::vector<int64_t>> rows;
  for (const WindowDim& d : window) rows.push_back({d.pad_low, d.pad_high});
  return rows;
}

template <typename F>
std::vector<int64_t> EachOf(const Window& window, F field) {
  std::vector<int64_t> values;
  for (const WindowDim& d : window) values.push_back(field(d));
  return values;
}

}  // namespace

absl::StatusOr<AttributeText> WrittenConvolution(const Instruction& i) {
  const auto& c = i.attr<ConvolutionAttrs>();
  if (c.convolution_kind != ConvolutionKind::kUnset || c.sparsity_config != SparsityConfig())
    return NoEqual(i, "its kind or sparsity");
  const ConvDims& dims = c.dim_labels;
  AttributeText text;
  text.Int("batch_group_count", c.batch_group_count);
  text.Add(
      "dimension_numbers",
      absl::StrCat(
          "#stablehlo.conv<",
          DimensionText('b', 'f', dims.input_batch, dims.input_feature, dims.input_spatial), "x",
          DimensionText('i', 'o', dims.kernel_input_feature, dims.kernel_output_feature,
                        dims.kernel_spatial),
          "->",
          DimensionText('b', 'f', dims.output_batch, dims.output_feature, dims.output_spatial),
          ">"));
  text.Int("feature_group_count", c.feature_group_count);
  text.Ints("lhs_dilation", EachOf(c.window, [](auto& d) { return d.base_dilation; }));
  text.Table("padding", PaddingOf(c.window), 2);
  AddPrecision(text, c.operand_precision);
  text.Ints("rhs_dilation", EachOf(c.window, [](auto& d) { return d.window_dilation; }));
  std::vector<bool> reversal;
  for (const WindowDim& d : c.window) reversal.push_back(d.reversal);
  text.Bools("window_reversal", reversal);
  return text.Ints("window_strides", EachOf(c.window, [](auto& d) { return d.stride; }));
}

namespace {

// `dot_bf16_bf16_f32_x3`, as the types of operands and sum, and a number of products.
absl::Status AddAlgorithm(const Instruction& i, absl::string_view name, AttributeText& text) {
  if (name.empty() || name == "dot_default") return absl::OkStatus();
  std::vector<std::string> parts = absl::StrSplit(absl::StripPrefix(name, "dot_"), '_');
  int64_t products = 1;
  const bool several = parts.size() == 4 && parts[3][0] == 'x' &&
                       absl::SimpleAtoi(absl::StripPrefix(parts[3], "x"), &products);
  if (parts.size() != 3 && !several) return NoEqual(i, name);
  text.Add("algorithm",
           absl::StrCat("#stablehlo.dot_algorithm<lhs_precision_type = ", parts[0],
                        ", rhs_precision_type = ", parts[1], ", accumulation_type = ", parts[2],
                        ", lhs_component_count = 1, rhs_component_count = 1, "
                        "num_primitive_operations = ",
                        products, ", allow_imprecise_accumulation = false>"));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AttributeText> WrittenDot(const Instruction& i) {
  const auto& dot = i.attr<DotAttrs>();
  if (i.operand_count() != 2) return NoEqual(i, "a sparse operand");
  AttributeText text;
  RETURN_IF_ERROR(AddAlgorithm(i, dot.algorithm.text, text));
  text.Add(
      "dot_dimension_numbers",
      absl::StrCat("#stablehlo.dot<lhs_batching_dimensions = ", MlirListText(dot.lhs_batch_dims),
                   ", rhs_batching_dimensions = ", MlirListText(dot.rhs_batch_dims),
                   ", lhs_contracting_dimensions = ", MlirListText(dot.lhs_contracting_dims),
                   ", rhs_contracting_dimensions = ", MlirListText(dot.rhs_contracting_dims), ">"));
  AddPrecision(text, dot.operand_precision);
  return text;
}

absl::StatusOr<AttributeText> WrittenRaggedDot(const Instruction& i) {
  const auto& dot = i.attr<RaggedDotAttrs>();
  if (!dot.algorithm.text.empty()) return NoEqual(i, "an algorithm");
  std::string precisions;
  for (const Precision p : dot.operand_precision)
    absl::StrAppend(&precisions, precisions.empty() ? "" : ", ", "#chlo<precision ",
                    absl::AsciiStrToUpper(Text(p)), ">");
  AttributeText text;
  if (!precisions.empty()) text.Add("precision_config", absl::StrCat("[", precisions, "]"));
  return text.Add(
      "ragged_dot_dimension_numbers",
      absl::StrCat("#chlo.ragged_dot<lhs_batching_dimensions = ", MlirListText(dot.lhs_batch_dims),
                   ", rhs_batching_dimensions = ", MlirListText(dot.rhs_batch_dims),
                   ", lhs_contracting_dimensions = ", MlirListText(dot.lhs_contracting_dims),
                   ", rhs_contracting_dimensions = ", MlirListText(dot.rhs_contracting_dims),
                   ", lhs_ragged_dimensions = ", MlirListText(dot.lhs_ragged_dims),
                   ", rhs_group_dimensions = ", MlirListText(dot.rhs_group_dims), ">"));
}

absl::StatusOr<AttributeText> WrittenDynamicSlice(const Instruction& i) {
  return AttributeText().Ints("slice_sizes", i.attr<DynamicSliceAttrs>().dynamic_slice_sizes);
}

absl::StatusOr<AttributeText> WrittenFft(const Instruction& i) {
  const auto& fft = i.attr<FftAttrs>();
  return AttributeText()
      .Ints("fft_length", fft.fft_length)
      .Enum("fft_type", "fft_type", Text(fft.fft_type));
}

absl::StatusOr<AttributeText> WrittenGather(const Instruction& i) {
  const auto& g = i.attr<GatherAttrs>();
  return AttributeText()
      .Add("dimension_numbers",
           absl::StrCat(
               "#stablehlo.gather<offset_dims = ", MlirListText(g.offset_dims),
               ", collapsed_slice_dims = ", MlirListText(g.collapsed_slice_dims),
               ", operand_batching_dims = ", MlirListText(g.operand_batching_dims),
               ", start_indices_batching_dims = ", MlirListText(g.start_indices_batching_dims),
               ", start_index_map = ", MlirListText(g.start_index_map),
               ", index_vector_dim = ", g.index_vector_dim, ">"))
      .Flag("indices_are_sorted", g.indices_are_sorted)
      .Ints("slice_sizes", g.slice_sizes);
}

absl::StatusOr<AttributeText> WrittenScatter(const Instruction& i) {
  const auto& s = i.attr<ScatterAttrs>();
  return AttributeText()
      .Flag("indices_are_sorted", s.indices_are_sorted)
      .Add("scatter_dimension_numbers",
           absl::StrCat(
               "#stablehlo.scatter<update_window_dims = ", MlirListText(s.update_window_dims),
               ", inserted_window_dims = ", MlirListText(s.inserted_window_dims),
               ", input_batching_dims = ", MlirListText(s.input_batching_dims),
               ", scatter_indices_batching_dims = ", MlirListText(s.scatter_indices_batching_dims),
               ", scatter_dims_to_operand_dims = ", MlirListText(s.scatter_dims_to_operand_dims),
               ", index_vector_dim = ", s.index_vector_dim, ">"))
      .Flag("unique_indices", s.unique_indices);
}

absl::StatusOr<AttributeText> WrittenIota(const Instruction& i) {
  return AttributeText().Int("iota_dimension", i.attr<IotaAttrs>().iota_dimension);
}

absl::StatusOr<AttributeText> WrittenPad(const Instruction& i) {
  std::vector<int64_t> low, high, interior;
  for (const PaddingDim& d : i.attr<PadAttrs>().padding) {
    low.push_back(d.low);
    high.push_back(d.high);
    interior.push_back(d.interior);
  }
  return AttributeText()
      .Ints("edge_padding_high", high)
      .Ints("edge_padding_low", low)
      .Ints("interior_padding", interior);
}

absl::StatusOr<AttributeText> WrittenReducePrecision(const Instruction& i) {
  const auto& precision = i.attr<ReducePrecisionAttrs>();
  return AttributeText()
      .Add("exponent_bits", absl::StrCat(precision.exponent_bits, " : i32"))
      .Add("mantissa_bits", absl::StrCat(precision.mantissa_bits, " : i32"));
}

absl::StatusOr<AttributeText> WrittenReduceWindow(const Instruction& i) {
  const Window& window = i.attr<WindowAttrs>().window;
  return AttributeText()
      .Ints("base_dilations", EachOf(window, [](auto& d) { return d.base_dilation; }))
      .Table("padding", PaddingOf(window), 2)
      .Ints("window_dilations", EachOf(window, [](auto& d) { return d.window_dilation; }))
      .Ints("window_dimensions", EachOf(window, [](auto& d) { return d.size; }))
      .Ints("window_strides", EachOf(window, [](auto& d) { return d.stride; }));
}

absl::StatusOr<AttributeText> WrittenSelectAndScatter(const Instruction& i) {
  const Window& window = i.attr<WindowAttrs>().window;
  return AttributeText()
      .Table("padding", PaddingOf(window), 2)
      .Ints("window_dimensions", EachOf(window, [](auto& d) { return d.size; }))
      .Ints("window_strides", EachOf(window, [](auto& d) { return d.stride; }));
}

absl::StatusOr<AttributeText> WrittenRngBitGenerator(const Instruction& i) {
  const absl::string_view word = Text(i.attr<RngBitGeneratorAttrs>().algorithm);
  return AttributeText().Enum("rng_algorithm", "rng_algorithm",
                              absl::AsciiStrToUpper(absl::StripPrefix(word, "rng_")));
}

absl::StatusOr<AttributeText> WrittenScan(const Instruction& i) {
  const auto& scan = i.attr<ScanAttrs>();
  if (scan.dimensions.size() != 1) return NoEqual(i, "several dimensions");
  const int64_t results = i.shape().IsTuple() ? static_cast<int64_t>(i.shape().elements.size()) : 1;
  AttributeText text;
  text.Int("dimension", scan.dimensions[0]);
  if (scan.is_associative) text.Flag("is_associative", *scan.is_associative);
  text.Flag("is_reverse", scan.is_reverse);
  text.Add("operandSegmentSizes", absl::StrCat("array<i32: ", i.operand_count() - scan.num_carries,
                                               ", ", scan.num_carries, ">"));
  return text.Add("resultSegmentSizes", absl::StrCat("array<i32: ", results - scan.num_carries,
                                                     ", ", scan.num_carries, ">"));
}

absl::StatusOr<AttributeText> WrittenSlice(const Instruction& i) {
  std::vector<int64_t> start, limit, stride;
  for (const SliceDim& d : i.attr<SliceAttrs>().slice) {
    start.push_back(d.start);
    limit.push_back(d.limit);
    stride.push_back(d.stride);
  }
  return AttributeText()
      .Ints("limit_indices", limit)
      .Ints("start_indices", start)
      .Ints("strides", stride);
}

absl::StatusOr<AttributeText> WrittenSort(const Instruction& i) {
  const auto& sort = i.attr<SortAttrs>();
  return AttributeText().Int("dimension", sort.dimensions[0]).Flag("is_stable", sort.is_stable);
}

absl::StatusOr<AttributeText> WrittenTopK(const Instruction& i) {
  if (!i.attr<TopKAttrs>().largest) return NoEqual(i, "the smallest elements");
  return AttributeText().Int("k", i.attr<TopKAttrs>().k);
}

absl::StatusOr<AttributeText> WrittenTriangularSolve(const Instruction& i) {
  const auto& solve = i.attr<TriangularSolveAttrs>();
  return AttributeText()
      .Flag("left_side", solve.left_side)
      .Flag("lower", solve.lower)
      .Enum("transpose_a", "transpose", Text(solve.transpose_a))
      .Flag("unit_diagonal", solve.unit_diagonal);
}

absl::StatusOr<AttributeText> WrittenInfeed(const Instruction& i) {
  return AttributeText().Add("infeed_config", QuotedMlir(i.attr<InfeedAttrs>().infeed_config));
}

absl::StatusOr<AttributeText> WrittenOutfeed(const Instruction& i) {
  return AttributeText().Add("outfeed_config", QuotedMlir(i.attr<OutfeedAttrs>().outfeed_config));
}

namespace {

struct Form {
  const char* name;
  absl::StatusOr<AttributeText> (*attributes)(const Instruction&);
};

const absl::flat_hash_map<Opcode, Form>& Forms() {
  static const auto& kForms = *new absl::flat_hash_map<Opcode, Form>{
#define MLIR_WRITTEN(opcode, name, attributes) {Opcode::k##opcode, {name, &Written##attributes}},
#define MLIR_SPECIAL(opcode, method)
#include "stablehlo/write/forms.def"
#undef MLIR_SPECIAL
#undef MLIR_WRITTEN
  };
  return kForms;
}

const char* SimpleName(Opcode opcode) {
  static const auto& kNames = *new absl::flat_hash_map<Opcode, const char*>{
#define MLIR_SIMPLE(operation, opcode) {Opcode::k##opcode, operation},
#define MLIR_CONVERT(operation, function)
#include "stablehlo/convert/operations.def"
#undef MLIR_CONVERT
#undef MLIR_SIMPLE
  };
  const auto found = kNames.find(opcode);
  return found == kNames.end() ? nullptr : found->second;
}

}  // namespace

absl::StatusOr<WrittenForm> WrittenFormOf(const Instruction& instruction) {
  const auto form = Forms().find(instruction.opcode());
  if (form != Forms().end()) {
    ASSIGN_OR_RETURN(const AttributeText text, form->second.attributes(instruction));
    return WrittenForm{form->second.name, text.text()};
  }
  const char* name = SimpleName(instruction.opcode());
  // Rows of mhlo are read alone.
  if (name == nullptr || absl::StartsWith(name, "mhlo."))
    return NoEqual(instruction, "the instruction");
  return WrittenForm{name, ""};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
