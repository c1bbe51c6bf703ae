// The text of each type that an attribute field may have, and of a whole attribute struct.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "ir/attribute_holder.h"
#include "ir/sharding.h"

namespace hlokit {

void AppendInt(std::string& out, int64_t value);
void AppendQuoted(std::string& out, absl::string_view text);

// AppendValue(out, value): what stands after `name=`.
inline void AppendValue(std::string& out, int64_t value) { AppendInt(out, value); }
inline void AppendValue(std::string& out, bool value) { out += value ? "true" : "false"; }
void AppendValue(std::string& out, double value);
inline void AppendValue(std::string& out, const std::string& text) { AppendQuoted(out, text); }
inline void AppendValue(std::string& out, const RawText& raw) { out += raw.text; }
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
void AppendValue(std::string& out, const IntPairs& pairs);
void AppendValue(std::string& out, const std::vector<OutputAlias>& aliases);
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

void AppendSharding(std::string& out, const Sharding& sharding);

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

// Where an instruction's own attributes stand among what every instruction may have.
enum class AttributeStage { kFirst, kAfterCalls, kAfterStatistics };
AttributeStage StageOf(absl::string_view field_name);

// Appends `, name=value` for each field of `stage` that prints.
template <typename A>
void AppendAttributes(std::string& out, const A& attributes, AttributeStage stage) {
  [[maybe_unused]] static const A defaults;
  ForEachField<A>([&](const auto& field) {
    const auto& value = attributes.*field.member;
    if (field.use == FieldUse::kReadOnly || NeverPrinted(value)) return;
    if (field.use == FieldUse::kOptional && value == defaults.*field.member) return;
    if (StageOf(field.name) != stage) return;
    out += ", ";
    out += field.name;
    out += '=';
    AppendValue(out, value);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
