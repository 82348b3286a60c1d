import type { KubeletHost, Places } from './host.ts';

/** What goes wrong on purpose, as files found at the start say. */
export interface Faults {
  /** The Node is there, but not ready. */
  neverReady: boolean;
  /** The kubelet runs, but no Node appears. */
  noRegister: boolean;
  /** Milliseconds of life; for ever when undefined. */
  crashAfterMs: number | undefined;
  /** How long a stop takes. */
  slowStopMs: number;
}

export async function readFaults(host: KubeletHost, { faults }: Places): Promise<Faults> {
  const fault = (name: string) => host.read(`${faults}/kubelet.${name}`);
  const crashAfter = await fault('crash-after');
  return {
    neverReady: (await fault('never-ready')) !== undefined,
    noRegister: (await fault('no-register')) !== undefined,
    crashAfterMs: crashAfter === undefined ? undefined : Number(crashAfter.trim()),
    slowStopMs: Number((await fault('slow-stop'))?.trim() ?? 0),
  };
}
