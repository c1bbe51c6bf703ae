// A row for each option of CLI11's table: names, what it takes, what it means. Choices are read off
// the type that CLI11 shows, `TEXT:{text,json}`.
#include "tools/common/manual.h"

#include <algorithm>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "support/status.h"

namespace hlokit {
namespace {

struct Row {
  std::vector<std::string> names;  // with dashes
  std::string type, help, group;
  std::vector<std::string> choices;
  bool takes_value = false, is_file = false, takes_passes = false;
};

std::vector<std::string> ChoicesOf(absl::string_view type) {
  const size_t open = type.find('{'), close = type.find('}');
  if (open == type.npos || close == type.npos || close < open) return {};
  return absl::StrSplit(type.substr(open + 1, close - open - 1), ',', absl::SkipWhitespace());
}

void AddRows(const CLI::App& app, std::vector<Row>& rows) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || option->get_group().empty()) continue;
    Row row;
    for (const std::string& name : option->get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) row.names.push_back("--" + name);
    row.help = option->get_description();
    row.group = option->get_group();
    row.takes_value = option->get_items_expected_max() > 0;
    row.type = row.takes_value ? option->get_type_name() : "";
    row.choices = ChoicesOf(row.type);
    if (!row.choices.empty()) row.type = absl::StrJoin(row.choices, "|");
    if (absl::StartsWith(row.type, "TEXT:")) row.type = row.type.substr(5);
    const std::string bare = row.type.substr(0, row.type.find_first_of(":{ "));
    row.is_file =
        bare == "FILE" || bare == "PATH" || bare == "FOLDER" || bare == "LIB.so" || bare == "STEM";
    row.takes_passes =
        absl::StrContains(absl::StrJoin(row.names, " "), "passes") && row.takes_value;
    if (!row.names.empty()) rows.push_back(std::move(row));
  }
  for (const CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; }))
    AddRows(*group, rows);
}

std::vector<Row> RowsOf(const CLI::App& app) {
  std::vector<Row> rows;
  AddRows(app, rows);
  return rows;
}

// Text for man: backslashes and dashes stay what they are, and no line begins with a request.
std::string Roff(absl::string_view text) {
  std::string out = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}, {"'", "\\(aq"}});
  out = absl::StrReplaceAll(out, {{"\n.", "\n\\&."}});
  return absl::StartsWith(out, ".") ? "\\&" + out : out;
}

// Of single quotes in bash and zsh.
std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

std::string Identifier(absl::string_view name) {
  return "_" + absl::StrReplaceAll(name, {{"-", "_"}, {".", "_"}});
}

std::string Bash(const std::vector<Row>& rows, absl::string_view name,
                 absl::Span<const std::string> more_flags) {
  std::string cases;
  std::vector<std::string> flags(more_flags.begin(), more_flags.end());
  for (const Row& row : rows) {
    for (const std::string& flag : row.names)
      flags.push_back(row.takes_value && absl::StartsWith(flag, "--") ? flag + "=" : flag);
    const std::string pattern = absl::StrJoin(row.names, "|");
    if (row.takes_passes) {
      absl::StrAppend(&cases, "    ", pattern, ") _hlokit_passes; return ;;\n");
    } else if (!row.choices.empty()) {
      absl::StrAppend(&cases, "    ", pattern, ") COMPREPLY=($(compgen -W ",
                      Quoted(absl::StrJoin(row.choices, " ")), " -- \"$cur\")); return ;;\n");
    } else if (row.is_file) {
      absl::StrAppend(&cases, "    ", pattern,
                      ") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n");
    } else if (row.takes_value) {
      absl::StrAppend(&cases, "    ", pattern, ") return ;;\n");
    }
  }
  const std::string function = Identifier(name);
  return absl::StrCat("# bash completion of ", name, ", made of its flags.\n",
                      R"sh(_hlokit_passes() {  # the last of a list
  local before= last=$cur
  [[ $cur == *,* ]] && before=${cur%,*}, last=${cur##*,}
  COMPREPLY=($(compgen -P "$before" -W "$(hlo-opt --list-passes=names 2> /dev/null | tr , ' ')" -- "$last"))
}
)sh",
                      function, "() {\n", R"sh(  local cur=${COMP_WORDS[COMP_CWORD]} prev=
  ((COMP_CWORD > 0)) && prev=${COMP_WORDS[COMP_CWORD-1]}
  [[ $cur == = ]] && cur= prev==
  if [[ $prev == = ]]; then  # --flag=value, which bash takes apart
    prev=${COMP_WORDS[COMP_CWORD-1]}
    [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  case ${prev//_/-} in
)sh",
                      cases, "  esac\n  if [[ $cur == -* ]]; then\n    COMPREPLY=($(compgen -W ",
                      Quoted(absl::StrJoin(flags, " ")),
                      " -- \"$cur\"))\n    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2> "
                      "/dev/null\n  fi\n}\ncomplete -o "
                      "default -F ",
                      function, " ", name, "\n");
}

std::string Zsh(const std::vector<Row>& rows, absl::string_view name,
                absl::Span<const std::string> more_flags) {
  std::string text = absl::StrCat("#compdef ", name, "\n# zsh completion of ", name,
                                  ", made of its flags.\n_arguments -s \\\n");
  const auto plain = [](absl::string_view help) {
    return absl::StrReplaceAll(help,
                               {{"[", "("}, {"]", ")"}, {":", " -"}, {"'", "'\\''"}, {"\n", " "}});
  };
  for (const Row& row : rows)
    for (const std::string& flag : row.names) {
      const bool is_long = absl::StartsWith(flag, "--");
      absl::StrAppend(&text, "  '", flag, row.takes_value ? (is_long ? "=" : "+") : "", "[",
                      plain(row.help), "]");
      if (row.takes_passes) {
        absl::StrAppend(&text,
                        ":passes:_values -s , passes ${(s:,:)\"$(hlo-opt --list-passes=names)\"}");
      } else if (!row.choices.empty()) {
        absl::StrAppend(&text, ":value:(", absl::StrJoin(row.choices, " "), ")");
      } else if (row.takes_value) {
        absl::StrAppend(&text, row.is_file ? ":file:_files" : ":value: ");
      }
      absl::StrAppend(&text, "' \\\n");
    }
  for (const std::string& flag : more_flags) absl::StrAppend(&text, "  '", flag, "' \\\n");
  return absl::StrCat(text, "  '*:file:_files'\n");
}

std::string Fish(const std::vector<Row>& rows, absl::string_view name,
                 absl::Span<const std::string> more_flags) {
  std::string text = absl::StrCat("# fish completion of ", name, ", made of its flags.\n");
  for (const Row& row : rows) {
    absl::StrAppend(&text, "complete -c ", name);
    for (const std::string& flag : row.names)
      absl::StrAppend(&text, absl::StartsWith(flag, "--") ? " -l " : " -s ",
                      flag.substr(flag.find_first_not_of('-')));
    if (row.takes_passes) {
      absl::StrAppend(&text, " -x -a '(hlo-opt --list-passes=names | string split ,)'");
    } else if (!row.choices.empty()) {
      absl::StrAppend(&text, " -x -a ", Quoted(absl::StrJoin(row.choices, " ")));
    } else if (row.takes_value) {
      absl::StrAppend(&text, row.is_file ? " -r -F" : " -x");
    }
    absl::StrAppend(&text, " -d '",
                    absl::StrReplaceAll(row.help, {{"\\", "\\\\"}, {"'", "\\'"}, {"\n", " "}}),
                    "'\n");
  }
  for (const std::string& flag : more_flags)
    absl::StrAppend(&text, "complete -c ", name, " -l ", flag.substr(2), "\n");
  return text;
}

}  // namespace

std::string ManPage(const CLI::App& app, absl::string_view name, absl::string_view examples,
                    absl::string_view version) {
  std::string summary = app.get_description();
  while (!summary.empty() && summary.back() == '.') summary.pop_back();
  std::string page = absl::StrCat(
      ".TH ", Roff(name), " 1 \"\" \"hlokit ", version, "\" \"hlokit\"\n.ad l\n.SH NAME\n",
      Roff(name), " \\- ", Roff(summary), "\n.SH SYNOPSIS\n.B ", Roff(name), "\n[\\fIOPTIONS\\fR]");
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional())
      absl::StrAppend(&page, " \\fI", Roff(option->get_type_name()), "\\fR",
                      option->get_items_expected_max() > 1 ? "..." : "");
  absl::StrAppend(&page, "\n.SH OPTIONS\nNames may be written with underscores for dashes.\n");
  const std::vector<Row> rows = RowsOf(app);
  std::vector<std::string> groups;
  for (const Row& row : rows)
    if (std::find(groups.begin(), groups.end(), row.group) == groups.end())
      groups.push_back(row.group);
  for (const std::string& group : groups) {
    if (groups.size() > 1) absl::StrAppend(&page, ".SS ", Roff(group), "\n");
    for (const Row& row : rows) {
      if (row.group != group) continue;
      absl::StrAppend(&page, ".TP\n\\fB", Roff(absl::StrJoin(row.names, ", ")), "\\fR",
                      row.type.empty() ? "" : absl::StrCat(" \\fI", Roff(row.type), "\\fR"), "\n",
                      row.help.empty() ? "\\&" : Roff(row.help), "\n");
    }
  }
  // Examples keep their lines.
  absl::StrAppend(&page, ".SH EXAMPLES\n.nf\n", Roff(examples), "\n.fi\n");
  return absl::StrCat(page, ".SH SEE ALSO\n",
                      Roff("hlo-run(1), hlo-opt(1), hlo-viz(1), hlo-diff(1), "
                           "hlo-reduce(1), hlo-cost(1), hlo-aot(1), hlo-gen(1), hlo-lsp(1)"),
                      "\n");
}

absl::StatusOr<std::string> CompletionScript(const CLI::App& app, absl::string_view name,
                                             absl::string_view shell,
                                             absl::Span<const std::string> more_flags) {
  const std::vector<Row> rows = RowsOf(app);
  if (shell == "bash") return Bash(rows, name, more_flags);
  if (shell == "zsh") return Zsh(rows, name, more_flags);
  if (shell == "fish") return Fish(rows, name, more_flags);
  return InvalidArgument("--print-completion: no shell ", shell, "; there are bash, zsh and fish");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
