// Calls of handlers: a frame around a custom call's buffers, and the functions they call back.
//
// A target has up to four handlers, one a stage:
//   instantiate   before the first call of a call site; its state lives as long as the program
//   prepare, initialize   before each run; their states live as long as the call
//   execute       the call itself
// States are handed from stage to stage by type, which must agree with what the handler registered,
// and are freed by the type's deleter. A handler may answer later through a future; the call waits
// for it. Scratch memory that a handler asks for is freed at the end of the call, whatever
// happened. Handlers are C and may not throw; an error object that they return becomes a Status.
#include "ffi/xla_ffi.h"

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ffi/registry.h"
#include "ffi/surroundings.h"
#include "ffi/xla_ffi_attributes.h"
#include "support/status.h"

namespace hlokit {

struct XlaFfiError {
  absl::Status status;
  std::string message;
};

// What a handler that goes on after its return will say.
struct XlaFfiFuture {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  absl::Status status;
};

namespace {

struct State {
  int64_t type = 0;
  void* object = nullptr;
};
// Of instantiate, prepare and initialize.
using States = std::array<State, 3>;

struct Handlers {
  std::mutex mutex;
  std::map<std::string, XlaFfiBundle, std::less<>> bundles;
  std::map<std::string, int64_t, std::less<>> types;
  std::map<int64_t, void (*)(void*)> deleters;
  int64_t next_type = int64_t{1} << 32;  // XLA beside us in the process counts from 1
};

Handlers& TheHandlers() {
  static auto* const handlers = new Handlers;
  return *handlers;
}

void DeleteState(const State& state) {
  if (state.object == nullptr) return;
  void (*deleter)(void*) = nullptr;
  {
    const std::lock_guard<std::mutex> lock(TheHandlers().mutex);
    const auto found = TheHandlers().deleters.find(state.type);
    if (found != TheHandlers().deleters.end()) deleter = found->second;
  }
  if (deleter != nullptr) deleter(state.object);
}

}  // namespace

// What instantiate made for a call site.
struct FfiStates::Site {
  std::once_flag once;
  absl::Status status;
  State state;
  ~Site() { DeleteState(state); }
};

// One call; of an instantiate handler too, which knows no run.
struct XlaFfiContext {
  States states;
  const FfiRun* run = nullptr;
  int32_t ordinal = 0;
  std::vector<void*> scratch;
  ~XlaFfiContext() {
    for (void* memory : scratch) std::free(memory);
    DeleteState(states[1]);
    DeleteState(states[2]);
  }
};

namespace {

XlaFfiError* NewError(absl::Status status) {
  std::string message(status.message());
  return new XlaFfiError{std::move(status), std::move(message)};
}

absl::Status TakeError(XlaFfiError* error) {
  if (error == nullptr) return absl::OkStatus();
  const std::unique_ptr<XlaFfiError> owned(error);
  return owned->status;
}

// ---- what handlers call ----

XlaFfiError* CreateError(XlaFfiErrorCreateArgs* args) {
  return NewError(absl::Status(static_cast<absl::StatusCode>(args->code), args->message));
}
void ErrorMessage(XlaFfiErrorMessageArgs* args) { args->message = args->error->message.c_str(); }
void DestroyError(XlaFfiErrorDestroyArgs* args) { delete args->error; }

XlaFfiError* RegisterHandler(XlaFfiRegisterArgs* args) {
  const absl::Status status =
      RegisterXlaFfiHandler({args->name.data, args->name.size}, args->bundle);
  return status.ok() ? nullptr : NewError(status);
}

XlaFfiError* RegisterType(XlaFfiTypeRegisterArgs* args) {
  const absl::Status status =
      RegisterXlaFfiType({args->name.data, args->name.size}, *args->type,
                         args->info == nullptr ? nullptr : args->info->deleter);
  return status.ok() ? nullptr : NewError(status);
}

XlaFfiError* GetStream(XlaFfiStreamArgs*) {
  return NewError(Unimplemented("there are no streams: the call runs on the host"));
}
XlaFfiError* GetContext(XlaFfiContextGetArgs* args) {
  const FfiRun* const run = args->context->run;
  if (run == nullptr || run->user_data == nullptr)
    return NewError(NotFound("User data with type id ", args->type->id,
                             " not found in execution context: the run was given none"));
  const absl::StatusOr<void*> found = run->user_data->Find(args->type->id);
  if (!found.ok()) return NewError(found.status());
  args->data = *found;
  return nullptr;
}

XlaFfiError* SetState(XlaFfiStateArgs* args) {
  const auto stage = static_cast<size_t>(args->stage);
  if (stage >= args->context->states.size())
    return NewError(InvalidArgument("the execute stage keeps no state"));
  State& state = args->context->states[stage];
  if (state.object != nullptr) return NewError(FailedPrecondition("the state is set already"));
  state = {args->type->id, args->state};
  return nullptr;
}

XlaFfiError* GetState(XlaFfiStateArgs* args) {
  const auto stage = static_cast<size_t>(args->stage);
  if (stage >= args->context->states.size() || args->context->states[stage].object == nullptr)
    return NewError(NotFound("the state of stage ", stage, " is not set"));
  const State& state = args->context->states[stage];
  if (state.type != args->type->id)
    return NewError(InvalidArgument("the state's type is ", state.type, ", not ", args->type->id));
  args->state = state.object;
  return nullptr;
}

XlaFfiError* Allocate(XlaFfiAllocateArgs* args) {
  void* memory = nullptr;
  const size_t alignment = args->alignment < sizeof(void*) ? sizeof(void*) : args->alignment;
  if (posix_memalign(&memory, alignment, args->size == 0 ? 1 : args->size) != 0)
    return NewError(ResourceExhausted("no memory for ", args->size, " bytes"));
  args->context->scratch.push_back(memory);
  args->data = memory;
  return nullptr;
}

XlaFfiError* Free(XlaFfiFreeArgs* args) {
  std::vector<void*>& scratch = args->context->scratch;
  for (size_t i = 0; i < scratch.size(); ++i)
    if (scratch[i] == args->data) {
      std::free(args->data);
      scratch.erase(scratch.begin() + static_cast<ptrdiff_t>(i));
      return nullptr;
    }
  return NewError(InvalidArgument("memory that this call has not allocated"));
}

XlaFfiError* Schedule(XlaFfiScheduleArgs* args) {
  args->task(args->data);
  return nullptr;
}
XlaFfiError* ThreadCount(XlaFfiThreadsArgs* args) {
  *args->threads = 1;
  return nullptr;
}

XlaFfiError* CreateFuture(XlaFfiFutureArgs* args) {
  args->future = new XlaFfiFuture;
  return nullptr;
}
XlaFfiError* Finish(XlaFfiFuture& future, absl::Status status) {
  const std::lock_guard<std::mutex> lock(future.mutex);
  future.done = true;
  future.status = std::move(status);
  future.changed.notify_all();
  return nullptr;
}
XlaFfiError* SetAvailable(XlaFfiFutureArgs* args) {
  return Finish(*args->future, absl::OkStatus());
}
XlaFfiError* SetFutureError(XlaFfiFutureErrorArgs* args) {
  return Finish(*args->future, TakeError(args->error));
}

XlaFfiError* RunId(XlaFfiRunIdArgs* args) {
  if (args->context->run == nullptr)
    return NewError(FailedPrecondition("there is no run yet: a state is made"));
  args->run_id = args->context->run->id;
  return nullptr;
}
XlaFfiError* DeviceOrdinal(XlaFfiOrdinalArgs* args) {
  args->ordinal = args->context->ordinal;
  return nullptr;
}

XlaFfiApi MakeApi() {
  XlaFfiApi api = {};
  api.struct_size = sizeof(XlaFfiApi);
  api.version.struct_size = sizeof(XlaFfiVersion);
  api.version.major = kXlaFfiMajor;
  api.version.minor = kXlaFfiMinor;
  api.create_error = CreateError;
  api.error_message = ErrorMessage;
  api.destroy_error = DestroyError;
  api.register_handler = RegisterHandler;
  api.get_stream = GetStream;
  api.register_type = RegisterType;
  api.get_context = GetContext;
  api.set_state = SetState;
  api.get_state = GetState;
  api.allocate = Allocate;
  api.free = Free;
  api.schedule = Schedule;
  api.thread_count = ThreadCount;
  api.create_future = CreateFuture;
  api.set_available = SetAvailable;
  api.set_future_error = SetFutureError;
  api.run_id = RunId;
  api.device_ordinal = DeviceOrdinal;
  return api;
}

// ---- calls ----

// Handlers insist on the size that public headers name: without the future, which came later. Not
// offsetof: that is for standard layout, which a struct with members of its own behind a base's
// does not have.
constexpr size_t kFrameSize = sizeof(XlaFfiCallFrame) - sizeof(XlaFfiFuture*);

// What a frame points to of a custom call.
class Frame {
 public:
  // Errors: InvalidArgument for a configuration that is no dictionary.
  static absl::StatusOr<std::unique_ptr<Frame>> Of(const hlokit_ffi_call& call) {
    auto made = std::make_unique<Frame>();
    RETURN_IF_ERROR(made->attributes_.Parse(
        {call.backend_config, static_cast<size_t>(call.backend_config_size)}));
    made->SetBuffers(call.arguments, call.argument_count, made->arguments_);
    made->SetBuffers(call.results, call.result_count, made->results_);
    return made;
  }

  // Runs one stage; waits where the handler goes on after its return.
  absl::Status Run(XlaFfiHandler* handler, XlaFfiStage stage, XlaFfiContext& context) {
    if (handler == nullptr) return absl::OkStatus();
    XlaFfiCallFrame frame = {};
    frame.struct_size = kFrameSize;
    frame.api = &TheXlaFfiApi();
    frame.context = &context;
    frame.stage = stage;
    frame.attributes = attributes_.attributes();
    // What instantiate makes serves calls with other buffers.
    frame.arguments = stage == XlaFfiStage::kInstantiate ? Nothing() : arguments_.list;
    frame.results = stage == XlaFfiStage::kInstantiate ? Nothing() : results_.list;
    RETURN_IF_ERROR(TakeError(handler(&frame)));
    if (frame.future == nullptr) return absl::OkStatus();
    const std::unique_ptr<XlaFfiFuture> future(frame.future);
    std::unique_lock<std::mutex> lock(future->mutex);
    future->changed.wait(lock, [&] { return future->done; });
    return future->status;
  }

 private:
  struct Buffers {
    std::vector<XlaFfiBuffer> buffers;
    std::vector<std::vector<int64_t>> dims;
    std::vector<uint32_t> kinds;
    std::vector<void*> pointers;
    XlaFfiBuffers list = Nothing();
  };
  static XlaFfiBuffers Nothing() {
    XlaFfiBuffers none = {};
    none.struct_size = sizeof(none);
    return none;
  }

  void SetBuffers(const hlokit_ffi_buffer* given, int32_t count, Buffers& out) {
    const auto n = static_cast<size_t>(count);
    out.buffers.resize(n);
    out.dims.resize(n);
    out.kinds.assign(n, 1);
    for (size_t i = 0; i < n; ++i) {
      out.dims[i].assign(given[i].dims, given[i].dims + given[i].rank);
      XlaFfiBuffer& buffer = out.buffers[i];
      buffer.struct_size = sizeof(buffer);
      buffer.type = XlaFfiTypeOf(given[i].type);
      buffer.data = given[i].data;
      buffer.rank = given[i].rank;
      buffer.dims = out.dims[i].data();
      out.pointers.push_back(&buffer);
    }
    out.list.size = count;
    out.list.kinds = out.kinds.data();
    out.list.buffers = out.pointers.data();
  }

  XlaFfiAttributes attributes_;
  Buffers arguments_, results_;
};

// The state that the handlers' instantiate made for this call site.
absl::StatusOr<State> StateOf(const XlaFfiBundle& bundle, FfiStates::Site& site, Frame& frame) {
  if (bundle.instantiate == nullptr) return State{};
  std::call_once(site.once, [&] {
    XlaFfiContext context;
    site.status = frame.Run(bundle.instantiate, XlaFfiStage::kInstantiate, context);
    site.state = context.states[0];
  });
  RETURN_IF_ERROR(site.status);
  return site.state;
}

absl::Status RunStages(const hlokit_ffi_call& call) {
  const FfiCaller& caller = *static_cast<const FfiCaller*>(call.caller);
  XlaFfiBundle bundle = {};
  {
    const std::lock_guard<std::mutex> lock(TheHandlers().mutex);
    bundle = TheHandlers().bundles.at(call.target);
  }
  std::optional<FfiStates> own_states;
  std::optional<FfiRun> own_run;
  XlaFfiContext context;
  context.run = caller.run != nullptr ? caller.run : &own_run.emplace();
  context.ordinal = static_cast<int32_t>(caller.device);
  ASSIGN_OR_RETURN(const std::unique_ptr<Frame> frame, Frame::Of(call));
  FfiStates& states = caller.states != nullptr ? *caller.states : own_states.emplace();
  ASSIGN_OR_RETURN(context.states[0], StateOf(bundle, states.At(caller.site), *frame));
  RETURN_IF_ERROR(frame->Run(bundle.prepare, XlaFfiStage::kPrepare, context));
  RETURN_IF_ERROR(frame->Run(bundle.initialize, XlaFfiStage::kInitialize, context));
  return frame->Run(bundle.execute, XlaFfiStage::kExecute, context);
}

// The custom call of every target that has handlers.
int CallHandlers(hlokit_ffi_call* call) {
  const absl::Status status = RunStages(*call);
  if (status.ok()) return 0;
  static_cast<FfiCaller*>(call->caller)->code = status.code();
  call->set_error(call, std::string(status.message()).c_str());
  return 1;
}

// Asks a handler for its version.
absl::Status CheckVersion(absl::string_view target, XlaFfiHandler* handler) {
  if (handler == nullptr) return absl::OkStatus();
  XlaFfiMetadata metadata = {};
  metadata.struct_size = sizeof(size_t) + sizeof(metadata.version) + sizeof(metadata.traits);
  metadata.version.struct_size = sizeof(metadata.version);
  XlaFfiMetadataExtension extension = {
      {sizeof(XlaFfiMetadataExtension), XlaFfiExtensionType::kMetadata, nullptr}, &metadata};
  XlaFfiCallFrame frame = {};
  frame.struct_size = kFrameSize;
  frame.extensions = &extension.head;
  frame.api = &TheXlaFfiApi();
  RETURN_IF_ERROR(TakeError(handler(&frame)));
  const XlaFfiVersion& version = metadata.version;
  if (version.major != kXlaFfiMajor || version.minor > kXlaFfiMinor)
    return InvalidArgument("the handler of custom-call target \"", target, "\" is of version ",
                           version.major, ".", version.minor, ", this is ", kXlaFfiMajor, ".",
                           kXlaFfiMinor);
  return absl::OkStatus();
}

bool Same(const XlaFfiBundle& a, const XlaFfiBundle& b) {
  return a.instantiate == b.instantiate && a.prepare == b.prepare && a.initialize == b.initialize &&
         a.execute == b.execute;
}

}  // namespace

FfiStates::FfiStates() = default;
FfiStates::~FfiStates() = default;

FfiStates::Site& FfiStates::At(absl::string_view name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto at = sites_.find(AsStd(name));
  if (at == sites_.end()) at = sites_.emplace(std::string(name), std::make_unique<Site>()).first;
  return *at->second;
}

absl::Status RegisterXlaFfiHandler(absl::string_view target, const XlaFfiBundle& bundle) {
  if (bundle.execute == nullptr)
    return InvalidArgument("custom-call target \"", target, "\" has no execute handler");
  for (XlaFfiHandler* const handler :
       {bundle.instantiate, bundle.prepare, bundle.initialize, bundle.execute})
    RETURN_IF_ERROR(CheckVersion(target, handler));
  RETURN_IF_ERROR(RegisterCustomCall(target, CallHandlers));
  const std::lock_guard<std::mutex> lock(TheHandlers().mutex);
  const auto [at, added] = TheHandlers().bundles.emplace(std::string(target), bundle);
  if (!added && !Same(at->second, bundle))
    return absl::AlreadyExistsError(
        absl::StrCat("custom-call target \"", target, "\" is registered twice"));
  return absl::OkStatus();
}

absl::Status RegisterXlaFfiType(absl::string_view name, XlaFfiTypeId& type,
                                void (*deleter)(void*)) {
  Handlers& handlers = TheHandlers();
  const std::lock_guard<std::mutex> lock(handlers.mutex);
  const auto found = handlers.types.find(AsStd(name));
  if (found != handlers.types.end() && type.id != 0 && type.id != found->second)
    return InvalidArgument("type ", name, " is registered as ", found->second, ", not ", type.id);
  if (found != handlers.types.end()) {
    type.id = found->second;
  } else if (type.id == 0) {
    while (handlers.deleters.count(handlers.next_type) != 0) ++handlers.next_type;
    type.id = handlers.next_type++;
  }
  handlers.types.emplace(std::string(name), type.id);
  auto& kept = handlers.deleters[type.id];
  if (deleter != nullptr) kept = deleter;
  return absl::OkStatus();
}

const XlaFfiApi& TheXlaFfiApi() {
  static const XlaFfiApi api = MakeApi();
  return api;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
