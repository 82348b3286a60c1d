/** After so many intervals without a byte a connection counts as dead. */
export const silentIntervals = 4;

/**
 * Calls `onDead` after some intervals without received bytes. Any byte counts, since the answer to a keep-alive may
 * queue behind megabytes of a file. Intervals are counted, not time, so that a suspended process does not drop its
 * connections.
 */
export function watchForSilence(
  source: { readonly bytesRead: number },
  intervalMs: number,
  onDead: () => void,
): Disposable {
  let [lastBytes, silent] = [source.bytesRead, 0];
  const timer = setInterval(() => {
    silent = source.bytesRead === lastBytes ? silent + 1 : 0;
    lastBytes = source.bytesRead;
    if (silent < silentIntervals) return;
    clearInterval(timer);
    onDead();
  }, intervalMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
