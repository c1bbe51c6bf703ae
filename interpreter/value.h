// Values in flight: literals and tuples shared by reference, so that passing them on costs nothing.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "types/literal.h"

namespace hlokit {

// The bytes of live values, counted as they come and go.
using MemoryMeter = std::shared_ptr<std::atomic<int64_t>>;

// An array (or token), or a tuple of values. Never changed while shared.
class Value {
 public:
  Value() = default;
  // Takes a literal over; the parts of a tuple become values of their own.
  Value(Literal literal, const MemoryMeter& meter);
  // A literal that somebody else keeps alive.
  static Value Borrow(const Literal& literal);
  static Value Share(std::shared_ptr<const Literal> literal);
  static Value Tuple(std::vector<Value> elements);

  bool is_tuple() const { return tuple_ != nullptr; }
  const std::vector<Value>& elements() const { return *tuple_; }
  const Literal& literal() const { return *literal_; }
  // The literal for writing, where nobody else holds it; else null.
  Literal* Exclusive() const;
  // A literal of the value, moved out of it where nobody else holds it.
  Literal Take() &&;

 private:
  std::shared_ptr<const Literal> literal_;
  std::shared_ptr<const std::vector<Value>> tuple_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
