// Imports Shardy's annotations: frontend attributes xla.sdy.* become HLO shardings, and the custom
// calls around manual computations become SPMDFullToShardShape and SPMDShardToFullShape.
// Functions, loops and constants become what they are after the way through Shardy's dialect
// (shardy_round_trip.h).
//   custom-call LocalToGlobalShape, xla.sdy.out_shardings=... -> copy with sharding, then the
//   marker
// Axes of a mesh are translated by tilings.h. Inside a manual region, dimensions over manual axes
// say nothing, since the arrays are shards there.
#include <algorithm>

#include "absl/strings/match.h"
#include "ir/frontend_attributes.h"
#include "passes/cleanup/cse.h"
#include "passes/cleanup/dce.h"
#include "passes/cleanup/tuple_simplifier.h"
#include "passes/framework/fingerprint.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/spmd/manual_regions.h"
#include "passes/spmd/sharding_passes.h"
#include "passes/spmd/shardy_round_trip.h"
#include "passes/spmd/tilings.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr absl::string_view kPrefix = "xla.sdy.";
constexpr int64_t kMaxShards = 4096;  // every array's cut names each of them

void DropShardyAttributes(FrontendAttributes& attributes) {
  attributes.erase(std::remove_if(attributes.begin(), attributes.end(),
                                  [](const auto& a) { return absl::StartsWith(a.first, kPrefix); }),
                   attributes.end());
}

void DropAttribute(Instruction& i, absl::string_view name) {
  if (!i.HasExtras()) return;
  std::erase_if(i.mutable_extras().frontend_attributes,
                [&](const auto& attribute) { return attribute.first == name; });
}

bool HasShardyAttributes(const Instruction& i) {
  for (const auto& [name, value] : i.extras().frontend_attributes)
    if (absl::StartsWith(name, kPrefix)) return true;
  return false;
}

void SetSharding(Instruction* i, Sharding sharding) {
  i->mutable_extras().sharding = std::make_unique<Sharding>(std::move(sharding));
}

Sharding Manual() {
  Sharding manual;
  manual.kind = Sharding::Kind::kManual;
  return manual;
}

std::vector<const Shape*> LeavesOf(const Shape& shape) {
  std::vector<const Shape*> leaves;
  for (const ShapeLeaf& leaf : Leaves(shape)) leaves.push_back(leaf.shape);
  return leaves;
}

class Import {
 public:
  explicit Import(Module& module)
      : module_(module),
        devices_(std::max(module.header().num_partitions, DevicesNamed(module))),
        regions_(module, devices_) {}

  absl::StatusOr<bool> Run() {
    if (devices_ > kMaxShards)
      return Unimplemented("shardy-xla: ", devices_, " devices, at most ", kMaxShards);
    RETURN_IF_ERROR(regions_.Find());
    for (Computation* c : module_.ComputationsPostOrder())
      for (Instruction* i : c->PostOrder()) RETURN_IF_ERROR(Visit(c, i));
    FrontendAttributes& attributes = module_.header().frontend_attributes;
    const size_t before = attributes.size();
    DropShardyAttributes(attributes);
    changed_ |= attributes.size() != before;
    if (!changed_) return false;
    for (Computation* body : manual_) {
      Rename(*body);
      if (regions_.Of(body).IsWholly(devices_)) MarkManual(*body);
      for (Instruction* call : body->Callers()) DropAttribute(*call, "inlineable");
    }
    MoveRootSharding();
    RETURN_IF_ERROR(CreateTupleSimplifier()->Run(module_).status());
    // What is stated of one of two equal instructions is not stated of the other.
    for (Computation* c : module_.ComputationsPostOrder()) MergeEqual(*c, /*same_shardings=*/true);
    RETURN_IF_ERROR(CreateDce()->Run(module_).status());
    return true;
  }

 private:
  absl::Status Visit(Computation* c, Instruction* i) {
    const absl::string_view target = TargetOf(*i);
    if (target == "Sharding" && i->sharding() != nullptr && !HasShardyAttributes(*i))
      return absl::OkStatus();  // GSPMD's, which sharding-propagation reads
    if (target == "xla.sdy.FuncResultSharding" || target == "Sharding" ||
        target == "xla.sdy.Sharding")
      return ReplaceByOperand(c, i);
    if (target == "xla.sdy.GlobalToLocalShape") return Enter(c, i);
    if (target == "xla.sdy.LocalToGlobalShape") return Leave(c, i);
    if (target == "xla.sdy.ShardingGroup") return JoinGroup(c, i);
    if (!HasShardyAttributes(*i)) return absl::OkStatus();
    if (i->sharding() == nullptr && i->shape().IsArray()) {
      ASSIGN_OR_RETURN(const auto shardings, Stated(*i, "xla.sdy.sharding", {&i->shape()}));
      SetSharding(i, shardings[0]);
    }
    DropShardyAttributes(i->mutable_extras().frontend_attributes);
    changed_ = true;
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Sharding>> Stated(const Instruction& i, absl::string_view key,
                                               absl::Span<const Shape* const> shapes) {
    ASSIGN_OR_RETURN(const auto tilings, StatedTilings(i, key, shapes, devices_));
    std::vector<Sharding> shardings;
    const std::vector<int64_t>& groups = regions_.Of(i.parent()).groups;
    for (const Tiling& tiling : tilings) shardings.push_back(ShardingOf(tiling, groups));
    return shardings;
  }

  // The sharding of an array that lies whole in a region.
  static Sharding Inside(const Region& region, const Shape& shape, int64_t devices) {
    if (region.IsWholly(devices)) return Manual();
    return ShardingOf(WholeOn(shape, devices), region.groups);
  }

  // Within a region, dimensions that are left open say nothing.
  bool SaysNothing(const Instruction& i, const Sharding& sharding) const {
    if (regions_.Of(i.parent()).groups.empty()) return false;
    const auto tiling = TilingOf(sharding, i.shape(), devices_);
    if (!tiling.ok() || !tiling->IsTrivial()) return false;
    for (const auto& [name, value] : i.extras().frontend_attributes)
      if (name == "xla.sdy.sharding" && absl::StrContains(value, "?")) return true;
    return i.shape().rank() == 0;
  }

  // Whether a constraint leaves every dimension open, which constrains nothing.
  static bool IsOpen(const Instruction& i) {
    for (const auto& [name, value] : i.extras().frontend_attributes) {
      if (name != "xla.sdy.sharding") continue;
      const size_t dims = value.rfind(", [");
      if (dims == std::string::npos || !absl::StrContains(value, "{?}")) return false;
      const absl::string_view stated = absl::string_view(value).substr(dims);
      return !absl::StrContains(stated, "\"") && !absl::StrContains(stated, "{}") &&
             !absl::StrContains(stated, "replicated");
    }
    return false;
  }

  // The operand takes the sharding over, or a copy of it where it has another; a copy without one
  // where the constraint is open.
  absl::Status ReplaceByOperand(Computation* c, Instruction* i) {
    if (i->operand_count() != 1 || !SameIgnoringLayout(i->shape(), i->operand(0)->shape()))
      return InvalidArgument("a call of ", TargetOf(*i), " does not give what it takes");
    Instruction* x = i->operand(0);
    if (!i->shape().IsArray()) {
      Replace(c, i, x);
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const auto shardings, Stated(*i, "xla.sdy.sharding", {&i->shape()}));
    const bool same = (x->sharding() != nullptr && *x->sharding() == shardings[0]) ||
                      SaysNothing(*i, shardings[0]);
    const bool is_result = TargetOf(*i) == "xla.sdy.FuncResultSharding";
    const bool cut = shardings[0].kind != Sharding::Kind::kReplicated;
    if (x->sharding() == nullptr && !x->IsParameter() && is_result) {
      if (cut) SetSharding(x, shardings[0]);
    } else if (!same && IsOpen(*i)) {
      x = c->Add(Opcode::kCopy, x->shape(), {x});
    } else if (!same) {
      x = Copy(c, x, shardings[0]);
    }
    Replace(c, i, x);
    return absl::OkStatus();
  }

  Instruction* Copy(Computation* c, Instruction* x, const Sharding& sharding) {
    Instruction* copy = c->Add(Opcode::kCopy, x->shape(), {x});
    SetSharding(copy, sharding);
    return copy;
  }

  // The value goes on behind a marker of its group, which sharding-propagation cuts as the others.
  absl::Status JoinGroup(Computation* c, Instruction* i) {
    Instruction* x = i->operand_count() == 1 ? i->operand(0) : nullptr;
    if (x == nullptr || !i->users().empty() || i->IsRoot())
      return InvalidArgument(i->name(), ": expected one operand and no user");
    int64_t group = 0;
    for (const auto& [name, value] : i->extras().frontend_attributes)
      if (name == "xla.sdy.sharding_group_id" &&
          !absl::SimpleAtoi(value.substr(0, value.find(' ')), &group))
        return InvalidArgument(i->name(), ": no number of a group: ", value);
    Sharding alike;
    alike.kind = Sharding::Kind::kUnknown;
    alike.shard_group = absl::StrCat("shard_as ", group);
    const std::vector<Instruction*> users(x->users().begin(), x->users().end());
    const bool was_root = x->IsRoot();
    Instruction* marker = Marker(c, x, x->shape(), "Sharding", alike);
    marker->mutable_attr<CustomCallAttrs>().has_side_effect = true;  // stays where nobody reads it
    for (Instruction* user : users)
      for (int64_t k = 0; k < user->operand_count(); ++k)
        if (user != i && user->operand(k) == x) user->SetOperand(k, marker);
    if (was_root) c->set_root(marker);
    c->Remove(i);
    changed_ = true;
    return absl::OkStatus();
  }

  Instruction* Marker(Computation* c, Instruction* x, const Shape& shape, const char* target,
                      const Sharding& sharding) {
    CustomCallAttrs attrs;
    attrs.target = target;
    Instruction* marker = c->Add(Opcode::kCustomCall, shape, {x}, std::move(attrs));
    SetSharding(marker, sharding);
    return marker;
  }

  // Each array becomes an array, each token a token.
  static absl::Status CheckSides(const Instruction& marker, absl::Span<const Shape* const> from,
                                 absl::Span<const Shape* const> to) {
    if (from.size() != to.size())
      return InvalidArgument(marker.name(), ": ", from.size(), " arrays become ", to.size());
    for (size_t k = 0; k < from.size(); ++k)
      if (from[k]->IsArray() != to[k]->IsArray() || from[k]->IsToken() != to[k]->IsToken())
        return InvalidArgument(marker.name(), ": ", Text(*from[k]), " becomes ", Text(*to[k]));
    return absl::OkStatus();
  }

  absl::Status Enter(Computation* c, Instruction* i) {
    std::vector<const Shape*> wholes;
    for (const Instruction* operand : i->operands()) wholes.push_back(&operand->shape());
    ASSIGN_OR_RETURN(const auto shardings, Stated(*i, "xla.sdy.in_shardings", wholes));
    const auto locals = LeavesOf(i->shape());
    RETURN_IF_ERROR(CheckSides(*i, wholes, locals));
    ASSIGN_OR_RETURN(const Region region, regions_.BehindMarker(*i));
    std::vector<Instruction*> parts;
    for (size_t k = 0; k < wholes.size(); ++k) {
      if (!wholes[k]->IsArray()) {  // a token is the same on both sides
        parts.push_back(i->operand(k));
        continue;
      }
      Instruction* whole = Copy(c, i->operand(k), shardings[k]);
      parts.push_back(Marker(c, whole, *locals[k], "SPMDFullToShardShape",
                             Inside(region, *locals[k], devices_)));
    }
    NoteBodies(i);
    Replace(c, i, OneOrTuple(c, i, parts));
    return absl::OkStatus();
  }

  absl::Status Leave(Computation* c, Instruction* i) {
    const auto wholes = LeavesOf(i->shape());
    ASSIGN_OR_RETURN(const auto shardings, Stated(*i, "xla.sdy.out_shardings", wholes));
    std::vector<const Shape*> locals;
    for (const Instruction* operand : i->operands()) locals.push_back(&operand->shape());
    RETURN_IF_ERROR(CheckSides(*i, locals, wholes));
    ASSIGN_OR_RETURN(const Region region, regions_.BehindMarker(*i));
    std::vector<Instruction*> parts;
    for (size_t k = 0; k < wholes.size(); ++k) {
      if (!wholes[k]->IsArray()) {
        parts.push_back(i->operand(k));
        continue;
      }
      Instruction* local = Copy(c, i->operand(k), Inside(region, i->operand(k)->shape(), devices_));
      parts.push_back(Marker(c, local, *wholes[k], "SPMDShardToFullShape", shardings[k]));
    }
    for (Instruction* operand : i->operands()) NoteCall(operand);
    Replace(c, i, OneOrTuple(c, i, parts));
    return absl::OkStatus();
  }

  static Instruction* OneOrTuple(Computation* c, const Instruction* i,
                                 absl::Span<Instruction* const> parts) {
    if (!i->shape().IsTuple()) return parts[0];
    Instruction* tuple = c->Add(Opcode::kTuple, i->shape(), parts);
    return tuple;
  }

  // Calls that the markers stand around run their computation on shards.
  void NoteCall(Instruction* i) {
    if (i->opcode() == Opcode::kGetTupleElement) i = i->operand(0);
    if (i->opcode() != Opcode::kCall) return;
    const Region& region = regions_.Of(i->to_apply());
    if (i->shape().IsArray()) SetSharding(i, Inside(region, i->shape(), devices_));
    if (std::find(manual_.begin(), manual_.end(), i->to_apply()) == manual_.end())
      manual_.push_back(i->to_apply());
  }
  void NoteBodies(Instruction* i) {
    for (Instruction* user : i->users()) {
      if (user->opcode() != Opcode::kGetTupleElement) {
        NoteCall(user);
        continue;
      }
      for (Instruction* reader : user->users()) NoteCall(reader);
    }
  }

  static void Rename(Computation& body) {
    constexpr absl::string_view kGiven = "xla.sdy.manual_computation_body";
    if (absl::StartsWith(body.name(), kGiven))
      body.set_name(
          body.module()->UniqueComputationName("xla.sdy.inlinable_manual_computation_body"));
  }

  // What the body's own functions of scalars compute is manual as well.
  static void MarkManual(Computation& body) {
    for (Instruction* i : body.Instructions()) {
      if (i->sharding() == nullptr && i->shape().IsArray()) SetSharding(i, Manual());
      const bool applies = (HasTrait(i->opcode(), kCollective) || i->opcode() == Opcode::kReduce) &&
                           i->to_apply() != nullptr;
      if (!applies) continue;
      for (Instruction* step : i->to_apply()->Instructions())
        if (!step->IsParameter() && step->sharding() == nullptr && step->shape().IsArray())
          SetSharding(step, Manual());
    }
  }

  // What the root says where it only picks from the tuple of the results.
  void MoveRootSharding() {
    Instruction* root = module_.entry()->root();
    if (root->opcode() != Opcode::kGetTupleElement || root->sharding() == nullptr) return;
    Instruction* tuple = root->operand(0);
    if (tuple->opcode() != Opcode::kTuple) return;
    Instruction* value = tuple->operand(root->tuple_index());
    if (value->sharding() == nullptr && !value->IsParameter())
      SetSharding(value, *root->sharding());
  }

  void Replace(Computation* c, Instruction* old, Instruction* made) {
    old->ReplaceAllUsesWith(made);
    c->Remove(old);
    changed_ = true;
  }

  Module& module_;
  int64_t devices_;
  ManualRegions regions_;
  bool changed_ = false;
  std::vector<Computation*> manual_;
};

bool Allows(const std::vector<bool>& flags, size_t k) {
  return flags.size() == 1 ? flags[0] : k < flags.size() && flags[k];
}

// Shardy leaves an array that nothing is said of open, whatever the header allows. For a lone tuple
// the flags are of its leaves.
std::vector<bool> OpenParameters(const Module& module) {
  const auto& given = module.header().propagate_sharding_to_parameters;
  const auto& parameters = module.entry()->parameters();
  std::vector<bool> open;
  if (parameters.size() == 1 && parameters[0]->shape().IsTuple()) {
    for (size_t k = 0; k < LeavesOf(parameters[0]->shape()).size(); ++k)
      open.push_back(parameters[0]->sharding() == nullptr || Allows(given, k));
    return open;
  }
  for (size_t k = 0; k < parameters.size(); ++k)
    open.push_back(parameters[k]->sharding() == nullptr || Allows(given, k));
  return open;
}

std::vector<bool> OpenResults(const Module& module) {
  const auto& given = module.header().propagate_sharding_to_output;
  const Instruction& root = *module.entry()->root();
  std::vector<bool> open;
  for (size_t k = 0; k < LeavesOf(root.shape()).size(); ++k)
    open.push_back(root.sharding() == nullptr || Allows(given, k));
  return open;
}

bool HasShardings(const Module& module) {
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions())
      if (i->sharding() != nullptr) return true;
  return false;
}

bool IsReplicated(const Sharding& sharding) {
  if (sharding.kind != Sharding::Kind::kTuple) return sharding.kind == Sharding::Kind::kReplicated;
  return std::all_of(sharding.elements.begin(), sharding.elements.end(), IsReplicated);
}

std::vector<const Instruction*> WithoutSharding(const Module& module) {
  std::vector<const Instruction*> none;
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions())
      if (i->sharding() == nullptr) none.push_back(i);
  return none;
}

// Shardy writes no sharding where it found none along any axis.
void DropFoundReplicated(Module& module, absl::Span<const Instruction* const> none) {
  std::vector<bool> found(module.id_bound(), false);
  for (const Instruction* i : none) found[i->id()] = true;
  for (Computation* c : module.Computations())
    for (Instruction* i : c->Instructions())
      if (found[i->id()] && i->sharding() != nullptr && IsReplicated(*i->sharding()))
        i->mutable_extras().sharding.reset();
}

// The tuple around a lone result takes its sharding as it is, without the braces of a tuple.
void UnwrapLoneResult(Module& module) {
  Instruction* root = module.entry()->root();
  const Sharding* own = root->sharding();
  if (root->opcode() != Opcode::kTuple || root->operand_count() != 1 || own == nullptr ||
      own->kind != Sharding::Kind::kTuple || own->elements.size() != 1)
    return;
  const Sharding lone = own->elements[0];
  SetSharding(root, lone);
}

absl::StatusOr<bool> RunShardyXla(Module& module) {
  const Fingerprint before(module);  // functions that are copied and joined again are no change
  RETURN_IF_ERROR(Import(module).Run().status());
  if (!HasShardings(module)) return !before.SameText(Fingerprint(module));
  const FunctionCopies copies = SplitSharedFunctions(module);
  SinkLoopConstants(module);
  SplitConstantArrays(module);
  ModuleHeader& header = module.header();
  const std::vector<bool> parameters = header.propagate_sharding_to_parameters;
  const std::vector<bool> results = header.propagate_sharding_to_output;
  header.propagate_sharding_to_parameters = OpenParameters(module);
  header.propagate_sharding_to_output = OpenResults(module);
  const std::vector<const Instruction*> none = WithoutSharding(module);
  const auto spread = PropagateByShardy(module);
  header.propagate_sharding_to_parameters = parameters;
  header.propagate_sharding_to_output = results;
  RETURN_IF_ERROR(spread.status());
  DropFoundReplicated(module, none);
  JoinEqualFunctions(module, copies);
  for (Computation* c : module.ComputationsPostOrder()) MergeEqual(*c, /*same_shardings=*/true);
  UnwrapLoneResult(module);
  return !before.SameText(Fingerprint(module));
}

}  // namespace

std::unique_ptr<Pass> CreateShardyXla() { return MakeModulePass("shardy-xla", RunShardyXla); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
