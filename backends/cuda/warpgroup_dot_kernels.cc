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
// Sums of few terms have tiles of 128 x 128 and as many stages as steps, up to three: then several
// blocks fit a multiprocessor, and one multiplies while others load and store. Results of two bytes
// go back through shared memory, a warp's 16 rows at a time, so that stores are whole rows of 16
// bytes a thread.
//
// Few tiles with many terms are split along k: each block has a segment of the steps and writes its
// sums to scratch memory as it has them in registers; a second kernel adds the segments in their
// order and stores the result, so that every run has the same bits.
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
constexpr int64_t kMaxStages = 4;
constexpr int64_t kFewSteps = 8, kFewStages = 3;
constexpr int64_t kGroupLineBytes = 128;
constexpr int64_t kPieceBytes = 16;
constexpr int64_t kGroupStepBytes = 32;  // of one instruction along k
constexpr int64_t kLinesAtOnce = kBlockThreads * kPieceBytes / kGroupLineBytes;
constexpr int64_t kBand = 8;         // rows of tiles that are walked together
constexpr int64_t kFewBlocks = 64;   // half as many as a device has multiprocessors
constexpr int64_t kMinSegment = 4;   // steps of a block where dots are split along k
constexpr int64_t kPartColumns = 2;  // eighths of columns of a block of the second kernel

struct WarpgroupSide : DotSide {
  int64_t width = 2;  // bytes of an element
  int64_t tile = kRowTile;
  bool along_free = false;

  int64_t depth() const { return kGroupLineBytes / width; }
  int64_t piece() const { return kPieceBytes / width; }
  int64_t bytes() const { return tile * kGroupLineBytes; }  // of a stage
};

struct WarpgroupPlan {
  Expression e;
  WarpgroupSide lhs, rhs;
  ElementType sum_type = ElementType::kF32;

  int64_t stages = kMaxStages;
  int64_t segments = 1;

  int64_t terms() const { return lhs.summed.size; }
  int64_t steps() const { return (terms() + lhs.depth() - 1) / lhs.depth(); }
  int64_t segment() const { return (steps() + segments - 1) / segments; }  // steps of the longest
  // Tiles loaded before they are multiplied: where there are more steps than stages, the slower
  // group of warps still reads the one before.
  int64_t ahead() const { return segment() <= stages ? segment() : stages - 2; }
  int64_t Tiles(const WarpgroupSide& side) const {
    return (side.free.size + side.tile - 1) / side.tile;
  }
  int64_t TilesOfBatch() const { return Tiles(lhs) * Tiles(rhs); }
  int64_t AllTiles() const { return lhs.batch.size * TilesOfBatch(); }
  int64_t Blocks() const { return segments * AllTiles(); }
  int64_t Sums() const { return rhs.tile / 2; }  // of a thread
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
  plan.e = e;
  static_cast<DotSide&>(plan.lhs) = sides->lhs;
  static_cast<DotSide&>(plan.rhs) = sides->rhs;
  if (!ChooseTypes(plan, ProductOf(e)->shape().type)) return std::nullopt;
  if (!PlanLoads(plan.lhs) || !PlanLoads(plan.rhs)) return std::nullopt;
  if (plan.terms() < plan.lhs.depth()) return std::nullopt;
  plan.rhs.tile = 256;
  if (plan.rhs.free.size < 256 || plan.AllTiles() < kFewBlocks || plan.steps() <= kFewSteps)
    plan.rhs.tile = 128;
  if (std::min(plan.lhs.free.size, plan.rhs.free.size) < 64) return std::nullopt;
  if (plan.AllTiles() < kFewBlocks)
    plan.segments = std::min(kManyBlocks / plan.AllTiles(), plan.steps() / kMinSegment);
  if (plan.segments == 0 || plan.Blocks() < kFewBlocks) return std::nullopt;
  plan.segments = (plan.steps() + plan.segment() - 1) / plan.segment();  // none is empty
  if (plan.segment() <= kFewSteps) plan.stages = std::min(plan.segment(), kFewStages);
  return plan;
}

// Which tile of the result a block has: in bands of kBand rows, down the band, then to the next
// column.
struct TilePlace {
  llvm::Value *batch = nullptr, *row = nullptr, *column = nullptr;  // the first ones

  TilePlace(const WarpgroupPlan& plan, Builder& b, llvm::Value* number)
      : batch(b.CreateUDiv(number, b.Index(plan.TilesOfBatch()))) {
    llvm::Value* const tile = b.CreateURem(number, b.Index(plan.TilesOfBatch()));
    const int64_t rows = plan.Tiles(plan.lhs), columns = plan.Tiles(plan.rhs);
    llvm::Value* const band = b.CreateUDiv(tile, b.Index(kBand * columns));
    llvm::Value* const within = b.CreateURem(tile, b.Index(kBand * columns));
    llvm::Value* const first = Scale(b, band, kBand);
    llvm::Value* const height = b.CreateBinaryIntrinsic(
        llvm::Intrinsic::umin, b.CreateNSWSub(b.Index(rows), first), b.Index(kBand));
    row = Scale(b, b.CreateNSWAdd(first, b.CreateURem(within, height)), plan.lhs.tile);
    column = Scale(b, b.CreateUDiv(within, height), plan.rhs.tile);
  }
};

// Where a thread's sums belong: two neighbours of row lane / 4 of its warp and two of the eighth
// row after it, and the same of each eighth column.
struct Fragment {
  llvm::Value *lane = nullptr, *row = nullptr, *column = nullptr;  // in the tile

  Fragment(Builder& b, llvm::Value* thread)
      : lane(b.CreateAnd(thread, b.Index(kWarp - 1))),
        row(b.CreateNSWAdd(Scale(b, b.CreateUDiv(thread, b.Index(kWarp)), 16),
                           b.CreateUDiv(lane, b.Index(4)))),
        column(Scale(b, b.CreateAnd(lane, b.Index(3)), 2)) {}
};

// Stores sums j, j + 1, ... of each half, from eighth column `first` on: `sums` of two halves.
void StoreSums(const WarpgroupPlan& plan, Builder& b, DotResult& result, const TilePlace& tile,
               const Fragment& fragment, llvm::Value* first, const Values& sums) {
  llvm::Value* const row = b.CreateNSWAdd(tile.row, fragment.row);
  llvm::Value* const column =
      b.CreateNSWAdd(b.CreateNSWAdd(tile.column, fragment.column), Scale(b, first, 8));
  for (int64_t half = 0; half < 2; ++half) {
    llvm::Value* const r = b.CreateNSWAdd(row, b.Index(8 * half));
    result.IfRow(r, plan.lhs.tile, [&] {
      for (size_t j = 0; j < sums.size() / 4; ++j)
        result.StorePair(r, b.CreateNSWAdd(column, b.Index(static_cast<int64_t>(8 * j))),
                         plan.rhs.tile, &sums[4 * j + 2 * static_cast<size_t>(half)]);
    });
  }
}

// Sum `k` of thread `thread` of tile `tile` in segment `segment`, in scratch memory.
llvm::Value* ScratchPlace(const WarpgroupPlan& plan, Builder& b, llvm::Value* segment,
                          llvm::Value* tile, llvm::Value* k, llvm::Value* thread) {
  llvm::Value* const base =
      MakeScratch(b, plan.Blocks() * plan.Sums() * kBlockThreads * int64_t{4});
  llvm::Value* at = b.CreateNSWAdd(Scale(b, segment, plan.AllTiles()), tile);
  at = b.CreateNSWAdd(Scale(b, at, plan.Sums()), k);
  at = b.CreateNSWAdd(Scale(b, b.CreateZExt(at, b.getInt64Ty()), kBlockThreads), thread);
  return b.CreateInBoundsGEP(b.getInt32Ty(), base, at);
}

// Emits the work of one thread of a block.
class WarpgroupDotEmitter {
 public:
  WarpgroupDotEmitter(const WarpgroupPlan& plan, Builder& b, KernelArrays& arrays,
                      llvm::Value* unit)
      : plan_(plan),
        b_(b),
        group_(b, kBlockThreads, b.CreateAnd(unit, b.Index(kBlockThreads - 1))),
        block_(b.CreateUDiv(unit, b.Index(kBlockThreads))),
        tile_(b.CreateURem(block_, b.Index(plan.AllTiles()))),
        place_(plan, b, tile_),
        result_(b, plan.e, plan.lhs, plan.rhs, arrays, plan.sum_type, place_.batch) {
    lhs_ = {&plan.lhs, arrays.operand(plan.lhs.array), place_.row, 0};
    rhs_ = {&plan.rhs, arrays.operand(plan.rhs.array), place_.column,
            plan.stages * plan.lhs.bytes()};
    turns_ = plan.segments == 1 && result_.HasRuns(kPieceBytes / 2) &&
             ByteWidth(arrays.result(0).shape.type) == 2 && (!result_.is_finished() || IsEven());
    const int64_t stages = plan.stages * (plan.lhs.bytes() + plan.rhs.bytes());
    shared_ = MakeDynamicShared(b, std::max(stages, turns_ ? 4 * kRowTile * LineWords() : 0));
    if (plan.segments == 1) return;
    segment_ = b.CreateUDiv(block_, b.Index(plan.AllTiles()));
    first_ = Scale(b, segment_, plan.segment());
  }

  void Emit() {
    const int64_t ahead = plan_.ahead();
    for (int64_t step = 0; step < ahead; ++step) BeginLoads(b_.Index(step));
    const Values none(static_cast<size_t>(plan_.Sums()), ZeroElement(b_, plan_.sum_type).re);
    Values sums = EmitLoopCarrying(
        b_, b_.Index(0), Steps(), none, [&](llvm::Value* step, const Values& carried) {
          b_.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_wait_group, {},
                             {b_.getInt32(static_cast<uint32_t>(ahead - 1))});
          Do("fence.proxy.async.shared::cta;");
          group_.Meet();
          BeginLoads(b_.CreateNSWAdd(step, b_.Index(ahead)));
          Do("wgmma.fence.sync.aligned;");
          Values next = carried;
          for (int64_t byte = 0; byte < kGroupLineBytes; byte += kGroupStepBytes)
            next = Multiply(next, step, byte);
          Do("wgmma.commit_group.sync.aligned;");
          Do("wgmma.wait_group.sync.aligned 1;");
          return next;
        });
    sums = Apply("wgmma.wait_group.sync.aligned 0;", sums, {});
    const Fragment fragment(b_, group_.lane());
    if (plan_.segments > 1)
      StoreSegment(sums);
    else if (turns_)
      StoreRows(fragment, sums);
    else
      StoreSums(plan_, b_, result_, place_, fragment, b_.Index(0), sums);
  }

 private:
  struct Tile {
    const WarpgroupSide* side = nullptr;
    ArrayRef array;
    llvm::Value* first = nullptr;  // along `free`
    int64_t begin = 0;             // of its stages in shared memory
  };

  // Of this block.
  llvm::Value* Steps() {
    if (plan_.segments == 1) return b_.Index(plan_.steps());
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.Index(plan_.segment()),
                                    b_.CreateNSWSub(b_.Index(plan_.steps()), first_));
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

  // Begins to load the tiles of step `step` of the block, if there is one; a group of copies either
  // way.
  void BeginLoads(llvm::Value* step) {
    EmitIf(b_, b_.CreateICmpULT(step, Steps()), [&] {
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
    llvm::Value* const of_all = first_ == nullptr ? step : b_.CreateNSWAdd(first_, step);
    llvm::Value* const wanted = b_.CreateNSWAdd(Scale(b_, of_all, depth), term);
    term = Inside(wanted, plan_.terms(), side.along_free ? 1 : side.piece(), depth);
    const MatrixElement place = side.At(b_, place_.batch, free, term);
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
    llvm::Value* const stage = b_.CreateURem(step, b_.Index(plan_.stages));
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
    const auto count = static_cast<size_t>(plan_.Sums());
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

  void StoreSegment(const Values& sums) {
    for (size_t k = 0; k < sums.size(); ++k)
      b_.CreateStore(ToWords(b_, sums[k]),
                     ScratchPlace(plan_, b_, segment_, tile_, b_.Index(static_cast<int64_t>(k)),
                                  group_.lane()));
  }

  // Whether every place of a tile is one of the result, and there is one result.
  bool IsEven() const {
    return plan_.e.roots.size() == 1 && plan_.lhs.free.size % plan_.lhs.tile == 0 &&
           plan_.rhs.free.size % plan_.rhs.tile == 0;
  }

  // Words of a row of the result in shared memory: eight rows begin in different banks.
  int64_t LineWords() const { return plan_.rhs.tile / 2 + 4; }

  // Each warp writes its rows to shared memory and reads them back in pieces of 16 bytes.
  void StoreRows(const Fragment& fragment, const Values& sums) {
    group_.Meet();  // the last tiles have been read
    const ElementType type = result_.type();
    const auto bits = [&](llvm::Value* row, llvm::Value* column, llvm::Value* sum) {
      return ToWords(b_, ToMemoryForm(b_, type, result_.Finished(row, column, sum)[0]));
    };
    for (size_t k = 0; k < sums.size(); k += 2) {
      const auto half = static_cast<int64_t>(k / 2 % 2), eighth = static_cast<int64_t>(k / 4);
      llvm::Value* const row = b_.CreateNSWAdd(fragment.row, b_.Index(8 * half));
      llvm::Value* const at =
          b_.CreateNSWAdd(Scale(b_, row, LineWords()),
                          b_.CreateNSWAdd(b_.CreateLShr(fragment.column, 1), b_.Index(4 * eighth)));
      llvm::Value* const to = b_.CreateNSWAdd(place_.row, row);
      llvm::Value* const column =
          b_.CreateNSWAdd(b_.CreateNSWAdd(place_.column, fragment.column), b_.Index(8 * eighth));
      llvm::Value* const low = bits(to, column, sums[k]);
      llvm::Value* const high = bits(to, b_.CreateNSWAdd(column, b_.Index(1)), sums[k + 1]);
      b_.CreateStore(b_.CreateOr(low, b_.CreateShl(high, 16)), SharedPlace(Scale(b_, at, 4)));
    }
    b_.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {}, {b_.getInt32(0xffffffffu)});
    StoreWarpRows(fragment);
  }

  void StoreWarpRows(const Fragment& fragment) {
    const int64_t pieces = plan_.rhs.tile * 2 / kPieceBytes, rows = kWarp / pieces;
    llvm::Value* const piece = b_.CreateURem(fragment.lane, b_.Index(pieces));
    llvm::Value* const first =
        b_.CreateNSWAdd(Scale(b_, Warp(), 16), b_.CreateUDiv(fragment.lane, b_.Index(pieces)));
    llvm::Value* const column = b_.CreateNSWAdd(place_.column, Scale(b_, piece, kPieceBytes / 2));
    auto* const words = llvm::FixedVectorType::get(b_.getInt32Ty(), 4);
    result_.IfColumn(column, plan_.rhs.tile, [&] {
      for (int64_t k = 0; k < 16; k += rows) {
        llvm::Value* const row = b_.CreateNSWAdd(first, b_.Index(k));
        llvm::Value* const from = SharedPlace(
            b_.CreateNSWAdd(Scale(b_, row, 4 * LineWords()), Scale(b_, piece, kPieceBytes)));
        llvm::Value* const loaded = b_.CreateAlignedLoad(words, from, llvm::Align(kPieceBytes));
        llvm::Value* const to = b_.CreateNSWAdd(place_.row, row);
        result_.IfRow(to, plan_.lhs.tile, [&] {
          b_.CreateAlignedStore(loaded, result_.AddressOf(to, column), llvm::Align(kPieceBytes));
        });
      }
    });
  }

  const WarpgroupPlan& plan_;
  Builder& b_;
  ThreadGroup group_;
  llvm::Value *const block_, *const tile_;
  const TilePlace place_;
  DotResult result_;
  Tile lhs_, rhs_;
  bool turns_ = false;                                 // whether results go through shared memory
  llvm::Value *segment_ = nullptr, *first_ = nullptr;  // of several: its number, its first step
  llvm::Value* shared_ = nullptr;
};

// Adds the segments of a dot that is split along k: a block has kPartColumns eighths of a tile's
// columns, a thread the places that it has in the first kernel.
struct SegmentSumPlan : WarpgroupPlan {
  int64_t Parts() const { return rhs.tile / 8 / kPartColumns; }
  int64_t Blocks() const { return AllTiles() * Parts(); }
};

class SegmentSumEmitter {
 public:
  SegmentSumEmitter(const SegmentSumPlan& plan, Builder& b, KernelArrays& arrays, llvm::Value* unit)
      : plan_(plan),
        b_(b),
        thread_(b.CreateAnd(unit, b.Index(kBlockThreads - 1))),
        tile_(b.CreateUDiv(unit, b.Index(kBlockThreads * plan.Parts()))),
        part_(b.CreateURem(b.CreateUDiv(unit, b.Index(kBlockThreads)), b.Index(plan.Parts()))),
        place_(plan, b, tile_),
        result_(b, plan.e, plan.lhs, plan.rhs, arrays, plan.sum_type, place_.batch) {}

  void Emit() {
    Values sums;
    for (int64_t k = 0; k < 4 * kPartColumns; ++k) sums.push_back(Sum(k));
    StoreSums(plan_, b_, result_, place_, Fragment(b_, thread_), Scale(b_, part_, kPartColumns),
              sums);
  }

 private:
  llvm::Value* Sum(int64_t k) {
    const bool is_float = IsFloat(plan_.sum_type);
    llvm::Type* const type = is_float ? b_.getFloatTy() : llvm::Type::getInt32Ty(b_.getContext());
    llvm::Value* const number = b_.CreateNSWAdd(Scale(b_, part_, 4 * kPartColumns), b_.Index(k));
    llvm::Value* sum = nullptr;
    for (int64_t segment = 0; segment < plan_.segments; ++segment) {
      llvm::Value* const part =
          b_.CreateLoad(type, ScratchPlace(plan_, b_, b_.Index(segment), tile_, number, thread_));
      if (sum == nullptr)
        sum = part;
      else
        sum = is_float ? b_.CreateFAdd(sum, part) : b_.CreateAdd(sum, part);
    }
    return sum;
  }

  const SegmentSumPlan& plan_;
  Builder& b_;
  llvm::Value *const thread_, *const tile_, *const part_;
  const TilePlace place_;
  DotResult result_;
};

}  // namespace

bool AddWarpgroupDotKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const std::optional<WarpgroupPlan> plan = PlanWarpgroupDot(request.expression);
  if (!AddBlockKernel<WarpgroupDotEmitter>(plan, out)) return false;
  if (plan->segments > 1)
    AddBlockKernel<SegmentSumEmitter>(std::make_optional(SegmentSumPlan{*plan}), out);
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
