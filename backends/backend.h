// What every platform offers: a backend compiles a module into an executable, which runs on
// literals.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/buffer.h"
#include "backends/device_assignment.h"
#include "backends/platform.h"
#include "ir/module.h"
#include "runtime/collective/communicator.h"
#include "runtime/dot/frozen_arrays.h"
#include "support/progress.h"
#include "types/literal.h"

namespace hlokit {

struct FfiRun;

// The host's ends of the infeed and outfeed of every device, and of sends to and from the host.
// Called from the devices' threads. Null: infeed fails, outfeed drops its item.
struct HostQueues {
  std::function<absl::StatusOr<Literal>(int64_t device, const Shape& shape)> infeed;
  std::function<absl::Status(int64_t device, const Literal& item)> outfeed;
};

// What one run may use; 0: no limit.
struct RunLimits {
  int64_t steps = 0;         // instructions on a device; compiled code counts rounds of loops
  int64_t memory_bytes = 0;  // arguments, results and what lies between
};

// Makes the communicator of one run on these devices.
using CommunicatorFactory =
    std::function<std::unique_ptr<Communicator>(const DeviceAssignment& devices)>;
// By `make`, or an InProcessCommunicator where that is empty.
std::unique_ptr<Communicator> MakeCommunicator(const CommunicatorFactory& make,
                                               const DeviceAssignment& devices);

struct CompileOptions {
  // Which passes run first: the platform's own pipeline, none (the module as it stands, such as a
  // scheduled and fused dump), or those of `passes` (text as --passes takes it).
  enum class Passes : uint8_t { kPipeline, kNone, kListed };
  Passes which_passes = Passes::kPipeline;
  std::string passes;
  bool verify_each = false;      // verify after each pass
  int opt_level = 2;             // 0 to 3, of code generation
  int threads = 0;               // 0: one a core
  bool flush_denormals = false;  // as XLA's CPU does; the rule is to keep them
  RunLimits limits;
  std::string cache_dir;  // folder of object code of earlier processes; empty: none
  bool profile = false;   // count the time of each instruction
  // Code that checks each access to memory (PreparedRun::Findings), as it was emitted, with its
  // index arithmetic, or as LLVM's passes left it; cpu alone.
  enum class Sanitize : uint8_t { kNone, kEmitted, kOptimized };
  Sanitize sanitize = Sanitize::kNone;
  // Lets results be written over the arguments that the module donates to them
  // (Executable::PrepareDonating); arguments not given away are copied before each run.
  bool donate = false;
  // Numbers of parameters that have the same values in every run of the program: what a run makes
  // of them alone, such as the packed forms of weights, it may keep for the next. Constants are
  // frozen always.
  std::vector<int64_t> frozen_parameters;
  std::string dump_to;        // folder for the module after passes, IR, assembly; empty: nothing
  ProgressCallback progress;  // may be empty
  HostQueues host;
  // Which devices run the program, and which of them this process holds; nothing: as many as the
  // module's header says, all of them here.
  std::optional<DeviceAssignment> devices;
  // Makes what the devices of one run exchange data through; empty: threads of this process alone.
  CommunicatorFactory communicators;
};

// What compiling cost and came to.
struct CompileStats {
  double passes_s = 0;
  double codegen_s = 0;  // everything after the passes
  // What compiling did, in order; of what several threads do at a time, the sum.
  struct Phase {
    std::string name;
    double seconds;
  };
  std::vector<Phase> phases;
  int64_t objects = 0, cached_objects = 0;  // pieces of code; of them, those from cache_dir
  absl::Status kept;  // why cache_dir did not take a piece, which costs time, not results
  // of memory that a run needs besides arguments and results, on each device
  int64_t temporary_bytes = 0;
  int64_t code_bytes = 0;
  int64_t donated = 0, donated_bytes = 0;  // arguments in whose memory results come to lie
  struct Fallback {
    std::string instruction;  // its name
    std::string opcode;
    std::string reason;
  };
  std::vector<Fallback>
      fallbacks;  // instructions that run on reference kernels for want of native code
};

// The devices of a compiled module: those that the options name, else as many as its header says.
// Errors: InvalidArgument where the options' counts are not the header's; Unimplemented where
// devices exchange data with those of another process and the options make no communicator.
absl::StatusOr<DeviceAssignment> DevicesOf(const Module& module, const CompileOptions& options);

// One device's arguments, one an entry parameter. Borrowed, never written, even where the module
// donates them (but see PrepareDonating).
using DeviceArguments = std::vector<const Literal*>;

// A value that a run borrows and never writes: a literal, one array that lies in the caller's
// memory in the layout of its shape (row-major where it has none), or a value on the device.
struct ValueView {
  ValueView(const Literal* value)  // literals are views of themselves
      : literal(value), shape(&value->shape()), elements(nullptr) {}
  ValueView(const Shape* array_shape, const void* array)
      : literal(nullptr), shape(array_shape), elements(array) {}
  ValueView(const DeviceValue* device_value)
      : literal(nullptr), shape(&device_value->shape()), elements(nullptr), value(device_value) {}
  const Literal* literal;  // null: an array elsewhere, or a value on the device
  const Shape* shape;
  const void* elements;  // of an array elsewhere
  const DeviceValue* value = nullptr;
};
using DeviceViews = std::vector<ValueView>;

// What the runs of a program spent in one instruction, without what it calls.
struct InstructionTime {
  const Instruction* instruction;  // of Executable::module()
  int64_t calls = 0;
  double seconds = 0;
  int64_t device = 0;
};

// A program with its arguments in place, to be run as often as one likes.
class PreparedRun {
 public:
  virtual ~PreparedRun() = default;
  // Runs on all local devices. Errors are those of the program: a failed custom call, a step limit,
  // an exhausted infeed.
  virtual absl::Status Run() = 0;
  // What custom calls of the next runs see (ffi/surroundings.h); null: nothing but a number.
  void set_ffi_run(std::shared_ptr<const FfiRun> run) { ffi_run_ = std::move(run); }
  // Of all runs so far, where the program was compiled to profile; instructions never run are left
  // out. Loops and branches that stand in one piece of code are one instruction.
  virtual std::vector<InstructionTime> Profile() const { return {}; }
  // What code compiled to check itself found in all runs so far, a status a place in the code;
  // each points at its instruction.
  virtual std::vector<absl::Status> Findings() const { return {}; }
  // The entry computation's results after the last Run, one a local device; to be called once.
  virtual absl::StatusOr<std::vector<Literal>> TakeResults() = 0;
  // The same as values on the devices, in the layouts in which the program leaves them: the next
  // run takes them without a conversion. Only one of these may be called.
  virtual absl::StatusOr<std::vector<DeviceValue>> TakeValues();
  // The same with the elements of a result that is a tuple one by one, each in memory of its own
  // where the platform can; a result that is none alone.
  virtual absl::StatusOr<std::vector<std::vector<DeviceValue>>> TakeParts();

 protected:
  const std::shared_ptr<const FfiRun>& ffi_run() const { return ffi_run_; }

 private:
  std::shared_ptr<const FfiRun> ffi_run_;
};

class Executable {
 public:
  virtual ~Executable() = default;
  // What runs keep of frozen parameters and of constants at the moment.
  virtual PackedCounts packed() const { return {}; }
  // The module as it runs, after passes.
  virtual const Module& module() const = 0;
  virtual const CompileStats& stats() const = 0;
  // Which devices run the program.
  virtual const DeviceAssignment& devices() const = 0;
  // One list of arguments for each of the local devices, in their order, which must outlive the
  // result. Arrays are used where they lie if they have the
  // parameter's layout and an address that is a multiple of 64, and copied otherwise. Errors:
  // InvalidArgument where number or shape of arguments differ from the parameters'.
  virtual absl::StatusOr<std::unique_ptr<PreparedRun>> PrepareViews(
      absl::Span<const DeviceViews> arguments) = 0;

  absl::StatusOr<std::unique_ptr<PreparedRun>> Prepare(
      absl::Span<const DeviceArguments> arguments) {
    std::vector<DeviceViews> views;
    for (const DeviceArguments& device : arguments)
      views.emplace_back(device.begin(), device.end());
    return PrepareViews(views);
  }

  // On one device, of a program compiled to donate: `given` holds the arguments again as literals
  // of the caller's to be written over, null for those that are only lent. Where the module donates
  // one and a result can lie in its memory it is taken and the literal left empty; each further run
  // goes on from what the last one left there. Platforms that do not donate take nothing.
  virtual absl::StatusOr<std::unique_ptr<PreparedRun>> PrepareDonating(const DeviceViews& arguments,
                                                                       absl::Span<Literal* const>) {
    return PrepareViews({arguments});
  }

  // Whether RunArrays runs this program: it does not unless a platform says so.
  virtual bool RunsArrays() const { return false; }
  // The short way of small programs on one device, where preparing costs more than running: one
  // address for each parameter, an array of its size and layout at a multiple of 64; appends the
  // arrays of the results. Any number of threads may call at once.
  using ArrayResults = absl::InlinedVector<Literal, 1>;
  virtual absl::Status RunArrays(absl::Span<const void* const>, ArrayResults&) {
    return absl::UnimplementedError("this program is run by Prepare alone");
  }

  // Runs once on one device.
  absl::StatusOr<Literal> Run(absl::Span<const Literal> arguments) {
    DeviceArguments pointers;
    for (const Literal& argument : arguments) pointers.push_back(&argument);
    auto prepared = Prepare({pointers});
    if (!prepared.ok()) return prepared.status();
    if (absl::Status status = (*prepared)->Run(); !status.ok()) return status;
    auto results = (*prepared)->TakeResults();
    if (!results.ok()) return results.status();
    return std::move(results->front());
  }
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual absl::string_view name() const = 0;
  virtual const Capabilities& capabilities() const = 0;
  // Where the memory of a device, by its number from 0, is had; of platforms that run on the host
  // all devices are one, HostDevice.
  virtual Device& device(int64_t number) = 0;
  // The module has been verified. Errors: Unimplemented with the place of an instruction that the
  // platform lacks.
  virtual absl::StatusOr<std::unique_ptr<Executable>> Compile(std::unique_ptr<Module> module,
                                                              const CompileOptions& options) = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
