/** The page as people have it: from the daemon's own listener, with its token, over a daemon that is killed. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PageView } from '../../src/dashboard/rules/views.ts';
import { type Browser, hasBrowser, openBrowser } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

/** Told the page's own words from now on, however short a time they stand there. */
const LISTEN = `window.seen = [];
  new MutationObserver(() => window.seen.push(document.querySelector('.link')?.textContent ?? ''))
    .observe(document.querySelector('.top'), { subtree: true, childList: true, characterData: true })`;

describe.skipIf(!hasBrowser)('the page of the listener', () => {
  let project: TestProject;
  let browser: Browser;
  const refused: string[] = [];

  beforeAll(async () => {
    project = new TestProject(`
version: 1
name: shop
dashboard: { listen: "127.0.0.1:${await freePort()}" }
components:
  api: { process: { command: [sleep, "100000"] }, restart: { backoff: { initial: 50ms } } }
  worker: { process: { command: [sleep, "100000"] }, depends_on: { api: started } }
`);
    await project.ok('up');
    browser = await openBrowser();
    browser.context.on('console', (message) => {
      if (/Content Security Policy|Refused to/.test(message.text())) refused.push(message.text());
    });
  });

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await project?.[Symbol.asyncDispose]();
  });

  const address = async (...more: string[]): Promise<PageView> =>
    JSON.parse(await project.ok('dashboard', '--no-open', '-o', 'json', ...more)) as PageView;

  const open = async (url: string): Promise<Page> => {
    const page = await browser.context.newPage();
    await page.goto(url);
    await page.locator('.link.ok').waitFor();
    return page;
  };

  test('opens with the token of the address, and without one says where to get it', async () => {
    const { url, address: plain } = await address();
    const page = await open(url);
    await page.locator('.row[data-component=worker]').waitFor();
    expect(page.url()).not.toContain('token');
    await page.close();
    const stranger = await browser.context.newPage();
    await stranger.goto(plain);
    await stranger.getByRole('heading', { name: 'This page needs its token' }).waitFor();
    expect(await stranger.locator('body').innerText()).not.toContain('worker');
    await stranger.close();
  });

  test('with the token that only reads, says so and offers no action', async () => {
    const page = await open((await address('--read-only')).url);
    await page.getByText('read only').waitFor();
    await page.goto(`${(await address()).address}#/component/api`);
    const button = page.getByRole('button', { name: 'restart' });
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await page.close();
  });

  test('goes on over kill -9 of the daemon: says that it reconnects, then has every event, none twice', async () => {
    const { url, address: plain } = await address();
    const page = await open(url);
    await page.goto(`${plain}#/events`);
    await page.locator('[data-seq]').first().waitFor();
    await page.evaluate(LISTEN);
    const before = project.daemonPid()!;
    const { pid } = await project.component('api');
    kill(before);
    kill(pid!); // nobody is there who could tell of it
    await waitFor('the page to say so', async () =>
      ((await page.evaluate('window.seen')) as string[]).some((text) => /reconnecting, data is \d+ s old/.test(text)),
    );
    await waitFor('another daemon', () => project.daemonPid() !== null && project.daemonPid() !== before);
    await page.locator('.link.ok').waitFor();
    await project.until('api', 'running again', (now) => now.pid !== null && now.pid !== pid);
    await page
      .getByRole('listitem')
      .filter({ hasText: 'api' })
      .filter({ hasText: 'killed by SIGKILL' })
      .first()
      .waitFor();
    const shown = async () =>
      (await page.evaluate(
        "[...document.querySelectorAll('[data-seq]')].map((one) => Number(one.dataset.seq))",
      )) as number[];
    const seqs = (await shown()).toReversed();
    expect(seqs).toEqual(seqs.map((_, at) => seqs[0]! + at));
    expect(seqs[0]).toBe(1);
    await page.close();
  });

  test('nothing of it is against its own Content-Security-Policy', () => {
    expect(refused).toEqual([]);
  });
});
