import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { homePaths, readDaemonFile } from '../../src/base/home.ts';
import { type Browser, hasBrowser, openBrowser } from '../support/browser.ts';
import { type PageServer, pageServer } from '../support/page-server.ts';
import { HOSTILE, pageStack } from '../support/page-stack.ts';
import { kill, type TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

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
    expect(await page.locator('.row[data-component]').count()).toBe(7);
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
    await page.locator('.logline').nth(HOSTILE.length).waitFor();
    const lines = await page.locator('.log').innerText();
    expect(lines).toContain('<img src=x onerror=');
    expect(lines).toContain('click me after the link');
    expect(lines).not.toContain('evil.example');
    expect(lines).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    expect(lines).toContain('more');
    expect(await page.locator('.log .a1').first().innerText()).toBe('red');
    for (const [name, , hash] of SCREENS) {
      await page.goto(`${server.url}${hash}`);
      await settled(page, name);
      expect(await page.evaluate('window.hacked')).toBeUndefined();
      expect(await page.locator('main img, main script, main iframe').count()).toBe(0);
    }
    expect(await page.locator('body').innerText()).not.toContain('hunter2hunter2');
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

const axe = async (): Promise<string> =>
  ((await import('axe-core')) as unknown as { default: { source: string } }).default.source;
