/** What a run's authority signs must be what any client of TLS takes, and nothing more than that. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { type ConnectionOptions, connect, createServer } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { makeAuthority } from '../../../../harness/machine/authority.js';

const NOW_MS = Date.now();
const ended: (() => void)[] = [];
afterEach(() => {
  for (const end of ended.splice(0)) end();
});

/** How a client's handshake with a server that was issued `addresses` ends: `ok`, or the error's code. */
async function shakesHands(addresses: readonly string[], options: ConnectionOptions): Promise<string> {
  const { ca, issue } = makeAuthority(NOW_MS);
  const server = createServer(issue(addresses)).on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  ended.push(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const client = connect({ host: '127.0.0.1', port, ca, ...options });
  ended.push(() => void client.destroy());
  return new Promise((done) => {
    client.once('secureConnect', () => done('ok'));
    client.once('error', (error) => done((error as NodeJS.ErrnoException).code!));
  });
}

test('a client that has the authority trusts a server at its addresses', async () => {
  expect(await shakesHands(['10.0.0.7', '127.0.0.1'], {})).toBe('ok');
});

test('a client that has it not, or has that of another run, trusts nobody', async () => {
  const signature = ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'SELF_SIGNED_CERT_IN_CHAIN', 'CERT_SIGNATURE_FAILURE'];
  expect(signature).toContain(await shakesHands(['127.0.0.1'], { ca: [] }));
  expect(signature).toContain(await shakesHands(['127.0.0.1'], { ca: makeAuthority(NOW_MS).ca }));
});

test('a server at another address is not trusted', async () => {
  expect(await shakesHands(['10.0.0.7'], {})).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
});

test('certificates name who issued them, and end two days from now', () => {
  const { ca, issue } = makeAuthority(NOW_MS);
  const { cert, key } = issue(['10.0.0.7', 'r1.example']);
  const [authority, server] = [ca, cert].map((pem) => new X509Certificate(pem)) as [X509Certificate, X509Certificate];
  expect(authority.ca).toBe(true);
  expect(server.ca).toBe(false);
  expect(server.checkIssued(authority)).toBe(true);
  expect(server.verify(authority.publicKey)).toBe(true);
  expect(server.subjectAltName).toBe('IP Address:10.0.0.7, DNS:r1.example');
  expect(server.checkPrivateKey(createPrivateKey(key))).toBe(true);
  const days = [server.validFrom, server.validTo].map((date) => Math.round((Date.parse(date) - NOW_MS) / 86_400_000));
  expect(days).toEqual([-2, 2]);
});

test('dates after 2049 have years of four digits', () => {
  const { validFrom } = new X509Certificate(makeAuthority(Date.UTC(2060, 0, 10)).ca);
  expect(new Date(validFrom).toISOString()).toBe('2060-01-08T00:00:00.000Z');
});

test('every authority has a key of its own, and so has every server', () => {
  const [one, other] = [makeAuthority(NOW_MS), makeAuthority(NOW_MS)];
  expect(one.ca).not.toBe(other.ca);
  expect(one.issue(['10.0.0.7']).key).not.toBe(one.issue(['10.0.0.7']).key);
});
