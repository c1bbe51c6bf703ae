// What shape inference sees of an operation, whether it comes from text, the builder or a pass.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "ir/attribute_holder.h"
#include "ir/computation.h"
#include "support/diagnostics.h"

namespace hlokit {

class OpView {
 public:
  OpView(Opcode opcode, absl::Span<const Shape* const> operands, const AttributesBase* attributes,
         absl::Span<Computation* const> called, const Shape* declared)
      : opcode_(opcode),
        operands_(operands),
        attributes_(attributes),
        called_(called),
        declared_(declared) {}

  Opcode opcode() const { return opcode_; }
  const Shape& operand(int64_t i) const { return *operands_[i]; }
  int64_t operand_count() const { return static_cast<int64_t>(operands_.size()); }
  template <typename A>
  const A& attr() const {
    return static_cast<const AttributesOf<A>*>(attributes_)->value;
  }
  absl::Span<Computation* const> called() const { return called_; }
  // The shape that the text states; null where it states none. Ops whose shape is not a function of
  // their operands (reshape, broadcast, convert, iota, rng, custom-call ...) need it.
  const Shape* declared() const { return declared_; }

  // InvalidArgument "abs: ..." that carries `label`, which diagnostics print after it.
  template <typename... Parts>
  absl::Status Error(absl::string_view label, const Parts&... parts) const {
    return LabeledError(label, Text(opcode_), ": ", parts...);
  }

 private:
  Opcode opcode_;
  absl::Span<const Shape* const> operands_;
  const AttributesBase* attributes_;
  absl::Span<Computation* const> called_;
  const Shape* declared_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
