// Types in MLIR text: `tensor<2x?xf32, #stablehlo.bounds<?, 4>>`, `tuple<...>`, `!stablehlo.token`.
//
// A type that HLO has holds a Shape at once: `tensor<2x3xf32>` that of f32[2,3], a token and a
// tuple theirs. A dimension `?` with a bound becomes a bounded dynamic one (`f32[<=4]`); without a
// bound its size is kUnbounded, which only refinement (stablehlo/convert/refine.cc) can close. A
// quantized type is the shape of its stored integers with scales and zero points beside it.
// Types without a meaning in HLO (vectors, memrefs, unknown dialects) are kept as text up to the
// matching bracket: they may stand in a program as long as no operation that is converted uses
// them.
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "stablehlo/ir/element_types.h"
#include "stablehlo/text/text_reader_internal.h"

namespace hlokit {

namespace {

// `f6E2M3FN`, `i128`, `tf32`: numbers of MLIR that HLO has not.
bool IsNumberType(absl::string_view word) {
  for (const char* start : {"tf", "si", "ui", "f", "i"})
    if (absl::ConsumePrefix(&word, start))
      return !word.empty() && absl::ascii_isdigit(static_cast<unsigned char>(word[0]));
  return false;
}

}  // namespace

bool MlirTextReader::ReadScalar(absl::string_view word, MlirType& type) {
  if (word == "index") {
    type.is_index = true;
    type.shape = Shape::Scalar(ElementType::kS64);
  } else {
    const ElementType element = MlirElementType(word);
    if (element == ElementType::kInvalid) return false;
    type.shape = Shape::Scalar(element);
  }
  type.kind = MlirType::Kind::kScalar;
  return true;
}

// `2x?x` of `2x?xf32`; `*x` has no rank.
bool MlirTextReader::ReadDimensions(Shape& shape, bool& ranked) {
  ranked = true;
  s_.Skip();
  if (s_.TryHere("*x")) {
    ranked = false;
    return true;
  }
  while (s_.PeekHere() == '?' || absl::ascii_isdigit(s_.PeekHere())) {
    if (shape.rank() >= kMaxRank) return s_.Fail("more than ", kMaxRank, " dimensions");
    int64_t size = kUnbounded;
    const bool dynamic = s_.TryHere("?");
    if (!dynamic && !s_.DigitsHere(size)) return false;
    shape.dims.push_back(size);
    if (dynamic) shape.SetDynamic(shape.rank() - 1, true);
    if (!s_.TryHere("x")) return s_.Fail("expected 'x' after a dimension");
  }
  return true;
}

// `#stablehlo.bounds<?, 4>` (`#mhlo.type_extensions<bounds = [?, 4]>` in old text), or an alias of
// it.
bool MlirTextReader::ReadEncoding(Shape& shape) {
  const SourcePlace place = {s_.offset(), 1};
  const MlirAttribute* encoding = nullptr;
  if (!ReadAttribute(encoding)) return false;
  if (!absl::EndsWith(encoding->tag, "bounds") && !absl::EndsWith(encoding->tag, "type_extensions"))
    return s_.FailAt(place, "this encoding of a tensor has no meaning in HLO");
  if (encoding->ints.size() != shape.dims.size())
    return s_.FailAt(place, "expected a bound for each dimension");
  for (size_t d = 0; d < shape.dims.size(); ++d)
    if (encoding->ints[d] != kUnbounded) {
      if (encoding->ints[d] < 0) return s_.FailAt(place, "a bound is negative");
      if (shape.dims[d] == kUnbounded) shape.dims[d] = encoding->ints[d];
    }
  return true;
}

// Ends after the `>` that matches the `<` which was taken last.
bool MlirTextReader::ReadOpaqueType(uint32_t start, const MlirType*& type) {
  s_.Rewind(start);
  s_.Try("!");
  s_.Suffix();
  if (s_.TryHere("<") && !s_.SkipBalanced()) return false;
  const absl::string_view text = s_.From(start);
  MlirType made;
  made.kind = MlirType::Kind::kOpaque;
  made.text = std::string(text.data(), text.size());
  type = module_.Add(std::move(made));
  return true;
}

// `<-127:127>` after the storage type; else the type's own range.
bool MlirTextReader::ReadStorage(MlirType& type, QuantizedElement& element) {
  s_.Skip();
  const SourcePlace place = {s_.offset(), 1};
  const absl::string_view word = s_.Word();
  const bool is_unsigned = !word.empty() && word[0] == 'u';
  const ElementType storage =
      MlirElementType(is_unsigned ? absl::StrCat("ui", word.substr(1)) : absl::StrCat(word));
  if (!IsInteger(storage) || IsPred(storage) || BitWidth(storage) > 32)
    return s_.FailAt(place, "expected the integers of a quantized type, found '", word, "'");
  type.shape = Shape::Scalar(storage);
  SetStorageRange(element, storage);
  const int64_t least = element.least, greatest = element.greatest;
  if (!s_.Try("<")) return true;
  if (!s_.Int(element.least) || !s_.Expect(":") || !s_.Int(element.greatest) || !s_.Expect(">"))
    return false;
  return (least <= element.least && element.least < element.greatest &&
          element.greatest <= greatest) ||
         s_.FailAt(place, "this range is not one of ", word);
}

// `!quant.uniform<i8<-127:127>:f32, 2.0:15>`, and `f32:1, {2.0:15, 0.5}` for scales along
// dimension 1; after the name.
bool MlirTextReader::ReadQuantized(const MlirType*& type) {
  MlirType made;
  made.kind = MlirType::Kind::kScalar;
  auto element = std::make_shared<QuantizedElement>();
  if (!s_.Expect("<") || !ReadStorage(made, *element) || !s_.Expect(":")) return false;
  element->expressed = MlirElementType(s_.Word());
  if (!IsFloat(element->expressed)) return s_.Fail("expected the floats of a quantized type");
  const bool along = s_.Try(":");
  if (along && s_.Peek() == '{') return s_.Fail("types quantized in blocks are not supported");
  if (along && !s_.Int(element->dimension)) return false;
  if (!s_.Expect(",") || (along && !s_.Expect("{"))) return false;
  do {
    double& scale = element->scales.emplace_back();
    int64_t& zero = element->zero_points.emplace_back();
    if (!absl::SimpleAtod(s_.Number(), &scale) || !std::isfinite(scale) || scale <= 0)
      return s_.Fail("expected a scale above 0");
    if (s_.Try(":") && !s_.Int(zero)) return false;
    if (zero < element->least || zero > element->greatest)
      return s_.Fail("the zero point ", zero, " is none of the stored integers");
  } while (along && s_.Try(","));
  if ((along && (!s_.Expect("}") || element->dimension < 0)) || !s_.Expect(">"))
    return s_.Fail("expected the end of a quantized type");
  made.quantized = std::move(element);
  type = module_.Add(std::move(made));
  return true;
}

// The text through `>` of a tensor of numbers, after `tensor<`; empty where more stands in it.
absl::string_view MlirTextReader::PlainTensor() {
  const uint32_t start = s_.offset();
  const absl::string_view dimensions_and_element = s_.Suffix();
  const bool plain = s_.TryHere(">");
  s_.Rewind(start);
  return plain ? dimensions_and_element : absl::string_view();
}

// Programs repeat few types: those of numbers are read once and known by their text.
bool MlirTextReader::ReadTensor(const MlirType*& type) {
  const absl::string_view plain = PlainTensor();
  if (plain.empty()) return ReadNewTensor(type);
  if (const auto found = tensors_.find(plain); found != tensors_.end()) {
    type = found->second;
    s_.Rewind(s_.offset() + static_cast<uint32_t>(plain.size()) + 1);
    return true;
  }
  if (!ReadNewTensor(type)) return false;
  tensors_.emplace(plain, type);
  return true;
}

bool MlirTextReader::ReadNewTensor(const MlirType*& type) {
  MlirType made;
  made.kind = MlirType::Kind::kTensor;
  const uint32_t start = s_.offset() - 7;  // of `tensor<`
  bool ranked = true;
  if (!ReadDimensions(made.shape, ranked)) return false;
  if (!ranked) return ReadOpaqueType(start, type);
  const MlirType* element = nullptr;
  const SourcePlace place = {s_.offset(), 1};
  if (!ReadType(element)) return false;
  if (element->kind == MlirType::Kind::kOpaque) return ReadOpaqueType(start, type);
  if (element->kind != MlirType::Kind::kScalar)
    return s_.FailAt(place, "tensors have no elements of this type");
  made.shape.type = element->shape.type;
  made.is_index = element->is_index;
  made.quantized = element->quantized;
  if (s_.Try(",") && !ReadEncoding(made.shape)) return false;
  if (!s_.Expect(">")) return false;
  type = module_.Add(std::move(made));
  return true;
}

bool MlirTextReader::ReadTuple(const MlirType*& type) {
  MlirType made;
  made.kind = MlirType::Kind::kTuple;
  std::vector<Shape> elements;
  if (!s_.Try(">")) {
    do {
      const SourcePlace place = {s_.offset(), 1};
      const MlirType* element = nullptr;
      if (!ReadType(element)) return false;
      if (!element->HasShape()) return s_.FailAt(place, "this type has no meaning in a tuple");
      elements.push_back(element->shape);
      if (!FitsTuple(elements)) return s_.Fail("a tuple of more than ", kMaxTupleParts, " parts");
    } while (s_.Try(","));
    if (!s_.Expect(">")) return false;
  }
  made.shape = Shape::Tuple(std::move(elements));
  type = module_.Add(std::move(made));
  return true;
}

bool MlirTextReader::ReadTypeList(std::vector<const MlirType*>& types) {
  if (s_.Try(")")) return true;
  do {
    types.emplace_back();
    if (!ReadType(types.back())) return false;
    const MlirLocation* location = nullptr;
    if (!ReadOptionalLocation(location)) return false;
  } while (s_.Try(","));
  return s_.Expect(")");
}

// `(a, b) -> c`, `(a) -> (c, d)`.
bool MlirTextReader::ReadFunctionType(std::vector<const MlirType*>& in,
                                      std::vector<const MlirType*>& out) {
  if (!s_.Expect("(") || !ReadTypeList(in) || !s_.Expect("->")) return false;
  if (s_.Try("(")) return ReadTypeList(out);
  out.emplace_back();
  return ReadType(out.back());
}

bool MlirTextReader::ReadDialectType(const MlirType*& type) {
  const uint32_t start = s_.offset();
  s_.Expect("!");
  const absl::string_view name = s_.Suffix();
  if (auto alias = type_aliases_.find(name); alias != type_aliases_.end()) {
    type = alias->second;
    return true;
  }
  if (name == "stablehlo.token" || name == "mhlo.token") {
    MlirType token;
    token.kind = MlirType::Kind::kToken;
    token.shape = Shape::Token();
    type = module_.Add(std::move(token));
    return true;
  }
  if (absl::StartsWith(name, "vhlo.")) return ReadVhloType(name, start, type);
  if (name == "quant.uniform") return ReadQuantized(type);
  if (name.find('.') == name.npos)
    return s_.FailAt({start, 1}, "the type alias !", name, " is not defined");
  return ReadOpaqueType(start, type);
}

bool MlirTextReader::ReadType(const MlirType*& type) {
  s_.Skip();
  const uint32_t start = s_.offset();
  if (depth_ >= kMaxMlirDepth) return s_.Fail("types nest too deeply");
  ++depth_;
  auto leave = [this](bool done) { return --depth_, done; };
  if (s_.Peek() == '!') return leave(ReadDialectType(type));
  MlirType made;
  if (s_.Peek() == '(') {
    made.kind = MlirType::Kind::kFunction;
    if (!ReadFunctionType(made.inputs, made.results)) return leave(false);
    type = module_.Add(std::move(made));
    return leave(true);
  }
  const absl::string_view word = s_.Word();
  if (word == "tensor" && s_.TryHere("<")) return leave(ReadTensor(type));
  if (word == "tuple" && s_.TryHere("<")) return leave(ReadTuple(type));
  if (word == "complex" && s_.TryHere("<")) {
    const absl::string_view part = s_.Word();
    const ElementType element = ComplexOf(MlirElementType(part));
    if (element == ElementType::kInvalid)
      return leave(s_.Fail("expected complex<f32> or complex<f64>"));
    made.shape = Shape::Scalar(element);
    made.kind = MlirType::Kind::kScalar;
    if (!s_.Expect(">")) return leave(false);
  } else if (word == "none") {
    made.kind = MlirType::Kind::kNone;
  } else if (!ReadScalar(word, made)) {
    if (word == "memref" || word == "vector" || IsNumberType(word))
      return leave(ReadOpaqueType(start, type));
    s_.Rewind(start);
    return leave(s_.Fail("expected a type"));
  }
  type = module_.Add(std::move(made));
  return leave(true);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
