// Recipes that call computations (call, fusion, while, conditional) and that build tuples. Bodies
// grow by the same recipes, at most kDeepest calls deep. Errors of a loop's state grow by a factor
// each round: the bound is that factor to the power of the trip count.
#include <algorithm>
#include <cmath>

#include "absl/functional/function_ref.h"
#include "generator/scope_internal.h"

namespace hlokit {
namespace {

Shape TupleOf(const Values& values) {
  std::vector<Shape> shapes;
  for (const RandomValue& value : values) shapes.push_back(value.shape());
  return Shape::Tuple(std::move(shapes));
}

Instruction* MakeTuple(GeneratedCode& s, const Values& values) {
  return s.computation().Add(Opcode::kTuple, TupleOf(values), InstructionsOf(values));
}

Values SomeValues(GeneratedCode& s, int64_t least, int64_t most, bool plain) {
  Values values;
  for (int64_t count = s.random().Between(least, most); count > 0; --count)
    values.push_back(plain ? s.Plain(s.Any()) : s.Any());
  return values;
}

// The last values of a body, one or several; its root is made of them.
// Values that nothing reads come first, so that little of the body is dead code.
Values FinishBody(GeneratedCode& body, bool several) {
  Values results;
  const Values& values = body.values();
  for (int64_t i = static_cast<int64_t>(values.size()) - 1; i >= 0 && results.size() < 3; --i)
    if (values[i].instruction->users().empty() || body.random().Chance(0.2))
      results.push_back(values[i]);
  if (results.empty()) results.push_back(values.back());
  if (!several) results.resize(1);
  body.computation().set_root(several ? MakeTuple(body, results) : results[0].instruction);
  return results;
}

// A computation on arguments like `operands`, grown at random.
Computation* GrowBody(GeneratedCode& s, const char* name, GeneratedCode::Kind kind,
                      const Values& operands, absl::FunctionRef<void(GeneratedCode&)> grow,
                      Values& results) {
  Computation* made = s.module().AddComputation(name);
  GeneratedCode body(s.state(), *made, kind, s.depth() + 1);
  for (const RandomValue& operand : operands) body.AddParameter(operand.shape(), operand.bounds);
  grow(body);
  results = FinishBody(body, s.random().Chance(0.4));
  return made;
}

}  // namespace

std::optional<CallPlan> PlanCall(GeneratedCode& s, const char* name, int steps) {
  if (!MayNest(s)) return std::nullopt;
  const Values operands = SomeValues(s, 1, 3, /*plain=*/false);
  Values results;
  Computation* body = GrowBody(
      s, name, GeneratedCode::Kind::kBody, operands,
      [steps](GeneratedCode& grown) { grown.Grow(steps); }, results);
  return CallPlan{InstructionsOf(operands), body, BoundsOf(results)};
}

// The call's results become values of the caller, with the bounds that the body found.
void KeepResults(GeneratedCode& s, Instruction* result, const CallPlan& plan) {
  if (result == nullptr) return;
  result->set_shape(plan.body->root()->shape());  // with its layouts
  if (result->shape().IsTuple()) return s.KeepElements(result, plan.results);
  s.Keep(result, plan.results[0]);
}

void Bundle(GeneratedCode& s) {
  const Values values = SomeValues(s, 1, 3, /*plain=*/false);
  Instruction* tuple = MakeTuple(s, values);
  if (s.random().Chance(0.5)) {
    tuple = s.computation().Add(Opcode::kOptimizationBarrier, tuple->shape(), {tuple});
  } else if (s.random().Chance(0.3)) {  // a tuple in a tuple
    Instruction* outer =
        s.computation().Add(Opcode::kTuple, Shape::Tuple({values[0].shape(), tuple->shape()}),
                            {values[0].instruction, tuple});
    tuple = s.computation().Add(Opcode::kGetTupleElement, tuple->shape(), {outer},
                                GetTupleElementAttrs{1});
  }
  s.KeepElements(tuple, BoundsOf(values));
}

void CallValue(GeneratedCode& s) {
  if (const std::optional<CallPlan> plan = PlanCall(s, "called", 4))
    KeepResults(s, s.MakeCalling(Opcode::kCall, plan->operands, {plan->body}, CallAttrs{}), *plan);
}

void FuseValue(GeneratedCode& s) {
  if (!s.state().options.control_flow) return;
  const Values operands = SomeValues(s, 1, 4, /*plain=*/true);
  Values results;
  const auto grow = [](GeneratedCode& body) {
    body.Grow(5);
    if (body.random().Chance(0.3)) MovementChain(body);
  };
  Computation* body = GrowBody(s, "fused", GeneratedCode::Kind::kFused, operands, grow, results);
  const CallPlan plan{InstructionsOf(operands), body, BoundsOf(results)};
  FusionAttrs attributes;
  attributes.kind = s.random().Chance(0.8) ? FusionKind::kLoop : FusionKind::kInput;
  KeepResults(s, s.MakeCalling(Opcode::kFusion, plan.operands, {body}, attributes), plan);
}

namespace {

// The state of a loop: a counter, then values; floats come back into [-2, 2] after each round.
struct LoopPlan {
  int64_t trips = 0;
  Values state;                // the first is the counter
  std::vector<Bounds> inside;  // what holds in every round
};

Computation* Condition(GeneratedCode& s, const LoopPlan& plan, const Shape& tuple) {
  Computation* made = s.module().AddComputation("condition");
  Instruction* state = made->AddParameter(0, tuple);
  const Shape& counter = tuple.elements[0];
  Instruction* round =
      made->Add(Opcode::kGetTupleElement, counter, {state}, GetTupleElementAttrs{0});
  Literal trips(Shape::Scalar(counter.type));
  trips.SetInt(0, plan.trips);
  Instruction* limit = made->AddConstant(std::move(trips));
  made->set_root(made->Add(Opcode::kCompare, Shape::Scalar(ElementType::kPred).WithDefaultLayout(),
                           {round, limit}, CompareAttrs{ComparisonDirection::kLt, {}}));
  return made;
}

// Grows a body and gives the factor by which a round may enlarge errors.
double GrowLoopBody(GeneratedCode& s, const LoopPlan& plan, Computation& made, const Shape& tuple) {
  GeneratedCode body(s.state(), made, GeneratedCode::Kind::kBody, s.depth() + 1);
  Instruction* state = made.AddParameter(0, tuple);
  body.KeepElements(state, plan.inside);
  const Values before = body.values();
  body.Grow(static_cast<int>(s.random().Between(2, 6)));
  const ElementType type = before[0].type();
  Values next = {
      {body.Make(Opcode::kAdd, {before[0].instruction, body.ScalarConstant(type, 1)}), {}}};
  double growth = 1;
  for (size_t i = 1; i < before.size(); ++i) {
    const RandomValue& old = before[i];
    RandomValue value = body.Get(old.type(), old.shape().dims, old.bounds.Exact());
    const bool number = IsFloat(old.type()) || IsComplex(old.type());
    if (number) {
      if (!IsComplex(old.type())) value = body.Tame(value, old.bounds.low, old.bounds.high);
      const bool grows = value.bounds.error > 4 * old.bounds.error;
      const bool leaves = value.bounds.Most() > old.bounds.Most();
      if (grows || leaves) value = old;
      if (old.bounds.error > 0) growth = std::max(growth, value.bounds.error / old.bounds.error);
    }
    next.push_back(body.Plain(value));
  }
  made.set_root(MakeTuple(body, next));
  return growth;
}

}  // namespace

// A while of a known number of iterations, whose floats are clamped to [-2, 2] in each.
void Loop(GeneratedCode& s) {
  if (!MayNest(s)) return;
  LoopPlan plan;
  plan.trips = s.random().OneOf({0, 1, 2, 3, 3, 5});
  const ElementType counter =
      s.random().OneOf({ElementType::kS32, ElementType::kS64, ElementType::kU32, ElementType::kS8});
  plan.state = {{s.ScalarConstant(counter, 0), {}}};
  plan.inside = {{}};
  for (RandomValue& value : SomeValues(s, 1, 4, /*plain=*/true)) {
    Bounds bounds = value.bounds;
    if (IsFloat(value.type()) || IsComplex(value.type())) {
      if (value.type() == ElementType::kF8E8M0FNU) continue;
      bounds.error = std::max(bounds.error, RoundingError(value.type(), 2));
      if (IsFloat(value.type())) value = s.Plain(s.Tame(value, -2, 2));
      const double most = IsFloat(value.type()) ? 2 : value.bounds.Most();
      bounds = {-most, most, bounds.error};
      if (!IsUseful(value.type(), bounds)) continue;
    }
    plan.state.push_back(value);
    plan.inside.push_back(bounds);
  }
  const Shape tuple = TupleOf(plan.state);
  Computation* body = s.module().AddComputation("body");
  const double growth = GrowLoopBody(s, plan, *body, tuple);
  Instruction* loop = s.MakeCalling(Opcode::kWhile, {MakeTuple(s, plan.state)},
                                    {Condition(s, plan, tuple), body}, NoAttrs{});
  std::vector<Bounds> results = plan.inside;
  for (Bounds& bounds : results) bounds.error *= std::pow(growth, static_cast<double>(plan.trips));
  s.KeepElements(loop, results);
}

// A conditional by pred or by index, which may lie outside of the branches.
void Choose(GeneratedCode& s) {
  if (!MayNest(s)) return;
  const bool by_pred = s.random().Chance(0.5);
  const int64_t branches = by_pred ? 2 : s.random().Between(1, 4);
  std::vector<std::pair<ElementType, DimVector>> wanted;
  for (int64_t count = s.random().Between(1, 2); count > 0; --count)
    wanted.emplace_back(s.AnyType(), s.AnyDims());
  std::vector<Instruction*> operands = {
      s.Get(by_pred ? ElementType::kPred : ElementType::kS32, {}).instruction};
  std::vector<Computation*> computations;
  std::vector<Bounds> bounds;
  for (int64_t b = 0; b < branches; ++b) {
    const Values given = SomeValues(s, 1, 3, /*plain=*/true);
    Computation* made = s.module().AddComputation("branch");
    GeneratedCode branch(s.state(), *made, GeneratedCode::Kind::kBody, s.depth() + 1);
    if (given.size() == 1 && s.random().Chance(0.5)) {
      operands.push_back(given[0].instruction);
      branch.AddParameter(given[0].shape(), given[0].bounds);
    } else {
      operands.push_back(MakeTuple(s, given));
      branch.KeepElements(made->AddParameter(0, operands.back()->shape()), BoundsOf(given));
    }
    ++s.state().divergent;
    branch.Grow(static_cast<int>(s.random().Between(1, 4)));
    --s.state().divergent;
    Values results;
    for (const auto& [type, dims] : wanted) results.push_back(branch.Plain(branch.Get(type, dims)));
    made->set_root(MakeTuple(branch, results));
    computations.push_back(made);
    bounds.resize(results.size());
    for (size_t i = 0; i < results.size(); ++i)
      bounds[i] = b == 0 ? results[i].bounds : Join(bounds[i], results[i].bounds);
  }
  s.KeepElements(s.MakeCalling(Opcode::kConditional, operands, computations, NoAttrs{}), bounds);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
