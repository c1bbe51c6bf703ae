// What the families of operations share while a program is converted.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "ir/module.h"
#include "stablehlo/convert/op_attributes_internal.h"
#include "stablehlo/ir/mlir.h"
#include "support/status.h"

namespace hlokit {

class BodyConverter;

// Makes the rows of a module's tables of call stacks, each once.
class StackFrameMaker {
 public:
  explicit StackFrameMaker(StackFrameTables& tables) : tables_(tables) {}
  // The frame of a location and its callers; 0 where no file is known.
  int64_t Frame(const MlirLocation* location);

 private:
  StackFrameTables& tables_;
  absl::flat_hash_map<std::string, int64_t> files_, functions_, locations_;
  absl::flat_hash_map<std::pair<int64_t, int64_t>, int64_t> frames_;  // location, caller
};

// What a body knows of one interpreter.probe: how often it has run, and the values that checks
// want.
struct ProbeRecord {
  Instruction* count;                      // s64[]
  std::map<int64_t, Instruction*> values;  // by the number of the run
};
using WantedProbes = std::map<std::string, std::set<int64_t>>;

// The program and the module that it becomes.
class ModuleConverter {
 public:
  ModuleConverter(const MlirModule& program, Module& module, absl::Span<const DimVector> sizes)
      : program_(program), module_(module), sizes_(sizes), frames_(module.header().stack_frames) {}

  // Gives the function that is the module's entry.
  absl::StatusOr<const MlirOperation*> Convert(const std::string& entry_name);

  Module& module() { return module_; }
  const MlirModule& program() const { return program_; }
  // The computation of a function, which the order of conversion has made already.
  absl::StatusOr<Computation*> Function(absl::string_view name) const;
  // Null where there is none.
  const MlirOperation* FunctionOperation(absl::string_view name) const;
  // Around the conversion of a function in place of its call. Errors: calls too deep, or too many
  // operations in all, as a few functions that call each other twice can ask for.
  absl::Status EnterInlined(size_t operations);
  void LeaveInlined() { --inline_depth_; }
  // Which of its values, counted from 0, a check asks of each interpreter.probe, by its name.
  const WantedProbes& wanted_probes() const { return wanted_probes_; }
  // The attributes of a location: op_name, source and call stack.
  Shared<OpMetadata> Metadata(const MlirLocation* location);
  // An element of a tuple that an operation of its own takes, which goes where nothing uses it; the
  // elements that stand for an operation's several results stay.
  void MarkAsOperation(const Instruction* element) { taken_elements_.insert(element); }

 private:
  absl::Status FindFunctions();
  // Functions before their callers, from the entry on; an error where they call each other round.
  absl::StatusOr<std::vector<const MlirOperation*>> CalleesFirst(const MlirOperation* entry) const;
  absl::Status ConvertFunction(const MlirOperation& function, bool is_entry);
  absl::Status MarkResults(const MlirOperation& function, BodyConverter& body,
                           std::vector<Instruction*>& values);
  absl::Status StateShardings(const MlirOperation& function, bool is_entry);
  absl::Status ConvertHeader(const MlirOperation& entry);
  // The shape of an argument of the entry, with the given sizes where its type leaves some open.
  absl::StatusOr<Shape> ClosedArgument(size_t number, Shape shape) const;

  const MlirModule& program_;
  Module& module_;
  const absl::Span<const DimVector> sizes_;  // of the entry's arguments
  int64_t inline_depth_ = 0, inlined_operations_ = 0;
  absl::flat_hash_map<std::string, const MlirOperation*> functions_;
  absl::flat_hash_map<std::string, Computation*> converted_;
  absl::flat_hash_map<const MlirLocation*, Shared<OpMetadata>> metadata_;
  absl::flat_hash_set<const Instruction*> taken_elements_;
  WantedProbes wanted_probes_;
  StackFrameMaker frames_;
};

// One region (or function) and the computation that it becomes.
class BodyConverter {
 public:
  // `outer` is the region around, of which constants can be used; null for functions.
  BodyConverter(ModuleConverter& module, Computation* computation, BodyConverter* outer)
      : module_(module), computation_(computation), outer_(outer) {}

  ModuleConverter& module() { return module_; }
  Computation* computation() { return computation_; }

  // Converts every operation of the block; the last one, which returns, is left to the caller.
  absl::StatusOr<const MlirOperation*> ConvertOperations(const MlirBlock& block);
  // Makes the value the root, or a tuple of several.
  void Return(absl::Span<Instruction* const> values, bool always_tuple = false);

  // Whether other operations, or the one at hand again, use what it has as operand `k` too.
  bool IsUsedElsewhere(size_t k) const {
    return current_ != nullptr && k < current_->operands.size() && current_->operands[k]->uses > 1;
  }

  // Converts an operation of a block by itself.
  absl::Status ConvertOne(const MlirOperation& op);
  // Converts an operation that stands for the one at hand.
  absl::Status ConvertSynthetic(const MlirOperation& op) { return ConvertOperation(op); }

  absl::StatusOr<Instruction*> Value(const MlirValue& value);
  absl::StatusOr<std::vector<Instruction*>> Operands(const MlirOperation& op);
  void Set(const MlirValue& value, Instruction* instruction) { values_[&value] = instruction; }
  // The results of an operation of several: the elements of the tuple that `instruction` gives; of
  // one: itself.
  // Takes the operation's sharding and frontend attributes over.
  void SetResults(const MlirOperation& op, Instruction* instruction);

  // The shape of a result in HLO, with default layout; of several a tuple.
  static Shape ShapeOf(const MlirType& type) { return type.shape.WithDefaultLayout(); }
  static Shape ShapeOf(const MlirOperation& op);

  // Instructions with the metadata and place of the operation that is converted.
  Instruction* Add(Opcode opcode, Shape shape, absl::Span<Instruction* const> operands);
  template <typename A>
  Instruction* Add(Opcode opcode, Shape shape, absl::Span<Instruction* const> operands,
                   A attributes) {
    Instruction* made = Add(opcode, std::move(shape), operands);
    made->mutable_attr<A>() = std::move(attributes);
    return made;
  }
  // Elementwise: of the first operand's shape.
  Instruction* Add(Opcode opcode, absl::Span<Instruction* const> operands) {
    return Add(opcode, operands[0]->shape(), operands);
  }
  // Probes that have run in this body, or that a loop around hands in.
  std::map<std::string, ProbeRecord>& probes() { return probes_; }
  Instruction* Constant(Literal literal);
  // The constant of an array; equal ones are one in a computation.
  Instruction* Constant(SharedLiteral literal, const Shape& shape);
  // An array of which all elements are equal to the scalar; made once in a computation.
  Instruction* Splat(const Literal& scalar, const Shape& shape);
  Instruction* Splat(double value, const Shape& shape);
  Instruction* Tuple(absl::Span<Instruction* const> elements);
  Instruction* Element(Instruction* tuple, int64_t index);

  // The computation of a region that takes its arguments one by one and returns a value, or a tuple
  // of several.
  absl::StatusOr<Computation*> Region(const MlirRegion& region);
  // Whether the value is a constant, which regions inside make anew instead of being handed it.
  bool IsConstant(const MlirValue& value);

 private:
  absl::Status ConvertOperation(const MlirOperation& op);
  Instruction* Find(const MlirValue& value) const;
  Instruction* CopyOfConstant(const Instruction& constant);

  ModuleConverter& module_;
  Computation* computation_;
  BodyConverter* outer_;
  const MlirOperation* current_ = nullptr;
  const MlirAttribute* marks_ = nullptr;  // its frontend attributes
  absl::Status extras_;                   // of the attributes that SetResults took over
  absl::flat_hash_map<const MlirValue*, Instruction*> values_;
  std::map<std::string, ProbeRecord> probes_;
  absl::flat_hash_map<std::pair<std::string, std::string>, Instruction*> splats_;  // shape, bits
  absl::flat_hash_map<std::pair<std::string, std::string>, Instruction*> constants_;
};

// The values from outside of the regions that they use and that are no constants, in the order of
// their first use. `same` names values inside that stand for such a value; what the operations in
// `returns` use does not count.
std::vector<const MlirValue*> CapturesOf(
    BodyConverter& body, absl::Span<const MlirRegion* const> regions,
    const absl::flat_hash_map<const MlirValue*, const MlirValue*>& same = {},
    absl::Span<const std::pair<const MlirOperation*, std::vector<bool>>> returns = {});

// Which run of its probe a check.expect_serialized_eq compares with.
absl::StatusOr<int64_t> IterationOf(const MlirOperation& op);
// The records of the wanted probes in a region, which a loop carries: of those that have not run in
// this body yet, new ones.
absl::StatusOr<std::vector<std::string>> ProbesIn(BodyConverter& body, const MlirRegion& region);
// What such a record is in a loop's state.
std::vector<Instruction*> PartsOf(const ProbeRecord& record);
void SetParts(ProbeRecord& record, absl::Span<Instruction* const> parts);

// The operands of `op` from number `from` on, which are `operands`, converted to the elements of
// the region's arguments from number `first` on, where these are others: reductions may sum in a
// wider type than that of their operands.
absl::Status Promote(BodyConverter& body, const MlirOperation& op, const MlirRegion& region,
                     size_t first, size_t from, absl::Span<Instruction*> operands);

// The one block of a region; an error where it has another number of arguments.
absl::StatusOr<const MlirBlock*> BlockOf(const MlirOperation& op, size_t region, size_t arguments);

// Converts one operation: makes its instructions and sets its results.
using ConvertFunction = absl::Status (*)(BodyConverter& body, const MlirOperation& op);
// Null where there is none.
ConvertFunction ConvertFunctionOf(absl::string_view operation);
#define MLIR_SIMPLE(operation, opcode)
#define MLIR_CONVERT(operation, function) \
  absl::Status Convert##function(BodyConverter& body, const MlirOperation& op);
#include "stablehlo/convert/operations.def"
#undef MLIR_CONVERT
#undef MLIR_SIMPLE
// The opcode of an operation that has operands, a result and nothing else.
std::optional<Opcode> SimpleOpcodeOf(absl::string_view operation);

// Converts the operation of chlo that a call or composite called `name` stands for, with the
// attributes in the dictionary `attributes`; false where it stands for none.
absl::StatusOr<bool> ConvertCarried(BodyConverter& body, const MlirOperation& op,
                                    absl::string_view name, absl::string_view attributes);

// Converts custom calls that take sizes as operands, `stablehlo.dynamic_top_k` and its like, and
// `shape_assertion` (dynamic_calls.cc); false for others.
absl::StatusOr<bool> ConvertDynamicCall(BodyConverter& body, const MlirOperation& op,
                                        absl::string_view target);
// Converts a custom call of ApproxTopK that states `is_fallback` (approx_top_k.cc); false for
// others.
absl::StatusOr<bool> ConvertApproxTopK(BodyConverter& body, const MlirOperation& op);

// Which outputs of a call or fusion share the memory of operands: `output_operand_aliases`.
absl::StatusOr<std::vector<OutputAlias>> OutputAliasesOf(const MlirOperation& op);

// Sharding and frontend attributes of an operation or argument. Errors: a sharding that is none.
absl::Status SetExtraAttributes(const MlirAttributes& attributes, Instruction& instruction);

// Adds it in the order of names; one of that name stays.
void AddFrontendAttribute(Instruction& instruction, const std::string& name,
                          const std::string& value);

// Fails with the numbers where an operation has fewer regions or operands than it needs.
absl::Status CheckRegions(const MlirOperation& op, size_t count);
absl::Status CheckOperands(const MlirOperation& op, size_t at_least);

// The operand broadcast into `shape`, its dimension i becoming `dimensions[i]`; those of size 1
// spread.
absl::StatusOr<Instruction*> BroadcastInto(BodyConverter& body, Instruction* operand,
                                           const Shape& shape,
                                           absl::Span<const int64_t> dimensions);

// Whether the operation computes with quantized numbers, rather than moving the integers that stand
// for them.
bool ComputesOnQuantized(const MlirOperation& op);
// Such an operation: on numbers of the expressed types, its result quantized again.
absl::Status ConvertOnQuantized(BodyConverter& body, const MlirOperation& op);
// Stored integers of one quantized type as those of another.
absl::StatusOr<Instruction*> Requantized(BodyConverter& body, Instruction* stored,
                                         const QuantizedElement& from, const MlirType& to);
// The instruction, or a simpler one that gives the same and that XLA's conversion has in its place.
Instruction* Simplified(BodyConverter& body, Instruction* made);
// Gives a transpose the layout that XLA infers: the elements stay where they are, so that the
// operand's layout moves along.
void PermuteLayout(Instruction& transpose);
// Gives another instruction the layout that XLA infers from its operands (layouts.cc).
void TakeLayout(Instruction& made);
// Whether the rules of its operation hold of an instruction of arrays, so that the shape is the one
// that they give and it can be evaluated: a damaged program is told so when the module is verified,
// and left alone before.
bool FollowsRules(const Instruction& made);

// Sizes that types leave open (refine.cc).

bool HasOpenSizes(const Shape& shape);
bool HasOpenSizes(const MlirOperation& op);  // in a result
// Whether an argument or result of the function has. Such a function is converted in place of each
// call, where the sizes may be known.
bool HasOpenSignature(const MlirOperation& function);
// What an array of integers or predicates holds, where constants say it, with any arithmetic
// between.
std::optional<std::vector<int64_t>> KnownInts(const Instruction& instruction);
// Gives an instruction of a shape with open sizes the shape that its operands say.
void CloseSizes(Instruction& made);
// Converts an operation of open sizes with the sizes that constants and operands say; false where
// they say none, and nothing was done.
absl::StatusOr<bool> ConvertRefined(BodyConverter& body, const MlirOperation& op);

// A computation that adds two scalars (einsum.cc).
Computation* SumOf(BodyConverter& body, ElementType type);

// The element types of array shapes; the value of a constant integer scalar or vector.
std::optional<std::vector<int64_t>> ConstantInts(const Instruction& instruction);

// What the attributes of the entry say of its arguments and results (signature.cc).

// Sets the entry's layout, aliases and donors, and the shardings of its parameters.
absl::Status ConvertSignature(const MlirOperation& entry, Module& module);
// What the module's own attributes say of aliases and layouts, the entry's layout being known.
absl::Status ConvertModuleAttributes(const MlirOperation& top, Module& module);
// The shape with the order of dimensions, minor to major, that `layout` lists.
absl::StatusOr<Shape> WithLayout(const Shape& shape, const MlirAttribute& layout);

// Shardings of sdy (shardy.cc).

// The header's attribute xla.sdy.meshes, of all sdy.mesh operations of a program of several
// partitions.
absl::Status ConvertMeshes(const MlirModule& program, ModuleHeader& header);

// `value` behind a FuncResultSharding that says how this result of a function is sharded; the value
// itself where that is no array or was not read.
absl::StatusOr<Instruction*> MarkResult(BodyConverter& body, const MlirAttribute& sharding,
                                        Instruction* value);

// What the attribute xla.sdy.sharding of an array says, as a sharding of HLO. Errors: a mesh that
// is not there, or has not as many devices as there are partitions.
absl::StatusOr<Sharding> StatedSharding(const Instruction& instruction);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
