// Attributes, locations and types of MLIR's builtin dialect, and what other dialects share with it.
//
// An entry is a code and its fields, each field a number that refers to a string, to another
// attribute, or to a type. Example, the attribute `3 : i64`:
//   11        code 8, an integer
//   <type>    the number of i64 in the section of types
//   0d        3 as a zigzag number, 6
// The elements of a dense value are one string of bytes, little-endian, or a single element that
// stands for all (a splat). A resource (`dense_resource<key>`) is the number of a blob in the
// section of resources, which holds its own alignment, size and bytes.
// Codes: MLIR's BuiltinDialectBytecode, which never changes them. Codes that are not listed
// (affine maps, sparse values, ...) have no meaning in HLO and are refused by number.
#include <cstring>

#include "absl/strings/str_split.h"
#include "stablehlo/bytecode/bytecode_reader_internal.h"
#include "stablehlo/ir/dense.h"
#include "stablehlo/ir/element_types.h"

namespace hlokit {
namespace {

// Codes of MLIR's BuiltinDialectBytecode.
enum AttributeCode : uint64_t {
  kArray = 0,
  kDictionary = 1,
  kString = 2,
  kStringWithType = 3,
  kFlatSymbol = 4,
  kSymbol = 5,
  kType = 6,
  kUnit = 7,
  kInteger = 8,
  kFloat = 9,
  kCallSite = 10,
  kFileLine = 11,
  kFused = 12,
  kFusedWithMetadata = 13,
  kNameLocation = 14,
  kUnknownLocation = 15,
  kDenseResource = 16,
  kDenseArray = 17,
  kDense = 18,
  kFileRange = 22,
};

}  // namespace

const MlirAttribute* MlirBytecodeReader::AddInts(std::vector<int64_t> ints) {
  MlirAttribute a;
  a.kind = MlirAttribute::Kind::kInts;
  a.ints = std::move(ints);
  return module_.Add(std::move(a));
}

const MlirAttribute* MlirBytecodeReader::AddText(MlirAttribute::Kind kind, absl::string_view text) {
  MlirAttribute a;
  a.kind = kind;
  a.text = std::string(text.data(), text.size());
  return module_.Add(std::move(a));
}

void MlirBytecodeReader::SetScalar(absl::string_view name, MlirType& type) {
  type.kind = MlirType::Kind::kScalar;
  type.is_index = name == "index";
  const ElementType element = type.is_index ? ElementType::kS64 : MlirElementType(name);
  if (element == ElementType::kInvalid) {
    type.kind = MlirType::Kind::kOpaque;
    type.text = std::string(name.data(), name.size());
  } else {
    type.shape = Shape::Scalar(element);
  }
}

// The type, then the bits: a byte for widths up to 8, else a number. Floats store their bits so.
bool MlirBytecodeReader::Number(BytecodeCursor& c, MlirAttribute& a, bool is_float) {
  a.kind = is_float ? MlirAttribute::Kind::kFloat : MlirAttribute::Kind::kInt;
  if (!Type(c, a.type)) return false;
  if (a.type->kind != MlirType::Kind::kScalar)
    return c.Fail("a number of a type that is no scalar");
  const ElementType type = a.type->shape.type;
  const int width = IsPred(type) ? 1 : BitWidth(type);
  if (width > 64) return c.Fail("numbers above 64 bits are not read");
  int64_t bits = 0;
  uint8_t byte = 0;
  if (width <= 8) {
    if (!c.Byte(byte)) return false;
    bits = IsSigned(type) ? static_cast<int8_t>(byte) : byte;
  } else if (!c.SignedVarInt(bits)) {
    return false;
  }
  if (!is_float) {
    a.integer = bits;
    return true;
  }
  Literal value(Shape::Scalar(type));
  std::memcpy(value.data(), &bits, ByteWidth(type));
  a.number = value.GetDouble(0);
  return true;
}

// array<T: ...>: the count again, then the elements in bytes.
bool MlirBytecodeReader::DenseArray(BytecodeCursor& c, MlirAttribute& a) {
  uint64_t count = 0, size = 0;
  absl::string_view blob;
  if (!Type(c, a.type) || !c.VarInt(count) || !c.VarInt(size) || !c.Bytes(size, blob)) return false;
  if (a.type->kind != MlirType::Kind::kScalar || count > size)
    return c.Fail("an array of ", count, " elements in ", size, " bytes");
  auto literal =
      DenseFromBytes(blob, Shape::Array(a.type->shape.type, {static_cast<int64_t>(count)}), false);
  if (!literal.ok()) return c.Fail(literal.status().message());
  const bool floats = IsFloat(a.type->shape.type);
  a.kind = floats ? MlirAttribute::Kind::kArray : MlirAttribute::Kind::kInts;
  for (uint64_t i = 0; i < count; ++i) {
    if (!floats) {
      a.ints.push_back((*literal)->GetInt(static_cast<int64_t>(i)));
      continue;
    }
    MlirAttribute element;
    element.kind = MlirAttribute::Kind::kFloat;
    element.type = a.type;
    element.number = (*literal)->GetDouble(static_cast<int64_t>(i));
    a.elements.push_back(module_.Add(std::move(element)));
  }
  return true;
}

bool MlirBytecodeReader::Dense(BytecodeCursor& c, MlirAttribute& a) {
  a.kind = MlirAttribute::Kind::kDense;
  uint64_t size = 0;
  absl::string_view blob;
  if (!Type(c, a.type) || !c.VarInt(size) || !c.Bytes(size, blob)) return false;
  if (a.type->kind != MlirType::Kind::kTensor || a.type->shape.HasDynamicDims())
    return c.Fail("a dense value needs a tensor of known size");
  auto literal = DenseFromBytes(blob, a.type->shape, true, owner_);
  if (!literal.ok()) return c.Fail(literal.status().message());
  a.literal = *std::move(literal);
  return true;
}

// A blob among the resources: its alignment, its size and, aligned so, its bytes.
bool MlirBytecodeReader::DenseResource(BytecodeCursor& c, MlirAttribute& a) {
  a.kind = MlirAttribute::Kind::kDense;
  uint64_t index = 0, alignment = 0, size = 0;
  if (!Type(c, a.type) || !c.VarInt(index)) return false;
  if (index >= resources_.size()) return c.Fail("there is no resource ", index);
  if (a.type->kind != MlirType::Kind::kTensor || a.type->shape.HasDynamicDims())
    return c.Fail("a dense value needs a tensor of known size");
  BytecodeCursor blob = Cursor(resources_[index], "resources");
  absl::string_view data;
  if (!blob.VarInt(alignment) || !blob.VarInt(size) || !blob.Align(alignment) ||
      !blob.Bytes(size, data))
    return false;
  auto literal = DenseFromBytes(data, a.type->shape, false, owner_);
  if (!literal.ok()) return c.Fail(literal.status().message());
  a.literal = *std::move(literal);
  return true;
}

bool MlirBytecodeReader::Dictionary(BytecodeCursor& c, MlirAttribute& a) {
  a.kind = MlirAttribute::Kind::kDict;
  uint64_t count = 0;
  if (!c.Count(count)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    std::string name;
    const MlirAttribute* value = nullptr;
    if (!StringAttribute(c, name) || !Attribute(c, value)) return false;
    a.fields.emplace_back(std::move(name), value);
  }
  return true;
}

bool MlirBytecodeReader::BuiltinLocation(BytecodeCursor& c, uint64_t code, MlirLocation& location) {
  using Kind = MlirLocation::Kind;
  auto inner = [&] { return Location(c, location.inner.emplace_back()); };
  uint64_t line = 0, column = 0, count = 0;
  switch (code) {
    case kCallSite:
      location.kind = Kind::kCallSite;
      return inner() && inner();
    case kNameLocation:
      location.kind = Kind::kName;
      return StringAttribute(c, location.text) && inner();
    case kFused:
    case kFusedWithMetadata: {
      location.kind = Kind::kFused;
      if (!c.Count(count)) return false;
      for (uint64_t i = 0; i < count; ++i)
        if (!inner()) return false;
      const MlirAttribute* metadata = nullptr;
      return code == kFused || Attribute(c, metadata);
    }
    case kFileLine:
      location.kind = Kind::kFile;
      if (!StringAttribute(c, location.text) || !c.VarInt(line) || !c.VarInt(column)) return false;
      location.line = location.end_line = static_cast<int64_t>(line);
      location.column = location.end_column = static_cast<int64_t>(column);
      return true;
    case kFileRange: {
      // line; line, column; line, column, end column; or both ends whole
      location.kind = Kind::kFile;
      uint64_t numbers[4] = {};
      if (!StringAttribute(c, location.text) || !c.VarInt(count)) return false;
      if (count > 4) return c.Fail("a location of ", count, " numbers");
      for (uint64_t i = 0; i < count; ++i)
        if (!c.VarInt(numbers[i])) return false;
      location.line = location.end_line = static_cast<int64_t>(numbers[0]);
      location.column = location.end_column = static_cast<int64_t>(numbers[1]);
      if (count == 3) location.end_column = static_cast<int64_t>(numbers[2]);
      if (count == 4) location.end_line = static_cast<int64_t>(numbers[2]);
      if (count == 4) location.end_column = static_cast<int64_t>(numbers[3]);
      return true;
    }
    default:
      return true;
  }
}

bool MlirBytecodeReader::BuiltinAttribute(BytecodeCursor& c, Entry& entry, MlirAttribute& a) {
  using Kind = MlirAttribute::Kind;
  uint64_t code = 0;
  absl::string_view text;
  if (!c.VarInt(code)) return false;
  switch (code) {
    case kArray:
      a.kind = Kind::kArray;
      return Attributes(c, a.elements);
    case kDictionary:
      return Dictionary(c, a);
    case kString:
    case kStringWithType:
      a.kind = Kind::kString;
      if (!String(c, text)) return false;
      a.text = std::string(text.data(), text.size());
      return code == kString || Type(c, a.type);
    case kFlatSymbol:
      a.kind = Kind::kSymbol;
      return StringAttribute(c, a.text);
    case kSymbol: {
      a.kind = Kind::kSymbol;
      if (!StringAttribute(c, a.text) || !Attributes(c, a.elements)) return false;
      for (const MlirAttribute* nested : a.elements) absl::StrAppend(&a.text, "::", nested->text);
      return true;
    }
    case kType:
      a.kind = Kind::kType;
      return Type(c, a.type);
    case kUnit:
      return true;
    case kInteger:
    case kFloat: {
      if (!Number(c, a, code == kFloat)) return false;
      if (code == kInteger && IsPred(a.type->shape.type)) a.kind = Kind::kBool, a.integer &= 1;
      return true;
    }
    case kDenseResource:
      return DenseResource(c, a);
    case kDenseArray:
      return DenseArray(c, a);
    case kDense:
      return Dense(c, a);
    default:
      break;
  }
  const bool location = (code >= kCallSite && code <= kUnknownLocation) || code == kFileRange;
  if (!location) return c.Fail("builtin attributes of code ", code, " are not known");
  MlirLocation made;
  if (!BuiltinLocation(c, code, made)) return false;
  entry.location = module_.Add(std::move(made));
  return true;
}

bool MlirBytecodeReader::TensorType(BytecodeCursor& c, bool encoded, MlirType& type) {
  const MlirAttribute* encoding = nullptr;
  std::vector<int64_t> dims;
  const MlirType* element = nullptr;
  if (encoded && !Attribute(c, encoding)) return false;
  if (!c.SignedVarInts(dims) || !Type(c, element)) return false;
  if (element->kind != MlirType::Kind::kScalar) {
    type.kind = MlirType::Kind::kOpaque;
    type.text = absl::StrCat("tensor of ", Text(*element));
    return true;
  }
  if (dims.size() > kMaxRank) return c.Fail("more than ", kMaxRank, " dimensions");
  type.kind = MlirType::Kind::kTensor;
  type.is_index = element->is_index;
  type.quantized = element->quantized;
  type.shape = Shape::Array(element->shape.type, dims);
  if (encoding != nullptr && encoding->ints.size() != dims.size())
    return c.Fail("this encoding of a tensor has no meaning in HLO");
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] < 0 && dims[d] != kUnbounded) return c.Fail("a dimension is negative");
    type.shape.SetDynamic(static_cast<int>(d), dims[d] == kUnbounded);
    if (encoding == nullptr || encoding->ints[d] == kUnbounded) continue;
    if (encoding->ints[d] < 0) return c.Fail("a bound is negative");
    if (dims[d] == kUnbounded) type.shape.dims[d] = encoding->ints[d];
  }
  return true;
}

bool MlirBytecodeReader::TupleType(BytecodeCursor& c, MlirType& type) {
  std::vector<const MlirType*> parts;
  if (!Types(c, parts)) return false;
  std::vector<Shape> elements;
  for (const MlirType* part : parts) {
    if (!part->HasShape()) return c.Fail("the type ", Text(*part), " has no meaning in a tuple");
    elements.push_back(part->shape);
    if (!FitsTuple(elements)) return c.Fail("a tuple of more than ", kMaxTupleParts, " parts");
  }
  type.kind = MlirType::Kind::kTuple;
  type.shape = Shape::Tuple(std::move(elements));
  return true;
}

bool MlirBytecodeReader::ComplexType(BytecodeCursor& c, MlirType& type) {
  const MlirType* part = nullptr;
  if (!Type(c, part)) return false;
  const ElementType element = ComplexOf(part->shape.type);
  if (element == ElementType::kInvalid) return c.Fail("complex numbers of ", Text(*part));
  type.kind = MlirType::Kind::kScalar;
  type.shape = Shape::Scalar(element);
  return true;
}

bool MlirBytecodeReader::BuiltinType(BytecodeCursor& c, MlirType& type) {
  static constexpr const char* kSmallFloats[] = {// from code 22
                                                 "f8E5M2",     "f8E4M3",     "f8E4M3FN",
                                                 "f8E5M2FNUZ", "f8E4M3FNUZ", "f8E4M3B11FNUZ",
                                                 "f8E3M4",     "f4E2M1FN"};
  uint64_t code = 0, width = 0;
  if (!c.VarInt(code)) return false;
  if (code >= 22 && code < 22 + std::size(kSmallFloats))
    return SetScalar(kSmallFloats[code - 22], type), true;
  switch (code) {
    case 21:
      type.kind = MlirType::Kind::kOpaque;
      type.text = "tf32";
      return true;
    case 32:
      return SetScalar("f8E8M0FNU", type), true;
    case 0: {
      if (!c.VarInt(width)) return false;
      const char* sign = (width & 3) == 2 ? "ui" : (width & 3) == 1 ? "si" : "i";
      SetScalar(absl::StrCat(sign, width >> 2), type);
      return true;
    }
    case 1:
      return SetScalar("index", type), true;
    case 2:
      type.kind = MlirType::Kind::kFunction;
      return Types(c, type.inputs) && Types(c, type.results);
    case 3:
      return SetScalar("bf16", type), true;
    case 4:
      return SetScalar("f16", type), true;
    case 5:
      return SetScalar("f32", type), true;
    case 6:
      return SetScalar("f64", type), true;
    case 9:
      return ComplexType(c, type);
    case 12:
      return true;  // none
    case 13:
      return TensorType(c, false, type);
    case 14:
      return TensorType(c, true, type);
    case 15:
      return TupleType(c, type);
    default:
      type.kind = MlirType::Kind::kOpaque;
      type.text = absl::StrCat("of builtin, code ", code);
      return true;
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
