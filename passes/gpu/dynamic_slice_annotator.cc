// Where in memory each round of a loop cuts or updates a contiguous slice, written down.
//   dynamic-slice(x, i, 0), i the loop's counter  ->  backend_config={"dynamic_slice_config":
//     {"loop_index":"0","byte_offset":"0","byte_stride":"32"}}
// The starts are evaluated for every round; their bytes must grow by a constant.
#include <algorithm>

#include "absl/strings/numbers.h"
#include "passes/framework/pass.h"
#include "passes/gpu/backend_config.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxRounds = 1 << 20;

std::optional<int64_t> Number(const BackendConfig& config, absl::string_view field) {
  int64_t value = 0;
  return absl::SimpleAtoi(config.Text(field), &value) ? std::optional(value) : std::nullopt;
}

// What is written on a loop about its counter.
struct Counter {
  const Instruction* loop = nullptr;
  int64_t part = 0, init = 0, step = 0, rounds = 0;

  static std::optional<Counter> Of(const Instruction* loop) {
    const BackendConfig config = BackendConfig::Of(*loop);
    const BackendConfig start(config.Raw("known_init_step"));
    const auto part = Number(BackendConfig(config.Raw("known_induction_variable")), "tuple_index");
    const auto rounds = Number(BackendConfig(config.Raw("known_trip_count")), "n");
    if (!part || !rounds || config.Raw("known_init_step").empty() || *rounds < 1 ||
        *rounds > kMaxRounds)
      return std::nullopt;
    // Fields that are 0 may be left out.
    return Counter{loop, *part, Number(start, "init").value_or(0),
                   Number(start, "step").value_or(0), *rounds};
  }
};

int64_t Wrapped(int64_t value, ElementType type) {
  const int bits = BitWidth(type);
  if (bits >= 64) return value;
  const uint64_t low = static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1);
  const bool negative = IsSigned(type) && (low >> (bits - 1)) != 0;
  return static_cast<int64_t>(negative ? low - (uint64_t{1} << bits) : low);
}

std::optional<int64_t> Binary(Opcode opcode, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (opcode) {
    case Opcode::kAdd:
      return static_cast<int64_t>(x + y);
    case Opcode::kSubtract:
      return static_cast<int64_t>(x - y);
    case Opcode::kMultiply:
      return static_cast<int64_t>(x * y);
    case Opcode::kDivide:
    case Opcode::kRemainder:
      if (b == 0 || b == -1) return std::nullopt;
      return opcode == Opcode::kDivide ? a / b : a % b;
    case Opcode::kMaximum:
      return std::max(a, b);
    case Opcode::kMinimum:
      return std::min(a, b);
    default:
      return std::nullopt;
  }
}

bool Holds(ComparisonDirection direction, int64_t a, int64_t b) {
  switch (direction) {
    case ComparisonDirection::kEq:
      return a == b;
    case ComparisonDirection::kNe:
      return a != b;
    case ComparisonDirection::kLt:
      return a < b;
    case ComparisonDirection::kLe:
      return a <= b;
    case ComparisonDirection::kGt:
      return a > b;
    default:
      return a >= b;
  }
}

class Annotator {
 public:
  explicit Annotator(const Module& module) : callers_(module.computation_id_bound()) {
    for (Computation* c : module.Computations())
      c->ForEach([&](Instruction* i) {
        for (const Computation* called : i->called()) callers_[called->id()].push_back(i);
      });
  }

  bool Annotate(Instruction* i) {
    const std::optional<std::vector<int64_t>> strides = Strides(*i);
    if (!strides) return false;
    counter_ = {};
    is_delayed_ = false;
    round_ = 0;
    const std::optional<Bytes> first = At(*i, *strides);
    if (!first) return false;
    int64_t offset = first->clamped, stride = 0;
    if (counter_.loop != nullptr && !Progression(*i, *strides, offset, stride)) return false;
    BackendConfig slice(""), config = BackendConfig::Of(*i);
    if (counter_.loop != nullptr) slice.SetInt("loop_index", 0);
    slice.SetInt("byte_offset", offset);
    slice.SetInt("byte_stride", stride);
    config.SetRaw("dynamic_slice_config", slice.Json());
    const std::string before(i->backend_config());
    config.WriteTo(*i);
    return before != i->backend_config();
  }

 private:
  struct Bytes {
    int64_t plain, clamped;
  };

  static int64_t FirstStart(const Instruction& i) {
    return i.opcode() == Opcode::kDynamicSlice ? 1 : 2;
  }
  static const DimVector& SliceDims(const Instruction& i) {
    return i.opcode() == Opcode::kDynamicSlice ? i.shape().dims : i.operand(1)->shape().dims;
  }

  // Bytes from one element to the next along each dimension; nothing where the slice does not lie
  // in one piece: of the dimensions that it does not fill, all but the minor-most are of size 1.
  static std::optional<std::vector<int64_t>> Strides(const Instruction& i) {
    const Shape& shape = i.operand(0)->shape();
    const DimVector& slice = SliceDims(i);
    if (!shape.IsArray() || shape.rank() == 0 || shape.HasDynamicDims()) return std::nullopt;
    std::vector<int64_t> strides(shape.rank());
    int64_t bits = BitWidth(shape.type);
    bool is_partial = false;
    if (shape.type == ElementType::kPred) bits = 8;
    for (const int64_t d : shape.MinorToMajor()) {
      if (is_partial && slice[d] != 1) return std::nullopt;
      is_partial |= slice[d] != shape.dims[d];
      if (slice[d] != shape.dims[d] && bits % 8 != 0) return std::nullopt;
      strides[d] = bits / 8;
      bits *= shape.dims[d];
    }
    return strides;
  }

  std::optional<Bytes> At(const Instruction& i, const std::vector<int64_t>& strides) {
    const Shape& shape = i.operand(0)->shape();
    const DimVector& slice = SliceDims(i);
    if (i.operand_count() - FirstStart(i) != shape.rank()) return std::nullopt;  // starts in a list
    Bytes bytes{0, 0};
    for (int64_t d = 0; d < shape.rank(); ++d) {
      if (slice[d] == shape.dims[d]) continue;
      const Instruction* start = i.operand(FirstStart(i) + d);
      depth_ = 0;
      const std::optional<int64_t> value = Value(start);
      if (!value) return std::nullopt;
      const int64_t held = std::clamp<int64_t>(*value, 0, shape.dims[d] - slice[d]);
      bytes.clamped += held * strides[d];
      bytes.plain += (start->IsConstant() ? held : *value) * strides[d];
    }
    return bytes;
  }

  bool Progression(const Instruction& i, const std::vector<int64_t>& strides, int64_t& offset,
                   int64_t& stride) {
    std::vector<Bytes> all;
    for (round_ = 0; round_ < counter_.rounds; ++round_) {
      const std::optional<Bytes> bytes = At(i, strides);
      if (!bytes) return false;
      all.push_back(*bytes);
    }
    int64_t size = strides.empty() ? 0 : 1, slice = 1;
    const Shape& shape = i.operand(0)->shape();
    for (const int64_t d : shape.dims) size *= d;
    for (const int64_t d : SliceDims(i)) slice *= d;
    const int64_t width = ByteWidth(shape.type);
    const int64_t last = std::max<int64_t>(0, (size - slice) * width);
    const auto is_linear = [&](int64_t Bytes::*field) {
      stride = all.size() > 1 ? all[1].*field - all[0].*field : 0;
      for (size_t k = 1; k < all.size(); ++k)
        if (all[k].*field - all[k - 1].*field != stride) return false;
      offset = all[0].*field;
      return true;
    };
    if (is_linear(&Bytes::clamped)) return true;
    return is_linear(&Bytes::plain) && std::all_of(all.begin(), all.end(), [&](const Bytes& b) {
             return std::clamp<int64_t>(b.plain, 0, last) == b.clamped;
           });
  }

  const Instruction* OnlyCaller(const Computation& c) const {
    return callers_[c.id()].size() == 1 ? callers_[c.id()][0] : nullptr;
  }

  static const Instruction* BehindCopies(const Instruction* i) {
    while (i->opcode() == Opcode::kCopy) i = i->operand(0);
    return i;
  }

  // The counter, or what held it in the round before: a part that starts as a constant.
  std::optional<int64_t> PartOfState(const Instruction* part) {
    const Instruction* parameter = part->operand(0);
    if (!parameter->IsParameter()) return std::nullopt;
    const Instruction* loop = OnlyCaller(*parameter->parent());
    if (loop == nullptr || loop->opcode() != Opcode::kWhile ||
        loop->called(1) != parameter->parent())
      return std::nullopt;
    const std::optional<Counter> counter = Counter::Of(loop);
    if (!counter) return std::nullopt;
    int64_t init = counter->init;
    const bool is_delayed = part->tuple_index() != counter->part;
    if (is_delayed) {
      const Instruction *root = loop->called(1)->root(), *state = loop->operand(0);
      if (root->opcode() != Opcode::kTuple || state->opcode() != Opcode::kTuple)
        return std::nullopt;
      const Instruction* next = BehindCopies(root->operand(part->tuple_index()));
      const Instruction* start = BehindCopies(state->operand(part->tuple_index()));
      if (next->opcode() != Opcode::kGetTupleElement || next->operand(0) != parameter ||
          next->tuple_index() != counter->part || !start->IsConstant() ||
          start->literal() == nullptr || !IsInteger(start->shape().type))
        return std::nullopt;
      init = start->literal()->GetInt(0);
    }
    if (counter_.loop != nullptr && (counter_.loop != loop || is_delayed_ != is_delayed))
      return std::nullopt;  // of two loops
    counter_ = *counter;
    is_delayed_ = is_delayed;
    return init + round_ * counter->step;
  }

  std::optional<int64_t> Value(const Instruction* i) {
    constexpr int kMaxSteps = 1000;  // of what an index is computed from
    if (++depth_ > kMaxSteps) return std::nullopt;
    if (i->IsParameter()) {
      const Instruction* caller = OnlyCaller(*i->parent());
      if (caller == nullptr ||
          (caller->opcode() != Opcode::kFusion && caller->opcode() != Opcode::kCall &&
           caller->opcode() != Opcode::kAsyncStart))
        return std::nullopt;
      return Value(caller->operand(i->parameter_number()));
    }
    if (i->opcode() == Opcode::kGetTupleElement) return PartOfState(i);
    if (!i->shape().IsArray() || i->shape().ElementCount() != 1 ||
        !(IsInteger(i->shape().type) || IsPred(i->shape().type)))
      return std::nullopt;
    const std::optional<int64_t> value = Computed(i);
    return value ? std::optional(Wrapped(*value, i->shape().type)) : std::nullopt;
  }

  std::optional<int64_t> Computed(const Instruction* i) {
    if (i->IsConstant())
      return i->literal() == nullptr ? std::nullopt : std::optional(i->literal()->GetInt(0));
    std::vector<int64_t> values;
    if (i->opcode() == Opcode::kDynamicSlice) return Entry(i);
    for (const Instruction* operand : i->operands()) {
      const std::optional<int64_t> value = Value(operand);
      if (!value) return std::nullopt;
      values.push_back(*value);
    }
    switch (i->opcode()) {
      case Opcode::kReshape:
      case Opcode::kBitcast:
      case Opcode::kCopy:
      case Opcode::kConvert:
      case Opcode::kBroadcast:
        return values[0];
      case Opcode::kNegate:
        return Binary(Opcode::kSubtract, 0, values[0]);
      case Opcode::kSelect:
        return values[0] != 0 ? values[1] : values[2];
      case Opcode::kClamp:
        return std::min(std::max(values[0], values[1]), values[2]);
      case Opcode::kCompare:
        return Holds(i->attr<CompareAttrs>().direction, values[0], values[1]);
      default:
        return values.size() == 2 ? Binary(i->opcode(), values[0], values[1]) : std::nullopt;
    }
  }

  // An entry of a constant list.
  std::optional<int64_t> Entry(const Instruction* i) {
    const Instruction* list = i->operand(0);
    if (!list->IsConstant() || list->literal() == nullptr || list->shape().rank() != 1)
      return std::nullopt;
    const std::optional<int64_t> at = Value(i->operand(1));
    if (!at) return std::nullopt;
    return list->literal()->GetInt(std::clamp<int64_t>(*at, 0, list->shape().dims[0] - 1));
  }

  std::vector<std::vector<Instruction*>> callers_;  // by computation id
  Counter counter_;                                 // of the loop that the slice at hand depends on
  bool is_delayed_ = false;
  int64_t round_ = 0;
  int depth_ = 0;
};

absl::StatusOr<bool> AnnotateSlices(Module& module) {
  Annotator annotator(module);
  bool changed = false;
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->PostOrder())
      if (i->opcode() == Opcode::kDynamicSlice || i->opcode() == Opcode::kDynamicUpdateSlice)
        changed |= annotator.Annotate(i);
  return changed;
}

}  // namespace

// dynamic-slice-annotator: writes into the backend_config of a dynamic-slice or
// dynamic-update-slice whose slice is contiguous at which byte it lies, and how far it moves in
// each round of the loop whose counter (known_induction_variable, known_init_step and
// known_trip_count of its backend_config) its start is computed from. Values stay as they were.
// Cost: the rounds of the loop.
std::unique_ptr<Pass> CreateDynamicSliceAnnotator() {
  return MakeModulePass("dynamic-slice-annotator", AnnotateSlices);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
