// Starts the language server of hacheck for .ha files. Everything it knows is in the server: `hacheck lsp`.

const { window, workspace } = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

async function activate() {
  const [command, ...args] = workspace.getConfiguration("hacheck").get("command");
  const server = { command, args, transport: TransportKind.stdio };
  const documents = { documentSelector: [{ language: "hacheck" }] };
  client = new LanguageClient("hacheck", "hacheck", server, documents);
  try {
    await client.start();
  } catch (error) {
    const hint = "Install it with pip install 'hacheck[lsp]', or set hacheck.command.";
    window.showErrorMessage(`hacheck: the language server did not start (${command}): ${error.message}. ${hint}`);
  }
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
