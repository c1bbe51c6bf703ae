// Reads CompileOptionsProto. Its fields that matter here, by number:
//   CompileOptionsProto          2 parameter_is_tupled_arguments, 3 executable_build_options,
//                                7 env_option_overrides, each with 1 key and 2 value
//   OptionOverrideProto          1 string_field; others are switches and numbers
//   ExecutableBuildOptionsProto  4 num_replicas, 5 num_partitions, 9 device_assignment,
//                                12 and 18 allow_spmd_sharding_propagation_to_output, _parameters
//   DeviceAssignmentProto        1 replica_count, 2 computation_count, 3 computation_devices, each
//                                with 1 replica_device_ids
#include "pjrt/compile_options.h"

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kMaxCompiledDevices = 1 << 16;

struct WireField {
  uint64_t number = 0, varint = 0;
  absl::string_view bytes;
};

absl::Status Broken() { return InvalidArgument("the compile options are no CompileOptionsProto"); }

absl::StatusOr<uint64_t> TakeVarint(absl::string_view& from) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(from.front());
    from.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return Broken();
}

// The next field of a message in the protobuf wire format.
absl::StatusOr<WireField> TakeField(absl::string_view& from) {
  WireField field;
  ASSIGN_OR_RETURN(const uint64_t tag, TakeVarint(from));
  field.number = tag >> 3;
  uint64_t size = 0;
  switch (tag & 7) {
    case 0: {
      ASSIGN_OR_RETURN(field.varint, TakeVarint(from));
      return field;
    }
    case 1:
      size = 8;
      break;
    case 2: {
      ASSIGN_OR_RETURN(size, TakeVarint(from));
      break;
    }
    case 5:
      size = 4;
      break;
    default:
      return Broken();
  }
  if (size > from.size()) return Broken();
  field.bytes = from.substr(0, size);
  from.remove_prefix(size);
  return field;
}

// Calls `take` with each field.
template <typename Take>
absl::Status ForEachField(absl::string_view message, const Take& take) {
  while (!message.empty()) {
    ASSIGN_OR_RETURN(const WireField field, TakeField(message));
    RETURN_IF_ERROR(take(field));
  }
  return absl::OkStatus();
}

// Of a repeated number, packed or one by one.
template <typename T>
absl::Status AddNumbers(const WireField& field, std::vector<T>& out) {
  absl::string_view packed = field.bytes;
  if (packed.empty()) out.push_back(static_cast<T>(field.varint));
  while (!packed.empty()) {
    ASSIGN_OR_RETURN(const uint64_t value, TakeVarint(packed));
    out.push_back(static_cast<T>(value));
  }
  return absl::OkStatus();
}

// The ids by logical device: the message has a list of replicas for each partition.
absl::StatusOr<std::vector<int64_t>> ReadAssignment(absl::string_view message) {
  std::vector<std::vector<int64_t>> partitions;
  RETURN_IF_ERROR(ForEachField(message, [&](const WireField& field) -> absl::Status {
    if (field.number != 3) return absl::OkStatus();
    std::vector<int64_t>& ids = partitions.emplace_back();
    return ForEachField(field.bytes, [&](const WireField& id) {
      return id.number == 1 ? AddNumbers(id, ids) : absl::OkStatus();
    });
  }));
  std::vector<int64_t> by_logical;
  if (partitions.empty()) return by_logical;
  for (size_t replica = 0; replica < partitions[0].size(); ++replica)
    for (const std::vector<int64_t>& ids : partitions) {
      if (ids.size() != partitions[0].size())
        return InvalidArgument("the device assignment's partitions differ in replicas");
      by_logical.push_back(ids[replica]);
    }
  return by_logical;
}

absl::Status ReadBuildOptions(absl::string_view message, PjrtCompileOptions& options) {
  return ForEachField(message, [&](const WireField& field) -> absl::Status {
    switch (field.number) {
      case 4:
        options.replicas = static_cast<int64_t>(field.varint);
        break;
      case 5:
        options.partitions = static_cast<int64_t>(field.varint);
        break;
      case 9: {
        ASSIGN_OR_RETURN(options.devices, ReadAssignment(field.bytes));
        break;
      }
      case 12:
        return AddNumbers(field, options.propagate_to_output);
      case 18:
        return AddNumbers(field, options.propagate_to_parameters);
      default:
        break;
    }
    return absl::OkStatus();
  });
}

// The types of options' values. Repeated fields take text that lists values.
enum OptionType : uint8_t { kBool, kInt32, kInt64, kFloat, kString, kEnum, kMessage };

struct XlaOption {
  OptionType type = kMessage;
  bool repeated = false;
  absl::string_view values;  // of a choice, with commas between; empty where any is taken
};

const absl::flat_hash_map<absl::string_view, XlaOption>& XlaOptions() {
  static const auto* const options = new absl::flat_hash_map<absl::string_view, XlaOption>{
#define HLOKIT_XLA_OPTION(name, type) {#name, {type, false, ""}},
#define HLOKIT_XLA_CHOICE(name, values) {#name, {kEnum, false, values}},
#define HLOKIT_XLA_CHOICES(name, values) {#name, {kEnum, true, values}},
#include "pjrt/xla_options.def"
#undef HLOKIT_XLA_OPTION
#undef HLOKIT_XLA_CHOICE
#undef HLOKIT_XLA_CHOICES
  };
  return *options;
}

// An option's value: as text, a switch, a whole number or a fraction, by the field it comes in.
enum OverrideField : uint8_t { kText = 1, kSwitch = 2, kInteger = 3, kFraction = 4 };

struct OverrideValue {
  uint64_t field = 0;
  int64_t integer = 0;
  absl::string_view text;
};

bool IsOneOf(absl::string_view text, absl::string_view values) {
  int32_t number = 0;
  if (values.empty() || absl::SimpleAtoi(text, &number)) return true;
  for (absl::string_view value : absl::StrSplit(values, ','))
    if (value == text) return true;
  return false;
}

bool AreAllOf(absl::string_view text, const XlaOption& option) {
  if (!option.repeated) return IsOneOf(text, option.values);
  for (absl::string_view value : absl::StrSplit(text, ',', absl::SkipEmpty()))
    if (!IsOneOf(value, option.values)) return false;
  return true;
}

// Null where the option takes the value as XLA does, else the type that the value lacks.
const char* TypeThatItLacks(const XlaOption& option, const OverrideValue& value) {
  const bool is_text = value.field == kText, is_integer = value.field == kInteger;
  int64_t wide = 0;
  int32_t narrow = 0;
  double fraction = 0;
  switch (option.type) {
    case kBool:
      if (value.field == kSwitch || (is_integer && (value.integer == 0 || value.integer == 1)) ||
          (is_text && (value.text == "True" || value.text == "False")))
        return nullptr;
      return "bool";
    case kInt32:
      if ((is_integer && value.integer == static_cast<int32_t>(value.integer)) ||
          (is_text && absl::SimpleAtoi(value.text, &narrow)))
        return nullptr;
      return "int32";
    case kInt64:
      return is_integer || (is_text && absl::SimpleAtoi(value.text, &wide)) ? nullptr : "int64";
    case kFloat:
      if (value.field == kFraction || (is_text && absl::SimpleAtod(value.text, &fraction)))
        return nullptr;
      return "float";
    case kString:
      return is_text ? nullptr : "string";
    case kEnum:
      return is_integer || (is_text && AreAllOf(value.text, option)) ? nullptr : "enum";
    default:
      return "message";
  }
}

std::string TextOf(const OverrideValue& value) {
  return value.field == kText ? std::string(value.text) : absl::StrCat(value.integer);
}

// XLA's options have no meaning here; what is no option of XLA's is an error, as is a value of
// another type than the option's.
absl::Status CheckOverride(absl::string_view message) {
  absl::string_view name;
  OverrideValue given;
  RETURN_IF_ERROR(ForEachField(message, [&](const WireField& field) -> absl::Status {
    if (field.number == 1) name = field.bytes;
    if (field.number != 2) return absl::OkStatus();
    return ForEachField(field.bytes, [&](const WireField& value) {
      given = {value.number, static_cast<int64_t>(value.varint), value.bytes};
      return absl::OkStatus();
    });
  }));
  const auto option = XlaOptions().find(name);
  if (option == XlaOptions().end())
    return InvalidArgument("No such compile option: '", name, "'");
  if (const char* type = TypeThatItLacks(option->second, given); type != nullptr)
    return InvalidArgument("While setting option ", name, ", '", TextOf(given),
                           "' is not a valid ", type, " value.");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PjrtCompileOptions> ReadCompileOptions(absl::string_view bytes) {
  PjrtCompileOptions options;
  RETURN_IF_ERROR(ForEachField(bytes, [&](const WireField& field) -> absl::Status {
    if (field.number == 2) options.tuple_arguments = field.varint != 0;
    if (field.number == 3) return ReadBuildOptions(field.bytes, options);
    if (field.number == 7) return CheckOverride(field.bytes);
    return absl::OkStatus();
  }));
  const int64_t r = options.replicas, p = options.partitions;
  if (r < 1 || p < 1 || r > kMaxCompiledDevices || p > kMaxCompiledDevices ||
      r * p > kMaxCompiledDevices)
    return InvalidArgument("a program of ", r, " replicas and ", p, " partitions");
  if (!options.devices.empty() && static_cast<int64_t>(options.devices.size()) != r * p)
    return InvalidArgument("devices are assigned to ", options.devices.size(),
                           " parts of a program of ", r * p);
  if (options.tuple_arguments) return Unimplemented("arguments in one tuple");
  return options;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
