// Takes screenshots of the pages: node shots.mjs ADDRESS FOLDER [--disk] [--analyst TOKEN --owner TOKEN]
import { chromium } from 'playwright-core';
import { readFileSync } from 'node:fs';
const [address, folder] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const web = new URL('../../web/', import.meta.url);
const types = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml', html: 'text/html' };
/** Reads a file of the pages; a page includes its shared parts. */
function readAsset(file) {
  const text = readFileSync(new URL(file, web), 'utf8');
  return file.endsWith('.html') ? text.replace(/<!-- (\S+\.html) -->/g, (_, part) => readAsset(part)) : text;
}
async function shot(name, { width, at = '/', height = 900, dark = false, act = async () => {}, full = true }) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' });
  page.on('console', (m) => m.type() === 'error' && console.log(name, m.text()));
  page.on('pageerror', (e) => console.log(name, e.message));
  if (process.argv.includes('--disk')) await page.route('**/*', (route) => {
    const path = new URL(route.request().url()).pathname;
    if (route.request().method() !== 'GET' || path.startsWith('/v1/')) return route.continue();
    const file = path === '/' ? 'index.html' : path.slice(1);
    return route.fulfill({ body: readAsset(file), contentType: types[file.split('.').pop()] });
  });
  await page.goto(address + at);
  await act(page);
  await page.waitForTimeout(150);
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: full });
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (over > 0) console.log(name, 'is wider than the window by', over);
  await page.close();
}
const tokenOf = (role) => process.argv[process.argv.indexOf(`--${role}`) + 1];
const curated = process.argv.includes('--analyst');
const enter = async (page, role) => {
  await page.fill('#token', tokenOf(role));
  await page.keyboard.press('Enter');
  await page.waitForSelector('#inside:visible');
};
const ask = async (page, sql, epsilon) => {
  await page.fill('#amount', epsilon);
  await page.fill('#sql', sql);
  await page.click('#ask:not([aria-disabled=true])');
  await page.waitForSelector('#answer:visible');
  await page.waitForTimeout(700);
};
const groups = async (page) => {
  await enter(page, 'analyst');
  await ask(page, 'SELECT region, COUNT(*) AS n, AVG(cost)\nFROM visits\nGROUP BY region', '0.5');
};
const bins = async (page) => {
  await enter(page, 'analyst');
  await ask(page, 'SELECT HISTOGRAM(age, 0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100), MEDIAN(age)\nFROM visits', '0.3');
};
if (curated) {
  const at = '/console.html';
  await shot('console-login', { width: 1280, at, act: async (page) => {
    await page.fill('#token', 'cpt_wrong');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#token-wrong:visible');
  } });
  await shot('console', { width: 1360, at, act: groups });
  await shot('console-dark', { width: 1360, at, dark: true, act: bins });
  await shot('console-narrow', { width: 360, at, act: groups });
  await shot('console-middle', { width: 820, at, act: bins });
  await shot('console-wrong', { width: 1360, at, act: async (page) => {
    await enter(page, 'analyst');
    await page.fill('#sql', 'SELECT MAX(age) FROM visits');
    await page.waitForSelector('#sql-wrong:visible');
  } });
  await shot('console-over', { width: 1360, at, act: async (page) => {
    await enter(page, 'analyst');
    await page.fill('#amount', '9');
    await page.fill('#sql', 'SELECT COUNT(*) FROM visits');
    await page.waitForSelector('#price-wrong:visible');
  } });
  const owner = async (page) => { await enter(page, 'owner'); await page.click('#verify'); await page.waitForTimeout(500); };
  await shot('owner', { width: 1360, at: '/owner.html', act: owner });
  await shot('owner-dark', { width: 1360, at: '/owner.html', dark: true, act: async (page) => { await owner(page); await page.check('input[value=sequence]', { force: true }); await page.selectOption('#events', 'all'); } });
  await shot('owner-narrow', { width: 360, at: '/owner.html', act: owner });
}
const example = async (page) => { await page.click('#example'); await page.waitForSelector('body.has-plan'); };
await shot('start', { width: 1280 });
await shot('light', { width: 1360, act: example });
await shot('dark', { width: 1360, dark: true, act: example });
await shot('narrow', { width: 360, act: example });
await shot('middle', { width: 820, act: example });
await shot('whatif', { width: 1360, act: async (page) => {
  await example(page);
  await page.click('#compare');
  await page.fill('#epsilon', '0.6');
  await page.waitForTimeout(1500);
  await page.locator('.pin').first().click();
  await page.fill('#s3-error', 'abc');
  await page.waitForTimeout(1500);
} });
await shot('begun', { width: 1280, act: (page) => page.check('input[value=replace]') });
await shot('one', { width: 1280, act: async (page) => {
  await page.check('input[value=replace]');
  await page.fill('#people', '5000');
  await page.click('#add [data-kind=mean]');
  await page.waitForSelector('body.has-plan');
} });
await shot('phone-dark', { width: 390, height: 1500, dark: true, full: false, act: async (page) => { await example(page); await page.evaluate(() => scrollTo(0, 850)); } });
await shot('phone', { width: 360, height: 740, full: false, act: async (page) => { await example(page); await page.evaluate(() => scrollTo(0, 620)); } });
await browser.close();
