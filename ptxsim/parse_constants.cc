// PTX's constant expressions: ISA, "Constant Expressions". Integers are of 64 bits, signed unless a
// part is unsigned; floats are f64, but for 0f... which is taken bit for bit.
#include <bit>
#include <cstring>
#include <string>

#include "ptxsim/parser_internal.h"

namespace hlokit::ptx {
namespace {

struct OperatorRow {
  const char* text;
  int precedence;
};

// Longer operators first; higher binds tighter.
constexpr OperatorRow kOperators[] = {{"<<", 8}, {">>", 8}, {"<=", 7}, {">=", 7}, {"==", 6},
                                      {"!=", 6}, {"&&", 2}, {"||", 1}, {"*", 10}, {"/", 10},
                                      {"%", 10}, {"+", 9},  {"-", 9},  {"<", 7},  {">", 7},
                                      {"&", 5},  {"^", 4},  {"|", 3}};

}  // namespace

double Parser::Constant::AsDouble() const {
  if (!is_float) return is_unsigned ? double(bits) : double(static_cast<int64_t>(bits));
  if (is_single) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return std::bit_cast<double>(bits);
}

// A conditional expression, a ? b : c, or what binds tighter, by precedence climbing.
bool Parser::ParseConstant(Constant& value) {
  if (!ParseBinary(value, 1)) return false;
  if (!Accept('?')) return true;
  Constant yes, no;
  if (!ParseConstant(yes) || !Expect(':') || !ParseConstant(no)) return false;
  value = value.bits != 0 ? yes : no;
  return true;
}

// The precedence of the operator that stands here, and its text; 0 where there is none.
int Parser::BinaryPrecedence(std::string& op) const {
  if (token_.kind != Token::kPunctuation) return 0;
  op = std::string(token_.text);
  const bool adjacent =
      ahead_.kind == Token::kPunctuation && ahead_.place.offset == token_.place.offset + 1;
  const std::string both = adjacent ? op + std::string(ahead_.text) : op;
  for (const OperatorRow& row : kOperators) {
    if (row.text == both) {
      op = both;
      return row.precedence;
    }
    if (row.text == op) return row.precedence;
  }
  return 0;
}

namespace {

// Integer operators; division by zero gives 0, since the ISA leaves it open.
template <typename T>
uint64_t Compute(const std::string& op, T a, T b) {
  if (op == "/") return b == 0 ? 0 : static_cast<uint64_t>(b == T(-1) ? T(0) - a : a / b);
  if (op == "%") return b == 0 || b == T(-1) ? 0 : static_cast<uint64_t>(a % b);
  if (op == ">>") return static_cast<uint64_t>(a >> (b & 63));
  if (op == "<") return a < b;
  if (op == ">") return a > b;
  if (op == "<=") return a <= b;
  if (op == ">=") return a >= b;
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  if (op == "*") return x * y;
  if (op == "+") return x + y;
  if (op == "-") return x - y;
  if (op == "<<") return x << (y & 63);
  if (op == "==") return x == y;
  if (op == "!=") return x != y;
  if (op == "&&") return x && y;
  if (op == "||") return x || y;
  if (op == "&") return x & y;
  if (op == "^") return x ^ y;
  return x | y;
}

double ComputeFloat(const std::string& op, double a, double b) {
  if (op == "*") return a * b;
  if (op == "/") return a / b;
  if (op == "-") return a - b;
  return a + b;
}

}  // namespace

bool Parser::ParseBinary(Constant& value, int least) {
  if (!ParseUnary(value)) return false;
  for (;;) {
    std::string op;
    const int precedence = BinaryPrecedence(op);
    if (precedence < least || precedence == 0) return true;
    for (size_t i = 0; i < op.size(); ++i) Advance();
    Constant right;
    if (++depth_ > 200) return Unexpected("a shorter expression");
    if (!ParseBinary(right, precedence + 1)) return false;
    --depth_;
    if (value.is_float || right.is_float) {
      value.bits = std::bit_cast<uint64_t>(ComputeFloat(op, value.AsDouble(), right.AsDouble()));
      value.is_float = true;
      value.is_single = false;
      continue;
    }
    value.is_unsigned |= right.is_unsigned;
    value.bits = value.is_unsigned ? Compute<uint64_t>(op, value.bits, right.bits)
                                   : Compute<int64_t>(op, static_cast<int64_t>(value.bits),
                                                      static_cast<int64_t>(right.bits));
  }
}

bool Parser::ParseUnary(Constant& value) {
  if (++depth_ > 200) return Unexpected("a shorter expression");
  struct Leave {
    int& depth;
    ~Leave() { --depth; }
  } leave{depth_};
  if (Accept('+')) return ParseUnary(value);
  if (Accept('-')) {
    if (!ParseUnary(value)) return false;
    if (!value.is_float) {
      value.bits = 0 - value.bits;
    } else {
      value.bits ^= value.is_single ? uint64_t{1} << 31 : uint64_t{1} << 63;
    }
    return true;
  }
  if (token_.Is('!') || token_.Is('~')) {
    const bool is_not = token_.Is('!');
    Advance();
    if (!ParseUnary(value)) return false;
    value.bits = is_not ? value.bits == 0 : ~value.bits;
    return true;
  }
  if (token_.Is('(')) return ParseCast(value);
  if (token_.IsWord("WARP_SZ")) {
    Advance();
    value.bits = 32;
    return true;
  }
  if (token_.kind != Token::kInteger && token_.kind != Token::kFloat)
    return Unexpected("an operand");
  value.bits = token_.bits;
  value.is_float = token_.kind == Token::kFloat;
  value.is_single = token_.is_single;
  value.is_unsigned = token_.is_unsigned;
  Advance();
  return true;
}

// (.s64) x, (.u64) x or (expression).
bool Parser::ParseCast(Constant& value) {
  Advance();
  if (token_.IsDotted("s64") || token_.IsDotted("u64")) {
    const bool is_unsigned = token_.text == "u64";
    Advance();
    if (!Expect(')') || !ParseUnary(value)) return false;
    value.is_unsigned = is_unsigned;
    return true;
  }
  return ParseConstant(value) && Expect(')');
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
