// The old calls as a table of their operands and results.
//
// Before jaxlib's typed calls, lapack_sgeqrf and its like had sizes and flags as scalar operands in
// front of the matrix, and workspaces among their results. A row of the table gives each operand a
// letter and each result its number in today's call:
//   potrf  "l..x"   lower?, two sizes, the matrix     "01"    results as today
//   geqrf  "....x"  four sizes, the matrix            "01--"  then two workspaces
// So an old call is read as the new one with the flags in its configuration, and workspaces are
// zeros. A flag must be a constant.
#include "ops/vendor/lapack_legacy.h"

#include <algorithm>
#include <complex>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Operands, one letter each. '.': a size, which the shapes say too; 'x': an operand of today's
// call; '1': a factor, which must be one; 's': which eigenvalues to sort. The others are flags:
// 'l': lower, 'f' and 'u': all singular vectors, any; 'j' and 'k': left and right eigenvectors,
// 'v': Schur vectors; 'i' and 'h': the first and last column; 'L', 'T', 'D': left, transposed,
// unit. Results: which of today's each is; '-': none. Complex routines differ where the last column
// says.
constexpr struct {
  absl::string_view name, operands, results, complex_results;
} kLegacyCalls[] = {
    {"potrf", "l..x", "01", ""},
    {"getrf", "...x", "012", ""},
    {"geqrf", "....x", "01--", ""},
    {"geqp3", "....xx", "012--", "012---"},
    {"orgqr", ".....xx", "0--", ""},
    {"ungqr", ".....xx", "0--", ""},
    {"gesdd", "fu....x", "01234--", "01234---"},
    {"gesdd", "fu...x", "01234--", "01234---"},
    {"syevd", "l..x", "012--", ""},
    {"heevd", "l..x", "012---", ""},
    {"geev", "..jkx", "---01234", "--0123"},
    {"gees", "..vsx", "023145", "0-2134"},
    {"gehrd", ".ih...x", "012-", ""},
    {"sytrd", ".l...x", "01234-", ""},
    {"hetrd", ".l...x", "01234-", ""},
    {"trsm", "LlTD...1xx", "0", ""},
};

// The name behind the letter of the element type: "getrf" of lapack_sgetrf.
absl::string_view RoutineOf(absl::string_view target) {
  for (absl::string_view prefix : {"lapack_", "blas_"}) {
    if (!absl::StartsWith(target, prefix) || target.size() < prefix.size() + 2) continue;
    return absl::StrContains("sdcz", target.substr(prefix.size(), 1))
               ? target.substr(prefix.size() + 1)
               : "";
  }
  return "";
}

// Flags that are what today's are.
constexpr std::pair<char, absl::string_view> kPlainFlags[] = {
    {'j', "compute_left"}, {'k', "compute_right"}, {'v', "mode"}, {'i', "low"}, {'h', "high"}};

class Reader {
 public:
  Reader(absl::string_view target, absl::FunctionRef<const Literal*(int64_t)> operand)
      : target_(target), operand_(operand) {}

  absl::Status Read(absl::string_view roles) {
    for (size_t o = 0; o < roles.size(); ++o) {
      if (roles[o] == '.') continue;
      if (roles[o] == 'x') {
        call_.operands.push_back(static_cast<int64_t>(o));
        continue;
      }
      ASSIGN_OR_RETURN(const int64_t value, Value(static_cast<int64_t>(o)));
      RETURN_IF_ERROR(Flag(roles[o], value));
    }
    if (absl::StrContains(roles, "u")) Set("mode", !any_vectors_ ? 'N' : all_vectors_ ? 'A' : 'S');
    call_.config = absl::StrCat("{", absl::StrJoin(flags_, ", "), "}");
    return absl::OkStatus();
  }

  LegacyLapack Take() { return std::move(call_); }

 private:
  absl::StatusOr<int64_t> Value(int64_t o) const {
    const Literal* literal = operand_(o);
    if (literal == nullptr || !literal->shape().IsArray() || literal->element_count() != 1)
      return InvalidArgument("custom-call ", target_, ": operand ", o,
                             " is not a scalar of known value");
    const std::complex<double> value = literal->GetComplex(0);
    const auto whole = static_cast<int64_t>(std::clamp(value.real(), -1e9, 1e9));
    if (value != std::complex<double>(static_cast<double>(whole)))
      return InvalidArgument("custom-call ", target_, ": operand ", o, " is not a flag");
    return whole;
  }

  absl::Status Flag(char role, int64_t value) {
    if (role == 's' && value != 'N') return Unimplemented(target_, " of sorted eigenvalues");
    if (role == '1' && value != 1) return Unimplemented(target_, " times a factor");
    switch (role) {
      case 'f':
        all_vectors_ = value != 0;
        break;
      case 'u':
        any_vectors_ = value != 0;
        break;
      case 'l':
        Set("uplo", value != 0 ? 'L' : 'U');
        break;
      case 'L':
        Set("side", value != 0 ? 'L' : 'R');
        break;
      case 'T':
        Set("trans_x", value == 0 ? 'N' : value == 1 ? 'T' : 'C');
        break;
      case 'D':
        Set("diag", value != 0 ? 'U' : 'N');
        break;
      default:
        for (const auto& [letter, name] : kPlainFlags)
          if (letter == role) Set(name, value);
    }
    return absl::OkStatus();
  }

  void Set(absl::string_view name, int64_t value) {
    flags_.push_back(absl::StrCat(name, " = ", value, " : i64"));
  }

  absl::string_view target_;
  absl::FunctionRef<const Literal*(int64_t)> operand_;
  LegacyLapack call_;
  std::vector<std::string> flags_;
  bool all_vectors_ = false, any_vectors_ = false;
};

void ReadResults(absl::string_view places, absl::Span<const Shape> results, LegacyLapack& call) {
  for (size_t r = 0; r < places.size(); ++r) {
    call.place.push_back(places[r] == '-' ? -1 : places[r] - '0');
    if (places[r] == '-') continue;
    call.results.resize(std::max<size_t>(call.results.size(), call.place[r] + 1));
    call.results[call.place[r]] = results[r];
  }
}

}  // namespace

bool IsLegacyLapackTarget(absl::string_view target) {
  const absl::string_view routine = RoutineOf(target);
  return std::any_of(std::begin(kLegacyCalls), std::end(kLegacyCalls),
                     [&](const auto& call) { return call.name == routine; });
}

absl::StatusOr<LegacyLapack> ReadLegacyLapack(absl::string_view target, int64_t operand_count,
                                              absl::Span<const Shape> results,
                                              absl::FunctionRef<const Literal*(int64_t)> operand) {
  const absl::string_view routine = RoutineOf(target);
  const bool blas = absl::StartsWith(target, "blas_");
  const char letter = target[target.size() - routine.size() - 1];
  for (const auto& call : kLegacyCalls) {
    if (call.name != routine || static_cast<int64_t>(call.operands.size()) != operand_count)
      continue;
    const bool complex = letter == 'c' || letter == 'z';
    const absl::string_view places =
        complex && !call.complex_results.empty() ? call.complex_results : call.results;
    if (places.size() != results.size() || blas != (routine == "trsm")) break;
    Reader reader(target, operand);
    RETURN_IF_ERROR(reader.Read(call.operands));
    LegacyLapack legacy = reader.Take();
    legacy.target = absl::StrCat("lapack_", std::string(1, letter), routine, "_ffi");
    ReadResults(places, results, legacy);
    return legacy;
  }
  return InvalidArgument("custom-call ", target, ": its ", operand_count, " operands and ",
                         results.size(), " results are not the routine's");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
