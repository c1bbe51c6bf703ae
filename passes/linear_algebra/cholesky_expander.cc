// Cholesky factorizations as loops of simple operations: as XLA writes them, in blocks of 128 whose
// loops compute a product of matrices a column, or in columns:
//   column j:  rest = a[:,j] - L L*[:,j];  L[j:,j] = rest[j:] / sqrt(rest[j])
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "ir/sanitized_name.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/linear_algebra/matrix_writer.h"
#include "passes/rewrite/expander.h"

namespace hlokit {
namespace {

using State = absl::Span<Instruction* const>;

// l with column j, from those before it, and whether each pivot was positive.
std::vector<Instruction*> CholeskyColumn(HloWriter& w, Instruction* j, State state) {
  MatrixWriter m(w);
  Instruction* a = state[0];
  Instruction* l = state[1];
  const int64_t n = a->shape().dims[1];
  const ElementType type = a->shape().type;
  Instruction* done = m.TimesVector(l, m.Conjugate(m.Row(l, j)));
  Instruction* rest = w.Binary(Opcode::kSubtract, m.Column(a, j), done);
  Instruction* pivot = m.Element(rest, j);
  if (IsComplex(type))
    pivot =
        w.rewriter().Add(Opcode::kReal, RetypedLike(pivot->shape(), RealComponent(type)), {pivot});
  Instruction* zero = w.FillNumber(pivot->shape(), 0);
  Instruction* good = w.Compare(pivot, zero, ComparisonDirection::kGt);
  Instruction* root = w.Convert(w.Unary(Opcode::kSqrt, pivot), type);
  Instruction* column = w.Binary(Opcode::kDivide, rest, m.AcrossRow(root, n));
  Instruction* below = m.Position(column->shape(), 1, j, ComparisonDirection::kGe);
  return {a, m.WithColumn(l, m.Masked(below, column), j), w.Binary(Opcode::kAnd, state[2], good)};
}

// Work of n^3: each step computes one column.
Instruction* ColumnByColumn(Instruction* i, Rewriter& r) {
  HloWriter w(r);
  MatrixWriter m(w);
  const bool lower = i->attr<CholeskyAttrs>().lower;
  Instruction* a = m.Stacked(i->operand(0));
  if (!lower) a = m.Adjoint(a);
  const DimVector dims = a->shape().dims;
  Instruction* good = w.FillInteger(RowMajor(ElementType::kPred, {dims[0]}), 1);
  const auto after =
      CountedLoop(w, "cholesky", dims[1], {a, w.FillInteger(a->shape(), 0), good}, CholeskyColumn);
  Instruction* l = after[1];
  Instruction* nan = w.FillNumber(l->shape(), std::numeric_limits<double>::quiet_NaN());
  l = w.Select(w.Broadcast(after[2], dims, {0}), l, nan);
  return m.Unstacked(lower ? l : m.Adjoint(l), i->shape().dims);
}

// XLA's form, instruction for instruction, on matrices with any number of dimensions before the
// last two. What looks idle there (slices of everything, transposes that move nothing) is written
// too; algsimp removes it.
class BlockedCholesky {
 public:
  explicit BlockedCholesky(HloWriter& w) : w_(w) {}

  // The lower factor of `a`; all NaN where a pivot of any block has no root.
  Instruction* Factor(Instruction* a) {
    static constexpr int64_t kBlock = 128;
    const int64_t n = a->shape().dims.back();
    Instruction* l = w_.FillInteger(RowMajor(a->shape().type, a->shape().dims), 0);
    Instruction* failed = None(a);
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t k = std::min(kBlock, n - i);
      Instruction* panel = Part(a, {i, i}, {n, i + k});
      if (i > 0)
        panel = w_.Binary(Opcode::kSubtract, panel,
                          Product(Part(l, {i, 0}, {n, i}), Part(l, {i, 0}, {i + k, i})));
      Instruction* corner = Part(panel, {0, 0}, {k, k});
      const Factored block = k == 1 ? Root(corner) : Unblocked(corner);
      failed = w_.Binary(Opcode::kOr, failed, block.failed);
      l = WithPart(l, block.l, i, i);
      if (i + k < n) l = WithPart(l, Solved(block.l, Part(panel, {k, 0}, {n - i, k})), i + k, i);
    }
    failed = Across(w_.Broadcast(failed, failed->shape().dims, Iota(failed->shape().rank())),
                    l->shape().dims);
    Instruction* nan = w_.FillNumber(l->shape(), std::numeric_limits<double>::quiet_NaN());
    return w_.Select(failed, nan, l);
  }

  // The last two dimensions exchanged, in an order of memory in which nothing moves.
  static Instruction* Exchanged(HloWriter& w, Instruction* x) {
    DimVector order = Iota(x->shape().rank());
    std::swap(order.back(), order[order.size() - 2]);
    Shape shape = x->shape();
    std::swap(shape.dims.back(), shape.dims[order.size() - 2]);
    for (auto& d : shape.layout.minor_to_major) d = order[d];
    return w.rewriter().Add(Opcode::kTranspose, shape, {x}, DimensionsAttrs{order});
  }

 private:
  struct Factored {
    Instruction *l, *failed;
  };

  static DimVector Iota(int64_t rank) {
    DimVector dims;
    for (int64_t d = 0; d < rank; ++d) dims.push_back(d);
    return dims;
  }
  static DimVector MinorDims(const Shape& shape, int64_t rows, int64_t columns) {
    DimVector dims = shape.dims;
    dims[dims.size() - 2] = rows;
    dims.back() = columns;
    return dims;
  }

  // Whether the factorization failed so far, for each matrix: not yet.
  Instruction* None(const Instruction* a) {
    return w_.FillInteger(RowMajor(ElementType::kPred, MinorDims(a->shape(), 1, 1)), 0);
  }

  Instruction* Part(Instruction* x, std::array<int64_t, 2> starts, std::array<int64_t, 2> limits) {
    const int64_t rank = x->shape().rank();
    SliceSpec slice;
    for (int64_t d = 0; d < rank - 2; ++d) slice.push_back({0, x->shape().dims[d], 1});
    for (int d : {0, 1}) slice.push_back({starts[d], limits[d], 1});
    const DimVector dims = MinorDims(x->shape(), limits[0] - starts[0], limits[1] - starts[1]);
    return w_.rewriter().Add(Opcode::kSlice, RowMajor(x->shape().type, dims), {x},
                             SliceAttrs{std::move(slice)});
  }

  Instruction* WithPart(Instruction* x, Instruction* part, int64_t row, int64_t column) {
    std::vector<Instruction*> starts;
    for (int64_t d = 0; d < x->shape().rank() - 2; ++d)
      starts.push_back(w_.Integer(ElementType::kS32, 0));
    for (int64_t start : {row, column}) starts.push_back(w_.Integer(ElementType::kS32, start));
    return w_.DynamicUpdateSlice(x, part, starts);
  }

  // x y* of the last two dimensions.
  Instruction* Product(Instruction* x, Instruction* y) {
    const int64_t batch = x->shape().rank() - 2;
    Instruction* product = w_.Dot(x, MatrixWriter(w_).Conjugate(y), batch + 1, batch + 1, batch);
    product->mutable_extras().frontend_attributes = {{"grad_x", "false"}, {"grad_y", "false"}};
    return w_.rewriter().Add(Opcode::kTranspose, product->shape(), {product},
                             DimensionsAttrs{Iota(batch + 2)});
  }

  // An array of one element a matrix spread over the matrices of `dims`.
  Instruction* Across(Instruction* x, const DimVector& dims) {
    DimVector kept, where;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (x->shape().dims[d] != dims[d]) continue;
      kept.push_back(dims[d]);
      where.push_back(d);
    }
    if (kept.size() == dims.size()) return x;
    return w_.Broadcast(w_.Reshape(x, kept), dims, where);
  }

  Factored Root(Instruction* x) {
    if (!IsComplex(x->shape().type)) {
      Instruction* root = w_.Unary(Opcode::kSqrt, x);
      return {root, w_.Compare(root, root, ComparisonDirection::kNe)};
    }
    const Shape real = RetypedLike(x->shape(), RealComponent(x->shape().type));
    Instruction* root = w_.Unary(Opcode::kSqrt, w_.rewriter().Add(Opcode::kReal, real, {x}));
    Instruction* whole =
        w_.rewriter().Add(Opcode::kComplex, x->shape(), {root, w_.FillInteger(real, 0)});
    return {whole, w_.Compare(root, root, ComparisonDirection::kNe)};
  }

  // The state after column i: a, l and whether a pivot failed.
  std::vector<Instruction*> Step(Instruction* i, State state) {
    Instruction* a = state[0];
    Instruction* l = state[1];
    const DimVector& dims = a->shape().dims;
    const int64_t rank = dims.size();
    Instruction* column = w_.Iota(ElementType::kS32, dims, rank - 1);
    Instruction* row = w_.Iota(ElementType::kS32, dims, rank - 2);
    Instruction* below = w_.Compare(row, column, ComparisonDirection::kGe);
    Instruction* here = w_.Compare(column, w_.Fill(column->shape(), i), ComparisonDirection::kEq);
    Instruction* rest = w_.Binary(Opcode::kSubtract, a, Product(l, l));
    std::vector<Instruction*> at(rank - 2, w_.Integer(ElementType::kS32, 0));
    at.insert(at.end(), {i, i});
    const Factored pivot = Root(w_.DynamicSlice(rest, at, MinorDims(a->shape(), 1, 1)));
    Instruction* made = w_.Select(w_.Binary(Opcode::kAnd, below, here),
                                  w_.Binary(Opcode::kDivide, rest, Across(pivot.l, dims)),
                                  w_.FillInteger(a->shape(), 0));
    return {a, w_.Binary(Opcode::kAdd, made, l), w_.Binary(Opcode::kOr, state[2], pivot.failed)};
  }

  // A loop over the columns of one block.
  Factored Unblocked(Instruction* x) {
    Module& module = *x->module();
    Instruction* start =
        w_.Tuple({w_.Integer(ElementType::kS32, 0), x, w_.FillInteger(x->shape(), 0), None(x)});
    Computation* body = module.AddComputation("unblocked_body");
    {
      const std::vector<Instruction*> parts = Opened(*body, start->shape());
      Rewriter r(*body);
      HloWriter w(r);
      std::vector<Instruction*> next = {w.WithInteger(Opcode::kAdd, parts[0], 1)};
      for (Instruction* part : BlockedCholesky(w).Step(parts[0], absl::MakeSpan(parts).subspan(1)))
        next.push_back(part);
      body->set_root(w.Tuple(next));
    }
    Computation* condition = module.AddComputation("unblocked_condition");
    {
      const std::vector<Instruction*> parts = Opened(*condition, start->shape());
      Rewriter r(*condition);
      HloWriter w(r);
      condition->set_root(w.Compare(parts[0], w.Integer(ElementType::kS32, x->shape().dims.back()),
                                    ComparisonDirection::kLt));
    }
    Instruction* loop = w_.rewriter().Add(Opcode::kWhile, start->shape(), {start});
    loop->set_called({condition, body});
    std::vector<Instruction*> after;
    for (int k : {0, 1, 2, 3}) after.push_back(w_.Part(loop, k));
    return {after[2], after[3]};
  }

  // A parameter of the shape, and its parts.
  static std::vector<Instruction*> Opened(Computation& computation, const Shape& shape) {
    Rewriter r(computation);
    HloWriter w(r);
    Instruction* parameter = computation.AddParameter(0, shape);
    std::vector<Instruction*> parts;
    for (size_t k = 0; k < shape.elements.size(); ++k) parts.push_back(w.Part(parameter, k));
    return parts;
  }

  // x of x l* = b.
  Instruction* Solved(Instruction* l, Instruction* b) {
    TriangularSolveAttrs attrs;
    attrs.lower = true;
    attrs.transpose_a = TriangularTranspose::kAdjoint;
    return w_.rewriter().Add(Opcode::kTriangularSolve, b->shape(), {l, b}, attrs);
  }

  HloWriter& w_;
};

// Calls of one computation for all matrices of a shape.
class CholeskyExpansion {
 public:
  explicit CholeskyExpansion(bool columns) : columns_(columns) {}

  absl::StatusOr<Instruction*> operator()(Instruction* i, Rewriter& r) {
    if (i->opcode() != Opcode::kCholesky || i->shape().HasDynamicDims() ||
        i->shape().ElementCount() == 0)
      return nullptr;
    if (columns_) return ColumnByColumn(i, r);
    const Shape& shape = i->operand(0)->shape();
    const bool lower = i->attr<CholeskyAttrs>().lower;
    const std::string name = SanitizedName(
        absl::StrCat("xla.cholesky_", Text(shape), lower ? "_lower" : "_upper"));
    Module& module = *i->module();
    const std::string key = absl::StrCat(name, " ", Text(shape, /*with_layout=*/true));
    const auto known = made_.find(key);
    Computation* body = known == made_.end() ? nullptr : module.FindComputation(known->second);
    if (body == nullptr) {
      body = module.AddComputation(name);
      Rewriter inside(*body);
      HloWriter w(inside);
      Instruction* a = body->AddParameter(0, shape, "a");
      if (!lower) a = BlockedCholesky::Exchanged(w, a);
      Instruction* l = BlockedCholesky(w).Factor(a);
      body->set_root(lower ? l : BlockedCholesky::Exchanged(w, l));
      made_[key] = body->id();
    }
    Instruction* call = r.Add(Opcode::kCall, i->shape(), {i->operand(0)});
    call->set_called({body});
    return call;
  }

 private:
  bool columns_;
  absl::flat_hash_map<std::string, int64_t> made_;
};

}  // namespace

// cholesky_expander. A matrix that is not positive definite gives NaNs, as before.
std::unique_ptr<Pass> CreateCholeskyExpander(PassArguments& arguments) {
  const bool columns =
      arguments.Flag("columns", "a column at a time, work of n^3 instead of n^4 in each block");
  return MakeExpander("cholesky_expander", CholeskyExpansion(columns));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
