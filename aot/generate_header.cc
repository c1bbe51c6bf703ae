// Text of generated headers. Names of arrays become identifiers; those that would clash get
// numbers.
#include "aot/generate_header.h"

#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "backends/cpu/aot/c_names.h"
#include "support/status.h"

namespace hlokit {
namespace {

// The C type that holds an element, and how many of them an element takes.
struct NativeElement {
  const char* type;
  int count = 1;
};

NativeElement NativeOf(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return {"float"};
    case ElementType::kF64:
      return {"double"};
    case ElementType::kC64:
      return {"float", 2};
    case ElementType::kC128:
      return {"double", 2};
    default:
      break;
  }
  const bool is_signed = IsSigned(type);
  switch (ByteWidth(type)) {
    case 8:
      return {is_signed ? "int64_t" : "uint64_t"};
    case 4:
      return {is_signed ? "int32_t" : "uint32_t"};
    case 2:
      return {is_signed ? "int16_t" : "uint16_t"};
    default:
      return {is_signed ? "int8_t" : "uint8_t"};
  }
}

// `name` with what no identifier holds as `_`, and another ending where it, or NAME_set_ before it,
// would be taken.
std::string Identifier(absl::string_view name, std::set<std::string>& taken) {
  std::string id;
  if (name.empty() || absl::ascii_isdigit(name[0]) || absl::StartsWithIgnoreCase(name, "hlokit"))
    id += '_';
  for (const char c : name) id += absl::ascii_isalnum(c) ? c : '_';
  const std::string stem = id;
  const auto is_free = [&] {
    return IsCName(id) && taken.count(id) == 0 && taken.count("set_" + id) == 0;
  };
  for (int n = 2; !is_free(); ++n) id = absl::StrCat(stem, "_", n);
  taken.insert(id);
  taken.insert("set_" + id);
  return id;
}

// The functions and members of every program.
std::set<std::string> ReservedNames() {
  return {"argument",
          "argument_count",
          "cancel",
          "Cancel",
          "create",
          "description",
          "destroy",
          "device",
          "device_count",
          "entry",
          "error",
          "error_",
          "execute",
          "kArgumentCount",
          "kDeviceCount",
          "kPartitionCount",
          "kResultCount",
          "kReplicaCount",
          "model",
          "ok",
          "queues",
          "result",
          "partition_count",
          "replica_count",
          "result_count",
          "run",
          "run_",
          "Run",
          "set_threads"};
}

struct Accessor {
  const AotArray& array;
  std::string id;
  NativeElement native;
  int64_t elements;      // of the C type
  int64_t becomes = -1;  // of a donated argument: the result that takes its memory
  std::string meaning;   // of a size
};

std::vector<Accessor> AccessorsOf(const std::vector<AotArray>& arrays, absl::string_view prefix,
                                  std::set<std::string>& taken) {
  std::vector<Accessor> accessors;
  for (const AotArray& array : arrays) {
    if (!array.shape.IsArray()) {
      accessors.push_back({array, "", {"void"}, 0, -1, ""});
      continue;
    }
    const NativeElement native = NativeOf(array.shape.type);
    accessors.push_back({array, Identifier(absl::StrCat(prefix, array.name), taken), native,
                         array.shape.ElementCount() * native.count, -1, ""});
  }
  return accessors;
}

// In memory there are no tiles, paddings or packed elements.
Shape WithoutExtras(Shape shape) {
  shape.layout.extras = nullptr;
  return shape;
}

// What sizes are sizes of.
void ExplainSizes(const std::vector<AotSize>& sizes, std::vector<Accessor>& accessors) {
  for (const AotSize& size : sizes)
    accessors[size.place].meaning =
        absl::StrCat(" How much there is of dimension ", size.dimension, " of ",
                     accessors[size.array].array.name, ", 0 to ", size.bound, ".");
}

// Which of several devices a function is about: as a parameter after others, alone and before
// others; as an argument after others and alone; in the names of the runtime's functions.
std::string FillDevice(absl::string_view pattern, bool several) {
  return absl::StrReplaceAll(pattern, {{"$AND_DEVICE", several ? ", int64_t device" : ""},
                                       {"$DEVICE_AND", several ? "int64_t device, " : ""},
                                       {"$DEVICE", several ? "int64_t device" : ""},
                                       {"$AT", several ? ", device" : ""},
                                       {"$PASS", several ? "device" : ""},
                                       {"$OF", several ? "device_" : ""}});
}

// `$name$`-style patterns keep the templates readable.
std::string Fill(absl::string_view pattern, const std::string& name, const Accessor& a, size_t i) {
  return absl::StrReplaceAll(
      pattern, {{"$NAME", name},
                {"$ID", a.id},
                {"$TYPE", a.native.type},
                {"$SHAPE", Text(WithoutExtras(a.array.shape), true)},
                {"$MEANING", a.meaning},
                {"$COUNT", absl::StrCat(a.elements)},
                {"$BYTES", absl::StrCat(a.array.shape.IsArray() ? a.array.shape.ByteSize() : 0)},
                {"$CONST", a.becomes < 0 ? "const " : ""},
                {"$USE", a.becomes < 0 ? "is only read"
                                       : absl::StrCat("a run leaves result ", a.becomes, " in")},
                {"$I", absl::StrCat(i)}});
}

constexpr char kTop[] = R"(/* $NAME, compiled by hlo-aot from $SOURCE for $TRIPLE.
 *
 * Needs the object file of this header, and hlokit's runtime library. Temporary memory of a run:
 * $ARENA bytes$EACH; values of constants: $WEIGHTS bytes$WHERE.
 * All arrays lie in the layout that their shape names, aligned to HLOKIT_AOT_ALIGNMENT bytes, with
 * the bits of bf16, f16 and f8 in unsigned integers, and a byte for each element of a type below one.
$DEVICES$CALLS */
#ifndef HLOKIT_AOT_$NAME_H_
#define HLOKIT_AOT_$NAME_H_

#include "runtime/aot.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const HlokitAotModel $NAME_model;

/* ---- C: one run object a thread; the functions of runtime/aot.h work on it too ---- */
typedef HlokitAotRun $NAME_run;
/* Null where memory does not suffice or the weights cannot be mapped; `error` then says why. */
static inline $NAME_run* $NAME_create(const char* weights_path, char* error, int64_t error_size) {
  return hlokit_aot_create(&$NAME_model, weights_path, error, error_size);
}
static inline void $NAME_destroy($NAME_run* run) { hlokit_aot_destroy(run); }
/* 0 where the program ran; else $NAME_error says why not. */
static inline int $NAME_execute($NAME_run* run) { return hlokit_aot_run(run); }
static inline const char* $NAME_error(const $NAME_run* run) { return hlokit_aot_error(run); }
static inline void $NAME_set_threads($NAME_run* run, int32_t threads) {
  hlokit_aot_set_threads(run, threads);
}
/* Ends the run that is under way, as an error; from any thread. */
static inline void $NAME_cancel($NAME_run* run) { hlokit_aot_cancel(run); }
/* For the functions of runtime/queues.h. */
static inline HlokitQueues* $NAME_queues($NAME_run* run$AND_DEVICE) {
  return hlokit_aot_$OFqueues(run$AT);
}
enum { $NAME_argument_count = $ARGS, $NAME_result_count = $RESULTS };
enum { $NAME_replica_count = $REPLICAS, $NAME_partition_count = $PARTITIONS };
enum { $NAME_device_count = $NAME_replica_count * $NAME_partition_count };
)";

constexpr char kCArgument[] =
    R"(/* Argument $I: $SHAPE, $COUNT elements of this type, $BYTES bytes; to be written before a run.$MEANING */
static inline $TYPE* $NAME_$ID($NAME_run* run$AND_DEVICE) {
  return ($TYPE*)hlokit_aot_$OFargument(run$AT, $I);
}
/* The same from the caller's memory, which $USE. 0 where done, 1 where it is not aligned. */
static inline int $NAME_set_$ID($NAME_run* run$AND_DEVICE, $CONST$TYPE* data) {
  return hlokit_aot_set_$OFargument(run$AT, $I, data);
}
)";

constexpr char kCResult[] =
    R"(/* Result $I: $SHAPE, $COUNT elements of this type, $BYTES bytes; valid until the next run.$MEANING */
static inline const $TYPE* $NAME_$ID($NAME_run* run$AND_DEVICE) {
  return (const $TYPE*)hlokit_aot_$OFresult(run$AT, $I);
}
)";

constexpr char kClassTop[] = R"(
#ifdef __cplusplus
} /* extern "C" */

#include <span>
#include <string>

/* ---- C++: one object a thread ---- */
class $NAME {
 public:
  // `weights_path` is looked at only where the weights lie in a file.
  explicit $NAME(const char* weights_path = nullptr) {
    char error[HLOKIT_ERROR_SIZE] = "";
    run_ = hlokit_aot_create(&$NAME_model, weights_path, error, sizeof(error));
    error_ = error;
  }
  ~$NAME() { hlokit_aot_destroy(run_); }
  $NAME(const $NAME&) = delete;
  $NAME& operator=(const $NAME&) = delete;

  // False where the object could not be made; then nothing else may be called but error().
  bool ok() const { return run_ != nullptr; }
  // True where the program ran; results are valid until the next run.
  bool Run() {
    if (hlokit_aot_run(run_) == 0) return true;
    error_ = hlokit_aot_error(run_);
    return false;
  }
  const std::string& error() const { return error_; }
  // 0: all cores. Results do not depend on it.
  void set_threads(int threads) { hlokit_aot_set_threads(run_, threads); }
  // Ends the run that is under way, as an error; from any thread.
  void Cancel() { hlokit_aot_cancel(run_); }
  // Infeed and outfeed, for the functions of runtime/queues.h; from any thread.
  HlokitQueues* queues($DEVICE) { return hlokit_aot_$OFqueues(run_$AT); }
  static const HlokitAotModel& description() { return $NAME_model; }

  static constexpr int kArgumentCount = $ARGS;
  static constexpr int kResultCount = $RESULTS;
  static constexpr int kReplicaCount = $REPLICAS;
  static constexpr int kPartitionCount = $PARTITIONS;
  static constexpr int kDeviceCount = kReplicaCount * kPartitionCount;
  // Argument or result `I`, of its own type.
  template <int I>
  auto argument($DEVICE);
  template <int I>
  auto result($DEVICE);
)";

constexpr char kClassArgument[] = R"(
  // Argument $I: $SHAPE, to be written before a run.$MEANING
  std::span<$TYPE, $COUNT> $ID($DEVICE) {
    return std::span<$TYPE, $COUNT>(
        static_cast<$TYPE*>(hlokit_aot_$OFargument(run_$AT, $I)), $COUNT);
  }
  // The same from the caller's memory, which $USE; false where it is not aligned.
  bool set_$ID($DEVICE_AND$CONST$TYPE* data) {
    return hlokit_aot_set_$OFargument(run_$AT, $I, data) == 0;
  }
)";

constexpr char kClassResult[] = R"(
  // Result $I: $SHAPE.$MEANING
  std::span<const $TYPE, $COUNT> $ID($DEVICE) {
    return std::span<const $TYPE, $COUNT>(
        static_cast<const $TYPE*>(hlokit_aot_$OFresult(run_$AT, $I)), $COUNT);
  }
)";

constexpr char kClassEnd[] = R"(
 private:
  HlokitAotRun* run_ = nullptr;
  std::string error_;
};
)";

constexpr char kBottom[] = R"(#endif /* __cplusplus */

#endif /* HLOKIT_AOT_$NAME_H_ */
)";

// What devices there are.
std::string DevicesText(const AotObject& object) {
  const int64_t devices = object.replica_count * object.partition_count;
  if (devices == 1) return "";
  return absl::StrCat(" * Runs on ", devices, " devices at once, ", object.replica_count,
                      " replicas of ", object.partition_count,
                      " partitions, in a thread each: accessors take the device,\n * replica * ",
                      object.partition_count, " + partition, from 0 to ", devices - 1, ".\n");
}

// What the program wants of its host, a line each.
std::string CallsText(const AotObject& object) {
  std::string text;
  if (!object.custom_calls.empty())
    text += " * To be linked along, as extern \"C\" void TARGET(void* out, const void** in):\n";
  for (const std::string& target : object.custom_calls)
    absl::StrAppend(&text, " *   ", target, "\n");
  const auto feeds = [&](const char* what, const std::vector<Shape>& shapes) {
    if (!shapes.empty()) absl::StrAppend(&text, " * ", what, " (see hlokit_aot_queues):\n");
    for (const Shape& shape : shapes) absl::StrAppend(&text, " *   ", Text(shape, true), "\n");
  };
  feeds("Takes from its infeed", object.infeeds);
  feeds("Gives to its outfeed", object.outfeeds);
  return text;
}

}  // namespace

std::string GenerateHeader(const AotObject& object, const std::string& name,
                           const std::string& source) {
  std::set<std::string> taken = ReservedNames();
  taken.insert(name);
  std::vector<Accessor> arguments = AccessorsOf(object.arguments, "", taken);
  for (size_t i = 0; i < object.donated.size(); ++i)
    if (object.donated[i] >= 0) arguments[object.donated[i]].becomes = static_cast<int64_t>(i);
  std::vector<Accessor> results = AccessorsOf(object.results, "", taken);
  ExplainSizes(object.argument_sizes, arguments);
  ExplainSizes(object.result_sizes, results);
  if (object.check_result >= 0) results[object.check_result].id.clear();
  const bool several = object.replica_count * object.partition_count > 1;
  const auto frame = [&](absl::string_view pattern) {
    return absl::StrReplaceAll(
        FillDevice(absl::StrReplaceAll(pattern, {{"$DEVICES", DevicesText(object)}}), several),
        {{"$NAME", name},
         {"$SOURCE", absl::StrReplaceAll(source, {{"*/", "* /"}})},
         {"$TRIPLE", object.triple},
         {"$ARENA", absl::StrCat(object.arena_bytes)},
         {"$WEIGHTS", absl::StrCat(object.weights_bytes)},
         {"$WHERE", object.weights.empty() ? ", in the object" : ", in a file beside it"},
         {"$CALLS", CallsText(object)},
         {"$EACH", several ? " on each device" : ""},
         {"$REPLICAS", absl::StrCat(object.replica_count)},
         {"$PARTITIONS", absl::StrCat(object.partition_count)},
         {"$ARGS", absl::StrCat(arguments.size())},
         {"$RESULTS", absl::StrCat(results.size())}});
  };
  std::string text = frame(kTop), members, specializations;
  const auto add = [&](const std::vector<Accessor>& accessors, const char* in_c,
                       const char* in_class, const char* by_index) {
    for (size_t i = 0; i < accessors.size(); ++i) {
      if (accessors[i].id.empty()) continue;
      const auto fill = [&](const char* pattern) {
        return Fill(FillDevice(pattern, several), name, accessors[i], i);
      };
      text += fill(in_c);
      members += fill(in_class);
      specializations += fill(by_index);
    }
  };
  add(arguments, kCArgument, kClassArgument,
      "template <>\ninline auto $NAME::argument<$I>($DEVICE) {\n  return $ID($PASS);\n}\n");
  add(results, kCResult, kClassResult,
      "template <>\ninline auto $NAME::result<$I>($DEVICE) {\n  return $ID($PASS);\n}\n");
  return absl::StrCat(text, frame(kClassTop), members, kClassEnd, specializations, frame(kBottom));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
