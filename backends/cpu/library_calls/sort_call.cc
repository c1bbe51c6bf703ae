// Sorts: by a plain order on one key where the comparator is one, else with the comparator as a
// function.
//
//   compare(a, b), direction=LT         ->  order of numbers on key 0
//   compare(b, a), direction=LT         ->  the same, descending
//   compare(a, b), LT, type=TOTALORDER  ->  total order of the bits
// JAX wraps both sides in selects that make -0 equal to 0 and all NaN one; these are peeled off and
// become the order in which zeros are equal and NaN comes last. With a plain order the runtime may
// sort integers of the same order in vectors; with a comparator it merges and calls the function
// for each comparison. Further operands are carried along with the key.
#include <algorithm>

#include "analysis/emittable.h"
#include "analysis/in_place.h"
#include "backends/cpu/library_calls/library_internal.h"
#include "codegen/element_emitter.h"

namespace hlokit {
namespace {

bool IsNanConstant(const Instruction* i) {
  if (i->opcode() == Opcode::kConvert || i->opcode() == Opcode::kBroadcast) i = i->operand(0);
  if (!i->IsConstant() || i->literal() == nullptr || !IsFloat(i->shape().type) ||
      !i->shape().IsScalar())
    return false;
  const double v = i->literal()->GetDouble(0);
  return v != v;
}

bool IsZeroConstant(const Instruction* i) {
  return i->IsConstant() && i->literal() != nullptr && IsFloat(i->shape().type) &&
         i->shape().IsScalar() && i->literal()->GetDouble(0) == 0;
}

bool IsCompare(const Instruction* i, ComparisonDirection direction) {
  return i->opcode() == Opcode::kCompare && i->attr<CompareAttrs>().direction == direction;
}

// Which values a comparator makes one before it compares.
struct Canonical {
  bool zeros = false, nans = false;
  bool operator==(const Canonical&) const = default;
};

// Peels `is zero ? 0 : x` and `is NaN ? nan : x`, JAX's way to make -0 equal 0 and all NaN equal.
const Instruction* PeelCanonical(const Instruction* i, Canonical* canonical) {
  while (i->opcode() == Opcode::kSelect) {
    const Instruction* test = i->operand(0);
    const bool nan = IsCompare(test, ComparisonDirection::kNe) &&
                     test->operand(0) == test->operand(1) && IsNanConstant(i->operand(1));
    const bool zero = IsCompare(test, ComparisonDirection::kEq) &&
                      IsZeroConstant(test->operand(1)) && IsZeroConstant(i->operand(1));
    if (!nan && !zero) return i;
    canonical->zeros |= zero;
    canonical->nans |= nan;
    i = i->operand(2);
  }
  return i;
}

struct PlainOrder {
  int64_t key = 0;  // operand
  bool total = false, descending = false;
};

bool FindPlainOrder(const Instruction& sort, PlainOrder& order) {
  const Instruction* root = sort.to_apply()->root();
  if (root->opcode() != Opcode::kCompare) return false;
  const auto& how = root->attr<CompareAttrs>();
  const bool less = how.direction == ComparisonDirection::kLt,
             more = how.direction == ComparisonDirection::kGt;
  if (!less && !more) return false;
  Canonical canonical[2];
  const Instruction* a = PeelCanonical(root->operand(0), &canonical[0]);
  const Instruction* b = PeelCanonical(root->operand(1), &canonical[1]);
  if (!a->IsParameter() || !b->IsParameter() || canonical[0] != canonical[1]) return false;
  const bool total = how.type == ComparisonType::kTotalOrder;
  if (total && canonical[0].zeros != canonical[0].nans) return false;
  const int64_t p = a->parameter_number(), q = b->parameter_number();
  if (p / 2 != q / 2 || p == q) return false;
  const ElementType type = a->shape().type;
  if (IsComplex(type) || (IsFloat(type) && BitWidth(type) <= 8)) return false;
  order.key = p / 2;
  order.descending = (p > q) != more;
  order.total = total && !canonical[0].zeros;
  // A plain float comparison leaves NaN unordered; it is taken as numeric order, NaN last (or
  // first, descending).
  return true;
}

// Integers below a byte lie in bytes, extended by their sign or by zeros.
ElementType KeyType(ElementType type) {
  if (!IsSubByte(type)) return type;
  return IsSigned(type) ? ElementType::kS8 : ElementType::kU8;
}

class SortCall : public LibraryCall {
 public:
  bool Matches(const Instruction& i) const override {
    if (i.opcode() != Opcode::kSort) return false;
    const Shape& first = i.operand(0)->shape();
    if (first.ElementCount() == 0 || i.shape().HasDynamicDims()) return false;
    int64_t leaf = 0;
    for (const ShapeLeaf& result : Leaves(i.shape())) {
      const Shape& operand = i.operand(leaf++)->shape();
      if (operand.MinorToMajor() != first.MinorToMajor() ||
          result.shape->MinorToMajor() != first.MinorToMajor() || operand.HasDynamicDims())
        return false;
    }
    return CanEmitElements(*i.to_apply());
  }

  void Emit(CallSite& site, const Instruction& i) const override {
    const Shape& shape = i.operand(0)->shape();
    const int64_t dimension = i.attr<SortAttrs>().dimensions[0];
    int64_t outer = 1, inner = 1;
    bool before = true;
    for (int64_t d : shape.MinorToMajor()) {
      if (d == dimension)
        before = false;
      else
        (before ? inner : outer) *= shape.dims[d];
    }
    PlainOrder order;
    const bool plain = FindPlainOrder(i, order);
    const int64_t type =
        plain ? static_cast<int64_t>(KeyType(i.operand(order.key)->shape().type)) : Number(shape);
    llvm::Value* desc = site.Words(
        {type, order.total ? 1 : 0, order.descending ? 1 : 0, outer, shape.dims[dimension], inner});
    if (plain && i.operand_count() == 1) {
      site.Call("hlokit_sort_keys", {site.context(), desc, site.operand(0), site.result(0)});
      return;
    }
    std::vector<int64_t> operands;  // the key first
    for (int64_t o = 0; o < i.operand_count(); ++o) operands.push_back(o);
    if (plain) std::swap(operands[0], operands[order.key]);
    std::vector<int64_t> widths;
    std::vector<llvm::Value*> from, to;
    for (int64_t o : operands) {
      widths.push_back(ByteWidth(i.operand(o)->shape().type));
      from.push_back(site.operand(o));
      to.push_back(site.result(o));
    }
    Builder& b = site.builder();
    std::vector<llvm::Value*> arguments = {site.context(),
                                           desc,
                                           b.getInt64(i.operand_count()),
                                           site.Words(widths),
                                           site.Pointers(from),
                                           site.Pointers(to)};
    if (plain) {
      site.Call("hlokit_sort_by_key", arguments);
      return;
    }
    arguments.push_back(Comparator(b, i));
    arguments.push_back(llvm::ConstantPointerNull::get(b.getPtrTy()));
    site.Call("hlokit_sort_generic", arguments);
  }

 private:
  // int32 less(void* env, const void* const* columns, int64 a, int64 b).
  static llvm::Function* Comparator(Builder& outer, const Instruction& i) {
    llvm::Module* module = outer.GetInsertBlock()->getModule();
    llvm::LLVMContext& context = module->getContext();
    auto* type = llvm::FunctionType::get(
        outer.getInt32Ty(),
        {outer.getPtrTy(), outer.getPtrTy(), outer.getInt64Ty(), outer.getInt64Ty()}, false);
    auto* function =
        llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "less", module);
    Builder b(llvm::BasicBlock::Create(context, "entry", function));
    std::vector<ScalarValue> arguments;
    ElementEmitter emitter(b);
    for (int64_t o = 0; o < i.operand_count(); ++o) {
      llvm::Value* column = b.CreateLoad(
          b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), function->getArg(1), o));
      const ArrayRef array{column, Shape::Array(i.operand(o)->shape().type, {INT32_MAX})};
      for (int side : {2, 3})
        arguments.push_back(LoadFrom(b, array, ElementIndex::Linear(function->getArg(side))));
    }
    b.CreateRet(b.CreateZExt(emitter.Apply(*i.to_apply(), arguments)[0].re, b.getInt32Ty()));
    return function;
  }
};

}  // namespace

const LibraryCall* SortLibraryCall() {
  static const SortCall sort;
  return &sort;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
