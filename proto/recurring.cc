// Splits messages of instructions and remembers what equal parts were read as.
#include "proto/recurring_internal.h"

#include "proto/metadata_internal.h"
#include "proto/shapes_internal.h"
#include "proto/wire_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

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

bool RecurringParts::Split(absl::string_view instruction) {
  using Fields = pb::HloInstructionProto;
  shape_bytes_ = metadata_bytes_ = {};
  others_.clear();
  WireReader reader(instruction);
  WireField field;
  size_t kept = 0;  // up to here, bytes are in others_ or taken out
  while (!reader.AtEnd()) {
    const size_t start = reader.offset();
    if (!reader.Next(field)) return false;
    const bool is_shape = field.number == Fields::kShapeFieldNumber;
    if (!is_shape && field.number != Fields::kMetadataFieldNumber) continue;
    absl::string_view& part = is_shape ? shape_bytes_ : metadata_bytes_;
    if (field.type != WireType::kBytes || part.data() != nullptr) return false;
    part = field.content;
    others_.append(instruction.data() + kept, start - kept);
    kept = reader.offset();
  }
  others_.append(instruction.data() + kept, instruction.size() - kept);
  return true;
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

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
