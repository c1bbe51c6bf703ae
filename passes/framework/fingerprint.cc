// Hashes of text and of literals.
#include "passes/framework/fingerprint.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "ir/attribute_holder.h"
#include "printer/whole_text.h"

namespace hlokit {
namespace {

SharedLiteral LiteralOf(const Instruction& i) {
  if (i.IsConstant()) return i.attr<ConstantAttrs>().literal;
  if (i.opcode() == Opcode::kCustomCall) return i.attr<CustomCallAttrs>().literal;
  return nullptr;
}

bool Equal(const SharedLiteral& a, const SharedLiteral& b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

// Float attributes other than 0: the text rounds them to six digits.
std::vector<double> FloatAttributes(const Instruction& i) {
  return VisitAttributes(i.opcode(), i.attributes(), [](const auto& attributes) {
    std::vector<double> numbers;
    const auto add = [&](double number) {
      if (number != 0) numbers.push_back(number);
    };
    ForEachField<std::decay_t<decltype(attributes)>>([&](const auto& field) {
      const auto& value = attributes.*field.member;
      using Value = std::decay_t<decltype(value)>;
      if constexpr (std::is_same_v<Value, double>) add(value);
      if constexpr (std::is_same_v<Value, ResultAccuracy>) {
        add(value.atol);
        add(value.rtol);
      }
    });
    return numbers;
  });
}

}  // namespace

Fingerprint::Fingerprint(const Module& module) {
  PrintOptions options = WholeOptions(module);
  options.large_constants = false;
  text_ = absl::HashOf(Print(module, options));
  absl::flat_hash_set<const void*> kept;
  for (const Computation* c : module.Computations())
    c->ForEach([&](const Instruction* i) {
      kept.insert(&i->shape());
      if (const std::vector<double> numbers = FloatAttributes(*i); !numbers.empty())
        text_ += absl::HashOf(i->name(), numbers);  // in no order, like the literals
      SharedLiteral literal = LiteralOf(*i);
      if (literal == nullptr) return;
      kept.insert(literal.get());
      if (!literal->shape().IsScalar()) literals_.emplace_back(i->name(), std::move(literal));
    });
  kept_ = kept.size();
  std::sort(literals_.begin(), literals_.end());
}

bool Fingerprint::SameText(const Fingerprint& other) const {
  return text_ == other.text_ &&
         std::equal(literals_.begin(), literals_.end(), other.literals_.begin(),
                    other.literals_.end(), [](const auto& a, const auto& b) {
                      return a.first == b.first && Equal(a.second, b.second);
                    });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
