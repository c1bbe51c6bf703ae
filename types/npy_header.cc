// The header of .npy files: a magic word, a version, and a Python dictionary literal (NumPy's NEP
// 1). Sizes are checked against the file's before anything is read, so that a damaged header cannot
// ask for memory.
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "support/file.h"
#include "support/status.h"
#include "types/npy.h"

namespace hlokit {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);

// Reads {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } in any order of its keys.
class HeaderReader {
 public:
  explicit HeaderReader(absl::string_view text) : rest_(text) {}

  absl::Status Read(NumpyArray& out) {
    RETURN_IF_ERROR(Expect('{'));
    while (!TryTake('}')) {
      std::string key;
      RETURN_IF_ERROR(ReadString(key));
      RETURN_IF_ERROR(Expect(':'));
      RETURN_IF_ERROR(ReadValue(key, out));
      if (TryTake(',')) continue;
      RETURN_IF_ERROR(Expect('}'));
      break;
    }
    if (!has_descr_ || !has_order_ || !has_shape_)
      return InvalidArgument("npy header lacks descr, fortran_order or shape");
    return absl::OkStatus();
  }

 private:
  absl::Status ReadValue(absl::string_view key, NumpyArray& out) {
    if (key == "descr") {
      has_descr_ = true;
      return ReadString(out.descr);
    }
    if (key == "fortran_order") {
      has_order_ = true;
      return ReadBool(out.fortran_order);
    }
    if (key != "shape") return InvalidArgument("npy header has an unknown key '", key, "'");
    has_shape_ = true;
    return ReadShape(out.shape);
  }

  bool TryTake(char c) {
    rest_ = absl::StripLeadingAsciiWhitespace(rest_);
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  absl::Status Expect(char c) {
    if (TryTake(c)) return absl::OkStatus();
    return InvalidArgument("npy header: expected '", std::string(1, c), "'");
  }

  absl::Status ReadString(std::string& out) {
    if (TryTake('[')) return InvalidArgument("npy array has a structured dtype");
    TryTake('u');
    const char quote = TryTake('\'') ? '\'' : '"';
    if (quote == '"') RETURN_IF_ERROR(Expect('"'));
    const size_t end = rest_.find(quote);
    if (end == absl::string_view::npos) return InvalidArgument("npy header: a string has no end");
    out = std::string(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return absl::OkStatus();
  }

  absl::Status ReadBool(bool& out) {
    rest_ = absl::StripLeadingAsciiWhitespace(rest_);
    out = absl::StartsWith(rest_, "True");
    if (!out && !absl::StartsWith(rest_, "False"))
      return InvalidArgument("npy header: expected True or False");
    rest_.remove_prefix(out ? 4 : 5);
    return absl::OkStatus();
  }

  absl::Status ReadShape(DimVector& out) {
    RETURN_IF_ERROR(Expect('('));
    out.clear();
    while (!TryTake(')')) {
      rest_ = absl::StripLeadingAsciiWhitespace(rest_);
      const auto end =
          std::find_if_not(rest_.begin(), rest_.end(), absl::ascii_isdigit) - rest_.begin();
      int64_t size = 0;
      if (!absl::SimpleAtoi(rest_.substr(0, end), &size))
        return InvalidArgument("npy header: bad shape");
      if (out.size() == kMaxRank)
        return InvalidArgument("npy array has more than ", kMaxRank, " dimensions");
      out.push_back(size);
      rest_.remove_prefix(end);
      TryTake('L');
      if (TryTake(',')) continue;
      RETURN_IF_ERROR(Expect(')'));
      break;
    }
    return absl::OkStatus();
  }

  absl::string_view rest_;
  bool has_descr_ = false, has_order_ = false, has_shape_ = false;
};

// Splits "<f4" into kind and item size.
absl::Status ReadDescr(NumpyArray& array) {
  absl::string_view text = array.descr;
  char order = '=';
  if (!text.empty() && absl::StrContains("<>=|", text[0])) {
    order = text[0];
    text.remove_prefix(1);
  }
  int32_t size = 1;
  const bool sized = text == "?" || (text.size() > 1 && absl::ascii_isdigit(text[1]) &&
                                     absl::SimpleAtoi(text.substr(1), &size));
  if (!sized || !absl::StrContains("?biufcVUS", text[0]))
    return InvalidArgument("npy dtype '", array.descr, "' is not supported");
  array.kind = text[0] == '?' ? 'b' : text[0];
  array.itemsize = array.kind == 'U' ? int64_t{size} * 4 : size;
  if (order == '>' && array.itemsize > 1 && array.kind != 'V' && array.kind != 'S')
    return InvalidArgument("npy dtype '", array.descr, "' is big-endian, which is not supported");
  return absl::OkStatus();
}

// The dictionary's text, removed from `file` with all before it.
absl::StatusOr<absl::string_view> TakeHeader(absl::string_view& file) {
  if (!absl::StartsWith(file, kMagic))
    return InvalidArgument("not a npy array: it lacks NumPy's magic word");
  const int version = file.size() > 6 ? file[6] : 0;
  if (version < 1 || version > 3)
    return InvalidArgument("npy format version ", version, " is not supported");
  const size_t start = version == 1 ? 10 : 12;
  if (file.size() < start) return InvalidArgument("npy header is truncated");
  uint32_t length = 0;
  std::memcpy(&length, file.data() + 8, start - 8);
  if (length > file.size() - start) return InvalidArgument("npy header is truncated");
  const absl::string_view header = file.substr(start, length);
  file.remove_prefix(start + length);
  return header;
}

}  // namespace

absl::StatusOr<NumpyArray> ParseNpy(absl::string_view file) {
  NumpyArray array;
  ASSIGN_OR_RETURN(const absl::string_view header, TakeHeader(file));
  RETURN_IF_ERROR(HeaderReader(header).Read(array));
  RETURN_IF_ERROR(ReadDescr(array));
  const int64_t count = Shape::Array(ElementType::kU8, array.shape).ElementCount();
  int64_t size = 0;
  if (__builtin_mul_overflow(count, array.itemsize, &size) ||
      static_cast<uint64_t>(size) > file.size())
    return InvalidArgument("npy array is truncated: ", count, " elements of ", array.itemsize,
                           " bytes expected, ", file.size(), " bytes given");
  array.bytes = file.substr(0, static_cast<size_t>(size));
  return array;
}

absl::StatusOr<NumpyArray> ReadNpy(const std::string& path) {
  ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  auto storage = std::make_shared<const MappedFile>(std::move(file));
  absl::StatusOr<NumpyArray> array = ParseNpy(storage->bytes());
  if (!array.ok()) return Annotate(array.status(), path);
  array->storage = std::move(storage);
  return array;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
