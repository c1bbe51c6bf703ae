// Reads shardings over meshes of named axes into XLA's text of them.
//
//   {mesh['x'=2,'y'=4], [{'x'}, {'y', ?}], replicated={}}
// The IR keeps such a sharding as text: passes that partition resolve names against the mesh, all
// others hand it on. It is read into a NamedSharding, checked (axes known, none used twice, lists
// in the mesh's order) and written again, so that every spelling of one sharding becomes one text.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "parser/meshes_internal.h"
#include "parser/metadata_internal.h"
#include "parser/shardings_internal.h"
#include "parser/values_internal.h"

namespace hlokit {
namespace {

struct Dim {
  AxisRefs axes;
  bool open = false;
};

struct NamedSharding {
  Mesh mesh;
  std::vector<Dim> dims;
  AxisRefs replicated, unreduced, manual;
  bool one_word = false;  // which says everything about the axes
};

struct AxisList {
  absl::string_view name;
  AxisRefs NamedSharding::*axes;
};
// In the order in which XLA prints them.
constexpr AxisList kLists[] = {{"replicated", &NamedSharding::replicated},
                               {"unreduced", &NamedSharding::unreduced},
                               {"manual", &NamedSharding::manual}};

AxisRefs AllAxes(const Mesh& mesh) {
  AxisRefs all;
  for (size_t i = 0; i < mesh.names.size(); ++i)
    all.push_back({static_cast<int64_t>(i), 1, mesh.sizes[i], true});
  return all;
}

bool InMeshOrder(const AxisRefs& refs) {
  return std::is_sorted(refs.begin(), refs.end(), [](const AxisRef& a, const AxisRef& b) {
    return std::tie(a.axis, a.before) < std::tie(b.axis, b.before);
  });
}

bool ReadList(Reader& r, NamedSharding& s) {
  const char* at = r.Here();
  const absl::string_view word = r.Word();
  for (const AxisList& list : kLists) {
    if (list.name != word) continue;
    AxisRefs& refs = s.*list.axes;
    if (!refs.empty()) return r.Error(at, word, " is given twice");
    if (!r.Eat('=', "after the name") || !ReadAxes(r, s.mesh, refs)) return false;
    return InMeshOrder(refs) || r.Error(at, "axes must stand in the mesh's order here");
  }
  r.MoveTo(at);
  return r.Expected("replicated=, unreduced=, manual= or metadata=");
}

// `[{'x'}, {?}]`, or one word for all dimensions.
bool ReadDims(Reader& r, NamedSharding& s) {
  for (const AxisList& list : kLists) {
    if (!r.TryEatWord(list.name)) continue;
    if (list.name != "replicated") s.*list.axes = AllAxes(s.mesh);
    return s.one_word = true;
  }
  return r.List('[', ']', [&] {
    Dim& dim = s.dims.emplace_back();
    return ReadAxes(r, s.mesh, dim.axes, &dim.open);
  });
}

bool Check(Reader& r, const char* at, const NamedSharding& s) {
  std::vector<AxisRefs> lists;
  for (const Dim& dim : s.dims) lists.push_back(dim.axes);
  for (const AxisList& list : kLists) lists.push_back(s.*list.axes);
  return CheckAxes(r, at, s.mesh, lists);
}

bool IsAll(const NamedSharding& s, const AxisRefs& refs) {
  return refs.size() == s.mesh.names.size() &&
         std::all_of(refs.begin(), refs.end(), [](const AxisRef& ref) { return ref.whole; });
}

// The one word for a sharding without dimensions that treats all axes alike; empty where none does.
absl::string_view OneWord(const NamedSharding& s) {
  if (!s.dims.empty() || !s.replicated.empty()) return "";
  if (s.unreduced.empty() && s.manual.empty()) return "replicated";
  if (s.manual.empty() && IsAll(s, s.unreduced)) return "unreduced";
  if (s.unreduced.empty() && IsAll(s, s.manual)) return "manual";
  return "";
}

std::string TextOf(const NamedSharding& s) {
  std::string out;
  AppendMesh(out, s.mesh);
  if (const absl::string_view word = OneWord(s); !word.empty())
    return absl::StrCat(out, ", ", word);
  out += ", [";
  for (size_t i = 0; i < s.dims.size(); ++i) {
    out += i > 0 ? ", {" : "{";
    AppendAxes(out, s.mesh, s.dims[i].axes, ", ");
    if (s.dims[i].open) out += s.dims[i].axes.empty() ? "?" : ", ?";
    out += '}';
  }
  out += ']';
  for (const AxisList& list : kLists) {
    if ((s.*list.axes).empty()) continue;
    absl::StrAppend(&out, ", ", list.name, "={");
    AppendAxes(out, s.mesh, s.*list.axes, ", ");
    out += '}';
  }
  return out;
}

bool ReadMaximal(Reader& r, Sharding& sharding) {
  int64_t device = 0;
  r.Word();
  if (!r.Eat('[', "before the device")) return false;
  if (!r.TryEatWord("device_id")) return r.Expected("device_id=");
  if (!r.Eat('=', "after device_id") || !r.Int(device) || !r.Eat(']', "after the device"))
    return false;
  sharding.text = absl::StrCat("maximal_mesh[device_id=", device, "]");
  return true;
}

}  // namespace

bool ReadNamedSharding(Reader& r, Sharding& sharding) {
  sharding.kind = Sharding::Kind::kText;
  const char* at = r.Here();
  const bool maximal = r.PeekWord() == "maximal_mesh";
  NamedSharding s;
  if (maximal) {
    if (!ReadMaximal(r, sharding)) return false;
  } else {
    if (!ReadMesh(r, s.mesh)) return false;
    r.TryEat(',');
    if (!ReadDims(r, s)) return false;
  }
  while (r.TryEat(',')) {
    if (r.TryEatWord("metadata")) {
      if (!r.Eat('=', "after metadata") || !ReadMetadataList(r, sharding.metadata)) return false;
    } else if (maximal || s.one_word) {
      return r.Expected("metadata=");
    } else if (!ReadList(r, s)) {
      return false;
    }
  }
  if (!r.Eat('}', "after the sharding")) return false;
  if (maximal) return true;
  sharding.text = TextOf(s);
  return Check(r, at, s);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
