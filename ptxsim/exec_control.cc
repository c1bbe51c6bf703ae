// Branches, calls, barriers and what has no effect on values: ISA, "Control Flow Instructions",
// "Parallel Synchronization", "Miscellaneous Instructions".
#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ptxsim/bind_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/builtins.h"
#include "ptxsim/decoder_internal.h"
#include "ptxsim/lanes.h"
#include "ptxsim/races.h"

namespace hlokit::ptx {
namespace {

// trap: ends the launch with an error.
void Trap(const Op& op, Warp& warp, LaneMask mask) {
  warp.block().Fault(warp, op, std::countr_zero(mask),
                     op.mode == 0 ? "trap" : "breakpoint (brkpt)");
}

void Alloca(const Op& op, Warp& warp, LaneMask mask) {
  const uint64_t* sizes = In<uint64_t>(warp.frame(), op.a);
  uint64_t most = 0;
  for (int i = 0; i < kLanes; ++i)
    if (mask >> i & 1) most = std::max(most, sizes[i]);
  constexpr uint64_t kMaxStack = 512 << 10;  // local memory of a thread
  if (most > kMaxStack || warp.stack_bytes() + static_cast<int64_t>(most) > int64_t{kMaxStack})
    return warp.block().Fault(warp, op, std::countr_zero(mask),
                              absl::StrCat("alloca of ", most, " bytes: a thread has at most ",
                                           kMaxStack, " of local memory"));
  const uint64_t address = warp.ReserveStack(static_cast<int64_t>(most), op.offset);
  uint64_t* d = Out<uint64_t>(warp.frame(), op.d);
  for (int i = 0; i < kLanes; ++i)
    if (mask >> i & 1) d[i] = address;
}
void StackSave(const Op& op, Warp& warp, LaneMask mask) {
  uint64_t* d = Out<uint64_t>(warp.frame(), op.d);
  for (int i = 0; i < kLanes; ++i)
    if (mask >> i & 1) d[i] = static_cast<uint64_t>(warp.stack_bytes());
}
void StackRestore(const Op& op, Warp& warp, LaneMask mask) {
  const uint64_t bytes = In<uint64_t>(warp.frame(), op.a)[std::countr_zero(mask)];
  if (bytes <= static_cast<uint64_t>(warp.stack_bytes()))
    warp.RestoreStack(static_cast<int64_t>(bytes));
}

// Barriers. op.a: the number, op.b: threads (kNoSlot: all), op.c: the predicate of .red.
enum BarrierKind : uint8_t { kSync, kArrive, kPopc, kAnd, kOr };
constexpr uint32_t kAligned = 1;

// barrier.red: the count, conjunction or disjunction of the predicates of all that came.
void ReadBarrier(const Op& op, Warp& warp, LaneMask mask, Block::Barrier& barrier) {
  if (op.mode == kPopc) {
    uint32_t* d = Out<uint32_t>(warp.frame(), op.d);
    HLOKIT_LANES(i)
    d[i] = mask >> i & 1 ? static_cast<uint32_t>(barrier.last_population) : d[i];
    return;
  }
  LaneMask& d = *Out<LaneMask>(warp.frame(), op.d);
  const bool value = op.mode == kAnd ? barrier.last_all : barrier.last_any;
  d = value ? d | mask : d & ~mask;
}

// Lanes of the warp that wait at another instruction: an aligned barrier takes the warp as one.
bool IsDivergent(Warp& warp, LaneMask mask) { return (warp.live() & ~mask) != 0; }

// Counts the lanes in; they wait (but for .arrive) until the barrier has as many as it needs.
void RunBarrier(const Op& op, Warp& warp, LaneMask mask) {
  Block& block = warp.block();
  std::byte* frame = warp.frame();
  const int lane = std::countr_zero(mask);
  const uint32_t number = In<uint32_t>(frame, op.a)[lane];
  if (number > 15)
    return block.Fault(warp, op, lane, absl::StrCat("barrier ", number, ": there are 0 to 15"));
  Block::Barrier& barrier = block.barrier(static_cast<int>(number));
  if (warp.released()) {
    warp.ClearReleased();
    return ReadBarrier(op, warp, mask, barrier);
  }
  if (op.flags & kAligned) {
    if (!warp.Converge(warp.live())) return;
    if (IsDivergent(warp, mask))
      return block.Fault(
          warp, op, lane,
          absl::StrCat("divergent barrier: ", std::popcount(mask), " of the warp's ",
                       std::popcount(warp.live()), " threads reach it, the others wait elsewhere"));
  }
  const int count = op.b == kNoSlot ? 0 : static_cast<int>(In<uint32_t>(frame, op.b)[lane]);
  // With a count, a warp counts whole.
  const bool whole = count != 0 && mask == warp.live();
  block.Arrive(static_cast<int>(number), count, whole ? kLanes : std::popcount(mask));
  if (op.mode >= kPopc) {
    const LaneMask votes = PredicateAt(frame, op.c) & mask;
    barrier.population += std::popcount(votes);
    barrier.any |= votes != 0;
    barrier.every &= votes == mask;
  }
  if (RaceDetector* const races = block.races())
    races->Release({RaceDetector::SyncKind::kBarrier, block.index(), number}, warp, mask);
  if (op.mode != kArrive) warp.WaitAtBarrier(static_cast<int>(number), op.mode >= kPopc);
  block.OpenBarrierIfFull(static_cast<int>(number));
}

void Nothing(const Op&, Warp&, LaneMask) {}
// Memory is always consistent here; only the detector of races has to know.
void RunFence(const Op&, Warp& warp, LaneMask mask) {
  if (RaceDetector* const races = warp.block().races()) races->Fence(warp, mask);
}
// Others may have what this warp waits for.
void Pause(const Op&, Warp& warp, LaneMask) { warp.YieldNow(); }

// The place that a label names; reports where it is none.
bool LabelOf(Binder& b, const Operand& operand, uint32_t scope, uint32_t& label) {
  Symbol storage;
  const Symbol* symbol = b.decoder().Find(operand.name, scope, storage);
  if (operand.kind != Operand::kName || symbol == nullptr || symbol->kind != Symbol::kLabel) {
    b.Error(operand.place, absl::StrCat("unknown label `", operand.name, "`"));
    return false;
  }
  label = symbol->index;
  return true;
}

// One value of a call: a register, a constant, or a .param variable of this function.
CallValue ValueOf(Binder& b, const Operand& operand, bool is_result) {
  CallValue value;
  Symbol storage;
  const Symbol* symbol = operand.kind == Operand::kName
                             ? b.decoder().Find(operand.name, b.instruction().scope, storage)
                             : nullptr;
  if (symbol != nullptr && symbol->kind == Symbol::kVariable &&
      b.decoder().LocalOffset(symbol->index) >= 0) {
    value.local = b.decoder().LocalOffset(symbol->index);
    value.bytes = b.decoder().function().variables[symbol->index].ByteSize();
  } else if (is_result) {
    value.slot = b.ResultSlot(operand);
  } else if (b.decoder().FormalOffset(operand.name) >= 0) {
    value.local = b.decoder().FormalOffset(operand.name);
    for (const Variable& formal : b.decoder().function().parameters)
      if (formal.name == operand.name) value.bytes = formal.ByteSize();
  } else {
    value.slot = b.SourceSlot(operand, Type::kB64);
  }
  return value;
}

void BindDirectCall(Binder& b, CallSite& site, const Function& callee, Op& op) {
  if (callee.is_defined) {
    site.callee = b.decoder().program().IndexOf(callee);
    op.kind = Op::kCall;
    return;
  }
  op.kind = Op::kExec;
  op.exec = BuiltinNamed(callee.name);
  // One host thread: another one's lookups would not see memory that moves.
  if (IsDeviceHeap(callee.name)) b.decoder().program().program().order_matters = true;
  if (op.exec == nullptr)
    b.Error(b.instruction().place, absl::StrCat("function `", callee.name,
                                                "` has no body here, and the simulator has none"));
}

}  // namespace

void BindBra(Binder& b) {
  uint32_t label = 0;
  if (!LabelOf(b, b.operand(0), b.instruction().scope, label)) return;
  Op op;
  op.kind = Op::kBranch;
  b.Emit(op);
  b.decoder().FixTarget(static_cast<uint32_t>(b.code().ops.size() - 1), label);
}

void BindBrx(Binder& b) {
  Symbol storage;
  const Symbol* list = b.decoder().Find(b.operand(1).name, b.instruction().scope, storage);
  if (list == nullptr || list->kind != Symbol::kTargets)
    return b.Error(b.operand(1).place, "expected the name of a .branchtargets list");
  const TargetList& targets = b.decoder().function().targets[list->index];
  Op op;
  op.kind = Op::kBranchIndexed;
  op.a = b.Source(0, Type::kU32);
  op.list = static_cast<uint32_t>(b.code().targets.size());
  op.list_size = static_cast<uint32_t>(targets.names.size());
  for (const Operand& name : targets.names) {
    uint32_t label = 0;
    if (!LabelOf(b, name, targets.scope, label)) return;
    b.decoder().AddTarget(label);
  }
  if (!b.failed()) b.Emit(op);
}

// call [(result),] callee [, (arguments)] [, prototype]
void BindCall(Binder& b) {
  int at = 0;
  CallSite site;
  const auto take = [&](std::vector<CallValue>& values, bool is_result) {
    if (at >= b.size() || b.operand(at).kind != Operand::kList) return;
    for (const Operand& part : b.operand(at).parts) {
      if (part.kind == Operand::kSink)
        values.push_back({{}, -1, 0});
      else
        values.push_back(ValueOf(b, part, is_result));
    }
    ++at;
  };
  take(site.results, true);
  if (at >= b.size() || b.operand(at).kind != Operand::kName)
    return b.Error(b.instruction().place, "expected the name of a function");
  const Operand& callee = b.operand(at++);
  take(site.arguments, false);
  Op op;
  op.kind = Op::kCall;
  Symbol storage;
  const Symbol* symbol = b.decoder().Find(callee.name, b.instruction().scope, storage);
  if (symbol != nullptr && symbol->kind == Symbol::kRegister) {
    site.indirect = true;
    site.address = b.Source(callee, Type::kU64);
  } else if (const Function* function = b.decoder().program().module().FindFunction(callee.name)) {
    BindDirectCall(b, site, *function, op);
  } else {
    b.Error(callee.place, absl::StrCat("unknown function `", callee.name, "`"));
  }
  if (b.failed()) return;
  op.list = static_cast<uint32_t>(b.code().calls.size());
  b.code().calls.push_back(std::move(site));
  b.Emit(op);
}

void BindRet(Binder& b) {
  Op op;
  op.kind = Op::kReturn;
  b.Emit(op);
}
void BindExit(Binder& b) {
  Op op;
  op.kind = Op::kExit;
  b.Emit(op);
}
void BindTrap(Binder& b) { b.Emit(b.MakeExec(&Trap)); }
void BindBrkpt(Binder& b) {
  Op op = b.MakeExec(&Trap);
  op.mode = 1;
  b.Emit(op);
}
// alloca d, size {, align}: each lane of the call gets as much as the one that asks for most.
void BindAlloca(Binder& b) {
  Op op = b.MakeExec(&Alloca);
  op.a = b.Source(1, Type::kU64);
  op.offset = b.size() > 2 ? b.Immediate(2) : 8;
  op.d = b.Result(0, Type::kU64);
  if (op.offset < 1 || op.offset > 1 << 16) return b.Unsupported();
  if (!b.failed()) b.Emit(op);
}
void BindStackSave(Binder& b) {
  Op op = b.MakeExec(&StackSave);
  op.d = b.Result(0, Type::kU64);
  if (!b.failed()) b.Emit(op);
}
void BindStackRestore(Binder& b) {
  Op op = b.MakeExec(&StackRestore);
  op.a = b.Source(0, Type::kU64);
  if (!b.failed()) b.Emit(op);
}
void BindNothing(Binder& b) { b.Emit(b.MakeExec(&Nothing)); }
void BindFence(Binder& b) { b.Emit(b.MakeExec(&RunFence)); }
void BindPause(Binder& b) { b.Emit(b.MakeExec(&Pause)); }

void BindBarrier(Binder& b) {
  if (b.Has("cluster")) return BindClusterBarrier(b);
  if (b.Has("warp")) return BindWarpBarrier(b);
  Op op = b.MakeExec(&RunBarrier);
  // bar is barrier.aligned.
  op.flags = b.instruction().opcode == "bar" || b.Has("aligned") ? kAligned : 0;
  const bool reduces = b.Has("red");
  op.mode = b.Has("arrive") ? kArrive
            : !reduces      ? kSync
            : b.Has("popc") ? kPopc
            : b.Has("and")  ? kAnd
                            : kOr;
  int at = 0;
  if (reduces) op.d = b.Result(at++, op.mode == kPopc ? Type::kU32 : Type::kPred);
  op.a = b.Source(at++, Type::kU32);
  const int left = b.size() - at;
  op.b = kNoSlot;
  if (left > (reduces ? 1 : 0)) op.b = b.Source(at++, Type::kU32);
  if (reduces) op.c = b.Source(at, Type::kPred);
  if (!b.failed()) b.Emit(op);
}

// createpolicy: policies have no effect here. A fractional one has the bits of an H200's: 1, then
// the class (0 unchanged, 2 first, 4 last, 6 normal; 1 more where the rest is evict_first), then
// the fraction in sixteenths less one, from bit 60 down.
void BindCreatePolicy(Binder& b) {
  Op op = b.MakeEval(nullptr, Type::kB64, b.Result(0, Type::kB64));
  uint64_t kind = 0;
  int classes = 0;
  for (absl::string_view word : b.instruction().modifiers) {
    if (word.substr(0, 4) != "L2::") continue;
    if (classes++ == 0) {
      kind = word == "L2::evict_first"    ? 2
             : word == "L2::evict_last"   ? 4
             : word == "L2::evict_normal" ? 6
                                          : 0;
    } else if (word == "L2::evict_first") {
      kind |= 1;
    }
  }
  const Operand& last = b.operand(b.size() - 1);
  if (b.Has("fractional") && (b.size() == 1 || last.kind == Operand::kFloat)) {
    float single = 1;
    if (b.size() > 1)
      single = last.is_single ? std::bit_cast<float>(static_cast<uint32_t>(last.bits))
                              : static_cast<float>(std::bit_cast<double>(last.bits));
    const auto part = static_cast<uint64_t>(std::clamp(single * 16.0f, 1.0f, 16.0f)) - 1;
    op.offset = static_cast<int64_t>(uint64_t{1} << 60 | kind << 56 | part << 52);
  }
  op.eval = [](const Op& o, std::byte*, void* result) {
    HLOKIT_LANES(i) static_cast<int64_t*>(result)[i] = o.offset;
  };
  if (!b.failed()) b.Emit(op);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
