// The text of each type that an attribute field may have, and of a whole attribute struct.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "ir/module.h"
#include "printer/print_options.h"

namespace hlokit {

void AppendInt(std::string& out, int64_t value);
void AppendQuoted(std::string& out, absl::string_view text);
// As it stands, as XLA writes some texts; escaped only where it would not read back.
void AppendQuotedRaw(std::string& out, absl::string_view text);

// Appends what `append(item)` writes for each item, with `separator` between.
template <typename List, typename Fn>
void AppendJoined(std::string& out, const List& list, absl::string_view separator, Fn append) {
  bool first = true;
  for (const auto& item : list) {
    if (!first) out.append(separator.data(), separator.size());
    first = false;
    append(item);
  }
}

template <typename List, typename Fn>
void AppendBraced(std::string& out, const List& list, absl::string_view separator, Fn append) {
  out += '{';
  AppendJoined(out, list, separator, append);
  out += '}';
}

void AppendBracketed(std::string& out, absl::Span<const int64_t> values);  // [2,4]
// `<=[4,2]T(1,0)`: devices counted up over `dims`, transposed.
void AppendIota(std::string& out, const DimVector& dims, const DimVector& perm);

// AppendValue(out, value): what stands after `name=`.
inline void AppendValue(std::string& out, int64_t value) { AppendInt(out, value); }
inline void AppendValue(std::string& out, bool value) { out += value ? "true" : "false"; }
void AppendValue(std::string& out, double value);
inline void AppendValue(std::string& out, const std::string& text) { AppendQuoted(out, text); }
inline void AppendValue(std::string& out, const RawText& raw) { out += raw.text; }
void AppendValue(std::string& out, const ResultAccuracy& accuracy);
void AppendValue(std::string& out, const SparsityConfig& sparsity);
void AppendValue(std::string& out, const Domain& domain);
void AppendValue(std::string& out, absl::Span<const int64_t> values);  // {0,1}
inline void AppendValue(std::string& out, const DimVector& dims) {
  AppendValue(out, absl::Span<const int64_t>(dims));
}
void AppendValue(std::string& out, const std::vector<DimVector>& lists);
void AppendValue(std::string& out, const std::vector<bool>& values);
void AppendValue(std::string& out, const std::vector<Precision>& values);
void AppendValue(std::string& out, const std::vector<Shape>& shapes);
void AppendValue(std::string& out, const Shape& shape);
void AppendValue(std::string& out, const SharedLiteral& literal);
void AppendValue(std::string& out, const Window& window);
void AppendValue(std::string& out, const ConvDims& dims);
void AppendValue(std::string& out, const PaddingConfig& padding);
void AppendValue(std::string& out, const SliceSpec& slice);
void AppendValue(std::string& out, const ReplicaGroups& groups);
void AppendFullGroups(std::string& out,
                      const ReplicaGroups& groups);  // as lists, whatever the form
void AppendValue(std::string& out, const IntPairs& pairs);
void AppendValue(std::string& out, const std::vector<OutputAlias>& aliases);
inline void AppendIndex(std::string& out, const ShapeIndex& index) {
  AppendValue(out, absl::Span<const int64_t>(index));
}
// Of the module's line, without the braces around them.
void AppendAliases(std::string& out, const std::vector<InputOutputAlias>& aliases);
void AppendDonors(std::string& out, const std::vector<BufferDonor>& donors);
template <typename E>
requires std::is_enum_v<E>
void AppendValue(std::string& out, E value) {
  const absl::string_view text = Text(value);
  out.append(text.data(), text.size());
}
template <typename T>
void AppendValue(std::string& out, const std::optional<T>& value) {
  AppendValue(out, *value);
}

// `with_metadata` false: without what the sharding says of its own origin.
void AppendSharding(std::string& out, const Sharding& sharding, bool with_metadata = true);

// Values that XLA leaves out whatever their field says.
template <typename T>
bool NeverPrinted(const T&) {
  return false;
}
template <typename T>
bool NeverPrinted(const std::optional<T>& value) {
  return !value.has_value();
}
inline bool NeverPrinted(const Window& window) { return window.empty(); }
bool NeverPrinted(const std::vector<Precision>& precision);  // all default

// Where an instruction's own attributes stand: before what an asynchronous start wraps, before the
// computations it calls, behind them, or behind what every instruction may have.
enum class AttributeStage { kFirst, kAfterWrapped, kAfterCalls, kAfterStatistics };
template <typename A>
AttributeStage StageOf(absl::string_view field_name) {
  if (field_name == "is_composite") return AttributeStage::kAfterCalls;
  if (field_name == "result_accuracy") return AttributeStage::kAfterStatistics;
  const bool aliasing = field_name == "output_to_operand_aliasing";
  if (std::is_same_v<A, AsyncAttrs> && aliasing) return AttributeStage::kAfterWrapped;
  // Behind the literal, in this order.
  const bool behind = aliasing || field_name == "schedule" || field_name == "api_version";
  if (std::is_same_v<A, CustomCallAttrs> && behind) return AttributeStage::kAfterWrapped;
  return AttributeStage::kFirst;
}
inline bool IsReplication(absl::string_view field_name) {
  return field_name == "parameter_replication";
}
inline bool IsThread(absl::string_view field_name) {
  return field_name == "async_execution_thread";
}
inline bool IsFeedConfig(absl::string_view field_name) {
  return field_name == "infeed_config" || field_name == "outfeed_config";
}

// Appends `, name=value` for each field of `stage` that prints.
template <typename A>
void AppendAttributes(std::string& out, const A& attributes, AttributeStage stage,
                      const PrintOptions& options) {
  [[maybe_unused]] static const A defaults;
  ForEachField<A>([&](const auto& field) {
    const auto& value = attributes.*field.member;
    if (field.use == FieldUse::kReadOnly || NeverPrinted(value)) return;
    if (field.use == FieldUse::kOptional && value == defaults.*field.member) return;
    if (StageOf<A>(field.name) != stage) return;
    if (!options.infeed_outfeed_config && IsFeedConfig(field.name)) return;
    if (!options.ids && IsReplication(field.name)) return;
    out += ", ";
    out += field.name;
    out += '=';
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, ReplicaGroups>) {
      options.full_groups ? AppendFullGroups(out, value) : AppendValue(out, value);
    } else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
      IsThread(field.name) ? AppendQuotedRaw(out, value) : AppendValue(out, value);
    } else {
      AppendValue(out, value);
    }
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
