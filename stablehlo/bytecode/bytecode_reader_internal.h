// The reader of MLIR bytecode: sections, then attributes and types as they are asked for, then
// operations.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "stablehlo/bytecode/cursor_internal.h"
#include "stablehlo/ir/mlir.h"

namespace hlokit {

class MlirBytecodeReader {
 public:
  MlirBytecodeReader(absl::string_view bytes, std::shared_ptr<const void> owner, MlirModule& module)
      : bytes_(bytes),
        owner_(std::move(owner)),
        module_(module),
        file_(bytes, 0, "file", &error_) {}

  bool Read();
  const absl::Status& error() const { return error_; }

 private:
  // What an entry of the attribute and type section is read from.
  struct Entry {
    absl::string_view dialect;
    absl::string_view bytes;
    uint64_t offset = 0;
    bool binary = false;  // else text
    bool open = false;    // is being read
    const MlirAttribute* attribute = nullptr;
    const MlirLocation* location = nullptr;
    const MlirType* type = nullptr;
  };
  struct OperationName {
    absl::string_view full;     // as StableHLO has it: stablehlo.add
    absl::string_view written;  // in the file: vhlo.add_v1
    bool registered = true;
  };
  struct Span {
    absl::string_view bytes;
    uint64_t offset = 0;
  };

  // sections.cc
  bool ReadSections();
  bool ReadStrings(BytecodeCursor c);
  bool ReadDialects(BytecodeCursor c);
  bool ReadOperationNames(BytecodeCursor& c);
  bool ReadOffsets(BytecodeCursor c, Span entries);
  bool ReadEntries(BytecodeCursor& c, Span entries, uint64_t& at, std::vector<Entry>& list);
  bool ReadResources(BytecodeCursor c, Span data);
  bool ReadPropertyTable(BytecodeCursor c);
  bool String(BytecodeCursor& c, absl::string_view& text);
  BytecodeCursor Cursor(Span span, const char* section) {
    return BytecodeCursor(span.bytes, span.offset, section, &error_);
  }

  // entries.cc: attributes and types by number
  bool Attribute(BytecodeCursor& c, const MlirAttribute*& attribute);
  bool OptionalAttribute(BytecodeCursor& c, const MlirAttribute*& attribute);
  bool Attributes(BytecodeCursor& c, std::vector<const MlirAttribute*>& attributes);
  bool AttributeAt(BytecodeCursor& c, uint64_t index, const MlirAttribute*& attribute);
  bool Location(BytecodeCursor& c, const MlirLocation*& location);
  bool Type(BytecodeCursor& c, const MlirType*& type);
  bool Types(BytecodeCursor& c, std::vector<const MlirType*>& types);
  bool ResolveAttribute(Entry& entry);
  bool ResolveType(Entry& entry);
  bool StringAttribute(BytecodeCursor& c, std::string& text);

  // builtin_dialect.cc, stablehlo_dialect.cc, vhlo_dialect.cc
  bool BuiltinAttribute(BytecodeCursor& c, Entry& entry, MlirAttribute& a);
  bool BuiltinLocation(BytecodeCursor& c, uint64_t code, MlirLocation& location);
  bool BuiltinType(BytecodeCursor& c, MlirType& type);
  bool StablehloAttribute(BytecodeCursor& c, MlirAttribute& a);
  bool MhloAttribute(BytecodeCursor& c, MlirAttribute& a);
  bool ChloAttribute(BytecodeCursor& c, MlirAttribute& a);
  bool VhloAttribute(BytecodeCursor& c, MlirAttribute& a);
  bool VhloType(BytecodeCursor& c, MlirType& type);
  bool DenseArray(BytecodeCursor& c, MlirAttribute& a);
  bool Dense(BytecodeCursor& c, MlirAttribute& a);
  bool DenseResource(BytecodeCursor& c, MlirAttribute& a);
  bool Dictionary(BytecodeCursor& c, MlirAttribute& a);
  bool Number(BytecodeCursor& c, MlirAttribute& a, bool is_float);
  bool EnumAttribute(BytecodeCursor& c, absl::string_view keywords, MlirAttribute& a);
  bool FieldLists(BytecodeCursor& c, absl::string_view fields, MlirAttribute& a);
  bool MeshAttribute(BytecodeCursor& c, uint64_t code, MlirAttribute& a);
  bool DotAlgorithmFields(BytecodeCursor& c, MlirAttribute& a);
  bool ResultAccuracyFields(BytecodeCursor& c, MlirAttribute& a);
  bool TensorType(BytecodeCursor& c, bool encoded, MlirType& type);
  bool TupleType(BytecodeCursor& c, MlirType& type);
  bool QuantizedType(BytecodeCursor& c, bool per_axis, MlirType& type);
  bool ComplexType(BytecodeCursor& c, MlirType& type);
  void SetScalar(absl::string_view name, MlirType& type);
  const MlirAttribute* AddInts(std::vector<int64_t> ints);
  const MlirAttribute* AddText(MlirAttribute::Kind kind, absl::string_view text);

  // sdy_dialect.cc
  bool SdyAttribute(BytecodeCursor& c, MlirAttribute& a);
  bool SdyList(BytecodeCursor& c, std::string& text, bool between_angles);
  bool SdyMeshText(BytecodeCursor& c, std::string& text);
  bool SdyDimension(BytecodeCursor& c, std::string& text);
  bool SdySharding(BytecodeCursor& c, uint64_t code, std::string& text);

  // operations.cc
  struct Scope {
    std::vector<MlirValue*> values;
    std::vector<size_t> next;  // the number of the next value, for each region open
  };
  bool ReadProgram(BytecodeCursor c);
  bool ReadBlock(BytecodeCursor& c, MlirBlock& block);
  bool ReadArguments(BytecodeCursor& c, MlirBlock& block);
  bool ReadOperation(BytecodeCursor& c, MlirBlock& block);
  bool ReadProperties(BytecodeCursor& c, const OperationName& name, MlirOperation& op);
  bool SegmentSizes(BytecodeCursor& c, std::vector<int64_t>& sizes);
  bool ReadUseListOrders(BytecodeCursor& c, size_t values);
  bool ReadRegions(BytecodeCursor& c, MlirOperation& op);
  bool ReadRegion(BytecodeCursor& c, MlirOperation& op);
  bool Define(BytecodeCursor& c, MlirValue& value);

  absl::string_view bytes_;
  std::shared_ptr<const void> owner_;  // of bytes_, or null
  MlirModule& module_;
  absl::Status error_;
  BytecodeCursor file_;
  uint64_t version_ = 0;
  std::vector<absl::string_view> strings_, dialects_;
  std::vector<OperationName> names_;
  std::vector<Entry> attributes_, types_;
  std::vector<Span> properties_, resources_;
  std::vector<Scope> scopes_;
  int depth_ = 0;
};

// The properties of an operation in the order of its bytecode, "?" before those that may be absent;
// null where the operation has none that are known. Rows of properties.def.
const char* PropertiesOf(absl::string_view operation);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
