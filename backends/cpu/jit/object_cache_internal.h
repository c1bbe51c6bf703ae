// Object code kept in a folder, from one process to the next.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

namespace hlokit {

// Files are named after a digest of all that the object depends on: the IR (which holds neither
// metadata nor values of large constants), the processor, LLVM's version and the level of
// optimisation. Written whole or not at all, so that processes may share the folder; a file that
// is damaged counts as missing. Where the folder cannot be written nothing is kept.
class ObjectCache {
 public:
  // `folder` empty: keeps nothing.
  explicit ObjectCache(std::string folder) : folder_(std::move(folder)) {}

  bool enabled() const { return !folder_.empty(); }
  // Deletes what processes that were killed had begun to write; nothing while another one writes.
  void RemoveLeftovers() const;
  // The file for what `module` compiles to.
  std::string PathOf(const llvm::Module& module, int opt_level) const;
  // Null where there is none.
  std::unique_ptr<llvm::MemoryBuffer> Load(const std::string& path) const;
  // Errors: where the folder cannot be made or takes no file, which costs time, not results.
  absl::Status Store(const std::string& path, llvm::StringRef object) const;

 private:
  std::string folder_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
