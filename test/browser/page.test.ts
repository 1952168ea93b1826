import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { homePaths, readDaemonFile } from '../../src/base/home.ts';
import { type Browser, hasBrowser, openBrowser } from '../support/browser.ts';
import { type PageServer, pageServer } from '../support/page-server.ts';
import { HOSTILE, HOSTILE_TASK, pageStack } from '../support/page-stack.ts';
import { kill, type TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

/** The log itself is shown as it is; what is stored of it has no secrets. */
const SHOWS_LOG: ReadonlySet<string> = new Set(['logs', 'component']);

/** Where screenshots are kept for people to look at; empty: nowhere. */
const SHOTS = process.env['KEEPWELL_SHOTS'] ?? '';

const SCREENS = [
  ['overview', 'Overview', '#/'],
  ['component', null, '#/component/mailer'],
  ['crash', null, '#/crash/mailer'],
  ['crashes', 'Crashes', '#/crashes'],
  ['logs', 'Logs', '#/logs'],
  ['incidents', 'Incidents', '#/incidents'],
  ['graph', 'Graph', '#/graph'],
  ['checks', 'Checks', '#/checks'],
  ['agents', 'Agents', '#/agents'],
  ['sessions', 'Sessions', '#/sessions'],
  ['campaigns', 'Campaigns', '#/campaigns'],
  ['events', 'Events', '#/events'],
] as const;

describe.skipIf(!hasBrowser)('the page', () => {
  let project: TestProject;
  let server: PageServer;
  let browser: Browser;
  /** The next daemon is there within a second: until this is false again, it is not let through. */
  let isAway = false;
  const outside: string[] = [];
  const problems: string[] = [];

  beforeAll(async () => {
    project = pageStack();
    await project.cli('up', '--no-wait');
    await project.until('billing', 'done with', ({ last_exit }) => last_exit !== null);
    await project.until('mailer', 'backing off', ({ state }) => state === 'backing-off');
    await project.until('attacker', 'done with', ({ last_exit }) => last_exit !== null);
    await project.ok('spawn', 'reviewer', '--task', HOSTILE_TASK);
    const socket = () =>
      isAway || project.daemonPid() === null ? null : (readDaemonFile(homePaths(project.home))?.socket ?? null);
    server = await pageServer({ socket });
    browser = await openBrowser();
    browser.context.on('request', (request) => {
      if (!request.url().startsWith(server.url) && !request.url().startsWith('blob:')) outside.push(request.url());
    });
    browser.context.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource|net::ERR/.test(message.text()))
        problems.push(message.text());
    });
    browser.context.on('weberror', (error) => problems.push(String(error.error())));
  });

  /** A browser has six connections to one address for all its pages, and each of them keeps one. */
  afterEach(async () => {
    for (const page of browser.context.pages()) await page.close();
  });

  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    await project?.[Symbol.asyncDispose]();
  });

  const open = async (hash = '#/', theme: 'light' | 'dark' = 'light', width = 1_280): Promise<Page> => {
    const page = await browser.context.newPage();
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${server.url}${hash}`);
    await page.locator('.link.ok').waitFor();
    return page;
  };

  /** Its screen is there, and everything it asked for was answered. */
  const settled = async (page: Page, screen: string): Promise<void> => {
    await page.locator(`main[data-screen=${screen}]`).waitFor();
    await page.locator('main h1, main h2').first().waitFor({ state: 'attached' });
    await waitFor(`${screen} to be complete`, async () => (await page.getByText('Asking the daemon').count()) === 0);
    if (screen === 'logs') await page.locator('.logline').first().waitFor();
  };

  test('shows what needs attention first, every component, and what happened', async () => {
    const page = await open();
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.waitFor();
    const text = await attention.innerText();
    expect(text).toContain('mailer');
    expect(await page.locator('.row[data-component]').count()).toBe(8);
    expect(await page.locator('[data-component=mailer].row').innerText()).toMatch(/backing off/);
    expect(await page.locator('[data-component=web].row').innerText()).toMatch(/waiting/);
    expect(await page.getByRole('region', { name: 'What happened' }).innerText()).toContain('exit code 1');
  });

  test.each(['light', 'dark'] as const)('every screen opens by clicking, in %s', async (theme) => {
    const page = await open('#/', theme);
    for (const [name, link, hash] of SCREENS) {
      if (link === null) await page.goto(`${server.url}${hash}`);
      else await page.getByRole('navigation').getByRole('link', { name: link }).click();
      await settled(page, name);
      if (SHOTS !== '') {
        mkdirSync(SHOTS, { recursive: true });
        await page.screenshot({ path: `${SHOTS}/${name}-${theme}.png`, fullPage: name !== 'logs' });
      }
    }
  });

  test('no screen scrolls sideways at 380 px', async () => {
    const page = await open('#/', 'light', 380);
    for (const [name, , hash] of SCREENS) {
      await page.goto(`${server.url}${hash}`);
      await settled(page, name);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      if (SHOTS !== '') await page.screenshot({ path: `${SHOTS}/${name}-380.png` });
      expect(width, name).toBeLessThanOrEqual(380);
    }
  });

  test.each(['light', 'dark'] as const)('axe has nothing serious to say in %s', async (theme) => {
    const page = await open('#/', theme);
    for (const [name, , hash] of SCREENS) {
      await page.goto(`${server.url}${hash}`);
      await settled(page, name);
      await page.evaluate(await axe());
      const found = (await page.evaluate(
        "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa'] }).then(({ violations }) => violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html, any }) => html.slice(0, 160) + ' ' + (any[0]?.message ?? '')).join(' | ')))",
      )) as string[];
      expect(found, `${name} in ${theme}`).toEqual([]);
    }
  });

  test('the dossier has cause, own frames, the marked line, decision and rule, and copies as Markdown', async () => {
    const page = await open('#/crash/billing');
    await settled(page, 'crash');
    const text = await page.locator('main').innerText();
    expect(text).toContain('TypeError');
    expect(text).toContain('exit code 1');
    expect(await page.locator('.frame.own', { hasText: 'crasher.js' }).count()).toBeGreaterThan(0);
    expect(await page.locator('.crashline').innerText()).toContain('TypeError');
    expect(text).toMatch(/Rule\s+policy-never|Rule/);
    expect(text).toContain('database');
    await page.getByRole('button', { name: 'copy as Markdown' }).click();
    await page.getByRole('button', { name: 'copied' }).waitFor();
    const copied = (await page.evaluate('navigator.clipboard.readText()')) as string;
    expect(copied).toMatch(/^# billing: TypeError/);
    expect(copied).toContain('## Last lines');
  });

  test('what programs write is text on every screen, and nothing outside is asked for', async () => {
    const page = await open('#/logs?c=database');
    await page.route('**/v1/sessions', (route) => route.fulfill({ json: HOSTILE_SESSIONS }));
    await page.route('**/v1/campaigns', (route) => route.fulfill({ json: HOSTILE_CAMPAIGNS }));
    await page.route('**/v1/campaigns/night', (route) => route.fulfill({ json: HOSTILE_CAMPAIGN }));
    await page.locator('.logline').nth(HOSTILE.length).waitFor();
    const lines = await page.locator('.log').innerText();
    expect(lines).toContain('<img src=x onerror=');
    expect(lines).toContain('click me after the link');
    expect(lines).not.toContain('evil.example');
    expect(lines).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(lines).toContain('more');
    expect(await page.locator('.log .a1').first().innerText()).toBe('red');
    const hostile = [...SCREENS, ['component', '', '#/component/attacker'], ['crash', '', '#/crash/attacker']] as const;
    const shown = new Set<string>();
    for (const [name, , hash] of [...hostile, ['campaigns', '', '#/campaigns/night'] as const]) {
      await page.goto(`${server.url}${hash}`);
      await settled(page, name);
      expect(await page.evaluate('window.hacked')).toBeUndefined();
      expect(await page.locator('main img, main script, main iframe').count()).toBe(0);
      const text = await page.locator('main').innerText();
      expect(text, hash).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u001b\u0007]/);
      if (!SHOWS_LOG.has(name)) expect(text, hash).not.toContain('hunter2hunter2');
      expect(text, hash).not.toContain('s3cr3t-s3cr3t');
      expect(await page.locator('a[href*="evil.example"]').count()).toBe(0);
      if (text.includes('<img src=x')) shown.add(name);
    }
    // It came through, and as text.
    expect([...shown].sort()).toEqual([
      ...['agents', 'campaigns', 'checks', 'component', 'crash', 'crashes', 'events', 'incidents', 'logs', 'overview'],
      'sessions',
    ]);
    expect(outside).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('works with the keyboard alone: row, component, why, logs, palette, help, theme', async () => {
    const page = await open();
    await page.locator('.row[data-component]').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('mail');
    await waitFor('the filter', async () => (await page.locator('.row[data-component]').count()) === 1);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /Go to/ }).waitFor();
    await page.keyboard.type('bill');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: /billing/ }).waitFor();
    await page.keyboard.press('w');
    await page.getByRole('heading', { level: 1, name: /TypeError/ }).waitFor();
    await page.keyboard.press('o');
    await settled(page, 'overview');
    await page.keyboard.press('j');
    await page.keyboard.press('l');
    await page.getByRole('heading', { level: 1, name: 'Logs' }).waitFor();
    await page.keyboard.press('t');
    await page.keyboard.press('t');
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    await page.evaluate('localStorage.clear()');
  });

  test.each(SCREENS)('%s is reached and used with the keyboard alone', async (name, link, hash) => {
    const page = await open('#/events');
    if (link === null) await page.goto(`${server.url}${hash}`);
    else {
      await page.keyboard.press('Control+k');
      await page.keyboard.type(link);
      await page.getByRole('option').first().waitFor();
      await page.keyboard.press('Enter');
    }
    await settled(page, name);
    await page.evaluate(STAMP);
    const all = new Set((await page.evaluate(STAMPED)) as string[]);
    for (let tabs = 0; tabs < 400 && all.size > 0; tabs += 1) {
      await page.keyboard.press('Tab');
      all.delete((await page.evaluate("document.activeElement?.dataset.stop ?? ''")) as string);
      const hidden = await page.evaluate(
        "document.activeElement !== document.body && !document.activeElement.matches(':focus-visible')",
      );
      expect(hidden, 'the focus can be seen').toBe(false);
    }
    // The page is live: what was over meanwhile, and left it, is nothing that could be reached.
    const present = new Set((await page.evaluate(STAMPED)) as string[]);
    expect([...all].filter((one) => present.has(one))).toEqual([]);
  });

  test('rows can be grouped by the beginning of their names and by kind', async () => {
    const page = await open();
    await page.getByLabel('group by').selectOption('kind');
    await page.locator('.row.group', { hasText: 'process' }).waitFor();
    await page.getByLabel('group by').selectOption('prefix');
    await page.locator('.row.group', { hasText: 'others' }).waitFor();
  });

  test('a row says how many restarts of how many are used up', async () => {
    const page = await open();
    expect(await page.locator('[data-component=mailer] .c-restarts').innerText()).toMatch(/1 of 10/);
    expect(await page.locator('[data-component=cache] .c-percent').innerText()).toMatch(/\d · \d/);
  });

  test('a component has its configuration as applied, with names of variables only, and its schedule', async () => {
    const page = await open('#/component/attacker');
    const panel = page.getByRole('region', { name: 'Configuration as applied' });
    const text = await panel.innerText();
    expect(text).toContain('node attacker.js');
    expect(text).toContain('API_TOKEN');
    expect(text).not.toContain('s3cr3t');
    await page.goto(`${server.url}#/component/reports`);
    await panel.getByText('Gives up after 10 restarts').waitFor();
    expect(await panel.getByRole('list', { name: 'Backoff schedule' }).getByRole('listitem').count()).toBe(10);
  });

  test('a log can be cut down to warnings and errors, and a time leads to what happened then', async () => {
    const page = await open('#/logs?c=billing');
    await settled(page, 'logs');
    const lines = page.locator('.logline:visible');
    const before = await lines.count();
    await page.getByLabel('Which lines').selectOption('errors');
    await waitFor('fewer lines', async () => (await lines.count()) < before);
    await page.locator('.logline.l-error').first().waitFor();
    await page.locator('.logline.l-error a.at').first().click();
    await page.getByRole('heading', { name: /Within a minute of/ }).waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: 'billing' })
      .filter({ hasText: 'exit code 1' })
      .first()
      .waitFor();
  });

  test('the graph outlines the root cause and says what the last start took its time for', async () => {
    const page = await open('#/graph');
    await page.locator('.node.root').first().waitFor();
    expect(await page.locator('.path').innerText()).toMatch(/Critical path of the last start: .*\d+ (ms|s)/);
    await page.getByRole('link', { name: /^billing: / }).click();
    await settled(page, 'component');
  });

  test('a check has its history, its hint once, and is asked when somebody wants it', async () => {
    const page = await open('#/checks');
    const row = page.getByRole('listitem').filter({ hasText: 'certificate' });
    await row.locator('.strip rect.bad').first().waitFor();
    expect((await row.innerText()).match(/renew it with make certs/g)).toHaveLength(1);
    await page.getByRole('button', { name: 'run now' }).click();
    await page.getByRole('button', { name: 'run now' }).waitFor();
  });

  test('the desktop is told of what is new while nobody looks, if somebody asked for it', async () => {
    const page = await browser.context.newPage();
    await page.addInitScript(
      "window.told = []; window.Notification = class { static permission = 'default'; static requestPermission() { this.permission = 'granted'; return Promise.resolve('granted'); } constructor(title, { body }) { window.told.push(title + ': ' + body); } close() {} };",
    );
    await page.addInitScript("Object.defineProperty(document, 'hidden', { get: () => window.isHidden === true })");
    const incident = {
      kind: 'incident',
      incident: 99,
      name: 'cache',
      title: 'cache: exit code 9',
      cause: 'it is full',
    };
    const more = { since: null, affects: [], ticket: null, acknowledged: false, silenced_until: null };
    let isThere = false;
    await page.route('**/v1/overview', async (route) => {
      const answer = await route.fetch({ headers: { ...route.request().headers(), 'if-none-match': '' } });
      const view = await answer.json();
      await route.fulfill({
        json: isThere ? { ...view, attention: [...view.attention, { ...incident, ...more }] } : view,
      });
    });
    await page.goto(server.url);
    await page.locator('.row[data-component]').first().waitFor();
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.locator('button[aria-label="Notify me"][aria-pressed=true]').waitFor();
    await page.evaluate("window.isHidden = true; document.dispatchEvent(new Event('visibilitychange'))");
    isThere = true;
    await waitFor('the message', async () => ((await page.evaluate('window.told')) as string[]).length > 0);
    expect(await page.evaluate('window.told')).toEqual([expect.stringMatching(/: cache: it is full$/)]);
    await page.evaluate('localStorage.clear()');
  });

  test('an action says what it will do, and a crash appears without a reload', async () => {
    const page = await open('#/component/cache');
    const { pid } = await project.component('cache');
    await page.getByRole('button', { name: 'restart' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    expect(await dialog.innerText()).toMatch(
      new RegExp(`Restart cache[\\s\\S]*Ends pid ${pid} [\\s\\S]*web and mailer depend on it`),
    );
    if (SHOTS !== '') await page.screenshot({ path: `${SHOTS}/dialog.png` });
    await dialog.getByRole('button', { name: 'Restart' }).click();
    await project.until('cache', 'another process', (now) => now.pid !== null && now.pid !== pid);
    await page.goto(`${server.url}#/`);
    kill((await project.until('cache', 'running', ({ state }) => state === 'running')).pid!);
    await page.getByRole('region', { name: 'What happened' }).getByText('killed by SIGKILL').first().waitFor();
  });

  test('who may only read is not offered any action', async () => {
    await using reader = await pageServer({
      socket: () => readDaemonFile(homePaths(project.home))?.socket ?? null,
      role: 'read',
    });
    const page = await browser.context.newPage();
    await page.goto(`${reader.url}#/component/cache`);
    const button = page.getByRole('button', { name: 'restart' });
    await button.waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    expect(await button.getAttribute('title')).toContain('may only read');
    await button.click({ force: true });
    expect(await page.getByRole('dialog').count()).toBe(0);
    outside.length = 0;
  });

  test('the token is taken out of the address', async () => {
    const page = await browser.context.newPage();
    await page.goto(`${server.url}#token=abc123`);
    await page.locator('.link.ok').waitFor();
    expect(page.url()).not.toContain('abc123');
    expect(await page.evaluate("sessionStorage.getItem('keepwell-token')")).toBe('abc123');
  });

  test('a killed daemon is told, with the age of the data, and what happened meanwhile is not missing', async () => {
    const page = await open();
    await page.locator('.row[data-component]').first().waitFor();
    const before = project.daemonPid()!;
    isAway = true;
    kill(before);
    await page
      .getByText(/reconnecting, data is \d+ s old/)
      .first()
      .waitFor();
    await waitFor('the title to say so', async () => (await page.title()).includes('reconnecting'));
    if (SHOTS !== '') await page.screenshot({ path: `${SHOTS}/away.png` });
    isAway = false;
    await waitFor('another daemon', () => project.daemonPid() !== null && project.daemonPid() !== before);
    await page.locator('.link.ok').waitFor();
    await page.getByRole('region', { name: 'What happened' }).getByText('the guardian brought it back').waitFor();
  });
});

/** Everything that can be used: each must be reachable. What a closed menu hides is not there yet; rows show their actions to whoever is in them. */
const STAMP = `[...document.querySelectorAll('main a[href], main button, main input, main select, main summary, main [tabindex="0"]')]
  .filter((one) => one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true }))
  .forEach((one, at) => (one.dataset.stop = at + ' ' + one.outerHTML.slice(0, 80)))`;
const STAMPED = "[...document.querySelectorAll('[data-stop]')].map((one) => one.dataset.stop)";

const IMG = '<img src=x onerror="window.hacked=7">';
const LATER = new Date(Date.now() + 3_600_000).toISOString();
const HOSTILE_SESSIONS = {
  schema_version: 1,
  sessions: [
    {
      ...{
        session_id: '0123456789abcdef',
        user_id: IMG,
        challenge_id: 'web',
        state: 'running',
        health_status: 'unhealthy',
      },
      ...{
        health_reason: `${IMG}\u202e`,
        host: '127.0.0.1',
        port: 1,
        restarts: 0,
        created_at: LATER,
        expires_at: LATER,
      },
    },
  ],
};
const CAMPAIGN = {
  ...{ campaign: 'night', state: 'running', reason: IMG, created_at: LATER, done: 1, failed: 0, total: 2 },
};
const HOSTILE_CAMPAIGNS = { schema_version: 1, campaigns: [{ ...CAMPAIGN, campaign: IMG }] };
const EXPERIMENT = { service: 'gpu', attempts: 1, exit_code: 1, duration_ms: 1_000, state: 'failed' };
const HOSTILE_CAMPAIGN = {
  ...{ schema_version: 1, ...CAMPAIGN, experiments: [{ ...EXPERIMENT, name: IMG, reason: `${IMG}\u001b[31m` }] },
};

const axe = async (): Promise<string> =>
  ((await import('axe-core')) as unknown as { default: { source: string } }).default.source;
