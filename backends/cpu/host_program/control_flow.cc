// Loops, branches and calls as LLVM control flow.
//
// Loop state lives in buffers, or in registers where it is small (small_values.h). After the body,
// the copies of the back edge run as parallel assignments: sources that are targets too go through
// staging buffers first. Each iteration checks for cancellation by reading one word of the context,
// except in loops that end within kSoon instructions. Bodies of more than kMaxInline steps are
// functions of their own.
#include <algorithm>
#include <cstddef>

#include "analysis/trip_count.h"
#include "backends/cpu/host_program/module_emitter_internal.h"
#include "runtime/context.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kCancelledOffset = 8;  // in HlokitRunContext: two int32, cancelled and failed
constexpr int64_t kStepsLeftOffset = offsetof(HlokitRunContext, steps_left);
// Loops of at most so many instructions, all with small results, end before anyone can ask them to.
constexpr int64_t kSoon = 1 << 24;
// Longer loops and branches are functions of their own: LLVM's time grows faster than a function.
constexpr size_t kMaxInline = 120;
// Copies from here on are worth several threads, and results non-temporal stores.
constexpr int64_t kLargeCopy = 1 << 20;
// Results that are copied, all together, from which on the caches would lose all else to them.
constexpr int64_t kNonTemporalCopies = 8 << 20;

int64_t BytesCopiedOut(const std::vector<BufferCopy>& copies) {
  int64_t bytes = 0;
  for (const BufferCopy& c : copies)
    if (c.to.kind == Slice::Kind::kOutput) bytes += c.to.size;
  return bytes;
}

void Append(const SmallValues::Elements& elements, Values& values) {
  const Values flat = Flatten(elements);
  values.insert(values.end(), flat.begin(), flat.end());
}

}  // namespace

void ModuleEmitter::EmitCopies(Frame& f, const std::vector<BufferCopy>& copies) {
  const bool non_temporal = BytesCopiedOut(copies) >= kNonTemporalCopies;
  auto copy = [&](const Slice& from, const Slice& to) {
    llvm::Value* target = Pointer(f, to);
    llvm::Value* source = Pointer(f, from);
    const bool may_be_same =
        from.kind == Slice::Kind::kParameter && to.kind == Slice::Kind::kOutput;
    const auto move = [&] {
      if (to.size < kLargeCopy) {
        f.b.CreateMemCpy(target, llvm::Align(1), source, llvm::Align(1), to.size);
        return;
      }
      const bool out = non_temporal && to.kind == Slice::Kind::kOutput;
      const char* name = out ? "hlokit_copy_out" : "hlokit_copy";
      CallRuntime(f.b, name, {f.context(), source, target, f.b.getInt64(to.size)});
    };
    if (!may_be_same) return move();
    // A caller who wants no copy of an argument that is a result names one memory for both.
    llvm::BasicBlock* differ = NewBlock(f, "differ");
    llvm::BasicBlock* copied = NewBlock(f, "copied");
    f.b.CreateCondBr(f.b.CreateICmpNE(target, source), differ, copied);
    f.b.SetInsertPoint(differ);
    move();
    f.b.CreateBr(copied);
    f.b.SetInsertPoint(copied);
  };
  for (const BufferCopy& c : copies)
    if (c.staging.kind != Slice::Kind::kNone) {
      Slice staging = c.staging;
      staging.size = c.to.size;
      copy(c.from, staging);
    }
  for (const BufferCopy& c : copies)
    copy(c.staging.kind != Slice::Kind::kNone ? c.staging : c.from, c.to);
}

void ModuleEmitter::CallComputation(Frame& f, llvm::Function* function) {
  llvm::Module& module = *f.function->getParent();
  if (function->getParent() != &module)
    function = DeclareFunction(module, function->getName().str(), 3, 0);
  f.b.CreateCall(function, {f.context(), f.arena(), f.table()});
}

// Steps that inlining the sequence would write.
size_t ModuleEmitter::InlineSize(const StepSequence& sequence) const {
  size_t size = sequence.steps.size();
  for (const Step& step : sequence.steps)
    for (size_t body = 0; body < step.bodies.size(); ++body) size += InlineSize(BodyOf(step, body));
  return size;
}

bool ModuleEmitter::IsInline(const Step& step) const {
  size_t size = 0;
  for (size_t body = 0; body < step.bodies.size(); ++body) size += InlineSize(BodyOf(step, body));
  return size <= kMaxInline;
}

absl::Status ModuleEmitter::EmitInline(Frame& f, const StepSequence& sequence) {
  for (size_t next = 0; next < sequence.steps.size();) {
    if (HasRoom(sequence, next, true)) {
      RETURN_IF_ERROR(EmitStep(f, sequence.steps[next++]));
      continue;
    }
    ASSIGN_OR_RETURN(llvm::Function * piece,
                     EmitPiece(sequence, sequence.computation->name(), next, false));
    CallComputation(f, piece);
  }
  return absl::OkStatus();
}

// The parameter's leaves are the operand's, as far as these are in registers.
void ModuleEmitter::PassOn(Frame& f, const Instruction* operand, const Instruction* parameter) {
  const auto leaves = static_cast<int64_t>(Leaves(operand->shape()).size());
  for (int64_t leaf = 0; leaf < leaves; ++leaf)
    if (auto known = f.values.Find(f.b, operand, leaf); known.has_value())
      f.values.Set(parameter, leaf, *std::move(known));
}

absl::Status ModuleEmitter::EmitCall(Frame& f, const Step& step) {
  const Instruction& i = *step.instruction;
  const StepSequence& callee = BodyOf(step, 0);
  const Computation& computation = *callee.computation;
  if (!IsInline(step)) {
    ASSIGN_OR_RETURN(llvm::Function * function,
                     EmitSequence(callee, computation.name(), f.function->getParent()));
    CallComputation(f, function);
    return absl::OkStatus();
  }
  for (int64_t p = 0; p < computation.parameter_count(); ++p)
    PassOn(f, i.operand(p), computation.parameter(p));
  RETURN_IF_ERROR(EmitInline(f, callee));
  PassOn(f, computation.root(), &i);
  return absl::OkStatus();
}

llvm::BasicBlock* ModuleEmitter::NewBlock(Frame& f, const char* name) {
  return llvm::BasicBlock::Create(f.b.getContext(), name, f.function);
}

// True for a loop that is over too soon to be cancelled. Without a test in its way LLVM may find
// that it is no loop at all.
bool ModuleEmitter::EndsSoon(const Step& loop) const {
  if (options_.count_steps) return false;
  const StepSequence &condition = BodyOf(loop, 0), &body = BodyOf(loop, 1);
  const std::optional<int64_t> known = KnownTripCount(*loop.instruction);
  const double trips = known ? static_cast<double>(*known) : kSoon;
  if (trips * static_cast<double>(InlineSize(condition) + InlineSize(body) + 1) > kSoon)
    return false;
  const auto all_small = [](const StepSequence& sequence) {
    return std::all_of(sequence.steps.begin(), sequence.steps.end(),
                       [](const Step& step) { return IsSmallInstruction(*step.instruction); });
  };
  return all_small(condition) && all_small(body);
}

// True unless the run was cancelled or failed: both are read as one word.
llvm::Value* ModuleEmitter::EmitCancellationCheck(Frame& f, const Instruction& loop) {
  llvm::Value* stop_at =
      f.b.CreateConstInBoundsGEP1_64(f.b.getInt8Ty(), f.context(), kCancelledOffset);
  llvm::Value* stop = f.b.CreateAlignedLoad(f.b.getInt64Ty(), stop_at, llvm::Align(4), true);
  llvm::Value* not_cancelled = f.b.CreateICmpEQ(stop, f.b.getInt64(0));
  if (!options_.count_steps) return not_cancelled;
  llvm::Value* left_at =
      f.b.CreateConstInBoundsGEP1_64(f.b.getInt8Ty(), f.context(), kStepsLeftOffset);
  const int64_t steps = loop.called(0)->instruction_count() + loop.called(1)->instruction_count();
  llvm::Value* left = f.b.CreateSub(f.b.CreateLoad(f.b.getInt64Ty(), left_at), f.b.getInt64(steps));
  f.b.CreateStore(left, left_at);
  return f.b.CreateAnd(not_cancelled, f.b.CreateICmpSGE(left, f.b.getInt64(0)));
}

absl::Status ModuleEmitter::EmitWhile(Frame& f, const Step& step) {
  if (IsInline(step)) return EmitInlineWhile(f, step);
  const Instruction& i = *step.instruction;
  llvm::Module* const module = f.function->getParent();
  ASSIGN_OR_RETURN(llvm::Function * condition,
                   EmitSequence(BodyOf(step, 0), i.called(0)->name(), module));
  ASSIGN_OR_RETURN(llvm::Function * body,
                   EmitSequence(BodyOf(step, 1), i.called(1)->name(), module));
  EmitStateCopies(f, step.copies, &i, i.operand(0));
  Builder& b = f.b;
  llvm::BasicBlock *head = NewBlock(f, "while.head"), *loop = NewBlock(f, "while.body"),
                   *exit = NewBlock(f, "while.exit");
  b.CreateBr(head);
  b.SetInsertPoint(head);
  CallComputation(f, condition);
  llvm::Value* flag = b.CreateLoad(b.getInt8Ty(), Pointer(f, step.selector));
  b.CreateCondBr(b.CreateAnd(b.CreateICmpNE(flag, b.getInt8(0)), EmitCancellationCheck(f, i)), loop,
                 exit);
  b.SetInsertPoint(loop);
  CallComputation(f, body);
  EmitCopies(f, BodyOf(step, 1).copies);
  b.CreateBr(head);
  b.SetInsertPoint(exit);
  return absl::OkStatus();
}

std::vector<int64_t> ModuleEmitter::SmallLeaves(const Shape& shape) const {
  std::vector<int64_t> small;
  int64_t number = 0;
  for (const ShapeLeaf& leaf : Leaves(shape)) {
    if (SmallValues::IsSmall(*leaf.shape)) small.push_back(number);
    ++number;
  }
  return small;
}

// Small state is carried in registers, and kept up to date in memory for those who read it there.
absl::Status ModuleEmitter::EmitInlineWhile(Frame& f, const Step& step) {
  const Instruction& i = *step.instruction;
  const Computation &condition = *i.called(0), &body = *i.called(1);
  const std::vector<int64_t> small = SmallLeaves(i.shape());
  Values initial;
  for (int64_t leaf : small) Append(ElementsOf(f, i.operand(0), leaf), initial);
  EmitStateCopies(f, step.copies, &i, i.operand(0));
  Builder& b = f.b;
  llvm::BasicBlock *before = b.GetInsertBlock(), *head = NewBlock(f, "while.head"),
                   *loop = NewBlock(f, "while.body"), *exit = NewBlock(f, "while.exit");
  b.CreateBr(head);
  b.SetInsertPoint(head);
  std::vector<llvm::PHINode*> state;
  for (llvm::Value* value : initial) {
    state.push_back(b.CreatePHI(value->getType(), 2));
    state.back()->addIncoming(value, before);
  }
  SetLeaves(f, {&i, condition.parameter(0), body.parameter(0)}, small,
            {state.begin(), state.end()});
  RETURN_IF_ERROR(EmitInline(f, BodyOf(step, 0)));
  llvm::Value* flag = ElementsOf(f, condition.root(), 0)[0].re;
  if (!EndsSoon(step)) flag = b.CreateAnd(flag, EmitCancellationCheck(f, i));
  b.CreateCondBr(flag, loop, exit);
  b.SetInsertPoint(loop);
  RETURN_IF_ERROR(EmitInline(f, BodyOf(step, 1)));
  Values next;
  for (int64_t leaf : small) Append(ElementsOf(f, body.root(), leaf), next);
  EmitStateCopies(f, BodyOf(step, 1).copies, &i, body.root());
  for (size_t k = 0; k < state.size(); ++k) state[k]->addIncoming(next[k], b.GetInsertBlock());
  b.CreateBr(head);
  b.SetInsertPoint(exit);
  return absl::OkStatus();
}

llvm::Value* ModuleEmitter::BranchNumber(Frame& f, const Instruction& i) {
  Builder& b = f.b;
  llvm::Value* selector = ElementsOf(f, i.operand(0), 0)[0].re;
  if (!IsPred(i.operand(0)->shape().type)) return selector;
  return b.CreateZExt(b.CreateNot(selector), b.getInt32Ty());
}

absl::Status ModuleEmitter::EmitConditional(Frame& f, const Step& step) {
  const Instruction& i = *step.instruction;
  Builder& b = f.b;
  const bool in_line = IsInline(step);
  const std::vector<int64_t> small = in_line ? SmallLeaves(i.shape()) : std::vector<int64_t>();
  const size_t count = i.called().size();
  llvm::Value* number = BranchNumber(f, i);
  llvm::BasicBlock* join = NewBlock(f, "join");
  std::vector<llvm::BasicBlock*> blocks, ends;
  for (size_t k = 0; k < count; ++k) blocks.push_back(NewBlock(f, "branch"));
  llvm::SwitchInst* choice = b.CreateSwitch(number, blocks.back(), static_cast<unsigned>(count));
  for (size_t k = 0; k + 1 < count; ++k)
    choice->addCase(b.getInt32(static_cast<uint32_t>(k)), blocks[k]);
  std::vector<Values> results(count);
  for (size_t k = 0; k < count; ++k) {
    const StepSequence& sequence = BodyOf(step, k);
    const Computation& branch = *sequence.computation;
    b.SetInsertPoint(blocks[k]);
    if (in_line) {
      PassOn(f, i.operand(static_cast<int64_t>(k) + 1), branch.parameter(0));
      RETURN_IF_ERROR(EmitInline(f, sequence));
      for (int64_t leaf : small) Append(ElementsOf(f, branch.root(), leaf), results[k]);
    } else {
      ASSIGN_OR_RETURN(llvm::Function * function,
                       EmitSequence(sequence, branch.name(), f.function->getParent()));
      CallComputation(f, function);
    }
    EmitStateCopies(f, sequence.copies, &i, in_line ? branch.root() : nullptr);
    ends.push_back(b.GetInsertBlock());
    b.CreateBr(join);
  }
  b.SetInsertPoint(join);
  Values joined;
  for (size_t v = 0; v < results[0].size(); ++v) {
    llvm::PHINode* phi = b.CreatePHI(results[0][v]->getType(), static_cast<unsigned>(count));
    for (size_t k = 0; k < count; ++k) phi->addIncoming(results[k][v], ends[k]);
    joined.push_back(phi);
  }
  SetLeaves(f, {&i}, small, joined);
  return absl::OkStatus();
}

// Values of small leaves, flattened one after the other, as the elements of `holders`.
void ModuleEmitter::SetLeaves(Frame& f, std::initializer_list<const Instruction*> holders,
                              const std::vector<int64_t>& leaves, const Values& values) {
  size_t next = 0;
  for (int64_t leaf : leaves) {
    const Shape& shape = LeafShape((*holders.begin())->shape(), leaf);
    SmallValues::Elements elements;
    for (int64_t k = 0; k < shape.ElementCount(); ++k) {
      ScalarValue element = {values[next++]};
      if (IsComplex(shape.type)) element.im = values[next++];
      elements.push_back(element);
    }
    for (const Instruction* holder : holders) f.values.Set(holder, leaf, elements);
  }
}

void ModuleEmitter::EmitStateCopies(Frame& f, const std::vector<BufferCopy>& copies,
                                    const Instruction* target, const Instruction* source) {
  std::vector<BufferCopy> through_memory;
  std::vector<std::pair<int64_t, SmallValues::Elements>> stores;
  const auto slices = buffers_.slices(target);
  for (const BufferCopy& copy : copies) {
    const auto leaf = std::find(slices.begin(), slices.end(), copy.to) - slices.begin();
    std::optional<SmallValues::Elements> known;
    if (source != nullptr && leaf < static_cast<ptrdiff_t>(slices.size()) &&
        SmallValues::IsSmall(LeafShape(target->shape(), leaf)))
      known = f.values.Find(f.b, source, leaf);
    if (known.has_value()) {
      stores.push_back({leaf, *std::move(known)});
    } else {
      through_memory.push_back(copy);
    }
  }
  EmitCopies(f, through_memory);
  for (const auto& [leaf, elements] : stores)
    StoreElements(f, slices[leaf], LeafShape(target->shape(), leaf), elements);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
