/** keepwell demo: see it work, without a configuration. */
import { Option } from 'commander';
import type { Definition } from '../define.ts';
import { usage } from '../session.ts';

interface Options {
  readonly keep?: true;
}

export const demo: Definition<Options> = {
  usage: 'demo',
  group: 'More:',
  summary: 'watch a small stack being broken and put right again',
  options: [new Option('--keep', 'leave the stack up at the end')],
  examples: [['keepwell demo', 'takes a few seconds and leaves nothing behind']],
  handler: async ({ world, json }, _args, { keep = false }) => {
    if (json) throw usage('The demo is for people; it has no -o json.');
    const { runDemo } = await import('../../daemon/demo.ts');
    return await runDemo({ env: world.env, entry: world.entry, keep, write: (text) => world.out.write(text) });
  },
};
