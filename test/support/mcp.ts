/** The official MCP client, talking to the built program over real pipes. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ENTRY } from './project.ts';

/** Of the protocol: with the handshake of 2025, or without one, as in 2026. */
export type Era = 'legacy' | 'modern';
export const ERAS: readonly Era[] = ['legacy', 'modern'];

export interface Block {
  readonly type: string;
  readonly text: string;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

export class McpClient implements AsyncDisposable {
  readonly client: Client;
  readonly transport: StdioClientTransport;
  /** Addresses that were told to have changed, in order. */
  readonly updated: string[] = [];
  stderr = '';

  private constructor(client: Client, transport: StdioClientTransport) {
    this.client = client;
    this.transport = transport;
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      this.updated.push(params.uri);
    });
  }

  static async open(
    cwd: string,
    {
      era = 'modern',
      args = [],
      command = process.execPath,
      env = {},
    }: {
      readonly era?: Era;
      readonly args?: readonly string[];
      readonly command?: string;
      readonly env?: Readonly<Record<string, string>>;
    } = {},
  ): Promise<McpClient> {
    const { KEEPWELL_HOME: _, ...inherited } = process.env as Record<string, string>;
    const transport = new StdioClientTransport({
      command,
      args: command === process.execPath && args[0] !== ENTRY ? [ENTRY, 'mcp', ...args] : [...args],
      cwd,
      env: { ...inherited, ...env },
      stderr: 'pipe',
    });
    const mode = era === 'legacy' ? ('legacy' as const) : { pin: '2026-07-28' };
    const mcp = new McpClient(
      new Client({ name: 'keepwell-test', version: '1' }, { versionNegotiation: { mode } }),
      transport,
    );
    transport.stderr?.on('data', (chunk: Buffer) => {
      mcp.stderr += chunk.toString();
    });
    await mcp.client.connect(transport);
    return mcp;
  }

  /** The blocks of an answer. */
  async call(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
  ): Promise<{ blocks: Block[]; isError: boolean }> {
    const { content, isError } = await this.client.callTool({ name, arguments: { ...args } });
    return { blocks: content as Block[], isError: isError === true };
  }

  /** The facts: the first block, as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into many shapes
  async facts(name: string, args: Readonly<Record<string, unknown>> = {}): Promise<any> {
    const { blocks } = await this.call(name, args);
    return JSON.parse(blocks[0]!.text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}
