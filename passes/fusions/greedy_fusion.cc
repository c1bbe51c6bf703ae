// Loops fused one producer at a time; see the header.
//   a = add(x, y); m = multiply(a, z); n = negate(m)
//     ->   n = fusion(x, y, z) [add, multiply, negate]
// Consumers from the last to the first take their producers in, the latest first, and then what
// these read. A producer that others read too is copied into each where that is cheap:
// - it is no costly function and no gather, and is read at each place once;
// - it has no more elements to read than it gives, or one large array only, or all that read it, on
//   all ways, take it in.
// Constants come with loops of two instructions and more, and only small ones. An update in place
// ends a loop, which reads nothing else of what it writes over, and so does a sum with a product
// of a matrix and a vector. A fusion whose code would spell one producer out more than
// kMaxSpelledOut times, or a loop or branches twice, does not take it in.
// Cost: linear in the producers taken in, but that a costly one that several read looks at the
// consumer's body; ways are searched once for each pair.
#include "passes/fusions/greedy_fusion.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/module.h"
#include "passes/fusions/fused_producer.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/matchers.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxConstant = 1;    // elements of constants in loops
constexpr size_t kMaxSpelledOut = 15;  // times that a body spells a producer out

bool MovesInLoop(Opcode opcode) {
  switch (opcode) {
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kGather:
    case Opcode::kIota:
    case Opcode::kPad:
    case Opcode::kReduce:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return true;
    default:
      return false;
  }
}

bool IsLoopKernel(const Instruction& i) {
  if (HasControlEdges(i)) return false;
  if (i.opcode() == Opcode::kFusion) return i.attr<FusionAttrs>().kind == FusionKind::kLoop;
  if (!i.shape().IsArray() && i.opcode() != Opcode::kReduce) return false;
  return (HasTrait(i.opcode(), kElementwise) && i.operand_count() > 0) || MovesInLoop(i.opcode());
}

// A product of a matrix and a vector that stays in a core's nearest cache may be a loop that
// computes the matrix as it goes.
constexpr int64_t kMaxVectorBytes = 16 * 1024;

bool TakesMatrix(const Instruction& dot, const Instruction& matrix) {
  if (dot.opcode() != Opcode::kDot || dot.shape().rank() > 1) return false;
  for (int64_t side : {0, 1}) {
    const Shape& vector = dot.operand(1 - side)->shape();
    if (dot.operand(side) == &matrix && vector.rank() == 1 && TotalBytes(vector) < kMaxVectorBytes)
      return true;
  }
  return false;
}

// A sum with a product of a matrix and a vector that nobody else reads: it ends a loop.
bool AddsToProduct(const Instruction& add) {
  return add.opcode() == Opcode::kAdd && absl::c_any_of(add.operands(), [](const Instruction* x) {
           return x->opcode() == Opcode::kDot && x->shape().rank() == 1 &&
                  x->shape().ElementCount() > 1 && !IsComplex(x->shape().type) &&
                  x->attr<DotAttrs>().lhs_batch_dims.empty() && x->users().size() == 1;
         });
}

bool IsCostlyToRepeat(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kAtan2:
    case Opcode::kCbrt:
    case Opcode::kErf:
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kLogistic:
    case Opcode::kPower:
    case Opcode::kReduce:
    case Opcode::kRsqrt:
    case Opcode::kSqrt:
    case Opcode::kTan:
    case Opcode::kTanh:
    case Opcode::kFusion:
    case Opcode::kRemainder:
      return true;
    case Opcode::kConvert:  // what was rounded is not rounded again
      return IsFloat(i.shape().type) && BitWidth(i.shape().type) == 16 &&
             BitWidth(i.operand(0)->shape().type) > 16;
    case Opcode::kDivide:
      return !IsInteger(i.shape().type) || SplatValue(i.operand(1)) == nullptr;
    default:
      return false;
  }
}

// How a consumer reads an array: not, each element often, once in another order, once in order.
enum class Reading { kNone, kAgain, kMoved, kOnce };

// Of two readings by one instruction.
Reading Both(Reading a, Reading b) {
  if (a == Reading::kNone) return b;
  if (b == Reading::kNone) return a;
  return a == Reading::kOnce && b == Reading::kOnce ? Reading::kOnce : Reading::kAgain;
}

Reading ReadingOf(const Instruction& user, int64_t k);

// How a body's root reads what `from` is read as `start` by: by all that leads from one to the
// other.
Reading ReadingInBody(const Computation& body, const Instruction* from, Reading start) {
  absl::flat_hash_map<const Instruction*, Reading> readings;
  for (const Instruction* i : body.PostOrder()) {
    if (i == from) {
      readings[i] = start;
      continue;
    }
    Reading reading = Reading::kNone;
    for (int64_t k = 0; k < i->operand_count(); ++k) {
      const Reading before = readings.at(i->operand(k));
      if (before != Reading::kNone) reading = Both(reading, std::min(before, ReadingOf(*i, k)));
    }
    readings[i] = reading;
  }
  return readings.at(body.root());
}

Reading ReadingOf(const Instruction& user, int64_t k) {
  switch (user.opcode()) {
    case Opcode::kBitcast:
    case Opcode::kConcatenate:
    case Opcode::kReshape:
    case Opcode::kReverse:
    case Opcode::kSlice:
    case Opcode::kTranspose:
      return Reading::kMoved;
    case Opcode::kPad:
    case Opcode::kReduce:
      return k == 0 ? Reading::kMoved : Reading::kAgain;
    case Opcode::kDynamicSlice:
    case Opcode::kGather:
      return k == 0 ? Reading::kMoved : Reading::kOnce;
    case Opcode::kDynamicUpdateSlice:
      return k < 2 ? Reading::kOnce : Reading::kAgain;
    case Opcode::kFusion:
      return ReadingInBody(*user.to_apply(), user.to_apply()->parameter(k), Reading::kOnce);
    case Opcode::kBroadcast:
      return user.shape().ElementCount() > user.operand(0)->shape().ElementCount() ? Reading::kAgain
                                                                                   : Reading::kOnce;
    default:
      return HasTrait(user.opcode(), kElementwise) ? Reading::kOnce : Reading::kAgain;
  }
}

// How a body that takes producers in, and changes in no other way, reads what is in it: what leads
// from an instruction to the root stays. Cost: what is read by one instruction is followed to the
// first that is known.
class BodyReadings {
 public:
  Reading Of(const Computation& body, const Instruction* value) {
    Reading reading = Reading::kOnce;
    std::vector<Key> way;  // all with the reading at the root that the last has
    while (!value->IsRoot()) {
      if (!value->IsParameter()) {
        if (const auto found = known_.find({value, reading}); found != known_.end()) {
          reading = found->second;
          break;
        }
        way.push_back({value, reading});
      }
      const auto& users = value->users();
      const bool one = !users.empty() && absl::c_all_of(users, [&](const Instruction* user) {
        return user == users[0];
      });
      if (!one) {
        reading = ReadingInBody(body, value, reading);
        break;
      }
      reading = ReadBy(*users[0], *value, reading);
      value = users[0];
    }
    for (const Key& key : way) known_[key] = reading;
    return reading;
  }

 private:
  using Key = std::pair<const Instruction*, Reading>;

  static Reading ReadBy(const Instruction& user, const Instruction& value, Reading before) {
    Reading reading = Reading::kNone;
    for (int64_t k = 0; k < user.operand_count(); ++k)
      if (user.operand(k) == &value) reading = Both(reading, std::min(before, ReadingOf(user, k)));
    return reading;
  }

  absl::flat_hash_map<Key, Reading> known_;
};

// Whether elements of `x` are read for several elements of the result. `readings` are those of the
// user's body, if it is a fusion.
bool ReadsAgain(const Instruction& user, const Instruction& x, BodyReadings& readings) {
  for (int64_t k = 0; k < user.operand_count(); ++k) {
    if (user.operand(k) != &x) continue;
    const Reading reading = user.opcode() == Opcode::kFusion
                                ? readings.Of(*user.to_apply(), user.to_apply()->parameter(k))
                                : ReadingOf(user, k);
    if (reading == Reading::kAgain) return true;
  }
  return false;
}

// At most one operand is as large as the result, what costs nothing left out.
bool ReadsOneArray(const Instruction& i) {
  int64_t large = 0;
  for (const Instruction* x : i.operands()) {
    if (x->opcode() == Opcode::kBroadcast || x->opcode() == Opcode::kIota) continue;
    if (x->IsConstant() && x->shape().ElementCount() == 1) continue;
    large += x->shape().rank() >= i.shape().rank();
  }
  return large <= 1;
}

int64_t ElementsIn(const Shape& shape) {
  int64_t count = shape.IsArray() ? shape.ElementCount() : 0;
  for (const Shape& element : shape.elements) count += ElementsIn(element);
  return count;
}

bool ReadsNoMoreThanItGives(const Instruction& i) {
  std::set<const Instruction*> operands(i.operands().begin(), i.operands().end());
  int64_t read = 0;
  for (const Instruction* x : operands) read += ElementsIn(x->shape());
  return read <= ElementsIn(i.shape());
}

// Whether the code that computes an element of `user` asks for `x` at the same index, or at one
// that is no other for any of its readers.
bool ReadsAtItsIndex(const Instruction& user, const Instruction& x) {
  return user.opcode() == Opcode::kTranspose ||
         (x.shape().IsArray() && user.shape().IsArray() && x.shape().dims == user.shape().dims &&
          x.shape().MinorToMajor() == user.shape().MinorToMajor());
}

// How often each instruction of a body is spelled out in a loop's code: once for each index at
// which it is asked for. Kept up to date while the body takes producers in.
class SpelledOut {
 public:
  explicit SpelledOut(const Computation& body) {
    const std::vector<Instruction*> order = body.PostOrder();
    for (size_t k = order.size(); k-- > 0;) {
      const Instruction* i = order[k];
      if (i->IsRoot()) indices_[i].insert(i);
      for (const Instruction* user : i->users()) AddReader(i, user);
      Count(i);
    }
  }

  // `copy` computes what `parameter`, which is gone, stood for.
  void Took(const Instruction* parameter, const Instruction* copy) {
    std::set<const Instruction*> indices = std::move(indices_[parameter]);
    indices_.erase(parameter);
    if (indices.erase(parameter) > 0) indices.insert(copy);  // it was the root
    indices_[copy] = std::move(indices);
    times_[copy] = times_[parameter];
    times_.erase(parameter);
    for (const Instruction* x : copy->operands()) {
      AddReader(x, copy);
      Count(x);
    }
  }

  size_t Times(const Instruction* i) const { return times_.at(i); }

 private:
  void AddReader(const Instruction* i, const Instruction* user) {
    std::set<const Instruction*>& indices = indices_[i];
    if (ReadsAtItsIndex(*user, *i)) {
      const auto& of_user = indices_[user];
      indices.insert(of_user.begin(), of_user.end());
    } else {
      indices.insert(user);
    }
  }
  void Count(const Instruction* i) {
    size_t count = 0;
    for (const Instruction* at : indices_[i]) count += at == i ? 1 : times_[at];
    times_[i] = count;
  }

  std::map<const Instruction*, std::set<const Instruction*>> indices_;
  std::map<const Instruction*, size_t> times_;
};

// What is known of the body of a fusion that takes producers in.
struct BodyFacts {
  std::optional<SpelledOut> spelled;  // counted when first asked for
  BodyReadings readings;
};

// Whether each reader gets code of its own: what has a loop or branches.
bool IsSpelledOutByReader(const Instruction& i) {
  return i.opcode() == Opcode::kReduce || i.opcode() == Opcode::kConcatenate ||
         i.opcode() == Opcode::kPad || i.opcode() == Opcode::kGather;
}

// The array outside that a dynamic-update-slice at a loop's end writes over; null for none.
const Instruction* UpdatedArray(const Instruction& kernel) {
  const Instruction* i = kernel.opcode() == Opcode::kFusion ? kernel.to_apply()->root() : &kernel;
  while (i->opcode() == Opcode::kBitcast) i = i->operand(0);
  if (i->opcode() != Opcode::kDynamicUpdateSlice) return nullptr;
  i = i->operand(0);
  if (kernel.opcode() != Opcode::kFusion) return i;
  return i->IsParameter() ? kernel.operand(i->parameter_number()) : nullptr;
}

// Whether a dynamic-slice has the indices, as the consumer reads them, of its update.
bool IsAtUpdate(const Instruction& slice, const Instruction& consumer) {
  if (slice.opcode() != Opcode::kDynamicSlice) return false;
  const bool fused = consumer.opcode() == Opcode::kFusion;
  const Instruction* update = fused ? consumer.to_apply()->root() : &consumer;
  while (update->opcode() == Opcode::kBitcast) update = update->operand(0);
  if (update->operand(1)->shape().dims != slice.shape().dims) return false;
  for (int64_t k = 1; k < slice.operand_count(); ++k) {
    const Instruction* index = update->operand(k + 1);
    if (fused && index->IsParameter()) index = consumer.operand(index->parameter_number());
    const bool same_constant = index->IsConstant() && slice.operand(k)->IsConstant() &&
                               IntegerSplat(index) == IntegerSplat(slice.operand(k));
    if (index != slice.operand(k) && !same_constant) return false;
  }
  return true;
}

// Whether the producer reads, at other places, what the consumer writes over.
bool ReadsWhatIsUpdated(const Instruction& producer, const Instruction& consumer) {
  const Instruction* updated = UpdatedArray(consumer);
  return updated != nullptr && !IsAtUpdate(producer, consumer) &&
         !HasTrait(producer.opcode(), kElementwise) &&
         std::find(producer.operands().begin(), producer.operands().end(), updated) !=
             producer.operands().end();
}

class GreedyFuser {
 public:
  GreedyFuser(Computation& c, RewriteControl& control) : c_(c), control_(control) {}

  bool Run() {
    const std::vector<Instruction*> order = c_.PostOrder();
    for (size_t k = 0; k < order.size(); ++k) place_[order[k]] = static_cast<int64_t>(k);
    FindKept(order);
    std::vector<Instruction*> queue = order;
    bool changed = false;
    while (!queue.empty()) {
      Instruction* consumer = queue.back();
      queue.pop_back();
      if (gone_.contains(consumer)) continue;
      facts_ = {};
      while (Instruction* producer = NextProducer(consumer)) {
        consumer = TakeIn(producer, consumer);
        changed = true;
      }
    }
    return changed;
  }

 private:
  // Producers that no consumer takes in, for one of them could not.
  void FindKept(absl::Span<Instruction* const> order) {
    for (size_t k = order.size(); k-- > 0;) {
      Instruction* consumer = order[k];
      for (Instruction* producer : consumer->operands()) {
        if (kept_.contains(producer) || ReadsOneArray(*producer) ||
            ReadsNoMoreThanItGives(*producer))
          continue;
        std::map<std::pair<const Instruction*, const Instruction*>, bool> known;
        if (!OnAllWays(producer, consumer, known)) kept_.insert(producer);
      }
    }
  }

  // Whether every way from the producer to the consumer can be fused.
  bool OnAllWays(const Instruction* producer, Instruction* consumer,
                 std::map<std::pair<const Instruction*, const Instruction*>, bool>& known) {
    if (producer == consumer) return true;
    if (!IsFusible(*consumer)) return false;
    const auto [found, is_new] = known.try_emplace({producer, consumer}, true);
    if (!is_new) return found->second;
    bool all = true;
    for (Instruction* x : consumer->operands()) {
      if (!Reaches(producer, x)) continue;
      BodyFacts facts;
      all = !kept_.contains(x) && ShouldFuse(*x, *consumer, facts) && OnAllWays(producer, x, known);
      if (!all) break;
    }
    return known[{producer, consumer}] = all;
  }

  bool Reaches(const Instruction* from, const Instruction* to) {
    if (from == to) return true;
    if (place_.at(to) < place_.at(from)) return false;
    std::vector<const Instruction*> open = {to};
    absl::flat_hash_set<const Instruction*> seen;
    while (!open.empty()) {
      const Instruction* i = open.back();
      open.pop_back();
      for (const Instruction* x : i->operands()) {
        if (x == from) return true;
        if (place_.at(x) > place_.at(from) && seen.insert(x).second) open.push_back(x);
      }
    }
    return false;
  }

  static bool IsFusible(const Instruction& i) {
    return i.opcode() != Opcode::kParameter && i.opcode() != Opcode::kWhile &&
           i.opcode() != Opcode::kConditional && i.opcode() != Opcode::kCall &&
           !HasTrait(i.opcode(), kSideEffect);
  }

  // The latest of its operands that the consumer should take in.
  Instruction* NextProducer(Instruction* consumer) {
    std::vector<Instruction*> producers(consumer->operands().begin(), consumer->operands().end());
    std::sort(producers.begin(), producers.end(), [&](const Instruction* a, const Instruction* b) {
      return place_.at(a) > place_.at(b);
    });
    for (Instruction* producer : producers)
      if (IsFusible(*producer) && !kept_.contains(producer) &&
          ShouldFuse(*producer, *consumer, facts_) &&
          control_.Permit("fusion", *producer, *consumer))
        return producer;
    return nullptr;
  }

  static bool WouldCopy(const Instruction& producer, const Instruction& consumer) {
    return std::any_of(producer.users().begin(), producer.users().end(),
                       [&](const Instruction* user) { return user != &consumer; });
  }

  static bool ShouldFuse(const Instruction& producer, const Instruction& consumer,
                         BodyFacts& facts) {
    if (producer.IsConstant())
      return consumer.opcode() == Opcode::kFusion && IsLoopKernel(consumer) &&
             producer.shape().ElementCount() <= kMaxConstant && producer.literal() != nullptr;
    if (!IsLoopKernel(producer) || !producer.shape().IsArray() ||
        (!IsLoopKernel(consumer) && !TakesMatrix(consumer, producer)) ||
        producer.opcode() == Opcode::kFusion || producer.opcode() == Opcode::kDynamicUpdateSlice)
      return false;
    if ((IsCostlyToRepeat(producer) || producer.opcode() == Opcode::kGather) &&
        WouldCopy(producer, consumer))
      return false;
    if (IsCostlyToRepeat(producer) && ReadsAgain(consumer, producer, facts.readings)) return false;
    if (AddsToProduct(producer)) return false;
    if (ReadsWhatIsUpdated(producer, consumer)) return false;
    return consumer.opcode() != Opcode::kFusion ||
           !SpelledOutTooOften(producer, consumer, facts.spelled);
  }

  static bool SpelledOutTooOften(const Instruction& producer, const Instruction& fusion,
                                 std::optional<SpelledOut>& spelled) {
    if (producer.opcode() == Opcode::kBroadcast) return false;
    if (IsSpelledOutByReader(producer) && producer.users().size() > 1) return true;
    if (!spelled) spelled.emplace(*fusion.to_apply());
    size_t times = 0;
    for (int64_t k = 0; k < fusion.operand_count(); ++k) {
      if (fusion.operand(k) != &producer) continue;
      const Instruction* parameter = fusion.to_apply()->parameter(k);
      const size_t here = spelled->Times(parameter);
      const bool again = here > 1 || parameter->users().size() > 1;
      times += IsSpelledOutByReader(producer) && again ? kMaxSpelledOut + 1 : here;
    }
    return times > kMaxSpelledOut;
  }

  // Where a fusion's body reads `x`; null where the consumer is none.
  static const Instruction* ParameterFor(const Instruction* x, const Instruction& consumer) {
    if (consumer.opcode() != Opcode::kFusion) return nullptr;
    const auto operands = consumer.operands();
    return consumer.to_apply()->parameter(std::find(operands.begin(), operands.end(), x) -
                                          operands.begin());
  }

  Instruction* TakeIn(Instruction* producer, Instruction* consumer) {
    const int64_t place = place_.at(consumer);
    place_.erase(consumer);
    gone_.insert(consumer);
    const Instruction* parameter = ParameterFor(producer, *consumer);
    Instruction* fusion = fuser_.Fuse(producer, consumer);
    if (fuser_.taken() == nullptr)
      facts_ = {};
    else if (facts_.spelled)
      facts_.spelled->Took(parameter, fuser_.taken());
    gone_.erase(fusion);  // at the place of one that is gone
    place_[fusion] = place;
    if (producer->users().empty() && !producer->IsRoot()) {
      gone_.insert(producer);
      c_.Remove(producer);
    }
    return fusion;
  }

  Computation& c_;
  RewriteControl& control_;
  ProducerFuser fuser_;
  BodyFacts facts_;  // of the consumer
  absl::flat_hash_map<const Instruction*, int64_t> place_;
  absl::flat_hash_set<const Instruction*> kept_, gone_;
};

}  // namespace

bool FuseGreedily(Computation& c, RewriteControl& control) { return GreedyFuser(c, control).Run(); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
