// StableHLO programs in memory as MLIR has them: operations by name, with operands, attributes and
// regions. Both readers (text/, bytecode/) make this form; convert/ turns it into a Module.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "ir/attribute_types.h"
#include "support/diagnostics.h"
#include "types/shape.h"

namespace hlokit {

// How integers stand for numbers: (stored - zero point) * scale, rounded into the type `expressed`.
struct QuantizedElement {
  ElementType expressed = ElementType::kF32;
  int64_t least = 0, greatest = 0;  // of the stored integers
  int64_t dimension = -1;           // scales and zero points go along it; -1: there is one of each
  std::vector<double> scales;
  std::vector<int64_t> zero_points;
  bool operator==(const QuantizedElement&) const = default;
};

// What is unknown or has no meaning in HLO (memrefs) is kOpaque, with its text.
struct MlirType {
  enum class Kind : uint8_t { kScalar, kTensor, kTuple, kToken, kFunction, kNone, kOpaque };
  Kind kind = Kind::kNone;
  Shape shape;            // kScalar, kTensor, kTuple, kToken; without layouts
  bool is_index = false;  // `index`, held as s64
  // kScalar, kTensor: what its elements, which the shape has as integers, stand for; null:
  // themselves
  std::shared_ptr<const QuantizedElement> quantized;
  std::vector<const MlirType*> inputs, results;  // kFunction
  std::string text;                              // kOpaque
  bool HasShape() const {
    return kind == Kind::kScalar || kind == Kind::kTensor || kind == Kind::kTuple ||
           kind == Kind::kToken;
  }
};

// Immutable once read; shared by the operations that have it.
struct MlirAttribute {
  enum class Kind : uint8_t {
    kUnit,
    kBool,    // integer
    kInt,     // integer, type
    kFloat,   // number, type
    kString,  // text
    kEnum,    // text: the keyword; tag
    kSymbol,  // text: without @
    kType,    // type
    kArray,   // elements
    kDict,   // fields; tag names the attribute (`stablehlo.gather`) where it is no plain dictionary
    kInts,   // ints: array<i64: 1, 2>
    kDense,  // type; literal, a scalar where all elements are equal to it
    kOpaque,  // text, tag: of a dialect of which no more is known
  };
  Kind kind = Kind::kUnit;
  int64_t integer = 0;
  double number = 0;
  const MlirType* type = nullptr;
  std::string text, tag;
  std::vector<const MlirAttribute*> elements;
  std::vector<std::pair<std::string, const MlirAttribute*>> fields;
  std::vector<int64_t> ints;
  SharedLiteral literal;
  // Attributes inside, each counted as often as it is reached: aliases can nest without end.
  int64_t parts = 1;

  // The field of that name; null where there is none.
  const MlirAttribute* Field(absl::string_view name) const;
};

// What more parts than these have is not walked through.
inline constexpr int64_t kMaxAttributeParts = int64_t{1} << 20;
// The most parts of a tuple type, those inside included.
inline constexpr int64_t kMaxTupleParts = int64_t{1} << 14;

using MlirAttributes = std::vector<std::pair<std::string, const MlirAttribute*>>;

struct MlirLocation {
  enum class Kind : uint8_t { kUnknown, kFile, kName, kCallSite, kFused };
  Kind kind = Kind::kUnknown;
  std::string text;  // kFile: the path; kName: the name
  int64_t line = 0, column = 0, end_line = 0, end_column = 0;
  // kName: what it names; kCallSite: callee, caller; kFused: the parts
  std::vector<const MlirLocation*> inner;
};

struct MlirValue {
  const MlirType* type = nullptr;
  int32_t id = -1;   // dense in the module
  int32_t uses = 0;  // as operands, each counted
};

struct MlirOperation;

struct MlirBlock {
  std::deque<MlirValue> arguments;
  std::vector<const MlirLocation*> argument_locations;  // as many, or none
  std::vector<std::unique_ptr<MlirOperation>> operations;
};

struct MlirRegion {
  std::vector<std::unique_ptr<MlirBlock>> blocks;
};

struct MlirOperation {
  absl::string_view name;  // "stablehlo.add"; the module keeps it
  std::vector<MlirValue*> operands;
  absl::InlinedVector<MlirValue, 1> results;  // all are there before any is used: users point at them
  MlirAttributes attributes;  // properties among them
  std::vector<MlirRegion> regions;
  const MlirLocation* location = nullptr;  // null: unknown
  SourcePlace place;                       // in text; in bytecode the offset, of no length

  // The attribute of that name; null where there is none.
  const MlirAttribute* Find(absl::string_view attribute) const;
  ~MlirOperation();
};

// Owns the types, attributes, locations and names of one program.
class MlirModule {
 public:
  MlirModule() = default;
  MlirModule(const MlirModule&) = delete;
  MlirModule& operator=(const MlirModule&) = delete;

  const MlirType* Add(MlirType type) { return &types_.emplace_back(std::move(type)); }
  const MlirAttribute* Add(MlirAttribute attribute);  // counts its parts
  MlirLocation* Add(MlirLocation location) { return &locations_.emplace_back(std::move(location)); }
  absl::string_view Keep(absl::string_view name);
  // Numbers the value.
  void Number(MlirValue& value) { value.id = value_count_++; }
  int32_t value_count() const { return value_count_; }

  MlirOperation& top() { return top_; }  // builtin.module
  const MlirOperation& top() const { return top_; }

 private:
  std::deque<MlirType> types_;
  std::deque<MlirAttribute> attributes_;
  std::deque<MlirLocation> locations_;
  std::deque<std::string> names_;
  int32_t value_count_ = 0;
  MlirOperation top_;
};

// Whether a tuple of these has kMaxTupleParts at most.
bool FitsTuple(const std::vector<Shape>& elements);

// `vhlo.tensor` of `vhlo.tensor_v1`.
std::string WithoutVersion(absl::string_view name);
// The operation for which one of vhlo stands: `stablehlo.add` for `vhlo.add_v1`; its functions are
// those of the dialect func.
std::string NameForVhlo(absl::string_view operation);

// The operation that one of another dialect stands for: of vhlo as above; of mhlo, from which
// StableHLO came, the one of stablehlo or chlo of that name, or itself where neither has one; of
// other dialects itself.
std::string CommonName(absl::string_view operation);

// The type as MLIR's text has it, for messages.
std::string Text(const MlirType& type);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
