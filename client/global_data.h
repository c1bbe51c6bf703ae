// Values that live with a client, between executions.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "backends/execution.h"
#include "types/literal.h"

namespace hlokit {

// A value on a device of a client, owned by who holds this: buffers of the device, which the next
// execution reads where they lie. Immutable: any number of executions, in any threads, may take it
// as argument. Parts of a tuple that was taken apart share its memory.
class GlobalData {
 public:
  // Takes a literal over without a copy.
  GlobalData(Literal value, int64_t device)
      : GlobalData(DeviceValue::TakeOver(std::move(value)), device) {}
  // Shares a value with others.
  GlobalData(std::shared_ptr<const Literal> value, int64_t device)
      : GlobalData(DeviceValue::Share(std::move(value)), device) {}
  // An array in the host's memory, in the layout of its shape, which this alone has: results of
  // small programs, of which many are dropped unread. They become a value when one is asked for.
  struct Array {
    Literal& literal;  // moved from
  };
  GlobalData(Array array, int64_t device)
      : shape_(array.literal.shape()),
        elements_(shape_.IsRowMajor() ? array.literal.data() : nullptr),
        array_(std::move(array.literal)),
        device_(device) {}
  GlobalData(DeviceValue value, int64_t device) : value_(std::move(value)), device_(device) {}
  // The result of an execution under way, on its k-th local device.
  GlobalData(Shape shape, PendingExecution execution, size_t k, int64_t device)
      : shape_(std::move(shape)),
        pending_(std::in_place, std::move(execution), k),
        device_(device) {}
  GlobalData(const GlobalData&) = delete;
  GlobalData& operator=(const GlobalData&) = delete;

  // With the layout that the value was given with.
  const Shape& shape() const { return pending_ || array_ ? shape_ : value_.shape(); }
  // The number of the device, from 0.
  int64_t device() const { return device_; }
  // When the value is there; its error is that of the execution that makes it.
  Event ready() const { return pending_ ? pending_->first.done() : Event(); }
  // The value, or where it will come from.
  PendingValue pending() const {
    return pending_ ? PendingValue(pending_->first, pending_->second) : PendingValue(value());
  }
  // The value; waits for it. Of no buffers where the execution failed.
  const DeviceValue& value() const;
  // The value in the host's memory, row-major: without a copy where it lies so, else a copy made
  // when it is first asked for. Waits for it; an empty literal where the execution failed.
  const Literal& literal() const;
  std::shared_ptr<const Literal> shared_literal() const;
  // The elements of an array in row-major order, valid as long as this; without a copy where they
  // lie so. Null for tuples.
  const void* elements() const;
  // The value to be written over, where this made it and nobody else holds it; else null.
  Literal* unshared_literal();

 private:
  Shape shape_;                     // of an array or of a value that is pending
  const void* elements_ = nullptr;  // of an array in row-major order
  const std::optional<std::pair<PendingExecution, size_t>> pending_;
  mutable std::optional<Literal> array_;  // moved from once there is a value
  mutable std::once_flag resolved_;       // of an array or a value that was pending
  mutable DeviceValue value_;
  mutable std::once_flag copied_;
  mutable std::shared_ptr<const Literal> copy_;
  int64_t device_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
