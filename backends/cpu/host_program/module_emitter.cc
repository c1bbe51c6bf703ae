// The host program: the steps of a Program (codegen/program.h) as LLVM functions, one for each
// sequence that is not inlined into its caller's. A step is kernel calls or loops in place, a
// library call, control flow, or a call of what the host computes.
//
// Functions are distributed to the parts (LLVM modules that threads compile in parallel) by their
// size: those of the host program as they are written, then the kernels, the long ones first. Long
// sequences, bodies of loops among them, are cut into functions of kPieceSteps steps, or of kPiece
// to kLongPiece LLVM instructions, since LLVM's time grows faster than the function, and a function
// keeps one thread busy. For example
//   a loop's body of 7 steps, 700 instructions; kernels of 300, 200 and 100
//   part 0: the loop with the first two steps (260), 300   part 1: two pieces (440), 200, 100
// Where the cuts are does not depend on the number of parts: values in registers end there, and so
// may the rounding of a product that a sum follows.
#include "backends/cpu/host_program/module_emitter_internal.h"

#include <algorithm>
#include <utility>

#include "analysis/in_place.h"
#include "backends/cpu/library_calls/collective_call.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Steps in one function.
constexpr size_t kPieceSteps = 64;
// LLVM instructions in one function, in CodeCount's measure, from which on the next step may begin
// another, and does: 5 to 10 ms of LLVM's time.
constexpr double kPiece = 200, kLongPiece = 350;
// Less than this is not cut off before a loop.
constexpr double kShortPiece = 120;
// Simple operations (RoughCode) that are not worth a function, and LLVM instructions for one.
constexpr int64_t kFewOperations = 40;
constexpr double kCodeOfRough = 3;
// Words through memory that a later cut has to save.
constexpr int64_t kFewWords = 2;
// Sequences of so few steps stand where their callers do, for LLVM to inline them.
constexpr size_t kFewSteps = 4;

// Fields of HlokitRunContext that compiled code reads (runtime/context.h keeps their places).
constexpr int64_t kReplicaOffset = 24;
constexpr int64_t kPartitionOffset = 28;

// Words of small arrays that steps from `next` on read and those before them, or the caller, wrote:
// as far as the next kPieceSteps / 2 of them tell.
int64_t Crossing(absl::Span<const Step> steps, size_t next) {
  constexpr int64_t kSmall = 64;
  std::vector<Slice> known;
  int64_t words = 0;
  const auto add = [&](const Slice& slice) {
    if (slice.size > kSmall || std::find(known.begin(), known.end(), slice) != known.end())
      return false;
    known.push_back(slice);
    return true;
  };
  for (const Step& step : steps.subspan(next, kPieceSteps / 2)) {
    for (const Slice& slice : step.operands)
      if (add(slice)) words += (slice.size + 3) / 4;
    for (const Slice& slice : step.results) add(slice);
  }
  return words;
}

}  // namespace

const Shape& LeafShape(const Shape& shape, int64_t leaf) {
  return shape.IsTuple() ? *Leaves(shape)[leaf].shape : shape;
}

void ModuleEmitter::MakeParts() {
  for (int p = 0; p < std::max(1, options_.parts); ++p) {
    EmittedModule::Part part;
    part.context = std::make_unique<llvm::LLVMContext>();
    part.module = std::make_unique<llvm::Module>("hlokit", *part.context);
    part.module->setTargetTriple(options_.triple);
    part.module->setDataLayout(options_.data_layout);
    if (options_.notes) WantNotes(*part.module);
    out_.parts.push_back(std::move(part));
  }
  work_.assign(out_.parts.size(), 0);
}

absl::StatusOr<EmittedModule> ModuleEmitter::Run() {
  MakeParts();
  ASSIGN_OR_RETURN(llvm::Function * entry, EmitSequence(program_.entry(), kEntrySymbol, nullptr));
  entry->setVisibility(llvm::GlobalValue::DefaultVisibility);
  RETURN_IF_ERROR(EmitPendingKernels());
  DropUnreadStores();
  // A part without functions would be compiled all the same.
  for (size_t p = out_.parts.size(); p-- > 1;) {
    const auto& functions = out_.parts[p].module->functions();
    if (functions.empty()) out_.parts.erase(out_.parts.begin() + static_cast<ptrdiff_t>(p));
  }
  return std::move(out_);
}

llvm::Value* ModuleEmitter::Pointer(Frame& f, const Slice& slice) {
  if (slice.kind == Slice::Kind::kArena) used_.insert({slice.offset, slice.size});
  return PointerForStore(f, slice);
}

llvm::Value* ModuleEmitter::PointerForStore(Frame& f, const Slice& slice) {
  const auto parameters = static_cast<int64_t>(buffers_.parameter_sizes().size());
  const auto constants = static_cast<int64_t>(buffers_.constants().size());
  switch (slice.kind) {
    case Slice::Kind::kNone:
      return llvm::ConstantPointerNull::get(f.b.getPtrTy());
    case Slice::Kind::kArena:
      return Noted(f, f.b.CreateConstInBoundsGEP1_64(f.b.getInt8Ty(), f.arena(), slice.offset),
                   slice);
    case Slice::Kind::kParameter:
      return Noted(f, TableEntry(f, slice.index), slice);
    case Slice::Kind::kConstant:
      return Noted(f, TableEntry(f, parameters + slice.index), slice);
    case Slice::Kind::kOutput:
      return Noted(f, TableEntry(f, parameters + constants + slice.index), slice);
  }
  return nullptr;
}

llvm::Value* ModuleEmitter::TableEntry(Frame& f, int64_t index) {
  llvm::LoadInst* load = f.b.CreateLoad(
      f.b.getPtrTy(), f.b.CreateConstInBoundsGEP1_64(f.b.getPtrTy(), f.table(), index));
  llvm::MDNode* none = llvm::MDNode::get(f.b.getContext(), {});
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, none);
  load->setMetadata(llvm::LLVMContext::MD_nonnull, none);
  return load;
}

size_t ModuleEmitter::LightestPart() const {
  return static_cast<size_t>(std::min_element(work_.begin(), work_.end()) - work_.begin());
}

// Of all parts; no function of the C library is called so.
std::string ModuleEmitter::HostName(const std::string& name) {
  return absl::StrCat("host_", next_function_++, "_", name);
}

absl::StatusOr<llvm::Function*> ModuleEmitter::EmitSequence(const StepSequence& sequence,
                                                            const std::string& name,
                                                            llvm::Module* caller) {
  size_t next = 0;
  if (caller != nullptr && sequence.steps.size() <= kFewSteps) {
    llvm::Function* function = NewFunction(*caller, HostName(name));
    function->setLinkage(llvm::GlobalValue::InternalLinkage);
    Frame frame(function, llvm::BasicBlock::Create(function->getContext(), "entry", function));
    for (const Step& step : sequence.steps) RETURN_IF_ERROR(EmitTimed(frame, step));
    frame.b.CreateRetVoid();
    return function;
  }
  std::vector<llvm::Function*> pieces;
  do {
    ASSIGN_OR_RETURN(pieces.emplace_back(), EmitPiece(sequence, name, next, true));
  } while (next < sequence.steps.size());
  if (pieces.size() == 1) {
    if (caller == nullptr) pieces[0]->setName(name);
    return pieces[0];
  }
  llvm::Function* function =
      NewFunction(*out_.parts[0].module, caller == nullptr ? name : HostName(name));
  Frame frame(function, llvm::BasicBlock::Create(function->getContext(), "entry", function));
  for (llvm::Function* piece : pieces) CallComputation(frame, piece);
  frame.b.CreateRetVoid();
  return function;
}

absl::Status ModuleEmitter::EmitTimed(Frame& f, const Step& step) {
  if (!options_.profile) return EmitStep(f, step);
  Builder& b = f.b;
  const auto clock = [&] {
    return b.CreateIntrinsic(b.getInt64Ty(), llvm::Intrinsic::readcyclecounter, {});
  };
  llvm::Value* start = clock();
  RETURN_IF_ERROR(EmitStep(f, step));
  llvm::Value* spent = b.CreateSub(clock(), start);
  llvm::Value* counters = TableEntry(
      f, static_cast<int64_t>(buffers_.parameter_sizes().size() + buffers_.constants().size() +
                              buffers_.output_sizes().size()));
  const auto add = [&](int64_t counter, llvm::Value* amount) {
    llvm::Value* at = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), counters,
                                                   2 * step.instruction->id() + counter);
    b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt64Ty(), at), amount), at);
  };
  add(0, spent);
  add(1, b.getInt64(1));
  return absl::OkStatus();
}

// Steps up to the size of a piece, as a function of its own; `next` is then the first step left.
absl::StatusOr<llvm::Function*> ModuleEmitter::EmitPiece(const StepSequence& sequence,
                                                         const std::string& name, size_t& next,
                                                         bool timed) {
  const absl::Span<const Step> steps = sequence.steps;
  const size_t begin = next, left = steps.size() - next;
  const size_t end = left <= kPieceSteps + kPieceSteps / 2 ? steps.size() : next + kPieceSteps;
  const size_t part = LightestPart();
  work_[part] += kLongPiece;  // those that are written meanwhile go elsewhere
  llvm::Function* function = NewFunction(*out_.parts[part].module, HostName(name));
  function->addFnAttr(llvm::Attribute::NoInline);
  Frame frame(function, llvm::BasicBlock::Create(function->getContext(), "entry", function));
  const size_t outer = std::exchange(piece_code_, 0);
  while (next < end && (next == begin || HasRoom(sequence, next, false))) {
    const Step& step = steps[next++];
    RETURN_IF_ERROR(timed ? EmitTimed(frame, step) : EmitStep(frame, step));
  }
  piece_code_ = outer;
  if (next == steps.size() && &sequence == &program_.entry()) EmitCopies(frame, sequence.copies);
  frame.b.CreateRetVoid();
  work_[part] += CompileWork(*function) - kLongPiece;
  return function;
}

int64_t ModuleEmitter::RoughSize(const Step& step) const {
  constexpr int64_t kBody = 10;
  int64_t size = step.kind == StepKind::kKernel ? RoughCode(*step.instruction) : 0;
  for (size_t body = 0; body < step.bodies.size(); ++body) {
    size += kBody;
    for (const Step& inner : BodyOf(step, body).steps) size += RoughSize(inner);
  }
  return size;
}

// A cut costs a run a call, and what crosses it goes through memory. So a loop that fits into a
// piece begins one where it would not fit into this one; what stands in place is cut late; and no
// cut is made where a later one of fewer words can be had, or where little is left.
bool ModuleEmitter::HasRoom(const StepSequence& sequence, size_t next, bool in_place) const {
  const absl::Span<const Step> steps = sequence.steps;
  double code = static_cast<double>(piece_code_);
  const auto with = [&](const Step& step) {
    return code + kCodeOfRough * static_cast<double>(RoughSize(step));
  };
  if (!steps[next].bodies.empty() && code > kShortPiece && with(steps[next]) > kLongPiece)
    return false;
  if (code < (in_place ? kLongPiece : kPiece)) return true;
  int64_t left = 0;
  for (size_t k = next; k < steps.size() && left < kFewOperations; ++k) left += RoughSize(steps[k]);
  if (left < kFewOperations) return true;
  const int64_t crossing = Crossing(steps, next);
  for (size_t k = next; k + 1 < steps.size(); ++k) {
    code = with(steps[k]);
    if (code > kLongPiece) return false;
    if (Crossing(steps, k + 1) + kFewWords <= crossing) return true;
  }
  return false;
}

// void computation(context, arena, table)
llvm::Function* ModuleEmitter::NewFunction(llvm::Module& module, const std::string& name) {
  llvm::Function* function = DeclareFunction(module, name, 3, 0);
  for (unsigned a = 0; a < 3; ++a) function->addParamAttr(a, llvm::Attribute::NoAlias);
  return function;
}

absl::Status ModuleEmitter::EmitStep(Frame& f, const Step& step) {
  const Instruction* const outer = std::exchange(current_, step.instruction);
  absl::Status status = EmitByKind(f, step);
  current_ = outer;
  return status;
}

absl::Status ModuleEmitter::EmitByKind(Frame& f, const Step& step) {
  switch (step.kind) {
    case StepKind::kWhile:
      return EmitWhile(f, step);
    case StepKind::kConditional:
      return EmitConditional(f, step);
    case StepKind::kCall:
      return EmitCall(f, step);
    case StepKind::kDeviceId:
      EmitDeviceId(f, step);
      return absl::OkStatus();
    case StepKind::kKernel:
      return EmitKernelStep(f, *step.instruction);
    case StepKind::kLibrary:
    case StepKind::kCollective:
    case StepKind::kHost:
      break;
  }
  MarkBegin(f, *step.instruction);
  MarkRead(f, *step.instruction);
  RETURN_IF_ERROR(EmitRuntimeCall(f, step));
  MarkWritten(f, *step.instruction);
  return absl::OkStatus();
}

absl::Status ModuleEmitter::EmitKernelStep(Frame& f, const Instruction& i) {
  MarkBegin(f, i);
  const Instruction* unsupported = nullptr;
  const bool small = EmitSmall(f, i, &unsupported);
  if (!small) RETURN_IF_ERROR(EmitKernels(f, i));
  MarkEnd(f, i, small);
  return unsupported == nullptr ? absl::OkStatus() : NoCode(*unsupported);
}

absl::Status ModuleEmitter::EmitRuntimeCall(Frame& f, const Step& step) {
  const Instruction& i = *step.instruction;
  LibrarySite site(*this, f, i);
  if (step.kind == StepKind::kCollective) {
    out_.uses_communicator = true;
    const Instruction* unsupported = EmitCollective(site, i, module_.header());
    return unsupported == nullptr ? absl::OkStatus() : NoCode(*unsupported);
  }
  if (EmitLibraryCall(site, i)) return absl::OkStatus();
  out_.reference_calls.push_back(&i);
  EmitReferenceCall(site, i);
  return absl::OkStatus();
}

void ModuleEmitter::EmitDeviceId(Frame& f, const Step& step) {
  const bool is_replica = step.instruction->opcode() == Opcode::kReplicaId;
  llvm::Value* at = f.b.CreateConstInBoundsGEP1_64(f.b.getInt8Ty(), f.context(),
                                                   is_replica ? kReplicaOffset : kPartitionOffset);
  f.b.CreateStore(f.b.CreateLoad(f.b.getInt32Ty(), at), Pointer(f, step.results[0]));
}

absl::StatusOr<EmittedModule> EmitModule(const Module& module, const BufferAssignment& buffers,
                                         const EmitOptions& options) {
  return ModuleEmitter(module, buffers, options).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
