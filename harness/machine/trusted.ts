/** Whether what lies on this machine may be run with the rights of whoever runs the tool. */
import { statSync } from 'node:fs';

/** Of a file or a folder, in words; undefined: only this user, or root, can have written it. Throws where it is not there. */
export function whyNotTrusted(path: string, user = process.geteuid?.()): string | undefined {
  const { uid, mode } = statSync(path);
  if (uid !== 0 && uid !== user) return 'belongs to another user';
  return (mode & 0o002) === 0 ? undefined : 'may be written by everybody (chmod o-w)';
}
