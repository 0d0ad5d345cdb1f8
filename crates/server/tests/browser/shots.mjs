// Screenshots for whoever changes the page: node shots.mjs ADDRESS FOLDER [--disk]
import { chromium } from 'playwright-core';
import { readFileSync } from 'node:fs';
const [address, folder] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const web = new URL('../../web/', import.meta.url);
const types = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml', html: 'text/html' };
async function shot(name, { width, height = 900, dark = false, act = async () => {}, full = true }) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' });
  page.on('console', (m) => m.type() === 'error' && console.log(name, m.text()));
  page.on('pageerror', (e) => console.log(name, e.message));
  if (process.argv.includes('--disk')) await page.route('**/*', (route) => {
    const path = new URL(route.request().url()).pathname;
    if (route.request().method() !== 'GET') return route.continue();
    const file = path === '/' ? 'index.html' : path.slice(1);
    return route.fulfill({ body: readFileSync(new URL(file, web)), contentType: types[file.split('.').pop()] });
  });
  await page.goto(address);
  await act(page);
  await page.waitForTimeout(150);
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: full });
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (over > 0) console.log(name, 'is wider than the window by', over);
  await page.close();
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
