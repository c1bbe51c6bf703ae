// Values on devices: made of literals, taken apart, brought back.
//
// On the host's platforms a buffer's memory is a literal's, taken over and given back without a
// copy where the elements lie as a literal's do; in all other cases one copy converts the layout.
#include "backends/buffer.h"

#include <atomic>
#include <utility>

#include "backends/host_memory_internal.h"
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

void DeviceValue::AddLeaf(const Literal& leaf, bool in_layout,
                          std::shared_ptr<DeviceMemory> memory) {
  Buffer& buffer = leaves_.emplace_back();
  buffer.shape = in_layout ? leaf.shape() : WithoutLayouts(leaf.shape());
  buffer.dynamic_sizes = DynamicSizesOf(leaf);
  buffer.memory = std::move(memory);
  row_major_ &= !leaf.shape().IsArray() || buffer.shape.IsRowMajor();
}

DeviceValue DeviceValue::TakeOver(Literal value, bool in_layout) {
  const auto block = std::make_shared<LiteralBlock>(std::move(value));
  DeviceValue made;
  made.shape_ = block->literal.shape();
  made.literal_ = std::shared_ptr<Literal>(block, &block->literal);
  made.owned_ = true;
  absl::InlinedVector<Literal*, 1> leaves;
  if (made.shape_.IsTuple()) {
    std::vector<Literal*> all;
    CollectLeaves(block->literal, all);
    leaves.assign(all.begin(), all.end());
  } else {
    leaves.push_back(&block->literal);
  }
  made.leaves_.reserve(leaves.size());
  block->arrays.reserve(leaves.size());
  for (Literal* leaf : leaves) {
    std::shared_ptr<DeviceMemory> memory;
    if (leaf->shape().IsArray())
      memory = std::shared_ptr<DeviceMemory>(
          block, &block->arrays.emplace_back(nullptr, leaf->data(), leaf->byte_size()));
    made.AddLeaf(*leaf, in_layout, std::move(memory));
  }
  return made;
}

DeviceValue DeviceValue::Share(std::shared_ptr<const Literal> value) {
  DeviceValue made;
  made.shape_ = value->shape();
  made.literal_ = std::const_pointer_cast<Literal>(std::move(value));
  std::vector<Literal*> leaves;
  CollectLeaves(*made.literal_, leaves);
  for (Literal* leaf : leaves)
    made.AddLeaf(*leaf, /*in_layout=*/false,
                 leaf->shape().IsArray()
                     ? std::make_shared<HostMemory>(made.literal_, leaf->data(), leaf->byte_size())
                     : nullptr);
  return made;
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
  for (const Buffer& leaf : leaves_) holders += leaf.memory != nullptr ? 1 : 0;
  if (literal_.use_count() != holders) return nullptr;
  // What holders in other threads read before they let go comes before what is written now.
  std::atomic_thread_fence(std::memory_order_acquire);
  return literal_.get();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
