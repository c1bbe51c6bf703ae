// Attributes in MLIR text.
//
//   3 : i64   1.5e-3 : f32   "text"   @symbol   unit   [1, "x"]   {a = 1}   array<i64: 1, 2>
//   dense<0.0> : tensor<f32>   #stablehlo<precision HIGHEST>   #stablehlo.gather<...>   #alias
// One character, or one word, of look-ahead chooses the form. Attributes of StableHLO's dialects
// are read by their shape, not by a list of names: `#stablehlo.gather<offset_dims = [1], ...>`
// becomes a record of fields, `#stablehlo<precision HIGHEST>` a keyword. Those of other dialects
// are kept as the text between balanced brackets, so that a dialect that nobody knows does not stop
// a file from being read; only a conversion that needs such an attribute refuses it.
// Cost: linear in the text; an alias is read once and shared by its uses.
#include <bit>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "stablehlo/text/text_reader_internal.h"

namespace hlokit {
namespace {

// Fields of vhlo are in camel case: `operandIndex` is `operand_index`.
std::string SnakeCase(absl::string_view name) {
  std::string snake;
  for (const char c : name) {
    if (absl::ascii_isupper(static_cast<unsigned char>(c))) snake += '_';
    snake += absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  return snake;
}

}  // namespace

const MlirAttribute* MlirTextReader::AddInts(std::vector<int64_t> ints) {
  MlirAttribute a;
  a.kind = MlirAttribute::Kind::kInts;
  a.ints = std::move(ints);
  return module_.Add(std::move(a));
}

const MlirAttribute* MlirTextReader::AddInt(int64_t value) {
  MlirAttribute a;
  a.kind = MlirAttribute::Kind::kInt;
  a.integer = value;
  return module_.Add(std::move(a));
}

const MlirAttribute* MlirTextReader::AddText(MlirAttribute::Kind kind, std::string text) {
  MlirAttribute a;
  a.kind = kind;
  a.text = std::move(text);
  return module_.Add(std::move(a));
}

// `@name`, `@"any name"`, `@module::@name`.
bool MlirTextReader::ReadSymbol(std::string& symbol) {
  if (!s_.Expect("@")) return false;
  if (s_.PeekHere() == '"') {
    if (!s_.String(symbol)) return false;
  } else {
    const absl::string_view word = s_.Suffix();
    if (word.empty()) return s_.Fail("expected a name after '@'");
    symbol.assign(word.data(), word.size());
  }
  if (!s_.TryHere("::")) return true;
  std::string inner;
  if (!ReadSymbol(inner)) return false;
  absl::StrAppend(&symbol, "::", inner);
  return true;
}

// `?` stands for kUnbounded, in bounds.
bool MlirTextReader::ReadIntList(std::vector<int64_t>& ints) {
  if (!s_.Expect("[")) return false;
  if (s_.Try("]")) return true;
  do {
    ints.push_back(kUnbounded);
    if (!s_.Try("?") && !s_.Int(ints.back())) return false;
  } while (s_.Try(","));
  return s_.Expect("]");
}

bool MlirTextReader::ReadNumber(MlirAttribute& a) {
  const uint32_t start = s_.offset();
  const absl::string_view text = s_.Number();
  if (text.empty()) return s_.Fail("expected an attribute");
  if (s_.Try(":") && !ReadType(a.type)) return false;
  const bool hex = absl::StartsWith(text, "0x");
  const bool is_float = a.type != nullptr && a.type->HasShape() && IsFloat(a.type->shape.type);
  if (!is_float && (hex || text.find_first_of(".eE") == text.npos)) {
    a.kind = MlirAttribute::Kind::kInt;
    const uint32_t end = s_.offset();
    s_.Rewind(start);
    if (!s_.Int(a.integer)) return false;
    s_.Rewind(end);
    return true;
  }
  a.kind = MlirAttribute::Kind::kFloat;
  if (hex) {
    uint64_t bits = 0;
    if (!absl::SimpleHexAtoi(text, &bits)) return s_.FailAt({start, 1}, "expected 64 bits at most");
    a.number = a.type->shape.type == ElementType::kF64
                   ? std::bit_cast<double>(bits)
                   : std::bit_cast<float>(static_cast<uint32_t>(bits));
    return true;
  }
  return absl::SimpleAtod(text, &a.number) || s_.FailAt({start, 1}, "expected a number");
}

bool MlirTextReader::ReadArray(MlirAttribute& a) {
  a.kind = MlirAttribute::Kind::kArray;
  if (s_.Try("]")) return true;
  do {
    a.elements.emplace_back();
    if (!ReadAttribute(a.elements.back())) return false;
  } while (s_.Try(","));
  return s_.Expect("]");
}

bool MlirTextReader::ReadDictionary(MlirAttributes& fields) {
  if (s_.Try("}")) return true;
  do {
    std::string name;
    if (s_.Peek() == '"') {
      if (!s_.String(name)) return false;
    } else {
      const absl::string_view word = s_.Word();
      if (word.empty()) return s_.Fail("expected the name of an attribute");
      name.assign(word.data(), word.size());
    }
    const MlirAttribute* value = nullptr;
    if (s_.Try("=")) {
      if (!ReadAttribute(value)) return false;
    } else {
      value = AddText(MlirAttribute::Kind::kUnit, "");
    }
    fields.emplace_back(std::move(name), value);
  } while (s_.Try(","));
  return s_.Expect("}");
}

bool MlirTextReader::ReadOptionalDictionary(MlirAttributes& fields) {
  return !s_.Try("{") || ReadDictionary(fields);
}

// `array<i64: 1, 2>`, `array<i1: true>`, `array<f32: 0.5>`; the `<` is taken.
bool MlirTextReader::ReadDenseArray(MlirAttribute& a) {
  if (!ReadType(a.type)) return false;
  if (a.type->kind != MlirType::Kind::kScalar) return s_.Fail("expected a scalar type");
  const bool floats = IsFloat(a.type->shape.type);
  a.kind = floats ? MlirAttribute::Kind::kArray : MlirAttribute::Kind::kInts;
  if (s_.Try(">")) return true;
  if (!s_.Expect(":")) return false;
  do {
    if (floats) {
      a.elements.emplace_back();
      if (!ReadAttribute(a.elements.back())) return false;
    } else if (s_.TryWord("true")) {
      a.ints.push_back(1);
    } else if (s_.TryWord("false")) {
      a.ints.push_back(0);
    } else if (!s_.Int(a.ints.emplace_back())) {
      return false;
    }
  } while (s_.Try(","));
  return s_.Expect(">");
}

// A value of a field in `#stablehlo.gather<...>`: a list of numbers, a keyword or any attribute.
bool MlirTextReader::ReadFieldValue(const MlirAttribute*& value) {
  const absl::string_view word = s_.PeekWord();
  const bool keyword = !word.empty() && word != "true" && word != "false" && word != "array" &&
                       word != "dense" && word != "tensor" && word != "loc";
  if (keyword && ElementTypeFromText(word) == std::nullopt) {
    s_.Word();
    value = AddText(MlirAttribute::Kind::kEnum, std::string(word.data(), word.size()));
    return true;
  }
  if (s_.Try("(")) {  // part of an axis: `(2)4`, four devices after two parts
    int64_t before = 0, size = 0;
    if (!s_.Int(before) || !s_.Expect(")") || !s_.Int(size)) return false;
    value = AddInts({before, size});
    return true;
  }
  return ReadAttribute(value);
}

bool MlirTextReader::ReadFields(MlirAttributes& fields) {
  do {
    const absl::string_view name = s_.Word();
    if (name.empty()) return s_.Fail("expected the name of a field");
    const MlirAttribute* value = nullptr;
    if (!s_.Expect("=") || !ReadFieldValue(value)) return false;
    fields.emplace_back(SnakeCase(name), value);
  } while (s_.Try(","));
  return s_.Expect(">");
}

// `[b, 0, 1, f]`: the positions of two letters, and of the numbers as
// `<prefix>_spatial_dimensions`.
bool MlirTextReader::ReadConvLabels(MlirAttribute& a, absl::string_view prefix, const char* letters,
                                    const char* const* names) {
  std::vector<int64_t> spatial;
  int64_t found[2] = {-1, -1};
  if (!s_.Expect("[")) return false;
  for (int64_t position = 0; !s_.Try("]"); ++position) {
    if (position > 0 && !s_.Expect(",")) return false;
    const absl::string_view word = s_.PeekWord();
    if (word.size() == 1 && (word[0] == letters[0] || word[0] == letters[1])) {
      s_.Word();
      found[word[0] == letters[1]] = position;
      continue;
    }
    int64_t which = 0;
    if (s_.Try("?")) continue;
    if (!s_.Int(which)) return false;
    if (which < 0 || which >= kMaxRank) return s_.Fail("this is no spatial dimension");
    if (which >= static_cast<int64_t>(spatial.size())) spatial.resize(which + 1, -1);
    spatial[which] = position;
  }
  for (int i = 0; i < 2; ++i) a.fields.emplace_back(names[i], AddInt(found[i]));
  a.fields.emplace_back(absl::StrCat(prefix, "_spatial_dimensions"), AddInts(std::move(spatial)));
  return true;
}

bool MlirTextReader::ReadConvDimensions(MlirAttribute& a) {
  static constexpr const char* kInput[] = {"input_batch_dimension", "input_feature_dimension"};
  static constexpr const char* kKernel[] = {"kernel_input_feature_dimension",
                                            "kernel_output_feature_dimension"};
  static constexpr const char* kOutput[] = {"output_batch_dimension", "output_feature_dimension"};
  a.kind = MlirAttribute::Kind::kDict;
  a.tag = "stablehlo.conv";
  return ReadConvLabels(a, "input", "bf", kInput) && s_.Expect("x") &&
         ReadConvLabels(a, "kernel", "io", kKernel) && s_.Expect("->") &&
         ReadConvLabels(a, "output", "bf", kOutput);
}

// `bounds = [?, 4]>`.
bool MlirTextReader::ReadBoundsField(MlirAttribute& a) {
  return s_.ExpectWord("bounds") && s_.Expect("=") && ReadIntList(a.ints) && s_.Expect(">");
}

// What stands between `<` (taken) and `>`: fields, a keyword, bounds, or text that is kept.
bool MlirTextReader::ReadDialectBody(MlirAttribute& a) {
  const uint32_t start = s_.offset();
  if (a.tag == "stablehlo.conv" && s_.Looking("[")) return ReadConvDimensions(a) && s_.Expect(">");
  if (a.tag == "stablehlo.bounds") {
    a.kind = MlirAttribute::Kind::kInts;
    do {
      a.ints.push_back(kUnbounded);
      if (!s_.Try("?") && !s_.Int(a.ints.back())) return false;
    } while (s_.Try(","));
    return s_.Expect(">");
  }
  const bool versioned = absl::StartsWith(a.tag, "vhlo.");
  if (versioned) {
    bool known = true;
    a.tag = WithoutVersion(a.tag);
    if (!ReadVhloAttribute(a.tag, a, known)) return false;
    if (known) return true;
  }
  const bool own = versioned || absl::StartsWith(a.tag, "stablehlo.") ||
                   absl::StartsWith(a.tag, "chlo.") || absl::StartsWith(a.tag, "mhlo.");
  const absl::string_view word = s_.Word();
  if (own && !word.empty() && s_.Try("=")) {
    s_.Rewind(start);
    a.kind = MlirAttribute::Kind::kDict;
    return word == "bounds" ? ReadBoundsField(a) : ReadFields(a.fields);
  }
  if (own && !word.empty() && s_.Try(">")) {
    a.kind = MlirAttribute::Kind::kEnum;
    a.text.assign(word.data(), word.size());
    return true;
  }
  a.kind = own && s_.Try(">") ? MlirAttribute::Kind::kDict : MlirAttribute::Kind::kOpaque;
  if (a.kind == MlirAttribute::Kind::kDict) return true;
  s_.Rewind(start);
  if (!s_.SkipBalanced()) return false;
  const absl::string_view body = s_.From(start);
  a.text.assign(body.data(), body.size() - 1);
  return true;
}

// `#stablehlo.gather<...>`, `#stablehlo<precision HIGHEST>`.
bool MlirTextReader::ReadDialectAttribute(MlirAttribute& a) {
  s_.Expect("#");
  const absl::string_view name = s_.Suffix();
  if (const auto alias = attribute_aliases_.find(name); alias != attribute_aliases_.end()) {
    a = *alias->second;
    return true;
  }
  a.tag.assign(name.data(), name.size());
  a.kind = MlirAttribute::Kind::kOpaque;
  if (!s_.TryHere("<"))
    return name.find('.') != name.npos || s_.Fail("the alias #", name, " is not defined");
  if (name.find('.') == name.npos) {
    const absl::string_view mnemonic = s_.Word();
    if (mnemonic.empty()) return s_.Fail("expected the name of an attribute");
    absl::StrAppend(&a.tag, ".", mnemonic);
    if (s_.Try("<")) return ReadDialectBody(a) && s_.Expect(">");
  }
  return ReadDialectBody(a);
}

bool MlirTextReader::ReadAttributeValue(MlirAttribute& a) {
  using Kind = MlirAttribute::Kind;
  switch (s_.Peek()) {
    case '"':
      a.kind = Kind::kString;
      if (!s_.String(a.text)) return false;
      return !s_.Try(":") || ReadType(a.type);
    case '[':
      s_.Expect("[");
      return ReadArray(a);
    case '{':
      a.kind = Kind::kDict;
      s_.Expect("{");
      return ReadDictionary(a.fields);
    case '@':
      a.kind = Kind::kSymbol;
      return ReadSymbol(a.text);
    case '#':
      return ReadDialectAttribute(a);
    default:
      break;
  }
  const absl::string_view word = s_.PeekWord();
  if (word == "true" || word == "false") {
    s_.Word();
    a.kind = Kind::kBool;
    a.integer = word == "true";
    return true;
  }
  if (word == "unit") return s_.Word(), true;
  if (word == "dense") return s_.Word(), ReadDense(a);
  if (word == "dense_resource") return s_.Word(), ReadDenseResource(a);
  if (word == "array") {
    s_.Word();
    return s_.Expect("<") && ReadDenseArray(a);
  }
  if (word == "loc") {
    const MlirLocation* location = nullptr;
    return ReadOptionalLocation(location);
  }
  if (word.empty() && s_.Peek() != '!' && s_.Peek() != '(') return ReadNumber(a);
  a.kind = Kind::kType;
  return ReadType(a.type);
}

bool MlirTextReader::ReadAttribute(const MlirAttribute*& attribute) {
  if (depth_ >= kMaxMlirDepth) return s_.Fail("attributes nest too deeply");
  if (s_.Peek() == '#') {
    const uint32_t start = s_.offset();
    s_.Expect("#");
    const auto alias = attribute_aliases_.find(s_.Suffix());
    if (alias != attribute_aliases_.end()) {
      attribute = alias->second;
      return true;
    }
    s_.Rewind(start);
  }
  ++depth_;
  MlirAttribute made;
  const bool done = ReadAttributeValue(made);
  --depth_;
  if (done) attribute = module_.Add(std::move(made));
  return done;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
