// Evaluations of a module before and after passes, and the search for the first instruction that
// differs.
//
// One evaluation for each pass that changed something. Where a result differs, its cause may be far
// above: both modules are evaluated once more, and of the instructions that stand for each other
// (ModuleMatch) the first that differs, in order of execution, is named in the message.
#include "tools/hlo-opt/value_check.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "analysis/module_match.h"
#include "ops/evaluate/rng.h"
#include "printer/printer.h"
#include "support/status.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

// Values of one device that are kept to find the first difference.
constexpr int64_t kMaxKeptBytes = int64_t{1} << 30;

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

// Whether the entry takes or gives other shapes than before, as it does after partitioning.
bool HasOtherShapes(const Module& before, const Module& after) {
  if (!Compatible(before.entry()->root()->shape(), after.entry()->root()->shape())) return true;
  const auto old = before.entry()->parameters(), now = after.entry()->parameters();
  if (old.size() != now.size()) return false;
  for (size_t k = 0; k < old.size(); ++k)
    if (!Compatible(old[k]->shape(), now[k]->shape())) return true;
  return false;
}

// The first values of device 0's instructions.
class Values {
 public:
  absl::Status Keep(int64_t device, const Instruction& instruction, const Literal& value) {
    const std::lock_guard lock(mutex_);
    if (device != 0 || values_.contains(&instruction)) return absl::OkStatus();
    bytes_ += TotalBytes(value.shape());
    if (bytes_ <= kMaxKeptBytes) values_.emplace(&instruction, value);
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
  constexpr int64_t kMaxResults = 2;
  if (!compared.shape_mismatch.empty()) return compared.shape_mismatch;
  std::erase_if(compared.leaves, [](const LeafComparison& leaf) { return leaf.mismatches == 0; });
  const int64_t more = static_cast<int64_t>(compared.leaves.size()) - kMaxResults;
  if (more <= 0) return compared.Report();
  compared.leaves.resize(kMaxResults);
  return absl::StrCat(compared.Report(), "and ", more, " more result", more > 1 ? "s" : "",
                      " differ", more > 1 ? "" : "s", "\n");
}

}  // namespace

absl::StatusOr<ValueCheck> ValueCheck::Start(const Module& module,
                                             const ValueCheckOptions& options) {
  ValueCheck check(options);
  check.before_ = module.Clone();
  ASSIGN_OR_RETURN(const bool by_device, InputsDifferByDevice(options.inputs));
  ShardedEntry sharded;
  check.devices_ = DevicesOf(module);
  if (RunsSharded(module, /*devices_asked=*/0, by_device)) {
    check.partitions_ = std::max(module.header().num_partitions, DevicesNamed(module));
    check.devices_ = check.partitions_;
    ASSIGN_OR_RETURN(sharded, ShardedEntry::Of(module, check.devices_));
  }
  RETURN_IF_ERROR(CheckArguments(module, sharded.active() ? 1 : check.devices_));
  ASSIGN_OR_RETURN(Arguments arguments,
                   Arguments::Make(module, options.inputs, check.devices_, sharded));
  check.arguments_ = std::make_shared<const Arguments>(std::move(arguments));
  ASSIGN_OR_RETURN(check.results_, check.Evaluate(*check.before_));
  return check;
}

InterpreterOptions ValueCheck::Limits() const {
  InterpreterOptions options;
  options.partitions = partitions_;
  options.time_limit_s = options_.time_limit_s;
  options.memory_limit_bytes = MemoryLimit();
  return options;
}

absl::StatusOr<std::vector<Literal>> ValueCheck::Evaluate(const Module& module) const {
  RestartGenerator();
  return InterpretDevices(module, arguments_->Pointers(devices_), Limits());
}

// The module before is run once more, on one list of whole arrays for all devices.
absl::Status ValueCheck::Partition(const ShardedEntry& sharded) {
  RestartGenerator();
  const std::vector<std::vector<const Literal*>> whole(devices_, arguments_->Pointers(devices_)[0]);
  ASSIGN_OR_RETURN(results_, InterpretDevices(*before_, whole, Limits()));
  results_ = sharded.CutResults(results_);
  std::vector<int64_t> all(devices_);
  std::iota(all.begin(), all.end(), 0);
  arguments_ = std::make_shared<const Arguments>(arguments_->CutFor(sharded, all));
  return absl::OkStatus();
}

absl::Status ValueCheck::Check(const Module& module) {
  ShardedEntry cut;  // where the change is the cut
  const Shape whole = before_->entry()->root()->shape();
  if (devices_ > 1 && HasOtherShapes(*before_, module)) {
    ASSIGN_OR_RETURN(cut, ShardedEntry::Of(*before_, devices_));
    RETURN_IF_ERROR(Partition(cut));
  }
  auto results = Evaluate(module);
  if (!results.ok()) return Annotate(results.status(), "the module cannot be evaluated any more");
  const auto known = cut.active() ? cut.WithoutPadding(*results, whole) : *results;
  for (size_t d = 0; d < known.size(); ++d) {
    const CompareResult compared = Compare(results_[d], known[d], options_.bounds);
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
  InterpreterOptions options = Limits();
  options.observer = [&](int64_t device, const Instruction& i, const Literal& value) {
    return match.AfterOf(&i) == nullptr ? absl::OkStatus() : values.Keep(device, i, value);
  };
  RestartGenerator();
  if (!InterpretDevices(*before_, arguments_->Pointers(devices_), options).ok()) return "";
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
  RestartGenerator();
  (void)InterpretDevices(after, arguments_->Pointers(devices_), options);
  return found;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
