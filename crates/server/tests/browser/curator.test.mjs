// The analyst's console and the owner's page in a real browser. The environment variable COUNTERPOINT is the path of
// the program.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';

const program = resolve(process.env.COUNTERPOINT ?? 'target/debug/counterpoint');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const servers = [];
let address, tokens, browser;
/** Every host that was ever asked, by any page. */
const hosts = new Set();

/** Starts the program, and reads what it prints until it listens. */
async function serve(...more) {
  const server = spawn(program, ['serve', ...more], { stdio: ['ignore', 'pipe', 'inherit'] });
  servers.push(server);
  let text = '';
  for await (const data of server.stdout) {
    text += data;
    const found = /^listening on (http:\/\/127\.0\.0\.1:\d+)$/m.exec(text);
    if (found) return { address: found[1], tokens: Object.fromEntries([...text.matchAll(/^token \S+ (\S+) (\S+)$/gm)].map(([, name, token]) => [name, token])) };
  }
  return assert.fail(`the program does not listen: ${text}`);
}

before(async () => {
  ({ address, tokens } = await serve('--demo'));
  const args = ['--no-sandbox', '--disable-background-networking', '--disable-component-update'];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });
});

after(async () => {
  await browser?.close();
  for (const server of servers) {
    const ended = new Promise((done) => server.once('exit', done));
    server.kill('SIGINT');
    await ended;
  }
});

async function context(options = {}) {
  const made = await browser.newContext({ viewport: { width: 1360, height: 900 }, ...options });
  made.on('request', (request) => hosts.add(new URL(request.url()).origin));
  return made;
}

/** A page, watched. */
async function visit(path, options = {}, within = null, from = address) {
  const page = await (within ?? await context(options)).newPage();
  page.problems = [];
  page.on('pageerror', (error) => page.problems.push(error.message));
  page.on('dialog', (dialog) => { page.problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('console', (message) => {
    // The page shows refusals.
    if (message.type() === 'error' && !/status of 4\d\d|ERR_FAILED/.test(message.text())) page.problems.push(message.text());
  });
  page.asked = 0;
  page.on('request', (request) => { if (request.url().endsWith('/v1/questions')) page.asked += 1; });
  await page.goto(from + path);
  return page;
}

async function done(page) {
  assert.deepEqual(page.problems, []);
  assert.equal(new URL(page.url()).search + new URL(page.url()).hash, '', 'nothing is in the address');
  await page.context().close();
}

async function enter(page, who) {
  await page.fill('#token', tokens[who] ?? who);
  await page.click('#login button');
}

async function inside(path, who, options, within) {
  const page = await visit(path, options, within);
  await enter(page, who);
  await page.waitForSelector('#inside:visible');
  return page;
}

const console_ = (who, options, within) => inside('/console.html', who, options, within);

/** Writes a question, and waits for its price. */
async function price(page, sql, epsilon) {
  if (epsilon !== undefined) await page.fill('#amount', String(epsilon));
  await page.fill('#sql', sql);
  await page.waitForFunction(() => document.querySelector('#cost').textContent !== '–' && !document.querySelector('.stale'));
}

async function ask(page) {
  const answered = page.waitForResponse((response) => response.url().endsWith('/v1/questions'));
  await page.click('#ask');
  const response = await answered;
  await page.waitForFunction(() => document.querySelector('#ask').textContent !== 'Asking …');
  return response.json();
}

/** The numbers in a row's cells, or a table's. */
async function cells(row) {
  const texts = (of) => of.allTextContents();
  return Promise.all((await row.locator('td').all()).map(async (cell) => {
    const [value] = await texts(cell.locator('.value'));
    const [half = ''] = await texts(cell.locator('.half'));
    const [interval] = await texts(cell.locator('.interval'));
    return { value: number(value), half: number(half.replace(' ± ', '')), interval: interval.split(' to ').map(number) };
  }));
}

/** What is left of an account, from the service itself. */
async function left(who) {
  const response = await fetch(`${address}/v1/accounts/${who}`, { headers: { Authorization: `Bearer ${tokens[who]}` } });
  return (await response.json()).left.amount;
}

const near = (one, other) => Math.abs(one - other) < 1e-9;
const number = (text) => Number(text.replaceAll(',', '').replace('−', '-'));

/** The half-width of integer noise with P(x) ∝ e^(−|x|/scale): the first w with P(|X| > w) ≤ 1 − confidence. */
function halfWidth(scale, confidence) {
  const ratio = Math.exp(-1 / scale);
  let width = 0;
  while ((2 * ratio ** (width + 1)) / (1 + ratio) > 1 - confidence) width += 1;
  return width;
}

test('an analyst logs in, asks a question, and repeats it free of charge', async () => {
  const page = await visit('/console.html');
  assert.ok(await page.isHidden('#inside'));
  await enter(page, 'ann');
  await page.waitForSelector('#inside:visible');
  assert.equal(await page.textContent('#who'), 'ann, analyst');
  assert.match(await page.textContent('#accounts'), /ann\s*3 of 3 epsilon left/);
  assert.equal(await page.locator('#accounts .meter').count(), 1);
  const stored = await page.evaluate(() => [Object.values(sessionStorage), Object.values(localStorage), document.cookie]);
  assert.deepEqual(stored, [[tokens.ann], [], ''], 'this tab alone keeps the token');

  await page.fill('#sql', 'SELECT COUNT(*) FROM ');
  await page.click('.word >> text="visits"');
  assert.equal(await page.inputValue('#sql'), 'SELECT COUNT(*) FROM visits');
  await page.type('#sql', ' WHERE');
  await page.click('.word >> text="region"');
  await page.type('#sql', ' =');
  await page.click('.word >> text="north"');
  assert.equal(await page.inputValue('#sql'), "SELECT COUNT(*) FROM visits WHERE region = 'north'".replace(" = '", " ='"));
  await price(page, 'SELECT COUNT(*) FROM visits', 0.5);
  assert.equal(await page.textContent('#cost'), '0.5');
  // Three rows of a person are used, so the noise of a count has scale 3 / ε.
  const width = halfWidth(3 / 0.5, 0.95);
  assert.equal(await page.textContent('#expected'), `COUNT(*) ± ${width}`);
  assert.equal(await page.textContent('#ask'), 'Ask for 0.5 epsilon');
  assert.ok(near(await left('ann'), 3), 'a price costs nothing');

  const tried = page.waitForResponse((response) => response.url().endsWith('/v1/rehearsals'));
  await page.click('#rehearse');
  assert.equal((await (await tried).json()).dummy, true);
  await page.waitForFunction(() => document.querySelector('#paid').textContent.startsWith('This answer was free. It was computed from made-up rows'));
  assert.ok(near(await left('ann'), 3), 'a rehearsal costs nothing');
  assert.equal(await page.locator('#asked').isVisible(), false);

  const answer = await ask(page);
  assert.equal(answer.repeated, false);
  const [{ value }] = answer.answers;
  assert.equal(await page.textContent('#numbers thead'), 'COUNT(*)');
  const [cell, ...others] = await cells(page.locator('#numbers tbody'));
  assert.deepEqual([cell, others], [{ value, half: width, interval: [value - width, value + width] }, []]);
  assert.equal(await page.locator('#charts svg[role=img] .dot').count(), 1);
  const said = await page.locator('#charts svg').getAttribute('aria-label');
  assert.ok(said.startsWith(`COUNT(*): ${value.toLocaleString('en')}, from `), said);
  assert.match(await page.textContent('#paid'), /^This answer cost 0\.5 epsilon\. The account has 2\.5 of 3 epsilon left\.$/);
  assert.ok(near(await left('ann'), 2.5));

  await page.waitForFunction(() => document.querySelector('#ask').textContent === 'Ask again for free');
  const again = await ask(page);
  assert.deepEqual([again.repeated, again.answers], [true, answer.answers]);
  await price(page, 'SELECT AVG(age) FROM visits', 0.25);
  const repeated = page.waitForResponse((response) => response.url().endsWith('/v1/questions'));
  await page.locator('#asked-list button').first().click();
  assert.deepEqual((await (await repeated).json()).answers, answer.answers);
  assert.equal(await page.inputValue('#sql'), 'SELECT COUNT(*) FROM visits');
  assert.ok(near(await left('ann'), 2.5), 'asked again, it is free');

  await page.reload();
  await page.waitForSelector('#inside:visible');
  assert.equal(await page.locator('#asked-list li').count(), 1, 'the tab remembers');
  await page.click('#forget');
  await page.waitForSelector('#login:visible');
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  assert.ok(await page.isHidden('#inside'));
  await done(page);
});

test('groups are dots with intervals, histograms are bars, and medians have an interval', async () => {
  const page = await console_('ann');
  await price(page, 'SELECT region, COUNT(*) AS n, AVG(cost) FROM visits GROUP BY region', 0.2);
  assert.match(await page.textContent('#expected'), /AVG\(cost\): the error depends on the number of rows/);
  const { answers } = await ask(page);
  assert.equal(answers.length, 8);
  assert.equal(await page.locator('#charts svg').count(), 2);
  assert.equal(await page.locator('#charts .dot').count(), 8);
  assert.deepEqual(await page.locator('#charts svg').first().locator('.label').allTextContents(), ['north', 'east', 'south', 'west']);
  assert.deepEqual(await page.locator('#numbers thead th').allTextContents(), ['region', 'n', 'AVG(cost)']);
  const rows = await page.locator('#numbers tbody tr').all();
  assert.equal(rows.length, 4, 'a row for each group');
  for (const row of rows) {
    const group = await row.locator('th').textContent();
    const found = await cells(row);
    for (const [index, name] of ['n', 'AVG(cost)'].entries()) {
      const one = answers.find((each) => each.name === name && each.group[0] === group);
      const { value, interval: [low, high] } = found[index];
      assert.ok(low <= one.interval[0] && high >= one.interval[1] && low > one.interval[0] - 1 - 0.01 * one.half_width, 'rounded outwards');
      assert.ok(Math.abs(value - one.value) <= 0.01 * one.half_width);
    }
  }
  const download = page.waitForEvent('download');
  await page.click('#save-csv');
  const [head, ...lines] = readFileSync(await (await download).path(), 'utf8').trim().split('\n').map((line) => line.split(','));
  assert.deepEqual(head, ['region', 'n', 'n lower', 'n upper', 'AVG(cost)', 'AVG(cost) lower', 'AVG(cost) upper', 'confidence']);
  assert.deepEqual(lines, ['north', 'east', 'south', 'west'].map((group) => {
    const of = ['n', 'AVG(cost)'].map((name) => answers.find((one) => one.name === name && one.group[0] === group));
    return [group, ...of.flatMap((one) => [one.value, ...one.interval].map(String)), '0.95'];
  }), 'all digits');
  await price(page, 'SELECT HISTOGRAM(age, 0, 25, 50, 100), MEDIAN(age) FROM visits', 0.2);
  assert.ok(await page.isVisible('#ranks'));
  const asked = await ask(page);
  const median = asked.answers.at(-1);
  assert.ok(median.interval[0] <= median.value && median.value <= median.interval[1], 'a median has an interval');
  assert.equal(await page.locator('#charts .block').count(), 3);
  assert.equal(await page.locator('#charts .whisker').count(), 3);
  // The bars have positive heights.
  const heights = await page.locator('#charts .block').evaluateAll((list) => list.map((rect) => Number(rect.getAttribute('height'))));
  assert.ok(heights.every((height) => height > 0));
  assert.match(await page.textContent('#meaning'), /Each interval contains the number without noise with a probability of 95 %\.$/, 'every number has an interval');
  await done(page);
});

test('a form writes the SQL', async () => {
  const page = await console_('cleo');
  await page.click('#builder summary');
  const written = () => page.inputValue('#sql');
  await page.selectOption('#b-of', 'AVG');
  await page.selectOption('#b-column', 'cost');
  await page.selectOption('#b-by', 'region');
  await page.selectOption('#b-where', 'age');
  await page.fill('#b-low', '18');
  assert.equal(await written(), 'SELECT region, AVG(cost)\nFROM visits\nWHERE age BETWEEN 18 AND 100\nGROUP BY region');
  await page.fill('#b-epsilon', '0.25');
  await page.waitForFunction(() => document.querySelector('#cost').textContent === '0.25');
  assert.equal(await page.inputValue('#amount'), '0.25');
  await page.selectOption('#b-where', 'region');
  await page.selectOption('#b-is', 'south');
  await page.selectOption('#b-by', '');
  for (const of of ['COUNT', 'SUM', 'MEDIAN', 'VARIANCE', 'STDDEV', 'HISTOGRAM', 'PROPORTION']) {
    await page.selectOption('#b-of', of);
    const sql = await written();
    assert.ok(sql.startsWith(`SELECT ${of}(`) && sql.endsWith("WHERE region = 'south'"), sql);
    await page.waitForFunction(() => !document.querySelector('.stale') && document.querySelector('#ask').getAttribute('aria-disabled') === 'false');
    assert.ok(await page.isHidden('#sql-wrong'), `${sql}: ${await page.textContent('#sql-wrong')}`);
  }
  await done(page);
});

test('names are completed by keyboard and by pointer', async () => {
  const page = await console_('cleo');
  const fits = () => page.locator('#fits li').allTextContents();
  await page.focus('#sql');
  await page.keyboard.type('SELECT COUNT(*) FROM vi');
  assert.deepEqual(await fits(), ['visits']);
  await page.keyboard.press('ArrowDown');
  assert.equal(await page.getAttribute('#sql', 'aria-activedescendant'), 'fits-0');
  await page.keyboard.press('Enter');
  assert.equal(await page.inputValue('#sql'), 'SELECT COUNT(*) FROM visits');
  assert.ok(await page.isHidden('#fits'));
  await page.keyboard.type(" WHERE region = 's");
  await page.click('#fits li >> text="\'south\'"');
  assert.equal(await page.inputValue('#sql'), "SELECT COUNT(*) FROM visits WHERE region = 'south'");
  await page.keyboard.type('\ngr');
  assert.deepEqual(await fits(), ['GROUP BY']);
  await page.keyboard.press('Escape');
  assert.ok(await page.isHidden('#fits'));
  await page.keyboard.press('Enter');
  assert.ok((await page.inputValue('#sql')).endsWith('gr\n'), 'without a choice Enter is a new line');
  await page.keyboard.press('Control+z');
  await done(page);
});

test('an unknown token is refused and not stored', async () => {
  const page = await visit('/console.html');
  for (const wrong of [`cpt_${'0'.repeat(64)}`, 'nonsense', 'Ünicode ✓', '<b>x</b>']) {
    await enter(page, wrong);
    await page.waitForSelector('#token-wrong[role=alert]:visible');
    assert.match(await page.textContent('#token-wrong'), /unknown or revoked|is not a token/);
    await page.fill('#token', '');
  }
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  assert.ok(await page.isHidden('#inside'));
  await done(page);
});

test('a problem of the SQL is shown beside the editor', async () => {
  const page = await console_('cleo');
  const wrong = async (sql, pattern) => {
    await page.fill('#sql', sql);
    await page.waitForFunction((source) => new RegExp(source).test(document.querySelector('#sql-wrong').textContent), pattern.source);
    assert.equal(await page.getAttribute('#sql', 'aria-invalid'), 'true');
    assert.ok((await page.getAttribute('#sql', 'aria-describedby')).includes('sql-wrong'));
    assert.equal(await page.getAttribute('#ask', 'aria-disabled'), 'true');
    assert.equal(await page.textContent('#ask'), 'Ask');
    await page.click('#ask', { force: true });
    await page.press('#sql', 'Control+Enter');
  };
  await wrong('SELECT MAX(age) FROM visits', /MAX\(age\) is not understood\. Possible: COUNT/);
  await wrong('SELECT COUNT(*) FROM elsewhere', /Table "elsewhere" does not exist/);
  await wrong('SELEC', /is not SQL/);
  await price(page, 'SELECT COUNT(*) FROM visits', 0.1);
  assert.ok(await page.isHidden('#sql-wrong'));
  for (const amount of ['abc', '-1', '', '0']) {
    await page.fill('#amount', amount);
    await page.waitForSelector('#amount[aria-invalid]');
    assert.match(await page.textContent('#amount-wrong'), amount === '' ? /^Epsilon is empty\. Possible: a positive number\.$/ : /^Epsilon is ".+"\. Possible: a positive number\.$/);
    assert.equal(await page.getAttribute('#ask', 'aria-disabled'), 'true');
  }
  await page.fill('#amount', '0.1');
  await page.selectOption('#pay', 'error');
  await page.fill('#amount', '30');
  await page.waitForFunction(() => document.querySelector('#expected').textContent.includes('COUNT(*) ±'));
  const width = number((await page.textContent('#expected')).replace('COUNT(*) ± ', ''));
  assert.ok(width <= 30 && width > 28, 'the error that was wanted');
  assert.equal(page.asked, 0);
  assert.ok(near(await left('cleo'), 3));
  await done(page);
});

const remedy = (fits) =>
  `Possible: at most what is left; one of these still fits: ${fits}; try more noise or fewer releases (price says what they cost), or another account.`;

test('a question over the budget is refused before it is asked', async () => {
  const page = await console_('cleo');
  await page.fill('#amount', '7');
  await page.fill('#sql', 'SELECT COUNT(*) FROM visits');
  await page.waitForSelector('#price-wrong:visible');
  assert.equal(await page.textContent('#price-wrong'), `Refused by account "cleo": 7 of epsilon is asked for and 3 is left of 3. ${remedy('the same with 2.334 times the noise, a pure release of epsilon 3')}`);
  assert.equal(await page.getAttribute('#ask', 'aria-disabled'), 'true');
  await page.click('#ask', { force: true });
  await page.press('#sql', 'Control+Enter');
  assert.equal(page.asked, 0);
  assert.ok(near(await left('cleo'), 3));
  await done(page);
});

test('two tabs share a budget, and a question of one tab is free in the other', async () => {
  const shared = await context();
  const one = await console_('ben', {}, shared);
  const other = await visit('/console.html', {}, shared);
  assert.ok(await other.isVisible('#login'), 'the token is of one tab alone');
  await enter(other, 'ben');
  await other.waitForSelector('#inside:visible');
  await price(one, 'SELECT COUNT(*) FROM visits', 2);
  await price(other, 'SELECT COUNT(*) FROM visits WHERE age > 50', 2);
  const answer = await ask(one);
  assert.equal((await ask(other)).code, 'over-budget');
  await other.waitForSelector('#trouble[role=alert]:visible');
  assert.equal(await other.textContent('#trouble'), `Refused by account "ben": 2 of epsilon is asked for and 1 is left of 3. ${remedy('the same with 2 times the noise, a pure release of epsilon 1')}`);
  await other.waitForSelector('#price-wrong:visible');
  await price(other, 'SELECT COUNT(*) FROM visits', 2);
  await other.waitForFunction(() => document.querySelector('#ask').textContent === 'Ask again for free');
  const same = await ask(other);
  assert.deepEqual([same.repeated, same.answers], [true, answer.answers]);
  assert.ok(await other.isHidden('#trouble'));
  assert.ok(near(await left('ben'), 1));
  assert.deepEqual(one.problems, []);
  await done(other);
});

test('a lost answer is fetched under the same key and charged once', async () => {
  const page = await console_('cleo');
  const keys = [];
  let losses = 1;
  await page.route('**/v1/questions', async (route) => {
    keys.push(route.request().postDataJSON().key);
    const response = await route.fetch();
    if (losses-- > 0) await route.abort();
    else await route.fulfill({ response });
  });
  await price(page, 'SELECT COUNT(*) FROM visits WHERE age > 20', 0.25);
  await page.click('#ask');
  await page.waitForSelector('#answer:visible');
  assert.equal(keys.length, 2);
  assert.equal(keys[0], keys[1]);
  assert.match(keys[0], /^[0-9a-f-]{36}$/);
  assert.ok(near(await left('cleo'), 2.75));
  assert.equal(await page.evaluate(() => sessionStorage.getItem('counterpoint.open')), null);

  // Lost twice: the question is stored, even during a reload, until its answer arrives.
  losses = 2;
  keys.length = 0;
  await price(page, 'SELECT COUNT(*) FROM visits WHERE age > 21', 0.25);
  await page.click('#ask');
  await page.waitForSelector('#trouble:visible');
  assert.match(await page.textContent('#trouble'), /^The server does not answer\. Is counterpoint serve still running\?$/);
  await page.reload();
  await page.waitForSelector('#trouble:visible');
  assert.match(await page.textContent('#trouble'), /sent the question before, but no answer arrived/);
  assert.equal(await page.inputValue('#sql'), 'SELECT COUNT(*) FROM visits WHERE age > 21');
  await page.click('#ask:not([aria-disabled=true])');
  await page.waitForSelector('#answer:visible');
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
  assert.ok(near(await left('cleo'), 2.5));
  // Another question has another key.
  await price(page, 'SELECT COUNT(*) FROM visits WHERE age > 22', 0.25);
  await ask(page);
  assert.equal(new Set(keys).size, 2);
  await done(page);
});

test('a question that is no longer free is not asked again before its price is shown', async () => {
  const page = await console_('cleo');
  await page.evaluate(() => sessionStorage.setItem('counterpoint.asked.cleo.cleo', JSON.stringify([
    { question: { account: 'cleo', sql: 'SELECT COUNT(*) FROM visits WHERE age > 77', confidence: 0.95, epsilon: 0.5 }, cost: '0.5 epsilon' },
  ])));
  await page.reload();
  await page.click('#asked-list button');
  await page.waitForSelector('#trouble:visible');
  assert.equal(await page.textContent('#trouble'), 'This question is no longer free. It now costs 0.5 epsilon.');
  assert.equal(await page.textContent('#ask'), 'Ask for 0.5 epsilon');
  assert.equal(page.asked, 0);
  await done(page);
});

test('a price belongs to the text in the editor', async () => {
  const page = await console_('cleo');
  await price(page, 'SELECT COUNT(*) FROM visits', 0.1);
  const before = await left('cleo');
  // After an edit, and before the new price arrives, no question can be asked.
  await page.route('**/v1/prices', () => {});
  await page.fill('#amount', '2');
  assert.equal(await page.textContent('#ask'), 'Ask');
  await page.click('#ask', { force: true });
  await page.press('#sql', 'Control+Enter');
  assert.equal(page.asked, 0);
  assert.equal(await left('cleo'), before);
  await done(page);
});

test('a name with markup is text', async () => {
  const page = await console_('ann');
  const name = '<img src=x onerror=alert(1)>';
  await price(page, `SELECT region, COUNT(*) AS "${name}" FROM visits GROUP BY region`, 0.1);
  assert.match(await page.textContent('#expected'), /^<img src=x onerror=alert\(1\)> ± \d+$/);
  await ask(page);
  assert.equal(await page.locator('#numbers thead th').last().textContent(), name);
  assert.equal(await page.locator('#charts figcaption').textContent(), name);
  assert.ok((await page.textContent('#asked-list')).includes(name));
  assert.equal(await page.locator('main img').count(), 0);
  await done(page);
});

test('slots of a plan are offered, and names of tables are text and are quoted', async () => {
  const page = await visit('/console.html');
  const left = { amount: 3, of: 4, unit: 'releases', delta: 0, more: null, words: '3 of 4 releases' };
  const slots = [{ name: 'weekly <b>', count: 3, used: 1 }, { name: 'once', count: 1, used: 1 }];
  await page.route('**/v1/accounts', (route) => route.fulfill({ json: { accounts: [{ name: 'ann', kind: 'plan', parent: 'visits', left, charges: 1, closed: false, slots }] } }));
  await page.route('**/v1/tables', (route) => route.fulfill({ json: { tables: [{
    name: 'Order "x" <i>', person: null, rows: 1, groups: 1, adjacency: 'replace', people: null,
    columns: [{ name: 'group', categories: ["o'clock", -3] }, { name: 'a', bounds: [-1, 1] }],
  }] } }));
  const asked = [];
  await page.route('**/v1/prices', (route) => {
    asked.push(route.request().postDataJSON());
    return route.fulfill({ json: { cost: { amount: 1, unit: 'releases', delta: 0 }, left, affordable: true, refusal: null, free: false, epsilon: 1, rho: null, expected: [] } });
  });
  await enter(page, 'ann');
  await page.waitForSelector('#inside:visible');
  assert.ok(await page.isVisible('#slot') && await page.isHidden('#amount'));
  assert.deepEqual(await page.locator('#slot option').allTextContents(), ['weekly <b> (1 of 3 used)', 'once (1 of 1 used)']);
  for (const word of ['Order "x" <i>', 'group', "o'clock", '-3', 'a']) await page.locator('.word').getByText(word, { exact: true }).click();
  assert.equal(await page.inputValue('#sql'), `"Order ""x"" <i>" "group" 'o''clock' -3 a`);
  await page.waitForFunction(() => document.querySelector('#ask').textContent === 'Ask for 1 release');
  assert.equal(asked.at(-1).slot, 'weekly <b>');
  assert.ok(!('epsilon' in asked.at(-1)));
  assert.equal(await page.locator('main b:not(#who):not(#accounts b):not(#slot-list b), main i').count(), 0);
  await done(page);
});

test('the owner sees accounts, spending and history, and verifies the ledger', async () => {
  const page = await inside('/owner.html', 'olga');
  assert.equal(await page.textContent('#who'), 'olga, owner');
  assert.match(await page.locator('#tree > li').textContent(), /^visits data set, filter sums9.824 of 10 epsilon given to accounts/);
  assert.equal(await page.locator('#tree > li > ul > li').count(), 4);
  assert.match(await page.locator('#tree ul > li').nth(1).textContent(), /^ben account, filter sums2 of 3 epsilon spent/);
  assert.ok(await page.isVisible('#none-pending'));
  const captions = await page.locator('#spending figcaption').allTextContents();
  assert.ok(captions.includes('visits: 9.824 of 10 epsilon in 4 charges') && captions.includes('ben: 2 of 3 epsilon in 1 charge'), captions.join());
  const path = () => page.locator('#spending .stairs').first().getAttribute('d');
  const byTime = await path();
  await page.check('input[name=axis][value=sequence]', { force: true });
  assert.notEqual(await path(), byTime);
  // Three accounts were opened under the data set, each for 3 of 10: three equal steps. The account of the class, for 0.824, is the fourth.
  const ups = [...(await path()).matchAll(/V([\d.]+)/g)].map(([, y]) => Number(y));
  assert.equal(ups.length, 4);
  assert.ok(near(ups[0] - ups[1], ups[1] - ups[2]) && ups[0] > ups[1]);
  const first = await page.locator('#history tbody tr').first().locator('td').allTextContents();
  const last = await page.locator('#history tbody tr').last().locator('td').allTextContents();
  assert.ok(Number(first[0]) > Number(last[0]), 'newest first');
  assert.ok(first[2].startsWith('question chargedSELECT '), `the question itself: ${first[2]}`);
  await page.selectOption('#of', 'ben');
  const rows = await page.locator('#history tbody tr').allTextContents();
  assert.equal(rows.length, 2);
  assert.match(rows[0], /question chargedSELECT [\s\S]*ben\s*ben\s*q-[0-9a-f]{12}…\s*2 epsilon$/);
  await page.selectOption('#of', '');
  await page.selectOption('#events', 'all');
  assert.match(await page.locator('#history tbody tr').last().textContent(), /ledger created/);
  await page.click('#verify');
  await page.waitForFunction(() => document.querySelector('#verified').textContent.startsWith('Verified: '));
  assert.match(await page.textContent('#verified'), /^Verified: every balance agrees with the \d+ entries of the history\.$/);
  assert.ok(await page.isHidden('#verify-wrong'));
  await done(page);
  const auditor = await inside('/owner.html', 'otto');
  assert.equal(await auditor.textContent('#who'), 'otto, auditor');
  assert.ok(await auditor.isHidden('#owners'), 'accounts and tokens are the owner’s');
  await done(auditor);
});

test('the owner sees pending charges, pages of a long history, and a failed verification', async () => {
  const page = await visit('/owner.html');
  const entries = Array.from({ length: 121 }, (_, index) => ({
    sequence: index + 1, hash: 'ab', event: 'reserve', at: 1_700_000_000 + index, account: 'ann', key: `<b>${index}`, analyst: '<img src=x onerror=alert(1)>',
    release: {}, charge: { main: '0.01', delta: '0' },
  }));
  for (const { key, account, at } of entries.slice(0, 119)) entries.push({ sequence: entries.length + 1, hash: 'ab', event: 'commit', at: at + 1, account, key });
  await page.route(/\/v1\/history\?/, (route) => {
    const after = Number(new URL(route.request().url()).searchParams.get('after'));
    const part = entries.slice(after, after + 100);
    return route.fulfill({ json: { head: '240:abc', entries: part, next: after + 100 < entries.length ? part.at(-1).sequence : null } });
  });
  await page.route('**/v1/verify', (route) => route.fulfill({ json: { head: '240:abc', verified: false, problem: 'entry 7 has another hash' } }));
  await enter(page, 'olga');
  await page.waitForSelector('#inside:visible');
  assert.equal(await page.locator('#pending li').count(), 2);
  assert.match(await page.textContent('#pending'), /<img src=x onerror=alert\(1\)>, key <b>120/);
  assert.ok(await page.isHidden('#none-pending'));
  assert.match(await page.locator('#history tbody tr').first().textContent(), /^121.*question charged, not answered yet/);
  assert.equal(await page.textContent('#place'), '1 to 50 of 121');
  await page.click('#newer', { force: true });
  assert.equal(await page.textContent('#place'), '1 to 50 of 121');
  await page.click('#older');
  await page.click('#older');
  await page.click('#older', { force: true });
  assert.equal(await page.textContent('#place'), '101 to 121 of 121');
  assert.match(await page.locator('#history tbody tr').last().textContent(), /^1/);
  await page.click('#verify');
  await page.waitForSelector('#verify-wrong[role=alert]:visible');
  assert.equal(await page.textContent('#verify-wrong'), 'Verification failed: entry 7 has another hash');
  assert.equal(await page.textContent('#verified'), '');
  assert.equal(await page.locator('main img').count(), 0);
  await done(page);
});

test('the owner opens an account of slots and creates its token; the analyst exchanges slots', async () => {
  const page = await inside('/owner.html', 'olga');
  assert.equal(await page.locator('#token-list tbody tr').count(), 6);
  assert.ok(!(await page.textContent('#token-list')).includes('cpt_'));
  await page.fill('#account-name', 'emma');
  await page.fill('#account-epsilon', '5');
  await page.click('#new-account button');
  await page.waitForSelector('#account-wrong[role=alert]:visible');
  assert.match(await page.textContent('#account-wrong'), /^Refused by data set "visits": /);
  const plan = { delta: 0, release: [{ name: 'weekly', mechanism: 'approx-dp', epsilon: 0.05, count: 2 }] };
  await page.setInputFiles('#account-plan', { name: 'plan.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(plan)) });
  await page.click('#new-account button');
  await page.waitForFunction(() => document.querySelector('#tree').textContent.includes('emma account, plan0 of 2 releases used'));
  await page.fill('#token-name', 'emma');
  await page.check('#token-choices input[value=emma]');
  await page.click('#new-token button');
  await page.waitForSelector('#made:visible');
  const token = await page.textContent('#made-token');
  assert.match(token, /^cpt_[0-9a-f]{64}$/);
  await page.waitForFunction(() => document.activeElement?.id === 'made-title');
  await page.click('#made-gone');
  assert.ok(!(await page.content()).includes(token), 'it is shown once');
  assert.equal(await page.locator('#token-list tbody tr').count(), 7);

  await page.fill('#token-name', 'nobody');
  await page.click('#new-token button');
  await page.waitForSelector('#made:visible');
  const empty = await console_(await page.textContent('#made-token'));
  assert.match(await empty.textContent('#trouble'), /^This token allows no account, so it cannot ask questions\./);
  await done(empty);

  const analyst = await console_(token);
  assert.match(await analyst.textContent('#slot-list'), /^weekly 2 of 2 openings left approx-dp, epsilon 0\.05$/);
  await analyst.click('#recut summary');
  await analyst.fill('#give-0', '1');
  const made = (name) => `[data-made="0-${name}"]`;
  await analyst.fill(made('name'), 'daily');
  await analyst.fill(made('count'), '2');
  await analyst.fill(made('one'), '0.03');
  await analyst.click('#recut-try');
  await analyst.waitForSelector('#recut-wrong[role=alert]:visible');
  assert.match(await analyst.textContent('#recut-wrong'), /not shown to be covered/);
  await analyst.fill(made('one'), '0.025');
  assert.ok(await analyst.isHidden('#recut-wrong'));
  await analyst.click('#recut-try');
  await analyst.waitForFunction(() => document.querySelector('#recut-said').textContent === 'This exchange is allowed. Nothing has changed yet.');
  assert.match(await analyst.textContent('#slot-list'), /2 of 2 openings left/);
  await analyst.click('#recut-now');
  await analyst.waitForFunction(() => document.querySelector('#slot-list').textContent.includes('daily 2 of 2 openings left'));
  assert.match(await analyst.textContent('#slot-list'), /weekly 1 of 2 openings left/);
  assert.deepEqual(await analyst.locator('#slot option').allTextContents(), ['daily (0 of 2 used)', 'weekly (1 of 2 used)']);
  await analyst.evaluate(axe);
  const { violations } = await analyst.evaluate(() => window.axe.run());
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target)}`), []);
  await done(analyst);

  await page.locator('#token-list tr', { hasText: 'emma' }).locator('button').click();
  await page.waitForFunction(() => document.querySelector('#token-list').textContent.includes('revoked'));
  const gone = await visit('/console.html');
  await enter(gone, token);
  await gone.waitForSelector('#token-wrong:visible');
  await done(gone);
  await done(page);
});

test('sessions are opened, asked and ended', async () => {
  const page = await console_('cleo');
  const before = await left('cleo');
  await page.click('#session-form >> xpath=.. >> summary');
  const open = async (key, kind, epsilon, answers, threshold) => {
    await page.fill('#session-key', key);
    await page.selectOption('#session-kind', kind);
    await page.fill('#session-epsilon', String(epsilon));
    await page.fill('#session-answers', String(answers));
    if (threshold !== undefined) await page.fill('#session-threshold', String(threshold));
    await page.click('#session-form button');
    await page.waitForFunction((name) => document.querySelector('#session-said').textContent.startsWith(`Session ${name} is open`), key);
  };
  await open('large', 'sparse_vector', 0.01, 1, -1e6);
  assert.ok(near(before - await left('cleo'), 0.03), 'three times epsilon');
  const item = (key) => page.locator('#session-list > li', { hasText: key });
  await item('large').locator('form button').click();
  await page.waitForFunction(() => document.querySelector('.replies')?.textContent.includes('above'));
  assert.match(await item('large').textContent(), /; 1 question answered; ended/);
  assert.equal(await item('large').locator('form').count(), 0, 'it answers nothing more');
  await open('steps', 'sequence', 0.02, 2);
  await item('steps').locator('input').nth(1).fill('0.02');
  await item('steps').locator('form button').click();
  await page.waitForFunction(() => /number -?\d/.test(document.querySelector('#session-said').textContent));
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target)}`), []);
  await item('steps').getByRole('button', { name: 'End session steps' }).click();
  await page.waitForFunction(() => document.querySelector('#session-said').textContent === 'Session steps has ended. Its cost is not refunded.');
  await page.fill('#session-key', 'dear');
  await page.fill('#session-epsilon', 'x');
  await page.click('#session-form button');
  await page.waitForSelector('#session-wrong[role=alert]:visible');
  assert.equal(await page.textContent('#session-wrong'), 'Epsilon is "x". Possible: a number.');
  assert.equal(await page.getAttribute('#session-epsilon', 'aria-invalid'), 'true');
  await page.fill('#session-epsilon', '50');
  await page.click('#session-form button');
  await page.waitForFunction(() => document.querySelector('#session-wrong').textContent.startsWith('Refused by account "cleo"'));
  assert.equal(await page.getAttribute('#session-epsilon', 'aria-invalid'), null);
  await done(page);
  const owner = await inside('/owner.html', 'olga');
  assert.ok(await owner.isVisible('#none-pending'), 'a session that has begun is not an unanswered question');
  await owner.selectOption('#of', 'cleo');
  const events = await owner.locator('#history tbody tr td:nth-child(3)').allTextContents();
  assert.equal(events.filter((event) => event === 'session charged').length, 2, events.join());
  await owner.selectOption('#events', 'all');
  const all = await owner.locator('#history tbody tr td:nth-child(3)').allTextContents();
  assert.ok(all.includes('session begun') && all.includes('session ended'), all.join());
  await done(owner);
});

test('a token of another role is refused with an explanation', async () => {
  const page = await console_('ann');
  await page.click('nav >> text=Owner');
  await page.waitForSelector('#token-wrong:visible');
  assert.equal(await page.textContent('#token-wrong'), 'ann’s token is an analyst’s. This page is for owners and auditors. Analysts use the Console page.');
  assert.ok(await page.isHidden('#inside'));
  await page.click('nav >> text=Console');
  await page.waitForSelector('#inside:visible');
  await page.click('#forget');
  await page.waitForSelector('#login:visible');
  await enter(page, 'olga');
  await page.waitForSelector('#token-wrong:visible');
  assert.match(await page.textContent('#token-wrong'), /^olga’s token is an owner’s\. The console is for analysts/);
  await page.click('nav >> text=Planner');
  await page.waitForSelector('h1:has-text("Plan a private release")');
  assert.deepEqual(page.problems, []);
  await page.context().close();
});

test('without a curator the pages say so', async () => {
  const plain = await serve();
  for (const path of ['/console.html', '/owner.html']) {
    const page = await visit(path, {}, null, plain.address);
    await enter(page, 'ann');
    await page.waitForSelector('#token-wrong:visible');
    assert.match(await page.textContent('#token-wrong'), /^This server has no curator, so nobody can log in\. Start the server with counterpoint serve --demo or counterpoint serve --config FILE\.$/);
    await done(page);
  }
  hosts.delete(plain.address);
});

test('by keyboard alone', async () => {
  const page = await visit('/console.html');
  const tabTo = async (selector) => {
    for (let presses = 0; presses < 80; presses += 1) {
      if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
      await page.keyboard.press('Tab');
    }
    assert.fail(`${selector} cannot be reached`);
  };
  await tabTo('#token');
  await page.keyboard.type(tokens.ann);
  await page.keyboard.press('Enter');
  await page.waitForSelector('#inside:visible');
  assert.ok(await page.evaluate(() => document.activeElement?.id === 'inside-title'), 'the focus goes along');
  await tabTo('#sql');
  await page.keyboard.type('SELECT COUNT(*) FROM visits WHERE year = 2024');
  await page.waitForSelector('#ask[aria-disabled=false]');
  await tabTo('#ask');
  await page.keyboard.press('Enter');
  await page.waitForSelector('#answer:visible');
  assert.match(await page.textContent('#live'), /^Answered: 1 number, for 0\.1 epsilon$/);
  assert.ok(await page.evaluate(() => document.activeElement?.id === 'ask'), 'the focus stays');
  await tabTo('#asked-list button');
  await tabTo('#forget');
  await tabTo('.word');
  await page.keyboard.press('Enter');
  assert.match(await page.inputValue('#sql'), /2024 visits$/);
  await done(page);
});

for (const [name, options] of Object.entries({
  light: {}, dark: { colorScheme: 'dark' }, narrow: { viewport: { width: 360, height: 740 } },
})) {
  test(`axe finds no barrier: ${name}`, async () => {
    const audit = async (page, state) => {
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run());
      const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.target} ${node.failureSummary}`).join('; ')}`);
      assert.deepEqual(told, [], state);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(over, 0, `${state} is wider than the window`);
    };
    const page = await visit('/console.html', options);
    await audit(page, 'the login form');
    await enter(page, 'wrong');
    await page.waitForSelector('#token-wrong:visible');
    await audit(page, 'a wrong token');
    await enter(page, 'ann');
    await page.waitForSelector('#inside:visible');
    await audit(page, 'an empty console');
    await price(page, 'SELECT region, COUNT(*) AS n, AVG(cost) FROM visits GROUP BY region', 0.2);
    await ask(page);
    await page.waitForTimeout(400); // The price is shown again without being faint.
    await audit(page, 'an answer');
    await price(page, 'SELECT HISTOGRAM(age, 0, 25, 50, 100), MEDIAN(age) FROM visits', 0.2);
    await ask(page);
    await page.fill('#sql', 'SELECT MAX(age) FROM visits');
    await page.waitForSelector('#sql-wrong:visible');
    await page.waitForTimeout(400);
    await audit(page, 'a histogram and a problem of the SQL');
    await done(page);
    const owner = await inside('/owner.html', 'olga', options);
    await owner.click('#verify');
    await owner.waitForFunction(() => document.querySelector('#verified').textContent.startsWith('Verified: '));
    await owner.selectOption('#events', 'all');
    await audit(owner, 'the owner’s page');
    await done(owner);
  });
}

test('no request left the machine', () => {
  assert.deepEqual([...hosts], [address]);
});
