// Linking with ORC: the only file that includes it, as its headers are slow to compile. Parts of a
// module are compiled to objects on several threads; ORC then links them with the runtime's
// functions and the process's symbols. It compiles nothing itself.
#include "backends/cpu/jit/jit.h"

#include "absl/strings/str_cat.h"
#include "backends/cpu/jit/host_target_internal.h"
#include "backends/cpu/jit/object_cache_internal.h"
#include "backends/cpu/jit/object_code_internal.h"
#include "backends/cpu/jit/warm_up.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "runtime/table/kernels.h"
#include "support/clock.h"
#include "support/status.h"
#include "support/threads.h"

namespace hlokit {
namespace {

absl::Status FromLlvm(llvm::Error error, absl::string_view what) {
  std::string text;
  bool no_memory = false;
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase& info) {
    absl::StrAppend(&text, text.empty() ? "" : "; ", info.message());
    no_memory |= info.convertToErrorCode() == std::errc::not_enough_memory;
  });
  return no_memory ? ResourceExhausted("out of memory in ", what, ": ", text)
                   : Internal(what, ": ", text);
}

// What went wrong while ORC linked, first of all. It tells nobody else where an object fails that
// the symbol looked up does not stand in.
using SessionError = std::shared_ptr<absl::Status>;

SessionError CollectErrors(llvm::orc::LLJIT& jit) {
  auto first = std::make_shared<absl::Status>();
  jit.getExecutionSession().setErrorReporter(
      [first](llvm::Error error) { first->Update(FromLlvm(std::move(error), "linking")); });
  return first;
}

class OrcCode final : public JitCode {
 public:
  OrcCode(std::unique_ptr<llvm::orc::LLJIT> jit, Entry entry, int64_t bytes)
      : jit_(std::move(jit)), entry_(entry), bytes_(bytes) {}
  Entry entry() const override { return entry_; }
  int64_t code_bytes() const override { return bytes_; }

 private:
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  Entry entry_;
  int64_t bytes_;
};

llvm::orc::SymbolMap RuntimeSymbols(llvm::orc::LLJIT& jit) {
  llvm::orc::SymbolMap symbols;
#define HLOKIT_KERNEL(name)                                             \
  symbols[jit.mangleAndIntern(#name)] = {                               \
      llvm::orc::ExecutorAddr::fromPtr(reinterpret_cast<void*>(&name)), \
      llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
#include "runtime/table/kernels.def"
#undef HLOKIT_KERNEL
  return symbols;
}

// ORC is handed objects only; its own compiler is never called.
class NoCompiler final : public llvm::orc::IRCompileLayer::IRCompiler {
 public:
  NoCompiler() : IRCompiler(llvm::orc::IRSymbolMapper::ManglingOptions()) {}
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> operator()(llvm::Module&) override {
    return llvm::createStringError("no IR is compiled here");
  }
};

// Without what LLJIT does for programs of many kinds: no search for the host's features, no
// constructors to run at start.
llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> MakeJit(const HostDescription& host) {
  return llvm::orc::LLJITBuilder()
      .setJITTargetMachineBuilder(llvm::orc::JITTargetMachineBuilder(llvm::Triple(host.triple)))
      .setDataLayout(llvm::DataLayout(host.data_layout))
      .setCompileFunctionCreator(
          [](llvm::orc::JITTargetMachineBuilder)
              -> llvm::Expected<std::unique_ptr<llvm::orc::IRCompileLayer::IRCompiler>> {
            return std::make_unique<NoCompiler>();
          })
      .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
      .create();
}

// Symbols are looked for among the runtime's functions first, then in the process (libm).
absl::StatusOr<std::unique_ptr<JitCode>> Link(
    std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects) {
  auto jit = MakeJit(*Host());
  if (!jit) return FromLlvm(jit.takeError(), "JIT");
  const SessionError session_error = CollectErrors(**jit);
  llvm::orc::JITDylib& library = (*jit)->getMainJITDylib();
  auto generator = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!generator) return FromLlvm(generator.takeError(), "JIT");
  if (auto error = library.define(llvm::orc::absoluteSymbols(RuntimeSymbols(**jit))))
    return FromLlvm(std::move(error), "JIT");
  library.addGenerator(std::move(*generator));
  int64_t bytes = 0;
  for (auto& object : objects) {
    bytes += static_cast<int64_t>(object->getBufferSize());
    if (auto error = (*jit)->addObjectFile(std::move(object)))
      return FromLlvm(std::move(error), "JIT");
  }
  auto entry = (*jit)->lookup(kEntrySymbol);
  absl::Status failed = entry ? absl::OkStatus() : FromLlvm(entry.takeError(), "linking");
  RETURN_IF_ERROR(*session_error);  // the reason of the failure, where both tell one
  RETURN_IF_ERROR(failed);
  const auto function = entry->toPtr<JitCode::Entry>();
  return std::make_unique<OrcCode>(std::move(*jit), function, bytes);
}

}  // namespace

absl::StatusOr<HostTarget> FindHostTarget() {
  if (!Host().ok()) return Host().status();
  return HostTarget{Host()->triple, Host()->data_layout};
}

absl::StatusOr<std::unique_ptr<JitCode>> CompileToJit(EmittedModule emitted,
                                                      const JitOptions& options, JitStats& stats) {
  if (emitted.parts.size() > 1) EndWarmUp();  // else there is a core for it
  if (!options.cache_dir.empty()) ObjectCache(options.cache_dir).RemoveLeftovers();
  using Object = absl::StatusOr<CompiledObject>;
  std::vector<Object> compiled;
  for (size_t p = 0; p < emitted.parts.size(); ++p) compiled.emplace_back(CompiledObject());
  CompileProgress progress(options.progress, emitted.parts);
  CompileProgress* const counts = options.progress ? &progress : nullptr;
  const auto compile = [&](int64_t part) {
    const auto p = static_cast<size_t>(part);
    compiled[p] = CompileObject(emitted.parts[p], options, p, counts);
  };
  const auto parts = static_cast<int64_t>(compiled.size());
  RunOnThreads(parts, parts, compile);
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
  for (Object& object : compiled) {
    RETURN_IF_ERROR(object.status());
    stats.optimize_s += object->optimize_s;
    stats.generate_s += object->generate_s;
    stats.slowest.insert(stats.slowest.end(), object->slowest.begin(), object->slowest.end());
    stats.cached_objects += object->cached;
    stats.kept.Update(object->kept);
    ++stats.objects;
    objects.push_back(std::move(object->code));
  }
  stats.slowest = LongestFirst(std::move(stats.slowest), kSlowestFunctions);
  const double start = SteadySeconds();
  auto code = Link(std::move(objects));
  stats.link_s = SteadySeconds() - start;
  return code;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
