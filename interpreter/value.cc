// Values of the interpreter: shared pointers to immutable literals, and tuples of values. Copying a
// value copies a pointer. A literal may be changed in place only by its single owner (Exclusive);
// memory is counted when a literal is made and when the last owner drops it.
#include "interpreter/value.h"

namespace hlokit {

Value::Value(Literal literal, const MemoryMeter& meter) {
  if (literal.shape().IsTuple()) {
    std::vector<Value> parts;
    for (Literal& part : literal.elements()) parts.emplace_back(std::move(part), meter);
    *this = Tuple(std::move(parts));
    return;
  }
  const int64_t bytes = literal.byte_size();
  meter->fetch_add(bytes, std::memory_order_relaxed);
  literal_ = std::shared_ptr<const Literal>(new Literal(std::move(literal)),
                                            [meter, bytes](const Literal* gone) {
                                              delete gone;
                                              meter->fetch_sub(bytes, std::memory_order_relaxed);
                                            });
}

Value Value::Borrow(const Literal& literal) {
  if (!literal.shape().IsTuple())
    return Share(std::shared_ptr<const Literal>(std::shared_ptr<void>(), &literal));
  std::vector<Value> parts;
  for (const Literal& part : literal.elements()) parts.push_back(Borrow(part));
  return Tuple(std::move(parts));
}

Value Value::Share(std::shared_ptr<const Literal> literal) {
  Value value;
  value.literal_ = std::move(literal);
  return value;
}

Value Value::Tuple(std::vector<Value> elements) {
  Value value;
  value.tuple_ = std::make_shared<const std::vector<Value>>(std::move(elements));
  return value;
}

Literal* Value::Exclusive() const {
  // A borrowed literal has no owner, so its count is 0.
  return literal_.use_count() == 1 ? const_cast<Literal*>(literal_.get()) : nullptr;
}

Literal Value::Take() && {
  if (is_tuple()) {
    std::vector<Value> parts =
        tuple_.use_count() == 1 ? std::move(const_cast<std::vector<Value>&>(*tuple_)) : *tuple_;
    tuple_ = nullptr;
    std::vector<Literal> literals;
    for (Value& part : parts) literals.push_back(std::move(part).Take());
    return Literal::Tuple(std::move(literals));
  }
  if (Literal* own = Exclusive()) return std::move(*own);
  return *literal_;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
