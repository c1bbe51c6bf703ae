// Sorts, random bits, pivots and dynamic sizes as GPU compilers and jaxlib call them.
//
// CUB sorts keys by their bits: floats are ordered as their bits are as integers with a sign, both
// zeros are one key, and NaN stands at the ends. Rows are sorted one by one; ties keep their order.
// Threefry makes two words of random bits from a key and a counter by twenty rounds of additions,
// rotations and exclusive ors, exactly as JAX's own expansion does.
// LU pivots are turned into a permutation by applying the exchanges in order: [2, 2, 2] of 3 rows
// gives [2, 0, 1].
#include <algorithm>
#include <cstring>
#include <numeric>

#include "ops/evaluate/rng.h"
#include "ops/evaluate/strided.h"
#include "ops/evaluate/values.h"
#include "ops/vendor/cub_sort.h"
#include "ops/vendor/vendor_calls.h"
#include "support/status.h"

namespace hlokit {
namespace {

absl::Status WrongOperands(const EvalContext& context) {
  return InvalidArgument("custom-call ", context.instruction.attr<CustomCallAttrs>().target,
                         ": its operands do not fit");
}

// Keys as integers in CUB's order: floats by their bits, NaN at the ends, both zeros alike.
std::vector<int64_t> SortKeys(const Literal& keys) {
  std::vector<int64_t> order(keys.element_count());
  const ElementType type = keys.type();
  const int width = 8 * ByteWidth(type);
  for (int64_t i = 0; i < keys.element_count(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, keys.data() + i * ByteWidth(type), ByteWidth(type));
    if (IsFloat(type)) {
      const bool negative = (bits >> (width - 1)) != 0;
      const auto magnitude = static_cast<int64_t>(bits & ~(uint64_t{1} << (width - 1)));
      order[i] = negative && magnitude != 0 ? -magnitude - 1 : magnitude;
    } else {
      order[i] = keys.GetInt(i);
      if (type == ElementType::kU64) order[i] ^= std::numeric_limits<int64_t>::min();
    }
  }
  return order;
}

}  // namespace

// Sorts rows: keys, and values along with them.
absl::StatusOr<Literal> CubSort(const EvalContext& context) {
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  const bool descending = config.NumberOr("descending", 0) != 0;
  if (context.operands.empty() || context.operands.size() > 2 ||
      context.operands[0]->shape().rank() == 0 || IsComplex(context.operands[0]->type()))
    return WrongOperands(context);
  const Literal& keys = *context.operands[0];
  std::vector<Literal> sorted;
  for (const Literal* operand : context.operands) {
    if (operand->shape().dims != keys.shape().dims) return WrongOperands(context);
    sorted.push_back(*operand);
  }
  const std::vector<int64_t> order = SortKeys(keys);
  const int64_t n = CubRowLength(config, keys.shape());
  if (n < 0) return WrongOperands(context);
  std::vector<int64_t> places(n);
  for (int64_t start = 0; start < keys.element_count(); start += n) {
    std::iota(places.begin(), places.end(), start);
    std::stable_sort(places.begin(), places.end(), [&](int64_t a, int64_t b) {
      return descending ? order[a] > order[b] : order[a] < order[b];
    });
    for (size_t o = 0; o < sorted.size(); ++o) {
      const int width = ByteWidth(sorted[o].type());
      for (int64_t i = 0; i < n; ++i)
        std::memcpy(sorted[o].data() + (start + i) * width,
                    context.operands[o]->data() + places[i] * width, width);
    }
  }
  return VendorResult(context, std::move(sorted));
}

// Sums along rows that lie contiguous in memory: those so far, each element's own included.
absl::StatusOr<Literal> CubScan(const EvalContext& context) {
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  if (context.operands.size() != 1 || IsComplex(context.operands[0]->type()) ||
      IsPred(context.operands[0]->type()))
    return WrongOperands(context);
  const Literal& in = *context.operands[0];
  const std::optional<int64_t> dimension = CubScanDimension(
      config, context.instruction.attr<CustomCallAttrs>(), context.instruction.operand(0)->shape());
  if (!dimension) return WrongOperands(context);
  const bool is_reverse = config.NumberOr("is_reverse", 0) != 0;
  const int64_t n = in.shape().dims[*dimension];
  const int64_t step = RowMajorStrides(in.shape().dims)[*dimension];
  Literal sums(in.shape());
  for (int64_t row = 0; n > 0 && row < in.element_count() / n; ++row) {
    const int64_t start = row / step * step * n + row % step;
    int64_t whole = 0;  // of integers, which wrap around
    double real = 0;
    for (int64_t k = 0; k < n; ++k) {
      const int64_t at = start + (is_reverse ? n - 1 - k : k) * step;
      if (IsFloat(in.type())) {
        sums.SetDouble(at, real + in.GetDouble(at));
        real = sums.GetDouble(at);
      } else {
        whole = static_cast<int64_t>(static_cast<uint64_t>(whole) +
                                     static_cast<uint64_t>(in.GetInt(at)));
        sums.SetInt(at, whole);
      }
    }
  }
  std::vector<Literal> parts;
  parts.push_back(std::move(sums));
  return VendorResult(context, std::move(parts));
}

// Two key words and two counter words, each an array (or a scalar for all), to two words.
absl::StatusOr<Literal> Threefry(const EvalContext& context) {
  const Shape& shape = context.instruction.shape();
  bool fits = context.operands.size() == 4 && shape.IsTuple() && shape.elements.size() >= 2;
  for (int i = 0; fits && i < 2; ++i)
    fits = shape.elements[i].IsArray() && shape.elements[i].type == ElementType::kU32 &&
           shape.elements[i].dims == shape.elements[0].dims;
  for (const Literal* operand : context.operands)
    fits = fits && operand->type() == ElementType::kU32 &&
           (operand->element_count() == 1 ||
            operand->element_count() == shape.elements[0].ElementCount());
  if (!fits) return WrongOperands(context);
  std::vector<Literal> words = {Literal(shape.elements[0]), Literal(shape.elements[1])};
  const auto word = [&](int operand, int64_t i) {
    const Literal& from = *context.operands[operand];
    return uint64_t{from.as<uint32_t>()[from.element_count() == 1 ? 0 : i]};
  };
  for (int64_t i = 0; i < words[0].element_count(); ++i) {
    const auto mixed = ThreeFry(word(2, i) | word(3, i) << 32, word(0, i) | word(1, i) << 32);
    words[0].as<uint32_t>()[i] = mixed[0];
    words[1].as<uint32_t>()[i] = mixed[1];
  }
  return VendorResult(context, std::move(words));
}

// Both are lists of as many rows, whatever their lengths.
bool SameRows(const Shape& a, const Shape& b) {
  return a.rank() == b.rank() && a.rank() > 0 &&
         std::equal(a.dims.begin(), a.dims.end() - 1, b.dims.begin());
}

// Row i was exchanged with row pivots[i], 0-based and in turn: which row ends where.
absl::StatusOr<Literal> PivotsToPermutation(const EvalContext& context) {
  const Shape& shape = context.instruction.shape();
  if (context.operands.size() != 1 || !shape.IsArray() || shape.rank() == 0 ||
      shape.type != ElementType::kS32 || context.operands[0]->type() != ElementType::kS32 ||
      !SameRows(context.operands[0]->shape(), shape))
    return WrongOperands(context);
  const Literal& pivots = *context.operands[0];
  const int64_t n = shape.dims.back(), k = pivots.shape().dims.back();
  Literal result(shape);
  for (int64_t row = 0; n > 0 && row < result.element_count() / n; ++row) {
    int32_t* permutation = result.as<int32_t>() + row * n;
    std::iota(permutation, permutation + n, 0);
    for (int64_t i = 0; i < std::min(k, n); ++i) {
      const int32_t pivot = pivots.as<int32_t>()[row * k + i];
      // JAX's kernels for GPUs pass over a pivot that names no row.
      if (pivot >= 0 && pivot < n) std::swap(permutation[i], permutation[pivot]);
    }
  }
  return result;
}

// A dynamic array as one of its bounds, and the sizes of its dimensions.
absl::StatusOr<Literal> PadToStatic(const EvalContext& context) {
  const Shape& shape = context.instruction.shape();
  if (context.operands.size() != 1 || !shape.IsTuple() || shape.elements.empty() ||
      !shape.elements[0].IsArray() || shape.elements[0].dims != context.operands[0]->shape().dims ||
      shape.elements.size() != shape.elements[0].dims.size() + 1)
    return WrongOperands(context);
  const Literal& operand = *context.operands[0];
  Literal padded(Shape::Array(operand.type(), operand.shape().dims));
  CopyStrided(RuntimeDims(operand), operand.data(), RowMajorStrides(operand.shape().dims),
              padded.data(), RowMajorStrides(padded.shape().dims), ByteWidth(operand.type()));
  std::vector<Literal> parts = {std::move(padded)};
  for (int d = 0; d < operand.shape().rank(); ++d)
    parts.push_back(Literal::R0<int32_t>(static_cast<int32_t>(operand.dynamic_size(d))));
  return VendorResult(context, std::move(parts));
}

// The inverse.
absl::StatusOr<Literal> SliceToDynamic(const EvalContext& context) {
  const Shape& shape = context.instruction.shape();
  if (!shape.IsArray() || context.operands.size() != shape.dims.size() + 1 ||
      context.operands[0]->shape().dims != shape.dims || context.operands[0]->type() != shape.type)
    return WrongOperands(context);
  Literal result = *context.operands[0];
  result.set_shape(shape);
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t size = context.operands[d + 1]->GetInt(0);
    if (size < 0 || size > shape.dims[d])
      return InvalidArgument("SliceToDynamic: size ", size, " of dimension ", d,
                             " is out of range of ", Text(shape));
    if (shape.IsDynamic(d)) result.set_dynamic_size(d, size);
  }
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
