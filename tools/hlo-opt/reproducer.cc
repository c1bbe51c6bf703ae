// Names of files and the line that heads them.
#include "tools/hlo-opt/reproducer.h"

#include "absl/strings/str_cat.h"
#include "printer/printer.h"
#include "support/file.h"
#include "tools/common/command.h"

namespace hlokit {
std::string WriteReproducer(const Module& module, absl::string_view flags,
                            const OptOptions& options) {
  const std::string path =
      options.reproducer.empty() ? TemporaryPath("hlo-opt", "hlo") : options.reproducer;
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
