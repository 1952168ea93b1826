/** The acts, in order. */

import { AppError } from '../../base/pure/errors.ts';
import { crash } from './acts/crash.ts';
import { killDaemon } from './acts/daemon.ts';
import { hang } from './acts/hang.ts';
import { stopStubborn } from './acts/stubborn.ts';
import { bringUp, showStack } from './acts/up.ts';
import { showWhy } from './acts/why.ts';
import { EventFeed } from './event-feed.ts';
import type { Narrator } from './narrator.ts';
import type { Place } from './place.ts';
import type { Product } from './product.ts';
import type { Outcome, Scene } from './scene.ts';
import type { Ports } from './stack.ts';

export const STEPS = 7;

export interface StoryOptions {
  readonly place: Place;
  readonly ports: Ports;
  readonly product: Product;
  readonly narrator: Narrator;
  readonly signal: AbortSignal;
}

export async function play(options: StoryOptions): Promise<readonly Outcome[]> {
  try {
    return await acts(options);
  } catch (error) {
    throw await withLastWords(error, options.product);
  }
}

/** A component that gave up, which is not in the play. What it said last tells more than a hint to ask a daemon that is gone. */
async function withLastWords(error: unknown, product: Product): Promise<unknown> {
  if (!(error instanceof AppError) || error.code !== 'COMPONENT_GAVE_UP') return error;
  const log = await product.text(['logs', String(error.details['name']), '-n', '1']);
  const [cause] = error.message.split('\n'); // the others say that they needed it
  return new AppError('DEMO_FAILED', { problem: `${cause}\nIts last words: ${log.trim()}` }, { cause: error });
}

async function acts(options: StoryOptions): Promise<readonly Outcome[]> {
  const { narrator, product, signal } = options;
  narrator.heading('Start a small stack');
  await bringUp(product, narrator);
  const scene: Scene = { ...options, feed: new EventFeed(product, signal) };
  await showStack(scene);
  const act = async (title: string, perform: (scene: Scene) => Promise<Outcome>): Promise<Outcome> => {
    narrator.heading(title);
    return await perform(scene);
  };
  const outcomes = [
    await act('A worker crashes', crash),
    await act('A server hangs', hang),
    await act('Keepwell itself is killed', killDaemon),
    await act('A process refuses to stop', stopStubborn),
  ];
  narrator.heading('Why did mailer die?');
  await showWhy(scene);
  return outcomes;
}
