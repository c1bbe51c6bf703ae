// Traces values inside called computations: all runs of a computation are visited on one side
// (loops one iteration at a time), and a probe returns what is wanted of each run. Names are paths:
// `loop[2]/branch/add.5`.
#include "tools/probe/trace.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "passes/rewrite/extract.h"
#include "printer/printer.h"
#include "support/status.h"

namespace hlokit {

absl::Status Trace(const Side& side, const Module& module,
                   absl::Span<const Literal* const> arguments,
                   const std::function<bool(const Instruction&)>& wanted,
                   const std::function<absl::Status(std::string name, Literal value)>& sink) {
  struct Probed {
    std::vector<const Instruction*> instructions;
    std::unique_ptr<Probe> probe;
  };
  absl::flat_hash_map<const Computation*, Probed> probes;
  const auto visit = [&](const CallPath& path, const Computation& computation,
                         absl::Span<const Literal* const> given) -> absl::StatusOr<bool> {
    auto [found, is_new] = probes.try_emplace(&computation);
    Probed& probed = found->second;
    if (is_new) {
      for (const Instruction* i : computation.ScheduleOrPostOrder())
        if (wanted(*i) && !i->shape().IsToken()) probed.instructions.push_back(i);
      if (!probed.instructions.empty()) {
        ASSIGN_OR_RETURN(Probe probe, Probe::Make(side, probed.instructions));
        probed.probe = std::make_unique<Probe>(std::move(probe));
      }
    }
    if (probed.probe == nullptr) return true;
    ASSIGN_OR_RETURN(std::vector<Literal> values, probed.probe->Run(given));
    for (size_t i = 0; i < values.size(); ++i)
      RETURN_IF_ERROR(
          sink(absl::StrCat(Text(path), probed.instructions[i]->name()), std::move(values[i])));
    return true;
  };
  return WalkRuns(side, module, arguments, ComputationsWith(module, wanted), visit);
}

// What runs by itself in the place of `i`: an asynchronous operation does up to its done only.
static const Instruction& Whole(const Instruction& i) {
  const Instruction* part = &i;
  while ((HasTrait(part->opcode(), kAsyncStart) || part->opcode() == Opcode::kAsyncUpdate) &&
         part->users().size() == 1)
    part = part->users()[0];
  return *part;
}

absl::StatusOr<Isolated> Isolate(const Side& side, const Module& module,
                                 absl::Span<const Literal* const> arguments,
                                 const Instruction& instruction, int64_t run, int height) {
  ExtractOptions options;
  options.height = height;
  ASSIGN_OR_RETURN(Extraction cut, Extract({&Whole(instruction)}, options));
  Isolated isolated;
  int64_t runs = 0;
  bool found = false;
  const auto visit = [&](const CallPath& path, const Computation& computation,
                         absl::Span<const Literal* const> given) -> absl::StatusOr<bool> {
    if (&computation != instruction.parent() || runs++ < run) return true;
    ASSIGN_OR_RETURN(isolated.inputs, ValuesOf(side, cut.inputs, given));
    isolated.path = path;
    found = true;
    return false;
  };
  const ComputationSet into =
      ComputationsWith(module, [&](const Instruction& i) { return &i == &instruction; });
  RETURN_IF_ERROR(WalkRuns(side, module, arguments, into, visit));
  if (!found)
    return NotFound("%", instruction.name(),
                    runs == 0
                        ? " never runs by itself (it is part of what one instruction computes, "
                          "or of a branch not taken)"
                        : absl::StrCat(" runs ", runs, " times only"));
  isolated.module = std::move(cut.module);
  return isolated;
}

absl::string_view Text(IsolationResult::State state) {
  constexpr absl::string_view kTexts[] = {
      "MATCHED", "MISMATCH", "RAN", "SKIPPED", "DIDN'T RUN", "COMPILATION ERROR", "RUNTIME ERROR"};
  return kTexts[state];
}

namespace {

// Nothing to compute, or nothing that two executions must agree on.
bool IsSkipped(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kRng:
    case Opcode::kRngGetAndUpdateState:
      return true;
    default:
      return i.HasSideEffect() || HasTrait(i.opcode(), kCollective) ||
             HasTrait(i.opcode(), kAsyncStart) || HasTrait(i.opcode(), kAsyncDone) ||
             i.shape().IsToken();
  }
}

class Isolator {
 public:
  Isolator(const Side& reference, const Side& test, const CompareOptions& compare,
           const InstructionPredicate& wanted)
      : reference_(reference), test_(test), compare_(compare), wanted_(wanted) {}

  absl::Status Visit(const Computation& computation, absl::Span<const Literal* const> arguments) {
    if (!visited_.insert(&computation).second) return absl::OkStatus();
    for (const Instruction* i : computation.ScheduleOrPostOrder()) {
      if (!Wants(*i)) continue;
      ASSIGN_OR_RETURN(Extraction cut, Extract({i}, HeightZero()));
      IsolationResult* row = RowOf(*i, *cut.module);
      if (row == nullptr) continue;
      if (IsSkipped(*i)) {
        row->state = IsolationResult::kSkipped;
        continue;
      }
      auto inputs = ValuesOf(reference_, cut.inputs, arguments);
      if (inputs.ok()) {
        Run(std::move(cut.module), PointersTo(*inputs), *row);
      } else {
        row->detail = inputs.status().ToString();
      }
    }
    return absl::OkStatus();
  }

  std::vector<IsolationResult> TakeRows() { return std::move(rows_); }
  bool Visited(const Computation& computation) const { return visited_.contains(&computation); }

  // Those of computations that never ran.
  void AddRest(const ComputationSet& running) {
    for (const Computation* c : running)
      if (!visited_.contains(c))
        for (const Instruction* i : c->Instructions())
          if (Wants(*i))
            rows_.push_back({IsolationResult::kDidNotRun, {i->name()}, ShortText(*i), ""});
  }

 private:
  bool Wants(const Instruction& i) const {
    return !i.IsParameter() && !i.IsConstant() && (!wanted_ || wanted_(i));
  }

  static ExtractOptions HeightZero() {
    ExtractOptions options;
    options.height = 0;
    return options;
  }

  // A new row; null where an equal instruction has one, which takes the name.
  IsolationResult* RowOf(const Instruction& i, const Module& cut) {
    const auto [row, is_new] =
        row_of_.try_emplace(Print(cut, PrintOptions::Fingerprint()), rows_.size());
    if (!is_new) {
      rows_[row->second].instructions.push_back(i.name());
      return nullptr;
    }
    rows_.push_back({IsolationResult::kDidNotRun, {i.name()}, ShortText(i), ""});
    return &rows_.back();
  }

  void Run(std::unique_ptr<Module> module, const LiteralPointers& inputs, IsolationResult& row) {
    const auto fail = [&](IsolationResult::State state, const absl::Status& status) {
      row.state = state;
      row.detail = std::string(status.message());
    };
    auto trusted = CompiledModule::Make(reference_, module->Clone());
    if (!trusted.ok()) return fail(IsolationResult::kCompileError, trusted.status());
    const auto expected = trusted->Run(inputs);
    if (!expected.ok()) return fail(IsolationResult::kRunError, expected.status());
    row.state = IsolationResult::kRan;
    if (test_.client == nullptr) return;
    auto tested = CompiledModule::Make(test_, std::move(module));
    if (!tested.ok()) return fail(IsolationResult::kCompileError, tested.status());
    const auto actual = tested->Run(inputs);
    if (!actual.ok()) return fail(IsolationResult::kRunError, actual.status());
    const CompareResult result = Compare(*expected, *actual, compare_);
    row.state = result.equal ? IsolationResult::kMatched : IsolationResult::kMismatch;
    if (!result.equal) row.detail = result.Report();
  }

  const Side& reference_;
  const Side& test_;
  const CompareOptions& compare_;
  const InstructionPredicate& wanted_;
  ComputationSet visited_;
  std::vector<IsolationResult> rows_;
  absl::flat_hash_map<std::string, size_t> row_of_;
};

}  // namespace

std::string ShortText(const Instruction& instruction) {
  PrintOptions options;
  options.metadata = options.backend_config = false;
  return Print(instruction, options);
}

absl::StatusOr<std::vector<IsolationResult>> IsolateAll(const Side& reference, const Side& test,
                                                        const Module& module,
                                                        absl::Span<const Literal* const> arguments,
                                                        const CompareOptions& compare,
                                                        const ProgressCallback& progress,
                                                        const InstructionPredicate& wanted) {
  ComputationSet running = {module.entry()};
  const std::vector<Computation*> order = module.ComputationsPostOrder();
  for (auto c = order.rbegin(); c != order.rend(); ++c)
    if (running.contains(*c))
      for (const Instruction* i : (*c)->Instructions())
        if (RunsComputations(i->opcode()) && i->opcode() != Opcode::kFusion)
          running.insert(i->called().begin(), i->called().end());
  Isolator isolator(reference, test, compare, wanted);
  size_t done = 0;
  RETURN_IF_ERROR(WalkRuns(
      reference, module, arguments, running,
      [&](const CallPath&, const Computation& computation,
          absl::Span<const Literal* const> given) -> absl::StatusOr<bool> {
        RETURN_IF_ERROR(isolator.Visit(computation, given));
        if (progress &&
            !progress("isolate", static_cast<double>(done++) / static_cast<double>(running.size())))
          return absl::CancelledError("interrupted");
        for (const Computation* c : running)
          if (!isolator.Visited(*c)) return true;
        return false;
      }));
  isolator.AddRest(running);
  return isolator.TakeRows();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
