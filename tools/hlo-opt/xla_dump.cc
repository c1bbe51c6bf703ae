// Files around all passes.
#include "tools/hlo-opt/xla_dump.h"

#include "absl/strings/str_cat.h"
#include "printer/printer.h"
#include "support/status.h"
#include "tools/common/dump_folder.h"
#include "tools/hlo-opt/pass_dump.h"

namespace hlokit {

absl::Status XlaDump::WriteText(const Module& module, absl::string_view ending) const {
  PrintOptions text;
  text.large_constants = options_.xla_dump_large_constants;
  return WriteDumpFile(options_.xla_dump_to,
                       absl::StrCat(DumpStem(module, options_.module_number), ending),
                       Print(module, text));
}

absl::Status XlaDump::Before(const Module& module) const {
  if (options_.xla_dump_to.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(MakeDumpFolder(options_.xla_dump_to));
  return WriteText(module, "before_optimization.txt");
}

absl::Status XlaDump::After(const Module& module) const {
  if (options_.xla_dump_to.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(WriteText(module, "after_optimization.txt"));
  return WriteDumpFile(options_.xla_dump_to,
                       absl::StrCat(DumpStem(module, options_.module_number), "debug_options"),
                       options_.xla_debug_options);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
