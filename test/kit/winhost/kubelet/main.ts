import { getRawAsset } from 'node:sea';
import { loadKoffi } from '../../../../src/agent/win32/native.ts';
import { endProcess, runAsService } from '../../../../src/agent/win32/services/service-host.ts';
import type { ServiceBody } from '../../../../src/agent/win32/services/service-life.ts';
import { systemClock as clock } from '../../../../src/base/clock.ts';
import { createLog } from '../../../../src/base/log.ts';
import { serviceName } from '../../../../src/contract/names.ts';
import { file } from '../../../../src/contract/paths.ts';
import { parseFlags } from '../../../../src/sandbox/machines/kubelet/flags.ts';
import { runKubelet } from '../../../../src/sandbox/machines/kubelet/run.ts';
import { readFaults } from './faults.ts';
import { remainingMs } from './first-start.ts';
import { lab, noteEvent, windowsHost, writeLine } from './windows.ts';

/** kubelet.exe of the lab: takes the command line of the real one. */
const log = createLog(writeLine, clock);
const native = () => loadKoffi(new Uint8Array(getRawAsset('koffi.node')), lab.native);
let koffi: ReturnType<typeof native> | undefined;

try {
  const flags = parseFlags(process.argv.slice(2));
  const host = windowsHost((koffi = native()));
  const faults = await readFaults(host, lab.faults);
  const restMs = await remainingMs(host, { program: process.execPath, folder: lab.marks, nowMs: clock.now() });
  if (restMs !== undefined) faults.crashAfterMs = restMs;
  noteEvent('start');
  if (restMs === 0) throw new Error('this version of the kubelet fails for good');
  const run = (signal: AbortSignal) =>
    runKubelet({ flags, host, cniConfig: file.cniConfig, faults, clock, log, signal });
  if (flags.isService) await runAsService(koffi, serviceName.kubelet, liveWith(run), clock);
  else await run(new AbortController().signal);
  noteEvent('stopped');
  end(0);
} catch (error) {
  log.error('Failed to run the kubelet', { error });
  end(1);
}

/** A kubelet is running for Windows before it has done anything. */
function liveWith(run: (signal: AbortSignal) => Promise<void>): ServiceBody {
  return async life => {
    life.ready();
    noteEvent('running');
    await run(life.signal);
  };
}

function end(code: number): void {
  if (koffi === undefined) process.exit(code);
  endProcess(koffi, code);
}
