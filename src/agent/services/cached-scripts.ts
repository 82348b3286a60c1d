import type { Clock } from '#base/clock.ts';
import { AppError, shown } from '#base/errors.ts';
import { isRecord, jsonIn } from '#base/fields.ts';
import { sha256 } from '#base/sha256.ts';
import { dir } from '#contract/paths.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import type { Files, ScriptRunner } from '../ports.ts';

export interface ScriptCache {
  files: Files;
  clock: Clock;
  bootId(): Promise<string>;
  /** Of the services that are being brought up. */
  version: string;
}

export const scriptCacheFile = `${dir.k}\\wicd-scripts.json`;

const limitMs = 5 * 60 * 1000;
const maxCached = 100;
const maxOutput = 16 * 1024;

/**
 * Runs a script once for each boot and version, and never for longer than allowed: scripts take seconds of a processor, and
 * passes are frequent. One that fails, or does not give the one line that is expected, runs again the next time.
 */
export function cachedScripts(runner: ScriptRunner, cache: ScriptCache): ScriptRunner {
  const { files, clock, version } = cache;
  return {
    async run(text, signal, expected) {
      const bootId = await cache.bootId();
      const known = outputsOf(await files.read(scriptCacheFile), bootId, version);
      const key = sha256(text);
      const before = known.get(key);
      if (before !== undefined) return before;
      const error = () => tooLong(text);
      const run = (deadline: AbortSignal) => runner.run(text, deadline, expected);
      const output = await withDeadline({ clock, ms: limitMs, error, signal }, run);
      if (output.length > maxOutput || (expected === 'one line' && !isOneLine(output))) return output;
      const outputs = Object.fromEntries([...known, [key, output]].slice(-maxCached));
      await files.write(scriptCacheFile, `${JSON.stringify({ bootId, version, outputs }, undefined, 2)}\n`);
      return output;
    },
  };
}

/** What is still good: nothing after a boot or a change of version, and nothing that cannot be read. */
function outputsOf(text: string | undefined, bootId: string, version: string): Map<string, string> {
  const cache = jsonIn(text ?? '');
  if (!isRecord(cache) || cache['bootId'] !== bootId || cache['version'] !== version) return new Map();
  const outputs = isRecord(cache['outputs']) ? Object.entries(cache['outputs']) : [];
  return new Map(outputs.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function isOneLine(output: string): boolean {
  return /^[^\r\n]+$/.test(output.trim());
}

function tooLong(text: string): AppError {
  return new AppError('SCRIPT_TIMEOUT', `script ${shown(text)} did not end within ${limitMs} ms`, {
    remedy: 'Run the script on the host by hand to see what it waits for.',
  });
}
