// XlaBuilder: makes a computation, one operation after another.
//
//   XlaBuilder b("axpy");
//   XlaOp a = Parameter(&b, 0, Shape::Scalar(ElementType::kF32), "a");
//   XlaOp x = Parameter(&b, 1, Shape::Array(ElementType::kF32, {10}), "x");
//   XlaOp y = Parameter(&b, 2, Shape::Array(ElementType::kF32, {10}), "y");
//   Add(Mul(a, x), y);
//   absl::StatusOr<XlaComputation> axpy = b.Build();
//
// Shapes are inferred and checked at each call. Nothing throws or aborts: the first error is kept,
// with the place of the call, and Build returns it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "builder/op_methods.h"
#include "builder/xla_computation.h"
#include "builder/xla_op.h"
#include "ir/module.h"

namespace hlokit {

class Client;

// Not for several threads at once; builders in different threads are independent.
class XlaBuilder : public OpMethods {
 public:
  // `name` becomes the name of the module and of its entry computation.
  explicit XlaBuilder(std::string name);
  // The same for a client, which is only kept for client().
  XlaBuilder(Client* client, std::string name);
  ~XlaBuilder() override;
  XlaBuilder(const XlaBuilder&) = delete;
  XlaBuilder& operator=(const XlaBuilder&) = delete;

  // As they were given; null where there is none. In HLO text names are made of letters, digits
  // and `_.-`, as XLA makes them.
  const std::string& name() const { return name_; }
  Client* client() const { return client_; }
  XlaBuilder* parent_builder() const { return parent_; }

  // ---- errors ----
  // With true the first error aborts at the call, its message on standard error; false is the
  // default. Sub-builders made afterwards inherit it.
  void set_die_immediately_on_error(bool enabled) { die_ = enabled; }
  bool die_immediately_on_error() const { return die_; }
  // The first error so far: what Build would return. Its text begins with FILE:LINE of the call.
  const absl::Status& first_error() const { return first_error_; }
  // Keeps an error found outside the builder, unless there is one; gives an invalid handle.
  XlaOp ReportError(const absl::Status& error, Where where = Where::current());
  // The value of `op`, or its error reported.
  XlaOp ReportErrorOrReturn(absl::StatusOr<XlaOp> op, Where where = Where::current());

  // ---- shapes ----
  // Errors: the builder's first error, or InvalidArgument for a handle that is not of this builder.
  absl::StatusOr<Shape> GetShape(XlaOp op) const;
  // With the last operation (or SetReturnValue's) as result, or with `root`.
  absl::StatusOr<ProgramShape> GetProgramShape() const;
  absl::StatusOr<ProgramShape> GetProgramShape(XlaOp root) const;
  // `op`, whose shape must be `expected` (layouts ignored); otherwise the program aborts with both
  // shapes in its message.
  XlaOp CheckShape(XlaOp op, const Shape& expected) const;
  // Aborts likewise where the two differ in shape.
  void CheckSameShape(XlaOp lhs, XlaOp rhs) const;

  // ---- constants ----
  // What counts as constant: what XLA's IsConstant says, or the seed's ComputeConstant, where
  // random numbers count as constant although they may come out differently each time.
  enum class ConstantRule : uint8_t { kStateless, kWithRandom };
  // Whether `op` can be computed now: it reaches no parameter, no infeed or other effect, no call,
  // loop or custom call. Errors: as GetShape.
  absl::StatusOr<bool> IsConstant(XlaOp op, ConstantRule rule = ConstantRule::kStateless) const;
  // The value of `op`, computed by the interpreter while building goes on; in `output_layout` where
  // given. Errors: InvalidArgument that names what makes it no constant (a parameter by its name).
  absl::StatusOr<Literal> ComputeConstant(XlaOp op, const Layout* output_layout = nullptr) const;

  // ---- building ----
  // A builder of a computation that only this one uses (a reducer, a body); names may repeat. It
  // must not outlive this one.
  std::unique_ptr<XlaBuilder> CreateSubBuilder(std::string name);
  // The computation returns `op` rather than the last operation. Errors: as GetShape.
  absl::Status SetReturnValue(XlaOp op);
  // The computation so far. The builder can go on and build again. Errors: the first error kept; no
  // operation at all; parameters whose numbers have gaps; a first half that nothing takes (a send,
  // a start) [async-c1, async-c4]. What only a whole module shows, such as who receives or how many
  // devices there are, the verifier finds (Client::Compile runs it).
  absl::StatusOr<XlaComputation> Build();
  absl::StatusOr<XlaComputation> Build(XlaOp root);
  // The same for a sub-builder: an error is kept in the parent, and the result is empty, so that
  // its use in the parent fails too. Without a parent the error stays here.
  XlaComputation BuildAndNoteError();

  // ---- what operations carry ----
  // On every operation from now on, until cleared.
  void SetOpMetadata(OpMetadata metadata) { metadata_ = std::move(metadata); }
  void ClearOpMetadata() { metadata_ = {}; }
  // On the next operation only.
  void SetOneShotOpMetadata(OpMetadata metadata) { one_shot_metadata_ = std::move(metadata); }
  const OpMetadata& op_metadata() const { return metadata_; }
  void SetSharding(Sharding sharding) { sharding_ = std::move(sharding); }
  void ClearSharding() { sharding_.reset(); }
  const std::optional<Sharding>& sharding() const { return sharding_; }
  using FrontendAttributeMap = std::map<std::string, std::string>;
  void SetFrontendAttributes(FrontendAttributeMap attributes) {
    frontend_attributes_ = std::move(attributes);
  }
  void ClearFrontendAttributes() { frontend_attributes_.clear(); }
  const FrontendAttributeMap& frontend_attributes() const { return frontend_attributes_; }
  // On one operation that exists. Errors: as GetShape.
  absl::Status SetInstructionFrontendAttribute(XlaOp op, std::string name, std::string value);
  absl::Status SetInstructionSharding(XlaOp op, const std::optional<Sharding>& sharding);
  // Part `output_index` of the result may (or must) lie in the buffer of a parameter's part.
  void SetUpAlias(const ShapeIndex& output_index, int64_t parameter,
                  const ShapeIndex& parameter_index, bool must_alias = false);
  // The run may overwrite this part of a parameter.
  void AddBufferDonor(int64_t parameter, const ShapeIndex& index);
  // Where on, several infeeds (or outfeeds) of this computation take no order from the order of
  // their calls: Build refuses those that no data orders, as the oldest builder did.
  void set_require_ordered_infeeds(bool enabled) { require_ordered_infeeds_ = enabled; }

  // ---- for operations ----
  // One instruction to be: shapes are inferred from operands, attributes (null: defaults), called
  // computations and, where these do not determine the result, `shape`.
  struct NewOp {
    // What it is, of which values, with the struct of attributes that ir/ops.def names; a name to
    // be made unique (empty: the opcode's).
    Opcode opcode;
    OpSpan operands;
    std::unique_ptr<AttributesBase> attributes;
    std::optional<Shape> shape;
    std::vector<const XlaComputation*> called;
    std::string name;
  };
  // Errors: what inference refuses; an operand that is not valid or of another builder; an empty
  // computation.
  absl::StatusOr<XlaOp> AddInstruction(NewOp op);
  // Parameter() without the report of its error.
  absl::StatusOr<XlaOp> AddParameter(int64_t number, const Shape& shape, const std::string& name,
                                     const std::vector<bool>& replicated);
  // The instruction of a valid handle of this builder, else null.
  Instruction* Find(XlaOp op) const;
  // The token that orders infeeds (or outfeeds), to be read and replaced; not valid at first.
  XlaOp& infeed_token() { return infeed_token_; }
  XlaOp& outfeed_token() { return outfeed_token_; }
  bool orders_feeds() const { return !require_ordered_infeeds_; }

 protected:
  // Makes `builder` one of a computation that only this one uses.
  void AdoptSubBuilder(XlaBuilder& builder);

 private:
  XlaOp Invalid() { return XlaOp(-1, this); }
  absl::StatusOr<Instruction*> Checked(XlaOp op) const;
  absl::StatusOr<Computation*> Import(const XlaComputation& computation);
  Instruction* RootOrLast() const;
  absl::StatusOr<XlaComputation> BuildWithRoot(Instruction* root);
  void DecorateWithScopes(Instruction& instruction);

  std::string name_;
  Client* client_ = nullptr;
  XlaBuilder* parent_ = nullptr;
  bool die_ = false;
  bool require_ordered_infeeds_ = false;
  absl::Status first_error_;
  std::unique_ptr<Module> module_;
  Computation* entry_;
  std::vector<Instruction*> ops_;  // by handle
  Instruction* return_value_ = nullptr;
  XlaOp infeed_token_, outfeed_token_;
  OpMetadata metadata_;
  std::optional<OpMetadata> one_shot_metadata_;
  std::optional<Sharding> sharding_;
  FrontendAttributeMap frontend_attributes_;
  // Computations in module_, by the module that they were built as, which is kept alive.
  absl::flat_hash_map<std::shared_ptr<const Module>, Computation*> imported_;
};

// Puts metadata, a sharding or frontend attributes on the operations made while it lives; then what
// was there before is back.
class ScopedOpMetadata {
 public:
  // `builder` must outlive this.
  ScopedOpMetadata(XlaBuilder* builder, OpMetadata metadata)
      : builder_(builder), before_(builder->op_metadata()) {
    builder_->SetOpMetadata(std::move(metadata));
  }
  ~ScopedOpMetadata() { builder_->SetOpMetadata(std::move(before_)); }
  ScopedOpMetadata(const ScopedOpMetadata&) = delete;
  ScopedOpMetadata& operator=(const ScopedOpMetadata&) = delete;

 private:
  XlaBuilder* builder_;
  OpMetadata before_;
};

// A sharding on the operations made while it lives; then what was there before is back.
class ScopedSharding {
 public:
  // Nothing: no sharding.
  ScopedSharding(XlaBuilder* builder, std::optional<Sharding> sharding)
      : builder_(builder), before_(builder->sharding()) {
    Set(std::move(sharding));
  }
  ~ScopedSharding() { Set(std::move(before_)); }
  ScopedSharding(const ScopedSharding&) = delete;
  ScopedSharding& operator=(const ScopedSharding&) = delete;

 private:
  void Set(std::optional<Sharding> sharding) {
    builder_->ClearSharding();
    if (sharding) builder_->SetSharding(*std::move(sharding));
  }
  XlaBuilder* builder_;
  std::optional<Sharding> before_;
};

// The same of frontend attributes.
class ScopedFrontendAttributes {
 public:
  // `builder` must outlive this.
  ScopedFrontendAttributes(XlaBuilder* builder, XlaBuilder::FrontendAttributeMap attributes)
      : builder_(builder), before_(builder->frontend_attributes()) {
    builder_->SetFrontendAttributes(std::move(attributes));
  }
  ~ScopedFrontendAttributes() { builder_->SetFrontendAttributes(std::move(before_)); }
  ScopedFrontendAttributes(const ScopedFrontendAttributes&) = delete;
  ScopedFrontendAttributes& operator=(const ScopedFrontendAttributes&) = delete;

 private:
  XlaBuilder* builder_;
  XlaBuilder::FrontendAttributeMap before_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
