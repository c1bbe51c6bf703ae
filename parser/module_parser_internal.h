// The recursive descent over a module's text. One object reads one file; its parts lie in module.cc
// (header, tables), computation.cc, instruction.cc (opcode, operands), attributes.cc, extras.cc and
// recovery.cc.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/module.h"
#include "parser/name_table_internal.h"
#include "parser/parse_options.h"
#include "parser/reader_internal.h"
#include "support/limits.h"
#include "support/shared_text.h"
#include "support/text_table.h"

namespace hlokit {

class ModuleParser {
 public:
  ModuleParser(const std::shared_ptr<const SourceFile>& file, const ParseOptions& options,
               Diagnostics& diagnostics)
      : reader_(file->text(), diagnostics),
        options_(options),
        owned_(std::make_unique<Module>("")),
        module_(owned_.get()) {
    module_->set_source(file);
  }
  // Reads computations into `module`, whose own may be called by name.
  ModuleParser(absl::string_view text, Module& module, const ParseOptions& options,
               Diagnostics& diagnostics);

  // Null where the text has errors, which are then in the diagnostics.
  std::unique_ptr<Module> Run();
  // The last computation of the text, or null, as above. Only for the second constructor.
  Computation* RunComputations();

 private:
  // The body that is being read; nested computations nest scopes.
  struct Scope {
    std::unique_ptr<Computation> computation;
    NameTable* names = nullptr;
    Instruction* root = nullptr;
    SourcePlace root_place;
    Instruction* last = nullptr;
    int64_t parameter_count = 0;
    bool broken = false;  // an instruction is missing because of an error
  };
  struct KnownComputation {
    Computation* computation = nullptr;  // null: still being read, or broken, and reported
    SourcePlace place;
    bool open = false;  // still being read
  };
  // An opcode in text; the sugared form `X-start` of an async op carries X.
  struct OpName {
    Opcode opcode = Opcode::kTuple;
    bool sugared = false;
    Opcode wrapped = Opcode::kTuple;
    const char* at = nullptr;
    const char* start = nullptr;  // of the right-hand side
  };
  using Operands = absl::InlinedVector<Instruction*, 8>;

  // What the attribute list of one instruction has said so far.
  struct Seen {
    uint64_t fields = 0;          // of the opcode's struct, by position
    uint64_t wrapped_fields = 0;  // of the wrapped opcode's
    uint32_t common = 0;
    std::vector<Computation*> called;
  };
  enum class Outcome { kRead, kFailed, kUnknown };

  // module.cc
  bool CheckKind();
  void FindStart();
  bool ReadHeader();
  bool ReadHeaderAttribute(absl::string_view name, const char* at);
  bool ReadEntryLayout();
  bool ReadTables();
  bool ReadRowFields(absl::Span<const std::pair<absl::string_view, int64_t*>> fields);
  void Finish();
  void FillEntryLayout();
  void FillSchedules();

  // computation.cc
  bool ReadComputation();
  bool ReadSignature(Shared<Shape>& result, const char*& result_at);
  Computation* ReadBody(absl::string_view name,
                        SourcePlace place);  // `{`...`}`; null after an error
  bool ReadInstructions(Scope& scope);
  bool FinishBody(Scope& scope);
  void ReadLoneInstruction();  // a text that is one instruction becomes the entry
  void OpenScope(Scope& scope, absl::string_view name, SourcePlace place);
  bool CheckParameters(Scope& scope);
  Computation* ReadCalled();  // a name, or a body in place
  bool ReadCalledList(std::vector<Computation*>& list);

  // instruction.cc
  bool ReadInstruction(Scope& scope);
  bool ReadDefinedName(absl::string_view& name);
  Instruction* ReadRightHandSide(Scope& scope, absl::string_view name, SourcePlace place,
                                 bool nested);
  bool ReadOpName(OpName& op);
  // As ReadShape, with the default layout where the text has none.
  bool ReadSharedShape(Shared<Shape>& shape);
  std::unique_ptr<Instruction> ReadArguments(Scope& scope, const OpName& op, Shared<Shape> shape,
                                             bool has_shape);
  bool ReadParameter(Scope& scope, Instruction& instruction);
  bool ReadConstant(const OpName& op, Instruction& instruction);
  bool ReadOperands(Scope& scope, Operands& operands);
  Instruction* ReadPlainOperand(Scope& scope);
  Instruction* ReadOperand(Scope& scope);
  Instruction* ReadParameterInPlace(Scope& scope, absl::string_view name, Shared<Shape> shape,
                                    const char* at);
  Instruction* ReadElementOf(Scope& scope, Instruction* tuple);  // `#1` after an operand
  bool CheckOperands(const OpName& op, const Shape& shape, bool has_shape,
                     const Operands& operands);
  bool CheckAsync(const OpName& op, const Instruction& instruction);
  void Wrap(Instruction& start, std::unique_ptr<Instruction> wrapped);
  // complete.cc
  bool CountImpliedParts(const Instruction& instruction, const char* at);
  bool InferMissingShape(Instruction& instruction, const char* at);
  std::string AnonymousName(Opcode opcode);

  // attributes.cc
  bool ReadAttributes(Scope& scope, const OpName& op, Instruction& instruction,
                      Instruction* wrapped, Seen& seen, bool any);
  Outcome ReadOwnField(Instruction& instruction, absl::string_view name, uint64_t& seen,
                       const char* at);
  Outcome ReadCalls(Instruction& instruction, absl::string_view name, Seen& seen, const char* at);
  bool CheckRequired(Instruction& instruction, uint64_t seen, const char* at);
  bool CheckCalls(Instruction& instruction, Seen& seen, const char* at);
  bool UnknownAttribute(Instruction& instruction, absl::string_view name, const char* at);
  bool Twice(absl::string_view name, const char* at);

  // extras.cc: what every instruction may have
  Outcome ReadCommon(Scope& scope, Instruction& instruction, absl::string_view name, Seen& seen,
                     const char* at);
  bool ReadSharedMetadata(Instruction& instruction);
  bool ReadControlPredecessors(Scope& scope, Instruction& instruction);
  void ShareExtras(const Instruction& from, Instruction& to);
  // `common`: what of it the attribute list has said (Seen).
  void GiveToWrapped(const Instruction& async, uint32_t common);

  // recovery.cc
  bool StartsInstruction();
  // Past the instruction that starts at `broken`; false where the computation seems to be over.
  bool SkipToInstruction(Scope& scope, const char* broken);
  void PoisonNames(Scope& scope, const char* from, const char* to);
  absl::string_view FindDefinition(absl::string_view name, const char* at,
                                   absl::string_view followers);
  void SkipToComputation();
  bool Undefined(Scope& scope, absl::string_view name, const char* at);
  bool UndefinedComputation(absl::string_view name, const char* at);
  bool UnknownOpcode(absl::string_view word, const char* at);

  Diagnostics& diagnostics() { return reader_.diagnostics(); }

  Reader reader_;
  const ParseOptions& options_;
  std::unique_ptr<Module> owned_;
  Module* module_;
  std::deque<NameTable> tables_;  // one for each level of nesting, used again and again
  size_t open_scopes_ = 0;
  absl::flat_hash_map<absl::string_view, KnownComputation> computations_;
  absl::flat_hash_map<std::pair<Instruction*, int64_t>, Instruction*> tuple_elements_;
  TextTable<Shared<Shape>> shapes_;
  TextTable<Shared<OpMetadata>> metadata_;
  TextTable<SharedLiteral> scalars_;  // by shape, opcode and value
  SharedTextCache texts_;
  NameUniquer anonymous_;
  int64_t implied_parts_ = 0;  // of tuples whose shapes the text does not spell out
  Computation* last_ = nullptr;
  SourcePlace entry_place_;
  bool has_header_ = false;
  bool lone_ = false;  // a single instruction is read: its operands become parameters
  // false: what stands at an instruction's place starts another computation
  bool body_open_ = true;
  std::vector<std::unique_ptr<Instruction>> broken_;  // kept alive: operands list them as users
  std::vector<std::unique_ptr<Computation>> broken_bodies_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
