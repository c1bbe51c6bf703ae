// Many small dots: each in vector registers, one after the other.
//
//   f32[1000,8,8] x f32[1000,8,8], batch dimension 0: 1,000 dots of 8 x 8 x 8
// A call of the library costs more than such a dot. The code keeps kRowsTogether rows of the result
// in registers, in vectors along the columns; for each step of the sum it loads a vector of the
// right side once and multiplies it by one element of each row. Sums of up to kWrittenOut steps are
// written out, longer ones loop. A unit of work is one dot of the batch.
// Applies to dots with one row and one column dimension at most, up to kMaxCols columns and
// kMaxDotWork products; the sum runs in the order of the elements, as the library's does.
#include <algorithm>

#include "backends/cpu/kernels/small_dots.h"
#include "backends/cpu/kernels/strategies_internal.h"
#include "ops/dim_lists.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxCols = 64, kMaxDotWork = 8192;  // of one dot
constexpr int64_t kVectorBytes = 64;
constexpr int64_t kRowsTogether = 4;
constexpr int64_t kWrittenOut = 8;  // sums this short are no loops

// One dimension in the arrays that have it; distances in elements.
struct Dim {
  int64_t size = 1, lhs = 0, rhs = 0, out = 0;
};

struct SmallDot {
  ElementType type;
  Shape batch;  // of the result's batch dimensions, row-major
  std::vector<Dim> batches;
  Dim rows, cols, sums;
};

// The one dimension that is in neither list; false where there are several.
bool OnlyFree(const Shape& shape, const DimVector& batch, const DimVector& summed, int64_t& free) {
  free = -1;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (Contains(batch, d) || Contains(summed, d)) continue;
    if (free >= 0) return false;
    free = d;
  }
  return true;
}

bool IsOwnType(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kF64 || type == ElementType::kS32 ||
         type == ElementType::kU32 || type == ElementType::kS64 || type == ElementType::kU64;
}

// Integers of 16 bits, and bytes, which are multiplied as such.
bool IsShortInteger(ElementType type) {
  return IsInteger(type) && !IsSubByte(type) && BitWidth(type) <= 16;
}

bool Describe(const Instruction& i, SmallDot& dot) {
  if (i.opcode() != Opcode::kDot) return false;
  const auto& dims = i.attr<DotAttrs>();
  const Shape &lhs = i.operand(0)->shape(), &rhs = i.operand(1)->shape(), &out = i.shape();
  if (!(IsOwnType(out.type) || IsShortInteger(out.type)) || lhs.type != out.type ||
      rhs.type != out.type || dims.lhs_contracting_dims.size() != 1 ||
      dims.lhs_batch_dims.empty() || out.HasDynamicDims() || lhs.HasDynamicDims() ||
      rhs.HasDynamicDims())
    return false;
  int64_t row = -1, col = -1;
  if (!OnlyFree(lhs, dims.lhs_batch_dims, dims.lhs_contracting_dims, row) ||
      !OnlyFree(rhs, dims.rhs_batch_dims, dims.rhs_contracting_dims, col))
    return false;
  const DimVector l = LayoutStrides(lhs), r = LayoutStrides(rhs), o = LayoutStrides(out);
  dot.type = out.type;
  int64_t at = 0;
  DimVector sizes;
  for (size_t k = 0; k < dims.lhs_batch_dims.size(); ++k, ++at) {
    dot.batches.push_back(
        {out.dims[at], l[dims.lhs_batch_dims[k]], r[dims.rhs_batch_dims[k]], o[at]});
    sizes.push_back(out.dims[at]);
  }
  dot.batch = Shape::Array(out.type, sizes);
  if (row >= 0) {
    dot.rows = {out.dims[at], l[row], 0, o[at]};
    ++at;
  }
  if (col >= 0) dot.cols = {out.dims[at], 0, r[col], o[at]};
  const int64_t s = dims.lhs_contracting_dims[0], t = dims.rhs_contracting_dims[0];
  dot.sums = {lhs.dims[s], l[s], r[t], 0};
  return true;
}

class SmallDotEmitter {
 public:
  SmallDotEmitter(const SmallDot& dot, Builder& b, llvm::Value* lhs, llvm::Value* rhs,
                  llvm::Value* out)
      : dot_(dot), b_(b), lhs_(lhs), rhs_(rhs), out_(out) {
    element_ = MemoryType(b.getContext(), dot.type);
    computed_ = ByteWidth(dot.type) == 1 ? b.getInt16Ty() : element_;
  }

  void Emit(llvm::Value* unit) {
    const ElementIndex at = WithMulti(b_, ElementIndex::Linear(unit), dot_.batch);
    lhs_at_ = rhs_at_ = out_at_ = b_.getInt64(0);
    for (size_t k = 0; k < dot_.batches.size(); ++k) {
      lhs_at_ = Moved(lhs_at_, at.multi[k], dot_.batches[k].lhs);
      rhs_at_ = Moved(rhs_at_, at.multi[k], dot_.batches[k].rhs);
      out_at_ = Moved(out_at_, at.multi[k], dot_.batches[k].out);
    }
    const int64_t whole = dot_.rows.size / kRowsTogether;
    EmitLoop(b_, whole,
             [&](llvm::Value* block) { EmitRows(Scale(b_, block, kRowsTogether), kRowsTogether); });
    if (const int64_t rest = dot_.rows.size % kRowsTogether; rest > 0)
      EmitRows(b_.getInt64(whole * kRowsTogether), rest);
  }

 private:
  llvm::Value* Moved(llvm::Value* at, llvm::Value* steps, int64_t stride) {
    return b_.CreateNSWAdd(at, Scale(b_, steps, stride));
  }
  llvm::Value* Pointer(llvm::Value* base, llvm::Value* at) {
    return b_.CreateInBoundsGEP(element_, base, at);
  }

  // The columns go in pieces of one vector.
  std::vector<int64_t> Pieces() const {
    const auto bytes = static_cast<int64_t>(computed_->getPrimitiveSizeInBits() / 8);
    const int64_t lanes = kVectorBytes / bytes;
    std::vector<int64_t> pieces;
    for (int64_t c = 0; c < dot_.cols.size; c += lanes)
      pieces.push_back(std::min(lanes, dot_.cols.size - c));
    return pieces;
  }

  void EmitRows(llvm::Value* first, int64_t rows) {
    const std::vector<int64_t> pieces = Pieces();
    Values sums;
    for (int64_t m = 0; m < rows; ++m)
      for (int64_t lanes : pieces)
        sums.push_back(llvm::Constant::getNullValue(VectorOf(lanes, computed_)));
    const auto step = [&](llvm::Value* k, const Values& carried) {
      return Step(first, rows, pieces, k, carried);
    };
    if (dot_.sums.size <= kWrittenOut) {
      for (int64_t k = 0; k < dot_.sums.size; ++k) sums = step(b_.getInt64(k), sums);
    } else {
      sums = EmitLoopCarrying(b_, dot_.sums.size, sums, step);
    }
    size_t next = 0;
    for (int64_t m = 0; m < rows; ++m) {
      llvm::Value* at = Moved(Moved(out_at_, first, dot_.rows.out), b_.getInt64(m), dot_.rows.out);
      for (int64_t lanes : pieces) {
        llvm::Value* sum = sums[next++];
        if (element_ != computed_) sum = b_.CreateTrunc(sum, VectorOf(lanes, element_));
        b_.CreateAlignedStore(sum, Pointer(out_, at), llvm::Align(ByteWidth(dot_.type)));
        at = b_.CreateNSWAdd(at, b_.getInt64(lanes));
      }
    }
  }

  Values Step(llvm::Value* first, int64_t rows, const std::vector<int64_t>& pieces, llvm::Value* k,
              const Values& carried) {
    Values right;
    llvm::Value* from = Moved(rhs_at_, k, dot_.sums.rhs);
    for (int64_t lanes : pieces) {
      right.push_back(Widened(LoadVector(from, lanes), VectorOf(lanes, computed_)));
      from = Moved(from, b_.getInt64(lanes), dot_.cols.rhs);
    }
    Values next;
    for (int64_t m = 0; m < rows; ++m) {
      llvm::Value* at = Moved(Moved(lhs_at_, first, dot_.rows.lhs), b_.getInt64(m), dot_.rows.lhs);
      llvm::Value* left = b_.CreateAlignedLoad(element_, Pointer(lhs_, Moved(at, k, dot_.sums.lhs)),
                                               llvm::Align(ByteWidth(dot_.type)));
      left = Widened(left, computed_);
      for (size_t p = 0; p < pieces.size(); ++p) {
        llvm::Value* factor = b_.CreateVectorSplat(static_cast<unsigned>(pieces[p]), left);
        next.push_back(MultiplyAdd(factor, right[p], carried[next.size()]));
      }
    }
    return next;
  }

  static llvm::Type* VectorOf(int64_t lanes, llvm::Type* element) {
    return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
  }

  // Only the low bits of sums count.
  llvm::Value* Widened(llvm::Value* x, llvm::Type* type) {
    return x->getType() == type ? x : b_.CreateZExt(x, type);
  }

  llvm::Value* LoadVector(llvm::Value* from, int64_t lanes) {
    const llvm::Align alignment(ByteWidth(dot_.type));
    if (dot_.cols.rhs == 1 || lanes == 1)
      return b_.CreateAlignedLoad(VectorOf(lanes, element_), Pointer(rhs_, from), alignment);
    llvm::Value* vector = llvm::PoisonValue::get(VectorOf(lanes, element_));
    for (int64_t c = 0; c < lanes; ++c) {
      llvm::Value* at = Moved(from, b_.getInt64(c), dot_.cols.rhs);
      vector = b_.CreateInsertElement(
          vector, b_.CreateAlignedLoad(element_, Pointer(rhs_, at), alignment), b_.getInt64(c));
    }
    return vector;
  }

  llvm::Value* MultiplyAdd(llvm::Value* x, llvm::Value* y, llvm::Value* sum) {
    if (!IsFloat(dot_.type)) return b_.CreateAdd(b_.CreateMul(x, y), sum);
    return b_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {x->getType()}, {x, y, sum});
  }

  const SmallDot& dot_;
  Builder& b_;
  llvm::Value *lhs_, *rhs_, *out_;
  llvm::Type *element_, *computed_;  // in memory, and as it is multiplied
  llvm::Value *lhs_at_ = nullptr, *rhs_at_ = nullptr, *out_at_ = nullptr;
};

}  // namespace

bool IsSmallBatchedDot(const Instruction& i) {
  SmallDot dot;
  if (!Describe(i, dot) || dot.batch.ElementCount() < 2) return false;
  const int64_t work = dot.rows.size * dot.cols.size * dot.sums.size;
  return dot.cols.size <= kMaxCols && dot.rows.size <= kMaxCols && work > 0 &&
         work <= kMaxDotWork && (dot.cols.out == 1 || dot.cols.size == 1) &&
         (dot.cols.rhs == 1 || work <= kMaxDotWork / 4);
}

bool IsIntegerMatrixVector(const Instruction& i) {
  if (i.opcode() != Opcode::kDot || !IsInteger(i.shape().type) || IsSubByte(i.shape().type))
    return false;
  constexpr int64_t kLongBytes = 64;
  const auto& dims = i.attr<DotAttrs>();
  const Shape &lhs = i.operand(0)->shape(), &rhs = i.operand(1)->shape();
  if (lhs.type != rhs.type || !dims.lhs_batch_dims.empty() ||
      dims.lhs_contracting_dims.size() != 1 || (lhs.rank() != 1 && rhs.rank() != 1))
    return false;
  const int64_t l = dims.lhs_contracting_dims[0], r = dims.rhs_contracting_dims[0];
  return LayoutStrides(lhs)[l] == 1 && LayoutStrides(rhs)[r] == 1 &&
         (ByteWidth(lhs.type) > 1 || lhs.dims[l] < kLongBytes);
}

bool AddSmallDotKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const Expression& e = request.expression;
  if (e.subject->opcode() != Opcode::kDot || !IsSmallBatchedDot(*e.subject)) return false;
  SmallDot dot;
  Describe(*e.subject, dot);
  Kernel kernel;
  kernel.units = dot.batch.ElementCount();
  const int64_t lanes = std::min<int64_t>(8, dot.cols.size);
  kernel.unit_cost =
      8 + 2.0 * static_cast<double>(dot.rows.size * dot.cols.size * dot.sums.size / lanes);
  kernel.emit = [dot](Builder& b, KernelArrays& arrays, llvm::Value* begin, llvm::Value* end) {
    SmallDotEmitter emitter(dot, b, arrays.operand(0).base, arrays.operand(1).base,
                            arrays.result(0).base);
    EmitLoop(b, begin, end, [&](llvm::Value* unit) { emitter.Emit(unit); });
  };
  kernel.in_vectors = true;
  out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
