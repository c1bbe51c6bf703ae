// Element-wise comparison with three kinds of tolerance: absolute, relative, ulps.
//
// Equal bytes are equal, except NaN, which equals NaN of any payload. The report holds counts, a
// histogram of relative errors and the kMaxWorst worst elements. Distances in ulps count
// representable values between the two, across zero too.
#include "types/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "types/float_convert.h"
#include "types/literal_text.h"
#include "types/load_internal.h"

namespace hlokit {
namespace {

struct Difference {
  bool agrees = true;
  bool one_nan = false;
  bool both_nan = false;
  double abs = 0;
  double rel = 0;
  uint64_t ulp = 0;

  bool IsWorseThan(const Difference& other) const {
    return agrees != other.agrees ? !agrees : rel > other.rel;
  }
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class LeafComparer {
 public:
  LeafComparer(const Literal& expected, const Literal& actual, const CompareOptions& options,
               LeafComparison& out)
      : expected_(expected),
        actual_(actual),
        options_(options),
        out_(out),
        component_(RealComponent(expected.type())),
        width_(ByteWidth(component_)),
        components_(IsComplex(expected.type()) ? 2 : 1) {}

  void Run() {
    const Shape& shape = expected_.shape();
    const bool may_be_nan = IsFloat(component_) && FormatOf(component_).has_nan;
    if (shape.dynamic_mask == 0 && !may_be_nan && SameBytes(0, expected_.byte_size())) {
      out_.compared = out_.histogram[0] = expected_.element_count();
    } else if (shape.dynamic_mask == 0) {
      for (int64_t i = 0; i < expected_.element_count(); ++i) Add(i);
    } else {
      DimVector sizes;
      for (int d = 0; d < shape.rank(); ++d) sizes.push_back(expected_.dynamic_size(d));
      ForEachIndex(sizes,
                   [&](absl::Span<const int64_t> index) { Add(expected_.LinearIndex(index)); });
    }
    for (const auto& [difference, at] : worst_) Describe(difference, at);
  }

 private:
  bool SameBytes(int64_t at, int64_t size) const {
    return std::memcmp(expected_.data() + at, actual_.data() + at, size) == 0;
  }

  void Add(int64_t i) {
    ++out_.compared;
    const Difference difference = OfElement(i);
    ++out_.histogram[Bucket(difference)];
    out_.nan_matches += difference.both_nan;
    if (difference.agrees && difference.rel == 0) return;
    out_.mismatches += !difference.agrees;
    out_.nan_mismatches += difference.one_nan;
    out_.max_abs = std::max(out_.max_abs, difference.abs);
    out_.max_rel = std::max(out_.max_rel, difference.rel);
    out_.max_ulp = std::max(out_.max_ulp, difference.ulp);
    if (worst_.size() == kMaxWorst && !difference.IsWorseThan(worst_.back().first)) return;
    if (worst_.size() == kMaxWorst) worst_.pop_back();
    const auto place = std::find_if(worst_.begin(), worst_.end(), [&](const auto& other) {
      return difference.IsWorseThan(other.first);
    });
    worst_.insert(place, {difference, i});
  }

  Difference OfElement(int64_t i) const {
    const int64_t size = int64_t{width_} * components_;
    if (!IsFloat(component_) && SameBytes(i * size, size)) return {};
    if (!IsFloat(component_)) return OfIntegers(i);
    Difference worst = OfFloats(i * components_);
    if (components_ == 2) {
      const Difference imaginary = OfFloats(i * 2 + 1);
      const bool nan = worst.both_nan || imaginary.both_nan;
      if (imaginary.IsWorseThan(worst)) worst = imaginary;
      worst.both_nan = nan;
    }
    return worst;
  }

  // Integers agree only where they are equal. Differences are computed in long double, which holds
  // every 64-bit integer exactly.
  Difference OfIntegers(int64_t i) const {
    const bool is_unsigned = expected_.type() == ElementType::kU64;
    const auto value = [&](const Literal& literal) {
      const int64_t bits = literal.GetInt(i);
      return is_unsigned ? static_cast<long double>(static_cast<uint64_t>(bits))
                         : static_cast<long double>(bits);
    };
    const long double want = value(expected_);
    const auto off = static_cast<double>(std::fabs(value(actual_) - want));
    if (off == 0) return {};  // spare bits only
    Difference d;
    d.agrees = false;
    d.abs = off;
    d.rel = want == 0 ? kInfinity : off / std::fabs(static_cast<double>(want));
    return d;
  }

  Difference OfFloats(int64_t at) const {
    const uint64_t want_bits = LoadBits(expected_.data() + at * width_, width_);
    const uint64_t have_bits = LoadBits(actual_.data() + at * width_, width_);
    Difference d;
    const double want = FloatFromBits(component_, want_bits);
    const double have = FloatFromBits(component_, have_bits);
    d.both_nan = std::isnan(want) && std::isnan(have);
    if (want == have || d.both_nan) return d;
    if (std::isnan(want) || std::isnan(have)) {
      d.agrees = false;
      d.one_nan = true;
      d.abs = d.rel = kInfinity;
      d.ulp = std::numeric_limits<uint64_t>::max();
      return d;
    }
    d.ulp = UlpDistance(component_, want_bits, have_bits);
    d.abs = std::fabs(have - want);
    const bool finite = std::isfinite(want) && std::isfinite(have);
    d.rel = finite && want != 0 ? d.abs / std::fabs(want) : kInfinity;
    d.agrees = finite && (d.abs <= options_.abs_error || d.rel <= options_.rel_error);
    d.agrees |= finite && d.ulp <= static_cast<uint64_t>(std::max<int64_t>(options_.ulps, 0));
    return d;
  }

  // Bucket 0: no difference. Then one for each bound of kErrorBuckets, and one for what exceeds
  // them.
  static size_t Bucket(const Difference& d) {
    if (d.rel == 0 && d.agrees) return 0;
    return 1 + (std::lower_bound(kErrorBuckets.begin(), kErrorBuckets.end(), d.rel) -
                kErrorBuckets.begin());
  }

  void Describe(const Difference& difference, int64_t at) {
    WorstElement& element = out_.worst.emplace_back();
    element.agrees = difference.agrees;
    element.abs = difference.abs;
    element.rel = difference.rel;
    element.ulp = difference.ulp;
    int64_t rest = at;
    for (int64_t stride : RowMajorStrides(expected_.shape().dims)) {
      element.index.push_back(rest / stride);
      rest %= stride;
    }
    AppendElementText(element.expected, expected_, at);
    AppendElementText(element.actual, actual_, at);
  }

  const Literal& expected_;
  const Literal& actual_;
  const CompareOptions& options_;
  LeafComparison& out_;
  const ElementType component_;
  const int width_;
  const int components_;
  std::vector<std::pair<Difference, int64_t>> worst_;  // worst first, with linear indices
};

// "result", or "result {1,0}" for elements of tuples.
std::string LeafName(absl::Span<const int64_t> leaf) {
  return leaf.empty() ? "result" : absl::StrCat("result {", absl::StrJoin(leaf, ","), "}");
}

// Empty where the run-time sizes agree.
std::string SizesMismatch(const Literal& expected, const Literal& actual) {
  for (int d = 0; d < expected.shape().rank(); ++d)
    if (expected.dynamic_size(d) != actual.dynamic_size(d))
      return absl::StrCat("dimension ", d, " has run-time size ", actual.dynamic_size(d),
                          ", expected ", expected.dynamic_size(d));
  return "";
}

// Counts by relative error: 0, up to each bound, more.
void AppendHistogram(const LeafComparison& leaf, std::string& out) {
  out += "  relative errors: 0";
  for (size_t i = 0; i < leaf.histogram.size(); ++i) {
    if (i > 0 && i <= kErrorBuckets.size())
      absl::StrAppendFormat(&out, ", to %g", kErrorBuckets[i - 1]);
    if (i > kErrorBuckets.size()) out += ", more";
    absl::StrAppend(&out, ": ", leaf.histogram[i]);
  }
  out.push_back('\n');
}

}  // namespace

// Magnitudes are consecutive integers within one sign, so that the distance across zero is the sum
// of both.
uint64_t UlpDistance(ElementType type, uint64_t a, uint64_t b) {
  const FloatFormat& format = FormatOf(type);
  const uint64_t sign =
      format.has_sign ? uint64_t{1} << (format.exponent_bits + format.mantissa_bits) : 0;
  const uint64_t magnitude_a = a & ~sign, magnitude_b = b & ~sign;
  if ((a & sign) != (b & sign)) return magnitude_a + magnitude_b;
  return magnitude_a > magnitude_b ? magnitude_a - magnitude_b : magnitude_b - magnitude_a;
}

CompareResult Compare(const Literal& expected, const Literal& actual,
                      const CompareOptions& options) {
  CompareResult result;
  if (!Compatible(expected.shape(), actual.shape())) {
    result.equal = false;
    result.shape_mismatch =
        absl::StrCat("shape ", Text(actual.shape()), ", expected ", Text(expected.shape()));
    return result;
  }
  for (const ShapeLeaf& leaf : Leaves(expected.shape())) {
    if (!leaf.shape->IsArray()) continue;
    const Literal& want = expected.at(leaf.index);
    const Literal& have = actual.at(leaf.index);
    if (std::string sizes = SizesMismatch(want, have); !sizes.empty()) {
      result.equal = false;
      if (result.shape_mismatch.empty())
        result.shape_mismatch = absl::StrCat(LeafName(leaf.index), ": ", sizes);
      continue;
    }
    LeafComparison& out = result.leaves.emplace_back();
    out.leaf = leaf.index;
    out.shape = *leaf.shape;
    LeafComparer(want, have, options, out).Run();
    result.equal &= out.mismatches == 0;
  }
  return result;
}

namespace {

void AppendElement(const WorstElement& element, std::string& out) {
  absl::StrAppend(&out, "[", absl::StrJoin(element.index, ","), "]: expected ", element.expected,
                  ", got ", element.actual);
}

// The worst element's line, then those after it.
void AppendWorst(const LeafComparison& leaf, std::string& out) {
  absl::StrAppendFormat(&out, "; max abs %.6g, rel %.6g", leaf.max_abs, leaf.max_rel);
  const bool floats = IsFloat(RealComponent(leaf.shape.type));
  if (floats && leaf.nan_mismatches == 0) absl::StrAppend(&out, ", ulp ", leaf.max_ulp);
  out += "; worst at ";
  AppendElement(leaf.worst[0], out);
  for (size_t i = 1; i < leaf.worst.size(); ++i) {
    out += "\n  then at ";
    AppendElement(leaf.worst[i], out);
    absl::StrAppendFormat(&out, " (rel %.6g", leaf.worst[i].rel);
    if (floats && std::isfinite(leaf.worst[i].rel))
      absl::StrAppend(&out, ", ulp ", leaf.worst[i].ulp);
    out += leaf.worst[i].agrees ? ", allowed)" : ")";
  }
}

}  // namespace

std::string CompareResult::Report(bool all) const {
  std::string out;
  if (!shape_mismatch.empty()) absl::StrAppend(&out, shape_mismatch, "\n");
  std::vector<const LeafComparison*> order;
  for (const LeafComparison& leaf : leaves)
    if (all || leaf.mismatches > 0) order.push_back(&leaf);
  const auto error = [](const LeafComparison* leaf) {
    return leaf->mismatches == 0 ? -1 : leaf->max_rel;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto* a, const auto* b) { return error(a) > error(b); });
  for (const LeafComparison* const each : order) {
    const LeafComparison& leaf = *each;
    absl::StrAppend(&out, LeafName(leaf.leaf), " ", Text(leaf.shape), ": ", leaf.mismatches, " of ",
                    leaf.compared, " elements differ");
    if (leaf.nan_mismatches > 0)
      absl::StrAppend(&out, ", ", leaf.nan_mismatches, " of them in being NaN");
    if (leaf.nan_matches > 0) absl::StrAppend(&out, ", ", leaf.nan_matches, " are NaN in both");
    if (!leaf.worst.empty()) AppendWorst(leaf, out);
    out.push_back('\n');
    if (!leaf.worst.empty() && leaf.compared > 1) AppendHistogram(leaf, out);
  }
  return out;
}

int64_t CompareResult::Compared() const {
  int64_t count = 0;
  for (const LeafComparison& leaf : leaves) count += leaf.compared;
  return count;
}

int64_t CompareResult::DifferingArrays() const {
  return std::count_if(leaves.begin(), leaves.end(),
                       [](const LeafComparison& leaf) { return leaf.mismatches > 0; });
}

int64_t CompareResult::NanMatches() const {
  int64_t count = 0;
  for (const LeafComparison& leaf : leaves) count += leaf.nan_matches;
  return count;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
