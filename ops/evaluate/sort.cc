// Evaluates sort (stable, by any comparator) and topk.
//
// A comparator is a computation; interpreting it n log n times would be slow. Most compare a key of
// one element with the same key of the other:
//   compare(abs(a), abs(b)), direction=LT
// Then the key of every element is computed first, vector by vector, and turned into an integer of
// the same order, and the sort compares integers. Where keys are not totally ordered (a NaN under a
// plain comparison), or the comparator is of another form, it is run for each pair instead. Both
// ways sort positions and move the operands afterwards.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "ops/evaluate/evaluate.h"
#include "ops/evaluate/kernels.h"
#include "ops/evaluate/scalar_program.h"
#include "ops/evaluate/strided.h"
#include "ops/evaluate/topk.h"
#include "support/status.h"

namespace hlokit {
namespace {

// The operands' values on one line of the sorted dimension, widened.
struct Line {
  std::vector<std::vector<Complex>> values;
  std::vector<int> widths;
  const void* at(int64_t operand, int64_t i) const {
    return reinterpret_cast<const uint8_t*>(values[operand].data()) + i * widths[operand];
  }
};

// Which of a computation's parameters each instruction depends on: 1 the even ones (value i), 2 the
// odd (value j).
int Dependence(const Computation& computation, const Instruction& value) {
  absl::flat_hash_map<const Instruction*, int> sides;
  for (const Instruction* instruction : computation.PostOrder()) {
    int side = instruction->IsParameter() ? 1 << (instruction->parameter_number() % 2) : 0;
    for (const Instruction* operand : instruction->operands()) side |= sides[operand];
    sides[instruction] = side;
  }
  return sides[&value];
}

// A comparator that compares a key made of one value with a key made of the other: the keys of a
// line are computed once, as integers in the order of the comparison.
class KeyComparison {
 public:
  // Null programs where the comparator is of another form.
  explicit KeyComparison(const Computation& comparator) {
    const Instruction& root = *comparator.root();
    if (root.opcode() != Opcode::kCompare || !root.shape().IsScalar()) return;
    const Instruction &a = *root.operand(0), &b = *root.operand(1);
    type_ = a.shape().type;
    direction_ = root.attr<CompareAttrs>().direction;
    total_ = root.attr<CompareAttrs>().type == ComparisonType::kTotalOrder;
    const int side_a = Dependence(comparator, a), side_b = Dependence(comparator, b);
    if (side_a + side_b != 3 || side_a == 0 || side_b == 0 || IsComplex(type_)) return;
    swapped_ = side_a == 2;
    left_ = ScalarProgram::CompileValue(comparator, a, kChunk);
    right_ = ScalarProgram::CompileValue(comparator, b, kChunk);
  }

  // False where the comparator is of another form, or the order of these keys is not total.
  bool Load(const Line& line, int64_t n) {
    return left_ != nullptr && right_ != nullptr && MakeKeys(*left_, line, n, left_keys_) &&
           MakeKeys(*right_, line, n, right_keys_);
  }

  bool operator()(int64_t i, int64_t j) const {
    if (swapped_) std::swap(i, j);
    const int64_t a = left_keys_[i], b = right_keys_[j];
    switch (direction_) {
      case ComparisonDirection::kLt:
        return a < b;
      case ComparisonDirection::kGt:
        return a > b;
      case ComparisonDirection::kLe:
        return a <= b;
      case ComparisonDirection::kGe:
        return a >= b;
      case ComparisonDirection::kEq:
        return a == b;
      default:
        return a != b;
    }
  }

 private:
  bool MakeKeys(ScalarProgram& program, const Line& line, int64_t n, std::vector<int64_t>& keys) {
    std::vector<const void*> in(2 * line.values.size());
    keys.resize(n);
    for (int64_t start = 0; start < n; start += kChunk) {
      const int64_t count = std::min(kChunk, n - start);
      for (size_t k = 0; k < line.values.size(); ++k) in[2 * k] = in[2 * k + 1] = line.at(k, start);
      program.Run(in, count);
      for (int64_t i = 0; i < count; ++i)
        if (!Key(program.result(0), i, keys[start + i])) return false;
    }
    return true;
  }

  bool Key(const void* values, int64_t i, int64_t& key) const {
    if (WideOf(type_) == Wide::kSigned) {
      key = static_cast<const int64_t*>(values)[i];
    } else if (WideOf(type_) == Wide::kUnsigned) {
      key = static_cast<int64_t>(static_cast<const uint64_t*>(values)[i] ^ (uint64_t{1} << 63));
    } else {
      const double value = static_cast<const double*>(values)[i];
      if (!total_ && std::isnan(value)) return false;
      key = OrderKey(!total_ && value == 0 ? 0.0 : value);
    }
    return true;
  }

  ElementType type_ = ElementType::kInvalid;
  ComparisonDirection direction_ = ComparisonDirection::kLt;
  bool total_ = false, swapped_ = false;
  std::unique_ptr<ScalarProgram> left_, right_;
  std::vector<int64_t> left_keys_, right_keys_;
};

class Sorter {
 public:
  explicit Sorter(const EvalContext& context)
      : keys_(*context.instruction.to_apply()),
        function_(*context.instruction.to_apply(), context.call, 1),
        in_(2 * context.operands.size()) {}

  // The order of the first n values of the line. Positions of equal values keep their order.
  absl::StatusOr<std::vector<int64_t>> Order(const Line& line, int64_t n) {
    std::vector<int64_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    absl::Status status;
    if (keys_.Load(line, n)) {
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t i, int64_t j) { return keys_(i, j); });
    } else {
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t i, int64_t j) { return Compare(line, i, j, status); });
    }
    RETURN_IF_ERROR(status);
    return order;
  }

 private:
  bool Compare(const Line& line, int64_t i, int64_t j, absl::Status& status) {
    for (size_t k = 0; k < line.values.size(); ++k) {
      in_[2 * k] = line.at(k, i);
      in_[2 * k + 1] = line.at(k, j);
    }
    uint64_t before = 0;
    void* const out[] = {&before};
    if (status.ok()) status = function_.Run(in_, out, 1);
    return before != 0;
  }

  KeyComparison keys_;
  LaneFunction function_;
  std::vector<const void*> in_;
};

void LoadLine(absl::Span<const Literal> arrays, int64_t start, int64_t stride, int64_t n,
              Line& line) {
  std::vector<uint8_t> raw(n * 16);
  for (size_t k = 0; k < arrays.size(); ++k) {
    const int width = ByteWidth(arrays[k].type());
    CopyStrided({n}, arrays[k].data() + start * width, {stride}, raw.data(), {1}, width);
    LoadWide(arrays[k].type(), raw.data(), n, line.values[k].data());
  }
}

void Permute(Literal& array, int64_t start, int64_t stride, absl::Span<const int64_t> order) {
  const int width = ByteWidth(array.type());
  const int64_t n = order.size();
  std::vector<uint8_t> raw(n * width);
  uint8_t* line = array.data() + start * width;
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(&raw[i * width], line + order[i] * stride * width, width);
  CopyStrided({n}, raw.data(), {1}, line, {stride}, width);
}

}  // namespace

// How many elements of each line are sorted: the size of the first operand that has one.
int64_t SortedLength(absl::Span<const Literal> operands, int64_t dimension) {
  if (operands[0].shape().rank() == 0) return 1;
  for (const Literal& operand : operands)
    if (operand.shape().IsDynamic(static_cast<int>(dimension)))
      return operand.dynamic_size(static_cast<int>(dimension));
  return operands[0].shape().dims[dimension];
}

absl::StatusOr<Literal> EvaluateSort(const EvalContext& context) {
  std::vector<Literal> results;
  for (const Literal* operand : context.operands) results.push_back(*operand);
  const Shape& shape = results[0].shape();
  const bool tuple = context.instruction.shape().IsTuple();
  const int64_t dimension = context.instruction.attr<SortAttrs>().dimensions[0];
  const int64_t n = SortedLength(results, dimension);
  Sorter sorter(context);
  Line line;
  for (const Literal& r : results) {
    line.values.emplace_back(n);
    line.widths.push_back(WideBytes(r.type()));
  }
  const DimVector others = Others(shape.rank(), {dimension}), strides = RowMajorStrides(shape.dims);
  if (n > 1) {
    for (int64_t start : Offsets(Pick(shape.dims, others), Pick(strides, others))) {
      LoadLine(results, start, strides[dimension], n, line);
      ASSIGN_OR_RETURN(std::vector<int64_t> order, sorter.Order(line, n));
      for (Literal& r : results) Permute(r, start, strides[dimension], order);
    }
  }
  return tuple ? Literal::Tuple(std::move(results)) : std::move(results[0]);
}

// By total order, so NaN is the largest; equal values in the order of their positions.
Literal TopK(const Literal& operand, int64_t k, bool largest, const Shape& result) {
  const int64_t n = operand.shape().dims.back(), lines = n == 0 ? 0 : operand.element_count() / n;
  const ElementType type = operand.type();
  const int width = ByteWidth(type);
  Literal out(result);
  Literal& values = out.elements()[0];
  Literal& indices = out.elements()[1];
  VisitWide(type, [&](auto own) {
    using T = decltype(own);
    if constexpr (!std::is_same_v<T, Complex>) {
      std::vector<T> keys(n);
      std::vector<int64_t> order(n);
      for (int64_t line = 0; line < lines; ++line) {
        LoadWide(type, operand.data() + line * n * width, n, keys.data());
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t i, int64_t j) {
          const auto a = OrderKey(keys[i]), b = OrderKey(keys[j]);
          return a == b ? i < j : (a < b) != largest;
        });
        for (int64_t i = 0; i < k; ++i) {
          std::memcpy(values.data() + (line * k + i) * width,
                      operand.data() + (line * n + order[i]) * width, width);
          indices.SetInt(line * k + i, order[i]);
        }
      }
    }
  });
  return out;
}

absl::StatusOr<Literal> EvaluateTopK(const EvalContext& context) {
  const TopKAttrs& attrs = context.instruction.attr<TopKAttrs>();
  const Literal& operand = *context.operands[0];
  if (operand.shape().rank() == 0 || attrs.k < 0 || attrs.k > operand.shape().dims.back())
    return InvalidArgument("topk: k = ", attrs.k, " of ", Text(operand.shape()));
  return TopK(operand, attrs.k, attrs.largest, context.instruction.shape());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
