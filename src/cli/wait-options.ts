import type { Flags } from '#base/command-line.ts';
import { parseGoDuration } from '#base/go-duration.ts';

/** Whether and how long a command follows what it has requested. */
export interface WaitOptions {
  wait: boolean;
  timeoutMs: number;
}

export const waitFlags = (what: string) =>
  ({
    'no-wait': { help: `request the ${what} and exit` },
    timeout: { value: 'duration', default: '30m', help: 'how long to wait for the end', expected: timeoutExpected },
  }) as const satisfies Flags;

export function readWaitOptions(values: Readonly<Record<'no-wait' | 'timeout', string>>): WaitOptions {
  return { wait: values['no-wait'] !== 'true', timeoutMs: parseGoDuration(values.timeout) ?? 0 };
}

function timeoutExpected(text: string): string | undefined {
  return (parseGoDuration(text) ?? 0) >= 1000 ? undefined : 'a duration of at least one second, such as 90s or 10m';
}
