// Operations, regions and values of a bytecode file.
//
// An operation is a name, a mask, and the fields that the mask names, in this order:
//   name mask location [attributes] [properties] [result types] [operands] [successors]
//   [use-list orders] [regions]
// Operands are numbers of values, in the order in which they are defined. A region says beforehand
// how many it holds; those of a region inside follow all of them, and are forgotten at its end.
// Example, a function of four values (two arguments and two results):
//   (0, 1) { 2 = add 0, 1    3 = reduce 2, 0 { (4, 5): 6 = add 4, 5 } }
// So one vector (Scope::values) with one next number per open region is the whole symbol table.
// A region that sees no values from outside (a function's) starts a new scope, and from version 2
// on stands in a section of its own.
//
// Cost: one pass, linear in the bytes of the section; nothing is looked up by name.
#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "stablehlo/bytecode/bytecode_reader_internal.h"

namespace hlokit {
namespace {

// What an operation's mask says to follow.
constexpr uint8_t kHasAttributes = 1, kHasResults = 2, kHasOperands = 4, kHasSuccessors = 8,
                  kHasRegions = 16, kHasUseListOrders = 32, kHasProperties = 64;
// Versions of the format from which on ...
constexpr uint64_t kRegionsAreLazy = 2, kHasUseLists = 3, kArgumentsMayLackLocations = 4,
                   kHasSegmentSizes = 6;
constexpr int kMaxRegionDepth = 200;

}  // namespace

const char* PropertiesOf(absl::string_view operation) {
  static const auto& kRows = *new absl::flat_hash_map<absl::string_view, const char*>{
#define MLIR_PROPERTIES(operation, properties) {operation, properties},
#include "stablehlo/bytecode/properties.def"
#undef MLIR_PROPERTIES
  };
  const auto found = kRows.find(operation);
  return found == kRows.end() ? nullptr : found->second;
}

// Values are numbered through a function; those of a region inside follow those before it.
bool MlirBytecodeReader::Define(BytecodeCursor& c, MlirValue& value) {
  module_.Number(value);
  Scope& scope = scopes_.back();
  size_t& next = scope.next.back();
  if (next >= scope.values.size()) return c.Fail("a region has more values than it says");
  scope.values[next++] = &value;
  return true;
}

// How the uses of values were ordered means nothing here.
bool MlirBytecodeReader::ReadUseListOrders(BytecodeCursor& c, size_t values) {
  uint64_t lists = 1, number = 0, count = 0, use = 0;
  bool pairs = false;
  if (values > 1 && !c.Count(lists)) return false;
  for (uint64_t i = 0; i < lists; ++i) {
    if ((values > 1 && !c.VarInt(number)) || !c.VarIntWithFlag(count, pairs)) return false;
    if (count > c.remaining()) return c.Fail("a use-list order is longer than its section");
    for (uint64_t k = 0; k < count; ++k)
      if (!c.VarInt(use)) return false;
  }
  return true;
}

bool MlirBytecodeReader::ReadArguments(BytecodeCursor& c, MlirBlock& block) {
  uint64_t count = 0;
  if (!c.Count(count)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t type = 0;
    bool located = true;
    if (version_ >= kArgumentsMayLackLocations ? !c.VarIntWithFlag(type, located) : !c.VarInt(type))
      return false;
    if (type >= types_.size()) return c.Fail("there is no type ", type);
    if (types_[type].type == nullptr && !ResolveType(types_[type])) return false;
    block.arguments.push_back({types_[type].type});
    const MlirLocation* location = nullptr;
    if (located && !Location(c, location)) return false;
    block.argument_locations.push_back(location);
    if (!Define(c, block.arguments.back())) return false;
  }
  uint8_t orders = 0;
  if (version_ < kHasUseLists) return true;
  return c.Byte(orders) && (orders == 0 || ReadUseListOrders(c, count));
}

bool MlirBytecodeReader::ReadBlock(BytecodeCursor& c, MlirBlock& block) {
  uint64_t count = 0;
  bool has_arguments = false;
  if (!c.VarIntWithFlag(count, has_arguments)) return false;
  if (count > c.remaining()) return c.Fail("a block of ", count, " operations is too long");
  if (has_arguments && !ReadArguments(c, block)) return false;
  for (uint64_t i = 0; i < count; ++i)
    if (!ReadOperation(c, block)) return false;
  return true;
}

bool MlirBytecodeReader::ReadRegion(BytecodeCursor& c, MlirOperation& op) {
  uint64_t blocks = 0, values = 0;
  op.regions.emplace_back();
  if (!c.Count(blocks)) return false;
  if (blocks == 0) return true;
  if (blocks > 1) return c.Fail(op.name, ": regions of several blocks have no meaning in HLO");
  if (!c.Count(values)) return false;
  Scope& scope = scopes_.back();
  const size_t before = scope.values.size();
  scope.next.push_back(before);
  scope.values.resize(before + values);
  auto block = std::make_unique<MlirBlock>();
  const bool done = ReadBlock(c, *block);
  op.regions.back().blocks.push_back(std::move(block));
  scopes_.back().values.resize(before);
  scopes_.back().next.pop_back();
  return done;
}

// Regions that see no values from outside lie in a section of their own, which others may skip.
bool MlirBytecodeReader::ReadRegions(BytecodeCursor& c, MlirOperation& op) {
  uint64_t count = 0;
  bool isolated = false;
  if (!c.VarIntWithFlag(count, isolated)) return false;
  if (count > c.remaining()) return c.Fail("an operation of ", count, " regions is too long");
  if (depth_ >= kMaxRegionDepth) return c.Fail("regions nest too deeply");
  ++depth_;
  BytecodeCursor inside = c;
  const bool lazy = isolated && version_ >= kRegionsAreLazy && count > 0;
  if (lazy) {
    uint8_t id = 0;
    absl::string_view body;
    uint64_t offset = 0;
    if (!c.Section(id, body, offset)) return false;
    inside = c.Sub(body, offset, "operations");
  }
  if (isolated) scopes_.emplace_back();
  bool done = true;
  for (uint64_t i = 0; i < count && done; ++i) done = ReadRegion(lazy ? inside : c, op);
  if (isolated) scopes_.pop_back();
  --depth_;
  return done;
}

// How many operands or results each group has: all sizes, or those that are not 0 with their places
// in the low bits.
bool MlirBytecodeReader::SegmentSizes(BytecodeCursor& c, std::vector<int64_t>& sizes) {
  if (version_ < kHasSegmentSizes) return c.Fail("sizes of groups of operands are not read here");
  uint64_t count = 0, bits = 0;
  bool sparse = false;
  if (!c.VarIntWithFlag(count, sparse)) return false;
  if (count > sizes.size()) return c.Fail("expected ", sizes.size(), " groups, found ", count);
  if (count > 0 && sparse && !c.VarInt(bits)) return false;
  if (bits > 8) return c.Fail("the places of groups take ", bits, " bits");
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t value = 0;
    if (!c.VarInt(value)) return false;
    const uint64_t place = sparse ? value & ((uint64_t{1} << bits) - 1) : i;
    if (place >= sizes.size() || value >> 31 != 0) return c.Fail("there is no group ", place);
    sizes[place] = static_cast<int64_t>(sparse ? value >> bits : value);
  }
  return true;
}

// Properties lie in a table: attributes in the order of properties.def, or one dictionary where the
// writer did not know the operation.
bool MlirBytecodeReader::ReadProperties(BytecodeCursor& c, const OperationName& name,
                                        MlirOperation& op) {
  uint64_t index = 0;
  if (!name.registered) {
    const MlirAttribute* all = nullptr;
    if (!Attribute(c, all)) return false;
    op.attributes.insert(op.attributes.end(), all->fields.begin(), all->fields.end());
    return true;
  }
  if (!c.VarInt(index)) return false;
  if (index >= properties_.size()) return c.Fail("there are no properties ", index);
  BytecodeCursor p = Cursor(properties_[index], "properties");
  const char* row = PropertiesOf(name.written);
  if (row == nullptr && absl::StartsWith(name.written, "mhlo.")) row = PropertiesOf(name.full);
  if (row == nullptr) return p.Fail("the properties of ", name.written, " are not known");
  for (absl::string_view field : absl::StrSplit(row, ' ', absl::SkipEmpty())) {
    const MlirAttribute* value = nullptr;
    if (absl::ConsumePrefix(&field, "#")) {
      std::vector<int64_t> sizes(2);
      if (!SegmentSizes(p, sizes)) return false;
      op.attributes.emplace_back(std::string(field.data(), field.size()), AddInts(sizes));
      continue;
    }
    const bool optional = absl::ConsumePrefix(&field, "?");
    if (optional ? !OptionalAttribute(p, value) : !Attribute(p, value)) return false;
    const bool none = value != nullptr && value->kind == MlirAttribute::Kind::kType &&
                      value->type->kind == MlirType::Kind::kNone;  // vhlo's way to say: absent
    if (value != nullptr && !none)
      op.attributes.emplace_back(std::string(field.data(), field.size()), value);
  }
  return true;
}

bool MlirBytecodeReader::ReadOperation(BytecodeCursor& c, MlirBlock& block) {
  auto op = std::make_unique<MlirOperation>();
  uint64_t number = 0, count = 0;
  uint8_t mask = 0;
  op->place = {static_cast<uint32_t>(c.offset()), 0};
  if (!c.VarInt(number) || !c.Byte(mask)) return false;
  if (number >= names_.size()) return c.Fail("there is no operation ", number);
  op->name = names_[number].full;
  if (!Location(c, op->location)) return false;
  const MlirAttribute* attributes = nullptr;
  if ((mask & kHasAttributes) != 0) {
    if (!Attribute(c, attributes)) return false;
    op->attributes = attributes->fields;
  }
  if ((mask & kHasProperties) != 0 && !ReadProperties(c, names_[number], *op)) return false;
  std::vector<const MlirType*> results;
  if ((mask & kHasResults) != 0 && !Types(c, results)) return false;
  for (const MlirType* type : results) op->results.push_back({type});
  if ((mask & kHasOperands) != 0) {
    if (!c.Count(count)) return false;
    const std::vector<MlirValue*>& values = scopes_.back().values;
    for (uint64_t i = 0; i < count; ++i) {
      if (!c.VarInt(number)) return false;
      if (number >= values.size() || values[number] == nullptr)
        return c.Fail(op->name, ": the value ", number, " is not defined before its use");
      op->operands.push_back(values[number]);
      ++values[number]->uses;
    }
  }
  if ((mask & kHasSuccessors) != 0) return c.Fail("blocks with successors have no meaning in HLO");
  if ((mask & kHasUseListOrders) != 0 && !ReadUseListOrders(c, results.size())) return false;
  for (MlirValue& result : op->results)
    if (!Define(c, result)) return false;
  if ((mask & kHasRegions) != 0 && !ReadRegions(c, *op)) return false;
  block.operations.push_back(std::move(op));
  return true;
}

bool MlirBytecodeReader::ReadProgram(BytecodeCursor c) {
  MlirBlock outside;
  scopes_.emplace_back();
  scopes_.back().next.push_back(0);
  if (!ReadBlock(c, outside)) return false;
  if (outside.operations.size() != 1 || outside.operations[0]->name != "builtin.module")
    return c.Fail("expected one module");
  MlirOperation& module = *outside.operations[0];
  MlirOperation& top = module_.top();
  top.name = "builtin.module";
  top.attributes = std::move(module.attributes);
  top.regions = std::move(module.regions);
  top.location = module.location;
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
