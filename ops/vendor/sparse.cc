// Products of a sparse matrix of compressed rows (CSR) and a dense vector or matrix.
//
// Row r has the elements data[outer[r]] to data[outer[r + 1] - 1], in the columns inner[...]:
//   [5 0]    data {5, 7}, inner {0, 1}, outer {0, 1, 2}
//   [0 7]
// Offsets and columns come from the program's data, so all are checked before the first element is
// read; an offset outside is an error, not a wrong address. Products are added in the order in
// which the row stores its elements, in the wide type, and rounded once.
// Cost: stored elements times the width of the dense operand.
#include "ops/evaluate/values.h"
#include "ops/vendor/vendor_calls.h"
#include "support/status.h"

namespace hlokit {
namespace {

struct SparseRows {
  std::vector<int64_t> outer, inner;
};

// Errors: rows that lie outside of the data, columns outside of the dense operand.
absl::Status CheckRows(const SparseRows& rows, int64_t stored, int64_t columns) {
  for (size_t r = 0; r + 1 < rows.outer.size(); ++r)
    if (rows.outer[r] < 0 || rows.outer[r] > rows.outer[r + 1] || rows.outer[r + 1] > stored)
      return InvalidArgument("custom-call cpu_csr_sparse_dense_ffi: row ", r, " has the elements ",
                             rows.outer[r], " to ", rows.outer[r + 1], " of ", stored);
  if (rows.outer.size() < 2) return absl::OkStatus();
  for (int64_t k = rows.outer.front(); k < rows.outer.back(); ++k)
    if (rows.inner[static_cast<size_t>(k)] < 0 || rows.inner[static_cast<size_t>(k)] >= columns)
      return InvalidArgument("custom-call cpu_csr_sparse_dense_ffi: column ",
                             rows.inner[static_cast<size_t>(k)], " of ", columns);
  return absl::OkStatus();
}

// `width` elements of the result a row.
template <typename T>
std::vector<T> Product(const SparseRows& rows, const std::vector<T>& data,
                       const std::vector<T>& dense, int64_t width) {
  const size_t count = rows.outer.empty() ? 0 : rows.outer.size() - 1;
  std::vector<T> out(count * static_cast<size_t>(width));
  for (size_t r = 0; r < count; ++r) {
    T* const line = out.data() + r * static_cast<size_t>(width);
    for (auto k = static_cast<size_t>(rows.outer[r]); k < static_cast<size_t>(rows.outer[r + 1]);
         ++k) {
      const T* const from = dense.data() + rows.inner[k] * width;
      for (int64_t c = 0; c < width; ++c) line[c] += data[k] * from[c];
    }
  }
  return out;
}

}  // namespace

// Operands: data [stored], outer [rows + 1], inner [stored], dense [columns] or [columns, width].
absl::StatusOr<Literal> CsrProduct(const EvalContext& context) {
  if (context.operands.size() != 4)
    return InvalidArgument("custom-call cpu_csr_sparse_dense_ffi takes 4 operands");
  const Shape& whole = context.instruction.shape();
  const Shape& shape = whole.IsTuple() && whole.elements.size() == 1 ? whole.elements[0] : whole;
  const Shape& dense = context.operands[3]->shape();
  const int64_t stored = context.operands[0]->element_count();
  const SparseRows rows = {WidenTo<int64_t>(*context.operands[1]),
                           WidenTo<int64_t>(*context.operands[2])};
  const int64_t count = static_cast<int64_t>(rows.outer.size()) - 1;
  const int64_t width = dense.rank() == 2 ? dense.dims[1] : 1;
  if (dense.rank() < 1 || dense.rank() > 2 || !shape.IsArray() || count < 0 ||
      static_cast<int64_t>(rows.inner.size()) != stored || shape.ElementCount() != count * width ||
      dense.type != context.operands[0]->type() || dense.type != shape.type)
    return InvalidArgument("custom-call cpu_csr_sparse_dense_ffi: ", Text(shape), " of ",
                           Text(context.operands[0]->shape()), ", ",
                           Text(context.operands[1]->shape()), " and ", Text(dense));
  RETURN_IF_ERROR(CheckRows(rows, stored, dense.dims[0]));
  Literal result(shape);
  VisitWide(shape.type, [&](auto element) {
    using T = decltype(element);
    const std::vector<T> values =
        Product(rows, WidenTo<T>(*context.operands[0]), WidenTo<T>(*context.operands[3]), width);
    StoreWide(shape.type, values.data(), static_cast<int64_t>(values.size()), result.data());
  });
  std::vector<Literal> parts;
  parts.push_back(std::move(result));
  return VendorResult(context, std::move(parts));
}

// A side effect of no consequence: it keeps what its operands are made of.
absl::StatusOr<Literal> DeadCodeSink(const EvalContext& context) {
  return Literal(context.instruction.shape());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
