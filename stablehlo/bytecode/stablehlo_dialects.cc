// Attributes and types of the dialects stablehlo and vhlo. Codes: StableHLO's StablehloBytecode and
// VhloBytecode, which never change.
//
// vhlo is StableHLO for files: each operation and attribute carries a version (`add_v1`), and once
// released none changes, so an old file can be read for ever. Each of its attributes is a code and
// fields as in builtin_dialect.cc, but of vhlo's own kinds: an integer is vhlo.integer_v1, a string
// vhlo.string_v1. They are read into the attributes that StableHLO has, so nothing behind this
// folder knows vhlo:
//   vhlo.comparison_direction_v1<LT>     ->  #stablehlo<comparison_direction LT>
//   vhlo.float_v1<1.0 : !vhlo.f32_v1>    ->  1.0 : f32
// Enumerations are stored as the position of a keyword in a fixed list (kDirections and the like),
// records (gather dimensions, convolution dimensions) as their lists of numbers in a fixed order.
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "stablehlo/bytecode/bytecode_reader_internal.h"
#include "stablehlo/ir/element_types.h"

namespace hlokit {
namespace {

constexpr char kDirections[] = "EQ NE GE GT LE LT";
constexpr char kComparisonTypes[] = "NOTYPE FLOAT TOTALORDER SIGNED UNSIGNED";
constexpr char kApiVersions[] =
    "API_VERSION_UNSPECIFIED API_VERSION_ORIGINAL API_VERSION_STATUS_RETURNING "
    "API_VERSION_STATUS_RETURNING_UNIFIED API_VERSION_TYPED_FFI";
constexpr char kFftTypes[] = "FFT IFFT RFFT IRFFT";
constexpr char kFusionKinds[] = "kLoop kInput kOutput kCustom";
constexpr char kPrecisions[] = "DEFAULT HIGH HIGHEST PACKED_NIBBLE";
constexpr char kRngAlgorithms[] = "DEFAULT THREE_FRY PHILOX";
constexpr char kRngDistributions[] = "INVALID UNIFORM NORMAL";
constexpr char kTransposes[] = "TRANSPOSE_INVALID NO_TRANSPOSE TRANSPOSE ADJOINT";
constexpr char kAccuracyModes[] = "DEFAULT HIGHEST TOLERANCE";

// Fields in the order of their bytes; those that end with `*` are lists.
constexpr char kAliasFields[] = "output_tuple_indices* operand_index operand_tuple_indices*";
constexpr char kConvFields[] =
    "input_batch_dimension input_feature_dimension input_spatial_dimensions* "
    "kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions* "
    "output_batch_dimension output_feature_dimension output_spatial_dimensions*";
constexpr char kDotFields[] =
    "lhs_batching_dimensions* rhs_batching_dimensions* lhs_contracting_dimensions* "
    "rhs_contracting_dimensions*";
constexpr char kGatherFields[] =
    "offset_dims* collapsed_slice_dims* operand_batching_dims* start_indices_batching_dims* "
    "start_index_map* index_vector_dim";
constexpr char kScatterFields[] =
    "update_window_dims* inserted_window_dims* input_batching_dims* "
    "scatter_indices_batching_dims* scatter_dims_to_operand_dims* index_vector_dim";

}  // namespace

bool MlirBytecodeReader::EnumAttribute(BytecodeCursor& c, absl::string_view keywords,
                                       MlirAttribute& a) {
  uint64_t value = 0;
  if (!c.VarInt(value)) return false;
  const std::vector<std::string> all = absl::StrSplit(keywords, ' ');
  if (value >= all.size()) return c.Fail("there is no keyword ", value, " among ", keywords);
  a.kind = MlirAttribute::Kind::kEnum;
  a.text = all[value];
  return true;
}

bool MlirBytecodeReader::FieldLists(BytecodeCursor& c, absl::string_view fields, MlirAttribute& a) {
  a.kind = MlirAttribute::Kind::kDict;
  for (absl::string_view field : absl::StrSplit(fields, ' ')) {
    std::vector<int64_t> ints;
    const bool list = field.back() == '*';
    if (list ? !c.SignedVarInts(ints) : !c.SignedVarInt(ints.emplace_back())) return false;
    if (list) field.remove_suffix(1);
    a.fields.emplace_back(std::string(field.data(), field.size()), AddInts(std::move(ints)));
  }
  return true;
}

// Absolute and relative bound as the bits of doubles, units in the last place, mode.
bool MlirBytecodeReader::ResultAccuracyFields(BytecodeCursor& c, MlirAttribute& a) {
  a.kind = MlirAttribute::Kind::kDict;
  for (const char* name : {"atol", "rtol"}) {
    int64_t bits = 0;
    if (!c.SignedVarInt(bits)) return false;
    MlirAttribute bound;
    bound.kind = MlirAttribute::Kind::kFloat;
    static_assert(sizeof(bound.number) == sizeof(bits));
    __builtin_memcpy(&bound.number, &bits, sizeof(bits));
    a.fields.emplace_back(name, module_.Add(std::move(bound)));
  }
  const MlirAttribute* mode = nullptr;
  std::vector<int64_t> ulps(1);
  if (!c.SignedVarInt(ulps[0]) || !Attribute(c, mode)) return false;
  a.fields.emplace_back("ulps", AddInts(std::move(ulps)));
  a.fields.emplace_back("mode", mode);
  return true;
}

// Those that mhlo had when stablehlo came of it have the same codes; later ones are written as
// text.
bool MlirBytecodeReader::MhloAttribute(BytecodeCursor& c, MlirAttribute& a) {
  constexpr uint64_t kLastShared = 13, kFusionKind = 15;
  BytecodeCursor ahead = c;
  uint64_t code = 0;
  if (!ahead.VarInt(code)) return false;
  if (code == kFusionKind) return c.VarInt(code) && EnumAttribute(c, kFusionKinds, a);
  return code <= kLastShared ? StablehloAttribute(c, a)
                             : c.Fail("mhlo attributes of code ", code, " are not known");
}

// The others that chlo has are written as text.
bool MlirBytecodeReader::ChloAttribute(BytecodeCursor& c, MlirAttribute& a) {
  uint64_t code = 0;
  if (!c.VarInt(code)) return false;
  if (code > 1) return c.Fail("chlo attributes of code ", code, " are not known");
  return EnumAttribute(c, code == 0 ? kDirections : kComparisonTypes, a);
}

// Types of operands and sum, three counts, and a byte that allows an imprecise sum.
bool MlirBytecodeReader::DotAlgorithmFields(BytecodeCursor& c, MlirAttribute& a) {
  a.kind = MlirAttribute::Kind::kDict;
  for (const char* name : {"lhs_precision_type", "rhs_precision_type", "accumulation_type"}) {
    MlirAttribute type;
    type.kind = MlirAttribute::Kind::kType;
    if (!Type(c, type.type)) return false;
    a.fields.emplace_back(name, module_.Add(std::move(type)));
  }
  for (const char* name :
       {"lhs_component_count", "rhs_component_count", "num_primitive_operations"}) {
    std::vector<int64_t> count(1);
    if (!c.SignedVarInt(count[0])) return false;
    a.fields.emplace_back(name, AddInts(std::move(count)));
  }
  uint8_t imprecise = 0;
  if (!c.Byte(imprecise)) return false;
  MlirAttribute allowed;
  allowed.kind = MlirAttribute::Kind::kBool;
  allowed.integer = imprecise != 0;
  a.fields.emplace_back("allow_imprecise_accumulation", module_.Add(std::move(allowed)));
  return true;
}

// Replica groups over a mesh (18), part of an axis (19), an axis (20), one of a mesh (21), a mesh.
bool MlirBytecodeReader::MeshAttribute(BytecodeCursor& c, uint64_t code, MlirAttribute& a) {
  using Kind = MlirAttribute::Kind;
  a.kind = Kind::kDict;
  const MlirAttribute* part = nullptr;
  MlirAttribute list;
  list.kind = Kind::kArray;
  absl::string_view name;
  int64_t size = 0;
  if (code == 19) {
    a.kind = Kind::kInts;
    a.ints.resize(2);
    return c.SignedVarInt(a.ints[0]) && c.SignedVarInt(a.ints[1]);
  }
  if (code == 18) {
    if (!Attribute(c, part) || !Attributes(c, list.elements)) return false;
    a.fields.emplace_back("mesh", part);
    a.fields.emplace_back("axes", module_.Add(std::move(list)));
    return true;
  }
  if (code == 22) {
    if (!Attributes(c, list.elements) || !OptionalAttribute(c, part)) return false;
    a.fields.emplace_back("axes", module_.Add(std::move(list)));
    if (part != nullptr) a.fields.emplace_back("device_ids", part);
    return true;
  }
  if (!String(c, name)) return false;
  a.fields.emplace_back("name", AddText(Kind::kString, name));
  if (code == 20) {
    uint8_t partial = 0;
    if (!c.Byte(partial) || (partial != 0 && !Attribute(c, part))) return false;
    if (part != nullptr) a.fields.emplace_back("sub_axis_info", part);
    return true;
  }
  if (!c.SignedVarInt(size)) return false;
  a.fields.emplace_back("size", AddInts({size}));
  return true;
}

bool MlirBytecodeReader::StablehloAttribute(BytecodeCursor& c, MlirAttribute& a) {
  uint64_t code = 0;
  if (!c.VarInt(code)) return false;
  switch (code) {
    case 1:
      return FieldLists(c, "handle type", a);
    case 2:
      return EnumAttribute(c, kDirections, a);
    case 3:
      return EnumAttribute(c, kComparisonTypes, a);
    case 4:
      return FieldLists(c, kConvFields, a);
    case 5:
      return FieldLists(c, kDotFields, a);
    case 6:
      return EnumAttribute(c, kFftTypes, a);
    case 7:
      return FieldLists(c, kGatherFields, a);
    case 8:
      return EnumAttribute(c, kPrecisions, a);
    case 9:
      return EnumAttribute(c, kRngAlgorithms, a);
    case 10:
      return EnumAttribute(c, kRngDistributions, a);
    case 11:
      return FieldLists(c, kScatterFields, a);
    case 12:
      return EnumAttribute(c, kTransposes, a);
    case 13:
      a.kind = MlirAttribute::Kind::kInts;
      return c.SignedVarInts(a.ints);
    case 14:
      return FieldLists(c, kAliasFields, a);
    case 15:
      return DotAlgorithmFields(c, a);
    case 16:
      return EnumAttribute(c, kAccuracyModes, a);
    case 17:
      return ResultAccuracyFields(c, a);
    case 18:
    case 19:
    case 20:
    case 21:
    case 22:
      return MeshAttribute(c, code, a);
    default:
      return c.Fail("stablehlo attributes of code ", code, " are not known");
  }
}

bool MlirBytecodeReader::VhloAttribute(BytecodeCursor& c, MlirAttribute& a) {
  using Kind = MlirAttribute::Kind;
  uint64_t code = 0, value = 0;
  absl::string_view text;
  if (!c.VarInt(code)) return false;
  switch (code) {
    case 1:
      a.kind = Kind::kArray;
      return Attributes(c, a.elements);
    case 2:
      a.kind = Kind::kBool;
      if (!c.VarInt(value)) return false;
      a.integer = value != 0;
      return true;
    case 3:
      return EnumAttribute(c, kDirections, a);
    case 4:
      return EnumAttribute(c, kComparisonTypes, a);
    case 5:
      return EnumAttribute(c, kApiVersions, a);
    case 6:
      return Dictionary(c, a);
    case 7:
      return EnumAttribute(c, kFftTypes, a);
    case 8:
      return Number(c, a, true);
    case 9:
      return Number(c, a, false);
    case 10:
      return FieldLists(c, kAliasFields, a);
    case 11:
      return EnumAttribute(c, kPrecisions, a);
    case 12:
      return EnumAttribute(c, kRngAlgorithms, a);
    case 13:
      return EnumAttribute(c, kRngDistributions, a);
    case 14:
      a.kind = Kind::kString;
      if (!String(c, text)) return false;
      a.text = std::string(text.data(), text.size());
      return true;
    case 15:
      return Dense(c, a);
    case 16:
      return EnumAttribute(c, kTransposes, a);
    case 17:
      a.kind = Kind::kType;
      return Type(c, a.type);
    case 18:
      a.kind = Kind::kInts;
      return c.SignedVarInts(a.ints);
    case 19:
      return EnumAttribute(c, kAccuracyModes, a);
    case 20:
      return ResultAccuracyFields(c, a);
    default:
      return c.Fail("vhlo attributes of code ", code, " are not known");
  }
}

// Flags, of which the lowest bit says that the integers are signed; the types; then scale, zero
// point and range, or the dimension, the range, scales and zero points.
bool MlirBytecodeReader::QuantizedType(BytecodeCursor& c, bool per_axis, MlirType& type) {
  uint64_t flags = 0, count = 1, dimension = 0;
  const MlirType *storage = nullptr, *expressed = nullptr;
  auto element = std::make_shared<QuantizedElement>();
  if (!c.VarInt(flags) || !Type(c, storage) || !Type(c, expressed)) return false;
  if (!IsInteger(storage->shape.type) || BitWidth(storage->shape.type) > 32 ||
      !IsFloat(expressed->shape.type))
    return c.Fail("a quantized type of ", Text(*storage), " and ", Text(*expressed));
  auto range = [&] { return c.SignedVarInt(element->least) && c.SignedVarInt(element->greatest); };
  if (per_axis && (!c.VarInt(dimension) || !range() || !c.Count(count))) return false;
  for (uint64_t i = 0; i < count; ++i) {
    int64_t bits = 0;
    double& scale = element->scales.emplace_back();
    if (!c.SignedVarInt(bits)) return false;
    __builtin_memcpy(&scale, &bits, sizeof(scale));
    if (!(scale > 0) || scale > std::numeric_limits<double>::max())
      return c.Fail("a scale is not above 0");
  }
  if (per_axis ? !c.SignedVarInts(element->zero_points)
               : !c.SignedVarInt(element->zero_points.emplace_back()) || !range())
    return false;
  if (element->zero_points.size() != count || dimension >= kMaxRank)
    return c.Fail("scales and zero points of a quantized type differ in number");
  if (per_axis) element->dimension = static_cast<int64_t>(dimension);
  const int width = BitWidth(storage->shape.type);
  SetScalar(absl::StrCat((flags & 1) != 0 ? "i" : "ui", width), type);
  QuantizedElement whole;
  SetStorageRange(whole, type.shape.type);
  if (element->least < whole.least || element->greatest > whole.greatest)
    return c.Fail("the range of a quantized type is not one of its integers");
  type.quantized = std::move(element);
  return true;
}

bool MlirBytecodeReader::VhloType(BytecodeCursor& c, MlirType& type) {
  // Scalars by their code; the others have parts.
  static constexpr const char* kScalars[] = {
      "i1",       "",         "bf16",     "f16",        "f32",        "f64",
      "f8E4M3FN", "f8E5M2",   "",         "index",      "i4",         "i8",
      "i16",      "i32",      "i64",      "ui4",        "ui8",        "ui16",
      "ui32",     "ui64",     "",         "",           "",           "",
      "",         "",         "",         "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ",
      "",         "i2",       "ui2",      "",           "",           "f8E4M3",
      "f8E3M4",   "f4E2M1FN", "f6E2M3FN", "f6E3M2FN",   "f8E8M0FNU"};
  uint64_t code = 0;
  if (!c.VarInt(code)) return false;
  switch (code) {
    case 1:
      return ComplexType(c, type);
    case 8:
      type.kind = MlirType::Kind::kFunction;
      return Types(c, type.inputs) && Types(c, type.results);
    case 20:
      return TensorType(c, false, type);
    case 21:
      return TensorType(c, true, type);
    case 22:
      type.kind = MlirType::Kind::kToken;
      type.shape = Shape::Token();
      return true;
    case 23:
      return TupleType(c, type);
    case 24:
    case 30:
      return QuantizedType(c, code == 30, type);
    case 33:
      return true;  // none
    case 34:
      type.kind = MlirType::Kind::kOpaque;
      type.text = "tf32";
      return true;
    default:
      break;
  }
  // Tensors without rank, witnesses and their like: what uses them is refused by its name.
  if (code >= std::size(kScalars) || *kScalars[code] == '\0') {
    type.kind = MlirType::Kind::kOpaque;
    type.text = absl::StrCat("of vhlo, code ", code);
    return true;
  }
  SetScalar(kScalars[code], type);
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
