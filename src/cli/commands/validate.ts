/** keepwell validate, keepwell schema: the configuration, without starting anything. */
import type { Problem } from '../../config/problem.ts';
import type { Definition } from '../define.ts';
import { toAppError } from '../failure.ts';

export const validate: Definition<object> = {
  usage: 'validate',
  onlyHere:
    'Log in there (ssh) and run it in the folder of the project: it reads the configuration. "keepwell -H HOST reload --dry-run" checks the one of a running daemon.',
  group: 'Configure:',
  summary: 'check the configuration; reports every problem with its line',
  examples: [
    ['keepwell validate', 'keepwell.yaml in this folder or above'],
    ['keepwell validate -f base.yaml -f prod.yaml', 'several files, merged'],
    ['keepwell validate -o json | jq .problems', 'for editors and CI'],
  ],
  handler: async (call) => {
    const { files, home } = call.project;
    const { envFileWarnings, loadConfig } = await import('../../config/load.ts');
    try {
      const config = loadConfig({ files, home, env: call.world.env, cwd: call.world.cwd });
      const { components, checks, sessions, agents } = config;
      const { startWarnings } = await import('../../drivers/launch-run.ts');
      const warnings = [...envFileWarnings(config), ...startWarnings(components, call.world.env)];
      for (const line of new Set(warnings.map(({ component, problem }) => `${component}: ${problem}`))) call.note(line);
      const names = components.map(({ name }) => name);
      call.printJson({ schema_version: 1, valid: true, files, components: names, problems: [] });
      const counts = [
        counted(names.length, 'component'),
        counted(checks.length, 'check'),
        counted(sessions.templates.length, 'session template'),
        counted(agents.types.length, 'agent type'),
      ].filter((text) => !text.startsWith('0 '));
      call.print(`valid: ${counts.join(', ') || 'nothing to keep'} in ${files.join(', ')}`);
      return 0;
    } catch (error) {
      const problems = problemsOf(error);
      if (!call.json || problems === null) throw error;
      // For programs that ask "is it valid?", a no is an answer like a yes.
      call.printJson({ schema_version: 1, valid: false, files, components: [], problems });
      return toAppError(error).exitCode;
    }
  },
};

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

/** Not by `instanceof`: the configuration part is a bundle of its own, with classes of its own. */
const problemsOf = (error: unknown): readonly Problem[] | null =>
  error instanceof Error && 'problems' in error && Array.isArray(error.problems) ? error.problems : null;

export const schema: Definition<object> = {
  usage: 'schema',
  onlyHere: 'It asks no daemon: leave out -H.',
  asksNobody: true,
  group: 'Configure:',
  summary: 'print the JSON Schema of the configuration',
  examples: [['keepwell schema > keepwell.schema.json', 'for an editor']],
  handler: async (call) => {
    const { jsonSchema } = await import('../../config/schema.ts');
    call.world.out.write(`${JSON.stringify(jsonSchema(), null, 2)}\n`);
    return 0;
  },
};
