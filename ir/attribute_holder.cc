// Default attributes by opcode, and the expansion of device groups.
#include "ir/attribute_holder.h"

namespace hlokit {

std::unique_ptr<AttributesBase> MakeAttributes(Opcode opcode) {
  switch (opcode) {
#define HLO_OP(enumerator, text, arity, attrs, calls, traits, infer, evaluate, ...) \
  case Opcode::k##enumerator:                                                       \
    if constexpr (std::is_same_v<attrs, NoAttrs>) {                                 \
      return nullptr;                                                               \
    } else {                                                                        \
      return std::make_unique<AttributesOf<attrs>>();                               \
    }
#include "ir/ops.def"
#undef HLO_OP
  }
  return nullptr;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
