/** What a Redis server's INFO says of itself. */

/** ms since 1970; undefined where it does not tell. Sentinels do not know TIME, and INFO tells microseconds, too. */
export function clockMsIn(info: unknown): number | undefined {
  const usec = field(info, 'server_time_usec');
  return usec === undefined ? undefined : Number(usec) / 1_000;
}

/** For people. Valkey goes on telling the version of Redis that it is compatible with. */
export function versionIn(info: unknown): string {
  const valkey = field(info, 'valkey_version');
  const redis = field(info, 'redis_version') ?? 'unknown';
  return valkey === undefined ? redis : `${redis} (Valkey ${valkey})`;
}

function field(info: unknown, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S+)`, 'm').exec(String(info))?.[1];
}
