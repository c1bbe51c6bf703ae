// The text of each type that an attribute field may have: what stands after `name=`.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/ascii.h"
#include "ir/attributes.h"
#include "parser/reader_internal.h"

namespace hlokit {

inline bool ReadValue(Reader& r, int64_t& value) { return r.Int(value); }
bool ReadValue(Reader& r, double& value);  // in the range of f32
inline bool ReadValue(Reader& r, bool& value) { return r.Bool(value); }
inline bool ReadValue(Reader& r, std::string& value) { return r.String(value); }
bool ReadValue(Reader& r, RawText& algorithm);  // of a dot
bool ReadValue(Reader& r, ResultAccuracy& accuracy);
bool ReadValue(Reader& r, SparsityConfig& sparsity);
bool ReadValue(Reader& r, Domain& domain);
bool ReadValue(Reader& r, DimVector& dims);
bool ReadValue(Reader& r, std::vector<DimVector>& lists);
bool ReadValue(Reader& r, std::vector<bool>& values);  // {true,false}, or a single one
bool ReadValue(Reader& r, std::vector<Precision>& values);
bool ReadValue(Reader& r, std::vector<Shape>& shapes);
bool ReadValue(Reader& r, Shape& shape);
bool ReadValue(Reader& r, SharedLiteral& literal);
bool ReadValue(Reader& r, Window& window);
bool ReadWindowParts(Reader& r, Window& window);  // what stands between the braces
bool ReadValue(Reader& r, ConvDims& dims);
bool ReadValue(Reader& r, PaddingConfig& padding);
bool ReadValue(Reader& r, SliceSpec& slice);
bool ReadValue(Reader& r, ReplicaGroups& groups);
bool ReadValue(Reader& r, IntPairs& pairs);
bool ReadValue(Reader& r, std::vector<OutputAlias>& aliases);
bool ReadValue(Reader& r, ShapeIndex& index);  // {0,1}

// The spellings of an enumeration, for suggestions.
#define HLOKIT_DECLARE_TEXTS(name, rows) absl::Span<const absl::string_view> SpellingsOf(name);
HLOKIT_ENUMS(HLOKIT_DECLARE_TEXTS)
#undef HLOKIT_DECLARE_TEXTS

bool UnknownSpelling(Reader& r, absl::Span<const absl::string_view> spellings);

// Whether XLA reads an enumeration's words in letters of either case.
template <typename E>
inline constexpr bool kAnyCase =
    std::is_same_v<E, Precision> || std::is_same_v<E, RngDistribution> ||
    std::is_same_v<E, RngAlgorithm> || std::is_same_v<E, CustomCallSchedule> ||
    std::is_same_v<E, CustomCallApiVersion>;

template <typename E>
requires std::is_enum_v<E>
bool ReadValue(Reader& r, E& value) {
  const absl::string_view word = r.PeekWord();
  bool known = !word.empty() && EnumFromText(word, value);
  if (kAnyCase<E> && !known && !word.empty())
    known = EnumFromText(absl::AsciiStrToLower(word), value) ||
            EnumFromText(absl::AsciiStrToUpper(word), value);
  if (!known) return UnknownSpelling(r, SpellingsOf(value));
  r.Word();
  return true;
}

template <typename T>
bool ReadValue(Reader& r, std::optional<T>& value) {
  return ReadValue(r, value.emplace());
}

// `[4,2]T(1,0)` as it stands after `<=`: one form for equal orders (`[2,2]T(0,1)` becomes `[4]`
// without a permutation).
bool ReadIota(Reader& r, DimVector& reshape_dims, DimVector& transpose_perm);
void SimplifyIota(DimVector& reshape_dims, DimVector& transpose_perm);
// The product of dimensions; -1 where one is negative or the product is above kMaxDevices.
int64_t DeviceCount(const DimVector& dims);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
