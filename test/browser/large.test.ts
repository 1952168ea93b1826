import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { homePaths, readDaemonFile } from '../../src/base/home.ts';
import { type Browser, hasBrowser, openBrowser } from '../support/browser.ts';
import { type PageServer, pageServer } from '../support/page-server.ts';
import { TestProject } from '../support/project.ts';

const OTHERS = 499;
const LINES = 100_000;

describe.skipIf(!hasBrowser)('a large project', () => {
  let project: TestProject;
  let server: PageServer;
  let browser: Browser;

  beforeAll(async () => {
    const others = Array.from({ length: OTHERS }, (_, at) => `  part-${at}: { process: { command: [sleep, "1000"] } }`);
    project = new TestProject(`
version: 1
components:
  flood: { process: { command: [sh, -c, "until [ -e go ]; do sleep 0.1; done; seq 1 ${LINES}; sleep 100000"] } }
${others.join('\n')}
`);
    await project.ok('up', 'flood');
    server = await pageServer({ socket: () => readDaemonFile(homePaths(project.home))?.socket ?? null });
    browser = await openBrowser();
  });

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    await project?.[Symbol.asyncDispose]();
  });

  test('of 500 components has a row for each, and finds one of them', async () => {
    const page = await browser.context.newPage();
    await page.goto(server.url);
    await page.locator('.row[data-component]').nth(OTHERS).waitFor({ state: 'attached' });
    await page.locator('#filter').fill('part-321');
    await page.locator('.row[data-component=part-321]').waitFor();
    await page.locator('.row[data-component=flood]').waitFor({ state: 'detached' });
    await page.goto(`${server.url}#/graph`);
    await page.locator('.node').nth(OTHERS).waitFor({ state: 'attached' });
    await page.close();
  });

  test('that floods its log is followed to the last line, and the page keeps within bounds', async () => {
    const page = await browser.context.newPage();
    await page.goto(`${server.url}#/logs?c=flood`);
    await page.getByText('· live', { exact: false }).first().waitFor();
    project.write('go', '');
    await page.locator('.logline .text', { hasText: new RegExp(`^${LINES}$`) }).waitFor();
    const kept = (await page.evaluate("document.querySelectorAll('.logline').length")) as number;
    expect(kept).toBeGreaterThan(1_000);
    expect(kept).toBeLessThanOrEqual(20_100);
    await page.getByRole('button', { name: 'pause' }).click();
    await page.getByRole('button', { name: 'to the end' }).waitFor();
    await page.close();
  });
});
