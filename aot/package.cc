// Archives and shared libraries.
#include "aot/package.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <iterator>
#include <vector>

#include "support/file.h"
#include "support/scratch_folder.h"
#include "support/status.h"

extern char** environ;

namespace hlokit {
namespace {

std::string Padded(absl::string_view text, size_t width) {
  std::string padded(text);
  padded.resize(width, ' ');
  return padded;
}

void AppendMember(std::string& out, absl::string_view name, absl::string_view contents) {
  absl::StrAppend(&out, Padded(name, 16), Padded("0", 12), Padded("0", 6), Padded("0", 6),
                  Padded("644", 8), Padded(absl::StrCat(contents.size()), 10), "`\n");
  out.append(contents.data(), contents.size());
  if (contents.size() % 2 != 0) out += '\n';
}

std::string BigEndian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

// The archive of one object that defines NAME_model and NAME_entry.
std::string MakeArchive(const AotObject& object, const std::string& name) {
  const std::string symbols[] = {name + "_model", name + "_entry"};
  std::string names;
  for (const std::string& symbol : symbols) names.append(symbol.c_str(), symbol.size() + 1);
  const size_t table_size = 4 + 4 * std::size(symbols) + names.size();
  const size_t member = 8 + 60 + table_size + table_size % 2;
  std::string table = BigEndian(std::size(symbols));
  for (size_t i = 0; i < std::size(symbols); ++i) table += BigEndian(static_cast<uint32_t>(member));
  table += names;
  std::string archive = "!<arch>\n";
  AppendMember(archive, "/", table);
  AppendMember(archive, "model.o/", object.code);
  return archive;
}

// Runs a linker for `triple` and waits. Errors: FailedPrecondition with its standard error.
absl::Status Link(const std::vector<std::string>& command, const std::string& triple,
                  const std::string& log) {
  std::vector<char*> argv;
  for (const std::string& part : command) argv.push_back(const_cast<char*>(part.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed != 0 || waitpid(child, &status, 0) < 0)
    return FailedPrecondition("cannot run the linker ", command[0]);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  const absl::StatusOr<std::string> said = ReadFile(log);
  return FailedPrecondition(command[0], " does not link for ", triple,
                            " (--linker and --runtime name others):\n", said.ok() ? *said : "");
}

absl::Status LinkShared(const AotObject& object, const PackageOptions& options) {
  const ScratchFolder folder;
  if (folder.path().empty()) return FailedPrecondition("cannot make a temporary folder");
  const std::string code = folder.path() + "/model.o", linked = folder.path() + "/model.so";
  RETURN_IF_ERROR(AtomicWriteFile(code, object.code));
  std::string linker = options.linker;
  const char* from_environment = std::getenv("CXX");
  if (linker.empty()) linker = from_environment != nullptr ? from_environment : "c++";
  RETURN_IF_ERROR(
      Link({linker, "-shared", "-o", linked, code, "-Wl,-u,hlokit_aot_create", options.runtime,
            "-Wl,--gc-sections", "-lhwy_contrib", "-lhwy", "-pthread", "-ldl"},
           object.triple, folder.path() + "/log"));
  ASSIGN_OR_RETURN(const std::string library, ReadFile(linked));
  return AtomicWriteFile(options.path, library);
}

}  // namespace

absl::Status WritePackage(const AotObject& object, const PackageOptions& options) {
  switch (options.format) {
    case AotFormat::kObject:
      return AtomicWriteFile(options.path, object.code);
    case AotFormat::kStatic:
      return AtomicWriteFile(options.path, MakeArchive(object, options.name));
    case AotFormat::kShared:
      return LinkShared(object, options);
  }
  return Internal("unknown format");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
