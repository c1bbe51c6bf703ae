// Files of modules between passes.
#include "tools/hlo-opt/pass_dump.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "printer/whole_text.h"
#include "tools/common/dump_folder.h"

namespace hlokit {

std::string DumpStem(const Module& module, int64_t number) {
  return absl::StrFormat("module_%04d.%s.", number,
                         absl::StrReplaceAll(module.name(), {{"/", "_"}}));
}

absl::Status PassDump::Start() const { return MakeDumpFolder(files_.folder); }

void PassDump::Before(absl::string_view next, const Module& module) {
  if (!changed_ || !status_.ok()) return;
  changed_ = false;
  if (!RE2::PartialMatch(last_, pass_re_) && !RE2::PartialMatch(AsStd(next), pass_re_)) return;
  const std::string file =
      absl::StrFormat("%s%04d.%s.after_%s.before_%s.txt", DumpStem(module, module_number_),
                      number_++, files_.pipeline, last_, next);
  status_ = WriteDumpFile(files_.folder, file, WholeText(module));
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
