// The attribute struct of each opcode (ops.def names which). Fields stand in XLA's printing order;
// std::string fields are quoted in the text, RawText fields are not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/attribute_types.h"
#include "ir/fields.h"
#include "ir/sharding.h"

namespace hlokit {

// A template, so that only the files that ask for the fields pay for their tuples.
#define HLOKIT_FIELDS(...)          \
  template <typename = void>        \
  static constexpr auto Fields() {  \
    return std::tuple(__VA_ARGS__); \
  }

struct NoAttrs {
  HLOKIT_FIELDS()
  bool operator==(const NoAttrs&) const = default;
};

struct AccuracyAttrs {
  ResultAccuracy result_accuracy;
  HLOKIT_FIELDS(Optional("result_accuracy", &AccuracyAttrs::result_accuracy))
  bool operator==(const AccuracyAttrs&) const = default;
};

// dimensions={0,2}: what reduce, transpose, reverse, concatenate, sort and get-dimension-size work
// on.
struct DimensionsAttrs {
  DimVector dimensions;
  HLOKIT_FIELDS(Required("dimensions", &DimensionsAttrs::dimensions))
  bool operator==(const DimensionsAttrs&) const = default;
};

// dimensions={..}: where each operand dimension goes in the result; empty for a scalar operand.
struct BroadcastAttrs {
  DimVector dimensions;
  HLOKIT_FIELDS(Required("dimensions", &BroadcastAttrs::dimensions))
  bool operator==(const BroadcastAttrs&) const = default;
};

struct MapAttrs {
  DimVector dimensions;
  HLOKIT_FIELDS(Printed("dimensions", &MapAttrs::dimensions))
  bool operator==(const MapAttrs&) const = default;
};

struct CopyStartAttrs {
  std::optional<int64_t> cross_program_prefetch_index;
  bool is_cross_program_prefetch = false;
  HLOKIT_FIELDS(Optional("cross_program_prefetch_index",
                         &CopyStartAttrs::cross_program_prefetch_index),
                ReadOnly("is_cross_program_prefetch", &CopyStartAttrs::is_cross_program_prefetch))
  bool operator==(const CopyStartAttrs&) const = default;
};

struct ReshapeAttrs {
  std::optional<int64_t> inferred_dimension;
  HLOKIT_FIELDS(Optional("inferred_dimension", &ReshapeAttrs::inferred_dimension))
  bool operator==(const ReshapeAttrs&) const = default;
};

// Common to collectives: channel and device groups. Fields of the users repeat these names in their
// order.
struct AllGatherAttrs {
  std::optional<int64_t> channel_id;
  ReplicaGroups replica_groups;
  bool constrain_layout = false;
  DimVector dimensions;
  bool use_global_device_ids = false;
  HLOKIT_FIELDS(Optional("channel_id", &AllGatherAttrs::channel_id),
                Printed("replica_groups", &AllGatherAttrs::replica_groups),
                Optional("constrain_layout", &AllGatherAttrs::constrain_layout),
                Required("dimensions", &AllGatherAttrs::dimensions),
                Optional("use_global_device_ids", &AllGatherAttrs::use_global_device_ids))
  bool operator==(const AllGatherAttrs&) const = default;
};

struct AllReduceAttrs {
  std::optional<int64_t> channel_id;
  ReplicaGroups replica_groups;
  bool constrain_layout = false;
  bool use_global_device_ids = false;
  HLOKIT_FIELDS(Optional("channel_id", &AllReduceAttrs::channel_id),
                Printed("replica_groups", &AllReduceAttrs::replica_groups),
                Optional("constrain_layout", &AllReduceAttrs::constrain_layout),
                Optional("use_global_device_ids", &AllReduceAttrs::use_global_device_ids))
  bool operator==(const AllReduceAttrs&) const = default;
};

struct ReduceScatterAttrs {
  std::optional<int64_t> channel_id;
  ReplicaGroups replica_groups;
  bool constrain_layout = false;
  bool use_global_device_ids = false;
  DimVector dimensions;
  HLOKIT_FIELDS(Optional("channel_id", &ReduceScatterAttrs::channel_id),
                Printed("replica_groups", &ReduceScatterAttrs::replica_groups),
                Optional("constrain_layout", &ReduceScatterAttrs::constrain_layout),
                Optional("use_global_device_ids", &ReduceScatterAttrs::use_global_device_ids),
                Required("dimensions", &ReduceScatterAttrs::dimensions))
  bool operator==(const ReduceScatterAttrs&) const = default;
};

// dimensions absent: the tuple form, one operand a member.
struct AllToAllAttrs {
  std::optional<int64_t> channel_id;
  ReplicaGroups replica_groups;
  bool constrain_layout = false;
  std::optional<DimVector> dimensions;
  HLOKIT_FIELDS(Optional("channel_id", &AllToAllAttrs::channel_id),
                Printed("replica_groups", &AllToAllAttrs::replica_groups),
                Optional("constrain_layout", &AllToAllAttrs::constrain_layout),
                Optional("dimensions", &AllToAllAttrs::dimensions))
  bool operator==(const AllToAllAttrs&) const = default;
};

struct RaggedAllToAllAttrs {
  std::optional<int64_t> channel_id;
  ReplicaGroups replica_groups;
  HLOKIT_FIELDS(Optional("channel_id", &RaggedAllToAllAttrs::channel_id),
                Printed("replica_groups", &RaggedAllToAllAttrs::replica_groups))
  bool operator==(const RaggedAllToAllAttrs&) const = default;
};

struct CollectiveBroadcastAttrs {
  std::optional<int64_t> channel_id;
  ReplicaGroups replica_groups;
  HLOKIT_FIELDS(Optional("channel_id", &CollectiveBroadcastAttrs::channel_id),
                Printed("replica_groups", &CollectiveBroadcastAttrs::replica_groups))
  bool operator==(const CollectiveBroadcastAttrs&) const = default;
};

struct CollectivePermuteAttrs {
  std::optional<int64_t> channel_id;
  IntPairs source_target_pairs;
  std::vector<DimVector> slice_sizes;
  HLOKIT_FIELDS(Optional("channel_id", &CollectivePermuteAttrs::channel_id),
                Required("source_target_pairs", &CollectivePermuteAttrs::source_target_pairs),
                Optional("slice_sizes", &CollectivePermuteAttrs::slice_sizes))
  bool operator==(const CollectivePermuteAttrs&) const = default;
};

struct AsyncAttrs {
  std::string async_execution_thread;  // empty: main
  std::vector<OutputAlias> output_to_operand_aliasing;
  HLOKIT_FIELDS(Optional("async_execution_thread", &AsyncAttrs::async_execution_thread),
                Optional("output_to_operand_aliasing", &AsyncAttrs::output_to_operand_aliasing))
  bool operator==(const AsyncAttrs&) const = default;
};

struct BatchNormAttrs {
  double epsilon = 0;
  int64_t feature_index = 0;
  HLOKIT_FIELDS(Required("epsilon", &BatchNormAttrs::epsilon),
                Required("feature_index", &BatchNormAttrs::feature_index))
  bool operator==(const BatchNormAttrs&) const = default;
};

struct CallAttrs {
  bool is_composite = false;
  HLOKIT_FIELDS(Optional("is_composite", &CallAttrs::is_composite))
  bool operator==(const CallAttrs&) const = default;
};

struct CholeskyAttrs {
  bool lower = false;
  HLOKIT_FIELDS(Optional("lower", &CholeskyAttrs::lower))
  bool operator==(const CholeskyAttrs&) const = default;
};

struct CompareAttrs {
  ComparisonDirection direction = ComparisonDirection::kEq;
  ComparisonType type = ComparisonType::kDefault;  // kDefault: the operands' own order
  HLOKIT_FIELDS(Required("direction", &CompareAttrs::direction),
                Optional("type", &CompareAttrs::type))
  bool operator==(const CompareAttrs&) const = default;
};

// The value stands between the parentheses, so it is no named field.
struct ConstantAttrs {
  SharedLiteral literal;  // null: elided in the text, `constant({...})`
  HLOKIT_FIELDS()
  bool operator==(const ConstantAttrs& o) const {
    return literal == o.literal || (literal && o.literal && *literal == *o.literal);
  }
};

// The number stands between the parentheses.
struct ParameterAttrs {
  int64_t number = 0;
  std::vector<bool> replicated;  // parameter_replication={true,false}: by leaf
  HLOKIT_FIELDS(Optional("parameter_replication", &ParameterAttrs::replicated))
  bool operator==(const ParameterAttrs&) const = default;
};

struct ConvolutionAttrs {
  Window window;
  ConvDims dim_labels;
  int64_t feature_group_count = 1;
  int64_t batch_group_count = 1;
  ConvolutionKind convolution_kind = ConvolutionKind::kUnset;
  std::vector<Precision> operand_precision;
  SparsityConfig sparsity_config;
  HLOKIT_FIELDS(Optional("window", &ConvolutionAttrs::window),
                Required("dim_labels", &ConvolutionAttrs::dim_labels),
                Optional("feature_group_count", &ConvolutionAttrs::feature_group_count),
                Optional("batch_group_count", &ConvolutionAttrs::batch_group_count),
                Optional("convolution_kind", &ConvolutionAttrs::convolution_kind),
                Optional("operand_precision", &ConvolutionAttrs::operand_precision),
                Optional("sparsity_config", &ConvolutionAttrs::sparsity_config))
  bool operator==(const ConvolutionAttrs&) const = default;
};

struct CustomCallAttrs {
  std::string target;
  Window window;
  std::optional<ConvDims> dim_labels;
  int64_t feature_group_count = 1;
  int64_t batch_group_count = 1;
  std::vector<Precision> operand_precision;
  PaddingType padding_type = PaddingType::kInvalid;
  std::optional<std::vector<Shape>> operand_layout_constraints;  // `={}` differs from none
  bool has_side_effect = false;
  std::vector<OutputAlias> output_to_operand_aliasing;
  SharedLiteral literal;
  CustomCallSchedule schedule = CustomCallSchedule::kNone;
  CustomCallApiVersion api_version = CustomCallApiVersion::kOriginal;
  HLOKIT_FIELDS(Optional("window", &CustomCallAttrs::window),
                Optional("dim_labels", &CustomCallAttrs::dim_labels),
                Optional("feature_group_count", &CustomCallAttrs::feature_group_count),
                Optional("batch_group_count", &CustomCallAttrs::batch_group_count),
                Optional("operand_precision", &CustomCallAttrs::operand_precision),
                Optional("padding_type", &CustomCallAttrs::padding_type),
                Required("custom_call_target", &CustomCallAttrs::target),
                Optional("operand_layout_constraints",
                         &CustomCallAttrs::operand_layout_constraints),
                Optional("custom_call_has_side_effect", &CustomCallAttrs::has_side_effect),
                Optional("output_to_operand_aliasing",
                         &CustomCallAttrs::output_to_operand_aliasing),
                Optional("literal", &CustomCallAttrs::literal),
                Optional("schedule", &CustomCallAttrs::schedule),
                Optional("api_version", &CustomCallAttrs::api_version))
  bool operator==(const CustomCallAttrs&) const = default;
};

// domain={kind="sharding", entry={..}, exit={..}}.
struct DomainAttrs {
  Domain domain;
  HLOKIT_FIELDS(Required("domain", &DomainAttrs::domain))
  bool operator==(const DomainAttrs&) const = default;
};

struct DotAttrs {
  DimVector lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims;
  std::vector<Precision> operand_precision;
  RawText algorithm;  // dot_bf16_bf16_f32 and the like; empty: unset
  HLOKIT_FIELDS(Optional("lhs_batch_dims", &DotAttrs::lhs_batch_dims),
                Printed("lhs_contracting_dims", &DotAttrs::lhs_contracting_dims),
                Optional("rhs_batch_dims", &DotAttrs::rhs_batch_dims),
                Printed("rhs_contracting_dims", &DotAttrs::rhs_contracting_dims),
                Optional("operand_precision", &DotAttrs::operand_precision),
                Optional("algorithm", &DotAttrs::algorithm))
  bool operator==(const DotAttrs&) const = default;
};

struct RaggedDotAttrs {
  DimVector lhs_batch_dims, lhs_contracting_dims, rhs_batch_dims, rhs_contracting_dims;
  DimVector lhs_ragged_dims, rhs_group_dims;
  std::vector<Precision> operand_precision;
  RawText algorithm;  // dot_bf16_bf16_f32 and the like; empty: unset
  HLOKIT_FIELDS(Optional("lhs_batch_dims", &RaggedDotAttrs::lhs_batch_dims),
                Printed("lhs_contracting_dims", &RaggedDotAttrs::lhs_contracting_dims),
                Optional("rhs_batch_dims", &RaggedDotAttrs::rhs_batch_dims),
                Printed("rhs_contracting_dims", &RaggedDotAttrs::rhs_contracting_dims),
                Optional("lhs_ragged_dims", &RaggedDotAttrs::lhs_ragged_dims),
                Optional("rhs_group_dims", &RaggedDotAttrs::rhs_group_dims),
                Optional("operand_precision", &RaggedDotAttrs::operand_precision),
                Optional("algorithm", &RaggedDotAttrs::algorithm))
  bool operator==(const RaggedDotAttrs&) const = default;
};

struct DynamicSliceAttrs {
  DimVector dynamic_slice_sizes;
  HLOKIT_FIELDS(Required("dynamic_slice_sizes", &DynamicSliceAttrs::dynamic_slice_sizes))
  bool operator==(const DynamicSliceAttrs&) const = default;
};

struct FftAttrs {
  FftType fft_type = FftType::kFft;
  DimVector fft_length;
  HLOKIT_FIELDS(Required("fft_type", &FftAttrs::fft_type),
                Required("fft_length", &FftAttrs::fft_length))
  bool operator==(const FftAttrs&) const = default;
};

struct FusionAttrs {
  FusionKind kind = FusionKind::kLoop;
  std::vector<OutputAlias> output_to_operand_aliasing;
  HLOKIT_FIELDS(Required("kind", &FusionAttrs::kind),
                Optional("output_to_operand_aliasing", &FusionAttrs::output_to_operand_aliasing))
  bool operator==(const FusionAttrs&) const = default;
};

struct GatherAttrs {
  DimVector offset_dims, collapsed_slice_dims, start_index_map;
  DimVector operand_batching_dims, start_indices_batching_dims;
  int64_t index_vector_dim = 0;
  DimVector slice_sizes;
  bool indices_are_sorted = false;
  HLOKIT_FIELDS(Required("offset_dims", &GatherAttrs::offset_dims),
                Required("collapsed_slice_dims", &GatherAttrs::collapsed_slice_dims),
                Required("start_index_map", &GatherAttrs::start_index_map),
                Optional("operand_batching_dims", &GatherAttrs::operand_batching_dims),
                Optional("start_indices_batching_dims", &GatherAttrs::start_indices_batching_dims),
                Required("index_vector_dim", &GatherAttrs::index_vector_dim),
                Required("slice_sizes", &GatherAttrs::slice_sizes),
                Optional("indices_are_sorted", &GatherAttrs::indices_are_sorted))
  bool operator==(const GatherAttrs&) const = default;
};

struct ScatterAttrs {
  DimVector update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims;
  DimVector input_batching_dims, scatter_indices_batching_dims;
  int64_t index_vector_dim = 0;
  bool indices_are_sorted = false;
  bool unique_indices = false;
  HLOKIT_FIELDS(Required("update_window_dims", &ScatterAttrs::update_window_dims),
                Required("inserted_window_dims", &ScatterAttrs::inserted_window_dims),
                Required("scatter_dims_to_operand_dims",
                         &ScatterAttrs::scatter_dims_to_operand_dims),
                Optional("input_batching_dims", &ScatterAttrs::input_batching_dims),
                Optional("scatter_indices_batching_dims",
                         &ScatterAttrs::scatter_indices_batching_dims),
                Required("index_vector_dim", &ScatterAttrs::index_vector_dim),
                Optional("indices_are_sorted", &ScatterAttrs::indices_are_sorted),
                Optional("unique_indices", &ScatterAttrs::unique_indices))
  bool operator==(const ScatterAttrs&) const = default;
};

struct GetTupleElementAttrs {
  int64_t index = 0;
  HLOKIT_FIELDS(Required("index", &GetTupleElementAttrs::index))
  bool operator==(const GetTupleElementAttrs&) const = default;
};

struct InfeedAttrs {
  std::string infeed_config;
  HLOKIT_FIELDS(Optional("infeed_config", &InfeedAttrs::infeed_config))
  bool operator==(const InfeedAttrs&) const = default;
};

struct OutfeedAttrs {
  std::optional<Shape> outfeed_shape;
  std::string outfeed_config;
  HLOKIT_FIELDS(Optional("outfeed_shape", &OutfeedAttrs::outfeed_shape),
                Optional("outfeed_config", &OutfeedAttrs::outfeed_config))
  bool operator==(const OutfeedAttrs&) const = default;
};

struct IotaAttrs {
  int64_t iota_dimension = 0;
  HLOKIT_FIELDS(Required("iota_dimension", &IotaAttrs::iota_dimension))
  bool operator==(const IotaAttrs&) const = default;
};

struct PadAttrs {
  PaddingConfig padding;
  HLOKIT_FIELDS(Required("padding", &PadAttrs::padding))
  bool operator==(const PadAttrs&) const = default;
};

struct ReducePrecisionAttrs {
  int64_t exponent_bits = 0, mantissa_bits = 0;
  HLOKIT_FIELDS(Required("exponent_bits", &ReducePrecisionAttrs::exponent_bits),
                Required("mantissa_bits", &ReducePrecisionAttrs::mantissa_bits))
  bool operator==(const ReducePrecisionAttrs&) const = default;
};

struct RngAttrs {
  RngDistribution distribution = RngDistribution::kUniform;
  HLOKIT_FIELDS(Required("distribution", &RngAttrs::distribution))
  bool operator==(const RngAttrs&) const = default;
};

struct RngBitGeneratorAttrs {
  RngAlgorithm algorithm = RngAlgorithm::kDefault;
  HLOKIT_FIELDS(Required("algorithm", &RngBitGeneratorAttrs::algorithm))
  bool operator==(const RngBitGeneratorAttrs&) const = default;
};

struct RngStateAttrs {
  int64_t delta = 0;
  HLOKIT_FIELDS(Required("delta", &RngStateAttrs::delta))
  bool operator==(const RngStateAttrs&) const = default;
};

struct ScanAttrs {
  DimVector dimensions;
  int64_t num_carries = 0;
  bool is_reverse = false;
  std::optional<bool> is_associative;  // nothing: unknown
  HLOKIT_FIELDS(Required("dimensions", &ScanAttrs::dimensions),
                Printed("num_carries", &ScanAttrs::num_carries),
                Optional("is_reverse", &ScanAttrs::is_reverse),
                Optional("is_associative", &ScanAttrs::is_associative))
  bool operator==(const ScanAttrs&) const = default;
};

struct SendRecvAttrs {
  std::optional<int64_t> channel_id;
  bool is_host_transfer = false;
  HLOKIT_FIELDS(Optional("channel_id", &SendRecvAttrs::channel_id),
                Optional("is_host_transfer", &SendRecvAttrs::is_host_transfer))
  bool operator==(const SendRecvAttrs&) const = default;
};

struct SliceAttrs {
  SliceSpec slice;
  HLOKIT_FIELDS(Required("slice", &SliceAttrs::slice))
  bool operator==(const SliceAttrs&) const = default;
};

struct SortAttrs {
  DimVector dimensions;
  bool is_stable = false;
  HLOKIT_FIELDS(Required("dimensions", &SortAttrs::dimensions),
                Optional("is_stable", &SortAttrs::is_stable))
  bool operator==(const SortAttrs&) const = default;
};

struct TopKAttrs {
  int64_t k = 0;
  bool largest = true;
  HLOKIT_FIELDS(Required("k", &TopKAttrs::k), Printed("largest", &TopKAttrs::largest))
  bool operator==(const TopKAttrs&) const = default;
};

struct TriangularSolveAttrs {
  bool left_side = false, lower = false, unit_diagonal = false;
  TriangularTranspose transpose_a = TriangularTranspose::kInvalid;
  HLOKIT_FIELDS(Optional("left_side", &TriangularSolveAttrs::left_side),
                Optional("lower", &TriangularSolveAttrs::lower),
                Optional("unit_diagonal", &TriangularSolveAttrs::unit_diagonal),
                Optional("transpose_a", &TriangularSolveAttrs::transpose_a))
  bool operator==(const TriangularSolveAttrs&) const = default;
};

struct WindowAttrs {
  Window window;
  HLOKIT_FIELDS(Optional("window", &WindowAttrs::window))
  bool operator==(const WindowAttrs&) const = default;
};

#undef HLOKIT_FIELDS

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
