// Where two instructions are, pass by pass.
//
// An instruction is known by its name as long as there is one; inlining and fusions may give its
// copy another, so that then one of the same opcode and op_name counts as it; without op_name, one
// inside of a fusion that is called `add.1.2` for `add.1`.
//   add.1 in main, max.2 in main -> both in the fusion %add_max_fusion
#include "tools/hlo-opt/explain_pair.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "passes/framework/pass_list.h"
#include "passes/fusions/fusion_decisions.h"

namespace hlokit {
namespace {

constexpr absl::string_view kFusionPass = "fusion";

std::string Name(const Computation& place) {
  if (const Instruction* fusion = FusionAround(place))
    return absl::StrCat("the fusion %", fusion->name());
  return place.name();
}

}  // namespace

std::set<const Computation*> PairExplanation::PlacesOf(const Module& module, size_t which) {
  Mark& mark = marks_[which];
  std::vector<const Instruction*> named, alike;
  for (const Computation* computation : module.Computations())
    for (const Instruction* i : computation->Instructions()) {
      if (i->name() == mark.name)
        named.push_back(i);
      else if (mark.seen && i->opcode() == mark.opcode &&
               (mark.op_name.empty() ? absl::StartsWith(i->name(), names_[which] + ".") &&
                                           FusionAround(*computation) != nullptr
                                     : i->metadata().op_name.str() == mark.op_name))
        alike.push_back(i);
    }
  if (!named.empty() && !mark.seen)
    mark = {true, mark.name, named[0]->opcode(), named[0]->metadata().op_name.str()};
  if (named.empty() && alike.size() == 1) mark.name = alike[0]->name();
  std::set<const Computation*> places;
  for (const Instruction* i : named.empty() ? alike : named) places.insert(i->parent());
  return places;
}

std::string PairExplanation::PlaceText(const Module& module) {
  const std::set<const Computation*> places[2] = {PlacesOf(module, 0), PlacesOf(module, 1)};
  for (const Computation* place : places[0])
    if (places[1].contains(place)) return absl::StrCat("both in ", Name(*place));
  std::string text;
  for (size_t k = 0; k < 2; ++k) {
    absl::StrAppend(&text, k > 0 ? ", %" : "%", marks_[k].name,
                    places[k].empty() ? " nowhere" : " in ");
    if (!places[k].empty()) absl::StrAppend(&text, Name(**places[k].begin()));
  }
  return text;
}

void PairExplanation::NotePlace(absl::string_view pass, const Module& module) {
  std::string now = PlaceText(module);
  if (now == place_) return;
  absl::StrAppend(&events_, place_.empty() ? "before " : "after ", pass, ": ", now, "\n");
  place_ = std::move(now);
}

void PairExplanation::NoteDecision(const std::string& when, const Module& module) {
  absl::StatusOr<std::vector<PassStep>> steps =
      ParsePassList(PassWithOptions(passes_, std::string(kFusionPass)));
  PassArguments none;
  const FusionLimits limits = steps.ok() && !steps->empty()
                                  ? FusionLimitsOf(steps->front().arguments)
                                  : FusionLimitsOf(none);
  absl::StrAppend(&events_, when, ": ",
                  FusionPairDecision(module, marks_[0].name, marks_[1].name, limits), "\n");
  asked_ = true;
}

void PairExplanation::Before(absl::string_view pass, const Module& module) {
  if (place_.empty()) NotePlace(pass, module);
  if (pass == kFusionPass) NoteDecision(std::string(pass), module);
}

void PairExplanation::After(absl::string_view pass, const Module& module) {
  NotePlace(pass, module);
}

void PairExplanation::Between(absl::string_view pass, const Module& before, const Module& after) {
  if (place_.empty()) NotePlace(pass, before);
  // Of a dump the first pass of that kind counts; after it some are fused already.
  if (!asked_ && absl::StrContains(pass, kFusionPass) && !absl::StrContains(pass, "wrapper"))
    NoteDecision(absl::StrCat(pass, ", by hlokit's rules"), before);
  NotePlace(pass, after);
}

void PairExplanation::End(const Module& module) {
  if (place_.empty()) NotePlace("the end", module);
  if (!asked_) NoteDecision("fusion, if it ran now", module);
}

std::string PairExplanation::Text() const {
  std::string text = absl::StrCat("// ", names_[0], ", ", names_[1], "\n", events_);
  for (size_t k = 0; k < 2; ++k)
    if (!marks_[k].seen)
      absl::StrAppend(&text, names_[k],
                      ": no instruction has this name before or after any pass that ran\n");
  return text;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
