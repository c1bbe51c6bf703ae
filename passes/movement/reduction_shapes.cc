// Reductions and concatenations in shapes that some targets want.
//   reduce f32[8,1,4] over {1,2}        -> reshape to f32[8,4], over {1}
//   reduce f32[8,4,16] over {1,2}       -> reshape to f32[8,64], over {1}
//   reduce f32[512,8,512] over {0,2}    -> over {0}, then over {1}
#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/unmoved.h"

namespace hlokit {
namespace {

// Concatenations of more operands than this are split.
constexpr int64_t kMaxConcatenated = 128;

using Made = absl::StatusOr<Instruction*>;

bool IsStaticReduce(const Instruction* i) {
  return i->opcode() == Opcode::kReduce && !i->shape().HasDynamicDims() &&
         !i->operand(0)->shape().HasDynamicDims();
}

// A row-major `x` as an array of `shape`, a bitcast where that moves nothing; itself where it is
// one.
Instruction* As(Rewriter& r, Instruction* x, const Shape& shape) {
  if (SameShape(x->shape(), shape)) return x;
  return r.Add(shape.IsRowMajor() ? Opcode::kBitcast : Opcode::kReshape, shape, {x});
}

// A reduce along dimensions of size one, of one array and with an initial value that changes
// nothing: the array itself.
Instruction* TakeAsIs(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 2) return nullptr;
  const auto opcode = ReducerOpcode(*i->to_apply());
  const bool adds_zero = opcode == Opcode::kAdd && IsSplat(i->operand(1), 0);
  if (!opcode || !(adds_zero || IsIdentity(i->operand(1), *opcode))) return nullptr;
  Instruction* x = i->operand(0);
  if (!x->shape().IsRowMajor()) return nullptr;
  return As(r, x, i->shape());
}

// The reduce over arrays reshaped to `dims`, along `reduced`, with its results reshaped back.
Instruction* Reshaped(Instruction* i, const DimVector& dims, const DimVector& reduced,
                      Rewriter& r) {
  HloWriter w(r);
  DimVector left;
  for (size_t d = 0; d < dims.size(); ++d)
    if (!Contains(reduced, static_cast<int64_t>(d))) left.push_back(dims[d]);
  const int64_t arrays = i->operand_count() / 2;
  std::vector<Instruction*> operands;
  std::vector<Shape> shapes;
  for (int64_t k = 0; k < arrays; ++k) {
    operands.push_back(BitcastTo(r, i->operand(k), dims));
    shapes.push_back(RowMajor(i->operand(k)->shape().type, left));
  }
  for (int64_t k = arrays; k < 2 * arrays; ++k) operands.push_back(i->operand(k));
  Instruction* made = r.Clone(i, i->shape().IsTuple() ? Shape::Tuple(shapes) : shapes[0], operands);
  made->mutable_attr<DimensionsAttrs>().dimensions = reduced;
  if (!i->shape().IsTuple()) return As(r, made, i->shape());
  std::vector<Instruction*> parts;
  for (int64_t k = 0; k < arrays; ++k)
    parts.push_back(As(r, w.Part(made, k), i->shape().elements[k]));
  return w.Tuple(parts);
}

Made DropOnes(Instruction* i, Rewriter& r) {
  if (!IsStaticReduce(i)) return nullptr;
  const DimVector& from = i->operand(0)->shape().dims;
  const DimVector& along = i->attr<DimensionsAttrs>().dimensions;
  DimVector dims, reduced;
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] == 1) continue;
    if (Contains(along, static_cast<int64_t>(d)))
      reduced.push_back(static_cast<int64_t>(dims.size()));
    dims.push_back(from[d]);
  }
  if (dims.size() == from.size()) return nullptr;
  if (reduced.empty()) return TakeAsIs(i, r);
  return Reshaped(i, dims, reduced, r);
}

Made GroupReduced(Instruction* i, Rewriter& r) {
  if (!IsStaticReduce(i) || !i->operand(0)->shape().IsRowMajor()) return nullptr;
  const DimVector& from = i->operand(0)->shape().dims;
  const DimVector& along = i->attr<DimensionsAttrs>().dimensions;
  DimVector dims, reduced;
  bool before = false;
  for (size_t d = 0; d < from.size(); ++d) {
    const bool now = Contains(along, static_cast<int64_t>(d));
    if (now && before) {
      dims.back() *= from[d];
      continue;
    }
    if (now) reduced.push_back(static_cast<int64_t>(dims.size()));
    dims.push_back(from[d]);
    before = now;
  }
  return dims.size() == from.size() ? nullptr : Reshaped(i, dims, reduced, r);
}

constexpr int64_t kLongDimension = 8;

// Whether two or more dimensions are kept, and these follow each other.
bool KeepsOnePiece(const Shape& from, const DimVector& along) {
  DimVector kept;
  for (int64_t d = 0; d < from.rank(); ++d)
    if (!Contains(along, d)) kept.push_back(d);
  return kept.size() > 1 && kept.back() - kept.front() == static_cast<int64_t>(kept.size()) - 1;
}

Made SplitReduce(Instruction* i, Rewriter& r) {
  if (!IsStaticReduce(i) || i->operand_count() != 2) return nullptr;
  const Shape& from = i->operand(0)->shape();
  DimVector along = i->attr<DimensionsAttrs>().dimensions;
  std::sort(along.begin(), along.end());
  const auto opcode = ReducerOpcode(*i->to_apply());
  bool apart = false;
  for (size_t k = 1; k < along.size(); ++k) apart |= along[k] != along[k - 1] + 1;
  // What is kept, in one piece, between what is reduced: a kernel reads that at once.
  if (KeepsOnePiece(from, along)) return nullptr;
  const auto is_long = [&](int64_t d) { return from.dims[d] >= kLongDimension; };
  if (!apart || std::count_if(along.begin(), along.end(), is_long) < 2 || !opcode ||
      !IsIdentity(i->operand(1), *opcode))
    return nullptr;
  const int64_t first = *std::max_element(along.begin(), along.end(), [&](int64_t a, int64_t b) {
    return from.dims[a] < from.dims[b];
  });
  DimVector rest;
  for (int64_t d : along)
    if (d != first) rest.push_back(d < first ? d : d - 1);
  HloWriter w(r);
  Instruction* inner = w.Reduce(i->operand(0), i->operand(1), {first}, i->to_apply());
  Instruction* made = r.Clone(i, i->shape(), {inner, i->operand(1)});
  made->mutable_attr<DimensionsAttrs>().dimensions = rest;
  return made;
}

constexpr int64_t kShortRow = 64, kManyRows = 8;

// The dimensions at the end, in order, that a reduction takes away; none where all before are taken
// away too.
DimVector ReducedAtEnd(const Instruction& reduce) {
  const DimVector& along = reduce.attr<DimensionsAttrs>().dimensions;
  DimVector at_end;
  for (int64_t d = reduce.operand(0)->shape().rank() - 1; d >= 0 && Contains(along, d); --d)
    at_end.insert(at_end.begin(), d);
  return at_end;
}

int64_t Elements(const Shape& shape, const DimVector& dims) {
  int64_t count = 1;
  for (int64_t d : dims) count *= shape.dims[d];
  return count;
}

Made SplitShortRows(Instruction* i, Rewriter& r) {
  if (!IsStaticReduce(i) || i->operand_count() != 2 || !i->operand(0)->shape().IsRowMajor())
    return nullptr;
  const Shape& from = i->operand(0)->shape();
  const auto opcode = ReducerOpcode(*i->to_apply());
  const DimVector rows = ReducedAtEnd(*i);
  DimVector columns, later;
  for (int64_t d : i->attr<DimensionsAttrs>().dimensions)
    if (!Contains(rows, d)) columns.push_back(d);
  std::sort(columns.begin(), columns.end());
  if (rows.empty() || columns.empty() || Elements(from, rows) >= kShortRow ||
      Elements(from, columns) < kManyRows || BitWidth(from.type) < 32 || !opcode ||
      !IsIdentity(i->operand(1), *opcode))
    return nullptr;
  for (int64_t d : rows) later.push_back(d - static_cast<int64_t>(columns.size()));
  HloWriter w(r);
  Instruction* inner = w.Reduce(i->operand(0), i->operand(1), columns, i->to_apply());
  Instruction* made = r.Clone(i, i->shape(), {inner, i->operand(1)});
  made->mutable_attr<DimensionsAttrs>().dimensions = later;
  return made;
}

Made WindowOfColumns(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kReduceWindow || i->operand(0)->shape().rank() != 1 ||
      i->shape().HasDynamicDims() || i->operand(0)->shape().HasDynamicDims())
    return nullptr;
  HloWriter w(r);
  const int64_t arrays = i->operand_count() / 2;
  std::vector<Instruction*> operands;
  std::vector<Shape> shapes;
  for (int64_t k = 0; k < arrays; ++k) {
    const Shape& list = i->operand(k)->shape();
    const Shape& result = i->shape().IsTuple() ? i->shape().elements[k] : i->shape();
    operands.push_back(w.Reshape(i->operand(k), {list.dims[0], 1}));
    shapes.push_back(RowMajor(result.type, {result.dims[0], 1}));
  }
  for (int64_t k = arrays; k < 2 * arrays; ++k) operands.push_back(i->operand(k));
  Instruction* made = r.Clone(i, i->shape().IsTuple() ? Shape::Tuple(shapes) : shapes[0], operands);
  made->mutable_attr<WindowAttrs>().window.push_back(WindowDim());
  if (!i->shape().IsTuple()) return As(r, made, i->shape());
  std::vector<Instruction*> parts;
  for (int64_t k = 0; k < arrays; ++k)
    parts.push_back(As(r, w.Part(made, k), i->shape().elements[k]));
  return w.Tuple(parts);
}

// concatenate of n operands as a tree of concatenates of at most kMaxConcatenated.
Made SplitConcatenate(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kConcatenate || i->operand_count() <= kMaxConcatenated ||
      i->shape().HasDynamicDims())
    return nullptr;
  HloWriter w(r);
  const int64_t dim = i->attr<DimensionsAttrs>().dimensions[0];
  std::vector<Instruction*> parts(i->operands().begin(), i->operands().end());
  while (static_cast<int64_t>(parts.size()) > kMaxConcatenated) {
    std::vector<Instruction*> joined;
    for (size_t k = 0; k < parts.size(); k += kMaxConcatenated) {
      const size_t end = std::min<size_t>(parts.size(), k + kMaxConcatenated);
      const absl::Span<Instruction* const> group(parts.data() + k, end - k);
      joined.push_back(group.size() == 1 ? group[0] : w.Concatenate(group, dim));
    }
    parts = std::move(joined);
  }
  return r.Clone(i, i->shape(), parts);
}

}  // namespace

// reduction-degenerate-dim-remover: reductions do without dimensions of size one, with reshapes
// around them. One that reduces such dimensions only stays. Exact.
std::unique_ptr<Pass> CreateReductionDegenerateDimRemover() {
  return MakeExpander("reduction-degenerate-dim-remover", DropOnes);
}

// reduction-dimension-grouper: neighbours among the reduced dimensions become one, by a reshape.
std::unique_ptr<Pass> CreateReductionDimensionGrouper() {
  return MakeExpander("reduction-dimension-grouper", GroupReduced);
}

// reduction-splitter: a reduction over dimensions that are no neighbours, of which two are at least
// 8 long, becomes two, the longest dimension first, where the initial value is the identity.
// Reassociates floats.
std::unique_ptr<Pass> CreateReductionSplitter() {
  return MakeExpander("reduction-splitter", SplitReduce);
}

// short-row-splitter: a reduction of 32 bits and more over slow dimensions and over rows of less
// than 64 elements, with others between, becomes one of columns, which vectors add up, and one of
// what that leaves. Where the initial value is the identity. Reassociates floats.
std::unique_ptr<Pass> CreateShortRowSplitter() {
  return MakeExpander("short-row-splitter", SplitShortRows);
}

// reduce-window-resizer: windows over lists go over columns. Exact.
std::unique_ptr<Pass> CreateReduceWindowResizer() {
  return MakeExpander("reduce-window-resizer", WindowOfColumns);
}

// variadic-op-splitter: concatenations of more than kMaxConcatenated operands join them in groups.
// Exact.
std::unique_ptr<Pass> CreateVariadicOpSplitter() {
  return MakeExpander("variadic-op-splitter", SplitConcatenate);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
