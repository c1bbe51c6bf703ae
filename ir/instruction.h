// An HLO instruction: opcode, shape, operands, attributes, and everything that text can say of it.
#pragma once

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "ir/attribute_holder.h"
#include "ir/sharding.h"
#include "support/diagnostics.h"
#include "support/shared.h"

namespace hlokit {

class Computation;
class Module;

// Parts that few instructions have; allocated on first use.
struct InstructionExtras {
  std::unique_ptr<Sharding> sharding;
  SharedText backend_config;  // JSON or other text, unquoted and unescaped
  // was written as {..} rather than a quoted string; the printer decides anew
  bool backend_config_is_raw = false;
  // Key, value: strings unquoted and unescaped, dictionaries {..} as text. Printed in the order of
  // the keys.
  std::vector<std::pair<std::string, std::string>> frontend_attributes;
  SharedText statistics;  // text of statistics={...}, braces included
  SharedText origin;      // text of origin={...}
  std::vector<std::pair<std::string, std::string>>
      unknown;  // kept under --allow-unknown-attributes: name, text
};

// Owned by its computation; addresses are stable. Operands, users and control edges are plain
// pointers into the same computation. The three edits of use lists are SetOperand,
// ReplaceAllUsesWith and Computation::Remove.
class Instruction {
 public:
  // Attributes start at their defaults. Operands belong to the computation that will own the
  // instruction.
  Instruction(Opcode opcode, Shared<Shape> shape, absl::Span<Instruction* const> operands);
  ~Instruction();
  Instruction(const Instruction&) = delete;
  Instruction& operator=(const Instruction&) = delete;

  Opcode opcode() const { return opcode_; }
  const std::string& name() const { return name_; }
  // Renames; the module keeps names unique (Module::UniqueName).
  void set_name(std::string name) { name_ = std::move(name); }
  // The reference holds until the shape is set.
  const Shape& shape() const { return *shape_; }
  const Shared<Shape>& shared_shape() const { return shape_; }  // to give others the same one
  Shape& mutable_shape() { return shape_.Mutable(); }
  void set_shape(Shared<Shape> shape) { shape_ = std::move(shape); }
  Computation* parent() const { return parent_; }
  Module* module() const;
  // Dense in the module (0 .. Module::id_bound()); never reused. For side tables.
  int64_t id() const { return id_; }

  // Operands in order; an instruction may appear more than once.
  absl::Span<Instruction* const> operands() const { return operands_; }
  Instruction* operand(int64_t i) const { return operands_[i]; }
  int64_t operand_count() const { return static_cast<int64_t>(operands_.size()); }
  // Each user once, in no particular order.
  absl::Span<Instruction* const> users() const { return users_; }
  bool IsRoot() const;

  void SetOperand(int64_t i, Instruction* operand);
  void AppendOperand(Instruction* operand);
  void RemoveOperand(int64_t i);
  // Every user of this one uses `other` instead, and the computation's root moves along. Shapes are
  // the caller's care.
  void ReplaceAllUsesWith(Instruction* other);
  // Replaces this one's uses in `user` only.
  void ReplaceUseIn(Instruction* user, Instruction* other);

  // Attributes; A must be the struct that ops.def names for the opcode.
  template <typename A>
  const A& attr() const {
    return static_cast<const AttributesOf<A>*>(Holder<A>())->value;
  }
  template <typename A>
  A& mutable_attr() {
    return static_cast<AttributesOf<A>*>(Holder<A>())->value;
  }
  const AttributesBase* attributes() const { return attributes_.get(); }
  AttributesBase* mutable_attributes() { return attributes_.get(); }
  // Same opcode, attributes and called computations (by identity); operands, shapes and metadata
  // are not looked at.
  bool SameAttributes(const Instruction& other) const;

  // Computations it calls, in CallForm order (condition, body; branches; ...).
  absl::Span<Computation* const> called() const { return rare().called; }
  Computation* called(int64_t i) const { return rare().called[i]; }
  void set_called(std::vector<Computation*> called);
  void SetCalled(int64_t i, Computation* computation) { mutable_rare().called[i] = computation; }
  // to_apply / calls / while body and condition, where there is exactly that one.
  Computation* to_apply() const { return called().empty() ? nullptr : called()[0]; }

  absl::Span<Instruction* const> control_predecessors() const { return rare().before; }
  absl::Span<Instruction* const> control_successors() const { return rare().after; }
  void AddControlPredecessor(Instruction* before);
  void DropControlEdges();

  bool HasExtras() const { return extras_ != nullptr; }
  const InstructionExtras& extras() const;  // an empty one where there are none
  InstructionExtras& mutable_extras();
  const OpMetadata& metadata() const { return *metadata_; }
  const Shared<OpMetadata>& shared_metadata() const { return metadata_; }
  OpMetadata& mutable_metadata() { return metadata_.Mutable(); }
  void set_metadata(Shared<OpMetadata> metadata) { metadata_ = std::move(metadata); }
  const Sharding* sharding() const { return extras_ ? extras_->sharding.get() : nullptr; }
  absl::string_view backend_config() const { return extras().backend_config; }
  // Metadata, sharding and frontend attributes of `from`, as a pass gives its replacement.
  void CopyExtrasFrom(const Instruction& from);

  // Where the text defines it; invalid for instructions that passes make.
  SourcePlace place() const { return place_; }
  void set_place(SourcePlace place) { place_ = place; }

  // Shorthands.
  bool IsConstant() const { return opcode_ == Opcode::kConstant; }
  bool IsParameter() const { return opcode_ == Opcode::kParameter; }
  int64_t parameter_number() const { return attr<ParameterAttrs>().number; }
  const Literal* literal() const { return attr<ConstantAttrs>().literal.get(); }
  int64_t tuple_index() const { return attr<GetTupleElementAttrs>().index; }
  bool HasSideEffect() const;  // its own, or of an instruction in a computation it calls

  // A copy with other operands and shape; attributes, called computations, extras come along. Not
  // yet in a computation.
  std::unique_ptr<Instruction> CloneWith(Shared<Shape> shape,
                                         absl::Span<Instruction* const> operands) const;

 private:
  friend class Computation;
  friend class Module;

  template <typename A>
  AttributesBase* Holder() const {
    static_assert(!std::is_same_v<A, NoAttrs>);
    AttributesBase* holder = attributes_.get();
    CHECK(holder != nullptr && typeid(*holder) == typeid(AttributesOf<A>))
        << "attributes of " << Text(opcode_);
    return holder;
  }
  // What few instructions have; dumps hold a hundred thousand that have none of it.
  struct Rare {
    std::vector<Computation*> called;
    std::vector<Instruction*> before, after;                // control edges
    absl::flat_hash_map<Instruction*, int64_t> user_slots;  // where there are many users
    absl::flat_hash_map<const Instruction*, std::vector<int64_t>> operand_slots;  // many operands
  };
  const Rare& rare() const { return rare_ ? *rare_ : kNothingRare; }
  Rare& mutable_rare() {
    if (!rare_) rare_ = std::make_unique<Rare>();
    return *rare_;
  }
  static const Rare& kNothingRare;

  absl::flat_hash_map<Instruction*, int64_t>& UserSlots();
  bool HasUserSlots() const { return rare_ && !rare_->user_slots.empty(); }
  bool IsLatestUser(const Instruction* user) const {
    return !users_.empty() && users_.back() == user;
  }
  absl::flat_hash_map<const Instruction*, std::vector<int64_t>>& OperandSlots();
  void AddUser(Instruction* user);
  void RemoveUser(Instruction* user);
  bool Uses(const Instruction* operand) const;
  void SetOneOfMany(int64_t i, Instruction* operand);

  Shared<Shape> shape_;
  std::string name_;
  Computation* parent_ = nullptr;
  absl::InlinedVector<Instruction*, 2> operands_, users_;
  std::unique_ptr<AttributesBase> attributes_;
  std::unique_ptr<Rare> rare_;
  std::unique_ptr<InstructionExtras> extras_;
  Shared<OpMetadata> metadata_;
  SourcePlace place_;
  int32_t id_ = -1;
  int32_t slot_ = -1;  // position in the parent's list
  Opcode opcode_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
