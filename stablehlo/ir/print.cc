// Attributes as MLIR's text.
//
// Numbers have the digits that MLIR prints: six behind the point where these read back as the same
// value of the type, else nine (f32) or seventeen (f64), which always do. Strings escape what is
// not printable as two hexadecimal digits. An attribute of more than kMaxAttributeParts parts is
// "...": aliases let a short file hold a list whose text would not fit in memory.
#include "stablehlo/ir/print.h"

#include <algorithm>
#include <complex>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "stablehlo/ir/dense.h"

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

// A dictionary has no order of its own: MLIR keeps it sorted.
MlirAttributes Sorted(MlirAttributes fields) {
  std::sort(fields.begin(), fields.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return fields;
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

std::string Element(const Literal& literal, int64_t i, const MlirType* type) {
  if (IsFloat(literal.type())) return Number(literal.GetDouble(i), type);
  if (IsPred(literal.type())) return literal.GetInt(i) != 0 ? "true" : "false";
  if (!IsComplex(literal.type())) return absl::StrCat(literal.GetInt(i));
  const std::complex<double> value = literal.GetComplex(i);
  return absl::StrCat("(", Number(value.real(), type), ",", Number(value.imag(), type), ")");
}

// The elements from `next` on of dimensions `depth` and inner ones, in brackets.
std::string Nested(const Literal& literal, int depth, const MlirType* type, int64_t& next) {
  if (depth == literal.shape().rank()) return Element(literal, next++, type);
  std::vector<std::string> parts;
  for (int64_t i = 0; i < literal.shape().dims[depth]; ++i)
    parts.push_back(Nested(literal, depth + 1, type, next));
  return absl::StrCat("[", absl::StrJoin(parts, ", "), "]");
}

// Equal elements are one, and no elements are no brackets.
std::string Elements(const Literal& literal, const MlirType* type) {
  if (literal.element_count() == 0) return "";
  int64_t next = 0;
  return AllEqual(literal) ? Element(literal, 0, type) : Nested(literal, 0, type, next);
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
      return a.tag.empty() ? absl::StrCat("{", Fields(Sorted(a.fields)), "}")
                           : absl::StrCat("#", a.tag, "<", Fields(a.fields), ">");
    case Kind::kInts:
      return absl::StrCat("array<", a.type == nullptr ? "i64" : PrintMlir(*a.type),
                          a.ints.empty() ? "" : ": ", absl::StrJoin(a.ints, ", "), ">");
    case Kind::kDense:
      return absl::StrCat("dense<", Elements(*a.literal, a.type), "> : ", PrintMlir(*a.type));
    case Kind::kOpaque:
      return a.tag.empty() ? a.text : absl::StrCat("#", a.tag, "<", a.text, ">");
  }
  return "";
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
