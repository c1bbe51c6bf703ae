// Reads Shardy's text with a cursor, and cuts arrays by axes.
//
//   mesh      ["x"=2, "y"=4], device_ids=[...]
//   sharding  @mesh, [{"x"}, {"y":(1)2, ?}], replicated={...}
// An axis cuts its dimension into as many parts; `"y":(1)2` is part of an axis: y of 4 seen as 2 x
// 2, the major one. The device at index (i, j) of the mesh holds the part with these digits. Quotes
// may still be escaped, since the text stands in frontend attributes of HLO text.
#include "ops/collective/sdy_internal.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "support/status.h"

namespace hlokit {
namespace {

class Cursor {
 public:
  explicit Cursor(absl::string_view text) : rest_(text), all_(text) {}

  bool Try(absl::string_view word) {
    SkipSpace();
    return absl::ConsumePrefix(&rest_, word);
  }
  absl::Status Expect(absl::string_view word) {
    if (Try(word)) return absl::OkStatus();
    return InvalidArgument("expected '", word, "' at '", rest_.substr(0, 20), "' in ", all_);
  }
  bool AtEnd() {
    SkipSpace();
    return rest_.empty();
  }
  absl::StatusOr<int64_t> Number() {
    SkipSpace();
    size_t n = 0;
    while (n < rest_.size() && std::isdigit(static_cast<unsigned char>(rest_[n]))) ++n;
    int64_t value = 0;
    if (!absl::SimpleAtoi(rest_.substr(0, n), &value))
      return InvalidArgument("expected a number at '", rest_.substr(0, 20), "' in ", all_);
    rest_.remove_prefix(n);
    return value;
  }
  // A bare word, or one between double quotes.
  absl::StatusOr<std::string> Name() {
    SkipSpace();
    Try("\\");  // a quote that stayed escaped
    if (absl::ConsumePrefix(&rest_, "\"")) {
      const size_t end = rest_.find('"');
      if (end == absl::string_view::npos) return InvalidArgument("a name never ends in ", all_);
      std::string name(absl::StripSuffix(rest_.substr(0, end), "\\"));
      rest_.remove_prefix(end + 1);
      return name;
    }
    size_t n = 0;
    while (n < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[n])) ||
            absl::string_view("_.-$").find(rest_[n]) != absl::string_view::npos))
      ++n;
    if (n == 0) return InvalidArgument("expected a name at '", rest_.substr(0, 20), "' in ", all_);
    std::string name(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return name;
  }

 private:
  void SkipSpace() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0])))
      rest_.remove_prefix(1);
  }
  absl::string_view rest_, all_;
};

// `["x"=2, "y"=4], device_ids=[3, 1]` and the `>` after it.
absl::StatusOr<SdyMesh> ReadMeshBody(Cursor& c) {
  SdyMesh mesh;
  RETURN_IF_ERROR(c.Expect("["));
  while (!c.Try("]")) {
    ASSIGN_OR_RETURN(std::string axis, c.Name());
    RETURN_IF_ERROR(c.Expect("="));
    ASSIGN_OR_RETURN(const int64_t size, c.Number());
    if (size < 1 || size > (int64_t{1} << 20)) return InvalidArgument("mesh axis of size ", size);
    mesh.axes.emplace_back(std::move(axis), size);
    c.Try(",");
  }
  if (c.Try(",")) {
    RETURN_IF_ERROR(c.Expect("device_ids"));
    RETURN_IF_ERROR(c.Expect("="));
    RETURN_IF_ERROR(c.Expect("["));
    while (!c.Try("]")) {
      ASSIGN_OR_RETURN(const int64_t id, c.Number());
      mesh.device_ids.push_back(id);
      c.Try(",");
    }
  }
  RETURN_IF_ERROR(c.Expect(">"));
  return mesh;
}

absl::StatusOr<SdyMesh> ReadMeshReference(Cursor& c, absl::Span<const SdyMesh> meshes) {
  if (c.Try("mesh<")) return ReadMeshBody(c);
  RETURN_IF_ERROR(c.Expect("@"));
  ASSIGN_OR_RETURN(const std::string name, c.Name());
  for (const SdyMesh& mesh : meshes)
    if (mesh.name == name) return mesh;
  return InvalidArgument("the module has no mesh ", name);
}

// `{"x", "y":(1)2, ?}p1`
absl::StatusOr<std::vector<SdySharding::Axis>> ReadDimension(Cursor& c) {
  std::vector<SdySharding::Axis> axes;
  RETURN_IF_ERROR(c.Expect("{"));
  while (!c.Try("}")) {
    if (c.Try("?")) continue;
    SdySharding::Axis& axis = axes.emplace_back();
    ASSIGN_OR_RETURN(axis.name, c.Name());
    if (c.Try(":")) {
      RETURN_IF_ERROR(c.Expect("("));
      ASSIGN_OR_RETURN(axis.before, c.Number());
      RETURN_IF_ERROR(c.Expect(")"));
      ASSIGN_OR_RETURN(axis.size, c.Number());
    }
    c.Try(",");
  }
  if (c.Try("p")) RETURN_IF_ERROR(c.Number().status());
  return axes;
}

// `@mesh, [{"x"}, {}], replicated={"y"}>`: axes named after the dimensions cut nothing.
absl::StatusOr<SdySharding> ReadBody(Cursor& c, absl::Span<const SdyMesh> meshes) {
  SdySharding sharding;
  ASSIGN_OR_RETURN(sharding.mesh, ReadMeshReference(c, meshes));
  RETURN_IF_ERROR(c.Expect(","));
  RETURN_IF_ERROR(c.Expect("["));
  while (!c.Try("]")) {
    ASSIGN_OR_RETURN(auto axes, ReadDimension(c));
    sharding.dimensions.push_back(std::move(axes));
    c.Try(",");
  }
  while (c.Try(",")) {
    RETURN_IF_ERROR(c.Name().status());
    RETURN_IF_ERROR(c.Expect("="));
    RETURN_IF_ERROR(ReadDimension(c).status());
  }
  RETURN_IF_ERROR(c.Expect(">"));
  return sharding;
}

// An axis, or part of one, as a stride and a size over positions in the mesh.
struct Digit {
  int64_t stride = 1, size = 1;
};

absl::StatusOr<Digit> DigitOf(const SdyMesh& mesh, const SdySharding::Axis& axis) {
  int64_t stride = 1;
  for (auto it = mesh.axes.rbegin(); it != mesh.axes.rend(); ++it) {
    if (it->first != axis.name) {
      stride *= it->second;
      continue;
    }
    if (axis.size == 0) return Digit{stride, it->second};
    if (axis.before < 1 || axis.size < 1 || it->second % axis.before != 0 ||
        (it->second / axis.before) % axis.size != 0)
      return InvalidArgument("axis ", axis.name, " has no part (", axis.before, ")", axis.size);
    return Digit{stride * (it->second / axis.before / axis.size), axis.size};
  }
  return InvalidArgument("the mesh has no axis ", axis.name);
}

}  // namespace

int64_t SdyMesh::size() const {
  int64_t size = 1;
  for (const auto& [name, length] : axes)
    if (size < (int64_t{1} << 40)) size *= length;  // more is no real mesh
  return size;
}

absl::StatusOr<std::vector<SdyMesh>> ReadSdyMeshes(absl::string_view text) {
  Cursor c(text);
  std::vector<SdyMesh> meshes;
  RETURN_IF_ERROR(c.Expect("{"));
  while (!c.Try("}")) {
    ASSIGN_OR_RETURN(std::string name, c.Name());
    RETURN_IF_ERROR(c.Expect("="));
    RETURN_IF_ERROR(c.Expect("#sdy.mesh<"));
    ASSIGN_OR_RETURN(SdyMesh mesh, ReadMeshBody(c));
    mesh.name = std::move(name);
    meshes.push_back(std::move(mesh));
    c.Try(",");
  }
  return meshes;
}

absl::StatusOr<std::vector<std::string>> ReadSdyManualAxes(absl::string_view text) {
  Cursor c(text);
  std::vector<std::string> names;
  RETURN_IF_ERROR(c.Expect("#sdy<manual_axes"));
  ASSIGN_OR_RETURN(const auto axes, ReadDimension(c));
  for (const SdySharding::Axis& axis : axes) names.push_back(axis.name);
  return names;
}

absl::StatusOr<std::vector<SdySharding>> ReadSdyShardings(absl::string_view text,
                                                          absl::Span<const SdyMesh> meshes) {
  Cursor c(text);
  std::vector<SdySharding> shardings;
  if (c.Try("#sdy.sharding<")) {
    ASSIGN_OR_RETURN(SdySharding sharding, ReadBody(c, meshes));
    shardings.push_back(std::move(sharding));
    return shardings;
  }
  RETURN_IF_ERROR(c.Expect("#sdy.sharding_per_value<["));
  while (!c.Try("]")) {
    RETURN_IF_ERROR(c.Expect("<"));
    ASSIGN_OR_RETURN(SdySharding sharding, ReadBody(c, meshes));
    shardings.push_back(std::move(sharding));
    c.Try(",");
  }
  return shardings;
}

absl::StatusOr<Tiling> TilingOf(const SdySharding& sharding, const Shape& shape, int64_t devices,
                                const std::vector<std::string>* only) {
  const SdyMesh& mesh = sharding.mesh;
  if (sharding.dimensions.empty() || mesh.size() == 1) return WholeOn(shape, devices);
  if (static_cast<int64_t>(sharding.dimensions.size()) != shape.rank())
    return InvalidArgument("a sharding of ", sharding.dimensions.size(), " dimensions for ",
                           Text(shape));
  if (mesh.size() != devices ||
      (!mesh.device_ids.empty() && static_cast<int64_t>(mesh.device_ids.size()) != devices))
    return InvalidArgument("a mesh of ", mesh.size(), " devices, the module runs on ", devices);
  Tiling tiling = WholeOn(shape, devices);
  for (int64_t d = 0; d < shape.rank(); ++d) {
    for (const SdySharding::Axis& axis : sharding.dimensions[d]) {
      if (only != nullptr && std::find(only->begin(), only->end(), axis.name) == only->end())
        continue;
      ASSIGN_OR_RETURN(const Digit digit, DigitOf(mesh, axis));
      tiling.tiles[d] *= digit.size;
      for (int64_t p = 0; p < devices; ++p) {
        const int64_t device = mesh.device_ids.empty() ? p : mesh.device_ids[p];
        if (device < 0 || device >= devices) return InvalidArgument("mesh names device ", device);
        tiling.tile_of[device] =
            tiling.tile_of[device] * digit.size + p / digit.stride % digit.size;
      }
    }
  }
  return tiling;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
