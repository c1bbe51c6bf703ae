// Clients: platforms, compiling, data.
//
//   Client::Create("cpu") -> Compile(module) -> TransferToServer(literal) -> Execute -> Transfer
// back A client is one platform with its devices. Compiling verifies the module, sets the layouts
// that the caller wants for arguments and results, and gives a program that may run any number of
// times, from several threads. Data on the device is a GlobalData: it keeps its layout and its
// memory until the last share goes, and a program may get it in that layout without a copy.
#include "client/client.h"

#include "absl/container/flat_hash_map.h"
#include "backends/platforms/platforms.h"
#include "parser/parser.h"
#include "proto/proto_file.h"
#include "support/status.h"
#include "support/within_memory.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

// The entry's parameters and result with the layouts asked for.
// Errors where a layout's shape is not the parameter's.
absl::Status SetLayouts(const ClientCompileOptions& options, Module& module) {
  Computation& entry = *module.entry();
  EntryLayout& layout = *module.header().entry_layout;
  const auto set = [](const Shape& wanted, Instruction& i, Shape& stated) -> absl::Status {
    if (!Compatible(wanted, i.shape()))
      return InvalidArgument("the layout wanted of %", i.name(), " is of ", Text(wanted),
                             ", but it is ", Text(i.shape()));
    stated = wanted;
    return absl::OkStatus();
  };
  if (options.argument_layouts) {
    if (static_cast<int64_t>(options.argument_layouts->size()) != entry.parameter_count())
      return InvalidArgument(options.argument_layouts->size(), " argument layouts for ",
                             entry.parameter_count(), " parameters");
    for (int64_t p = 0; p < entry.parameter_count(); ++p)
      RETURN_IF_ERROR(
          set((*options.argument_layouts)[p], *entry.parameter(p), layout.parameters[p]));
  }
  if (options.result_layout)
    RETURN_IF_ERROR(set(*options.result_layout, *entry.root(), layout.result));
  return absl::OkStatus();
}

absl::Status CheckHostArray(const Shape& shape, const void* elements) {
  if (!shape.IsArray() || shape.HasDynamicDims())
    return InvalidArgument("only arrays of static size lie in memory: ", Text(shape));
  if (elements == nullptr && shape.ByteSize() > 0)
    return InvalidArgument("there are no elements of ", Text(shape));
  return absl::OkStatus();
}

bool HasDynamicDims(const Module& module) {
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions())
      if (i->shape().HasDynamicDims()) return true;
  return false;
}

}  // namespace

int64_t CompiledProgram::device_count() const { return executable_->devices().device_count(); }

std::vector<std::string> Client::Platforms() {
  std::vector<std::string> names;
  for (const absl::string_view name : PlatformNames()) names.emplace_back(name);
  return names;
}

absl::StatusOr<std::unique_ptr<Client>> Client::Create(absl::string_view platform) {
  const Platform* const found = FindPlatform(platform);
  if (found == nullptr || found->make == nullptr)
    return NotFound("there is no platform ", platform);
  return Create(*found, {});
}

std::unique_ptr<Client> Client::Create(const Platform& platform, const BackendOptions& options) {
  return Create(platform.make(options), platform.device_count);
}

std::unique_ptr<Client> Client::Create(std::unique_ptr<Backend> backend, int64_t device_count) {
  return std::unique_ptr<Client>(new Client(std::move(backend), device_count));
}

Client::Client(std::unique_ptr<Backend> backend, int64_t device_count)
    : platform_(backend->name()), backend_(std::move(backend)), device_count_(device_count) {}

Client::~Client() {
  queues_.Close();
  AwaitBackgroundRuns();
}

absl::StatusOr<Client*> ClientLibrary::GetOrCreateClient(absl::string_view platform) {
  static auto* mutex = new std::mutex;
  static auto* clients = new absl::flat_hash_map<std::string, std::unique_ptr<Client>>;
  const std::lock_guard<std::mutex> lock(*mutex);
  std::unique_ptr<Client>& client = (*clients)[std::string(platform)];
  if (client == nullptr) {
    absl::StatusOr<std::unique_ptr<Client>> made = Client::Create(platform);
    if (!made.ok()) {
      clients->erase(std::string(platform));
      return made.status();
    }
    client = *std::move(made);
  }
  return client.get();
}

Client* ClientLibrary::ClientLibraryOrDie(absl::string_view platform) {
  const absl::StatusOr<Client*> client = GetOrCreateClient(platform);
  CHECK(client.ok()) << client.status().ToString();
  return *client;
}

absl::StatusOr<ProgramHandle> Client::CompileModule(std::unique_ptr<Module> module,
                                                    const ClientCompileOptions& options) {
  ASSIGN_OR_RETURN(ProgramShape shape, ProgramShapeOf(*module->entry()));
  RETURN_IF_ERROR(SetLayouts(options, *module));
  if (options.verify) {
    Diagnostics diagnostics;
    RETURN_IF_ERROR(Verify(*module, diagnostics));
  }
  std::string source;
  if (options.serializable && HasDynamicDims(*module)) {
    ASSIGN_OR_RETURN(source, WriteModuleProto(*module, ProtoEncoding::kBinary));
  }
  CompileOptions backend = options.backend;
  if (options.client_queues && backend.host.infeed == nullptr)
    backend.host.infeed = [this](int64_t device, const Shape& wanted) {
      return queues_.PopInfeed(device, wanted);
    };
  if (options.client_queues && backend.host.outfeed == nullptr)
    backend.host.outfeed = [this](int64_t device, const Literal& item) {
      queues_.PushOutfeed(device, item);
      return absl::OkStatus();
    };
  ++compile_count_;
  ASSIGN_OR_RETURN(std::unique_ptr<Executable> executable,
                   backend_->Compile(std::move(module), backend));
  return std::make_shared<const CompiledProgram>(std::move(executable), std::move(shape),
                                                 options.backend, std::move(source));
}

absl::StatusOr<ProgramHandle> Client::Compile(const XlaComputation& computation,
                                              const ClientCompileOptions& options) {
  if (computation.IsNull()) return InvalidArgument("there is no computation to compile");
  return CompileModule(computation.CloneModule(), options);
}

absl::StatusOr<ProgramHandle> Client::CompileText(absl::string_view hlo_text,
                                                  const ClientCompileOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ParseModule(hlo_text));
  return CompileModule(std::move(module), options);
}

absl::StatusOr<ProgramHandle> Client::CompiledOnce(const XlaComputation& computation) {
  if (computation.IsNull()) return InvalidArgument("there is no computation to run");
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (programs_.size() >= forget_at_) ForgetUnreachable();
    std::shared_ptr<Entry>& found = programs_[computation.shared_module()];
    if (found == nullptr) found = std::make_shared<Entry>();
    entry = found;
  }
  std::call_once(entry->once, [&] { entry->program = Compile(computation); });
  return entry->program;
}

void Client::ForgetUnreachable() {
  for (auto entry = programs_.begin(); entry != programs_.end();)
    if (entry->first.use_count() == 1) {
      programs_.erase(entry++);
    } else {
      ++entry;
    }
  forget_at_ = 2 * programs_.size() + 16;
}

absl::Status Client::CheckDevice(int64_t device) const {
  if (device >= 0 && device < device_count_) return absl::OkStatus();
  return InvalidArgument("platform ", platform_, " has ", device_count_, " devices, none is ",
                         device);
}

DataOr Client::TransferToServer(const Literal& literal, int64_t device) {
  return WithinMemory("a transfer", [&] { return TransferToServer(Literal(literal), device); });
}

DataOr Client::TransferToServer(Literal&& literal, int64_t device) {
  RETURN_IF_ERROR(CheckDevice(device));
  return Place(std::move(literal), device);
}

DataOr Client::Place(Literal literal, int64_t device) {
  if (capabilities().shares_host_memory)
    return std::make_unique<GlobalData>(std::move(literal), device);
  ASSIGN_OR_RETURN(DeviceValue value, DeviceValue::CopyTo(backend_->device(device), literal));
  return std::make_unique<GlobalData>(std::move(value), device);
}

namespace {

// Integers of fewer than 8 bits, which lie in a byte each.
bool IsNarrowInteger(ElementType type) { return IsInteger(type) && BitWidth(type) < 8; }

// Hosts may leave anything above the bits of a narrow integer (ml_dtypes keeps zeros there);
// programs read the whole byte.
void ExtendNarrowIntegers(Literal& literal) {
  const ElementType type = literal.shape().type;
  if (!IsNarrowInteger(type)) return;
  const int unused = 8 - BitWidth(type);
  uint8_t* const bytes = literal.data();
  for (int64_t i = 0; i < literal.byte_size(); ++i) {
    const auto high = static_cast<uint8_t>(bytes[i] << unused);
    bytes[i] = IsSigned(type) ? static_cast<uint8_t>(static_cast<int8_t>(high) >> unused)
                              : static_cast<uint8_t>(high >> unused);
  }
}

}  // namespace

DataOr Client::TransferFromHost(const Shape& shape, const void* elements, int64_t device) {
  RETURN_IF_ERROR(CheckDevice(device));
  RETURN_IF_ERROR(CheckHostArray(shape, elements));
  return WithinMemory("a transfer", [&]() -> DataOr {
    Literal literal = Literal::Unset(shape);
    if (literal.byte_size() > 0) FromLayout(static_cast<const uint8_t*>(elements), shape, literal);
    ExtendNarrowIntegers(literal);
    return Place(std::move(literal), device);
  });
}

DataOr Client::BorrowFromHost(const Shape& shape, const void* elements,
                              std::function<void()> release, int64_t device) {
  RETURN_IF_ERROR(CheckDevice(device));
  RETURN_IF_ERROR(CheckHostArray(shape, elements));
  // Nothing to borrow, or bytes that a program could not use as they are.
  if (shape.ByteSize() == 0 || IsNarrowInteger(shape.type)) {
    ASSIGN_OR_RETURN(auto copy, TransferFromHost(shape, elements, device));
    if (release) release();
    return copy;
  }
  std::shared_ptr<const void> owner(elements, [release = std::move(release)](const void*) {
    if (release) release();
  });
  ASSIGN_OR_RETURN(std::shared_ptr<DeviceMemory> memory,
                   backend_->device(device).Borrow(std::move(owner), elements, shape.ByteSize()));
  return std::make_unique<GlobalData>(DeviceValue(shape, {{shape, std::move(memory), {}}}), device);
}

absl::StatusOr<Literal> Client::Transfer(const GlobalData& data, const Shape* shape_with_layout) {
  RETURN_IF_ERROR(data.ready().Await());
  ASSIGN_OR_RETURN(Literal literal,
                   WithinMemory("a transfer", [&] { return data.value().ToHost(); }));
  if (shape_with_layout == nullptr) return literal;
  if (!Compatible(*shape_with_layout, literal.shape()))
    return InvalidArgument("the value is ", Text(literal.shape()), ", not ",
                           Text(*shape_with_layout));
  literal.set_shape(*shape_with_layout);
  return literal;
}

absl::Status Client::TransferToHost(const GlobalData& data, const Shape& shape_with_layout,
                                    void* out) {
  if (!shape_with_layout.IsArray() || !Compatible(shape_with_layout, data.shape()))
    return InvalidArgument("the value is ", Text(data.shape()), ", not ", Text(shape_with_layout));
  RETURN_IF_ERROR(data.ready().Await());
  return WithinMemory("a transfer", [&] {
    const Buffer& array = data.value().leaves()[0];
    if (array.shape.MinorToMajor() == shape_with_layout.MinorToMajor())
      return array.memory->CopyOut(0, shape_with_layout.ByteSize(), out);
    if (data.literal().byte_size() > 0)
      ToLayout(data.literal(), shape_with_layout, static_cast<uint8_t*>(out));
    return absl::OkStatus();
  });
}

std::unique_ptr<GlobalData> Client::TransferInProcess(std::shared_ptr<const Literal> literal,
                                                      int64_t device) {
  return std::make_unique<GlobalData>(std::move(literal), device);
}

absl::StatusOr<std::vector<std::unique_ptr<GlobalData>>> Client::DeconstructTuple(
    const GlobalData& data) {
  if (!data.shape().IsTuple()) return InvalidArgument(Text(data.shape()), " is no tuple");
  RETURN_IF_ERROR(data.ready().Await());
  std::vector<std::unique_ptr<GlobalData>> parts;
  for (size_t k = 0; k < data.shape().elements.size(); ++k)
    parts.push_back(std::make_unique<GlobalData>(data.value().Element(k), data.device()));
  return parts;
}

absl::Status Client::TransferToInfeed(Literal item, int64_t device) {
  RETURN_IF_ERROR(CheckDevice(device));
  queues_.PushInfeed(device, std::move(item));
  return absl::OkStatus();
}

absl::StatusOr<Literal> Client::TransferFromOutfeed(int64_t device, double timeout_s) {
  RETURN_IF_ERROR(CheckDevice(device));
  return queues_.PopOutfeed(device, timeout_s);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
