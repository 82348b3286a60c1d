import { isRecord, jsonIn } from '#base/fields.ts';
import { sha256 } from '#base/sha256.ts';
import { dir } from '#contract/paths.ts';
import type { Files, ScriptRunner } from '../ports.ts';

export interface ScriptCache {
  files: Files;
  bootId(): Promise<string>;
  /** Of the services being started. */
  version: string;
}

export const scriptCacheFile = `${dir.k}\\wicd-scripts.json`;

const maxCached = 100;
const maxOutput = 16 * 1024;

/**
 * Runs a script once for each boot and version, because scripts take seconds and passes are frequent. One that fails, or
 * does not print the one line that is expected, runs again the next time.
 */
export function cachedScripts(runner: ScriptRunner, cache: ScriptCache): ScriptRunner {
  const { files, version } = cache;
  return {
    async run(text, signal, expected) {
      const bootId = await cache.bootId();
      const known = outputsOf(await files.read(scriptCacheFile), bootId, version);
      const key = sha256(text);
      const before = known.get(key);
      if (before !== undefined) return before;
      const output = await runner.run(text, signal, expected);
      if (output.length > maxOutput || (expected === 'one line' && !isOneLine(output))) return output;
      const outputs = Object.fromEntries([...known, [key, output]].slice(-maxCached));
      await files.write(scriptCacheFile, `${JSON.stringify({ bootId, version, outputs }, undefined, 2)}\n`);
      return output;
    },
  };
}

/** Empty after a boot or a change of version, and when the file cannot be parsed. */
function outputsOf(text: string | undefined, bootId: string, version: string): Map<string, string> {
  const cache = jsonIn(text ?? '');
  if (!isRecord(cache) || cache['bootId'] !== bootId || cache['version'] !== version) return new Map();
  const outputs = isRecord(cache['outputs']) ? Object.entries(cache['outputs']) : [];
  return new Map(outputs.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function isOneLine(output: string): boolean {
  return /^[^\r\n]+$/.test(output.trim());
}
