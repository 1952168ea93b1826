import { expect, test } from 'vitest';
import type { ComponentName } from '../../../src/base/pure/ids.ts';
import {
  dot,
  type GraphNode,
  graphNodes,
  graphTable,
  graphView,
  mermaid,
} from '../../../src/cli/commands/graph-drawing.ts';
import { noPaint } from '../../../src/cli/print/colour.ts';
import { spec } from '../../support/builders.ts';
import { idle, view } from './views.ts';

const needs = (dependencies: Record<string, 'started' | 'ready' | 'completed'>) => ({
  dependsOn: dependencies as Record<ComponentName, 'ready'>,
});
const external = {
  driver: {
    kind: 'external',
    target: { kind: 'address', host: 'localhost', port: 5432 },
    recover: null,
    cwd: '/',
    env: {},
    envFiles: [],
  },
} as const;

const SPECS = [
  spec('api', needs({ database: 'ready', migrate: 'completed' })),
  spec('migrate', needs({ database: 'ready' })),
  spec('database', external),
  spec('mailer'),
];

test('a row per component in start order', () => {
  expect(graphTable(graphNodes(SPECS, [], []), noPaint)).toEqual([
    'STEP  NAME      NEEDS',
    '1     database',
    '1     mailer',
    '2     migrate   database (ready)',
    '3     api       database (ready), migrate (completed)',
  ]);
});

test('states have a mark as well as a colour, and say what is wrong', () => {
  const views = [view('database'), idle('migrate', 'completed'), view('api', { ready: false, health: 'unhealthy' })];
  const rows = graphTable(graphNodes(SPECS, [], views), noPaint);
  expect(rows[0]).toBe('STEP  NAME      STATE                 NEEDS');
  expect(rows.slice(1).map((row) => row.slice(16, 38).trim())).toEqual([
    '● running',
    '-',
    '✓ completed',
    '● running, unhealthy',
  ]);
});

test('some of them, with all they need; who needs them is told in full', () => {
  const nodes = graphNodes(SPECS, ['migrate'], []);
  expect(graphView('shop', nodes)).toEqual({
    schema_version: 1,
    project: 'shop',
    components: [
      { ...NOTHING_KNOWN, name: 'database', kind: 'external', step: 1, depends_on: {}, needed_by: ['api', 'migrate'] },
      {
        ...NOTHING_KNOWN,
        name: 'migrate',
        kind: 'process',
        step: 2,
        depends_on: { database: 'ready' },
        needed_by: ['api'],
      },
    ],
  });
});

const NOTHING_KNOWN = { state: null, health: null, ready: null };

test('Mermaid and DOT: arrows point to what is needed', () => {
  const nodes = graphNodes(SPECS, ['migrate'], []);
  expect(mermaid(nodes)).toEqual(['flowchart LR', '  c1(["database"])', '  c2["migrate"]', '  c2 -->|ready| c1']);
  expect(dot('shop', nodes)).toEqual([
    'digraph "shop" {',
    '  rankdir=LR;',
    '  node [shape=box, style=rounded];',
    '  "database" [style="rounded,dashed"];',
    '  "migrate";',
    '  "migrate" -> "database" [label="ready"];',
    '}',
  ]);
});

test('a name cannot become anything else than a name', () => {
  const odd = (name: string): GraphNode => ({ name, kind: 'process', step: 1, needs: [], neededBy: [], status: null });
  expect(mermaid([odd('end')])).toEqual(['flowchart LR', '  c1["end"]']);
  expect(mermaid([odd('a"]; click #1 <b>&\u001b[2J')])[1]).toBe('  c1["a#34;#93;#59; click #35;1 #60;b#62;#38;"]');
  expect(dot('x"\\', [odd('a"];\n"b\\')])).toEqual([
    'digraph "x\\"\\\\" {',
    '  rankdir=LR;',
    '  node [shape=box, style=rounded];',
    '  "a\\"];\\"b\\\\";',
    '}',
  ]);
});
