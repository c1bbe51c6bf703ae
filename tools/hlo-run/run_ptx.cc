// A kernel's arguments from --input, its run, and its buffers as results.
//
//   --ptx k.ptx --kernel=add --grid=4 --block=256 --input=x.npy --input='f32[1024]' --input=100
// One --input a parameter, in order: a file or a literal with values is a buffer that is copied in,
// a shape alone a buffer of zeros, a number without a shape a scalar by the parameter's own type.
// After the run each buffer is a result, so that --output, --expected and comparisons work as for
// modules.
#include "tools/hlo-run/run_ptx.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "parser/parser.h"
#include "ptxsim/decode.h"
#include "ptxsim/launch.h"
#include "ptxsim/parser.h"
#include "ptxsim/profile.h"
#include "support/file.h"
#include "support/status.h"
#include "tools/common/exit_status.h"
#include "tools/common/messages.h"
#include "tools/common/report.h"
#include "tools/hlo-run/outputs.h"
#include "tools/hlo-run/probe_text.h"
#include "types/npy.h"
#include "types/npz.h"

namespace hlokit {
namespace {

// What --input gives for one parameter.
struct Argument {
  std::string text;        // a number without a shape, `100`
  Literal literal;         // else
  bool is_written = true;  // false: a shape without values, `f32[1024]`
};

// `f32[4] {1,2,3,4}` and `f32[4]`, told from a file's name by their first word and bracket.
bool IsLiteralText(absl::string_view text) {
  const size_t bracket = text.find('[');
  if (bracket == absl::string_view::npos || bracket == 0 || bracket > 16) return false;
  return std::all_of(text.begin(), text.begin() + static_cast<int64_t>(bracket),
                     [](char c) { return absl::ascii_isalnum(c); });
}

absl::StatusOr<Argument> ArgumentOfText(absl::string_view text) {
  Argument argument;
  if (absl::StatusOr<Shape> shape = ParseShape(text); shape.ok() && !shape->IsScalar()) {
    argument.literal = Literal(*shape);
    argument.is_written = false;
    return argument;
  }
  ASSIGN_OR_RETURN(argument.literal, ParseLiteral(text));
  return argument;
}

absl::Status ReadArguments(const std::string& input, std::vector<Argument>& arguments) {
  Argument argument;
  double number = 0;
  if (IsLiteralText(input)) {
    ASSIGN_OR_RETURN(argument, ArgumentOfText(input));
  } else if (absl::EndsWith(input, ".npz")) {
    ASSIGN_OR_RETURN(const NpzFile archive, NpzFile::Open(input));
    for (int i = 0; archive.Contains(absl::StrCat("in", i)); ++i) {
      ASSIGN_OR_RETURN(const NumpyArray array, archive.Read(absl::StrCat("in", i)));
      ASSIGN_OR_RETURN(argument.literal, ToLiteral(array));
      arguments.push_back(std::move(argument));
      argument = Argument();
    }
    return absl::OkStatus();
  } else if (absl::EndsWith(input, ".npy")) {
    ASSIGN_OR_RETURN(const NumpyArray array, ReadNpy(input));
    ASSIGN_OR_RETURN(argument.literal, ToLiteral(array));
  } else if (absl::EndsWith(input, ".txt")) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(input));
    ASSIGN_OR_RETURN(argument, ArgumentOfText(absl::StripAsciiWhitespace(text)));
  } else if (absl::SimpleAtod(input, &number) || absl::StartsWith(input, "0x")) {
    argument.text = input;
  } else {
    return InvalidArgument("--input ", input,
                           ": expected a literal such as f32[2] {1, 2}, a shape, a number, or a "
                           ".npy, .npz or .txt file");
  }
  arguments.push_back(std::move(argument));
  return absl::OkStatus();
}

// The bits of a number for a parameter of `bytes` bytes: a float where it has a point or the
// parameter's type is one.
absl::StatusOr<uint64_t> BitsOfNumber(const std::string& text, ptx::Type type, int64_t bytes) {
  const bool is_hex = absl::StartsWith(text, "0x");
  const bool is_float =
      ptx::IsFloat(type) || (!is_hex && text.find_first_of(".eEni") != std::string::npos);
  uint64_t bits = 0;
  if (is_float) {
    double value = 0;
    if (!absl::SimpleAtod(text, &value)) return InvalidArgument("`", text, "` is no number");
    const auto single = static_cast<float>(value);
    if (bytes == 8) std::memcpy(&bits, &value, 8);
    if (bytes == 4) std::memcpy(&bits, &single, 4);
    if (bytes != 4 && bytes != 8)
      return InvalidArgument("a float of ", bytes, " bytes wants a literal such as f16[] 1");
    return bits;
  }
  int64_t value = 0;
  if (is_hex ? !absl::SimpleHexAtoi(text, &bits)
             : !absl::SimpleAtoi(text, &bits) && !absl::SimpleAtoi(text, &value))
    return InvalidArgument("`", text, "` is no integer");
  return bits | static_cast<uint64_t>(value);
}

// The kernel's parameters in memory, and the buffers that they point to.
class Arguments {
 public:
  explicit Arguments(const ptx::Program& program)
      : program_(program), bytes_(static_cast<size_t>(program.parameter_bytes)) {}

  absl::Status Fill(std::vector<Argument> arguments, ptx::Memory& memory);
  absl::Span<const std::byte> bytes() const { return bytes_; }
  // Literals with what the kernel left in the buffers, in the order of parameters.
  Literal TakeResults(ptx::Memory& memory);

 private:
  struct Buffer {
    uint64_t address;
    Literal literal;
  };
  absl::Status Put(const ptx::Program::Parameter& parameter, Argument argument, int number,
                   ptx::Memory& memory);

  const ptx::Program& program_;
  std::vector<std::byte> bytes_;
  std::vector<Buffer> buffers_;
};

absl::Status Arguments::Fill(std::vector<Argument> arguments, ptx::Memory& memory) {
  if (arguments.size() != program_.parameters.size())
    return InvalidArgument("kernel ", program_.functions[0]->function->name, " takes ",
                           program_.parameters.size(), " parameters, given ", arguments.size(),
                           " inputs");
  for (size_t i = 0; i < arguments.size(); ++i)
    RETURN_IF_ERROR(
        Annotate(Put(program_.parameters[i], std::move(arguments[i]), static_cast<int>(i), memory),
                 absl::StrCat("parameter ", i, " (", program_.parameters[i].name, ")")));
  return absl::OkStatus();
}

absl::Status Arguments::Put(const ptx::Program::Parameter& parameter, Argument argument, int number,
                            ptx::Memory& memory) {
  std::byte* to = bytes_.data() + parameter.offset;
  if (!argument.text.empty()) {
    ASSIGN_OR_RETURN(const uint64_t bits,
                     BitsOfNumber(argument.text, parameter.type, parameter.size));
    std::memcpy(to, &bits, std::min<size_t>(8, static_cast<size_t>(parameter.size)));
    return absl::OkStatus();
  }
  const Shape& shape = argument.literal.shape();
  const int64_t size = shape.ByteSize();
  const bool by_value = !parameter.is_pointer && (shape.IsScalar() || parameter.is_array);
  if (by_value) {
    if (size != parameter.size)
      return InvalidArgument("expected ", parameter.size, " bytes, given ", Text(shape), " of ",
                             size);
    std::memcpy(to, argument.literal.data(), static_cast<size_t>(size));
    return absl::OkStatus();
  }
  if (parameter.size != 8)
    return InvalidArgument("a value of ", parameter.size, " bytes is no pointer to ", Text(shape));
  ASSIGN_OR_RETURN(const uint64_t address,
                   memory.Allocate(size, absl::StrCat("parameter ", number), argument.is_written));
  if (size > 0)
    std::memcpy(memory.Host(address, size), argument.literal.data(), static_cast<size_t>(size));
  std::memcpy(to, &address, sizeof(address));
  buffers_.push_back({address, std::move(argument.literal)});
  return absl::OkStatus();
}

Literal Arguments::TakeResults(ptx::Memory& memory) {
  std::vector<Literal> results;
  for (Buffer& buffer : buffers_) {
    const int64_t size = buffer.literal.shape().ByteSize();
    if (size > 0)
      std::memcpy(buffer.literal.data(), memory.Host(buffer.address, size),
                  static_cast<size_t>(size));
    results.push_back(std::move(buffer.literal));
  }
  return Literal::Tuple(std::move(results));
}

absl::StatusOr<const ptx::Function*> FindKernel(const ptx::Module& module,
                                                const std::string& name) {
  const std::vector<std::string> names = module.EntryNames();
  if (name.empty()) {
    if (names.size() == 1) return module.FindFunction(names[0]);
    return InvalidArgument("--kernel is needed: the file has ", names.size(),
                           " kernels: ", absl::StrJoin(names, ", "));
  }
  const ptx::Function* function = module.FindFunction(name);
  if (function != nullptr && function->is_entry) return function;
  return InvalidArgument("there is no kernel `", name,
                         "`; the file has: ", absl::StrJoin(names, ", "));
}

ptx::LaunchOptions LaunchOptionsOf(const RunOptions& o) {
  ptx::LaunchOptions launch;
  std::copy(o.ptx.grid.begin(), o.ptx.grid.end(), launch.grid);
  std::copy(o.ptx.block.begin(), o.ptx.block.end(), launch.block);
  std::copy(o.ptx.cluster.begin(), o.ptx.cluster.end(), launch.cluster);
  launch.dynamic_shared = o.ptx.shared;
  launch.profile = !o.profile.empty();
  launch.threads = ThreadsOf(o);
  launch.max_steps = o.max_steps;
  launch.checks = LaunchChecksOf(o);
  return launch;
}

absl::Status ReportRun(const RunOptions& o, const Literal& results, const ptx::LaunchStats& stats) {
  if (o.print_literals || (o.output.empty() && o.json.empty()))
    PrintOut(DescribeResults({results}, o.print_literals));
  if (!o.output.empty()) RETURN_IF_ERROR(WriteResults(o.output, {results}));
  if (o.stats)
    PrintOut(absl::StrFormat("%d warp instructions, %d thread instructions, %.3f s\n",
                             stats.warp_instructions, stats.thread_instructions, stats.seconds));
  if (o.json.empty()) return absl::OkStatus();
  JsonObject json;
  json.Add("platform", "ptx-sim");
  json.Add("run_min_s", stats.seconds);
  json.Add("warp_instructions", stats.warp_instructions);
  json.Add("thread_instructions", stats.thread_instructions);
  json.Add("peak_rss_mib", PeakRssMib());
  return AtomicWriteFile(o.json, json.Text());
}

absl::Status RunKernel(const RunOptions& o, const ptx::Program& program) {
  ptx::Memory memory;
  std::vector<Argument> given;
  for (const std::string& input : o.inputs) RETURN_IF_ERROR(ReadArguments(input, given));
  Arguments arguments(program);
  RETURN_IF_ERROR(ptx::LoadVariables(program, memory));
  RETURN_IF_ERROR(arguments.Fill(std::move(given), memory));
  ptx::LaunchStats stats;
  const absl::Status status =
      ptx::Launch(program, memory, arguments.bytes(), LaunchOptionsOf(o), stats);
  PrintOut(stats.output);
  RETURN_IF_ERROR(status);
  if (o.wants_profile_table()) {
    PrintOut(ptx::CountsText(*stats.counts, ptx::FindGpuModel("h100")));
  } else if (stats.counts != nullptr) {
    RETURN_IF_ERROR(
        ptx::AppendCounts(o.profile, program.functions[0]->function->name, *stats.counts));
  }
  return ReportRun(o, arguments.TakeResults(memory), stats);
}

}  // namespace

int RunPtx(const RunOptions& o) {
  absl::StatusOr<std::string> text = ReadFile(o.ptx.file);
  if (!text.ok()) return ReportError(kTool, text.status());
  const auto source = std::make_shared<SourceFile>(o.ptx.file, *std::move(text));
  Diagnostics diagnostics;
  const std::shared_ptr<const ptx::Module> module = ptx::ParseModule(source, diagnostics);
  std::unique_ptr<ptx::Program> program;
  if (module != nullptr) {
    const absl::StatusOr<const ptx::Function*> kernel = FindKernel(*module, o.ptx.kernel);
    if (!kernel.ok()) return ReportError(kTool, kernel.status());
    program = ptx::DecodeKernel(module, **kernel, diagnostics);
  }
  if (program == nullptr) {
    ShowMessages(diagnostics, *source);
    return kExitUsage;
  }
  return ReportError(kTool, RunKernel(o, *program), source.get());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
