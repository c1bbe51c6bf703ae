// Look-ups and changes of a topology's numbers.
//   --what-if=links.nvlink.bandwidth=0.5x   halves the number at that path; =9e11 sets it
// Numbers are checked as those of a file are. A type without a rate of its own takes that of the
// next type that the device has (f8 without one: bf16's).
#include "simulate/topology.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "support/status.h"
#include "support/text.h"

namespace hlokit {
namespace {

// Where a type's rate is looked for, best first.
std::vector<std::string> RateNames(const std::string& type) {
  std::vector<std::string> names = {type};
  const auto starts = [&](absl::string_view prefix) { return absl::StartsWith(type, prefix); };
  if (starts("f4")) names.push_back("f4");
  if (starts("f4") || starts("f8")) names.push_back("f8");
  if (starts("s") || starts("u") || type == "pred") names.push_back("s8");
  if (!starts("f64") && !starts("c128") && !starts("f32") && !starts("c64"))
    names.insert(names.end(), {"bf16", "f16"});
  if (!starts("f64") && !starts("c128")) names.push_back("f32");
  names.push_back("f64");
  return names;
}

// Numbers that divide must be positive, all others not negative; a level joins whole units.
bool Allowed(absl::string_view path, double value) {
  if (absl::EndsWith(path, ".size") || absl::StrContains(path, ".axes."))
    return value >= 1 && value <= kMaxDevices && value == std::floor(value);
  const bool may_be_zero = absl::EndsWith(path, ".latency") || absl::EndsWith(path, ".launch") ||
                           absl::EndsWith(path, ".start") || absl::EndsWith(path, ".collective") ||
                           absl::EndsWith(path, ".at_full_speed") ||
                           absl::EndsWith(path, ".groups_at_once") ||
                           absl::EndsWith(path, ".memory");
  return std::isfinite(value) && (may_be_zero ? value >= 0 : value > 0);
}

int64_t SaturatingProduct(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

}  // namespace

int64_t Link::size() const {
  int64_t size = 1;
  for (const int64_t axis : axes) size = SaturatingProduct(size, axis);
  return size;
}

int64_t Topology::DeviceCount() const {
  int64_t count = 1;
  for (const Link& link : links) count = SaturatingProduct(count, link.size());
  return count;
}

double DeviceModel::ProductFlops(ElementType type) const {
  for (const std::string& name : RateNames(std::string(Text(type))))
    if (const auto found = flops.find(name); found != flops.end()) return found->second;
  double slowest = 0;
  for (const auto& [name, rate] : flops) slowest = slowest == 0 ? rate : std::min(slowest, rate);
  return slowest;
}

void Topology::ForEachNumber(const std::function<void(const std::string&, double&)>& fn) {
  for (auto& [type, rate] : device.flops) fn(absl::StrCat("device.flops.", type), rate);
  fn("device.vector_flops", device.vector_flops);
  fn("device.functions", device.functions);
  fn("device.memory_bandwidth", device.memory_bandwidth);
  fn("device.memory", device.memory);
  fn("device.launch", device.launch);
  fn("device.start", device.start);
  fn("device.product_efficiency", device.product_efficiency);
  fn("device.memory_efficiency", device.memory_efficiency);
  fn("device.at_full_speed", device.at_full_speed);
  fn("device.groups_at_once", device.groups_at_once);
  for (Link& link : links) {
    const std::string prefix = absl::StrCat("links.", link.name, ".");
    fn(prefix + "bandwidth", link.bandwidth);
    fn(prefix + "latency", link.latency);
    fn(prefix + "efficiency", link.efficiency);
    fn(prefix + "oversubscription", link.oversubscription);
    fn(prefix + "collective", link.collective);
    for (size_t a = 0; a < link.axes.size(); ++a) {
      auto size = static_cast<double>(link.axes[a]);
      fn(link.axes.size() == 1 ? prefix + "size" : absl::StrCat(prefix, "axes.", a), size);
      link.axes[a] = static_cast<int64_t>(size);
    }
  }
}

absl::Status ChangeTopology(Topology& topology, absl::string_view change) {
  const size_t equals = change.find('=');
  const absl::string_view path = change.substr(0, equals);
  absl::string_view value =
      equals == absl::string_view::npos ? absl::string_view() : change.substr(equals + 1);
  const bool factor = !value.empty() && (value.back() == 'x' || value.back() == 'X');
  if (factor) value.remove_suffix(1);
  double number = 0;
  if (!absl::SimpleAtod(value, &number))
    return InvalidArgument("a change is NAME=NUMBER or NAME=FACTORx, which ", change, " is not");
  bool found = false, allowed = true;
  NearestName nearest(path);
  std::vector<std::string> names;
  topology.ForEachNumber([&](const std::string& name, double& old) {
    names.push_back(name);
    if (name != path) return;
    found = true;
    const double changed = factor ? old * number : number;
    allowed = Allowed(path, changed);
    if (allowed) old = changed;
  });
  for (const std::string& name : names) nearest.Offer(name);
  if (!found) return InvalidArgument(topology.name, " has no number ", path, nearest.Hint());
  if (!allowed) return InvalidArgument(path, " cannot be ", change.substr(equals + 1));
  if (topology.DeviceCount() > kMaxDevices)
    return InvalidArgument(change, " makes more devices than ", kMaxDevices);
  return absl::OkStatus();
}

DeviceModel SharedBy(const DeviceModel& device, int64_t devices) {
  DeviceModel shared = device;
  if (device.at_full_speed <= 0) return shared;
  const double share = std::max(1.0, static_cast<double>(devices) / device.at_full_speed);
  for (auto& [type, rate] : shared.flops) rate /= share;
  shared.vector_flops /= share;
  shared.functions /= share;
  shared.memory_bandwidth /= share;
  shared.launch *= share;
  shared.start *= share;
  return shared;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
