// Attributes as MLIR's text.
#include "stablehlo/ir/print.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace hlokit {
namespace {

using Kind = MlirAttribute::Kind;

std::string Quoted(absl::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || !absl::ascii_isprint(static_cast<unsigned char>(c))) {
      absl::StrAppendFormat(&out, "\\%02X", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string ScalarName(const Shape& shape) {
  const ElementType type = shape.type;
  const int bits = BitWidth(type);
  if (IsPred(type)) return "i1";
  if (IsSigned(type)) return absl::StrCat("i", bits);
  if (IsUnsigned(type)) return absl::StrCat("ui", bits);
  if (IsComplex(type)) return absl::StrCat("complex<f", bits / 2, ">");
  std::string name(Text(type).data(), Text(type).size());
  if (name.size() > 2 && name[0] == 'f' && name.find('e') != name.npos)
    name = absl::StrCat("f", absl::AsciiStrToUpper(name.substr(1)));
  return name;
}

std::string Fields(const MlirAttributes& fields) {
  return absl::StrJoin(fields, ", ", [](std::string* out, const auto& field) {
    absl::StrAppend(out, field.first);
    if (field.second->kind != Kind::kUnit) absl::StrAppend(out, " = ", PrintMlir(*field.second));
  });
}

std::string Typed(std::string value, const MlirAttribute& a) {
  return a.type == nullptr ? value : absl::StrCat(value, " : ", PrintMlir(*a.type));
}

std::string Number(double value, const MlirType* type) {
  const bool narrow = type != nullptr && type->shape.type != ElementType::kF64;
  std::string text = absl::StrFormat("%.6e", value);
  double read = 0;
  if (absl::SimpleAtod(text, &read) &&
      (narrow ? static_cast<float>(read) == static_cast<float>(value) : read == value))
    return text;
  return narrow ? absl::StrFormat("%.9g", value) : absl::StrFormat("%.17g", value);
}

std::string Elements(const Literal& literal) {
  std::vector<std::string> parts;
  for (int64_t i = 0; i < literal.element_count(); ++i)
    parts.push_back(IsFloat(literal.type()) ? Number(literal.GetDouble(i), nullptr)
                                            : absl::StrCat(literal.GetInt(i)));
  return literal.shape().IsScalar() ? parts[0] : absl::StrCat("[", absl::StrJoin(parts, ", "), "]");
}

}  // namespace

std::string PrintMlir(const MlirType& type) {
  if (type.is_index && type.kind == MlirType::Kind::kScalar) return "index";
  if (type.kind == MlirType::Kind::kScalar) return ScalarName(type.shape);
  if (type.kind != MlirType::Kind::kTensor) return Text(type);
  std::string out = "tensor<";
  for (int d = 0; d < type.shape.rank(); ++d)
    absl::StrAppend(&out, type.shape.IsDynamic(d) ? "?" : absl::StrCat(type.shape.dims[d]), "x");
  return absl::StrCat(out, type.is_index ? "index" : ScalarName(type.shape), ">");
}

std::string PrintMlir(const MlirAttribute& a) {
  if (a.parts > kMaxAttributeParts) return "...";
  switch (a.kind) {
    case Kind::kUnit:
      return "unit";
    case Kind::kBool:
      return a.integer != 0 ? "true" : "false";
    case Kind::kInt:
      return Typed(absl::StrCat(a.integer), a);
    case Kind::kFloat:
      return Typed(Number(a.number, a.type), a);
    case Kind::kString:
      return Quoted(a.text);
    case Kind::kEnum:
      return a.tag.empty() ? a.text : absl::StrCat("#", a.tag, "<", a.text, ">");
    case Kind::kSymbol:
      return absl::StrCat("@", a.text);
    case Kind::kType:
      return PrintMlir(*a.type);
    case Kind::kArray:
      return absl::StrCat("[",
                          absl::StrJoin(a.elements, ", ",
                                        [](std::string* out, const MlirAttribute* element) {
                                          absl::StrAppend(out, PrintMlir(*element));
                                        }),
                          "]");
    case Kind::kDict:
      return a.tag.empty() ? absl::StrCat("{", Fields(a.fields), "}")
                           : absl::StrCat("#", a.tag, "<", Fields(a.fields), ">");
    case Kind::kInts:
      return absl::StrCat("array<", a.type == nullptr ? "i64" : PrintMlir(*a.type),
                          a.ints.empty() ? "" : ": ", absl::StrJoin(a.ints, ", "), ">");
    case Kind::kDense:
      return absl::StrCat("dense<", Elements(*a.literal), "> : ", PrintMlir(*a.type));
    case Kind::kOpaque:
      return a.tag.empty() ? a.text : absl::StrCat("#", a.tag, "<", a.text, ">");
  }
  return "";
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
