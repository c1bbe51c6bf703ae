// Splits messages of instructions and remembers what equal parts were read as.
#include "proto/recurring_internal.h"

#include <utility>

#include "proto/metadata_internal.h"
#include "proto/shapes_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

using Fields = pb::HloInstructionProto;

// Longer messages, such as those of large constants, hardly come twice.
constexpr size_t kLongestKnown = 512;

bool IsAscii(absl::string_view text) {
  unsigned char all = 0;
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return all < 0x80;
}

// Fields that RecurringParts leaves together.
bool IsOther(int number) {
  switch (number) {
    case Fields::kNameFieldNumber:
    case Fields::kShapeFieldNumber:
    case Fields::kMetadataFieldNumber:
    case Fields::kIdFieldNumber:
    case Fields::kOperandIdsFieldNumber:
    case Fields::kControlPredecessorIdsFieldNumber:
    case Fields::kCalledComputationIdsFieldNumber:
      return false;
    default:
      return true;
  }
}

// What `read` makes of the message in `bytes`, or made of equal bytes before. Messages with fields
// that the IR has no place for are read each time, so that each is noted.
template <typename Value, typename Message, typename Fn>
absl::StatusOr<Shared<Value>> ReadOnce(absl::string_view bytes, TextTable<Shared<Value>>& known,
                                       Message& message, Seen& seen, Fn read) {
  if (const Shared<Value>* found = known.Find(bytes)) return *found;
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

}  // namespace

bool RecurringParts::Take(const WireField& field) {
  const bool is_bytes = field.type == WireType::kBytes;
  auto take = [&](absl::string_view& part) {
    if (!is_bytes || part.data() != nullptr) return false;
    part = field.content;
    return true;
  };
  switch (field.number) {
    case Fields::kNameFieldNumber:
      return take(name_) && IsAscii(name_);
    case Fields::kShapeFieldNumber:
      return take(shape_bytes_);
    case Fields::kMetadataFieldNumber:
      return take(metadata_bytes_);
    case Fields::kIdFieldNumber:
      links_.id = static_cast<int64_t>(field.varint);
      return field.type == WireType::kVarint && !std::exchange(has_id_, true);
    case Fields::kOperandIdsFieldNumber:
      return AppendNumbers(field, links_.operands);
    case Fields::kControlPredecessorIdsFieldNumber:
      return AppendNumbers(field, links_.predecessors);
    default:
      return AppendNumbers(field, links_.called);
  }
}

bool RecurringParts::Split(absl::string_view instruction) {
  name_ = shape_bytes_ = metadata_bytes_ = {};
  links_.id = 0;
  has_id_ = false;
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
    if (IsOther(field.number)) continue;
    if (!Take(field)) return false;
    others_.append(instruction.data() + kept, start - kept);
    kept = reader.offset();
  }
  others_.append(instruction.data() + kept, instruction.size() - kept);
  return true;
}

std::unique_ptr<Instruction> RecurringParts::MakeKnown(const Shared<Shape>& shape) const {
  const auto* found = others_.size() <= kLongestKnown ? known_.Find(others_) : nullptr;
  if (found == nullptr) return nullptr;
  const Instruction& known = **found;
  if (known.HasExtras()) return known.CloneWith(shape, {});
  auto made =
      std::make_unique<Instruction>(known.opcode(), shape, absl::Span<Instruction* const>());
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

absl::StatusOr<Shared<Shape>> RecurringParts::ReadShape(Seen& seen) {
  return ReadOnce(
      shape_bytes_, shapes_, shape_, seen,
      [](const pb::ShapeProto& in, Seen& own, Shape& shape) { return Read(in, own, shape); });
}

absl::StatusOr<Shared<OpMetadata>> RecurringParts::ReadMetadata(Seen& seen) {
  if (metadata_bytes_.empty()) return Shared<OpMetadata>();
  return ReadOnce(metadata_bytes_, metadatas_, metadata_, seen,
                  [](const pb::OpMetadata& in, Seen& own, OpMetadata& metadata) {
                    Read(in, own, metadata);
                    return absl::OkStatus();
                  });
}

bool RecurringParts::Knows(absl::string_view program_shape) const {
  using Parts = pb::ProgramShapeProto;
  WireReader reader(program_shape);
  WireField field;
  while (!reader.AtEnd()) {
    if (!reader.Next(field) || field.type != WireType::kBytes) return false;
    const bool is_shape =
        field.number == Parts::kParametersFieldNumber || field.number == Parts::kResultFieldNumber;
    const bool known =
        is_shape ? shapes_.Find(field.content) != nullptr
                 : field.number == Parts::kParameterNamesFieldNumber && IsAscii(field.content);
    if (!known) return false;
  }
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
