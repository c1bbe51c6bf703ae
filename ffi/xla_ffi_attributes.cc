// A reader of MLIR's dictionaries into the interface's structs.
//
//   {a = 1 : i32, b = "x", c = array<f32: 0.5, 2>, d = {e = true}}
// A handler sees attributes as an array of names, types and pointers, sorted by name as XLA sorts
// them. Everything they point to (scalars, arrays, strings, nested dictionaries) is kept in one
// object, which lives as long as the call. Numbers are stored in the bytes of their type; f16 and
// bf16 are rounded to nearest even here, and a number in hexadecimal digits is its bits.
// A configuration that is no dictionary is an error of the call, with its text.
#include "ffi/xla_ffi_attributes.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "support/status.h"

namespace hlokit {
namespace {

enum class Number : uint8_t { kInteger, kF16, kBf16, kF32, kF64, kOther };
struct Type {
  absl::string_view name;
  uint32_t number;
  uint8_t bytes;
  Number kind;
};
// Numbers of XLA's PrimitiveType.
constexpr Type kTypes[] = {
    {"pred", 1, 1, Number::kInteger},      {"i1", 1, 1, Number::kInteger},
    {"s8", 2, 1, Number::kInteger},        {"i8", 2, 1, Number::kInteger},
    {"s16", 3, 2, Number::kInteger},       {"i16", 3, 2, Number::kInteger},
    {"s32", 4, 4, Number::kInteger},       {"i32", 4, 4, Number::kInteger},
    {"s64", 5, 8, Number::kInteger},       {"i64", 5, 8, Number::kInteger},
    {"u8", 6, 1, Number::kInteger},        {"ui8", 6, 1, Number::kInteger},
    {"u16", 7, 2, Number::kInteger},       {"ui16", 7, 2, Number::kInteger},
    {"u32", 8, 4, Number::kInteger},       {"ui32", 8, 4, Number::kInteger},
    {"u64", 9, 8, Number::kInteger},       {"ui64", 9, 8, Number::kInteger},
    {"s4", 21, 1, Number::kInteger},       {"u4", 22, 1, Number::kInteger},
    {"s2", 26, 1, Number::kInteger},       {"u2", 27, 1, Number::kInteger},
    {"s1", 30, 1, Number::kInteger},       {"u1", 31, 1, Number::kInteger},
    {"f16", 10, 2, Number::kF16},          {"f32", 11, 4, Number::kF32},
    {"f64", 12, 8, Number::kF64},          {"bf16", 16, 2, Number::kBf16},
    {"c64", 15, 8, Number::kOther},        {"token", 17, 0, Number::kOther},
    {"c128", 18, 16, Number::kOther},      {"f8e5m2", 19, 1, Number::kOther},
    {"f8e4m3fn", 20, 1, Number::kOther},   {"f8e4m3b11fnuz", 23, 1, Number::kOther},
    {"f8e5m2fnuz", 24, 1, Number::kOther}, {"f8e4m3fnuz", 25, 1, Number::kOther},
    {"f8e4m3", 28, 1, Number::kOther},     {"f8e3m4", 29, 1, Number::kOther},
    {"f4e2m1fn", 32, 1, Number::kOther},   {"f8e8m0fnu", 33, 1, Number::kOther},
};

const Type* TypeNamed(absl::string_view name) {
  for (const Type& type : kTypes)
    if (type.name == name) return &type;
  return nullptr;
}

// The upper bits of a float, rounded to nearest even: `drop` bits go.
uint32_t RoundedBits(uint32_t bits, int drop) {
  const uint32_t half = (1u << (drop - 1)) - 1 + ((bits >> drop) & 1);
  return (bits + half) >> drop;
}

uint16_t HalfOf(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00);
  if (magnitude >= 65520.0f) return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < 0x1p-14f)  // subnormal: a count of 2^-24
    return static_cast<uint16_t>(sign | static_cast<int>(std::nearbyint(magnitude * 0x1p24f)));
  std::memcpy(&bits, &magnitude, sizeof(bits));
  return static_cast<uint16_t>(sign | (RoundedBits(bits, 13) - (112u << 10)));
}

template <typename T>
void Append(T value, size_t bytes, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), bytes);
}

// A number's bytes as its type has them; `bits` where the text gives them in hexadecimal.
void AppendNumber(const Type& type, double value, uint64_t bits, bool raw, std::string& out) {
  if (raw || type.kind == Number::kInteger) return Append(bits, type.bytes, out);
  const auto single = static_cast<float>(value);
  uint32_t single_bits = 0;
  std::memcpy(&single_bits, &single, sizeof(single_bits));
  switch (type.kind) {
    case Number::kF16:
      return Append(HalfOf(single), 2, out);
    case Number::kBf16:
      return Append(
          static_cast<uint16_t>(std::isnan(single) ? 0x7fc0 : RoundedBits(single_bits, 16)), 2,
          out);
    case Number::kF32:
      return Append(single, 4, out);
    default:
      return Append(value, 8, out);
  }
}

}  // namespace

uint32_t XlaFfiTypeOf(absl::string_view name) {
  const Type* const type = TypeNamed(name);
  return type == nullptr ? 0 : type->number;
}

class XlaFfiAttributeReader {
 public:
  XlaFfiAttributeReader(absl::string_view text, XlaFfiAttributes& out) : text_(text), out_(out) {}

  absl::Status Whole() {
    RETURN_IF_ERROR(Dictionary(out_.top_, 0));
    return At() == '\0' ? absl::OkStatus() : Expected("the end");
  }

 private:
  struct Value {
    XlaFfiAttrKind kind;
    void* value;
  };
  static constexpr int kMaxDepth = 64;

  // The next character that is no space; 0 at the end.
  char At() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Skip(absl::string_view what) {
    At();
    if (!absl::StartsWith(text_.substr(at_), what)) return false;
    at_ += what.size();
    return true;
  }
  absl::Status Expected(absl::string_view what) {
    return InvalidArgument("character ", at_ + 1, " of the attributes: expected ", what);
  }
  absl::Status Need(absl::string_view what) {
    return Skip(what) ? absl::OkStatus() : Expected(what);
  }
  // Letters, digits and the like.
  absl::string_view Word() {
    At();
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  absl::StrContains("_.$-+", text_.substr(at_, 1))))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  absl::StatusOr<std::string> Quoted() {
    RETURN_IF_ERROR(Need("\""));
    std::string value;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] != '\\' || at_ + 1 == text_.size()) {
        value.push_back(text_[at_]);
        continue;
      }
      const char next = text_[++at_];
      if (std::isxdigit(static_cast<unsigned char>(next)) && at_ + 1 < text_.size() &&
          std::isxdigit(static_cast<unsigned char>(text_[at_ + 1]))) {
        value += std::string(absl::HexStringToBytes(text_.substr(at_, 2)));
        ++at_;
      } else {
        value.push_back(next == 'n' ? '\n' : next == 't' ? '\t' : next);
      }
    }
    RETURN_IF_ERROR(Need("\""));
    return value;
  }

  XlaFfiSpan* Span(std::string text) {
    const std::string& kept = out_.texts_.emplace_back(std::move(text));
    return &out_.spans_.emplace_back(XlaFfiSpan{kept.data(), kept.size()});
  }
  Value Scalar(const Type& type, std::string bytes) {
    std::string& kept = out_.texts_.emplace_back(std::move(bytes));
    return {XlaFfiAttrKind::kScalar,
            &out_.scalars_.emplace_back(XlaFfiScalar{type.number, kept.data()})};
  }
  Value Array(const Type& type, std::string bytes) {
    std::string& kept = out_.texts_.emplace_back(std::move(bytes));
    const size_t count = kept.size() / type.bytes;
    return {XlaFfiAttrKind::kArray,
            &out_.arrays_.emplace_back(XlaFfiArray{type.number, count, kept.data()})};
  }

  absl::Status Dictionary(XlaFfiAttrs& into, int depth) {
    if (depth > kMaxDepth) return Expected("less nesting");
    std::vector<std::pair<std::string, Value>> entries;
    if (depth > 0 || At() != '\0') {
      RETURN_IF_ERROR(Need("{"));
      while (!Skip("}")) {
        if (!entries.empty()) RETURN_IF_ERROR(Need(","));
        std::string name;
        if (At() == '"') {
          ASSIGN_OR_RETURN(name, Quoted());
        } else {
          name = std::string(Word());
        }
        if (name.empty()) return Expected("a name");
        Value value = Scalar(kTypes[0], std::string(1, '\1'));
        if (Skip("=")) {
          ASSIGN_OR_RETURN(value, ReadValue(depth));
        }
        entries.emplace_back(std::move(name), value);
      }
    }
    std::sort(entries.begin(), entries.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    auto& kinds = out_.kinds_.emplace_back();
    auto& names = out_.names_.emplace_back();
    auto& values = out_.values_.emplace_back();
    for (auto& [name, value] : entries) {
      kinds.push_back(value.kind);
      names.push_back(Span(std::move(name)));
      values.push_back(value.value);
    }
    into = {{sizeof(XlaFfiAttrs), nullptr},
            static_cast<int64_t>(entries.size()),
            kinds.data(),
            names.data(),
            values.data()};
    return absl::OkStatus();
  }

  absl::StatusOr<Value> ReadValue(int depth) {
    switch (At()) {
      case '{': {
        XlaFfiAttrs& inner = out_.dictionaries_.emplace_back();
        RETURN_IF_ERROR(Dictionary(inner, depth + 1));
        return Value{XlaFfiAttrKind::kDictionary, &inner};
      }
      case '"': {
        ASSIGN_OR_RETURN(std::string text, Quoted());
        return Value{XlaFfiAttrKind::kString, Span(std::move(text))};
      }
      case '@': {
        ++at_;
        return Value{XlaFfiAttrKind::kString, Span(std::string(Word()))};
      }
      case '[':
        return List();
      default:
        break;
    }
    if (Skip("array<")) return DenseArray();
    if (Skip("dense<")) return DenseElements();
    const absl::string_view word = Word();
    if (word == "true" || word == "false" || word == "unit")
      return Scalar(kTypes[0], std::string(1, word == "false" ? '\0' : '\1'));
    const Type* type = TypeNamed(IsFloatText(word) ? "f64" : "i64");
    if (Skip(":")) {
      type = TypeNamed(Word());
      if (type == nullptr) return Expected("a type of numbers");
    }
    std::string bytes;
    RETURN_IF_ERROR(AppendText(*type, word, bytes));
    return Scalar(*type, std::move(bytes));
  }

  static bool IsFloatText(absl::string_view word) {
    return !absl::StartsWith(word, "0x") && word.find_first_of(".eE") != word.npos;
  }

  absl::Status AppendText(const Type& type, absl::string_view word, std::string& out) {
    if (word == "true" || word == "false") {
      AppendNumber(type, word == "true", word == "true", false, out);
      return absl::OkStatus();
    }
    const std::string text(word);
    char* end = nullptr;
    const bool hex = absl::StartsWith(word, "0x");
    const uint64_t bits =
        hex || absl::StartsWith(word, "-") ? 0 : std::strtoull(text.c_str(), &end, 10);
    const double value = std::strtod(text.c_str(), &end);
    if (word.empty() || *end != '\0') return Expected("a number");
    if (type.kind == Number::kOther) return Expected("a type of numbers");
    if (hex) {
      AppendNumber(type, 0, std::strtoull(text.c_str(), nullptr, 16), true, out);
    } else if (absl::StartsWith(word, "-")) {
      AppendNumber(type, value, static_cast<uint64_t>(std::strtoll(text.c_str(), nullptr, 10)),
                   false, out);
    } else {
      AppendNumber(type, value, bits, false, out);
    }
    return absl::OkStatus();
  }

  // Numbers up to `close`, brackets within passed over.
  absl::Status Numbers(const Type& type, char close, std::string& bytes) {
    while (At() != close) {
      if (Skip("[") || Skip("]") || Skip(",")) continue;
      RETURN_IF_ERROR(AppendText(type, Word(), bytes));
    }
    ++at_;
    return absl::OkStatus();
  }

  // After `array<`.
  absl::StatusOr<Value> DenseArray() {
    const Type* const type = TypeNamed(Word());
    if (type == nullptr) return Expected("a type of numbers");
    std::string bytes;
    if (!Skip(":")) {
      RETURN_IF_ERROR(Need(">"));
    } else {
      RETURN_IF_ERROR(Numbers(*type, '>', bytes));
    }
    return Array(*type, std::move(bytes));
  }

  // A list of numbers: integers are i64, others f64.
  absl::StatusOr<Value> List() {
    const size_t end = text_.find(']', at_);
    if (end == text_.npos) return Expected("]");
    const Type* const type = TypeNamed(IsFloatText(text_.substr(at_, end - at_)) ? "f64" : "i64");
    ++at_;
    std::string bytes;
    while (!Skip("]")) {
      if (!bytes.empty()) RETURN_IF_ERROR(Need(","));
      RETURN_IF_ERROR(AppendText(*type, Word(), bytes));
      if (Skip(":")) Word();
    }
    return Array(*type, std::move(bytes));
  }

  // After `dense<`: the type stands behind the numbers, `dense<[1, 2]> : tensor<2xi32>`.
  absl::StatusOr<Value> DenseElements() {
    const size_t begin = at_;
    const size_t close = text_.find("> : tensor<", at_);
    if (close == text_.npos) return Expected("> : tensor<");
    at_ = close + 11;
    int64_t count = 1;
    absl::string_view word;
    for (word = Word(); !word.empty() && std::isdigit(static_cast<unsigned char>(word[0]));) {
      const size_t x = word.find('x');
      int64_t size = 0;
      if (x == word.npos || !absl::SimpleAtoi(word.substr(0, x), &size) || size < 0 ||
          __builtin_mul_overflow(count, size, &count))
        return Expected("the type of a tensor");
      word.remove_prefix(x + 1);
    }
    const Type* const type = TypeNamed(word);
    if (type == nullptr) return Expected("a type of numbers");
    RETURN_IF_ERROR(Need(">"));
    const size_t end = at_;
    at_ = begin;
    std::string bytes;
    if (At() == '"') {
      ASSIGN_OR_RETURN(const std::string hex, Quoted());
      bytes = absl::HexStringToBytes(hex.substr(std::min<size_t>(hex.size(), 2)));
    } else {
      RETURN_IF_ERROR(Numbers(*type, '>', bytes));
    }
    const std::string one = bytes;
    constexpr int64_t kMaxElements = int64_t{1} << 28;
    if (one.size() == type->bytes && count > 1 && count <= kMaxElements)
      for (int64_t i = 1; i < count; ++i) bytes += one;
    if (static_cast<int64_t>(bytes.size()) != count * type->bytes)
      return Expected("as many numbers as the tensor has");
    at_ = end;
    return Array(*type, std::move(bytes));
  }

  const absl::string_view text_;
  XlaFfiAttributes& out_;
  size_t at_ = 0;
};

absl::Status XlaFfiAttributes::Parse(absl::string_view text) {
  return XlaFfiAttributeReader(text, *this).Whole();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
