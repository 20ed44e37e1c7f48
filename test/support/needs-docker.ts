/**
 * What the tests of the docker runtime need: an engine, and images of which they may make hosts. Where all is required, and where
 * images are named for them, nothing is skipped: what is missing there fails.
 */
import { resolve } from 'node:path';
import { DEFAULT_CLIENT_IMAGE, findEngine, provideImages } from '../../docker/index.js';
import { services } from '../../harness/topologies/services.js';
import { isAllRequired, skipWhere } from './needs.js';

const ROOT = resolve(import.meta.dirname, '../..');
const { LOCK_TORTURE_TEST_IMAGE } = process.env;

export const bases = {
  image: LOCK_TORTURE_TEST_IMAGE ?? services.redis.inContainers.image,
  clientImage: LOCK_TORTURE_TEST_IMAGE ?? DEFAULT_CLIENT_IMAGE,
};

const isRequired = isAllRequired || LOCK_TORTURE_TEST_IMAGE !== undefined;

/** Why there can be no test; undefined where there is all that they need, or must be. */
export const noDocker: string | undefined = isRequired
  ? undefined
  : await findEngine()
      .then((engine) =>
        provideImages(engine, bases, services.redis.inContainers, ROOT, (line) => process.stderr.write(`${line}\n`)),
      )
      .then(
        () => undefined,
        (error: Error) => error.message,
      );

/** Options of tests that need containers. */
export const containers = skipWhere(noDocker === undefined ? undefined : 'no containers');

/** For the tool's command line. */
export const inContainers = ['--runtime', 'docker', '--image', bases.image, '--client-image', bases.clientImage];
