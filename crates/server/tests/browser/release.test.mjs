// From a data file to published numbers on the planner page, in a real browser. The environment variable COUNTERPOINT
// is the path of the program.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';

const program = resolve(process.env.COUNTERPOINT ?? 'target/debug/counterpoint');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'counterpoint-release-'));
const data = join(folder, 'people.csv');
const out = join(folder, 'published');
const regions = ['north', 'south'];
const people = `id,Net income,region\n${Array.from({ length: 400 }, (_, i) => `${i},${i * 2},${regions[i % 2]}\n`).join('')}`;

let server, address, browser;

before(async () => {
  writeFileSync(data, people);
  server = spawn(program, ['serve', '--data', data, '--out', out], { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise((done) => server.stdout.once('data', (text) => done(String(text))));
  address = /^listening on (http:\/\/127\.0\.0\.1:\d+\/#key=[0-9a-f]{64})\n$/.exec(line)?.[1];
  assert.ok(address, line);
  const args = ['--no-sandbox', '--disable-background-networking', '--disable-component-update'];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });
});

after(async () => {
  await browser?.close();
  server?.kill('SIGINT');
  await new Promise((done) => server?.once('exit', done));
  rmSync(folder, { recursive: true });
});

async function visit(options = {}, where = address) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, ...options });
  const page = await context.newPage();
  page.problems = [];
  page.sent = [];
  page.on('request', (request) => page.sent.push(request.url()));
  page.on('pageerror', (error) => page.problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('422')) page.problems.push(message.text());
  });
  await page.goto(where);
  return page;
}

async function done(page) {
  assert.deepEqual(page.problems, []);
  await page.context().close();
}

const file = (name, text) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
const names = (page) => page.locator('#columns label').allTextContents();
const number = (text) => Number(text.replaceAll(',', '').replace('−', '-'));

/** A study of the file's columns, made by hand. */
async function begun(page) {
  await page.check('input[value=replace]');
  await page.fill('#people', '400');
  await page.click('#take-source');
  await page.selectOption('#column-1', 'numbers');
  await page.getByLabel('net_income: lowest').fill('0');
  await page.getByLabel('net_income: highest').fill('1000');
  await page.selectOption('#column-2', 'groups');
  await page.getByLabel('region: groups, separated by commas').fill('north, south');
  await page.click('#add [data-kind=histogram]');
  await page.fill('#s1-name', 'people by region');
  await page.selectOption('#s1-column', 'region');
  await page.click('#add [data-kind=mean]');
  await page.fill('#s2-name', 'mean income');
  await page.fill('#s2-by', 'region');
  // Errors that are planned quickly.
  await page.fill('#s1-error', '20');
  await page.fill('#s2-error', '60');
  await page.check('input[name=mode][value=fit]');
  await page.fill('#epsilon', '2');
  await page.waitForSelector('#release-now[aria-disabled=false]');
}

async function finished(page, button, title) {
  await page.click(button);
  await page.waitForFunction(
    (wanted) => document.querySelector('#released-title').textContent === wanted && document.querySelector('#releasing').hidden,
    title,
    { timeout: 60000 },
  );
}

const rows = (page) =>
  page.locator('#released-numbers tbody tr').evaluateAll((list) => list.map((row) => [...row.children].map((cell) => cell.textContent)));

test('the page reads only the header line of a file, and sends nothing', async () => {
  const page = await visit();
  await page.evaluate(() => {
    window.read = 0;
    const slice = Blob.prototype.slice;
    Blob.prototype.slice = function (from, to) {
      window.read = Math.max(window.read, to);
      return slice.call(this, from, to);
    };
    for (const whole of ['text', 'stream'])
      Blob.prototype[whole] = () => {
        throw new Error('all of it is read');
      };
  });
  await page.check('input[value=replace]');
  const sent = page.sent.length;
  const long = '1,2,3\n'.repeat(200_000);
  for (const [name, text, expected] of [
    ['a.csv', `id,"Net income, EUR","a ""b""",region\r\n${long}`, ['id', 'net_income_eur', 'a_b', 'region']],
    ['b.csv', `\ufeffAge,Größe,2020\n`.replace('2020', 'y2020'), ['Age', 'gr_e', 'y2020']],
    ['c.csv', `"a;b";c;d\n`, ['a_b', 'c', 'd']],
    ['d.jsonl', `{"x": 1, "y": {"z": 2}}\n{"w": 1}\n`, ['x', 'y']],
  ]) {
    await page.click('#new');
    await page.check('input[value=replace]');
    await page.setInputFiles('#header-file', file(name, text));
    await page.waitForFunction((count) => document.querySelectorAll('#columns label').length === count, expected.length);
    assert.deepEqual(await names(page), expected);
    assert.equal((await page.textContent('#header-note')) !== '', name === 'c.csv', 'semicolons are reported');
  }
  assert.ok((await page.evaluate(() => window.read)) <= 1 << 14);
  for (const [name, text, problem] of [
    ['e.csv', '1,2,3\n', /seems to hold data/],
    ['f.csv', '\n1,2\n', /first line is empty/],
    ['g.csv', '"a,b\nc"\n', /no closing quote/],
    ['h.csv', 'a,b,a\n', /1 and 3 have the same name/],
    ['i.csv', 'a,,b\n', /Column 2 has no name/],
    ['j.jsonl', '[1]\n', /not a JSON object/],
    ['k.parquet', 'PAR1', /Parquet/],
  ]) {
    await page.setInputFiles('#header-file', file(name, text));
    await page.waitForFunction((source) => new RegExp(source).test(document.querySelector('#header-wrong').textContent), problem.source);
  }
  assert.equal(page.sent.length, sent, 'nothing was sent');
  assert.match(await page.textContent('#planner-data'), /Nothing is uploaded/);
  await done(page);
});

test('a study is tried, released, shown, and the same when it is released again', async () => {
  const page = await visit();
  assert.equal(new URL(page.url()).hash, '', 'the key is not left in the address');
  await begun(page);
  await finished(page, '#rehearse-now', 'Made-up numbers');
  assert.match(await page.textContent('#released-cost'), /made-up rows and say nothing about anybody/);
  assert.equal((await rows(page)).length, 4);
  assert.ok(!existsSync(out), 'a rehearsal writes nothing');
  assert.equal(await page.locator('#released-files button').count(), 0, 'and nothing of it can be saved');
  assert.match(await page.textContent('#release-now'), /^Release, and charge ε (1\.\d+|2)$/);
  await finished(page, '#release-now', 'Published numbers');
  const csv = readFileSync(join(out, 'release.csv'), 'utf8');
  const shown = await rows(page);
  const lines = csv
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
  assert.equal(shown.length, lines.length);
  shown.forEach(([name, group, part, value, interval], index) => {
    const [statistic, groups, of, exact, low, high] = lines[index];
    assert.equal(name, statistic);
    assert.equal(group, groups.replace('region=', ''));
    assert.equal(part, of);
    const half = (Number(high) - Number(low)) / 2;
    assert.ok(Math.abs(number(value) - Number(exact)) <= 0.01 * half);
    const [from, to] = interval.split(' to ').map(number);
    assert.ok(from <= Number(low) && to >= Number(high), 'rounded outwards');
  });
  assert.equal(await page.locator('#released-charts svg').count(), 2);
  for (const name of ['release.csv', 'release.json', 'report.html', 'metadata.json']) {
    const download = page.waitForEvent('download');
    await page.click(`#released-files button >> text="${name}"`);
    assert.equal(readFileSync(await (await download).path(), 'utf8'), readFileSync(join(out, name), 'utf8'), name);
  }
  const opened = page.context().waitForEvent('page');
  await page.click('#released-files a');
  const report = await opened;
  await report.waitForSelector('h1');
  assert.match(await report.textContent('body'), /mean income/);
  assert.equal((await report.evaluate(() => getComputedStyle(document.body).maxWidth)) !== 'none', true, 'its style is there');
  await report.close();
  const status = () =>
    JSON.parse(execFileSync(program, ['ledger', '--url', `sqlite:${join(out, 'ledger.db')}`, 'status', '--json'], { encoding: 'utf8' }));
  const spent = status().accounts[0].spent.main;
  await finished(page, '#release-now', 'Published numbers');
  assert.deepEqual(await rows(page), shown);
  assert.equal(readFileSync(join(out, 'release.csv'), 'utf8'), csv);
  assert.equal(status().accounts[0].spent.main, spent, 'charged once');
  await done(page);
});

test('a refusal is one sentence', async () => {
  const page = await visit();
  await begun(page);
  await page.fill('#s1-name', 'others');
  await page.waitForSelector('#release-now[aria-disabled=false]');
  await page.click('#release-now');
  await page.waitForSelector('#release-wrong[role=alert]:visible');
  assert.match(await page.textContent('#release-wrong'), /data set "data"/);
  writeFileSync(data, people.replace('\n1,', '\n7,'));
  await page.fill('#s1-name', 'people by region');
  await page.waitForSelector('#release-now[aria-disabled=false]');
  await page.click('#release-now');
  await page.waitForFunction(() => document.querySelector('#release-wrong').textContent.startsWith('people.csv differs from the file'));
  assert.ok(await page.isHidden('#released'));
  writeFileSync(data, people);
  await done(page);
});

test('without the key the step is not offered', async () => {
  const page = await visit({}, new URL('/', address).href);
  await page.check('input[value=replace]');
  await page.click('#add [data-kind=count]');
  await page.waitForSelector('body.has-plan');
  assert.ok((await page.isHidden('#release')) && (await page.isHidden('#take-source')));
  await done(page);
  const wrong = await visit({}, address.slice(0, -1) + (address.endsWith('0') ? '1' : '0'));
  await wrong.waitForFunction(() => sessionStorage.length === 0);
  assert.ok(await wrong.isHidden('#release'));
  await wrong.context().close();
});

for (const [name, options] of Object.entries({
  light: {},
  dark: { colorScheme: 'dark' },
  narrow: { viewport: { width: 360, height: 740 } },
})) {
  test(`axe finds no barrier: ${name}`, async () => {
    const page = await visit(options);
    const audit = async (state) => {
      const { violations } = await page.evaluate(() => window.axe.run());
      const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.target} ${node.failureSummary}`).join('; ')}`);
      assert.deepEqual(told, [], state);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(over, 0, `${state} is wider than the window`);
    };
    await page.evaluate(axe);
    await begun(page);
    await audit('columns');
    await finished(page, '#rehearse-now', 'Made-up numbers');
    await audit('made up');
    await finished(page, '#release-now', 'Published numbers');
    await audit('published');
    await done(page);
  });
}
