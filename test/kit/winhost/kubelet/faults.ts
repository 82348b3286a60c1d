import type { KubeletFaults, KubeletHost } from '../../../../src/sandbox/machines/kubelet/kubelet-host.ts';

/** What goes wrong on purpose, as files in a folder say: a fault is a file `kubelet.<name>` in it. */
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
