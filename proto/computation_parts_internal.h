// Messages of computations taken apart.
#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "proto/wire_internal.h"

namespace hlokit {

struct ComputationParts {
  absl::string_view name, execution_thread;
  int64_t id = 0, root_id = 0;
  std::vector<absl::string_view> program_shapes;
  int64_t instruction_count = 0;
  bool has_others = false;  // fields that the IR has no place for
};

// What the message says beside its instructions, which are counted. The views are of `bytes`. False
// where they are no message.
bool ReadParts(absl::string_view bytes, ComputationParts& parts);

// Calls read(index, bytes) for the message of each instruction while it returns true.
template <typename Fn>
void ForEachInstruction(absl::string_view computation, Fn read) {
  constexpr int kInstructions = 2;
  WireReader reader(computation);
  WireField field;
  for (size_t index = 0; !reader.AtEnd() && reader.Next(field);)
    if (field.number == kInstructions && field.type == WireType::kBytes &&
        !read(index++, field.content))
      return;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
