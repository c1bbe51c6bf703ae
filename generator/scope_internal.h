// A computation under way: its values so far, and the making of more.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "generator/bounds.h"
#include "generator/options.h"
#include "generator/random.h"
#include "ir/module.h"

namespace hlokit {

// Of two integers of one type.
inline constexpr Opcode kIntegerBinaryOpcodes[] = {Opcode::kAdd,
                                                   Opcode::kSubtract,
                                                   Opcode::kMultiply,
                                                   Opcode::kDivide,
                                                   Opcode::kRemainder,
                                                   Opcode::kMaximum,
                                                   Opcode::kMinimum,
                                                   Opcode::kAnd,
                                                   Opcode::kOr,
                                                   Opcode::kXor,
                                                   Opcode::kMulhi,
                                                   Opcode::kShiftLeft,
                                                   Opcode::kPower,
                                                   Opcode::kShiftRightArithmetic,
                                                   Opcode::kShiftRightLogical};

// An array, and what is known of it.
struct RandomValue {
  Instruction* instruction = nullptr;
  Bounds bounds;

  const Shape& shape() const { return instruction->shape(); }
  ElementType type() const { return shape().type; }
};
using Values = std::vector<RandomValue>;
std::vector<Instruction*> InstructionsOf(const Values& values);
std::vector<Bounds> BoundsOf(const Values& values);

// What the scopes of one module share.
struct GeneratorState {
  const GeneratorOptions& options;
  Module& module;
  Random random;
  std::vector<std::string> refusals;
  Instruction* host_token = nullptr;  // of the entry: the last exchange with the host
  int64_t channels = 0;               // channel ids given out so far
  int divergent = 0;                  // branches under way, which devices take or do not
};

class GeneratedCode {
 public:
  enum class Kind : uint8_t { kEntry, kBody, kFused };
  GeneratedCode(GeneratorState& state, Computation& computation, Kind kind, int depth)
      : state_(state), computation_(computation), kind_(kind), depth_(depth) {}

  GeneratorState& state() { return state_; }
  Random& random() { return state_.random; }
  Module& module() { return state_.module; }
  Computation& computation() { return computation_; }
  Kind kind() const { return kind_; }
  int depth() const { return depth_; }  // of control flow around it
  const Values& values() const { return values_; }

  // Makes an instruction whose shape inference gives; `declared` serves ops whose shape the text
  // states. The result has no bounds yet and is not among values(). Empty where inference refuses
  // (noted in the state).
  Instruction* Make(Opcode opcode, absl::Span<Instruction* const> operands,
                    const Shape* declared = nullptr);
  template <typename A>
  Instruction* Make(Opcode opcode, absl::Span<Instruction* const> operands, A attributes,
                    const Shape* declared = nullptr) {
    auto made = Start(opcode, operands, declared);
    made->template mutable_attr<A>() = std::move(attributes);
    return Finish(std::move(made));
  }
  template <typename A>
  Instruction* MakeCalling(Opcode opcode, absl::Span<Instruction* const> operands,
                           std::vector<Computation*> called, A attributes,
                           const Shape* declared = nullptr) {
    auto made = Start(opcode, operands, declared);
    if constexpr (!std::is_same_v<A, NoAttrs>)
      made->template mutable_attr<A>() = std::move(attributes);
    made->set_called(std::move(called));
    return Finish(std::move(made));
  }

  // Adds a value for later steps to use: clamped where it has left the useful range;
  // left out where its error is as large as itself.
  void Keep(Instruction* instruction, Bounds bounds = {});
  // Keeps each array of a tuple.
  void KeepElements(Instruction* tuple, const std::vector<Bounds>& bounds);
  // Floats kept since there were `count` values are no longer for others to use.
  void ForgetFloats(size_t count);
  // Values that a computation's caller gives.
  RandomValue AddParameter(const Shape& shape, const Bounds& bounds);

  // An element type: any with arithmetic, or one of a class. In a chain often that of the last
  // value, as are dimensions, and values of its type and dimensions.
  ElementType AnyType();
  ElementType FloatType();
  ElementType IntegerType();
  // Dimensions, often those of a value that is there.
  DimVector AnyDims();
  DimVector NewDims(int least_rank, int most_rank);
  // A size of a dimension about the widths of vectors and the edges of tiles: 1 to 130, 255 to
  // 1025.
  int64_t EdgeSize();
  // Some value; empty list of values is no trouble. In a chain: the last that was kept.
  RandomValue Any();
  // Starts a chain at `value`: until EndChain each step works on what the last one kept.
  void StartChain(const RandomValue& value) { chain_ = value; }
  RandomValue EndChain() { return *std::exchange(chain_, std::nullopt); }
  // A value of a type and dimensions; `exact`: of which every execution has the same bits.
  RandomValue Get(ElementType type, absl::Span<const int64_t> dims, bool exact = false);
  // Some value of a type, with dimensions as AnyDims gives them.
  RandomValue GetAny(ElementType type, bool exact = false) { return Get(type, AnyDims(), exact); }
  // `value` clamped to [low, high], where it is not inside anyway. Floats only.
  RandomValue Tame(RandomValue value, double low, double high);
  RandomValue GetTame(ElementType type, absl::Span<const int64_t> dims, double low, double high) {
    return Tame(Get(type, dims), low, high);
  }
  // An integer clamped to [low, high].
  Instruction* TameInteger(Instruction* value, int64_t low, int64_t high);
  // `value` in row-major order, by a copy where need be.
  RandomValue Plain(RandomValue value);

  // `scalar` in every element of an array like `shape`.
  Instruction* Spread(Instruction* scalar, const Shape& shape);
  Instruction* Constant(Literal literal);
  Instruction* ScalarConstant(ElementType type, double value);
  RandomValue RandomConstant(ElementType type, absl::Span<const int64_t> dims);
  // Where inference may put no layout: the default one, or now and then another.
  Shape WithSomeLayout(const Shape& shape);

  // A computation of scalars, `opcode` of its two parameters (converted to pred it compares).
  Computation* ScalarFunction(Opcode opcode, ElementType type);
  // A few steps more.
  void Grow(int steps);

 private:
  std::unique_ptr<Instruction> Start(Opcode opcode, absl::Span<Instruction* const> operands,
                                     const Shape* declared);
  Instruction* Finish(std::unique_ptr<Instruction> made);
  ElementType TypeOf(bool (*allowed)(ElementType));
  RandomValue MakeValue(ElementType type, absl::Span<const int64_t> dims, bool exact);

  GeneratorState& state_;
  Computation& computation_;
  Kind kind_;
  int depth_;
  Values values_;
  std::optional<RandomValue> chain_;  // the latest link, in a chain
};

// A computation grown at random, and the arguments it is to be given.
struct CallPlan {
  std::vector<Instruction*> operands;
  Computation* body;
  std::vector<Bounds> results;  // of the root, or its elements
};
// Whether the code may have control flow of its own here: not where it is unwanted or two levels
// deep.
inline bool MayNest(GeneratedCode& s) { return s.state().options.control_flow && s.depth() < 2; }
// Empty where control flow is not wanted or nests deep enough already.
std::optional<CallPlan> PlanCall(GeneratedCode& s, const char* name, int steps);
// Keeps what a call of the plan's body gives.
void KeepResults(GeneratedCode& s, Instruction* result, const CallPlan& plan);

// Of no history.
Instruction* NewToken(GeneratedCode& s);
Instruction* ElementOf(GeneratedCode& s, Instruction* tuple, int64_t index);
Instruction* Compared(GeneratedCode& s, ComparisonDirection direction, Instruction* a,
                      Instruction* b);
// Whether steps may exchange values with the host, which sees them in the order of the entry's one
// chain of tokens: host_token of the state is its last one then.
bool MayTalk(GeneratedCode& s);
// An element type that the host's queues take.
ElementType HostType(GeneratedCode& s);

// One row of recipes.def: adds a step, or does nothing where the scope has no use for it.
struct Recipe {
  absl::string_view name;
  int weight;
  bool fused;  // may stand in a fusion
  void (*make)(GeneratedCode&);
};
absl::Span<const Recipe> Recipes();

#define HLO_RECIPE(function, weight, fused) void function(GeneratedCode& s);
#include "generator/recipes.def"
#undef HLO_RECIPE

bool IsArithmeticFloat(ElementType type);  // every float type but f8e8m0fnu
int64_t CountOf(absl::Span<const int64_t> dims);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
