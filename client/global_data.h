// Values that live with a client, between executions.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "types/literal.h"

namespace hlokit {

// A value on a device of a client, owned by who holds this. Immutable: any number of executions, in
// any threads, may take it as argument. Elements of a decomposed tuple share its memory.
class GlobalData {
 public:
  // Takes a literal over without a copy.
  GlobalData(Literal value, int64_t device);
  // Shares a value with others.
  GlobalData(std::shared_ptr<const Literal> value, int64_t device);
  // An array that lies in somebody's memory, in the layout of `shape` (row-major where it has
  // none), and stays there unchanged as long as `elements` is held.
  GlobalData(Shape shape, std::shared_ptr<const void> elements, int64_t device);
  GlobalData(const GlobalData&) = delete;
  GlobalData& operator=(const GlobalData&) = delete;

  // With the layout that the value was given with.
  const Shape& shape() const { return shape_; }
  // The number of the device, from 0.
  int64_t device() const { return device_; }
  // The value itself: on these platforms devices share the host's memory. Arrays are row-major. Of
  // borrowed memory it is a copy, made when it is first asked for.
  const Literal& literal() const { return *shared_literal(); }
  const std::shared_ptr<const Literal>& shared_literal() const;
  // The elements of an array in row-major order, valid as long as this; without a copy where they
  // lie so. Null for tuples.
  const void* elements() const;
  // The value to be written over, where this made it and nobody else holds it; else null.
  Literal* unshared_literal();
  // The memory that was borrowed, in the layout of shape(); null where the value is hlokit's own.
  const void* borrowed() const { return borrowed_.get(); }

 private:
  Shape shape_;
  std::shared_ptr<Literal> own_;  // a value that was taken over; value_ shares it
  std::shared_ptr<const void> borrowed_;
  mutable std::once_flag copied_;  // of borrowed memory
  mutable std::shared_ptr<const Literal> value_;
  int64_t device_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
