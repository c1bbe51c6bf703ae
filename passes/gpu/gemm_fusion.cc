// triton-gemm-rewriter: a dot and what surrounds it, as one fusion that Triton compiles.
//   dot(convert(a), bitcast(add(b, c)))
//     ->  fusion(a, bitcast(b), bitcast(c)){dot(convert(a), add(b, c))}
// From each operand of the dot backward, and from the dot forward, instructions are taken in that
// compute element by element, broadcast, transpose or only name the elements otherwise. Those that
// only rename (bitcast, reshape) leave the fusion: all else in it is written in the dimensions that
// the dot has, and the values that go in and come out are renamed outside. One side may have four
// parameters. A dot with nothing but renaming around it stays, as cuBLAS is as fast.
//
// Method: every value in the fusion is an instruction of the old computation and the dimensions it
// has inside, with the same elements in row-major order. Going from a value to its operands maps
// these dimensions (Through). Cost: linear in what is fused.
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/gpu/backend_config.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxParameters = 4;  // of one side of the dot

// Whether Triton has arrays of the type.
bool HasType(ElementType type) {
  switch (type) {
    case ElementType::kPred:
    case ElementType::kS8:
    case ElementType::kS16:
    case ElementType::kS32:
    case ElementType::kF16:
    case ElementType::kBF16:
    case ElementType::kF32:
      return true;
    default:
      return false;
  }
}

bool IsPlain(const Instruction* i) {
  return i->shape().IsArray() && i->shape().IsRowMajor() && !i->shape().HasDynamicDims() &&
         HasType(i->shape().type) && i->shape().ElementCount() > 0;
}

bool IsRenaming(const Instruction* i) {
  return (i->opcode() == Opcode::kBitcast || i->opcode() == Opcode::kReshape) && IsPlain(i) &&
         IsPlain(i->operand(0)) && i->shape().type == i->operand(0)->shape().type;
}

bool IsElementwise(const Instruction* i) {
  return HasTrait(i->opcode(), kElementwise) && i->called().empty() && i->operand_count() > 0 &&
         i->operand_count() <= 3 && !i->HasSideEffect() &&
         std::all_of(i->operands().begin(), i->operands().end(), [&](const Instruction* x) {
           return SameDims(x->shape(), i->shape()) && IsPlain(x);
         });
}

// A value of the old computation with the dimensions that it has in the fusion.
struct Value {
  Instruction* i = nullptr;
  DimVector dims;
  bool operator<(const Value& other) const {
    return std::make_pair(i->id(), dims) < std::make_pair(other.i->id(), other.dims);
  }
};

// The least runs of dimensions of `from` and `to` that hold the same elements: ends in each. Size-1
// dimensions at the end belong to the last run.
struct Run {
  int64_t from_begin, from_end, to_begin, to_end;
};

std::vector<Run> RunsOf(const DimVector& from, const DimVector& to) {
  const Shape a = RowMajor(ElementType::kF32, from), b = RowMajor(ElementType::kF32, to);
  std::vector<Run> runs;
  int64_t x = 0, y = 0;
  while (x < a.rank() && y < b.rank()) {
    Run run{x, 0, y, 0};
    GroupEnd(a, b, x, y);
    run.from_end = x;
    run.to_end = y;
    runs.push_back(run);
  }
  if (!runs.empty()) {
    runs.back().from_end = a.rank();
    runs.back().to_end = b.rank();
  }
  return runs;
}

// What `i` with dimensions `dims` reads, in the fusion's dimensions, and the dimension numbers of
// the broadcast or transpose that it then is.
struct Reading {
  std::vector<Value> operands;
  DimVector numbers;
};

std::optional<Reading> ThroughBroadcast(const Value& value) {
  const DimVector& where = value.i->attr<BroadcastAttrs>().dimensions;
  Reading reading;
  DimVector operand;
  for (const Run& run : RunsOf(value.i->shape().dims, value.dims)) {
    int64_t kept = 0;
    for (int64_t d = run.from_begin; d < run.from_end; ++d)
      kept +=
          std::find(where.begin(), where.end(), d) != where.end() || value.i->shape().dims[d] == 1;
    const bool all = kept == run.from_end - run.from_begin;
    const bool broadcast = std::none_of(where.begin(), where.end(), [&](int64_t d) {
      return d >= run.from_begin && d < run.from_end;
    });
    if (broadcast) continue;
    if (!all) return std::nullopt;
    for (int64_t d = run.to_begin; d < run.to_end; ++d) {
      operand.push_back(value.dims[d]);
      reading.numbers.push_back(d);
    }
  }
  // A degenerate dimension that is broadcast reads a size that its operand has not.
  const Shape& x = value.i->operand(0)->shape();
  if (RowMajor(x.type, operand).ElementCount() != x.ElementCount() ||
      !std::is_sorted(where.begin(), where.end()))
    return std::nullopt;
  reading.operands = {{value.i->operand(0), operand}};
  return reading;
}

std::optional<Reading> ThroughTranspose(const Value& value) {
  const DimVector& order = value.i->attr<DimensionsAttrs>().dimensions;
  struct Piece {
    int64_t first;  // the operand's dimension
    DimVector dims, places;
  };
  std::vector<Piece> pieces;
  for (const Run& run : RunsOf(value.i->shape().dims, value.dims)) {
    Piece piece{order[run.from_begin], {}, {}};
    for (int64_t d = run.from_begin; d < run.from_end; ++d)
      if (order[d] != piece.first + d - run.from_begin) return std::nullopt;
    for (int64_t d = run.to_begin; d < run.to_end; ++d) {
      piece.dims.push_back(value.dims[d]);
      piece.places.push_back(d);
    }
    pieces.push_back(std::move(piece));
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.first < b.first; });
  Reading reading;
  DimVector operand;
  reading.numbers.assign(value.dims.size(), 0);
  for (const Piece& piece : pieces)
    for (size_t k = 0; k < piece.dims.size(); ++k) {
      reading.numbers[piece.places[k]] = static_cast<int64_t>(operand.size());
      operand.push_back(piece.dims[k]);
    }
  reading.operands = {{value.i->operand(0), operand}};
  return reading;
}

std::optional<Reading> Through(const Value& value) {
  const Instruction* i = value.i;
  if (!IsPlain(i) || HasControlEdges(*i)) return std::nullopt;
  for (const Instruction* x : i->operands())
    if (!IsPlain(x)) return std::nullopt;
  if (i->shape().dims.empty() != value.dims.empty()) return std::nullopt;  // one element
  if (i->opcode() == Opcode::kBroadcast) return ThroughBroadcast(value);
  if (i->opcode() == Opcode::kTranspose) return ThroughTranspose(value);
  if (!IsElementwise(i)) return std::nullopt;
  Reading reading;
  for (Instruction* x : i->operands()) reading.operands.push_back({x, value.dims});
  return reading;
}

// Behind what only renames.
Value WithoutRenaming(Value value) {
  while (IsRenaming(value.i) && !HasControlEdges(*value.i)) value.i = value.i->operand(0);
  return value;
}

// What is fused on one side of the dot.
class Side {
 public:
  // Takes in what `root` is computed from, breadth first, while the parameters stay few.
  explicit Side(const Value& root) : root_(WithoutRenaming(root)) {
    std::deque<Value> open = {root_};
    parameters_.insert(root_);
    std::vector<Value> later;
    bool grown = true;
    while (grown) {
      grown = false;
      while (!open.empty()) {
        const Value value = open.front();
        open.pop_front();
        if (!parameters_.contains(value)) continue;
        switch (Try(value, open)) {
          case Tried::kFused:
            grown = true;
            break;
          case Tried::kTooMany:
            later.push_back(value);
            break;
          case Tried::kNever:
            break;
        }
      }
      open.assign(later.begin(), later.end());
      later.clear();
    }
  }

  const Value& root() const { return root_; }
  bool ComputesAnything() const { return !fused_.empty(); }
  const std::map<Value, Reading>& fused() const { return fused_; }

 private:
  enum class Tried { kFused, kTooMany, kNever };

  Tried Try(const Value& value, std::deque<Value>& open) {
    if (value.i->IsConstant() && value.i->shape().IsScalar() && value.i->literal() != nullptr) {
      parameters_.erase(value);
      fused_[value] = {};
      return Tried::kFused;
    }
    std::optional<Reading> reading = Through(value);
    if (!reading || !IsWorthFusing(*value.i)) return Tried::kNever;
    for (Value& x : reading->operands) x = WithoutRenaming(x);
    std::set<Value> after = parameters_;
    after.erase(value);
    for (const Value& x : reading->operands)
      if (!fused_.contains(x) && !IsScalarConstant(x)) after.insert(x);
    if (static_cast<int64_t>(after.size()) > kMaxParameters) return Tried::kTooMany;
    parameters_ = std::move(after);
    for (const Value& x : reading->operands)
      if (IsScalarConstant(x))
        fused_[x] = {};
      else if (!fused_.contains(x))
        open.push_back(x);
    fused_[value] = *std::move(reading);
    return Tried::kFused;
  }
  static bool IsScalarConstant(const Value& x) {
    return x.i->IsConstant() && x.i->shape().IsScalar() && x.i->literal() != nullptr;
  }
  // Inputs that are hardly larger, or that nobody else reads, and that exist already: what is
  // computed for the dot alone is better made smaller first.
  static bool IsWorthFusing(const Instruction& i) {
    constexpr int64_t kTolerance = 1024;  // bytes
    int64_t bytes = -i.shape().ByteSize();
    for (const Instruction* x : i.operands()) bytes += x->shape().ByteSize();
    return bytes <= kTolerance ||
           (i.users().size() == 1 &&
            std::all_of(i.operands().begin(), i.operands().end(), [](const Instruction* x) {
              return (x->IsParameter() || x->IsConstant()) && x->users().size() == 1;
            }));
  }

  Value root_;
  std::map<Value, Reading> fused_;
  std::set<Value> parameters_;
};

// Writes the fusion's computation.
class Body {
 public:
  explicit Body(Computation& computation) : computation_(computation), r_(computation) {}
  Rewriter& rewriter() { return r_; }

  // The value in the fusion; instructions that several sides take in are written once for each.
  Instruction* Write(const Side& side) {
    std::map<Value, Instruction*> made;
    std::vector<Value> work = {side.root()};
    while (!work.empty()) {
      const Value value = work.back();
      if (made.contains(value)) {
        work.pop_back();
        continue;
      }
      const auto fused = side.fused().find(value);
      if (fused == side.fused().end()) {
        made[value] = Parameter(value);
        work.pop_back();
        continue;
      }
      bool ready = true;
      for (auto x = fused->second.operands.rbegin(); x != fused->second.operands.rend(); ++x)
        if (!made.contains(*x)) {
          work.push_back(*x);
          ready = false;
        }
      if (!ready) continue;
      work.pop_back();
      std::vector<Instruction*> operands;
      for (const Value& x : fused->second.operands) operands.push_back(made.at(x));
      made[value] = WriteOne(value, fused->second, operands);
    }
    return made.at(side.root());
  }

  Instruction* WriteOne(const Value& value, const Reading& reading,
                        absl::Span<Instruction* const> operands) {
    const Shape shape = RowMajor(value.i->shape().type, value.dims);
    Instruction* made = r_.Clone(value.i, shape, operands);
    if (value.i->IsConstant() && value.i->literal() != nullptr) {
      Literal renamed = *value.i->literal();
      renamed.set_shape(shape);
      made->mutable_attr<ConstantAttrs>().literal =
          std::make_shared<const Literal>(std::move(renamed));
    }
    if (value.i->opcode() == Opcode::kBroadcast)
      made->mutable_attr<BroadcastAttrs>().dimensions = reading.numbers;
    if (value.i->opcode() == Opcode::kTranspose)
      made->mutable_attr<DimensionsAttrs>().dimensions = reading.numbers;
    return made;
  }

  // What the fusion reads, in the dimensions it has inside.
  const std::vector<Value>& inputs() const { return inputs_; }

 private:
  Instruction* Parameter(const Value& value) {
    inputs_.push_back(value);
    return computation_.AddParameter(static_cast<int64_t>(inputs_.size()) - 1,
                                     RowMajor(value.i->shape().type, value.dims));
  }

  Computation& computation_;
  Rewriter r_;
  std::vector<Value> inputs_;
};

// The dimensions that a user of `value` has in the fusion, where it can be taken in behind the dot:
// the inverse of Through.
std::optional<DimVector> Behind(const Value& value, const Instruction* user, DimVector& numbers) {
  const DimVector& outside = value.i->shape().dims;
  if (outside.empty() != value.dims.empty()) return std::nullopt;  // one element by other names
  if (user->opcode() == Opcode::kBroadcast) {
    const DimVector& where = user->attr<BroadcastAttrs>().dimensions;
    if (!std::is_sorted(where.begin(), where.end())) return std::nullopt;
    DimVector dims;
    numbers.clear();
    int64_t next = 0;  // dimension of the user
    for (const Run& run : RunsOf(outside, value.dims)) {
      for (int64_t d = run.from_begin; d < run.from_end; ++d) {
        // Between the dimensions of one run nothing may be broadcast.
        if (d > run.from_begin && where[d] != where[d - 1] + 1) return std::nullopt;
      }
      while (next < where[run.from_begin]) dims.push_back(user->shape().dims[next++]);
      for (int64_t d = run.to_begin; d < run.to_end; ++d) {
        numbers.push_back(static_cast<int64_t>(dims.size()));
        dims.push_back(value.dims[d]);
      }
      next = where[run.from_end - 1] + 1;
    }
    while (next < user->shape().rank()) dims.push_back(user->shape().dims[next++]);
    return dims;
  }
  if (user->opcode() == Opcode::kTranspose) {
    const DimVector& order = user->attr<DimensionsAttrs>().dimensions;
    const std::vector<Run> runs = RunsOf(outside, value.dims);
    DimVector dims;
    numbers.clear();
    for (size_t d = 0; d < order.size();) {
      const auto run = std::find_if(runs.begin(), runs.end(),
                                    [&](const Run& r) { return r.from_begin == order[d]; });
      if (run == runs.end()) return std::nullopt;
      for (int64_t k = run->from_begin; k < run->from_end; ++k, ++d)
        if (d >= order.size() || order[d] != k) return std::nullopt;
      for (int64_t k = run->to_begin; k < run->to_end; ++k) {
        numbers.push_back(k);
        dims.push_back(value.dims[k]);
      }
    }
    return dims;
  }
  return IsElementwise(user) ? std::optional<DimVector>(value.dims) : std::nullopt;
}

bool CanFuse(const Instruction* dot) {
  if (dot->opcode() != Opcode::kDot || !IsPlain(dot) || HasControlEdges(*dot)) return false;
  const auto& attrs = dot->attr<DotAttrs>();
  for (const Instruction* x : dot->operands())
    if (!IsPlain(x)) return false;
  return attrs.lhs_contracting_dims.size() == 1 && attrs.lhs_batch_dims.size() <= 1;
}

// The fusion around a dot.
class GemmFusion {
 public:
  explicit GemmFusion(Instruction* dot)
      : dot_(dot),
        lhs_({dot->operand(0), dot->operand(0)->shape().dims}),
        rhs_({dot->operand(1), dot->operand(1)->shape().dims}) {
    FindEpilogue();
  }

  bool ComputesAnything() const {
    return lhs_.ComputesAnything() || rhs_.ComputesAnything() || !epilogue_.empty();
  }
  Instruction* result() const { return last_.i; }

  // The value that takes the result's place.
  Instruction* Make() {
    Computation& outer = *dot_->parent();
    Module& module = *outer.module();
    Computation* body = module.AddComputation("fused_computation");
    Body inside(*body);
    Instruction* left = inside.Write(lhs_);
    Instruction* right = inside.Write(rhs_);
    Instruction* value = inside.rewriter().Clone(dot_, dot_->shape(), {left, right});
    for (const Step& step : epilogue_) {
      std::vector<Instruction*> operands;
      for (const std::optional<Side>& other : step.others)
        operands.push_back(other ? inside.Write(*other) : value);
      value = inside.WriteOne(step.value, {{}, step.numbers}, operands);
    }
    body->set_root(value);
    Rewriter r(outer);
    r.set_subject(dot_);
    std::vector<Instruction*> operands;
    for (const Value& x : inside.inputs()) operands.push_back(Renamed(r, x.i, x.dims));
    Instruction* fusion =
        r.Add(Opcode::kFusion, value->shape(), operands, FusionAttrs{FusionKind::kCustom, {}});
    fusion->set_name(module.UniqueName(absl::StrCat("triton_gemm_", dot_->name())));
    fusion->set_called({body});
    BackendConfig config("");
    config.SetRaw("fusion_backend_config", R"({"kind":"__triton_gemm"})");
    config.WriteTo(*fusion);
    return Renamed(r, fusion, last_.i->shape().dims);
  }

 private:
  // An instruction behind the dot, and its operands but the value that comes from the dot.
  struct Step {
    Value value;
    DimVector numbers;
    std::vector<std::optional<Side>> others;
  };

  static Instruction* Renamed(Rewriter& r, Instruction* i, const DimVector& dims) {
    const Shape shape = RowMajor(i->shape().type, dims);
    return SameDims(shape, i->shape()) ? i : r.Add(Opcode::kBitcast, shape, {i});
  }

  // Follows the only reader of each value, past what only renames.
  void FindEpilogue() {
    last_ = {dot_, dot_->shape().dims};
    Value value = last_;
    int64_t parameters = 0;
    while (value.i->users().size() == 1 && !value.i->IsRoot()) {
      Instruction* user = value.i->users()[0];
      if (!IsPlain(user) || HasControlEdges(*user)) return;
      if (IsRenaming(user)) {
        value.i = user;
        continue;
      }
      Step step;
      const std::optional<DimVector> dims = Behind(value, user, step.numbers);
      if (!dims) return;
      step.value = {user, *dims};
      for (Instruction* x : user->operands()) {
        step.others.push_back(x == value.i ? std::nullopt
                                           : std::optional<Side>(Side({x, value.dims})));
        parameters += x != value.i;
      }
      if (parameters > kMaxParameters) return;
      epilogue_.push_back(step);
      last_ = value = step.value;
    }
  }

  Instruction* dot_;
  Side lhs_, rhs_;
  std::vector<Step> epilogue_;
  Value last_;  // the result, with its dimensions in the fusion
};

class GemmRewriter final : public ComputationPass {
 public:
  GemmRewriter(int64_t capability, int64_t size, bool any)
      : capability_(capability), size_(size), any_(any) {}
  absl::string_view name() const override { return "triton-gemm-rewriter"; }
  absl::StatusOr<bool> Run(Module& module) override {
    if (capability_ < 80)
      return absl::FailedPreconditionError(
          "Triton's products need a GPU of compute capability 8.0 or more");
    return ComputationPass::Run(module);
  }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    bool changed = false;
    // What stands behind a product goes with it; another product stays, as an input of the fusion.
    std::vector<Instruction*> dots;
    for (Instruction* i : c.PostOrder())
      if (CanFuse(i) && SizeOf(*i) >= size_) dots.push_back(i);
    for (Instruction* i : dots) {
      GemmFusion fusion(i);
      if (!any_ && !fusion.ComputesAnything()) continue;
      if (!control().Permit(name(), *i, *i)) continue;
      Instruction* old = fusion.result();
      Instruction* made = fusion.Make();
      old->ReplaceAllUsesWith(made);
      c.RemoveIfDead(old);
      changed = true;
    }
    if (changed) RemoveDead(c);
    return changed;
  }

 private:
  // As XLA measures a product against xla_gpu_gemm_rewrite_size_threshold.
  static int64_t SizeOf(const Instruction& dot) {
    const int64_t inner =
        dot.operand(0)->shape().dims[dot.attr<DotAttrs>().lhs_contracting_dims[0]];
    int64_t batch = 1;
    for (int64_t d : dot.attr<DotAttrs>().lhs_batch_dims) batch *= dot.operand(0)->shape().dims[d];
    const int64_t lhs = dot.operand(0)->shape().ElementCount() / (inner * batch);
    const int64_t rhs = dot.operand(1)->shape().ElementCount() / (inner * batch);
    return inner * (lhs + rhs);
  }

  int64_t capability_, size_;
  bool any_;
};

}  // namespace

// triton-gemm-rewriter: see above. Options: `capability`, the GPU's compute capability times ten
// (80); `min-size`: the number of contracted elements times that of the result's rows and columns,
// under which a dot stays (0; XLA's flag has 100); `any`, dots with nothing around them too (XLA's
// flag has it). Exact but for sums in other orders.
std::unique_ptr<Pass> CreateTritonGemmRewriter(PassArguments& arguments) {
  return std::make_unique<GemmRewriter>(
      arguments.Int("capability", 80, "the GPU's compute capability times 10"),
      arguments.Int("min-size", 0, "smaller dots stay"),
      arguments.Flag("any", "dots with nothing around them too"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
