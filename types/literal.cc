// Literal storage, element access, layout conversion. An array's elements lie in row-major order
// whatever the layout of its shape, one byte each for types below a byte.
#include "types/literal.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "support/allocate.h"
#include "types/float_convert.h"
#include "types/load_internal.h"

namespace hlokit {
namespace {

// The low `width` bits of an integer as a signed number.
int64_t SignExtend(uint64_t bits, int width) {
  return static_cast<int64_t>(bits << (64 - width)) >> (64 - width);
}

// The low bytes of `bits`; constant sizes, so that each memcpy is one store.
void StoreBits(uint8_t* at, int bytes, uint64_t bits) {
  switch (bytes) {
    case 1:
      std::memcpy(at, &bits, 1);
      break;
    case 2:
      std::memcpy(at, &bits, 2);
      break;
    case 4:
      std::memcpy(at, &bits, 4);
      break;
    default:
      std::memcpy(at, &bits, 8);
      break;
  }
}

}  // namespace

Literal::Literal(Shape shape, bool zeroed) : shape_(std::move(shape)) {
  if (shape_.IsTuple()) {
    elements_.reserve(shape_.elements.size());
    for (const Shape& e : shape_.elements) elements_.push_back(Literal(e, zeroed));
    return;
  }
  if (!shape_.IsArray()) return;
  count_ = shape_.ElementCount();
  data_ = Allocate(count_ * ByteWidth(shape_.type), zeroed);
}

struct Literal::DeferredBytes {
  const uint8_t* bytes;
  std::shared_ptr<const void> owner;
  std::once_flag once;
  Block copy;
};

Literal Literal::Deferred(Shape shape, const uint8_t* bytes, std::shared_ptr<const void> owner) {
  Literal literal;
  literal.count_ = shape.ElementCount();
  literal.shape_ = std::move(shape);
  literal.deferred_ = std::make_shared<DeferredBytes>();
  literal.deferred_->bytes = bytes;
  literal.deferred_->owner = std::move(owner);
  return literal;
}

// Fails as containers do; see support/within_memory.h. Small blocks are aligned by hand within what
// malloc gives, which finds them at once: posix_memalign searches for a larger block and splits it
// twice.
Literal::Block Literal::Allocate(int64_t bytes, bool zeroed) {
  constexpr size_t kMaxSmall = size_t{64} << 10;
  const size_t padded = static_cast<size_t>(bytes) + kBlockAlignment;
  size_t before = 0;
  void* block;
  if (padded <= kMaxSmall - kBlockAlignment) {
    void* const made = std::malloc(padded + kBlockAlignment);
    if (made == nullptr) throw std::bad_alloc();
    before = -reinterpret_cast<uintptr_t>(made) % kBlockAlignment;
    block = static_cast<char*>(made) + before;
  } else {
    block = AllocateBlock(static_cast<size_t>(bytes));
    if (block == nullptr) throw std::bad_alloc();
  }
  if (zeroed) std::memset(block, 0, padded);
  return Block(static_cast<uint8_t*>(block), Free{before});
}

Literal::Block Literal::CopyOf(const uint8_t* bytes, int64_t size) {
  Block copy = Allocate(size, /*zeroed=*/false);
  std::memcpy(copy.get(), bytes, size);
  return copy;
}

const uint8_t* Literal::DeferredData() const {
  std::call_once(deferred_->once, [this] {
    deferred_->copy = CopyOf(deferred_->bytes, byte_size());
    deferred_->owner.reset();
  });
  return deferred_->copy.get();
}

void Literal::Settle() {
  data_ = CopyOf(DeferredData(), byte_size());
  deferred_.reset();
}

Literal Literal::Tuple(std::vector<Literal> elements) {
  Literal tuple;
  std::vector<Shape> shapes;
  shapes.reserve(elements.size());
  for (const Literal& e : elements) shapes.push_back(e.shape());
  tuple.shape_ = Shape::Tuple(std::move(shapes));
  tuple.elements_ = std::move(elements);
  return tuple;
}

Literal Literal::Token() {
  Literal token;
  token.shape_ = Shape::Token();
  return token;
}

// A deep copy.
Literal::Literal(const Literal& other)
    : shape_(other.shape_),
      count_(other.count_),
      deferred_(other.deferred_),
      elements_(other.elements_),
      dynamic_sizes_(other.dynamic_sizes_) {
  if (other.data_) data_ = CopyOf(other.data_.get(), byte_size());
}

Literal& Literal::operator=(const Literal& other) {
  if (this != &other) *this = Literal(other);
  return *this;
}

Literal& Literal::at(absl::Span<const int64_t> index) {
  Literal* at = this;
  for (int64_t i : index) at = &at->elements_[i];
  return *at;
}

const Literal& Literal::at(absl::Span<const int64_t> index) const {
  return const_cast<Literal*>(this)->at(index);
}

int64_t Literal::dynamic_size(int d) const {
  return dynamic_sizes_.empty() ? shape_.dims[d] : dynamic_sizes_[d];
}

void Literal::set_dynamic_size(int d, int64_t size) {
  if (dynamic_sizes_.empty()) dynamic_sizes_ = shape_.dims;
  dynamic_sizes_[d] = size;
}

int64_t Literal::GetInt(int64_t i) const {
  const int bytes = ByteWidth(shape_.type);
  const uint64_t bits = LoadBits(data() + i * bytes, bytes);
  if (IsSigned(shape_.type)) return SignExtend(bits, BitWidth(shape_.type));
  if (IsSubByte(shape_.type)) return bits & ((1u << BitWidth(shape_.type)) - 1);
  return static_cast<int64_t>(bits);
}

// Exact, but for 64-bit integers beyond 2^53.
double Literal::GetDouble(int64_t i) const {
  switch (shape_.type) {
    case ElementType::kF32:
      return as<float>()[i];
    case ElementType::kF64:
      return as<double>()[i];
    case ElementType::kU64:
      return static_cast<double>(as<uint64_t>()[i]);
    default:
      break;
  }
  if (!IsFloat(shape_.type)) return static_cast<double>(GetInt(i));
  const int bytes = ByteWidth(shape_.type);
  return FloatFromBits(shape_.type, LoadBits(data() + i * bytes, bytes));
}

std::complex<double> Literal::GetComplex(int64_t i) const {
  if (shape_.type == ElementType::kC64) return std::complex<double>(as<std::complex<float>>()[i]);
  if (shape_.type == ElementType::kC128) return as<std::complex<double>>()[i];
  return GetDouble(i);
}

void Literal::SetInt(int64_t i, int64_t value) {
  const int bytes = ByteWidth(shape_.type);
  if (IsPred(shape_.type)) value = value != 0;
  if (IsSubByte(shape_.type)) {
    const int width = BitWidth(shape_.type);
    value = IsSigned(shape_.type) ? SignExtend(value, width) : value & ((1 << width) - 1);
  }
  StoreBits(data() + i * bytes, bytes, static_cast<uint64_t>(value));
}

// Rounded to the element type.
void Literal::SetDouble(int64_t i, double value) {
  if (shape_.type == ElementType::kF32) {
    as<float>()[i] = static_cast<float>(value);
  } else if (shape_.type == ElementType::kF64) {
    as<double>()[i] = value;
  } else {
    const int bytes = ByteWidth(shape_.type);
    StoreBits(data() + i * bytes, bytes, FloatToBits(shape_.type, value));
  }
}

void Literal::SetComplex(int64_t i, std::complex<double> value) {
  if (shape_.type == ElementType::kC64) {
    as<std::complex<float>>()[i] = std::complex<float>(value);
  } else if (shape_.type == ElementType::kC128) {
    as<std::complex<double>>()[i] = value;
  } else if (IsFloat(shape_.type)) {
    SetDouble(i, value.real());
  } else {
    SetInt(i, static_cast<int64_t>(value.real()));
  }
}

// Horner's scheme over the dimensions: ((i0 d1 + i1) d2 + i2) ...
int64_t Literal::LinearIndex(absl::Span<const int64_t> index) const {
  int64_t linear = 0;
  for (size_t d = 0; d < index.size(); ++d) linear = linear * shape_.dims[d] + index[d];
  return linear;
}

bool Literal::operator==(const Literal& other) const {
  if (!SameIgnoringLayout(shape_, other.shape_)) return false;
  if (shape_.IsTuple()) return elements_ == other.elements_;
  return count_ == 0 || std::memcmp(data(), other.data(), byte_size()) == 0;
}

namespace {

// Copies elements of `Width` bytes between row-major order (`dense`) and the memory order of
// `shape`, one way or back.
template <int Width, bool kToLayout>
void CopyStrided(const Shape& shape, const uint8_t* from, uint8_t* to) {
  const DimVector strides = LayoutStrides(shape);
  const int64_t row = shape.dims.back();
  const int64_t step = strides.back() * Width;
  int64_t dense = 0;
  ForEachIndex(absl::MakeConstSpan(shape.dims).first(shape.dims.size() - 1),
               [&](absl::Span<const int64_t> index) {
                 int64_t at = 0;
                 for (size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d] * Width;
                 for (int64_t i = 0; i < row; ++i, at += step, dense += Width)
                   std::memcpy(to + (kToLayout ? at : dense), from + (kToLayout ? dense : at),
                               Width);
               });
}

template <bool kToLayout>
void CopyOrder(const Shape& shape, const uint8_t* from, uint8_t* to) {
  if (shape.ByteSize() == 0) return;  // the other dimensions may be as long as they like
  if (shape.IsRowMajor() || shape.rank() < 2) {
    std::copy_n(from, shape.ByteSize(), to);
    return;
  }
  switch (ByteWidth(shape.type)) {
    case 1:
      return CopyStrided<1, kToLayout>(shape, from, to);
    case 2:
      return CopyStrided<2, kToLayout>(shape, from, to);
    case 4:
      return CopyStrided<4, kToLayout>(shape, from, to);
    case 8:
      return CopyStrided<8, kToLayout>(shape, from, to);
    default:
      return CopyStrided<16, kToLayout>(shape, from, to);
  }
}

}  // namespace

void ToLayout(const Literal& literal, const Shape& shape, uint8_t* out) {
  CopyOrder</*kToLayout=*/true>(shape, literal.data(), out);
}

void FromLayout(const uint8_t* in, const Shape& shape, Literal& out) {
  CopyFromLayout(in, shape, out.data());
}

void CopyFromLayout(const uint8_t* in, const Shape& shape, uint8_t* out) {
  CopyOrder</*kToLayout=*/false>(shape, in, out);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
