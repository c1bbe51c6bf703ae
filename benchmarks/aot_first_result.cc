// How long a program compiled ahead of time takes from its start to its first result, next to
// reading its arguments: built by benchmarks/aot_first_result.sh with the model's object, MODEL
// being its name.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/aot.h"
#include "support/allocate.h"

extern "C" const HlokitAotModel MODEL;

namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of all threads together.
double CpuTime() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// Memory that the process holds, in KiB, and the page faults that it took to get there.
struct Pages {
  int64_t resident, faults;
};
Pages CountPages() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  int64_t all = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &all, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return {resident * (getpagesize() / 1024), usage.ru_minflt};
}

int64_t Aligned(int64_t bytes) {
  return (bytes + HLOKIT_AOT_ALIGNMENT - 1) / HLOKIT_AOT_ALIGNMENT * HLOKIT_AOT_ALIGNMENT;
}

int64_t ArgumentBytes() {
  int64_t total = 0;
  for (int64_t i = 0; i < MODEL.argument_count; ++i) total += Aligned(MODEL.arguments[i].bytes);
  return total;
}

// Small numbers in every float; what other types hold is of no interest here.
int WriteArguments(const char* path) {
  std::vector<float> values(static_cast<size_t>(ArgumentBytes()) / sizeof(float));
  uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<float>(state >> 8) / (1 << 28);
  }
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return 1;
  const bool written =
      std::fwrite(values.data(), sizeof(float), values.size(), file) == values.size();
  return std::fclose(file) == 0 && written ? 0 : 1;
}

// Into large pages, as the memory of a run's own arguments is.
char* ReadArguments(const char* path) {
  const int64_t size = ArgumentBytes();
  char* memory = static_cast<char*>(hlokit::AllocateBlock(size));
  if (memory == nullptr) return nullptr;
  const int file = open(path, O_RDONLY);
  for (int64_t done = 0; done < size;) {
    const ssize_t got = read(file, memory + done, size - done);
    if (got <= 0) return nullptr;
    done += got;
  }
  close(file);
  return memory;
}

// Runs the program again, so that the time before main counts too; returns when that began.
double ExecTime(char** argv) {
  constexpr char kVariable[] = "AOT_FIRST_RESULT_EXEC";
  if (const char* text = std::getenv(kVariable)) return std::atof(text);
  char now[32];
  std::snprintf(now, sizeof now, "%.9f", Now());
  setenv(kVariable, now, 1);
  execv("/proc/self/exe", argv);
  return Now();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--make") == 0) return WriteArguments(argv[2]);
  const double exec = ExecTime(argv), start = Now();
  char* arguments = ReadArguments(argv[argc - 1]);
  if (arguments == nullptr) return 1;
  const Pages before = CountPages();
  const double read = Now(), read_cpu = CpuTime();
  HlokitAotRun* run = hlokit_aot_create(&MODEL, nullptr, nullptr, 0);
  if (run == nullptr) return 1;
  int64_t at = 0;
  for (int64_t i = 0; i < MODEL.argument_count; ++i) {
    hlokit_aot_set_argument(run, i, arguments + at);
    at += Aligned(MODEL.arguments[i].bytes);
  }
  if (hlokit_aot_run(run) != 0) {
    std::fprintf(stderr, "%s\n", hlokit_aot_error(run));
    return 1;
  }
  const double first = Now(), first_cpu = CpuTime();
  const Pages after = CountPages();
  double best = 1e9, best_cpu = 1e9;
  for (int i = 0; i < 10; ++i) {
    const double again = Now(), again_cpu = CpuTime();
    if (hlokit_aot_run(run) != 0) return 1;
    best = std::min(best, Now() - again);
    best_cpu = std::min(best_cpu, CpuTime() - again_cpu);
  }
  std::printf(
      "read %.1f ms, first result %.1f ms after exec beside (%.1f ms of processors; %.1f MiB of "
      "fresh memory in %ld page faults), best of 10 more %.1f ms (%.1f ms of processors)\n",
      1e3 * (read - start), 1e3 * (first - read + start - exec), 1e3 * (first_cpu - read_cpu),
      static_cast<double>(after.resident - before.resident) / 1024, after.faults - before.faults,
      1e3 * best, 1e3 * best_cpu);
  hlokit_aot_destroy(run);
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
