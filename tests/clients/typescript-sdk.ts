// Drives `@modelcontextprotocol/sdk`, the first line of the official TypeScript client: revisions up to 2025-11-25.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Signing } from './sign_in.ts';
import { asked, serve, type Connect } from './steps.ts';

let client: Client;
let open: () => Promise<unknown>;
let signing: Signing | undefined;
let waiting: StreamableHTTPClientTransport | undefined;

async function connect(step: Connect): Promise<unknown> {
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

async function signedIn(): Promise<unknown> {
  const parameters = await signing!.callback();
  await waiting!.finishAuth(parameters.get('code')!);
  return open();
}

async function begin(step: Connect): Promise<unknown> {
  const capabilities = step.elicitation ? { elicitation: { form: {}, url: {} } } : {};
  client = new Client({ name: 'typescript-sdk', version: '1' }, { capabilities });
  if (step.elicitation) {
    const action = step.elicitation;
    client.setRequestHandler(ElicitRequestSchema, async (request) => {
      asked.push(request.params);
      return { action };
    });
  }
  const transport = step.command
    ? new StdioClientTransport({ command: step.command, args: step.arguments ?? [], stderr: 'ignore' })
    : new StreamableHTTPClientTransport(new URL(step.url!), {
        requestInit: { headers: step.headers ?? {} },
        authProvider: signing,
      });
  waiting = transport instanceof StreamableHTTPClientTransport ? transport : undefined;
  // This client keeps the agreed revision to itself but hands it to the transport, so it is overheard there.
  let revision: string | undefined;
  const told = transport as { setProtocolVersion?: (version: string) => void };
  const remember = told.setProtocolVersion?.bind(transport);
  told.setProtocolVersion = (version) => {
    revision = version;
    remember?.(version);
  };
  await client.connect(transport);
  return {
    revision,
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
  };
}

await serve({
  connect,
  signedIn,
  list: () => client.listTools(),
  call: (name, args, timeout) => client.callTool({ name, arguments: args }, undefined, { timeout }),
  prompts: () => client.listPrompts(),
  prompt: (name, args) => client.getPrompt({ name, arguments: args }),
  close: () => client.close(),
});
