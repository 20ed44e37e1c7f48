/** The client of Redis' own package for Node, which is the user's: the tool does not bring it. */

// biome-ignore lint/suspicious/noTsIgnore: where the package is there is no error to expect.
/** @ts-ignore: `any` in a project without the package `redis`. */
export type NodeRedis = import('redis').RedisClientType;
