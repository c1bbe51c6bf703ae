// Devices and memories.
//
// Each device has three memories (device, pinned host, unpinned host), which are one memory here
// under three names, so that programs which name them run. Devices are numbered from 0, memory k of
// device d is memory 3 d + k, and all belong to process 0.
// A framework may hang data of its own on a memory, by key, with a function that frees it; the
// function runs when the entry is replaced or the memory goes, never under the lock.
#include "pjrt/guarded.h"

namespace hlokit {
namespace {

void* GetUserData(PJRT_Memory* memory, const void* key) {
  const std::lock_guard<std::mutex> lock(memory->mutex);
  const auto found = memory->user_data.find(key);
  return found == memory->user_data.end() ? nullptr : found->second.first;
}

void SetUserData(PJRT_Memory* memory, const void* key, void* data, void (*dtor)(void*)) {
  std::pair<void*, void (*)(void*)> old = {nullptr, nullptr};
  {
    const std::lock_guard<std::mutex> lock(memory->mutex);
    old = std::exchange(memory->user_data[key], {data, dtor});
  }
  if (old.second != nullptr) old.second(old.first);
}

constexpr PJRT_Memory_FunctionTable kMemoryTable = {sizeof(PJRT_Memory_FunctionTable), nullptr,
                                                    sizeof(PJRT_Memory), GetUserData, SetUserData};

}  // namespace

PJRT_Memory::~PJRT_Memory() {
  for (auto& [key, data] : user_data)
    if (data.second != nullptr) data.second(data.first);
}

void AddMemories(PJRT_Device& device) {
  int kind_id = 0;
  for (const char* const kind : kMemoryKinds) {
    PJRT_Memory& memory = device.memories.emplace_back();
    memory.vtable = &kMemoryTable;
    memory.device = &device;
    memory.id = device.id() * static_cast<int>(std::size(kMemoryKinds)) + kind_id;
    memory.kind_id = kind_id++;
    memory.kind = kind;
    memory.text = absl::StrCat("HlokitMemory(", kind, ", device=", device.id(), ")");
    device.memory_list.push_back(&memory);
  }
}

absl::Status PjrtDeviceDescription_Id(PJRT_DeviceDescription_Id_Args& args) {
  args.id = args.device_description->id;
  return absl::OkStatus();
}

absl::Status PjrtDeviceDescription_ProcessIndex(PJRT_DeviceDescription_ProcessIndex_Args& args) {
  args.process_index = 0;
  return absl::OkStatus();
}

absl::Status PjrtDeviceDescription_Attributes(PJRT_DeviceDescription_Attributes_Args& args) {
  args.attributes = args.device_description->attributes.data();
  args.num_attributes = args.device_description->attributes.size();
  return absl::OkStatus();
}

absl::Status PjrtDeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args& args) {
  GiveText(args.device_description->kind, args.device_kind, args.device_kind_size);
  return absl::OkStatus();
}

absl::Status PjrtDeviceDescription_DebugString(PJRT_DeviceDescription_DebugString_Args& args) {
  GiveText(args.device_description->debug_text, args.debug_string, args.debug_string_size);
  return absl::OkStatus();
}

absl::Status PjrtDeviceDescription_ToString(PJRT_DeviceDescription_ToString_Args& args) {
  GiveText(args.device_description->text, args.to_string, args.to_string_size);
  return absl::OkStatus();
}

absl::Status PjrtDevice_GetDescription(PJRT_Device_GetDescription_Args& args) {
  args.device_description = args.device->description;
  return absl::OkStatus();
}

absl::Status PjrtDevice_IsAddressable(PJRT_Device_IsAddressable_Args& args) {
  args.is_addressable = true;
  return absl::OkStatus();
}

absl::Status PjrtDevice_LocalHardwareId(PJRT_Device_LocalHardwareId_Args& args) {
  args.local_hardware_id = args.device->id();
  return absl::OkStatus();
}

absl::Status PjrtDevice_AddressableMemories(PJRT_Device_AddressableMemories_Args& args) {
  args.memories = args.device->memory_list.data();
  args.num_memories = args.device->memory_list.size();
  return absl::OkStatus();
}

absl::Status PjrtDevice_DefaultMemory(PJRT_Device_DefaultMemory_Args& args) {
  args.memory = args.device->memory_list.front();
  return absl::OkStatus();
}

absl::Status PjrtDevice_MemoryStats(PJRT_Device_MemoryStats_Args& args) {
  const PJRT_Device& device = *args.device;
  args.bytes_in_use = device.bytes_in_use;
  args.peak_bytes_in_use = device.peak_bytes;
  args.num_allocs = device.allocations;
  args.largest_alloc_size = device.largest;
  args.peak_bytes_in_use_is_set = args.num_allocs_is_set = args.largest_alloc_size_is_set = true;
  args.bytes_limit_is_set = args.bytes_reserved_is_set = args.peak_bytes_reserved_is_set = false;
  args.bytes_reservable_limit_is_set = args.largest_free_block_bytes_is_set = false;
  args.pool_bytes_is_set = args.peak_pool_bytes_is_set = args.peak_allocated_bytes_is_set = false;
  return absl::OkStatus();
}

absl::Status PjrtDevice_ClearMemoryStats(PJRT_Device_ClearMemoryStats_Args& args) {
  args.device->peak_bytes = args.device->bytes_in_use.load();
  args.device->allocations = 0;
  args.device->largest = 0;
  return absl::OkStatus();
}

absl::Status PjrtDevice_GetAttributes(PJRT_Device_GetAttributes_Args& args) {
  args.attributes = args.device->description->attributes.data();
  args.num_attributes = args.device->description->attributes.size();
  args.device_attributes = nullptr;
  args.attributes_deleter = [](PJRT_Device_Attributes*) {};
  return absl::OkStatus();
}

absl::Status PjrtMemory_Id(PJRT_Memory_Id_Args& args) {
  args.id = args.memory->id;
  return absl::OkStatus();
}

absl::Status PjrtMemory_Kind(PJRT_Memory_Kind_Args& args) {
  GiveText(args.memory->kind, args.kind, args.kind_size);
  return absl::OkStatus();
}

absl::Status PjrtMemory_Kind_Id(PJRT_Memory_Kind_Id_Args& args) {
  args.kind_id = args.memory->kind_id;
  return absl::OkStatus();
}

absl::Status PjrtMemory_DebugString(PJRT_Memory_DebugString_Args& args) {
  GiveText(args.memory->text, args.debug_string, args.debug_string_size);
  return absl::OkStatus();
}

absl::Status PjrtMemory_ToString(PJRT_Memory_ToString_Args& args) {
  GiveText(args.memory->text, args.to_string, args.to_string_size);
  return absl::OkStatus();
}

absl::Status PjrtMemory_AddressableByDevices(PJRT_Memory_AddressableByDevices_Args& args) {
  args.devices = &args.memory->device;
  args.num_devices = 1;
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
