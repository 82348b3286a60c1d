/** Where bytes come from; a socket. */
export interface ByteSource {
  readonly bytesRead: number;
}

/** How many intervals a host may be silent before it counts as dead. */
export const silentIntervals = 4;

/**
 * Calls `onDead` when nothing has come for a while. Whatever comes counts, as an answer to a keep-alive may queue behind
 * megabytes of a file. Intervals are counted, not time, so that a process that was suspended does not give up its hosts.
 */
export function watchForSilence(source: ByteSource, intervalMs: number, onDead: () => void): Disposable {
  let [heard, silent] = [source.bytesRead, 0];
  const timer = setInterval(() => {
    silent = source.bytesRead === heard ? silent + 1 : 0;
    heard = source.bytesRead;
    if (silent < silentIntervals) return;
    clearInterval(timer);
    onDead();
  }, intervalMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
