// Reads, cleans and verifies a module: text or protobuf by its first bytes or the file's name;
// prefixes of log lines are blanked, so that places in messages stay right.
#include "tools/common/load.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "parser/parser.h"
#include "printer/printer.h"
#include "stablehlo/stablehlo.h"
#include "support/file.h"
#include "support/log_prefix.h"
#include "support/memory.h"
#include "support/status.h"
#include "tools/common/exit_status.h"
#include "tools/common/messages.h"
#include "tools/common/report.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

// Prints what was collected and gives the first error, if there is one.
absl::Status Report(const LoadOptions& options, const Diagnostics& diagnostics,
                    const SourceFile& source, absl::Status status) {
  if (options.quiet) return status;
  if (!diagnostics.items().empty()) {
    ShowMessages(diagnostics, source);
    if (!diagnostics.ok()) return diagnostics.ToStatus();
  } else if (!status.ok()) {
    ShowStatus(status, source);
  }
  return status;
}

}  // namespace

bool BlankLogPrefixes(std::string& text) {
  bool any = false;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const size_t length = LogPrefixLength(absl::string_view(text).substr(start));
    text.replace(start, length, length, ' ');
    any |= length > 0;
    start = end + 1;
  }
  return any;
}

std::optional<ProtoEncoding> EncodingOf(absl::string_view name, absl::string_view bytes,
                                        absl::string_view format) {
  struct Ending {
    absl::string_view text;
    ProtoEncoding encoding;
  };
  constexpr Ending kEndings[] = {
      {"pb", ProtoEncoding::kBinary},      {"hlo_pb", ProtoEncoding::kBinary},
      {"binpb", ProtoEncoding::kBinary},   {"pbtxt", ProtoEncoding::kText},
      {"textproto", ProtoEncoding::kText}, {"json", ProtoEncoding::kJson}};
  const absl::string_view ending = name.substr(std::min(name.rfind('.') + 1, name.size()));
  if (format.empty())
    if (const auto sniffed = SniffProto(bytes)) return sniffed;
  for (const Ending& known : kEndings)
    if (known.text == (format.empty() ? ending : format)) return known.encoding;
  return std::nullopt;
}

namespace {

// A file of MLIR bytecode, of which only what is asked for is read: most of a large one are arrays
// of weights. Null for other files and those that cannot be mapped.
std::shared_ptr<const SourceFile> MapMlirBytecode(const std::string& path) {
  auto file = MappedFile::Open(path);
  if (!file.ok() || !IsMlirBytecode(file->bytes())) return nullptr;
  const auto owner = std::make_shared<const MappedFile>(*std::move(file));
  return std::make_shared<const SourceFile>(path, owner->bytes(), owner);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const SourceFile>> ReadSource(const std::string& path) {
  constexpr size_t kMappedSize = 1 << 16;
  // The text, the module made of it, tables used to read it, what is printed of it.
  constexpr size_t kHeapPerByte = 8;
  std::error_code unsized;
  const size_t size = std::filesystem::file_size(path, unsized);
  if (!unsized && size >= kMappedSize)
    if (std::shared_ptr<const SourceFile> mapped = MapMlirBytecode(path)) return mapped;
  if (!unsized) ExpectHeapUse(kHeapPerByte * size);
  ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  if (unsized) ExpectHeapUse(kHeapPerByte * text.size());
  RETURN_IF_ERROR(Annotate(CheckNotPacked(text), path));
  // A look at the first character spares most files the walk over all lines.
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && absl::StrContains("IWEF", absl::string_view(&text[first], 1)))
    BlankLogPrefixes(text);
  return std::make_shared<const SourceFile>(path == "-" ? "<stdin>" : path, std::move(text));
}

namespace {

absl::Status LoadText(const std::shared_ptr<const SourceFile>& source, const LoadOptions& options,
                      LoadedModule& loaded) {
  Diagnostics diagnostics;
  ParseOptions parse_options;
  parse_options.allow_unknown_attributes = options.allow_unknown_attributes;
  auto parsed = ParseModule(source, parse_options, diagnostics);
  RETURN_IF_ERROR(Report(options, diagnostics, *source, parsed.status()));
  loaded.module = *std::move(parsed);
  return absl::OkStatus();
}

absl::Status LoadStablehlo(const std::shared_ptr<const SourceFile>& source,
                           const LoadOptions& options, LoadedModule& loaded) {
  auto read = ReadStablehlo(source);
  RETURN_IF_ERROR(Report(options, Diagnostics(), *source, read.status()));
  loaded.module = *std::move(read);
  return absl::OkStatus();
}

absl::Status LoadProto(const SourceFile& source, ProtoEncoding encoding, const LoadOptions& options,
                       LoadedModule& loaded) {
  ProtoOptions proto_options;
  proto_options.allow_unknown_fields = options.allow_unknown_attributes;
  absl::StatusOr<ModuleFile> read = ReadModuleFile(source.text(), encoding, proto_options);
  RETURN_IF_ERROR(Report(options, Diagnostics(), source, read.status()));
  static_cast<ModuleFile&>(loaded) = *std::move(read);
  return absl::OkStatus();
}

// A module from protobuf has no places in a text, so what is wrong is shown in its own text.
absl::Status VerifyInText(const Module& module, const SourceFile& source,
                          const LoadOptions& options) {
  Diagnostics unread, found;
  const auto text = std::make_shared<const SourceFile>(source.name() + " (as text)", Print(module));
  const auto parsed = ParseModule(text, {true}, unread);
  if (parsed.ok()) RETURN_IF_ERROR(Report(options, found, *text, Verify(**parsed, found)));
  Diagnostics without_places;
  return Report(options, without_places, source, Verify(module, without_places));
}

// Verifies as executors need it; where that fails and passes alone will see the module, as they do.
absl::Status VerifyLoaded(LoadedModule& loaded, Diagnostics& found, const LoadOptions& options) {
  const absl::Status strict = Verify(*loaded.module, found);
  if (strict.ok() || !options.for_passes) return strict;
  Diagnostics unwanted;
  loaded.for_passes_only = Verify(*loaded.module, unwanted, {.for_passes = true}).ok();
  if (!loaded.for_passes_only) return strict;
  found = Diagnostics();
  return absl::OkStatus();
}

// By the format that was asked for, else by the content, else by the ending of the name.
bool IsStablehlo(const SourceFile& source, absl::string_view format) {
  if (!format.empty()) return format == "mlir" || format == "stablehlo";
  return IsMlir(source.text()) || absl::EndsWith(source.name(), ".mlir") ||
         absl::EndsWith(source.name(), ".mlirbc");
}

}  // namespace

absl::StatusOr<LoadedModule> LoadModule(std::shared_ptr<const SourceFile> source,
                                        const LoadOptions& options) {
  LoadedModule loaded;
  loaded.source = source;
  Stopwatch watch;
  const bool is_mlir = IsStablehlo(*source, options.input_format);
  const auto encoding =
      is_mlir ? std::nullopt : EncodingOf(source->name(), source->text(), options.input_format);
  RETURN_IF_ERROR(is_mlir    ? LoadStablehlo(source, options, loaded)
                  : encoding ? LoadProto(*source, *encoding, options, loaded)
                             : LoadText(source, options, loaded));
  loaded.parse_s = watch.Take();
  if (!options.verify) return loaded;
  Diagnostics found;
  absl::Status verified = VerifyLoaded(loaded, found, options);
  if (encoding && !verified.ok()) {
    RETURN_IF_ERROR(VerifyInText(*loaded.module, *source, options));
  }
  RETURN_IF_ERROR(Report(options, found, *source, verified));
  loaded.verify_s = watch.Take();
  return loaded;
}

namespace {

absl::StatusOr<LoadedModule> Loaded(std::shared_ptr<const SourceFile> source,
                                    StablehloProgram program, double parse_s,
                                    const LoadOptions& options) {
  LoadedModule loaded;
  loaded.source = std::move(source);
  loaded.program = program.name;
  loaded.parse_s = parse_s;
  RETURN_IF_ERROR(Report(options, Diagnostics(), *loaded.source, program.module.status()));
  loaded.module = *std::move(program.module);
  if (!options.verify) return loaded;
  Stopwatch watch;
  Diagnostics found;
  const absl::Status verified = VerifyLoaded(loaded, found, options);
  RETURN_IF_ERROR(Report(options, found, *loaded.source, verified));
  loaded.verify_s = watch.Take();
  return loaded;
}

}  // namespace

std::vector<absl::StatusOr<LoadedModule>> LoadModules(std::shared_ptr<const SourceFile> source,
                                                      const LoadOptions& options) {
  std::vector<absl::StatusOr<LoadedModule>> all;
  if (!IsStablehlo(*source, options.input_format)) {
    all.push_back(LoadModule(std::move(source), options));
    return all;
  }
  Stopwatch watch;
  std::vector<StablehloProgram> programs = ReadStablehloPrograms(source, options.argument_sizes);
  const double parse_s = watch.Take() / static_cast<double>(programs.size());
  if (programs.size() == 1) programs[0].name.clear();
  for (StablehloProgram& program : programs)
    all.push_back(Loaded(source, std::move(program), parse_s, options));
  return all;
}

std::optional<LoadedModule> LoadFile(absl::string_view tool, const std::string& path,
                                     const LoadOptions& options, int& exit_status) {
  auto source = ReadSource(path);
  if (!source.ok()) {
    exit_status = ReportError(tool, source.status());
    return std::nullopt;
  }
  auto loaded = LoadModule(*std::move(source), options);
  if (loaded.ok()) return *std::move(loaded);
  exit_status = ExitStatusOf(loaded.status());
  return std::nullopt;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
