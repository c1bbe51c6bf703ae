// Evaluates dot, ragged-dot and scaled-dot: sums of products in double, 64-bit integers or
// complex<double>.
//
// Operands are widened and transposed to [batch, row, sum] and [batch, sum, column], so that one
// loop nest (MultiplyInto) serves all dimension numbers. It goes row by row, and adds four rows of
// the right side at a time to a row of the result: each element of the result is read and written
// once for four products. The order of the products of one element is fixed by that.
// The type that the instruction names for its sums, or its algorithm, decides how the wide sums are
// rounded at the end. Cost: batch * rows * sums * columns.
#include <algorithm>

#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/movement.h"
#include "ops/evaluate/strided.h"
#include "ops/evaluate/sums.h"
#include "support/status.h"

namespace hlokit {
namespace {

struct DotDims {
  DimVector lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;
};

template <typename A>
DotDims DimsOf(const A& attrs) {
  return {attrs.lhs_batch_dims, attrs.rhs_batch_dims, attrs.lhs_contracting_dims,
          attrs.rhs_contracting_dims};
}

// out[m, n] += sum over k of a[m, k] * b[k, n].
template <typename T>
void MultiplyInto(const T* a, const T* b, T* out, int64_t m, int64_t k, int64_t n) {
  for (int64_t i = 0; i < m; ++i, a += k, out += n) {
    if (n == 1) {
      for (int64_t p = 0; p < k; ++p) out[0] += Times(a[p], b[p]);
      continue;
    }
    int64_t p = 0;
    for (; p + 4 <= k; p += 4) {
      const T a0 = a[p], a1 = a[p + 1], a2 = a[p + 2], a3 = a[p + 3];
      const T *b0 = b + p * n, *b1 = b0 + n, *b2 = b1 + n, *b3 = b2 + n;
      for (int64_t j = 0; j < n; ++j)
        out[j] += Times(a0, b0[j]) + Times(a1, b1[j]) + Times(a2, b2[j]) + Times(a3, b3[j]);
    }
    for (; p < k; ++p)
      for (int64_t j = 0; j < n; ++j) out[j] += Times(a[p], b[p * n + j]);
  }
}

template <typename T>
struct Operand {
  std::vector<T> values;
  DimVector dims, box;  // bounds, and the sizes that are read
};

template <typename T>
Operand<T> OperandOf(const Literal& literal) {
  return {WidenTo<T>(literal), literal.shape().dims, RuntimeDims(literal)};
}

// Result dimensions: batch, left free, right free.
template <typename T>
std::vector<T> DotValues(const Operand<T>& lhs, const Operand<T>& rhs, const DotDims& dims) {
  const DimVector lhs_free = Others(lhs.dims.size(), dims.lhs_batch, dims.lhs_contracting);
  const DimVector rhs_free = Others(rhs.dims.size(), dims.rhs_batch, dims.rhs_contracting);
  // Only contracted dimensions stop at their run-time sizes; the others keep their places.
  DimVector lhs_box = lhs.dims, rhs_box = rhs.dims;
  for (size_t i = 0; i < dims.lhs_contracting.size(); ++i) {
    const int64_t size =
        std::min(lhs.box[dims.lhs_contracting[i]], rhs.box[dims.rhs_contracting[i]]);
    lhs_box[dims.lhs_contracting[i]] = rhs_box[dims.rhs_contracting[i]] = size;
  }
  const int64_t batch = Product(Pick(lhs_box, dims.lhs_batch)),
                k = Product(Pick(lhs_box, dims.lhs_contracting));
  const int64_t m = Product(Pick(lhs_box, lhs_free)), n = Product(Pick(rhs_box, rhs_free));
  const std::vector<T> a =
      Arrange(lhs.values, lhs.dims, lhs_box, Join(dims.lhs_batch, lhs_free, dims.lhs_contracting));
  const std::vector<T> b =
      Arrange(rhs.values, rhs.dims, rhs_box, Join(dims.rhs_batch, dims.rhs_contracting, rhs_free));
  std::vector<T> out(batch * m * n);
  if (k == 0) return out;
  for (int64_t i = 0; i < batch; ++i)
    MultiplyInto(a.data() + i * m * k, b.data() + i * k * n, out.data() + i * m * n, m, k, n);
  return out;
}

Literal RealParts(const Shape& shape, const std::vector<Complex>& values) {
  std::vector<double> real(values.size());
  std::transform(values.begin(), values.end(), real.begin(), [](Complex z) { return z.real(); });
  return IsFloat(shape.type) ? NarrowFrom(shape, real) : ConvertSums(shape, real);
}

Literal DotLiteral(const Literal& lhs, const Literal& rhs, const DotDims& dims,
                   const Shape& shape) {
  if (!IsComplex(shape.type) && (IsComplex(lhs.type()) || IsComplex(rhs.type())))
    return RealParts(shape, DotValues(OperandOf<Complex>(lhs), OperandOf<Complex>(rhs), dims));
  if (SumsAreConverted(lhs, rhs, shape.type))
    return ConvertSums(shape, DotValues(OperandOf<double>(lhs), OperandOf<double>(rhs), dims));
  return VisitSum(shape.type, [&](auto own) {
    using T = decltype(own);
    return NarrowFrom(shape, DotValues(OperandOf<T>(lhs), OperandOf<T>(rhs), dims));
  });
}

void SetResultDims(const Literal& lhs, const Literal& rhs, const DotDims& dims, Literal& result) {
  if (result.shape().dynamic_mask == 0) return;
  DimVector sizes = Pick(RuntimeDims(lhs), dims.lhs_batch);
  for (size_t i = 0; i < sizes.size(); ++i)  // the last operand that has a size says it
    if (rhs.shape().IsDynamic(dims.rhs_batch[i])) sizes[i] = rhs.dynamic_size(dims.rhs_batch[i]);
  for (int64_t d : Others(lhs.shape().rank(), dims.lhs_batch, dims.lhs_contracting))
    sizes.push_back(lhs.dynamic_size(d));
  for (int64_t d : Others(rhs.shape().rank(), dims.rhs_batch, dims.rhs_contracting))
    sizes.push_back(rhs.dynamic_size(d));
  for (size_t d = 0; d < sizes.size(); ++d)
    if (result.shape().IsDynamic(d)) result.set_dynamic_size(d, sizes[d]);
}

// `operand` times `scale`, each scale element for a block of it.
Operand<double> Scaled(const Literal& operand, const Literal& scale) {
  Operand<double> scaled = OperandOf<double>(operand);
  const std::vector<double> factors = WidenTo<double>(scale);
  const DimVector strides = RowMajorStrides(scale.shape().dims);
  int64_t i = 0;
  ForEachIndex(scaled.dims, [&](absl::Span<const int64_t> index) {
    int64_t at = 0;
    for (size_t d = 0; d < strides.size(); ++d)
      at += index[d] / (scaled.dims[d] / scale.shape().dims[d]) * strides[d];
    scaled.values[i++] *= factors[at];
  });
  return scaled;
}

absl::Status CheckScale(const Literal& operand, const Literal& scale) {
  const DimVector& dims = scale.shape().dims;
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims.size() != operand.shape().dims.size() || dims[d] == 0 ||
        operand.shape().dims[d] % dims[d] != 0)
      return InvalidArgument("scaled-dot: a scale of ", Text(scale.shape()), " for ",
                             Text(operand.shape()));
  return absl::OkStatus();
}

int64_t Position(absl::Span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) - list.begin();
}

// The dot of each group of the ragged dimension, put where its result belongs.
class RaggedDot {
 public:
  RaggedDot(const EvalContext& context)
      : attrs_(context.instruction.attr<RaggedDotAttrs>()),
        lhs_(*context.operands[0]),
        rhs_(*context.operands[1]),
        sizes_(*context.operands[2]),
        ragged_(attrs_.lhs_ragged_dims[0]),
        result_(context.instruction.shape()) {}

  Literal Run() {
    const Shape& shape = sizes_.shape();
    const int64_t groups = shape.dims.back();
    // Group sizes may have the batch dimensions in front; then each batch has its own.
    const DimVector batches(shape.dims.begin(), shape.dims.end() - 1);
    int64_t row = 0;
    ForEachIndex(batches, [&](absl::Span<const int64_t> batch) {
      int64_t start = 0;
      for (int64_t g = 0; g < groups; ++g) {
        const int64_t end =
            std::min(start + sizes_.GetInt(row * groups + g), lhs_.shape().dims[ragged_]);
        if (end > start) AddGroup(batch, g, start, end);
        start = std::max(start, end);
      }
      ++row;
    });
    return std::move(result_);
  }

 private:
  struct Box {
    DimVector starts, sizes;
    explicit Box(const Literal& literal)
        : starts(literal.shape().rank(), 0), sizes(literal.shape().dims) {}
    void Narrow(int64_t d, int64_t start, int64_t end) {
      starts[d] = start;
      sizes[d] = end - start;
    }
  };

  void AddGroup(absl::Span<const int64_t> batch, int64_t group, int64_t start, int64_t end) {
    Box lhs(lhs_), rhs(rhs_), out(result_);
    DotDims dims = DimsOf(attrs_);
    int64_t leading = 0;  // result dimensions before the batch dimensions
    lhs.Narrow(ragged_, start, end);
    if (Contains(dims.lhs_contracting, ragged_)) {
      rhs.Narrow(dims.rhs_contracting[Position(dims.lhs_contracting, ragged_)], start, end);
      out.Narrow(0, group, group + 1);
      leading = 1;
    } else if (Contains(dims.lhs_batch, ragged_)) {
      const int64_t position = Position(dims.lhs_batch, ragged_);
      rhs.Narrow(dims.rhs_batch[position], start, end);
      out.Narrow(position, start, end);
    } else {
      const DimVector free = Others(lhs_.shape().rank(), dims.lhs_batch, dims.lhs_contracting);
      out.Narrow(dims.lhs_batch.size() + Position(free, ragged_), start, end);
      rhs.Narrow(attrs_.rhs_group_dims[0], group, group + 1);
    }
    for (size_t i = 0; i < batch.size() && i < dims.lhs_batch.size(); ++i) {
      lhs.Narrow(dims.lhs_batch[i], batch[i], batch[i] + 1);
      rhs.Narrow(dims.rhs_batch[i], batch[i], batch[i] + 1);
      out.Narrow(leading + i, batch[i], batch[i] + 1);
    }
    // The group dimension of the right side, of size 1 now, is batched with a new one of the left.
    Literal left = SliceBox(lhs_, lhs.starts, lhs.sizes);
    if (!attrs_.rhs_group_dims.empty()) {
      Shape with_group = left.shape();
      dims.lhs_batch.insert(dims.lhs_batch.begin(), with_group.rank());
      dims.rhs_batch.insert(dims.rhs_batch.begin(), attrs_.rhs_group_dims[0]);
      with_group.dims.push_back(1);
      left.set_shape(with_group);
    }
    const Literal part = DotLiteral(left, SliceBox(rhs_, rhs.starts, rhs.sizes), dims,
                                    Shape::Array(result_.type(), out.sizes));
    PlaceBox(part, out.starts, result_);
  }

  const RaggedDotAttrs& attrs_;
  const Literal &lhs_, &rhs_, &sizes_;
  int64_t ragged_;
  Literal result_;
};

}  // namespace

absl::StatusOr<Literal> EvaluateDot(const EvalContext& context) {
  const DotDims dims = DimsOf(context.instruction.attr<DotAttrs>());
  Literal result =
      DotLiteral(*context.operands[0], *context.operands[1], dims, context.instruction.shape());
  SetResultDims(*context.operands[0], *context.operands[1], dims, result);
  return result;
}

absl::StatusOr<Literal> EvaluateScaledDot(const EvalContext& context) {
  if (context.operands.size() != 4) return InvalidArgument("scaled-dot: takes four operands");
  RETURN_IF_ERROR(CheckScale(*context.operands[0], *context.operands[2]));
  RETURN_IF_ERROR(CheckScale(*context.operands[1], *context.operands[3]));
  return NarrowFrom(context.instruction.shape(),
                    DotValues(Scaled(*context.operands[0], *context.operands[2]),
                              Scaled(*context.operands[1], *context.operands[3]),
                              DimsOf(context.instruction.attr<DotAttrs>())));
}

absl::StatusOr<Literal> EvaluateRaggedDot(const EvalContext& context) {
  return RaggedDot(context).Run();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
