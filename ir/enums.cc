// Spellings of the attribute enumerations.
#include "ir/enums.h"

namespace hlokit {

#define X(enumerator, text) text,
#define HLOKIT_DEFINE_ENUM(name, rows)                                                      \
  namespace {                                                                               \
  constexpr absl::string_view k##name##Texts[] = {rows};                                    \
  }                                                                                         \
  absl::string_view Text(name value) { return k##name##Texts[static_cast<size_t>(value)]; } \
  bool EnumFromText(absl::string_view text, name& value) {                                  \
    for (size_t i = 0; i < sizeof(k##name##Texts) / sizeof(text); ++i) {                    \
      if (k##name##Texts[i] != text) continue;                                              \
      value = static_cast<name>(i);                                                         \
      return true;                                                                          \
    }                                                                                       \
    return false;                                                                           \
  }
HLOKIT_ENUMS(HLOKIT_DEFINE_ENUM)
#undef HLOKIT_DEFINE_ENUM
#undef X

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
