// A person signs in: the client sends them to an address, and they come back to a port of this program with a code.
// The address goes to the test, which has a browser; everything between is the official client's own doing.

import { createServer } from 'node:http';

/** What an `OAuthClientProvider` of either official client has to keep, and the place the person comes back to. */
export class Signing {
  /** Where the person has to go, once the client knows. */
  visit: string | undefined;
  redirectUrl = '';
  private information: any;
  private held: any;
  private verifier = '';
  private came!: Promise<URLSearchParams>;

  /** Opens the port of the callback. */
  async listen(): Promise<void> {
    const server = createServer();
    this.came = new Promise((resolve) => {
      server.on('request', (request, response) => {
        const url = new URL(request.url!, this.redirectUrl);
        if (url.pathname !== '/callback') {
          response.writeHead(404).end();
          return;
        }
        response.writeHead(200, { 'content-type': 'text/plain' }).end('You can close this window.');
        server.close();
        resolve(url.searchParams);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.redirectUrl = `http://127.0.0.1:${(server.address() as any).port}/callback`;
  }

  /** What the person brought back. */
  async callback(): Promise<URLSearchParams> {
    const parameters = await this.came;
    if (!parameters.get('code')) throw new Error(`no code: ${parameters}`);
    return parameters;
  }

  get clientMetadata(): any {
    return {
      client_name: 'An official client',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }

  state(): string {
    return 'state-of-the-test';
  }

  clientInformation(): any {
    return this.information;
  }

  saveClientInformation(information: any): void {
    this.information = information;
  }

  tokens(): any {
    return this.held;
  }

  saveTokens(tokens: any): void {
    this.held = tokens;
  }

  redirectToAuthorization(url: URL): void {
    this.visit = url.toString();
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.verifier;
  }
}
