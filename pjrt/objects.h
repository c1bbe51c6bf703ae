// What the handles of the PJRT C API are: structs over hlokit's clients, programs and values.
//
// A buffer shares its value with whoever else uses it: deleting the buffer drops the handle's
// share, and a run that has begun keeps its own. Short executions end before the call that starts
// them returns; longer ones go on in the background, and their buffers have a value that is
// pending.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "client/client.h"
#include "ffi/surroundings.h"
#include "ops/collective/tiling.h"
#include "pjrt/abi/api.h"
#include "pjrt/background.h"
#include "pjrt/compile_options.h"
#include "stablehlo/stablehlo.h"
#include "support/event.h"

namespace hlokit {

// Functions that a framework may call on an error or a memory without going through the table.
struct PJRT_Error_FunctionTable {
  size_t struct_size;
  size_t instance_size;
  PJRT_Extension_Base* extension_start;
  void (*destroy)(PJRT_Error* error);
  void (*message)(const PJRT_Error* error, const char** message, size_t* message_size);
  PJRT_Error_Code (*get_code)(const PJRT_Error* error);
  void (*for_each_payload)(const PJRT_Error* error, PJRT_Error_PayloadVisitor visitor,
                           void* user_arg);
};
struct PJRT_Memory_FunctionTable {
  size_t struct_size;
  PJRT_Extension_Base* extension_start;
  size_t instance_struct_size;
  void* (*get_user_data)(PJRT_Memory* memory, const void* key);
  void (*set_user_data)(PJRT_Memory* memory, const void* key, void* data, void (*dtor)(void*));
};

struct PJRT_Error {
  const PJRT_Error_FunctionTable* vtable;
  absl::Status status;
  std::string message;
};

// Null for OK. The caller frees it.
PJRT_Error* MakeError(const absl::Status& status);
// The status that a code and a message of the framework's stand for.
absl::Status StatusOf(int code, const char* message, size_t size);

struct PJRT_Event {
  Event event;
  std::unique_ptr<EventSource> source;  // of events that the framework sets
};
// One event for all that has happened without an error already; Destroy leaves it alone.
PJRT_Event* ReadyEvent();

// A list of attributes and the strings that it points to.
class NamedValues {
 public:
  void AddString(std::string name, std::string value);
  void AddInt(std::string name, int64_t value);
  void AddFloat(std::string name, float value);
  void AddInts(std::string name, std::vector<int64_t> values);
  const PJRT_NamedValue* data() const { return values_.data(); }
  size_t size() const { return values_.size(); }

 private:
  PJRT_NamedValue& Add(std::string name);
  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> lists_;
  std::vector<PJRT_NamedValue> values_;
};

struct PJRT_DeviceDescription {
  int id = 0;
  std::string kind, text, debug_text;
  NamedValues attributes;
};

struct PJRT_Memory {
  const PJRT_Memory_FunctionTable* vtable = nullptr;
  PJRT_Device* device = nullptr;
  int id = 0;
  int kind_id = 0;
  std::string kind, text;
  // What the framework keeps here, with how to free it.
  std::mutex mutex;
  std::map<const void*, std::pair<void*, void (*)(void*)>> user_data;
  ~PJRT_Memory();
};

struct PJRT_Device {
  PJRT_Client* client = nullptr;
  PJRT_DeviceDescription* description = nullptr;
  std::deque<PJRT_Memory> memories;  // the first is the default
  std::vector<PJRT_Memory*> memory_list;
  std::atomic<int64_t> bytes_in_use = 0, peak_bytes = 0, allocations = 0, largest = 0;
  int id() const { return description->id; }
};

// Kinds of memory, all the host's: the first is the default.
inline constexpr const char* kMemoryKinds[] = {"device", "pinned_host", "unpinned_host"};
// The memories that a device of the host has: its own, and two names of the same for frameworks
// that keep arrays on the host.
void AddMemories(PJRT_Device& device);

struct PJRT_TopologyDescription {
  std::string platform_name, platform_version, serialized;
  std::deque<PJRT_DeviceDescription> descriptions;
  std::vector<PJRT_DeviceDescription*> list;
  std::vector<int> memory_kind_ids;
  NamedValues attributes;
};
// One of `devices` devices of a platform.
std::unique_ptr<PJRT_TopologyDescription> MakeTopology(const std::string& platform, int devices);

struct PJRT_Client {
  std::shared_ptr<Client> client;
  std::unique_ptr<PJRT_TopologyDescription> topology;
  std::deque<PJRT_Device> devices;
  std::vector<PJRT_Device*> device_list;
  std::vector<PJRT_Memory*> memory_list;
};

// How a program of several partitions is cut: it runs on whole arrays, of which each device has and
// gets a part.
struct PjrtPartitions {
  int64_t count = 1;
  std::vector<Shape> parameters, results;  // whole
  std::vector<Tiling> parameter_cuts, result_cuts;
  // Those that the program takes and gives as the parts they are (region_parts.h); empty: none.
  std::vector<bool> parameter_is_part, result_is_part;
  // Every partition computes the same: one run serves all of a replica.
  bool alike = false;
  bool TakesPart(size_t i) const { return i < parameter_is_part.size() && parameter_is_part[i]; }
  bool GivesPart(size_t i) const { return i < result_is_part.size() && result_is_part[i]; }
};
// What the module says of its parameters and results, and what follows from it for those that the
// options leave open. Errors: shardings that fit neither them nor the number of partitions.
absl::StatusOr<PjrtPartitions> PartitionsOf(const Module& module,
                                            const PjrtCompileOptions& options);

// A program with all that executables answer of it, shared by handles to it.
struct PjrtModule {
  std::shared_ptr<Client> client;  // outlives the program
  ProgramHandle program;
  PjrtCompileOptions options;
  std::string options_bytes;
  std::string name, fingerprint;
  PjrtPartitions partitions;
  std::string source, source_format;       // the program as it was given, where it has partitions
  std::vector<Shape> parameters, outputs;  // of one device
  bool tuple_result = false;
  std::vector<bool> donated;  // by parameter
  bool has_donated = false;   // any of them
  // Its operations and bytes, or a loop, may be worth a thread's wakeup; it calls functions that
  // are not of our runtime.
  bool background = false, calls_out = false;
  mutable RecentTime recent;  // of one with `background`
  // Small, on one device, of arrays alone: Client::ExecuteArrays runs it.
  bool runs_arrays = false;
  // What frameworks ask of the memory of each. Elements always lie in row-major order in memory of
  // the host: layouts and kinds are told as they were asked for.
  EntryWishes wishes;
  // In the form in which the interface gives them.
  std::vector<PJRT_Buffer_Type> output_types;
  std::vector<int64_t> output_dims;
  std::vector<size_t> output_ranks;
  std::vector<DimVector> output_orders;  // minor to major
  struct Kinds {
    std::vector<const char*> names;
    std::vector<size_t> sizes;
    std::vector<size_t> indices;  // of a device's memories
  };
  Kinds parameter_kinds, output_kinds;
  NamedValues costs;
  std::once_flag optimized_once;
  absl::StatusOr<std::string> optimized;  // an HloModuleProtoWithConfig
};
absl::StatusOr<std::shared_ptr<PjrtModule>> CompileProgram(const std::shared_ptr<Client>& client,
                                                           const PJRT_Program& program,
                                                           absl::string_view options);
// What a framework asked of an array's layout, written into its shape.
void TellLayout(const MemoryWish& wish, Shape& shape);
absl::StatusOr<std::string> SerializeModule(const PjrtModule& module);
absl::StatusOr<std::shared_ptr<PjrtModule>> DeserializeModule(const std::shared_ptr<Client>& client,
                                                              absl::string_view bytes);

struct PJRT_Executable {
  std::shared_ptr<PjrtModule> module;
};

struct PJRT_LoadedExecutable {
  PJRT_Client* client = nullptr;
  std::shared_ptr<PjrtModule> module;  // of a deleted one too: its runs may be under way
  std::vector<PJRT_Device*> devices;   // by logical device
  std::vector<PJRT_LogicalDeviceIds> logical_ids;
  std::atomic<bool> deleted = false;
  // Null once deleted.
  std::shared_ptr<PjrtModule> Module() const { return deleted ? nullptr : module; }
};
// The program with the devices that its options or the client give it.
absl::StatusOr<std::unique_ptr<PJRT_LoadedExecutable>> LoadModule(
    PJRT_Client* client, std::shared_ptr<PjrtModule> module);

// A value that a run in the background will give.
struct PjrtPending {
  Event done;  // one of all results, set after `value`; its error is the run's
  std::shared_ptr<GlobalData> value;  // where the run succeeded
  int lane = -1;                      // which thread runs it (background.h)
};

// A value that is there, or pending, or (neither) deleted.
struct PjrtValue {
  std::shared_ptr<GlobalData> data;
  std::shared_ptr<PjrtPending> pending;
  bool empty() const { return data == nullptr && pending == nullptr; }
  // Whether a run has still to give it.
  bool IsUnderWay() const { return pending != nullptr && !pending->done.IsReady(); }
  Event ready() const;
  // Waits for a pending value, which is in `data` then. Errors: the run's. Not of an empty value.
  absl::Status Await();
};

struct PJRT_Buffer {
  PJRT_Buffer(PJRT_Device* on, PJRT_Memory* in, Shape of, std::shared_ptr<GlobalData> value)
      : PJRT_Buffer(on, in, std::move(of), PjrtValue{std::move(value), nullptr}) {}
  PJRT_Buffer(PJRT_Device* on, PJRT_Memory* in, Shape of, PjrtValue value);
  // With the order to be told of it.
  PJRT_Buffer(PJRT_Device* on, PJRT_Memory* in, const Shape& of, const DimVector& order,
              PjrtValue value);
  ~PJRT_Buffer();
  PJRT_Device* device;
  PJRT_Memory* memory;
  const Shape shape;  // without a layout: elements lie in row-major order, whatever is told of it
  DimVector minor_to_major;
  absl::Status error;  // of a buffer that stands for a failure; it has no value

  // The value; empty where it was deleted or donated. Does not wait.
  PjrtValue Value();
  // Drops the value, for a donation or for good; the buffer counts as deleted then.
  void Release();
  bool deleted();
  // Views of the memory, such as numpy's, keep it where the buffer is deleted or donated.
  void AddView();
  // False where there is none.
  bool DropView();
  bool HasViews();

 private:
  void Count();  // in the device's statistics
  void Uncount();
  std::mutex mutex_;
  PjrtValue value_;
  PjrtValue viewed_;  // a released value that views are of
  int64_t views_ = 0;
};

// Shared with the runs that it is given to, which may outlast it.
struct PJRT_ExecuteContext {
  std::shared_ptr<FfiUserData> user_data = std::make_shared<FfiUserData>();
};

PJRT_Buffer_Type TypeToPjrt(ElementType type);
// Errors: InvalidArgument for a number that stands for no array type.
absl::StatusOr<ElementType> TypeFromPjrt(PJRT_Buffer_Type type);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
