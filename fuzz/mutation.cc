// hlokit_mutation: damages modules and watches what the reader and the verifier do.
//   hlokit_mutation check COUNT SEED FILE...   nothing may crash, hang, or print what does not read
//                                              back; texts are dealt out evenly over the files
//   hlokit_mutation emit COUNT SEED FILE...    each mutant with our judgement, for
//   scripts/xla/mutation_test.py hlokit_mutation serve                      judges texts from standard
//   input
// A frame of `serve` is a line `LENGTH [option=value,...]` and that many bytes; its answer, and
// what `emit` writes after the text's own frame, is `VERDICT MICROSECONDS FIXED MESSAGE PRINTED`
// (the last two are lengths) and those bytes.
#include <csignal>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "fuzz/damage.h"
#include "fuzz/judge.h"
#include "support/file.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr double kMaxSeconds = 1;

char g_current[512] = "no text yet";  // for the signal handler

void TellWhere(int signal) {
  std::fprintf(stderr, "signal %d at %s\n", signal, g_current);
  std::_Exit(1);
}

bool SetOption(PrintOptions& options, absl::string_view name, absl::string_view value) {
  if (name == "base") {
    if (value == "short") options = PrintOptions::Short();
    if (value == "canonical") options = PrintOptions::Canonical();
    if (value == "fingerprint") options = PrintOptions::Fingerprint();
    return true;
  }
  if (name == "indent_amount") return absl::SimpleAtoi(value, &options.indent_amount);
  for (const PrintSwitch& row : PrintSwitches())
    if (row.name == name) return options.*row.member = value == "1", true;
  return false;
}

void Answer(const Judgement& j) {
  std::cout << AsStd(Text(j.verdict)) << ' ' << static_cast<int64_t>(j.cpu_seconds * 1e6) << ' '
            << (j.fixed_point ? 1 : 0) << ' ' << j.message.size() << ' ' << j.printed.size() << '\n'
            << j.message << j.printed << std::flush;
}

int Serve() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const std::vector<std::string> parts = absl::StrSplit(line, ' ');
    size_t length = 0;
    if (!absl::SimpleAtoi(parts[0], &length)) return 2;
    std::string text(length, '\0');
    std::cin.read(text.data(), static_cast<std::streamsize>(length));
    PrintOptions options;
    for (absl::string_view item :
         absl::StrSplit(parts.size() > 1 ? parts[1] : "", ',', absl::SkipEmpty())) {
      const std::pair<std::string, std::string> pair =
          absl::StrSplit(item, absl::MaxSplits('=', 1));
      if (!SetOption(options, pair.first, pair.second)) return 2;
    }
    Answer(Judge(text, options, parts.size() > 2));
  }
  return 0;
}

struct Source {
  std::string path, text;
};

// Calls fn(source, seed, mutant) for each of `count` mutants; stops where it returns false.
template <typename Fn>
bool ForEachMutant(const std::vector<Source>& sources, uint64_t count, uint64_t seed, Fn fn) {
  for (uint64_t n = 0; n < count; ++n) {
    const Source& source = sources[n % sources.size()];
    const uint64_t own = seed * 1000003 + n;
    std::snprintf(g_current, sizeof(g_current), "%s, seed %llu", source.path.c_str(),
                  static_cast<unsigned long long>(own));
    if (!fn(source, own, Mutate(source.text, own))) return false;
  }
  return true;
}

int Check(const std::vector<Source>& sources, uint64_t count, uint64_t seed) {
  int failures = 0;
  int64_t accepted = 0;
  ForEachMutant(sources, count, seed, [&](const Source& source, uint64_t own, const Mutant& m) {
    const Judgement j = Judge(m.text, PrintOptions(), /*check_fixed_point=*/true);
    accepted += j.verdict == Verdict::kAccepted;
    const char* problem = j.cpu_seconds > kMaxSeconds ? "took more than a second"
                          : !j.fixed_point            ? "printed text that does not read back"
                                                      : nullptr;
    if (problem == nullptr) return true;
    std::printf("%s, seed %llu (%s): %s\n", source.path.c_str(),
                static_cast<unsigned long long>(own), m.what.c_str(), problem);
    return ++failures < 20;
  });
  std::printf("%llu texts, %lld accepted, %d failures\n", static_cast<unsigned long long>(count),
              static_cast<long long>(accepted), failures);
  return failures == 0 ? 0 : 1;
}

int Emit(const std::vector<Source>& sources, uint64_t count, uint64_t seed) {
  ForEachMutant(sources, count, seed, [&](const Source& source, uint64_t own, const Mutant& m) {
    std::cout << source.path << '\t' << own << '\t' << m.what << '\t' << m.text.size() << '\n'
              << m.text << std::flush;
    Answer(Judge(m.text, PrintOptions(), /*check_fixed_point=*/true));
    return true;
  });
  return 0;
}

int Run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1 && arguments[0] == "serve") return Serve();
  uint64_t count = 0, seed = 0;
  if (arguments.size() < 4 || !absl::SimpleAtoi(arguments[1], &count) ||
      !absl::SimpleAtoi(arguments[2], &seed)) {
    std::fputs("usage: hlokit_mutation check|emit COUNT SEED FILE... | serve\n", stderr);
    return 2;
  }
  std::vector<Source> sources;
  for (size_t i = 3; i < arguments.size(); ++i) {
    auto text = ReadFile(arguments[i]);
    if (!text.ok()) return std::fprintf(stderr, "%s\n", text.status().ToString().c_str()), 2;
    if (!text->empty()) sources.push_back({arguments[i], *std::move(text)});
  }
  if (sources.empty()) return 2;
  return arguments[0] == "emit" ? Emit(sources, count, seed) : Check(sources, count, seed);
}

}  // namespace
}  // namespace hlokit

int main(int argc, char** argv) {
  for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL})
    std::signal(signal, hlokit::TellWhere);
  return hlokit::Run(std::vector<std::string>(argv + 1, argv + argc));
}
// SPDX-License-Identifier: Apache-2.0
