// Writing of .npz files: a zip archive without compression (PKWARE's APPNOTE.TXT), gathered as
// pieces so that no array is copied. Sizes and offsets beyond 32 bits go into zip64 records.
//   local header, array, local header, array, ..., central directory, end records
#include <deque>

#include "support/status.h"
#include "types/npz.h"
#include "types/zip_internal.h"

namespace hlokit {
namespace {

// Appends little-endian fields.
class RecordWriter {
 public:
  explicit RecordWriter(std::string& out) : out_(out) {}
  RecordWriter& U16(uint64_t value) { return Put(value, 2); }
  RecordWriter& U32(uint64_t value) { return Put(value, 4); }
  RecordWriter& U64(uint64_t value) { return Put(value, 8); }

 private:
  RecordWriter& Put(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out_.push_back(static_cast<char>(value >> (8 * i)));
    return *this;
  }
  std::string& out_;
};

constexpr uint64_t kVersion = 45;    // zip64
constexpr uint64_t kDosDate = 0x21;  // 1980-01-01, so that equal arrays give equal files

// 0xffffffff stands for "see the zip64 field".
uint64_t Clipped(uint64_t value) { return value < kZip32Max ? value : kZip32Max; }

class NpzWriter {
 public:
  void Add(const std::string& name, const Literal& literal) {
    NpyPieces& array = arrays_.emplace_back();
    EncodeNpy(literal, array);
    const uint32_t crc = ZipChecksum(ZipChecksum(0, array.header), array.elements);
    const uint64_t size = array.header.size() + array.elements.size();
    const std::string file_name = name + ".npy";
    AddToDirectory(file_name, crc, size);
    AddPiece(LocalHeader(file_name, crc, size));
    AddView(array.header);
    AddView(array.elements);
  }

  absl::Status WriteTo(const std::string& path) {
    const uint64_t directory_at = written_;
    const uint64_t directory_size = directory_.size();
    AddPiece(std::move(directory_));
    AddPiece(EndRecords(directory_at, directory_size));
    return AtomicWriteFile(path, pieces_);
  }

 private:
  void AddView(absl::string_view view) {
    pieces_.push_back(view);
    written_ += view.size();
  }
  void AddPiece(std::string piece) { AddView(texts_.emplace_back(std::move(piece))); }

  static void AppendCommonFields(RecordWriter& record, uint32_t crc, uint64_t size,
                                 const std::string& name, int extra) {
    record.U16(kVersion).U16(0).U16(kZipStored).U16(0).U16(kDosDate).U32(crc);
    record.U32(Clipped(size)).U32(Clipped(size)).U16(name.size()).U16(extra);
  }

  static std::string LocalHeader(const std::string& name, uint32_t crc, uint64_t size) {
    std::string out;
    RecordWriter record(out);
    const bool large = size >= kZip32Max;
    record.U32(kZipLocal);
    AppendCommonFields(record, crc, size, name, large ? 20 : 0);
    out += name;
    if (large) record.U16(kZip64Extra).U16(16).U64(size).U64(size);
    return out;
  }

  void AddToDirectory(const std::string& name, uint32_t crc, uint64_t size) {
    RecordWriter record(directory_);
    const bool large_size = size >= kZip32Max;
    const bool large_at = written_ >= kZip32Max;
    const int extra = 16 * large_size + 8 * large_at;
    record.U32(kZipCentral).U16(kVersion);
    AppendCommonFields(record, crc, size, name, extra == 0 ? 0 : extra + 4);
    record.U16(0).U16(0).U16(0).U32(0).U32(Clipped(written_));
    directory_ += name;
    if (extra != 0) record.U16(kZip64Extra).U16(extra);
    if (large_size) record.U64(size).U64(size);
    if (large_at) record.U64(written_);
  }

  std::string EndRecords(uint64_t directory_at, uint64_t directory_size) const {
    std::string out;
    RecordWriter record(out);
    const uint64_t count = arrays_.size();
    if (directory_at >= kZip32Max || directory_size >= kZip32Max || count >= 0xffff) {
      record.U32(kZip64End).U64(kZip64EndSize - 12).U16(kVersion).U16(kVersion).U32(0).U32(0);
      record.U64(count).U64(count).U64(directory_size).U64(directory_at);
      record.U32(kZip64Locator).U32(0).U64(directory_at + directory_size).U32(1);
    }
    const uint64_t short_count = count < 0xffff ? count : 0xffff;
    record.U32(kZipEnd).U16(0).U16(0).U16(short_count).U16(short_count);
    record.U32(Clipped(directory_size)).U32(Clipped(directory_at)).U16(0);
    return out;
  }

  std::deque<NpyPieces> arrays_;  // their addresses, and those of texts_, stay
  std::deque<std::string> texts_;
  std::vector<absl::string_view> pieces_;
  std::string directory_;
  uint64_t written_ = 0;
};

void AppendLeaves(const Literal& literal, absl::string_view prefix,
                  std::vector<NamedLiteral>& out) {
  if (literal.shape().IsArray()) out.push_back({absl::StrCat(prefix, out.size()), &literal});
  for (const Literal& element : literal.elements()) AppendLeaves(element, prefix, out);
}

}  // namespace

std::vector<NamedLiteral> NameLeaves(const Literal& literal, absl::string_view prefix) {
  std::vector<NamedLiteral> leaves;
  AppendLeaves(literal, prefix, leaves);
  return leaves;
}

absl::Status WriteNpz(const std::string& path, absl::Span<const NamedLiteral> arrays) {
  NpzWriter writer;
  for (const NamedLiteral& array : arrays) {
    if (!array.literal->shape().IsArray())
      return InvalidArgument(array.name, ": only arrays can be written");
    writer.Add(array.name, *array.literal);
  }
  return writer.WriteTo(path);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
