// Regions and functions as computations.
//
// A BodyConverter makes one computation: a table says which instruction stands for each MLIR value,
// and each operation is converted by the first of these that applies: refinement of open sizes, the
// quantized form, a plain opcode (operations.def), a function of its own.
// MLIR regions see the values around them, HLO computations do not. Two ways close that gap:
// - A constant from outside is made again inside, so reducers and comparators stay closed.
// - Loops and branches ask CapturesOf for the other values and pass them as further state or as
//   operands. In
//     %w = ...   stablehlo.while(%i = %0) do { ... stablehlo.add %i, %w ... }
//   the instruction's state is (i, w).
// Splats of one value and shape are made once a computation.
// Cost: one pass over the operations; a capture walk visits the regions of each loop once, so loops
// that nest d deep cost d visits.
#include "stablehlo/convert/converter_internal.h"

#include <cstring>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"

namespace hlokit {

namespace {

bool IsConstantLike(const Instruction& i) {
  return i.IsConstant() || (i.opcode() == Opcode::kBroadcast && i.operand(0)->IsConstant() &&
                            i.operand(0)->shape().IsScalar());
}

absl::string_view BytesOf(const Literal& literal) {
  return {reinterpret_cast<const char*>(literal.data()), static_cast<size_t>(literal.byte_size())};
}

}  // namespace

Instruction* BodyConverter::Find(const MlirValue& value) const {
  const auto found = values_.find(&value);
  return found == values_.end() ? nullptr : found->second;
}

Instruction* BodyConverter::CopyOfConstant(const Instruction& constant) {
  if (constant.opcode() == Opcode::kBroadcast)
    return Splat(*constant.operand(0)->literal(), constant.shape());
  return Constant(constant.attr<ConstantAttrs>().literal, constant.shape());
}

absl::StatusOr<Instruction*> BodyConverter::Value(const MlirValue& value) {
  if (Instruction* own = Find(value)) return own;
  for (BodyConverter* around = outer_; around != nullptr; around = around->outer_)
    if (const Instruction* outside = around->Find(value)) {
      if (!IsConstantLike(*outside)) break;
      Instruction* copy = CopyOfConstant(*outside);
      Set(value, copy);
      return copy;
    }
  return InvalidArgument(current_ == nullptr ? "" : current_->name,
                         ": a value from outside is used in a region that takes constants alone");
}

bool BodyConverter::IsConstant(const MlirValue& value) {
  for (BodyConverter* b = this; b != nullptr; b = b->outer_)
    if (const Instruction* found = b->Find(value)) return IsConstantLike(*found);
  return false;
}

absl::StatusOr<std::vector<Instruction*>> BodyConverter::Operands(const MlirOperation& op) {
  std::vector<Instruction*> operands;
  operands.reserve(op.operands.size());
  for (const MlirValue* value : op.operands) {
    ASSIGN_OR_RETURN(Instruction * operand, Value(*value));
    operands.push_back(operand);
  }
  return operands;
}

Shape BodyConverter::ShapeOf(const MlirOperation& op) {
  if (op.results.size() == 1) return ShapeOf(*op.results[0].type);
  std::vector<Shape> elements;
  for (const MlirValue& result : op.results) elements.push_back(ShapeOf(*result.type));
  return Shape::Tuple(std::move(elements));
}

void BodyConverter::SetResults(const MlirOperation& op, Instruction* instruction) {
  CloseSizes(*instruction);
  TakeLayout(*instruction);
  const bool bare = op.Find("mhlo.sharding") == nullptr && op.Find("sdy.sharding") == nullptr &&
                    op.Find("mhlo.frontend_attributes") == nullptr;
  if (op.results.size() == 1 && bare) instruction = Simplified(*this, instruction);
  if (!instruction->IsParameter()) extras_.Update(SetExtraAttributes(op.attributes, *instruction));
  if (op.results.size() == 1) return Set(op.results[0], instruction);
  if (instruction->shape().elements.size() != op.results.size() && !op.results.empty()) {
    extras_.Update(InvalidArgument(op.name, ": ", op.results.size(), " results, expected ",
                                   instruction->shape().elements.size()));
    for (const MlirValue& result : op.results) Set(result, instruction);
    return;
  }
  for (size_t i = 0; i < op.results.size(); ++i) {
    Instruction* element = Element(instruction, static_cast<int64_t>(i));
    for (const auto& [key, value] : instruction->extras().frontend_attributes)
      AddFrontendAttribute(*element, key, value);
    const Sharding* sharding = instruction->extras().sharding.get();
    if (sharding != nullptr && sharding->kind == Sharding::Kind::kTuple &&
        sharding->elements.size() == op.results.size())
      element->mutable_extras().sharding = std::make_unique<Sharding>(sharding->elements[i]);
    Set(op.results[i], element);
  }
}

Instruction* BodyConverter::Add(Opcode opcode, Shape shape,
                                absl::Span<Instruction* const> operands) {
  Instruction* made = computation_->Add(opcode, std::move(shape), operands);
  if (current_ != nullptr) {
    made->set_metadata(module_.Metadata(current_->location));
    if (current_->place.length > 0) made->set_place(current_->place);
  }
  // What users say of an operation holds of all instructions that it becomes, but of numbers.
  const bool number =
      opcode == Opcode::kConstant || (opcode == Opcode::kBroadcast && operands[0]->IsConstant());
  if (marks_ != nullptr && !number)
    extras_.Update(SetExtraAttributes({{"mhlo.frontend_attributes", marks_}}, *made));
  return made;
}

Instruction* BodyConverter::Constant(Literal literal) {
  if (literal.shape().IsScalar()) return Splat(literal, literal.shape());
  const Shape shape = literal.shape().WithDefaultLayout();
  return Constant(std::make_shared<const Literal>(std::move(literal)), shape);
}

// Equal ones are known by their bytes where these are few, else by the literal that they share.
Instruction* BodyConverter::Constant(SharedLiteral literal, const Shape& shape) {
  constexpr int64_t kFewBytes = 4096;
  const void* const shared = literal.get();
  const absl::string_view key =
      literal->byte_size() <= kFewBytes
          ? BytesOf(*literal)
          : absl::string_view(reinterpret_cast<const char*>(&shared), sizeof(shared));
  Instruction*& made = constants_[{Text(shape, true), std::string(key.data(), key.size())}];
  if (made == nullptr) made = Add(Opcode::kConstant, shape, {}, ConstantAttrs{std::move(literal)});
  return made;
}

Instruction* BodyConverter::Splat(const Literal& scalar, const Shape& like) {
  const Shape shape = like.WithDefaultLayout();  // as all of MLIR's constants
  const absl::string_view bytes = BytesOf(scalar);
  Instruction*& made = splats_[{Text(shape, true), std::string(bytes.data(), bytes.size())}];
  if (made != nullptr) return made;
  // The table may grow below.
  Instruction* splat = nullptr;
  if (shape.IsScalar() || shape.ElementCount() == 1) {
    Literal literal = Literal::Unset(shape);
    std::memcpy(literal.data(), scalar.data(), bytes.size());
    splat = Add(Opcode::kConstant, shape, {},
                ConstantAttrs{std::make_shared<const Literal>(std::move(literal))});
  } else {
    // Each shape has a scalar of its own.
    Literal literal = Literal::Unset(Shape::Scalar(shape.type).WithDefaultLayout());
    std::memcpy(literal.data(), scalar.data(), bytes.size());
    Instruction* element = Add(Opcode::kConstant, literal.shape(), {},
                               ConstantAttrs{std::make_shared<const Literal>(literal)});
    splat = Add(Opcode::kBroadcast, shape, {element}, BroadcastAttrs());
  }
  return splats_[{Text(shape, true), std::string(bytes.data(), bytes.size())}] = splat;
}

Instruction* BodyConverter::Splat(double value, const Shape& shape) {
  Literal scalar(Shape::Scalar(shape.type));
  if (IsComplex(shape.type)) {
    scalar.SetComplex(0, value);
  } else if (IsInteger(shape.type) || IsPred(shape.type)) {
    scalar.SetInt(0, static_cast<int64_t>(value));
  } else {
    scalar.SetDouble(0, value);
  }
  return Splat(scalar, shape);
}

Instruction* BodyConverter::Tuple(absl::Span<Instruction* const> elements) {
  std::vector<Shape> shapes;
  for (const Instruction* element : elements) shapes.push_back(element->shape());
  return Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), elements);
}

Instruction* BodyConverter::Element(Instruction* tuple, int64_t index) {
  return Add(Opcode::kGetTupleElement, tuple->shape().elements[index], {tuple},
             GetTupleElementAttrs{index});
}

void BodyConverter::Return(absl::Span<Instruction* const> values, bool always_tuple) {
  current_ = nullptr;
  computation_->set_root(values.size() == 1 && !always_tuple ? values[0] : Tuple(values));
}

absl::Status BodyConverter::ConvertOperation(const MlirOperation& op) {
  for (const MlirValue& result : op.results)
    if (!result.type->HasShape() && op.name != "stablehlo.async_start")
      return Unimplemented(op.name, ": the type ", Text(*result.type), " has no equal in HLO");
  ASSIGN_OR_RETURN(const bool refined, ConvertRefined(*this, op));
  if (refined) return extras_;
  if (ComputesOnQuantized(op)) return ConvertOnQuantized(*this, op);
  if (const auto simple = SimpleOpcodeOf(op.name)) {
    ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, Operands(op));
    const int expected = Info(*simple).min_operands;
    if (static_cast<int>(operands.size()) != expected || op.results.size() != 1)
      return InvalidArgument(op.name, ": expected ", expected, " operands and a result");
    Instruction* made = Add(*simple, ShapeOf(op), operands);
    SetResults(op, made);
    return absl::OkStatus();
  }
  const ConvertFunction convert = ConvertFunctionOf(op.name);
  if (convert == nullptr) return Unimplemented("the operation ", op.name, " is not known");
  RETURN_IF_ERROR(convert(*this, op));
  return extras_;
}

absl::Status BodyConverter::ConvertOne(const MlirOperation& op) {
  current_ = &op;
  // XLA takes operations of chlo apart before it looks at attributes.
  marks_ = absl::StartsWith(op.name, "chlo.") ? nullptr : op.Find("mhlo.frontend_attributes");
  absl::Status converted = ConvertOperation(op);
  marks_ = nullptr;
  if (!converted.ok()) return WithPlace(std::move(converted), op.place);
  current_ = nullptr;
  return absl::OkStatus();
}

absl::StatusOr<const MlirOperation*> BodyConverter::ConvertOperations(const MlirBlock& block) {
  for (const auto& op : block.operations) {
    if (op->name == "func.return" || op->name == "stablehlo.return" || op->name == "sdy.return" ||
        op->name == "mhlo.return") {
      if (op != block.operations.back())
        return WithPlace(InvalidArgument(op->name, " is not the last operation"), op->place);
      return op.get();
    }
    RETURN_IF_ERROR(ConvertOne(*op));
  }
  return InvalidArgument("a region does not end with an operation that returns");
}

absl::StatusOr<Computation*> BodyConverter::Region(const MlirRegion& region) {
  if (region.blocks.size() != 1) return InvalidArgument("expected a region of one block");
  const MlirBlock& block = *region.blocks[0];
  Computation* computation = module_.module().AddComputation("region");
  BodyConverter inside(module_, computation, this);
  for (size_t i = 0; i < block.arguments.size(); ++i) {
    const MlirType& type = *block.arguments[i].type;
    if (!type.HasShape()) return Unimplemented("the type ", Text(type), " has no equal in HLO");
    inside.Set(block.arguments[i], computation->AddParameter(i, ShapeOf(type)));
  }
  ASSIGN_OR_RETURN(const MlirOperation* last, inside.ConvertOperations(block));
  ASSIGN_OR_RETURN(const std::vector<Instruction*> values, inside.Operands(*last));
  inside.Return(values);
  return computation;
}

absl::Status Promote(BodyConverter& body, const MlirOperation& op, const MlirRegion& region,
                     size_t first, size_t from, absl::Span<Instruction*> operands) {
  if (region.blocks.size() != 1) return absl::OkStatus();
  const auto& arguments = region.blocks[0]->arguments;
  for (size_t i = 0; i < operands.size() && first + i < arguments.size(); ++i) {
    const MlirType& wanted = *arguments[first + i].type;
    const QuantizedElement* own = op.operands[from + i]->type->quantized.get();
    const Shape& shape = operands[i]->shape();
    if (!wanted.HasShape() || !wanted.shape.IsArray() || !shape.IsArray()) continue;
    if (own != nullptr && wanted.quantized != nullptr) {
      ASSIGN_OR_RETURN(operands[i], Requantized(body, operands[i], *own, wanted));
    } else if (own == nullptr && wanted.quantized == nullptr && wanted.shape.type != shape.type) {
      operands[i] = body.Add(Opcode::kConvert, shape.WithType(wanted.shape.type), {operands[i]});
    }
  }
  return absl::OkStatus();
}

namespace {

// Walks regions for the values that they use from outside.
class CaptureWalk {
 public:
  CaptureWalk(BodyConverter& body,
              const absl::flat_hash_map<const MlirValue*, const MlirValue*>& same,
              absl::Span<const std::pair<const MlirOperation*, std::vector<bool>>> returns)
      : body_(body), same_(same), returns_(returns) {}

  void Visit(const MlirRegion& region) {
    for (const auto& block : region.blocks) {
      for (const MlirValue& argument : block->arguments) inside_.insert(&argument);
      for (const auto& op : block->operations) {
        for (const MlirRegion& inner : op->regions) Visit(inner);
        VisitOperands(*op);
        for (const MlirValue& result : op->results) inside_.insert(&result);
      }
    }
  }
  std::vector<const MlirValue*> Take() { return std::move(found_); }

 private:
  void VisitOperands(const MlirOperation& op) {
    const std::vector<bool>* counts = nullptr;
    for (const auto& [returning, kept] : returns_)
      if (returning == &op) counts = &kept;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (counts != nullptr && i < counts->size() && !(*counts)[i]) continue;
      const MlirValue* value = op.operands[i];
      if (const auto stands = same_.find(value); stands != same_.end()) {
        value = stands->second;
      } else if (inside_.contains(value)) {
        continue;
      }
      if (!body_.IsConstant(*value) && seen_.insert(value).second) found_.push_back(value);
    }
  }

  BodyConverter& body_;
  const absl::flat_hash_map<const MlirValue*, const MlirValue*>& same_;
  absl::Span<const std::pair<const MlirOperation*, std::vector<bool>>> returns_;
  absl::flat_hash_set<const MlirValue*> inside_, seen_;
  std::vector<const MlirValue*> found_;
};

}  // namespace

std::vector<const MlirValue*> CapturesOf(
    BodyConverter& body, absl::Span<const MlirRegion* const> regions,
    const absl::flat_hash_map<const MlirValue*, const MlirValue*>& same,
    absl::Span<const std::pair<const MlirOperation*, std::vector<bool>>> returns) {
  CaptureWalk walk(body, same, returns);
  for (const MlirRegion* region : regions) walk.Visit(*region);
  return walk.Take();
}

absl::StatusOr<const MlirBlock*> BlockOf(const MlirOperation& op, size_t region, size_t arguments) {
  if (region >= op.regions.size() || op.regions[region].blocks.size() != 1)
    return InvalidArgument(op.name, ": expected a region of one block");
  const MlirBlock* block = op.regions[region].blocks[0].get();
  if (block->arguments.size() != arguments)
    return InvalidArgument(op.name, ": a region takes ", block->arguments.size(),
                           " arguments, expected ", arguments);
  if (block->operations.empty()) return InvalidArgument(op.name, ": a region is empty");
  return block;
}

absl::Status CheckRegions(const MlirOperation& op, size_t count) {
  if (op.regions.size() == count) return absl::OkStatus();
  return InvalidArgument(op.name, ": expected ", count, " regions, found ", op.regions.size());
}

absl::Status CheckOperands(const MlirOperation& op, size_t at_least) {
  if (op.operands.size() >= at_least) return absl::OkStatus();
  return InvalidArgument(op.name, ": expected at least ", at_least, " operands, found ",
                         op.operands.size());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
