// Values on devices: made of literals, taken apart, brought back.
#include "backends/buffer.h"

#include <atomic>
#include <utility>

#include "support/status.h"
#include "types/literal_leaves.h"

namespace hlokit {
namespace {

DimVector DynamicSizesOf(const Literal& array) {
  DimVector sizes;
  if (!array.shape().IsArray() || !array.shape().HasDynamicDims()) return sizes;
  for (int d = 0; d < array.shape().rank(); ++d) sizes.push_back(array.dynamic_size(d));
  return sizes;
}

Shape WithoutLayouts(const Shape& shape) { return shape.IsArray() ? shape.WithoutLayout() : shape; }

// Reads one buffer into an array of its shape.
absl::Status ReadInto(const Buffer& buffer, Literal& array) {
  if (!buffer.shape.IsArray() || array.byte_size() == 0) return absl::OkStatus();
  if (buffer.shape.IsRowMajor()) {
    RETURN_IF_ERROR(buffer.memory->CopyOut(0, array.byte_size(), array.data()));
  } else {
    Literal raw = Literal::Unset(buffer.shape);
    RETURN_IF_ERROR(buffer.memory->CopyOut(0, raw.byte_size(), raw.data()));
    FromLayout(raw.data(), buffer.shape, array);
  }
  return absl::OkStatus();
}

}  // namespace

DeviceValue DeviceValue::Of(std::shared_ptr<Literal> memory, bool in_layout) {
  DeviceValue value;
  value.shape_ = memory->shape();
  std::vector<Literal*> leaves;
  CollectLeaves(*memory, leaves);
  value.leaves_.reserve(leaves.size());
  HostDevice host;
  for (Literal* leaf : leaves) {
    Buffer& buffer = value.leaves_.emplace_back();
    buffer.shape = in_layout ? leaf->shape() : WithoutLayouts(leaf->shape());
    value.row_major_ &= !leaf->shape().IsArray() || buffer.shape.IsRowMajor();
    if (leaf->shape().IsArray())
      buffer.memory = *host.Borrow(memory, leaf->data(), leaf->byte_size());
    buffer.dynamic_sizes = DynamicSizesOf(*leaf);
  }
  value.literal_ = std::move(memory);
  return value;
}

DeviceValue DeviceValue::TakeOver(Literal value, bool in_layout) {
  DeviceValue made = Of(std::make_shared<Literal>(std::move(value)), in_layout);
  made.owned_ = true;
  return made;
}

DeviceValue DeviceValue::Share(std::shared_ptr<const Literal> value) {
  return Of(std::const_pointer_cast<Literal>(std::move(value)), /*in_layout=*/false);
}

absl::StatusOr<DeviceValue> DeviceValue::CopyTo(Device& device, const Literal& value) {
  std::vector<const Literal*> leaves;
  CollectLeaves(value, leaves);
  std::vector<Buffer> buffers;
  for (const Literal* leaf : leaves) {
    Buffer& buffer = buffers.emplace_back();
    buffer.shape = WithoutLayouts(leaf->shape());
    buffer.dynamic_sizes = DynamicSizesOf(*leaf);
    if (!leaf->shape().IsArray()) continue;
    ASSIGN_OR_RETURN(buffer.memory, device.Allocate(leaf->byte_size()));
    RETURN_IF_ERROR(buffer.memory->CopyIn(leaf->data(), 0, leaf->byte_size()));
  }
  return DeviceValue(value.shape(), std::move(buffers));
}

DeviceValue DeviceValue::Element(size_t k) const {
  size_t first = 0;
  for (size_t before = 0; before < k; ++before) first += Leaves(shape_.elements[before]).size();
  const size_t count = Leaves(shape_.elements[k]).size();
  DeviceValue element(shape_.elements[k],
                      {leaves_.begin() + first, leaves_.begin() + first + count});
  if (literal_ != nullptr)
    element.literal_ = std::shared_ptr<Literal>(literal_, &literal_->elements()[k]);
  element.row_major_ = row_major_;
  return element;
}

absl::StatusOr<Literal> DeviceValue::ToHost() const {
  if (const auto literal = host_literal(); literal != nullptr) return Literal(*literal);
  if (leaves_.empty() && !shape_.IsTuple()) return FailedPrecondition("there is no value");
  Literal copy = Literal::Unset(shape_);
  std::vector<Literal*> leaves;
  CollectLeaves(copy, leaves);
  for (size_t k = 0; k < leaves.size(); ++k) {
    RETURN_IF_ERROR(ReadInto(leaves_[k], *leaves[k]));
    for (size_t d = 0; d < leaves_[k].dynamic_sizes.size(); ++d)
      leaves[k]->set_dynamic_size(static_cast<int>(d), leaves_[k].dynamic_sizes[d]);
  }
  return copy;
}

std::shared_ptr<const Literal> DeviceValue::host_literal() const {
  return row_major_ ? literal_ : nullptr;
}

Literal* DeviceValue::unshared_literal() {
  if (!owned_ || literal_ == nullptr) return nullptr;
  long holders = 1;  // this; each array's memory holds it once more
  for (const Buffer& leaf : leaves_) {
    if (leaf.memory == nullptr) continue;
    if (leaf.memory.use_count() != 1) return nullptr;
    ++holders;
  }
  if (literal_.use_count() != holders) return nullptr;
  // What holders in other threads read before they let go comes before what is written now.
  std::atomic_thread_fence(std::memory_order_acquire);
  return literal_.get();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
