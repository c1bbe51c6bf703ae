// Values that live with a client, between executions.
#pragma once

#include <memory>
#include <utility>

#include "types/literal.h"

namespace hlokit {

// A value on a device of a client, owned by who holds this. Immutable: any number of executions, in
// any threads, may take it as argument. Parts of a tuple that was taken apart share its memory.
class GlobalData {
 public:
  // Takes a literal over without a copy.
  GlobalData(Literal value, int64_t device)
      : value_(std::make_shared<const Literal>(std::move(value))), device_(device) {}
  // Shares a value with others.
  GlobalData(std::shared_ptr<const Literal> value, int64_t device)
      : value_(std::move(value)), device_(device) {}

  const Shape& shape() const { return value_->shape(); }
  int64_t device() const { return device_; }
  // The value itself: on these platforms devices share the host's memory. Arrays are row-major.
  const Literal& literal() const { return *value_; }
  const std::shared_ptr<const Literal>& shared_literal() const { return value_; }

 private:
  std::shared_ptr<const Literal> value_;
  int64_t device_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
