// The loop under every op that moves data: a box of elements copied between two strided places.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "ops/dim_lists.h"
#include "types/literal.h"

namespace hlokit {

// Copies the elements of a box of `dims`: element (i0, i1, ...) from `from` + sum(i * from_strides)
// to `to` + sum(i * to_strides). Strides count elements of `width` bytes; they may be zero or
// negative.
void CopyStrided(absl::Span<const int64_t> dims, const uint8_t* from,
                 absl::Span<const int64_t> from_strides, uint8_t* to,
                 absl::Span<const int64_t> to_strides, int width);

// Sets every element of `out` to the scalar `value` of the same type.
void Fill(Literal& out, const Literal& value);

// The linear positions (in elements) of all indices of a box of `dims` under `strides`, row-major
// order.
std::vector<int64_t> Offsets(absl::Span<const int64_t> dims, absl::Span<const int64_t> strides);

// Those of `values` at `positions`.
DimVector Pick(absl::Span<const int64_t> values, absl::Span<const int64_t> positions);
// The numbers 0 .. rank-1 that are in none of the lists.
DimVector Others(int64_t rank, absl::Span<const int64_t> a, absl::Span<const int64_t> b = {});
// The lists one after the other.
DimVector Join(absl::Span<const int64_t> a, absl::Span<const int64_t> b,
               absl::Span<const int64_t> c = {});
int64_t Product(absl::Span<const int64_t> dims);

// Run-time sizes of all dimensions: the dynamic sizes where they are set.
DimVector RuntimeDims(const Literal& literal);
bool HasDynamicSizes(const Literal& literal);
// Gives `to`, of the same dimensions, the run-time sizes of `from`.
void CopyRuntimeDims(const Literal& from, Literal& to);

// Of arrays of one shape that are reduced together, each from its element of `starts`: where they
// differ in run-time sizes, copies that fill their bounds with that element. Empty where they
// agree.
std::vector<Literal> FilledWhereSizesDiffer(absl::Span<const Literal* const> arrays,
                                            absl::Span<const Literal* const> starts);
// The size of dimension d in the last of the arrays where it is dynamic, else the bound.
int64_t LastSize(absl::Span<const Literal* const> arrays, int d);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
