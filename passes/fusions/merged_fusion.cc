// Several instructions or fusions become one fusion with a tuple result: their bodies are copied
// into one computation, parameters that are the same array are shared, and equal instructions
// merged.
//   a = fusion(x), b = fusion(x)
//     ->  t = fusion(x), a = get-tuple-element(t, 0), b = get-tuple-element(t, 1)
#include "passes/fusions/merged_fusion.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "passes/cleanup/cse.h"
#include "passes/rewrite/inline_body.h"

namespace hlokit {
namespace {

template <typename T>
void SwapNames(T* a, T* b) {
  const std::string name = a->name();
  a->set_name(b->name());
  b->set_name(name);
}

// Whether `user` may write over `array`: its result could share the array's buffer.
bool UpdatesInPlace(const Instruction& user, const Instruction* array) {
  const Instruction* does = user.opcode() == Opcode::kFusion ? user.to_apply()->root() : &user;
  if (does->opcode() != Opcode::kDynamicUpdateSlice && does->opcode() != Opcode::kScatter &&
      does->opcode() != Opcode::kSort)
    return false;
  return std::find(user.operands().begin(), user.operands().end(), array) != user.operands().end();
}

class Merger {
 public:
  Merger(Computation& c, absl::Span<Instruction* const> members, const MergedForm& form)
      : c_(c),
        members_(members),
        form_(form),
        body_(*c.module()->AddComputation("fused_computation")) {}

  std::vector<Instruction*> Run() {
    std::vector<Shape> inside, shapes;  // whose layouts may differ
    for (Instruction* member : members_) {
      Instruction* root = CopyOf(member);
      inside_[member] = root;
      if (form_.drops_inner && IsInner(*member)) continue;
      first_result_[member] = roots_.size();
      if (member->shape().IsArray()) {
        roots_.push_back(root);
        shapes.push_back(member->shape());
      } else {
        roots_.insert(roots_.end(), root->operands().begin(), root->operands().end());
        shapes.insert(shapes.end(), member->shape().elements.begin(),
                      member->shape().elements.end());
        body_.Remove(root);
      }
    }
    for (const Instruction* root : roots_) inside.push_back(root->shape());
    body_.set_root(body_.Add(Opcode::kTuple, Shape::Tuple(std::move(inside)), roots_));
    MergeEqual(body_);
    FusionAttrs attrs;
    attrs.kind = form_.kind;
    Instruction* fusion =
        c_.Add(Opcode::kFusion, Shape::Tuple(shapes), operands_, std::move(attrs), form_.name);
    fusion->set_called({&body_});
    fusion->CopyExtrasFrom(*members_[0]);
    if (fusion->sharding() != nullptr)  // says how the first member's results alone are cut
      fusion->mutable_extras().sharding.reset();
    fusion->set_place(members_[0]->place());
    std::vector<Instruction*> parts;
    for (size_t k = 0; k < shapes.size(); ++k)
      parts.push_back(c_.Add(Opcode::kGetTupleElement, shapes[k], {fusion},
                             GetTupleElementAttrs{static_cast<int64_t>(k)}));
    if (form_.takes_names) {
      SwapNames(members_[0], fusion);
      if (members_[0]->opcode() == Opcode::kFusion) SwapNames(members_[0]->to_apply(), &body_);
    }
    for (size_t m = members_.size(); m-- > 0;) Replace(members_[m], parts);
    return parts;
  }

 private:
  // An array that other members alone read.
  bool IsInner(const Instruction& member) const {
    return member.shape().IsArray() && !member.IsRoot() && !member.users().empty() &&
           std::all_of(member.users().begin(), member.users().end(), [&](Instruction* user) {
             return std::find(members_.begin(), members_.end(), user) != members_.end();
           });
  }

  // What stands in the body for an array outside.
  Instruction* Inside(Instruction* operand) {
    const auto member = inside_.find(operand);
    if (member != inside_.end()) return member->second;
    Instruction*& parameter = parameters_[operand];
    if (parameter != nullptr) return parameter;
    if (form_.copies_constants && operand->IsConstant() && operand->shape().IsScalar())
      return parameter = body_.Add(operand->CloneWith(operand->shape(), {}), operand->name());
    const auto number = static_cast<int64_t>(operands_.size());
    operands_.push_back(operand);
    return parameter = body_.AddParameter(number, operand->shape(), absl::StrCat("param_", number));
  }

  // The member's work in the body of the whole; gives its result.
  Instruction* CopyOf(Instruction* member) {
    std::vector<Instruction*> operands;
    const std::string suffix = member == members_[0] ? std::string() : form_.suffix;
    if (member->opcode() != Opcode::kFusion) {
      for (Instruction* operand : member->operands()) operands.push_back(Inside(operand));
      return body_.Add(member->CloneWith(member->shape(), operands),
                       absl::StrCat(member->name(), suffix));
    }
    absl::flat_hash_map<const Instruction*, Instruction*> copies;
    for (Instruction* i : member->to_apply()->PostOrder()) {
      if (i->IsParameter()) {
        Instruction* inside = Inside(member->operand(i->parameter_number()));
        if (form_.takes_names && member == members_[0]) SwapNames(i, inside);
        copies[i] = ArgumentFor(i, inside);
        continue;
      }
      operands.clear();
      for (Instruction* operand : i->operands()) operands.push_back(copies.at(operand));
      copies[i] = body_.Add(i->CloneWith(i->shape(), operands), absl::StrCat(i->name(), suffix));
      if (form_.takes_names && member == members_[0]) SwapNames(i, copies[i]);
    }
    return copies.at(member->to_apply()->root());
  }

  void Replace(Instruction* member, absl::Span<Instruction* const> parts) {
    const auto results = first_result_.find(member);
    if (results == first_result_.end()) return c_.Remove(member);  // its readers are gone
    const size_t first = results->second;
    if (member->shape().IsArray()) {
      member->ReplaceAllUsesWith(parts[first]);
    } else {
      const std::vector<Instruction*> users(member->users().begin(), member->users().end());
      for (Instruction* user : users) {
        user->ReplaceAllUsesWith(parts[first + user->attr<GetTupleElementAttrs>().index]);
        c_.Remove(user);
      }
    }
    c_.Remove(member);
  }

  Computation& c_;
  const absl::Span<Instruction* const> members_;
  const MergedForm& form_;
  Computation& body_;
  std::vector<Instruction*> operands_, roots_;
  absl::flat_hash_map<const Instruction*, Instruction*> parameters_, inside_;
  absl::flat_hash_map<const Instruction*, size_t> first_result_;
};

}  // namespace

// Whether an operand of i is also updated in place by another user, which must then run after i.
bool ReadsUpdated(const Instruction& i) {
  for (const Instruction* operand : i.operands()) {
    if (operand->shape().IsScalar() || operand->users().size() > kMaxUsersSeen) continue;
    for (const Instruction* user : operand->users())
      if (UpdatesInPlace(*user, operand)) return true;
  }
  return false;
}

std::vector<Instruction*> MergeIntoFusion(Computation& c, absl::Span<Instruction* const> members,
                                          const MergedForm& form) {
  return Merger(c, members, form).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
