// Runs `oidc-provider` as an issuer outside: whoever types a name is signed in as that person of the org `north`.
// Its argument is `resources` to answer resource indicators (RFC 8707), or `fixed` for an issuer that puts one audience of
// its own into every token. It listens on the port `PORT`.

import { Provider } from 'oidc-provider';

const audiences = process.argv[2];
const scopes = ['org:read', 'org:write', 'playbook:read', 'playbook:write', 'org:admin'];

const port = Number(process.env.PORT);

const provider = new Provider(`http://localhost:${port}`, {
  scopes: ['openid', 'offline_access', 'email', 'profile', ...scopes],
  claims: { openid: ['sub', 'name', 'email', 'email_verified', 'org_id', 'org_role'] },
  // Studio learns who signed in from the ID token alone.
  conformIdTokenClaims: false,
  // Studio itself. A native client may return to any port of this machine.
  clients: ['acme', 'issuer'].map((name) => ({
    client_id: `studio-${name}`,
    client_secret: 'a-secret-of-studio',
    redirect_uris: [`http://localhost/sign-in/upstream/${name}/callback`],
    token_endpoint_auth_method: 'client_secret_basic',
  })),
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => 'https://api.playmaker.test',
      useGrantedResource: () => true,
      getResourceServerInfo: (_context: unknown, resource: string) => ({
        scope: scopes.join(' '),
        audience: audiences === 'fixed' ? 'https://api.playmaker.test' : resource,
        accessTokenFormat: 'jwt',
        accessTokenTTL: 900,
        jwt: { sign: { alg: 'RS256' } },
      }),
    },
  },
  // What the server under test reads its orgs, roles and names from.
  extraTokenClaims: (_context: unknown, token: any) => ({
    org_id: 'north',
    org_role: token.accountId === 'viewer' ? 'viewer' : 'admin',
    name: `Person ${token.accountId}`,
    email: `${token.accountId}@north.test`,
    email_verified: true,
  }),
  findAccount: (_context: unknown, id: string) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      name: `Person ${id}`,
      email: `${id}@north.test`,
      email_verified: true,
      org_id: 'north',
      org_role: id === 'viewer' ? 'viewer' : 'admin',
    }),
  }),
  pkce: { required: () => true },
  // Clients that return to this machine come back on whatever port is free.
  clientDefaults: { token_endpoint_auth_method: 'none', application_type: 'native' },
  clientBasedCORS: () => true,
  issueRefreshToken: () => true,
  ttl: { AccessToken: 900, Grant: 3600, IdToken: 900, Interaction: 3600, Session: 3600 },
  cookies: { keys: ['a-key-of-a-test'] },
} as any);

provider.listen(port, '127.0.0.1');
