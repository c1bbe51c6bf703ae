// File access over POSIX calls, so that every failure has its errno's words.
#include "support/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "support/limits.h"
#include "support/status.h"

namespace hlokit {
namespace {

absl::Status SystemError(absl::string_view verb, const std::string& path) {
  int error = errno;
  std::string message = absl::StrCat("cannot ", verb, " ", path, ": ", std::strerror(error));
  return error == ENOENT ? absl::NotFoundError(message) : absl::InvalidArgumentError(message);
}

// A descriptor that closes itself; standard streams stay open.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { (void)Close(); }
  int get() const { return fd_; }

  // False where the system could not store what was written: disks that are far away say so late.
  bool Close() {
    const int fd = std::exchange(fd_, -1);
    return fd <= STDERR_FILENO || close(fd) == 0 || errno == EINTR;
  }

 private:
  int fd_;
};

using Pieces = absl::Span<const absl::string_view>;

absl::Status WriteAll(int fd, Pieces pieces, const std::string& path) {
  for (absl::string_view contents : pieces) {
    while (!contents.empty()) {
      ssize_t count = write(fd, contents.data(), contents.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return SystemError("write", path);
      contents.remove_prefix(static_cast<size_t>(count));
    }
  }
  return absl::OkStatus();
}

absl::Status WriteDirectly(const std::string& path, Pieces contents) {
  if (path == "-") return WriteAll(STDOUT_FILENO, contents, "standard output");
  Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) return SystemError("write", path);
  RETURN_IF_ERROR(WriteAll(file.get(), contents, path));
  return file.Close() ? absl::OkStatus() : SystemError("write", path);
}

// Symbolic links are followed, so that the file they name is replaced and not the link.
std::string ResolveLink(const std::string& path) {
  char* resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string result(resolved);
  std::free(resolved);
  return result;
}

// The path being written, for RemoveUnfinishedFile, which a signal's handler calls: it reads the
// path where the state is kSet. Of threads that write files at once, one finds it free.
enum class Unfinished { kFree, kTaken, kSet };
char unfinished[PATH_MAX];
std::atomic<Unfinished> unfinished_state = Unfinished::kFree;
static_assert(std::atomic<Unfinished>::is_always_lock_free);

// A file next to `path` that vanishes unless it is renamed. One at a time is known to signal
// handlers.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& path) {
    static std::atomic<int> count{0};
    path_ = absl::StrCat(path, ".tmp", getpid(), ".", count++);
    auto expected = Unfinished::kFree;
    known_ = path_.size() < sizeof(unfinished) &&
             unfinished_state.compare_exchange_strong(expected, Unfinished::kTaken);
    if (!known_) return;
    std::memcpy(unfinished, path_.c_str(), path_.size() + 1);
    unfinished_state = Unfinished::kSet;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!renamed_) unlink(path_.c_str());
    if (known_) unfinished_state = Unfinished::kFree;
  }

  int Open() const { return open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600); }
  bool RenameTo(const std::string& path) {
    return renamed_ = rename(path_.c_str(), path.c_str()) == 0;
  }

 private:
  std::string path_;
  bool known_ = false;  // by signal handlers
  bool renamed_ = false;
};

absl::Status WriteBesideAndRename(const std::string& path, Pieces contents, mode_t mode) {
  TemporaryFile temporary(path);
  Descriptor file(temporary.Open());
  if (file.get() < 0) return SystemError("write", path);
  RETURN_IF_ERROR(WriteAll(file.get(), contents, path));
  if (fchmod(file.get(), mode) != 0 || !file.Close() || !temporary.RenameTo(path))
    return SystemError("write", path);
  return absl::OkStatus();
}

mode_t DefaultMode() {
  mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// A text of zeros to be overwritten. Where it is large, in huge pages: else the faults of its small
// ones would take longer than reading does.
std::string ZeroText(size_t size) {
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
  std::string text;
  text.reserve(size);
  const auto start = reinterpret_cast<uintptr_t>(text.data());
  const uintptr_t first = (start + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t last = (start + size) / kHugePage * kHugePage;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
  text.resize(size);
  return text;
}

// A path through a file (`a.hlo/../b.pb`, as XLA's tests write it) is taken by its words.
int OpenToRead(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file >= 0 || errno != ENOTDIR) return file;
  const std::string plain = std::filesystem::path(path).lexically_normal().string();
  const int found = open(plain.c_str(), O_RDONLY | O_CLOEXEC);
  if (found < 0) errno = ENOTDIR;
  return found;
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  bool standard_input = path == "-";
  Descriptor file(standard_input ? STDIN_FILENO : OpenToRead(path));
  if (file.get() < 0) return SystemError("read", path);
  struct stat info;
  bool sized = fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
  std::string contents = ZeroText(sized ? static_cast<size_t>(info.st_size) + 1 : size_t{1} << 16);
  size_t filled = 0;
  while (true) {
    if (!sized && filled > static_cast<size_t>(kMaxTextBytes))
      return InvalidArgument("cannot read ", path, ": it goes on after ", kMaxTextBytes, " bytes");
    if (filled == contents.size()) contents.resize(contents.size() * 2);
    ssize_t count = read(file.get(), contents.data() + filled, contents.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError("read", standard_input ? "standard input" : path);
    if (count == 0) break;
    filled += static_cast<size_t>(count);
  }
  contents.resize(filled);
  return contents;
}

absl::Status AtomicWriteFile(const std::string& path, absl::string_view contents) {
  return AtomicWriteFile(path, absl::MakeConstSpan(&contents, 1));
}

absl::Status AtomicWriteFile(const std::string& path,
                             absl::Span<const absl::string_view> contents) {
  struct stat info;
  bool exists = path != "-" && stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode))
    return InvalidArgument("cannot write ", path, ": Is a directory");
  if (path == "-" || (exists && !S_ISREG(info.st_mode))) return WriteDirectly(path, contents);
  return WriteBesideAndRename(ResolveLink(path), contents,
                              exists ? info.st_mode & 07777 : DefaultMode());
}

void RemoveUnfinishedFile() {
  if (unfinished_state == Unfinished::kSet) unlink(unfinished);
}

std::string FolderOfProgram() {
  std::string path(4096, '\0');
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(size > 0 ? size : 0);
  return path.substr(0, path.rfind('/'));
}

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (file.get() < 0 || fstat(file.get(), &info) != 0) return SystemError("read", path);
  if (!S_ISREG(info.st_mode)) return InvalidArgument("cannot map ", path, ": not a plain file");
  size_t size = static_cast<size_t>(info.st_size);
  if (size == 0) return MappedFile("", 0);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) return SystemError("map", path);
  return MappedFile(static_cast<const char*>(data), size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (size_ > 0) munmap(const_cast<char*>(data_), size_);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
