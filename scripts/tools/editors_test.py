#!/usr/bin/env python3
"""The files of editors/: the VS Code extension on a stand-in of its API with the real server (where there is node), its grammar
and its package; colours in vim (where there is a vim with syntax); the server in neovim (where there is nvim)."""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
EDITORS = ROOT / "editors"
MODULE = 'HloModule m\n\nENTRY %main (p: f32[4]) -> f32[4] {\n  %p = f32[4]{0} parameter(0) // in\n' \
         '  ROOT %t = f32[4]{0} tanh(%p), metadata={op_name="a"}\n}\n'
# A stand-in of what the extension uses of VS Code: classes that keep what they are given, registries.
STAND_IN = r"""
const registered = {};
class Kept { constructor(...given) { this.given = given; } }
const classes = {};
for (const name of ['Range', 'Position', 'Location', 'Diagnostic', 'DiagnosticRelatedInformation', 'DocumentSymbol', 'Hover', 'MarkdownString',
  'DocumentHighlight', 'FoldingRange', 'InlayHint', 'CompletionItem', 'CompletionList', 'SemanticTokens', 'SemanticTokensLegend', 'CodeAction'])
  classes[name] = class extends Kept {};
classes.WorkspaceEdit = class { constructor() { this.edits = []; } replace(...edit) { this.edits.push(edit); } };
const diagnostics = new Map();
const waiting = [];
const text = { uri: { toString: () => 'file:///m.hlo' }, languageId: 'hlo', version: 1, getText: () => process.env.MODULE };
const languages = new Proxy({ createDiagnosticCollection: () => ({
  set: (uri, items) => { diagnostics.set(uri, items); waiting.splice(0).forEach((done) => done(items)); }, dispose() {} }) }, {
  get: (target, name) => target[name] || ((selector, provider) => { registered[name] = provider; return { dispose() {} }; }) });
let changed;
const vscode = { ...classes, languages, DiagnosticSeverity: { Error: 0, Warning: 1 }, ViewColumn: { Beside: 2 }, ProgressLocation: { Window: 1 },
  CodeActionKind: { Empty: { append: (kind) => kind } }, Uri: { parse: (uri) => uri, file: (path) => path },
  commands: { registerCommand: (name, run) => { registered[name] = run; return { dispose() {} }; } },
  window: { showErrorMessage: (message) => { throw new Error(message); }, withProgress: (how, work) => work(),
    showTextDocument: (document) => { registered.shown = document; }, activeTextEditor: { document: text },
    createWebviewPanel: () => (registered.panel = { webview: {} }) },
  workspace: { getConfiguration: () => ({ get: () => process.env.SERVER }), textDocuments: [text],
    onDidOpenTextDocument: () => ({ dispose() {} }), onDidCloseTextDocument: () => ({ dispose() {} }),
    onDidChangeTextDocument: (listener) => { changed = listener; return { dispose() {} }; },
    openTextDocument: async (path) => require('fs').readFileSync(path, 'utf8'),
    fs: { readFile: async (path) => require('fs').readFileSync(path) } } };
const Module = require('module');
const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));
const assert = require('assert');
(async () => {
  const first = new Promise((done) => waiting.push(done));
  const context = { subscriptions: [] };
  await require(process.env.EXTENSION).activate(context);
  assert.deepStrictEqual(await first, []);
  const at = { line: 4, character: 8 };
  const hover = await registered.registerHoverProvider.provideHover(text, at);
  assert.match(hover.given[0].given[0], /f32\[4\]\{0\}/);
  const definition = await registered.registerDefinitionProvider.provideDefinition(text, { line: 4, character: 29 });
  assert.deepStrictEqual(definition.given[1].given, [3, 3, 3, 4]);
  assert.strictEqual((await registered.registerReferenceProvider.provideReferences(text, { line: 3, character: 3 }, { includeDeclaration: true })).length, 2);
  assert.strictEqual((await registered.registerRenameProvider.provideRenameEdits(text, at, 'u')).edits.length, 1);
  assert.strictEqual((await registered.registerDocumentSymbolProvider.provideDocumentSymbols(text))[0].children.length, 2);
  assert.ok((await registered.registerDocumentRangeSemanticTokensProvider.provideDocumentRangeSemanticTokens(
    text, { start: { line: 0, character: 0 }, end: { line: 9, character: 0 } })).given[0].length > 20);
  assert.ok((await registered.registerInlayHintsProvider.provideInlayHints(
    text, { start: { line: 0, character: 0 }, end: { line: 9, character: 0 } })).length === 1);
  const actions = await registered.registerCodeActionsProvider.provideCodeActions(text, { start: at, end: at });
  const isolate = actions.find((action) => action.command.arguments[0] === 'hlokit.isolate');
  await registered['hlokit.execute'](...isolate.command.arguments);
  assert.match(registered.shown, /tanh/);
  await registered['hlokit.openExplorer']();
  assert.match(registered.panel.webview.html, /<!doctype html>/i);
  const next = new Promise((done) => waiting.push(done));
  text.version = 2;
  changed({ document: text, contentChanges: [{ range: { start: { line: 4, character: 27 }, end: { line: 4, character: 29 } }, text: '%q' }] });
  const found = await next;
  assert.strictEqual(found.length, 1);
  assert.strictEqual(found[0].given[2], 0);
  for (const each of context.subscriptions) each.dispose();
})().catch((error) => { console.error(error); process.exit(1); });
"""


def test_extension(tools):
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "stand_in.js")
        pathlib.Path(script).write_text(STAND_IN, encoding="utf-8")
        subprocess.run(["node", script], check=True, timeout=120, env={
            **os.environ, "MODULE": MODULE, "SERVER": str(tools / "hlo-lsp"), "EXTENSION": str(EDITORS / "vscode" / "extension.js"), "TMPDIR": folder})


def test_package():
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):  # the same bits
            made = subprocess.run([sys.executable, ROOT / "scripts" / "vsix.py", folder], check=True, capture_output=True, text=True).stdout.strip()
            data = pathlib.Path(made).read_bytes()
        assert data == pathlib.Path(made).read_bytes()
        with zipfile.ZipFile(made) as archive:
            names = archive.namelist()
            package = json.loads(archive.read("extension/package.json"))
            made_parts = {"package": package, "names": names, "manifest": archive.read("extension.vsixmanifest"),
                          "types": archive.read("[Content_Types].xml")}
    wanted = [package["main"], package["contributes"]["grammars"][0]["path"], package["contributes"]["languages"][0]["configuration"]]
    for name in wanted:
        assert f"extension/{name.removeprefix('./')}" in names, name
    assert not vscode_faults(made_parts), vscode_faults(made_parts)
    broken = dict(made_parts, package=dict(package, engines={"vscode": "^1.70.0"}, version="1"), names=names + ["extension/icon.svg"])
    assert vscode_faults(broken) == ["version", "activation", "identity", "engine", "content types"], vscode_faults(broken)


def vscode_faults(parts):
    """What VS Code, or its marketplace's packager, would refuse: its documented rules for extension manifests and VSIX archives."""
    package, names = parts["package"], parts["names"]
    manifest = xml.etree.ElementTree.fromstring(parts["manifest"])
    space = {"v": "http://schemas.microsoft.com/developer/vsx-schema/2011"}
    identity = manifest.find("v:Metadata/v:Identity", space).attrib
    types = {element.get("Extension") for element in xml.etree.ElementTree.fromstring(parts["types"])}
    contributes = package["contributes"]
    engine = re.fullmatch(r"\^?(\d+)\.(\d+)\.\d+", package["engines"]["vscode"])
    commands = {command["command"] for command in contributes["commands"]}
    used = {entry["command"] for menu in contributes["menus"].values() for entry in menu}
    languages = {language["id"] for language in contributes["languages"]}
    rules = {
        "name": re.fullmatch(r"[a-z0-9][a-z0-9-]*", package["name"]),
        "publisher": re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", package["publisher"]),
        "version": re.fullmatch(r"\d+\.\d+\.\d+", package["version"]),
        # Languages and commands activate an extension by themselves from 1.74 on.
        "activation": package["activationEvents"] or (engine and (int(engine[1]), int(engine[2])) >= (1, 74)),
        "identity": (identity["Id"], identity["Publisher"], identity["Version"]) == (package["name"], package["publisher"], package["version"]),
        "engine": any(p.get("Id") == "Microsoft.VisualStudio.Code.Engine" and p.get("Value") == parts["package"]["engines"]["vscode"]
                      for p in manifest.iterfind("v:Metadata/v:Properties/v:Property", space)) or not engine,
        "assets": all(asset.get("Path") in names for asset in manifest.iterfind("v:Assets/v:Asset", space)),
        "content types": {os.path.splitext(name)[1] for name in names if not name.startswith("[")} <= types,
        "commands": used <= commands and all(c["title"] for c in contributes["commands"]),
        "languages": {grammar["language"] for grammar in contributes["grammars"]} <= languages,
        "settings": all(key.startswith(package["name"] + ".") and {"type", "default", "description"} <= value.keys()
                        for key, value in contributes["configuration"]["properties"].items()),
    }
    return [rule for rule, holds in rules.items() if not holds]


def test_grammar():
    grammar = json.loads((EDITORS / "vscode" / "syntaxes" / "hlo.tmLanguage.json").read_text(encoding="utf-8"))
    line = MODULE.split("\n")[4]
    found = {}
    for rule in grammar["patterns"]:
        for match in re.finditer(rule.get("match", rule.get("begin")), line):
            for group, kind in rule.get("captures", {"0": {"name": rule.get("name", "")}}).items():
                found.setdefault(match[int(group)], kind["name"])
    assert found["tanh"] == "support.function.hlo", found
    assert found["f32"] == "support.type.hlo" and found["ROOT"] == "keyword.other.hlo" and found["%t"] == "variable.other.hlo", found
    assert found["metadata"] == "variable.parameter.hlo", found


def test_vim():
    """Groups of words, as vim has them."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.hlo"
        path.write_text(MODULE, encoding="utf-8")
        words = {"HloModule": "hloKeyword", "tanh": "hloOpcode", "// in": "hloComment", '"a"': "hloString", "f32": "hloType", "%t": "hloName"}
        lines = ["set nocompatible", f"set runtimepath^={EDITORS}/vim", "syntax on", f"edit {path}"]
        for word in words:
            pattern = word.replace("/", r"\/").replace('"', r"\"")
            lines.append(f"call search('{pattern}', 'cw') | call writefile([synIDattr(synID(line('.'), col('.'), 1), 'name')], '{folder}/out', 'a')")
        script = pathlib.Path(folder) / "script.vim"
        script.write_text("\n".join(lines + ["qall!"]), encoding="utf-8")
        subprocess.run(["vim", "-u", "NONE", "-es", "-N", "-S", script], check=False, timeout=60, stdin=subprocess.DEVNULL, capture_output=True)
        found = dict(zip(words, (pathlib.Path(folder) / "out").read_text(encoding="utf-8").split("\n")))
        assert found == words, found


# From Debian 12's 0.7 on: opens a file, hovers, breaks and mends it, follows a name.
NEOVIM = r"""
vim.opt.runtimepath:prepend(os.getenv('HLO_VIM'))
vim.cmd('filetype plugin on | syntax on')
vim.cmd('edit ' .. os.getenv('HLO_FILE'))
assert(vim.bo.filetype == 'hlo', 'filetype ' .. vim.bo.filetype)
local client = vim.lsp.start_client({name = 'hlo', cmd = {os.getenv('HLO_LSP')}, root_dir = '.'})
vim.lsp.buf_attach_client(0, client)
local function wait(what, condition) assert(vim.wait(20000, condition, 20), what) end
wait('the server starts', function() local c = vim.lsp.get_client_by_id(client); return c and c.initialized and vim.lsp.buf_is_attached(0, client) end)
local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params, 20000)
  return answers[client].result
end
vim.api.nvim_win_set_cursor(0, {5, 8})
local at = vim.lsp.util.make_position_params(0, 'utf-16')
local hover
wait('the text is read', function() hover = ask('textDocument/hover', at); return hover end)
print('hover ' .. (hover.contents.value or hover.contents))
vim.api.nvim_buf_set_lines(0, 4, 5, false, {'  ROOT %t = f32[5]{0} tanh(%p)'})
wait('a diagnostic comes', function() return #vim.diagnostic.get(0) > 0 end)
print('diagnostic ' .. vim.diagnostic.get(0)[1].message)
vim.api.nvim_buf_set_lines(0, 4, 5, false, {'  ROOT %t = f32[4]{0} tanh(%p)'})
wait('it goes', function() return #vim.diagnostic.get(0) == 0 end)
print('syntax ' .. vim.fn.synIDattr(vim.fn.synID(3, 1, 1), 'name'))
vim.api.nvim_win_set_cursor(0, {5, 28})
vim.lsp.buf.definition()
wait('definition goes there', function() return vim.api.nvim_win_get_cursor(0)[1] == 4 end)
print('done')
vim.cmd('qa!')
"""


def test_neovim(tools):
    """The real editor without a window, with its own client."""
    with tempfile.TemporaryDirectory() as folder:
        path, script = pathlib.Path(folder) / "m.hlo", pathlib.Path(folder) / "script.lua"
        path.write_text(MODULE.replace(" // in", "").replace(', metadata={op_name="a"}', ""), encoding="utf-8")
        script.write_text(NEOVIM, encoding="utf-8")
        done = subprocess.run(["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-c", f"luafile {script}", "-c", "cquit"], timeout=120, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "HLO_VIM": str(EDITORS / "vim"), "HLO_FILE": str(path), "HLO_LSP": str(tools / "hlo-lsp"), "HOME": folder})
        assert done.returncode == 0 and "done" in done.stdout, done.stdout
        assert "size: 16 B" in done.stdout and "the root is f32[5]" in done.stdout and "syntax hloKeyword" in done.stdout, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin", help="where the tools are")
    tools = parser.parse_args().bin.resolve()
    test_package()
    test_grammar()
    if shutil.which("node"):
        test_extension(tools)
    else:
        print("no node: the extension was not run")
    if shutil.which("vim") and "+syntax" in subprocess.run(["vim", "--version"], capture_output=True, text=True, check=False).stdout:
        test_vim()
    else:
        print("no vim with syntax: its file was not tried")
    if shutil.which("nvim"):
        test_neovim(tools)
    else:
        print("no nvim: the server was not tried in it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
