// Attention: r = softmax(q * k) * v of bf16[12,128,64], 32 rows of one head a block.
//
//   for each 64 keys:  s[32][64 of 128] = q[32 rows] * k, rounded as the program says
//   barrier;  a warp (less, of short rows) a row of s:  maximum, exp, sum, quotient -> p in its
//   place barrier;  for each 64 columns of v:  r[32 rows] = p * v
//
// Scores never leave shared memory. The work on rows is whatever row_kernels.cc computes of rows
// that stay in registers, each element read once; products are those of tensor_tile.cc and
// dot_tile.cc: on tensor cores for f16 and bf16, of everything else exact, term by term. Lines of
// scores end with 16 spare bytes, so that neighbouring lines lie in different banks, and those of p
// with zeros up to a whole step of the second product.
//
// Blocks take 64 rows, fewer where their scores have no room or blocks would be few. No atomics,
// and an order of sums that depends on shapes alone: the same bits every run.
#include "backends/cuda/attention_kernels.h"

#include <algorithm>

#include "absl/numeric/bits.h"
#include "analysis/attention_rows.h"
#include "backends/cuda/block_kernel.h"
#include "backends/cuda/dot_tile_internal.h"
#include "backends/cuda/row_emitter_internal.h"
#include "backends/cuda/tensor_tile_internal.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxRows = 64, kMinRows = 16;  // of a block
constexpr int64_t kColumns = 64;                 // of a tile of either product
constexpr int64_t kStepBytes = 64;               // of p that a step of the product reads
constexpr int64_t kSpareLineBytes = 16;

// What a device has for it.
struct AttentionTarget {
  // Of scores, beside up to 30 KiB of tiles: every device from sm_80 on gives a block 99 KiB.
  int64_t score_bytes = 65 << 10;
};
constexpr AttentionTarget kOnAmpere, kOnHopper = {.score_bytes = 160 << 10};  // of 227 KiB
constexpr int64_t kWideScoreBytes = 55 << 10;  // beside tiles of twice as many columns

int64_t RoundUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

// One of the two products, in one of two ways. The left side has the rows of the attention.
struct AttentionProduct {
  Expression e;
  DotSides sides;  // as the dot has them
  bool on_tensor_cores = false;
  TensorTilePlan tensor;
  DotTilePlan plain;

  ElementType sum_type() const { return on_tensor_cores ? tensor.sum_type : plain.sum_type; }
  int64_t columns() const { return on_tensor_cores ? tensor.rhs.tile : plain.rhs.tile; }
};

struct AttentionPlan {
  Expression e;
  AttentionRows form;
  GroupRows rows;
  AttentionProduct scores, product;
  int64_t block_rows = kMaxRows;

  int64_t batches() const { return scores.sides.lhs.batch.size; }
  int64_t batch_rows() const { return form.form.rows / batches(); }
  int64_t BlocksOfBatch() const { return (batch_rows() + block_rows - 1) / block_rows; }
  int64_t Blocks() const { return batches() * BlocksOfBatch(); }
  ElementType score_type() const { return form.scores->shape().type; }
  ElementType weight_type() const { return form.probabilities->shape().type; }
  int64_t line_bytes() const {
    const int64_t width = std::max(ByteWidth(score_type()), ByteWidth(weight_type()));
    return RoundUp(form.form.length * width, kStepBytes) + kSpareLineBytes;
  }
};

// The expression that a dot is, and its sides. `turned`: rows are on the right.
AttentionProduct ProductOfDot(const Instruction* dot, bool turned) {
  AttentionProduct product;
  product.e.subject = dot;
  product.e.roots = {dot};
  product.e.root_leaves = {0};
  product.e.shapes = {dot->shape()};
  product.sides = *SidesOfProduct(product.e);
  for (DotSide* side : {&product.sides.lhs, &product.sides.rhs})
    if (side->operand->IsParameter()) side->array = side->operand->parameter_number();
  const DotSide& rows = turned ? product.sides.rhs : product.sides.lhs;
  const DotSide& columns = turned ? product.sides.lhs : product.sides.rhs;
  static_cast<DotSide&>(product.tensor.lhs) = static_cast<DotSide&>(product.plain.lhs) = rows;
  static_cast<DotSide&>(product.tensor.rhs) = static_cast<DotSide&>(product.plain.rhs) = columns;
  return product;
}

// A warp takes at least eight columns: with 16 rows, all eight of the block lie along them.
void PlanProductTiles(AttentionProduct& product, int64_t rows, bool has_room) {
  const ElementType result = product.e.shapes[0].type;
  TensorTilePlan& tensor = product.tensor;
  const int64_t columns = tensor.rhs.free.size;
  const bool few_rows = rows == kMinRows, wide = few_rows && columns > kColumns && has_room;
  tensor.lhs.tile = rows;
  tensor.warps_of_rows = few_rows ? 1 : 2;
  tensor.rhs.tile = !few_rows && columns <= kMinTensorTile ? kMinTensorTile : kColumns;
  if (wide) tensor.rhs.tile = 2 * kColumns;
  product.on_tensor_cores = tensor.ChooseTypes(result);
  if (product.on_tensor_cores) {
    PlanTensorLoads(tensor.lhs);
    PlanTensorLoads(tensor.rhs);
    return;
  }
  DotTilePlan& plain = product.plain;
  if (!IsNarrowFloat(result)) plain.sum_type = result;
  plain.lhs.tile = rows;
  plain.rhs.tile = DotTileOf(columns);
  PlanTileLoads(plain.lhs, plain.depth);
  PlanTileLoads(plain.rhs, plain.depth);
}

// Rows in the registers of a warp or a part of it.
void PlanWarpRows(AttentionPlan& plan) {
  GroupRows& rows = plan.rows;
  rows.e = plan.e;
  rows.e.roots = {plan.form.probabilities};
  rows.e.root_leaves = {0};
  rows.e.shapes = {plan.form.probabilities->shape()};
  rows.form = plan.form.form;
  rows.full_roots = {0};
  rows.vector = 4;
  while (rows.form.length % rows.vector != 0) rows.vector /= 2;
  const int64_t vectors = rows.form.length / rows.vector;
  rows.threads =
      std::clamp<int64_t>(absl::bit_ceil(static_cast<uint64_t>(vectors)), kWarp / kMinRows, kWarp);
  rows.kept = true;
}

std::optional<AttentionPlan> PlanAttention(const Expression& e, const AttentionTarget& target) {
  const std::optional<AttentionRows> form = FindAttentionRowsFusion(*e.subject);
  if (!form.has_value()) return std::nullopt;
  AttentionPlan plan;
  plan.e = e;
  plan.form = *form;
  plan.scores = ProductOfDot(form->scores, /*turned=*/false);
  plan.product = ProductOfDot(form->product, /*turned=*/form->side == 1);
  while (plan.block_rows > kMinRows &&
         (plan.block_rows / 2 >= plan.batch_rows() || plan.Blocks() < kManyBlocks ||
          plan.block_rows * plan.line_bytes() > target.score_bytes))
    plan.block_rows /= 2;
  const bool has_room = plan.block_rows * plan.line_bytes() <= kWideScoreBytes;
  PlanProductTiles(plan.scores, plan.block_rows, has_room);
  PlanProductTiles(plan.product, plan.block_rows, has_room);
  PlanWarpRows(plan);
  return plan;
}

// A block's lines of scores, then of what is made of them.
class ScoreLines {
 public:
  ScoreLines(Builder& b, llvm::Value* base, int64_t line_bytes)
      : b_(b), base_(base), line_bytes_(line_bytes) {}

  SharedRows rows(ElementType type) const { return {base_, line_bytes_, type}; }
  llvm::Value* At(ElementType type, llvm::Value* row, llvm::Value* column) const {
    llvm::Value* const byte =
        b_.CreateNSWAdd(Scale(b_, row, line_bytes_), Scale(b_, column, ByteWidth(type)));
    return b_.CreateInBoundsGEP(b_.getInt8Ty(), base_, byte);
  }
  void Store(ElementType type, llvm::Value* row, llvm::Value* column, const ScalarValue& value) {
    b_.CreateStore(ToMemoryForm(b_, type, value), At(type, row, column));
  }
  // Neighbours in the form of memory, the first at a multiple of their number, at most 16 bytes
  // each.
  void StoreTogether(ElementType type, llvm::Value* row, llvm::Value* column,
                     const Values& elements) {
    const size_t most = std::min<size_t>(elements.size(), 16 / ByteWidth(type));
    for (size_t first = 0; first < elements.size(); first += most) {
      llvm::Value* all = llvm::PoisonValue::get(
          llvm::FixedVectorType::get(elements[0]->getType(), static_cast<unsigned>(most)));
      for (size_t k = 0; k < most; ++k)
        all = b_.CreateInsertElement(all, elements[first + k], static_cast<uint64_t>(k));
      llvm::Value* const at = b_.CreateNSWAdd(column, b_.Index(static_cast<int64_t>(first)));
      b_.CreateAlignedStore(all, At(type, row, at), llvm::Align(most * ByteWidth(type)));
    }
  }
  ScalarValue Load(ElementType type, llvm::Value* row, llvm::Value* column) {
    const ArrayRef place{At(type, row, column), Shape::Array(type, {1})};
    return LoadFrom(b_, place, ElementIndex::Linear(b_.Index(0)));
  }

 private:
  Builder& b_;
  llvm::Value* const base_;
  const int64_t line_bytes_;
};

// One row of scores by its threads, in its place.
class ScoreRowEmitter final : public GroupRowEmitter {
 public:
  // `line`: of the block's.
  ScoreRowEmitter(const AttentionPlan& plan, ElementEmitter& emitter, ScoreLines& lines,
                  llvm::Value* lane, llvm::Value* row, llvm::Value* line)
      : GroupRowEmitter(plan.rows, emitter, lane, row, emitter.builder().getTrue()),
        plan_(plan),
        lines_(lines),
        lane_(lane),
        line_(line) {
    const Shape& scores = plan.form.scores->shape();
    emitter.BindRounded(plan.form.scores, [this, &emitter, &scores](const ElementIndex& index) {
      const ScalarValue score = lines_.Load(scores.type, line_, PlaceOf(index, scores));
      return EmitConvert(builder(), scores.type, emitter.TypeOf(scores), score);
    });
  }

  // Zeros up to the end of the last step that reads the line.
  void StoreZeros() {
    const ElementType type = plan_.weight_type();
    const int64_t length = plan_.form.form.length;
    const int64_t past = RoundUp(length, kStepBytes / ByteWidth(type)) - length;
    Builder& b = builder();
    for (int64_t first = 0; first < past; first += plan_.rows.threads) {
      llvm::Value* const number = b.CreateNSWAdd(lane_, b.Index(first));
      EmitIf(b, b.CreateICmpULT(number, b.Index(past)), [&] {
        lines_.Store(type, line_, b.CreateNSWAdd(number, b.Index(length)), ZeroElement(b, type));
      });
    }
  }

 private:
  void BeginStores() override {
    // All lanes have read the scores that lie where others store.
    ThreadGroup(builder(), plan_.rows.threads, lane_).Meet();
  }
  void StoreElement(size_t, const ElementIndex& index, const ScalarValue& value) override {
    const Shape& shape = plan_.form.probabilities->shape();
    lines_.Store(shape.type, line_, PlaceOf(index, shape), value);
  }

  llvm::Value* PlaceOf(const ElementIndex& index, const Shape& shape) {
    Builder& b = builder();
    return b.CreateNSWSub(LinearOffset(b, index, shape), Scale(b, row(), plan_.form.form.length));
  }

  const AttentionPlan& plan_;
  ScoreLines& lines_;
  llvm::Value *const lane_, *const line_;
};

// Emits the work of one thread of a block.
class AttentionEmitter {
 public:
  AttentionEmitter(const AttentionPlan& plan, Builder& b, KernelArrays& arrays, llvm::Value* unit)
      : plan_(plan),
        b_(b),
        arrays_(arrays),
        emitter_(b),
        thread_(b.CreateAnd(unit, b.Index(kBlockThreads - 1))),
        group_(b, kBlockThreads, thread_),
        lines_(b, MakeDynamicShared(b, plan.block_rows * plan.line_bytes()), plan.line_bytes()) {
    emitter_.set_excess(true);
    BindLeaves(emitter_, plan.e, arrays);
    llvm::Value* const block = b.CreateUDiv(unit, b.Index(kBlockThreads));
    batch_ = b.CreateUDiv(block, b.Index(plan.BlocksOfBatch()));
    first_row_ = Scale(b, b.CreateURem(block, b.Index(plan.BlocksOfBatch())), plan.block_rows);
  }

  void Emit() {
    EmitProduct(plan_.scores, {}, [&](llvm::Value* row, llvm::Value* column, const Values& sums) {
      StoreScores(b_.CreateNSWSub(row, first_row_), column, sums);
    });
    group_.Meet();
    EmitRows();
    group_.Meet();
    const AttentionProduct& product = plan_.product;
    DotResult result(b_, product.e, product.sides.lhs, product.sides.rhs, arrays_,
                     product.sum_type(), batch_);
    EmitProduct(product, lines_.rows(plan_.weight_type()),
                [&](llvm::Value* row, llvm::Value* column, const Values& sums) {
                  StoreResults(result, row, column, sums);
                });
  }

 private:
  // Takes neighbours of a row of a product's tile.
  using TakeSums =
      absl::FunctionRef<void(llvm::Value* row, llvm::Value* column, const Values& sums)>;

  // All columns of the block's rows of a product.
  void EmitProduct(const AttentionProduct& product, const SharedRows& rows, TakeSums take) {
    const int64_t columns = product.columns();
    const int64_t tiles = (product.plain.rhs.free.size + columns - 1) / columns;
    if (product.on_tensor_cores) {
      TensorTile tile(product.tensor, b_, thread_, batch_, ArrayOf(product.tensor.lhs),
                      ArrayOf(product.tensor.rhs), rows);
      EmitLoop(b_, tiles, [&](llvm::Value* number) {
        const Values sums = tile.Sums(first_row_, Scale(b_, number, columns));
        tile.Visit(sums, [&](llvm::Value* row, absl::Span<const TensorTile::Pair> pairs) {
          for (const TensorTile::Pair& pair : pairs)
            take(row, pair.column, {pair.sums[0], pair.sums[1]});
        });
      });
      return;
    }
    DotTile tile(product.plain, b_, emitter_, thread_, batch_, rows);
    EmitLoop(b_, tiles, [&](llvm::Value* number) {
      emitter_.BeginScope();
      const Values sums = tile.Sums(first_row_, Scale(b_, number, columns));
      const int64_t across = product.plain.rhs.per_thread();
      for (int64_t k = 0; k < product.plain.lhs.per_thread(); ++k)
        take(b_.CreateNSWAdd(tile.FirstRow(), b_.Index(k)), tile.FirstColumn(),
             Values(sums.begin() + k * across, sums.begin() + (k + 1) * across));
      emitter_.EndScope();
    });
  }

  ArrayRef ArrayOf(const DotSide& side) {
    return side.operand->IsParameter() ? arrays_.operand(side.array) : ArrayRef();
  }

  // As far as there are such keys.
  void StoreScores(llvm::Value* line, llvm::Value* column, const Values& sums) {
    const AttentionProduct& scores = plan_.scores;
    const int64_t keys = plan_.form.form.length;
    const auto count = static_cast<int64_t>(sums.size());  // `column` is a multiple of it
    const int64_t together = keys % count == 0 ? count : 1;
    for (int64_t k = 0; k < count; k += together) {
      llvm::Value* const at = b_.CreateNSWAdd(column, b_.Index(k));
      const auto store = [&] {
        Values elements;
        for (int64_t n = k; n < k + together; ++n)
          elements.push_back(
              ToMemoryForm(b_, plan_.score_type(),
                           EmitConvert(b_, scores.sum_type(), plan_.score_type(), {sums[n]})));
        lines_.StoreTogether(plan_.score_type(), line, at, elements);
      };
      if (keys % scores.columns() == 0)
        store();
      else
        EmitIf(b_, b_.CreateICmpULT(at, b_.Index(keys)), store);
    }
  }

  // Each group of threads takes a line after another; whole warps have none.
  void EmitRows() {
    const int64_t threads = plan_.rows.threads, groups = kBlockThreads / threads;
    llvm::Value* const group = b_.CreateUDiv(thread_, b_.Index(threads));
    if (groups > plan_.block_rows)
      return EmitIf(b_, b_.CreateICmpULT(group, b_.Index(plan_.block_rows)),
                    [&] { EmitRow(group); });
    EmitLoop(b_, plan_.block_rows / groups,
             [&](llvm::Value* step) { EmitRow(b_.CreateNSWAdd(Scale(b_, step, groups), group)); });
  }

  // Lines past the last row are those of the last row, to no end.
  void EmitRow(llvm::Value* line) {
    emitter_.BeginScope();
    llvm::Value* row = b_.CreateNSWAdd(first_row_, line);
    if (plan_.batch_rows() % plan_.block_rows != 0)
      row = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, row, b_.Index(plan_.batch_rows() - 1));
    row = b_.CreateNSWAdd(row, Scale(b_, batch_, plan_.batch_rows()));
    llvm::Value* const lane = b_.CreateAnd(thread_, b_.Index(plan_.rows.threads - 1));
    ScoreRowEmitter rows(plan_, emitter_, lines_, lane, row, line);
    rows.Emit();
    rows.StoreZeros();
    emitter_.EndScope();
  }

  void StoreResults(DotResult& result, llvm::Value* row, llvm::Value* column, const Values& sums) {
    const int64_t rows = plan_.block_rows, columns = plan_.product.columns();
    for (size_t k = 0; k < sums.size(); ++k) {
      llvm::Value* const at = b_.CreateNSWAdd(column, b_.Index(static_cast<int64_t>(k)));
      if (plan_.form.side == 0)
        result.IfRow(row, rows, [&] {
          result.IfColumn(at, columns, [&] { result.Store(row, at, sums[k]); });
        });
      else
        result.IfColumn(
            row, rows, [&] { result.IfRow(at, columns, [&] { result.Store(at, row, sums[k]); }); });
    }
  }

  const AttentionPlan& plan_;
  Builder& b_;
  KernelArrays& arrays_;
  ElementEmitter emitter_;
  llvm::Value* const thread_;
  ThreadGroup group_;
  ScoreLines lines_;
  llvm::Value *batch_ = nullptr, *first_row_ = nullptr;
};

}  // namespace

bool AddHopperAttentionKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  return AddBlockKernel<AttentionEmitter>(PlanAttention(request.expression, kOnHopper), out);
}

bool AddTensorAttentionKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  return AddBlockKernel<AttentionEmitter>(PlanAttention(request.expression, kOnAmpere), out);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
