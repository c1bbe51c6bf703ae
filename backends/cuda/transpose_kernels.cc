// Transposes in tiles: r = transpose(x) + y of f32[8192,16384], 32 x 32 elements a block.
//
//   threads along the fastest dimension of x:  tile[i][j] = x[j,i]      barrier
//   threads along the fastest dimension of r:  r[i,j] = tile[i][j] + y[i,j]
//
// Both x and r are read and written in whole sectors of memory; the exchange happens in shared
// memory, whose lines are an odd number of words long, so that a column lies in all banks.
//
// Elements of two bytes (of one) move two (four) at a time: a thread loads squares of 2 x 2, turns
// them in its registers, and words of two elements go through shared memory as those of f32 do,
//
//   x[j,i] x[j,i+1]  ->  tile[i][j/2]   = x[j,i],   x[j+1,i]
//   x[j+1,i] ...         tile[i+1][j/2] = x[j,i+1], x[j+1,i+1]
//
// tiles being 64 x 64 (128 x 128). Where sides are odd, elements move one by one in such tiles.
//
// Whatever the transpose reads is computed
// as it is loaded, whatever reads the transpose as it is stored. Dimensions that stay neighbours
// count as one.
//
// Limits: one such transpose (or copy to another layout) in the expression, read at its own index
// by every root.
#include "backends/cuda/transpose_kernels.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "backends/cuda/block_kernel.h"
#include "backends/cuda/ptx_code.h"
#include "backends/cuda/thread_group.h"
#include "backends/cuda/vector_kernels.h"
#include "ir/attributes.h"

namespace hlokit {
namespace {

// Shorter sides leave most of a tile empty.
constexpr int64_t kShortSide = 8;
// Code for several elements of more instructions than this would be long.
constexpr size_t kLongSquare = 16;

// Neighbouring dimensions of the transpose's result that move together, slowest first.
using Group = DimVector;

struct TransposePlan {
  Expression e;
  const Instruction* transpose = nullptr;
  std::vector<Group> groups;  // of the result's dimensions, in the result's memory order
  size_t from = 0;            // the group that is fastest in the operand
  int64_t tile = 32;
  int64_t pack = 1;  // elements of a word of shared memory, neighbours along `to`

  const Shape& shape() const { return transpose->shape(); }
  int64_t SizeOf(size_t group) const {
    int64_t size = 1;
    for (const int64_t d : groups[group]) size *= shape().dims[d];
    return size;
  }
  size_t to() const { return groups.size() - 1; }  // the group that is fastest in the result
  int64_t Tiles(size_t group) const {
    return group == from || group == to() ? (SizeOf(group) + tile - 1) / tile : SizeOf(group);
  }
  int64_t Blocks() const {
    int64_t blocks = 1;
    for (size_t g = 0; g < groups.size(); ++g) blocks *= Tiles(g);
    return blocks;
  }
};

// Dimensions of the result, slowest in the operand's memory first.
DimVector OperandOrder(const Instruction& i) {
  const Shape& operand = i.operand(0)->shape();
  DimVector result_dim(static_cast<size_t>(operand.rank()));
  for (int64_t d = 0; d < operand.rank(); ++d)
    result_dim[i.opcode() == Opcode::kTranspose ? i.attr<DimensionsAttrs>().dimensions[d] : d] = d;
  DimVector order;
  for (const int64_t d : operand.MinorToMajor()) order.push_back(result_dim[d]);
  absl::c_reverse(order);
  return order;
}

bool IsTransposition(const Instruction& i) {
  return (i.opcode() == Opcode::kTranspose || i.opcode() == Opcode::kCopy) && i.shape().IsArray();
}

// Joins dimensions that follow each other in both memory orders; those of size one are left out.
void MakeGroups(TransposePlan& plan) {
  const Shape& shape = plan.shape();
  DimVector before = OperandOrder(*plan.transpose), after;
  for (const int64_t d : shape.MinorToMajor()) after.push_back(d);
  absl::c_reverse(after);
  const auto is_one = [&](int64_t d) { return shape.dims[d] == 1; };
  before.erase(std::remove_if(before.begin(), before.end(), is_one), before.end());
  after.erase(std::remove_if(after.begin(), after.end(), is_one), after.end());
  for (const int64_t d : after) {
    const auto at = absl::c_find(before, d);
    const bool follows =
        !plan.groups.empty() && at != before.begin() && *(at - 1) == plan.groups.back().back();
    if (!follows) plan.groups.emplace_back();
    plan.groups.back().push_back(d);
  }
  for (size_t g = 0; g < plan.groups.size(); ++g)
    if (plan.groups[g].back() == before.back()) plan.from = g;
}

// Whole words, of elements that are neighbours in both arrays.
void PlanWords(TransposePlan& plan) {
  constexpr int64_t kWordBytes = 4, kWords = 32;
  const int64_t pack = kWordBytes / std::min<int64_t>(kWordBytes, ByteWidth(plan.shape().type));
  for (const size_t g : {plan.from, plan.to()})
    if (plan.shape().dims[plan.groups[g].back()] % pack != 0) return;
  if (pack == 1 || Body(plan.e).size() > kLongSquare) return;
  plan.pack = pack;
  plan.tile = kWords * pack;
}

bool PlanGroups(TransposePlan& plan) {
  MakeGroups(plan);
  if (plan.groups.size() < 2 || plan.from == plan.to()) return false;
  const ElementType type = plan.shape().type;
  if (IsComplex(type) || IsSubByte(type)) return false;
  plan.tile = ByteWidth(type) <= 2 ? 64 : 32;
  PlanWords(plan);
  return std::min(plan.SizeOf(plan.from), plan.SizeOf(plan.to())) >= kShortSide &&
         plan.shape().ElementCount() >= kSmallArray;
}

// Whether everything between the transpose and the roots stays at the transpose's index.
bool KeepsIndex(const Expression& e, const Instruction* transpose) {
  const Shape& shape = transpose->shape();
  const auto same = [&](const Shape& other) {
    return other.dims == shape.dims && other.MinorToMajor() == shape.MinorToMajor();
  };
  for (const Shape& root : e.shapes)
    if (!same(root)) return false;
  absl::flat_hash_set<const Instruction*> users = {transpose};
  for (const Instruction* i : Body(e)) {
    const bool uses =
        absl::c_any_of(i->operands(), [&](const Instruction* o) { return users.contains(o); });
    if (!uses) continue;
    if (!HasTrait(i->opcode(), kElementwise) || !same(i->shape())) return false;
    users.insert(i);
  }
  return absl::c_all_of(e.roots, [&](const Instruction* root) { return users.contains(root); });
}

std::optional<TransposePlan> PlanTranspose(const Expression& e) {
  for (const Instruction* i : Body(e)) {
    if (!IsTransposition(*i)) continue;
    TransposePlan plan;
    plan.e = e;
    plan.transpose = i;
    if (PlanGroups(plan) && KeepsIndex(e, i)) return plan;
  }
  return std::nullopt;
}

// Emits the work of one thread of a block.
class TransposeEmitter {
 public:
  TransposeEmitter(const TransposePlan& plan, Builder& b, KernelArrays& arrays, llvm::Value* unit)
      : plan_(plan),
        b_(b),
        arrays_(arrays),
        emitter_(b),
        group_(b, kBlockThreads, b.CreateAnd(unit, b.Index(kBlockThreads - 1))),
        type_(MemoryType(b.getContext(), plan.shape().type)),
        word_(plan.pack == 1 ? type_ : b.getInt32Ty()) {
    emitter_.set_excess(true);
    emitter_.set_plain_nans(HasPlainNaNs(plan.e));
    BindLeaves(emitter_, plan.e, arrays);
    shared_ = MakeShared(b, word_, SharedWords());
    PlaceTile(b.CreateUDiv(unit, b.Index(kBlockThreads)));
  }

  void Emit() {
    const int64_t squares = plan_.tile / plan_.pack * (plan_.tile / plan_.pack) / kBlockThreads;
    for (int64_t k = 0; k < squares; ++k) Load(k);
    group_.Meet();
    ScalarValue element;
    emitter_.BindRounded(plan_.transpose, [&](const ElementIndex&) { return element; });
    const int64_t words = plan_.tile * (plan_.tile / plan_.pack) / kBlockThreads;
    for (int64_t k = 0; k < words; ++k) StoreWord(k, element);
  }

 private:
  int64_t SharedWords() const {
    if (plan_.pack > 1) return plan_.tile * (plan_.tile / plan_.pack) + plan_.tile / plan_.pack;
    return plan_.tile * LineElements();
  }

  // Elements of a line of shared memory, where they move one by one: an odd number of words.
  int64_t LineElements() const {
    const int64_t width = ByteWidth(plan_.shape().type);
    return plan_.tile + std::max<int64_t>(1, 4 / width);
  }

  // The first index of each group in the block's tile.
  void PlaceTile(llvm::Value* block) {
    first_.resize(plan_.groups.size());
    for (size_t g = plan_.groups.size(); g-- > 0;) {
      llvm::Value* const at = b_.CreateURem(block, b_.Index(plan_.Tiles(g)));
      block = b_.CreateUDiv(block, b_.Index(plan_.Tiles(g)));
      first_[g] = g == plan_.from || g == plan_.to() ? Scale(b_, at, plan_.tile) : at;
    }
  }

  // The k-th place of the thread in a tile of lines of `line` things: a line, and where in it.
  std::pair<llvm::Value*, llvm::Value*> PlaceOf(int64_t k, int64_t line) {
    const int64_t lines = kBlockThreads / line;
    return {b_.CreateNSWAdd(b_.CreateUDiv(group_.lane(), b_.Index(line)), b_.Index(k * lines)),
            b_.CreateURem(group_.lane(), b_.Index(line))};
  }

  // `along_to` counts words. Lines of words have a place along `from` each; after `pack` of them,
  // which a thread writes, one word stays free, so that its neighbours write to other banks.
  llvm::Value* SharedPlace(llvm::Value* along_from, llvm::Value* along_to) {
    llvm::Value* at = b_.CreateNSWAdd(Scale(b_, along_to, LineElements()), along_from);
    if (plan_.pack > 1) {
      llvm::Value* const free_words = b_.CreateUDiv(along_from, b_.Index(plan_.pack));
      at = b_.CreateNSWAdd(Scale(b_, along_from, plan_.tile / plan_.pack),
                           b_.CreateNSWAdd(free_words, along_to));
    }
    return b_.CreateInBoundsGEP(shared_->getValueType(), shared_, {b_.Index(0), at});
  }

  // In the transpose's result.
  ElementIndex IndexOf(llvm::Value* along_from, llvm::Value* along_to) {
    std::vector<llvm::Value*> multi(static_cast<size_t>(plan_.shape().rank()), b_.Index(0));
    for (size_t g = 0; g < plan_.groups.size(); ++g) {
      llvm::Value* at = first_[g];
      if (g == plan_.from) at = b_.CreateNSWAdd(at, along_from);
      if (g == plan_.to()) at = b_.CreateNSWAdd(at, along_to);
      Delinearize(b_, at, plan_.groups[g], plan_.shape().dims, multi);
    }
    return ElementIndex::Multi(multi);
  }

  void IfInside(size_t group, llvm::Value* at, absl::FunctionRef<void()> body) {
    const int64_t size = plan_.SizeOf(group);
    if (size % plan_.tile == 0) return body();
    EmitIf(b_, b_.CreateICmpULT(b_.CreateNSWAdd(first_[group], at), b_.Index(size)), [&] {
      emitter_.BeginScope();
      body();
      emitter_.EndScope();
    });
  }

  // `pack` places from `at` on.
  std::vector<llvm::Value*> Neighbours(llvm::Value* at) {
    std::vector<llvm::Value*> places;
    for (int64_t k = 0; k < plan_.pack; ++k)
      places.push_back(k == 0 ? at : b_.CreateNSWAdd(at, b_.Index(k)));
    return places;
  }

  // A square of `pack` elements a side; sides are multiples of it, so all of it is there, or none.
  void Load(int64_t k) {
    const auto [slow, fast] = PlaceOf(k, plan_.tile / plan_.pack);  // along `to`, along `from`
    llvm::Value *const to = Scale(b_, slow, plan_.pack), *const from = Scale(b_, fast, plan_.pack);
    IfInside(plan_.from, from, [&] {
      IfInside(plan_.to(), to, [&] {
        std::vector<llvm::Value*> words(static_cast<size_t>(plan_.pack));
        int64_t byte = 0;
        for (llvm::Value* const line : Neighbours(to)) {
          size_t word = 0;
          for (llvm::Value* const at : Neighbours(from))
            Append(words[word++], byte,
                   ToMemoryForm(b_, plan_.shape().type,
                                emitter_.EmitRounded(plan_.transpose, IndexOf(at, line))));
          byte += ByteWidth(plan_.shape().type);
        }
        const std::vector<llvm::Value*> lines = Neighbours(from);
        for (size_t w = 0; w < words.size(); ++w)
          b_.CreateStore(words[w], SharedPlace(lines[w], slow));
      });
    });
  }

  // Puts an element into a word from its byte `byte` on.
  void Append(llvm::Value*& word, int64_t byte, llvm::Value* element) {
    if (plan_.pack == 1) {
      word = element;
      return;
    }
    llvm::Value* const wide =
        b_.CreateShl(ToWords(b_, element), b_.getInt32(static_cast<uint32_t>(8 * byte)));
    word = word == nullptr ? wide : b_.CreateOr(word, wide);
  }

  void StoreWord(int64_t k, ScalarValue& element) {
    const auto [from, word] = PlaceOf(k, plan_.tile / plan_.pack);
    llvm::Value* const to = Scale(b_, word, plan_.pack);
    IfInside(plan_.to(), to, [&] {
      IfInside(plan_.from, from, [&] {
        llvm::Value* const loaded = b_.CreateLoad(word_, SharedPlace(from, word));
        std::vector<ElementIndex> places;
        std::vector<ScalarValue> values;  // all reads before any write
        int64_t byte = 0;
        for (llvm::Value* const at : Neighbours(to)) {
          element = ElementAt(loaded, byte);
          byte += ByteWidth(plan_.shape().type);
          places.push_back(IndexOf(from, at));
          for (size_t r = 0; r < plan_.e.roots.size(); ++r)
            values.push_back(
                emitter_.EmitRounded(plan_.e.roots[r], places.back(), plan_.e.root_leaves[r]));
        }
        for (size_t r = 0; r < plan_.e.roots.size(); ++r)
          for (size_t p = 0; p < places.size(); ++p)
            StoreTo(b_, arrays_.result(static_cast<int64_t>(r)), places[p],
                    values[p * plan_.e.roots.size() + r]);
      });
    });
  }

  ScalarValue ElementAt(llvm::Value* word, int64_t byte) {
    if (plan_.pack > 1)
      word = FromWords(b_, b_.CreateLShr(word, static_cast<uint64_t>(8 * byte)), type_);
    return FromMemoryForm(b_, plan_.shape().type, word);
  }

  const TransposePlan& plan_;
  Builder& b_;
  KernelArrays& arrays_;
  ElementEmitter emitter_;
  ThreadGroup group_;
  llvm::Type* const type_;  // of an element in memory
  llvm::Type* const word_;  // of shared memory
  llvm::GlobalVariable* shared_ = nullptr;
  std::vector<llvm::Value*> first_;  // by group
};

}  // namespace

bool AddTransposeKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  return AddBlockKernel<TransposeEmitter>(PlanTranspose(request.expression), out);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
