// Prints one line for each revision, scenario and check the suite ran: the worst verdict of the check.
// A note (INFO) judges nothing. Usage: verdicts.mjs <folder with one folder of results for each revision>
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const SEVERITY = ['INFO', 'SUCCESS', 'SKIPPED', 'WARNING', 'FAILURE'];
const results = process.argv[2];
const worst = new Map();
for (const revision of readdirSync(results)) {
  for (const run of readdirSync(join(results, revision))) {
    const scenario = run.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    for (const check of JSON.parse(readFileSync(join(results, revision, run, 'checks.json'), 'utf8'))) {
      const key = [revision, scenario, check.id].join('\t');
      const before = worst.get(key) ?? 'INFO';
      const graver = SEVERITY.indexOf(check.status) > SEVERITY.indexOf(before);
      worst.set(key, graver ? check.status : before);
    }
  }
}
const lines = [...worst].map(([key, status]) => `${key}\t${status}`);
console.log(lines.sort().join('\n'));
