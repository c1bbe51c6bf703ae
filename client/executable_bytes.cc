// Executables as bytes: the module after passes, and the machine code that it compiles to.
//
// Layout, integers little-endian in 64 bits: magic, then the platform, the module as a message and
// a count of files, then name and contents of each, every string with its length before it.
#include <cstring>
#include <filesystem>

#include "client/client.h"
#include "proto/proto_file.h"
#include "support/file.h"
#include "support/scratch_folder.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr char kMagic[] = "hlokit executable 1\n";

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

ClientCompileOptions AsItStands(const std::string& cache) {
  ClientCompileOptions options;
  options.backend.which_passes = CompileOptions::Passes::kNone;
  options.backend.cache_dir = cache;
  options.verify = false;
  return options;
}

}  // namespace

absl::StatusOr<std::string> Client::SerializeExecutable(const CompiledProgram& program) {
  ASSIGN_OR_RETURN(const std::string message,
                   WriteModuleProto(program.module(), ProtoEncoding::kBinary));
  // Code is made once more, from what the reader will have, into a cache that goes along.
  const ScratchFolder folder;
  ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ReadModuleProto(message));
  RETURN_IF_ERROR(CompileModule(std::move(module), AsItStands(folder.path())).status());
  std::string out = kMagic;
  Append(out, platform_);
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
  ClientCompileOptions options = AsItStands(folder.path());
  options.verify = true;  // bytes may come from anywhere
  return CompileModule(std::move(module), options);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
