// The host program: one LLVM function per computation that runs, its instructions in schedule
// order, as kernel calls, library calls, control flow and copies.
//
// Functions are distributed to the parts (LLVM modules that threads compile in parallel) by their
// size. Long computations are cut into functions of kPiece instructions, since LLVM's time grows
// faster than the function. Instructions without code (tuples, bitcasts, parameters) only name
// other values' memory.
#include "backends/cpu/host_program/module_emitter_internal.h"

#include <algorithm>
#include <utility>

#include "analysis/emittable.h"
#include "analysis/in_place.h"
#include "backends/cpu/library_calls/collective_call.h"
#include "codegen/program.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Instructions in one function.
constexpr size_t kPiece = 64;

// Fields of HlokitRunContext that compiled code reads (runtime/context.h keeps their places).
constexpr int64_t kReplicaOffset = 24;
constexpr int64_t kPartitionOffset = 28;

}  // namespace

std::vector<Instruction*> WithCode(const Computation& computation) {
  std::vector<Instruction*> order = computation.ScheduleOrPostOrder();
  std::erase_if(order, [](const Instruction* i) { return OnlyNamesArrays(*i); });
  return order;
}

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
  ASSIGN_OR_RETURN(llvm::Function * entry, EmitComputation(*module_.entry(), kEntrySymbol));
  entry->setLinkage(llvm::GlobalValue::ExternalLinkage);
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

// Long computations are cut into pieces: LLVM's time grows faster than the length of a block.
absl::StatusOr<llvm::Function*> ModuleEmitter::EmitComputation(const Computation& computation,
                                                               const std::string& name) {
  llvm::Function* function = NewFunction(name);
  Frame frame(function, llvm::BasicBlock::Create(function->getContext(), "entry", function));
  const std::vector<Instruction*> order = WithCode(computation);
  if (order.size() <= kPiece + kPiece / 2) {
    for (const Instruction* i : order) RETURN_IF_ERROR(EmitTimed(frame, *i));
  } else {
    for (size_t first = 0; first < order.size(); first += kPiece) {
      const size_t count = std::min(kPiece, order.size() - first);
      ASSIGN_OR_RETURN(llvm::Function * piece, EmitPiece({order.data() + first, count}, name));
      CallComputation(frame, piece);
    }
  }
  if (computation.IsEntry()) EmitCopies(frame, buffers_.output_copies());
  frame.b.CreateRetVoid();
  return function;
}

absl::StatusOr<llvm::Function*> ModuleEmitter::EmitPiece(
    absl::Span<Instruction* const> instructions, const std::string& name) {
  llvm::Function* function = NewFunction(absl::StrCat(name, ".piece"));
  function->addFnAttr(llvm::Attribute::NoInline);
  Frame frame(function, llvm::BasicBlock::Create(function->getContext(), "entry", function));
  for (const Instruction* i : instructions) RETURN_IF_ERROR(EmitTimed(frame, *i));
  frame.b.CreateRetVoid();
  return function;
}

absl::Status ModuleEmitter::EmitInstructions(Frame& f,
                                             absl::Span<Instruction* const> instructions) {
  for (const Instruction* i : instructions) RETURN_IF_ERROR(EmitInstruction(f, *i));
  return absl::OkStatus();
}

absl::Status ModuleEmitter::EmitTimed(Frame& f, const Instruction& i) {
  if (!options_.profile) return EmitInstruction(f, i);
  Builder& b = f.b;
  const auto clock = [&] {
    return b.CreateIntrinsic(b.getInt64Ty(), llvm::Intrinsic::readcyclecounter, {});
  };
  llvm::Value* start = clock();
  RETURN_IF_ERROR(EmitInstruction(f, i));
  llvm::Value* spent = b.CreateSub(clock(), start);
  llvm::Value* counters = TableEntry(
      f, static_cast<int64_t>(buffers_.parameter_sizes().size() + buffers_.constants().size() +
                              buffers_.output_sizes().size()));
  const auto add = [&](int64_t counter, llvm::Value* amount) {
    llvm::Value* at = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), counters, 2 * i.id() + counter);
    b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt64Ty(), at), amount), at);
  };
  add(0, spent);
  add(1, b.getInt64(1));
  return absl::OkStatus();
}

// void computation(context, arena, table)
llvm::Function* ModuleEmitter::NewFunction(const std::string& name) {
  llvm::Module& module = *out_.parts[0].module;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  auto* type =
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, pointer, pointer}, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  for (unsigned a = 0; a < 3; ++a) function->addParamAttr(a, llvm::Attribute::NoAlias);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return function;
}

absl::Status ModuleEmitter::EmitInstruction(Frame& f, const Instruction& i) {
  const Instruction* const outer = std::exchange(current_, &i);
  absl::Status status = EmitPlain(f, i);
  current_ = outer;
  return status;
}

absl::Status ModuleEmitter::EmitPlain(Frame& f, const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kWhile:
      return EmitWhile(f, i);
    case Opcode::kConditional:
      return EmitConditional(f, i);
    case Opcode::kCall:
      return EmitCall(f, i);
    case Opcode::kPartitionId:
    case Opcode::kReplicaId:
      EmitDeviceId(f, i);
      return absl::OkStatus();
    default:
      break;
  }
  if (OnlyNamesArrays(i) || NothingToDo(i)) return absl::OkStatus();
  MarkBegin(f, i);
  const bool exchange = options_.exchanges && IsDeviceCommunication(i);
  if (!exchange && !HasLibraryCall(i) && CanEmitKernels(i)) {
    const Instruction* unsupported = nullptr;
    const bool small = EmitSmall(f, i, &unsupported);
    if (!small) RETURN_IF_ERROR(EmitKernels(f, i));
    MarkEnd(f, i, small);
    return unsupported == nullptr ? absl::OkStatus() : NoCode(*unsupported);
  }
  MarkRead(f, i);
  RETURN_IF_ERROR(EmitRuntimeCall(f, i, exchange));
  MarkWritten(f, i);
  return absl::OkStatus();
}

absl::Status ModuleEmitter::EmitRuntimeCall(Frame& f, const Instruction& i, bool exchange) {
  LibrarySite site(*this, f, i);
  if (exchange) {
    out_.exchanges = true;
    const Instruction* unsupported = EmitCollective(site, i, module_.header());
    return unsupported == nullptr ? absl::OkStatus() : NoCode(*unsupported);
  }
  if (EmitLibraryCall(site, i)) return absl::OkStatus();
  out_.reference_calls.push_back(&i);
  EmitReferenceCall(site, i);
  return absl::OkStatus();
}

bool ModuleEmitter::NothingToDo(const Instruction& i) const {
  if (i.HasSideEffect()) return false;
  for (const Slice& slice : buffers_.slices(&i))
    if (slice.kind != Slice::Kind::kNone) return false;
  return true;
}

void ModuleEmitter::EmitDeviceId(Frame& f, const Instruction& i) {
  const int64_t offset = i.opcode() == Opcode::kReplicaId ? kReplicaOffset : kPartitionOffset;
  llvm::Value* at = f.b.CreateConstInBoundsGEP1_64(f.b.getInt8Ty(), f.context(), offset);
  f.b.CreateStore(f.b.CreateLoad(f.b.getInt32Ty(), at), Pointer(f, buffers_.slice(&i)));
}

absl::StatusOr<EmittedModule> EmitModule(const Module& module, const BufferAssignment& buffers,
                                         const EmitOptions& options) {
  return ModuleEmitter(module, buffers, options).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
