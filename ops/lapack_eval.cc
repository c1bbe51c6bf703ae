// Evaluates custom calls that name LAPACK routines. The library is loaded on first use, so that
// tools start quickly.
#include <dlfcn.h>

#include <algorithm>
#include <complex>
#include <cstring>

#define lapack_complex_float std::complex<float>
#define lapack_complex_double std::complex<double>
#include <lapacke.h>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "ops/eval_linalg.h"
#include "ops/eval_strided.h"
#include "ops/eval_values.h"
#include "support/status.h"

namespace hlokit {
namespace {

void* Library() {
  static void* const library = [] {
    void* handle = dlopen("liblapacke.so.3", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) handle = dlopen("liblapacke.so", RTLD_NOW | RTLD_LOCAL);
    // Operands with NaN are the routine's own business, as in jaxlib.
    if (handle != nullptr)
      if (void* set = dlsym(handle, "LAPACKE_set_nancheck"))
        reinterpret_cast<void (*)(int)>(set)(0);
    return handle;
  }();
  return library;
}

// Calls LAPACKE_<name>, or returns -1000 where the library lacks it.
template <typename Function, typename... Args>
int CallSymbol(const char* name, Args... args) {
  void* symbol = Library() == nullptr ? nullptr : dlsym(Library(), name);
  return symbol == nullptr ? -1000 : reinterpret_cast<Function>(symbol)(args...);
}
#define LAPACK(name, ...) \
  CallSymbol<decltype(&LAPACKE_##name)>("LAPACKE_" #name, LAPACK_COL_MAJOR, __VA_ARGS__)

// The routines, overloaded by element type T with real component R; q names the orthogonal or
// unitary form, y the symmetric or Hermitian one.
#define HLOKIT_LAPACK(T, R, t, q, y)                                                               \
  int Potrf(char uplo, int n, T* a) { return LAPACK(t##potrf, uplo, n, a, std::max(1, n)); }       \
  int Getrf(int m, int n, T* a, int* pivots) {                                                     \
    return LAPACK(t##getrf, m, n, a, std::max(1, m), pivots);                                      \
  }                                                                                                \
  int Geqrf(int m, int n, T* a, T* tau) { return LAPACK(t##geqrf, m, n, a, std::max(1, m), tau); } \
  int Geqp3(int m, int n, T* a, int* pivots, T* tau) {                                             \
    return LAPACK(t##geqp3, m, n, a, std::max(1, m), pivots, tau);                                 \
  }                                                                                                \
  int Orgqr(int m, int n, int k, T* a, const T* tau) {                                             \
    return LAPACK(t##q##gqr, m, n, k, a, std::max(1, m), tau);                                     \
  }                                                                                                \
  int Gehrd(int n, int low, int high, T* a, T* tau) {                                              \
    return LAPACK(t##gehrd, n, low, high, a, std::max(1, n), tau);                                 \
  }                                                                                                \
  int Sytrd(char uplo, int n, T* a, R* d, R* e, T* tau) {                                          \
    return LAPACK(t##y##trd, uplo, n, a, std::max(1, n), d, e, tau);                               \
  }                                                                                                \
  int Syevd(char mode, char uplo, int n, T* a, R* w) {                                             \
    return LAPACK(t##y##evd, mode, uplo, n, a, std::max(1, n), w);                                 \
  }                                                                                                \
  int Gesdd(char mode, int m, int n, T* a, R* s, T* u, int ldu, T* vt, int ldvt) {                 \
    return LAPACK(t##gesdd, mode, m, n, a, std::max(1, m), s, u, ldu, vt, ldvt);                   \
  }                                                                                                \
  int Gtsv(int n, int k, T* dl, T* d, T* du, T* b) {                                               \
    return LAPACK(t##gtsv, n, k, dl, d, du, b, std::max(1, n));                                    \
  }
HLOKIT_LAPACK(float, float, s, or, sy)
HLOKIT_LAPACK(double, double, d, or, sy)
HLOKIT_LAPACK(std::complex<float>, float, c, un, he)
HLOKIT_LAPACK(std::complex<double>, double, z, un, he)

// Eigenvalues of general matrices: real routines give real and imaginary parts apart.
#define HLOKIT_LAPACK_REAL(T, t)                                                       \
  int Geev(char l, char r, int n, T* a, T* wr, T* wi, T* vl, T* vr) {                  \
    return LAPACK(t##geev, l, r, n, a, std::max(1, n), wr, wi, vl, std::max(1, n), vr, \
                  std::max(1, n));                                                     \
  }                                                                                    \
  int Gees(char mode, int n, T* a, int* sdim, T* wr, T* wi, T* vs) {                   \
    return LAPACK(t##gees, mode, 'N', nullptr, n, a, std::max(1, n), sdim, wr, wi, vs, \
                  std::max(1, n));                                                     \
  }
#define HLOKIT_LAPACK_COMPLEX(T, t)                                                                \
  int Geev(char l, char r, int n, T* a, T* w, T*, T* vl, T* vr) {                                  \
    return LAPACK(t##geev, l, r, n, a, std::max(1, n), w, vl, std::max(1, n), vr, std::max(1, n)); \
  }                                                                                                \
  int Gees(char mode, int n, T* a, int* sdim, T* w, T*, T* vs) {                                   \
    return LAPACK(t##gees, mode, 'N', nullptr, n, a, std::max(1, n), sdim, w, vs, std::max(1, n)); \
  }
HLOKIT_LAPACK_REAL(float, s)
HLOKIT_LAPACK_REAL(double, d)
HLOKIT_LAPACK_COMPLEX(std::complex<float>, c)
HLOKIT_LAPACK_COMPLEX(std::complex<double>, z)

template <typename T>
struct RealOf {
  using type = T;
};
template <typename R>
struct RealOf<std::complex<R>> {
  using type = R;
};

// The number after `name = ` in a backend config such as {mode = 86 : ui8}.
int64_t ConfigValue(const Instruction& instruction, absl::string_view name, int64_t otherwise) {
  const absl::string_view config = instruction.backend_config();
  const size_t at = config.find(absl::StrCat(name, " = "));
  if (at == absl::string_view::npos) return otherwise;
  absl::string_view digits = config.substr(at + name.size() + 3);
  digits = digits.substr(0, digits.find_first_not_of("0123456789"));
  int64_t value = 0;
  return absl::SimpleAtoi(digits, &value) ? value : otherwise;
}

// The matrix that a routine works on: the first operand; gtsv has its three diagonals before.
const Literal& MatrixOf(const EvalContext& context) {
  return *context.operands[context.operands.size() == 4 ? 3 : 0];
}

// One custom call over matrices of element type T, batched over leading dimensions.
template <typename T>
class Routine {
 public:
  using R = typename RealOf<T>::type;

  explicit Routine(const EvalContext& context)
      : context_(context), instruction_(context.instruction), a_(MatrixOf(context)) {
    const DimVector& dims = a_.shape().dims;
    m_ = static_cast<int>(dims[dims.size() - 2]);
    n_ = static_cast<int>(dims.back());
    batches_ = Product(absl::MakeConstSpan(dims).subspan(0, dims.size() - 2));
    const Shape& shape = instruction_.shape();
    if (!shape.IsTuple()) outs_.emplace_back(shape);
    for (const Shape& e : shape.elements) outs_.emplace_back(e);
  }

  absl::StatusOr<Literal> Run(absl::string_view name) {
    if (Library() == nullptr) return Unimplemented("LAPACK (liblapacke.so.3) is not installed");
    RETURN_IF_ERROR(CheckOutputs(name));
    for (int64_t b = 0; b < batches_; ++b) {
      const int info = RunOne(name, b);
      if (info == -1000) return Unimplemented("custom-call lapack ", name);
      if (info < 0) return InvalidArgument("lapack ", name, ": argument ", -info, " is not valid");
      Literal& last = outs_.back();  // where the routine reports: 0, or where it failed
      if (last.type() == ElementType::kS32 && b < last.element_count())
        last.as<int32_t>()[b] = info;
    }
    return instruction_.shape().IsTuple() ? Literal::Tuple(std::move(outs_)) : std::move(outs_[0]);
  }

 private:
  int RunOne(absl::string_view name, int64_t b) {
    if (name == "potrf") return InPlace(b, [&](T* a) { return Potrf(Char("uplo", 'L'), n_, a); });
    if (name == "getrf") return InPlace(b, [&](T* a) { return Getrf(m_, n_, a, Part<int>(1, b)); });
    if (name == "geqrf") return InPlace(b, [&](T* a) { return Geqrf(m_, n_, a, Part<T>(1, b)); });
    if (name == "geqp3") {
      const Literal& pivots = *context_.operands[1];
      std::memcpy(Part<int>(1, b), pivots.as<int>() + b * n_, n_ * sizeof(int));
      return InPlace(b, [&](T* a) { return Geqp3(m_, n_, a, Part<int>(1, b), Part<T>(2, b)); });
    }
    if (name == "orgqr" || name == "ungqr") {
      const Literal& tau = *context_.operands[1];
      const int k = static_cast<int>(tau.shape().dims.back());
      return InPlace(b, [&](T* a) { return Orgqr(m_, n_, k, a, tau.as<T>() + b * k); });
    }
    if (name == "gehrd") {
      const int low = ConfigValue(instruction_, "low", 1),
                high = ConfigValue(instruction_, "high", n_);
      return InPlace(b, [&](T* a) { return Gehrd(n_, low, high, a, Part<T>(1, b)); });
    }
    if (name == "sytrd" || name == "hetrd")
      return InPlace(b, [&](T* a) {
        return Sytrd(Char("uplo", 'L'), n_, a, Part<R>(1, b), Part<R>(2, b), Part<T>(3, b));
      });
    if (name == "syevd" || name == "heevd") return RunSyevd(b);
    if (name == "gesdd" || name == "gesvd") return RunGesdd(b);
    if (name == "geev") return RunGeev(b);
    if (name == "gees") return RunGees(b);
    return name == "gtsv" ? RunGtsv(b) : -1000;
  }

  // Refuses calls whose results are not those that the routine writes. For each result: how many
  // elements a batch (a: m x n, n, k: min(m, n), q: n x n, u: m x any, v: any x n, m, 1: n - 1),
  // then of which type (T, its real part R, complex C, or I, int).
  absl::Status CheckOutputs(absl::string_view name) const {
    constexpr bool complex = !std::is_same_v<T, R>;
    static constexpr struct {
      absl::string_view name;
      size_t inputs;
      bool square;
      absl::string_view results;
    } kRoutines[] = {{"potrf", 1, true, "aT"},
                     {"getrf", 1, false, "aTkI"},
                     {"geqrf", 1, false, "aTkT"},
                     {"geqp3", 2, false, "aTnIkT"},
                     {"orgqr", 2, false, "aT"},
                     {"ungqr", 2, false, "aT"},
                     {"gehrd", 1, true, "aT1T"},
                     {"sytrd", 1, true, "aTnR1R1T"},
                     {"hetrd", 1, true, "aTnR1R1T"},
                     {"syevd", 1, true, "aTnR"},
                     {"heevd", 1, true, "aTnR"},
                     {"gesdd", 1, false, "aTkRuTvT"},
                     {"gesvd", 1, false, "aTkRuTvT"},
                     {"geev", 1, true, complex ? "nTqCqC" : "nTnTqCqC"},
                     {"gees", 1, true, complex ? "aTqTnT" : "aTqTnTnT"},
                     {"gtsv", 4, false, "mTmTmTaT"}};
    for (const auto& routine : kRoutines) {
      if (name != routine.name) continue;
      bool fits =
          context_.operands.size() == routine.inputs && outs_.size() >= routine.results.size() / 2;
      fits &= !routine.square || m_ == n_;
      fits &= OperandsFit(name);
      for (size_t i = 0; fits && 2 * i < routine.results.size(); ++i)
        fits = ResultFits(outs_[i], routine.results[2 * i], routine.results[2 * i + 1]);
      if (fits) return absl::OkStatus();
      return InvalidArgument("custom-call lapack ", name,
                             ": its operands and results do not fit together");
    }
    return Unimplemented("custom-call lapack ", name);
  }

  bool OperandsFit(absl::string_view name) const {
    for (size_t i = 0; i < context_.operands.size(); ++i) {
      const Literal& operand = *context_.operands[i];
      const bool pivots = name == "geqp3" && i == 1;
      if (operand.type() != (pivots ? ElementType::kS32 : a_.type())) return false;
      if (pivots && operand.element_count() != batches_ * n_) return false;
      if (name == "gtsv" && i < 3 && operand.element_count() != batches_ * m_) return false;
      const DimVector& dims = operand.shape().dims;
      if (absl::EndsWith(name, "gqr") && i == 1)
        if (dims.empty() || dims.back() > n_ || operand.element_count() != batches_ * dims.back())
          return false;
    }
    return true;
  }

  bool ResultFits(const Literal& result, char size, char type) const {
    const ElementType own = a_.type();
    const ElementType expected = type == 'I'                      ? ElementType::kS32
                                 : type == 'R'                    ? RealComponent(own)
                                 : type == 'C' && !IsComplex(own) ? ComplexOf(own)
                                                                  : own;
    const int64_t m = m_, n = n_, each = result.element_count() / batches_or_one();
    if (result.type() != expected || result.element_count() % batches_or_one() != 0) return false;
    const DimVector& dims = result.shape().dims;
    switch (size) {
      case 'a':
        return each == m * n && dims.size() >= 2 && dims.back() == n;
      case 'q':
        return each == n * n && dims.size() >= 2 && dims.back() == n;
      case 'k':
        return each >= std::min(m, n);
      case '1':
        return each >= n - 1;
      case 'm':
        return each >= m;
      case 'u':
        return dims.size() >= 2 && dims[dims.size() - 2] == m && each >= m * std::min(m, n);
      case 'v':
        return dims.size() >= 2 && dims.back() == n && each >= n * std::min(m, n);
      default:
        return each >= n;
    }
  }

  int64_t batches_or_one() const { return std::max<int64_t>(batches_, 1); }

  char Char(absl::string_view key, char otherwise) const {
    return ConfigValue(instruction_, key, otherwise);
  }
  // Result `i` of batch b, where its elements lie as LAPACK has them: vectors and scalars.
  template <typename E>
  E* Part(size_t i, int64_t b) {
    return outs_[i].as<E>() + outs_[i].element_count() / batches_or_one() * b;
  }

  // Matrix b of a literal [..., m, n], column-major.
  std::vector<T> Columns(const Literal& literal, int64_t b) const {
    const DimVector& dims = literal.shape().dims;
    const int64_t m = dims[dims.size() - 2], n = dims.back();
    std::vector<T> columns(std::max<int64_t>(m * n, 1));
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) columns[j * m + i] = literal.as<T>()[(b * m + i) * n + j];
    return columns;
  }
  // The inverse, of a matrix whose columns are `stride` apart.
  template <typename E>
  void StoreColumns(const std::vector<E>& columns, int64_t stride, Literal& literal,
                    int64_t b) const {
    const DimVector& dims = literal.shape().dims;
    const int64_t m = dims[dims.size() - 2], n = dims.back();
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        literal.as<E>()[(b * m + i) * n + j] = columns[j * stride + i];
  }

  // Routines that overwrite their matrix: the first result.
  template <typename Call>
  int InPlace(int64_t b, Call call) {
    std::vector<T> a = Columns(a_, b);
    const int info = call(a.data());
    StoreColumns(a, m_, outs_[0], b);
    return info;
  }

  int RunSyevd(int64_t b) {
    return InPlace(
        b, [&](T* a) { return Syevd(Char("mode", 'V'), Char("uplo", 'L'), n_, a, Part<R>(1, b)); });
  }

  int RunGesdd(int64_t b) {
    const DimVector &u_dims = outs_[2].shape().dims, &vt_dims = outs_[3].shape().dims;
    const int ldu = std::max<int>(1, u_dims[u_dims.size() - 2]),
              ldvt = std::max<int>(1, vt_dims[vt_dims.size() - 2]);
    const char mode = Char("mode", 'S');
    const bool whole = u_dims.back() >= m_ && ldvt >= n_;  // there is room for all vectors
    if (mode != 'S' && mode != 'N' && !(mode == 'A' && whole)) return -1;
    std::vector<T> u(ldu * u_dims.back() + 1), vt(ldvt * vt_dims.back() + 1);
    const int info = InPlace(b, [&](T* a) {
      return Gesdd(mode, m_, n_, a, Part<R>(1, b), u.data(), ldu, vt.data(), ldvt);
    });
    StoreColumns(u, ldu, outs_[2], b);
    StoreColumns(vt, ldvt, outs_[3], b);
    return info;
  }

  int RunGeev(int64_t b) {
    std::vector<T> a = Columns(a_, b), vl(n_ * n_ + 1), vr(n_ * n_ + 1);
    constexpr bool complex = !std::is_same_v<T, R>;
    const size_t vectors = complex ? 1 : 2;
    const int info = Geev(Char("compute_left", 'V'), Char("compute_right", 'V'), n_, a.data(),
                          Part<T>(0, b), complex ? nullptr : Part<T>(1, b), vl.data(), vr.data());
    for (size_t side = 0; side < 2; ++side) {
      std::vector<T>& from = side == 0 ? vl : vr;
      if constexpr (complex)
        StoreColumns(from, n_, outs_[vectors + side], b);
      else
        StoreColumns(UnpackPairs(from, Part<T>(1, b)), n_, outs_[vectors + side], b);
    }
    return info;
  }

  // Eigenvectors of conjugate pairs stand as two real columns: real part, imaginary part.
  std::vector<std::complex<R>> UnpackPairs(const std::vector<T>& packed, const T* imaginary) const {
    std::vector<std::complex<R>> vectors(n_ * n_);
    if constexpr (std::is_same_v<T, R>) {
      for (int j = 0; j < n_; ++j) {
        const bool pair = imaginary[j] != 0 && j + 1 < n_;
        for (int i = 0; i < n_; ++i) {
          vectors[j * n_ + i] = {packed[j * n_ + i], pair ? packed[(j + 1) * n_ + i] : R(0)};
          if (pair) vectors[(j + 1) * n_ + i] = std::conj(vectors[j * n_ + i]);
        }
        j += pair;
      }
    }
    return vectors;
  }

  // (schur form, schur vectors, eigenvalues (real routines: two parts), selected count, info).
  int RunGees(int64_t b) {
    std::vector<T> vs(n_ * n_ + 1);
    constexpr bool complex = !std::is_same_v<T, R>;
    int selected = 0;
    const int info = InPlace(b, [&](T* a) {
      return Gees(Char("mode", 'V'), n_, a, &selected, Part<T>(2, b),
                  complex ? nullptr : Part<T>(3, b), vs.data());
    });
    StoreColumns(vs, n_, outs_[1], b);
    return info;
  }

  // Tridiagonal solves: three diagonals of length n and b [n, k]; the results overwrite them all.
  int RunGtsv(int64_t b) {
    const Literal& right = *context_.operands[3];
    const int n = static_cast<int>(right.shape().dims[right.shape().rank() - 2]);
    const int k = static_cast<int>(right.shape().dims.back());
    std::vector<T> d[3], x = Columns(right, b);
    for (int i = 0; i < 3; ++i) {
      const T* from = context_.operands[i]->as<T>() + b * n;
      d[i].assign(from, from + n);
    }
    const int info = Gtsv(n, k, d[0].data() + 1, d[1].data(), d[2].data(), x.data());
    for (int i = 0; i < 3; ++i) std::copy(d[i].begin(), d[i].end(), Part<T>(i, b));
    StoreColumns(x, n, outs_[3], b);
    return info;
  }

  const EvalContext& context_;
  const Instruction& instruction_;
  const Literal& a_;
  int m_ = 0, n_ = 0;
  int64_t batches_ = 1;
  std::vector<Literal> outs_;
};

// "getrf" of lapack_sgetrf_ffi; the LAPACK name of those that other platforms' dumps use; else
// empty.
absl::string_view RoutineName(absl::string_view target) {
  if (target == "Qr") return "geqrf";
  if (target == "ProductOfElementaryHouseholderReflectors") return "orgqr";
  if (target == "Eigh") return "syevd";
  if (!absl::StartsWith(target, "lapack_") || target.size() < 9) return "";
  target.remove_prefix(8);  // the element type's letter too
  if (absl::EndsWith(target, "_ffi")) target.remove_suffix(4);
  return target;
}

// Whether `a` holds a square matrix for each matrix of `b`, of its rows or, on the right, columns.
bool TriangleFits(const Literal& a, const Literal& b, bool left_side) {
  if (a.type() != b.type() || a.shape().rank() != b.shape().rank() || b.shape().rank() < 2)
    return false;
  DimVector expected = b.shape().dims;
  const size_t rank = expected.size();
  expected[left_side ? rank - 1 : rank - 2] = expected[left_side ? rank - 2 : rank - 1];
  return a.shape().dims == expected;
}

absl::StatusOr<Literal> SolveByTrsm(const EvalContext& context) {
  const Instruction& instruction = context.instruction;
  if (context.operands.size() < 2) return InvalidArgument("custom-call trsm: takes two operands");
  const auto is = [&](absl::string_view key, char value) {
    return ConfigValue(instruction, key, 0) == value;
  };
  TriangularSolveAttrs attrs;
  attrs.left_side = is("side", 'L');
  attrs.lower = is("uplo", 'L');
  attrs.unit_diagonal = is("diag", 'U');
  attrs.transpose_a = is("trans_x", 'T')   ? TriangularTranspose::kTranspose
                      : is("trans_x", 'C') ? TriangularTranspose::kAdjoint
                                           : TriangularTranspose::kNone;
  const Literal &a = *context.operands[0], &b = *context.operands[1];
  const bool floats = IsFloat(b.type()) || IsComplex(b.type());
  if (!floats || !TriangleFits(a, b, attrs.left_side) ||
      !SameIgnoringLayout(b.shape(), instruction.shape()))
    return InvalidArgument("custom-call trsm: its operands and result do not fit together");
  return SolveTriangular(a, b, attrs, instruction.shape());
}

}  // namespace

bool IsLapackTarget(absl::string_view target) { return !RoutineName(target).empty(); }

absl::StatusOr<Literal> EvaluateLapack(const EvalContext& context) {
  const absl::string_view name = RoutineName(context.instruction.attr<CustomCallAttrs>().target);
  if (context.operands.empty() || MatrixOf(context).shape().rank() < 2)
    return InvalidArgument("custom-call lapack ", name, ": no matrix operand");
  if (name == "trsm") return SolveByTrsm(context);
  switch (context.operands[0]->type()) {
    case ElementType::kF32:
      return Routine<float>(context).Run(name);
    case ElementType::kF64:
      return Routine<double>(context).Run(name);
    case ElementType::kC64:
      return Routine<std::complex<float>>(context).Run(name);
    case ElementType::kC128:
      return Routine<std::complex<double>>(context).Run(name);
    default:
      return Unimplemented("custom-call lapack ", name, " of ", Text(context.operands[0]->type()));
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
