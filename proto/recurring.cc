// Splits messages of instructions and remembers what equal parts were read as.
#include "proto/recurring_internal.h"

#include <utility>

#include "proto/metadata_internal.h"
#include "proto/shapes_internal.h"
#include "proto/wire_values_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

using Fields = pb::HloInstructionProto;

// Longer messages, such as those of large constants, hardly come twice.
constexpr size_t kLongestKnown = 512;

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
  if (own.TakeRest()) {
    seen.NoteRest();
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

void RecurringParts::Join(absl::string_view bytes, InstructionPart& part) {
  if (part.joined == nullptr)
    part.joined = &joined_.emplace_back(part.content.data(), part.content.size());
  part.joined->append(bytes.data(), bytes.size());
  part.content = *part.joined;
  part.readable = part.content.data() + part.content.size();
}

bool RecurringParts::JoinNext(WireReader& reader, InstructionPart& part) {
  WireField field;
  if (!reader.Bytes(field)) return false;
  Join(field.content, part);
  return true;
}

// A number in a field of its own.
bool RecurringParts::JoinNumber(WireReader& reader, InstructionPart& part) {
  uint64_t number = 0;
  if (!reader.Varint(number)) return false;
  std::string packed;
  AppendVarint(packed, number);
  Join(packed, part);
  return true;
}

inline RecurringParts::Taken RecurringParts::TakeNext(WireReader& reader) {
  constexpr auto bytes = [](int number) { return WireTag(number, WireType::kBytes); };
  constexpr auto varint = [](int number) { return WireTag(number, WireType::kVarint); };
  const auto done = [](bool ok) { return ok ? Taken::kTaken : Taken::kBroken; };
  const auto number = [&](int64_t& value) {
    uint64_t read = 0;
    const bool ok = reader.Varint(read);
    value = static_cast<int64_t>(read);
    return done(ok);
  };
  const char* const start = reader.at();
  uint64_t tag = 0;
  if (!reader.Tag(tag)) return Taken::kBroken;
  WireField field;
  switch (tag) {
    case bytes(Fields::kNameFieldNumber):
      if (!reader.Bytes(field)) return Taken::kBroken;
      name_ = field.content;
      return Taken::kTaken;
    case bytes(Fields::kShapeFieldNumber):
      return done(TakePart(reader, shape_bytes_));
    case bytes(Fields::kMetadataFieldNumber):
      return done(TakePart(reader, metadata_bytes_));
    case varint(Fields::kIdFieldNumber):
      return number(links_.id);
    case varint(Fields::kParameterNumberFieldNumber):
      return number(links_.parameter_number);
    case varint(Fields::kTupleIndexFieldNumber):
      return number(links_.tuple_index);
    case bytes(Fields::kOperandIdsFieldNumber):
      return done(TakePart(reader, links_.operands));
    case varint(Fields::kOperandIdsFieldNumber):
      return done(JoinNumber(reader, links_.operands));
    case bytes(Fields::kControlPredecessorIdsFieldNumber):
      return done(TakePart(reader, links_.predecessors));
    case varint(Fields::kControlPredecessorIdsFieldNumber):
      return done(JoinNumber(reader, links_.predecessors));
    case bytes(Fields::kCalledComputationIdsFieldNumber):
      return done(TakePart(reader, links_.called));
    case varint(Fields::kCalledComputationIdsFieldNumber):
      return done(JoinNumber(reader, links_.called));
    default:
      return reader.After(tag, start, field) ? Taken::kOther : Taken::kBroken;
  }
}

// Most messages have them in one piece, which is not copied.
void RecurringParts::AppendOthers(absl::string_view fields) {
  if (others_.empty()) {
    others_ = fields;
    return;
  }
  if (others_.data() != others_buffer_.data())
    others_buffer_.assign(others_.data(), others_.size());
  others_buffer_.append(fields.data(), fields.size());
  others_ = others_buffer_;
}

bool RecurringParts::Split(absl::string_view instruction) {
  name_ = others_ = {};
  shape_bytes_ = metadata_bytes_ = {};
  links_ = {};
  WireReader reader(instruction);
  size_t kept = 0;  // up to here, bytes are in others_ or taken out
  while (!reader.AtEnd()) {
    const size_t start = reader.offset();
    const Taken taken = TakeNext(reader);
    if (taken == Taken::kBroken) return false;
    if (taken == Taken::kOther) continue;
    if (start > kept) AppendOthers(instruction.substr(kept, start - kept));
    kept = reader.offset();
  }
  if (instruction.size() > kept) AppendOthers(instruction.substr(kept));
  return IsAscii(name_) || IsUtf8(name_);
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
                             if (!shape.ok() || own.TakeRest()) return false;
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
