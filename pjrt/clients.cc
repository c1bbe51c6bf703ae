// Clients, the plugin's own attributes, and descriptions of machines.
//
// Which backend, and how many devices, comes from the first of these that says so:
//   create_options      num_devices, platform
//   environment         HLOKIT_NUM_DEVICES, HLOKIT_PLATFORM
//   XLA_FLAGS           --xla_force_host_platform_device_count=8
//   else                one device of the CPU
// Attributes are what a framework reads before it compiles anything; the newest and oldest versions
// of StableHLO, for instance, decide in which version the framework writes its programs.
// Texts and lists that the interface returns by pointer live as long as the object they describe.
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "pjrt/background.h"
#include "pjrt/guarded.h"

namespace hlokit {
namespace {

constexpr char kPlatformName[] = "hlokit";
constexpr char kPlatformVersion[] = "hlokit 0.1.0";
constexpr int64_t kMaxDevices = 1024;

// The number after `name=` in a text of flags; `otherwise` where it is not there.
int64_t FlagIn(const char* flags, absl::string_view name, int64_t otherwise) {
  if (flags == nullptr) return otherwise;
  const std::string text = flags;
  const size_t at = text.find(absl::StrCat(name, "="));
  return at == std::string::npos ? otherwise
                                 : std::strtoll(text.c_str() + at + name.size() + 1, nullptr, 10);
}

// What a client is made of: of create_options, else of the environment.
struct ClientChoice {
  std::string platform = "cpu";
  int64_t devices = 1;
};

absl::StatusOr<ClientChoice> ReadChoice(const PJRT_NamedValue* options, size_t count) {
  ClientChoice choice;
  choice.devices = FlagIn(std::getenv("XLA_FLAGS"), "--xla_force_host_platform_device_count", 1);
  if (const char* devices = std::getenv("HLOKIT_NUM_DEVICES"); devices != nullptr)
    choice.devices = std::strtoll(devices, nullptr, 10);
  if (const char* platform = std::getenv("HLOKIT_PLATFORM"); platform != nullptr)
    choice.platform = platform;
  for (size_t i = 0; i < count; ++i) {
    const PJRT_NamedValue& option = options[i];
    const absl::string_view name(option.name, option.name_size);
    if (name == "num_devices" && option.type == PJRT_NamedValue_kInt64)
      choice.devices = option.int64_value;
    if (name == "platform" && option.type == PJRT_NamedValue_kString)
      choice.platform = std::string(option.string_value, option.value_size);
  }
  if (choice.devices < 1 || choice.devices > kMaxDevices)
    return InvalidArgument("a client of ", choice.devices, " devices; 1 to ", kMaxDevices,
                           " are possible");
  return choice;
}

NamedValues PluginAttributes() {
  NamedValues values;
  values.AddInt("xla_version", 2);
  // What stablehlo/ reads.
  values.AddInts("stablehlo_current_version", {1, 17, 0});
  values.AddInts("stablehlo_minimum_version", {0, 9, 0});
  return values;
}

}  // namespace

PJRT_NamedValue& NamedValues::Add(std::string name) {
  PJRT_NamedValue& value = values_.emplace_back();
  value = {};
  value.struct_size = sizeof(PJRT_NamedValue);
  const std::string& kept = texts_.emplace_back(std::move(name));
  GiveText(kept, value.name, value.name_size);
  value.value_size = 1;
  return value;
}

void NamedValues::AddString(std::string name, std::string value) {
  PJRT_NamedValue& added = Add(std::move(name));
  added.type = PJRT_NamedValue_kString;
  GiveText(texts_.emplace_back(std::move(value)), added.string_value, added.value_size);
}

void NamedValues::AddInt(std::string name, int64_t value) {
  PJRT_NamedValue& added = Add(std::move(name));
  added.type = PJRT_NamedValue_kInt64;
  added.int64_value = value;
}

void NamedValues::AddFloat(std::string name, float value) {
  PJRT_NamedValue& added = Add(std::move(name));
  added.type = PJRT_NamedValue_kFloat;
  added.float_value = value;
}

void NamedValues::AddInts(std::string name, std::vector<int64_t> values) {
  PJRT_NamedValue& added = Add(std::move(name));
  const std::vector<int64_t>& kept = lists_.emplace_back(std::move(values));
  added.type = PJRT_NamedValue_kInt64List;
  added.int64_array_value = kept.data();
  added.value_size = kept.size();
}

std::unique_ptr<PJRT_TopologyDescription> MakeTopology(const std::string& platform, int devices) {
  auto topology = std::make_unique<PJRT_TopologyDescription>();
  topology->platform_name = kPlatformName;
  topology->platform_version = absl::StrCat(kPlatformVersion, " (", platform, ")");
  topology->serialized = absl::StrCat(platform, ":", devices);
  topology->memory_kind_ids = {0};
  for (int id = 0; id < devices; ++id) {
    PJRT_DeviceDescription& description = topology->descriptions.emplace_back();
    description.id = id;
    description.kind = platform;
    description.text = absl::StrCat("HlokitDevice(id=", id, ")");
    description.debug_text = absl::StrCat(kPlatformName, ":", id);
    topology->list.push_back(&description);
  }
  return topology;
}

absl::Status PjrtPlugin_Initialize(PJRT_Plugin_Initialize_Args&) { return absl::OkStatus(); }

absl::Status PjrtPlugin_Attributes(PJRT_Plugin_Attributes_Args& args) {
  static const NamedValues* const attributes = new NamedValues(PluginAttributes());
  args.attributes = attributes->data();
  args.num_attributes = attributes->size();
  return absl::OkStatus();
}

absl::Status PjrtClient_Create(PJRT_Client_Create_Args& args) {
  if (args.create_options == nullptr && args.num_options > 0)
    return InvalidArgument("the options are null");
  ASSIGN_OR_RETURN(const ClientChoice choice, ReadChoice(args.create_options, args.num_options));
  ASSIGN_OR_RETURN(std::unique_ptr<Client> client, Client::Create(choice.platform));
  auto made = std::make_unique<PJRT_Client>();
  made->client = std::move(client);
  made->topology = MakeTopology(choice.platform, static_cast<int>(choice.devices));
  for (PJRT_DeviceDescription& description : made->topology->descriptions) {
    PJRT_Device& device = made->devices.emplace_back();
    device.client = made.get();
    device.description = &description;
    AddMemories(device);
    made->device_list.push_back(&device);
    for (PJRT_Memory* memory : device.memory_list) made->memory_list.push_back(memory);
  }
  args.client = made.release();
  return absl::OkStatus();
}

absl::Status PjrtClient_Destroy(PJRT_Client_Destroy_Args& args) {
  AwaitBackground();
  delete args.client;
  return absl::OkStatus();
}

absl::Status PjrtClient_PlatformName(PJRT_Client_PlatformName_Args& args) {
  GiveText(args.client->topology->platform_name, args.platform_name, args.platform_name_size);
  return absl::OkStatus();
}

absl::Status PjrtClient_PlatformVersion(PJRT_Client_PlatformVersion_Args& args) {
  GiveText(args.client->topology->platform_version, args.platform_version,
           args.platform_version_size);
  return absl::OkStatus();
}

absl::Status PjrtClient_ProcessIndex(PJRT_Client_ProcessIndex_Args& args) {
  args.process_index = 0;
  return absl::OkStatus();
}

absl::Status PjrtClient_TopologyDescription(PJRT_Client_TopologyDescription_Args& args) {
  args.topology = args.client->topology.get();
  return absl::OkStatus();
}

absl::Status PjrtClient_Devices(PJRT_Client_Devices_Args& args) {
  args.devices = args.client->device_list.data();
  args.num_devices = args.client->device_list.size();
  return absl::OkStatus();
}

absl::Status PjrtClient_AddressableDevices(PJRT_Client_AddressableDevices_Args& args) {
  args.addressable_devices = args.client->device_list.data();
  args.num_addressable_devices = args.client->device_list.size();
  return absl::OkStatus();
}

absl::Status PjrtClient_AddressableMemories(PJRT_Client_AddressableMemories_Args& args) {
  args.addressable_memories = args.client->memory_list.data();
  args.num_addressable_memories = args.client->memory_list.size();
  return absl::OkStatus();
}

absl::Status PjrtClient_LookupDevice(PJRT_Client_LookupDevice_Args& args) {
  const auto& devices = args.client->device_list;
  if (args.id < 0 || static_cast<size_t>(args.id) >= devices.size())
    return InvalidArgument("there is no device ", args.id);
  args.device = devices[static_cast<size_t>(args.id)];
  return absl::OkStatus();
}

absl::Status PjrtClient_LookupAddressableDevice(PJRT_Client_LookupAddressableDevice_Args& args) {
  const auto& devices = args.client->device_list;
  if (args.local_hardware_id < 0 || static_cast<size_t>(args.local_hardware_id) >= devices.size())
    return InvalidArgument("there is no device ", args.local_hardware_id);
  args.addressable_device = devices[static_cast<size_t>(args.local_hardware_id)];
  return absl::OkStatus();
}

absl::Status PjrtClient_DefaultDeviceAssignment(PJRT_Client_DefaultDeviceAssignment_Args& args) {
  const int64_t count = static_cast<int64_t>(args.num_replicas) * args.num_partitions;
  if (args.num_replicas < 1 || args.num_partitions < 1 || args.default_assignment == nullptr ||
      static_cast<int64_t>(args.default_assignment_size) < count)
    return InvalidArgument("an assignment of ", count, " devices does not fit");
  for (int64_t i = 0; i < count; ++i) args.default_assignment[i] = static_cast<int>(i);
  return absl::OkStatus();
}

// The host's memory is the devices': nothing has to be mapped.
absl::Status PjrtClient_DmaMap(PJRT_Client_DmaMap_Args&) { return absl::OkStatus(); }
absl::Status PjrtClient_DmaUnmap(PJRT_Client_DmaUnmap_Args&) { return absl::OkStatus(); }

absl::Status PjrtTopologyDescription_Create(PJRT_TopologyDescription_Create_Args& args) {
  ASSIGN_OR_RETURN(const ClientChoice choice, ReadChoice(args.create_options, args.num_options));
  args.topology = MakeTopology(choice.platform, static_cast<int>(choice.devices)).release();
  return absl::OkStatus();
}

absl::Status PjrtTopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args& args) {
  delete args.topology;
  return absl::OkStatus();
}

absl::Status PjrtTopologyDescription_PlatformName(
    PJRT_TopologyDescription_PlatformName_Args& args) {
  GiveText(args.topology->platform_name, args.platform_name, args.platform_name_size);
  return absl::OkStatus();
}

absl::Status PjrtTopologyDescription_PlatformVersion(
    PJRT_TopologyDescription_PlatformVersion_Args& args) {
  GiveText(args.topology->platform_version, args.platform_version, args.platform_version_size);
  return absl::OkStatus();
}

absl::Status PjrtTopologyDescription_GetDeviceDescriptions(
    PJRT_TopologyDescription_GetDeviceDescriptions_Args& args) {
  args.descriptions = args.topology->list.data();
  args.num_descriptions = args.topology->list.size();
  return absl::OkStatus();
}

absl::Status PjrtTopologyDescription_Serialize(PJRT_TopologyDescription_Serialize_Args& args) {
  GiveText(args.topology->serialized, args.serialized_bytes, args.serialized_bytes_size);
  args.serialized_topology = nullptr;
  args.serialized_topology_deleter = [](PJRT_SerializedTopology*) {};
  return absl::OkStatus();
}

absl::Status PjrtTopologyDescription_Deserialize(PJRT_TopologyDescription_Deserialize_Args& args) {
  if (args.serialized_topology == nullptr) return InvalidArgument("the bytes are null");
  const std::string text(args.serialized_topology, args.serialized_topology_size);
  const size_t colon = text.rfind(':');
  const int64_t count =
      colon == std::string::npos ? 0 : std::strtoll(text.c_str() + colon + 1, nullptr, 10);
  if (count < 1 || count > kMaxDevices) return InvalidArgument("these bytes are no topology");
  args.topology = MakeTopology(text.substr(0, colon), static_cast<int>(count)).release();
  return absl::OkStatus();
}

absl::Status PjrtTopologyDescription_Attributes(PJRT_TopologyDescription_Attributes_Args& args) {
  args.attributes = args.topology->attributes.data();
  args.num_attributes = args.topology->attributes.size();
  return absl::OkStatus();
}

absl::Status PjrtTopologyDescription_Fingerprint(PJRT_TopologyDescription_Fingerprint_Args& args) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a, the same in every process
  for (const char c : args.topology->serialized)
    hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211u;
  args.fingerprint = hash;
  return absl::OkStatus();
}

absl::Status PjrtTopologyDescription_GetMemorySpaceKindIds(
    PJRT_TopologyDescription_GetMemorySpaceKindIds_Args& args) {
  args.memory_space_kind_ids = args.topology->memory_kind_ids.data();
  args.num_memory_space_kind_ids = args.topology->memory_kind_ids.size();
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
