// Transfers between the framework's arrays and buffers.
//
// An array that is dense, row-major and aligned is used where it lies, if the framework allows it
// for as long as the buffer lives; else its elements are copied by their strides. Results go back
// in the layout or the strides that the framework names.
#include "pjrt/host_arrays.h"

#include <cstring>

#include "absl/types/span.h"
#include "pjrt/guarded.h"

namespace hlokit {
namespace {

constexpr uintptr_t kAlignment = 64;  // at which programs read arrays in place

// Strides in bytes of a dense row-major array.
DimVector DenseStrides(const Shape& shape) {
  DimVector strides = RowMajorStrides(shape.dims);
  for (int64_t& stride : strides) stride *= ByteWidth(shape.type);
  return strides;
}

// Whether an array of these strides lies as a dense row-major one; strides of dimensions of one
// element do not matter.
bool IsDense(const Shape& shape, absl::Span<const int64_t> strides) {
  const DimVector dense = DenseStrides(shape);
  for (size_t d = 0; d < dense.size(); ++d)
    if (shape.dims[d] > 1 && strides[d] != dense[d]) return false;
  return true;
}

// Copies elements between two arrays of one shape, given by their strides in bytes.
void CopyStrided(const Shape& shape, const uint8_t* from, absl::Span<const int64_t> from_strides,
                 uint8_t* to, absl::Span<const int64_t> to_strides) {
  const auto width = static_cast<size_t>(ByteWidth(shape.type));
  ForEachIndex(shape.dims, [&](absl::Span<const int64_t> index) {
    int64_t in = 0, out = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      in += index[d] * from_strides[d];
      out += index[d] * to_strides[d];
    }
    std::memcpy(to + out, from + in, width);
  });
}

// The device and memory that arguments name; errors where neither is given.
absl::Status Place(PJRT_Device*& device, PJRT_Memory*& memory) {
  if (memory != nullptr) device = memory->device;
  if (device == nullptr) return InvalidArgument("neither a device nor a memory is given");
  if (memory == nullptr) memory = device->memory_list.front();
  return absl::OkStatus();
}

// An array that may be used where it lies, as long as the buffer lives.
bool MayBorrow(const PJRT_Client_BufferFromHostBuffer_Args& args, const Shape& shape, bool dense) {
  const bool allowed = args.host_buffer_semantics == PJRT_HostBufferSemantics_kImmutableZeroCopy ||
                       args.host_buffer_semantics == PJRT_HostBufferSemantics_kMutableZeroCopy;
  return allowed && dense && shape.ByteSize() > 0 &&
         reinterpret_cast<uintptr_t>(args.data) % kAlignment == 0;
}

}  // namespace

absl::StatusOr<Shape> HostShape(PJRT_Buffer_Type type, const int64_t* dims, size_t num_dims) {
  ASSIGN_OR_RETURN(const ElementType element, TypeFromPjrt(type));
  if (num_dims > kMaxRank || (dims == nullptr && num_dims > 0))
    return InvalidArgument("an array of ", num_dims, " dimensions");
  if (!IsArrayType(element)) return InvalidArgument("arrays of ", Text(element));
  int64_t bytes = ByteWidth(element);
  for (size_t d = 0; d < num_dims; ++d) {
    if (dims[d] < 0) return InvalidArgument("a dimension of ", dims[d], " elements");
    if (__builtin_mul_overflow(bytes, dims[d], &bytes))
      return InvalidArgument("an array of more bytes than can be counted");
  }
  return Shape::Array(element, absl::MakeConstSpan(dims, num_dims));
}

absl::Status CopyToHost(const Shape& shape, const uint8_t* elements,
                        const PJRT_Buffer_MemoryLayout* layout, uint8_t* out) {
  DimVector strides = DenseStrides(shape);
  if (layout != nullptr && layout->type == PJRT_Buffer_MemoryLayout_Type_Strides) {
    if (layout->strides.num_byte_strides != strides.size())
      return InvalidArgument("the host layout's strides are not one a dimension");
    for (size_t d = 0; d < strides.size(); ++d) strides[d] = layout->strides.byte_strides[d];
  } else if (layout != nullptr) {
    const PJRT_Buffer_MemoryLayout_Tiled& order = layout->tiled;
    if (order.num_tiles > 0) return Unimplemented("a host layout with tiles");
    if (order.minor_to_major_size != strides.size())
      return InvalidArgument("the host layout's order is not of all dimensions");
    int64_t stride = ByteWidth(shape.type);
    for (size_t i = 0; i < strides.size(); ++i) {
      const int64_t d = order.minor_to_major[i];
      if (d < 0 || d >= shape.rank()) return InvalidArgument("a layout names dimension ", d);
      strides[static_cast<size_t>(d)] = stride;
      stride *= shape.dims[static_cast<size_t>(d)];
    }
  }
  if (shape.ByteSize() == 0) return absl::OkStatus();
  if (IsDense(shape, strides)) {
    std::memcpy(out, elements, static_cast<size_t>(shape.ByteSize()));
  } else {
    CopyStrided(shape, elements, DenseStrides(shape), out, strides);
  }
  return absl::OkStatus();
}

absl::Status PjrtClient_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args& args) {
  ASSIGN_OR_RETURN(const Shape shape, HostShape(args.type, args.dims, args.num_dims));
  RETURN_IF_ERROR(Place(args.device, args.memory));
  if (args.data == nullptr && shape.ByteSize() > 0) return InvalidArgument("the data is null");
  const absl::Span<const int64_t> strides(args.byte_strides, args.num_byte_strides);
  if (!strides.empty() && strides.size() != args.num_dims)
    return InvalidArgument("strides are not one a dimension");
  const bool dense = strides.empty() || IsDense(shape, strides);
  Client& client = *args.client->client;
  auto event = std::make_unique<PJRT_Event>();
  std::unique_ptr<GlobalData> data;
  if (MayBorrow(args, shape, dense)) {
    // The event happens when the last holder of the value lets go.
    const auto done = std::make_shared<EventSource>();
    event->event = done->event();
    ASSIGN_OR_RETURN(
        data, client.BorrowFromHost(shape, args.data, [done] { done->Set(absl::OkStatus()); }));
  } else if (dense) {
    ASSIGN_OR_RETURN(data, client.TransferFromHost(shape, args.data));
  } else {
    Literal literal = Literal::Unset(shape);
    if (shape.ByteSize() > 0)
      CopyStrided(shape, static_cast<const uint8_t*>(args.data), strides, literal.data(),
                  DenseStrides(shape));
    ASSIGN_OR_RETURN(data, client.TransferToServer(std::move(literal)));
  }
  args.buffer = new PJRT_Buffer(args.device, args.memory, shape, std::move(data));
  args.done_with_host_buffer = event.release();
  return absl::OkStatus();
}

absl::Status PjrtClient_CreateViewOfDeviceBuffer(PJRT_Client_CreateViewOfDeviceBuffer_Args& args) {
  ASSIGN_OR_RETURN(const Shape shape, HostShape(args.element_type, args.dims, args.num_dims));
  RETURN_IF_ERROR(Place(args.device, args.memory));
  std::function<void()> release;
  if (args.on_delete_callback != nullptr)
    release = [call = args.on_delete_callback, data = args.device_buffer_ptr,
               user = args.on_delete_callback_arg] { call(data, user); };
  ASSIGN_OR_RETURN(auto data, args.client->client->BorrowFromHost(shape, args.device_buffer_ptr,
                                                                  std::move(release)));
  args.buffer = new PJRT_Buffer(args.device, args.memory, shape, std::move(data));
  return absl::OkStatus();
}

absl::Status PjrtClient_CreateUninitializedBuffer(
    PJRT_Client_CreateUninitializedBuffer_Args& args) {
  ASSIGN_OR_RETURN(const Shape shape,
                   HostShape(args.shape_element_type, args.shape_dims, args.shape_num_dims));
  RETURN_IF_ERROR(Place(args.device, args.memory));
  ASSIGN_OR_RETURN(auto data, args.client->client->TransferToServer(Literal(shape)));
  args.buffer = new PJRT_Buffer(args.device, args.memory, shape, std::move(data));
  return absl::OkStatus();
}

absl::Status PjrtClient_CreateErrorBuffer(PJRT_Client_CreateErrorBuffer_Args& args) {
  ASSIGN_OR_RETURN(const Shape shape,
                   HostShape(args.shape_element_type, args.shape_dims, args.shape_num_dims));
  if (args.memory == nullptr) return InvalidArgument("the memory is null");
  auto buffer = std::make_unique<PJRT_Buffer>(args.memory->device, args.memory, shape, nullptr);
  buffer->error = StatusOf(args.error_code, args.error_message, args.error_message_size);
  args.buffer = buffer.release();
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
