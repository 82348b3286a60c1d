import { appendFileSync, existsSync, mkdirSync, writeSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { cpus, hostname, release, totalmem, version } from 'node:os';
import { dirname } from 'node:path';
import { openRegistry } from '../../../../src/agent/win32/files/registry.ts';
import type { Koffi } from '../../../../src/agent/win32/native.ts';
import { endProcess } from '../../../../src/agent/win32/services/service-host.ts';
import { openServiceManager } from '../../../../src/agent/win32/services/services.ts';
import { file } from '../../../../src/contract/paths.ts';
import { loadKubeconfig } from '../../../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../../../src/kube/http-client.ts';
import type { KubeletHost } from '../../../../src/sandbox/machines/kubelet/kubelet-host.ts';

/** Files of the lab on drive C. */
export const lab = {
  native: 'C:\\lab\\native',
  events: 'C:\\lab\\services\\kubelet.log',
  faults: 'C:\\lab\\faults',
  marks: 'C:\\lab\\services',
};

export function windowsHost(koffi: Koffi): KubeletHost {
  const services = openServiceManager(koffi, openRegistry(koffi));
  return {
    hostName: hostname,
    osBuild: release,
    osImage: version,
    bootId: () => '',
    cpus: () => cpus().length,
    memoryBytes: totalmem,
    async read(path) {
      try {
        return await readFile(path, 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    async write(path, text) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(`${path}.partial`, text);
      await rename(`${path}.partial`, path);
    },
    isServiceRunning: async name => (await services.query(name))?.state === 'running',
    connect: async path => createClient(loadKubeconfig(await readFile(path, 'utf8'), { folder: dirname(path) })),
    crash: () => endProcess(koffi, 1),
  };
}

/** Standard output is a file of kube-log-runner; a service without it has none. */
export function writeLine(line: string): void {
  try {
    writeSync(1, line);
  } catch {
    mkdirSync(dirname(file.kubeletLog), { recursive: true });
    appendFileSync(file.kubeletLog, line);
  }
}

/** One line, in the form the other doubles of services write. */
export function noteEvent(event: 'start' | 'running' | 'stopped'): void {
  if (!existsSync(dirname(lab.events))) return;
  const time = new Date().toISOString();
  const command = process.argv.slice(1).join(' ');
  const environment = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'SSL_CERT_FILE'].filter(name => process.env[name]);
  appendFileSync(lab.events, `${JSON.stringify({ time, event, pid: process.pid, command, environment })}\n`);
}
