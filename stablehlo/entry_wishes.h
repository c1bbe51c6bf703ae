// What programs ask of memory, for which HLO has no words.
#pragma once

#include <string>
#include <vector>

namespace hlokit {

// What a program asks of the memory of an argument or result, in JAX's words (mhlo.layout_mode,
// mhlo.memory_kind): "auto" or a layout as "{0,1}"; "pinned_host". Empty: nothing.
struct MemoryWish {
  std::string layout, kind;
};
struct EntryWishes {
  std::vector<MemoryWish> arguments, results;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
