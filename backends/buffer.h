// Arrays on devices, and values made of them: what executions take and give.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/device.h"
#include "types/literal.h"

namespace hlokit {

// An array (or a token, without memory) on a device: a handle, whose copies share the memory.
struct Buffer {
  Shape shape;  // the elements lie in its layout, row-major where it has none
  std::shared_ptr<DeviceMemory> memory;
  DimVector dynamic_sizes;  // of a shape with dynamic dimensions; empty: all at their bounds
};

// A value on a device: an array or a token is one buffer, a tuple one for each of its leaves, depth
// first. Immutable; copies share the memory.
class DeviceValue {
 public:
  DeviceValue() = default;
  // Of buffers that some device's memory holds.
  DeviceValue(Shape shape, std::vector<Buffer> leaves)
      : shape_(std::move(shape)), leaves_(std::move(leaves)) {}
  // Takes over a literal's memory as memory of a host platform. `in_layout`: the elements lie in
  // the layouts of the literal's shapes, not row-major.
  static DeviceValue TakeOver(Literal value, bool in_layout = false);
  // Shares a literal's memory, which nobody will write.
  static DeviceValue Share(std::shared_ptr<const Literal> value);
  // Copies a literal to a device, row-major. Errors: ResourceExhausted.
  static absl::StatusOr<DeviceValue> CopyTo(Device& device, const Literal& value);

  const Shape& shape() const { return shape_; }
  absl::Span<const Buffer> leaves() const { return leaves_; }
  // Element k of a tuple, sharing its memory.
  DeviceValue Element(size_t k) const;

  // A copy in the host's memory, row-major. Errors: those of copying.
  absl::StatusOr<Literal> ToHost() const;
  // The value as a literal without a copy; null where its elements do not lie as a literal's do.
  // It holds the memory.
  std::shared_ptr<const Literal> host_literal() const;
  // The literal whose memory this is, to be written over; null where it shares it with others or
  // did not make it. Its elements lie in the layouts of the leaves.
  Literal* unshared_literal();

 private:
  // The next leaf, whose elements lie in `memory`, row-major unless `in_layout`.
  void AddLeaf(const Literal& leaf, bool in_layout, std::shared_ptr<DeviceMemory> memory);

  Shape shape_;
  std::vector<Buffer> leaves_;
  std::shared_ptr<Literal> literal_;  // of host platforms: whose memory the leaves are, or null
  bool row_major_ = true;             // literal_ as it stands is the value
  bool owned_ = false;                // literal_ was taken over
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
