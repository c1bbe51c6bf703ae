// Fusions of random chains of data movements give on the CPU, at the default level, what the
// interpreter gives. Rows have lengths around those of vectors and tiles, where loops over elements
// end, wrap around and are cut into pieces.
//
// HLOKIT_FUSED_CHAINS=20000 HLOKIT_RANDOM_SEED=0 tell FusedChainsSlowTest how many, from where.
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/cpu_backend.h"
#include "interpreter/interpreter.h"
#include "parser/parser.h"
#include "types/compare.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

constexpr int64_t kSizes[] = {1,   2,   3,   4,   5,   6,   7,   8,   9,   12,  15,  16,   17,
                              24,  31,  32,  33,  43,  48,  63,  64,  64,  65,  96,  99,   100,
                              127, 128, 128, 129, 130, 255, 256, 257, 511, 512, 513, 1024, 1025};
constexpr int64_t kLargest = 12000;  // elements of an array

int64_t Count(const DimVector& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

struct Array {
  std::string name, type;
  DimVector dims, order;  // order: minor to major
  std::string Text() const {
    const std::string layout =
        dims.empty() ? "" : absl::StrCat("{", absl::StrJoin(order, ","), "}");
    return absl::StrCat(type, "[", absl::StrJoin(dims, ","), "]", layout);
  }
};

// The text of one module: a fusion of two arrays and two positions.
class Chain {
 public:
  explicit Chain(uint64_t seed) : bits_(seed) {
    constexpr const char* kTypes[] = {"s32", "s32", "f32", "s8", "u8", "bf16", "s64", "f64", "s16"};
    type_ = kTypes[Below(std::size(kTypes))];
    for (int p = 0; p < 2; ++p) {
      DimVector dims;
      do {
        dims.clear();
        for (int64_t d = 1 + Below(3); d > 0; --d) dims.push_back(kSizes[Below(std::size(kSizes))]);
      } while (Count(dims) > kLargest / 2);
      Add(dims, absl::StrCat("parameter(", p, ")"));
    }
    for (int p = 2; p < 4; ++p) Line("s32", {}, {}, absl::StrCat("parameter(", p, ")"));
    for (int64_t steps = 3 + Below(6); steps > 0; --steps) Step();
  }

  std::string Text() const {
    const Array& last = arrays_.back();
    std::string text = "HloModule chain\n\n";
    absl::StrAppend(&text, "larger {\n  a = ", type_, "[] parameter(0)\n  b = ", type_,
                    "[] parameter(1)\n  ROOT m = ", type_, "[] maximum(a, b)\n}\n\nf {\n", body_);
    absl::StrAppend(&text, "  ROOT root = ", last.Text(), " copy(", last.name,
                    ")\n}\n\nENTRY e {\n");
    const std::string shapes[] = {arrays_[0].Text(), arrays_[1].Text(), "s32[]", "s32[]"};
    for (int p = 0; p < 4; ++p)
      absl::StrAppend(&text, "  q", p, " = ", shapes[p], " parameter(", p, ")\n");
    absl::StrAppend(&text, "  ROOT r = ", last.Text(),
                    " fusion(q0, q1, q2, q3), kind=kLoop, calls=f\n}\n");
    return text;
  }

 private:
  int64_t Below(int64_t n) { return static_cast<int64_t>(bits_() % static_cast<uint64_t>(n)); }

  Array Line(std::string type, DimVector dims, DimVector order, const std::string& operation) {
    Array made = {absl::StrCat("v", next_++), std::move(type), std::move(dims), std::move(order)};
    absl::StrAppend(&body_, "  ", made.name, " = ", made.Text(), " ", operation, "\n");
    return made;
  }
  DimVector Order(size_t rank) {
    DimVector order(rank);
    for (size_t k = 0; k < rank; ++k) order[k] = static_cast<int64_t>(rank - 1 - k);
    if (Below(8) == 0) std::shuffle(order.begin(), order.end(), bits_);
    return order;
  }
  void Add(const DimVector& dims, const std::string& operation) {
    arrays_.push_back(Line(type_, dims, Order(dims.size()), operation));
  }
  // Late ones more often.
  const Array& Any() {
    const int64_t n = static_cast<int64_t>(arrays_.size());
    return arrays_[std::max(Below(n), Below(n))];
  }
  // Another array of the shape, or `a` itself; elementwise operations take both.
  const Array& Like(const Array& a) {
    for (const Array& b : arrays_)
      if (b.dims == a.dims && b.name != a.name && Below(2) == 0) return b;
    return a;
  }
  std::string Scalar(int64_t value) {
    return Line(type_, {}, {}, absl::StrCat("constant(", value, ")")).name;
  }

  void Step() {
    constexpr void (Chain::*kSteps[])(const Array&) = {
        &Chain::Broadcast, &Chain::Broadcast,   &Chain::Reshape,     &Chain::Reshape,
        &Chain::Transpose, &Chain::Reverse,     &Chain::Slice,       &Chain::Slice,
        &Chain::Slice,     &Chain::Pad,         &Chain::Concatenate, &Chain::DynamicSlice,
        &Chain::Update,    &Chain::Gather,      &Chain::AddIota,     &Chain::Reduce,
        &Chain::Select,    &Chain::Elementwise, &Chain::ThroughBytes};
    const Array a = Any();
    (this->*kSteps[Below(std::size(kSteps))])(a);
  }

  void Broadcast(const Array& a) {
    const int64_t at = Below(static_cast<int64_t>(a.dims.size()) + 1), size = 2 + Below(7);
    if (Count(a.dims) * size > kLargest || a.dims.size() > 3) return;
    DimVector dims = a.dims, to;
    dims.insert(dims.begin() + at, size);
    for (size_t d = 0; d < a.dims.size(); ++d)
      to.push_back(static_cast<int64_t>(d) + (static_cast<int64_t>(d) >= at));
    Add(dims, absl::StrCat("broadcast(", a.name, "), dimensions={", absl::StrJoin(to, ","), "}"));
  }
  void Reshape(const Array& a) {
    DimVector dims;
    int64_t rest = Count(a.dims);
    for (int64_t k = Below(3); k > 0; --k) {
      int64_t part = 1 + Below(300);
      while (part > 1 && rest % part != 0) --part;
      dims.push_back(part);
      rest /= part;
    }
    dims.insert(dims.begin() + Below(static_cast<int64_t>(dims.size()) + 1), rest);
    Add(dims, absl::StrCat(Below(2) ? "bitcast(" : "reshape(", a.name, ")"));
  }
  void Transpose(const Array& a) {
    DimVector order(a.dims.size()), dims;
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), bits_);
    for (int64_t d : order) dims.push_back(a.dims[d]);
    Add(dims,
        absl::StrCat("transpose(", a.name, "), dimensions={", absl::StrJoin(order, ","), "}"));
  }
  void Reverse(const Array& a) {
    const int64_t d = Below(static_cast<int64_t>(a.dims.size()));
    Add(a.dims, absl::StrCat("reverse(", a.name, "), dimensions={", d, "}"));
  }
  void Slice(const Array& a) {
    constexpr int64_t kStrides[] = {1, 1, 2, 3, 3, 4, 5, 6, 7, 8, 9, 11, 16};
    DimVector dims;
    std::vector<std::string> ranges;
    for (int64_t n : a.dims) {
      const int64_t start = Below(n / 3 + 1), stride = kStrides[Below(std::size(kStrides))];
      const int64_t limit = n - Below((n - start) / 4 + 1);
      dims.push_back((limit - start + stride - 1) / stride);
      ranges.push_back(absl::StrCat("[", start, ":", limit, ":", stride, "]"));
    }
    Add(dims, absl::StrCat("slice(", a.name, "), slice={", absl::StrJoin(ranges, ", "), "}"));
  }
  void Pad(const Array& a) {
    DimVector dims;
    std::vector<std::string> paddings;
    for (int64_t n : a.dims) {
      const int64_t least = n > 4 ? -2 : 0;
      const int64_t low = least + Below(5), high = least + Below(5),
                    inner = Below(4) ? 0 : 1 + Below(2);
      dims.push_back(low + high + n + std::max<int64_t>(n - 1, 0) * inner);
      paddings.push_back(absl::StrCat(low, "_", high, "_", inner));
    }
    if (Count(dims) > kLargest) return;
    Add(dims,
        absl::StrCat("pad(", a.name, ", ", Scalar(7), "), padding=", absl::StrJoin(paddings, "x")));
  }
  void Concatenate(const Array& a) {
    const int64_t d = Below(static_cast<int64_t>(a.dims.size()));
    std::vector<std::string> parts;
    DimVector dims = a.dims;
    dims[d] = 0;
    for (int64_t k = 2 + Below(5); k > 0; --k) {
      const Array& part = Like(a);
      parts.push_back(part.name);
      dims[d] += part.dims[d];
    }
    if (Count(dims) > kLargest) return;
    Add(dims, absl::StrCat("concatenate(", absl::StrJoin(parts, ", "), "), dimensions={", d, "}"));
  }
  std::string Positions(size_t rank) {
    std::vector<std::string> names;
    for (size_t d = 0; d < rank; ++d) names.push_back(Below(2) ? "v2" : "v3");
    return absl::StrJoin(names, ", ");
  }
  void DynamicSlice(const Array& a) {
    DimVector sizes;
    for (int64_t n : a.dims) sizes.push_back(n - Below((n + 1) / 2));
    Add(sizes, absl::StrCat("dynamic-slice(", a.name, ", ", Positions(sizes.size()),
                            "), dynamic_slice_sizes={", absl::StrJoin(sizes, ","), "}"));
  }
  void Update(const Array& a) {
    DimVector sizes;
    std::vector<std::string> ranges;
    for (int64_t n : a.dims) {
      sizes.push_back(1 + Below(n));
      ranges.push_back(absl::StrCat("[0:", sizes.back(), "]"));
    }
    const Array part =
        Line(type_, sizes, Order(sizes.size()),
             absl::StrCat("slice(", a.name, "), slice={", absl::StrJoin(ranges, ", "), "}"));
    const Array other = Line(type_, sizes, part.order, absl::StrCat("negate(", part.name, ")"));
    Add(a.dims, absl::StrCat("dynamic-update-slice(", a.name, ", ", other.name, ", ",
                             Positions(sizes.size()), ")"));
  }
  // Rows at positions that grow and wrap around.
  void Gather(const Array& a) {
    if (a.dims.size() != 1) return;
    const std::string type = Below(2) ? "u8" : "s32";
    const int64_t count = kSizes[Below(std::size(kSizes))];
    const auto line = [&](const std::string& operation) {
      return Line(type, {count, 1}, {1, 0}, operation).name;
    };
    const auto splat = [&](int64_t value) {
      const Array k = Line(type, {}, {}, absl::StrCat("constant(", value, ")"));
      return line(absl::StrCat("broadcast(", k.name, "), dimensions={}"));
    };
    std::string at = line("iota(), iota_dimension=0");
    at = line(absl::StrCat("multiply(", at, ", ", splat(1 + Below(9)), ")"));
    if (Below(2)) at = line(absl::StrCat("and(", at, ", ", splat((1 << (3 + Below(4))) - 1), ")"));
    Add({count}, absl::StrCat("gather(", a.name, ", ", at,
                              "), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
                              "index_vector_dim=1, slice_sizes={1}"));
  }
  void AddIota(const Array& a) {
    const int64_t d = Below(static_cast<int64_t>(a.dims.size()));
    const Array iota = Line(type_, a.dims, a.order, absl::StrCat("iota(), iota_dimension=", d));
    Add(a.dims, absl::StrCat("maximum(", a.name, ", ", iota.name, ")"));
  }
  void Reduce(const Array& a) {
    DimVector kept, gone;
    for (size_t d = 0; d < a.dims.size(); ++d) {
      const bool keep = Below(2) == 0;
      (keep ? kept : gone).push_back(keep ? a.dims[d] : static_cast<int64_t>(d));
    }
    if (gone.empty() || kept.empty()) return;
    Add(kept, absl::StrCat("reduce(", a.name, ", ", Scalar(1), "), dimensions={",
                           absl::StrJoin(gone, ","), "}, to_apply=larger"));
  }
  void Select(const Array& a) {
    const int64_t d = Below(static_cast<int64_t>(a.dims.size()));
    const Array iota = Line("s32", a.dims, a.order, absl::StrCat("iota(), iota_dimension=", d));
    const Array bound = Line("s32", {}, {}, absl::StrCat("constant(", Below(70), ")"));
    const Array bounds =
        Line("s32", a.dims, a.order, absl::StrCat("broadcast(", bound.name, "), dimensions={}"));
    const Array mask =
        Line("pred", a.dims, a.order,
             absl::StrCat("compare(", iota.name, ", ", bounds.name, "), direction=LT"));
    const Array& other = Like(a);
    Add(a.dims, absl::StrCat("select(", mask.name, ", ", a.name, ", ", other.name, ")"));
  }
  void Elementwise(const Array& a) {
    constexpr const char* kOperations[] = {"maximum", "minimum", "subtract"};
    const std::string& other = Like(a).name;
    const int64_t exact = type_ == "bf16" ? 2 : 3;  // differences are rounded
    Add(a.dims, absl::StrCat(kOperations[Below(exact)], "(", a.name, ", ", other, ")"));
  }
  void ThroughBytes(const Array& a) {
    const Array narrow = Line("s8", a.dims, a.order, absl::StrCat("convert(", a.name, ")"));
    Add(a.dims, absl::StrCat("convert(", narrow.name, ")"));
  }

  std::mt19937_64 bits_;
  std::string type_, body_;
  std::vector<Array> arrays_;
  int next_ = 0;
};

std::unique_ptr<Module> Parse(const std::string& text) {
  Diagnostics diagnostics;
  auto module =
      ParseModule(std::make_shared<const SourceFile>("chain", text), ParseOptions(), diagnostics);
  EXPECT_TRUE(module.ok() && Verify(**module, diagnostics).ok()) << text;
  return module.ok() ? *std::move(module) : nullptr;
}

std::vector<Literal> Arguments(const Module& module, uint64_t seed) {
  std::vector<Literal> arguments;
  std::mt19937_64 bits(seed);
  for (const Instruction* p : module.entry()->parameters()) {
    Literal& literal = arguments.emplace_back(p->shape());
    const bool array = !p->shape().IsScalar();
    for (int64_t i = 0; i < literal.element_count(); ++i) {
      const int64_t value =
          array ? static_cast<int64_t>(bits() % 120) : static_cast<int64_t>(bits() % 40) - 3;
      if (IsFloat(p->shape().type))
        literal.SetDouble(i, static_cast<double>(value));
      else
        literal.SetInt(i, value);
    }
  }
  return arguments;
}

void Check(uint64_t seed) {
  const std::string text = Chain(seed).Text();
  const std::unique_ptr<Module> module = Parse(text);
  ASSERT_NE(module, nullptr);
  const std::vector<Literal> arguments = Arguments(*module, seed);
  const auto expected = Interpret(*module, arguments);
  ASSERT_TRUE(expected.ok()) << expected.status() << "\n" << text;
  CompileOptions options;
  options.which_passes =
      seed % 4 == 0 ? CompileOptions::Passes::kPipeline : CompileOptions::Passes::kNone;
  options.threads = seed % 8 == 1 ? 2 : 1;
  auto executable = MakeCpuBackend()->Compile(module->Clone(), options);
  ASSERT_TRUE(executable.ok()) << executable.status() << "\n" << text;
  const auto actual = (*executable)->Run(arguments);
  ASSERT_TRUE(actual.ok()) << actual.status() << "\n" << text;
  const CompareResult result = Compare(expected->front(), *actual, CompareOptions());
  EXPECT_TRUE(result.equal) << "seed " << seed << "\n" << result.Report() << text;
}

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::atoll(text) : otherwise;
}

TEST(FusedChainsTest, CpuAgreesWithInterpreter) {
  for (uint64_t seed = 0; seed < 60; ++seed) Check(seed);
}

TEST(FusedChainsSlowTest, CpuAgreesWithInterpreter) {
  const auto first = static_cast<uint64_t>(FromEnvironment("HLOKIT_RANDOM_SEED", 1000));
  const auto count = static_cast<uint64_t>(FromEnvironment("HLOKIT_FUSED_CHAINS", 1000));
  for (uint64_t seed = first; seed < first + count; ++seed) Check(seed);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
