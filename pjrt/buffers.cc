// Buffers: what they tell of themselves, copies, lifetimes.
//
// A PJRT_Buffer is a handle: device, memory, shape, and a share of a GlobalData that holds the
// elements. All memory is the host's, so a copy to another device or memory is another handle of
// the same value, made in constant time; arrays never change once they are written.
// Three things end a value: Destroy frees the handle, Delete and donation take the value out of it
// (later uses answer "deleted or donated"). A view from outside (a numpy array over the elements)
// keeps the value alive beyond both, until the view is dropped.
// Statistics of the device (bytes in use, peak, largest) are counted as handles come and go.
#include <algorithm>
#include <cstring>

#include "pjrt/guarded.h"
#include "pjrt/host_arrays.h"

namespace hlokit {
namespace {

// The value of a buffer that has one. Errors: its own; InvalidArgument where it was deleted.
absl::StatusOr<PjrtValue> ValueOf(PJRT_Buffer& buffer) {
  RETURN_IF_ERROR(buffer.error);
  PjrtValue value = buffer.Value();
  if (value.empty()) return InvalidArgument("the buffer has been deleted or donated");
  return value;
}

// Waits for the value.
absl::StatusOr<const uint8_t*> ElementsOf(PJRT_Buffer& buffer) {
  ASSIGN_OR_RETURN(PjrtValue value, ValueOf(buffer));
  RETURN_IF_ERROR(value.Await());
  return static_cast<const uint8_t*>(value.data->elements());
}

absl::Status CopyPending(PjrtValue value, const Shape& shape, uint8_t* out) {
  RETURN_IF_ERROR(value.Await());
  return CopyToHost(shape, static_cast<const uint8_t*>(value.data->elements()), nullptr, out);
}

// A buffer with the elements of another, in memory of its own.
absl::StatusOr<PJRT_Buffer*> CopyOf(PJRT_Buffer& buffer) {
  ASSIGN_OR_RETURN(const uint8_t* const elements, ElementsOf(buffer));
  ASSIGN_OR_RETURN(auto copy, buffer.device->client->client->TransferFromHost(
                                  buffer.shape, elements, buffer.device->id()));
  auto made =
      std::make_unique<PJRT_Buffer>(buffer.device, buffer.memory, buffer.shape, std::move(copy));
  made->minor_to_major = buffer.minor_to_major;
  return made.release();
}

// A buffer of the same value elsewhere: all memory is the host's. In the same memory the framework
// has asked for a copy, whose address differs.
absl::StatusOr<PJRT_Buffer*> ShareOn(PJRT_Buffer& buffer, PJRT_Device* device,
                                     PJRT_Memory* memory) {
  if (memory == buffer.memory) return CopyOf(buffer);
  ASSIGN_OR_RETURN(PjrtValue value, ValueOf(buffer));
  return new PJRT_Buffer(device, memory, buffer.shape, std::move(value));
}

}  // namespace

Event PjrtValue::ready() const {
  return pending != nullptr ? pending->done : data != nullptr ? data->ready() : Event();
}

absl::Status PjrtValue::Await() {
  if (pending != nullptr) {
    RETURN_IF_ERROR(pending->done.Await());
    data = pending->value;
    pending = nullptr;
  }
  return data->ready().Await();
}

PJRT_Buffer::PJRT_Buffer(PJRT_Device* on, PJRT_Memory* in, Shape of, PjrtValue value)
    : device(on),
      memory(in),
      shape(of.has_layout ? of.WithoutLayout() : std::move(of)),
      value_(std::move(value)) {
  for (int d = shape.rank(); d-- > 0;) minor_to_major.push_back(d);
  Count();
}

PJRT_Buffer::PJRT_Buffer(PJRT_Device* on, PJRT_Memory* in, const Shape& of, const DimVector& order,
                         PjrtValue value)
    : device(on),
      memory(in),
      shape(of.has_layout ? of.WithoutLayout() : of),
      minor_to_major(order),
      value_(std::move(value)) {
  Count();
}

void PJRT_Buffer::Count() {
  const int64_t bytes = shape.IsArray() ? shape.ByteSize() : 0;
  const int64_t used = device->bytes_in_use += bytes;
  ++device->allocations;
  // Statistics: a peak that another thread passes at the same moment may be missed.
  if (used > device->peak_bytes) device->peak_bytes = used;
  if (bytes > device->largest) device->largest = bytes;
}

void PJRT_Buffer::Uncount() {
  if (shape.IsArray()) device->bytes_in_use -= shape.ByteSize();
}

PJRT_Buffer::~PJRT_Buffer() {
  if (!value_.empty()) Uncount();
}

PjrtValue PJRT_Buffer::Value() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (value_.pending != nullptr && !value_.IsUnderWay() && value_.pending->value != nullptr)
    value_ = {value_.pending->value, nullptr};  // donations count who holds it
  return value_;
}

void PJRT_Buffer::Release() {
  PjrtValue value;  // freed without the lock
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    value = std::exchange(value_, {});
    if (views_ > 0 && !value.empty()) viewed_ = value;
  }
  if (!value.empty()) Uncount();
}

void PJRT_Buffer::AddView() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++views_;
}

bool PJRT_Buffer::DropView() {
  PjrtValue last;  // freed without the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  if (views_ == 0) return false;
  if (--views_ == 0) last = std::exchange(viewed_, {});
  return true;
}

bool PJRT_Buffer::HasViews() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return views_ > 0;
}

bool PJRT_Buffer::deleted() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return value_.empty() && error.ok();
}

absl::Status PjrtBuffer_Destroy(PJRT_Buffer_Destroy_Args& args) {
  delete args.buffer;
  return absl::OkStatus();
}

absl::Status PjrtBuffer_Delete(PJRT_Buffer_Delete_Args& args) {
  args.buffer->Release();
  return absl::OkStatus();
}

absl::Status PjrtBuffer_IsDeleted(PJRT_Buffer_IsDeleted_Args& args) {
  args.is_deleted = args.buffer->deleted();
  return absl::OkStatus();
}

absl::Status PjrtBuffer_ElementType(PJRT_Buffer_ElementType_Args& args) {
  args.type = TypeToPjrt(args.buffer->shape.type);
  return absl::OkStatus();
}

absl::Status PjrtBuffer_Dimensions(PJRT_Buffer_Dimensions_Args& args) {
  args.dims = args.buffer->shape.dims.data();
  args.num_dims = args.buffer->shape.dims.size();
  return absl::OkStatus();
}

absl::Status PjrtBuffer_UnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args& args) {
  args.unpadded_dims = args.buffer->shape.dims.data();
  args.num_dims = args.buffer->shape.dims.size();
  return absl::OkStatus();
}

// Frameworks give and take arrays of static sizes alone.
absl::Status PjrtBuffer_DynamicDimensionIndices(PJRT_Buffer_DynamicDimensionIndices_Args& args) {
  args.dynamic_dim_indices = nullptr;
  args.num_dynamic_dims = 0;
  return absl::OkStatus();
}

absl::Status PjrtBuffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args& args) {
  args.layout = {};
  args.layout.struct_size = sizeof(PJRT_Buffer_MemoryLayout);
  args.layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  args.layout.tiled = {};
  args.layout.tiled.struct_size = sizeof(PJRT_Buffer_MemoryLayout_Tiled);
  args.layout.tiled.minor_to_major = args.buffer->minor_to_major.data();
  args.layout.tiled.minor_to_major_size = args.buffer->minor_to_major.size();
  return absl::OkStatus();
}

absl::Status PjrtBuffer_OnDeviceSizeInBytes(PJRT_Buffer_OnDeviceSizeInBytes_Args& args) {
  const Shape& shape = args.buffer->shape;
  args.on_device_size_in_bytes = shape.IsArray() ? static_cast<size_t>(shape.ByteSize()) : 0;
  return absl::OkStatus();
}

absl::Status PjrtBuffer_Device(PJRT_Buffer_Device_Args& args) {
  args.device = args.buffer->device;
  return absl::OkStatus();
}

absl::Status PjrtBuffer_Memory(PJRT_Buffer_Memory_Args& args) {
  args.memory = args.buffer->memory;
  return absl::OkStatus();
}

absl::Status PjrtBuffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args& args) {
  args.is_on_cpu = args.buffer->device->client->client->capabilities().shares_host_memory;
  return absl::OkStatus();
}

absl::Status PjrtBuffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args& args) {
  if (args.dst_device == nullptr) return InvalidArgument("the device is null");
  ASSIGN_OR_RETURN(args.dst_buffer,
                   ShareOn(*args.buffer, args.dst_device, args.dst_device->memory_list.front()));
  return absl::OkStatus();
}

absl::Status PjrtBuffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args& args) {
  if (args.dst_memory == nullptr) return InvalidArgument("the memory is null");
  ASSIGN_OR_RETURN(args.dst_buffer,
                   ShareOn(*args.buffer, args.dst_memory->device, args.dst_memory));
  return absl::OkStatus();
}

absl::Status PjrtBuffer_Bitcast(PJRT_Buffer_Bitcast_Args& args) {
  ASSIGN_OR_RETURN(const Shape shape, HostShape(args.element_type, args.dims, args.num_dims));
  if (shape.ByteSize() != args.buffer->shape.ByteSize())
    return InvalidArgument("a bitcast of ", Text(args.buffer->shape), " to ", Text(shape),
                           ", which differ in bytes");
  ASSIGN_OR_RETURN(const uint8_t* const elements, ElementsOf(*args.buffer));
  ASSIGN_OR_RETURN(auto copy, args.buffer->device->client->client->TransferFromHost(
                                  shape, elements, args.buffer->device->id()));
  args.out_buffer =
      new PJRT_Buffer(args.buffer->device, args.buffer->memory, shape, std::move(copy));
  return absl::OkStatus();
}

absl::Status PjrtBuffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args& args) {
  const auto value = ValueOf(*args.buffer);
  args.event = new PJRT_Event{value.ok() ? value->ready() : Event::Done(value.status()), {}};
  return absl::OkStatus();
}

absl::Status PjrtBuffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args& args) {
  ASSIGN_OR_RETURN(const uint8_t* const elements, ElementsOf(*args.buffer));
  args.buffer_pointer = reinterpret_cast<uintptr_t>(elements);
  return absl::OkStatus();
}

absl::Status PjrtBuffer_OpaqueDeviceMemoryDataPointer(
    PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args& args) {
  ASSIGN_OR_RETURN(const uint8_t* const elements, ElementsOf(*args.buffer));
  args.device_memory_ptr = const_cast<uint8_t*>(elements);
  return absl::OkStatus();
}

absl::Status PjrtBuffer_IncreaseExternalReferenceCount(
    PJRT_Buffer_IncreaseExternalReferenceCount_Args& args) {
  args.buffer->AddView();
  return absl::OkStatus();
}

absl::Status PjrtBuffer_DecreaseExternalReferenceCount(
    PJRT_Buffer_DecreaseExternalReferenceCount_Args& args) {
  if (args.buffer->DropView()) return absl::OkStatus();
  return InvalidArgument("the buffer has no external references");
}

absl::Status PjrtBuffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args& args) {
  ASSIGN_OR_RETURN(const uint8_t* const elements, ElementsOf(*args.buffer));
  const int64_t size = args.buffer->shape.ByteSize();
  if (args.offset < 0 || args.transfer_size < 0 || args.offset > size ||
      args.transfer_size > size - args.offset || (args.dst == nullptr && args.transfer_size > 0))
    return InvalidArgument("bytes ", args.offset, " to ", args.offset, " + ", args.transfer_size,
                           " of a buffer of ", size);
  if (args.transfer_size > 0)
    std::memcpy(args.dst, elements + args.offset, static_cast<size_t>(args.transfer_size));
  args.event = ReadyEvent();
  return absl::OkStatus();
}

absl::Status PjrtBuffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args& args) {
  PJRT_Buffer& buffer = *args.src;
  const auto size = static_cast<size_t>(buffer.shape.ByteSize());
  if (args.dst == nullptr) {
    args.dst_size = size;
    return absl::OkStatus();
  }
  if (args.dst_size < size)
    return InvalidArgument("the array takes ", size, " bytes, not ", args.dst_size);
  ASSIGN_OR_RETURN(const PjrtValue value, ValueOf(buffer));
  // What is pending is copied when it is there, row-major; other layouts, whose description is the
  // caller's, wait.
  if (value.IsUnderWay() && args.host_layout == nullptr) {
    auto copied = std::make_unique<EventSource>();
    auto event = std::make_unique<PJRT_Event>(PJRT_Event{copied->event(), {}});
    value.ready().OnReady(
        [value, shape = buffer.shape, out = static_cast<uint8_t*>(args.dst),
         copied = std::shared_ptr<EventSource>(std::move(copied))](const absl::Status& status) {
          copied->Set(status.ok() ? CopyPending(value, shape, out) : status);
        });
    args.event = event.release();
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const uint8_t* const elements, ElementsOf(buffer));
  RETURN_IF_ERROR(
      CopyToHost(buffer.shape, elements, args.host_layout, static_cast<uint8_t*>(args.dst)));
  args.event = ReadyEvent();
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
