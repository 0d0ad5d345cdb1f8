// The planner page in a real browser. The environment variable COUNTERPOINT is the path of the program.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';

const program = resolve(process.env.COUNTERPOINT ?? 'target/debug/counterpoint');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'counterpoint-page-'));
const example = new URL('../../../../examples/study.toml', import.meta.url).pathname;

let server, address, browser;
/** Every host that was ever asked, by any page. */
const hosts = new Set();

before(async () => {
  server = spawn(program, ['serve'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise((done) => server.stdout.once('data', (data) => done(String(data))));
  address = /^listening on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(line)?.[1];
  assert.ok(address, line);
  const args = ['--no-sandbox', '--disable-background-networking', '--disable-component-update'];
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args });
});

after(async () => {
  await browser?.close();
  server?.kill('SIGINT');
  const status = await new Promise((done) => server?.once('exit', done));
  rmSync(folder, { recursive: true });
  assert.equal(status, 0, 'an interrupted server ends as if nothing was wrong');
});

/** A page of its own, watched. */
async function visit(options = {}, where = address) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: address });
  context.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol !== 'blob:') hosts.add(`${protocol}//${host}`);
  });
  const page = await context.newPage();
  page.problems = [];
  page.answers = [];
  page.on('response', (response) => {
    // The page may have been closed before its answer arrives.
    if (response.url().endsWith('/plan') && response.status() === 200) page.answers.push(response.text().catch(() => 'null'));
  });
  page.on('pageerror', (error) => page.problems.push(error.message));
  page.on('console', (message) => {
    // A status of 422 is shown beside the field.
    if (message.type() === 'error' && !message.text().includes('422')) page.problems.push(message.text());
  });
  await page.goto(where);
  return page;
}

/** Does something and waits for the plan that comes of it. */
async function planned(page, act) {
  const before = page.answers.length;
  await act();
  const settled = () => page.evaluate(() => document.querySelector('#cost')?.getAttribute('aria-busy') === 'false');
  for (let look = 0; page.answers.length === before || !(await settled()); look += 1) {
    assert.ok(look < 6000, `no plan: ${await page.locator('.wrong:visible').allTextContents()}`);
    await new Promise((later) => setTimeout(later, 20));
  }
  return JSON.parse(await page.answers.at(-1));
}

async function done(page) {
  assert.deepEqual(page.problems, []);
  await page.context().close();
}

const withExample = async (options) => {
  const page = await visit(options);
  page.plan = await planned(page, () => page.click('#example'));
  return page;
};

async function saved(page, format) {
  await page.check(`input[name=copy][value=${format}]`, { force: true });
  const download = page.waitForEvent('download');
  await page.click('#save');
  const path = join(folder, (await download).suggestedFilename());
  await (await download).saveAs(path);
  return path;
}

const errors = (page) => page.locator('.row .result').allTextContents();

test('a newcomer gets from an empty page to a plan that compose and the ledger accept', async () => {
  const page = await visit();
  assert.ok(!(await page.isVisible('#rows-list')), 'who is protected is asked first');
  await page.getByLabel('What a person’s data say').check();
  await page.fill('#people', '5,000');
  await planned(page, () => page.click('#add [data-kind=mean]'));
  await page.keyboard.type('mean income');
  await page.fill('#s1-bounds-1', '200000');
  await planned(page, () => page.fill('#s1-error', '500'));
  const object = await planned(page, () => page.click('#add [data-kind=histogram]'));
  assert.equal(object.factor, null, 'errors are fixed at first');
  const shown = Number(await page.textContent('#total'));
  assert.ok(shown >= object.epsilon.upper && shown < object.epsilon.upper * 1.001, 'rounded up');
  const [mean] = await errors(page);
  assert.match(mean, /^± (500|499\.\d+)$/);
  const plan = await saved(page, 'plan');
  const composed = JSON.parse(execFileSync(program, ['compose', plan, '--json'], { encoding: 'utf8' }));
  assert.equal(composed.epsilon.upper, object.epsilon.upper);
  // The planner's lower end holds for any noise with these errors, not only for this noise.
  assert.ok(composed.epsilon.lower >= object.epsilon.lower);
  const study = await saved(page, 'study');
  const again = JSON.parse(execFileSync(program, ['plan', study, '--json'], { encoding: 'utf8' }));
  assert.deepEqual(again, object);
  const commands = readFileSync(await saved(page, 'ledger'), 'utf8').split('\n').filter((line) => !line.includes(' commit '));
  const path = `${dirname(program)}:${process.env.PATH}`;
  const run = spawnSync('sh', ['-ec', commands.join('\n')], { cwd: folder, env: { ...process.env, PATH: path }, encoding: 'utf8' });
  assert.equal(run.status, 0, run.stderr);
  assert.match(readFileSync(await saved(page, 'python'), 'utf8'), /cp\.(Laplace|Gaussian)\(.*name="mean income"\)/);
  await done(page);
});

test('the budget is dragged, an error pinned, and the others share the rest', async () => {
  const page = await withExample();
  const first = page.plan.statistics.map((line) => line.error);
  const less = await planned(page, () => page.fill('#epsilon', '0.5'));
  assert.ok(less.epsilon.upper <= 0.5);
  less.statistics.slice(0, 4).forEach((line, index) => assert.ok(line.error > first[index]));
  const pinned = await planned(page, () => page.locator('.pin').first().click());
  assert.equal(pinned.statistics[0].pinned, true);
  assert.ok(Math.abs(pinned.statistics[0].error / less.statistics[0].error - 1) < 0.001);
  assert.equal(await page.locator('.pin').first().getAttribute('aria-pressed'), 'true');
  const dragged = await planned(page, async () => {
    await page.locator('#slider').focus();
    for (let press = 0; press < 40; press += 1) await page.keyboard.press('ArrowRight');
  });
  const budget = Number(await page.inputValue('#epsilon'));
  assert.ok(budget > 1.2 && budget < 1.3 && dragged.epsilon.upper <= budget);
  assert.ok(dragged.statistics[0].error <= pinned.statistics[0].error * 1.001, 'the pinned one stays');
  assert.ok(dragged.statistics[1].error < pinned.statistics[1].error, 'the others have what was gained');
  const typed = await planned(page, () => page.check('input[name=mode][value=errors]'));
  const cheaper = await planned(page, () => page.fill('#s2-error', '0.02'));
  assert.ok(cheaper.epsilon.upper < typed.epsilon.upper, 'the cost follows a typed error');
  const weighted = await planned(page, () => page.check('input[name=mode][value=share]'));
  assert.ok(weighted.sum > 0);
  const heavier = await planned(page, () => page.fill('#s2-weight', '50'));
  assert.ok(heavier.statistics[1].error < weighted.statistics[1].error);
  await done(page);
});

test('a problem is shown beside its field', async () => {
  const page = await withExample();
  const note = async (field) => {
    await page.waitForSelector(`${field}[aria-invalid=true]`);
    const ids = (await page.getAttribute(field, 'aria-describedby')).split(' ');
    const texts = await Promise.all(ids.map(async (id) => (await page.isVisible(`#${id}`)) ? page.textContent(`#${id}`) : ''));
    return texts.join(' ');
  };
  await page.fill('#s3-error', 'abc');
  assert.match(await note('#s3-error'), /The error is "abc"\. Possible: a positive number/);
  await page.fill('#s3-error', '40');
  await page.fill('#s1-bounds-0', '300000');
  assert.match(await note('#s1-bounds-0'), /the first below the second/);
  await planned(page, () => page.fill('#s1-bounds-0', '0'));
  await page.fill('#s1-bounds-0', 'x');
  assert.match(await note('#s1-bounds-0'), /The lower bound is "x"\. Possible: a number\./);
  await page.fill('#s1-bounds-0', '0');
  await page.fill('#s4-shares', '0.5, 2');
  assert.match(await note('#s4-shares'), /The shares: share is 2\. Possible: /);
  await page.fill('#s4-shares', '0.25, 0.5, 0.75');
  await page.click('#s1-row summary');
  await page.fill('#s1-confidence', '2');
  await note('#s1-confidence');
  await page.click('#s1-row summary');
  await page.fill('#s1-name', 'mean income');
  assert.ok(await page.isHidden('#s1-confidence'), 'the problem can be folded away');
  await page.click('#s1-row summary');
  await page.fill('#s1-confidence', '3');
  await page.waitForFunction(() => document.querySelector('#s1-confidence-wrong').textContent === 'The confidence is 3. Possible: above 0 and below 1.');
  await page.fill('#s1-confidence', '');
  await page.fill('#people', '');
  assert.match(await note('#people'), /the error of a mean depends on it/);
  await page.fill('#people', '5000');
  await page.fill('#delta', '2');
  await note('#delta');
  await page.fill('#delta', '1e-6');
  await page.fill('#s5-epsilon', '3');
  assert.match(await note('#epsilon'), /^\s*The budget of epsilon 1 is too small: .* cost at least 3\.00[0-9]{1,4}, /);
  await planned(page, () => page.fill('#s5-epsilon', '0.1'));
  assert.equal(await page.locator('[aria-invalid]').count(), 0);
  await done(page);
});

test('undo and redo, by button and by key', async () => {
  const page = await withExample();
  await page.locator('#s2-row [data-key=remove]').click();
  assert.equal(await page.locator('.row').count(), 4);
  await page.keyboard.press('Control+z');
  assert.equal(await page.locator('.row').count(), 5);
  await page.fill('#s1-name', '');
  await page.type('#s1-name', 'income');
  await page.click('#undo');
  assert.equal(await page.inputValue('#s1-name'), 'mean income');
  await page.click('#redo');
  assert.equal(await page.inputValue('#s1-name'), 'income');
  await page.locator('#s1-row [data-key=down]').click();
  assert.deepEqual(await page.locator('.row .name').evaluateAll((list) => list.slice(0, 2).map((field) => field.value)), ['employed', 'income']);
  assert.ok(await page.locator('#s1-row [data-key=down]').evaluate((button) => button === document.activeElement), 'the focus moves along');
  await done(page);
});

test('a reload keeps the study, a link holds it, and a file brings it back', async () => {
  const page = await withExample();
  const object = await planned(page, () => page.fill('#s1-error', '700'));
  const reloaded = await planned(page, () => page.reload());
  assert.deepEqual(reloaded, object);
  await page.click('#copy-link');
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(link.startsWith(`${address}/#study=`));
  const other = await visit({}, 'about:blank');
  assert.deepEqual(await planned(other, () => other.goto(link)), object);
  assert.equal(new URL(other.url()).hash, '');
  const opened = await planned(other, () => other.setInputFiles('#file', example));
  assert.deepEqual(opened, page.plan, 'TOML');
  await other.setInputFiles('#file', { name: 'bad.toml', mimeType: 'text/plain', buffer: Buffer.from('delta = 1e-6\n[data]\nadjacency = "x"') });
  await other.waitForSelector('#trouble:visible');
  assert.match(await other.textContent('#trouble'), /adjacency is "x"/);
  await done(other);
  await done(page);
});

test('a plan is kept, and what changes is shown beside it', async () => {
  const page = await withExample();
  await page.click('#compare');
  await planned(page, () => page.fill('#epsilon', '0.5'));
  assert.match(await page.textContent('#total-was'), /^was 0\.99\d*, now 0\.\d+ \(−\d+ %\)$/);
  const [, was] = (await page.locator('#s1-row .was-text').textContent()).match(/^was ± ([\d.]+) \(\+\d+ %\)$/);
  const { error } = page.plan.statistics[0];
  assert.ok(Number(was) >= error && Number(was) <= 1.001 * error, `${was} is shown of ${error}`);
  const back = await planned(page, () => page.click('#go-back'));
  assert.deepEqual(back, page.plan);
  assert.equal(await page.locator('#s1-row .was-text').textContent(), 'unchanged');
  const names = await page.locator('#bars th').allTextContents();
  assert.deepEqual(names, ['Sum of epsilons', 'Advanced composition', 'Closed formula (KOV)', 'Counterpoint']);
  await done(page);
});

test('an older request is aborted for a newer one, and long planning is shown', async () => {
  const page = await withExample();
  const dropped = page.waitForEvent('requestfailed');
  await page.route('**/plan', async (route) => {
    if (route.request().postData().includes('"error":123')) return; // It is never answered.
    await route.continue();
  });
  await page.fill('#s1-error', '123');
  await page.waitForSelector('#working:visible');
  const object = await planned(page, () => page.fill('#s1-error', '456'));
  assert.equal((await dropped).failure().errorText, 'net::ERR_ABORTED');
  assert.equal(object.statistics[0].wanted, 456);
  assert.ok(!(await page.isVisible('#working')));
  await done(page);
});

test('by keyboard alone', async () => {
  const page = await visit();
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  const tabTo = async (selector) => {
    for (let presses = 0; presses < 120; presses += 1) {
      if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
      await press('Tab');
    }
    assert.fail(`${selector} cannot be reached`);
  };
  await tabTo('input[name=adjacency]');
  await press('Space');
  await tabTo('#people');
  await page.keyboard.type('800');
  await tabTo('#add [data-kind=count]');
  await planned(page, () => press('Enter'));
  assert.ok(await page.evaluate(() => document.activeElement?.id === 's1-name'), 'the new row has the focus');
  await page.keyboard.type('visitors');
  await tabTo('#s1-error');
  await planned(page, () => page.keyboard.type('12'));
  await tabTo('#s1-row .pin');
  await press('Space');
  assert.ok(await page.evaluate(() => document.activeElement?.matches('#s1-row .pin[aria-pressed=true]')), 'the focus stays');
  await tabTo('#slider');
  await planned(page, () => press('ArrowRight'));
  await tabTo('#copy');
  await press('Enter');
  await page.waitForFunction(() => document.querySelector('#copy')?.textContent === 'Copied');
  const plan = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  assert.equal(plan.release[0].name, 'visitors');
  await done(page);
});

test('all kinds can be planned as they are added', async () => {
  const page = await visit();
  await page.getByLabel('Whether a person takes part').check();
  await page.fill('#people', '20000');
  const kinds = await page.locator('#add button').evaluateAll((list) => list.map((button) => button.dataset.kind));
  assert.equal(kinds.length, 13);
  const object = await planned(page, async () => {
    for (const kind of kinds) await page.click(`#add [data-kind=${kind}]`);
  });
  assert.equal(object.statistics.length, 13);
  await page.click('#s1-row .brief');
  const other = await planned(page, () => page.locator('#s1-row select[data-key=kind]').selectOption('histogram'));
  assert.match(other.statistics[0].name, /^histogram/);
  await done(page);
});

for (const [name, options] of Object.entries({
  light: {}, dark: { colorScheme: 'dark' }, narrow: { viewport: { width: 360, height: 740 } },
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
    await audit('empty');
    await planned(page, () => page.click('#example'));
    await audit('planned');
    await page.click('#compare');
    await planned(page, () => page.fill('#epsilon', '0.5'));
    for (const summary of await page.locator('summary:visible').all()) await summary.click();
    await page.fill('#s3-error', '-1');
    await page.waitForSelector('#s3-error[aria-invalid]');
    await audit('wrong, all of it open');
    await done(page);
  });
}

test('twenty statistics follow an edit', async (context) => {
  const page = await withExample();
  for (let round = 0; round < 5; round += 1) {
    // By keyboard: answers move the elements below them, so a pointer may miss them.
    for (const kind of ['count', 'mean', 'histogram']) await page.press(`#add [data-kind=${kind}]`, 'Enter');
  }
  await page.click('#s7-row .brief');
  await planned(page, () => page.fill('#s7-error', '3'));
  await page.evaluate(() => performance.clearMeasures());
  for (const error of [4, 5, 6, 7, 8]) await planned(page, () => page.fill('#s7-error', String(error)));
  const times = await page.evaluate(() => performance.getEntriesByName('edit-to-answer').map((entry) => Math.round(entry.duration)));
  assert.equal(await page.locator('.row').count(), 20);
  assert.ok(times.length >= 5);
  context.diagnostic(`from an edit to its answer, 20 statistics: ${times.join(', ')} ms`);
  await done(page);
});

test('no request left the machine', () => {
  assert.deepEqual([...hosts], [address]);
});
