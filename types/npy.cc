// Literals from and to NumPy arrays (.npy). Element types that numpy lacks (bf16, f8, 4-bit
// integers) are taken from, and written as, raw bytes of the same width, one element a byte for
// types below a byte. An array of a bounded shape may be smaller than the bounds: its sizes become
// the dynamic sizes. Fortran order is converted.
#include "types/npy.h"

#include <cstring>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "support/file.h"
#include "support/status.h"
#include "support/within_memory.h"

namespace hlokit {
namespace {

// numpy's letter for the element types that it has, 0 for the others.
char NumpyKind(ElementType type) {
  switch (Info(type).klass) {
    case TypeClass::kPred:
      return 'b';
    case TypeClass::kSigned:
      return IsSubByte(type) ? 0 : 'i';
    case TypeClass::kUnsigned:
      return IsSubByte(type) ? 0 : 'u';
    case TypeClass::kFloat: {
      const bool native =
          type == ElementType::kF16 || type == ElementType::kF32 || type == ElementType::kF64;
      return native ? 'f' : 0;
    }
    case TypeClass::kComplex:
      return 'c';
    case TypeClass::kNone:
      break;
  }
  return 0;
}

// The element type that numpy's dtype stands for; kInvalid for texts and raw bytes.
ElementType NativeTypeOf(const NumpyArray& array) {
  for (int i = 1; i < kElementTypeCount; ++i) {
    const auto type = static_cast<ElementType>(i);
    if (NumpyKind(type) == array.kind && ByteWidth(type) == array.itemsize) return type;
  }
  return ElementType::kInvalid;
}

// "f32[2,3]", or numpy's own name of a type that has no other.
std::string Describe(const NumpyArray& array) {
  const ElementType type = NativeTypeOf(array);
  const absl::string_view name =
      type == ElementType::kInvalid ? absl::string_view(array.descr) : Text(type);
  return absl::StrCat(name, "[", absl::StrJoin(array.shape, ","), "]");
}

// Dynamic dimensions may be smaller than their bound.
bool SameDimsUpToBounds(const NumpyArray& array, const Shape& shape) {
  if (array.shape.size() != shape.dims.size()) return false;
  for (int d = 0; d < shape.rank(); ++d) {
    const bool bounded = shape.IsDynamic(d) && shape.dims[d] != kUnbounded;
    const bool fits = bounded ? array.shape[d] <= shape.dims[d] : array.shape[d] == shape.dims[d];
    if (!fits) return false;
  }
  return true;
}

// Whether the array can fill a literal of `shape`: the same type, or raw bytes of its width where
// numpy lacks the type; dimensions up to the shape's bounds.
bool Fits(const NumpyArray& array, const Shape& shape) {
  if (!shape.IsArray() || array.itemsize != ByteWidth(shape.type)) return false;
  const char kind = NumpyKind(shape.type);
  if (kind == 0) {  // numpy writes f8e5m2 of ml_dtypes as f1
    const bool raw = absl::StrContains("uiV", array.kind) || array.descr == "<f1";
    return raw &&
           (SameDimsUpToBounds(array, shape) || array.element_count() == shape.ElementCount());
  }
  const bool same_kind = array.kind == kind || (kind == 'b' && array.kind == 'u');
  return same_kind && SameDimsUpToBounds(array, shape);
}

// Calls fn(dense offset, offset in bounds, bytes) for each row of the corner `dims` of a row-major
// array of `bounds`.
template <typename Fn>
void ForEachCornerRow(absl::Span<const int64_t> dims, absl::Span<const int64_t> bounds, int width,
                      Fn fn) {
  const DimVector strides = RowMajorStrides(bounds);
  const int64_t row = dims.back() * width;
  DimVector rows(dims.begin(), dims.end());
  rows.back() = dims.back() > 0 ? 1 : 0;
  int64_t dense = 0;
  ForEachIndex(rows, [&](absl::Span<const int64_t> index) {
    fn(dense, std::inner_product(index.begin(), index.end(), strides.begin(), int64_t{0}) * width,
       row);
    dense += row;
  });
}

// The elements in row-major order of the array's own dimensions.
void CopyDense(const NumpyArray& array, ElementType type, uint8_t* out) {
  const auto* from = reinterpret_cast<const uint8_t*>(array.bytes.data());
  if (!array.fortran_order || array.shape.size() < 2) {
    if (!array.bytes.empty()) std::memcpy(out, from, array.bytes.size());
    return;
  }
  DimVector ascending(array.shape.size());
  std::iota(ascending.begin(), ascending.end(), 0);
  CopyFromLayout(from, Shape::ArrayWithLayout(type, array.shape, ascending), out);
}

// Predicates become 0 or 1, integers below a byte are extended from their low bits.
void Normalize(Literal& literal) {
  uint8_t* const data = literal.data();
  const ElementType type = literal.type();
  const int spare = 8 - BitWidth(type);
  for (int64_t i = 0; IsPred(type) && i < literal.element_count(); ++i) data[i] = data[i] != 0;
  if (!IsSubByte(type)) return;
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    const auto high = static_cast<uint8_t>(data[i] << spare);
    data[i] =
        static_cast<uint8_t>(IsSigned(type) ? static_cast<int8_t>(high) >> spare : high >> spare);
  }
}

// The array lies in the corner of the literal; its sizes become the dynamic sizes.
void FillDynamic(const NumpyArray& array, Literal& literal) {
  const int width = ByteWidth(literal.type());
  for (int d = 0; d < literal.shape().rank(); ++d)
    if (literal.shape().IsDynamic(d)) literal.set_dynamic_size(d, array.shape[d]);
  std::vector<uint8_t> dense(array.bytes.size());
  CopyDense(array, literal.type(), dense.data());
  ForEachCornerRow(array.shape, literal.shape().dims, width,
                   [&](int64_t from, int64_t to, int64_t bytes) {
                     std::memcpy(literal.data() + to, dense.data() + from, bytes);
                   });
}

absl::string_view Characters(const void* data, int64_t size) {
  return {static_cast<const char*>(data), static_cast<size_t>(size)};
}

// The dictionary padded with spaces to a line end, so that header and magic word are a multiple of
// 64 bytes (NumPy's NEP 1).
std::string NpyHeader(absl::string_view descr, absl::Span<const int64_t> dims) {
  std::string header = absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (",
                                    absl::StrJoin(dims, ", "), dims.size() == 1 ? ",), }" : "), }");
  header.append(63 - (header.size() + 10) % 64, ' ');  // elements start at a multiple of 64
  header.push_back('\n');
  const auto size = static_cast<uint16_t>(header.size());
  return absl::StrCat(absl::string_view("\x93NUMPY\x01\0", 8), Characters(&size, 2), header);
}

// numpy's name of a dtype: "<f4", "|b1", or "|V1" for types that it lacks.
std::string DescrOf(ElementType type) {
  const char kind = NumpyKind(type);
  const int width = ByteWidth(type);
  return absl::StrCat(width == 1 ? "|" : "<", kind == 0 ? "V" : std::string(1, kind), width);
}

// Run-time elements of a dynamic array, or the low bits of integers below a byte.
std::string ConvertElements(const Literal& literal, absl::Span<const int64_t> dims) {
  const int width = ByteWidth(literal.type());
  std::string bytes(Shape::Array(literal.type(), dims).ByteSize(), '\0');
  if (dims.empty()) {
    std::memcpy(bytes.data(), literal.data(), width);
  } else {
    ForEachCornerRow(dims, literal.shape().dims, width,
                     [&](int64_t to, int64_t from, int64_t size) {
                       std::memcpy(bytes.data() + to, literal.data() + from, size);
                     });
  }
  if (IsSubByte(literal.type())) {
    const int mask = (1 << BitWidth(literal.type())) - 1;
    for (char& c : bytes) c = static_cast<char>(c & mask);
  }
  return bytes;
}

// UTF-32 to UTF-8; false where `code` is no character.
bool AppendUtf8(uint32_t code, std::string& out) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  const int tail = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static constexpr int kLead[] = {0, 0xc0, 0xe0, 0xf0};
  out.push_back(static_cast<char>(kLead[tail] | code >> (6 * tail)));
  for (int i = tail - 1; i >= 0; --i)
    out.push_back(static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3f)));
  return true;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ToStrings(const NumpyArray& array) {
  if (array.kind != 'U' && array.kind != 'S')
    return InvalidArgument("an array of texts was expected, given ", Describe(array));
  std::vector<std::string> texts(array.element_count());
  for (size_t i = 0; i < texts.size(); ++i) {
    const absl::string_view item = array.bytes.substr(i * array.itemsize, array.itemsize);
    if (array.kind == 'S') {
      texts[i] = std::string(item.substr(0, item.find_last_not_of('\0') + 1));
      continue;
    }
    for (size_t at = 0; at < item.size(); at += 4) {
      uint32_t code;
      std::memcpy(&code, item.data() + at, 4);
      if (code == 0) break;
      if (!AppendUtf8(code, texts[i]))
        return InvalidArgument("npy text holds a code that is no character");
    }
  }
  return texts;
}

absl::StatusOr<Literal> ToLiteral(const NumpyArray& array, const Shape& shape,
                                  absl::string_view label) {
  if (!Fits(array, shape))
    return InvalidArgument(label, ": expected ", Text(shape), ", given ", Describe(array));
  if (shape.HasUnboundedDims()) return InvalidArgument(label, ": ", Text(shape), " has no bound");
  if (shape.HasDynamicDims() && SameDimsUpToBounds(array, shape)) {
    return WithinMemory(label, [&] {
      Literal literal(shape);
      FillDynamic(array, literal);
      Normalize(literal);
      return absl::StatusOr<Literal>(std::move(literal));
    });
  }
  return WithinMemory(label, [&] {
    Literal literal = Literal::Unset(shape);
    CopyDense(array, shape.type, literal.data());
    Normalize(literal);
    return absl::StatusOr<Literal>(std::move(literal));
  });
}

absl::StatusOr<Literal> ToLiteral(const NumpyArray& array) {
  const ElementType type = NativeTypeOf(array);
  if (type == ElementType::kInvalid)
    return InvalidArgument("no element type holds ", Describe(array));
  return ToLiteral(array, Shape::Array(type, array.shape).WithDefaultLayout(), "array");
}

void EncodeNpy(const Literal& literal, NpyPieces& out) {
  const Shape& shape = literal.shape();
  DimVector dims(shape.dims.size());
  for (int d = 0; d < shape.rank(); ++d) dims[d] = literal.dynamic_size(d);
  out.header = NpyHeader(DescrOf(shape.type), dims);
  const bool converts = IsSubByte(shape.type) || dims != shape.dims;
  if (converts) out.converted = ConvertElements(literal, dims);
  out.elements =
      converts ? absl::string_view(out.converted) : Characters(literal.data(), literal.byte_size());
}

absl::Status WriteNpy(const std::string& path, const Literal& literal) {
  if (!literal.shape().IsArray())
    return InvalidArgument("only arrays can be written as npy, not ", Text(literal.shape()));
  NpyPieces pieces;
  EncodeNpy(literal, pieces);
  const absl::string_view parts[] = {pieces.header, pieces.elements};
  return AtomicWriteFile(path, parts);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
