// The recursive-descent parser of PTX: one class, its members in parser.cc (directives),
// parse_body.cc (functions), parse_operands.cc and parse_constants.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ptxsim/lexer.h"
#include "ptxsim/module.h"

namespace hlokit::ptx {

class Parser {
 public:
  Parser(std::shared_ptr<const SourceFile> source, Diagnostics& out);
  std::unique_ptr<Module> Run();

 private:
  // A constant expression's value: an integer or an f64's bits.
  struct Constant {
    uint64_t bits = 0;
    bool is_float = false, is_single = false, is_unsigned = false;
    double AsDouble() const;
  };

  // Tokens. Accept* move on where the token fits; Expect* report where it does not.
  void Advance();
  bool Accept(char c);
  bool AcceptDotted(absl::string_view word);
  bool Expect(char c);
  bool ExpectWord(std::string& word);
  bool ExpectDotted(absl::string_view& word);
  bool ExpectInteger(int64_t& value);
  // Reports what stands here instead of `what`; always false.
  bool Unexpected(absl::string_view what);
  // Passes over the rest of a statement, so that the next one can be read.
  void Recover();
  void SkipBalanced(char open, char close);

  // Directives of the module.
  bool ParseTopLevel();
  bool ParseVersion();
  bool ParseTarget();
  bool ParseAddressSize();
  bool ParseFile();
  bool ParseSection();
  bool ParseAlias();
  bool ParseLinked();
  bool SkipStatement();
  bool ParsePragma();

  // Variables.
  bool ParseDeclarators(Space space, bool is_extern, std::vector<Variable>& variables,
                        bool is_statement);
  bool ParseVariableType(Variable& variable);
  bool ParseOldTexture();
  bool ParseObject(Variable& variable);
  bool ParseDeclarator(Variable& variable);
  bool ParseInitializer(Variable& variable);
  bool ParseInitializerList(Variable& variable, int64_t& at);
  bool ParseInitializerValue(Variable& variable, int64_t& at);

  // Functions.
  bool ParseFunction(bool is_entry);
  bool ParseParameters(std::vector<Variable>& parameters);
  bool ParseFunctionDirectives();
  bool ParseTriple(int values[3]);
  bool ParseBody();
  bool ParseStatement();
  bool ParseBodyDirective();
  bool ParseRegisters();
  bool ParseLocation();
  bool ParseLabel(const std::string& name, SourcePlace place);
  bool ParseLabelDirective(const std::string& name, SourcePlace place);
  bool ParseInstruction();
  void DeclareRegister(const std::string& name, const Variable& prototype, SourcePlace place);
  void Declare(const std::string& name, Symbol symbol, SourcePlace place);

  // Operands.
  bool ParseOperands(std::vector<Operand>& operands);
  bool ParseOperand(Operand& operand);
  bool ParsePrimary(Operand& operand);
  bool ParseAddress(Operand& operand);
  bool ParseGroup(Operand& operand, Operand::Kind kind, char close);
  bool ParseNameOperand(Operand& operand);
  bool ParseIndex(Operand& operand);
  void ExpandVector(Operand& operand);
  bool ParseOffset(int64_t& offset);
  bool ParseConstantOperand(Operand& operand);

  // Constant expressions.
  bool ParseConstant(Constant& value);
  bool ParseBinary(Constant& value, int least);
  bool ParseUnary(Constant& value);
  bool ParseCast(Constant& value);
  int BinaryPrecedence(std::string& op) const;

  std::shared_ptr<const SourceFile> source_;
  Diagnostics& out_;
  Lexer lexer_;
  Token token_;  // the next one
  Token ahead_;  // the one after
  std::unique_ptr<Module> module_;
  Function* function_ = nullptr;  // whose body is read
  uint32_t scope_ = 0;
  int depth_ = 0;  // of nested operands and expressions
};

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
