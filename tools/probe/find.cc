// Finds the first wrong instruction of a run (hlo-run --bisect, --check-nans).
//
// 1. Probes: modules that return many instructions' values at once (at most kProbeBytes) run on
// both sides; the first value that differs, in execution order, belongs to the culprit. 2. If all
// agree, making values results has hidden the fault (fusion changed): bisection over single results
// finds it (FirstDifferentAlone), log2 n runs. 3. The culprit is cut out with the reference's
// inputs, alone and then with more of its operands, until the cut shows the fault (Cut). 4. If the
// culprit calls computations and is wrong by itself, the search continues inside them, one
// iteration of a loop at a time, on the reference's values. For NaN the first instruction is sought
// that holds one while none of its operands does.
#include "tools/probe/find.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "passes/rewrite/extract.h"
#include "support/status.h"
#include "types/literal_text.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

constexpr int64_t kProbeBytes = int64_t{1} << 28;  // of values held at a time, on one side
constexpr size_t kProbeOutputs = 1000;

bool HasArrays(const Shape& shape) {
  for (const ShapeLeaf& leaf : Leaves(shape))
    if (leaf.shape->IsArray()) return true;
  return false;
}

// Instructions that only pass values on are never the ones to blame; a start's result is its
// done's.
bool MayBeWrong(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kAsyncUpdate:
      return false;
    default:
      return HasArrays(i.shape()) && (Info(i.opcode()).traits & kAsyncStart) == 0;
  }
}

class Finder {
 public:
  Finder(const Side& reference, const Side& test, const FaultKind& kind,
         const ProgressCallback& progress)
      : differs_(kind.kind == FaultKind::kDiffers),
        reference_(differs_ ? reference : test),
        test_(test),
        kind_(kind),
        progress_(progress) {}

  // The first fault of a computation's run that is known to go wrong; empty where none shows.
  absl::StatusOr<std::optional<Fault>> Search(const Computation& computation,
                                              absl::Span<const Literal* const> arguments) {
    if (progress_ && !progress_(absl::StrCat("search ", Text(path_), computation.name()), 0))
      return absl::CancelledError("interrupted");
    ASSIGN_OR_RETURN(const Instruction* culprit, FirstWrong(computation, arguments));
    if (culprit == nullptr) return std::optional<Fault>();
    ASSIGN_OR_RETURN(Fault fault, Cut(*culprit, arguments));
    if (fault.height != 0 || !RunsComputations(culprit->opcode()))
      return std::optional(std::move(fault));
    ASSIGN_OR_RETURN(std::optional<Fault> inner, SearchCalled(*culprit, arguments));
    if (inner.has_value()) return inner;
    fault.remark =
        culprit->opcode() == Opcode::kWhile
            ? "no single round is wrong by itself: what differs is how the rounds go together, "
              "or errors that add up"
            : "what it calls is right when it runs by itself";
    return std::optional(std::move(fault));
  }

 private:
  bool Wrong(const Literal& reference, const Literal& test, CompareResult* result = nullptr) const {
    if (!differs_) return HoldsNan(test, kind_.kind == FaultKind::kNotFinite);
    CompareResult compared = Compare(reference, test, kind_.compare);
    const bool wrong = !compared.equal;
    if (result != nullptr) *result = std::move(compared);
    return wrong;
  }

  absl::StatusOr<const Instruction*> FirstWrong(const Computation& computation,
                                                absl::Span<const Literal* const> arguments) {
    holds_.clear();
    std::vector<const Instruction*> candidates;
    for (const Instruction* i : computation.ScheduleOrPostOrder())
      if (differs_ ? MayBeWrong(*i) : HasArrays(i->shape())) candidates.push_back(i);
    for (size_t start = 0; start < candidates.size();) {
      const size_t end = EndOfProbe(candidates, start);
      const absl::Span<const Instruction* const> probe(&candidates[start], end - start);
      ASSIGN_OR_RETURN(const Instruction* wrong,
                       differs_ ? FirstDifferent(probe, arguments) : FirstMaker(probe, arguments));
      if (wrong != nullptr) return wrong;
      start = end;
    }
    if (!differs_) return nullptr;
    return FirstDifferentAlone(computation, candidates, arguments);
  }

  static size_t EndOfProbe(const std::vector<const Instruction*>& candidates, size_t start) {
    int64_t bytes = 0;
    size_t end = start;
    while (end < candidates.size() && end - start < kProbeOutputs &&
           (end == start || bytes + TotalBytes(candidates[end]->shape()) <= kProbeBytes))
      bytes += TotalBytes(candidates[end++]->shape());
    return end;
  }

  absl::StatusOr<const Instruction*> FirstDifferent(absl::Span<const Instruction* const> probe,
                                                    absl::Span<const Literal* const> arguments) {
    ASSIGN_OR_RETURN(const std::vector<Literal> expected, ValuesOf(reference_, probe, arguments));
    ASSIGN_OR_RETURN(const std::vector<Literal> actual, ValuesOf(test_, probe, arguments));
    for (size_t k = 0; k < probe.size(); ++k)
      if (Wrong(expected[k], actual[k])) return probe[k];
    return nullptr;
  }

  // The first that holds a NaN where none of its operands does.
  absl::StatusOr<const Instruction*> FirstMaker(absl::Span<const Instruction* const> probe,
                                                absl::Span<const Literal* const> arguments) {
    auto& compiled = probes_[probe[0]];  // loops come here every round
    if (compiled == nullptr) {
      ASSIGN_OR_RETURN(Probe made, Probe::Make(test_, probe));
      compiled = std::make_unique<Probe>(std::move(made));
    }
    ASSIGN_OR_RETURN(const std::vector<Literal> values, compiled->Run(arguments));
    for (size_t k = 0; k < probe.size(); ++k) {
      if (Wrong(values[k], values[k])) holds_.insert(probe[k]);
      if (!holds_.contains(probe[k]) || !MayBeWrong(*probe[k])) continue;
      bool given = false;
      for (const Instruction* operand : probe[k]->operands()) given |= holds_.contains(operand);
      if (!given) return probe[k];
    }
    return nullptr;
  }

  // Where making everything a result makes the fault vanish: by halves, one result at a time.
  absl::StatusOr<const Instruction*> FirstDifferentAlone(
      const Computation& computation, const std::vector<const Instruction*>& candidates,
      absl::Span<const Literal* const> arguments) {
    const auto differs = [&](const Instruction* i) -> absl::StatusOr<bool> {
      ASSIGN_OR_RETURN(const auto expected, ValuesOf(reference_, {i}, arguments));
      ASSIGN_OR_RETURN(const auto actual, ValuesOf(test_, {i}, arguments));
      return Wrong(expected[0], actual[0]);
    };
    ASSIGN_OR_RETURN(const bool root_differs, differs(computation.root()));
    if (!root_differs) return nullptr;
    size_t low = 0, high = candidates.size();  // those before `low` agree; `high`, or the root, not
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      ASSIGN_OR_RETURN(const bool wrong, differs(candidates[middle]));
      (wrong ? high : low) = wrong ? middle : middle + 1;
    }
    return high < candidates.size() ? candidates[high] : computation.root();
  }

  // The smallest part of the computation around `culprit` that shows the fault from the reference's
  // values.
  absl::StatusOr<Fault> Cut(const Instruction& culprit,
                            absl::Span<const Literal* const> arguments) {
    Fault fault;
    fault.path = path_;
    fault.instruction = &culprit;
    for (int height : {0, 1, 2, 4, 8, 16, 32, -1}) {
      ExtractOptions options;
      options.height = fault.height = height;
      ASSIGN_OR_RETURN(Extraction cut, Extract({&culprit}, options));
      fault.module = std::move(cut.module);
      ASSIGN_OR_RETURN(fault.inputs, ValuesOf(reference_, cut.inputs, arguments));
      ASSIGN_OR_RETURN(const bool shows, Shows(fault));
      if (shows) return fault;
    }
    fault.remark = "it is wrong only where other values of the module are results as well";
    return fault;
  }

  absl::StatusOr<bool> Shows(Fault& fault) {
    const LiteralPointers inputs = PointersTo(fault.inputs);
    ASSIGN_OR_RETURN(const CompiledModule tested,
                     CompiledModule::Make(test_, fault.module->Clone()));
    ASSIGN_OR_RETURN(const Literal actual, tested.Run(inputs));
    if (!differs_) return HoldsNan(actual, kind_.kind == FaultKind::kNotFinite, &fault.value);
    ASSIGN_OR_RETURN(const CompiledModule trusted,
                     CompiledModule::Make(reference_, fault.module->Clone()));
    ASSIGN_OR_RETURN(const Literal expected, trusted.Run(inputs));
    return Wrong(expected, actual, &fault.difference);
  }

  // The first run of what `caller` calls that is wrong, and the fault inside it.
  absl::StatusOr<std::optional<Fault>> SearchCalled(const Instruction& caller,
                                                    absl::Span<const Literal* const> arguments) {
    ASSIGN_OR_RETURN(const std::vector<Literal> operands,
                     OperandValues(reference_, caller, arguments));
    std::optional<Fault> found;
    path_.push_back({&caller, -1});
    RETURN_IF_ERROR(ForEachRun(reference_, caller, PointersTo(operands),
                               [&](const Computation& called, int64_t round,
                                   absl::Span<const Literal* const> given) -> absl::StatusOr<bool> {
                                 path_.back().round = round;
                                 // A NaN that is made inside need not come out.
                                 if (differs_) {
                                   ASSIGN_OR_RETURN(const bool wrong, RunDiffers(called, given));
                                   if (!wrong) return true;
                                 }
                                 ASSIGN_OR_RETURN(found, Search(called, given));
                                 return !found.has_value();
                               }));
    path_.pop_back();
    programs_.clear();
    return found;
  }

  absl::StatusOr<bool> RunDiffers(const Computation& computation,
                                  absl::Span<const Literal* const> arguments) {
    ASSIGN_OR_RETURN(const CompiledModule* tested, Compiled(test_, computation, 0));
    ASSIGN_OR_RETURN(const Literal actual, tested->Run(arguments));
    ASSIGN_OR_RETURN(const CompiledModule* trusted, Compiled(reference_, computation, 1));
    ASSIGN_OR_RETURN(const Literal expected, trusted->Run(arguments));
    return Wrong(expected, actual);
  }

  absl::StatusOr<const CompiledModule*> Compiled(const Side& side, const Computation& computation,
                                                 int which) {
    auto& slot = programs_[{&computation, which}];
    if (slot == nullptr) {
      ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ExtractComputation(computation));
      ASSIGN_OR_RETURN(CompiledModule program, CompiledModule::Make(side, std::move(module)));
      slot = std::make_unique<CompiledModule>(std::move(program));
    }
    return slot.get();
  }

  const bool differs_;
  const Side& reference_;
  const Side& test_;
  const FaultKind& kind_;
  const ProgressCallback& progress_;
  CallPath path_;
  absl::flat_hash_set<const Instruction*> holds_;  // a NaN, in the run under search
  absl::flat_hash_map<const Instruction*, std::unique_ptr<Probe>> probes_;  // by the first result
  absl::flat_hash_map<std::pair<const Computation*, int>, std::unique_ptr<CompiledModule>>
      programs_;
};

}  // namespace

bool HoldsNan(const Literal& value, bool infinities, std::string* where) {
  if (value.shape().IsTuple()) {
    for (const Literal& element : value.elements())
      if (HoldsNan(element, infinities, where)) return true;
    return false;
  }
  const ElementType type = value.type();
  if (!value.shape().IsArray() || !(IsFloat(type) || IsComplex(type))) return false;
  const auto bad = [&](double x) { return std::isnan(x) || (infinities && std::isinf(x)); };
  for (int64_t i = 0; i < value.element_count(); ++i) {
    const std::complex<double> x = value.GetComplex(i);
    if (!bad(x.real()) && !bad(x.imag())) continue;
    if (where == nullptr) return true;
    DimVector index;
    int64_t rest = i;
    for (int64_t stride : RowMajorStrides(value.shape().dims)) {
      index.push_back(rest / stride);
      rest %= stride;
    }
    where->clear();
    AppendElementText(*where, value, i);
    absl::StrAppend(where, " at [", absl::StrJoin(index, ","), "]");
    return true;
  }
  return false;
}

absl::StatusOr<std::optional<Fault>> FindFirstFault(const Module& module,
                                                    absl::Span<const Literal* const> arguments,
                                                    const Side& reference, const Side& test,
                                                    const FaultKind& kind,
                                                    const ProgressCallback& progress) {
  return Finder(reference, test, kind, progress).Search(*module.entry(), arguments);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
