// A computation: the instructions of one function body, its parameters and its root.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "ir/instruction.h"

namespace hlokit {

class Computation {
 public:
  Computation(Module* module, std::string name) : module_(module), name_(std::move(name)) {}
  ~Computation();
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;

  Module* module() const { return module_; }
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  int64_t id() const { return id_; }  // dense in the module
  bool IsEntry() const;

  // Takes an instruction over; gives it an id, and a unique name made from `name` (or the opcode's
  // text when empty).
  Instruction* Add(std::unique_ptr<Instruction> instruction, absl::string_view name = "");
  // Takes an instruction over with the name it has; the caller sees to names and registers
  // parameters (Module::Adopt, RebuildParameters).
  Instruction* Adopt(std::unique_ptr<Instruction> instruction);
  // Shorthand for passes: makes and adds.
  Instruction* Add(Opcode opcode, Shape shape, absl::Span<Instruction* const> operands,
                   absl::string_view name = "");
  // Adds and sets attributes in one go: Add(Opcode::kTranspose, shape, {x}, DimensionsAttrs{{1,
  // 0}}).
  template <typename A>
  requires requires { A::Fields(); }
  Instruction* Add(Opcode opcode, Shape shape, absl::Span<Instruction* const> operands,
                   A attributes, absl::string_view name = "") {
    Instruction* made = Add(opcode, std::move(shape), operands, name);
    made->template mutable_attr<A>() = std::move(attributes);
    return made;
  }
  Instruction* AddConstant(Literal literal, absl::string_view name = "");
  Instruction* AddParameter(int64_t number, Shape shape, absl::string_view name = "");

  // Deletes an instruction that has no users and is not the root (a parameter too, once renumbering
  // is done).
  void Remove(Instruction* instruction);
  // Deletes what the root, side effects and parameters do not need, starting from `dead`; returns
  // how many.
  int64_t RemoveIfDead(Instruction* dead);

  Instruction* root() const { return root_; }
  void set_root(Instruction* root) { root_ = root; }
  // By number; null where a number is missing (only before verification).
  absl::Span<Instruction* const> parameters() const { return parameters_; }
  Instruction* parameter(int64_t i) const { return parameters_[i]; }
  int64_t parameter_count() const { return static_cast<int64_t>(parameters_.size()); }
  // After parameter numbers were changed by hand.
  void RebuildParameters();

  // Live instructions in the order they were added (source order for parsed modules). A snapshot:
  // safe under edits.
  std::vector<Instruction*> Instructions() const;
  // Calls fn(Instruction*) for each of them, without making a list; fn adds and removes none.
  template <typename Fn>
  void ForEach(Fn fn) const {
    for (const auto& slot : slots_)
      if (slot) fn(slot.get());
  }
  int64_t instruction_count() const { return live_; }
  // Operands (and control predecessors) before users, as XLA orders a computation's text. A
  // snapshot, made without recursion.
  std::vector<Instruction*> PostOrder() const;
  // The schedule where the module is scheduled and this computation has one, else PostOrder().
  std::vector<Instruction*> ScheduleOrPostOrder() const;

  bool has_schedule() const { return !schedule_.empty(); }
  absl::Span<Instruction* const> schedule() const { return schedule_; }
  void set_schedule(std::vector<Instruction*> schedule) { schedule_ = std::move(schedule); }
  void clear_schedule() { schedule_.clear(); }

  // Instructions (anywhere in the module) that call this one; kept up by nobody: computed by a walk
  // of the module.
  std::vector<Instruction*> Callers() const;

  const std::string& execution_thread() const { return execution_thread_; }
  void set_execution_thread(std::string thread) { execution_thread_ = std::move(thread); }
  SourcePlace place() const { return place_; }
  void set_place(SourcePlace place) { place_ = place; }

  // A copy of the body under a fresh name; called computations are shared, but fusions' are copied.
  Computation* Clone(absl::string_view suffix) const;

 private:
  friend class Instruction;
  friend class Module;

  Module* module_;
  std::string name_;
  int64_t id_ = -1;
  std::vector<std::unique_ptr<Instruction>> slots_;  // null: removed; compacted now and then
  int64_t live_ = 0;
  Instruction* root_ = nullptr;
  std::vector<Instruction*> parameters_;
  std::vector<Instruction*> schedule_;
  std::string execution_thread_;  // empty: main
  SourcePlace place_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
