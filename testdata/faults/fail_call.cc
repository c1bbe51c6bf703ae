// A library for LD_PRELOAD that makes one allocation or system call of a program fail.
//   HLOKIT_FAULT=GROUP,N,MODE  the N-th call (from 1) of a group fails; without it calls are
//   counted HLOKIT_FAULT_LOG=FILE      appended to: "count GROUP N" at the end, "site GROUP N"
//   where a call
//                              comes from a place not seen before, "fired NAME from OBJECT+OFFSET"
//   HLOKIT_FAULT_DEPTH=D       a place is the D innermost return addresses; 0: places are not told
// Groups: memory (malloc and its kin), map (address space), file, thread.
// Modes: error (that call), onward (that call and all later ones of the group), eintr (interrupted,
// for calls that may be), short (a read or write of one byte).
//
// Calls that libc makes of itself are out of reach, but for those of malloc. The environment is
// cleared of HLOKIT_FAULT, so that child processes run undisturbed.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
// glibc's own allocator, which dlsym could not give before it allocates.
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

enum Group { kMemory, kMap, kFile, kThread, kGroups };
constexpr const char* kGroupNames[kGroups] = {"memory", "map", "file", "thread"};
enum Mode { kError, kOnward, kEintr, kShort };
constexpr const char* kModeNames[] = {"error", "onward", "eintr", "short"};

struct Plan {
  int group = -1;  // -1: nothing fails
  int64_t at = 0;
  Mode mode = kError;
  char log[512] = "";
  int depth = 0;  // of a place
  bool ready = false;
};
Plan plan;
std::atomic<int64_t> counts[kGroups];

// Hashes of the places seen, open addressing; 0 is a free slot.
constexpr size_t kPlaces = size_t{1} << 20;
std::atomic<uint64_t>* places = nullptr;

thread_local int busy __attribute__((tls_model("initial-exec"))) = 0;

void Append(const char* text) {
  if (plan.log[0] == '\0') return;
  const auto file = static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, plan.log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (file < 0) return;
  syscall(SYS_write, file, text, std::strlen(text));
  syscall(SYS_close, file);
}

struct Walk {
  uint64_t hash = 1469598103934665603U;  // FNV-1a
  int skip = 3, left = 0;                // frames of this library
};

_Unwind_Reason_Code AddFrame(_Unwind_Context* context, void* data) {
  auto* walk = static_cast<Walk*>(data);
  if (walk->skip-- > 0) return _URC_NO_REASON;
  walk->hash = (walk->hash ^ _Unwind_GetIP(context)) * 1099511628211U;
  return --walk->left > 0 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

bool IsNewPlace(uint64_t hash) {
  for (size_t i = hash % kPlaces, n = 0; n < kPlaces; ++n, i = (i + 1) % kPlaces) {
    uint64_t seen = 0;
    if (places[i].compare_exchange_strong(seen, hash)) return true;
    if (seen == hash) return false;
  }
  return false;
}

void NotePlace(Group group, int64_t number) {
  Walk walk;
  walk.left = plan.depth;
  _Unwind_Backtrace(AddFrame, &walk);
  if (!IsNewPlace(walk.hash | 1)) return;
  char line[64];
  std::snprintf(line, sizeof(line), "site %s %lld\n", kGroupNames[group],
                static_cast<long long>(number));
  Append(line);
}

void NoteFired(const char* name, const void* from) {
  Dl_info info = {};
  char line[600];
  const bool known = dladdr(from, &info) != 0;
  std::snprintf(line, sizeof(line), "fired %s from %.400s+%#lx\n", name,
                known ? info.dli_fname : "?",
                reinterpret_cast<uintptr_t>(from) -
                    reinterpret_cast<uintptr_t>(known ? info.dli_fbase : nullptr));
  Append(line);
}

// How a call of `group` named `name` is to fail; -1: it is not.
int Fails(Group group, const char* name, const void* from) {
  if (!plan.ready || busy != 0) return -1;
  const int64_t number = counts[group].fetch_add(1) + 1;
  const int saved = errno;
  ++busy;
  int mode = -1;
  if (plan.group == group && (number == plan.at || (plan.mode == kOnward && number > plan.at))) {
    if (number == plan.at) NoteFired(name, from);
    mode = plan.mode;
  } else if (plan.group < 0 && plan.depth > 0) {
    NotePlace(group, number);
  }
  --busy;
  errno = saved;
  return mode;
}

void ReadFault(const char* text) {
  char group[16] = "", mode[16] = "";
  long long at = 0;
  if (std::sscanf(text, "%15[^,],%lld,%15s", group, &at, mode) != 3) return;
  for (int g = 0; g < kGroups; ++g)
    if (std::strcmp(group, kGroupNames[g]) == 0) plan.group = g;
  for (int m = 0; m < 4; ++m)
    if (std::strcmp(mode, kModeNames[m]) == 0) plan.mode = static_cast<Mode>(m);
  plan.at = at;
}

__attribute__((constructor)) void Start() {
  if (const char* log = std::getenv("HLOKIT_FAULT_LOG"))
    std::snprintf(plan.log, sizeof(plan.log), "%s", log);
  if (const char* depth = std::getenv("HLOKIT_FAULT_DEPTH")) plan.depth = std::atoi(depth);
  if (const char* fault = std::getenv("HLOKIT_FAULT")) ReadFault(fault);
  if (plan.depth > 0)
    places = static_cast<std::atomic<uint64_t>*>(__libc_calloc(kPlaces, sizeof(*places)));
  for (const char* name : {"HLOKIT_FAULT", "HLOKIT_FAULT_LOG", "HLOKIT_FAULT_DEPTH"})
    unsetenv(name);
  plan.ready = true;
}

__attribute__((destructor)) void Finish() {
  plan.ready = false;
  if (plan.group >= 0) return;
  for (int g = 0; g < kGroups; ++g) {
    char line[64];
    std::snprintf(line, sizeof(line), "count %s %lld\n", kGroupNames[g],
                  static_cast<long long>(counts[g].load()));
    Append(line);
  }
}

template <typename F>
F* Next(const char* name) {
  ++busy;
  auto* const next = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
  --busy;
  return next;
}

// True, and errno is set, where the call is to fail as a whole.
bool Refused(Group group, const char* name, const void* from, int error) {
  const int mode = Fails(group, name, from);
  if (mode != kError && mode != kOnward) return false;
  errno = error;
  return true;
}

// The same for a transfer of `*count` bytes, which may be interrupted or short.
bool RefusedTransfer(const char* name, const void* from, int error, size_t* count) {
  const int mode = Fails(kFile, name, from);
  if (mode == kShort) *count = std::min(*count, size_t{1});
  if (mode < 0 || mode == kShort) return false;
  errno = mode == kEintr ? EINTR : error;
  return true;
}

}  // namespace

#define FROM __builtin_return_address(0)

extern "C" {

void* malloc(size_t size) {
  return Refused(kMemory, "malloc", FROM, ENOMEM) ? nullptr : __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  return Refused(kMemory, "calloc", FROM, ENOMEM) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* block, size_t size) {
  return Refused(kMemory, "realloc", FROM, ENOMEM) ? nullptr : __libc_realloc(block, size);
}
void* reallocarray(void* block, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return errno = ENOMEM, nullptr;
  return Refused(kMemory, "reallocarray", FROM, ENOMEM) ? nullptr : __libc_realloc(block, bytes);
}
void* memalign(size_t alignment, size_t size) {
  return Refused(kMemory, "memalign", FROM, ENOMEM) ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return Refused(kMemory, "aligned_alloc", FROM, ENOMEM) ? nullptr
                                                         : __libc_memalign(alignment, size);
}
int posix_memalign(void** block, size_t alignment, size_t size) {
  if (Refused(kMemory, "posix_memalign", FROM, ENOMEM)) return ENOMEM;
  void* const made = __libc_memalign(alignment, size);
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}

// RESULT NAME(PARAMETERS) that fails with VALUE and ERROR.
#define CALL(group, RESULT, name, PARAMETERS, ARGUMENTS, VALUE, ERROR)  \
  RESULT name PARAMETERS {                                              \
    static auto* const next = Next<RESULT PARAMETERS>(#name);           \
    return Refused(group, #name, FROM, ERROR) ? VALUE : next ARGUMENTS; \
  }

CALL(kMap, void*, mmap, (void* at, size_t n, int prot, int flags, int fd, off_t offset),
     (at, n, prot, flags, fd, offset), MAP_FAILED, ENOMEM)
CALL(kMap, void*, mmap64, (void* at, size_t n, int prot, int flags, int fd, off64_t offset),
     (at, n, prot, flags, fd, offset), MAP_FAILED, ENOMEM)
CALL(kMap, int, mprotect, (void* at, size_t n, int prot), (at, n, prot), -1, ENOMEM)
CALL(kMap, int, madvise, (void* at, size_t n, int advice), (at, n, advice), -1, EINVAL)
CALL(kMap, int, munmap, (void* at, size_t n), (at, n), -1, EINVAL)

CALL(kFile, FILE*, fopen, (const char* path, const char* mode), (path, mode), nullptr, EMFILE)
CALL(kFile, FILE*, fopen64, (const char* path, const char* mode), (path, mode), nullptr, EMFILE)
CALL(kFile, DIR*, opendir, (const char* path), (path), nullptr, EMFILE)
CALL(kFile, int, rename, (const char* from, const char* to), (from, to), -1, EIO)
CALL(kFile, int, unlink, (const char* path), (path), -1, EIO)
CALL(kFile, int, mkdir, (const char* path, mode_t mode), (path, mode), -1, ENOSPC)
CALL(kFile, char*, mkdtemp, (char* name), (name), nullptr, ENOSPC)
CALL(kFile, int, rmdir, (const char* path), (path), -1, EIO)
CALL(kFile, int, stat, (const char* path, struct stat* out), (path, out), -1, EIO)
CALL(kFile, int, stat64, (const char* path, struct stat64* out), (path, out), -1, EIO)
CALL(kFile, int, lstat, (const char* path, struct stat* out), (path, out), -1, EIO)
CALL(kFile, int, lstat64, (const char* path, struct stat64* out), (path, out), -1, EIO)
CALL(kFile, int, fstat, (int fd, struct stat* out), (fd, out), -1, EIO)
CALL(kFile, int, fstat64, (int fd, struct stat64* out), (fd, out), -1, EIO)
CALL(kFile, int, fchmod, (int fd, mode_t mode), (fd, mode), -1, EIO)
CALL(kFile, int, fchmodat, (int at, const char* path, mode_t mode, int flags),
     (at, path, mode, flags), -1, EIO)
CALL(kFile, int, ftruncate, (int fd, off_t size), (fd, size), -1, EIO)
CALL(kFile, int, ftruncate64, (int fd, off64_t size), (fd, size), -1, EIO)
CALL(kFile, int, fsync, (int fd), (fd), -1, EIO)
CALL(kFile, off_t, lseek, (int fd, off_t offset, int whence), (fd, offset, whence), -1, EIO)
CALL(kFile, off64_t, lseek64, (int fd, off64_t offset, int whence), (fd, offset, whence), -1, EIO)
CALL(kFile, char*, realpath, (const char* path, char* out), (path, out), nullptr, EIO)
CALL(kFile, ssize_t, readlink, (const char* path, char* out, size_t n), (path, out, n), -1, EIO)
CALL(kFile, char*, getcwd, (char* out, size_t n), (out, n), nullptr, ENOENT)
CALL(kFile, int, pipe, (int* ends), (ends), -1, EMFILE)
CALL(kFile, int, pipe2, (int* ends, int flags), (ends, flags), -1, EMFILE)
CALL(kFile, int, dup, (int fd), (fd), -1, EMFILE)

CALL(kThread, pid_t, fork, (), (), -1, EAGAIN)
CALL(kThread, int, pthread_create,
     (pthread_t * thread, const pthread_attr_t* attributes, void* (*work)(void*), void* data),
     (thread, attributes, work, data), EAGAIN, 0)
CALL(kThread, int, sched_getaffinity, (pid_t pid, size_t n, cpu_set_t* set), (pid, n, set), -1,
     EINVAL)
CALL(kThread, int, getrlimit, (__rlimit_resource_t what, struct rlimit* out), (what, out), -1,
     EINVAL)
CALL(kThread, int, getrlimit64, (__rlimit_resource_t what, struct rlimit64* out), (what, out), -1,
     EINVAL)

#define TRANSFER(name, PARAMETERS, ARGUMENTS, ERROR)                          \
  ssize_t name PARAMETERS {                                                   \
    static auto* const next = Next<ssize_t PARAMETERS>(#name);                \
    return RefusedTransfer(#name, FROM, ERROR, &count) ? -1 : next ARGUMENTS; \
  }
TRANSFER(read, (int fd, void* data, size_t count), (fd, data, count), EIO)
TRANSFER(pread, (int fd, void* data, size_t count, off_t at), (fd, data, count, at), EIO)
TRANSFER(pread64, (int fd, void* data, size_t count, off64_t at), (fd, data, count, at), EIO)
TRANSFER(write, (int fd, const void* data, size_t count), (fd, data, count), ENOSPC)
TRANSFER(pwrite, (int fd, const void* data, size_t count, off_t at), (fd, data, count, at), ENOSPC)
TRANSFER(pwrite64, (int fd, const void* data, size_t count, off64_t at), (fd, data, count, at),
         ENOSPC)
CALL(kFile, ssize_t, writev, (int fd, const struct iovec* pieces, int count), (fd, pieces, count),
     -1, ENOSPC)
CALL(kFile, size_t, fwrite, (const void* data, size_t size, size_t n, FILE* file),
     (data, size, n, file), 0, ENOSPC)

// The descriptor is closed all the same, as Linux does.
int close(int fd) {
  static auto* const next = Next<int(int)>("close");
  const bool refused = Refused(kFile, "close", FROM, EIO);
  const int result = next(fd);
  return refused ? (errno = EIO, -1) : result;
}

#define OPEN(name)                                                             \
  int name(const char* path, int flags, ...) {                                 \
    static auto* const next = Next<int(const char*, int, ...)>(#name);         \
    va_list rest;                                                              \
    va_start(rest, flags);                                                     \
    const mode_t mode = va_arg(rest, mode_t);                                  \
    va_end(rest);                                                              \
    return Refused(kFile, #name, FROM, EMFILE) ? -1 : next(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

int openat(int at, const char* path, int flags, ...) {
  static auto* const next = Next<int(int, const char*, int, ...)>("openat");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return Refused(kFile, "openat", FROM, EMFILE) ? -1 : next(at, path, flags, mode);
}

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
