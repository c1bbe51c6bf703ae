// Values by device and name.
#include "tools/hlo-reduce/given_values.h"

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "interpreter/interpreter.h"
#include "support/status.h"
#include "tools/hlo-reduce/edits.h"
#include "types/npz.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxKeptBytes = int64_t{1} << 30;
constexpr double kTimeLimit = 60;  // seconds of the run

int64_t DevicesOf(const Module& module) {
  return module.header().replica_count * module.header().num_partitions;
}

// Whether a corner of `value` has the shape.
bool Covers(const Shape& value, const Shape& shape) {
  if (value == shape) return true;
  if (!value.IsArray() || !shape.IsArray() || value.type != shape.type ||
      value.rank() != shape.rank())
    return false;
  for (int64_t d = 0; d < shape.rank(); ++d)
    if (shape.dims[d] > value.dims[d]) return false;
  return true;
}

}  // namespace

void GivenValues::Keep(int64_t device, const std::string& name, const Literal& value) {
  if (values_.contains({device, name})) return;
  bytes_ += TotalBytes(value.shape());
  if (bytes_ <= kMaxKeptBytes) values_.emplace(std::make_pair(device, name), value);
}

absl::StatusOr<GivenValues> GivenValues::Record(const Module& module, const InputOptions& options) {
  const int64_t devices = DevicesOf(module);
  ASSIGN_OR_RETURN(const Arguments arguments, Arguments::Make(module, options, devices, {}));
  const auto pointers = arguments.Pointers(devices);
  GivenValues given(options);
  given.options_.inputs.clear();
  for (int64_t d = 0; d < devices; ++d)
    for (const Instruction* parameter : module.entry()->parameters())
      given.Keep(d, parameter->name(), *pointers[d][parameter->parameter_number()]);
  absl::Mutex mutex;
  InterpreterOptions run;
  run.time_limit_s = kTimeLimit;
  run.observer = [&](int64_t device, const Instruction& i, const Literal& value) {
    absl::MutexLock lock(&mutex);
    if (i.shape().IsArray()) given.Keep(device, i.name(), value);
    return absl::OkStatus();
  };
  (void)InterpretDevices(module, pointers, run);  // what ran before an error counts
  return given;
}

const Literal* GivenValues::Find(int64_t device, const Instruction& parameter) const {
  const auto found = values_.find({device, parameter.name()});
  if (found == values_.end() || !Covers(found->second.shape(), parameter.shape())) return nullptr;
  return &found->second;
}

absl::Status GivenValues::Write(const Module& part, const std::string& path) const {
  const int64_t devices = DevicesOf(part);
  ASSIGN_OR_RETURN(const Arguments random, Arguments::Make(part, options_, devices, {}));
  const auto pointers = random.Pointers(devices);
  std::vector<std::vector<Literal>> lists(devices);
  std::vector<NamedLiteral> named;
  for (int64_t d = 0; d < devices; ++d) {
    for (const Instruction* parameter : part.entry()->parameters()) {
      const Literal* value = Find(d, *parameter);
      if (value == nullptr) value = pointers[d][parameter->parameter_number()];
      lists[d].push_back(value->shape() == parameter->shape() ? *value
                                                              : Corner(*value, parameter->shape()));
    }
    size_t number = 0;
    for (const Literal& literal : lists[d])
      for (NamedLiteral leaf : NameLeaves(literal, "in")) {
        leaf.name = absl::StrCat("in", number++, devices > 1 ? absl::StrCat(".d", d) : "");
        named.push_back(std::move(leaf));
      }
  }
  return WriteNpz(path, named);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
