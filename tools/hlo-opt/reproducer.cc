// Names of files and the line that heads them.
#include "tools/hlo-opt/reproducer.h"

#include <unistd.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "printer/printer.h"
#include "support/file.h"

namespace hlokit {
namespace {

std::string TemporaryPath() {
  const char* folder = std::getenv("TMPDIR");
  return absl::StrCat(folder != nullptr && *folder != '\0' ? folder : "/tmp", "/hlo-opt-", getpid(),
                      ".hlo");
}

}  // namespace

std::string WriteReproducer(const Module& module, absl::string_view flags,
                            const OptOptions& options) {
  const std::string path = options.reproducer.empty() ? TemporaryPath() : options.reproducer;
  PrintOptions whole;
  whole.large_constants = true;
  const absl::Status written =
      AtomicWriteFile(path, absl::StrCat("// hlo-opt ", path, " ", flags,
                                         " --verify-each=interp --seed=", options.seed, "\n",
                                         Print(module, whole)));
  if (!written.ok()) return absl::StrCat(" (no reproducer: ", written.message(), ")");
  return absl::StrCat(" (see ", path, ")");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
