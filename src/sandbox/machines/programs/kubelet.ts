import { file } from '#contract/paths.ts';
import { payloadKubeletVersion } from '#contract/version.ts';
import type { Program } from '../host/process.ts';
import { bootIdOf } from '../host/state.ts';
import { parseFlags } from '../kubelet/flags.ts';
import type { KubeletHost } from '../kubelet/kubelet-host.ts';
import { runKubelet } from '../kubelet/run.ts';
import { connectFrom } from './connect.ts';
import type { ProgramHost } from './program-host.ts';

/** kubelet.exe of a simulated host; reports running before it has done anything. */
export function kubeletProgram(words: readonly string[], host: ProgramHost, version = payloadKubeletVersion): Program {
  return async life => {
    const { clock, delays, times, traits } = host;
    const log = host.log.with({ program: 'kubelet' });
    try {
      const flags = parseFlags(words);
      life.ready();
      await delays.sleep(times.kubeletMs, life.signal);
      await runKubelet({
        flags,
        host: kubeletHost(host, version),
        cniConfig: file.cniConfig,
        faults: {
          get neverReady() {
            return traits.kubelet === 'never ready';
          },
          get noRegister() {
            return traits.kubelet === 'never registers';
          },
          crashAfterMs: undefined,
          slowStopMs: 0,
        },
        clock,
        log,
        signal: life.signal,
      });
      return 0;
    } catch (error) {
      if (life.signal.aborted) return 0;
      log.error('Failed to run the kubelet', { error });
      return 1;
    }
  };
}

function kubeletHost(host: ProgramHost, version: string): KubeletHost {
  const { ports, state } = host;
  return {
    hostName: () => state.hostName,
    osBuild: () => state.os.build.split('.').slice(0, 3).join('.'),
    osImage: () => state.os.product,
    bootId: () => bootIdOf(state),
    kubeletVersion: () => version,
    cpus: () => 4,
    memoryBytes: () => 16 * 2 ** 30,
    read: path => ports.files.read(path),
    write: (path, text) => ports.files.write(path, text),
    isServiceRunning: async name => (await ports.services.query(name))?.state === 'running',
    crash: () => undefined,
    connect: path => connectFrom(host, path, `kubelet/${version}`),
  };
}
