// Programs printed from their form in memory, by the rows of forms.def that the reader goes by.
//
// What a row says stands behind the operation's name; elementwise operations without a row are
// `OP %a, %b : type`. Modules, functions, constants, dots, convolutions, reduces and whiles have
// code of their own; all others are generic: `"stablehlo.gather"(%0, %1) <{...}> : (...) -> ...`.
#include "stablehlo/write/pretty_text.h"

#include <algorithm>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "stablehlo/text/text_reader.h"
#include "stablehlo/write/pretty_attributes_internal.h"
#include "stablehlo/write/pretty_names_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

using Kind = MlirAttribute::Kind;

// Without the dialect's name, those of StableHLO without rows that MLIR prints in short.
bool IsShort(absl::string_view name) {
  static const auto& kNames = *new absl::flat_hash_set<absl::string_view>{"abs",
                                                                          "add",
                                                                          "after_all",
                                                                          "and",
                                                                          "atan2",
                                                                          "bitcast_convert",
                                                                          "cbrt",
                                                                          "ceil",
                                                                          "clamp",
                                                                          "complex",
                                                                          "convert",
                                                                          "cosine",
                                                                          "count_leading_zeros",
                                                                          "create_token",
                                                                          "divide",
                                                                          "dynamic_reshape",
                                                                          "dynamic_update_slice",
                                                                          "exponential",
                                                                          "exponential_minus_one",
                                                                          "floor",
                                                                          "imag",
                                                                          "is_finite",
                                                                          "log",
                                                                          "log_plus_one",
                                                                          "logistic",
                                                                          "maximum",
                                                                          "minimum",
                                                                          "multiply",
                                                                          "negate",
                                                                          "not",
                                                                          "or",
                                                                          "partition_id",
                                                                          "popcnt",
                                                                          "power",
                                                                          "real",
                                                                          "remainder",
                                                                          "replica_id",
                                                                          "reshape",
                                                                          "round_nearest_afz",
                                                                          "round_nearest_even",
                                                                          "rsqrt",
                                                                          "select",
                                                                          "shift_left",
                                                                          "shift_right_arithmetic",
                                                                          "shift_right_logical",
                                                                          "sign",
                                                                          "sine",
                                                                          "sqrt",
                                                                          "subtract",
                                                                          "tan",
                                                                          "tanh",
                                                                          "tuple",
                                                                          "xor"};
  return absl::ConsumePrefix(&name, "stablehlo.") && kNames.contains(name);
}

// Those whose types are one where all are equal.
bool HasOneType(absl::string_view name) {
  return (IsShort(name) && name != "stablehlo.convert" && name != "stablehlo.reshape" &&
          name != "stablehlo.bitcast_convert" && name != "stablehlo.dynamic_update_slice" &&
          name != "stablehlo.dynamic_reshape") ||
         name == "stablehlo.reverse" || name == "stablehlo.reduce_precision" ||
         name == "stablehlo.cholesky";
}

std::string Types(const std::vector<const MlirType*>& types) {
  return absl::StrJoin(types, ", ", [](std::string* out, const MlirType* type) {
    absl::StrAppend(out, TypeText(*type));
  });
}

class PrettyPrinter {
  static constexpr int kInFunction = 2;  // the depth of a function's own operations

 public:
  explicit PrettyPrinter(bool importer_forms) : importer_forms_(importer_forms) {}
  std::string Print(const MlirModule& module) {
    PrintModule(module.top());
    return std::move(out_);
  }

 private:
  // ---- names

  void PrintResultNames(const MlirOperation& op) {
    if (op.results.empty()) return;
    const std::string& first = names_[op.results[0].id];
    const size_t shared = first.find('#');
    if (shared != first.npos) {
      absl::StrAppend(&out_, first.substr(0, shared), ":", op.results.size(), " = ");
      return;
    }
    for (size_t k = 0; k < op.results.size(); ++k)
      absl::StrAppend(&out_, k > 0 ? ", " : "", names_[op.results[k].id]);
    out_ += " = ";
  }

  std::string Names(absl::Span<MlirValue* const> values) const {
    return absl::StrJoin(values, ", ", [this](std::string* out, const MlirValue* value) {
      const auto found = names_.find(value->id);
      absl::StrAppend(out, found == names_.end() ? "%?" : found->second);
    });
  }

  // ---- operations

  void Indent() { out_.append(2 * static_cast<size_t>(depth_), ' '); }

  // What a pretty operation leaves out.
  static bool IsDefault(const MlirOperation& op,
                        const std::pair<std::string, const MlirAttribute*>& field) {
    if (op.name != "stablehlo.custom_call") return false;
    const MlirAttribute& value = *field.second;
    return (field.first == "api_version" && value.integer == 1) ||
           (field.first == "has_side_effect" && value.integer == 0) ||
           (field.first == "backend_config" && value.kind == Kind::kString && value.text.empty());
  }

  // The attributes that are not said otherwise, in braces.
  void PrintDictionary(const MlirOperation& op, const std::set<std::string>& said,
                       absl::string_view before = " ") {
    MlirAttribute rest;
    rest.kind = Kind::kDict;
    for (const auto& field : op.attributes)
      if (!said.contains(field.first) && !IsDefault(op, field)) rest.fields.push_back(field);
    if (!rest.fields.empty()) absl::StrAppend(&out_, before, AttributeOf(rest));
  }

  static void TypesOf(const MlirOperation& op, std::vector<const MlirType*>& in,
                      std::vector<const MlirType*>& out) {
    for (const MlirValue* operand : op.operands) in.push_back(operand->type);
    for (const MlirValue& result : op.results) out.push_back(result.type);
  }

  void PrintFunctionType(const MlirOperation& op) {
    std::vector<const MlirType*> in, out;
    TypesOf(op, in, out);
    absl::StrAppend(&out_, " : (", Types(in), ") -> ",
                    out.size() == 1 ? Types(out) : absl::StrCat("(", Types(out), ")"));
  }

  void PrintTypes(const MlirOperation& op, absl::string_view rule) {
    std::vector<const MlirType*> in, out;
    TypesOf(op, in, out);
    if (rule == ":none" || rule == ":all") {
      if (!in.empty()) absl::StrAppend(&out_, " : ", Types(in));
      return;
    }
    if (in.empty() && op.name != "func.call" && op.name != "stablehlo.custom_call") {
      absl::StrAppend(&out_, " : ", Types(out));
      return;
    }
    if (op.name == "stablehlo.select" && TypeText(*in[1]) == TypeText(*out[0]) &&
        TypeText(*in[2]) == TypeText(*out[0])) {
      absl::StrAppend(&out_, " : ", TypeText(*in[0]), ", ", TypeText(*out[0]));
      return;
    }
    if (absl::StartsWith(op.name, "chlo.") && !IsOfMhlo(op)) {
      absl::StrAppend(&out_, " : ", Types(in), " -> ",
                      out.size() == 1 ? Types(out) : absl::StrCat("(", Types(out), ")"));
      return;
    }
    bool one = (HasOneType(op.name) || IsOfMhlo(op)) && out.size() == 1;
    for (const MlirType* type : in) one = one && TypeText(*type) == TypeText(*out[0]);
    if (one || op.name == "stablehlo.complex" || op.name == "stablehlo.tuple")
      absl::StrAppend(&out_, " : ", Types(out));
    else
      PrintFunctionType(op);
  }

  void PrintGeneric(const MlirOperation& op) {
    absl::StrAppend(&out_, "\"", op.name, "\"(", Names(op.operands), ")");
    MlirAttribute own, others;  // properties, and what dialects add
    own.kind = others.kind = Kind::kDict;
    for (const auto& field : op.attributes)
      (absl::StrContains(field.first, '.') ? others : own).fields.push_back(field);
    if (!own.fields.empty()) absl::StrAppend(&out_, " <", AttributeOf(own), ">");
    if (!op.regions.empty()) {
      out_ += " (";
      for (size_t k = 0; k < op.regions.size(); ++k) {
        if (k > 0) out_ += ", ";
        PrintRegion(op.regions[k], /*with_arguments=*/true);
      }
      out_ += ")";
    }
    if (!others.fields.empty()) absl::StrAppend(&out_, " ", AttributeOf(others));
    PrintFunctionType(op);
  }

  // `{`, the operations on lines of their own, `}`.
  void PrintRegion(const MlirRegion& region, bool with_arguments) {
    out_ += "{\n";
    for (const auto& block : region.blocks) {
      if (with_arguments && !block->arguments.empty()) {
        Indent();
        out_ += "^bb0(";
        PrintArguments(*block);
        out_ += "):\n";
      }
      ++depth_;
      for (const auto& op : block->operations) PrintLine(*op);
      --depth_;
    }
    Indent();
    out_ += "}";
  }

  void PrintArguments(const MlirBlock& block, size_t first = 0, size_t step = 1) {
    bool any = false;
    for (size_t k = first; k < block.arguments.size(); k += step) {
      const MlirValue& value = block.arguments[k];
      absl::StrAppend(&out_, any ? ", " : "", names_[value.id], ": ", TypeText(*value.type));
      any = true;
    }
  }

  void PrintLine(const MlirOperation& op) {
    Indent();
    if (op.name == "func.func") {
      PrintFunction(op);
    } else {
      PrintResultNames(op);
      if (!PrintSpecial(op) && !PrintByForm(op)) PrintGeneric(op);
    }
    out_ += "\n";
  }

  void PrintModule(const MlirOperation& module) {
    out_ += "module";
    if (const MlirAttribute* name = module.Find("sym_name"))
      absl::StrAppend(&out_, " ", SymbolOf(name->text));
    PrintDictionary(module, {"sym_name"}, " attributes ");
    out_ += " {\n";
    ++depth_;
    for (const MlirRegion& region : module.regions)
      for (const auto& block : region.blocks)
        for (const auto& op : block->operations) PrintLine(*op);
    --depth_;
    out_ += "}\n";
  }

  static std::string SymbolOf(absl::string_view name) {
    for (const char c : name)
      if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.' && c != '$')
        return absl::StrCat("@\"", name, "\"");
    return absl::StrCat("@", name);
  }

  void PrintFunction(const MlirOperation& function) {
    names_ = NamesOfFunction(function);
    const MlirAttribute* name = function.Find("sym_name");
    const MlirAttribute* visibility = function.Find("sym_visibility");
    const MlirAttribute* type = function.Find("function_type");
    absl::StrAppend(&out_, "func.func ", visibility ? visibility->text + " " : std::string(),
                    SymbolOf(name ? name->text : ""), "(");
    const MlirBlock* body = function.regions.empty() || function.regions[0].blocks.empty()
                                ? nullptr
                                : function.regions[0].blocks[0].get();
    for (size_t k = 0; body != nullptr && k < body->arguments.size(); ++k) {
      absl::StrAppend(&out_, k > 0 ? ", " : "", names_[body->arguments[k].id], ": ",
                      TypeText(*body->arguments[k].type), OfList(function.Find("arg_attrs"), k));
    }
    out_ += ")";
    if (type != nullptr && type->type != nullptr) PrintResults(function, type->type->results);
    PrintDictionary(function,
                    {"sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs"},
                    " attributes ");
    if (body == nullptr) return;
    out_ += " ";
    PrintRegion(function.regions[0], /*with_arguments=*/false);
  }

  // The attributes of one argument or result.
  static std::string OfList(const MlirAttribute* list, size_t k) {
    if (list == nullptr || k >= list->elements.size() || list->elements[k]->fields.empty())
      return "";
    return absl::StrCat(" ", AttributeOf(*list->elements[k]));
  }

  void PrintResults(const MlirOperation& function, const std::vector<const MlirType*>& types) {
    const MlirAttribute* attributes = function.Find("res_attrs");
    if (types.empty()) return;
    if (types.size() == 1 && attributes == nullptr) {
      absl::StrAppend(&out_, " -> ", TypeText(*types[0]));
      return;
    }
    out_ += " -> (";
    for (size_t k = 0; k < types.size(); ++k)
      absl::StrAppend(&out_, k > 0 ? ", " : "", TypeText(*types[k]), OfList(attributes, k));
    out_ += ")";
  }

  // ---- forms.def

  static bool IsShortOfOther(const MlirOperation& op) {
    return (absl::StartsWith(op.name, "chlo.") && op.name != "chlo.constant" &&
            op.attributes.empty() && op.results.size() == 1) ||
           op.name == "mhlo.copy";
  }
  // Of one operand: the importer has them of mhlo.
  bool IsOfMhlo(const MlirOperation& op) const {
    return op.name == "mhlo.copy" || (importer_forms_ && absl::StartsWith(op.name, "chlo.") &&
                                      op.operands.size() == 1 && IsShortOfOther(op));
  }

  bool PrintByForm(const MlirOperation& op) {
    absl::string_view form = FormOf(op.name);
    if (form.empty() && (IsShort(op.name) || IsShortOfOther(op))) form = "% {} :last";
    if (form.empty() || !op.regions.empty()) return false;
    absl::string_view name = op.name;
    if (depth_ == kInFunction) absl::ConsumePrefix(&name, "func.");
    std::string made(name);
    if (IsOfMhlo(op)) made.replace(0, 1, "m");  // chlo to mhlo
    std::set<std::string> said;
    const size_t start = out_.size();
    out_ += made;
    bool skipping = false, glued = false;
    for (absl::string_view item : absl::StrSplit(form, ' ')) {
      if (skipping || item == ";") {
        skipping = skipping && item != ";";
      } else if (item.size() > 1 && item[0] == '?' && item[1] != ',') {
        const MlirAttribute* lower = op.Find("lower");
        skipping = lower == nullptr || lower->integer == 0;
        said.insert("lower");
        if (!skipping) absl::StrAppend(&out_, ", ", item.substr(1));
      } else if (!PrintItem(op, item, said, glued)) {
        out_.resize(start);
        return false;
      }
    }
    return true;
  }

  // `glued`: what comes next follows without a blank.
  bool PrintItem(const MlirOperation& op, absl::string_view item, std::set<std::string>& said,
                 bool& glued) {
    const absl::string_view blank = glued ? "" : " ";
    glued = false;
    if (item == "%") {
      if (!op.operands.empty() || op.name == "stablehlo.after_all")
        absl::StrAppend(&out_, blank, Names(op.operands));
    } else if (item == "{}") {
      PrintDictionary(op, said);
    } else if (item == "slice" || item == "bits") {
      return PrintNumbers(op, item, said);
    } else if (item[0] == ':') {
      PrintTypes(op, item);
    } else if (item == "(" || item == "[") {
      out_ += item == "(" || item == "[" ? std::string(item) : "";
      glued = true;
    } else if (item == ")" || item == "]" || item == ",") {
      absl::StrAppend(&out_, item);
    } else {
      return PrintAttributeItem(op, item, blank, said);
    }
    return true;
  }

  bool PrintAttributeItem(const MlirOperation& op, absl::string_view item, absl::string_view blank,
                          std::set<std::string>& said) {
    const bool behind_comma = absl::ConsumePrefix(&item, "?,");
    const size_t colon = item.find(':');
    if (colon == item.npos) {
      absl::StrAppend(&out_, blank, item);
      return true;
    }
    const std::string name(item.substr(colon + 1));
    const MlirAttribute* value = op.Find(name);
    said.insert(name);
    if (value == nullptr) return behind_comma;
    absl::StrAppend(&out_, behind_comma ? "," : "", blank);
    const absl::string_view kind = item.substr(0, colon);
    if (kind == "ints") {
      absl::StrAppend(&out_, "[", NumbersOf(value), "]");
    } else if (kind == "int") {
      absl::StrAppend(&out_, value->integer);
    } else if (kind == "word") {
      absl::StrAppend(&out_, value->text);
    } else if (kind == "symbol") {
      absl::StrAppend(&out_, SymbolOf(value->text));
    } else {
      absl::StrAppend(&out_, AttributeOf(*value));
    }
    return true;
  }

  bool PrintNumbers(const MlirOperation& op, absl::string_view item, std::set<std::string>& said) {
    if (item == "bits") {
      const MlirAttribute *e = op.Find("exponent_bits"), *m = op.Find("mantissa_bits");
      if (e == nullptr || m == nullptr) return false;
      said.insert({"exponent_bits", "mantissa_bits"});
      absl::StrAppend(&out_, " e", e->integer, "m", m->integer);
      return true;
    }
    const MlirAttribute *start = op.Find("start_indices"), *limit = op.Find("limit_indices"),
                        *stride = op.Find("strides");
    if (start == nullptr || limit == nullptr || stride == nullptr) return false;
    said.insert({"start_indices", "limit_indices", "strides"});
    out_ += " [";
    for (size_t d = 0; d < start->ints.size(); ++d) {
      absl::StrAppend(&out_, d > 0 ? ", " : "", start->ints[d], ":", limit->ints[d]);
      if (stride->ints[d] != 1) absl::StrAppend(&out_, ":", stride->ints[d]);
    }
    out_ += "]";
    return true;
  }

  // ---- operations with forms of their own

  bool PrintSpecial(const MlirOperation& op) {
    if (op.name == "stablehlo.constant") return PrintConstant(op);
    if (op.name == "stablehlo.dot_general") return PrintDot(op);
    if (op.name == "stablehlo.convolution") return PrintConvolution(op);
    if (op.name == "stablehlo.reduce") return PrintReduce(op);
    if (op.name == "stablehlo.while") return PrintWhile(op);
    return false;
  }

  bool PrintConstant(const MlirOperation& op) {
    const MlirAttribute* value = op.Find("value");
    if (value == nullptr) return false;
    absl::StrAppend(&out_, op.name);
    PrintDictionary(op, {"value"});
    absl::StrAppend(&out_, " ", AttributeOf(*value));
    return true;
  }

  bool PrintDot(const MlirOperation& op) {
    const MlirAttribute *dims = op.Find("dot_dimension_numbers"),
                        *precision = op.Find("precision_config");
    if (dims == nullptr || op.Find("algorithm") != nullptr) return false;
    absl::StrAppend(&out_, op.name, " ", Names(op.operands));
    for (const absl::string_view role : {"batching", "contracting"}) {
      const MlirAttribute* lhs = dims->Field(absl::StrCat("lhs_", role, "_dimensions"));
      const MlirAttribute* rhs = dims->Field(absl::StrCat("rhs_", role, "_dimensions"));
      const std::string left = NumbersOf(lhs);
      const std::string right = NumbersOf(rhs);
      if (role == "contracting" || !left.empty())
        absl::StrAppend(&out_, ", ", role, "_dims = [", left, "] x [", right, "]");
    }
    if (precision != nullptr && !precision->elements.empty()) {
      const auto word = [](std::string* out, const MlirAttribute* one) {
        absl::StrAppend(out, one->text);
      };
      absl::StrAppend(&out_, ", precision = [", absl::StrJoin(precision->elements, ", ", word),
                      "]");
    }
    PrintDictionary(op, {"dot_dimension_numbers", "precision_config"});
    PrintFunctionType(op);
    return true;
  }

  bool PrintConvolution(const MlirOperation& op) {
    static constexpr std::pair<absl::string_view, absl::string_view> kParts[] = {
        {"stride", "window_strides"},   {"pad", "padding"},
        {"lhs_dilate", "lhs_dilation"}, {"rhs_dilate", "rhs_dilation"},
        {"reverse", "window_reversal"},
    };
    static constexpr DimensionNames kData = {{{"batch", "b"}, {"feature", "f"}}};
    static constexpr DimensionNames kKernel = {{{"input_feature", "i"}, {"output_feature", "o"}}};
    const MlirAttribute* numbers = op.Find("dimension_numbers");
    if (numbers == nullptr) return false;
    absl::StrAppend(&out_, op.name, "(", Names(op.operands),
                    ") dim_numbers = ", ConvolutionLabels(*numbers, "input", kData), "x",
                    ConvolutionLabels(*numbers, "kernel", kKernel), "->",
                    ConvolutionLabels(*numbers, "output", kData), ", window = {");
    std::set<std::string> said = {"dimension_numbers"};
    std::vector<std::string> parts;
    for (const auto& [part, attribute] : kParts) {
      const MlirAttribute* value = op.Find(attribute);
      if (value == nullptr) continue;
      said.emplace(attribute);
      parts.push_back(absl::StrCat(part, " = ", WindowPart(*value, part)));
    }
    absl::StrAppend(&out_, absl::StrJoin(parts, ", "), "}");
    PrintDictionary(op, said);
    PrintFunctionType(op);
    return true;
  }

  // Of a region that is one operation on its two arguments: that.
  static const MlirOperation* OneOperation(const MlirOperation& op) {
    if (op.results.size() != 1 || op.regions.size() != 1 || op.regions[0].blocks.size() != 1)
      return nullptr;
    const MlirBlock& block = *op.regions[0].blocks[0];
    if (block.operations.size() != 2 || block.arguments.size() != 2) return nullptr;
    const MlirOperation &inner = *block.operations[0], &result = *block.operations[1];
    const bool plain = inner.operands.size() == 2 && inner.operands[0] == &block.arguments[0] &&
                       inner.operands[1] == &block.arguments[1] && inner.results.size() == 1 &&
                       inner.attributes.empty() && inner.regions.empty() &&
                       result.operands.size() == 1 && result.operands[0] == &inner.results[0];
    return plain ? &inner : nullptr;
  }

  bool PrintReduce(const MlirOperation& op) {
    const MlirAttribute* dims = op.Find("dimensions");
    const size_t arrays = op.operands.size() / 2;
    if (dims == nullptr || arrays == 0 || op.regions.size() != 1 ||
        op.regions[0].blocks.size() != 1)
      return false;
    absl::StrAppend(&out_, op.name);
    for (size_t k = 0; k < arrays; ++k)
      absl::StrAppend(&out_, k > 0 ? ", (" : "(", Names({&op.operands[k], 1}),
                      " init: ", Names({&op.operands[arrays + k], 1}), ")");
    const MlirOperation* inner = OneOperation(op);
    if (inner != nullptr) absl::StrAppend(&out_, " applies ", inner->name);
    absl::StrAppend(&out_, " across dimensions = [", NumbersOf(dims), "]");
    PrintDictionary(op, {"dimensions"});
    PrintFunctionType(op);
    if (inner != nullptr) return true;
    const MlirBlock& block = *op.regions[0].blocks[0];
    out_ += "\n";
    Indent();
    out_ += " reducer";
    for (size_t k = 0; k < arrays; ++k) {
      out_ += k > 0 ? " (" : "(";
      PrintArguments(block, k, arrays);
      out_ += ")";
    }
    out_ += "  ";
    PrintRegion(op.regions[0], /*with_arguments=*/false);
    return true;
  }

  bool PrintWhile(const MlirOperation& op) {
    if (op.regions.size() != 2 || op.regions[0].blocks.size() != 1 ||
        op.regions[1].blocks.size() != 1)
      return false;
    const MlirBlock &condition = *op.regions[0].blocks[0], &body = *op.regions[1].blocks[0];
    if (condition.arguments.size() != op.operands.size() ||
        body.arguments.size() != op.operands.size())
      return false;
    absl::StrAppend(&out_, op.name, "(");
    std::vector<const MlirType*> types;
    for (size_t k = 0; k < op.operands.size(); ++k) {
      absl::StrAppend(&out_, k > 0 ? ", " : "", names_[condition.arguments[k].id], " = ",
                      Names({&op.operands[k], 1}));
      types.push_back(op.operands[k]->type);
    }
    absl::StrAppend(&out_, ")", types.empty() ? "" : " : ", Types(types));
    PrintDictionary(op, {}, " attributes ");
    out_ += "\n";
    Indent();
    out_ += "cond ";
    PrintRegion(op.regions[0], /*with_arguments=*/false);
    out_ += " do ";
    PrintRegion(op.regions[1], /*with_arguments=*/false);
    return true;
  }

  bool importer_forms_;
  std::string out_;
  int depth_ = 0;
  ValueNames names_;
};

}  // namespace

absl::StatusOr<std::string> PrettyStablehlo(absl::string_view text, bool importer_forms) {
  ASSIGN_OR_RETURN(const std::unique_ptr<MlirModule> module, ReadMlirText(text));
  return PrettyPrinter(importer_forms).Print(*module);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
