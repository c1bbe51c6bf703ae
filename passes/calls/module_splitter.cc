// hlo-module-splitter, hlo-module-stitcher: gives each call of another compilation unit
// computations of its own, and takes that back.
//   main: call(x), to_apply=f, compilation_unit="a";  fusion(x), calls=f
//     ->  call(x), to_apply=f.part, and the mark kModuleMark;  fusion(x), calls=f
// What the main part needs without calls stays its own; a computation that two parts need is copied
// for the second one, all in all at most kMaxCopied instructions. Stitching removes the marks and
// makes equal computations one again. Linear in what is kept and copied.
#include "passes/calls/module_splitter.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "passes/calls/computation_deduplicator.h"
#include "passes/rewrite/dead_code.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxCopied = 1'000'000;  // instructions

bool HasModuleMark(const Instruction& i) {
  for (const auto& [key, value] : i.extras().frontend_attributes)
    if (key == kModuleMark) return true;
  return false;
}

// Whether the call says to which compilation unit its computation belongs, or that it is inlined
// late.
bool HasUnit(const Instruction& i) {
  for (const auto& [key, value] : i.extras().frontend_attributes)
    if (key == "compilation_unit" || (key == "inlineable" && value == "xla_late")) return true;
  return false;
}

class UnitSplitter {
 public:
  explicit UnitSplitter(Module& module) : module_(module) {}

  absl::StatusOr<bool> Run() {
    // What is needed besides the calls' parts belongs to the main part.
    TakeAll(module_.entry(), /*part=*/0);
    for (Instruction* call : Calls()) {
      if (HasModuleMark(*call) || !HasUnit(*call)) continue;
      ++parts_;
      absl::flat_hash_map<Computation*, Computation*> copies;
      Computation* own = Own(call->to_apply(), copies);
      if (copied_ > kMaxCopied)
        return ResourceExhausted("hlo-module-splitter: more than ", kMaxCopied,
                                 " instructions would have to be copied");
      call->SetCalled(0, own);
      call->mutable_extras().frontend_attributes.emplace_back(kModuleMark, own->name());
      changed_ = true;
    }
    if (changed_) RemoveUncalled(module_);
    return changed_;
  }

 private:
  // Those outside the computations that other calls call: their own calls stay inside their part.
  std::vector<Instruction*> Calls() const {
    std::vector<Instruction*> calls;
    for (Computation* c : module_.ComputationsPostOrder()) {
      const auto part = part_of_.find(c);
      if (part == part_of_.end() || part->second != 0) continue;
      for (Instruction* i : c->Instructions())
        if (i->opcode() == Opcode::kCall) calls.push_back(i);
    }
    return calls;
  }

  // Gives to `part` all that the computation needs but by call.
  void TakeAll(Computation* start, int64_t part) {
    std::vector<Computation*> work = {start};
    while (!work.empty()) {
      Computation* c = work.back();
      work.pop_back();
      if (!part_of_.emplace(c, part).second) continue;
      for (const Instruction* i : c->Instructions())
        if (i->opcode() != Opcode::kCall)
          for (Computation* called : i->called()) work.push_back(called);
    }
  }

  // The computation itself where no other part has it, else a copy; with all that it needs.
  Computation* Own(Computation* start, absl::flat_hash_map<Computation*, Computation*>& copies) {
    std::vector<Computation*> work = {Take(start, copies)};
    Computation* const own = work[0];
    while (!work.empty() && copied_ <= kMaxCopied) {
      Computation* c = work.back();
      work.pop_back();
      for (Instruction* i : c->Instructions())
        for (size_t k = 0; k < i->called().size(); ++k) {
          Computation* called = i->called(k);
          const auto known = copies.find(called);
          Computation* taken = known != copies.end() ? known->second : Take(called, copies);
          if (known == copies.end()) work.push_back(taken);
          if (taken != called) i->SetCalled(k, taken);
        }
    }
    return own;
  }

  Computation* Take(Computation* c, absl::flat_hash_map<Computation*, Computation*>& copies) {
    Computation* taken = c;
    if (!part_of_.emplace(c, parts_).second) {
      taken = c->Clone(".part");
      copied_ += taken->instruction_count();
      part_of_.emplace(taken, parts_);
    }
    copies.emplace(c, taken);
    copies.emplace(taken, taken);
    return taken;
  }

  Module& module_;
  absl::flat_hash_map<Computation*, int64_t> part_of_;
  int64_t parts_ = 0, copied_ = 0;
  bool changed_ = false;
};

absl::StatusOr<bool> Split(Module& module) { return UnitSplitter(module).Run(); }

absl::StatusOr<bool> Stitch(Module& module) {
  bool changed = false;
  for (Computation* c : module.Computations())
    for (Instruction* i : c->Instructions()) {
      if (!i->HasExtras() || !HasModuleMark(*i)) continue;
      std::erase_if(i->mutable_extras().frontend_attributes,
                    [](const auto& attribute) { return attribute.first == kModuleMark; });
      changed = true;
    }
  if (!changed) return false;
  RETURN_IF_ERROR(CreateComputationDeduplicator()->Run(module).status());
  return true;
}

}  // namespace

std::unique_ptr<Pass> CreateHloModuleSplitter() {
  return MakeModulePass("hlo-module-splitter", Split);
}
std::unique_ptr<Pass> CreateHloModuleStitcher() {
  return MakeModulePass("hlo-module-stitcher", Stitch);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
