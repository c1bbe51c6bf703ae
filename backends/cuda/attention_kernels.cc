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
// Of more than 1,024 keys there are scores of 256 at a time, and only softmaxes, whose maxima and
// sums are those of the keys until then:
//
//   for each 256 keys:   s = q * k;  f = exp(m - max(m, s));  m = max(m, s);  e = exp(s - m)
//                        t = t * f + sum of e;  r = r * f + e * v, in registers
//   r / t
//
// Blocks take 64 rows, fewer where their scores have no room or blocks would be few. No atomics,
// and an order of sums that depends on shapes alone: the same bits every run.
#include "backends/cuda/attention_kernels.h"

#include "backends/cuda/attention_plan_internal.h"
#include "backends/cuda/block_kernel.h"
#include "backends/cuda/score_rows_internal.h"

namespace hlokit {
namespace {

constexpr int64_t kFewTiles = 2;  // of results, in half of a multiprocessor's registers
constexpr AttentionTarget kOnAmpere, kOnHopper = {.score_bytes = 160 << 10};  // of 227 KiB

// Takes neighbours of a row of a product's tile.
using TakeSums = absl::FunctionRef<void(llvm::Value* row, llvm::Value* column, const Values& sums)>;

// The block's rows of one of the two products, tile by tile.
class BlockProduct {
 public:
  BlockProduct(const AttentionProduct& product, Builder& b, ElementEmitter& emitter,
               KernelArrays& arrays, llvm::Value* thread, llvm::Value* batch,
               llvm::Value* first_row, const SharedRows& rows)
      : product_(product), b_(b), emitter_(emitter), first_row_(first_row) {
    const auto array_of = [&](const DotSide& side) {
      return side.operand->IsParameter() ? arrays.operand(side.array) : ArrayRef();
    };
    if (product.on_tensor_cores)
      tensor_.emplace(product.tensor, b, thread, batch, array_of(product.tensor.lhs),
                      array_of(product.tensor.rhs), rows);
    else
      plain_.emplace(product.plain, b, emitter, thread, batch, rows);
  }

  int64_t tiles() const {
    return (product_.plain.rhs.free.size + product_.columns() - 1) / product_.columns();
  }
  llvm::Value* ColumnOf(llvm::Value* tile) { return Scale(b_, tile, product_.columns()); }

  // Tile number `tile` over all terms.
  void Emit(llvm::Value* tile, TakeSums take) {
    emitter_.BeginScope();
    llvm::Value* const column = ColumnOf(tile);
    Visit(tensor_ ? tensor_->Sums(first_row_, column) : plain_->Sums(first_row_, column), take);
    emitter_.EndScope();
  }

  Values NoSums() { return tensor_ ? tensor_->NoSums() : plain_->NoSums(); }
  int64_t Steps() const { return tensor_ ? tensor_->Steps() : plain_->Steps(); }
  int64_t Depth() const {
    return product_.on_tensor_cores ? product_.tensor.depth() : product_.plain.depth;
  }
  Values AddSums(llvm::Value* tile, llvm::Value* term, llvm::Value* steps, const Values& sums) {
    llvm::Value* const column = ColumnOf(tile);
    return tensor_ ? tensor_->AddSums(first_row_, column, term, steps, sums)
                   : plain_->AddSums(first_row_, column, term, steps, sums);
  }
  void VisitTile(llvm::Value* tile, const Values& sums, TakeSums take) {
    MoveTo(tile);
    Visit(sums, take);
  }
  Values ChangeRows(llvm::Value* tile, const Values& sums,
                    absl::FunctionRef<llvm::Value*(llvm::Value* row, llvm::Value* sum)> change) {
    MoveTo(tile);
    return tensor_ ? tensor_->ChangeRows(sums, change) : plain_->ChangeRows(sums, change);
  }

 private:
  void MoveTo(llvm::Value* tile) {
    if (tensor_)
      tensor_->MoveTo(first_row_, ColumnOf(tile));
    else
      plain_->MoveTo(first_row_, ColumnOf(tile));
  }

  void Visit(const Values& sums, TakeSums take) {
    if (tensor_) {
      tensor_->Visit(sums, [&](llvm::Value* row, absl::Span<const TensorTile::Pair> pairs) {
        for (const TensorTile::Pair& pair : pairs)
          take(row, pair.column, {pair.sums[0], pair.sums[1]});
      });
      return;
    }
    const int64_t across = product_.plain.rhs.per_thread();
    for (int64_t k = 0; k < product_.plain.lhs.per_thread(); ++k)
      take(b_.CreateNSWAdd(plain_->FirstRow(), b_.Index(k)), plain_->FirstColumn(),
           Values(sums.begin() + k * across, sums.begin() + (k + 1) * across));
  }

  const AttentionProduct& product_;
  Builder& b_;
  ElementEmitter& emitter_;
  llvm::Value* const first_row_;
  std::optional<TensorTile> tensor_;
  std::optional<DotTile> plain_;
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
    BlockProduct scores(plan_.scores, b_, emitter_, arrays_, thread_, batch_, first_row_, {});
    if (plan_.block_keys > 0) return EmitInBlocks(scores);
    EmitLoop(b_, scores.tiles(), [&](llvm::Value* tile) { EmitScores(scores, tile, nullptr); });
    group_.Meet();
    EmitRows({});
    group_.Meet();
    BlockProduct product = Product();
    DotResult result = Result();
    EmitLoop(b_, product.tiles(), [&](llvm::Value* tile) {
      product.Emit(tile, [&](llvm::Value* row, llvm::Value* column, const Values& sums) {
        StoreResults(result, row, column, sums);
      });
    });
  }

 private:
  BlockProduct Product() {
    return {plan_.product, b_,     emitter_,   arrays_,
            thread_,       batch_, first_row_, lines_.rows(plan_.weight_type())};
  }
  DotResult Result() {
    const AttentionProduct& product = plan_.product;
    return {b_,    product.e, product.sides.lhs, product.sides.rhs, arrays_, product.sum_type(),
            batch_};
  }

  void EmitInBlocks(BlockProduct& scores) {
    RunningRows running(b_, plan_);
    BlockProduct product = Product();
    // ptxas sees no dynamic shared memory, and would spare registers for more blocks.
    AnnotateKernel(*b_.GetInsertBlock()->getParent(), "minctasm",
                   product.tiles() > kFewTiles ? 1 : 2);
    Values sums;  // of all tiles
    const Values none = product.NoSums();
    for (int64_t tile = 0; tile < product.tiles(); ++tile)
      sums.insert(sums.end(), none.begin(), none.end());
    const int64_t keys = plan_.form.form.length;
    const int64_t blocks = (keys + plan_.block_keys - 1) / plan_.block_keys;
    sums = EmitLoopCarrying(b_, blocks, sums, [&](llvm::Value* block, const Values& carried) {
      EmitBlock(scores, block, running);
      return AddProducts(product, block, running, carried);
    });
    DotResult result = Result();
    for (int64_t tile = 0; tile < product.tiles(); ++tile) {
      const Values quotients =
          ChangeRows(product, tile, PartOf(sums, none.size(), tile), running, kSumSlot,
                     [&](llvm::Value* x, llvm::Value* sum) { return b_.CreateFDiv(x, sum); });
      product.VisitTile(b_.Index(tile), quotients,
                        [&](llvm::Value* row, llvm::Value* column, const Values& values) {
                          StoreResults(result, row, column, values);
                        });
    }
  }

  // What `change` makes of each sum and what the slot of its row has.
  Values ChangeRows(BlockProduct& product, int64_t tile, const Values& sums,
                    const RunningRows& running, size_t slot,
                    absl::FunctionRef<llvm::Value*(llvm::Value*, llvm::Value*)> change) {
    llvm::Value *last = nullptr, *value = nullptr;
    return product.ChangeRows(b_.Index(tile), sums, [&](llvm::Value* row, llvm::Value* sum) {
      if (row != last)
        value = running.Load(b_, slot, b_.CreateNSWSub(row, first_row_), sum->getType());
      last = row;
      return change(sum, value);
    });
  }

  static Values PartOf(const Values& all, size_t size, int64_t number) {
    const auto first = all.begin() + number * static_cast<int64_t>(size);
    return Values(first, first + static_cast<int64_t>(size));
  }

  // Scores of one block of keys, and what becomes of them.
  void EmitBlock(BlockProduct& scores, llvm::Value* block, RunningRows& running) {
    emitter_.BeginScope();
    running.set_first_key(Scale(b_, block, plan_.block_keys));
    const int64_t tiles = plan_.block_keys / plan_.scores.columns();
    llvm::Value* const first = Scale(b_, block, tiles);
    llvm::Value* const past = b_.CreateBinaryIntrinsic(
        llvm::Intrinsic::umin, b_.CreateNSWAdd(first, b_.Index(tiles)), b_.Index(scores.tiles()));
    EmitLoop(b_, first, past,
             [&](llvm::Value* tile) { EmitScores(scores, tile, running.first_key()); });
    group_.Meet();
    EmitRows(running);
    group_.Meet();
    emitter_.EndScope();
  }

  // The sums, of maxima until then, and those of a block.
  Values AddProducts(BlockProduct& product, llvm::Value* block, const RunningRows& running,
                     const Values& sums) {
    emitter_.BeginScope();
    const int64_t most = plan_.block_keys / product.Depth();
    llvm::Value* const steps = b_.CreateBinaryIntrinsic(
        llvm::Intrinsic::umin, b_.Index(most),
        b_.CreateNSWSub(b_.Index(product.Steps()), Scale(b_, block, most)));
    const size_t size = sums.size() / static_cast<size_t>(product.tiles());
    Values next;
    for (int64_t tile = 0; tile < product.tiles(); ++tile) {
      Values part = ChangeRows(product, tile, PartOf(sums, size, tile), running, kFactorSlot,
                               [&](llvm::Value* x, llvm::Value* f) { return Rescaled(b_, x, f); });
      part = product.AddSums(b_.Index(tile), Scale(b_, block, plan_.block_keys), steps, part);
      next.insert(next.end(), part.begin(), part.end());
    }
    emitter_.EndScope();
    group_.Meet();  // before the lines are others
    return next;
  }

  // Into lines that begin with key `first`, null: 0.
  void EmitScores(BlockProduct& scores, llvm::Value* tile, llvm::Value* first) {
    scores.Emit(tile, [&](llvm::Value* row, llvm::Value* column, const Values& sums) {
      StoreScores(b_.CreateNSWSub(row, first_row_), column, first, sums);
    });
  }

  // As far as there are such keys.
  void StoreScores(llvm::Value* line, llvm::Value* column, llvm::Value* first, const Values& sums) {
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
        lines_.StoreTogether(plan_.score_type(), line,
                             first == nullptr ? at : b_.CreateNSWSub(at, first), elements);
      };
      if (keys % scores.columns() == 0)
        store();
      else
        EmitIf(b_, b_.CreateICmpULT(at, b_.Index(keys)), store);
    }
  }

  // Each group of threads takes a line after another; whole warps have none.
  void EmitRows(const RunningRows& running) {
    const int64_t threads = plan_.rows.threads, groups = kBlockThreads / threads;
    llvm::Value* const group = b_.CreateUDiv(thread_, b_.Index(threads));
    if (groups > plan_.block_rows)
      return EmitIf(b_, b_.CreateICmpULT(group, b_.Index(plan_.block_rows)),
                    [&] { EmitRow(group, running); });
    EmitLoop(b_, plan_.block_rows / groups, [&](llvm::Value* step) {
      EmitRow(b_.CreateNSWAdd(Scale(b_, step, groups), group), running);
    });
  }

  // Lines past the last row are those of the last row, to no end.
  void EmitRow(llvm::Value* line, const RunningRows& running) {
    emitter_.BeginScope();
    llvm::Value* row = b_.CreateNSWAdd(first_row_, line);
    if (plan_.batch_rows() % plan_.block_rows != 0)
      row = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, row, b_.Index(plan_.batch_rows() - 1));
    row = b_.CreateNSWAdd(row, Scale(b_, batch_, plan_.batch_rows()));
    llvm::Value* const lane = b_.CreateAnd(thread_, b_.Index(plan_.rows.threads - 1));
    ScoreRowEmitter rows(plan_, emitter_, lines_, lane, row, line, running);
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
