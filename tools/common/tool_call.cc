// Arguments are read twice at most: into our normal form (arguments.h), then row by row of the
// tables of xla_flags.h. What comes from XLA_FLAGS stands before the command line and gives way to
// it.
//
//   XLA_FLAGS=--xla_backend_optimization_level=1 hlo-run a.hlo --iterations=3
//   ->  hlo-run --opt-level=1 a.hlo --iterations=3
// A row says what a flag of XLA's means here: a flag of ours under another name, a value in other
// words, a list of flags, nothing (with or without a note), or a refusal with the reason. A flag
// that no table has is ours or unknown, and CLI11 says so. Files of DebugOptions and descriptions
// of GPUs are read into the same flags.
#include "tools/common/tool_call.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "mpi/mpi_library.h"
#include "support/file.h"
#include "support/status.h"
#include "support/text.h"
#include "tools/common/arguments.h"
#include "tools/common/xla_flags.h"

namespace hlokit {
namespace {

using M = XlaFlag::Meaning;

// One argument: a flag (with a value, where `=` gave one), or a word.
struct Argument {
  std::string name;  // with dashes; empty: a word
  std::optional<std::string> value;
};

std::vector<Argument> Split(absl::Span<const std::string> words) {
  std::vector<Argument> arguments;
  bool flags = true;
  for (size_t k = 0; k < words.size(); ++k) {
    const std::string& word = words[k];
    flags &= word != "--";
    const bool is_flag = flags && absl::StartsWith(word, "--");
    const size_t equals = word.find('=');
    if (!is_flag) {
      arguments.push_back({"", word});
    } else if (equals != std::string::npos) {
      arguments.push_back({word.substr(0, equals), word.substr(equals + 1)});
    } else if (k + 1 < words.size() && words[k + 1].empty()) {  // `--flag=`, normalized
      arguments.push_back({word, ""});
      ++k;
    } else {
      arguments.push_back({word, std::nullopt});
    }
  }
  return arguments;
}

// Whether a switch is on; nullopt where its value is no word for that.
std::optional<bool> IsOn(const std::optional<std::string>& value) {
  const std::string word = absl::AsciiStrToLower(value.value_or("true"));
  if (word == "true" || word == "1" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "0" || word == "no" || word == "off") return false;
  return std::nullopt;
}

bool HasGpu() {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver != nullptr) dlclose(driver);
  return driver != nullptr;
}

// Formats by all names that XLA's programs have for them, in ours; empty where there is none.
std::string FormatNamed(absl::string_view name) {
  static const auto& formats = *new std::map<absl::string_view, absl::string_view>{
      {"hlo", "text"},
      {"txt", "text"},
      {"long_txt", "text"},
      {"short_txt", "short"},
      {"mhlo", "stablehlo"},
      {"mlir", "stablehlo"},
      {"proto", "pb"},
      {"proto_binary", "pb"},
      {"hlo_pb", "pb"},
      {"snapshot_proto_binary", "pb"},
      {"unoptimized_snapshot_proto_binary", "pb"},
      {"proto_text", "pbtxt"},
      {"snapshot_proto_text", "pbtxt"},
      {"unoptimized_snapshot_proto_text", "pbtxt"}};
  const auto found = formats.find(name);
  return std::string(found == formats.end() ? name : found->second);
}

// That of a GPU's description under another name; empty where it cannot be read, or tells none.
std::string ArchInside(absl::string_view path) {
  constexpr absl::string_view kMajor = "major:", kMinor = "minor:";
  const auto text = ReadFile(std::string(path));
  if (!text.ok()) return "";
  const auto number_after = [&](absl::string_view key, size_t from) {
    const size_t at = text->find(key.data(), from, key.size());
    int64_t number = -1;
    if (at == std::string::npos) return number;
    absl::string_view rest = absl::string_view(*text).substr(at + key.size());
    rest = absl::StripLeadingAsciiWhitespace(rest);
    return absl::SimpleAtoi(rest.substr(0, rest.find_first_not_of("0123456789")), &number) ? number
                                                                                           : -1;
  };
  const size_t at = text->find("cuda_compute_capability");
  if (at == std::string::npos) return "";
  const int64_t major = number_after(kMajor, at);
  const int64_t minor = std::max<int64_t>(number_after(kMinor, at), 0);
  return major < 0 ? "" : absl::StrCat("sm_", major, minor);
}

// The architecture of a GPU's description (h100_sxm.txtpb): by the name of the file, as XLA ships
// them, so that the file itself need not be here; under other names by what the file says.
absl::StatusOr<std::string> ArchOf(absl::string_view path) {
  struct Gpu {
    absl::string_view name, arch;
  };
  constexpr Gpu kGpus[] = {{"v100", "sm_70"},
                           {"t4", "sm_75"},
                           {"a100", "sm_80"},
                           {"a6000", "sm_86"},
                           {"a10", "sm_86"},
                           {"l4", "sm_89"},
                           {"h100", "sm_90"},
                           {"h200", "sm_90"},
                           {"gh200", "sm_90"},
                           {"b200", "sm_100"},
                           {"gb200", "sm_100"},
                           {"b300", "sm_100"},
                           {"gb300", "sm_100"},
                           // Its driver translates PTX of the older one.
                           {"rtx6000pro", "sm_100"}};
  const absl::string_view file = path.substr(path.rfind('/') + 1);
  const absl::string_view name = file.substr(0, file.find_first_of("_."));
  std::vector<absl::string_view> known;
  for (const Gpu& gpu : kGpus) {
    if (gpu.name == name) return std::string(gpu.arch);
    known.push_back(gpu.name);
  }
  if (std::string arch = ArchInside(path); !arch.empty()) return arch;
  return InvalidArgument("--xla_gpu_target_config_filename: no GPU ", name, "; there are ",
                         absl::StrJoin(known, ", "), " (--gpu-arch=sm_90 names one by itself)");
}

// `a: 1` lines of a DebugOptions message as flags.
absl::StatusOr<std::vector<std::string>> DebugOptionsFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::vector<std::string> flags;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    const size_t colon = line.find(':');
    if (line.empty() || line[0] == '#' || colon == line.npos) continue;
    const std::string name = absl::StrReplaceAll(line.substr(0, colon), {{"_", "-"}});
    absl::string_view value = absl::StripAsciiWhitespace(line.substr(colon + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    flags.push_back(absl::StrCat("--", name, "=", value));
  }
  return flags;
}

// Puts the arguments of one source into the tool's words.
class Translator {
 public:
  Translator(Callers caller, const std::function<FlagKind(absl::string_view)>& knows)
      : caller_(caller), knows_(knows) {}

  absl::Status Add(const std::vector<std::string>& words) {
    const std::vector<Argument> arguments = Split(words);
    for (size_t k = 0; k < arguments.size(); ++k) {
      Argument argument = WithoutNo(arguments[k]);
      const XlaFlag* const row =
          argument.name.empty() ? nullptr : FindXlaFlag(caller_, argument.name);
      // A row of the caller's own counts before a flag of ours of the same name.
      const bool kind_only = row != nullptr && row->name != argument.name;
      if (row == nullptr || (kind_only && knows_(argument.name) != FlagKind::kUnknown)) {
        const bool value_follows = !argument.value && k + 1 < arguments.size() &&
                                   knows_(argument.name) == FlagKind::kWithValue;
        NoteDebugOption(argument.name, value_follows ? arguments[k + 1].value : argument.value);
        Keep(argument);
        continue;
      }
      const bool takes_next = !argument.value && k + 1 < arguments.size() &&
                              arguments[k + 1].name.empty() &&
                              (TakesValue(row->meaning) || IsPlainValue(*arguments[k + 1].value));
      if (takes_next) argument.value = arguments[++k].value;
      NoteDebugOption(argument.name, argument.value);
      if (kind_only && SuggestNear(argument.name)) continue;
      RETURN_IF_ERROR(Translate(*row, argument));
    }
    return absl::OkStatus();
  }

  bool Has(absl::string_view name) const {
    return std::any_of(out_.begin(), out_.end(), [&](const Argument& a) { return a.name == name; });
  }
  std::string Take(absl::string_view name, absl::string_view otherwise) {
    std::string value(otherwise);
    for (const Argument& argument : out_)
      if (argument.name == name && argument.value) value = *argument.value;
    std::erase_if(out_, [&](const Argument& a) { return a.name == name; });
    return value;
  }
  void Put(absl::string_view name, absl::string_view value) {
    out_.push_back({std::string(name), std::string(value)});
  }
  void Warn(absl::string_view reason, absl::string_view flag) {
    std::vector<std::string>& flags = warned_[std::string(reason)];
    const std::string spelt = Spelt(flag);
    if (std::find(flags.begin(), flags.end(), spelt) == flags.end()) flags.push_back(spelt);
  }

  // Of a source whose words are all flags: each is known, and has a value where it needs one.
  absl::Status CheckFlags(absl::string_view source) const {
    for (const Argument& argument : out_) {
      const FlagKind kind = knows_(argument.name);
      if (argument.name.empty()) continue;
      if (kind == FlagKind::kUnknown && as_given_.contains(argument.name))
        return InvalidArgument(source, ": ", Spelt(argument.name), " is no flag of XLA's");
      if (kind == FlagKind::kWithValue && !argument.value)
        return InvalidArgument(source, ": ", Spelt(argument.name), " needs a value (",
                               Spelt(argument.name), "=...)");
    }
    return absl::OkStatus();
  }

  void Note(std::string warning) { notes_.push_back(std::move(warning)); }

  // Those in `others` count before those so far.
  void GiveWayTo(const Translator& others) {
    std::erase_if(out_, [&](const Argument& a) { return !a.name.empty() && others.Has(a.name); });
  }
  // The fields of DebugOptions that flags set, as a text of protobuf's.
  std::string DebugOptions() const {
    std::string text;
    for (const absl::string_view field : XlaCompilerFlags()) {
      const auto given = debug_options_.find(std::string(field));
      if (given == debug_options_.end()) continue;
      const bool bare = IsPlainValue(given->second) && !HoldsAString(field);
      absl::StrAppend(&text, "xla_", field, ": ",
                      bare ? given->second : absl::StrCat("\"", given->second, "\""), "\n");
    }
    return text;
  }
  void Append(Translator&& others) {
    out_.insert(out_.end(), others.out_.begin(), others.out_.end());
    notes_.insert(notes_.end(), others.notes_.begin(), others.notes_.end());
    for (auto& [field, value] : others.debug_options_) debug_options_[field] = std::move(value);
    for (const auto& [reason, flags] : others.warned_)
      for (const std::string& flag : flags) Warn(reason, flag);
  }

  ToolCall Result() const {
    ToolCall call;
    call.warnings = notes_;
    for (const Argument& argument : out_) {
      if (argument.name.empty()) {
        call.arguments.push_back(*argument.value);
      } else if (argument.value && argument.value->empty()) {
        call.arguments.insert(call.arguments.end(), {argument.name, ""});
      } else {
        call.arguments.push_back(argument.value ? absl::StrCat(argument.name, "=", *argument.value)
                                                : argument.name);
      }
    }
    for (const auto& [reason, flags] : warned_)
      call.warnings.push_back(absl::StrCat(absl::StrJoin(flags, ", "),
                                           flags.size() == 1 ? " has" : " have",
                                           " no effect here: ", reason));
    return call;
  }

 private:
  static bool TakesValue(M meaning) {
    return meaning == M::kIs || meaning == M::kFile || meaning == M::kPlatform ||
           meaning == M::kFormat || meaning == M::kGpuTarget;
  }

  // After a switch, or a flag that has no effect, only what is no file's name is its value.
  static bool IsPlainValue(absl::string_view word) {
    double number;
    return word == "true" || word == "false" || absl::SimpleAtod(word, &number);
  }

  // Whether a field's value is a string even where it looks like a number.
  static bool HoldsAString(absl::string_view field) {
    constexpr absl::string_view kEndings[] = {"_re", "_to", "_from", "_path", "_dir", "_filename"};
    return std::any_of(std::begin(kEndings), std::end(kEndings),
                       [&](absl::string_view ending) { return absl::EndsWith(field, ending); });
  }

  // `--noX` and `--no-X`, where only a switch X exists, as `--X=false`.
  Argument WithoutNo(const Argument& argument) const {
    absl::string_view rest = argument.name;
    if (argument.value || !absl::ConsumePrefix(&rest, "--no") || rest.empty() ||
        knows_(argument.name) != FlagKind::kUnknown ||
        FindXlaFlag(caller_, argument.name) != nullptr)
      return argument;
    absl::ConsumePrefix(&rest, "-");
    const std::string name = absl::StrCat("--", rest);
    const XlaFlag* const row = FindXlaFlag(caller_, name);
    const bool is_switch = row == nullptr           ? knows_(name) == FlagKind::kSwitch
                           : row->meaning == M::kIs ? knows_(row->target) == FlagKind::kSwitch
                                                    : !TakesValue(row->meaning);
    return is_switch ? Argument{name, "false"} : argument;
  }

  // As XLA writes it.
  static std::string Spelt(absl::string_view flag) {
    return absl::StrCat("--", absl::StrReplaceAll(flag.substr(2), {{"-", "_"}}));
  }

  // Warns of a flag that XLA does not have and that looks like one of its own.
  bool SuggestNear(absl::string_view name) {
    if (IsXlaCompilerFlag(name)) return false;
    const auto near = [&](absl::string_view known) { return EditDistance(name, known, 2) <= 2; };
    std::string meant = near("--xla-dump-to") ? "--xla-dump-to" : "";
    for (const XlaFlag& row : XlaFlags())
      if ((row.callers & caller_) != 0 && HasMeaning(row) && near(row.name))
        meant = std::string(row.name);
    if (meant.empty()) meant = NearXlaCompilerFlag(name);
    if (meant.empty()) return false;
    Warn(absl::StrCat("did you mean ", Spelt(meant), "?"), name);
    return true;
  }

  // What XLA would keep in a field of DebugOptions.
  void NoteDebugOption(absl::string_view flag, const std::optional<std::string>& value) {
    if (!IsXlaCompilerFlag(flag)) return;
    const std::string field = absl::StrReplaceAll(absl::StripPrefix(flag, "--xla-"), {{"-", "_"}});
    debug_options_[field] = value.value_or("true");
  }

  void Keep(const Argument& argument) {
    as_given_.insert(argument.name);
    out_.push_back(argument);
  }

  // A switch of the tool's own, `--no-passes` or `--format=pb`, once.
  void PutSwitch(absl::string_view text) {
    const size_t equals = text.find('=');
    const std::string name(text.substr(0, equals));
    if (Has(name)) return;
    Argument argument{name, std::nullopt};
    if (equals != text.npos) argument.value = std::string(text.substr(equals + 1));
    out_.push_back(argument);
  }

  // At the end of --passes, but for those that stand there already.
  void AddPasses(absl::string_view names) {
    const std::string before = Take("--passes", "");
    std::vector<absl::string_view> passes = absl::StrSplit(before, ',', absl::SkipEmpty());
    for (const absl::string_view name : absl::StrSplit(names, ','))
      if (std::find(passes.begin(), passes.end(), name) == passes.end()) passes.push_back(name);
    Put("--passes", absl::StrJoin(passes, ","));
  }

  absl::Status Translate(const XlaFlag& row, const Argument& argument) {
    const std::optional<bool> on = IsOn(argument.value);
    const std::string value = argument.value.value_or("");
    switch (row.meaning) {
      case M::kIs:
        out_.push_back({std::string(row.target), argument.value});
        return absl::OkStatus();
      case M::kWhereOn:
      case M::kWhereOff:
      case M::kThreads:
        if (!on)
          return InvalidArgument(Spelt(argument.name), ": expected true or false, given ", value);
        if (*on == (row.meaning == M::kWhereOn)) PutSwitch(row.target);
        return absl::OkStatus();
      case M::kPasses:
        if (!on)
          return InvalidArgument(Spelt(argument.name), ": expected true or false, given ", value);
        if (*on) AddPasses(row.target);
        return absl::OkStatus();
      case M::kFile:
        if (!argument.value) return InvalidArgument(Spelt(argument.name), " needs a file");
        out_.push_back({"", value});
        return absl::OkStatus();
      case M::kAlways:
        return absl::OkStatus();
      case M::kAlwaysOn:
      case M::kAlwaysOff:
        if (on && *on != (row.meaning == M::kAlwaysOn)) Warn(row.target, argument.name);
        if (!on) Warn(row.target, argument.name);
        return absl::OkStatus();
      case M::kNoEffect:
        Warn(row.target, argument.name);
        return absl::OkStatus();
      case M::kRefused:
        return InvalidArgument(Spelt(argument.name), " is not to be had here: ", row.target);
      case M::kPlatform:
        Put(row.target, PlatformNamed(value, argument.name));
        return absl::OkStatus();
      case M::kFormat:
        if (value == "riegeli" || value == "snappy")
          return InvalidArgument(
              Spelt(argument.name), "=", value, ": no tool here reads ", value,
              " files; --xla_dump_hlo_as_proto=true writes .pb files, which all read");
        if (value == "dot" || value == "url")
          return InvalidArgument(Spelt(argument.name), "=", value,
                                 ": hlo-viz FILE -o OUT.dot draws (", ".svg and .html too)");
        if (value == "html" && caller_ == kIsolateHlo) {
          PutSwitch("--stage=html");
          return absl::OkStatus();
        }
        if (!value.empty()) Put(row.target, FormatNamed(value));
        return absl::OkStatus();
      case M::kGpuTarget: {
        ASSIGN_OR_RETURN(const std::string arch, ArchOf(value));
        Put(row.target, arch);
        return absl::OkStatus();
      }
    }
    return absl::OkStatus();
  }

  // GPUs are simulated where there is none.
  std::string PlatformNamed(const std::string& value, absl::string_view flag) {
    const std::string name = absl::AsciiStrToLower(value);
    const bool is_gpu = name == "gpu" || name == "cuda";
    if (caller_ == kHloOpt) return name == "cuda" ? "gpu" : name == "host" ? "cpu" : name;
    if (!is_gpu || HasGpu()) return name;
    notes_.push_back(absl::StrCat(Spelt(flag), "=", value,
                                  ": there is no NVIDIA driver; the GPU is ",
                                  "simulated, slowly (cpu is fast)"));
    return "ptx-sim";
  }

  const Callers caller_;
  const std::function<FlagKind(absl::string_view)>& knows_;
  std::vector<Argument> out_;
  std::set<std::string> as_given_;                          // names that no table has
  std::map<std::string, std::vector<std::string>> warned_;  // flags by reason
  std::map<std::string, std::string> debug_options_;  // XLA's fields, whether we heed them or not
  std::vector<std::string> notes_;                    // other warnings
};

// xla_compile writes an executable of XLA's; hlo-aot an object whose program has a name in C.
absl::Status AddCompileDefaults(Translator& call) {
  const std::string platform = absl::AsciiStrToLower(call.Take("--platform", "cpu"));
  if (platform != "cpu" && platform != "host")
    return InvalidArgument("--platform=", platform, " is not to be had here: hlo-opt ",
                           "--platform=gpu --stage=ptx --gpu-arch=sm_90 compiles for GPUs");
  if (!call.Has("--name")) call.Put("--name", "xla_program");
  return absl::OkStatus();
}

// What XLA's program does where no flag says otherwise.
absl::Status AddDefaults(Callers caller, Translator& call) {
  if (caller == kRunHloModule && !call.Has("--reference-platform") && !call.Has("--compile-only"))
    call.Put("--reference-platform", "interpreter");
  if (caller == kProtoToJson && !call.Has("--format")) call.Put("--format", "json");
  if (caller == kShowSignature) call.Put("--format", "signature");
  if (caller == kTranslate && call.Has("--format")) call.Put("--stablehlo-importer-forms", "true");
  if (caller == kShowLiteral) call.Put("--format", "literal");
  if (caller == kXlaCompile) RETURN_IF_ERROR(AddCompileDefaults(call));
  if (caller == kDumpedToOperations) call.Put("--format", "operations");
  if (caller == kDumpedToText && !call.Has("--format")) call.Put("--format", "short");
  if (caller == kDumpedToGraph) {
    if (!call.Has("--format")) call.Put("--format", "dot");
    if (!call.Has("--output")) call.Put("--output", "-");
  }
  if (caller == kGraphviz && !call.Has("--repl")) call.Put("--repl", "true");
  if (caller == kIsolationTest) call.Put("--isolate-instructions", "true");
  if (caller == kHloRunner) {
    const std::string nodes = call.Take("--num-nodes", "1"), task = call.Take("--task-id", "0");
    call.Take("--address", "");
    if ((nodes != "1" || task != "0") && nodes != absl::StrCat(LaunchedProcesses()))
      return InvalidArgument("--num_nodes=", nodes, " --task_id=", task,
                             ": start the processes with ", "mpirun -n ", nodes,
                             " or srun, or leave --num_nodes, --task_id and ",
                             "--address out: one process runs all devices");
  }
  if (caller == kBisect) {
    const std::string test = call.Take("--test-platform", "cpu");
    const std::string reference = call.Take("--reference-platform", "interpreter");
    const std::string folder = call.Take("--dump-path", "");
    if (!call.Has("--script")) {
      call.Put("--mismatch", absl::StrCat(test, ",", reference));
      if (!call.Has("--abs-error")) call.Put("--abs-error", "0.01");
      if (!call.Has("--rel-error")) call.Put("--rel-error", "0.1");
    }
    if (!folder.empty()) call.Put("--output-folder", folder);
  }
  return absl::OkStatus();
}

Callers CallerOf(absl::string_view tool, const XlaProgram* program) {
  if (program != nullptr && program->tool == tool) return program->caller;
  if (tool == "hlo-run") return kHloRun;
  if (tool == "hlo-opt") return kHloOpt;
  if (tool == "hlo-aot") return kHloAot;
  return tool == "hlo-diff" ? kHloDiff : kOtherTool;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> XlaFlagWords(absl::string_view value,
                                                      std::string* unread) {
  value = absl::StripAsciiWhitespace(value);
  std::string text(value);
  if (!value.empty() && value[0] != '-') {
    auto read = ReadFile(text);
    if (!read.ok())
      return InvalidArgument("XLA_FLAGS begins with no dash, so it names a file: ",
                             read.status().message());
    text = *std::move(read);
  }
  std::vector<std::string> words;
  bool in_word = false;
  char quote = '\0';
  for (const char c : text) {
    if (quote == '\0' && absl::ascii_isspace(c)) {
      in_word = false;
    } else if (c == quote) {
      quote = '\0';
    } else {
      if (!in_word) words.emplace_back();
      in_word = true;
      if (quote == '\0' && (c == '"' || c == '\'')) {
        quote = c;
      } else {
        words.back() += c;
      }
    }
  }
  const auto end = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return !absl::StartsWith(word, "-");
  });
  if (unread != nullptr) *unread = absl::StrJoin(end, words.end(), " ");
  words.erase(end, words.end());
  return words;
}

absl::StatusOr<ToolCall> ReadToolCall(absl::string_view tool, int argc, const char* const* argv,
                                      const std::function<FlagKind(absl::string_view)>& knows) {
  const Callers caller = CallerOf(tool, argc > 0 ? FindXlaProgram(argv[0]) : nullptr);
  Translator call(caller, knows);
  RETURN_IF_ERROR(call.Add(NormalizeArguments(argc, argv)));
  Translator behind(caller, knows);
  const bool compiles = (caller & (kRunners | kOpts | kHloAot | kXlaCompile)) != 0;
  if (const std::string file = compiles ? call.Take("--debug-options-file", "") : "";
      !file.empty()) {
    ASSIGN_OR_RETURN(const std::vector<std::string> flags, DebugOptionsFile(file));
    RETURN_IF_ERROR(behind.Add(flags));
  }
  if (const char* value = std::getenv("XLA_FLAGS"); compiles && value != nullptr) {
    std::string unread;
    ASSIGN_OR_RETURN(const std::vector<std::string> words, XlaFlagWords(value, &unread));
    if (!unread.empty())
      call.Note(absl::StrCat("XLA_FLAGS: '", unread, "' has no effect, as in XLA: its first word ",
                             "is no flag, and nothing after it is read"));
    std::vector<const char*> pointers = {"XLA_FLAGS"};
    for (const std::string& word : words) pointers.push_back(word.c_str());
    Translator from_environment(caller, knows);
    RETURN_IF_ERROR(from_environment.Add(
        NormalizeArguments(static_cast<int>(pointers.size()), pointers.data())));
    RETURN_IF_ERROR(from_environment.CheckFlags("XLA_FLAGS"));
    behind.GiveWayTo(from_environment);
    behind.Append(std::move(from_environment));
  }
  if (const char* value = std::getenv("XLA_FLAGS");
      value != nullptr && *value != '\0' && !compiles && tool != "hlo-reduce")
    call.Note(absl::StrCat("XLA_FLAGS has no effect here: ", tool, " compiles nothing"));
  behind.GiveWayTo(call);
  behind.Append(std::move(call));
  RETURN_IF_ERROR(AddDefaults(caller, behind));
  if (const std::string options = behind.DebugOptions();
      !options.empty() && knows("--xla-debug-options") != FlagKind::kUnknown)
    behind.Put("--xla-debug-options", options);
  return behind.Result();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
