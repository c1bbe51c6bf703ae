// Reads and runs the steps behind a convolution.
//
// The configuration of __cudnn$convForwardGraph lists them as text, each with the step it reads:
//   "1:[f32]conv();2:[f32]add(1);3:[f32]relu(2);4:[f8e4m3fn]scale(3)"
// Steps that take a second operand (add, scale, ...) use the call's operands in order. Each step's
// value is rounded to its type; f8 saturates at its largest number, where HLO's conversion would
// give infinity or NaN. A step may only read one before it, so values are kept by number.
#include "ops/vendor/conv_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "ops/evaluate/values.h"
#include "ops/vendor/block_scaled_call.h"
#include "support/status.h"
#include "types/float_convert.h"

namespace hlokit {
namespace {

struct Step {
  int64_t number = 0;
  int64_t source = -1;
  ElementType type = ElementType::kInvalid;
  std::string name;
};

absl::Status Malformed(absl::string_view step) {
  return InvalidArgument("serialized_graph: \"", step, "\" is no step of a graph");
}

// NUMBER:[TYPE]NAME(NUMBER), without the last number in the first step.
absl::StatusOr<Step> ReadStep(absl::string_view text) {
  const size_t colon = text.find(":["), close = text.find(']'), open = text.find('(');
  if (colon == text.npos || close == text.npos || open == text.npos || close < colon ||
      open < close || text.back() != ')')
    return Malformed(text);
  Step step;
  const absl::string_view source = text.substr(open + 1, text.size() - open - 2);
  if (!absl::SimpleAtoi(text.substr(0, colon), &step.number) ||
      (!source.empty() && !absl::SimpleAtoi(source, &step.source)))
    return Malformed(text);
  const auto type = ElementTypeFromText(text.substr(colon + 2, close - colon - 2));
  if (!type || !IsFloat(*type)) return Malformed(text);
  step.type = *type;
  step.name = std::string(text.substr(close + 1, open - close - 1));
  if ((step.name == "conv") != source.empty()) return Malformed(text);
  return step;
}

double LargestNumber(ElementType type) {
  const double power = QuantizationLimit(type);
  const int digits = FormatOf(type).mantissa_bits;
  double top = power * (2 - std::ldexp(1.0, -digits));
  double held = top;
  RoundWide(type, &held, 1);
  // The last pattern may be NaN.
  return held == top ? top : power * (2 - std::ldexp(1.0, 1 - digits));
}

// To the step's type; the small floats of cuDNN stop at their largest number.
void Round(ElementType type, std::vector<double>& values) {
  if (BitWidth(type) <= 8) {
    const double top = LargestNumber(type);
    for (double& x : values)
      if (!std::isnan(x)) x = std::clamp(x, -top, top);
  }
  RoundWide(type, values.data(), static_cast<int64_t>(values.size()));
}

class Graph {
 public:
  Graph(const EvalContext& context, const Shape& shape) : context_(context), shape_(shape) {}

  absl::Status Run(const Step& step, std::vector<double> convolution) {
    if (step.name == "conv") return Keep(step, std::move(convolution));
    const auto source = values_.find(step.source);
    if (source == values_.end())
      return InvalidArgument("serialized_graph: step ", step.number, " reads ", step.source,
                             ", which is no step before it");
    std::vector<double> x = source->second;
    if (step.name == "amax") {
      double largest = 0;
      for (double value : x) largest = std::max(largest, std::fabs(value));
      largest_.push_back(Literal(Shape::Scalar(step.type)));
      largest_.back().SetDouble(0, largest);
      return absl::OkStatus();
    }
    if (step.name == "relu") {
      for (double& value : x) value = std::max(value, 0.0);
    } else if (step.name == "scale" || step.name == "invscale" || step.name == "add") {
      RETURN_IF_ERROR(Combine(step, x));
    } else {
      return Unimplemented("serialized_graph: the step ", step.name);
    }
    return Keep(step, std::move(x));
  }

  std::vector<Literal> Results() && {
    std::vector<Literal> results = {NarrowFrom(shape_, values_[last_])};
    for (Literal& literal : largest_) results.push_back(std::move(literal));
    return results;
  }

 private:
  absl::Status Keep(const Step& step, std::vector<double> values) {
    Round(step.type, values);
    last_ = step.number;
    values_[step.number] = std::move(values);
    return absl::OkStatus();
  }

  absl::Status Combine(const Step& step, std::vector<double>& x) {
    const size_t wanted = step.name == "add" ? x.size() : 1;
    if (next_ >= context_.operands.size() ||
        context_.operands[next_]->shape().ElementCount() != static_cast<int64_t>(wanted))
      return InvalidArgument("serialized_graph: no operand that fits ", step.name);
    const std::vector<double> y = WidenTo<double>(*context_.operands[next_++]);
    for (size_t i = 0; i < x.size(); ++i) {
      const double other = y[wanted == 1 ? 0 : i];
      x[i] = step.name == "scale" ? x[i] * other : step.name == "add" ? x[i] + other : x[i] / other;
    }
    return absl::OkStatus();
  }

  const EvalContext& context_;
  const Shape& shape_;
  std::map<int64_t, std::vector<double>> values_;
  std::vector<Literal> largest_;
  int64_t last_ = -1;
  size_t next_ = 2;
};

}  // namespace

absl::StatusOr<std::vector<Literal>> RunConvGraph(const EvalContext& context,
                                                  absl::string_view graph, const Shape& shape,
                                                  std::vector<double> values) {
  Graph run(context, shape);
  bool begun = false;
  for (absl::string_view text : absl::StrSplit(graph, ';', absl::SkipWhitespace())) {
    const absl::StatusOr<Step> step = ReadStep(text);
    if (!step.ok()) return step.status();
    if (begun == (step->name == "conv")) return Malformed(text);
    begun = true;
    RETURN_IF_ERROR(run.Run(*step, values));
  }
  if (!begun) return Malformed(graph);
  return std::move(run).Results();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
