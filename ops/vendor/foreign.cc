// Literals to foreign buffers and back.
//
// The interpreter holds arrays as row-major literals; a foreign function may ask for other layouts
// (operand_layout_constraints) and sees plain pointers. Prepare copies arguments into the layouts
// asked for, makes room for results and fills the call's struct; Run calls the function; results
// are copied back from its layouts. The struct and what it points to belong to one object, so
// nothing dangles when the function fails.
#include <algorithm>
#include <deque>

#include "ffi/surroundings.h"
#include "ops/vendor/call_config.h"
#include "ops/vendor/foreign.h"
#include "support/status.h"

namespace hlokit {
namespace {

std::vector<const Shape*> ArraysOf(const Shape& shape) {
  std::vector<const Shape*> leaves;
  for (const ShapeLeaf& leaf : Leaves(shape)) leaves.push_back(leaf.shape);
  return leaves;
}

void ArraysOf(const Literal& value, std::vector<const Literal*>& leaves) {
  if (!value.shape().IsTuple()) leaves.push_back(&value);
  for (const Literal& element : value.elements()) ArraysOf(element, leaves);
}

// A call as the foreign function sees it, with all that its pointers point to.
class ForeignCall {
 public:
  explicit ForeignCall(const EvalContext& context) : context_(context) {}

  absl::Status Prepare() {
    const CustomCallAttrs& attrs = context_.instruction.attr<CustomCallAttrs>();
    size_t next = 0;
    std::vector<const Shape*> layouts;
    if (attrs.operand_layout_constraints.has_value())
      for (const Shape& shape : *attrs.operand_layout_constraints)
        for (const Shape* leaf : ArraysOf(shape)) layouts.push_back(leaf);
    for (const Literal* operand : context_.operands) {
      std::vector<const Literal*> leaves;
      ArraysOf(*operand, leaves);
      for (const Literal* leaf : leaves) {
        const Shape* layout = next < layouts.size() ? layouts[next] : nullptr;
        ++next;
        arguments_.push_back(Buffer(*leaf, layout));
      }
    }
    for (const Shape* shape : ArraysOf(context_.instruction.shape())) {
      const Literal empty = shape->IsToken() ? Literal::Token() : Literal(*shape);
      results_.push_back(Buffer(empty, shape));
    }
    RETURN_IF_ERROR(Alias(attrs));
    return Attributes();
  }

  absl::Status Run(hlokit_ffi_function function) {
    const CustomCallAttrs& attrs = context_.instruction.attr<CustomCallAttrs>();
    const std::string config(context_.instruction.backend_config());
    hlokit_ffi_call call = {};
    call.version = HLOKIT_FFI_VERSION;
    call.target = attrs.target.c_str();
    call.backend_config = config.c_str();
    call.backend_config_size = static_cast<int64_t>(config.size());
    call.argument_count = static_cast<int32_t>(arguments_.size());
    call.result_count = static_cast<int32_t>(results_.size());
    call.attribute_count = static_cast<int32_t>(attributes_.size());
    call.arguments = arguments_.data();
    call.results = results_.data();
    call.attributes = attributes_.data();
    call.replica = context_.replica;
    call.partition = context_.partition;
    FfiCaller caller = {"",
                        Site(),
                        context_.ffi_states,
                        context_.ffi_run,
                        context_.replica * context_.partitions + context_.partition,
                        absl::StatusCode::kInternal};
    call.caller = &caller;
    call.set_error = [](hlokit_ffi_call* c, const char* message) {
      static_cast<FfiCaller*>(c->caller)->error = message;
    };
    const int status = function(&call);
    if (status == 0) return absl::OkStatus();
    return {caller.code, absl::StrCat("custom-call ", attrs.target, ": ",
                                      caller.error.empty() ? absl::StrCat("failed with ", status)
                                                           : caller.error)};
  }

  Literal Result() {
    size_t next = 0;
    return Take(context_.instruction.shape(), next);
  }

 private:
  // The instruction by its names: executors may run copies of a module.
  std::string Site() const {
    const Instruction& i = context_.instruction;
    return absl::StrCat(i.parent() == nullptr ? "" : i.parent()->name(), "/", i.name());
  }

  // Which of a value's arrays stands at `index`, counted depth first from `first`.
  static absl::StatusOr<size_t> LeafAt(const Shape& shape, absl::Span<const int64_t> index,
                                       size_t first) {
    const std::vector<ShapeLeaf> leaves = Leaves(shape);
    for (size_t i = 0; i < leaves.size(); ++i)
      if (absl::MakeConstSpan(leaves[i].index) == index) return first + i;
    return InvalidArgument("output_to_operand_aliasing names no array of ", Text(shape));
  }

  // Aliased results begin as their operands, in the same memory.
  absl::Status Alias(const CustomCallAttrs& attrs) {
    for (const OutputAlias& alias : attrs.output_to_operand_aliasing) {
      size_t first = 0;
      for (int64_t i = 0; i < alias.operand; ++i)
        first += Leaves(context_.operands[static_cast<size_t>(i)]->shape()).size();
      const Shape& operand = context_.operands[static_cast<size_t>(alias.operand)]->shape();
      ASSIGN_OR_RETURN(const size_t from, LeafAt(operand, alias.operand_index, first));
      ASSIGN_OR_RETURN(const size_t to, LeafAt(context_.instruction.shape(), alias.output, 0));
      // Of another layout it could not be the same memory.
      if (arguments_[from].bytes != results_[to].bytes ||
          !std::equal(arguments_[from].minor_to_major,
                      arguments_[from].minor_to_major + arguments_[from].rank,
                      results_[to].minor_to_major))
        continue;
      results_[to].data = arguments_[from].data;
    }
    return absl::OkStatus();
  }

  // The literal's elements in the order of `layout`, row-major where it is null.
  hlokit_ffi_buffer Buffer(const Literal& value, const Shape* layout) {
    const Shape& shape = value.shape();
    hlokit_ffi_buffer buffer = {};
    buffer.type = names_.emplace_back(Text(shape.type)).c_str();
    if (shape.IsToken()) buffer.type = "token";
    buffer.rank = static_cast<int32_t>(shape.rank());
    std::vector<int64_t>& dims = numbers_.emplace_back();
    std::vector<int64_t>& order = numbers_.emplace_back();
    for (int d = 0; d < shape.rank(); ++d) {
      dims.push_back(shape.dims[d]);
      order.push_back(shape.rank() - 1 - d);
    }
    const bool given = layout != nullptr && layout->has_layout &&
                       layout->layout.minor_to_major.size() == order.size();
    if (given)
      order.assign(layout->layout.minor_to_major.begin(), layout->layout.minor_to_major.end());
    buffer.dims = dims.data();
    buffer.minor_to_major = order.data();
    if (shape.IsToken()) return buffer;
    Literal& copy = copies_.emplace_back(Literal(shape));
    if (value.byte_size() > 0)
      ToLayout(value, given ? *layout : Shape::Array(shape.type, shape.dims), copy.data());
    buffer.data = copy.data();
    buffer.bytes = copy.byte_size();
    return buffer;
  }

  absl::Status Attributes() {
    ASSIGN_OR_RETURN(config_, ParseCallConfig(context_.instruction.backend_config()));
    for (const auto& [name, value] : config_.map) {
      hlokit_ffi_attribute attribute = {};
      attribute.name = name.c_str();
      attribute.integer = value.integer;
      attribute.number = value.number;
      attribute.string = value.string.c_str();
      attribute.count = static_cast<int64_t>(value.string.size());
      switch (value.kind) {
        case ConfigValue::Kind::kInteger:
          attribute.kind = HLOKIT_FFI_INTEGER;
          break;
        case ConfigValue::Kind::kNumber:
          attribute.kind = HLOKIT_FFI_NUMBER;
          break;
        case ConfigValue::Kind::kList:
          SetList(value, attribute);
          break;
        default:
          attribute.kind = HLOKIT_FFI_STRING;
      }
      attributes_.push_back(attribute);
    }
    return absl::OkStatus();
  }

  void SetList(const ConfigValue& value, hlokit_ffi_attribute& attribute) {
    std::vector<int64_t>& integers = numbers_.emplace_back();
    std::vector<double>& doubles = doubles_.emplace_back();
    attribute.kind = HLOKIT_FFI_INTEGERS;
    for (const ConfigValue& element : value.list) {
      integers.push_back(element.integer);
      doubles.push_back(element.number);
      if (element.kind != ConfigValue::Kind::kInteger) attribute.kind = HLOKIT_FFI_NUMBERS;
    }
    attribute.count = static_cast<int64_t>(integers.size());
    attribute.integers = integers.data();
    attribute.numbers = doubles.data();
  }

  Literal Take(const Shape& shape, size_t& next) {
    if (shape.IsTuple()) {
      std::vector<Literal> elements;
      for (const Shape& element : shape.elements) elements.push_back(Take(element, next));
      return Literal::Tuple(std::move(elements));
    }
    const hlokit_ffi_buffer& buffer = results_[next++];
    if (shape.IsToken()) return Literal::Token();
    Literal result(shape);
    if (result.byte_size() > 0) FromLayout(static_cast<const uint8_t*>(buffer.data), shape, result);
    return result;
  }

  const EvalContext& context_;
  std::vector<hlokit_ffi_buffer> arguments_, results_;
  std::vector<hlokit_ffi_attribute> attributes_;
  ConfigValue config_;
  // What the buffers and attributes point to; addresses are stable.
  std::deque<std::string> names_;
  std::deque<std::vector<int64_t>> numbers_;
  std::deque<std::vector<double>> doubles_;
  std::deque<Literal> copies_;
};

}  // namespace

absl::StatusOr<Literal> CallForeign(const EvalContext& context, hlokit_ffi_function function) {
  ForeignCall call(context);
  RETURN_IF_ERROR(call.Prepare());
  RETURN_IF_ERROR(call.Run(function));
  return call.Result();
}

namespace {

// What a plain function gets for a value: its elements, or a table of what it gets for each part.
void* PlainPointer(Literal& value, std::deque<std::vector<void*>>& tables) {
  if (!value.shape().IsTuple()) return value.data();
  std::vector<void*> table;
  for (Literal& element : value.elements()) table.push_back(PlainPointer(element, tables));
  return tables.emplace_back(std::move(table)).data();
}

}  // namespace

absl::StatusOr<Literal> CallPlain(const EvalContext& context, PlainCustomCall function) {
  const CustomCallAttrs& attrs = context.instruction.attr<CustomCallAttrs>();
  if (attrs.api_version != CustomCallApiVersion::kOriginal &&
      attrs.api_version != CustomCallApiVersion::kUnspecified)
    return Unimplemented("custom-call target \"", attrs.target,
                         "\": a symbol alone is called as API_VERSION_ORIGINAL only");
  std::deque<std::vector<void*>> tables;
  std::vector<Literal> copies;  // a function that writes to its operands harms nobody
  copies.reserve(context.operands.size());
  std::vector<const void*> in;
  for (const Literal* operand : context.operands)
    in.push_back(PlainPointer(copies.emplace_back(*operand), tables));
  Literal result(context.instruction.shape());
  function(PlainPointer(result, tables), in.data());
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
