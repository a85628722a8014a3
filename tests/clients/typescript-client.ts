// Drives `@modelcontextprotocol/client`, the second line of the official TypeScript client: 2026-07-28 and, where the
// server does not speak it, the revisions before.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Signing } from './sign_in.ts';
import { asked, serve, type Connect } from './steps.ts';

let client: Client;
let open: () => Promise<unknown>;
let signing: Signing | undefined;
let waiting: StreamableHTTPClientTransport | undefined;
let connecting: Promise<unknown> | undefined;

async function connect(step: Connect): Promise<unknown> {
  if (step.sign_in && step.command) return throughProgram(step);
  if (step.sign_in) {
    signing = new Signing();
    await signing.listen();
  }
  open = () => begin(step);
  try {
    return await open();
  } catch (error) {
    if (signing?.visit) return { visit: signing.visit };
    throw error;
  }
}

// A program that signs in by itself and speaks over stdio says on standard error where the person has to go.
async function throughProgram(step: Connect): Promise<unknown> {
  const transport = new StdioClientTransport({ command: step.command!, args: step.arguments ?? [], stderr: 'pipe' });
  const told = new Promise<string>((resolve) => {
    let words = '';
    transport.stderr!.on('data', (chunk) => {
      words += chunk;
      const address = words.match(/https?:\/\/\S+\/auth(?:orize)?\?\S+(?=\s)/);
      if (address) resolve(address[0]);
    });
  });
  connecting = begin(step, transport);
  const visit = await Promise.race([told, connecting.then(() => undefined)]);
  return visit ? { visit } : connecting;
}

async function signedIn(): Promise<unknown> {
  if (connecting) return connecting;
  await waiting!.finishAuth(await signing!.callback());
  return open();
}

async function begin(step: Connect, program?: StdioClientTransport): Promise<unknown> {
  const mode = step.mode ?? 'auto';
  client = new Client({ name: 'typescript-client', version: '2' }, {
    capabilities: step.elicitation ? { elicitation: { form: {}, url: {} } } : {},
    versionNegotiation: { mode: mode === 'auto' || mode === 'legacy' ? mode : { pin: mode } },
  });
  if (step.elicitation) {
    const action = step.elicitation;
    client.setRequestHandler('elicitation/create', async (request) => {
      asked.push(request.params);
      return { action };
    });
  }
  waiting = step.command ? undefined : new StreamableHTTPClientTransport(new URL(step.url!), {
    requestInit: { headers: step.headers ?? {} },
    authProvider: signing,
  });
  await client.connect(program ?? waiting
    ?? new StdioClientTransport({ command: step.command!, args: step.arguments ?? [], stderr: 'ignore' }));
  return {
    revision: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
  };
}

await serve({
  connect,
  signedIn,
  list: () => client.listTools(),
  call: (name, args, timeout) => client.callTool({ name, arguments: args }, { timeout }),
  prompts: () => client.listPrompts(),
  prompt: (name, args) => client.getPrompt({ name, arguments: args }),
  close: () => client.close(),
});
