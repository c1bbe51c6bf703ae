// A PTX file as its text says it: directives, variables, functions and instructions. Names are
// resolved later (decode.h), per function that runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "ptxsim/texture.h"
#include "ptxsim/types.h"
#include "support/diagnostics.h"

namespace hlokit::ptx {

struct Operand {
  enum Kind : uint8_t {
    kName,     // a register, special register, variable, function or label, plus `offset`
    kInteger,  // bits
    kFloat,    // bits of an f64, or of an f32 where is_single
    kAddress,  // [parts[0] + offset, parts[1], ...]
    kVector,   // {parts...}
    kList,     // (parts...): arguments of a call
    kPair,     // parts[0]|parts[1]
    kSink,     // _
  };

  Kind kind = kSink;
  bool negated = false;  // !p
  bool is_single = false;
  SourcePlace place;
  std::string name;      // with its suffix: %tid.x
  int64_t offset = 0;    // bytes
  int64_t elements = 0;  // name[2], name[%r1+2]: elements of the array; the register is parts[0]
  bool is_indexed = false;
  uint64_t bits = 0;
  std::vector<Operand> parts;
};

struct Instruction {
  SourcePlace place;  // of the opcode
  uint32_t scope = 0;
  std::string guard;  // the predicate of @p; empty: none
  bool guard_negated = false;
  absl::string_view opcode;                  // setp
  std::vector<absl::string_view> modifiers;  // lt, and, f32
  std::vector<Operand> operands;

  bool Has(absl::string_view modifier) const;
};

// A value of an initializer: a number, or the address of a variable or function.
struct Initializer {
  SourcePlace place;
  uint64_t bits = 0;  // as the variable's type has them, or added to the address of `symbol`
  std::string symbol;
  bool generic = false;  // generic(symbol)
  int size = 0;          // bytes
  int64_t at = 0;        // byte of the variable
};

struct Variable {
  SourcePlace place;
  std::string name;
  Space space = Space::kGlobal;
  Type type = Type::kB8;
  int vector = 1;  // .v2, .v4
  int align = 0;   // bytes; at least the element's size
  bool is_array = false;
  bool is_extern = false;
  bool is_pointer = false;  // .ptr: the parameter is an address
  // .texref, .samplerref, .surfref; of such a module variable the bytes are a Texture (texture.h).
  ObjectKind object = ObjectKind::kNone;
  std::vector<int64_t> dims;  // empty for scalars; {0} for `name[]`
  std::vector<Initializer> values;

  int64_t ByteSize() const;  // 0 for `name[]`
};

// A row of `.reg .b32 %r<10>;` (first 0, count 10) or `.reg .pred p;` (count 0: the name alone).
struct RegisterRange {
  Type type = Type::kB32;
  uint32_t first = 0;  // index of the range's first register in the function
  uint32_t count = 0;
};

// What a name stands for inside a scope.
struct Symbol {
  enum Kind : uint8_t { kRegister, kVariable, kLabel, kTargets, kPrototype, kVector };
  Kind kind = kLabel;
  uint32_t index = 0;
};

struct Scope {
  uint32_t parent = 0;  // the function's own scope is 0 and its own parent
  absl::flat_hash_map<std::string, Symbol> symbols;
  absl::flat_hash_map<std::string, RegisterRange> ranges;  // by prefix
};

// A vector is as many registers in a row; `vector`, of the first, is their number.
struct RegisterInfo {
  Type type = Type::kB32;
  int vector = 1;
};

// .branchtargets or .calltargets.
struct TargetList {
  std::vector<Operand> names;
  uint32_t scope = 0;
};

struct Function {
  SourcePlace place;
  std::string name;
  bool is_entry = false;
  bool is_defined = false;
  std::vector<Variable> results, parameters;
  std::vector<RegisterInfo> registers;
  std::vector<Variable> variables;  // .local, .shared, .param, .const inside the body
  std::vector<uint32_t> labels;     // instruction that follows each label
  std::vector<TargetList> targets;
  std::vector<Scope> scopes;
  std::vector<Instruction> instructions;
  int max_threads[3] = {0, 0, 0};  // .maxntid or .reqntid; 0: not given
  bool requires_threads = false;   // .reqntid
  int cluster[3] = {0, 0, 0};      // .reqnctapercluster

  // The symbol that `name` stands for in `scope` or around it; null where there is none.
  const Symbol* Find(absl::string_view name, uint32_t scope, Symbol& storage) const;
};

struct Module {
  std::shared_ptr<const SourceFile> source;
  int version_major = 0, version_minor = 0;
  std::string target;  // sm_90a
  int address_size = 64;
  std::vector<Variable> variables;
  std::vector<std::unique_ptr<Function>> functions;
  absl::flat_hash_map<std::string, Function*> functions_by_name;

  const Function* FindFunction(absl::string_view name) const;
  // Names of the entries, in the order of the file.
  std::vector<std::string> EntryNames() const;
};

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
