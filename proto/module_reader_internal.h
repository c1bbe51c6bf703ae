// What the files that read modules from messages share.
#pragma once

#include <google/protobuf/arena.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "ir/sanitized_name.h"
#include "parser/normalize.h"
#include "proto/computation_parts_internal.h"
#include "proto/instruction_ids_internal.h"
#include "proto/instructions_internal.h"
#include "proto/metadata_internal.h"
#include "proto/modules_internal.h"
#include "proto/read_checks_internal.h"
#include "proto/recurring_internal.h"
#include "proto/shapes_internal.h"
#include "proto/unknown_fields_internal.h"
#include "proto/wire_internal.h"
#include "support/status.h"

namespace hlokit {

using InstructionMessage = pb::HloInstructionProto;
using ComputationMessage = pb::HloComputationProto;

// `field[3] (%name)`.
inline std::string PathOf(absl::string_view field, size_t index, absl::string_view name) {
  return absl::StrCat(field, "[", index, "] (%", name, ")");
}

// Reads one module from the bytes of its message; what this version does not know goes to
// `unknown`.
class ModuleReader {
 public:
  ModuleReader(absl::string_view bytes, UnknownFields& unknown)
      : bytes_(bytes), unknown_(unknown) {}
  absl::StatusOr<std::unique_ptr<Module>> Run();

 private:
  struct Body {
    int32_t id = 0;
    std::unique_ptr<Computation> computation;
    Computation* adopted = nullptr;
    InstructionIds by_id;
  };
  // An instruction before it has its place.
  struct Made {
    std::unique_ptr<Instruction> instruction;
    int32_t id = 0;
  };

  std::optional<EntryLayout> TakeEntryLayout(std::string& others);
  absl::Status ReadComputations(absl::Span<const absl::string_view> messages);
  absl::Status RestoreNames();
  absl::Status ReadComputation(absl::string_view bytes);
  absl::Status ReadBody(absl::string_view bytes, int64_t count, Body& body);
  absl::Status ReadOne(absl::string_view bytes, InstructionIds& by_id, Made& made);
  absl::Status ReadParts(const InstructionIds& by_id, Made& made);
  bool MakeKnown(Made& made);
  absl::Status ReadNew(Made& made);
  absl::StatusOr<std::unique_ptr<Instruction>> ReadOthers(
      const absl::StatusOr<Shared<Shape>>& shape, Shared<OpMetadata> metadata);
  absl::Status Finish(int32_t id, InstructionIds& by_id, Instruction& instruction);
  absl::Status FindOperands(const InstructionIds& by_id);
  void AppendOperands(Instruction& made);
  absl::Status Connect(const InstructionIds& by_id, Instruction& instruction);
  absl::Status SetCalled(Instruction& instruction);
  absl::Status SetEntry();
  absl::Status ReadSchedule();
  absl::Status KeepUnknownFields();
  absl::Status KeepInstructionFields();
  absl::Status KeepModuleFields();

  absl::Status ParseInstruction(absl::string_view bytes) {
    arena_.Reset();
    instruction_ = google::protobuf::Arena::CreateMessage<InstructionMessage>(&arena_);
    return Parse(bytes, *instruction_);
  }
  // Parses bytes into a message that is used again and again.
  template <typename M>
  absl::Status Parse(absl::string_view bytes, M& message) {
    return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ? absl::OkStatus()
                                                                                : Broken();
  }
  absl::Status Broken() {
    broken_ = true;
    return InvalidArgument("broken");
  }
  // Calls read(id) for each number while it returns an OK status.
  template <typename Fn>
  absl::Status ForEachId(const WireField& packed, Fn read) {
    WireReader reader(packed);
    for (uint64_t id = 0; !reader.AtEnd();) {
      if (!reader.Varint(id)) return Broken();
      RETURN_IF_ERROR(read(static_cast<int64_t>(id)));
    }
    return absl::OkStatus();
  }

  const absl::string_view bytes_;
  UnknownFields& unknown_;
  Seen seen_;
  bool broken_ = false;  // some bytes are no message
  bool header_has_unknown_ = false;
  pb::HloModuleProto header_;  // without computations
  pb::ProgramShapeProto program_shape_;
  char first_block_[size_t{16} << 10];  // of arena_
  google::protobuf::Arena arena_{first_block_, sizeof(first_block_)};
  InstructionMessage* instruction_ = nullptr;  // the one that is read, in arena_
  absl::string_view name_;                     // of the instruction that is read
  absl::string_view computation_name_;         // of the computation that is read
  std::string header_bytes_;                   // all but the computations; parts_ looks at it
  RecurringParts parts_;
  std::vector<Instruction*> operands_;
  std::unique_ptr<Module> module_;
  std::vector<Body> bodies_;
  absl::flat_hash_map<int32_t, size_t> by_id_;  // computations, as indices into bodies_
  absl::flat_hash_set<std::string> computation_names_;
  std::vector<std::pair<Instruction*, absl::string_view>> names_;
  // What has unknown fields, with its bytes.
  std::vector<std::pair<Instruction*, absl::string_view>> with_unknown_;
  std::vector<std::pair<Computation*, absl::string_view>> computations_with_unknown_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
