// The reader of MLIR text: one class, its parts in a file each.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "stablehlo/ir/mlir.h"
#include "stablehlo/text/scanner_internal.h"

namespace hlokit {

// Each Read function gives false after an error, which status() then holds.
class MlirTextReader {
 public:
  MlirTextReader(absl::string_view text, MlirModule& module, size_t begin = 0)
      : s_(text), module_(module), begin_(begin) {
    s_.Rewind(static_cast<uint32_t>(begin));
  }

  bool ReadModule();
  // A text of its own.
  const MlirAttribute* ReadLoneAttribute();
  const MlirType* ReadLoneType();
  const absl::Status& status() const { return s_.status(); }

 private:
  friend class FormReader;
  struct Definition {
    std::vector<MlirValue*> values;
  };
  struct BlockArgument {
    absl::string_view name;
    const MlirType* type;
    const MlirLocation* location;
  };

  // types.cc
  bool ReadType(const MlirType*& type);
  bool ReadTypeList(std::vector<const MlirType*>& types);  // after `(`, through `)`
  bool ReadTensor(const MlirType*& type);
  bool ReadNewTensor(const MlirType*& type);
  absl::string_view PlainTensor();
  bool ReadQuantized(const MlirType*& type);
  bool ReadStorage(MlirType& type, QuantizedElement& element);
  bool ReadDimensions(Shape& shape, bool& ranked);
  bool ReadEncoding(Shape& shape);
  bool ReadScalar(absl::string_view word, MlirType& type);
  bool ReadFunctionType(std::vector<const MlirType*>& in, std::vector<const MlirType*>& out);
  bool ReadDialectType(const MlirType*& type);
  bool ReadTuple(const MlirType*& type);
  bool ReadOpaqueType(uint32_t start, const MlirType*& type);

  // attributes.cc
  bool ReadAttribute(const MlirAttribute*& attribute);
  bool ReadAttributeValue(MlirAttribute& a);
  bool ReadNumber(MlirAttribute& a);
  bool ReadArray(MlirAttribute& a);
  bool ReadDictionary(MlirAttributes& fields);  // after `{`, through `}`
  bool ReadOptionalDictionary(MlirAttributes& fields);
  bool ReadDenseArray(MlirAttribute& a);
  bool ReadDialectAttribute(MlirAttribute& a);
  bool ReadDialectBody(MlirAttribute& a);
  bool ReadFields(MlirAttributes& fields);  // `a = 1, b = [2]>`
  bool ReadBoundsField(MlirAttribute& a);
  bool ReadFieldValue(const MlirAttribute*& value);
  bool ReadConvDimensions(MlirAttribute& a);  // `[b, 0, f]x[0, i, o]->[b, 0, f]`
  bool ReadConvLabels(MlirAttribute& a, absl::string_view prefix, const char* letters,
                      const char* const* names);
  bool ReadSymbol(std::string& symbol);
  bool ReadIntList(std::vector<int64_t>& ints);  // `[1, 2]`
  const MlirAttribute* AddInts(std::vector<int64_t> ints);
  const MlirAttribute* AddInt(int64_t value);
  const MlirAttribute* AddText(MlirAttribute::Kind kind, std::string text);

  // dense.cc
  bool ReadDense(MlirAttribute& a);
  bool ReadDenseResource(MlirAttribute& a);
  bool ReadResources();  // {-# dialect_resources: {...} #-}
  bool ReadHex(absl::string_view hex, bool splat_allowed, MlirAttribute& a);
  bool ReadElements(uint32_t characters, MlirAttribute& a);

  // locations.cc
  bool ReadOptionalLocation(const MlirLocation*& location);
  bool ReadLocation(const MlirLocation*& location);  // what stands in loc(...)
  bool ReadLocationBody(MlirLocation& location);
  bool ReadFileRange(MlirLocation& location);
  bool ReadAliasDefinition();

  // operations.cc
  bool ReadOperation(MlirBlock& block);
  bool ReadResultNames(std::vector<std::pair<absl::string_view, int64_t>>& names);
  bool ReadGeneric(MlirOperation& op);
  bool ReadPretty(absl::string_view word, MlirOperation& op);
  bool ReadRegion(MlirOperation& op, std::vector<BlockArgument> arguments, bool isolated = false);
  bool ReadRegionBody(MlirRegion& region, std::vector<BlockArgument> arguments);
  bool ReadBlockHeader(std::vector<BlockArgument>& arguments);
  bool ReadBlockArguments(std::vector<BlockArgument>& arguments, const char* end);
  bool AddBlock(MlirRegion& region, const std::vector<BlockArgument>& arguments);
  bool ReadOperand(MlirValue*& value);
  bool ReadOperands(std::vector<MlirValue*>& values);  // while a `%` follows
  bool Define(absl::string_view name, std::vector<MlirValue*> values);
  bool DefineResults(const std::vector<std::pair<absl::string_view, int64_t>>& names,
                     MlirOperation& op);
  bool SetResults(MlirOperation& op, const std::vector<const MlirType*>& types);
  bool CheckOperandTypes(const MlirOperation& op, const std::vector<const MlirType*>& types);
  static bool IsIsolated(absl::string_view name);

  // vhlo.cc
  static void DropAbsent(MlirAttributes& attributes);
  bool ReadVhloFunction(MlirOperation& op);
  bool ReadVhloQuantized(bool per_axis, MlirType& made);
  bool ReadVhloFunctionType(MlirType& made);
  bool ReadVhloType(absl::string_view name, uint32_t start, const MlirType*& type);
  bool ReadVhloAttribute(absl::string_view name, MlirAttribute& a, bool& known);

  // special_forms.cc: operations whose form no row of forms.def can say.
  bool ReadSpecial(MlirOperation& op, bool& known);
  bool ReadBuiltinModule(MlirOperation& op);
  bool ReadFunction(MlirOperation& op);
  bool ReadFunctionArguments(std::vector<BlockArgument>& arguments,
                             std::vector<const MlirType*>& in, const MlirAttribute*& attributes);
  bool ReadFunctionResults(std::vector<const MlirType*>& out, const MlirAttribute*& attributes);
  bool ReadConstant(MlirOperation& op);
  bool ReadWhile(MlirOperation& op);
  bool ReadReduce(MlirOperation& op);
  bool ReadReducerRegion(MlirOperation& op);
  bool AddNamedReducer(MlirOperation& op, absl::string_view name);
  bool ReadDot(MlirOperation& op);
  bool ReadScan(MlirOperation& op);
  bool ReadConvolution(MlirOperation& op);
  bool ReadConvolutionWindow(MlirOperation& op);
  bool ReadManualComputation(MlirOperation& op);
  bool ReadMesh(MlirOperation& op);
  bool ReadCheck(MlirOperation& op);
  bool ReadTypes(MlirOperation& op, absl::string_view rule);

  MlirScanner s_;
  MlirModule& module_;
  size_t begin_;  // where the program begins in the text
  absl::flat_hash_map<absl::string_view, Definition> values_;
  std::vector<absl::string_view> defined_;  // names of the regions around, in order
  absl::flat_hash_map<absl::string_view, const MlirAttribute*> attribute_aliases_;
  absl::flat_hash_map<absl::string_view, const MlirType*> type_aliases_;
  absl::flat_hash_map<absl::string_view, const MlirType*> tensors_;  // by what stands in `<>`
  absl::flat_hash_map<absl::string_view, MlirLocation*> location_aliases_;
  absl::flat_hash_map<absl::string_view, absl::string_view> operation_names_;
  absl::flat_hash_map<absl::string_view, absl::string_view> resources_;  // hex by key
  int depth_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
