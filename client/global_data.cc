// Values of a client's own, and in memory that was lent to it.
#include "client/global_data.h"

#include <atomic>

namespace hlokit {

GlobalData::GlobalData(Literal value, int64_t device)
    : shape_(value.shape()),
      own_(std::make_shared<Literal>(std::move(value))),
      value_(own_),
      device_(device) {}

GlobalData::GlobalData(std::shared_ptr<const Literal> value, int64_t device)
    : shape_(value->shape()), value_(std::move(value)), device_(device) {}

GlobalData::GlobalData(Shape shape, std::shared_ptr<const void> elements, int64_t device)
    : shape_(std::move(shape)), borrowed_(std::move(elements)), device_(device) {}

const std::shared_ptr<const Literal>& GlobalData::shared_literal() const {
  if (borrowed_ == nullptr) return value_;
  std::call_once(copied_, [this] {
    Literal copy = Literal::Unset(shape_);
    if (copy.byte_size() > 0)
      FromLayout(static_cast<const uint8_t*>(borrowed_.get()), shape_, copy);
    value_ = std::make_shared<Literal>(std::move(copy));
  });
  return value_;
}

Literal* GlobalData::unshared_literal() {
  if (own_ == nullptr || own_.use_count() != 2) return nullptr;
  // What holders in other threads read before they let go comes before what is written now.
  std::atomic_thread_fence(std::memory_order_acquire);
  return own_.get();
}

const void* GlobalData::elements() const {
  if (!shape_.IsArray()) return nullptr;
  if (borrowed_ != nullptr && shape_.IsRowMajor()) return borrowed_.get();
  return literal().data();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
