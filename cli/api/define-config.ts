import type { Settings } from '../../harness/vocabulary/settings.js';

/** Returns `settings` as they are; it is there so that an editor checks and completes what a `lock-torture.config.ts` says. */
export function defineConfig(settings: Settings): Settings {
  return settings;
}
