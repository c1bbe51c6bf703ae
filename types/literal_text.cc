// HLO's text of literals, as XLA writes it.
//
// A float gets the fewest digits of two choices (f32: 6, else 9) that read back as the same value:
// 0.1 is printed as 0.1, 1/3 as 0.333333343. Arrays are nested braces, on one line or, as results
// are shown, with a line for each row of a matrix.
#include "types/literal_text.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "types/float_convert.h"
#include "types/load_internal.h"

namespace hlokit {
namespace {

// More rows without elements than this are not worth printing.
constexpr int64_t kMaxEmptyRows = 1 << 20;

template <typename T, typename... Format>
void AppendNumber(std::string& out, T value, Format... format) {
  char buffer[40];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), value, format...).ptr);
}

// Digits after which a float with `mantissa_bits` surely reads back as the same value.
int SureDigits(int mantissa_bits) {
  return static_cast<int>(std::ceil(1 + (mantissa_bits + 1) * 0.30103));
}

// A payload other than the plain quiet NaN's is spelled out, where the format has payloads.
void AppendNan(std::string& out, const FloatFormat& format, uint64_t bits) {
  const bool negative =
      format.has_sign && (bits >> (format.exponent_bits + format.mantissa_bits)) & 1;
  out += negative ? "-nan" : "nan";
  const uint64_t payload = bits & ((uint64_t{1} << format.mantissa_bits) - 1);
  if (!format.has_infinity || payload == uint64_t{1} << (format.mantissa_bits - 1)) return;
  absl::StrAppend(&out, "(0x", absl::Hex(payload), ")");
}

// As printf's %g: with few digits where they read back, else with enough for any value.
template <typename T>
void AppendNativeFloat(std::string& out, T value, ElementType type, uint64_t bits) {
  if (std::isnan(value)) return AppendNan(out, FormatOf(type), bits);
  if (std::fabs(value) < 1e6 && value == std::trunc(value) && !(value == 0 && std::signbit(value)))
    return AppendNumber(out, static_cast<int64_t>(value));
  char buffer[40];
  constexpr int kFew = std::numeric_limits<T>::digits10;
  char* const end =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::general, kFew).ptr;
  T back = 0;
  std::from_chars(buffer, end, back);
  if (back == value) {
    out.append(buffer, end);
  } else {
    AppendNumber(out, value, std::chars_format::general, std::numeric_limits<T>::max_digits10);
  }
}

void AppendF32(std::string& out, const uint8_t* at) {
  AppendNativeFloat(out, Load<float>(at), ElementType::kF32, Load<uint32_t>(at));
}

void AppendF64(std::string& out, const uint8_t* at) {
  AppendNativeFloat(out, Load<double>(at), ElementType::kF64, Load<uint64_t>(at));
}

// As XLA prints narrow floats: %g with as many digits as the format surely needs.
void AppendSmallFloat(std::string& out, ElementType type, uint64_t bits) {
  const double value = FloatFromBits(type, bits);
  const FloatFormat& format = FormatOf(type);
  if (std::isnan(value)) return AppendNan(out, format, bits);
  AppendNumber(out, value, std::chars_format::general, SureDigits(format.mantissa_bits));
}

template <typename Component>
void AppendComplex(std::string& out, const uint8_t* at, int width, Component append) {
  out.push_back('(');
  append(out, at);
  out += ", ";
  append(out, at + width);
  out.push_back(')');
}

// Writes the nested braces of one array; its state is the place in them.
class ArrayPrinter {
 public:
  ArrayPrinter(std::string& out, const Literal& literal, bool one_line)
      : out_(out),
        literal_(literal),
        one_line_(one_line),
        rank_(literal.shape().rank()),
        strides_(RowMajorStrides(literal.shape().dims)) {}

  void Print(int depth = 0, int64_t at = 0, int64_t index = 0) {
    if (depth == rank_) return PrintElement(at);
    const int64_t size = literal_.dynamic_size(depth);
    Open(depth, size, index);
    for (int64_t i = 0; i < size; ++i) {
      if (i > 0) out_.push_back(',');
      if (i > 0) depth == rank_ - 1 ? out_.push_back(' ') : Break();
      Print(depth + 1, at + i * strides_[depth], i);
    }
    Close(depth, size);
  }

 private:
  void Break() { out_.push_back(one_line_ ? ' ' : '\n'); }

  // Rows of a matrix have blanks inside their braces; a vector, or a row of less than two, has
  // none.
  bool IsPadded(int depth, int64_t size) const {
    return rank_ > 1 && depth == rank_ - 1 && size > 1;
  }

  void Open(int depth, int64_t size, int64_t index) {
    if (!one_line_ && rank_ > 1 && depth == rank_ - 1) out_ += "  ";
    out_.push_back('{');
    if (IsPadded(depth, size)) out_.push_back(' ');
    if (depth == rank_ - 1) return;
    const bool numbered = rank_ > 3 && depth > 0;
    if (numbered) absl::StrAppend(&out_, " /*i", depth - 1, "=", index, "*/");
    if (!numbered || size > 0) Break();
  }

  void Close(int depth, int64_t size) {
    if (IsPadded(depth, size)) out_.push_back(' ');
    if (depth < rank_ - 1) Break();
    out_.push_back('}');
  }

  // Predicates are words alone and digits in arrays.
  void PrintElement(int64_t at) {
    if (rank_ > 0 && IsPred(literal_.type()))
      return out_.push_back(literal_.data()[at] != 0 ? '1' : '0');
    AppendElementText(out_, literal_, at);
  }

  std::string& out_;
  const Literal& literal_;
  const bool one_line_;
  const int rank_;
  const DimVector strides_;
};

bool IsElided(const Literal& literal, int64_t elide_above) {
  if (elide_above >= 0) return !literal.shape().IsArray() || literal.element_count() > elide_above;
  if (literal.element_count() > 0) return false;
  int64_t rows = 1;
  for (int64_t d : literal.shape().dims) {
    if (d == 0) break;
    if (__builtin_mul_overflow(rows, d, &rows) || rows > kMaxEmptyRows) return true;
  }
  return false;
}

void AppendArray(std::string& out, const Literal& literal, const LiteralTextOptions& options) {
  const Shape& shape = literal.shape();
  if (options.with_shape) {
    AppendText(out, shape, options.with_layout);
    for (int d = 0; shape.dynamic_mask != 0 && d < shape.rank(); ++d)
      absl::StrAppend(&out, d == 0 ? "(" : ",", literal.dynamic_size(d),
                      d == shape.rank() - 1 ? ")" : "");
    out.push_back(' ');
  }
  ArrayPrinter(out, literal, options.one_line).Print();
}

void AppendTuple(std::string& out, const Literal& literal, const LiteralTextOptions& options) {
  const char line_break = options.one_line ? ' ' : '\n';
  out.push_back('(');
  out.push_back(line_break);
  for (size_t i = 0; i < literal.elements().size(); ++i) {
    if (i > 0) out.push_back(',');
    if (i > 0) out.push_back(line_break);
    AppendText(out, literal.elements()[i], options);
  }
  out.push_back(line_break);
  out.push_back(')');
}

}  // namespace

void AppendElementText(std::string& out, const Literal& literal, int64_t i) {
  const ElementType type = literal.type();
  const uint8_t* at = literal.data() + i * ByteWidth(type);
  switch (type) {
    case ElementType::kPred:
      out += *at != 0 ? "true" : "false";
      return;
    case ElementType::kF32:
      return AppendF32(out, at);
    case ElementType::kF64:
      return AppendF64(out, at);
    case ElementType::kC64:
      return AppendComplex(out, at, 4, AppendF32);
    case ElementType::kC128:
      return AppendComplex(out, at, 8, AppendF64);
    case ElementType::kU64:
      return AppendNumber(out, Load<uint64_t>(at));
    default:
      break;
  }
  if (!IsFloat(type)) return AppendNumber(out, literal.GetInt(i));
  AppendSmallFloat(out, type, ByteWidth(type) == 2 ? Load<uint16_t>(at) : *at);
}

void AppendText(std::string& out, const Literal& literal, const LiteralTextOptions& options) {
  if (IsElided(literal, options.elide_above)) {
    out += "{...}";
  } else if (literal.shape().IsTuple()) {
    AppendTuple(out, literal, options);
  } else if (literal.shape().IsArray()) {
    AppendArray(out, literal, options);
  } else {
    absl::StrAppend(&out, Text(literal.type()));
  }
}

std::string Text(const Literal& literal, const LiteralTextOptions& options) {
  std::string out;
  AppendText(out, literal, options);
  return out;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
