// Runs hlo-lsp and shows what it tells. The protocol is spoken here, so that the extension needs no library.
'use strict';
const vscode = require('vscode');
const childProcess = require('child_process');

/** One server process: requests, notifications, frames. */
class Server {
  constructor(program, onNotification) {
    this.pending = new Map();
    this.next = 1;
    this.buffer = Buffer.alloc(0);
    this.onNotification = onNotification;
    this.process = childProcess.spawn(program, [], { stdio: ['pipe', 'pipe', 'ignore'] });
    this.process.on('error', (error) => vscode.window.showErrorMessage(`${program}: ${error.message}`));
    this.process.stdin.on('error', () => {});
    this.process.stdout.on('data', (data) => this.take(data));
    this.process.on('exit', () => this.pending.forEach(({ reject }) => reject(new Error('hlo-lsp has ended'))));
  }

  take(data) {
    this.buffer = Buffer.concat([this.buffer, data]);
    for (;;) {
      const end = this.buffer.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(this.buffer.toString('ascii', 0, end))[1]);
      if (this.buffer.length < end + 4 + length) return;
      const message = JSON.parse(this.buffer.toString('utf8', end + 4, end + 4 + length));
      this.buffer = this.buffer.subarray(end + 4 + length);
      if (message.method) {
        this.onNotification(message.method, message.params);
        continue;
      }
      const waiting = this.pending.get(message.id);
      this.pending.delete(message.id);
      if (!waiting) continue;
      if (message.error) waiting.reject(new Error(message.error.message));
      else waiting.resolve(message.result);
    }
  }

  send(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    this.process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.process.stdin.write(body);
  }

  notify(method, params) {
    this.send({ method, params });
  }

  request(method, params, token) {
    const id = this.next++;
    if (token) token.onCancellationRequested(() => this.notify('$/cancelRequest', { id }));
    this.send({ id, method, params });
    return new Promise((resolve, reject) => this.pending.set(id, { resolve, reject }));
  }
}

const rangeOf = (range) => new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character);
const locationOf = (place) => new vscode.Location(vscode.Uri.parse(place.uri), rangeOf(place.range));
const document = (text) => ({ textDocument: { uri: text.uri.toString() } });
const at = (text, position) => ({ ...document(text), position: { line: position.line, character: position.character } });

function editOf(result) {
  const edit = new vscode.WorkspaceEdit();
  for (const [uri, changes] of Object.entries(result.changes || {}))
    for (const change of changes) edit.replace(vscode.Uri.parse(uri), rangeOf(change.range), change.newText);
  return edit;
}

function symbolOf(symbol) {
  const made = new vscode.DocumentSymbol(symbol.name, symbol.detail, symbol.kind - 1, rangeOf(symbol.range), rangeOf(symbol.selectionRange));
  made.children = (symbol.children || []).map(symbolOf);
  return made;
}

/** The explorer's page in a panel, or a text beside. */
async function show(made) {
  if (!made.file.endsWith('.html')) {
    const text = await vscode.workspace.openTextDocument(vscode.Uri.file(made.file));
    return vscode.window.showTextDocument(text, vscode.ViewColumn.Beside);
  }
  const panel = vscode.window.createWebviewPanel('hlokit', 'HLO explorer', vscode.ViewColumn.Beside, { enableScripts: true, retainContextWhenHidden: true });
  const bytes = await vscode.workspace.fs.readFile(vscode.Uri.file(made.file));
  panel.webview.html = Buffer.from(bytes).toString('utf8');
}

async function activate(context) {
  const diagnostics = vscode.languages.createDiagnosticCollection('hlo');
  const severities = [undefined, vscode.DiagnosticSeverity.Error, vscode.DiagnosticSeverity.Warning];
  const server = new Server(vscode.workspace.getConfiguration('hlokit').get('server'), (method, params) => {
    if (method !== 'textDocument/publishDiagnostics') return;
    diagnostics.set(vscode.Uri.parse(params.uri), params.diagnostics.map((item) => {
      const made = new vscode.Diagnostic(rangeOf(item.range), item.message, severities[item.severity]);
      made.source = item.source;
      made.code = item.code;
      made.relatedInformation = (item.relatedInformation || []).map(
        (note) => new vscode.DiagnosticRelatedInformation(locationOf(note.location), note.message));
      return made;
    }));
  });
  const { capabilities } = await server.request('initialize', { processId: process.pid, capabilities: {} });
  server.notify('initialized', {});
  const selector = { language: 'hlo' };
  const keep = (disposable) => context.subscriptions.push(disposable);
  const execute = (command, uri, argument) =>
    vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: command },
      () => server.request('workspace/executeCommand', { command, arguments: [uri, argument] }))
      .then(show, (error) => vscode.window.showErrorMessage(error.message));

  const isOurs = (text) => text.languageId === 'hlo';
  const open = (text) => isOurs(text) && server.notify('textDocument/didOpen', {
    textDocument: { uri: text.uri.toString(), languageId: 'hlo', version: text.version, text: text.getText() } });
  vscode.workspace.textDocuments.forEach(open);
  keep(vscode.workspace.onDidOpenTextDocument(open));
  keep(vscode.workspace.onDidCloseTextDocument((text) => isOurs(text) && server.notify('textDocument/didClose', document(text))));
  keep(vscode.workspace.onDidChangeTextDocument(({ document: text, contentChanges }) => isOurs(text) && server.notify('textDocument/didChange', {
    textDocument: { uri: text.uri.toString(), version: text.version },
    contentChanges: contentChanges.map((change) => ({ range: change.range, text: change.text })) })));

  const languages = vscode.languages;
  keep(languages.registerDefinitionProvider(selector, { provideDefinition: async (text, position, token) => {
    const place = await server.request('textDocument/definition', at(text, position), token);
    return place && locationOf(place);
  } }));
  keep(languages.registerReferenceProvider(selector, { provideReferences: async (text, position, how, token) =>
    (await server.request('textDocument/references', { ...at(text, position), context: how }, token)).map(locationOf) }));
  keep(languages.registerDocumentHighlightProvider(selector, { provideDocumentHighlights: async (text, position, token) =>
    (await server.request('textDocument/documentHighlight', at(text, position), token)).map(
      (found) => new vscode.DocumentHighlight(rangeOf(found.range), found.kind - 1)) }));
  keep(languages.registerHoverProvider(selector, { provideHover: async (text, position, token) => {
    const hover = await server.request('textDocument/hover', at(text, position), token);
    return hover && new vscode.Hover(new vscode.MarkdownString(hover.contents.value), rangeOf(hover.range));
  } }));
  keep(languages.registerRenameProvider(selector, {
    provideRenameEdits: async (text, position, newName, token) =>
      editOf(await server.request('textDocument/rename', { ...at(text, position), newName }, token)),
    prepareRename: async (text, position, token) => {
      const found = await server.request('textDocument/prepareRename', at(text, position), token);
      if (!found) throw new Error('There is no name here');
      return { range: rangeOf(found.range), placeholder: found.placeholder };
    } }));
  keep(languages.registerDocumentSymbolProvider(selector, { provideDocumentSymbols: async (text, token) =>
    (await server.request('textDocument/documentSymbol', document(text), token)).map(symbolOf) }));
  keep(languages.registerFoldingRangeProvider(selector, { provideFoldingRanges: async (text, how, token) =>
    (await server.request('textDocument/foldingRange', document(text), token)).map((fold) => new vscode.FoldingRange(fold.startLine, fold.endLine)) }));
  keep(languages.registerInlayHintsProvider(selector, { provideInlayHints: async (text, range, token) =>
    (await server.request('textDocument/inlayHint', { ...document(text), range }, token)).map((hint) => {
      const made = new vscode.InlayHint(new vscode.Position(hint.position.line, hint.position.character), hint.label, hint.kind);
      made.paddingLeft = true;
      return made;
    }) }));
  keep(languages.registerCompletionItemProvider(selector, { provideCompletionItems: async (text, position, token) => {
    const found = await server.request('textDocument/completion', at(text, position), token);
    return new vscode.CompletionList(found.items.map((item) => {
      const made = new vscode.CompletionItem(item.label, item.kind - 1);
      made.detail = item.detail;
      return made;
    }), found.isIncomplete);
  } }, '%', '=', ',', ' '));
  const { tokenTypes } = capabilities.semanticTokensProvider.legend;
  const tokens = async (method, params, token) => new vscode.SemanticTokens(new Uint32Array((await server.request(method, params, token)).data));
  const legend = new vscode.SemanticTokensLegend(tokenTypes);
  keep(languages.registerDocumentRangeSemanticTokensProvider(selector, { provideDocumentRangeSemanticTokens: (text, range, token) =>
    tokens('textDocument/semanticTokens/range', { ...document(text), range }, token) }, legend));
  keep(languages.registerCodeActionsProvider(selector, { provideCodeActions: async (text, range, how, token) =>
    (await server.request('textDocument/codeAction', { ...document(text), range, context: { diagnostics: [] } }, token)).map((action) => {
      const made = new vscode.CodeAction(action.title, vscode.CodeActionKind.Empty.append(action.kind));
      made.command = { title: action.title, command: 'hlokit.execute', arguments: [action.command.command, ...action.command.arguments] };
      return made;
    }) }));
  keep(vscode.commands.registerCommand('hlokit.execute', execute));
  const active = () => vscode.window.activeTextEditor.document.uri.toString();
  keep(vscode.commands.registerCommand('hlokit.openExplorer', () => execute('hlokit.explore', active(), '')));
  keep(vscode.commands.registerCommand('hlokit.passes', async () => {
    const passes = await vscode.window.showInputBox({ prompt: 'Passes, as hlo-opt --passes takes them', value: 'algsimp,dce' });
    if (passes) await execute('hlokit.runPass', active(), passes);
  }));
  keep(diagnostics);
  keep({ dispose: () => server.request('shutdown', null).then(() => server.notify('exit', null), () => {}) });
}

module.exports = { activate, deactivate: () => {} };
