// Rows for attributes that are structures: windows, dimension numbers, groups, shapes, literals.
//
// Each attribute has a pair: Read fills the value from the fields of the instruction's message,
// Write does the reverse. Rows name the pairs by attribute, so a new structure needs a pair and a
// row. Example: window={size=3 pad=1_1} is a Window in the IR, and a Window message with one
// WindowDimension of size 3, padding_low 1 and padding_high 1.
#include "absl/strings/str_cat.h"
#include "proto/attribute_rows_internal.h"
#include "proto/literals_internal.h"
#include "proto/shapes_internal.h"
#include "proto/shardings_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

using Message = pb::HloInstructionProto;
using Aliases = std::vector<OutputAlias>;
using Precisions = std::vector<Precision>;
using Shapes = std::vector<Shape>;

absl::Status ReadWindow(const Message& in, Seen& seen, Window& window) {
  seen.Note(in.window());
  for (const pb::WindowDimension& d : in.window().dimensions()) {
    seen.Note(d);
    window.push_back({d.size(), d.stride(), d.padding_low(), d.padding_high(), d.base_dilation(),
                      d.window_dilation(), d.window_reversal()});
  }
  return absl::OkStatus();
}

absl::Status WriteWindow(const Window& window, const Instruction& of, Message* out) {
  if (window.empty() && of.opcode() == Opcode::kCustomCall) return absl::OkStatus();
  pb::Window* message = out->mutable_window();
  for (const WindowDim& dim : window) {
    pb::WindowDimension* d = message->add_dimensions();
    d->set_size(dim.size);
    d->set_stride(dim.stride);
    d->set_padding_low(dim.pad_low);
    d->set_padding_high(dim.pad_high);
    d->set_base_dilation(dim.base_dilation);
    d->set_window_dilation(dim.window_dilation);
    d->set_window_reversal(dim.reversal);
  }
  return absl::OkStatus();
}

absl::Status ReadConvDims(const Message& in, Seen& seen, ConvDims& dims) {
  const pb::ConvolutionDimensionNumbers& d = in.convolution_dimension_numbers();
  seen.Note(d);
  dims.input_batch = d.input_batch_dimension();
  dims.input_feature = d.input_feature_dimension();
  Assign(d.input_spatial_dimensions(), dims.input_spatial);
  dims.kernel_input_feature = d.kernel_input_feature_dimension();
  dims.kernel_output_feature = d.kernel_output_feature_dimension();
  Assign(d.kernel_spatial_dimensions(), dims.kernel_spatial);
  dims.output_batch = d.output_batch_dimension();
  dims.output_feature = d.output_feature_dimension();
  Assign(d.output_spatial_dimensions(), dims.output_spatial);
  // The text has a letter or a digit for each dimension, so their numbers must be in order.
  for (const auto& [a, b, spatial] :
       {std::tuple(dims.input_batch, dims.input_feature, &dims.input_spatial),
        std::tuple(dims.kernel_input_feature, dims.kernel_output_feature, &dims.kernel_spatial),
        std::tuple(dims.output_batch, dims.output_feature, &dims.output_spatial)}) {
    const auto rank = static_cast<int64_t>(spatial->size()) + 2;
    bool fits = rank <= kMaxRank && a >= 0 && a < rank && b >= 0 && b < rank;
    for (const int64_t s : *spatial) fits &= s >= 0 && s < rank;
    if (!fits) return InvalidArgument("a dimension number is not below ", rank);
  }
  return absl::OkStatus();
}

absl::Status WriteConvDims(const ConvDims& dims, const Instruction&, Message* out) {
  pb::ConvolutionDimensionNumbers* d = out->mutable_convolution_dimension_numbers();
  d->set_input_batch_dimension(dims.input_batch);
  d->set_input_feature_dimension(dims.input_feature);
  Assign(dims.input_spatial, d->mutable_input_spatial_dimensions());
  d->set_kernel_input_feature_dimension(dims.kernel_input_feature);
  d->set_kernel_output_feature_dimension(dims.kernel_output_feature);
  Assign(dims.kernel_spatial, d->mutable_kernel_spatial_dimensions());
  d->set_output_batch_dimension(dims.output_batch);
  d->set_output_feature_dimension(dims.output_feature);
  Assign(dims.output_spatial, d->mutable_output_spatial_dimensions());
  return absl::OkStatus();
}

absl::Status ReadOptionalConvDims(const Message& in, Seen& seen, std::optional<ConvDims>& dims) {
  if (!in.has_convolution_dimension_numbers()) return absl::OkStatus();
  return ReadConvDims(in, seen, dims.emplace());
}

absl::Status WriteOptionalConvDims(const std::optional<ConvDims>& dims, const Instruction& of,
                                   Message* out) {
  return dims ? WriteConvDims(*dims, of, out) : absl::OkStatus();
}

// All at their default are no precisions; Normalize drops them.
absl::Status ReadPrecisions(const Message& in, Seen& seen, Precisions& precisions) {
  seen.Note(in.precision_config());
  for (const int number : in.precision_config().operand_precision()) {
    if (number < 0 || number > static_cast<int>(Precision::kPackedNibble))
      return InvalidArgument("the number ", number, " is not known");
    precisions.push_back(static_cast<Precision>(number));
  }
  return absl::OkStatus();
}

// XLA spells defaults out, one an operand.
absl::Status WritePrecisions(const Precisions& precisions, const Instruction& of, Message* out) {
  pb::PrecisionConfig* config = out->mutable_precision_config();
  const size_t count = of.opcode() == Opcode::kCustomCall ? of.operand_count() : 2;
  for (size_t i = 0; i < std::max(count, precisions.size()); ++i)
    config->add_operand_precision(i < precisions.size()
                                      ? static_cast<pb::PrecisionConfig::Precision>(precisions[i])
                                      : pb::PrecisionConfig::DEFAULT);
  return absl::OkStatus();
}

absl::Status ReadAliases(const Message& in, Seen& seen, Aliases& aliases) {
  for (const pb::OutputOperandAliasing& alias : in.output_operand_aliasing()) {
    seen.Note(alias);
    OutputAlias& made = aliases.emplace_back();
    Assign(alias.output_shape_index(), made.output);
    made.operand = alias.operand_index();
    Assign(alias.operand_shape_index(), made.operand_index);
  }
  return absl::OkStatus();
}

absl::Status WriteAliases(const Aliases& aliases, const Instruction&, Message* out) {
  for (const OutputAlias& alias : aliases) {
    pb::OutputOperandAliasing* made = out->add_output_operand_aliasing();
    Assign(alias.output, made->mutable_output_shape_index());
    made->set_operand_index(alias.operand);
    Assign(alias.operand_index, made->mutable_operand_shape_index());
  }
  return absl::OkStatus();
}

absl::Status ReadPairs(const Message& in, Seen& seen, IntPairs& pairs) {
  for (const pb::SourceTarget& pair : in.source_target_pairs()) {
    seen.Note(pair);
    pairs.emplace_back(pair.source(), pair.target());
  }
  return absl::OkStatus();
}

absl::Status WritePairs(const IntPairs& pairs, const Instruction&, Message* out) {
  for (const auto& [source, target] : pairs) {
    pb::SourceTarget* pair = out->add_source_target_pairs();
    pair->set_source(source);
    pair->set_target(target);
  }
  return absl::OkStatus();
}

absl::Status ReadPadding(const Message& in, Seen& seen, PaddingConfig& padding) {
  seen.Note(in.padding_config());
  for (const auto& d : in.padding_config().dimensions()) {
    seen.Note(d);
    padding.push_back({d.edge_padding_low(), d.edge_padding_high(), d.interior_padding()});
  }
  return absl::OkStatus();
}

absl::Status WritePadding(const PaddingConfig& padding, const Instruction&, Message* out) {
  pb::PaddingConfig* config = out->mutable_padding_config();
  for (const PaddingDim& dim : padding) {
    auto* d = config->add_dimensions();
    d->set_edge_padding_low(dim.low);
    d->set_edge_padding_high(dim.high);
    d->set_interior_padding(dim.interior);
  }
  return absl::OkStatus();
}

absl::Status ReadSlice(const Message& in, Seen& seen, SliceSpec& slice) {
  for (const auto& d : in.slice_dimensions()) {
    seen.Note(d);
    slice.push_back({d.start(), d.limit(), d.stride()});
  }
  return absl::OkStatus();
}

absl::Status WriteSlice(const SliceSpec& slice, const Instruction&, Message* out) {
  for (const SliceDim& dim : slice) {
    auto* d = out->add_slice_dimensions();
    d->set_start(dim.start);
    d->set_limit(dim.limit);
    d->set_stride(dim.stride);
  }
  return absl::OkStatus();
}

absl::Status ReadOutfeedShape(const Message& in, Seen& seen, std::optional<Shape>& shape) {
  return in.has_outfeed_shape() ? Read(in.outfeed_shape(), seen, shape.emplace())
                                : absl::OkStatus();
}

absl::Status WriteOutfeedShape(const std::optional<Shape>& shape, const Instruction&,
                               Message* out) {
  if (shape) Write(*shape, out->mutable_outfeed_shape());
  return absl::OkStatus();
}

absl::Status ReadConstraints(const Message& in, Seen& seen, std::optional<Shapes>& shapes) {
  if (!in.constrain_layout()) return absl::OkStatus();
  shapes.emplace();
  for (const pb::ShapeProto& shape : in.operand_shapes_with_layout())
    RETURN_IF_ERROR(Read(shape, seen, shapes->emplace_back()));
  return absl::OkStatus();
}

absl::Status WriteConstraints(const std::optional<Shapes>& shapes, const Instruction&,
                              Message* out) {
  if (!shapes) return absl::OkStatus();
  out->set_constrain_layout(true);
  for (const Shape& shape : *shapes) Write(shape, out->add_operand_shapes_with_layout());
  return absl::OkStatus();
}

absl::Status ReadLiteralOf(const Message& in, Seen& seen, SharedLiteral& literal) {
  if (!in.has_literal()) return absl::OkStatus();
  ASSIGN_OR_RETURN(Literal value, Read(in.literal(), seen));
  literal = std::make_shared<const Literal>(std::move(value));
  return absl::OkStatus();
}

absl::Status WriteLiteralOf(const SharedLiteral& literal, const Instruction&, Message* out) {
  if (literal != nullptr) RETURN_IF_ERROR(Write(*literal, out->mutable_literal()));
  return absl::OkStatus();
}

// The text's entry is the message's exit.
absl::Status ReadDomain(const Message& in, Seen& seen, Domain& domain) {
  RETURN_IF_ERROR(Read(in.domain_exit_sharding(), seen, domain.entry));
  return Read(in.domain_entry_sharding(), seen, domain.exit);
}

absl::Status WriteDomain(const Domain& domain, const Instruction&, Message* out) {
  RETURN_IF_ERROR(Write(domain.entry, out->mutable_domain_exit_sharding()));
  return Write(domain.exit, out->mutable_domain_entry_sharding());
}

absl::Status ReadAccuracy(const Message& in, Seen& seen, ResultAccuracy& accuracy) {
  seen.Note(in.result_accuracy());
  if (in.result_accuracy().mode() == pb::ResultAccuracy::HIGHEST)
    accuracy.kind = ResultAccuracy::Kind::kHighest;
  if (!in.result_accuracy().has_tolerance()) return absl::OkStatus();
  const pb::ResultAccuracy::Tolerance& t = in.result_accuracy().tolerance();
  seen.Note(t);
  accuracy = {ResultAccuracy::Kind::kTolerance, t.atol(), t.rtol(), t.ulps()};
  return absl::OkStatus();
}

absl::Status WriteAccuracy(const ResultAccuracy& accuracy, const Instruction&, Message* out) {
  if (accuracy.kind == ResultAccuracy::Kind::kDefault) return absl::OkStatus();
  pb::ResultAccuracy* message = out->mutable_result_accuracy();
  if (accuracy.kind == ResultAccuracy::Kind::kHighest) {
    message->set_mode(pb::ResultAccuracy::HIGHEST);
    return absl::OkStatus();
  }
  message->mutable_tolerance()->set_atol(accuracy.atol);
  message->mutable_tolerance()->set_rtol(accuracy.rtol);
  message->mutable_tolerance()->set_ulps(accuracy.ulps);
  return absl::OkStatus();
}

using SparsityMessage = pb::SparsityConfig::TensorSparsityConfig;

OperandSparsity SparsityOf(const SparsityMessage& in, Seen& seen) {
  seen.Note(in);
  return {in.num_non_zero(), in.block_size(), in.dimension(), in.stride()};
}

void Write(const OperandSparsity& sparsity, SparsityMessage* out) {
  out->set_num_non_zero(sparsity.num_non_zero);
  out->set_block_size(sparsity.block_size);
  out->set_dimension(sparsity.dimension);
  out->set_stride(sparsity.stride);
}

absl::Status ReadSparsity(const Message& in, Seen& seen, SparsityConfig& sparsity) {
  const pb::SparsityConfig& config = in.sparsity_config();
  seen.Note(config);
  if (config.has_lhs()) sparsity.lhs = SparsityOf(config.lhs(), seen);
  if (config.has_rhs()) sparsity.rhs = SparsityOf(config.rhs(), seen);
  return absl::OkStatus();
}

// XLA writes the message where it says nothing, too.
absl::Status WriteSparsity(const SparsityConfig& sparsity, const Instruction&, Message* out) {
  pb::SparsityConfig* config = out->mutable_sparsity_config();
  if (sparsity.lhs) Write(*sparsity.lhs, config->mutable_lhs());
  if (sparsity.rhs) Write(*sparsity.rhs, config->mutable_rhs());
  return absl::OkStatus();
}

absl::Status WriteGroups(const ReplicaGroups& groups, const Instruction&, Message* out) {
  return Write(groups, out);
}

constexpr AttributeRow<Domain> kDomains[] = {{"domain", ReadDomain, WriteDomain}};
constexpr AttributeRow<ResultAccuracy> kAccuracies[] = {
    {"result_accuracy", ReadAccuracy, WriteAccuracy}};
constexpr AttributeRow<SparsityConfig> kSparsities[] = {
    {"sparsity_config", ReadSparsity, WriteSparsity}};
constexpr AttributeRow<Window> kWindows[] = {{"window", ReadWindow, WriteWindow}};
constexpr AttributeRow<ConvDims> kConvDims[] = {{"dim_labels", ReadConvDims, WriteConvDims}};
constexpr AttributeRow<std::optional<ConvDims>> kOptionalConvDims[] = {
    {"dim_labels", ReadOptionalConvDims, WriteOptionalConvDims}};
constexpr AttributeRow<Precisions> kPrecisions[] = {
    {"operand_precision", ReadPrecisions, WritePrecisions}};
constexpr AttributeRow<Aliases> kAliases[] = {
    {"output_to_operand_aliasing", ReadAliases, WriteAliases}};
constexpr AttributeRow<IntPairs> kPairs[] = {{"source_target_pairs", ReadPairs, WritePairs}};
constexpr AttributeRow<PaddingConfig> kPaddings[] = {{"padding", ReadPadding, WritePadding}};
constexpr AttributeRow<SliceSpec> kSlices[] = {{"slice", ReadSlice, WriteSlice}};
constexpr AttributeRow<std::optional<Shape>> kOptionalShapes[] = {
    {"outfeed_shape", ReadOutfeedShape, WriteOutfeedShape}};
constexpr AttributeRow<std::optional<Shapes>> kShapeLists[] = {
    {"operand_layout_constraints", ReadConstraints, WriteConstraints}};
constexpr AttributeRow<SharedLiteral> kLiterals[] = {{"literal", ReadLiteralOf, WriteLiteralOf}};
constexpr AttributeRow<ReplicaGroups> kGroups[] = {{"replica_groups", Read, WriteGroups}};

}  // namespace

HLOKIT_ROWS_FOR(Domain, kDomains)
HLOKIT_ROWS_FOR(ResultAccuracy, kAccuracies)
HLOKIT_ROWS_FOR(SparsityConfig, kSparsities)
HLOKIT_ROWS_FOR(Window, kWindows)
HLOKIT_ROWS_FOR(ConvDims, kConvDims)
HLOKIT_ROWS_FOR(std::optional<ConvDims>, kOptionalConvDims)
HLOKIT_ROWS_FOR(Precisions, kPrecisions)
HLOKIT_ROWS_FOR(Aliases, kAliases)
HLOKIT_ROWS_FOR(IntPairs, kPairs)
HLOKIT_ROWS_FOR(PaddingConfig, kPaddings)
HLOKIT_ROWS_FOR(SliceSpec, kSlices)
HLOKIT_ROWS_FOR(std::optional<Shape>, kOptionalShapes)
HLOKIT_ROWS_FOR(std::optional<Shapes>, kShapeLists)
HLOKIT_ROWS_FOR(SharedLiteral, kLiterals)
HLOKIT_ROWS_FOR(ReplicaGroups, kGroups)

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
