// Dots by the warpgroup instructions of sm_90a: r = x * y of bf16[4096,4096], 128 x 256 elements of
// r a block, 64 x 256 of them a group of four warps:
//
//   tiles 0 and 1 of x and y -> stages 0 and 1 of shared memory (cp.async)
//   for each 128 bytes along k:
//     wait for this tile;  barrier;  begin to load the tile after next
//     4 times wgmma.m64n256k16 on this stage;  wait for those of the step before
//
// Four stages: the one that is loaded is not the one that a slower group of warps still multiplies.
// A line of a stage is 128 bytes along the fastest dimension of the array, its eight pieces of 16
// bytes permuted by the number of the line (exclusive or), so that eight lines lie in different
// banks; the matrix unit reads them so. Where k is not the fastest, lines go along rows (columns)
// and the instruction transposes, which it cannot for bytes.
//
// Tiles follow each other down a band of eight rows of tiles, so that blocks that run together
// share what they read in the second-level cache. Past the ends of matrices, loads are moved inside
// and, along k, replaced by zeros.
//
// Limits: the dot is the whole of the kernel; neighbours of 16 bytes, at addresses divisible by 16.
#include "backends/cuda/warpgroup_dot_kernels.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cuda/block_kernel.h"
#include "backends/cuda/dot_sides.h"
#include "backends/cuda/ptx_code.h"
#include "backends/cuda/thread_group.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

constexpr int64_t kRowTile = 128;  // two groups of warps, 64 rows each
constexpr int64_t kStages = 4;
constexpr int64_t kAhead = kStages - 2;  // tiles loaded before they are multiplied
constexpr int64_t kGroupLineBytes = 128;
constexpr int64_t kPieceBytes = 16;
constexpr int64_t kGroupStepBytes = 32;  // of one instruction along k
constexpr int64_t kLinesAtOnce = kBlockThreads * kPieceBytes / kGroupLineBytes;
constexpr int64_t kBand = 8;        // rows of tiles that are walked together
constexpr int64_t kFewBlocks = 64;  // half as many as a device has multiprocessors

struct WarpgroupSide : DotSide {
  int64_t width = 2;  // bytes of an element
  int64_t tile = kRowTile;
  bool along_free = false;

  int64_t depth() const { return kGroupLineBytes / width; }
  int64_t piece() const { return kPieceBytes / width; }
  int64_t bytes() const { return tile * kGroupLineBytes; }  // of a stage
};

struct WarpgroupPlan {
  WarpgroupSide lhs, rhs;
  ElementType sum_type = ElementType::kF32;

  int64_t terms() const { return lhs.summed.size; }
  int64_t steps() const { return (terms() + lhs.depth() - 1) / lhs.depth(); }
  int64_t Tiles(const WarpgroupSide& side) const {
    return (side.free.size + side.tile - 1) / side.tile;
  }
  int64_t BlocksOfBatch() const { return Tiles(lhs) * Tiles(rhs); }
  int64_t Blocks() const { return lhs.batch.size * BlocksOfBatch(); }
};

bool ChooseTypes(WarpgroupPlan& plan, ElementType result) {
  const ElementType x = plan.lhs.operand->shape().type, y = plan.rhs.operand->shape().type;
  plan.lhs.width = ByteWidth(x);
  plan.rhs.width = ByteWidth(y);
  if (IsByte(x) && IsByte(y)) {
    plan.sum_type = ElementType::kS32;
    return IsInteger(result) && !IsSubByte(result) && BitWidth(result) <= 32;
  }
  return x == y && (x == ElementType::kF16 || x == ElementType::kBF16) &&
         (IsNarrowFloat(result) || result == ElementType::kF32);
}

bool PlanLoads(WarpgroupSide& side) {
  const DimGroup* const fast = side.Fastest();
  if (fast == nullptr || fast->inner % side.piece() != 0) return false;
  side.along_free = fast == &side.free;
  return side.width == 2 || !side.along_free;
}

std::optional<WarpgroupPlan> PlanWarpgroupDot(const Expression& e) {
  const std::optional<DotSides> sides = SidesOfProduct(e);
  if (!sides.has_value()) return std::nullopt;
  WarpgroupPlan plan;
  static_cast<DotSide&>(plan.lhs) = sides->lhs;
  static_cast<DotSide&>(plan.rhs) = sides->rhs;
  if (!ChooseTypes(plan, e.subject->shape().type)) return std::nullopt;
  if (!PlanLoads(plan.lhs) || !PlanLoads(plan.rhs)) return std::nullopt;
  if (plan.terms() < plan.lhs.depth() || plan.Blocks() < kFewBlocks) return std::nullopt;
  plan.rhs.tile = 256;
  if (plan.rhs.free.size < 256 || plan.Blocks() < kFewBlocks) plan.rhs.tile = 128;
  if (std::min(plan.lhs.free.size, plan.rhs.free.size) < 64) return std::nullopt;
  return plan;
}

// Emits the work of one thread of a block.
class WarpgroupDotEmitter {
 public:
  WarpgroupDotEmitter(const WarpgroupPlan& plan, Builder& b, KernelArrays& arrays,
                      llvm::Value* unit)
      : plan_(plan),
        b_(b),
        group_(b, kBlockThreads, b.CreateAnd(unit, b.Index(kBlockThreads - 1))),
        batch_(b.CreateUDiv(unit, b.Index(kBlockThreads * plan.BlocksOfBatch()))),
        result_(b, plan.lhs, plan.rhs, arrays.result(0), plan.sum_type, batch_) {
    lhs_ = {&plan.lhs, arrays.operand(0)};
    rhs_ = {&plan.rhs, arrays.operand(1)};
    PlaceTiles(
        b.CreateURem(b.CreateUDiv(unit, b.Index(kBlockThreads)), b.Index(plan.BlocksOfBatch())));
    shared_ = MakeDynamicShared(b, kStages * (plan.lhs.bytes() + plan.rhs.bytes()));
    rhs_.begin = kStages * plan.lhs.bytes();
  }

  void Emit() {
    for (int64_t step = 0; step < kAhead; ++step) BeginLoads(b_.Index(step));
    const Values none(static_cast<size_t>(plan_.rhs.tile / 2), ZeroElement(b_, plan_.sum_type).re);
    Values sums =
        EmitLoopCarrying(b_, plan_.steps(), none, [&](llvm::Value* step, const Values& carried) {
          b_.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_wait_group, {},
                             {b_.getInt32(kAhead - 1)});
          Do("fence.proxy.async.shared::cta;");
          group_.Meet();
          BeginLoads(b_.CreateNSWAdd(step, b_.Index(kAhead)));
          Do("wgmma.fence.sync.aligned;");
          Values next = carried;
          for (int64_t byte = 0; byte < kGroupLineBytes; byte += kGroupStepBytes)
            next = Multiply(next, step, byte);
          Do("wgmma.commit_group.sync.aligned;");
          Do("wgmma.wait_group.sync.aligned 1;");
          return next;
        });
    sums = Apply("wgmma.wait_group.sync.aligned 0;", sums, {});
    Store(sums);
  }

 private:
  struct Tile {
    const WarpgroupSide* side = nullptr;
    ArrayRef array;
    llvm::Value* first = nullptr;  // along `free`
    int64_t begin = 0;             // of its stages in shared memory
  };

  // Tiles in bands of kBand rows: down the band, then to the next column.
  void PlaceTiles(llvm::Value* tile) {
    const int64_t rows = plan_.Tiles(plan_.lhs), columns = plan_.Tiles(plan_.rhs);
    llvm::Value* const band = b_.CreateUDiv(tile, b_.Index(kBand * columns));
    llvm::Value* const within = b_.CreateURem(tile, b_.Index(kBand * columns));
    llvm::Value* const first = Scale(b_, band, kBand);
    llvm::Value* const height = b_.CreateBinaryIntrinsic(
        llvm::Intrinsic::umin, b_.CreateNSWSub(b_.Index(rows), first), b_.Index(kBand));
    lhs_.first = Scale(b_, b_.CreateNSWAdd(first, b_.CreateURem(within, height)), plan_.lhs.tile);
    rhs_.first = Scale(b_, b_.CreateUDiv(within, height), plan_.rhs.tile);
  }

  void Do(absl::string_view code) {
    auto* const type = llvm::FunctionType::get(b_.getVoidTy(), false);
    b_.CreateCall(llvm::InlineAsm::get(type, AsStd(code), "~{memory}", /*hasSideEffects=*/true))
        ->addFnAttr(llvm::Attribute::Convergent);
  }

  // Code that changes all of `values` in their registers and reads `more`, 64 bits each. They are
  // its operands 0, 1, ..., and 2 * values.size(), ...
  Values Apply(const std::string& code, const Values& values,
               const std::vector<llvm::Value*>& more) {
    const char* const letter = values[0]->getType()->isFloatTy() ? "f" : "r";
    std::vector<std::string> constraints(values.size(), absl::StrCat("=", letter));
    for (size_t k = 0; k < values.size(); ++k) constraints.push_back(absl::StrCat(k));
    constraints.insert(constraints.end(), more.size(), "l");
    constraints.push_back("~{memory}");
    std::vector<llvm::Value*> operands = values;
    operands.insert(operands.end(), more.begin(), more.end());
    std::vector<llvm::Type*> types;
    for (llvm::Value* const operand : operands) types.push_back(operand->getType());
    auto* const results = llvm::StructType::get(
        b_.getContext(), std::vector<llvm::Type*>(values.size(), values[0]->getType()));
    llvm::CallInst* const call = b_.CreateCall(
        llvm::InlineAsm::get(llvm::FunctionType::get(results, types, false), code,
                             absl::StrJoin(constraints, ","), /*hasSideEffects=*/true),
        operands);
    call->addFnAttr(llvm::Attribute::Convergent);
    Values changed;
    for (unsigned k = 0; k < values.size(); ++k) changed.push_back(b_.CreateExtractValue(call, k));
    return changed;
  }

  // Begins to load the tiles of `step`, if there is one; a group of copies either way.
  void BeginLoads(llvm::Value* step) {
    EmitIf(b_, b_.CreateICmpULT(step, b_.Index(plan_.steps())), [&] {
      for (const Tile* tile : {&lhs_, &rhs_})
        for (int64_t line = 0; line < tile->side->tile; line += kLinesAtOnce)
          BeginLoad(*tile, step, line);
    });
    b_.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_commit_group, {}, {});
  }

  llvm::Value* LineOfThread() {
    return b_.CreateUDiv(group_.lane(), b_.Index(kGroupLineBytes / kPieceBytes));
  }
  llvm::Value* PieceOfThread() {
    return b_.CreateAnd(group_.lane(), b_.Index(kGroupLineBytes / kPieceBytes - 1));
  }

  // The thread's piece of line `line` and the 31 after it.
  void BeginLoad(const Tile& tile, llvm::Value* step, int64_t line) {
    const WarpgroupSide& side = *tile.side;
    const int64_t depth = side.depth();
    llvm::Value* const along = Scale(b_, PieceOfThread(), side.piece());
    llvm::Value* const number = b_.CreateNSWAdd(LineOfThread(), b_.Index(line));
    llvm::Value *free = number, *term = along;
    if (side.along_free) {  // lines of 64 rows each, for one k after the other
      free = b_.CreateNSWAdd(Scale(b_, b_.CreateUDiv(number, b_.Index(depth)), depth), along);
      term = b_.CreateURem(number, b_.Index(depth));
    }
    free = Inside(b_.CreateNSWAdd(tile.first, free), side.free.size,
                  side.along_free ? side.piece() : 1, side.tile);
    llvm::Value* const wanted = b_.CreateNSWAdd(Scale(b_, step, depth), term);
    term = Inside(wanted, plan_.terms(), side.along_free ? 1 : side.piece(), depth);
    const MatrixElement place = side.At(b_, batch_, free, term);
    llvm::Value* const element =
        LinearOffset(b_, ElementIndex::Multi(place.multi), tile.array.shape);
    llvm::Value* const from = b_.CreateAddrSpaceCast(
        b_.CreateInBoundsGEP(b_.getIntNTy(static_cast<unsigned>(8 * side.width)), tile.array.base,
                             element),
        b_.getPtrTy(1));
    llvm::Value* const swizzled = b_.CreateXor(PieceOfThread(), b_.CreateAnd(LineOfThread(), 7));
    llvm::Value* const to = SharedPlace(b_.CreateNSWAdd(
        StageOf(tile, step),
        b_.CreateNSWAdd(Scale(b_, number, kGroupLineBytes), Scale(b_, swizzled, kPieceBytes))));
    llvm::Value* is_there = place.inside;
    if (plan_.terms() % depth != 0) {
      llvm::Value* const is_term = b_.CreateICmpULT(wanted, b_.Index(plan_.terms()));
      is_there = is_there == nullptr ? is_term : b_.CreateAnd(is_there, is_term);
    }
    if (is_there == nullptr) {
      b_.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16, {}, {to, from});
      return;
    }
    llvm::Value* const bytes = b_.CreateSelect(is_there, b_.getInt32(kPieceBytes), b_.getInt32(0));
    b_.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16_s, {}, {to, from, bytes});
  }

  // `at`, or the last place from which `count` elements lie before `size`; tiles of `tile`.
  llvm::Value* Inside(llvm::Value* at, int64_t size, int64_t count, int64_t tile) {
    if (size % tile == 0) return at;
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, at, b_.Index(size - count));
  }

  // The first byte, in shared memory, of the stage of `step`.
  llvm::Value* StageOf(const Tile& tile, llvm::Value* step) {
    llvm::Value* const stage = b_.CreateAnd(step, b_.Index(kStages - 1));
    return b_.CreateNSWAdd(Scale(b_, stage, tile.side->bytes()), b_.Index(tile.begin));
  }

  llvm::Value* SharedPlace(llvm::Value* byte) {
    return b_.CreateInBoundsGEP(b_.getInt8Ty(), shared_, byte);
  }

  llvm::Value* Warp() { return b_.CreateUDiv(group_.lane(), b_.Index(32)); }

  // What the instruction takes for the matrix from row (column) `free` of the tile and byte `byte`
  // of k on.
  llvm::Value* Descriptor(const Tile& tile, llvm::Value* step, llvm::Value* free, int64_t byte) {
    const WarpgroupSide& side = *tile.side;
    // Bytes of a step along k; from one eight lines to the next; from 64 rows to the next.
    const int64_t along_k = side.along_free ? byte / side.width * kGroupLineBytes : byte;
    const uint64_t stride = 8 * kGroupLineBytes,
                   leading =
                       side.along_free ? static_cast<uint64_t>(side.depth() * kGroupLineBytes) : 16;
    const uint64_t fixed = leading / 16 << 16 | stride / 16 << 32 | uint64_t{1} << 62;
    llvm::Value* const offset = b_.CreateNSWAdd(
        StageOf(tile, step), b_.CreateNSWAdd(Scale(b_, free, kGroupLineBytes), b_.Index(along_k)));
    llvm::Value* const address = b_.CreatePtrToInt(SharedPlace(offset), b_.getInt64Ty());
    return b_.CreateOr(b_.CreateLShr(b_.CreateAnd(address, 0x3ffff), 4), fixed);
  }

  std::string Instruction() const {
    const auto name = [](const WarpgroupSide& side) { return Text(side.operand->shape().type); };
    const bool bytes = plan_.lhs.width == 1;
    const size_t count = static_cast<size_t>(plan_.rhs.tile / 2);
    std::vector<std::string> registers;
    for (size_t k = 0; k < count; ++k) registers.push_back(absl::StrCat("$", k));
    const std::string turned =
        absl::StrCat(", 1, 1, ", plan_.lhs.along_free ? 1 : 0, ", ", plan_.rhs.along_free ? 1 : 0);
    return absl::StrCat("{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n",
                        plan_.rhs.tile, "k", kGroupStepBytes / plan_.lhs.width,
                        bytes ? ".s32." : ".f32.", name(plan_.lhs), ".", name(plan_.rhs), " {",
                        absl::StrJoin(registers, ", "), "}, $", 2 * count, ", $", 2 * count + 1,
                        ", p", bytes ? "" : turned, "; }");
  }

  Values Multiply(const Values& sums, llvm::Value* step, int64_t byte) {
    llvm::Value* const row = Scale(b_, b_.CreateUDiv(Warp(), b_.Index(4)), kRowTile / 2);
    return Apply(Instruction(), sums,
                 {Descriptor(lhs_, step, row, byte), Descriptor(rhs_, step, b_.Index(0), byte)});
  }

  // A thread has two neighbours of row lane / 4 of its warp and two of the eighth row after it, and
  // the same of each eighth column.
  void Store(const Values& sums) {
    llvm::Value* const lane = b_.CreateAnd(group_.lane(), b_.Index(31));
    llvm::Value* const row = b_.CreateNSWAdd(
        lhs_.first, b_.CreateNSWAdd(Scale(b_, Warp(), 16), b_.CreateUDiv(lane, b_.Index(4))));
    llvm::Value* const column =
        b_.CreateNSWAdd(rhs_.first, Scale(b_, b_.CreateAnd(lane, b_.Index(3)), 2));
    for (int64_t half = 0; half < 2; ++half) {
      llvm::Value* const r = b_.CreateNSWAdd(row, b_.Index(8 * half));
      result_.IfRow(r, plan_.lhs.tile, [&] {
        for (int64_t j = 0; j < plan_.rhs.tile / 8; ++j)
          result_.StorePair(r, b_.CreateNSWAdd(column, b_.Index(8 * j)), plan_.rhs.tile,
                            &sums[static_cast<size_t>(4 * j + 2 * half)]);
      });
    }
  }

  const WarpgroupPlan& plan_;
  Builder& b_;
  ThreadGroup group_;
  llvm::Value* const batch_;
  DotResult result_;
  Tile lhs_, rhs_;
  llvm::Value* shared_ = nullptr;
};

}  // namespace

bool AddWarpgroupDotKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  return AddBlockKernel<WarpgroupDotEmitter>(PlanWarpgroupDot(request.expression), out);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
