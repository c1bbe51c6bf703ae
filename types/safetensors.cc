// The header is read by support/json_value, whose places become byte numbers of messages; the
// arrays are never copied here. Writing sorts by name, as the format's own writer does for equal
// types.
#include "types/safetensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "support/display.h"
#include "support/json_value.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr double kMaxExact = 9007199254740992;  // doubles hold every whole number up to here

constexpr struct {
  absl::string_view name;
  ElementType type;
} kTypes[] = {
    {"BOOL", ElementType::kPred},
    {"U8", ElementType::kU8},
    {"I8", ElementType::kS8},
    {"U16", ElementType::kU16},
    {"I16", ElementType::kS16},
    {"U32", ElementType::kU32},
    {"I32", ElementType::kS32},
    {"U64", ElementType::kU64},
    {"I64", ElementType::kS64},
    {"F16", ElementType::kF16},
    {"BF16", ElementType::kBF16},
    {"F32", ElementType::kF32},
    {"F64", ElementType::kF64},
    {"F8_E5M2", ElementType::kF8E5M2},
    {"F8_E4M3", ElementType::kF8E4M3FN},
    {"F8_E8M0", ElementType::kF8E8M0FNU},
};

// What npy calls the type: raw bytes of those that numpy lacks.
NumpyArray ArrayOf(ElementType type) {
  NumpyArray array;
  array.itemsize = ByteWidth(type);
  const bool numpy_float =
      type == ElementType::kF16 || type == ElementType::kF32 || type == ElementType::kF64;
  if (IsPred(type)) {
    array.kind = 'b';
  } else if (IsSigned(type)) {
    array.kind = 'i';
  } else if (IsUnsigned(type)) {
    array.kind = 'u';
  } else {
    array.kind = numpy_float ? 'f' : 'V';
  }
  array.descr = absl::StrCat("|", std::string(1, array.kind), array.itemsize);
  return array;
}

bool IsWhole(const JsonValue& value) {
  return value.kind == JsonValue::Kind::kNumber && value.number >= 0 && value.number < kMaxExact &&
         value.number == std::floor(value.number);
}

}  // namespace

// One header, held against the size of the file.
class SafetensorsFile::HeaderReader {
 public:
  explicit HeaderReader(SafetensorsFile& file) : file_(file), bytes_(file.file_->bytes()) {}

  absl::Status Read() {
    uint64_t length = 0;
    if (bytes_.size() < kLengthBytes)
      return InvalidArgument(file_.path_, ": no safetensors file: shorter than its first number");
    std::memcpy(&length, bytes_.data(), kLengthBytes);
    if (length > bytes_.size() - kLengthBytes)
      return InvalidArgument(file_.path_, ": no safetensors file: a header of ", length,
                             " bytes in a file of ", bytes_.size());
    data_at_ = kLengthBytes + length;
    const auto header = ParseJson(bytes_.substr(kLengthBytes, length));
    if (!header.ok()) return Located(header.status());
    if (header->kind != JsonValue::Kind::kObject)
      return Error(*header, "expected an object of arrays");
    for (const auto& [name, value] : header->members)
      if (name != "__metadata__") RETURN_IF_ERROR(Add(name, value));
    return CheckApart();
  }

 private:
  absl::Status Located(const absl::Status& status) const {
    return InvalidArgument(file_.path_, ": header byte ", PlaceOf(status).offset, ": ",
                           status.message());
  }
  template <typename... Parts>
  absl::Status Error(const JsonValue& value, const Parts&... parts) const {
    return Located(WithPlace(InvalidArgument(parts...), value.place));
  }

  absl::Status Add(const std::string& name, const JsonValue& value) {
    Entry entry;
    const JsonValue *type = value.Find("dtype"), *shape = value.Find("shape"),
                    *offsets = value.Find("data_offsets");
    const std::string quoted = Quotable(name);
    if (type == nullptr || shape == nullptr || offsets == nullptr)
      return Error(value, quoted, " has no dtype, shape or data_offsets");
    for (const auto& row : kTypes)
      if (row.name == type->text) entry.type = row.type;
    if (entry.type == ElementType::kInvalid)
      return Error(*type, quoted, " has a type that hlokit does not read: ", Quotable(type->text));
    double size = ByteWidth(entry.type);
    for (const JsonValue& dim : shape->items) {
      if (!IsWhole(dim)) return Error(dim, quoted, " has a dimension that is no whole number");
      entry.shape.push_back(static_cast<int64_t>(dim.number));
      size *= dim.number;
    }
    if (shape->kind != JsonValue::Kind::kArray) return Error(*shape, quoted, " has no shape");
    if (offsets->items.size() != 2 || !IsWhole(offsets->items[0]) || !IsWhole(offsets->items[1]))
      return Error(*offsets, quoted, " has no two offsets");
    const double begin = offsets->items[0].number, end = offsets->items[1].number;
    if (end > static_cast<double>(bytes_.size() - data_at_))
      return Error(*offsets, quoted, " ends beyond the file");
    if (end - begin != size)
      return Error(*offsets, quoted, " has ", end - begin, " bytes, its shape wants ", size);
    entry.begin = data_at_ + static_cast<uint64_t>(begin);
    entry.end = data_at_ + static_cast<uint64_t>(end);
    file_.names_.push_back(name);
    file_.by_name_.emplace(name, std::move(entry));
    return absl::OkStatus();
  }

  absl::Status CheckApart() const {
    std::vector<std::pair<uint64_t, std::string>> starts;
    for (const auto& [name, entry] : file_.by_name_)
      if (entry.end > entry.begin) starts.emplace_back(entry.begin, name);
    std::sort(starts.begin(), starts.end());
    for (size_t k = 1; k < starts.size(); ++k)
      if (file_.by_name_.at(starts[k - 1].second).end > starts[k].first)
        return InvalidArgument(file_.path_, ": ", Quotable(starts[k - 1].second), " and ",
                               Quotable(starts[k].second), " overlap");
    return absl::OkStatus();
  }

  SafetensorsFile& file_;
  const absl::string_view bytes_;
  uint64_t data_at_ = 0;
};

absl::StatusOr<SafetensorsFile> SafetensorsFile::Open(const std::string& path) {
  SafetensorsFile file;
  file.path_ = path;
  ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(path));
  file.file_ = std::make_shared<const MappedFile>(std::move(mapped));
  RETURN_IF_ERROR(HeaderReader(file).Read());
  return file;
}

absl::StatusOr<NumpyArray> SafetensorsFile::Read(absl::string_view name, ElementType type,
                                                 absl::string_view label) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return NotFound(path_, " has no ", Quotable(name));
  const Entry& entry = found->second;
  if (entry.type != type)
    return InvalidArgument(label, ": expected ", Text(type), ", given ", Text(entry.type), "[",
                           absl::StrJoin(entry.shape, ","), "]");
  NumpyArray array = ArrayOf(type);
  array.shape = entry.shape;
  array.bytes = file_->bytes().substr(entry.begin, entry.end - entry.begin);
  array.storage = file_;
  return array;
}

absl::Status WriteSafetensors(const std::string& path, absl::Span<const NamedLiteral> arrays) {
  std::vector<NamedLiteral> sorted(arrays.begin(), arrays.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const NamedLiteral& a, const NamedLiteral& b) { return a.name < b.name; });
  std::vector<std::string> rows;
  std::vector<absl::string_view> pieces = {"", ""};
  std::vector<std::unique_ptr<NpyPieces>> encoded;
  uint64_t at = 0;
  for (const NamedLiteral& array : sorted) {
    const Shape& shape = array.literal->shape();
    absl::string_view type;
    for (const auto& row : kTypes)
      if (row.type == shape.type) type = row.name;
    if (type.empty())
      return Unimplemented(path, ": safetensors have no type for ", array.name, ", ", Text(shape));
    DimVector dims;
    for (int d = 0; d < shape.rank(); ++d) dims.push_back(array.literal->dynamic_size(d));
    EncodeNpy(*array.literal, *encoded.emplace_back(std::make_unique<NpyPieces>()));
    pieces.push_back(encoded.back()->elements);
    const uint64_t end = at + encoded.back()->elements.size();
    rows.push_back(absl::StrCat(JsonQuote(array.name), ":{\"dtype\":\"", type, "\",\"shape\":[",
                                absl::StrJoin(dims, ","), "],\"data_offsets\":[", at, ",", end,
                                "]}"));
    at = end;
  }
  std::string header = absl::StrCat("{", absl::StrJoin(rows, ","), "}");
  header.resize((header.size() + 7) / 8 * 8, ' ');  // so that arrays of eight bytes are aligned
  const uint64_t length = header.size();
  std::string first(kLengthBytes, '\0');
  std::memcpy(first.data(), &length, kLengthBytes);
  pieces[0] = first;
  pieces[1] = header;
  return AtomicWriteFile(path, pieces);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
