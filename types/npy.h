// NumPy's .npy arrays: reading, writing, and their conversion to and from literals.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "types/literal.h"

namespace hlokit {

// One array as its file holds it; nothing is converted yet.
struct NumpyArray {
  std::string descr;           // "<f4", "|V1", "<U12"
  char kind = 0;               // b i u f c V U S
  int64_t itemsize = 0;        // bytes an element
  bool fortran_order = false;  // the first dimension varies fastest
  DimVector shape;
  absl::string_view bytes;              // exactly the elements; a view of what `storage` keeps
  std::shared_ptr<const void> storage;  // may be null: then the caller keeps the bytes

  int64_t element_count() const {
    return itemsize == 0 ? 0 : static_cast<int64_t>(bytes.size()) / itemsize;
  }
};

// The array in the bytes of one .npy file (format versions 1 to 3), without a copy. InvalidArgument
// for what is truncated, big-endian, structured or pickled; sizes are held against the bytes there
// before they are believed.
absl::StatusOr<NumpyArray> ParseNpy(absl::string_view file);
// The same from a file, which stays mapped while the array lives.
absl::StatusOr<NumpyArray> ReadNpy(const std::string& path);

// The texts of an array of kind U or S, as UTF-8.
absl::StatusOr<std::vector<std::string>> ToStrings(const NumpyArray& array);

// `array` as a literal of `shape` (an array's; its layout is kept as a mark). Types that numpy has
// want the same type and dimensions (pred takes b1 or u1; a dynamic dimension takes any size up to
// its bound). Those that it lacks want the same number of elements and width, whose bits are taken
// as they are: bf16 from u2 or V2, f8 and f4 from u1 or V1, integers below a byte from u1, i1 or
// V1, of which the low bits count. Errors: InvalidArgument "LABEL: expected f32[2,3], given
// f64[3]".
absl::StatusOr<Literal> ToLiteral(const NumpyArray& array, const Shape& shape,
                                  absl::string_view label);

// The same of the array's own type and dimensions: f32[2,3] for `<f4` of shape (2, 3).
absl::StatusOr<Literal> ToLiteral(const NumpyArray& array);

// A literal's .npy bytes are these pieces, one after the other. Types that numpy lacks are written
// as numpy saves those of ml_dtypes: V2 and V1, integers below a byte in the low bits. Dynamic
// dimensions have their run-time sizes.
struct NpyPieces {
  std::string header;
  std::string converted;       // empty where the literal's own bytes serve
  absl::string_view elements;  // of `converted` or of the literal
  NpyPieces() = default;
  NpyPieces(const NpyPieces&) = delete;
  NpyPieces& operator=(const NpyPieces&) = delete;
};
// `literal` must be an array and outlive `out`.
void EncodeNpy(const Literal& literal, NpyPieces& out);

// Writes an array to `path`, whole or not at all.
absl::Status WriteNpy(const std::string& path, const Literal& literal);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
