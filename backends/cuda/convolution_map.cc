// Places of convolutions: input = output * stride + window * window_dilation - padding, of an input
// with base_dilation - 1 zeros between its elements.
#include "backends/cuda/convolution_map.h"

#include <algorithm>

namespace hlokit {
namespace {

void And(Builder& b, llvm::Value** all, llvm::Value* one) {
  *all = *all == nullptr ? one : b.CreateAnd(*all, one);
}

// Splits `position` over sizes, slowest first.
std::vector<llvm::Value*> Split(Builder& b, llvm::Value* position, const DimVector& sizes) {
  DimVector order;
  for (size_t d = 0; d < sizes.size(); ++d) order.push_back(static_cast<int64_t>(d));
  std::vector<llvm::Value*> multi(sizes.size(), b.Index(0));
  Delinearize(b, position, order, sizes, multi);
  return multi;
}

// The elements of the dimensions `wanted`, fastest first, as far as they are memory's fastest ones.
int64_t RunOf(const Shape& shape, const DimVector& wanted) {
  const auto is_one = [&](int64_t d) { return shape.dims[d] == 1; };
  DimVector order = shape.MinorToMajor();
  order.erase(std::remove_if(order.begin(), order.end(), is_one), order.end());
  int64_t run = 1;
  size_t next = 0;
  for (const int64_t d : wanted) {
    if (is_one(d)) continue;
    if (next == order.size() || order[next++] != d) break;
    run *= shape.dims[d];
  }
  return run;
}

}  // namespace

ConvolutionMap::ConvolutionMap(const Instruction& convolution)
    : input_(convolution.operand(0)->shape()),
      kernel_(convolution.operand(1)->shape()),
      result_(convolution.shape()) {
  const auto& attrs = convolution.attr<ConvolutionAttrs>();
  dims_ = attrs.dim_labels;
  window_dims_ = attrs.window;
  batch_groups_ = attrs.batch_group_count > 1;
  groups_ = attrs.feature_group_count * attrs.batch_group_count;
  rows_ = result_.dims[dims_.output_batch];
  for (const int64_t d : dims_.output_spatial) rows_ *= result_.dims[d];
  columns_ = result_.dims[dims_.output_feature] / groups_;
  for (const WindowDim& dim : window_dims_) window_ *= dim.size;
  if (input_.ElementCount() == 0) window_ = 0;  // nothing to clamp places to
  features_ = kernel_.dims[dims_.kernel_input_feature];
  const auto is_turned = [](const WindowDim& dim) { return dim.reversal; };
  window_fastest_ = !dims_.kernel_spatial.empty() &&
                    kernel_.MinorToMajor()[0] == dims_.kernel_spatial.back() &&
                    input_.MinorToMajor()[0] == dims_.input_spatial.back() &&
                    std::none_of(window_dims_.begin(), window_dims_.end(), is_turned);
}

int64_t ConvolutionMap::KernelRun() const {
  DimVector order = dims_.kernel_spatial;
  std::reverse(order.begin(), order.end());
  order.push_back(dims_.kernel_input_feature);
  return RunOf(kernel_, order);
}

int64_t ConvolutionMap::InputRun() const {
  for (const WindowDim& w : window_dims_)
    if (w.size != 1 || w.stride != 1 || w.base_dilation != 1 || w.pad_low != 0 || w.pad_high != 0)
      return 1;
  DimVector order = dims_.input_spatial;
  std::reverse(order.begin(), order.end());
  return RunOf(input_, order);
}

bool ConvolutionMap::HasWideWindow() const {
  return window_dims_.back().window_dilation == 1 &&
         window_dims_.back().size > result_.dims[dims_.output_spatial.back()];
}

std::vector<llvm::Value*> ConvolutionMap::Window(Builder& b, llvm::Value* term,
                                                 llvm::Value*& feature) const {
  DimVector sizes;
  for (const WindowDim& dim : window_dims_) sizes.push_back(dim.size);
  const size_t at = window_fastest_ ? 0 : sizes.size();
  sizes.insert(sizes.begin() + static_cast<int64_t>(at), features_);
  std::vector<llvm::Value*> places = Split(b, term, sizes);
  feature = places[at];
  places.erase(places.begin() + static_cast<int64_t>(at));
  return places;
}

std::vector<llvm::Value*> ConvolutionMap::Output(Builder& b, llvm::Value* row) const {
  DimVector sizes = {result_.dims[dims_.output_batch]};
  for (const int64_t d : dims_.output_spatial) sizes.push_back(result_.dims[d]);
  return Split(b, row, sizes);
}

llvm::Value* ConvolutionMap::InputPlace(Builder& b, size_t s, llvm::Value* output,
                                        llvm::Value* window, llvm::Value** inside) const {
  const WindowDim& w = window_dims_[s];
  const int64_t size = input_.dims[dims_.input_spatial[s]];
  const int64_t output_size = result_.dims[dims_.output_spatial[s]];
  llvm::Value* at = b.CreateNSWAdd(Scale(b, output, w.stride), Scale(b, window, w.window_dilation));
  at = b.CreateNSWSub(at, b.Index(w.pad_low));
  const int64_t last = (output_size - 1) * w.stride + (w.size - 1) * w.window_dilation - w.pad_low;
  const int64_t extent = (size - 1) * w.base_dilation;  // of the last element
  if (w.pad_low > 0) And(b, inside, b.CreateICmpSGE(at, b.Index(0)));
  if (last > extent) And(b, inside, b.CreateICmpSLE(at, b.Index(extent)));
  if (w.pad_low > 0) at = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, at, b.Index(0));
  if (last > extent) at = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, at, b.Index(extent));
  if (w.base_dilation == 1) return at;
  llvm::Value* const step = b.Index(w.base_dilation);
  And(b, inside, b.CreateICmpEQ(b.CreateURem(at, step), b.Index(0)));
  return b.CreateUDiv(at, step);
}

MatrixElement ConvolutionMap::Input(Builder& b, llvm::Value* group, llvm::Value* row,
                                    llvm::Value* term) const {
  MatrixElement element;
  element.multi.assign(static_cast<size_t>(input_.rank()), b.Index(0));
  llvm::Value* feature = nullptr;
  const std::vector<llvm::Value*> window = Window(b, term, feature), output = Output(b, row);
  llvm::Value* batch = output[0];
  if (batch_groups_)
    batch = b.CreateNSWAdd(batch, Scale(b, group, result_.dims[dims_.output_batch]));
  else
    feature = b.CreateNSWAdd(feature, Scale(b, group, features_));
  element.multi[dims_.input_batch] = batch;
  element.multi[dims_.input_feature] = feature;
  for (size_t s = 0; s < window.size(); ++s)
    element.multi[dims_.input_spatial[s]] =
        InputPlace(b, s, output[s + 1], window[s], &element.inside);
  return element;
}

MatrixElement ConvolutionMap::Kernel(Builder& b, llvm::Value* group, llvm::Value* term,
                                     llvm::Value* column) const {
  MatrixElement element;
  element.multi.assign(static_cast<size_t>(kernel_.rank()), b.Index(0));
  llvm::Value* feature = nullptr;
  const std::vector<llvm::Value*> window = Window(b, term, feature);
  element.multi[dims_.kernel_input_feature] = feature;
  element.multi[dims_.kernel_output_feature] = b.CreateNSWAdd(column, Scale(b, group, columns_));
  for (size_t s = 0; s < window.size(); ++s)
    element.multi[dims_.kernel_spatial[s]] =
        window_dims_[s].reversal ? b.CreateNSWSub(b.Index(window_dims_[s].size - 1), window[s])
                                 : window[s];
  return element;
}

std::vector<llvm::Value*> ConvolutionMap::Result(Builder& b, llvm::Value* group, llvm::Value* row,
                                                 llvm::Value* column) const {
  std::vector<llvm::Value*> multi(static_cast<size_t>(result_.rank()), b.Index(0));
  const std::vector<llvm::Value*> output = Output(b, row);
  multi[dims_.output_batch] = output[0];
  multi[dims_.output_feature] = b.CreateNSWAdd(column, Scale(b, group, columns_));
  for (size_t s = 0; s + 1 < output.size(); ++s) multi[dims_.output_spatial[s]] = output[s + 1];
  return multi;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
