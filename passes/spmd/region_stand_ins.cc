// In a region that is manual on some axes, arrays are shards along these axes and whole along the
// others, which may cut them as outside. The markers of the region become changes of size that lose
// what the manual axes cut and keep all else:
//   x = f32[8,8] cut by "x" and "y"; region manual on "x", of f32[2,8]
//   enter   reshape f32[4,2,8], sum over the first dimension: f32[2,8] cut by "y"
//   leave   broadcast f32[4,2,8], reshape f32[8,8], marked as cut by "x", other dimensions open
// Collectives of the region move along manual axes, and change sizes in the same way.
// Cost: a look at each instruction.
#include "passes/spmd/region_stand_ins.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/collective/shards.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/spmd/manual_regions.h"

namespace hlokit {
namespace {

// A value of other sizes made of `x`: dimensions that shrink are summed over their parts, those
// that grow repeat. What Shardy knows nothing of where sizes are no multiples.
Instruction* Resized(Computation* c, Instruction* x, const Shape& to) {
  const Shape& from = x->shape();
  if (from.dims == to.dims) return c->Add(Opcode::kCopy, to, {x});
  DimVector parts, summed, kept, where, repeated;
  bool fits = from.rank() == to.rank() && from.type == to.type;
  for (int d = 0; fits && d < from.rank(); ++d) {
    const int64_t a = from.dims[d], b = to.dims[d];
    fits = a > 0 && b > 0 && (a % b == 0 || b % a == 0);
    if (!fits) break;
    if (a > b) {
      summed.push_back(parts.size());
      parts.push_back(a / b);
    }
    parts.push_back(std::min(a, b));
    kept.push_back(std::min(a, b));
    if (b > a) repeated.push_back(b / a);
    where.push_back(repeated.size());
    repeated.push_back(std::min(a, b));
  }
  if (!fits) {
    CustomCallAttrs attrs;
    attrs.target = "opaque";
    return c->Add(Opcode::kCustomCall, to, {x}, std::move(attrs));
  }
  Rewriter rewriter(*c);
  HloWriter writer(rewriter);
  if (!summed.empty())
    x = writer.Reduce(writer.Reshape(x, parts), writer.Number(from.type, 0), summed,
                      MakeReducer(*c->module(), Opcode::kAdd, from.type));
  if (repeated.size() != kept.size()) x = writer.Broadcast(x, repeated, where);
  return writer.Reshape(x, to.dims);
}

class Opening {
 public:
  explicit Opening(Module& module)
      : module_(module),
        devices_(std::max(module.header().num_partitions, DevicesNamed(module))),
        regions_(module, devices_) {}

  bool Run() {
    if (!regions_.Find().ok()) return false;
    for (Computation* c : module_.Computations())
      for (Instruction* i : c->PostOrder()) {
        if (TargetOf(*i) == "xla.sdy.GlobalToLocalShape")
          Enter(c, i);
        else if (TargetOf(*i) == "xla.sdy.LocalToGlobalShape")
          Leave(c, i);
      }
    if (!opened_) return false;
    for (Computation* c : module_.Computations())
      for (Instruction* i : c->PostOrder())
        if (HasTrait(i->opcode(), kCollective)) ReplaceCollective(c, i);
    return true;
  }

 private:
  // The cuts that a marker of a region that is manual on some axes states of its whole arrays; none
  // where it is another, or its arrays do not fit.
  std::vector<Tiling> CutsAt(const Instruction& marker, absl::string_view key,
                             absl::Span<const Shape* const> wholes) const {
    const auto region = regions_.BehindMarker(marker);
    if (!region.ok() || region->axes.empty() || region->IsWholly(devices_)) return {};
    for (const Shape* whole : wholes)
      if (!whole->IsArray()) return {};
    auto tilings = StatedTilings(marker, key, wholes, devices_);
    return tilings.ok() ? *std::move(tilings) : std::vector<Tiling>();
  }

  // The same value, stated to be cut so; dimensions are open as far as the text leaves any so.
  Instruction* Stated(Computation* c, Instruction* x, const Tiling& cut,
                      const Instruction& marker) {
    if (cut.IsTrivial()) return x;
    bool is_open = false;
    for (const auto& [name, value] : marker.extras().frontend_attributes)
      is_open |= absl::StrContains(name, "shardings") && absl::StrContains(value, "?");
    CustomCallAttrs attrs;
    attrs.target = "Sharding";
    Instruction* stated = c->Add(Opcode::kCustomCall, x->shape(), {x}, std::move(attrs));
    auto& extras = stated->mutable_extras();
    extras.sharding = std::make_unique<Sharding>(ShardingOf(cut));
    if (is_open) {
      std::vector<int> dims(static_cast<size_t>(x->shape().rank()));
      for (size_t d = 0; d < dims.size(); ++d) dims[d] = static_cast<int>(d);
      extras.backend_config = absl::StrCat("unspecified_dims=[", absl::StrJoin(dims, ","), "]");
    }
    return stated;
  }

  static std::vector<const Shape*> ShapesOf(const Shape& shape) {
    std::vector<const Shape*> shapes;
    for (const ShapeLeaf& leaf : Leaves(shape)) shapes.push_back(leaf.shape);
    return shapes;
  }

  void Enter(Computation* c, Instruction* i) {
    std::vector<const Shape*> wholes;
    for (const Instruction* operand : i->operands()) wholes.push_back(&operand->shape());
    const std::vector<Tiling> cuts = CutsAt(*i, "xla.sdy.in_shardings", wholes);
    const std::vector<const Shape*> locals = ShapesOf(i->shape());
    if (cuts.empty() || locals.size() != wholes.size()) return;
    std::vector<Instruction*> parts;
    for (size_t k = 0; k < wholes.size(); ++k)
      parts.push_back(
          Resized(c, Stated(c, i->operand(static_cast<int64_t>(k)), cuts[k], *i), *locals[k]));
    for (Instruction* user : i->users()) {
      Inline(user);
      for (Instruction* reader : user->users()) Inline(reader);
    }
    Replace(c, i, parts);
  }

  void Leave(Computation* c, Instruction* i) {
    const std::vector<const Shape*> wholes = ShapesOf(i->shape());
    const std::vector<Tiling> cuts = CutsAt(*i, "xla.sdy.out_shardings", wholes);
    if (cuts.empty() || static_cast<size_t>(i->operand_count()) != wholes.size()) return;
    std::vector<Instruction*> parts;
    for (size_t k = 0; k < wholes.size(); ++k)
      parts.push_back(
          Stated(c, Resized(c, i->operand(static_cast<int64_t>(k)), *wholes[k]), cuts[k], *i));
    Replace(c, i, parts);
  }

  // The call of a region's computation is a call like others, which call-inliner tells by its
  // attribute and by the computation's name.
  void Inline(Instruction* call) {
    if (call->opcode() != Opcode::kCall || !call->HasExtras()) return;
    std::erase_if(call->mutable_extras().frontend_attributes,
                  [](const auto& attribute) { return attribute.first == "inlineable"; });
    call->to_apply()->set_name(module_.UniqueComputationName("opened_region"));
  }

  void ReplaceCollective(Computation* c, Instruction* i) {
    if (HasTrait(i->opcode(), kAsyncStart) || i->operand_count() == 0) return;
    const std::vector<const Shape*> results = ShapesOf(i->shape());
    if (results.size() > static_cast<size_t>(i->operand_count())) return;
    std::vector<Instruction*> parts;
    for (size_t k = 0; k < results.size(); ++k) {
      Instruction* operand = i->operand(static_cast<int64_t>(k));
      if (!operand->shape().IsArray() || !results[k]->IsArray()) return;
      parts.push_back(Resized(c, operand, *results[k]));
    }
    Replace(c, i, parts);
  }

  void Replace(Computation* c, Instruction* i, absl::Span<Instruction* const> parts) {
    Instruction* made = i->shape().IsTuple() ? c->Add(Opcode::kTuple, i->shape(), parts) : parts[0];
    i->ReplaceAllUsesWith(made);
    c->Remove(i);
    opened_ = true;
  }

  Module& module_;
  const int64_t devices_;
  ManualRegions regions_;
  bool opened_ = false;
};

}  // namespace

bool OpenManualRegions(Module& module) { return Opening(module).Run(); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
