// Programs as modules: functions in the order of their calls, and what the module's header says.
//
// Functions are converted callees first, found by a walk with a stack of its own, so that a call
// always finds its computation; recursion and missing callees are errors at the caller's place.
// Functions that the entry does not reach are left out, and so are instructions that nobody uses
// and that have no side effect: converting makes some of them (elements of tuples, constants that
// were folded).
// The entry is `main`. A file without one, as StableHLO's tests are, has several programs: its
// public functions that no other function names.
#include "stablehlo/convert/converter.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "ir/sanitized_name.h"
#include "stablehlo/convert/converter_internal.h"

namespace hlokit {
namespace {

// Tables have a row for each.
constexpr int64_t kMaxPartitions = int64_t{1} << 16;
constexpr int64_t kMaxInlineDepth = 200;
constexpr int64_t kMaxInlinedOperations = int64_t{1} << 20;

const MlirAttribute* SymbolName(const MlirOperation& op) { return op.Find("sym_name"); }

// Functions that an operation names, in regions too.
void CollectCallees(const MlirOperation& op, std::vector<std::string>& names) {
  for (const char* attribute : {"callee", "decomposition"})
    if (const MlirAttribute* callee = op.Find(attribute)) names.push_back(callee->text);
  if (op.name == "stablehlo.custom_call" || op.name == "mhlo.custom_call")
    if (const MlirAttribute* called = op.Find("called_computations"))
      for (const MlirAttribute* callee : called->elements) names.push_back(callee->text);
  for (const MlirRegion& region : op.regions)
    for (const auto& block : region.blocks)
      for (const auto& inner : block->operations) CollectCallees(*inner, names);
}

absl::Status CollectWantedProbes(const MlirOperation& op, WantedProbes& wanted) {
  const MlirAttribute* name = op.Find("probe_id");
  if (op.name == "check.expect_serialized_eq" && name != nullptr) {
    ASSIGN_OR_RETURN(const int64_t run, IterationOf(op));
    wanted[name->text].insert(run);
  }
  for (const MlirRegion& region : op.regions)
    for (const auto& block : region.blocks)
      for (const auto& inner : block->operations)
        RETURN_IF_ERROR(CollectWantedProbes(*inner, wanted));
  return absl::OkStatus();
}

// Whether it is a call or runs one. MLIR does not know that a function has no effect, so XLA's
// conversion keeps unused calls, and loops and branches with calls in them.
bool RunsCalls(const Instruction& i) {
  if (i.opcode() == Opcode::kCall) return true;
  for (const Computation* called : i.called())
    for (const Instruction* inner : called->Instructions())
      if (RunsCalls(*inner)) return true;
  return false;
}

// What nothing uses: MLIR's operations without effect go that way too.
// The elements of a tuple stay as long as one of them is used; so do those of a parameter.
bool IsUnused(const Instruction& i, const absl::flat_hash_set<const Instruction*>& taken_elements) {
  if (i.HasSideEffect() || i.IsParameter() || i.opcode() == Opcode::kCustomCall ||
      (i.opcode() == Opcode::kGetTupleElement && !taken_elements.contains(&i)))
    return false;
  for (const Instruction* user : i.users())
    if (user->opcode() != Opcode::kGetTupleElement || !user->users().empty()) return false;
  return !RunsCalls(i);
}

void DropUnused(Module& module, const absl::flat_hash_set<const Instruction*>& taken_elements) {
  for (Computation* computation : module.Computations()) {
    std::vector<Instruction*> all = computation->Instructions();
    for (auto i = all.rbegin(); i != all.rend(); ++i)
      if (*i != computation->root() && IsUnused(**i, taken_elements)) {
        const std::vector<Instruction*> elements((*i)->users().begin(), (*i)->users().end());
        if (std::find(elements.begin(), elements.end(), computation->root()) != elements.end())
          continue;
        for (Instruction* element : elements) computation->Remove(element);
        computation->Remove(*i);
      }
  }
}

// The computations that nothing calls any more.
void DropUncalled(Module& module) {
  bool dropped = true;
  while (dropped) {
    absl::flat_hash_set<const Computation*> called = {module.entry()};
    for (Computation* computation : module.Computations())
      for (const Instruction* i : computation->Instructions())
        called.insert(i->called().begin(), i->called().end());
    dropped = false;
    for (Computation* computation : module.Computations())
      if (!called.contains(computation)) {
        module.Remove(computation);
        dropped = true;
      }
  }
}

}  // namespace

absl::Status ModuleConverter::FindFunctions() {
  const MlirOperation& top = program_.top();
  if (top.regions.size() != 1 || top.regions[0].blocks.size() != 1)
    return InvalidArgument("the module has no body");
  for (const auto& op : top.regions[0].blocks[0]->operations) {
    if (op->name != "func.func") continue;
    const MlirAttribute* name = SymbolName(*op);
    if (name == nullptr || name->text.empty())
      return WithPlace(InvalidArgument("a function has no name"), op->place);
    if (!functions_.emplace(name->text, op.get()).second)
      return WithPlace(InvalidArgument("the function ", name->text, " is defined twice"),
                       op->place);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<const MlirOperation*>> ModuleConverter::CalleesFirst(
    const MlirOperation* entry) const {
  struct Visit {
    const MlirOperation* function;
    std::vector<std::string> callees;
    size_t next = 0;
  };
  std::vector<const MlirOperation*> order;
  absl::flat_hash_set<const MlirOperation*> open, done;
  std::vector<Visit> stack;
  auto enter = [&](const MlirOperation* function) {
    Visit visit{function, {}};
    CollectCallees(*function, visit.callees);
    open.insert(function);
    stack.push_back(std::move(visit));
  };
  enter(entry);
  while (!stack.empty()) {
    Visit& top = stack.back();
    if (top.next == top.callees.size()) {
      order.push_back(top.function);
      done.insert(top.function);
      open.erase(top.function);
      stack.pop_back();
      continue;
    }
    const std::string& name = top.callees[top.next++];
    const auto found = functions_.find(name);
    if (found == functions_.end())
      return WithPlace(InvalidArgument("there is no function ", name), top.function->place);
    if (open.contains(found->second))
      return WithPlace(InvalidArgument("the function ", name, " calls itself"),
                       found->second->place);
    if (!done.contains(found->second)) enter(found->second);
  }
  return order;
}

absl::StatusOr<Computation*> ModuleConverter::Function(absl::string_view name) const {
  const auto found = converted_.find(std::string(name.data(), name.size()));
  if (found == converted_.end()) return InvalidArgument("there is no function ", name);
  return found->second;
}

const MlirOperation* ModuleConverter::FunctionOperation(absl::string_view name) const {
  const auto found = functions_.find(std::string(name.data(), name.size()));
  return found == functions_.end() ? nullptr : found->second;
}

// Results of a program of several partitions say how they are sharded.
absl::Status ModuleConverter::MarkResults(const MlirOperation& function, BodyConverter& body,
                                          std::vector<Instruction*>& values) {
  const MlirAttribute* results = function.Find("res_attrs");
  if (results == nullptr || module_.header().num_partitions == 1) return absl::OkStatus();
  for (size_t i = 0; i < values.size() && i < results->elements.size(); ++i) {
    const MlirAttribute* sharding = results->elements[i]->Field("sdy.sharding");
    if (sharding == nullptr) continue;
    ASSIGN_OR_RETURN(values[i], MarkResult(body, *sharding, values[i]));
  }
  return absl::OkStatus();
}

namespace {

// The attribute mhlo.sharding of each argument or result, where it has one.
std::vector<MlirAttributes> ShardingsOf(const MlirAttribute* all, size_t count) {
  std::vector<MlirAttributes> shardings(count);
  for (size_t i = 0; all != nullptr && i < count && i < all->elements.size(); ++i)
    if (const MlirAttribute* sharding = all->elements[i]->Field("mhlo.sharding"))
      shardings[i] = {{"mhlo.sharding", sharding}};
  return shardings;
}

}  // namespace

// What `mhlo.sharding` says of a function's arguments and results, as XLA's conversion states it:
//   one result:  ROOT get-tuple-element(tuple(x)), index=0, sharding={devices=[2,1]<=[2]}
//   several:     ROOT tuple(x, y), sharding={{devices=[2,1]<=[2]}, {replicated}}
// and of several results of the entry, which it lists once more, a reshape each that nothing uses.
absl::Status ModuleConverter::StateShardings(const MlirOperation& function, bool is_entry) {
  Computation& computation = *converted_.at(SymbolName(function)->text);
  const auto parameters = static_cast<size_t>(computation.parameter_count());
  const std::vector<MlirAttributes> taken = ShardingsOf(function.Find("arg_attrs"), parameters);
  for (size_t i = 0; i < parameters && !is_entry; ++i)
    RETURN_IF_ERROR(SetExtraAttributes(taken[i], *computation.parameter(static_cast<int64_t>(i))));
  const MlirBlock& block = *function.regions[0].blocks[0];
  const size_t count = block.operations.back()->operands.size();
  const std::vector<MlirAttributes> stated = ShardingsOf(function.Find("res_attrs"), count);
  Instruction* root = computation.root();
  if (std::all_of(stated.begin(), stated.end(), [](const auto& one) { return one.empty(); }))
    return absl::OkStatus();
  if (count == 1) {
    const Shape shape = root->shape();
    Instruction* tuple = computation.Add(Opcode::kTuple, Shape::Tuple({shape}), {root});
    Instruction* element =
        computation.Add(Opcode::kGetTupleElement, shape, {tuple}, GetTupleElementAttrs{0});
    computation.set_root(element);
    return SetExtraAttributes(stated[0], *element);
  }
  if (root->opcode() != Opcode::kTuple || root->operand_count() != static_cast<int64_t>(count))
    return absl::OkStatus();
  for (const Instruction* value : root->operands())
    if (value->shape().IsTuple()) return absl::OkStatus();
  Sharding all;
  all.kind = Sharding::Kind::kTuple;
  for (size_t i = 0; i < count; ++i) {
    Instruction* value = root->operand(static_cast<int64_t>(i));
    Instruction* once_more = computation.Add(Opcode::kReshape, value->shape(), {value});
    RETURN_IF_ERROR(SetExtraAttributes(stated[i], *once_more));
    all.elements.push_back(once_more->sharding() == nullptr ? Sharding() : *once_more->sharding());
    if (!is_entry || !value->shape().IsArray()) computation.Remove(once_more);
  }
  root->mutable_extras().sharding = std::make_unique<Sharding>(std::move(all));
  return absl::OkStatus();
}

absl::StatusOr<Shape> ModuleConverter::ClosedArgument(size_t number, Shape shape) const {
  if (number >= sizes_.size() || !shape.IsArray() || !HasOpenSizes(shape)) return shape;
  const DimVector& sizes = sizes_[number];
  bool fits = sizes.size() == shape.dims.size();
  for (size_t d = 0; fits && d < sizes.size(); ++d)
    fits = shape.dims[d] == kUnbounded || shape.dims[d] == sizes[d];
  if (!fits)
    return InvalidArgument("argument ", number, " is ", Text(shape), "; an array of ",
                           Text(Shape::Array(shape.type, sizes)), " does not fit");
  return Shape::Array(shape.type, sizes).WithDefaultLayout();
}

absl::Status ModuleConverter::EnterInlined(size_t operations) {
  inlined_operations_ += static_cast<int64_t>(operations);
  if (++inline_depth_ <= kMaxInlineDepth && inlined_operations_ <= kMaxInlinedOperations)
    return absl::OkStatus();
  return Unimplemented(
      "functions of open sizes, which are converted at each call, call each other ",
      kMaxInlineDepth, " deep or have ", kMaxInlinedOperations, " operations");
}

absl::Status ModuleConverter::ConvertFunction(const MlirOperation& function, bool is_entry) {
  const std::string& name = SymbolName(function)->text;
  if (function.regions.size() != 1 || function.regions[0].blocks.size() != 1)
    return InvalidArgument("the function ", name, " has no body");
  const MlirBlock& block = *function.regions[0].blocks[0];
  Computation* computation = module_.AddComputation(SanitizedName(name));
  BodyConverter body(*this, computation, nullptr);
  for (size_t i = 0; i < block.arguments.size(); ++i) {
    const MlirType& type = *block.arguments[i].type;
    if (!type.HasShape())
      return Unimplemented("argument ", i, " of ", name, ": the type ", Text(type),
                           " has no equal in HLO");
    Shape shape = BodyConverter::ShapeOf(type);
    if (is_entry) {
      ASSIGN_OR_RETURN(shape, ClosedArgument(i, std::move(shape)));
    }
    body.Set(block.arguments[i],
             computation->AddParameter(i, std::move(shape), absl::StrCat("Arg_", i)));
  }
  ASSIGN_OR_RETURN(const MlirOperation* last, body.ConvertOperations(block));
  ASSIGN_OR_RETURN(std::vector<Instruction*> values, body.Operands(*last));
  RETURN_IF_ERROR(MarkResults(function, body, values));
  body.Return(values);
  converted_[name] = computation;
  if (is_entry) module_.set_entry(computation);
  return absl::OkStatus();
}

namespace {

// Of `count` arguments or results, whose attributes are `all`; null where none has any.
std::vector<MemoryWish> WishesOf(const MlirAttribute* all, int64_t count) {
  std::vector<MemoryWish> wishes(static_cast<size_t>(count));
  for (size_t i = 0; all != nullptr && i < wishes.size() && i < all->elements.size(); ++i) {
    const MlirAttribute& one = *all->elements[i];
    if (const MlirAttribute* layout = one.Field("mhlo.layout_mode"))
      wishes[i].layout = layout->text;
    if (const MlirAttribute* kind = one.Field("mhlo.memory_kind")) wishes[i].kind = kind->text;
  }
  return wishes;
}

}  // namespace

absl::Status ModuleConverter::ConvertHeader(const MlirOperation& entry) {
  const OpAttributes attributes(program_.top());
  ModuleHeader& header = module_.header();
  ASSIGN_OR_RETURN(header.replica_count, attributes.Int("mhlo.num_replicas", 1));
  RETURN_IF_ERROR(ConvertSignature(entry, module_));
  return ConvertModuleAttributes(program_.top(), module_);
}

absl::StatusOr<const MlirOperation*> ModuleConverter::Convert(const std::string& entry_name) {
  RETURN_IF_ERROR(FindFunctions());
  ASSIGN_OR_RETURN(module_.header().num_partitions,
                   OpAttributes(program_.top()).Int("mhlo.num_partitions", 1));
  const int64_t partitions = module_.header().num_partitions;
  if (partitions < 1 || partitions > kMaxPartitions)
    return InvalidArgument("a program of ", partitions, " partitions; 1 to ", kMaxPartitions,
                           " are possible");
  RETURN_IF_ERROR(ConvertMeshes(program_, module_.header()));
  const MlirOperation* entry = FunctionOperation(entry_name);
  if (entry == nullptr) return InvalidArgument("there is no function ", entry_name);
  RETURN_IF_ERROR(CollectWantedProbes(program_.top(), wanted_probes_));
  ASSIGN_OR_RETURN(const auto order, CalleesFirst(entry));
  for (const MlirOperation* function : order) {
    if (function != entry && HasOpenSignature(*function)) continue;
    absl::Status converted = ConvertFunction(*function, function == entry);
    if (!converted.ok()) return WithPlace(std::move(converted), function->place);
  }
  DropUnused(module_, taken_elements_);
  DropUncalled(module_);
  const std::vector<Computation*> all = module_.Computations();
  const absl::flat_hash_set<const Computation*> left(all.begin(), all.end());
  for (const MlirOperation* function : order) {
    const auto converted = converted_.find(SymbolName(*function)->text);
    if (converted != converted_.end() && left.contains(converted->second))
      RETURN_IF_ERROR(StateShardings(*function, function == entry));
  }
  RETURN_IF_ERROR(ConvertHeader(*entry));
  return entry;
}

namespace {

bool IsPublic(const MlirOperation& function) {
  const MlirAttribute* visibility = function.Find("sym_visibility");
  return visibility == nullptr || visibility->text != "private";
}

// Functions that an attribute names: `callee = @f`, `programs = [[@f], [@g]]`.
void CollectSymbols(const MlirAttribute& attribute, absl::flat_hash_set<std::string>& names) {
  if (attribute.parts > kMaxAttributeParts) return;
  if (attribute.kind == MlirAttribute::Kind::kSymbol) names.insert(attribute.text);
  for (const MlirAttribute* element : attribute.elements) CollectSymbols(*element, names);
}

// Portable artifacts name functions by strings: `callee = #vhlo.string_v1<"f">`.
void CollectStrings(const MlirAttribute& attribute, absl::flat_hash_set<std::string>& names) {
  if (attribute.kind == MlirAttribute::Kind::kString) names.insert(attribute.text);
  for (const MlirAttribute* element : attribute.elements)
    if (element->kind == MlirAttribute::Kind::kString) names.insert(element->text);
}

void CollectSymbols(const MlirOperation& op, absl::flat_hash_set<std::string>& names) {
  for (const auto& [name, attribute] : op.attributes) CollectSymbols(*attribute, names);
  for (const char* by : {"callee", "called_computations", "decomposition"})
    if (const MlirAttribute* attribute = op.Find(by); attribute != nullptr)
      CollectStrings(*attribute, names);
  for (const MlirRegion& region : op.regions)
    for (const auto& block : region.blocks)
      for (const auto& inner : block->operations) CollectSymbols(*inner, names);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> EntriesOf(const MlirModule& program) {
  const MlirOperation& top = program.top();
  if (top.regions.size() != 1 || top.regions[0].blocks.size() != 1)
    return InvalidArgument("the module has no body");
  std::vector<std::string> all, uncalled;
  absl::flat_hash_set<std::string> named;
  for (const auto& op : top.regions[0].blocks[0]->operations) {
    const MlirAttribute* name = op->name == "func.func" ? SymbolName(*op) : nullptr;
    if (name == nullptr) continue;
    if (name->text == "main") return std::vector<std::string>{"main"};
    if (IsPublic(*op)) all.push_back(name->text);
    CollectSymbols(*op, named);
  }
  if (all.empty()) return InvalidArgument("the program has no function main");
  for (const std::string& name : all)
    if (!named.contains(name)) uncalled.push_back(name);
  return all.size() == 1 || uncalled.empty() ? all : uncalled;
}

absl::StatusOr<std::unique_ptr<Module>> ConvertMlir(const MlirModule& program,
                                                    const std::string& entry, EntryWishes* wishes,
                                                    absl::Span<const DimVector> sizes) {
  const MlirAttribute* name = SymbolName(program.top());
  const bool is_named = name != nullptr && !name->text.empty();
  auto module = std::make_unique<Module>(is_named ? SanitizedName(name->text) : "main");
  ModuleConverter converter(program, *module, sizes);
  ASSIGN_OR_RETURN(const MlirOperation* const function, converter.Convert(entry));
  if (wishes != nullptr) {
    wishes->arguments = WishesOf(function->Find("arg_attrs"), module->entry()->parameter_count());
    const Shape& result = module->entry()->root()->shape();
    const size_t results = result.IsTuple() ? result.elements.size() : 1;
    wishes->results = WishesOf(function->Find("res_attrs"), static_cast<int64_t>(results));
  }
  return module;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
