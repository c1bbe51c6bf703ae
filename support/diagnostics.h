// Errors that point at text: source places, the text they stand in, and a collector that prints
// them with a caret.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// A stretch of a SourceFile, in bytes. The default is no place at all.
struct SourcePlace {
  uint32_t offset = ~uint32_t{0};
  uint32_t length = 0;

  bool valid() const { return offset != ~uint32_t{0}; }
  bool operator==(const SourcePlace&) const = default;
};

// 1-based; the column counts bytes, as compilers do.
struct LineColumn {
  uint32_t line = 0;
  uint32_t column = 0;
};

// A named text. Copies share the text, which lives as long as any of them.
class SourceFile {
 public:
  SourceFile(std::string name, std::shared_ptr<const std::string> text);
  SourceFile(std::string name, std::string text);
  // A text that lives as long as `owner`, as that of a mapped file does.
  SourceFile(std::string name, absl::string_view text, std::shared_ptr<const void> owner);

  const std::string& name() const { return name_; }
  absl::string_view text() const { return text_; }
  absl::string_view TextAt(SourcePlace place) const;

  // Offsets past the end count as the end. The first call finds the line starts; safe from several
  // threads.
  LineColumn Locate(uint32_t offset) const;
  // The line that holds `offset`, without its newline.
  absl::string_view LineAt(uint32_t offset) const;

 private:
  struct Lines {
    std::once_flag once;
    std::vector<uint32_t> starts;
  };
  const std::vector<uint32_t>& LineStarts() const;

  std::string name_;
  absl::string_view text_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<Lines> lines_;
};

enum class Severity { kError, kWarning };

struct DiagnosticNote {
  SourcePlace place;
  std::string message;
};

struct Diagnostic {
  Severity severity = Severity::kError;
  SourcePlace place;
  std::string label;  // the rule broken, "clamp-c1"; may be empty
  std::string message;
  std::vector<DiagnosticNote> notes;
};

// Collects errors and warnings about one text:
//   out.Error(op.place(), "reduce-c6", "reducer takes ", n, " parameters").Note(reducer.place(),
//   "defined here");
class Diagnostics {
 public:
  static constexpr int kMaxKept = 20;  // of each severity; later ones are only counted

  // Adds notes to the diagnostic just made; does nothing where that one was not kept.
  class Handle {
   public:
    explicit Handle(Diagnostic* diagnostic) : diagnostic_(diagnostic) {}
    template <typename... Parts>
    Handle& Note(SourcePlace place, const Parts&... parts) {
      if (diagnostic_ != nullptr) diagnostic_->notes.push_back({place, absl::StrCat(parts...)});
      return *this;
    }

   private:
    Diagnostic* diagnostic_;  // valid until the next diagnostic
  };

  template <typename... Parts>
  Handle Error(SourcePlace place, absl::string_view label, const Parts&... parts) {
    return Handle(Add(Severity::kError, place, label, absl::StrCat(parts...)));
  }
  template <typename... Parts>
  Handle Warning(SourcePlace place, absl::string_view label, const Parts&... parts) {
    return Handle(Add(Severity::kWarning, place, label, absl::StrCat(parts...)));
  }
  // An error from a status, with the label and the place it carries; `place` serves where it has
  // none.
  Handle Error(SourcePlace place, const absl::Status& status);

  bool ok() const { return error_count_ == 0; }
  int error_count() const { return error_count_; }
  int warning_count() const { return warning_count_; }
  bool full() const { return error_count_ >= kMaxKept; }
  const std::vector<Diagnostic>& items() const { return items_; }

  // Every kept diagnostic as "FILE:LINE:COL: error: message  [label]", its source line and a caret
  // line.
  std::string Render(const SourceFile& file) const;
  // The first error as InvalidArgument, with its label and place; OK where there is none.
  absl::Status ToStatus() const;

 private:
  Diagnostic* Add(Severity severity, SourcePlace place, absl::string_view label,
                  std::string message);

  std::vector<Diagnostic> items_;
  int error_count_ = 0;
  int warning_count_ = 0;
};

// InvalidArgument that carries the label of the broken rule besides its message.
absl::Status WithLabel(absl::Status status, absl::string_view label);
template <typename... Parts>
absl::Status LabeledError(absl::string_view label, const Parts&... parts) {
  return WithLabel(absl::InvalidArgumentError(absl::StrCat(parts...)), label);
}
std::string LabelOf(const absl::Status& status);  // empty where there is none

// The same status, pointing at text. A place already there stays: the innermost knows best.
absl::Status WithPlace(absl::Status status, SourcePlace place);
SourcePlace PlaceOf(const absl::Status& status);

// One status rendered like a diagnostic, ending in a newline.
std::string RenderStatus(const absl::Status& status, const SourceFile& file);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
