// The elements of tensors as MLIR stores them in bytes.
//
// Little-endian, one element after the other. Three forms of the same tensor are possible and told
// apart by the number of bytes alone:
//   count * width bytes            every element
//   count / 8 bytes, rounded up    i1 in bits, the lowest bit first
//   width bytes, count not 1       a splat: one element stands for all
// A splat of i1 is a byte of all bits or none; a byte of other bits is eight elements. Elements
// narrower than a byte (i4, i2) take a byte each, whose upper bits are not specified: they are
// replaced by the sign, or by zeros.
#include "stablehlo/ir/dense.h"

#include <cstring>

#include "support/status.h"

namespace hlokit {
namespace {

// i1: the lowest bit is the first element; a splat has all bits set or none.
void UnpackBits(absl::string_view bytes, Literal& literal) {
  for (int64_t i = 0; i < literal.element_count(); ++i)
    literal.data()[i] = (static_cast<uint8_t>(bytes[i / 8]) >> (i % 8)) & 1;
}

// Bits above the element's width are the sign, or nothing.
void UnpackNarrow(absl::string_view bytes, Literal& literal) {
  const int spare = 8 - BitWidth(literal.type());
  const bool is_signed = IsSigned(literal.type());
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    const uint8_t high = static_cast<uint8_t>(static_cast<uint8_t>(bytes[i]) << spare);
    literal.data()[i] = is_signed ? static_cast<uint8_t>(static_cast<int8_t>(high) >> spare)
                                  : static_cast<uint8_t>(high >> spare);
  }
}

void Unpack(absl::string_view bytes, Literal& literal) {
  if (IsPred(literal.type())) {
    for (int64_t i = 0; i < literal.element_count(); ++i) literal.data()[i] = bytes[i] != 0;
  } else if (IsSubByte(literal.type())) {
    UnpackNarrow(bytes, literal);
  } else if (!bytes.empty()) {
    std::memcpy(literal.data(), bytes.data(), bytes.size());
  }
}

// The same of bytes.
bool AllEqual(absl::string_view bytes, int64_t width) {
  const size_t rest = bytes.size() - std::min<size_t>(bytes.size(), width);
  return !bytes.empty() && std::memcmp(bytes.data(), bytes.data() + width, rest) == 0;
}

}  // namespace

bool AllEqual(const Literal& literal) {
  const int64_t width = ByteWidth(literal.type());
  return literal.element_count() > 0 &&
         std::memcmp(literal.data(), literal.data() + width, literal.byte_size() - width) == 0;
}

SharedLiteral OneOfEqual(SharedLiteral literal) {
  if (literal->element_count() < 2 || !AllEqual(*literal)) return literal;
  Literal one = Literal::Unset(Shape::Scalar(literal->type()));
  std::memcpy(one.data(), literal->data(), one.byte_size());
  return std::make_shared<const Literal>(std::move(one));
}

absl::StatusOr<SharedLiteral> DenseFromBytes(absl::string_view bytes, const Shape& shape,
                                             bool splat_allowed,
                                             const std::shared_ptr<const void>& owner) {
  constexpr int64_t kDeferredSize = 4096;
  const int64_t count = shape.ElementCount();
  const int64_t size = static_cast<int64_t>(bytes.size());
  const int64_t width = ByteWidth(shape.type);
  const bool whole = count <= size && size == count * width;
  const bool bits = IsPred(shape.type) && size == count / 8 + (count % 8 != 0);
  const bool splat = splat_allowed && size == width && count != 1;
  if (!whole && !bits && !splat)
    return InvalidArgument("expected the bytes of ", count, " elements of ", Text(shape.type),
                           ", found ", size);
  const bool alike = splat_allowed && whole && count > 1 && AllEqual(bytes, width);
  const bool one =
      alike || (splat && !(whole || (bits && count > 1 && bytes[0] != '\xff' && bytes[0] != '\0')));
  if (owner != nullptr && whole && !alike && size >= kDeferredSize && !IsPred(shape.type) &&
      !IsSubByte(shape.type))
    return std::make_shared<Literal>(Literal::Deferred(
        shape.WithDefaultLayout(), reinterpret_cast<const uint8_t*>(bytes.data()), owner));
  auto literal = std::make_shared<Literal>(
      Literal::Unset(one ? Shape::Scalar(shape.type) : shape.WithDefaultLayout()));
  if (bits && !one && !whole) {
    UnpackBits(bytes, *literal);
  } else {
    Unpack(alike ? bytes.substr(0, width) : bytes, *literal);
  }
  return SharedLiteral(std::move(literal));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
