// Descriptors of collectives and messages (runtime/collective/collective.h), and their reducers as
// functions.
//
// What is known when compiling is a constant array that the call points to: kind, groups by device,
// and for each array its element size and its shape as `rows` of `row_bytes`, where a row is what
// one step moves as a whole:
//   all-gather of f32[8,16] along dimension 1: 8 rows of 64 bytes
// Layouts matter only so far as operand and result agree. A reducer that is not a plain opcode
// becomes a function that combines n elements at a time, so that the runtime calls once a block.
// Dynamic dimensions and results of other layouts are left to the evaluator.
#include "backends/cpu/library_calls/collective_call.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "analysis/emittable.h"
#include "codegen/constant_data.h"
#include "codegen/element_emitter.h"
#include "ops/collective/device_groups.h"
#include "ops/collective/manual_region.h"
#include "ops/evaluate/reducer.h"
#include "ops/evaluate/scalar_program.h"
#include "runtime/collective/collective.h"
#include "support/diagnostics.h"
#include "support/status.h"

namespace hlokit {
namespace {

using Groups = std::vector<std::vector<int64_t>>;  // by device; of places 0, 1, ...

constexpr struct {
  Opcode opcode;
  HlokitCollectiveKind kind;
} kKinds[] = {
    {Opcode::kAllGather, HLOKIT_ALL_GATHER},
    {Opcode::kAllReduce, HLOKIT_ALL_REDUCE},
    {Opcode::kAllToAll, HLOKIT_ALL_TO_ALL},
    {Opcode::kCollectiveBroadcast, HLOKIT_BROADCAST},
    {Opcode::kCollectivePermute, HLOKIT_PERMUTE},
    {Opcode::kRaggedAllToAll, HLOKIT_RAGGED_ALL_TO_ALL},
    {Opcode::kRecvDone, HLOKIT_RECEIVE},
    {Opcode::kReduceScatter, HLOKIT_REDUCE_SCATTER},
    {Opcode::kSend, HLOKIT_SEND},
};

std::optional<HlokitCollectiveKind> KindOf(const Instruction& i) {
  if (i.opcode() == Opcode::kAllToAll && !i.attr<AllToAllAttrs>().dimensions)
    return HLOKIT_ALL_TO_ALL_TUPLE;
  for (const auto& row : kKinds)
    if (row.opcode == i.opcode()) return row.kind;
  return std::nullopt;
}

bool IsMessage(HlokitCollectiveKind kind) { return kind == HLOKIT_SEND || kind == HLOKIT_RECEIVE; }

// Arrays that the device gives, and those that it gets.
std::vector<Shape> Given(const Instruction& i) {
  std::vector<Shape> shapes;
  if (i.opcode() == Opcode::kRecvDone || i.opcode() == Opcode::kSend) {
    const Shape& data = i.opcode() == Opcode::kSend ? i.operand(0)->shape() : i.shape().elements[0];
    for (const ShapeLeaf& leaf : Leaves(data)) shapes.push_back(*leaf.shape);
  } else {
    for (const Instruction* operand : i.operands()) shapes.push_back(operand->shape());
  }
  return shapes;
}

std::vector<Shape> ResultShapes(const Instruction& i, HlokitCollectiveKind kind) {
  if (IsMessage(kind)) return Given(i);
  if (!i.shape().IsTuple()) return {i.shape()};
  return {i.shape().elements.begin(), i.shape().elements.end()};
}

// The dimension along which arrays are joined or split; -1: there is none.
int64_t Dimension(const Instruction& i, HlokitCollectiveKind kind) {
  switch (kind) {
    case HLOKIT_ALL_GATHER:
      return i.attr<AllGatherAttrs>().dimensions[0];
    case HLOKIT_REDUCE_SCATTER:
      return i.attr<ReduceScatterAttrs>().dimensions[0];
    case HLOKIT_ALL_TO_ALL:
      return (*i.attr<AllToAllAttrs>().dimensions)[0];
    default:
      return -1;
  }
}

// How many rows there are before dimension d in memory; of a ragged exchange each index of the
// first dimension begins one.
int64_t Rows(const Shape& shape, HlokitCollectiveKind kind, int64_t d) {
  if (kind == HLOKIT_RAGGED_ALL_TO_ALL) return shape.dims[0];
  if (d < 0) return 1;
  int64_t rows = shape.ElementCount() == 0 ? 0 : 1;
  const auto order = shape.MinorToMajor();
  for (size_t k = order.size(); k-- > 0 && order[k] != d;) rows *= shape.dims[order[k]];
  return rows;
}

absl::Status CheckLayouts(const Instruction& i, HlokitCollectiveKind kind) {
  const std::vector<Shape> given = Given(i), results = ResultShapes(i, kind);
  for (size_t k = 0; k < given.size(); ++k) {
    if (given[k].HasDynamicDims())
      return Unimplemented(Text(i.opcode()), " of dynamic dimensions: ", Text(given[k]));
    if (!given[k].IsArray()) return Unimplemented(Text(i.opcode()), " of ", Text(given[k]));
    if (kind == HLOKIT_RAGGED_ALL_TO_ALL) {
      if (given[k].IsRowMajor() && results[0].IsRowMajor()) continue;
    } else if (k < results.size() && given[k].MinorToMajor() == results[k].MinorToMajor()) {
      continue;
    }
    return Unimplemented(Text(i.opcode()), " from ", Text(given[k], true), " to ",
                         Text(i.shape(), true));
  }
  return absl::OkStatus();
}

// Whether arrays are as long as a group of so many makes them.
absl::Status CheckGroup(const Instruction& i, HlokitCollectiveKind kind, int64_t members) {
  const std::vector<Shape> given = Given(i), results = ResultShapes(i, kind);
  bool fit = kind != HLOKIT_ALL_TO_ALL_TUPLE || static_cast<int64_t>(given.size()) == members;
  if (kind == HLOKIT_RAGGED_ALL_TO_ALL) fit = given[2].ElementCount() % members == 0;
  for (size_t k = 0; k < given.size() && kind != HLOKIT_RAGGED_ALL_TO_ALL; ++k) {
    const int64_t from = given[k].ElementCount(), to = results[k].ElementCount();
    if (kind == HLOKIT_ALL_GATHER) fit &= to == from * members;
    if (kind == HLOKIT_REDUCE_SCATTER) fit &= to * members == from;
    if (kind == HLOKIT_ALL_TO_ALL) fit &= given[k].dims[Dimension(i, kind)] % members == 0;
  }
  if (!fit)
    return InvalidArgument(Text(i.shape()), " is not what a group of ", members,
                           " devices makes of ", Text(given[0]));
  if (kind != HLOKIT_PERMUTE) return absl::OkStatus();
  for (const auto& [source, target] : i.attr<CollectivePermuteAttrs>().source_target_pairs)
    if (source < 0 || source >= members || target < 0 || target >= members)
      return InvalidArgument("pair {", source, ",", target, "} names no device");
  return absl::OkStatus();
}

absl::StatusOr<Groups> GroupsOf(const Instruction& i, const ModuleHeader& header) {
  return DeviceGroupsOf(i, header.replica_count, header.num_partitions);
}

absl::Status CheckCollective(const Instruction& i, const ModuleHeader& header) {
  const std::optional<HlokitCollectiveKind> kind = KindOf(i);
  if (!kind.has_value())
    return Unimplemented(i.opcode() == Opcode::kCustomCall
                             ? "the way out of a manual region of a module that is not partitioned"
                             : "a first half whose result is taken by more than its second");
  RETURN_IF_ERROR(CheckLayouts(i, *kind));
  if (IsMessage(*kind)) return absl::OkStatus();
  if (*kind == HLOKIT_PERMUTE && !i.attr<CollectivePermuteAttrs>().slice_sizes.empty())
    return Unimplemented("permutes of slices");
  if (!i.called().empty() && !SimpleReducer(*i.to_apply()) && !CanEmitElements(*i.to_apply()))
    return Unimplemented("a reducer that is no function of elements");
  ASSIGN_OR_RETURN(const Groups groups, GroupsOf(i, header));
  for (const std::vector<int64_t>& group : groups)
    if (!group.empty()) RETURN_IF_ERROR(CheckGroup(i, *kind, static_cast<int64_t>(group.size())));
  return absl::OkStatus();
}

// The name by which all collectives of a module share the reducer of one operation; empty for
// others.
std::string ReducerName(const Computation& reducer, ElementType type) {
  const std::optional<Opcode> simple = SimpleReducer(reducer);
  return simple ? absl::StrCat("reducer.", Text(*simple), ".", Text(type)) : "";
}

// The HlokitReducer of a reducer on arrays of `type`.
class ReducerWriter {
 public:
  ReducerWriter(llvm::Module& module, const Computation& reducer, ElementType type,
                const std::string& name)
      : reducer_(reducer),
        type_(type),
        sum_(SimpleReducer(reducer) ? CollectiveSumType(type) : type) {
    llvm::LLVMContext& context = module.getContext();
    auto* pointer = llvm::PointerType::get(context, 0);
    auto* int64 = llvm::Type::getInt64Ty(context);
    function_ =
        llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                                       {int64, pointer, pointer, int64}, false),
                               llvm::GlobalValue::InternalLinkage, name, module);
    for (const unsigned a : {1U, 2U}) function_->addParamAttr(a, llvm::Attribute::NoAlias);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
  }

  llvm::Function* Write() {
    llvm::LLVMContext& context = function_->getContext();
    Builder b(llvm::BasicBlock::Create(context, "entry", function_));
    const auto step = [&](int64_t number, absl::FunctionRef<void(llvm::Value*)> body) {
      EmitIf(b, b.CreateICmpEQ(function_->getArg(0), b.getInt64(static_cast<uint64_t>(number))),
             [&] { EmitLoop(b, b.getInt64(0), function_->getArg(3), body); });
    };
    step(HLOKIT_REDUCER_FIRST, [&](llvm::Value* i) { Store(b, sum_, 1, i, Element(b, i)); });
    step(HLOKIT_REDUCER_NEXT, [&](llvm::Value* i) {
      Store(b, sum_, 1, i, Combined(b, Load(b, sum_, 1, i), Element(b, i)));
    });
    step(HLOKIT_REDUCER_LAST, [&](llvm::Value* i) {
      Store(b, type_, 2, i, Converted(b, sum_, type_, Load(b, sum_, 1, i)));
    });
    b.CreateRetVoid();
    return function_;
  }
  const Instruction* unsupported() const { return unsupported_; }

 private:
  llvm::Value* Place(Builder& b, ElementType type, unsigned argument, llvm::Value* i) {
    const auto width = static_cast<uint64_t>(ByteWidth(type));
    return b.CreateInBoundsGEP(b.getInt8Ty(), function_->getArg(argument),
                               b.CreateNUWMul(i, b.getInt64(width)));
  }
  ScalarValue Load(Builder& b, ElementType type, unsigned argument, llvm::Value* i) {
    return LoadElement(b, type, Place(b, type, argument, i));
  }
  void Store(Builder& b, ElementType type, unsigned argument, llvm::Value* i, ScalarValue value) {
    if (value) StoreElement(b, type, value, Place(b, type, argument, i));
  }
  ScalarValue Element(Builder& b, llvm::Value* i) {
    return Converted(b, type_, sum_, Load(b, type_, 2, i));
  }
  ScalarValue Converted(Builder& b, ElementType from, ElementType to, ScalarValue x) {
    return from == to ? x : EmitConvert(b, from, to, x);
  }
  ScalarValue Combined(Builder& b, const ScalarValue& sum, const ScalarValue& element) {
    if (const std::optional<Opcode> simple = SimpleReducer(reducer_)) {
      const ScalarValue value = EmitBinary(b, *simple, sum_, sum, element);
      if (!value) unsupported_ = reducer_.root();
      return value;
    }
    ElementEmitter emitter(b);
    emitter.set_unsupported(&unsupported_);
    const std::vector<ScalarValue> arguments = {sum, element};
    return emitter.Apply(reducer_, arguments)[0];
  }

  const Computation& reducer_;
  const ElementType type_, sum_;
  llvm::Function* function_;
  const Instruction* unsupported_ = nullptr;
};

// One instruction's description, field by field as runtime/collective/collective.h has them.
class Description {
 public:
  Description(llvm::Module& module, const Instruction& i)
      : module_(module), data_(module), i_(i), kind_(*KindOf(i)) {}

  llvm::Constant* Write(const ModuleHeader& header) {
    const std::vector<int64_t> groups = IsMessage(kind_) ? std::vector<int64_t>() : Groups(header);
    std::vector<int64_t> pairs;
    for (const auto& [source, target] : Pairs()) pairs.insert(pairs.end(), {source, target});
    const std::vector<llvm::Constant*> arrays = Arrays();
    const auto count = [](const auto& list) { return static_cast<int64_t>(list.size()); };
    return data_.Global(
        data_.Struct({data_.Int(kind_), data_.Int(i_.id()),
                      data_.String(absl::StrCat(Text(i_.opcode()), " %", i_.name())),
                      data_.Int(count(arrays)), data_.Structs(arrays), data_.Ints(groups),
                      data_.Int(Channel()), data_.Int(count(pairs) / 2), data_.Ints(pairs)}),
        8);
  }
  const Instruction* unsupported() const { return unsupported_; }

 private:
  std::vector<llvm::Constant*> Arrays() {
    std::vector<llvm::Constant*> rows;
    for (const Shape& shape : Given(i_)) {
      const int64_t count = Rows(shape, kind_, Dimension(i_, kind_));
      const bool index = kind_ == HLOKIT_RAGGED_ALL_TO_ALL && rows.size() >= 2;
      const int64_t number = index ? shape.ElementCount() : count;
      rows.push_back(
          data_.Struct({data_.Int(number), data_.Int(number == 0 ? 0 : shape.ByteSize() / number),
                        data_.Int(ByteWidth(shape.type)), data_.Int(IsSigned(shape.type) ? 1 : 0),
                        ReducerOf(shape.type)}));
    }
    return rows;
  }

  llvm::Constant* ReducerOf(ElementType type) {
    if (i_.called().empty()) return data_.Null();
    const std::string name = ReducerName(*i_.to_apply(), type);
    if (llvm::Function* known = name.empty() ? reducers_[type] : module_.getFunction(name))
      return known;
    ReducerWriter writer(module_, *i_.to_apply(), type, name);
    reducers_[type] = writer.Write();
    if (writer.unsupported() != nullptr) unsupported_ = writer.unsupported();
    return reducers_[type];
  }

  // By device where its group begins, then the groups.
  std::vector<int64_t> Groups(const ModuleHeader& header) const {
    const hlokit::Groups of_devices = *GroupsOf(i_, header);
    std::vector<int64_t> words(of_devices.size(), 0);
    std::map<std::vector<int64_t>, int64_t> known;
    for (size_t device = 0; device < of_devices.size(); ++device) {
      const std::vector<int64_t>& group = of_devices[device];
      if (group.empty()) continue;
      const auto [at, added] = known.emplace(group, static_cast<int64_t>(words.size()));
      words[device] = at->second;
      if (!added) continue;
      words.push_back(static_cast<int64_t>(group.size()));
      words.insert(words.end(), group.begin(), group.end());
    }
    return words;
  }

  int64_t Channel() const {
    return IsMessage(kind_) ? i_.attr<SendRecvAttrs>().channel_id.value_or(0) : 0;
  }

  std::vector<std::pair<int64_t, int64_t>> Pairs() const {
    if (IsMessage(kind_)) return TransferPairs(kind_ == HLOKIT_RECEIVE ? *i_.operand(0) : i_);
    if (kind_ != HLOKIT_PERMUTE) return {};
    const auto& pairs = i_.attr<CollectivePermuteAttrs>().source_target_pairs;
    return {pairs.begin(), pairs.end()};
  }

  llvm::Module& module_;
  ConstantData data_;
  const Instruction& i_;
  const HlokitCollectiveKind kind_;
  std::map<ElementType, llvm::Function*> reducers_;
  const Instruction* unsupported_ = nullptr;
};

}  // namespace

bool IsDeviceCommunication(const Instruction& i) {
  if (i.opcode() == Opcode::kSend || i.opcode() == Opcode::kRecvDone)
    return !i.attr<SendRecvAttrs>().is_host_transfer;
  if (i.opcode() == Opcode::kCustomCall)
    return LeavesManualRegion(i.attr<CustomCallAttrs>().target);
  return HasTrait(i.opcode(), kCollective);
}

absl::Status CheckCollectives(const Module& module) {
  for (const Computation* c : module.Computations()) {
    for (const Instruction* i : c->Instructions()) {
      if (!IsDeviceCommunication(*i)) continue;
      const absl::Status status = CheckCollective(*i, module.header());
      if (!status.ok())
        return WithPlace(Annotate(status, absl::StrCat("%", i->name())), i->place());
    }
  }
  return absl::OkStatus();
}

const Instruction* EmitCollective(CallSite& site, const Instruction& i,
                                  const ModuleHeader& header) {
  llvm::Module& module = *site.builder().GetInsertBlock()->getModule();
  Description description(module, i);
  llvm::Constant* descriptor = description.Write(header);
  std::vector<llvm::Value*> operands, results;
  const auto leaves = [](const Shape& shape) { return static_cast<int64_t>(Leaves(shape).size()); };
  if (i.opcode() == Opcode::kSend) {
    for (int64_t l = 0; l < leaves(i.operand(0)->shape()); ++l)
      operands.push_back(site.operand(0, l));
  } else if (i.opcode() == Opcode::kRecvDone) {
    for (int64_t l = 0; l < leaves(i.shape().elements[0]); ++l) results.push_back(site.result(l));
  } else {
    for (int64_t o = 0; o < i.operand_count(); ++o) operands.push_back(site.operand(o));
    for (int64_t l = 0; l < leaves(i.shape()); ++l) results.push_back(site.result(l));
  }
  llvm::Value* from = site.Pointers(operands);
  llvm::Value* to = site.Pointers(results);
  site.Call("hlokit_collective", {site.context(), descriptor, from, to});
  return description.unsupported();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
