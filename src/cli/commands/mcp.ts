/** keepwell mcp: lets AI assistants look at the project, over the Model Context Protocol. */
import { Option } from 'commander';
import { type CliCall, usage } from '../call.ts';
import type { Definition } from '../define.ts';

interface Options {
  readonly allowControl?: true;
  readonly printConfig?: 'claude' | 'cursor' | 'vscode';
}

export const mcp: Definition<Options> = {
  usage: 'mcp',
  group: 'More:',
  summary: 'let an AI assistant look at the project (Model Context Protocol, stdio)',
  description:
    'An assistant starts this program itself and talks to it over stdin and stdout: print what to put into its settings with --print-config. ' +
    'It can see problems, status, crashes with their causes, logs and events, check the configuration and wait for a state. It can change nothing unless you give --allow-control, and can never run a command, read a file or end the daemon. ' +
    'What programs wrote is marked as such, without escape sequences and secrets, at most 32 kB an answer.',
  options: [
    new Option('--allow-control', 'also restart, start, stop, reload and spawn_agent'),
    new Option('--print-config <CLIENT>', 'print the settings for a client instead').choices([
      'claude',
      'cursor',
      'vscode',
    ]),
  ],
  examples: [
    ['keepwell mcp --print-config claude > .mcp.json', 'for Claude Code, in the folder of your code'],
    ['keepwell mcp --print-config cursor > .cursor/mcp.json', 'for Cursor'],
    ['keepwell mcp --print-config vscode > .vscode/mcp.json', 'for Visual Studio Code'],
    ['keepwell mcp --print-config claude --allow-control', 'with leave to restart and reload'],
    ['keepwell -H web mcp --print-config claude', 'a project on another machine'],
  ],
  handler: async (call, _args, { allowControl = false, printConfig }) => {
    if (printConfig !== undefined) {
      call.world.out.write(`${JSON.stringify(clientConfig(call, printConfig, allowControl), null, 2)}\n`);
      return 0;
    }
    if (call.world.inIsTty)
      throw usage(
        '"keepwell mcp" talks to an assistant, not to a terminal. "keepwell mcp --print-config claude" prints what to put into its settings.',
      );
    const { serveMcp } = await import('../mcp/serve.ts');
    await serveMcp(call, { allowControl });
    return 0;
  },
};

/** Absolute paths: nobody knows in which folder, and with which PATH, a client starts its servers. */
function clientConfig(call: CliCall, client: 'claude' | 'cursor' | 'vscode', allowControl: boolean): object {
  const { execPath, entry } = call.world;
  const which = call.host === null ? call.project.files.flatMap((file) => ['--file', file]) : ['--host', call.host];
  const args = [entry, 'mcp', ...which, ...(allowControl ? ['--allow-control'] : [])];
  const server = { type: 'stdio', command: execPath, args };
  return client === 'vscode' ? { servers: { keepwell: server } } : { mcpServers: { keepwell: server } };
}
