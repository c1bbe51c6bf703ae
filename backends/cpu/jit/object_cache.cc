// Compiled objects in a folder, one file each, named by a digest of all that the code depends on:
// bitcode, processor, LLVM's version, optimization level. A file is a line that says what it is,
// the digest of the object, and the object; one that is damaged counts as missing. Files are
// written under another name and renamed, so that readers see whole files only.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "backends/cpu/jit/host_target_internal.h"
#include "backends/cpu/jit/object_cache_internal.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include "support/file.h"

namespace hlokit {
namespace {

constexpr absl::string_view kMagic = "hlokit object 3\n";
constexpr size_t kDigest = 32;  // characters

std::string Digest(llvm::StringRef bytes) {
  const llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits(llvm::ArrayRef<uint8_t>(bytes.bytes_begin(), bytes.size()));
  return absl::StrCat(absl::Hex(hash.high64, absl::kZeroPad16),
                      absl::Hex(hash.low64, absl::kZeroPad16));
}

// An advisory lock on the folder: those who write share it, those who clean up own it. The system
// takes it from a process that dies. Never waits; file systems without locks give none.
class FolderLock {
 public:
  FolderLock(const std::string& folder, int how)
      : file_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
        held_(file_ >= 0 && flock(file_, how | LOCK_NB) == 0) {}
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() {
    if (file_ >= 0) close(file_);
  }
  bool held() const { return held_; }

 private:
  int file_;
  bool held_;
};

// Whether the file is one that AtomicWriteFile was still writing: DIGEST.o.tmpPID.NUMBER.
bool IsUnfinished(llvm::StringRef name) {
  return name.size() > kDigest &&
         name.take_front(kDigest).find_if_not(llvm::isHexDigit) == llvm::StringRef::npos &&
         name.drop_front(kDigest).starts_with(".o.tmp");
}

}  // namespace

void ObjectCache::RemoveLeftovers() const {
  const FolderLock lock(folder_, LOCK_EX);
  if (!lock.held()) return;
  std::error_code error;
  for (std::filesystem::directory_iterator file(folder_, error), end; !error && file != end;
       file.increment(error)) {
    std::error_code gone;
    if (IsUnfinished(file->path().filename().string())) std::filesystem::remove(*file, gone);
  }
}

std::string ObjectCache::PathOf(const llvm::Module& module, int opt_level) const {
  std::string key;
  llvm::raw_string_ostream out(key);
  llvm::WriteBitcodeToFile(module, out);
  out << Host()->cpu << Host()->features << LLVM_VERSION_STRING << opt_level << kMagic.data();
  out.flush();
  return absl::StrCat(folder_, "/", Digest(key), ".o");
}

std::unique_ptr<llvm::MemoryBuffer> ObjectCache::Load(const std::string& path) const {
  std::error_code missing;
  if (!std::filesystem::exists(path, missing)) return nullptr;
  const auto file = ReadFile(path);
  if (!file.ok() || file->size() <= kMagic.size() + kDigest) return nullptr;
  const llvm::StringRef bytes(file->data(), file->size());
  const llvm::StringRef object = bytes.drop_front(kMagic.size() + kDigest);
  if (!bytes.starts_with({kMagic.data(), kMagic.size()}) ||
      bytes.substr(kMagic.size(), kDigest) != Digest(object))
    return nullptr;
  return llvm::MemoryBuffer::getMemBufferCopy(object);
}

absl::Status ObjectCache::Store(const std::string& path, llvm::StringRef object) const {
  std::error_code failed;  // then the file cannot be written either
  std::filesystem::create_directories(folder_, failed);
  const std::string digest = Digest(object);
  const absl::string_view pieces[] = {kMagic, digest, {object.data(), object.size()}};
  const FolderLock lock(folder_, LOCK_SH);
  const absl::Status stored = AtomicWriteFile(path, pieces);
  // Another process, which had begun to clean up before this one had the lock, took it for a
  // leftover: it has done so by now.
  return absl::IsNotFound(stored) ? AtomicWriteFile(path, pieces) : stored;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
