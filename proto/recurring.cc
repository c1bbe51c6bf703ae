// Splits the message of an instruction into what is its own (name, id, operands, called
// computations) and the rest (opcode and attributes), which usually recurs: the bytes of the rest
// are looked up in a table of instructions read before, and a hit is cloned instead of parsed.
// Shapes and metadata have tables of their own. On dumps of large models nearly all instructions
// hit; libprotobuf parses each distinct rest once.
#include "proto/recurring_internal.h"

#include <cstring>
#include <utility>

#include "ir/sanitized_name.h"
#include "proto/instructions_internal.h"
#include "proto/metadata_internal.h"
#include "proto/shapes_internal.h"
#include "proto/wire_values_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

using InstructionFields = pb::HloInstructionProto;

// What `read` makes of the message in `bytes`, `from_wire` of the bytes, or was made of equal bytes
// before. Messages with fields that the IR has no place for are read each time, so that each is
// noted.
template <typename Value, typename Message, typename FromWire, typename Fn>
absl::StatusOr<Shared<Value>> ReadOnce(absl::string_view bytes, TextTable<Shared<Value>>& known,
                                       Message& message, Seen& seen, FromWire from_wire, Fn read) {
  if (const Shared<Value>* found = known.Find(bytes)) return *found;
  if (Value plain; from_wire(plain)) {
    Shared<Value> shared(std::move(plain));
    if (!bytes.empty()) known.Add(bytes, shared);
    return shared;
  }
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return absl::DataLossError("");
  Seen own;
  Value value;
  RETURN_IF_ERROR(read(message, own, value));
  Shared<Value> shared(std::move(value));
  if (own.TakeUnknown()) {
    seen.NoteUnknown();
  } else if (!bytes.empty()) {
    known.Add(bytes, shared);
  }
  return shared;
}

// Calls `shape(bytes, is_result)` for each shape of a ProgramShapeProto. False where it returns
// false, and where there is anything but shapes and names.
template <typename Fn>
bool VisitProgramShape(absl::string_view program_shape, Fn shape) {
  using Parts = pb::ProgramShapeProto;
  WireReader reader(program_shape);
  WireField field;
  while (!reader.AtEnd()) {
    if (!reader.Next(field) || field.type != WireType::kBytes) return false;
    const bool is_result = field.number == Parts::kResultFieldNumber;
    const bool is_shape = is_result || field.number == Parts::kParametersFieldNumber;
    const bool ok =
        is_shape ? shape(field.content, is_result)
                 : field.number == Parts::kParameterNamesFieldNumber && IsAscii(field.content);
    if (!ok) return false;
  }
  return true;
}

}  // namespace

bool RecurringParts::Join(absl::string_view bytes, InstructionPart& part) {
  if (part.joined == nullptr)
    part.joined = &joined_.emplace_back(part.content.data(), part.content.size());
  part.joined->append(bytes.data(), bytes.size());
  part.content = *part.joined;
  part.readable = part.content.data() + part.content.size();
  return true;
}

// A number in a field of its own.
bool RecurringParts::JoinNumber(uint64_t number, InstructionPart& part) {
  std::string packed;
  AppendVarint(packed, number);
  return Join(packed, part);
}

bool RecurringParts::TakeNumber(uint64_t tag, uint64_t number, bool& taken) {
  constexpr auto varint = [](int number) { return WireTag(number, WireType::kVarint); };
  const auto set = [&](int64_t& value) {
    value = static_cast<int64_t>(number);
    return true;
  };
  switch (tag) {
    case varint(InstructionFields::kIdFieldNumber):
      return set(links_.id);
    case varint(InstructionFields::kParameterNumberFieldNumber):
      return set(links_.parameter_number);
    case varint(InstructionFields::kTupleIndexFieldNumber):
      return set(links_.tuple_index);
    case varint(InstructionFields::kChannelIdFieldNumber):
      return set(links_.channel_id);
    case varint(InstructionFields::kOperandIdsFieldNumber):
      return JoinNumber(number, links_.operands);
    case varint(InstructionFields::kControlPredecessorIdsFieldNumber):
      return JoinNumber(number, links_.predecessors);
    case varint(InstructionFields::kCalledComputationIdsFieldNumber):
      return JoinNumber(number, links_.called);
    default:
      taken = false;
      return true;
  }
}

inline bool RecurringParts::TakeField(uint64_t tag, const char* start, WireReader& reader,
                                      bool& taken) {
  constexpr auto bytes = [](int number) { return WireTag(number, WireType::kBytes); };
  taken = true;
  if (static_cast<WireType>(tag & 7) == WireType::kVarint) {
    uint64_t number = 0;
    return IsTag(tag) && reader.Varint(number) && TakeNumber(tag, number, taken);
  }
  switch (tag) {
    case bytes(InstructionFields::kNameFieldNumber):
      return reader.Content(name_);
    case bytes(InstructionFields::kShapeFieldNumber):
      return TakePart(reader, shape_bytes_);
    case bytes(InstructionFields::kMetadataFieldNumber):
      return TakePart(reader, metadata_bytes_);
    case bytes(InstructionFields::kOperandIdsFieldNumber):
      return TakePart(reader, links_.operands);
    case bytes(InstructionFields::kControlPredecessorIdsFieldNumber):
      return TakePart(reader, links_.predecessors);
    case bytes(InstructionFields::kCalledComputationIdsFieldNumber):
      return TakePart(reader, links_.called);
    default:
      break;
  }
  taken = false;
  WireField field;
  return reader.After(tag, start, field);
}

// Most messages have few of them, in two or three pieces.
inline void RecurringParts::AppendOthers(absl::string_view fields) {
  if (others_.empty()) {
    others_ = fields;
    return;
  }
  const size_t before = others_.size(), all = before + fields.size();
  if (all > sizeof(few_others_)) return AppendManyOthers(fields);
  if (others_.data() != few_others_) std::memcpy(few_others_, others_.data(), before);
  std::memcpy(few_others_ + before, fields.data(), fields.size());
  others_ = {few_others_, all};
}

void RecurringParts::AppendManyOthers(absl::string_view fields) {
  if (others_.data() != many_others_.data()) many_others_.assign(others_.data(), others_.size());
  many_others_.append(fields.data(), fields.size());
  others_ = many_others_;
}

bool RecurringParts::Split(absl::string_view instruction) {
  name_ = others_ = {};
  shape_bytes_ = metadata_bytes_ = {};
  links_ = {};
  WireReader reader(instruction);
  const char* kept = instruction.data();  // up to here, bytes are in others_ or taken out
  while (!reader.AtEnd()) {
    const char* const start = reader.at();
    uint64_t tag = 0;
    bool taken = false;
    if (!reader.Tag(tag) || !TakeField(tag, start, reader, taken)) return false;
    if (!taken) continue;
    if (start > kept) AppendOthers({kept, static_cast<size_t>(start - kept)});
    kept = reader.at();
  }
  if (reader.at() > kept) AppendOthers({kept, static_cast<size_t>(reader.at() - kept)});
  usual_name_ = IsUsualName(name_);
  return usual_name_ || IsUtf8(name_);
}

std::unique_ptr<Instruction> RecurringParts::MakeKnown(
    const Shared<Shape>& shape, absl::Span<Instruction* const> operands) const {
  const auto* found = others_.size() <= kLongestKnown ? known_.Find(others_) : nullptr;
  if (found == nullptr) return nullptr;
  const Instruction& known = **found;
  if (known.HasExtras()) return known.CloneWith(shape, operands);
  auto made = std::make_unique<Instruction>(known.opcode(), shape, operands);
  VisitAttributes(known.opcode(), made->mutable_attributes(), [&](auto& attributes) {
    using A = std::decay_t<decltype(attributes)>;
    if constexpr (!std::is_same_v<A, NoAttrs>) attributes = known.attr<A>();
  });
  return made;
}

void RecurringParts::Keep(const Instruction& read) {
  if (others_.size() <= kLongestKnown)
    known_.Add(known_texts_.emplace_back(others_), read.CloneWith(Shared<Shape>(), {}));
}

absl::StatusOr<Shared<Shape>> RecurringParts::ReadShape(absl::string_view bytes, Seen& seen) {
  return ReadOnce(
      bytes, shapes_, shape_, seen, [&](Shape& shape) { return ReadFromWire(bytes, shape); },
      [](const pb::ShapeProto& in, Seen& own, Shape& shape) { return Read(in, own, shape); });
}

absl::StatusOr<Shared<OpMetadata>> RecurringParts::ReadMetadata(Seen& seen) {
  if (metadata_bytes_.content.empty()) return Shared<OpMetadata>();
  const absl::string_view bytes = metadata_bytes_.content;
  return ReadOnce(
      bytes, metadatas_, metadata_, seen,
      [&](OpMetadata& metadata) { return ReadFromWire(bytes, texts_, metadata); },
      [](const pb::OpMetadata& in, Seen& own, OpMetadata& metadata) {
        Read(in, own, metadata);
        return absl::OkStatus();
      });
}

bool RecurringParts::ReadProgramShape(absl::string_view program_shape, EntryLayout& layout) {
  bool has_result = false;
  return VisitProgramShape(program_shape,
                           [&](absl::string_view bytes, bool is_result) {
                             if (is_result && std::exchange(has_result, true)) return false;
                             Seen own;
                             const absl::StatusOr<Shared<Shape>> shape = ReadShape(bytes, own);
                             if (!shape.ok() || own.TakeUnknown()) return false;
                             (is_result ? layout.result : layout.parameters.emplace_back()) =
                                 **shape;
                             return true;
                           }) &&
         has_result;
}

bool RecurringParts::Knows(absl::string_view program_shape) const {
  return VisitProgramShape(
      program_shape, [&](absl::string_view bytes, bool) { return shapes_.Find(bytes) != nullptr; });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
