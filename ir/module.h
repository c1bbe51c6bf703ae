// A module: computations, the entry, and what the HloModule line and the tables after it say.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/computation.h"
#include "ir/name_uniquer.h"
#include "support/diagnostics.h"

namespace hlokit {

class Module;

// entry_computation_layout={(f32[2]{0}, s32[])->f32[2]{0}}.
struct EntryLayout {
  std::vector<Shape> parameters;
  Shape result;
  bool operator==(const EntryLayout&) const = default;
};

// input_output_alias={ {1}: (0, {}, may-alias) }.
struct InputOutputAlias {
  ShapeIndex output;
  int64_t parameter = 0;
  ShapeIndex parameter_index;
  bool must_alias = false;
  bool operator==(const InputOutputAlias&) const = default;
};

// buffer_donor={ (0, {}), (1, {0}) }.
struct BufferDonor {
  int64_t parameter = 0;
  ShapeIndex index;
  bool operator==(const BufferDonor&) const = default;
};

// The FileNames, FunctionNames, FileLocations and StackFrames tables; rows by their 1-based number.
struct StackFrameTables {
  struct Location {
    int64_t file_name_id = 0, function_name_id = 0, line = 0, end_line = 0, column = 0,
            end_column = 0;
    bool operator==(const Location&) const = default;
  };
  struct Frame {
    int64_t file_location_id = 0, parent_frame_id = 0;
    bool operator==(const Frame&) const = default;
  };
  std::vector<std::string> file_names, function_names;
  std::vector<Location> locations;
  std::vector<Frame> frames;
  bool empty() const {
    return file_names.empty() && function_names.empty() && locations.empty() && frames.empty();
  }
  bool operator==(const StackFrameTables&) const = default;
};

// A row of origin_recovery_table, `{"lost" {0}} : {"from"}`: where a value that passes removed can
// be had from, and the module that computes it, where that is more than the value itself.
struct OriginRecovery {
  struct Array {
    std::string instruction;
    ShapeIndex index;
    bool operator==(const Array&) const = default;
  };
  Array lost, from;
  std::shared_ptr<const Module> module;  // may be null
};

// What the HloModule line carries. Attributes that the project knows only as text stay, in order,
// in `others`.
struct ModuleHeader {
  bool is_scheduled = false;
  std::optional<EntryLayout> entry_layout;
  std::vector<InputOutputAlias> aliases;
  std::vector<BufferDonor> donors;
  int64_t replica_count = 1;
  int64_t num_partitions = 1;
  std::vector<bool> propagate_sharding_to_parameters, propagate_sharding_to_output;
  bool alias_passthrough_params = false;
  std::vector<std::pair<std::string, std::string>> frontend_attributes;
  std::vector<OriginRecovery> origin_recovery;              // sorted by `lost`, which is unique
  std::vector<std::pair<std::string, std::string>> others;  // name, text of the value
  StackFrameTables stack_frames;
};

class Module {
 public:
  explicit Module(std::string name);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  ModuleHeader& header() { return header_; }
  const ModuleHeader& header() const { return header_; }

  // A new computation; the name is made unique.
  Computation* AddComputation(absl::string_view name);
  // Takes over a computation built alone (the parser's); its name and those of its instructions are
  // made unique.
  Computation* Adopt(std::unique_ptr<Computation> computation);
  // Deletes a computation that nothing calls.
  void Remove(Computation* computation);
  // The computation of that id; null where it was removed. Ids are never reused.
  Computation* FindComputation(int64_t id) const;
  Computation* entry() const { return entry_; }
  void set_entry(Computation* entry) { entry_ = entry; }
  // In the order they were added.
  std::vector<Computation*> Computations() const;
  // Called computations before their callers, the entry last; without recursion. Unreachable ones
  // are included.
  std::vector<Computation*> ComputationsPostOrder() const;

  // `name` itself if no instruction has it, else name.1, name.2, ... as XLA counts; reserves it.
  std::string UniqueName(absl::string_view name) { return names_.Unique(name); }
  std::string UniqueComputationName(absl::string_view name) {
    return computation_names_.Unique(name);
  }
  // One above the largest instruction id.
  int64_t id_bound() const { return next_id_; }
  int64_t computation_id_bound() const { return next_computation_id_; }

  // The text that it was read from, for diagnostics; may be null.
  const std::shared_ptr<const SourceFile>& source() const { return source_; }
  void set_source(std::shared_ptr<const SourceFile> source) { source_ = std::move(source); }

  // Deep copy, names kept.
  std::unique_ptr<Module> Clone() const;

 private:
  friend class Computation;
  std::string name_;
  ModuleHeader header_;
  std::vector<std::unique_ptr<Computation>> computations_;  // by rising ids
  Computation* entry_ = nullptr;
  int64_t next_id_ = 0;
  int64_t next_computation_id_ = 0;
  NameUniquer names_, computation_names_;
  std::shared_ptr<const SourceFile> source_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
