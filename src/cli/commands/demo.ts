/** keepwell demo: see it work, without a configuration. Signals belong to the demo: no interrupt() in here. */
import { Option } from 'commander';
import { usage } from '../call.ts';
import type { Definition } from '../define.ts';

interface Options {
  readonly keep?: true;
  readonly dashboard?: true;
}

const OLDEST_NODE = '20.19';

export const demo: Definition<Options> = {
  usage: 'demo',
  onlyHere: 'It asks no daemon: leave out -H.',
  asksNobody: true,
  group: 'More:',
  summary: 'watch a small stack being broken and repaired',
  options: [
    new Option('--keep', 'leave the stack up at the end'),
    new Option('--dashboard', 'leave it broken, and show it on the page until Ctrl-C').conflicts('keep'),
  ],
  examples: [
    ['keepwell demo', 'takes about 10 seconds and leaves nothing behind'],
    ['keepwell demo --keep', 'the same, but the stack stays up for you to look at'],
    ['keepwell demo --dashboard', 'the same, then a broken shop on the page for as long as you like'],
  ],
  handler: async ({ world, json, files, paint }, _args, { keep = false, dashboard = false }) => {
    if (json) throw usage('The demo is for people; it has no -o json.');
    if (files.length > 0) throw usage('The demo brings its own configuration; -f has no meaning here.');
    if (!isNewEnough(world.node))
      throw usage(`Keepwell needs Node ${OLDEST_NODE} or later; this is Node ${world.node}.`);
    const { runDemo } = await import('../demo/run.ts');
    return await runDemo({ env: world.env, entry: world.entry, keep, dashboard, out: world.out, paint });
  },
};

function isNewEnough(node: string): boolean {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE.split('.').map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}
