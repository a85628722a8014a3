// Drives `@modelcontextprotocol/client`, the second line of the official TypeScript client: 2026-07-28 and, where the
// server does not speak it, the revisions before.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { asked, serve, type Connect } from './steps.ts';

let client: Client;

async function connect(step: Connect): Promise<unknown> {
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
  await client.connect(step.command
    ? new StdioClientTransport({ command: step.command, args: step.arguments ?? [], stderr: 'ignore' })
    : new StreamableHTTPClientTransport(new URL(step.url!), { requestInit: { headers: step.headers ?? {} } }));
  return {
    revision: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
  };
}

await serve({
  connect,
  list: () => client.listTools(),
  call: (name, args, timeout) => client.callTool({ name, arguments: args }, { timeout }),
  prompts: () => client.listPrompts(),
  prompt: (name, args) => client.getPrompt({ name, arguments: args }),
  close: () => client.close(),
});
