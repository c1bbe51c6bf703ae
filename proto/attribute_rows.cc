// Rows for attributes that are numbers, flags, texts, lists of numbers and enumerators.
//
// The table says for each attribute of ir/attributes.h which functions read it from and write it
// to a message. It is the one place that knows XLA's exceptions: dot and ragged-dot keep the same
// numbers in different fields, all_reduce_id is an old name of channel_id, precisions at their
// default are absent.
#include "proto/attribute_rows_internal.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "parser/normalize.h"
#include "support/status.h"

namespace hlokit {
namespace {

using Message = pb::HloInstructionProto;

// A row from what reads (from `in` into `value`) and what writes (`value` of `of` into `out`).
#define ROW(name, read_code, write_code)                                               \
  {                                                                                    \
    name,                                                                              \
        []([[maybe_unused]] const Message& in, [[maybe_unused]] Seen& seen,            \
           [[maybe_unused]] auto& value) -> absl::Status {                             \
          read_code;                                                                   \
          return absl::OkStatus();                                                     \
        },                                                                             \
        []([[maybe_unused]] const auto& value, [[maybe_unused]] const Instruction& of, \
           [[maybe_unused]] Message* out) -> absl::Status {                            \
          write_code;                                                                  \
          return absl::OkStatus();                                                     \
        }                                                                              \
  }
#define SCALAR(name, field) ROW(name, value = in.field(), out->set_##field(value))
#define LIST(name, field) \
  ROW(name, Assign(in.field(), value), Assign(value, out->mutable_##field()))
// A scalar or a list in a message of its own.
#define PART(name, message, field)                                   \
  ROW(name, (seen.Note(in.message()), value = in.message().field()), \
      out->mutable_##message()->set_##field(value))
#define PART_LIST(name, message, field)                                     \
  ROW(name, (seen.Note(in.message()), Assign(in.message().field(), value)), \
      Assign(value, out->mutable_##message()->mutable_##field()))

// dot and ragged-dot keep the same numbers at different places.
const pb::DotDimensionNumbers& DotNumbers(const Message& in, Seen& seen) {
  seen.Note(in.ragged_dot_dimension_numbers());
  const pb::DotDimensionNumbers& numbers =
      in.has_ragged_dot_dimension_numbers()
          ? in.ragged_dot_dimension_numbers().dot_dimension_numbers()
          : in.dot_dimension_numbers();
  seen.Note(numbers);
  return numbers;
}

pb::DotDimensionNumbers* DotNumbers(const Instruction& of, Message* out) {
  return of.opcode() == Opcode::kRaggedDot
             ? out->mutable_ragged_dot_dimension_numbers()->mutable_dot_dimension_numbers()
             : out->mutable_dot_dimension_numbers();
}

#define DOT_LIST(name, field)                            \
  ROW(name, Assign(DotNumbers(in, seen).field(), value), \
      Assign(value, DotNumbers(of, out)->mutable_##field()))

constexpr AttributeRow<bool> kFlags[] = {
    SCALAR("constrain_layout", constrain_layout),
    SCALAR("custom_call_has_side_effect", custom_call_has_side_effect),
    SCALAR("indices_are_sorted", indices_are_sorted),
    SCALAR("is_composite", is_composite),
    SCALAR("is_cross_program_prefetch", is_cross_program_prefetch),
    SCALAR("is_host_transfer", is_host_transfer),
    SCALAR("is_reverse", is_reverse),
    SCALAR("is_stable", is_stable),
    SCALAR("largest", largest),
    SCALAR("unique_indices", unique_indices),
    SCALAR("use_global_device_ids", use_global_device_ids),
    PART("left_side", triangular_solve_options, left_side),
    PART("unit_diagonal", triangular_solve_options, unit_diagonal),
    ROW(
        "lower",
        {
          seen.Note(in.cholesky_options());
          value = in.has_cholesky_options() ? in.cholesky_options().lower()
                                            : in.triangular_solve_options().lower();
        },
        if (of.opcode() == Opcode::kCholesky) {
          out->mutable_cholesky_options()->set_lower(value);
        } else { out->mutable_triangular_solve_options()->set_lower(value); }),
};

// Group counts of 0 are those of dumps from before the fields.
constexpr AttributeRow<int64_t> kNumbers[] = {
    ROW("batch_group_count", value = std::max<int64_t>(in.batch_group_count(), 1),
        out->set_batch_group_count(value)),
    ROW("feature_group_count", value = std::max<int64_t>(in.feature_group_count(), 1),
        out->set_feature_group_count(value)),
    SCALAR("delta", delta),
    SCALAR("feature_index", feature_index),
    SCALAR("index", tuple_index),
    SCALAR("k", k),
    SCALAR("num_carries", num_carries),
    ROW("exponent_bits", value = in.exponent_bits(),
        out->set_exponent_bits(static_cast<int32_t>(value))),
    ROW("mantissa_bits", value = in.mantissa_bits(),
        out->set_mantissa_bits(static_cast<int32_t>(value))),
    ROW(
        "iota_dimension",
        {
          if (in.dimensions_size() != 1)
            return InvalidArgument("expected one dimension, found ", in.dimensions_size());
          value = in.dimensions(0);
        },
        out->add_dimensions(value)),
    ROW(
        "index_vector_dim",
        value = in.has_scatter_dimension_numbers()
                    ? in.scatter_dimension_numbers().index_vector_dim()
                    : in.gather_dimension_numbers().index_vector_dim(),
        if (of.opcode() == Opcode::kGather) {
          out->mutable_gather_dimension_numbers()->set_index_vector_dim(value);
        } else { out->mutable_scatter_dimension_numbers()->set_index_vector_dim(value); }),
};

// all_reduce_id was a name of channel_id; numbers below 1 are none.
constexpr AttributeRow<std::optional<int64_t>> kOptionalNumbers[] = {
    ROW(
        "channel_id",
        {
          const int64_t id = in.channel_id() > 0 ? in.channel_id() : in.all_reduce_id();
          if (id > 0) value = id;
        },
        if (value) out->set_channel_id(*value)),
    ROW("cross_program_prefetch_index",
        if (in.has_cross_program_prefetch_index()) value = in.cross_program_prefetch_index(),
        if (value) out->set_cross_program_prefetch_index(static_cast<int32_t>(*value))),
    ROW("inferred_dimension",
        if (in.dimensions_size() == 1 && in.dimensions(0) >= 0) value = in.dimensions(0),
        if (value) out->add_dimensions(*value)),
};

constexpr AttributeRow<double> kReals[] = {
    ROW("epsilon", value = in.epsilon(), out->set_epsilon(static_cast<float>(value))),
};

constexpr AttributeRow<std::string> kTexts[] = {
    SCALAR("async_execution_thread", async_execution_thread),
    SCALAR("custom_call_target", custom_call_target),
    SCALAR("infeed_config", infeed_config),
    SCALAR("outfeed_config", outfeed_config),
};

// `dot_bf16_bf16_f32` in text is ALG_DOT_BF16_BF16_F32 here.
absl::Status WriteAlgorithm(absl::string_view text, Message* out) {
  if (text.empty()) return absl::OkStatus();
  pb::PrecisionConfig::Algorithm algorithm = pb::PrecisionConfig::ALG_UNSET;
  const std::string name = absl::StrCat("ALG_", absl::AsciiStrToUpper(text));
  if (!pb::PrecisionConfig::Algorithm_Parse(name, &algorithm))
    return InvalidArgument("the algorithm ", text, " has no number");
  out->mutable_precision_config()->set_algorithm(algorithm);
  return absl::OkStatus();
}

absl::Status ReadAlgorithm(const Message& in, std::string& text) {
  const auto algorithm = in.precision_config().algorithm();
  if (algorithm == pb::PrecisionConfig::ALG_UNSET) return absl::OkStatus();
  absl::string_view name = pb::PrecisionConfig::Algorithm_Name(algorithm);
  if (!absl::ConsumePrefix(&name, "ALG_"))
    return InvalidArgument("algorithm ", static_cast<int>(algorithm), " is not known");
  text = absl::AsciiStrToLower(name);
  return absl::OkStatus();
}

constexpr AttributeRow<RawText> kRawTexts[] = {
    ROW("algorithm", return ReadAlgorithm(in, value.text), return WriteAlgorithm(value.text, out)),
};

constexpr AttributeRow<std::optional<bool>> kOptionalFlags[] = {
    ROW("is_associative",
        if (in.is_associative() != pb::TRI_STATE_UNSPECIFIED) value =
            in.is_associative() == pb::TRI_STATE_TRUE,
        if (value) out->set_is_associative(*value ? pb::TRI_STATE_TRUE : pb::TRI_STATE_FALSE)),
};

constexpr AttributeRow<DimVector> kLists[] = {
    LIST("dimensions", dimensions),
    LIST("dynamic_slice_sizes", dynamic_slice_sizes),
    LIST("fft_length", fft_length),
    LIST("slice_sizes", gather_slice_sizes),
    DOT_LIST("lhs_batch_dims", lhs_batch_dimensions),
    DOT_LIST("lhs_contracting_dims", lhs_contracting_dimensions),
    DOT_LIST("rhs_batch_dims", rhs_batch_dimensions),
    DOT_LIST("rhs_contracting_dims", rhs_contracting_dimensions),
    PART_LIST("lhs_ragged_dims", ragged_dot_dimension_numbers, lhs_ragged_dimensions),
    PART_LIST("rhs_group_dims", ragged_dot_dimension_numbers, rhs_group_dimensions),
    PART_LIST("offset_dims", gather_dimension_numbers, offset_dims),
    PART_LIST("collapsed_slice_dims", gather_dimension_numbers, collapsed_slice_dims),
    PART_LIST("start_index_map", gather_dimension_numbers, start_index_map),
    PART_LIST("operand_batching_dims", gather_dimension_numbers, operand_batching_dims),
    PART_LIST("start_indices_batching_dims", gather_dimension_numbers, start_indices_batching_dims),
    PART_LIST("update_window_dims", scatter_dimension_numbers, update_window_dims),
    PART_LIST("inserted_window_dims", scatter_dimension_numbers, inserted_window_dims),
    PART_LIST("scatter_dims_to_operand_dims", scatter_dimension_numbers,
              scatter_dims_to_operand_dims),
    PART_LIST("input_batching_dims", scatter_dimension_numbers, input_batching_dims),
    PART_LIST("scatter_indices_batching_dims", scatter_dimension_numbers,
              scatter_indices_batching_dims),
};

constexpr AttributeRow<std::optional<DimVector>> kOptionalLists[] = {
    ROW("dimensions", if (in.dimensions_size() > 0) Assign(in.dimensions(), value.emplace()),
        if (value) Assign(*value, out->mutable_dimensions())),
};

// One list an operand of as many numbers as the operand has dimensions; the message joins them.
absl::Status WriteJoined(const std::vector<DimVector>& lists, Message* out) {
  for (const DimVector& list : lists)
    for (const int64_t size : list) out->add_dynamic_slice_sizes(size);
  return absl::OkStatus();
}

constexpr AttributeRow<std::vector<DimVector>> kListsOfLists[] = {
    ROW("slice_sizes", , return WriteJoined(value, out)),  // read once operands are known
};

constexpr AttributeRow<std::vector<bool>> kFlagLists[] = {
    ROW(
        "parameter_replication",
        {
          seen.Note(in.parameter_replication());
          Assign(in.parameter_replication().replicated_at_leaf_buffers(), value);
        },
        if (!value.empty()) Assign(
            value, out->mutable_parameter_replication()->mutable_replicated_at_leaf_buffers())),
};

// Enumerators with the numbers of XLA's enumerations.
#define ENUMERATOR(name, type, last, field, message_type)                                       \
  ROW(                                                                                          \
      name,                                                                                     \
      {                                                                                         \
        if (in.field() < 0 || in.field() > static_cast<int>(last))                              \
          return InvalidArgument("the number ", static_cast<int>(in.field()), " is not known"); \
        value = static_cast<type>(in.field());                                                  \
      },                                                                                        \
      out->set_##field(static_cast<message_type>(value)))

// Enumerators that stand as texts.
template <typename Enum>
absl::Status ReadSpelled(const std::string& text, Enum& value) {
  if (EnumFromText(text, value)) return absl::OkStatus();
  return InvalidArgument("'", text, "' is not known");
}

void SetText(absl::string_view text, std::string* out) { out->assign(text.data(), text.size()); }

constexpr AttributeRow<ComparisonDirection> kDirections[] = {
    ROW("direction", return ReadSpelled(in.comparison_direction(), value),
        SetText(Text(value), out->mutable_comparison_direction())),
};
constexpr AttributeRow<ComparisonType> kComparisons[] = {
    ROW("type", if (!in.comparison_type().empty()) return ReadSpelled(in.comparison_type(), value),
        {
          const bool own = value == ComparisonType::kDefault;
          SetText(Text(own ? OwnOrder(of.operand(0)->shape().type) : value),
                  out->mutable_comparison_type());
        }),
};
constexpr AttributeRow<FusionKind> kFusionKinds[] = {
    ROW("kind", return ReadSpelled(in.fusion_kind(), value),
        SetText(Text(value), out->mutable_fusion_kind())),
};
constexpr AttributeRow<ConvolutionKind> kConvolutionKinds[] = {ENUMERATOR(
    "convolution_kind", ConvolutionKind, ConvolutionKind::kWgrad, conv_kind, pb::ConvolutionKind)};
constexpr AttributeRow<FftType> kFfts[] = {
    ENUMERATOR("fft_type", FftType, FftType::kIrfft, fft_type, pb::FftType)};
constexpr AttributeRow<RngDistribution> kDistributions[] = {
    ENUMERATOR("distribution", RngDistribution, RngDistribution::kNormal, distribution,
               pb::RandomDistribution)};
constexpr AttributeRow<RngAlgorithm> kRngAlgorithms[] = {ENUMERATOR(
    "algorithm", RngAlgorithm, RngAlgorithm::kPhilox, rng_algorithm, pb::RandomAlgorithm)};
constexpr AttributeRow<CustomCallSchedule> kSchedules[] = {
    ENUMERATOR("schedule", CustomCallSchedule, CustomCallSchedule::kEarliest, custom_call_schedule,
               pb::CustomCallSchedule)};
constexpr AttributeRow<CustomCallApiVersion> kApiVersions[] = {
    ENUMERATOR("api_version", CustomCallApiVersion, CustomCallApiVersion::kTypedFfi,
               custom_call_api_version, pb::CustomCallApiVersion)};
constexpr AttributeRow<PaddingType> kPaddingTypes[] = {
    ENUMERATOR("padding_type", PaddingType, PaddingType::kSame, padding_type, pb::PaddingType)};
constexpr AttributeRow<TriangularTranspose> kTransposes[] = {ROW(
    "transpose_a",
    {
      const int number = in.triangular_solve_options().transpose_a();
      if (number < 0 || number > static_cast<int>(TriangularTranspose::kAdjoint))
        return InvalidArgument("the number ", number, " is not known");
      value = static_cast<TriangularTranspose>(number);
    },
    out->mutable_triangular_solve_options()->set_transpose_a(
        static_cast<pb::TriangularSolveOptions::Transpose>(value)))};

}  // namespace

HLOKIT_ROWS_FOR(bool, kFlags)
HLOKIT_ROWS_FOR(int64_t, kNumbers)
HLOKIT_ROWS_FOR(std::optional<int64_t>, kOptionalNumbers)
HLOKIT_ROWS_FOR(double, kReals)
HLOKIT_ROWS_FOR(std::string, kTexts)
HLOKIT_ROWS_FOR(RawText, kRawTexts)
HLOKIT_ROWS_FOR(std::optional<bool>, kOptionalFlags)
HLOKIT_ROWS_FOR(DimVector, kLists)
HLOKIT_ROWS_FOR(std::optional<DimVector>, kOptionalLists)
HLOKIT_ROWS_FOR(std::vector<DimVector>, kListsOfLists)
HLOKIT_ROWS_FOR(std::vector<bool>, kFlagLists)
HLOKIT_ROWS_FOR(ComparisonDirection, kDirections)
HLOKIT_ROWS_FOR(ComparisonType, kComparisons)
HLOKIT_ROWS_FOR(ConvolutionKind, kConvolutionKinds)
HLOKIT_ROWS_FOR(FftType, kFfts)
HLOKIT_ROWS_FOR(FusionKind, kFusionKinds)
HLOKIT_ROWS_FOR(RngDistribution, kDistributions)
HLOKIT_ROWS_FOR(RngAlgorithm, kRngAlgorithms)
HLOKIT_ROWS_FOR(TriangularTranspose, kTransposes)
HLOKIT_ROWS_FOR(CustomCallSchedule, kSchedules)
HLOKIT_ROWS_FOR(CustomCallApiVersion, kApiVersions)
HLOKIT_ROWS_FOR(PaddingType, kPaddingTypes)

#undef ROW
#undef SCALAR
#undef LIST
#undef PART
#undef PART_LIST
#undef ENUMERATOR

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
