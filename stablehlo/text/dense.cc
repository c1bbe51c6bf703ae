// Values of tensors in MLIR text: `dense<1.0>`, `dense<[[1, 2], [3, 4]]>`, `dense<"0x...">`,
// `dense_resource<key>`.
//
// The type follows the value (`dense<[1, 2]> : tensor<2xi8>`), so the text is first skipped to its
// matching bracket, then the type is read, then the elements, straight into a literal of that type:
// no list of attributes is built in between. A single value is a splat and stays one element, in
// memory too, and a list may claim no more elements than it has characters: `dense<0.0>` of 2^40
// elements is cheap, and nothing short can ask for much memory.
// Text in hexadecimal digits is the little-endian bytes of the elements, the way large constants
// are printed. Two digits become a byte through a table; whether all were digits is gathered in one
// variable and asked once at the end, so the loop has no branch.
#include <array>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "stablehlo/ir/dense.h"
#include "stablehlo/text/text_reader_internal.h"

namespace hlokit {
namespace {

// The value of each character as a hexadecimal digit; kNoDigit of others.
constexpr uint8_t kNoDigit = 0xff;
constexpr std::array<uint8_t, 256> kHexValues = [] {
  std::array<uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (int i = 0; i < 10; ++i) values['0' + i] = static_cast<uint8_t>(i);
  for (int i = 0; i < 6; ++i) values['a' + i] = values['A' + i] = static_cast<uint8_t>(10 + i);
  return values;
}();

bool BytesOfHex(absl::string_view hex, std::string& bytes) {
  if (!absl::ConsumePrefix(&hex, "0x") || hex.size() % 2 != 0) return false;
  bytes.resize(hex.size() / 2);
  uint8_t all = 0;  // the high bits are set where a character is no digit
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint8_t high = kHexValues[static_cast<uint8_t>(hex[2 * i])];
    const uint8_t low = kHexValues[static_cast<uint8_t>(hex[2 * i + 1])];
    all |= high | low;
    bytes[i] = static_cast<char>(high << 4 | low);
  }
  return (all & 0xf0) == 0;
}

// Reads the elements of one literal, nested lists or a single one, in row-major order.
class DenseReader {
 public:
  DenseReader(MlirScanner& s, Literal& literal) : s_(s), literal_(literal) {}

  bool Read() { return ReadList(0); }

 private:
  bool ReadList(int d) {
    const Shape& shape = literal_.shape();
    if (d == shape.rank()) return ReadElement(next_++);
    if (!s_.Expect("[")) return false;
    for (int64_t i = 0; i < shape.dims[d]; ++i)
      if ((i > 0 && !s_.Expect(",")) || !ReadList(d + 1)) return false;
    return s_.Try("]") || s_.Fail("expected ", shape.dims[d], " elements in this list");
  }

  bool ReadElement(int64_t i) {
    if (!IsComplex(literal_.type())) return ReadPart(RealComponent(literal_.type()), literal_, i);
    Literal parts(Shape::Array(RealComponent(literal_.type()), {2}));
    if (!s_.Expect("(") || !ReadPart(parts.type(), parts, 0) || !s_.Expect(",") ||
        !ReadPart(parts.type(), parts, 1) || !s_.Expect(")"))
      return false;
    std::memcpy(literal_.data() + i * ByteWidth(literal_.type()), parts.data(),
                ByteWidth(literal_.type()));
    return true;
  }

  bool ReadPart(ElementType type, Literal& to, int64_t i) {
    if (IsPred(type)) {
      const bool yes = s_.TryWord("true");
      if (!yes && !s_.TryWord("false")) {
        int64_t bit = 0;
        if (!s_.Int(bit)) return false;
        to.data()[i] = bit != 0;
        return true;
      }
      to.data()[i] = yes;
      return true;
    }
    s_.Skip();
    const SourcePlace place = {s_.offset(), 1};
    if (IsInteger(type)) {
      int64_t value = 0;
      if (!s_.Int(value)) return false;
      to.SetInt(i, value);
      return true;
    }
    const absl::string_view number = s_.Number();
    if (absl::StartsWith(number, "0x")) return SetBits(number, place, to, i);
    double value = 0;
    if (!absl::SimpleAtod(number, &value)) return s_.FailAt(place, "expected a number");
    float narrow = 0;
    if (type == ElementType::kF32 && absl::SimpleAtof(number, &narrow)) value = narrow;
    to.SetDouble(i, value);
    return true;
  }

  // The bits of a float: `0x7FC00000`.
  bool SetBits(absl::string_view number, SourcePlace place, Literal& to, int64_t i) {
    uint64_t bits = 0;
    const int width = ByteWidth(to.type());
    if (!absl::SimpleHexAtoi(number, &bits) || (width < 8 && bits >> (8 * width) != 0))
      return s_.FailAt(place, "expected ", 8 * width, " bits");
    std::memcpy(to.data() + i * width, &bits, width);
    return true;
  }

  MlirScanner& s_;
  Literal& literal_;
  int64_t next_ = 0;
};

}  // namespace

// Elements from the bytes that `hex` spells.
bool MlirTextReader::ReadHex(absl::string_view hex, bool splat_allowed, MlirAttribute& a) {
  std::string bytes;
  if (!BytesOfHex(hex, bytes)) return s_.Fail("expected 0x and pairs of hexadecimal digits");
  absl::StatusOr<SharedLiteral> literal = DenseFromBytes(bytes, a.type->shape, splat_allowed);
  if (!literal.ok()) return s_.Fail(literal.status().message());
  a.literal = *std::move(literal);
  return true;
}

// A single element stands for all: the literal is a scalar then. A list has a character an element
// at least, which bounds the memory that a few characters can ask for.
bool MlirTextReader::ReadElements(uint32_t characters, MlirAttribute& a) {
  const Shape& shape = a.type->shape;
  const bool splat = s_.Peek() != '[';
  if (!splat && shape.ElementCount() > int64_t{characters})
    return s_.Fail("expected ", shape.ElementCount(), " elements");
  auto literal =
      std::make_shared<Literal>(splat ? Shape::Scalar(shape.type) : shape.WithDefaultLayout());
  if (!DenseReader(s_, *literal).Read()) return false;
  a.literal = OneOfEqual(std::move(literal));
  return true;
}

// The type stands behind the value, so it is read first.
bool MlirTextReader::ReadDense(MlirAttribute& a) {
  a.kind = MlirAttribute::Kind::kDense;
  if (!s_.Expect("<")) return false;
  const uint32_t start = s_.offset();
  if (!s_.SkipBalanced() || !s_.Expect(":") || !ReadType(a.type)) return false;
  const uint32_t end = s_.offset();
  s_.Rewind(start);
  if (a.type->kind != MlirType::Kind::kTensor || a.type->shape.HasDynamicDims())
    return s_.Fail("expected a tensor of known size, of elements that HLO has, found ",
                   Text(*a.type));
  if (s_.Peek() == '"') {
    const absl::string_view hex = s_.RawString();
    if (hex.data() == nullptr || !ReadHex(hex, true, a)) return false;
  } else if (s_.Peek() != '>') {
    if (!ReadElements(end - start, a)) return false;
  } else if (a.type->shape.ElementCount() != 0) {
    return s_.Fail("expected a value");
  } else {
    a.literal = std::make_shared<Literal>(a.type->shape.WithDefaultLayout());
  }
  if (!s_.Expect(">")) return false;
  s_.Rewind(end);
  return true;
}

// The key's value stands at the end of the file: four bytes of alignment, then the elements.
bool MlirTextReader::ReadDenseResource(MlirAttribute& a) {
  a.kind = MlirAttribute::Kind::kDense;
  s_.Skip();
  const SourcePlace place = {s_.offset(), 1};
  std::string key;
  if (!s_.Expect("<")) return false;
  if (s_.Peek() == '"') {
    if (!s_.String(key)) return false;
  } else {
    s_.Skip();
    const absl::string_view word = s_.Suffix();
    key.assign(word.data(), word.size());
  }
  if (!s_.Expect(">") || !s_.Expect(":") || !ReadType(a.type)) return false;
  if (a.type->kind != MlirType::Kind::kTensor || a.type->shape.HasDynamicDims())
    return s_.FailAt(place, "expected a tensor of known size");
  const auto found = resources_.find(key);
  if (found == resources_.end()) return s_.FailAt(place, "there is no resource ", key);
  std::string bytes;
  if (!BytesOfHex(found->second, bytes) || bytes.size() < 4)
    return s_.FailAt(place, "the resource ", key,
                     " is no hexadecimal string of alignment and data");
  auto literal = DenseFromBytes(absl::string_view(bytes).substr(4), a.type->shape, false);
  if (!literal.ok()) return s_.FailAt(place, literal.status().message());
  a.literal = *std::move(literal);
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
