// One open document: its text, what is known of it, and what was known before the last edits.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/module.h"
#include "support/diagnostics.h"
#include "tools/hlo-lsp/service/names.h"
#include "tools/hlo-lsp/service/text_buffer.h"

namespace hlokit {

// What parser and verifier say of one version of a text.
struct Analysis {
  int64_t version = 0;
  std::shared_ptr<const SourceFile> source;
  std::unique_ptr<Module> module;  // null where the text does not parse
  Diagnostics diagnostics;
  double seconds = 0;
};

// Texts without computations, and MLIR, have neither module nor errors.
std::shared_ptr<const Analysis> Analyze(const std::string& name,
                                        std::shared_ptr<const std::string> text, int64_t version);

class Document {
 public:
  Document(std::string uri, int64_t version, std::string text)
      : uri_(std::move(uri)), version_(version), buffer_(std::move(text)) {}

  const std::string& uri() const { return uri_; }
  int64_t version() const { return version_; }
  const TextBuffer& buffer() const { return buffer_; }
  TextBuffer& buffer() { return buffer_; }

  // A nullopt range stands for all of the text.
  void Edit(std::optional<TextRange> range, absl::string_view inserted);
  void set_version(int64_t version) { version_ = version; }

  const std::vector<ComputationSpan>& computations();

  // The newest analysis that has a module; of this version or an older one. Null until there is
  // one.
  const std::shared_ptr<const Analysis>& analysis() const { return analysis_; }
  // Returns the one that it takes the place of, for its caller to let go of.
  std::shared_ptr<const Analysis> set_analysis(std::shared_ptr<const Analysis> analysis);

  // An instruction of the analysed module, by the names that the text has; null where that has
  // none.
  const Instruction* InstructionNamed(absl::string_view computation, absl::string_view name) const;
  const Computation* ComputationNamed(absl::string_view name) const;
  // Of an instruction of the analysed module, as its text has it.
  std::string TextName(const Instruction& instruction) const;

 private:
  const std::string uri_;
  int64_t version_;
  TextBuffer buffer_;
  std::optional<std::vector<ComputationSpan>>
      computations_;  // nullopt: not looked for since an edit
  std::shared_ptr<const Analysis> analysis_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
