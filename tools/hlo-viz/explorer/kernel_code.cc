// Functions are found by the lines that begin them: `define` in LLVM IR, `.entry` in PTX, a label
// in assembler that `.globl` has announced. What follows until the next of them is their text.
#include "tools/hlo-viz/explorer/kernel_code.h"

#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace hlokit {
namespace {

enum class Language : uint8_t { kNone, kLlvm, kPtx, kAssembler, kObject };

// By the ending; of `ptx`, which is left of module_0001.jit_f.ptx, it is all.
Language LanguageOf(absl::string_view file) {
  const absl::string_view ending = file.substr(file.rfind('.') + 1);
  if (ending == "ll") return Language::kLlvm;
  if (ending == "ptx") return Language::kPtx;
  if (ending == "o") return Language::kObject;
  return ending == "s" ? Language::kAssembler : Language::kNone;
}

std::string TitleOf(absl::string_view file, Language language) {
  if (language == Language::kPtx) return "PTX";
  if (language == Language::kAssembler) return "assembler";
  if (language == Language::kObject) return "machine code";
  if (absl::StrContains(file, "no-opt") || absl::StrContains(file, "no_opt")) return "LLVM IR";
  return "LLVM IR, optimized";
}

// Names as identifiers, so that `add.2` and `add_2` are one.
std::string Identifier(absl::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  return text;
}

absl::string_view UntilAny(absl::string_view text, absl::string_view ends) {
  return text.substr(0, text.find_first_of(ends));
}

// The function that a line begins; empty where it begins none.
absl::string_view FunctionOf(absl::string_view line, Language language) {
  if (language == Language::kLlvm) {
    if (!absl::StartsWith(line, "define ") || absl::StartsWith(line, "define internal ")) return "";
    const size_t at = line.find('@');
    if (at == line.npos) return "";
    absl::string_view name = line.substr(at + 1);
    return absl::ConsumePrefix(&name, "\"") ? UntilAny(name, "\"") : UntilAny(name, "(");
  }
  if (language == Language::kPtx) {
    const size_t at = line.find(".entry ");
    return at == line.npos ? "" : UntilAny(line.substr(at + 7), "( \t");
  }
  if (line.empty()) return "";
  if (language == Language::kObject) {
    const size_t at = line.find(" <");
    absl::string_view name = at == line.npos ? "" : line.substr(at + 2);
    return absl::ascii_isxdigit(static_cast<unsigned char>(line[0])) &&
                   absl::ConsumeSuffix(&name, ">:")
               ? name
               : "";
  }
  absl::string_view label = UntilAny(line, " \t#");
  return !label.empty() && label[0] != '.' && absl::ConsumeSuffix(&label, ":") ? label : "";
}

struct Function {
  absl::string_view name;
  size_t begin;  // in the file's text
};

std::vector<Function> FunctionsOf(absl::string_view text, Language language) {
  std::vector<Function> functions;
  for (absl::string_view line : absl::StrSplit(text, '\n'))
    if (const absl::string_view name = FunctionOf(line, language); !name.empty())
      functions.push_back({name, static_cast<size_t>(line.data() - text.data())});
  return functions;
}

std::map<std::string, const Instruction*> InstructionsOf(const ModuleIndex& index) {
  std::map<std::string, const Instruction*> by_name;
  for (const Computation* computation : index.computations()) {
    if (index.IsFused(*computation)) continue;
    for (const Instruction* i : index.Instructions(*computation))
      by_name.try_emplace(Identifier(i->name()), i);
  }
  return by_name;
}

}  // namespace

std::vector<KernelCode> FindKernelCode(const ModuleIndex& index,
                                       const std::vector<CodeFile>& files) {
  std::vector<KernelCode> found;
  if (files.empty()) return found;
  const auto instructions = InstructionsOf(index);
  for (const CodeFile& file : files) {
    const Language language = LanguageOf(file.name);
    if (language == Language::kNone) continue;
    const std::vector<Function> functions = FunctionsOf(file.text, language);
    for (size_t k = 0; k < functions.size(); ++k) {
      std::string name = Identifier(functions[k].name);
      auto at = instructions.find(name);
      if (at == instructions.end())
        at = instructions.find(std::string(absl::StripSuffix(name, "_kernel")));
      if (at == instructions.end()) continue;
      const size_t begin = functions[k].begin;
      const size_t end = k + 1 < functions.size() ? functions[k + 1].begin : file.text.size();
      found.push_back({at->second, TitleOf(file.name, language),
                       functions.size() == 1 ? file.text : file.text.substr(begin, end - begin)});
    }
  }
  return found;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
