/** Act 1: the stack comes up, in order. */
import type { StatusView } from '../../../supervision/rules/views.ts';
import { noPaint } from '../../print/colour.ts';
import { statusTable } from '../../print/status.ts';
import { displayWidth } from '../../print/width.ts';
import type { Narrator } from '../narrator.ts';
import type { Product } from '../product.ts';
import type { Scene } from '../scene.ts';
import { ALL_WELL } from '../stack.ts';

/** Of what `up` says on its way, this is enough to follow it. */
const TELLING = /^starting the daemon|: waiting for |, ready, /;

export async function bringUp(product: Product, narrator: Narrator): Promise<void> {
  narrator.say('A web server, and three that start when it is ready.');
  narrator.command('up');
  const tell = (line: string): void => {
    if (TELLING.test(line)) narrator.output([line]);
  };
  await narrator.during('all four to be ready', () => product.ask<StatusView>(['up'], tell));
}

export async function showStack({ product, narrator, feed }: Scene): Promise<void> {
  await narrator.during('the first answers to all probes', () => feed.untilAll(ALL_WELL));
  narrator.command('status');
  const { components } = await narrator.during('"keepwell status"', () => product.ask<StatusView>(['status']));
  const fits = statusTable(components, noPaint).every((line) => displayWidth(line) <= narrator.room);
  if (fits) narrator.table(statusTable(components, narrator.paint));
  else for (const { name, state, health, pid } of components) narrator.say(`${name}: ${state}, ${health}, pid ${pid}`);
}
