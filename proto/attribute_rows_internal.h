// Which field of HloInstructionProto holds which attribute: a list of rows for each C++ type that
// attributes have (ir/attributes.h names them; a new attribute of a known type is one row here).
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/instruction.h"
#include "proto/messages_internal.h"

namespace hlokit {

template <typename T>
struct AttributeRow {
  absl::string_view name;  // as in text
  absl::Status (*read)(const pb::HloInstructionProto& in, Seen& seen, T& value);
  // `of` is the instruction that has the attribute.
  absl::Status (*write)(const T& value, const Instruction& of, pb::HloInstructionProto* out);
};

// The rows of a type. The argument only chooses among the overloads.
absl::Span<const AttributeRow<bool>> RowsFor(const bool*);
absl::Span<const AttributeRow<int64_t>> RowsFor(const int64_t*);
absl::Span<const AttributeRow<std::optional<int64_t>>> RowsFor(const std::optional<int64_t>*);
absl::Span<const AttributeRow<double>> RowsFor(const double*);
absl::Span<const AttributeRow<std::string>> RowsFor(const std::string*);
absl::Span<const AttributeRow<RawText>> RowsFor(const RawText*);
absl::Span<const AttributeRow<DimVector>> RowsFor(const DimVector*);
absl::Span<const AttributeRow<std::optional<DimVector>>> RowsFor(const std::optional<DimVector>*);
absl::Span<const AttributeRow<std::vector<DimVector>>> RowsFor(const std::vector<DimVector>*);
absl::Span<const AttributeRow<std::vector<bool>>> RowsFor(const std::vector<bool>*);
absl::Span<const AttributeRow<IntPairs>> RowsFor(const IntPairs*);
absl::Span<const AttributeRow<ReplicaGroups>> RowsFor(const ReplicaGroups*);
absl::Span<const AttributeRow<std::vector<OutputAlias>>> RowsFor(const std::vector<OutputAlias>*);
absl::Span<const AttributeRow<std::vector<Precision>>> RowsFor(const std::vector<Precision>*);
absl::Span<const AttributeRow<Domain>> RowsFor(const Domain*);
absl::Span<const AttributeRow<ResultAccuracy>> RowsFor(const ResultAccuracy*);
absl::Span<const AttributeRow<SparsityConfig>> RowsFor(const SparsityConfig*);
absl::Span<const AttributeRow<std::optional<bool>>> RowsFor(const std::optional<bool>*);
absl::Span<const AttributeRow<Window>> RowsFor(const Window*);
absl::Span<const AttributeRow<ConvDims>> RowsFor(const ConvDims*);
absl::Span<const AttributeRow<std::optional<ConvDims>>> RowsFor(const std::optional<ConvDims>*);
absl::Span<const AttributeRow<PaddingConfig>> RowsFor(const PaddingConfig*);
absl::Span<const AttributeRow<SliceSpec>> RowsFor(const SliceSpec*);
absl::Span<const AttributeRow<std::optional<Shape>>> RowsFor(const std::optional<Shape>*);
absl::Span<const AttributeRow<std::optional<std::vector<Shape>>>> RowsFor(
    const std::optional<std::vector<Shape>>*);
absl::Span<const AttributeRow<SharedLiteral>> RowsFor(const SharedLiteral*);
absl::Span<const AttributeRow<ComparisonDirection>> RowsFor(const ComparisonDirection*);
absl::Span<const AttributeRow<ComparisonType>> RowsFor(const ComparisonType*);
absl::Span<const AttributeRow<ConvolutionKind>> RowsFor(const ConvolutionKind*);
absl::Span<const AttributeRow<FftType>> RowsFor(const FftType*);
absl::Span<const AttributeRow<FusionKind>> RowsFor(const FusionKind*);
absl::Span<const AttributeRow<RngDistribution>> RowsFor(const RngDistribution*);
absl::Span<const AttributeRow<RngAlgorithm>> RowsFor(const RngAlgorithm*);
absl::Span<const AttributeRow<TriangularTranspose>> RowsFor(const TriangularTranspose*);
absl::Span<const AttributeRow<CustomCallSchedule>> RowsFor(const CustomCallSchedule*);
absl::Span<const AttributeRow<CustomCallApiVersion>> RowsFor(const CustomCallApiVersion*);
absl::Span<const AttributeRow<PaddingType>> RowsFor(const PaddingType*);

// Says that `rows` are the rows of `type`.
#define HLOKIT_ROWS_FOR(type, rows) \
  absl::Span<const AttributeRow<type>> RowsFor(const type*) { return rows; }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
