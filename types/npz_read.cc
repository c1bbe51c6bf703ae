// Reading of zip archives (PKWARE's APPNOTE.TXT): the end record at the file's end leads to the
// central directory, whose entries lead to the arrays. Every offset and size is checked against the
// file before it is used; stored arrays are views of the mapped file, deflated ones are unpacked
// when read.
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "absl/strings/strip.h"
#include "support/status.h"
#include "types/load_internal.h"
#include "types/npz.h"
#include "types/zip_internal.h"

namespace hlokit {
namespace {

// deflate cannot pack better than this.
constexpr uint64_t kMaxInflation = 1040;
// Stored entries above this are not held against their checksum, which would take longer than
// reading them.
constexpr uint64_t kMaxCheckedStored = uint64_t{64} << 20;

template <typename T>
T Field(absl::string_view record, size_t at) {
  return Load<T>(record.data() + at);
}

absl::Status Damaged(absl::string_view what) {
  return InvalidArgument("damaged npz archive: ", what);
}

// A record of `size` bytes at `at` that begins with `signature`.
absl::StatusOr<absl::string_view> RecordAt(absl::string_view file, uint64_t at, size_t size,
                                           uint32_t signature) {
  if (at > file.size() || file.size() - at < size) return Damaged("it ends early");
  const absl::string_view record = file.substr(at, size);
  if (Field<uint32_t>(record, 0) != signature) return Damaged("a record lacks its signature");
  return record;
}

struct Directory {
  uint64_t at = 0;
  uint64_t count = 0;
};

// The end record stands last, before a comment of at most 65,535 bytes.
absl::StatusOr<Directory> FindDirectory(absl::string_view file) {
  if (file.size() < kZipEndSize) return Damaged("it is too short");
  const size_t first = file.size() - std::min<size_t>(file.size(), kZipEndSize + 0xffff);
  size_t end = file.size() - kZipEndSize;
  while (Field<uint32_t>(file, end) != kZipEnd) {
    if (end == first) return InvalidArgument("not a whole npz archive: it has no end record");
    --end;
  }
  const absl::string_view record = file.substr(end);
  Directory directory{Field<uint32_t>(record, 16), Field<uint16_t>(record, 10)};
  if (directory.at != kZip32Max && directory.count != 0xffff) return directory;
  if (end < kZip64LocatorSize) return directory;
  const absl::string_view locator = file.substr(end - kZip64LocatorSize);
  if (Field<uint32_t>(locator, 0) != kZip64Locator) return directory;
  ASSIGN_OR_RETURN(const absl::string_view large,
                   RecordAt(file, Field<uint64_t>(locator, 8), kZip64EndSize, kZip64End));
  return Directory{Field<uint64_t>(large, 48), Field<uint64_t>(large, 32)};
}

// Unpacks exactly `size` bytes into `out`, in steps that zlib's 32-bit counts can take.
absl::Status Inflate(absl::string_view packed, uint64_t size, char* out) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return Internal("zlib cannot start");
  uint64_t read = 0, written = 0;
  int result = Z_OK;
  while (result == Z_OK) {
    constexpr uint64_t kStep = uint64_t{1} << 30;
    const auto in_step = static_cast<uInt>(std::min(kStep, packed.size() - read));
    const auto out_step = static_cast<uInt>(std::min(kStep, size - written));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + read));
    stream.avail_in = in_step;
    stream.next_out = reinterpret_cast<Bytef*>(out + written);
    stream.avail_out = out_step;
    result = inflate(&stream, Z_NO_FLUSH);
    read += in_step - stream.avail_in;
    written += out_step - stream.avail_out;
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END || written != size)
    return Damaged("an entry does not unpack to its size");
  return absl::OkStatus();
}

}  // namespace

// Fills an NpzFile's names and entries from the central directory.
class NpzFile::DirectoryReader {
 public:
  explicit DirectoryReader(NpzFile& out) : out_(out), file_(out.file_->bytes()) {}

  absl::Status Read() {
    ASSIGN_OR_RETURN(const Directory directory, FindDirectory(file_));
    at_ = directory.at;
    for (uint64_t i = 0; i < directory.count; ++i) RETURN_IF_ERROR(ReadEntry());
    return absl::OkStatus();
  }

 private:
  absl::Status ReadEntry() {
    ASSIGN_OR_RETURN(const absl::string_view record,
                     RecordAt(file_, at_, kZipCentralSize, kZipCentral));
    const size_t name_size = Field<uint16_t>(record, 28);
    const size_t extra_size = Field<uint16_t>(record, 30);
    const size_t tail = name_size + extra_size + Field<uint16_t>(record, 32);
    at_ += kZipCentralSize;
    if (file_.size() - at_ < tail) return Damaged("it ends early");
    const absl::string_view name = file_.substr(at_, name_size);
    const absl::string_view extra = file_.substr(at_ + name_size, extra_size);
    at_ += tail;
    Entry entry;
    entry.flags = Field<uint16_t>(record, 8);
    entry.method = Field<uint16_t>(record, 10);
    entry.crc = Field<uint32_t>(record, 16);
    entry.packed_size = Field<uint32_t>(record, 20);
    entry.size = Field<uint32_t>(record, 24);
    entry.header_at = Field<uint32_t>(record, 42);
    RETURN_IF_ERROR(ReadLargeFields(extra, entry));
    std::string key(absl::StripSuffix(name, ".npy"));
    if (out_.by_name_.insert_or_assign(key, entry).second) out_.names_.push_back(std::move(key));
    return absl::OkStatus();
  }

  // The zip64 extra field holds, in this order, those values that 32 bits could not.
  absl::Status ReadLargeFields(absl::string_view extra, Entry& entry) {
    while (extra.size() >= 4) {
      const auto id = Field<uint16_t>(extra, 0);
      const size_t size = Field<uint16_t>(extra, 2);
      if (extra.size() - 4 < size) return Damaged("an extra field ends early");
      absl::string_view field = extra.substr(4, size);
      extra.remove_prefix(4 + size);
      if (id != kZip64Extra) continue;
      for (uint64_t* value : {&entry.size, &entry.packed_size, &entry.header_at}) {
        if (*value != kZip32Max) continue;
        if (field.size() < 8) return Damaged("a zip64 field ends early");
        *value = Field<uint64_t>(field, 0);
        field.remove_prefix(8);
      }
    }
    return absl::OkStatus();
  }

  NpzFile& out_;
  const absl::string_view file_;
  uint64_t at_ = 0;
};

absl::StatusOr<NpzFile> NpzFile::Open(const std::string& path) {
  NpzFile npz;
  npz.path_ = path;
  ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  npz.file_ = std::make_shared<const MappedFile>(std::move(file));
  if (absl::Status status = DirectoryReader(npz).Read(); !status.ok())
    return Annotate(status, path);
  return npz;
}

// The local header says where the entry's bytes begin; its sizes are those of the directory.
absl::StatusOr<absl::string_view> NpzFile::PackedBytes(const Entry& entry) const {
  const absl::string_view file = file_->bytes();
  ASSIGN_OR_RETURN(const absl::string_view record,
                   RecordAt(file, entry.header_at, kZipLocalSize, kZipLocal));
  const uint64_t start =
      entry.header_at + kZipLocalSize + Field<uint16_t>(record, 26) + Field<uint16_t>(record, 28);
  if (start > file.size() || entry.packed_size > file.size() - start)
    return Damaged("an entry ends early");
  return file.substr(start, entry.packed_size);
}

absl::StatusOr<NumpyArray> NpzFile::ReadEntry(const Entry& entry) const {
  if (entry.flags & 1) return InvalidArgument("the entry is encrypted");
  ASSIGN_OR_RETURN(absl::string_view bytes, PackedBytes(entry));
  std::shared_ptr<const void> storage = file_;
  if (entry.method == kZipDeflated) {
    if (entry.size / kMaxInflation > bytes.size())
      return Damaged("an entry claims an impossible size");
    std::shared_ptr<char[]> buffer(new (std::nothrow) char[entry.size + 1]);
    if (!buffer) return ResourceExhausted("no memory for ", entry.size, " bytes");
    RETURN_IF_ERROR(Inflate(bytes, entry.size, buffer.get()));
    bytes = absl::string_view(buffer.get(), entry.size);
    storage = std::move(buffer);
  } else if (entry.method != kZipStored) {
    return InvalidArgument("compression method ", entry.method, " is not supported");
  } else if (entry.size != entry.packed_size) {
    return Damaged("a stored entry has two sizes");
  }
  const bool checked = entry.method == kZipDeflated || bytes.size() <= kMaxCheckedStored;
  if (checked && ZipChecksum(0, bytes) != entry.crc) return Damaged("an entry fails its checksum");
  ASSIGN_OR_RETURN(NumpyArray array, ParseNpy(bytes));
  array.storage = std::move(storage);
  return array;
}

absl::StatusOr<NumpyArray> NpzFile::Read(absl::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return NotFound(path_, ": it holds no array ", name);
  absl::StatusOr<NumpyArray> array = ReadEntry(found->second);
  if (!array.ok()) return Annotate(array.status(), absl::StrCat(path_, ": ", name));
  return array;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
