// The table of planted faults.
#include "backends/cpu/sanitizer/planted_faults_internal.h"
#include "codegen/code_notes.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

namespace hlokit {
namespace {

using IrInstruction = llvm::Instruction;

// Calls `change` for the instructions of all parts in order until it has changed one.
bool First(EmittedModule& emitted, llvm::function_ref<bool(IrInstruction&)> change) {
  for (EmittedModule::Part& part : emitted.parts)
    for (llvm::Function& f : *part.module)
      for (IrInstruction& i : llvm::instructions(f))
        if (change(i)) return true;
  return false;
}

llvm::ConstantInt* ConstantOperand(IrInstruction& i, unsigned o) {
  return i.getNumOperands() > o ? llvm::dyn_cast<llvm::ConstantInt>(i.getOperand(o)) : nullptr;
}

void Set(IrInstruction& i, unsigned o, int64_t value) {
  i.setOperand(
      o, llvm::ConstantInt::get(i.getOperand(o)->getType(), static_cast<uint64_t>(value), true));
}

// The constant `from` of an operation becomes `to`.
FaultPlanter Constant(unsigned opcode, int64_t from, int64_t to) {
  return [=](EmittedModule& emitted) {
    return First(emitted, [&](IrInstruction& i) {
      if (i.getOpcode() != opcode) return false;
      for (unsigned o = 0; o < i.getNumOperands(); ++o) {
        const llvm::ConstantInt* found = ConstantOperand(i, o);
        if (found == nullptr || found->getSExtValue() != from) continue;
        Set(i, o, to);
        return true;
      }
      return false;
    });
  };
}

bool CallsKernel(const IrInstruction& i) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
  const llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
  return callee != nullptr && callee->getName().starts_with("kernel_");
}

// Kernels run for so many units more.
FaultPlanter Units(int64_t more) {
  return [=](EmittedModule& emitted) {
    return First(emitted, [&](IrInstruction& i) {
      if (!CallsKernel(i)) return false;
      const unsigned end = llvm::cast<llvm::CallInst>(i).arg_size() - 1;
      Set(i, end, ConstantOperand(i, end)->getSExtValue() + more);
      return true;
    });
  };
}

// The first two arrays of a kernel change places.
bool SwapArrays(EmittedModule& emitted) {
  return First(emitted, [](IrInstruction& i) {
    if (!CallsKernel(i)) return false;
    llvm::Value* first = i.getOperand(0);
    i.setOperand(0, i.getOperand(1));
    i.setOperand(1, first);
    return true;
  });
}

bool IsCallOf(const IrInstruction& i, llvm::Intrinsic::ID intrinsic) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&i);
  return call != nullptr && call->getIntrinsicID() == intrinsic;
}

// The intrinsic gives its first operand: a bound that was forgotten.
FaultPlanter NoBound(llvm::Intrinsic::ID intrinsic, int number = 0) {
  return [=](EmittedModule& emitted) {
    int seen = 0;
    return First(emitted, [&](IrInstruction& i) {
      if (!IsCallOf(i, intrinsic) || i.use_empty() || seen++ != number) return false;
      i.replaceAllUsesWith(i.getOperand(0));
      return true;
    });
  };
}

// All lanes of a masked access take part.
FaultPlanter NoMask(llvm::Intrinsic::ID intrinsic, unsigned mask) {
  return [=](EmittedModule& emitted) {
    bool changed = false;
    First(emitted, [&](IrInstruction& i) {
      if (!IsCallOf(i, intrinsic)) return false;
      i.setOperand(mask, llvm::ConstantInt::getTrue(i.getOperand(mask)->getType()));
      changed = true;
      return false;
    });
    return changed;
  };
}

// A comparison that guards something is true.
FaultPlanter NoGuard(llvm::CmpInst::Predicate predicate) {
  return [=](EmittedModule& emitted) {
    return First(emitted, [&](IrInstruction& i) {
      auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&i);
      if (compare == nullptr || compare->getPredicate() != predicate || i.use_empty()) return false;
      i.replaceAllUsesWith(llvm::ConstantInt::getTrue(i.getType()));
      return true;
    });
  };
}

// A store to an array of `instruction` (its own note) is left out.
FaultPlanter NoStore(int number) {
  return [=](EmittedModule& emitted) {
    int seen = 0;
    IrInstruction* store = nullptr;
    First(emitted, [&](IrInstruction& i) {
      if (!llvm::isa<llvm::StoreInst>(i) || seen++ != number) return false;
      store = &i;
      return true;
    });
    if (store == nullptr) return false;
    store->eraseFromParent();
    return true;
  };
}

// The first call of an intrinsic without result is left out.
FaultPlanter NoCall(llvm::Intrinsic::ID intrinsic) {
  return [=](EmittedModule& emitted) {
    IrInstruction* call = nullptr;
    First(emitted, [&](IrInstruction& i) {
      if (IsCallOf(i, intrinsic)) call = &i;
      return call != nullptr;
    });
    if (call == nullptr) return false;
    call->eraseFromParent();
    return true;
  };
}

// Entries of tables of constants are looked for behind their ends.
bool BehindTable(EmittedModule& emitted) {
  return First(emitted, [](IrInstruction& i) {
    auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(&i);
    if (place == nullptr || !llvm::isa<llvm::GlobalVariable>(place->getPointerOperand()))
      return false;
    llvm::IRBuilder<> b(&i);
    i.setOperand(1, b.CreateAdd(i.getOperand(1), b.getInt64(1000)));
    return true;
  });
}

// A copy of so many bytes more.
FaultPlanter LongerCopy(int64_t more) {
  return [=](EmittedModule& emitted) {
    return First(emitted, [&](IrInstruction& i) {
      if (!IsCallOf(i, llvm::Intrinsic::memcpy)) return false;
      Set(i, 2, ConstantOperand(i, 2)->getSExtValue() + more);
      return true;
    });
  };
}

// Accesses claim an alignment.
template <typename Access>
FaultPlanter Alignment(uint64_t alignment) {
  return [=](EmittedModule& emitted) {
    return First(emitted, [&](IrInstruction& i) {
      auto* access = llvm::dyn_cast<Access>(&i);
      if (access == nullptr || access->getAlign().value() >= alignment ||
          i.getType()->isPointerTy())
        return false;
      access->setAlignment(llvm::Align(alignment));
      return true;
    });
  };
}

// Places are counted in elements twice as long.
FaultPlanter WiderElements() {
  return [](EmittedModule& emitted) {
    return First(emitted, [](IrInstruction& i) {
      auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(&i);
      if (place == nullptr || !place->getSourceElementType()->isFloatTy()) return false;
      place->setSourceElementType(llvm::Type::getDoubleTy(i.getContext()));
      return true;
    });
  };
}

// A vector load takes twice as many lanes.
bool WiderVector(EmittedModule& emitted) {
  IrInstruction* found = nullptr;
  First(emitted, [&](IrInstruction& i) {
    if (llvm::isa<llvm::LoadInst>(i) && i.getType()->isVectorTy()) found = &i;
    return found != nullptr;
  });
  if (found == nullptr) return false;
  auto* type = llvm::cast<llvm::FixedVectorType>(found->getType());
  const int lanes = static_cast<int>(type->getNumElements());
  llvm::IRBuilder<> b(found);
  auto& load = llvm::cast<llvm::LoadInst>(*found);
  llvm::Value* wide =
      b.CreateAlignedLoad(llvm::FixedVectorType::get(type->getElementType(), 2 * lanes),
                          load.getPointerOperand(), load.getAlign());
  std::vector<int> first(lanes);
  for (int k = 0; k < lanes; ++k) first[k] = k;
  found->replaceAllUsesWith(b.CreateShuffleVector(wide, first));
  return true;
}

// Every array of temporary memory that `mover` writes lies where `other` has its own: as if they
// did not live at the same time.
FaultPlanter SharedMemory(const char* mover, const char* other) {
  return [=](EmittedModule& emitted) {
    const auto slice_of = [&](const char* name) {
      for (const ArrayNote& note : emitted.arrays)
        if (note.instruction != nullptr && note.instruction->name() == name &&
            note.slice.kind == Slice::Kind::kArena)
          return note.slice;
      return Slice();
    };
    const Slice from = slice_of(mover), to = slice_of(other);
    if (from.kind == Slice::Kind::kNone || to.kind == Slice::Kind::kNone) return false;
    bool changed = false;
    First(emitted, [&](IrInstruction& i) {
      const int64_t note = ArrayNoteOf(i);
      if (note < 0 || !(emitted.arrays[note].slice == from)) return false;
      Set(*llvm::cast<IrInstruction>(i.getOperand(1)), 1, to.offset + 16);
      changed = true;
      return false;
    });
    for (ArrayNote& note : emitted.arrays)
      if (note.slice == from) note.slice.offset = to.offset + 16;
    return changed;
  };
}

constexpr char kNegate[] = R"(HloModule m
ENTRY e {
  p = f32[3,137] parameter(0)
  ROOT r = f32[3,137] negate(p)
})";

constexpr char kTranspose[] = R"(HloModule m
f {
  x = f32[20,30] parameter(0)
  t = f32[30,20] transpose(x), dimensions={1,0}
  ROOT n = f32[30,20] negate(t)
}
ENTRY e {
  p = f32[20,30] parameter(0)
  ROOT r = f32[30,20] fusion(p), kind=kLoop, calls=f
})";

constexpr char kSlice[] = R"(HloModule m
f {
  x = f32[500] parameter(0)
  s = f32[90] slice(x), slice={[50:500:5]}
  ROOT n = f32[90] negate(s)
}
ENTRY e {
  p = f32[500] parameter(0)
  ROOT r = f32[90] fusion(p), kind=kLoop, calls=f
})";

constexpr char kDynamicSlice[] = R"(HloModule m
f {
  x = f32[500] parameter(0)
  i = s32[] parameter(1)
  s = f32[300] dynamic-slice(x, i), dynamic_slice_sizes={300}
  ROOT n = f32[300] negate(s)
}
ENTRY e {
  p = f32[500] parameter(0)
  k = s32[] parameter(1)
  ROOT r = f32[300] fusion(p, k), kind=kLoop, calls=f
})";

constexpr char kUpdate[] = R"(HloModule m
ENTRY e {
  p = f32[500] parameter(0)
  u = f32[300] parameter(1)
  k = s32[] parameter(2)
  ROOT r = f32[500] dynamic-update-slice(p, u, k)
})";

constexpr char kGather[] = R"(HloModule m
ENTRY e {
  p = f32[40,9] parameter(0)
  i = s32[30,1] parameter(1)
  ROOT g = f32[30,9] gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,9}
})";

constexpr char kScatter[] = R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  p = f32[40,9] parameter(0)
  i = s32[30,1] parameter(1)
  u = f32[30,9] parameter(2)
  ROOT s = f32[40,9] scatter(p, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
})";

constexpr char kConcatenate[] = R"(HloModule m
ENTRY e {
  p = f32[200] parameter(0)
  q = f32[300] parameter(1)
  ROOT c = f32[500] concatenate(p, q), dimensions={0}
})";

constexpr char kPad[] = R"(HloModule m
ENTRY e {
  p = f32[30,60] parameter(0)
  z = f32[] constant(0)
  ROOT w = f32[40,70] pad(p, z), padding=5_5x5_5
})";

constexpr char kSoftmax[] = R"(HloModule m
max {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b)
}
f {
  x = f32[50,77] parameter(0)
  low = f32[] constant(-inf)
  m = f32[50] reduce(x, low), dimensions={1}, to_apply=max
  b = f32[50,77] broadcast(m), dimensions={0}
  ROOT d = f32[50,77] subtract(x, b)
}
ENTRY e {
  p = f32[50,77] parameter(0)
  ROOT r = f32[50,77] fusion(p), kind=kLoop, calls=f
})";

constexpr char kColumns[] = R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  p = f32[64,500] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[500] reduce(p, z), dimensions={0}, to_apply=add
})";

constexpr char kShortRows[] = R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
f {
  p = f32[100,10] parameter(0)
  e = f32[100,10] exponential(p)
  z = f32[] constant(0)
  s = f32[100] reduce(e, z), dimensions={1}, to_apply=add
  t = f32[100,10] broadcast(s), dimensions={0}
  ROOT q = f32[100,10] divide(e, t)
}
ENTRY e {
  p = f32[100,10] parameter(0)
  ROOT r = f32[100,10] fusion(p), kind=kLoop, calls=f
})";

constexpr char kChain[] = R"(HloModule m
less {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT l = pred[] compare(x, y), direction=LT
}
ENTRY e {
  p = f32[500] parameter(0)
  c = f32[500] cosine(p)
  u = f32[500] sort(c), dimensions={0}, to_apply=less
  a = f32[500] exponential(p)
  s = f32[500] sort(a), dimensions={0}, to_apply=less
  b = f32[500] sine(p)
  t = f32[500] sort(b), dimensions={0}, to_apply=less
  v = f32[500] multiply(s, t)
  ROOT r = f32[500] add(u, v)
})";

constexpr char kLoop[] = R"(HloModule m
cond {
  s = (s32[], f32[300]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT l = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[300]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[300] get-tuple-element(s), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  y = f32[300] cosine(x)
  ROOT t = (s32[], f32[300]) tuple(j, y)
}
ENTRY e {
  p = f32[300] parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[300]) tuple(z, p)
  w = (s32[], f32[300]) while(t), condition=cond, body=body
  ROOT r = f32[300] get-tuple-element(w), index=1
})";

constexpr char kDouble[] = R"(HloModule m
ENTRY e {
  p = f64[700] parameter(0)
  ROOT r = f64[700] sine(p)
})";

}  // namespace

void PrintTo(const PlantedFault& fault, std::ostream* out) { *out << fault.name; }

std::vector<PlantedFault> PlantedFaults() {
  namespace intrinsic = llvm::Intrinsic;
  return {
      {"LoopTooLong", kNegate, Units(1), "read out of bounds: element 411", "r"},
      {"LoopTooShort", kNegate, Units(-1), "result left unwritten: element [2,136]", "r"},
      {"OperandForResult", kNegate, SwapArrays, "read of bytes that nothing wrote", "r"},
      {"WrongStride", kTranspose, Constant(IrInstruction::Mul, 30, 31), "read out of bounds", "t"},
      {"WideElements", kTranspose, WiderElements(), "read out of bounds", "r"},
      {"SliceStart", kSlice, Constant(IrInstruction::Add, 50, 60), "read out of bounds", "r"},
      {"SliceStride", kSlice, Constant(IrInstruction::Mul, 5, 6), "read out of bounds", "r"},
      {"IndexOverflows", kSlice, Constant(IrInstruction::Mul, 5, INT64_MAX), "overflows: mul", "s"},
      {"StartNotClampedBelow", kDynamicSlice, NoBound(intrinsic::smax), "out of bounds", "r"},
      {"StartNotClampedAbove", kDynamicSlice, NoBound(intrinsic::smin), "out of bounds", "r"},
      {"UpdateNotClamped", kUpdate, NoBound(intrinsic::smin, 2), "write out of bounds", "r"},
      {"GatherNotClamped", kGather, NoBound(intrinsic::smin), "read out of bounds", "g"},
      {"ScatterNotGuarded", kScatter, NoGuard(llvm::CmpInst::ICMP_ULE), "out of bounds", "s"},
      {"ConcatenateOffset", kConcatenate, Constant(IrInstruction::GetElementPtr, 200, 201),
       "write out of bounds", "c"},
      {"CopyTooLong", kConcatenate, LongerCopy(4), "read out of bounds", "c"},
      {"PartLeftOut", kConcatenate, NoCall(intrinsic::memcpy), "result left unwritten: element [0]",
       "c"},
      {"EdgeLeftOut", kPad, NoStore(0), "result left unwritten", "w"},
      {"LastVectorReadsOn", kColumns, NoMask(intrinsic::masked_load, 2), "read out of bounds", "r"},
      {"LastVectorWritesOn", kColumns, NoMask(intrinsic::masked_store, 3), "write out of bounds",
       "r"},
      {"ResultNotStored", kColumns, NoCall(intrinsic::masked_store), "left unwritten", "r"},
      {"LastRowsReadOn", kShortRows, NoMask(intrinsic::masked_gather, 2), "read out of bounds",
       "r"},
      {"LastRowsWriteOn", kShortRows, NoMask(intrinsic::masked_scatter, 3), "write out of bounds",
       "r"},
      {"LoadAlignment", kSlice, Alignment<llvm::LoadInst>(64), "misaligned read", "r"},
      {"StoreAlignment", kSlice, Alignment<llvm::StoreInst>(64), "misaligned write", "r"},
      {"VectorTooWide", kColumns, WiderVector, "read out of bounds", "r"},
      {"SharedWhileAlive", kChain, SharedMemory("b", "a"), "read of bytes that another array wrote",
       "v"},
      {"StateNotCopied", kLoop, NoCall(intrinsic::memcpy), "read of bytes that nothing wrote", "y"},
      {"TableIndex", kDouble, BehindTable, "of a table", "r"},
  };
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
