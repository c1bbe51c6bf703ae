// Recipes that pass tokens through tuples, calls, branches, loops and manual regions. A token
// orders side effects and holds no data; the results compared are the values around it, some of
// which wait for it by add-dependency.
#include <algorithm>

#include "generator/scope_internal.h"
#include "ir/frontend_attributes.h"

namespace hlokit {
namespace {

// Of one token and values, with the token at a random place.
struct TokenTuple {
  std::vector<Instruction*> parts;
  int64_t token = 0;
  std::vector<Bounds> bounds;  // of the values, in order

  Shape TupleShape() const {
    std::vector<Shape> shapes;
    for (const Instruction* part : parts) shapes.push_back(part->shape());
    return Shape::Tuple(std::move(shapes));
  }
  Instruction* Tuple(GeneratedCode& s) const {
    return s.computation().Add(Opcode::kTuple, TupleShape(), parts);
  }
};

TokenTuple TokenTupleOf(GeneratedCode& s, Instruction* token, const Values& values) {
  TokenTuple members{InstructionsOf(values),
                     s.random().Between(0, static_cast<int64_t>(values.size())), BoundsOf(values)};
  members.parts.insert(members.parts.begin() + members.token, token);
  return members;
}

// Keeps the values of a tuple like `members`, some once they have waited for its token, which it
// returns.
Instruction* TakeApart(GeneratedCode& s, Instruction* tuple, const TokenTuple& members,
                       const std::vector<Bounds>& bounds) {
  Instruction* token = ElementOf(s, tuple, members.token);
  size_t value = 0;
  for (int64_t k = 0; k < static_cast<int64_t>(members.parts.size()); ++k) {
    if (k == members.token) continue;
    Instruction* element = ElementOf(s, tuple, k);
    if (s.random().Chance(0.4)) element = s.Make(Opcode::kAddDependency, {element, token});
    s.Keep(element, bounds[value++]);
  }
  return token;
}

// The token itself, or others that wait for it.
Instruction* Later(GeneratedCode& s, Instruction* token) {
  switch (s.random().Between(0, 3)) {
    case 0:
      return s.Make(Opcode::kAfterAll, {token});
    case 1:
      return s.Make(Opcode::kAfterAll, {token, NewToken(s), token});
    default:
      return token;
  }
}

// Existing values in row-major order.
Values OneOrTwo(GeneratedCode& s) {
  Values values = {s.Plain(s.Any())};
  if (s.random().Chance(0.5)) values.push_back(s.Plain(s.Any()));
  return values;
}

// A computation of the members's parts that gives a token and a value; `result` is like what it
// gives.
Computation* TokenBody(GeneratedCode& s, const char* name, const TokenTuple& members,
                       TokenTuple& result) {
  Computation* made = s.module().AddComputation(name);
  GeneratedCode body(s.state(), *made, GeneratedCode::Kind::kBody, s.depth() + 1);
  Instruction* token = nullptr;
  size_t value = 0;
  for (size_t k = 0; k < members.parts.size(); ++k) {
    const Shape& shape = members.parts[k]->shape();
    if (shape.IsToken()) {
      token = made->AddParameter(static_cast<int64_t>(k), shape);
    } else {
      body.AddParameter(shape, members.bounds[value++]);
    }
  }
  body.Grow(static_cast<int>(s.random().Between(0, 3)));
  result = TokenTupleOf(body, Later(body, token), {body.Plain(body.Any())});
  made->set_root(result.Tuple(body));
  return made;
}

}  // namespace

void TokenInTuple(GeneratedCode& s) {
  const Values values = OneOrTwo(s);
  const TokenTuple members = TokenTupleOf(s, NewToken(s), values);
  Instruction* tuple = members.Tuple(s);
  if (s.random().Chance(0.5)) {
    tuple = s.computation().Add(Opcode::kOptimizationBarrier, tuple->shape(), {tuple});
  } else if (s.random().Chance(0.4)) {
    Instruction* outer = s.computation().Add(
        Opcode::kTuple, Shape::Tuple({tuple->shape(), Shape::Token(), Shape::Tuple({})}),
        {tuple, NewToken(s), s.computation().Add(Opcode::kTuple, Shape::Tuple({}), {})});
    tuple = ElementOf(s, outer, 0);
  }
  TakeApart(s, tuple, members, members.bounds);
}

void TokenThroughCall(GeneratedCode& s) {
  if (!MayNest(s)) return;
  const TokenTuple given = TokenTupleOf(s, NewToken(s), OneOrTwo(s));
  TokenTuple result;
  Computation* body = TokenBody(s, "ordered", given, result);
  const Shape shape = body->root()->shape();
  if (s.random().Chance(0.6)) {
    Instruction* call = s.MakeCalling(Opcode::kCall, given.parts, {body}, CallAttrs{});
    if (call == nullptr) return;
    call->set_shape(shape);
    TakeApart(s, call, result, result.bounds);
    return;
  }
  const Shape flight = Shape::Tuple({given.TupleShape(), shape, Shape::Scalar(ElementType::kU32)});
  Instruction* start =
      s.MakeCalling(Opcode::kAsyncStart, given.parts, {body}, AsyncAttrs{}, &flight);
  if (start == nullptr) return;
  start->set_shape(flight);  // with its layouts
  auto done = std::make_unique<Instruction>(Opcode::kAsyncDone, shape,
                                            absl::Span<Instruction* const>{start});
  done->set_called({body});
  TakeApart(s, s.computation().Add(std::move(done)), result, result.bounds);
}

void TokenThroughBranches(GeneratedCode& s) {
  if (!MayNest(s)) return;
  const bool by_pred = s.random().Chance(0.5);
  const ElementType type = s.AnyType();
  const DimVector dims = s.AnyDims();
  std::vector<Instruction*> operands = {
      s.Get(by_pred ? ElementType::kPred : ElementType::kS32, {}).instruction};
  std::vector<Computation*> branches;
  const bool token_first = s.random().Chance(0.5);
  std::optional<Bounds> bounds;
  for (int64_t b = by_pred ? 2 : s.random().Between(1, 3); b > 0; --b) {
    Computation* made = s.module().AddComputation("ordered_branch");
    GeneratedCode branch(s.state(), *made, GeneratedCode::Kind::kBody, s.depth() + 1);
    Instruction* token = NewToken(s);
    if (s.random().Chance(0.4)) {
      operands.push_back(token);
      token = made->AddParameter(0, Shape::Token());
    } else {
      const TokenTuple given = TokenTupleOf(s, token, OneOrTwo(s));
      operands.push_back(given.Tuple(s));
      token =
          TakeApart(branch, made->AddParameter(0, operands.back()->shape()), given, given.bounds);
    }
    ++s.state().divergent;
    branch.Grow(static_cast<int>(s.random().Between(0, 2)));
    --s.state().divergent;
    const RandomValue value = branch.Plain(branch.Get(type, dims));
    bounds = bounds ? Join(*bounds, value.bounds) : value.bounds;
    std::vector<Instruction*> parts = {value.instruction, Later(branch, token)};
    if (token_first) std::swap(parts[0], parts[1]);
    made->set_root(TokenTuple{parts, 0, {}}.Tuple(branch));
    branches.push_back(made);
  }
  Instruction* chosen = s.MakeCalling(Opcode::kConditional, operands, branches, NoAttrs{});
  if (chosen == nullptr) return;
  const TokenTuple result{
      {branches[0]->root()->operands().begin(), branches[0]->root()->operands().end()},
      token_first ? 0 : 1,
      {*bounds}};
  TakeApart(s, chosen, result, result.bounds);
}

namespace {

// Counts to `trips` in element 0 of the state.
Computation* CountedCondition(GeneratedCode& s, const Shape& state, int64_t trips) {
  Computation* made = s.module().AddComputation("ordered_condition");
  Instruction* round = made->Add(Opcode::kGetTupleElement, state.elements[0],
                                 {made->AddParameter(0, state)}, GetTupleElementAttrs{0});
  Literal limit(Shape::Scalar(ElementType::kS32));
  limit.SetInt(0, trips);
  made->set_root(made->Add(Opcode::kCompare, Shape::Scalar(ElementType::kPred).WithDefaultLayout(),
                           {round, made->AddConstant(std::move(limit))},
                           CompareAttrs{ComparisonDirection::kLt, {}}));
  return made;
}

// Sends `value` to the host, and takes one like it from there.
Instruction* TransferWithHost(GeneratedCode& s, Instruction* value, Instruction*& token) {
  OutfeedAttrs attributes;
  attributes.outfeed_shape = value->shape();
  token = s.Make(Opcode::kOutfeed, {value, token}, attributes);
  const Shape declared = Shape::Tuple({value->shape(), Shape::Token()});
  Instruction* infeed = s.Make(Opcode::kInfeed, {token}, InfeedAttrs{}, &declared);
  token = ElementOf(s, infeed, 1);
  return ElementOf(s, infeed, 0);
}

// (counter, value, token) once more.
Computation* OrderedBody(GeneratedCode& s, const Shape& state, bool host) {
  Computation* made = s.module().AddComputation("ordered_body");
  GeneratedCode body(s.state(), *made, GeneratedCode::Kind::kBody, s.depth() + 1);
  Instruction* tuple = made->AddParameter(0, state);
  Instruction* value = ElementOf(body, tuple, 1);
  Instruction* token = Later(body, ElementOf(body, tuple, 2));
  Instruction* one = body.ScalarConstant(ElementType::kS32, 1);
  Instruction* next = body.Make(Opcode::kAdd, {ElementOf(body, tuple, 0), one});
  if (host) {
    value = TransferWithHost(body, value, token);
  } else if (value->shape().rank() > 0 && s.random().Chance(0.6)) {
    value = body.Make(Opcode::kReverse, {value}, DimensionsAttrs{{0}});
  }
  made->set_root(made->Add(Opcode::kTuple, state,
                           {next, value, body.random().Chance(0.2) ? NewToken(body) : token}));
  return made;
}

}  // namespace

void TokenThroughLoop(GeneratedCode& s) {
  if (!MayNest(s)) return;
  const bool host = MayTalk(s) && s.random().Chance(0.5);
  RandomValue value = host ? s.GetAny(HostType(s), /*exact=*/true) : s.Any();
  value = s.Plain(value);
  const int64_t trips = s.random().Between(0, 3);
  Instruction* token = host ? s.state().host_token : NewToken(s);
  const TokenTuple given{
      {s.ScalarConstant(ElementType::kS32, 0), value.instruction, token}, 2, {{}, value.bounds}};
  const Shape state = given.TupleShape();
  Instruction* loop =
      s.MakeCalling(Opcode::kWhile, {given.Tuple(s)},
                    {CountedCondition(s, state, trips), OrderedBody(s, state, host)}, NoAttrs{});
  if (loop == nullptr) return;
  Bounds bounds = value.bounds;
  if (host) bounds = Join(bounds, {-1, 1, 0});
  token = TakeApart(s, loop, given, {{}, bounds});
  if (host) s.state().host_token = token;
}

namespace {

constexpr char kManualAxes[] = "#sdy<manual_axes{\"x\"}>";

// A marker of a region over a mesh of one device: each part goes through as it is.
Instruction* RegionMarker(GeneratedCode& s, const TokenTuple& given, const char* target,
                          const char* key) {
  std::string shardings;
  for (const Instruction* part : given.parts) {
    shardings += shardings.empty() ? "<@mesh, [" : ", <@mesh, [";
    for (int d = 0; d < part->shape().rank(); ++d) shardings += d == 0 ? "{\"x\"}" : ", {}";
    shardings += "]>";
  }
  CustomCallAttrs attributes;
  attributes.target = target;
  attributes.has_side_effect = true;
  Instruction* marker =
      s.computation().Add(Opcode::kCustomCall, given.TupleShape(), given.parts, attributes);
  FrontendAttributes& named = marker->mutable_extras().frontend_attributes;
  named = {{key, "#sdy.sharding_per_value<[" + shardings + "]>"},
           {"xla.sdy.manual_axes", kManualAxes}};
  std::sort(named.begin(), named.end());
  return marker;
}

}  // namespace

void TokenThroughRegion(GeneratedCode& s) {
  if (!s.state().options.manual_regions || s.kind() != GeneratedCode::Kind::kEntry || !MayNest(s))
    return;
  FrontendAttributes& header = s.module().header().frontend_attributes;
  if (header.empty()) header = {{"xla.sdy.meshes", "{mesh = #sdy.mesh<[\"x\"=1]>}"}};
  const TokenTuple given = TokenTupleOf(s, NewToken(s), OneOrTwo(s));
  Instruction* inside =
      RegionMarker(s, given, "xla.sdy.GlobalToLocalShape", "xla.sdy.in_shardings");
  TokenTuple local = given;
  for (size_t k = 0; k < local.parts.size(); ++k)
    local.parts[k] = ElementOf(s, inside, static_cast<int64_t>(k));
  TokenTuple result;
  Computation* body = TokenBody(s, "xla.sdy.manual_computation_body", local, result);
  Instruction* call = s.MakeCalling(Opcode::kCall, local.parts, {body}, CallAttrs{});
  if (call == nullptr) return;
  call->set_shape(body->root()->shape());
  TokenTuple left = result;
  for (size_t k = 0; k < left.parts.size(); ++k)
    left.parts[k] = ElementOf(s, call, static_cast<int64_t>(k));
  TakeApart(s, RegionMarker(s, left, "xla.sdy.LocalToGlobalShape", "xla.sdy.out_shardings"), left,
            left.bounds);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
