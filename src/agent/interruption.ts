export interface InterruptedProcess {
  on(signal: 'SIGINT' | 'SIGBREAK', listener: () => void): unknown;
  exit(code: number): void;
}

/** Aborted by Ctrl-C or Ctrl-Break; the second time the process exits at once. */
export function interruptionOf(process: InterruptedProcess): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGBREAK'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(1);
      else stop.abort(new Error(`interrupted by ${name}`));
    });
  }
  return stop.signal;
}
