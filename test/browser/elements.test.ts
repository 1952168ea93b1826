/** Everything that a screen has to show, on the screen that has to show it. */
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { homePaths, readDaemonFile } from '../../src/base/home.ts';
import type { WhyView } from '../../src/supervision/rules/views.ts';
import { type Browser, hasBrowser, openBrowser } from '../support/browser.ts';
import { type PageServer, pageServer } from '../support/page-server.ts';
import { pageStack } from '../support/page-stack.ts';
import type { TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

describe.skipIf(!hasBrowser)('the elements of the page', () => {
  let project: TestProject;
  let server: PageServer;
  let browser: Browser;

  beforeAll(async () => {
    project = pageStack();
    await project.cli('up', '--no-wait');
    await project.until('billing', 'done with', ({ last_exit }) => last_exit !== null);
    await project.until('mailer', 'backing off', ({ state }) => state === 'backing-off');
    await project.cli('start', 'billing', '--no-wait');
    await waitFor('a second crash', async () => (await crashesOf('billing')).length >= 2);
    server = await pageServer({ socket: () => readDaemonFile(homePaths(project.home))?.socket ?? null });
    browser = await openBrowser();
  });
  afterEach(async () => {
    for (const page of browser.context.pages()) await page.close();
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    await project?.[Symbol.asyncDispose]();
  });

  const crashesOf = async (name: string): Promise<readonly { id: number }[]> =>
    (JSON.parse(await project.ok('crashes', name, '-o', 'json')) as { crashes: { id: number }[] }).crashes;

  const open = async (hash: string, prepare: (page: Page) => Promise<unknown> = async () => {}): Promise<Page> => {
    const page = await browser.context.newPage();
    await prepare(page);
    await page.goto(`${server.url}${hash}`);
    await page.locator('.link.ok').waitFor();
    return page;
  };
  const item = (page: Page, text: string | RegExp): Locator => page.getByRole('listitem').filter({ hasText: text });
  /** Presses the button, and then the one of the dialog that says what it will do. */
  const act = async (page: Page, row: Locator, label: string): Promise<string> => {
    await row.getByRole('button', { name: label, exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    const text = await dialog.innerText();
    await dialog.getByRole('button', { name: label, exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
    return text;
  };

  test('overview: rows are filtered and sorted, count down, and have their time and what they use', async () => {
    const page = await open('#/');
    const names = async () =>
      (await page.locator('.row[data-component] .name').allInnerTexts()).map((name) => name.trim());
    await page.locator('.row[data-component]').first().waitFor();
    await page.getByLabel('order').selectOption('name');
    await waitFor(
      'the order',
      async () => JSON.stringify(await names()) === JSON.stringify((await names()).toSorted()),
    );
    await page.getByLabel('order').selectOption('worst first');
    await waitFor('the worst first', async () => /attacker|billing/.test((await names())[0] ?? ''));
    await page.locator('#filter').fill('/^ca/');
    await waitFor('one row', async () => JSON.stringify(await names()) === '["cache"]');
    await page.locator('#filter').fill('');
    const mailer = page.locator('.row[data-component=mailer]');
    await mailer
      .locator('time')
      .getByText(/^\d+m \d+s$|^\d+s$/)
      .waitFor();
    await page.locator('.row[data-component=cache] .beat-u').waitFor({ state: 'attached' });
    expect(await page.locator('.row.head').innerText()).toMatch(
      /Last 10 min[\s\S]*Up 10 min · 7 d[\s\S]*CPU[\s\S]*Memory/,
    );
    await page.locator('.row[data-component=database] .c-memory').getByText('MiB').waitFor();
    await page.getByRole('button', { name: 'failures' }).click();
    await waitFor('failures only', async () => (await page.locator('.events li:not(.failure)').count()) === 0);
    await page.getByText(/live · \d+ s ago/).waitFor();
  });

  test('component: probes, runs with decisions, one axis with one cursor, crashes and last lines', async () => {
    const page = await open('#/component/billing');
    const runs = page.getByRole('table', { name: 'Runs' });
    await runs.getByText('exit code 1').first().waitFor();
    await runs
      .getByText(/policy-never/)
      .first()
      .waitFor();
    await page
      .getByRole('region', { name: 'Crashes' })
      .getByRole('link', { name: /TypeError/ })
      .first()
      .waitFor();
    await page.getByRole('list', { name: 'Last lines' }).getByText('order 4711 came in').first().waitFor();
    await page.goto(`${server.url}#/component/cache`);
    const probe = page.getByRole('region', { name: 'Probes' });
    await probe.getByText(/pass: .* ms/).waitFor();
    await probe.getByText(/0 of \d+ failures/).waitFor();
    const lanes = page.locator('.lanes');
    const box = (await lanes.boundingBox())!;
    await page.mouse.move(box.x + box.width - 4, box.y + box.height / 2);
    await lanes.getByText(/ran for/).waitFor();
    expect(await lanes.locator('.cursor').count()).toBeGreaterThanOrEqual(2);
  });

  test('dossier: the ones before and after with the same cause, how often, what changed, and that it was simulated', async () => {
    const [newest] = await crashesOf('billing');
    const page = await open(`#/crash/${newest!.id}`);
    await page.getByText(/^Seen [2-9] times/).waitFor();
    await page.getByRole('link', { name: /earlier, same cause/ }).click();
    await page.getByRole('link', { name: /later, same cause/ }).waitFor();
    expect(page.url()).not.toContain(`/crash/${newest!.id}`);
    await page.getByText('Changed').waitFor();
    const known = await page.getByRole('region', { name: 'What is known' }).innerText();
    expect(known).toMatch(/Ended[\s\S]*Used[\s\S]*MiB of memory[\s\S]*Decision[\s\S]*Rule[\s\S]*failure/);
    expect(await page.getByRole('region', { name: 'Dependencies at that time' }).innerText()).toMatch(/cache|database/);
    await project.ok('simulate-crash', '--component', 'cache');
    await waitFor('the rehearsal', async () => (await crashesOf('cache')).length > 0);
    await page.goto(`${server.url}#/crash/cache`);
    await page.getByText('simulated').first().waitFor();
  });

  test('dossier: evidence of a freeze, with what was done and what it was doing', async () => {
    const [crash] = await crashesOf('billing');
    const freeze = {
      ...{ reason: 'frozen: no heartbeat for 5 min', silent_since: new Date().toISOString() },
      steps: [{ at: new Date().toISOString(), text: 'SIGINT' }],
      evidence: ['pid 4711 waits in do_epoll_wait'],
    };
    const page = await open(`#/crash/${crash!.id}`, (fresh) =>
      fresh.route(`**/v1/crashes/${crash!.id}`, async (route) => {
        const why = (await (await route.fetch()).json()) as WhyView;
        await route.fulfill({ json: { ...why, freeze } });
      }),
    );
    const panel = page.getByRole('region', { name: 'Its heartbeat was overdue' });
    await panel.getByText('do_epoll_wait').waitFor();
    expect(await panel.innerText()).toMatch(/frozen: no heartbeat for 5 min[\s\S]*SIGINT/);
  });

  test('incidents are acknowledged, silenced and heard again; tickets are closed and reopened', async () => {
    const page = await open('#/incidents');
    const incident = page
      .getByRole('region', { name: 'Incidents' })
      .getByRole('listitem')
      .filter({ hasText: 'amount' }); // named after billing or mailer: both run the same program
    await incident.getByText(/^also (billing|mailer)$/).waitFor();
    expect(await incident.innerText()).toMatch(/seen \d times?.*first .* last /);
    expect(await act(page, incident, 'acknowledge')).toContain('no more reminders');
    await incident.getByText('acknowledged').waitFor();
    expect(await act(page, incident, 'silence 1 h')).toContain('for 1 h');
    await incident.getByText(/silenced for/).waitFor();
    await act(page, incident, 'alerts on');
    await incident.getByText(/silenced for/).waitFor({ state: 'detached' });
    const ticket = page.getByRole('region', { name: 'Tickets' }).getByRole('listitem').filter({ hasText: 'amount' });
    await act(page, ticket, 'close');
    await ticket.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'all', exact: true }).click();
    await ticket.waitFor();
    await act(page, ticket, 'reopen');
    await ticket.getByRole('button', { name: 'close' }).waitFor();
  });

  test('logs: several merged, by expression, of the run before, with rules between runs, paused, and downloaded', async () => {
    const page = await open('#/logs?c=billing,database');
    await page.locator('.logline .who', { hasText: 'billing' }).first().waitFor();
    await page.locator('.logline .who', { hasText: 'database' }).first().waitFor();
    await page.locator('.boundary', { hasText: 'billing: a new run begins' }).waitFor();
    await page.getByRole('button', { name: 'pause' }).click();
    await page.getByRole('button', { name: /\d+ new/ }).click();
    await page.getByRole('button', { name: 'pause' }).waitFor();
    await page.getByRole('button', { name: 'wrap' }).click();
    expect(await page.locator('.log.wraps').count()).toBe(0);
    await page.getByRole('searchbox', { name: 'Text, or /expression/' }).fill('/order \\d+/');
    await page.keyboard.press('Enter');
    await waitFor('only those', async () => {
      const lines = await page.locator('.logline .text').allInnerTexts();
      return lines.length > 0 && lines.every((line) => /order \d+/.test(line));
    });
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'download' }).click();
    expect(readFileSync(await (await saved).path(), 'utf8')).toContain('order 4711 came in');
    await page.goto(`${server.url}#/logs?c=billing`);
    await page.getByRole('button', { name: 'previous run' }).click();
    await page.getByText('the run before').waitFor();
    await page.getByLabel('Since').selectOption('5');
    await waitFor('the address', () => page.url().includes('since=5'));
  });

  test('sessions and campaigns: what is left of a lease, extending and ending it, progress and how long it still takes', async () => {
    const at = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();
    const session = {
      ...{ session_id: '0123456789abcdef', user_id: 'ada', challenge_id: 'web', state: 'running', restarts: 1 },
      ...{ health_status: 'healthy', health_reason: null, host: '127.0.0.1', port: 8080, created_at: at(-5) },
      expires_at: at(25),
    };
    const campaign = {
      campaign: 'night',
      state: 'running',
      reason: null,
      created_at: at(-60),
      done: 2,
      failed: 1,
      total: 4,
    };
    const one = { service: 'gpu', attempts: 2, reason: null, exit_code: 0 };
    const experiments = [
      { ...one, name: 'first', state: 'done', duration_ms: 60_000 },
      { ...one, name: 'second', state: 'done', duration_ms: 60_000 },
      { ...one, name: 'third', state: 'failed', duration_ms: 60_000, exit_code: 1, reason: 'out of memory' },
      { ...one, name: 'fourth', state: 'pending', duration_ms: null, exit_code: null, attempts: 0 },
    ];
    const asked: string[] = [];
    const page = await open('#/sessions', async (fresh) => {
      await fresh.route('**/v1/sessions', (route) =>
        route.fulfill({ json: { schema_version: 1, sessions: [session] } }),
      );
      await fresh.route('**/v1/sessions/*/*', async (route) => {
        asked.push(`${new URL(route.request().url()).pathname} ${route.request().postData()}`);
        await route.fulfill({ json: {} });
      });
      await fresh.route('**/v1/campaigns', (route) =>
        route.fulfill({ json: { schema_version: 1, campaigns: [campaign] } }),
      );
      await fresh.route('**/v1/campaigns/night', (route) =>
        route.fulfill({ json: { schema_version: 1, ...campaign, experiments } }),
      );
    });
    await item(page, 'ada')
      .getByText(/lease ends in/)
      .waitFor();
    expect(await item(page, 'ada').innerText()).toMatch(/lease ends in 2[45]m/);
    await act(page, item(page, 'ada'), 'extend 30 min');
    expect(await act(page, item(page, 'ada'), 'stop')).toContain('removes its container');
    expect(asked).toEqual([
      '/v1/sessions/0123456789abcdef/extend {"by_ms":1800000}',
      '/v1/sessions/0123456789abcdef/stop {}',
    ]);
    await page.goto(`${server.url}#/campaigns`);
    await page.getByRole('img', { name: '2 of 4 done, 1 failed' }).waitFor();
    await page.getByRole('link', { name: 'night' }).click();
    await page.getByText(/2 of 4 done, 1 failed · about .* left/).waitFor();
    await item(page, 'third').getByText('out of memory').waitFor();
    await item(page, 'third')
      .getByText(/attempt 2/)
      .waitFor();
  });

  test('agents: what each works on, how many respawns of how many, and its log', async () => {
    await project.ok('spawn', 'reviewer', '--task', 'CHANGE-7');
    const page = await open('#/agents');
    await item(page, 'reviewer · CHANGE-7')
      .getByText(/respawns 0 of 0/)
      .waitFor();
    await item(page, 'reviewer · CHANGE-7').getByRole('link', { name: 'logs' }).waitFor();
    await page.getByText('Crashes, last hour').waitFor();
  });

  test('events are filtered, and a row leads to its component', async () => {
    const page = await open('#/events');
    await page.locator('#filter').fill('billing');
    await waitFor('only its own', async () => {
      const rows = await page.locator('.events li').allInnerTexts();
      return rows.length > 0 && rows.every((row) => row.includes('billing'));
    });
    await page.locator('.events a.name').first().click();
    await page.getByRole('heading', { level: 1, name: /billing/ }).waitFor();
  });
});
