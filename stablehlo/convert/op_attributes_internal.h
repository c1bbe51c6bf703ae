// Attributes of one operation by name, in the forms that versions of StableHLO have given them.
#pragma once

#include <string>
#include <vector>

#include "ir/attribute_types.h"
#include "stablehlo/ir/mlir.h"
#include "support/status.h"

namespace hlokit {

// The numbers of array<i64: ..>, dense<..> or [..]; nullopt where it is none of these.
std::optional<std::vector<int64_t>> IntsOf(const MlirAttribute& attribute);
// The elements of dense<..>, splats spelled out.
absl::StatusOr<Literal> LiteralOf(const MlirAttribute& dense);

class OpAttributes {
 public:
  explicit OpAttributes(const MlirOperation& op) : op_(op.name), attributes_(op.attributes) {}
  // The fields of an attribute such as #stablehlo.gather<..>.
  OpAttributes(absl::string_view op, const MlirAttributes& fields) : op_(op), attributes_(fields) {}

  const MlirAttributes& all() const { return attributes_; }
  const MlirAttribute* Find(absl::string_view name) const;
  bool Has(absl::string_view name) const { return Find(name) != nullptr; }

  // Each fails where the attribute is of another kind. Without `absent` it must be there.
  absl::StatusOr<DimVector> Ints(absl::string_view name) const;
  // Empty where it is absent.
  absl::StatusOr<DimVector> OptionalInts(absl::string_view name) const;
  absl::StatusOr<int64_t> Int(absl::string_view name) const;
  absl::StatusOr<int64_t> Int(absl::string_view name, int64_t absent) const;
  absl::StatusOr<bool> Bool(absl::string_view name, bool absent) const;
  absl::StatusOr<double> Float(absl::string_view name) const;
  // A string, keyword or symbol.
  absl::StatusOr<std::string> Word(absl::string_view name) const;
  absl::StatusOr<std::string> Word(absl::string_view name, absl::string_view absent) const;
  // An attribute with fields.
  // The operation's own attributes where there is none of that name: vhlo has the fields so.
  absl::StatusOr<OpAttributes> FieldsOrOwn(absl::string_view name) const;
  absl::StatusOr<OpAttributes> OptionalFields(absl::string_view name) const;

  template <typename E>
  absl::StatusOr<E> Enum(absl::string_view name, absl::string_view absent) const {
    ASSIGN_OR_RETURN(const std::string word, Word(name, absent));
    E value;
    if (!EnumFromText(word, value)) return Wrong(name, "unknown value '", word, "'");
    return value;
  }
  absl::StatusOr<std::vector<Precision>> Precisions() const;  // precision_config

 private:
  template <typename... Parts>
  absl::Status Wrong(absl::string_view name, const Parts&... parts) const {
    return InvalidArgument(op_, ": attribute ", name, ": ", parts...);
  }
  absl::Status Missing(absl::string_view name) const {
    return InvalidArgument(op_, ": attribute ", name, " is missing");
  }

  absl::string_view op_;
  MlirAttributes attributes_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
