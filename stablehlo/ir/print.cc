// Attributes as MLIR's text.
//
// Numbers have the digits that MLIR prints: six where these read back as the same value of the
// type, else nine (f32) or seventeen (f64), which always do. Strings escape what is not printable
// as two hexadecimal digits. An attribute of more than kMaxAttributeParts parts is
// "...": aliases let a short file hold a list whose text would not fit in memory.
#include "stablehlo/ir/print.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>

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

// The first digits of an exact decimal number, as LLVM's APFloat takes them: it drops digits until
// so many bits are left as `precision` digits have, then rounds to these.
std::string LeadingDigits(std::string digits, size_t precision) {
  const double first =
      std::atof(absl::StrCat(digits.substr(0, 1), ".", digits.substr(1, 20)).c_str());
  const double bits =
      std::floor((static_cast<double>(digits.size()) - 1) * std::log2(10.0) + std::log2(first)) + 1;
  const auto wanted = static_cast<int64_t>((precision * 196 + 58) / 59);
  const int64_t dropped = std::max<int64_t>(static_cast<int64_t>(bits) - wanted, 0) * 59 / 196;
  digits.resize(digits.size() - static_cast<size_t>(dropped));
  if (digits.size() > precision) {
    const bool up = digits[precision] >= '5';
    digits.resize(precision);
    size_t k = precision;
    while (up && k > 0 && digits[k - 1] == '9') digits[--k] = '0';
    if (up && k > 0) ++digits[k - 1];
  }
  digits.erase(std::max<size_t>(digits.find_last_not_of('0') + 1, 1));
  return digits;
}

// A finite number's digits, the first not 0 unless all are, and the exponent of the first.
struct Decimal {
  std::string digits;
  int exponent = 0;
};
Decimal ExactDecimal(double value) {
  constexpr int kExact = 780;  // digits of any double
  const std::string text = absl::StrFormat("%.*e", kExact, std::abs(value));
  const size_t e = text.find('e');
  Decimal d{text.substr(0, e), std::atoi(text.c_str() + e + 1)};
  d.digits.erase(std::remove(d.digits.begin(), d.digits.end(), '.'), d.digits.end());
  const size_t whole = d.exponent < 0 ? 1 : static_cast<size_t>(d.exponent) + 1;
  d.digits.erase(std::max(d.digits.find_last_not_of('0') + 1, std::min(whole, d.digits.size())));
  return d;
}

// 3.14159274, 1.17549435E-38.
std::string AllDigits(double value, const Decimal& exact, int precision) {
  const std::string digits = LeadingDigits(exact.digits, static_cast<size_t>(precision));
  const int exponent = exact.exponent;
  constexpr int kMaxPadding = 3;
  const int count = static_cast<int>(digits.size()), last = exponent - count + 1;
  const std::string sign = std::signbit(value) ? "-" : "";
  if (last >= 0 ? last > kMaxPadding || count + last > precision : -exponent > kMaxPadding)
    return absl::StrCat(sign, digits.substr(0, 1), ".", count > 1 ? digits.substr(1) : "0", "E",
                        exponent < 0 ? "" : "+", exponent);
  if (last >= 0) return absl::StrCat(sign, digits, std::string(last, '0'), ".0");
  if (exponent < 0) return absl::StrCat(sign, "0.", std::string(-exponent - 1, '0'), digits);
  return absl::StrCat(sign, digits.substr(0, exponent + 1), ".", digits.substr(exponent + 1));
}

std::string Number(double value, const MlirType* type) {
  constexpr size_t kShort = 6;
  if (value == 0) return std::signbit(value) ? "-0.000000e+00" : "0.000000e+00";
  const bool narrow = type != nullptr && type->shape.type != ElementType::kF64;
  const Decimal exact = ExactDecimal(value);
  std::string digits = LeadingDigits(exact.digits, kShort);
  digits.resize(kShort + 1, '0');
  const std::string text = absl::StrFormat("%s%s.%se%+03d", std::signbit(value) ? "-" : "",
                                           digits.substr(0, 1), digits.substr(1), exact.exponent);
  double read = 0;
  if (absl::SimpleAtod(text, &read) &&
      (narrow ? static_cast<float>(read) == static_cast<float>(value) : read == value))
    return text;
  return AllDigits(value, exact, narrow ? 9 : 17);
}

// 0x7F800000: what has no digits.
template <typename Byte>
std::string Bits(const Byte* bytes, int64_t width) {
  std::string text = "0x";
  for (int64_t k = width; k-- > 0;)
    absl::StrAppendFormat(&text, "%02X", static_cast<unsigned char>(bytes[k]));
  return text;
}

std::string Element(const Literal& literal, int64_t i, const MlirType* type) {
  const int64_t width = std::max<int64_t>(ByteWidth(literal.type()), 1);
  if (IsFloat(literal.type()) && !std::isfinite(literal.GetDouble(i)))
    return Bits(literal.data() + i * width, width);
  if (IsFloat(literal.type())) return Number(literal.GetDouble(i), type);
  if (IsPred(literal.type())) return literal.GetInt(i) != 0 ? "true" : "false";
  if (!IsComplex(literal.type())) return absl::StrCat(literal.GetInt(i));
  const std::complex<double> value = literal.GetComplex(i);
  const int64_t half = ByteWidth(literal.type()) / 2;
  const auto part = [&](double number, int64_t at) {
    return std::isfinite(number) ? Number(number, type)
                                 : Bits(literal.data() + i * 2 * half + at, half);
  };
  return absl::StrCat("(", part(value.real(), 0), ",", part(value.imag(), half), ")");
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
