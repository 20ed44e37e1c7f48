/** What `package.json` says: that of a package, and that of this project about the libraries that it was tried with. */
import { readFileSync } from 'node:fs';

export interface PackageJson {
  name: string;
  version: string;
  devDependencies?: Record<string, string>;
}

/** `redlock@4.2.0`. Some write their version with a "v". */
export function nameAndVersion({ name, version }: PackageJson): string {
  return `${name}@${version.replace(/^v/, '')}`;
}

/** Undefined where there is none. */
export function readPackage(path: string | URL): PackageJson | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as PackageJson;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Of `redlock@4.2.0`: the adapter of one major version is for no other. */
export function nameAndMajor(wanted: string): { name: string; major: string } {
  const at = wanted.lastIndexOf('@');
  return { name: wanted.slice(0, at), major: wanted.slice(at + 1).split('.')[0]! };
}

/** `redlock@4.2.0`, as this project asks npm for it: the same on every machine. */
export function wantedVersion({ installedAs, version }: { installedAs: string; version?: string }): string {
  const wanted = version ?? own()?.devDependencies?.[installedAs];
  if (wanted === undefined) return installedAs;
  const [, alias] = /^npm:(.+@.+)$/.exec(wanted) ?? [];
  return alias ?? `${installedAs}@${wanted}`;
}

/** Beside the sources, and one folder up from the compiled ones. */
function own(): PackageJson | undefined {
  return ['../../package.json', '../../../package.json']
    .map((path) => readPackage(new URL(path, import.meta.url)))
    .find((found) => found?.name === 'lock-torture');
}
