// LLVM IR in files, for dumps.
#include "codegen/ir_file.h"

#include "llvm/Support/raw_ostream.h"
#include "support/file.h"

namespace hlokit {

absl::Status WriteIr(const llvm::Module& module, const std::string& path) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, nullptr);
  return AtomicWriteFile(path, out.str());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
