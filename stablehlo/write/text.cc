// Types, values and attributes as MLIR's text.
//
// Example: f32[2,<=4] is `tensor<2x?xf32, #stablehlo.bounds<?, 4>>`. Values of several elements are
// the bytes of the elements as hexadecimal digits, which keeps all bits; those of less than a byte
// are lists.
#include "stablehlo/write/text_internal.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "stablehlo/ir/print.h"

namespace hlokit {
namespace {

std::string ElementText(const Literal& literal, int64_t i) {
  if (IsPred(literal.type())) return literal.GetInt(i) != 0 ? "true" : "false";
  if (IsInteger(literal.type())) return absl::StrCat(literal.GetInt(i));
  return absl::StrCat("0x", absl::Hex(literal.data()[i], absl::kZeroPad2));  // f4: a byte each
}

// Nested lists in row-major order.
void AppendList(const Literal& literal, int d, int64_t& next, std::string& out) {
  const Shape& shape = literal.shape();
  if (d == shape.rank()) {
    out += ElementText(literal, next++);
    return;
  }
  out += '[';
  for (int64_t i = 0; i < shape.dims[d]; ++i) {
    if (i > 0) out += ", ";
    AppendList(literal, d + 1, next, out);
  }
  out += ']';
}

bool IsPlainName(absl::string_view name) {
  for (const char c : name)
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  return !name.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(name[0]));
}

}  // namespace

std::string StablehloType(const Shape& shape) {
  if (shape.IsToken()) return "!stablehlo.token";
  if (shape.IsTuple()) return absl::StrCat("tuple<", StablehloTypes(shape.elements), ">");
  MlirType scalar;
  scalar.kind = MlirType::Kind::kScalar;
  scalar.shape = Shape::Scalar(shape.type);
  std::string out = "tensor<", bounds;
  bool bounded = false;
  for (int d = 0; d < shape.rank(); ++d) {
    const bool dynamic = shape.IsDynamic(d) || shape.dims[d] == kUnbounded;
    const bool has_bound = dynamic && shape.dims[d] != kUnbounded;
    bounded |= has_bound;
    absl::StrAppend(&out, dynamic ? "?" : absl::StrCat(shape.dims[d]), "x");
    absl::StrAppend(&bounds, d > 0 ? ", " : "", has_bound ? absl::StrCat(shape.dims[d]) : "?");
  }
  absl::StrAppend(&out, PrintMlir(scalar));
  if (bounded) absl::StrAppend(&out, ", #stablehlo.bounds<", bounds, ">");
  return out + ">";
}

std::string StablehloTypes(absl::Span<const Shape> shapes) {
  return absl::StrJoin(shapes, ", ", [](std::string* out, const Shape& shape) {
    absl::StrAppend(out, StablehloType(shape));
  });
}

std::string DenseText(const Literal& literal) {
  const std::string type = StablehloType(literal.shape());
  if (literal.element_count() == 0) return absl::StrCat("dense<> : ", type);
  if (IsPred(literal.type()) || BitWidth(literal.type()) < 8) {
    int64_t next = 0;
    std::string list;
    AppendList(literal, 0, next, list);
    return absl::StrCat("dense<", list, "> : ", type);
  }
  const absl::string_view bytes(reinterpret_cast<const char*>(literal.data()),
                                static_cast<size_t>(literal.byte_size()));
  return absl::StrCat("dense<\"0x", absl::AsciiStrToUpper(absl::BytesToHexString(bytes)),
                      "\"> : ", type);
}

std::string LayoutAttribute(const Shape& shape) {
  const DimVector order = shape.MinorToMajor();
  return absl::StrCat("dense<", order.empty() ? "" : MlirListText(order), "> : tensor<",
                      order.size(), "xindex>");
}

std::string QuotedMlir(absl::string_view text) {
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

std::string SymbolText(absl::string_view name) {
  return IsPlainName(name) ? absl::StrCat("@", name) : absl::StrCat("@", QuotedMlir(name));
}

std::string MlirListText(absl::Span<const int64_t> values) {
  return absl::StrCat("[", absl::StrJoin(values, ", "), "]");
}

AttributeText& AttributeText::Add(absl::string_view name, absl::string_view value) {
  absl::StrAppend(&text_, text_.empty() ? "" : ", ", name, value.empty() ? "" : " = ", value);
  return *this;
}

AttributeText& AttributeText::Int(absl::string_view name, int64_t value) {
  return Add(name, absl::StrCat(value, " : i64"));
}

AttributeText& AttributeText::Ints(absl::string_view name, absl::Span<const int64_t> values) {
  return Add(name, absl::StrCat("array<i64", values.empty() ? "" : ": ",
                                absl::StrJoin(values, ", "), ">"));
}

AttributeText& AttributeText::Bools(absl::string_view name, const std::vector<bool>& values) {
  std::string list;
  for (const bool value : values)
    absl::StrAppend(&list, list.empty() ? ": " : ", ", value ? "true" : "false");
  return Add(name, absl::StrCat("array<i1", list, ">"));
}

AttributeText& AttributeText::Flag(absl::string_view name, bool value) {
  return Add(name, value ? "true" : "false");
}

AttributeText& AttributeText::Enum(absl::string_view name, absl::string_view kind,
                                   absl::string_view word) {
  return Add(name, absl::StrCat("#stablehlo<", kind, " ", word, ">"));
}

AttributeText& AttributeText::Table(absl::string_view name,
                                    const std::vector<std::vector<int64_t>>& rows,
                                    int64_t columns) {
  std::string list;
  for (const auto& row : rows) absl::StrAppend(&list, list.empty() ? "" : ", ", MlirListText(row));
  const bool empty = rows.empty() || columns == 0;
  return Add(name, absl::StrCat("dense<", empty ? "" : absl::StrCat("[", list, "]"), "> : tensor<",
                                rows.size(), "x", columns, "xi64>"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
