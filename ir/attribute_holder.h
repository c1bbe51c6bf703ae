// Storage of an instruction's attribute struct, and the visit that gives code its type back.
#pragma once

#include <memory>
#include <type_traits>

#include "ir/attributes.h"
#include "ir/opcode.h"
#include "support/status.h"

namespace hlokit {

class AttributesBase {
 public:
  virtual ~AttributesBase() = default;
  virtual std::unique_ptr<AttributesBase> Clone() const = 0;
  // Both hold the same struct (the caller knows: same opcode).
  virtual bool Equals(const AttributesBase& other) const = 0;
};

template <typename A>
class AttributesOf final : public AttributesBase {
 public:
  AttributesOf() = default;
  explicit AttributesOf(A v) : value(std::move(v)) {}
  std::unique_ptr<AttributesBase> Clone() const override {
    return std::make_unique<AttributesOf>(value);
  }
  bool Equals(const AttributesBase& other) const override {
    return value == static_cast<const AttributesOf&>(other).value;
  }
  A value;
};

// Default attributes of an opcode; null for NoAttrs.
std::unique_ptr<AttributesBase> MakeAttributes(Opcode opcode);

// Calls fn(A&) with the opcode's own attribute struct (NoAttrs included). `holder` is what
// MakeAttributes made.
template <typename Fn>
auto VisitAttributes(Opcode opcode, AttributesBase* holder, Fn&& fn) {
  static NoAttrs none;
  switch (opcode) {
#define HLO_OP(enumerator, text, arity, attrs, calls, traits, infer, evaluate, ...) \
  case Opcode::k##enumerator:                                                       \
    if constexpr (std::is_same_v<attrs, NoAttrs>) {                                 \
      return fn(none);                                                              \
    } else {                                                                        \
      return fn(static_cast<AttributesOf<attrs>*>(holder)->value);                  \
    }
#include "ir/ops.def"
#undef HLO_OP
  }
  __builtin_unreachable();
}

template <typename Fn>
auto VisitAttributes(Opcode opcode, const AttributesBase* holder, Fn&& fn) {
  return VisitAttributes(opcode, const_cast<AttributesBase*>(holder),
                         [&](const auto& value) { return fn(value); });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
