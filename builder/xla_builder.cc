// Instructions, errors and scopes; building and constants are in files of their own.
//
// An XlaOp is the builder and a number. Adding one infers its shape at once, so a wrong call is
// reported where it stands (FILE:LINE of the caller), and the first error is kept: later calls on
// invalid operands give invalid ones, and building the computation returns that error. So programs
// may write expressions without looking at each result.
// Metadata, sharding and frontend attributes that are set hold for all instructions from then on.
#include "builder/xla_builder.h"

#include <cstdio>

#include "absl/container/inlined_vector.h"
#include "builder/import_internal.h"
#include "ir/sanitized_name.h"
#include "ops/array_shape.h"
#include "ops/infer/op_table.h"
#include "ops/inferred_layout.h"
#include "support/status.h"

namespace hlokit {
namespace {

// More are a mistake; a table of them is allocated.
constexpr int64_t kMaxParameters = 1 << 20;

// The same status with FILE:LINE of the call before its text, where there is one; rule labels stay.
absl::Status At(const absl::Status& status, const Where& where) {
  if (where.line() == 0) return status;
  absl::string_view file = where.file_name();
  file = file.substr(file.find_last_of('/') + 1);
  return Annotate(status, absl::StrCat(file, ":", where.line()));
}

void FillLayouts(Shape& shape) {
  for (Shape& element : shape.elements) FillLayouts(element);
  if (shape.IsArray() && !shape.has_layout) shape = shape.WithDefaultLayout();
}

// Instructions own structs of their opcode; `from` holds one of the same.
void TakeAttributes(AttributesBase& from, Instruction& to) {
  VisitAttributes(to.opcode(), to.mutable_attributes(), [&](auto& value) {
    using A = std::decay_t<decltype(value)>;
    if constexpr (!std::is_same_v<A, NoAttrs>)
      value = std::move(static_cast<AttributesOf<A>&>(from).value);
  });
}

// Of a module and its entry: what reads back.
std::string TextName(const std::string& name) {
  return name.empty() ? "computation" : SanitizedName(name);
}

}  // namespace

XlaBuilder::XlaBuilder(std::string name)
    : OpMethods(this),
      name_(std::move(name)),
      module_(std::make_unique<Module>(TextName(name_))),
      entry_(module_->AddComputation(module_->name())) {
  module_->set_entry(entry_);
}

XlaBuilder::XlaBuilder(Client* client, std::string name) : XlaBuilder(std::move(name)) {
  client_ = client;
}

XlaBuilder::~XlaBuilder() = default;

XlaOp XlaBuilder::ReportError(const absl::Status& error, Where where) {
  if (!first_error_.ok() || error.ok()) return Invalid();
  first_error_ = At(error, where);
  if (!die_) return Invalid();
  std::fprintf(stderr, "builder %s: %s\n", name_.c_str(), first_error_.ToString().c_str());
  std::abort();
}

XlaOp XlaBuilder::ReportErrorOrReturn(absl::StatusOr<XlaOp> op, Where where) {
  return op.ok() ? *op : ReportError(op.status(), where);
}

Instruction* XlaBuilder::Find(XlaOp op) const {
  const bool ours =
      op.builder() == this && op.valid() && op.handle() < static_cast<int64_t>(ops_.size());
  return ours ? ops_[op.handle()] : nullptr;
}

absl::StatusOr<Instruction*> XlaBuilder::Checked(XlaOp op) const {
  RETURN_IF_ERROR(first_error_);
  if (Instruction* found = Find(op)) return found;
  if (op.valid())
    return InvalidArgument("the operand belongs to builder ", op.builder()->name(), ", not to ",
                           name_);
  return InvalidArgument("the operand is no value");
}

absl::StatusOr<Computation*> XlaBuilder::Import(const XlaComputation& computation) {
  if (computation.IsNull()) return InvalidArgument("a computation that was not built is called");
  Computation*& imported = imported_[computation.shared_module()];
  if (imported == nullptr) imported = CopyInto(computation.module(), *module_);
  return imported;
}

absl::StatusOr<XlaOp> XlaBuilder::AddInstruction(NewOp op) {
  RETURN_IF_ERROR(first_error_);
  absl::InlinedVector<Instruction*, 4> operands;
  absl::InlinedVector<const Shape*, 4> shapes;
  for (const XlaOp& operand : op.operands) {
    const absl::StatusOr<Instruction*> found = Checked(operand);
    if (!found.ok()) return Annotate(found.status(), Text(op.opcode));
    operands.push_back(*found);
    shapes.push_back(&(*found)->shape());
  }
  std::vector<Computation*> called;
  for (const XlaComputation* computation : op.called) {
    const absl::StatusOr<Computation*> imported =
        Import(computation == nullptr ? XlaComputation() : *computation);
    if (!imported.ok()) return Annotate(imported.status(), Text(op.opcode));
    called.push_back(*imported);
  }
  if (op.attributes == nullptr) op.attributes = MakeAttributes(op.opcode);
  const Shape* stated = op.shape ? &*op.shape : nullptr;
  const OpView view(op.opcode, shapes, op.attributes.get(), called, stated);
  ASSIGN_OR_RETURN(Shape shape, InferShape(view));
  if (stated != nullptr && Compatible(shape, *stated)) {
    shape = *stated;
    FillLayouts(shape);
  } else {
    shape = WithInferredLayout(shape, op.opcode, shapes, op.attributes.get(), called);
  }
  const absl::Status sound = CheckArrayShapes(shape, /*allow_unbounded=*/true);
  if (!sound.ok()) return Annotate(sound, Text(op.opcode));
  auto made = std::make_unique<Instruction>(op.opcode, std::move(shape), operands);
  if (op.attributes != nullptr) TakeAttributes(*op.attributes, *made);
  made->set_called(std::move(called));
  DecorateWithScopes(*made);
  ops_.push_back(entry_->Add(std::move(made), SanitizedName(op.name)));
  return XlaOp(static_cast<int64_t>(ops_.size()) - 1, this);
}

absl::StatusOr<XlaOp> XlaBuilder::AddParameter(int64_t number, const Shape& shape,
                                               const std::string& name,
                                               const std::vector<bool>& replicated) {
  RETURN_IF_ERROR(first_error_);
  if (number < 0 || number > kMaxParameters)
    return InvalidArgument("parameter: number ", number, " is out of range");
  if (number < entry_->parameter_count() && entry_->parameter(number) != nullptr)
    return InvalidArgument("parameter: number ", number, " is taken by %",
                           entry_->parameter(number)->name());
  auto attributes = std::make_unique<AttributesOf<ParameterAttrs>>();
  attributes->value = {number, replicated};
  return AddInstruction({Opcode::kParameter, {}, std::move(attributes), shape, {}, name});
}

void XlaBuilder::DecorateWithScopes(Instruction& instruction) {
  const OpMetadata& metadata = one_shot_metadata_ ? *one_shot_metadata_ : metadata_;
  if (metadata != OpMetadata()) instruction.set_metadata(metadata);
  one_shot_metadata_.reset();
  if (sharding_) instruction.mutable_extras().sharding = std::make_unique<Sharding>(*sharding_);
  for (const auto& [name, value] : frontend_attributes_)
    instruction.mutable_extras().frontend_attributes.emplace_back(name, value);
}

absl::StatusOr<Shape> XlaBuilder::GetShape(XlaOp op) const {
  ASSIGN_OR_RETURN(const Instruction* found, Checked(op));
  return found->shape();
}

XlaOp XlaBuilder::CheckShape(XlaOp op, const Shape& expected) const {
  const absl::StatusOr<Shape> found = GetShape(op);
  CHECK(found.ok()) << found.status().ToString();
  CHECK(Compatible(*found, expected))
      << "the operand is " << Text(*found) << ", expected " << Text(expected);
  return op;
}

void XlaBuilder::CheckSameShape(XlaOp lhs, XlaOp rhs) const {
  const absl::StatusOr<Shape> expected = GetShape(rhs);
  CHECK(expected.ok()) << expected.status().ToString();
  CheckShape(lhs, *expected);
}

std::unique_ptr<XlaBuilder> XlaBuilder::CreateSubBuilder(std::string name) {
  auto made = std::make_unique<XlaBuilder>(client_, std::move(name));
  AdoptSubBuilder(*made);
  return made;
}

void XlaBuilder::AdoptSubBuilder(XlaBuilder& builder) {
  builder.parent_ = this;
  builder.die_ = die_;
  builder.require_ordered_infeeds_ = require_ordered_infeeds_;
}

absl::Status XlaBuilder::SetInstructionFrontendAttribute(XlaOp op, std::string name,
                                                         std::string value) {
  ASSIGN_OR_RETURN(Instruction * found, Checked(op));
  auto& attributes = found->mutable_extras().frontend_attributes;
  std::erase_if(attributes, [&](const auto& attribute) { return attribute.first == name; });
  attributes.emplace_back(std::move(name), std::move(value));
  return absl::OkStatus();
}

absl::Status XlaBuilder::SetInstructionSharding(XlaOp op, const std::optional<Sharding>& sharding) {
  ASSIGN_OR_RETURN(Instruction * found, Checked(op));
  found->mutable_extras().sharding = sharding ? std::make_unique<Sharding>(*sharding) : nullptr;
  return absl::OkStatus();
}

void XlaBuilder::SetUpAlias(const ShapeIndex& output_index, int64_t parameter,
                            const ShapeIndex& parameter_index, bool must_alias) {
  module_->header().aliases.push_back({output_index, parameter, parameter_index, must_alias});
}

void XlaBuilder::AddBufferDonor(int64_t parameter, const ShapeIndex& index) {
  module_->header().donors.push_back({parameter, index});
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
