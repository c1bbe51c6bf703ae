// Runs under the interpreter's observer, which sees each instruction's value: --trace keeps values
// by name, --check-nans finds the first instruction that makes a NaN. An instruction makes it if
// its value holds one and no operand's does.
#include "tools/hlo-run/observe.h"

#include <deque>
#include <mutex>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "backends/platforms/platforms.h"
#include "interpreter/interpreter.h"
#include "re2/re2.h"
#include "support/status.h"
#include "tools/hlo-run/probe_text.h"
#include "tools/probe/find.h"
#include "tools/probe/trace.h"
#include "types/npz.h"

namespace hlokit {
namespace {

// An instruction on a device.
using Site = std::pair<int64_t, const Instruction*>;

class Observer {
 public:
  explicit Observer(const RunOptions& o)
      : traces_(!o.trace.empty()),
        checks_(o.check_nans || o.check_infs),
        infinities_(o.check_infs),
        pattern_(o.trace, RE2::Quiet) {}

  // Called from all devices' threads. An error ends the run: the first NaN is found.
  absl::Status See(int64_t device, const Instruction& i, const Literal& value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const int64_t run = runs_[Site(device, &i)]++;
    if (traces_ && RE2::PartialMatch(i.name(), pattern_)) Keep(device, i, run, value);
    return checks_ ? Check(device, i, run, value) : absl::OkStatus();
  }

  bool found() const { return !finding_.empty(); }
  const std::string& finding() const { return finding_; }
  const std::vector<NamedLiteral>& arrays() const { return arrays_; }

 private:
  void Keep(int64_t device, const Instruction& i, int64_t run, const Literal& value) {
    const std::string name = run > 0 ? absl::StrCat(i.name(), "[", run, "]") : i.name();
    const Literal& kept = values_.emplace_back(value);
    for (NamedLiteral leaf : NameLeaves(kept, name + ".")) {
      if (!kept.shape().IsTuple()) leaf.name = name;
      absl::StrAppend(&leaf.name, ".d", device);
      arrays_.push_back(std::move(leaf));
    }
  }

  absl::Status Check(int64_t device, const Instruction& i, int64_t run, const Literal& value) {
    std::string where;
    const Site site(device, &i);
    if (!HoldsNan(value, infinities_, &where)) {
      holds_.erase(site);
      return absl::OkStatus();
    }
    bool given = i.IsParameter() || i.IsConstant();
    for (const Instruction* operand : i.operands()) given |= holds_.contains(Site(device, operand));
    holds_.insert(site);
    if (given) return absl::OkStatus();
    finding_ =
        absl::StrCat(PlaceText(i), "device ", device, run > 0 ? absl::StrCat(", run ", run) : "",
                     ": ", ShortText(i), "\n  is the first to make ",
                     infinities_ ? "an infinity or NaN" : "a NaN", ": ", where, "\n");
    return absl::CancelledError("found");
  }

  const bool traces_, checks_, infinities_;
  const RE2 pattern_;
  std::mutex mutex_;
  absl::flat_hash_map<Site, int64_t> runs_;
  absl::flat_hash_set<Site> holds_;  // a NaN, in the last run
  std::deque<Literal> values_;
  std::vector<NamedLiteral> arrays_;  // of values_
  std::string finding_;
};

absl::Status Report(const Observer& observer, const RunOptions& o, bool& good) {
  if (!o.trace.empty()) {
    if (observer.arrays().empty())
      return NotFound("--trace=", o.trace, ": no value has such a name");
    RETURN_IF_ERROR(WriteNpz(o.trace_to, observer.arrays()));
    PrintOut(absl::StrCat("wrote ", observer.arrays().size(), " arrays to ", o.trace_to, "\n"));
  }
  if (o.check_nans || o.check_infs)
    PrintOut(observer.found() ? observer.finding() : "interpreter: no instruction makes one\n");
  good &= !observer.found();
  return absl::OkStatus();
}

}  // namespace

absl::Status ObserveDevices(const RunOptions& o, const Module& module,
                            absl::Span<const DeviceArguments> arguments, bool& good) {
  if (o.bisect || o.isolate_instructions || !o.isolate.empty())
    return Unimplemented("programs of ", arguments.size(),
                         " devices are not cut up: --trace, --check-nans and --check-infs alone "
                         "look at more than one");
  const Platform* const platform = FindPlatform(o.platform);
  if (platform == nullptr || !platform->capabilities.observes)
    return Unimplemented("the values of ", arguments.size(),
                         " devices are seen on --platform=", PlatformsWith(&Capabilities::observes),
                         " alone");
  const RE2 pattern(o.trace, RE2::Quiet);
  if (!pattern.ok()) return InvalidArgument("--trace=", o.trace, ": ", pattern.error());
  Observer observer(o);
  InterpreterOptions options;
  options.step_limit = o.max_steps;
  options.memory_limit_bytes = o.memory_limit;
  options.flush_denormals = o.flush_denormals;
  options.observer = [&](int64_t device, const Instruction& i, const Literal& value) {
    return observer.See(device, i, value);
  };
  const absl::Status status = InterpretDevices(module, arguments, options).status();
  if (!observer.found()) RETURN_IF_ERROR(status);
  return Report(observer, o, good);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
