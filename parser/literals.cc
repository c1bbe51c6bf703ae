// Reads literals: nested braces, numbers of every element type, tuples.
//   f32[2,2] { {1, 2}, {3, inf} }      (s32[] 1, pred[2] {1, 0})
// Numbers go straight into the literal's bytes, in row-major order. Each element must be present
// and in range; {...} stands for a value that the text elides. Memory is allocated only as fast as
// the text proves to be long (kFewElements), so that `f32[1000000000] {1}` is refused without a
// gigabyte.
#include "parser/literals_internal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/match.h"
#include "parser/shapes_internal.h"
#include "support/within_memory.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

// Arrays of more than so many elements get no memory before their text has been seen to be long
// enough.
constexpr int64_t kFewElements = 4096;

// Reads one element into the bytes at `to`.
using ElementReader = bool (*)(Reader& r, ElementType type, uint8_t* to);

template <typename T>
void Store(uint8_t* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

bool OutOfRange(Reader& r, const char* at, ElementType type) {
  const SourcePlace place = r.PlaceAt(at);
  return r.Error(at, absl::string_view(at, place.length), " is out of the range of ", Text(type));
}

bool Digits(Reader& r) {
  const char* at = r.Here();
  return Reader::IsClass(at[*at == '-'], kDigit);
}

// T is the storage type; sub-byte types check their own range.
template <typename T>
bool ReadInt(Reader& r, ElementType type, uint8_t* to) {
  const char* at = r.Here();
  int64_t value = 0;
  uint64_t wide = 0;
  if (Digits(r) && *at != '-') {
    const auto result = std::from_chars(at, r.end(), wide);
    if (result.ec != std::errc()) return OutOfRange(r, at, type);
    r.MoveTo(result.ptr);
    value = static_cast<int64_t>(wide);
  } else if (r.PeekWord() == "true" || r.PeekWord() == "false") {
    return r.ExpectedValue(absl::StrCat("a number of ", Text(type)));
  } else if (!r.Int(value)) {
    return false;
  }
  if (*r.raw_position() == '.') {
    r.MoveTo(at);
    return r.Expected(absl::StrCat("a whole number for ", Text(type)));
  }
  const int bits = BitWidth(type);
  bool fits = true;
  if (bits < 64) {
    const int64_t low = IsSigned(type) ? -(int64_t{1} << (bits - 1)) : 0;
    const int64_t high = IsSigned(type) ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1;
    fits = value >= low && value <= high;
  }
  if (!fits) return OutOfRange(r, at, type);
  Store(to, static_cast<T>(value));
  return true;
}

bool ReadPred(Reader& r, ElementType, uint8_t* to) {
  int64_t value = 0;
  const absl::string_view word = r.PeekWord();
  if (word == "true" || word == "false") {
    r.Word();
    value = word == "true";
  } else if (!r.Int(value)) {
    return false;
  }
  *to = value != 0;
  return true;
}

// The bits of a NaN with a payload (0: the usual quiet one); false where the type cannot hold
// the payload.
bool NanBits(ElementType type, bool negative, uint64_t payload, uint64_t& bits) {
  const FloatFormat& format = FormatOf(type);
  if (!format.has_infinity) {
    bits = FloatToBits(
        type, std::copysign(std::numeric_limits<double>::quiet_NaN(), negative ? -1.0 : 1.0));
    return payload == 0 && format.has_nan;
  }
  const int mantissa = format.mantissa_bits;
  if (payload >> mantissa != 0) return false;
  if (payload == 0) payload = uint64_t{1} << (mantissa - 1);
  const uint64_t exponent = (uint64_t{1} << format.exponent_bits) - 1;
  bits =
      (uint64_t{negative} << (mantissa + format.exponent_bits)) | (exponent << mantissa) | payload;
  return true;
}

// `nan`, `-nan`, `nan(0x123)`; the reader stands at the start.
bool ReadNan(Reader& r, ElementType type, uint64_t& bits) {
  const char* at = r.Here();
  const bool negative = r.TryEat('-');
  r.Word();
  uint64_t payload = 0;
  if (*r.raw_position() == '(') {
    const char* digits = r.raw_position() + 1;
    if (digits[0] != '0' || digits[1] != 'x')
      return r.Error(digits, "expected a payload such as 0x400000");
    const auto result = std::from_chars(digits + 2, r.end(), payload, 16);
    if (result.ec != std::errc() || payload == 0)
      return r.Error(digits, "expected a payload such as 0x400000");
    r.MoveTo(result.ptr);
    if (!r.Eat(')', "after the payload")) return false;
  }
  return NanBits(type, negative, payload, bits) || r.Error(at, Text(type), " has no such NaN");
}

bool StartsNan(Reader& r) {
  const char* at = r.Here();
  at += *at == '-';
  return at[0] == 'n' && at[1] == 'a' && at[2] == 'n' && !Reader::IsClass(at[3], kWordPart);
}

// The least value of f8e8m0fnu is printed with two digits, which lie above it; the conversion of
// numbers between it and the next would round them up.
double RoundedAsPrinted(ElementType type, double value) {
  const double least = std::ldexp(1.0, -127);
  const bool nearest = type == ElementType::kF8E8M0FNU && value > least && value < 1.5 * least;
  return nearest ? least : value;
}

// The bits of one number of a real float type.
bool ReadFloatBits(Reader& r, ElementType type, uint64_t& bits) {
  if (StartsNan(r)) return ReadNan(r, type, bits);
  const char* at = r.Here();
  double value = 0;
  if (!r.Double(value)) return false;
  if (type == ElementType::kF32) {
    const float rounded = static_cast<float>(value);
    if (std::isinf(rounded) && !std::isinf(value)) return OutOfRange(r, at, type);
    uint32_t narrow = 0;
    std::memcpy(&narrow, &rounded, 4);
    bits = narrow;
    return true;
  }
  bits = FloatToBits(type, RoundedAsPrinted(type, value));
  if (!std::isinf(value) && !std::isfinite(FloatFromBits(type, bits)))
    return OutOfRange(r, at, type);
  return true;
}

template <typename T>
bool ReadFloat(Reader& r, ElementType type, uint8_t* to) {
  uint64_t bits = 0;
  if (!ReadFloatBits(r, type, bits)) return false;
  Store(to, static_cast<T>(bits));
  return true;
}

template <typename T>
bool ReadComplex(Reader& r, ElementType type, uint8_t* to) {
  const ElementType part = RealComponent(type);
  return r.Eat('(', "before a complex number") && ReadFloat<T>(r, part, to) &&
         r.Eat(',', "after the real part") && ReadFloat<T>(r, part, to + sizeof(T)) &&
         r.Eat(')', "after the imaginary part");
}

ElementReader ReaderFor(ElementType type) {
  if (IsPred(type)) return ReadPred;
  if (type == ElementType::kC64) return ReadComplex<uint32_t>;
  if (type == ElementType::kC128) return ReadComplex<uint64_t>;
  switch (ByteWidth(type)) {
    case 1:
      return IsFloat(type)    ? ReadFloat<uint8_t>
             : IsSigned(type) ? ReadInt<int8_t>
                              : ReadInt<uint8_t>;
    case 2:
      return IsFloat(type) ? ReadFloat<uint16_t> : ReadInt<uint16_t>;
    case 4:
      return IsFloat(type) ? ReadFloat<uint32_t> : ReadInt<uint32_t>;
    default:
      return IsFloat(type) ? ReadFloat<uint64_t> : ReadInt<uint64_t>;
  }
}

std::string Dimensions(int rank) {
  return absl::StrCat(rank, rank == 1 ? " dimension" : " dimensions");
}

// Walks the braces of one array. Commas may be missing or doubled, as XLA reads them.
class ArrayReader {
 public:
  ArrayReader(Reader& reader, Literal& literal, bool& elided)
      : r_(reader), shape_(literal.shape()), to_(literal.data()), elided_(elided) {}

  bool Read() {
    const int rank = shape_.rank();
    const int width = ByteWidth(shape_.type);
    const ElementReader read = ReaderFor(shape_.type);
    seen_.assign(rank, 0);
    int level = 0;
    do {
      const char c = r_.Peek();
      if (c == '{') {
        if (level == rank)
          return r_.Expected(absl::StrCat("an element: the array has ", Dimensions(rank)));
        if (level > 0 && !Count(level - 1)) return false;
        ++level;
        r_.TryEat('{');
      } else if (c == '}' && level > 0) {
        --level;
        if (seen_[level] != shape_.dims[level] && !elided_) return Short(level);
        seen_[level] = 0;
        r_.TryEat('}');
      } else if (c == ')' && level > 0) {
        return r_.Expected("'}' or another element");
      } else if (c == ',' && level > 0) {
        r_.TryEat(',');
      } else if (c == '.' && r_.Here()[1] == '.' && r_.Here()[2] == '.') {
        if (level != 1) return r_.Error(r_.Here(), "`...` stands for a whole array: {...}");
        r_.MoveTo(r_.Here() + 3);
        elided_ = true;
      } else {
        if (level != rank)
          return r_.ExpectedValue(absl::StrCat("'{': the array has ", Dimensions(rank)));
        if (rank > 0 && !Count(rank - 1)) return false;
        if (!read(r_, shape_.type, to_)) return false;
        to_ += width;
      }
    } while (level > 0);
    return true;
  }

 private:
  bool Count(int dimension) {
    if (++seen_[dimension] <= shape_.dims[dimension]) return true;
    return r_.Error(r_.Here(), "more than the ", shape_.dims[dimension], " elements of dimension ",
                    dimension);
  }
  bool Short(int dimension) {
    return r_.Error(r_.Here(), "expected ", shape_.dims[dimension], " elements in dimension ",
                    dimension, ", found ", seen_[dimension]);
  }

  Reader& r_;
  const Shape& shape_;
  uint8_t* to_;
  bool& elided_;
  DimVector seen_;
};

// One number where the shape asks for several. The array is made once it is known to be a number.
bool ReadFirstElement(Reader& r, const Shape& shape, Literal& literal) {
  const char* at = r.Here();
  if (shape.ElementCount() > 1 && !r.Fill(shape.ByteSize())) return false;
  Literal first(Shape::Scalar(shape.type));
  if (!ReaderFor(shape.type)(r, shape.type, first.data())) return false;
  literal = Literal(shape);
  std::memcpy(literal.data(), first.data(), first.byte_size());
  const bool zero = std::all_of(first.data(), first.data() + first.byte_size(),
                                [](uint8_t byte) { return byte == 0; });
  if (!zero && literal.element_count() > 1)
    r.diagnostics().Warning(r.PlaceAt(at), "", "one number for an array of ",
                            literal.element_count(),
                            " elements: it becomes the first, the others are 0, as XLA reads it");
  return true;
}

bool ReadArray(Reader& r, const Shape& shape, Literal& literal, bool& elided) {
  const char* at = r.Here();
  if (shape.HasUnboundedDims())
    return r.Error(at, "a constant cannot have a dimension of unknown size");
  const int64_t bytes = shape.ByteSize();
  const int64_t count = shape.ElementCount();
  const bool one_number =
      shape.rank() > 0 && (Reader::IsClass(*at, kWordStart | kDigit) || *at == '-' || *at == '(' ||
                           (*at == '.' && Reader::IsClass(at[1], kDigit)));
  if (one_number && count == 0) return r.ExpectedValue("'{': the array has no elements");
  if (one_number) return ReadFirstElement(r, shape, literal);
  if (absl::string_view all; count > kFewElements) {
    if (r.Peek() != '{')
      return r.ExpectedValue(absl::StrCat("'{': the array has ", Dimensions(shape.rank())));
    if (!r.Balanced(all)) return false;
    if (count > static_cast<int64_t>(all.size())) {  // it is elided, or wrong
      elided = true;
      return all.find("...") != absl::string_view::npos ||
             r.Error(at, "expected ", count, " elements, found fewer");
    }
    r.MoveTo(at);
  }
  if (bytes > kMaxLiteralBytes)
    return r.Error(at, "a constant of ", bytes, " bytes is above the limit of ",
                   kMaxLiteralBytes >> 30, " GiB");
  const absl::Status made = WithinMemory("a constant", [&] {
    literal = Literal(shape);
    return absl::OkStatus();
  });
  if (!made.ok()) return r.Error(at, made.message());
  bool left_out = false;
  if (!ArrayReader(r, literal, left_out).Read()) return false;
  elided |= left_out && count > 0;  // an array without elements has lost none
  return true;
}

bool ReadTuple(Reader& r, const Shape& shape, Literal& literal, LiteralForms& forms) {
  const char* at = r.Here();
  if (absl::StartsWith(absl::string_view(at, r.end() - at),
                       "{...}")) {  // as XLA prints every tuple
    r.MoveTo(at + 5);
    return forms.elided = true;
  }
  std::vector<Literal> elements;
  if (!r.Eat('(', "before the elements of a tuple")) return false;
  for (size_t i = 0; i < shape.elements.size(); ++i) {
    if (i > 0 && !r.Eat(',', "between the elements of a tuple")) return false;
    if (!ReadLiteral(r, shape.elements[i], elements.emplace_back(), forms)) return false;
  }
  literal = Literal::Tuple(std::move(elements));
  return r.Eat(')', absl::StrCat("after the ", shape.elements.size(), " elements of a tuple"));
}

}  // namespace

bool ReadLiteral(Reader& r, const Shape& shape, Literal& literal, LiteralForms& forms) {
  Reader::Depth depth(r);
  if (!depth.ok()) return false;
  if (TypeFromWord(r.PeekWord()) != ElementType::kInvalid) {  // old text repeats the shape
    const char* at = r.Here();
    Shape given;
    if (!ReadShape(r, given, MissingLayout::kTight)) return false;
    if (!SameIgnoringLayout(given, shape))
      return r.Error(at, "the literal is of ", Text(given), ", not ", Text(shape));
  }
  if (shape.IsTuple()) return ReadTuple(r, shape, literal, forms);
  if (!shape.IsArray()) return r.Error(r.Here(), "there are no literals of ", Text(shape));
  if (forms.sizes && shape.dynamic_mask != 0 && StartsWithSizes(r))
    return ReadBoundedArray(r, shape, literal, forms);
  return ReadArray(r, shape, literal, forms.elided);
}

bool ReadTypedLiteral(Reader& r, Literal& literal, LiteralForms& forms) {
  Reader::Depth depth(r);
  if (!depth.ok()) return false;
  Shape shape;
  const char* start = r.Here();
  bool shape_first = *start != '(';
  if (!shape_first) {  // the parenthesis opens a tuple's shape where a second one follows it
    absl::string_view group;
    if (!r.Balanced(group)) return false;
    shape_first = r.Peek() == '(';
    r.MoveTo(start);
  }
  if (shape_first)
    return ReadShape(r, shape, MissingLayout::kTight) && ReadLiteral(r, shape, literal, forms);
  std::vector<Literal> elements;
  if (!r.List('(', ')', [&] { return ReadTypedLiteral(r, elements.emplace_back(), forms); }))
    return false;
  literal = Literal::Tuple(std::move(elements));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
