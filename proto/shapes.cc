// Shapes and layouts between the IR and their messages.
//
// A ShapeProto says dimensions, which of them are dynamic, tuple elements and a LayoutProto; the
// IR has one Shape for all of it. What hlokit does not model (fields of newer versions) is noted
// in `Seen`, so that the reader can refuse or keep it. Sizes are checked before anything is
// allocated.
#include "proto/shapes_internal.h"

#include <algorithm>

#include "support/status.h"

namespace hlokit {
namespace {

pb::PrimitiveType TypeNumber(ElementType type) { return static_cast<pb::PrimitiveType>(type); }

absl::Status ReadType(pb::PrimitiveType number, ElementType& type) {
  type = static_cast<ElementType>(number);
  if (number > 0 && number < kElementTypeCount) return absl::OkStatus();
  return InvalidArgument("element type ", static_cast<int>(number), " is not known");
}

void WriteExtras(const LayoutExtras& extras, pb::LayoutProto* out) {
  for (const auto& tile : extras.tiles) Assign(tile, out->add_tiles()->mutable_dimensions());
  out->set_tail_padding_alignment_in_elements(extras.tail_padding_alignment);
  out->set_index_primitive_type(TypeNumber(extras.index_type));
  out->set_pointer_primitive_type(TypeNumber(extras.pointer_type));
  out->set_element_size_in_bits(extras.element_size_in_bits);
  out->set_memory_space(extras.memory_space);
  for (const auto& split : extras.splits) {
    pb::SplitConfigProto* config = out->add_split_configs();
    config->set_dimension(split.dimension);
    Assign(split.indices, config->mutable_split_indices());
  }
  out->set_dynamic_shape_metadata_prefix_bytes(extras.dynamic_metadata_bytes);
  if (extras.physical != nullptr) Write(*extras.physical, out->mutable_physical_shape());
}

bool HasExtras(const pb::LayoutProto& in) {
  return in.tiles_size() > 0 || in.tail_padding_alignment_in_elements() > 1 ||
         in.index_primitive_type() != 0 || in.pointer_primitive_type() != 0 ||
         in.element_size_in_bits() != 0 || in.memory_space() != 0 || in.split_configs_size() > 0 ||
         in.dynamic_shape_metadata_prefix_bytes() != 0 || in.has_physical_shape();
}

absl::Status ReadPointerType(pb::PrimitiveType number, ElementType& type) {
  if (number == 0) return absl::OkStatus();
  RETURN_IF_ERROR(ReadType(number, type));
  if (IsInteger(type)) return absl::OkStatus();
  return InvalidArgument("an index or pointer type of the layout is ", Text(type),
                         ", not an integer");
}

absl::Status ReadExtras(const pb::LayoutProto& in, Seen& seen, Layout& layout) {
  auto extras = std::make_shared<LayoutExtras>();
  for (const pb::TileProto& tile : in.tiles()) {
    seen.Note(tile);
    Assign(tile.dimensions(), extras->tiles.emplace_back());
  }
  extras->tail_padding_alignment =
      std::max<int64_t>(in.tail_padding_alignment_in_elements(), 1);  // 0 counts as 1
  RETURN_IF_ERROR(ReadPointerType(in.index_primitive_type(), extras->index_type));
  RETURN_IF_ERROR(ReadPointerType(in.pointer_primitive_type(), extras->pointer_type));
  extras->element_size_in_bits = in.element_size_in_bits();
  extras->memory_space = in.memory_space();
  for (const pb::SplitConfigProto& config : in.split_configs()) {
    seen.Note(config);
    auto& split = extras->splits.emplace_back();
    split.dimension = config.dimension();
    Assign(config.split_indices(), split.indices);
  }
  extras->dynamic_metadata_bytes = in.dynamic_shape_metadata_prefix_bytes();
  if (in.has_physical_shape()) {
    auto physical = std::make_shared<Shape>();
    RETURN_IF_ERROR(Annotate(Read(in.physical_shape(), seen, *physical), "physical_shape"));
    extras->physical = std::move(physical);
  }
  layout.extras = std::move(extras);
  return absl::OkStatus();
}

absl::Status ReadLayout(const pb::LayoutProto& in, Seen& seen, Shape& shape) {
  seen.Note(in);
  if (in.dim_level_types_size() > 0 || in.dim_unique_size() > 0 || in.dim_ordered_size() > 0)
    seen.NoteUnknown();
  uint64_t named = 0;
  for (const int64_t dimension : in.minor_to_major()) {
    if (dimension < 0 || dimension >= shape.rank() || (named >> dimension & 1) != 0)
      return InvalidArgument("the layout must name each of the dimensions 0 to ", shape.rank() - 1,
                             " once, and names ", dimension);
    named |= uint64_t{1} << dimension;
    shape.layout.minor_to_major.push_back(static_cast<uint8_t>(dimension));
  }
  if (in.minor_to_major_size() != shape.rank())
    return InvalidArgument("the layout orders ", in.minor_to_major_size(),
                           " dimensions, the array has ", shape.rank());
  shape.has_layout = true;
  return HasExtras(in) ? ReadExtras(in, seen, shape.layout) : absl::OkStatus();
}

absl::Status ReadDimensions(const pb::ShapeProto& in, Shape& shape) {
  if (in.dimensions_size() > kMaxRank)
    return InvalidArgument("an array has at most ", kMaxRank, " dimensions, not ",
                           in.dimensions_size());
  if (in.is_dynamic_dimension_size() > in.dimensions_size())
    return InvalidArgument("is_dynamic_dimension has ", in.is_dynamic_dimension_size(),
                           " entries for ", in.dimensions_size(), " dimensions");
  int64_t bytes = ByteWidth(shape.type);
  for (int d = 0; d < in.dimensions_size(); ++d) {
    const int64_t size = in.dimensions(d);
    const bool dynamic = d < in.is_dynamic_dimension_size() && in.is_dynamic_dimension(d);
    if (size < 0 && size != kUnbounded)
      return InvalidArgument("dimension ", d, " has the negative size ", size);
    if (size > 0 && __builtin_mul_overflow(bytes, size, &bytes))
      return InvalidArgument("the array has more bytes than 64 bits can count");
    shape.dims.push_back(size);
    if (dynamic || size == kUnbounded) shape.dynamic_mask |= uint64_t{1} << d;
  }
  return absl::OkStatus();
}

void NoteShape(const pb::ShapeProto& in, Seen& seen) {
  seen.Note(in);
  for (const pb::ShapeProto& element : in.tuple_shapes()) NoteShape(element, seen);
  if (!in.has_layout()) return;
  seen.Note(in.layout());
  for (const pb::TileProto& tile : in.layout().tiles()) seen.Note(tile);
  for (const pb::SplitConfigProto& config : in.layout().split_configs()) seen.Note(config);
  if (in.layout().has_physical_shape()) NoteShape(in.layout().physical_shape(), seen);
}

}  // namespace

void NoteAll(const pb::ProgramShapeProto& in, Seen& seen) {
  seen.Note(in);
  for (const pb::ShapeProto& parameter : in.parameters()) NoteShape(parameter, seen);
  NoteShape(in.result(), seen);
}

void Write(const Shape& shape, pb::ShapeProto* out) {
  out->set_element_type(TypeNumber(shape.type));
  Assign(shape.dims, out->mutable_dimensions());
  for (const Shape& element : shape.elements) Write(element, out->add_tuple_shapes());
  for (int d = 0; d < shape.rank(); ++d) out->add_is_dynamic_dimension(shape.IsDynamic(d));
  if (!shape.has_layout) return;
  pb::LayoutProto* layout = out->mutable_layout();
  Assign(shape.layout.minor_to_major, layout->mutable_minor_to_major());
  layout->set_tail_padding_alignment_in_elements(1);
  if (shape.layout.extras != nullptr) WriteExtras(*shape.layout.extras, layout);
}

absl::Status Read(const pb::ShapeProto& in, Seen& seen, Shape& shape) {
  seen.Note(in);
  RETURN_IF_ERROR(ReadType(in.element_type(), shape.type));
  if (shape.IsArray()) {
    if (in.tuple_shapes_size() > 0) return InvalidArgument("an array shape with tuple_shapes");
    RETURN_IF_ERROR(ReadDimensions(in, shape));
    return in.has_layout() ? ReadLayout(in.layout(), seen, shape) : absl::OkStatus();
  }
  if (in.dimensions_size() > 0) return InvalidArgument(Text(shape.type), " with dimensions");
  const bool buffer = shape.type == ElementType::kBuffer;
  if (buffer ? in.tuple_shapes_size() != 1 : !shape.IsTuple() && in.tuple_shapes_size() > 0)
    return InvalidArgument("a ", buffer ? "buffer" : Text(shape.type), " with ",
                           in.tuple_shapes_size(), " tuple_shapes");
  shape.elements.reserve(in.tuple_shapes_size());
  for (int i = 0; i < in.tuple_shapes_size(); ++i) {
    const absl::Status read = Read(in.tuple_shapes(i), seen, shape.elements.emplace_back());
    if (!read.ok()) return Annotate(read, absl::StrCat("tuple_shapes[", i, "]"));
  }
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
