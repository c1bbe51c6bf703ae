// What ptxas refuses of an instruction beside unknown modifiers: a missing rounding mode, registers
// of another width or kind than the instruction's type, .sync left out where it must be.
//
//   add.f32 %f1, %r1, %f2;    %r1 is .u32: refused
//   shl.b64 %rd1, %rd2, %rd3; the count has 32 bits: refused
//
// The kinds of operands are a table by mnemonic. Loads and stores take registers that are wider
// than their type, conversions any. Cost: a look-up an instruction, when a kernel is decoded.
#include <algorithm>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ptxsim/binder.h"
#include "ptxsim/decoder_internal.h"

namespace hlokit::ptx {
namespace {

// A letter an operand: t the first type, u the second (the first where there is one alone), W twice
// as wide as the first, w 32 bits, p a predicate, n not narrower than the first, . anything.
struct OperandKinds {
  absl::string_view mnemonics, letters;
};
constexpr OperandKinds kOperandKinds[] = {
    {"add sub", "tut"},
    {"fma", "tuut"},
    {"mul div rem addc subc mul24 copysign and or xor", "ttt"},
    {"min max mad madc mad24 sad", "tttt"},
    {"abs neg rcp sqrt rsqrt sin cos lg2 ex2 tanh brev not cnot mov", "tt"},
    {"popc clz bfind", "wt"},
    {"testp", "pt"},
    {"bfe", "ttww"},
    {"bfi", "tttww"},
    {"shl shr szext", "ttw"},
    {"bmsk", "www"},
    {"fns dp4a dp2a shf prmt", "wwww"},
    {"lop3", ".www"},
    {"setp", ".tt"},
    {"set", "tuu"},
    {"selp", "tttp"},
    {"slct", "tttu"},
    {"ld ldu", "n"},
    {"st", ".n"},
};

bool IsListed(absl::string_view list, absl::string_view word) {
  const std::vector<absl::string_view> words = absl::StrSplit(list, ' ');
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Whether a register of `have` may stand for an operand of `want`: as many bits, and not a number
// of the other kind. Packed types lie in registers of any kind.
bool Fits(Type have, Type want) {
  if ((have == Type::kPred) != (want == Type::kPred)) return false;
  if (BitsOf(have) != BitsOf(want)) return false;
  const bool scalar = want == Type::kF32 || want == Type::kF64 || !IsFloat(want);
  if (!scalar || KindOf(have) == TypeKind::kBits || KindOf(want) == TypeKind::kBits) return true;
  return IsFloat(have) == IsFloat(want);
}

Type TwiceAsWide(Type type) { return BitsOf(type) == 16 ? Type::kB32 : Type::kB64; }

bool IsAnyOf(const Instruction& instruction, absl::string_view words) {
  for (absl::string_view word : instruction.modifiers)
    if (IsListed(words, word)) return true;
  return false;
}

constexpr absl::string_view kModes = "rn rz rm rp rna rs";
constexpr absl::string_view kIntegerModes = "rni rzi rmi rpi";

std::vector<Type> TypesOf(const Instruction& instruction) {
  std::vector<Type> types;
  for (absl::string_view modifier : instruction.modifiers)
    if (const auto type = TypeNamed(modifier); type.has_value()) types.push_back(*type);
  return types;
}

bool IsPlainFloat(Type type) {
  return type == Type::kF16 || type == Type::kBF16 || type == Type::kF32 || type == Type::kF64;
}

// Whether a conversion needs a rounding mode that it lacks: between integers and floats, and to a
// narrower float.
bool LacksConversionMode(const Instruction& instruction, Type to, Type from) {
  if (IsInteger(to) && IsPlainFloat(from)) return !IsAnyOf(instruction, kIntegerModes);
  if (!IsPlainFloat(to)) return false;
  const bool narrows = IsPlainFloat(from) && BitsOf(to) < BitsOf(from);
  return (narrows || IsInteger(from)) && !IsAnyOf(instruction, kModes);
}

// The target's number: 90 of sm_90a; 0 where there is none.
int TargetNumber(absl::string_view target) {
  int number = 0;
  const size_t digit = target.find_first_of("0123456789");
  if (digit == absl::string_view::npos) return 0;
  const absl::string_view text = target.substr(digit);
  const size_t end = text.find_first_not_of("0123456789");
  return absl::SimpleAtoi(text.substr(0, end), &number) ? number : 0;
}

}  // namespace

// Holds modifiers and the number of operands to the instruction's row.
bool FunctionDecoder::CheckForm(const Instruction& instruction) {
  const InstructionRow& row = *FindInstruction(instruction.opcode);
  const int count = static_cast<int>(instruction.operands.size());
  if (count < row.min_operands || count > row.max_operands) {
    program_.out().Error(
        instruction.place, "", instruction.opcode, " takes ", row.min_operands,
        row.max_operands > row.min_operands ? absl::StrCat(" to ", row.max_operands) : "",
        " operands, found ", count);
    return false;
  }
  const auto has = [](absl::string_view list, absl::string_view word) {
    for (absl::string_view entry : absl::StrSplit(list, ' ', absl::SkipEmpty()))
      if (entry == word || (entry.back() == '*' && entry.size() > 1 &&
                            absl::StartsWith(word, entry.substr(0, entry.size() - 1))))
        return true;
    return false;
  };
  for (absl::string_view modifier : instruction.modifiers) {
    const bool is_type = TypeNamed(modifier).has_value();
    if (has(row.modifiers, modifier) || (is_type && (row.types == "*" || has(row.types, modifier))))
      continue;
    program_.out().Error(instruction.place, "", "instruction `", instruction.opcode,
                         "` is not supported with `.", modifier, "`");
    return false;
  }
  return CheckRounding(instruction) && CheckOperandTypes(instruction);
}

// A rounding mode, or .approx, where the ISA asks for one; .sync from sm_70 and PTX 6.4 on.
bool FunctionDecoder::CheckRounding(const Instruction& instruction) {
  const absl::string_view name = instruction.opcode;
  const std::vector<Type> types = TypesOf(instruction);
  const bool is_wide = !types.empty() && (types[0] == Type::kF32 || types[0] == Type::kF64);
  bool lacks = false;
  if (name == "cvt" && types.size() == 2) {
    lacks = LacksConversionMode(instruction, types[0], types[1]);
  } else if (is_wide && (name == "fma" || name == "mad")) {
    lacks = !IsAnyOf(instruction, kModes);
  } else if (is_wide && (name == "div" || name == "sqrt" || name == "rcp")) {
    lacks = !IsAnyOf(instruction, kModes) && !IsAnyOf(instruction, "approx full");
  }
  if (lacks) {
    program_.out().Error(instruction.place, "", "instruction `", name, "` needs a rounding mode");
    return false;
  }
  const Module& module = program_.module();
  const bool needs_sync =
      TargetNumber(module.target) >= 70 && module.version_major * 100 + module.version_minor >= 604;
  if ((name == "shfl" || name == "vote") && needs_sync && !instruction.Has("sync")) {
    program_.out().Error(instruction.place, "", "instruction `", name,
                         "` without `.sync` ends with sm_70 and PTX 6.4");
    return false;
  }
  return true;
}

// Reports a register or constant that does not fit `want`.
bool FunctionDecoder::CheckOperandType(const Instruction& instruction, const Operand& operand,
                                       Type want) {
  if (operand.kind == Operand::kInteger && (want == Type::kF32 || want == Type::kF64)) {
    program_.out().Error(operand.place, "", "an integer for an operand of type `.", Text(want),
                         "`");
    return false;
  }
  if (operand.kind != Operand::kName) return true;
  Symbol storage;
  const Symbol* symbol = Find(operand.name, instruction.scope, storage);
  if (symbol == nullptr || symbol->kind != Symbol::kRegister) return true;
  const Type have = function_.registers[symbol->index].type;
  if (Fits(have, want)) return true;
  program_.out().Error(operand.place, "", "`", operand.name, "` is `.", Text(have),
                       "`, the operand has type `.", Text(want), "`");
  return false;
}

// Reports a register, or one of a vector, with fewer bits than `want`.
bool FunctionDecoder::CheckWidth(const Instruction& instruction, const Operand& operand,
                                 Type want) {
  if (operand.kind == Operand::kVector)
    return std::all_of(operand.parts.begin(), operand.parts.end(),
                       [&](const Operand& part) { return CheckWidth(instruction, part, want); });
  if (operand.kind != Operand::kName) return true;
  Symbol storage;
  const Symbol* symbol = Find(operand.name, instruction.scope, storage);
  if (symbol == nullptr || symbol->kind != Symbol::kRegister) return true;
  const Type have = function_.registers[symbol->index].type;
  if (BitsOf(have) >= BitsOf(want)) return true;
  program_.out().Error(operand.place, "", "`", operand.name, "` is `.", Text(have),
                       "`, too narrow for `.", Text(want), "`");
  return false;
}

bool FunctionDecoder::CheckOperandTypes(const Instruction& instruction) {
  const std::vector<Type> types = TypesOf(instruction);
  const auto* row = std::find_if(
      std::begin(kOperandKinds), std::end(kOperandKinds),
      [&](const OperandKinds& kinds) { return IsListed(kinds.mnemonics, instruction.opcode); });
  if (row == std::end(kOperandKinds) || types.empty()) return true;
  absl::string_view letters = row->letters;
  if (instruction.Has("wide")) letters = instruction.opcode == "mad" ? "WttW" : "Wtt";
  const size_t count = std::min(letters.size(), instruction.operands.size());
  for (size_t i = 0; i < count; ++i) {
    Type want = types[0];
    if (letters[i] == '.') continue;
    if (letters[i] == 'n') {
      if (!CheckWidth(instruction, instruction.operands[i], want)) return false;
      continue;
    }
    if (letters[i] == 'u' && types.size() > 1) want = types[1];
    if (letters[i] == 'w') want = Type::kB32;
    if (letters[i] == 'W') want = TwiceAsWide(types[0]);
    if (letters[i] == 'p') want = Type::kPred;
    if (!CheckOperandType(instruction, instruction.operands[i], want)) return false;
  }
  return true;
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
