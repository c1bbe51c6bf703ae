// Long scans in blocks.
// associative-scan-rewriter. Matches scans of one array by an associative function of one opcode,
// whose carry is the last result and read by nobody, and which start with what changes nothing (by
// minimum, maximum, and, or: with anything), over more than `base-length` (16) steps: leaves
// reduce-windows over blocks of so many, and over what the blocks give. With `any` scans that start
// with anything, and whose carry is read, become scans of blocks. Reassociates.
//   add-scan {1,2,3,4}, b = 2:  {1,3 | 3,7}, ends {3,7}, before {0,3}  ->  {1,3,6,10}
#include <algorithm>

#include "passes/expanders/reduce_window_rewriter.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

// The opcode that the function combines slice and carry with, of which it gives the result twice.
std::optional<Opcode> ScannedOpcode(const Computation& f) {
  const Instruction* root = f.root();
  if (root->opcode() != Opcode::kTuple || root->operand_count() != 2 ||
      root->operand(0) != root->operand(1) || f.parameter_count() != 2)
    return std::nullopt;
  return CombiningOpcode(*root->operand(0));
}

class BlockedScan {
 public:
  BlockedScan(const Instruction* scan, Opcode opcode, int64_t block, Rewriter& r)
      : scan_(scan),
        opcode_(opcode),
        block_(block),
        r_(r),
        w_(r),
        dim_(scan->attr<ScanAttrs>().dimensions[0]),
        type_(scan->operand(0)->shape().type) {}

  Instruction* Make() {
    Instruction* x = scan_->operand(0);
    const int64_t steps = x->shape().dims[dim_];
    const int64_t blocks = (steps + block_ - 1) / block_;
    const bool reverse = scan_->attr<ScanAttrs>().is_reverse;
    PaddingConfig padding(x->shape().rank());
    // What is added after the last step changes nothing.
    (reverse ? padding[dim_].low : padding[dim_].high) = blocks * block_ - steps;
    DimVector split = x->shape().dims;
    split[dim_] = block_;
    split.insert(split.begin() + dim_, blocks);
    Instruction* identity = w_.Identity(opcode_, type_);
    Instruction* parts = w_.Reshape(w_.Pad(x, identity, padding), split);
    DimVector slice = Without(split, dim_ + 1);
    Instruction* inner = Scan(parts, dim_ + 1, w_.Fill(RowMajor(type_, slice), identity), 0);
    const int64_t end = reverse ? 0 : block_ - 1;
    Instruction* ends = w_.Reshape(w_.SliceOf(inner, dim_ + 1, end, end + 1), slice);
    Instruction* before = Before(ends, blocks, reverse);
    DimVector where;
    for (int64_t d = 0; d < inner->shape().rank(); ++d)
      if (d != dim_ + 1) where.push_back(d);
    Instruction* all = w_.Binary(opcode_, w_.Broadcast(before, split, where), inner);
    DimVector joined = x->shape().dims;
    joined[dim_] = blocks * block_;
    Instruction* first = w_.Reshape(all, joined);
    const int64_t start = padding[dim_].low;
    Instruction* result = w_.SliceOf(first, dim_, start, start + steps);
    const int64_t last = reverse ? 0 : steps - 1;
    Instruction* carry =
        w_.Reshape(w_.SliceOf(result, dim_, last, last + 1), scan_->operand(1)->shape().dims);
    return w_.Tuple({result, carry});
  }

 private:
  static DimVector Without(DimVector dims, int64_t d) {
    dims.erase(dims.begin() + d);
    return dims;
  }

  // Part `part` of a scan of `x` along `dim`.
  Instruction* Scan(Instruction* x, int64_t dim, Instruction* init, int64_t part) {
    const Shape slice = RowMajor(type_, Without(x->shape().dims, dim));
    Computation* f = scan_->module()->AddComputation(scan_->to_apply()->name());
    Instruction* a = f->AddParameter(0, slice);
    Instruction* b = f->AddParameter(1, slice);
    Instruction* both = f->Add(opcode_, slice, {a, b});
    f->set_root(f->Add(Opcode::kTuple, Shape::Tuple({slice, slice}), {both, both}));
    ScanAttrs attrs = scan_->attr<ScanAttrs>();
    attrs.dimensions = {dim};
    const Shape whole = RowMajor(type_, x->shape().dims);
    Instruction* made =
        r_.Add(Opcode::kScan, Shape::Tuple({whole, slice}), {x, init}, std::move(attrs));
    made->set_called({f});
    return w_.Part(made, part);
  }

  // For each block, what stood before it: the carry, then all blocks before.
  Instruction* Before(Instruction* ends, int64_t blocks, bool reverse) {
    Instruction* after = Scan(ends, dim_, scan_->operand(1), 0);
    DimVector one = ends->shape().dims;
    one[dim_] = 1;
    Instruction* start = w_.Reshape(scan_->operand(1), one);
    if (blocks == 1) return start;
    if (reverse) return w_.Concatenate({w_.SliceOf(after, dim_, 1, blocks), start}, dim_);
    return w_.Concatenate({start, w_.SliceOf(after, dim_, 0, blocks - 1)}, dim_);
  }

  const Instruction* scan_;
  Opcode opcode_;
  int64_t block_;
  Rewriter& r_;
  HloWriter w_;
  int64_t dim_;
  ElementType type_;
};

// The opcode of a scan that falls into blocks of more than one.
std::optional<Opcode> OpcodeOfBlocks(const Instruction* i, int64_t base) {
  if (i->opcode() != Opcode::kScan || i->operand_count() != 2 || i->shape().HasDynamicDims() ||
      base < 2)
    return std::nullopt;
  const auto& attrs = i->attr<ScanAttrs>();
  const Shape& x = i->operand(0)->shape();
  const auto opcode = ScannedOpcode(*i->to_apply());
  if (!opcode || !attrs.is_associative.value_or(false) || attrs.num_carries != 1 || !x.IsArray() ||
      !i->shape().IsTuple() || x.dims[attrs.dimensions[0]] <= base || x.ElementCount() == 0 ||
      !x.IsRowMajor() || IsPred(x.type) || IsComplex(x.type) ||
      i->operand(1)->shape().type != x.type ||
      i->shape() !=
          Shape::Tuple({RowMajor(x.type, x.dims), RowMajor(x.type, i->operand(1)->shape().dims)}))
    return std::nullopt;
  return opcode;
}

bool IsIdempotent(Opcode opcode) {
  return opcode == Opcode::kMinimum || opcode == Opcode::kMaximum || opcode == Opcode::kAnd ||
         opcode == Opcode::kOr;
}

bool OnlyResultIsRead(const Instruction* scan) {
  return !scan->IsRoot() &&
         std::all_of(scan->users().begin(), scan->users().end(), [](const Instruction* user) {
           return user->opcode() == Opcode::kGetTupleElement && user->tuple_index() == 0;
         });
}

// A scan as windows; the carry that nobody reads is what it starts with.
Instruction* AsWindows(Instruction* scan, Opcode opcode, int64_t base, Rewriter& r) {
  HloWriter w(r);
  const auto& attrs = scan->attr<ScanAttrs>();
  const Shape& x = scan->operand(0)->shape();
  const int64_t dim = attrs.dimensions[0];
  const Shape scalar = RowMajor(x.type, {});
  Computation* f = scan->module()->AddComputation(scan->to_apply()->name());
  Instruction* a = f->AddParameter(0, scalar);
  Instruction* b = f->AddParameter(1, scalar);
  f->set_root(f->Add(opcode, scalar, {a, b}));
  Instruction* all = InclusiveScanInBlocks(w, scan->operand(0), dim, w.Identity(opcode, x.type), f,
                                           base, attrs.is_reverse);
  Instruction* start = scan->operand(1);
  if (!IsIdentity(start, opcode)) {
    DimVector kept;
    for (int64_t d = 0; d < x.rank(); ++d)
      if (d != dim) kept.push_back(d);
    all = w.Binary(opcode, w.Broadcast(start, x.dims, kept), all);
  }
  return w.Tuple({all, start});
}

absl::StatusOr<Instruction*> RewriteScan(Instruction* i, Rewriter& r, int64_t base, bool any) {
  const std::optional<Opcode> opcode = OpcodeOfBlocks(i, base);
  if (!opcode) return nullptr;
  if (any) return BlockedScan(i, *opcode, base, r).Make();
  if (!OnlyResultIsRead(i) || (!IsIdempotent(*opcode) && !IsIdentity(i->operand(1), *opcode)))
    return nullptr;
  return AsWindows(i, *opcode, base, r);
}

}  // namespace

std::unique_ptr<Pass> CreateAssociativeScanRewriter(PassArguments& arguments) {
  const int64_t base = arguments.Int("base-length", 16, "steps of a block");
  const bool any = arguments.Flag("any", "scans that start with anything, or whose carry is read");
  return MakeExpander("associative-scan-rewriter",
                      [=](Instruction* i, Rewriter& r) { return RewriteScan(i, r, base, any); });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
