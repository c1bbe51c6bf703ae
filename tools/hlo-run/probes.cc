// The flags that look inside a program (--trace, --isolate, --isolate-instructions, --check-nans,
// --bisect) as searches of tools/probe, and their findings as text and as files that reproduce
// them.
#include "tools/hlo-run/probes.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/reference/reference_backend.h"
#include "passes/rewrite/extract.h"
#include "printer/whole_text.h"
#include "re2/re2.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/report.h"
#include "tools/hlo-run/execute.h"
#include "tools/hlo-run/observe.h"
#include "tools/hlo-run/probe_text.h"
#include "tools/probe/find.h"
#include "tools/probe/trace.h"
#include "types/npz.h"

namespace hlokit {
namespace {

// `in round 2 of %while.3, ` for each call on the way from the entry.
std::string WhereText(const CallPath& path) {
  std::string text;
  for (const CallPathStep& site : path) {
    if (site.round >= 0) absl::StrAppend(&text, "round ", site.round, " of ");
    absl::StrAppend(&text, "%", site.caller->name(), ", ");
  }
  return text;
}

// --filter-by-name and the like; patterns are of whole names. Of several shards, each takes every
// so many-th instruction that passes.
absl::StatusOr<InstructionPredicate> Filter(const InstructionFilter& filter) {
  if (filter.shard >= filter.shards)
    return InvalidArgument("--shard-index=", filter.shard, ": there are shards 0 to ",
                           filter.shards - 1);
  std::vector<std::shared_ptr<const RE2>> patterns;
  for (const std::string* text :
       {&filter.name, &filter.skip_name, &filter.opcode, &filter.skip_opcode}) {
    patterns.push_back(text->empty() ? nullptr : std::make_shared<const RE2>(*text, RE2::Quiet));
    if (patterns.back() != nullptr && !patterns.back()->ok())
      return InvalidArgument("'", *text, "' is no pattern: ", patterns.back()->error());
  }
  const auto fits = [](const std::shared_ptr<const RE2>& pattern, absl::string_view text,
                       bool otherwise) {
    return pattern == nullptr ? otherwise : RE2::FullMatch(AsStd(text), *pattern);
  };
  auto count = std::make_shared<int64_t>(0);
  return InstructionPredicate([=](const Instruction& i) {
    const absl::string_view opcode = Text(i.opcode());
    return fits(patterns[0], i.name(), true) && !fits(patterns[1], i.name(), false) &&
           fits(patterns[2], opcode, true) && !fits(patterns[3], opcode, false) &&
           (*count)++ % filter.shards == filter.shard;
  });
}

// Where the worst element of an array is.
DimVector WorstIndex(const CompareResult& result) {
  for (const LeafComparison& leaf : result.leaves)
    if (leaf.leaf.empty() && !leaf.worst.empty()) return leaf.worst[0].index;
  return {};
}

class Probes {
 public:
  Probes(const RunOptions& o, const Module& module, const DeviceArguments& arguments,
         Client& platform, Client* reference)
      : o_(o), module_(module), arguments_(arguments), progress_(TerminalProgress()) {
    test_ = {&platform, CompileOptionsOf(o, /*reference=*/false), o.platform};
    if (reference == nullptr) {
      interpreter_ = Client::Create(MakeReferenceBackend());
      reference_ = {interpreter_.get(), CompileOptionsOf(o, true), "interpreter"};
    } else {
      reference_ = {reference, CompileOptionsOf(o, true), o.reference_platform};
    }
    if (test_.name == reference_.name) {  // two pipelines of one platform
      reference_.name += " (reference)";
    }
  }

  absl::Status Run(bool& good) {
    if (!o_.trace.empty()) RETURN_IF_ERROR(RunTrace());
    if (!o_.isolate.empty()) RETURN_IF_ERROR(RunIsolate());
    if (o_.isolate_instructions) RETURN_IF_ERROR(RunIsolateAll(good));
    if (o_.check_nans || o_.check_infs) RETURN_IF_ERROR(CheckNans(good));
    if (o_.bisect) RETURN_IF_ERROR(Bisect(good));
    return absl::OkStatus();
  }

 private:
  absl::Status RunTrace() {
    const RE2 pattern(o_.trace, RE2::Quiet);
    if (!pattern.ok()) return InvalidArgument("--trace=", o_.trace, ": ", pattern.error());
    std::vector<std::pair<std::string, Literal>> values;
    RETURN_IF_ERROR(Trace(
        test_, module_, arguments_,
        [&](const Instruction& i) { return RE2::PartialMatch(i.name(), pattern); },
        [&](std::string name, Literal value) {
          values.emplace_back(std::move(name), std::move(value));
          return absl::OkStatus();
        }));
    std::vector<NamedLiteral> arrays;
    for (const auto& [name, value] : values)
      for (NamedLiteral leaf : NameLeaves(value, value.shape().IsTuple() ? name + "." : name)) {
        if (!value.shape().IsTuple()) leaf.name = name;
        arrays.push_back(std::move(leaf));
      }
    if (arrays.empty()) return NothingTraced(pattern);
    RETURN_IF_ERROR(WriteNpz(o_.trace_to, arrays));
    PrintOut(absl::StrCat("wrote ", arrays.size(), " arrays to ", o_.trace_to, "\n"));
    return absl::OkStatus();
  }

  absl::Status NothingTraced(const RE2& pattern) const {
    for (const Computation* c : module_.Computations())
      for (const Instruction* i : c->Instructions())
        if (RE2::PartialMatch(i->name(), pattern))
          return NotFound("--trace=", o_.trace, ": %", i->name(),
                          " never runs, or only element by element in what another calls");
    return NotFound("--trace=", o_.trace, ": no instruction's name matches");
  }

  absl::Status RunIsolate() {
    ASSIGN_OR_RETURN(const Instruction* instruction, FindInstruction(module_, o_.isolate));
    ASSIGN_OR_RETURN(const Isolated isolated,
                     Isolate(test_, module_, arguments_, *instruction, o_.isolate_run, o_.height));
    PrintOut(absl::StrCat(WhereText(isolated.path), ShortText(*instruction), "\n"));
    return Save(*isolated.module, isolated.inputs, instruction->name(),
                o_.run_passes ? "" : " --no-passes");
  }

  // STEM.hlo and STEM.npz, and how to run them.
  absl::Status Save(const Module& module, const std::vector<Literal>& inputs,
                    const std::string& name, absl::string_view flags) {
    const std::string stem = o_.isolate_to.empty() ? name : o_.isolate_to;
    if (stem == "-") return InvalidArgument("--isolate-to is the stem of two files' names, not -");
    RETURN_IF_ERROR(AtomicWriteFile(stem + ".hlo", WholeText(module)));
    RETURN_IF_ERROR(WriteNpz(stem + ".npz", NameLeaves(Literal::Tuple(inputs), "in")));
    PrintOut(absl::StrCat("wrote it with its inputs: hlo-run ", stem, ".hlo --input=", stem, ".npz",
                          flags, "\n"));
    return absl::OkStatus();
  }

  absl::Status RunIsolateAll(bool& good) {
    Side test = test_;
    Side reference = reference_;
    if (o_.reference_platform.empty()) {  // each is run, and nothing is compared
      reference = test_;
      test.client = nullptr;
    }
    ASSIGN_OR_RETURN(const InstructionPredicate wanted, Filter(o_.filter));
    ASSIGN_OR_RETURN(
        const std::vector<IsolationResult> rows,
        IsolateAll(reference, test, module_, arguments_, CompareOptionsOf(o_), progress_, wanted));
    std::string text = absl::StrFormat("%-17s  %5s  instruction\n", "state", "count");
    for (const IsolationResult& row : rows) {
      absl::StrAppendFormat(&text, "%-17s  %5d  %s\n", Text(row.state), row.instructions.size(),
                            row.text);
      const bool bad = row.state == IsolationResult::kMismatch ||
                       row.state == IsolationResult::kCompileError ||
                       row.state == IsolationResult::kRunError;
      if (bad) absl::StrAppend(&text, "  ", row.detail, row.detail.back() == '\n' ? "" : "\n");
      good &= !bad;
    }
    PrintOut(text);
    return absl::OkStatus();
  }

  absl::Status CheckNans(bool& good) {
    FaultKind kind;
    kind.kind = o_.check_infs ? FaultKind::kNotFinite : FaultKind::kNan;
    const char* const what = o_.check_infs ? "an infinity or NaN" : "a NaN";
    for (size_t i = 0; i < arguments_.size(); ++i)
      if (std::string where; HoldsNan(*arguments_[i], o_.check_infs, &where))
        PrintOut(absl::StrCat("argument ", i, " holds ", where, " already\n"));
    ASSIGN_OR_RETURN(const std::optional<Fault> fault,
                     FindFirstFault(module_, arguments_, test_, test_, kind, progress_));
    if (!fault.has_value()) {
      PrintOut(absl::StrCat(test_.name, ": no instruction makes ", what, "\n"));
      return absl::OkStatus();
    }
    good = false;
    PrintOut(absl::StrCat(PlaceText(*fault->instruction), WhereText(fault->path),
                          ShortText(*fault->instruction), "\n  is the first to make ", what, " on ",
                          test_.name, ": ", fault->value, "\n", OriginText(*fault->instruction)));
    return Save(*fault->module, fault->inputs, fault->instruction->name(),
                absl::StrCat(" --platform=", o_.platform, o_.run_passes ? "" : " --no-passes"));
  }

  absl::Status Bisect(bool& good) {
    ASSIGN_OR_RETURN(const CompiledModule tested, CompiledModule::Make(test_, module_.Clone()));
    ASSIGN_OR_RETURN(const CompiledModule trusted,
                     CompiledModule::Make(reference_, module_.Clone()));
    ASSIGN_OR_RETURN(const Literal actual, tested.Run(arguments_));
    ASSIGN_OR_RETURN(const Literal expected, trusted.Run(arguments_));
    FaultKind kind;
    kind.compare = CompareOptionsOf(o_);
    const CompareResult whole = Compare(expected, actual, kind.compare);
    const std::string sides = absl::StrCat(test_.name, " and ", reference_.name);
    if (whole.equal) {
      const int64_t nans = whole.NanMatches();
      PrintOut(absl::StrCat(sides, " agree on the results: nothing to search for\n",
                            nans == 0
                                ? ""
                                : absl::StrCat(nans,
                                               " elements are NaN in both: --check-nans finds the "
                                               "instruction that makes the first\n")));
      return absl::OkStatus();
    }
    good = false;
    PrintOut(whole.Report());
    ASSIGN_OR_RETURN(const std::optional<Fault> fault,
                     FindFirstFault(module_, arguments_, reference_, test_, kind, progress_));
    if (!fault.has_value()) {
      PrintOut(absl::StrCat(sides,
                            " agree on every instruction that is asked for: the fault is in how ",
                            test_.name, " compiles the module as a whole\n"));
      return absl::OkStatus();
    }
    std::string text =
        absl::StrCat(PlaceText(*fault->instruction), WhereText(fault->path),
                     ShortText(*fault->instruction), "\n  is the first where ", sides, " differ");
    if (fault->height > 0)
      absl::StrAppend(&text, ", together with ", fault->height, " of what stands before it");
    if (fault->height < 0) text += ", together with all that stands before it";
    absl::StrAppend(&text, fault->remark.empty() ? "" : "; ", fault->remark, "\n",
                    OriginText(*fault->instruction), fault->difference.Report());
    if (fault->height == 0)
      absl::StrAppend(
          &text, OperandsText(*fault->instruction, fault->inputs, WorstIndex(fault->difference)));
    PrintOut(text);
    return Save(*fault->module, fault->inputs, fault->instruction->name(), ComparingFlags());
  }

  std::string ComparingFlags() const {
    std::string flags =
        absl::StrCat(" --platform=", o_.platform, " --reference-platform=",
                     o_.reference_platform.empty() ? "interpreter" : o_.reference_platform);
    if (!o_.run_passes) flags += " --no-passes";
    if (!o_.passes.empty()) absl::StrAppend(&flags, " --passes='", o_.passes, "'");
    if (!o_.run_reference_passes) flags += " --run-reference-hlo-passes=false";
    if (o_.ulps >= 0) return absl::StrCat(flags, " --ulps=", o_.ulps);
    return absl::StrCat(flags, " --abs-error=", o_.abs_error, " --rel-error=", o_.rel_error);
  }

  const RunOptions& o_;
  const Module& module_;
  const DeviceArguments& arguments_;
  std::unique_ptr<Client> interpreter_;
  Side test_, reference_;
  const ProgressCallback progress_;
};

}  // namespace

bool WantsProbes(const RunOptions& o) {
  return o.bisect || o.check_nans || o.check_infs || o.isolate_instructions || !o.trace.empty() ||
         !o.isolate.empty();
}

absl::Status RunProbes(const RunOptions& options, const Module& module,
                       absl::Span<const DeviceArguments> arguments, Client& platform,
                       Client* reference, bool& good) {
  if (arguments.size() != 1) return ObserveDevices(options, module, arguments, good);
  return Probes(options, module, arguments[0], platform, reference).Run(good);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
