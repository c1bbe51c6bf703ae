// The bytes of what instructions say besides their names, shapes, metadata and links, which recurs:
// libprotobuf makes them once for all that say the same.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/instruction.h"
#include "proto/messages_internal.h"
#include "proto/wire_internal.h"

namespace hlokit {

class KnownOthers {
 public:
  // Those fields in the order of their numbers: up to that of the channel, whose number most
  // collectives have for themselves; from there up to the id; and after it.
  struct Pieces {
    absl::string_view before_channel, before_id, after;
    int64_t channel_id = 0;  // 0: none
    size_t size() const { return before_channel.size() + before_id.size() + after.size(); }
  };
  // The views hold until the next call. Errors: as of WriteOthers (instructions_internal.h).
  absl::StatusOr<Pieces> Of(const Instruction& instruction);

 private:
  struct Entry {
    const Instruction* like = nullptr;  // null: free
    uint32_t hash = 0;
    uint32_t start = 0, channel = 0, id = 0, end = 0;  // in bytes_
  };

  Pieces Number(const Instruction& instruction);
  absl::StatusOr<Pieces> Write(const Instruction& instruction);
  const Entry* Find(const Instruction& instruction, uint32_t hash) const;
  void Add(const Entry& entry);
  void Grow();

  pb::HloInstructionProto message_;  // one for all, so that its parts stay allocated
  std::string written_;              // what Write() made last
  WireWriter number_;                // what Number() made last
  std::string bytes_;                // of all entries
  std::vector<Entry> entries_;
  size_t size_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
