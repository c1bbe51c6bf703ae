// Evaluations, and the search for the first instruction that differs.
#include "tools/hlo-opt/value_check.h"

#include <unistd.h>

#include <map>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "analysis/module_match.h"
#include "generator/generator.h"
#include "interpreter/interpreter.h"
#include "printer/printer.h"
#include "support/status.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

// Values of one device that are kept to find the first difference.
constexpr int64_t kMostKeptBytes = int64_t{1} << 30;

// Half of this machine's memory, for the arguments and for one evaluation.
int64_t MemoryLimit() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 2;
}

// ResourceExhausted where the arguments of all devices alone would fill it.
absl::Status CheckArguments(const Module& module, int64_t devices) {
  double bytes = 0;
  for (const Instruction* parameter : module.entry()->parameters())
    bytes += static_cast<double>(TotalBytes(parameter->shape())) * static_cast<double>(devices);
  if (bytes <= static_cast<double>(MemoryLimit())) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("the module cannot be evaluated here: its arguments take ",
                   static_cast<int64_t>(bytes / (1 << 20)), " MiB (hlo-reduce --passes=... looks ",
                   "at parts of it; hlo-opt --bisect=COMMAND evaluates nothing)"));
}

int64_t DevicesOf(const Module& module) {
  return module.header().replica_count * module.header().num_partitions;
}

std::vector<std::vector<const Literal*>> PointersTo(
    const std::vector<std::vector<Literal>>& arguments) {
  std::vector<std::vector<const Literal*>> pointers(arguments.size());
  for (size_t d = 0; d < arguments.size(); ++d)
    for (const Literal& argument : arguments[d]) pointers[d].push_back(&argument);
  return pointers;
}

// The first values of device 0's instructions.
class Values {
 public:
  absl::Status Keep(int64_t device, const Instruction& instruction, const Literal& value) {
    const std::lock_guard lock(mutex_);
    if (device != 0 || values_.contains(&instruction)) return absl::OkStatus();
    bytes_ += TotalBytes(value.shape());
    if (bytes_ <= kMostKeptBytes) values_.emplace(&instruction, value);
    return absl::OkStatus();
  }
  const Literal* Find(const Instruction* instruction) const {
    const auto found = values_.find(instruction);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  std::mutex mutex_;
  int64_t bytes_ = 0;
  std::map<const Instruction*, Literal> values_;
};

// What differs, of the first results that do.
std::string ReportOf(CompareResult compared) {
  constexpr int64_t kMostResults = 2;
  if (!compared.shape_mismatch.empty()) return compared.shape_mismatch;
  std::erase_if(compared.leaves, [](const LeafComparison& leaf) { return leaf.mismatches == 0; });
  const int64_t more = static_cast<int64_t>(compared.leaves.size()) - kMostResults;
  if (more <= 0) return compared.Report();
  compared.leaves.resize(kMostResults);
  return absl::StrCat(compared.Report(), "and ", more, " more result", more > 1 ? "s" : "",
                      " differ", more > 1 ? "" : "s", "\n");
}

}  // namespace

absl::StatusOr<ValueCheck> ValueCheck::Start(const Module& module,
                                             const ValueCheckOptions& options) {
  RETURN_IF_ERROR(CheckArguments(module, DevicesOf(module)));
  ValueCheck check(options);
  std::vector<std::vector<Literal>> arguments;
  for (int64_t d = 0; d < DevicesOf(module); ++d)
    arguments.push_back(RandomArguments(module, options.seed + d));
  check.arguments_ = std::make_shared<const decltype(arguments)>(std::move(arguments));
  check.before_ = module.Clone();
  ASSIGN_OR_RETURN(check.results_, check.Evaluate(*check.before_));
  return check;
}

absl::StatusOr<std::vector<Literal>> ValueCheck::Evaluate(const Module& module) const {
  InterpreterOptions options;
  options.time_limit_s = options_.time_limit_s;
  options.memory_limit_bytes = MemoryLimit();
  return InterpretDevices(module, PointersTo(*arguments_), options);
}

absl::Status ValueCheck::Check(const Module& module) {
  auto results = Evaluate(module);
  if (!results.ok()) return Annotate(results.status(), "the module cannot be evaluated any more");
  for (size_t d = 0; d < results->size(); ++d) {
    const CompareResult compared = Compare(results_[d], (*results)[d], options_.bounds);
    if (compared.equal) continue;
    return absl::AbortedError(
        absl::StrCat(results->size() > 1 ? absl::StrCat("on device ", d, ": ") : "",
                     ReportOf(compared), FirstDifference(module)));
  }
  results_ = *std::move(results);
  before_ = module.Clone();
  return absl::OkStatus();
}

std::string ValueCheck::FirstDifference(const Module& after) const {
  const ModuleMatch match(*before_, after);
  Values values;
  InterpreterOptions options;
  options.time_limit_s = options_.time_limit_s;
  options.memory_limit_bytes = MemoryLimit();
  options.observer = [&](int64_t device, const Instruction& i, const Literal& value) {
    return match.AfterOf(&i) == nullptr ? absl::OkStatus() : values.Keep(device, i, value);
  };
  if (!InterpretDevices(*before_, PointersTo(*arguments_), options).ok()) return "";
  std::string found;
  options.observer = [&](int64_t device, const Instruction& i, const Literal& value) {
    const Instruction* partner = device == 0 ? match.BeforeOf(&i) : nullptr;
    const Literal* expected = partner != nullptr ? values.Find(partner) : nullptr;
    if (expected == nullptr || !found.empty()) return absl::OkStatus();
    const CompareResult compared = Compare(*expected, value, options_.bounds);
    if (!compared.equal && compared.shape_mismatch.empty())
      found = absl::StrCat("the first instruction that differs, before and after:\n  ",
                           Print(*partner), "\n  ", Print(i), "\n", compared.Report());
    return absl::OkStatus();
  };
  (void)InterpretDevices(after, PointersTo(*arguments_), options);
  return found;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
