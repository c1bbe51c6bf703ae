// Choice of kernels, element loops, updates in place, concatenation.
#include "codegen/kernels.h"

#include <algorithm>

#include "analysis/in_place.h"
#include "codegen/kernels_internal.h"
#include "codegen/small_dots.h"

namespace hlokit {
namespace {

bool IsLeafParameter(const Expression& e, const Instruction* i, int64_t* operand) {
  for (const Expression::Leaf& leaf : e.leaves) {
    if (leaf.instruction != i) continue;
    *operand = leaf.operand;
    return true;
  }
  return false;
}

// Index of the window's element `index` inside the updated array.
ElementIndex UpdatedIndex(ElementEmitter& emitter, const Instruction* update,
                          const ElementIndex& index) {
  Builder& b = emitter.builder();
  std::vector<llvm::Value*> multi;
  const bool vector_starts = update->operand_count() > 2 && update->operand(2)->shape().rank() == 1;
  for (int64_t d = 0; d < update->shape().rank(); ++d) {
    const int64_t limit = update->shape().dims[d] - update->operand(1)->shape().dims[d];
    if (limit == 0) {
      multi.push_back(index.multi[d]);
      continue;
    }
    const Instruction* start = update->operand(vector_starts ? 2 : 2 + d);
    const ElementIndex at = ElementIndex::Multi(
        vector_starts ? std::vector<llvm::Value*>{b.getInt64(d)} : std::vector<llvm::Value*>{});
    multi.push_back(b.CreateNSWAdd(
        ClampStart(b, start->shape().type, emitter.Emit(start, at).re, limit), index.multi[d]));
  }
  return ElementIndex::Multi(std::move(multi));
}

bool FusionIsLoops(const Instruction& fusion) {
  const Computation& body = *fusion.to_apply();
  const Instruction* root = body.root();
  for (const Instruction* i : body.Instructions()) {
    if (i->IsParameter() && !i->shape().IsArray()) return false;
    if (i == root &&
        (i->opcode() == Opcode::kScatter || i->opcode() == Opcode::kSelectAndScatter)) {
      if (!CanEmitScatter(*i)) return false;
    } else if (i->opcode() == Opcode::kTuple) {
      if (i != root) return false;
    } else if (!CanEmitElement(*i)) {
      return false;
    }
  }
  if (root->opcode() == Opcode::kTuple)
    for (const Instruction* part : root->operands())
      if (!part->shape().IsArray()) return false;
  return true;
}

// Elements at constant places come from registers, others from memory.
void BindKnown(ElementEmitter& emitter, const Expression::Leaf& leaf,
               std::vector<ScalarValue> known, const Shape& shape, KernelArrays& arrays) {
  emitter.Bind(leaf.instruction, [&emitter, &arrays, &shape, leaf,
                                  known = std::move(known)](const ElementIndex& index) {
    Builder& b = emitter.builder();
    if (known.size() == 1) return known[0];
    const auto* at = llvm::dyn_cast<llvm::ConstantInt>(LinearOffset(b, index, shape));
    if (at != nullptr && at->getValue().ult(known.size())) return known[at->getZExtValue()];
    return LoadFrom(b, arrays.operand(leaf.operand), index);
  });
}

}  // namespace

void BindLeaves(ElementEmitter& emitter, const Expression& e, KernelArrays& arrays) {
  emitter.set_unsupported(&arrays.unsupported);
  for (const Expression::Leaf& leaf : e.leaves) {
    const Instruction* operand = e.subject->operand(leaf.operand);
    if (operand->IsConstant() && operand->shape().IsScalar() && operand->literal() != nullptr) {
      const Literal& value = *operand->literal();
      emitter.Bind(leaf.instruction, [&emitter, &value](const ElementIndex&) {
        return ConstantElement(emitter.builder(), value.type(), value.data());
      });
    } else if (auto known = arrays.known(leaf.operand); known.has_value()) {
      BindKnown(emitter, leaf, *std::move(known), operand->shape(), arrays);
    } else {
      emitter.Bind(leaf.instruction, arrays.operand(leaf.operand));
    }
  }
}

Kernel CopyKernel(int64_t operand, int64_t result_leaf, const Shape& shape) {
  const int64_t bytes = shape.ByteSize();
  constexpr int64_t kChunk = 1 << 16;
  Kernel kernel;
  kernel.units = (bytes + kChunk - 1) / kChunk;
  kernel.unit_cost = kChunk / 16;
  kernel.emit = [=](Builder& b, KernelArrays& arrays, llvm::Value* begin, llvm::Value* end) {
    llvm::Value* from = b.CreateNSWMul(begin, b.getInt64(kChunk));
    llvm::Value* to = b.CreateBinaryIntrinsic(
        llvm::Intrinsic::smin, b.CreateNSWMul(end, b.getInt64(kChunk)), b.getInt64(bytes));
    llvm::Value* source = b.CreateInBoundsGEP(b.getInt8Ty(), arrays.operand(operand).base, from);
    llvm::Value* target = b.CreateInBoundsGEP(b.getInt8Ty(), arrays.result(result_leaf).base, from);
    b.CreateMemCpy(target, llvm::Align(1), source, llvm::Align(1), b.CreateNSWSub(to, from));
  };
  return kernel;
}

bool AddUpdateKernels(const Expression& e, const InPlace& in_place, std::vector<Kernel>& out) {
  if (e.roots.size() != 1 || e.roots[0]->opcode() != Opcode::kDynamicUpdateSlice) return false;
  const Instruction* update = e.roots[0];
  int64_t base = 0;
  if (!IsLeafParameter(e, update->operand(0), &base)) return false;
  if (!IsBitcast(update->operand(0)->shape(), e.shapes[0]) ||
      update->operand(0)->shape().type != e.shapes[0].type)
    return false;
  if (!in_place(base, 0)) {
    // The base must be the buffer that is copied, before anything is written.
    out.push_back(CopyKernel(base, 0, e.shapes[0]));
  }
  const Shape& window = update->operand(1)->shape();
  const DomainLoop loop(window, false);
  Kernel kernel;
  kernel.units = loop.units();
  kernel.unit_cost = ElementCost(e) * static_cast<double>(loop.elements_per_unit());
  kernel.emit = [e, update, loop](Builder& b, KernelArrays& arrays, llvm::Value* begin,
                                  llvm::Value* end) {
    ElementEmitter emitter(b);
    BindLeaves(emitter, e, arrays);
    // Starts do not depend on the element: emitted once, before the loops.
    const std::vector<llvm::Value*> zero(update->shape().rank(), b.getInt64(0));
    UpdatedIndex(emitter, update, ElementIndex::Multi(zero));
    const ArrayRef result = arrays.result(0);
    loop.Emit(b, begin, end, [&](const ElementIndex& index) {
      emitter.BeginScope();
      const ScalarValue value = emitter.Emit(update->operand(1), index);
      StoreTo(b, {result.base, update->shape()}, UpdatedIndex(emitter, update, index), value);
      emitter.EndScope();
    });
  };
  if (loop.units() > 0) out.push_back(std::move(kernel));
  return true;
}

bool AddConcatenateKernels(const Expression& e, std::vector<Kernel>& out) {
  if (e.roots.size() != 1 || e.roots[0]->opcode() != Opcode::kConcatenate) return false;
  const Instruction* root = e.roots[0];
  const int64_t d = root->attr<DimensionsAttrs>().dimensions[0];
  int64_t start = 0;
  const double cost = ElementCost(e);
  for (const Instruction* part : root->operands()) {
    if (AddPartCopy(e, part, d, start, out)) {
      start += part->shape().dims[d];
      continue;
    }
    Shape domain = part->shape();  // walked in the result's memory order
    domain.has_layout = root->shape().has_layout;
    domain.layout = root->shape().layout;
    DomainLoop loop(domain, false);
    if (domain.dims[d] == 1) loop.WriteOutShortRows(cost);  // one of each row at most
    Kernel kernel;
    kernel.units = loop.units();
    kernel.unit_cost = cost * static_cast<double>(loop.elements_per_unit());
    kernel.emit = [=](Builder& b, KernelArrays& arrays, llvm::Value* begin, llvm::Value* end) {
      ElementEmitter emitter(b);
      BindLeaves(emitter, e, arrays);
      const ArrayRef result = arrays.result(0);
      loop.Emit(b, begin, end, [&](const ElementIndex& index) {
        emitter.BeginScope();
        ElementIndex to = ElementIndex::Multi(index.multi);
        to.multi[d] = b.CreateNSWAdd(to.multi[d], b.getInt64(start));
        StoreTo(b, {result.base, root->shape()}, to,
                emitter.Emit(part, ElementIndex::Multi(index.multi)));
        emitter.EndScope();
      });
    };
    if (loop.units() > 0) out.push_back(std::move(kernel));
    start += part->shape().dims[d];
  }
  return true;
}

namespace {

constexpr int64_t kLongLoop = 1024;  // shorter ones are not for threads anyway

// Of one element of a loop that LLVM makes vectors of: either memory or arithmetic sets its pace.
double VectorCost(const Expression& e) {
  constexpr double kArray = 0.67, kStep = 0.3;
  const auto arrays = static_cast<double>(e.roots.size() + e.leaves.size());
  return std::max(kArray * arrays, kStep * ElementCost(e));
}

}  // namespace

void AddElementKernels(const Expression& e, std::vector<Kernel>& out) {
  std::vector<bool> done(e.roots.size(), false);
  for (size_t first = 0; first < e.roots.size(); ++first) {
    if (done[first]) continue;
    std::vector<size_t> together;  // roots of one shape share a loop
    for (size_t r = first; r < e.roots.size(); ++r) {
      const bool same = e.shapes[r].dims == e.shapes[first].dims &&
                        e.shapes[r].MinorToMajor() == e.shapes[first].MinorToMajor();
      if (done[r] || !same) continue;
      done[r] = true;
      together.push_back(r);
    }
    const bool linear = IsLinear(e);
    const bool vectors = linear && e.shapes[first].ElementCount() >= kLongLoop;
    const double cost = vectors ? VectorCost(e) : ElementCost(e);
    const Shape walked = linear ? e.shapes[first] : WalkedShape(e, e.shapes[first]);
    DomainLoop loop(walked, linear, cost);
    loop.WriteOutShortRows(cost);
    Kernel kernel;
    kernel.units = loop.units();
    kernel.unit_cost = cost * static_cast<double>(loop.elements_per_unit());
    kernel.emit = [e, loop, together](Builder& b, KernelArrays& arrays, llvm::Value* begin,
                                      llvm::Value* end) {
      ElementEmitter emitter(b);
      emitter.set_excess(true);
      emitter.set_plain_nans(HasPlainNaNs(e));
      emitter.set_unroll(IsShortMatrixVector(*e.subject));
      BindLeaves(emitter, e, arrays);
      std::vector<ArrayRef> results;
      for (size_t r : together) results.push_back(arrays.result(r));
      loop.Emit(b, begin, end, [&](const ElementIndex& index) {
        emitter.BeginScope();
        std::vector<ScalarValue>
            values;  // all reads before any write: results may lie in operands' places
        for (size_t r : together)
          values.push_back(emitter.EmitRounded(e.roots[r], index, e.root_leaves[r]));
        for (size_t k = 0; k < together.size(); ++k) StoreTo(b, results[k], index, values[k]);
        emitter.EndScope();
      });
    };
    if (loop.units() > 0) out.push_back(std::move(kernel));
  }
}

bool CanEmitKernels(const Instruction& i) {
  if (i.opcode() == Opcode::kFusion) {
    for (const ShapeLeaf& leaf : Leaves(i.shape()))
      if (!leaf.shape->IsArray() || leaf.shape->HasDynamicDims()) return false;
    return FusionIsLoops(i);
  }
  if (i.opcode() == Opcode::kScatter || i.opcode() == Opcode::kSelectAndScatter)
    return CanEmitScatter(i);
  switch (i.opcode()) {
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kParameter:
    case Opcode::kConstant:
      return false;
    default:
      return CanEmitElement(i);
  }
}

namespace {

// The arrays of an instruction as one part of it sees them, which counts its results from 0.
class PartArrays final : public KernelArrays {
 public:
  PartArrays(KernelArrays& whole, const std::vector<int64_t>& results)
      : whole_(whole), results_(results) {}
  ~PartArrays() override {
    if (unsupported != nullptr) whole_.unsupported = unsupported;
  }
  ArrayRef operand(int64_t o) override { return whole_.operand(o); }
  ArrayRef result(int64_t leaf) override { return whole_.result(results_[leaf]); }
  std::optional<std::vector<ScalarValue>> known(int64_t o) override { return whole_.known(o); }

 private:
  KernelArrays& whole_;
  const std::vector<int64_t>& results_;
};

std::vector<Kernel> KernelsOf(const Expression& e, const InPlace& in_place) {
  std::vector<Kernel> out;
  if (AddScatterKernels(e, in_place, out) || AddUpdateKernels(e, in_place, out) ||
      AddSliceCopy(e, out) || AddBitcastCopy(e, out) || AddConcatenateKernels(e, out) ||
      AddPadKernels(e, out) || AddScanKernels(e, out) || AddBlockFoldKernels(e, out) ||
      AddSmallDotKernels(e, out) || AddRowKernels(e, out) || AddColumnReduceKernels(e, out))
    return out;
  AddElementKernels(e, out);
  return out;
}

}  // namespace

std::vector<Kernel> MakeKernels(const Instruction& i, const InPlace& in_place) {
  const std::vector<ExpressionPart> parts = PartsOf(Expression::Of(&i));
  if (parts.size() == 1) return KernelsOf(parts[0].expression, in_place);
  std::vector<Kernel> out;
  for (const ExpressionPart& part : parts) {
    const auto own_place = [&](int64_t o, int64_t leaf) { return in_place(o, part.results[leaf]); };
    std::vector<Kernel> kernels = KernelsOf(part.expression, own_place);
    for (Kernel& kernel : kernels) {
      for (const Expression::Leaf& leaf : part.expression.leaves)
        kernel.operands.push_back(leaf.operand);
      kernel.results = part.results;
      kernel.whole_part = kernels.size() == 1;
      kernel.emit = [emit = std::move(kernel.emit), results = part.results](
                        Builder& b, KernelArrays& whole, llvm::Value* begin, llvm::Value* end) {
        PartArrays arrays(whole, results);
        emit(b, arrays, begin, end);
      };
      out.push_back(std::move(kernel));
    }
  }
  return out;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
