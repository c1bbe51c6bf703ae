// The one file of the runner that sees LLVM.
#include "testdata/runner/file_check.h"

#include <memory>

#include "llvm/ADT/SmallString.h"
#include "llvm/FileCheck/FileCheck.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace hlokit {
namespace {

void AppendMessage(const llvm::SMDiagnostic& diagnostic, void* text) {
  llvm::raw_string_ostream stream(*static_cast<std::string*>(text));
  diagnostic.print(nullptr, stream, /*ShowColors=*/false);
}

}  // namespace

bool FileCheck(const std::string& check_name, const std::string& check_text,
               const std::string& output, std::string& why) {
  llvm::FileCheckRequest request;
  request.CheckPrefixes = {"CHECK"};
  request.CommentPrefixes = {"COM"};
  request.AllowEmptyInput = true;
  llvm::FileCheck check(request);
  llvm::SourceMgr sources;
  sources.setDiagHandler(AppendMessage, &why);

  llvm::SmallString<4096> check_buffer, output_buffer;
  auto checks = llvm::MemoryBuffer::getMemBufferCopy(check_text, check_name);
  const llvm::StringRef check_canonical = check.CanonicalizeFile(*checks, check_buffer);
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(check_canonical, check_name),
                             llvm::SMLoc());
  if (check.readCheckFile(sources, check_canonical)) return false;
  auto copy = llvm::MemoryBuffer::getMemBufferCopy(output, "output");
  const llvm::StringRef canonical = check.CanonicalizeFile(*copy, output_buffer);
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(canonical, "output"), llvm::SMLoc());
  return check.checkInput(sources, canonical);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
