// Runs a target without libFuzzer: over files, and over mutations of them that a seed decides.
//   text_replay [--mutations N] [--seed S] [--max-size BYTES] [--max-ms MS] [--save FILE] PATH...
//   text_replay --whole 1 PATH...    fails where a file is not read as what the target reads
//   text_replay --write-dictionary FILE
// A folder stands for every file below it. What kills the program is left in FILE (crash.input), as is what takes more
// than MS milliseconds of the processor; the slowest input's time is printed.
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "fuzz/dictionary.h"
#include "fuzz/mutate.h"
#include "fuzz/target.h"
#include "support/file.h"

namespace hlokit {
namespace {

// Of the processor's time; far above what any input may take, sanitizers included.
constexpr time_t kSecondsAnInput = 20;

struct Options {
  int64_t mutations = 0;  // in all, dealt out over the files
  int64_t seed = 1;
  int64_t whole = 0;
  int64_t max_size = 1 << 14;  // of a mutated input; larger files are only replayed
  int64_t max_ms = 0;          // no limit but kSecondsAnInput
  std::string save = "crash.input";
  std::vector<std::string> paths;
};

// What the signal handler saves.
absl::string_view running;
const char* save_path = nullptr;

void Save() {
  const int file = open(save_path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
  if (file >= 0 && write(file, running.data(), running.size()) >= 0) close(file);
}

void SaveAndDie(int signal) {
  Save();
  const char message[] = "replay: the input was saved; see --save\n";
  if (write(2, message, sizeof(message) - 1) < 0) _exit(3);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

double slowest_ms = 0;

// Whether the target took `input` for what it reads.
bool Run(absl::string_view input, const Options& options) {
  running = input;
  const itimerval limit = {{0, 0}, {kSecondsAnInput, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
  const std::clock_t start = std::clock();
  const bool whole = RunOne(input);
  const double ms = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  slowest_ms = std::max(slowest_ms, ms);
  if (options.max_ms > 0 && ms > static_cast<double>(options.max_ms)) {
    Save();
    std::fprintf(stderr, "replay: an input took %.0f ms; it was saved; see --save\n", ms);
    std::exit(1);
  }
  return whole;
}

void AddFiles(const std::string& path, std::vector<std::string>& files) {
  if (!std::filesystem::is_directory(path)) return files.push_back(path);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
    if (entry.is_regular_file()) files.push_back(entry.path().string());
}

std::vector<std::string> FilesBelow(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) AddFiles(path, files);
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> ReadInputs(const std::vector<std::string>& files) {
  std::vector<std::string> inputs;
  for (const std::string& path : files) {
    absl::StatusOr<std::string> bytes = ReadFile(path);
    if (!bytes.ok()) {
      std::fprintf(stderr, "replay: %s\n", bytes.status().ToString().c_str());
      std::exit(2);
    }
    inputs.push_back(*std::move(bytes));
  }
  return inputs;
}

// Mutations build on mutations: a pool as large as the inputs, some of which are replaced.
void RunMutations(std::vector<std::string> pool, const Options& options) {
  const auto max_size = static_cast<size_t>(options.max_size);
  std::erase_if(pool, [&](const std::string& input) { return input.size() > max_size; });
  if (pool.empty()) return;
  const std::vector<std::string> inputs = pool;
  FuzzRandom random(static_cast<FuzzRandom::result_type>(options.seed));
  for (int64_t n = 0; n < options.mutations; ++n) {
    const size_t i = random() % pool.size();
    const auto mutate = KindOf(pool[i]) == InputKind::kText ? MutateTokens : MutateBytes;
    std::string mutated = mutate(pool[i], pool[random() % pool.size()], max_size, random);
    Run(mutated, options);
    pool[i] = random() % 4 == 0 ? inputs[i] : std::move(mutated);
  }
}

bool ReadFlags(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag.rfind("--", 0) != 0) {
      options.paths.push_back(flag);
      continue;
    }
    if (++i == argc) return false;
    if (flag == "--write-dictionary")
      std::exit(AtomicWriteFile(argv[i], DictionaryFile()).ok() ? 0 : 2);
    int64_t* number = flag == "--mutations"  ? &options.mutations
                      : flag == "--seed"     ? &options.seed
                      : flag == "--max-size" ? &options.max_size
                      : flag == "--max-ms"   ? &options.max_ms
                      : flag == "--whole"    ? &options.whole
                                             : nullptr;
    if (flag == "--save") {
      options.save = argv[i];
    } else if (number == nullptr || !absl::SimpleAtoi(argv[i], number)) {
      return false;
    }
  }
  return !options.paths.empty();
}

int Main(int argc, char** argv) {
  Options options;
  if (!ReadFlags(argc, argv, options)) {
    std::fprintf(stderr, "usage: see the first lines of fuzz/replay.cc\n");
    return 2;
  }
  save_path = options.save.c_str();
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF})
    std::signal(signal, SaveAndDie);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<std::string> files = FilesBelow(options.paths);
  const std::vector<std::string> inputs = ReadInputs(files);
  int status = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (Run(inputs[i], options) || options.whole == 0) continue;
    std::fprintf(stderr, "replay: %s is not read\n", files[i].c_str());
    status = 1;
  }
  RunMutations(inputs, options);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%zu inputs and %lld mutations in %.1f s, the slowest in %.1f ms\n", inputs.size(),
              static_cast<long long>(options.mutations), seconds.count(), slowest_ms);
  return status;
}

}  // namespace
}  // namespace hlokit

int main(int argc, char** argv) { return hlokit::Main(argc, argv); }
// SPDX-License-Identifier: Apache-2.0
