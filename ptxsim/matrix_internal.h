// Matrix fragments: where lanes keep elements, and products of small matrices.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "ptxsim/lanes.h"
#include "ptxsim/program.h"
#include "ptxsim/rounding.h"
#include "ptxsim/types.h"

namespace hlokit::ptx {

// m16n8k16 and its like.
struct MatrixShape {
  int m = 0, n = 0, k = 0;
};
// Of a modifier such as "m16n8k16"; false for other words.
bool ParseMatrixShape(absl::string_view text, MatrixShape& shape);

// A matrix of exact values: doubles hold every element type but 64-bit integers.
// A NaN that stands for what a sparse matrix of floats has not: it multiplies nothing.
inline constexpr uint64_t kAbsentBits = 0x7ff8'ab5e'47ab'5e47;
inline bool IsAbsent(double value) { return std::bit_cast<uint64_t>(value) == kAbsentBits; }

struct Matrix {
  int rows = 0, cols = 0;
  std::vector<double> values;

  Matrix(int r, int c) : rows(r), cols(c), values(static_cast<size_t>(r) * c) {}
  double& at(int r, int c) { return values[static_cast<size_t>(r) * cols + c]; }
  double at(int r, int c) const { return values[static_cast<size_t>(r) * cols + c]; }
};

// Bits of an element of a fragment, packed in registers as PTX packs them.
int ElementBits(Type type);
double ElementValue(Type type, uint64_t bits);
uint64_t ElementOf(Type type, double value);
// Of a byte that scales a block: kUE4M3 or kUE8M0.
double ScaleValue(Type type, uint32_t byte);

// Element i of a lane's fragment of `bits` wide elements, in the registers from `slots` on.
uint64_t ReadElement(const std::byte* frame, const Slot* slots, int bits, int lane, int i);
void WriteElement(std::byte* frame, const Slot* slots, int bits, int lane, int i, uint64_t value);

// Where element i of a lane's fragment stands in its matrix, for tiles of 8 or 16 rows of a, 8
// columns of b, and any number of columns of c and d. `pack` neighbours along k share a 32-bit
// register. A lane's elements of a are of row lane / 4 and, of 16 rows, of the one 8 below.
struct Place {
  int row, col;
};
Place PlaceInA(int rows, int pack, int lane, int i);
Place PlaceInB(int pack, int lane, int i);
Place PlaceInC(int lane, int i);

// d = a * b + c of integers and of f64, which goes along k with fused multiply-adds. `saturate`: of
// integers.
void MultiplyMatrices(const Matrix& a, const Matrix& b, Matrix& c, Type accumulator, bool saturate);

// The parts of k that a tensor core sums at once (products.cc).
enum class ProductSteps : uint8_t { kAll, kFours, kHalvesOf4, kHalvesOf8, kSingly };

// How a tensor core sums products of floats: types of the operands and the result, bits below the
// largest exponent that count, steps; of f64 the rounding.
struct ProductRule {
  Type a, b, c, d;
  int fraction = 25;
  ProductSteps steps = ProductSteps::kAll;
  Rounding rounding = Rounding::kNearest;
};
// The exponent of the smallest normal number of a float type.
int LeastExponent(Type type);
void MultiplyFloats(const Matrix& a, const Matrix& b, Matrix& c, const ProductRule& rule);
// The one of the two that the types ask for.
void Multiply(const Matrix& a, const Matrix& b, Matrix& c, const ProductRule& rule, bool saturate);

// The same of b1: the number of ones in a xor b, or a and b.
void MultiplyBits(const Matrix& a, const Matrix& b, Matrix& c, bool is_xor);

// The left side of a sparse product: `metadata` is the column whose nibbles say which of four
// neighbours along k are there, `selector` which lanes of a quad have them (exec_mma.cc).
struct SparseRows {
  Type type;
  int rows, k;
  uint32_t metadata;
  int selector;
};
// The matrix of `k` columns of which `packed` has half. nibble(row, j): the metadata of chunk j of
// k, four columns, of tf32 two, of .kind::mxf4 and of integers of four bits eight, whose neighbours
// go in pairs.
Matrix ExpandSparse(Type type, int k, const Matrix& packed,
                    absl::FunctionRef<uint32_t(int row, int j)> nibble);
Matrix ExpandSparse(const SparseRows& sparse, const std::byte* frame, const Matrix& packed);
// Chunks of a row of `k` columns.
int SparseChunks(Type type, int k);

class Warp;
// Tells the launch's profile, where there is one, of a product.
void CountProduct(Warp& warp, Type type, int m, int n, int k);

class Binder;
// Whether the registers of a list, results of the instruction, have `bytes` bytes each; reports.
bool CheckRegisters(Binder& b, uint32_t list, uint32_t count, int bytes);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
