// Clients: compile computations for a platform, keep data on its devices, run.
//
//   Client* client = ClientLibrary::ClientLibraryOrDie();
//   auto x = client->TransferToServer(Literal::R1<float>({1, 2, 3}));
//   absl::StatusOr<Literal> y = client->ExecuteAndTransfer(computation, {x->get()});
//
// A client and all that it gives may be used from any number of threads at once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "backends/backend.h"
#include "builder/xla_computation.h"
#include "client/device_queues.h"
#include "client/global_data.h"

namespace hlokit {

// How a computation is compiled.
struct ClientCompileOptions {
  // Passes, level of optimisation, threads and the like. Where it has no `host` queues these are
  // the client's.
  CompileOptions backend;
  // The layouts in which arguments and result are wanted, in place of the computation's own; one
  // shape a parameter. Literals stay row-major either way: compiled code converts at its edge.
  std::optional<std::vector<Shape>> argument_layouts = std::nullopt;
  std::optional<Shape> result_layout = std::nullopt;
  bool verify = true;  // before compiling
  // Lends the client's queues where `backend` has no host queues; false: infeed then fails, outfeed
  // drops its item.
  bool client_queues = true;
  // Keeps what SerializeExecutable needs, where that is more than the compiled program.
  bool serializable = true;
};

// A compiled computation; shared by all who run it, and safe to run from several threads at once.
class CompiledProgram {
 public:
  // Of a platform's executable; clients make them. `options` are what it was compiled with.
  // `source`: the module as it was, a binary HloModuleProto, where executable's own has sizes of
  // dynamic dimensions as parameters and results; else empty.
  CompiledProgram(std::unique_ptr<Executable> executable, ProgramShape shape,
                  CompileOptions options = {}, std::string source = "")
      : executable_(std::move(executable)),
        shape_(std::move(shape)),
        options_(std::move(options)),
        source_(std::move(source)) {}
  // The platform's own, to prepare runs by hand.
  Executable& executable() const { return *executable_; }
  // The module as it runs, after passes.
  const Module& module() const { return executable_->module(); }
  const CompileStats& stats() const { return executable_->stats(); }
  const ProgramShape& program_shape() const { return shape_; }
  const CompileOptions& options() const { return options_; }
  const std::string& source() const { return source_; }
  // Replicas times partitions.
  int64_t device_count() const;

 private:
  std::unique_ptr<Executable> executable_;
  ProgramShape shape_;
  CompileOptions options_;
  std::string source_;
};
// Holders share one program.
using ProgramHandle = std::shared_ptr<const CompiledProgram>;

// What one execution of a computation takes, told from its shapes; loops count once.
struct ComputationStats {
  double flop_count = 0;            // multiplications and additions, and other elementwise steps
  double transcendental_count = 0;  // elements of exp, log, tanh, ...
  double bytes_accessed = 0;        // read and written, each array once
  int64_t instruction_count = 0;    // in all computations
};

// A computation with the arguments and the result of one execution, to be run again elsewhere.
struct Snapshot {
  XlaComputation computation;      // what runs
  std::vector<Literal> arguments;  // one a parameter
  std::optional<Literal> result;   // nothing: it was not recorded
};

// One of several computations to run at the same time.
struct ComputationInstance {
  XlaComputation computation;                // what runs
  std::vector<const GlobalData*> arguments;  // one a parameter, which outlive the run
};

// A value on a device, or why there is none.
using DataOr = absl::StatusOr<std::unique_ptr<GlobalData>>;

// Compiles for one platform, holds values, runs programs.
class Client {
 public:
  // By a platform's name or alias, such as "cpu" or "interpreter" (backends/platforms). Errors:
  // NotFound for another name.
  static absl::StatusOr<std::unique_ptr<Client>> Create(absl::string_view platform = "cpu");
  // The same of a platform that this build has.
  static std::unique_ptr<Client> Create(const Platform& platform, const BackendOptions& options);
  // Of a backend that is no registered platform's, with as many devices.
  static std::unique_ptr<Client> Create(std::unique_ptr<Backend> backend, int64_t device_count = 1);
  static std::vector<std::string> Platforms();
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The platform's name.
  const std::string& platform() const { return platform_; }
  const Capabilities& capabilities() const { return backend_->capabilities(); }
  // How many devices data and feeds may be of: 64. A program makes as many as it wants, all in the
  // host's memory.
  int64_t device_count() const { return device_count_; }

  // ---- compile ----
  // Errors: InvalidArgument where the module does not verify, with the label of the rule;
  // Unimplemented for what the platform lacks.
  absl::StatusOr<ProgramHandle> Compile(const XlaComputation& computation,
                                        const ClientCompileOptions& options = {});
  absl::StatusOr<ProgramHandle> CompileText(absl::string_view hlo_text,
                                            const ClientCompileOptions& options = {});
  absl::StatusOr<ProgramHandle> CompileModule(std::unique_ptr<Module> module,
                                              const ClientCompileOptions& options = {});
  // How many modules have been compiled; executing a computation again compiles nothing.
  int64_t compile_count() const { return compile_count_; }
  // Bytes from which LoadExecutable, in another process, has the same program, with its options,
  // without running passes or code generation again (on a machine of the same kind; elsewhere code
  // is made anew; passes run again where the module has dynamic dimensions).
  absl::StatusOr<std::string> SerializeExecutable(const CompiledProgram& program);
  absl::StatusOr<ProgramHandle> LoadExecutable(absl::string_view bytes);

  // ---- data ----
  // Copies the literal to a device; the form that takes it over copies nothing.
  DataOr TransferToServer(const Literal& literal, int64_t device = 0);
  DataOr TransferToServer(Literal&& literal, int64_t device = 0);
  // Copies `shape`'s elements, which lie in its layout (row-major where it has none). Errors:
  // InvalidArgument where it is no array of static size.
  DataOr TransferFromHost(const Shape& shape, const void* elements, int64_t device = 0);
  // Uses the elements where they lie, as TransferFromHost has them; they must stay unchanged until
  // `release` is called: once, from the thread that drops the last holder of the value. A program
  // reads them in place where they lie in the layout of its parameter at an address that is a
  // multiple of 64, and copies them at each execution otherwise (the interpreter always does).
  // Errors: as TransferFromHost; nothing is released then.
  DataOr BorrowFromHost(const Shape& shape, const void* elements,
                        std::function<void()> release = nullptr, int64_t device = 0);
  // A literal with a copy of the value, marked with the layout of `shape_with_layout` where given.
  absl::StatusOr<Literal> Transfer(const GlobalData& data,
                                   const Shape* shape_with_layout = nullptr);
  // The value's elements in the layout of `shape_with_layout`, written to memory of its size.
  absl::Status TransferToHost(const GlobalData& data, const Shape& shape_with_layout, void* out);
  // As devices share the process's memory: the same value without a copy. It stays valid as long as
  // any holder of it.
  std::unique_ptr<GlobalData> TransferInProcess(std::shared_ptr<const Literal> literal,
                                                int64_t device = 0);
  // The elements of a tuple, sharing its memory. Errors: InvalidArgument where it is no tuple.
  absl::StatusOr<std::vector<std::unique_ptr<GlobalData>>> DeconstructTuple(const GlobalData& data);
  Shape GetShape(const GlobalData& data) const { return data.shape(); }

  // ---- feeds ----
  // Never waits. Errors: InvalidArgument where there is no such device. An item whose shape is not
  // the infeed's fails the program that takes it.
  absl::Status TransferToInfeed(Literal item, int64_t device = 0);
  // Waits for the next item of the outfeed, at most `timeout_s` seconds; negative: for ever.
  absl::StatusOr<Literal> TransferFromOutfeed(int64_t device = 0, double timeout_s = -1);

  // ---- execute ----
  // Compiles unless this computation has been compiled, and runs on one device. Errors:
  // InvalidArgument where number or shape of arguments differ, and those of the program.
  DataOr Execute(const XlaComputation& computation, absl::Span<const GlobalData* const> arguments);
  DataOr Execute(const CompiledProgram& program, absl::Span<const GlobalData* const> arguments);
  // Takes the arguments over. Those that the module donates (input_output_alias, buffer_donor) are
  // written over by results where the program was compiled with `backend.donate` and nobody else
  // holds them. On one device.
  DataOr ExecuteDonating(const CompiledProgram& program,
                         std::vector<std::unique_ptr<GlobalData>> arguments);
  absl::StatusOr<Literal> ExecuteAndTransfer(const XlaComputation& computation,
                                             absl::Span<const GlobalData* const> arguments);
  // In a thread of its own; the arguments must live until the future has its value. Errors come
  // through the future, ResourceExhausted where there is no thread to be had.
  std::future<DataOr> ExecuteAsync(const XlaComputation& computation,
                                   std::vector<const GlobalData*> arguments);
  std::future<DataOr> ExecuteAsync(ProgramHandle program, std::vector<const GlobalData*> arguments);
  // All at the same time, in as many threads; results in the same order. An error is the first
  // one's, after all have ended.
  absl::StatusOr<std::vector<std::unique_ptr<GlobalData>>> ExecuteParallel(
      absl::Span<const ComputationInstance> computations);
  // As ExecuteReplicated, with the elements of a result that is a tuple one by one. On one device
  // `given` may hold arguments again, null for those that are only lent: they are taken as
  // ExecuteDonating takes them. `ffi_run`: what custom calls see (ffi/surroundings.h).
  absl::StatusOr<std::vector<std::vector<std::unique_ptr<GlobalData>>>> ExecuteParts(
      const CompiledProgram& program, absl::Span<const std::vector<const GlobalData*>> arguments,
      absl::Span<GlobalData* const> given = {}, std::shared_ptr<const FfiRun> ffi_run = nullptr);
  // The short way of programs of which Executable::RunsArrays says so, with the addresses that
  // Executable::RunArrays takes; the arrays of the results, one by one.
  using Arrays = absl::InlinedVector<std::shared_ptr<GlobalData>, 1>;
  absl::StatusOr<Arrays> ExecuteArrays(const CompiledProgram& program,
                                       absl::Span<const void* const> arguments);
  // One list of arguments for each local device, in their order.
  absl::StatusOr<std::vector<std::unique_ptr<GlobalData>>> ExecuteReplicated(
      const CompiledProgram& program, absl::Span<const std::vector<const GlobalData*>> arguments);

  // Starts a run and returns at once: the results, one for each local device, are there when their
  // GlobalData::ready() has happened, and may be arguments of the next before that. The arguments
  // may go at once. Errors: as ExecuteReplicated where they are seen before the run, else through
  // ready(); ResourceExhausted where the system starts no thread.
  absl::StatusOr<std::vector<std::unique_ptr<GlobalData>>> Launch(
      ProgramHandle program, absl::Span<const std::vector<const GlobalData*>> arguments);

  // ---- about computations ----
  static absl::StatusOr<ProgramShape> GetComputationShape(const XlaComputation& computation);
  static absl::StatusOr<ComputationStats> GetComputationStats(const XlaComputation& computation);
  static ComputationStats StatsOf(const Module& module);
  // Runs, and gives all of it as an HloSnapshot that LoadSnapshot (and hlo-run) reads.
  absl::StatusOr<std::string> SnapshotExecution(const XlaComputation& computation,
                                                absl::Span<const GlobalData* const> arguments);
  static absl::StatusOr<Snapshot> LoadSnapshot(absl::string_view bytes);

 private:
  Client(std::unique_ptr<Backend> backend, int64_t device_count);
  absl::StatusOr<ProgramHandle> CompiledOnce(const XlaComputation& computation);
  // Forgets programs whose computation nobody holds any more; mutex_ is held.
  void ForgetUnreachable();
  absl::Status CheckDevice(int64_t device) const;
  // A value on a device: the literal's own memory where devices share the host's.
  DataOr Place(Literal literal, int64_t device);
  struct BackgroundRun;
  // Until those that Launch started have ended.
  void AwaitBackgroundRuns();

  const std::string platform_;
  const std::unique_ptr<Backend> backend_;
  const int64_t device_count_;
  DeviceQueues queues_;
  std::atomic<int64_t> compile_count_ = 0;
  // Programs by the computation they were made of; several threads that ask for one wait for the
  // first.
  struct Entry {
    std::once_flag once;
    absl::StatusOr<ProgramHandle> program;
  };
  std::mutex mutex_;
  absl::flat_hash_map<std::shared_ptr<const Module>, std::shared_ptr<Entry>> programs_;
  size_t forget_at_ = 16;  // so many programs
  int64_t background_runs_ = 0;
  std::condition_variable run_ended_;
};

// The process's own clients, one a platform, made at first use and never destroyed.
class ClientLibrary {
 public:
  // Errors: NotFound where there is no such platform.
  static absl::StatusOr<Client*> GetOrCreateClient(absl::string_view platform = "cpu");
  // Aborts where there is no such platform.
  static Client* ClientLibraryOrDie(absl::string_view platform = "cpu");
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
