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

inline RecurringParts::Taken RecurringParts::Take(const WireField& field) {
  const auto done = [](bool ok) { return ok ? Taken::kTaken : Taken::kUnusual; };
  const auto take = [&](absl::string_view& part) {
    if (field.type != WireType::kBytes || part.data() != nullptr) return false;
    part = field.content;
    return true;
  };
  const auto number = [&](int64_t& value, bool& has_value) {
    value = static_cast<int64_t>(field.varint);
    return field.type == WireType::kVarint && !std::exchange(has_value, true);
  };
  switch (field.number) {
    case Fields::kNameFieldNumber:
      return done(take(name_) && IsAscii(name_));
    case Fields::kShapeFieldNumber:
      return done(take(shape_bytes_));
    case Fields::kMetadataFieldNumber:
      return done(take(metadata_bytes_));
    case Fields::kIdFieldNumber:
      return done(number(links_.id, has_id_));
    case Fields::kParameterNumberFieldNumber:
      return done(number(links_.parameter_number, has_number_));
    case Fields::kTupleIndexFieldNumber:
      return done(number(links_.tuple_index, has_index_));
    case Fields::kOperandIdsFieldNumber:
      return done(AppendNumbers(field, links_.operands));
    case Fields::kControlPredecessorIdsFieldNumber:
      return done(AppendNumbers(field, links_.predecessors));
    case Fields::kCalledComputationIdsFieldNumber:
      return done(AppendNumbers(field, links_.called));
    default:
      return Taken::kOther;
  }
}

bool RecurringParts::Split(absl::string_view instruction) {
  name_ = shape_bytes_ = metadata_bytes_ = {};
  links_.id = links_.parameter_number = links_.tuple_index = 0;
  has_id_ = has_number_ = has_index_ = false;
  links_.operands.clear();
  links_.predecessors.clear();
  links_.called.clear();
  others_.clear();
  WireReader reader(instruction);
  WireField field;
  size_t kept = 0;  // up to here, bytes are in others_ or taken out
  while (!reader.AtEnd()) {
    const size_t start = reader.offset();
    if (!reader.Next(field)) return false;
    const Taken taken = Take(field);
    if (taken == Taken::kOther) continue;
    if (taken == Taken::kUnusual) return false;
    if (start > kept) others_.append(instruction.data() + kept, start - kept);
    kept = reader.offset();
  }
  others_.append(instruction.data() + kept, instruction.size() - kept);
  return true;
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
  if (metadata_bytes_.empty()) return Shared<OpMetadata>();
  return ReadOnce(
      metadata_bytes_, metadatas_, metadata_, seen,
      [&](OpMetadata& metadata) { return ReadFromWire(metadata_bytes_, texts_, metadata); },
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
