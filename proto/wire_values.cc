// Shapes and metadata between the IR and their bytes, without messages in between: they are the
// parts of an instruction that occur most often. What is unusual (layouts with tiles, unknown
// fields, deep tuples) is left to libprotobuf: the readers return false.
#include "proto/wire_values_internal.h"

#include <cstring>
#include <utility>

#include "proto/messages_internal.h"
#include "proto/shapes_internal.h"
#include "proto/wire_internal.h"

namespace hlokit {
namespace {

// Deeper tuples are libprotobuf's, which has a limit of its own.
constexpr int kDeepestTuple = 16;

// The bytes of a layout, and which dimensions are dynamic, until the sizes are known.
struct ShapeParts {
  absl::string_view layout;
  DimVector dynamic;
  bool has_type = false, has_layout = false;
};

bool ReadNested(absl::string_view bytes, int depth, Shape& shape);

bool TakeType(const WireField& field, ShapeParts& parts, Shape& shape) {
  const bool known = field.type == WireType::kVarint && field.varint > 0 &&
                     field.varint < static_cast<uint64_t>(kElementTypeCount);
  shape.type = static_cast<ElementType>(field.varint);
  return known && !std::exchange(parts.has_type, true);
}

bool TakePart(const WireField& field, int depth, ShapeParts& parts, Shape& shape) {
  using Fields = pb::ShapeProto;
  switch (field.number) {
    case Fields::kElementTypeFieldNumber:
      return TakeType(field, parts, shape);
    case Fields::kDimensionsFieldNumber:
      return AppendNumbers(field, shape.dims);
    case Fields::kTupleShapesFieldNumber:
      return field.type == WireType::kBytes &&
             ReadNested(field.content, depth + 1, shape.elements.emplace_back());
    case Fields::kLayoutFieldNumber:
      parts.layout = field.content;
      return field.type == WireType::kBytes && !std::exchange(parts.has_layout, true);
    case Fields::kIsDynamicDimensionFieldNumber:
      return AppendNumbers(field, parts.dynamic);
    default:
      return false;
  }
}

bool CheckDimensions(const ShapeParts& parts, Shape& shape) {
  if (shape.rank() > kMaxRank || static_cast<int>(parts.dynamic.size()) > shape.rank())
    return false;
  int64_t bytes = ByteWidth(shape.type);
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t size = shape.dims[d];
    if (size < 0 || (size > 0 && __builtin_mul_overflow(bytes, size, &bytes))) return false;
    if (d < static_cast<int>(parts.dynamic.size()) && parts.dynamic[d] != 0)
      shape.dynamic_mask |= uint64_t{1} << d;
  }
  return true;
}

// Whether a field of a layout says only what every layout does.
bool IsDefault(const WireField& field) {
  using Fields = pb::LayoutProto;
  const bool is_padding = field.number == Fields::kTailPaddingAlignmentInElementsFieldNumber;
  const bool may_be_zero = is_padding || field.number == Fields::kMemorySpaceFieldNumber ||
                           field.number == Fields::kElementSizeInBitsFieldNumber;
  return field.type == WireType::kVarint && may_be_zero &&
         field.varint <= (is_padding ? uint64_t{1} : uint64_t{0});
}

bool ReadLayout(absl::string_view bytes, Shape& shape) {
  DimVector order;
  WireReader reader(bytes);
  WireField field;
  while (!reader.AtEnd()) {
    if (!reader.Next(field)) return false;
    const bool is_order = field.number == pb::LayoutProto::kMinorToMajorFieldNumber;
    if (!(is_order ? AppendNumbers(field, order) : IsDefault(field))) return false;
  }
  if (static_cast<int>(order.size()) != shape.rank()) return false;
  uint64_t named = 0;
  for (const int64_t dimension : order) {
    if (dimension < 0 || dimension >= shape.rank() || (named >> dimension & 1) != 0) return false;
    named |= uint64_t{1} << dimension;
    shape.layout.minor_to_major.push_back(static_cast<uint8_t>(dimension));
  }
  shape.has_layout = true;
  return true;
}

bool ReadNested(absl::string_view bytes, int depth, Shape& shape) {
  if (depth > kDeepestTuple) return false;
  ShapeParts parts;
  WireReader reader(bytes);
  WireField field;
  while (!reader.AtEnd())
    if (!reader.Next(field) || !TakePart(field, depth, parts, shape)) return false;
  if (shape.IsArray())
    return shape.elements.empty() && CheckDimensions(parts, shape) &&
           (!parts.has_layout || ReadLayout(parts.layout, shape));
  return (shape.IsTuple() || (shape.IsToken() && shape.elements.empty())) && shape.dims.empty() &&
         parts.dynamic.empty() && !parts.has_layout;
}

// A text of metadata, or null where the field is none.
SharedText* TextOf(int number, OpMetadata& metadata) {
  using Fields = pb::OpMetadata;
  switch (number) {
    case Fields::kOpTypeFieldNumber:
      return &metadata.op_type;
    case Fields::kOpNameFieldNumber:
      return &metadata.op_name;
    case Fields::kSourceFileFieldNumber:
      return &metadata.source_file;
    case Fields::kDeduplicatedNameFieldNumber:
      return &metadata.deduplicated_name;
    case Fields::kSchedulingNameFieldNumber:
      return &metadata.scheduling_name;
    default:
      return nullptr;
  }
}

// The same for numbers, which the message has in 32 bits.
int64_t* NumberOf(int number, OpMetadata& metadata) {
  using Fields = pb::OpMetadata;
  switch (number) {
    case Fields::kSourceLineFieldNumber:
      return &metadata.source_line;
    case Fields::kSourceEndLineFieldNumber:
      return &metadata.source_end_line;
    case Fields::kSourceColumnFieldNumber:
      return &metadata.source_column;
    case Fields::kSourceEndColumnFieldNumber:
      return &metadata.source_end_column;
    case Fields::kStackFrameIdFieldNumber:
      return &metadata.stack_frame_id;
    default:
      return nullptr;
  }
}

// Room for each number of a list, and for a field's tag and length.
constexpr size_t kNumber = 10;
constexpr size_t kField = WireWriter::kMaxAround;

template <typename Numbers>
void AppendNumbers(int number, const Numbers& numbers, WireWriter& out) {
  if (numbers.empty()) return;
  out.Reserve(numbers.size() * kNumber + kField);
  const WireWriter::Message list = out.Open(number, numbers.size());
  for (const auto each : numbers) out.Varint(static_cast<uint64_t>(each));
  out.Close(list);
}

void AppendLayout(const Shape& shape, WireWriter& out) {
  using Fields = pb::ShapeProto;
  if (shape.layout.extras != nullptr) {
    pb::ShapeProto message;
    Write(shape, &message);
    const std::string bytes = message.layout().SerializeAsString();
    out.Reserve(bytes.size() + kField);
    return out.Bytes(Fields::kLayoutFieldNumber, bytes);
  }
  out.Reserve(kField);
  const WireWriter::Message layout = out.Open(Fields::kLayoutFieldNumber, 1);
  AppendNumbers(pb::LayoutProto::kMinorToMajorFieldNumber, shape.layout.minor_to_major, out);
  out.Reserve(2 * kField);
  out.Number(pb::LayoutProto::kTailPaddingAlignmentInElementsFieldNumber, 1);
  out.Close(layout);
}

}  // namespace

void AppendToWire(const Shape& shape, WireWriter& out) {
  using Fields = pb::ShapeProto;
  out.Reserve(kField);
  out.Number(Fields::kElementTypeFieldNumber, static_cast<int64_t>(shape.type));
  AppendNumbers(Fields::kDimensionsFieldNumber, shape.dims, out);
  for (const Shape& element : shape.elements)
    AppendToWire(Fields::kTupleShapesFieldNumber, element, out);
  if (shape.has_layout) AppendLayout(shape, out);
  if (shape.dims.empty()) return;
  absl::InlinedVector<bool, 8> dynamic;
  for (int d = 0; d < shape.rank(); ++d) dynamic.push_back(shape.IsDynamic(d));
  AppendNumbers(Fields::kIsDynamicDimensionFieldNumber, dynamic, out);
}

void AppendToWire(int number, const Shape& shape, WireWriter& out) {
  constexpr size_t kUsualShape = 30;
  out.Reserve(kField);
  const WireWriter::Message message = out.Open(number, kUsualShape);
  AppendToWire(shape, out);
  out.Reserve(kField);
  out.Close(message);
}

bool ReadFromWire(absl::string_view bytes, Shape& shape) { return ReadNested(bytes, 0, shape); }

bool ReadFromWire(absl::string_view bytes, SharedTextCache& texts, OpMetadata& metadata) {
  WireReader reader(bytes);
  WireField field;
  while (!reader.AtEnd()) {
    if (!reader.Next(field)) return false;
    if (field.type == WireType::kVarint) {
      int64_t* const number = NumberOf(field.number, metadata);
      if (number == nullptr) return false;
      *number = static_cast<int32_t>(field.varint);
    } else {
      SharedText* const text = TextOf(field.number, metadata);
      if (text == nullptr || field.type != WireType::kBytes || !IsAscii(field.content))
        return false;
      *text = texts.Get(field.content);
    }
  }
  return true;
}

bool IsAscii(absl::string_view text) {
  uint64_t all = 0;
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= sizeof(all); at += sizeof(all), left -= sizeof(all)) {
    uint64_t word;
    std::memcpy(&word, at, sizeof(word));
    all |= word;
  }
  for (; left > 0; ++at, --left) all |= static_cast<unsigned char>(*at);
  return (all & 0x8080808080808080u) == 0;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
