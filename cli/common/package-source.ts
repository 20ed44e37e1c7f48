/**
 * Where the tool's packages come from. This is the one place that says it: `init`, the examples, the documentation and
 * `packages/pack.mjs` take it from here, or are held to it by a test.
 */

export type PackageSource =
  /** Tarballs that `npm run packages` writes in a clone, for a project on this machine. `folder` is where a project keeps them. */
  | { kind: 'files'; folder: string }
  /** The tarballs of a release. `url` is their folder, and ends in the release's version: bytes under one name never change. */
  | { kind: 'release'; url: string };

/** Until there is a release. */
export const SOURCE: PackageSource = { kind: 'files', folder: 'packed' };

export type Manager = 'npm' | 'pnpm' | 'yarn';

/** How each package manager adds a package that only development needs. */
export const ADD: Readonly<Record<Manager, string>> = { npm: 'npm i -D', pnpm: 'pnpm add -D', yarn: 'yarn add -D' };

/** What is typed in a project. `version` is that of the tool, `platform` such as `linux-x64`. */
export function installCommand(
  manager: Manager,
  { version, platform }: { version: string; platform: string },
  source = SOURCE,
): string {
  if (source.kind === 'files') {
    // Yarn classic takes no relative path for a file.
    return `${ADD[manager]} ${manager === 'yarn' ? '$PWD' : '.'}/${source.folder}/*.tgz`;
  }
  return `${ADD[manager]} ${Object.values(dependencies(version, [platform], source)).join(' ')}`;
}

/** The entries of `devDependencies` that this makes: the tool, and its parts in C for each platform. */
export function dependencies(
  version: string,
  platforms: readonly string[],
  source: PackageSource = SOURCE,
): Record<string, string> {
  const place = source.kind === 'files' ? `file:${source.folder}` : versioned(source.url, version);
  return {
    ...Object.fromEntries(
      platforms.map((platform) => [`@lock-torture/${platform}`, `${place}/${tarballOf(version, platform)}`]),
    ),
    'lock-torture': `${place}/${tarballOf(version)}`,
  };
}

/** As npm calls it: of the tool, or of its parts in C for a platform. */
export function tarballOf(version: string, platform?: string): string {
  return `lock-torture-${platform === undefined ? '' : `${platform}-`}${version}.tgz`;
}

/** Throws where the URL does not name the version, because what lies there could be replaced. */
function versioned(url: string, version: string): string {
  if (!url.split('/').some((part) => part === version || part === `v${version}`))
    throw new Error(`${url} does not name version ${version}: bytes under one name never change`);
  return url.replace(/\/$/, '');
}
