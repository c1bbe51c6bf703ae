// Attributes of one operation by name.
#include "stablehlo/convert/op_attributes_internal.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/ascii.h"

namespace hlokit {
namespace {

// Attributes of windows and dimensions; constants have other ways.
constexpr int64_t kMaxInts = int64_t{1} << 20;

}  // namespace

absl::StatusOr<Literal> LiteralOf(const MlirAttribute& dense) {
  const Shape shape = dense.type->shape.WithDefaultLayout();
  if (dense.literal->shape().rank() == shape.rank()) return *dense.literal;
  if (shape.ElementCount() > kMaxInts)
    return InvalidArgument("a dense attribute of ", shape.ElementCount(), " elements is too large");
  Literal all = Literal::Unset(shape);
  const int64_t width = ByteWidth(shape.type);
  for (int64_t i = 0; i < all.element_count(); ++i)
    std::memcpy(all.data() + i * width, dense.literal->data(), width);
  return all;
}

std::optional<std::vector<int64_t>> IntsOf(const MlirAttribute& attribute) {
  using Kind = MlirAttribute::Kind;
  if (attribute.kind == Kind::kInts) return attribute.ints;
  std::vector<int64_t> ints;
  if (attribute.parts > kMaxAttributeParts) return std::nullopt;
  if (attribute.kind == Kind::kArray) {
    for (const MlirAttribute* element : attribute.elements) {
      if (element->kind == Kind::kInt || element->kind == Kind::kBool) {
        ints.push_back(element->integer);
      } else {
        const auto inner = IntsOf(*element);
        if (!inner) return std::nullopt;
        ints.insert(ints.end(), inner->begin(), inner->end());
      }
    }
    return ints;
  }
  if (attribute.kind != Kind::kDense) return std::nullopt;
  const absl::StatusOr<Literal> literal = LiteralOf(attribute);
  if (!literal.ok() || !(IsInteger(literal->type()) || IsPred(literal->type())))
    return std::nullopt;
  for (int64_t i = 0; i < literal->element_count(); ++i) ints.push_back(literal->GetInt(i));
  return ints;
}

const MlirAttribute* OpAttributes::Find(absl::string_view name) const {
  for (const auto& [key, value] : attributes_)
    if (key == name) return value;
  return nullptr;
}

absl::StatusOr<DimVector> OpAttributes::OptionalInts(absl::string_view name) const {
  const MlirAttribute* found = Find(name);
  if (found == nullptr) return DimVector();
  const auto ints = IntsOf(*found);
  if (!ints) return Wrong(name, "expected a list of integers");
  return DimVector(ints->begin(), ints->end());
}

absl::StatusOr<DimVector> OpAttributes::Ints(absl::string_view name) const {
  if (!Has(name)) return Missing(name);
  return OptionalInts(name);
}

absl::StatusOr<int64_t> OpAttributes::Int(absl::string_view name, int64_t absent) const {
  const MlirAttribute* found = Find(name);
  if (found == nullptr) return absent;
  if (found->kind == MlirAttribute::Kind::kInt || found->kind == MlirAttribute::Kind::kBool)
    return found->integer;
  const auto ints = IntsOf(*found);
  if (!ints || ints->size() != 1) return Wrong(name, "expected an integer");
  return ints->front();
}

absl::StatusOr<int64_t> OpAttributes::Int(absl::string_view name) const {
  if (!Has(name)) return Missing(name);
  return Int(name, 0);
}

absl::StatusOr<bool> OpAttributes::Bool(absl::string_view name, bool absent) const {
  const MlirAttribute* found = Find(name);
  if (found == nullptr) return absent;
  if (found->kind == MlirAttribute::Kind::kUnit) return true;
  ASSIGN_OR_RETURN(const int64_t value, Int(name));
  return value != 0;
}

absl::StatusOr<double> OpAttributes::Float(absl::string_view name) const {
  const MlirAttribute* found = Find(name);
  if (found == nullptr) return Missing(name);
  if (found->kind == MlirAttribute::Kind::kInt) return static_cast<double>(found->integer);
  if (found->kind != MlirAttribute::Kind::kFloat) return Wrong(name, "expected a number");
  return found->number;
}

absl::StatusOr<std::string> OpAttributes::Word(absl::string_view name,
                                               absl::string_view absent) const {
  using Kind = MlirAttribute::Kind;
  const MlirAttribute* found = Find(name);
  if (found == nullptr) return std::string(absent.data(), absent.size());
  if (found->kind != Kind::kString && found->kind != Kind::kEnum && found->kind != Kind::kSymbol)
    return Wrong(name, "expected a word");
  return found->text;
}

absl::StatusOr<std::string> OpAttributes::Word(absl::string_view name) const {
  if (!Has(name)) return Missing(name);
  return Word(name, "");
}

absl::StatusOr<OpAttributes> OpAttributes::OptionalFields(absl::string_view name) const {
  const MlirAttribute* found = Find(name);
  if (found == nullptr) return OpAttributes(op_, {});
  if (found->kind != MlirAttribute::Kind::kDict) return Wrong(name, "expected fields");
  return OpAttributes(op_, found->fields);
}

absl::StatusOr<OpAttributes> OpAttributes::FieldsOrOwn(absl::string_view name) const {
  if (!Has(name)) return *this;
  return OptionalFields(name);
}

absl::StatusOr<std::vector<Precision>> OpAttributes::Precisions() const {
  std::vector<Precision> all;
  const MlirAttribute* found = Find("precision_config");
  if (found == nullptr) return all;
  if (found->kind != MlirAttribute::Kind::kArray)
    return Wrong("precision_config", "expected a list");
  for (const MlirAttribute* element : found->elements)
    if (!EnumFromText(absl::AsciiStrToLower(element->text), all.emplace_back()))
      return Wrong("precision_config", "unknown value '", element->text, "'");
  if (std::all_of(all.begin(), all.end(), [](Precision p) { return p == Precision::kDefault; }))
    all.clear();
  return all;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
