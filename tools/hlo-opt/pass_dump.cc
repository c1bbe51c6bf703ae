// Files of modules between passes.
#include "tools/hlo-opt/pass_dump.h"

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "printer/whole_text.h"
#include "tools/common/dump_folder.h"

namespace hlokit {

absl::Status PassDump::Start() const { return MakeDumpFolder(folder_); }

void PassDump::Before(absl::string_view next, const Module& module) {
  if (!changed_ || !status_.ok()) return;
  changed_ = false;
  const std::string name = absl::StrReplaceAll(module.name(), {{"/", "_"}});
  const std::string file = absl::StrFormat("module_0000.%s.%04d.hlo-opt.after_%s.before_%s.txt",
                                           name, number_++, last_, next);
  status_ = WriteDumpFile(folder_, file, WholeText(module));
}

absl::Status PassDump::After(const PassRun& run) {
  if (run.changed) {
    changed_ = true;
    last_ = run.name;
  }
  return status_;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
