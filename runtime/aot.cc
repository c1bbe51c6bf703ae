// Memory and runs of programs compiled ahead of time.
#include "runtime/aot.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/first_use_internal.h"
#include "support/allocate.h"

static_assert(HLOKIT_AOT_ALIGNMENT == hlokit::kBlockAlignment);

namespace {

// Of the arena, in a program's first run.
constexpr size_t kSmallPages = size_t{16} << 20;

struct Free {
  void operator()(void* p) const { std::free(p); }
};
using Memory = std::unique_ptr<void, Free>;

// An array's memory, zeros at first: pages that are fresh from the system are so already.
class ZeroedBlock {
 public:
  // Null where memory is short.
  void* Allocate(int64_t bytes) {
    const size_t size = static_cast<size_t>(bytes) + hlokit::kBlockAlignment;
    const bool large = size >= hlokit::kHugePage;
    const size_t alignment = large ? hlokit::kHugePage : hlokit::kBlockAlignment;
    base_.reset(std::calloc(size + alignment, 1));
    void* data = base_.get();
    size_t space = size + alignment;
    if (data == nullptr || std::align(alignment, size, data, space) == nullptr) return nullptr;
    hlokit::PreferHugePages(data, size);
    return data;
  }

 private:
  Memory base_;
};

// A file's bytes, mapped as long as the object lives.
class Mapping {
 public:
  Mapping() = default;
  ~Mapping() {
    if (data_ != MAP_FAILED) munmap(data_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  // False where there is no such file of that size; errno says why (0: another size).
  bool Open(const char* path, int64_t size) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    struct stat status;
    errno = 0;
    if (fstat(file, &status) == 0 && status.st_size == size) {
      size_ = static_cast<size_t>(size);
      data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    }
    close(file);
    return data_ != MAP_FAILED;
  }
  const char* data() const { return static_cast<const char*>(data_); }

 private:
  void* data_ = MAP_FAILED;
  size_t size_ = 0;
};

}  // namespace

struct HlokitAotRun {
  ~HlokitAotRun() { hlokit_queues_destroy(static_cast<HlokitQueues*>(context.queues)); }

  const HlokitAotModel* model;
  HlokitRunContext context;
  Mapping weights;
  Memory arena;
  std::vector<void*> table;  // arguments, constants, results
  bool settled = false;      // has run
  std::vector<ZeroedBlock>
      own;  // arguments and results of the run itself, by their place in the table
  std::vector<void*> filled;  // the table of a run

  int64_t first_result() const { return model->argument_count + model->constant_count; }
  void* At(int64_t place, int64_t bytes) {
    if (table[place] == nullptr) table[place] = own[place].Allocate(bytes);
    return table[place];
  }
  void* Argument(int64_t i) { return At(i, model->arguments[i].bytes); }
  // The memory of result `i`, or of the argument that it hands on or takes the memory of.
  void* Result(int64_t i) {
    void* set = table[first_result() + i];
    const int64_t argument = std::max(model->passed_through[i], model->donated[i]);
    if (set != nullptr || argument < 0) return At(first_result() + i, model->results[i].bytes);
    return Argument(argument);
  }
  bool FillTable(void** filled);
};

bool HlokitAotRun::FillTable(void** filled) {
  for (int64_t i = 0; i < model->argument_count; ++i)
    if (Argument(i) == nullptr) return false;
  std::copy(table.begin(), table.end(), filled);
  for (int64_t i = 0; i < model->result_count; ++i) {
    void* result = Result(i);
    if (result == nullptr) return false;
    filled[first_result() + i] = result;
    // The code finds a donated argument where the result is to lie.
    if (const int64_t from = model->donated[i]; from >= 0 && result != Argument(from))
      std::memcpy(result, Argument(from), static_cast<size_t>(model->results[i].bytes));
  }
  return true;
}

namespace {

void Explain(char* error, int64_t size, const char* what, const char* detail) {
  if (error != nullptr && size > 0)
    std::snprintf(error, static_cast<size_t>(size), "%s%s%s", what, detail[0] == 0 ? "" : ": ",
                  detail);
}

bool BindWeights(HlokitAotRun& run, const char* path, char* error, int64_t error_size) {
  const HlokitAotModel& model = *run.model;
  const char* weights = model.weights;
  if (weights == nullptr && model.weights_bytes > 0) {
    if (path == nullptr || !run.weights.Open(path, model.weights_bytes)) {
      Explain(error, error_size, "cannot map the model's weights",
              path == nullptr ? "no file was named"
              : errno == 0    ? "the file is of another size"
                              : std::strerror(errno));
      return false;
    }
    weights = run.weights.data();
  }
  for (int64_t i = 0; i < model.constant_count; ++i)
    run.table[model.argument_count + i] = const_cast<char*>(weights) + model.constant_offsets[i];
  return true;
}

// Of dynamic arguments, before anything sets them.
bool SetSizes(HlokitAotRun& run) {
  for (int64_t i = 0; i < run.model->argument_size_count; ++i) {
    const HlokitAotSize& size = run.model->argument_sizes[i];
    auto* value = static_cast<int32_t*>(run.Argument(size.place));
    if (value == nullptr) return false;
    *value = static_cast<int32_t>(size.bound);
  }
  return true;
}

// Refuses a run whose arguments say that there is more of them than their memory holds.
bool SizesAreInRange(HlokitAotRun& run) {
  for (int64_t i = 0; i < run.model->argument_size_count; ++i) {
    const HlokitAotSize& size = run.model->argument_sizes[i];
    const int64_t value = *static_cast<const int32_t*>(run.Argument(size.place));
    if (value >= 0 && value <= size.bound) continue;
    hlokit::SetKernelError(&run.context, "argument %s is %lld, which is not from 0 to %lld",
                           run.model->arguments[size.place].name, static_cast<long long>(value),
                           static_cast<long long>(size.bound));
    return false;
  }
  return true;
}

bool IsAligned(const void* data) {
  return reinterpret_cast<uintptr_t>(data) % HLOKIT_AOT_ALIGNMENT == 0;
}

}  // namespace

HlokitAotRun* hlokit_aot_create(const HlokitAotModel* model, const char* weights_path, char* error,
                                int64_t error_size) {
  if (model->version != HLOKIT_AOT_VERSION) {
    Explain(error, error_size, "the model was compiled for another version of the runtime", "");
    return nullptr;
  }
  auto run = std::make_unique<HlokitAotRun>();
  run->model = model;
  std::memset(&run->context, 0, sizeof(run->context));
  run->context.struct_size = sizeof(run->context);
  run->context.call_reference = model->call_reference;
  run->context.queues = hlokit_queues_create();
  run->context.rng_state[0] =
      0x853c49e6748fea9bULL;  // as where programs are compiled and run at once
  run->table.resize(run->first_result() + model->result_count);
  run->own.resize(run->table.size());
  run->filled.resize(run->table.size());
  run->arena.reset(
      hlokit::AllocateForFirstUse(static_cast<size_t>(model->arena_bytes), kSmallPages));
  if (run->arena == nullptr || !SetSizes(*run)) {
    Explain(error, error_size, "there is not enough memory for the model's temporaries", "");
    return nullptr;
  }
  if (!BindWeights(*run, weights_path, error, error_size)) return nullptr;
  return run.release();
}

void hlokit_aot_destroy(HlokitAotRun* run) { delete run; }

void* hlokit_aot_argument(HlokitAotRun* run, int64_t i) {
  if (i < 0 || i >= run->model->argument_count) return nullptr;
  return run->Argument(i);
}

void* hlokit_aot_result(HlokitAotRun* run, int64_t i) {
  if (i < 0 || i >= run->model->result_count) return nullptr;
  return run->Result(i);
}

int hlokit_aot_set_argument(HlokitAotRun* run, int64_t i, const void* data) {
  if (i < 0 || i >= run->model->argument_count || !IsAligned(data)) return 1;
  run->table[i] = const_cast<void*>(data);
  return 0;
}

int hlokit_aot_set_result(HlokitAotRun* run, int64_t i, void* data) {
  if (i < 0 || i >= run->model->result_count || !IsAligned(data)) return 1;
  run->table[run->first_result() + i] = data;
  return 0;
}

HlokitQueues* hlokit_aot_queues(HlokitAotRun* run) {
  return static_cast<HlokitQueues*>(run->context.queues);
}

void hlokit_aot_set_threads(HlokitAotRun* run, int32_t threads) {
  run->context.num_threads = threads;
}

int hlokit_aot_run(HlokitAotRun* run) {
  run->context.failed = 0;
  if (!run->FillTable(run->filled.data())) {
    hlokit_set_error(&run->context, "there is not enough memory for arguments and results");
    return 1;
  }
  if (!SizesAreInRange(*run)) return 1;
  run->model->entry(&run->context, static_cast<char*>(run->arena.get()), run->filled.data());
  if (!run->settled) {
    run->settled = true;
    hlokit::PreferHugePages(run->arena.get(), static_cast<size_t>(run->model->arena_bytes));
  }
  const int64_t check = run->model->check_result;
  if (check >= 0 && *static_cast<const uint8_t*>(run->Result(check)) == 0)
    hlokit_set_error(&run->context, "the size of a dynamic dimension is out of range");
  return run->context.failed;
}

const char* hlokit_aot_error(const HlokitAotRun* run) { return run->context.error; }
// SPDX-License-Identifier: Apache-2.0
