/** What a client can attach to a conversation by its address, with completion of names and ids. */
import {
  type ListResourcesResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { errorView } from '../../base/pure/errors.ts';
import { toAppError } from '../failure.ts';
import { type Answer, UNTRUSTED } from './answer.ts';
import type { McpProject } from './project.ts';
import { logsAnswer, whyAnswer } from './tools-past.ts';
import { problemsAnswer, statusAnswer } from './tools-state.ts';

export const STATUS_URI = 'keepwell://status';
export const PROBLEMS_URI = 'keepwell://problems';
export const componentUri = (name: string): string => `keepwell://components/${encodeURIComponent(name)}`;
export const logsUri = (name: string): string => `keepwell://logs/${encodeURIComponent(name)}`;
const crashUri = (id: number): string => `keepwell://crashes/${id}`;

const LINES = 200;
const MAX_LISTED = 100;
const MAX_CRASHES = 20;

export function addResources(
  server: McpServer,
  project: McpProject,
  names: (typed: string) => Promise<string[]>,
): void {
  const listed = (entries: (known: readonly string[]) => ListResourcesResult['resources']) => async () => ({
    resources: entries((await names('')).slice(0, MAX_LISTED)),
  });
  server.registerResource(
    'status',
    STATUS_URI,
    { title: 'Status', description: 'How all components are', mimeType: 'application/json' },
    (uri) => read(uri, statusAnswer(project, undefined)),
  );
  server.registerResource(
    'problems',
    PROBLEMS_URI,
    { title: 'Problems', description: 'What is wrong now', mimeType: 'application/json' },
    (uri) => read(uri, problemsAnswer(project)),
  );
  server.registerResource(
    'component',
    new ResourceTemplate('keepwell://components/{name}', {
      list: listed((known) =>
        known.map((name) => ({
          uri: componentUri(name),
          name,
          title: `Component ${name}`,
          mimeType: 'application/json',
        })),
      ),
      complete: { name: names },
    }),
    { title: 'Component', description: 'Everything about one component', mimeType: 'application/json' },
    (uri, { name }) => read(uri, statusAnswer(project, decoded(name))),
  );
  server.registerResource(
    'logs',
    new ResourceTemplate('keepwell://logs/{name}', {
      list: listed((known) =>
        known.map((name) => ({
          uri: logsUri(name),
          name: `${name}.log`,
          title: `Log of ${name}`,
          mimeType: 'text/plain',
        })),
      ),
      complete: { name: names },
    }),
    { title: 'Log', description: `The last ${LINES} lines of a component`, mimeType: 'text/plain' },
    (uri, { name }) => read(uri, logsAnswer(project, { name: decoded(name), tail: LINES })),
  );
  const newest = async () => (await project.read((records) => records.crashes({ limit: MAX_CRASHES }))).value.crashes;
  server.registerResource(
    'crash',
    new ResourceTemplate('keepwell://crashes/{id}', {
      list: async () => ({
        resources: (await newest().catch(() => [])).map(({ id, subject, at }) => ({
          uri: crashUri(id),
          name: `crash ${id}`,
          title: `Crash ${id} of ${subject.name}, ${at}`,
          mimeType: 'application/json',
        })),
      }),
      complete: {
        id: async (typed) =>
          (await newest().catch(() => [])).map(({ id }) => String(id)).filter((id) => id.startsWith(typed)),
      },
    }),
    { title: 'Crash', description: 'Why it died: one crash with all that is known', mimeType: 'application/json' },
    (uri, { id }) => read(uri, whyAnswer(project, { id: Number(decoded(id)) })),
  );
}

const decoded = (variable: string | string[] | undefined): string => {
  const text = String(Array.isArray(variable) ? variable[0] : variable);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** One text for each block: facts, then what programs wrote. */
async function read(uri: URL, answer: Promise<Answer>): Promise<ReadResourceResult> {
  try {
    const { content } = await answer;
    return {
      contents: content.map(({ text, _meta }, index) => ({
        uri: index === 0 ? uri.href : `${uri.href}#output-${index}`,
        mimeType: _meta === undefined ? 'application/json' : 'text/plain',
        text,
        ...(_meta === undefined ? {} : { _meta: { ...UNTRUSTED } }),
      })),
    };
  } catch (error) {
    const { code, message, hint } = errorView(toAppError(error)).error;
    const kind = /^NO_SUCH_/.test(code) ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
    throw new ProtocolError(kind, `${message} ${hint}`, { code, hint });
  }
}
