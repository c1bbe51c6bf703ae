// A side table keyed by dense ids, such as an instruction's: a vector that grows to the largest id
// it is given.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace hlokit {

// Ids never written read as the default value.
template <typename T>
class DenseMap {
 public:
  DenseMap() = default;
  explicit DenseMap(T default_value) : default_(std::move(default_value)) {}
  DenseMap(size_t size, T default_value)
      : default_(std::move(default_value)), values_(size, default_) {}

  T& operator[](size_t id) {
    if (id >= values_.size()) values_.resize(id + 1, default_);
    return values_[id];
  }
  const T& at(size_t id) const { return id < values_.size() ? values_[id] : default_; }
  size_t size() const { return values_.size(); }  // one past the largest id written
  void clear() { values_.clear(); }

 private:
  T default_{};
  std::vector<T> values_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
