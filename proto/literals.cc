// Literals between the IR and their messages.
//
// A LiteralProto has one list for each element type. The table below says which list holds which
// type, and whether its elements are protobuf numbers (s32 in s32s) or lie in a string of bytes
// (bf16 in bf16s). Types narrower than a byte have one element a byte; upper bits that other
// writers leave are replaced.
#include "proto/literals_internal.h"

#include <cstring>
#include <iterator>

#include "proto/encoding_internal.h"
#include "proto/shapes_internal.h"
#include "support/status.h"
#include "support/within_memory.h"

namespace hlokit {
namespace {

// Which list of a LiteralProto holds the elements of which type: LIST where protobuf has the
// element (or half of a complex one) as a number, BYTES where they stand in a string.
#define HLOKIT_LITERAL_LISTS(LIST, BYTES) \
  LIST(Pred, preds)                       \
  LIST(S32, s32s)                         \
  LIST(S64, s64s)                         \
  LIST(U32, u32s)                         \
  LIST(U64, u64s)                         \
  LIST(F32, f32s)                         \
  LIST(F64, f64s)                         \
  LIST(C64, c64s)                         \
  LIST(C128, c128s)                       \
  BYTES(S1, s1s)                          \
  BYTES(S2, s2s)                          \
  BYTES(S4, s4s)                          \
  BYTES(S8, s8s)                          \
  BYTES(S16, s16s)                        \
  BYTES(U1, u1s)                          \
  BYTES(U2, u2s)                          \
  BYTES(U4, u4s)                          \
  BYTES(U8, u8s)                          \
  BYTES(U16, u16s)                        \
  BYTES(F16, f16s)                        \
  BYTES(BF16, bf16s)                      \
  BYTES(F4E2M1FN, f4e2m1fns)              \
  BYTES(F8E3M4, f8e3m4s)                  \
  BYTES(F8E4M3, f8e4m3s)                  \
  BYTES(F8E4M3B11FNUZ, f8e4m3b11fnuzs)    \
  BYTES(F8E4M3FN, f8e4m3fns)              \
  BYTES(F8E4M3FNUZ, f8e4m3fnuzs)          \
  BYTES(F8E5M2, f8e5m2s)                  \
  BYTES(F8E5M2FNUZ, f8e5m2fnuzs)          \
  BYTES(F8E8M0FNU, f8e8m0fnus)

struct Bytes {
  const void* data = nullptr;
  int64_t size = 0;
};

// The elements as they lie in the message.
Bytes ElementsOf(const pb::LiteralProto& in, ElementType type) {
  switch (type) {
#define LIST(enumerator, field)    \
  case ElementType::k##enumerator: \
    return {in.field().data(),     \
            in.field##_size() * static_cast<int64_t>(sizeof(*in.field().data()))};
#define BYTES(enumerator, field)   \
  case ElementType::k##enumerator: \
    return {in.field().data(), static_cast<int64_t>(in.field().size())};
    HLOKIT_LITERAL_LISTS(LIST, BYTES)
#undef LIST
#undef BYTES
    default:
      return {};
  }
}

// Room for `size` bytes of elements in the message.
uint8_t* RoomFor(pb::LiteralProto* out, ElementType type, int64_t size) {
  switch (type) {
#define LIST(enumerator, field)                                                             \
  case ElementType::k##enumerator: {                                                        \
    auto* list = out->mutable_##field();                                                    \
    list->Resize(static_cast<int>(size / static_cast<int64_t>(sizeof(*list->data()))), {}); \
    return reinterpret_cast<uint8_t*>(list->mutable_data());                                \
  }
#define BYTES(enumerator, field)          \
  case ElementType::k##enumerator:        \
    out->mutable_##field()->resize(size); \
    return reinterpret_cast<uint8_t*>(out->mutable_##field()->data());
    HLOKIT_LITERAL_LISTS(LIST, BYTES)
#undef LIST
#undef BYTES
    default:
      return nullptr;
  }
}

// Literals hold types below a byte sign- or zero-extended; other writers may leave the upper bits.
void ExtendBits(Literal& literal) {
  const int bits = BitWidth(literal.type());
  const bool is_signed = IsSigned(literal.type());
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    uint8_t& byte = literal.data()[i];
    const auto shifted = static_cast<uint8_t>(byte << (8 - bits));
    byte = is_signed ? static_cast<uint8_t>(static_cast<int8_t>(shifted) >> (8 - bits))
                     : static_cast<uint8_t>(shifted >> (8 - bits));
  }
}

absl::Status ReadDynamicSizes(const pb::LiteralProto& in, Literal& literal) {
  if (in.dynamic_sizes_size() == 0) return absl::OkStatus();
  const Shape& shape = literal.shape();
  if (in.dynamic_sizes_size() != shape.rank())
    return InvalidArgument("dynamic_sizes has ", in.dynamic_sizes_size(), " entries for ",
                           shape.rank(), " dimensions");
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t size = in.dynamic_sizes(d);
    if (!shape.IsDynamic(d)) continue;
    if (size < 0 || size > shape.dims[d])
      return InvalidArgument("dynamic_sizes[", d, "] is ", size, ", not 0 to ", shape.dims[d]);
    literal.set_dynamic_size(d, size);
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> ReadArray(const pb::LiteralProto& in, Shape shape) {
  if (shape.HasUnboundedDims()) return InvalidArgument("a literal of ", Text(shape));
  const Bytes bytes = ElementsOf(in, shape.type);
  const int64_t width = ByteWidth(shape.type);
  if (bytes.size % width != 0 || bytes.size / width != shape.ElementCount())
    return InvalidArgument("a literal of ", Text(shape), " with ", bytes.size, " bytes of ",
                           Text(shape.type), "; expected ", shape.ElementCount(), " elements of ",
                           width, " bytes");
  ASSIGN_OR_RETURN(Literal literal, WithinMemory("a literal", [&] {
                     return absl::StatusOr<Literal>(Literal::Unset(std::move(shape)));
                   }));
  if (bytes.size == 0) return literal;
  CopyFromLayout(static_cast<const uint8_t*>(bytes.data), literal.shape(), literal.data());
  if (IsSubByte(literal.type())) ExtendBits(literal);
  RETURN_IF_ERROR(ReadDynamicSizes(in, literal));
  return literal;
}

absl::StatusOr<Literal> ReadTuple(const pb::LiteralProto& in, Seen& seen, Shape shape) {
  const int count = in.tuple_literals_size();
  if (count != static_cast<int>(shape.elements.size()))
    return InvalidArgument("a literal of ", Text(shape), " with ", count, " tuple_literals");
  std::vector<Literal> elements;
  elements.reserve(count);
  for (int i = 0; i < count; ++i) {
    absl::StatusOr<Literal> element = Read(in.tuple_literals(i), seen);
    const std::string where = absl::StrCat("tuple_literals[", i, "]");
    if (!element.ok()) return Annotate(element.status(), where);
    if (!SameIgnoringLayout(element->shape(), shape.elements[i]))
      return InvalidArgument(where, " is of ", Text(element->shape()), ", the tuple says ",
                             Text(shape.elements[i]));
    elements.push_back(*std::move(element));
  }
  Literal tuple = Literal::Tuple(std::move(elements));
  tuple.set_shape(std::move(shape));
  return tuple;
}

}  // namespace

// XLA reads no array without a layout; one that has none here lies row-major.
absl::Status Write(const Literal& literal, pb::LiteralProto* out) {
  const bool bare = literal.shape().IsArray() && !literal.shape().has_layout;
  const Shape shape = bare ? literal.shape().WithDefaultLayout() : literal.shape();
  Write(shape, out->mutable_shape());
  for (const Literal& element : literal.elements())
    RETURN_IF_ERROR(Write(element, out->add_tuple_literals()));
  if (!shape.IsArray()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckWrittenSize(literal.byte_size()));
  if (literal.byte_size() > 0)
    ToLayout(literal, shape, RoomFor(out, shape.type, literal.byte_size()));
  if (!shape.HasDynamicDims()) return absl::OkStatus();
  for (int d = 0; d < shape.rank(); ++d)
    out->add_dynamic_sizes(static_cast<int32_t>(literal.dynamic_size(d)));
  return absl::OkStatus();
}

absl::StatusOr<Literal> Read(const pb::LiteralProto& in, Seen& seen) {
  seen.Note(in);
  if (in.sparse_indices_size() > 0) seen.NoteUnknown();
  Shape shape;
  RETURN_IF_ERROR(Annotate(Read(in.shape(), seen, shape), "shape"));
  if (shape.IsTuple()) return ReadTuple(in, seen, std::move(shape));
  if (shape.IsArray()) return ReadArray(in, std::move(shape));
  if (shape.IsToken()) return Literal::Token();
  return InvalidArgument("a literal of ", Text(shape));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
