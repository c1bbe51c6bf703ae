// Elements of map, reduce, reduce-window and small dots: loops that carry running values.
#include "codegen/element_emitter.h"
#include "ops/eval_program.h"

namespace hlokit {
namespace {

// While alive, float operations may be reassociated (so that LLVM keeps several running sums).
class Reassociate {
 public:
  Reassociate(Builder& b, bool on) : b_(b), saved_(b.getFastMathFlags()) {
    if (!on) return;
    llvm::FastMathFlags flags = saved_;
    flags.setAllowReassoc();
    b_.setFastMathFlags(flags);
  }
  ~Reassociate() { b_.setFastMathFlags(saved_); }

 private:
  Builder& b_;
  llvm::FastMathFlags saved_;
};

bool IsNarrowFloat(ElementType type) {
  return IsFloat(type) && type != ElementType::kF32 && type != ElementType::kF64;
}

}  // namespace

ElementEmitter::Results ElementEmitter::EmitMap(const Instruction* i, const ElementIndex& index) {
  Results arguments;
  for (int64_t o = 0; o < i->operand_count(); ++o) arguments.push_back(Operand(i, o, index));
  return Apply(*i->to_apply(), arguments);
}

// Running values of narrow floats are f32 and rounded once, as XLA's CPU does by widening the whole
// reduction.
ElementEmitter::Results ElementEmitter::EmitReduce(const Instruction* i,
                                                   const ElementIndex& index) {
  const int64_t n = i->operand_count() / 2;
  const Shape& from = i->operand(0)->shape();
  const auto& reduced = i->attr<DimensionsAttrs>().dimensions;
  const Shape& result_shape = i->shape().IsTuple() ? i->shape().elements[0] : i->shape();
  const ElementIndex full = WithMulti(b_, index, result_shape);
  std::vector<llvm::Value*> multi(from.rank());
  DimVector order;  // reduced dimensions, slowest in memory first
  const DimVector minor = from.MinorToMajor();
  for (size_t k = minor.size(); k-- > 0;)
    if (std::find(reduced.begin(), reduced.end(), minor[k]) != reduced.end())
      order.push_back(minor[k]);
  for (int64_t d = 0, kept = 0; d < from.rank(); ++d)
    if (std::find(reduced.begin(), reduced.end(), d) == reduced.end())
      multi[d] = full.multi[kept++];

  Results running;
  for (int64_t k = 0; k < n; ++k)
    running.push_back(Emit(i->operand(n + k), ElementIndex::Multi({})));
  const Results like = running;
  const bool reassociate = SimpleReducer(*i->to_apply()).has_value();
  std::function<Values(size_t, const Values&)> nest = [&](size_t level,
                                                          const Values& carried) -> Values {
    if (level == order.size()) {
      Results arguments = Unflatten(carried, like);
      for (int64_t k = 0; k < n; ++k)
        arguments.push_back(Emit(i->operand(k), ElementIndex::Multi(multi)));
      const bool was_wide = wide_;
      wide_ = true;
      const Reassociate flags(b_, reassociate);
      const Values next = Flatten(Apply(*i->to_apply(), arguments));
      wide_ = was_wide;
      return next;
    }
    return EmitLoopCarrying(b_, from.dims[order[level]], carried,
                            [&](llvm::Value* at, const Values& inner) {
                              multi[order[level]] = at;
                              BeginScope();
                              const Values next = nest(level + 1, inner);
                              EndScope();
                              return next;
                            });
  };
  Results results = Unflatten(nest(0, Flatten(running)), like);
  for (int64_t k = 0; k < n; ++k) {
    const Shape& part = i->shape().IsTuple() ? i->shape().elements[k] : i->shape();
    if (!wide_ && IsNarrowFloat(part.type))
      results[k] = EmitConvert(b_, ElementType::kF32, part.type, results[k]);
  }
  return results;
}

ElementEmitter::Results ElementEmitter::EmitReduceWindow(const Instruction* i,
                                                         const ElementIndex& index) {
  const int64_t n = i->operand_count() / 2;
  const Shape& from = i->operand(0)->shape();
  const Window& window = i->attr<WindowAttrs>().window;
  const Shape& result_shape = i->shape().IsTuple() ? i->shape().elements[0] : i->shape();
  const ElementIndex full = WithMulti(b_, index, result_shape);
  Results running;
  for (int64_t k = 0; k < n; ++k)
    running.push_back(Emit(i->operand(n + k), ElementIndex::Multi({})));
  const Results like = running;
  std::vector<llvm::Value*> multi(from.rank());
  const bool reassociate = SimpleReducer(*i->to_apply()).has_value();

  std::function<Values(int64_t, llvm::Value*, const Values&)> nest =
      [&](int64_t d, llvm::Value* inside, const Values& carried) -> Values {
    if (d == from.rank()) {
      Results arguments = Unflatten(carried, like);
      for (int64_t k = 0; k < n; ++k)
        arguments.push_back(Emit(i->operand(k), ElementIndex::Multi(multi)));
      const bool was_wide = wide_;
      wide_ = true;
      const Reassociate flags(b_, reassociate);
      Values next = Flatten(Apply(*i->to_apply(), arguments));
      wide_ = was_wide;
      for (size_t v = 0; v < next.size(); ++v)
        next[v] = b_.CreateSelect(inside, next[v], carried[v]);
      return next;
    }
    const WindowDim& w = window[d];
    return EmitLoopCarrying(b_, w.size, carried, [&](llvm::Value* step, const Values& inner) {
      llvm::Value* at =
          b_.CreateNSWAdd(Scale(b_, full.multi[d], w.stride), Scale(b_, step, w.window_dilation));
      at = b_.CreateNSWSub(at, b_.getInt64(w.pad_low));
      llvm::Value* ok = inside;
      const bool whole = w.pad_low == 0 && w.pad_high <= 0 && w.base_dilation == 1;
      if (w.base_dilation > 1) {
        llvm::Value* dilation = b_.getInt64(w.base_dilation);
        ok = b_.CreateAnd(ok, b_.CreateICmpEQ(b_.CreateSRem(at, dilation), b_.getInt64(0)));
        ok = b_.CreateAnd(ok, b_.CreateICmpSGE(at, b_.getInt64(0)));
        at = b_.CreateSDiv(at, dilation);
      }
      if (!whole) {
        llvm::Value* valid = b_.CreateICmpULT(at, b_.getInt64(from.dims[d]));
        ok = b_.CreateAnd(ok, valid);
        at = b_.CreateSelect(valid, at, b_.getInt64(0));
      }
      multi[d] = at;
      BeginScope();
      const Values next = nest(d + 1, ok, inner);
      EndScope();
      return next;
    });
  };
  if (from.ElementCount() == 0) return running;
  Results results = Unflatten(nest(0, b_.getTrue(), Flatten(running)), like);
  for (int64_t k = 0; k < n; ++k) {
    const Shape& part = i->shape().IsTuple() ? i->shape().elements[k] : i->shape();
    if (!wide_ && IsNarrowFloat(part.type))
      results[k] = EmitConvert(b_, ElementType::kF32, part.type, results[k]);
  }
  return results;
}

// Sums of products, in the operands' type (narrow floats in f32), rounded once.
ScalarValue ElementEmitter::EmitDot(const Instruction* i, const ElementIndex& index) {
  const auto& dims = i->attr<DotAttrs>();
  const Instruction* lhs = i->operand(0);
  const Instruction* rhs = i->operand(1);
  const ElementIndex full = WithMulti(b_, index, i->shape());
  std::vector<llvm::Value*> l(lhs->shape().rank()), r(rhs->shape().rank());
  int64_t at = 0;
  for (size_t k = 0; k < dims.lhs_batch_dims.size(); ++k, ++at)
    l[dims.lhs_batch_dims[k]] = r[dims.rhs_batch_dims[k]] = full.multi[at];
  auto free_dims = [&](std::vector<llvm::Value*>& multi, const DimVector& batch,
                       const DimVector& contracting) {
    for (size_t d = 0; d < multi.size(); ++d) {
      const bool used = std::find(batch.begin(), batch.end(), d) != batch.end() ||
                        std::find(contracting.begin(), contracting.end(), d) != contracting.end();
      if (!used) multi[d] = full.multi[at++];
    }
  };
  free_dims(l, dims.lhs_batch_dims, dims.lhs_contracting_dims);
  free_dims(r, dims.rhs_batch_dims, dims.rhs_contracting_dims);

  ElementType sum_type = TypeOf(i->shape());
  if (IsNarrowFloat(sum_type)) sum_type = ElementType::kF32;
  const ScalarValue zero = EmitConvert(b_, ElementType::kPred, sum_type, {b_.getFalse()});
  const std::vector<ScalarValue> like = {zero};
  std::function<Values(size_t, const Values&)> nest = [&](size_t level,
                                                          const Values& carried) -> Values {
    if (level == dims.lhs_contracting_dims.size()) {
      auto factor = [&](const Instruction* operand, const std::vector<llvm::Value*>& multi) {
        return EmitConvert(b_, TypeOf(operand->shape()), sum_type,
                           Emit(operand, ElementIndex::Multi(multi)));
      };
      const ScalarValue x = factor(lhs, l), y = factor(rhs, r);
      const Reassociate flags(b_, true);
      const ScalarValue product = EmitBinary(b_, Opcode::kMultiply, sum_type, x, y);
      return Flatten(
          {EmitBinary(b_, Opcode::kAdd, sum_type, Unflatten(carried, like)[0], product)});
    }
    const int64_t size = lhs->shape().dims[dims.lhs_contracting_dims[level]];
    return EmitLoopCarrying(b_, size, carried, [&](llvm::Value* k, const Values& inner) {
      l[dims.lhs_contracting_dims[level]] = r[dims.rhs_contracting_dims[level]] = k;
      BeginScope();
      const Values next = nest(level + 1, inner);
      EndScope();
      return next;
    });
  };
  const ScalarValue sum = Unflatten(nest(0, Flatten({zero})), like)[0];
  return sum_type == TypeOf(i->shape()) ? sum : EmitConvert(b_, sum_type, TypeOf(i->shape()), sum);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
