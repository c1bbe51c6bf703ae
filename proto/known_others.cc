// The writer's counterpart of recurring.cc: a table from instructions to the bytes of their
// attributes. Two instructions share an entry if opcode, attributes and extras are equal, except
// for channel ids. The hash covers what usually differs; a match is always compared field by field.
#include "proto/known_others_internal.h"

#include <bit>
#include <optional>
#include <type_traits>
#include <utility>

#include "proto/encoding_internal.h"
#include "proto/instructions_internal.h"
#include "proto/wire_internal.h"
#include "support/status.h"
#include "support/text.h"

namespace hlokit {
namespace {

// Entries that are compared before an instruction counts as new.
constexpr int kMaxTries = 8;

// A hash of what tells attributes apart most of the time; what it leaves out is compared.
class Hash {
 public:
  uint32_t value() const { return static_cast<uint32_t>(state_ ^ state_ >> 32); }
  void Number(uint64_t number) {
    state_ = (state_ ^ number) * 0x9E3779B97F4A7C15u;
    state_ ^= state_ >> 29;
  }

  template <typename T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void Add(const T& value) { Number(static_cast<uint64_t>(value)); }
  // Zeros of either sign are equal, and differ here.
  void Add(const double& value) { Number(std::bit_cast<uint64_t>(value)); }
  void Add(const ResultAccuracy& accuracy) { Add(accuracy.atol), Add(accuracy.rtol); }
  void Add(const std::string& text) { Number(text.size() < 100 ? HashText(text) : text.size()); }
  void Add(const DimVector& list) { AddAll(list); }
  void Add(const RawText& text) { Add(text.text); }
  void Add(const SliceDim& dim) { Number(dim.start), Number(dim.limit), Number(dim.stride); }
  void Add(const PaddingDim& dim) { Number(dim.low), Number(dim.high), Number(dim.interior); }
  void Add(const WindowDim& dim) { Number(dim.size), Number(dim.stride), Number(dim.pad_low); }
  void Add(const std::pair<int64_t, int64_t>& pair) { Number(pair.first), Number(pair.second); }
  void Add(const ConvDims& dims) { Number(dims.input_batch), Number(dims.output_batch); }
  void Add(const ReplicaGroups& groups) {
    AddAll(groups.lists), AddAll(groups.iota_dims), AddAll(groups.reshape_dims);
  }
  template <typename T>
  void Add(const std::vector<T>& list) {
    AddAll(list);
  }
  template <typename T>
  void Add(const std::optional<T>& value) {
    Number(value.has_value());
    if (value) Add(*value);
  }
  void Add(const Sharding& sharding) {
    Add(sharding.kind), Add(sharding.tile_dims), Add(sharding.reshape_dims), Add(sharding.text);
    Number(sharding.elements.size());
  }
  template <typename T>
  void Add(const T&) {}

 private:
  template <typename List>
  void AddAll(const List& list) {
    Number(list.size());
    for (const auto& each : list) Add(each);
  }

  uint64_t state_ = 0;
};

bool IsChannel(absl::string_view field) { return field == "channel_id"; }

int64_t ChannelOf(const Instruction& instruction) {
  return VisitAttributes(instruction.opcode(), instruction.attributes(),
                         [](const auto& attributes) -> int64_t {
                           if constexpr (requires { attributes.channel_id; })
                             return attributes.channel_id.value_or(0);
                           return 0;
                         });
}

// The same attributes but for the number of a channel. Both are of one opcode.
bool SameAttributes(const Instruction& a, const Instruction& b) {
  if (a.attributes() == nullptr) return true;
  return VisitAttributes(a.opcode(), a.attributes(), [&](const auto& of_a) {
    using A = std::decay_t<decltype(of_a)>;
    if constexpr (!requires { of_a.channel_id; }) {
      return a.attributes()->Equals(*b.attributes());
    } else {
      const A& of_b = b.attr<A>();
      bool same = true;
      ForEachField<A>([&](const auto& field) {
        same = same && (IsChannel(field.name) || of_a.*field.member == of_b.*field.member);
      });
      return same;
    }
  });
}

uint32_t HashOthers(const Instruction& instruction) {
  Hash hash;
  hash.Add(instruction.opcode());
  VisitAttributes(instruction.opcode(), instruction.attributes(), [&](const auto& attributes) {
    using A = std::decay_t<decltype(attributes)>;
    ForEachField<A>([&](const auto& field) {
      if (!IsChannel(field.name)) hash.Add(attributes.*field.member);
    });
  });
  if (instruction.IsParameter()) hash.Add(instruction.parameter_number());
  if (instruction.IsConstant() && instruction.literal() != nullptr) {
    const Literal& literal = *instruction.literal();
    hash.Add(literal.type());
    hash.Number(HashText(
        {reinterpret_cast<const char*>(literal.data()), static_cast<size_t>(literal.byte_size())}));
  }
  if (!instruction.HasExtras()) return hash.value();
  const InstructionExtras& extras = instruction.extras();
  if (extras.sharding != nullptr) hash.Add(*extras.sharding);
  hash.Number(HashText(extras.backend_config));
  hash.Number(extras.frontend_attributes.size());
  hash.Number(HashText(extras.origin));
  return hash.value();
}

bool SameExtras(const InstructionExtras& a, const InstructionExtras& b) {
  const bool same_sharding = a.sharding == nullptr || b.sharding == nullptr
                                 ? a.sharding == b.sharding
                                 : *a.sharding == *b.sharding;
  return same_sharding && a.backend_config == b.backend_config &&
         a.frontend_attributes == b.frontend_attributes && a.statistics == b.statistics &&
         a.origin == b.origin && a.unknown == b.unknown;
}

// Some attributes' fields go by the number of operands, or by the type of the first.
bool SameOthers(const Instruction& a, const Instruction& b) {
  const int64_t operands = a.operand_count();
  if (a.opcode() != b.opcode() || operands != b.operand_count()) return false;
  if (operands > 0 && a.operand(0) != b.operand(0) &&
      (a.operand(0) == nullptr || b.operand(0) == nullptr ||
       a.operand(0)->shape().type != b.operand(0)->shape().type))
    return false;
  if (!SameAttributes(a, b)) return false;
  // Values are equal whatever their layouts.
  if (a.IsConstant() && a.literal() != nullptr && a.literal()->shape() != b.literal()->shape())
    return false;
  return (!a.HasExtras() && !b.HasExtras()) || SameExtras(a.extras(), b.extras());
}

// What XLA writes, empty, for every instruction.
constexpr absl::string_view kAlways("\xa2\x04\0\x92\x05\0", 6);

// Whether it says a number and nothing else, which most often is another one.
bool IsNumber(const Instruction& instruction) {
  if (instruction.HasExtras()) return false;
  return instruction.opcode() == Opcode::kGetTupleElement ||
         (instruction.IsParameter() && instruction.attr<ParameterAttrs>().replicated.empty());
}

// Whose bytes are worth keeping.
bool MayRecur(const Instruction& instruction) {
  if (instruction.opcode() == Opcode::kCustomCall)
    return instruction.attr<CustomCallAttrs>().literal == nullptr;
  if (!instruction.IsConstant() || instruction.literal() == nullptr) return true;
  const Literal& literal = *instruction.literal();
  return literal.shape().IsArray() && !literal.shape().HasDynamicDims() &&
         literal.byte_size() <= static_cast<int64_t>(kLongestKnown);
}

}  // namespace

absl::StatusOr<KnownOthers::Pieces> KnownOthers::Of(const Instruction& instruction) {
  if (instruction.attributes() == nullptr && !instruction.HasExtras())
    return Pieces{"", "", kAlways};
  if (IsNumber(instruction)) return Number(instruction);
  if (!MayRecur(instruction)) return Write(instruction);
  const uint32_t hash = HashOthers(instruction);
  if (const Entry* known = Find(instruction, hash)) {
    const char* const bytes = bytes_.data();
    return Pieces{{bytes + known->start, known->channel - known->start},
                  {bytes + known->channel, known->id - known->channel},
                  {bytes + known->id, known->end - known->id},
                  ChannelOf(instruction)};
  }
  ASSIGN_OR_RETURN(const Pieces pieces, Write(instruction));
  if (pieces.size() > kLongestKnown) return pieces;
  Entry entry = {&instruction, hash, static_cast<uint32_t>(bytes_.size())};
  const auto append = [&](absl::string_view piece, uint32_t& end) {
    bytes_.append(piece.data(), piece.size());
    end = static_cast<uint32_t>(bytes_.size());
  };
  append(pieces.before_channel, entry.channel);
  append(pieces.before_id, entry.id);
  append(pieces.after, entry.end);
  Add(entry);
  return pieces;
}

KnownOthers::Pieces KnownOthers::Number(const Instruction& instruction) {
  using Fields = pb::HloInstructionProto;
  number_.BackTo(0);
  number_.Reserve(WireWriter::kMaxAround);
  if (instruction.IsParameter()) {
    number_.Number(Fields::kParameterNumberFieldNumber, instruction.parameter_number());
  } else {
    number_.Number(Fields::kTupleIndexFieldNumber, instruction.tuple_index());
  }
  return Pieces{number_.view(), "", kAlways};
}

absl::StatusOr<KnownOthers::Pieces> KnownOthers::Write(const Instruction& instruction) {
  message_.Clear();
  RETURN_IF_ERROR(WriteOthers(instruction, &message_));
  written_.clear();
  AppendBytes(message_, written_);
  constexpr int kChannel = pb::HloInstructionProto::kChannelIdFieldNumber;
  const absl::string_view all = written_;
  const size_t channel = OffsetFrom(all, kChannel), next = OffsetFrom(all, kChannel + 1);
  const size_t id = OffsetFrom(all, pb::HloInstructionProto::kIdFieldNumber);
  return Pieces{all.substr(0, channel), all.substr(next, id - next), all.substr(id),
                ChannelOf(instruction)};
}

const KnownOthers::Entry* KnownOthers::Find(const Instruction& instruction, uint32_t hash) const {
  if (entries_.empty()) return nullptr;
  const size_t mask = entries_.size() - 1;
  size_t at = hash & mask;
  for (int tries = 0; tries < kMaxTries && entries_[at].like != nullptr; at = (at + 1) & mask) {
    if (entries_[at].hash != hash) continue;
    if (SameOthers(*entries_[at].like, instruction)) return &entries_[at];
    ++tries;
  }
  return nullptr;
}

void KnownOthers::Add(const Entry& entry) {
  if (2 * ++size_ >= entries_.size()) Grow();
  const size_t mask = entries_.size() - 1;
  size_t at = entry.hash & mask;
  while (entries_[at].like != nullptr) at = (at + 1) & mask;
  entries_[at] = entry;
}

void KnownOthers::Grow() {
  std::vector<Entry> old(entries_.empty() ? 64 : 2 * entries_.size());
  old.swap(entries_);
  const size_t mask = entries_.size() - 1;
  for (const Entry& entry : old) {
    if (entry.like == nullptr) continue;
    size_t at = entry.hash & mask;
    while (entries_[at].like != nullptr) at = (at + 1) & mask;
    entries_[at] = entry;
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
