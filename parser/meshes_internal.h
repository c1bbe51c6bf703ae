// Meshes of named axes in text: `mesh['x'=4,'y'=2], device_ids=([2,4]T(1,0))`, and lists of axes.
#pragma once

#include <string>
#include <vector>

#include "parser/reader_internal.h"
#include "types/shape.h"

namespace hlokit {

struct Mesh {
  std::vector<std::string> names;
  DimVector sizes;
  std::vector<int64_t> devices;  // in row-major order of the axes; empty: 0, 1, ...
  DimVector reshape_dims, perm;  // where the text counts the devices up; else empty
};

// `'x'`, or part of it: `'x':(4)2` is the 2 positions that follow a factor of 4.
struct AxisRef {
  int64_t axis = 0;
  int64_t before = 1, size = 1;
  bool whole = true;
};
using AxisRefs = std::vector<AxisRef>;

// From the word `mesh` on, device_ids included.
bool ReadMesh(Reader& reader, Mesh& mesh);
// `{'x','y':(2)2}`; with `open` also a last `?`, which sets it.
bool ReadAxes(Reader& reader, const Mesh& mesh, AxisRefs& refs, bool* open = nullptr);
// Whether no two of the parts overlap, and no two neighbours of a list would be one part.
bool CheckAxes(Reader& reader, const char* at, const Mesh& mesh,
               const std::vector<AxisRefs>& lists);

// XLA's text of both; `separator` stands between axes.
void AppendMesh(std::string& out, const Mesh& mesh);
void AppendAxes(std::string& out, const Mesh& mesh, const AxisRefs& refs,
                absl::string_view separator);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
