// Operands of PTX instructions: registers, symbols with offsets, constants, {vectors}, [addresses],
// pairs d|p, negated predicates and calls' lists.
#include <utility>

#include "ptxsim/parser_internal.h"

namespace hlokit::ptx {

bool Parser::ParseOperands(std::vector<Operand>& operands) {
  do {
    Operand operand;
    if (!ParseOperand(operand)) return false;
    operands.push_back(std::move(operand));
  } while (Accept(','));
  return true;
}

// A primary, or two with | between them (setp's results).
bool Parser::ParseOperand(Operand& operand) {
  if (++depth_ > 64) return Unexpected("fewer nested operands");
  if (!ParsePrimary(operand)) return false;
  --depth_;
  if (!token_.Is('|')) return true;
  Advance();
  Operand pair;
  pair.kind = Operand::kPair;
  pair.place = operand.place;
  pair.parts.push_back(std::move(operand));
  pair.parts.emplace_back();
  if (!ParsePrimary(pair.parts[1])) return false;
  operand = std::move(pair);
  return true;
}

bool Parser::ParsePrimary(Operand& operand) {
  operand.place = token_.place;
  if (token_.Is('{')) return ParseGroup(operand, Operand::kVector, '}');
  if (token_.Is('[')) return ParseAddress(operand);
  if (token_.Is('(') && (ahead_.kind == Token::kWord || ahead_.Is(')') || ahead_.Is('(')))
    return ParseGroup(operand, Operand::kList, ')');
  // !p of a predicate; -a of vmad.
  if ((token_.Is('!') || token_.Is('-')) && ahead_.kind == Token::kWord &&
      ahead_.text != "WARP_SZ") {
    Advance();
    operand.negated = true;
    return ParseNameOperand(operand);
  }
  if (token_.IsWord("_")) {
    Advance();
    operand.kind = Operand::kSink;
    return true;
  }
  if (token_.kind == Token::kWord && token_.text != "WARP_SZ") return ParseNameOperand(operand);
  return ParseConstantOperand(operand);
}

// A list of operands up to `close`.
bool Parser::ParseGroup(Operand& operand, Operand::Kind kind, char close) {
  operand.kind = kind;
  Advance();
  if (Accept(close)) return true;
  return ParseOperands(operand.parts) && Expect(close);
}

// [operand, ...]: what lies at an address, with the further operands that some instructions take.
bool Parser::ParseAddress(Operand& operand) {
  operand.kind = Operand::kAddress;
  Advance();
  return ParseOperands(operand.parts) && Expect(']');
}

// %r1, %tid.x, symbol, symbol+8, symbol[2], symbol[%r1+2]; %v of a vector stands for {%v.x, %v.y}
bool Parser::ParseNameOperand(Operand& operand) {
  operand.kind = Operand::kName;
  if (!ExpectWord(operand.name)) return false;
  if (token_.kind == Token::kDotted) {
    operand.name = operand.name + "." + std::string(token_.text);
    Advance();
  }
  if (token_.Is('[')) return ParseIndex(operand);
  ExpandVector(operand);
  return ParseOffset(operand.offset);
}

// [2], [%r1], [%r1+2] after the name of an array: elements, not bytes.
bool Parser::ParseIndex(Operand& operand) {
  if (++depth_ > 64) return Unexpected("fewer nested operands");
  Advance();
  operand.is_indexed = true;
  if (token_.kind == Token::kWord && token_.text != "WARP_SZ") {
    operand.parts.emplace_back();
    if (!ParsePrimary(operand.parts[0])) return false;
    operand.elements = std::exchange(operand.parts[0].offset, 0);
  } else if (!ExpectInteger(operand.elements)) {
    return false;
  }
  --depth_;
  return Expect(']');
}

// The components of a vector register's name.
void Parser::ExpandVector(Operand& operand) {
  Symbol storage;
  const Symbol* symbol =
      function_ == nullptr ? nullptr : function_->Find(operand.name, scope_, storage);
  if (symbol == nullptr || symbol->kind != Symbol::kVector) return;
  operand.kind = Operand::kVector;
  for (int i = 0; i < function_->registers[symbol->index].vector; ++i) {
    Operand part;
    part.kind = Operand::kName;
    part.place = operand.place;
    part.name = operand.name + "." + "xyzw"[i];
    operand.parts.push_back(std::move(part));
  }
}

// +8, -8, +-8 after a name.
bool Parser::ParseOffset(int64_t& offset) {
  while (token_.Is('+') || token_.Is('-')) {
    const bool negative = token_.Is('-');
    Advance();
    Constant constant;
    if (!ParseUnary(constant)) return false;
    const auto value = static_cast<uint64_t>(constant.bits);
    offset = static_cast<int64_t>(static_cast<uint64_t>(offset) + (negative ? 0 - value : value));
  }
  return true;
}

bool Parser::ParseConstantOperand(Operand& operand) {
  operand.place = token_.place;
  Constant constant;
  if (!ParseConstant(constant)) return false;
  operand.kind = constant.is_float ? Operand::kFloat : Operand::kInteger;
  operand.bits = constant.bits;
  operand.is_single = constant.is_single;
  return true;
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
