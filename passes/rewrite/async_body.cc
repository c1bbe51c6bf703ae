// Chains of async-start, async-update and async-done.
#include "passes/rewrite/async_body.h"

#include "absl/strings/str_cat.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {

bool SharesAsyncBody(const Instruction& i) {
  return i.opcode() == Opcode::kAsyncDone || i.opcode() == Opcode::kAsyncUpdate;
}

void SetAsyncBody(Instruction* start, Computation* body) {
  std::vector<Instruction*> work = {start};
  while (!work.empty()) {
    Instruction* i = work.back();
    work.pop_back();
    if (!i->called().empty()) i->SetCalled(0, body);
    for (Instruction* user : i->users())
      if (SharesAsyncBody(*user)) work.push_back(user);
  }
}

Computation* BodyHolding(Instruction* i, absl::string_view name) {
  Computation* body = i->module()->AddComputation(std::string(name));
  std::vector<Instruction*> parameters;
  for (Instruction* operand : i->operands())
    parameters.push_back(body->AddParameter(body->parameter_count(), operand->shape(),
                                            absl::StrCat("param_", body->parameter_count())));
  body->set_root(body->Add(i->CloneWith(i->shape(), parameters), i->name()));
  return body;
}

Instruction* WrapAsync(Instruction* i, Rewriter& r) {
  Computation* body = BodyHolding(i, "async_computation");
  std::vector<Shape> operand_shapes;
  for (const Instruction* operand : i->operands()) operand_shapes.push_back(operand->shape());
  const std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  const Shape context = RowMajor(ElementType::kU32, {});
  Instruction* start =
      r.Add(Opcode::kAsyncStart,
            Shape::Tuple({Shape::Tuple(std::move(operand_shapes)), i->shape(), context}), operands,
            AsyncAttrs());
  start->set_called({body});
  Instruction* done = r.Add(Opcode::kAsyncDone, i->shape(), {start}, AsyncAttrs());
  done->set_called({body});
  return done;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
