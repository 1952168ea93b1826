/** keepwell graph: what depends on what, in start order, or as a drawing. */
import { existsSync } from 'node:fs';
import { Option } from 'commander';
import type { ComponentView } from '../../supervision/rules/views.ts';
import { type CliCall, usage } from '../call.ts';
import type { Definition } from '../define.ts';
import { Interrupted } from '../interrupt.ts';
import { offlineNote, readRecords } from '../records.ts';
import { resolveTargets } from '../targets.ts';

interface Options {
  readonly format: 'text' | 'mermaid' | 'dot';
  readonly state: boolean;
}

export const graph: Definition<Options> = {
  usage: 'graph [NAME...]',
  onlyHere:
    'Log in there (ssh) and run it in the folder of the project: it reads the configuration. "keepwell -H HOST status --verbose" shows what each component needs.',
  group: 'See what happened:',
  summary: 'what depends on what, in start order',
  description:
    'Shows the named components and everything they depend on, or all components. Components with the same step can start at the same time; stopping goes in the opposite direction. In drawings an arrow points to what is needed.',
  options: [
    new Option('--format <FORM>', 'a table, or a drawing for Mermaid or Graphviz')
      .choices(['text', 'mermaid', 'dot'])
      .default('text'),
    new Option('--no-state', 'leave out the current state of the components'),
  ],
  examples: [
    ['keepwell graph', 'everything, with its state'],
    ['keepwell graph api', 'api and what it needs'],
    ['keepwell graph --format mermaid', 'to paste into a README'],
    ['keepwell graph --format dot | dot -Tsvg > graph.svg', 'a picture, with Graphviz'],
  ],
  handler: async (call, patterns, { format, state }) => {
    if (call.json && format !== 'text') throw usage(`Give --format ${format} or -o json, not both.`);
    const { project, world } = call;
    const { loadConfig } = await import('../../config/load.ts');
    const config = loadConfig({ ...project, env: world.env, cwd: world.cwd });
    const names = resolveTargets(
      patterns,
      config.components.map(({ name }) => name),
    );
    const views = state && format === 'text' ? await currentViews(call) : [];
    const draw = await import('./graph-drawing.ts');
    const nodes = draw.graphNodes(config.components, names, views);
    call.printJson(draw.graphView(config.name, nodes));
    const lines = {
      text: () => draw.graphTable(nodes, call.paint, call.columns),
      mermaid: () => draw.mermaid(nodes),
      dot: () => draw.dot(config.name, nodes),
    }[format]();
    call.print(...lines);
    return 0;
  },
};

/** The graph is the configuration's; states are an addition, so nothing known about them is no reason to fail. */
async function currentViews(call: CliCall): Promise<readonly ComponentView[]> {
  if (!existsSync(call.project.home)) return [];
  try {
    const { value, offline } = await readRecords(call, (records) => records.status());
    if (offline !== null) call.note(offlineNote(offline));
    return value.components;
  } catch (error) {
    if (error instanceof Interrupted) throw error;
    call.note(`no states: ${(error as Error).message}`);
    return [];
  }
}
