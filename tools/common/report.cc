// JSON objects, memory figures, the progress bar.
#include "tools/common/report.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "support/json_value.h"

namespace hlokit {
namespace {

bool bar_drawn = false;

void DrawBar(absl::string_view stage, double fraction) {
  constexpr int kWidth = 30;
  const int done = static_cast<int>(fraction * kWidth);
  std::fprintf(stderr, "\r\033[K%.*s [%s%s] %3d%%", static_cast<int>(stage.size()), stage.data(),
               std::string(done, '#').c_str(), std::string(kWidth - done, '.').c_str(),
               static_cast<int>(fraction * 100));
  std::fflush(stderr);
  bar_drawn = true;
}

}  // namespace

void JsonObject::AddRaw(absl::string_view key, absl::string_view json) {
  absl::StrAppend(&body_, body_.empty() ? "" : ", ", JsonQuote(key), ": ", json);
}

void JsonObject::Add(absl::string_view key, double value) {
  AddRaw(key, std::isfinite(value) ? absl::StrFormat("%.9g", value) : "null");
}

void JsonObject::Add(absl::string_view key, int64_t value) { AddRaw(key, absl::StrCat(value)); }

void JsonObject::Add(absl::string_view key, absl::string_view text) {
  AddRaw(key, JsonQuote(text));
}

std::string JsonObject::Text() const { return absl::StrCat("{", body_, "}\n"); }

int64_t PeakRssMib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;  // Linux counts KiB
}

ProgressCallback TerminalProgress() {
  if (isatty(STDERR_FILENO) == 0) return nullptr;
  return [watch = Stopwatch(), drawn_at = 0.0](absl::string_view stage, double fraction) mutable {
    const double now = watch.Seconds();
    if (now < 0.5 || (now - drawn_at < 0.1 && fraction < 1)) return true;
    drawn_at = now;
    DrawBar(stage, fraction);
    return true;
  };
}

void ClearProgress() {
  if (bar_drawn) std::fputs("\r\033[K", stderr);
  bar_drawn = false;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
