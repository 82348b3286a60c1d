import type { KubeletFaults, KubeletHost } from '../../../../src/sandbox/machines/kubelet/kubelet-host.ts';

/** Injected faults: each is a file `kubelet.<name>` in a folder. */
export async function readFaults(host: Pick<KubeletHost, 'read'>, folder: string): Promise<KubeletFaults> {
  const fault = (name: string) => host.read(`${folder}/kubelet.${name}`);
  const crashAfter = await fault('crash-after');
  return {
    neverReady: (await fault('never-ready')) !== undefined,
    noRegister: (await fault('no-register')) !== undefined,
    crashAfterMs: crashAfter === undefined ? undefined : Number(crashAfter.trim()),
    slowStopMs: Number((await fault('slow-stop'))?.trim() ?? 0),
  };
}
