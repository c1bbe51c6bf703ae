// Calls, loops, branches, tuples and barriers.
//
// stablehlo.while carries its operands as block arguments and sees all values around it; HLO's
// while has one tuple. StateOf decides what the tuple holds:
//   operands that the body changes, in order
//   values from outside that the regions use (operands that every iteration passes on unchanged
//   too)
// For
//   while(%i = %0, %n = %c) cond { compare LT, %i, %n } do { return add(%i, %w), %n }
// that is (i, c, w), or (i, w) where c is a constant, which the regions make anew. The operation's
// results are then elements of the tuple, or the initial values of what does not change.
// A branch of `if` and `case` takes what it captures as one operand: the value, or a tuple.
#include "stablehlo/convert/converter_internal.h"
#include "stablehlo/ir/print.h"

namespace hlokit {
namespace {

absl::StatusOr<Instruction*> CallFunction(BodyConverter& body, const MlirOperation& op,
                                          absl::string_view name, bool composite) {
  ASSIGN_OR_RETURN(Computation * called, body.module().Function(name));
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  // With the layouts that the function gives its results.
  Shape shape = body.ShapeOf(op);
  if (SameIgnoringLayout(shape, called->root()->shape())) shape = called->root()->shape();
  Instruction* call = body.Add(Opcode::kCall, std::move(shape), operands, CallAttrs{composite});
  call->set_called({called});
  body.SetResults(op, call);
  return call;
}

// A call of a function of open sizes as the function's operations, in which the sizes of the
// operands are known; false for other functions.
absl::StatusOr<bool> ConvertInlined(BodyConverter& body, const MlirOperation& op,
                                    absl::string_view name) {
  const MlirOperation* function = body.module().FunctionOperation(name);
  if (function == nullptr || !HasOpenSignature(*function)) return false;
  ASSIGN_OR_RETURN(const MlirBlock* block, BlockOf(*function, 0, op.operands.size()));
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  RETURN_IF_ERROR(body.module().EnterInlined(block->operations.size()));
  for (size_t i = 0; i < operands.size(); ++i) body.Set(block->arguments[i], operands[i]);
  ASSIGN_OR_RETURN(const MlirOperation* last, body.ConvertOperations(*block));
  ASSIGN_OR_RETURN(const std::vector<Instruction*> results, body.Operands(*last));
  body.module().LeaveInlined();
  if (results.size() != op.results.size())
    return InvalidArgument(op.name, ": ", name, " returns ", results.size(), " values, expected ",
                           op.results.size());
  for (size_t i = 0; i < results.size(); ++i) body.Set(op.results[i], results[i]);
  return true;
}

// The values that a region takes in one parameter: the value itself, or a tuple of them.
Instruction* Joined(BodyConverter& body, absl::Span<Instruction* const> values) {
  return values.size() == 1 ? values[0] : body.Tuple(values);
}

// The values as they are inside: the parameter, or its elements. Inside they have the default
// layouts, whatever those of the values from outside are: XLA's conversion makes a region's
// parameters of MLIR's types alone.
std::vector<Instruction*> TakeParameter(BodyConverter& inside, const Shape& shape, size_t count) {
  Instruction* parameter = inside.computation()->AddParameter(0, shape.WithDefaultLayout());
  if (count == 1) return {parameter};
  std::vector<Instruction*> values;
  for (size_t i = 0; i < count; ++i) values.push_back(inside.Element(parameter, i));
  return values;
}

// A loop's values in the order in which the instruction carries them: those that change, then those
// that stay as they are and those from outside, once each.
struct LoopState {
  std::vector<size_t> changing;            // positions among the operation's operands
  std::vector<const MlirValue*> constant;  // values outside the loop
  absl::flat_hash_map<const MlirValue*, const MlirValue*> same;  // arguments that stand for them
  std::vector<std::string> probes;  // in the loop, of which checks want values
  size_t probe_values = 0;          // what they are in the state, behind the others
  size_t size() const { return changing.size() + constant.size() + probe_values; }
};

// Values of a block that are another one whatever the predicate, select(p, x, x), by their results.
absl::flat_hash_map<const MlirValue*, const MlirValue*> EqualSelects(const MlirBlock& block) {
  absl::flat_hash_map<const MlirValue*, const MlirValue*> stands;
  for (const auto& op : block.operations) {
    if (op->name != "stablehlo.select" || op->operands.size() != 3 || op->results.size() != 1 ||
        op->operands[1] != op->operands[2])
      continue;
    const auto chain = stands.find(op->operands[1]);
    stands[&op->results[0]] = chain == stands.end() ? op->operands[1] : chain->second;
  }
  return stands;
}

absl::StatusOr<LoopState> StateOf(BodyConverter& body, const MlirOperation& op,
                                  const MlirBlock& condition, const MlirBlock& step) {
  LoopState state;
  const MlirOperation& last = *step.operations.back();
  if (last.operands.size() != op.operands.size())
    return InvalidArgument(op.name, ": the body returns ", last.operands.size(),
                           " values, expected ", op.operands.size());
  std::vector<bool> changes;
  const auto equal_selects = EqualSelects(step);
  for (size_t i = 0; i < op.operands.size(); ++i) {
    const auto stands = equal_selects.find(last.operands[i]);
    const MlirValue* next = stands == equal_selects.end() ? last.operands[i] : stands->second;
    changes.push_back(next != &step.arguments[i]);
    if (changes.back()) {
      state.changing.push_back(i);
    } else {
      state.same[&condition.arguments[i]] = state.same[&step.arguments[i]] = op.operands[i];
    }
  }
  const MlirRegion* regions[] = {&op.regions[0], &op.regions[1]};
  state.constant = CapturesOf(body, regions, state.same, {{&last, changes}});
  ASSIGN_OR_RETURN(state.probes, ProbesIn(body, op.regions[1]));
  for (const std::string& name : state.probes)
    state.probe_values += PartsOf(body.probes()[name]).size();
  return state;
}

// One of the two computations of a loop.
absl::StatusOr<Computation*> ConvertLoopRegion(BodyConverter& body, const MlirOperation& op,
                                               const LoopState& state, const Shape& shape,
                                               size_t region) {
  const MlirBlock& block = *op.regions[region].blocks[0];
  Computation* computation = body.module().module().AddComputation("region");
  BodyConverter inside(body.module(), computation, &body);
  const std::vector<Instruction*> values = TakeParameter(inside, shape, state.size());
  const size_t changing = state.changing.size();
  absl::Span<Instruction* const> probed = absl::MakeSpan(values);
  probed.remove_prefix(changing + state.constant.size());
  for (const std::string& name : state.probes) {
    ProbeRecord& record = inside.probes()[name] = body.probes()[name];
    SetParts(record, probed);
    probed.remove_prefix(PartsOf(record).size());
  }
  for (size_t i = 0; i < changing; ++i) inside.Set(block.arguments[state.changing[i]], values[i]);
  for (size_t i = 0; i < state.constant.size(); ++i)
    inside.Set(*state.constant[i], values[changing + i]);
  for (const MlirValue& argument : block.arguments)
    if (const auto same = state.same.find(&argument); same != state.same.end())
      if (absl::StatusOr<Instruction*> value = inside.Value(*same->second); value.ok())
        inside.Set(argument, *value);
  ASSIGN_OR_RETURN(const MlirOperation* last, inside.ConvertOperations(block));
  if (region == 0) {
    ASSIGN_OR_RETURN(const std::vector<Instruction*> results, inside.Operands(*last));
    if (results.size() != 1) return InvalidArgument(op.name, ": the condition returns one value");
    inside.Return(results);
    return computation;
  }
  std::vector<Instruction*> next;
  for (const size_t i : state.changing) {
    ASSIGN_OR_RETURN(next.emplace_back(), inside.Value(*last->operands[i]));
  }
  next.insert(next.end(), values.begin() + changing,
              values.begin() + changing + state.constant.size());
  for (const std::string& name : state.probes)
    for (Instruction* part : PartsOf(inside.probes()[name])) next.push_back(part);
  inside.Return(next);
  return computation;
}

// The probes of branches that checks want values of, each once.
absl::StatusOr<std::vector<std::string>> ProbesInBranches(BodyConverter& body,
                                                          const MlirOperation& op) {
  std::set<std::string> names;
  for (const MlirRegion& region : op.regions) {
    ASSIGN_OR_RETURN(const std::vector<std::string> own, ProbesIn(body, region));
    names.insert(own.begin(), own.end());
  }
  return std::vector<std::string>(names.begin(), names.end());
}

// Takes the records of the probes from the tuple `made`, whose last elements they are.
void TakeRecords(BodyConverter& body, const std::vector<std::string>& probes, Instruction* made,
                 size_t first) {
  int64_t next = static_cast<int64_t>(first);
  for (const std::string& name : probes) {
    std::vector<Instruction*> parts = PartsOf(body.probes()[name]);
    for (Instruction*& part : parts) part = body.Element(made, next++);
    SetParts(body.probes()[name], parts);
  }
}

// One branch: the operand that it takes, and its computation.
struct Branch {
  Instruction* operand;
  Computation* computation;
};

// A branch takes what it uses from outside, and the records of the probes, which it returns behind
// its results.
absl::StatusOr<Branch> ConvertBranch(BodyConverter& body, const MlirOperation& op, size_t number,
                                     const std::vector<std::string>& probes) {
  ASSIGN_OR_RETURN(const MlirBlock* block, BlockOf(op, number, 0));
  const MlirRegion* regions[] = {&op.regions[number]};
  const std::vector<const MlirValue*> captures = CapturesOf(body, regions);
  std::vector<Instruction*> outside;
  for (const MlirValue* value : captures) {
    ASSIGN_OR_RETURN(outside.emplace_back(), body.Value(*value));
  }
  for (const std::string& name : probes)
    for (Instruction* part : PartsOf(body.probes()[name])) outside.push_back(part);
  Instruction* operand = Joined(body, outside);
  Computation* computation = body.module().module().AddComputation("region");
  BodyConverter inside(body.module(), computation, &body);
  const std::vector<Instruction*> values = TakeParameter(inside, operand->shape(), outside.size());
  for (size_t k = 0; k < captures.size(); ++k) inside.Set(*captures[k], values[k]);
  absl::Span<Instruction* const> probed = absl::MakeSpan(values).subspan(captures.size());
  for (const std::string& name : probes) {
    ProbeRecord& record = inside.probes()[name] = body.probes()[name];
    SetParts(record, probed);
    probed.remove_prefix(PartsOf(record).size());
  }
  ASSIGN_OR_RETURN(const MlirOperation* last, inside.ConvertOperations(*block));
  ASSIGN_OR_RETURN(std::vector<Instruction*> results, inside.Operands(*last));
  if (results.size() != op.results.size())
    return InvalidArgument(op.name, ": branch ", number, " returns ", results.size(),
                           " values, expected ", op.results.size());
  for (const std::string& name : probes)
    for (Instruction* part : PartsOf(inside.probes()[name])) results.push_back(part);
  inside.Return(results, /*always_tuple=*/!probes.empty());
  return Branch{operand, computation};
}

absl::Status ConvertBranches(BodyConverter& body, const MlirOperation& op, size_t branches) {
  ASSIGN_OR_RETURN(std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != 1 || op.regions.size() != branches || branches == 0)
    return InvalidArgument(op.name, ": expected an operand and its branches");
  ASSIGN_OR_RETURN(const std::vector<std::string> probes, ProbesInBranches(body, op));
  std::vector<Computation*> computations;
  for (size_t i = 0; i < branches; ++i) {
    ASSIGN_OR_RETURN(const Branch branch, ConvertBranch(body, op, i, probes));
    operands.push_back(branch.operand);
    computations.push_back(branch.computation);
  }
  Shape shape = body.ShapeOf(op);
  // With the layouts of the first branch.
  const Shape& first = computations[0]->root()->shape();
  if (!probes.empty() || SameIgnoringLayout(shape, first)) shape = first;
  Instruction* made = body.Add(Opcode::kConditional, std::move(shape), operands);
  made->set_called(std::move(computations));
  if (probes.empty()) {
    body.SetResults(op, made);
    return absl::OkStatus();
  }
  for (size_t i = 0; i < op.results.size(); ++i)
    body.Set(op.results[i], body.Element(made, static_cast<int64_t>(i)));
  TakeRecords(body, probes, made, op.results.size());
  return absl::OkStatus();
}

// The operations of region `number` as if they stood where `op` does.
absl::Status ConvertInPlace(BodyConverter& body, const MlirOperation& op, size_t number) {
  ASSIGN_OR_RETURN(const MlirBlock* block, BlockOf(op, number, 0));
  ASSIGN_OR_RETURN(const MlirOperation* last, body.ConvertOperations(*block));
  ASSIGN_OR_RETURN(const std::vector<Instruction*> results, body.Operands(*last));
  if (results.size() != op.results.size())
    return InvalidArgument(op.name, ": branch ", number, " returns ", results.size(),
                           " values, expected ", op.results.size());
  for (size_t i = 0; i < results.size(); ++i) body.Set(op.results[i], results[i]);
  return absl::OkStatus();
}

}  // namespace

absl::Status ConvertCall(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::string name, OpAttributes(op).Word("callee"));
  ASSIGN_OR_RETURN(const bool inlined, ConvertInlined(body, op, name));
  if (inlined) return absl::OkStatus();
  return CallFunction(body, op, name, /*composite=*/false).status();
}

absl::Status ConvertWhile(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const MlirBlock* condition, BlockOf(op, 0, op.operands.size()));
  ASSIGN_OR_RETURN(const MlirBlock* step, BlockOf(op, 1, op.operands.size()));
  if (op.results.size() != op.operands.size())
    return InvalidArgument(op.name, ": expected as many results as operands");
  ASSIGN_OR_RETURN(const LoopState state, StateOf(body, op, *condition, *step));
  std::vector<Instruction*> initial;
  for (const size_t i : state.changing) {
    ASSIGN_OR_RETURN(initial.emplace_back(), body.Value(*op.operands[i]));
  }
  for (const MlirValue* value : state.constant) {
    ASSIGN_OR_RETURN(initial.emplace_back(), body.Value(*value));
  }
  for (const std::string& name : state.probes)
    for (Instruction* part : PartsOf(body.probes()[name])) initial.push_back(part);
  Instruction* start = Joined(body, initial);
  ASSIGN_OR_RETURN(Computation * condition_computation,
                   ConvertLoopRegion(body, op, state, start->shape(), 0));
  ASSIGN_OR_RETURN(Computation * next, ConvertLoopRegion(body, op, state, start->shape(), 1));
  Instruction* loop = body.Add(Opcode::kWhile, start->shape(), {start});
  loop->set_called({condition_computation, next});
  for (size_t i = 0; i < op.results.size(); ++i) {
    ASSIGN_OR_RETURN(Instruction * unchanged, body.Value(*op.operands[i]));
    body.Set(op.results[i], unchanged);
  }
  TakeRecords(body, state.probes, loop, state.size() - state.probe_values);
  for (size_t i = 0; i < state.changing.size(); ++i)
    body.Set(op.results[state.changing[i]],
             state.size() == 1 ? loop : body.Element(loop, static_cast<int64_t>(i)));
  return absl::OkStatus();
}

absl::Status ConvertIf(BodyConverter& body, const MlirOperation& op) {
  return ConvertBranches(body, op, 2);
}

// A branch that is known takes the place of the operation; an index out of range means the last.
absl::Status ConvertCase(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() == 1 && operands[0]->IsConstant() && operands[0]->shape().IsScalar() &&
      operands[0]->literal() != nullptr && !op.regions.empty()) {
    const int64_t last = static_cast<int64_t>(op.regions.size()) - 1;
    const int64_t index = operands[0]->literal()->GetInt(0);
    return ConvertInPlace(body, op, index < 0 || index > last ? last : index);
  }
  return ConvertBranches(body, op, op.regions.size());
}

absl::Status ConvertOptimizationBarrier(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != op.results.size() || operands.empty())
    return InvalidArgument(op.name, ": expected as many results as operands, and one at least");
  Instruction* joined = Joined(body, operands);
  body.SetResults(op, body.Add(Opcode::kOptimizationBarrier, joined->shape(), {joined}));
  return absl::OkStatus();
}

// What runs beside the program begins and ends at once here: a future is the values of its region.
absl::Status ConvertAsyncStart(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const MlirBlock* block, BlockOf(op, 0, op.operands.size()));
  if (op.results.size() != 1) return InvalidArgument(op.name, ": expected one result");
  for (size_t i = 0; i < op.operands.size(); ++i) {
    ASSIGN_OR_RETURN(Instruction * value, body.Value(*op.operands[i]));
    body.Set(block->arguments[i], value);
  }
  ASSIGN_OR_RETURN(const MlirOperation* last, body.ConvertOperations(*block));
  ASSIGN_OR_RETURN(const std::vector<Instruction*> values, body.Operands(*last));
  if (values.empty()) return InvalidArgument(op.name, ": the region returns nothing");
  body.Set(op.results[0], Joined(body, values));
  return absl::OkStatus();
}

absl::Status ConvertAsyncDone(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  const bool fits = operands.size() == 1 && !op.results.empty() &&
                    (op.results.size() == 1 || operands[0]->shape().IsTuple());
  if (!fits) return InvalidArgument(op.name, ": expected a future and its values");
  if (op.results.size() == 1) return body.Set(op.results[0], operands[0]), absl::OkStatus();
  body.SetResults(op, operands[0]);
  return absl::OkStatus();
}

absl::Status ConvertTuple(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  const Shape shape = body.ShapeOf(op);
  bool fits = op.results.size() == 1 && shape.elements.size() == operands.size();
  for (size_t i = 0; fits && i < operands.size(); ++i)
    fits = SameIgnoringLayout(shape.elements[i], operands[i]->shape());
  if (!fits) return InvalidArgument(op.name, ": the operands are not those of the type");
  body.SetResults(op, body.Tuple(operands));
  return absl::OkStatus();
}

absl::Status ConvertGetTupleElement(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  ASSIGN_OR_RETURN(const int64_t index, OpAttributes(op).Int("index"));
  if (operands.size() != 1 || index < 0 ||
      index >= static_cast<int64_t>(operands[0]->shape().elements.size()))
    return InvalidArgument(op.name, ": there is no element ", index);
  if (op.attributes.size() == 1 && operands[0]->opcode() == Opcode::kTuple)
    return body.Set(op.results[0], operands[0]->operand(index)), absl::OkStatus();
  Instruction* element = body.Element(operands[0], index);
  body.module().MarkAsOperation(element);
  body.SetResults(op, element);
  return absl::OkStatus();
}

absl::Status ConvertComposite(BodyConverter& body, const MlirOperation& op) {
  const OpAttributes attributes(op);
  ASSIGN_OR_RETURN(const std::string composite, attributes.Word("name", ""));
  ASSIGN_OR_RETURN(const bool carried, ConvertCarried(body, op, composite, "composite_attributes"));
  if (carried) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string name, attributes.Word("decomposition"));
  ASSIGN_OR_RETURN(const bool inlined, ConvertInlined(body, op, name));
  if (inlined) return absl::OkStatus();
  ASSIGN_OR_RETURN(Instruction* const call, CallFunction(body, op, name, /*composite=*/true));
  const MlirAttribute* inner = op.Find("composite_attributes");
  ASSIGN_OR_RETURN(const int64_t version, attributes.Int("version", 0));
  AddFrontendAttribute(*call, "composite.attributes", inner == nullptr ? "{}" : PrintMlir(*inner));
  AddFrontendAttribute(*call, "composite.name", composite);
  AddFrontendAttribute(*call, "composite.version", absl::StrCat(version));
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
