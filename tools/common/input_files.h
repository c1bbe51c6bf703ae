// Files of arrays, matched to the leaves of entry parameters.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"
#include "tools/common/sharded_entry.h"
#include "types/npz.h"
#include "types/safetensors.h"

namespace hlokit {

// One array of one parameter.
struct ParameterLeaf {
  int64_t parameter = 0, number = 0;  // of the parameter; among all leaves
  std::string label;                  // "parameter 2 {1} (weights)"
  std::string name;                   // the parameter's, with the index: weights.1
  Shape shape;
};

// `sharded` non-null: of each array the shard of one device.
std::vector<ParameterLeaf> LeavesOfParameters(const Computation& entry,
                                              const ShardedEntry* sharded = nullptr);

// One literal a parameter, of all leaves in order.
std::vector<Literal> AssembleParameters(const Computation& entry, std::vector<Literal> leaves);

// The sizes of the arrays that stand for arguments by their number, in0, in1, ... of archives and
// files of one array in turn; none of files that are not there or say none.
std::vector<DimVector> InputSizes(const std::vector<std::string>& paths, const std::string& format);

// The inputs of one call: archives by name, single files by position.
class InputFiles {
 public:
  // Folders hold NAME.npy. `format`: npz, safetensors, npy, txt, bin, pb or pbtxt; empty: by the
  // files' names. `map`: a JSON file {"parameter": "array"} that names the arrays of archives;
  // empty: none. Errors: NotFound; InvalidArgument for a name that tells no format, or a map that
  // is none.
  static absl::StatusOr<InputFiles> Open(const std::vector<std::string>& paths,
                                         const std::string& format, const std::string& map);

  // Whether some array is meant for one device only.
  bool DiffersByDevice(int64_t devices) const;

  // Errors name parameter, expected and given.
  absl::StatusOr<std::vector<Literal>> Read(const Computation& entry, int64_t device) const;

  // Whole arrays, of the shards that the files hold for each device.
  absl::StatusOr<std::vector<Literal>> ReadShards(const Computation& entry,
                                                  const ShardedEntry& sharded,
                                                  int64_t devices) const;

  // What `device` holds of whole arrays, which are not copied where an archive stores them plainly.
  absl::StatusOr<std::vector<Literal>> CutFor(const Computation& entry, const ShardedEntry& cuts,
                                              int64_t device) const;

 private:
  struct Single {
    std::string path, format;
    std::shared_ptr<const Literal> literal;  // of a protobuf file, which may hold several
  };

  // NAME.npy of a folder, read when it is asked for.
  struct Folder {
    std::string path;
    std::vector<std::string> names;  // without .npy, sorted
    bool Contains(const std::string& name) const;
  };
  static absl::StatusOr<Folder> OpenFolder(const std::string& path);

  absl::StatusOr<std::vector<Literal>> ReadLeaves(const std::vector<ParameterLeaf>& leaves,
                                                  int64_t device) const;
  absl::StatusOr<std::vector<Literal>> ReadParameters(const Computation& entry) const;
  absl::StatusOr<Literal> ReadLeaf(const ParameterLeaf& leaf, int64_t device) const;
  // The array for a leaf, of an archive; nothing where none has it.
  absl::StatusOr<std::optional<NumpyArray>> Find(const ParameterLeaf& leaf, int64_t device) const;
  static absl::StatusOr<Literal> ReadSingle(const Single& file, const ParameterLeaf& leaf);

  std::vector<NpzFile> archives_;
  std::vector<SafetensorsFile> tensors_;
  std::vector<Folder> folders_;
  absl::flat_hash_map<std::string, std::string> map_;  // names of arrays, by parameter
  std::vector<std::string> archive_paths_;
  std::vector<Single> single_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
