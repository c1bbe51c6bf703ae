// Tolerant comparison of two literals, and a report that names the worst element.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "types/literal.h"

namespace hlokit {

// A float agrees where any one bound holds, so all zero means the same value. NaN agrees with NaN,
// an infinity with itself alone, -0 with 0. Complex numbers are compared by component. Integers and
// pred must be equal.
struct CompareOptions {
  double abs_error = 0;  // |actual - expected|
  double rel_error = 0;  // the same over |expected|
  int64_t ulps = 0;      // steps between the two in their own type
};

// Relative errors that end the histogram's buckets, after one for equal values; the last bucket has
// no end.
inline constexpr std::array<double, 7> kErrorBuckets = {1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1};

// An element that is not the same on both sides.
struct WorstElement {
  DimVector index;
  std::string expected, actual;  // as HLO text writes them
  bool agrees = false;           // within the bounds
  double abs = 0, rel = 0;
  uint64_t ulp = 0;  // floats
};
inline constexpr size_t kMaxWorst = 5;

// One array of the two values. Errors of elements where one side is NaN or infinite count as
// infinite.
struct LeafComparison {
  ShapeIndex leaf;  // place in the tuple, empty for an array
  Shape shape;
  int64_t compared = 0;
  int64_t mismatches = 0;
  int64_t nan_mismatches = 0;  // of them, those where one side alone is NaN
  int64_t nan_matches = 0;     // elements that are NaN on both sides
  double max_abs = 0;
  double max_rel = 0;
  uint64_t max_ulp = 0;  // floats
  // Up to kMaxWorst, mismatches first, then by falling relative error; empty where all are equal.
  std::vector<WorstElement> worst;
  std::array<int64_t, kErrorBuckets.size() + 2> histogram{};
};

struct CompareResult {
  bool equal = true;
  std::string shape_mismatch;  // what differs, where the shapes do; then no element is compared
  std::vector<LeafComparison> leaves;

  // One line for each array that differs, the worst first (`all`: then for each other), such as
  //   result {1} f32[2,3]: 2 of 6 elements differ; max abs 0.5, rel 0.25, ulp 4194304; worst at
  //   [0,2]: expected 2, got 2.5
  // and, for those, the next worst elements and a line with the histogram.
  std::string Report(bool all = false) const;
  // Elements compared, and those that are NaN on both sides.
  int64_t Compared() const;
  int64_t DifferingArrays() const;
  int64_t NanMatches() const;
};

// Layouts are ignored; of dynamic dimensions the run-time sizes must agree and only what they hold
// is compared.
CompareResult Compare(const Literal& expected, const Literal& actual,
                      const CompareOptions& options = {});

// Representable values between two floats of `type`, given by their bits, neither being NaN; 0
// between -0 and 0.
uint64_t UlpDistance(ElementType type, uint64_t a, uint64_t b);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
