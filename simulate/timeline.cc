// The simulation runs all kinds in lockstep: every kind has done an instruction before any does the
// next. That is enough, since a device that waits at a collective waits for others to reach the
// same instruction. Sums per kind are one vector, so that a loop's iteration is two snapshots and
// their difference.
#include "simulate/timeline.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>
#include <type_traits>

#include "absl/container/flat_hash_map.h"
#include "analysis/trip_count.h"
#include "ir/op_facts.h"
#include "support/status.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

constexpr int kMaxDepth = 200;
constexpr int kMaxUnsteady = 32;  // iterations of a loop that are simulated at most

// By the attributes that whole collectives and starts share; nothing for messages.
std::optional<CollectiveKind> KindOf(const Instruction& collective) {
  return VisitAttributes(
      collective.opcode(), collective.attributes(),
      []<typename A>(const A&) -> std::optional<CollectiveKind> {
        if (std::is_same_v<A, AllReduceAttrs>) return CollectiveKind::kAllreduce;
        if (std::is_same_v<A, AllGatherAttrs>) return CollectiveKind::kAllgather;
        if (std::is_same_v<A, ReduceScatterAttrs>) return CollectiveKind::kReducescatter;
        if (std::is_same_v<A, AllToAllAttrs> || std::is_same_v<A, RaggedAllToAllAttrs>)
          return CollectiveKind::kAlltoall;
        if (std::is_same_v<A, CollectiveBroadcastAttrs>) return CollectiveKind::kBcast;
        return std::nullopt;
      });
}

// Bytes of all operands, or of what is received. Of a ragged all-to-all, whose result is no tuple,
// the first operand is what is sent.
double OperandBytes(const Instruction& i) {
  if (i.opcode() == Opcode::kRecv) return static_cast<double>(TotalBytes(i.shape()));
  double bytes = 0;
  for (const Instruction* operand : i.operands()) {
    bytes += static_cast<double>(TotalBytes(operand->shape()));
    if (KindOf(i) == CollectiveKind::kAlltoall && !i.shape().IsTuple()) break;
  }
  return bytes;
}

// Which collective an instruction runs: itself, or the one that an async-start wraps.
const Instruction* CollectiveOf(const Instruction& i) {
  if (HasTrait(i.opcode(), kCollective) || i.opcode() == Opcode::kRecv) return &i;
  if (i.opcode() != Opcode::kAsyncStart || i.called().empty()) return nullptr;
  for (const Instruction* inside : i.to_apply()->Instructions())
    if (HasTrait(inside->opcode(), kCollective)) return inside;
  return nullptr;
}

// The start that a done waits for, through updates.
const Instruction* StartOfDone(const Instruction* done) {
  const Instruction* start = done->operand(0);
  while (start->opcode() == Opcode::kAsyncUpdate) start = start->operand(0);
  return start;
}

GroupShape ShapeOfAll(const Topology& topology, int64_t devices) {
  std::vector<int64_t> all(static_cast<size_t>(devices));
  std::iota(all.begin(), all.end(), int64_t{0});
  return ShapeOfGroup(topology, all);
}

// Places in a kind's vector of sums.
constexpr int kCompute = 0, kCommunication = 1, kExposed = 2, kLevels = 3;

class Simulator {
 public:
  Simulator(const Module& module, const Topology& topology, const SimulateOptions& options,
            DeviceKinds kinds)
      : module_(module),
        topology_(topology),
        options_(options),
        device_(SharedBy(topology.device, kinds.devices)),
        kinds_(std::move(kinds)),
        count_(static_cast<int>(kinds_.first.size())),
        levels_(static_cast<int>(topology.links.size())),
        bound_(module.id_bound()),
        everyone_(ShapeOfAll(topology, kinds_.devices)),
        clock_(count_, device_.start),
        link_free_(count_, std::vector<double>(levels_, 0)),
        sums_(count_),
        spans_(std::min(count_, kMaxDetailed)),
        kernels_(bound_),
        known_(bound_, false) {
    result_.devices = kinds_.devices;
    result_.first_start.assign(bound_, -1);
    for (int k = 0; k < count_; ++k)
      sums_[k].assign(kLevels + 2 * levels_ + (IsDetailed(k) ? 3 * bound_ : 0), 0);
    bytes_.resize(bound_, 0);
    algorithms_.resize(bound_);
  }

  absl::StatusOr<StepPrediction> Run() {
    RETURN_IF_ERROR(RunComputation(*module_.entry(), 0));
    for (int k = 0; k < count_; ++k) result_.seconds = std::max(result_.seconds, clock_[k]);
    for (int k = 0; k < count_; ++k) result_.kinds.push_back(Timeline(k));
    SumProducts();
    return std::move(result_);
  }

 private:
  bool IsDetailed(int kind) const { return kind < kMaxDetailed; }
  double& Sum(int kind, const Instruction& i, int what) {
    return sums_[kind][kLevels + 2 * levels_ + 3 * i.id() + what];
  }
  static constexpr int kRuns = 0, kSeconds = 1, kWaited = 2;

  const KernelTime& Kernel(const Instruction& i) {
    if (!known_[i.id()]) {
      kernels_[i.id()] = TimeOfKernel(i, device_);
      known_[i.id()] = true;
    }
    return kernels_[i.id()];
  }

  void AddSpan(int kind, const Instruction& i, int lane, bool waits, double begin, double end) {
    if (recording_ && IsDetailed(kind) && end > begin)
      spans_[kind].push_back({&i, lane, waits, begin, end, 0});
  }

  absl::Status RunComputation(const Computation& computation, int depth) {
    if (depth > kMaxDepth) return Unimplemented("calls nested deeper than ", kMaxDepth);
    for (const Instruction* i : computation.ScheduleOrPostOrder()) {
      if (result_.first_start[i->id()] < 0) result_.first_start[i->id()] = clock_[0];
      RETURN_IF_ERROR(RunInstruction(*i, depth));
    }
    return absl::OkStatus();
  }

  absl::Status RunInstruction(const Instruction& i, int depth) {
    if (i.opcode() == Opcode::kWhile) return RunLoop(i, depth);
    if (i.opcode() == Opcode::kCall) return RunComputation(*i.to_apply(), depth + 1);
    if (i.opcode() == Opcode::kConditional) return RunBranches(i, depth);
    if (HasTrait(i.opcode(), kAsyncDone)) {
      Wait(i);
    } else if (const Instruction* collective = CollectiveOf(i)) {
      RunCollective(i, *collective);
    } else if (HasTrait(i.opcode(), kAsyncStart)) {
      StartElsewhere(i);
    } else {
      RunKernel(i);
    }
    return absl::OkStatus();
  }

  void RunKernel(const Instruction& i) {
    const KernelTime& time = Kernel(i);
    if (time.seconds <= 0) return;
    for (int k = 0; k < count_; ++k) {
      AddSpan(k, i, 0, false, clock_[k], clock_[k] + time.seconds);
      clock_[k] += time.seconds;
      sums_[k][kCompute] += time.seconds;
      if (!IsDetailed(k)) continue;
      Sum(k, i, kRuns) += 1;
      Sum(k, i, kSeconds) += time.seconds;
    }
  }

  CollectiveTime TransferTime(const Instruction& collective, const KindAtSite& at) {
    const double operands = OperandBytes(collective);
    const auto kind = KindOf(collective);
    if (!kind) return TimeOfMessage(operands, at.hops, topology_);
    const bool gathers = *kind == CollectiveKind::kAllgather;
    const double bytes = operands * (gathers ? static_cast<double>(at.shape.count()) : 1);
    return TimeOf(*kind, bytes, at.shape, topology_);
  }

  // How long a group takes to meet, beside the transfer. The last member to come wakes the others
  // of its innermost unit one by one, once, and reaches the other units for each array (those of an
  // all-to-all are one exchange). Groups that share cores take turns:
  //   8 threads, 2 cores, s a wake     one group 7 s, two of four 3 s, four of two 2 s
  // At a permute all devices meet, as hlokit's do.
  double MeetingTime(const Instruction& collective, const KindAtSite& at) const {
    const auto kind = KindOf(collective);
    const std::vector<GroupShape::Level>& levels = kind ? at.shape.levels : everyone_.levels;
    const bool at_once = kind == CollectiveKind::kAlltoall;
    const int64_t rounds = at_once ? 1 : std::max<int64_t>(1, collective.operand_count());
    double seconds = 0;
    for (size_t l = 0; l < levels.size(); ++l)
      seconds += topology_.links[l].collective * static_cast<double>(levels[l].count() - 1) *
                 static_cast<double>(l == 0 ? 1 : rounds);
    if (seconds == 0 || device_.groups_at_once <= 0) return seconds;
    const auto meetings =
        static_cast<double>(result_.devices) / static_cast<double>(levels[0].count());
    return seconds * std::max(1.0, meetings / device_.groups_at_once);
  }

  // When a kind's transfer may begin: all that take part are there, and the links are free.
  double BeginOf(const KindAtSite& at, int kind, const CollectiveTime& time,
                 const std::vector<double>& arrived) const {
    double begin = arrived[kind];
    const auto wait_for = [&](int member) {
      begin = std::max(begin, arrived[member]);
      for (int l = 0; l < levels_; ++l)
        if (time.sent[l] > 0) begin = std::max(begin, link_free_[member][l]);
    };
    wait_for(kind);
    for (const int member : at.members) wait_for(member);
    if (at.source >= 0) wait_for(at.source);
    return begin;
  }

  // A whole collective, which is waited for at once, or the start of one.
  void RunCollective(const Instruction& i, const Instruction& collective) {
    const int site = kinds_.site_of[collective.id()];
    if (site < 0) return RunKernel(i);  // a transfer to the host
    std::vector<double> ends = clock_;
    const std::vector<double> arrived = clock_;
    std::vector<std::vector<double>> free = link_free_;
    for (int k = 0; k < count_; ++k) {
      const KindAtSite& at = kinds_.sites[site][k];
      if (!at.takes_part) continue;
      CollectiveTime time = TransferTime(collective, at);
      time.seconds += MeetingTime(collective, at);
      const double begin = BeginOf(at, k, time, arrived);
      ends[k] = begin + time.seconds;
      int outermost = -1;
      sums_[k][kCommunication] += time.seconds;
      for (int l = 0; l < levels_; ++l) {
        if (time.sent[l] <= 0) continue;
        outermost = l;
        free[k][l] = ends[k];
        sums_[k][kLevels + l] += time.sent[l];
        sums_[k][kLevels + levels_ + l] += time.seconds;
      }
      AddSpan(k, i, 1 + std::max(0, outermost), false, begin, ends[k]);
      if (!IsDetailed(k)) continue;
      Sum(k, i, kRuns) += 1;
      Sum(k, i, kSeconds) += time.seconds;
      bytes_[i.id()] = OperandBytes(collective);
      algorithms_[i.id()] = time.algorithm;
    }
    link_free_ = std::move(free);
    if (HasTrait(i.opcode(), kAsyncStart)) {
      pending_[&i] = std::move(ends);
    } else {
      WaitUntil(i, ends);
    }
  }

  void WaitUntil(const Instruction& i, const std::vector<double>& ends) {
    for (int k = 0; k < count_; ++k) {
      const double wait = ends[k] - clock_[k];
      if (wait <= 0) continue;
      AddSpan(k, i, 0, true, clock_[k], ends[k]);
      clock_[k] = ends[k];
      sums_[k][kExposed] += wait;
      if (IsDetailed(k)) Sum(k, i, kWaited) += wait;
    }
  }

  void Wait(const Instruction& done) {
    const Instruction* const start = StartOfDone(&done);
    const auto found = pending_.find(start);
    if (found == pending_.end()) return;  // a send, or a start outside the loop
    WaitUntil(*start, found->second);
    pending_.erase(found);
  }

  // Work that does not hold up the device: copies, and computations of other threads. They run
  // beside it, one after the other.
  void StartElsewhere(const Instruction& start) {
    if (start.opcode() == Opcode::kSend) return;
    double seconds = 0;
    if (start.opcode() == Opcode::kAsyncStart && !start.called().empty()) {
      for (const Instruction* inside : start.to_apply()->Instructions())
        seconds += Kernel(*inside).seconds;
    } else {
      seconds = Kernel(start).seconds;
    }
    std::vector<double>& ends = pending_[&start];
    ends = clock_;
    for (double& end : ends) end += seconds;
  }

  // Sums of all kinds, end to end, and clocks: what an iteration adds to.
  std::vector<double> Snapshot() const {
    std::vector<double> all = clock_;
    for (const std::vector<double>& sums : sums_) all.insert(all.end(), sums.begin(), sums.end());
    return all;
  }
  void Advance(const std::vector<double>& before, const std::vector<double>& after,
               double iterations) {
    size_t at = 0;
    const std::vector<double> old_clock = clock_;
    for (double& clock : clock_) {
      clock += (after[at] - before[at]) * iterations;
      ++at;
    }
    for (std::vector<double>& sums : sums_)
      for (double& sum : sums) {
        sum += (after[at] - before[at]) * iterations;
        ++at;
      }
    for (int k = 0; k < count_; ++k)
      for (double& free : link_free_[k]) free += clock_[k] - old_clock[k];
  }

  // Whether every kind's iteration took as long as the one before.
  bool IsSteady(const std::vector<double>& first, const std::vector<double>& second,
                const std::vector<double>& third) const {
    for (int k = 0; k < count_; ++k) {
      const double a = second[k] - first[k], b = third[k] - second[k];
      if (std::abs(a - b) > 1e-9 * std::max(a, b)) return false;
    }
    return true;
  }

  absl::Status RunLoop(const Instruction& loop, int depth) {
    const auto known = KnownTripCount(loop);
    result_.guessed_trips |= !known.has_value();
    const int64_t trips = std::max<int64_t>(0, known.value_or(options_.unknown_trips));
    std::vector<double> before, middle, after = Snapshot();
    const bool recording = recording_;
    for (int64_t done = 0; done < trips; ++done) {
      if (done >= kMaxUnsteady || (done >= 2 && IsSteady(before, middle, after))) {
        SkipIterations(loop, middle, after, static_cast<double>(trips - done), recording);
        break;
      }
      before = std::move(middle);
      middle = std::move(after);
      RETURN_IF_ERROR(RunComputation(*loop.called(0), depth + 1));
      RETURN_IF_ERROR(RunComputation(*loop.called(1), depth + 1));
      after = Snapshot();
      // The first two iterations are shown: the second one is like all others.
      if (done >= 1) recording_ = false;
    }
    recording_ = recording;
    return RunComputation(*loop.called(0), depth + 1);  // the condition that ends it
  }

  void SkipIterations(const Instruction& loop, const std::vector<double>& before,
                      const std::vector<double>& after, double iterations, bool recording) {
    const std::vector<double> start = clock_;
    Advance(before, after, iterations);
    for (int k = 0; recording && k < count_ && IsDetailed(k); ++k)
      spans_[k].push_back({&loop, 0, false, start[k], clock_[k], iterations});
  }

  // Each branch runs from the same state; the longest one's is kept.
  absl::Status RunBranches(const Instruction& conditional, int depth) {
    const auto state = std::tuple(clock_, link_free_, sums_);
    auto longest = state;
    double latest = -1;
    for (size_t b = 0; b < conditional.called().size(); ++b) {
      std::tie(clock_, link_free_, sums_) = state;
      RETURN_IF_ERROR(RunComputation(*conditional.called(b), depth + 1));
      const double end = *std::max_element(clock_.begin(), clock_.end());
      if (end <= latest) continue;
      latest = end;
      longest = std::tuple(clock_, link_free_, sums_);
    }
    std::tie(clock_, link_free_, sums_) = longest;
    return absl::OkStatus();
  }

  DeviceTimeline Timeline(int kind) {
    DeviceTimeline line;
    const std::vector<double>& sums = sums_[kind];
    line.device = kinds_.first[kind];
    line.devices = kinds_.count[kind];
    line.seconds = clock_[kind];
    line.compute = sums[kCompute];
    line.communication = sums[kCommunication];
    line.exposed = sums[kExposed];
    line.sent.assign(sums.begin() + kLevels, sums.begin() + kLevels + levels_);
    line.busy.assign(sums.begin() + kLevels + levels_, sums.begin() + kLevels + 2 * levels_);
    if (!IsDetailed(kind)) return line;
    line.spans = std::move(spans_[kind]);
    for (const Computation* c : module_.Computations())
      for (const Instruction* i : c->Instructions()) {
        if (Sum(kind, *i, kRuns) == 0) continue;
        line.instructions.push_back({i, Sum(kind, *i, kRuns), Sum(kind, *i, kSeconds),
                                     Sum(kind, *i, kWaited), kernels_[i->id()].bound,
                                     algorithms_[i->id()], bytes_[i->id()]});
      }
    const auto cost = [](const PredictedTime& t) {
      return t.algorithm.empty() ? t.seconds : t.exposed;
    };
    std::stable_sort(
        line.instructions.begin(), line.instructions.end(),
        [&](const PredictedTime& a, const PredictedTime& b) { return cost(a) > cost(b); });
    return line;
  }

  // Of the first kind: all kinds run the same program.
  void SumProducts() {
    for (const PredictedTime& row : result_.kinds[0].instructions) {
      const KernelTime& kernel = kernels_[row.instruction->id()];
      result_.product_flops += kernel.product_flops * row.runs;
      result_.ideal_seconds += kernel.ideal_seconds * row.runs;
      if (IsRematerialized(*row.instruction)) continue;
      result_.model_flops += kernel.product_flops * row.runs;
      result_.model_ideal_seconds += kernel.ideal_seconds * row.runs;
    }
  }

  const Module& module_;
  const Topology& topology_;
  const SimulateOptions options_;
  const DeviceModel device_;
  const DeviceKinds kinds_;
  const int count_, levels_;
  const int64_t bound_;
  const GroupShape everyone_;
  std::vector<double> clock_;                   // by kind
  std::vector<std::vector<double>> link_free_;  // by kind and level
  std::vector<std::vector<double>> sums_;       // by kind
  std::vector<std::vector<TimelineSpan>> spans_;
  std::vector<KernelTime> kernels_;  // by instruction id, where known_
  std::vector<bool> known_;
  std::vector<double> bytes_;            // of collectives, by instruction id
  std::vector<std::string> algorithms_;  // likewise
  absl::flat_hash_map<const Instruction*, std::vector<double>> pending_;  // ends, by start
  bool recording_ = true;
  StepPrediction result_;
};

}  // namespace

absl::StatusOr<StepPrediction> Simulate(const Module& module, const Topology& topology,
                                        const SimulateOptions& options) {
  ASSIGN_OR_RETURN(DeviceKinds kinds, KindsOf(module, topology));
  return Simulator(module, topology, options, std::move(kinds)).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
