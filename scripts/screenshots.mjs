/**
 * Takes pictures of the page with the stack of `keepwell demo --dashboard`: the two of the README, or with --all DIR every screen in light, dark
 * and at the width of a phone, for people to look at. Build first. Needs a Chromium.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const PROGRAM = '/usr/bin/chromium';
const IMAGES = join(root, 'docs/guide/images');
const MAX_BYTES = 200_000;
const LIVED_MS = 5 * 60_000;

const SCREENS = {
  overview: '#/',
  component: '#/component/mailer',
  'component-database': '#/component/database',
  crash: '#/crash/mailer',
  crashes: '#/crashes',
  logs: '#/logs?c=api,database,mailer,web',
  incidents: '#/incidents',
  graph: '#/graph',
  checks: '#/checks',
  agents: '#/agents',
  sessions: '#/sessions',
  campaigns: '#/campaigns',
  events: '#/events',
};

/** The demo itself, or a page that is there already. */
async function startDemo() {
  const child = spawn(process.execPath, [join(root, 'dist/bin/keepwell.cjs'), 'demo', '--dashboard'], {
    env: { ...process.env, BROWSER: '', DISPLAY: '', WAYLAND_DISPLAY: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise((found, failed) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (more) => {
      text += more;
      const [address] = /^http:\/\/\S+#token=\S+$/m.exec(text) ?? [];
      if (address !== undefined) found(address);
    });
    child.once('close', () => failed(new Error(`the demo ended:\n${text}`)));
  });
  const end = async () => {
    child.kill('SIGINT');
    await new Promise((done) => child.once('close', done));
  };
  return { url, end };
}

async function settled(page) {
  await page.locator('.link.ok').waitFor();
  await page.locator('main h1, main h2').first().waitFor({ state: 'attached' });
  await page.getByText('Asking the daemon').first().waitFor({ state: 'detached' });
  if (page.url().includes('#/logs')) await page.locator('.logline').nth(20).waitFor();
}

async function shoot(page, url, { hash, theme, width, height, file, full }) {
  await page.emulateMedia({ colorScheme: theme });
  await page.setViewportSize({ width, height });
  await page.goto(`${new URL(url).origin}/${hash}`);
  await settled(page);
  await page.screenshot({ path: file, fullPage: full });
}

async function everything(page, url, dir) {
  mkdirSync(dir, { recursive: true });
  for (const [name, hash] of Object.entries(SCREENS)) {
    const full = name !== 'logs';
    for (const theme of ['light', 'dark'])
      await shoot(page, url, {
        ...{ hash, theme, width: 1_280, height: 860, file: join(dir, `${name}-${theme}.png`), full },
      });
    await shoot(page, url, {
      ...{ hash, theme: 'light', width: 380, height: 800, file: join(dir, `${name}-phone.png`), full },
    });
  }
}

/** The overview in light, a crash in dark: what the page is for. */
async function forReadme(page, url) {
  const pictures = [
    { hash: '#/', theme: 'light', file: join(IMAGES, 'page-light.png') },
    { hash: '#/crash/mailer', theme: 'dark', file: join(IMAGES, 'page-dark.png') },
  ];
  for (const picture of pictures) {
    await shoot(page, url, { ...picture, width: 1_200, height: 820, full: false });
    const { size } = statSync(picture.file);
    if (size > MAX_BYTES) throw new Error(`${picture.file} has ${size} bytes, more than ${MAX_BYTES}`);
    console.log(`${picture.file}: ${Math.round(size / 1000)} kB`);
  }
}

const [mode, dir, given] = process.argv.slice(2);
if (mode !== undefined && (mode !== '--all' || dir === undefined)) {
  console.error('usage: node scripts/screenshots.mjs [--all DIR [URL]]');
  process.exit(2);
}
if (!existsSync(PROGRAM)) throw new Error(`there is no ${PROGRAM}`);
const demo = given === undefined ? await startDemo() : { url: given, end: async () => {} };
const profile = mkdtempSync(join(tmpdir(), 'keepwell-pictures-'));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: PROGRAM,
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
});
try {
  const page = await browser.newPage();
  await page.goto(demo.url);
  await page.locator('.row[data-component=billing]').getByText('gave up', { exact: true }).waitFor();
  if (mode === undefined) {
    await page.waitForTimeout(LIVED_MS); // a timeline without a time shows nothing
    await forReadme(page, demo.url);
  } else await everything(page, demo.url, dir);
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
  await demo.end();
}
