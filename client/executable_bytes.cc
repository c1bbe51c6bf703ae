// Executables as bytes: the module after passes, and the machine code that it compiles to.
//
// Layout, integers little-endian in 64 bits: magic, then the platform, options, the list of passes,
// the module as a message and a count of files, then name and contents of each, every string with
// its length before it.
#include <cstring>
#include <filesystem>

#include "client/client.h"
#include "proto/proto_file.h"
#include "support/file.h"
#include "support/scratch_folder.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr char kMagic[] = "hlokit executable 2\n";

void Append(std::string& out, absl::string_view text) {
  const uint64_t size = text.size();
  out.append(reinterpret_cast<const char*>(&size), sizeof(size));
  out.append(text.data(), text.size());
}

absl::StatusOr<absl::string_view> Take(absl::string_view& from) {
  uint64_t size = 0;
  if (from.size() < sizeof(size)) return InvalidArgument("the executable's bytes end early");
  std::memcpy(&size, from.data(), sizeof(size));
  from.remove_prefix(sizeof(size));
  if (size > from.size()) return InvalidArgument("the executable's bytes end early");
  const absl::string_view text = from.substr(0, size);
  from.remove_prefix(size);
  return text;
}

// What of the options makes a difference to the program, as integers.
struct StoredOptions {
  int64_t which_passes, opt_level, threads, flush_denormals, donate, profile;
  int64_t steps, memory_bytes;
};

StoredOptions Store(const CompileOptions& o) {
  return {static_cast<int64_t>(o.which_passes),
          o.opt_level,
          o.threads,
          o.flush_denormals,
          o.donate,
          o.profile,
          o.limits.steps,
          o.limits.memory_bytes};
}

// Errors: InvalidArgument for values that no options have.
absl::StatusOr<CompileOptions> Restore(absl::string_view bytes, absl::string_view passes) {
  StoredOptions stored;
  if (bytes.size() != sizeof(stored))
    return InvalidArgument("the executable's options are damaged");
  std::memcpy(&stored, bytes.data(), sizeof(stored));
  const auto last = static_cast<int64_t>(CompileOptions::Passes::kListed);
  if (stored.which_passes < 0 || stored.which_passes > last || stored.opt_level < 0 ||
      stored.opt_level > 3 || stored.threads < 0 || stored.threads > INT32_MAX)
    return InvalidArgument("the executable's options are damaged");
  CompileOptions options;
  options.which_passes = static_cast<CompileOptions::Passes>(stored.which_passes);
  options.passes = std::string(passes);
  options.opt_level = static_cast<int>(stored.opt_level);
  options.threads = static_cast<int>(stored.threads);
  options.flush_denormals = stored.flush_denormals != 0;
  options.donate = stored.donate != 0;
  options.profile = stored.profile != 0;
  options.limits = {stored.steps, stored.memory_bytes};
  return options;
}

// The program's options, for the module that its bytes hold: one that has been through passes,
// unless it is the source.
CompileOptions OptionsFor(const CompiledProgram& program) {
  CompileOptions options = program.options();
  if (program.source().empty()) {
    options.which_passes = CompileOptions::Passes::kNone;
    options.passes.clear();
  }
  options.dump_to.clear();
  options.progress = nullptr;
  return options;
}

}  // namespace

absl::StatusOr<std::string> Client::SerializeExecutable(const CompiledProgram& program) {
  std::string message = program.source();
  if (message.empty()) {
    ASSIGN_OR_RETURN(message, WriteModuleProto(program.module(), ProtoEncoding::kBinary));
  }
  // Code is made once more, from what the reader will have, into a cache that goes along.
  const ScratchFolder folder;
  ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ReadModuleProto(message));
  ClientCompileOptions options = {.backend = OptionsFor(program), .verify = false};
  options.backend.cache_dir = folder.path();
  RETURN_IF_ERROR(CompileModule(std::move(module), options).status());
  std::string out = kMagic;
  Append(out, platform_);
  const StoredOptions stored = Store(options.backend);
  Append(out, absl::string_view(reinterpret_cast<const char*>(&stored), sizeof(stored)));
  Append(out, options.backend.passes);
  Append(out, message);
  std::vector<std::filesystem::path> files;
  if (!folder.path().empty())
    for (const auto& file : std::filesystem::directory_iterator(folder.path()))
      files.push_back(file.path());
  const uint64_t count = files.size();
  Append(out, absl::string_view(reinterpret_cast<const char*>(&count), sizeof(count)));
  for (const std::filesystem::path& file : files) {
    ASSIGN_OR_RETURN(const std::string contents, ReadFile(file.string()));
    Append(out, file.filename().string());
    Append(out, contents);
  }
  return out;
}

absl::StatusOr<ProgramHandle> Client::LoadExecutable(absl::string_view bytes) {
  const absl::string_view magic = kMagic;
  if (bytes.substr(0, magic.size()) != magic)
    return InvalidArgument("these bytes are no executable of this version");
  bytes.remove_prefix(magic.size());
  ASSIGN_OR_RETURN(const absl::string_view platform, Take(bytes));
  if (platform != platform_)
    return InvalidArgument("the executable is for ", platform, ", this client is ", platform_);
  ASSIGN_OR_RETURN(const absl::string_view stored, Take(bytes));
  ASSIGN_OR_RETURN(const absl::string_view passes, Take(bytes));
  ClientCompileOptions options;  // verified: bytes may come from anywhere
  ASSIGN_OR_RETURN(options.backend, Restore(stored, passes));
  ASSIGN_OR_RETURN(const absl::string_view message, Take(bytes));
  ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ReadModuleProto(message));
  uint64_t count = 0;
  ASSIGN_OR_RETURN(const absl::string_view files, Take(bytes));
  if (files.size() != sizeof(count)) return InvalidArgument("the executable's bytes are damaged");
  std::memcpy(&count, files.data(), sizeof(count));
  const ScratchFolder folder;
  for (; count > 0; --count) {
    ASSIGN_OR_RETURN(const absl::string_view name, Take(bytes));
    ASSIGN_OR_RETURN(const absl::string_view contents, Take(bytes));
    if (name.empty() || name.find('/') != absl::string_view::npos)
      return InvalidArgument("the executable's bytes are damaged");
    if (folder.path().empty()) continue;
    RETURN_IF_ERROR(AtomicWriteFile(absl::StrCat(folder.path(), "/", name), contents));
  }
  options.backend.cache_dir = folder.path();
  return CompileModule(std::move(module), options);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
