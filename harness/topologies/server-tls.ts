/** A Redis server or Sentinel that speaks TLS and nothing else, to its clients and to other servers. */
import type { Host } from '../vocabulary/host.js';
import type { Authority } from '../vocabulary/tls.js';
import type { TopologyContext } from '../vocabulary/topology.js';

/** By a certificate of this authority, for where the server is reached. */
export interface ServerTls {
  authority: Authority;
  addresses: readonly string[];
}

/** In the host's folder, beside the configuration. */
const FILES = { key: 'tls.key', cert: 'tls.crt', ca: 'ca.crt' };

/** Clients need no certificate; other servers show theirs. The port for TLS is not among these. */
export const TLS_CONFIG: readonly string[] = [
  'port 0',
  `tls-key-file ${FILES.key}`,
  `tls-cert-file ${FILES.cert}`,
  `tls-ca-cert-file ${FILES.ca}`,
  'tls-auth-clients no',
  'tls-replication yes',
];

/** Of a server on that host; nothing where there is no authority, and so no TLS. `more`: other addresses that may lead there. */
export function serverTls(
  { address }: Host,
  { authority }: Pick<TopologyContext, 'authority'>,
  more: readonly string[] = [],
): { tls?: ServerTls } {
  return authority ? { tls: { authority, addresses: [address, '127.0.0.1', ...more] } } : {};
}

/** Issues the server's certificate, and lays it where its configuration looks for it. */
export async function writeTlsFiles(host: Host, { authority, addresses }: ServerTls): Promise<void> {
  const { key, cert } = authority.issue(addresses);
  await host.writeFile(FILES.key, key, 0o600);
  await host.writeFile(FILES.cert, cert);
  await host.writeFile(FILES.ca, authority.ca);
}

/** Why a server with `TLS_CONFIG` ended at once, by its last words, where it was built without TLS; with the remedy. */
export function noTlsIn(lastWords: string): string | undefined {
  if (!/tls-(port|replication|key-file)/.test(lastWords)) return undefined;
  return '--tls needs a redis-server that was built with TLS (make BUILD_TLS=yes); name one with --server, such as redis@7.0';
}
