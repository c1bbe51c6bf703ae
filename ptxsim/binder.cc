// Operands of instructions as columns of a frame.
//
// A frame holds 32 values (a warp's) for each register: a column. An op names columns by their
// offset, so that its function runs over 32 contiguous values, which compilers turn into vectors.
//   add.s32 %r3, %r1, 5;   ->   op{result: column of %r3, a: column of %r1, b: a column of 32
//   fives}
// Constants, symbols' addresses and narrower or wider registers get columns of temporaries, filled
// once when the kernel is decoded or by an op before. Decoding is linear in the text.
#include "ptxsim/binder.h"

#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ptxsim/block.h"
#include "ptxsim/decoder_internal.h"
#include "ptxsim/lanes.h"
#include "ptxsim/rounding.h"
#include "ptxsim/special.h"

namespace hlokit::ptx {
namespace {

struct Cast {
  template <typename R, typename A>
  struct To {
    static R Do(A a) { return static_cast<R>(a); }
  };
};

template <typename R, typename A>
constexpr Eval kCast = &Unary<Cast::To<R, A>, R, A>;

// Truncates or extends columns; both widths in bytes, of 1, 2, 4 and 8.
template <typename A>
Eval CastFrom(int to_bytes) {
  switch (to_bytes) {
    case 1:
      return kCast<uint8_t, A>;
    case 2:
      return kCast<uint16_t, A>;
    case 4:
      return kCast<uint32_t, A>;
    case 8:
      return kCast<uint64_t, A>;
    default:
      return nullptr;
  }
}

Eval CastOf(int from_bytes, int to_bytes, bool is_signed) {
  switch (from_bytes) {
    case 1:
      return is_signed ? CastFrom<int8_t>(to_bytes) : CastFrom<uint8_t>(to_bytes);
    case 2:
      return is_signed ? CastFrom<int16_t>(to_bytes) : CastFrom<uint16_t>(to_bytes);
    case 4:
      return is_signed ? CastFrom<int32_t>(to_bytes) : CastFrom<uint32_t>(to_bytes);
    case 8:
      return CastFrom<uint64_t>(to_bytes);
    default:
      return nullptr;
  }
}

void NotPredicate(const Op& op, std::byte* frame, void* result) {
  *static_cast<LaneMask*>(result) = ~PredicateAt(frame, op.a);
}

void LoadLocalBase(const Op& op, Warp& warp, LaneMask) {
  uint64_t* d = Out<uint64_t>(warp.frame(), op.d);
  const uint64_t base = static_cast<uint64_t>(warp.local_base() + op.offset);
  HLOKIT_LANES(i) d[i] = base;
}

// a + b * op.flags.
void IndexAddress(const Op& op, std::byte* frame, void* result) {
  const uint64_t* a = In<uint64_t>(frame, op.a);
  const uint64_t* b = In<uint64_t>(frame, op.b);
  uint64_t* d = static_cast<uint64_t*>(result);
  HLOKIT_LANES(i) d[i] = a[i] + b[i] * op.flags;
}

// The bits of a constant as `type` has them.
uint64_t BitsAs(const Operand& operand, Type type) {
  if (operand.kind == Operand::kInteger) {
    // ISA: an integer constant for a float operand is not allowed by ptxas, but 0 and 1 are seen.
    return operand.bits;
  }
  if (operand.is_single) {
    if (type == Type::kF64)
      return std::bit_cast<uint64_t>(
          static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(operand.bits))));
    return operand.bits;
  }
  const double value = std::bit_cast<double>(operand.bits);
  if (type == Type::kF32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  if (type == Type::kF16) return RoundToF16(value);
  if (type == Type::kBF16) return RoundToBF16(value);
  return operand.bits;
}

}  // namespace

Binder::Binder(FunctionDecoder& decoder, const Instruction& instruction, uint32_t index)
    : decoder_(decoder), instruction_(instruction), index_(index) {
  uses_.first_op = static_cast<uint32_t>(decoder.code().ops.size());
}

Code& Binder::code() { return decoder_.code(); }
uint32_t Binder::CarryColumn() { return decoder_.CarryColumn(); }

Type Binder::type(int i) const {
  for (absl::string_view modifier : instruction_.modifiers)
    if (const auto type = TypeNamed(modifier); type.has_value() && i-- == 0) return *type;
  return Type::kNone;
}

Space Binder::space() const {
  for (absl::string_view modifier : instruction_.modifiers)
    if (const auto space = SpaceNamed(modifier); space.has_value()) return *space;
  return Space::kGeneric;
}

int Binder::vector_size() const { return Has("v8") ? 8 : Has("v4") ? 4 : Has("v2") ? 2 : 1; }

void Binder::Error(SourcePlace place, const std::string& message) {
  if (!failed_) decoder_.program().out().Error(place, "", message);
  failed_ = true;
}

void Binder::Unsupported() {
  std::string name(instruction_.opcode);
  for (absl::string_view modifier : instruction_.modifiers) absl::StrAppend(&name, ".", modifier);
  Error(instruction_.place, absl::StrCat("instruction `", name, "` is not supported"));
}

void Binder::OrderMatters() { decoder_.program().program().order_matters = true; }

uint32_t Binder::Constant(uint64_t bits, int bytes, uint64_t high) {
  if (bytes > 0 && bytes < 8) bits &= (uint64_t{1} << 8 * bytes) - 1;
  return decoder_.Constant(bits, high, bytes);
}

uint32_t Binder::Temporary(int bytes) { return decoder_.NewColumn(bytes); }

uint32_t Binder::Convert(uint32_t at, int from_bytes, int to_bytes, bool is_signed) {
  const Eval eval = CastOf(from_bytes, to_bytes, is_signed);
  if (eval == nullptr) return at;
  Op op;
  op.eval = eval;
  op.result_bytes = static_cast<uint8_t>(to_bytes);
  op.d = Temporary(to_bytes);
  op.a = at;
  return Emit(op).d;
}

uint32_t Binder::Source(const Operand& operand, Type type) {
  const int bytes = type == Type::kPred ? 0 : BytesOf(type);
  switch (operand.kind) {
    case Operand::kInteger:
    case Operand::kFloat: {
      const uint64_t bits = BitsAs(operand, type);
      const bool negative = operand.kind == Operand::kInteger && static_cast<int64_t>(bits) < 0;
      return Constant(bits, bytes, negative ? ~uint64_t{0} : 0);
    }
    case Operand::kName:
      return SourceName(operand, type);
    case Operand::kSink:
      return Constant(0, bytes);
    default:
      Error(operand.place, "expected a register or a constant");
      return 0;
  }
}

uint32_t Binder::SourceName(const Operand& operand, Type type) {
  const int bytes = type == Type::kPred ? 0 : BytesOf(type);
  Slot slot = SourceSlot(operand, type);
  if (failed_) return 0;
  if ((slot.bytes == 0) != (bytes == 0)) {
    Error(operand.place, bytes == 0 ? "expected a predicate" : "a predicate does not fit here");
    return 0;
  }
  if (operand.negated && bytes != 0) {
    Error(operand.place, "only vmad takes negated operands");
    return 0;
  }
  if (operand.negated) {
    Op op;
    op.eval = &NotPredicate;
    op.d = Temporary(0);
    op.a = slot.at;
    return Emit(op).d;
  }
  if (slot.bytes == bytes) return slot.at;
  return Convert(slot.at, slot.bytes, bytes, IsSigned(type));
}

Slot Binder::SourceSlot(const Operand& operand, Type immediate) {
  if (operand.kind != Operand::kName)
    return {Source(operand, immediate),
            static_cast<uint8_t>(immediate == Type::kPred ? 0 : BytesOf(immediate))};
  Symbol storage;
  const Symbol* symbol = decoder_.Find(operand.name, instruction_.scope, storage);
  if (symbol != nullptr && symbol->kind == Symbol::kRegister) {
    const Slot slot = decoder_.RegisterColumn(symbol->index);
    uses_.reads.push_back(slot.at);
    return slot;
  }
  if (const auto special = SpecialNamed(operand.name); special.has_value()) {
    Op op = MakeExec(&ReadSpecial);
    op.mode = static_cast<uint8_t>(*special);
    op.d = Temporary(BytesOf(*special));
    return {Emit(op).d, static_cast<uint8_t>(BytesOf(*special))};
  }
  const int bytes = immediate == Type::kPred ? 8 : std::max(4, BytesOf(immediate));
  return {SymbolAddress(operand, bytes), static_cast<uint8_t>(bytes)};
}

// Bytes of an element of the array that an operand indexes.
int Binder::ElementBytes(const Operand& operand) const {
  Symbol storage;
  const Symbol* symbol = decoder_.Find(operand.name, instruction_.scope, storage);
  if (symbol != nullptr && symbol->kind == Symbol::kVariable) {
    const Variable& variable = decoder_.function().variables[symbol->index];
    return BytesOf(variable.type) * variable.vector;
  }
  if (const auto* place = decoder_.program().FindVariable(operand.name)) return place->element;
  for (const Variable& formal : decoder_.function().parameters)
    if (formal.name == operand.name) return BytesOf(formal.type) * formal.vector;
  return 1;
}

// The address of a variable, parameter or function, in its own space, or of an element of it.
uint32_t Binder::SymbolAddress(const Operand& operand, int bytes) {
  const int scale = operand.is_indexed ? ElementBytes(operand) : 0;
  const uint64_t offset = static_cast<uint64_t>(operand.offset) +
                          static_cast<uint64_t>(operand.elements) * static_cast<uint64_t>(scale);
  if (operand.parts.empty()) return BaseAddress(operand, offset, bytes);
  const Slot index = SourceSlot(operand.parts[0], Type::kB64);
  Op op = MakeEval(&IndexAddress, Type::kB64, 0);
  op.a = BaseAddress(operand, offset, 8);
  op.b = Convert(index.at, index.bytes, 8, false);
  op.flags = static_cast<uint32_t>(scale);
  op.d = Temporary(8);
  if (failed_) return 0;
  const uint32_t at = Emit(op).d;
  return bytes == 8 ? at : Convert(at, 8, bytes, false);
}

// The address of a variable, parameter or function plus `offset` bytes.
uint32_t Binder::BaseAddress(const Operand& operand, uint64_t offset, int bytes) {
  Symbol storage;
  const Symbol* symbol = decoder_.Find(operand.name, instruction_.scope, storage);
  int64_t local = decoder_.FormalOffset(operand.name);
  const ProgramDecoder::Place* place = nullptr;
  if (symbol != nullptr && symbol->kind == Symbol::kVariable) {
    local = decoder_.LocalOffset(symbol->index);
    place = &decoder_.VariablePlace(symbol->index);
  } else if (symbol == nullptr) {
    place = decoder_.program().FindVariable(operand.name);
  }
  if (local >= 0) {
    Op op = MakeExec(&LoadLocalBase);
    op.offset = local + static_cast<int64_t>(offset);
    op.d = Temporary(8);
    const uint32_t at = Emit(op).d;
    return bytes == 8 ? at : Convert(at, 8, bytes, false);
  }
  if (place != nullptr)
    return decoder_.Constant(place->address + offset, 0, bytes, place->is_dynamic);
  for (const auto& parameter : decoder_.program().program().parameters)
    if (decoder_.function().is_entry && parameter.name == operand.name)
      return Constant(kParamWindow + static_cast<uint64_t>(parameter.offset) + offset, bytes);
  if (const Function* function = decoder_.program().module().FindFunction(operand.name))
    return Constant(decoder_.program().AddressOf(*function), bytes);
  Error(operand.place, absl::StrCat("unknown name `", operand.name, "`"));
  return 0;
}

Slot Binder::ResultSlot(const Operand& operand) {
  if (operand.kind == Operand::kSink) return {};
  Symbol storage;
  const Symbol* symbol = operand.kind == Operand::kName
                             ? decoder_.Find(operand.name, instruction_.scope, storage)
                             : nullptr;
  if (symbol != nullptr && symbol->kind == Symbol::kRegister) {
    const Slot slot = decoder_.RegisterColumn(symbol->index);
    uses_.writes.push_back(slot.at);
    return slot;
  }
  Error(operand.place, operand.kind == Operand::kName
                           ? absl::StrCat("`", operand.name, "` is no register")
                           : std::string("expected a register"));
  return {};
}

uint32_t Binder::Result(const Operand& operand, Type type) {
  const int bytes = type == Type::kPred ? 0 : BytesOf(type);
  const Slot slot = ResultSlot(operand);
  if (failed_) return 0;
  if (slot.at == kNoSlot) return Temporary(bytes);
  if (slot.bytes == bytes) return slot.at;
  if (slot.bytes == 0 || bytes == 0) {
    Error(operand.place, bytes == 0 ? "expected a predicate" : "a predicate does not fit here");
    return 0;
  }
  if (slot.bytes < bytes && bytes <= 8 && KindOf(type) == TypeKind::kFloat) {
    Error(operand.place,
          absl::StrCat("a register of ", 8 * slot.bytes, " bits for a result of ", 8 * bytes));
    return 0;
  }
  const uint32_t temporary = Temporary(bytes);
  pending_.push_back({CastOf(bytes, slot.bytes, IsSigned(type)), temporary, slot.at, slot.bytes});
  return temporary;
}

uint32_t Binder::SourceList(const Operand& operand, Type type, uint32_t& count) {
  std::vector<Slot> slots;
  const auto add = [&](const Operand& part) {
    const int bytes = type == Type::kPred ? 0 : BytesOf(type);
    slots.push_back({Source(part, type), static_cast<uint8_t>(bytes)});
  };
  if (operand.kind == Operand::kVector) {
    for (const Operand& part : operand.parts) add(part);
  } else {
    add(operand);
  }
  auto& all = decoder_.code().slots;
  const auto first = static_cast<uint32_t>(all.size());
  all.insert(all.end(), slots.begin(), slots.end());
  count = static_cast<uint32_t>(slots.size());
  return first;
}

uint32_t Binder::ResultList(const Operand& operand, uint32_t& count) {
  std::vector<Slot> slots;
  if (operand.kind == Operand::kVector) {
    for (const Operand& part : operand.parts) slots.push_back(ResultSlot(part));
  } else {
    slots.push_back(ResultSlot(operand));
  }
  auto& all = decoder_.code().slots;
  const auto first = static_cast<uint32_t>(all.size());
  all.insert(all.end(), slots.begin(), slots.end());
  count = static_cast<uint32_t>(slots.size());
  return first;
}

int64_t Binder::Immediate(int i) {
  if (!IsImmediate(i)) Error(operand(i).place, "expected an integer constant");
  return static_cast<int64_t>(operand(i).bits);
}

void Binder::Address(const Operand& operand, Op& op) {
  const bool is_element = operand.kind == Operand::kName && operand.is_indexed;
  if (!is_element && (operand.kind != Operand::kAddress || operand.parts.empty())) {
    Error(operand.place, "expected an address in brackets");
    return;
  }
  Operand base = is_element ? operand : operand.parts[0];
  op.offset = base.offset;
  base.offset = 0;
  if (base.kind == Operand::kInteger) {
    op.a = Constant(base.bits, 8);
    return;
  }
  if (base.kind != Operand::kName) {
    Error(base.place, "expected a register or a variable");
    return;
  }
  Symbol storage;
  const Symbol* symbol = decoder_.Find(base.name, instruction_.scope, storage);
  const bool is_register = symbol != nullptr && symbol->kind == Symbol::kRegister;
  if (is_register && base.is_indexed) {
    Error(base.place, absl::StrCat("`", base.name, "` is a register, not an array"));
    return;
  }
  if (!is_register) {
    const ProgramDecoder::Place* place = nullptr;
    bool is_local = decoder_.FormalOffset(base.name) >= 0;
    if (symbol != nullptr && symbol->kind == Symbol::kVariable) {
      is_local = decoder_.LocalOffset(symbol->index) >= 0;
      place = &decoder_.VariablePlace(symbol->index);
    } else {
      place = decoder_.program().FindVariable(base.name);
    }
    if (is_local) {
      op.space = Space::kLocal;
    } else if (place != nullptr && place->space == Space::kShared) {
      op.space = Space::kShared;
    } else if (op.space == Space::kGeneric || op.space == Space::kConst) {
      op.space = Space::kGlobal;
    }
  } else if (op.space == Space::kParam) {
    op.space = Space::kGeneric;  // addresses of parameters are generic here
  } else if (op.space == Space::kConst) {
    op.space = Space::kGlobal;
  }
  const Slot slot = SourceSlot(base, Type::kB64);
  if (failed_) return;
  op.a = slot.bytes == 8 ? slot.at : Convert(slot.at, slot.bytes, 8, false);
}

Op Binder::MakeEval(Eval eval, Type result, uint32_t d) const {
  Op op;
  op.eval = eval;
  op.result_bytes = static_cast<uint8_t>(result == Type::kPred ? 0 : BytesOf(result));
  op.type = result;
  op.d = d;
  return op;
}

Op Binder::MakeExec(Exec exec) const {
  Op op;
  op.kind = Op::kExec;
  op.exec = exec;
  return op;
}

Op& Binder::Emit(Op op) {
  op.instruction = index_;
  if (!instruction_.guard.empty()) {
    Symbol storage;
    const Symbol* symbol = decoder_.Find(instruction_.guard, instruction_.scope, storage);
    const Slot slot = symbol != nullptr && symbol->kind == Symbol::kRegister
                          ? decoder_.RegisterColumn(symbol->index)
                          : Slot{};
    if (slot.at == kNoSlot || slot.bytes != 0)
      Error(instruction_.place, absl::StrCat("`", instruction_.guard, "` is no predicate"));
    op.guard = slot.at;
    op.guard_negated = instruction_.guard_negated;
  }
  decoder_.code().ops.push_back(op);
  return decoder_.code().ops.back();
}

void Binder::Map(Eval eval, Type result, std::initializer_list<Type> sources) {
  if (eval == nullptr) return Unsupported();
  if (size() != static_cast<int>(sources.size()) + 1)
    return Error(instruction_.place, absl::StrCat(instruction_.opcode, " takes ",
                                                  sources.size() + 1, " operands here"));
  Op op = MakeEval(eval, result, 0);
  uint32_t* const columns[] = {&op.a, &op.b, &op.c, &op.e};
  int i = 0;
  for (Type type : sources) {
    *columns[i] = Source(i + 1, type);
    ++i;
  }
  op.d = Result(0, result);
  if (!failed_) Emit(op);
}

void Binder::Finish() {
  for (const Pending& move : pending_) {
    if (move.eval == nullptr) {
      Unsupported();
      continue;
    }
    Op op;
    op.eval = move.eval;
    op.a = move.from;
    op.d = move.to;
    op.result_bytes = static_cast<uint8_t>(move.bytes);
    Emit(op);
  }
  pending_.clear();
  const auto end = static_cast<uint32_t>(code().ops.size());
  if (failed_ || end == uses_.first_op) return;
  uses_.last_op = end - 1;
  if (code().uses.size() <= index_) code().uses.resize(index_ + 1);
  code().uses[index_] = std::move(uses_);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
