// Asynchronous pairs: copies as copy-start and copy-done, other operations wrapped.
#include "generator/stages_internal.h"
#include "ir/attributes.h"

namespace hlokit {
namespace {

const Shape& Context() {
  static const Shape& shape = *new Shape(Shape::Scalar(ElementType::kU32).WithDefaultLayout());
  return shape;
}

void SplitCopy(Computation& c, Instruction* copy) {
  Instruction* start =
      c.Add(Opcode::kCopyStart, Shape::Tuple({copy->shape(), copy->operand(0)->shape(), Context()}),
            {copy->operand(0)});
  copy->ReplaceAllUsesWith(c.Add(Opcode::kCopyDone, copy->shape(), {start}));
  c.Remove(copy);
}

// The operation becomes the root of a computation of its own, which a pair (with updates between,
// at times) runs.
void Wrap(Computation& c, Instruction* i, Random& random) {
  Computation* wrapped = c.module()->AddComputation("async_wrapped");
  std::vector<Instruction*> parameters;
  std::vector<Shape> shapes;
  for (const Instruction* operand : i->operands()) {
    parameters.push_back(wrapped->AddParameter(wrapped->parameter_count(), operand->shape()));
    shapes.push_back(operand->shape());
  }
  wrapped->set_root(wrapped->Add(i->CloneWith(i->shared_shape(), parameters), i->name()));
  AsyncAttrs attributes;
  // What the operation calls would have to be of the thread too.
  if (i->called().empty() && random.Chance(0.3)) attributes.async_execution_thread = "parallel";
  wrapped->set_execution_thread(attributes.async_execution_thread);
  const Shape flight = Shape::Tuple({Shape::Tuple(std::move(shapes)), i->shape(), Context()});
  const auto add = [&](Opcode opcode, const Shape& shape, absl::Span<Instruction* const> operands) {
    auto made = std::make_unique<Instruction>(opcode, shape, operands);
    made->set_called({wrapped});
    made->mutable_attr<AsyncAttrs>() = attributes;
    return c.Add(std::move(made));
  };
  Instruction* last = add(Opcode::kAsyncStart, flight, i->operands());
  attributes = {};  // the text names the thread at the start alone
  for (int64_t updates = random.Chance(0.3) ? random.Between(1, 2) : 0; updates > 0; --updates)
    last = add(Opcode::kAsyncUpdate, flight, {last});
  i->ReplaceAllUsesWith(add(Opcode::kAsyncDone, i->shape(), {last}));
  c.Remove(i);
}

}  // namespace

void SplitIntoAsync(Module& module, Random& random) {
  constexpr double kCopies = 0.6, kOthers = 0.05;
  for (Computation* c : ExecutedComputations(module)) {
    if (!c->execution_thread().empty()) continue;
    for (Instruction* i : c->Instructions()) {
      if (!i->control_predecessors().empty() || !i->control_successors().empty()) continue;
      const bool copies = i->opcode() == Opcode::kCopy && i->shape().IsArray();
      if (copies && random.Chance(kCopies)) {
        SplitCopy(*c, i);
      } else if (MayBeFused(*i) && !i->IsConstant() &&
                 (i->called().empty() || i->opcode() == Opcode::kFusion) &&
                 random.Chance(kOthers)) {
        Wrap(*c, i, random);
      }
    }
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
