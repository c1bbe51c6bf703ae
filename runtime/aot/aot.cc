// Runs of programs compiled ahead of time, on one device or on several at once.
//
// A compiled program is an entry function and tables: sizes of arguments and results, of the arena,
// constants. A run makes a context (threads, random state, communicator), an arena, the table of
// pointers that the code indexes, and calls the entry. Several devices are several threads with a
// context each, which meet at an InProcessCommunicator made for the run. Nothing here knows HLO or
// LLVM, which is why such a program links some hundred kilobytes.
#include "runtime/aot.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/aot/aot_device_internal.h"
#include "runtime/collective/in_process_communicator.h"
#include "support/together.h"

namespace {

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

constexpr char kNoMemory[] = "there is not enough memory for the model's temporaries";

void Explain(char* error, int64_t size, const char* what, const char* detail) {
  if (error != nullptr && size > 0)
    std::snprintf(error, static_cast<size_t>(size), "%s%s%s", what, detail[0] == 0 ? "" : ": ",
                  detail);
}

}  // namespace

struct HlokitAotRun {
  const HlokitAotModel* model;
  Mapping mapping;
  std::vector<std::unique_ptr<hlokit::AotDevice>> devices;
  char error[HLOKIT_ERROR_SIZE + 32];  // of the last run that failed

  hlokit::AotDevice* Device(int64_t device) const {
    const bool is_one = device >= 0 && device < static_cast<int64_t>(devices.size());
    return is_one ? devices[static_cast<size_t>(device)].get() : nullptr;
  }
  void Cancel() {
    for (const auto& device : devices)
      __atomic_store_n(&device->context.cancelled, 1, __ATOMIC_RELAXED);
  }
  // The last run's end, as device `device` has it.
  int Fail(int64_t device) {
    const char* message = devices[static_cast<size_t>(device)]->context.error;
    if (devices.size() == 1)
      Explain(error, sizeof(error), message, "");
    else
      std::snprintf(error, sizeof(error), "device %lld: %s", static_cast<long long>(device),
                    message);
    return 1;
  }
  int Run();
};

int HlokitAotRun::Run() {
  const auto count = static_cast<int64_t>(devices.size());
  std::optional<hlokit::InProcessCommunicator> communicator;
  if (model->uses_communicator != 0) communicator.emplace(count);
  for (int64_t device = 0; device < count; ++device) {
    HlokitRunContext& context = devices[static_cast<size_t>(device)]->context;
    context.failed = 0;
    __atomic_store_n(&context.cancelled, 0, __ATOMIC_RELAXED);
    context.communicator =
        communicator ? static_cast<hlokit::Communicator*>(&*communicator) : nullptr;
    if (!devices[static_cast<size_t>(device)]->FillTable()) return Fail(device);
  }
  std::atomic<int64_t> first_failure = -1;
  const auto run = [&](int64_t device) {
    const bool failed = !devices[static_cast<size_t>(device)]->Run();
    int64_t none = -1;
    // Those that wait for another device, or for infeed, end with it.
    if (failed && first_failure.compare_exchange_strong(none, device) && count > 1) Cancel();
    if (communicator) communicator->Leave(device, failed);
  };
  if (!hlokit::RunTogether(count, run)) {
    std::snprintf(error, sizeof(error), "the system starts no thread for each of %lld devices",
                  static_cast<long long>(count));
    return 1;
  }
  return first_failure >= 0 ? Fail(first_failure) : 0;
}

namespace {

// Where the values of constants lie; null, with the reason in `error`, where they cannot be had.
const char* FindWeights(HlokitAotRun& run, const char* path, char* error, int64_t error_size) {
  const HlokitAotModel& model = *run.model;
  if (model.weights != nullptr || model.weights_bytes == 0)
    return model.weights != nullptr ? model.weights : "";
  if (path != nullptr && run.mapping.Open(path, model.weights_bytes)) return run.mapping.data();
  Explain(error, error_size, "cannot map the model's weights",
          path == nullptr ? "no file was named"
          : errno == 0    ? "the file is of another size"
                          : std::strerror(errno));
  return nullptr;
}

}  // namespace

HlokitAotRun* hlokit_aot_create(const HlokitAotModel* model, const char* weights_path, char* error,
                                int64_t error_size) {
  if (model->version != HLOKIT_AOT_VERSION) {
    Explain(error, error_size, "the model was compiled for another version of the runtime", "");
    return nullptr;
  }
  try {
    auto run = std::make_unique<HlokitAotRun>();
    run->model = model;
    run->error[0] = 0;
    const char* weights = FindWeights(*run, weights_path, error, error_size);
    if (weights == nullptr) return nullptr;
    const int64_t count = model->replica_count * model->partition_count;
    for (int64_t device = 0; device < count; ++device) {
      run->devices.push_back(std::make_unique<hlokit::AotDevice>(*model, device));
      if (run->devices.back()->Prepare(weights)) continue;
      Explain(error, error_size, kNoMemory, "");
      return nullptr;
    }
    return run.release();
  } catch (const std::exception&) {
    Explain(error, error_size, kNoMemory, "");
    return nullptr;
  }
}

void hlokit_aot_destroy(HlokitAotRun* run) { delete run; }

int64_t hlokit_aot_device_count(const HlokitAotRun* run) {
  return static_cast<int64_t>(run->devices.size());
}

void* hlokit_aot_device_argument(HlokitAotRun* run, int64_t device, int64_t i) {
  hlokit::AotDevice* const one = run->Device(device);
  return one == nullptr ? nullptr : one->Argument(i);
}

void* hlokit_aot_device_result(HlokitAotRun* run, int64_t device, int64_t i) {
  hlokit::AotDevice* const one = run->Device(device);
  return one == nullptr ? nullptr : one->Result(i);
}

int hlokit_aot_set_device_argument(HlokitAotRun* run, int64_t device, int64_t i, const void* data) {
  hlokit::AotDevice* const one = run->Device(device);
  return one != nullptr && one->SetArgument(i, data) ? 0 : 1;
}

int hlokit_aot_set_device_result(HlokitAotRun* run, int64_t device, int64_t i, void* data) {
  hlokit::AotDevice* const one = run->Device(device);
  return one != nullptr && one->SetResult(i, data) ? 0 : 1;
}

HlokitQueues* hlokit_aot_device_queues(HlokitAotRun* run, int64_t device) {
  hlokit::AotDevice* const one = run->Device(device);
  return one == nullptr ? nullptr : static_cast<HlokitQueues*>(one->context.queues);
}

void* hlokit_aot_argument(HlokitAotRun* run, int64_t i) {
  return hlokit_aot_device_argument(run, 0, i);
}
void* hlokit_aot_result(HlokitAotRun* run, int64_t i) {
  return hlokit_aot_device_result(run, 0, i);
}
int hlokit_aot_set_argument(HlokitAotRun* run, int64_t i, const void* data) {
  return hlokit_aot_set_device_argument(run, 0, i, data);
}
int hlokit_aot_set_result(HlokitAotRun* run, int64_t i, void* data) {
  return hlokit_aot_set_device_result(run, 0, i, data);
}
HlokitQueues* hlokit_aot_queues(HlokitAotRun* run) { return hlokit_aot_device_queues(run, 0); }

void hlokit_aot_set_threads(HlokitAotRun* run, int32_t threads) {
  for (const auto& device : run->devices) device->context.num_threads = threads;
}

int hlokit_aot_run(HlokitAotRun* run) {
  try {
    return run->Run();
  } catch (const std::exception&) {
    Explain(run->error, sizeof(run->error), "there is not enough memory to run", "");
    return 1;
  }
}
void hlokit_aot_cancel(HlokitAotRun* run) { run->Cancel(); }
const char* hlokit_aot_error(const HlokitAotRun* run) { return run->error; }
// SPDX-License-Identifier: Apache-2.0
