// The conversation every TypeScript driver has with the test that started it: one JSON step a line on standard input,
// one JSON answer a line on standard output, in the same order. What the steps mean is written in README.md.
// Nothing else may be printed there; a driver's own words go to standard error.

import { createInterface } from 'node:readline';

// A client that has something to say says it on the console, and half of the console is standard output.
console.log = console.info = console.debug = console.error;

/** Where a step's server is, and how this client is to present itself there. */
export interface Connect {
  url?: string;
  command?: string;
  arguments?: string[];
  headers?: Record<string, string>;
  mode?: string;
  elicitation?: 'accept' | 'decline' | 'cancel';
  sign_in?: boolean;
}

/** What a driver does for each step; the answer is whatever the official client gave, untouched. */
export interface Driver {
  connect(step: Connect): Promise<unknown>;
  signedIn(): Promise<unknown>;
  list(): Promise<unknown>;
  call(name: string, args: Record<string, unknown>, timeoutMs?: number): Promise<unknown>;
  prompts(): Promise<unknown>;
  prompt(name: string, args: Record<string, string>): Promise<unknown>;
  close(): Promise<void>;
}

/** Questions the server asked through this client since the last step, so that a test can see them. */
export const asked: unknown[] = [];

async function perform(driver: Driver, step: any): Promise<unknown> {
  switch (step.op) {
    case 'connect': return driver.connect(step);
    case 'signed_in': return driver.signedIn();
    case 'list': return driver.list();
    case 'call': return driver.call(step.name, step.arguments ?? {}, step.timeout_ms);
    case 'prompts': return driver.prompts();
    case 'prompt': return driver.prompt(step.name, step.arguments ?? {});
    case 'close': await driver.close(); return null;
    default: throw new Error(`unknown step: ${step.op}`);
  }
}

function describe(error: any): Record<string, unknown> {
  // Some failures of the network hide the reason one level down.
  const reason = error?.cause?.message ? `: ${error.cause.message}` : '';
  return { kind: error?.name ?? 'Error', code: error?.code, message: `${error?.message ?? error}${reason}`, data: error?.data };
}

/** Answers steps until `close` or the end of input. */
export async function serve(driver: Driver): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    const step = JSON.parse(line);
    let answer: Record<string, unknown>;
    try {
      answer = { ok: true, result: (await perform(driver, step)) ?? null };
    } catch (error) {
      answer = { ok: false, error: describe(error) };
    }
    process.stdout.write(`${JSON.stringify({ ...answer, asked: asked.splice(0) })}\n`);
    if (step.op === 'close') break;
  }
  // A client may keep a stream open; the test is done with it.
  process.exit(0);
}
