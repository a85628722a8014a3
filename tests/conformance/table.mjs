// Checks table.md against the expected verdicts: each scenario has a row, and each cell says what the verdicts say.
// "pass": some check of the scenario succeeds and none fails or warns; "n/a": otherwise; "—": the revision has no such
// scenario.
// Usage: table.mjs <this folder>
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2];
const judged = ['product', 'fixture', 'authorization'];
const faults = [];

/** Whether a scenario passes whole, by "revision scenario". */
function verdicts(name) {
  const statuses = new Map();
  for (const line of readFileSync(join(folder, `${name}.tsv`), 'utf8').trim().split('\n')) {
    const [revision, scenario, , status] = line.split('\t');
    const key = `${revision} ${scenario}`;
    statuses.set(key, [...(statuses.get(key) ?? []), status]);
  }
  const passes = (found) => found.includes('SUCCESS') && !found.some((one) => ['FAILURE', 'WARNING'].includes(one));
  return new Map([...statuses].map(([key, found]) => [key, passes(found)]));
}

const text = readFileSync(join(folder, 'table.md'), 'utf8');
for (const name of judged) {
  const [, section] = text.split(new RegExp(`^## The ${name}\\b.*$`, 'm'));
  const expected = verdicts(name);
  const found = new Set();
  let revisions = [];
  for (const line of (section ?? '').split(/^## /m)[0].split('\n')) {
    const cells = line.split('|').slice(1, -1).map((cell) => cell.trim());
    if (cells[0] === 'Scenario') revisions = cells.slice(1);
    if (!cells[0]?.startsWith('`')) continue;
    const scenario = cells[0].replaceAll('`', '');
    for (const [index, revision] of revisions.entries()) {
      const key = `${revision} ${scenario}`;
      found.add(key);
      const said = cells[index + 1].split(' ')[0];
      const passes = expected.get(key);
      const right = passes === undefined ? '—' : passes ? 'pass' : 'n/a';
      if (said !== right) faults.push(`${name}: ${key} is ${right}, the table says ${said}`);
      const reasons = cells[index + 1].match(/\d+/g) ?? [];
      if (right === 'n/a' && reasons.length === 0) faults.push(`${name}: ${key} has no reason`);
      for (const reason of reasons) if (!text.includes(`\n| ${reason} |`)) faults.push(`${name}: no reason ${reason}`);
    }
  }
  for (const key of expected.keys()) if (!found.has(key)) faults.push(`${name}: ${key} is not in the table`);
}
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
