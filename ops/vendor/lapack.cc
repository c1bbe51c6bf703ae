// Evaluates custom calls that name LAPACK routines.
//
//   custom-call(f32[5,3,3] a), custom_call_target="lapack_spotrf_ffi", backend_config={uplo = 76}
// The target holds the letter of the element type and the routine; Routine<T> runs it on one matrix
// after the other of the batch. HLO's rows become LAPACK's columns by a transposing copy in and
// out, so layouts do not matter here. The last s32 result is the routine's `info` of each matrix:
// 0, or where it stopped. A negative `info` is a fault of the call and an error.
// The library is found at run time; without it such calls are refused.
#include <algorithm>
#include <complex>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "ops/evaluate/linalg.h"
#include "ops/evaluate/strided.h"
#include "ops/evaluate/values.h"
#include "ops/vendor/call_config.h"
#include "ops/vendor/lapack_legacy.h"
#include "ops/vendor/lapack_routines_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

template <typename T>
struct RealOf {
  using type = T;
};
template <typename R>
struct RealOf<std::complex<R>> {
  using type = R;
};

// The matrix that a routine works on: the first operand; gtsv has its three diagonals before, ormqr
// its reflectors and their factors.
const Literal& MatrixOf(const EvalContext& context) {
  const size_t count = context.operands.size();
  return *context.operands[count >= 3 ? count - 1 : 0];
}

// Flags of a call; none of them where its configuration does not read.
ConfigValue ConfigOf(const Instruction& instruction) {
  auto config = ParseCallConfig(instruction.backend_config());
  return config.ok() ? *std::move(config) : ConfigValue();
}

// One custom call over matrices of element type T, batched over leading dimensions.
template <typename T>
class Routine {
 public:
  using R = typename RealOf<T>::type;

  explicit Routine(const EvalContext& context)
      : context_(context),
        instruction_(context.instruction),
        config_(ConfigOf(instruction_)),
        a_(MatrixOf(context)) {
    const DimVector& dims = a_.shape().dims;
    m_ = static_cast<int>(dims[dims.size() - 2]);
    n_ = static_cast<int>(dims.back());
    batches_ = Product(absl::MakeConstSpan(dims).subspan(0, dims.size() - 2));
    const Shape& shape = instruction_.shape();
    if (!shape.IsTuple()) outs_.emplace_back(shape);
    for (const Shape& e : shape.elements) outs_.emplace_back(e);
  }

  absl::StatusOr<Literal> Run(absl::string_view name) {
    if (LapackLibrary() == nullptr)
      return Unimplemented("LAPACK (liblapacke.so.3) is not installed");
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
    if (name == "ormqr" || name == "unmqr") return RunOrmqr(b);
    if (name == "gehrd") {
      const int low = Number("low", 1), high = Number("high", n_);
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
                     {"ormqr", 3, false, "aT"},
                     {"unmqr", 3, false, "aT"},
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
    return !absl::EndsWith(name, "mqr") || ReflectorsFit();
  }

  // [batches, m or n, k], and k factors for each batch.
  bool ReflectorsFit() const {
    if (context_.operands.size() != 3) return false;
    const Shape& reflectors = context_.operands[0]->shape();
    const Shape& tau = context_.operands[1]->shape();
    const int64_t side = Number("left", 1) ? m_ : n_;
    return tau.rank() > 0 && reflectors.rank() >= 2 && tau.dims.back() <= side &&
           reflectors.dims.back() == tau.dims.back() &&
           reflectors.dims[reflectors.rank() - 2] == side &&
           reflectors.ElementCount() == batches_ * side * tau.dims.back() &&
           tau.ElementCount() == batches_ * tau.dims.back();
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
        return dims.size() >= 2 && dims[dims.size() - 2] == m && dims.back() >= std::min(m, n);
      case 'v':
        return dims.size() >= 2 && dims.back() == n && dims[dims.size() - 2] >= std::min(m, n);
      default:
        return each >= n;
    }
  }

  int64_t batches_or_one() const { return std::max<int64_t>(batches_, 1); }

  int Number(absl::string_view key, int otherwise) const {
    return static_cast<int>(config_.NumberOr(key, otherwise));
  }
  char Char(absl::string_view key, char otherwise) const {
    return static_cast<char>(Number(key, otherwise));
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

  int RunOrmqr(int64_t b) {
    const Literal& tau = *context_.operands[1];
    const int k = static_cast<int>(tau.shape().dims.back());
    const char adjoint = std::is_same_v<T, R> ? 'T' : 'C';
    const std::vector<T> reflectors = Columns(*context_.operands[0], b);
    return InPlace(b, [&](T* c) {
      return Ormqr(Number("left", 1) ? 'L' : 'R', Number("transpose", 0) ? adjoint : 'N', m_, n_, k,
                   reflectors.data(), tau.as<T>() + b * k, c);
    });
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
  const ConfigValue config_;
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
  return absl::ConsumeSuffix(&target, "_ffi") ? target : "";
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
  const ConfigValue config = ConfigOf(instruction);
  const auto is = [&](absl::string_view key, char value) {
    return config.NumberOr(key, 0) == value;
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

// By today's call, whose results it puts where the old one has them.
absl::StatusOr<Literal> EvaluateLegacy(const EvalContext& context) {
  const Shape& shape = context.instruction.shape();
  const std::vector<Shape> results =
      shape.IsTuple() ? std::vector<Shape>(shape.elements.begin(), shape.elements.end())
                      : std::vector<Shape>{shape};
  ASSIGN_OR_RETURN(LegacyLapack legacy,
                   ReadLegacyLapack(context.instruction.attr<CustomCallAttrs>().target,
                                    static_cast<int64_t>(context.operands.size()), results,
                                    [&](int64_t o) { return context.operands[o]; }));
  const bool one = legacy.results.size() == 1;
  Instruction call(Opcode::kCustomCall, one ? legacy.results[0] : Shape::Tuple(legacy.results), {});
  call.mutable_attr<CustomCallAttrs>().target = legacy.target;
  call.mutable_extras().backend_config = legacy.config;
  std::vector<const Literal*> operands;
  for (int64_t o : legacy.operands) operands.push_back(context.operands[o]);
  ASSIGN_OR_RETURN(Literal today, EvaluateLapack({call, operands, context.call, 0, 0, nullptr}));
  if (!shape.IsTuple()) return today;
  Literal whole(shape);
  for (size_t r = 0; r < results.size(); ++r)
    if (legacy.place[r] >= 0)
      whole.elements()[r] = one ? today : std::move(today.elements()[legacy.place[r]]);
  whole.set_shape(shape);
  return whole;
}

}  // namespace

bool IsLapackTarget(absl::string_view target) {
  return !RoutineName(target).empty() || IsLegacyLapackTarget(target);
}

absl::StatusOr<Literal> EvaluateLapack(const EvalContext& context) {
  const absl::string_view target = context.instruction.attr<CustomCallAttrs>().target;
  if (IsLegacyLapackTarget(target)) return EvaluateLegacy(context);
  const absl::string_view name = RoutineName(target);
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
